//! Finding packages: a stepper that lists the five roots, looks for `SKILL.md` in each folder
//! there, and reads it.
//!
//! A folder is listed before its file is read, because only the listing says that the name is
//! exact (a disk that ignores case answers to `skill.md` as well) and that it is no link. Nothing
//! below a package is listed or opened (I-131). What could not be seen is remembered as such:
//! an unseen root is not an empty one (I-127).

use super::bounds::{BATCH, FILE_MAX, FOLDER_ENTRIES_MAX, ROOT_ENTRIES_MAX};
use super::inspect::{Inspection, Verdict, inspect};
use super::resolve::Packages;
use super::root::{Root, RootScan, unsafe_name};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::hidden;
use kernel::Digest;
use kernel::mount::{Entry, EntryKind, MountError, MountPath, Need, Reply, Step};

/// The file of a package.
pub const FILE: &str = "SKILL.md";

/// One entry of one root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// In which root.
    pub root: Root,
    /// The folder's name, as the disk has it.
    pub folder: String,
    /// Its SKILL.md; `None` when the folder is never opened.
    pub path: Option<MountPath>,
    /// What the file says; `None` when it was not read.
    pub inspection: Option<Inspection>,
    /// What is wrong with the entry and with the file.
    pub diagnostics: Vec<Diagnostic>,
    /// What became of it in the contest for its name.
    pub standing: Standing,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has its name, and is PORTABLE.
    Winner,
    /// Its name is refused, for this reason.
    Refused(Code),
    /// An entry of the same name in this root comes first (decision 14).
    Shadowed(Root),
}

impl Found {
    fn new(root: Root, folder: String) -> Self {
        let standing = Standing::Refused(Code::FileUnreadable);
        Self { root, folder, path: None, inspection: None, diagnostics: vec![], standing }
    }

    /// The verdict; an entry without a file that was read is not even readable.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.inspection.as_ref().map_or(Verdict::Unreadable, |i| i.verdict)
    }

    /// The digest of its file, when all of it was read.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        self.inspection.as_ref().filter(|i| i.whole).map(|i| i.digest)
    }

    /// What a person reads as its place: the path, hidden characters written out.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.path {
            Some(path) => path.to_string(),
            None => format!("{}/{}", self.root, kernel::clip::clip(&hidden::reveal(&self.folder), 256)),
        }
    }

    /// True when a review may call it clean.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.inspection.as_ref().is_some_and(Inspection::is_clean)
            && !self.diagnostics.iter().any(|d| d.code == Code::ConfusableName)
    }

    pub(super) fn note(&mut self, code: Code, severity: Severity, cause: &str, fix: &str) {
        self.diagnostics.push(Diagnostic::new(code, severity, None, cause, fix));
    }
}

/// Where a package's own folder is to be looked at next.
#[derive(Debug)]
enum Phase {
    Start,
    /// Are the roots, and the folders above them, links?
    Kinds,
    Roots,
    Folders(usize),
    Files(usize),
}

/// The stepper.
#[derive(Debug)]
pub struct Discovery {
    workspace: MountPath,
    phase: Phase,
    roots: Vec<(Root, Option<MountPath>, RootScan)>,
    found: Vec<Found>,
    /// Entries of `found` whose folder is to be looked at, then those whose file is to be read.
    asked: Vec<usize>,
}

impl Discovery {
    /// Finds the packages below `workspace`.
    #[must_use]
    pub fn new(workspace: &MountPath) -> Self {
        let roots = Root::ALL.iter().map(|r| (*r, r.path(workspace).ok(), RootScan::Absent)).collect();
        Self { workspace: workspace.clone(), phase: Phase::Start, roots, found: vec![], asked: vec![] }
    }

    /// The next step.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Packages> {
        let mut replies = replies.into_iter();
        loop {
            match self.phase {
                Phase::Start => {
                    self.phase = Phase::Kinds;
                    let paths = self.roots.iter().filter_map(|(_, p, _)| p.clone());
                    return Step::Need(paths.flat_map(|p| [p.parent(), p]).map(|path| Need::Stat { path }).collect());
                }
                Phase::Kinds => {
                    self.kinds(&mut replies);
                    self.phase = Phase::Roots;
                    let needs: Vec<_> =
                        self.open_roots().map(|p| Need::List { path: p, max: ROOT_ENTRIES_MAX }).collect();
                    if !needs.is_empty() {
                        return Step::Need(needs);
                    }
                }
                Phase::Roots => {
                    self.roots(&mut replies);
                    self.phase = Phase::Folders(0);
                    if let Some(needs) = self.ask_folders(0) {
                        return Step::Need(needs);
                    }
                }
                Phase::Folders(from) => {
                    self.folders(&mut replies);
                    self.phase = Phase::Files(from + BATCH);
                    let read = |i: &usize| self.found[*i].path.clone().map(|path| Need::Read { path, max: FILE_MAX });
                    let needs: Vec<_> = self.asked.iter().filter_map(read).collect();
                    if !needs.is_empty() {
                        return Step::Need(needs);
                    }
                }
                Phase::Files(next) => {
                    self.files(&mut replies);
                    if next >= self.found.len() {
                        let roots = std::mem::take(&mut self.roots).into_iter().map(|(r, _, s)| (r, s)).collect();
                        return Step::Done(Packages::resolve(&self.workspace, roots, std::mem::take(&mut self.found)));
                    }
                    self.phase = Phase::Folders(next);
                    if let Some(needs) = self.ask_folders(next) {
                        return Step::Need(needs);
                    }
                }
            }
        }
    }

    fn kinds(&mut self, replies: &mut impl Iterator<Item = Reply>) {
        for (_, path, scan) in &mut self.roots {
            let Some(_) = path else {
                *scan = RootScan::Failed(MountError::NameInvalid);
                continue;
            };
            let kinds = [replies.next(), replies.next()];
            let link = |r: &Option<Reply>| matches!(r, Some(Reply::Found { kind: EntryKind::Link, .. }));
            if kinds.iter().any(link) {
                *scan = RootScan::Linked;
            }
        }
    }

    /// Roots that may be listed.
    fn open_roots(&self) -> impl Iterator<Item = MountPath> {
        self.roots.iter().filter(|(_, _, s)| *s == RootScan::Absent).filter_map(|(_, p, _)| p.clone())
    }

    fn roots(&mut self, replies: &mut impl Iterator<Item = Reply>) {
        for (root, path, scan) in &mut self.roots {
            if *scan != RootScan::Absent {
                continue;
            }
            let Some(path) = path else { continue };
            *scan = match replies.next() {
                Some(Reply::Listed { entries, truncated }) => {
                    let mut names: Vec<Entry> = entries.into_iter().filter(|e| e.kind != EntryKind::File).collect();
                    names.sort_by(|a, b| a.name.cmp(&b.name));
                    names.dedup_by(|a, b| a.name == b.name);
                    let cut = truncated || names.len() > ROOT_ENTRIES_MAX;
                    names.truncate(ROOT_ENTRIES_MAX);
                    let n = names.len();
                    self.found.extend(names.iter().map(|e| entry(*root, path, e)));
                    if cut { RootScan::Cut { listed: n } } else { RootScan::Whole { entries: n } }
                }
                Some(Reply::Failed(MountError::NotFound)) => RootScan::Absent,
                Some(Reply::Failed(e)) => RootScan::Failed(e),
                _ => RootScan::Failed(MountError::Io("the folder was not listed".into())),
            };
        }
    }

    fn ask_folders(&mut self, from: usize) -> Option<Vec<Need>> {
        self.asked = (from..self.found.len().min(from + BATCH)).filter(|i| self.found[*i].path.is_some()).collect();
        let list =
            |i: &usize| self.found[*i].path.as_ref().map(|p| Need::List { path: p.parent(), max: FOLDER_ENTRIES_MAX });
        let needs: Vec<_> = self.asked.iter().filter_map(list).collect();
        (!needs.is_empty()).then_some(needs)
    }

    fn folders(&mut self, replies: &mut impl Iterator<Item = Reply>) {
        let asked = std::mem::take(&mut self.asked);
        for i in asked {
            let found = &mut self.found[i];
            match own_file(replies.next()) {
                OwnFile::There => self.asked.push(i),
                OwnFile::Not(code, cause) => {
                    let fix = match code {
                        Code::FileMissing => "add a file named exactly SKILL.md, or remove the folder",
                        _ => "put a regular file there",
                    };
                    found.note(code, Severity::Unreadable, &cause, fix);
                }
            }
        }
    }

    fn files(&mut self, replies: &mut impl Iterator<Item = Reply>) {
        for i in std::mem::take(&mut self.asked) {
            let found = &mut self.found[i];
            match replies.next() {
                Some(Reply::Bytes { bytes, total }) => {
                    let seen = inspect(&found.folder, &bytes, total);
                    found.diagnostics.extend(seen.diagnostics.iter().cloned());
                    found.inspection = Some(seen);
                }
                other => {
                    let why = if let Some(Reply::Failed(e)) = other { e.to_string() } else { "it was not read".into() };
                    let fix = "look whether the file can be opened, then look again";
                    found.note(Code::FileUnreadable, Severity::Unreadable, &why, fix);
                }
            }
        }
    }
}

fn entry(root: Root, at: &MountPath, e: &Entry) -> Found {
    let mut found = Found::new(root, e.name.clone());
    if e.kind == EntryKind::Link {
        found.note(
            Code::PathUnsafe,
            Severity::Unreadable,
            "the entry is a symbolic link, which is not followed",
            "put the folder itself there",
        );
    } else if let Some(why) = unsafe_name(&e.name) {
        found.note(Code::PathUnsafe, Severity::Unreadable, &why, "rename the folder; use a-z, 0-9 and -");
    } else {
        match at.join(&e.name).and_then(|folder| folder.join(FILE)) {
            Ok(path) => found.path = Some(path),
            Err(why) => found.note(Code::PathUnsafe, Severity::Unreadable, &why.to_string(), "use a shorter path"),
        }
    }
    found
}

/// What the listing of a package's folder says about its file.
pub(super) enum OwnFile {
    /// A regular file of exactly that name; or too many entries to tell, and reading will show.
    There,
    /// Not, and why.
    Not(Code, String),
}

pub(super) fn own_file(reply: Option<Reply>) -> OwnFile {
    let (entries, truncated) = match reply {
        Some(Reply::Listed { entries, truncated }) => (entries, truncated),
        Some(Reply::Failed(e)) => {
            return OwnFile::Not(Code::FileUnreadable, format!("the folder could not be listed: {e}"));
        }
        _ => return OwnFile::Not(Code::FileUnreadable, "the folder was not listed".into()),
    };
    let by_name = |e: &&Entry| e.name == FILE;
    match entries.iter().find(by_name).map(|e| e.kind) {
        Some(EntryKind::File) => OwnFile::There,
        Some(EntryKind::Link) => {
            OwnFile::Not(Code::PathUnsafe, format!("{FILE} is a symbolic link, which is not followed"))
        }
        Some(EntryKind::Folder) => OwnFile::Not(Code::FileMissing, format!("{FILE} is a folder")),
        None => {
            let near = entries.iter().find(|e| e.name.eq_ignore_ascii_case(FILE));
            match near {
                Some(e) => OwnFile::Not(Code::FileMissing, format!("found {}, expected {FILE}", e.name)),
                None if truncated => OwnFile::There,
                None => OwnFile::Not(Code::FileMissing, format!("the folder has no {FILE}")),
            }
        }
    }
}
