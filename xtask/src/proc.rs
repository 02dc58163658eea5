//! Running other programs, with errors that say which one and what it said last.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::places::Places;

/// How many of a failed program's last lines are shown.
const TAIL_LINES: usize = 40;

/// The cargo that runs us, with the target folder all commands share.
pub fn cargo(places: &Places) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(&places.root).env("CARGO_TARGET_DIR", &places.target);
    // What `cargo run` set for xtask itself must not leak into the builds it starts.
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs with the output on the terminal.
pub fn run(command: &mut Command) -> Result<()> {
    let name = describe(command);
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(())
}

/// Runs quietly; on failure the error holds the last lines it wrote.
pub fn run_quiet(command: &mut Command) -> Result<String> {
    let name = describe(command);
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {name}"))?;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let err = String::from_utf8_lossy(&output.stderr);
        bail!("{name} ended with {}\n{}", output.status, tail(&format!("{out}{err}")));
    }
    Ok(out)
}

/// Runs and shows each line of standard output as it comes, also handing it to `see`.
/// Returns whether the program succeeded.
pub fn run_seen(command: &mut Command, mut see: impl FnMut(&str)) -> Result<bool> {
    let name = describe(command);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {name}"))?;
    let stdout = child.stdout.take().context("the pipe that was just asked for")?;
    each_line(stdout, |line| {
        println!("{line}");
        see(line);
    })?;
    Ok(child.wait()?.success())
}

fn each_line(from: impl Read, mut see: impl FnMut(&str)) -> Result<()> {
    let mut reader = BufReader::new(from);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        see(String::from_utf8_lossy(&bytes).trim_end());
    }
}

/// Where a program lies on PATH, if it does.
pub fn which(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|dir| [dir.join(name), dir.join(format!("{name}.exe")), dir.join(format!("{name}.cmd"))])
        .find(|file| file.is_file())
}

/// What `program --version` prints, when it can be run.
pub fn version_of(program: impl AsRef<OsStr>) -> Option<String> {
    run_quiet(Command::new(program).arg("--version")).ok().map(|text| text.trim().to_owned())
}

fn describe(command: &Command) -> String {
    let mut text =
        Path::new(command.get_program()).file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned();
    for arg in command.get_args().take(4) {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    format!("`{text}`")
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_of_a_failure_are_shown() {
        let text: String = (0..100).map(|n| format!("{n}\n")).collect();
        let shown = tail(&text);
        assert!(shown.starts_with("60\n") && shown.ends_with("99"));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(format!("{error:#}").contains("no-such-program-here"));
    }
}
