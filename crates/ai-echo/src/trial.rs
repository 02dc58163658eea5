//! What a skill's name, words and paths do with objectives: the cases that a review shows
//! (engine.md §2.11), and the engine behind “try an objective”. Both ask the real engine.

use kernel::registry::Review;
use kernel::{MountId, SkillId};
use skills::engine::{Engine, SkillMeta, SkillRefusal};
use skills::packages::review::CaseSet;
use skills::packages::{Activated, Found, Packages, Standing};

use crate::guidance::{BUILT_IN, BuiltIn};
use crate::library::Library;

/// What the engine makes of an activated package.
///
/// # Errors
/// Its name is none, or a tool that it requires has no name.
pub fn meta(skill: &Activated, review: Review) -> Result<SkillMeta, kernel::IdError> {
    SkillMeta::of_package(skill.manifest(), skill.digest(), skill.body().len(), review)
}

/// Tries a skill with objectives of every kind, as if it were approved.
#[must_use]
pub fn cases(skill: &Activated) -> CaseSet {
    meta(skill, Review::Unreviewed).map(|meta| skills::engine::tried(&meta)).unwrap_or_default()
}

/// The engine over everything that could be asked for now: what ships with the product and what
/// lies in the folder, each as it stands.
///
/// # Errors
/// When there is more than the engine takes.
pub fn engine(library: &Library) -> Result<Engine, SkillRefusal> {
    let mut all: Vec<SkillMeta> = BUILT_IN.iter().filter_map(|skill| skill.meta().ok()).collect();
    if let (Some(mount), Some(packages)) = (library.mount(), library.packages()) {
        all.extend(workspace(library, mount, packages));
    }
    Engine::new(all)
}

fn workspace(library: &Library, mount: &MountId, packages: &Packages) -> Vec<SkillMeta> {
    let one = |f: &Found| {
        let id = SkillId::new(&f.folder).ok()?;
        if BuiltIn::get(&id).is_some() {
            return None;
        }
        let seen = f.inspection.as_ref()?;
        let review = library.reviews().binding(mount, &f.folder);
        let meta = SkillMeta::of_package(seen.manifest.as_ref()?, f.digest()?, seen.body.len(), review).ok()?;
        Some(SkillMeta { enabled: library.reviews().is_enabled(mount, &f.folder), ..meta })
    };
    packages.found().iter().filter(|f| f.standing == Standing::Winner).filter_map(one).collect()
}
