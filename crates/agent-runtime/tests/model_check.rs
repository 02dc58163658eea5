//! A tenth of what `cargo xtask verify` explores, and the bugs that the exploration must see.

mod model;

use model::{Planted, Rules, SOMETIMES, run};

/// Room for one change, a takeover and its settlement.
const ONE: Rules =
    Rules { gen_max: 2, seq_max: 6, operations: 1, crashes: 0, freezes: 1, edits: 0, planted: Planted::None };

#[test]
fn i053_i059_i062_i065_two_writers_with_every_fault_keep_every_invariant() {
    let rules = Rules { gen_max: 4, seq_max: 9, operations: 2, crashes: 1, edits: 1, ..ONE };
    let report = run(rules, 50_000);
    assert_eq!(report.violation, None);
    assert!(report.states >= 50_000, "{}", report.states);
}

#[test]
fn i056_either_of_two_walls_alone_keeps_a_frozen_sender_from_being_misread() {
    for planted in [Planted::ToolWithoutLastLook, Planted::FreezeIsDeath] {
        let report = run(Rules { planted, ..ONE }, 200_000);
        assert!(report.fixpoint, "{planted:?}");
        assert_eq!(report.violation, None, "{planted:?}");
    }
}

#[test]
fn planted_bugs_are_seen() {
    for planted in Planted::ALL {
        let report = run(Rules { planted, ..ONE }, 200_000);
        assert!(report.violation.is_some(), "{planted:?} is not seen in {} states", report.states);
        assert!(report.reached.iter().all(|name| SOMETIMES.contains(name)));
    }
}
