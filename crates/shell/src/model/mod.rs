//! Who answers: the on-device worker, and servers by fetch.

pub mod fetch;
pub mod worker;
