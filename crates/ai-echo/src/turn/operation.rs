//! The record of one mutating call (contracts.md §1.6, in the phases that this product writes).
//!
//! The record outlives its turn: a stop between two phases ends the turn at once, and the record
//! is still brought to an end that is true.

use serde::{Deserialize, Serialize};

/// What is known about a call's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// It only read.
    None,
    /// It happened.
    Applied,
    /// It did not happen.
    NotApplied,
    /// Nobody can say.
    Unknown,
}

/// A durable phase of an operation's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OpPhase {
    /// Recorded before anything happens (I-50).
    Prepared,
    /// Recorded right before the call.
    Dispatched,
    /// Closed, with what is known.
    Settled(Effect),
    /// Closed before it was dispatched: no effect, for certain (I-55).
    AbortedZeroEffect,
    /// The effect is not known; a person or a re-read must say.
    ReconcileRequired,
}

impl OpPhase {
    /// Whether the record is closed with this phase.
    pub fn is_closing(self) -> bool {
        !matches!(self, Self::Prepared | Self::Dispatched)
    }
}

/// What the driver waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    /// The record of this phase to become durable.
    Recording(OpPhase),
    /// The tool's result.
    InFlight,
    /// The closing record, with what it says and whether the target had changed.
    Closing { phase: OpPhase, effect: Effect, changed: bool },
}
