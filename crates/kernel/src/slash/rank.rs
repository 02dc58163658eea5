//! Ranking: our tiers, `nucleo-matcher` inside the loosest of them.

use super::{Catalog, SHOWN_MAX, SlashRow, catalog::HEADS};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cmp::Reverse;
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
    /// Matched characters of the canonical name, as character indices; told for the first
    /// [`SHOWN_MAX`] hits.
    pub name_marks: Vec<u32>,
    /// Matched characters of the title; told as those of the name.
    pub title_marks: Vec<u32>,
}

/// Where a row fits: small, because most rows that fit are never shown.
#[derive(Clone, Copy)]
enum Place {
    /// From this byte of the lower-case name on.
    Name(usize),
    /// From this byte of the lower-case title on.
    Title(usize),
    /// The head, from its start on.
    Head,
    /// The letters of the name that the matcher picks.
    Scattered,
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
        let mut found: Vec<_> = Vec::new();
        for (i, row) in catalog.rows.iter().enumerate() {
            if head.is_some_and(|h| h != row.kind.head()) {
                continue;
            }
            // A whole qualifier means its kind, even where another name begins with it.
            let whole = head.is_none() && row.kind.head() == needle;
            let fit = tier(row, needle).filter(|(tier, ..)| !whole || *tier == Tier::Exact);
            let fit = fit.or_else(|| whole.then_some((Tier::Prefix, 2, Place::Head)));
            let fit = fit.or_else(|| {
                let score = self.matcher.fuzzy_match(Utf32Str::new(&row.name_lower, &mut buf), wide)?;
                Some((Tier::Subsequence, score, Place::Scattered))
            });
            // The qualifier itself is being typed: `/ap` still shows the apps.
            let fit = fit.or_else(|| {
                let typing_head = head.is_none() && row.kind.head().starts_with(needle);
                typing_head.then_some((Tier::Subsequence, 0, Place::Head))
            });
            let fit = fit.or_else(|| row.title_lower.find(needle).map(|at| (Tier::Description, 0, Place::Title(at))));
            if let Some((tier, score, place)) = fit {
                let used = recency.get(&row.canonical).copied().unwrap_or(0);
                // The bare list is by kind; in a kind what changes something stands last, however
                // often it was used. While searching shorter names come first.
                let bare = needle.is_empty();
                let kind = if bare { (row.kind.group(), row.mutates) } else { (0, false) };
                let len = if bare { 0 } else { row.canonical.len() };
                found.push(((kind, tier, Reverse(score), Reverse(used), len, i), place));
            }
        }
        found.sort_unstable_by_key(|(order, _)| *order);
        let mut hits = Vec::with_capacity(found.len());
        for (n, ((_, tier, .., row), place)) in found.into_iter().enumerate() {
            let mut hit = Hit { row, tier, name_marks: vec![], title_marks: vec![] };
            if n < SHOWN_MAX {
                let row = &catalog.rows[row];
                let behind = row.kind.head().len() + 2;
                match place {
                    Place::Name(at) => hit.name_marks = marks(behind, &row.name_lower, at, needle),
                    Place::Title(at) => hit.title_marks = title_marks(row, at, needle),
                    Place::Head => hit.name_marks = marks(1, row.kind.head(), 0, needle),
                    Place::Scattered => {
                        let name = Utf32Str::new(&row.name_lower, &mut buf);
                        self.matcher.fuzzy_indices(name, wide, &mut hit.name_marks);
                        let behind = u32::try_from(behind).unwrap_or(0);
                        hit.name_marks.iter_mut().for_each(|at| *at += behind);
                    }
                }
            }
            hits.push(hit);
        }
        hits
    }
}

fn title_marks(row: &SlashRow, at: usize, needle: &str) -> Vec<u32> {
    // Lower-casing may change lengths; marks are told only where it did not.
    if row.title.len() == row.title_lower.len() { marks(0, &row.title_lower, at, needle) } else { vec![] }
}

fn tier(row: &SlashRow, needle: &str) -> Option<(Tier, u16, Place)> {
    let name = row.name_lower.as_str();
    let short = row.short();
    let short_at = name.len() - short.len();
    if name == needle {
        // An exact whole name stands before an exact last part.
        return Some((Tier::Exact, 1, Place::Name(0)));
    }
    if short == needle {
        return Some((Tier::Exact, 0, Place::Name(short_at)));
    }
    // The last part names the thing itself, what stands before it only what it belongs to.
    if short.starts_with(needle) {
        return Some((Tier::Prefix, 1, Place::Name(short_at)));
    }
    if name.starts_with(needle) {
        return Some((Tier::Prefix, 0, Place::Name(0)));
    }
    if let Some(at) = word_start(short, needle) {
        return Some((Tier::WordStart, 1, Place::Name(short_at + at)));
    }
    if let Some(at) = word_start(name, needle) {
        return Some((Tier::WordStart, 0, Place::Name(at)));
    }
    word_start(&row.title_lower, needle).map(|at| (Tier::WordStart, 0, Place::Title(at)))
}
