//! AI Echo: the agent that works in the mounted folder.
pub mod conversation;
pub mod guidance;
pub mod local;
pub mod markdown;
pub mod prompt;
mod protocol;
pub mod register;
pub mod tools;
pub mod turn;

pub use protocol::{Effect, FsId, Msg, Submission};
