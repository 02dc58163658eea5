//! The one substituter of arguments, for every door: palette, ACP, AG-UI, OpenCode.
//!
//! A template is cut into parts once; filling it joins the parts. Inserted text is never looked at
//! again, so an argument that reads `$1` stays `$1` (`field_3h5`). What a template
//! lacks is an error the person sees, never a guess.

mod schema;
mod template;
mod words;

#[cfg(test)]
mod tests;

use kernel::Refusal;

pub use schema::ArgumentSchema;
pub use template::{Dialect, Filled, Slot, Template};
pub use words::{Word, split};

/// Longest template, in bytes.
pub const TEMPLATE_MAX: usize = 64 * 1024;
/// Longest line of arguments, in bytes: the task text of engine.md §2.12.
pub const LINE_MAX: usize = 8 * 1024;
/// Most arguments of a line.
pub const WORDS_MAX: usize = 64;
/// Most named arguments of a template.
pub const NAMES_MAX: usize = 32;
/// Most placeholders of a template.
pub const PLACEHOLDERS_MAX: usize = 512;
/// Longest filled template, in bytes.
pub const FILLED_MAX: usize = 256 * 1024;

/// Where a source format begins to count (spec/skills.md §1.9): `$1` is the second argument of a
/// Claude command file, and the first everywhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexBase {
    /// `$0` is the first.
    Zero,
    /// `$1` is the first.
    One,
}

/// What an argument line or a template was refused for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentRefusal {
    /// A quotation mark opens and nothing closes it.
    #[error("the quotation mark {mark} at character {column} is not closed")]
    UnclosedQuote {
        /// The mark.
        mark: char,
        /// Its place in the line, in characters from 1.
        column: usize,
    },
    /// The template asks for an argument that was not given.
    #[error("the argument {slot} is missing")]
    Missing {
        /// As the template names it.
        slot: String,
    },
    /// More arguments than the template has a place for.
    #[error(
        "{given} arguments were given and the template has a place for {places}; words that belong together need quotation marks"
    )]
    Unused {
        /// Given.
        given: usize,
        /// Places.
        places: usize,
    },
    /// Over a bound.
    #[error("{what} has {there} {unit}, at most {most} are allowed")]
    TooLong {
        /// What.
        what: &'static str,
        /// Of what.
        unit: &'static str,
        /// Measured.
        there: usize,
        /// Allowed.
        most: usize,
    },
    /// The arguments are not what the schema declares.
    #[error("{pointer}: expected {expected}, there is {observed}")]
    Schema {
        /// Which argument.
        pointer: String,
        /// What it should be.
        expected: String,
        /// What it is.
        observed: String,
    },
}

impl ArgumentRefusal {
    /// The variant's name for people and traces.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnclosedQuote { .. } => "ArgumentUnclosedQuote",
            Self::Missing { .. } => "ArgumentMissing",
            Self::Unused { .. } => "ArgumentUnused",
            Self::TooLong { .. } => "ArgumentTooLong",
            Self::Schema { .. } => "ArgumentSchema",
        }
    }
}

impl From<ArgumentRefusal> for Refusal {
    fn from(e: ArgumentRefusal) -> Self {
        let expected = match &e {
            ArgumentRefusal::UnclosedQuote { mark, .. } => format!("a closing {mark}"),
            ArgumentRefusal::Missing { slot } => format!("a value for {slot}"),
            ArgumentRefusal::Unused { places, .. } => format!("at most {places} arguments"),
            ArgumentRefusal::TooLong { most, unit, .. } => format!("at most {most} {unit}"),
            ArgumentRefusal::Schema { expected, .. } => expected.clone(),
        };
        Self::new(e.code(), "the arguments", &expected, &e.to_string())
    }
}

fn bound(what: &'static str, unit: &'static str, there: usize, most: usize) -> Result<(), ArgumentRefusal> {
    if there > most { Err(ArgumentRefusal::TooLong { what, unit, there, most }) } else { Ok(()) }
}
