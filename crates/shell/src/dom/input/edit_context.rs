//! Text input through `EditContext` on a div (Chrome, Edge).

use super::{FieldState, Sink, TextInputDriver, place, splice};
use crate::dom::bindings::{CharacterBoundsUpdateEvent, EditContext, TextUpdateEvent};
use crate::dom::document;
use crate::dom::listen::Listener;
use crate::dom::trust::Trust;
use js_sys::{Array, JsString};
use kernel::authority::{GestureKind, Proof};
use std::cell::RefCell;
use std::rc::Rc;
use ui::event::{Composition, EditKind, Event, TextEdit};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DomRect, HtmlElement};

#[derive(Default)]
struct State {
    /// What the core last said the field is.
    field: FieldState,
    composing_from: Option<u32>,
    /// First half of a character that arrives in two updates.
    lead: Option<(u16, u32)>,
    /// What the context held when it last was written or told of an edit.
    known: String,
    /// Somebody else wrote into the element since the last edit; a repaint has put it right.
    tampered: bool,
}

/// The driver.
pub struct EditContextDriver {
    host: HtmlElement,
    context: EditContext,
    state: Rc<RefCell<State>>,
    trust: Rc<Trust>,
    _listeners: Vec<Listener>,
}

fn units(s: &JsString) -> Vec<u16> {
    s.iter().collect()
}

fn rect(r: &scene::Rect) -> Option<DomRect> {
    DomRect::new_with_x_and_y_and_width_and_height(r.x.into(), r.y.into(), r.w.into(), r.h.into()).ok()
}

impl EditContextDriver {
    /// `None` where the browser has no `EditContext`.
    #[must_use]
    pub fn new(sink: Sink, trust: Rc<Trust>) -> Option<Self> {
        if !js_sys::Reflect::has(&js_sys::global(), &"EditContext".into()).unwrap_or(false) {
            return None;
        }
        let context = EditContext::new().ok()?;
        let host: HtmlElement = document().create_element("div").ok()?.dyn_into().ok()?;
        host.set_tab_index(0);
        js_sys::Reflect::set(&host, &"editContext".into(), &context).ok()?;
        let state = Rc::new(RefCell::new(State::default()));
        let listeners = vec![
            Self::on_update(&host, &context, &state, &sink, &trust),
            {
                let state = state.clone();
                let context2 = context.clone();
                Listener::on(&context, "compositionstart", move |_| {
                    let from = context2.selection_start().min(context2.selection_end());
                    state.borrow_mut().composing_from = Some(from);
                })
            },
            {
                let (state, sink) = (state.clone(), sink.clone());
                Listener::on(&context, "compositionend", move |_| {
                    if state.borrow_mut().composing_from.take().is_some() {
                        sink(Event::Composition(Composition(None)), Proof::Untrusted);
                    }
                })
            },
            {
                let (state, sink) = (state.clone(), sink.clone());
                Listener::on(&host, "blur", move |_| {
                    if state.borrow_mut().composing_from.take().is_some() {
                        sink(Event::Composition(Composition(None)), Proof::Untrusted);
                    }
                })
            },
            {
                let (state, context2) = (state.clone(), context.clone());
                Listener::on(&context, "characterboundsupdate", move |e| {
                    let e: CharacterBoundsUpdateEvent = e.unchecked_into();
                    let caret = state.borrow().field.caret;
                    let rects = Array::new();
                    for _ in e.range_start()..e.range_end().min(e.range_start() + 512) {
                        rects.push(&rect(&caret).map_or(JsValue::NULL, Into::into));
                    }
                    context2.update_character_bounds(e.range_start(), &rects);
                })
            },
        ];
        Some(Self { host, context, state, trust, _listeners: listeners })
    }

    fn on_update(
        host: &HtmlElement,
        context: &EditContext,
        state: &Rc<RefCell<State>>,
        sink: &Sink,
        trust: &Rc<Trust>,
    ) -> Listener {
        let (state, sink, trust, context2) = (state.clone(), sink.clone(), trust.clone(), context.clone());
        let host = host.clone();
        Listener::on(context, "textupdate", move |e| {
            let e: TextUpdateEvent = e.unchecked_into();
            let proof = trust.stamp(GestureKind::TextEdit, &e);
            if !proof.is_trusted() {
                return;
            }
            let (mut start, end) = (e.update_range_start(), e.update_range_end());
            let mut text = units(&e.text());
            let mut s = state.borrow_mut();
            let before: Vec<u16> = s.field.text.encode_utf16().collect();
            let mut half = false;
            if let Some((lead, at)) = s.lead.take()
                && text.first().is_some_and(|u| (0xdc00..0xe000).contains(u))
            {
                text.insert(0, lead);
                start = at;
                half = true;
            }
            if text.last().is_some_and(|u| (0xd800..0xdc00).contains(u)) {
                s.lead = text.pop().map(|u| (u, start));
                half = true;
            }
            let held = units(&context2.text());
            let expected = splice(&before, start as usize, end as usize, &text);
            // Assistive technology reads the host: what it said has to be what was typed into.
            let said = host.text_content().unwrap_or_default();
            let changed = said != s.field.text || !half && held != expected;
            if changed {
                trust.tainted();
            }
            let tainted = std::mem::take(&mut s.tampered) || changed;
            s.known = String::from_utf16_lossy(&held);
            if half && text.is_empty() {
                return; // the rest of the character is on its way
            }
            let range = if half { start..start.max(end.saturating_sub(1)) } else { start..end };
            let composing = s.composing_from;
            let kind = match (composing, text.is_empty()) {
                (Some(_), _) => EditKind::Composition,
                (None, true) => EditKind::Delete,
                _ => EditKind::Typing,
            };
            let text = String::from_utf16_lossy(&text);
            let len = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
            let selection = if half { (start + len, start + len) } else { (e.selection_start(), e.selection_end()) };
            if let Some(from) = composing {
                s.composing_from = Some(from.min(start));
            }
            drop(s);
            sink(Event::Text(TextEdit { range, text, selection, kind, tainted }), proof);
            if composing.is_some() {
                let range = (len > 0).then_some(start..start + len);
                sink(Event::Composition(Composition(range)), Proof::Untrusted);
            }
        })
    }
}

impl TextInputDriver for EditContextDriver {
    fn host(&self) -> HtmlElement {
        self.host.clone()
    }

    fn sync(&self, field: &FieldState) {
        let held = String::from(self.context.text());
        let said = self.host.text_content().unwrap_or_default();
        let (composing, before, known) = {
            let mut s = self.state.borrow_mut();
            let known = std::mem::replace(&mut s.known, field.text.clone());
            (s.composing_from.is_some(), std::mem::replace(&mut s.field, field.clone()), known)
        };
        let other = before.id != field.id;
        let tampered = held != known || said != before.text;
        if tampered {
            self.trust.tainted();
        }
        {
            let mut s = self.state.borrow_mut();
            s.tampered = !other && (s.tampered || tampered);
        }
        if held != field.text || other {
            let len = u32::try_from(held.encode_utf16().count()).unwrap_or(u32::MAX);
            self.context.update_text(0, len, &field.text);
        }
        let (a, b) = (field.selection.0.min(field.selection.1), field.selection.0.max(field.selection.1));
        if (self.context.selection_start(), self.context.selection_end()) != (a, b) {
            self.context.update_selection(a, b);
        }
        if said != field.text {
            self.host.set_text_content(Some(&field.text));
        }
        // The host stays where it is while something is composed: moving it ends a composition.
        if !composing || other {
            place(&self.host, &field.bounds);
        }
        if (before.bounds != field.bounds || other)
            && let Some(r) = rect(&field.bounds)
        {
            self.context.update_control_bounds(&r);
        }
        if (before.caret != field.caret || other)
            && let Some(r) = rect(&field.caret)
        {
            self.context.update_selection_bounds(&r);
        }
    }

    fn held(&self) -> String {
        self.context.text().into()
    }
}
