//! The display list: layers of quads, text runs and images, back to front.

use crate::{Point, Radii, Rect, Rgba};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A block of shaped text, as the text engine numbers it.
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
    /// A digest of everything drawn: equal digests draw equal pixels.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut h = DefaultHasher::new();
        let mut f = |v: f32| v.to_bits().hash(&mut h);
        let mut rect = |r: &Rect| [r.x, r.y, r.w, r.h].into_iter().for_each(&mut f);
        rect(&self.rect);
        for i in &self.items {
            if let Item::Quad(Quad { rect: r, .. }) | Item::PushClip(r) | Item::Image(Image { rect: r, .. }) = i {
                rect(r);
            }
        }
        for i in &self.items {
            std::mem::discriminant(i).hash(&mut h);
            match i {
                Item::Quad(q) => {
                    q.radii.0.map(f32::to_bits).hash(&mut h);
                    (q.fill, q.border.width.to_bits(), q.border.color).hash(&mut h);
                    q.shadow.is_some().hash(&mut h);
                    if let Some(s) = &q.shadow {
                        (s.offset.x.to_bits(), s.offset.y.to_bits(), s.blur.to_bits(), s.color).hash(&mut h);
                    }
                }
                Item::Text(t) => (t.block, t.origin.x.to_bits(), t.origin.y.to_bits(), t.color).hash(&mut h),
                Item::Image(i) => i.id.hash(&mut h),
                Item::PushClip(_) | Item::PopClip => {}
            }
        }
        h.finish()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_digest_follows_every_field_it_draws() {
        let base = Quad { rect: Rect::new(0.0, 0.0, 8.0, 8.0), fill: Rgba::hex(0x10_20_30), ..Quad::default() };
        let layer = |q: Quad| {
            let mut l = Layer::new(LayerId(1), Rect::new(0.0, 0.0, 64.0, 64.0));
            l.items.push(Item::Quad(q));
            l.digest()
        };
        let same = layer(base);
        assert_eq!(same, layer(base));
        let shadow = Some(Shadow { offset: Point::new(0.0, 1.0), blur: 4.0, color: Rgba::hex(0) });
        for q in [
            Quad { fill: Rgba::hex(0x10_20_31), ..base },
            Quad { rect: base.rect.shift(0.5, 0.0), ..base },
            Quad { radii: 2.0.into(), ..base },
            Quad { border: Border { width: 1.0, color: Rgba::hex(0) }, ..base },
            Quad { shadow, ..base },
        ] {
            assert_ne!(same, layer(q));
        }
    }
}
