//! What can show how an operation ended.

use kernel::authority::Confirmation;
use kernel::{Digest, OperationId};
use serde::{Deserialize, Serialize};

use super::{OperationRecord, OperationRefusal, OperationRequest};
use crate::core::{Gen, SessionId, TaskId, digest_of};

/// What a tool says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// It did it.
    Applied,
    /// It failed, at a point that it cannot name.
    Failed,
}

/// What is claimed or known of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Claim {
    Applied,
    NotApplied,
}

/// A tool's answer, in time or late. It counts for one operation only (I-57).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Operation.
    pub operation: OperationId,
    /// Its key.
    pub idempotency_key: Digest,
    /// Its generation at preparation.
    pub writer_gen: Gen,
    /// Digest of its targets.
    pub targets: Digest,
    /// Its state before.
    pub before: Digest,
    /// How the tool says that it ended.
    pub outcome: Outcome,
    /// Digest of the result.
    pub result: Digest,
    /// Digest of the targets as the tool left them, where it can say.
    pub left: Option<Digest>,
}

impl Receipt {
    /// The answer to `request`, as a driver writes it.
    #[must_use]
    pub fn of(
        task: &TaskId,
        request: &OperationRequest,
        outcome: Outcome,
        result: Digest,
        left: Option<Digest>,
    ) -> Self {
        Self {
            operation: request.id.clone(),
            idempotency_key: request.idempotency_key(task),
            writer_gen: request.writer_gen,
            targets: request.targets.digest(),
            before: request.before,
            outcome,
            result,
            left,
        }
    }

    /// Whether it is for exactly this record of this task.
    ///
    /// # Errors
    /// `OperationCas`, `LateReceiptMismatch`.
    pub fn correlates(&self, task: &TaskId, record: &OperationRecord) -> Result<(), OperationRefusal> {
        let request = record.request();
        if self.operation != request.id {
            return Err(OperationRefusal::OperationCas(self.operation.clone()));
        }
        let checks = [
            ("writer generation", self.writer_gen == request.writer_gen),
            ("set of targets", self.targets == request.targets.digest()),
            ("state before", self.before == request.before),
            ("idempotency key", self.idempotency_key == request.idempotency_key(task)),
        ];
        match checks.into_iter().find(|(_, ok)| !ok) {
            Some((field, _)) => Err(OperationRefusal::LateReceiptMismatch { field }),
            None => Ok(()),
        }
    }
}

/// Proof that a session ended: its lock, which is never stolen, was acquired by another. A TTL or
/// a stolen lock is none, so neither makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct SessionEnded(SessionId);

impl SessionEnded {
    /// For the adapter that holds `session/<id>` now.
    #[must_use]
    pub fn by_its_lock(session: SessionId) -> Self {
        Self(session)
    }
    /// Who ended.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.0
    }
}

/// Whether the session that sent it may still be writing.
#[derive(Debug)]
pub enum Dispatcher {
    /// As far as anybody knows.
    MayLive,
    /// It ended.
    Ended(SessionEnded),
}

/// A person's word on one operation: a confirmation of exactly that question. Never stored.
///
/// Only a confirmation makes one:
/// ```compile_fail,E0423
/// # use agent_runtime::operation::{Attestation, Claim};
/// # fn f(id: kernel::OperationId) -> Attestation {
/// Attestation(id, Claim::Applied, kernel::Digest::of(b"trust me"))
/// # }
/// ```
/// and it is used once:
/// ```compile_fail,E0308
/// # use agent_runtime::operation::Attestation;
/// # fn f(a: &Attestation) -> Attestation {
/// a.clone()
/// # }
/// ```
/// and no bytes are one:
/// ```compile_fail,E0277
/// # use agent_runtime::{core::{SchemaTag, decode}, operation::Attestation};
/// let a: Attestation = decode(SchemaTag { name: "attestation", version: 1 }, b"").unwrap();
/// ```
#[derive(Debug)]
pub struct Attestation(OperationId, Claim, Digest);

impl Attestation {
    /// What a card must bind to ask it.
    #[must_use]
    pub fn question(operation: &OperationId, claim: Claim) -> Digest {
        digest_of("attest", &(operation, claim))
    }
    /// A person answered it.
    ///
    /// # Errors
    /// `SettlementUnproven` when the confirmation is for anything else.
    pub fn of(operation: &OperationId, claim: Claim, yes: Confirmation) -> Result<Self, OperationRefusal> {
        if yes.digest() != Self::question(operation, claim) {
            return Err(OperationRefusal::SettlementUnproven);
        }
        Ok(Self(operation.clone(), claim, digest_of("attested", &(yes.digest(), yes.gesture_seq()))))
    }
    pub(super) fn operation(&self) -> &OperationId {
        &self.0
    }
    pub(super) fn claim(&self) -> Claim {
        self.1
    }
    pub(super) fn evidence(&self) -> Digest {
        self.2
    }
}

/// What shows an effect.
#[derive(Debug)]
pub enum Proof {
    /// The answer that was observed.
    Answer,
    /// An answer that came late; [`super::OperationSet::receive`] correlates it.
    Late(Receipt),
    /// The targets, read again now.
    Reread {
        /// Their digest.
        now: Digest,
        /// Whether anybody may still be writing.
        dispatcher: Dispatcher,
    },
    /// A person says so.
    Attested(Attestation),
}
