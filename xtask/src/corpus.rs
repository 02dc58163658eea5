//! `cargo xtask corpus DIR`: reads every skill package and rule file below a folder with the
//! product's own parsers and prints counts. The files are read into memory first, so that the time
//! is that of the parsers; caps of discovery do not apply, caps of a file do. Nothing is kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use instructions::{Dialect, Family, scope};
use skills::engine::{Finding, lint_file};
use skills::packages::corpus::Tally;

use crate::places::Places;
use crate::proc;

/// Links are counted and not followed; deeper folders than this are counted and not entered.
const DEPTH_MAX: usize = 64;

/// What kind of file it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Skill,
    Rule(Family, Dialect),
}

#[derive(Default)]
struct Walk {
    files: Vec<(Kind, PathBuf, Vec<u8>)>,
    links: usize,
    deep: usize,
    unread: usize,
}

/// Reads and prints.
pub fn run(places: &Places, dir: &Path) -> Result<()> {
    if cfg!(debug_assertions) {
        // Times of an unoptimised parser say nothing.
        let dir = dir.canonicalize().with_context(|| format!("{}", dir.display()))?;
        let args = ["run", "--quiet", "--release", "--package", "xtask", "--", "corpus"];
        return proc::run(proc::cargo(places).args(args).arg(dir));
    }
    let mut walk = Walk::default();
    walk.enter(dir, 0).with_context(|| format!("{}", dir.display()))?;
    walk.files.sort_by(|a, b| a.1.cmp(&b.1));
    let (mut tally, mut rules) = (Tally::default(), BTreeMap::<String, usize>::new());
    let mut slowest: Option<(Duration, &Path)> = None;
    let mut spent = [Duration::ZERO; 2];
    for (kind, path, bytes) in &walk.files {
        let begun = Instant::now();
        match kind {
            Kind::Skill => {
                tally.skill(&folder_of(path), bytes);
            }
            Kind::Rule(family, dialect) => {
                let label = match std::str::from_utf8(bytes) {
                    Ok(text) => scope_words(&scope::read(*family, *dialect, text).scope),
                    Err(_) => "not UTF-8".to_owned(),
                };
                *rules.entry(format!("{}: {label}", family.title())).or_default() += 1;
            }
        }
        let took = begun.elapsed();
        spent[usize::from(*kind != Kind::Skill)] += took;
        if slowest.is_none_or(|(most, _)| took > most) {
            slowest = Some((took, path));
        }
    }
    for (kind, path, bytes) in &walk.files {
        if *kind == Kind::Skill {
            tally.copy(&folder_of(path), bytes);
        }
    }
    print!("{tally}");
    println!("{} rule files", rules.values().sum::<usize>());
    for (label, n) in &rules {
        println!("  {n:>7}  {label}");
    }
    println!("{} links not followed, {} folders too deep, {} files not readable", walk.links, walk.deep, walk.unread);
    if let Some((took, path)) = slowest {
        println!("slowest: {took:.1?} {}", path.display());
    }
    println!("packages {:.1?}, rules {:.1?}, together {:.1?}", spent[0], spent[1], spent[0] + spent[1]);
    Ok(())
}

/// `cargo xtask skill-lint DIR`: each finding with its place; an error where there is one.
pub fn lint(dir: &Path) -> Result<()> {
    let mut walk = Walk::default();
    walk.enter(dir, 0).with_context(|| format!("{}", dir.display()))?;
    walk.files.sort_by(|a, b| a.1.cmp(&b.1));
    let (mut packages, mut findings) = (0, 0);
    for (_, path, bytes) in walk.files.iter().filter(|(kind, ..)| *kind == Kind::Skill) {
        packages += 1;
        let place = path.display();
        match lint_file(&folder_of(path), bytes) {
            None => {
                findings += 1;
                println!("{place}: it cannot be read; `cargo xtask corpus` and the Skills app say why");
            }
            Some(found) => {
                findings += found.len();
                for Finding { rule, line, cause, fix } in found {
                    let line = line.map_or(String::new(), |n| format!(", line {n} of the body"));
                    println!("{place}{line}: {rule:?}: {cause}; {fix}");
                }
            }
        }
    }
    println!("{packages} packages, {findings} findings");
    if findings > 0 { bail!("the rules have something to say") } else { Ok(()) }
}

fn folder_of(path: &Path) -> String {
    path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
}

/// The kind of scope, without what it says.
fn scope_words(scope: &scope::Scope) -> String {
    match scope {
        scope::Scope::Closed(why) => {
            let text = format!("{why:?}");
            let name = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            format!("closed, {name}")
        }
        other => {
            let text = format!("{other:?}");
            text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase()
        }
    }
}

fn kind_of(path: &Path) -> Option<Kind> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    match name.as_str() {
        "skill.md" => Some(Kind::Skill),
        n if n.ends_with(".mdc") => Some(Kind::Rule(Family::CursorRule, Dialect::Cursor)),
        n if n.ends_with(".instructions.md") => Some(Kind::Rule(Family::CopilotRule, Dialect::Copilot)),
        _ => None,
    }
}

impl Walk {
    fn enter(&mut self, dir: &Path, depth: usize) -> Result<()> {
        if depth > DEPTH_MAX {
            self.deep += 1;
            return Ok(());
        }
        for entry in std::fs::read_dir(dir)? {
            let Ok(entry) = entry else {
                self.unread += 1;
                continue;
            };
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else {
                self.unread += 1;
                continue;
            };
            if kind.is_symlink() {
                self.links += 1;
            } else if kind.is_dir() {
                if self.enter(&path, depth + 1).is_err() {
                    self.unread += 1;
                }
            } else if let Some(kind) = kind_of(&path) {
                match std::fs::read(&path) {
                    Ok(bytes) => self.files.push((kind, path, bytes)),
                    Err(_) => self.unread += 1,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skills_of_the_sample_folder_keep_the_authoring_rules() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/sample");
        lint(&sample).unwrap();
    }

    #[test]
    fn packages_and_rules_are_told_by_their_names() {
        for (name, want) in
            [("a/SKILL.md", true), ("a/skill.MD", true), ("a/MYSKILL.md", false), ("SKILL.md.txt", false)]
        {
            assert_eq!(kind_of(Path::new(name)) == Some(Kind::Skill), want, "{name}");
        }
        assert!(matches!(kind_of(Path::new("x/y.mdc")), Some(Kind::Rule(Family::CursorRule, _))));
        assert!(matches!(kind_of(Path::new("x/y.instructions.md")), Some(Kind::Rule(Family::CopilotRule, _))));
    }
}
