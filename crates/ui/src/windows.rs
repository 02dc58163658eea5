//! Windows: where they are, which is on top, and how they move. Pure geometry.

use scene::{Point, Rect, Size};

/// Smallest size a window is resized to.
pub const MIN: Size = Size::new(320.0, 240.0);
/// Most windows at a time.
pub const WINDOWS_MAX: usize = 16;

/// How a window fills the desk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Fill {
    #[default]
    Free,
    Left,
    Right,
    All,
}

/// One window of an app `K`.
#[derive(Clone, Debug, PartialEq)]
pub struct Window<K> {
    /// What it shows.
    pub key: K,
    /// Where it is when free.
    pub free: Rect,
    /// How it fills.
    pub fill: Fill,
}

/// Windows, the last one on top.
#[derive(Clone, Debug, PartialEq)]
pub struct Windows<K> {
    stack: Vec<Window<K>>,
    desk: Rect,
    single: bool,
}

impl<K: Copy + PartialEq> Windows<K> {
    /// No window on a desk.
    #[must_use]
    pub fn new(desk: Rect) -> Self {
        Self { stack: vec![], desk, single: false }
    }
    /// The desk changed; with `single` the top window fills it and the rest wait.
    pub fn set_desk(&mut self, desk: Rect, single: bool) {
        self.desk = desk;
        self.single = single;
        for w in &mut self.stack {
            w.free = fit(w.free, &desk);
        }
    }
    /// Opens a window of a size, or brings the open one to the top. False when there are
    /// [`WINDOWS_MAX`] already.
    pub fn open(&mut self, key: K, size: Size) -> bool {
        if self.focus(key) {
            return true;
        }
        if self.stack.len() >= WINDOWS_MAX {
            return false;
        }
        let d = self.desk;
        // Cascades, so that a new window does not hide the title of the last.
        let step = 28.0 * (self.stack.len() % 6) as f32;
        let at = Point::new(d.x + (d.w - size.w) / 2.0 + step, d.y + (d.h - size.h) / 2.0 + step);
        let free = fit(Rect::new(at.x.round(), at.y.round(), size.w, size.h), &d);
        self.stack.push(Window { key, free, fill: Fill::Free });
        true
    }
    /// Closes a window.
    pub fn close(&mut self, key: K) {
        self.stack.retain(|w| w.key != key);
    }
    /// Brings a window to the top; false when it is not open.
    pub fn focus(&mut self, key: K) -> bool {
        let Some(i) = self.stack.iter().position(|w| w.key == key) else { return false };
        let w = self.stack.remove(i);
        self.stack.push(w);
        true
    }
    /// The window on top.
    #[must_use]
    pub fn top(&self) -> Option<K> {
        self.stack.last().map(|w| w.key)
    }
    /// Whether a window is open.
    #[must_use]
    pub fn is_open(&self, key: K) -> bool {
        self.stack.iter().any(|w| w.key == key)
    }
    /// The next window (or the one before) in a fixed round comes to the top (decision 22).
    pub fn cycle(&mut self, back: bool) {
        if self.stack.len() < 2 {
            return;
        }
        if back {
            self.stack.rotate_right(1);
        } else {
            self.stack.rotate_left(1);
        }
    }
    /// Windows to draw, back to front, with their rectangles.
    pub fn shown(&self) -> impl Iterator<Item = (K, Rect)> + '_ {
        let skip = if self.single { self.stack.len().saturating_sub(1) } else { 0 };
        self.stack.iter().skip(skip).map(|w| (w.key, self.rect(w)))
    }
    /// A window's rectangle now.
    #[must_use]
    pub fn rect_of(&self, key: K) -> Option<Rect> {
        self.stack.iter().find(|w| w.key == key).map(|w| self.rect(w))
    }
    /// How a window fills the desk now.
    #[must_use]
    pub fn fill_of(&self, key: K) -> Fill {
        self.stack.iter().find(|w| w.key == key).map_or(Fill::Free, |w| w.fill)
    }
    fn rect(&self, w: &Window<K>) -> Rect {
        match w.fill {
            _ if self.single => self.desk,
            Fill::Free => w.free,
            fill => filled(self.desk, fill),
        }
    }
    fn with(&mut self, key: K, change: impl FnOnce(&mut Window<K>, &Rect)) {
        let d = self.desk;
        if let Some(w) = self.stack.iter_mut().find(|w| w.key == key) {
            change(w, &d);
        }
    }
    /// Moves; a filled window is freed first and stays under the pointer.
    pub fn move_by(&mut self, key: K, by: Point, at: Point) {
        let now = self.rect_of(key);
        self.with(key, |w, d| {
            if w.fill != Fill::Free {
                let full = now.unwrap_or(w.free);
                let share = ((at.x - full.x) / full.w.max(1.0)).clamp(0.1, 0.9);
                w.free.x = at.x - w.free.w * share;
                w.free.y = full.y;
                w.fill = Fill::Free;
            }
            let r = w.free.shift(by.x, by.y);
            // The title stays reachable.
            let x = r.x.clamp(d.x - r.w + 96.0, (d.right() - 96.0).max(d.x));
            w.free = Rect { x, y: r.y.clamp(d.y, (d.bottom() - 40.0).max(d.y)), ..r };
        });
    }
    /// Resizes from the lower right corner.
    pub fn resize_by(&mut self, key: K, by: Point) {
        let now = self.rect_of(key);
        self.with(key, |w, d| {
            let r = now.unwrap_or(w.free);
            w.fill = Fill::Free;
            let wide = (r.w + by.x).clamp(MIN.w.min(d.w), (d.right() - r.x).max(MIN.w.min(d.w)));
            let high = (r.h + by.y).clamp(MIN.h.min(d.h), (d.bottom() - r.y).max(MIN.h.min(d.h)));
            w.free = Rect { w: wide, h: high, ..r };
        });
    }
    /// Fills the desk, a half of it, or is free again; asking for the same twice frees.
    pub fn fill(&mut self, key: K, fill: Fill) {
        self.with(key, |w, _| w.fill = if w.fill == fill { Fill::Free } else { fill });
    }
    /// Snaps a window that was dropped at an edge of the desk.
    pub fn drop_at(&mut self, key: K, at: Point) {
        if let Some(edge) = edge_at(self.desk, at) {
            self.with(key, |w, _| w.fill = edge);
        }
    }
    /// Where a window that is dropped here would snap to.
    #[must_use]
    pub fn snap_at(&self, at: Point) -> Option<Rect> {
        edge_at(self.desk, at).map(|edge| filled(self.desk, edge))
    }
}

/// What a window fills that is dropped here, at an edge of the desk.
fn edge_at(d: Rect, at: Point) -> Option<Fill> {
    if at.x <= d.x + 8.0 {
        Some(Fill::Left)
    } else if at.x >= d.right() - 8.0 {
        Some(Fill::Right)
    } else {
        (at.y <= d.y + 2.0).then_some(Fill::All)
    }
}

/// The part of the desk that a filled window takes.
fn filled(d: Rect, fill: Fill) -> Rect {
    let half = (d.w / 2.0).round();
    match fill {
        Fill::Free | Fill::All => d,
        Fill::Left => Rect::new(d.x, d.y, half, d.h),
        Fill::Right => Rect::new(d.x + half, d.y, d.w - half, d.h),
    }
}

fn fit(r: Rect, d: &Rect) -> Rect {
    let (w, h) = (r.w.min(d.w), r.h.min(d.h));
    let x = r.x.clamp(d.x, (d.right() - w).max(d.x));
    Rect::new(x, r.y.clamp(d.y, (d.bottom() - h).max(d.y)), w, h)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESK: Rect = Rect::new(0.0, 40.0, 1280.0, 760.0);

    fn three() -> Windows<u8> {
        let mut w = Windows::new(DESK);
        for k in 1..=3 {
            assert!(w.open(k, Size::new(600.0, 400.0)));
        }
        w
    }

    #[test]
    fn f6_goes_round_all_windows_and_back() {
        let mut w = three();
        let seen: Vec<_> = (0..3)
            .map(|_| {
                w.cycle(false);
                w.top().expect("top")
            })
            .collect();
        assert_eq!(seen, [1, 2, 3]);
        w.cycle(true);
        assert_eq!(w.top(), Some(2));
    }

    #[test]
    fn a_window_never_leaves_the_desk_whatever_is_done_to_it() {
        let mut w = three();
        for by in [(-5000.0, 0.0), (0.0, -5000.0), (5000.0, 5000.0)] {
            w.move_by(2, Point::new(by.0, by.1), Point::default());
            let seen = w.rect_of(2).expect("open").intersect(&DESK);
            assert!(seen.w >= 96.0 && seen.h >= 40.0, "{by:?} {seen:?}");
        }
        w.resize_by(1, Point::new(-9000.0, -9000.0));
        assert_eq!(w.rect_of(1).map(|r| (r.w, r.h)), Some((MIN.w, MIN.h)));
        w.set_desk(Rect::new(0.0, 0.0, 390.0, 844.0), true);
        assert_eq!(w.shown().collect::<Vec<_>>(), [(3, Rect::new(0.0, 0.0, 390.0, 844.0))]);
    }

    #[test]
    fn halves_fill_and_free_again() {
        let mut w = three();
        let free = w.rect_of(3);
        w.fill(3, Fill::Left);
        assert_eq!(w.rect_of(3).map(|r| r.w), Some(640.0));
        w.fill(3, Fill::Left);
        assert_eq!(w.rect_of(3), free);
        let edge = Point::new(1279.0, 300.0);
        let shown = w.snap_at(edge);
        w.drop_at(3, edge);
        assert_eq!(w.rect_of(3), shown, "where it goes was shown before");
        assert_eq!(w.snap_at(Point::new(600.0, 300.0)), None);
        assert_eq!(w.fill_of(3), Fill::Right);
    }

    #[test]
    fn there_is_a_bound_and_opening_twice_is_once() {
        let mut w = Windows::new(DESK);
        for k in 0..WINDOWS_MAX {
            assert!(w.open(k, MIN));
        }
        assert!(!w.open(99, MIN));
        assert!(w.open(0, MIN));
        assert_eq!(w.top(), Some(0));
    }
}
