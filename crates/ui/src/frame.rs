//! The painter of one frame: what is drawn, what it means and what a press does are said in
//! one call, so that canvas and mirror cannot differ.

use crate::event::Env;
use crate::theme::{Measures, TOUCH_MIN, Theme};
use scene::{
    BlockId, Border, DisplayList, Item, Layer, LayerId, Node, NodeId, Point, Quad, Radii, Rect, Rgba, Role, Semantics,
    Size, State, TextRun,
};
use std::collections::HashMap;
use std::ops::Range;
use text::{BlockSpec, Span, TextEngine, TextStyle, Wrap};

/// Shape of the pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Cursor {
    #[default]
    Default,
    Pointer,
    Text,
    Grab,
    ResizeEw,
    ResizeNs,
    ResizeNwse,
    NotAllowed,
}

/// Where the person is: given to a frame, so that it can draw it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attention {
    /// The node with the keyboard.
    pub focus: Option<NodeId>,
    /// Show the focus ring: the last input was a key.
    pub ring: bool,
    /// The node under the pointer.
    pub hover: Option<NodeId>,
    /// The node held down.
    pub pressed: Option<NodeId>,
}

/// A region that takes a press.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit<A> {
    /// Its semantics node.
    pub id: NodeId,
    /// Visible part.
    pub rect: Rect,
    /// What it does; `None` swallows the press (a window's body).
    pub action: Option<A>,
    /// It acts while held and moved, not on release.
    pub drag: bool,
    /// Pointer shape.
    pub cursor: Cursor,
}

/// Where a text field's text lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldGeom {
    /// Its node.
    pub id: NodeId,
    /// Its frame on screen.
    pub rect: Rect,
    /// Its block.
    pub block: BlockId,
    /// Top left of the block.
    pub origin: Point,
    /// Caret on screen.
    pub caret: Rect,
    /// Inner height over which it scrolls.
    pub overflow: f32,
}

/// A region that the wheel scrolls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScrollGeom {
    /// Its node.
    pub id: NodeId,
    /// Visible part.
    pub rect: Rect,
    /// How far it can scroll.
    pub max: f32,
    /// How many hits lay below it when it was opened.
    above: usize,
}

/// A laid-out piece of selectable text. Its place in logical order is `key`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextGeom {
    /// Order: (group, piece).
    pub key: (u64, u32),
    /// Its block.
    pub block: BlockId,
    /// Top left of the block.
    pub origin: Point,
    /// Visible part.
    pub rect: Rect,
}

/// What a control is, beside how it looks.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Role.
    pub role: Role,
    /// Accessible name.
    pub name: String,
    /// Accessible description: a hint, a reason.
    pub description: String,
    /// Value.
    pub value: String,
    /// States.
    pub state: State,
    /// Out of the Tab order (it has an active descendant's keys, or stands in a group).
    pub skip: bool,
    /// Pointer shape when it is not the hand.
    pub cursor: Option<Cursor>,
}

impl Control {
    /// A control of a role with a name.
    #[must_use]
    pub fn new(role: Role, name: impl Into<String>) -> Self {
        Self { role, name: name.into(), ..Self::default() }
    }
    /// A button.
    #[must_use]
    pub fn button(name: impl Into<String>) -> Self {
        Self::new(Role::Button, name)
    }
    /// With a description.
    #[must_use]
    pub fn describe(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }
    /// Present and not eligible.
    #[must_use]
    pub fn disabled(mut self, disabled: bool) -> Self {
        self.state.disabled = disabled;
        self
    }
    /// Not in the Tab order.
    #[must_use]
    pub fn skipped(mut self) -> Self {
        self.skip = true;
        self
    }
}

/// How a control stands while it is painted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Look {
    pub hover: bool,
    pub pressed: bool,
    pub focused: bool,
    pub disabled: bool,
}

/// A finished frame.
#[derive(Clone, Debug)]
pub struct Painted<A> {
    /// To draw.
    pub display: DisplayList,
    /// To say.
    pub semantics: Semantics,
    /// To press, back to front.
    pub hits: Vec<Hit<A>>,
    /// Tab order.
    pub order: Vec<NodeId>,
    /// Parts of the Tab order that belong together: a window, its body, a scroll area.
    pub regions: Vec<(NodeId, Range<usize>)>,
    /// Text fields.
    pub fields: Vec<FieldGeom>,
    /// Scroll areas.
    pub scrolls: Vec<ScrollGeom>,
    /// Selectable text.
    pub texts: Vec<TextGeom>,
    /// Controls whose name is not drawn: (node, where, name).
    pub tips: Vec<(NodeId, Rect, String)>,
    /// When the next frame is due by itself, in milliseconds of the page's clock.
    pub wake_at: Option<u64>,
}

impl<A> Default for Painted<A> {
    fn default() -> Self {
        Self {
            display: DisplayList::default(),
            semantics: Semantics::default(),
            hits: vec![],
            order: vec![],
            regions: vec![],
            fields: vec![],
            scrolls: vec![],
            texts: vec![],
            tips: vec![],
            wake_at: None,
        }
    }
}

impl<A> Painted<A> {
    /// The topmost region at a point.
    #[must_use]
    pub fn hit(&self, p: Point) -> Option<&Hit<A>> {
        self.hits.iter().rev().find(|h| h.rect.contains(p))
    }
    /// What activating a node does.
    #[must_use]
    pub fn action(&self, id: NodeId) -> Option<&A> {
        self.hits.iter().rev().find(|h| h.id == id && !h.drag && h.action.is_some()).and_then(|h| h.action.as_ref())
    }
    /// The controls of a region in their Tab order; none when it was not painted.
    #[must_use]
    pub fn region(&self, id: NodeId) -> &[NodeId] {
        let found = self.regions.iter().find(|(r, _)| *r == id);
        found.and_then(|(_, at)| self.order.get(at.clone())).unwrap_or_default()
    }
    /// A field's geometry.
    #[must_use]
    pub fn field(&self, id: NodeId) -> Option<&FieldGeom> {
        self.fields.iter().find(|f| f.id == id)
    }
    /// The innermost scroll area at a point that nothing covers and that can move that way.
    #[must_use]
    pub fn scroll_at(&self, p: Point) -> Option<&ScrollGeom> {
        let cover = self.hits.iter().rposition(|h| h.action.is_none() && h.rect.contains(p)).unwrap_or(0);
        self.scrolls.iter().rev().find(|s| s.above >= cover && s.rect.contains(p) && s.max > 0.0)
    }
    /// The selectable text at or nearest to a point, and the byte in it.
    #[must_use]
    pub fn text_at(&self, p: Point, engine: &TextEngine) -> Option<((u64, u32), usize)> {
        let far = |r: &Rect| {
            let dy = (r.y - p.y).max(p.y - r.bottom()).max(0.0);
            let dx = (r.x - p.x).max(p.x - r.right()).max(0.0);
            dy * 1000.0 + dx
        };
        let t = self.texts.iter().min_by(|a, b| far(&a.rect).total_cmp(&far(&b.rect)))?;
        Some((t.key, engine.hit(t.block, Point::new(p.x - t.origin.x, p.y - t.origin.y))))
    }
}

/// The painter.
pub struct Frame<'a, A> {
    /// Shapes and measures.
    pub engine: &'a mut TextEngine,
    /// Colours.
    pub theme: &'a Theme,
    /// Machine.
    pub env: Env,
    /// Measures.
    pub m: Measures,
    /// Focus, hover, press.
    pub at: Attention,
    /// The page's clock, milliseconds.
    pub now: u64,
    out: Painted<A>,
    stack: Vec<NodeId>,
    clips: Vec<Rect>,
    scroll_of: HashMap<NodeId, f32>,
}

impl<'a, A: Clone> Frame<'a, A> {
    /// A frame whose root node is `root`.
    pub fn new(engine: &'a mut TextEngine, theme: &'a Theme, env: Env, at: Attention, now: u64, root: Node) -> Self {
        engine.begin_frame();
        let mut out = Painted::default();
        out.display.background = theme.desk;
        out.semantics.root = root.id;
        let id = root.id;
        out.semantics.nodes.insert(id, root);
        let all = Rect::new(0.0, 0.0, env.size.w, env.size.h);
        Self {
            engine,
            theme,
            env,
            m: Measures::of(&env),
            at,
            now,
            out,
            stack: vec![id],
            clips: vec![all],
            scroll_of: HashMap::new(),
        }
    }
    /// Ends the frame. `positions` of scroll areas that had to move are given to `moved`.
    pub fn finish(self, mut moved: impl FnMut(NodeId, f32)) -> Painted<A> {
        for (id, y) in self.scroll_of {
            moved(id, y);
        }
        self.out
    }
    /// The whole canvas.
    #[must_use]
    pub fn screen(&self) -> Rect {
        Rect::new(0.0, 0.0, self.env.size.w, self.env.size.h)
    }
    /// The visible part of a rectangle here.
    #[must_use]
    pub fn visible(&self, r: &Rect) -> Rect {
        self.clips.last().map_or(*r, |c| c.intersect(r))
    }
    /// Asks for another frame at a time.
    pub fn wake(&mut self, at_ms: u64) {
        self.out.wake_at = Some(self.out.wake_at.map_or(at_ms, |w| w.min(at_ms)));
    }

    // ---- drawing -------------------------------------------------------------------------

    /// Everything from here on goes to a layer of its own.
    pub fn layer(&mut self, name: &str, index: u64, rect: Rect) {
        self.out.display.layers.push(Layer::new(LayerId(NodeId::of(name, index).0), rect));
    }
    fn item(&mut self, item: Item) {
        if self.out.display.layers.is_empty() {
            self.layer("base", 0, self.screen());
        }
        if let Some(l) = self.out.display.layers.last_mut() {
            l.items.push(item);
        }
    }
    /// A quad.
    pub fn quad(&mut self, q: Quad) {
        let reach = q.shadow.map_or(0.0, |s| s.blur + s.offset.y.abs());
        if !self.visible(&q.rect.inset(-reach, -reach)).is_empty() {
            self.item(Item::Quad(q));
        }
    }
    /// A filled rectangle.
    pub fn fill(&mut self, rect: Rect, fill: Rgba, radius: f32) {
        self.quad(Quad { rect, fill, radii: radius.into(), ..Quad::default() });
    }
    /// A rectangle with an edge.
    pub fn bordered(&mut self, rect: Rect, fill: Rgba, radius: f32, border: Border) {
        self.quad(Quad { rect, fill, radii: radius.into(), border, ..Quad::default() });
    }
    /// A filled rectangle with single corners.
    pub fn fill_radii(&mut self, rect: Rect, fill: Rgba, radii: Radii) {
        self.quad(Quad { rect, fill, radii, ..Quad::default() });
    }
    /// Draws cut to a rectangle.
    pub fn clip<R>(&mut self, rect: Rect, draw: impl FnOnce(&mut Self) -> R) -> R {
        let inner = self.visible(&rect);
        self.item(Item::PushClip(rect));
        self.clips.push(inner);
        let r = draw(self);
        self.clips.pop();
        self.item(Item::PopClip);
        r
    }
    /// Shapes a block.
    pub fn block(&mut self, text: &str, style: TextStyle, spans: &[Span], width: Option<f32>, wrap: Wrap) -> BlockId {
        self.engine.block(&BlockSpec { text, style, spans, width: width.map(|w| w.max(1.0)), wrap })
    }
    /// Draws a block.
    pub fn run(&mut self, block: BlockId, origin: Point, color: Rgba) -> Size {
        let size = self.engine.size(block);
        if !self.visible(&Rect::new(origin.x, origin.y, size.w.max(1.0), size.h)).is_empty() {
            self.item(Item::Text(TextRun { block, origin, color }));
        }
        size
    }
    /// One line at a place, ending in an ellipsis where the width ends. Drawing only.
    pub fn line(&mut self, at: Point, text: &str, style: TextStyle, color: Rgba, width: f32) -> Size {
        let id = self.block(text, style, &[], Some(width), Wrap::Ellipsis);
        self.run(id, at, color)
    }
    /// One line in the middle of a rectangle. Drawing only.
    pub fn centered(&mut self, rect: Rect, text: &str, style: TextStyle, color: Rgba) {
        let id = self.block(text, style, &[], None, Wrap::None);
        let s = self.engine.size(id);
        if s.w > rect.w {
            let _ = self.line(Point::new(rect.x, rect.y + (rect.h - s.h) / 2.0), text, style, color, rect.w);
            return;
        }
        let at = Point::new((rect.x + (rect.w - s.w) / 2.0).round(), (rect.y + (rect.h - s.h) / 2.0).round());
        let _ = self.run(id, at, color);
    }
    /// A paragraph that wraps. Drawing only.
    pub fn wrapped(&mut self, at: Point, text: &str, style: TextStyle, color: Rgba, width: f32) -> Size {
        let id = self.block(text, style, &[], Some(width), Wrap::Word);
        self.run(id, at, color)
    }
    /// Width of one line.
    pub fn width(&mut self, text: &str, style: TextStyle) -> f32 {
        let id = self.block(text, style, &[], None, Wrap::None);
        self.engine.size(id).w.ceil()
    }

    // ---- meaning -------------------------------------------------------------------------

    /// Adds a node below the open one. It has the keyboard if the keyboard is there.
    pub fn node(&mut self, mut node: Node) {
        let id = node.id;
        node.state.focused |= self.at.focus == Some(id);
        if let Some(p) = self.stack.last().and_then(|p| self.out.semantics.nodes.get_mut(p))
            && !p.children.contains(&id)
        {
            p.children.push(id);
        }
        self.out.semantics.nodes.insert(id, node);
    }
    /// A node with everything that `draw` says inside.
    pub fn group<R>(&mut self, node: Node, draw: impl FnOnce(&mut Self) -> R) -> R {
        let id = node.id;
        self.node(node);
        self.stack.push(id);
        let r = draw(self);
        self.stack.pop();
        r
    }
    /// What `draw` puts into the Tab order belongs together, under `id`.
    pub fn region<R>(&mut self, id: NodeId, draw: impl FnOnce(&mut Self) -> R) -> R {
        let from = self.out.order.len();
        let r = draw(self);
        self.out.regions.push((id, from..self.out.order.len()));
        r
    }
    /// Changes a node said before in this frame.
    pub fn amend(&mut self, id: NodeId, change: impl FnOnce(&mut Node)) {
        if let Some(n) = self.out.semantics.nodes.get_mut(&id) {
            change(n);
        }
    }
    /// A paragraph, drawn and said. Returns its size.
    pub fn say(&mut self, id: NodeId, at: Point, text: &str, style: TextStyle, color: Rgba, width: f32) -> Size {
        let s = self.wrapped(at, text, style, color, width);
        let rect = Rect::new(at.x, at.y, s.w, s.h);
        self.node(Node { id, role: Role::Text, name: text.to_owned(), rect, ..Node::default() });
        s
    }
    /// A heading, drawn and said.
    pub fn heading(&mut self, id: NodeId, at: Point, text: &str, style: TextStyle, level: u8, width: f32) -> Size {
        let s = self.wrapped(at, text, style, self.theme.text, width);
        let state = State { level: Some(level), ..State::default() };
        let rect = Rect::new(at.x, at.y, s.w, s.h);
        self.node(Node { id, role: Role::Heading, name: text.to_owned(), rect, state, ..Node::default() });
        s
    }
    /// A heading of one line, ending in an ellipsis where the width ends; said whole.
    pub fn heading_line(&mut self, id: NodeId, at: Point, text: &str, width: f32) -> Size {
        let s = self.line(at, text, crate::theme::TITLE, self.theme.text, width);
        let state = State { level: Some(2), ..State::default() };
        let rect = Rect::new(at.x, at.y, s.w, s.h);
        self.node(Node { id, role: Role::Heading, name: text.to_owned(), rect, state, ..Node::default() });
        s
    }
    /// A control: drawn, said, pressed and reached by Tab in one call. A disabled control keeps
    /// its place in the Tab order, so that its reason can be read, and its press is answered by
    /// the same action, which refuses with that reason.
    pub fn control<R>(
        &mut self,
        id: NodeId,
        rect: Rect,
        c: Control,
        action: Option<A>,
        paint: impl FnOnce(&mut Self, Look) -> R,
    ) -> R {
        let look = Look {
            hover: self.at.hover == Some(id) && !c.state.disabled,
            pressed: self.at.pressed == Some(id) && !c.state.disabled,
            focused: self.at.focus == Some(id),
            disabled: c.state.disabled,
        };
        let seen = self.visible(&rect);
        let mut state = c.state;
        state.focused = look.focused;
        let acts = action.is_some();
        if acts && !seen.is_empty() {
            let grow = |have: f32| if self.env.coarse { ((TOUCH_MIN - have) / 2.0).max(0.0) } else { 0.0 };
            let area = self.visible(&rect.inset(-grow(rect.w), -grow(rect.h)));
            let cursor = c.cursor.unwrap_or(if look.disabled { Cursor::NotAllowed } else { Cursor::Pointer });
            self.out.hits.push(Hit { id, rect: area, action, drag: false, cursor });
        }
        if acts && !c.skip {
            self.out.order.push(id);
        }
        self.node(Node {
            id,
            role: c.role,
            name: c.name,
            description: c.description,
            value: c.value,
            rect,
            state,
            action: acts,
            children: vec![],
        });
        let r = paint(self, look);
        if look.focused && self.at.ring {
            let border = Border { width: 2.0, color: self.theme.accent };
            self.bordered(rect.inset(-2.0, -2.0), Rgba::CLEAR, 8.0, border);
        }
        r
    }
    /// A control whose name is said and not drawn: it is shown when the pointer rests there.
    pub fn tip(&mut self, id: NodeId, rect: Rect, name: &str) {
        self.out.tips.push((id, rect, name.to_owned()));
    }
    /// The name of what the pointer rests on, where that is not drawn.
    #[must_use]
    pub fn tip_of(&self, id: NodeId) -> Option<(Rect, String)> {
        self.out.tips.iter().rev().find(|(n, ..)| *n == id).map(|(_, r, name)| (*r, name.clone()))
    }
    /// The focus ring of a node that is no control, while the keyboard is there.
    pub fn ring(&mut self, id: NodeId, rect: Rect) {
        if self.at.focus == Some(id) && self.at.ring {
            let border = Border { width: 2.0, color: self.theme.accent };
            self.bordered(rect, Rgba::CLEAR, 6.0, border);
        }
    }
    /// A region that lets no press through to what lies below.
    pub fn opaque(&mut self, id: NodeId, rect: Rect) {
        let rect = self.visible(&rect);
        self.out.hits.push(Hit { id, rect, action: None, drag: false, cursor: Cursor::Default });
    }
    /// A region that acts while it is held and moved (a title bar, an edge). `id` is the node
    /// that it moves.
    pub fn drag(&mut self, id: NodeId, rect: Rect, action: A, cursor: Cursor) {
        let rect = self.visible(&rect);
        self.out.hits.push(Hit { id, rect, action: Some(action), drag: true, cursor });
    }
    /// A press region for a node that was said by other means (selectable text, a field).
    pub fn press(&mut self, id: NodeId, rect: Rect, action: A, cursor: Cursor, in_order: bool) {
        let rect = self.visible(&rect);
        if !rect.is_empty() {
            self.out.hits.push(Hit { id, rect, action: Some(action), drag: false, cursor });
        }
        if in_order {
            self.out.order.push(id);
        }
    }
    /// Selectable text.
    pub fn selectable(&mut self, key: (u64, u32), block: BlockId, origin: Point) {
        let s = self.engine.size(block);
        let rect = self.visible(&Rect::new(origin.x, origin.y, s.w.max(1.0), s.h));
        if !rect.is_empty() {
            self.out.texts.push(TextGeom { key, block, origin, rect });
        }
    }
    /// Records where a field's text lies.
    pub fn field_geom(&mut self, g: FieldGeom) {
        self.out.fields.push(g);
    }
    /// A scroll area: `content` draws at an offset and returns its height. The position is kept
    /// inside its bounds; a change is told by [`Frame::finish`].
    pub fn scroll(&mut self, id: NodeId, rect: Rect, y: f32, content: impl FnOnce(&mut Self, f32) -> f32) -> f32 {
        let above = self.out.hits.len();
        let index = self.out.scrolls.len();
        let seen = self.visible(&rect);
        self.out.scrolls.push(ScrollGeom { id, rect: seen, max: 0.0, above });
        let height = self.region(id, |f| f.clip(rect, |f| content(f, y.max(0.0))));
        let max = (height - rect.h).max(0.0);
        self.out.scrolls[index].max = max;
        if y > max || y < 0.0 {
            self.scroll_of.insert(id, y.clamp(0.0, max));
        }
        self.thumb(rect, y, height);
        height
    }
    /// Declares a scroll area whose owner keeps the position itself.
    pub fn scroll_owned(&mut self, id: NodeId, rect: Rect, max: f32) {
        let above = self.out.hits.len();
        let rect = self.visible(&rect);
        self.out.scrolls.push(ScrollGeom { id, rect, max, above });
    }
    /// The thumb of a scroll area: shown, not grabbed.
    pub fn thumb(&mut self, rect: Rect, y: f32, height: f32) {
        if height <= rect.h + 1.0 {
            return;
        }
        let h = (rect.h * rect.h / height).max(24.0);
        let top = rect.y + (rect.h - h) * (y / (height - rect.h)).clamp(0.0, 1.0);
        let fill = self.theme.edge.alpha(0.55);
        self.fill(Rect::new(rect.right() - 6.0, top + 2.0, 4.0, h - 4.0), fill, 2.0);
    }
    /// How many regions there are so far.
    #[must_use]
    pub fn hits_len(&self) -> usize {
        self.out.hits.len()
    }
}
