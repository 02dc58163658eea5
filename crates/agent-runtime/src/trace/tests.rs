use proptest::prelude::*;

use super::*;
use crate::core::BootId;
use crate::testkit::{at, digest, turn};
use TraceRefusal as R;

fn id(name: &str) -> EventId {
    EventId::new(name).expect("name")
}
fn trace_id(name: &str) -> TraceId {
    TraceId::new(name).expect("name")
}
fn event(n: u64, kind: TraceKind) -> TraceEvent {
    TraceEvent {
        event_id: id(&format!("e{n}")),
        sequence: n,
        observed_at: at(n),
        kind,
        result: EventResult::Ok,
        payload: TracePayload::default(),
    }
}
fn opened() -> LocalTaskTrace {
    LocalTaskTrace::open(trace_id("t1"), turn(1), event(1, TraceKind::Contract)).expect("opens")
}
fn with(events: impl IntoIterator<Item = TraceEvent>) -> LocalTaskTrace {
    let mut trace = opened();
    events.into_iter().for_each(|e| trace.append(&turn(1), e).expect("is next"));
    trace
}
fn refused(trace: &LocalTaskTrace, event: TraceEvent) -> R {
    let mut copy = trace.clone();
    let why = copy.append(&turn(1), event).expect_err("is not next");
    assert_eq!(copy, *trace, "{why}: the trace is as it was");
    why
}
/// Bytes as they might be stored, whatever the events.
fn stored(events: Vec<TraceEvent>) -> Vec<u8> {
    encode(TRACE, &Stored { trace_id: trace_id("t1"), turn_key: turn(1), events }).expect("encodes")
}

#[test]
fn t102_i078_a_gap_is_refused() {
    let trace = with([event(2, TraceKind::Seed)]);
    assert_eq!(refused(&trace, event(4, TraceKind::Plan)), R::TraceSequence { expected: 3, got: 4 });
    let again = TraceEvent { sequence: 2, ..event(9, TraceKind::Plan) };
    assert_eq!(refused(&trace, again), R::TraceSequence { expected: 3, got: 2 });
    assert_eq!(trace.sequence(), 2);
}

#[test]
fn t103_t17_i079_an_event_that_comes_twice_is_refused() {
    let trace = with([event(2, TraceKind::PostTool)]);
    assert_eq!(refused(&trace, event(2, TraceKind::PostTool)), R::TraceDuplicate(id("e2")));
    let renumbered = TraceEvent { sequence: 3, ..event(2, TraceKind::PostTool) };
    assert_eq!(refused(&trace, renumbered), R::TraceDuplicate(id("e2")));
}

#[test]
fn t104_t105_i080_the_end_is_one_and_last() {
    for (kind, status) in [
        (TraceKind::Completed, TraceStatus::Complete),
        (TraceKind::Failed, TraceStatus::Failed),
        (TraceKind::Interrupted, TraceStatus::Interrupted),
    ] {
        let trace = with([event(2, kind)]);
        assert_eq!((trace.status(), trace.completed_at()), (status, Some(at(2))));
        assert_eq!(refused(&trace, event(3, TraceKind::PostTool)), R::TraceTerminal, "a late event");
        assert_eq!(refused(&trace, event(3, TraceKind::Completed)), R::TraceTerminal, "a second end");
    }
    assert_eq!((opened().status(), opened().completed_at()), (TraceStatus::Open, None));
    let ends = TraceKind::ALL.into_iter().filter(|k| k.status() != TraceStatus::Open).count();
    assert_eq!(ends, 3);
}

#[test]
fn t106_a_time_before_the_last_is_refused_unless_only_the_wall_clock_went_back() {
    let trace = with([event(2, TraceKind::Seed)]);
    let timed = |observed_at| TraceEvent { observed_at, ..event(3, TraceKind::Plan) };
    assert_eq!(refused(&trace, timed(at(1))), R::TraceTime(id("e3")));
    let back = Instant { wall_ms: 0, ..at(3) };
    let reloaded = Instant { mono_ms: 0, boot: BootId(2), ..at(3) };
    for ok in [at(2), back, reloaded] {
        assert!(trace.clone().append(&turn(1), timed(ok)).is_ok(), "{ok:?}");
    }
}

#[test]
fn t107_an_event_of_another_turn_or_a_trace_without_its_contract_is_refused() {
    let mut trace = opened();
    assert_eq!(trace.append(&turn(2), event(2, TraceKind::Seed)), Err(R::TraceIdentity));
    assert_eq!(trace, opened());
    assert_eq!(refused(&trace, event(2, TraceKind::Contract)), R::TraceIdentity, "frozen once");
    let open = LocalTaskTrace::open(trace_id("t1"), turn(1), event(1, TraceKind::Seed));
    assert_eq!(open, Err(R::TraceIdentity));
    // An event without a name cannot be made.
    assert!(EventId::new("").is_err() && TraceId::new("").is_err());
}

#[test]
fn t108_i082_a_broken_trace_shows_every_fault_and_no_event() {
    let good = vec![event(1, TraceKind::Contract), event(2, TraceKind::Seed), event(3, TraceKind::Completed)];
    let look = replay(&stored(good.clone()), &turn(1));
    assert!(look.ok() && look.violations.is_empty() && look.events() == good);
    assert_eq!(look.trace.as_ref().map(LocalTaskTrace::status), Some(TraceStatus::Complete));

    let mut bad = good.clone();
    bad[1].sequence = 5;
    bad.push(event(3, TraceKind::Seed));
    let look = replay(&stored(bad), &turn(1));
    assert_eq!(look.violations, [R::TraceSequence { expected: 2, got: 5 }, R::TraceTerminal]);
    assert!(!look.ok() && look.events().is_empty());

    assert_eq!(replay(&stored(good.clone()), &turn(2)).violations, [R::TraceIdentity], "another turn's");
    assert_eq!(replay(&stored(vec![]), &turn(1)).violations, [R::TraceIdentity], "nothing");
    let mut cut = stored(good);
    cut.pop();
    let look = replay(&cut, &turn(1));
    assert!(look.error.is_some() && !look.ok() && look.events().is_empty());
}

#[test]
fn t109_i085_a_full_trace_still_takes_its_end() {
    let mut trace = opened();
    let mut n = 1;
    while !trace.is_full() {
        n += 1;
        trace.append(&turn(1), event(n, TraceKind::ModelOutput)).expect("fits");
    }
    assert_eq!(trace.sequence(), EVENTS_MAX as u64 - 1);
    assert_eq!(refused(&trace, event(n + 1, TraceKind::ModelOutput)), R::TraceCapacity);
    trace.append(&turn(1), event(n + 1, TraceKind::Completed)).expect("the end fits");
    assert_eq!(trace.status(), TraceStatus::Complete);
    assert!(replay(&trace.to_bytes().expect("bytes"), &turn(1)).ok());
}

#[test]
fn i085_a_trace_is_two_mebibytes_at_most_with_the_largest_end() {
    let large = |n, kind| {
        let payload =
            TracePayload::new(&"s".repeat(SUBJECT_MAX), &"x".repeat(SUMMARY_MAX), vec![digest("d"); DIGESTS_MAX]);
        TraceEvent { payload: payload.expect("within bounds"), ..event(n, kind) }
    };
    let mut trace = opened();
    let mut n = 1;
    let full = loop {
        n += 1;
        if let Err(why) = trace.append(&turn(1), large(n, TraceKind::Read)) {
            break why;
        }
    };
    assert_eq!(full, R::TraceCapacity);
    trace.append(&turn(1), large(n, TraceKind::Failed)).expect("the end fits");
    assert!(trace.to_bytes().expect("bytes").len() <= BYTES_MAX);
}

#[test]
fn t110_i081_the_next_turns_trace_takes_this_ones_place() {
    use crate::liveness::{TurnEvent, TurnLiveness, TurnLivenessContract};
    use crate::operation::OperationSet;
    let contract = TurnLivenessContract::default();
    let prompt = |live: &TurnLiveness, n| {
        live.step(&OperationSet::default(), TurnEvent::Prompt(turn(n), contract), at(n)).expect("a prompt").0
    };
    let first = TraceEvent {
        payload: TracePayload::new("contract", "", vec![contract.digest()]).expect("within bounds"),
        ..event(1, TraceKind::Contract)
    };
    let live = prompt(&prompt(&TurnLiveness::default(), 1), 2);
    let trace = with([event(2, TraceKind::Seed)]).next(trace_id("t2"), turn(2), first).expect("opens");
    assert_eq!((trace.turn_key(), trace.sequence()), (&turn(2), 1));
    assert_eq!(live.previous().map(|p| &p.key), Some(&turn(1)), "of the first only its summary is left");
    assert_eq!(trace.events()[0].payload.digests(), [contract.digest()], "frozen before any work");
}

#[test]
fn t10_i082_a_restart_checks_the_trace_of_the_stored_turn_first() {
    let trace = with([event(2, TraceKind::ModelCall)]);
    let look = replay(&trace.to_bytes().expect("bytes"), &turn(1));
    assert_eq!(look.trace, Some(trace));
    assert_eq!(look.trace.map(|t| t.status()), Some(TraceStatus::Open), "it is not complete");
}

#[test]
fn t19_i083_a_replay_shows_a_command_and_does_nothing_with_it() {
    let marker = std::env::temp_dir().join("agent-runtime-replay-marker");
    let words = format!("touch {}; files.write {{\"path\":\"/mnt/a\"}}", marker.display());
    let payload = TracePayload::new("shell.run", &words, vec![digest("args")]).expect("within bounds");
    let bytes = with([TraceEvent { payload, ..event(2, TraceKind::PreTool) }]).to_bytes().expect("bytes");
    let before = Digest::of(&bytes);
    let look = replay(&bytes, &turn(1));
    assert_eq!(look.events()[1].payload.summary(), words);
    assert_eq!(replay(&bytes, &turn(1)), look, "and again");
    assert!(!marker.exists());
    assert_eq!(Digest::of(&bytes), before);
}

#[test]
fn i083_a_replay_says_what_it_may_do_and_nothing_can_change_that() {
    let said = encode(TRACE, &ReplayBoundary).expect("encodes");
    let flags: std::collections::BTreeMap<String, bool> = decode_flags(&said);
    let on: Vec<_> = flags.iter().filter(|(_, on)| **on).map(|(name, _)| name.as_str()).collect();
    assert_eq!((flags.len(), on), (5, vec!["read_only"]));
    assert_eq!(size_of::<ReplayBoundary>(), 0);
}
fn decode_flags(bytes: &[u8]) -> std::collections::BTreeMap<String, bool> {
    crate::core::decode(TRACE, bytes).expect("a map")
}

#[test]
fn a_payload_is_bounded_data() {
    let new = |subject: usize, summary: usize, digests: usize| {
        TracePayload::new(&"s".repeat(subject), &"x".repeat(summary), vec![digest("d"); digests]).map(|_| ())
    };
    assert_eq!(new(SUBJECT_MAX, SUMMARY_MAX, DIGESTS_MAX), Ok(()));
    for (subject, summary, digests) in [(257, 0, 0), (0, 4097, 0), (0, 0, 33)] {
        assert_eq!(new(subject, summary, digests), Err(R::TracePayloadNotData));
    }
    let long = encode(TRACE, &("", "x".repeat(4097), Vec::<Digest>::new())).expect("encodes");
    assert!(crate::core::decode::<TracePayload>(TRACE, &long).is_err(), "nor do bytes make one");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    /// What is let in one by one is what is found valid as a whole, and bytes never panic.
    #[test]
    fn i078_i080_events_let_in_one_by_one_are_a_valid_trace(
        script in proptest::collection::vec((1u64..9, 0usize..29, 0u64..9), 0..12),
        flip in any::<prop::sample::Index>(), bit in 0u8..8,
    ) {
        let events: Vec<_> = script.into_iter().map(|(n, kind, ms)| TraceEvent {
            observed_at: at(ms), ..event(n, TraceKind::ALL[kind])
        }).collect();
        let mut trace = opened();
        let all = events.iter().filter(|e| trace.append(&turn(1), (*e).clone()).is_ok()).count() == events.len();
        let mut bytes = trace.to_bytes().expect("bytes");
        prop_assert_eq!(replay(&bytes, &turn(1)).trace, Some(trace.clone()));
        let mut raw = vec![event(1, TraceKind::Contract)];
        raw.extend(events);
        prop_assert_eq!(replay(&stored(raw), &turn(1)).ok(), all);
        let at = flip.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert_ne!(replay(&bytes, &turn(1)).trace, Some(trace.clone()));
    }
}
