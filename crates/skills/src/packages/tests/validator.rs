//! What the public reference validator says of a file, and what we say (issue: agree, or name the
//! decision that differs or the validator's fault). Its verdicts are those measured for
//! spec/skills.md §1.1; files and words are ours.

use super::super::Verdict;
use super::{file, with};

/// The validator's verdict.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Theirs {
    Accept,
    Reject,
    Crash,
}
use Theirs::{Accept, Crash, Reject};

/// One row: what, folder, file, the validator, our PORTABLE, and why we differ.
struct Row {
    what: &'static str,
    folder: &'static str,
    bytes: Vec<u8>,
    theirs: Theirs,
    portable: bool,
    because: &'static str,
}

const D9: &str = "decision 9: one leading U+FEFF is dropped by every reader";
const D11: &str = "decision 11: portable names are ASCII";
const D15: &str = "decision 15 and engine.md §2.5: one nested map of texts, a list only for allowed-tools";
const CUT: &str = "validator's fault: it cuts at three dashes inside a value; a fence is a whole line";
const BODY: &str = "engine.md §2.5: a body of at least one byte";

/// name, folder, accepted by the validator, portable, why.
const NAMES: [(&str, &str, Theirs, bool, &str); 34] = [
    ("tide-table", "tide-table", Accept, true, ""),
    ("技能", "技能", Accept, false, D11),
    ("навык", "навык", Accept, false, D11),
    ("мой-навык", "мой-навык", Accept, false, D11),
    ("cafe\u{301}", "café", Accept, false, D11),
    ("MySkill", "MySkill", Reject, false, ""),
    ("НАВЫК", "НАВЫК", Reject, false, ""),
    ("-my-skill", "-my-skill", Reject, false, ""),
    ("my-skill-", "my-skill-", Reject, false, ""),
    ("my--skill", "my--skill", Reject, false, ""),
    ("my_skill", "my_skill", Reject, false, ""),
    ("correct-name", "wrong-name", Reject, false, ""),
    ("123", "123", Accept, true, ""),
    ("true", "true", Accept, true, ""),
    ("ａｂｃ", "ａｂｃ", Accept, false, D11),
    ("ﬁle", "ﬁle", Accept, false, D11),
    ("x²", "x²", Accept, false, D11),
    ("ⅷ", "ⅷ", Accept, false, D11),
    ("straße", "straße", Accept, false, D11),
    ("مهارة", "مهارة", Accept, false, D11),
    ("x٣", "x٣", Accept, false, D11),
    ("раураl", "раураl", Accept, false, D11),
    ("हिन्दी", "हिन्दी", Reject, false, ""),
    ("ที่", "ที่", Reject, false, ""),
    ("tide-🌊", "tide-🌊", Reject, false, ""),
    ("a\u{200d}b", "a\u{200d}b", Reject, false, ""),
    ("i\u{307}x", "i\u{307}x", Reject, false, ""),
    ("a–b", "a–b", Reject, false, ""),
    ("a.b", "a.b", Reject, false, ""),
    ("a b", "a b", Reject, false, ""),
    ("\"a:b\"", "a:b", Reject, false, ""),
    ("~", "~", Reject, false, ""),
    ("anthropic-helper", "anthropic-helper", Accept, true, ""),
    ("\" tide \"", "tide", Accept, false, "engine.md §2.5: the name is 1 to 64 of a-z 0-9 -, blanks are no part of it"),
];

/// Lines after `name: t`, accepted by the validator, portable, why.
const LINES: [(&str, Theirs, bool, &str); 51] = [
    ("description: Tide times.\n", Accept, true, ""),
    ("description: Tide times.\nlicense: MIT\n", Accept, true, ""),
    ("description: Tide times.\nmetadata:\n  author: harbour\n  version: 1.0\n", Accept, true, ""),
    ("description: Tide times.\nallowed-tools: Bash(jq:*) Bash(git:*)\n", Accept, true, ""),
    ("description: Tide times.\ncompatibility: needs a network\n", Accept, true, ""),
    ("description: Tide times.\nunknown_field: x\n", Reject, false, ""),
    ("description: Tide times.\nargument-hint: <harbour>\n", Reject, false, ""),
    ("description: Tide times.\nversion: 1.0\n", Reject, false, ""),
    ("description: Tide times.\nuser-invocable: true\n", Reject, false, ""),
    ("", Reject, false, ""),
    ("description:\n", Reject, false, ""),
    ("description: \"   \"\n", Reject, false, ""),
    ("description: one --- two\n", Accept, true, ""),
    ("description: |\n  one\n  ---\n  two\n", Accept, true, CUT),
    ("description: one # two\n", Accept, true, ""),
    ("description: a: b\n", Reject, false, ""),
    ("description: see http://tides.example/x\n", Accept, true, ""),
    ("description: 'a: b'\n", Accept, true, ""),
    ("description: \"a: b\"\n", Accept, true, ""),
    ("description: |\n  one\n  two\n", Accept, true, ""),
    ("description: >\n  one\n  two\n", Accept, true, ""),
    ("description: >-\n  one\n  two\n", Accept, true, ""),
    ("description: one\n  two\n", Accept, true, ""),
    ("# a comment\ndescription: one\n", Accept, true, ""),
    ("description:\tone\n", Reject, false, ""),
    ("description: one\nmetadata:\n\tauthor: x\n", Reject, false, ""),
    ("description: one\nallowed-tools: [Read, Grep]\n", Reject, false, ""),
    ("description: one\nmetadata: {a: b}\n", Reject, false, ""),
    ("description: &d one\n", Reject, false, ""),
    ("description: &d one\nlicense: *d\n", Reject, false, ""),
    ("description: !!str one\n", Reject, false, ""),
    ("description: one\ndescription: two\n", Reject, false, ""),
    ("description: one\nallowed-tools:\n  - Read\n  - Grep\n", Accept, true, ""),
    ("description: one\nallowed-tools: Read, Grep\n", Accept, true, ""),
    ("description: one\nmetadata:\n  a:\n    b: c\n", Accept, false, D15),
    ("description: one\nmetadata:\n  a:\n    - b\n", Accept, false, D15),
    ("description: one\nmetadata: text\n", Accept, false, D15),
    ("description: one\nmetadata:\n", Accept, true, ""),
    ("description: one\ncompatibility: \"\"\n", Accept, false, "validator's fault: the format says 1 to 500"),
    ("description: one\ncompatibility:\n  - a\n", Reject, false, ""),
    ("description: one\nlicense:\n  - MIT\n", Accept, false, D15),
    ("description: one\nlicense: 2\n", Accept, true, ""),
    ("description: @one\n", Reject, false, ""),
    ("description: `one`\n", Reject, false, ""),
    ("description: %one\n", Reject, false, ""),
    ("description: [one\n", Reject, false, ""),
    ("description: *one\n", Reject, false, ""),
    ("description: - one\n", Reject, false, ""),
    ("description: <tide>times</tide>\n", Accept, true, ""),
    ("description: made with claude and anthropic tools\n", Accept, true, ""),
    ("[invalid\n", Reject, false, ""),
];

fn rows() -> Vec<Row> {
    let mut rows = vec![];
    for (name, folder, theirs, portable, because) in NAMES {
        let bytes = with(&format!("name: {name}\ndescription: Tide times by harbour.\n")).into_bytes();
        rows.push(Row { what: name, folder, bytes, theirs, portable, because });
    }
    for (lines, theirs, portable, because) in LINES {
        let bytes = with(&format!("name: t\n{lines}")).into_bytes();
        rows.push(Row { what: lines, folder: "t", bytes, theirs, portable, because });
    }
    let mut whole = |what, bytes: &[u8], theirs, portable, because| {
        rows.push(Row { what, folder: "t", bytes: bytes.to_vec(), theirs, portable, because });
    };
    whole("no frontmatter", b"Read the table.\n", Reject, false, "");
    whole("unclosed", b"---\nname: t\ndescription: one\n", Reject, false, "");
    whole("a list", b"---\n- name\n- description\n---\nx\n", Reject, false, "");
    whole("no name", b"---\ndescription: one\n---\nx\n", Reject, false, "");
    whole("BOM", "\u{feff}---\nname: t\ndescription: one\n---\nx\n".as_bytes(), Reject, true, D9);
    whole("blank line first", b"\n---\nname: t\ndescription: one\n---\nx\n", Reject, false, "");
    whole("space first", b" ---\nname: t\ndescription: one\n---\nx\n", Reject, false, "");
    whole("dots close", b"---\nname: t\ndescription: one\n...\nx\n", Reject, false, "");
    whole("four dashes", b"----\nname: t\ndescription: one\n---\nx\n", Reject, false, "");
    whole("CRLF", b"---\r\nname: t\r\ndescription: one\r\n---\r\nx\r\n", Accept, true, "");
    let cr = "decision 9 and engine.md §2.5: LF or CRLF";
    whole("CR only", b"---\rname: t\rdescription: one\r---\rx\r", Accept, false, cr);
    whole("blanks after the closer", b"---\nname: t\ndescription: one\n---  \nx\n", Accept, true, "");
    whole("closer at the end", b"---\nname: t\ndescription: one\n---", Accept, false, BODY);
    whole("empty body", b"---\nname: t\ndescription: one\n---\n", Accept, false, BODY);
    let nul = "engine.md §2.5: UTF-8 without NUL";
    whole("NUL in the body", b"---\nname: t\ndescription: one\n---\nx\0y\n", Accept, false, nul);
    whole("keys indented", b"---\n  name: t\n  description: one\n---\nx\n", Accept, true, "");
    let crash = "validator's fault: it crashes on bytes that are not UTF-8";
    whole("invalid UTF-8", b"---\nname: t\ndescription: \xff\n---\nx\n", Crash, false, crash);
    let n = |c: &str, n| with(&format!("name: t\ndescription: {}\n", c.repeat(n))).into_bytes();
    whole("1,024 ideographs", &n("海", 1024), Accept, true, "");
    whole("1,025 letters", &n("a", 1025), Reject, false, "");
    whole("1,025 ideographs", &n("海", 1025), Reject, false, "");
    whole("description of 1,100", &n("a", 1100), Reject, false, "");
    let c = with(&format!("name: t\ndescription: one\ncompatibility: {}\n", "c".repeat(550)));
    whole("compatibility of 550", c.as_bytes(), Reject, false, "");
    let long: &'static str = "seventy-characters-seventy-characters-seventy-characters-seventy-chara";
    rows.push(Row {
        what: "a name of 70",
        folder: long,
        bytes: with(&format!("name: {long}\ndescription: one\n")).into_bytes(),
        theirs: Reject,
        portable: false,
        because: "",
    });
    rows
}

#[test]
fn portable_agrees_with_the_reference_validator_or_says_why_not() {
    let rows = rows();
    assert!(rows.len() > 100, "{}", rows.len());
    for row in &rows {
        let seen = file(row.folder, &row.bytes);
        assert_eq!(seen.verdict == Verdict::Portable, row.portable, "{}: {:?}", row.what, seen.diagnostics);
        let same = row.theirs == if row.portable { Accept } else { Reject };
        // Where the validator accepts and loses text we agree in the verdict and differ in the text.
        assert!(same || !row.because.is_empty(), "{} differs without a reason", row.what);
        assert!(row.portable || !seen.diagnostics.is_empty(), "{}", row.what);
    }
}

#[test]
fn what_the_validator_cuts_off_is_kept() {
    for (lines, want) in
        [("description: one --- two\n", "one --- two"), ("description: |\n  one\n  ---\n  two\n", "one\n---\ntwo")]
    {
        let seen = file("t", with(&format!("name: t\n{lines}")));
        assert_eq!(seen.manifest.map(|m| m.description).as_deref(), Some(want));
    }
    // After “ #” YAML itself ends the value; that is said and not silent.
    let seen = file("t", with("name: t\ndescription: one # two\n"));
    assert!(seen.diagnostics.iter().any(|d| d.code.name() == "TextAfterHash"), "{:?}", seen.diagnostics);
}

#[test]
fn metadata_stays_text() {
    let seen = file("t", with("name: t\ndescription: one\nmetadata:\n  version: 1.0\n  on: yes\n"));
    let m = seen.manifest.expect("portable");
    assert_eq!((m.meta("version"), m.meta("on"), m.version()), (Some("1.0"), Some("yes"), Some("1.0")));
}
