//! The canvas and its device: made anew whenever the device is lost, within reason.

use crate::dom::{document, now_ms};
use crate::fallback::Fallback;
use compositor::{Compositor, Gpu, GpuError};
use scene::DisplayList;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use text::TextEngine;
use web_sys::HtmlCanvasElement;

/// Losses within [`WINDOW_MS`] after which we stop trying (`field_7h4`).
const LOSSES_MAX: usize = 8;
const WINDOW_MS: f64 = 30_000.0;

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// It is on the screen.
    Shown,
    /// The surface gave no texture this time; try again.
    Later,
    /// There is no device; another is on its way and will ask for a frame.
    NoDevice,
}

/// The canvas with its current device.
pub struct Screen {
    canvas: HtmlCanvasElement,
    gpu: RefCell<Option<(Gpu, Compositor)>>,
    raster: RefCell<Fallback>,
    losses: RefCell<VecDeque<f64>>,
    shown: Cell<bool>,
    /// Rises with every device; news of an older one is nobody's.
    generation: Cell<u64>,
}

impl Screen {
    /// A canvas without a device yet.
    #[must_use]
    pub fn new(canvas: HtmlCanvasElement, raster: Fallback) -> Self {
        Self {
            canvas,
            gpu: RefCell::default(),
            raster: RefCell::new(raster),
            losses: RefCell::default(),
            shown: Cell::new(false),
            generation: Cell::new(0),
        }
    }

    /// Asks for a device; `ready` is called for this one and for each that replaces it.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn open(self: &Rc<Self>, ready: Rc<dyn Fn()>) -> Result<(), GpuError> {
        let generation = self.generation.get() + 1;
        self.generation.set(generation);
        let size = (self.canvas.width(), self.canvas.height());
        let (gpu, lost) = Gpu::new(wgpu::SurfaceTarget::Canvas(self.canvas.clone()), size).await?;
        let compositor = Compositor::new(&gpu);
        *self.gpu.borrow_mut() = Some((gpu, compositor));
        ready();
        let this = self.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let Ok(words) = lost.await else { return };
            if this.generation.get() == generation {
                this.lost(words, ready).await;
            }
        });
        Ok(())
    }

    async fn lost(self: Rc<Self>, words: String, ready: Rc<dyn Fn()>) {
        *self.gpu.borrow_mut() = None;
        let now = now_ms();
        let recent = {
            let mut l = self.losses.borrow_mut();
            l.push_back(now);
            l.retain(|t| now - t < WINDOW_MS);
            l.len()
        };
        let failed = if recent > LOSSES_MAX {
            Some(format!("the graphics device was lost {recent} times in half a minute ({words})"))
        } else {
            Box::pin(self.open(ready)).await.err().map(|e| e.to_string())
        };
        if let Some(why) = failed {
            explain(&why);
        }
    }

    /// Draws a frame.
    pub fn draw(&self, size: (u32, u32), list: &DisplayList, text: &mut TextEngine) -> Drawn {
        let mut gpu = self.gpu.borrow_mut();
        let Some((gpu, compositor)) = gpu.as_mut() else { return Drawn::NoDevice };
        if gpu.size() != size {
            gpu.resize(size.0, size.1);
        }
        let done = compositor.render(gpu, list, text, &mut *self.raster.borrow_mut());
        if done && !self.shown.replace(true) {
            ready();
        }
        if done { Drawn::Shown } else { Drawn::Later }
    }
}

fn mark(state: &str) {
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute("data-shell", state);
    }
}

/// The first frame is on the screen.
fn ready() {
    mark("ready");
}

/// A page of words in place of the canvas; the mirror with all text stays reachable.
pub fn explain(why: &str) {
    mark("stopped");
    let set = |id: &str, text: &str| {
        if let Some(e) = document().get_element_by_id(id) {
            e.set_text_content(Some(text));
        }
    };
    set("splash-title", "The picture is gone");
    set(
        "splash-text",
        &format!(
            "{why}. Nothing was lost: your draft, conversations and any open review are kept, and nothing was decided. Reload the page to draw it again."
        ),
    );
    if let Some(p) = document().get_element_by_id("splash-progress") {
        let _ = p.set_attribute("hidden", "");
    }
}
