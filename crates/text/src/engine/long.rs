//! Long texts that are edited: a key shapes the line that it changed, not the whole text.

use super::{Block, BlockSpec, Key, TextEngine, Wrap};
use crate::cells;
use cosmic_text::{AttrsList, Buffer, BufferLine, LineEnding, Metrics, Shaping};
use scene::{BlockId, Size};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

/// From this size on, in bytes, a text is kept line by line.
pub const LONG: usize = 16 * 1024;
/// A line is cut only behind this many bytes.
const CUT_FROM: usize = 4 * 1024;
/// From here on it is cut inside a word, too.
const CUT_WORDS: usize = 8 * 1024;
/// Longest line that is shaped as one.
const CUT_MAX: usize = 12 * 1024;

/// A text in pieces that are shaped alone: its lines, and endless lines in parts. Where such a
/// line is cut depends on the words there and not on what stands before, so that an edit moves
/// the cuts near it and no others.
fn lines_of(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut from = 0;
    for line in text.split('\n') {
        let end = from + line.len();
        while end - from > CUT_FROM {
            let cut = from + cut_of(&text[from..end]);
            if cut == end {
                break;
            }
            out.push(from..cut);
            from = cut;
        }
        out.push(from..end);
        from = end + 1;
    }
    out
}

/// Length of the first part of a line.
fn cut_of(line: &str) -> usize {
    let mut near = 0_u64;
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        near = (near << 1).wrapping_add(u64::from(u32::from(c)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        if end < CUT_FROM {
            continue;
        }
        let chosen = if c.is_whitespace() { near >> 61 == 0 } else { end >= CUT_WORDS && near >> 59 == 0 };
        if chosen || end >= CUT_MAX {
            return end;
        }
    }
    line.len()
}

impl TextEngine {
    /// The block for a text that is being edited, where `last` is the one it had before: only
    /// the lines that differ are shaped. `last` is used up unless it is this very text's.
    pub fn edited(&mut self, spec: &BlockSpec<'_>, last: Option<BlockId>) -> BlockId {
        if spec.text.len() < LONG || !spec.spans.is_empty() || spec.wrap != Wrap::Word {
            return self.block(spec);
        }
        let mut h = DefaultHasher::new();
        // Not a slot of `block`: nobody else's picture may hang on what the next key takes away.
        ("edited", spec.text, spec.width.map(f32::to_bits)).hash(&mut h);
        spec.style.hash_into(&mut h);
        let mut slot = h.finish();
        while let Some(id) = self.index.get(&slot) {
            match self.blocks.get_mut(id).filter(|b| b.key.is(spec)) {
                Some(b) => {
                    b.used = self.frame;
                    return *id;
                }
                None => slot = slot.wrapping_add(1),
            }
        }
        let kept = last.and_then(|id| self.take_edited(id, spec));
        let Some(block) = self.shape_lines(spec, kept) else { return self.block(spec) };
        let id = BlockId(self.shaped);
        self.index.insert(slot, id);
        self.blocks.insert(id, Block { slot: Some(slot), ..block });
        id
    }

    /// The lines of an earlier text of the same style and width.
    fn take_edited(&mut self, id: BlockId, spec: &BlockSpec<'_>) -> Option<Buffer> {
        let same = self.blocks.get(&id).filter(|b| {
            b.slot.is_some()
                && b.key.style == spec.style
                && b.key.width.map(f32::to_bits) == spec.width.map(f32::to_bits)
        });
        let slot = same?.slot?;
        self.index.remove(&slot);
        self.blocks.remove(&id).map(|b| b.buffer)
    }

    /// None when a line holds what no bundled font has: such text takes the common way.
    fn shape_lines(&mut self, spec: &BlockSpec<'_>, kept: Option<Buffer>) -> Option<Block> {
        if spec.text.len() > super::BLOCK_TEXT_MAX {
            return None;
        }
        let metrics = Metrics::new(spec.style.size * self.scale, (spec.style.line_height * self.scale).round());
        let mut buffer = kept.unwrap_or_else(|| {
            let mut b = Buffer::new_empty(metrics);
            b.lines.clear();
            b.set_wrap(cosmic_text::Wrap::WordOrGlyph);
            b.set_size(spec.width.map(|w| (w * self.scale).max(1.0)), None);
            b
        });
        let lines = lines_of(spec.text);
        let text = |r: &Range<usize>| &spec.text[r.clone()];
        let old = &mut buffer.lines;
        let before = old.iter().zip(&lines).take_while(|(o, n)| o.text() == text(n)).count();
        let most = old.len().min(lines.len()) - before;
        let behind =
            old.iter().rev().zip(lines.iter().rev()).take(most).take_while(|(o, n)| o.text() == text(n)).count();
        let fresh = before..lines.len() - behind;
        let family = spec.style.family;
        for r in &lines[fresh.clone()] {
            if cells::split(text(r), |g| self.has(family, g)).iter().any(|p| p.cell) {
                return None;
            }
        }
        let attrs = AttrsList::new(&self.attrs(spec.style, None));
        let made: Vec<BufferLine> = lines[fresh.clone()]
            .iter()
            .map(|r| BufferLine::new(text(r), LineEnding::None, attrs.clone(), Shaping::Advanced))
            .collect();
        let gone = before..old.len() - behind;
        old.splice(gone, made);
        for i in fresh {
            buffer.line_layout(&mut self.fonts, i);
            self.lines += 1;
        }
        self.shaped += 1;
        let (mut w, mut h) = (0_f32, 0_f32);
        for run in buffer.layout_runs() {
            w = w.max(run.line_w);
            h = h.max(run.line_top + run.line_height);
        }
        let key =
            Key { text: spec.text.to_owned(), style: spec.style, spans: vec![], width: spec.width, wrap: spec.wrap };
        Some(Block {
            key,
            buffer,
            line_starts: lines.iter().map(|r| r.start).collect(),
            map: vec![],
            cells: vec![],
            text_len: spec.text.len(),
            size: Size::new(w / self.scale, h.max(metrics.line_height) / self.scale),
            used: self.frame,
            slot: None,
        })
    }

    /// How many lines of long texts were shaped since the start.
    #[must_use]
    pub fn lines_shaped(&self) -> u64 {
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> String {
        lines_of(text).into_iter().map(|r| text[r].to_owned()).collect::<Vec<_>>().concat()
    }

    #[test]
    fn lines_hold_everything_but_the_line_ends_and_none_is_endless() {
        let words: String = (0..30_000).map(|i| format!("word{} ", i * 7919 % 1000)).collect();
        for text in [words.clone(), "é".repeat(40_000), "a\n\nb\n".to_owned(), format!("x\n{words}\ny"), String::new()]
        {
            let lines = lines_of(&text);
            assert_eq!(joined(&text), text.replace('\n', ""));
            assert!(lines.iter().all(|r| r.len() <= CUT_MAX + 4));
            assert!(lines.windows(2).all(|w| w[0].end <= w[1].start && w[1].start <= w[0].end + 1));
        }
    }

    #[test]
    fn an_edit_moves_the_cuts_near_it_and_no_others() {
        let words: String = (0..30_000).map(|i| format!("word{} ", i * 7919 % 1000)).collect();
        let parts = |t: &str| lines_of(t).into_iter().map(|r| t[r].to_owned()).collect::<Vec<_>>();
        let (a, b) = (parts(&words), parts(&format!("{}x{}", &words[..50_000], &words[50_000..])));
        let known: std::collections::HashSet<_> = a.iter().collect();
        let fresh = b.iter().filter(|p| !known.contains(p)).count();
        assert!(fresh <= 4, "{fresh} of {}", b.len());
    }
}
