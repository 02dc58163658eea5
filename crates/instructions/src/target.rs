//! Targets: what a task is about, settled before any file is opened (I-102).

use crate::bounds::TARGETS_MAX;
use kernel::mount::{MountError, MountPath, PathError};
use kernel::{MountId, Refusal};

/// Why nothing was loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// No folder is mounted.
    #[error("no folder is mounted")]
    MountUnresolved,
    /// A target that is not in the workspace, or is no path at all.
    #[error("“{target}” is no path in this workspace: {why}")]
    TargetOutsideMount {
        /// As given.
        target: String,
        /// What is wrong with it.
        why: PathError,
    },
    /// More targets than a task may have.
    #[error("{0} targets are more than {TARGETS_MAX}")]
    TooManyTargets(usize),
    /// The folder is there and cannot be read now: its instructions are unavailable, which is
    /// not the same as none (`field_10h1`).
    #[error("the instructions of this folder are unavailable: {0}")]
    Unavailable(MountError),
}

impl From<LoadError> for Refusal {
    fn from(e: LoadError) -> Self {
        let said = e.to_string();
        match e {
            LoadError::MountUnresolved => Self::new("MountUnresolved", "The instructions", "a mounted folder", &said),
            LoadError::TargetOutsideMount { .. } => {
                Self::new("TargetOutsideMount", "The target", "a path inside the workspace", &said)
            }
            LoadError::TooManyTargets(_) => {
                Self::new("TooManyTargets", "The targets", &format!("at most {TARGETS_MAX} paths"), &said)
            }
            LoadError::Unavailable(_) => Self::new("MountUnavailable", "The instructions", "a readable folder", &said),
        }
    }
}

/// A workspace and what a task in it is about: normalised, inside, each path once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    mount: MountId,
    root: MountPath,
    /// Relative to `root`.
    paths: Vec<MountPath>,
}

impl Targets {
    /// Settles the targets of a task in the workspace that lies at `root` of a mount. Without
    /// any, the workspace's own instructions are what applies.
    ///
    /// # Errors
    /// [`LoadError::MountUnresolved`] without a mount, [`LoadError::TooManyTargets`],
    /// [`LoadError::TargetOutsideMount`].
    pub fn resolve<S: AsRef<str>>(mount: Option<&MountId>, root: &MountPath, given: &[S]) -> Result<Self, LoadError> {
        let mount = mount.ok_or(LoadError::MountUnresolved)?;
        if given.len() > TARGETS_MAX {
            return Err(LoadError::TooManyTargets(given.len()));
        }
        let mut paths = Vec::with_capacity(given.len());
        for target in given {
            let target = target.as_ref();
            let outside = |why| LoadError::TargetOutsideMount {
                target: kernel::clip::label(target, crate::bounds::SHOWN_BYTES).into_owned(),
                why,
            };
            let path = MountPath::parse_in(mount, target).map_err(outside)?;
            let below = below(root, &path).ok_or_else(|| outside(PathError::Outside))?;
            if !paths.contains(&below) {
                paths.push(below);
            }
        }
        Ok(Self { mount: mount.clone(), root: root.clone(), paths })
    }

    /// The mount.
    #[must_use]
    pub fn mount(&self) -> &MountId {
        &self.mount
    }
    /// The workspace's root in the mount.
    #[must_use]
    pub fn root(&self) -> &MountPath {
        &self.root
    }
    /// The targets, relative to the workspace's root, in the order they were given.
    #[must_use]
    pub fn paths(&self) -> &[MountPath] {
        &self.paths
    }
}

/// `path` relative to `root`; `None` when it is not below it.
fn below(root: &MountPath, path: &MountPath) -> Option<MountPath> {
    if root.is_root() {
        return Some(path.clone());
    }
    match path.as_str().strip_prefix(root.as_str())? {
        "" => Some(MountPath::root()),
        rest => MountPath::parse(rest.strip_prefix('/')?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(root: &str, given: &[&str]) -> Result<Vec<String>, LoadError> {
        let mount = MountId::new("work").expect("id");
        let root = MountPath::parse(root).expect("path");
        Targets::resolve(Some(&mount), &root, given).map(|t| t.paths().iter().map(|p| p.as_str().to_owned()).collect())
    }

    #[test]
    fn i102_targets_are_normalised_and_stay_inside() {
        assert_eq!(
            resolve("", &["./a/", "a", "/mnt/work/b/c.rs", ""]),
            Ok(vec!["a".into(), "b/c.rs".into(), "".into()])
        );
        assert_eq!(resolve("app", &["app/x.rs", "/mnt/work/app"]), Ok(vec!["x.rs".into(), "".into()]));
        for outside in ["../x", "a/../../x", "/etc/passwd", "/mnt/other/x", "a\0b", "a\\..\\b", "a//b"] {
            let found = resolve("", &[outside]);
            assert!(matches!(found, Err(LoadError::TargetOutsideMount { .. })), "{outside} {found:?}");
        }
        for outside in ["x.rs", "apps/x.rs", ""] {
            assert!(matches!(resolve("app", &[outside]), Err(LoadError::TargetOutsideMount { .. })), "{outside}");
        }
        let none: [&str; 0] = [];
        assert_eq!(Targets::resolve(None, &MountPath::root(), &none), Err(LoadError::MountUnresolved));
    }

    #[test]
    fn t135_64_targets_and_not_65() {
        let many: Vec<String> = (0..=TARGETS_MAX).map(|i| format!("f{i}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(resolve("", &many[..TARGETS_MAX]).map(|p| p.len()), Ok(TARGETS_MAX));
        assert_eq!(resolve("", &many), Err(LoadError::TooManyTargets(TARGETS_MAX + 1)));
    }

    #[test]
    fn every_refusal_has_its_code() {
        let outside = LoadError::TargetOutsideMount { target: "../x".into(), why: PathError::Outside };
        for (error, code) in [
            (LoadError::MountUnresolved, "MountUnresolved"),
            (outside, "TargetOutsideMount"),
            (LoadError::TooManyTargets(65), "TooManyTargets"),
            (LoadError::Unavailable(MountError::NeedsReconnect), "MountUnavailable"),
        ] {
            assert_eq!(Refusal::from(error).code, code);
        }
    }
}
