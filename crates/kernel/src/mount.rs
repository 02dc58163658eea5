//! Mounted folders, seen from pure code: paths that cannot leave the mount, and what a
//! stepper asks of whoever can read files.
//!
//! A loader or a file tool is a stepper: it returns [`Step::Need`] with a list of requests and
//! is called again with the replies, until it is [`Step::Done`]. Caps and “what is never
//! opened” stay in the pure crate that wrote the stepper; drivers only perform.

use crate::ids::{Digest, MountId};
use crate::refusal::Refusal;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Longest path, in bytes (engine.md §2.12).
pub const PATH_MAX: usize = 1024;
/// Most segments of a path (engine.md §2.12).
pub const SEGMENTS_MAX: usize = 32;

/// A path inside a mount: relative, `/` between segments, no `.`, no `..`, no empty segment.
/// The empty path is the mount's root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MountPath(String);

/// Why a path was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It climbs out, or is absolute and not under this mount.
    #[error("the path leads outside the mounted folder")]
    Outside,
    /// It holds NUL, a backslash, a control or a bidi control character.
    #[error("the path contains the character U+{0:04X}, which file names here may not have")]
    Character(u32),
    /// An empty or `.` segment, or one that ends in a dot or a blank.
    #[error("the path has a segment “{0}” that is empty, “.”, or ends in a dot or blank")]
    Segment(String),
    /// Too long or too deep.
    #[error("the path is longer than {PATH_MAX} bytes or deeper than {SEGMENTS_MAX} folders")]
    TooLong,
}

/// What a path would have to be, in words.
pub(crate) const PATH_NEEDED: &str = "a path inside the mounted folder, like notes/todo.md";

impl From<PathError> for Refusal {
    fn from(e: PathError) -> Self {
        let code = match e {
            PathError::Outside => "PathOutsideMount",
            PathError::Character(_) => "PathCharacter",
            PathError::Segment(_) => "PathSegment",
            PathError::TooLong => "PathTooLong",
        };
        Self::new(code, "The path", PATH_NEEDED, &e.to_string())
    }
}

impl MountPath {
    /// The mount's root.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Normalises a relative path. A leading `./` and a trailing `/` are dropped; nothing else
    /// is repaired.
    ///
    /// # Errors
    /// [`PathError`].
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let bad = |c: &char| {
            c.is_control()
                || matches!(c, '\\' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        if text.len() > PATH_MAX {
            return Err(PathError::TooLong);
        }
        if let Some(c) = text.chars().find(bad) {
            return Err(PathError::Character(c as u32));
        }
        if text.starts_with('/') {
            return Err(PathError::Outside);
        }
        let trimmed = text.strip_prefix("./").unwrap_or(text);
        let trimmed = trimmed.strip_suffix('/').unwrap_or(trimmed);
        if trimmed.is_empty() || trimmed == "." {
            return Ok(Self::root());
        }
        if trimmed.split('/').count() > SEGMENTS_MAX {
            return Err(PathError::TooLong);
        }
        for s in trimmed.split('/') {
            if s == ".." {
                return Err(PathError::Outside);
            }
            if s.is_empty() || s.ends_with('.') || s.ends_with(' ') {
                return Err(PathError::Segment(s.to_owned()));
            }
        }
        Ok(Self(trimmed.to_owned()))
    }

    /// As [`MountPath::parse`], and `/mnt/<mount>/…` of this very mount as well.
    ///
    /// # Errors
    /// [`PathError`].
    pub fn parse_in(mount: &MountId, text: &str) -> Result<Self, PathError> {
        match text.strip_prefix("/mnt/") {
            Some(rest) => match rest.strip_prefix(mount.as_str()) {
                Some("") => Ok(Self::root()),
                Some(r) if r.starts_with('/') => Self::parse(&r[1..]),
                _ => Err(PathError::Outside),
            },
            None => Self::parse(text),
        }
    }

    /// The path as text; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// True for the mount's root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
    /// Segments from the root down.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|s| !s.is_empty())
    }
    /// Last segment; empty for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or("")
    }
    /// The folder above; the root is its own.
    #[must_use]
    pub fn parent(&self) -> Self {
        Self(self.0.rsplit_once('/').map_or_else(String::new, |(p, _)| p.to_owned()))
    }
    /// One level down.
    ///
    /// # Errors
    /// [`PathError`] when `name` is not one safe segment.
    pub fn join(&self, name: &str) -> Result<Self, PathError> {
        if name.contains('/') || name.is_empty() {
            return Err(PathError::Segment(name.to_owned()));
        }
        if self.is_root() { Self::parse(name) } else { Self::parse(&format!("{}/{name}", self.0)) }
    }
}

impl fmt::Display for MountPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

impl TryFrom<String> for MountPath {
    type Error = PathError;
    fn try_from(s: String) -> Result<Self, PathError> {
        Self::parse(&s)
    }
}

impl From<MountPath> for String {
    fn from(p: MountPath) -> Self {
        p.0
    }
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EntryKind {
    File,
    Folder,
    /// A symbolic link, wherever it leads; loaders list it and never open it (I-106). Browsers
    /// show none (decision 28).
    Link,
}

/// One entry of a folder. Names come from the disk as they are and may be refused by
/// [`MountPath::join`]; such entries are listed and never opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name inside its folder.
    pub name: String,
    /// Kind.
    pub kind: EntryKind,
    /// Size in bytes, where the driver knows it without opening.
    pub size: Option<u64>,
}

/// What a write expects to find; anything else is [`MountError::Changed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expect {
    /// No file there.
    Absent,
    /// A file with these bytes.
    Digest(Digest),
}

/// One request of a stepper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// At most `max` entries of a folder, in name order.
    List {
        /// Folder.
        path: MountPath,
        /// Cap on entries.
        max: usize,
    },
    /// A file's bytes, at most `max` of them.
    Read {
        /// File.
        path: MountPath,
        /// Cap on bytes.
        max: usize,
    },
    /// Kind and size.
    Stat {
        /// File or folder.
        path: MountPath,
    },
    /// The whole file becomes these bytes, or nothing changes; missing folders are made.
    Write {
        /// File.
        path: MountPath,
        /// Its new content.
        bytes: Vec<u8>,
        /// What must be there now.
        expect: Expect,
    },
    /// The file goes, if it is what is expected.
    Remove {
        /// File.
        path: MountPath,
        /// What must be there now.
        expect: Digest,
    },
}

/// The answer to one [`Need`], in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To `List`; `truncated` when there were more.
    Listed {
        /// In name order.
        entries: Vec<Entry>,
        /// More than `max`.
        truncated: bool,
    },
    /// To `Read`; `total` is the file's size, so a cut can be seen.
    Bytes {
        /// At most `max`.
        bytes: Vec<u8>,
        /// Size of the file.
        total: u64,
    },
    /// To `Stat`.
    Found {
        /// Kind.
        kind: EntryKind,
        /// Size in bytes, 0 for a folder.
        size: u64,
    },
    /// To `Write` and `Remove`: it is done and on disk.
    Done,
    /// Could not.
    Failed(MountError),
}

/// Why a file could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum MountError {
    /// Nothing there.
    #[error("there is no such file or folder")]
    NotFound,
    /// A folder where a file was meant, or the other way round.
    #[error("it is a folder where a file was meant, or a file where a folder was meant")]
    WrongKind,
    /// The person or the system said no.
    #[error("access to the folder was denied")]
    Denied,
    /// The folder's permission has to be given again by a click (`field_10h1`).
    #[error("the folder must be reconnected with a click first")]
    NeedsReconnect,
    /// The folder itself is gone.
    #[error("the mounted folder is no longer there")]
    MountMissing,
    /// It is not what the write expected; `None` when it is absent.
    #[error("the file changed in the meantime")]
    Changed(Option<Digest>),
    /// No room.
    #[error("there is not enough room: {0}")]
    Quota(String),
    /// The name is not one this file system takes.
    #[error("this file system does not take that name")]
    NameInvalid,
    /// Anything else, in the system's own words.
    #[error("{0}")]
    Io(String),
}

impl MountError {
    /// The refusal about one path.
    #[must_use]
    pub fn about(&self, path: &MountPath) -> Refusal {
        let code = match self {
            Self::NotFound => "FileNotFound",
            Self::WrongKind => "FileWrongKind",
            Self::Denied => "MountDenied",
            Self::NeedsReconnect => "MountNeedsReconnect",
            Self::MountMissing => "MountMissing",
            Self::Changed(_) => "FileChanged",
            Self::Quota(_) => "StorageFull",
            Self::NameInvalid => "FileNameInvalid",
            Self::Io(_) => "FileIo",
        };
        Refusal::new(code, &path.to_string(), "", &self.to_string())
    }
}

/// What a stepper says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// Perform these, then call again with the replies.
    Need(Vec<Need>),
    /// Finished.
    Done(T),
}

/// Runs a stepper to its end against a synchronous driver.
pub fn drive<T>(mut step: impl FnMut(Vec<Reply>) -> Step<T>, mut perform: impl FnMut(&Need) -> Reply) -> T {
    let mut replies = Vec::new();
    loop {
        match step(replies) {
            Step::Done(t) => return t,
            Step::Need(needs) => replies = needs.iter().map(&mut perform).collect(),
        }
    }
}

/// A mount in memory, for native tests and the simulator.
#[derive(Clone, Debug, Default)]
pub struct MemMount {
    /// Files by path; folders exist where a file lies below.
    pub files: BTreeMap<MountPath, Vec<u8>>,
    /// Symbolic links by path; listed as such, and a read of one is [`MountError::WrongKind`].
    pub links: BTreeSet<MountPath>,
    /// Every need that was performed, in order.
    pub log: Vec<Need>,
}

impl MemMount {
    /// A mount with these files.
    ///
    /// # Panics
    /// When a path is not one: it is a mistake in the test.
    #[must_use]
    pub fn with(files: &[(&str, &str)]) -> Self {
        let parse = |p: &str| MountPath::parse(p).unwrap_or_else(|e| panic!("{p}: {e}"));
        Self { files: files.iter().map(|(p, c)| (parse(p), c.as_bytes().to_vec())).collect(), ..Self::default() }
    }

    fn is_folder(&self, path: &MountPath) -> bool {
        let prefix = format!("{path}/");
        path.is_root() || self.files.keys().chain(&self.links).any(|f| f.as_str().starts_with(&prefix))
    }

    fn check(&self, path: &MountPath, expect: Expect) -> Result<(), MountError> {
        let now = self.files.get(path).map(|b| Digest::of(b));
        let wanted = match expect {
            Expect::Absent => None,
            Expect::Digest(d) => Some(d),
        };
        if self.is_folder(path) {
            Err(MountError::WrongKind)
        } else if now == wanted {
            Ok(())
        } else {
            Err(MountError::Changed(now))
        }
    }

    /// Performs one need.
    pub fn perform(&mut self, need: &Need) -> Reply {
        self.log.push(need.clone());
        self.answer(need).unwrap_or_else(Reply::Failed)
    }

    fn answer(&mut self, need: &Need) -> Result<Reply, MountError> {
        Ok(match need {
            Need::List { path, max } => {
                if !self.is_folder(path) {
                    let is_file = self.files.contains_key(path);
                    return Err(if is_file { MountError::WrongKind } else { MountError::NotFound });
                }
                let prefix = if path.is_root() { String::new() } else { format!("{path}/") };
                let mut seen = BTreeMap::new();
                for (f, bytes) in &self.files {
                    let Some(rest) = f.as_str().strip_prefix(&prefix) else { continue };
                    match rest.split_once('/') {
                        Some((dir, _)) => seen.insert(dir.to_owned(), (EntryKind::Folder, None)),
                        None => seen.insert(rest.to_owned(), (EntryKind::File, Some(bytes.len() as u64))),
                    };
                }
                for link in &self.links {
                    if let Some(name) = link.as_str().strip_prefix(&prefix).filter(|name| !name.contains('/')) {
                        seen.insert(name.to_owned(), (EntryKind::Link, None));
                    }
                }
                let truncated = seen.len() > *max;
                let entries =
                    seen.into_iter().take(*max).map(|(name, (kind, size))| Entry { name, kind, size }).collect();
                Reply::Listed { entries, truncated }
            }
            Need::Read { path, max } => match self.files.get(path) {
                None if self.links.contains(path) => return Err(MountError::WrongKind),
                Some(b) => Reply::Bytes { bytes: b[..b.len().min(*max)].to_vec(), total: b.len() as u64 },
                None if self.is_folder(path) => return Err(MountError::WrongKind),
                None => return Err(MountError::NotFound),
            },
            Need::Stat { path } => match self.files.get(path) {
                Some(b) => Reply::Found { kind: EntryKind::File, size: b.len() as u64 },
                None if self.is_folder(path) => Reply::Found { kind: EntryKind::Folder, size: 0 },
                None => return Err(MountError::NotFound),
            },
            Need::Write { path, bytes, expect } => {
                self.check(path, *expect)?;
                self.files.insert(path.clone(), bytes.clone());
                Reply::Done
            }
            Need::Remove { path, expect } => {
                self.check(path, Expect::Digest(*expect))?;
                self.files.remove(path);
                Reply::Done
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_the_mount() {
        let m = MountId::new("welcome").expect("id");
        for (text, want) in [
            ("notes/todo.md", "notes/todo.md"),
            ("./notes/", "notes"),
            ("", ""),
            (".", ""),
            ("/mnt/welcome", ""),
            ("/mnt/welcome/a b/ü.md", "a b/ü.md"),
        ] {
            assert_eq!(MountPath::parse_in(&m, text).expect(text).as_str(), want);
        }
        for text in [
            "../x",
            "a/../b",
            "a/..",
            "/etc/passwd",
            "/mnt/other/x",
            "/mnt/welcomes/x",
            "a//b",
            "a/./b",
            "a\0b",
            "a\\b",
            "a/b. ",
            "a/b.",
            "x\u{202e}y",
            "/mnt/welcome/../x",
            "//x",
        ] {
            assert!(MountPath::parse_in(&m, text).is_err(), "{text:?}");
        }
        assert_eq!(MountPath::parse(&"a/".repeat(40)), Err(PathError::TooLong));
        assert_eq!(MountPath::parse(&"a".repeat(PATH_MAX + 1)), Err(PathError::TooLong));
    }

    #[test]
    fn a_write_happens_only_over_what_was_expected() {
        let mut m = MemMount::with(&[("a.txt", "old")]);
        let path = MountPath::parse("a.txt").expect("path");
        let mut write = |expect| m.perform(&Need::Write { path: path.clone(), bytes: b"new".to_vec(), expect });
        assert_eq!(write(Expect::Absent), Reply::Failed(MountError::Changed(Some(Digest::of(b"old")))));
        assert_eq!(write(Expect::Digest(Digest::of(b"old"))), Reply::Done);
        assert_eq!(m.files[&path], b"new");
    }

    #[test]
    fn listing_is_bounded_and_says_so() {
        let mut m = MemMount::with(&[("d/1", ""), ("d/2/x", ""), ("d/3", "abc")]);
        let list = |max| Need::List { path: MountPath::parse("d").expect("path"), max };
        let Reply::Listed { entries, truncated } = m.perform(&list(2)) else { panic!("listed") };
        assert_eq!((entries.len(), truncated), (2, true));
        let Reply::Listed { entries, truncated } = m.perform(&list(3)) else { panic!("listed") };
        assert!(!truncated && entries[1].kind == EntryKind::Folder && entries[2].size == Some(3));
    }

    #[test]
    fn i106_a_link_is_listed_as_one_and_never_read() {
        let mut m = MemMount::with(&[("d/1", "")]);
        m.links.insert(MountPath::parse("d/z").expect("path"));
        let list = Need::List { path: MountPath::parse("d").expect("path"), max: 9 };
        let Reply::Listed { entries, .. } = m.perform(&list) else { panic!("listed") };
        assert_eq!(entries[1], Entry { name: "z".to_owned(), kind: EntryKind::Link, size: None });
        let read = Need::Read { path: MountPath::parse("d/z").expect("path"), max: 9 };
        assert_eq!(m.perform(&read), Reply::Failed(MountError::WrongKind));
    }

    #[test]
    fn a_stepper_runs_to_its_end() {
        let mut m = MemMount::with(&[("a", "1"), ("b", "22")]);
        let mut asked = false;
        let sizes = drive(
            |replies| {
                if !asked {
                    asked = true;
                    let need = |p: &str| Need::Read { path: MountPath::parse(p).expect("path"), max: 9 };
                    return Step::Need(vec![need("a"), need("b")]);
                }
                Step::Done(replies.len())
            },
            |n| m.perform(n),
        );
        assert_eq!((sizes, m.log.len()), (2, 2));
    }
}
