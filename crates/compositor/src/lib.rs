//! The compositor: a display list becomes pixels on WebGPU.
//!
//! The one design choice: everything is an instance of one pipeline (rounded quad, shadow,
//! glyph, picture, layer), with its own clip, so draw order is list order, a layer is one draw
//! call, and nothing needs a scissor. A layer is kept as a texture and drawn again only when
//! what it shows changes. Glyphs come from cosmic-text's rasteriser into our own paged atlas,
//! beside the cells that the browser draws: glyphon was left out because it draws all text of
//! a renderer after all quads, clips to whole rectangles only, re-rasterises the atlas when it
//! grows, and has no room for the fallback cells. Everything on the GPU is rebuilt from CPU
//! state, so a lost device costs one frame.

mod atlas;
mod frame;
mod gpu;
mod paint;
mod pictures;
mod pipeline;

pub use atlas::{BITMAP_MAX, Bitmap, FallbackRaster, PAGE, PAGES_MAX};
pub use frame::Compositor;
pub use gpu::{Gpu, GpuError};
pub use pictures::{PICTURE_SIDE_MAX, PICTURES_BYTES_MAX, PictureError};
