//! `cargo xtask test`: named steps in order, every failure with its step and its picture.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::build::{self, Profile};
use crate::places::{Places, ensure_dir};
use crate::server::{Server, Site};
use crate::setup::{self, WASM};
use crate::{browser, model, proc, tidy};

/// Crates that compile for the browser only.
pub const BROWSER_CRATES: [&str; 2] = ["shell", "compositor"];
/// A single end-to-end test may take this long: software rendering on two busy cores is slow.
const E2E_TIMEOUT_MS: &str = "1200000";

/// What to run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Native steps only.
    pub fast: bool,
    /// One step by its name.
    pub only: Option<String>,
    /// Parts of end-to-end file names; empty means all.
    pub names: Vec<String>,
    /// Rewrite snapshots instead of comparing.
    pub update: bool,
}

/// What a step counted.
#[derive(Debug, Default, Clone)]
pub struct Counts {
    /// Tests or checks that held.
    pub passed: usize,
    /// Those that did not.
    pub failed: usize,
    /// Pictures that failing tests left.
    pub pictures: Vec<String>,
}

impl Counts {
    /// Adds what a line of a test runner's output says: libtest's and wasm-bindgen's
    /// `test result:` lines, Node's `ℹ pass`, `ℹ fail` and `ℹ cancelled`, our `picture:`.
    fn read(&mut self, line: &str) {
        if let Some(rest) = line.trim_start().strip_prefix("test result: ") {
            for part in rest.split([';', '.']) {
                let mut words = part.split_ascii_whitespace();
                let count = words.next().and_then(|n| n.parse::<usize>().ok());
                match (count, words.next()) {
                    (Some(n), Some("passed")) => self.passed += n,
                    (Some(n), Some("failed")) => self.failed += n,
                    _ => {}
                }
            }
        } else if let Some(rest) = line.strip_prefix("ℹ ") {
            match rest.split_once(' ').map(|(word, n)| (word, n.parse::<usize>())) {
                Some(("pass", Ok(n))) => self.passed += n,
                Some(("fail" | "cancelled", Ok(n))) => self.failed += n,
                _ => {}
            }
        } else if let Some((_, path)) = line.split_once("picture: ") {
            self.pictures.push(path.trim().to_owned());
        }
    }

    /// A runner that ended badly without naming a failed test failed itself.
    fn close(&mut self, succeeded: bool) {
        if !succeeded && self.failed == 0 {
            self.failed = 1;
        }
    }

    fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

type Step = fn(&Places, &Plan) -> Result<Counts>;
const STEPS: [(&str, Step); 4] = [("tidy", tidy_step), ("native", native), ("wasm", wasm), ("e2e", e2e)];

/// Runs the plan; an error when anything failed.
pub fn run(places: &Places, plan: &Plan) -> Result<()> {
    let mut only = plan.only.as_deref();
    if !plan.names.is_empty() && only.is_none() {
        only = Some("e2e"); // names name end-to-end files
    }
    if let Some(name) = only
        && !STEPS.iter().any(|(step, _)| *step == name)
    {
        bail!("there is no step {name:?}; the steps are {}", STEPS.map(|(step, _)| step).join(", "));
    }
    let mut total = Counts::default();
    let mut broken: Vec<(&str, Counts)> = Vec::new();
    for (name, step) in STEPS {
        let skip = match only {
            Some(only) => only != name,
            None => (plan.fast && matches!(name, "wasm" | "e2e")) || (plan.update && matches!(name, "tidy" | "wasm")),
        };
        if skip {
            continue;
        }
        println!("\n== {name}");
        let counts = step(places, plan).unwrap_or_else(|error| {
            println!("{error:#}");
            Counts { failed: 1, ..Counts::default() }
        });
        total.add(&counts);
        if counts.failed > 0 {
            broken.push((name, counts));
        }
    }
    println!();
    for (name, counts) in &broken {
        println!("the step {name} failed ({}); alone: cargo xtask test --only {name}", counts.failed);
        for picture in &counts.pictures {
            println!("  picture: {picture}");
        }
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    if !broken.is_empty() {
        std::process::exit(1);
    }
    Ok(())
}

fn tidy_step(places: &Places, plan: &Plan) -> Result<Counts> {
    tidy::check(places, plan.fast)
}

fn native(places: &Places, plan: &Plan) -> Result<Counts> {
    // Text is measured with the bundled fonts, and the model's own tests read the model.
    fonts(places)?;
    let stored = places.model().join(model::GGUF.name);
    let model = if plan.fast { model::is_verified(&stored).then_some(stored) } else { Some(model::ensure(places)?) };
    let mut command = proc::cargo(places);
    command.args(["test", "--workspace", "--no-fail-fast"]);
    for name in BROWSER_CRATES {
        command.args(["--exclude", name]);
    }
    match model {
        Some(file) => command.env("WEBGPU_OS_MODEL", file),
        None => {
            println!("without the model's own tests: `cargo xtask setup` fetches the model");
            command.env("WEBGPU_OS_NO_MODEL", "1")
        }
    };
    if plan.update {
        command.env("INSTA_UPDATE", "always").env("UPDATE", "1");
    }
    counted(&mut command)
}

/// The bundled fonts, which tests of text and pixels read.
fn fonts(places: &Places) -> Result<()> {
    if !setup::has_fonts(places) {
        let modules = setup::node_modules(places, setup::BUILD_SET)?;
        setup::fonts(places, &modules)?;
    }
    Ok(())
}

/// `wasm-bindgen-test` in headless Chrome, for each crate that has a `webdriver.json`.
fn wasm(places: &Places, _: &Plan) -> Result<Counts> {
    let mut counts = Counts::default();
    let crates = crates_with(places, "webdriver.json")?;
    if crates.is_empty() {
        println!("no crate has browser tests");
        return Ok(counts);
    }
    setup::wasm_target(places)?;
    fonts(places)?;
    let runner = setup::wasm_bindgen(places)?.with_file_name("wasm-bindgen-test-runner");
    let browser = browser::ensure()?;
    for name in crates {
        let mut command = proc::cargo(places);
        command.args(["test", "--package", &name, "--target", WASM, "--no-fail-fast"]);
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", &runner);
        command.env("CHROMEDRIVER", &browser.driver).env("WASM_BINDGEN_TEST_TIMEOUT", "240");
        counts.add(&counted(&mut command)?);
    }
    Ok(counts)
}

fn crates_with(places: &Places, file: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(places.root.join("crates"))? {
        let entry = entry?;
        if entry.path().join(file).is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The end-to-end suite: the finished site, a real browser, trusted input.
fn e2e(places: &Places, plan: &Plan) -> Result<Counts> {
    build::site(places, Profile::Release)?;
    let out = places.root.join("tests/out");
    if out.is_dir() {
        std::fs::remove_dir_all(&out)?;
    }
    let mut runner = NodeRunner::start(places)?;
    let files = scripts(&places.root.join("tests/e2e"), ".test.mjs", &plan.names)?;
    if plan.update {
        runner.env("UPDATE", "1");
    }
    counted(
        runner
            .command
            .args(["--test", "--test-concurrency=1", "--test-reporter=spec", "--test-timeout", E2E_TIMEOUT_MS])
            .args(files),
    )
}

/// Node with everything that `tests/e2e/lib` reads from the environment, and a running server.
pub struct NodeRunner {
    /// `node`, without arguments yet.
    pub command: Command,
}

impl NodeRunner {
    /// Starts the server on a free port. The site must have been built.
    pub fn start(places: &Places) -> Result<Self> {
        let browser = browser::ensure()?;
        let modules = setup::node_modules(places, setup::TEST_SET)?;
        let out = places.root.join("tests/out");
        ensure_dir(&out)?;
        let server = Server::bind(0)?;
        let address = format!("http://127.0.0.1:{}", server.port());
        let site = Site::of(places);
        std::thread::spawn(move || server.run(&site)); // ends with the process
        let mut command = Command::new("node");
        command
            .current_dir(&places.root)
            .env("BASE_URL", address)
            .env("CHROME", browser.chrome)
            .env("TEST_MODULES", modules)
            .env("TEST_OUT", out);
        Ok(Self { command })
    }

    /// Sets one more variable.
    pub fn env(&mut self, name: &str, value: &str) {
        self.command.env(name, value);
    }
}

/// The scripts of a folder whose names end so and hold one of the words, in order.
pub fn scripts(dir: &Path, ending: &str, words: &[String]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(ending) && (words.is_empty() || words.iter().any(|w| name.contains(w.as_str()))) {
            files.push(entry.path());
        }
    }
    if files.is_empty() {
        bail!("no file in {} matches {words:?}", dir.display());
    }
    files.sort();
    Ok(files)
}

fn counted(command: &mut Command) -> Result<Counts> {
    let mut counts = Counts::default();
    let succeeded = proc::run_seen(command, |line| counts.read(line))?;
    counts.close(succeeded);
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_from_each_runner_s_words() {
        let mut counts = Counts::default();
        counts
            .read("test result: FAILED. 12 passed; 1 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.03s");
        counts.read("ℹ pass 7");
        counts.read("ℹ fail 2");
        counts.read("ℹ cancelled 1");
        counts.read("ℹ duration_ms 88");
        counts.read("# picture: tests/out/x.png");
        counts.read("a line that says 5 passed");
        assert_eq!((counts.passed, counts.failed), (19, 4));
        assert_eq!(counts.pictures, ["tests/out/x.png"]);
    }

    #[test]
    fn a_runner_that_dies_without_a_word_counts_as_a_failure() {
        let mut counts = Counts::default();
        counts.close(false);
        assert_eq!(counts.failed, 1);
        counts.close(false);
        assert_eq!(counts.failed, 1);
    }
}
