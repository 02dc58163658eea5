//! Which language an objective is in, and what its words do. One table a language, each data only;
//! the lexicon joins them into one automaton, so a text is read once whatever the language
//! (decision 23: most function-word hits, a tie or none is unknown).

mod chinese;
mod english;
mod french;
mod german;
mod japanese;
mod spanish;

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::phrase::Phrases;
use super::text::{Kind, Tokens, tokens};

/// A language with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Language {
    English,
    German,
    French,
    Spanish,
    Chinese,
    Japanese,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::English, Self::German, Self::French, Self::Spanish, Self::Chinese, Self::Japanese];

    fn bit(self) -> u8 {
        1 << self as u8
    }

    /// It sets no spaces between words.
    #[must_use]
    pub fn is_unspaced(self) -> bool {
        matches!(self, Self::Chinese | Self::Japanese)
    }
}

/// How far a negator reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// From itself to the end of its clause.
    Forward,
    /// From the beginning of its segment to itself.
    Back,
    /// Its segment: between commas.
    Segment,
    /// From the beginning of its segment to the end of its clause.
    Around,
    /// All of its clause.
    Clause,
}

/// What a phrase does in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// Betrays the language.
    Function,
    /// Has no content in a description.
    Stop,
    /// Negates.
    Negator,
    /// Negates, unless it is the second half of a negation.
    Follower,
    /// Means something else than the shorter phrase inside it.
    Neutral,
    /// Begins a clause.
    Break,
    /// Begins a segment.
    Joint,
    /// Invokes what follows.
    Verb,
    /// Invokes its object in a request: with, by means of.
    Preposition,
    /// Invokes what went before.
    After,
    /// Speaks about what follows.
    Meta,
    /// The same, where it is a verb.
    Guarded,
    /// Speaks about what its clause holds.
    MetaAny,
    /// Asks about what its clause holds, at its beginning.
    Question,
    /// A verb follows.
    Lead,
    /// Somebody who does it, so that nobody is asked to.
    Subject,
    /// The one who may be asked.
    Addressee,
    /// Asks the addressee.
    Asking,
    /// May stand between somebody and the verb.
    Adverb,
    /// Begins a statement.
    Starter,
    /// Makes a request of its clause.
    Request,
    /// Says nothing before a command.
    Filler,
    /// Before a colon: what follows is somebody's text.
    Reporter,
}

const CLASSES: usize = Class::Reporter as usize + 1;

/// The words of one language.
struct Table {
    language: Language,
    function: &'static [&'static str],
    stop: &'static [&'static str],
    negators: &'static [(&'static str, Scope)],
    followers: &'static [&'static str],
    neutral: &'static [&'static str],
    breaks: &'static [&'static str],
    joints: &'static [&'static str],
    verbs: &'static [&'static str],
    prepositions: &'static [&'static str],
    after: &'static [&'static str],
    meta: &'static [&'static str],
    guarded: &'static [&'static str],
    meta_any: &'static [&'static str],
    questions: &'static [&'static str],
    leads: &'static [&'static str],
    subjects: &'static [&'static str],
    addressees: &'static [&'static str],
    asking: &'static [&'static str],
    adverbs: &'static [&'static str],
    starters: &'static [&'static str],
    requests: &'static [&'static str],
    fillers: &'static [&'static str],
    reporters: &'static [&'static str],
}

const TABLES: [&Table; 6] =
    [&english::TABLE, &german::TABLE, &french::TABLE, &spanish::TABLE, &chinese::TABLE, &japanese::TABLE];

/// Negators that negate in whatever text they stand: nobody means anything else by them.
const EVERYWHERE: [&str; 16] = [
    "not", "never", "don't", "do not", "without", "nicht", "niemals", "keine", "keinen", "ohne", "pas", "jamais", "n'",
    "sans", "nunca", "jamás",
];

/// What may follow a Japanese verb that then tells instead of asks.
const TOLD: [&str; 12] =
    ["いる", "います", "いた", "いました", "いない", "も", "は", "しまっ", "おり", "みた", "みると", "とし"];

/// What one phrase may mean: for each class, the languages in which it is of it.
#[derive(Clone, Debug, Default)]
struct Senses {
    languages: [u8; CLASSES],
    scopes: Vec<(Language, Scope)>,
    everywhere: bool,
}

/// A phrase found in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Its first token, as an index into what was read.
    pub start: usize,
    /// One past its last token.
    pub end: usize,
    /// The classes it is of in the language at hand, as bits.
    pub classes: u32,
    /// How far it negates.
    pub scope: Option<Scope>,
}

impl Mark {
    pub(super) fn is(&self, class: Class) -> bool {
        self.classes & bit(class) != 0
    }
}

pub(super) fn bit(class: Class) -> u32 {
    1 << class as u32
}

/// All tables as one automaton.
pub(super) struct Lexicon {
    phrases: Phrases,
    senses: Vec<Senses>,
}

/// The one lexicon, built at first use.
pub(super) fn lexicon() -> &'static Lexicon {
    static LEXICON: OnceLock<Lexicon> = OnceLock::new();
    LEXICON.get_or_init(Lexicon::build)
}

impl Lexicon {
    fn build() -> Self {
        let mut lexicon = Self { phrases: Phrases::default(), senses: Vec::new() };
        for table in TABLES {
            let lists: [(Class, &[&str]); CLASSES - 1] = [
                (Class::Function, table.function),
                (Class::Stop, table.stop),
                (Class::Follower, table.followers),
                (Class::Neutral, table.neutral),
                (Class::Break, table.breaks),
                (Class::Joint, table.joints),
                (Class::Verb, table.verbs),
                (Class::Preposition, table.prepositions),
                (Class::After, table.after),
                (Class::Meta, table.meta),
                (Class::Guarded, table.guarded),
                (Class::MetaAny, table.meta_any),
                (Class::Question, table.questions),
                (Class::Lead, table.leads),
                (Class::Subject, table.subjects),
                (Class::Addressee, table.addressees),
                (Class::Asking, table.asking),
                (Class::Adverb, table.adverbs),
                (Class::Starter, table.starters),
                (Class::Request, table.requests),
                (Class::Filler, table.fillers),
                (Class::Reporter, table.reporters),
            ];
            for (class, list) in lists {
                for phrase in list {
                    lexicon.add(phrase, class, table.language);
                }
            }
            for (phrase, scope) in table.negators {
                let senses = lexicon.add(phrase, Class::Negator, table.language);
                senses.scopes.push((table.language, *scope));
                senses.everywhere |= EVERYWHERE.contains(phrase);
            }
            if table.language == Language::Japanese {
                for verb in table.after {
                    // A request follows: as a favour to the speaker.
                    lexicon.add(&format!("{verb}もら"), Class::After, table.language);
                    for told in TOLD {
                        lexicon.add(&format!("{verb}{told}"), Class::Neutral, table.language);
                    }
                }
            }
        }
        lexicon.phrases.finish();
        lexicon
    }

    fn add(&mut self, phrase: &str, class: Class, language: Language) -> &mut Senses {
        let id = self.phrases.add(&tokens(phrase, &[])) as usize;
        self.senses.resize_with(self.senses.len().max(id + 1), Senses::default);
        let senses = &mut self.senses[id];
        senses.languages[class as usize] |= language.bit();
        senses
    }

    /// All phrases in `read`, whatever they mean: first token, one past the last, phrase.
    pub(super) fn scan(&self, text: &Tokens, read: &[usize]) -> Vec<(usize, usize, u32)> {
        let mut found = Vec::new();
        self.phrases.run(text, read.iter().copied(), |phrase, at, len| found.push((at + 1 - len, at + 1, phrase)));
        found
    }

    /// Function words by language, and what the scripts say.
    pub(super) fn detect(&self, text: &Tokens, read: &[usize], found: &[(usize, usize, u32)]) -> Option<Language> {
        let (mut kana, mut han) = (0usize, 0usize);
        for &n in read {
            match text.list[n].kind {
                Kind::Kana => kana += 1,
                Kind::Han => han += 1,
                Kind::Word | Kind::Id => {}
            }
        }
        let mut hits = [0usize; Language::ALL.len()];
        for &(_, _, phrase) in found {
            let languages = self.senses[phrase as usize].languages[Class::Function as usize];
            for (n, language) in Language::ALL.into_iter().enumerate() {
                hits[n] += usize::from(languages & language.bit() != 0);
            }
        }
        let (zh, ja) = (Language::Chinese as usize, Language::Japanese as usize);
        if kana > 0 {
            (hits[zh], hits[ja]) = (0, hits[ja].max(1));
        } else {
            hits[ja] = 0;
            hits[zh] = if han > 0 { hits[zh].max(1) } else { 0 };
        }
        let most = *hits.iter().max()?;
        let mut best = Language::ALL.into_iter().enumerate().filter(|&(n, _)| hits[n] == most && most > 0);
        match (best.next(), best.next()) {
            (Some((_, language)), None) => Some(language),
            _ => None,
        }
    }

    /// What the phrases mean in a language, or in any when it is unknown; a phrase inside a longer
    /// one means nothing by itself. In order of their beginnings.
    pub(super) fn marks(&self, found: &[(usize, usize, u32)], language: Option<Language>) -> Vec<Mark> {
        let all = language.map_or(0xff, Language::bit);
        let mut marks: Vec<Mark> = found
            .iter()
            .filter_map(|&(start, end, phrase)| {
                let senses = &self.senses[phrase as usize];
                let mut classes = 0;
                for (n, languages) in senses.languages.iter().enumerate() {
                    let foreign = n == Class::Negator as usize && senses.everywhere;
                    if languages & all != 0 || (foreign && *languages != 0) {
                        classes |= 1 << n;
                    }
                }
                let own = |l: Language| language.is_none_or(|x| x == l);
                let scope = senses
                    .scopes
                    .iter()
                    .filter(|(l, _)| own(*l))
                    .map(|(_, s)| *s)
                    .max()
                    .or_else(|| senses.scopes.iter().map(|(_, s)| *s).max());
                (classes != 0).then_some(Mark { start, end, classes, scope })
            })
            .collect();
        marks.sort_by_key(|m| (m.start, std::cmp::Reverse(m.end)));
        // What only tells the language covers nothing.
        let weak = bit(Class::Function) | bit(Class::Stop);
        let mut covered = 0;
        marks.retain_mut(|mark| {
            if mark.end <= covered {
                mark.classes &= weak;
            } else if mark.classes & !weak != 0 {
                covered = mark.end;
            }
            mark.classes != 0
        });
        marks
    }

    /// True when a single word has no content in a language.
    pub(super) fn is_empty_word(&self, word: &str, language: Option<Language>) -> bool {
        let all = language.map_or(0xff, Language::bit);
        self.phrases.single(word).is_some_and(|phrase| {
            let senses = &self.senses[phrase as usize].languages;
            (senses[Class::Function as usize] | senses[Class::Stop as usize]) & all != 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str) -> Option<Language> {
        let words = tokens(text, &[]);
        let read: Vec<usize> = (0..words.list.len()).collect();
        lexicon().detect(&words, &read, &lexicon().scan(&words, &read))
    }

    #[test]
    fn decision_23_the_language_with_most_function_words_wins() {
        for (text, expected) in [
            ("Please summarise the notes from this meeting", Some(Language::English)),
            ("Bitte fasse die Notizen zusammen", Some(Language::German)),
            ("Résume les notes de cette réunion", Some(Language::French)),
            ("Resume las notas de esta reunión", Some(Language::Spanish)),
            ("请总结这些会议记录", Some(Language::Chinese)),
            ("会議のメモを要約してください", Some(Language::Japanese)),
            ("整理会议", Some(Language::Chinese)),
            ("Summarise notes", None),
            ("회의 메모를 요약해 줘", None),
            ("", None),
            ("Esegui controllo rapido", None),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
    }

    #[test]
    fn no_phrase_is_listed_twice_in_one_class_of_a_table() {
        for table in TABLES {
            for list in [table.function, table.verbs, table.meta, table.questions, table.subjects, table.requests] {
                let unique: std::collections::BTreeSet<_> = list.iter().collect();
                assert_eq!(unique.len(), list.len(), "{:?}", table.language);
            }
        }
    }
}
