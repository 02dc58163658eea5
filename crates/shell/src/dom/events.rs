//! Listeners on window and canvas: registered first, in the capture phase, so that trust is
//! stamped before anything else runs.
//!
//! The canvas is driven by these listeners and not by winit: winit turns forged events into
//! ordinary ones, has no text, and what is left of it here (size, scale factor, hover, wheel,
//! cursor) is less than the glue it would need.

use super::keys::{is_ours, mouse_mods, of_edit, press};
use super::listen::Listener;
use super::trust::Trust;
use super::{document, window};
use kernel::authority::{GestureKind, Proof};
use scene::Point;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::event::{Event, Key, Pointer, PointerPhase};
use wasm_bindgen::JsCast;
use web_sys::{
    ClipboardEvent, DragEvent, Element, EventTarget, FocusOptions, HtmlCanvasElement, HtmlElement, InputEvent,
    KeyboardEvent, PointerEvent, WheelEvent,
};

/// What the loop offers to the listeners.
pub trait Loop {
    /// An event for the core. True when the core used a Tab, so that the browser must not.
    fn event(&self, event: Event, proof: Proof) -> bool;
    /// The text that a copy or cut would take.
    fn copied(&self) -> Option<String>;
    /// Something was dropped.
    fn dropped(&self, data: web_sys::DataTransfer, proof: Proof);
    /// The element that receives text now.
    fn text_host(&self) -> Option<Element>;
}

const CLICK_MS: f64 = 500.0;
const CLICK_DISTANCE: f32 = 4.0;
/// What covers less than this at the bottom, in logical pixels, is no keyboard.
const KEYBOARD_MIN: f64 = 80.0;
/// Wheel lines and pages, in logical pixels.
const WHEEL_LINE: f64 = 20.0;

#[derive(Default)]
struct Clicks {
    at: Point,
    ms: f64,
    count: u8,
}

/// All listeners of the page. They stay for its life.
pub struct Events {
    _listeners: Vec<Listener>,
}

fn control(e: &web_sys::Event) -> Option<Element> {
    let target = e.target().and_then(|t| t.dyn_into::<Element>().ok());
    target.filter(|t| is_button(t) || t.tag_name() == "A" || t.has_attribute("data-action"))
}

/// The browser itself turns Enter and Space into a click here, and nowhere else in the mirror.
fn is_button(e: &Element) -> bool {
    e.tag_name() == "BUTTON"
}

impl Events {
    /// Listens.
    #[must_use]
    pub fn new(canvas: &HtmlCanvasElement, trust: &Rc<Trust>, run: &Rc<dyn Loop>) -> Self {
        let mut l = Vec::new();
        let w: EventTarget = window().into();
        let cutting = Rc::new(Cell::new(false));
        keyboard(&w, trust, run, &cutting, &mut l);
        clipboard(&w, trust, run, &cutting, &mut l);
        pointer(canvas, trust, run, &mut l);
        drops(&w, trust, run, &mut l);
        for (kind, focused) in [("focus", true), ("blur", false)] {
            let run = run.clone();
            l.push(Listener::on(&w, kind, move |e| {
                // Focus also moves inside the page; only the window itself counts.
                if e.target().is_some_and(|t| t.is_instance_of::<web_sys::Window>()) {
                    run.event(Event::WindowFocus(focused), Proof::Untrusted);
                }
            }));
        }
        l.extend(trust.focus().ends());
        Self { _listeners: l }
    }
}

fn keyboard(w: &EventTarget, trust: &Rc<Trust>, run: &Rc<dyn Loop>, cutting: &Rc<Cell<bool>>, l: &mut Vec<Listener>) {
    let (t, r, cutting) = (trust.clone(), run.clone(), cutting.clone());
    l.push(Listener::capture(w, "keydown", move |e| {
        let e: KeyboardEvent = e.unchecked_into();
        let proof = t.stamp(GestureKind::Key, &e);
        if !proof.is_trusted() {
            return;
        }
        let p = press(&e);
        cutting.set(p.key == Key::Char('x') && p.mods.command());
        if matches!(p.key, Key::Enter | Key::Space) {
            t.focus().key_down();
            if let Some(on) = control(&e) {
                if !t.focus().may_press(&on) {
                    e.prevent_default();
                    t.focus_moved();
                    return;
                }
                // A focused button of the mirror is pressed by the browser itself, as a click.
                if is_button(&on) {
                    return;
                }
            }
        }
        let text_key = matches!(p.key, Key::Char(_) | Key::Space) && !p.mods.command();
        let host = r.text_host();
        host.iter().for_each(regain);
        let in_field = host.is_some_and(|h| Some(h) == document().active_element());
        if text_key && in_field {
            return; // arrives as text
        }
        if is_ours(&p) {
            e.prevent_default();
        }
        let tab = p.key == Key::Tab;
        if r.event(Event::Key(p), proof) && tab {
            e.prevent_default();
        }
    }));
    // On-screen keyboards send edits without usable key codes (`field_7h3`).
    let (t, r) = (trust.clone(), run.clone());
    l.push(Listener::capture(w, "beforeinput", move |e| {
        let host = r.text_host();
        let target = e.target().and_then(|t| t.dyn_into::<Element>().ok());
        let e: InputEvent = e.unchecked_into();
        // The text area driver reads its own.
        let ours = target.is_some() && target == host && target.is_some_and(|t| t.tag_name() == "DIV");
        if e.input_type() == "deleteByCut" {
            if ours {
                let proof = t.stamp(GestureKind::TextEdit, &e);
                e.prevent_default();
                if proof.is_trusted() {
                    r.event(Event::Cut, proof);
                }
            }
            return;
        }
        let Some(key) = of_edit(&e) else { return };
        if !ours || e.is_composing() {
            return;
        }
        let proof = t.stamp(GestureKind::TextEdit, &e);
        e.prevent_default();
        if proof.is_trusted() {
            r.event(Event::Key(key), proof);
        }
    }));
    let t = trust.clone();
    l.push(Listener::capture(w, "click", move |e| {
        // Clicks on the mirror are handled there; a forged one anywhere is told.
        if control(&e).is_none() && !e.is_trusted() {
            t.stamp(GestureKind::Click, &e);
        }
    }));
}

fn clipboard(w: &EventTarget, trust: &Rc<Trust>, run: &Rc<dyn Loop>, cutting: &Rc<Cell<bool>>, l: &mut Vec<Listener>) {
    let (t, r) = (trust.clone(), run.clone());
    l.push(Listener::capture(w, "paste", move |e| {
        let e: ClipboardEvent = e.unchecked_into();
        let proof = t.stamp(GestureKind::Paste, &e);
        e.prevent_default();
        let Some(data) = e.clipboard_data().filter(|_| proof.is_trusted()) else { return };
        match data.get_data("text/plain") {
            Ok(text) if !text.is_empty() => drop(r.event(Event::Paste(text), proof)),
            _ => r.dropped(data, proof),
        }
    }));
    // A copy proves nothing and needs nothing: it only fills what the browser asks for.
    let r = run.clone();
    l.push(Listener::capture(w, "copy", move |e| {
        let e: ClipboardEvent = e.unchecked_into();
        if let (Some(text), Some(data)) = (r.copied(), e.clipboard_data())
            && data.set_data("text/plain", &text).is_ok()
        {
            e.prevent_default();
        }
    }));
    let up = cutting.clone();
    l.push(Listener::capture(w, "keyup", move |_| up.set(false)));
    // Scripts make trusted cuts. One counts as what the keys ask for that are down at this very
    // moment; any other (a menu's) only where its deletion follows as a trusted `beforeinput`.
    let (t, r, cutting) = (trust.clone(), run.clone(), cutting.clone());
    l.push(Listener::capture(w, "cut", move |e| {
        let e: ClipboardEvent = e.unchecked_into();
        let by_key = cutting.replace(false);
        if let (Some(text), Some(data)) = (r.copied(), e.clipboard_data())
            && data.set_data("text/plain", &text).is_ok()
            && by_key
        {
            e.prevent_default();
            let proof = t.stamp(GestureKind::Key, &e);
            if proof.is_trusted() {
                r.event(Event::Cut, proof);
            }
        }
    }));
}

fn at(e: &web_sys::MouseEvent) -> Point {
    #[allow(clippy::cast_precision_loss)]
    Point::new(e.client_x() as f32, e.client_y() as f32)
}

fn pointer(canvas: &HtmlCanvasElement, trust: &Rc<Trust>, run: &Rc<dyn Loop>, l: &mut Vec<Listener>) {
    let clicks = Rc::new(RefCell::new(Clicks::default()));
    let phases = [
        ("pointerdown", PointerPhase::Down),
        ("pointermove", PointerPhase::Move),
        ("pointerup", PointerPhase::Up),
        ("pointercancel", PointerPhase::Cancel),
        ("pointerleave", PointerPhase::Leave),
    ];
    for (kind, phase) in phases {
        let (t, r, c, canvas2) = (trust.clone(), run.clone(), clicks.clone(), canvas.clone());
        l.push(Listener::capture(canvas, kind, move |e| {
            let e: PointerEvent = e.unchecked_into();
            let acts = matches!(phase, PointerPhase::Down | PointerPhase::Up);
            let proof = if acts || !e.is_trusted() { t.stamp(GestureKind::Pointer, &e) } else { Proof::Untrusted };
            if acts && !proof.is_trusted() || !e.is_trusted() {
                return;
            }
            let p = at(&e);
            let mut c = c.borrow_mut();
            if phase == PointerPhase::Down {
                let near = (c.at.x - p.x).abs() < CLICK_DISTANCE && (c.at.y - p.y).abs() < CLICK_DISTANCE;
                let again = near && e.time_stamp() - c.ms < CLICK_MS;
                *c = Clicks { at: p, ms: e.time_stamp(), count: if again { c.count % 3 + 1 } else { 1 } };
                // A drag goes on outside the canvas.
                let _ = canvas2.set_pointer_capture(e.pointer_id());
            }
            let event = Pointer {
                phase,
                at: p,
                button: u8::try_from(e.button().max(0)).unwrap_or(0),
                clicks: c.count,
                touch: e.pointer_type() == "touch",
                mods: mouse_mods(&e),
                at_ms: e.time_stamp(),
            };
            drop(c);
            let (up, touch) = (phase == PointerPhase::Up, event.touch);
            r.event(Event::Pointer(event), proof);
            if up && let Some(host) = r.text_host() {
                keyboard_again(&host, p, touch);
            }
        }));
    }
    // The default of a press would move the focus away from the text host.
    l.push(Listener::capture(canvas, "mousedown", |e| e.prevent_default()));
    l.push(Listener::capture(canvas, "touchstart", |e| e.prevent_default()));
    let r = run.clone();
    l.push(Listener::capture(canvas, "wheel", move |e| {
        let e: WheelEvent = e.unchecked_into();
        if e.ctrl_key() {
            return; // the browser's zoom
        }
        e.prevent_default();
        let unit = match e.delta_mode() {
            WheelEvent::DOM_DELTA_LINE => WHEEL_LINE,
            WheelEvent::DOM_DELTA_PAGE => f64::from(canvas_height()),
            _ => 1.0,
        };
        #[allow(clippy::cast_possible_truncation)]
        let delta = Point::new((e.delta_x() * unit) as f32, (e.delta_y() * unit) as f32);
        r.event(Event::Wheel { at: at(&e), delta }, Proof::Untrusted);
    }));
}

/// Brings the keyboard back to the field that was pressed, inside the press's own handler
/// (`field_7h3`). After “Done” the field has lost the focus, or still has it with the on-screen
/// keyboard gone, which only gaining it anew opens. One that is open is left alone, and with it
/// whatever is being composed.
fn keyboard_again(host: &Element, press: Point, touch: bool) {
    let rect = host.get_bounding_client_rect();
    let (x, y) = (f64::from(press.x), f64::from(press.y));
    let inside = x >= rect.left() && x < rect.right() && y >= rect.top() && y < rect.bottom();
    let Some(host) = host.dyn_ref::<HtmlElement>().filter(|_| inside) else { return };
    let open = window().visual_viewport().is_some_and(|v| v.height() < f64::from(canvas_height()) - KEYBOARD_MIN);
    let has = document().active_element().as_ref() == Some(host.as_ref());
    if has && touch && !open {
        // An element that is in the page can lose and gain the focus.
        let _ = host.blur();
        give_focus(host);
    } else if !has {
        give_focus(host);
    }
}

fn give_focus(host: &HtmlElement) {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    let _ = host.focus_with_options(&options);
}

/// Where nothing has the focus any more, a key goes to the field that the core says is in use.
fn regain(host: &Element) {
    let nowhere = document().active_element().is_none_or(|a| a.tag_name() == "BODY");
    if let Some(host) = host.dyn_ref::<HtmlElement>().filter(|_| nowhere) {
        give_focus(host);
    }
}

fn canvas_height() -> i32 {
    document().document_element().map_or(0, |e| e.client_height())
}

fn drops(w: &EventTarget, trust: &Rc<Trust>, run: &Rc<dyn Loop>, l: &mut Vec<Listener>) {
    l.push(Listener::capture(w, "dragover", |e| e.prevent_default()));
    let (t, r) = (trust.clone(), run.clone());
    l.push(Listener::capture(w, "drop", move |e| {
        let e: DragEvent = e.unchecked_into();
        let proof = t.stamp(GestureKind::Drop, &e);
        e.prevent_default();
        if let Some(data) = e.data_transfer().filter(|_| proof.is_trusted()) {
            r.dropped(data, proof);
        }
    }));
}
