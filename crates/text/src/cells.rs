//! Fallback cells: what the bundled fonts cannot draw, found before shaping.
//!
//! The unit is the grapheme cluster; for joining and Indic scripts it is the word run, so that
//! letters join (decision 29). In the shaped text a cell is one placeholder character that no
//! bundled font has, chosen so that bidi order and line breaks come out as for the cell itself.

use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Placeholder of symbols: neutral in direction, a line may break on both sides.
const OBJECT: char = '\u{fffc}';
/// Placeholder of Hebrew.
const HEBREW: char = '\u{05d0}';
/// Placeholder of Arabic: a letter that never joins.
const ARABIC: char = '\u{0621}';
/// Placeholder of what runs left to right and breaks anywhere.
const IDEOGRAPH: char = '\u{4e00}';
/// Placeholder of words that run left to right and break at spaces.
const LETTER: char = '\u{13a0}';
/// What a style is asked with how wide a placeholder is.
pub(crate) const PROBE: &str = "\u{4e00}";
/// Longest word run that is drawn as one, in graphemes; a longer one becomes several.
pub const RUN_MAX: usize = 40;

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

/// Scripts whose letters join or reorder within a word.
fn joins(c: char) -> bool {
    matches!(u32::from(c),
        0x0600..=0x08ff | 0x0900..=0x0dff | 0x0f00..=0x0fff | 0x1800..=0x18af | 0xfb50..=0xfdff | 0xfe70..=0xfeff)
}

/// Scripts written without spaces: Thai, Lao, Tibetan, Myanmar, Khmer.
fn unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0fff | 0x1000..=0x109f | 0x1780..=0x17ff)
}

/// Scripts that run right to left.
pub(crate) fn rtl(text: &str) -> bool {
    text.chars().any(|c| matches!(u32::from(c), 0x0590..=0x08ff | 0xfb1d..=0xfdff | 0xfe70..=0xfeff))
}

/// True when `next` is drawn together with `prev`, the cluster before it.
fn linked(prev: &str, next: &str) -> bool {
    let first = |s: &str| s.chars().next().unwrap_or(' ');
    let last = prev.chars().next_back().unwrap_or(' ');
    // Myanmar and Khmer stack the next letter below; Tibetan syllables end in a tsheg.
    let stacks = matches!(last, '\u{1039}' | '\u{17d2}');
    let ends = matches!(last, '\u{0f0b}'..='\u{0f14}');
    stacks || (joins(first(prev)) && joins(first(next)) && rtl(prev) == rtl(next) && !ends)
}

/// The character that stands for a cell while lines are made.
pub(crate) fn placeholder(cell: &str) -> char {
    let c = cell.chars().next().unwrap_or(OBJECT);
    match u32::from(c) {
        _ if cell.contains('\u{fe0f}') => OBJECT,
        0x0600..=0x08ff | 0xfb50..=0xfdff | 0xfe70..=0xfeff => ARABIC,
        0x0590..=0x05ff | 0xfb1d..=0xfb4f => HEBREW,
        // Itself: marks and small kana must not begin a line, brackets must not end one.
        0x3000..=0x303f | 0x3041..=0x3098 | 0x309b..=0x30ff | 0xff01..=0xff9d | 0xffe0..=0xffe6 => c,
        0x1100..=0x11ff
        | 0x2e80..=0x9fff
        | 0xa000..=0xa4cf
        | 0xa960..=0xa97f
        | 0xac00..=0xd7ff
        | 0xf900..=0xfaff
        | 0x20000..=0x3ffff => IDEOGRAPH,
        _ if unspaced(c) => IDEOGRAPH,
        _ if c.is_alphanumeric() => LETTER,
        _ => OBJECT,
    }
}

/// Splits `text` into cells and what one font can draw whole: `drawn` is asked for each cluster.
/// Pure ASCII is one piece.
pub(crate) fn split(text: &str, drawn: impl Fn(&str) -> bool) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    if text.is_ascii() {
        out.push(Piece { range: 0..text.len(), cell: false });
        return out;
    }
    // The cluster before, when it was a cell, and how many are in its run.
    let mut before: Option<(&str, usize)> = None;
    for (i, g) in text.grapheme_indices(true) {
        let range = i..i + g.len();
        // A variation selector 16 asks for the emoji form, which no bundled font has.
        let cell = g.contains('\u{fe0f}') || !drawn(g);
        let run = before.filter(|(prev, n)| cell && *n < RUN_MAX && linked(prev, g)).map(|(_, n)| n);
        match out.last_mut() {
            Some(last) if last.cell == cell && (!cell || run.is_some()) => last.range.end = range.end,
            _ => out.push(Piece { range, cell }),
        }
        before = cell.then(|| (g, run.unwrap_or(0) + 1));
    }
    out
}

/// Characters that take no glyph of their own.
pub(crate) fn is_silent(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c), 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2069 | 0xfe00..=0xfe0f | 0xfeff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<&str> {
        let has = |g: &str| g.chars().all(|c| is_silent(c) || c.is_ascii() || ('\u{a0}'..='\u{24f}').contains(&c));
        split(text, has).into_iter().filter(|p| p.cell).map(|p| &text[p.range]).collect()
    }

    #[test]
    fn a_cell_is_a_grapheme_and_a_joining_word_is_one() {
        assert_eq!(cells("naïve text"), [""; 0]);
        assert_eq!(cells("日本 a"), ["日", "本"]);
        assert_eq!(cells("ok 👨\u{200d}👩\u{200d}👧!"), ["👨\u{200d}👩\u{200d}👧"]);
        assert_eq!(cells("سلام دنيا"), ["سلام", "دنيا"]);
        assert_eq!(cells("नमस्ते"), ["नमस्ते"]);
        assert_eq!(cells("می\u{200c}خواهم"), ["می\u{200c}خواهم"], "a zero-width non-joiner is inside the word");
        assert_eq!(cells("हिسلام"), ["हि", "سلام"], "directions do not mix");
        assert_eq!(cells("ไทยกำ"), ["ไ", "ท", "ย", "กำ"], "Thai letters stand alone, so that lines can break");
        assert_eq!(cells("ខ្មែរ"), ["ខ្មែ", "រ"], "a stacked letter stays with its base");
        assert_eq!(cells("བོད་ཡིག"), ["བོད་", "ཡིག"]);
        assert_eq!(cells("☎\u{fe0f}"), ["☎\u{fe0f}"]);
    }

    #[test]
    fn a_run_that_never_ends_is_drawn_in_parts() {
        let word = "م".repeat(RUN_MAX * 2 + 1);
        assert_eq!(cells(&word).iter().map(|c| c.chars().count()).collect::<Vec<_>>(), [RUN_MAX, RUN_MAX, 1]);
    }

    #[test]
    fn a_placeholder_behaves_as_its_cell() {
        for (cell, c) in [
            ("سلام", ARABIC),
            ("ש", HEBREW),
            ("日", IDEOGRAPH),
            ("각", IDEOGRAPH),
            ("。", '。'),
            ("「", '「'),
            ("ょ", 'ょ'),
            ("ท", IDEOGRAPH),
            ("नमस्ते", LETTER),
            ("Հ", LETTER),
            ("👍", OBJECT),
            ("1\u{fe0f}\u{20e3}", OBJECT),
            ("〰\u{fe0f}", OBJECT),
        ] {
            assert_eq!(placeholder(cell), c, "{cell}");
        }
    }

    #[test]
    fn pieces_cover_the_text_in_order() {
        for text in ["", "abc", "日本語 mixed שלום 🌊", "\u{200b}x\u{301}"] {
            let p = split(text, str::is_ascii);
            let mut at = 0;
            for piece in &p {
                assert_eq!(piece.range.start, at);
                at = piece.range.end;
            }
            assert_eq!(at, text.len());
        }
    }
}
