//! What a skill's name, words and paths do with objectives: the cases that a review shows
//! (engine.md §2.11), and the engine behind “try an objective”. Both ask the real engine.

use kernel::mount::MountPath;
use kernel::registry::Review;
use kernel::{MountId, SkillId};
use skills::engine::{Case, Engine, SkillMeta, SkillRefusal, eval};
use skills::packages::review::{CaseKind, CaseSet};
use skills::packages::{Activated, Found, Packages, Standing};

use crate::guidance::{BUILT_IN, BuiltIn};
use crate::library::Library;

/// Objectives of each kind, made of the skill's own name; a package brings no others.
fn objectives(meta: &SkillMeta) -> Vec<Case> {
    let (name, fence) = (&meta.id, "```");
    let inside: Vec<MountPath> = meta.include_paths.first().and_then(|p| example(p)).into_iter().collect();
    let mut outside: Vec<MountPath> = MountPath::parse("elsewhere/of-no-skill").into_iter().collect();
    if meta.include_paths.is_empty() {
        outside = meta.exclude_paths.first().and_then(|p| example(p)).into_iter().collect();
    }
    let ask = format!("Please run /{name} for this folder.");
    let mut texts = vec![
        (CaseKind::Positive, format!("/{name}")),
        (CaseKind::Positive, ask.clone()),
        (CaseKind::NearMiss, format!("Run /{name}-x for this folder.")),
        (CaseKind::NearMiss, format!("Look into docs/{name} first.")),
        (CaseKind::Quoted, format!("The page says \"run /{name}\".")),
        (CaseKind::Quoted, format!("> run /{name}")),
        (CaseKind::CodeBlock, format!("{fence}\nrun /{name}\n{fence}")),
        (CaseKind::CodeBlock, format!("See `run /{name}` in the text.")),
        (CaseKind::Negated, format!("Do not run /{name}.")),
        (CaseKind::Negated, format!("Never use /{name} here.")),
    ];
    if !meta.include_paths.is_empty() || !meta.exclude_paths.is_empty() {
        texts.push((CaseKind::WrongPath, ask.clone()));
    }
    if !meta.required_tools.is_empty() {
        texts.push((CaseKind::MissingTool, ask));
    }
    let targets = |kind| if kind == CaseKind::WrongPath { outside.clone() } else { inside.clone() };
    texts.into_iter().map(|(kind, objective)| Case { kind, objective, targets: targets(kind) }).collect()
}

/// A path that a pattern means.
fn example(pattern: &str) -> Option<MountPath> {
    let first = pattern.replace("**/", "").replace(['*', '?'], "x");
    let (head, tail) = first.split_once('{').unwrap_or((&first, ""));
    let (choice, rest) = tail.split_once('}').unwrap_or(("", ""));
    let choice = choice.split(',').next().unwrap_or_default();
    MountPath::parse(&format!("{head}{choice}{rest}")).ok()
}

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
    let Ok(meta) = meta(skill, Review::Unreviewed) else { return CaseSet::default() };
    eval(&meta, &objectives(&meta)).map(|report| report.set(&meta)).unwrap_or_default()
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
