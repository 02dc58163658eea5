//! A transcript item as a flat list of text pieces in reading order: what is laid out, said,
//! searched, selected and copied.

use ai_echo::conversation::{GuidanceUse, Item, ItemKind, ToolState, Via};
use ai_echo::markdown::{Align, Block, Href, Span, Stream};
use std::ops::Range;
use text::TextStyle;
use ui::theme;

/// How a piece is coloured; the theme decides the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Text,
    Muted,
    Danger,
}

/// What a piece is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Running text.
    Text,
    /// A heading.
    Heading(u8),
    /// An item of a list with its mark before it.
    Bullet(String),
    /// A code block with its language.
    Code(String),
    /// A cell of a table: (row, column, columns, set).
    Cell(usize, usize, usize, Align),
    /// A rule.
    Rule,
}

/// A style laid over a part of a piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub range: Range<usize>,
    pub bold: bool,
    pub italic: bool,
    pub code: bool,
    pub href: Option<Href>,
}

/// One piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    pub text: String,
    pub marks: Vec<Mark>,
    pub style: TextStyle,
    pub ink: Ink,
    pub kind: Kind,
    /// Distance from the left edge.
    pub indent: f32,
    /// Depth of quotation.
    pub quote: u8,
    /// Distance from the piece above.
    pub gap: f32,
}

impl Piece {
    pub fn new(text: impl Into<String>, style: TextStyle, kind: Kind, gap: f32) -> Self {
        Self { text: text.into(), marks: vec![], style, ink: Ink::Text, kind, indent: 0.0, quote: 0, gap }
    }
}

/// What a list item or a quotation passes down.
#[derive(Clone, Copy, Default)]
struct Inset {
    indent: f32,
    quote: u8,
    tight: bool,
}

fn spans(spans: &[Span], mut piece: Piece) -> Piece {
    for s in spans {
        let from = piece.text.len();
        piece.text.push_str(&s.text);
        let range = from..piece.text.len();
        if s.style != ai_echo::markdown::Style::default() || s.href.is_some() {
            piece.marks.push(Mark {
                range,
                bold: s.style.strong,
                italic: s.style.emphasis,
                code: s.style.code,
                href: s.href.clone(),
            });
        }
    }
    piece
}

fn block(b: &Block, at: Inset, mark: &mut Option<String>, out: &mut Vec<Piece>) {
    let gap = if at.tight { 4.0 } else { 12.0 };
    let mut push = |mut p: Piece, mark: &mut Option<String>| {
        p.indent = at.indent;
        p.quote = at.quote;
        if at.quote > 0 {
            p.ink = Ink::Muted;
        }
        if let Some(m) = mark.take() {
            if p.kind == Kind::Text {
                p.kind = Kind::Bullet(m);
            } else {
                let mut lone = Piece::new("", theme::READING, Kind::Bullet(m), 4.0);
                lone.indent = at.indent;
                out.push(lone);
            }
        }
        out.push(p);
    };
    match b {
        Block::Heading { level, spans: s } => {
            let style = match level {
                1 => TextStyle::ui(20.0, 28.0).weight(600),
                2 => TextStyle::ui(17.0, 24.0).weight(600),
                _ => theme::READING.weight(600),
            };
            push(spans(s, Piece::new("", style, Kind::Heading(*level), gap + 4.0)), mark);
        }
        Block::Paragraph(s) => push(spans(s, Piece::new("", theme::READING, Kind::Text, gap)), mark),
        Block::Code { lang, text } => {
            push(Piece::new(text.clone(), theme::MONO, Kind::Code(lang.clone()), gap), mark);
        }
        Block::Rule => push(Piece::new("", theme::READING, Kind::Rule, gap), mark),
        Block::Table { align, head, rows } => {
            let columns = head.len();
            for (r, row) in std::iter::once(head).chain(rows).enumerate() {
                for (c, cell) in row.iter().enumerate().take(columns) {
                    let set = align.get(c).copied().unwrap_or(Align::Start);
                    let style = if r == 0 { theme::BODY.weight(600) } else { theme::BODY };
                    let gap = if r == 0 { gap } else { 0.0 };
                    push(spans(cell, Piece::new("", style, Kind::Cell(r, c, columns, set), gap)), mark);
                }
            }
        }
        Block::Quote(blocks) => {
            let at = Inset { indent: at.indent + 16.0, quote: at.quote.saturating_add(1), ..at };
            for b in blocks {
                block(b, at, mark, out);
            }
        }
        Block::List { start, items } => {
            for (i, item) in items.iter().enumerate() {
                let bullet = match (item.task, start) {
                    (Some(true), _) => "✓".to_owned(),
                    (Some(false), _) => "○".to_owned(),
                    (None, Some(n)) => format!("{}.", n.saturating_add(i as u64)),
                    (None, None) => "•".to_owned(),
                };
                let mut mark = Some(bullet);
                let inner = Inset { indent: at.indent + 24.0, tight: true, ..at };
                for b in &item.blocks {
                    block(b, inner, &mut mark, out);
                }
                if let Some(m) = mark {
                    let mut lone = Piece::new("", theme::READING, Kind::Bullet(m), 4.0);
                    lone.indent = inner.indent;
                    out.push(lone);
                }
            }
        }
    }
}

/// Markdown that grows, as pieces; only what is still open is made again.
#[derive(Clone, Debug, Default)]
pub struct Growing {
    stream: Stream,
    fed: usize,
    finished: bool,
    pieces: Vec<Piece>,
    /// Closed blocks whose pieces stand, and how many pieces those are.
    closed: (usize, usize),
}

impl Growing {
    /// Follows a text; `done` when nothing more will come.
    pub fn follow(&mut self, text: &str, done: bool) -> &[Piece] {
        if text.len() < self.fed || !text.is_char_boundary(self.fed) || (self.finished && text.len() != self.fed) {
            *self = Self::default();
        }
        let grew = text.len() > self.fed;
        let ends = done && !self.finished;
        if grew {
            self.stream.push(&text[self.fed..]);
            self.fed = text.len();
        }
        if ends {
            self.stream.finish();
            self.finished = true;
        }
        if grew || ends {
            self.pieces.truncate(self.closed.1);
            let closed = self.stream.closed_len();
            for (i, b) in self.stream.blocks().enumerate().skip(self.closed.0) {
                block(b, Inset::default(), &mut None, &mut self.pieces);
                if i < closed {
                    self.closed = (i + 1, self.pieces.len());
                }
            }
            if let Some(first) = self.pieces.first_mut() {
                first.gap = 0.0;
            }
        }
        &self.pieces
    }
}

/// State of a call in words, with a sign that does not rest on colour.
pub fn tool_words(state: &ToolState) -> (&'static str, Ink) {
    match state {
        ToolState::Asked => ("asked", Ink::Muted),
        ToolState::Reviewing => ("waits for your review", Ink::Text),
        ToolState::Rejected => ("rejected by you", Ink::Muted),
        ToolState::Refused(_) => ("refused", Ink::Danger),
        ToolState::Running => ("running", Ink::Muted),
        ToolState::Done => ("done", Ink::Muted),
        ToolState::Failed(_) => ("failed", Ink::Danger),
        ToolState::Cancelled => ("stopped", Ink::Muted),
        ToolState::Unknown => ("outcome unknown", Ink::Danger),
        ToolState::ShownAnew => ("shown anew below", Ink::Muted),
        ToolState::Interrupted => ("interrupted", Ink::Danger),
    }
}

/// The pieces of an item. `growing` belongs to that item.
pub fn of_item(item: &Item, expanded: bool, growing: &mut Growing) -> Vec<Piece> {
    match &item.kind {
        ItemKind::User { text, attachments, via } => {
            let mut out = Vec::new();
            match via {
                Via::Plain => {}
                Via::Tool(name) => out.push(Piece::new(format!("/tool:{name}"), theme::MONO, Kind::Text, 0.0)),
                Via::Skill(id) => out.push(Piece::new(format!("/skill:{id}"), theme::MONO, Kind::Text, 0.0)),
                Via::Undo(_) => out.push(Piece::new("Undo", theme::BODY.weight(600), Kind::Text, 0.0)),
            }
            for p in &mut out {
                p.ink = Ink::Muted;
            }
            let gap = if out.is_empty() { 0.0 } else { 4.0 };
            out.push(Piece::new(text.clone(), theme::READING, Kind::Text, gap));
            for a in attachments {
                let mut p = Piece::new(format!("Attached: {}", a.path), theme::SMALL, Kind::Text, 4.0);
                p.ink = Ink::Muted;
                out.push(p);
            }
            out
        }
        ItemKind::Assistant { text, state, .. } => {
            let mut out = growing.follow(text, state.is_final()).to_vec();
            if let Some(words) = state.words() {
                let gap = if out.is_empty() { 0.0 } else { 8.0 };
                let mut p = Piece::new(words, theme::SMALL, Kind::Text, gap);
                let bad = matches!(state, ai_echo::conversation::AnswerState::Failed(_));
                p.ink = if bad { Ink::Danger } else { Ink::Muted };
                out.push(p);
            }
            out
        }
        ItemKind::Tool { arguments, state, summary, preview, result, .. } => {
            let mut out = Vec::new();
            let why = match state {
                ToolState::Refused(w) | ToolState::Failed(w) if !w.is_empty() => Some((w.as_str(), Ink::Danger)),
                _ if !summary.is_empty() => Some((summary.as_str(), Ink::Muted)),
                _ => None,
            };
            if let Some((words, ink)) = why {
                let mut p = Piece::new(words, theme::SMALL, Kind::Text, 0.0);
                p.ink = ink;
                out.push(p);
            }
            if expanded {
                out.push(Piece::new(arguments.clone(), theme::MONO, Kind::Code("arguments".into()), 8.0));
                if !preview.is_empty() {
                    let label = match result {
                        Some((total, _)) if *total > preview.len() as u64 => {
                            format!("result, {} of {total} bytes", preview.len())
                        }
                        _ => "result".to_owned(),
                    };
                    out.push(Piece::new(preview.clone(), theme::MONO, Kind::Code(label), 8.0));
                }
            }
            out
        }
        // Its line is made of links; the reasons stand below once somebody asks for them.
        ItemKind::Guidance { used, .. } => {
            let piece = |u: &GuidanceUse| {
                let size = match u.kept == u.total {
                    true => format!("{} bytes", u.total),
                    false => format!("{} of {} bytes", u.kept, u.total),
                };
                let words = format!("{}: {}; {size}, sha256 {}", u.path, u.why, u.digest.short());
                let mut p = Piece::new(words, theme::SMALL, Kind::Text, 4.0);
                p.ink = Ink::Muted;
                p
            };
            if expanded { used.iter().map(piece).collect() } else { Vec::new() }
        }
        ItemKind::Notice { text } => {
            let mut p = Piece::new(text.clone(), theme::SMALL, Kind::Text, 0.0);
            p.ink = Ink::Muted;
            vec![p]
        }
    }
}

/// Text between two positions, in logical order: pieces on lines, cells of a row by tabs.
pub fn copied(parts: &[(&Piece, Range<usize>)]) -> String {
    let mut out = String::new();
    let mut last: Option<&Piece> = None;
    for (p, r) in parts {
        if let Some(prev) = last {
            let same_row = matches!((&prev.kind, &p.kind), (Kind::Cell(a, ..), Kind::Cell(b, ..)) if a == b);
            out.push(if same_row { '\t' } else { '\n' });
        }
        if let Kind::Bullet(m) = &p.kind
            && r.start == 0
        {
            out.push_str(m);
            out.push(' ');
        }
        out.push_str(p.text.get(r.clone()).unwrap_or(""));
        last = Some(p);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_text_gives_the_pieces_of_the_whole_text() {
        let text = "# A\n\nfirst *one* and [l](https://a.b)\n\n- x\n- y\n\n```rs\nlet a;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend";
        let mut whole = Growing::default();
        let want = whole.follow(text, true).to_vec();
        for step in [1, 3, 7] {
            let mut g = Growing::default();
            let mut at = 0;
            while at < text.len() {
                at = (at + step).min(text.len());
                g.follow(&text[..at], false);
            }
            assert_eq!(g.follow(text, true), want, "step {step}");
        }
        assert!(want.iter().any(|p| p.kind == Kind::Bullet("•".into()) && p.text == "x"));
        assert!(want.iter().any(|p| matches!(&p.kind, Kind::Code(l) if l == "rs")));
        assert_eq!(want.iter().filter(|p| matches!(p.kind, Kind::Cell(..))).count(), 4);
    }

    #[test]
    fn copying_keeps_rows_and_lists_readable() {
        let mut g = Growing::default();
        let pieces = g.follow("- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |", true).to_vec();
        let parts: Vec<_> = pieces.iter().map(|p| (p, 0..p.text.len())).collect();
        assert_eq!(copied(&parts), "• one\n• two\na\tb\n1\t2");
    }
}
