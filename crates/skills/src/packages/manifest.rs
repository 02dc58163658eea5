//! From a tree to the six fields of the format, each measured in code points, and what is kept of
//! the rest for a normalised copy.

use super::bounds::{
    COMPATIBILITY_MAX, DEPENDS_MAX, DESCRIPTION_MAX, DESCRIPTION_SHORT, LICENSE_MAX, METADATA_KEY_MAX,
    METADATA_KEYS_MAX, METADATA_VALUE_MAX, NAME_MAX, TOOL_HINT_MAX, TOOL_HINTS_MAX,
};
use super::inspect::Report;
use crate::diagnostic::{Code, Feature, Severity};
use crate::frontmatter::yaml::{Key, Mark, Node, Style, Value};
use crate::hidden::{self, names};
use serde::Serialize;
use unicode_normalization::is_nfc;

/// The keys of the format.
pub const FIELDS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// What a package says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Manifest {
    /// As written; the folder's where there is none.
    pub name: String,
    /// As written, blanks at the ends dropped.
    pub description: String,
    /// License, if given.
    pub license: Option<String>,
    /// Where it works, if given.
    pub compatibility: Option<String>,
    /// Texts by key, in the order of the file.
    pub metadata: Vec<(String, String)>,
    /// `allowed-tools`: what the author would like. Hints, never authority (I-132).
    pub tool_hints: Vec<String>,
    /// Keys outside the format, flattened to texts, for a normalised copy.
    pub extra: Vec<(String, String)>,
}

impl Manifest {
    /// `metadata.<key>`.
    #[must_use]
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// `metadata.depends-on`, a list of names between blanks (decision 27).
    #[must_use]
    pub fn depends_on(&self) -> Vec<&str> {
        self.meta("depends-on").map(|t| t.split_whitespace().take(DEPENDS_MAX + 1).collect()).unwrap_or_default()
    }

    /// `metadata.version`.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.meta("version").map(str::trim).filter(|v| !v.is_empty())
    }
}

/// Why a text is not a portable name (decision 11), in one sentence.
#[must_use]
pub fn name_fault(name: &str) -> Option<String> {
    let n = name.chars().count();
    let odd = name.chars().position(|c| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
    if name.is_empty() {
        Some("name is empty".into())
    } else if n > NAME_MAX {
        Some(format!("name has {n} characters, at most {NAME_MAX} are allowed"))
    } else if let Some(i) = odd {
        let c = name.chars().nth(i).unwrap_or_default();
        Some(format!(
            "name has “{c}” (U+{:04X}) as its character {}; only a-z, 0-9 and - may stand there",
            u32::from(c),
            i + 1
        ))
    } else if name.starts_with('-') || name.ends_with('-') {
        Some("name begins or ends with a hyphen".into())
    } else if name.contains("--") {
        Some("name has two hyphens in a row".into())
    } else {
        None
    }
}

/// The tokens of `allowed-tools`: between blanks or commas, parentheses kept together.
#[must_use]
pub fn tokens(text: &str) -> Vec<&str> {
    let (mut out, mut depth, mut from) = (vec![], 0usize, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 && (c.is_whitespace() || c == ',') => {
                out.push(&text[from..i]);
                from = i + c.len_utf8();
            }
            _ => {}
        }
    }
    out.push(&text[from..]);
    out.retain(|t| !t.is_empty());
    out
}

/// Reads a manifest off the top-level keys. What is wrong goes to the report.
pub(super) fn read(folder: &str, root: Option<&Node>, report: &mut Report<'_>) -> Manifest {
    use Severity::{NotPortable, Unreadable};
    let mut m = Manifest { name: folder.to_owned(), ..Manifest::default() };
    let top = Mark { line: 1, column: 0 };
    let entries: &[(Key, Node)] = match root.map(|n| &n.value) {
        Some(Value::Map(entries)) => entries,
        None => &[],
        Some(_) => {
            report.feature(Feature::NotAMap, top, Unreadable, "");
            return m;
        }
    };
    let (mut named, mut described) = (None, None);
    for (i, (key, node)) in entries.iter().enumerate() {
        if entries[..i].iter().any(|(k, _)| k.text == key.text) {
            report.push(
                Code::DuplicateKey,
                NotPortable,
                key.at,
                &format!("the key “{}” stands twice; the first is read", key.text),
                "keep one of them",
            );
            continue;
        }
        match key.text.as_str() {
            "name" => {
                if let Some(text) = text(key, node, report) {
                    (m.name, named) = (text.to_owned(), Some(node.at));
                }
            }
            "description" => {
                if let Some(text) = text(key, node, report) {
                    (m.description, described) = (text.to_owned(), Some(node.at));
                }
            }
            "license" => {
                m.license = text(key, node, report).map(str::to_owned);
                limit("license", m.license.as_deref(), 0, LICENSE_MAX, node.at, report);
            }
            "compatibility" => {
                m.compatibility = text(key, node, report).map(str::to_owned);
                limit("compatibility", m.compatibility.as_deref(), 1, COMPATIBILITY_MAX, node.at, report);
            }
            "metadata" => metadata(&mut m, key, node, report),
            "allowed-tools" => tool_hints(&mut m, key, node, report),
            other => {
                let seems = names::passes_for(other).filter(|s| FIELDS.contains(&s.as_str()));
                let cause = match &seems {
                    Some(s) => format!("the key “{other}” looks like “{s}” and is another word: {}", points(other)),
                    None => format!("the key “{other}” is not one of the format's six"),
                };
                report.push(
                    Code::FieldUnknown,
                    NotPortable,
                    key.at,
                    &cause,
                    "move it below metadata, as a text, or leave it out",
                );
                flatten(other, &node.value, &mut m.extra);
            }
        }
    }
    name(folder, &m.name, named, report);
    description(&m, described, report);
    m.description = m.description.trim().to_owned();
    let depends = m.depends_on();
    if depends.len() > DEPENDS_MAX || depends.iter().any(|d| name_fault(d).is_some()) {
        let cause = format!("metadata.depends-on is not a list of at most {DEPENDS_MAX} names between blanks");
        report.push(
            Code::FieldInvalid,
            Severity::Warning,
            top,
            &cause,
            "write the names of skills, like `first second`",
        );
    }
    m
}

fn points(text: &str) -> String {
    let list = names::foreign(text);
    list.iter().map(|(i, c)| format!("U+{:04X} at {}", u32::from(*c), i + 1)).collect::<Vec<_>>().join(", ")
}

/// A text, or a diagnostic and nothing.
fn text<'n>(key: &Key, node: &'n Node, report: &mut Report<'_>) -> Option<&'n str> {
    let feature = match &node.value {
        Value::Text(text, style) => {
            escaped(&key.text, text, *style, node.at, report);
            return Some(text);
        }
        Value::List(_) => Feature::List,
        Value::Map(_) => Feature::NestedMap,
        Value::Opaque => return None, // told as an alias, or as too deep
    };
    report.feature(feature, node.at, Severity::NotPortable, &format!(" in “{}”", key.text));
    None
}

/// Escapes can name characters that the file itself does not hold.
fn escaped(field: &str, text: &str, style: Style, at: Mark, report: &mut Report<'_>) {
    if style != Style::Double {
        return;
    }
    if let Some((_, c)) = hidden::forbidden(text) {
        let cause = format!("an escape in “{field}” names U+{:04X}, a control character", u32::from(c));
        report.push(Code::UnicodeMalformed, Severity::NotPortable, at, &cause, "leave the escape out");
    } else if !is_nfc(text) {
        let cause = format!("“{field}” is not in normal form C once its escapes are read");
        report.push(Code::UnicodeMalformed, Severity::NotPortable, at, &cause, "write composed characters");
    } else if let Some(run) = hidden::scan(text).runs.first() {
        let cause = format!("an escape in “{field}” names {}: {}", run.written(), run.kind.words());
        report.push(Code::HiddenCharacter, Severity::Warning, at, &cause, "leave the escape out");
    }
}

fn limit(field: &str, text: Option<&str>, min: usize, max: usize, at: Mark, report: &mut Report<'_>) {
    let n = text.map_or(min, |t| t.chars().count());
    if n < min || n > max {
        let range = if n < min { format!("{min} to {max} are allowed") } else { format!("at most {max} are allowed") };
        let cause = format!("{field} has {n} characters, {range}");
        report.push(Code::FieldInvalid, Severity::NotPortable, at, &cause, "shorten it, or leave the field out");
    }
}

fn name(folder: &str, name: &str, at: Option<Mark>, report: &mut Report<'_>) {
    use Severity::{NotPortable, Warning};
    let top = Mark { line: 1, column: 0 };
    let Some(at) = at else {
        report.push(
            Code::FieldMissing,
            NotPortable,
            top,
            "there is no name",
            &format!("add the line `name: {}`", names::slug(folder)),
        );
        return;
    };
    if let Some(cause) = name_fault(name) {
        let slug = names::slug(name);
        let fix = if slug.is_empty() { "use a-z, 0-9 and single hyphens".into() } else { format!("write `{slug}`") };
        report.push(Code::NameInvalid, NotPortable, at, &cause, &fix);
    }
    if let Some(seems) = names::passes_for(name) {
        let cause = format!("the name looks like “{seems}” and is another: {}", points(name));
        report.push(Code::ConfusableName, Warning, at, &cause, "do not trust the look; use a name of a-z, 0-9 and -");
    }
    if name != folder {
        let cause = format!("the name “{name}” is not the folder's, “{folder}”");
        report.push(Code::NameFolderMismatch, NotPortable, at, &cause, "give both the same name");
    }
}

fn description(m: &Manifest, at: Option<Mark>, report: &mut Report<'_>) {
    use Severity::{NotPortable, Unreadable, Warning};
    let top = Mark { line: 1, column: 0 };
    let fix = "say in one or two sentences what the skill does and when to use it";
    let Some(at) = at else {
        report.push(Code::FieldMissing, Unreadable, top, "there is no description", fix);
        return;
    };
    let n = m.description.chars().count();
    let bare = m.description.trim();
    if bare.is_empty() {
        report.push(Code::DescriptionNotUseful, Unreadable, at, "the description is blank", fix);
    } else if n > DESCRIPTION_MAX {
        let cause = format!("description has {n} characters, at most {DESCRIPTION_MAX} are allowed");
        report.push(Code::DescriptionNotUseful, NotPortable, at, &cause, "shorten it; details belong in the body");
    } else if bare.len() <= 4 * m.name.len() && names::folded(bare) == names::folded(&m.name) {
        report.push(Code::DescriptionNotUseful, NotPortable, at, "the description is only the name again", fix);
    } else if bare.chars().count() < DESCRIPTION_SHORT {
        let cause = format!("description has only {} characters", bare.chars().count());
        report.push(Code::DescriptionShort, Warning, at, &cause, fix);
    }
}

fn metadata(m: &mut Manifest, key: &Key, node: &Node, report: &mut Report<'_>) {
    use Severity::NotPortable;
    let entries = match &node.value {
        Value::Map(entries) => entries,
        Value::Text(text, _) if text.trim().is_empty() => return,
        Value::Opaque => return,
        _ => {
            report.feature(Feature::NotAMap, node.at, NotPortable, " in “metadata”");
            flatten(&key.text, &node.value, &mut m.extra);
            return;
        }
    };
    if entries.len() > METADATA_KEYS_MAX {
        let cause = format!("metadata has {} keys, at most {METADATA_KEYS_MAX} are allowed", entries.len());
        report.push(Code::FieldInvalid, NotPortable, node.at, &cause, "leave some out");
    }
    for (i, (k, node)) in entries.iter().enumerate() {
        if entries[..i].iter().any(|(seen, _)| seen.text == k.text) {
            let cause = format!("the key “metadata.{}” stands twice; the first is read", k.text);
            report.push(Code::DuplicateKey, NotPortable, k.at, &cause, "keep one of them");
            continue;
        }
        let n = k.text.chars().count();
        if n == 0 || n > METADATA_KEY_MAX {
            let cause = format!("a key of metadata has {n} characters, 1 to {METADATA_KEY_MAX} are allowed");
            report.push(Code::FieldInvalid, NotPortable, k.at, &cause, "use a short word");
        }
        if let Some(value) = text(k, node, report) {
            limit(&format!("metadata.{}", k.text), Some(value), 0, METADATA_VALUE_MAX, node.at, report);
            m.metadata.push((k.text.clone(), value.to_owned()));
        } else {
            flatten(&k.text, &node.value, &mut m.metadata);
        }
    }
}

fn tool_hints(m: &mut Manifest, key: &Key, node: &Node, report: &mut Report<'_>) {
    use Severity::NotPortable;
    m.tool_hints = match &node.value {
        Value::List(items) => items
            .iter()
            .filter_map(|i| text(key, i, report))
            .map(str::trim)
            .filter(|t| !t.is_empty())
            .map(str::to_owned)
            .collect(),
        _ => text(key, node, report).map(tokens).unwrap_or_default().into_iter().map(str::to_owned).collect(),
    };
    let n = m.tool_hints.len();
    if n > TOOL_HINTS_MAX {
        let cause = format!("allowed-tools has {n} entries, at most {TOOL_HINTS_MAX} are allowed");
        report.push(Code::FieldInvalid, NotPortable, node.at, &cause, "name fewer tools");
    }
    if let Some(long) = m.tool_hints.iter().map(|t| t.chars().count()).find(|n| *n > TOOL_HINT_MAX) {
        let cause = format!("an entry of allowed-tools has {long} characters, at most {TOOL_HINT_MAX} are allowed");
        report.push(Code::FieldInvalid, NotPortable, node.at, &cause, "name a tool, not its arguments");
    }
}

/// A value as texts: lists joined by commas, maps as `key.inner`.
fn flatten(key: &str, value: &Value, out: &mut Vec<(String, String)>) {
    match value {
        Value::Text(text, _) => out.push((key.to_owned(), text.clone())),
        Value::List(items) => {
            let plain: Vec<&str> = items
                .iter()
                .filter_map(|i| if let Value::Text(t, _) = &i.value { Some(t.as_str()) } else { None })
                .collect();
            if plain.len() == items.len() {
                out.push((key.to_owned(), plain.join(", ")));
            } else {
                for (i, item) in items.iter().enumerate() {
                    flatten(&format!("{key}.{}", i + 1), &item.value, out);
                }
            }
        }
        Value::Map(entries) => {
            for (k, node) in entries {
                flatten(&format!("{key}.{}", k.text), &node.value, out);
            }
        }
        Value::Opaque => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_keep_parentheses_together() {
        for (text, want) in [
            ("Bash(jq:*) Bash(git:*)", vec!["Bash(jq:*)", "Bash(git:*)"]),
            ("Read, Grep,Glob", vec!["Read", "Grep", "Glob"]),
            ("Bash(git log, x) Read", vec!["Bash(git log, x)", "Read"]),
            (" , ", vec![]),
            ("Bash(open", vec!["Bash(open"]),
            ("a) b", vec!["a)", "b"]),
        ] {
            assert_eq!(tokens(text), want, "{text}");
        }
    }
}
