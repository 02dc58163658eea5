//! What was loaded: blocks with where they come from and why, and all that was left out.

use crate::bounds::FILE_BYTES;
use crate::family::Family;
use crate::glob::GlobError;
use crate::scope::{AlwaysBy, ScopeFault};
use kernel::mount::{MountError, MountPath};
use kernel::{Digest, MountId};
use serde::Serialize;

/// Why a block is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Because {
    /// A file of the workspace's root or of its fixed folders.
    Workspace,
    /// An `AGENTS` file of a folder that these targets lie in.
    Above,
    /// A rule for every task.
    Always(AlwaysBy),
    /// A rule with a pattern that matches.
    Matched,
}

/// One target that a block applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// The target, relative to the workspace's root.
    pub target: MountPath,
    /// The pattern that matched it, as written; `None` where none was needed.
    pub pattern: Option<String>,
}

/// Where a block sorts (decision 25): depth, then family, then path bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct OrderKey {
    /// Folders between the workspace's root and an `AGENTS` file; 0 for every other family.
    pub depth: usize,
    /// Family.
    pub family: Family,
    /// Path.
    pub path: MountPath,
}

/// Where a block's text comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Mount.
    pub mount: MountId,
    /// Bytes that were read; the digest is taken over them.
    pub read: u64,
    /// Bytes that the file has.
    pub size: u64,
}

/// One file's text that applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// File, from the mount's root.
    pub source: MountPath,
    /// Family.
    pub family: Family,
    /// The text as it enters the context, with a marker where it was cut.
    pub text: String,
    /// SHA-256 of the raw bytes that were read (decision 9).
    pub digest: Digest,
    /// Targets it applies to, in their order, each with the pattern that matched.
    pub matched: Vec<Match>,
    /// Why it is here.
    pub because: Because,
    /// Where it sorts.
    pub order: OrderKey,
    /// Bytes of the file's text that are shown, of `total`.
    pub kept: usize,
    /// Bytes that the file's text has, its frontmatter not counted.
    pub total: usize,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// Why something is not in the context.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
pub enum Reason {
    /// An override in the same folder stands for it (I-103).
    #[error("replaced by {0}")]
    Replaced(MountPath),
    /// None of its patterns matches a target.
    #[error("no target matches {}", .0.join(", "))]
    NoMatch(Vec<String>),
    /// A rule that is picked by hand.
    #[error("a candidate: it has no scope and is picked by hand")]
    Candidate(String),
    /// Its scope cannot be trusted (I-105).
    #[error("its scope is not usable: {0}")]
    Scope(ScopeFault),
    /// One of its patterns is refused and matches nothing.
    #[error("the pattern “{pattern}” matches nothing: {why}")]
    Glob {
        /// As written.
        pattern: String,
        /// Why.
        why: GlobError,
    },
    /// Keys of its frontmatter that mean nothing here.
    #[error("keys that mean nothing here: {}", .0.join(", "))]
    Keys(Vec<String>),
    /// Cut at the size one file may have.
    #[error("longer than {FILE_BYTES} bytes: {kept} of {total} bytes are used")]
    FileTooLarge {
        /// Bytes used.
        kept: usize,
        /// Bytes there are.
        total: usize,
    },
    /// Cut, or left out whole, because the budget was spent on what is nearer to the work.
    #[error("the budget was spent on what is nearer: {kept} of {total} bytes are used")]
    CombinedCap {
        /// Bytes used.
        kept: usize,
        /// Bytes there are.
        total: usize,
    },
    /// More files than are read.
    #[error("more files than the {} that are read", crate::bounds::FILES_MAX)]
    FileCap,
    /// A folder that was not looked at: there are more than are visited.
    #[error("more folders than are looked at")]
    DirectoryCap,
    /// A folder whose later entries were not seen.
    #[error("more entries than are looked at")]
    EntryCap,
    /// Not UTF-8, or with a NUL in it.
    #[error("not a text: byte {0} is none of UTF-8")]
    NotUtf8(usize),
    /// A symbolic link.
    #[error("a link; links are not followed")]
    SymlinkRefused,
    /// A file where a folder was meant, or the other way round.
    #[error("a folder where a file was meant, or a file where a folder was meant")]
    WrongKind,
    /// Another case than the name that is read (`field_2h4`).
    #[error("found {found}, expected {expected}")]
    WrongCase {
        /// As on the disk.
        found: String,
        /// As it would be read.
        expected: String,
    },
    /// In a folder of rules, and not named as one.
    #[error("not read: rules here end in {0}")]
    NotARule(&'static str),
    /// A folder inside a folder of rules.
    #[error("not read: rules lie one level deep")]
    Nested,
    /// A name that is no safe path.
    #[error("its name cannot be opened here: {0}")]
    Name(String),
    /// It could not be read.
    #[error("it could not be read: {0}")]
    Unreadable(MountError),
    /// Nothing in it.
    #[error("there is no text in it")]
    Blank,
    /// The same bytes as a file that is nearer.
    #[error("the same content as {0}")]
    Duplicate(MountPath),
    /// It points at another text, which is not followed (I-106).
    #[error("its reference @{0} is not followed")]
    Import(String),
    /// More omissions than are listed.
    #[error("{0} further omissions")]
    More(usize),
}

impl Reason {
    /// The code of engine.md §2.2, or of this crate where that has none.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Replaced(_) => "Replaced",
            Self::NoMatch(_) => "NoTargetMatches",
            Self::Candidate(_) => "Candidate",
            Self::Scope(ScopeFault::TooLarge) => "FrontmatterTooLarge",
            Self::Scope(ScopeFault::Negated(_) | ScopeFault::NoPattern) => "GlobInvalid",
            Self::Scope(ScopeFault::Empty(_)) => "ScopeEmpty",
            Self::Scope(_) => "ScopeUnreadable",
            Self::Glob { why: GlobError::Expansions(_), .. } => "GlobExpansionCap",
            Self::Glob { .. } => "GlobInvalid",
            Self::Keys(_) => "KeysIgnored",
            Self::FileTooLarge { .. } => "FileTooLarge",
            Self::CombinedCap { .. } => "CombinedCap",
            Self::FileCap => "FileCap",
            Self::DirectoryCap => "DirectoryCap",
            Self::EntryCap => "EntryCap",
            Self::NotUtf8(_) => "NotUtf8",
            Self::SymlinkRefused => "SymlinkRefused",
            Self::WrongKind => "WrongKind",
            Self::WrongCase { .. } => "WrongCase",
            Self::NotARule(_) => "NotARule",
            Self::Nested => "NotNested",
            Self::Name(_) => "NameUnsafe",
            Self::Unreadable(_) => "Unreadable",
            Self::Blank => "Blank",
            Self::Duplicate(_) => "Duplicate",
            Self::Import(_) => "ImportNotFollowed",
            Self::More(_) => "MoreOmissions",
        }
    }

    /// True where a bound, and not a rule of the format, kept text out of the context.
    #[must_use]
    pub fn is_cap(&self) -> bool {
        matches!(
            self,
            Self::FileTooLarge { .. }
                | Self::CombinedCap { .. }
                | Self::FileCap
                | Self::DirectoryCap
                | Self::EntryCap
                | Self::More(_)
        )
    }

    /// True where nothing of the file itself is missing: the text is in the context, or the file
    /// is none that would have been.
    #[must_use]
    pub fn is_note(&self) -> bool {
        matches!(
            self,
            Self::Keys(_)
                | Self::Glob { .. }
                | Self::Import(_)
                | Self::NotARule(_)
                | Self::Nested
                | Self::Blank
                | Self::Duplicate(_)
        )
    }
}

/// Something that is not in the context, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Omission {
    /// File or folder, from the mount's root.
    pub path: MountPath,
    /// Why.
    pub reason: Reason,
}

/// The instructions of a task, broad to specific, with all that a person may ask about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConventionSet {
    /// In the order they are shown.
    pub blocks: Vec<Block>,
    /// What was left out, by path.
    pub omissions: Vec<Omission>,
    /// Digest over sources, digests and texts in order: equal means the same context.
    pub combined_digest: Digest,
    /// A bound kept text out.
    pub truncated: bool,
    /// Targets, relative to the workspace's root.
    pub targets: Vec<MountPath>,
    /// Bytes that the blocks may take together, their frames included.
    pub budget: usize,
    /// Bytes that they take.
    pub used: usize,
}

/// The answer to “why is this here, or why not?”.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// It is in the context; what is told about it beside.
    Here(&'a Block, Vec<&'a Reason>),
    /// It is not, for these reasons.
    LeftOut(Vec<&'a Reason>),
    /// Nothing was found at that path that could be an instruction.
    Unknown,
}

/// What a caller gets (I-110).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Projection {
    /// Texts only, in order.
    Text {
        /// Texts.
        blocks: Vec<String>,
        /// A bound kept text out.
        truncated: bool,
    },
    /// Everything.
    Full(ConventionSet),
}

impl ConventionSet {
    /// Why a file is in the context, or why it is not.
    #[must_use]
    pub fn why(&self, path: &MountPath) -> Answer<'_> {
        let reasons: Vec<&Reason> = self.omissions.iter().filter(|o| o.path == *path).map(|o| &o.reason).collect();
        match self.blocks.iter().find(|b| b.source == *path) {
            Some(block) => Answer::Here(block, reasons),
            None if reasons.is_empty() => Answer::Unknown,
            None => Answer::LeftOut(reasons),
        }
    }

    /// What a person would miss: omissions without the notes about what is there anyway.
    pub fn left_out(&self) -> impl Iterator<Item = &Omission> {
        self.omissions.iter().filter(|o| !o.reason.is_note())
    }

    /// What a caller asked for: texts alone, or all that is known about them (I-110).
    #[must_use]
    pub fn project(self, want_metadata: bool) -> Projection {
        if want_metadata {
            return Projection::Full(self);
        }
        let blocks = self.blocks.into_iter().map(|b| b.text).collect();
        Projection::Text { blocks, truncated: self.truncated }
    }
}

impl Block {
    /// Why it is here, in a sentence for a person.
    #[must_use]
    pub fn why(&self) -> String {
        let names = |matches: &[Match]| {
            let mut names: Vec<String> = matches.iter().take(3).map(|m| m.target.to_string()).collect();
            if matches.len() > 3 {
                names.push(format!("{} more", matches.len() - 3));
            }
            names.join(", ")
        };
        match &self.because {
            Because::Workspace => "it holds for the whole workspace".to_owned(),
            Because::Above if self.matched.is_empty() => "it lies at the workspace's root".to_owned(),
            Because::Above => format!("it lies above {}", names(&self.matched)),
            Because::Always(AlwaysBy::Key) => "it says alwaysApply: true".to_owned(),
            Because::Always(AlwaysBy::NoScope) => "it names no paths, so it holds for every task".to_owned(),
            Because::Always(AlwaysBy::Pattern(p)) => format!("its pattern {p} means every task"),
            Because::Matched => {
                let mut patterns: Vec<&str> = Vec::new();
                for pattern in self.matched.iter().filter_map(|m| m.pattern.as_deref()) {
                    if !patterns.contains(&pattern) {
                        patterns.push(pattern);
                    }
                }
                format!("its pattern {} matches {}", patterns.join(", "), names(&self.matched))
            }
        }
    }
}
