//! Where things lie: the checkout, the shared cache, the build output.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The folders that every command works with.
#[derive(Debug, Clone)]
pub struct Places {
    /// The checkout.
    pub root: PathBuf,
    /// What may be shared between checkouts and rebuilt from nothing.
    pub cache: PathBuf,
    /// Cargo's output.
    pub target: PathBuf,
}

impl Places {
    /// Reads them from the environment.
    pub fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("xtask lies one folder below the checkout's root")?
            .to_owned();
        if !root.join("Cargo.toml").exists() {
            bail!("{} is no longer the checkout this xtask was built in", root.display());
        }
        let var = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let cache = match (var("XDG_CACHE_HOME"), var("HOME"), var("LOCALAPPDATA")) {
            (Some(dir), ..) | (None, None, Some(dir)) => dir,
            (None, Some(home), _) => home.join(".cache"),
            (None, None, None) => bail!("set HOME or XDG_CACHE_HOME: the set-up needs a cache folder"),
        }
        .join("webgpu-os");
        // A fresh clone starts with an empty target folder; in CI the cache's one is warm.
        let target = match var("CARGO_TARGET_DIR") {
            Some(dir) if dir.is_absolute() => dir,
            Some(dir) => root.join(dir),
            None if var("CI").is_some() => cache.join("target"),
            None => root.join("target"),
        };
        Ok(Self { root, cache, target })
    }

    /// The finished site.
    pub fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    /// Tools installed by cargo.
    pub fn tools(&self) -> PathBuf {
        self.cache.join("tools")
    }

    /// The verified model file's folder.
    pub fn model(&self) -> PathBuf {
        self.cache.join("model")
    }
}

/// Makes a folder and all above it.
pub fn ensure_dir(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))
}

/// Copies a file only where the content differs, so that timestamps (and ETags) stay.
pub fn copy_if_changed(from: &Path, to: &Path) -> Result<()> {
    let bytes = std::fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    write_if_changed(to, &bytes)
}

/// Writes a file only where the content differs.
pub fn write_if_changed(to: &Path, bytes: &[u8]) -> Result<()> {
    if std::fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(dir) = to.parent() {
        ensure_dir(dir)?;
    }
    std::fs::write(to, bytes).with_context(|| format!("cannot write {}", to.display()))
}
