//! The toolkit: view state becomes a display list and a semantics tree.
//!
//! The one design choice: a frame is painted whole from the state, and one call draws a
//! control, says it to the accessibility mirror, registers its press and its place in the Tab
//! order ([`Frame::control`]). There is no widget tree that could disagree with the state, and
//! no second list for the mirror. What the owner keeps between frames is small and plain: text
//! fields, scroll positions, windows, and the finished [`Painted`] frame that input is tested
//! against. Passes run in order: event ([`event`], [`press`]) → the owner's update → layout and
//! paint ([`Frame`]) → semantics, said while painting. Shaping is cached by the text engine and
//! pixels by the compositor's layers, so painting whole costs little.

pub mod event;
pub mod field;
mod frame;
pub mod icons;
pub mod press;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
pub mod theme;
pub mod widgets;
pub mod windows;

pub use field::Field;
pub use frame::{Attention, Control, Cursor, FieldGeom, Frame, Hit, Look, Painted, ScrollGeom, TextGeom};
pub use icons::Icon;
pub use theme::{Measures, Theme};
