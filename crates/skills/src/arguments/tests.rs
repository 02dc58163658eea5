//! The rules of the substituter, and that nothing inserted is ever read again.

use proptest::prelude::*;

use super::*;

fn fill(template: &str, line: &str) -> Result<String, ArgumentRefusal> {
    fill_as(template, line, &Dialect::own())
}

fn fill_as(template: &str, line: &str, dialect: &Dialect) -> Result<String, ArgumentRefusal> {
    Template::parse(template, dialect)?.fill(line).map(|f| f.text)
}

fn claude() -> Dialect {
    Dialect { base: IndexBase::Zero, backslash: true, ..Dialect::own() }
}

fn ok(text: &str) -> Result<String, ArgumentRefusal> {
    Ok(text.to_owned())
}

#[test]
fn field_3h5_inserted_text_is_never_read_again() {
    let line = r#"$20 $ARGUMENTS "Port of Leith""#;
    assert_eq!(
        fill("Refund: $ARGUMENTS | first=$1", line),
        ok(r#"Refund: $20 $ARGUMENTS "Port of Leith" | first=$20"#)
    );
    assert_eq!(fill("$3 | $2 | $1", line), ok("Port of Leith | $ARGUMENTS | $20"));
    assert_eq!(
        fill("Refund: $ARGUMENTS | first=$1", "\"abc"),
        Err(ArgumentRefusal::UnclosedQuote { mark: '"', column: 1 })
    );
}

#[test]
fn what_is_no_place_is_text() {
    for text in [
        "$20",
        "$&",
        "$0",
        "$",
        "a$",
        "$ 1",
        "${",
        "${}",
        "${x}",
        "${1",
        "${1\n}",
        "$ARGUMENT",
        "$ARGUMENTSX",
        "$PATH",
        "$é",
        "$1x",
        "$1_",
        "\\$",
        "{{args}}",
        "${input:x}",
        "$10",
        "${123}",
    ] {
        assert_eq!(fill(text, ""), ok(text), "{text}");
    }
    assert_eq!(fill("$$1 $$ARGUMENTS $$$1", "x"), ok("$1 $ARGUMENTS $x"));
    assert_eq!(fill("$1$2.${1}b", "x y"), ok("xy.xb"));
    assert_eq!(fill("$1-$@", "x 'y z'"), ok("x-x 'y z'"));
}

#[test]
fn each_format_counts_from_where_it_says() {
    assert_eq!(fill("$1", "a b").unwrap_err(), ArgumentRefusal::Unused { given: 2, places: 1 });
    assert_eq!(fill("$1/$2", "a b"), ok("a/b"));
    assert_eq!(fill_as("$0/$1", "a b", &claude()), ok("a/b"));
    assert_eq!(fill_as("$ARGUMENTS[1] of $ARGUMENTS", "a b", &claude()), ok("b of a b"));
    assert_eq!(fill_as("\\$1 \\x $0", "a", &claude()), ok("$1 \\x a"));
    let named = Dialect { names: vec!["issue".into(), "branch".into()], ..claude() };
    assert_eq!(fill_as("#$issue on ${branch}, $issues", "7 main", &named), ok("#7 on main, $issues"));
    let gemini = Dialect { dollar: false, curly: true, ..Dialect::own() };
    assert_eq!(fill_as("Fix {{args}} for $1", "it's", &gemini), ok("Fix it's for $1"));
    let copilot = Dialect { dollar: false, inputs: true, ..Dialect::own() };
    assert_eq!(fill_as("Make ${input:name} $1 ${file}", "a b", &copilot), ok("Make a b $1 ${file}"));
    assert_eq!(fill_as("${input:b:what} ${input:a} ${input:b}", "x y", &copilot), ok("x y x"));
}

#[test]
fn what_is_missing_is_an_error_unless_the_template_says_otherwise() {
    let missing = |slot: &str| Err(ArgumentRefusal::Missing { slot: slot.into() });
    assert_eq!(fill("a $2", "x"), missing("$2"));
    assert_eq!(fill("a $ARGUMENTS", "  "), missing("$ARGUMENTS"));
    assert_eq!(fill("a ${2?}|${@?}", "x"), ok("a |x"));
    assert_eq!(fill("a ${1?}|${ARGUMENTS?}", ""), ok("a |"));
    assert_eq!(fill("a $1", "\"\""), ok("a "), "an empty text in quotation marks is given");
    let optional = Dialect { optional: true, ..Dialect::own() };
    assert_eq!(fill_as("a $1 $@", "", &optional), ok("a  "));
    assert_eq!(
        Template::parse("$2 ${1?} $2 $@", &Dialect::own()).unwrap().slots(),
        [
            Slot { name: "1".into(), required: false },
            Slot { name: "2".into(), required: true },
            Slot { name: "arguments".into(), required: true }
        ]
    );
}

#[test]
fn code_fences_are_left_alone_unless_the_template_opts_in() {
    let text = "Sum $1:\n```awk\n{ print $1 }\n```\n~~~\n$2\n~~~\n  ```\n$3";
    assert_eq!(fill(text, "x"), ok(&text.replacen("$1", "x", 1)));
    let dialect = Dialect { in_fences: true, ..Dialect::own() };
    assert_eq!(fill_as("```\n$1\n```", "x", &dialect), ok("```\nx\n```"));
    assert_eq!(fill("`$1` and ```$1```", "x"), ok("`x` and ```x```"), "a span is no fence");
}

#[test]
fn a_template_without_a_place_loses_nothing() {
    assert_eq!(fill("Review it.", "only src"), ok("Review it.\n\nonly src"));
    assert_eq!(fill("Review it.\n", "only src"), ok("Review it.\n\nonly src"));
    assert_eq!(fill("Review it.", " "), ok("Review it."));
}

#[test]
fn words_are_held_together_by_quotation_marks_only() {
    let words = |line: &str| split(line).map(|w| w.into_iter().map(|w| w.text).collect::<Vec<_>>());
    assert_eq!(
        words(r#"a "b c" d'e "f""g h"i 'j k' "l\"m\\n" C:\x ''"#).unwrap(),
        ["a", "b c", "d'e", "fg hi", "j k", "l\"m\\n", "C:\\x", ""]
    );
    assert_eq!(words("it's fine").unwrap(), ["it's", "fine"]);
    assert_eq!(words("a 'b").unwrap_err(), ArgumentRefusal::UnclosedQuote { mark: '\'', column: 3 });
    let spans: Vec<_> = split("  ab \"c d\"").unwrap().into_iter().map(|w| w.start..w.end).collect();
    assert_eq!(spans, [2..4, 5..10]);
    assert_eq!(words(&"a ".repeat(WORDS_MAX)).unwrap().len(), WORDS_MAX);
    assert!(matches!(words(&"a ".repeat(WORDS_MAX + 1)), Err(ArgumentRefusal::TooLong { there: 65, .. })));
}

#[test]
fn what_is_inserted_is_named() {
    let filled = Template::parse("to $1!", &Dialect::own()).unwrap().fill("'the harbour'").unwrap();
    assert_eq!(&filled.text[filled.inserted[0].clone()], "the harbour");
}

#[test]
fn bounds_hold() {
    let long = "x".repeat(LINE_MAX + 1);
    assert!(matches!(fill("$@", &long), Err(ArgumentRefusal::TooLong { what: "the line", .. })));
    assert!(matches!(
        fill(&"$@ ".repeat(40), &long[1..]),
        Err(ArgumentRefusal::TooLong { what: "the filled template", .. })
    ));
    assert!(matches!(
        fill(&"$1".repeat(PLACEHOLDERS_MAX + 1), "x"),
        Err(ArgumentRefusal::TooLong { unit: "places", .. })
    ));
    assert!(matches!(
        fill(&"x".repeat(TEMPLATE_MAX + 1), ""),
        Err(ArgumentRefusal::TooLong { what: "the template", .. })
    ));
    assert_eq!(Refusal::from(fill("$1", "").unwrap_err()).code, "ArgumentMissing");
}

#[test]
fn open_braces_are_not_searched_to_the_end_each() {
    for piece in ["${", "$ARGUMENTS[", "${input:", "```\n", "\\$", "$$"] {
        let text = piece.repeat(TEMPLATE_MAX / piece.len());
        let dialect = Dialect { inputs: true, names: vec!["who".into()], ..claude() };
        let _ = Template::parse(&text, &dialect);
    }
}

#[test]
fn decision_10_a_schema_checks_and_coerces_nothing() {
    let schema = ArgumentSchema::compile(
        r#"{"type":"object","properties":{"port":{"type":"string","enum":["leith","oban"]},"day":{"type":"string"},"n":{"type":"integer"}},"required":["port"]}"#,
    )
    .unwrap();
    assert_eq!(schema.read("leith 'next monday'").unwrap().to_string(), r#"{"port":"leith","day":"next monday"}"#);
    assert_eq!(schema.read(r#"{"port":"oban","n":3}"#).unwrap()["n"], 3);
    for bad in [
        "paris",
        "",
        "leith x 3",
        "leith x 3 y",
        r#"{"port":"oban","port":"leith"}"#,
        r#"{"port":"oban","x":1}"#,
        "'leith",
    ] {
        assert!(schema.read(bad).is_err(), "{bad}");
    }
    assert!(ArgumentSchema::compile(r#"{"$async":true}"#).is_err());
}

fn dialects() -> impl Strategy<Value = Dialect> {
    (any::<[bool; 7]>()).prop_map(|[zero, optional, in_fences, backslash, dollar, curly, inputs]| Dialect {
        base: if zero { IndexBase::Zero } else { IndexBase::One },
        names: vec!["who".into()],
        optional,
        in_fences,
        backslash,
        dollar,
        curly,
        inputs,
    })
}

const PIECES: [&str; 18] = [
    "$1",
    "$@",
    "$ARGUMENTS",
    "${1}",
    "${2?}",
    "$$",
    "\\$",
    "{{args}}",
    "${input:a}",
    "$who",
    "```\n",
    "\n",
    "text ",
    "$",
    "\"",
    "'",
    "é",
    "$ARGUMENTS[0]",
];

proptest! {
    #[test]
    fn field_3h5_each_part_is_the_template_or_the_line_and_nothing_else(
        parts in prop::collection::vec(0..PIECES.len(), 0..12),
        line in prop::collection::vec(0..PIECES.len(), 0..6),
        dialect in dialects(),
    ) {
        let template: String = parts.into_iter().map(|n| PIECES[n]).collect();
        let line: String = line.into_iter().map(|n| PIECES[n]).collect();
        let parsed = Template::parse(&template, &dialect).unwrap();
        if let Ok(filled) = parsed.fill(&line) {
            // With the inserted text cut out again, what remains depends on the template alone.
            let mut rest = String::new();
            let mut at = 0;
            for range in &filled.inserted {
                rest.push_str(&filled.text[at..range.start]);
                at = range.end;
                let inserted = &filled.text[range.clone()];
                let words = split(&line).unwrap_or_default();
                prop_assert!(inserted == line || words.iter().any(|w| w.text == inserted));
            }
            rest.push_str(&filled.text[at..]);
            let blank = Template::parse(&template, &Dialect { optional: true, ..dialect }).unwrap().fill("").unwrap();
            let appended = !parsed.takes_arguments() && !filled.inserted.is_empty();
            prop_assert_eq!(if appended { rest.trim_end_matches('\n') } else { &rest }, if appended { blank.text.trim_end_matches('\n') } else { &blank.text });
        }
    }

    #[test]
    fn verbatim_takes_the_rest_of_the_line_as_it_is(line in "\\PC{0,200}") {
        prop_assert_eq!(Template::verbatim().fill(&line).unwrap().text, line);
    }

    #[test]
    fn plain_text_comes_back(text in "[^$\\\\{`~]{0,200}", dialect in dialects()) {
        prop_assert_eq!(fill_as(&text, "", &dialect), Ok(text));
    }

    #[test]
    fn any_bytes_are_filled_or_refused(template in "\\PC{0,120}", line in "\\PC{0,120}", bytes in prop::collection::vec(any::<u8>(), 0..200), dialect in dialects()) {
        let _ = fill_as(&template, &line, &dialect);
        let text = String::from_utf8_lossy(&bytes);
        let _ = fill_as(&text, &line, &dialect);
        let _ = fill_as(&template, &text, &dialect);
        let _ = split(&text);
    }
}

#[test]
fn the_fuzz_corpus_of_templates_is_filled_or_refused() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/template");
    let (mut filled, mut refused) = (0, 0);
    for file in std::fs::read_dir(dir).expect("the corpus is there") {
        let bytes = std::fs::read(file.expect("entry").path()).expect("file");
        let (how, text) = (bytes[0], String::from_utf8_lossy(&bytes[1..]).into_owned());
        let (line, template) = text.split_once('\n').unwrap_or((&text, ""));
        let on = |n: u8| how & (1 << n) != 0;
        let dialect = Dialect {
            base: if on(0) { IndexBase::Zero } else { IndexBase::One },
            names: vec!["who".into()],
            optional: on(1),
            in_fences: on(2),
            backslash: on(3),
            dollar: on(4),
            curly: on(5),
            inputs: on(6),
        };
        if fill_as(template, line, &dialect).is_ok() { filled += 1 } else { refused += 1 }
    }
    assert!(filled >= 8 && refused >= 2, "{filled} {refused}");
}
