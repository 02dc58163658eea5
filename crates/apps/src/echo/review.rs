//! The review card: who asks, the whole of what will happen, and the two buttons (decision 21).

use super::card_id;
use crate::desktop::{Action, Desktop};
use ai_echo::tools::{Change, DiffKind, DiffLine};
use kernel::Digest;
use kernel::authority::ShownReview;
use scene::{Border, Node, NodeId, Point, Rect, Role, State};
use text::Wrap;
use ui::theme::{self, CAPTION, SMALL};
use ui::widgets::{self, Kind as Button};
use ui::{Control, Frame, Icon};

/// Lines laid out in one frame, so that a long file does not stop the page.
const LINES_PER_FRAME: usize = 600;
/// Room for the change below which the words above it scroll with it, logical pixels.
const BODY_MIN: f32 = 96.0;
/// Height of the heading above the arguments, logical pixels.
const HEAD: f32 = 32.0;
/// Longest piece of the arguments that is laid out as one, in bytes.
const PIECE_MAX: usize = 400;
/// Room at the end of the change for the line that counts what is not in view, logical pixels.
const CUE: f32 = 40.0;
/// Height in which a line of the change can be read, logical pixels.
const LINE_SEEN: f32 = 28.0;

/// What a card keeps.
#[derive(Debug)]
pub(crate) struct Card {
    pub digest: Digest,
    /// Since it is on screen; used up by a decision.
    pub shown: Option<ShownReview>,
    title: String,
    lines: Option<Vec<DiffLine>>,
    /// The arguments as they were given, in pieces of a bounded length.
    arguments: Vec<String>,
    /// Tops of the rows, as far as they are laid out, for a width: the change line by line, a
    /// heading, the arguments.
    tops: Vec<f32>,
    made_for: (u32, u32),
    /// Height with which nothing of it has to scroll, once it is laid out.
    whole: Option<f32>,
}

impl Card {
    pub(crate) fn new(digest: Digest) -> Self {
        Self {
            digest,
            shown: None,
            title: String::new(),
            lines: None,
            arguments: vec![],
            tops: vec![0.0],
            made_for: (0, 0),
            whole: None,
        }
    }
    /// The change, the heading, the arguments.
    fn rows(&self) -> usize {
        self.lines.as_ref().map_or(0, Vec::len) + 1 + self.arguments.len()
    }
    fn complete(&self) -> bool {
        self.tops.len() > self.rows()
    }
}

fn sign(k: DiffKind) -> &'static str {
    match k {
        DiffKind::Same => " ",
        DiffKind::Removed => "−",
        DiffKind::Added => "+",
    }
}

impl Desktop {
    /// The card in front, if this conversation has one.
    pub(crate) fn front_card(&self) -> Option<kernel::CallId> {
        let c = self.agent.current()?;
        self.agent.reviews().iter().find(|r| r.call.turn.conversation == c.id).map(|r| r.call.clone())
    }

    /// Height that the card wants: as much as the change needs, up to most of the room.
    pub(crate) fn card_height(&self, room: f32) -> f32 {
        let Some(call) = self.front_card() else { return 0.0 };
        let most = (room * 0.82).clamp(420.0, 620.0).min(room);
        self.echo.cards.get(&call).and_then(|c| c.whole).map_or(most, |whole| whole.min(most))
    }

    /// Paints the card of the conversation in front into `rect`.
    pub(crate) fn paint_card(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let Some(call) = self.front_card() else { return };
        let agent = &*self.agent;
        let reviews = agent.reviews();
        let Some(review) = reviews.iter().find(|r| *r.call == call) else { return };
        let Some(card) = self.echo.cards.get_mut(&call) else { return };
        let p = review.proposal;
        if card.lines.is_none() {
            card.title = p.sentence();
            card.lines = Some(p.diff().unwrap_or_else(|| {
                let size = |b: &[u8]| format!("{} bytes that are not text, digest {}", b.len(), Digest::of(b).hex());
                let line = |kind, text| DiffLine { kind, before: None, after: None, text, no_newline: false };
                let mut v = vec![];
                if let Some(b) = &p.before {
                    v.push(line(DiffKind::Removed, size(b)));
                }
                if let Change::Write(b) = &p.change {
                    v.push(line(DiffKind::Added, size(b)));
                }
                v
            }));
            card.arguments = pieces_of(&kernel::clip::reveal(review.arguments));
            // What hides or turns text around is written out: the card shows what will be there.
            for l in card.lines.iter_mut().flatten() {
                if let std::borrow::Cow::Owned(shown) = kernel::clip::reveal(&l.text) {
                    l.text = shown;
                }
            }
        }
        let digest = card.digest;
        card.shown.get_or_insert_with(|| ShownReview::new(digest, self.now));
        let others = reviews.len() - 1;
        let title = card.title.clone();
        let anew = if review.shown_anew { "The file changed meanwhile, so this is shown anew. " } else { "" };
        let why = kernel::clip::label(review.why, 240);
        let who = format!("{anew}Tool {}, asked by {}. {why}", review.tool, review.asked_by);
        let who = who.trim_end();
        let mount = self.mounts.iter().find(|m| *m.id() == p.mount).map_or(p.mount.as_str(), |m| &m.record.title);
        let touch = format!("{} Folder: “{mount}”.", review.explanation);
        let id = card_id(0);
        let whole = arguments_text(review.arguments, card.lines.as_deref().unwrap_or_default());
        f.opaque(id, rect);
        widgets::card(f, rect, f.theme.raised, 10.0, Border { width: 1.5, color: f.theme.accent }, true);
        let node = Node {
            id,
            role: Role::AlertDialog,
            name: format!("Review: {title}"),
            description: format!("{who} {touch}"),
            rect,
            state: State { focused: f.at.focus == Some(id), ..State::default() },
            ..Node::default()
        };
        let focused = node.state.focused;
        // Before its buttons in the Tab order: F8 comes here, Tab goes on to Reject and Approve.
        f.press(id, Rect::default(), Action::Focus(id), ui::Cursor::Default, true);
        f.group(node, |f| {
            let pad = 16.0;
            let (x, w) = (rect.x + pad, rect.w - 2.0 * pad);
            let mut y = rect.y + 12.0;
            let s = f.heading(NodeId::of("card-title", 0), Point::new(x, y), &title, theme::TITLE, 2, w);
            y += s.h + 2.0;
            let texts = [("card-who", who), ("card-touch", touch.as_str())];
            let measured = |f: &mut Frame<'_, Action>, w: f32| {
                texts.map(|(id, text)| {
                    let block = f.block(text, SMALL, &[], Some(w), Wrap::Word);
                    (NodeId::of(id, 0), text, f.engine.size(block).h)
                })
            };
            let mut said = measured(f, w);
            let mut said_h = said[0].2 + said[1].2;
            // Where there is no room for both, who asks and what for scroll with the change.
            let small = rect.bottom() - 60.0 - y - said_h - 8.0 < BODY_MIN;
            if small {
                said = measured(f, w - 24.0);
                said_h = said[0].2 + said[1].2;
            } else {
                for (id, text, h) in &said {
                    f.say(*id, Point::new(x, y), text, SMALL, f.theme.muted, w);
                    y += h;
                }
                y += 8.0;
            }
            let lead = if small { said_h + 8.0 } else { 0.0 };
            let body = Rect::new(x, y, w, rect.bottom() - 60.0 - y);
            f.bordered(body, f.theme.code, 6.0, f.theme.hairline());
            let code = NodeId::of(&format!("card-body {call}"), 0);
            f.node(Node {
                id: code,
                role: Role::Code,
                name: "The whole change".into(),
                value: whole,
                rect: body,
                ..Node::default()
            });
            // Lay out more lines, a bounded number a frame.
            let inner = body.w - 104.0;
            let key = (inner.to_bits(), f.engine.scale().to_bits());
            if card.made_for != key {
                card.made_for = key;
                card.tops = vec![0.0];
            }
            let lines = card.lines.as_deref().unwrap_or_default();
            let rows = card.rows();
            let from = card.tops.len() - 1;
            for i in (from..rows).take(LINES_PER_FRAME) {
                let (text, more) = match lines.get(i) {
                    Some(l) => (l.text.as_str(), if l.no_newline { 16.0 } else { 0.0 }),
                    None if i == lines.len() => ("", HEAD - theme::MONO.line_height),
                    None => (card.arguments[i - lines.len() - 1].as_str(), 0.0),
                };
                let block = f.block(text, theme::MONO, &[], Some(inner), Wrap::Word);
                let h = f.engine.size(block).h.max(theme::MONO.line_height) + more;
                let last = card.tops.last().copied().unwrap_or(0.0);
                card.tops.push(last + h);
            }
            // Laid out counts only where a line of it can be seen.
            let complete = card.complete() && body.h >= LINE_SEEN;
            if card.complete() && !small {
                let total = card.tops.last().copied().unwrap_or(0.0);
                let whole = Some(body.y - rect.y + (total + 10.0).max(BODY_MIN) + 60.0);
                if std::mem::replace(&mut card.whole, whole) != whole {
                    f.wake(f.now);
                }
            }
            let mut decidable = None;
            if let Some(shown) = card.shown.as_mut().filter(|_| complete) {
                shown.laid_out(self.now);
                decidable = shown.decidable_at();
            }
            if !complete {
                f.wake(f.now);
            }
            let tops = &card.tops;
            // It opens at the first change, with a little of what stands before it; where that is
            // longer than the room, at the end of what it puts in, which matters most.
            let laid = tops.len() - 1;
            let first = lines.iter().take(laid).position(|l| l.kind != DiffKind::Same).unwrap_or(0);
            let change = lines.iter().take(laid).skip(first).take_while(|l| l.kind != DiffKind::Same);
            let end = first + change.count();
            let added = lines[first..end].iter().position(|l| l.kind == DiffKind::Added).map(|n| first + n);
            // In a small card the change comes first, too: who asks stands above it.
            let top = if first > 2 || small { lead + tops[first.saturating_sub(2)] } else { 0.0 };
            let whole = added.map_or(0.0, |a| (lead + tops[end] + CUE - body.h).min(lead + tops[a]));
            let total = tops.last().copied().unwrap_or(0.0);
            let start = top.max(whole).min(lead + total + 8.0 - body.h).max(0.0);
            let scroll = self.scrolls.get(&code).copied().unwrap_or(start);
            f.scroll(code, body.inset(1.0, 1.0), scroll, |f, y| {
                if small {
                    let mut at = body.y + 4.0 - y;
                    for (id, text, h) in &said {
                        f.say(*id, Point::new(body.x + 8.0, at), text, SMALL, f.theme.muted, w - 24.0);
                        at += h;
                    }
                }
                let first = tops.partition_point(|t| lead + *t <= y).saturating_sub(1);
                for i in first..tops.len() - 1 {
                    let top = body.y + 4.0 + lead + tops[i] - y;
                    if top > body.bottom() {
                        break;
                    }
                    let r = Rect::new(body.x, top, body.w, tops[i + 1] - tops[i]);
                    match lines.get(i) {
                        Some(l) => paint_line(f, l, r),
                        None if i == lines.len() => {
                            let at = Point::new(r.x + 8.0, r.y + 10.0);
                            let words = "The arguments, as they were given";
                            let _ = f.line(at, words, CAPTION.weight(600), f.theme.muted, r.w - 16.0);
                        }
                        None => {
                            let text = &card.arguments[i - lines.len() - 1];
                            let block = f.block(text, theme::MONO, &[], Some(inner), Wrap::Word);
                            let _ = f.run(block, Point::new(r.x + 8.0, r.y), f.theme.muted);
                        }
                    }
                }
                lead + total + 8.0
            });
            // What is not whole in view is counted, so that nobody takes a part for the whole.
            let (from, edge) = (scroll - 4.0 - lead, scroll + body.h - 4.0 - lead);
            let above = tops.partition_point(|t| *t < from).min(lines.len());
            let below = lines.len().saturating_sub(tops.partition_point(|t| *t <= edge).saturating_sub(1));
            let count = |n: usize| format!("{n} more line{}", if n == 1 { "" } else { "s" });
            let words = match (above, below) {
                (0, 0) if total > edge => "The arguments are below".to_owned(),
                (0, 0) => String::new(),
                (0, n) => count(n),
                (n, 0) => format!("{} above", count(n)),
                (a, b) => format!("{} above, {b} below", count(a)),
            };
            if !words.is_empty() {
                let w = f.width(&words, CAPTION) + 40.0;
                let cue = Rect::new((body.right() - w - 12.0).max(body.x), body.bottom() - 28.0, w, 22.0);
                widgets::card(f, cue, f.theme.raised, 11.0, f.theme.hairline(), false);
                let way = if below == 0 && above > 0 { Icon::Up } else { Icon::Down };
                ui::icons::icon(f, way, Rect::new(cue.x + 6.0, cue.y, 16.0, cue.h), f.theme.muted);
                let at = Point::new(cue.x + 28.0, cue.y + 3.0);
                let _ = f.line(at, &words, CAPTION, f.theme.text, w - 30.0);
            }
            // The buttons. Their press is answered here; before the time it is refused by name.
            let ready = decidable.is_some_and(|t| f.now >= t);
            if let Some(t) = decidable.filter(|_| !ready) {
                f.wake(t);
            }
            let y = rect.bottom() - 48.0;
            let (aw, rw) = (112.0_f32, 100.0_f32);
            let approve = Rect::new(rect.right() - pad - aw, y, aw, 36.0);
            let reject = Rect::new(approve.x - 8.0 - rw, y, rw, 36.0);
            let wait = if complete {
                "can be pressed in a moment"
            } else {
                "can be pressed once the whole change is laid out"
            };
            let more = if others > 0 { format!(" {others} more waiting.") } else { String::new() };
            let hints = if ready {
                let s = if lines.len() == 1 { "" } else { "s" };
                let count = format!("{} line{s}.", lines.len());
                [format!("{count} F8 goes to this card, Esc back.{more}"), format!("{count}{more}"), more]
            } else {
                [format!("Approve {wait}.{more}"), more.clone(), more]
            };
            // The most that there is room for, and nothing cut in the middle.
            let room = reject.x - x - 8.0;
            if let Some(words) = hints.iter().find(|h| f.width(h, CAPTION) <= room) {
                let _ = f.line(Point::new(x, y + 10.0), words.trim_start(), CAPTION, f.theme.muted, room.max(1.0));
            }
            let c = Control::button("Reject").describe("nothing is changed");
            widgets::button(
                f,
                NodeId::of("reject", 0),
                reject,
                Button::Plain,
                Some(Icon::Close),
                c,
                Action::Reject(call.clone()),
            );
            let c = Control::button("Approve").disabled(!ready).describe(if ready {
                "does exactly what is shown"
            } else {
                wait
            });
            widgets::button(
                f,
                NodeId::of("approve", 0),
                approve,
                Button::Primary,
                Some(Icon::Check),
                c,
                Action::Approve(call.clone()),
            );
            if focused && f.at.ring {
                let border = Border { width: 2.0, color: f.theme.accent };
                f.bordered(rect.inset(-3.0, -3.0), scene::Rgba::CLEAR, 12.0, border);
            }
        });
    }
}

fn paint_line(f: &mut Frame<'_, Action>, l: &DiffLine, r: Rect) {
    let fill = match l.kind {
        DiffKind::Same => None,
        DiffKind::Removed => Some(f.theme.removed),
        DiffKind::Added => Some(f.theme.added),
    };
    if let Some(fill) = fill {
        f.fill(r, fill, 0.0);
    }
    let number = |n: Option<usize>| n.map_or(String::new(), |n| n.to_string());
    let style = theme::MONO;
    for (n, x) in [(number(l.before), r.x + 8.0), (number(l.after), r.x + 44.0)] {
        let _ = f.line(Point::new(x, r.y), &n, style, f.theme.muted, 36.0);
    }
    let color = match l.kind {
        DiffKind::Same => f.theme.muted,
        DiffKind::Removed => f.theme.danger,
        DiffKind::Added => f.theme.good,
    };
    let _ = f.line(Point::new(r.x + 82.0, r.y), sign(l.kind), style.weight(700), color, 14.0);
    let block = f.block(&l.text, style, &[], Some(r.w - 104.0), Wrap::Word);
    let s = f.run(block, Point::new(r.x + 98.0, r.y), f.theme.text);
    if l.no_newline {
        let _ = f.line(
            Point::new(r.x + 98.0, r.y + s.h),
            "(no line end at the end of the file)",
            CAPTION,
            f.theme.muted,
            r.w - 104.0,
        );
    }
}

/// Text in pieces, cut at line ends and else at [`PIECE_MAX`].
fn pieces_of(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while rest.len() > PIECE_MAX {
            let (piece, more) = rest.split_at(kernel::clip::boundary(rest, PIECE_MAX).max(1));
            out.push(piece.to_owned());
            rest = more;
        }
        out.push(rest.to_owned());
    }
    out
}

/// The arguments as they were given and the change line by line, for assistive technology.
fn arguments_text(arguments: &str, lines: &[DiffLine]) -> String {
    use std::fmt::Write as _;
    let mut out = format!("Arguments: {}\n", kernel::clip::reveal(arguments));
    for l in lines {
        let n = l.after.or(l.before).map_or(String::new(), |n| n.to_string());
        let word = match l.kind {
            DiffKind::Same => "unchanged",
            DiffKind::Removed => "removed",
            DiffKind::Added => "added",
        };
        let _ = writeln!(out, "{word} {n}: {}", l.text);
    }
    out
}
