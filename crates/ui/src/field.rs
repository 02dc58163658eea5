//! The text field: keys and presses over an [`EditBuffer`], its caret and its paint.

use crate::event::{EditKind, Key, KeyPress, TextEdit};
use crate::frame::{Control, Cursor, FieldGeom, Frame};
use crate::theme;
use scene::{BlockId, Border, Node, NodeId, Point, Rect, Rgba, Role, State};
use std::ops::Range;
use text::edit::Unit;
use text::{Affinity, BlockSpec, EditBuffer, Hit, TextEngine, TextStyle, Wrap};
use unicode_segmentation::UnicodeSegmentation as _;

/// The caret blinks for this long after the last edit, then stands (decision 26).
pub const BLINK_FOR_MS: u64 = 5000;
/// Half a blink.
pub const BLINK_MS: u64 = 530;

/// What a key did to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The text changed.
    Edited,
    /// Only caret or selection moved.
    Moved,
    /// Not for the field.
    Ignored,
}

/// A text field.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// Text, selection, composition, undo.
    pub buffer: EditBuffer,
    /// Takes line breaks, grows, and moves up and down inside.
    pub multiline: bool,
    /// A key or password: shown as dots, never said.
    pub secret: bool,
    scroll: f32,
    goal_x: Option<f32>,
    /// On which line the caret stands where one wraps: it belongs to the caret's place, not to
    /// the text, and holds until the caret moves by anything else.
    side: (usize, Affinity),
    last_edit: u64,
    /// The blocks of the last frame, for the height and for the paint: what did not change of
    /// them is not shaped again.
    made: [Option<BlockId>; 2],
    drag_unit: Range<usize>,
}

impl Field {
    /// A field of one line.
    #[must_use]
    pub fn line(text: &str) -> Self {
        Self { buffer: EditBuffer::new(text), ..Self::default() }
    }
    /// A field of several lines.
    #[must_use]
    pub fn area(text: &str) -> Self {
        Self { multiline: true, ..Self::line(text) }
    }
    /// A field whose text is never shown.
    #[must_use]
    pub fn secret() -> Self {
        Self { secret: true, ..Self::default() }
    }
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.buffer.text()
    }
    /// Replaces everything as another text, without a past.
    pub fn reset(&mut self, text: &str) {
        self.buffer.reset(text);
        self.scroll = 0.0;
        self.goal_x = None;
    }
    /// Replaces everything as one undoable step.
    pub fn set(&mut self, text: &str, now: u64) {
        let all = 0..self.text().len();
        self.buffer.replace(all, text);
        self.touched(now);
    }
    /// The owner edited the buffer itself: the caret blinks anew.
    pub fn key_touch(&mut self, now: u64) {
        self.touched(now);
    }
    fn touched(&mut self, now: u64) {
        self.last_edit = now;
        self.goal_x = None;
    }

    /// A delta of the input driver.
    pub fn edit(&mut self, e: &TextEdit, now: u64) {
        let one_line;
        let text = if self.multiline {
            e.text.as_str()
        } else {
            one_line = e.text.replace(['\r', '\n'], " ");
            &one_line
        };
        self.buffer.apply_utf16(e.range.clone(), text, e.selection, e.kind == EditKind::Composition);
        self.touched(now);
    }
    /// Pasted text.
    pub fn paste(&mut self, text: &str, now: u64) {
        if self.multiline {
            self.buffer.paste(text);
        } else {
            self.buffer.paste(&text.replace(['\r', '\n'], " "));
        }
        self.touched(now);
    }

    /// A key. Enter and Tab are the owner's; during a composition every key is the input
    /// method's (`field_7h1`).
    pub fn key(&mut self, k: &KeyPress, engine: &mut TextEngine, geom: Option<&FieldGeom>, now: u64) -> Reply {
        if k.composing {
            return Reply::Ignored;
        }
        let (shift, word) = (k.mods.shift, k.mods.ctrl || k.mods.alt);
        let unit = match (k.mods.meta, word) {
            (true, _) => Unit::Line,
            (_, true) => Unit::Word,
            _ => Unit::Grapheme,
        };
        let edge = if k.mods.command() { Unit::All } else { Unit::Line };
        let (revision, selection) = (self.buffer.revision(), self.buffer.selection());
        let keep_goal = matches!(k.key, Key::Up | Key::Down);
        match &k.key {
            Key::Left => self.buffer.move_back(unit, shift),
            Key::Right => self.buffer.move_forward(unit, shift),
            Key::Home => self.edge(edge, false, shift, engine, geom),
            Key::End => self.edge(edge, true, shift, engine, geom),
            Key::Up | Key::Down if self.multiline => {
                let down = k.key == Key::Down;
                let to = geom.and_then(|g| {
                    let at = engine.caret_at(g.block, self.at());
                    let goal = self.goal_x.unwrap_or(at.x);
                    self.goal_x = Some(goal);
                    beside(engine, g, at, goal, down)
                });
                let end = if down { self.text().len() } else { 0 };
                self.go(to.unwrap_or(Hit { byte: end, affinity: Affinity::After }), shift);
            }
            Key::Backspace => self.buffer.delete_back(unit),
            Key::Delete => self.buffer.delete_forward(unit),
            Key::Char('a') if k.mods.command() => self.buffer.select_all(),
            Key::Char('z') if k.mods.command() => {
                let _ = if shift { self.buffer.redo() } else { self.buffer.undo() };
            }
            Key::Char('y') if k.mods.command() => {
                let _ = self.buffer.redo();
            }
            _ => return Reply::Ignored,
        }
        if !keep_goal {
            self.goal_x = None;
        }
        self.last_edit = now;
        if self.buffer.revision() != revision {
            Reply::Edited
        } else if self.buffer.selection() != selection || self.multiline || !keep_goal {
            Reply::Moved
        } else {
            Reply::Ignored
        }
    }
    /// Whether the caret stands on the first (or last) line, where Up (Down) may mean more.
    pub fn at_edge(&mut self, down: bool, engine: &mut TextEngine, geom: Option<&FieldGeom>) -> bool {
        let Some(g) = geom else { return true };
        let at = engine.caret_at(g.block, self.at());
        beside(engine, g, at, 0.0, down).is_none()
    }
    /// The caret as the engine knows it.
    fn at(&self) -> Hit {
        let byte = self.buffer.caret();
        let affinity = if self.side.0 == byte { self.side.1 } else { Affinity::After };
        Hit { byte: self.shown(byte), affinity }
    }
    /// Moves the caret to a place of the engine's, and keeps on which line that was.
    fn go(&mut self, to: Hit, extend: bool) {
        self.buffer.move_to(self.real(to.byte), extend);
        self.side = (self.buffer.caret(), to.affinity);
    }
    fn edge(&mut self, unit: Unit, end: bool, extend: bool, engine: &mut TextEngine, geom: Option<&FieldGeom>) {
        match (unit, geom) {
            (Unit::Line, Some(g)) if self.multiline => {
                let c = engine.caret_at(g.block, self.at());
                let x = if end { f32::MAX / 4.0 } else { -1.0 };
                let to = engine.hit_at(g.block, Point::new(x, c.y + c.h / 2.0));
                self.go(to, extend);
            }
            _ if end => self.buffer.move_forward(unit, extend),
            _ => self.buffer.move_back(unit, extend),
        }
    }

    /// A press inside: places the caret, or selects a word or a line.
    pub fn press(&mut self, engine: &TextEngine, g: &FieldGeom, at: Point, clicks: u8, extend: bool, now: u64) {
        let hit = engine.hit_at(g.block, Point::new(at.x - g.origin.x, at.y - g.origin.y));
        let byte = self.real(hit.byte);
        match clicks {
            2 if !self.secret => self.buffer.select_word(byte),
            3.. => self.buffer.select_line(byte),
            _ => self.go(hit, extend),
        }
        self.drag_unit = self.buffer.selected();
        self.touched(now);
    }
    /// The press is held and moved: the selection follows, whole words after a double click.
    pub fn drag(&mut self, engine: &TextEngine, g: &FieldGeom, at: Point) {
        let byte = self.real(engine.hit(g.block, Point::new(at.x - g.origin.x, at.y - g.origin.y)));
        let u = self.drag_unit.clone();
        if byte < u.start { self.buffer.select(u.end, byte) } else { self.buffer.select(u.start, byte.max(u.end)) }
    }

    /// What is drawn: the text, or one dot a character.
    fn display(&self) -> String {
        if self.secret {
            return "•".repeat(self.text().graphemes(true).count());
        }
        let mut text = self.text().to_owned();
        if text.ends_with('\n') {
            // The line after the last break is laid out only if something stands on it.
            text.push('\u{200b}');
        }
        text
    }
    fn shown(&self, byte: usize) -> usize {
        if self.secret { self.text()[..byte].graphemes(true).count() * "•".len() } else { byte }
    }
    fn real(&self, shown: usize) -> usize {
        if self.secret {
            let n = shown / "•".len();
            self.text().grapheme_indices(true).nth(n).map_or(self.text().len(), |(i, _)| i)
        } else {
            shown
        }
    }

    /// Height of the text at a width.
    pub fn text_height<A: Clone>(&mut self, f: &mut Frame<'_, A>, style: TextStyle, width: f32) -> f32 {
        let text = self.display();
        let spec = BlockSpec { text: &text, style, spans: &[], width: Some(width.max(1.0)), wrap: Wrap::Word };
        let id = f.engine.edited(&spec, self.made[0]);
        self.made[0] = Some(id);
        f.engine.size(id).h
    }
    /// Whether the caret is drawn now; asks the frame to wake for the next change.
    fn caret_on<A: Clone>(&self, f: &mut Frame<'_, A>) -> bool {
        let since = f.now.saturating_sub(self.last_edit);
        if f.env.reduced_motion || since >= BLINK_FOR_MS {
            return true;
        }
        f.wake((self.last_edit + (since / BLINK_MS + 1) * BLINK_MS).min(self.last_edit + BLINK_FOR_MS));
        (since / BLINK_MS).is_multiple_of(2)
    }

    /// Draws and says the field. `rect` is its frame, the text stands `pad` inside. The press
    /// region carries `action`; returns where the text lies.
    #[allow(clippy::too_many_arguments)] // one call draws, says and takes presses; splitting it is how they drift apart
    pub fn paint<A: Clone>(
        &mut self,
        f: &mut Frame<'_, A>,
        id: NodeId,
        rect: Rect,
        pad: Point,
        style: TextStyle,
        control: Control,
        placeholder: &str,
        action: A,
    ) -> FieldGeom {
        let focused = f.at.focus == Some(id);
        let inner = rect.inset(pad.x, pad.y);
        let display = self.display();
        let (width, wrap) = if self.multiline { (Some(inner.w), Wrap::Word) } else { (None, Wrap::None) };
        let width = width.map(|w| w.max(1.0));
        let spec = BlockSpec { text: &display, style, spans: &[], width, wrap };
        let block = f.engine.edited(&spec, self.made[1]);
        self.made[1] = Some(block);
        let size = f.engine.size(block);
        let caret = f.engine.caret_at(block, self.at());
        // The caret stays in view: across for one line, down for several.
        let (at, extent, total, end) = if self.multiline {
            (caret.y, inner.h, size.h, caret.bottom())
        } else {
            (caret.x, inner.w, size.w + 2.0, caret.x + 2.0)
        };
        if at < self.scroll {
            self.scroll = at;
        } else if end > self.scroll + extent {
            self.scroll = end - extent;
        }
        self.scroll = self.scroll.clamp(0.0, (total - extent).max(0.0));
        let origin = if self.multiline {
            Point::new(inner.x, (inner.y - self.scroll).round())
        } else {
            Point::new((inner.x - self.scroll).round(), inner.y + ((inner.h - style.line_height) / 2.0).round())
        };
        let state = State { focused, multiline: self.multiline, ..control.state };
        f.node(Node {
            id,
            role: if control.role == Role::Group { Role::TextField } else { control.role },
            name: control.name,
            description: control.description,
            value: if self.secret { String::new() } else { self.text().to_owned() },
            rect,
            state,
            action: true,
            children: vec![],
        });
        f.press(id, rect, action, Cursor::Text, !control.skip);
        let text_color = f.theme.text;
        let caret_on = focused && self.caret_on(f);
        let selection = self.buffer.selected();
        let composing = self.buffer.composing();
        let (lo, hi) = (self.shown(selection.start), self.shown(selection.end));
        f.clip(inner.inset(-2.0, 0.0), |f| {
            if lo < hi && focused {
                for r in f.engine.ranges(block, lo..hi) {
                    f.fill(r.shift(origin.x, origin.y), f.theme.selection, 2.0);
                }
            }
            if display.is_empty() {
                let _ = f.line(origin, placeholder, style, f.theme.muted, inner.w);
            } else {
                let _ = f.run(block, origin, text_color);
            }
            if let Some(c) = composing.filter(|_| !self.secret) {
                for r in f.engine.ranges(block, c) {
                    let r = r.shift(origin.x, origin.y);
                    f.fill(Rect::new(r.x, r.bottom() - 3.0, r.w, 1.5), text_color, 0.0);
                }
            }
            if caret_on {
                let c = caret.shift(origin.x, origin.y);
                f.fill(Rect::new(c.x.round(), c.y + 2.0, 2.0, c.h - 4.0), f.theme.accent, 1.0);
            }
        });
        if self.multiline {
            f.thumb(inner.inset(-4.0, 0.0), self.scroll, size.h);
        }
        let g = FieldGeom {
            id,
            rect,
            block,
            origin,
            caret: caret.shift(origin.x, origin.y),
            overflow: (size.h - inner.h).max(0.0),
        };
        f.field_geom(g);
        g
    }
    /// A framed field of one line, as in a form.
    pub fn boxed<A: Clone>(
        &mut self,
        f: &mut Frame<'_, A>,
        id: NodeId,
        rect: Rect,
        control: Control,
        placeholder: &str,
        action: A,
    ) -> FieldGeom {
        let focused = f.at.focus == Some(id);
        let color = if focused { f.theme.accent } else { f.theme.edge };
        let border = Border { width: if focused { 2.0 } else { 1.0 }, color };
        f.bordered(rect, f.theme.raised, 6.0, border);
        self.paint(f, id, rect, Point::new(10.0, 4.0), theme::BODY, control, placeholder, action)
    }
    /// Scrolls a tall field by the wheel.
    pub fn wheel(&mut self, dy: f32) {
        self.scroll = (self.scroll + dy).max(0.0);
    }
}

/// The place one line above or below a caret, in a column; none at the first or last line.
fn beside(engine: &mut TextEngine, g: &FieldGeom, caret: Rect, goal: f32, down: bool) -> Option<Hit> {
    let y = if down { caret.bottom() + 1.0 } else { caret.y - 1.0 };
    (y >= 0.0 && y < engine.size(g.block).h).then(|| engine.hit_at(g.block, Point::new(goal, y)))
}

/// The colour of text in a field that is disabled.
#[must_use]
pub fn disabled_ink(theme: &theme::Theme) -> Rgba {
    theme.muted
}
