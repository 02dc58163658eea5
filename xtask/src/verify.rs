//! `cargo xtask verify`: what is checked at full size, beside the tenth of it in `test`.
//!
//! Each check is an example of the crate that it is about: it prints its figures and ends badly
//! when something does not hold or was not reached.

use std::process::Command;

use anyhow::{Result, bail};

use crate::places::Places;
use crate::proc;
use crate::report::step;

/// All checks: the crate and its example.
const CHECKS: [(&str, &str); 1] = [("agent-runtime", "model_check")];

/// Runs the checks whose names contain one of `names`, or all.
pub fn run(places: &Places, names: &[String]) -> Result<()> {
    let mut failed = Vec::new();
    let picked = pick(names)?;
    for (package, example) in &picked {
        step(&format!("build {package}/{example}"), || {
            let mut command = proc::cargo(places);
            command.args(["build", "--quiet", "--release", "--package", package, "--example", example]);
            proc::run(&mut command).map(|()| ((), "compiled".into()))
        })?;
        println!("{package}/{example}");
        if let Err(error) = proc::run(&mut Command::new(places.target.join("release/examples").join(example))) {
            println!("{error:#}");
            failed.push(*example);
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("not verified: {}", failed.join(", ")) }
}

fn pick(names: &[String]) -> Result<Vec<(&'static str, &'static str)>> {
    let wanted = |example: &str| names.is_empty() || names.iter().any(|n| example.contains(n.as_str()));
    let picked: Vec<_> = CHECKS.into_iter().filter(|(_, example)| wanted(example)).collect();
    if picked.is_empty() {
        bail!("there is no check {names:?}; the checks are {}", CHECKS.map(|(_, example)| example).join(", "));
    }
    Ok(picked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_picked_by_a_part_of_its_name_and_an_unknown_one_is_refused_with_the_list() {
        assert_eq!(pick(&[]).unwrap().len(), CHECKS.len());
        assert_eq!(pick(&["model".into()]).unwrap(), [("agent-runtime", "model_check")]);
        let error = pick(&["modal".into()]).unwrap_err().to_string();
        assert!(error.contains("modal") && error.contains("model_check"), "{error}");
    }

    #[test]
    fn every_check_is_an_example_of_its_crate() {
        let places = Places::find().unwrap();
        for (package, example) in CHECKS {
            assert!(places.root.join(format!("crates/{package}/examples/{example}.rs")).is_file(), "{example}");
        }
    }
}
