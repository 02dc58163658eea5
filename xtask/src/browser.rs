//! The browser that the tests drive, and its driver.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::proc;
use crate::report::step;

/// What the tests need on Debian and its relatives: the browser, its driver, and fonts for the
/// scripts that the bundled ones lack.
const DEBIAN: [&str; 5] =
    ["chromium", "chromium-driver", "fonts-noto-core", "fonts-noto-cjk", "fonts-noto-color-emoji"];
/// How to get them elsewhere.
pub const HOW: &str = "install Chromium or Chrome with its chromedriver and name them in CHROME and CHROMEDRIVER \
                       (Debian: apt-get install chromium chromium-driver fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji)";

/// Both programs.
#[derive(Debug, Clone)]
pub struct Browser {
    /// Chromium or Chrome.
    pub chrome: PathBuf,
    /// Its WebDriver server, for `wasm-bindgen-test`.
    pub driver: PathBuf,
}

/// What is there without installing anything.
pub fn find() -> Option<Browser> {
    let named = |var: &str| std::env::var_os(var).filter(|v| !v.is_empty()).map(PathBuf::from);
    let chrome = named("CHROME").or_else(|| {
        ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].into_iter().find_map(proc::which)
    })?;
    let driver = named("CHROMEDRIVER").or_else(|| proc::which("chromedriver"))?;
    Some(Browser { chrome, driver })
}

/// Finds the browser, or installs it where `apt-get` exists.
pub fn ensure() -> Result<Browser> {
    step("browser", || {
        let chosen = std::env::var_os("CHROME").is_some();
        // The fonts matter as much as the browser: without them fallback glyphs are boxes.
        if let Some(browser) = find().filter(|_| chosen || !can_apt() || debian_packages_present()) {
            return Ok((browser, "present".into()));
        }
        if !can_apt() {
            bail!("there is no browser to test with: {HOW}");
        }
        println!("apt-get install");
        apt(&["update", "--quiet"])?;
        let mut args = vec!["install", "--yes", "--quiet", "--no-install-recommends"];
        args.extend(DEBIAN);
        apt(&args).with_context(|| format!("the browser could not be installed; {HOW}"))?;
        let browser = find().with_context(|| format!("apt-get installed no browser that can be found; {HOW}"))?;
        Ok((browser, "  installed".into()))
    })
}

fn can_apt() -> bool {
    proc::which("apt-get").is_some() && (is_root() || proc::which("sudo").is_some())
}

fn is_root() -> bool {
    proc::run_quiet(Command::new("id").arg("-u")).is_ok_and(|out| out.trim() == "0")
}

fn debian_packages_present() -> bool {
    let mut command = Command::new("dpkg-query");
    command.args(["--show", "--showformat", "${db:Status-Abbrev}\n"]).args(DEBIAN);
    proc::run_quiet(&mut command).is_ok_and(|out| out.lines().filter(|l| l.starts_with("ii")).count() == DEBIAN.len())
}

fn apt(args: &[&str]) -> Result<()> {
    let mut command = if is_root() {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["--non-interactive", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive").args(args);
    proc::run_quiet(&mut command).map(|_| ())
}
