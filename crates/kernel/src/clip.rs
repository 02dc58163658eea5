//! The one way to shorten text (`field_5h4`): on a grapheme boundary, saying how much there was.

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;

/// `text`, or its longest prefix of whole graphemes within `max` bytes followed by
/// ` … (kept/total bytes)`; a grapheme longer than `max` is dropped whole.
#[must_use]
pub fn clip(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let kept = boundary(text, max);
    Cow::Owned(format!("{} … ({kept}/{} bytes)", &text[..kept], text.len()))
}

/// `text`, or its longest prefix of whole graphemes within `max` bytes and an ellipsis; for
/// labels, where the whole text is shown elsewhere.
#[must_use]
pub fn label(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", text[..boundary(text, max)].trim_end()))
}

/// `text` with every character that hides or reorders others written out as `⟨U+202E⟩`: controls
/// but line ends and tabs, bidi controls, zero-width and tag characters. What joins an emoji
/// sequence stays. For text that a person decides about.
#[must_use]
pub fn reveal(text: &str) -> Cow<'_, str> {
    let hides = |c: char, before: Option<char>| match c {
        '\n' | '\t' => false,
        '\u{200d}' | '\u{fe0f}' => before.is_none_or(|b| u32::from(b) < 0x2190),
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control(),
    };
    let mut before = None;
    if !text.chars().any(|c| hides(c, before.replace(c))) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = None;
    for c in text.chars() {
        if hides(c, before.replace(c)) {
            out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The largest grapheme boundary at or before `max`.
#[must_use]
pub fn boundary(text: &str, max: usize) -> usize {
    if text.len() <= max {
        return text.len();
    }
    // Graphemes are looked for from a char boundary a little before the cut, not from the
    // start, so that shortening a megabyte costs no more than shortening a line. A cluster
    // that is longer than the window falls back to its character boundary.
    const WINDOW: usize = 256;
    let floor = |mut i: usize| {
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let (start, end) = (floor(max.saturating_sub(WINDOW)), floor(max));
    let cut = text[start..]
        .grapheme_indices(true)
        .map(|(i, g)| start + i + g.len())
        .take_while(|e| *e <= max)
        .last()
        .unwrap_or(if start == 0 { 0 } else { end });
    if cut == start && start > 0 { end } else { cut }
}

/// The longest prefix of possibly invalid bytes within `max` bytes as text (each invalid
/// sequence is one U+FFFD), with the number of bytes kept. Valid text is cut on a grapheme.
#[must_use]
pub fn clip_bytes(bytes: &[u8], max: usize) -> (String, usize) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let end = boundary(text, max);
        return (text[..end].to_owned(), end);
    }
    let mut end = bytes.len().min(max);
    if end < bytes.len() {
        // Back to the start of the character that the cut would tear; at most 3 bytes.
        end -= (0..4.min(end + 1)).find(|k| bytes[end - k] & 0xc0 != 0x80).unwrap_or(0);
    }
    (String::from_utf8_lossy(&bytes[..end]).into_owned(), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_5h4_every_cut_falls_between_characters() {
        for k in 0..3 {
            let s = "x".repeat(k) + &"→".repeat(100_000);
            for max in [0, 1, 2, 3, 4, 5, 6, 7, 1000, 32 * 1024, 32 * 1024 + 1, 32 * 1024 + 2] {
                let c = clip(&s, max);
                assert!(!c.contains('\u{fffd}'));
                assert!(c.ends_with(&format!("/{} bytes)", s.len())), "{}", &c[c.len() - 40..]);
                let (t, kept) = clip_bytes(s.as_bytes(), max);
                assert!(!t.contains('\u{fffd}') && kept <= max && kept == t.len());
                assert!(label(&s, max).ends_with('…'));
            }
        }
    }

    #[test]
    fn clusters_are_not_torn() {
        let family = "👨\u{200d}👩\u{200d}👧";
        let s = format!("ab{family}cd");
        assert_eq!(boundary(&s, 2 + family.len() - 1), 2);
        assert_eq!(boundary(&s, 2 + family.len()), 2 + family.len());
        assert_eq!(clip("short", 10), "short");
    }

    #[test]
    fn a_cluster_longer_than_the_window_still_ends_on_a_character() {
        let s = "a".repeat(10) + &"\u{301}".repeat(2000);
        for max in 0..s.len() {
            assert!(s.is_char_boundary(boundary(&s, max)));
        }
    }

    #[test]
    fn what_hides_or_reorders_is_written_out() {
        assert_eq!(reveal("pay\u{202e}lla\u{200b} \u{e0041}x\r"), "pay⟨U+202E⟩lla⟨U+200B⟩ ⟨U+E0041⟩x⟨U+000D⟩");
        assert_eq!(reveal("a\u{200d}b"), "a⟨U+200D⟩b");
        for plain in ["naïve\n\ttext", "👨\u{200d}👩\u{200d}👧 ☎\u{fe0f}", "سلام"] {
            assert_eq!(reveal(plain), plain);
        }
    }

    #[test]
    fn invalid_bytes_are_shown_not_dropped() {
        let (t, kept) = clip_bytes(b"ab\xffcd", 5);
        assert_eq!((t.as_str(), kept), ("ab\u{fffd}cd", 5));
    }
}
