//! A line as words: blanks separate, quotation marks hold together, nothing is guessed.

use super::{ArgumentRefusal, LINE_MAX, WORDS_MAX, bound};

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its text, without the quotation marks.
    pub text: String,
    /// Its first byte in the line.
    pub start: usize,
    /// One past its last.
    pub end: usize,
}

/// Splits a line. `"…"` holds together anywhere and knows `\"` and `\\`; `'…'` only where a word
/// begins, so that an apostrophe is a letter. A backslash elsewhere is one.
///
/// # Errors
/// An unclosed quotation mark, or a bound.
pub fn split(line: &str) -> Result<Vec<Word>, ArgumentRefusal> {
    bound("the line", "bytes", line.len(), LINE_MAX)?;
    let mut words = Vec::new();
    let mut current: Option<Word> = None;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_whitespace() {
            if let Some(word) = current.take() {
                words.push(word);
                bound("the line", "arguments", words.len(), WORDS_MAX)?;
            }
            continue;
        }
        let begins = current.is_none();
        let word = current.get_or_insert_with(|| Word { text: String::new(), start: at, end: at });
        match c {
            '"' => {
                let mut closed = false;
                while let Some((_, c)) = chars.next() {
                    match (c, chars.peek()) {
                        ('"', _) => {
                            closed = true;
                            break;
                        }
                        ('\\', Some(&(_, next @ ('"' | '\\')))) => {
                            word.text.push(next);
                            chars.next();
                        }
                        _ => word.text.push(c),
                    }
                }
                if !closed {
                    return Err(unclosed(line, at, c));
                }
            }
            '\'' if begins => {
                let mut closed = false;
                for (_, c) in chars.by_ref() {
                    if c == '\'' {
                        closed = true;
                        break;
                    }
                    word.text.push(c);
                }
                if !closed {
                    return Err(unclosed(line, at, c));
                }
            }
            _ => word.text.push(c),
        }
        word.end = chars.peek().map_or(line.len(), |&(at, _)| at);
    }
    words.extend(current);
    bound("the line", "arguments", words.len(), WORDS_MAX)?;
    Ok(words)
}

fn unclosed(line: &str, at: usize, mark: char) -> ArgumentRefusal {
    ArgumentRefusal::UnclosedQuote { mark, column: line[..at].chars().count() + 1 }
}
