//! What a turn looks like at a moment. Nothing here changes anything (I-76).

use kernel::{Digest, TurnKey};
use serde::{Deserialize, Serialize};

use super::turn::Turn;
use super::{Checkpoint, EventKind, LivenessRefusal, RecoveryAction, TABLE, TurnLiveness, TurnState};
use crate::core::{ClockAnomaly, Instant, TimeBasis, digest_of, elapsed};

/// Quiet for so long after a tool's answer, or within a stream: suspect. Milliseconds.
pub const SUSPECT_AFTER_MS: u64 = 120_000;
/// So long: stalled.
pub const STALLED_AFTER_MS: u64 = 300_000;
/// How long a model may think.
pub const AGENT_LEASE_MS: u64 = 30 * 60_000;
/// How long a tool may work, unless it has a time of its own.
pub const OPERATION_LEASE_MS: u64 = 30 * 60_000;

/// The bounds, in milliseconds; each is inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "[u64; 4]", into = "[u64; 4]")]
pub struct Thresholds([u64; 4]);

impl Thresholds {
    /// Suspect, stalled, the model's lease and a tool's.
    ///
    /// # Errors
    /// `ThresholdOrder`.
    pub fn new(suspect: u64, stalled: u64, agent_lease: u64, operation_lease: u64) -> Result<Self, LivenessRefusal> {
        Self::try_from([suspect, stalled, agent_lease, operation_lease])
    }
    pub(super) fn agent_lease_ms(&self) -> u64 {
        self.0[2]
    }
    pub(super) fn operation_lease_ms(&self) -> u64 {
        self.0[3]
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self([SUSPECT_AFTER_MS, STALLED_AFTER_MS, AGENT_LEASE_MS, OPERATION_LEASE_MS])
    }
}

impl TryFrom<[u64; 4]> for Thresholds {
    type Error = LivenessRefusal;
    fn try_from(ms: [u64; 4]) -> Result<Self, LivenessRefusal> {
        if ms[0] <= ms[1] { Ok(Self(ms)) } else { Err(LivenessRefusal::ThresholdOrder) }
    }
}

impl From<Thresholds> for [u64; 4] {
    fn from(thresholds: Thresholds) -> Self {
        thresholds.0
    }
}

/// Whether the host has a watchdog of its own, outside this code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Watchdog {
    Present,
    /// As in a browser: timers of a hidden tab are throttled, a frozen one runs nothing.
    #[default]
    Absent,
    Unverified,
}

/// The right to say that a stall is noticed without anybody looking.
///
/// ```compile_fail,E0423
/// let claim = agent_runtime::liveness::ProactiveDetection(());
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct ProactiveDetection(());

/// What this host can notice. Its writes tell of events when they happen, and a second look may
/// come from a reader; neither is a watchdog (I-75).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityBoundary {
    /// The host's watchdog.
    pub host_native_watchdog: Watchdog,
}

impl CapabilityBoundary {
    /// It can act without an event.
    #[must_use]
    pub fn can_self_wake(&self) -> bool {
        self.host_native_watchdog == Watchdog::Present
    }
    /// The claim that stalls are noticed by themselves.
    ///
    /// # Errors
    /// `WatchdogClaimUnsupported`.
    pub fn claim_proactive(&self) -> Result<ProactiveDetection, LivenessRefusal> {
        if self.can_self_wake() { Ok(ProactiveDetection(())) } else { Err(LivenessRefusal::WatchdogClaimUnsupported) }
    }
}

/// By what rules a turn is judged: frozen with its prompt, its digest in the trace before any work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnLivenessContract {
    /// Bounds.
    pub thresholds: Thresholds,
    /// What the host can notice.
    pub capability: CapabilityBoundary,
}

impl TurnLivenessContract {
    /// The digest of it and of the table of transitions.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest_of("liveness-contract", &(self, TABLE))
    }
}

/// What a turn looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Observed {
    Idle,
    Running,
    AwaitingContinuation,
    Suspect,
    StalledRecoverable,
    Completed,
    Error,
    Interrupted,
}

/// Why it looks so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// It is stored so.
    Stored,
    /// Work is in flight, within its time.
    ActiveOperationLease,
    /// All work in flight is over its time.
    LeaseExpired,
    /// A tool came back, and the model has not taken it up.
    NoContinuation,
    /// The answer came in pieces and stopped coming.
    QuietStream,
    /// Nothing is in flight, and nothing happens.
    Quiet,
    /// Nothing says when anything happened.
    NoTimeEvidence,
}

/// A look at a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classification {
    /// What it looks like.
    pub state: Observed,
    /// Why.
    pub reason: Reason,
    /// From when its age counts.
    pub since: Option<Instant>,
    /// Milliseconds since then.
    pub age_ms: u64,
    /// By which clocks.
    pub basis: Option<TimeBasis>,
    /// What was odd about them.
    pub anomaly: Option<ClockAnomaly>,
}

/// A card for the person: what is quiet, since when, and what can be done. It does nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnRecoveryCard {
    /// The same for every look that sees the same: a card is put under it if there is none (I-71).
    pub notice_key: Digest,
    /// When it was seen.
    pub observed_at: Instant,
    /// Which turn.
    pub turn_key: TurnKey,
    /// Where the turn stands in the store.
    pub prior_state: TurnState,
    /// What was seen.
    pub seen: Classification,
    /// The last thing that happened.
    pub last_event: Option<(EventKind, Instant)>,
    /// When the last tool came back.
    pub last_tool_output_at: Option<Instant>,
    /// Where it can go on.
    pub checkpoint: Option<Checkpoint>,
    /// What this host can notice.
    pub capability_boundary: CapabilityBoundary,
    /// What a person may want to do.
    pub recommended_action: RecoveryAction,
}

impl TurnLiveness {
    /// What the turn looks like at `now`: the same for the same state and time, however often.
    #[must_use]
    pub fn classify(&self, now: Instant) -> Classification {
        let at_rest =
            |state, reason| Classification { state, reason, since: None, age_ms: 0, basis: None, anomaly: None };
        let stored = match self.state() {
            TurnState::Idle => Observed::Idle,
            TurnState::Running => Observed::Running,
            TurnState::AwaitingContinuation => Observed::AwaitingContinuation,
            TurnState::Completed => Observed::Completed,
            TurnState::Error => Observed::Error,
            TurnState::Interrupted => Observed::Interrupted,
        };
        let live = self.turn.as_ref().filter(|_| matches!(stored, Observed::Running | Observed::AwaitingContinuation));
        let Some(turn) = live else { return at_rest(stored, Reason::Stored) };
        let Some((since, state, reason)) = judge(turn, stored, now) else {
            return at_rest(stored, Reason::NoTimeEvidence);
        };
        let age = elapsed(since, now);
        let (age_ms, basis) = (age.ms, Some(age.basis));
        Classification { state, reason, since: Some(since), age_ms, basis, anomaly: age.anomaly }
    }

    /// The card of a look at a turn that has been quiet for too long.
    #[must_use]
    pub fn card(&self, now: Instant) -> Option<TurnRecoveryCard> {
        let seen = self.classify(now);
        let turn =
            self.turn.as_ref().filter(|_| matches!(seen.state, Observed::Suspect | Observed::StalledRecoverable))?;
        let resumes = seen.state == Observed::StalledRecoverable && turn.checkpoint.is_some();
        Some(TurnRecoveryCard {
            notice_key: digest_of("notice", &(&turn.key, seen.since, seen.state, seen.reason)),
            observed_at: now,
            turn_key: turn.key.clone(),
            prior_state: turn.state(),
            seen,
            last_event: turn.last_event,
            last_tool_output_at: turn.output_at,
            checkpoint: turn.checkpoint.clone(),
            capability_boundary: turn.contract.capability,
            recommended_action: if resumes { RecoveryAction::Resume } else { RecoveryAction::Interrupt },
        })
    }
}

/// Since when, and what follows.
fn judge(turn: &Turn, stored: Observed, now: Instant) -> Option<(Instant, Observed, Reason)> {
    let [suspect, stalled, agent_lease, _] = turn.contract.thresholds.0;
    let quiet = |ms: u64, suspect: u64, stalled: u64| match ms {
        ms if ms >= stalled => Observed::StalledRecoverable,
        ms if ms >= suspect => Observed::Suspect,
        _ => stored,
    };
    // The work with the most time left speaks for the turn.
    let left = turn.in_flight.values().map(|l| (i128::from(l.for_ms) - i128::from(elapsed(l.since, now).ms), l.since));
    if let Some((left, since)) = left.max_by_key(|(left, _)| *left) {
        return Some(match u64::try_from(-left) {
            Ok(over) => (since, quiet(over, 0, stalled), Reason::LeaseExpired),
            Err(_) => (since, Observed::Running, Reason::ActiveOperationLease),
        });
    }
    let (last, since) = turn.last_event?;
    let age = elapsed(since, now).ms;
    let (state, reason) = match last {
        _ if stored == Observed::AwaitingContinuation => (quiet(age, suspect, stalled), Reason::NoContinuation),
        EventKind::ModelOutput => (quiet(age, suspect, stalled), Reason::QuietStream),
        _ => (quiet(age, agent_lease, agent_lease.saturating_add(stalled)), Reason::Quiet),
    };
    let reason = if state == stored { Reason::Stored } else { reason };
    Some((since, state, reason))
}

#[cfg(test)]
impl TurnLiveness {
    /// As a record that does not say when anything happened.
    pub(super) fn without_times(mut self) -> Self {
        if let Some(turn) = &mut self.turn {
            turn.last_event = None;
            turn.in_flight.clear();
        }
        self
    }
}
