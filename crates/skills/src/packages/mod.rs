//! SKILL.md packages: what a file says, which of several files wins a name, and whether a person
//! has read exactly these bytes.
//!
//! From the disk into a turn a package takes five steps, each in its room: [`Discovery`] finds
//! files, [`inspect`] gives each its verdict and its diagnostics, [`Packages`] decides who has a
//! name, [`Activation`] reads that one again, [`review`] lets it in. None of the first four knows
//! the last; all that read are steppers ([`kernel::mount`]), so the same code runs in the browser,
//! natively and in tests.

mod activate;
pub mod bounds;
pub mod corpus;
pub mod depends;
mod discover;
mod inspect;
mod manifest;
mod normal;
mod resolve;
pub mod resources;
pub mod review;
mod root;
#[cfg(test)]
mod tests;
mod told;
pub mod version;
pub mod watch;

pub use activate::{Activated, Activation, Provenance, Reread};
pub use discover::{Discovery, FILE, Found, Standing};
pub use inspect::{Inspection, Verdict, inspect};
pub use manifest::{FIELDS, Manifest, name_fault, tokens};
pub use normal::{NormalCopy, NormalRefusal, PortableText, normal_copy, portable_text};
pub use resolve::{CatalogEntry, Changes, PackageRefusal, Packages, Told};
pub use root::{Root, RootScan, unsafe_name};
pub use told::ToldBook;
