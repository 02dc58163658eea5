//! What is kept: one IndexedDB database, opened in this module and nowhere else.
//!
//! A write has succeeded when its transaction says `complete`, not before. Every operation
//! begins at the call and not at the first poll, so operations on the same records end in the
//! order in which they were asked for, and what a `versionchange` still has to save is on its way
//! before the connection closes (`field_10h4`).

mod db;
mod error;
mod key;
pub mod locks;
mod records;

pub use db::{Commit, NAME, News, Storage, VERSION, Write};
pub use error::StorageError;
pub(crate) use error::words_of;
pub use key::{Key, Store};
pub use records::writes;
