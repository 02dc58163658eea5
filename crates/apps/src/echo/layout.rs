//! Where the pieces of an item stand: made once an item, width and theme, and kept.

use super::pieces::{Growing, Kind, Piece, of_item};
use ai_echo::conversation::{Item, ItemKind};
use ai_echo::markdown::Align;
use scene::{BlockId, Point, Rect};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use text::{BlockSpec, Span, TextEngine, TextStyle, Wrap};
use ui::Theme;

/// Padding of a code block, and the height of its bar.
pub(crate) const CODE_PAD: f32 = 12.0;
pub(crate) const CODE_BAR: f32 = 28.0;
const CELL_PAD: f32 = 8.0;

/// One piece in its place, relative to the item's content box.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub rect: Rect,
    /// Top left of the text.
    pub text: Point,
    /// Width that the text was wrapped to.
    pub width: f32,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    version: u64,
    pieces: Vec<Piece>,
    growing: Growing,
    placed: Vec<Placed>,
    /// What the layout was made for: width, scale, dark.
    made_for: Option<(u32, u32, bool, u64)>,
    height: f32,
    wide: f32,
}

/// Pieces and layouts of one conversation.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    items: HashMap<u64, Entry>,
    /// How many items were laid out since the start: a still transcript adds none.
    pub laid_out: u64,
}

fn version(item: &Item, open: bool) -> u64 {
    let mut h = DefaultHasher::new();
    open.hash(&mut h);
    match &item.kind {
        // A streaming text only grows, so its length is its version.
        ItemKind::Assistant { text, state, .. } => (text.len(), format!("{state:?}")).hash(&mut h),
        ItemKind::Tool { state, summary, preview, receipt, .. } => {
            (format!("{state:?}"), summary, preview.len(), receipt.is_some()).hash(&mut h);
        }
        ItemKind::User { text, .. } | ItemKind::Notice { text } => text.len().hash(&mut h),
        // Written once.
        ItemKind::Guidance { .. } => {}
    }
    h.finish()
}

/// The engine's spans of a piece.
pub(crate) fn spans_of(p: &Piece, theme: &Theme) -> Vec<Span> {
    let one = |m: &super::pieces::Mark| {
        let mut style = p.style;
        if m.bold {
            style = style.weight(700);
        }
        if m.code {
            style = TextStyle { family: text::Family::Mono, size: style.size - 1.5, ..style.weight(400) };
        }
        style.italic |= m.italic;
        let color = m.href.is_some().then_some(theme.accent);
        Span { range: m.range.clone(), style: Some(style), color }
    };
    p.marks.iter().map(one).collect()
}

/// Shapes a piece at a width (from the engine's cache when it is known).
pub(crate) fn shape(engine: &mut TextEngine, p: &Piece, width: f32, theme: &Theme) -> BlockId {
    let spans = spans_of(p, theme);
    engine.block(&BlockSpec {
        text: &p.text,
        style: p.style,
        spans: &spans,
        width: Some(width.max(1.0)),
        wrap: Wrap::Word,
    })
}

impl Cache {
    /// Another conversation came to the front.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
    }
    /// The pieces of an item.
    pub(crate) fn pieces(&mut self, item: &Item, open: bool) -> &[Piece] {
        let e = self.items.entry(item.id).or_default();
        let v = version(item, open);
        if e.version != v || e.made_for.is_none() && e.pieces.is_empty() {
            e.version = v;
            e.pieces = of_item(item, open, &mut e.growing);
        }
        &e.pieces
    }
    /// The last known height of an item, for the scroll bar.
    pub(crate) fn known_height(&self, id: u64) -> Option<f32> {
        self.items.get(&id).filter(|e| e.made_for.is_some()).map(|e| e.height)
    }
    /// Lays an item out at a width; gives its pieces, places, height and widest line.
    pub(crate) fn layout(
        &mut self,
        item: &Item,
        open: bool,
        width: f32,
        engine: &mut TextEngine,
        theme: &Theme,
    ) -> (&[Piece], &[Placed], f32, f32) {
        let _ = self.pieces(item, open);
        let Self { items, laid_out } = self;
        let e = items.entry(item.id).or_default();
        let key = (width.to_bits(), engine.scale().to_bits(), theme.dark, e.version);
        if e.made_for != Some(key) {
            *laid_out += 1;
            (e.placed, e.height, e.wide) = place(&e.pieces, width, engine, theme);
            e.made_for = Some(key);
        }
        (&e.pieces, &e.placed, e.height, e.wide)
    }
}

/// How many pieces from here on are cells of one table.
pub(crate) fn table_len(pieces: &[Piece]) -> usize {
    let Some(Kind::Cell(_, _, columns, _)) = pieces.first().map(|p| &p.kind) else { return 0 };
    let mine = |(k, p): &(usize, &Piece)| matches!(p.kind, Kind::Cell(r, ..) if *k == 0 || r > 0 || *k < *columns);
    pieces.iter().enumerate().take_while(mine).count()
}

fn place(pieces: &[Piece], width: f32, engine: &mut TextEngine, theme: &Theme) -> (Vec<Placed>, f32, f32) {
    let mut out: Vec<Placed> = Vec::with_capacity(pieces.len());
    let (mut y, mut wide) = (0.0_f32, 0.0_f32);
    let mut i = 0;
    while i < pieces.len() {
        let p = &pieces[i];
        y += p.gap;
        match &p.kind {
            Kind::Cell(_, _, columns, _) => {
                let n = table_len(&pieces[i..]);
                y = table(&pieces[i..i + n], (*columns).max(1), p.indent, y, width, engine, theme, &mut out);
                wide = width;
                i += n;
                continue;
            }
            Kind::Rule => {
                out.push(Placed { rect: Rect::new(0.0, y + 6.0, width, 1.0), text: Point::new(0.0, y), width });
                y += 13.0;
            }
            Kind::Code(_) => {
                let w = width - p.indent;
                let inner = w - 2.0 * CODE_PAD;
                let block = shape(engine, p, inner, theme);
                let h = engine.size(block).h;
                let rect = Rect::new(p.indent, y, w, h + CODE_BAR + CODE_PAD);
                out.push(Placed { rect, text: Point::new(p.indent + CODE_PAD, y + CODE_BAR), width: inner });
                y += rect.h;
                wide = width;
            }
            Kind::Text | Kind::Heading(_) | Kind::Bullet(_) => {
                let w = width - p.indent;
                let block = shape(engine, p, w, theme);
                let s = engine.size(block);
                out.push(Placed { rect: Rect::new(p.indent, y, w, s.h), text: Point::new(p.indent, y), width: w });
                wide = wide.max(p.indent + s.w);
                y += s.h;
            }
        }
        i += 1;
    }
    (out, y, wide)
}

#[allow(clippy::too_many_arguments)] // one table's places
fn table(
    cells: &[Piece],
    columns: usize,
    indent: f32,
    top: f32,
    width: f32,
    engine: &mut TextEngine,
    theme: &Theme,
    out: &mut Vec<Placed>,
) -> f32 {
    // Columns take what they need, and shrink in proportion where that is too much.
    let mut want = vec![24.0_f32; columns];
    for p in cells {
        if let Kind::Cell(_, c, ..) = p.kind {
            let block = shape(engine, p, 4096.0, theme);
            want[c] = want[c].max(engine.size(block).w + 2.0 * CELL_PAD + 1.0);
        }
    }
    let room = width - indent;
    let sum: f32 = want.iter().sum();
    if sum > room {
        // Narrow columns keep their width; the wide ones share what is left.
        let fair = room / columns as f32;
        let narrow: f32 = want.iter().filter(|w| **w <= fair).sum();
        let rest: f32 = want.iter().filter(|w| **w > fair).sum();
        for w in want.iter_mut().filter(|w| **w > fair) {
            *w = (*w / rest * (room - narrow)).max(32.0);
        }
    }
    let mut y = top;
    for row in cells.chunk_by(|a, b| matches!((&a.kind, &b.kind), (Kind::Cell(x, ..), Kind::Cell(z, ..)) if x == z)) {
        let mut tall = theme_line();
        let mut placed = Vec::new();
        for p in row {
            let Kind::Cell(_, c, _, align) = p.kind else { continue };
            let x = indent + want[..c].iter().sum::<f32>();
            let inner = (want[c] - 2.0 * CELL_PAD).max(8.0);
            let block = shape(engine, p, inner, theme);
            let s = engine.size(block);
            let shift = match align {
                Align::Start => 0.0,
                Align::Center => ((inner - s.w) / 2.0).max(0.0),
                Align::End => (inner - s.w).max(0.0),
            };
            tall = tall.max(s.h + 12.0);
            placed.push((x, c, Point::new(x + CELL_PAD + shift, y + 6.0), inner));
        }
        for (x, c, text, inner) in placed {
            out.push(Placed { rect: Rect::new(x, y, want[c], tall), text, width: inner });
        }
        y += tall;
    }
    y
}

fn theme_line() -> f32 {
    ui::theme::BODY.line_height + 12.0
}
