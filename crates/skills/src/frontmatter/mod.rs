//! Frontmatter: whole-line fences, and between them the YAML subset of decision 15 with the place
//! of everything.
//!
//! Two steps, so that neither guesses for the other: [`fence::split`] finds the two `---` lines in
//! the file's text, [`yaml::read`] makes a tree of what is between them. Both are total functions
//! over any text; what a reader cannot take is a fault with a line and a column.

pub mod fence;
pub mod repair;
pub mod yaml;
