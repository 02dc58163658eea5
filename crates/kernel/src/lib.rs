//! The kernel: who may do what, and what there is to do.
//!
//! The one design choice: a right is a value that only one place can construct. Text,
//! metadata, page content and model output are plain data here; what acts takes a
//! [`authority::TrustedGesture`], a [`authority::TurnGrant`] or a
//! [`authority::Confirmation`] as a parameter, so the compiler shows who may act.
//! Everything is a pure function of its inputs: no clock, no randomness, no async, no web.

pub mod authority;
pub mod clip;
#[cfg(test)]
mod fixture;
pub mod ids;
pub mod json;
mod kernel;
pub mod mount;
pub mod refusal;
pub mod registry;
pub mod schema;
pub mod slash;
pub mod tools;

pub use ids::{
    ActionId, AppId, CallId, CommandName, ConversationId, Digest, IdError, Instant, MountId, OperationId, PackageId,
    Rev, SkillId, SurfaceId, ToolName, TurnKey,
};
pub use kernel::Kernel;
pub use refusal::{Refusal, RefusalRing};
