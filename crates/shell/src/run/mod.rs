//! The loop: events and replies go into `apps::desktop`, effects are performed, frames drawn.
//!
//! Input is folded and painted on the CPU at once, so that the focus moves inside the person's
//! own act and a second key sees the list that the first one made. The GPU draws at most once a
//! frame, and only after a change: an idle shell schedules nothing.

mod boot;
mod effects;
mod screen;
mod skills;

pub use boot::start;

use crate::dom::env::EnvWatch;
use crate::dom::events::{Events, Loop};
use crate::dom::input::{self, FieldState, Method, Sink, TextInputDriver};
use crate::dom::trust::Trust;
use crate::dom::{instant, now_ms, window};
use crate::mirror::Mirror;
use crate::model::fetch::Fetch;
use crate::model::worker::ModelWorker;
use crate::mounts::Mounts;
use crate::storage::Storage;
use apps::desktop::{Desktop, Dropped, Effect, FieldView, Msg, View};
use apps::status::{InputMethod, LocalModel};
use kernel::authority::Proof;
use kernel::{MountId, Refusal};
use models::{Ask, RunId};
use screen::{Drawn, Screen};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use text::TextEngine;
use ui::event::{Composition, Event};
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{DataTransfer, Element, HtmlCanvasElement};

/// Messages that wait while one is being folded, at most; more is a loop of our own making.
const QUEUE_MAX: usize = 1024;

/// A timer that is set: for when, its handle, its call.
type Wake = (u64, i32, Closure<dyn FnMut()>);

struct Drivers {
    method: Method,
    plain: Option<Rc<dyn TextInputDriver>>,
    secret: Option<Rc<dyn TextInputDriver>>,
}

/// The running shell.
pub(crate) struct Shell {
    desktop: RefCell<Desktop>,
    engine: RefCell<TextEngine>,
    queue: RefCell<VecDeque<Msg>>,
    folding: Cell<bool>,
    view: RefCell<Option<View>>,
    canvas: HtmlCanvasElement,
    screen: Rc<Screen>,
    trust: Rc<Trust>,
    env: RefCell<Option<EnvWatch>>,
    events: RefCell<Option<Events>>,
    mirror: RefCell<Option<Mirror>>,
    drivers: RefCell<Drivers>,
    stale: Cell<bool>,
    painting: Cell<bool>,
    scheduled: Cell<bool>,
    frame: RefCell<Option<Closure<dyn FnMut()>>>,
    wake: RefCell<Option<Wake>>,
    worker: RefCell<Option<ModelWorker>>,
    model: RefCell<LocalModel>,
    waiting: RefCell<Vec<Ask>>,
    local_runs: RefCell<std::collections::BTreeSet<RunId>>,
    fetches: RefCell<HashMap<RunId, Option<Fetch>>>,
    storage: RefCell<Option<Storage>>,
    mounts: Mounts,
    /// Number of the last claim of a conversation's lock; older answers are nobody's.
    claims: Cell<u64>,
    titles: RefCell<HashMap<MountId, String>>,
    lease: RefCell<Option<crate::storage::locks::Lease>>,
    skills: RefCell<skills::Looks>,
}

impl Shell {
    /// Folds a message and everything that follows from it.
    pub(crate) fn post(self: &Rc<Self>, msg: Msg) {
        let mut queue = self.queue.borrow_mut();
        if queue.len() == QUEUE_MAX {
            // A loop of our own making: the newest is refused by name, in the place of the last.
            let seen = format!("{QUEUE_MAX} messages are waiting");
            queue.pop_back();
            queue.push_back(Msg::Refused(Refusal::new("QueueFull", "A message", "room in the queue", &seen)));
        } else {
            queue.push_back(msg);
        }
        drop(queue);
        // While painting, a moved focus tells us so; that waits until the mirror is done.
        if !self.painting.get() {
            self.drain();
        }
    }

    fn drain(self: &Rc<Self>) {
        if self.folding.replace(true) {
            return;
        }
        loop {
            let Some(msg) = self.queue.borrow_mut().pop_front() else { break };
            let effects = {
                let mut engine = self.engine.borrow_mut();
                self.desktop.borrow_mut().update(msg, instant(), &mut engine)
            };
            self.perform(effects);
        }
        self.folding.set(false);
        self.stale.set(true);
        self.schedule();
    }

    fn perform(self: &Rc<Self>, effects: Vec<Effect>) {
        for e in effects {
            effects::perform(self, e);
        }
    }

    /// Paints on the CPU: view, mirror, text driver.
    fn paint(self: &Rc<Self>) {
        // Painting moves the focus, and a moved focus may be news: once more, then it is told.
        for _ in 0..2 {
            if !self.stale.replace(false) {
                return;
            }
            self.painting.set(true);
            self.paint_once();
            self.painting.set(false);
            if self.queue.borrow().is_empty() {
                return;
            }
            self.drain();
        }
    }

    fn paint_once(self: &Rc<Self>) {
        let mut view = {
            let mut engine = self.engine.borrow_mut();
            self.desktop.borrow_mut().view(&mut engine, instant())
        };
        let field = view.text_field.take();
        let driver = field.as_ref().map(|f| self.driver(f.secret));
        if let (Some(d), Some(f)) = (&driver, &field) {
            d.sync(&state(f));
        }
        if let Some(m) = self.mirror.borrow_mut().as_mut() {
            m.update(&view.semantics, field.as_ref().zip(driver.as_ref()).map(|(f, d)| (f.id, d.host())));
        }
        let cursor = cursor(view.cursor);
        let style = self.canvas.style();
        if style.get_property_value("cursor").unwrap_or_default() != cursor {
            let _ = style.set_property("cursor", cursor);
        }
        view.text_field = field;
        self.set_wake(view.wake_at);
        *self.view.borrow_mut() = Some(view);
    }

    /// Asks for a frame, once.
    pub(crate) fn schedule(self: &Rc<Self>) {
        if self.scheduled.replace(true) {
            return;
        }
        if let Some(f) = self.frame.borrow().as_ref() {
            let _ = window().request_animation_frame(f.as_ref().unchecked_ref());
        }
    }

    fn on_frame(self: &Rc<Self>) {
        self.scheduled.set(false);
        self.paint();
        let backing = self.env.borrow().as_ref().map(EnvWatch::backing);
        let (Some(backing), Some(view)) = (backing, &*self.view.borrow()) else { return };
        if self.canvas.width() != backing.0 || self.canvas.height() != backing.1 {
            self.canvas.set_width(backing.0.max(1));
            self.canvas.set_height(backing.1.max(1));
        }
        match self.screen.draw(backing, &view.display, &mut self.engine.borrow_mut()) {
            Drawn::Shown => self.desktop.borrow_mut().presented(),
            Drawn::Later => self.schedule(),
            Drawn::NoDevice => {}
        }
    }

    /// Everything is drawn anew: another device, another size.
    pub(crate) fn redraw(self: &Rc<Self>) {
        self.stale.set(true);
        self.schedule();
    }

    fn set_wake(self: &Rc<Self>, at: Option<u64>) {
        let mut wake = self.wake.borrow_mut();
        if wake.as_ref().map(|w| w.0) == at {
            return;
        }
        if let Some((_, handle, _)) = wake.take() {
            window().clear_timeout_with_handle(handle);
        }
        let Some(at) = at else { return };
        let this = Rc::downgrade(self);
        let call = Closure::<dyn FnMut()>::new(move || {
            if let Some(shell) = this.upgrade() {
                shell.wake.borrow_mut().take();
                shell.post(Msg::Tick);
            }
        });
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
        let wait = (at as f64 - now_ms()).clamp(0.0, f64::from(i32::MAX)) as i32;
        let handle =
            window().set_timeout_with_callback_and_timeout_and_arguments_0(call.as_ref().unchecked_ref(), wait);
        if let Ok(handle) = handle {
            *wake = Some((at, handle, call));
        }
    }

    fn sink(self: &Rc<Self>) -> Sink {
        let this = Rc::downgrade(self);
        Rc::new(move |event, proof| {
            if let Some(shell) = this.upgrade() {
                shell.event(event, proof);
            }
        })
    }

    fn driver(self: &Rc<Self>, secret: bool) -> Rc<dyn TextInputDriver> {
        let mut d = self.drivers.borrow_mut();
        let method = d.method;
        let slot = if secret { &mut d.secret } else { &mut d.plain };
        slot.get_or_insert_with(|| input::driver(method, secret, &self.sink(), &self.trust)).clone()
    }

    pub(crate) fn set_input(self: &Rc<Self>, method: InputMethod) {
        let method = if method == InputMethod::Textarea { Method::Textarea } else { Method::Auto };
        let mut d = self.drivers.borrow_mut();
        if d.method != method {
            d.method = method;
            d.plain = None;
        }
        drop(d);
        self.redraw();
    }
}

fn state(f: &FieldView) -> FieldState {
    FieldState {
        id: f.id.0,
        text: f.text.clone(),
        selection: f.selection,
        caret: f.caret,
        bounds: f.bounds,
        multiline: f.multiline,
        secret: f.secret,
    }
}

fn cursor(c: ui::Cursor) -> &'static str {
    match c {
        ui::Cursor::Default => "default",
        ui::Cursor::Pointer => "pointer",
        ui::Cursor::Text => "text",
        ui::Cursor::Grab => "grab",
        ui::Cursor::ResizeEw => "ew-resize",
        ui::Cursor::ResizeNs => "ns-resize",
        ui::Cursor::ResizeNwse => "nwse-resize",
        ui::Cursor::NotAllowed => "not-allowed",
    }
}

/// What the listeners see of the shell.
pub(crate) struct Front(pub(crate) Rc<Shell>);

impl Loop for Front {
    fn event(&self, event: Event, proof: Proof) -> bool {
        self.0.event(event, proof)
    }
    fn copied(&self) -> Option<String> {
        self.0.desktop.borrow_mut().selected_text()
    }
    fn dropped(&self, data: DataTransfer, proof: Proof) {
        boot::dropped(&self.0, &data, proof);
    }
    fn text_host(&self) -> Option<Element> {
        let view = self.0.view.borrow();
        let secret = view.as_ref()?.text_field.as_ref()?.secret;
        drop(view);
        Some(self.0.driver(secret).host().into())
    }
}

impl Shell {
    fn event(self: &Rc<Self>, event: Event, proof: Proof) -> bool {
        let moved = matches!(event, Event::Pointer(ref p) if p.phase == ui::event::PointerPhase::Move);
        let tab = matches!(event, Event::Key(ref k) if k.key == ui::event::Key::Tab);
        // A composition may end because the focus leaves. To paint inside that event would take the
        // focus back, and the browser would then forget the element's EditContext.
        let ended = matches!(event, Event::Composition(Composition(None)));
        self.post(Msg::Input(event, proof));
        self.trust.end();
        if !moved && !ended {
            self.paint();
        }
        // The Tab order is the core's, so that it is the same on canvas and in the mirror.
        tab
    }

    pub(crate) fn drop_text(self: &Rc<Self>, what: Dropped, proof: Proof) {
        self.post(Msg::Drop(what, proof));
    }
}
