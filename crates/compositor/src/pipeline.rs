//! The one pipeline: its instances, its bind groups, and a pass over them.

use crate::gpu::Gpu;
use bytemuck::{Pod, Zeroable};
use scene::Rgba;
use std::ops::Range;

/// One thing to draw; the layout is `Instance` of `shaders/ui/shell.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct Instance {
    pub(crate) rect: [f32; 4],
    pub(crate) clip: [f32; 4],
    pub(crate) extra: [f32; 4],
    pub(crate) fill: [f32; 4],
    pub(crate) border: [f32; 4],
    pub(crate) kind: [f32; 4],
}

pub(crate) const SHADOW: f32 = 1.0;
pub(crate) const MASK: f32 = 2.0;
pub(crate) const COLOR: f32 = 3.0;
pub(crate) const LAYER: f32 = 4.0;
pub(crate) const PICTURE: f32 = 5.0;

/// A run of instances that sample one texture; `None` samples none.
pub(crate) struct Batch<'a> {
    pub(crate) instances: Range<u32>,
    pub(crate) texture: Option<&'a wgpu::BindGroup>,
}

/// Where a pass draws.
pub(crate) struct Pass<'a> {
    pub(crate) view: &'a wgpu::TextureView,
    pub(crate) clear: Rgba,
    pub(crate) globals: &'a wgpu::BindGroup,
}

/// Everything that is made once for a device.
pub(crate) struct Pipeline {
    pipeline: wgpu::RenderPipeline,
    globals_layout: wgpu::BindGroupLayout,
    texture_layout: wgpu::BindGroupLayout,
    sampler: wgpu::Sampler,
    none: wgpu::BindGroup,
}

impl Pipeline {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let d = &gpu.device;
        let texture = |binding, view_dimension| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: true },
                view_dimension,
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
                texture(1, wgpu::TextureViewDimension::D2Array),
                texture(2, wgpu::TextureViewDimension::D2Array),
            ],
        });
        let texture_layout = d.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("texture"),
            entries: &[
                texture(0, wgpu::TextureViewDimension::D2),
                wgpu::BindGroupLayoutEntry {
                    binding: 1,
                    visibility: wgpu::ShaderStages::FRAGMENT,
                    ty: wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
                    count: None,
                },
            ],
        });
        let sampler = d.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("pictures"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..wgpu::SamplerDescriptor::default()
        });
        let pipeline = shell_pipeline(d, gpu.config.format, &[Some(&globals_layout), Some(&texture_layout)]);
        let blank = target(d, gpu.config.format, 1, 1);
        let none = bind_texture(d, &texture_layout, &sampler, &blank);
        Self { pipeline, globals_layout, texture_layout, sampler, none }
    }

    /// A bind group through which a batch samples `t`.
    pub(crate) fn bind(&self, d: &wgpu::Device, t: &wgpu::Texture) -> wgpu::BindGroup {
        bind_texture(d, &self.texture_layout, &self.sampler, t)
    }

    /// What every instance of a pass sees: its target's place and the atlas.
    pub(crate) fn globals(
        &self,
        gpu: &Gpu,
        rect: [u32; 4],
        (masks, colors): &(wgpu::TextureView, wgpu::TextureView),
    ) -> wgpu::BindGroup {
        let [x, y, w, h] = rect.map(|v| v as f32);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("globals"),
            size: 16,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&[w, h, x, y]));
        gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("globals"),
            layout: &self.globals_layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(masks) },
                wgpu::BindGroupEntry { binding: 2, resource: wgpu::BindingResource::TextureView(colors) },
            ],
        })
    }

    /// Clears the target and draws the batches in order.
    pub(crate) fn pass(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        pass: &Pass<'_>,
        instances: &[Instance],
        batches: &[Batch<'_>],
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
        for b in batches {
            p.set_bind_group(1, b.texture.unwrap_or(&self.none), &[]);
            p.draw(0..4, b.instances.clone());
        }
    }
}

fn shell_pipeline(
    d: &wgpu::Device,
    format: wgpu::TextureFormat,
    groups: &[Option<&wgpu::BindGroupLayout>],
) -> wgpu::RenderPipeline {
    let layout = d.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("shell"),
        bind_group_layouts: groups,
        ..wgpu::PipelineLayoutDescriptor::default()
    });
    let module = d.create_shader_module(wgpu::include_wgsl!("../../../shaders/ui/shell.wgsl"));
    let attributes = wgpu::vertex_attr_array![
        0 => Float32x4, 1 => Float32x4, 2 => Float32x4, 3 => Float32x4, 4 => Float32x4, 5 => Float32x4];
    d.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
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
                format,
                blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// A texture that a layer is drawn to and composed from.
pub(crate) fn target(d: &wgpu::Device, format: wgpu::TextureFormat, w: u32, h: u32) -> wgpu::Texture {
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

fn bind_texture(
    d: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    sampler: &wgpu::Sampler,
    t: &wgpu::Texture,
) -> wgpu::BindGroup {
    let view = t.create_view(&wgpu::TextureViewDescriptor::default());
    d.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("texture"),
        layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&view) },
            wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Sampler(sampler) },
        ],
    })
}
