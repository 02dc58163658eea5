//! The turn driver: `step(state, msg, now) -> effects`, pure.
//!
//! One turn runs at a time, the others wait in a queue that a person can see. A turn alternates
//! between planning, asking a model and calling tools until it ends, exactly once. Every answer
//! belongs to a run id and every result to a call id, so what comes late for a turn that ended
//! finds nobody. A mutating call is approved, then recorded, then made; what was once dispatched
//! is settled in the books even when its turn was stopped long ago.

mod operation;
mod step;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use kernel::{CallId, ConversationId, Instant, OperationId, Refusal, TurnKey};
use models::{Ask, ModelError, ModelEvent, RunId};
use serde::{Deserialize, Serialize};

pub use operation::{Effect, OpPhase};
pub use step::step;

/// The most questions to a model in one turn: a model that only ever calls tools is stopped.
pub const MAX_ROUNDS: u32 = 12;
/// The most tool calls of one turn.
pub const MAX_CALLS: u32 = 24;
/// The most turns waiting.
pub const MAX_QUEUE: usize = 16;
/// How often a changed file is shown anew before the call is given up.
pub const MAX_SHOWN_ANEW: u32 = 3;

/// A tool call as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Its identity.
    pub id: CallId,
    /// The id under which the model knows it, if a model made it.
    pub wire_id: String,
    /// The tool's name, not yet checked.
    pub tool: String,
    /// The arguments' text, not yet checked.
    pub arguments: String,
}

/// Why the planner is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The turn begins.
    Start,
    /// The candidates were ranked, in their order.
    Scores(Vec<f32>),
    /// All calls so far have results.
    Results,
}

/// What the planner decides.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Ask a model; its run must be the one that came with the question to the planner.
    Ask(Box<Ask>),
    /// Call a tool without asking a model.
    Call {
        /// The tool's name.
        tool: String,
        /// The arguments' JSON text.
        arguments: String,
    },
    /// Answer in these words; the turn is complete.
    Answer(String),
    /// The person must say more; the turn ends with this question.
    Question(String),
    /// It cannot be done, in words.
    Fail(String),
}

/// How the router and the policy see a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routed {
    /// It only reads: call it.
    Read,
    /// It changes something: a review first.
    Review,
    /// It may not run; the words go back as its result.
    Refused(Refusal),
}

/// A person's decision about a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The kernel has seen a confirmation of exactly this proposal.
    Approved,
    /// No.
    Rejected,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnMsg {
    /// A submission: it runs when nothing else does. A key that is not newer than the
    /// conversation's newest is a repetition and does nothing (field 6H2).
    Submit(TurnKey),
    /// Stop this turn, or the running one.
    Stop(Option<TurnKey>),
    /// The planner's decision for a run.
    Planned(RunId, Plan),
    /// A model's event for a run.
    Model(RunId, ModelEvent),
    /// The router's decision.
    Routed(CallId, Routed),
    /// The proposal could not be made; the words go back as the call's result.
    ReviewFailed(CallId, Refusal),
    /// The review is decided.
    Decided(CallId, Decision),
    /// A record is durable.
    Recorded(OperationId, OpPhase),
    /// A record could not be made durable.
    RecordFailed(OperationId, OpPhase, String),
    /// A tool's result is in (its content lies with the caller).
    Observed {
        /// The call.
        call: CallId,
        /// What is known about its effect.
        effect: Effect,
        /// The target was not what was reviewed: show it anew.
        changed: bool,
    },
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEffect {
    /// The turn began.
    Began(TurnKey),
    /// Decide what comes next; answer with [`TurnMsg::Planned`] and this run.
    Plan {
        /// The turn.
        turn: TurnKey,
        /// The run that the decision belongs to.
        run: RunId,
        /// Why.
        cause: Cause,
        /// No further tool may be offered: the bound is near.
        last: bool,
    },
    /// Send this to the turn's model.
    Ask(TurnKey, Box<Ask>),
    /// Stop a run.
    CancelRun(RunId),
    /// Text to append to the answer.
    Text(TurnKey, String),
    /// An event that changes nothing but what is shown: progress, trimming, a diagnostic.
    Shown(TurnKey, ModelEvent),
    /// The model asked for these calls.
    Calls(TurnKey, Vec<Call>),
    /// Let the router see the call; answer with [`TurnMsg::Routed`].
    Route(Call),
    /// Make the proposal and show it; answer with `Decided` or `ReviewFailed`.
    Review(CallId),
    /// Take the card away.
    WithdrawReview(CallId),
    /// Make this durable; answer with `Recorded` or `RecordFailed`.
    Record(OperationId, OpPhase),
    /// Call the tool, once; answer with `Observed`.
    CallTool(CallId),
    /// The result is not wanted any more.
    CancelCall(CallId),
    /// The call came to nothing, with the words for the transcript and the model.
    Refused(CallId, Refusal),
    /// The call was rejected by the person.
    Rejected(CallId),
    /// The record of an operation is closed; the turn may have ended before.
    Settled {
        /// The call.
        call: CallId,
        /// What is known.
        effect: Effect,
        /// Its turn had ended.
        late: bool,
        /// Why the record itself could not be saved.
        unsaved: Option<String>,
    },
    /// The same call again under a new id, because its target changed.
    ShownAnew {
        /// The settled call.
        old: CallId,
        /// The new one.
        new: CallId,
    },
    /// The turn ended.
    Ended(TurnKey, TurnEnd, Instant),
    /// Too many turns wait; nothing was queued.
    QueueFull(TurnKey),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnEnd {
    /// With an answer; `cut` when the model reached its length.
    Completed {
        /// The answer is cut.
        cut: bool,
    },
    /// By the person.
    Cancelled,
    /// In words.
    Failed(TurnFailure),
    /// The person must say or look at something.
    NeedsAttention(String),
}

/// Why a turn failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum TurnFailure {
    /// The model.
    #[error("{0}")]
    Model(ModelError),
    /// A bound of the tool loop.
    #[error("the model asked for more than {MAX_CALLS} tool calls or {MAX_ROUNDS} rounds, so the turn was ended")]
    TooManyCalls,
    /// Planning.
    #[error("{0}")]
    Plan(String),
}

/// Where the running turn is.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// The planner decides.
    Planning(RunId),
    /// A model answers.
    Asking {
        /// The run.
        run: RunId,
        /// Candidates are ranked; no text is expected.
        score: bool,
        /// Something visible was said in this run.
        said: bool,
        /// Calls of this run.
        calls: Vec<(String, String, String)>,
    },
    /// The router decides.
    Routing(CallId),
    /// A person decides, or the proposal is being made.
    Reviewing(CallId),
    /// A reading tool runs.
    Calling(CallId),
    /// A recorded operation runs through its phases.
    Operating(CallId),
}

/// The running turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Active {
    /// Which.
    pub turn: TurnKey,
    /// Where it is.
    pub phase: Phase,
    /// When it began.
    pub since: Instant,
    /// Questions asked so far.
    pub rounds: u32,
    made: u32,
    shown_anew: u32,
    pending: VecDeque<Call>,
    current: Option<Call>,
}

/// The state of the driver.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turns {
    queue: VecDeque<TurnKey>,
    active: Option<Active>,
    operations: BTreeMap<OperationId, operation::Stage>,
    last_run: u64,
    /// The newest turn of each conversation: a key is never used twice.
    newest: BTreeMap<ConversationId, u64>,
}

impl Turns {
    /// The running turn.
    pub fn active(&self) -> Option<&Active> {
        self.active.as_ref()
    }
    /// The waiting turns, next first.
    pub fn queue(&self) -> impl ExactSizeIterator<Item = &TurnKey> {
        self.queue.iter()
    }
    /// Whether a turn runs or waits.
    pub fn knows(&self, turn: &TurnKey) -> bool {
        self.active.as_ref().is_some_and(|a| a.turn == *turn) || self.queue.contains(turn)
    }
    /// Operations whose record is not closed.
    pub fn open_operations(&self) -> impl ExactSizeIterator<Item = &OperationId> {
        self.operations.keys()
    }
    /// Whether anything at all is under way.
    pub fn is_idle(&self) -> bool {
        self.active.is_none() && self.queue.is_empty() && self.operations.is_empty()
    }
}
