//! What AI Echo is told and what it asks for: the protocol that `apps` wraps and `shell` performs.

use kernel::authority::{Confirmation, TrustedGesture};
use kernel::mount::{Need, Reply};
use kernel::slash::{AgentTurn, LocalDispatch, Submission as SlashSubmission};
use kernel::{AppId, CallId, ConversationId, MountId, OperationId, Refusal, TurnKey};
use models::{Ask, ModelEvent, ProviderConfig, RunId};
use skills::packages::review::Approval;
use skills::packages::{NormalCopy, Packages};

use crate::conversation::{Attachment, Draft, Loaded, MountRecord, Page, StoreId, StoreOp};
use crate::tools::Zone;

/// A round of file requests; its answer carries the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FsId(pub u64);

/// What a person submitted, after the slash machine has let it through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission {
    /// Plain words, or text sent with "Send as text".
    Plain(String),
    /// A `/tool` or `/skill` row with its task: a normal turn, narrowed. What it names is checked
    /// again right before every dispatch (I-155, I-156).
    Turn(AgentTurn),
}

impl Submission {
    /// Sorts what the slash machine gave. Local acts come back: they are the caller's, and never
    /// reach a model (I-153).
    ///
    /// # Errors
    /// The local act to perform.
    pub fn from_slash(submission: SlashSubmission) -> Result<Self, LocalDispatch> {
        match submission {
            SlashSubmission::Text(text) => Ok(Self::Plain(text)),
            SlashSubmission::Turn(turn) => Ok(Self::Turn(turn)),
            SlashSubmission::Local(act) => Err(act),
        }
    }
}

/// What happened. Everything AI Echo ever learns comes in as one of these.
#[derive(Debug)]
pub enum Msg {
    /// Begin a conversation and bring it to the front.
    NewConversation,
    /// Bring a conversation to the front.
    Select(ConversationId),
    /// Give it a title; an empty one goes back to the derived title.
    Rename(ConversationId, String),
    /// Delete it with everything in it. A running turn is stopped first.
    Delete(ConversationId),
    /// The draft as it is now.
    DraftChanged(ConversationId, Page, Draft),
    /// Attach a file to the draft.
    Attach(ConversationId, Attachment),
    /// Take an attachment off again.
    Detach(ConversationId, usize),
    /// Who answers from the next turn on.
    ChooseModel(ConversationId, ProviderConfig),
    /// Who answers in new conversations.
    DefaultModel(ProviderConfig),
    /// The conversation's active mount (decision 20).
    UseMount(ConversationId, Option<MountId>),
    /// A mount is there, new or again; the first one becomes the default.
    Mounted(MountRecord),
    /// A mount is gone.
    Unmounted(MountId),
    /// Submit, with the draft's attachments. The draft is emptied in the same step, so a second
    /// Enter finds nothing (field 6H2).
    Submit(ConversationId, Submission),
    /// Stop the running turn of this conversation, whatever it does.
    Stop(ConversationId),
    /// Stop one turn, also one that waits.
    StopTurn(TurnKey),
    /// A trusted act on the card approved exactly what it showed.
    Approve(CallId, Confirmation),
    /// The card was rejected.
    Reject(CallId),
    /// Undo on a receipt: a new review.
    Undo(OperationId),
    /// A model's event.
    Model(RunId, ModelEvent),
    /// The answers to an [`Effect::Fs`], in order.
    Fs(FsId, Vec<Reply>),
    /// The answer to an [`Effect::Store`]: durable, or why not.
    Stored(StoreId, Result<(), String>),
    /// What a load operation brought.
    Loaded(Loaded),
    /// This tab only reads: another one writes (decision 32).
    ReadOnly(bool),
    /// The person's time zone.
    Zone(Zone),
    /// Look at the skills of the folder now: the palette opened, or somebody asked (decision 26).
    LookForSkills,
    /// What lies in a folder; the answer to [`Effect::Skills`], and again after every change.
    SkillsFound(MountId, Box<Packages>),
    /// A trusted act on the sheet approved exactly the bytes that it showed.
    SkillApproved(MountId, Box<Approval>),
    /// A person took a review back.
    RevokeSkill(MountId, String, TrustedGesture),
    /// Propose a portable copy of a package in this conversation, as a change to review.
    ProposeCopy(ConversationId, Box<NormalCopy>),
    /// A person switched a skill on or off.
    EnableSkill(MountId, String, bool, TrustedGesture),
}

/// What is to be done. Each is performed once; each that has an answer names it.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask this model; answer with [`Msg::Model`] events of `ask.run()`, the last one final.
    /// Nothing is retried by whoever performs it.
    Ask(Box<Ask>, ProviderConfig),
    /// Stop a run. Its late events are ignored here anyway.
    CancelRun(RunId),
    /// Perform these in the mount, in order; answer with [`Msg::Fs`].
    Fs {
        /// The round.
        id: FsId,
        /// Where.
        mount: MountId,
        /// What.
        needs: Vec<Need>,
    },
    /// Make durable, or load; answer with [`Msg::Stored`], or [`Msg::Loaded`] for the loads.
    Store(StoreId, Box<StoreOp>),
    /// The composer's draft of this conversation was given back: the field takes its text from
    /// the conversation. A restored slash draft needs a new trusted edit before it can dispatch.
    DraftRestored(ConversationId),
    /// The skills of this folder are wanted: look now, and whenever something may have changed
    /// there; answer with [`Msg::SkillsFound`], a look that found the same can be left out.
    /// `None`: of no folder.
    Skills(Option<MountId>),
    /// Open an app's window.
    OpenApp(AppId),
    /// Say it in the status line and to assistive technology.
    Announce(String),
    /// Show and keep a refusal.
    Refused(Refusal),
}
