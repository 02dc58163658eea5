//! Finding command files: a stepper over the five folders, in the order in which they win. A name
//! whose winner is refused, or may lie in what was not read, is refused too: it never falls through
//! to a later folder (I-126, I-127).

use std::collections::BTreeMap;

use kernel::SkillId;
use kernel::mount::{EntryKind, MountError, MountPath, Need, Reply, Step};

use super::parse::{name_of, parse};
use super::{CommandFile, CommandRefusal, DEPTH_MAX, ENTRIES_MAX, FILE_MAX, FILES_MAX, Format};

/// Files read in one step.
const BATCH: usize = 32;

/// A file, or a folder, that gave no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, relative to the workspace.
    pub path: String,
    /// Why.
    pub refusal: CommandRefusal,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// The commands, by name.
    pub found: Vec<CommandFile>,
    /// What is refused, by path.
    pub faults: Vec<Fault>,
    /// Files whose name an earlier folder has: theirs, and the winner's path.
    pub shadowed: Vec<(MountPath, MountPath)>,
}

impl Commands {
    /// The command of a name.
    #[must_use]
    pub fn get(&self, id: &SkillId) -> Option<&CommandFile> {
        self.found.iter().find(|c| c.id == *id)
    }
}

/// The stepper.
#[derive(Debug)]
pub struct Discovery {
    workspace: MountPath,
    /// Folders to list: root number, depth, path below the workspace.
    folders: Vec<(usize, usize, MountPath)>,
    /// Files to read: root number, path below the workspace.
    files: Vec<(usize, MountPath)>,
    read: usize,
    phase: Phase,
    /// The first root that was not read whole.
    incomplete: Option<(usize, String)>,
    parsed: Vec<(usize, MountPath, Result<CommandFile, CommandRefusal>)>,
    faults: Vec<Fault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Start,
    Listing,
    Reading,
}

impl Discovery {
    /// Finds the command files of a workspace.
    #[must_use]
    pub fn new(workspace: &MountPath) -> Self {
        let roots = Format::ALL.iter().flat_map(|f| f.roots());
        let folders = roots.enumerate().filter_map(|(n, r)| Some((n, 0, MountPath::parse(r).ok()?)));
        Self {
            workspace: workspace.clone(),
            folders: folders.collect(),
            files: Vec::new(),
            read: 0,
            phase: Phase::Start,
            incomplete: None,
            parsed: Vec::new(),
            faults: Vec::new(),
        }
    }

    fn absolute(&self, path: &MountPath) -> Option<MountPath> {
        path.segments().try_fold(self.workspace.clone(), |at, name| at.join(name).ok())
    }

    fn cut(&mut self, root: usize, why: String) {
        if self.incomplete.as_ref().is_none_or(|(first, _)| root < *first) {
            self.incomplete = Some((root, why));
        }
    }

    /// The next step.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Commands> {
        match self.phase {
            Phase::Start => self.phase = Phase::Listing,
            Phase::Listing => self.listed(replies),
            Phase::Reading => self.got(replies),
        }
        if self.phase == Phase::Listing {
            let needs: Vec<Need> = self
                .folders
                .iter()
                .filter_map(|(_, _, p)| Some(Need::List { path: self.absolute(p)?, max: ENTRIES_MAX }))
                .collect();
            if !needs.is_empty() {
                return Step::Need(needs);
            }
            self.files.sort();
            self.phase = Phase::Reading;
        }
        let end = self.files.len().min(self.read + BATCH);
        let needs: Vec<Need> = self.files[self.read..end]
            .iter()
            .filter_map(|(_, p)| Some(Need::Read { path: self.absolute(p)?, max: FILE_MAX + 1 }))
            .collect();
        if needs.is_empty() { Step::Done(self.resolve()) } else { Step::Need(needs) }
    }

    fn listed(&mut self, replies: Vec<Reply>) {
        let mut replies = replies.into_iter();
        for (root, depth, folder) in std::mem::take(&mut self.folders) {
            if self.absolute(&folder).is_none() {
                continue;
            }
            match replies.next() {
                Some(Reply::Listed { entries, truncated }) => {
                    if truncated || entries.len() > ENTRIES_MAX {
                        self.cut(root, format!("{folder} has more than {ENTRIES_MAX} entries"));
                    }
                    for entry in entries.into_iter().take(ENTRIES_MAX) {
                        self.entry(root, depth, &folder, &entry.name, entry.kind);
                    }
                }
                Some(Reply::Failed(MountError::NotFound)) => {}
                Some(Reply::Failed(e)) => self.cut(root, format!("{folder}: {e}")),
                _ => self.cut(root, format!("{folder} was not listed")),
            }
        }
    }

    fn entry(&mut self, root: usize, depth: usize, folder: &MountPath, name: &str, kind: EntryKind) {
        let fault = |refusal| Fault { path: format!("{folder}/{name}"), refusal };
        let Ok(path) = folder.join(name) else {
            self.faults.push(fault(CommandRefusal::PathUnknown(name.to_owned())));
            return;
        };
        match kind {
            EntryKind::Link => self.faults.push(fault(CommandRefusal::Link)),
            EntryKind::Folder if depth < DEPTH_MAX => self.folders.push((root, depth + 1, path)),
            EntryKind::Folder => self.cut(root, format!("{path} lies deeper than {DEPTH_MAX} folders")),
            EntryKind::File => match name_of(path.as_str()) {
                Ok(_) if self.files.len() < FILES_MAX => self.files.push((root, path)),
                Ok(_) => self.cut(root, format!("there are more than {FILES_MAX} command files")),
                // Other files may lie there: a README, a script. They are not opened.
                Err(CommandRefusal::PathUnknown(_)) => {}
                Err(refusal) => self.faults.push(fault(refusal)),
            },
        }
    }

    fn got(&mut self, replies: Vec<Reply>) {
        let mut replies = replies.into_iter();
        let end = self.files.len().min(self.read + BATCH);
        for n in self.read..end {
            let (root, path) = self.files[n].clone();
            if self.absolute(&path).is_none() {
                continue;
            }
            let parsed = match replies.next() {
                Some(Reply::Bytes { bytes, total }) if total <= FILE_MAX as u64 => parse(&path, &bytes),
                Some(Reply::Bytes { total, .. }) => {
                    Err(CommandRefusal::TooLarge { what: "file", there: total, most: FILE_MAX })
                }
                Some(Reply::Failed(e)) => Err(CommandRefusal::Unreadable(e.to_string())),
                _ => Err(CommandRefusal::Unreadable("there was no answer".to_owned())),
            };
            self.parsed.push((root, path, parsed));
        }
        self.read = end;
    }

    fn resolve(&mut self) -> Commands {
        let mut out = Commands { faults: std::mem::take(&mut self.faults), ..Commands::default() };
        // By name the first in order of roots, whether it is sound or not.
        let mut winners: BTreeMap<SkillId, (MountPath, bool)> = BTreeMap::new();
        let mut parsed = std::mem::take(&mut self.parsed);
        parsed.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        for (root, path, result) in parsed {
            let fault = |refusal| Fault { path: path.to_string(), refusal };
            let Ok((_, id)) = name_of(path.as_str()) else { continue };
            if let Some((winner, sound)) = winners.get(&id) {
                if *sound {
                    out.shadowed.push((path, winner.clone()));
                } else {
                    out.faults.push(fault(CommandRefusal::InvalidWinner(winner.to_string())));
                }
                continue;
            }
            let hidden = self.incomplete.as_ref().filter(|(first, _)| *first < root);
            let result = match hidden {
                Some((_, why)) => Err(CommandRefusal::IncompleteHigherScan(why.clone())),
                None => result,
            };
            winners.insert(id, (path.clone(), result.is_ok()));
            match result {
                Ok(command) => out.found.push(command),
                Err(refusal) => out.faults.push(fault(refusal)),
            }
        }
        if let Some((_, why)) = self.incomplete.take() {
            out.faults.push(Fault { path: String::new(), refusal: CommandRefusal::Unreadable(why) });
        }
        out.found.sort_by(|a, b| a.id.cmp(&b.id));
        out.faults.sort_by(|a, b| a.path.cmp(&b.path));
        out
    }
}
