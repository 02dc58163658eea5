//! Who has a name. The first root with an entry of a name decides for that name, for better or
//! worse: an invalid winner is refused and nothing falls through to a lower root, for otherwise
//! breaking one file would silently put another in its place (I-126).

use super::activate::Activation;
use super::discover::{Found, Standing};
use super::inspect::Verdict;
use super::root::{Root, RootScan};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::hidden::names;
use kernel::mount::{MountError, MountPath};
use kernel::{Digest, Refusal};
use serde::Serialize;
use std::collections::BTreeMap;

/// Why a name gives no package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackageRefusal {
    /// No entry of exactly this name.
    #[error("there is no skill named “{name}”")]
    NameUnknown {
        /// As asked for.
        name: String,
    },
    /// The entry that has the name cannot be used (I-126).
    #[error("{place} has the name “{name}” and cannot be used: {why}")]
    InvalidWinner {
        /// The name.
        name: String,
        /// The winner's file.
        place: String,
        /// The first thing that is wrong with it.
        why: String,
    },
    /// Several entries of one root have the name (I-128).
    #[error("{root} has several folders with the name “{name}”: {folders}")]
    AmbiguousCollision {
        /// The name.
        name: String,
        /// Where.
        root: Root,
        /// Their names.
        folders: String,
    },
    /// A root of higher precedence was not seen whole (I-127).
    #[error("“{name}” may also lie in {root}, which was not seen whole: {why}")]
    IncompleteHigherScan {
        /// The name.
        name: String,
        /// The root.
        root: Root,
        /// What happened to it.
        why: String,
    },
    /// The file is no longer the one that was found (I-130).
    #[error("the file of “{name}” changed since it was found")]
    PackageChanged {
        /// The name.
        name: String,
        /// What was found.
        was: Digest,
        /// What is there now; `None` when nothing is.
        now: Option<Digest>,
    },
    /// The file cannot be read just now.
    #[error("the file of “{name}” could not be read: {error}")]
    Unavailable {
        /// The name.
        name: String,
        /// Why.
        error: MountError,
    },
}

impl From<PackageRefusal> for Refusal {
    fn from(e: PackageRefusal) -> Self {
        let (code, name, expected) = match &e {
            PackageRefusal::NameUnknown { name } => ("NameUnknown", name, "the exact name of a listed skill"),
            PackageRefusal::InvalidWinner { name, .. } => {
                ("InvalidWinner", name, "a portable package; the Skills app shows what to change")
            }
            PackageRefusal::AmbiguousCollision { name, .. } => ("AmbiguousCollision", name, "one folder of that name"),
            PackageRefusal::IncompleteHigherScan { name, .. } => {
                ("IncompleteHigherScan", name, "every root above it listed whole")
            }
            PackageRefusal::PackageChanged { name, .. } => {
                ("PackageChanged", name, "the bytes that were found; look again and review them")
            }
            PackageRefusal::Unavailable { name, .. } => ("PackageUnavailable", name, "a file that can be read"),
        };
        Self::new(code, &format!("The skill {name}"), expected, &e.to_string())
    }
}

/// A row of the catalogue (I-129): no body, digest, path or listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CatalogEntry {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Where it works.
    pub compatibility: Option<String>,
    /// May be reviewed, or is only readable.
    pub verdict: Verdict,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// A diagnostic and what it is about, for a person.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Told {
    /// A path below the workspace.
    pub place: String,
    /// What is wrong.
    pub diagnostic: Diagnostic,
}

/// What one look at the workspace found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packages {
    workspace: MountPath,
    roots: Vec<(Root, RootScan)>,
    found: Vec<Found>,
    /// By folded name: the entry, or why there is none.
    names: BTreeMap<String, Result<usize, PackageRefusal>>,
}

impl Packages {
    /// Nothing, before the first look.
    #[must_use]
    pub fn none(workspace: &MountPath) -> Self {
        Self { workspace: workspace.clone(), roots: vec![], found: vec![], names: BTreeMap::new() }
    }

    pub(super) fn resolve(workspace: &MountPath, roots: Vec<(Root, RootScan)>, mut found: Vec<Found>) -> Self {
        found.sort_by(|a, b| (a.root, &a.folder).cmp(&(b.root, &b.folder)));
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i, f) in found.iter().enumerate() {
            by_name.entry(names::folded(&f.folder)).or_default().push(i);
        }
        let mut out = Self { workspace: workspace.clone(), roots, found, names: BTreeMap::new() };
        for (key, entries) in by_name {
            let decided = out.decide(&entries);
            out.names.insert(key, decided);
        }
        out.look_alikes();
        for (name, fault) in super::depends::faults(&out) {
            let fix = "name skills that are there, in one direction";
            if let Some(f) = out.found.iter_mut().find(|f| f.standing == Standing::Winner && f.folder == name) {
                f.note(Code::DependencyFault, Severity::Warning, &fault.to_string(), fix);
            }
        }
        out
    }

    /// Decides one name and says so in every entry that has it.
    fn decide(&mut self, entries: &[usize]) -> Result<usize, PackageRefusal> {
        let first = entries[0];
        let (root, name) = (self.found[first].root, self.found[first].folder.clone());
        let same: Vec<usize> = entries.iter().copied().filter(|i| self.found[*i].root == root).collect();
        let decided = self.contest(root, &name, first, &same);
        let code = decided.as_ref().err().map(code_of);
        for &i in entries {
            let lower = self.found[i].root != root;
            let versions = beside(&self.found[first], &self.found[i]);
            let f = &mut self.found[i];
            f.standing = match code {
                _ if lower => Standing::Shadowed(root),
                Some(code) => Standing::Refused(code),
                None => Standing::Winner,
            };
            if lower {
                let cause = match code {
                    None => format!("a skill of this name in {root} comes first{versions}"),
                    Some(_) => format!("an entry of this name in {root} comes first, and is refused"),
                };
                f.note(Code::Shadowed, Severity::Note, &cause, "keep the one you mean, or rename one");
            } else if let Err(e) = &decided
                && !matches!(e, PackageRefusal::InvalidWinner { .. })
            {
                let severity = Severity::NotPortable;
                let fix =
                    if same.len() > 1 { "rename all but one" } else { "make the folder above readable, or smaller" };
                f.note(code.unwrap_or(Code::InvalidWinner), severity, &e.to_string(), fix);
            } else if decided.is_err() && entries.len() > 1 {
                let cause = "it has this name and cannot be used; entries in lower roots do not take its place";
                f.note(Code::InvalidWinner, Severity::NotPortable, cause, "repair it, rename it or remove it");
            }
        }
        decided
    }

    fn contest(&self, root: Root, name: &str, first: usize, same: &[usize]) -> Result<usize, PackageRefusal> {
        let name = kernel::clip::clip(&crate::hidden::reveal(name), 256).into_owned();
        if let Some((above, scan)) = self.roots.iter().find(|(r, s)| *r < root && !s.is_complete()) {
            return Err(PackageRefusal::IncompleteHigherScan { name, root: *above, why: scan.words() });
        }
        if same.len() > 1 {
            let folders: Vec<_> =
                same.iter().take(4).map(|i| crate::hidden::reveal(&self.found[*i].folder).into_owned()).collect();
            return Err(PackageRefusal::AmbiguousCollision { name, root, folders: folders.join(", ") });
        }
        let f = &self.found[first];
        if f.verdict() == Verdict::Portable {
            return Ok(first);
        }
        let why = f.diagnostics.iter().max_by_key(|d| d.severity).map(|d| d.cause.clone()).unwrap_or_default();
        Err(PackageRefusal::InvalidWinner { name, place: f.place(), why })
    }

    /// Marks winners whose names look alike.
    fn look_alikes(&mut self) {
        let mut by_look: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for i in self.names.values().filter_map(|r| r.as_ref().ok()) {
            by_look.entry(names::skeleton(&self.found[*i].folder)).or_default().push(*i);
        }
        for twins in by_look.values().filter(|t| t.len() > 1) {
            let all: Vec<String> = twins.iter().map(|i| self.found[*i].folder.clone()).collect();
            for &i in twins {
                let others: Vec<_> = all.iter().filter(|n| **n != self.found[i].folder).take(4).cloned().collect();
                let cause = format!("the name looks like that of another skill: {}", others.join(", "));
                self.found[i].note(Code::ConfusableName, Severity::Warning, &cause, "rename one of them");
            }
        }
    }

    /// The workspace that was looked at.
    #[must_use]
    pub fn workspace(&self) -> &MountPath {
        &self.workspace
    }

    /// How each root's listing went.
    #[must_use]
    pub fn roots(&self) -> &[(Root, RootScan)] {
        &self.roots
    }

    /// Every entry, with root, verdict, digest and standing: for a person, never for the model.
    #[must_use]
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// The entry that has a name. Names compare exactly: no case is folded, no look-alike taken.
    ///
    /// # Errors
    /// [`PackageRefusal`].
    pub fn get(&self, name: &str) -> Result<&Found, PackageRefusal> {
        let unknown = || PackageRefusal::NameUnknown { name: kernel::clip::clip(name, 256).into_owned() };
        match self.names.get(&names::folded(name)) {
            Some(Ok(i)) if self.found[*i].folder == name => Ok(&self.found[*i]),
            Some(Err(e)) if self.found.iter().any(|f| f.folder == name) => Err(e.clone()),
            _ => Err(unknown()),
        }
    }

    /// Reads a package again, for its exact bytes (I-130).
    ///
    /// # Errors
    /// [`PackageRefusal`].
    pub fn activate(&self, name: &str) -> Result<Activation, PackageRefusal> {
        Activation::of(self.get(name)?)
    }

    /// Names that may be activated, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.values().filter_map(|r| r.as_ref().ok()).map(|i| self.found[*i].folder.as_str())
    }

    /// Readable and portable packages that have their name (I-129).
    #[must_use]
    pub fn catalog(&self) -> Vec<CatalogEntry> {
        let listed = |f: &&Found| !matches!(f.standing, Standing::Shadowed(_));
        let row = |f: &Found| {
            let m = f.inspection.as_ref()?.manifest.as_ref()?;
            Some(CatalogEntry {
                name: f.folder.clone(),
                description: m.description.clone(),
                compatibility: m.compatibility.clone(),
                verdict: if f.standing == Standing::Winner { Verdict::Portable } else { Verdict::Readable },
                diagnostics: f.diagnostics.clone(),
            })
        };
        let mut rows: Vec<_> = self.found.iter().filter(listed).filter_map(row).collect();
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        rows
    }

    /// Everything that is wrong, roots first, then entries in their order.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Told> {
        let fix = "make the folder readable, or smaller, and look again";
        let root = |(root, scan): &(Root, RootScan)| {
            let severity = Severity::Warning;
            (!scan.is_complete()).then(|| Told {
                place: root.to_string(),
                diagnostic: Diagnostic::new(Code::RootIncomplete, severity, None, &scan.words(), fix),
            })
        };
        let entry = |f: &Found| {
            let place = f.place();
            f.diagnostics.iter().map(move |d| Told { place: place.clone(), diagnostic: d.clone() }).collect::<Vec<_>>()
        };
        self.roots.iter().filter_map(root).chain(self.found.iter().flat_map(entry)).collect()
    }

    /// What changed between two looks.
    #[must_use]
    pub fn changes(&self, later: &Self) -> Changes {
        let of = |p: &Self| -> BTreeMap<String, Option<Digest>> {
            p.names
                .values()
                .filter_map(|r| r.as_ref().ok())
                .map(|i| (p.found[*i].folder.clone(), p.found[*i].digest()))
                .collect()
        };
        let (old, new) = (of(self), of(later));
        let gone = old.keys().filter(|n| !new.contains_key(*n)).cloned().collect();
        let appeared = new.keys().filter(|n| !old.contains_key(*n)).cloned().collect();
        let changed =
            new.iter().filter(|(n, d)| old.get(*n).is_some_and(|o| o != *d)).map(|(n, _)| n.clone()).collect();
        Changes { appeared, gone, changed }
    }
}

/// Names that came, went or have other bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// New, or usable again.
    pub appeared: Vec<String>,
    /// Gone, or no longer usable.
    pub gone: Vec<String>,
    /// Other bytes: “changed since review” until a person looked.
    pub changed: Vec<String>,
}

/// How a shadowed entry stands to the one that comes first, in words.
fn beside(first: &Found, this: &Found) -> String {
    if first.digest().is_some() && first.digest() == this.digest() {
        return " and has the same bytes".into();
    }
    let version = |f: &Found| Some(f.inspection.as_ref()?.manifest.as_ref()?.version()?.to_owned());
    let (Some(a), Some(b)) = (version(first), version(this)) else { return String::new() };
    let word = match super::version::compare(&b, &a) {
        Some(std::cmp::Ordering::Greater) => "newer",
        Some(std::cmp::Ordering::Less) => "older",
        Some(std::cmp::Ordering::Equal) => "the same version",
        None => "another version",
    };
    format!("; it has version {a}, this one {b}, {word}")
}

fn code_of(e: &PackageRefusal) -> Code {
    match e {
        PackageRefusal::NameUnknown { .. } => Code::NameUnknown,
        PackageRefusal::InvalidWinner { .. } => Code::InvalidWinner,
        PackageRefusal::AmbiguousCollision { .. } => Code::AmbiguousCollision,
        PackageRefusal::IncompleteHigherScan { .. } => Code::IncompleteHigherScan,
        PackageRefusal::PackageChanged { .. } => Code::PackageChanged,
        PackageRefusal::Unavailable { .. } => Code::FileUnreadable,
    }
}
