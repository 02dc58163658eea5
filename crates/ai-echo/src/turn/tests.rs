//! Scripts of single turns, and thousands of seeded random orders with the invariants.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{CallId, ConversationId, Instant, OperationId, Refusal, TurnKey};
use models::{Ask, FinishReason, Message, ModelError, ModelErrorKind, ModelEvent, ModelRequest, RunId, Sampling};

use super::*;

fn turn(n: u64) -> TurnKey {
    TurnKey { conversation: ConversationId::new("c1").expect("id"), turn: n }
}

fn call(t: u64, n: u32) -> CallId {
    CallId { turn: turn(t), n }
}

fn now() -> Instant {
    Instant::default()
}

fn chat(run: RunId) -> Plan {
    let request = ModelRequest {
        run,
        messages: vec![Message::user("q")],
        tools: vec![],
        sampling: Sampling::REMOTE,
        max_tokens: 9,
    };
    Plan::Ask(Box::new(Ask::Chat(request)))
}

fn go(state: &mut Turns, msg: TurnMsg) -> Vec<TurnEffect> {
    step(state, msg, now())
}

fn done(reason: FinishReason) -> ModelEvent {
    ModelEvent::Finished { reason, usage: None }
}

fn tool_call() -> ModelEvent {
    ModelEvent::ToolCall { id: "w".into(), name: "files.write".into(), arguments: "{}".into() }
}

/// Submits a turn and brings it to the model; the run that is asked.
fn asked(state: &mut Turns, t: u64) -> RunId {
    let effects = go(state, TurnMsg::Submit(turn(t)));
    let Some(TurnEffect::Plan { run, .. }) = effects.last() else { panic!("{effects:?}") };
    let run = *run;
    assert!(matches!(go(state, TurnMsg::Planned(run, chat(run)))[..], [TurnEffect::Ask(..)]));
    run
}

fn end_of(effects: &[TurnEffect]) -> &TurnEnd {
    effects
        .iter()
        .find_map(|e| match e {
            TurnEffect::Ended(_, end, _) => Some(end),
            _ => None,
        })
        .unwrap_or_else(|| panic!("no end in {effects:?}"))
}

/// A turn at the review of its first call.
fn reviewing(state: &mut Turns, t: u64) -> CallId {
    let run = asked(state, t);
    go(state, TurnMsg::Model(run, tool_call()));
    go(state, TurnMsg::Model(run, done(FinishReason::ToolCalls)));
    let id = call(t, 1);
    assert_eq!(go(state, TurnMsg::Routed(id.clone(), Routed::Review)), [TurnEffect::Review(id.clone())]);
    id
}

#[test]
fn an_answer_streams_and_completes() {
    let mut s = Turns::default();
    let run = asked(&mut s, 1);
    assert_eq!(go(&mut s, TurnMsg::Model(run, ModelEvent::Delta("a".into()))), [TurnEffect::Text(turn(1), "a".into())]);
    assert_eq!(go(&mut s, TurnMsg::Model(run, ModelEvent::Delta("b".into()))), [TurnEffect::Text(turn(1), "b".into())]);
    let end = go(&mut s, TurnMsg::Model(run, done(FinishReason::Length)));
    assert_eq!(end_of(&end), &TurnEnd::Completed { cut: true });
    assert!(s.is_idle());
    assert_eq!(go(&mut s, TurnMsg::Model(run, ModelEvent::Delta("late".into()))), []);
}

#[test]
fn field_6h2_one_submission_is_one_turn() {
    let mut s = Turns::default();
    let first = go(&mut s, TurnMsg::Submit(turn(1)));
    assert_eq!(first.iter().filter(|e| matches!(e, TurnEffect::Began(_))).count(), 1);
    assert_eq!(go(&mut s, TurnMsg::Submit(turn(1))), [], "the second Enter finds the turn running");
    go(&mut s, TurnMsg::Submit(turn(2)));
    assert_eq!(go(&mut s, TurnMsg::Submit(turn(2))), [], "or waiting");
    assert_eq!(s.queue().len(), 1);
}

#[test]
fn field_6h4_stop_before_the_first_token_and_the_next_turn_answers() {
    let mut s = Turns::default();
    let first = asked(&mut s, 1);
    let stopped = go(&mut s, TurnMsg::Stop(None));
    assert_eq!(stopped[0], TurnEffect::CancelRun(first));
    assert_eq!(end_of(&stopped), &TurnEnd::Cancelled);
    assert_eq!(go(&mut s, TurnMsg::Stop(None)), [], "a second Stop finds nothing");
    let second = asked(&mut s, 2);
    assert_ne!(first, second);
    // What the first run still says reaches nobody.
    for late in [
        ModelEvent::Delta("old".into()),
        done(FinishReason::Cancelled),
        ModelEvent::Failed(ModelError::new(ModelErrorKind::Empty)),
    ] {
        assert_eq!(go(&mut s, TurnMsg::Model(first, late)), []);
    }
    assert_eq!(go(&mut s, TurnMsg::Model(second, ModelEvent::Delta("new".into()))).len(), 1);
    assert_eq!(
        end_of(&go(&mut s, TurnMsg::Model(second, done(FinishReason::Stop)))),
        &TurnEnd::Completed { cut: false }
    );
}

#[test]
fn field_6h4_an_empty_answer_is_never_a_success() {
    for said in ["", " \n\t"] {
        let mut s = Turns::default();
        let run = asked(&mut s, 1);
        go(&mut s, TurnMsg::Model(run, ModelEvent::Delta(said.into())));
        let effects = go(&mut s, TurnMsg::Model(run, done(FinishReason::Stop)));
        assert!(matches!(end_of(&effects), TurnEnd::Failed(TurnFailure::Model(e)) if e.kind == ModelErrorKind::Empty));
    }
    let mut s = Turns::default();
    let effects = go(&mut s, TurnMsg::Submit(turn(1)));
    let Some(TurnEffect::Plan { run, .. }) = effects.last() else { panic!() };
    let effects = go(&mut s, TurnMsg::Planned(*run, Plan::Answer("  ".into())));
    assert!(matches!(end_of(&effects), TurnEnd::Failed(_)));
}

#[test]
fn field_6h5_a_lost_engine_ends_the_turn_and_the_next_one_starts() {
    let mut s = Turns::default();
    let run = asked(&mut s, 1);
    go(&mut s, TurnMsg::Submit(turn(2)));
    let effects = go(&mut s, TurnMsg::Model(run, ModelEvent::Failed(ModelError::new(ModelErrorKind::EngineLost))));
    assert!(matches!(end_of(&effects), TurnEnd::Failed(f) if f.to_string().contains("Local engine lost")));
    assert!(effects.contains(&TurnEffect::Began(turn(2))));
}

#[test]
fn a_change_is_approved_then_recorded_then_made_then_settled() {
    let mut s = Turns::default();
    let id = reviewing(&mut s, 1);
    let op = OperationId::of(&id);
    let approved = TurnMsg::Decided(id.clone(), Decision::Approved);
    assert_eq!(go(&mut s, approved.clone()), [TurnEffect::Record(op.clone(), OpPhase::Prepared)]);
    assert_eq!(go(&mut s, approved), [], "an approval counts once");
    let prepared = TurnMsg::Recorded(op.clone(), OpPhase::Prepared);
    assert_eq!(go(&mut s, prepared.clone()), [TurnEffect::Record(op.clone(), OpPhase::Dispatched)]);
    assert_eq!(go(&mut s, prepared), []);
    let dispatched = TurnMsg::Recorded(op.clone(), OpPhase::Dispatched);
    assert_eq!(go(&mut s, dispatched.clone()), [TurnEffect::CallTool(id.clone())]);
    assert_eq!(go(&mut s, dispatched), [], "nothing is called twice");
    let observed = TurnMsg::Observed { call: id.clone(), effect: Effect::Applied, changed: false };
    let settled = OpPhase::Settled(Effect::Applied);
    assert_eq!(go(&mut s, observed.clone()), [TurnEffect::Record(op.clone(), settled)]);
    assert_eq!(go(&mut s, observed), []);
    let effects = go(&mut s, TurnMsg::Recorded(op, settled));
    assert_eq!(effects[0], TurnEffect::Settled { call: id, effect: Effect::Applied, late: false, unsaved: None });
    assert!(matches!(effects[1], TurnEffect::Plan { cause: Cause::Results, .. }));
}

#[test]
fn a_change_that_cannot_be_recorded_is_not_made() {
    for (phase, records) in [(OpPhase::Prepared, 0), (OpPhase::Dispatched, 1)] {
        let mut s = Turns::default();
        let id = reviewing(&mut s, 1);
        let op = OperationId::of(&id);
        go(&mut s, TurnMsg::Decided(id.clone(), Decision::Approved));
        if phase == OpPhase::Dispatched {
            go(&mut s, TurnMsg::Recorded(op.clone(), OpPhase::Prepared));
        }
        let mut effects = go(&mut s, TurnMsg::RecordFailed(op.clone(), phase, "quota".into()));
        if records == 1 {
            assert_eq!(effects, [TurnEffect::Record(op.clone(), OpPhase::AbortedZeroEffect)]);
            effects = go(&mut s, TurnMsg::Recorded(op, OpPhase::AbortedZeroEffect));
        }
        assert!(
            effects.iter().any(|e| matches!(e, TurnEffect::Refused(_, r) if r.code == "NotRecorded")),
            "{effects:?}"
        );
        assert!(!effects.iter().any(|e| matches!(e, TurnEffect::CallTool(_))));
    }
}

#[test]
fn stop_ends_the_turn_at_once_in_every_phase_and_the_record_tells_the_truth() {
    // At the review.
    let mut s = Turns::default();
    let id = reviewing(&mut s, 1);
    let effects = go(&mut s, TurnMsg::Stop(Some(turn(1))));
    assert_eq!(effects[0], TurnEffect::WithdrawReview(id.clone()));
    assert_eq!(go(&mut s, TurnMsg::Decided(id, Decision::Approved)), [], "a late approval decides nothing");
    // While a record is written: the call is never made, the record is closed.
    for (upto, closing) in
        [(OpPhase::Prepared, OpPhase::AbortedZeroEffect), (OpPhase::Dispatched, OpPhase::Settled(Effect::NotApplied))]
    {
        let mut s = Turns::default();
        let id = reviewing(&mut s, 1);
        let op = OperationId::of(&id);
        go(&mut s, TurnMsg::Decided(id.clone(), Decision::Approved));
        if upto == OpPhase::Dispatched {
            go(&mut s, TurnMsg::Recorded(op.clone(), OpPhase::Prepared));
        }
        assert_eq!(end_of(&go(&mut s, TurnMsg::Stop(None))), &TurnEnd::Cancelled);
        assert_eq!(go(&mut s, TurnMsg::Recorded(op.clone(), upto)), [TurnEffect::Record(op.clone(), closing)]);
        let last = go(&mut s, TurnMsg::Recorded(op, closing));
        assert_eq!(last, [TurnEffect::Settled { call: id, effect: Effect::NotApplied, late: true, unsaved: None }]);
        assert!(s.is_idle());
    }
    // While the tool runs: the turn is over, the effect is still booked.
    let mut s = Turns::default();
    let id = reviewing(&mut s, 1);
    let op = OperationId::of(&id);
    go(&mut s, TurnMsg::Decided(id.clone(), Decision::Approved));
    go(&mut s, TurnMsg::Recorded(op.clone(), OpPhase::Prepared));
    go(&mut s, TurnMsg::Recorded(op.clone(), OpPhase::Dispatched));
    assert_eq!(end_of(&go(&mut s, TurnMsg::Stop(None))), &TurnEnd::Cancelled);
    let applied = OpPhase::Settled(Effect::Applied);
    let effects = go(&mut s, TurnMsg::Observed { call: id.clone(), effect: Effect::Applied, changed: false });
    assert_eq!(effects, [TurnEffect::Record(op.clone(), applied)]);
    assert_eq!(
        go(&mut s, TurnMsg::Recorded(op, applied)),
        [TurnEffect::Settled { call: id, effect: Effect::Applied, late: true, unsaved: None }]
    );
}

#[test]
fn a_second_change_waits_for_the_first_to_be_settled() {
    let mut s = Turns::default();
    let id = reviewing(&mut s, 1);
    go(&mut s, TurnMsg::Decided(id, Decision::Approved));
    go(&mut s, TurnMsg::Stop(None));
    let run = asked(&mut s, 2);
    go(&mut s, TurnMsg::Model(run, tool_call()));
    go(&mut s, TurnMsg::Model(run, done(FinishReason::ToolCalls)));
    let effects = go(&mut s, TurnMsg::Routed(call(2, 1), Routed::Review));
    assert!(matches!(&effects[0], TurnEffect::Refused(_, r) if r.code == "OperationInFlight"));
}

#[test]
fn field_4h2_a_changed_target_is_shown_anew_under_a_new_id_and_not_for_ever() {
    let mut s = Turns::default();
    let mut id = reviewing(&mut s, 1);
    for n in 0..=MAX_SHOWN_ANEW {
        let op = OperationId::of(&id);
        go(&mut s, TurnMsg::Decided(id.clone(), Decision::Approved));
        go(&mut s, TurnMsg::Recorded(op.clone(), OpPhase::Prepared));
        go(&mut s, TurnMsg::Recorded(op.clone(), OpPhase::Dispatched));
        go(&mut s, TurnMsg::Observed { call: id.clone(), effect: Effect::NotApplied, changed: true });
        let effects = go(&mut s, TurnMsg::Recorded(op, OpPhase::Settled(Effect::NotApplied)));
        let new = effects.iter().find_map(|e| match e {
            TurnEffect::ShownAnew { old, new } if *old == id => Some(new.clone()),
            _ => None,
        });
        assert_eq!(new.is_some(), n < MAX_SHOWN_ANEW);
        if let Some(new) = new {
            id = new;
            go(&mut s, TurnMsg::Routed(id.clone(), Routed::Review));
        }
    }
}

#[test]
fn a_model_that_only_calls_tools_is_stopped() {
    let mut s = Turns::default();
    let mut run = asked(&mut s, 1);
    for round in 1u32.. {
        go(&mut s, TurnMsg::Model(run, tool_call()));
        let effects = go(&mut s, TurnMsg::Model(run, done(FinishReason::ToolCalls)));
        assert!(matches!(effects.last(), Some(TurnEffect::Route(_))));
        let effects = go(&mut s, TurnMsg::Routed(call(1, round), Routed::Refused(Refusal::new("X", "", "", ""))));
        let Some(TurnEffect::Plan { run: next, last, .. }) = effects.last() else { panic!("{effects:?}") };
        run = *next;
        assert_eq!(*last, round + 1 >= MAX_ROUNDS, "the planner is told in time");
        let effects = go(&mut s, TurnMsg::Planned(run, chat(run)));
        if round == MAX_ROUNDS {
            assert_eq!(end_of(&effects), &TurnEnd::Failed(TurnFailure::TooManyCalls));
            break;
        }
    }
    let mut s = Turns::default();
    let run = asked(&mut s, 1);
    for _ in 0..1000 {
        go(&mut s, TurnMsg::Model(run, tool_call()));
    }
    let effects = go(&mut s, TurnMsg::Model(run, done(FinishReason::ToolCalls)));
    assert_eq!(end_of(&effects), &TurnEnd::Failed(TurnFailure::TooManyCalls));
}

#[test]
fn the_queue_is_bounded_and_a_waiting_turn_can_be_stopped() {
    let mut s = Turns::default();
    for n in 1..=MAX_QUEUE as u64 + 1 {
        go(&mut s, TurnMsg::Submit(turn(n)));
    }
    assert_eq!(go(&mut s, TurnMsg::Submit(turn(99))), [TurnEffect::QueueFull(turn(99))]);
    assert_eq!(end_of(&go(&mut s, TurnMsg::Stop(Some(turn(5))))), &TurnEnd::Cancelled);
    assert_eq!(s.active().map(|a| &a.turn), Some(&turn(1)));
    assert_eq!(go(&mut s, TurnMsg::Stop(Some(turn(42)))), []);
}

/// A small generator; the seed is printed when an invariant falls.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Everything that was seen, to hold the invariants against.
#[derive(Default)]
struct World {
    began: BTreeSet<TurnKey>,
    ended: BTreeSet<TurnKey>,
    asked: BTreeSet<RunId>,
    called: BTreeSet<CallId>,
    reviewed: BTreeSet<CallId>,
    approved: BTreeSet<CallId>,
    reading: BTreeSet<CallId>,
    records: BTreeMap<OperationId, Vec<OpPhase>>,
    durable: BTreeSet<(OperationId, String)>,
    runs: Vec<RunId>,
    calls: Vec<CallId>,
    waiting_records: Vec<(OperationId, OpPhase)>,
}

impl World {
    fn see(&mut self, effect: &TurnEffect) {
        match effect {
            TurnEffect::Began(t) => assert!(self.began.insert(t.clone()), "{t} began twice"),
            TurnEffect::Ended(t, ..) => assert!(self.ended.insert(t.clone()), "{t} ended twice"),
            TurnEffect::Text(t, _) | TurnEffect::Shown(t, _) | TurnEffect::Calls(t, _) => {
                assert!(!self.ended.contains(t), "{t} speaks after its end")
            }
            TurnEffect::Plan { turn, run, .. } => {
                assert!(!self.ended.contains(turn));
                self.runs.push(*run);
            }
            TurnEffect::Ask(t, ask) => {
                assert!(!self.ended.contains(t) && self.asked.insert(ask.run()), "{:?} asked twice", ask.run());
            }
            TurnEffect::CancelRun(run) => assert!(self.asked.contains(run)),
            TurnEffect::Route(c) => {
                assert!(!self.calls.contains(&c.id), "{} routed twice", c.id);
                self.calls.push(c.id.clone());
            }
            TurnEffect::Review(c) => assert!(self.reviewed.insert(c.clone())),
            TurnEffect::Record(op, phase) => {
                let of = self.records.entry(op.clone()).or_default();
                assert!(!of.contains(phase), "{op} recorded {phase:?} twice");
                assert!(self.approved.contains(op.call()), "{op} recorded without an approval");
                let from = of.last().copied();
                let allowed = match phase {
                    OpPhase::Prepared => from.is_none(),
                    OpPhase::Dispatched => from == Some(OpPhase::Prepared),
                    // From Dispatched too: its record failed, so the durable one is Prepared.
                    OpPhase::AbortedZeroEffect => !self.called.contains(op.call()),
                    OpPhase::Settled(_) | OpPhase::ReconcileRequired => from == Some(OpPhase::Dispatched),
                };
                assert!(allowed, "{op}: {from:?} to {phase:?}");
                of.push(*phase);
                self.waiting_records.push((op.clone(), *phase));
            }
            TurnEffect::CallTool(c) => {
                assert!(self.called.insert(c.clone()), "{c} called twice");
                assert!(!self.ended.contains(&c.turn), "{c} called after its turn");
                let durable = |phase| self.durable.contains(&(OperationId::of(c), format!("{phase:?}")));
                let recorded = durable(OpPhase::Prepared) && durable(OpPhase::Dispatched);
                assert!(self.reading.contains(c) || recorded, "{c} called before it was recorded");
            }
            _ => {}
        }
    }
}

fn any_msg(rng: &mut Rng, world: &mut World, next_turn: &mut u64) -> TurnMsg {
    let runs = world.runs.len();
    // Mostly something recent, sometimes anything at all.
    let pick = |rng: &mut Rng, len: usize| if rng.below(4) > 0 { len - 1 } else { rng.below(len) };
    let run = if runs > 0 { world.runs[pick(rng, runs)] } else { RunId(rng.below(3) as u64) };
    let calls = world.calls.len();
    let some_call = if calls > 0 { world.calls[pick(rng, calls)].clone() } else { call(1, 1) };
    match rng.below(30) {
        0 | 1 => {
            *next_turn += u64::from(rng.below(5) > 0);
            TurnMsg::Submit(turn(*next_turn))
        }
        2 => TurnMsg::Stop(if rng.below(2) == 0 {
            None
        } else {
            Some(turn(1 + rng.below(*next_turn as usize + 1) as u64))
        }),
        3..=5 => TurnMsg::Planned(
            run,
            match rng.below(7) {
                0 => Plan::Answer("a".into()),
                1 => Plan::Question("q?".into()),
                2 => Plan::Fail("f".into()),
                3 => Plan::Call { tool: "t".into(), arguments: "{}".into() },
                4 => Plan::Ask(Box::new(Ask::Score {
                    run,
                    messages: vec![],
                    assistant_prefix: String::new(),
                    candidates: vec![],
                })),
                _ => chat(run),
            },
        ),
        6..=8 => TurnMsg::Model(run, ModelEvent::Delta(if rng.below(3) == 0 { " ".into() } else { "x".into() })),
        9..=11 => TurnMsg::Model(run, tool_call()),
        12 | 13 => TurnMsg::Model(
            run,
            done(
                [FinishReason::Stop, FinishReason::ToolCalls, FinishReason::Length, FinishReason::Cancelled]
                    [rng.below(4)],
            ),
        ),
        14 => TurnMsg::Model(run, ModelEvent::Failed(ModelError::new(ModelErrorKind::Server))),
        15 => TurnMsg::Model(run, ModelEvent::Scores(vec![0.5])),
        16..=19 => {
            let routed = match rng.below(5) {
                0 => Routed::Refused(Refusal::new("X", "", "", "")),
                1 => Routed::Read,
                _ => Routed::Review,
            };
            // Only the first answer counts, and the world remembers only what it then saw.
            TurnMsg::Routed(some_call, routed)
        }
        20 => TurnMsg::ReviewFailed(some_call, Refusal::new("Y", "", "", "")),
        21..=23 => TurnMsg::Decided(some_call, if rng.below(4) == 0 { Decision::Rejected } else { Decision::Approved }),
        24..=27 if !world.waiting_records.is_empty() => {
            let at = rng.below(world.waiting_records.len());
            let (op, phase) = world.waiting_records[at].clone();
            if rng.below(6) > 0 {
                world.waiting_records.remove(at);
            }
            if rng.below(6) == 0 { TurnMsg::RecordFailed(op, phase, "io".into()) } else { TurnMsg::Recorded(op, phase) }
        }
        _ => {
            let effect = [Effect::None, Effect::Applied, Effect::NotApplied, Effect::Unknown][rng.below(4)];
            TurnMsg::Observed { call: some_call, effect, changed: rng.below(3) == 0 }
        }
    }
}

#[test]
fn random_orders_keep_every_invariant() {
    let (mut ended, mut called, mut changed) = (0, 0, 0);
    for seed in 1..=4000u64 {
        let mut rng = Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let (mut state, mut world, mut next_turn) = (Turns::default(), World::default(), 1);
        for _ in 0..150 {
            let msg = any_msg(&mut rng, &mut world, &mut next_turn);
            let before = state.active().map(|a| a.phase.clone());
            match &msg {
                TurnMsg::Routed(c, Routed::Read) if before == Some(Phase::Routing(c.clone())) => {
                    world.reading.insert(c.clone());
                }
                TurnMsg::Decided(c, Decision::Approved) if before == Some(Phase::Reviewing(c.clone())) => {
                    world.approved.insert(c.clone());
                }
                TurnMsg::Recorded(op, phase) => {
                    world.durable.insert((op.clone(), format!("{phase:?}")));
                }
                _ => {}
            }
            for effect in go(&mut state, msg) {
                world.see(&effect);
            }
            // The running turn is exactly the one that began and has not ended.
            let running: Vec<&TurnKey> = world.began.difference(&world.ended).collect();
            assert_eq!(running, state.active().map(|a| &a.turn).into_iter().collect::<Vec<_>>(), "seed {seed}");
        }
        // Stop always ends, and what was dispatched can always be settled.
        while let Some(active) = state.active().map(|a| a.turn.clone()) {
            let effects = go(&mut state, TurnMsg::Stop(None));
            assert!(effects.iter().any(|e| matches!(e, TurnEffect::Ended(t, ..) if *t == active)), "seed {seed}");
            effects.iter().for_each(|e| world.see(e));
        }
        assert_eq!(world.began.difference(&world.ended).count(), 0);
        for _ in 0..20 {
            for (op, phase) in std::mem::take(&mut world.waiting_records) {
                go(&mut state, TurnMsg::Recorded(op, phase)).iter().for_each(|e| world.see(e));
            }
            for call in world.called.clone() {
                let observed = TurnMsg::Observed { call, effect: Effect::Applied, changed: false };
                go(&mut state, observed).iter().for_each(|e| world.see(e));
            }
        }
        assert!(state.is_idle(), "seed {seed}: {state:?}");
        ended += world.ended.len();
        called += world.called.len();
        changed += world.records.len();
    }
    // The orders reach what they are meant to reach.
    assert!(ended > 10_000 && called > 1_000 && changed > 300, "{ended} turns, {called} calls, {changed} records");
}
