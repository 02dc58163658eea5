//! The browser: everything that awaits, listens or draws, and no rule.
//!
//! The one design choice: adapters are thin and turn around one loop. A DOM event is stamped
//! with its proof of trust in [`dom::trust`], becomes a message, goes through the one `update`
//! of `apps::desktop`, and the effects that come back are performed here and answered by
//! further messages. Nothing in this crate decides anything.

pub mod dom;
pub mod fallback;
pub mod mirror;
pub mod model;
pub mod mounts;
pub mod run;
pub mod storage;
