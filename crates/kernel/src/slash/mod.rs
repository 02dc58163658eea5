//! Slash commands: a projection of the live registries, a parser, a ranking, and the machine
//! that turns a trusted draft into one dispatch (engine.md §2.9).
//!
//! There is no list of commands here (I-150): [`Catalog::project`] reads the registries each
//! time they changed, and a submission reads them again.

mod catalog;
mod draft;
mod parse;
mod rank;

pub use catalog::{Catalog, RegistryKind, RowKind, Situation, SlashRow, Source};
pub use draft::{AgentTurn, Draft, EditOrigin, LocalDispatch, Outcome, Receipt, Submission, TurnKind, dispatch_check};
pub use parse::{ArgHint, Shape, classify, hint, split_args};
pub use rank::{Hit, Recency, SearchManager, Tier};

use crate::ids::Rev;
use crate::refusal::Refusal;

/// Rows of a catalogue at most.
pub const ROWS_MAX: usize = 2048;
/// Rows shown at once at most.
pub const SHOWN_MAX: usize = 50;
/// Longest alias, in characters.
pub const ALIAS_MAX: usize = 48;
/// Longest slash-shaped draft, in bytes.
pub const SLASH_MAX: usize = 16 * 1024;
/// Longest task text, in bytes.
pub const TASK_MAX: usize = 8 * 1024;

/// Refusals of a slash submission (engine.md §2.9).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlashRefusal {
    /// Nothing by that name. The draft stays; “Send as text” is the one way on (decision 8).
    #[error("“{0}” is not a command")]
    SlashUnknown(String),
    /// A short name that several rows share.
    #[error("“/{name}” could mean {}", .candidates.join(" or "))]
    SlashAliasAmbiguous {
        /// Name.
        name: String,
        /// Canonical names.
        candidates: Vec<String>,
    },
    /// The row changed since it was shown.
    #[error("{name} changed since it was shown; look at it again")]
    SlashStale {
        /// Canonical name.
        name: String,
        /// Current revision.
        rev: Rev,
    },
    /// The app's surface cannot be shown.
    #[error("{0}")]
    SlashSurface(crate::registry::RegistryRefusal),
    /// Something in the draft was not typed by the person.
    #[error("the draft was changed by something other than your keys; clear it, or pick the command from the list")]
    SlashUntrustedEdit,
    /// Pasted or restored text.
    #[error("{0} text starting with “/” runs only after you change it or pick a row")]
    SlashNotYetEdited(&'static str),
    /// The submission was not the person's.
    #[error("the submission did not come from your keys or pointer")]
    SlashUntrustedSubmit,
    /// The text is not the one that was edited.
    #[error("the draft changed between the last edit and the submission")]
    SlashDraftChanged,
    /// The command did not opt in.
    #[error("the command {0} cannot be run from here")]
    SlashNotOptedIn(String),
    /// The tool cannot be used now.
    #[error("the tool cannot be used: {why}")]
    SlashToolIneligible {
        /// Why.
        why: String,
    },
    /// The skill cannot be used now.
    #[error("the skill cannot be used: {why}")]
    SlashSkillIneligible {
        /// Why.
        why: String,
    },
    /// What to do is missing.
    #[error("{0} needs to be told what to do: add it after the name")]
    SlashTaskMissing(String),
    /// An argument is missing or not one of its values.
    #[error("{0}")]
    SlashArgument(String),
    /// Over a bound.
    #[error("the text is {size} bytes, at most {max} can be a command")]
    SlashTooLong {
        /// Measured.
        size: usize,
        /// Allowed.
        max: usize,
    },
}

impl SlashRefusal {
    /// The spec's name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::SlashUnknown(_) => "SlashUnknown",
            Self::SlashAliasAmbiguous { .. } => "SlashAliasAmbiguous",
            Self::SlashStale { .. } => "SlashStale",
            Self::SlashSurface(_) => "SlashSurface",
            Self::SlashUntrustedEdit | Self::SlashNotYetEdited(_) => "SlashUntrustedEdit",
            Self::SlashUntrustedSubmit => "SlashUntrustedSubmit",
            Self::SlashDraftChanged => "SlashDraftChanged",
            Self::SlashNotOptedIn(_) => "SlashNotOptedIn",
            Self::SlashToolIneligible { .. } => "SlashToolIneligible",
            Self::SlashSkillIneligible { .. } => "SlashSkillIneligible",
            Self::SlashTaskMissing(_) => "SlashTaskMissing",
            Self::SlashArgument(_) => "SlashArgument",
            Self::SlashTooLong { .. } => "SlashTooLong",
        }
    }
}

impl From<SlashRefusal> for Refusal {
    fn from(e: SlashRefusal) -> Self {
        Self::new(e.code(), "The command", "", &e.to_string())
    }
}

#[cfg(test)]
mod machine_tests;
#[cfg(test)]
mod tests;
