//! Tool calls on their way: routed, reviewed, recorded, made, observed, settled.

use kernel::authority::Confirmation;
use kernel::tools::{Dispatch, ObservationOrigin, ToolActionReview, ToolCall, ToolRef, UntrustedObservation};
use kernel::{AppId, CallId, Digest, OperationId, Refusal, ToolName, TurnKey};
use models::{Message, Role, ToolCallPart};

use super::{CallJob, Cx, FsWork, OpenReview};
use crate::conversation::{ItemKind, MAX_PREVIEW, OperationRecord, Receipt, ReviewRecord, StoreOp, ToolState, Via};
use crate::prompt::{Budget, frame};
use crate::protocol::Effect;
use crate::register::app_id;
use crate::tools::{Apply, Outcome, Proposal, Propose, Run, Surroundings, Tool};
use crate::turn::{Call, Decision, Effect as Applied, OpPhase, Routed, TurnMsg};

impl Cx<'_> {
    pub(super) fn calls_made(&mut self, turn: &TurnKey, calls: Vec<Call>) {
        self.close_text(turn);
        if let Some(job) = self.e.jobs.get_mut(turn) {
            job.made.extend(calls.iter().map(|call| (call.id.clone(), (call.wire_id.clone(), call.tool.clone()))));
        }
        if let Some(job) = self.e.jobs.get_mut(turn)
            && calls.iter().any(|call| !call.wire_id.is_empty())
        {
            let mut message = Message::assistant(std::mem::take(&mut job.said));
            message.tool_calls = calls
                .iter()
                .map(|call| ToolCallPart {
                    id: call.wire_id.clone(),
                    name: call.tool.clone(),
                    arguments: call.arguments.clone(),
                })
                .collect();
            job.wire.push(message);
        }
        calls.iter().for_each(|call| self.push_tool(call));
    }

    fn push_tool(&mut self, call: &Call) {
        let id = call.id.turn.conversation.clone();
        let Some(conversation) = self.e.conversations.get_mut(&id) else { return };
        let kind = ItemKind::Tool {
            call: call.id.clone(),
            tool: kernel::clip::label(&call.tool, 128).into_owned(),
            arguments: call.arguments.clone(),
            state: ToolState::Asked,
            summary: String::new(),
            preview: String::new(),
            result: None,
            receipt: None,
        };
        let item = conversation.push(call.id.turn.turn, kind, self.now);
        self.save_item(&id, item);
    }

    pub(super) fn route(&mut self, call: Call) {
        let id = call.id.clone();
        if let Some(job) = self.e.jobs.get_mut(&id.turn) {
            job.last_call = Some(id.clone());
        }
        let routed = match self.try_route(call) {
            Ok(routed) => routed,
            Err(refusal) => Routed::Refused(refusal),
        };
        self.inbox.push_back(TurnMsg::Routed(id, routed));
    }

    fn try_route(&mut self, call: Call) -> Result<Routed, Refusal> {
        let unknown = |text: &str| {
            Refusal::new(
                "ToolUnknown",
                &format!("The tool {}", kernel::clip::label(text, 64)),
                "a tool that was offered",
                "there is no such tool",
            )
        };
        let name = ToolName::new(&call.tool).map_err(|_| unknown(&call.tool))?;
        let tool = Tool::named(name.as_str()).ok_or_else(|| unknown(&call.tool))?;
        let gone = || Refusal::new("TurnGone", "The call", "a turn that runs", "its turn has ended");
        let job = self.e.jobs.get(&call.id.turn).ok_or_else(gone)?;
        let grant = job.grant.as_ref().ok_or_else(gone)?;
        // The digest that was offered; a tool that was not is asked for as it is now, so that the
        // router says "not offered" in its own words.
        let offered = grant.offered().iter().find(|(offered, _)| *offered == name).map(|(_, digest)| *digest);
        let live = self.k.tools().get(&name).map(|tool| tool.digest);
        let digest = offered.or(live).ok_or_else(|| unknown(&call.tool))?;
        let operation = tool.definition().mutates.then(|| OperationId::of(&call.id));
        let request = ToolCall {
            tool: ToolRef { name, digest },
            args: call.arguments.as_bytes().to_vec(),
            turn: call.id.turn.clone(),
            operation,
        };
        let dispatch = self.k.router().route(&request, &app_id()?, grant)?;
        let mut work = CallJob {
            arguments: Self::read_arguments(&call.arguments),
            tool,
            mount: job.mount.clone(),
            descriptor: digest,
            permit: None,
            held: None,
            proposal: None,
            confirmed: None,
            outcome: None,
            shown_anew: self.e.calls.get(&call.id).is_some_and(|known| known.shown_anew),
            call,
        };
        let routed = match dispatch {
            Dispatch::Read(permit) => {
                work.arguments = permit.args().clone();
                work.permit = Some(permit);
                Routed::Read
            }
            Dispatch::NeedsConfirmation { held, danger } => {
                work.arguments = held.args().clone();
                work.held = Some((held, danger));
                Routed::Review
            }
        };
        self.e.calls.insert(work.call.id.clone(), work);
        Ok(routed)
    }

    // Reviews.

    pub(super) fn review(&mut self, call: CallId) {
        let begun = match self.e.calls.get(&call) {
            None => Err(Refusal::new("CallGone", "The call", "a call under way", "it is gone")),
            Some(job) => match (job.tool, &job.mount) {
                (_, None) => Err(Refusal::new("MountMissing", "The change", "a mounted folder", "none is mounted")),
                (Tool::FilesUndo, Some(_)) => self.begin_undo(job),
                (tool, Some(mount)) => Propose::start(tool, mount, &job.arguments),
            },
        };
        match begun {
            Ok(propose) => self.pump(FsWork::Propose(call, propose), Vec::new()),
            Err(refusal) => self.inbox.push_back(TurnMsg::ReviewFailed(call, refusal)),
        }
    }

    fn begin_undo(&self, job: &CallJob) -> Result<Propose, Refusal> {
        let wanted = job.arguments.get("operation").and_then(serde_json::Value::as_str).unwrap_or_default();
        let receipt = self.e.receipts.values().find(|receipt| receipt.operation.to_string() == wanted);
        match receipt.map(|receipt| (receipt, receipt.after)) {
            Some((receipt, Some(made))) if receipt.can_undo() && job.mount.as_ref() == Some(&receipt.mount) => {
                Ok(Propose::undo(&receipt.mount, receipt.path.clone(), made, receipt.before.clone()))
            }
            _ => Err(Refusal::new(
                "UndoUnknown",
                wanted,
                "a change of this conversation whose old content is kept",
                "there is none of that name in this folder",
            )),
        }
    }

    pub(super) fn proposed(&mut self, id: CallId, proposal: Proposal) {
        let Some(job) = self.e.calls.get_mut(&id) else { return };
        let Some((held, danger)) = &job.held else { return };
        let digest = held.bind(&[&proposal.digest().0]);
        job.proposal = Some(proposal.clone());
        let call = ToolCall {
            tool: ToolRef {
                name: match ToolName::new(job.tool.name()) {
                    Ok(name) => name,
                    Err(_) => return,
                },
                digest: job.descriptor,
            },
            args: job.call.arguments.as_bytes().to_vec(),
            turn: id.turn.clone(),
            operation: Some(OperationId::of(&id)),
        };
        let explained = ToolActionReview.review(self.k.tools().get(&call.tool.name), &call);
        let turn = self.e.jobs.get(&id.turn);
        let again = turn.and_then(|turn| turn.asked_by.clone());
        let asked_by = again.unwrap_or_else(|| match turn.map(|turn| (&turn.via, turn.provider.label())) {
            Some((Via::Tool(name), _)) => format!("you, with /tool:{name}"),
            Some((Via::Undo(_), _)) => "you, with Undo".to_owned(),
            Some((_, label)) if !job.call.wire_id.is_empty() => format!("AI Echo ({label})"),
            _ => "AI Echo".to_owned(),
        });
        // The model's own words, never those of a tool's result.
        let said = turn
            .and_then(|turn| turn.wire.iter().rev().find(|message| message.role == Role::Assistant))
            .map(|message| message.content.clone())
            .unwrap_or_default();
        let review = OpenReview {
            call: id.clone(),
            tool: job.tool.name().to_owned(),
            title: job.tool.definition().title.to_owned(),
            arguments: job.call.arguments.clone(),
            digest,
            asked_by,
            why: said,
            explanation: format!(
                "{} It can touch only {} in /mnt/{}.",
                explained.explanation, proposal.path, proposal.mount
            ),
            danger: *danger,
            since: self.now,
            shown_anew: job.shown_anew,
            proposal: proposal.clone(),
        };
        let record = ReviewRecord {
            call: job.call.clone(),
            proposal: proposal.clone(),
            at: self.now,
            asked_by: review.asked_by.clone(),
        };
        let lead = if job.shown_anew { "The file changed meanwhile; the change is shown anew. " } else { "" };
        self.e.reviews.insert(id.clone(), review);
        self.set_tool(&id, |state, summary, _| {
            *state = ToolState::Reviewing;
            *summary = proposal.sentence();
        });
        self.store(StoreOp::PutReview(record));
        self.announce(format!("{lead}Press F8 to review: {}.", proposal.sentence()));
    }

    pub(super) fn approve(&mut self, id: CallId, confirmation: Confirmation) {
        if self.e.read_only {
            return self.refuse(super::keep::read_only());
        }
        let gone = Refusal::new("ReviewGone", "The approval", "an open review", "the review is not open any more");
        let Some(digest) = self.e.reviews.get(&id).map(|review| review.digest) else { return self.refuse(gone) };
        let Some(job) = self.e.calls.get_mut(&id) else { return self.refuse(gone) };
        let Some((held, danger)) = job.held.take() else { return self.refuse(gone) };
        let seq = confirmation.gesture_seq();
        match held.redeem(digest, confirmation) {
            Ok(permit) => {
                job.permit = Some(permit);
                job.confirmed = Some((digest, seq));
                // The stored proposal stays until the operation is closed: recovery needs it.
                self.e.reviews.remove(&id);
                self.set_tool(&id, |state, _, _| *state = ToolState::Running);
                self.inbox.push_back(TurnMsg::Decided(id, Decision::Approved));
            }
            Err((refusal, held)) => {
                job.held = Some((held, danger));
                self.refuse(refusal);
            }
        }
    }

    pub(super) fn reject(&mut self, id: CallId) {
        if self.e.reviews.contains_key(&id) {
            self.close_review(&id);
            self.inbox.push_back(TurnMsg::Decided(id, Decision::Rejected));
        }
    }

    fn close_review(&mut self, id: &CallId) {
        if self.e.reviews.remove(id).is_some() {
            self.store(StoreOp::DeleteReview(OperationId::of(id)));
        }
    }

    pub(super) fn withdraw(&mut self, id: &CallId) {
        self.close_review(id);
        self.cancel_call(id);
    }

    pub(super) fn undo(&mut self, operation: OperationId) {
        if self.e.read_only {
            return self.refuse(super::keep::read_only());
        }
        let id = operation.call().turn.conversation.clone();
        match self.e.receipts.get(&operation).filter(|receipt| receipt.can_undo()) {
            Some(receipt) => {
                let words = format!("Undo the change to {}.", receipt.path);
                let arguments = serde_json::json!({ "operation": operation.to_string() }).to_string();
                self.scripted(&id, Tool::FilesUndo, arguments, Via::Undo(operation), None, &words);
            }
            None => self.refuse(Refusal::new(
                "UndoUnknown",
                &operation.to_string(),
                "a change whose old content is kept",
                "there is none",
            )),
        }
    }

    // Records.

    pub(super) fn record(&mut self, operation: OperationId, phase: OpPhase) {
        let call = operation.call().clone();
        let known = self.e.calls.get(&call).and_then(|job| Some((job, job.proposal.as_ref()?, job.confirmed?)));
        let Some((job, proposal, (confirmed, gesture_seq))) = known else {
            // Without a reviewed proposal there is nothing to record, so nothing may be called.
            let why = "there is no reviewed proposal".to_owned();
            return self.inbox.push_back(TurnMsg::RecordFailed(operation, phase, why));
        };
        let record = OperationRecord {
            operation: operation.clone(),
            phase,
            tool: job.tool.name().to_owned(),
            descriptor: job.descriptor,
            arguments: Digest::of(job.call.arguments.as_bytes()),
            mount: proposal.mount.clone(),
            path: proposal.path.clone(),
            confirmed,
            before: proposal.before_digest(),
            after: proposal.after_digest(),
            at: self.now,
        };
        let effect = match phase {
            OpPhase::Settled(effect @ Applied::Applied) => Some(effect),
            OpPhase::ReconcileRequired => Some(Applied::Unknown),
            _ => None,
        };
        let before = proposal.before.clone();
        let receipt = effect.map(|effect| Receipt::of(&record, before, gesture_seq, effect));
        if let Some(receipt) = &receipt {
            self.e.receipts.insert(operation.clone(), receipt.clone());
        }
        let id = self.store(StoreOp::PutOperation(record, receipt));
        self.e.waits.insert(id, (operation, phase));
    }

    pub(super) fn settled(&mut self, id: &CallId, effect: Applied, late: bool, unsaved: Option<String>) {
        let Some(job) = self.e.calls.get(id) else { return };
        let outcome = job.outcome.clone();
        let operation = OperationId::of(id);
        let has_receipt = self.e.receipts.contains_key(&operation);
        let words = match (&outcome, effect) {
            (_, Applied::Unknown) => "It is not known whether the change was made. Look at the file.".to_owned(),
            (Some(outcome), _) => outcome.summary.clone(),
            (None, _) => "Nothing was changed: the turn was stopped before the change was made.".to_owned(),
        };
        let stopped = outcome.is_none();
        let told = !stopped && effect == Applied::NotApplied && self.answers_by_template(&id.turn);
        let conversation = id.turn.conversation.clone();
        if let Some(item) = self.e.conversations.get_mut(&conversation).and_then(|c| c.call(id))
            && let ItemKind::Tool { receipt, .. } = &mut item.kind
        {
            *receipt = has_receipt.then_some(operation);
        }
        self.set_tool(id, |state, summary, _| {
            summary.clone_from(&words);
            *state = match effect {
                Applied::Applied => ToolState::Done,
                Applied::Unknown => ToolState::Unknown,
                Applied::None | Applied::NotApplied if stopped => ToolState::Cancelled,
                Applied::None | Applied::NotApplied => ToolState::Failed(words.clone()),
            };
            if told {
                said_below(state, summary);
            }
        });
        if let Some(why) = unsaved {
            self.refuse(Refusal::new(
                "ReceiptNotSaved",
                "Saving the receipt",
                "room and access to this browser's storage",
                &why,
            ));
        }
        if late {
            let turn = id.turn.turn;
            self.notice(&conversation, turn, &format!("After the stop: {words}"));
            self.e.calls.remove(id);
        } else if let Some(outcome) = outcome {
            self.result(id, &outcome);
        }
    }

    pub(super) fn shown_anew(&mut self, old: &CallId, new: CallId) {
        self.set_tool(old, |state, _, _| *state = ToolState::ShownAnew);
        if let Some(job) = self.e.jobs.get_mut(&old.turn)
            && let Some(made) = job.made.get(old).cloned()
        {
            job.made.insert(new.clone(), made);
        }
        let Some(job) = self.e.calls.get_mut(old) else { return };
        let call = Call { id: new.clone(), ..job.call.clone() };
        let again = CallJob {
            call: call.clone(),
            tool: job.tool,
            mount: job.mount.clone(),
            descriptor: job.descriptor,
            arguments: job.arguments.clone(),
            permit: None,
            held: None,
            proposal: None,
            confirmed: None,
            outcome: None,
            shown_anew: true,
        };
        self.e.calls.insert(new, again);
        self.push_tool(&call);
    }

    // Running and results.

    pub(super) fn call_tool(&mut self, id: CallId) {
        let Some(job) = self.e.calls.get_mut(&id) else { return };
        let Some(permit) = job.permit.take() else {
            return self.observed(
                id,
                Outcome::failed(&Refusal::new("NoPermit", "The call", "a permit of the router", "none")),
            );
        };
        // Last look before anything happens: the tool must be what was offered and reviewed.
        let drifted = match app_id() {
            Ok(app) => {
                self.k.router().eligible(&permit.tool().name, &app).map(|tool| tool.digest != permit.tool().digest)
            }
            Err(_) => Ok(true),
        };
        let refusal = match drifted {
            Ok(false) => None,
            Ok(true) => Some(Refusal::from(kernel::tools::ToolRefusal::DescriptorDrift(permit.tool().name.clone()))),
            Err(why) => Some(why.into()),
        };
        if let Some(refusal) = refusal {
            let effect = if job.tool.definition().mutates { Applied::NotApplied } else { Applied::None };
            self.refuse(refusal.clone());
            return self.observed(id, Outcome { effect, ..Outcome::failed(&refusal) });
        }
        if let Some(proposal) = job.proposal.clone() {
            return self.pump(FsWork::Apply(id, Apply::new(proposal)), Vec::new());
        }
        let tool = job.tool;
        let around = match &job.mount {
            Some(mount) => Some(Surroundings { mount: mount.clone(), now: self.now, zone: self.e.zone.clone() }),
            // Tools that need no folder still want a name for where they are.
            None => kernel::MountId::new("none").ok().map(|mount| Surroundings {
                mount,
                now: self.now,
                zone: self.e.zone.clone(),
            }),
        };
        let Some(around) = around else { return };
        self.set_tool(&id, |state, _, _| *state = ToolState::Running);
        match Run::start(tool, permit.args(), &around) {
            Ok(run) => self.pump(FsWork::Run(id, run), Vec::new()),
            Err(refusal) => self.observed(id, Outcome::failed(&refusal)),
        }
    }

    pub(super) fn cancel_call(&mut self, id: &CallId) {
        self.e.fs.retain(|_, work| match work {
            FsWork::Propose(call, _) | FsWork::Run(call, _) => call != id,
            // A change that was begun is heard to its end.
            FsWork::Apply(..) | FsWork::Fill(..) | FsWork::Guide(..) | FsWork::Admit(..) | FsWork::Recover(_) => true,
        });
        self.set_tool(id, |state, _, _| *state = ToolState::Cancelled);
    }

    pub(super) fn observed(&mut self, id: CallId, mut outcome: Outcome) {
        if let Some(app) = outcome.open.take().filter(|_| outcome.ok) {
            match self.openable(&app) {
                Ok(app) => self.out.push(Effect::OpenApp(app)),
                Err(refusal) => outcome = Outcome::failed(&refusal),
            }
        }
        let Some(job) = self.e.calls.get_mut(&id) else { return };
        let (effect, changed) = (outcome.effect, outcome.changed);
        job.outcome = Some(outcome.clone());
        if !job.tool.definition().mutates {
            let told = !outcome.ok && self.answers_by_template(&id.turn);
            self.set_tool(&id, |state, summary, _| {
                summary.clone_from(&outcome.summary);
                *state = if outcome.ok { ToolState::Done } else { ToolState::Failed(outcome.text.clone()) };
                if told {
                    said_below(state, summary);
                }
            });
            self.result(&id, &outcome);
        }
        self.inbox.push_back(TurnMsg::Observed { call: id, effect, changed });
    }

    fn openable(&self, app: &str) -> Result<AppId, Refusal> {
        let id = AppId::new(app)?;
        let entry = self.k.apps().live(&id, self.k.packages())?;
        if entry.launchable {
            Ok(id)
        } else {
            Err(Refusal::new("AppHidden", app, "an app with a window", "it cannot be opened"))
        }
    }

    /// A result enters the transcript as a preview and the prompt as framed, bounded data.
    fn result(&mut self, id: &CallId, outcome: &Outcome) {
        let Some(job) = self.e.calls.get(id) else { return };
        let (wire_id, tool) = (job.call.wire_id.clone(), job.call.tool.clone());
        let origin = match ToolName::new(&tool) {
            Ok(name) if outcome.ok => ObservationOrigin::Tool(name),
            _ => ObservationOrigin::Refusal,
        };
        let observation = UntrustedObservation::new(outcome.text.as_bytes(), origin);
        let conversation = id.turn.conversation.clone();
        if let Some(item) = self.e.conversations.get_mut(&conversation).and_then(|c| c.call(id))
            && let ItemKind::Tool { result, .. } = &mut item.kind
        {
            *result = Some((observation.total() as u64, observation.digest()));
        }
        self.set_tool(id, |_, _, preview| *preview = observation.text(MAX_PREVIEW));
        self.tell_model(&id.turn, &wire_id, &tool, &observation);
    }

    fn tell_model(&mut self, turn: &TurnKey, wire_id: &str, tool: &str, observation: &UntrustedObservation) {
        let Some(job) = self.e.jobs.get_mut(turn) else { return };
        let framed = frame(tool, observation, Budget::of(&job.provider).result);
        if wire_id.is_empty() {
            if !job.by_template {
                job.evidence.push(framed);
            }
        } else {
            job.wire.push(Message::tool(wire_id, framed));
        }
    }

    fn no_result(&mut self, id: &CallId, wire_id: &str, tool: &str, words: &str) {
        let observation = UntrustedObservation::new(words.as_bytes(), ObservationOrigin::Refusal);
        self.tell_model(&id.turn, wire_id, tool, &observation);
        if let Some(job) = self.e.jobs.get_mut(&id.turn)
            && job.by_template
        {
            job.last_call = None;
            job.evidence = vec![words.to_owned()];
        }
    }

    pub(super) fn call_refused(&mut self, id: &CallId, refusal: Refusal) {
        let words = refusal.plain();
        self.refuse(refusal);
        if self.e.calls.get(id).is_some_and(|job| job.confirmed.is_some()) {
            // Approved, but never recorded: nothing is left to show again.
            self.store(StoreOp::DeleteReview(OperationId::of(id)));
        }
        let told = self.answers_by_template(&id.turn);
        self.set_tool(id, |state, summary, preview| {
            *state = ToolState::Refused(words.clone());
            preview.clone_from(&words);
            if told {
                said_below(state, summary);
            }
        });
        let (wire_id, tool) = self.wire_of(id);
        self.no_result(id, &wire_id, &tool, &words);
    }

    pub(super) fn call_rejected(&mut self, id: &CallId) {
        self.set_tool(id, |state, _, _| *state = ToolState::Rejected);
        let (wire_id, tool) = self.wire_of(id);
        self.no_result(id, &wire_id, &tool, "You rejected this change. Nothing was changed.");
    }

    /// The turn's answer will be the result in the product's own words.
    fn answers_by_template(&self, turn: &TurnKey) -> bool {
        self.e.jobs.get(turn).is_some_and(|job| job.by_template)
    }

    /// How the model knows a call, also one that the router never let in.
    fn wire_of(&self, id: &CallId) -> (String, String) {
        self.e.jobs.get(&id.turn).and_then(|job| job.made.get(id)).cloned().unwrap_or_default()
    }
}

/// The answer that follows says why, so the call itself does not say it as well. Its details
/// still hold the words.
fn said_below(state: &mut ToolState, summary: &mut String) {
    summary.clear();
    match state {
        ToolState::Refused(words) | ToolState::Failed(words) => words.clear(),
        _ => {}
    }
}
