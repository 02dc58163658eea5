//! Fallback cells: what the bundled fonts cannot draw, found before shaping.
//!
//! The unit is the grapheme cluster; for joining and Indic scripts it is the word run, so that
//! letters join (decision 29). In the shaped text a cell is one placeholder character that no
//! font has: U+FFFC, before and after which a line may break, or a Hebrew letter for cells that
//! run right to left, so that the bidi algorithm orders them.

use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Placeholder of a cell that runs left to right.
pub(crate) const OBJECT: char = '\u{fffc}';
/// Placeholder of a cell that runs right to left.
pub(crate) const OBJECT_RTL: char = '\u{05d0}';

/// Measures what the bundled fonts lack.
pub trait FallbackMeasure {
    /// Advance of `cluster` at a font size of `size` physical pixels, in physical pixels.
    fn advance(&mut self, cluster: &str, size: f32, bold: bool) -> f32;
}

/// A cell of a laid-out block.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The cluster or word run to draw.
    pub text: String,
    /// Where, in logical pixels from the block's origin: the line box it stands in.
    pub rect: scene::Rect,
    /// Baseline, in logical pixels below the block's origin.
    pub baseline: f32,
    /// Font size in logical pixels.
    pub size: f32,
    /// Bold.
    pub bold: bool,
    /// Colour of its span; `None` takes the run's.
    pub color: Option<scene::Rgba>,
}

/// A piece of text: what one font can draw, or one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) range: Range<usize>,
    pub(crate) cell: bool,
}

/// Scripts whose letters join or reorder: their cell is the word run.
fn joins(c: char) -> bool {
    matches!(u32::from(c),
        0x0600..=0x08ff | 0x0900..=0x0dff | 0x0e00..=0x0fff | 0x1000..=0x109f | 0x1780..=0x17ff
        | 0x1800..=0x18af | 0xfb50..=0xfdff | 0xfe70..=0xfeff)
}

/// Scripts that run right to left.
pub(crate) fn rtl(text: &str) -> bool {
    text.chars().any(|c| matches!(u32::from(c), 0x0590..=0x08ff | 0xfb1d..=0xfdff | 0xfe70..=0xfeff))
}

/// Splits `text` into what `has` can draw and cells. Pure ASCII is one piece.
pub(crate) fn split(text: &str, has: impl Fn(char) -> bool) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut push = |range: Range<usize>, cell: bool, join: bool| match out.last_mut() {
        Some(last) if last.cell == cell && last.range.end == range.start && (!cell || join) => {
            last.range.end = range.end;
        }
        _ => out.push(Piece { range, cell }),
    };
    if text.is_ascii() {
        push(0..text.len(), false, false);
        return out;
    }
    let mut joining = false;
    for (i, g) in text.grapheme_indices(true) {
        let range = i..i + g.len();
        let first = g.chars().next().unwrap_or(' ');
        // A variation selector 16 asks for the emoji form, which no bundled font has.
        let drawable = !g.contains('\u{fe0f}') && g.chars().all(|c| c.is_control() || is_format(c) || has(c));
        if drawable {
            joining = false;
            push(range, false, false);
        } else {
            let j = joins(first);
            push(range, true, j && joining);
            joining = j;
        }
    }
    out
}

/// Characters that take no glyph of their own.
fn is_format(c: char) -> bool {
    matches!(u32::from(c), 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2069 | 0xfe00..=0xfe0f | 0xfeff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<&str> {
        let has = |c: char| c.is_ascii() || ('\u{a0}'..='\u{24f}').contains(&c);
        split(text, has).into_iter().filter(|p| p.cell).map(|p| &text[p.range]).collect()
    }

    #[test]
    fn a_cell_is_a_grapheme_and_a_joining_word_is_one() {
        assert_eq!(cells("naïve text"), [""; 0]);
        assert_eq!(cells("日本 a"), ["日", "本"]);
        assert_eq!(cells("ok 👨\u{200d}👩\u{200d}👧!"), ["👨\u{200d}👩\u{200d}👧"]);
        assert_eq!(cells("سلام دنيا"), ["سلام", "دنيا"]);
        assert_eq!(cells("नमस्ते"), ["नमस्ते"]);
        assert_eq!(cells("☎\u{fe0f}"), ["☎\u{fe0f}"]);
    }

    #[test]
    fn pieces_cover_the_text_in_order() {
        for text in ["", "abc", "日本語 mixed שלום 🌊", "\u{200b}x\u{301}"] {
            let p = split(text, |c| c.is_ascii());
            let mut at = 0;
            for piece in &p {
                assert_eq!(piece.range.start, at);
                at = piece.range.end;
            }
            assert_eq!(at, text.len());
        }
    }
}
