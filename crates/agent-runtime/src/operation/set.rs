//! All operations of a task: one that is open, and a chain of those that ended.

use kernel::{Digest, OperationId};
use serde::{Deserialize, Serialize};

use super::{OperationRecord, OperationRefusal, OperationRequest, Phase, Proof, Receipt, Step};
use crate::core::{Chain, Instant, SessionId, TaskId};

/// References kept of operations that ended; older ones are in the digest only.
pub const SETTLED_KEPT: usize = 64;

/// An operation that ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettledRef {
    /// Its name.
    pub id: OperationId,
    /// The session that sent it.
    pub session: SessionId,
    /// Digest of its whole record.
    pub record: Digest,
}

/// A receipt that moves nothing; it is kept as evidence beside the task (I-57).
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct OrphanReceipt {
    /// The receipt.
    pub receipt: Receipt,
    /// Why it moves nothing.
    #[source]
    pub why: OperationRefusal,
}

/// `TaskOperationSet`: at most one operation is open (I-53).
///
/// ```compile_fail,E0451
/// # use agent_runtime::operation::OperationSet;
/// // Nobody takes the open operation away but by a step.
/// let forgotten = OperationSet { unresolved: None, ..OperationSet::default() };
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationSet {
    unresolved: Option<OperationRecord>,
    /// The highest id that ended.
    last: Option<OperationId>,
    settled: Chain<SettledRef, SETTLED_KEPT>,
}

impl OperationSet {
    /// The one that is open.
    #[must_use]
    pub fn unresolved(&self) -> Option<&OperationRecord> {
        self.unresolved.as_ref()
    }
    /// The highest id that was ever used.
    #[must_use]
    pub fn last(&self) -> Option<&OperationId> {
        self.unresolved.as_ref().map(|r| &r.request().id).or(self.last.as_ref())
    }
    /// Those that ended, oldest first, as far as they are kept.
    pub fn settled(&self) -> impl DoubleEndedIterator<Item = &SettledRef> {
        self.settled.kept()
    }
    /// The digest of all that ended.
    #[must_use]
    pub fn settled_digest(&self) -> Digest {
        self.settled.digest()
    }
    /// Whether `session` may have sent any of them. What is no longer kept may be anybody's.
    #[must_use]
    pub fn may_have_executed(&self, session: &SessionId) -> bool {
        !self.settled.is_whole()
            || self.settled.kept().any(|r| r.session == *session)
            || self.unresolved.as_ref().is_some_and(|r| r.request().session == *session)
    }

    /// Prepares a change. The same bytes again are a replay: the set is equal, nothing is written.
    ///
    /// # Errors
    /// `OperationInFlight`, `OperationReplayMismatch`, `OperationAlreadySettled`.
    pub fn prepare(&self, request: OperationRequest, now: Instant) -> Result<Self, OperationRefusal> {
        match &self.unresolved {
            Some(open) if *open.request() == request => return Ok(self.clone()),
            Some(open) if open.request().id == request.id => {
                return Err(OperationRefusal::OperationReplayMismatch(request.id));
            }
            Some(_) if self.last.as_ref() >= Some(&request.id) => {}
            Some(open) => return Err(OperationRefusal::OperationInFlight(open.request().id.clone())),
            None => {}
        }
        if self.last.as_ref() >= Some(&request.id) {
            return Err(OperationRefusal::OperationAlreadySettled(request.id));
        }
        Ok(Self { unresolved: Some(OperationRecord::prepare(request, now)), ..self.clone() })
    }

    /// Moves the open operation, if `id` is it.
    ///
    /// # Errors
    /// `OperationCas`, and those of [`OperationRecord::step`].
    pub fn step(&self, id: &OperationId, step: Step, now: Instant) -> Result<Self, OperationRefusal> {
        let open = self.unresolved.as_ref().filter(|r| r.request().id == *id);
        let record = open.ok_or_else(|| OperationRefusal::OperationCas(id.clone()))?.step(step, now)?;
        let mut next = self.clone();
        if record.phase().is_final() {
            let OperationRequest { id, session, .. } = record.request().clone();
            next.settled.push(SettledRef { id: id.clone(), session, record: record.digest() });
            (next.unresolved, next.last) = (None, Some(id));
        } else {
            next.unresolved = Some(record);
        }
        Ok(next)
    }

    /// Takes a tool's answer, in time or late, whoever is the writer now: what was dispatched is
    /// observed; what needs to be reconciled is settled if the receipt proves how it ended.
    ///
    /// # Errors
    /// The receipt, to be kept as evidence, and why it moves nothing.
    pub fn receive(&self, task: &TaskId, receipt: Receipt, now: Instant) -> Result<Self, Box<OrphanReceipt>> {
        let id = receipt.operation.clone();
        let moved = match &self.unresolved {
            None => Err(OperationRefusal::OperationCas(id.clone())),
            Some(record) => receipt.correlates(task, record).and_then(|()| {
                let step = match record.phase() {
                    Phase::ReconcileRequired => Step::Settle(Proof::Late(receipt.clone())),
                    _ => Step::Observe(receipt.clone()),
                };
                self.step(&id, step, now)
            }),
        };
        moved.map_err(|why| Box::new(OrphanReceipt { receipt, why }))
    }

    /// The turn or the writer is gone (a stop, an error, a crash, a takeover): what was not sent
    /// is called off, what was sent is to be reconciled (I-70).
    #[must_use]
    pub fn interrupt(&self, now: Instant) -> Self {
        let Some(record) = &self.unresolved else { return self.clone() };
        let step = if record.phase() == Phase::Prepared { Step::Abort } else { Step::Lose };
        // What is being reconciled already stays so.
        self.step(&record.request().id, step, now).unwrap_or_else(|_| self.clone())
    }
}
