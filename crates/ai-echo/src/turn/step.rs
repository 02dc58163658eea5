//! The transitions.

use kernel::{CallId, Instant, OperationId, Refusal, TurnKey};
use models::{Ask, FinishReason, ModelError, ModelErrorKind, ModelEvent, RunId};

use super::operation::Stage;
use super::{
    Active, Call, Cause, Decision, Effect, MAX_CALLS, MAX_QUEUE, MAX_ROUNDS, MAX_SHOWN_ANEW, OpPhase, Phase, Plan,
    Routed, TurnEffect, TurnEnd, TurnFailure, TurnMsg, Turns,
};

/// Takes what happened and says what is to be done. Messages that belong to nothing any more
/// change nothing.
pub fn step(state: &mut Turns, msg: TurnMsg, now: Instant) -> Vec<TurnEffect> {
    let mut driver = Driver { state, now, out: Vec::new() };
    match msg {
        TurnMsg::Submit(turn) => driver.submit(turn),
        TurnMsg::Stop(turn) => driver.stop(turn),
        TurnMsg::Planned(run, plan) => driver.planned(run, plan),
        TurnMsg::Model(run, event) => driver.model(run, event),
        TurnMsg::Routed(call, routed) => driver.routed(&call, routed),
        TurnMsg::ReviewFailed(call, refusal) => {
            if driver.phase() == Some(&Phase::Reviewing(call.clone())) {
                driver.refuse(call, refusal);
            }
        }
        TurnMsg::Decided(call, decision) => driver.decided(call, decision),
        TurnMsg::Recorded(operation, phase) => driver.recorded(operation, phase, None),
        TurnMsg::RecordFailed(operation, phase, why) => driver.recorded(operation, phase, Some(why)),
        TurnMsg::Observed { call, effect, changed } => driver.observed(call, effect, changed),
    }
    driver.out
}

struct Driver<'a> {
    state: &'a mut Turns,
    now: Instant,
    out: Vec<TurnEffect>,
}

impl Driver<'_> {
    fn phase(&self) -> Option<&Phase> {
        self.state.active.as_ref().map(|active| &active.phase)
    }

    fn set(&mut self, phase: Phase) {
        if let Some(active) = &mut self.state.active {
            active.phase = phase;
        }
    }

    // Turns.

    fn submit(&mut self, turn: TurnKey) {
        if self.state.newest.get(&turn.conversation).is_some_and(|newest| turn.turn <= *newest) {
            return;
        }
        if self.state.queue.len() == MAX_QUEUE {
            return self.out.push(TurnEffect::QueueFull(turn));
        }
        self.state.newest.insert(turn.conversation.clone(), turn.turn);
        self.state.queue.push_back(turn);
        self.start_next();
    }

    fn start_next(&mut self) {
        if self.state.active.is_some() {
            return;
        }
        let Some(turn) = self.state.queue.pop_front() else { return };
        self.state.active = Some(Active {
            turn: turn.clone(),
            phase: Phase::Planning(RunId(0)),
            since: self.now,
            rounds: 0,
            made: 0,
            shown_anew: 0,
            pending: Default::default(),
            current: None,
        });
        self.out.push(TurnEffect::Began(turn));
        self.plan(Cause::Start);
    }

    fn plan(&mut self, cause: Cause) {
        self.state.last_run += 1;
        let run = RunId(self.state.last_run);
        let Some(active) = &mut self.state.active else { return };
        active.phase = Phase::Planning(run);
        let last = active.rounds + 1 >= MAX_ROUNDS || active.made >= MAX_CALLS;
        self.out.push(TurnEffect::Plan { turn: active.turn.clone(), run, cause, last });
    }

    fn end(&mut self, end: TurnEnd) {
        if let Some(active) = self.state.active.take() {
            self.out.push(TurnEffect::Ended(active.turn, end, self.now));
            self.start_next();
        }
    }

    fn fail(&mut self, error: ModelError) {
        self.end(TurnEnd::Failed(TurnFailure::Model(error)));
    }

    fn stop(&mut self, turn: Option<TurnKey>) {
        if let Some(turn) = &turn
            && let Some(at) = self.state.queue.iter().position(|waiting| waiting == turn)
        {
            self.state.queue.remove(at);
            return self.out.push(TurnEffect::Ended(turn.clone(), TurnEnd::Cancelled, self.now));
        }
        let Some(active) = &self.state.active else { return };
        if turn.is_some_and(|turn| turn != active.turn) {
            return;
        }
        match &active.phase {
            Phase::Asking { run, .. } => self.out.push(TurnEffect::CancelRun(*run)),
            Phase::Reviewing(call) => self.out.push(TurnEffect::WithdrawReview(call.clone())),
            Phase::Calling(call) => self.out.push(TurnEffect::CancelCall(call.clone())),
            // A recorded operation is brought to its end without the turn.
            Phase::Planning(_) | Phase::Routing(_) | Phase::Operating(_) => {}
        }
        self.end(TurnEnd::Cancelled);
    }

    // The planner and the model.

    fn planned(&mut self, run: RunId, plan: Plan) {
        if self.phase() != Some(&Phase::Planning(run)) {
            return;
        }
        let Some(active) = &mut self.state.active else { return };
        let turn = active.turn.clone();
        match plan {
            Plan::Ask(ask) if ask.run() != run => {
                self.end(TurnEnd::Failed(TurnFailure::Plan("the question belongs to another run".to_owned())));
            }
            Plan::Ask(_) if active.rounds == MAX_ROUNDS => self.end(TurnEnd::Failed(TurnFailure::TooManyCalls)),
            Plan::Ask(ask) => {
                active.rounds += 1;
                let score = matches!(*ask, Ask::Score { .. });
                active.phase = Phase::Asking { run, score, said: false, calls: Vec::new() };
                self.out.push(TurnEffect::Ask(turn, ask));
            }
            Plan::Call { tool, arguments } => self.take_calls(vec![(String::new(), tool, arguments)]),
            Plan::Answer(text) if text.trim().is_empty() => self.fail(ModelError::new(ModelErrorKind::Empty)),
            Plan::Answer(text) => {
                self.out.push(TurnEffect::Text(turn, text));
                self.end(TurnEnd::Completed { cut: false });
            }
            Plan::Question(text) => {
                self.out.push(TurnEffect::Text(turn, text.clone()));
                self.end(TurnEnd::NeedsAttention(text));
            }
            Plan::Fail(words) => self.end(TurnEnd::Failed(TurnFailure::Plan(words))),
        }
    }

    fn model(&mut self, run: RunId, event: ModelEvent) {
        let Some(active) = &mut self.state.active else { return };
        let turn = active.turn.clone();
        let Phase::Asking { run: asked, score, said, calls } = &mut active.phase else { return };
        if *asked != run {
            return;
        }
        match event {
            ModelEvent::Delta(_) | ModelEvent::ToolCall { .. } if *score => {}
            ModelEvent::Delta(text) => {
                *said |= !text.trim().is_empty();
                self.out.push(TurnEffect::Text(turn, text));
            }
            ModelEvent::ToolCall { id, name, arguments } => {
                if calls.len() < MAX_CALLS as usize + 1 {
                    calls.push((id, name, arguments));
                }
            }
            ModelEvent::Scores(scores) if *score => self.plan(Cause::Scores(scores)),
            ModelEvent::Scores(_) => {}
            ModelEvent::Finished { .. } if *score => self.fail(ModelError::new(ModelErrorKind::BrokenStream)),
            ModelEvent::Finished { reason: FinishReason::Cancelled, .. } => self.end(TurnEnd::Cancelled),
            ModelEvent::Finished { reason, .. } => {
                let (said, calls) = (*said, std::mem::take(calls));
                if !calls.is_empty() {
                    self.take_calls(calls);
                } else if said {
                    self.end(TurnEnd::Completed {
                        cut: matches!(reason, FinishReason::Length | FinishReason::Filtered),
                    });
                } else {
                    self.fail(ModelError::new(ModelErrorKind::Empty));
                }
            }
            ModelEvent::Failed(error) => self.fail(error),
            shown @ (ModelEvent::Started
            | ModelEvent::Prefill { .. }
            | ModelEvent::Trimmed { .. }
            | ModelEvent::Diagnostic(_)) => self.out.push(TurnEffect::Shown(turn, shown)),
        }
    }

    // Tools.

    fn take_calls(&mut self, calls: Vec<(String, String, String)>) {
        let Some(active) = &mut self.state.active else { return };
        if active.made as usize + calls.len() > MAX_CALLS as usize {
            return self.end(TurnEnd::Failed(TurnFailure::TooManyCalls));
        }
        let calls: Vec<Call> = calls
            .into_iter()
            .map(|(wire_id, tool, arguments)| {
                active.made += 1;
                Call { id: CallId { turn: active.turn.clone(), n: active.made }, wire_id, tool, arguments }
            })
            .collect();
        active.pending.extend(calls.iter().cloned());
        self.out.push(TurnEffect::Calls(active.turn.clone(), calls));
        self.next_call();
    }

    fn next_call(&mut self) {
        let Some(active) = &mut self.state.active else { return };
        active.current = active.pending.pop_front();
        match active.current.clone() {
            Some(call) => {
                active.phase = Phase::Routing(call.id.clone());
                self.out.push(TurnEffect::Route(call));
            }
            None => self.plan(Cause::Results),
        }
    }

    fn refuse(&mut self, call: CallId, refusal: Refusal) {
        self.out.push(TurnEffect::Refused(call, refusal));
        self.next_call();
    }

    fn routed(&mut self, call: &CallId, routed: Routed) {
        if self.phase() != Some(&Phase::Routing(call.clone())) {
            return;
        }
        match routed {
            Routed::Refused(refusal) => self.refuse(call.clone(), refusal),
            Routed::Read => {
                self.set(Phase::Calling(call.clone()));
                self.out.push(TurnEffect::CallTool(call.clone()));
            }
            Routed::Review if self.has_open_operation(call) => {
                let refusal = Refusal::new(
                    "OperationInFlight",
                    "The change",
                    "the earlier change of this conversation to be settled",
                    "an earlier change is not settled yet",
                );
                self.refuse(call.clone(), refusal);
            }
            Routed::Review => {
                self.set(Phase::Reviewing(call.clone()));
                self.out.push(TurnEffect::Review(call.clone()));
            }
        }
    }

    /// I-53: at most one unresolved operation a conversation.
    fn has_open_operation(&self, call: &CallId) -> bool {
        self.state.operations.keys().any(|open| open.call().turn.conversation == call.turn.conversation)
    }

    fn decided(&mut self, call: CallId, decision: Decision) {
        if self.phase() != Some(&Phase::Reviewing(call.clone())) {
            return;
        }
        match decision {
            Decision::Rejected => {
                self.out.push(TurnEffect::Rejected(call));
                self.next_call();
            }
            Decision::Approved => {
                let operation = OperationId::of(&call);
                self.set(Phase::Operating(call));
                self.record(operation, OpPhase::Prepared);
            }
        }
    }

    fn record(&mut self, operation: OperationId, phase: OpPhase) {
        self.state.operations.insert(operation.clone(), Stage::Recording(phase));
        self.out.push(TurnEffect::Record(operation, phase));
    }

    fn close(&mut self, operation: OperationId, phase: OpPhase, effect: Effect, changed: bool) {
        self.state.operations.insert(operation.clone(), Stage::Closing { phase, effect, changed });
        self.out.push(TurnEffect::Record(operation, phase));
    }

    /// Whether the turn of this operation still waits for it.
    fn is_wanted(&self, call: &CallId) -> bool {
        self.phase() == Some(&Phase::Operating(call.clone()))
    }

    fn recorded(&mut self, operation: OperationId, phase: OpPhase, failed: Option<String>) {
        let call = operation.call().clone();
        let wanted = self.is_wanted(&call);
        match self.state.operations.get(&operation).copied() {
            Some(Stage::Recording(waited)) if waited == phase => match (phase, failed) {
                (OpPhase::Prepared, Some(why)) => {
                    // Nothing durable, nothing called (I-50).
                    self.state.operations.remove(&operation);
                    if wanted {
                        self.refuse(call, unrecorded(&why));
                    }
                }
                (OpPhase::Prepared, None) if wanted => self.record(operation, OpPhase::Dispatched),
                (OpPhase::Prepared, None) | (_, Some(_)) => {
                    self.close(operation, OpPhase::AbortedZeroEffect, Effect::NotApplied, false);
                }
                (_, None) if wanted => {
                    self.state.operations.insert(operation, Stage::InFlight);
                    self.out.push(TurnEffect::CallTool(call));
                }
                // Stopped between the record and the call: it was never made, and we know it.
                (_, None) => self.close(operation, OpPhase::Settled(Effect::NotApplied), Effect::NotApplied, false),
            },
            Some(Stage::Closing { phase: waited, effect, changed }) if waited == phase => {
                self.state.operations.remove(&operation);
                let unsaved = failed.is_some();
                self.out.push(TurnEffect::Settled { call: call.clone(), effect, late: !wanted, unsaved: failed });
                if wanted {
                    self.after_settlement(call, phase, effect, changed, unsaved);
                }
            }
            _ => {}
        }
    }

    fn after_settlement(&mut self, call: CallId, phase: OpPhase, effect: Effect, changed: bool, unsaved: bool) {
        if unsaved {
            return self.end(TurnEnd::NeedsAttention(
                "The change was made, but its receipt could not be saved. Look at the file before going on.".to_owned(),
            ));
        }
        if effect == Effect::Unknown {
            return self.end(TurnEnd::NeedsAttention(
                "It is not known whether the change was made. Look at the file before going on.".to_owned(),
            ));
        }
        if phase == OpPhase::AbortedZeroEffect {
            return self.refuse(call, unrecorded("the record right before the call could not be saved"));
        }
        let Some(active) = &mut self.state.active else { return };
        if changed && effect == Effect::NotApplied && active.shown_anew < MAX_SHOWN_ANEW && active.made < MAX_CALLS {
            // A retry is a new operation with a new id and a new before-digest (I-56).
            active.shown_anew += 1;
            active.made += 1;
            if let Some(mut again) = active.current.take() {
                again.id = CallId { turn: active.turn.clone(), n: active.made };
                self.out.push(TurnEffect::ShownAnew { old: call, new: again.id.clone() });
                active.pending.push_front(again);
            }
        }
        self.next_call();
    }

    fn observed(&mut self, call: CallId, effect: Effect, changed: bool) {
        if self.phase() == Some(&Phase::Calling(call.clone())) {
            return self.next_call();
        }
        let operation = OperationId::of(&call);
        if self.state.operations.get(&operation) == Some(&Stage::InFlight) {
            // A mutating tool always says which; silence about it is ignorance.
            let (phase, effect) = match effect {
                Effect::Unknown | Effect::None => (OpPhase::ReconcileRequired, Effect::Unknown),
                known => (OpPhase::Settled(known), known),
            };
            self.close(operation, phase, effect, changed);
        }
    }
}

fn unrecorded(why: &str) -> Refusal {
    Refusal::new("NotRecorded", "The change", "its record to be saved first", why)
}
