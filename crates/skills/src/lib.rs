//! SKILL.md packages (engine.md §2.5), the activation engine and the guidance faculties
//! (engine.md §2.3, §2.4), and one substituter of arguments for every door.
//!
//! The one design choice: a skill is text, and text gets into a turn only as a value that says why
//! it may. [`packages::Activated`] says that these are the exact bytes that were found and checked,
//! [`packages::review::Admitted`] that a person approved exactly these; the engine says what in the
//! objective asked for it. Each is made in one place, and none of them carries a right: what a
//! package asks for stays a hint (I-132), what it says about hooks, tools or other files stays
//! words. So a broken, changed, hidden-in or merely mentioned skill has no way in, and everything
//! that was refused can say which of its bytes was the reason.

pub mod arguments;
pub mod commands;
pub mod diagnostic;
pub mod engine;
pub mod faculty;
pub mod frontmatter;
pub mod hidden;
pub mod packages;
