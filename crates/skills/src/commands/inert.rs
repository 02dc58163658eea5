//! What a command file's own tool would run, fetch or fill in before the model sees it. Nothing of
//! it happens here: it stays the text it is, and a person sees where it stands.

use std::ops::Range;

use super::{Format, INERT_MAX};

/// Kinds of injections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InertKind {
    /// A shell command whose output would have been put in.
    Shell,
    /// A file whose content would have been put in.
    File,
    /// A variable of the editor.
    Variable,
    /// A tool that would have been switched on.
    Tool,
}

/// An injection that stays text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inert {
    /// Its kind.
    pub kind: InertKind,
    /// Its bytes in the template.
    pub at: Range<usize>,
}

/// The injections of a template, in order, and at most [`INERT_MAX`].
pub(super) fn find(text: &str, format: Format) -> Vec<Inert> {
    let mut out = Vec::new();
    let (mut at, mut before) = (0, None::<char>);
    while let Some(c) = text[at..].chars().next() {
        if out.len() == INERT_MAX {
            break;
        }
        let word_start = before.is_none_or(|b| b.is_whitespace() || matches!(b, '(' | '[' | '"' | '\'' | ':' | ','));
        match one(&text[at..], c, word_start, format) {
            Some((kind, len)) => {
                out.push(Inert { kind, at: at..at + len });
                before = text[at..at + len].chars().next_back();
                at += len;
            }
            None => {
                before = Some(c);
                at += c.len_utf8();
            }
        }
    }
    out
}

/// Longest injection that is followed to its end, in bytes.
const LENGTH_MAX: usize = 1024;

fn one(rest: &str, c: char, word_start: bool, format: Format) -> Option<(InertKind, usize)> {
    let near = &rest[..rest.floor_char_boundary(LENGTH_MAX)];
    match (format, c) {
        (Format::Claude | Format::OpenCode, '!') => {
            let inner = near.strip_prefix("!`")?;
            let close = inner.find(['`', '\n']).filter(|&n| inner.as_bytes()[n] == b'`')?;
            Some((InertKind::Shell, close + 3))
        }
        // A fence marked `!` is run as a whole.
        (Format::Claude, '`') if near.starts_with("```!") => {
            let close = near[4..].find("\n```").map_or(near.len(), |n| 4 + n + 4);
            Some((InertKind::Shell, close))
        }
        (Format::Gemini, '!') => braces(near, "!{").map(|len| (InertKind::Shell, len)),
        (Format::Gemini, '@') => braces(near, "@{").map(|len| (InertKind::File, len)),
        (Format::Claude | Format::OpenCode, '@') if word_start => {
            let is_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~' | '$' | '*');
            let name = &near[1..];
            let name = &name[..name.find(|c| !is_path(c)).unwrap_or(name.len())];
            let name = name.trim_end_matches('.');
            let is_file = name.contains(['/', '.']) || name.starts_with('$');
            is_file.then_some((InertKind::File, name.len() + 1))
        }
        (Format::Copilot, '#') if word_start => {
            let (kind, mark) = [(InertKind::File, "#file:"), (InertKind::Tool, "#tool:")]
                .into_iter()
                .find(|(_, mark)| near.starts_with(mark))?;
            let len = near.find(char::is_whitespace).unwrap_or(near.len());
            (len > mark.len()).then_some((kind, len))
        }
        (Format::Copilot, '$') if near.starts_with("${") && !near.starts_with("${input:") => {
            let close = near.find(['}', '\n']).filter(|&n| near.as_bytes()[n] == b'}')?;
            Some((InertKind::Variable, close + 1))
        }
        _ => None,
    }
}

/// The length of `mark…}` with braces that pair.
fn braces(near: &str, mark: &str) -> Option<usize> {
    let inner = near.strip_prefix(mark)?;
    let mut depth = 1usize;
    for (n, b) in inner.bytes().enumerate() {
        match b {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(mark.len() + n + 1);
        }
    }
    None
}
