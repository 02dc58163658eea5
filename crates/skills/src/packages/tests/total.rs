//! Any bytes at all: the reader never panics, every place is inside the text, every bound holds.

use super::super::bounds::{DIAGNOSTICS_MAX, FINDINGS_MAX};
use super::super::{Verdict, inspect};
use crate::diagnostic::Position;
use proptest::prelude::*;

/// What must hold for any file.
fn holds(folder: &str, bytes: &[u8]) {
    let seen = inspect(folder, bytes, bytes.len() as u64);
    assert!(seen.body.start <= seen.body.end && seen.body.end <= bytes.len());
    assert!(seen.diagnostics.len() <= DIAGNOSTICS_MAX && seen.diagnostics.len() <= seen.diagnostics_total);
    assert!(seen.findings.runs.len() <= FINDINGS_MAX && seen.findings.runs.len() <= seen.findings.total);
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = crate::frontmatter::yaml::lines(text);
    for d in &seen.diagnostics {
        let Position { line, column } = d.at.expect("a file's diagnostics have a place");
        let line = lines.get(line as usize - 1).unwrap_or_else(|| panic!("{d} is outside {text:?}"));
        assert!(column >= 1 && column as usize <= line.chars().count() + 1, "{d} is outside {text:?}");
        assert!(!d.cause.contains('\n') && !d.cause.is_empty() && !d.fix.is_empty());
    }
    assert_eq!(seen.manifest.is_some(), seen.verdict != Verdict::Unreadable);
    if seen.verdict == Verdict::Portable {
        let m = seen.manifest.as_ref().expect("a manifest");
        assert!(m.name == folder && m.extra.is_empty() && super::super::name_fault(&m.name).is_none());
        assert!(!bytes[seen.body.clone()].trim_ascii().is_empty());
    } else {
        assert!(!seen.diagnostics.is_empty());
    }
    assert_eq!(seen, inspect(folder, bytes, bytes.len() as u64));
}

/// Pieces that frontmatter is made of, so that random files get past the first line.
pub(super) const PIECES: [&str; 44] = [
    "---",
    "---\n",
    "\n",
    "\r\n",
    "\r",
    " ",
    "  ",
    "\t",
    "name: t\n",
    "description: ",
    "metadata:\n",
    "allowed-tools:\n",
    "  - a\n",
    "- ",
    "key: ",
    "? ",
    ": ",
    "#",
    " # ",
    "&a ",
    "*a",
    "!t ",
    "<<: ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "|",
    ">-",
    "'",
    "\"",
    "\\u",
    "\\ud800",
    "...",
    "%YAML 1.2\n",
    "é",
    "e\u{301}",
    "\u{feff}",
    "\u{202e}",
    "\u{200d}",
    "🌊",
    "\0",
    "x",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)))]
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        holds("t", &bytes);
    }

    #[test]
    fn any_text_made_of_yaml_is_read_without_a_panic(
        open in any::<bool>(),
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60),
        close in any::<bool>(),
    ) {
        let mut text = String::new();
        if open { text.push_str("---\nname: t\ndescription: Tide times.\n"); }
        text.extend(pieces);
        if close { text.push_str("\n---\nbody\n"); }
        holds("t", text.as_bytes());
    }

    #[test]
    fn one_changed_byte_is_read_without_a_panic(at in 0usize..300, byte in any::<u8>()) {
        let mut bytes = b"---\nname: t\ndescription: >-\n  Tide times\n  by harbour.\nlicense: \"MIT\"\nmetadata:\n  version: '1.0'\n  a: |\n    b\nallowed-tools:\n  - Read\n  - Bash(git log:*)\n---\nRead the table.\n".to_vec();
        let n = bytes.len();
        bytes[at % n] = byte;
        holds("t", &bytes);
    }
}

#[test]
fn the_fuzz_corpus_is_read_without_a_panic() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/frontmatter");
    let mut n = 0;
    for file in std::fs::read_dir(dir).expect("the corpus is there") {
        holds("tide-table", &std::fs::read(file.expect("entry").path()).expect("file"));
        n += 1;
    }
    assert!(n >= 20, "{n}");
}
