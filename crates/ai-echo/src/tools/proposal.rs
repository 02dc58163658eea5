//! A change to a file: proposed with the bytes before and after, then made over exactly those
//! (decision 21, `field_4h2`).

use kernel::mount::{Expect, MountError, MountPath, Need, Reply, Step};
use kernel::{Digest, MountId, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::odd_reply;
use super::{Outcome, Tool, as_text, file_of, needed, path_of, size_words};
use crate::turn::Effect;

/// The largest file that is changed: before and after must fit on a card and into an Undo.
pub const MAX_FILE: usize = 1024 * 1024;

/// What becomes of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// It becomes these bytes.
    Write(Vec<u8>),
    /// It goes, because it was not there before the change that is undone.
    Remove,
}

/// A change as it is shown on a card and as it is made, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The tool's name.
    pub tool: String,
    /// The mount.
    pub mount: MountId,
    /// The file.
    pub path: MountPath,
    /// Its bytes now; `None` when it is not there.
    pub before: Option<Vec<u8>>,
    /// What becomes of it.
    pub change: Change,
}

/// Whether a line stays, goes or comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffKind {
    /// In both.
    Same,
    /// Only before.
    Removed,
    /// Only after.
    Added,
}

/// A line of the card's diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    /// Stays, goes or comes.
    pub kind: DiffKind,
    /// Line number before, from 1.
    pub before: Option<usize>,
    /// Line number after, from 1.
    pub after: Option<usize>,
    /// The line without its end.
    pub text: String,
    /// The line has no line end (the last one of a file may not).
    pub no_newline: bool,
}

impl Proposal {
    /// What a confirmation binds: tool, place, the bytes before and the bytes after.
    pub fn digest(&self) -> Digest {
        let before = self.before.as_deref().map(Digest::of);
        let (kind, after): (&[u8], &[u8]) = match &self.change {
            Change::Write(bytes) => (b"write", bytes),
            Change::Remove => (b"remove", b""),
        };
        Digest::of_parts(&[
            b"file-proposal-1",
            self.tool.as_bytes(),
            self.mount.as_str().as_bytes(),
            self.path.as_str().as_bytes(),
            if before.is_some() { b"present" } else { b"absent" },
            before.as_ref().map_or(&[][..], |d| &d.0),
            kind,
            after,
        ])
    }

    /// The digest of the bytes before.
    pub fn before_digest(&self) -> Option<Digest> {
        self.before.as_deref().map(Digest::of)
    }

    /// The digest of the bytes after.
    pub fn after_digest(&self) -> Option<Digest> {
        match &self.change {
            Change::Write(bytes) => Some(Digest::of(bytes)),
            Change::Remove => None,
        }
    }

    /// One sentence: what will happen.
    pub fn sentence(&self) -> String {
        match (&self.before, &self.change) {
            (None, Change::Write(after)) => {
                format!("Make the new file {} ({})", self.path, size_words(after.len() as u64))
            }
            (Some(before), Change::Write(after)) => {
                let all = !before.is_empty() && !self.keeps_a_line();
                format!(
                    "{} {} ({} to {})",
                    if all { "Replace all of" } else { "Change" },
                    self.path,
                    size_words(before.len() as u64),
                    size_words(after.len() as u64)
                )
            }
            (_, Change::Remove) => format!("Remove {}, which was not there before", self.path),
        }
    }

    /// Whether a line of the file as it is, blank ones apart, stands in what will be there.
    fn keeps_a_line(&self) -> bool {
        let (Some(before), Change::Write(after)) = (&self.before, &self.change) else { return false };
        let new: std::collections::HashSet<&[u8]> = lines_of(after).collect();
        lines_of(before).any(|l| new.contains(l))
    }

    /// The whole change line by line, nothing left out; `None` when a side is not text.
    pub fn diff(&self) -> Option<Vec<DiffLine>> {
        let before = as_text(self.before.as_deref().unwrap_or_default())?;
        let after = match &self.change {
            Change::Write(bytes) => as_text(bytes)?,
            Change::Remove => "",
        };
        let diff = similar::TextDiff::from_lines(before, after);
        let lines = diff.iter_all_changes().map(|change| {
            let text = change.value();
            let bare = text.strip_suffix('\n').unwrap_or(text);
            DiffLine {
                kind: match change.tag() {
                    similar::ChangeTag::Equal => DiffKind::Same,
                    similar::ChangeTag::Delete => DiffKind::Removed,
                    similar::ChangeTag::Insert => DiffKind::Added,
                },
                before: change.old_index().map(|i| i + 1),
                after: change.new_index().map(|i| i + 1),
                text: bare.to_owned(),
                no_newline: bare.len() == text.len(),
            }
        });
        Some(lines.collect())
    }
}

/// Reads the file as it is and works out what the change would make of it.
#[derive(Clone, Debug)]
pub struct Propose {
    tool: Tool,
    mount: MountId,
    path: MountPath,
    want: Want,
    asked: bool,
}

#[derive(Clone, Debug)]
enum Want {
    Content(String),
    Edit { find: String, replace: String },
    Undo { made: Digest, old: Option<Vec<u8>> },
}

impl Propose {
    /// Begins for the arguments of `files.write` or `files.edit`.
    ///
    /// # Errors
    /// A refusal when the path leads outside or an argument is missing.
    pub fn start(tool: Tool, mount: &MountId, arguments: &Value) -> Result<Self, Refusal> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let missing = |name: &str| Refusal::new("ArgMissing", name, "a text", "it is missing");
        let path = file_of(path_of(mount, needed(text("path"), "path")?)?)?;
        let want = match tool {
            Tool::FilesWrite => Want::Content(text("content").ok_or_else(|| missing("content"))?.to_owned()),
            Tool::FilesEdit => {
                let find = text("find").filter(|find| !find.is_empty()).ok_or_else(|| missing("find"))?;
                Want::Edit {
                    find: find.to_owned(),
                    replace: text("replace").ok_or_else(|| missing("replace"))?.to_owned(),
                }
            }
            _ => return Err(Refusal::new("NotAChange", tool.name(), "files.write or files.edit", "another tool")),
        };
        Ok(Self { tool, mount: mount.clone(), path, want, asked: false })
    }

    /// Begins to put back `old`, provided the file still is what was `made`.
    pub fn undo(mount: &MountId, path: MountPath, made: Digest, old: Option<Vec<u8>>) -> Self {
        Self { tool: Tool::FilesUndo, mount: mount.clone(), path, want: Want::Undo { made, old }, asked: false }
    }

    /// Goes on with the replies; the first time with none.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Result<Proposal, Refusal>> {
        if !std::mem::replace(&mut self.asked, true) {
            return Step::Need(vec![Need::Read { path: self.path.clone(), max: MAX_FILE }]);
        }
        Step::Done(match replies.into_iter().next() {
            Some(Reply::Bytes { total, .. }) if total > MAX_FILE as u64 => Err(self.too_large(total)),
            Some(Reply::Bytes { bytes, .. }) => self.propose(Some(bytes)),
            Some(Reply::Failed(MountError::NotFound)) => self.propose(None),
            Some(Reply::Failed(error)) => Err(error.about(&self.path)),
            other => Err(odd_reply(&self.path, other.as_ref())),
        })
    }

    fn too_large(&self, total: u64) -> Refusal {
        Refusal::new(
            "FileTooLarge",
            &self.path.to_string(),
            &format!("at most {}", size_words(MAX_FILE as u64)),
            &size_words(total),
        )
    }

    fn propose(&self, before: Option<Vec<u8>>) -> Result<Proposal, Refusal> {
        let path = self.path.to_string();
        let change = match (&self.want, &before) {
            (Want::Content(content), _) => Change::Write(content.clone().into_bytes()),
            (Want::Edit { .. }, None) => return Err(MountError::NotFound.about(&self.path)),
            (Want::Edit { find, replace }, Some(bytes)) => {
                let text = as_text(bytes).ok_or_else(|| {
                    Refusal::new("FileNotText", &path, "a text file", "bytes that are not UTF-8 text")
                })?;
                match occurrences(text, find) {
                    1 => Change::Write(text.replacen(find.as_str(), replace, 1).into_bytes()),
                    0 => {
                        return Err(Refusal::new(
                            "EditNoMatch",
                            &path,
                            "text that stands in the file, letter for letter",
                            &format!("“{}” does not occur in it", kernel::clip::label(find, 80)),
                        ));
                    }
                    n => {
                        return Err(Refusal::new(
                            "EditManyMatches",
                            &path,
                            "a longer piece of text, so that one place is meant",
                            &format!("“{}” occurs {n} times in it", kernel::clip::label(find, 80)),
                        ));
                    }
                }
            }
            (Want::Undo { made, old }, now) => {
                if now.as_deref().map(Digest::of) != Some(*made) {
                    return Err(Refusal::new(
                        "UndoChanged",
                        &path,
                        "the file as the change left it",
                        "it changed since then",
                    ));
                }
                old.clone().map_or(Change::Remove, Change::Write)
            }
        };
        if let Change::Write(bytes) = &change {
            if bytes.len() > MAX_FILE {
                return Err(self.too_large(bytes.len() as u64));
            }
            if before.as_ref() == Some(bytes) {
                return Err(Refusal::new("NothingToChange", &path, "a change", "the file already is exactly this"));
            }
        }
        Ok(Proposal {
            tool: self.tool.name().to_owned(),
            mount: self.mount.clone(),
            path: self.path.clone(),
            before,
            change,
        })
    }
}

/// How often `find` occurs, overlapping ones included: `aa` occurs twice in `aaa`, and which of
/// the two is meant nobody can say.
fn occurrences(text: &str, find: &str) -> usize {
    let mut count = 0;
    let mut from = 0;
    while let Some(at) = text[from..].find(find) {
        count += 1;
        let next = from + at;
        from = next + text[next..].chars().next().map_or(1, char::len_utf8);
    }
    count
}

/// Makes a reviewed change, whole or not at all.
#[derive(Clone, Debug)]
pub struct Apply {
    proposal: Proposal,
    state: ApplyState,
    failure: Option<MountError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ApplyState {
    Begin,
    Changing,
    Reading,
}

impl Apply {
    /// For the very proposal that was confirmed.
    pub fn new(proposal: Proposal) -> Self {
        Self { proposal, state: ApplyState::Begin, failure: None }
    }

    /// Goes on with the replies; the first time with none.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Outcome> {
        let path = self.proposal.path.clone();
        match (self.state, replies.into_iter().next()) {
            (ApplyState::Begin, _) => {
                self.state = ApplyState::Changing;
                let before = self.proposal.before_digest();
                let need = match (&self.proposal.change, before) {
                    (Change::Write(bytes), before) => {
                        let expect = before.map_or(Expect::Absent, Expect::Digest);
                        Need::Write { path, bytes: bytes.clone(), expect }
                    }
                    (Change::Remove, Some(expect)) => Need::Remove { path, expect },
                    (Change::Remove, None) => {
                        return Step::Done(self.done("It was not there.".to_owned(), Effect::NotApplied));
                    }
                };
                Step::Need(vec![need])
            }
            (ApplyState::Changing, Some(Reply::Done)) => Step::Done(self.done(self.said(), Effect::Applied)),
            (ApplyState::Changing, Some(Reply::Failed(error @ MountError::Changed(_)))) => {
                let words = error.about(&path);
                Step::Done(Outcome { effect: Effect::NotApplied, changed: true, ..Outcome::failed(&words) })
            }
            // Nothing was opened for writing in these cases.
            (
                ApplyState::Changing,
                Some(Reply::Failed(
                    error @ (MountError::NotFound
                    | MountError::WrongKind
                    | MountError::Denied
                    | MountError::NeedsReconnect
                    | MountError::NameInvalid),
                )),
            ) => Step::Done(Outcome { effect: Effect::NotApplied, ..Outcome::failed(&error.about(&path)) }),
            // Whether it happened is looked up, not guessed.
            (ApplyState::Changing, reply) => {
                self.failure = match reply {
                    Some(Reply::Failed(error)) => Some(error),
                    _ => None,
                };
                self.state = ApplyState::Reading;
                Step::Need(vec![Need::Read { path, max: MAX_FILE }])
            }
            (ApplyState::Reading, reply) => {
                let found = match &reply {
                    Some(Reply::Bytes { bytes, total }) if *total == bytes.len() as u64 => {
                        Some(Some(Digest::of(bytes)))
                    }
                    Some(Reply::Failed(MountError::NotFound)) => Some(None),
                    _ => None,
                };
                let why = self.failure.take().map_or_else(|| odd_reply(&path, None), |error| error.about(&path));
                Step::Done(match found {
                    Some(now) if now == self.proposal.after_digest() => {
                        let said = format!("{} The file was read back and is as it should be.", self.said());
                        self.done(said, Effect::Applied)
                    }
                    Some(now) if now == self.proposal.before_digest() => {
                        Outcome { effect: Effect::NotApplied, ..Outcome::failed(&why) }
                    }
                    _ => Outcome { effect: Effect::Unknown, ..Outcome::failed(&why) },
                })
            }
        }
    }

    /// What was done, in words.
    fn said(&self) -> String {
        let path = &self.proposal.path;
        let verb = match (&self.proposal.before, &self.proposal.change) {
            (_, Change::Remove) => return format!("Removed {path}, as it was before."),
            _ if self.proposal.tool == Tool::FilesUndo.name() => "Put back",
            (None, _) => "Made",
            (Some(_), _) => "Wrote",
        };
        let Change::Write(bytes) = &self.proposal.change else { return String::new() };
        format!("{verb} {path} ({}).", size_words(bytes.len() as u64))
    }

    fn done(&self, said: String, effect: Effect) -> Outcome {
        Outcome { effect, ok: effect == Effect::Applied, ..Outcome::found(said.clone(), said) }
    }
}

/// Lines without their ends and indents, blank ones left out.
fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|l| !l.is_empty())
}
