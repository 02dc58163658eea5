//! Whether a turn runs, waits, is quiet for too long, or has ended (contracts.md §1.8).
//!
//! Only what happened is stored. That a turn waits follows from what happened; that it is suspect
//! or stalled follows from that and the time, so looking at it changes nothing: the one thing that
//! a look may leave is a card, under a key that makes the second one the same. What would act on
//! a stalled turn needs a [`RecoveryGrant`].

mod classify;
mod recovery;
mod turn;

pub use classify::{
    AGENT_LEASE_MS, CapabilityBoundary, Classification, OPERATION_LEASE_MS, Observed, ProactiveDetection, Reason,
    STALLED_AFTER_MS, SUSPECT_AFTER_MS, Thresholds, TurnLivenessContract, TurnRecoveryCard, Watchdog,
};
pub use recovery::{
    ARTIFACTS_MAX, Checkpoint, CheckpointValidation, Idempotency, RecoveryAction, RecoveryGrant, ValidationStatus,
};
pub use turn::{
    Ending, EventKind, Lease, OPERATION_LEASE_MAX_MS, Owner, PostEvidence, TABLE, TurnEnded, TurnEvent, TurnLiveness,
    TurnState, TurnSummary, Work,
};

use kernel::TurnKey;

use crate::refuse::refusals;

/// Why a turn does not move. Nothing has changed where one is returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LivenessRefusal {
    /// A permit of another turn or call, or a change without its prepared record (I-67, I-50).
    #[error("the permit is not for this call of this turn, or its change is not prepared")]
    LeaseNotPermitted,
    /// Only the agent's own work is leased, so only that can be cleaned up (I-67).
    #[error("a lease of {0} is not the agent's")]
    LeaseForeignOwner(&'static str),
    /// No turn runs that this could be for.
    #[error("no turn runs that this is for")]
    TurnTerminal,
    /// A change is open, so the turn cannot be called complete (I-70).
    #[error("a change of the turn is not settled")]
    CompleteUnsettled,
    /// Nothing shows that it is complete (I-70).
    #[error("nothing shows that the turn is complete")]
    CompleteNoEvidence,
    /// Nobody allowed it (I-72).
    #[error("a person has not allowed to {action:?} turn {turn}")]
    RecoveryNotAuthorised {
        /// What.
        action: RecoveryAction,
        /// Of which turn.
        turn: TurnKey,
    },
    /// It cannot be told what would be done twice (I-72, I-73).
    #[error("it is not known what has been done already")]
    IdempotencyUnproven,
    /// Nothing here wakes by itself (I-75).
    #[error("nothing here watches while it sleeps")]
    WatchdogClaimUnsupported,
    /// Stalled before suspect.
    #[error("a turn cannot be stalled before it is suspect")]
    ThresholdOrder,
    /// No checkpoint, one that was used, or one that says too little.
    #[error("there is no checkpoint, it was used, or it says too little")]
    CheckpointIncomplete,
}

refusals!(LivenessRefusal => "The turn");

#[cfg(test)]
mod classify_tests;
#[cfg(test)]
mod tests;
