//! A look at a stored trace. It returns data and takes data: there is nothing here to act with.

use kernel::TurnKey;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{EVENTS_MAX, LocalTaskTrace, Stored, TRACE, TraceEvent, TraceRefusal, admit};
use crate::core::{CodecRefusal, decode};

/// What a replay may do: read. The type has one value, so nothing can be switched on.
///
/// ```compile_fail,E0560
/// # use agent_runtime::trace::ReplayBoundary;
/// let boundary = ReplayBoundary { payload_execution: true };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReplayBoundary;

impl Serialize for ReplayBoundary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut flags = serializer.serialize_struct("ReplayBoundary", 5)?;
        flags.serialize_field("read_only", &true)?;
        flags.serialize_field("state_mutation", &false)?;
        flags.serialize_field("operation_replay", &false)?;
        flags.serialize_field("payload_execution", &false)?;
        flags.serialize_field("process_control", &false)?;
        flags.end()
    }
}

/// `LocalTaskTraceReplayV1`: a valid trace, or everything that is wrong with it and no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalTaskTraceReplay {
    /// The trace, if it is valid; with it its name, status and events (I-82).
    pub trace: Option<LocalTaskTrace>,
    /// Why the bytes are no trace at all.
    pub error: Option<CodecRefusal>,
    /// What is wrong with the trace.
    pub violations: Vec<TraceRefusal>,
    /// What was allowed.
    pub boundary: ReplayBoundary,
}

impl LocalTaskTraceReplay {
    /// Whether it is valid.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.trace.is_some()
    }
    /// Its events; none of an invalid one.
    #[must_use]
    pub fn events(&self) -> &[TraceEvent] {
        self.trace.as_ref().map_or(&[], LocalTaskTrace::events)
    }
}

/// Looks at the bytes that are stored as the trace of `turn` (I-82, I-83).
#[must_use]
pub fn replay(bytes: &[u8], turn: &TurnKey) -> LocalTaskTraceReplay {
    let boundary = ReplayBoundary;
    let stored: Stored = match decode(TRACE, bytes) {
        Ok(stored) => stored,
        Err(error) => return LocalTaskTraceReplay { trace: None, error: Some(error), violations: vec![], boundary },
    };
    let mut violations = Vec::new();
    if stored.turn_key != *turn || stored.events.is_empty() {
        violations.push(TraceRefusal::TraceIdentity);
    }
    // One event too many is as wrong as any more.
    let each = stored.events.iter().enumerate().take(EVENTS_MAX + 1);
    violations.extend(each.filter_map(|(i, event)| admit(&stored.events[..i], event).err()));
    let trace = violations.is_empty().then_some(LocalTaskTrace(stored));
    LocalTaskTraceReplay { trace, error: None, violations, boundary }
}
