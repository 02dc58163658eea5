//! Text input through a hidden text area, or a password field for a secret: the way where there
//! is no `EditContext`.
//!
//! An `input` event proves nothing: `execCommand` makes trusted ones. So every edit that can be
//! cancelled is: its trusted `beforeinput` becomes the delta and the element is written from the
//! model afterwards. What cannot be cancelled (composition) counts only when a trusted
//! `beforeinput` of the same kind came right before; any other `input` is put right again.

use super::{FieldState, Sink, TextInputDriver, place};
use crate::dom::document;
use crate::dom::keys::of_edit;
use crate::dom::listen::Listener;
use crate::dom::trust::Trust;
use kernel::authority::{GestureKind, Proof};
use std::cell::RefCell;
use std::rc::Rc;
use ui::event::{Composition, EditKind, Event, TextEdit};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement, HtmlTextAreaElement, InputEvent};

#[derive(Default)]
struct State {
    field: FieldState,
    composing: Option<u32>,
    pending: Option<Pending>,
    /// What the element held when it last was written or told of an edit.
    known: String,
    /// Somebody else wrote into it since the last edit; a repaint has put it right.
    tampered: bool,
}

/// The `beforeinput` that the next `input` answers.
struct Pending {
    kind: String,
    proof: Proof,
    tainted: bool,
}

#[derive(Clone)]
enum Element {
    Area(HtmlTextAreaElement),
    Secret(HtmlInputElement),
}

impl Element {
    fn value(&self) -> String {
        match self {
            Self::Area(e) => e.value(),
            Self::Secret(e) => e.value(),
        }
    }
    fn selection(&self) -> (u32, u32) {
        let get = |r: Result<Option<u32>, _>| r.ok().flatten().unwrap_or(0);
        match self {
            Self::Area(e) => (get(e.selection_start()), get(e.selection_end())),
            Self::Secret(e) => (get(e.selection_start()), get(e.selection_end())),
        }
    }
    fn write(&self, f: &FieldState) {
        let (a, b) = (f.selection.0.min(f.selection.1), f.selection.0.max(f.selection.1));
        if self.value() != f.text {
            match self {
                Self::Area(e) => e.set_value(&f.text),
                Self::Secret(e) => e.set_value(&f.text),
            }
        }
        if self.selection() != (a, b) {
            let _ = match self {
                Self::Area(e) => e.set_selection_range(a, b),
                Self::Secret(e) => e.set_selection_range(a, b),
            };
        }
    }
}

/// The driver.
pub struct TextareaDriver {
    host: HtmlElement,
    element: Element,
    state: Rc<RefCell<State>>,
    trust: Rc<Trust>,
    _listeners: Vec<Listener>,
}

impl TextareaDriver {
    /// A hidden text area; for a secret, a password field.
    #[must_use]
    #[allow(clippy::expect_used)] // every document creates these elements
    pub fn new(secret: bool, sink: Sink, trust: Rc<Trust>) -> Self {
        let name = if secret { "input" } else { "textarea" };
        let host: HtmlElement =
            document().create_element(name).expect("an element").dyn_into().expect("an HTML element");
        for (k, v) in [("autocomplete", "off"), ("autocapitalize", "off"), ("spellcheck", "false")] {
            let _ = host.set_attribute(k, v);
        }
        let element = if secret {
            let input: HtmlInputElement = host.clone().unchecked_into();
            input.set_type("password");
            let _ = input.set_attribute("autocomplete", "new-password");
            Element::Secret(input)
        } else {
            Element::Area(host.clone().unchecked_into())
        };
        let state = Rc::new(RefCell::new(State::default()));
        let listeners = vec![
            Self::on_beforeinput(&host, &element, &state, &sink, &trust),
            Self::on_input(&host, &element, &state, &sink, &trust),
            {
                let (state, element) = (state.clone(), element.clone());
                Listener::on(&host, "compositionstart", move |_| {
                    let s = element.selection();
                    state.borrow_mut().composing = Some(s.0.min(s.1));
                })
            },
            Self::ends(&host, "compositionend", &state, &sink),
            Self::ends(&host, "blur", &state, &sink),
        ];
        Self { host, element, state, trust, _listeners: listeners }
    }

    fn ends(host: &HtmlElement, kind: &'static str, state: &Rc<RefCell<State>>, sink: &Sink) -> Listener {
        let (state, sink) = (state.clone(), sink.clone());
        Listener::on(host, kind, move |_| {
            if state.borrow_mut().composing.take().is_some() {
                sink(Event::Composition(Composition(None)), Proof::Untrusted);
            }
        })
    }

    fn on_beforeinput(
        host: &HtmlElement,
        element: &Element,
        state: &Rc<RefCell<State>>,
        sink: &Sink,
        trust: &Rc<Trust>,
    ) -> Listener {
        let (element, state, sink, trust) = (element.clone(), state.clone(), sink.clone(), trust.clone());
        Listener::on(host, "beforeinput", move |e| {
            let e: InputEvent = e.unchecked_into();
            let kind = e.input_type();
            let proof = trust.stamp(GestureKind::TextEdit, &e);
            let field = state.borrow().field.clone();
            // Somebody else wrote into the element since; the edit belongs into our own text.
            let changed = proof.is_trusted() && element.value() != field.text;
            if changed {
                trust.tainted();
                element.write(&field);
            }
            let tainted = proof.is_trusted() && (std::mem::take(&mut state.borrow_mut().tampered) || changed);
            if !e.cancelable() {
                state.borrow_mut().pending = Some(Pending { kind, proof, tainted });
                return;
            }
            e.prevent_default();
            if !proof.is_trusted() {
                return;
            }
            let (a, b) = element.selection();
            let insert = |text: String, kind: EditKind| {
                let caret = a + u32::try_from(text.encode_utf16().count()).unwrap_or(0);
                Event::Text(TextEdit { range: a..b, text, selection: (caret, caret), kind, tainted })
            };
            let event = match kind.as_str() {
                "insertText" | "insertReplacementText" => insert(e.data().unwrap_or_default(), EditKind::Typing),
                "deleteByCut" => Event::Cut,
                // Paste and drop have their own events; undo and redo are ours.
                _ => match of_edit(&e) {
                    Some(key) => Event::Key(key),
                    None => return,
                },
            };
            sink(event, proof);
        })
    }

    fn on_input(
        host: &HtmlElement,
        element: &Element,
        state: &Rc<RefCell<State>>,
        sink: &Sink,
        trust: &Rc<Trust>,
    ) -> Listener {
        let (element, state, sink, trust) = (element.clone(), state.clone(), sink.clone(), trust.clone());
        Listener::on(host, "input", move |e| {
            let e: InputEvent = e.unchecked_into();
            let mut s = state.borrow_mut();
            let (proof, tainted) = match s.pending.take() {
                Some(p) if p.kind == e.input_type() && p.proof.is_trusted() => (p.proof, p.tainted),
                _ => {
                    let field = s.field.clone();
                    if element.value() != field.text {
                        s.tampered = true;
                        s.known.clone_from(&field.text);
                        drop(s);
                        trust.tainted();
                        element.write(&field);
                    }
                    return;
                }
            };
            let old: Vec<u16> = s.field.text.encode_utf16().collect();
            s.known = element.value();
            let new: Vec<u16> = s.known.encode_utf16().collect();
            let (composing, caret) = (s.composing, element.selection());
            drop(s);
            // The one differing stretch between the old and the new text, ending at the caret.
            let room = old.len().min(new.len());
            let tail_max = room.min(new.len().saturating_sub(caret.1 as usize));
            let tail = (0..tail_max).take_while(|i| old[old.len() - 1 - i] == new[new.len() - 1 - i]).count();
            let head = (0..room - tail).take_while(|i| old[*i] == new[*i]).count();
            let n = |v: usize| u32::try_from(v).unwrap_or(u32::MAX);
            let text = String::from_utf16_lossy(&new[head..new.len() - tail]);
            let edit = TextEdit {
                range: n(head)..n(old.len() - tail),
                text,
                selection: caret,
                kind: if composing.is_some() { EditKind::Composition } else { EditKind::Typing },
                tainted,
            };
            sink(Event::Text(edit), proof);
            if let Some(from) = composing {
                let range = (caret.1 > from).then_some(from..caret.1);
                sink(Event::Composition(Composition(range)), Proof::Untrusted);
            }
        })
    }
}

impl TextInputDriver for TextareaDriver {
    fn host(&self) -> HtmlElement {
        self.host.clone()
    }

    fn sync(&self, field: &FieldState) {
        let held = self.element.value();
        let (composing, tampered) = {
            let mut s = self.state.borrow_mut();
            let other = std::mem::replace(&mut s.field, field.clone()).id != field.id;
            let composing = s.composing.is_some();
            let tampered = held != s.known;
            s.tampered = !other && (s.tampered || tampered);
            s.known = if composing { held } else { field.text.clone() };
            (composing, tampered)
        };
        if tampered {
            self.trust.tainted();
        }
        if !composing {
            self.element.write(field);
            place(&self.host, &field.bounds);
        }
    }

    fn held(&self) -> String {
        self.element.value()
    }
}
