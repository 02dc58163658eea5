//! AI Echo.
pub mod markdown;
