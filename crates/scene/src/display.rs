//! The display list: layers of quads, text runs and images, back to front.

use crate::{Point, Radii, Rect, Rgba};

/// A block of shaped text, as the text engine numbers it: a number is used for one text only, so
/// equal lists draw equal pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u64);

/// A picture known to the compositor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageId(pub u64);

/// A layer that keeps its identity from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayerId(pub u64);

/// A border drawn inside the edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Border {
    /// Width.
    pub width: f32,
    /// Colour.
    pub color: Rgba,
}

/// A gaussian shadow under a quad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadow {
    /// Offset of the shadow from the quad.
    pub offset: Point,
    /// Blur radius (two standard deviations).
    pub blur: f32,
    /// Colour.
    pub color: Rgba,
}

/// A filled rectangle with rounded corners.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quad {
    /// Where.
    pub rect: Rect,
    /// Corners.
    pub radii: Radii,
    /// Inside.
    pub fill: Rgba,
    /// Edge.
    pub border: Border,
    /// Shadow, drawn first.
    pub shadow: Option<Shadow>,
}

/// A shaped block of text at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextRun {
    /// The block.
    pub block: BlockId,
    /// Its top left corner.
    pub origin: Point,
    /// Colour where the block's spans name none.
    pub color: Rgba,
}

/// A picture at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Image {
    /// Which.
    pub id: ImageId,
    /// Where.
    pub rect: Rect,
}

/// One thing to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item {
    /// A quad.
    Quad(Quad),
    /// Text.
    Text(TextRun),
    /// A picture.
    Image(Image),
    /// Everything until the matching [`Item::PopClip`] is cut to this rectangle.
    PushClip(Rect),
    /// Ends the innermost clip.
    PopClip,
}

/// Items that are drawn together and kept as one picture until one of them changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Identity.
    pub id: LayerId,
    /// Area it may draw to, shadows included.
    pub rect: Rect,
    /// What to draw, back to front.
    pub items: Vec<Item>,
}

impl Layer {
    /// An empty layer.
    #[must_use]
    pub fn new(id: LayerId, rect: Rect) -> Self {
        Self { id, rect, items: Vec::new() }
    }
}

/// A whole frame, layers back to front.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DisplayList {
    /// Colour behind everything.
    pub background: Rgba,
    /// Layers.
    pub layers: Vec<Layer>,
}
