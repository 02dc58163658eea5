//! Selected text of the transcript: positions in logical order, independent of what is on
//! screen.

use super::{EchoUi, pieces};
use crate::agent::Agent;
use unicode_segmentation::UnicodeSegmentation as _;

/// A place: item, piece, byte.
pub(crate) type Pos = (u64, u32, usize);

/// A selection; the anchor may be behind the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub anchor: Pos,
    pub focus: Pos,
}

impl Selection {
    /// In order.
    pub(crate) fn ordered(&self) -> (Pos, Pos) {
        (self.anchor.min(self.focus), self.anchor.max(self.focus))
    }
    /// The selected bytes of a piece.
    pub(crate) fn of(&self, item: u64, piece: u32, len: usize) -> Option<std::ops::Range<usize>> {
        let (a, b) = self.ordered();
        let here = (item, piece);
        if here < (a.0, a.1) || here > (b.0, b.1) {
            return None;
        }
        let from = if here == (a.0, a.1) { a.2 } else { 0 };
        let to = if here == (b.0, b.1) { b.2 } else { len };
        (from < to).then_some(from..to.min(len))
    }
}

impl EchoUi {
    /// A press on text: one click starts, two take a word, three the piece; Shift extends.
    pub(crate) fn select_from(&mut self, key: (u64, u32), byte: usize, clicks: u8, extend: bool, agent: &dyn Agent) {
        let at = (key.0, key.1, byte);
        if extend && let Some(s) = &mut self.selection {
            s.focus = at;
            return;
        }
        let text = self.piece_text(key, agent).unwrap_or_default();
        let (from, to) = match clicks {
            2 => text
                .split_word_bound_indices()
                .take_while(|(i, _)| *i <= byte)
                .last()
                .map_or((byte, byte), |(i, w)| (i, i + w.len())),
            3.. => (0, text.len()),
            _ => (byte, byte),
        };
        self.selection = Some(Selection { anchor: (key.0, key.1, from), focus: (key.0, key.1, to) });
    }
    /// The held press moved.
    pub(crate) fn select_to(&mut self, key: (u64, u32), byte: usize) {
        if let Some(s) = &mut self.selection {
            s.focus = (key.0, key.1, byte);
        }
    }
    /// Selects the whole conversation.
    pub(crate) fn select_all(&mut self, agent: &dyn Agent) {
        let Some(c) = agent.current() else { return };
        let (Some(first), Some(last)) = (c.items.first(), c.items.last()) else { return };
        self.selection = Some(Selection { anchor: (first.id, 0, 0), focus: (last.id, u32::MAX, usize::MAX) });
    }
    fn piece_text(&mut self, key: (u64, u32), agent: &dyn Agent) -> Option<String> {
        let item = agent.current()?.items.iter().find(|i| i.id == key.0)?;
        let open = self.expanded.contains(&key.0);
        self.cache.pieces(item, open).get(key.1 as usize).map(|p| p.text.clone())
    }
    /// The selected text in reading order; items are set apart by an empty line.
    pub(crate) fn selected_text(&self, agent: &dyn Agent) -> Option<String> {
        let s = self.selection?;
        let (a, b) = s.ordered();
        let mut out: Vec<String> = Vec::new();
        for item in agent.current()?.items.iter().filter(|i| i.id >= a.0 && i.id <= b.0) {
            let all = pieces::of_item(item, self.expanded.contains(&item.id), &mut pieces::Growing::default());
            let parts: Vec<_> = all
                .iter()
                .zip(0_u32..)
                .filter_map(|(p, i)| {
                    let empty = p.text.is_empty() && (item.id, i) > (a.0, a.1) && (item.id, i) < (b.0, b.1);
                    s.of(item.id, i, p.text.len()).or(empty.then_some(0..0)).map(|r| (p, r))
                })
                .collect();
            let text = pieces::copied(&parts);
            if !text.is_empty() {
                out.push(text);
            }
        }
        (!out.is_empty()).then(|| out.join("\n\n"))
    }
}
