//! A canvas of physical pixels, a compositor on it, and eyes to look at what it shows.

use compositor::{Bitmap, Compositor, FallbackRaster, Gpu};
use futures_channel::oneshot::Receiver;
use scene::{DisplayList, Item, Layer, LayerId, Point, Quad, Rect, Rgba, TextRun};
use text::{BlockSpec, FallbackMeasure, TextEngine, TextStyle, Wrap};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

// Not there? `cargo xtask assets` fetches the fonts.
const INTER: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/fonts/Inter-Regular.ttf"));
const MONO: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/fonts/JetBrainsMono-Regular.ttf"));

pub const PAPER: Rgba = Rgba::hex(0xff_ff_ff);
pub const INK: Rgba = Rgba::hex(0x10_20_30);

/// Every cell is one em wide.
struct Em;
impl FallbackMeasure for Em {
    fn advance(&mut self, _: &str, size: f32, _: bool) -> f32 {
        size
    }
}

/// Draws a cell as a full square of `side` pixels: a code point ending in an even digit as a
/// mask, in an odd one in a colour of its own.
pub struct Squares {
    pub side: u32,
    pub calls: usize,
}

impl Squares {
    pub fn color(c: char) -> Rgba {
        let [_, r, g, b] = u32::from(c).wrapping_mul(0x9e_37_79).to_be_bytes();
        Rgba { r, g, b, a: 255 }
    }
}

impl FallbackRaster for Squares {
    fn raster(&mut self, cluster: &str, _: f32, _: bool) -> Option<Bitmap> {
        self.calls += 1;
        let c = cluster.chars().next()?;
        let colored = u32::from(c) % 2 == 1;
        let Rgba { r, g, b, a } = Self::color(c);
        let rgba = [r, g, b, a].repeat((self.side * self.side) as usize);
        let top = i32::try_from(self.side).ok()?;
        Some(Bitmap { width: self.side, height: self.side, left: 0, top, rgba, colored })
    }
}

pub struct Stage {
    pub canvas: HtmlCanvasElement,
    pub gpu: Gpu,
    pub lost: Receiver<String>,
    pub compositor: Compositor,
    pub text: TextEngine,
    pub raster: Squares,
}

fn canvas(w: u32, h: u32) -> HtmlCanvasElement {
    let document = web_sys::window().and_then(|w| w.document()).expect("document");
    let c: HtmlCanvasElement = document.create_element("canvas").expect("canvas").unchecked_into();
    c.set_width(w);
    c.set_height(h);
    c
}

pub async fn gpu(canvas: &HtmlCanvasElement) -> (Gpu, Receiver<String>) {
    let size = (canvas.width(), canvas.height());
    Gpu::new(wgpu::SurfaceTarget::Canvas(canvas.clone()), size).await.expect("a WebGPU device; see webdriver.json")
}

impl Stage {
    pub async fn new(w: u32, h: u32, scale: f32) -> Self {
        let canvas = canvas(w, h);
        let (gpu, lost) = gpu(&canvas).await;
        let compositor = Compositor::new(&gpu);
        let mut text = TextEngine::new(vec![INTER.to_vec(), MONO.to_vec()], Box::new(Em)).expect("fonts");
        text.set_scale(scale);
        Self { canvas, gpu, lost, compositor, text, raster: Squares { side: 16, calls: 0 } }
    }

    pub fn run(&mut self, text: &str, style: TextStyle, at: (f32, f32), color: Rgba) -> Item {
        let block = self.text.block(&BlockSpec { text, style, spans: &[], width: None, wrap: Wrap::None });
        Item::Text(TextRun { block, origin: Point::new(at.0, at.1), color })
    }

    /// Draws and returns what the canvas shows.
    pub fn show(&mut self, list: &DisplayList) -> Pixels {
        assert!(self.compositor.render(&mut self.gpu, list, &mut self.text, &mut self.raster), "a frame");
        self.look()
    }

    /// What the canvas shows.
    pub fn look(&self) -> Pixels {
        let (w, h) = (self.canvas.width(), self.canvas.height());
        let flat = canvas(w, h);
        let ctx: CanvasRenderingContext2d = flat.get_context("2d").expect("2d").expect("2d").unchecked_into();
        ctx.draw_image_with_html_canvas_element(&self.canvas, 0.0, 0.0).expect("drawn");
        let (fw, fh) = (f64::from(w), f64::from(h));
        Pixels { w, rgba: ctx.get_image_data(0.0, 0.0, fw, fh).expect("read").data().0 }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct Pixels {
    pub w: u32,
    pub rgba: Vec<u8>,
}

impl Pixels {
    pub fn at(&self, x: u32, y: u32) -> Rgba {
        let i = ((y * self.w + x) * 4) as usize;
        let p = &self.rgba[i..i + 4];
        Rgba { r: p[0], g: p[1], b: p[2], a: p[3] }
    }
    /// How many pixels have this colour.
    pub fn count(&self, c: Rgba) -> usize {
        self.rgba.chunks_exact(4).filter(|p| *p == [c.r, c.g, c.b, c.a]).count()
    }
    /// Sum of red over all pixels.
    pub fn red(&self) -> u64 {
        self.rgba.chunks_exact(4).map(|p| u64::from(p[0])).sum()
    }
}

pub fn layer(id: u64, rect: Rect, items: impl IntoIterator<Item = Item>) -> Layer {
    Layer { id: LayerId(id), rect, items: items.into_iter().collect() }
}

/// A frame of one layer on white.
pub fn frame(rect: Rect, items: impl IntoIterator<Item = Item>) -> DisplayList {
    DisplayList { background: PAPER, layers: vec![layer(1, rect, items)] }
}

pub fn filled(rect: Rect, fill: Rgba) -> Item {
    Item::Quad(Quad { rect, fill, ..Quad::default() })
}
