//! `cargo xtask bench`: what the product costs, each figure beside its budget.
//!
//! Sizes are measured here. Everything that needs the page is a script in `tests/bench/`: it drives
//! the finished site and prints one line of JSON per figure,
//! `{"name", "value", "unit", "budget"?, "bound"?, "note"?}`, where `bound` is a peer or a limit
//! measured in the same run, because absolute times differ between machines.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::build::{self, Profile};
use crate::places::Places;
use crate::proc;
use crate::testing::{NodeRunner, scripts};

/// Budget of the compressed shell, without fonts and model: 1.5 MiB.
const SHELL_BUDGET: f64 = 1.5 * 1024.0 * 1024.0;

/// Prints the sizes, then every browser bench whose name holds one of the words.
pub fn run(places: &Places, words: &[String]) -> Result<()> {
    build::site(places, Profile::Release)?;
    println!("\n{:<38} {:>14} {:>14} {:>8}", "figure", "measured", "budget", "");
    if words.is_empty() || words.iter().any(|w| w == "size") {
        sizes(places)?;
    }
    if words.len() == 1 && words[0] == "size" {
        return Ok(());
    }
    let dir = places.root.join("tests/bench");
    let Ok(files) = scripts(&dir, ".mjs", words) else {
        println!("(no browser bench matches)");
        return Ok(());
    };
    for file in files {
        let mut runner = NodeRunner::start(places)?;
        let succeeded = proc::run_seen(runner.command.arg(&file), |line| {
            if let Ok(figure) = serde_json::from_str::<Value>(line) {
                println!("{}", row(&figure));
            }
        })?;
        if !succeeded {
            println!("{} failed", file.display());
        }
    }
    Ok(())
}

/// Raw, gzip and brotli sizes; Node has both compressors.
fn sizes(places: &Places) -> Result<()> {
    let script = "const fs=require('fs'),z=require('zlib');\
        for(const f of process.argv.slice(1)){const b=fs.readFileSync(f);\
        console.log([b.length,z.gzipSync(b,{level:9}).length,z.brotliCompressSync(b).length].join(' '))}";
    let dist = places.dist();
    let mut files = vec![("shell wasm", dist.join("shell_bg.wasm"), Some(SHELL_BUDGET))];
    files.push(("shell glue", dist.join("shell.js"), None));
    for (name, _) in build::LLM_MODULES {
        files.push(("model module", dist.join("llm").join(format!("{name}.wasm")), None));
    }
    files.retain(|(_, file, _)| file.is_file());
    let out = proc::run_quiet(Command::new("node").args(["-e", script]).args(files.iter().map(|(_, f, _)| f)))?;
    for ((title, file, budget), line) in files.iter().zip(out.lines()) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for (how, bytes) in ["raw", "gzip", "brotli"].iter().zip(line.split(' ')) {
            let value: f64 = bytes.parse().context("a size is a number")?;
            let mut figure = serde_json::json!({"name": format!("{title} {name}, {how}"), "value": value, "unit": "B"});
            if let (Some(budget), "brotli") = (budget, *how) {
                figure["budget"] = serde_json::json!(budget);
            }
            println!("{}", row(&figure));
        }
    }
    Ok(())
}

/// One line of the table.
fn row(figure: &Value) -> String {
    let number = |key: &str| figure[key].as_f64();
    let unit = figure["unit"].as_str().unwrap_or("");
    let show = |value: f64| match unit {
        "B" => format!("{:.1} KiB", value / 1024.0),
        _ => format!("{value:.2} {unit}"),
    };
    let value = number("value").unwrap_or(f64::NAN);
    let budget = number("budget");
    let verdict = match (budget, figure["more_is_better"].as_bool().unwrap_or(false)) {
        (Some(budget), false) if value > budget => "OVER",
        (Some(budget), true) if value < budget => "UNDER",
        (Some(_), _) => "ok",
        (None, _) => "",
    };
    let mut line = format!(
        "{:<38} {:>14} {:>14} {:>8}",
        figure["name"].as_str().unwrap_or("?"),
        show(value),
        budget.map(show).unwrap_or_default(),
        verdict
    );
    if let Some(bound) = number("bound").filter(|bound| *bound > 0.0) {
        line.push_str(&format!("  {:.0} % of {}", 100.0 * value / bound, show(bound)));
    }
    if let Some(note) = figure["note"].as_str() {
        line.push_str("  ");
        line.push_str(note);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_figure_stands_beside_its_budget_and_bound() {
        let over = row(&json!({"name": "key", "value": 5.0, "unit": "ms", "budget": 4.0}));
        assert!(over.contains("5.00 ms") && over.contains("4.00 ms") && over.contains("OVER"), "{over}");
        let decode = row(&json!({"name": "decode", "value": 50, "unit": "tok/s", "budget": 40,
            "more_is_better": true, "bound": 100}));
        assert!(decode.contains(" ok") && decode.contains("50 % of 100.00 tok/s"), "{decode}");
    }
}
