//! The one place that reads `isTrusted`, and the only holder of the mint.
//!
//! `textupdate`, `beforeinput`, `keydown`, `pointerdown`, `pointerup`, `click`, `paste` and
//! `drop` can carry trust. `input`, `submit`, `copy`, `focus` and `compositionend` cannot:
//! scripts make trusted ones (spec/ui.md §1.1). An event without trust is never forwarded as an
//! act; it is told as a refusal.

use super::focus::FocusGuard;
use super::instant_at;
use kernel::Refusal;
use kernel::authority::{GestureKind, GestureMint, Proof, TrustedGesture};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use web_sys::Event;

/// Refusals of one event type in a row after which they are only counted: a page that forges
/// thousands of events must not drown the list.
const TOLD_IN_A_ROW: u32 = 16;

/// Stamps events.
pub struct Trust {
    mint: RefCell<GestureMint>,
    refused: Rc<dyn Fn(Refusal)>,
    last: RefCell<(String, u32)>,
    untrusted: Cell<u64>,
    act: RefCell<Option<(TrustedGesture, Event)>>,
    focus: Rc<FocusGuard>,
}

impl Trust {
    /// Takes the mint; `refused` hears of every event that lacked trust.
    #[must_use]
    pub fn new(mint: GestureMint, refused: Rc<dyn Fn(Refusal)>) -> Self {
        let last = RefCell::new((String::new(), 0));
        let (untrusted, act, focus) = (Cell::new(0), RefCell::new(None), Rc::default());
        Self { mint: RefCell::new(mint), refused, last, untrusted, act, focus }
    }

    /// Who moved the keyboard's focus.
    #[must_use]
    pub fn focus(&self) -> &Rc<FocusGuard> {
        &self.focus
    }

    /// The proof that belongs to an event of a kind that can carry one.
    pub fn stamp(&self, kind: GestureKind, event: &Event) -> Proof {
        let trusted = event.is_trusted();
        if !trusted {
            self.tell(event);
        }
        let at = instant_at(event.time_stamp());
        let mut mint = self.mint.borrow_mut();
        // The browser opens its own dialogs only inside the act: the adapters that ask for one
        // need a proof of their own, which ends with the event.
        *self.act.borrow_mut() = mint.stamp(kind, trusted, at).trusted().map(|act| (act, event.clone()));
        mint.stamp(kind, trusted, at)
    }

    /// The act that is being handled, for an adapter that may need one. Taken once, and only
    /// while the browser itself is still handling that very event: an act is nobody's later.
    #[must_use]
    pub fn act(&self) -> Option<TrustedGesture> {
        let (act, event) = self.act.borrow_mut().take()?;
        (super::window().event() == *AsRef::<wasm_bindgen::JsValue>::as_ref(&event)).then_some(act)
    }

    /// The event has been handled.
    pub fn end(&self) {
        self.act.borrow_mut().take();
    }

    fn tell(&self, event: &Event) {
        self.untrusted.set(self.untrusted.get() + 1);
        let kind = event.type_();
        let mut last = self.last.borrow_mut();
        last.1 = if last.0 == kind { last.1 + 1 } else { 1 };
        last.0.clone_from(&kind);
        let told = last.1;
        drop(last);
        if told <= TOLD_IN_A_ROW {
            let observed = format!("the “{kind}” event was made by a script of the page");
            (self.refused)(Refusal::new(
                "UntrustedEvent",
                "An input event",
                "an event from the browser itself",
                &observed,
            ));
        }
    }

    /// Tells that the field was changed by somebody else and was put right.
    pub fn tainted(&self) {
        let observed = "the text of the input element was not the text on screen";
        (self.refused)(Refusal::new("FieldChangedBehind", "The text field", "text from your own keys", observed));
    }

    /// Tells that a key met a control to which somebody else had moved the focus.
    pub fn focus_moved(&self) {
        let observed = "a script of the page moved the focus there, so the key pressed nothing";
        let expected = "a control that you moved to yourself, by Tab or pointer";
        (self.refused)(Refusal::new("FocusMoved", "The keyboard", expected, observed));
    }

    /// Tells that a control was laid under the pointer, where only the canvas should be.
    pub fn laid_under(&self) {
        let observed = "a script of the page had put a hidden control under the pointer";
        (self.refused)(Refusal::new("ControlMoved", "A click", "a click on what is drawn", observed));
    }

    /// Events without trust since the start.
    #[must_use]
    pub fn untrusted(&self) -> u64 {
        self.untrusted.get()
    }
}
