//! One event, and what it may carry.

use kernel::Digest;
use serde::{Deserialize, Serialize};

use super::{TraceRefusal, TraceStatus};
use crate::core::{EventId, Instant};

/// Longest name of what an event is about, bytes.
pub const SUBJECT_MAX: usize = 256;
/// Longest summary, bytes.
pub const SUMMARY_MAX: usize = 4096;
/// Most digests.
pub const DIGESTS_MAX: usize = 32;

/// What happened. One list for every module that is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TraceKind {
    /// The turn's frozen contract: the first event, and only that.
    Contract,
    Seed,
    Target,
    Plan,
    Read,
    Receipt,
    Route,
    Confirmation,
    ModelCall,
    ModelOutput,
    PreTool,
    Denied,
    PostTool,
    Prepared,
    Dispatched,
    Observed,
    Settled,
    ReconcileRequired,
    AbortedZeroEffect,
    OrphanReceipt,
    Memory,
    Checkpoint,
    Handoff,
    Card,
    Refused,
    ClockAnomaly,
    Completed,
    Failed,
    Interrupted,
}

impl TraceKind {
    /// All.
    pub const ALL: [Self; 29] = [
        Self::Contract,
        Self::Seed,
        Self::Target,
        Self::Plan,
        Self::Read,
        Self::Receipt,
        Self::Route,
        Self::Confirmation,
        Self::ModelCall,
        Self::ModelOutput,
        Self::PreTool,
        Self::Denied,
        Self::PostTool,
        Self::Prepared,
        Self::Dispatched,
        Self::Observed,
        Self::Settled,
        Self::ReconcileRequired,
        Self::AbortedZeroEffect,
        Self::OrphanReceipt,
        Self::Memory,
        Self::Checkpoint,
        Self::Handoff,
        Self::Card,
        Self::Refused,
        Self::ClockAnomaly,
        Self::Completed,
        Self::Failed,
        Self::Interrupted,
    ];
    /// What the trace is after it.
    #[must_use]
    pub fn status(self) -> TraceStatus {
        match self {
            Self::Completed => TraceStatus::Complete,
            Self::Failed => TraceStatus::Failed,
            Self::Interrupted => TraceStatus::Interrupted,
            _ => TraceStatus::Open,
        }
    }
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EventResult {
    Ok,
    Refused,
    Failed,
    Unknown,
}

/// What an event carries: plain, bounded data. Nothing in it can be called, fetched or resumed.
///
/// ```compile_fail,E0277
/// # use agent_runtime::{operation::OperationRequest, trace::TracePayload};
/// // What is written in a trace is not an action (I-84).
/// # fn f(payload: TracePayload) -> OperationRequest {
/// payload.into()
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "(String, String, Vec<Digest>)", into = "(String, String, Vec<Digest>)")]
pub struct TracePayload {
    subject: String,
    summary: String,
    digests: Vec<Digest>,
}

impl TracePayload {
    /// Most bytes that one counts for.
    pub(super) const BYTES_MAX: usize = 384 + SUBJECT_MAX + SUMMARY_MAX + 48 * DIGESTS_MAX;

    /// The name of what it is about, a summary, and what it refers to.
    ///
    /// # Errors
    /// `TracePayloadNotData` over a bound.
    pub fn new(subject: &str, summary: &str, digests: Vec<Digest>) -> Result<Self, TraceRefusal> {
        Self::try_from((subject.to_owned(), summary.to_owned(), digests))
    }
    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }
    /// In short.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }
    /// What it refers to.
    #[must_use]
    pub fn digests(&self) -> &[Digest] {
        &self.digests
    }
    /// What the event counts for: its payload and a share for its names and times.
    pub(super) fn bytes(&self) -> usize {
        384 + self.subject.len() + self.summary.len() + 48 * self.digests.len()
    }
}

impl TryFrom<(String, String, Vec<Digest>)> for TracePayload {
    type Error = TraceRefusal;
    fn try_from((subject, summary, digests): (String, String, Vec<Digest>)) -> Result<Self, TraceRefusal> {
        if subject.len() > SUBJECT_MAX || summary.len() > SUMMARY_MAX || digests.len() > DIGESTS_MAX {
            return Err(TraceRefusal::TracePayloadNotData);
        }
        Ok(Self { subject, summary, digests })
    }
}

impl From<TracePayload> for (String, String, Vec<Digest>) {
    fn from(payload: TracePayload) -> Self {
        (payload.subject, payload.summary, payload.digests)
    }
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceEvent {
    /// Its name, by which a second delivery is noticed.
    pub event_id: EventId,
    /// Its number, from 1.
    pub sequence: u64,
    /// When it was seen.
    pub observed_at: Instant,
    /// What happened.
    pub kind: TraceKind,
    /// How it went.
    pub result: EventResult,
    /// What it carries.
    pub payload: TracePayload,
}
