//! One file at a time: the field's faults of SKILL.md, the refusals of a file, the lenient reader.

use super::super::Verdict;
use super::super::bounds::*;
use super::{codes, file, with};
use crate::diagnostic::Severity;

const TIDE: &str = "---\nname: tide-table\ndescription: Look up harbour tide times. Use when asked about tides.\n---\nAsk for the harbour.\n";

#[test]
fn field_1h1_byte_order_mark_and_line_ends_read_alike() {
    let crlf = TIDE.replace('\n', "\r\n");
    let lf = file("tide-table", TIDE);
    assert_eq!(lf.verdict, Verdict::Portable);
    for text in [crlf.clone(), format!("\u{feff}{TIDE}"), format!("\u{feff}{crlf}")] {
        let seen = file("tide-table", &text);
        assert_eq!((seen.verdict, &seen.manifest), (lf.verdict, &lf.manifest), "{text:?}");
        assert_eq!(text[seen.body.clone()].trim_end(), "Ask for the harbour.");
        assert_eq!(seen.diagnostics, lf.diagnostics);
        assert_ne!(seen.digest, lf.digest); // over the raw bytes
    }
    // Only one mark is dropped, and one inside the body stays as data and is shown.
    assert_eq!(file("tide-table", format!("\u{feff}\u{feff}{TIDE}")).verdict, Verdict::Unreadable);
    let inside = TIDE.replace("Ask", "\u{feff}Ask");
    let seen = file("tide-table", &inside);
    assert_eq!((seen.verdict, seen.is_clean()), (Verdict::Portable, false));
    assert!(inside[seen.body].starts_with("\u{feff}Ask"));
}

#[test]
fn field_1h2_block_and_folded_descriptions_are_whole() {
    for (lines, want) in [
        ("description: >-\n  Look up tides\n  for a harbour.\n", "Look up tides for a harbour."),
        ("description: |\n  Look up tides\n  for a harbour.\n", "Look up tides\nfor a harbour."),
        ("description: Look up tides\n  for a harbour.\n", "Look up tides for a harbour."),
    ] {
        let seen = file("t", with(&format!("name: t\n{lines}")));
        assert_eq!(seen.manifest.map(|m| m.description).as_deref(), Some(want));
        assert_eq!(seen.verdict, Verdict::Portable);
    }
}

#[test]
fn field_1h3_a_colon_in_a_value_is_told_with_line_and_column() {
    let seen = file("t", with("name: t\ndescription: Check invoices: find totals that do not add up.\n"));
    assert_eq!(seen.verdict, Verdict::Readable);
    let d = &seen.diagnostics[0];
    assert_eq!(
        (d.to_string().as_str(), d.severity),
        (
            "3:28: there is an unquoted “: ” inside a value (YamlUnsupported). put the whole value in double quotes",
            Severity::NotPortable
        )
    );
    let m = seen.manifest.expect("readable");
    assert_eq!(m.description, "Check invoices: find totals that do not add up.");
}

#[test]
fn field_1h4_lengths_are_code_points_and_the_message_names_them() {
    let of = |d: &str| file("t", with(&format!("name: t\ndescription: {d}\n")));
    assert_eq!(of(&"海".repeat(600)).verdict, Verdict::Portable);
    assert_eq!(of(&format!("{}🌊🌊", "a".repeat(1022))).verdict, Verdict::Portable);
    let long = of(&"a".repeat(1025));
    assert_eq!(long.verdict, Verdict::Readable);
    assert_eq!(long.diagnostics[0].cause, "description has 1025 characters, at most 1024 are allowed");
}

#[test]
fn t151_every_refusal_of_a_file_with_its_place() {
    let big = format!("---\nname: t\ndescription: one {}\n---\nx\n", "x".repeat(FRONTMATTER_MAX));
    let body =
        format!("---\nname: t\ndescription: Tide times by harbour and day.\n---\n{}", "x\n".repeat(BODY_MAX / 2 + 1));
    let d = "description: Tide times by harbour and day.\n";
    for (text, want) in [
        (with(&format!("name: T\n{d}")), ("NameInvalid", 2, 7)),
        (with(&format!("name: other\n{d}")), ("NameFolderMismatch", 2, 7)),
        (with("name: t\ndescription: T\n"), ("DescriptionNotUseful", 3, 14)),
        (with("name: t\ndescription: ''\n"), ("DescriptionNotUseful", 3, 14)),
        (with(&format!("name: t\n{d}version: 1\n")), ("FieldUnknown", 4, 1)),
        (with(&format!("name: t\n{d}metadata: {{a: b}}\n")), ("YamlUnsupported", 4, 11)),
        (big, ("FrontmatterTooLarge", 1, 1)),
        (body, ("BodyTooLarge", 5, 1)),
        (format!("---\nname: t\n{d}---\n \n\t\n"), ("BodyEmpty", 5, 1)),
        (with(&format!("name: t\n{d}license: a\u{202e}b\n")), ("UnicodeMalformed", 4, 11)),
        (with(&format!("name: t\n{d}license: e\u{301}\n")), ("UnicodeMalformed", 4, 10)),
        (with(&format!("name: t\n{d}license: \"\\u202e\"\n")), ("UnicodeMalformed", 4, 10)),
        (with(&format!("name: t\n{d}license: \"\\udc00\"\n")), ("UnicodeMalformed", 4, 10)),
        (with(&format!("name: t\n{d}name: t\n")), ("DuplicateKey", 4, 1)),
        (with(&format!("name: t\n{d}metadata:\n  a: b\n  a: c\n")), ("DuplicateKey", 6, 3)),
        (with(d), ("FieldMissing", 2, 1)),
        (with(&format!("name: t\n{d}license: {}\n", "l".repeat(LICENSE_MAX + 1))), ("FieldInvalid", 4, 10)),
        ("no fence\n".to_owned(), ("FrontmatterMissing", 1, 1)),
    ] {
        let seen = file("t", &text);
        assert_ne!(seen.verdict, Verdict::Portable, "{want:?}");
        assert!(codes(&seen).contains(&want), "{want:?} in {:?}", seen.diagnostics);
        assert!(seen.diagnostics.iter().all(|d| !d.cause.is_empty() && !d.fix.is_empty()));
    }
}

#[test]
fn i177_every_cap_of_a_file_holds_at_its_bound() {
    let meta = |keys: usize, k: usize, v: usize| {
        let lines: String = (0..keys).map(|i| format!("  k{i:0>w$}: {}\n", "v".repeat(v), w = k - 1)).collect();
        with(&format!("name: t\ndescription: Tide times by harbour and day.\nmetadata:\n{lines}"))
    };
    let line = |l: String| with(&format!("name: t\ndescription: Tide times by harbour and day.\n{l}\n"));
    let words = |n: usize| line(format!("allowed-tools: {}", "r ".repeat(n)));
    for (ok, at, over) in [
        ("metadata keys", meta(METADATA_KEYS_MAX, 8, 9), meta(METADATA_KEYS_MAX + 1, 8, 9)),
        ("metadata key", meta(1, METADATA_KEY_MAX, 9), meta(1, METADATA_KEY_MAX + 1, 9)),
        ("metadata value", meta(1, 8, METADATA_VALUE_MAX), meta(1, 8, METADATA_VALUE_MAX + 1)),
        ("tool hints", words(TOOL_HINTS_MAX), words(TOOL_HINTS_MAX + 1)),
        (
            "license",
            line(format!("license: {}", "é".repeat(LICENSE_MAX))),
            line(format!("license: {}", "é".repeat(LICENSE_MAX + 1))),
        ),
        (
            "compatibility",
            line(format!("compatibility: {}", "é".repeat(COMPATIBILITY_MAX))),
            line(format!("compatibility: {}", "é".repeat(COMPATIBILITY_MAX + 1))),
        ),
        (
            "body",
            with("name: t\ndescription: Tide times by harbour and day.\n")
                .replace("Read the table.\n", &"b".repeat(BODY_MAX)),
            with("name: t\ndescription: Tide times by harbour and day.\n")
                .replace("Read the table.\n", &"b".repeat(BODY_MAX + 1)),
        ),
    ] {
        assert_eq!(file("t", &at).verdict, Verdict::Portable, "{ok}: {:?}", file("t", &at).diagnostics);
        assert_eq!(file("t", &over).verdict, Verdict::Readable, "{ok}");
    }
    let name = |n: usize| {
        let name = "n".repeat(n);
        file(&name, with(&format!("name: {name}\ndescription: Tide times by harbour and day.\n"))).verdict
    };
    assert_eq!((name(NAME_MAX), name(NAME_MAX + 1)), (Verdict::Portable, Verdict::Readable));
    // A key a line, many more than are kept: the list is bounded, the count is not.
    let many: String = (0..500).map(|i| format!("key{i}: x\n")).collect();
    let seen = file("t", line(many));
    assert_eq!((seen.diagnostics.len(), seen.diagnostics_total), (DIAGNOSTICS_MAX, 500));
}

#[test]
fn a_file_over_its_cap_is_listed_and_never_whole() {
    let text = with("name: t\ndescription: Tide times by harbour and day.\n") + &"é".repeat(FILE_MAX);
    let seen = super::super::inspect("t", &text.as_bytes()[..FILE_MAX], text.len() as u64);
    assert_eq!((seen.verdict, seen.whole), (Verdict::Readable, false));
    // Told once, with the size of the file and not of what was read of it.
    let large: Vec<_> = seen.diagnostics.iter().filter(|d| d.code.name() == "BodyTooLarge").collect();
    assert!(large.len() == 1 && large[0].cause.contains("131"), "{:?}", seen.diagnostics);
    assert_eq!(file("t", &text).verdict, Verdict::Readable);
}

#[test]
fn what_hides_is_shown_and_never_clean() {
    for (body, kind) in [
        ("Pay\u{200b}ments", "U+200B"),
        ("a \u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065} b", "they spell “ignore”"),
        ("x \u{202e}y", "U+202E"),
        ("x\u{1b}[8m", "U+001B"),
    ] {
        let seen = file("t", with("name: t\ndescription: Tide times by harbour and day.\n").replace("Read", body));
        assert_eq!((seen.verdict, seen.is_clean()), (Verdict::Portable, false), "{body:?}");
        let d = seen.diagnostics.iter().find(|d| d.code.name() == "HiddenCharacter").expect("told");
        assert!(d.cause.contains(kind), "{d}");
        assert_eq!(d.at.map(|a| a.line), Some(5));
    }
    let seen = file(
        "t",
        with(
            "name: t\ndescription: Tide times 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} 👩\u{200d}🚀.\n",
        ),
    );
    assert!(seen.is_clean(), "{:?}", seen.diagnostics);
    let seen = file("t", with("name: t\ndescription: \"Tide\\u200btimes by harbour and day.\"\n"));
    assert_eq!((seen.verdict, seen.is_clean()), (Verdict::Portable, false));
    let seen = file("раураl", with("name: раураl\ndescription: Tide times by harbour and day.\n"));
    let d = seen.diagnostics.iter().find(|d| d.code.name() == "ConfusableName").expect("told");
    assert!(d.cause.contains("“paypal”") && d.cause.contains("U+0440 at 1"), "{d}");
    let seen = file("t", with("name: t\ndescription: Tide times by harbour and day.\n\u{430}llowed-tools: x\n"));
    assert!(seen.diagnostics[0].cause.contains("looks like “allowed-tools”"), "{:?}", seen.diagnostics);
}

#[test]
fn the_lenient_reader_climbs_the_staircase() {
    let d = "description: Tide times by harbour and day.\n";
    for (what, text) in [
        ("unknown keys", with(&format!("name: t\n{d}version: 1.2\ntags: a\n"))),
        ("flow lists", with(&format!("name: t\n{d}tags: [a, b]\nallowed-tools: [Read, Grep]\n"))),
        ("folder", with(&format!("name: other\n{d}"))),
        ("nested metadata", with(&format!("name: t\n{d}metadata:\n  a:\n    b: c\n"))),
        ("a title as name", with(&format!("name: Tide Table\n{d}"))),
        ("a long description", with(&format!("name: t\ndescription: {}\n", "a b ".repeat(300)))),
        ("colons", with("name: t\ndescription: Tides: times: all\n")),
        ("hints in brackets", with(&format!("name: t\n{d}argument-hint: [harbour] [day]\n"))),
        ("no name", with(d)),
    ] {
        let seen = file("t", &text);
        assert_eq!(seen.verdict, Verdict::Readable, "{what}: {:?}", seen.diagnostics);
        assert!(seen.manifest.is_some_and(|m| m.description.starts_with('T') || what == "a long description"));
    }
    let seen =
        file("t", with(&format!("name: t\n{d}tags: [a, b]\nmetadata:\n  x:\n    y: z\n  l:\n    - 1\n    - 2\n")));
    let m = seen.manifest.expect("readable");
    assert_eq!(m.extra, [("tags".to_owned(), "a, b".to_owned())]);
    assert_eq!((m.meta("x.y"), m.meta("l")), (Some("z"), Some("1, 2")));
}
