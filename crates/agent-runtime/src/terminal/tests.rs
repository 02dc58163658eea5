use super::*;
use crate::operation::{OperationRefusal, Phase};
use crate::testkit::{at, digest, gesture, op, request, session};
use TerminalRefusal as R;

const NOW: (Seq, Gen) = (Seq(9), Gen(2));

/// A task with one settled operation, and the command that ends it by a person's act.
fn good() -> (OperationSet, TerminalCommand) {
    let operations = crate::operation::tests::standing(Phase::Settled);
    let seen = Seen { rev: Rev(0), seq: NOW.0, generation: NOW.1, settled: operations.settled_digest() };
    let evidence = vec![Evidence::by_person(digest("the task's card"), &gesture())];
    (operations, TerminalCommand { session: session("tab-1"), seen, status: TerminalStatus::Completed, evidence })
}
fn over() -> TurnEnded {
    crate::liveness::TurnLiveness::default().ended().expect("no turn runs")
}
fn end(life: &Lifecycle, change: impl FnOnce(&mut TerminalCommand)) -> Result<Lifecycle, R> {
    let (operations, mut command) = good();
    change(&mut command);
    life.end(Some(&session("tab-1")), NOW, &operations, &over(), command)
}
fn ended() -> Lifecycle {
    end(&Lifecycle::default(), |_| {}).expect("ends")
}
fn by_session(text: &str, name: &str) -> Evidence {
    Evidence::by_session(digest(text), session(name))
}

#[test]
fn t59_nothing_ends_with_an_operation_open() {
    for phase in [Phase::Prepared, Phase::Dispatched, Phase::Observed, Phase::ReconcileRequired] {
        let operations = crate::operation::tests::standing(phase);
        let (_, mut command) = good();
        command.seen.settled = operations.settled_digest();
        let end = Lifecycle::default().end(Some(&session("tab-1")), NOW, &operations, &over(), command);
        assert_eq!(end, Err(R::TerminalUnsettled { operation: op(1) }), "{phase:?}");
    }
}

#[test]
fn t60_i062_each_of_the_four_conditions_has_its_refusal() {
    let life = Lifecycle::default();
    let (operations, command) = good();
    for writer in [None, Some(session("tab-2"))] {
        let end = life.end(writer.as_ref(), NOW, &operations, &over(), command.clone());
        assert_eq!(end, Err(R::TerminalNotOwner));
    }
    assert_eq!(end(&life, |c| c.session = session("tab-2")), Err(R::TerminalNotOwner));
    for seen in [
        Seen { rev: Rev(1), ..command.seen },
        Seen { seq: Seq(8), ..command.seen },
        Seen { generation: Gen(1), ..command.seen },
        Seen { settled: digest("other"), ..command.seen },
    ] {
        assert_eq!(end(&life, |c| c.seen = seen), Err(R::TerminalFence), "{seen:?}");
    }
    let open = operations.prepare(request(2), at(1)).expect("prepares");
    let unsettled = life.end(Some(&session("tab-1")), NOW, &open, &over(), command);
    assert_eq!(unsettled, Err(R::TerminalUnsettled { operation: op(2) }));
    assert_eq!(end(&life, |c| c.evidence.clear()), Err(R::TerminalEvidenceMissing));
    let many = |c: &mut TerminalCommand| {
        c.evidence = (0..=EVIDENCE_MAX).map(|i| Evidence::by_validator(digest(&i.to_string()))).collect();
    };
    assert_eq!(end(&life, many), Err(R::TerminalEvidenceMissing));
    assert!(end(&life, |_| {}).is_ok());
}

#[test]
fn t61_two_pieces_of_evidence_are_two_things() {
    let twice = end(&Lifecycle::default(), |c| {
        c.evidence = vec![Evidence::by_validator(digest("run")), by_session("run", "tab-2")];
    });
    assert_eq!(twice, Err(R::TerminalEvidenceDuplicate));
}

#[test]
fn t62_i063_the_executor_s_own_word_is_not_enough() {
    let with = |evidence: Vec<Evidence>| end(&Lifecycle::default(), |c| c.evidence = evidence);
    let own = by_session("it works", "tab-1");
    assert_eq!(with(vec![own.clone(), by_session("really", "tab-1")]), Err(R::TerminalEvidenceNotIndependent));
    for other in [
        Evidence::by_validator(digest("run")),
        Evidence::by_person(digest("card"), &gesture()),
        by_session("checked", "verifier"),
    ] {
        assert!(with(vec![own.clone(), other.clone()]).is_ok(), "{other:?}");
    }
    // The session that ends the task is not independent either, even if another one executed.
    let (operations, command) = good();
    let words = TerminalCommand { session: session("tab-2"), evidence: vec![by_session("x", "tab-2")], ..command };
    let end = Lifecycle::default().end(Some(&session("tab-2")), NOW, &operations, &over(), words);
    assert_eq!(end, Err(R::TerminalEvidenceNotIndependent));
}

#[test]
fn t63_i064_the_same_end_twice_is_one_write_and_one_receipt() {
    let once = ended();
    let again = end(&once, |_| {}).expect("a replay");
    assert_eq!(again, once);
    assert_eq!(again.terminal().map(TaskTerminal::receipt), once.terminal().map(TaskTerminal::receipt));
    // Even when the fence has moved on since, as after the lost reply of the end itself.
    let (operations, command) = good();
    assert_eq!(once.end(Some(&session("tab-1")), (Seq(10), Gen(2)), &operations, &over(), command), Ok(once.clone()));
}

#[test]
fn t64_an_end_does_not_change_its_mind() {
    assert_eq!(end(&ended(), |c| c.status = TerminalStatus::Failed), Err(R::TerminalReplayMismatch));
    let later = end(&ended(), |c| c.seen.seq = Seq(10));
    assert_eq!(later, Err(R::AlreadyTerminal), "another command");
}

#[test]
fn t65_i066_reopening_is_another_life_and_the_old_end_stays_in_the_lineage() {
    let life = ended();
    let receipt = life.terminal().expect("ended").receipt();
    let next = life.reopen(receipt, digest("owner"), digest("owner")).expect("reopens");
    assert_eq!((next.rev(), next.terminal(), next.open()), (Rev(1), None, Ok(())));
    assert_eq!(next.lineage().collect::<Vec<_>>(), [&receipt]);
    // What the old life's writer saw no longer fits.
    assert_eq!(end(&next, |_| {}), Err(R::TerminalFence));
    // The operations of the old life stay settled.
    let (operations, _) = good();
    assert_eq!(operations.prepare(request(1), at(99)), Err(OperationRefusal::OperationAlreadySettled(op(1))));
}

#[test]
fn t66_reopening_names_the_end_and_the_owner_that_it_saw() {
    let life = ended();
    let receipt = life.terminal().expect("ended").receipt();
    assert_eq!(life.reopen(receipt, digest("older"), digest("owner")), Err(R::ReopenOwnerMismatch));
    assert_eq!(life.reopen(digest("another end"), digest("owner"), digest("owner")), Err(R::ReopenOwnerMismatch));
    let open = Lifecycle::default();
    assert_eq!(open.reopen(receipt, digest("owner"), digest("owner")), Err(R::ReopenOwnerMismatch));
    let last = Lifecycle { rev: Rev(u64::MAX), ..life };
    assert_eq!(last.reopen(receipt, digest("owner"), digest("owner")), Err(R::Overflow(Overflow)));
}

#[test]
fn i065_after_the_end_nothing_but_reopening_moves() {
    assert_eq!(ended().open(), Err(R::AlreadyTerminal));
    let (operations, _) = good();
    assert_eq!(operations.interrupt(at(9)), operations);
}

#[test]
fn i066_the_lineage_keeps_eight_and_knows_of_all() {
    let mut life = Lifecycle::default();
    for _ in 0..20 {
        let rev = life.rev();
        life = end(&life, |c| c.seen.rev = rev).expect("ends");
        let receipt = life.terminal().expect("ended").receipt();
        life = life.reopen(receipt, digest("owner"), digest("owner")).expect("reopens");
    }
    assert_eq!((life.rev(), life.lineage().len()), (Rev(20), LINEAGE_KEPT));
}
