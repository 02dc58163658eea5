//! What the engine costs: 200 skills against a 16 KiB objective, budget 5 ms, and how it grows with
//! each. `cargo run --release -p skills --example activation`. Beside each figure stands that of
//! one pass over the same bytes that looks up every word in one map, the least any engine does.
#![allow(clippy::print_stdout)] // it is its output that is wanted

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use kernel::registry::Review;
use kernel::{Digest, SkillId};
use serde_json::json;
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

fn peer(text: &str) -> (&'static str, Duration) {
    let map: HashMap<&str, usize> = WORDS.iter().enumerate().map(|(n, w)| (*w, n)).collect();
    let time = measure(|| {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
        black_box(words.filter(|w| map.contains_key(w.to_lowercase().as_str())).count());
    });
    ("one look-up a word", time)
}

/// Prints a figure as `cargo xtask bench` reads it.
fn figure(name: &str, time: Duration, (least, peer): (&str, Duration), budget: Option<Duration>, note: &str) {
    let ms = |t: Duration| t.as_secs_f64() * 1e3;
    let mut figure = json!({
        "name": name, "value": ms(time), "unit": "ms", "note": note,
        "peer": { "name": least, "value": ms(peer) },
    });
    if let Some(budget) = budget {
        figure["budget"] = ms(budget).into();
    }
    println!("{figure}");
}

fn main() {
    let context = Context::default();
    let time = |text: &str, engine: &Engine| measure(|| _ = black_box(engine.evaluate(black_box(text), &context)));
    let whole = objective(OBJECTIVE_MAX);
    for count in [50, 100, 200, 400] {
        let engine = Engine::new(catalogue(count)).expect("within bounds");
        let budget = (count == 200).then_some(BUDGET);
        figure(&format!("activation, {count} skills, 16 KiB"), time(&whole, &engine), peer(&whole), budget, "");
    }
    let engine = Engine::new(catalogue(200)).expect("within bounds");
    for kib in [1, 4] {
        let text = objective(kib * 1024);
        figure(&format!("activation, 200 skills, {kib} KiB"), time(&text, &engine), peer(&text), None, "");
    }
    let mut slowest = (Duration::ZERO, "");
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
        slowest = slowest.max((time(&hostile(piece), &engine), piece));
    }
    let note = format!("of {:?}", slowest.1);
    figure("activation, 200 skills, hostile 16 KiB", slowest.0, peer(&hostile(slowest.1)), None, &note);
    let skills = catalogue(1000);
    let compile = measure(|| _ = black_box(Engine::new(skills.clone())));
    let copy = ("a copy of them", measure(|| _ = black_box(skills.clone())));
    figure("activation, 1,000 skills made ready", compile, copy, None, "");
}
