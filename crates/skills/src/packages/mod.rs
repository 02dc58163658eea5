//! SKILL.md packages: what a file says, which of several files wins a name, and whether a person
//! has read exactly these bytes.

mod activate;
pub mod bounds;
mod discover;
mod inspect;
mod manifest;
mod resolve;
mod root;
#[cfg(test)]
mod tests;
mod told;

pub use activate::{Activated, Activation, Provenance};
pub use discover::{Discovery, FILE, Found, Standing};
pub use inspect::{Inspection, Verdict, inspect};
pub use manifest::{FIELDS, Manifest, name_fault, tokens};
pub use resolve::{CatalogEntry, Changes, PackageRefusal, Packages, Told};
pub use root::{Root, RootScan, unsafe_name};
pub use told::ToldBook;
