//! What the build needs beyond cargo, each found or installed: the wasm target, the wasm-bindgen
//! CLI, the npm packages, trunk.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::model::sha256_hex;
use crate::places::{Places, ensure_dir};
use crate::proc;
use crate::report::step;

/// The wasm target's name.
pub const WASM: &str = "wasm32-unknown-unknown";
/// The newest trunk that this toolchain compiles.
pub const TRUNK: &str = "0.21.14";

/// A set of npm packages, pinned by a lock file in the checkout and installed in the cache.
#[derive(Debug, Clone, Copy)]
pub struct NodeSet {
    /// Where package.json and package-lock.json lie in the checkout.
    pub manifest: &'static str,
    /// What the progress line calls it.
    pub title: &'static str,
}

/// wasm-opt and the fonts.
pub const BUILD_SET: NodeSet = NodeSet { manifest: "xtask/npm", title: "wasm-opt and fonts (npm)" };
/// The end-to-end driver.
pub const TEST_SET: NodeSet = NodeSet { manifest: "tests/e2e", title: "end-to-end driver (npm)" };

/// Adds the wasm target where rustup has not yet.
pub fn wasm_target(places: &Places) -> Result<()> {
    step("wasm target", || {
        if has_wasm_target(places)? {
            return Ok(((), "present".into()));
        }
        proc::run_quiet(Command::new("rustup").current_dir(&places.root).args(["target", "add", WASM]))
            .context("rustup adds the target; without rustup, install your system's Rust wasm target")?;
        Ok(((), "added".into()))
    })
}

/// Whether the toolchain of this checkout has the target's standard library.
pub fn has_wasm_target(places: &Places) -> Result<bool> {
    let out = proc::run_quiet(Command::new("rustc").current_dir(&places.root).args([
        "--print",
        "target-libdir",
        "--target",
        WASM,
    ]))?;
    Ok(Path::new(out.trim()).is_dir())
}

/// The version that the wasm-bindgen CLI must have: the locked one, since both share a format.
pub fn wasm_bindgen_version(places: &Places) -> Result<String> {
    let lock = std::fs::read_to_string(places.root.join("Cargo.lock")).context("Cargo.lock is missing")?;
    if let Some(version) = locked_version(&lock, "wasm-bindgen") {
        return Ok(version);
    }
    let manifest = std::fs::read_to_string(places.root.join("Cargo.toml"))?;
    manifest
        .lines()
        .find_map(|line| line.strip_prefix("wasm-bindgen = \"=")?.split('"').next().map(str::to_owned))
        .context("neither Cargo.lock nor Cargo.toml names wasm-bindgen's version")
}

fn locked_version(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.next()?;
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"').map(str::to_owned)
}

/// The wasm-bindgen CLI at the locked version, if it is there.
pub fn find_wasm_bindgen(places: &Places, version: &str) -> Option<PathBuf> {
    [Some(places.tools().join("bin/wasm-bindgen")), proc::which("wasm-bindgen")]
        .into_iter()
        .flatten()
        .find(|path| proc::version_of(path).is_some_and(|v| v.ends_with(version)))
}

/// Finds or installs the wasm-bindgen CLI; its test runner lies beside it.
pub fn wasm_bindgen(places: &Places) -> Result<PathBuf> {
    let version = wasm_bindgen_version(places)?;
    step(&format!("wasm-bindgen {version}"), || {
        if let Some(path) = find_wasm_bindgen(places, &version) {
            return Ok((path, "present".into()));
        }
        println!("installing, about 4 minutes of one processor");
        let pinned = format!("={version}");
        let args = ["wasm-bindgen-cli", "--version", pinned.as_str()];
        // Its own lock file first; where a locked dependency has left the registry, without.
        cargo_install(places, &args, true).or_else(|_| cargo_install(places, &args, false))?;
        let path = find_wasm_bindgen(places, &version)
            .context("cargo install succeeded, yet there is no such wasm-bindgen")?;
        Ok((path, "  installed".into()))
    })
}

/// Installs trunk on request: `serve` and `test` do without it.
pub fn install_trunk(places: &Places) -> Result<()> {
    step(&format!("trunk {TRUNK}"), || {
        let mine = places.tools().join("bin/trunk");
        if [&mine, Path::new("trunk")].iter().any(|p| proc::version_of(p).is_some_and(|v| v.ends_with(TRUNK))) {
            return Ok(((), "present".into()));
        }
        println!("installing, about 10 minutes of one processor");
        let args = ["trunk", "--version", TRUNK];
        cargo_install(places, &args, true).or_else(|_| cargo_install(places, &args, false))?;
        Ok(((), "  installed".into()))
    })?;
    println!("Then: PATH=\"{}:$PATH\" trunk serve", places.tools().join("bin").display());
    Ok(())
}

fn cargo_install(places: &Places, args: &[&str], locked: bool) -> Result<()> {
    let mut command = proc::cargo(places);
    // Not in the checkout: its toolchain file and configuration are not the tool's.
    command.current_dir(&places.cache).arg("install").args(args).arg("--root").arg(places.tools());
    command.env("CARGO_TARGET_DIR", places.cache.join("tools-target"));
    if locked {
        command.arg("--locked");
    }
    ensure_dir(&places.tools())?;
    proc::run_quiet(&mut command).map(|_| ())
}

/// The folder `node_modules` of a set, installed once per content of its lock file.
pub fn node_modules(places: &Places, set: NodeSet) -> Result<PathBuf> {
    step(set.title, || {
        let (dir, modules) = node_place(places, set)?;
        if dir.join("complete").is_file() {
            return Ok((modules, "present".into()));
        }
        if proc::which("node").is_none() || proc::which("npm").is_none() {
            bail!("Node.js 20 or newer with npm is needed: https://nodejs.org");
        }
        ensure_dir(&dir)?;
        for file in ["package.json", "package-lock.json"] {
            std::fs::copy(places.root.join(set.manifest).join(file), dir.join(file))?;
        }
        let npm = proc::which("npm").context("npm was there a moment ago")?;
        proc::run_quiet(Command::new(npm).current_dir(&dir).args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
        ]))?;
        std::fs::write(dir.join("complete"), "")?;
        Ok((modules, "installed".into()))
    })
}

/// Whether a set is installed already.
pub fn has_node_modules(places: &Places, set: NodeSet) -> bool {
    node_place(places, set).is_ok_and(|(dir, _)| dir.join("complete").is_file())
}

fn node_place(places: &Places, set: NodeSet) -> Result<(PathBuf, PathBuf)> {
    let lock = places.root.join(set.manifest).join("package-lock.json");
    let bytes = std::fs::read(&lock).with_context(|| format!("{} is missing", lock.display()))?;
    let dir = places.cache.join("npm").join(&sha256_hex(&bytes)[..16]);
    let modules = dir.join("node_modules");
    Ok((dir, modules))
}

/// The font files that the shell loads, with the package each comes from.
const FONTS: [(&str, &str, &str); 6] = [
    ("inter", "400Regular/Inter_400Regular.ttf", "Inter-Regular.ttf"),
    ("inter", "400Regular_Italic/Inter_400Regular_Italic.ttf", "Inter-Italic.ttf"),
    ("inter", "600SemiBold/Inter_600SemiBold.ttf", "Inter-SemiBold.ttf"),
    ("inter", "700Bold/Inter_700Bold.ttf", "Inter-Bold.ttf"),
    ("jetbrains-mono", "400Regular/JetBrainsMono_400Regular.ttf", "JetBrainsMono-Regular.ttf"),
    ("jetbrains-mono", "700Bold/JetBrainsMono_700Bold.ttf", "JetBrainsMono-Bold.ttf"),
];

/// Copies the fonts and their licences to `web/fonts/`.
pub fn fonts(places: &Places, modules: &Path) -> Result<()> {
    let to = places.root.join("web/fonts");
    for (package, from, name) in FONTS {
        let from = modules.join("@expo-google-fonts").join(package).join(from);
        crate::places::copy_if_changed(&from, &to.join(name))?;
    }
    for (package, name) in [("inter", "Inter-LICENSE.txt"), ("jetbrains-mono", "JetBrainsMono-LICENSE.txt")] {
        let from = modules.join("@expo-google-fonts").join(package).join("LICENSE_FONT");
        crate::places::copy_if_changed(&from, &to.join(name))?;
    }
    Ok(())
}

/// Whether all fonts lie in `web/fonts/`.
pub fn has_fonts(places: &Places) -> bool {
    FONTS.iter().all(|(.., name)| places.root.join("web/fonts").join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locked_version_is_the_named_package_s_own() {
        let lock = "[[package]]\nname = \"wasm-bindgen-test\"\nversion = \"0.3.1\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(locked_version(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(locked_version(lock, "trunk"), None);
    }
}
