//! The screens: AI Echo, Files, Settings, Instructions, Skills, and the desktop that holds them.
//!
//! The one design choice: [`desktop::Desktop`] is the whole state of what a person sees, and
//! it changes in one function, [`desktop::Desktop::update`]. What happened comes in as a
//! [`desktop::Msg`], with proof of trust where it acts; what is to be done goes out as a list
//! of [`desktop::Effect`]; what is seen, said and pressed is one [`desktop::View`] painted from
//! the state. Nothing here knows a browser, a GPU or a disk, so a test types, clicks and reads
//! the screen in milliseconds. Every app, action, view and command is registered in the kernel
//! ([`catalogue`]); launcher and palette are projections of it.

pub mod agent;
pub mod catalogue;
pub mod desktop;
mod echo;
mod files;
mod instructions;
mod settings;
mod skills;
pub mod status;

pub use agent::{Agent, Review};
