//! What is said to a model and what comes back, and how providers spell it.
//!
//! The one choice that explains the rest: this crate has no transport. It turns a
//! [`ModelRequest`] into the bytes of an HTTP request and turns bytes, cut anywhere, into
//! [`ModelEvent`]s; somebody else opens the socket or the worker. So a stream cut in the middle
//! of a character, a tool call without an id or an error inside a `200` is a unit test of
//! milliseconds, and the page, the host and the simulator decode with the same code.
//!
//! Every answer belongs to a [`RunId`]. A cancel names the run that it ends and dies with it, so a
//! late event can never touch the run after (field 6H4). Keys are a [`Secret`] that cannot
//! be printed and that is joined to a request only for the origin it was entered for.

mod error;
mod event;
pub mod openai;
mod provider;
mod request;

pub use error::{ModelError, ModelErrorKind};
pub use event::{FinishReason, ModelEvent, Usage};
pub use provider::{BaseUrl, ConfigError, HttpRequest, Origin, ProviderConfig, Secret};
pub use request::{Ask, Message, ModelRequest, Role, RunId, Sampling, ToolCallPart, ToolSpec};
