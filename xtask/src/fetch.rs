//! Getting one file of a Python package: through pip, which knows the machine's configuration, and
//! where there is no pip, from the index itself with Node's `fetch`, continuing a partial file.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::proc;

/// Downloads a wheel into a folder and returns where it lies. Nothing is checked here.
/// `script` is what Node runs where there is no pip.
pub fn wheel(script: &Path, package: &str, version: &str, file: &str, into: &Path) -> Result<PathBuf> {
    let to = into.join(file);
    let mut said = String::new();
    for (program, first) in [("python3", &["-m", "pip"][..]), ("python", &["-m", "pip"][..]), ("pip3", &[][..])] {
        if proc::which(program).is_none() {
            continue;
        }
        let mut command = Command::new(program);
        command.args(first);
        command.args(["download", "--no-deps", "--only-binary", ":all:", "--dest"]);
        command.arg(into).arg(format!("{package}=={version}"));
        // pip's own progress bar is the progress: only its last words are kept on failure.
        match proc::run(&mut command) {
            Ok(()) if to.is_file() => return Ok(to),
            Ok(()) => said = format!("{program} ended well but left no {file}"),
            Err(error) => said = format!("{error:#}"),
        }
    }
    let Some(node) = proc::which("node") else {
        bail!("neither pip nor Node could fetch {file}: {said}");
    };
    let index = std::env::var("PIP_INDEX_URL")
        .ok()
        .filter(|url| !url.is_empty())
        .unwrap_or_else(|| "https://pypi.org/simple".into());
    proc::run(Command::new(node).arg(script).args([index.as_str(), package, file]).arg(&to))
        .with_context(|| if said.is_empty() { "there is no pip here".to_owned() } else { said })?;
    Ok(to)
}
