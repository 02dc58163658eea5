//! What a stalled turn needs before anything is done to it.

use kernel::authority::Confirmation;
use kernel::{Digest, TurnKey};
use serde::{Deserialize, Serialize};

use super::{LivenessRefusal, TurnEnded, TurnRecoveryCard};
use crate::core::{Instant, digest_of, elapsed};
use crate::operation::{Claim, Dispatcher, OperationSet, Phase};

/// Most files that a checkpoint names.
pub const ARTIFACTS_MAX: usize = 20;

/// What may be done to a turn that was quiet for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum RecoveryAction {
    Replay,
    Kill,
    Restart,
    Interrupt,
    Resume,
}

impl RecoveryAction {
    /// All.
    pub const ALL: [Self; 5] = [Self::Replay, Self::Kill, Self::Restart, Self::Interrupt, Self::Resume];
}

/// Where a turn can go on: what was reached, and the changes that it counts on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    phase: String,
    artifact_paths: Vec<String>,
    next_action: String,
    idempotency_key: Digest,
}

impl Checkpoint {
    /// A checkpoint of `turn`, with the task's operations as they are.
    ///
    /// # Errors
    /// `CheckpointIncomplete` without a phase or a next action, or with more than 20 files.
    pub fn new(
        turn: &TurnKey,
        operations: &OperationSet,
        phase: &str,
        artifact_paths: Vec<String>,
        next_action: &str,
    ) -> Result<Self, LivenessRefusal> {
        if phase.is_empty() || next_action.is_empty() || artifact_paths.len() > ARTIFACTS_MAX {
            return Err(LivenessRefusal::CheckpointIncomplete);
        }
        let (phase, next_action) = (phase.to_owned(), next_action.to_owned());
        Ok(Self { phase, artifact_paths, next_action, idempotency_key: key(turn, operations) })
    }
    /// What names it for a resumption, once.
    #[must_use]
    pub fn token(&self) -> Digest {
        digest_of("checkpoint", self)
    }
    /// What to do next.
    #[must_use]
    pub fn next_action(&self) -> &str {
        &self.next_action
    }
    /// Whether nothing has been done since (I-73).
    pub(super) fn fits(&self, turn: &TurnKey, operations: &OperationSet) -> Result<(), LivenessRefusal> {
        if self.idempotency_key == key(turn, operations) { Ok(()) } else { Err(LivenessRefusal::IdempotencyUnproven) }
    }
}

fn key(turn: &TurnKey, operations: &OperationSet) -> Digest {
    let open = operations.unresolved().map(|r| r.request());
    digest_of("checkpoint-key", &(turn, operations.settled_digest(), open))
}

/// What is known to have been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Idempotency {
    /// Nothing that was sent is open.
    NothingOpen,
    /// What is open shows this.
    Shown(Claim),
}

/// The right to do one thing to one turn: a person's yes to the card, and proof of what was done.
/// Never stored.
///
/// ```compile_fail,E0451
/// # use agent_runtime::liveness::{Idempotency, RecoveryAction, RecoveryGrant};
/// # fn f(turn: kernel::TurnKey) {
/// RecoveryGrant { action: RecoveryAction::Kill, turn, proof: Idempotency::NothingOpen };
/// # }
/// ```
/// and one grant is one act:
/// ```compile_fail,E0308
/// # fn f(g: &agent_runtime::liveness::RecoveryGrant) -> agent_runtime::liveness::RecoveryGrant {
/// g.clone()
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct RecoveryGrant {
    action: RecoveryAction,
    turn: TurnKey,
    proof: Idempotency,
}

impl RecoveryGrant {
    /// What a card must bind to ask for it.
    #[must_use]
    pub fn question(action: RecoveryAction, card: &TurnRecoveryCard) -> Digest {
        digest_of("recover", &(action, &card.turn_key, card.notice_key))
    }

    /// A person said yes to `action` on `card`; `reread` is the digest of the open operation's
    /// targets, read again now, and whether its sender ended (I-72).
    ///
    /// # Errors
    /// `RecoveryNotAuthorised`, `IdempotencyUnproven`.
    pub fn new(
        action: RecoveryAction,
        card: &TurnRecoveryCard,
        yes: Option<Confirmation>,
        operations: &OperationSet,
        reread: Option<(Digest, Dispatcher)>,
    ) -> Result<Self, LivenessRefusal> {
        let turn = card.turn_key.clone();
        if yes.is_none_or(|y| y.digest() != Self::question(action, card)) {
            return Err(LivenessRefusal::RecoveryNotAuthorised { action, turn });
        }
        let proof = match operations.unresolved() {
            Some(open) if open.phase() != Phase::Prepared => {
                let shown = reread.and_then(|(now, dispatcher)| open.shown_by(now, &dispatcher));
                Idempotency::Shown(shown.ok_or(LivenessRefusal::IdempotencyUnproven)?)
            }
            _ => Idempotency::NothingOpen,
        };
        Ok(Self { action, turn, proof })
    }
    /// What is known to have been done.
    #[must_use]
    pub fn proof(&self) -> Idempotency {
        self.proof
    }
    /// Whether it allows this.
    ///
    /// # Errors
    /// `RecoveryNotAuthorised`.
    pub fn covers(&self, action: RecoveryAction, turn: &TurnKey) -> Result<(), LivenessRefusal> {
        if self.action == action && self.turn == *turn {
            return Ok(());
        }
        Err(LivenessRefusal::RecoveryNotAuthorised { action, turn: turn.clone() })
    }
}

/// How one of the two checks of a checkpoint stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ValidationStatus {
    Pass,
    Unverified,
    IncompleteTimeout,
    Blocked,
}

/// The two checks of a checkpoint, each with evidence of its own (I-74): neither is the other's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointValidation {
    since: Instant,
    deadline_ms: u64,
    response: Option<Digest>,
    execution: Option<Digest>,
    blocking_issues: Vec<String>,
}

impl CheckpointValidation {
    /// Nothing is shown yet; the second check is due `deadline_ms` after `since`.
    #[must_use]
    pub fn new(since: Instant, deadline_ms: u64) -> Self {
        Self { since, deadline_ms, response: None, execution: None, blocking_issues: Vec::new() }
    }
    /// Evidence at the time of the answer.
    #[must_use]
    pub fn answered(self, evidence: Digest) -> Self {
        Self { response: Some(evidence), ..self }
    }
    /// Evidence after the work: only of a turn that has ended.
    #[must_use]
    pub fn executed(self, evidence: Digest, _ended: &TurnEnded) -> Self {
        Self { execution: Some(evidence), ..self }
    }
    /// Something stands in the way of both.
    #[must_use]
    pub fn blocked(mut self, issue: &str) -> Self {
        self.blocking_issues.push(issue.to_owned());
        self
    }
    /// The first check.
    #[must_use]
    pub fn response_time(&self) -> ValidationStatus {
        self.status(self.response, false)
    }
    /// The second, at `now`.
    #[must_use]
    pub fn post_execution(&self, now: Instant) -> ValidationStatus {
        self.status(self.execution, elapsed(self.since, now).ms >= self.deadline_ms)
    }
    fn status(&self, evidence: Option<Digest>, late: bool) -> ValidationStatus {
        match evidence {
            _ if !self.blocking_issues.is_empty() => ValidationStatus::Blocked,
            Some(_) => ValidationStatus::Pass,
            None if late => ValidationStatus::IncompleteTimeout,
            None => ValidationStatus::Unverified,
        }
    }
}
