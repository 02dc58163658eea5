//! The glyph atlas: pages of coverage masks and pages of colour pictures.
//!
//! Pages are layers of a texture array. When one is full the array gets another by a copy on
//! the GPU, so nothing is rasterised twice; when the last is full everything starts anew.

use cosmic_text::{CacheKey, FontSystem, SwashCache, SwashContent};
use etagere::{AtlasAllocator, size2};
use std::collections::HashMap;

/// Side of a page, in physical pixels.
pub const PAGE: u32 = 1024;
/// Most pages of each kind.
pub const PAGES_MAX: u32 = 8;
/// Largest side of one bitmap; larger ones are not drawn.
pub const BITMAP_MAX: u32 = 512;

/// A rasterised cell or picture.
#[derive(Clone, Debug, Default)]
pub struct Bitmap {
    /// Width in physical pixels.
    pub width: u32,
    /// Height in physical pixels.
    pub height: u32,
    /// Left edge relative to the pen.
    pub left: i32,
    /// Top edge above the baseline.
    pub top: i32,
    /// Premultiplied RGBA; for a mask only the alpha counts.
    pub rgba: Vec<u8>,
    /// It has colours of its own (emoji); otherwise it takes the text's colour.
    pub colored: bool,
}

/// Draws what the bundled fonts lack, with the person's own fonts.
pub trait FallbackRaster {
    /// `cluster` at a font size of `size` physical pixels; `None` when it cannot.
    fn raster(&mut self, cluster: &str, size: f32, bold: bool) -> Option<Bitmap>;
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Glyph(CacheKey),
    Cell { text: String, size: u32, bold: bool },
}

/// Where a bitmap lies.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// In the colour pages, not the mask pages.
    pub colored: bool,
    /// Page.
    pub page: u32,
    /// Position in the page.
    pub at: (u32, u32),
    /// Size.
    pub size: (u32, u32),
    /// Left edge relative to the pen, top edge above the baseline.
    pub bearing: (i32, i32),
}

struct Pages {
    format: wgpu::TextureFormat,
    texture: wgpu::Texture,
    packers: Vec<AtlasAllocator>,
}

fn packer() -> AtlasAllocator {
    #[allow(clippy::cast_possible_wrap)]
    AtlasAllocator::new(size2(PAGE as i32, PAGE as i32))
}

fn texture(device: &wgpu::Device, format: wgpu::TextureFormat, pages: u32) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("atlas"),
        // At least two layers: a texture of one is viewed as 2D by some browsers' defaults.
        size: wgpu::Extent3d { width: PAGE, height: PAGE, depth_or_array_layers: pages.max(2) },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

impl Pages {
    fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        Self { format, texture: texture(device, format, 2), packers: vec![packer()] }
    }

    /// Room for a bitmap; `None` when even a new page is not allowed.
    fn place(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, w: u32, h: u32) -> Option<(u32, (u32, u32))> {
        // One pixel apart, so that rounding never shows a neighbour.
        #[allow(clippy::cast_possible_wrap)]
        let want = size2(w as i32 + 1, h as i32 + 1);
        let found = |p: &mut AtlasAllocator| p.allocate(want).map(|a| a.rectangle.min);
        #[allow(clippy::cast_sign_loss)]
        for (page, p) in (0..).zip(self.packers.iter_mut()) {
            if let Some(at) = found(p) {
                return Some((page, (at.x as u32, at.y as u32)));
            }
        }
        let n = u32::try_from(self.packers.len()).ok().filter(|n| *n < PAGES_MAX)?;
        self.packers.push(packer());
        let old = self.texture.depth_or_array_layers();
        if n >= old {
            let new = texture(device, self.format, old * 2);
            let mut enc = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            enc.copy_texture_to_texture(
                self.texture.as_image_copy(),
                new.as_image_copy(),
                wgpu::Extent3d { width: PAGE, height: PAGE, depth_or_array_layers: old },
            );
            queue.submit([enc.finish()]);
            self.texture = new;
        }
        #[allow(clippy::cast_sign_loss)]
        self.packers.last_mut().and_then(found).map(|at| (n, (at.x as u32, at.y as u32)))
    }
}

/// Rasterises and keeps glyphs.
pub struct Atlas {
    swash: SwashCache,
    masks: Pages,
    colors: Pages,
    places: HashMap<Key, Option<Place>>,
    overflowed: bool,
}

impl Atlas {
    /// An empty atlas.
    #[must_use]
    pub fn new(device: &wgpu::Device) -> Self {
        Self {
            swash: SwashCache::new(),
            masks: Pages::new(device, wgpu::TextureFormat::R8Unorm),
            colors: Pages::new(device, wgpu::TextureFormat::Rgba8Unorm),
            places: HashMap::new(),
            overflowed: false,
        }
    }

    /// Views of the mask pages and the colour pages.
    #[must_use]
    pub fn views(&self) -> (wgpu::TextureView, wgpu::TextureView) {
        let view = |t: &wgpu::Texture| {
            t.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2Array),
                ..wgpu::TextureViewDescriptor::default()
            })
        };
        (view(&self.masks.texture), view(&self.colors.texture))
    }

    /// True when something found no room: what was drawn with it lacks a glyph.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// The place of a glyph; `None` for one without pixels.
    pub fn glyph(
        &mut self,
        gpu: (&wgpu::Device, &wgpu::Queue),
        fonts: &mut FontSystem,
        key: CacheKey,
    ) -> Option<Place> {
        if let Some(p) = self.places.get(&Key::Glyph(key)) {
            return *p;
        }
        let bitmap = self.swash.get_image_uncached(fonts, key).map(|i| Bitmap {
            width: i.placement.width,
            height: i.placement.height,
            left: i.placement.left,
            top: i.placement.top,
            colored: i.content == SwashContent::Color,
            rgba: i.data,
        });
        let place = bitmap.and_then(|b| self.put(gpu, &b, !b.colored));
        self.places.insert(Key::Glyph(key), place);
        place
    }

    /// The place of a cell.
    pub fn cell(
        &mut self,
        gpu: (&wgpu::Device, &wgpu::Queue),
        raster: &mut dyn FallbackRaster,
        text: &str,
        size: f32,
        bold: bool,
    ) -> Option<Place> {
        let key = Key::Cell { text: text.to_owned(), size: size.to_bits(), bold };
        if let Some(p) = self.places.get(&key) {
            return *p;
        }
        let place = raster.raster(text, size, bold).and_then(|mut b| {
            if !b.colored {
                b.rgba = b.rgba.chunks_exact(4).map(|p| p[3]).collect();
            }
            self.put(gpu, &b, !b.colored)
        });
        self.places.insert(key, place);
        place
    }

    fn put(&mut self, (device, queue): (&wgpu::Device, &wgpu::Queue), b: &Bitmap, mask: bool) -> Option<Place> {
        let (w, h) = (b.width, b.height);
        let bytes = if mask { 1 } else { 4 };
        if w == 0
            || h == 0
            || w > BITMAP_MAX * 4
            || h > BITMAP_MAX
            || w >= PAGE
            || b.rgba.len() < (w * h * bytes) as usize
        {
            return None;
        }
        let pages = if mask { &mut self.masks } else { &mut self.colors };
        let Some((page, at)) = pages.place(device, queue, w, h) else {
            self.overflowed = true;
            return None;
        };
        queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                texture: &pages.texture,
                mip_level: 0,
                origin: wgpu::Origin3d { x: at.0, y: at.1, z: page },
                aspect: wgpu::TextureAspect::All,
            },
            &b.rgba,
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(w * bytes), rows_per_image: None },
            wgpu::Extent3d { width: w, height: h, depth_or_array_layers: 1 },
        );
        Some(Place { colored: !mask, page, at, size: (w, h), bearing: (b.left, b.top) })
    }
}
