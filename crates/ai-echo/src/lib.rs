//! AI Echo: the agent that works in the mounted folder, with the model that ships or one you
//! connect.
//!
//! The one choice that explains the rest: nothing here acts. [`update`] takes a [`Msg`], the time
//! and the kernel, changes [`Echo`], and returns [`Effect`]s for somebody else to perform. A turn
//! is a machine ([`turn`]), a tool is a stepper that only asks for bytes ([`tools`]), a model is a
//! question with a run id ([`models`]), storage is one port ([`conversation::StoreOp`]). So every
//! order of events, a stop in every phase and every lost answer is a native test.
//!
//! How it is driven: call [`Echo::start`] and perform its effect; send every edit of a composer
//! as [`Msg::DraftChanged`], and what the slash machine let through as [`Msg::Submit`] (the draft
//! is emptied in that step, so a second Enter finds nothing). Perform each effect once and answer
//! it with the message that it names. For each of [`Echo::reviews`] show a card, make the
//! kernel's `ShownReview` from its `digest`, and send [`Msg::Approve`] with the `Confirmation`
//! that a trusted act on that very card gives. Nothing is retried by itself, and nobody but the
//! person changes which model answers.
//!
//! What a model, a file or a tool says is data: it is framed, bounded and shown, and has no path
//! to a grant, a confirmation or another tool.

pub mod conventions;
pub mod conversation;
mod echo;
pub mod guidance;
pub mod library;
pub mod local;
pub mod markdown;
pub mod prompt;
mod protocol;
pub mod register;
pub mod tools;
pub mod trial;
pub mod turn;

pub use echo::{Echo, OpenReview, update};
pub use library::Library;
pub use protocol::{Effect, FsId, Msg, Submission};
