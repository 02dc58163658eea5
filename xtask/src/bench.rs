//! `cargo xtask bench`: what the product costs, each figure beside a peer or a budget.
//!
//! A bench is a program that prints one line of JSON per figure, [`Figure`]: a script of
//! `tests/bench/` that drives the finished site in a real browser, or a native example of the crate
//! that it measures. A peer is measured in the same run, because absolute times say more of the
//! machine than of the product. What was not measured is not printed: a bench that ends badly, or
//! says nothing, is named at the end.

mod figure;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::build::{self, Profile};
use crate::places::Places;
use crate::report::step;
use crate::testing::NodeRunner;
use crate::{model, proc};
use figure::Figure;

/// Budget of the compressed shell in KiB, without fonts and model: 1.5 MiB.
const SHELL_BUDGET: f64 = 1536.0;

/// Where figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Files of the finished site.
    Sizes,
    /// A release example of a crate.
    Native { package: &'static str, example: &'static str, model: bool },
    /// A script in `tests/bench/` with the finished site and a browser.
    Page(&'static str),
}

/// All benches, in the order of the table of budgets.
const BENCHES: [(&str, &[Source]); 8] = [
    ("size", &[Source::Sizes]),
    ("start", &[Source::Page("start.mjs")]),
    ("typing", &[Source::Page("typing.mjs")]),
    ("idle", &[Source::Page("idle.mjs")]),
    ("palette", &[Source::Native { package: "kernel", example: "palette", model: false }]),
    (
        "skills",
        &[
            Source::Native { package: "skills", example: "discovery", model: false },
            Source::Native { package: "skills", example: "activation", model: false },
            Source::Native { package: "kernel", example: "registration", model: false },
        ],
    ),
    ("router", &[Source::Native { package: "kernel", example: "router", model: false }]),
    ("llm", &[Source::Native { package: "llm", example: "bench", model: true }, Source::Page("llm.mjs")]),
];

/// Runs the named benches, or all, and prints one row per figure.
pub fn run(places: &Places, names: &[String]) -> Result<()> {
    let picked = pick(names)?;
    let sources = || picked.iter().flat_map(|(_, sources)| sources.iter());
    if sources().any(|s| !matches!(s, Source::Native { .. })) {
        build::site(places, Profile::Release)?;
    }
    for source in sources() {
        if let Source::Native { package, example, .. } = source {
            step(&format!("bench {package}/{example}"), || {
                let mut command = proc::cargo(places);
                command.args(["build", "--quiet", "--release", "--package", package, "--example", example]);
                proc::run(&mut command).map(|()| ((), "compiled".into()))
            })?;
        }
    }
    println!("\n{}", figure::HEAD);
    let mut missing = Vec::new();
    for (name, sources) in picked {
        for source in sources {
            if let Err(error) = measure(places, *source) {
                println!("{name}: {error:#}");
                missing.push(name);
            }
        }
    }
    if !missing.is_empty() {
        bail!("not measured: {}", missing.join(", "));
    }
    Ok(())
}

fn pick(names: &[String]) -> Result<Vec<(&'static str, &'static [Source])>> {
    if let Some(name) = names.iter().find(|name| !BENCHES.iter().any(|(known, _)| known == name)) {
        bail!("there is no bench {name:?}; the benches are {}", BENCHES.map(|(known, _)| known).join(", "));
    }
    Ok(BENCHES.into_iter().filter(|(known, _)| names.is_empty() || names.iter().any(|n| n == known)).collect())
}

fn measure(places: &Places, source: Source) -> Result<()> {
    match source {
        Source::Sizes => sizes(places),
        Source::Native { example, model, .. } => {
            let mut command = Command::new(places.target.join("release/examples").join(example));
            if model {
                command.arg(model::ensure(places)?);
            }
            rows(&mut command)
        }
        Source::Page(script) => {
            let mut runner = NodeRunner::start(places)?;
            rows(runner.command.arg(Path::new("tests/bench").join(script)))
        }
    }
}

/// Runs a bench and prints a row for each of its figures, its other lines as they are.
fn rows(command: &mut Command) -> Result<()> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("it cannot be started")?;
    let mut count = 0;
    let mut refused = None;
    for line in BufReader::new(child.stdout.take().context("the pipe that was just asked for")?).lines() {
        let line = line?;
        if line.starts_with('{') {
            match Figure::read(&line) {
                Ok(figure) => {
                    count += 1;
                    println!("{figure}");
                }
                Err(error) => refused = Some(error),
            }
        } else {
            println!("  {}", line.trim());
        }
    }
    let status = child.wait()?;
    if let Some(error) = refused {
        return Err(error);
    }
    if !status.success() || count == 0 {
        bail!("{count} figures, ended with {status}");
    }
    Ok(())
}

/// Raw, gzip and brotli sizes; Node has both compressors.
fn sizes(places: &Places) -> Result<()> {
    let script = "const fs=require('fs'),z=require('zlib');\
        for(const f of process.argv.slice(1)){const b=fs.readFileSync(f);\
        console.log([b.length,z.gzipSync(b,{level:9}).length,z.brotliCompressSync(b).length].join(' '))}";
    let dist = places.dist();
    let mut files = vec![("shell wasm".to_owned(), dist.join("shell_bg.wasm"), Some(SHELL_BUDGET))];
    files.push(("shell glue".to_owned(), dist.join("shell.js"), None));
    for (name, _) in build::LLM_MODULES {
        files.push((format!("model module, {name}"), dist.join("llm").join(format!("{name}.wasm")), None));
    }
    let out = proc::run_quiet(Command::new("node").args(["-e", script]).args(files.iter().map(|(_, f, _)| f)))?;
    for ((title, _, budget), line) in files.iter().zip(out.lines()) {
        let mut raw = None;
        for (how, bytes) in ["raw", "gzip", "brotli"].iter().zip(line.split(' ')) {
            let value = bytes.parse::<f64>().context("a size is a number")? / 1024.0;
            let mut figure = Figure::new(&format!("{title}, {how}"), value, "KiB");
            figure.budget = budget.filter(|_| *how == "brotli");
            figure.peer = raw.map(|raw| ("raw".to_owned(), raw));
            raw = raw.or(Some(value));
            println!("{figure}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_is_picked_by_its_name_and_an_unknown_one_is_refused_with_the_list() {
        let names = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        assert_eq!(pick(&[]).unwrap().len(), BENCHES.len());
        let picked = pick(&names(&["router"])).unwrap();
        assert!(matches!(picked[..], [("router", _)]), "{picked:?}");
        let error = pick(&names(&["rooter"])).unwrap_err().to_string();
        assert!(error.contains("rooter") && error.contains("palette, skills, router"), "{error}");
    }

    #[test]
    fn every_script_of_the_folder_is_a_bench() {
        let places = Places::find().unwrap();
        for entry in std::fs::read_dir(places.root.join("tests/bench")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let known = BENCHES.iter().flat_map(|(_, s)| s.iter()).any(|s| matches!(s, Source::Page(p) if *p == name));
            assert!(known || !name.ends_with(".mjs"), "{name} is never run");
        }
    }

    #[test]
    fn a_bench_that_says_nothing_or_ends_badly_is_not_measured() {
        let node = |script: &str| rows(Command::new("node").args(["-e", script]));
        assert!(node("").unwrap_err().to_string().starts_with("0 figures"));
        let one = r#"console.log('{"name":"x","value":1,"unit":"ms"}')"#;
        assert!(node(one).is_ok());
        assert!(node(&format!("{one}; process.exit(3)")).unwrap_err().to_string().starts_with("1 figures"));
        let error = node(r#"console.log('{"name":"x","value":null,"unit":"ms"}')"#).unwrap_err();
        assert!(error.to_string().contains("was not measured"), "{error}");
    }
}
