//! The record of one operation and the table of its steps.

use kernel::{Digest, OperationId};
use serde::{Deserialize, Serialize};

use super::OperationRefusal::{AbortAfterDispatch, AutoRetryForbidden, OperationPhase, SettlementUnproven};
use super::{Claim, Dispatcher, OperationRefusal, Outcome, Proof, Receipt};
use crate::core::{Gen, Instant, Seq, SessionId, TaskId, digest_of};

/// Most targets of one operation.
pub const TARGETS_MAX: usize = 20;
/// Longest target, bytes.
pub const TARGET_MAX: usize = 1024;

/// What an operation touches: 1 to 20 names, sorted, each once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Targets(Vec<String>);

impl Targets {
    /// Sorts and takes them.
    ///
    /// # Errors
    /// `TargetsEmpty`, `TooManyTargets`.
    pub fn new(mut names: Vec<String>) -> Result<Self, OperationRefusal> {
        names.sort();
        names.dedup();
        match names.len() {
            0 => Err(OperationRefusal::TargetsEmpty),
            1..=TARGETS_MAX if names.iter().all(|n| n.len() <= TARGET_MAX) => Ok(Self(names)),
            _ => Err(OperationRefusal::TooManyTargets),
        }
    }
    /// The names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }
    /// Their digest.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest_of("targets", self)
    }
}

impl TryFrom<Vec<String>> for Targets {
    type Error = OperationRefusal;
    fn try_from(names: Vec<String>) -> Result<Self, OperationRefusal> {
        Self::new(names)
    }
}

impl From<Targets> for Vec<String> {
    fn from(targets: Targets) -> Self {
        targets.0
    }
}

/// What the action is, and under whose right it is prepared. Two requests are the same when every
/// byte of them is (I-58).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationRequest {
    /// Its name: a counter of the task, since a call's turn and number only rise (I-61).
    pub id: OperationId,
    /// Digest of the tool's descriptor.
    pub tool: Digest,
    /// Digest of the canonical arguments.
    pub args: Digest,
    /// What it touches.
    pub targets: Targets,
    /// Digest of the targets now.
    pub before: Digest,
    /// Digest of the targets after it, where the tool can say.
    pub expected_after: Option<Digest>,
    /// The session that will send it.
    pub session: SessionId,
    /// Generation at preparation; never changes (I-57).
    pub writer_gen: Gen,
    /// State at preparation.
    pub state_seq: Seq,
}

impl OperationRequest {
    /// Names what the action is, and not where the runtime believes to be (I-60).
    #[must_use]
    pub fn idempotency_key(&self, task: &TaskId) -> Digest {
        digest_of("operation-key", &(task, &self.id, self.tool, self.args, &self.targets, self.before))
    }
}

/// Where an operation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Phase {
    Prepared,
    Dispatched,
    Observed,
    Settled,
    ReconcileRequired,
    AbortedZeroEffect,
}

impl Phase {
    /// All.
    pub const ALL: [Self; 6] = [
        Self::Prepared,
        Self::Dispatched,
        Self::Observed,
        Self::Settled,
        Self::ReconcileRequired,
        Self::AbortedZeroEffect,
    ];
    /// Nothing follows.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Settled | Self::AbortedZeroEffect)
    }
}

/// The table: every step there is (§1.6).
pub const LEGAL: [(Phase, Phase); 7] = [
    (Phase::Prepared, Phase::Dispatched),
    (Phase::Prepared, Phase::AbortedZeroEffect),
    (Phase::Dispatched, Phase::Observed),
    (Phase::Dispatched, Phase::ReconcileRequired),
    (Phase::Observed, Phase::Settled),
    (Phase::Observed, Phase::ReconcileRequired),
    (Phase::ReconcileRequired, Phase::Settled),
];

/// What is known of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Effect {
    None,
    Unknown,
    KnownApplied,
    KnownNotApplied,
}

/// One step of a record.
#[derive(Debug)]
pub enum Step {
    /// It is about to be sent.
    Dispatch,
    /// It will not be sent.
    Abort,
    /// The tool answered.
    Observe(Receipt),
    /// The answer is lost: crash, timeout, stop, a session that ended.
    Lose,
    /// Its effect is proven.
    Settle(Proof),
}

impl Step {
    /// Where it leads.
    #[must_use]
    pub fn to(&self) -> Phase {
        match self {
            Self::Dispatch => Phase::Dispatched,
            Self::Abort => Phase::AbortedZeroEffect,
            Self::Observe(_) => Phase::Observed,
            Self::Lose => Phase::ReconcileRequired,
            Self::Settle(_) => Phase::Settled,
        }
    }
}

/// It was sent: when, and what came back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    at: Instant,
    answer: Option<Answer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    at: Instant,
    outcome: Outcome,
    result: Digest,
    left: Option<Digest>,
}

/// The phases with the times that each has: no others can be written (I-54).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Standing {
    Prepared,
    /// Dispatched, or Observed once there is an answer.
    Sent(Sent),
    Reconcile(Sent),
    Settled {
        sent: Sent,
        at: Instant,
        applied: Claim,
        evidence: Digest,
    },
    Aborted {
        at: Instant,
    },
}

/// `TaskOperationRecordV1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationRecord {
    request: OperationRequest,
    prepared_at: Instant,
    standing: Standing,
}

impl OperationRecord {
    pub(super) fn prepare(request: OperationRequest, now: Instant) -> Self {
        Self { request, prepared_at: now, standing: Standing::Prepared }
    }
    /// What it is.
    #[must_use]
    pub fn request(&self) -> &OperationRequest {
        &self.request
    }
    /// Where it stands.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match &self.standing {
            Standing::Prepared => Phase::Prepared,
            Standing::Sent(Sent { answer: None, .. }) => Phase::Dispatched,
            Standing::Sent(_) => Phase::Observed,
            Standing::Reconcile(_) => Phase::ReconcileRequired,
            Standing::Settled { .. } => Phase::Settled,
            Standing::Aborted { .. } => Phase::AbortedZeroEffect,
        }
    }
    /// What is known of its effect.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match &self.standing {
            Standing::Prepared | Standing::Aborted { .. } => Effect::None,
            Standing::Sent(_) | Standing::Reconcile(_) => Effect::Unknown,
            Standing::Settled { applied: Claim::Applied, .. } => Effect::KnownApplied,
            Standing::Settled { applied: Claim::NotApplied, .. } => Effect::KnownNotApplied,
        }
    }
    /// When it was prepared, sent, answered and ended, as far as it got.
    #[must_use]
    pub fn times(&self) -> [Option<Instant>; 4] {
        let (sent, end) = match &self.standing {
            Standing::Prepared => (None, None),
            Standing::Sent(s) | Standing::Reconcile(s) => (Some(s), None),
            Standing::Settled { sent, at, .. } => (Some(sent), Some(*at)),
            Standing::Aborted { at } => (None, Some(*at)),
        };
        [Some(self.prepared_at), sent.map(|s| s.at), sent.and_then(|s| s.answer.as_ref()).map(|a| a.at), end]
    }
    /// The digest of all of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest_of("operation", self)
    }

    /// Takes one step of the table.
    ///
    /// # Errors
    /// `OperationPhase`, `AbortAfterDispatch`, `AutoRetryForbidden` outside the table;
    /// `SettlementUnproven`.
    pub fn step(&self, step: Step, now: Instant) -> Result<Self, OperationRefusal> {
        let standing = match (self.standing.clone(), step) {
            (Standing::Prepared, Step::Dispatch) => Standing::Sent(Sent { at: now, answer: None }),
            (Standing::Prepared, Step::Abort) => Standing::Aborted { at: now },
            (Standing::Sent(Sent { at, answer: None }), Step::Observe(receipt)) => {
                let Receipt { outcome, result, left, .. } = receipt;
                Standing::Sent(Sent { at, answer: Some(Answer { at: now, outcome, result, left }) })
            }
            (Standing::Sent(sent), Step::Lose) => Standing::Reconcile(sent),
            (Standing::Sent(sent @ Sent { answer: Some(_), .. }) | Standing::Reconcile(sent), Step::Settle(proof)) => {
                let (applied, evidence) = self.judge(&sent, proof).ok_or(SettlementUnproven)?;
                Standing::Settled { sent, at: now, applied, evidence }
            }
            (_, step) => {
                let (from, to) = (self.phase(), step.to());
                let sent = !matches!(from, Phase::Prepared | Phase::AbortedZeroEffect);
                return Err(match to {
                    Phase::AbortedZeroEffect if sent => AbortAfterDispatch,
                    Phase::Dispatched if sent => AutoRetryForbidden,
                    _ => OperationPhase { from, to },
                });
            }
        };
        Ok(Self { standing, ..self.clone() })
    }

    /// What the targets show, read again now (I-72). The state that the action was to leave shows
    /// that it happened; the state before it that it did not, once nobody can be writing any more.
    #[must_use]
    pub fn shown_by(&self, now: Digest, dispatcher: &Dispatcher) -> Option<Claim> {
        let answer = match &self.standing {
            Standing::Sent(s) | Standing::Reconcile(s) | Standing::Settled { sent: s, .. } => s.answer.as_ref(),
            // It was never sent.
            Standing::Prepared | Standing::Aborted { .. } => {
                return (now == self.request.before).then_some(Claim::NotApplied);
            }
        };
        let ended = matches!(dispatcher, Dispatcher::Ended(e) if *e.session() == self.request.session);
        self.shown(now, answer.and_then(|a| a.left), ended || answer.is_some())
    }

    fn shown(&self, now: Digest, left: Option<Digest>, over: bool) -> Option<Claim> {
        let before = self.request.before;
        let after = self.request.expected_after.or(left.filter(|l| *l != before));
        match now {
            now if after == Some(now) => Some(Claim::Applied),
            now if now == before && over => Some(Claim::NotApplied),
            _ => None,
        }
    }

    /// What a proof says, and the evidence to keep: the targets, a person, or the tool's own word
    /// where nothing can be read back.
    fn judge(&self, sent: &Sent, proof: Proof) -> Option<(Claim, Digest)> {
        let word = |outcome: Outcome, result: Digest, left: Option<Digest>| {
            let claim = match (left, outcome, self.request.expected_after) {
                (Some(l), ..) => self.shown(l, left, true)?,
                (None, Outcome::Applied, None) => Claim::Applied,
                _ => return None,
            };
            Some((claim, result))
        };
        match proof {
            Proof::Answer => sent.answer.as_ref().and_then(|a| word(a.outcome, a.result, a.left)),
            Proof::Late(receipt) => word(receipt.outcome, receipt.result, receipt.left),
            Proof::Reread { now, dispatcher } => Some((self.shown_by(now, &dispatcher)?, now)),
            Proof::Attested(a) => (*a.operation() == self.request.id).then(|| (a.claim(), a.evidence())),
        }
    }
}
