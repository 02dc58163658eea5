//! What happened in the current turn, in strict order, and a look at it that can do nothing
//! (contracts.md §1.9).
//!
//! A trace is data: digests, names and short text. Its status and times are its events', so they
//! agree. Stored bytes are checked whole before anything is shown of them, by the same check that
//! lets an event in.

mod event;
mod replay;

pub use event::{DIGESTS_MAX, EventResult, SUBJECT_MAX, SUMMARY_MAX, TraceEvent, TraceKind, TracePayload};
pub use replay::{LocalTaskTraceReplay, ReplayBoundary, replay};

use kernel::{Digest, TurnKey};
use serde::{Deserialize, Serialize};

use crate::core::{CodecRefusal, EventId, Instant, SchemaTag, TraceId, digest_of, encode};
use crate::refuse::refusals;

/// Most events of a turn; the last place is the terminal's.
pub const EVENTS_MAX: usize = 4096;
/// Most bytes of a turn's events, a terminal of the largest size included.
pub const BYTES_MAX: usize = 2 * 1024 * 1024;
/// The schema of stored traces.
pub const TRACE: SchemaTag = SchemaTag { name: "LocalTaskTraceV1", version: 1 };

/// Why an event is not let in, or a stored trace is not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceRefusal {
    /// Another turn's, or no beginning.
    #[error("the trace or the event belongs to another turn, or does not begin with its contract")]
    TraceIdentity,
    /// Not the next one.
    #[error("the next event is number {expected}, not {got}")]
    TraceSequence {
        /// What comes next.
        expected: u64,
        /// What came.
        got: u64,
    },
    /// It is there.
    #[error("event {0} is there already")]
    TraceDuplicate(EventId),
    /// The turn is over.
    #[error("the turn's trace is closed")]
    TraceTerminal,
    /// Before the event before it, by a clock that never goes back.
    #[error("event {0} is earlier than the one before it")]
    TraceTime(EventId),
    /// Full, but for the terminal.
    #[error("the trace is full; only the turn's end still fits")]
    TraceCapacity,
    /// Too much to be a record of something.
    #[error("a payload is a name of {SUBJECT_MAX} bytes, a text of {SUMMARY_MAX} and {DIGESTS_MAX} digests at most")]
    TracePayloadNotData,
}

refusals!(TraceRefusal => "The trace");

/// How far a trace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TraceStatus {
    Open,
    Complete,
    Failed,
    Interrupted,
}

/// A trace as it is stored: perhaps not one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    trace_id: TraceId,
    turn_key: TurnKey,
    events: Vec<TraceEvent>,
}

/// `LocalTaskTraceV1`: valid whenever there is one.
///
/// The next turn's trace takes the place of this one's (I-81):
/// ```compile_fail,E0382
/// # use agent_runtime::{core::TraceId, trace::*};
/// # fn f(old: LocalTaskTrace, id: TraceId, turn: kernel::TurnKey, first: TraceEvent) {
/// let next = old.next(id, turn, first);
/// old.events();
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalTaskTrace(Stored);

impl LocalTaskTrace {
    /// Opens the trace of a turn with the event that keeps its frozen contract.
    ///
    /// # Errors
    /// `TraceIdentity` for another kind of event, and those of [`Self::append`].
    pub fn open(trace_id: TraceId, turn_key: TurnKey, first: TraceEvent) -> Result<Self, TraceRefusal> {
        let mut trace = Self(Stored { trace_id, turn_key: turn_key.clone(), events: Vec::new() });
        trace.append(&turn_key, first).map(|()| trace)
    }
    /// The next turn's trace, in place of this one.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn next(self, trace_id: TraceId, turn_key: TurnKey, first: TraceEvent) -> Result<Self, TraceRefusal> {
        Self::open(trace_id, turn_key, first)
    }
    /// Adds an event of `turn`. Refused, the trace is as it was.
    ///
    /// # Errors
    /// [`TraceRefusal`], the first that applies.
    pub fn append(&mut self, turn: &TurnKey, event: TraceEvent) -> Result<(), TraceRefusal> {
        if *turn != self.0.turn_key {
            return Err(TraceRefusal::TraceIdentity);
        }
        admit(&self.0.events, &event)?;
        self.0.events.push(event);
        Ok(())
    }
    /// Its name.
    #[must_use]
    pub fn trace_id(&self) -> &TraceId {
        &self.0.trace_id
    }
    /// Its turn.
    #[must_use]
    pub fn turn_key(&self) -> &TurnKey {
        &self.0.turn_key
    }
    /// Its events, numbered from 1.
    #[must_use]
    pub fn events(&self) -> &[TraceEvent] {
        &self.0.events
    }
    /// How many events there are: the number of the last.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.0.events.len() as u64
    }
    /// How far it is: what its last event says (I-80).
    #[must_use]
    pub fn status(&self) -> TraceStatus {
        self.0.events.last().map_or(TraceStatus::Open, |e| e.kind.status())
    }
    /// When it was closed.
    #[must_use]
    pub fn completed_at(&self) -> Option<Instant> {
        self.0.events.last().filter(|e| e.kind.status() != TraceStatus::Open).map(|e| e.observed_at)
    }
    /// Only the end fits any more, so what is shown of the turn may lack events (I-85).
    #[must_use]
    pub fn is_full(&self) -> bool {
        full(&self.0.events, TracePayload::BYTES_MAX)
    }
    /// The digest of all of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest_of(TRACE.name, &self.0)
    }
    /// Its bytes.
    ///
    /// # Errors
    /// [`CodecRefusal`], never for a trace.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CodecRefusal> {
        encode(TRACE, &self.0)
    }
}

/// Whether `event` comes next after `before`: the one check, for events and for stored traces.
fn admit(before: &[TraceEvent], event: &TraceEvent) -> Result<(), TraceRefusal> {
    let expected = before.len() as u64 + 1;
    let last = before.last();
    let terminal = event.kind.status() != TraceStatus::Open;
    if last.is_some_and(|l| l.kind.status() != TraceStatus::Open) {
        return Err(TraceRefusal::TraceTerminal);
    }
    if before.iter().any(|e| e.event_id == event.event_id) {
        return Err(TraceRefusal::TraceDuplicate(event.event_id.clone()));
    }
    if event.sequence != expected {
        return Err(TraceRefusal::TraceSequence { expected, got: event.sequence });
    }
    if before.is_empty() != (event.kind == TraceKind::Contract) {
        return Err(TraceRefusal::TraceIdentity);
    }
    let back = |l: &TraceEvent| {
        l.observed_at.boot == event.observed_at.boot && l.observed_at.mono_ms > event.observed_at.mono_ms
    };
    if last.is_some_and(back) {
        return Err(TraceRefusal::TraceTime(event.event_id.clone()));
    }
    if !terminal && full(before, event.payload.bytes()) || before.len() >= EVENTS_MAX {
        return Err(TraceRefusal::TraceCapacity);
    }
    Ok(())
}

/// Whether an ordinary event with so many bytes would take the terminal's place.
fn full(events: &[TraceEvent], bytes: usize) -> bool {
    let used: usize = events.iter().map(|e| e.payload.bytes()).sum();
    events.len() + 1 >= EVENTS_MAX || used + bytes + TracePayload::BYTES_MAX > BYTES_MAX
}

#[cfg(test)]
mod tests;
