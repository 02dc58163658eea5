//! What the bundled fonts lack, measured and drawn by the browser with the person's own fonts.

use compositor::{Bitmap, FallbackRaster};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use text::FallbackMeasure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{OffscreenCanvas, OffscreenCanvasRenderingContext2d as Context};

/// Largest side of the drawing canvas, in physical pixels.
const SIDE: u32 = 512;
/// Widest word run.
const WIDE: u32 = 1000;
/// Advances remembered.
const ADVANCES_MAX: usize = 8192;

struct Inner {
    context: Option<Context>,
    advances: HashMap<(String, u32, bool), f32>,
}

/// A drawing canvas off the screen; cheap to clone.
#[derive(Clone)]
pub struct Fallback(Rc<RefCell<Inner>>);

fn font(size: f32, bold: bool) -> String {
    format!("{}{size}px Inter, system-ui, sans-serif", if bold { "600 " } else { "" })
}

impl Default for Fallback {
    fn default() -> Self {
        let options = js_sys::Object::new();
        // Pixels are read back at once, so they had better not live on the GPU.
        let _ = js_sys::Reflect::set(&options, &"willReadFrequently".into(), &true.into());
        let context = OffscreenCanvas::new(WIDE, SIDE)
            .ok()
            .and_then(|c| c.get_context_with_context_options("2d", &options).ok().flatten())
            .and_then(|c| c.dyn_into::<Context>().ok());
        Self(Rc::new(RefCell::new(Inner { context, advances: HashMap::new() })))
    }
}

impl FallbackMeasure for Fallback {
    fn advance(&mut self, cluster: &str, size: f32, bold: bool) -> f32 {
        let mut inner = self.0.borrow_mut();
        let key = (cluster.to_owned(), size.to_bits(), bold);
        if let Some(a) = inner.advances.get(&key) {
            return *a;
        }
        let Some(c) = &inner.context else { return size };
        c.set_font(&font(size, bold));
        #[allow(clippy::cast_possible_truncation)]
        let advance = c.measure_text(cluster).map_or(size, |m| m.width() as f32);
        if inner.advances.len() >= ADVANCES_MAX {
            inner.advances.clear();
        }
        inner.advances.insert(key, advance);
        advance
    }
}

impl FallbackRaster for Fallback {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn raster(&mut self, cluster: &str, size: f32, bold: bool) -> Option<Bitmap> {
        let inner = self.0.borrow();
        let c = inner.context.as_ref()?;
        c.set_font(&font(size, bold));
        c.set_text_baseline("alphabetic");
        let m = c.measure_text(cluster).ok()?;
        // A margin of one pixel on each side for what is softened beyond its box.
        let left = m.actual_bounding_box_left().ceil() + 1.0;
        let right = m.actual_bounding_box_right().ceil() + 1.0;
        let top = m.actual_bounding_box_ascent().ceil() + 1.0;
        let bottom = m.actual_bounding_box_descent().ceil() + 1.0;
        let (w, h) = ((left + right).max(1.0) as u32, (top + bottom).max(1.0) as u32);
        if w > WIDE || h > SIDE {
            return None;
        }
        c.clear_rect(0.0, 0.0, f64::from(w), f64::from(h));
        c.set_fill_style_str("#fff");
        c.fill_text(cluster, left, top).ok()?;
        let data = c.get_image_data(0.0, 0.0, f64::from(w), f64::from(h)).ok()?;
        let bytes = js_sys::Reflect::get(&data, &JsValue::from_str("data")).ok()?;
        let mut rgba = js_sys::Uint8Array::new(&js_sys::Reflect::get(&bytes, &"buffer".into()).ok()?).to_vec();
        let colored = rgba.chunks_exact(4).any(|p| p[3] > 32 && (p[0] < 200 || p[1] < 200 || p[2] < 200));
        for p in rgba.chunks_exact_mut(4) {
            for i in 0..3 {
                p[i] = (u16::from(p[i]) * u16::from(p[3]) / 255) as u8;
            }
        }
        Some(Bitmap { width: w, height: h, left: -(left as i32), top: top as i32, rgba, colored })
    }
}
