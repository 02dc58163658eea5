//! A layer's items become instances, in list order, cut on the CPU to what can be seen.

use crate::atlas::{Atlas, FallbackRaster, Place};
use crate::gpu::Gpu;
use crate::pictures::Pictures;
use crate::pipeline::{COLOR, Instance, MASK, PICTURE, SHADOW};
use scene::{Image, ImageId, Item, Layer, Quad, Rect, Rgba, TextRun};
use std::ops::Range;
use text::TextEngine;

/// Instances of a layer, and which of them sample a picture.
#[derive(Default)]
pub(crate) struct Painted {
    pub(crate) instances: Vec<Instance>,
    pub(crate) batches: Vec<(Range<u32>, Option<ImageId>)>,
}

impl Painted {
    fn push(&mut self, instance: Instance, picture: Option<ImageId>) {
        let n = u32::try_from(self.instances.len()).unwrap_or(u32::MAX - 1);
        self.instances.push(instance);
        match self.batches.last_mut() {
            Some((r, p)) if *p == picture && picture.is_none() => r.end = n + 1,
            _ => self.batches.push((n..n + 1, picture)),
        }
    }
}

/// What painting needs at hand.
pub(crate) struct Painter<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) atlas: &'a mut Atlas,
    pub(crate) pictures: &'a Pictures,
    pub(crate) text: &'a mut TextEngine,
    pub(crate) raster: &'a mut dyn FallbackRaster,
    pub(crate) scale: f32,
}

/// Left, top, right, bottom in physical pixels.
type Clip = [f32; 4];

impl Painter<'_> {
    pub(crate) fn layer(&mut self, layer: &Layer, rect: [u32; 4]) -> Painted {
        let whole = rect.map(|v| v as f32);
        let mut clips: Vec<Clip> = vec![[whole[0], whole[1], whole[0] + whole[2], whole[1] + whole[3]]];
        let mut out = Painted::default();
        for item in &layer.items {
            let clip = clips.last().copied().unwrap_or_default();
            match item {
                Item::PushClip(r) => {
                    let [x, y, w, h] = px(r, self.scale);
                    clips.push([x.max(clip[0]), y.max(clip[1]), (x + w).min(clip[2]), (y + h).min(clip[3])]);
                }
                Item::PopClip => {
                    if clips.len() > 1 {
                        clips.pop();
                    }
                }
                Item::Quad(q) => quad(q, self.scale, clip, &mut out),
                Item::Text(t) => self.text(t, clip, &mut out),
                Item::Image(i) => self.image(i, clip, &mut out),
            }
        }
        out
    }

    fn image(&mut self, image: &Image, clip: Clip, out: &mut Painted) {
        let rect = px(&image.rect, self.scale);
        let Some((w, h)) = self.pictures.size(image.id).filter(|_| seen(rect, clip)) else { return };
        // Which of its smaller copies comes nearest to a pixel for a pixel.
        let level = (w as f32 / rect[2]).max(h as f32 / rect[3]).log2().max(0.0);
        let kind = [PICTURE, 0.0, level, 0.0];
        out.push(Instance { rect, clip, kind, ..Instance::default() }, Some(image.id));
    }

    fn text(&mut self, run: &TextRun, clip: Clip, out: &mut Painted) {
        let (s, dq) = (self.scale, (&self.gpu.device, &self.gpu.queue));
        let origin = ((run.origin.x * s).round(), (run.origin.y * s).round());
        let size = self.text.size(run.block);
        let rect = [origin.0, origin.1, size.w * s, size.h * s];
        // A line more on each side, for what hangs over its box.
        if !seen(grown(rect, MARGIN * s), clip) {
            return;
        }
        let (top, bottom) = (clip[1] - MARGIN * s, clip[3] + MARGIN * s);
        let mut glyphs = Vec::new();
        self.text.glyphs(run.block, origin, |g| {
            if (top..bottom).contains(&(g.y as f32)) {
                glyphs.push(g);
            }
        });
        for g in glyphs {
            if let Some(p) = self.atlas.glyph(dq, self.text.fonts(), g.key) {
                bitmap(p, (g.x, g.y), g.color.unwrap_or(run.color), clip, out);
            }
        }
        for c in self.text.cells(run.block) {
            let y = origin.1 + c.baseline * s;
            if !(top..bottom).contains(&y) {
                continue;
            }
            if let Some(p) = self.atlas.cell(dq, self.raster, &c.text, c.size * s, c.bold) {
                #[allow(clippy::cast_possible_truncation)]
                let pen = ((origin.0 + c.rect.x * s).round() as i32, y.round() as i32);
                bitmap(p, pen, c.color.unwrap_or(run.color), clip, out);
            }
        }
    }
}

/// How far a glyph may hang over its line, in logical pixels.
const MARGIN: f32 = 64.0;

fn bitmap(p: Place, (x, y): (i32, i32), color: Rgba, clip: Clip, out: &mut Painted) {
    let rect = [(x + p.bearing.0) as f32, (y - p.bearing.1) as f32, p.size.0 as f32, p.size.1 as f32];
    if !seen(rect, clip) {
        return;
    }
    let extra = [p.at.0 as f32, p.at.1 as f32, 0.0, 0.0];
    let kind = [if p.colored { COLOR } else { MASK }, p.page as f32, 0.0, 0.0];
    out.push(Instance { rect, clip, extra, fill: color.to_f32(), kind, ..Instance::default() }, None);
}

fn quad(q: &Quad, s: f32, clip: Clip, out: &mut Painted) {
    let rect = px(&q.rect, s);
    let radii = q.radii.0.map(|r| r * s);
    if let Some(sh) = &q.shadow {
        let under = [rect[0] + sh.offset.x * s, rect[1] + sh.offset.y * s, rect[2], rect[3]];
        let blur = (sh.blur * s).max(1.0);
        if seen(grown(under, blur * 1.5), clip) {
            let kind = [SHADOW, 0.0, blur, 0.0];
            let fill = sh.color.to_f32();
            out.push(Instance { rect: under, clip, extra: radii, fill, kind, ..Instance::default() }, None);
        }
    }
    let bordered = q.border.width > 0.0 && q.border.color.a > 0;
    if (q.fill.a > 0 || bordered) && seen(rect, clip) {
        let width = if bordered { (q.border.width * s).round().max(1.0) } else { 0.0 };
        let (fill, border) = (q.fill.to_f32(), q.border.color.to_f32());
        out.push(Instance { rect, clip, extra: radii, fill, border, kind: [0.0, width, 0.0, 0.0] }, None);
    }
}

/// Edges go to whole pixels, so that rules and boxes are sharp at every scale.
fn px(r: &Rect, s: f32) -> [f32; 4] {
    let (x, y) = ((r.x * s).round(), (r.y * s).round());
    [x, y, (r.right() * s).round() - x, (r.bottom() * s).round() - y]
}

fn grown([x, y, w, h]: [f32; 4], by: f32) -> [f32; 4] {
    [x - by, y - by, w + 2.0 * by, h + 2.0 * by]
}

/// True when a rectangle (x, y, w, h) shows at least in part; false for what is not a number.
fn seen([x, y, w, h]: [f32; 4], clip: Clip) -> bool {
    w > 0.0 && h > 0.0 && x.max(clip[0]) < (x + w).min(clip[2]) && y.max(clip[1]) < (y + h).min(clip[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use scene::{Border, Point, Radii, Shadow};
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    const SCREEN: Clip = [0.0, 0.0, 100.0, 100.0];

    fn painted(q: &Quad, s: f32, clip: Clip) -> Vec<Instance> {
        let mut out = Painted::default();
        quad(q, s, clip, &mut out);
        assert_eq!(out.batches.len(), usize::from(!out.instances.is_empty()), "quads share a batch");
        out.instances
    }

    #[test]
    fn boxes_and_rules_land_on_whole_pixels_at_every_scale() {
        for s in [1.0, 1.25, 1.5, 2.0, 3.0] {
            let border = Border { width: 1.0, color: Rgba::hex(0) };
            let q = Quad { rect: Rect::new(3.3, 3.3, 10.1, 0.4), border, fill: Rgba::hex(0), ..Quad::default() };
            for i in painted(&Quad { rect: Rect::new(3.3, 3.3, 10.1, 10.1), ..q }, s, SCREEN) {
                assert!(i.rect.iter().all(|v| v.fract() == 0.0), "{i:?}");
                assert!(i.kind[1] >= 1.0 && i.kind[1].fract() == 0.0, "{i:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_seen_makes_no_instance() {
        let q = Quad { rect: Rect::new(10.0, 10.0, 10.0, 10.0), fill: Rgba::hex(1), ..Quad::default() };
        assert_eq!(painted(&q, 1.0, SCREEN).len(), 1);
        assert_eq!(painted(&q, 1.0, [50.0, 0.0, 100.0, 100.0]).len(), 0, "outside the clip");
        assert_eq!(painted(&q, 1.0, [15.0, 15.0, 15.0, 100.0]).len(), 0, "an empty clip");
        assert_eq!(painted(&Quad { fill: Rgba::CLEAR, ..q }, 1.0, SCREEN).len(), 0, "no colour");
        assert_eq!(painted(&Quad { rect: Rect::new(f32::NAN, 0.0, 5.0, 5.0), ..q }, 1.0, SCREEN).len(), 0);
    }

    #[test]
    fn a_shadow_comes_first_and_reaches_past_a_clip_that_hides_its_quad() {
        let shadow = Some(Shadow { offset: Point::new(0.0, 4.0), blur: 20.0, color: Rgba::hex(0) });
        let rect = Rect::new(10.0, 10.0, 20.0, 20.0);
        let q = Quad { rect, shadow, fill: Rgba::hex(1), radii: Radii::from(3.0), ..Quad::default() };
        let both = painted(&q, 2.0, SCREEN);
        assert_eq!((both[0].kind, both[0].rect), ([SHADOW, 0.0, 40.0, 0.0], [20.0, 28.0, 40.0, 40.0]));
        assert_eq!(both[1].extra, [6.0; 4]);
        assert_eq!(painted(&q, 1.0, [35.0, 0.0, 100.0, 100.0]).len(), 1, "only the shadow");
    }

    #[test]
    fn a_picture_breaks_the_batch_and_order_is_kept() {
        let mut out = Painted::default();
        for p in [None, None, Some(ImageId(1)), Some(ImageId(1)), None] {
            out.push(Instance::default(), p);
        }
        let expected = [(0..2, None), (2..3, Some(ImageId(1))), (3..4, Some(ImageId(1))), (4..5, None)];
        assert_eq!(out.batches, expected);
    }
}
