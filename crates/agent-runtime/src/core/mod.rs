//! Foundations (contracts.md §1.0): identities, counters, time passed in, and the one encoding
//! that is used for storage, digests and wire.

mod chain;
mod codec;
mod ids;
mod producer;
mod time;

pub use chain::Chain;
pub use codec::{CodecRefusal, SchemaTag, decode, digest_of, encode};
pub use ids::{ActiveRoot, EventId, Gen, IdRefusal, Overflow, ProjectId, Rev, Seq, SessionId, TaskId, TraceId};
pub use producer::{Evidence, Producer, independent};
pub use time::{BootId, ClockAnomaly, Elapsed, Instant, TimeBasis, elapsed};
