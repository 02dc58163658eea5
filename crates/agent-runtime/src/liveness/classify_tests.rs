//! Every fixture of a turn × every event × every boundary of time, against the table of §1.8
//! written down a second time.

use super::tests::{Turns, contract, step};
use super::*;
use crate::core::BootId;
use crate::core::{ClockAnomaly, Instant, TimeBasis};
use crate::operation::OperationSet;
use crate::testkit::{at, turn};
use Observed::{AwaitingContinuation as Awaiting, Running, StalledRecoverable as Stalled, Suspect};

const MIN: u64 = 60_000;
/// From which age (after the last event) a fixture looks like what.
type Looks = &'static [(u64, Observed)];
const STREAM: Looks = &[(0, Running), (120_000, Suspect), (300_000, Stalled)];
const WAIT: Looks = &[(0, Awaiting), (120_000, Suspect), (300_000, Stalled)];
const LEASE: Looks = &[(0, Running), (30 * MIN, Suspect), (35 * MIN, Stalled)];

fn fixtures() -> [(&'static str, TurnLiveness, Looks, TurnState); 10] {
    use TurnState as S;
    [
        ("idle", TurnLiveness::default(), &[(0, Observed::Idle)], S::Idle),
        ("prompted", Turns::prompted(), LEASE, S::Running),
        ("streaming", Turns::streaming(), STREAM, S::Running),
        ("thinking", Turns::thinking(), LEASE, S::Running),
        ("in a tool", Turns::in_tool(), LEASE, S::Running),
        ("waiting", Turns::waiting(), WAIT, S::AwaitingContinuation),
        ("waiting for a model", Turns::waiting_for_model(), LEASE, S::AwaitingContinuation),
        ("completed", Turns::ended(EventKind::Finish), &[(0, Observed::Completed)], S::Completed),
        ("failed", Turns::ended(EventKind::Error), &[(0, Observed::Error)], S::Error),
        ("stopped", Turns::ended(EventKind::UserStop), &[(0, Observed::Interrupted)], S::Interrupted),
    ]
}

fn looks(table: Looks, age: u64) -> Observed {
    table.iter().rev().find(|(from, _)| *from <= age).expect("from zero on").1
}

/// Where an event leads, by the words of the spec; `None`: refused.
fn leads(name: &str, from: TurnState, kind: EventKind) -> Option<TurnState> {
    use TurnState as S;
    Some(match (from, kind) {
        (_, EventKind::Prompt) => S::Running,
        (S::Idle | S::Completed | S::Error | S::Interrupted, _) => return None,
        (_, EventKind::Finish) => S::Completed,
        (_, EventKind::UserStop | EventKind::Interrupt) => S::Interrupted,
        (_, EventKind::Error) => S::Error,
        (from, EventKind::ModelCall) => from,
        (from, EventKind::PostTool) => {
            if name == "in a tool" {
                S::AwaitingContinuation
            } else {
                from
            }
        }
        _ => S::Running,
    })
}

#[test]
fn i070_i071_i076_every_state_with_every_event_at_every_boundary_of_time() {
    let ages: Vec<u64> = std::iter::once(0)
        .chain([120_000, 300_000, 30 * MIN, 35 * MIN].into_iter().flat_map(|b| [b - 1, b, b + 1]))
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    for (name, live, table, state) in fixtures() {
        assert_eq!(live.state(), state, "{name}");
        for kind in EventKind::ALL {
            for age in &ages {
                let now = at(Turns::LAST + age);
                let what = format!("{name} {kind:?} {age}");
                let look = live.classify(now);
                assert_eq!(look.state, looks(table, *age), "{what}");
                assert_eq!(live.classify(now), look, "{what}: a look changes nothing");
                assert_eq!(live.card(now).is_some(), matches!(look.state, Suspect | Stalled), "{what}");
                let next = step(&live, &OperationSet::default(), kind, now);
                assert_eq!(next.as_ref().ok().map(|(l, _)| l.state()), leads(name, state, kind), "{what}");
                match next {
                    Err(why) => assert_eq!(why, LivenessRefusal::TurnTerminal, "{what}"),
                    Ok((next, _)) => {
                        let none = next.in_flight().count() == 0;
                        assert!(none || next.ended().is_none(), "{what}: nothing is in flight after an end");
                        let stale = matches!(look.state, Suspect | Stalled);
                        if kind == EventKind::Prompt && live.ended().is_none() {
                            let how = if stale { Ending::StaleRecovered } else { Ending::Superseded };
                            assert_eq!(next.previous().map(|p| p.ending), Some(how), "{what}");
                        }
                    }
                }
                seen.insert((name, kind, *age));
            }
        }
    }
    assert_eq!(seen.len(), 10 * 12 * 13, "all of them");
}

#[test]
fn the_table_is_what_the_step_does() {
    for (kind, running, waiting) in TABLE {
        // What comes back must have been sent.
        let from = if kind == EventKind::PostTool { Turns::in_tool() } else { Turns::prompted() };
        let go = |live: &TurnLiveness| step(live, &OperationSet::default(), kind, at(Turns::LAST)).expect("allowed").0;
        assert_eq!(go(&from).state(), running, "{kind:?}");
        assert_eq!(go(&Turns::waiting()).state(), waiting, "{kind:?}");
    }
    assert_eq!(TABLE.map(|(kind, ..)| kind), EventKind::ALL);
}

#[test]
fn t01_t02_t03_t04_silence_after_a_tool_is_suspect_at_120_s_and_stalled_at_300_s() {
    let live = Turns::waiting();
    let card = |ms| live.card(at(Turns::LAST + ms));
    assert!(card(119_999).is_none());
    let (first, same, next) = (card(120_000).expect("suspect"), card(299_999).expect("suspect"), card(300_000));
    assert_eq!((first.seen.state, first.seen.reason), (Suspect, Reason::NoContinuation));
    assert_eq!(first.notice_key, same.notice_key, "the same notice");
    let next = next.expect("stalled");
    assert_eq!(next.seen.state, Stalled);
    assert_ne!(next.notice_key, same.notice_key, "a new notice");
    assert_eq!(next.last_tool_output_at, Some(at(Turns::LAST)));
    assert_eq!(live, Turns::waiting(), "and nothing else");
}

#[test]
fn t05_a_late_continuation_is_taken_up_once_and_the_card_stays_true() {
    let live = Turns::waiting();
    let late = at(Turns::LAST + 300_001);
    let card = live.card(late).expect("stalled");
    let ops = OperationSet::default();
    let (next, _) = step(&live, &ops, EventKind::ModelOutput, late).expect("goes on");
    assert_eq!((next.state(), next.continuation().1), (TurnState::Running, Some(late)));
    let (again, _) = step(&next, &ops, EventKind::ModelOutput, at(Turns::LAST + 400_000)).expect("goes on");
    assert_eq!(again.continuation().1, Some(late), "set once");
    assert_eq!(live.card(late), Some(card));
}

#[test]
fn t06_t07_t08_work_in_flight_has_its_own_time() {
    for live in [Turns::in_tool(), Turns::thinking()] {
        for minutes in [2, 5, 20, 25] {
            let look = live.classify(at(Turns::LAST + minutes * MIN));
            assert_eq!((look.state, look.reason), (Running, Reason::ActiveOperationLease), "{minutes}");
        }
        let over = |ms| live.classify(at(Turns::LAST + 30 * MIN + ms));
        assert_eq!((over(1).state, over(1).reason), (Suspect, Reason::LeaseExpired));
        assert_eq!(over(299_999).state, Suspect);
        assert_eq!(over(300_000).state, Stalled);
    }
}

#[test]
fn the_work_with_the_most_time_left_speaks_for_the_turn_and_no_tool_has_more_than_four_hours() {
    let live = Turns::in_tool_for(u64::MAX);
    assert_eq!(live.classify(at(Turns::LAST + OPERATION_LEASE_MAX_MS - 1)).state, Running);
    assert_eq!(live.classify(at(Turns::LAST + OPERATION_LEASE_MAX_MS)).state, Suspect);
    let (both, _) = step(&live, &OperationSet::default(), EventKind::ModelCall, at(Turns::LAST)).expect("asks");
    assert_eq!(both.classify(at(Turns::LAST + 40 * MIN)).reason, Reason::ActiveOperationLease);
}

#[test]
fn t11_across_boots_only_wall_time_counts() {
    let reloaded = Instant { mono_ms: 3, boot: BootId(2), ..at(Turns::LAST + 600_000) };
    let card = Turns::waiting().card(reloaded).expect("stalled");
    assert_eq!((card.seen.state, card.seen.basis), (Stalled, Some(TimeBasis::WallOnly)));
}

#[test]
fn t15_i071_a_thousand_looks_are_one_card_a_reference_class_and_reason() {
    let live = Turns::waiting();
    let keys = |from: u64| -> std::collections::BTreeSet<_> {
        (0..1000).filter_map(|i| live.card(at(Turns::LAST + from + i * 100))).map(|c| c.notice_key).collect()
    };
    assert_eq!((keys(120_000).len(), keys(300_000).len(), keys(250_000).len()), (1, 1, 2));
}

#[test]
fn t98_t99_t100_a_clock_that_jumps_stalls_nothing() {
    let live = Turns::waiting();
    let jump = |wall: i64, mono: u64| {
        let now = at(Turns::LAST);
        live.classify(Instant { wall_ms: now.wall_ms + wall, mono_ms: now.mono_ms + mono, ..now })
    };
    let back = jump(-3_600_000, 1_000);
    assert_eq!((back.state, back.anomaly), (Awaiting, Some(ClockAnomaly::Backward)));
    let forward = jump(36_000_000, 1_000);
    assert_eq!((forward.state, forward.anomaly), (Awaiting, Some(ClockAnomaly::Forward)));
    let eight_hours = 8 * 3_600_000;
    assert_eq!(jump(eight_hours, eight_hours as u64).state, Stalled, "a clock that counts sleep: on waking");
    assert_eq!(jump(eight_hours, 119_999).state, Awaiting, "one that stops: after two minutes awake");
    assert_eq!(jump(eight_hours, 120_000).state, Suspect);
}

#[test]
fn t97_a_reader_looks_a_thousand_times_and_every_byte_stays() {
    let live = Turns::in_tool();
    let before = crate::core::digest_of("turn", &live);
    (0..1000).for_each(|i| drop(live.card(at(i * 10_000))));
    assert_eq!(crate::core::digest_of("turn", &live), before);
}

#[test]
fn without_times_a_turn_is_what_is_stored() {
    let look = Turns::waiting().without_times().classify(at(u64::from(u32::MAX)));
    assert_eq!((look.state, look.reason, look.basis), (Awaiting, Reason::NoTimeEvidence, None));
}

#[test]
fn t101_stalled_is_never_before_suspect() {
    assert_eq!(Thresholds::new(300, 299, 0, 0), Err(LivenessRefusal::ThresholdOrder));
    let equal = Thresholds::new(300, 300, 0, 0).expect("equal is in order");
    let live = Turns::prompt(turn(1), TurnLivenessContract { thresholds: equal, ..contract() });
    assert_eq!(live.classify(at(1)).state, Suspect);
    use crate::core::{SchemaTag, decode, encode};
    let tag = SchemaTag { name: "thresholds", version: 1 };
    assert!(decode::<Thresholds>(tag, &encode(tag, &[2u64, 1, 0, 0]).expect("encodes")).is_err());
}

#[test]
fn t96_i075_nobody_says_that_a_browser_watches() {
    for watchdog in [Watchdog::Absent, Watchdog::Unverified] {
        let host = CapabilityBoundary { host_native_watchdog: watchdog };
        assert!(!host.can_self_wake());
        assert_eq!(host.claim_proactive(), Err(LivenessRefusal::WatchdogClaimUnsupported));
    }
    assert!(CapabilityBoundary { host_native_watchdog: Watchdog::Present }.claim_proactive().is_ok());
    assert_eq!(CapabilityBoundary::default().host_native_watchdog, Watchdog::Absent);
}
