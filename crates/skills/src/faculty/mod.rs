//! Guidance faculties (engine.md §2.4): what a model may learn of a skill, in three stages. First
//! that it is there, then what it says, then, for guidance that ships with the product and only
//! when asked, where more is to be read. Each stage is a type that has room for nothing else.

mod builtin;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use kernel::{Refusal, SkillId};
use serde::Serialize;

use crate::engine::Evaluation;

pub use builtin::{BUILT_IN, BuiltIn};

/// The scheme of built-in resources.
pub const SCHEME: &str = "echo-guidance://";
/// Most entries of a catalogue shown in one turn (engine.md §2.12).
pub const CATALOGUE_MAX: usize = 128;
/// Longest summary shown, in code points (engine.md §2.12).
pub const SUMMARY_MAX: usize = 1024;

/// Stage one: that it is there (I-122).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CatalogEntry {
    /// Identity.
    pub id: SkillId,
    /// Name for people.
    pub title: String,
    /// One line.
    pub summary: String,
}

/// Instructions: inert text, which can be read and nothing else (I-125).
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Instructions(String);

impl Instructions {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Instructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "instructions of {} bytes", self.0.len())
    }
}

/// Stage two: what it says. No score, reason, provenance, path or digest (I-118).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActiveGuidance {
    /// Identity.
    pub skill_id: SkillId,
    /// The text.
    pub instructions: Instructions,
}

/// Stage three: where more is to be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Identity.
    pub id: SkillId,
    /// Addresses of [`SCHEME`].
    pub uris: Vec<String>,
}

/// A text that ships with built-in guidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its name below its skill.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Where guidance comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    BuiltIn(&'static [Resource]),
    /// Reviewed by a person; it discloses no address (I-124).
    Imported,
}

#[derive(Clone, Debug)]
struct Entry {
    title: String,
    summary: String,
    body: String,
    source: Source,
}

/// Refusals of the stages (engine.md §2.4).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuidanceRefusal {
    /// The stage before was not reached in this turn (I-123).
    #[error("“{id}” cannot be {stage} before it was {before} in this turn")]
    StageSkipped {
        /// Guidance.
        id: SkillId,
        /// What was asked for.
        stage: &'static str,
        /// What comes first.
        before: &'static str,
    },
    /// Only guidance that ships with the product has resources (I-124).
    #[error("“{0}” does not ship with the product and discloses no resources")]
    ResourceNotTrusted(SkillId),
    /// No such resource, or no such guidance.
    #[error("there is nothing at “{0}”")]
    ResourceUnknown(String),
}

impl From<GuidanceRefusal> for Refusal {
    fn from(e: GuidanceRefusal) -> Self {
        let (code, subject, expected) = match &e {
            GuidanceRefusal::StageSkipped { id, before, .. } => {
                ("StageSkipped", id.to_string(), format!("that it is {before} first"))
            }
            GuidanceRefusal::ResourceNotTrusted(id) => {
                ("ResourceNotTrusted", id.to_string(), "guidance that ships with the product".to_owned())
            }
            GuidanceRefusal::ResourceUnknown(uri) => {
                ("ResourceUnknown", uri.clone(), "an address that was disclosed".to_owned())
            }
        };
        Self::new(code, &subject, &expected, &e.to_string())
    }
}

/// All guidance that may enter a turn: what ships with the product, and what a person reviewed.
#[derive(Clone, Debug, Default)]
pub struct Faculty {
    entries: BTreeMap<SkillId, Entry>,
}

impl Faculty {
    /// The guidance that ships with the product.
    #[must_use]
    pub fn built_in() -> Self {
        let mut faculty = Self::default();
        for skill in &BUILT_IN {
            if let Ok(id) = SkillId::new(skill.id) {
                let entry = Entry {
                    title: skill.title.to_owned(),
                    summary: skill.summary.to_owned(),
                    body: skill.body.to_owned(),
                    source: Source::BuiltIn(skill.resources),
                };
                faculty.entries.insert(id, entry);
            }
        }
        faculty
    }

    /// Adds guidance that a person reviewed; the caller holds the review. What ships with the
    /// product keeps its name.
    pub fn import(&mut self, id: SkillId, title: &str, summary: &str, body: &str) -> bool {
        if matches!(self.entries.get(&id), Some(Entry { source: Source::BuiltIn(_), .. })) {
            return false;
        }
        let entry = Entry {
            title: title.to_owned(),
            summary: summary.chars().take(SUMMARY_MAX).collect(),
            body: body.to_owned(),
            source: Source::Imported,
        };
        self.entries.insert(id, entry);
        true
    }

    /// Takes imported guidance out again.
    pub fn remove(&mut self, id: &SkillId) {
        if matches!(self.entries.get(id), Some(Entry { source: Source::Imported, .. })) {
            self.entries.remove(id);
        }
    }

    /// Begins a turn: no stage is reached.
    #[must_use]
    pub fn turn(&self) -> Turn<'_> {
        Turn { faculty: self, shown: BTreeSet::new(), active: BTreeSet::new() }
    }

    /// What the model is given for these verdicts: of active skills the id and the instructions
    /// (I-118), the strongest first.
    #[must_use]
    pub fn project(&self, evaluations: &[Evaluation]) -> Vec<ActiveGuidance> {
        let mut active: Vec<&Evaluation> = evaluations.iter().filter(|e| e.is_active()).collect();
        active.sort_by(|a, b| (std::cmp::Reverse(a.score), &a.skill).cmp(&(std::cmp::Reverse(b.score), &b.skill)));
        active.into_iter().filter_map(|e| self.guidance(&e.skill)).collect()
    }

    fn guidance(&self, id: &SkillId) -> Option<ActiveGuidance> {
        let entry = self.entries.get(id)?;
        Some(ActiveGuidance { skill_id: id.clone(), instructions: Instructions(entry.body.clone()) })
    }
}

/// The stages of one turn.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    faculty: &'a Faculty,
    shown: BTreeSet<SkillId>,
    active: BTreeSet<SkillId>,
}

impl Turn<'_> {
    /// Stage one: the catalogue, by id, at most [`CATALOGUE_MAX`] entries.
    pub fn catalogue(&mut self) -> Vec<CatalogEntry> {
        let entries = self.faculty.entries.iter().take(CATALOGUE_MAX);
        let entries =
            entries.map(|(id, e)| CatalogEntry { id: id.clone(), title: e.title.clone(), summary: e.summary.clone() });
        let entries: Vec<CatalogEntry> = entries.collect();
        self.shown.extend(entries.iter().map(|e| e.id.clone()));
        entries
    }

    /// Stage two: the instructions of one entry of the catalogue.
    ///
    /// # Errors
    /// [`GuidanceRefusal::StageSkipped`] when the catalogue did not show it in this turn.
    pub fn activate(&mut self, id: &SkillId) -> Result<ActiveGuidance, GuidanceRefusal> {
        let guidance = self.faculty.guidance(id).filter(|_| self.shown.contains(id));
        let skipped = || GuidanceRefusal::StageSkipped { id: id.clone(), stage: "activated", before: "listed" };
        let guidance = guidance.ok_or_else(skipped)?;
        self.active.insert(id.clone());
        Ok(guidance)
    }

    /// Stage three: where built-in guidance says more, on an explicit request.
    ///
    /// # Errors
    /// The guidance is not active in this turn, or does not ship with the product.
    pub fn resources(&self, id: &SkillId) -> Result<Resources, GuidanceRefusal> {
        let resources = self.disclosed(id)?;
        Ok(Resources { id: id.clone(), uris: resources.iter().map(|r| format!("{SCHEME}{id}/{}", r.name)).collect() })
    }

    /// The text at an address of stage three.
    ///
    /// # Errors
    /// As [`Turn::resources`], or there is nothing at the address.
    pub fn read(&self, uri: &str) -> Result<&'static str, GuidanceRefusal> {
        let unknown = || GuidanceRefusal::ResourceUnknown(uri.to_owned());
        let (id, name) = uri.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
        let id = SkillId::new(id).map_err(|_| unknown())?;
        let resource = self.disclosed(&id)?.iter().find(|r| r.name == name).ok_or_else(unknown)?;
        Ok(resource.text)
    }

    fn disclosed(&self, id: &SkillId) -> Result<&'static [Resource], GuidanceRefusal> {
        if !self.active.contains(id) {
            let id = id.clone();
            return Err(GuidanceRefusal::StageSkipped { id, stage: "asked for resources", before: "activated" });
        }
        match self.faculty.entries.get(id).map(|e| e.source) {
            Some(Source::BuiltIn(resources)) => Ok(resources),
            _ => Err(GuidanceRefusal::ResourceNotTrusted(id.clone())),
        }
    }
}
