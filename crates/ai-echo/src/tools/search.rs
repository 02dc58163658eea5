//! `files.search`: a bounded walk that says what it left out.

use std::collections::VecDeque;

use kernel::Refusal;
use kernel::mount::{EntryKind, MountPath, Need, Reply, Step};

use super::files::odd_reply;
use super::{Outcome, as_text, size_words};

/// Folders listed (engine.md §2.12).
pub const MAX_FOLDERS: usize = 256;
/// Entries of one folder looked at.
pub const MAX_ENTRIES: usize = 512;
/// Files opened.
pub const MAX_FILES: usize = 1024;
/// Bytes read of one file; larger files are left out.
pub const MAX_FILE_BYTES: u64 = 256 * 1024;
/// Bytes read in all.
pub const MAX_TOTAL_BYTES: u64 = 8 * 1024 * 1024;
/// Folders below the first.
pub const MAX_DEPTH: usize = 8;
/// Hits kept.
pub const MAX_HITS: usize = 100;
/// Requests in one step.
const BATCH: usize = 16;
/// A hit's line is cut here.
const MAX_LINE: usize = 240;
/// Longest text to find.
const MAX_QUERY: usize = 256;
/// Never opened: what tools make and keep, not what people write.
const NEVER: [&str; 5] = [".git", "node_modules", "target", ".svn", ".hg"];

/// What was left out, counted by reason.
#[derive(Clone, Debug, Default)]
struct Left {
    skipped_folders: usize,
    deep: usize,
    folders: usize,
    files: usize,
    large: usize,
    binary: usize,
    unreadable: usize,
    names: usize,
    truncated: usize,
    hits: bool,
}

/// The walk.
#[derive(Clone, Debug)]
pub struct Search {
    query: String,
    folders: VecDeque<(MountPath, usize)>,
    files: VecDeque<MountPath>,
    /// What the last step asked for, with the depth of a folder.
    asked: Vec<(Need, usize)>,
    listed: usize,
    opened: usize,
    bytes: u64,
    hits: Vec<String>,
    left: Left,
    top: MountPath,
}

impl Search {
    pub(super) fn new(top: MountPath, query: &str) -> Result<Self, Refusal> {
        let query = fold(query.trim());
        if query.is_empty() || query.len() > MAX_QUERY || query.contains('\n') {
            return Err(Refusal::new(
                "ArgValue",
                "query",
                "1 to 256 bytes of text on one line",
                kernel::clip::label(&query, 80).as_ref(),
            ));
        }
        Ok(Self {
            query,
            folders: VecDeque::from([(top.clone(), 0)]),
            files: VecDeque::new(),
            asked: Vec::new(),
            listed: 0,
            opened: 0,
            bytes: 0,
            hits: Vec::new(),
            left: Left::default(),
            top,
        })
    }

    pub(super) fn step(&mut self, replies: Vec<Reply>) -> Step<Outcome> {
        let mut replies = replies.into_iter();
        for (need, depth) in std::mem::take(&mut self.asked) {
            match (need, replies.next()) {
                (Need::List { path, .. }, Some(Reply::Listed { entries, truncated })) => {
                    self.left.truncated += usize::from(truncated);
                    for entry in entries {
                        self.entry(&path, &entry.name, entry.kind, entry.size, depth);
                    }
                }
                (Need::Read { path, .. }, Some(Reply::Bytes { bytes, total })) => self.look(&path, &bytes, total),
                (Need::List { path, .. }, Some(Reply::Failed(error))) if path == self.top => {
                    return Step::Done(Outcome::failed(&error.about(&path)));
                }
                (_, Some(Reply::Failed(_))) => self.left.unreadable += 1,
                (_, other) => return Step::Done(Outcome::failed(&odd_reply(&self.top, other.as_ref()))),
            }
        }
        while self.asked.len() < BATCH && self.hits.len() < MAX_HITS {
            if let Some(path) = self.files.pop_front() {
                if self.opened == MAX_FILES || self.bytes >= MAX_TOTAL_BYTES {
                    self.left.files += 1;
                    continue;
                }
                self.opened += 1;
                self.asked.push((Need::Read { path, max: MAX_FILE_BYTES as usize }, 0));
            } else if let Some((path, depth)) = self.folders.pop_front() {
                if self.listed == MAX_FOLDERS {
                    self.left.folders += 1;
                    continue;
                }
                self.listed += 1;
                self.asked.push((Need::List { path, max: MAX_ENTRIES }, depth));
            } else {
                break;
            }
        }
        if self.asked.is_empty() {
            return Step::Done(self.result());
        }
        Step::Need(self.asked.iter().map(|(need, _)| need.clone()).collect())
    }

    fn entry(&mut self, folder: &MountPath, name: &str, kind: EntryKind, size: Option<u64>, depth: usize) {
        let Ok(path) = folder.join(name) else {
            self.left.names += 1;
            return;
        };
        match kind {
            EntryKind::Folder if NEVER.contains(&name) => self.left.skipped_folders += 1,
            EntryKind::Folder if depth >= MAX_DEPTH => self.left.deep += 1,
            EntryKind::Folder => self.folders.push_back((path, depth + 1)),
            EntryKind::Link => self.left.names += 1,
            EntryKind::File if size.is_some_and(|size| size > MAX_FILE_BYTES) => self.left.large += 1,
            EntryKind::File => {
                if fold(name).contains(&self.query) {
                    self.hit(format!("{path}: (the file's name)"));
                }
                self.files.push_back(path);
            }
        }
    }

    fn look(&mut self, path: &MountPath, bytes: &[u8], total: u64) {
        self.bytes += bytes.len() as u64;
        if total > MAX_FILE_BYTES {
            self.left.large += 1;
            return;
        }
        let Some(text) = as_text(bytes) else {
            self.left.binary += 1;
            return;
        };
        for (i, line) in text.lines().enumerate() {
            if fold(line).contains(&self.query) {
                self.hit(format!("{path}:{}: {}", i + 1, kernel::clip::clip(line.trim(), MAX_LINE)));
            }
        }
    }

    fn hit(&mut self, line: String) {
        if self.hits.len() < MAX_HITS {
            self.hits.push(line);
        } else {
            self.left.hits = true;
        }
    }

    fn result(&mut self) -> Outcome {
        self.left.files += self.files.len();
        self.left.folders += self.folders.len();
        let left = &self.left;
        let say = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let omissions: Vec<String> = [
            say(left.files, "files not opened"),
            say(left.folders, "folders not listed"),
            say(left.deep, "folders too deep"),
            say(left.skipped_folders, "folders of tools (.git, node_modules, target)"),
            say(left.large, &format!("files over {}", size_words(MAX_FILE_BYTES))),
            say(left.binary, "files that are not text"),
            say(left.unreadable, "files or folders that could not be read"),
            say(left.names, "names that cannot be opened here"),
            say(left.truncated, &format!("folders with more than {MAX_ENTRIES} entries")),
            (left.hits || self.hits.len() == MAX_HITS).then(|| format!("hits after the first {MAX_HITS}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        let hits = self.hits.len();
        let mut summary = format!(
            "{hits} {} for “{}” in {} files",
            if hits == 1 { "hit" } else { "hits" },
            kernel::clip::label(&self.query, 60),
            self.opened
        );
        let mut text = if hits == 0 { "(no hits)".to_owned() } else { self.hits.join("\n") };
        if !omissions.is_empty() {
            let left_out = format!("left out: {}", omissions.join(", "));
            summary.push_str(&format!("; {left_out}"));
            text.push_str(&format!("\n({left_out})"));
        }
        Outcome { truncated: !omissions.is_empty(), ..Outcome::found(text, summary) }
    }
}

/// Upper and lower case alike.
fn fold(text: &str) -> String {
    text.to_lowercase()
}
