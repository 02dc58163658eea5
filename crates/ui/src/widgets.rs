//! Controls built on [`Frame::control`]: each is drawn, said and pressed in one call.

use crate::frame::{Control, Frame, Look};
use crate::icons::{Icon, icon};
use crate::theme::{self, CAPTION};
use scene::{Border, Node, NodeId, Point, Quad, Rect, Rgba, Role, State};
use text::TextStyle;

/// How much a button asks for attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The one thing to do.
    Primary,
    /// A framed button.
    #[default]
    Plain,
    /// Only a label until it is hovered.
    Ghost,
    /// Takes something away.
    Danger,
}

/// A button's fill, ink and border.
fn colours<A: Clone>(f: &Frame<'_, A>, kind: Kind, look: Look) -> (Rgba, Rgba, Border) {
    let t = f.theme;
    let none = Border::default();
    if look.disabled {
        let border = Border { width: if kind == Kind::Ghost { 0.0 } else { 1.0 }, color: t.line };
        return (Rgba::CLEAR, t.muted, border);
    }
    let edge = Border { width: 1.0, color: t.edge };
    match kind {
        Kind::Primary => {
            let fill = if look.pressed || look.hover { t.accent_fill.alpha(0.88) } else { t.accent_fill };
            (fill, t.on_accent, none)
        }
        Kind::Plain => (if look.hover || look.pressed { t.hover } else { t.raised }, t.text, edge),
        Kind::Ghost => (if look.hover || look.pressed { t.hover } else { Rgba::CLEAR }, t.muted, none),
        Kind::Danger => (if look.hover || look.pressed { t.removed } else { Rgba::CLEAR }, t.danger, edge),
    }
}

/// Width a button wants.
pub fn button_width<A: Clone>(f: &mut Frame<'_, A>, label: &str, with_icon: bool) -> f32 {
    f.width(label, theme::SMALL.weight(600)) + 24.0 + if with_icon { 22.0 } else { 0.0 }
}

/// A button with a label.
pub fn button<A: Clone>(
    f: &mut Frame<'_, A>,
    id: NodeId,
    rect: Rect,
    kind: Kind,
    sign: Option<Icon>,
    control: Control,
    action: A,
) {
    let label = control.name.clone();
    labelled_button(f, id, rect, kind, sign, &label, control, action);
}

/// A button whose visible label is shorter than its accessible name.
#[allow(clippy::too_many_arguments)] // as `button`, with the label apart
pub fn labelled_button<A: Clone>(
    f: &mut Frame<'_, A>,
    id: NodeId,
    rect: Rect,
    kind: Kind,
    sign: Option<Icon>,
    label: &str,
    control: Control,
    action: A,
) {
    f.control(id, rect, control, Some(action), |f, look| {
        let (fill, ink, border) = colours(f, kind, look);
        f.bordered(rect, fill, 6.0, border);
        let mut inner = rect.inset(6.0, 0.0);
        if let Some(i) = sign {
            icon(f, i, Rect::new(rect.x + 8.0, rect.y, 20.0, rect.h), ink);
            inner = Rect::new(rect.x + 28.0, rect.y, rect.w - 34.0, rect.h);
        }
        f.centered(inner, label, theme::SMALL.weight(600), ink);
    });
}

/// A square button with an icon; its name is said and not drawn.
pub fn icon_button<A: Clone>(f: &mut Frame<'_, A>, id: NodeId, rect: Rect, sign: Icon, control: Control, action: A) {
    let on = control.state.pressed == Some(true) || control.state.expanded == Some(true);
    f.tip(id, rect, &control.name);
    f.control(id, rect, control, Some(action), |f, look| {
        let (fill, ink, _) = colours(f, Kind::Ghost, look);
        let (fill, ink) = if on { (f.theme.selected, f.theme.accent) } else { (fill, ink) };
        let ink = if look.hover && !on { f.theme.text } else { ink };
        f.fill(rect, fill, 6.0);
        icon(f, sign, rect, ink);
    });
}

/// A small rounded label, pressed or not.
pub fn chip<A: Clone>(
    f: &mut Frame<'_, A>,
    id: NodeId,
    at: Point,
    sign: Icon,
    label: &str,
    control: Control,
    action: A,
) -> Rect {
    let w = f.width(label, CAPTION) + 36.0;
    let rect = Rect::new(at.x, at.y, w, 24.0);
    f.control(id, rect, control, Some(action), |f, look| {
        let fill = if look.hover { f.theme.hover } else { f.theme.panel };
        f.bordered(rect, fill, 12.0, f.theme.hairline());
        icon(f, sign, Rect::new(rect.x + 6.0, rect.y, 16.0, rect.h), f.theme.muted);
        let ink = if look.hover { f.theme.text } else { f.theme.muted };
        let _ = f.line(Point::new(rect.x + 26.0, rect.y + 4.0), label, CAPTION, ink, w - 32.0);
    });
    rect
}

/// The background of a list row.
pub fn row_back<A: Clone>(f: &mut Frame<'_, A>, rect: Rect, selected: bool, look: Look) {
    let fill = match (selected, look.hover || look.pressed) {
        (true, _) => f.theme.selected,
        (_, true) => f.theme.hover,
        _ => return,
    };
    f.fill(rect, fill, 6.0);
    if selected && f.env.forced_colors {
        f.bordered(rect, Rgba::CLEAR, 6.0, Border { width: 2.0, color: f.theme.accent });
    }
}

/// One of several choices: a ring with a dot, and its label.
pub fn radio<A: Clone>(f: &mut Frame<'_, A>, id: NodeId, rect: Rect, label: &str, hint: &str, on: bool, action: A) {
    let mut c = Control::new(Role::Radio, label).describe(hint);
    c.state.checked = Some(on);
    // One stop of the Tab order for the whole group; arrow keys go on from there.
    c.skip = !on;
    f.control(id, rect, c, Some(action), |f, look| {
        row_back(f, rect, false, look);
        let ring = Rect::new(rect.x + 8.0, rect.y + (rect.h - 16.0) / 2.0, 16.0, 16.0);
        let color = if on { f.theme.accent } else { f.theme.edge };
        f.bordered(ring, Rgba::CLEAR, 8.0, Border { width: 1.5, color });
        if on {
            f.fill(ring.inset(4.0, 4.0), f.theme.accent, 4.0);
        }
        let y = rect.y + (rect.h - 20.0) / 2.0;
        let s = f.line(Point::new(rect.x + 32.0, y), label, theme::BODY, f.theme.text, rect.w - 40.0);
        if !hint.is_empty() {
            let x = rect.x + 32.0 + s.w + 12.0;
            let _ = f.line(Point::new(x, y), hint, theme::SMALL, f.theme.muted, (rect.right() - x - 8.0).max(1.0));
        }
    });
}

/// On or off: a track with a knob, and its label.
pub fn toggle<A: Clone>(f: &mut Frame<'_, A>, id: NodeId, rect: Rect, label: &str, hint: &str, on: bool, action: A) {
    let mut c = Control::new(Role::Checkbox, label).describe(hint);
    c.state.checked = Some(on);
    f.control(id, rect, c, Some(action), |f, look| {
        row_back(f, rect, false, look);
        let _ = f.line(Point::new(rect.x + 8.0, rect.y + 8.0), label, theme::BODY, f.theme.text, rect.w - 72.0);
        if !hint.is_empty() {
            let at = Point::new(rect.x + 8.0, rect.y + 28.0);
            let _ = f.line(at, hint, CAPTION, f.theme.muted, rect.w - 72.0);
        }
        let track = Rect::new(rect.right() - 48.0, rect.y + (rect.h - 20.0) / 2.0, 36.0, 20.0);
        let (fill, knob) = if on { (f.theme.accent_fill, f.theme.on_accent) } else { (f.theme.panel, f.theme.edge) };
        let edge = if on { f.theme.accent_fill } else { f.theme.edge };
        f.bordered(track, fill, 10.0, Border { width: 1.0, color: edge });
        let x = if on { track.right() - 17.0 } else { track.x + 3.0 };
        f.fill(Rect::new(x, track.y + 3.0, 14.0, 14.0), knob, 7.0);
    });
}

/// A progress bar with its numbers in the name.
pub fn progress<A: Clone>(f: &mut Frame<'_, A>, id: NodeId, rect: Rect, name: &str, percent: u8) {
    let percent = percent.min(100);
    let state = State { progress: Some(percent), ..State::default() };
    f.node(Node { id, role: Role::ProgressBar, name: name.to_owned(), rect, state, ..Node::default() });
    f.bordered(rect, f.theme.panel, rect.h / 2.0, Border { width: 1.0, color: f.theme.edge });
    let w = rect.w * f32::from(percent) / 100.0;
    if w >= 1.0 {
        f.fill(Rect { w: w.max(rect.h), ..rect }, f.theme.accent, rect.h / 2.0);
    }
}

/// A key cap, as `Ctrl K`. Returns its width. Drawing only.
pub fn key_cap<A: Clone>(f: &mut Frame<'_, A>, right: Point, keys: &str) -> f32 {
    let w = f.width(keys, CAPTION) + 12.0;
    let rect = Rect::new(right.x - w, right.y, w, 20.0);
    f.bordered(rect, f.theme.panel, 4.0, f.theme.hairline());
    f.centered(rect, keys, CAPTION, f.theme.muted);
    w
}

/// A floating card: fill, hairline, shadow.
pub fn card<A: Clone>(f: &mut Frame<'_, A>, rect: Rect, fill: Rgba, radius: f32, border: Border, floats: bool) {
    let shadow = if floats { f.theme.float() } else { None };
    f.quad(Quad { rect, fill, radii: radius.into(), border, shadow });
}

/// A text button that reads like a link.
pub fn link<A: Clone>(f: &mut Frame<'_, A>, id: NodeId, at: Point, label: &str, style: TextStyle, action: A) -> Rect {
    let w = f.width(label, style);
    let rect = Rect::new(at.x, at.y, w, style.line_height);
    f.control(id, rect, Control::button(label), Some(action), |f, look| {
        let _ = f.line(at, label, style, f.theme.accent, w + 2.0);
        if look.hover {
            f.fill(Rect::new(rect.x, rect.bottom() - 2.0, w, 1.0), f.theme.accent, 0.0);
        }
    });
    rect
}
