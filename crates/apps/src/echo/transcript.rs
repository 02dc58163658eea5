//! The transcript: only what is in view is laid out and painted; it follows the newest text
//! unless the person scrolled up.

use super::layout::{CODE_BAR, Placed, shape, table_len};
use super::pieces::{Ink, Kind, Piece, tool_words};
use super::transcript_id;
use crate::desktop::{Action, Desktop};
use ai_echo::conversation::{AnswerState, GuidanceUse, Item, ItemKind, Receipt, Told, guidance_words};
use ai_echo::turn::Effect;
use kernel::MountId;
use scene::{Live, Node, NodeId, Point, Rect, Rgba, Role, State};
use ui::theme::{self, CAPTION, SMALL};
use ui::widgets::{self, Kind as Button};
use ui::{Control, Cursor, Frame, Icon, Theme};

/// Widest column of text, logical pixels.
const MEASURE: f32 = 760.0;
const GAP: f32 = 20.0;
/// Messages before and behind the view that are said though they are not drawn.
const SAID_AROUND: usize = 40;
/// Narrower than this, words take more lines.
const NARROW: f32 = 480.0;

/// Where the transcript stands: an item and how far its top is above the view. Absolute
/// heights are never needed, so items out of view need no layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scroll {
    pub follow: bool,
    pub item: usize,
    pub offset: f32,
    pub pending: f32,
}

impl Default for Scroll {
    fn default() -> Self {
        Self { follow: true, item: 0, offset: 0.0, pending: 0.0 }
    }
}

impl Scroll {
    /// Brings an item to the top of the view.
    pub(crate) fn show(&mut self, item: usize) {
        *self = Self { follow: false, item, offset: -24.0, pending: 0.0 };
    }
}

/// An item's outer form.
struct Form {
    /// Height above the pieces.
    head: f32,
    /// Height below.
    foot: f32,
    /// Padding left and right.
    pad: f32,
    /// Widest content.
    width: f32,
}

fn form(item: &Item, column: f32) -> Form {
    match &item.kind {
        ItemKind::User { .. } => Form { head: 10.0, foot: 10.0, pad: 14.0, width: (column * 0.86).min(600.0) },
        ItemKind::Assistant { .. } => Form { head: 28.0, foot: 0.0, pad: 0.0, width: column },
        ItemKind::Tool { receipt, .. } => {
            // On a narrow screen a receipt takes two lines.
            let foot = if column < NARROW { 64.0 } else { 44.0 };
            Form { head: 36.0, foot: if receipt.is_some() { foot } else { 10.0 }, pad: 12.0, width: column }
        }
        ItemKind::Guidance { .. } => Form { head: 22.0, foot: 0.0, pad: 0.0, width: column },
        ItemKind::Notice { .. } => Form { head: 0.0, foot: 0.0, pad: 0.0, width: column },
    }
}

/// What a receipt says, short enough for its line; the whole path is in the call's details.
fn receipt_words(r: &Receipt) -> String {
    let path = kernel::clip::label(r.path.as_str(), 80);
    match (r.effect, &r.before, r.after) {
        (Effect::Applied, None, _) => format!("Receipt: {path} was made as you approved it"),
        (Effect::Applied, Some(_), None) => format!("Receipt: {path} was removed as you approved it"),
        (Effect::Applied, Some(_), Some(_)) => format!("Receipt: {path} was changed as you approved it"),
        (Effect::NotApplied | Effect::None, ..) => format!("Receipt: {path} was not changed"),
        (Effect::Unknown, ..) => format!("Receipt: nobody can say whether {path} was changed"),
    }
}

fn ink(theme: &Theme, i: Ink) -> Rgba {
    match i {
        Ink::Text => theme.text,
        Ink::Muted => theme.muted,
        Ink::Danger => theme.danger,
    }
}

impl Desktop {
    /// Height of an item, laid out now if it is new.
    fn item_height(&mut self, f: &mut Frame<'_, Action>, index: usize, column: f32) -> f32 {
        let Some(item) = self.agent.current().and_then(|c| c.items.get(index)) else { return 0.0 };
        let m = form(item, column);
        let open = self.echo.expanded.contains(&item.id);
        let (_, _, h, _) = self.echo.cache.layout(item, open, m.width - 2.0 * m.pad, f.engine, f.theme);
        m.head + h + m.foot + GAP
    }

    /// Paints the conversation into `rect`.
    pub(crate) fn paint_transcript(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let count = self.agent.current().map_or(0, |c| c.items.len());
        let busy = self.agent.turns().active().is_some();
        let state = State { live: Live::Off, busy, ..State::default() };
        let node =
            Node { id: transcript_id(), role: Role::Log, name: "Conversation".into(), rect, state, ..Node::default() };
        let column = (rect.w - 2.0 * f.m.pad).min(MEASURE);
        let left = (rect.x + (rect.w - column) / 2.0).round();
        f.group(node, |f| {
            if count == 0 {
                self.paint_empty(f, rect, left, column);
                return;
            }
            let (first, top) = self.place_view(f, rect, column, count);
            let known: f32 = (0..count).map(|i| self.estimate(i)).sum();
            f.scroll_owned(transcript_id(), rect, (known - rect.h).max(1.0));
            // What is out of view is said as well, so that a screen reader can go on reading.
            for i in first.saturating_sub(SAID_AROUND)..first {
                self.say_item(f, i, count, Rect::new(left, rect.y, column, 0.0));
            }
            let mut next = first;
            f.region(transcript_id(), |f| {
                f.clip(rect, |f| {
                    let mut y = top;
                    for i in first..count {
                        if y > rect.bottom() {
                            break;
                        }
                        let h = self.item_height(f, i, column);
                        self.paint_item(f, i, count, Rect::new(left, y, column, h - GAP));
                        y += h;
                        next = i + 1;
                    }
                })
            });
            for i in next..count.min(next + SAID_AROUND) {
                self.say_item(f, i, count, Rect::new(left, rect.bottom(), column, 0.0));
            }
            let above: f32 = (0..first).map(|i| self.estimate(i)).sum::<f32>() + rect.y - top;
            f.thumb(rect, above, known);
            if !self.echo.scroll.follow {
                let label = "Jump to latest";
                let w = widgets::button_width(f, label, true);
                let at = Rect::new((rect.x + (rect.w - w) / 2.0).round(), rect.bottom() - 44.0, w, 32.0);
                widgets::card(f, at, f.theme.raised, 6.0, f.theme.hairline(), true);
                let id = NodeId::of("jump", 0);
                widgets::button(f, id, at, Button::Plain, Some(Icon::Down), Control::button(label), Action::JumpLatest);
            }
        });
    }

    fn estimate(&self, i: usize) -> f32 {
        let Some(item) = self.agent.current().and_then(|c| c.items.get(i)) else { return 0.0 };
        self.echo.cache.known_height(item.id).map_or(96.0, |h| h + 40.0 + GAP)
    }

    /// The first item in view and where its top is.
    fn place_view(&mut self, f: &mut Frame<'_, Action>, rect: Rect, column: f32, count: usize) -> (usize, f32) {
        let mut s = self.echo.scroll;
        if s.pending < 0.0 {
            s.follow = false;
        }
        let pad = 12.0;
        if !s.follow {
            s.item = s.item.min(count - 1);
            s.offset += std::mem::take(&mut s.pending);
            while s.offset < -pad && s.item > 0 {
                s.item -= 1;
                s.offset += self.item_height(f, s.item, column);
            }
            if s.item == 0 {
                s.offset = s.offset.max(-pad);
            }
            let mut h = self.item_height(f, s.item, column);
            while s.offset >= h && s.item + 1 < count {
                s.offset -= h;
                s.item += 1;
                h = self.item_height(f, s.item, column);
            }
            // Does what is left below still fill the view?
            let mut below = -s.offset;
            let mut i = s.item;
            while i < count && below < rect.h {
                below += self.item_height(f, i, column);
                i += 1;
            }
            s.follow = i == count && below <= rect.h + 1.0;
        }
        s.pending = 0.0;
        if s.follow {
            let (mut i, mut sum) = (count, 0.0);
            while i > 0 && sum < rect.h {
                i -= 1;
                sum += self.item_height(f, i, column);
            }
            s.item = i;
            // A short conversation begins at the top.
            s.offset = if i == 0 && sum < rect.h - pad { -pad } else { sum - rect.h };
        }
        self.echo.scroll = s;
        (s.item, (rect.y - s.offset).round())
    }

    /// Says an item that is not in view, without laying it out.
    fn say_item(&mut self, f: &mut Frame<'_, Action>, index: usize, count: usize, rect: Rect) {
        let Some(item) = self.agent.current().and_then(|c| c.items.get(index)) else { return };
        let open = self.echo.expanded.contains(&item.id);
        let pieces = self.echo.cache.pieces(item, open);
        f.group(article(item, index, count, rect), |f| {
            in_groups(f, item.id, pieces, &|_| rect, &|f, i| {
                let n = u32::try_from(i).unwrap_or(u32::MAX);
                if pieces[i].kind != Kind::Rule {
                    f.node(said(item.id, n, &pieces[i], rect));
                }
            });
        });
    }

    fn paint_item(&mut self, f: &mut Frame<'_, Action>, index: usize, count: usize, rect: Rect) {
        let Some(item) = self.agent.current().and_then(|c| c.items.get(index)) else { return };
        let m = form(item, rect.w);
        let open = self.echo.expanded.contains(&item.id);
        let (pieces, placed, _, wide) = self.echo.cache.layout(item, open, m.width - 2.0 * m.pad, f.engine, f.theme);
        let node = article(item, index, count, rect);
        let model = match &item.kind {
            ItemKind::Assistant { model, .. } => Some(model.clone()),
            _ => None,
        };
        f.group(node, |f| {
            let mut at = Point::new(rect.x + m.pad, rect.y + m.head);
            match &item.kind {
                ItemKind::User { .. } => {
                    let w = (wide + 2.0 * m.pad).clamp(48.0, m.width);
                    let bubble = Rect::new(rect.right() - w, rect.y, w, rect.h);
                    f.bordered(bubble, f.theme.mine, 12.0, f.theme.hairline());
                    at.x = bubble.x + m.pad;
                }
                ItemKind::Assistant { .. } => {
                    ui::icons::icon(f, Icon::Echo, Rect::new(rect.x, rect.y, 16.0, 20.0), f.theme.accent);
                    let s =
                        f.line(Point::new(rect.x + 24.0, rect.y), "AI Echo", SMALL.weight(600), f.theme.text, 120.0);
                    let x = rect.x + 24.0 + s.w + 8.0;
                    let model = model.as_deref().unwrap_or_default();
                    let _ =
                        f.line(Point::new(x, rect.y + 2.0), model, CAPTION, f.theme.muted, (rect.right() - x).max(1.0));
                }
                ItemKind::Tool { .. } => f.bordered(rect, f.theme.panel, 8.0, f.theme.hairline()),
                ItemKind::Guidance { what, mount, used, left_out } => {
                    paint_guidance(f, item.id, open, rect, *what, mount, used, *left_out)
                }
                ItemKind::Notice { .. } => {}
            }
            let selected = self.echo.selection;
            let find = self.echo.find.as_ref().map(|x| (&x.matches, x.at));
            let paint = |f: &mut Frame<'_, Action>, i: usize| {
                let (p, place, n) = (&pieces[i], &placed[i], u32::try_from(i).unwrap_or(u32::MAX));
                let marks = find.map(|(m, at)| {
                    let of = |(k, (a, b, r)): (usize, &(u64, u32, std::ops::Range<usize>))| {
                        ((*a, *b) == (item.id, n)).then(|| (r.clone(), k == at))
                    };
                    m.iter().enumerate().filter_map(of).collect::<Vec<_>>()
                });
                let range = selected.and_then(|s| s.of(item.id, n, p.text.len()));
                paint_piece(f, item.id, n, p, place, at, range, &marks.unwrap_or_default());
            };
            let place = |r: std::ops::Range<usize>| {
                let rects = placed[r].iter().map(|p| p.rect.shift(at.x, at.y));
                rects.reduce(|a, b| a.union(&b)).unwrap_or_default()
            };
            in_groups(f, item.id, pieces, &place, &paint);
            if let ItemKind::Assistant { text, state, .. } = &item.kind
                && text.is_empty()
                && !state.is_final()
            {
                let words = if matches!(state, AnswerState::Queued) { "" } else { "Thinking…" };
                let _ = f.line(Point::new(rect.x, rect.y + 24.0), words, SMALL, f.theme.muted, rect.w);
            }
            if let (ItemKind::Assistant { state: AnswerState::Queued, .. }, Some(c)) =
                (&item.kind, self.agent.current())
            {
                let w = widgets::button_width(f, "Take back", true);
                let b = Rect::new(rect.right() - w, rect.y - 4.0, w, 28.0);
                let c2 = Control::button("Take back").describe("this message is not answered; nothing else stops");
                let turn = kernel::TurnKey { conversation: c.id.clone(), turn: item.turn };
                let id = NodeId::of("take-back", item.id);
                widgets::button(f, id, b, Button::Ghost, Some(Icon::Close), c2, Action::StopTurn(turn));
            }
            if let ItemKind::Tool { tool, state, receipt, .. } = &item.kind {
                let (words, colour) = tool_words(state);
                let mut c = Control::button(format!(
                    "{tool}: {words}. {}",
                    if open { "Show less" } else { "Show arguments and result" }
                ));
                c.state.expanded = Some(open);
                let bar = Rect::new(rect.x, rect.y, rect.w, 36.0);
                f.control(NodeId::of("tool", item.id), bar, c, Some(Action::ToggleItem(item.id)), |f, look| {
                    let color = if look.hover { f.theme.text } else { f.theme.muted };
                    ui::icons::icon(f, Icon::Tool, Rect::new(bar.x + 12.0, bar.y, 16.0, bar.h), color);
                    let s = f.line(Point::new(bar.x + 36.0, bar.y + 8.0), tool, theme::MONO, f.theme.text, bar.w * 0.5);
                    let x = bar.x + 36.0 + s.w + 12.0;
                    let room = (bar.right() - x - 36.0).max(1.0);
                    let _ = f.line(Point::new(x, bar.y + 8.0), words, SMALL, ink(f.theme, colour), room);
                    let sign = if open { Icon::Up } else { Icon::Down };
                    ui::icons::icon(f, sign, Rect::new(bar.right() - 32.0, bar.y, 20.0, bar.h), color);
                });
                if let Some(op) = receipt {
                    let r = self.agent.receipt(op);
                    let y = rect.bottom() - m.foot + 4.0;
                    f.fill(Rect::new(rect.x + 1.0, y, rect.w - 2.0, 1.0), f.theme.line, 0.0);
                    let text = r.map_or_else(|| "Receipt".to_owned(), receipt_words);
                    let can = r.is_some_and(Receipt::can_undo);
                    let room = rect.w - if can { 110.0 } else { 24.0 };
                    let at = Point::new(rect.x + 12.0, y + 10.0);
                    let s = f.wrapped(at, &text, SMALL, f.theme.muted, room);
                    let node = Rect::new(at.x, at.y, s.w, s.h);
                    f.node(Node {
                        id: NodeId::of("receipt", item.id),
                        role: Role::Text,
                        name: text,
                        rect: node,
                        ..Node::default()
                    });
                    if can {
                        let b = Rect::new(rect.right() - 84.0, y + 6.0, 76.0, 28.0);
                        let c = Control::button("Undo").describe("asks for a review that puts the file back");
                        let id = NodeId::of("undo", item.id);
                        widgets::button(f, id, b, Button::Plain, None, c, Action::Undo(op.clone()));
                    }
                }
            }
        });
    }

    /// The first screen of a conversation: what this is, and things to try.
    fn paint_empty(&mut self, f: &mut Frame<'_, Action>, rect: Rect, left: f32, column: f32) {
        let tries = self.tries();
        let small = rect.h < 420.0;
        let total = if small { 220.0 } else { 320.0 };
        let mut y = (rect.y + ((rect.h - total) / 2.0).max(16.0)).round();
        let id = NodeId::of("empty-scroll", 0);
        let from = self.scrolls.get(&id).copied().unwrap_or(0.0);
        f.scroll(id, rect, from, |f, by| {
            y -= by;
            if !small {
                let tile = Rect::new(left, y, 44.0, 44.0);
                f.fill(tile, f.theme.accent_fill, 12.0);
                ui::icons::icon(f, Icon::Echo, tile, f.theme.on_accent);
                y += 60.0;
            }
            let style = if f.m.narrow { theme::HEADING } else { theme::DISPLAY };
            let s = f.heading(NodeId::of("empty", 0), Point::new(left, y), "What shall we look at?", style, 1, column);
            y += s.h + 8.0;
            let text = "AI Echo works in the folder you mount, with a small model that runs on this device. It reads on its own; it changes a file only after you have seen and approved the change.";
            let s = f.say(NodeId::of("empty", 1), Point::new(left, y), text, theme::READING, f.theme.muted, column.min(600.0));
            y += s.h + 20.0;
            let two = column >= 520.0;
            let w = if two { (column - 12.0) / 2.0 } else { column };
            for (i, (label, draft)) in tries.iter().enumerate() {
                let (col, row) = if two { (i % 2, i / 2) } else { (0, i) };
                let r = Rect::new(left + col as f32 * (w + 12.0), y + row as f32 * 68.0, w, 60.0);
                let c = Control::button(*label).describe(format!("fills the draft with: {draft}"));
                f.control(NodeId::of("try", i as u64), r, c, Some(Action::Try(i)), |f, look| {
                    let fill = if look.hover || look.pressed { f.theme.hover } else { f.theme.raised };
                    f.bordered(r, fill, 8.0, f.theme.hairline());
                    let inner = w - 28.0;
                    let _ = f.line(Point::new(r.x + 14.0, r.y + 10.0), label, theme::BODY.weight(600), f.theme.text, inner);
                    let _ = f.line(Point::new(r.x + 14.0, r.y + 32.0), draft, CAPTION, f.theme.muted, inner);
                });
            }
            let rows = tries.len().div_ceil(if two { 2 } else { 1 });
            y + rows as f32 * 68.0 + by - rect.y
        });
    }
}

/// How many pieces from here on belong together: a table's cells, a list's items, else one.
fn run_len(pieces: &[Piece]) -> usize {
    match pieces[0].kind {
        Kind::Cell(..) => table_len(pieces),
        Kind::Bullet(_) => pieces.iter().take_while(|p| matches!(p.kind, Kind::Bullet(_))).count(),
        _ => 1,
    }
}

/// How many cells from here on share a row.
fn row_len(cells: &[Piece]) -> usize {
    let row = |p: &Piece| if let Kind::Cell(row, ..) = p.kind { Some(row) } else { None };
    cells.iter().take_while(|p| row(p) == row(&cells[0])).count()
}

/// Goes through pieces inside the tables, rows and lists that they belong to.
fn in_groups(
    f: &mut Frame<'_, Action>,
    item: u64,
    pieces: &[Piece],
    rect: &dyn Fn(std::ops::Range<usize>) -> Rect,
    each: &dyn Fn(&mut Frame<'_, Action>, usize),
) {
    let around = |role: Role, r: std::ops::Range<usize>| {
        let kind = match role {
            Role::Table => "table",
            Role::Row => "table-row",
            _ => "list",
        };
        let id = NodeId::of(kind, piece_key(item, u32::try_from(r.start).unwrap_or(u32::MAX)));
        Node { id, role, rect: rect(r), ..Node::default() }
    };
    let mut i = 0;
    while i < pieces.len() {
        let end = i + run_len(&pieces[i..]);
        match pieces[i].kind {
            Kind::Cell(..) => f.group(around(Role::Table, i..end), |f| {
                while i < end {
                    let row = i + row_len(&pieces[i..end]);
                    f.group(around(Role::Row, i..row), |f| (i..row).for_each(|i| each(f, i)));
                    i = row;
                }
            }),
            Kind::Bullet(_) => f.group(around(Role::List, i..end), |f| (i..end).for_each(|i| each(f, i))),
            _ => each(f, i),
        }
        i = end;
    }
}

/// A piece's number among all.
fn piece_key(item: u64, index: u32) -> u64 {
    item.wrapping_mul(4096).wrapping_add(u64::from(index))
}

/// The line about what a turn was told: each file opens in Files, the last word tells why.
#[allow(clippy::too_many_arguments)] // one line and all that it says
fn paint_guidance(
    f: &mut Frame<'_, Action>,
    item: u64,
    open: bool,
    rect: Rect,
    what: Told,
    mount: &MountId,
    used: &[GuidanceUse],
    left_out: u32,
) {
    let style = SMALL;
    let why = if open { "Show less" } else { "Why" };
    let rest = if left_out > 0 { format!("{left_out} left out") } else { String::new() };
    let tail = f.width(&rest, style) + f.width(why, style) + 24.0;
    let mut x = rect.x;
    x += f.line(Point::new(x, rect.y), what.title(used.len()), style, f.theme.muted, rect.w).w + 6.0;
    for (i, u) in used.iter().enumerate() {
        let label = u.path.to_string();
        let more = format!("and {} more", used.len() - i);
        let room = rect.right() - x - tail - if i + 1 < used.len() { f.width(&more, style) + 8.0 } else { 0.0 };
        if i > 0 && f.width(&label, style) > room {
            x += f.line(Point::new(x, rect.y), &more, style, f.theme.muted, rect.w).w + 8.0;
            break;
        }
        let id = NodeId::of(&format!("guidance-{i}"), item);
        let act = Action::ShowFile(mount.clone(), u.path.clone());
        x += widgets::link(f, id, Point::new(x, rect.y), &label, style, act).w + 8.0;
    }
    if !rest.is_empty() {
        x += f.line(Point::new(x, rect.y), &rest, style, f.theme.muted, rect.w).w + 8.0;
    }
    let id = NodeId::of("guidance-why", item);
    let _ = widgets::link(f, id, Point::new(x, rect.y), why, style, Action::ToggleItem(item));
}

/// A message as it is said.
fn article(item: &Item, index: usize, count: usize, rect: Rect) -> Node {
    let set = |n: usize| u32::try_from(n).ok();
    let (name, description) = match &item.kind {
        ItemKind::User { .. } => ("You".to_owned(), String::new()),
        ItemKind::Assistant { model, .. } => ("AI Echo".to_owned(), format!("answered by {model}")),
        ItemKind::Tool { tool, state, .. } => (format!("Tool {tool}, {}", tool_words(state).0), String::new()),
        ItemKind::Guidance { what, used, left_out, .. } => (guidance_words(*what, used, *left_out), String::new()),
        ItemKind::Notice { .. } => ("Notice".to_owned(), String::new()),
    };
    let state = State { pos_in_set: set(index + 1), set_size: set(count), ..State::default() };
    Node { id: NodeId::of("item", item.id), role: Role::Article, name, description, rect, state, ..Node::default() }
}

fn piece_id(item: u64, index: u32) -> NodeId {
    NodeId::of("piece", piece_key(item, index))
}

/// A piece as it is said.
fn said(item: u64, index: u32, p: &Piece, rect: Rect) -> Node {
    let (role, level) = match &p.kind {
        Kind::Heading(l) => (Role::Heading, Some(*l)),
        Kind::Code(_) => (Role::Code, None),
        Kind::Cell(0, ..) => (Role::ColumnHeader, None),
        Kind::Cell(..) => (Role::Cell, None),
        Kind::Bullet(_) => (Role::ListItem, None),
        Kind::Text if p.quote > 0 => (Role::Quote, None),
        Kind::Text | Kind::Rule => (Role::Paragraph, None),
    };
    let state = State { level, ..State::default() };
    Node { id: piece_id(item, index), role, name: p.text.clone(), rect, state, ..Node::default() }
}

#[allow(clippy::too_many_arguments)] // one piece in its place, with what lies over it
fn paint_piece(
    f: &mut Frame<'_, Action>,
    item: u64,
    index: u32,
    p: &Piece,
    place: &Placed,
    at: Point,
    selected: Option<std::ops::Range<usize>>,
    found: &[(std::ops::Range<usize>, bool)],
) {
    let rect = place.rect.shift(at.x, at.y);
    if let Kind::Rule = p.kind {
        f.fill(rect, f.theme.line, 0.0);
        return;
    }
    f.node(said(item, index, p, rect));
    if f.visible(&rect.inset(-32.0, -2.0)).is_empty() {
        return;
    }
    let id = piece_id(item, index);
    let origin = Point::new(at.x + place.text.x, at.y + place.text.y);
    let color = ink(f.theme, p.ink);
    f.press(id, rect, Action::SelectText(item), Cursor::Text, false);
    for q in 0..p.quote {
        f.fill(
            Rect::new(rect.x - 14.0 - 16.0 * f32::from(q), rect.y - p.gap / 2.0, 3.0, rect.h + p.gap),
            f.theme.line,
            1.0,
        );
    }
    match &p.kind {
        Kind::Bullet(mark) => {
            let w = f.width(mark, theme::READING);
            let _ = f.line(Point::new(rect.x - w - 8.0, rect.y), mark, theme::READING, f.theme.muted, w + 4.0);
        }
        Kind::Code(lang) => {
            f.bordered(rect, f.theme.code, 8.0, f.theme.hairline());
            let _ = f.line(Point::new(rect.x + 12.0, rect.y + 7.0), lang, CAPTION, f.theme.muted, rect.w - 100.0);
            let b = Rect::new(rect.right() - 72.0, rect.y + 2.0, 68.0, CODE_BAR - 4.0);
            let c = Control::button("Copy code");
            let copy = NodeId::of("copy", id.0);
            widgets::labelled_button(
                f,
                copy,
                b,
                Button::Ghost,
                Some(Icon::Copy),
                "Copy",
                c,
                Action::CopyCode(item, index),
            );
        }
        Kind::Cell(r, ..) => {
            if *r == 0 {
                f.fill(rect, f.theme.panel, 0.0);
            }
            f.fill(Rect::new(rect.x, rect.bottom() - 1.0, rect.w, 1.0), f.theme.line, 0.0);
        }
        _ => {}
    }
    let theme = f.theme;
    let block = shape(f.engine, p, place.width, theme);
    for (r, current) in found {
        for q in f.engine.ranges(block, r.clone()) {
            let q = q.shift(origin.x, origin.y);
            f.fill(q, theme.found, 2.0);
            if *current {
                f.bordered(q, Rgba::CLEAR, 2.0, scene::Border { width: 1.5, color: theme.accent });
            }
        }
    }
    if let Some(r) = selected {
        for q in f.engine.ranges(block, r) {
            f.fill(q.shift(origin.x, origin.y), theme.selection, 2.0);
        }
    }
    for m in p.marks.iter().filter(|m| m.code) {
        for q in f.engine.ranges(block, m.range.clone()) {
            f.fill(q.shift(origin.x, origin.y).inset(-2.0, 2.0), theme.code, 4.0);
        }
    }
    let _ = f.run(block, origin, color);
    for (k, m) in p.marks.iter().enumerate() {
        let Some(href) = &m.href else { continue };
        let boxes = f.engine.ranges(block, m.range.clone());
        let Some(all) = boxes.iter().copied().reduce(|a, b| a.union(&b)) else { continue };
        let text = p.text.get(m.range.clone()).unwrap_or("").to_owned();
        let c = Control::new(Role::Link, text).describe(href.as_str());
        let link = NodeId::of("link", id.0.wrapping_add(k as u64));
        f.control(link, all.shift(origin.x, origin.y), c, Some(Action::OpenLink(href.clone())), |f, look| {
            for q in &boxes {
                let q = q.shift(origin.x, origin.y);
                let h = if look.hover { 2.0 } else { 1.0 };
                f.fill(Rect::new(q.x, q.bottom() - 4.0, q.w, h), f.theme.accent, 0.0);
            }
        });
    }
    f.selectable((item, index), block, origin);
}
