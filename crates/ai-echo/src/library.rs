//! The skills of the workspace: what lies in the mounted folders, what a person decided about it,
//! and the rows that follow from both.
//!
//! One projection, [`Library::rows`], says what the kernel's registry holds of a folder, so that
//! palette, submission and dispatch see the same skill in the same state. A package that cannot
//! be used keeps its row with the reason (I-150); its text is nowhere in here (I-122).

use std::collections::BTreeMap;

use kernel::clip;
use kernel::registry::{Guidance, SUMMARY_MAX, TITLE_MAX};
use kernel::{Digest, Kernel, MountId, PackageId, Refusal, Rev, SkillId};
use skills::hidden::reveal;
use skills::packages::review::{ReviewState, Reviews};
use skills::packages::{Found, Packages, Standing};

use crate::guidance::BuiltIn;

/// The package that owns the skills of the mounted folder.
pub const PACKAGE: &str = "workspace-skills";

/// What is known of the workspace's skills.
#[derive(Debug, Default)]
pub struct Library {
    /// The folder whose skills are offered: that of the conversation in front.
    pub(crate) mount: Option<MountId>,
    found: BTreeMap<MountId, Packages>,
    reviews: Reviews,
    /// The stored reviews are known; before that nothing may be decided.
    ready: bool,
    /// A load that is under way, and the revision at which it began.
    loading: Option<u64>,
}

impl Library {
    /// The folder whose skills are offered.
    #[must_use]
    pub fn mount(&self) -> Option<&MountId> {
        self.mount.as_ref()
    }
    /// What was found there; `None` before the first look.
    #[must_use]
    pub fn packages(&self) -> Option<&Packages> {
        self.packages_of(self.mount.as_ref()?)
    }
    /// What was found in a folder.
    #[must_use]
    pub fn packages_of(&self, mount: &MountId) -> Option<&Packages> {
        self.found.get(mount)
    }
    /// What a person decided.
    #[must_use]
    pub fn reviews(&self) -> &Reviews {
        &self.reviews
    }
    /// Whether what was decided earlier is known.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Why an entry that was found cannot be used now; `None` when it can.
    #[must_use]
    pub fn problem(&self, mount: &MountId, found: &Found) -> Option<String> {
        if let Some(why) = self.unfit(mount, found) {
            return Some(why);
        }
        let refusal = self.reviews.usable(mount, found).err()?;
        Some(match found.digest().map(|now| self.reviews.state(mount, &found.folder, now)) {
            Some(ReviewState::Unreviewed) => "not reviewed yet".to_owned(),
            Some(ReviewState::ChangedSinceReview { .. }) => "changed since it was reviewed".to_owned(),
            Some(ReviewState::Reviewed) => "switched off".to_owned(),
            None => refusal.observed.to_string(),
        })
    }

    /// Why an entry could not even be reviewed for use.
    #[must_use]
    pub fn unfit(&self, mount: &MountId, found: &Found) -> Option<String> {
        let built_in = || SkillId::new(&found.folder).ok().filter(|id| BuiltIn::get(id).is_some());
        match found.standing {
            Standing::Winner if built_in().is_some() => {
                Some("a skill of this name ships with the product and comes first".to_owned())
            }
            Standing::Winner => None,
            Standing::Shadowed(root) => Some(format!("shadowed: an entry of this name in {root} comes first")),
            Standing::Refused(code) => {
                let packages = self.packages_of(mount);
                let why = packages.and_then(|p| p.get(&found.folder).err()).map(|e| e.to_string());
                Some(why.unwrap_or_else(|| format!("invalid: {code:?}")))
            }
        }
    }

    /// What the kernel's registry holds of the folder.
    fn rows(&self, package: &PackageId) -> BTreeMap<SkillId, Guidance> {
        let mut rows = BTreeMap::new();
        let (Some(mount), Some(packages)) = (&self.mount, self.packages()) else { return rows };
        let named = packages.found().iter().filter(|f| !matches!(f.standing, Standing::Shadowed(_)));
        for found in named {
            // A folder that cannot be a name is shown in the Skills app and has no row.
            let Ok(id) = SkillId::new(&found.folder) else { continue };
            if BuiltIn::get(&id).is_some() {
                continue;
            }
            let said = found.inspection.as_ref().and_then(|i| i.manifest.as_ref()).map(|m| m.description.as_str());
            let said = reveal(said.unwrap_or(&found.folder)).into_owned();
            let guidance = Guidance {
                id: id.clone(),
                package: package.clone(),
                title: within(&said, TITLE_MAX),
                summary: within(&said, SUMMARY_MAX),
                enabled: self.reviews.is_enabled(mount, &found.folder),
                problem: self.unfit(mount, found).map(|why| within(&why, SUMMARY_MAX)),
                review: self.reviews.binding(mount, &found.folder),
                digest: found.digest().unwrap_or_else(|| Digest::of(found.place().as_bytes())),
                rev: Rev::default(),
            };
            rows.insert(id, guidance);
        }
        rows
    }

    /// Brings the kernel's registry to what is known. What did not change keeps its revision, so
    /// that a row on screen stays good.
    pub(crate) fn sync(&self, kernel: &mut Kernel) -> Result<(), Refusal> {
        let package = PackageId::new(PACKAGE)?;
        let rows = self.rows(&package);
        let of = |g: &&Guidance| g.package == package;
        let gone: Vec<SkillId> =
            kernel.guidance().iter().filter(of).filter(|g| !rows.contains_key(&g.id)).map(|g| g.id.clone()).collect();
        for id in gone {
            kernel.remove_guidance(&id);
        }
        let mut end = Ok(());
        for (id, row) in rows {
            let same = |old: &Guidance| *old == Guidance { rev: old.rev, ..row.clone() };
            if !kernel.guidance().get(&id).is_some_and(same)
                && let Err(e) = kernel.put_guidance(row)
            {
                end = Err(e.into());
            }
        }
        end
    }

    pub(crate) fn put(&mut self, mount: MountId, packages: Packages) {
        self.found.insert(mount, packages);
    }
    pub(crate) fn forget(&mut self, mount: &MountId) {
        self.found.remove(mount);
        self.reviews.forget(mount);
    }
    pub(crate) fn decide(&mut self) -> &mut Reviews {
        &mut self.reviews
    }
    /// A load of the stored reviews begins.
    pub(crate) fn begin_load(&mut self) {
        self.loading = Some(self.reviews.rev());
    }
    /// What was stored is what counts, also what another window decided meanwhile. False when
    /// something was decided here since the load began: then it has to be read once more.
    pub(crate) fn loaded(&mut self, parts: Vec<Reviews>) -> bool {
        if self.loading.take() != Some(self.reviews.rev()) {
            return false;
        }
        self.ready = true;
        let mut all = Reviews::default();
        parts.into_iter().for_each(|part| all.take_in(part));
        self.reviews = all;
        true
    }
}

/// A text as the registry keeps it, so that what is compared is what was put.
fn within(text: &str, max: usize) -> String {
    clip::label(text, max - "…".len()).into_owned()
}
