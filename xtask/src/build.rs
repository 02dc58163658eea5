//! From sources to a finished site in `dist/`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::model::{self, sha256_hex};
use crate::places::{Places, copy_if_changed, ensure_dir, write_if_changed};
use crate::proc;
use crate::report::step;
use crate::setup::{self, WASM};

/// How the shell is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// With names and checks, not optimised.
    Debug,
    /// What people get.
    Release,
}

/// The model modules, one a SIMD level; the worker picks by a probe.
pub const LLM_MODULES: [(&str, &str); 2] =
    [("simd", "-C target-feature=+simd128"), ("relaxed", "-C target-feature=+simd128,+relaxed-simd")];

/// What wasm-opt may use: exactly what Chrome, Firefox and Safari all run. `--all-features` would
/// let it write what browsers refuse.
const WASM_FEATURES: [&str; 8] = [
    "bulk-memory",
    "bulk-memory-opt",
    "nontrapping-float-to-int",
    "sign-ext",
    "mutable-globals",
    "reference-types",
    "multivalue",
    "simd",
];
/// Results of wasm-opt that are kept.
const KEPT_OPTIMISED: usize = 8;

/// What `set_up` found or installed.
#[derive(Debug)]
pub struct Tools {
    bindgen: PathBuf,
    modules: PathBuf,
}

/// Finds or installs everything that a build needs.
pub fn set_up(places: &Places) -> Result<Tools> {
    println!("Set-up");
    setup::wasm_target(places)?;
    let bindgen = setup::wasm_bindgen(places)?;
    let modules = setup::node_modules(places, setup::BUILD_SET)?;
    setup::fonts(places, &modules)?;
    model::ensure(places)?;
    Ok(Tools { bindgen, modules })
}

/// Sets up, builds everything and lays the site out in `dist/`.
pub fn site(places: &Places, profile: Profile) -> Result<()> {
    let Tools { bindgen, modules } = set_up(places)?;
    println!("Build");
    let shell = module(places, profile, "shell")?;
    let embed = module(places, profile, "embed")?;
    let llm = llm_modules(places)?;
    step("site", || {
        let mut dist = Dist::new(places.dist());
        let page = std::fs::read_to_string(places.root.join("index.html")).context("index.html is missing")?;
        dist.write("index.html".as_ref(), without_trunk(&page).as_bytes())?;
        dist.tree(&places.root.join("web"), "".as_ref())?;
        // A dot folder is never served.
        let glue = dist.root.join(".bindgen");
        for (name, file, to) in [("shell", &shell, ""), ("embed", &embed, "embed")] {
            bind(&bindgen, file, &glue, profile, name)?;
            let bound = glue.join(format!("{name}_bg.wasm"));
            let module = match profile {
                Profile::Debug => bound,
                Profile::Release => optimised(places, &modules, &bound)?,
            };
            dist.file(&module, &Path::new(to).join(format!("{name}_bg.wasm")))?;
            dist.file(&glue.join(format!("{name}.js")), &Path::new(to).join(format!("{name}.js")))?;
        }
        dist.file(&glue.join("embed.d.ts"), "embed/embed.d.ts".as_ref())?;
        // Inline JavaScript of crates comes as snippets; the glue imports them by this path.
        if glue.join("snippets").is_dir() {
            dist.tree(&glue.join("snippets"), "snippets".as_ref())?;
        }
        for (name, file) in llm {
            dist.file(&file, &Path::new("llm").join(format!("{name}.wasm")))?;
        }
        std::fs::remove_dir_all(&glue)?;
        dist.finish()?;
        Ok(((), "in dist/".into()))
    })
}

/// What trunk does not make: fonts, the model file, the model modules, all below `web/`.
pub fn assets(places: &Places) -> Result<()> {
    setup::wasm_target(places)?;
    let modules = setup::node_modules(places, setup::BUILD_SET)?;
    setup::fonts(places, &modules)?;
    let gguf = model::ensure(places)?;
    let to = places.root.join("web/model").join(model::GGUF.name);
    ensure_dir(&places.root.join("web/model"))?;
    // A hard link where the file system can: the file is large and never changes.
    if !model_is_at(&to) && std::fs::hard_link(&gguf, &to).is_err() {
        std::fs::copy(&gguf, &to)?;
    }
    for (name, file) in llm_modules(places)? {
        copy_if_changed(&file, &places.root.join("web/llm").join(format!("{name}.wasm")))?;
    }
    Ok(())
}

fn model_is_at(to: &Path) -> bool {
    std::fs::metadata(to).is_ok_and(|meta| meta.len() == model::GGUF.size)
}

/// Compiles a crate of the house for the browser.
fn module(places: &Places, profile: Profile, name: &str) -> Result<PathBuf> {
    step(name, || {
        println!("cargo build");
        let mut command = proc::cargo(places);
        command.args(["build", "--quiet", "--package", name, "--target", WASM]);
        let folder = match profile {
            Profile::Debug => "debug",
            Profile::Release => {
                command.arg("--release");
                "release"
            }
        };
        proc::run(&mut command)?;
        let file = places.target.join(WASM).join(folder).join(format!("{name}.wasm"));
        Ok((file, "  compiled".into()))
    })
}

/// Compiles the model crate once per SIMD level, each in its own target folder, because the flags
/// would otherwise rebuild everything each time.
fn llm_modules(places: &Places) -> Result<Vec<(&'static str, PathBuf)>> {
    let build = |name: &str, flags: &str| {
        let target = places.target.join(format!("llm-{name}"));
        let mut command = proc::cargo(places);
        command.args(["build", "--quiet", "--release", "--package", "llm", "--lib", "--target", WASM]);
        command.arg("--target-dir").arg(&target).env("RUSTFLAGS", flags);
        proc::run(&mut command)?;
        Ok((target.join(WASM).join("release/llm.wasm"), "compiled".into()))
    };
    LLM_MODULES
        .into_iter()
        .map(|(name, flags)| Ok((name, step(&format!("model module, {name}"), || build(name, flags))?)))
        .collect()
}

/// Glue, types and module from wasm-bindgen: `NAME.js`, `NAME.d.ts` and `NAME_bg.wasm`.
fn bind(bindgen: &Path, wasm: &Path, out: &Path, profile: Profile, name: &str) -> Result<()> {
    ensure_dir(out)?;
    let mut command = Command::new(bindgen);
    command.args(["--target", "web", "--out-name", name, "--out-dir"]).arg(out);
    if profile == Profile::Debug {
        command.args(["--debug", "--keep-debug"]);
    }
    proc::run_quiet(command.arg(wasm)).map(|_| ())
}

/// What wasm-opt makes of a module, kept in the cache by the digest of everything that went in.
fn optimised(places: &Places, modules: &Path, wasm: &Path) -> Result<PathBuf> {
    let input = std::fs::read(wasm)?;
    let mut args = vec!["-Oz".to_owned(), "--strip-debug".into(), "--strip-producers".into()];
    args.extend(WASM_FEATURES.iter().map(|f| format!("--enable-{f}")));
    let version = sha256_hex(&std::fs::read(modules.join("binaryen/package.json"))?);
    let key = sha256_hex(format!("{} {args:?} {version}", sha256_hex(&input)).as_bytes());
    let kept = places.cache.join("wasm-opt");
    let result = kept.join(format!("{key}.wasm"));
    if !result.is_file() {
        ensure_dir(&kept)?;
        let part = kept.join(format!("{key}.{}.part", std::process::id()));
        let program = modules.join(".bin/wasm-opt");
        proc::run_quiet(Command::new(program).arg(wasm).args(&args).arg("-o").arg(&part))?;
        std::fs::rename(&part, &result)?;
        keep_newest(&kept, KEPT_OPTIMISED)?;
    }
    Ok(result)
}

fn keep_newest(dir: &Path, count: usize) -> Result<()> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        files.push((entry.metadata()?.modified()?, entry.path()));
    }
    files.sort();
    for (_, file) in files.iter().rev().skip(count) {
        std::fs::remove_file(file)?;
    }
    Ok(())
}

/// Trunk's directives stand one a line, each with its `data-trunk` attribute.
fn without_trunk(page: &str) -> String {
    page.lines().filter(|line| !line.contains("data-trunk")).flat_map(|line| [line, "\n"]).collect()
}

/// The site's folder while it is laid out. What is not laid out this time is removed at the end,
/// so that a deleted source file cannot live on in the site; what did not change is not touched.
struct Dist {
    root: PathBuf,
    laid: BTreeSet<PathBuf>,
}

impl Dist {
    fn new(root: PathBuf) -> Self {
        Self { root, laid: BTreeSet::new() }
    }

    fn write(&mut self, to: &Path, bytes: &[u8]) -> Result<()> {
        let to = self.root.join(to);
        write_if_changed(&to, bytes)?;
        self.laid.insert(to);
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &Path) -> Result<()> {
        let to = self.root.join(to);
        copy_if_changed(from, &to)?;
        self.laid.insert(to);
        Ok(())
    }

    fn tree(&mut self, from: &Path, to: &Path) -> Result<()> {
        for entry in std::fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_string_lossy().starts_with('.') {
                continue; // keeps an empty folder in git; the server would not show it either
            }
            if !entry.file_type()?.is_dir() {
                self.file(&entry.path(), &to.join(name))?;
            } else if to != Path::new("") || (name != "model" && name != "llm") {
                // web/model and web/llm are made by `assets` for trunk; here they have other sources.
                self.tree(&entry.path(), &to.join(name))?;
            }
        }
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        self.sweep(&self.root)
    }

    fn sweep(&self, dir: &Path) -> Result<()> {
        for entry in std::fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_dir() {
                self.sweep(&path)?;
            } else if !self.laid.contains(&path) {
                std::fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trunk_lines_leave_the_page() {
        let page = "<head>\n<link data-trunk rel=\"rust\">\n<title>x</title>\n</head>\n";
        assert_eq!(without_trunk(page), "<head>\n<title>x</title>\n</head>\n");
    }

    #[test]
    fn what_is_not_laid_out_again_leaves_the_site() {
        let dir = std::env::temp_dir().join(format!("webgpu-os-dist-{}", std::process::id()));
        let lay = |names: &[&str]| {
            let mut dist = Dist::new(dir.clone());
            for name in names {
                dist.write(name.as_ref(), b"x").unwrap();
            }
            dist.finish().unwrap();
        };
        lay(&["a.js", "llm/old.wasm"]);
        lay(&["a.js", "b.js"]);
        assert!(dir.join("a.js").exists() && dir.join("b.js").exists());
        assert!(!dir.join("llm/old.wasm").exists());
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn only_the_newest_results_are_kept() {
        let dir = std::env::temp_dir().join(format!("webgpu-os-kept-{}", std::process::id()));
        ensure_dir(&dir).unwrap();
        for n in 0..4 {
            let file = std::fs::File::create(dir.join(n.to_string())).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(n)).unwrap();
        }
        keep_newest(&dir, 2).unwrap();
        let mut left: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["2", "3"]);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
