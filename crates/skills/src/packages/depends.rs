//! `metadata.depends-on` (decision 27): in which order packages go into a turn, each after those
//! that it names. An order never brings in what a person has not reviewed.

use super::bounds::{DEPENDS_MAX, DEPENDS_ORDER_MAX};
use super::discover::Found;
use super::resolve::{PackageRefusal, Packages};
use kernel::Refusal;
use std::collections::BTreeMap;

/// Why there is no order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DependsRefusal {
    /// Names that lead back to themselves, the first one repeated at the end.
    #[error("skills depend on each other in a circle: {}", .0.join(" → "))]
    Cycle(Vec<String>),
    /// One that is needed cannot be had.
    #[error("“{by}” depends on “{name}”: {why}")]
    NotUsable {
        /// Who needs it.
        by: String,
        /// What is needed.
        name: String,
        /// Why it cannot be used.
        why: String,
    },
    /// The one that was asked for cannot be had.
    #[error(transparent)]
    Package(#[from] PackageRefusal),
    /// More than [`DEPENDS_ORDER_MAX`] packages, or more than [`DEPENDS_MAX`] of one.
    #[error("“{0}” would bring in more skills than fit")]
    TooMany(String),
}

impl From<DependsRefusal> for Refusal {
    fn from(e: DependsRefusal) -> Self {
        let (code, subject) = match &e {
            DependsRefusal::Cycle(path) => ("DependencyCycle", path.first().cloned().unwrap_or_default()),
            DependsRefusal::NotUsable { by, .. } => ("DependencyNotUsable", by.clone()),
            DependsRefusal::Package(p) => return p.clone().into(),
            DependsRefusal::TooMany(name) => ("DependencyCap", name.clone()),
        };
        let expected = "reviewed skills that depend on each other in one direction";
        Self::new(code, &format!("The skill {subject}"), expected, &e.to_string())
    }
}

fn names(found: &Found) -> Vec<&str> {
    found.inspection.as_ref().and_then(|i| i.manifest.as_ref()).map(|m| m.depends_on()).unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Open,
    Done,
}

/// A walk from one name, without recursion: each open name with how many of its needs were seen.
struct Walk<'p> {
    packages: &'p Packages,
    marks: BTreeMap<&'p str, Mark>,
    open: Vec<(&'p Found, usize)>,
    order: Vec<&'p Found>,
}

impl<'p> Walk<'p> {
    fn circle(&self, name: &str) -> Vec<String> {
        let from = self.open.iter().position(|(f, _)| f.folder == name).unwrap_or(0);
        let path = self.open[from..].iter().map(|(f, _)| f.folder.as_str()).chain([name]);
        path.map(str::to_owned).collect()
    }

    fn run(
        &mut self,
        start: &'p Found,
        usable: &mut dyn FnMut(&Found) -> Result<(), Refusal>,
    ) -> Result<(), DependsRefusal> {
        self.marks.insert(&start.folder, Mark::Open);
        self.open.push((start, 0));
        while let Some((found, seen)) = self.open.last().copied() {
            let needs = names(found);
            if needs.len() > DEPENDS_MAX || self.marks.len() > DEPENDS_ORDER_MAX {
                return Err(DependsRefusal::TooMany(found.folder.clone()));
            }
            let Some(name) = needs.get(seen).copied() else {
                self.marks.insert(&found.folder, Mark::Done);
                self.order.push(found);
                self.open.pop();
                continue;
            };
            if let Some(top) = self.open.last_mut() {
                top.1 += 1;
            }
            match self.marks.get(name) {
                Some(Mark::Done) => continue,
                Some(Mark::Open) => return Err(DependsRefusal::Cycle(self.circle(name))),
                None => {}
            }
            let not = |why: String| DependsRefusal::NotUsable { by: found.folder.clone(), name: name.to_owned(), why };
            let next = self.packages.get(name).map_err(|e| not(e.to_string()))?;
            usable(next).map_err(|r| not(r.plain()))?;
            self.marks.insert(&next.folder, Mark::Open);
            self.open.push((next, 0));
        }
        Ok(())
    }
}

/// The names that go into a turn with `name`, each after those that it depends on, `name` last.
/// `usable` says whether one may be used now: reviewed, and enabled.
///
/// # Errors
/// [`DependsRefusal`].
pub fn order(
    packages: &Packages,
    name: &str,
    usable: &mut dyn FnMut(&Found) -> Result<(), Refusal>,
) -> Result<Vec<String>, DependsRefusal> {
    let start = packages.get(name)?;
    usable(start).map_err(|r| DependsRefusal::NotUsable {
        by: name.to_owned(),
        name: name.to_owned(),
        why: r.plain(),
    })?;
    let mut walk = Walk { packages, marks: BTreeMap::new(), open: vec![], order: vec![] };
    walk.run(start, usable)?;
    Ok(walk.order.into_iter().map(|f| f.folder.clone()).collect())
}

/// What is wrong with what each usable package depends on, whether reviewed or not; for the
/// inspector, before anybody asks for one.
#[must_use]
pub fn faults(packages: &Packages) -> Vec<(String, DependsRefusal)> {
    let mut out = vec![];
    for name in packages.names() {
        let Ok(start) = packages.get(name) else { continue };
        if names(start).is_empty() {
            continue;
        }
        let mut walk = Walk { packages, marks: BTreeMap::new(), open: vec![], order: vec![] };
        if let Err(e) = walk.run(start, &mut |_| Ok(())) {
            out.push((name.to_owned(), e));
        }
    }
    out
}
