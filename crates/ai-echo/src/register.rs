//! What AI Echo puts into the kernel's registries: its package, its tools, its skills.

use std::collections::BTreeSet;

use kernel::registry::{Guidance, PackageState, Review};
use kernel::tools::{Danger, ToolClass, ToolSource};
use kernel::{AppId, Digest, IdError, Kernel, PackageId, Refusal, Rev, SkillId, ToolName};

use crate::guidance::BUILT_IN;
use crate::tools::{DEFINITIONS, Definition, Tool};

/// The package that owns AI Echo's tools and skills.
pub const PACKAGE: &str = "ai-echo";
/// The app that declares them; its entry is registered by `apps`.
pub const APP: &str = "ai-echo";
/// A folder is mounted for the turn.
pub const AFFORDANCE_MOUNT: &str = "a connected folder";
/// Reading the mounted folder.
pub const CAPABILITY_READ: &str = "workspace.read";
/// Proposing changes to the mounted folder.
pub const CAPABILITY_WRITE: &str = "workspace.write";

/// The app's id.
///
/// # Errors
/// Never for the constant; a test holds it.
pub fn app_id() -> Result<AppId, IdError> {
    AppId::new(APP)
}

/// The names of all built-in tools: what the app's entry declares that it uses.
pub fn tool_names() -> BTreeSet<ToolName> {
    DEFINITIONS.iter().filter_map(|definition| ToolName::new(definition.name).ok()).collect()
}

/// Registers package, tools and skills. The app's entry, with [`tool_names`], is `apps`' to add.
///
/// # Errors
/// What the kernel refuses.
pub fn register(kernel: &mut Kernel) -> Result<(), Refusal> {
    let package = PackageId::new(PACKAGE)?;
    let parts: Vec<&[u8]> = DEFINITIONS.iter().flat_map(|d| [d.name.as_bytes(), d.schema.as_bytes()]).collect();
    kernel.put_package(
        package.clone(),
        "AI Echo",
        PackageState::Present { enabled: true },
        Digest::of_parts(&parts),
    )?;
    // What lies in the mounted folder has an owner of its own, so that it can be switched off whole.
    let workspace = PackageId::new(crate::library::PACKAGE)?;
    kernel.put_package(workspace, "Workspace skills", PackageState::Present { enabled: true }, Digest::of(b""))?;
    for definition in &DEFINITIONS {
        kernel.put_tool(source(definition, &package)?)?;
    }
    for skill in &BUILT_IN {
        kernel.put_guidance(Guidance {
            id: SkillId::new(skill.id)?,
            package: package.clone(),
            title: skill.title.to_owned(),
            summary: skill.summary.to_owned(),
            enabled: true,
            problem: None,
            review: Review::BuiltIn,
            digest: skill.digest(),
            rev: Rev::default(),
        })?;
    }
    Ok(())
}

fn source(definition: &Definition, owner: &PackageId) -> Result<ToolSource, Refusal> {
    let in_files = definition.name.starts_with("files.");
    let class = match (definition.mutates, definition.tool) {
        (true, _) => ToolClass::Write,
        (false, Tool::CalculatorEvaluate | Tool::ClockNow) => ToolClass::Pure,
        (false, _) => ToolClass::Read,
    };
    let capability = if definition.mutates { CAPABILITY_WRITE } else { CAPABILITY_READ };
    let only_for_files = |text: &str| in_files.then(|| text.to_owned()).into_iter().collect();
    Ok(ToolSource {
        name: ToolName::new(definition.name)?,
        owner: owner.clone(),
        title: definition.title.to_owned(),
        description: definition.description.to_owned(),
        schema: definition.schema.to_owned(),
        class,
        danger: Danger::None,
        capabilities: only_for_files(capability),
        affordances: only_for_files(AFFORDANCE_MOUNT),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_registers_and_is_what_it_says() {
        let mut kernel = Kernel::new();
        register(&mut kernel).expect("registers");
        assert_eq!(kernel.tools().iter().count(), DEFINITIONS.len());
        for definition in &DEFINITIONS {
            let tool = kernel.tools().get(&ToolName::new(definition.name).expect("name")).expect("there");
            assert_eq!(tool.danger() > Danger::None, definition.mutates, "{}", definition.name);
        }
        for skill in &BUILT_IN {
            let there = kernel.guidance().get(&SkillId::new(skill.id).expect("id")).expect("there");
            assert!(there.is_reviewed() && there.digest == skill.digest());
            assert!(skill.body.len() <= crate::prompt::Budget::ON_DEVICE.skill, "fits the small model");
        }
        assert_eq!(tool_names().len(), DEFINITIONS.len());
        assert!(app_id().is_ok());
        register(&mut kernel).expect("a second time changes nothing that matters");
    }
}
