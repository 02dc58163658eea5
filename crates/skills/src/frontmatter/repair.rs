//! What the lenient reader makes of frontmatter that is not YAML.
//!
//! First each top-level `key: value` is read alone; a value that is not YAML by itself is taken as
//! the text it looks like, put in double quotes on the same line, so that every position stays.
//! If that does not make YAML of the whole, only `name` and `description` are taken from their
//! lines. Either way the package is at most READABLE: a person sees what was understood.

use super::yaml::{self, Document, Key, Mark, Node, Style, Value};

/// How the text was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The tree.
    pub document: Document,
    /// Where values were taken as they stand, or lines left out.
    pub at: Vec<Mark>,
}

/// A key at column 0, its value's column, and the value as it stands.
fn field(line: &str) -> Option<(&str, usize, &str)> {
    let (key, rest) = line.split_once(':')?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    if key.is_empty() || !key.chars().all(plain) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let value = rest.trim_start_matches([' ', '\t']);
    Some((key, key.chars().count() + 1 + rest.chars().count() - value.chars().count(), value.trim_end()))
}

fn continues(line: &str) -> bool {
    line.starts_with([' ', '\t']) && !line.trim().is_empty()
}

/// `text` as a double-quoted scalar of one line.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Reads text that [`yaml::read`] refused. `None` when not even a description can be found.
#[must_use]
pub fn read(text: &str) -> Option<Repaired> {
    let lines = yaml::lines(text);
    let (mut out, mut at) = (Vec::with_capacity(lines.len()), vec![]);
    let mut i = 0;
    while i < lines.len() {
        let end = i + 1 + lines[i + 1..].iter().take_while(|l| continues(l) || l.starts_with("- ")).count();
        let alone = lines[i..end].join("\n") + "\n";
        match field(lines[i]) {
            Some((key, column, value)) if !value.is_empty() && yaml::read(&alone).is_err() => {
                let value = [&[value][..], &lines[i + 1..end]].concat();
                let value = value.iter().map(|l| l.trim()).collect::<Vec<_>>().join(" ");
                out.push(format!("{key}: {}", quoted(&value)));
                out.resize(out.len() + end - i - 1, String::new());
                at.push(Mark { line: i + 1, column });
            }
            _ => out.extend(lines[i..end].iter().map(|l| (*l).to_owned())),
        }
        i = end;
    }
    if !at.is_empty()
        && let Ok(document) = yaml::read(&out.join("\n"))
    {
        return Some(Repaired { document, at });
    }
    two_fields(&lines)
}

/// `name` and `description` from their own lines, continuation lines joined.
fn two_fields(lines: &[&str]) -> Option<Repaired> {
    let mut entries: Vec<(Key, Node)> = vec![];
    for (i, line) in lines.iter().enumerate() {
        let Some((key, column, value)) = field(line).filter(|f| matches!(f.0, "name" | "description")) else {
            continue;
        };
        if entries.iter().any(|(k, _)| k.text == key) {
            continue;
        }
        let marker = value.trim_start_matches(['|', '>']).trim_matches(['-', '+']).is_empty();
        let first = if marker { "" } else { value };
        let text = std::iter::once(first)
            .chain(lines[i + 1..].iter().take_while(|l| continues(l)).copied())
            .map(str::trim)
            .filter(|l| !l.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        let text = unquoted(&text).to_owned();
        let mark = |column| Mark { line: i + 1, column };
        let node = Node { at: mark(column), value: Value::Text(text, Style::Plain) };
        entries.push((Key { at: mark(0), text: key.to_owned() }, node));
    }
    let start = Mark { line: 1, column: 0 };
    let found = entries
        .iter()
        .any(|(k, n)| k.text == "description" && matches!(&n.value, Value::Text(t, _) if !t.trim().is_empty()));
    let root = Some(Node { at: start, value: Value::Map(entries) });
    found.then(|| Repaired { document: Document { root, issues: vec![], comments: vec![] }, at: vec![start] })
}

fn unquoted(text: &str) -> &str {
    ['"', '\''].iter().find_map(|q| text.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(String, String)> {
        let Some(Node { value: Value::Map(entries), .. }) = read(text).and_then(|r| r.document.root) else {
            return vec![];
        };
        entries
            .into_iter()
            .map(|(k, n)| match n.value {
                Value::Text(t, _) => (k.text, t),
                other => (k.text, format!("{other:?}")),
            })
            .collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn a_value_that_is_not_yaml_is_the_text_it_looks_like() {
        let text = "name: a\ndescription: Check invoices: find totals.\nargument-hint: [a] [b]\n";
        let want = [("name", "a"), ("description", "Check invoices: find totals."), ("argument-hint", "[a] [b]")];
        assert_eq!(texts(text), pairs(&want));
        let at: Vec<_> = read(text).expect("repaired").at.iter().map(|m| (m.line, m.column)).collect();
        assert_eq!(at, [(2, 13), (3, 15)]);
    }

    #[test]
    fn continuation_lines_join_and_the_lines_below_keep_their_place() {
        let text = "description: Use when: asked\n  about \"tides\".\nname: a\n";
        assert_eq!(texts(text), pairs(&[("description", "Use when: asked about \"tides\"."), ("name", "a")]));
        let Some(Value::Map(entries)) = read(text).and_then(|r| r.document.root).map(|n| n.value) else { panic!() };
        assert_eq!(entries[1].0.at, Mark { line: 3, column: 0 });
    }

    #[test]
    fn what_stays_no_yaml_gives_name_and_description_only() {
        let text = "name: a\n\tbroken\n}{\ndescription: >-\n  one\n  two\nother: x\n";
        assert_eq!(texts(text), pairs(&[("name", "a broken"), ("description", "one two")]));
        assert_eq!(read("}{\nname: a\n"), None);
        assert_eq!(read("}{\ndescription:  \n"), None);
    }

    #[test]
    fn quoting_is_read_back_as_it_was() {
        for text in ["plain", "a \"b\" \\ c", "tab\there\nline", "é: # x", "\u{1}"] {
            let doc = yaml::read(&format!("k: {}\n", quoted(text))).expect("yaml");
            let Some(Value::Map(entries)) = doc.root.map(|n| n.value) else { panic!() };
            assert_eq!(entries[0].1.value, Value::Text(text.to_owned(), Style::Double));
        }
    }
}
