//! SKILL.md packages (engine.md §2.5), the activation engine and the guidance faculties
//! (engine.md §2.3, §2.4), and one substituter of arguments for every door.

pub mod arguments;
pub mod commands;
pub mod diagnostic;
pub mod engine;
pub mod faculty;
pub mod frontmatter;
pub mod hidden;
pub mod packages;
