use proptest::prelude::*;

use super::*;
use crate::core::{Gen, SchemaTag, Seq, decode, encode};
use crate::testkit::{at, digest, op, request, session, task, yes};
use OperationRefusal as R;

fn prepared() -> OperationSet {
    OperationSet::default().prepare(request(1), at(1)).expect("prepares")
}
fn go(set: &OperationSet, step: Step) -> OperationSet {
    set.step(&op(1), step, at(2)).expect("a step of the table")
}
fn receipt(outcome: Outcome, left: Option<&str>) -> Receipt {
    Receipt::of(&task(), &request(1), outcome, digest("result"), left.map(digest))
}
fn applied() -> Receipt {
    receipt(Outcome::Applied, Some("new"))
}
fn reread(now: &str, ended: Option<&str>) -> Proof {
    let dispatcher = ended.map_or(Dispatcher::MayLive, |s| Dispatcher::Ended(SessionEnded::by_its_lock(session(s))));
    Proof::Reread { now: digest(now), dispatcher }
}
/// A task whose one operation stands in `phase`.
pub(crate) fn standing(phase: Phase) -> OperationSet {
    let sent = || go(&prepared(), Step::Dispatch);
    let answered = || go(&sent(), Step::Observe(applied()));
    match phase {
        Phase::Prepared => prepared(),
        Phase::Dispatched => sent(),
        Phase::Observed => answered(),
        Phase::ReconcileRequired => go(&sent(), Step::Lose),
        Phase::Settled => go(&answered(), Step::Settle(Proof::Answer)),
        Phase::AbortedZeroEffect => go(&prepared(), Step::Abort),
    }
}
/// The record alone, which the set lets go of when it ends.
fn record(phase: Phase) -> OperationRecord {
    let open = |p| standing(p).unresolved().expect("open").clone();
    match phase {
        Phase::Settled => open(Phase::Observed).step(Step::Settle(Proof::Answer), at(3)).expect("proven"),
        Phase::AbortedZeroEffect => open(Phase::Prepared).step(Step::Abort, at(3)).expect("early"),
        p => open(p),
    }
}
fn step_to(phase: Phase) -> Option<Step> {
    Some(match phase {
        Phase::Prepared => return None, // no step leads there
        Phase::Dispatched => Step::Dispatch,
        Phase::Observed => Step::Observe(applied()),
        Phase::Settled => Step::Settle(Proof::Late(applied())),
        Phase::ReconcileRequired => Step::Lose,
        Phase::AbortedZeroEffect => Step::Abort,
    })
}

#[test]
fn t47_i053_a_second_change_waits_for_the_first() {
    for phase in [Phase::Prepared, Phase::Dispatched, Phase::Observed, Phase::ReconcileRequired] {
        assert_eq!(standing(phase).prepare(request(2), at(9)), Err(R::OperationInFlight(op(1))), "{phase:?}");
    }
    for phase in [Phase::Settled, Phase::AbortedZeroEffect] {
        assert!(standing(phase).prepare(request(2), at(9)).is_ok(), "{phase:?}");
    }
}

#[test]
fn t48_i058_the_same_bytes_again_write_nothing() {
    let set = prepared();
    let again = set.prepare(request(1), at(500)).expect("a replay");
    assert_eq!(again, set);
    let record = again.unresolved().expect("open");
    assert_eq!(record.times()[0], Some(at(1)));
    assert_eq!(record.digest(), set.unresolved().expect("open").digest());
}

#[test]
fn t49_i058_the_same_id_with_another_byte_is_refused() {
    let other = |change: fn(&mut OperationRequest)| {
        let mut r = request(1);
        change(&mut r);
        r
    };
    for request in [
        other(|r| r.targets = Targets::new(vec!["/mnt/b".into()]).expect("targets")),
        other(|r| r.args = digest("other")),
        other(|r| r.writer_gen = Gen(2)),
        other(|r| r.before = digest("other")),
        other(|r| r.tool = digest("other")),
        other(|r| r.expected_after = None),
        other(|r| r.session = session("tab-2")),
        other(|r| r.state_seq = Seq(8)),
    ] {
        assert_eq!(prepared().prepare(request, at(2)), Err(R::OperationReplayMismatch(op(1))));
    }
}

#[test]
fn t50_i061_an_id_is_used_once() {
    for phase in [Phase::Settled, Phase::AbortedZeroEffect] {
        assert_eq!(standing(phase).prepare(request(1), at(9)), Err(R::OperationAlreadySettled(op(1))));
    }
    let later = standing(Phase::Settled).prepare(request(3), at(9)).expect("prepares");
    assert_eq!(later.prepare(request(1), at(9)), Err(R::OperationAlreadySettled(op(1))));
    let ended = later.interrupt(at(9));
    assert_eq!(ended.prepare(request(2), at(9)), Err(R::OperationAlreadySettled(op(2))), "the counter passed it");
    assert_eq!((ended.last(), ended.settled().count()), (Some(&op(3)), 2));
}

#[test]
fn t51_i055_nothing_that_was_sent_is_called_off() {
    for phase in [Phase::Dispatched, Phase::Observed, Phase::ReconcileRequired, Phase::Settled] {
        assert_eq!(record(phase).step(Step::Abort, at(9)), Err(R::AbortAfterDispatch), "{phase:?}");
    }
}

#[test]
fn t52_i054_every_pair_of_phases_is_in_the_table_or_refused() {
    let mut legal = Vec::new();
    for from in Phase::ALL {
        assert_eq!(record(from).phase(), from);
        for to in Phase::ALL {
            let Some(step) = step_to(to) else { continue };
            match record(from).step(step, at(9)) {
                Ok(next) => {
                    assert_eq!(next.phase(), to);
                    legal.push((from, to));
                }
                // Two of the pairs have a name of their own.
                Err(R::AbortAfterDispatch) => assert_eq!(to, Phase::AbortedZeroEffect),
                Err(R::AutoRetryForbidden) => assert_eq!(to, Phase::Dispatched),
                Err(why) => assert_eq!(why, R::OperationPhase { from, to }),
            }
        }
        assert!(!LEGAL.iter().any(|(_, to)| *to == Phase::Prepared), "nothing is prepared twice");
    }
    assert_eq!(legal, LEGAL);
}

#[test]
fn i054_times_are_there_exactly_for_the_phases_reached() {
    for (phase, reached, effect) in [
        (Phase::Prepared, [true, false, false, false], Effect::None),
        (Phase::Dispatched, [true, true, false, false], Effect::Unknown),
        (Phase::Observed, [true, true, true, false], Effect::Unknown),
        (Phase::ReconcileRequired, [true, true, false, false], Effect::Unknown),
        (Phase::Settled, [true, true, true, true], Effect::KnownApplied),
        (Phase::AbortedZeroEffect, [true, false, false, true], Effect::None),
    ] {
        let record = record(phase);
        assert_eq!((record.times().map(|t| t.is_some()), record.effect()), (reached, effect), "{phase:?}");
    }
    let lost = go(&standing(Phase::Observed), Step::Lose);
    assert_eq!(lost.unresolved().expect("open").times().map(|t| t.is_some()), [true, true, true, false]);
}

#[test]
fn t53_i056_time_restarts_and_the_model_never_send_again() {
    let tag = SchemaTag { name: "ops", version: 1 };
    let mut set = prepared();
    let mut sent = 0;
    for restart in 0..50u64 {
        let now = at(restart * 720_000); // 50 restarts in 10 hours
        let reply = set.step(&op(1), Step::Dispatch, now);
        match reply {
            Ok(next) => (sent, set) = (sent + 1, next),
            Err(why) => assert_eq!(why, R::AutoRetryForbidden),
        }
        set = set.interrupt(now);
        assert_eq!(set.prepare(request(1), now), Ok(set.clone()), "the model asks again");
        assert_eq!(set.prepare(request(2), now), Err(R::OperationInFlight(op(1))), "under another id");
        set = decode(tag, &encode(tag, &set).expect("encodes")).expect("decodes");
    }
    assert_eq!(sent, 1);
}

#[test]
fn t54_a_late_answer_after_the_end_moves_nothing_and_is_kept() {
    for phase in [Phase::Settled, Phase::AbortedZeroEffect] {
        let set = standing(phase);
        let orphan = set.receive(&task(), applied(), at(9)).expect_err("late");
        assert_eq!((&orphan.why, &orphan.receipt), (&R::OperationCas(op(1)), &applied()));
        assert_eq!(set.step(&op(1), Step::Lose, at(9)), Err(R::OperationCas(op(1))));
    }
    let next = standing(Phase::Settled).prepare(request(2), at(9)).expect("prepares");
    assert_eq!(next.receive(&task(), applied(), at(9)).expect_err("late").why, R::OperationCas(op(1)));
}

#[test]
fn t55_i057_a_late_answer_of_an_older_writer_settles_the_same_operation_only() {
    // The takeover moved it; the answer carries the generation of the preparation.
    let taken = standing(Phase::Dispatched).interrupt(at(5));
    let settled = taken.receive(&task(), applied(), at(6)).expect("evidence for the current writer");
    assert!(settled.unresolved().is_none());
    let other = |change: fn(&mut Receipt)| {
        let mut r = applied();
        change(&mut r);
        r
    };
    for (receipt, field) in [
        (other(|r| r.writer_gen = Gen(2)), "writer generation"),
        (other(|r| r.targets = digest("other")), "set of targets"),
        (other(|r| r.before = digest("other")), "state before"),
        (other(|r| r.idempotency_key = digest("other")), "idempotency key"),
    ] {
        for set in [&taken, &standing(Phase::Dispatched)] {
            let orphan = set.receive(&task(), receipt.clone(), at(6)).expect_err("another operation");
            assert_eq!((orphan.why, orphan.receipt), (R::LateReceiptMismatch { field }, receipt.clone()));
        }
    }
    let unproven = receipt(Outcome::Failed, None);
    assert_eq!(taken.receive(&task(), unproven, at(6)).expect_err("kept").why, R::SettlementUnproven);
}

#[test]
fn t17_an_answer_that_comes_twice_moves_nothing() {
    let orphan = standing(Phase::Observed).receive(&task(), applied(), at(9)).expect_err("twice");
    assert_eq!(orphan.why, R::OperationPhase { from: Phase::Observed, to: Phase::Observed });
}

#[test]
fn t56_a_lost_answer_is_settled_by_reading_again() {
    let lost = standing(Phase::Dispatched).interrupt(at(5));
    let known = record_of(&lost).step(Step::Settle(reread("new", None)), at(6)).expect("proven");
    assert_eq!(known.effect(), Effect::KnownApplied);
}

fn record_of(set: &OperationSet) -> &OperationRecord {
    set.unresolved().expect("open")
}

#[test]
fn t57_what_did_not_happen_needs_a_sender_that_is_gone() {
    let lost = standing(Phase::Dispatched).interrupt(at(5));
    let settle = |ended| record_of(&lost).step(Step::Settle(reread("old", ended)), at(6));
    assert_eq!(settle(None), Err(R::SettlementUnproven), "it may be writing at this moment");
    assert_eq!(settle(Some("tab-2")), Err(R::SettlementUnproven), "another session ended");
    assert_eq!(settle(Some("tab-1")).expect("proven").effect(), Effect::KnownNotApplied);
    // An answer says that the call is over.
    let failed = go(&standing(Phase::Dispatched), Step::Observe(receipt(Outcome::Failed, None)));
    let known = record_of(&failed).step(Step::Settle(reread("old", None)), at(6)).expect("proven");
    assert_eq!(known.effect(), Effect::KnownNotApplied);
}

#[test]
fn t58_what_cannot_be_known_waits_for_a_person() {
    let lost = standing(Phase::Dispatched).interrupt(at(5));
    let ended = Some("tab-1");
    assert_eq!(lost.step(&op(1), Step::Settle(reread("a third state", ended)), at(6)), Err(R::SettlementUnproven));
    let word = |id, claim| Attestation::of(&op(id), claim, yes(Attestation::question(&op(id), claim)));
    for (claim, effect) in [(Claim::Applied, Effect::KnownApplied), (Claim::NotApplied, Effect::KnownNotApplied)] {
        let proof = Proof::Attested(word(1, claim).expect("a person's yes"));
        assert_eq!(record_of(&lost).step(Step::Settle(proof), at(6)).expect("settled").effect(), effect);
    }
    let elsewhere = Proof::Attested(word(2, Claim::Applied).expect("a person's yes"));
    assert_eq!(lost.step(&op(1), Step::Settle(elsewhere), at(6)), Err(R::SettlementUnproven));
    let other_card = yes(digest("another card"));
    assert!(matches!(Attestation::of(&op(1), Claim::Applied, other_card), Err(R::SettlementUnproven)));
}

#[test]
fn i055_a_tools_word_counts_only_where_nothing_can_be_read_back() {
    let settle = |expected: Option<&str>, outcome, left| {
        let request = OperationRequest { expected_after: expected.map(digest), ..request(1) };
        let answer = Receipt::of(&task(), &request, outcome, digest("result"), left);
        let set = OperationSet::default().prepare(request, at(1)).expect("prepares");
        let set = go(&set, Step::Dispatch).receive(&task(), answer, at(2)).expect("in time");
        record_of(&set).step(Step::Settle(Proof::Answer), at(3)).map(|r| r.effect()).ok()
    };
    use Effect::{KnownApplied, KnownNotApplied};
    use Outcome::{Applied, Failed};
    for (expected, outcome, left, effect) in [
        (Some("new"), Applied, Some("new"), Some(KnownApplied)),
        (Some("new"), Failed, Some("new"), Some(KnownApplied)),
        (Some("new"), Applied, Some("old"), Some(KnownNotApplied)),
        (Some("new"), Applied, Some("odd"), None),
        (Some("new"), Applied, None, None),
        (None, Applied, Some("odd"), Some(KnownApplied)),
        (None, Applied, Some("old"), Some(KnownNotApplied)),
        (None, Applied, None, Some(KnownApplied)),
        (None, Failed, None, None),
    ] {
        assert_eq!(settle(expected, outcome, left.map(digest)), effect, "{expected:?} {outcome:?} {left:?}");
    }
}

#[test]
fn t12_t13_t14_a_restart_leaves_what_was_not_sent_and_reconciles_what_was() {
    for (phase, after) in [
        (Phase::Prepared, None),
        (Phase::Dispatched, Some(Phase::ReconcileRequired)),
        (Phase::Observed, Some(Phase::ReconcileRequired)),
        (Phase::ReconcileRequired, Some(Phase::ReconcileRequired)),
        (Phase::Settled, None),
        (Phase::AbortedZeroEffect, None),
    ] {
        let set = standing(phase).interrupt(at(9));
        assert_eq!(set.unresolved().map(OperationRecord::phase), after, "{phase:?}");
        assert_eq!(set.interrupt(at(10)), set, "{phase:?}: once is enough");
    }
    assert_eq!(go(&prepared(), Step::Abort), prepared().interrupt(at(2)), "zero effect");
}

#[test]
fn i060_the_key_says_what_the_action_is_and_not_where_the_runtime_is() {
    let key = |change: fn(&mut OperationRequest)| {
        let mut r = request(1);
        change(&mut r);
        r.idempotency_key(&task())
    };
    let same = request(1).idempotency_key(&task());
    for moved in [
        key(|r| r.writer_gen = Gen(9)),
        key(|r| r.state_seq = Seq(99)),
        key(|r| r.session = session("tab-9")),
        key(|r| r.expected_after = None),
    ] {
        assert_eq!(moved, same);
    }
    for other in [
        key(|r| r.id = op(2)),
        key(|r| r.tool = digest("x")),
        key(|r| r.args = digest("x")),
        key(|r| r.before = digest("x")),
        key(|r| r.targets = Targets::new(vec!["x".into()]).expect("targets")),
    ] {
        assert_ne!(other, same);
    }
}

#[test]
fn targets_are_one_to_twenty_sorted_and_unique_in_memory_and_in_bytes() {
    let names = |n: usize| (0..n).map(|i| format!("/{i:02}")).collect::<Vec<_>>();
    assert_eq!(Targets::new(vec![]), Err(R::TargetsEmpty));
    assert_eq!(Targets::new(names(21)), Err(R::TooManyTargets));
    assert_eq!(Targets::new(vec!["x".repeat(TARGET_MAX + 1)]), Err(R::TooManyTargets));
    assert!(Targets::new(names(20)).is_ok());
    let twice = Targets::new(vec!["b".into(), "a".into(), "b".into()]).expect("targets");
    assert_eq!(twice.names(), ["a", "b"]);
    let tag = SchemaTag { name: "targets", version: 1 };
    for bad in [vec![], vec!["b".to_owned(), "a".into()], vec!["a".into(), "a".into()], names(21)] {
        assert!(decode::<Targets>(tag, &encode(tag, &bad).expect("encodes")).is_err(), "{bad:?}");
    }
}

#[test]
fn what_is_no_longer_kept_may_be_anybodys() {
    let mut set = OperationSet::default();
    for n in 1..=u32::try_from(SETTLED_KEPT).expect("small") {
        set = set.prepare(request(n), at(1)).expect("prepares").interrupt(at(2));
    }
    assert!(set.may_have_executed(&session("tab-1")) && !set.may_have_executed(&session("tab-2")));
    set = set.prepare(request(999), at(1)).expect("prepares").interrupt(at(2));
    assert!(set.may_have_executed(&session("tab-2")));
    assert_eq!(set.settled().count(), SETTLED_KEPT);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    /// Whatever is asked, in whatever order: one open operation, no id twice, one dispatch an id.
    #[test]
    fn i053_i059_any_sequence_sends_each_operation_at_most_once(
        script in proptest::collection::vec((0u8..8, 1u32..4), 0..60),
    ) {
        let mut set = OperationSet::default();
        let mut sent = std::collections::BTreeMap::new();
        for (i, (what, n)) in script.into_iter().enumerate() {
            let now = at(i as u64);
            let before = set.clone();
            let answer = Receipt::of(&task(), &request(n), Outcome::Applied, digest("r"), Some(digest("new")));
            let next = match what {
                0 | 1 => set.prepare(request(n), now).ok(),
                2 => set.step(&op(n), Step::Dispatch, now).ok().inspect(|_| *sent.entry(n).or_insert(0) += 1),
                3 => set.step(&op(n), Step::Abort, now).ok(),
                4 => set.receive(&task(), answer, now).ok(),
                5 => Some(set.interrupt(now)),
                6 => set.step(&op(n), Step::Settle(Proof::Answer), now).ok(),
                _ => set.step(&op(n), Step::Settle(reread("new", None)), now).ok(),
            };
            set = next.unwrap_or(set);
            prop_assert!(set.last() >= before.last());
            prop_assert!(set.settled().count() >= before.settled().count());
            prop_assert!(set.settled().map(|r| &r.id).is_sorted_by(|a, b| a < b));
        }
        prop_assert!(sent.values().all(|n| *n == 1), "{sent:?}");
    }
}
