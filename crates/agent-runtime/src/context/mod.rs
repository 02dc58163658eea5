//! What was read before something was decided (contracts.md §1.3): intent seed → one target → plan
//! → observations → receipt → route, and no step may be filled in from a later one.
//!
//! Each step takes the one before it as a value, so none can be skipped. A receipt keeps what was
//! observed and how it ended; its status, what is satisfied and what is missing are computed, so
//! nobody can set them. The ledger is the set of observations: it only grows.

mod ledger;
mod plan;
mod receipt;
mod seed;
mod target;

pub use ledger::{
    ContentIdentity, LEDGER_BYTES, LEDGER_MAX, Ledger, LedgerKey, Observation, Outcome, ReadPhase, SkillRoute,
};
pub use plan::{
    ActionClass, ActionEnvelope, BoundedMemoryQuery, Draft, Excluded, Exit, FullReadReason, Limit, MEMORY_BYTES,
    MEMORY_ITEMS, Plan, PlanIdentity, PlanV1, ReadQuery, SOURCES_MAX, Selection, SourceMeta,
};
pub use receipt::{
    Claim, Delivery, Drift, End, REPLANS_MAX, ReadMode, Receipt, ReceiptEvent, ReceiptV1, Status, TABLE, Unplanned,
};
pub use seed::{Continuity, Intent, IntentSeed, Risk, SEED_TAG, SeedBasis};
pub use target::{HowFound, Place, Purpose, UniqueTarget};

use kernel::Digest;
use serde::{Deserialize, Serialize};

use crate::core::Overflow;
use crate::refuse::refusals;

/// Longest name of a source, bytes.
pub const SOURCE_MAX: usize = 1024;

/// A stretch in which what was read stays what the model knows; a compaction or a resume starts the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContextEpoch(pub u64);

impl ContextEpoch {
    /// The next one.
    ///
    /// # Errors
    /// [`Overflow`] at the end.
    pub fn next(self) -> Result<Self, Overflow> {
        self.0.checked_add(1).map(Self).ok_or(Overflow)
    }
}

/// Equal for equal reading, in every process and epoch (I-19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlanContentId(pub Digest);

/// One plan as it was made: never shared by two (I-19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlanId(pub Digest);

/// From where a source speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Layer {
    /// The submission and what stands in the conversation.
    Message,
    /// Files of the project.
    Project,
    /// Skills and instructions.
    Skill,
    /// Settings and instructions of the person.
    Profile,
    /// Kept memory.
    Memory,
}

/// A source: where it speaks from, and its name there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceId {
    /// Layer.
    pub layer: Layer,
    /// Path or name, at most [`SOURCE_MAX`] bytes in a plan.
    pub name: String,
}

/// Why context is not what somebody said it is. Nothing has changed where one is returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextRefusal {
    /// Nothing was said.
    #[error("the message is empty")]
    IntentMissing,
    /// A word alone is no intent (I-14).
    #[error("a word in the message hints at the wish, but does not settle it")]
    IntentNotCanonical,
    /// A seed from elsewhere, or one that points outside its message.
    #[error("the seed holds something that is not in the message: {0}")]
    SeedForeignField(&'static str),
    /// A tool needs a project.
    #[error("no project is open for this")]
    TargetMissing,
    /// More than one project fits.
    #[error("{0} projects fit; one has to be named")]
    TargetAmbiguous(usize),
    /// A source stands in two lists, in none, or is not there.
    #[error("the plan does not sort its sources: {0}")]
    PlanPartitionBroken(&'static str),
    /// A source that nobody decided about, or a mandatory one that is not there.
    #[error("the plan is blocked: {0} sources are not decided about")]
    PlanUnclassified(usize),
    /// A full read without a reason.
    #[error("everything was to be read, and no reason is given")]
    FullReadReasonMissing,
    /// A full read that is not called one.
    #[error("the plan reads all of {0} and does not say so")]
    HiddenFullRead(String),
    /// An observation of something else (I-20).
    #[error("what was observed belongs to another {field}")]
    ReceiptCorrelation {
        /// What differs.
        field: &'static str,
    },
    /// Asked for, never answered (I-21).
    #[error("reads were only begun")]
    ReceiptPreOnly,
    /// Success without what was read.
    #[error("a read succeeded without showing what it read")]
    ReceiptIdentityless,
    /// One observation, two meanings.
    #[error("one observation was reported in two ways")]
    ReceiptConflict,
    /// What was read has changed since.
    #[error("what was read may have changed; it has to be read again")]
    ReceiptStale,
    /// Sources are still to be read, or were read in a way that proves nothing.
    #[error("{0} sources are not proven read")]
    ReceiptIncomplete(usize),
    /// Used up.
    #[error("the receipt was used for a decision already")]
    ReceiptConsumed,
    /// Read again instead (I-23).
    #[error("what was read before cannot be used again: {reason:?}")]
    ReuseDenied {
        /// The condition that fails.
        reason: ReuseReason,
    },
    /// The old form is for reading only (I-22).
    #[error("a record of the first form is readable and never reusable")]
    V1NotReusable,
    /// Bounds of a ledger.
    #[error("the ledger is full")]
    LedgerFull,
    /// Another plan's ledger.
    #[error("the ledger belongs to another plan")]
    LedgerKeyMismatch,
    /// Planned again and again, or from a receipt that is not stale.
    #[error("the context changes faster than it can be read")]
    ReplanLoop,
    /// Not what the plan was made for (I-26).
    #[error("the action is not one that the plan was made for")]
    ActionOutsideEnvelope,
    /// One fallback a plan (I-27).
    #[error("the one fallback of this plan was used")]
    FallbackSpent,
}

/// The condition of reuse that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReuseReason {
    /// Another host session.
    Session,
    /// Another epoch.
    Epoch,
    /// Another plan content.
    Content,
    /// Another root or project.
    Place,
    /// A source is not as it was, or its identity is unknown.
    Identity,
    /// A body was never delivered.
    Body,
}

refusals!(ContextRefusal => "The context");

#[cfg(test)]
pub(crate) mod tests;
