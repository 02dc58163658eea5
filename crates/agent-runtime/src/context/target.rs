//! The one place that a turn is about.

use serde::{Deserialize, Serialize};

use super::ContextRefusal;
use crate::core::{ActiveRoot, ProjectId};

/// A project, where it is mounted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Project.
    pub project: ProjectId,
    /// Root.
    pub root: ActiveRoot,
}

/// How the place was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HowFound {
    /// Named in the message.
    Explicit,
    /// The conversation's own.
    Sticky,
    /// There is no other.
    OnlyCandidate,
}

/// For what a target is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To talk: no project is needed.
    Talk,
    /// For a tool.
    Tool,
}

/// Exactly one target, which may be no project (I-15).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UniqueTarget {
    /// Talk.
    NoProject,
    /// A project.
    Project(Place, HowFound),
}

impl UniqueTarget {
    /// Chooses among the open places: the named one, else the conversation's, else the only one.
    ///
    /// # Errors
    /// `TargetMissing` when a tool has none, `TargetAmbiguous` when several are named, or none of
    /// several is.
    pub fn resolve(
        open: &[Place],
        named: &[Place],
        sticky: Option<&Place>,
        purpose: Purpose,
    ) -> Result<Self, ContextRefusal> {
        let live = |p: &&Place| open.contains(p);
        match (named, open) {
            ([one], _) if live(&one) => Ok(Self::Project(one.clone(), HowFound::Explicit)),
            ([_], _) => Err(ContextRefusal::TargetMissing),
            ([_, _, ..], _) => Err(ContextRefusal::TargetAmbiguous(named.len())),
            ([], _) if sticky.is_some_and(|p| live(&p)) => {
                Ok(sticky.cloned().map_or(Self::NoProject, |p| Self::Project(p, HowFound::Sticky)))
            }
            ([], [one]) => Ok(Self::Project(one.clone(), HowFound::OnlyCandidate)),
            ([], _) if purpose == Purpose::Talk => Ok(Self::NoProject),
            ([], []) => Err(ContextRefusal::TargetMissing),
            ([], _) => Err(ContextRefusal::TargetAmbiguous(open.len())),
        }
    }
    /// The place, where there is one.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::NoProject => None,
            Self::Project(place, _) => Some(place),
        }
    }
}
