//! Text input: one focused element that the browser types into, behind one driver.

mod edit_context;
mod textarea;

pub use edit_context::EditContextDriver;
pub use textarea::TextareaDriver;

use kernel::authority::Proof;
use std::rc::Rc;
use ui::event::Event;
use web_sys::HtmlElement;

/// The focused field, as the core has it: the truth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldState {
    /// Its semantics node.
    pub id: u64,
    /// Its text.
    pub text: String,
    /// Selection (anchor, focus), UTF-16.
    pub selection: (u32, u32),
    /// Caret in logical pixels of the page.
    pub caret: scene::Rect,
    /// The field in logical pixels of the page.
    pub bounds: scene::Rect,
    /// Takes several lines.
    pub multiline: bool,
    /// A password: never mirrored, no suggestions.
    pub secret: bool,
}

/// Where deltas go.
pub type Sink = Rc<dyn Fn(Event, Proof)>;

/// Which driver to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// `EditContext` where the browser has it.
    #[default]
    Auto,
    /// The hidden text area.
    Textarea,
}

/// A way to receive text.
pub trait TextInputDriver {
    /// The element that has the focus while typing; the mirror gives it its role and place.
    fn host(&self) -> HtmlElement;
    /// Follows the core: text, selection, bounds. Does nothing while they are equal, so that an
    /// input method is never disturbed.
    fn sync(&self, field: &FieldState);
    /// What the element holds, for tests and for the taint check.
    fn held(&self) -> String;
}

/// A driver for the field.
#[must_use]
pub fn driver(method: Method, secret: bool, sink: &Sink, trust: &Rc<super::trust::Trust>) -> Rc<dyn TextInputDriver> {
    if !secret
        && method == Method::Auto
        && let Some(d) = EditContextDriver::new(sink.clone(), trust.clone())
    {
        return Rc::new(d);
    }
    Rc::new(TextareaDriver::new(secret, sink.clone(), trust.clone()))
}

/// Applies a replacement in UTF-16 offsets.
pub(crate) fn splice(text: &[u16], start: usize, end: usize, with: &[u16]) -> Vec<u16> {
    let (start, end) = (start.min(text.len()), end.min(text.len()).max(start.min(text.len())));
    [&text[..start], with, &text[end..]].concat()
}

/// Gives a hidden element its place; the canvas shows what it holds.
pub(crate) fn place(host: &HtmlElement, r: &scene::Rect) {
    let style = host.style();
    for (name, v) in [("left", r.x), ("top", r.y), ("width", r.w.max(1.0)), ("height", r.h.max(1.0))] {
        let want = format!("{v}px");
        if style.get_property_value(name).unwrap_or_default() != want {
            let _ = style.set_property(name, &want);
        }
    }
}
