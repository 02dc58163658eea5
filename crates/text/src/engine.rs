//! Shaping, the block cache, and geometry of laid-out blocks.

use crate::cells::{self, Cell, FallbackMeasure, OBJECT, OBJECT_RTL};
use cosmic_text::{
    Attrs, Buffer, Color, Ellipsize, EllipsizeHeightLimit, FontSystem, LayoutRun, Metrics, Shaping, Style, Weight,
    fontdb,
};
use scene::{BlockId, Point, Rect, Rgba, Size};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// Blocks kept; beyond it those not used in the last frames leave.
pub const BLOCKS_MAX: usize = 4096;
/// Frames a block outlives its last use once the cache is full.
const KEEP_FRAMES: u64 = 2;
/// Longest text of one block, in bytes; callers split paragraphs long before.
pub const BLOCK_TEXT_MAX: usize = 1 << 20;

/// Bundled families.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Family {
    /// Inter, for the interface.
    #[default]
    Ui,
    /// JetBrains Mono, for code and names of commands.
    Mono,
}

impl Family {
    fn name(self) -> &'static str {
        match self {
            Self::Ui => "Inter",
            Self::Mono => "JetBrains Mono",
        }
    }
}

/// How text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextStyle {
    /// Font size, logical pixels.
    pub size: f32,
    /// Line height, logical pixels.
    pub line_height: f32,
    /// 400, 600 or 700.
    pub weight: u16,
    /// Family.
    pub family: Family,
    /// Italic.
    pub italic: bool,
}

impl TextStyle {
    /// Regular interface text.
    #[must_use]
    pub const fn ui(size: f32, line_height: f32) -> Self {
        Self { size, line_height, weight: 400, family: Family::Ui, italic: false }
    }
    /// Code.
    #[must_use]
    pub const fn mono(size: f32, line_height: f32) -> Self {
        Self { size, line_height, weight: 400, family: Family::Mono, italic: false }
    }
    /// The same, heavier or lighter.
    #[must_use]
    pub const fn weight(self, weight: u16) -> Self {
        Self { weight, ..self }
    }

    fn hash_into(self, h: &mut DefaultHasher) {
        (self.size.to_bits(), self.line_height.to_bits(), self.weight, self.family, self.italic).hash(h);
    }
}

/// A styled part of a block; later spans win.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Bytes of the block's text.
    pub range: Range<usize>,
    /// Style, if it differs.
    pub style: Option<TextStyle>,
    /// Colour, if it differs.
    pub color: Option<Rgba>,
}

/// What happens to a line that is too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Breaks between words, inside one only if it must.
    #[default]
    Word,
    /// Runs on.
    None,
    /// Stays one line and ends in an ellipsis.
    Ellipsis,
}

/// Everything that shapes a block.
#[derive(Clone, Debug)]
pub struct BlockSpec<'a> {
    /// Text; may have several lines.
    pub text: &'a str,
    /// Base style.
    pub style: TextStyle,
    /// Parts that differ.
    pub spans: &'a [Span],
    /// Width to fill, logical pixels; `None` for as wide as it is.
    pub width: Option<f32>,
    /// Long lines.
    pub wrap: Wrap,
}

/// A glyph to draw, in physical pixels relative to the block's origin.
#[derive(Clone, Copy, Debug)]
pub struct Glyph {
    /// Rasteriser's key; includes the subpixel position.
    pub key: cosmic_text::CacheKey,
    /// Left, whole pixels.
    pub x: i32,
    /// Baseline, whole pixels.
    pub y: i32,
    /// Colour of its span.
    pub color: Option<Rgba>,
}

/// Why fonts were not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FontError {
    /// A family that the interface needs is missing.
    Missing(&'static str),
}

impl std::fmt::Display for FontError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Missing(name) = self;
        write!(f, "the font {name} could not be read; run `cargo xtask assets` to fetch it again")
    }
}

impl std::error::Error for FontError {}

/// One piece of the map between the caller's text and the shaped text.
#[derive(Clone, Debug)]
struct Mapped {
    src: Range<usize>,
    out: Range<usize>,
    cell: Option<usize>,
}

#[derive(Clone, Debug)]
struct CellSpec {
    text: String,
    size: f32,
    bold: bool,
    color: Option<Rgba>,
}

struct Block {
    buffer: Buffer,
    /// Starts of the shaped text's lines.
    line_starts: Vec<usize>,
    /// Empty when no cell is in the text: offsets are equal then.
    map: Vec<Mapped>,
    cells: Vec<CellSpec>,
    text_len: usize,
    size: Size,
    used: u64,
}

impl Block {
    fn to_out(&self, src: usize) -> usize {
        if self.map.is_empty() {
            return src;
        }
        match self.map.iter().find(|m| src < m.src.end) {
            Some(m) if m.cell.is_some() => m.out.start,
            Some(m) => m.out.start + src.saturating_sub(m.src.start),
            None => self.map.last().map_or(src, |m| m.out.end),
        }
    }
    fn to_src(&self, out: usize) -> usize {
        if self.map.is_empty() {
            return out;
        }
        match self.map.iter().find(|m| out < m.out.end) {
            Some(m) if m.cell.is_some() => m.src.start,
            Some(m) => m.src.start + (out - m.out.start),
            None => self.text_len,
        }
    }
    fn line_of(&self, out: usize) -> (usize, usize) {
        let i = self.line_starts.partition_point(|s| *s <= out).saturating_sub(1);
        (i, out - self.line_starts[i])
    }
}

/// Shapes, caches and measures text.
pub struct TextEngine {
    fonts: FontSystem,
    covered: HashMap<&'static str, HashSet<u32>>,
    placeholder_em: HashMap<&'static str, f32>,
    measure: Box<dyn FallbackMeasure>,
    blocks: HashMap<BlockId, Block>,
    scale: f32,
    frame: u64,
    shaped: u64,
}

fn covers(font: cosmic_text::skrifa::FontRef<'_>) -> HashSet<u32> {
    use cosmic_text::skrifa::MetadataProvider as _;
    font.charmap().mappings().map(|(c, _)| c).collect()
}

impl TextEngine {
    /// An engine over the bundled fonts' files.
    ///
    /// # Errors
    /// [`FontError::Missing`] when Inter or JetBrains Mono is not among them.
    pub fn new(fonts: Vec<Vec<u8>>, measure: Box<dyn FallbackMeasure>) -> Result<Self, FontError> {
        let mut db = fontdb::Database::new();
        for f in fonts {
            db.load_font_source(fontdb::Source::Binary(Arc::new(f)));
        }
        db.set_sans_serif_family(Family::Ui.name());
        db.set_monospace_family(Family::Mono.name());
        let mut engine = Self {
            fonts: FontSystem::new_with_locale_and_db("en".to_owned(), db),
            covered: HashMap::new(),
            placeholder_em: HashMap::new(),
            measure,
            blocks: HashMap::new(),
            scale: 1.0,
            frame: 0,
            shaped: 0,
        };
        for family in [Family::Ui, Family::Mono] {
            engine.learn(family.name())?;
        }
        Ok(engine)
    }

    /// Reads which characters a family has and how wide its missing-glyph box is.
    fn learn(&mut self, name: &'static str) -> Result<(), FontError> {
        use cosmic_text::skrifa::{
            FontRef, GlyphId, MetadataProvider as _,
            instance::{LocationRef, Size as Ppem},
        };
        let query = fontdb::Query { families: &[fontdb::Family::Name(name)], ..fontdb::Query::default() };
        let id = self.fonts.db().query(&query).ok_or(FontError::Missing(name))?;
        let font = self.fonts.get_font(id, Weight::NORMAL).ok_or(FontError::Missing(name))?;
        let face = FontRef::new(font.data()).map_err(|_| FontError::Missing(name))?;
        let metrics = face.glyph_metrics(Ppem::unscaled(), LocationRef::default());
        let upem = f32::from(face.metrics(Ppem::unscaled(), LocationRef::default()).units_per_em);
        let glyph = face.charmap().map(OBJECT).unwrap_or(GlyphId::NOTDEF);
        self.placeholder_em.insert(name, metrics.advance_width(glyph).unwrap_or(0.0) / upem);
        self.covered.insert(name, covers(face));
        Ok(())
    }

    /// Physical pixels per logical pixel; a change drops every block.
    pub fn set_scale(&mut self, scale: f32) {
        if (self.scale - scale).abs() > f32::EPSILON {
            self.scale = scale;
            self.blocks.clear();
        }
    }
    /// Physical pixels per logical pixel.
    #[must_use]
    pub fn scale(&self) -> f32 {
        self.scale
    }
    /// How many blocks were shaped since the start; a frame of known text adds none.
    #[must_use]
    pub fn shaped(&self) -> u64 {
        self.shaped
    }
    /// The font system, for the rasteriser.
    pub fn fonts(&mut self) -> &mut FontSystem {
        &mut self.fonts
    }
    /// Starts a frame: blocks unused for a while leave once the cache is full.
    pub fn begin_frame(&mut self) {
        self.frame += 1;
        if self.blocks.len() > BLOCKS_MAX {
            let oldest = self.frame.saturating_sub(KEEP_FRAMES);
            self.blocks.retain(|_, b| b.used >= oldest);
        }
    }

    /// The block for `spec`, shaped now if it is new.
    pub fn block(&mut self, spec: &BlockSpec<'_>) -> BlockId {
        let mut h = DefaultHasher::new();
        spec.text.hash(&mut h);
        spec.style.hash_into(&mut h);
        (spec.width.map(f32::to_bits), spec.wrap).hash(&mut h);
        for s in spec.spans {
            (s.range.start, s.range.end, s.color).hash(&mut h);
            if let Some(st) = s.style {
                st.hash_into(&mut h);
            }
        }
        let id = BlockId(h.finish());
        let frame = self.frame;
        if let Some(b) = self.blocks.get_mut(&id) {
            b.used = frame;
        } else {
            let b = self.shape(spec);
            self.blocks.insert(id, b);
        }
        id
    }

    /// Size of text without keeping the id.
    pub fn measure(&mut self, spec: &BlockSpec<'_>) -> Size {
        let id = self.block(spec);
        self.size(id)
    }

    fn has(&self, family: Family, c: char) -> bool {
        let other = if family == Family::Ui { Family::Mono } else { Family::Ui };
        [family, other].iter().any(|f| self.covered.get(f.name()).is_some_and(|s| s.contains(&u32::from(c))))
    }

    fn shape(&mut self, spec: &BlockSpec<'_>) -> Block {
        self.shaped += 1;
        let mut end = spec.text.len().min(BLOCK_TEXT_MAX);
        while !spec.text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &spec.text[..end];
        // Cut the text at span edges; each piece has one style.
        let mut edges: Vec<usize> =
            spec.spans.iter().flat_map(|s| [s.range.start, s.range.end]).chain([0, end]).collect();
        edges.retain(|e| *e <= end && text.is_char_boundary(*e));
        edges.sort_unstable();
        edges.dedup();
        let (mut out, mut map, mut cell_specs) = (String::with_capacity(end), Vec::new(), Vec::new());
        let mut runs: Vec<(Range<usize>, Attrs<'static>)> = Vec::new();
        for w in edges.windows(2) {
            let (mut style, mut color) = (spec.style, None);
            for s in spec.spans.iter().filter(|s| s.range.start <= w[0] && s.range.end >= w[1]) {
                style = s.style.unwrap_or(style);
                color = s.color.or(color);
            }
            let attrs = self.attrs(style, color);
            for p in cells::split(&text[w[0]..w[1]], |c| self.has(style.family, c)) {
                let src = w[0] + p.range.start..w[0] + p.range.end;
                let start = out.len();
                let mut a = attrs.clone();
                let cell = p.cell.then(|| {
                    let piece = &text[src.clone()];
                    let bold = style.weight >= 600;
                    let px = style.size * self.scale;
                    let advance = self.measure.advance(piece, px, bold);
                    let own = self.placeholder_em.get(style.family.name()).copied().unwrap_or(0.0);
                    a = a.clone().letter_spacing(advance / px - own).metadata(cell_specs.len() + 1);
                    out.push(if cells::rtl(piece) { OBJECT_RTL } else { OBJECT });
                    cell_specs.push(CellSpec { text: piece.to_owned(), size: style.size, bold, color });
                    cell_specs.len() - 1
                });
                if cell.is_none() {
                    out.push_str(&text[src.clone()]);
                }
                runs.push((start..out.len(), a));
                map.push(Mapped { src, out: start..out.len(), cell });
            }
        }
        if cell_specs.is_empty() {
            map.clear();
        }
        let metrics = Metrics::new(spec.style.size * self.scale, (spec.style.line_height * self.scale).round());
        let mut buffer = Buffer::new_empty(metrics);
        buffer.set_wrap(match spec.wrap {
            Wrap::Word => cosmic_text::Wrap::WordOrGlyph,
            Wrap::None | Wrap::Ellipsis => cosmic_text::Wrap::None,
        });
        if spec.wrap == Wrap::Ellipsis {
            buffer.set_ellipsize(Ellipsize::End(EllipsizeHeightLimit::Lines(1)));
        }
        buffer.set_size(spec.width.map(|w| (w * self.scale).max(1.0)), None);
        let base = self.attrs(spec.style, None);
        buffer.set_rich_text(runs.iter().map(|(r, a)| (&out[r.clone()], a.clone())), &base, Shaping::Advanced, None);
        buffer.shape_until_scroll(&mut self.fonts, false);
        let mut line_starts = vec![0];
        line_starts.extend(out.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1));
        let (mut w, mut h) = (0_f32, 0_f32);
        for run in buffer.layout_runs() {
            w = w.max(run.line_w);
            h = h.max(run.line_top + run.line_height);
        }
        // An empty block is one line high.
        let size = Size::new(w / self.scale, h.max(metrics.line_height) / self.scale);
        Block { buffer, line_starts, map, cells: cell_specs, text_len: text.len(), size, used: self.frame }
    }

    fn attrs(&self, style: TextStyle, color: Option<Rgba>) -> Attrs<'static> {
        let mut a = Attrs::new()
            .family(cosmic_text::Family::Name(style.family.name()))
            .weight(Weight(style.weight))
            .style(if style.italic { Style::Italic } else { Style::Normal })
            .metrics(Metrics::new(style.size * self.scale, (style.line_height * self.scale).round()));
        if let Some(c) = color {
            a = a.color(Color::rgba(c.r, c.g, c.b, c.a));
        }
        a
    }

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

    /// The caret before byte `byte`, one logical pixel wide, from the block's origin.
    #[must_use]
    pub fn caret(&mut self, id: BlockId, byte: usize) -> Rect {
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
                let starts_here = run.glyphs.iter().any(|g| g.start == index);
                // At a soft wrap both lines match: the caret belongs to the one that starts here.
                if found.is_none() || starts_here {
                    found = Some(r);
                }
            }
        }
        found.unwrap_or_else(|| Rect::new(0.0, 0.0, 1.0, b.size.h))
    }

    /// The byte nearest to a point, in logical pixels from the block's origin.
    #[must_use]
    pub fn hit(&self, id: BlockId, p: Point) -> usize {
        let Some(b) = self.blocks.get(&id) else { return 0 };
        let (x, y) = (p.x * self.scale, p.y * self.scale);
        let mut last: Option<LayoutRun<'_>> = None;
        for run in b.buffer.layout_runs() {
            let done = y < run.line_top + run.line_height;
            last = Some(run);
            if done {
                break;
            }
        }
        let Some(run) = last else { return 0 };
        let base = b.line_starts.get(run.line_i).copied().unwrap_or(0);
        b.to_src(base + hit_run(&run, x))
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

/// Offset in the run's line nearest to `x`.
fn hit_run(run: &LayoutRun<'_>, x: f32) -> usize {
    use unicode_segmentation::UnicodeSegmentation;
    let Some(first) = run.glyphs.first() else { return 0 };
    let last = run.glyphs.last().unwrap_or(first);
    let edge = |g: &cosmic_text::LayoutGlyph, right: bool| if right == g.level.is_rtl() { g.start } else { g.end };
    if x <= first.x {
        return edge(first, false);
    }
    let Some(g) = run.glyphs.iter().find(|g| x < g.x + g.w) else { return edge(last, true) };
    let cluster = run.text.get(g.start..g.end).unwrap_or("");
    let stops: Vec<usize> = cluster.grapheme_indices(true).map(|(i, _)| g.start + i).chain([g.end]).collect();
    let n = stops.len() - 1;
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let k = (((x - g.x) / g.w.max(f32::EPSILON)) * n as f32).round().clamp(0.0, n as f32) as usize;
    if g.level.is_rtl() { stops[n - k] } else { stops[k] }
}

#[cfg(test)]
mod tests;
