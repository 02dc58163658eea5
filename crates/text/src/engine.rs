//! Shaping and the block cache.

mod geometry;
mod long;

pub use geometry::{Affinity, Hit};

use crate::cells::{self, FallbackMeasure};
use cosmic_text::{
    Attrs, Buffer, Color, Ellipsize, EllipsizeHeightLimit, FeatureTag, FontFeatures, FontSystem, Metrics, Shaping,
    Style, Weight, fontdb,
};
use scene::{BlockId, Rgba, Size};
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

/// A spec with its text, to tell a block from another of the same hash.
struct Key {
    text: String,
    style: TextStyle,
    spans: Vec<Span>,
    width: Option<f32>,
    wrap: Wrap,
}

impl Key {
    fn is(&self, s: &BlockSpec<'_>) -> bool {
        self.text == s.text
            && self.spans == s.spans
            && self.style == s.style
            && self.width.map(f32::to_bits) == s.width.map(f32::to_bits)
            && self.wrap == s.wrap
    }
}

struct Block {
    key: Key,
    buffer: Buffer,
    /// Starts of the shaped text's lines.
    line_starts: Vec<usize>,
    /// Empty when no cell is in the text: offsets are equal then.
    map: Vec<Mapped>,
    cells: Vec<CellSpec>,
    text_len: usize,
    size: Size,
    used: u64,
    /// Where the index has it, for a text that is kept line by line.
    slot: Option<u64>,
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
    missing_em: HashMap<(Family, u16, bool), f32>,
    measure: Box<dyn FallbackMeasure>,
    blocks: HashMap<BlockId, Block>,
    /// Blocks by the hash of their spec; a slot taken by another spec is stepped over.
    index: HashMap<u64, BlockId>,
    scale: f32,
    frame: u64,
    shaped: u64,
    lines: u64,
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
            missing_em: HashMap::new(),
            measure,
            blocks: HashMap::new(),
            index: HashMap::new(),
            scale: 1.0,
            frame: 0,
            shaped: 0,
            lines: 0,
        };
        for family in [Family::Ui, Family::Mono] {
            engine.learn(family.name())?;
        }
        Ok(engine)
    }

    /// Reads which characters a family has.
    fn learn(&mut self, name: &'static str) -> Result<(), FontError> {
        let query = fontdb::Query { families: &[fontdb::Family::Name(name)], ..fontdb::Query::default() };
        let id = self.fonts.db().query(&query).ok_or(FontError::Missing(name))?;
        let font = self.fonts.get_font(id, Weight::NORMAL).ok_or(FontError::Missing(name))?;
        let face = cosmic_text::skrifa::FontRef::new(font.data()).map_err(|_| FontError::Missing(name))?;
        self.covered.insert(name, covers(face));
        Ok(())
    }

    /// Width, in ems, that a placeholder has by itself in a style: that of the box a font shows
    /// for what it lacks.
    fn missing_em(&mut self, style: TextStyle) -> f32 {
        const PROBE: f32 = 100.0;
        let key = (style.family, style.weight, style.italic);
        if let Some(em) = self.missing_em.get(&key) {
            return *em;
        }
        let attrs = self.attrs(style, None).metrics(Metrics::new(PROBE, PROBE));
        let mut buffer = Buffer::new_empty(Metrics::new(PROBE, PROBE));
        buffer.set_text(cells::PROBE, &attrs, Shaping::Advanced, None);
        buffer.shape_until_scroll(&mut self.fonts, false);
        let em = buffer.layout_runs().flat_map(|r| r.glyphs).map(|g| g.w / PROBE).next().unwrap_or(0.0);
        self.missing_em.insert(key, em);
        em
    }

    /// Physical pixels per logical pixel; a change drops every block.
    pub fn set_scale(&mut self, scale: f32) {
        if (self.scale - scale).abs() > f32::EPSILON {
            self.scale = scale;
            self.blocks.clear();
            self.index.clear();
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
            self.index.retain(|_, id| self.blocks.contains_key(id));
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
        self.block_at(h.finish(), spec)
    }

    /// The block for `spec`, looked for from `slot` on. Texts of one hash can be made on purpose,
    /// so a hash finds a block and never names one: an id belongs to one text for good.
    fn block_at(&mut self, mut slot: u64, spec: &BlockSpec<'_>) -> BlockId {
        while let Some(id) = self.index.get(&slot) {
            match self.blocks.get_mut(id).filter(|b| b.key.is(spec)) {
                Some(b) => {
                    b.used = self.frame;
                    return *id;
                }
                None => slot = slot.wrapping_add(1),
            }
        }
        let block = self.shape(spec);
        let id = BlockId(self.shaped);
        self.index.insert(slot, id);
        self.blocks.insert(id, block);
        id
    }

    /// Size of text without keeping the id.
    pub fn measure(&mut self, spec: &BlockSpec<'_>) -> Size {
        let id = self.block(spec);
        self.size(id)
    }

    /// True when one font has all of a cluster: letters and marks of two do not meet.
    fn has(&self, family: Family, cluster: &str) -> bool {
        let other = if family == Family::Ui { Family::Mono } else { Family::Ui };
        let whole = |set: &HashSet<u32>| cluster.chars().all(|c| cells::is_silent(c) || set.contains(&u32::from(c)));
        [family, other].iter().any(|f| self.covered.get(f.name()).is_some_and(whole))
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
            for p in cells::split(&text[w[0]..w[1]], |g| self.has(style.family, g)) {
                let src = w[0] + p.range.start..w[0] + p.range.end;
                let start = out.len();
                let mut a = attrs.clone();
                let cell = p.cell.then(|| {
                    let piece = &text[src.clone()];
                    let bold = style.weight >= 600;
                    let px = style.size * self.scale;
                    let advance = self.measure.advance(piece, px, bold);
                    let own = self.missing_em(style);
                    a = a.clone().letter_spacing(advance / px - own).metadata(cell_specs.len() + 1);
                    out.push(cells::placeholder(piece));
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
        let key = Key {
            text: spec.text.to_owned(),
            style: spec.style,
            spans: spec.spans.to_vec(),
            width: spec.width,
            wrap: spec.wrap,
        };
        Block {
            key,
            buffer,
            line_starts,
            map,
            cells: cell_specs,
            text_len: text.len(),
            size,
            used: self.frame,
            slot: None,
        }
    }

    fn attrs(&self, style: TextStyle, color: Option<Rgba>) -> Attrs<'static> {
        // Text is shown as it was written: no font turns "!=" or "->" into another sign, and a
        // caret can stand between any two letters.
        let mut features = FontFeatures::new();
        for tag in [FeatureTag::STANDARD_LIGATURES, FeatureTag::CONTEXTUAL_LIGATURES, FeatureTag::CONTEXTUAL_ALTERNATES]
        {
            features.disable(tag);
        }
        let mut a = Attrs::new()
            .font_features(features)
            .family(cosmic_text::Family::Name(style.family.name()))
            .weight(Weight(style.weight))
            .style(if style.italic { Style::Italic } else { Style::Normal })
            .metrics(Metrics::new(style.size * self.scale, (style.line_height * self.scale).round()));
        if let Some(c) = color {
            a = a.color(Color::rgba(c.r, c.g, c.b, c.a));
        }
        a
    }
}

#[cfg(test)]
mod tests;
