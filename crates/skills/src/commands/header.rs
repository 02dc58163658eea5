//! Headers of command files, line by line. Of the public command files with a header a tenth is not
//! YAML, most for an unquoted `[a] [b]` hint (spec/skills.md §1.9), and their tools read them all
//! the same; so this reads `key: value` lines and lists, and nothing else.

use super::KEYS_MAX;

/// A header's keys and values, in order; of equal keys the first counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    fields: Vec<(String, Value)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Value {
    text: String,
    items: Vec<String>,
}

impl Header {
    pub(super) fn parse(text: &str) -> Self {
        let mut header = Self::default();
        for line in text.lines() {
            let line = line.trim_end();
            let body = line.trim_start();
            if body.is_empty() || body.starts_with('#') {
                continue;
            }
            let inner = line.len() > body.len() || body.starts_with("- ");
            let key = body
                .split_once(':')
                .filter(|(key, rest)| !inner && is_key(key) && (rest.is_empty() || rest.starts_with([' ', '\t'])));
            match (key, header.fields.last_mut()) {
                (Some((key, rest)), _) => {
                    if header.fields.len() < KEYS_MAX {
                        let rest = rest.trim();
                        // A block's mark says only how its lines follow.
                        let text = if is_block(rest) { String::new() } else { rest.to_owned() };
                        header.fields.push((key.to_owned(), Value { text, items: Vec::new() }));
                    }
                }
                (None, Some((_, value))) => match body.strip_prefix("- ") {
                    Some(item) => value.items.push(unquote(item.trim()).to_owned()),
                    None => {
                        if !value.text.is_empty() {
                            value.text.push(' ');
                        }
                        value.text.push_str(body);
                    }
                },
                (None, None) => {}
            }
        }
        header
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// A value as one text.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let value = self.get(key)?;
        let text = if value.text.is_empty() { value.items.join(" ") } else { unquote(&value.text).to_owned() };
        Some(text).filter(|t| !t.trim().is_empty())
    }

    /// A value as a list: items, a flow list, or texts between commas or blanks.
    pub(super) fn list(&self, key: &str) -> Vec<String> {
        let Some(value) = self.get(key) else { return Vec::new() };
        if !value.items.is_empty() {
            return value.items.clone();
        }
        let text = unquote(&value.text);
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
        split_list(inner)
    }

    /// A value as yes or no.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.text(key).is_some_and(|t| matches!(t.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"))
    }

    /// Keys other than these.
    pub(super) fn others(&self, known: &[&str]) -> Vec<String> {
        self.fields.iter().map(|(k, _)| k).filter(|k| !known.contains(&k.as_str())).cloned().collect()
    }
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn is_block(text: &str) -> bool {
    text.starts_with(['|', '>']) && text[1..].bytes().all(|b| matches!(b, b'-' | b'+') || b.is_ascii_digit())
}

/// Without the quotation marks around the whole.
fn unquote(text: &str) -> &str {
    for mark in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(mark).and_then(|t| t.strip_suffix(mark))
            && !inner.contains(mark)
        {
            return inner;
        }
    }
    text
}

/// Texts between commas, or between blanks where there is no comma; brackets hold together, as in
/// `Bash(git add:*)`.
fn split_list(text: &str) -> Vec<String> {
    let comma = text.contains(',');
    let (mut out, mut current, mut depth) = (Vec::new(), String::new(), 0usize);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends = depth == 0 && if comma { c == ',' } else { c.is_whitespace() };
        if ends { out.push(std::mem::take(&mut current)) } else { current.push(c) }
    }
    out.push(current);
    out.iter().map(|t| unquote(t.trim()).to_owned()).filter(|t| !t.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whether_or_not_they_are_yaml() {
        let header = Header::parse(
            "# c\ndescription: Fix: an issue # 7\nargument-hint: [issue] [branch]\nallowed-tools: Bash(git add:*), Read\n\
             tools:\n  - a\n  - \"b c\"\nlong: >-\n  one\n  two\nquoted: 'x'\ndescription: second\nmodel: m\nurl:http\n",
        );
        assert_eq!(header.text("description").as_deref(), Some("Fix: an issue # 7"));
        assert_eq!(header.text("argument-hint").as_deref(), Some("[issue] [branch]"));
        assert_eq!(header.list("allowed-tools"), ["Bash(git add:*)", "Read"]);
        assert_eq!(header.list("tools"), ["a", "b c"]);
        assert_eq!(header.text("long").as_deref(), Some("one two"));
        assert_eq!(header.text("quoted").as_deref(), Some("x"));
        assert_eq!(
            header.others(&["description", "argument-hint", "allowed-tools", "tools"]),
            ["long", "quoted", "model"]
        );
        assert_eq!(header.text("model").as_deref(), Some("m url:http"), "a colon without a blank is no key");
        assert!(!header.flag("model") && Header::parse("on: yes").flag("on"));
    }
}
