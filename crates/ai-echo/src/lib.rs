//! AI Echo.
pub mod markdown;
pub mod tools;
