//! How a native bench measures and reports: one line of JSON per figure, as `cargo xtask bench` reads it.

use serde_json::json;
use std::time::{Duration, Instant};

/// One input, timed a few times, with the peer that did the least that any solution must do for it.
pub struct Case {
    /// What tells it from the others.
    pub label: String,
    times: Vec<Duration>,
    peers: Vec<Duration>,
}

impl Case {
    /// Not timed yet.
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), times: vec![], peers: vec![] }
    }

    /// Times the product and its peer once, one after the other, so that both meet the same machine.
    pub fn round<T, P>(&mut self, product: impl FnOnce() -> T, peer: impl FnOnce() -> P) {
        self.times.push(timed(product));
        self.peers.push(timed(peer));
    }

    /// The middle of all rounds in ms: another program that took the processor once does not move it.
    fn middle(of: &mut [Duration]) -> Option<f64> {
        of.sort();
        of.get(of.len() / 2).map(|t| t.as_secs_f64() * 1e3)
    }
}

fn timed<T>(call: impl FnOnce() -> T) -> Duration {
    let from = Instant::now();
    std::hint::black_box(call());
    from.elapsed()
}

/// Prints the middle case and the one that 99 of 100 do not exceed, in ms beside the budget and beside the peer on
/// that same case. Prints nothing where a case was not measured.
pub fn report(name: &str, budget: f64, peer: &str, cases: Vec<Case>) {
    let count = cases.len();
    let mut done: Vec<(f64, f64, String)> = cases
        .into_iter()
        .filter_map(|mut c| Some((Case::middle(&mut c.times)?, Case::middle(&mut c.peers)?, c.label)))
        .collect();
    if done.len() < count || count == 0 {
        return;
    }
    done.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (words, percent) in [("median", 50), ("99 %", 99)] {
        let (value, peers, label) = &done[((count - 1) * percent).div_ceil(100)];
        let figure = json!({
            "name": format!("{name}, {words}"), "value": value, "unit": "ms", "budget": budget,
            "peer": { "name": peer, "value": peers }, "note": format!("of {count}: {label}"),
        });
        println!("{figure}");
    }
}
