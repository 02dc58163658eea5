//! What a skill's name and description do with objectives: the cases that a review shows
//! (engine.md §2.11), and the engine behind “try an objective”. Both ask the real engine.

use kernel::registry::Review;
use kernel::{Digest, MountId, SkillId};
use skills::engine::{Context, Engine, SkillMeta, SkillRefusal};
use skills::packages::review::{CaseKind, CaseResult, CaseSet};
use skills::packages::{Activated, Manifest, Packages, Standing};

use crate::guidance::BUILT_IN;
use crate::library::Library;

/// A skill as the engine sees it.
fn meta(id: SkillId, manifest: &Manifest, digest: Digest, body_bytes: usize) -> SkillMeta {
    SkillMeta {
        id,
        version: manifest.version().map(str::to_owned),
        description: manifest.description.clone(),
        triggers: vec![],
        negative_terms: vec![],
        required_tools: vec![],
        include_paths: vec![],
        exclude_paths: vec![],
        enabled: true,
        review: Review::HumanReviewed { binding: digest },
        digest,
        body_bytes,
    }
}

/// Objectives of each kind, and whether they ask for the skill.
fn objectives(name: &str) -> [(CaseKind, [String; 2], bool); 5] {
    let fence = "```";
    [
        (CaseKind::Positive, [format!("/{name}"), format!("Please run /{name} for this folder.")], true),
        (
            CaseKind::NearMiss,
            [format!("Run /{name}-x for this folder."), format!("Look into docs/{name} first.")],
            false,
        ),
        (CaseKind::Quoted, [format!("The page says \"run /{name}\"."), format!("> run /{name}")], false),
        (
            CaseKind::CodeBlock,
            [format!("{fence}\nrun /{name}\n{fence}"), format!("See `run /{name}` in the text.")],
            false,
        ),
        (CaseKind::Negated, [format!("Do not run /{name}."), format!("Never use /{name} here.")], false),
    ]
}

/// Tries a skill with one objective after another, as if it were approved. A portable package
/// names no paths and requires no tools, so that those two kinds do not apply to it.
#[must_use]
pub fn cases(skill: &Activated) -> CaseSet {
    let mut out = CaseSet::default();
    out.put(CaseKind::WrongPath, CaseResult::NotApplicable);
    out.put(CaseKind::MissingTool, CaseResult::NotApplicable);
    let engine = SkillId::new(skill.name())
        .ok()
        .and_then(|id| Engine::new(vec![meta(id, skill.manifest(), skill.digest(), skill.body().len())]).ok());
    let Some(engine) = engine else { return out };
    for (kind, texts, active) in objectives(skill.name()) {
        let went =
            |text: &String| engine.evaluate(text, &Context::default()).first().is_some_and(|e| e.is_active() == active);
        let passed = u32::try_from(texts.iter().filter(|t| went(t)).count()).unwrap_or(u32::MAX);
        out.put(kind, CaseResult::Ran { passed, failed: 2_u32.saturating_sub(passed) });
    }
    out
}

/// The engine over everything that could be asked for now: what ships with the product and what
/// lies in the folder, each as it stands.
///
/// # Errors
/// When there is more than the engine takes.
pub fn engine(library: &Library) -> Result<Engine, SkillRefusal> {
    let mut all = vec![];
    for skill in &BUILT_IN {
        let Ok(id) = SkillId::new(skill.id) else { continue };
        let said = Manifest { description: skill.summary.to_owned(), ..Manifest::default() };
        all.push(SkillMeta { review: Review::BuiltIn, ..meta(id, &said, skill.digest(), skill.body.len()) });
    }
    if let (Some(mount), Some(packages)) = (library.mount(), library.packages()) {
        all.extend(workspace(library, mount, packages));
    }
    Engine::new(all)
}

fn workspace(library: &Library, mount: &MountId, packages: &Packages) -> Vec<SkillMeta> {
    let winners = packages.found().iter().filter(|f| f.standing == Standing::Winner);
    let one = |f: &skills::packages::Found| {
        let id = SkillId::new(&f.folder).ok().filter(|id| BUILT_IN.iter().all(|b| b.id != id.as_str()))?;
        let seen = f.inspection.as_ref()?;
        let review = match library.reviews().review(mount, &f.folder) {
            Some(review) => Review::HumanReviewed { binding: review.digest },
            None => Review::Unreviewed,
        };
        let enabled = library.reviews().is_enabled(mount, &f.folder);
        Some(SkillMeta { review, enabled, ..meta(id, seen.manifest.as_ref()?, f.digest()?, seen.body.len()) })
    };
    winners.filter_map(one).collect()
}
