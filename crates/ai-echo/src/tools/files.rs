//! `files.list` and `files.read`.

use kernel::mount::{EntryKind, MountPath, Need, Reply, Step};

use super::{MAX_RESULT, Outcome, as_text, size_words};

/// Entries listed of one folder (engine.md §2.12).
pub const MAX_ENTRIES: usize = 512;

/// One folder's entries.
#[derive(Clone, Debug)]
pub struct List {
    path: MountPath,
    asked: bool,
}

impl List {
    pub(super) fn new(path: MountPath) -> Self {
        Self { path, asked: false }
    }

    pub(super) fn step(&mut self, replies: Vec<Reply>) -> Step<Outcome> {
        if !std::mem::replace(&mut self.asked, true) {
            return Step::Need(vec![Need::List { path: self.path.clone(), max: MAX_ENTRIES }]);
        }
        Step::Done(match replies.into_iter().next() {
            Some(Reply::Listed { entries, truncated }) => {
                let lines: Vec<String> = entries
                    .iter()
                    .map(|entry| match (entry.kind, entry.size) {
                        (EntryKind::Folder, _) => format!("{}/", entry.name),
                        (EntryKind::File, Some(size)) => format!("{} ({})", entry.name, size_words(size)),
                        (EntryKind::File, None) => entry.name.clone(),
                        (EntryKind::Link, _) => format!("{} (a link, not followed)", entry.name),
                    })
                    .collect();
                let folder = if self.path.is_root() { "the mounted folder".to_owned() } else { self.path.to_string() };
                let more =
                    if truncated { format!(", more than {MAX_ENTRIES}: the rest is left out") } else { String::new() };
                let plural = if entries.len() == 1 { "entry" } else { "entries" };
                let text = if lines.is_empty() { "(empty)".to_owned() } else { lines.join("\n") };
                Outcome { truncated, ..Outcome::found(text, format!("{} {plural} in {folder}{more}", entries.len())) }
            }
            Some(Reply::Failed(error)) => Outcome::failed(&error.about(&self.path)),
            other => Outcome::failed(&odd_reply(&self.path, other.as_ref())),
        })
    }
}

/// A file's text, whole or some lines.
#[derive(Clone, Debug)]
pub struct Read {
    path: MountPath,
    first_line: Option<u64>,
    line_count: Option<u64>,
    asked: bool,
}

impl Read {
    pub(super) fn new(path: MountPath, first_line: Option<u64>, line_count: Option<u64>) -> Self {
        Self { path, first_line, line_count, asked: false }
    }

    pub(super) fn step(&mut self, replies: Vec<Reply>) -> Step<Outcome> {
        if !std::mem::replace(&mut self.asked, true) {
            return Step::Need(vec![Need::Read { path: self.path.clone(), max: MAX_RESULT }]);
        }
        Step::Done(match replies.into_iter().next() {
            Some(Reply::Bytes { bytes, total }) => self.show(&bytes, total),
            Some(Reply::Failed(error)) => Outcome::failed(&error.about(&self.path)),
            other => Outcome::failed(&odd_reply(&self.path, other.as_ref())),
        })
    }

    fn show(&self, bytes: &[u8], total: u64) -> Outcome {
        let cut = total > bytes.len() as u64;
        let (kept, _) = kernel::clip::clip_bytes(bytes, bytes.len());
        // A cut may fall inside a character; what is before it decides whether this is text.
        let whole = if cut { &bytes[..kernel_floor(bytes)] } else { bytes };
        let Some(text) = as_text(whole) else {
            let control = kept.chars().filter(|c| *c == '\0').count();
            let what = if control > 0 { "a binary file" } else { "not UTF-8 text" };
            let why = format!("{} is {what} of {}", self.path, size_words(total));
            return Outcome::failed(&kernel::Refusal::new("FileNotText", &self.path.to_string(), "a text file", &why));
        };
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let lines = text.lines().count() as u64;
        let mut summary =
            format!("{}, {} ({lines} {})", self.path, size_words(total), if lines == 1 { "line" } else { "lines" });
        let mut out = text.to_owned();
        let mut truncated = cut;
        if self.first_line.is_some() || self.line_count.is_some() {
            let first = self.first_line.unwrap_or(1).max(1);
            let count = self.line_count.unwrap_or(u64::MAX);
            let skip = usize::try_from(first - 1).unwrap_or(usize::MAX);
            let take = usize::try_from(count).unwrap_or(usize::MAX);
            let part: Vec<&str> = text.lines().skip(skip).take(take).collect();
            summary.push_str(&format!(", {} from line {first} on", part.len()));
            truncated |= (part.len() as u64) < lines;
            out = part.join("\n");
        }
        if cut {
            summary.push_str(&format!(", only the first {} were read", size_words(bytes.len() as u64)));
        }
        Outcome { truncated, ..Outcome::found(out, summary) }
    }
}

/// The end of the last whole character.
fn kernel_floor(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// A driver that answers something else has a fault; it is said, not hidden.
pub(super) fn odd_reply(path: &MountPath, reply: Option<&Reply>) -> kernel::Refusal {
    let got = match reply {
        None => "no reply",
        Some(_) => "a reply of another kind",
    };
    kernel::Refusal::new("MountReply", &path.to_string(), "the answer to what was asked", got)
}
