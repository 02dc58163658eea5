//! A text engine over the bundled fonts, for native tests of views.

use text::{FallbackMeasure, TextEngine};

/// Every cell is one em wide, as CJK is.
#[derive(Debug)]
pub struct Em;

impl FallbackMeasure for Em {
    fn advance(&mut self, cluster: &str, size: f32, _: bool) -> f32 {
        use unicode_segmentation::UnicodeSegmentation as _;
        cluster.graphemes(true).count() as f32 * size
    }
}

/// The engine; panics with the command that fetches the fonts when they are missing.
///
/// # Panics
/// When the bundled fonts are not there.
#[must_use]
pub fn engine() -> TextEngine {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || std::path::PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
        Into::into,
    );
    let dirs = [
        std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/fonts")),
        cache.join("webgpu-os/fonts"),
    ];
    let read = |name: &str| {
        dirs.iter()
            .find_map(|d| std::fs::read(d.join(name)).ok())
            .unwrap_or_else(|| panic!("the font {name} is not in web/fonts: run `cargo xtask assets` to fetch it"))
    };
    let names = ["Inter-Regular.ttf", "Inter-SemiBold.ttf", "Inter-Bold.ttf", "Inter-Italic.ttf"];
    let fonts = names.into_iter().chain(["JetBrainsMono-Regular.ttf"]).map(read).collect();
    match TextEngine::new(fonts, Box::new(Em)) {
        Ok(e) => e,
        Err(e) => panic!("{e}"),
    }
}
