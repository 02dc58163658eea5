//! Device and surface: what is asked of WebGPU once, and everything that dies with a device.

use futures_channel::oneshot;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// The canvas gives no WebGPU context.
    #[error("this canvas gives no WebGPU surface: {0}")]
    Surface(String),
    /// No adapter.
    #[error("the browser has WebGPU but found no graphics adapter: {0}")]
    Adapter(String),
    /// No device.
    #[error("the graphics adapter gave no device: {0}")]
    Device(String),
    /// The surface has no format we can draw to.
    #[error("the surface offers no 8-bit colour format")]
    Format,
}

/// A device with its surface. Dropped whole when the device is lost.
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) surface: wgpu::Surface<'static>,
    pub(crate) config: wgpu::SurfaceConfiguration,
    pub(crate) max_side: u32,
    /// Rises whenever the surface is configured, which blanks it.
    pub(crate) configured: u64,
    lost: Arc<AtomicBool>,
}

impl Gpu {
    /// Asks for an adapter and a device that can draw to `target`. The receiver is told the
    /// browser's words when the device is lost; it is dropped silently with the `Gpu`.
    ///
    /// # Errors
    /// [`GpuError`], each with what to say to the person.
    pub async fn new(
        target: wgpu::SurfaceTarget<'static>,
        (width, height): (u32, u32),
    ) -> Result<(Self, oneshot::Receiver<String>), GpuError> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let surface = instance.create_surface(target).map_err(|e| GpuError::Surface(e.to_string()))?;
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::LowPower,
            compatible_surface: Some(&surface),
            ..wgpu::RequestAdapterOptions::default()
        };
        let adapter = instance.request_adapter(&options).await.map_err(|e| GpuError::Adapter(e.to_string()))?;
        let limits = wgpu::Limits::downlevel_defaults().using_resolution(adapter.limits());
        let max_side = limits.max_texture_dimension_2d;
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("shell"),
                required_limits: limits,
                ..wgpu::DeviceDescriptor::default()
            })
            .await
            .map_err(|e| GpuError::Device(e.to_string()))?;
        let (tell, lost) = oneshot::channel();
        let tell = Mutex::new(Some(tell));
        let is_lost = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_lost);
        device.set_device_lost_callback(move |reason, words| {
            flag.store(true, Ordering::Release);
            if let Some(t) = tell.lock().ok().and_then(|mut t| t.take()) {
                let _ = t.send(format!("{reason:?}: {words}"));
            }
        });
        let caps = surface.get_capabilities(&adapter);
        // Not sRGB: colours are blended as they are written, as browsers do. The browser's own
        // choice is the first; another costs it a copy a frame.
        let plain = [wgpu::TextureFormat::Bgra8Unorm, wgpu::TextureFormat::Rgba8Unorm];
        let format = caps.formats.iter().copied().find(|f| plain.contains(f)).ok_or(GpuError::Format)?;
        let mut config = surface.get_default_config(&adapter, width.max(1), height.max(1)).ok_or(GpuError::Format)?;
        config.format = format;
        config.present_mode = wgpu::PresentMode::Fifo;
        let mut gpu = Self { device, queue, surface, config, max_side, configured: 0, lost: is_lost };
        (gpu.config.width, gpu.config.height) = gpu.clamped(width, height);
        gpu.configure();
        Ok((gpu, lost))
    }

    /// Fits the surface to the canvas, in physical pixels, clamped to what the device can. The
    /// same size again changes nothing.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = self.clamped(width, height);
        if size != self.size() {
            (self.config.width, self.config.height) = size;
            self.configure();
        }
    }

    fn clamped(&self, width: u32, height: u32) -> (u32, u32) {
        (width.clamp(1, self.max_side), height.clamp(1, self.max_side))
    }

    pub(crate) fn configure(&mut self) {
        self.surface.configure(&self.device, &self.config);
        self.configured += 1;
    }

    /// Size of the surface, in physical pixels.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        (self.config.width, self.config.height)
    }

    /// True once the device is lost: nothing more will be drawn through this value.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }
}
