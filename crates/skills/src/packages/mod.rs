//! SKILL.md packages: what a file says, which of several files wins a name, and whether a person
//! has read exactly these bytes.

pub mod bounds;
mod inspect;
mod manifest;
#[cfg(test)]
mod tests;

pub use inspect::{Inspection, Verdict, inspect};
pub use manifest::{FIELDS, Manifest, name_fault, tokens};
