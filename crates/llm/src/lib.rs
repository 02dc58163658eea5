//! The model that runs on the person's own machine: GGUF in, text out, in a worker, on the CPU, without a dependency.
//!
//! **The one choice that explains the rest:** a small model is bound by how fast its weights can be read and
//! multiplied, and a page is bound by what it must download. So the engine is built around one packed weight layout
//! ([`kernels`]) that every instruction set reads the same way, made in place from the file so that no second copy
//! exists, and around nothing else: fifty kilobytes of WebAssembly instead of megabytes, several times faster than
//! general engines on the same file. Everything above the kernels is plain: a forward pass over a cache of token ids
//! ([`forward`]), a [`session`] that steps through prompt and answer so that its caller can stop between any two
//! steps, scoring of candidates ([`score`]) and a byte automaton ([`constrain`]) for answers that must have a form.
//!
//! What it must never know: chats' meaning, tools, the DOM, the clock, the network. [`port`] carries bytes in and out
//! for `web/llm-worker.js`; the protocol of that worker is written at the top of its file.
//!
//! Files are not trusted: every size is checked before use, every refusal is typed, and no input panics. Text is not
//! trusted either: [`tokenizer`] never makes a control token from text.

#[cfg(target_arch = "wasm32")]
mod abi;
pub mod chat;
pub mod constrain;
mod error;
pub mod forward;
pub mod gguf;
mod half;
pub mod kernels;
mod math;
pub mod model;
pub mod port;
pub mod sample;
pub mod score;
pub mod session;
pub mod sha256;
pub mod stream;
pub mod tokenizer;

pub use chat::{MEASURED_PENALTY, MEASURED_SYSTEM, Message};
pub use error::{LoadError, Refusal, RunError};
pub use kernels::Kernel;
pub use sample::Sampling;
pub use score::{Score, ScoreStep};
pub use session::{Reason, Session, Step, Usage};
