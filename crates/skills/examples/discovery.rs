//! How long packages take to read, and whether the cost is linear:
//! `cargo run --release -p skills --example discovery`.
//!
//! Generated packages of the shapes and sizes that public ones have are inspected at three counts;
//! beside each time stands that of hashing the same bytes, which no reader can go below, so that
//! the ratio says more than the machine does. Discovery itself runs over five full roots.
#![allow(clippy::print_stdout, reason = "a bench speaks on standard output")]

use kernel::mount::{MemMount, MountPath, drive};
use skills::packages::{Discovery, Root, Verdict, bounds, inspect};
use std::time::{Duration, Instant};

/// The budget of the product: 7,500 packages in a second.
const BUDGET: (usize, Duration) = (7_500, Duration::from_secs(1));

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

fn main() {
    println!("{:>8} {:>9} {:>10} {:>12} {:>9} {:>10}", "packages", "MiB", "time", "a package", "hash", "ratio");
    let mut per = vec![];
    for count in [750usize, 7_500, 75_000] {
        let mut r = Lcg(7);
        let files: Vec<_> = (0..count).map(|i| package(&mut r, i)).collect();
        let bytes: usize = files.iter().map(|(_, b)| b.len()).sum();
        let begun = Instant::now();
        let portable =
            files.iter().filter(|(name, b)| inspect(name, b, b.len() as u64).verdict == Verdict::Portable).count();
        let took = begun.elapsed();
        let begun = Instant::now();
        let sum = files.iter().fold(0u8, |s, (_, b)| s ^ kernel::Digest::of(b).0[0]);
        let hash = begun.elapsed();
        let each = took.as_secs_f64() * 1e6 / count as f64;
        per.push(each);
        println!(
            "{count:>8} {:>9.1} {took:>10.1?} {each:>9.1} µs {hash:>9.1?} {:>9.2}×   ({portable} portable, {sum})",
            bytes as f64 / 1_048_576.0,
            took.as_secs_f64() / hash.as_secs_f64(),
        );
        if count == BUDGET.0 {
            println!("{:>8} budget {:?}: {:.2} of it", "", BUDGET.1, took.as_secs_f64() / BUDGET.1.as_secs_f64());
        }
    }
    println!("cost a package at 75,000 against 750: {:.2}× (1.00 is linear)", per[2] / per[0]);
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
    // The mount in memory looks through all of its files for a listing; that is not ours.
    let mut waited = Duration::ZERO;
    let begun = Instant::now();
    let mut d = Discovery::new(&MountPath::root());
    let found = drive(
        |replies| d.step(replies),
        |need| {
            let begun = Instant::now();
            let reply = mount.perform(need);
            waited += begun.elapsed();
            reply
        },
    );
    let took = begun.elapsed().saturating_sub(waited);
    println!(
        "discovery of {count} packages in five roots: {took:.1?} without the mount, {} usable",
        found.names().count()
    );
}
