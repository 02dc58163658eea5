//! Pictures: kept as bytes, so that a lost device takes none of them away.

use crate::gpu::Gpu;
use crate::pipeline::Pipeline;
use scene::ImageId;
use std::collections::HashMap;

/// Longest side of a picture, in its own pixels.
pub const PICTURE_SIDE_MAX: u32 = 4096;
/// Bytes of all pictures together.
pub const PICTURES_BYTES_MAX: usize = 64 << 20;

/// Why a picture was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// A side is zero or too long.
    #[error("a picture of {width} by {height} pixels; each side may be 1 to {PICTURE_SIDE_MAX}")]
    Side {
        /// Width offered.
        width: u32,
        /// Height offered.
        height: u32,
    },
    /// Bytes do not match the size.
    #[error("{observed} bytes for a picture that needs {expected}")]
    Bytes {
        /// Four a pixel.
        expected: usize,
        /// Bytes offered.
        observed: usize,
    },
    /// All pictures together would be too much.
    #[error("pictures would take {observed} bytes of {PICTURES_BYTES_MAX}")]
    Full {
        /// Bytes there would be.
        observed: usize,
    },
}

struct Picture {
    size: (u32, u32),
    rgba: Vec<u8>,
    /// Made when it is first drawn on a device.
    bind: Option<wgpu::BindGroup>,
}

/// The pictures that a display list may name.
#[derive(Default)]
pub(crate) struct Pictures {
    all: HashMap<ImageId, Picture>,
    bytes: usize,
    revision: u64,
}

impl Pictures {
    pub(crate) fn put(&mut self, id: ImageId, width: u32, height: u32, rgba: Vec<u8>) -> Result<(), PictureError> {
        let ok = 1..=PICTURE_SIDE_MAX;
        if !ok.contains(&width) || !ok.contains(&height) {
            return Err(PictureError::Side { width, height });
        }
        let expected = width as usize * height as usize * 4;
        if rgba.len() != expected {
            return Err(PictureError::Bytes { expected, observed: rgba.len() });
        }
        let kept = self.bytes - self.all.get(&id).map_or(0, |p| p.rgba.len());
        if kept + expected > PICTURES_BYTES_MAX {
            return Err(PictureError::Full { observed: kept + expected });
        }
        self.bytes = kept + expected;
        self.revision += 1;
        self.all.insert(id, Picture { size: (width, height), rgba, bind: None });
        Ok(())
    }

    pub(crate) fn remove(&mut self, id: ImageId) {
        if let Some(p) = self.all.remove(&id) {
            self.bytes -= p.rgba.len();
            self.revision += 1;
        }
    }

    /// Rises with every change, so that layers with pictures know that they are stale.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn size(&self, id: ImageId) -> Option<(u32, u32)> {
        self.all.get(&id).map(|p| p.size)
    }

    pub(crate) fn bind(&self, id: ImageId) -> Option<&wgpu::BindGroup> {
        self.all.get(&id)?.bind.as_ref()
    }

    /// Forgets what was on a lost device.
    pub(crate) fn device_gone(&mut self) {
        self.all.values_mut().for_each(|p| p.bind = None);
    }

    /// Brings a picture onto the device, if it is not there yet.
    pub(crate) fn upload(&mut self, gpu: &Gpu, pipeline: &Pipeline, id: ImageId) {
        let Some(p) = self.all.get_mut(&id).filter(|p| p.bind.is_none()) else { return };
        let levels = p.size.0.max(p.size.1).ilog2() + 1;
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: wgpu::Extent3d { width: p.size.0, height: p.size.1, depth_or_array_layers: 1 },
            mip_level_count: levels,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let mut half;
        let (mut size, mut rgba) = (p.size, &p.rgba);
        for level in 0..levels {
            gpu.queue.write_texture(
                wgpu::TexelCopyTextureInfo {
                    texture: &texture,
                    mip_level: level,
                    origin: wgpu::Origin3d::ZERO,
                    aspect: wgpu::TextureAspect::All,
                },
                rgba,
                wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(size.0 * 4), rows_per_image: None },
                wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 },
            );
            if level + 1 < levels {
                half = halve(rgba, size);
                size = ((size.0 / 2).max(1), (size.1 / 2).max(1));
                rgba = &half;
            }
        }
        p.bind = Some(pipeline.bind(&gpu.device, &texture));
    }
}

/// The next smaller level: each pixel the mean of up to four.
fn halve(rgba: &[u8], (w, h): (u32, u32)) -> Vec<u8> {
    let (nw, nh) = ((w / 2).max(1), (h / 2).max(1));
    let mut out = Vec::with_capacity((nw * nh * 4) as usize);
    for y in 0..nh {
        for x in 0..nw {
            let (x2, y2) = ((x * 2 + 1).min(w - 1), (y * 2 + 1).min(h - 1));
            for c in 0..4 {
                let at = |x: u32, y: u32| u32::from(rgba[((y * w + x) * 4 + c) as usize]);
                let sum = at(x * 2, y * 2) + at(x2, y * 2) + at(x * 2, y2) + at(x2, y2);
                #[allow(clippy::cast_possible_truncation)]
                out.push(((sum + 2) / 4) as u8);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn pictures_are_bounded_and_their_refusals_say_by_what() {
        let mut p = Pictures::default();
        assert_eq!(p.put(ImageId(1), 0, 4, vec![]), Err(PictureError::Side { width: 0, height: 4 }));
        assert_eq!(p.put(ImageId(1), 2, 2, vec![0; 4]), Err(PictureError::Bytes { expected: 16, observed: 4 }));
        let page = vec![0; PICTURES_BYTES_MAX];
        assert_eq!(p.put(ImageId(1), 4096, 4096, page), Ok(()));
        let over = PictureError::Full { observed: PICTURES_BYTES_MAX + 4 };
        assert_eq!(p.put(ImageId(2), 1, 1, vec![0; 4]), Err(over));
        assert_eq!(p.put(ImageId(1), 1, 1, vec![0; 4]), Ok(()), "replacing frees what was there");
        p.remove(ImageId(1));
        assert_eq!((p.bytes, p.revision(), p.size(ImageId(1))), (0, 3, None));
    }

    #[test]
    fn a_smaller_level_is_the_mean_and_odd_sides_end() {
        let row = [[0, 0, 0, 0], [200, 0, 0, 200], [8, 8, 8, 8]].concat();
        assert_eq!(halve(&row, (3, 1)), [100, 0, 0, 100]);
        assert_eq!(halve(&[9; 4], (1, 1)), [9; 4]);
    }
}
