//! Submissions, streaming text, and the ends of turns.

use kernel::slash::{AgentTurn, SlashRefusal, TurnKind, dispatch_check};
use kernel::{ConversationId, MountId, Refusal, TurnKey};
use models::{ModelErrorKind, ModelEvent};

use super::keep::read_only;
use super::{Cx, Job};
use crate::conventions::named;
use crate::conversation::{AnswerState, Conversation, Draft, ItemKind, ToolState, Via};
use crate::guidance::BuiltIn;
use crate::protocol::{Effect, Submission};
use crate::tools::Tool;
use crate::turn::{MAX_QUEUE, TurnEnd, TurnFailure, TurnMsg};

/// Streaming text is saved at most this often, in milliseconds.
const SAVE_EVERY_MS: u64 = 1000;

impl Job {
    pub(super) fn new(
        conversation: &Conversation,
        via: Via,
        words: String,
        original: String,
        script: Option<(Tool, String)>,
    ) -> Self {
        let attachments = &conversation.draft.attachments;
        let about = conversation.mount.as_ref().map(|mount| named(&words, attachments, mount)).unwrap_or_default();
        Self {
            provider: conversation.provider.clone(),
            mount: conversation.mount.clone(),
            via,
            asked_by: None,
            words,
            original,
            attachments: conversation.draft.attachments.iter().cloned().collect(),
            by_template: script.is_some(),
            script,
            narrowed: None,
            grant: None,
            tool: None,
            fill: None,
            about,
            conventions: None,
            skills: Vec::new(),
            skills_told: false,
            heard: None,
            give_back: false,
            wire: Vec::new(),
            evidence: Vec::new(),
            made: Default::default(),
            said: String::new(),
            last_call: None,
            saved_at: 0,
            dropped: 0,
            progress: None,
        }
    }
}

impl Cx<'_> {
    pub(super) fn submit(&mut self, id: &ConversationId, submission: Submission) {
        if self.e.read_only {
            return self.refuse(read_only());
        }
        let Some(conversation) = self.e.conversations.get(id) else { return };
        // The second of two quick Enters finds the draft empty (field 6H2).
        if conversation.draft.text.trim().is_empty() && conversation.draft.attachments.is_empty() {
            return;
        }
        if !conversation.loaded {
            return self.refuse(Refusal::new(
                "ConversationLoading",
                "The message",
                "the conversation to be loaded",
                "it is still loading",
            ));
        }
        if self.e.turns.queue().len() >= MAX_QUEUE {
            return self.refuse(Refusal::new(
                "QueueFull",
                "The message",
                &format!("at most {MAX_QUEUE} waiting"),
                "too many messages wait already",
            ));
        }
        let (words, via, narrowed) = match submission {
            Submission::Plain(text) => (text, Via::Plain, None),
            Submission::Turn(turn) => {
                let via = match &turn.kind {
                    TurnKind::OneTool(tool) => Via::Tool(tool.name.to_string()),
                    TurnKind::Skill { id, .. } => Via::Skill(id.to_string()),
                };
                (turn.task.clone(), via, Some(turn))
            }
        };
        let mount = conversation.mount.clone();
        if let Err(refusal) = self.still_allowed(id, mount.as_ref(), narrowed.as_ref()) {
            return self.refuse(refusal);
        }
        // Rows of the next message are of what is there now (decision 26).
        let folder = self.e.library.mount().cloned();
        self.out.push(Effect::Skills(folder));
        let Some(conversation) = self.e.conversations.get_mut(id) else { return };
        let turn = conversation.next_turn();
        let original = std::mem::take(&mut conversation.draft.text);
        let mut job = Job::new(conversation, via.clone(), words.clone(), original, None);
        job.narrowed = narrowed;
        let attachments = std::mem::take(&mut conversation.draft).attachments;
        conversation.draft = Draft::default();
        let item = conversation.push(turn.turn, ItemKind::User { text: words, attachments, via }, self.now);
        self.e.jobs.insert(turn.clone(), job);
        self.save_item(id, item);
        self.save_draft(id);
        self.open_answer(&turn, AnswerState::Queued);
        self.save_conversation(id);
        self.inbox.push_back(TurnMsg::Submit(turn));
    }

    /// I-155, I-156: what a slash row promised must still hold, at submission and right before
    /// every dispatch.
    pub(super) fn still_allowed(
        &self,
        conversation: &ConversationId,
        mount: Option<&MountId>,
        narrowed: Option<&AgentTurn>,
    ) -> Result<(), Refusal> {
        let Some(turn) = narrowed else { return Ok(()) };
        // A skill of the workspace belongs to the turn's folder, which another conversation in
        // front need not have.
        if let TurnKind::Skill { id, digest } = &turn.kind
            && BuiltIn::get(id).is_none()
        {
            return self.skill_stands(mount, id, *digest);
        }
        let gone = || Refusal::new("ConversationGone", &turn.row, "a conversation", "it was deleted");
        let now = self.e.situation(conversation).ok_or_else(gone)?;
        dispatch_check(self.k, &now, turn)?;
        if let TurnKind::Skill { id, digest } = &turn.kind
            && BuiltIn::get(id).is_none_or(|skill| skill.digest() != *digest)
        {
            // The registry's bytes and the instructions that would be used must be the same.
            let why = "its instructions are not those that were reviewed".to_owned();
            return Err(SlashRefusal::SlashSkillIneligible { why }.into());
        }
        Ok(())
    }

    /// The open answer of a turn; made when there is none.
    pub(super) fn open_answer(&mut self, turn: &TurnKey, state: AnswerState) -> Option<u64> {
        let model = self.e.jobs.get(turn).map(|job| job.provider.label()).unwrap_or_default();
        let conversation = self.e.conversations.get_mut(&turn.conversation)?;
        let open = conversation.items.iter().rev().find(|item| {
            item.turn == turn.turn && matches!(&item.kind, ItemKind::Assistant { state, .. } if !state.is_final())
        });
        match open {
            Some(item) => Some(item.id),
            None => {
                Some(conversation.push(turn.turn, ItemKind::Assistant { text: String::new(), state, model }, self.now))
            }
        }
    }

    fn change_answer(&mut self, turn: &TurnKey, item: u64, change: impl FnOnce(&mut String, &mut AnswerState)) {
        let Some(conversation) = self.e.conversations.get_mut(&turn.conversation) else { return };
        if let Some(ItemKind::Assistant { text, state, .. }) =
            conversation.items.iter_mut().rev().find(|i| i.id == item).map(|i| &mut i.kind)
        {
            change(text, state);
        }
    }

    pub(super) fn began(&mut self, turn: &TurnKey) {
        self.cut_grant(turn);
        if let Some(item) = self.open_answer(turn, AnswerState::Streaming) {
            self.change_answer(turn, item, |_, state| *state = AnswerState::Streaming);
        }
        self.announce("AI Echo is answering.");
    }

    pub(super) fn append(&mut self, turn: &TurnKey, text: &str) {
        let Some(item) = self.open_answer(turn, AnswerState::Streaming) else { return };
        self.change_answer(turn, item, |said, _| said.push_str(text));
        let now = self.now.mono_ms;
        let Some(job) = self.e.jobs.get_mut(turn) else { return };
        job.said.push_str(text);
        job.progress = None;
        if now.saturating_sub(job.saved_at) >= SAVE_EVERY_MS {
            job.saved_at = now;
            self.save_item(&turn.conversation, item);
        }
    }

    pub(super) fn shown(&mut self, turn: &TurnKey, event: ModelEvent) {
        match event {
            ModelEvent::Trimmed { dropped } => self.left_out(turn, dropped as usize),
            ModelEvent::Diagnostic(words) => {
                self.refuse(Refusal::new("StreamDiagnostic", "A piece of the model's stream", "", &words))
            }
            progress => {
                if let Some(job) = self.e.jobs.get_mut(turn) {
                    job.progress = Some(progress);
                }
            }
        }
    }

    /// Decision 25: what leaves the prompt leaves a visible line, once a turn.
    pub(super) fn left_out(&mut self, turn: &TurnKey, dropped: usize) {
        let Some(job) = self.e.jobs.get_mut(turn) else { return };
        if dropped == 0 || std::mem::replace(&mut job.dropped, dropped) > 0 {
            return;
        }
        let what = if dropped == 1 { "1 earlier exchange" } else { &format!("{dropped} earlier exchanges") };
        let words = format!("{what} did not fit into what the model can read, and was left out for this answer.");
        self.notice(&turn.conversation, turn.turn, &words);
    }

    /// Closes the text before tool calls, so that the transcript keeps its order.
    pub(super) fn close_text(&mut self, turn: &TurnKey) {
        let Some(item) = self.open_answer(turn, AnswerState::Streaming) else { return };
        let Some(conversation) = self.e.conversations.get_mut(&turn.conversation) else { return };
        let empty = conversation
            .items
            .iter()
            .any(|i| i.id == item && matches!(&i.kind, ItemKind::Assistant { text, .. } if text.trim().is_empty()));
        if empty {
            conversation.items.retain(|i| i.id != item);
        } else {
            self.change_answer(turn, item, |_, state| *state = AnswerState::Complete);
            self.save_item(&turn.conversation, item);
        }
    }

    pub(super) fn ended(&mut self, turn: &TurnKey, end: TurnEnd) {
        if let Some(item) = self.open_answer(turn, AnswerState::Streaming) {
            let state = AnswerState::of(&end);
            let question = match &end {
                TurnEnd::NeedsAttention(words) => Some(words.clone()),
                _ => None,
            };
            self.change_answer(turn, item, |text, open| {
                *open = state;
                // A question was appended as text already; a warning was not.
                if let Some(words) = question.filter(|words| !text.contains(words.as_str())) {
                    text.push_str(&words);
                }
            });
            self.save_item(&turn.conversation, item);
        }
        let open: Vec<kernel::CallId> =
            self.e.turns.open_operations().map(|operation| operation.call().clone()).collect();
        let calls: Vec<kernel::CallId> =
            self.e.calls.keys().filter(|call| call.turn == *turn && !open.contains(call)).cloned().collect();
        for call in calls {
            self.e.calls.remove(&call);
            self.e.reviews.remove(&call);
        }
        let unfinished: Vec<kernel::CallId> = self
            .e
            .conversations
            .get(&turn.conversation)
            .into_iter()
            .flat_map(|conversation| &conversation.items)
            .filter_map(|item| match &item.kind {
                ItemKind::Tool { call, state, .. }
                    if item.turn == turn.turn && !state.is_final() && !open.contains(call) =>
                {
                    Some(call.clone())
                }
                _ => None,
            })
            .collect();
        for call in unfinished {
            self.set_tool(&call, |state, _, _| *state = ToolState::Cancelled);
        }
        if let Some(job) = self.e.jobs.remove(turn)
            && (job.give_back || too_long(&end) || matches!(end, TurnEnd::NeedsAttention(_)) && job.fill.is_some())
        {
            self.give_back_draft(&turn.conversation, &job.original);
        }
        self.save_conversation(&turn.conversation);
        let words = match &end {
            TurnEnd::Completed { .. } => "AI Echo has answered.".to_owned(),
            TurnEnd::Cancelled => "Stopped.".to_owned(),
            TurnEnd::Failed(why) => format!("AI Echo could not answer. {why}"),
            TurnEnd::NeedsAttention(words) => words.clone(),
        };
        self.announce(words);
    }
}

/// The words did not fit into the model: they come back, to be shortened.
fn too_long(end: &TurnEnd) -> bool {
    matches!(end, TurnEnd::Failed(TurnFailure::Model(e)) if e.kind == ModelErrorKind::TooLong)
}
