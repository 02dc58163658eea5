//! The house's own commands.
//!
//! One rule explains the rest: a newcomer has Rust, Node and a package manager, and types one
//! command. So every command says what it needs as a list of steps, each step first looks whether
//! its result is already there, and everything that may be shared between checkouts (tools, npm
//! packages, the model file, optimised wasm) lies under one cache folder, keyed by content or
//! version, so that a second run takes seconds and an empty cache is never an error.
#![allow(clippy::print_stdout, reason = "a command-line tool speaks on standard output")]

mod bench;
mod browser;
mod build;
mod corpus;
mod doctor;
mod fetch;
mod model;
mod places;
mod proc;
mod report;
mod server;
mod setup;
mod testing;
mod tidy;
mod verify;

use anyhow::{Result, bail};

const HELP: &str = "\
cargo xtask <command>

  serve [--port N] [--debug]      set up what is missing, build, serve on 127.0.0.1
  setup                           only fetch and check what a build needs
  build [--debug]                 the same without serving: the site lies in dist/
  test [--fast] [--only STEP] [NAME ...]
                                  everything; --fast: tidy and native tests only;
                                  NAMEs pick end-to-end files by part of their name
  bench [NAME ...]                what the product costs, each figure beside a budget or a peer
  verify [NAME ...]               the exhaustive checks at full size; test runs a tenth of each
  corpus DIR                      what all skill packages and rule files below DIR look like to us
  skill-lint DIR                  the authoring rules, over every skill package below DIR
  tidy [--fast]                   the rules of the house: imports, file sizes, formatting, lints
  fixtures [NAME ...]             rewrite snapshots, to be looked at before they are committed
  assets                          fonts, model file and model modules only (trunk's pre-build hook)
  doctor                          what is missing here and how to get it
  install-trunk                   trunk, for people who prefer `trunk serve` (about 10 CPU-minutes)
";

fn main() {
    if let Err(error) = run() {
        eprintln!("xtask: {error:#}");
        std::process::exit(1);
    }
}

fn run() -> Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    if args.is_empty() {
        print!("{HELP}");
        return Ok(());
    }
    let command = args.remove(0);
    let mut args = Args(args);
    let places = places::Places::find()?;
    match command.as_str() {
        "serve" => {
            let port = match args.value("--port")? {
                Some(text) => text.parse().map_err(|_| anyhow::anyhow!("--port wants a number, not {text:?}"))?,
                None => server::DEFAULT_PORT,
            };
            let debug = args.flag("--debug");
            args.done()?;
            // A taken port is worth knowing before the build, not after it.
            let server = server::Server::bind(port)?;
            build::site(&places, profile(debug))?;
            println!("Serving http://127.0.0.1:{}/ (Ctrl+C ends it)", server.port());
            server.run(&server::Site::of(&places))
        }
        "build" => {
            let debug = args.flag("--debug");
            args.done()?;
            build::site(&places, profile(debug))
        }
        "setup" => {
            args.done()?;
            build::set_up(&places).map(|_| ())
        }
        "assets" => {
            args.done()?;
            build::assets(&places)
        }
        "test" => {
            let fast = args.flag("--fast");
            let only = args.value("--only")?;
            let names = args.rest()?;
            testing::run(&places, &testing::Plan { fast, only, names, update: false })
        }
        "fixtures" => {
            let names = args.rest()?;
            testing::run(&places, &testing::Plan { fast: false, only: None, names, update: true })
        }
        "bench" => bench::run(&places, &args.rest()?),
        "verify" => verify::run(&places, &args.rest()?),
        "corpus" => {
            let dirs = args.rest()?;
            let [dir] = &dirs[..] else { bail!("corpus wants one folder") };
            corpus::run(&places, std::path::Path::new(dir))
        }
        "skill-lint" => {
            let dirs = args.rest()?;
            let [dir] = &dirs[..] else { bail!("skill-lint wants one folder") };
            corpus::lint(std::path::Path::new(dir))
        }
        "tidy" => {
            let fast = args.flag("--fast");
            args.done()?;
            tidy::run(&places, fast).map(|_| ())
        }
        "doctor" => {
            args.done()?;
            doctor::run(&places)
        }
        "install-trunk" => {
            args.done()?;
            setup::install_trunk(&places)
        }
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("there is no command {other:?}\n\n{HELP}"),
    }
}

fn profile(debug: bool) -> build::Profile {
    if debug { build::Profile::Debug } else { build::Profile::Release }
}

/// The words after the command. Small enough not to need a crate.
struct Args(Vec<String>);

impl Args {
    fn flag(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|a| a != name);
        self.0.len() != before
    }

    fn value(&mut self, name: &str) -> Result<Option<String>> {
        let Some(at) = self.0.iter().position(|a| a == name) else {
            return Ok(None);
        };
        if at + 1 >= self.0.len() {
            bail!("{name} wants a value");
        }
        self.0.remove(at);
        Ok(Some(self.0.remove(at)))
    }

    fn rest(self) -> Result<Vec<String>> {
        if let Some(flag) = self.0.iter().find(|a| a.starts_with('-') && *a != "--") {
            bail!("{flag} is not known here\n\n{HELP}");
        }
        Ok(self.0.into_iter().filter(|a| a != "--").collect())
    }

    fn done(self) -> Result<()> {
        match self.0.first() {
            Some(word) => bail!("{word} is not known here\n\n{HELP}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> Args {
        Args(words.iter().map(|w| (*w).to_owned()).collect())
    }

    #[test]
    fn flags_and_values_are_taken_out_and_the_rest_stays() {
        let mut a = args(&["--fast", "--only", "e2e", "house"]);
        assert!(a.flag("--fast"));
        assert_eq!(a.value("--only").unwrap().as_deref(), Some("e2e"));
        assert_eq!(a.rest().unwrap(), ["house"]);
    }

    #[test]
    fn an_unknown_flag_is_refused_by_name() {
        let error = args(&["--fats"]).rest().unwrap_err().to_string();
        assert!(error.starts_with("--fats is not known"), "{error}");
        assert!(args(&["--port"]).value("--port").is_err());
    }
}
