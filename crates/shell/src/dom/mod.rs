//! The DOM bridge: events in, attributes out.

pub mod bindings;
pub mod env;
pub mod events;
pub mod focus;
pub mod input;
pub mod keys;
pub mod listen;
pub mod trust;

use web_sys::{Document, Window};

/// The window. A page without one is not a page.
#[must_use]
pub fn window() -> Window {
    #[allow(clippy::expect_used)] // the shell runs in pages only
    web_sys::window().expect("a page has a window")
}

/// The document.
#[must_use]
pub fn document() -> Document {
    #[allow(clippy::expect_used)]
    window().document().expect("a page has a document")
}

/// Milliseconds of the page's monotonic clock.
#[must_use]
pub fn now_ms() -> f64 {
    window().performance().map_or(0.0, |p| p.now())
}

/// The moment, as the kernel stamps it.
#[must_use]
pub fn instant() -> kernel::Instant {
    instant_at(now_ms())
}

/// A moment at a time of the monotonic clock (an event's own `timeStamp`).
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn instant_at(mono_ms: f64) -> kernel::Instant {
    let wall = js_sys::Date::now() - (now_ms() - mono_ms);
    kernel::Instant { wall_ms: wall as i64, mono_ms: mono_ms.max(0.0) as u64 }
}
