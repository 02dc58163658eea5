//! The exhaustive check at full size: prints what was explored and reached; ends with 1 if
//! something does not hold or was not reached. `cargo run --release --example model_check [STATES]`.
#![allow(clippy::print_stdout, reason = "it is what it is for")]

#[allow(dead_code, reason = "the planted bugs are the test's")]
#[path = "../tests/model/mod.rs"]
mod model;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Instant;

use model::{Planted, Report, Rules, SOMETIMES, run};

fn main() -> ExitCode {
    let limit = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(600_000);
    let wide =
        Rules { gen_max: 4, seq_max: 9, operations: 2, crashes: 1, freezes: 1, edits: 1, planted: Planted::None };
    // One change through every way to its end, without a limit; then two, as far as the limit.
    let whole = Rules { gen_max: 3, seq_max: 7, operations: 1, edits: 0, ..wide };
    let mut all = BTreeSet::new();
    let mut holds = true;
    for (rules, limit) in [(whole, usize::MAX), (wide, limit)] {
        let start = Instant::now();
        let Report { states, steps, depth, fixpoint, reached, violation } = run(rules, limit);
        let speed = steps as f64 / start.elapsed().as_secs_f64();
        let edge = if fixpoint { "to the fixpoint" } else { "to the limit" };
        println!("{states} states, {steps} steps, depth {depth}, {edge}; {speed:.0} steps a second");
        if let Some((why, way)) = violation {
            println!("{why}\n  {}", way.join("\n  "));
            holds = false;
        }
        all.extend(reached);
    }
    let missing: Vec<_> = SOMETIMES.iter().filter(|name| !all.contains(*name)).collect();
    println!("{} of {} reached; missing: {missing:?}", all.len(), SOMETIMES.len());
    if holds && missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
