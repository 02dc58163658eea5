//! Planning for the on-device model (decision 19, spec/inference.md §3).
//!
//! A model of this size fills one argument from a few candidates well and chooses tools badly, so
//! rules decide whether a tool is offered at all, candidates are spans of the person's words and
//! names that exist, and the model at most ranks them. What a tool found is quoted, not retold.

mod answer;
mod fill;
mod rules;
mod spans;
#[cfg(test)]
mod tests;

pub use answer::answer;
pub use fill::{Fill, Filled};
pub use rules::tool_for;
pub use spans::{Quoted, path_shaped, quoted};

/// An app that can be opened, as the planner knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppName {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
}
