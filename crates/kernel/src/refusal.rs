//! Refusals are answers: what was refused, what was expected, what was seen.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

/// Longest text of one field of a refusal, in bytes; longer ones are cut on a grapheme.
pub const FIELD_MAX: usize = 512;
/// Refusals kept for Settings (decision 32).
pub const RING_MAX: usize = 256;

/// A typed refusal, shown to the person in plain words and kept in the ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The variant's name, as the spec lists it.
    pub code: Cow<'static, str>,
    /// What it is about.
    pub subject: String,
    /// What would have been right.
    pub expected: String,
    /// What there was.
    pub observed: String,
}

impl Refusal {
    /// A refusal; each text is cut to [`FIELD_MAX`].
    #[must_use]
    pub fn new(code: &'static str, subject: &str, expected: &str, observed: &str) -> Self {
        let cut = |s: &str| crate::clip::clip(s, FIELD_MAX).into_owned();
        Self { code: code.into(), subject: cut(subject), expected: cut(expected), observed: cut(observed) }
    }
    /// What happened and what would be right, in words for a person: no name of a variant.
    #[must_use]
    pub fn plain(&self) -> String {
        let (subject, observed) = (self.subject.trim(), self.observed.trim());
        let lower = observed.to_lowercase();
        let named = subject.to_lowercase();
        // “The path: the path leads outside” says it once.
        let says_it =
            !named.is_empty() && [format!("{named} "), format!("the {named} ")].iter().any(|s| lower.starts_with(s));
        let mut out = match (subject.is_empty(), observed.is_empty()) {
            (_, true) => format!("{subject} was refused"),
            (true, false) => observed.to_owned(),
            (false, false) if says_it => observed.to_owned(),
            (false, false) => format!("{subject}: {observed}"),
        };
        let first = out.chars().next().map_or(0, char::len_utf8);
        // A name, a path or an expression begins as it is written.
        if says_it || subject.is_empty() {
            let upper = out[..first].to_uppercase();
            out.replace_range(..first, &upper);
        }
        let end = |s: &str| if s.ends_with(['.', '!', '?', '…']) { "" } else { "." };
        let dot = end(&out);
        out.push_str(dot);
        if !self.expected.trim().is_empty() {
            let needed = format!(" Needed: {}", self.expected.trim());
            let dot = end(&needed);
            out = out + &needed + dot;
        }
        out
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.plain(), self.code)
    }
}

/// The last refusals, oldest first, and how many there were in all (decision 32).
#[derive(Clone, Debug, Default)]
pub struct RefusalRing {
    kept: VecDeque<Refusal>,
    total: u64,
}

impl RefusalRing {
    /// Keeps a refusal; the oldest leaves when the ring is full.
    pub fn push(&mut self, r: Refusal) {
        if self.kept.len() == RING_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(r);
        self.total += 1;
    }
    /// Oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Refusal> + ExactSizeIterator {
        self.kept.iter()
    }
    /// How many there were since the start, those that left included.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_keeps_the_last_256_and_counts_all() {
        let mut ring = RefusalRing::default();
        for i in 0..300 {
            ring.push(Refusal::new("X", &i.to_string(), "", ""));
        }
        assert_eq!((ring.iter().len(), ring.total()), (RING_MAX, 300));
        assert_eq!(ring.iter().next().map(|r| r.subject.as_str()), Some("44"));
    }

    #[test]
    fn a_refusal_reads_as_a_sentence() {
        let r = Refusal::new("ArgUndeclared", "files.list", "limit", "undeclared argument “max”");
        assert_eq!(r.plain(), "files.list: undeclared argument “max”. Needed: limit.");
        assert_eq!(r.to_string(), "files.list: undeclared argument “max”. Needed: limit. (ArgUndeclared)");
        for (subject, expected, observed, plain) in [
            ("The path", "", "the path leads outside", "The path leads outside."),
            ("path", "a text", "the path is empty", "The path is empty. Needed: a text."),
            ("1/0", "", "division by zero", "1/0: division by zero."),
            ("a.md", "", "it is gone!", "a.md: it is gone!"),
            ("The change", "a mounted folder", "", "The change was refused. Needed: a mounted folder."),
            ("", "", "ßome", "SSome."),
        ] {
            assert_eq!(Refusal::new("X", subject, expected, observed).plain(), plain);
        }
    }
}
