//! The runtime contracts of a turn that can be trusted, as pure state machines (contracts.md).
//!
//! The one choice behind the rest: nothing here acts. A state and an input give the next state, or
//! a typed refusal and no change; time is part of the input. What may be written is a value that
//! only the store makes, and who may write is a value that only a read-back makes. So the same code
//! runs in the browser, in the host, in the simulator and in the model checker, and what is derived
//! (a suspicion, a card, a projection) is never stored, because what is stored can be wrong.

pub mod completeness;
pub mod context;
pub mod core;
pub mod gate;
pub mod liveness;
pub mod operation;
mod refuse;
pub mod rehydrate;
pub mod roles;
pub mod route;
pub mod surface;
pub mod terminal;
#[cfg(test)]
mod testkit;
pub mod trace;
