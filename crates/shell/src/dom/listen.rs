//! Event listeners that go away with their owner.

use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{AddEventListenerOptions, Event, EventTarget};

/// A listener; dropping it removes it.
pub struct Listener {
    target: EventTarget,
    kind: &'static str,
    capture: bool,
    call: Closure<dyn FnMut(Event)>,
}

impl Listener {
    /// Listens in the capture phase, before any listener of the page's elements.
    #[must_use]
    pub fn capture(target: &EventTarget, kind: &'static str, call: impl FnMut(Event) + 'static) -> Self {
        Self::new(target, kind, true, call)
    }
    /// Listens in the bubble phase.
    #[must_use]
    pub fn on(target: &EventTarget, kind: &'static str, call: impl FnMut(Event) + 'static) -> Self {
        Self::new(target, kind, false, call)
    }

    fn new(target: &EventTarget, kind: &'static str, capture: bool, call: impl FnMut(Event) + 'static) -> Self {
        let call = Closure::<dyn FnMut(Event)>::new(call);
        let options = AddEventListenerOptions::new();
        options.set_capture(capture);
        options.set_passive(false);
        let function = call.as_ref().unchecked_ref();
        // A target that takes no listener has no events either.
        let _ = target.add_event_listener_with_callback_and_add_event_listener_options(kind, function, &options);
        Self { target: target.clone(), kind, capture, call }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let function = self.call.as_ref().unchecked_ref();
        let _ = self.target.remove_event_listener_with_callback_and_bool(self.kind, function, self.capture);
    }
}
