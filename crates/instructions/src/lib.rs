//! Workspace conventions: which instruction files apply to a task, in which order, how much of
//! each, and why (engine.md §2.2).
//!
//! The one design choice: an instruction file is evidence with a scope, and every doubt about
//! its scope is decided against it. A rule whose frontmatter is empty, misspelt or not
//! understood does not apply, and says so; a file that is cut says so in its text; a name in the
//! wrong case is named and not read; a link, an import or an address is never followed. So what
//! a model is told is never more than somebody meant, and whatever is missing can be asked for:
//! [`ConventionSet::why`] answers for each file, [`ConventionSet::left_out`] for the rest.
//!
//! [`Targets`] settles what the task is about before anything is opened; [`Loader`] is a stepper
//! that asks for listings and reads and performs none; [`ConventionSet`] is what comes out.
//! Folders are listed from the root down rather than guessed at, because only a listing shows a
//! name as it stands on the disk and a link as a link.

pub mod bounds;
mod budget;
mod evidence;
pub mod family;
pub mod front;
pub mod glob;
mod imports;
mod load;
pub mod scope;
mod set;
mod target;
mod text;

pub use family::{Dialect, Family};
pub use load::{Limits, Loader, load};
pub use set::{Answer, Because, Block, ConventionSet, Match, Omission, OrderKey, Projection, Provenance, Reason};
pub use target::{LoadError, Targets};
