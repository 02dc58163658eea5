//! Sentences and what is made of them.

use kernel::MountId;
use kernel::mount::{MemMount, drive};
use serde_json::{Value, json};

use super::*;
use crate::tools::{Outcome, Tool};

fn apps() -> Vec<AppName> {
    [("ai-echo", "AI Echo"), ("files", "Files"), ("settings", "Settings")]
        .map(|(id, title)| AppName { id: id.into(), title: title.into() })
        .to_vec()
}

fn files() -> MemMount {
    MemMount::with(&[
        ("AGENTS.md", ""),
        ("notes/todo.md", ""),
        ("notes/ideas.md", ""),
        ("notes/old/ideas.md", ""),
        ("src/main.rs", ""),
        ("my plan.txt", ""),
    ])
}

fn begin(tool: &str, words: &str) -> (Fill, Filled) {
    let mut mount = files();
    let mut fill = Fill::new(Tool::named(tool).expect("tool"), words, MountId::new("welcome").ok(), apps());
    let filled = drive(|replies| fill.step(replies), |need| mount.perform(need));
    (fill, filled)
}

fn call(tool: &str, words: &str) -> Value {
    match begin(tool, words).1 {
        Filled::Call(arguments) => arguments,
        other => panic!("{words}: {other:?}"),
    }
}

#[test]
fn quotes_of_every_kind_and_apostrophes() {
    let texts = |words: &str| quoted(words).into_iter().map(|q| q.text).collect::<Vec<_>>();
    assert_eq!(texts("put \"buy milk\" and 'eggs' into `x` “y” „z“ «w»"), ["buy milk", "eggs", "x", "y", "z", "w"]);
    assert_eq!(texts("don't read what's in it's file"), Vec::<String>::new());
    assert_eq!(texts("say 'don't stop' now"), ["don't stop"]);
    assert_eq!(texts("an \"unclosed one"), Vec::<String>::new());
    assert_eq!(texts("\"\" empty"), Vec::<String>::new());
}

#[test]
fn path_shapes() {
    assert_eq!(
        path_shaped("read notes/todo.md, src/main.rs? and README.md. (x.txt) then"),
        ["notes/todo.md", "src/main.rs", "README.md", "x.txt"]
    );
    assert_eq!(
        path_shaped("e.g. this and/or that, 3.5 or 24/7 at https://a.b/c.html \"quoted.md\""),
        Vec::<String>::new()
    );
}

#[test]
fn exactly_one_rule_offers_a_tool() {
    for (words, tool) in [
        ("what is in notes/todo.md", Some(Tool::FilesRead)),
        ("What's in notes/todo.md?", Some(Tool::FilesRead)),
        ("please read README.md", Some(Tool::FilesRead)),
        ("what does notes/todo.md say?", Some(Tool::FilesRead)),
        ("list notes", Some(Tool::FilesList)),
        ("ls", Some(Tool::FilesList)),
        ("which files are in src/?", Some(Tool::FilesList)),
        ("search for milk", Some(Tool::FilesSearch)),
        ("find \"buy milk\"", Some(Tool::FilesSearch)),
        ("find milk in my notes", Some(Tool::FilesSearch)),
        ("12*7", Some(Tool::CalculatorEvaluate)),
        ("what is 15% of 80?", Some(Tool::CalculatorEvaluate)),
        ("how much is 3 times 4", Some(Tool::CalculatorEvaluate)),
        ("calculate (1+2)*3.", Some(Tool::CalculatorEvaluate)),
        ("What time is it?", Some(Tool::ClockNow)),
        ("what's the date today?", Some(Tool::ClockNow)),
        ("open files", Some(Tool::AppsOpen)),
        ("please open the Settings app", Some(Tool::AppsOpen)),
        // Talk stays talk.
        ("hello", None),
        ("What is the capital of France?", None),
        ("list three reasons to sleep", None),
        ("what is the time complexity of quicksort", None),
        ("find me a good name", None),
        ("is 24/7 support good", None),
        ("I was born on 2001-05-06", None),
        ("open your heart", None),
        ("what do you think of notes/todo.md and src/main.rs", None),
        // No rule leads to a change.
        ("put \"buy milk\" into notes/shopping.md", None),
        ("replace \"a\" with \"b\" in notes/todo.md", None),
        ("delete notes/todo.md", None),
    ] {
        assert_eq!(tool_for(words, &apps()), tool, "{words}");
    }
}

#[test]
fn arguments_come_from_the_words_and_from_what_exists() {
    assert_eq!(call("files.read", "what is in notes/todo.md"), json!({"path": "notes/todo.md"}));
    assert_eq!(call("files.read", "/mnt/welcome/notes/todo.md"), json!({"path": "/mnt/welcome/notes/todo.md"}));
    assert_eq!(call("files.read", "show me todo.md"), json!({"path": "notes/todo.md"}), "a name that exists once");
    assert_eq!(call("files.read", "read my todo list"), json!({"path": "notes/todo.md"}), "by its stem");
    assert_eq!(call("files.read", "read \"my plan.txt\""), json!({"path": "my plan.txt"}));
    assert_eq!(
        call("files.read", "read nothing/here.md"),
        json!({"path": "nothing/here.md"}),
        "the tool says that it is not there"
    );
    assert_eq!(call("files.list", "list notes"), json!({"path": "notes"}));
    assert_eq!(call("files.list", "what is there?"), json!({}));
    assert_eq!(call("files.list", "list nope/"), json!({"path": "nope/"}));
    assert_eq!(call("files.search", "search for buy milk in notes"), json!({"query": "buy milk", "path": "notes"}));
    assert_eq!(call("files.search", "find \"a b\""), json!({"query": "a b"}));
    assert_eq!(call("files.search", "milk"), json!({"query": "milk"}));
    assert_eq!(call("calculator.evaluate", "what is (12+3)*7?"), json!({"expression": "(12+3)*7"}));
    assert_eq!(call("calculator.evaluate", "999!"), json!({"expression": "999!"}));
    for text in ["1/0", "9^9^9^9", "sqrt(-1)", "0^-1"] {
        assert_eq!(
            call("calculator.evaluate", text),
            json!({ "expression": text }),
            "it is arithmetic, without a value"
        );
        assert_eq!(call("calculator.evaluate", &format!("what is {text}?")), json!({ "expression": text }));
    }
    assert_eq!(
        call("calculator.evaluate", "my bill is 40 and 15% of 40 is the tip"),
        json!({"expression": "15% of 40"})
    );
    assert_eq!(call("clock.now", "now"), json!({}));
    assert_eq!(call("apps.open", "open ai echo please"), json!({"app": "ai-echo"}));
}

#[test]
fn two_texts_and_a_path_are_told_apart() {
    assert_eq!(
        call("files.write", "put \"buy milk\" into notes/shopping.md"),
        json!({"path": "notes/shopping.md", "content": "buy milk"})
    );
    assert_eq!(call("files.write", "write 'a' to \"new.md\""), json!({"path": "new.md", "content": "a"}));
    assert_eq!(
        call("files.write", "write \"see a.md\" to notes/todo.md"),
        json!({"path": "notes/todo.md", "content": "see a.md"})
    );
    assert_eq!(call("files.write", "notes/a.md: one\ntwo"), json!({"path": "notes/a.md", "content": "one\ntwo"}));
    assert_eq!(
        call("files.edit", "in notes/todo.md replace \"old text\" with \"new text\""),
        json!({"path": "notes/todo.md", "find": "old text", "replace": "new text"})
    );
    assert_eq!(
        call("files.edit", "replace \"a.md\" with \"b.md\" in AGENTS.md"),
        json!({"path": "AGENTS.md", "find": "a.md", "replace": "b.md"})
    );
    assert_eq!(
        call("files.edit", "change milk to oat milk in notes/todo.md"),
        json!({"path": "notes/todo.md", "find": "milk", "replace": "oat milk"})
    );
}

#[test]
fn what_is_missing_is_asked_for() {
    for (tool, words, part) in [
        ("files.write", "write something", "Which file"),
        ("files.write", "write notes/a.md", "contain"),
        ("files.edit", "edit notes/todo.md", "replace"),
        ("files.edit", "replace \"x\" in notes/todo.md", "instead"),
        ("calculator.evaluate", "the usual", "calculate"),
        ("apps.open", "open sesame", "For example: AI Echo, Files, Settings"),
    ] {
        match begin(tool, words).1 {
            Filled::Question(question) => assert!(question.contains(part), "{words}: {question}"),
            other => panic!("{words}: {other:?}"),
        }
    }
    let mut empty = Fill::new(Tool::FilesRead, "read it", MountId::new("m").ok(), vec![]);
    let mut mount = MemMount::default();
    assert!(
        matches!(drive(|r| empty.step(r), |n| mount.perform(n)), Filled::Question(q) if q == "Which file should I read?")
    );
}

#[test]
fn the_model_ranks_only_candidates_and_gets_them_as_json_goes_on() {
    let (mut fill, filled) = begin("files.read", "read the ideas");
    let Filled::Rank { messages, assistant_prefix, candidates } = filled else { panic!("{filled:?}") };
    assert_eq!(candidates, ["notes/ideas.md\"", "notes/old/ideas.md\""]);
    assert_eq!(assistant_prefix, "{\"name\": \"files.read\", \"arguments\": {\"path\": \"");
    assert_eq!(messages.last().map(|m| m.content.as_str()), Some("read the ideas"));
    assert_eq!(fill.scored(&[-4.0, -2.5]), Filled::Call(json!({"path": "notes/old/ideas.md"})));
    let (mut fill, _) = begin("files.read", "read the ideas");
    assert!(matches!(fill.scored(&[f32::NAN]), Filled::Rank { .. }), "no usable score decides nothing");
    // Nothing is guessed for a tool that changes something.
    assert!(matches!(begin("files.edit", "replace \"a\" with \"b\"").1, Filled::Question(_)));
}

#[test]
fn results_are_quoted_and_stay_inside_their_quotation() {
    let found = |text: &str| Outcome::found(text.into(), "s".into());
    let said = answer(Tool::FilesRead, &json!({"path": "notes/todo.md"}), &found("- [ ] buy milk\n```\n# not mine\n"));
    assert_eq!(said, "`notes/todo.md` says:\n\n````md\n- [ ] buy milk\n```\n# not mine\n````");
    assert_eq!(crate::markdown::parse(&said).len(), 2);
    assert_eq!(answer(Tool::CalculatorEvaluate, &json!({"expression": "12*7"}), &found("84")), "12*7 = 84");
    assert!(answer(Tool::FilesRead, &json!({"path": "x"}), &found("")).contains("is empty"));
    let failed = Outcome { ok: false, ..found("x was refused") };
    assert!(answer(Tool::FilesRead, &json!({}), &failed).starts_with("That did not work."));
    for k in 0..3 {
        let long = answer(
            Tool::FilesRead,
            &json!({"path": "x"}),
            &found(&format!("{}{}", "x".repeat(k), "→".repeat(100_000))),
        );
        assert!(long.len() < answer::MAX_QUOTE + 200 && !long.contains('\u{FFFD}'), "field_5h4");
    }
}

#[test]
fn no_words_make_it_panic() {
    let pieces = [
        "replace ",
        "İ",
        " with ",
        " in ",
        "\"",
        "'",
        "search for ",
        "notes/",
        ".md",
        ": ",
        "🌊",
        "change ",
        " to ",
        "12*",
        "open ",
        "„",
        "“",
        "\n",
        "ß",
    ];
    let mut seed = 99u64;
    for _ in 0..3000 {
        let mut words = String::new();
        for _ in 0..10 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            words.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        tool_for(&words, &apps());
        for tool in [
            "files.read",
            "files.edit",
            "files.write",
            "files.search",
            "files.list",
            "apps.open",
            "calculator.evaluate",
        ] {
            let mut fill = Fill::new(Tool::named(tool).expect("tool"), &words, None, apps());
            let mut mount = MemMount::default();
            drive(|r| fill.step(r), |n| mount.perform(n));
        }
    }
}
