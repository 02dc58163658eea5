//! Conversations, drafts, mounts and what is kept of them.

use kernel::mount::{MountError, Need, Reply};
use kernel::{ConversationId, Digest, MountId, OperationId, Refusal};
use models::ProviderConfig;

use super::{Cx, FsWork, Job};
use crate::conversation::{
    AnswerState, Attachment, Conversation, Draft, DraftRecord, ItemKey, ItemKind, Loaded, MAX_ATTACHMENTS,
    MAX_CONVERSATIONS, MAX_DRAFT, MountRecord, OperationRecord, Page, Receipt, ReviewRecord, Settings, StoreId,
    StoreOp, ToolState, Via,
};
use crate::protocol::Effect;
use crate::tools::{MAX_FILE, Proposal, Tool};
use crate::turn::{Effect as Applied, OpPhase, TurnMsg};

impl Cx<'_> {
    pub(super) fn new_conversation(&mut self) {
        if self.e.read_only {
            return self.refuse(read_only());
        }
        if !self.e.ready {
            // Before the stored ones are known a new one could take the name of one of them.
            return self.refuse(Refusal::new(
                "ConversationLoading",
                "A new conversation",
                "the stored conversations to be read",
                "they are still loading",
            ));
        }
        if self.e.conversations.len() >= MAX_CONVERSATIONS {
            return self.refuse(Refusal::new(
                "TooManyConversations",
                "A new conversation",
                &format!("at most {MAX_CONVERSATIONS}"),
                "all are in use; delete one first",
            ));
        }
        self.e.settings.last_conversation += 1;
        // A counter always makes a valid id.
        let Ok(id) = ConversationId::new(&format!("c{}", self.e.settings.last_conversation)) else { return };
        let settings = &self.e.settings;
        let conversation = Conversation::new(id.clone(), settings.provider.clone(), settings.mount.clone(), self.now);
        let record = conversation.record();
        self.e.conversations.insert(id.clone(), conversation);
        self.e.settings.current = Some(id);
        self.store(StoreOp::PutConversation(record));
        self.save_settings();
    }

    pub(super) fn select(&mut self, id: ConversationId) {
        let Some(conversation) = self.e.conversations.get(&id) else { return };
        let loaded = conversation.loaded;
        self.e.settings.current = Some(id.clone());
        if !loaded {
            self.store(StoreOp::LoadConversation(id));
        }
        self.save_settings();
    }

    /// Another window writes from now on, or no longer does: then what it wrote is read first,
    /// since what was read here before is older.
    pub(super) fn read_only(&mut self, read_only: bool) {
        let took_over = std::mem::replace(&mut self.e.read_only, read_only) && !read_only && self.e.ready;
        if took_over {
            self.e.ready = false;
            let jobs = &self.e.jobs;
            self.e.conversations.retain(|id, _| jobs.keys().any(|turn| turn.conversation == *id));
            self.store(StoreOp::LoadIndex);
        }
    }

    pub(super) fn rename(&mut self, id: &ConversationId, title: &str) {
        if let Some(conversation) = self.e.conversations.get_mut(id) {
            conversation.rename(title);
            let cut = title.trim().len() > crate::conversation::MAX_TITLE;
            self.save_conversation(id);
            if cut {
                let most = crate::conversation::MAX_TITLE;
                self.announce(format!("A title has room for {most} bytes, so this one was cut."));
            }
        }
    }

    pub(super) fn delete(&mut self, id: &ConversationId) {
        if self.e.read_only {
            return self.refuse(read_only());
        }
        if self.e.conversations.remove(id).is_none() {
            return;
        }
        for turn in self.e.jobs.keys().filter(|turn| turn.conversation == *id) {
            self.inbox.push_back(TurnMsg::Stop(Some(turn.clone())));
        }
        self.e.pages.retain(|(conversation, _), _| conversation != id);
        self.e.receipts.retain(|operation, _| operation.call().turn.conversation != *id);
        self.store(StoreOp::DeleteConversation(id.clone()));
        if self.e.settings.current.as_ref() == Some(id) {
            self.e.settings.current = None;
            match self.e.conversations().first().map(|conversation| conversation.id.clone()) {
                Some(next) => self.select(next),
                None => self.new_conversation(),
            }
        }
    }

    pub(super) fn draft_changed(&mut self, id: ConversationId, page: Page, mut draft: Draft) {
        let Some(conversation) = self.e.conversations.get_mut(&id) else { return };
        draft.text.truncate(kernel::clip::boundary(&draft.text, MAX_DRAFT));
        draft.attachments.truncate(MAX_ATTACHMENTS);
        if page == Page::composer() {
            // Attachments change by their own messages; a field knows nothing of them.
            draft.attachments.clone_from(&conversation.draft.attachments);
            if conversation.draft == draft {
                return;
            }
            conversation.draft = draft.clone();
        } else {
            self.e.pages.insert((id.clone(), page.clone()), draft.clone());
        }
        if !self.e.read_only {
            self.store(StoreOp::PutDraft(DraftRecord { conversation: id, page, draft }));
        }
    }

    pub(super) fn attach(&mut self, id: &ConversationId, attachment: Attachment) {
        let Some(conversation) = self.e.conversations.get_mut(id) else { return };
        let attachments = &mut conversation.draft.attachments;
        if attachments.contains(&attachment) {
            return;
        }
        if attachments.len() == MAX_ATTACHMENTS {
            return self.refuse(Refusal::new(
                "TooManyAttachments",
                "The attachment",
                &format!("at most {MAX_ATTACHMENTS}"),
                "one more",
            ));
        }
        attachments.push(attachment);
        self.save_draft(id);
    }

    pub(super) fn detach(&mut self, id: &ConversationId, at: usize) {
        let Some(conversation) = self.e.conversations.get_mut(id) else { return };
        if at < conversation.draft.attachments.len() {
            conversation.draft.attachments.remove(at);
            self.save_draft(id);
        }
    }

    pub(super) fn choose_model(&mut self, id: &ConversationId, provider: ProviderConfig) {
        if let Some(conversation) = self.e.conversations.get_mut(id) {
            // A turn that runs keeps the model it began with.
            conversation.provider = provider;
            self.save_conversation(id);
        }
    }

    pub(super) fn use_mount(&mut self, id: &ConversationId, mount: Option<MountId>) {
        if let Some(conversation) = self.e.conversations.get_mut(id) {
            conversation.mount = mount;
            self.save_conversation(id);
        }
    }

    pub(super) fn mounted(&mut self, record: MountRecord) {
        match self.e.mounts.iter_mut().find(|mount| mount.id == record.id) {
            Some(known) => *known = record.clone(),
            None => self.e.mounts.push(record.clone()),
        }
        if self.e.settings.mount.is_none() {
            self.e.settings.mount = Some(record.id.clone());
            self.save_settings();
        }
        let first = record.id.clone();
        let without: Vec<ConversationId> = self
            .e
            .conversations
            .values()
            .filter(|c| c.mount.is_none() && c.last_turn() == 0)
            .map(|c| c.id.clone())
            .collect();
        for id in without {
            self.use_mount(&id, Some(first.clone()));
        }
        if !self.e.read_only {
            self.store(StoreOp::PutMount(record));
        }
    }

    pub(super) fn save_settings(&mut self) {
        if !self.e.read_only {
            let settings = self.e.settings.clone();
            self.store(StoreOp::PutSettings(settings));
        }
    }

    pub(super) fn save_conversation(&mut self, id: &ConversationId) {
        if let Some(record) = self.e.conversations.get(id).map(Conversation::record)
            && !self.e.read_only
        {
            self.store(StoreOp::PutConversation(record));
        }
    }

    pub(super) fn save_draft(&mut self, id: &ConversationId) {
        if let Some(draft) = self.e.conversations.get(id).map(|c| c.draft.clone())
            && !self.e.read_only
        {
            self.store(StoreOp::PutDraft(DraftRecord { conversation: id.clone(), page: Page::composer(), draft }));
        }
    }

    pub(super) fn save_item(&mut self, id: &ConversationId, item: u64) {
        let Some(item) =
            self.e.conversations.get(id).and_then(|c| c.items.iter().rev().find(|i| i.id == item)).cloned()
        else {
            return;
        };
        let turn = kernel::TurnKey { conversation: id.clone(), turn: item.turn };
        self.store(StoreOp::PutItem(ItemKey { turn, item: item.id }, item));
    }

    pub(super) fn stored(&mut self, id: StoreId, result: Result<(), String>) {
        let waited = self.e.waits.remove(&id);
        match (waited, result) {
            (Some((operation, phase)), Ok(())) => self.inbox.push_back(TurnMsg::Recorded(operation, phase)),
            (Some((operation, phase)), Err(why)) => self.inbox.push_back(TurnMsg::RecordFailed(operation, phase, why)),
            (None, Ok(())) => {}
            (None, Err(why)) => {
                self.refuse(Refusal::new("NotSaved", "Saving", "room and access to this browser's storage", &why))
            }
        }
    }

    pub(super) fn loaded(&mut self, loaded: Loaded) {
        match loaded {
            Loaded::Index { settings, conversations, drafts, mounts } => {
                if std::mem::replace(&mut self.e.ready, true) {
                    return;
                }
                self.load_reviews();
                if let Some(settings) = settings {
                    // A folder that was mounted while this was loading is still there.
                    let mount = settings.mount.clone().or_else(|| self.e.settings.mount.take());
                    // What is in front here stays there; the stored one is another window's.
                    let current = self.e.settings.current.take().or(settings.current);
                    self.e.settings = Settings { mount, current, ..settings };
                }
                let mut newest = self.e.settings.last_conversation;
                for record in conversations {
                    let number = record.id.as_str().strip_prefix('c').and_then(|n| n.parse().ok()).unwrap_or(0);
                    newest = newest.max(number);
                    let conversation = Conversation::from_record(record, None);
                    self.e.conversations.entry(conversation.id.clone()).or_insert(conversation);
                }
                self.e.settings.last_conversation = newest;
                for record in drafts {
                    match self.e.conversations.get_mut(&record.conversation) {
                        Some(conversation) if record.page == Page::composer() => conversation.draft = record.draft,
                        Some(_) => drop(self.e.pages.insert((record.conversation, record.page), record.draft)),
                        None => {}
                    }
                }
                for mount in mounts {
                    if !self.e.mounts.iter().any(|known| known.id == mount.id) {
                        self.e.mounts.push(mount);
                    }
                }
                let current = self.e.settings.current.clone().filter(|id| self.e.conversations.contains_key(id));
                match current.or_else(|| self.e.conversations().first().map(|c| c.id.clone())) {
                    Some(id) => self.select(id),
                    None => self.new_conversation(),
                }
            }
            Loaded::SkillReviews(parts) => self.reviews_loaded(parts),
            Loaded::Conversation { id, items, receipts, reviews, operations } => {
                let Some(conversation) = self.e.conversations.get_mut(&id) else { return };
                if conversation.loaded {
                    return;
                }
                conversation.take_items(items);
                let running = self.e.jobs.keys().any(|turn| turn.conversation == id);
                let changed = if running { Vec::new() } else { conversation.mark_interrupted() };
                let unanswered = conversation
                    .items
                    .last()
                    .filter(|item| matches!(item.kind, ItemKind::User { .. }))
                    .map(|item| item.turn);
                for receipt in &receipts {
                    self.e.receipts.insert(receipt.operation.clone(), receipt.clone());
                }
                if self.e.read_only {
                    return;
                }
                receipts.iter().for_each(|receipt| self.told_by(receipt));
                changed.into_iter().for_each(|item| self.save_item(&id, item));
                if let Some(turn) = unanswered.filter(|_| !running) {
                    self.notice(&id, turn, "Interrupted: the page was closed before this was answered.");
                }
                let mut reviews = reviews;
                for record in operations {
                    let of = reviews.iter().position(|review| OperationId::of(&review.call.id) == record.operation);
                    let proposal = of.map(|at| reviews.swap_remove(at).proposal);
                    self.recover(&id, record, proposal);
                }
                reviews.into_iter().for_each(|review| self.show_again(&id, review));
            }
        }
    }

    /// An operation whose last record does not close it. Before the dispatch nothing happened;
    /// after it the file itself says what did, because who dispatched it is gone (§1.6).
    fn recover(&mut self, id: &ConversationId, record: OperationRecord, proposal: Option<Proposal>) {
        match record.phase {
            OpPhase::Prepared => {
                let words = format!(
                    "A change to {} was approved but not begun when the page was closed. Nothing was changed.",
                    record.path
                );
                self.close_recovered(record, OpPhase::AbortedZeroEffect, None);
                let turn = self.e.conversations.get(id).map_or(0, Conversation::last_turn);
                self.notice(id, turn, &words);
            }
            OpPhase::Dispatched => {
                let mount = Some(record.mount.clone());
                let need = Need::Read { path: record.path.clone(), max: MAX_FILE };
                self.need(FsWork::Recover(Box::new((record, proposal))), mount, vec![need]);
            }
            OpPhase::Settled(_) | OpPhase::AbortedZeroEffect | OpPhase::ReconcileRequired => {}
        }
    }

    /// A call that the page left behind is told by its receipt, which outlived it.
    fn told_by(&mut self, receipt: &Receipt) {
        let call = receipt.operation.call();
        let id = call.turn.conversation.clone();
        let Some(item) = self.e.conversations.get_mut(&id).and_then(|c| c.call(call)) else { return };
        let number = item.id;
        let ItemKind::Tool { state: state @ ToolState::Interrupted, receipt: of, .. } = &mut item.kind else { return };
        *state = match receipt.effect {
            Applied::Applied => ToolState::Done,
            Applied::Unknown => ToolState::Unknown,
            Applied::NotApplied | Applied::None => ToolState::Interrupted,
        };
        *of = Some(receipt.operation.clone());
        self.save_item(&id, number);
    }

    /// The file was read again after the page had gone in the middle of a change.
    pub(super) fn recovered(&mut self, record: OperationRecord, proposal: Option<Proposal>, reply: Option<&Reply>) {
        let found = match reply {
            Some(Reply::Bytes { bytes, total }) if *total == bytes.len() as u64 => Some(Some(Digest::of(bytes))),
            Some(Reply::Failed(MountError::NotFound)) => Some(None),
            _ => None,
        };
        let path = record.path.clone();
        let (phase, effect, words) = match found {
            Some(now) if now == record.after => (
                OpPhase::Settled(Applied::Applied),
                Some(Applied::Applied),
                format!("The page was closed while {path} was being changed. The change is complete."),
            ),
            Some(now) if now == record.before => (
                OpPhase::Settled(Applied::NotApplied),
                None,
                format!("The page was closed while {path} was being changed. Nothing was changed."),
            ),
            _ => (
                OpPhase::ReconcileRequired,
                Some(Applied::Unknown),
                format!(
                    "The page was closed while {path} was being changed, and it is not known whether the change was made. Look at the file."
                ),
            ),
        };
        let conversation = record.operation.call().turn.conversation.clone();
        // Without the proposal the old bytes are not known, and a receipt would promise an Undo.
        let receipt = effect.zip(proposal).map(|(effect, proposal)| Receipt::of(&record, proposal.before, 0, effect));
        if let Some(receipt) = &receipt {
            self.e.receipts.insert(receipt.operation.clone(), receipt.clone());
            self.told_by(receipt);
        }
        self.close_recovered(record, phase, receipt);
        let turn = self.e.conversations.get(&conversation).map_or(0, Conversation::last_turn);
        self.notice(&conversation, turn, &words);
    }

    fn close_recovered(&mut self, mut record: OperationRecord, phase: OpPhase, receipt: Option<Receipt>) {
        record.phase = phase;
        record.at = self.now;
        self.store(StoreOp::PutOperation(record, receipt));
    }

    /// An open review outlives the page as a proposal: the same call is made again, against the
    /// file as it is now, and shown. No approval is ever kept.
    fn show_again(&mut self, id: &ConversationId, review: ReviewRecord) {
        self.store(StoreOp::DeleteReview(OperationId::of(&review.call.id)));
        let Some(tool) = Tool::named(&review.call.tool) else { return };
        // One write has one card: the old call points to the new one.
        self.set_tool(&review.call.id, |state, _, _| *state = ToolState::ShownAnew);
        self.scripted(
            id,
            tool,
            review.call.arguments,
            Via::Plain,
            Some(review.asked_by).filter(|who| !who.is_empty()),
            "A review was open when the page was closed. It is shown again, against the file as it is now.",
        );
    }

    /// Begins a turn whose one call is decided already.
    pub(super) fn scripted(
        &mut self,
        id: &ConversationId,
        tool: Tool,
        arguments: String,
        via: Via,
        asked_by: Option<String>,
        words: &str,
    ) {
        let Some(conversation) = self.e.conversations.get_mut(id) else { return };
        let turn = conversation.next_turn();
        let job = Job::new(conversation, via, String::new(), String::new(), Some((tool, arguments)));
        let job = Job { asked_by, ..job };
        let item = conversation.push(turn.turn, ItemKind::Notice { text: words.to_owned() }, self.now);
        self.e.jobs.insert(turn.clone(), job);
        self.save_item(id, item);
        self.open_answer(&turn, AnswerState::Queued);
        self.save_conversation(id);
        self.inbox.push_back(TurnMsg::Submit(turn));
    }

    pub(super) fn notice(&mut self, id: &ConversationId, turn: u64, text: &str) {
        let Some(conversation) = self.e.conversations.get_mut(id) else { return };
        let item = conversation.push(turn, ItemKind::Notice { text: text.to_owned() }, self.now);
        self.save_item(id, item);
        self.announce(text);
    }

    pub(super) fn set_tool(
        &mut self,
        call: &kernel::CallId,
        change: impl FnOnce(&mut ToolState, &mut String, &mut String),
    ) {
        let id = call.turn.conversation.clone();
        let Some(conversation) = self.e.conversations.get_mut(&id) else { return };
        let Some(item) = conversation.call(call) else { return };
        let number = item.id;
        if let ItemKind::Tool { state, summary, preview, .. } = &mut item.kind {
            change(state, summary, preview);
        }
        self.save_item(&id, number);
    }

    pub(super) fn give_back_draft(&mut self, id: &ConversationId, text: &str) {
        let Some(conversation) = self.e.conversations.get_mut(id) else { return };
        if conversation.draft.text.is_empty() && !text.is_empty() {
            conversation.draft.text = text.to_owned();
            conversation.draft.caret = text.len();
            self.save_draft(id);
            self.out.push(Effect::DraftRestored(id.clone()));
        }
    }
}

pub(super) fn read_only() -> Refusal {
    Refusal::new(
        "ReadOnlyTab",
        "The request",
        "the tab that writes",
        "this tab only reads, because another tab has this shell open",
    )
}
