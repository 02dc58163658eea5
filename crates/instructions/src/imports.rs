//! References that other products would follow. Nothing is followed here (I-106); a person sees
//! what the text points at and does not contain.

use crate::bounds::{IMPORTS_MAX, SHOWN_BYTES};

/// `@path` references outside code, each once, in their order. Only what looks like a path counts:
/// it has a `/`, or a dot before its last letters; an address or a person's name is none.
#[must_use]
pub fn unresolved(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(mark) = trimmed.chars().next().filter(|c| matches!(c, '`' | '~')) {
            let n = trimmed.chars().take_while(|c| *c == mark).count();
            match fence {
                Some((open, least)) if open == mark && n >= least => {
                    fence = None;
                    continue;
                }
                None if n >= 3 => {
                    fence = Some((mark, n));
                    continue;
                }
                _ => {}
            }
        }
        if fence.is_some() {
            continue;
        }
        for path in references(line) {
            if found.len() == IMPORTS_MAX {
                return found;
            }
            if !found.iter().any(|f| f == path) {
                found.push(path.to_owned());
            }
        }
    }
    found
}

fn references(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut rest, mut before) = (line, ' ');
    while let Some(c) = rest.chars().next() {
        if c == '`' {
            // A code span ends at a run of as many backticks; one that never ends is just text.
            let n = rest.len() - rest.trim_start_matches('`').len();
            let inside = &rest[n..];
            rest = span_end(inside, n).map_or(inside, |end| &inside[end..]);
            before = '`';
            continue;
        }
        if c == '@' && (before.is_whitespace() || matches!(before, '(' | '[' | '"' | '\'')) {
            let word = &rest[1..];
            let end = word.find(|c: char| c.is_whitespace() || matches!(c, '`' | ')' | ']' | '"' | '\'' | '<' | '>'));
            let word = word[..end.unwrap_or(word.len())].trim_end_matches(['.', ',', ';', ':', '!', '?']);
            if is_path(word) {
                out.push(word);
            }
            rest = &rest[1 + word.len()..];
            before = '@';
            continue;
        }
        before = c;
        rest = &rest[c.len_utf8()..];
    }
    out
}

fn span_end(inside: &str, n: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = inside[at..].find('`') {
        let run = &inside[at + start..];
        let len = run.len() - run.trim_start_matches('`').len();
        at += start + len;
        if len == n {
            return Some(at);
        }
    }
    None
}

fn is_path(word: &str) -> bool {
    if word.is_empty() || word.len() > SHOWN_BYTES || word.contains("://") || word.contains('@') {
        return false;
    }
    let extension = word.rsplit_once('.').is_some_and(|(stem, ext)| {
        !stem.is_empty() && !ext.is_empty() && ext.len() <= 8 && ext.chars().all(|c| c.is_ascii_alphanumeric())
    });
    word.contains('/') || extension
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn i106_imports_are_named_and_code_is_passed_over() {
        let text = "See @docs/style.md, and (@~/.claude/me.md).\n@package.json\n`@a/b.md` ``x ` @c/d.md`` @e/f.md\n\
            ```\n@g/h.md\n```\n~~~~\n@i/j.md\n```\n~~~~\n@docs/style.md again; me@example.org @team @param x @https://x.y/z\n` @k.md";
        assert_eq!(unresolved(text), ["docs/style.md", "~/.claude/me.md", "package.json", "e/f.md", "k.md"]);
        let many: String = (0..100).map(|i| format!("@f{i}.md\n")).collect();
        assert_eq!(unresolved(&many).len(), IMPORTS_MAX);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(\\PC|[`@~./\\n ]){0,80}") {
            let _ = unresolved(&text);
        }
    }
}
