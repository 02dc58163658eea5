//! The end of a task, and its next life (contracts.md §1.7).
//!
//! A task ends once a life, on four conditions: by its writer, on exactly the state that the
//! writer saw, with nothing unsettled, on evidence that is not the executor's own word. Reopening
//! starts another life; the end stays in the lineage.

use kernel::{Digest, OperationId};
use serde::{Deserialize, Serialize};

use crate::core::{Chain, Evidence, Gen, Overflow, Producer, Rev, Seq, SessionId, digest_of, independent};
use crate::liveness::TurnEnded;
use crate::operation::OperationSet;
use crate::refuse::refusals;

/// Earlier ends that are kept; older ones are in the digest only.
pub const LINEAGE_KEPT: usize = 8;
/// Most evidence of one end.
pub const EVIDENCE_MAX: usize = 32;

/// Why a task does not end, or does not start again. Nothing has changed where one is returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TerminalRefusal {
    /// Only the writer ends a task.
    #[error("only the session that may write ends the task")]
    TerminalNotOwner,
    /// Decided on another state.
    #[error("the task has changed since the end was decided")]
    TerminalFence,
    /// Something is open.
    #[error("{operation} is not settled yet")]
    TerminalUnsettled {
        /// What is open.
        operation: OperationId,
    },
    /// No evidence, or more than is kept.
    #[error("an end needs 1 to {EVIDENCE_MAX} pieces of evidence")]
    TerminalEvidenceMissing,
    /// The same thing twice.
    #[error("one piece of evidence is given twice")]
    TerminalEvidenceDuplicate,
    /// Only the executor's own word.
    #[error("all evidence was made by who executed; a person, a validator or another session has to agree")]
    TerminalEvidenceNotIndependent,
    /// The same command with other content.
    #[error("the task ended by this command, in another way")]
    TerminalReplayMismatch,
    /// It ended.
    #[error("the task has ended")]
    AlreadyTerminal,
    /// Not the owner or the end that the reopener saw.
    #[error("the task is not as it was when reopening was decided")]
    ReopenOwnerMismatch,
    /// A counter is at its end.
    #[error(transparent)]
    Overflow(#[from] Overflow),
}

refusals!(TerminalRefusal => "The task");

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TerminalStatus {
    Completed,
    Failed,
    Cancelled,
}

/// The state that a writer saw: its fence, in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Life.
    pub rev: Rev,
    /// State.
    pub seq: Seq,
    /// Generation of writers.
    pub generation: Gen,
    /// Digest of the operations that ended.
    pub settled: Digest,
}

/// The wish to end a task. The state on which it was decided names it: a task has one end a life,
/// and a state is never issued twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalCommand {
    /// Who wishes.
    pub session: SessionId,
    /// What it saw.
    pub seen: Seen,
    /// How it ends.
    pub status: TerminalStatus,
    /// Why that is true.
    pub evidence: Vec<Evidence>,
}

/// `TaskTerminal`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskTerminal {
    status: TerminalStatus,
    seen: Seen,
    evidence: Vec<(Digest, Producer)>,
}

impl TaskTerminal {
    /// How.
    #[must_use]
    pub fn status(&self) -> TerminalStatus {
        self.status
    }
    /// On which state.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.seen
    }
    /// The receipt: the digest of all of it.
    #[must_use]
    pub fn receipt(&self) -> Digest {
        digest_of("terminal", self)
    }
}

/// The life of a task: which one it is, whether it ended, and its earlier ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lifecycle {
    rev: Rev,
    terminal: Option<TaskTerminal>,
    lineage: Chain<Digest, LINEAGE_KEPT>,
}

impl Lifecycle {
    /// Which life.
    #[must_use]
    pub fn rev(&self) -> Rev {
        self.rev
    }
    /// Its end.
    #[must_use]
    pub fn terminal(&self) -> Option<&TaskTerminal> {
        self.terminal.as_ref()
    }
    /// Receipts of earlier ends, oldest first, as far as they are kept.
    pub fn lineage(&self) -> impl DoubleEndedIterator<Item = &Digest> + ExactSizeIterator {
        self.lineage.kept()
    }

    /// Everything but reopening asks this first (I-65).
    ///
    /// # Errors
    /// `AlreadyTerminal`.
    pub fn open(&self) -> Result<(), TerminalRefusal> {
        if self.terminal.is_some() { Err(TerminalRefusal::AlreadyTerminal) } else { Ok(()) }
    }

    /// Ends the task, whose turn has ended. `writer` and `state` are what is stored; the same command again is a replay:
    /// the life is equal, nothing is written (I-62, I-63, I-64).
    ///
    /// # Errors
    /// The first condition that does not hold.
    pub fn end(
        &self,
        writer: Option<&SessionId>,
        (seq, generation): (Seq, Gen),
        operations: &OperationSet,
        _ended: &TurnEnded,
        command: TerminalCommand,
    ) -> Result<Self, TerminalRefusal> {
        let TerminalCommand { session, seen, status, evidence } = command;
        let evidence: Vec<_> = evidence.iter().map(|e| (e.digest(), e.producer().clone())).collect();
        let wish = TaskTerminal { status, seen, evidence };
        match &self.terminal {
            Some(end) if *end == wish => return Ok(self.clone()),
            Some(end) if end.seen == seen => return Err(TerminalRefusal::TerminalReplayMismatch),
            Some(_) => return Err(TerminalRefusal::AlreadyTerminal),
            None => {}
        }
        if writer != Some(&session) {
            return Err(TerminalRefusal::TerminalNotOwner);
        }
        if seen != (Seen { rev: self.rev, seq, generation, settled: operations.settled_digest() }) {
            return Err(TerminalRefusal::TerminalFence);
        }
        if let Some(open) = operations.unresolved() {
            return Err(TerminalRefusal::TerminalUnsettled { operation: open.request().id.clone() });
        }
        if !(1..=EVIDENCE_MAX).contains(&wish.evidence.len()) {
            return Err(TerminalRefusal::TerminalEvidenceMissing);
        }
        if wish.evidence.iter().enumerate().any(|(i, (d, _))| wish.evidence[..i].iter().any(|(e, _)| e == d)) {
            return Err(TerminalRefusal::TerminalEvidenceDuplicate);
        }
        let executed = |s: &SessionId| *s == session || operations.may_have_executed(s);
        if !independent(wish.evidence.iter().map(|(_, p)| p), executed) {
            return Err(TerminalRefusal::TerminalEvidenceNotIndependent);
        }
        Ok(Self { terminal: Some(wish), ..self.clone() })
    }

    /// Starts the next life, if the end is the one named and its owner is the one expected. The
    /// owner transition that carries it raises the generation, so nothing of the old life fits.
    ///
    /// # Errors
    /// `ReopenOwnerMismatch`, `Overflow`.
    pub fn reopen(&self, end: Digest, expected: Digest, owner: Digest) -> Result<Self, TerminalRefusal> {
        let receipt = self.terminal.as_ref().map(TaskTerminal::receipt);
        if receipt != Some(end) || expected != owner {
            return Err(TerminalRefusal::ReopenOwnerMismatch);
        }
        let mut lineage = self.lineage.clone();
        lineage.push(end);
        Ok(Self { rev: self.rev.next()?, terminal: None, lineage })
    }
}

#[cfg(test)]
pub(crate) mod tests;
