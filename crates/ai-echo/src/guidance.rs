//! The skills that ship with the product; their texts and their cases are `skills`'.

pub use skills::faculty::{BUILT_IN, BuiltIn};
