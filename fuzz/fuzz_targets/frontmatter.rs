//! A SKILL.md of any bytes gets a verdict: no panic, every place inside the text, every bound held.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skills::packages::{Verdict, bounds, inspect};

fuzz_target!(|bytes: &[u8]| {
    let seen = inspect("tide-table", bytes, bytes.len() as u64);
    assert!(seen.body.start <= seen.body.end && seen.body.end <= bytes.len());
    assert!(seen.diagnostics.len() <= bounds::DIAGNOSTICS_MAX);
    assert!(seen.findings.runs.len() <= bounds::FINDINGS_MAX);
    assert_eq!(seen.manifest.is_some(), seen.verdict != Verdict::Unreadable);
    let lines = bytes.split(|b| matches!(b, b'\n' | b'\r')).count();
    for d in &seen.diagnostics {
        assert!(d.at.is_some_and(|at| at.line >= 1 && at.column >= 1 && at.line as usize <= lines));
    }
    assert_eq!(seen, inspect("tide-table", bytes, bytes.len() as u64));
});
