//! Activation cases: what a skill is tried with before a person reviews it (engine.md §2.11). A
//! case is an objective with its kind; the kind says what must come out.

use kernel::Digest;
use kernel::mount::MountPath;
use kernel::registry::Review;
use serde::{Deserialize, Serialize};

use super::{Context, Engine, ReasonCode, SkillMeta, SkillRefusal, TARGETS_MAX, Verdict};
use crate::packages::review::{CaseKind, CaseResult, CaseSet};

/// Most cases of a skill.
pub const CASES_MAX: usize = 256;

/// One case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// What it shows. A positive one must activate, every other one must not.
    pub kind: CaseKind,
    /// What the person says.
    pub objective: String,
    /// What the turn is about.
    #[serde(default)]
    pub targets: Vec<MountPath>,
}

/// How one case went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The case.
    pub case: Case,
    /// What came out.
    pub verdict: Verdict,
    /// Why.
    pub reasons: Vec<ReasonCode>,
    /// It is what the kind asks for.
    pub passed: bool,
}

/// How all cases of a skill went: kept with its review, bound to the bytes that were tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Digest of the skill that was tried.
    pub digest: Digest,
    /// One outcome a case, in their order.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// The results by kind, as the review takes them (I-176). A skill without paths, or without a
    /// tool it needs, can have no such case.
    #[must_use]
    pub fn set(&self, skill: &SkillMeta) -> CaseSet {
        let mut set = CaseSet::default();
        for kind in CaseKind::ALL {
            let of_kind = self.outcomes.iter().filter(|o| o.case.kind == kind);
            let (passed, failed): (Vec<_>, Vec<_>) = of_kind.partition(|o| o.passed);
            let beside_the_point = match kind {
                CaseKind::WrongPath => skill.include_paths.is_empty() && skill.exclude_paths.is_empty(),
                CaseKind::MissingTool => skill.required_tools.is_empty(),
                _ => false,
            };
            if !passed.is_empty() || !failed.is_empty() {
                let count = |list: Vec<&Outcome>| u32::try_from(list.len()).unwrap_or(u32::MAX);
                set.put(kind, CaseResult::Ran { passed: count(passed), failed: count(failed) });
            } else if beside_the_point {
                set.put(kind, CaseResult::NotApplicable);
            }
        }
        set
    }
}

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

/// The results by kind of the objectives that a skill's own name makes.
#[must_use]
pub fn tried(meta: &SkillMeta) -> CaseSet {
    eval(meta, &objectives(meta)).map(|report| report.set(meta)).unwrap_or_default()
}

/// Tries a skill with its cases, alone, as if it were enabled and reviewed: the cases show what it
/// listens to, and no review is needed to see that. A missing-tool case runs without the tools it
/// needs, every other one with them. Such a case, and one of a wrong path, must also show that its
/// gate did it.
///
/// # Errors
/// A bound.
pub fn eval(skill: &SkillMeta, cases: &[Case]) -> Result<Report, SkillRefusal> {
    let refused = |what, most, there| SkillRefusal::SkillCap { subject: skill.id.to_string(), what, most, there };
    if cases.len() > CASES_MAX {
        return Err(refused("cases", CASES_MAX, cases.len()));
    }
    let tried = SkillMeta {
        enabled: true,
        review: Review::HumanReviewed { binding: skill.digest },
        body_bytes: 0,
        ..skill.clone()
    };
    let engine = Engine::new(vec![tried])?;
    let mut outcomes = Vec::with_capacity(cases.len());
    for case in cases {
        if case.targets.len() > TARGETS_MAX {
            return Err(refused("targets of a case", TARGETS_MAX, case.targets.len()));
        }
        let mut context = Context { target_paths: case.targets.clone(), ..Context::default() };
        if case.kind != CaseKind::MissingTool {
            context.live_tools.extend(skill.required_tools.iter().cloned());
        }
        for e in engine.evaluate(&case.objective, &context) {
            let gate = |reason: &ReasonCode| match case.kind {
                CaseKind::WrongPath => matches!(reason, ReasonCode::PathExcluded | ReasonCode::PathNotIncluded),
                CaseKind::MissingTool => matches!(reason, ReasonCode::RequiredToolMissing { .. }),
                _ => false,
            };
            let passed = match case.kind {
                CaseKind::Positive => e.is_active(),
                CaseKind::WrongPath | CaseKind::MissingTool => {
                    !e.is_active() && e.score > 0 && e.reasons.iter().any(gate)
                }
                _ => !e.is_active(),
            };
            outcomes.push(Outcome { case: case.clone(), verdict: e.verdict, reasons: e.reasons, passed });
        }
    }
    Ok(Report { digest: skill.digest, outcomes })
}
