//! Descriptions as terms: light stems of words, pairs of characters where a script sets no spaces.
//! What stands in a "do not use for" sentence counts against (engine.md §2.3, 7).

use std::collections::{BTreeSet, HashMap};

use super::Span;
use super::clause::{Reading, Stand};
use super::language::{Language, lexicon};
use super::text::{Kind, Tokens, tokens};

/// Longest description read, in bytes: 1,024 code points of the format.
const DESCRIPTION_BYTES_MAX: usize = 4096;
/// Distinct terms that a match needs at least.
const TERMS_MIN: usize = 3;
/// Distinct terms that are enough whatever the description's length.
const TERMS_ENOUGH: usize = 4;
/// In how many descriptions a term may be and still tell one from another.
const RARE_MAX: usize = 2;
/// Hits of near-miss terms that veto.
const VETO_MIN: usize = 2;
/// Shortest word with content, in characters.
const WORD_MIN: usize = 3;

/// The terms of one description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    /// What it is for.
    pub positive: BTreeSet<Box<str>>,
    /// What it is not for.
    pub negative: BTreeSet<Box<str>>,
}

impl Terms {
    pub(super) fn of(description: &str) -> Self {
        let text = super::cut(description, DESCRIPTION_BYTES_MAX);
        let words = tokens(text, &[]);
        let reading = Reading::of(&words, false);
        let language = language_of(&reading, text);
        let (mut positive, mut negative) = (BTreeSet::new(), BTreeSet::new());
        each(&words, &reading, language, |term, place| {
            let set = match reading.stand(place, place + 1) {
                Stand::Negated | Stand::Ambiguous => &mut negative,
                Stand::Positive | Stand::Descriptive => &mut positive,
            };
            set.insert(term.into());
        });
        positive.retain(|term| !negative.contains(term));
        Self { positive, negative }
    }
}

/// Descriptions are short and often have no function word at all; then plain letters are taken
/// for English, the language of most.
fn language_of(reading: &Reading, text: &str) -> Option<Language> {
    reading.language.or_else(|| text.is_ascii().then_some(Language::English))
}

/// Calls `found(term, place)` for each term that is said.
fn each(text: &Tokens, reading: &Reading, language: Option<Language>, mut found: impl FnMut(&str, usize)) {
    let mut stem = String::new();
    for (place, &n) in reading.said.iter().enumerate() {
        let token = &text.list[n];
        let word = text.text(token);
        match token.kind {
            Kind::Id => {}
            Kind::Word => {
                if word.chars().nth(WORD_MIN - 1).is_some() && !lexicon().is_empty_word(word, language) {
                    stem.clear();
                    stem_into(word, language, &mut stem);
                    found(&stem, place);
                }
            }
            Kind::Han | Kind::Kana => {
                let next = reading.said.get(place + 1).map(|&n| &text.list[n]);
                if let Some(next) = next.filter(|t| t.gap.joined && !t.gap.newline && t.kind == token.kind) {
                    let pair = [word, text.text(next)].concat();
                    if !pair.chars().any(is_hiragana) && !lexicon().is_empty_word(word, language) {
                        found(&pair, place);
                    }
                }
            }
        }
    }
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}')
}

/// Endings that carry no content, longest first; what remains has at least three letters.
fn endings(language: Option<Language>) -> &'static [&'static str] {
    match language {
        Some(Language::English) => &["ings", "ing", "ies", "ied", "ers", "es", "ed", "er", "ly", "s", "e", "y"],
        Some(Language::German) => {
            &["ungen", "enden", "ung", "ern", "est", "en", "em", "er", "es", "et", "st", "e", "n", "s", "t"]
        }
        Some(Language::French) => &[
            "ements", "ement", "ations", "ation", "ées", "ent", "ons", "ant", "és", "ée", "er", "ez", "es", "é", "e",
            "s",
        ],
        Some(Language::Spanish) => &[
            "aciones", "ación", "ando", "iendo", "adas", "ados", "ada", "ado", "ar", "er", "ir", "es", "os", "as", "a",
            "e", "o", "s",
        ],
        _ => &[],
    }
}

fn stem_into(word: &str, language: Option<Language>, out: &mut String) {
    let word = word.strip_suffix("'s").unwrap_or(word);
    let base = endings(language)
        .iter()
        .filter_map(|ending| word.strip_suffix(ending))
        .find(|base| base.chars().count() >= WORD_MIN)
        .unwrap_or(word);
    out.push_str(base);
    if language == Some(Language::English) {
        // summarise and summarize, planned and plan, tests and testing's test.
        if out.ends_with("iz") {
            out.replace_range(out.len() - 1.., "s");
        }
        let doubled = {
            let bytes = out.as_bytes();
            bytes.len() > WORD_MIN
                && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
                && !matches!(bytes[bytes.len() - 1], b's' | b'l' | b'e' | b'o')
        };
        if doubled {
            out.pop();
        }
    }
}

/// The terms of a catalogue, and which skills have them.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    postings: HashMap<Box<str>, Posting>,
    /// By skill: how many positive terms.
    sizes: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct Posting {
    positive: Vec<u32>,
    negative: Vec<u32>,
}

/// What an objective shares with one description.
#[derive(Clone, Debug, Default)]
pub(super) struct Hits {
    pub terms: usize,
    rare: bool,
    pub vetoes: usize,
    pub first: Option<Span>,
    pub last: Option<Span>,
    pub first_veto: Option<Span>,
}

impl Index {
    pub(super) fn build(all: &[Terms]) -> Self {
        let mut index = Self { postings: HashMap::new(), sizes: all.iter().map(|t| t.positive.len()).collect() };
        for (n, terms) in all.iter().enumerate() {
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            for term in &terms.positive {
                index.postings.entry(term.clone()).or_default().positive.push(n);
            }
            for term in &terms.negative {
                index.postings.entry(term.clone()).or_default().negative.push(n);
            }
        }
        index
    }

    /// Counts what the first `window` bytes of an objective share with each description; each
    /// distinct term counts once.
    pub(super) fn hits(&self, text: &Tokens, reading: &Reading, window: usize) -> Vec<Hits> {
        let mut hits = vec![Hits::default(); self.sizes.len()];
        let Some(language) = reading.language else { return hits };
        let mut seen: HashMap<&str, ()> = HashMap::new();
        each(text, reading, Some(language), |term, place| {
            let span = text.list[reading.said[place]].span;
            let Some((term, posting)) = self.postings.get_key_value(term) else { return };
            if span.end > window || reading.is_mute(text, place) || seen.insert(term, ()).is_some() {
                return;
            }
            for &n in &posting.positive {
                let hit = &mut hits[n as usize];
                hit.terms += 1;
                hit.rare |= posting.positive.len() <= RARE_MAX;
                hit.first.get_or_insert(span);
                hit.last = Some(span);
            }
            for &n in &posting.negative {
                let hit = &mut hits[n as usize];
                hit.vetoes += 1;
                hit.first_veto.get_or_insert(span);
            }
        });
        hits
    }

    /// True when the hits are enough for a skill.
    pub(super) fn is_enough(&self, skill: usize, hits: &Hits) -> bool {
        let covers = hits.terms >= TERMS_ENOUGH || 3 * hits.terms >= self.sizes[skill];
        hits.terms >= TERMS_MIN && hits.rare && covers
    }
}

impl Hits {
    pub(super) fn is_vetoed(&self) -> bool {
        self.vetoes >= VETO_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflections_share_a_stem() {
        let stem = |word: &str, language| {
            let mut out = String::new();
            stem_into(word, Some(language), &mut out);
            out
        };
        for group in [
            &["audit", "audits", "auditing", "audited"][..],
            &["release", "releases", "releasing"],
            &["summarise", "summarizes", "summarising"],
            &["plan", "planned", "planning"],
        ] {
            for word in group {
                assert_eq!(stem(word, Language::English), stem(group[0], Language::English), "{word}");
            }
        }
        assert_eq!(stem("prüfung", Language::German), stem("prüfen", Language::German));
        assert_eq!(stem("publicaciones", Language::Spanish), stem("publicación", Language::Spanish));
    }

    #[test]
    fn a_sentence_of_what_it_is_not_for_counts_against() {
        let terms = Terms::of("Checks a release candidate. Do not use for hotfix branches.");
        assert!(terms.positive.contains("candidat") && terms.negative.contains("hotfix"));
        assert!(!terms.positive.contains("branch"));
        let terms = Terms::of("审查发布候选版本。不要用于热修复分支。");
        assert!(terms.positive.contains("发布") && terms.negative.contains("修复"), "{terms:?}");
    }
}
