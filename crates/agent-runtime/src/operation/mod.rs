//! One change to the world, from its preparation to a proven end (contracts.md §1.6).
//!
//! A record says what the action is and where it stands. What follows from that (phase, effect,
//! idempotency key, digests) is computed, so nothing in it can disagree. Nothing here sends: a
//! phase is made durable first, and the driver calls the tool after [`Phase::Dispatched`] is.

mod proof;
mod record;
mod set;

pub use proof::{Attestation, Claim, Dispatcher, Outcome, Proof, Receipt, SessionEnded};
pub use record::{Effect, LEGAL, OperationRecord, OperationRequest, Phase, Step, TARGET_MAX, TARGETS_MAX, Targets};
pub use set::{OperationSet, OrphanReceipt, SETTLED_KEPT, SettledRef};

use kernel::OperationId;

use crate::refuse::refusals;

/// Why an operation does not move. Nothing has changed where one is returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperationRefusal {
    /// One at a time (I-53).
    #[error("{0} is not settled yet, and a task has one change at a time")]
    OperationInFlight(OperationId),
    /// The id names other bytes (I-58).
    #[error("{0} was prepared as something else")]
    OperationReplayMismatch(OperationId),
    /// The id was used (I-61).
    #[error("{0} was used before; a new change needs a new id")]
    OperationAlreadySettled(OperationId),
    /// Not a step of the table (I-54).
    #[error("an operation does not go from {from:?} to {to:?}")]
    OperationPhase {
        /// Where it stands.
        from: Phase,
        /// Where it was to go.
        to: Phase,
    },
    /// It was sent, so “nothing happened” needs evidence (I-55).
    #[error("the operation was sent and can no longer be called off")]
    AbortAfterDispatch,
    /// It was sent, and is never sent again (I-56).
    #[error("the operation was sent once and is never sent again")]
    AutoRetryForbidden,
    /// It is not the one that is unresolved.
    #[error("{0} is not the operation that is open")]
    OperationCas(OperationId),
    /// A receipt of something else (I-57).
    #[error("the receipt is for another {field}")]
    LateReceiptMismatch {
        /// What differs.
        field: &'static str,
    },
    /// What was seen proves neither end.
    #[error("what was seen proves neither that it happened nor that it did not")]
    SettlementUnproven,
    /// An action on nothing.
    #[error("the operation names no target")]
    TargetsEmpty,
    /// Too many, or one is too long.
    #[error("the operation names more than {TARGETS_MAX} targets, or one longer than {TARGET_MAX} bytes")]
    TooManyTargets,
}

refusals!(OperationRefusal => "The operation");

#[cfg(test)]
pub(crate) mod tests;
