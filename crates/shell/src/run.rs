//! The loop.

/// Starts it.
pub fn start(_mint: kernel::authority::GestureMint) {}
