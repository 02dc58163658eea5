//! The loader: a stepper that lists folders from the workspace's root down, so that every name
//! is seen as it stands on the disk before anything is opened, and then reads what it found.

use crate::bounds::{
    COMBINED_BYTES, ENTRIES_MAX, FILE_BYTES, FILES_MAX, FOLDER_ENTRIES_MAX, FOLDERS_MAX, MARKER_BYTES, OMISSIONS_MAX,
    SHOWN_BYTES,
};
use crate::family::{AGENTS, FIXED, Family, MODULAR, OVERRIDE};
use crate::scope::{self, Scope};
use crate::set::{Because, Block, ConventionSet, Match, Omission, OrderKey, Provenance, Reason};
use crate::target::{LoadError, Targets};
use crate::text::{self, TextFault};
use crate::{budget, imports};
use kernel::mount::{Entry, EntryKind, MountError, MountPath, Need, Reply, Step, drive};
use kernel::{Digest, clip};
use std::collections::{BTreeSet, VecDeque};

/// What one load may use. Never more than the bounds of engine.md §2.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Folders listed.
    pub folders: usize,
    /// Entries of one folder.
    pub folder_entries: usize,
    /// Entries of all folders.
    pub entries: usize,
    /// Files read.
    pub files: usize,
    /// Bytes of one file's text.
    pub file_bytes: usize,
    /// Bytes of all blocks with their frames: the model's budget (decision 25).
    pub combined: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            folders: FOLDERS_MAX,
            folder_entries: FOLDER_ENTRIES_MAX,
            entries: ENTRIES_MAX,
            files: FILES_MAX,
            file_bytes: FILE_BYTES,
            combined: COMBINED_BYTES,
        }
    }
}

impl Limits {
    /// The bounds, with a model's own budget.
    #[must_use]
    pub fn within(combined: usize) -> Self {
        Self { combined, ..Self::default() }.bounded()
    }

    fn bounded(self) -> Self {
        let most = Self::default();
        Self {
            folders: self.folders.min(most.folders),
            folder_entries: self.folder_entries.min(most.folder_entries),
            entries: self.entries.min(most.entries),
            files: self.files.min(most.files),
            file_bytes: self.file_bytes.min(most.file_bytes),
            combined: self.combined.min(most.combined),
        }
    }
}

/// A file that a listing showed; paths from the workspace's root.
#[derive(Clone, Debug)]
struct Found {
    path: MountPath,
    family: Family,
    depth: usize,
}

#[derive(Debug)]
enum Phase {
    Start,
    Listing(Vec<MountPath>),
    Reading(Vec<Found>),
    Done,
}

/// Loads a workspace's conventions for some targets; see [`kernel::mount`] for how it is driven.
#[derive(Debug)]
pub struct Loader {
    targets: Targets,
    limits: Limits,
    phase: Phase,
    /// Folders still to list, parents first.
    folders: VecDeque<MountPath>,
    /// Every folder that was ever in the queue.
    known: BTreeSet<MountPath>,
    listed: usize,
    entries: usize,
    found: Vec<Found>,
    blocks: Vec<Block>,
    omissions: Vec<Omission>,
}

/// Loads with a synchronous driver.
///
/// # Errors
/// [`LoadError::Unavailable`] when the folder cannot be read now.
pub fn load(targets: Targets, limits: Limits, perform: impl FnMut(&Need) -> Reply) -> Result<ConventionSet, LoadError> {
    let mut loader = Loader::new(targets, limits);
    drive(|replies| loader.step(replies), perform)
}

/// How a name stands in a listing.
enum Pick<'a> {
    Exact(EntryKind),
    OtherCase(&'a str),
    Absent,
}

fn pick<'a>(entries: &'a [Entry], name: &str) -> Pick<'a> {
    if let Some(entry) = entries.iter().find(|e| e.name == name) {
        return Pick::Exact(entry.kind);
    }
    let lower = name.to_lowercase();
    match entries.iter().find(|e| e.name.to_lowercase() == lower) {
        Some(entry) => Pick::OtherCase(&entry.name),
        None => Pick::Absent,
    }
}

impl Loader {
    /// A loader for these targets.
    #[must_use]
    pub fn new(targets: Targets, limits: Limits) -> Self {
        Self {
            targets,
            limits: limits.bounded(),
            phase: Phase::Start,
            folders: VecDeque::from([MountPath::root()]),
            known: BTreeSet::from([MountPath::root()]),
            listed: 0,
            entries: 0,
            found: Vec::new(),
            blocks: Vec::new(),
            omissions: Vec::new(),
        }
    }

    /// Takes the replies to the last needs and says what comes next. A reply that is missing
    /// counts as a failed one.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Result<ConventionSet, LoadError>> {
        let mut replies = replies.into_iter();
        let mut next = || replies.next().unwrap_or_else(|| Reply::Failed(MountError::Io("no answer".to_owned())));
        match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Start => {}
            Phase::Listing(asked) => {
                for folder in asked {
                    if let Err(e) = self.listing(&folder, next()) {
                        return Step::Done(Err(e));
                    }
                }
            }
            Phase::Reading(asked) => {
                for file in asked {
                    if let Err(e) = self.read(&file, next()) {
                        return Step::Done(Err(e));
                    }
                }
                return Step::Done(Ok(self.finish()));
            }
            // Asked again after the end: there is nothing left to load.
            Phase::Done => return Step::Done(Ok(self.finish())),
        }
        let needs = self.next_lists();
        if !needs.is_empty() {
            return Step::Need(needs);
        }
        let needs = self.reads();
        if needs.is_empty() {
            return Step::Done(Ok(self.finish()));
        }
        Step::Need(needs)
    }

    /// The path from the mount's root.
    fn full(&self, path: &MountPath) -> MountPath {
        if self.targets.root().is_root() {
            return path.clone();
        }
        let mut full = self.targets.root().clone();
        for segment in path.segments() {
            // Both parts are paths; only their length together can be too much.
            let Ok(longer) = full.join(segment) else { break };
            full = longer;
        }
        full
    }

    fn omit(&mut self, path: &MountPath, reason: Reason) {
        let path = self.full(path);
        self.omissions.push(Omission { path, reason });
    }

    /// Lists as many folders at once as the entry cap allows even if each is full (I-107).
    fn next_lists(&mut self) -> Vec<Need> {
        let mut asked = Vec::new();
        let mut needs = Vec::new();
        let mut left = self.limits.entries - self.entries.min(self.limits.entries);
        while let Some(folder) = self.folders.front() {
            let max = left.min(self.limits.folder_entries);
            if self.listed == self.limits.folders || max == 0 {
                if !asked.is_empty() {
                    break;
                }
                let reason = if max == 0 { Reason::EntryCap } else { Reason::DirectoryCap };
                for folder in std::mem::take(&mut self.folders) {
                    self.omit(&folder, reason.clone());
                }
                break;
            }
            needs.push(Need::List { path: self.full(folder), max });
            asked.extend(self.folders.pop_front());
            self.listed += 1;
            left -= max;
        }
        self.phase = Phase::Listing(asked);
        needs
    }

    fn listing(&mut self, folder: &MountPath, reply: Reply) -> Result<(), LoadError> {
        let (mut entries, truncated) = match reply {
            Reply::Listed { entries, truncated } => (entries, truncated),
            Reply::Failed(e) => {
                let whole = folder.is_root() || matches!(e, MountError::NeedsReconnect | MountError::MountMissing);
                if whole {
                    return Err(LoadError::Unavailable(e));
                }
                self.omit(folder, Reason::Unreadable(e));
                return Ok(());
            }
            other => {
                let e = MountError::Io(format!("unexpected answer {}", kind_of(&other)));
                if folder.is_root() {
                    return Err(LoadError::Unavailable(e));
                }
                self.omit(folder, Reason::Unreadable(e));
                return Ok(());
            }
        };
        let over = entries.len() > self.limits.folder_entries;
        entries.truncate(self.limits.folder_entries);
        self.entries += entries.len();
        if truncated || over {
            self.omit(folder, Reason::EntryCap);
        }
        self.agents(folder, &entries);
        for (family, place, name) in FIXED {
            if folder.as_str() == place {
                self.file(folder, &entries, family, name, 0);
            }
        }
        for (family, place, end) in MODULAR {
            if folder.as_str() == place {
                self.rules(folder, &entries, family, end);
            }
        }
        self.descend(folder, &entries);
        Ok(())
    }

    /// True where an `AGENTS` file of this folder applies: the root, and what a target lies in
    /// or is.
    fn is_above(&self, folder: &MountPath) -> bool {
        folder.is_root() || self.targets.paths().iter().any(|t| lies_in(t, folder))
    }

    fn agents(&mut self, folder: &MountPath, entries: &[Entry]) {
        if !self.is_above(folder) {
            return;
        }
        let depth = folder.segments().count();
        // Whatever bears the override's name keeps the other file out, a link or an unreadable
        // file too: its author wanted it not to be read.
        if self.file(folder, entries, Family::AgentsOverride, OVERRIDE, depth) {
            if let (Pick::Exact(_), Ok(base), Ok(by)) =
                (pick(entries, AGENTS), folder.join(AGENTS), folder.join(OVERRIDE))
            {
                let by = self.full(&by);
                self.omit(&base, Reason::Replaced(by));
            }
            return;
        }
        self.file(folder, entries, Family::Agents, AGENTS, depth);
    }

    /// Notes a file of an exact name; true when there is one that is no folder.
    fn file(&mut self, folder: &MountPath, entries: &[Entry], family: Family, name: &str, depth: usize) -> bool {
        let Ok(path) = folder.join(name) else { return false };
        match pick(entries, name) {
            Pick::Exact(EntryKind::File) => self.found.push(Found { path, family, depth }),
            Pick::Exact(EntryKind::Link) => self.omit(&path, Reason::SymlinkRefused),
            Pick::Exact(EntryKind::Folder) => {
                self.omit(&path, Reason::WrongKind);
                return false;
            }
            Pick::OtherCase(found) => {
                self.other_case(folder, found, name);
                return false;
            }
            Pick::Absent => return false,
        }
        true
    }

    fn other_case(&mut self, folder: &MountPath, found: &str, expected: &str) {
        let path = folder.join(found).unwrap_or_else(|_| folder.clone());
        let found = clip::label(found, SHOWN_BYTES).into_owned();
        self.omit(&path, Reason::WrongCase { found, expected: expected.to_owned() });
    }

    fn rules(&mut self, folder: &MountPath, entries: &[Entry], family: Family, end: &'static str) {
        for entry in entries {
            let path = match folder.join(&entry.name) {
                Ok(path) => path,
                Err(_) => {
                    let shown = clip::label(&clip::reveal(&entry.name), SHOWN_BYTES).into_owned();
                    self.omit(folder, Reason::Name(shown));
                    continue;
                }
            };
            let named = entry.name.len() > end.len() && entry.name.ends_with(end);
            match entry.kind {
                EntryKind::Folder => self.omit(&path, Reason::Nested),
                EntryKind::Link => self.omit(&path, Reason::SymlinkRefused),
                EntryKind::File if named => self.found.push(Found { path, family, depth: 0 }),
                EntryKind::File => self.omit(&path, Reason::NotARule(end)),
            }
        }
    }

    /// Queues the folders below this one that are on the way to a target or to a rule.
    fn descend(&mut self, folder: &MountPath, entries: &[Entry]) {
        // Name, and whether it is certain to be a folder: a target's last segment need not be.
        let mut wanted: Vec<(String, bool)> = Vec::new();
        let places = FIXED.iter().map(|(_, p, _)| *p).chain(MODULAR.iter().map(|(_, p, _)| *p));
        let ours = places.filter_map(|place| MountPath::parse(place).ok());
        for (path, sure) in self.targets.paths().iter().map(|t| (t.clone(), false)).chain(ours.map(|p| (p, true))) {
            if !lies_in(&path, folder) {
                continue;
            }
            let depth = folder.segments().count();
            let mut below = path.segments().skip(depth);
            if let Some(name) = below.next() {
                let sure = sure || below.next().is_some();
                match wanted.iter_mut().find(|(w, _)| w == name) {
                    Some((_, s)) => *s |= sure,
                    None => wanted.push((name.to_owned(), sure)),
                }
            }
        }
        for (name, sure) in wanted {
            let Ok(path) = folder.join(&name) else { continue };
            match pick(entries, &name) {
                Pick::Exact(EntryKind::Folder) => {
                    if self.known.insert(path.clone()) {
                        self.folders.push_back(path);
                    }
                }
                Pick::Exact(EntryKind::Link) => self.omit(&path, Reason::SymlinkRefused),
                Pick::OtherCase(found) if sure => self.other_case(folder, found, &name),
                // A file, or nothing yet: a target may be about to be made.
                Pick::Exact(EntryKind::File) | Pick::OtherCase(_) | Pick::Absent => {}
            }
        }
    }

    /// The reads, the nearest files first, so that the cap on files leaves out the farthest.
    fn reads(&mut self) -> Vec<Need> {
        let mut found = std::mem::take(&mut self.found);
        found.sort_by(|a, b| {
            b.depth.cmp(&a.depth).then_with(|| a.family.cmp(&b.family)).then_with(|| a.path.cmp(&b.path))
        });
        for file in found.split_off(found.len().min(self.limits.files)) {
            self.omit(&file.path, Reason::FileCap);
        }
        let max = self.limits.file_bytes;
        let needs = found.iter().map(|f| Need::Read { path: self.full(&f.path), max }).collect();
        self.phase = Phase::Reading(found);
        needs
    }

    fn read(&mut self, file: &Found, reply: Reply) -> Result<(), LoadError> {
        let (mut bytes, size) = match reply {
            Reply::Bytes { bytes, total } => {
                let size = total.max(bytes.len() as u64);
                (bytes, size)
            }
            Reply::Failed(e @ (MountError::NeedsReconnect | MountError::MountMissing)) => {
                return Err(LoadError::Unavailable(e));
            }
            Reply::Failed(MountError::WrongKind) => {
                self.omit(&file.path, Reason::WrongKind);
                return Ok(());
            }
            Reply::Failed(e) => {
                self.omit(&file.path, Reason::Unreadable(e));
                return Ok(());
            }
            other => {
                let e = MountError::Io(format!("unexpected answer {}", kind_of(&other)));
                self.omit(&file.path, Reason::Unreadable(e));
                return Ok(());
            }
        };
        bytes.truncate(self.limits.file_bytes);
        let goes_on = size > bytes.len() as u64;
        let (text, taken) = match text::decode(&bytes, goes_on) {
            Ok(text) => text,
            Err(TextFault::NotUtf8(at) | TextFault::Nul(at)) => {
                self.omit(&file.path, Reason::NotUtf8(at));
                return Ok(());
            }
        };
        let Some((because, matched, body)) = self.applies(file, &text) else { return Ok(()) };
        if body.trim().is_empty() {
            self.omit(&file.path, Reason::Blank);
            return Ok(());
        }
        for import in imports::unresolved(body) {
            self.omit(&file.path, Reason::Import(import));
        }
        let unread = usize::try_from(size - taken as u64).unwrap_or(usize::MAX);
        let total = body.len().saturating_add(unread);
        let room = self.limits.file_bytes.saturating_sub(MARKER_BYTES);
        let kept = if goes_on { text::cut(body, room) } else { body };
        if goes_on {
            self.omit(&file.path, Reason::FileTooLarge { kept: kept.len(), total });
        }
        let source = self.full(&file.path);
        self.blocks.push(Block {
            family: file.family,
            text: kept.to_owned(),
            digest: Digest::of(&bytes),
            matched,
            because,
            order: OrderKey { depth: file.depth, family: file.family, path: source.clone() },
            source,
            kept: kept.len(),
            total,
            provenance: Provenance { mount: self.targets.mount().clone(), read: bytes.len() as u64, size },
        });
        Ok(())
    }

    /// Why a file applies, to which targets, and its text; `None` when it does not, which is
    /// then among the omissions.
    fn applies<'a>(&mut self, file: &Found, text: &'a str) -> Option<(Because, Vec<Match>, &'a str)> {
        let everything = |targets: &Targets| -> Vec<Match> {
            targets.paths().iter().map(|t| Match { target: t.clone(), pattern: None }).collect()
        };
        if file.family.nests() {
            let folder = file.path.parent();
            let mut matched = everything(&self.targets);
            matched.retain(|m| lies_in(&m.target, &folder));
            return Some((Because::Above, matched, text));
        }
        let Some(dialect) = file.family.dialect() else {
            return Some((Because::Workspace, everything(&self.targets), text));
        };
        let rule = scope::read(file.family, dialect, text);
        for (pattern, why) in rule.refused {
            self.omit(&file.path, Reason::Glob { pattern, why });
        }
        if !rule.ignored.is_empty() {
            self.omit(&file.path, Reason::Keys(rule.ignored));
        }
        let reason = match rule.scope {
            Scope::Always(by) => return Some((Because::Always(by), everything(&self.targets), rule.body)),
            Scope::Paths(patterns) => {
                let by = |t: &MountPath| patterns.iter().find(|p| p.matches(t)).map(|p| p.source().to_owned());
                let matched: Vec<Match> = self
                    .targets
                    .paths()
                    .iter()
                    .filter_map(|t| Some(Match { target: t.clone(), pattern: Some(by(t)?) }))
                    .collect();
                if !matched.is_empty() {
                    return Some((Because::Matched, matched, rule.body));
                }
                Reason::NoMatch(patterns.iter().map(|p| p.source().to_owned()).collect())
            }
            Scope::Candidate { description } => Reason::Candidate(description),
            Scope::Closed(fault) => Reason::Scope(fault),
        };
        self.omit(&file.path, reason);
        None
    }

    fn finish(&mut self) -> ConventionSet {
        let (blocks, left, used) = budget::fit(std::mem::take(&mut self.blocks), self.limits.combined);
        let mut omissions = std::mem::take(&mut self.omissions);
        omissions.extend(left);
        let truncated = omissions.iter().any(|o| o.reason.is_cap());
        // Stable: what was found first about a path stays first.
        omissions.sort_by(|a, b| a.path.cmp(&b.path));
        if omissions.len() > OMISSIONS_MAX {
            let more = omissions.len() - (OMISSIONS_MAX - 1);
            omissions.truncate(OMISSIONS_MAX - 1);
            omissions.push(Omission { path: self.targets.root().clone(), reason: Reason::More(more) });
        }
        let mut parts: Vec<&[u8]> = Vec::with_capacity(blocks.len() * 3);
        for block in &blocks {
            parts.extend([block.source.as_str().as_bytes(), &block.digest.0, block.text.as_bytes()]);
        }
        let combined_digest = Digest::of_parts(&parts);
        let targets = self.targets.paths().to_vec();
        ConventionSet { blocks, omissions, combined_digest, truncated, targets, budget: self.limits.combined, used }
    }
}

/// True when `path` is `folder` or lies below it.
fn lies_in(path: &MountPath, folder: &MountPath) -> bool {
    folder.is_root()
        || path.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn kind_of(reply: &Reply) -> &'static str {
    match reply {
        Reply::Listed { .. } => "a listing",
        Reply::Bytes { .. } => "bytes",
        Reply::Found { .. } => "a kind",
        Reply::Done => "done",
        Reply::Failed(_) => "a failure",
    }
}
