//! Facts about window and person: size, scale factor, scheme, motion, contrast, pointer.

use super::listen::Listener;
use super::window;
use js_sys::Array;
use std::cell::Cell;
use std::rc::Rc;
use ui::event::Env;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{
    HtmlCanvasElement, MediaQueryList, ResizeObserver, ResizeObserverBoxOptions, ResizeObserverEntry,
    ResizeObserverOptions, ResizeObserverSize,
};

/// Watches the environment and tells every change.
pub struct EnvWatch {
    canvas: HtmlCanvasElement,
    /// Physical size as the observer reported it, where it can.
    device: Rc<Cell<Option<(u32, u32)>>>,
    _observer: Option<ResizeObserver>,
    _observed: Closure<dyn FnMut(Array)>,
    _listeners: Vec<Listener>,
}

const QUERIES: [&str; 4] = [
    "(prefers-color-scheme: dark)",
    "(prefers-reduced-motion: reduce)",
    "(forced-colors: active)",
    "(pointer: coarse)",
];

fn query(q: &str) -> Option<MediaQueryList> {
    window().match_media(q).ok().flatten()
}

impl EnvWatch {
    /// Starts watching; `changed` is called on every change.
    #[must_use]
    pub fn new(canvas: &HtmlCanvasElement, changed: &Rc<dyn Fn()>) -> Self {
        let device = Rc::new(Cell::new(None));
        let (d, c) = (device.clone(), changed.clone());
        let observed = Closure::<dyn FnMut(Array)>::new(move |entries: Array| {
            if let Some(size) = entries.iter().last().and_then(|e| physical(&e.unchecked_into())) {
                d.set(Some(size));
            }
            c();
        });
        let observer = ResizeObserver::new(observed.as_ref().unchecked_ref()).ok();
        if let Some(o) = &observer {
            let options = ResizeObserverOptions::new();
            options.set_box(ResizeObserverBoxOptions::DevicePixelContentBox);
            o.observe_with_options(canvas, &options);
        }
        let mut listeners: Vec<Listener> = QUERIES
            .iter()
            .filter_map(|q| query(q))
            .map(|m| {
                let c = changed.clone();
                Listener::on(&m, "change", move |_| c())
            })
            .collect();
        let (d, c) = (device.clone(), changed.clone());
        listeners.push(Listener::on(&window(), "resize", move |_| {
            // Zoom and a move to another screen change the scale factor with or without the size.
            d.set(None);
            c();
        }));
        if let Some(v) = window().visual_viewport() {
            let c = changed.clone();
            listeners.push(Listener::on(&v, "resize", move |_| c()));
        }
        Self { canvas: canvas.clone(), device, _observer: observer, _observed: observed, _listeners: listeners }
    }

    /// The environment now.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    pub fn env(&self) -> Env {
        let rect = self.canvas.get_bounding_client_rect();
        let is = |i: usize| query(QUERIES[i]).is_some_and(|m| m.matches());
        let covered =
            window().visual_viewport().map_or(0.0, |v| (rect.height() - v.height() - v.offset_top()).max(0.0));
        Env {
            size: scene::Size::new(rect.width() as f32, rect.height() as f32),
            scale: window().device_pixel_ratio() as f32,
            dark: is(0),
            reduced_motion: is(1),
            forced_colors: is(2),
            coarse: is(3),
            // Less than this is a browser's bar, not a keyboard.
            keyboard_inset: if covered > 80.0 { covered as f32 } else { 0.0 },
        }
    }

    /// Backing size of the canvas in physical pixels, exact where the browser says it.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn backing(&self) -> (u32, u32) {
        let (rect, dpr) = (self.canvas.get_bounding_client_rect(), window().device_pixel_ratio());
        let computed = (rect.width() * dpr, rect.height() * dpr);
        // The observer knows how an odd size was rounded. More than that apart it measured for
        // another scale factor (an emulated one, or a change that is still under way).
        let near =
            |(w, h): &(u32, u32)| (f64::from(*w) - computed.0).abs() < 2.0 && (f64::from(*h) - computed.1).abs() < 2.0;
        self.device.get().filter(near).unwrap_or((computed.0.round() as u32, computed.1.round() as u32))
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn physical(entry: &ResizeObserverEntry) -> Option<(u32, u32)> {
    let sizes: JsValue = js_sys::Reflect::get(entry, &"devicePixelContentBoxSize".into()).ok()?;
    let size: ResizeObserverSize = sizes.dyn_into::<Array>().ok()?.get(0).dyn_into().ok()?;
    Some((size.inline_size() as u32, size.block_size() as u32))
}
