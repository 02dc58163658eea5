use super::turn::Holder;
use super::*;
use crate::core::{Instant, SchemaTag, decode, encode};
use crate::operation::{Claim, Dispatcher, OperationRecord, OperationSet, Phase, SessionEnded};
use crate::testkit::{at, call, digest, op, permit, request, session, turn, yes};
use LivenessRefusal as R;

/// Turns as they come about; the last event of each is at [`Turns::LAST`].
pub(super) struct Turns;

pub(super) fn contract() -> TurnLivenessContract {
    TurnLivenessContract::default()
}
pub(super) fn checkpoint(operations: &OperationSet) -> Checkpoint {
    Checkpoint::new(&turn(1), operations, "read", vec![], "write").expect("complete")
}

/// One event of a kind, for call 1 of turn 1 (a prompt: turn 2), with everything that it needs.
pub(super) fn step(
    live: &TurnLiveness,
    ops: &OperationSet,
    kind: EventKind,
    now: Instant,
) -> Result<(TurnLiveness, OperationSet), R> {
    if kind == EventKind::Resume {
        // From a checkpoint that was just kept.
        let token = checkpoint(ops).token();
        let kept = step(live, ops, EventKind::PreCompact, now)?.0;
        let card = Turns::waiting().card(at(Turns::LAST + 300_000)).expect("stalled");
        let grant = RecoveryGrant::new(
            RecoveryAction::Resume,
            &card,
            Some(yes(RecoveryGrant::question(RecoveryAction::Resume, &card))),
            &OperationSet::default(),
            None,
        );
        return kept.step(ops, TurnEvent::Resume(grant.expect("granted"), token), now);
    }
    let read = permit(1, None);
    let event = match kind {
        EventKind::Prompt => TurnEvent::Prompt(turn(2), contract()),
        EventKind::ModelCall => TurnEvent::ModelCall,
        EventKind::ModelOutput => TurnEvent::ModelOutput,
        EventKind::PreTool if live.in_flight().any(|w| *w == Work::Call(call(1))) => {
            TurnEvent::PreTool(call(2), &read, None)
        }
        EventKind::PreTool => TurnEvent::PreTool(call(1), &read, None),
        EventKind::Denied => TurnEvent::Denied(call(9)),
        EventKind::PostTool => TurnEvent::PostTool(call(1)),
        EventKind::PreCompact => TurnEvent::PreCompact(checkpoint(ops)),
        EventKind::Finish => TurnEvent::Finish(Some(PostEvidence::StreamEnd)),
        EventKind::UserStop => TurnEvent::UserStop,
        EventKind::Error => TurnEvent::Error,
        EventKind::Interrupt => TurnEvent::Interrupt,
        EventKind::Resume => unreachable!("above"),
    };
    live.step(ops, event, now)
}

impl Turns {
    pub(super) const LAST: u64 = 10_000;

    pub(super) fn prompt(key: TurnKey, contract: TurnLivenessContract) -> TurnLiveness {
        let event = TurnEvent::Prompt(key, contract);
        TurnLiveness::default().step(&OperationSet::default(), event, at(0)).expect("a prompt is heard").0
    }
    fn after(kinds: &[EventKind]) -> TurnLiveness {
        let ops = OperationSet::default();
        let start = TurnLiveness::default().step(&ops, TurnEvent::Prompt(turn(1), contract()), at(Self::LAST));
        kinds.iter().fold(start.expect("a prompt is heard").0, |live, kind| {
            step(&live, &ops, *kind, at(Self::LAST)).expect("a step of the table").0
        })
    }
    pub(super) fn prompted() -> TurnLiveness {
        Self::after(&[])
    }
    pub(super) fn thinking() -> TurnLiveness {
        Self::after(&[EventKind::ModelCall])
    }
    pub(super) fn streaming() -> TurnLiveness {
        Self::after(&[EventKind::ModelCall, EventKind::ModelOutput])
    }
    pub(super) fn in_tool() -> TurnLiveness {
        Self::after(&[EventKind::ModelCall, EventKind::ModelOutput, EventKind::PreTool])
    }
    pub(super) fn in_tool_for(ms: u64) -> TurnLiveness {
        let event = |p| TurnEvent::PreTool(call(1), p, Some(ms));
        Self::prompted().step(&OperationSet::default(), event(&permit(1, None)), at(Self::LAST)).expect("leased").0
    }
    pub(super) fn waiting() -> TurnLiveness {
        Self::after(&[EventKind::PreTool, EventKind::PostTool])
    }
    pub(super) fn waiting_for_model() -> TurnLiveness {
        Self::after(&[EventKind::PreTool, EventKind::PostTool, EventKind::ModelCall])
    }
    pub(super) fn ended(how: EventKind) -> TurnLiveness {
        Self::after(&[how])
    }
}

/// A turn with a change in `phase` in flight.
fn changing(phase: Phase) -> (TurnLiveness, OperationSet) {
    let prepared = crate::operation::tests::standing(Phase::Prepared);
    let event = TurnEvent::PreTool(call(1), &permit(1, Some(op(1))), None);
    let (live, _) = Turns::prompted().step(&prepared, event, at(Turns::LAST)).expect("leased");
    (live, crate::operation::tests::standing(phase))
}
fn phase_of(ops: &OperationSet) -> Option<Phase> {
    ops.unresolved().map(OperationRecord::phase)
}

#[test]
fn t09_i067_only_the_agents_own_work_is_leased() {
    for (holder, whose) in
        [(Holder::UserProcess { pid: 4711 }, "a person's process"), (Holder::Unknown, "an unknown process")]
    {
        assert_eq!(Owner::try_from(holder.clone()), Err(R::LeaseForeignOwner(whose)));
        let tag = SchemaTag { name: "owner", version: 1 };
        let refused = decode::<Owner>(tag, &encode(tag, &holder).expect("encodes")).expect_err("foreign");
        assert!(refused.to_string().contains(whose), "{refused}");
    }
}

#[test]
fn t89_i067_a_denied_tool_has_no_lease() {
    let ops = OperationSet::default();
    let (denied, _) = step(&Turns::prompted(), &ops, EventKind::Denied, at(Turns::LAST)).expect("told");
    assert_eq!((denied.in_flight().count(), denied.state()), (0, TurnState::Running));
    let ask = |live: &TurnLiveness, ops: &OperationSet, n: u32, permit: &kernel::tools::Permit| {
        live.step(ops, TurnEvent::PreTool(call(n), permit, None), at(Turns::LAST)).map(|_| ())
    };
    let live = Turns::prompted();
    let prepared = crate::operation::tests::standing(Phase::Prepared);
    assert_eq!(ask(&live, &ops, 1, &permit(2, None)), Err(R::LeaseNotPermitted), "the permit of another turn");
    assert_eq!(ask(&live, &prepared, 2, &permit(1, Some(op(1)))), Err(R::LeaseNotPermitted), "of another call");
    assert_eq!(ask(&Turns::in_tool(), &ops, 1, &permit(1, None)), Err(R::LeaseNotPermitted), "it runs already");
    assert_eq!(ask(&live, &prepared, 1, &permit(1, Some(op(1)))), Ok(()));
}

#[test]
fn i050_field_10h2_a_change_whose_record_was_not_kept_has_no_lease() {
    // The store was full, so the set that is stored has no such record.
    let event = TurnEvent::PreTool(call(1), &permit(1, Some(op(1))), None);
    let refused = Turns::prompted().step(&OperationSet::default(), event, at(Turns::LAST));
    assert_eq!(refused, Err(R::LeaseNotPermitted));
}

#[test]
fn t90_i068_a_tools_answer_never_ends_a_turn() {
    let live = Turns::waiting();
    assert_eq!(live.state(), TurnState::AwaitingContinuation);
    assert!(live.ended().is_none());
    assert_eq!(live.classify(at(u64::from(u32::MAX))).state, Observed::StalledRecoverable, "however long");
}

#[test]
fn t17_a_tools_answer_that_comes_twice_moves_no_time() {
    let live = Turns::waiting();
    let ops = OperationSet::default();
    assert_eq!(step(&live, &ops, EventKind::PostTool, at(99_999)), Ok((live.clone(), ops.clone())));
    let (taken, _) = step(&live, &ops, EventKind::ModelOutput, at(20_000)).expect("taken up");
    assert_eq!(step(&taken, &ops, EventKind::PostTool, at(99_999)), Ok((taken.clone(), ops)), "no second ACK");
}

#[test]
fn several_reads_wait_for_the_last_of_them() {
    let ops = OperationSet::default();
    let (two, _) = step(&Turns::in_tool(), &ops, EventKind::PreTool, at(Turns::LAST)).expect("a second read");
    let (one, _) = step(&two, &ops, EventKind::PostTool, at(Turns::LAST)).expect("comes back");
    assert_eq!((one.state(), one.in_flight().count()), (TurnState::Running, 1));
    let (none, _) = one.step(&ops, TurnEvent::PostTool(call(2)), at(Turns::LAST)).expect("comes back");
    assert_eq!(none.state(), TurnState::AwaitingContinuation);
}

#[test]
fn t91_i069_after_a_stop_an_error_or_an_interruption_nothing_is_in_flight() {
    for kind in [EventKind::UserStop, EventKind::Error, EventKind::Interrupt] {
        for live in [Turns::in_tool(), Turns::thinking(), changing(Phase::Prepared).0] {
            let (ended, _) = step(&live, &OperationSet::default(), kind, at(Turns::LAST)).expect("always allowed");
            assert_eq!(ended.in_flight().count(), 0, "{kind:?}");
            assert!(ended.ended().is_some());
        }
    }
}

#[test]
fn t92_i070_a_stop_ends_the_turn_whatever_is_open_and_the_task_stays_open() {
    for (phase, after) in [
        (Phase::Prepared, None),
        (Phase::Dispatched, Some(Phase::ReconcileRequired)),
        (Phase::Observed, Some(Phase::ReconcileRequired)),
        (Phase::ReconcileRequired, Some(Phase::ReconcileRequired)),
    ] {
        for (kind, state) in [
            (EventKind::UserStop, TurnState::Interrupted),
            (EventKind::Interrupt, TurnState::Interrupted),
            (EventKind::Error, TurnState::Error),
            (EventKind::Prompt, TurnState::Running),
            (EventKind::Finish, TurnState::Error),
        ] {
            let (live, ops) = changing(phase);
            let (next, ops) = step(&live, &ops, kind, at(20_000)).expect("always allowed");
            assert_eq!((next.state(), phase_of(&ops)), (state, after), "{phase:?} {kind:?}");
        }
    }
    let (live, ops) = changing(Phase::Dispatched);
    let (stopped, ops) = step(&live, &ops, EventKind::UserStop, at(20_000)).expect("always allowed");
    let over = stopped.ended().expect("the turn is over");
    let seen = crate::terminal::Seen {
        rev: Default::default(),
        seq: Default::default(),
        generation: Default::default(),
        settled: ops.settled_digest(),
    };
    let command = crate::terminal::TerminalCommand {
        session: session("tab-1"),
        seen,
        status: crate::terminal::TerminalStatus::Cancelled,
        evidence: vec![],
    };
    let end =
        crate::terminal::Lifecycle::default().end(Some(&session("tab-1")), Default::default(), &ops, &over, command);
    assert_eq!(end, Err(crate::terminal::TerminalRefusal::TerminalUnsettled { operation: op(1) }));
}

#[test]
fn i070_complete_needs_everything_settled_and_shown() {
    let finish = |live: &TurnLiveness, ops: &OperationSet, evidence| {
        live.step(ops, TurnEvent::Finish(evidence), at(20_000)).map(|(l, _)| (l.state(), l.ending()))
    };
    let none = OperationSet::default();
    assert_eq!(finish(&Turns::streaming(), &none, None), Err(R::CompleteNoEvidence));
    let done = Ok((TurnState::Completed, Some(Ending::Finished)));
    assert_eq!(finish(&Turns::streaming(), &none, Some(PostEvidence::StreamEnd)), done);
    // A turn that changed something shows what was settled; the end of its stream is not enough.
    let (live, settled) = changing(Phase::Settled);
    assert_eq!(finish(&live, &settled, Some(PostEvidence::StreamEnd)), Err(R::CompleteNoEvidence));
    assert_eq!(finish(&live, &settled, Some(PostEvidence::Settled(digest("else")))), Err(R::CompleteNoEvidence));
    assert_eq!(finish(&live, &settled, Some(PostEvidence::Settled(settled.settled_digest()))), done);
    // With a change open it is an error, not a success; the refusal is the ending's cause.
    let (live, open) = changing(Phase::Observed);
    let ended = finish(&live, &open, Some(PostEvidence::Settled(open.settled_digest())));
    assert_eq!(ended, Ok((TurnState::Error, Some(Ending::Unsettled))));
    assert_eq!(live.completable(&open, None), Err(R::CompleteUnsettled));
}

#[test]
fn t10_i077_a_restart_gives_back_what_was_stored() {
    let tag = SchemaTag { name: "turn", version: 1 };
    for live in [Turns::prompted(), Turns::thinking(), Turns::in_tool(), Turns::waiting(), Turns::waiting_for_model()] {
        let restored: TurnLiveness = decode(tag, &encode(tag, &live).expect("encodes")).expect("decodes");
        assert_eq!(restored, live);
        assert_ne!(restored.state(), TurnState::Completed);
    }
}

#[test]
fn after_the_end_only_the_next_turn_is_heard() {
    let ops = OperationSet::default();
    let ended = Turns::ended(EventKind::UserStop);
    let same = ended.step(&ops, TurnEvent::Prompt(turn(1), contract()), at(20_000));
    assert_eq!(same, Err(R::TurnTerminal), "turns are counted, none comes twice");
    let (next, _) = step(&ended, &ops, EventKind::Prompt, at(20_000)).expect("the next turn");
    assert_eq!(next.previous().map(|p| (p.key.turn, p.ending)), Some((1, Ending::Stopped)));
}

#[test]
fn field_6h1_a_silent_stream_is_noticed_and_a_stop_ends_it_at_once() {
    let ops = OperationSet::default();
    let mut live = Turns::thinking();
    for i in 0..3 {
        live = step(&live, &ops, EventKind::ModelOutput, at(Turns::LAST + i * 100)).expect("a delta").0;
    }
    let quiet = |ms| live.classify(at(Turns::LAST + 200 + ms)).state;
    let seen = [119_999, 120_000, 299_999, 300_000].map(quiet);
    use Observed::{Running, StalledRecoverable, Suspect};
    assert_eq!(seen, [Running, Suspect, Suspect, StalledRecoverable]);
    for ms in [0, 120_000, 300_000] {
        let (stopped, after) = step(&live, &ops, EventKind::UserStop, at(Turns::LAST + ms)).expect("always heard");
        assert_eq!((stopped.state(), stopped.ending()), (TurnState::Interrupted, Some(Ending::Stopped)));
        assert_eq!(after, ops, "nothing is sent again");
        assert!(stopped.step(&ops, TurnEvent::ModelOutput, at(Turns::LAST + ms)).is_err(), "a late delta is not its");
        // The message that waited begins the next turn.
        assert!(step(&stopped, &ops, EventKind::Prompt, at(Turns::LAST + ms)).is_ok());
    }
    // A long tool within its time is not called stalled.
    assert_eq!(Turns::in_tool().classify(at(Turns::LAST + 1_700_000)).state, Running);
}

fn stalled(live: &TurnLiveness) -> TurnRecoveryCard {
    live.card(at(Turns::LAST + 36 * 60_000)).expect("stalled")
}
fn grant(
    action: RecoveryAction,
    card: &TurnRecoveryCard,
    ops: &OperationSet,
    reread: Option<(&str, Option<&str>)>,
) -> Result<RecoveryGrant, R> {
    let reread = reread.map(|(now, ended)| {
        let ended = ended.map(|s| Dispatcher::Ended(SessionEnded::by_its_lock(session(s))));
        (digest(now), ended.unwrap_or(Dispatcher::MayLive))
    });
    RecoveryGrant::new(action, card, Some(yes(RecoveryGrant::question(action, card))), ops, reread)
}

#[test]
fn t93_i072_each_act_of_recovery_needs_a_persons_yes_to_exactly_it() {
    let (live, ops) = (Turns::waiting(), OperationSet::default());
    let card = stalled(&live);
    for action in RecoveryAction::ALL {
        let refused = R::RecoveryNotAuthorised { action, turn: turn(1) };
        assert_eq!(RecoveryGrant::new(action, &card, None, &ops, None), Err(refused.clone()));
        for other in RecoveryAction::ALL.into_iter().filter(|a| *a != action) {
            let word = yes(RecoveryGrant::question(other, &card));
            assert_eq!(RecoveryGrant::new(action, &card, Some(word), &ops, None), Err(refused.clone()));
            let given = grant(other, &card, &ops, None).expect("granted");
            assert_eq!(given.covers(action, &turn(1)), Err(refused.clone()));
        }
        let given = grant(action, &card, &ops, None).expect("granted");
        assert!(given.covers(action, &turn(1)).is_ok() && given.covers(action, &turn(2)).is_err());
    }
}

#[test]
fn t94_i072_what_may_have_been_done_is_read_again_first() {
    let (live, ops) = changing(Phase::Dispatched);
    let card = stalled(&live);
    let ask = |reread| grant(RecoveryAction::Replay, &card, &ops, reread).map(|g| g.proof());
    assert_eq!(ask(None), Err(R::IdempotencyUnproven));
    assert_eq!(ask(Some(("changed by somebody", Some("tab-1")))), Err(R::IdempotencyUnproven));
    assert_eq!(ask(Some(("old", None))), Err(R::IdempotencyUnproven), "its sender may be writing");
    assert_eq!(ask(Some(("old", Some("tab-1")))), Ok(Idempotency::Shown(Claim::NotApplied)));
    assert_eq!(ask(Some(("new", None))), Ok(Idempotency::Shown(Claim::Applied)));
    let (_, prepared) = changing(Phase::Prepared);
    let unsent = grant(RecoveryAction::Replay, &card, &prepared, None).map(|g| g.proof());
    assert_eq!(unsent, Ok(Idempotency::NothingOpen));
}

#[test]
fn t18_i073_a_checkpoint_is_resumed_once_and_only_where_nothing_was_done_since() {
    let ops = OperationSet::default();
    let (kept, _) = step(&Turns::waiting(), &ops, EventKind::PreCompact, at(Turns::LAST)).expect("kept");
    let token = kept.checkpoint().expect("kept").token();
    let card = stalled(&kept);
    assert_eq!(card.recommended_action, RecoveryAction::Resume);
    let resume = |live: &TurnLiveness, ops: &OperationSet, action, token| {
        live.step(
            ops,
            TurnEvent::Resume(grant(action, &card, ops, Some(("new", None))).expect("granted"), token),
            at(3_000_000),
        )
    };
    let wrong = resume(&kept, &ops, RecoveryAction::Restart, token);
    assert_eq!(wrong, Err(R::RecoveryNotAuthorised { action: RecoveryAction::Resume, turn: turn(1) }));
    assert_eq!(resume(&kept, &ops, RecoveryAction::Resume, digest("else")), Err(R::CheckpointIncomplete));
    let moved = OperationSet::default().prepare(request(1), at(1)).expect("prepares");
    assert_eq!(resume(&kept, &moved, RecoveryAction::Resume, token), Err(R::IdempotencyUnproven));
    let (resumed, _) = resume(&kept, &ops, RecoveryAction::Resume, token).expect("goes on");
    assert_eq!(resumed.state(), TurnState::Running);
    assert_eq!(resume(&resumed, &ops, RecoveryAction::Resume, token), Err(R::CheckpointIncomplete), "used");
}

#[test]
fn a_checkpoint_says_where_it_is_and_what_is_next() {
    let new = |phase, paths: usize, next| {
        Checkpoint::new(&turn(1), &OperationSet::default(), phase, vec!["/a".into(); paths], next).map(|_| ())
    };
    assert_eq!(new("read", ARTIFACTS_MAX, "write"), Ok(()));
    for (phase, paths, next) in [("", 0, "write"), ("read", 0, ""), ("read", ARTIFACTS_MAX + 1, "write")] {
        assert_eq!(new(phase, paths, next), Err(R::CheckpointIncomplete));
    }
}

#[test]
fn t95_i074_a_pass_in_one_check_is_not_a_pass_in_the_other() {
    use ValidationStatus::{Blocked, IncompleteTimeout, Pass, Unverified};
    let new = CheckpointValidation::new(at(0), 60_000);
    let both = |v: &CheckpointValidation, ms| (v.response_time(), v.post_execution(at(ms)));
    assert_eq!(both(&new, 0), (Unverified, Unverified));
    let answered = new.answered(digest("answer"));
    assert_eq!(both(&answered, 59_999), (Pass, Unverified));
    assert_eq!(both(&answered, 60_000), (Pass, IncompleteTimeout));
    let over = Turns::ended(EventKind::Finish).ended().expect("ended");
    let executed = CheckpointValidation::new(at(0), 60_000).executed(digest("run"), &over);
    assert_eq!(both(&executed, 99_999), (Unverified, Pass));
    let blocked = executed.blocked("a test fails");
    assert_eq!(both(&blocked, 0), (Blocked, Blocked));
}

#[test]
fn the_contract_is_frozen_with_the_prompt() {
    let other = TurnLivenessContract { thresholds: Thresholds::new(1, 2, 3, 4).expect("in order"), ..contract() };
    assert_ne!(contract().digest(), other.digest());
    assert_eq!(Turns::prompt(turn(1), other).classify(at(5)).state, Observed::StalledRecoverable);
}
