//! User command files of other tools, read as guidance (decision 24): a name, a description and a
//! template. They appear below the packages, a person reviews them like a skill, and the line a
//! person types fills them by the one substituter. What their own tool would have run or fetched
//! stays text here and is listed.

mod discover;
mod header;
mod inert;
mod parse;

#[cfg(test)]
mod tests;

use kernel::mount::MountPath;
use kernel::registry::{Guidance, Review};
use kernel::{Digest, PackageId, Refusal, Rev, SkillId};

use crate::arguments::{ArgumentRefusal, Filled, Template};

pub use discover::{Commands, Discovery, Fault};
pub use inert::{Inert, InertKind};
pub use parse::parse;

/// Longest command file, in bytes.
pub const FILE_MAX: usize = 64 * 1024;
/// Longest header, in bytes.
pub const HEADER_MAX: usize = 8 * 1024;
/// Most keys of a header.
pub const KEYS_MAX: usize = 64;
/// Longest description, in code points.
pub const DESCRIPTION_MAX: usize = 1024;
/// Deepest folder below a root that is looked at.
pub const DEPTH_MAX: usize = 4;
/// Most entries of one folder.
pub const ENTRIES_MAX: usize = 256;
/// Most command files read.
pub const FILES_MAX: usize = 512;
/// Most injections listed of one file.
pub const INERT_MAX: usize = 64;

/// Whose command files these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// `.claude/commands/**/*.md`.
    Claude,
    /// `.opencode/command/**/*.md`, and `commands`.
    OpenCode,
    /// `.gemini/commands/**/*.toml`.
    Gemini,
    /// `.github/prompts/**/*.prompt.md`.
    Copilot,
}

impl Format {
    /// All of them, in the order in which they win.
    pub const ALL: [Self; 4] = [Self::Claude, Self::OpenCode, Self::Gemini, Self::Copilot];

    /// The folders it is kept in.
    #[must_use]
    pub fn roots(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &[".claude/commands"],
            Self::OpenCode => &[".opencode/command", ".opencode/commands"],
            Self::Gemini => &[".gemini/commands"],
            Self::Copilot => &[".github/prompts"],
        }
    }

    /// How the names of its files end.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Claude | Self::OpenCode => ".md",
            Self::Gemini => ".toml",
            Self::Copilot => ".prompt.md",
        }
    }
}

/// A command file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFile {
    /// Its name: the path below its root, folders joined by dots.
    pub id: SkillId,
    /// Whose it is.
    pub format: Format,
    /// Where it was read from.
    pub path: MountPath,
    /// What it is for, in its own words, or its first line.
    pub description: String,
    /// The hint for its arguments, as its author wrote it.
    pub hint: Option<String>,
    /// The template.
    pub template: Template,
    /// Tools it names. Hints, never authority (I-132).
    pub tool_hints: Vec<String>,
    /// Header keys that mean nothing here.
    pub ignored: Vec<String>,
    /// What its own tool would have run, fetched or filled in.
    pub inert: Vec<Inert>,
    /// Characters that hide or reorder others: never approved as clean.
    pub hidden: usize,
    /// Digest of the file's bytes.
    pub digest: Digest,
}

impl CommandFile {
    /// The instructions for a line of arguments.
    ///
    /// # Errors
    /// What the substituter refuses.
    pub fn fill(&self, line: &str) -> Result<Filled, ArgumentRefusal> {
        self.template.fill(line)
    }

    /// The row it becomes; nobody reviewed it unless a review says so.
    #[must_use]
    pub fn guidance(&self, package: PackageId, review: Review, enabled: bool) -> Guidance {
        Guidance {
            id: self.id.clone(),
            package,
            title: self.id.to_string(),
            summary: self.description.clone(),
            enabled,
            problem: None,
            review,
            digest: self.digest,
            rev: Rev::default(),
        }
    }

    /// The hint for the composer: the author's, else one slot a place.
    #[must_use]
    pub fn argument_hint(&self) -> String {
        self.hint.clone().unwrap_or_else(|| {
            let slots = self.template.slots().into_iter().map(|slot| match slot.required {
                true => format!("<{}>", slot.name),
                false => format!("[{}]", slot.name),
            });
            slots.collect::<Vec<_>>().join(" ")
        })
    }
}

/// Why a command file is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandRefusal {
    /// Not below a root, or with another ending.
    #[error("{0} is no command file")]
    PathUnknown(String),
    /// The name is none of decision 18.
    #[error("the name “{name}” cannot be typed here; {suggestion}")]
    NameInvalid {
        /// As the path gives it.
        name: String,
        /// What to call the file.
        suggestion: String,
    },
    /// Too long.
    #[error("the {what} has {there} bytes, at most {most} are read")]
    TooLarge {
        /// Which part.
        what: &'static str,
        /// Measured.
        there: u64,
        /// Allowed.
        most: usize,
    },
    /// Not text.
    #[error("the file is not UTF-8, or holds NUL")]
    NotText,
    /// The header does not end.
    #[error("the header that opens on line 1 is not closed by a line of three dashes")]
    HeaderUnclosed,
    /// Not TOML, or not of the shape of a command.
    #[error("line {line}: {cause}")]
    Toml {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        cause: String,
    },
    /// There is no prompt.
    #[error("the command has no text")]
    Empty,
    /// The template is over a bound.
    #[error(transparent)]
    Template(#[from] ArgumentRefusal),
    /// A symbolic link.
    #[error("the entry is a symbolic link, and links are not followed")]
    Link,
    /// It could not be read.
    #[error("it could not be read: {0}")]
    Unreadable(String),
    /// A folder of a root that comes first was not read whole, so it may hold the winner.
    #[error("a folder that comes first was not read whole: {0}")]
    IncompleteHigherScan(String),
    /// The file that would win the name is refused.
    #[error("the name belongs to {0}, which is refused")]
    InvalidWinner(String),
}

impl CommandRefusal {
    /// The variant's name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::PathUnknown(_) => "CommandPathUnknown",
            Self::NameInvalid { .. } => "NameInvalid",
            Self::TooLarge { .. } => "CommandTooLarge",
            Self::NotText => "UnicodeMalformed",
            Self::HeaderUnclosed => "CommandHeaderUnclosed",
            Self::Toml { .. } => "CommandToml",
            Self::Empty => "BodyEmpty",
            Self::Template(e) => e.code(),
            Self::Link => "PathUnsafe",
            Self::Unreadable(_) => "CommandUnreadable",
            Self::IncompleteHigherScan(_) => "IncompleteHigherScan",
            Self::InvalidWinner(_) => "InvalidWinner",
        }
    }

    /// The refusal about one path.
    #[must_use]
    pub fn about(&self, path: &str) -> Refusal {
        let expected = match self {
            Self::NameInvalid { suggestion, .. } => suggestion.clone(),
            Self::TooLarge { most, .. } => format!("at most {most} bytes"),
            _ => String::new(),
        };
        Refusal::new(self.code(), path, &expected, &self.to_string())
    }
}
