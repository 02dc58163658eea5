//! Text: shaping, metrics and hit tests over cosmic-text, and the model of an editable field.
//!
//! The one design choice: text is shaped in physical pixels, one block (a paragraph, a line of
//! code) at a time, and a block's number stands for everything that shaped it. So it is
//! crisp at any scale, an unchanged block is never shaped twice, and a display list holds a
//! number instead of glyphs. Graphemes that no bundled font has become *cells*: their room is
//! measured by whoever can (the browser's own fonts), kept free in the line, and drawn from a
//! bitmap. Offsets in this crate's interface are always bytes of the caller's text.

mod cells;
pub mod edit;
mod engine;

pub use cells::{Cell, FallbackMeasure, RUN_MAX};

pub use edit::EditBuffer;
pub use engine::{Affinity, BlockSpec, Family, FontError, Glyph, Hit, Span, TextEngine, TextStyle, Wrap};

pub use cosmic_text::CacheKey;
