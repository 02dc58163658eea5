//! A frame as plain data: what to draw and what it means.
//!
//! The one design choice: a view produces two faces of one thing, a [`DisplayList`] for the
//! compositor and a [`Semantics`] tree for the accessibility mirror, and neither knows who
//! reads it. Everything here is a value that can be compared, hashed and printed, so a test
//! can look at a frame without a GPU or a browser. All lengths are logical (CSS) pixels.

mod display;
mod geometry;
mod semantics;

pub use display::{BlockId, Border, DisplayList, Image, ImageId, Item, Layer, LayerId, Quad, Shadow, TextRun};
pub use geometry::{Point, Radii, Rect, Rgba, Size};
pub use semantics::{Live, Node, NodeId, Patch, Role, Semantics, State};
