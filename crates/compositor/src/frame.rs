//! One frame: layers that changed are drawn to their textures, then all are composed.

use crate::atlas::{Atlas, FallbackRaster};
use crate::gpu::Gpu;
use crate::paint::{Painted, Painter};
use crate::pictures::{PictureError, Pictures};
use crate::pipeline::{Batch, Instance, LAYER, Pass, Pipeline, target};
use scene::{DisplayList, ImageId, Item, Layer, LayerId, Rect, Rgba};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use text::TextEngine;

struct Kept {
    digest: u64,
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
    /// Digest of the frame on the screen; `None` when the screen must be drawn anew.
    shown: Option<u64>,
    /// Layers drawn in the last frame; the rest came from their textures.
    pub drawn: usize,
    /// Frames presented; asking for the same picture again adds none.
    pub presented: u64,
}

/// A layer on the screen: its place there, its digest, and the layer.
type Visible<'a> = ([u32; 4], u64, &'a Layer);

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
        let visible = self.visible(gpu, list, text.scale());
        let digest = frame_digest(&visible, list.background, gpu);
        if self.shown == Some(digest) {
            return true;
        }
        let texture = match gpu.surface.get_current_texture() {
            Current::Success(t) | Current::Suboptimal(t) => t,
            Current::Outdated | Current::Lost => {
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
        self.shown = Some(digest);
        self.presented += 1;
        true
    }

    fn visible<'a>(&self, gpu: &Gpu, list: &'a DisplayList, scale: f32) -> Vec<Visible<'a>> {
        let place = |layer: &'a Layer| {
            let rect = on_screen(&layer.rect, scale, gpu.size())?;
            let mut h = DefaultHasher::new();
            (layer.digest(), scale.to_bits()).hash(&mut h);
            if layer.items.iter().any(|i| matches!(i, Item::Image(_))) {
                self.pictures.revision().hash(&mut h);
            }
            Some((rect, h.finish(), layer))
        };
        list.layers.iter().filter_map(place).collect()
    }

    fn layers(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        visible: &[Visible<'_>],
        text: &mut TextEngine,
        raster: &mut dyn FallbackRaster,
    ) {
        for (rect, digest, layer) in visible {
            match self.layers.get_mut(&layer.id).filter(|k| k.digest == *digest && k.rect == *rect) {
                Some(k) => k.seen = self.frame,
                None => {
                    let mut painter = Painter {
                        gpu,
                        atlas: &mut self.atlas,
                        pictures: &self.pictures,
                        scale: text.scale(),
                        text: &mut *text,
                        raster: &mut *raster,
                    };
                    let painted = painter.layer(layer, *rect);
                    self.draw_layer(gpu, encoder, layer.id, *rect, *digest, &painted);
                    self.drawn += 1;
                }
            }
        }
    }

    fn draw_layer(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        id: LayerId,
        rect: [u32; 4],
        digest: u64,
        painted: &Painted,
    ) {
        let d = &gpu.device;
        let reusable = self.layers.remove(&id).filter(|k| k.rect[2..] == rect[2..]);
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
        let globals = self.pipeline.globals(gpu, rect, &self.atlas.views());
        let pass = Pass { view: &view, clear: Rgba::CLEAR, globals: &globals };
        self.pipeline.pass(gpu, encoder, &pass, &painted.instances, &batches);
        self.layers.insert(id, Kept { digest, rect, texture, bind, seen: self.frame });
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
        for ((rect, ..), kept) in visible.iter().filter_map(|v| Some((v, self.layers.get(&v.2.id)?))) {
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

/// A digest of all that decides the pixels of a frame, the surface's state included.
fn frame_digest(visible: &[Visible<'_>], background: Rgba, gpu: &Gpu) -> u64 {
    let mut h = DefaultHasher::new();
    (background, gpu.size(), gpu.configured).hash(&mut h);
    for (rect, digest, layer) in visible {
        (rect, digest, layer.id).hash(&mut h);
    }
    h.finish()
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
