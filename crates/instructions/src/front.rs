//! The frontmatter of rules, read line by line.
//!
//! It looks like YAML and mostly is not: seven of ten public `.mdc` files say `globs: *.ts`,
//! which YAML takes for an alias (spec/skills.md §1.8). So one line reader serves every family:
//! `key: value` with bare, quoted, `[…]` and block-list values. Whatever it cannot read is said,
//! never guessed, so that a scope that is not understood can be told from one that is not there.

use crate::bounds::FRONTMATTER_BYTES;

/// Why a frontmatter has no end that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceError {
    /// More than [`FRONTMATTER_BYTES`] between the fences.
    TooLarge,
    /// No second fence.
    Unclosed,
}

/// A value as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing, `null`, `~`, `""` or `[]`.
    Empty,
    /// One text; `quoted` when it stood in quotes as a whole.
    Text {
        /// Without its quotes.
        text: String,
        /// Stood in quotes: `"true"` is not `true`.
        quoted: bool,
    },
    /// Items of a `[…]` or block list, or of a comma list with quotes in it.
    List(Vec<String>),
    /// Not understood, and why.
    Unreadable(&'static str),
}

/// One key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Key, without quotes.
    pub key: String,
    /// Value.
    pub value: Value,
}

/// What a frontmatter says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Front {
    /// Keys in their order.
    pub fields: Vec<Field>,
    /// Lines that are neither a key nor part of a value.
    pub strays: usize,
}

/// Splits a text into the lines between its fences and the body below; `None` when it has no
/// frontmatter. A fence is a line of its own; blank lines before the first one are passed over,
/// because a scope that starts one line late is still a scope.
///
/// # Errors
/// [`FenceError`].
pub fn split(text: &str) -> Result<(Option<&str>, &str), FenceError> {
    // A second byte order mark would hide the fence behind it.
    let text = text.trim_start_matches('\u{feff}');
    let mut at = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_end() == "---";
        match start {
            None if is_fence => start = Some(at + line.len()),
            None if line.trim().is_empty() => {}
            None => return Ok((None, text)),
            Some(start) if is_fence => {
                if at - start > FRONTMATTER_BYTES {
                    return Err(FenceError::TooLarge);
                }
                return Ok((Some(&text[start..at]), &text[at + line.len()..]));
            }
            Some(_) => {}
        }
        at += line.len();
    }
    match start {
        None => Ok((None, text)),
        Some(start) if at - start > FRONTMATTER_BYTES => Err(FenceError::TooLarge),
        Some(_) => Err(FenceError::Unclosed),
    }
}

/// Reads the lines between the fences.
#[must_use]
pub fn read(header: &str) -> Front {
    let mut front = Front::default();
    // Value lines that belong to the last key: its own, then those that follow it.
    let mut pending: Option<(String, Vec<&str>)> = None;
    let mut base = None;
    for line in header.lines() {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let base = *base.get_or_insert(indent);
        let is_item = text == "-" || text.starts_with("- ");
        let open_list = pending.as_ref().is_some_and(|(_, lines)| is_open(lines));
        if open_list || indent > base || (is_item && indent == base && pending.is_some()) {
            match &mut pending {
                Some((_, lines)) => lines.push(text),
                None => front.strays += 1,
            }
            continue;
        }
        if let Some((key, lines)) = pending.take() {
            front.fields.push(Field { key, value: value(&lines) });
        }
        match key_of(text).filter(|_| indent == base) {
            Some((key, rest)) => pending = Some((key.to_owned(), vec![rest])),
            None => front.strays += 1,
        }
    }
    if let Some((key, lines)) = pending {
        front.fields.push(Field { key, value: value(&lines) });
    }
    front
}

/// `key: rest`; a key has no blank and no quote inside.
fn key_of(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.split_once(':')?;
    let key = key.trim_end();
    let bare = ['"', '\''].iter().find_map(|q| key.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(key);
    let fits = !bare.is_empty() && bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    fits.then_some((bare, rest.trim()))
}

/// True while a `[` of the first value line has not found its partner.
fn is_open(lines: &[&str]) -> bool {
    lines.first().is_some_and(|first| first.starts_with('[')) && flow(&lines.join("\n")).is_none()
}

fn value(lines: &[&str]) -> Value {
    let (first, more) = lines.split_first().map_or(("", &[][..]), |(first, more)| (*first, more));
    let first = if first.starts_with('#') { "" } else { first };
    if first.is_empty() {
        if more.is_empty() {
            return Value::Empty;
        }
        let mut items = Vec::new();
        for line in more {
            match line.strip_prefix('-').map(str::trim).map(scalar) {
                Some(Some((text, _))) if !text.is_empty() => items.push(text),
                Some(Some(_)) => {}
                _ => return Value::Unreadable("neither a text nor a list of texts"),
            }
        }
        return if items.is_empty() { Value::Empty } else { Value::List(items) };
    }
    if first.starts_with('[') {
        return match flow(&lines.join("\n")) {
            Some(Some(items)) if items.is_empty() => Value::Empty,
            Some(Some(items)) => Value::List(items),
            _ => Value::Unreadable("a list that does not end as one"),
        };
    }
    if first.starts_with(['|', '>']) {
        return Value::Unreadable("a block of text");
    }
    let joined = lines.join(" ");
    match scalar(&joined) {
        Some((text, false)) if text.is_empty() || text == "~" || text == "null" => Value::Empty,
        Some((text, true)) if text.is_empty() => Value::Empty,
        Some((text, quoted)) => Value::Text { text, quoted },
        // Quotes in it: a comma list of quoted texts, as `.mdc` files have.
        None => match items(&joined) {
            Some(list) if !list.is_empty() => Value::List(list),
            _ => Value::Unreadable("quotes that do not close"),
        },
    }
}

/// A bare or wholly quoted text, and whether it was quoted; `None` for anything else.
fn scalar(text: &str) -> Option<(String, bool)> {
    match text.chars().next() {
        Some(q @ ('"' | '\'')) => {
            let (inside, rest) = quoted(text, q)?;
            let rest = rest.trim();
            (rest.is_empty() || rest.starts_with('#')).then_some((inside, true))
        }
        _ => Some((uncommented(text).to_owned(), false)),
    }
}

/// The text inside the quotes it starts with, and what stands behind them.
fn quoted(text: &str, q: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((i, c)) = chars.next() {
        if c == q {
            if q == '\'' && chars.peek().is_some_and(|(_, next)| *next == q) {
                chars.next();
                out.push(q);
                continue;
            }
            return Some((out, &text[i + q.len_utf8()..]));
        }
        if c == '\\' && q == '"' {
            match chars.next() {
                Some((_, c @ ('"' | '\\' | '/'))) => out.push(c),
                _ => return None,
            }
            continue;
        }
        out.push(c);
    }
    None
}

/// Without a comment: a `#` behind a blank.
fn uncommented(text: &str) -> &str {
    let end = text.char_indices().find(|(i, c)| *c == '#' && text[..*i].ends_with([' ', '\t']));
    end.map_or(text, |(i, _)| &text[..i]).trim()
}

/// Items of a `[…]`: `None` while it is open, `Some(None)` when it is not a list of texts.
fn flow(text: &str) -> Option<Option<Vec<String>>> {
    let inside = text.strip_prefix('[')?;
    let mut quote = None;
    let mut escaped = false;
    for (i, c) in inside.char_indices() {
        match (quote, c) {
            (Some('"'), '\\') if !escaped => escaped = true,
            (Some(q), c) => {
                if c == q && !escaped {
                    quote = None;
                }
                escaped = false;
            }
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => return Some(None),
            (None, ']') => {
                let rest = inside[i + 1..].trim();
                let ends = rest.is_empty() || rest.starts_with('#');
                return Some(if ends { items(&inside[..i]) } else { None });
            }
            (None, _) => {}
        }
    }
    None
}

/// Items between commas, where neither a quote nor a brace keeps a comma.
fn items(text: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (item, after) = match rest.chars().next() {
            Some(q @ ('"' | '\'')) => {
                let (inside, after) = quoted(rest, q)?;
                let after = after.trim_start();
                if !after.is_empty() && !after.starts_with([',', '#']) {
                    return None;
                }
                (inside, after)
            }
            _ => {
                let mut depth = 0_usize;
                let end = rest.char_indices().find(|(_, c)| match c {
                    '{' => {
                        depth += 1;
                        false
                    }
                    '}' => {
                        depth = depth.saturating_sub(1);
                        false
                    }
                    ',' => depth == 0,
                    _ => false,
                });
                let end = end.map_or(rest.len(), |(i, _)| i);
                (rest[..end].trim().to_owned(), &rest[end..])
            }
        };
        if item.contains('"') && item.starts_with(['"', '\'']) {
            return None;
        }
        if !item.is_empty() {
            out.push(item);
        }
        rest = match after.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if after.starts_with('#') || after.is_empty() => "",
            None => return None,
        };
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(header: &str) -> Value {
        let front = read(header);
        assert_eq!(front.fields.len(), 1, "{header:?} {front:?}");
        front.fields[0].value.clone()
    }

    fn bare(text: &str) -> Value {
        Value::Text { text: text.to_owned(), quoted: false }
    }

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|i| (*i).to_owned()).collect())
    }

    #[test]
    fn every_shape_that_public_rules_have_is_read() {
        for (header, want) in [
            ("globs: *.ts", bare("*.ts")),
            ("globs: **/*.{ts,tsx}, src/**", bare("**/*.{ts,tsx}, src/**")),
            ("globs:**/*.ts", bare("**/*.ts")),
            ("  globs: a", bare("a")),
            ("\"globs\" : a", bare("a")),
            ("globs: a # why", bare("a")),
            ("globs: a#b", bare("a#b")),
            ("globs: a,\n  b", bare("a, b")),
            ("globs: {a,b}/**", bare("{a,b}/**")),
            ("applyTo: \"**/*.rs, **/*.toml\" # both", Value::Text { text: "**/*.rs, **/*.toml".into(), quoted: true }),
            ("applyTo: 'it''s'", Value::Text { text: "it's".into(), quoted: true }),
            ("paths: [\"a/**\", 'b', c.{x,y}]", list(&["a/**", "b", "c.{x,y}"])),
            ("paths: [\n  \"a\",\n  \"b\",\n]", list(&["a", "b"])),
            ("paths: [\"a]\", b] # end", list(&["a]", "b"])),
            ("paths:\n  - a\n  - \"b\" # x\n# no\n  - 'c'", list(&["a", "b", "c"])),
            ("paths:\n- a\n- b", list(&["a", "b"])),
            ("globs: \"a\", \"b\"", list(&["a", "b"])),
            ("globs:", Value::Empty),
            ("globs: # none", Value::Empty),
            ("globs: \"\"", Value::Empty),
            ("globs: []", Value::Empty),
            ("globs: ~", Value::Empty),
            ("globs: null", Value::Empty),
            ("paths:\n  -", Value::Empty),
        ] {
            assert_eq!(one(header), want, "{header:?}");
        }
        let front = read("description: Use: when\nglobs: *.ts\nalwaysApply: \"true\"");
        let keys: Vec<&str> = front.fields.iter().map(|f| f.key.as_str()).collect();
        assert_eq!(keys, ["description", "globs", "alwaysApply"]);
        assert_eq!(front.fields[2].value, Value::Text { text: "true".into(), quoted: true });
        assert_eq!(front.strays, 0);
    }

    #[test]
    fn what_is_not_understood_is_unreadable_and_not_empty() {
        for header in [
            "paths: |\n  a",
            "paths: >-\n  a",
            "paths: [a, b",
            "paths: [a] b",
            "paths: [[a]]",
            "paths: \"a",
            "paths: \"a\\x41\"",
            "paths: \"a\" b",
            "paths:\n  a: b",
            "paths:\n  - a\n  b",
        ] {
            assert!(matches!(one(header), Value::Unreadable(_)), "{header:?} {:?}", one(header));
        }
        assert_eq!(read("what is this\npaths: a\n- x\nand this").strays, 2);
        assert_eq!(read("- x\n- y").strays, 2);
    }

    #[test]
    fn fences_are_whole_lines() {
        assert_eq!(split("a\n---\nb"), Ok((None, "a\n---\nb")));
        assert_eq!(split("---\nx: ---y\n--- \nb\n---\n"), Ok((Some("x: ---y\n"), "b\n---\n")));
        assert_eq!(split("\n \n---\nx: y\n---"), Ok((Some("x: y\n"), "")));
        assert_eq!(split("---\n---\nb"), Ok((Some(""), "b")));
        assert_eq!(split("\u{feff}\u{feff}---\nx: y\n---\nb"), Ok((Some("x: y\n"), "b")));
        assert_eq!(split("----\nb"), Ok((None, "----\nb")));
        assert_eq!(split("---\nx: y\n"), Err(FenceError::Unclosed));
        assert_eq!(split("---"), Err(FenceError::Unclosed));
        assert_eq!(split(""), Ok((None, "")));
    }

    #[test]
    fn t135_frontmatter_ends_at_its_bound() {
        let at = |n: usize| format!("---\n{}\n---\nb", "x".repeat(n - 1));
        assert!(split(&at(FRONTMATTER_BYTES - 1)).is_ok());
        assert!(split(&at(FRONTMATTER_BYTES)).is_ok());
        assert_eq!(split(&at(FRONTMATTER_BYTES + 1)), Err(FenceError::TooLarge));
        assert_eq!(split(&format!("---\n{}", "x".repeat(FRONTMATTER_BYTES + 1))), Err(FenceError::TooLarge));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(\\PC|[\\n\\[\\]\"',:#{} -]){0,80}") {
            let _ = split(&text);
            let _ = read(&text);
        }

        #[test]
        fn quoted_items_come_back(items in proptest::collection::vec("[a-z*/{},.# ]{1,8}", 1..6)) {
            let want: Vec<String> = items.clone();
            let flow = format!("paths: [{}]", items.iter().map(|i| format!("\"{i}\"")).collect::<Vec<_>>().join(", "));
            prop_assert_eq!(one(&flow), Value::List(want.clone()));
            let block = format!("paths:\n{}", items.iter().map(|i| format!("  - '{i}'\n")).collect::<String>());
            prop_assert_eq!(one(&block), Value::List(want));
        }
    }
}
