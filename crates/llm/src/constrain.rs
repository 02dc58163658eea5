//! A small byte automaton that holds an answer in a given form: JSON around literals, strings, choices, spans, numbers.
//!
//! A token is allowed if and only if all its bytes are, so no grammar has to be compiled against a vocabulary. Spans
//! are what schema engines lack and tool arguments need: a value that must be words of a given text.

use std::fmt;
use std::sync::Arc;

/// Most parts of one form.
pub const MAX_PARTS: usize = 64;

/// One part of the form; parts follow one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Exactly these bytes.
    Literal(String),
    /// The inside of a JSON string and its closing quote; at least one and at most this many bytes.
    Text {
        /// Most bytes.
        max: usize,
    },
    /// One of these.
    OneOf(Vec<String>),
    /// Whole words that stand next to each other in a text, and a closing quote.
    Span {
        /// The text.
        of: String,
        /// Most bytes.
        max: usize,
    },
    /// A whole number as JSON writes it.
    Int {
        /// Most digits.
        max: usize,
    },
}

/// Why a form cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    /// Which part.
    pub part: usize,
    /// What is wrong with it.
    pub observed: &'static str,
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "constraint: part {}: {}", self.part, self.observed)
    }
}
impl std::error::Error for FormError {}

/// Where in a form an answer stands.
#[derive(Clone, Debug)]
pub struct Automaton {
    parts: Arc<[Part]>,
    part: usize,
    /// Bytes of the current part.
    held: Vec<u8>,
    text: Inside,
}

/// Where inside a JSON string the last byte left us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Plain,
    Escape,
    /// Hex digits still to come, and whether the next must keep a surrogate away.
    Hex(u8, bool),
    /// Continuation bytes still to come, and the range of the next.
    Utf8(u8, u8, u8),
}

impl Automaton {
    /// An automaton at the start of a form.
    ///
    /// # Errors
    /// [`FormError`] for a form without parts, with too many, or with a part that nothing can fill.
    pub fn new(parts: Vec<Part>) -> Result<Self, FormError> {
        if parts.is_empty() || parts.len() > MAX_PARTS {
            return Err(FormError { part: parts.len(), observed: "a form has 1 to 64 parts" });
        }
        for (part, p) in parts.iter().enumerate() {
            let observed = match p {
                Part::Literal(s) if s.is_empty() => "empty literal",
                Part::OneOf(o) if o.is_empty() || o.iter().any(String::is_empty) => "no choice, or an empty one",
                Part::Text { max: 0 } | Part::Int { max: 0 } | Part::Span { max: 0, .. } => "no room",
                Part::Span { of, .. } if of.trim().is_empty() => "a span of nothing",
                _ => continue,
            };
            return Err(FormError { part, observed });
        }
        Ok(Self { parts: parts.into(), part: 0, held: Vec::new(), text: Inside::Plain })
    }

    /// Whether nothing more can follow.
    pub fn finished(&self) -> bool {
        self.part == self.parts.len()
    }

    /// Whether the answer may end here.
    pub fn may_end(&self) -> bool {
        self.finished() || self.part + 1 == self.parts.len() && self.complete()
    }

    /// The state after more bytes, if they are allowed.
    pub fn after(&self, bytes: &[u8]) -> Option<Self> {
        // most tokens die on their first byte: look before copying
        if bytes.is_empty() || !self.may_start(bytes[0]) {
            return None;
        }
        let mut next = self.clone();
        bytes.iter().all(|b| next.byte(*b)).then_some(next)
    }

    /// Bytes that are the only way on.
    pub fn forced(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut held = self.held.len();
        for part in &self.parts[self.part.min(self.parts.len())..] {
            let Part::Literal(s) = part else { break };
            out.extend_from_slice(&s.as_bytes()[held..]);
            held = 0;
        }
        out
    }

    fn may_start(&self, b: u8) -> bool {
        match self.parts.get(self.part) {
            None => false,
            Some(Part::Literal(s)) => s.as_bytes().get(self.held.len()) == Some(&b),
            _ => true,
        }
    }

    /// Whether the current part is whole although more of it could follow.
    fn complete(&self) -> bool {
        match self.parts.get(self.part) {
            Some(Part::OneOf(o)) => o.iter().any(|o| o.as_bytes() == self.held),
            Some(Part::Int { .. }) => self.held.last().is_some_and(u8::is_ascii_digit),
            _ => false,
        }
    }

    fn advance(&mut self) -> bool {
        self.part += 1;
        self.held.clear();
        self.text = Inside::Plain;
        true
    }

    fn byte(&mut self, b: u8) -> bool {
        let parts = Arc::clone(&self.parts);
        let Some(part) = parts.get(self.part) else { return false };
        match part {
            Part::Literal(s) => {
                if s.as_bytes()[self.held.len()] != b {
                    return false;
                }
                self.held.push(b);
                if self.held.len() == s.len() { self.advance() } else { true }
            }
            Part::Text { max } => {
                if b == b'"' && self.text == Inside::Plain {
                    return !self.held.is_empty() && self.advance();
                }
                // what was begun may be ended beyond the bound
                if self.held.len() >= *max && self.text == Inside::Plain {
                    return false;
                }
                self.held.push(b);
                match inside(self.text, b) {
                    Some(next) => {
                        self.text = next;
                        true
                    }
                    None => false,
                }
            }
            Part::OneOf(options) => {
                self.held.push(b);
                let mut fitting = options.iter().filter(|o| o.as_bytes().starts_with(&self.held));
                match (fitting.next(), fitting.next()) {
                    (Some(only), None) if only.len() == self.held.len() => self.advance(),
                    (Some(_), _) => true,
                    (None, _) => {
                        self.held.pop();
                        self.complete() && self.advance() && self.byte(b)
                    }
                }
            }
            Part::Span { of, max } => {
                if b == b'"' {
                    return !self.held.is_empty() && occurs(of.as_bytes(), &self.held, true) && self.advance();
                }
                if self.held.len() >= *max || b == b'\\' || b < 0x20 {
                    return false;
                }
                self.held.push(b);
                occurs(of.as_bytes(), &self.held, false)
            }
            Part::Int { max } => {
                let digits = self.held.iter().filter(|b| b.is_ascii_digit()).count();
                let leading_zero = digits == 1 && self.held.last() == Some(&b'0');
                let more = b.is_ascii_digit() && digits < *max && !leading_zero || b == b'-' && self.held.is_empty();
                if more {
                    self.held.push(b);
                    return true;
                }
                self.complete() && self.advance() && self.byte(b)
            }
        }
    }
}

/// One byte inside a JSON string: escapes as JSON has them, no lone surrogate, whole UTF-8.
fn inside(state: Inside, b: u8) -> Option<Inside> {
    Some(match state {
        Inside::Plain => match b {
            b'\\' => Inside::Escape,
            0x20..=0x7f => Inside::Plain,
            0xc2..=0xdf => Inside::Utf8(1, 0x80, 0xbf),
            0xe0 => Inside::Utf8(2, 0xa0, 0xbf),
            0xed => Inside::Utf8(2, 0x80, 0x9f),
            0xe1..=0xef => Inside::Utf8(2, 0x80, 0xbf),
            0xf0 => Inside::Utf8(3, 0x90, 0xbf),
            0xf1..=0xf3 => Inside::Utf8(3, 0x80, 0xbf),
            0xf4 => Inside::Utf8(3, 0x80, 0x8f),
            _ => return None,
        },
        Inside::Escape => match b {
            b'u' => Inside::Hex(4, false),
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Inside::Plain,
            _ => return None,
        },
        Inside::Hex(left, low) => match b {
            b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F' if low => return None,
            b if b.is_ascii_hexdigit() => {
                if left == 1 {
                    Inside::Plain
                } else {
                    Inside::Hex(left - 1, left == 4 && b.eq_ignore_ascii_case(&b'd'))
                }
            }
            _ => return None,
        },
        Inside::Utf8(left, low, high) => match b {
            b if b < low || b > high => return None,
            _ if left == 1 => Inside::Plain,
            _ => Inside::Utf8(left - 1, 0x80, 0xbf),
        },
    })
}

/// Whether `words` stands in `text` from the start of a word on, and, where asked, up to the end of one.
fn occurs(text: &[u8], words: &[u8], whole: bool) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80;
    let cut = |a: Option<&u8>, b: Option<&u8>| match (a, b) {
        (Some(a), Some(b)) => !word(*a) || !word(*b),
        _ => true,
    };
    text.windows(words.len()).enumerate().any(|(i, w)| {
        let end = i + words.len();
        w == words
            && cut(i.checked_sub(1).and_then(|i| text.get(i)), words.first())
            && (!whole || cut(words.last(), text.get(end)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(parts: &[Part], text: &str) -> bool {
        let a = Automaton::new(parts.to_vec()).expect("form");
        a.after(text.as_bytes()).is_some_and(|a| a.may_end())
    }
    fn lit(s: &str) -> Part {
        Part::Literal(s.to_owned())
    }

    #[test]
    fn strings_are_json_strings() {
        let form = [lit("{\"a\": \""), Part::Text { max: 12 }, lit("}")];
        for good in ["x", "a\\\"b", "\\u00e9", "\\ud7ff", "北京", "tab\\t"] {
            assert!(takes(&form, &format!("{{\"a\": \"{good}\"}}")), "{good}");
        }
        for bad in ["", "a\nb", "\\x", "\\ud800", "\\uD9", "much longer than twelve"] {
            assert!(!takes(&form, &format!("{{\"a\": \"{bad}\"}}")), "{bad}");
        }
        let a = Automaton::new(form.to_vec()).expect("form");
        assert!(a.after(b"{\"a\": \"\xff").is_none() && a.after(b"{\"a\": \"\xe5\"").is_none());
    }

    #[test]
    fn a_choice_that_begins_another_can_still_be_taken() {
        let form = [Part::OneOf(vec!["read".into(), "read_file".into(), "list".into()]), lit("\"")];
        assert!(takes(&form, "read\"") && takes(&form, "read_file\"") && takes(&form, "list\""));
        assert!(!takes(&form, "rea\"") && !takes(&form, "reads\"") && !takes(&form, "listing\""));
    }

    #[test]
    fn spans_are_whole_words_of_the_text() {
        let form = [Part::Span { of: "please read notes/todo.md now".into(), max: 40 }];
        for good in ["notes/todo.md", "todo.md", "read notes", "now", "notes"] {
            assert!(takes(&form, &format!("{good}\"")), "{good}");
        }
        for bad in ["otes", "notes/tod", "todo.mdx", "read  notes", ""] {
            assert!(!takes(&form, &format!("{bad}\"")), "{bad}");
        }
    }

    #[test]
    fn numbers_are_json_numbers() {
        let form = [Part::Int { max: 4 }, lit("}")];
        for good in ["0", "-12", "1234"] {
            assert!(takes(&form, &format!("{good}}}")), "{good}");
        }
        for bad in ["", "-", "01", "12345", "1-2", "+1"] {
            assert!(!takes(&form, &format!("{bad}}}")), "{bad}");
        }
        assert!(takes(&[Part::Int { max: 2 }], "42"), "a number may end the form");
    }

    #[test]
    fn forced_bytes_are_the_literals_ahead() {
        let form = vec![lit("{\"n\": "), lit("\""), Part::Text { max: 4 }];
        let a = Automaton::new(form).expect("form");
        assert_eq!(a.forced(), b"{\"n\": \"");
        let a = a.after(b"{\"n").expect("allowed");
        assert_eq!(a.forced(), b"\": \"");
        assert_eq!(a.after(b"\": \"").expect("allowed").forced(), b"");
    }

    #[test]
    fn forms_that_nothing_fills_are_refused() {
        for form in [
            vec![],
            vec![lit("")],
            vec![Part::OneOf(vec![])],
            vec![Part::OneOf(vec![String::new()])],
            vec![Part::Text { max: 0 }],
            vec![Part::Span { of: " ".into(), max: 3 }],
            vec![lit("x"); MAX_PARTS + 1],
        ] {
            assert!(Automaton::new(form).is_err());
        }
    }

    #[test]
    fn nothing_follows_the_end() {
        let a = Automaton::new(vec![lit("x")]).expect("form").after(b"x").expect("allowed");
        assert!(a.finished() && a.after(b"x").is_none() && a.forced().is_empty());
    }
}
