//! A thousand skills become commands: registered one by one and projected once, beside one plain
//! map that is filled with the same names.
#![allow(clippy::print_stdout, reason = "it reports on standard output")]

mod figure;

use figure::Case;
use kernel::registry::{Guidance, PackageState, Review};
use kernel::slash::{Catalog, Situation};
use kernel::{AppId, Digest, Kernel, PackageId, Rev, SkillId};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

/// design.md §5, in ms.
const BUDGET: f64 = 50.0;
const SKILLS: usize = 1000;
const ROUNDS: usize = 25;

fn skill(n: usize, package: &PackageId) -> Result<Guidance, Box<dyn Error>> {
    Ok(Guidance {
        id: SkillId::new(&format!("skill-{n:04}"))?,
        package: package.clone(),
        title: format!("Skill number {n}"),
        summary: format!("Does what number {n} is for, and nothing else."),
        enabled: true,
        problem: None,
        review: Review::BuiltIn,
        digest: Digest::of(&n.to_le_bytes()),
        rev: Rev(0),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let package = PackageId::new("bench")?;
    let skills = (0..SKILLS).map(|n| skill(n, &package)).collect::<Result<Vec<_>, _>>()?;
    let now = Situation { agent: AppId::new("ai-echo")?, affordances: BTreeSet::new() };
    let rows = |skills: &[Guidance]| -> Result<usize, Box<dyn Error>> {
        let mut k = Kernel::new();
        k.put_package(package.clone(), "Bench", PackageState::Present { enabled: true }, Digest::of(b"bench"))?;
        for s in skills {
            k.put_guidance(s.clone())?;
        }
        Ok(Catalog::project(&k, &now).rows.len())
    };
    if rows(&skills)? != SKILLS {
        return Err("not every skill became a row".into());
    }
    let mut case = Case::new("1,000 skills");
    for _ in 0..ROUNDS {
        case.round(
            || rows(&skills).ok(),
            || skills.iter().map(|s| (s.id.to_string(), s.clone())).collect::<BTreeMap<_, _>>(),
        );
    }
    figure::report("1,000 registrations, one projection", BUDGET, "a map with the same names", vec![case]);
    Ok(())
}
