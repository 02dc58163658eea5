//! Geometry of laid-out blocks: glyphs, cells, carets, hits, ranges.

use super::{Glyph, TextEngine};
use crate::cells::{self, Cell};
use cosmic_text::{LayoutGlyph, LayoutRun};
use scene::{BlockId, Point, Rect, Rgba, Size};
use std::ops::Range;

/// Which side a caret at a soft wrap belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Affinity {
    /// The line that ends here.
    Before,
    /// The line that starts here.
    #[default]
    After,
}

/// A place for the caret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hit {
    /// Byte of the block's text.
    pub byte: usize,
    /// Side, at a soft wrap.
    pub affinity: Affinity,
}

impl TextEngine {
    /// Size in logical pixels; zero for an unknown block.
    #[must_use]
    pub fn size(&self, id: BlockId) -> Size {
        self.blocks.get(&id).map_or(Size::default(), |b| b.size)
    }

    /// Glyphs to draw at a physical origin, cells left out. Cached blocks only.
    pub fn glyphs(&self, id: BlockId, origin: (f32, f32), mut draw: impl FnMut(Glyph)) {
        let Some(b) = self.blocks.get(&id) else { return };
        for run in b.buffer.layout_runs() {
            for g in run.glyphs.iter().filter(|g| g.metadata == 0) {
                let p = g.physical((origin.0, origin.1 + run.line_y.round()), 1.0);
                let color = g.color_opt.map(|c| Rgba { r: c.r(), g: c.g(), b: c.b(), a: c.a() });
                draw(Glyph { key: p.cache_key, x: p.x, y: p.y, color });
            }
        }
    }

    /// Cells of a block.
    #[must_use]
    pub fn cells(&self, id: BlockId) -> Vec<Cell> {
        let Some(b) = self.blocks.get(&id) else { return vec![] };
        if b.cells.is_empty() {
            return vec![];
        }
        let s = self.scale;
        let mut out = Vec::new();
        for run in b.buffer.layout_runs() {
            for g in run.glyphs {
                let Some(c) = g.metadata.checked_sub(1).and_then(|i| b.cells.get(i)) else { continue };
                out.push(Cell {
                    text: c.text.clone(),
                    rect: Rect::new(g.x / s, run.line_top / s, g.w / s, run.line_height / s),
                    baseline: run.line_y / s,
                    size: c.size,
                    bold: c.bold,
                    color: c.color,
                });
            }
        }
        out
    }

    /// The caret before byte `byte`, one logical pixel wide, from the block's origin. At a soft
    /// wrap it stands at the start of the lower line.
    #[must_use]
    pub fn caret(&mut self, id: BlockId, byte: usize) -> Rect {
        self.caret_at(id, Hit { byte, affinity: Affinity::After })
    }

    /// The caret at a hit: its affinity tells the two places of a soft wrap apart.
    #[must_use]
    pub fn caret_at(&mut self, id: BlockId, Hit { byte, affinity }: Hit) -> Rect {
        let s = self.scale;
        let Some(b) = self.blocks.get(&id) else { return Rect::default() };
        let byte = byte.min(b.text_len);
        // Inside a word-run cell the caret stands after the measured prefix.
        let inside = b.map.iter().find(|m| m.cell.is_some() && m.src.start < byte && byte < m.src.end);
        let prefix = inside.and_then(|m| {
            let c = &b.cells[m.cell?];
            let part = c.text.get(..byte - m.src.start)?;
            Some((self.measure.advance(part, c.size * s, c.bold), cells::rtl(&c.text)))
        });
        let (line, index) = b.line_of(b.to_out(byte));
        let at = cosmic_text::Cursor::new(line, index);
        let mut found = None;
        for run in b.buffer.layout_runs().filter(|r| r.line_i == line) {
            if let Some(mut x) = run.cursor_position(&at) {
                if let Some((w, is_rtl)) = prefix {
                    x += if is_rtl { -w } else { w };
                }
                let r = Rect::new(x / s, run.line_top / s, 1.0, run.line_height / s);
                // At a soft wrap both lines match.
                let here = match affinity {
                    Affinity::After => run.glyphs.iter().any(|g| g.start == index),
                    Affinity::Before => run.glyphs.iter().any(|g| g.end == index),
                };
                if found.is_none() || here {
                    found = Some(r);
                }
            }
        }
        found.unwrap_or_else(|| Rect::new(0.0, 0.0, 1.0, b.size.h))
    }

    /// The byte nearest to a point, in logical pixels from the block's origin.
    #[must_use]
    pub fn hit(&self, id: BlockId, p: Point) -> usize {
        self.hit_at(id, p).byte
    }

    /// The byte nearest to a point, and on which line of a soft wrap the point was.
    #[must_use]
    pub fn hit_at(&self, id: BlockId, p: Point) -> Hit {
        let Some(b) = self.blocks.get(&id) else { return Hit::default() };
        let (x, y) = (p.x * self.scale, p.y * self.scale);
        let mut runs = b.buffer.layout_runs().peekable();
        let mut found: Option<(LayoutRun<'_>, bool)> = None;
        while let Some(run) = runs.next() {
            let done = y < run.line_top + run.line_height;
            let wraps = runs.peek().is_some_and(|next| next.line_i == run.line_i);
            found = Some((run, wraps));
            if done {
                break;
            }
        }
        let Some((run, wraps)) = found else { return Hit::default() };
        let base = b.line_starts.get(run.line_i).copied().unwrap_or(0);
        let (at, affinity) = hit_run(&run, x, wraps);
        Hit { byte: b.to_src(base + at), affinity }
    }

    /// One line up or down from `byte`, keeping the column `goal_x` (logical pixels). `None`
    /// at the first or last line.
    #[must_use]
    pub fn vertical(&mut self, id: BlockId, byte: usize, goal_x: f32, down: bool) -> Option<usize> {
        let c = self.caret(id, byte);
        let y = if down { c.bottom() + 1.0 } else { c.y - 1.0 };
        if y < 0.0 || y >= self.size(id).h {
            return None;
        }
        Some(self.hit(id, Point::new(goal_x, y)))
    }

    /// Rectangles that cover a range, one or more a line, in logical pixels.
    #[must_use]
    pub fn ranges(&self, id: BlockId, range: Range<usize>) -> Vec<Rect> {
        let Some(b) = self.blocks.get(&id) else { return vec![] };
        let (start, end, s) = (b.to_out(range.start), b.to_out(range.end), self.scale);
        let mut out: Vec<Rect> = Vec::new();
        for run in b.buffer.layout_runs() {
            let base = b.line_starts.get(run.line_i).copied().unwrap_or(0);
            let before = out.len();
            for g in run.glyphs.iter().filter(|g| base + g.start < end && base + g.end > start) {
                let r = Rect::new(g.x / s, run.line_top / s, g.w / s, run.line_height / s);
                match out[before..].last_mut() {
                    Some(l) if (l.right() - r.x).abs() < 0.6 => l.w = r.right() - l.x,
                    _ => out.push(r),
                }
            }
            // A selected line end shows as a sliver, so that empty lines are seen.
            let line_end = base + run.text.len();
            if start <= line_end && end > line_end && out.len() == before {
                out.push(Rect::new(run.line_w / s, run.line_top / s, 4.0, run.line_height / s));
            }
        }
        out
    }

    /// The visual line around `byte`: its first and last byte.
    #[must_use]
    pub fn line_bounds(&mut self, id: BlockId, byte: usize) -> Range<usize> {
        let c = self.caret(id, byte);
        let y = c.y + c.h / 2.0;
        self.hit(id, Point::new(-1.0, y))..self.hit(id, Point::new(f32::MAX / 4.0, y))
    }
}

/// Offset in the run's line nearest to `x`. Where the line goes on below, the blank at which it
/// wraps is no place for a caret: before it is the end of this line, behind it the next.
fn hit_run(run: &LayoutRun<'_>, x: f32, wraps: bool) -> (usize, Affinity) {
    use unicode_segmentation::UnicodeSegmentation;
    let Some(first) = run.glyphs.first() else { return (0, Affinity::After) };
    let last = run.glyphs.last().unwrap_or(first);
    let edge = |g: &LayoutGlyph, right: bool| if right == g.level.is_rtl() { g.start } else { g.end };
    let at = if x <= first.x {
        edge(first, false)
    } else if let Some(g) = run.glyphs.iter().find(|g| x < g.x + g.w) {
        let cluster = run.text.get(g.start..g.end).unwrap_or("");
        let stops: Vec<usize> = cluster.grapheme_indices(true).map(|(i, _)| g.start + i).chain([g.end]).collect();
        let n = stops.len() - 1;
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let k = (((x - g.x) / g.w.max(f32::EPSILON)) * n as f32).round().clamp(0.0, n as f32) as usize;
        if g.level.is_rtl() { stops[n - k] } else { stops[k] }
    } else {
        edge(last, true)
    };
    let end = run.glyphs.iter().map(|g| g.end).max().unwrap_or(0);
    if !wraps || at < end {
        return (at, Affinity::After);
    }
    match run.text.get(..end).and_then(|t| t.graphemes(true).next_back()).filter(|g| g.trim().is_empty()) {
        Some(blank) => (end - blank.len(), Affinity::After),
        None => (end, Affinity::Before),
    }
}
