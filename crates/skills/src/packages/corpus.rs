//! Counting what a folder full of packages looks like to us: verdicts and diagnostics over any
//! number of files. Whoever walks the disk holds the clock and prints.

use super::inspect::{Verdict, inspect};
use super::normal::portable_text;
use crate::diagnostic::Code;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Counts over many files.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Files that were read.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// By verdict: portable, readable, unreadable.
    pub verdicts: [usize; 3],
    /// Files by diagnostic; an unsupported construct counts under its own name.
    pub codes: BTreeMap<String, usize>,
    /// Readable files of which a portable copy can be offered.
    pub copies: usize,
    /// Files in which nothing hides and whose name looks like no other.
    pub clean: usize,
}

impl Tally {
    /// Reads one SKILL.md and counts it.
    pub fn skill(&mut self, folder: &str, bytes: &[u8]) -> Verdict {
        let seen = inspect(folder, bytes, bytes.len() as u64);
        self.files += 1;
        self.bytes += bytes.len() as u64;
        self.verdicts[seen.verdict as usize] += 1;
        self.clean += usize::from(seen.is_clean());
        let codes: BTreeSet<String> = seen.diagnostics.iter().map(|d| label(d.code)).collect();
        for code in codes {
            *self.codes.entry(code).or_default() += 1;
        }
        seen.verdict
    }

    /// Tries to make a portable copy of one file and counts it. Apart, because it is not part of
    /// reading.
    pub fn copy(&mut self, folder: &str, bytes: &[u8]) {
        self.copies += usize::from(portable_text(folder, bytes).is_ok());
    }
}

fn label(code: Code) -> String {
    match code {
        Code::YamlUnsupported(feature) => format!("{}: {}", code.name(), feature.words()),
        code => code.name().to_owned(),
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |n: usize| 100.0 * n as f64 / self.files.max(1) as f64;
        writeln!(f, "{} packages, {:.1} MiB", self.files, self.bytes as f64 / 1_048_576.0)?;
        for (name, n) in ["portable", "readable", "unreadable"].iter().zip(self.verdicts) {
            writeln!(f, "  {n:>7}  {:>5.1} %  {name}", share(n))?;
        }
        writeln!(f, "  {:>7}  {:>5.1} %  with a portable copy to offer", self.copies, share(self.copies))?;
        writeln!(f, "  {:>7}  {:>5.1} %  with nothing hidden", self.clean, share(self.clean))?;
        let mut codes: Vec<_> = self.codes.iter().collect();
        codes.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        for (code, n) in codes {
            writeln!(f, "  {n:>7}  {:>5.1} %  {code}", share(*n))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_by_verdict_and_by_what_is_wrong() {
        let mut t = Tally::default();
        let file = |more: &str| format!("---\nname: t\ndescription: Tide times by harbour and day.\n{more}---\nx\n");
        for text in [file(""), file("version: 1\nauthor: x\n"), file("tags: [a]\n"), "no fence\n".to_owned()] {
            let verdict = t.skill("t", text.as_bytes());
            if verdict == Verdict::Readable {
                t.copy("t", text.as_bytes());
            }
        }
        assert_eq!((t.files, t.verdicts, t.copies, t.clean), (4, [1, 2, 1], 2, 4));
        // Two unknown keys of one file count once.
        assert_eq!(t.codes.get("FieldUnknown"), Some(&2));
        let shown = t.to_string();
        assert!(shown.contains("FrontmatterMissing") && shown.contains(" 25.0 %  portable"), "{shown}");
    }
}
