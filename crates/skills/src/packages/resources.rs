//! What lies in `references/` and `assets/` of a package, for a person who asked to see it.
//!
//! Names, kinds and sizes only, one level, bounded; no file is opened, nothing is handed to the
//! model, and `scripts/` is never looked at. The look takes a [`TrustedGesture`], so that only
//! a person's act starts it.

use super::bounds::RESOURCES_MAX;
use super::discover::Found;
use crate::hidden;
use kernel::authority::TrustedGesture;
use kernel::mount::{EntryKind, MountError, MountPath, Need, Reply, Step};

/// The folders that are shown.
pub const SHOWN: [&str; 2] = ["references", "assets"];

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its name, hidden characters written out.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its size, where the listing knows it.
    pub size: Option<u64>,
}

/// One folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    /// `references` or `assets`.
    pub folder: &'static str,
    /// Entries in name order.
    pub entries: Vec<Resource>,
    /// There are more than [`RESOURCES_MAX`].
    pub truncated: bool,
    /// Why it could not be listed.
    pub failed: Option<MountError>,
}

/// The stepper.
#[derive(Debug)]
pub struct Resources {
    folder: MountPath,
    phase: u8,
    /// Which of [`SHOWN`] are folders of their own.
    open: Vec<&'static str>,
}

impl Resources {
    /// Looks at the package's shelves because a person asked for it; the act is used up. `None` for
    /// an entry that is never opened.
    #[must_use]
    pub fn open(found: &Found, _asked: TrustedGesture) -> Option<Self> {
        Some(Self { folder: found.path.as_ref()?.parent(), phase: 0, open: vec![] })
    }

    /// The next step.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Vec<Shelf>> {
        match self.phase {
            0 => {
                self.phase = 1;
                let stat = |n: &&str| self.folder.join(n).ok().map(|path| Need::Stat { path });
                Step::Need(SHOWN.iter().filter_map(stat).collect())
            }
            1 => {
                self.phase = 2;
                // A link in the folder's place is not followed.
                let folder = |r: &Reply| matches!(r, Reply::Found { kind: EntryKind::Folder, .. });
                self.open = SHOWN.iter().zip(&replies).filter(|(_, r)| folder(r)).map(|(n, _)| *n).collect();
                let list = |n: &&str| self.folder.join(n).ok().map(|path| Need::List { path, max: RESOURCES_MAX });
                let needs: Vec<_> = self.open.iter().filter_map(list).collect();
                if needs.is_empty() { Step::Done(vec![]) } else { Step::Need(needs) }
            }
            _ => {
                let mut replies = replies.into_iter();
                Step::Done(self.open.iter().map(|folder| shelf(folder, replies.next())).collect())
            }
        }
    }
}

fn shelf(folder: &'static str, reply: Option<Reply>) -> Shelf {
    let (entries, truncated, failed) = match reply {
        Some(Reply::Listed { entries, truncated }) => (entries, truncated, None),
        Some(Reply::Failed(e)) => (vec![], false, Some(e)),
        _ => (vec![], false, Some(MountError::Io("the folder was not listed".into()))),
    };
    let truncated = truncated || entries.len() > RESOURCES_MAX;
    let shown = |name: &str| kernel::clip::clip(&hidden::reveal(name), 256).into_owned();
    let mut entries: Vec<_> =
        entries.into_iter().map(|e| Resource { name: shown(&e.name), kind: e.kind, size: e.size }).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries.truncate(RESOURCES_MAX);
    Shelf { folder, entries, truncated, failed }
}
