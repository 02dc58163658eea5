//! One frame: layers that changed are drawn to their textures, then all are composed.

use crate::atlas::{Atlas, FallbackRaster};
use crate::gpu::Gpu;
use bytemuck::{Pod, Zeroable};
use scene::{DisplayList, Item, Layer, LayerId, Quad, Rect, Rgba, TextRun};
use std::collections::HashMap;
use text::TextEngine;

/// One thing to draw; the layout is `Instance` of `shaders/ui/shell.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
struct Instance {
    rect: [f32; 4],
    clip: [f32; 4],
    extra: [f32; 4],
    fill: [f32; 4],
    border: [f32; 4],
    kind: [f32; 4],
}

const SHADOW: f32 = 1.0;
const MASK: f32 = 2.0;
const COLOR: f32 = 3.0;
const LAYER: f32 = 4.0;

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
    pipeline: wgpu::RenderPipeline,
    globals_layout: wgpu::BindGroupLayout,
    layer_layout: wgpu::BindGroupLayout,
    no_layer: wgpu::BindGroup,
    atlas: Atlas,
    layers: HashMap<LayerId, Kept>,
    frame: u64,
    /// Layers drawn in the last frame; the rest came from their textures.
    pub drawn: usize,
}

fn px(r: &Rect, s: f32) -> [f32; 4] {
    // Edges go to whole pixels, so that rules and boxes are sharp at every scale.
    let (x, y) = ((r.x * s).round(), (r.y * s).round());
    [x, y, (r.right() * s).round() - x, (r.bottom() * s).round() - y]
}

impl Compositor {
    /// Pipelines and an empty atlas for a device.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let d = &gpu.device;
        let array = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: false },
                view_dimension: wgpu::TextureViewDimension::D2Array,
                multisampled: false,
            },
            count: None,
        };
        let globals_layout = d.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("globals"),
            entries: &[
                wgpu::BindGroupLayoutEntry {
                    binding: 0,
                    visibility: wgpu::ShaderStages::VERTEX,
                    ty: wgpu::BindingType::Buffer {
                        ty: wgpu::BufferBindingType::Uniform,
                        has_dynamic_offset: false,
                        min_binding_size: None,
                    },
                    count: None,
                },
                array(1),
                array(2),
            ],
        });
        let layer_layout = d.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("layer"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::FRAGMENT,
                ty: wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Float { filterable: false },
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
                count: None,
            }],
        });
        let layout = d.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("shell"),
            bind_group_layouts: &[Some(&globals_layout), Some(&layer_layout)],
            ..wgpu::PipelineLayoutDescriptor::default()
        });
        let module = d.create_shader_module(wgpu::include_wgsl!("../../../shaders/ui/shell.wgsl"));
        let attributes = wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4, 2 => Float32x4, 3 => Float32x4, 4 => Float32x4, 5 => Float32x4];
        let pipeline = d.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("shell"),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[Some(wgpu::VertexBufferLayout {
                    array_stride: size_of::<Instance>() as u64,
                    step_mode: wgpu::VertexStepMode::Instance,
                    attributes: &attributes,
                })],
            },
            primitive: wgpu::PrimitiveState {
                topology: wgpu::PrimitiveTopology::TriangleStrip,
                ..wgpu::PrimitiveState::default()
            },
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(wgpu::ColorTargetState {
                    format: gpu.config.format,
                    blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                    write_mask: wgpu::ColorWrites::ALL,
                })],
            }),
            multiview_mask: None,
            cache: None,
        });
        let blank = target(d, gpu.config.format, 1, 1);
        let no_layer = bind_layer(d, &layer_layout, &blank);
        Self {
            pipeline,
            globals_layout,
            layer_layout,
            no_layer,
            atlas: Atlas::new(d),
            layers: HashMap::new(),
            frame: 0,
            drawn: 0,
        }
    }

    /// Draws a frame and presents it. `Ok(false)`: the surface gave no texture this time
    /// (occluded, being resized); ask again later.
    pub fn render(
        &mut self,
        gpu: &mut Gpu,
        list: &DisplayList,
        text: &mut TextEngine,
        raster: &mut dyn FallbackRaster,
    ) -> bool {
        use wgpu::CurrentSurfaceTexture as Current;
        let texture = match gpu.surface.get_current_texture() {
            Current::Success(t) | Current::Suboptimal(t) => t,
            Current::Outdated | Current::Lost => {
                gpu.surface.configure(&gpu.device, &gpu.config);
                match gpu.surface.get_current_texture() {
                    Current::Success(t) | Current::Suboptimal(t) => t,
                    _ => return false,
                }
            }
            _ => return false,
        };
        self.frame += 1;
        if self.atlas.is_full() {
            self.atlas = Atlas::new(&gpu.device);
            self.layers.clear();
        }
        let scale = text.scale();
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.drawn = 0;
        let mut composed = Vec::new();
        for layer in &list.layers {
            let Some(rect) = visible(&layer.rect, scale, gpu.size()) else { continue };
            let digest = layer.digest() ^ u64::from(scale.to_bits());
            let fresh = self.layers.get(&layer.id).is_some_and(|k| k.digest == digest && k.rect == rect);
            if !fresh {
                self.draw_layer(gpu, &mut encoder, layer, rect, digest, text, raster);
                self.drawn += 1;
            }
            if let Some(k) = self.layers.get_mut(&layer.id) {
                k.seen = self.frame;
                composed.push((layer.id, rect));
            }
        }
        let frame = self.frame;
        self.layers.retain(|_, k| k.seen == frame);
        let instances: Vec<Instance> = composed
            .iter()
            .map(|(_, r)| {
                let rect = r.map(|v| v as f32);
                Instance { rect, kind: [LAYER, 0.0, 0.0, 0.0], ..Instance::default() }
            })
            .collect();
        let (w, h) = gpu.size();
        let view = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let binds: Vec<&wgpu::BindGroup> = composed.iter().map(|(id, _)| &self.layers[id].bind).collect();
        let globals = self.globals(gpu, [0, 0, w, h]);
        let pass = Pass { view: &view, clear: list.background, globals: &globals };
        self.pass(gpu, &mut encoder, &pass, &instances, &binds);
        gpu.queue.submit([encoder.finish()]);
        gpu.queue.present(texture);
        true
    }

    #[allow(clippy::too_many_arguments)]
    fn draw_layer(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        layer: &Layer,
        rect: [u32; 4],
        digest: u64,
        text: &mut TextEngine,
        raster: &mut dyn FallbackRaster,
    ) {
        let d = &gpu.device;
        let instances = self.instances(gpu, layer, rect, text, raster);
        let reusable = self.layers.remove(&layer.id).filter(|k| k.rect[2..] == rect[2..]);
        let (texture, bind) = reusable.map_or_else(
            || {
                let t = target(d, gpu.config.format, rect[2], rect[3]);
                let b = bind_layer(d, &self.layer_layout, &t);
                (t, b)
            },
            |k| (k.texture, k.bind),
        );
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let globals = self.globals(gpu, rect);
        self.pass(gpu, encoder, &Pass { view: &view, clear: Rgba::CLEAR, globals: &globals }, &instances, &[]);
        self.layers.insert(layer.id, Kept { digest, rect, texture, bind, seen: self.frame });
    }

    fn instances(
        &mut self,
        gpu: &Gpu,
        layer: &Layer,
        rect: [u32; 4],
        text: &mut TextEngine,
        raster: &mut dyn FallbackRaster,
    ) -> Vec<Instance> {
        let s = text.scale();
        let whole = rect.map(|v| v as f32);
        let mut clips = vec![[whole[0], whole[1], whole[0] + whole[2], whole[1] + whole[3]]];
        let mut out = Vec::with_capacity(layer.items.len() * 2);
        for item in &layer.items {
            let clip = clips.last().copied().unwrap_or_default();
            match item {
                Item::PushClip(r) => {
                    let [x, y, w, h] = px(r, s);
                    clips.push([x.max(clip[0]), y.max(clip[1]), (x + w).min(clip[2]), (y + h).min(clip[3])]);
                }
                Item::PopClip => {
                    if clips.len() > 1 {
                        clips.pop();
                    }
                }
                Item::Quad(q) => quad(q, s, clip, &mut out),
                Item::Text(t) => self.text(gpu, t, s, clip, text, raster, &mut out),
                // Pictures come with the first app that shows one.
                Item::Image(_) => {}
            }
        }
        out
    }

    #[allow(clippy::too_many_arguments)]
    fn text(
        &mut self,
        gpu: &Gpu,
        run: &TextRun,
        s: f32,
        clip: [f32; 4],
        text: &mut TextEngine,
        raster: &mut dyn FallbackRaster,
        out: &mut Vec<Instance>,
    ) {
        let dq = (&gpu.device, &gpu.queue);
        let origin = ((run.origin.x * s).round(), (run.origin.y * s).round());
        let size = text.size(run.block);
        if origin.1 > clip[3] || origin.1 + size.h * s < clip[1] {
            return;
        }
        let mut glyphs = Vec::new();
        text.glyphs(run.block, origin, |g| {
            // A line above or below the clip is not rasterised.
            if (g.y as f32) > clip[1] - 64.0 * s && (g.y as f32) < clip[3] + 64.0 * s {
                glyphs.push(g);
            }
        });
        let mut push = |p: crate::atlas::Place, x: i32, y: i32, color: Rgba| {
            let rect = [x + p.bearing.0, y - p.bearing.1].map(|v| v as f32);
            out.push(Instance {
                rect: [rect[0], rect[1], p.size.0 as f32, p.size.1 as f32],
                clip,
                extra: [p.at.0 as f32, p.at.1 as f32, 0.0, 0.0],
                fill: color.to_f32(),
                kind: [if p.colored { COLOR } else { MASK }, p.page as f32, 0.0, 0.0],
                ..Instance::default()
            });
        };
        for g in glyphs {
            if let Some(p) = self.atlas.glyph(dq, text.fonts(), g.key) {
                push(p, g.x, g.y, g.color.unwrap_or(run.color));
            }
        }
        for c in text.cells(run.block) {
            if let Some(p) = self.atlas.cell(dq, raster, &c.text, c.size * s, c.bold) {
                #[allow(clippy::cast_possible_truncation)]
                let at = ((origin.0 + c.rect.x * s).round() as i32, (origin.1 + c.baseline * s).round() as i32);
                push(p, at.0, at.1, c.color.unwrap_or(run.color));
            }
        }
    }

    fn globals(&self, gpu: &Gpu, rect: [u32; 4]) -> wgpu::BindGroup {
        let [x, y, w, h] = rect.map(|v| v as f32);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("globals"),
            size: 16,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&[w, h, x, y]));
        let (masks, colors) = self.atlas.views();
        gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("globals"),
            layout: &self.globals_layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(&masks) },
                wgpu::BindGroupEntry { binding: 2, resource: wgpu::BindingResource::TextureView(&colors) },
            ],
        })
    }

    /// One pass over instances; with `binds`, instance `i` samples layer `i`.
    fn pass(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        pass: &Pass<'_>,
        instances: &[Instance],
        binds: &[&wgpu::BindGroup],
    ) {
        let vertices = (!instances.is_empty()).then(|| {
            let bytes: &[u8] = bytemuck::cast_slice(instances);
            let b = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("instances"),
                size: bytes.len() as u64,
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            gpu.queue.write_buffer(&b, 0, bytes);
            b
        });
        let [r, g, b, a] = pass.clear.to_f32().map(f64::from);
        let mut p = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("layer"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: pass.view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color { r: r * a, g: g * a, b: b * a, a }),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        let Some(vertices) = vertices else { return };
        p.set_pipeline(&self.pipeline);
        p.set_bind_group(0, pass.globals, &[]);
        p.set_vertex_buffer(0, vertices.slice(..));
        let n = u32::try_from(instances.len()).unwrap_or(u32::MAX);
        if binds.is_empty() {
            p.set_bind_group(1, &self.no_layer, &[]);
            p.draw(0..4, 0..n);
        }
        for (i, bind) in (0..n).zip(binds) {
            p.set_bind_group(1, *bind, &[]);
            p.draw(0..4, i..i + 1);
        }
    }
}

struct Pass<'a> {
    view: &'a wgpu::TextureView,
    clear: Rgba,
    globals: &'a wgpu::BindGroup,
}

/// The part of a layer's rectangle on the screen, in whole physical pixels.
fn visible(r: &Rect, s: f32, (w, h): (u32, u32)) -> Option<[u32; 4]> {
    let x = (r.x * s).floor().clamp(0.0, w as f32);
    let y = (r.y * s).floor().clamp(0.0, h as f32);
    let right = (r.right() * s).ceil().clamp(0.0, w as f32);
    let bottom = (r.bottom() * s).ceil().clamp(0.0, h as f32);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let out = [x, y, right - x, bottom - y].map(|v| v as u32);
    (out[2] > 0 && out[3] > 0).then_some(out)
}

fn quad(q: &Quad, s: f32, clip: [f32; 4], out: &mut Vec<Instance>) {
    let rect = px(&q.rect, s);
    let radii = q.radii.0.map(|r| r * s);
    if let Some(sh) = &q.shadow {
        out.push(Instance {
            rect: [rect[0] + sh.offset.x * s, rect[1] + sh.offset.y * s, rect[2], rect[3]],
            clip,
            extra: radii,
            fill: sh.color.to_f32(),
            kind: [SHADOW, 0.0, (sh.blur * s).max(1.0), 0.0],
            ..Instance::default()
        });
    }
    if q.fill.a > 0 || (q.border.width > 0.0 && q.border.color.a > 0) {
        let width = if q.border.width > 0.0 { (q.border.width * s).round().max(1.0) } else { 0.0 };
        let (fill, border) = (q.fill.to_f32(), q.border.color.to_f32());
        out.push(Instance { rect, clip, extra: radii, fill, border, kind: [0.0, width, 0.0, 0.0] });
    }
}

fn target(d: &wgpu::Device, format: wgpu::TextureFormat, w: u32, h: u32) -> wgpu::Texture {
    d.create_texture(&wgpu::TextureDescriptor {
        label: Some("layer"),
        size: wgpu::Extent3d { width: w, height: h, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    })
}

fn bind_layer(d: &wgpu::Device, layout: &wgpu::BindGroupLayout, t: &wgpu::Texture) -> wgpu::BindGroup {
    let view = t.create_view(&wgpu::TextureViewDescriptor::default());
    d.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("layer"),
        layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&view) }],
    })
}
