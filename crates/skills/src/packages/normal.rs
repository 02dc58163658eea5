//! A portable copy of a package that is only READABLE, for a person to read as a diff and to
//! accept (decision 16).
//!
//! The body stays as it is; the frontmatter is written anew from what the lenient reader
//! understood. Whatever is cut, moved or left out is listed. A copy that would not be PORTABLE
//! itself is not offered: then the file wants a person's words.

use super::bounds::{
    COMPATIBILITY_MAX, DESCRIPTION_MAX, LICENSE_MAX, METADATA_KEY_MAX, METADATA_KEYS_MAX, METADATA_VALUE_MAX,
    TOOL_HINT_MAX, TOOL_HINTS_MAX,
};
use super::discover::{FILE, Found};
use super::inspect::{Verdict, inspect};
use super::manifest::{Manifest, name_fault, tokens};
use super::resolve::Packages;
use crate::diagnostic::Diagnostic;
use crate::frontmatter::repair::quoted;
use crate::frontmatter::yaml::{self, Style, Value};
use crate::hidden::{self, names};
use kernel::mount::{Expect, MountPath, Need};
use kernel::{Digest, Refusal};
use unicode_normalization::UnicodeNormalization;

/// A portable copy, ready for the file review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalCopy {
    /// The skill's name in the copy.
    pub name: String,
    /// Where it goes.
    pub path: MountPath,
    /// What must be there now: the file itself, or nothing.
    pub expect: Expect,
    /// The file as it is.
    pub before: Vec<u8>,
    /// The file as it would be.
    pub after: Vec<u8>,
    /// What was changed, moved or left out, one line each.
    pub changes: Vec<String>,
}

impl NormalCopy {
    /// The write, for a review to perform once a person accepted it.
    #[must_use]
    pub fn write(&self) -> Need {
        Need::Write { path: self.path.clone(), bytes: self.after.clone(), expect: self.expect }
    }
}

/// Why no copy can be offered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NormalRefusal {
    /// It needs none.
    #[error("the package is portable already")]
    Portable,
    /// Nothing can be understood of it.
    #[error("the file cannot be read, not even leniently")]
    Unreadable,
    /// No name can be made of the folder's or the file's.
    #[error("no name of a-z, 0-9 and - can be made of “{0}”")]
    NoName(String),
    /// The name is taken in the same root.
    #[error("there is a folder “{0}” already")]
    NameTaken(String),
    /// What is still wrong is for a person to say better.
    #[error("the copy would still not be portable: {0}")]
    StillNot(String),
}

impl From<NormalRefusal> for Refusal {
    fn from(e: NormalRefusal) -> Self {
        let code = match e {
            NormalRefusal::Portable => "CopyNotNeeded",
            NormalRefusal::Unreadable => "CopyUnreadable",
            NormalRefusal::NoName(_) => "CopyNoName",
            NormalRefusal::NameTaken(_) => "CopyNameTaken",
            NormalRefusal::StillNot(_) => "CopyStillNotPortable",
        };
        Self::new(code, "The normalised copy", "a readable package whose name is free", &e.to_string())
    }
}

/// A portable text made of a readable one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortableText {
    /// The skill's name in it.
    pub name: String,
    /// The whole file.
    pub text: String,
    /// What was changed, moved or left out, one line each.
    pub changes: Vec<String>,
}

/// Makes a portable text of a file in a folder of this name.
///
/// # Errors
/// [`NormalRefusal`], but for a name that is taken.
pub fn portable_text(folder: &str, bytes: &[u8]) -> Result<PortableText, NormalRefusal> {
    let seen = inspect(folder, bytes, bytes.len() as u64);
    let Some(m) = &seen.manifest else { return Err(NormalRefusal::Unreadable) };
    if seen.verdict == Verdict::Portable {
        return Err(NormalRefusal::Portable);
    }
    let mut changes = vec![];
    let name = target(folder, m)?;
    if m.name != name {
        changes.push(format!("name: {} becomes {name}", kernel::clip::clip(&hidden::reveal(&m.name), 80)));
    }
    if name != folder {
        changes.push(format!("folder: the copy goes to {name}; other files stay where they are"));
    }
    let mut text = frontmatter(&name, m, &mut changes);
    text.push_str(&body(bytes, &seen.body, &mut changes));
    let check = inspect(&name, text.as_bytes(), text.len() as u64);
    if check.verdict != Verdict::Portable {
        let worst: Option<&Diagnostic> = check.diagnostics.iter().max_by_key(|d| d.severity);
        return Err(NormalRefusal::StillNot(worst.map_or_else(String::new, |d| d.cause.clone())));
    }
    Ok(PortableText { name, text, changes })
}

/// Makes the copy of `found`, whose bytes were read again just now.
///
/// # Errors
/// [`NormalRefusal`].
pub fn normal_copy(packages: &Packages, found: &Found, bytes: &[u8]) -> Result<NormalCopy, NormalRefusal> {
    let Some(path) = &found.path else { return Err(NormalRefusal::Unreadable) };
    let PortableText { name, text, changes } = portable_text(&found.folder, bytes)?;
    let (path, expect) = if name == found.folder {
        (path.clone(), Expect::Digest(Digest::of(bytes)))
    } else {
        if packages.found().iter().any(|f| f.root == found.root && names::folded(&f.folder) == name) {
            return Err(NormalRefusal::NameTaken(name));
        }
        let to = path.parent().parent().join(&name).and_then(|f| f.join(FILE));
        (to.map_err(|e| NormalRefusal::StillNot(e.to_string()))?, Expect::Absent)
    };
    Ok(NormalCopy { name, path, expect, before: bytes.to_vec(), after: text.into_bytes(), changes })
}

/// The folder's name where it is portable, else one made of the file's or the folder's.
fn target(folder: &str, m: &Manifest) -> Result<String, NormalRefusal> {
    if name_fault(folder).is_none() {
        return Ok(folder.to_owned());
    }
    let made = [m.name.as_str(), folder].into_iter().map(names::slug).find(|n| !n.is_empty());
    made.ok_or_else(|| NormalRefusal::NoName(hidden::reveal(&m.name).into_owned()))
}

/// Composed, without characters that the format has not, and at most `max` code points.
fn tidy(field: &str, text: &str, max: usize, changes: &mut Vec<String>) -> String {
    let composed: String = text.nfc().collect();
    let kept: String = composed.chars().filter(|c| hidden::forbidden(c.encode_utf8(&mut [0; 4])).is_none()).collect();
    if kept != text {
        changes.push(format!("{field}: control characters are left out and letters composed"));
    }
    let n = kept.chars().count();
    if n <= max {
        return kept;
    }
    changes.push(format!("{field}: cut from {n} to at most {max} characters"));
    let at = kept.char_indices().nth(max).map_or(kept.len(), |(i, _)| i);
    kept[..kernel::clip::boundary(&kept, at)].trim_end().to_owned()
}

fn frontmatter(name: &str, m: &Manifest, changes: &mut Vec<String>) -> String {
    let mut out = format!("---\nname: {}\n", scalar(name));
    let mut line = |key: &str, value: &str| out.push_str(&format!("{key}: {}\n", scalar(value)));
    line("description", &tidy("description", m.description.trim(), DESCRIPTION_MAX, changes));
    if let Some(license) = &m.license {
        line("license", &tidy("license", license, LICENSE_MAX, changes));
    }
    match m.compatibility.as_deref().map(str::trim) {
        Some("") => changes.push("compatibility: left out, for it is blank".into()),
        Some(text) => line("compatibility", &tidy("compatibility", text, COMPATIBILITY_MAX, changes)),
        None => {}
    }
    let mut metadata: Vec<(String, String)> = vec![];
    for (key, value) in m.metadata.iter().chain(&m.extra) {
        let moved = m.extra.iter().any(|(k, _)| k == key);
        let short = tidy("metadata", key, METADATA_KEY_MAX, changes);
        if short.is_empty() || metadata.iter().any(|(k, _)| *k == short) || metadata.len() == METADATA_KEYS_MAX {
            changes.push(format!("{}: left out", kernel::clip::clip(key, 80)));
            continue;
        }
        if moved {
            changes.push(format!("{short}: moved below metadata"));
        }
        let value = tidy(&format!("metadata.{short}"), value, METADATA_VALUE_MAX, changes);
        metadata.push((short, value));
    }
    if !metadata.is_empty() {
        out.push_str("metadata:\n");
        for (key, value) in &metadata {
            out.push_str(&format!("  {}: {}\n", scalar(key), scalar(value)));
        }
    }
    let mut hints: Vec<String> =
        m.tool_hints.iter().map(|t| tidy("allowed-tools", t, TOOL_HINT_MAX, changes)).collect();
    hints.retain(|t| !t.is_empty());
    if hints.len() > TOOL_HINTS_MAX {
        changes.push(format!("allowed-tools: cut from {} to {TOOL_HINTS_MAX} entries", hints.len()));
        hints.truncate(TOOL_HINTS_MAX);
    }
    let joined = hints.join(" ");
    if tokens(&joined).into_iter().eq(hints.iter()) {
        if !hints.is_empty() {
            out.push_str(&format!("allowed-tools: {}\n", scalar(&joined)));
        }
    } else {
        out.push_str("allowed-tools:\n");
        hints.iter().for_each(|h| out.push_str(&format!("  - {}\n", scalar(h))));
    }
    out.push_str("---\n");
    out
}

fn body(bytes: &[u8], range: &std::ops::Range<usize>, changes: &mut Vec<String>) -> String {
    // The range is one of the inspection, so it is inside and on characters.
    let text = std::str::from_utf8(&bytes[range.clone()]).unwrap_or_default();
    let mut out = text.to_owned();
    if out.contains('\0') {
        changes.push("body: NUL characters are left out".into());
        out.retain(|c| c != '\0');
    }
    let lone = out.contains('\r') && !out.contains('\n');
    if lone {
        changes.push("body: line ends become LF".into());
        out = out.replace('\r', "\n");
    }
    out
}

/// A text as YAML that every reader takes as this text: plain where that is plainly safe.
fn scalar(text: &str) -> String {
    const TYPED: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let tame = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | ',' | '/' | '(' | ')' | ':' | '\'');
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(tame)
        && !TYPED.contains(&text.to_ascii_lowercase().as_str())
        && matches!(yaml::read(&format!("k: {text}\n")), Ok(doc) if doc.issues.is_empty() && reads_as(&doc, text));
    if plain { text.to_owned() } else { quoted(text) }
}

fn reads_as(doc: &yaml::Document, text: &str) -> bool {
    let Some(Value::Map(entries)) = doc.root.as_ref().map(|n| &n.value) else { return false };
    matches!(&entries[..], [(_, node)] if node.value == Value::Text(text.to_owned(), Style::Plain))
}
