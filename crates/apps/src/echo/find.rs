//! The find bar: matches in the whole conversation, without regard to case.

use super::EchoUi;
use crate::agent::Agent;
use std::ops::Range;
use ui::Field;

/// Most matches that are counted.
pub(crate) const MATCHES_MAX: usize = 1000;

/// An open find bar.
#[derive(Debug, Default)]
pub(crate) struct Find {
    pub field: Field,
    pub matches: Vec<(u64, u32, Range<usize>)>,
    pub at: usize,
}

impl Find {
    /// How many matches there are, and which is shown; nothing while nothing is looked for.
    pub(crate) fn words(&self) -> String {
        match self.matches.len() {
            0 if self.field.text().is_empty() => String::new(),
            0 => "no match".to_owned(),
            n if n >= MATCHES_MAX => format!("{} of {n} or more", self.at + 1),
            n => format!("{} of {n}", self.at + 1),
        }
    }
}

/// Places of `needle` (lower case) in `text`, by byte ranges of `text`.
pub(crate) fn places(text: &str, needle: &str) -> Vec<Range<usize>> {
    if needle.is_empty() {
        return vec![];
    }
    let lower = text.to_lowercase();
    // Lower-casing may change lengths; then byte offsets no longer agree and exact case decides.
    let (hay, exact) = if lower.len() == text.len() { (lower.as_str(), false) } else { (text, true) };
    hay.match_indices(needle)
        .map(|(i, m)| i..i + m.len())
        .filter(|r| !exact || text.is_char_boundary(r.start))
        .filter(|r| text.is_char_boundary(r.start) && text.is_char_boundary(r.end))
        .collect()
}

impl EchoUi {
    /// Looks again: the query or the conversation changed.
    pub(crate) fn refind(&mut self, agent: &dyn Agent) {
        let Some(query) = self.find.as_ref().map(|f| f.field.text().to_lowercase()) else { return };
        let mut matches = Vec::new();
        if let Some(c) = agent.current().filter(|_| !query.is_empty()) {
            'all: for item in &c.items {
                let open = self.expanded.contains(&item.id);
                for (i, p) in (0_u32..).zip(self.cache.pieces(item, open)) {
                    for r in places(&p.text, &query) {
                        if matches.len() == MATCHES_MAX {
                            break 'all;
                        }
                        matches.push((item.id, i, r));
                    }
                }
            }
        }
        if let Some(f) = &mut self.find {
            f.at = f.at.min(matches.len().saturating_sub(1));
            f.matches = matches;
        }
    }
    /// Goes to the next match, or the one before.
    pub(crate) fn find_next(&mut self, back: bool, agent: &dyn Agent) {
        self.refind(agent);
        let Some(f) = &mut self.find else { return };
        let n = f.matches.len();
        if n == 0 {
            return;
        }
        f.at = if back { (f.at + n - 1) % n } else { (f.at + 1) % n };
        self.find_show(agent);
    }
    /// Brings the current match into view.
    pub(crate) fn find_show(&mut self, agent: &dyn Agent) {
        let Some((item, ..)) = self.find.as_ref().and_then(|f| f.matches.get(f.at)) else { return };
        if let Some(i) = agent.current().and_then(|c| c.items.iter().position(|x| x.id == *item)) {
            self.scroll.show(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_whole_characters_in_any_case() {
        assert_eq!(places("Tide and TIDE", "tide"), [0..4, 9..13]);
        assert_eq!(places("İx x", "x"), [2..3, 4..5]);
        assert!(places("abc", "").is_empty());
    }
}
