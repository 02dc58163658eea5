//! Tools against a folder in memory.

use kernel::Digest;
use kernel::mount::{Entry, EntryKind, MemMount, MountError, MountPath, Need, Reply, Step, drive};
use serde_json::{Value, json};

use super::*;

fn mount() -> MountId {
    MountId::new("welcome").expect("id")
}

fn around() -> Surroundings {
    Surroundings { mount: mount(), now: Instant::default(), zone: Zone::default() }
}

fn run(files: &mut MemMount, name: &str, arguments: Value) -> Result<Outcome, Refusal> {
    let mut run = Run::start(Tool::named(name).expect("tool"), &arguments, &around())?;
    Ok(drive(|replies| run.step(replies), |need| files.perform(need)))
}

fn propose(files: &mut MemMount, name: &str, arguments: Value) -> Result<Proposal, Refusal> {
    let mut propose = Propose::start(Tool::named(name).expect("tool"), &mount(), &arguments)?;
    drive(|replies| propose.step(replies), |need| files.perform(need))
}

fn apply(files: &mut MemMount, proposal: Proposal) -> Outcome {
    let mut apply = Apply::new(proposal);
    drive(|replies| apply.step(replies), |need| files.perform(need))
}

fn path(text: &str) -> MountPath {
    MountPath::parse(text).expect("path")
}

#[test]
fn every_tool_is_defined_once_and_in_its_place() {
    for (i, definition) in DEFINITIONS.iter().enumerate() {
        assert_eq!(definition.tool as usize, i);
        assert_eq!(Tool::named(definition.name), Some(definition.tool));
        assert!(kernel::ToolName::new(definition.name).is_ok());
        let schema: Value = serde_json::from_str(definition.schema).expect("schema is JSON");
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for field in definition.fields {
            assert!(schema["properties"].get(field.name).is_some());
            assert_eq!(field.required, required.contains(&field.name), "{}.{}", definition.name, field.name);
        }
    }
}

#[test]
fn lists_and_reads() {
    let mut files = MemMount::with(&[("notes/todo.md", "\u{FEFF}one\ntwo\nthree\n"), ("a.bin", "x\0y"), ("b.txt", "")]);
    let list = run(&mut files, "files.list", json!({})).expect("list");
    assert_eq!(
        (list.text.as_str(), list.summary.as_str()),
        ("a.bin (3 bytes)\nb.txt (0 bytes)\nnotes/", "3 entries in the mounted folder")
    );
    let read = run(&mut files, "files.read", json!({"path": "/mnt/welcome/notes/todo.md"})).expect("read");
    assert_eq!((read.text.as_str(), read.truncated), ("one\ntwo\nthree\n", false));
    let part = run(&mut files, "files.read", json!({"path": "notes/todo.md", "first_line": 2, "line_count": 1}))
        .expect("read");
    assert_eq!((part.text.as_str(), part.truncated), ("two", true));
    let binary = run(&mut files, "files.read", json!({"path": "a.bin"})).expect("ran");
    assert!(!binary.ok && binary.text.contains("binary"));
    assert!(run(&mut files, "files.read", json!({"path": "nope"})).expect("ran").text.contains("no such file"));
    assert!(!run(&mut files, "files.list", json!({"path": "b.txt"})).expect("ran").ok);
}

#[test]
fn outside_of_the_mount_nothing_is_asked_for() {
    let mut files = MemMount::with(&[("a", "1")]);
    for bad in ["../a", "/etc/passwd", "/mnt/other/a", "notes/../../x", "a\0"] {
        for (name, arguments) in [
            ("files.list", json!({"path": bad})),
            ("files.read", json!({"path": bad})),
            ("files.search", json!({"query": "x", "path": bad})),
        ] {
            assert!(run(&mut files, name, arguments).is_err(), "{name} {bad}");
        }
        assert!(propose(&mut files, "files.write", json!({"path": bad, "content": "x"})).is_err());
        assert!(propose(&mut files, "files.edit", json!({"path": bad, "find": "x", "replace": "y"})).is_err());
    }
    assert!(files.log.is_empty());
}

#[test]
fn a_large_file_is_cut_between_characters_and_says_so() {
    for k in 0..3 {
        let text = format!("{}{}", "x".repeat(k), "→".repeat(400_000));
        let mut files = MemMount::with(&[("big", &text)]);
        let read = run(&mut files, "files.read", json!({"path": "big"})).expect("read");
        assert!(
            read.ok && read.truncated && !read.text.contains('\u{FFFD}') && read.text.len() <= MAX_RESULT,
            "field_5h4"
        );
        assert!(read.summary.contains("only the first 1.0 MiB"));
    }
}

#[test]
fn search_finds_and_says_what_it_left_out() {
    let big = "needle\n".repeat(50_000);
    let mut files = MemMount::with(&[
        ("a.md", "Nothing\nthe NEEDLE here\n"),
        ("deep/1/2/needle.txt", "x"),
        (".git/config", "needle"),
        ("node_modules/x/y.js", "needle"),
        ("big.txt", &big),
        ("bin", "needle\0"),
    ]);
    let found = run(&mut files, "files.search", json!({"query": "Needle"})).expect("search");
    assert!(
        found.text.starts_with("a.md:2: the NEEDLE here\ndeep/1/2/needle.txt: (the file's name)"),
        "{}",
        found.text
    );
    assert!(found.truncated);
    for part in ["2 folders of tools", "1 files over 256.0 KiB", "1 files that are not text"] {
        assert!(found.summary.contains(part), "{part} in {}", found.summary);
    }
    assert!(
        !files.log.iter().any(|n| matches!(n, Need::Read { path, .. } if path.as_str().contains(".git"))),
        "never opened"
    );
    let none = run(&mut files, "files.search", json!({"query": "absent", "path": "deep"})).expect("search");
    assert!(none.text.starts_with("(no hits)") && none.ok);
}

#[test]
fn search_is_bounded_in_a_folder_without_end() {
    // Every folder holds a folder and 600 files: only the bounds end this walk.
    let mut asked = 0usize;
    let mut search = Run::start(Tool::FilesSearch, &json!({"query": "zzz"}), &around()).expect("start");
    let outcome = drive(
        |replies| search.step(replies),
        |need| {
            asked += 1;
            match need {
                Need::List { max, .. } => {
                    let mut entries: Vec<Entry> =
                        (0..20).map(|i| Entry { name: format!("d{i}"), kind: EntryKind::Folder, size: None }).collect();
                    entries.extend((0..600).map(|i| Entry {
                        name: format!("f{i}"),
                        kind: EntryKind::File,
                        size: None,
                    }));
                    entries.truncate(*max);
                    Reply::Listed { entries, truncated: true }
                }
                _ => Reply::Bytes { bytes: b"text".to_vec(), total: 4 },
            }
        },
    );
    assert!(asked <= search::MAX_FOLDERS + search::MAX_FILES, "{asked}");
    for part in ["files not opened", "folders not listed", "more than 512 entries"] {
        assert!(outcome.summary.contains(part), "{}", outcome.summary);
    }
}

#[test]
fn field_4h2_a_write_shows_everything_and_makes_exactly_that() {
    let lines: String = (1..=300).map(|i| format!("line {i}\n")).collect();
    let after = lines.replace("line 211\n", "line 211, but different\n");
    let mut files = MemMount::with(&[("notes/plan.md", &lines)]);
    let proposal =
        propose(&mut files, "files.write", json!({"path": "notes/plan.md", "content": after})).expect("proposal");
    assert_eq!(files.files[&path("notes/plan.md")], lines.as_bytes(), "nothing changes before the review");
    let diff = proposal.diff().expect("text");
    assert_eq!(diff.len(), 301, "every line is on the card");
    let changed: Vec<(DiffKind, &str)> =
        diff.iter().filter(|l| l.kind != DiffKind::Same).map(|l| (l.kind, l.text.as_str())).collect();
    assert_eq!(changed, [(DiffKind::Removed, "line 211"), (DiffKind::Added, "line 211, but different")]);
    let shown = proposal.digest();
    assert_ne!(shown, Proposal { change: Change::Write(b"x".to_vec()), ..proposal.clone() }.digest());
    assert_ne!(shown, Proposal { before: None, ..proposal.clone() }.digest());
    let outcome = apply(&mut files, proposal.clone());
    assert_eq!((outcome.ok, outcome.effect), (true, Effect::Applied));
    assert_eq!(Some(Digest::of(&files.files[&path("notes/plan.md")])), proposal.after_digest());
}

#[test]
fn field_4h2_a_file_that_changed_meanwhile_is_left_alone() {
    let mut files = MemMount::with(&[("a.md", "old")]);
    let proposal = propose(&mut files, "files.write", json!({"path": "a.md", "content": "new"})).expect("proposal");
    files.files.insert(path("a.md"), b"theirs".to_vec());
    let outcome = apply(&mut files, proposal);
    assert_eq!((outcome.ok, outcome.effect, outcome.changed), (false, Effect::NotApplied, true));
    assert_eq!(files.files[&path("a.md")], b"theirs");
    let fresh = propose(&mut files, "files.write", json!({"path": "b.md", "content": "new"})).expect("proposal");
    files.files.insert(path("b.md"), b"came".to_vec());
    assert!(apply(&mut files, fresh).changed, "a new file does not overwrite one that came meanwhile");
}

#[test]
fn an_edit_must_match_exactly_once() {
    let mut files = MemMount::with(&[("a.md", "one two two aaa"), ("bin", "\0")]);
    let mut edit =
        |find: &str| propose(&mut files, "files.edit", json!({"path": "a.md", "find": find, "replace": "X"}));
    assert_eq!(edit("one").expect("once").change, Change::Write(b"X two two aaa".to_vec()));
    for (find, code, words) in [
        ("three", "EditNoMatch", "does not occur"),
        ("two", "EditManyMatches", "2 times"),
        ("aa", "EditManyMatches", "2 times"),
    ] {
        let refusal = edit(find).expect_err(find);
        assert!(refusal.code == code && refusal.observed.contains(words), "{refusal}");
    }
    assert_eq!(edit("").expect_err("empty").code, "ArgMissing");
    for (name, code) in [("nope", "FileNotFound"), ("bin", "FileNotText")] {
        let refusal =
            propose(&mut files, "files.edit", json!({"path": name, "find": "x", "replace": ""})).expect_err(name);
        assert_eq!(refusal.code, code);
    }
    assert_eq!(
        propose(&mut files, "files.write", json!({"path": "a.md", "content": "one two two aaa"}))
            .expect_err("same")
            .code,
        "NothingToChange"
    );
    let long = "x".repeat(MAX_FILE + 1);
    assert_eq!(
        propose(&mut files, "files.write", json!({"path": "l", "content": long})).expect_err("long").code,
        "FileTooLarge"
    );
}

#[test]
fn an_undo_puts_back_the_old_bytes_or_says_why_not() {
    let mut files = MemMount::with(&[("a.md", "old")]);
    for (name, old) in [("a.md", Some(b"old".to_vec())), ("new.md", None)] {
        let proposal = propose(&mut files, "files.write", json!({"path": name, "content": "made"})).expect("proposal");
        let made = proposal.after_digest().expect("written");
        assert!(apply(&mut files, proposal).ok);
        let mut undo = Propose::undo(&mount(), path(name), made, old.clone());
        let undo = drive(|replies| undo.step(replies), |need| files.perform(need)).expect("undo");
        let outcome = apply(&mut files, undo);
        assert!(outcome.ok);
        let said = if old.is_some() { "Put back" } else { "Removed" };
        assert!(outcome.summary.starts_with(said), "{}", outcome.summary);
        assert_eq!(files.files.get(&path(name)).cloned(), old);
    }
    let mut late = Propose::undo(&mount(), path("a.md"), Digest::of(b"made"), None);
    let refusal = drive(|replies| late.step(replies), |need| files.perform(need)).expect_err("changed");
    assert_eq!(refusal.code, "UndoChanged");
}

#[test]
fn after_a_failed_write_the_file_itself_says_what_happened() {
    let proposal = Proposal {
        tool: "files.write".into(),
        mount: mount(),
        path: path("a"),
        before: Some(b"old".to_vec()),
        change: Change::Write(b"new".to_vec()),
    };
    let bytes = |b: &[u8]| Reply::Bytes { bytes: b.to_vec(), total: b.len() as u64 };
    for (read_back, effect) in [
        (bytes(b"new"), Effect::Applied),
        (bytes(b"old"), Effect::NotApplied),
        (bytes(b"ne"), Effect::Unknown),
        (Reply::Failed(MountError::MountMissing), Effect::Unknown),
        (Reply::Failed(MountError::NotFound), Effect::Unknown),
    ] {
        let mut apply = Apply::new(proposal.clone());
        assert!(matches!(apply.step(vec![]), Step::Need(_)));
        assert!(matches!(apply.step(vec![Reply::Failed(MountError::Io("lost".into()))]), Step::Need(_)));
        let Step::Done(outcome) = apply.step(vec![read_back]) else { panic!("done") };
        assert_eq!((outcome.effect, outcome.ok), (effect, effect == Effect::Applied));
    }
    let mut denied = Apply::new(proposal);
    denied.step(vec![]);
    let Step::Done(outcome) = denied.step(vec![Reply::Failed(MountError::Denied)]) else { panic!("done") };
    assert_eq!(outcome.effect, Effect::NotApplied);
}

#[test]
fn the_small_tools_answer_at_once() {
    let mut files = MemMount::default();
    assert_eq!(
        run(&mut files, "calculator.evaluate", json!({"expression": "12*7"})).expect("ran").summary,
        "12*7 = 84"
    );
    assert!(
        run(&mut files, "calculator.evaluate", json!({"expression": "1/0"}))
            .expect_err("zero")
            .plain()
            .starts_with("1/0: division by zero")
    );
    assert!(
        run(&mut files, "calculator.evaluate", json!({"expression": "9^9^9^9"}))
            .expect_err("too large")
            .plain()
            .starts_with("9^9^9^9: the result is too large")
    );
    assert!(run(&mut files, "clock.now", json!({})).expect("ran").text.starts_with("Thursday, 1 January 1970"));
    assert_eq!(run(&mut files, "apps.open", json!({"app": "files"})).expect("ran").open.as_deref(), Some("files"));
    assert_eq!(
        run(&mut files, "files.write", json!({"path": "a", "content": ""})).expect_err("review").code,
        "NeedsReview"
    );
    assert!(files.log.is_empty());
}
