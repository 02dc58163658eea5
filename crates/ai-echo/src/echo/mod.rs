//! The root: everything AI Echo knows, and `update`, the one way in which it changes.

mod admit;
mod calls;
mod keep;
mod plan;
mod talk;
#[cfg(test)]
mod tests;
mod workspace;

use std::collections::{BTreeMap, VecDeque};

use kernel::authority::TurnGrant;
use kernel::mount::{MountPath, Need, Reply, Step};
use kernel::slash::{AgentTurn, Situation};
use kernel::tools::{Danger, Held, Permit};
use kernel::{CallId, ConversationId, Digest, Instant, Kernel, MountId, OperationId, Refusal, TurnKey};
use models::{Message, ModelEvent, ProviderConfig, RunId};
use serde_json::Value;

use crate::conventions::Guide;
use crate::conversation::{
    Attachment, Conversation, Draft, MountRecord, OperationRecord, Page, Receipt, Settings, StoreId, StoreOp, Via,
};
use crate::library::Library;
use crate::local::Fill;
use crate::protocol::{Effect, FsId, Msg};
use crate::tools::{Apply, Outcome, Proposal, Propose, Run, Tool, Zone};
use crate::turn::{Call, OpPhase, TurnEffect, TurnMsg, Turns, step};

/// A review that waits for a person: everything the card shows.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenReview {
    /// The call.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// The tool's title.
    pub title: String,
    /// The whole arguments, as they came.
    pub arguments: String,
    /// What will be made, byte for byte, with its diff.
    pub proposal: Proposal,
    /// What a confirmation must be for: make the `ShownReview` from this.
    pub digest: Digest,
    /// Who asks: a model by its name, or the person by a slash row.
    pub asked_by: String,
    /// What was said about it in this turn.
    pub why: String,
    /// What the tool can touch, in words.
    pub explanation: String,
    /// How much care it needs.
    pub danger: Danger,
    /// Since when it is open.
    pub since: Instant,
    /// It replaces a card whose file had changed.
    pub shown_anew: bool,
}

/// One turn's work.
#[derive(Debug)]
struct Job {
    provider: ProviderConfig,
    mount: Option<MountId>,
    via: Via,
    /// Who asked, where that is known from before a reload.
    asked_by: Option<String>,
    words: String,
    /// What stood in the composer, to give it back after a question.
    original: String,
    attachments: VecDeque<Attachment>,
    /// A call that was decided before the turn began: an Undo, a review shown again.
    script: Option<(Tool, String)>,
    /// What a slash row narrowed the turn to.
    narrowed: Option<AgentTurn>,
    grant: Option<TurnGrant>,
    /// The tool that the on-device planner fills.
    tool: Option<Tool>,
    /// The answer is a template about the last result.
    by_template: bool,
    fill: Option<Fill>,
    /// Paths that the message is about; the instructions that apply to them, once loaded.
    about: Vec<MountPath>,
    conventions: Option<String>,
    /// Names and instructions of the workspace's skills in this turn, as they were read last.
    skills: Vec<(String, String)>,
    skills_told: bool,
    /// The skill that plain words ask for; heard once, before the turn's first question.
    heard: Option<Option<admit::Heard>>,
    /// What was typed comes back when the turn ends.
    give_back: bool,
    wire: Vec<Message>,
    evidence: Vec<String>,
    /// How the model knows each call: its id and the tool's name.
    made: BTreeMap<CallId, (String, String)>,
    said: String,
    last_call: Option<CallId>,
    saved_at: u64,
    dropped: usize,
    progress: Option<ModelEvent>,
}

/// One call's work.
#[derive(Debug)]
struct CallJob {
    call: Call,
    tool: Tool,
    mount: Option<MountId>,
    descriptor: Digest,
    arguments: Value,
    permit: Option<Permit>,
    held: Option<(Held, Danger)>,
    proposal: Option<Proposal>,
    confirmed: Option<(Digest, u64)>,
    outcome: Option<Outcome>,
    shown_anew: bool,
}

/// What waits for files.
#[derive(Debug)]
enum FsWork {
    Fill(TurnKey, RunId),
    /// With whether this is the turn's last question.
    Guide(TurnKey, RunId, bool, Box<Guide>),
    Admit(TurnKey, RunId, bool, Box<admit::Admission>),
    Propose(CallId, Propose),
    Run(CallId, Run),
    Apply(CallId, Apply),
    Recover(Box<(OperationRecord, Option<Proposal>)>),
}

/// AI Echo's whole state.
#[derive(Debug)]
pub struct Echo {
    conversations: BTreeMap<ConversationId, Conversation>,
    settings: Settings,
    mounts: Vec<MountRecord>,
    pages: BTreeMap<(ConversationId, Page), Draft>,
    zone: Zone,
    library: Library,
    read_only: bool,
    ready: bool,
    turns: Turns,
    jobs: BTreeMap<TurnKey, Job>,
    calls: BTreeMap<CallId, CallJob>,
    receipts: BTreeMap<OperationId, Receipt>,
    reviews: BTreeMap<CallId, OpenReview>,
    fs: BTreeMap<FsId, FsWork>,
    waits: BTreeMap<StoreId, (OperationId, OpPhase)>,
    last_fs: u64,
    last_store: u64,
}

impl Echo {
    /// An AI Echo that knows nothing yet, and the request to load what was kept.
    pub fn start() -> (Self, Vec<Effect>) {
        let echo = Self {
            conversations: BTreeMap::new(),
            settings: Settings::default(),
            mounts: Vec::new(),
            pages: BTreeMap::new(),
            zone: Zone::default(),
            library: Library::default(),
            read_only: false,
            ready: false,
            turns: Turns::default(),
            jobs: BTreeMap::new(),
            calls: BTreeMap::new(),
            receipts: BTreeMap::new(),
            reviews: BTreeMap::new(),
            fs: BTreeMap::new(),
            waits: BTreeMap::new(),
            last_fs: 0,
            last_store: 1,
        };
        (echo, vec![Effect::Store(StoreId(1), Box::new(StoreOp::LoadIndex))])
    }

    /// Whether what was kept has been loaded.
    pub fn is_ready(&self) -> bool {
        self.ready
    }
    /// Whether another tab writes.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }
    /// All conversations, the one that was touched last first.
    pub fn conversations(&self) -> Vec<&Conversation> {
        let mut all: Vec<&Conversation> = self.conversations.values().collect();
        all.sort_by(|a, b| b.touched.wall_ms.cmp(&a.touched.wall_ms).then_with(|| b.id.cmp(&a.id)));
        all
    }
    /// One conversation.
    pub fn conversation(&self, id: &ConversationId) -> Option<&Conversation> {
        self.conversations.get(id)
    }
    /// The conversation in front.
    pub fn current(&self) -> Option<&Conversation> {
        self.settings.current.as_ref().and_then(|id| self.conversations.get(id))
    }
    /// The draft of a page other than the composer.
    pub fn page_draft(&self, conversation: &ConversationId, page: &Page) -> Option<&Draft> {
        self.pages.get(&(conversation.clone(), page.clone()))
    }
    /// What is kept for the whole product.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
    /// The mounts that are there.
    pub fn mounts(&self) -> &[MountRecord] {
        &self.mounts
    }
    /// The skills of the workspace.
    pub fn library(&self) -> &Library {
        &self.library
    }
    /// The running turn and the waiting ones.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }
    /// Whether this conversation's turn runs or waits.
    pub fn is_busy(&self, id: &ConversationId) -> bool {
        self.jobs.keys().any(|turn| turn.conversation == *id)
    }
    /// How far the running turn's prompt is read, for the view.
    pub fn progress(&self, turn: &TurnKey) -> Option<&ModelEvent> {
        self.jobs.get(turn)?.progress.as_ref()
    }
    /// What the moment offers in a conversation: for the catalogue of its composer and for every
    /// check of a row.
    pub fn situation(&self, conversation: &ConversationId) -> Option<Situation> {
        let mount = self.conversations.get(conversation).and_then(|c| c.mount.as_ref());
        let there = mount.is_some_and(|mount| self.mounts.iter().any(|known| known.id == *mount));
        let affordances = there.then(|| crate::register::AFFORDANCE_MOUNT.to_owned()).into_iter().collect();
        Some(Situation { agent: crate::register::app_id().ok()?, affordances })
    }
    /// The open reviews, oldest first.
    pub fn reviews(&self) -> impl ExactSizeIterator<Item = &OpenReview> {
        self.reviews.values()
    }
    /// The review of a call.
    pub fn review(&self, call: &CallId) -> Option<&OpenReview> {
        self.reviews.get(call)
    }
    /// The receipt of an operation.
    pub fn receipt(&self, operation: &OperationId) -> Option<&Receipt> {
        self.receipts.get(operation)
    }
}

/// Takes one message and says what is to be done. The only way in which [`Echo`] changes.
pub fn update(echo: &mut Echo, msg: Msg, now: Instant, kernel: &mut Kernel) -> Vec<Effect> {
    let mut cx = Cx { e: echo, k: kernel, now, out: Vec::new(), inbox: VecDeque::new() };
    cx.msg(msg);
    while let Some(msg) = cx.inbox.pop_front() {
        for effect in step(&mut cx.e.turns, msg, cx.now) {
            cx.turn_effect(effect);
        }
    }
    cx.follow_folder();
    cx.out
}

/// One update under way.
struct Cx<'a> {
    e: &'a mut Echo,
    k: &'a mut Kernel,
    now: Instant,
    out: Vec<Effect>,
    inbox: VecDeque<TurnMsg>,
}

impl Cx<'_> {
    fn msg(&mut self, msg: Msg) {
        match msg {
            Msg::NewConversation => self.new_conversation(),
            Msg::Select(id) => self.select(id),
            Msg::Rename(id, title) => self.rename(&id, &title),
            Msg::Delete(id) => self.delete(&id),
            Msg::DraftChanged(id, page, draft) => self.draft_changed(id, page, draft),
            Msg::Attach(id, attachment) => self.attach(&id, attachment),
            Msg::Detach(id, at) => self.detach(&id, at),
            Msg::ChooseModel(id, provider) => self.choose_model(&id, provider),
            Msg::DefaultModel(provider) => {
                self.e.settings.provider = provider;
                self.save_settings();
            }
            Msg::UseMount(id, mount) => self.use_mount(&id, mount),
            Msg::Mounted(record) => self.mounted(record),
            Msg::Unmounted(id) => {
                self.e.mounts.retain(|mount| mount.id != id);
                self.e.library.forget(&id);
                self.store(StoreOp::DeleteMount(id));
            }
            Msg::Submit(id, submission) => self.submit(&id, submission),
            Msg::Stop(id) => {
                let running =
                    self.e.turns.active().map(|active| active.turn.clone()).filter(|turn| turn.conversation == id);
                let turn = running.or_else(|| self.e.turns.queue().find(|turn| turn.conversation == id).cloned());
                if let Some(turn) = turn {
                    self.inbox.push_back(TurnMsg::Stop(Some(turn)));
                }
            }
            Msg::StopTurn(turn) => self.inbox.push_back(TurnMsg::Stop(Some(turn))),
            Msg::Approve(call, confirmation) => self.approve(call, confirmation),
            Msg::Reject(call) => self.reject(call),
            Msg::Undo(operation) => self.undo(operation),
            Msg::Model(run, event) => self.inbox.push_back(TurnMsg::Model(run, event)),
            Msg::Fs(id, replies) => {
                // A round that nobody waits for any more was cancelled.
                if let Some(work) = self.e.fs.remove(&id) {
                    self.pump(work, replies);
                }
            }
            Msg::Stored(id, result) => self.stored(id, result),
            Msg::Loaded(loaded) => self.loaded(loaded),
            Msg::ReadOnly(read_only) => self.read_only(read_only),
            Msg::Zone(zone) => self.e.zone = zone,
            Msg::LookForSkills => self.look_for_skills(),
            Msg::SkillsFound(mount, packages) => self.skills_found(mount, *packages),
            Msg::SkillApproved(mount, approval) => self.skill_approved(&mount, *approval),
            Msg::RevokeSkill(mount, name, act) => self.revoke_skill(&mount, &name, act),
            Msg::ProposeCopy(id, copy) => self.propose_copy(&id, &copy),
            Msg::EnableSkill(mount, name, on, act) => self.enable_skill(&mount, &name, on, act),
        }
    }

    fn turn_effect(&mut self, effect: TurnEffect) {
        match effect {
            TurnEffect::Began(turn) => self.began(&turn),
            TurnEffect::Plan { turn, run, cause, last } => {
                if let Some(plan) = self.plan(&turn, run, cause, last) {
                    self.inbox.push_back(TurnMsg::Planned(run, plan));
                }
            }
            TurnEffect::Ask(turn, ask) => {
                if let Some(job) = self.e.jobs.get_mut(&turn) {
                    job.said.clear();
                    self.out.push(Effect::Ask(ask, job.provider.clone()));
                }
            }
            TurnEffect::CancelRun(run) => self.out.push(Effect::CancelRun(run)),
            TurnEffect::Text(turn, text) => self.append(&turn, &text),
            TurnEffect::Shown(turn, event) => self.shown(&turn, event),
            TurnEffect::Calls(turn, calls) => self.calls_made(&turn, calls),
            TurnEffect::Route(call) => self.route(call),
            TurnEffect::Review(call) => self.review(call),
            TurnEffect::WithdrawReview(call) => self.withdraw(&call),
            TurnEffect::Record(operation, phase) => self.record(operation, phase),
            TurnEffect::CallTool(call) => self.call_tool(call),
            TurnEffect::CancelCall(call) => self.cancel_call(&call),
            TurnEffect::Refused(call, refusal) => self.call_refused(&call, refusal),
            TurnEffect::Rejected(call) => self.call_rejected(&call),
            TurnEffect::Settled { call, effect, late, unsaved } => self.settled(&call, effect, late, unsaved),
            TurnEffect::ShownAnew { old, new } => self.shown_anew(&old, new),
            TurnEffect::Ended(turn, end, _) => self.ended(&turn, end),
            TurnEffect::QueueFull(turn) => self.ended(
                &turn,
                crate::turn::TurnEnd::Failed(crate::turn::TurnFailure::Plan(
                    "Too many messages wait already.".to_owned(),
                )),
            ),
        }
    }

    // Files.

    fn pump(&mut self, work: FsWork, replies: Vec<Reply>) {
        match work {
            FsWork::Fill(turn, run) => {
                let Some(job) = self.e.jobs.get_mut(&turn) else { return };
                let mount = job.mount.clone();
                let Some(fill) = &mut job.fill else { return };
                match fill.step(replies) {
                    Step::Need(needs) => self.need(FsWork::Fill(turn, run), mount, needs),
                    Step::Done(filled) => {
                        let plan = self.filled(&turn, run, filled);
                        self.inbox.push_back(TurnMsg::Planned(run, plan));
                    }
                }
            }
            FsWork::Guide(turn, run, last, mut guide) => {
                let Some(mount) = self.e.jobs.get(&turn).map(|job| job.mount.clone()) else { return };
                match guide.step(replies) {
                    Step::Need(needs) => self.need(FsWork::Guide(turn, run, last, guide), mount, needs),
                    Step::Done(found) => {
                        self.guided(&turn, found);
                        if let Some(plan) = self.dispatch(&turn, run, last) {
                            self.inbox.push_back(TurnMsg::Planned(run, plan));
                        }
                    }
                }
            }
            FsWork::Admit(turn, run, last, work) => self.admit_step(turn, run, last, work, replies),
            FsWork::Propose(call, mut propose) => match propose.step(replies) {
                Step::Need(needs) => {
                    let mount = self.mount_of(&call);
                    self.need(FsWork::Propose(call, propose), mount, needs);
                }
                Step::Done(Ok(proposal)) => self.proposed(call, proposal),
                Step::Done(Err(refusal)) => self.inbox.push_back(TurnMsg::ReviewFailed(call, refusal)),
            },
            FsWork::Run(call, mut run) => match run.step(replies) {
                Step::Need(needs) => {
                    let mount = self.mount_of(&call);
                    self.need(FsWork::Run(call, run), mount, needs);
                }
                Step::Done(outcome) => self.observed(call, outcome),
            },
            FsWork::Recover(work) => self.recovered(work.0, work.1, replies.first()),
            FsWork::Apply(call, mut apply) => match apply.step(replies) {
                Step::Need(needs) => {
                    let mount = self.mount_of(&call);
                    self.need(FsWork::Apply(call, apply), mount, needs);
                }
                Step::Done(outcome) => self.observed(call, outcome),
            },
        }
    }

    fn mount_of(&self, call: &CallId) -> Option<MountId> {
        self.e.calls.get(call).and_then(|job| job.mount.clone())
    }

    fn need(&mut self, work: FsWork, mount: Option<MountId>, needs: Vec<Need>) {
        // Without a mount the router lets no file tool through; should one come here all the
        // same, it hears what a missing mount sounds like.
        let Some(mount) = mount else {
            let missing = needs.iter().map(|_| Reply::Failed(kernel::mount::MountError::MountMissing)).collect();
            return self.pump(work, missing);
        };
        self.e.last_fs += 1;
        let id = FsId(self.e.last_fs);
        self.e.fs.insert(id, work);
        self.out.push(Effect::Fs { id, mount, needs });
    }

    // Small things.

    fn refuse(&mut self, refusal: impl Into<Refusal>) {
        let refusal = self.k.refuse(refusal);
        self.out.push(Effect::Refused(refusal));
    }

    fn announce(&mut self, text: impl Into<String>) {
        self.out.push(Effect::Announce(text.into()));
    }

    fn store(&mut self, op: StoreOp) -> StoreId {
        self.e.last_store += 1;
        let id = StoreId(self.e.last_store);
        self.out.push(Effect::Store(id, Box::new(op)));
        id
    }
}
