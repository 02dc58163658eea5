//! One frame: layers that changed are drawn to their textures, then all are composed.

use crate::atlas::{Atlas, FallbackRaster};
use crate::gpu::Gpu;
use crate::paint::{Painted, Painter};
use crate::pictures::{PictureError, Pictures};
use crate::pipeline::{Batch, Instance, LAYER, Pass, Pipeline, target};
use scene::{DisplayList, ImageId, Item, Layer, LayerId, Rect, Rgba};
use std::collections::HashMap;
use text::TextEngine;

struct Kept {
    /// What it shows. Compared whole, not by a hash: what is on a review card must be what the
    /// list says.
    layer: Layer,
    scale: f32,
    /// Revision of the pictures in it.
    pictures: u64,
    /// Physical rectangle.
    rect: [u32; 4],
    texture: wgpu::Texture,
    bind: wgpu::BindGroup,
    seen: u64,
}

/// Draws display lists. Owns everything on the GPU but the device.
pub struct Compositor {
    pipeline: Pipeline,
    atlas: Atlas,
    pictures: Pictures,
    layers: HashMap<LayerId, Kept>,
    frame: u64,
    /// The frame on the screen; `None` when the screen must be drawn anew.
    shown: Option<Shown>,
    /// Layers drawn in the last frame; the rest came from their textures.
    pub drawn: usize,
    /// Frames presented; asking for the same picture again adds none.
    pub presented: u64,
}

/// A layer on the screen, and its place there.
type Visible<'a> = ([u32; 4], &'a Layer);

/// What was composed, and onto which state of the surface.
#[derive(PartialEq)]
struct Shown {
    background: Rgba,
    configured: u64,
    layers: Vec<(LayerId, [u32; 4])>,
}

impl Compositor {
    /// Pipelines and an empty atlas for a device.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            pipeline: Pipeline::new(gpu),
            atlas: Atlas::new(&gpu.device),
            pictures: Pictures::default(),
            layers: HashMap::new(),
            frame: 0,
            shown: None,
            drawn: 0,
            presented: 0,
        }
    }

    /// Everything anew on the device that took a lost one's place; pictures stay.
    pub fn rebuild(&mut self, gpu: &Gpu) {
        let mut pictures = std::mem::take(&mut self.pictures);
        pictures.device_gone();
        *self = Self { pictures, presented: self.presented, ..Self::new(gpu) };
    }

    /// Takes or replaces a picture: premultiplied RGBA, row by row.
    ///
    /// # Errors
    /// [`PictureError`] when it is malformed or too much.
    pub fn put_picture(&mut self, id: ImageId, width: u32, height: u32, rgba: Vec<u8>) -> Result<(), PictureError> {
        self.pictures.put(id, width, height, rgba)
    }

    /// Forgets a picture; where it is still named nothing is drawn.
    pub fn remove_picture(&mut self, id: ImageId) {
        self.pictures.remove(id);
    }

    /// Draws a frame and presents it, unless the same picture is on the screen already. False:
    /// the surface gave no texture this time (occluded, being resized, device lost); ask again
    /// later.
    pub fn render(
        &mut self,
        gpu: &mut Gpu,
        list: &DisplayList,
        text: &mut TextEngine,
        raster: &mut dyn FallbackRaster,
    ) -> bool {
        use wgpu::CurrentSurfaceTexture as Current;
        if gpu.is_lost() {
            return false;
        }
        self.drawn = 0;
        let scale = text.scale();
        let visible: Vec<Visible<'_>> =
            list.layers.iter().filter_map(|l| Some((on_screen(&l.rect, scale, gpu.size())?, l))).collect();
        let shown = Shown {
            background: list.background,
            configured: gpu.configured,
            layers: visible.iter().map(|(rect, l)| (l.id, *rect)).collect(),
        };
        if self.shown.as_ref() == Some(&shown) && visible.iter().all(|v| self.is_kept(v, scale)) {
            return true;
        }
        let texture = match gpu.surface.get_current_texture() {
            Current::Success(t) | Current::Suboptimal(t) => t,
            Current::Outdated | Current::Lost => {
                // Blank from here on; if no texture comes, the next frame is drawn again.
                gpu.configure();
                match gpu.surface.get_current_texture() {
                    Current::Success(t) | Current::Suboptimal(t) => t,
                    _ => return false,
                }
            }
            _ => return false,
        };
        self.frame += 1;
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.layers(gpu, &mut encoder, &visible, text, raster);
        if self.atlas.overflowed() {
            // Once: a screen needs far fewer glyphs than all pages hold.
            self.atlas = Atlas::new(&gpu.device);
            self.layers.clear();
            self.drawn = 0;
            encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            self.layers(gpu, &mut encoder, &visible, text, raster);
        }
        let frame = self.frame;
        self.layers.retain(|_, k| k.seen == frame);
        let view = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
        self.compose(gpu, &mut encoder, &view, list.background, &visible);
        gpu.queue.submit([encoder.finish()]);
        gpu.queue.present(texture);
        self.shown = Some(Shown { configured: gpu.configured, ..shown });
        self.presented += 1;
        true
    }

    /// True when the texture of a layer shows it as it is now.
    fn is_kept(&self, (rect, layer): &Visible<'_>, scale: f32) -> bool {
        self.layers.get(&layer.id).is_some_and(|k| {
            let same = k.rect == *rect && k.scale.to_bits() == scale.to_bits() && k.layer == **layer;
            same && (k.pictures == self.pictures.revision() || !has_picture(layer))
        })
    }

    fn layers(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        visible: &[Visible<'_>],
        text: &mut TextEngine,
        raster: &mut dyn FallbackRaster,
    ) {
        let scale = text.scale();
        for v @ (rect, layer) in visible {
            if !self.is_kept(v, scale) {
                let mut painter = Painter {
                    gpu,
                    atlas: &mut self.atlas,
                    pictures: &self.pictures,
                    scale,
                    text: &mut *text,
                    raster: &mut *raster,
                };
                let painted = painter.layer(layer, *rect);
                self.draw_layer(gpu, encoder, v, scale, &painted);
                self.drawn += 1;
            }
            if let Some(k) = self.layers.get_mut(&layer.id) {
                k.seen = self.frame;
            }
        }
    }

    fn draw_layer(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        (rect, layer): &Visible<'_>,
        scale: f32,
        painted: &Painted,
    ) {
        let d = &gpu.device;
        let reusable = self.layers.remove(&layer.id).filter(|k| k.rect[2..] == rect[2..]);
        let (texture, bind) = reusable.map_or_else(
            || {
                let t = target(d, gpu.config.format, rect[2], rect[3]);
                let b = self.pipeline.bind(d, &t);
                (t, b)
            },
            |k| (k.texture, k.bind),
        );
        for (_, picture) in &painted.batches {
            if let Some(id) = picture {
                self.pictures.upload(gpu, &self.pipeline, *id);
            }
        }
        let batches: Vec<Batch<'_>> = painted
            .batches
            .iter()
            .map(|(r, picture)| Batch { instances: r.clone(), texture: picture.and_then(|id| self.pictures.bind(id)) })
            .collect();
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let globals = self.pipeline.globals(gpu, *rect, &self.atlas.views());
        let pass = Pass { view: &view, clear: Rgba::CLEAR, globals: &globals };
        self.pipeline.pass(gpu, encoder, &pass, &painted.instances, &batches);
        let (layer, rect, pictures) = ((*layer).clone(), *rect, self.pictures.revision());
        self.layers.insert(layer.id, Kept { layer, scale, pictures, rect, texture, bind, seen: self.frame });
    }

    fn compose(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::TextureView,
        clear: Rgba,
        visible: &[Visible<'_>],
    ) {
        let (mut instances, mut batches) = (Vec::new(), Vec::new());
        for (rect, kept) in visible.iter().filter_map(|(rect, l)| Some((rect, self.layers.get(&l.id)?))) {
            let n = u32::try_from(instances.len()).unwrap_or(u32::MAX - 1);
            batches.push(Batch { instances: n..n + 1, texture: Some(&kept.bind) });
            let rect = rect.map(|v| v as f32);
            instances.push(Instance { rect, kind: [LAYER, 0.0, 0.0, 0.0], ..Instance::default() });
        }
        let (w, h) = gpu.size();
        let globals = self.pipeline.globals(gpu, [0, 0, w, h], &self.atlas.views());
        self.pipeline.pass(gpu, encoder, &Pass { view, clear, globals: &globals }, &instances, &batches);
    }
}

fn has_picture(layer: &Layer) -> bool {
    layer.items.iter().any(|i| matches!(i, Item::Image(_)))
}

/// The part of a layer's rectangle on the screen, in whole physical pixels.
fn on_screen(r: &Rect, s: f32, (w, h): (u32, u32)) -> Option<[u32; 4]> {
    let x = (r.x * s).floor().clamp(0.0, w as f32);
    let y = (r.y * s).floor().clamp(0.0, h as f32);
    let right = (r.right() * s).ceil().clamp(0.0, w as f32);
    let bottom = (r.bottom() * s).ceil().clamp(0.0, h as f32);
    // A size that is not a number casts to zero and draws nothing.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let out = [x, y, right - x, bottom - y].map(|v| v as u32);
    (out[2] > 0 && out[3] > 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn a_layer_is_cut_to_the_screen_and_rounded_outwards() {
        let at = |x, y, w, h, s| on_screen(&Rect::new(x, y, w, h), s, (100, 80));
        assert_eq!(at(1.2, 1.2, 10.0, 10.0, 1.5), Some([1, 1, 16, 16]));
        assert_eq!(at(-20.0, -20.0, 400.0, 400.0, 1.0), Some([0, 0, 100, 80]));
        assert_eq!(at(100.0, 0.0, 10.0, 10.0, 1.0), None);
        assert_eq!(at(f32::NAN, 0.0, 10.0, 10.0, 1.0), None);
        assert_eq!(at(0.0, 0.0, f32::INFINITY, 10.0, 1.0), Some([0, 0, 100, 10]));
    }
}
