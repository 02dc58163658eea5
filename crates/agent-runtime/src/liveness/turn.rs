//! What happened in a turn, and the table of what may happen next.

use std::collections::BTreeMap;

use kernel::tools::Permit;
use kernel::{CallId, Digest, OperationId, TurnKey};
use serde::{Deserialize, Serialize};

use super::{Checkpoint, LivenessRefusal, Observed, RecoveryAction, RecoveryGrant, TurnLivenessContract};
use crate::core::{Instant, digest_of};
use crate::operation::OperationSet;

/// Longest lease of one tool, milliseconds.
pub const OPERATION_LEASE_MAX_MS: u64 = 4 * 3_600_000;

/// Where a turn stands, as it follows from what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TurnState {
    Idle,
    Running,
    AwaitingContinuation,
    Completed,
    Error,
    Interrupted,
}

impl TurnState {
    /// All.
    pub const ALL: [Self; 6] =
        [Self::Idle, Self::Running, Self::AwaitingContinuation, Self::Completed, Self::Error, Self::Interrupted];
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ending {
    /// By itself, with everything settled and shown.
    Finished,
    /// By itself, with a change unsettled.
    Unsettled,
    /// By an error.
    Failed,
    /// By the person.
    Stopped,
    /// By the host.
    Interrupted,
    /// By the next prompt.
    Superseded,
    /// By the next prompt, when it had been quiet for too long.
    StaleRecovered,
}

impl Ending {
    fn state(self) -> TurnState {
        match self {
            Self::Finished => TurnState::Completed,
            Self::Unsettled | Self::Failed => TurnState::Error,
            Self::Stopped | Self::Interrupted | Self::Superseded | Self::StaleRecovered => TurnState::Interrupted,
        }
    }
}

/// What shows that a turn is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PostEvidence {
    /// Its model stream ended; enough where nothing was changed.
    StreamEnd,
    /// The changes that ended, by the digest of all of them.
    Settled(Digest),
}

/// What happens to a turn.
#[derive(Debug)]
pub enum TurnEvent<'a> {
    /// A person's message starts the next turn under a contract that is frozen with it.
    Prompt(TurnKey, TurnLivenessContract),
    /// A model is asked.
    ModelCall,
    /// A piece of its answer.
    ModelOutput,
    /// A tool is about to be called, by the router's permit, perhaps with a time of its own.
    PreTool(CallId, &'a Permit, Option<u64>),
    /// A call was not permitted.
    Denied(CallId),
    /// A tool came back.
    PostTool(CallId),
    /// The conversation is about to be compacted.
    PreCompact(Checkpoint),
    /// The agent is done.
    Finish(Option<PostEvidence>),
    /// The person ends it. Always heard while a turn runs.
    UserStop,
    /// It broke.
    Error,
    /// The host ends it.
    Interrupt,
    /// It goes on from a checkpoint, named by its token.
    Resume(RecoveryGrant, Digest),
}

/// [`TurnEvent`] without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EventKind {
    Prompt,
    ModelCall,
    ModelOutput,
    PreTool,
    Denied,
    PostTool,
    PreCompact,
    Finish,
    UserStop,
    Error,
    Interrupt,
    Resume,
}

impl EventKind {
    /// All.
    pub const ALL: [Self; 12] = [
        Self::Prompt,
        Self::ModelCall,
        Self::ModelOutput,
        Self::PreTool,
        Self::Denied,
        Self::PostTool,
        Self::PreCompact,
        Self::Finish,
        Self::UserStop,
        Self::Error,
        Self::Interrupt,
        Self::Resume,
    ];
}

impl TurnEvent<'_> {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Prompt(..) => EventKind::Prompt,
            Self::ModelCall => EventKind::ModelCall,
            Self::ModelOutput => EventKind::ModelOutput,
            Self::PreTool(..) => EventKind::PreTool,
            Self::Denied(_) => EventKind::Denied,
            Self::PostTool(_) => EventKind::PostTool,
            Self::PreCompact(_) => EventKind::PreCompact,
            Self::Finish(_) => EventKind::Finish,
            Self::UserStop => EventKind::UserStop,
            Self::Error => EventKind::Error,
            Self::Interrupt => EventKind::Interrupt,
            Self::Resume(..) => EventKind::Resume,
        }
    }
}

/// The table (§1.8): where each event leads a turn that runs, and one that waits, when nothing else
/// is in flight and everything is settled and shown. Elsewhere only a prompt is heard.
pub const TABLE: [(EventKind, TurnState, TurnState); 12] = {
    use TurnState::{AwaitingContinuation, Completed, Error, Interrupted, Running};
    [
        (EventKind::Prompt, Running, Running),
        (EventKind::ModelCall, Running, AwaitingContinuation),
        (EventKind::ModelOutput, Running, Running),
        (EventKind::PreTool, Running, Running),
        (EventKind::Denied, Running, Running),
        (EventKind::PostTool, AwaitingContinuation, AwaitingContinuation),
        (EventKind::PreCompact, Running, Running),
        (EventKind::Finish, Completed, Completed),
        (EventKind::UserStop, Interrupted, Interrupted),
        (EventKind::Error, Error, Error),
        (EventKind::Interrupt, Interrupted, Interrupted),
        (EventKind::Resume, Running, Running),
    ]
};

/// What is in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Work {
    /// A model.
    Model,
    /// A tool call.
    Call(CallId),
}

/// Whose work it is: there is no other owner (I-67).
///
/// ```compile_fail,E0451
/// # use agent_runtime::liveness::Owner;
/// let mine = Owner { grant: kernel::Digest::of(b"pid 4711") };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Holder", into = "Holder")]
pub struct Owner {
    grant: Digest,
}

/// Owners as foreign bytes may claim them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Holder {
    AiOwned { grant: Digest },
    UserProcess { pid: u64 },
    Unknown,
}

impl TryFrom<Holder> for Owner {
    type Error = LivenessRefusal;
    fn try_from(holder: Holder) -> Result<Self, LivenessRefusal> {
        match holder {
            Holder::AiOwned { grant } => Ok(Self { grant }),
            Holder::UserProcess { .. } => Err(LivenessRefusal::LeaseForeignOwner("a person's process")),
            Holder::Unknown => Err(LivenessRefusal::LeaseForeignOwner("an unknown process")),
        }
    }
}

impl From<Owner> for Holder {
    fn from(owner: Owner) -> Self {
        Self::AiOwned { grant: owner.grant }
    }
}

/// Until when silence means nothing. Made by a turn's step alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    owner: Owner,
    operation: Option<OperationId>,
    pub(super) since: Instant,
    pub(super) for_ms: u64,
}

/// How an earlier turn ended; of its trace nothing else is left (I-81).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnSummary {
    /// Which.
    pub key: TurnKey,
    /// How.
    pub ending: Ending,
    /// When it began.
    pub started_at: Instant,
}

/// A turn that began.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    pub(super) key: TurnKey,
    pub(super) contract: TurnLivenessContract,
    started_at: Instant,
    pub(super) last_event: Option<(EventKind, Instant)>,
    pub(super) output_at: Option<Instant>,
    pub(super) ack_at: Option<Instant>,
    pub(super) in_flight: BTreeMap<Work, Lease>,
    pub(super) checkpoint: Option<Checkpoint>,
    ending: Option<Ending>,
}

impl Turn {
    fn calls(&self) -> bool {
        self.in_flight.keys().any(|w| *w != Work::Model)
    }
    pub(super) fn state(&self) -> TurnState {
        match self.ending {
            Some(ending) => ending.state(),
            None if self.output_at.is_some() && self.ack_at.is_none() && !self.calls() => {
                TurnState::AwaitingContinuation
            }
            None => TurnState::Running,
        }
    }
    fn end(&mut self, ending: Ending) {
        self.ending = Some(ending);
        self.in_flight.clear();
    }
    fn lease(&self, now: Instant, operation: Option<OperationId>, grant: Digest, for_ms: u64) -> Lease {
        Lease { owner: Owner { grant }, operation, since: now, for_ms: for_ms.min(OPERATION_LEASE_MAX_MS) }
    }
}

/// Proof that no turn of a task runs.
///
/// ```compile_fail,E0423
/// // It comes from a task that was looked at.
/// let over = agent_runtime::liveness::TurnEnded(());
/// ```
#[derive(Debug)]
pub struct TurnEnded(());

/// `TurnLiveness`: the turn of a task, and how the one before ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnLiveness {
    pub(super) turn: Option<Turn>,
    previous: Option<TurnSummary>,
}

impl TurnLiveness {
    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> TurnState {
        self.turn.as_ref().map_or(TurnState::Idle, Turn::state)
    }
    /// Which turn.
    #[must_use]
    pub fn key(&self) -> Option<&TurnKey> {
        self.turn.as_ref().map(|t| &t.key)
    }
    /// Why it ended.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.turn.as_ref().and_then(|t| t.ending)
    }
    /// The turn before.
    #[must_use]
    pub fn previous(&self) -> Option<&TurnSummary> {
        self.previous.as_ref()
    }
    /// What is in flight.
    pub fn in_flight(&self) -> impl Iterator<Item = &Work> {
        self.turn.iter().flat_map(|t| t.in_flight.keys())
    }
    /// When the last tool came back, and when the model took it up.
    #[must_use]
    pub fn continuation(&self) -> (Option<Instant>, Option<Instant>) {
        self.turn.as_ref().map_or((None, None), |t| (t.output_at, t.ack_at))
    }
    /// Where it can go on.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        self.turn.as_ref().and_then(|t| t.checkpoint.as_ref())
    }
    /// Proof that no turn runs.
    #[must_use]
    pub fn ended(&self) -> Option<TurnEnded> {
        let runs = matches!(self.state(), TurnState::Running | TurnState::AwaitingContinuation);
        (!runs).then_some(TurnEnded(()))
    }

    /// What happens next, to the turn and to the change that is open: what ends a turn calls off
    /// what was not sent and leaves to reconcile what was (I-70). A repeated tool answer moves
    /// nothing, and the pair is equal to the one before.
    ///
    /// # Errors
    /// [`LivenessRefusal`].
    pub fn step(
        &self,
        operations: &OperationSet,
        event: TurnEvent<'_>,
        now: Instant,
    ) -> Result<(Self, OperationSet), LivenessRefusal> {
        let kind = event.kind();
        if let TurnEvent::Prompt(key, contract) = event {
            return self.prompt(operations, key, contract, now);
        }
        let mut turn = match &self.turn {
            Some(turn) if turn.ending.is_none() => turn.clone(),
            _ => return Err(LivenessRefusal::TurnTerminal),
        };
        match event {
            TurnEvent::PostTool(call) => {
                if turn.in_flight.remove(&Work::Call(call)).is_none() {
                    return Ok((self.clone(), operations.clone()));
                }
                (turn.output_at, turn.ack_at) = (Some(now), None);
            }
            TurnEvent::ModelCall => {
                let grant = digest_of("turn", &turn.key);
                let lease = turn.lease(now, None, grant, turn.contract.thresholds.agent_lease_ms());
                turn.in_flight.insert(Work::Model, lease);
            }
            TurnEvent::ModelOutput => drop(turn.in_flight.remove(&Work::Model)),
            TurnEvent::Denied(_) => {}
            TurnEvent::PreTool(call, permit, for_ms) => {
                let prepared = |id: &OperationId| {
                    *id.call() == call && operations.unresolved().is_some_and(|r| r.request().id == *id)
                };
                let changes = permit.operation().is_some() || permit.class().mutates();
                let work = Work::Call(call.clone());
                if *permit.turn() != turn.key
                    || call.turn != turn.key
                    || turn.in_flight.contains_key(&work)
                    || changes && !permit.operation().is_some_and(prepared)
                {
                    return Err(LivenessRefusal::LeaseNotPermitted);
                }
                let grant = digest_of("permit", &(&turn.key, &permit.tool().name, permit.tool().digest));
                let for_ms = for_ms.unwrap_or(turn.contract.thresholds.operation_lease_ms());
                let lease = turn.lease(now, permit.operation().cloned(), grant, for_ms);
                turn.in_flight.insert(work, lease);
            }
            TurnEvent::PreCompact(checkpoint) => turn.checkpoint = Some(checkpoint),
            TurnEvent::Finish(evidence) => match self.completable(operations, evidence) {
                Err(LivenessRefusal::CompleteUnsettled) => turn.end(Ending::Unsettled),
                done => done.map(|()| turn.end(Ending::Finished))?,
            },
            TurnEvent::UserStop => turn.end(Ending::Stopped),
            TurnEvent::Error => turn.end(Ending::Failed),
            TurnEvent::Interrupt => turn.end(Ending::Interrupted),
            TurnEvent::Resume(grant, token) => {
                grant.covers(RecoveryAction::Resume, &turn.key)?;
                // Taken out, so that a token is used once.
                let checkpoint = turn.checkpoint.take().filter(|c| c.token() == token);
                checkpoint.ok_or(LivenessRefusal::CheckpointIncomplete)?.fits(&turn.key, operations)?;
                turn.in_flight.clear();
            }
            TurnEvent::Prompt(..) => {}
        }
        turn.last_event = Some((kind, now));
        // Evidence that the model took the last output up; asking it is none.
        use EventKind::{Denied, ModelOutput, PreCompact, PreTool, Resume};
        if turn.output_at.is_some() && matches!(kind, ModelOutput | PreTool | Denied | PreCompact | Resume) {
            turn.ack_at.get_or_insert(now);
        }
        let operations = if turn.ending.is_some() { operations.interrupt(now) } else { operations.clone() };
        Ok((Self { turn: Some(turn), previous: self.previous.clone() }, operations))
    }

    /// Whether it may be called complete (I-70).
    ///
    /// # Errors
    /// `TurnTerminal`, `CompleteUnsettled`, `CompleteNoEvidence`.
    pub fn completable(
        &self,
        operations: &OperationSet,
        evidence: Option<PostEvidence>,
    ) -> Result<(), LivenessRefusal> {
        let turn = self.key().ok_or(LivenessRefusal::TurnTerminal)?;
        if operations.unresolved().is_some() {
            return Err(LivenessRefusal::CompleteUnsettled);
        }
        let changed = operations.last().is_some_and(|id| id.call().turn == *turn);
        match evidence {
            Some(PostEvidence::StreamEnd) if !changed => Ok(()),
            Some(PostEvidence::Settled(digest)) if digest == operations.settled_digest() => Ok(()),
            _ => Err(LivenessRefusal::CompleteNoEvidence),
        }
    }

    fn prompt(
        &self,
        operations: &OperationSet,
        key: TurnKey,
        contract: TurnLivenessContract,
        now: Instant,
    ) -> Result<(Self, OperationSet), LivenessRefusal> {
        if self.key().is_some_and(|old| *old >= key) {
            return Err(LivenessRefusal::TurnTerminal);
        }
        let stale = matches!(self.classify(now).state, Observed::Suspect | Observed::StalledRecoverable);
        let previous = self.turn.as_ref().map(|old| TurnSummary {
            key: old.key.clone(),
            ending: old.ending.unwrap_or(if stale { Ending::StaleRecovered } else { Ending::Superseded }),
            started_at: old.started_at,
        });
        let turn = Turn {
            key,
            contract,
            started_at: now,
            last_event: Some((EventKind::Prompt, now)),
            output_at: None,
            ack_at: None,
            in_flight: BTreeMap::new(),
            checkpoint: None,
            ending: None,
        };
        Ok((Self { turn: Some(turn), previous }, operations.interrupt(now)))
    }
}
