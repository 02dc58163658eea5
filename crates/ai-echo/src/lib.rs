//! AI Echo: the agent that works in the mounted folder.
pub mod conversation;
pub mod local;
pub mod markdown;
mod protocol;
pub mod tools;
pub mod turn;

pub use protocol::{Effect, FsId, Msg, Submission};
