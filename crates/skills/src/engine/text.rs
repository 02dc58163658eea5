//! Words: where they stand, what they read as, what separates them. A script without spaces gives
//! one token a character, so a phrase of it is a run of characters (engine.md §2.3, 5).

use unicode_normalization::UnicodeNormalization;

use super::Span;
use super::mask::{MaskKind, Masked, PLACEHOLDER, is_block};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word.
    Word,
    /// One character of a script without spaces: Han.
    Han,
    /// One character of a script without spaces: kana.
    Kana,
    /// `/id` or `$id` with clean boundaries; its text is the id, case kept.
    Id,
}

/// What stands between a token and the one before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    /// A mark that ends a clause.
    pub hard: bool,
    /// A colon, among what ends a clause.
    pub colon: bool,
    /// A comma, a bracket or a dash: it ends a segment.
    pub comma: bool,
    /// A line end.
    pub newline: bool,
    /// A blank line, or a list mark.
    pub block: bool,
    /// Nothing but what may stand inside a phrase: blanks, hyphens, emphasis.
    pub joined: bool,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub span: Span,
    /// Its normalised text, in the buffer of [`Tokens`].
    text: (usize, usize),
    pub kind: Kind,
    pub gap: Gap,
    /// The region it lies in.
    pub mask: Option<MaskKind>,
    /// It is part of a path or file name and means a place.
    pub path: bool,
    /// It begins with a lower-case letter.
    pub lower: bool,
}

/// All tokens of a text.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub list: Vec<Token>,
    buffer: String,
}

impl Tokens {
    pub(super) fn text(&self, token: &Token) -> &str {
        &self.buffer[token.text.0..token.text.1]
    }
}

/// Han characters.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}' | '々')
}

/// Hiragana and katakana.
pub(super) fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}') && c != '・'
}

/// A character of a script that sets no spaces.
pub(super) fn is_unspaced(c: char) -> bool {
    is_han(c) || is_kana(c)
}

/// Characters of such scripts that read like part of an ASCII name; beside an id they make it
/// another name.
fn looks_latin(c: char) -> bool {
    matches!(c, 'ー' | 'ｰ' | '一' | '〇' | 'ノ' | '丿' | '丶' | '口' | 'ロ' | '二' | 'ニ')
}

fn is_word(c: char) -> bool {
    (c.is_alphanumeric() && !is_unspaced(c)) || matches!(c, '\u{300}'..='\u{36f}')
}

fn is_id(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')
}

/// Elisions before an apostrophe that are words of their own.
const ELISIONS: [&str; 12] = ["l", "d", "n", "j", "m", "s", "t", "c", "qu", "jusqu", "lorsqu", "puisqu"];

/// What may stand right before an id.
fn opens_id(before: Option<char>) -> bool {
    match before {
        None => true,
        Some(c) if is_unspaced(c) => !looks_latin(c),
        Some(c) => {
            c.is_whitespace()
                || matches!(c, '(' | '[' | '{' | ',' | ';' | ':' | '!' | '*' | '>' | '—' | '…' | PLACEHOLDER)
                || full_width_mark(c)
        }
    }
}

/// What may stand right after an id.
fn closes_id(after: Option<char>) -> bool {
    match after {
        None => true,
        Some(c) if is_unspaced(c) => !looks_latin(c),
        Some(c) => {
            c.is_whitespace()
                || (c.is_ascii_punctuation() && !matches!(c, '/' | '-' | '_' | '\\' | '=' | '$' | '@'))
                || matches!(c, '—' | '…' | '’' | '”' | '»' | PLACEHOLDER)
                || full_width_mark(c)
        }
    }
}

/// True when some bytes stand alone, as an id does.
pub(super) fn stands_alone(text: &str, span: Span) -> bool {
    opens_id(text[..span.start].chars().next_back()) && closes_id(text[span.end..].chars().next())
}

/// An invocation mark at `at`, where `/` or `$` stands: the id's bytes, when its boundaries on both
/// sides are clean (engine.md §2.3, 5).
fn id_at(text: &str, at: usize, before: Option<char>) -> Option<Span> {
    let opens = opens_id(before);
    let mut start = at + 1;
    if text.as_bytes()[at] == b'/' && text[start..].starts_with("skill:") {
        start += "skill:".len();
    }
    let run = text.as_bytes()[start..].iter().take_while(|&&b| is_id(b)).count();
    let name = text[start..start + run].trim_end_matches('.');
    let end = start + name.len();
    // A dot ends a sentence only before a blank or the end.
    let after = text[start + run..].chars().next();
    let closes = closes_id(after) && (end == start + run || after.is_none_or(char::is_whitespace));
    let sound = name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric()) && !name.ends_with(['-', '_']);
    (opens && closes && sound).then_some(Span { start, end })
}

/// Punctuation of Chinese and Japanese.
fn full_width_mark(c: char) -> bool {
    matches!(
        c,
        '、' | '。'
            | '，'
            | '！'
            | '？'
            | '；'
            | '：'
            | '（'
            | '）'
            | '「'
            | '」'
            | '『'
            | '』'
            | '【'
            | '】'
            | '\u{3000}'
            | '・'
            | '…'
    )
}

/// Where a chunk without blanks ends, and whether it names a place rather than says something.
fn chunk(text: &str, at: usize, limit: usize) -> (usize, bool) {
    let rest = &text[at..limit];
    let len = rest.find(|c: char| c.is_whitespace() || is_unspaced(c) || full_width_mark(c)).unwrap_or(rest.len());
    let body = &rest[..len];
    let mut before = text[..at].chars().next_back();
    let mut slash = false;
    for (n, c) in body.char_indices() {
        slash |= match c {
            '/' | '$' => id_at(text, at + n, before).is_none(),
            '\\' | '／' | '＄' | '@' | '=' => true,
            _ => false,
        };
        before = Some(c);
    }
    let trimmed = body.trim_end_matches(|c: char| !is_word(c));
    let dotted = trimmed.rsplit_once('.').is_some_and(|(stem, end)| {
        stem.ends_with(is_word) && (1..=8).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    (at + len, (slash && body.len() > 1) || dotted)
}

/// Splits a text into tokens, knowing what is masked. Linear.
pub(super) fn tokens(text: &str, masked: &[Masked]) -> Tokens {
    let mut out = Tokens { list: Vec::new(), buffer: String::with_capacity(text.len() / 2) };
    let mut gap = Gap { joined: true, ..Gap::default() };
    let (mut at, mut region, mut inside) = (0, 0, None::<usize>);
    let (mut chunk_end, mut path) = (0, false);
    let (mut before, mut line_empty) = (None::<char>, true);
    while let Some(c) = text[at..].chars().next() {
        while masked.get(region).is_some_and(|m| m.span.end <= at) {
            region += 1;
        }
        let here = masked.get(region).filter(|m| m.span.start <= at).map(|_| region);
        if here != inside {
            (inside, gap.joined, before, chunk_end) = (here, false, None, at);
            gap.block |= here.and_then(|n| masked.get(n)).is_some_and(|m| is_block(&text[m.span.start..m.span.end]));
        }
        let limit = match (inside, masked.get(region)) {
            (Some(_), Some(m)) => m.span.end,
            (None, Some(m)) => m.span.start,
            _ => text.len(),
        };
        if at >= chunk_end && !c.is_whitespace() {
            (chunk_end, path) = chunk(text, at, limit);
            chunk_end = chunk_end.max(at + c.len_utf8());
        }
        let (end, kind) = match c {
            // Inside a mask its opening mark is no part of the text.
            '/' | '$' => match id_at(text, at, before.filter(|&b| inside.is_none() || is_word(b) || b == '/'))
                .filter(|id| id.end <= limit)
            {
                Some(id) => (id.end, Some(Kind::Id)),
                None => (at + 1, None),
            },
            _ if is_han(c) => (at + c.len_utf8(), Some(Kind::Han)),
            _ if is_kana(c) => (at + c.len_utf8(), Some(Kind::Kana)),
            _ if is_word(c) => (word_end(text, at, limit), Some(Kind::Word)),
            _ => (at + c.len_utf8(), None),
        };
        if let Some(kind) = kind {
            let from = out.buffer.len();
            push_normal(&mut out.buffer, &text[at..end], kind);
            out.list.push(Token {
                span: Span { start: at, end },
                text: (from, out.buffer.len()),
                kind,
                gap,
                mask: inside.and_then(|n| masked.get(n)).map(|m| m.kind),
                path: path && kind != Kind::Id,
                lower: c.is_lowercase() || kind == Kind::Id,
            });
            gap = Gap { joined: true, ..Gap::default() };
            line_empty = false;
        } else {
            separator(&mut gap, text, at, c, line_empty, inside.is_some());
            if c == '\n' {
                line_empty = true;
            } else if !c.is_whitespace() {
                line_empty = false;
            }
        }
        before = text[at..end].chars().next_back();
        at = end;
    }
    out
}

/// The end of the word at `at`; an elision ends with its apostrophe.
fn word_end(text: &str, at: usize, limit: usize) -> usize {
    let mut end = at;
    while let Some(c) = text[end..limit].chars().next() {
        if is_word(c) {
            end += c.len_utf8();
        } else if matches!(c, '\'' | '’') && end > at && text[end + c.len_utf8()..limit].starts_with(is_word) {
            let elided = text[at..end].to_lowercase();
            end += c.len_utf8();
            if ELISIONS.contains(&elided.as_str()) {
                break;
            }
        } else {
            break;
        }
    }
    end
}

fn push_normal(buffer: &mut String, word: &str, kind: Kind) {
    match kind {
        Kind::Id => buffer.push_str(word.trim_start_matches(['/', '$']).trim_start_matches("skill:")),
        _ if word.is_ascii() => buffer.extend(word.chars().map(|c| c.to_ascii_lowercase())),
        _ => buffer.extend(word.nfc().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c })),
    }
}

/// Notes what a character between two tokens does.
fn separator(gap: &mut Gap, text: &str, at: usize, c: char, line_empty: bool, masked: bool) {
    let after = text[at + c.len_utf8()..].chars().next();
    let ends = after.is_none_or(|a| a.is_whitespace() || is_unspaced(a) || !a.is_alphanumeric());
    match c {
        '\n' => {
            gap.block |= gap.newline && line_empty;
            gap.newline = true;
        }
        // Inside a mask nothing but lines separates what is outside.
        _ if masked => {}
        '!' | '?' | ';' | '。' | '！' | '？' | '；' | '．' => gap.hard = true,
        '：' => (gap.hard, gap.colon) = (true, true),
        ':' if ends => (gap.hard, gap.colon) = (true, true),
        '.' | '…' if ends => gap.hard = true,
        ',' | '，' | '、' | '(' | ')' | '（' | '）' | '—' | '–' | '[' | ']' => gap.comma = true,
        '-' | '*' | '+' | '•' | '·' if line_empty && after.is_some_and(char::is_whitespace) => gap.block = true,
        '-' if at > 0 && text[..at].ends_with(' ') && after == Some(' ') => gap.comma = true,
        _ => {}
    }
    let inner = c.is_whitespace() || matches!(c, '-' | '_' | '*' | '\'' | '’' | '#');
    gap.joined &= inner;
}

#[cfg(test)]
mod tests {
    use super::super::mask::mask;
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        let tokens = tokens(text, &mask(text));
        tokens.list.iter().filter(|t| t.kind == Kind::Id).map(|t| tokens.text(t).to_owned()).collect()
    }

    #[test]
    fn t144_an_id_ends_where_its_boundary_says() {
        for text in [
            "/a-b",
            "/a-b.",
            "run /a-b, then",
            "(/a-b)",
            "$a-b!",
            "/a-b\nx",
            "**/a-b**",
            "请用/a-b，谢谢",
            "/a-bを使って",
            "/skill:a-b x",
        ] {
            assert_eq!(ids(text), ["a-b"], "{text}");
        }
        for text in [
            "foo/a-b",
            "/a-b/x",
            "./a-b",
            "/a-b-",
            "/a-b_",
            "x$a-b",
            "~/a-b",
            "//a-b",
            "http://h/a-b",
            "/a-bー",
            "/a-bб",
            "／a-b",
            "/a-b\u{200b}x",
            "/а-b",
        ] {
            assert!(!ids(text).contains(&"a-b".to_owned()), "{text}: {:?}", ids(text));
        }
        assert_eq!(ids("/a-b.x"), ["a-b.x"]);
        assert_eq!(ids("/A-b"), ["A-b"], "ids keep their case and so never match another");
    }

    #[test]
    fn words_characters_and_places_are_told_apart() {
        let read = |text: &str| -> Vec<(String, bool)> {
            let tokens = tokens(text, &mask(text));
            tokens.list.iter().map(|t| (tokens.text(t).to_owned(), t.path)).collect()
        };
        assert_eq!(read("Don’t l'audit"), [("don't".into(), false), ("l'".into(), false), ("audit".into(), false)]);
        assert_eq!(
            read("src/notes.md x"),
            [("src".into(), true), ("notes".into(), true), ("md".into(), true), ("x".into(), false)]
        );
        assert_eq!(read("用AI"), [("用".into(), false), ("ai".into(), false)]);
        assert_eq!(read("end. Next"), [("end".into(), false), ("next".into(), false)]);
    }
}
