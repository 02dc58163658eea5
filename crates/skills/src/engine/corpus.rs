//! The labelled corpus in tests/fixtures/activation: objectives in six languages, most of them hard
//! negatives, with the skills that must be active. The report shows precision and recall by reason
//! code; `cargo test -p skills corpus -- --nocapture` prints it.

use std::collections::{BTreeMap, BTreeSet};

use kernel::registry::Review;
use kernel::{Digest, SkillId};

use super::*;

const SKILLS: &str = include_str!("../../../../tests/fixtures/activation/skills.tsv");
const LANGUAGES: [(Language, &str); 6] = [
    (Language::English, include_str!("../../../../tests/fixtures/activation/en.tsv")),
    (Language::German, include_str!("../../../../tests/fixtures/activation/de.tsv")),
    (Language::French, include_str!("../../../../tests/fixtures/activation/fr.tsv")),
    (Language::Spanish, include_str!("../../../../tests/fixtures/activation/es.tsv")),
    (Language::Chinese, include_str!("../../../../tests/fixtures/activation/zh.tsv")),
    (Language::Japanese, include_str!("../../../../tests/fixtures/activation/ja.tsv")),
];

struct Row {
    language: Language,
    class: &'static str,
    expected: BTreeSet<&'static str>,
    objective: String,
}

impl Row {
    /// It looks like a request for a skill, and is none.
    fn is_hard_negative(&self) -> bool {
        self.expected.is_empty()
    }
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|l| !l.is_empty() && !l.starts_with('#'))
}

fn rows() -> Vec<Row> {
    let row = |language, line: &'static str| {
        let mut fields = line.splitn(3, '\t');
        let mut next = || fields.next().unwrap_or_else(|| panic!("{line}: three fields"));
        let (class, expected, objective) = (next(), next(), next());
        let expected = expected.split(',').map(str::trim).filter(|s| *s != "-").collect();
        Row { language, class, expected, objective: objective.replace("\\n", "\n") }
    };
    LANGUAGES.iter().flat_map(|(language, text)| lines(text).map(move |line| row(*language, line))).collect()
}

fn catalogue() -> Vec<SkillMeta> {
    let list = |text: &str| text.split(';').filter(|t| !t.is_empty()).map(str::to_owned).collect();
    lines(SKILLS)
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            SkillMeta {
                id: SkillId::new(fields[0]).expect("id"),
                version: None,
                description: fields[1].to_owned(),
                triggers: list(fields[2]),
                negative_terms: list(fields.get(3).copied().unwrap_or("")),
                required_tools: vec![],
                include_paths: vec![],
                exclude_paths: vec![],
                enabled: true,
                review: Review::BuiltIn,
                digest: Digest::of(fields[0].as_bytes()),
                body_bytes: 0,
            }
        })
        .collect()
}

#[derive(Default)]
struct Tally {
    right: usize,
    wrong: usize,
    missed: usize,
}

/// The reason that a class of objectives is there for.
fn reason_of(class: &str) -> Option<ReasonCode> {
    Some(match class {
        "exact" => ReasonCode::ExactInvocation,
        "trigger" => ReasonCode::TriggerPhrase,
        "description" => ReasonCode::DescriptionTerms,
        "quoted" => ReasonCode::MaskedQuote,
        "code" => ReasonCode::MaskedCode,
        "blockquote" => ReasonCode::MaskedBlockquote,
        "negated" => ReasonCode::NegatedClause,
        "descriptive" => ReasonCode::DescriptiveMention,
        _ => return None,
    })
}

#[test]
fn the_corpus_is_as_large_and_as_hard_as_it_says() {
    let rows = rows();
    assert!(rows.len() >= 600, "{}", rows.len());
    assert!(catalogue().len() >= 20);
    let hard = rows.iter().filter(|r| r.is_hard_negative()).count();
    assert!(hard * 100 >= rows.len() * 60, "{hard} of {}", rows.len());
    let distinct: BTreeSet<&str> = rows.iter().map(|r| r.objective.as_str()).collect();
    assert_eq!(distinct.len(), rows.len(), "no objective twice");
    let known: BTreeSet<String> = catalogue().iter().map(|s| s.id.to_string()).collect();
    assert!(rows.iter().flat_map(|r| &r.expected).all(|id| known.contains(*id)));
    for (language, _) in LANGUAGES {
        assert!(rows.iter().filter(|r| r.language == language).count() >= 100, "{language:?}");
    }
}

#[test]
fn nothing_masked_denied_or_described_activates_and_exact_invocations_do() {
    let engine = Engine::new(catalogue()).expect("engine");
    let mut by_reason: BTreeMap<&'static str, Tally> = BTreeMap::new();
    let mut by_class: BTreeMap<(&'static str, Language), (usize, usize)> = BTreeMap::new();
    let (mut failures, mut exact, mut exact_found) = (Vec::new(), 0usize, 0usize);
    let mut languages = 0;
    for row in rows() {
        let out = engine.evaluate(&row.objective, &Context::default());
        let active: BTreeSet<&str> = out.iter().filter(|e| e.is_active()).map(|e| e.skill.as_str()).collect();
        languages += usize::from(Analysis::of(&row.objective).language == Some(row.language));
        for e in out.iter().filter(|e| e.is_active()) {
            // The strongest reason is what it is active for.
            let reason = e.reasons.iter().find(|r| r.is_positive()).map_or("", ReasonCode::name);
            let tally = by_reason.entry(reason).or_default();
            if row.expected.contains(e.skill.as_str()) { tally.right += 1 } else { tally.wrong += 1 }
        }
        let missed = row.expected.iter().filter(|id| !active.contains(*id)).count();
        if let Some(reason) = reason_of(row.class) {
            let tally = by_reason.entry(reason.name()).or_default();
            if row.is_hard_negative() {
                // A negative reason is right where it is given for an objective of its class.
                let given = out.iter().any(|e| e.reasons.contains(&reason));
                if given { tally.right += 1 } else { tally.missed += 1 }
            } else {
                tally.missed += missed;
            }
        }
        if row.class == "exact" {
            exact += row.expected.len();
            exact_found += row.expected.len() - missed;
        }
        let right = active == row.expected;
        let class = by_class.entry((row.class, row.language)).or_default();
        class.0 += usize::from(right);
        class.1 += 1;
        if !right {
            failures.push(format!("{:?} {}: {:?} active {active:?}", row.language, row.class, row.objective));
        }
    }
    eprintln!("\nreason                right  wrong missed  precision recall");
    for (reason, t) in &by_reason {
        let share = |of: usize| if of == 0 { 100.0 } else { 100.0 * t.right as f64 / of as f64 };
        let (precision, recall) = (share(t.right + t.wrong), share(t.right + t.missed));
        eprintln!("{reason:<20} {:>6} {:>6} {:>6} {precision:>9.1}% {recall:>5.1}%", t.right, t.wrong, t.missed);
    }
    for ((class, language), (right, all)) in &by_class {
        eprintln!("{class:<12} {language:<9?} {right}/{all}");
    }
    eprintln!("language told: {languages}\n{}", failures.join("\n"));
    let forbidden = ["quoted", "code", "blockquote", "negated", "descriptive"];
    for ((class, language), (right, all)) in &by_class {
        if forbidden.contains(class) {
            assert_eq!(right, all, "false activation: {class} in {language:?}");
        }
    }
    assert!(exact_found * 100 >= exact * 98, "{exact_found} of {exact} exact invocations");
}
