//! Points, rectangles and colours, in logical pixels and straight sRGB.

/// A position or an offset, in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Rightwards.
    pub x: f32,
    /// Downwards.
    pub y: f32,
}

impl Point {
    /// A point.
    #[must_use]
    pub const fn new(x: f32, y: f32) -> Self {
        Self { x, y }
    }
}

/// Width and height, in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Width.
    pub w: f32,
    /// Height.
    pub h: f32,
}

impl Size {
    /// A size.
    #[must_use]
    pub const fn new(w: f32, h: f32) -> Self {
        Self { w, h }
    }
}

/// An axis-aligned rectangle, in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f32,
    /// Top edge.
    pub y: f32,
    /// Width.
    pub w: f32,
    /// Height.
    pub h: f32,
}

impl Rect {
    /// A rectangle from its top left corner and its size.
    #[must_use]
    pub const fn new(x: f32, y: f32, w: f32, h: f32) -> Self {
        Self { x, y, w, h }
    }
    /// Right edge.
    #[must_use]
    pub fn right(&self) -> f32 {
        self.x + self.w
    }
    /// Bottom edge.
    #[must_use]
    pub fn bottom(&self) -> f32 {
        self.y + self.h
    }
    /// Top left corner.
    #[must_use]
    pub fn origin(&self) -> Point {
        Point::new(self.x, self.y)
    }
    /// True when `p` lies inside (right and bottom edges excluded).
    #[must_use]
    pub fn contains(&self, p: Point) -> bool {
        p.x >= self.x && p.y >= self.y && p.x < self.right() && p.y < self.bottom()
    }
    /// The same rectangle with `dx` and `dy` taken off each side; never negative.
    #[must_use]
    pub fn inset(&self, dx: f32, dy: f32) -> Self {
        Self::new(self.x + dx, self.y + dy, (self.w - 2.0 * dx).max(0.0), (self.h - 2.0 * dy).max(0.0))
    }
    /// Moved by an offset.
    #[must_use]
    pub fn shift(&self, dx: f32, dy: f32) -> Self {
        Self::new(self.x + dx, self.y + dy, self.w, self.h)
    }
    /// The common part; empty (zero size) when there is none.
    #[must_use]
    pub fn intersect(&self, o: &Self) -> Self {
        let (x, y) = (self.x.max(o.x), self.y.max(o.y));
        Self::new(x, y, (self.right().min(o.right()) - x).max(0.0), (self.bottom().min(o.bottom()) - y).max(0.0))
    }
    /// The smallest rectangle that holds both.
    #[must_use]
    pub fn union(&self, o: &Self) -> Self {
        let (x, y) = (self.x.min(o.x), self.y.min(o.y));
        Self::new(x, y, self.right().max(o.right()) - x, self.bottom().max(o.bottom()) - y)
    }
    /// True when it covers nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.w <= 0.0 || self.h <= 0.0
    }
}

/// A colour in straight (not premultiplied) 8-bit sRGB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rgba {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
    /// Alpha.
    pub a: u8,
}

impl Rgba {
    /// Nothing.
    pub const CLEAR: Self = Self { r: 0, g: 0, b: 0, a: 0 };

    /// An opaque colour from `0xRRGGBB`.
    #[must_use]
    pub const fn hex(v: u32) -> Self {
        let [_, r, g, b] = v.to_be_bytes();
        Self { r, g, b, a: 255 }
    }
    /// The same colour with another alpha, 0 to 1.
    #[must_use]
    pub fn alpha(self, a: f32) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Self { a: (a.clamp(0.0, 1.0) * 255.0).round() as u8, ..self }
    }
    /// Each channel as 0 to 1.
    #[must_use]
    pub fn to_f32(self) -> [f32; 4] {
        [self.r, self.g, self.b, self.a].map(|c| f32::from(c) / 255.0)
    }
    /// Relative luminance of the opaque colour (WCAG 2.2).
    #[must_use]
    pub fn luminance(self) -> f32 {
        let lin = |c: u8| {
            let c = f32::from(c) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * lin(self.r) + 0.7152 * lin(self.g) + 0.0722 * lin(self.b)
    }
    /// Contrast ratio against another opaque colour, 1 to 21 (WCAG 2.2).
    #[must_use]
    pub fn contrast(self, o: Self) -> f32 {
        let (a, b) = (self.luminance(), o.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }
}

/// Corner radii: top left, top right, bottom right, bottom left, in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Radii(pub [f32; 4]);

impl From<f32> for Radii {
    fn from(r: f32) -> Self {
        Self([r; 4])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_meet_and_join() {
        let (a, b) = (Rect::new(0.0, 0.0, 10.0, 10.0), Rect::new(5.0, 5.0, 10.0, 10.0));
        assert_eq!(a.intersect(&b), Rect::new(5.0, 5.0, 5.0, 5.0));
        assert_eq!(a.union(&b), Rect::new(0.0, 0.0, 15.0, 15.0));
        assert!(a.intersect(&Rect::new(20.0, 0.0, 5.0, 5.0)).is_empty());
        assert!(a.contains(Point::new(0.0, 9.9)) && !a.contains(Point::new(10.0, 0.0)));
    }

    #[test]
    fn contrast_of_black_and_white_is_21() {
        assert!((Rgba::hex(0).contrast(Rgba::hex(0xff_ff_ff)) - 21.0).abs() < 0.01);
    }
}
