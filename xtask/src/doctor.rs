//! `cargo xtask doctor`: what is missing here, and how to get it. Changes nothing.

use anyhow::Result;

use crate::places::Places;
use crate::{browser, model, proc, setup};

/// Prints one line per thing the commands need.
pub fn run(places: &Places) -> Result<()> {
    let bindgen = setup::wasm_bindgen_version(places)?;
    let serve = "`cargo xtask serve` installs it";
    let test = "`cargo xtask test` installs it";
    let lines: [(&str, bool, &str); 11] = [
        ("rustup", proc::which("rustup").is_some(), "https://rustup.rs (or your system's Rust with its wasm target)"),
        ("Node.js 20 or newer", node_is_new_enough(), "https://nodejs.org or your package manager"),
        ("npm", proc::which("npm").is_some(), "comes with Node.js"),
        ("wasm target", setup::has_wasm_target(places).unwrap_or(false), serve),
        ("wasm-bindgen CLI", setup::find_wasm_bindgen(places, &bindgen).is_some(), serve),
        ("wasm-opt and fonts", setup::has_node_modules(places, setup::BUILD_SET), serve),
        ("fonts in web/fonts", setup::has_fonts(places), serve),
        ("model file", model::is_verified(&places.model().join(model::GGUF.name)), serve),
        ("end-to-end driver", setup::has_node_modules(places, setup::TEST_SET), test),
        ("browser and driver", browser::find().is_some(), browser::HOW),
        (
            "trunk (for `trunk serve` only)",
            proc::which("trunk").is_some() || places.tools().join("bin/trunk").is_file(),
            "not needed; `cargo xtask install-trunk` installs it",
        ),
    ];
    println!("cache: {}", places.cache.display());
    println!("build output: {}", places.target.display());
    for (what, there, how) in lines {
        if there {
            println!("  ok       {what}");
        } else {
            println!("  missing  {what}: {how}");
        }
    }
    Ok(())
}

fn node_is_new_enough() -> bool {
    proc::version_of("node")
        .and_then(|v| v.trim_start_matches('v').split('.').next()?.parse::<u32>().ok())
        .is_some_and(|major| major >= 20)
}
