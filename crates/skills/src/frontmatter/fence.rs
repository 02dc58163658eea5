//! Cutting a file at its fences. A fence is a line that holds three dashes at column 1, and at
//! most blanks after them; dashes anywhere else cut nothing. One leading U+FEFF is dropped and
//! CRLF reads as LF (decision 9).

use crate::diagnostic::{Position, small};
use std::borrow::Cow;
use std::ops::Range;

/// A file cut in two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split<'a> {
    /// What is between the fences. CRLF stays: the YAML reader takes it as a line end, and so every
    /// place stays that of the file.
    pub yaml: Cow<'a, str>,
    /// The file's line on which `yaml` begins.
    pub first_line: u32,
    /// The body's bytes in the text given, exactly.
    pub body: Range<usize>,
    /// What only a lenient reader accepts.
    pub lenient: Option<Lenient>,
}

/// Why the fences are not those of the portable format, though they can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lenient {
    /// Blank lines or blanks before the first fence.
    LeadingBlank,
    /// Lines end in a lone CR.
    LoneCr,
}

/// Why there is no frontmatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FenceFault {
    /// The text does not begin with a fence.
    #[error("the file does not begin with a line of three dashes")]
    Missing,
    /// There is a first fence and no second.
    #[error("the frontmatter that opens here has no closing line of three dashes")]
    Unclosed,
    /// The second fence lies beyond the cap.
    #[error("the frontmatter is longer than {0} bytes")]
    TooLarge(usize),
}

/// A line without its end, and where the next one begins.
fn line_at(text: &str, at: usize) -> (&str, usize) {
    let rest = &text[at..];
    let end = rest.bytes().position(|b| b == b'\n').map_or(text.len(), |i| at + i + 1);
    let line = &text[at..end];
    let bare = line.strip_suffix('\n').map(|l| l.strip_suffix('\r').unwrap_or(l));
    (bare.unwrap_or(line), end)
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.bytes().all(|b| matches!(b, b' ' | b'\t')))
}

/// Cuts `text` at its fences; `max` is the cap on the bytes between them.
///
/// # Errors
/// [`FenceFault`] with the place where a fence was expected.
pub fn split(text: &str, max: usize) -> Result<Split<'_>, (FenceFault, Position)> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (first, after) = line_at(text, start);
    if is_fence(first) {
        return between(text, after, 2, max, None);
    }
    if lone_cr(&text[start..]) {
        return split_cr(text, start, max);
    }
    // Blank lines and blanks before the fence: found, and not portable.
    let mut at = start;
    let mut line_no = 1usize;
    while at < text.len() {
        let (line, next) = line_at(text, at);
        let bare = line.trim_start_matches([' ', '\t']);
        if is_fence(bare) {
            return between(text, next, line_no + 1, max, Some(Lenient::LeadingBlank));
        }
        if !bare.is_empty() {
            break;
        }
        (at, line_no) = (next, line_no + 1);
    }
    Err((FenceFault::Missing, Position::START))
}

fn between(
    text: &str,
    from: usize,
    first_line: usize,
    max: usize,
    lenient: Option<Lenient>,
) -> Result<Split<'_>, (FenceFault, Position)> {
    let opening = Position { line: small(first_line - 1), column: 1 };
    let mut at = from;
    while at < text.len() {
        if at - from > max {
            return Err((FenceFault::TooLarge(max), opening));
        }
        let (line, next) = line_at(text, at);
        if is_fence(line) {
            let yaml = Cow::Borrowed(&text[from..at]);
            return Ok(Split { yaml, first_line: small(first_line), body: next..text.len(), lenient });
        }
        at = next;
    }
    Err((if text.len() - from > max { FenceFault::TooLarge(max) } else { FenceFault::Unclosed }, opening))
}

/// A first line that ends in a CR without LF.
fn lone_cr(text: &str) -> bool {
    let cr = text.bytes().position(|b| b == b'\r');
    cr.is_some_and(|i| is_fence(&text[..i]) && text.as_bytes().get(i + 1) != Some(&b'\n'))
}

/// Files of an old editor: every CR is a line end.
fn split_cr(text: &str, start: usize, max: usize) -> Result<Split<'_>, (FenceFault, Position)> {
    let from = start + text[start..].find('\r').map_or(0, |i| i + 1);
    let mut at = from;
    for line in text[from..].split_inclusive('\r') {
        if at - from > max {
            return Err((FenceFault::TooLarge(max), Position::START));
        }
        if is_fence(line.strip_suffix('\r').unwrap_or(line)) {
            let yaml = Cow::Owned(text[from..at].replace('\r', "\n"));
            return Ok(Split {
                yaml,
                first_line: 2,
                body: at + line.len()..text.len(),
                lenient: Some(Lenient::LoneCr),
            });
        }
        at += line.len();
    }
    Err((FenceFault::Unclosed, Position::START))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Option<(String, u32, &str, Option<Lenient>)> {
        split(text, 64).ok().map(|s| (s.yaml.into_owned(), s.first_line, &text[s.body], s.lenient))
    }

    #[test]
    fn fences_are_whole_lines() {
        let want = Some(("a: b\n".to_owned(), 2, "body\n", None));
        for text in ["---\na: b\n---\nbody\n", "\u{feff}---\na: b\n---\nbody\n", "--- \t\na: b\n---  \nbody\n"] {
            assert_eq!(cut(text), want, "{text:?}");
        }
        assert_eq!(cut("---\r\na: b\r\n---\r\nbo\r\n"), Some(("a: b\r\n".to_owned(), 2, "bo\r\n", None)));
        assert_eq!(cut("---\na: b\n---"), Some(("a: b\n".to_owned(), 2, "", None)));
        assert_eq!(cut("---\n---\n"), Some((String::new(), 2, "", None)));
    }

    #[test]
    fn dashes_inside_a_value_or_the_body_cut_nothing() {
        let text = "---\na: x --- y\nb: |\n  ---\n---\none\n---\ntwo\n";
        assert_eq!(cut(text), Some(("a: x --- y\nb: |\n  ---\n".to_owned(), 2, "one\n---\ntwo\n", None)));
        for no in ["----\na: b\n---\n", "---x\na: b\n---\n", "a\n---\na: b\n---\n", "", "--\n", "...\n"] {
            assert_eq!(split(no, 64), Err((FenceFault::Missing, Position::START)), "{no:?}");
        }
        for open in ["---\na: b\n", "---\na: b\n----\n", "---\na: b\n...\n", "---\na: b\n ---\n", "---"] {
            assert_eq!(split(open, 64), Err((FenceFault::Unclosed, Position::START)), "{open:?}");
        }
    }

    #[test]
    fn what_only_a_lenient_reader_takes_is_said() {
        let blank = Some(Lenient::LeadingBlank);
        assert_eq!(cut("\n \n---\na: b\n---\nx"), Some(("a: b\n".to_owned(), 4, "x", blank)));
        assert_eq!(cut("  ---\na: b\n---\nx"), Some(("a: b\n".to_owned(), 2, "x", blank)));
        let cr = cut("---\ra: b\r---\rx");
        assert_eq!(cr, Some(("a: b\n".to_owned(), 2, "x", Some(Lenient::LoneCr))));
    }

    #[test]
    fn the_cap_is_met_exactly() {
        let file = |n: usize| format!("---\n{}\n---\n", "x".repeat(n - 1));
        assert!(split(&file(64), 64).is_ok());
        assert_eq!(split(&file(65), 64), Err((FenceFault::TooLarge(64), Position::START)));
        let endless = format!("---\n{}", "x\n".repeat(99));
        assert_eq!(split(&endless, 64), Err((FenceFault::TooLarge(64), Position::START)));
    }
}
