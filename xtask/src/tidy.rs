//! `cargo xtask tidy`: the rules of the house that a compiler does not hold by itself.
//!
//! ARCHITECTURE.md says what each crate must never know. Here stands the same as a table, checked
//! against what cargo says the crates import.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::places::Places;
use crate::proc;
use crate::setup::WASM;
use crate::testing::{BROWSER_CRATES, Counts};

/// No file is longer: 400 lines is a room, 800 a hall that wants a wall.
const MAX_LINES: usize = 800;
/// Kinds of files that are measured.
const MEASURED: [&str; 5] = ["rs", "js", "mjs", "css", "wgsl"];

/// What a floor must never import from outside.
const WEB: &[&str] = &["web-sys", "js-sys", "wasm-bindgen", "wasm-bindgen-futures", "gloo", "idb"];
const GPU: &[&str] = &["wgpu", "glyphon", "winit"];
const IO: &[&str] = &["tokio", "reqwest", "ureq", "hyper", "axum", "notify", "async-std", "smol", "futures"];
/// Crates that belong to one place only.
const EDGE: &[&str] = &["anyhow"];

/// A crate, the crates of the house it may import, and the outside it must never know.
struct Rule {
    name: &'static str,
    may: &'static [&'static str],
    never: &'static [&'static [&'static str]],
}

const RULES: [Rule; 17] = [
    Rule { name: "kernel", may: &[], never: &[WEB, GPU, IO, EDGE] },
    Rule { name: "scene", may: &[], never: &[WEB, GPU, IO, EDGE] },
    // Rectangles, points and colours are scene's: plain data.
    Rule { name: "text", may: &["scene"], never: &[WEB, GPU, IO, EDGE] },
    Rule { name: "llm", may: &[], never: &[WEB, GPU, IO, EDGE] },
    Rule { name: "skills", may: &["kernel"], never: &[WEB, GPU, IO, EDGE] },
    Rule { name: "instructions", may: &["kernel"], never: &[WEB, GPU, IO, EDGE] },
    Rule { name: "memory", may: &["kernel"], never: &[WEB, GPU, IO, EDGE] },
    Rule { name: "models", may: &["kernel"], never: &[WEB, GPU, IO, EDGE] },
    Rule { name: "agent-runtime", may: &["kernel"], never: &[WEB, GPU, IO, EDGE] },
    Rule { name: "ui", may: &["scene", "text"], never: &[WEB, GPU, IO, EDGE] },
    Rule { name: "compositor", may: &["scene", "text"], never: &[IO, EDGE] },
    Rule {
        name: "ai-echo",
        may: &["agent-runtime", "skills", "instructions", "memory", "models", "kernel"],
        never: &[WEB, GPU, IO, EDGE],
    },
    Rule { name: "embed", may: &["instructions", "skills", "kernel"], never: &[GPU, IO, EDGE] },
    Rule { name: "sim", may: &["agent-runtime", "kernel", "ai-echo"], never: &[GPU, IO, EDGE] },
    Rule { name: "bridges", may: &["skills", "kernel"], never: &[WEB, GPU, IO, EDGE] },
    Rule {
        name: "apps",
        may: &[
            "ui",
            "scene",
            "text",
            "ai-echo",
            "models",
            "skills",
            "instructions",
            "memory",
            "agent-runtime",
            "kernel",
        ],
        never: &[WEB, GPU, IO, EDGE],
    },
    Rule {
        name: "host",
        may: &["bridges", "ai-echo", "agent-runtime", "skills", "instructions", "memory", "models", "kernel"],
        never: &[WEB, GPU],
    },
];
/// Crates that may import every crate of the house, or none and are no part of the product.
const TOP: [&str; 2] = ["shell", "xtask"];

/// Runs all checks; an error when one does not hold.
pub fn run(places: &Places, fast: bool) -> Result<()> {
    let counts = check(places, fast)?;
    if counts.failed > 0 {
        bail!("{} of {} checks do not hold", counts.failed, counts.failed + counts.passed);
    }
    Ok(())
}

type Check = fn(&Places) -> Result<Vec<String>>;

/// Runs all checks and prints each with what it found. `fast` leaves the browser crates' lints out.
pub fn check(places: &Places, fast: bool) -> Result<Counts> {
    let mut checks: Vec<(&str, Check)> = vec![
        ("imports go downward", imports),
        ("files are short", lengths),
        ("crates say what they are", openings),
        ("the page holds no inline code", inline_code),
        ("trunk serves under the same policy", trunk_policy),
        ("trunk serves the same files", trunk_files),
        ("formatting", formatting),
        ("lints", native_lints),
    ];
    if !fast {
        checks.push(("lints of the browser crates", browser_lints));
    }
    let mut counts = Counts::default();
    for (name, check) in checks {
        let found = check(places).unwrap_or_else(|error| vec![format!("{error:#}")]);
        if found.is_empty() {
            println!("  {name}: ok");
            counts.passed += 1;
        } else {
            println!("  {name}: FAILED");
            for line in found {
                println!("    {line}");
            }
            counts.failed += 1;
        }
    }
    Ok(counts)
}

fn imports(places: &Places) -> Result<Vec<String>> {
    let text = proc::run_quiet(proc::cargo(places).args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"].as_array().context("cargo metadata without packages")?;
    let house: Vec<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let mut found = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or("");
        let dependencies: Vec<&str> = package["dependencies"]
            .as_array()
            .into_iter()
            .flatten()
            // Tests may look from anywhere; what ships may not.
            .filter(|d| d["kind"].as_str() != Some("dev"))
            .filter_map(|d| d["name"].as_str())
            .collect();
        found.extend(refused_imports(name, &dependencies, &house));
    }
    Ok(found)
}

fn refused_imports(name: &str, dependencies: &[&str], house: &[&str]) -> Vec<String> {
    if TOP.contains(&name) {
        return Vec::new();
    }
    let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
        return vec![format!("{name} has no line in the table of xtask/src/tidy.rs: say what it may import")];
    };
    let mut found = Vec::new();
    for dependency in dependencies {
        if house.contains(dependency) && !rule.may.contains(dependency) {
            found.push(format!("{name} imports {dependency}; it may import {:?}", rule.may));
        }
        if rule.never.iter().any(|list| list.contains(dependency)) {
            found.push(format!("{name} must never know {dependency}"));
        }
    }
    found
}

fn lengths(places: &Places) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for file in sources(places)? {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let lines = text.lines().count();
        if lines > MAX_LINES {
            found.push(format!("{}: {lines} lines, at most {MAX_LINES}", shown(places, &file)));
        }
    }
    Ok(found)
}

fn openings(places: &Places) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for file in sources(places)? {
        let is_root = matches!(file.file_name().and_then(|n| n.to_str()), Some("lib.rs" | "main.rs"))
            && file.parent().is_some_and(|dir| dir.ends_with("src"));
        if is_root && !std::fs::read_to_string(&file)?.starts_with("//!") {
            found.push(format!("{}: opens without a `//!` sentence", shown(places, &file)));
        }
    }
    Ok(found)
}

fn inline_code(places: &Places) -> Result<Vec<String>> {
    Ok(inline_code_in(&std::fs::read_to_string(places.root.join("index.html"))?))
}

/// What the content security policy would refuse at run time, found before.
fn inline_code_in(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (n, line) in page.lines().enumerate() {
        let lower = line.to_ascii_lowercase();
        let handler = lower.split_ascii_whitespace().any(|word| {
            word.strip_prefix("on")
                .and_then(|rest| rest.split_once('='))
                .is_some_and(|(event, _)| !event.is_empty() && event.bytes().all(|b| b.is_ascii_lowercase()))
        });
        let bad = (lower.contains("<script") && !lower.contains("src="))
            || lower.contains("<style")
            || lower.contains(" style=")
            || lower.contains("javascript:")
            || handler;
        if bad {
            found.push(format!("index.html:{}: {}", n + 1, line.trim()));
        }
    }
    found
}

/// Trunk copies what the page names; `cargo xtask serve` copies all of `web/`.
fn trunk_files(places: &Places) -> Result<Vec<String>> {
    let page = std::fs::read_to_string(places.root.join("index.html"))?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(places.root.join("web"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let named = page.lines().any(|l| l.contains("data-trunk") && l.contains(&format!("href=\"web/{name}\"")));
        if !named {
            found.push(format!("index.html has no data-trunk line for web/{name}"));
        }
    }
    Ok(found)
}

fn trunk_policy(places: &Places) -> Result<Vec<String>> {
    let trunk = std::fs::read_to_string(places.root.join("Trunk.toml"))?;
    let mut found = Vec::new();
    if !trunk.contains(crate::server::CSP) {
        found.push("Trunk.toml and xtask/src/server.rs name different content security policies".into());
    }
    let version = crate::setup::wasm_bindgen_version(places)?;
    if !trunk.contains(&format!("wasm_bindgen = \"{version}\"")) {
        found.push(format!("Trunk.toml does not name the locked wasm-bindgen {version}"));
    }
    Ok(found)
}

fn formatting(places: &Places) -> Result<Vec<String>> {
    quiet(proc::cargo(places).args(["fmt", "--all", "--check"]))
}

fn native_lints(places: &Places) -> Result<Vec<String>> {
    let mut command = proc::cargo(places);
    command.args(["clippy", "--quiet", "--workspace", "--all-targets"]);
    for name in BROWSER_CRATES {
        command.args(["--exclude", name]);
    }
    quiet(command.args(["--", "-D", "warnings"]))
}

fn browser_lints(places: &Places) -> Result<Vec<String>> {
    crate::setup::wasm_target(places)?;
    let mut command = proc::cargo(places);
    command.args(["clippy", "--quiet", "--target", WASM]);
    for name in BROWSER_CRATES {
        command.args(["--package", name]);
    }
    quiet(command.args(["--", "-D", "warnings"]))
}

fn quiet(command: &mut std::process::Command) -> Result<Vec<String>> {
    match proc::run_quiet(command) {
        Ok(_) => Ok(Vec::new()),
        Err(error) => Ok(format!("{error:#}").lines().map(str::to_owned).collect()),
    }
}

/// Our own source files: everything git would commit, of the measured kinds.
fn sources(places: &Places) -> Result<Vec<PathBuf>> {
    let list = proc::run_quiet(std::process::Command::new("git").current_dir(&places.root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    Ok(list
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(|name| places.root.join(name))
        .filter(|path| path.extension().and_then(|e| e.to_str()).is_some_and(|e| MEASURED.contains(&e)))
        .filter(|path| path.is_file())
        .collect())
}

fn shown(places: &Places, file: &Path) -> String {
    file.strip_prefix(&places.root).unwrap_or(file).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_upward_or_outward_is_named() {
        let house = ["kernel", "scene", "ui", "apps"];
        assert!(refused_imports("ui", &["scene", "serde"], &house).is_empty());
        assert_eq!(refused_imports("ui", &["kernel"], &house).len(), 1);
        assert!(refused_imports("kernel", &["web-sys"], &house)[0].contains("must never know web-sys"));
        assert!(refused_imports("new-one", &[], &house)[0].contains("no line in the table"));
        assert!(refused_imports("shell", &["apps", "web-sys"], &house).is_empty());
    }

    #[test]
    fn inline_code_is_found_in_each_of_its_forms() {
        for page in [
            "<script>alert(1)</script>",
            "<style>p{}</style>",
            "<p style=\"color:red\">",
            "<p onclick=\"x()\">",
            "<a href=\"javascript:x()\">",
        ] {
            assert_eq!(inline_code_in(page).len(), 1, "{page}");
        }
        assert!(inline_code_in("<script type=\"module\" src=\"./boot.js\"></script>\n<p>on=off, once</p>").is_empty());
    }
}
