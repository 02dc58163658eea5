//! Characters that nobody sees or that reorder what is seen, and names that look like others.
//!
//! One scan finds them, and the same findings are what a review counts, lists and shows, so that
//! no two parts of the product disagree on what hides in a text. Sequences that people really
//! write pass: emoji with joiners, skin tones, flags; joiners inside words of the scripts that
//! need them; break hints in scripts without spaces.

use crate::diagnostic::{Places, Position};
use crate::packages::bounds::FINDINGS_MAX;
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;

pub mod names;

/// What kind of hiding it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Hiding {
    /// U+E0000 to U+E007F outside a flag: text written in characters without a shape.
    Tag,
    /// Zero-width spaces and joiners, soft hyphens, fillers, U+FEFF inside the text.
    ZeroWidth,
    /// Marks that change the order in which text is shown.
    Bidi,
    /// A variation selector where nothing varies.
    Variation,
    /// A control character other than tab and line ends.
    Control,
}

impl Hiding {
    /// The kind in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Tag => "tag characters, which carry text nobody sees",
            Self::ZeroWidth => "a character without width",
            Self::Bidi => "a mark that reorders the text around it",
            Self::Variation => "a variation selector with nothing to vary",
            Self::Control => "a control character",
        }
    }
}

/// A run of hidden characters of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which kind.
    pub kind: Hiding,
    /// Where it begins.
    pub at: Position,
    /// Its bytes in the text.
    pub bytes: Range<usize>,
    /// The first code points of the run, at most eight.
    pub code_points: Vec<u32>,
    /// How many characters the run has.
    pub count: u32,
    /// What tag characters spell, at most 64 characters.
    pub spells: String,
}

impl Finding {
    /// The code points in writing, `U+200B U+200D …`.
    #[must_use]
    pub fn written(&self) -> String {
        let mut out = self.code_points.iter().map(|c| format!("U+{c:04X}")).collect::<Vec<_>>().join(" ");
        if self.count as usize > self.code_points.len() {
            out.push_str(&format!(" … ({} in all)", self.count));
        }
        out
    }
}

/// What hides in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Runs in the order of the text, at most [`FINDINGS_MAX`].
    pub runs: Vec<Finding>,
    /// How many runs there are.
    pub total: usize,
}

impl Findings {
    /// True when nothing hides.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.total == 0
    }
}

/// Scripts that write joiners (U+200C, U+200D) inside words.
fn joins(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{08ff}' | '\u{0900}'..='\u{0dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Scripts without spaces, where U+200B says where a line may break.
fn breaks(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{0f00}'..='\u{0fff}')
}

/// Characters that a U+FE0F or a joiner may follow as part of a picture.
fn pictures(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
        | '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}')
}

fn kind_of(c: char) -> Option<Hiding> {
    // Most letters outside ASCII end here: Latin, and everything from kana to the Arabic forms.
    if matches!(c, '\u{ae}'..='\u{34e}' | '\u{3165}'..='\u{fdff}' | '\u{370}'..='\u{5ff}') {
        return None;
    }
    Some(match c {
        '\n' | '\t' => return None,
        '\u{e0000}'..='\u{e007f}' => Hiding::Tag,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' | '\u{180f}' => Hiding::Variation,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Hiding::Bidi,
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0080}'..='\u{e0fff}' => Hiding::ZeroWidth,
        c if c.is_control() => Hiding::Control,
        _ => return None,
    })
}

/// Length in bytes of a flag's tail (region and subdivision in tag characters, then U+E007F) at
/// the start of `rest`.
fn flag_tail(rest: &str) -> Option<usize> {
    let mut letters = 0;
    for (i, c) in rest.char_indices() {
        match c {
            '\u{e007f}' if (3..=6).contains(&letters) => return Some(i + c.len_utf8()),
            '\u{e0061}'..='\u{e007a}' | '\u{e0030}'..='\u{e0039}' if letters < 6 => letters += 1,
            _ => return None,
        }
    }
    None
}

/// True when a hidden character at `at` belongs to something people really write. `before` is the
/// character in front of it, `rest` the text after it.
fn belongs(c: char, before: Option<char>, rest: &str) -> bool {
    let next = rest.chars().next();
    let Some(before) = before else { return false };
    match c {
        // A picture of several parts: 👩‍🚀, 🏳️‍🌈; a joiner between two pictures.
        '\u{200d}' if next.is_some_and(pictures) => {
            pictures(before) || matches!(before, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
        }
        '\u{200c}' | '\u{200d}' => joins(before) && next.is_some_and(joins),
        '\u{200b}' => breaks(before) && next.is_some_and(breaks),
        // Text or picture form of one character; a keycap.
        '\u{fe0e}' | '\u{fe0f}' => {
            pictures(before) || (matches!(before, '0'..='9' | '#' | '*') && next == Some('\u{20e3}'))
        }
        // One variant of one ideograph.
        '\u{e0100}'..='\u{e01ef}' | '\u{fe00}'..='\u{fe02}' => {
            matches!(before, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
        }
        '\u{180b}'..='\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        _ => false,
    }
}

/// Where printable ASCII that goes on from `i` ends, or a little before the end of the text; eight
/// bytes at a time.
fn printable(bytes: &[u8], mut i: usize) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    while let Some(&chunk) = bytes[i..].first_chunk::<8>() {
        let w = u64::from_le_bytes(chunk);
        // The top bit of a byte is set when it is not ASCII, is U+007F, or is below a blank. Carries
        // only go to later bytes, so the first one that is set is right.
        let odd = (w | w.wrapping_add(ONES) | w.wrapping_sub(ONES * 0x20)) & (ONES * 0x80);
        if odd != 0 {
            return i + odd.trailing_zeros() as usize / 8;
        }
        i += 8;
    }
    i
}

/// Calls `f` with the kind, byte index and character of everything that hides, in one pass.
fn each(text: &str, mut f: impl FnMut(Hiding, usize, char)) {
    let mut before = None;
    let mut pass_until = 0;
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let tame = printable(bytes, i);
        if tame > i {
            (before, i) = (Some(char::from(bytes[tame - 1])), tame);
            continue;
        }
        let b = bytes[i];
        if (0x20..0x7f).contains(&b) || b == b'\n' || b == b'\t' {
            before = Some(char::from(b));
            i += 1;
            continue;
        }
        // CRLF is one line end.
        if b == b'\r' && bytes.get(i + 1) == Some(&b'\n') {
            i += 1;
            continue;
        }
        let Some(c) = text[i..].chars().next() else { break };
        let next = i + c.len_utf8();
        if c == '\u{1f3f4}' {
            pass_until = flag_tail(&text[next..]).map_or(pass_until, |n| next + n);
        }
        // A byte order mark at the very start is dropped by every reader.
        let bom = i == 0 && c == '\u{feff}';
        if let Some(kind) = kind_of(c)
            && !bom
            && i >= pass_until
            && !belongs(c, before, &text[next..])
        {
            f(kind, i, c);
        }
        before = Some(c);
        i = next;
    }
}

/// Everything that hides in `text`, runs of one kind together.
#[must_use]
pub fn scan(text: &str) -> Findings {
    let mut out = Findings::default();
    let mut end = usize::MAX;
    let mut places = Places::new(text);
    let mut last: Option<Hiding> = None;
    each(text, |kind, i, c| {
        if last == Some(kind) && end == i {
            if let Some(run) = out.runs.last_mut().filter(|r| r.bytes.end == i) {
                run.bytes.end = i + c.len_utf8();
                run.count = run.count.saturating_add(1);
                if run.code_points.len() < 8 {
                    run.code_points.push(u32::from(c));
                }
                spell(&mut run.spells, c);
            }
        } else {
            out.total += 1;
            if out.runs.len() < FINDINGS_MAX {
                let mut spells = String::new();
                spell(&mut spells, c);
                let code_points = vec![u32::from(c)];
                out.runs.push(Finding {
                    kind,
                    at: places.at(i),
                    bytes: i..i + c.len_utf8(),
                    code_points,
                    count: 1,
                    spells,
                });
            }
        }
        (last, end) = (Some(kind), i + c.len_utf8());
    });
    out
}

fn spell(out: &mut String, c: char) {
    let n = u32::from(c);
    if (0xe0020..0xe007f).contains(&n)
        && out.len() < 64
        && let Some(c) = char::from_u32(n - 0xe0000)
    {
        out.push(c);
    }
}

/// `text` with everything that [`scan`] finds written out as `⟨U+202E⟩`.
#[must_use]
pub fn reveal(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut from = 0;
    each(text, |_, i, c| {
        out.push_str(&text[from..i]);
        out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c)));
        from = i + c.len_utf8();
    });
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// The first control or bidi control character of `text`, which the portable format has not
/// (decision 15). A lone CR is one.
#[must_use]
pub fn forbidden(text: &str) -> Option<(usize, char)> {
    let mut found = None;
    each(text, |kind, i, c| {
        if found.is_none() && matches!(kind, Hiding::Control | Hiding::Bidi) {
            found = Some((i, c));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_really_write_passes() {
        for text in [
            "plain\ttext\r\nwith lines\n",
            "👨\u{200d}👩\u{200d}👧 👩🏽\u{200d}🚀 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f} ☎\u{fe0e} 1\u{fe0f}\u{20e3} ©\u{fe0f}",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} Scotland",
            "می\u{200c}خواهم", // Persian
            "क\u{94d}\u{200d}ष",
            "ภาษา\u{200b}ไทย",
            "葛\u{e0100}城",
            "\u{feff}the mark at the start",
            "سلام, שלום",
        ] {
            assert_eq!(scan(text), Findings::default(), "{text:?}");
            assert_eq!(reveal(text), text);
        }
    }

    #[test]
    fn what_hides_is_found_with_code_points_and_places() {
        let text = "ab\u{200b}c\nx\u{202e}y\u{2066}\u{2067}\n\u{e0048}\u{e0069}!\u{0}";
        let f = scan(text);
        let got: Vec<_> = f.runs.iter().map(|r| (r.kind, r.at.line, r.at.column, r.count)).collect();
        use Hiding as H;
        let want =
            [(H::ZeroWidth, 1, 3, 1), (H::Bidi, 2, 2, 1), (H::Bidi, 2, 4, 2), (H::Tag, 3, 1, 2), (H::Control, 3, 4, 1)];
        assert_eq!((got, f.total), (want.to_vec(), 5));
        assert_eq!(f.runs[3].spells, "Hi");
        assert_eq!(f.runs[2].written(), "U+2066 U+2067");
        assert_eq!(reveal("a\u{200d}b"), "a⟨U+200D⟩b");
    }

    #[test]
    fn sequences_that_only_pretend_are_found() {
        for (text, n) in [
            ("a\u{fe0f}b", 1),
            ("😀\u{fe0f}\u{fe00}\u{fe01}", 1), // data in variation selectors
            ("🏴\u{e0067}\u{e0062}", 1),       // a flag that never ends
            ("🏴\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e0061}\u{e007f}", 1), // too long for one
            ("pay\u{200d}pal", 1),
            ("می\u{200c} x", 1),
            ("text\u{feff}inside", 1),
            ("\u{3164}", 1),
            ("one\rtwo", 1),
            ("\u{feff}\u{feff}x", 1),
        ] {
            assert_eq!(scan(text).total, n, "{text:?}");
        }
    }

    #[test]
    fn only_the_list_is_bounded_not_the_count() {
        let text = "a\u{200b}\n".repeat(FINDINGS_MAX + 50);
        let f = scan(&text);
        assert_eq!((f.runs.len(), f.total), (FINDINGS_MAX, FINDINGS_MAX + 50));
        assert_eq!(
            f.runs.last().map(|r| r.at),
            Some(Position { line: crate::diagnostic::small(FINDINGS_MAX), column: 2 })
        );
        assert_eq!(reveal(&text).matches("U+200B").count(), FINDINGS_MAX + 50);
    }

    proptest::proptest! {
        #[test]
        fn every_finding_stands_where_it_says(text in "[\\x00-\\x7f\u{200b}-\u{200f}\u{202a}-\u{202e}\u{feff}\u{fe0f}😀é\u{e0041}]{0,60}") {
            let f = scan(&text);
            for r in &f.runs {
                proptest::prop_assert_eq!(Position::of(&text, r.bytes.start), r.at);
                proptest::prop_assert_eq!(text[r.bytes.clone()].chars().next().map(u32::from), r.code_points.first().copied());
            }
            proptest::prop_assert_eq!(reveal(&text).as_ref() == text, f.is_clean());
        }
    }
}
