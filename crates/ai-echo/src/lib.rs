//! AI Echo.
pub mod markdown;
pub mod tools;
pub mod turn;
