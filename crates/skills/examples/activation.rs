//! What the engine costs: 200 skills against a 16 KiB objective, budget 5 ms, and how it grows with
//! each. `cargo run --release -p skills --example activation`. Beside each figure stands that of
//! one pass over the same bytes that looks up every word in one map, the least any engine does.
#![allow(clippy::print_stdout)] // it is its output that is wanted

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use kernel::registry::Review;
use kernel::{Digest, SkillId};
use skills::engine::{Context, Engine, OBJECTIVE_MAX, SkillMeta};

const WORDS: [&str; 24] = [
    "audit",
    "release",
    "candidate",
    "invoice",
    "harbour",
    "tide",
    "menu",
    "translate",
    "minutes",
    "meeting",
    "recipe",
    "scale",
    "budget",
    "forecast",
    "query",
    "table",
    "photo",
    "garden",
    "contract",
    "slide",
    "poem",
    "travel",
    "report",
    "guide",
];
const BUDGET: Duration = Duration::from_millis(5);
const ROUNDS: u32 = 25;

fn catalogue(count: usize) -> Vec<SkillMeta> {
    let word = |n: usize| WORDS[n % WORDS.len()];
    let skill = |n: usize| {
        let id = format!("{}-{}-{n}", word(n), word(n / 3 + 7));
        let trigger = |k: usize| format!("{} the {} {}", word(n + k), word(n * 5 + k), word(n / 7 + 3 * k));
        SkillMeta {
            id: SkillId::new(&id).expect("a name"),
            version: None,
            description: format!(
                "Checks {} and {} of a {} before the {}. Use when somebody needs {} number {n}. Do not use for {}.",
                word(n),
                word(n + 1),
                word(n + 5),
                word(n * 3),
                word(n + 11),
                word(n + 17)
            ),
            triggers: (0..16).map(trigger).collect(),
            negative_terms: vec![format!("{} party {n}", word(n))],
            required_tools: vec![],
            include_paths: vec![],
            // Most skills are for every path.
            exclude_paths: if n.is_multiple_of(8) { vec!["generated/**".into()] } else { vec![] },
            enabled: true,
            review: Review::BuiltIn,
            digest: Digest::of(id.as_bytes()),
            body_bytes: 4096,
        }
    };
    (0..count).map(skill).collect()
}

/// Ordinary prose with evidence, denials, quotations and code in it.
fn objective(bytes: usize) -> String {
    let mut text = String::new();
    let mut n = 0;
    while text.len() < bytes {
        let (a, b) = (WORDS[n % WORDS.len()], WORDS[(n * 7 + 3) % WORDS.len()]);
        text.push_str(&match n % 6 {
            0 => format!("Please look at the {a} and the {b} that we got. "),
            1 => format!("Do not {a} the {b} before Monday, but keep it. "),
            2 => format!("She wrote “{a} the {b}” and `run /{a}-{b}-{n}` below.\n"),
            3 => format!("{a} the {b} {a}, then use /{a}-{b}-{n} on it.\n\n"),
            4 => format!("> {a} the {b}\n"),
            _ => format!("- the {a} of {b} is late\n"),
        });
        n += 1;
    }
    text.truncate(bytes);
    text
}

/// Text that is one kind of mark over and over: what would find a search that starts again.
fn hostile(piece: &str) -> String {
    let mut text = piece.repeat(OBJECTIVE_MAX / piece.len() + 1);
    text.truncate(text.floor_char_boundary(OBJECTIVE_MAX));
    text
}

/// The middle of some rounds.
fn measure(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

fn peer(text: &str) -> Duration {
    let map: HashMap<&str, usize> = WORDS.iter().enumerate().map(|(n, w)| (*w, n)).collect();
    measure(|| {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
        black_box(words.filter(|w| map.contains_key(w.to_lowercase().as_str())).count());
    })
}

fn main() {
    let context = Context::default();
    println!("{:<34} {:>10} {:>10} {:>7}", "objective, skills", "median", "peer", "ratio");
    let row = |name: &str, text: &str, engine: &Engine| {
        let time = measure(|| _ = black_box(engine.evaluate(black_box(text), &context)));
        let peer = peer(text);
        let ratio = time.as_secs_f64() / peer.as_secs_f64().max(1e-9);
        println!("{name:<34} {time:>10.2?} {peer:>10.2?} {ratio:>6.1}×");
        time
    };
    let engines: Vec<(usize, Engine)> =
        [50, 100, 200, 400].into_iter().map(|n| (n, Engine::new(catalogue(n)).expect("within bounds"))).collect();
    let whole = objective(OBJECTIVE_MAX);
    let mut headline = Duration::ZERO;
    for (count, engine) in &engines {
        let time = row(&format!("16 KiB, {count} skills"), &whole, engine);
        if *count == 200 {
            headline = time;
        }
    }
    let engine = &engines[2].1;
    for kib in [1, 2, 4, 8] {
        row(&format!("{kib} KiB, 200 skills"), &objective(kib * 1024), engine);
    }
    for piece in [
        "\"",
        "'a ",
        "“",
        "「",
        "` ",
        "``` ",
        "<!-",
        "<code",
        "](",
        "/a ",
        "$a-b ",
        "not ",
        "run ",
        "so ",
        "不",
        "しない",
        "audit the ",
        "only ",
        "> x\n",
        "\n\n    x",
        "please ",
        "release ",
    ] {
        row(&format!("16 KiB of {piece:?}"), &hostile(piece), engine);
    }
    let skills = catalogue(1000);
    let start = Instant::now();
    let engine = Engine::new(skills).expect("within bounds");
    println!("1000 skills compiled in {:.2?} ({})", start.elapsed(), engine.skills().len());
    let verdict = if headline <= BUDGET { "within" } else { "over" };
    println!("200 skills, 16 KiB: {headline:.2?}, {verdict} the budget of {BUDGET:?}");
}
