//! Who moved the keyboard's focus. A script may call `focus()` on any control, and the key that
//! follows is the person's own: it was aimed at something else, and must press nothing there.
//!
//! The person's ways to move the focus are Tab, F6, F8 and the pointer; all of them go through
//! the core, which answers by focusing the element itself. Assistive technology moves it as a
//! script does, but presses by a click of its own and not by a key, so it loses nothing.

use super::listen::Listener;
use super::window;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use web_sys::Element;

/// Remembers which element got the focus from the shell, and which got it from elsewhere.
#[derive(Default)]
pub struct FocusGuard {
    /// Has the focus by the core's word.
    ours: RefCell<Option<Element>>,
    /// Got it without the core, and the core has not moved on since.
    moved: RefCell<Option<Element>>,
    /// A key that presses controls is down.
    pressing: Cell<bool>,
}

impl FocusGuard {
    /// The core is about to give the focus. Said before it does: a script may hear of it and
    /// move the focus on at once, and that is then the script's doing.
    pub fn give(&self, to: &Element) {
        self.ours.replace(Some(to.clone()));
        self.moved.replace(None);
    }

    /// The core says that the focus is here. Where a script moved it, it stays the script's
    /// until the core has been elsewhere.
    pub fn keep(&self, at: &Element) {
        if self.moved.borrow().as_ref() != Some(at) {
            self.give(at);
        }
    }

    /// An element gained the focus, by whomever.
    pub fn gained(&self, at: &Element) {
        if self.ours.borrow().as_ref() != Some(at) {
            self.moved.replace(Some(at.clone()));
        }
    }

    /// Whether a key may press this control.
    #[must_use]
    pub fn may_press(&self, at: &Element) -> bool {
        self.moved.borrow().as_ref() != Some(at)
    }

    /// A key that presses controls went down, anywhere.
    pub fn key_down(&self) {
        self.pressing.set(true);
    }

    /// Whether a click here may count: not while a key is down that was aimed at another control.
    #[must_use]
    pub fn may_click(&self, at: &Element) -> bool {
        !self.pressing.get() || self.may_press(at)
    }

    /// Listens for the end of a key.
    #[must_use]
    pub fn ends(self: &Rc<Self>) -> [Listener; 2] {
        ["keyup", "blur"].map(|kind| {
            let guard = self.clone();
            Listener::capture(&window(), kind, move |_| guard.pressing.set(false))
        })
    }
}
