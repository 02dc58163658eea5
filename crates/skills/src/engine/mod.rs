//! The activation engine (engine.md §2.3): which skills the current objective asks for, and why.
//!
//! It is a pure function of the objective, the catalogue and the live tools and paths. An objective
//! is masked, split into words, read once by two automata (what words do, what skills listen to),
//! and judged by clause. Nothing is learnt, nothing is asked of a model, and every verdict names
//! the bytes it rests on.

mod cases;
mod clause;
mod evaluate;
mod gates;
mod language;
mod lint;
mod mask;
mod package;
mod phrase;
mod terms;
mod text;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod sayings;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use kernel::mount::MountPath;
use kernel::registry::Review;
use kernel::{Digest, Refusal, Rev, SkillId, ToolName};
use serde::{Deserialize, Serialize};

pub use cases::{CASES_MAX, Case, Outcome, Report, eval, tried};
pub use evaluate::{Analysis, Engine};
pub use gates::{GlobError, PATTERN_BYTES_MAX, PATTERNS_MAX, check_glob};
pub use language::Language;
pub use lint::{Finding, LintInput, Rule, lint, lint_file};
pub use mask::{MaskKind, Masked, mask, without_masked};

/// Most bytes of an objective that are read; more is pasted content, not a request.
pub const OBJECTIVE_MAX: usize = 16 * 1024;
/// Bytes in which a request names its subject; terms of descriptions are looked for only here.
pub const SUBJECT_WINDOW: usize = 1024;
/// Most skills of an engine.
pub const CATALOGUE_MAX: usize = 1024;
/// Most triggers of a skill.
pub const TRIGGERS_MAX: usize = 16;
/// Longest trigger, in characters.
pub const TRIGGER_CHARS_MAX: usize = 96;
/// Most required tools of a skill.
pub const REQUIRED_TOOLS_MAX: usize = 64;
/// Most target paths of a turn.
pub const TARGETS_MAX: usize = 64;
/// Most active skills of a turn.
pub const ACTIVE_MAX: usize = 4;
/// Most bytes of instructions of a turn.
pub const ACTIVE_BYTES_MAX: usize = 32 * 1024;
/// Most spans of evidence kept for one skill.
pub const EVIDENCE_MAX: usize = 8;

/// Bytes of a text, from `start` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last.
    pub end: usize,
}

/// What the engine knows of a skill: never its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillMeta {
    /// Identity.
    pub id: SkillId,
    /// Its version, as text (decision 27).
    pub version: Option<String>,
    /// What it is for, when, and when not.
    pub description: String,
    /// Phrases that ask for it.
    pub triggers: Vec<String>,
    /// Phrases that look like it and are not.
    pub negative_terms: Vec<String>,
    /// Tools that must be live. A gate, never a request for them (I-115).
    pub required_tools: Vec<ToolName>,
    /// At least one target must match, when there are any patterns.
    pub include_paths: Vec<String>,
    /// No target may match.
    pub exclude_paths: Vec<String>,
    /// Switched on.
    pub enabled: bool,
    /// Review.
    pub review: Review,
    /// Digest of its current bytes.
    pub digest: Digest,
    /// Bytes of its instructions.
    pub body_bytes: usize,
}

/// What is live while an objective is judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Tools that are live.
    pub live_tools: BTreeSet<ToolName>,
    /// Paths that the turn is about; at most [`TARGETS_MAX`] count.
    pub target_paths: Vec<MountPath>,
    /// Revision of the catalogue that was read.
    pub catalogue_rev: Rev,
}

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    /// Its instructions enter the turn.
    Active,
    /// They do not.
    Inactive,
}

/// Why a verdict is what it is (engine.md §2.3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ReasonCode {
    /// `/id` or `$id` in the objective.
    ExactInvocation,
    /// A phrase that asks for it.
    TriggerPhrase,
    /// Enough terms of its description.
    DescriptionTerms,
    /// Only shown in quotation marks.
    MaskedQuote,
    /// Only shown in code, in a comment or in an address.
    MaskedCode,
    /// Only shown in a quoted line.
    MaskedBlockquote,
    /// Denied.
    NegatedClause,
    /// Denied twice, or taken back: no evidence either way.
    NegationAmbiguous,
    /// Spoken about, not asked for.
    DescriptiveMention,
    /// Looks like it, and is what it is not for.
    NearMissVeto,
    /// Nothing, or not enough, speaks for it.
    BelowThreshold,
    /// A tool it needs is not live.
    RequiredToolMissing {
        /// The tool.
        tool: ToolName,
    },
    /// A target is excluded.
    PathExcluded,
    /// No target is included.
    PathNotIncluded,
    /// Switched off.
    Disabled,
    /// Nobody reviewed it.
    Unreviewed,
    /// Its bytes changed since the review (I-117).
    ReviewBindingChanged,
    /// The objective is longer than what was read.
    ObjectiveTruncated,
    /// The language has no table: only an exact invocation counts.
    LanguageUnknown,
    /// Better ones fill the turn.
    ActiveCap,
}

impl ReasonCode {
    /// Its name in the specification.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::ExactInvocation => "ExactInvocation",
            Self::TriggerPhrase => "TriggerPhrase",
            Self::DescriptionTerms => "DescriptionTerms",
            Self::MaskedQuote => "MaskedQuote",
            Self::MaskedCode => "MaskedCode",
            Self::MaskedBlockquote => "MaskedBlockquote",
            Self::NegatedClause => "NegatedClause",
            Self::NegationAmbiguous => "NegationAmbiguous",
            Self::DescriptiveMention => "DescriptiveMention",
            Self::NearMissVeto => "NearMissVeto",
            Self::BelowThreshold => "BelowThreshold",
            Self::RequiredToolMissing { .. } => "RequiredToolMissing",
            Self::PathExcluded => "PathExcluded",
            Self::PathNotIncluded => "PathNotIncluded",
            Self::Disabled => "Disabled",
            Self::Unreviewed => "Unreviewed",
            Self::ReviewBindingChanged => "ReviewBindingChanged",
            Self::ObjectiveTruncated => "ObjectiveTruncated",
            Self::LanguageUnknown => "LanguageUnknown",
            Self::ActiveCap => "ActiveCap",
        }
    }

    /// It speaks for the skill.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        matches!(self, Self::ExactInvocation | Self::TriggerPhrase | Self::DescriptionTerms)
    }
}

/// Bytes of the objective, and what they count for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Bytes of the objective.
    pub span: Span,
    /// What they count for.
    pub reason: ReasonCode,
}

/// What the engine says of one skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The skill.
    pub skill: SkillId,
    /// The verdict.
    pub verdict: Verdict,
    /// Every reason, in the order of [`ReasonCode`], each once.
    pub reasons: Vec<ReasonCode>,
    /// What they rest on, in the order of the objective; at most [`EVIDENCE_MAX`].
    pub evidence: Vec<Evidence>,
    /// How strongly it is asked for; orders the active ones and is shown to nobody else.
    pub score: u32,
}

impl Evaluation {
    /// True when the skill is active.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.verdict == Verdict::Active
    }
}

/// Refusals of the engine (engine.md §2.3).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillRefusal {
    /// No such skill.
    #[error("there is no skill “{0}”")]
    SkillUnknown(SkillId),
    /// Switched off.
    #[error("the skill “{0}” is switched off")]
    SkillDisabled(SkillId),
    /// Not reviewed, or changed since.
    #[error("the skill “{id}” {}", if *.changed { "changed since it was reviewed" } else { "was reviewed by nobody" })]
    SkillUnreviewed {
        /// Skill.
        id: SkillId,
        /// There was a review, of other bytes.
        changed: bool,
    },
    /// A tool is missing.
    #[error("the skill “{id}” needs the tool “{tool}”, which is not available")]
    SkillToolMissing {
        /// Skill.
        id: SkillId,
        /// Tool.
        tool: ToolName,
    },
    /// The paths of the turn are not its paths.
    #[error("the skill “{0}” is not for these paths")]
    SkillPathExcluded(SkillId),
    /// Over a bound, or twice.
    #[error("{subject}: at most {most} {what}, there are {there}")]
    SkillCap {
        /// What is over it.
        subject: String,
        /// Of what.
        what: &'static str,
        /// The bound.
        most: usize,
        /// What there was.
        there: usize,
    },
}

impl SkillRefusal {
    /// The variant's name, as the specification lists it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::SkillUnknown(_) => "SkillUnknown",
            Self::SkillDisabled(_) => "SkillDisabled",
            Self::SkillUnreviewed { .. } => "SkillUnreviewed",
            Self::SkillToolMissing { .. } => "SkillToolMissing",
            Self::SkillPathExcluded(_) => "SkillPathExcluded",
            Self::SkillCap { .. } => "SkillCap",
        }
    }
}

impl From<SkillRefusal> for Refusal {
    fn from(e: SkillRefusal) -> Self {
        let (subject, expected) = match &e {
            SkillRefusal::SkillUnknown(id) => (id.to_string(), "a skill of the catalogue".to_owned()),
            SkillRefusal::SkillDisabled(id) => (id.to_string(), "a skill that is switched on".to_owned()),
            SkillRefusal::SkillUnreviewed { id, .. } => (id.to_string(), "a review of exactly these bytes".to_owned()),
            SkillRefusal::SkillToolMissing { id, tool } => (id.to_string(), format!("the tool {tool}")),
            SkillRefusal::SkillPathExcluded(id) => (id.to_string(), "a path that the skill is for".to_owned()),
            SkillRefusal::SkillCap { subject, what, most, .. } => (subject.clone(), format!("at most {most} {what}")),
        };
        Self::new(e.code(), &subject, &expected, &e.to_string())
    }
}

/// The longest prefix of whole characters within `max` bytes.
fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}
