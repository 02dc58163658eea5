//! Ranking: our tiers, `nucleo-matcher` inside the loosest of them.

use super::{Catalog, SlashRow, catalog::HEADS};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::collections::BTreeMap;

/// How well a row fits; better tiers come first and are never beaten by recency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Tier {
    Exact,
    Prefix,
    WordStart,
    Subsequence,
    Description,
}

/// A row that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Index into the catalogue's rows.
    pub row: usize,
    /// Tier.
    pub tier: Tier,
    /// Matched characters of the canonical name, as character indices.
    pub name_marks: Vec<u32>,
    /// Matched characters of the title.
    pub title_marks: Vec<u32>,
}

/// When a row was last used, as a rising counter; breaks ties only.
pub type Recency = BTreeMap<String, u64>;

/// Finds rows. Keeps the matcher's scratch memory and nothing else.
pub struct SearchManager {
    matcher: Matcher,
}

impl std::fmt::Debug for SearchManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SearchManager")
    }
}

impl Default for SearchManager {
    fn default() -> Self {
        Self { matcher: Matcher::new(Config::DEFAULT) }
    }
}

fn marks(from: usize, text: &str, start: usize, needle: &str) -> Vec<u32> {
    let first = from + text[..start].chars().count();
    (first..first + needle.chars().count()).filter_map(|i| u32::try_from(i).ok()).collect()
}

/// Byte offset where a word of `text` starts with `needle`.
fn word_start(text: &str, needle: &str) -> Option<usize> {
    text.match_indices(needle)
        .map(|(i, _)| i)
        .find(|i| text[..*i].chars().next_back().is_none_or(|c| !c.is_alphanumeric()))
}

impl SearchManager {
    /// Rows that fit what is typed behind the slash, best first. `query` may carry a qualifier
    /// (`app:not`); ranking works on the part behind it.
    #[must_use]
    pub fn search(&mut self, catalog: &Catalog, query: &str, recency: &Recency) -> Vec<Hit> {
        let query = query.to_lowercase();
        let (head, needle) = match query.split_once(':') {
            Some((h, n)) if HEADS.contains(&h) => (Some(h), n),
            _ => (None, query.as_str()),
        };
        let mut buf = Vec::new();
        let mut needle_buf = Vec::new();
        let wide = Utf32Str::new(needle, &mut needle_buf);
        let mut scored: Vec<(Tier, u16, Hit)> = Vec::new();
        for (i, row) in catalog.rows.iter().enumerate() {
            if head.is_some_and(|h| h != row.kind.head()) {
                continue;
            }
            let found = tier(row, needle).or_else(|| {
                let mut at = Vec::new();
                let score = self.matcher.fuzzy_indices(Utf32Str::new(&row.name_lower, &mut buf), wide, &mut at)?;
                let from = u32::try_from(row.kind.head().len() + 2).unwrap_or(0);
                Some((Tier::Subsequence, score, at.iter().map(|a| a + from).collect(), vec![]))
            });
            // The qualifier itself is being typed: `/ap` still shows the apps.
            let found = found.or_else(|| {
                let typing_head = head.is_none() && row.kind.head().starts_with(needle);
                typing_head.then(|| (Tier::Subsequence, 0, marks(1, row.kind.head(), 0, needle), vec![]))
            });
            let found = found.or_else(|| {
                let at = row.title_lower.find(needle)?;
                Some((Tier::Description, 0, vec![], title_marks(row, at, needle)))
            });
            if let Some((tier, score, name_marks, title_marks)) = found {
                scored.push((tier, score, Hit { row: i, tier, name_marks, title_marks }));
            }
        }
        let used = |h: &Hit| recency.get(&catalog.rows[h.row].canonical).copied().unwrap_or(0);
        scored.sort_by(|a, b| {
            // The bare list is by kind and name; while searching shorter names come first.
            let len = |h: &Hit| if needle.is_empty() { 0 } else { catalog.rows[h.row].canonical.len() };
            (a.0, u16::MAX - a.1, u64::MAX - used(&a.2), len(&a.2), a.2.row).cmp(&(
                b.0,
                u16::MAX - b.1,
                u64::MAX - used(&b.2),
                len(&b.2),
                b.2.row,
            ))
        });
        scored.into_iter().map(|(_, _, h)| h).collect()
    }
}

fn title_marks(row: &SlashRow, at: usize, needle: &str) -> Vec<u32> {
    // Lower-casing may change lengths; marks are told only where it did not.
    if row.title.len() == row.title_lower.len() { marks(0, &row.title_lower, at, needle) } else { vec![] }
}

fn tier(row: &SlashRow, needle: &str) -> Option<(Tier, u16, Vec<u32>, Vec<u32>)> {
    let (name, from) = (row.name_lower.as_str(), row.kind.head().len() + 2);
    let short = row.short();
    let short_at = name.len() - short.len();
    if name == needle || short == needle {
        let at = if name == needle { 0 } else { short_at };
        // An exact whole name stands before an exact last part.
        return Some((Tier::Exact, u16::from(name == needle), marks(from, name, at, needle), vec![]));
    }
    if name.starts_with(needle) {
        return Some((Tier::Prefix, 0, marks(from, name, 0, needle), vec![]));
    }
    if short.starts_with(needle) {
        return Some((Tier::Prefix, 0, marks(from, name, short_at, needle), vec![]));
    }
    if let Some(i) = word_start(name, needle) {
        return Some((Tier::WordStart, 0, marks(from, name, i, needle), vec![]));
    }
    let i = word_start(&row.title_lower, needle)?;
    Some((Tier::WordStart, 0, vec![], title_marks(row, i, needle)))
}
