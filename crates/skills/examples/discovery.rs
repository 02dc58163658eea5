//! How long packages take to read, and whether the cost is linear: `cargo xtask bench skills`.
//!
//! Generated packages of the shapes and sizes that public ones have are inspected at three counts;
//! the peer hashes the same bytes, which no reader can go below. Discovery itself runs over five
//! full roots. One line of JSON per figure.
#![allow(clippy::print_stdout, reason = "it reports on standard output")]

use kernel::Digest;
use kernel::mount::{MemMount, MountPath, drive};
use serde_json::json;
use skills::packages::{Discovery, Root, Verdict, bounds, inspect};
use std::time::{Duration, Instant};

/// design.md §5, in ms: 7,500 packages in a second, and as much for each at other counts.
const BUDGET: f64 = 1000.0;

/// A generator that needs no crate: the same files in every run.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

const WORDS: [&str; 16] = [
    "harbour", "tide", "table", "check", "the", "release", "against", "its", "plan", "and", "report", "what", "is",
    "missing", "größe", "潮汐",
];

fn words(r: &mut Lcg, n: u64) -> String {
    (0..n).map(|_| WORDS[r.next(16) as usize]).collect::<Vec<_>>().join(" ")
}

/// One package: name and file. Most are plain, some have what the lenient reader is for.
fn package(r: &mut Lcg, i: usize) -> (String, Vec<u8>) {
    let name = format!("skill-{i:05}");
    let n = 12 + r.next(40);
    let about = words(r, n);
    let description = match r.next(5) {
        0 => format!("description: >-\n  {about}\n  {about}\n"),
        1 => format!("description: |\n  {about}\n"),
        2 => format!("description: \"{about}\"\n"),
        _ => format!("description: {about}\n"),
    };
    let more = match r.next(10) {
        0 => "version: 1.0\nauthor: harbour\n",
        1 => "tags: [tide, table]\n",
        2 => "metadata:\n  version: 1.2\n  author: harbour\n",
        3 => "allowed-tools: Read Grep Bash(git log:*)\n",
        4 => "argument-hint: [harbour] [day]\n",
        _ => "",
    };
    let mut text = format!("---\nname: {name}\n{description}{more}---\n# {name}\n\n");
    // Median of public files 3.7 KiB, one in ten over 13 KiB.
    let lines = if r.next(10) == 0 { 250 } else { 20 + r.next(100) };
    for _ in 0..lines {
        let n = 6 + r.next(8);
        text.push_str(&words(r, n));
        text.push_str(".\n");
    }
    (name, text.into_bytes())
}

fn ms(t: Duration) -> f64 {
    t.as_secs_f64() * 1e3
}

/// The middle of five rounds, and what the last one gave.
fn middle<T>(mut call: impl FnMut() -> (Duration, T)) -> (f64, T) {
    let (first, mut last) = call();
    let mut times = vec![first];
    for _ in 0..4 {
        let (took, result) = call();
        (times, last) = ([times, vec![took]].concat(), result);
    }
    times.sort();
    (ms(times[2]), last)
}

fn timed<T>(call: impl FnOnce() -> T) -> (Duration, T) {
    let begun = Instant::now();
    let result = std::hint::black_box(call());
    (begun.elapsed(), result)
}

fn main() {
    let mut per = vec![];
    for count in [750usize, 7_500, 75_000] {
        let mut r = Lcg(7);
        let files: Vec<_> = (0..count).map(|i| package(&mut r, i)).collect();
        let bytes: usize = files.iter().map(|(_, b)| b.len()).sum();
        let portable = |(name, b): &&(String, Vec<u8>)| inspect(name, b, b.len() as u64).verdict == Verdict::Portable;
        let (took, portable) = middle(|| timed(|| files.iter().filter(portable).count()));
        let (hash, _) = middle(|| timed(|| files.iter().fold(0, |s, (_, b)| s ^ Digest::of(b).0[0])));
        per.push(took / count as f64);
        let figure = json!({
            "name": format!("{count} skill packages read"), "value": took, "unit": "ms",
            "budget": BUDGET * count as f64 / 7_500.0, "peer": { "name": "SHA-256 of the same bytes", "value": hash },
            "note": format!("{:.1} MiB, {portable} portable", bytes as f64 / 1_048_576.0),
        });
        println!("{figure}");
    }
    let figure = json!({
        "name": "a package at 75,000 against one at 750", "value": per[2] / per[0], "unit": "×",
        "peer": { "name": "linear", "value": 1.0 },
    });
    println!("{figure}");
    discovery();
}

/// Five roots, each at its cap: the whole way with listings and reads.
fn discovery() {
    let mut r = Lcg(11);
    let mut mount = MemMount::default();
    let mut count = 0;
    for root in Root::ALL {
        for _ in 0..bounds::ROOT_ENTRIES_MAX {
            let (name, bytes) = package(&mut r, count);
            if let Ok(path) = MountPath::parse(&format!("{root}/{name}/SKILL.md")) {
                mount.files.insert(path, bytes);
                count += 1;
            }
        }
    }
    let (took, found) = middle(|| {
        // The mount in memory looks through all of its files for a listing; that is not ours.
        let mut waited = Duration::ZERO;
        let mut d = Discovery::new(&MountPath::root());
        let (all, found) = timed(|| {
            drive(
                |replies| d.step(replies),
                |need| {
                    let (took, reply) = timed(|| mount.perform(need));
                    waited += took;
                    reply
                },
            )
        });
        (all.saturating_sub(waited), found)
    });
    let figure = json!({
        "name": format!("{count} packages discovered in five roots"), "value": took, "unit": "ms",
        "budget": BUDGET * count as f64 / 7_500.0,
        "note": format!("without the mount; {} usable", found.names().count()),
    });
    println!("{figure}");
}
