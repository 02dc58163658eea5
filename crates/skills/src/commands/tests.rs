//! Command files of four tools, and what of them never happens.

use kernel::mount::{MemMount, Need, drive};
use proptest::prelude::*;

use super::*;

fn read(path: &str, text: &str) -> Result<CommandFile, CommandRefusal> {
    parse(&MountPath::parse(path).expect("path"), text.as_bytes())
}

fn inert(file: &CommandFile) -> Vec<(InertKind, &str)> {
    file.inert.iter().map(|i| (i.kind, &file.template.source()[i.at.clone()])).collect()
}

const CLAUDE: &str = "---\ndescription: Fix an issue\nargument-hint: [issue] [branch]\nallowed-tools: Bash(gh:*), Read\nmodel: big\n---\nFix #$0 on $1.\nState: !`gh issue view $0`\nRules: @docs/rules.md and @$1, not me@here\n```sh\necho $0\n```\n";

#[test]
fn a_claude_command_counts_from_0_and_runs_nothing() {
    let file = read(".claude/commands/team/fix-issue.md", CLAUDE).unwrap();
    assert_eq!((file.id.as_str(), file.format), ("team.fix-issue", Format::Claude));
    assert_eq!((file.description.as_str(), file.argument_hint().as_str()), ("Fix an issue", "[issue] [branch]"));
    assert_eq!(
        (file.tool_hints.as_slice(), file.ignored.as_slice()),
        (&["Bash(gh:*)".into(), "Read".into()][..], &["model".to_owned()][..])
    );
    assert_eq!(
        inert(&file),
        [(InertKind::Shell, "!`gh issue view $0`"), (InertKind::File, "@docs/rules.md"), (InertKind::File, "@$1")]
    );
    let text = file.fill("7 main").unwrap().text;
    assert!(text.starts_with("Fix #7 on main.\nState: !`gh issue view 7`") && text.ends_with("echo $0\n```"), "{text}");
    assert!(file.fill("").is_ok(), "a hint in square brackets may be left out");
    let review = Review::HumanReviewed { binding: file.digest };
    assert!(file.guidance(PackageId::new("workspace").unwrap(), review, true).is_reviewed());
    assert!(!file.guidance(PackageId::new("workspace").unwrap(), Review::Unreviewed, true).is_reviewed());
}

#[test]
fn names_a_template_declares_are_places() {
    let file = read(".claude/commands/a.md", "---\narguments: issue branch\n---\n$issue, $branch, $issues\n").unwrap();
    assert_eq!(file.fill("1 main").unwrap().text, "1, main, $issues");
    assert_eq!(file.fill("1").unwrap_err().code(), "ArgumentMissing");
    assert_eq!(file.argument_hint(), "<issue> <branch>");
}

#[test]
fn an_opencode_command_counts_from_1() {
    for folder in ["command", "commands"] {
        let file = read(&format!(".opencode/{folder}/review.md"), "Review $1 with $ARGUMENTS\n!`git diff`").unwrap();
        assert_eq!(file.fill("src").unwrap().text, "Review src with src\n!`git diff`");
        assert_eq!(
            (file.description.as_str(), inert(&file)),
            ("Review $1 with $ARGUMENTS", vec![(InertKind::Shell, "!`git diff`")])
        );
        assert_eq!(file.fill("").unwrap_err().code(), "ArgumentMissing");
    }
}

#[test]
fn a_gemini_command_is_toml_with_one_place() {
    let text = "description = \"Commit\"\nprompt = \"\"\"\nWrite a message for {{args}}: !{git diff {a,{b}}} $1\n@{docs/style.md}\n\"\"\"\nextra = 1\n";
    let file = read(".gemini/commands/git/commit.toml", text).unwrap();
    assert_eq!((file.id.as_str(), file.description.as_str()), ("git.commit", "Commit"));
    assert_eq!(
        file.fill("it's \"open").unwrap().text,
        "Write a message for it's \"open: !{git diff {a,{b}}} $1\n@{docs/style.md}"
    );
    assert_eq!(inert(&file), [(InertKind::Shell, "!{git diff {a,{b}}}"), (InertKind::File, "@{docs/style.md}")]);
    assert_eq!(file.ignored, ["extra"]);
    let cause = |text: &str| read(".gemini/commands/x.toml", text).unwrap_err();
    assert!(
        matches!(cause("a = 1\nprompt = \"x"), CommandRefusal::Toml { line: 2, .. }),
        "{:?}",
        cause("a = 1\nprompt = \"x")
    );
    assert!(matches!(cause("prompt = 3"), CommandRefusal::Toml { .. }));
    assert!(matches!(cause("description = \"x\""), CommandRefusal::Toml { .. }));
    assert_eq!(cause("prompt = \" \""), CommandRefusal::Empty);
    assert!(matches!(cause(&format!("prompt = {}", "[".repeat(10_000))), CommandRefusal::Toml { .. }));
}

#[test]
fn a_copilot_prompt_has_inputs_and_its_editor_fills_nothing_in() {
    let text = "---\nmode: agent\ntools: ['codebase', 'search']\ndescription: \"Make a form\"\n---\nMake ${input:name:the form} for ${input:who}, see ${file} and #file:a.ts #tool:search\n";
    let file = read(".github/prompts/make-form.prompt.md", text).unwrap();
    assert_eq!(
        (file.id.as_str(), file.tool_hints.as_slice()),
        ("make-form", &["codebase".to_owned(), "search".into()][..])
    );
    assert_eq!(file.fill("login staff").unwrap().text, "Make login for staff, see ${file} and #file:a.ts #tool:search");
    assert_eq!(
        inert(&file),
        [(InertKind::Variable, "${file}"), (InertKind::File, "#file:a.ts"), (InertKind::Tool, "#tool:search")]
    );
    assert_eq!(file.ignored, ["mode"]);
}

#[test]
fn what_is_no_command_file_is_refused_with_its_reason() {
    let code = |path: &str, text: &[u8]| parse(&MountPath::parse(path).unwrap(), text).unwrap_err().code();
    assert_eq!(code("commands/a.md", b"x"), "CommandPathUnknown");
    assert_eq!(code(".claude/commands/a.txt", b"x"), "CommandPathUnknown");
    assert_eq!(code(".github/prompts/a.md", b"x"), "CommandPathUnknown");
    assert_eq!(code(".claude/commands/Fix Issue.md", b"x"), "NameInvalid");
    assert_eq!(code(".claude/commands/a.md", b"\xff"), "UnicodeMalformed");
    assert_eq!(code(".claude/commands/a.md", b"a\0"), "UnicodeMalformed");
    assert_eq!(code(".claude/commands/a.md", b"---\na: b\n"), "CommandHeaderUnclosed");
    assert_eq!(code(".claude/commands/a.md", b"---\na: b\n---\n \n"), "BodyEmpty");
    assert_eq!(code(".claude/commands/a.md", &vec![b'x'; FILE_MAX + 1]), "CommandTooLarge");
    let refusal = read(".claude/commands/Fix.md", "x").unwrap_err().about(".claude/commands/Fix.md");
    assert!(refusal.expected.contains("fix.md"), "{refusal:?}");
}

#[test]
fn line_ends_and_a_mark_at_the_beginning_change_nothing() {
    let lf = read(".claude/commands/a.md", CLAUDE).unwrap();
    for text in
        [CLAUDE.replace('\n', "\r\n"), format!("\u{feff}{CLAUDE}"), format!("\u{feff}{}", CLAUDE.replace('\n', "\r\n"))]
    {
        let other = read(".claude/commands/a.md", &text).unwrap();
        assert_eq!(CommandFile { digest: lf.digest, hidden: lf.hidden, ..other }, lf);
    }
}

#[test]
fn hidden_characters_are_counted() {
    assert!(read(".claude/commands/a.md", "Fix\u{200b} it\u{e0041}").unwrap().hidden > 0);
    assert_eq!(read(".claude/commands/a.md", CLAUDE).unwrap().hidden, 0);
}

fn discover(mount: &mut MemMount) -> Commands {
    let mut discovery = Discovery::new(&MountPath::root());
    drive(|r| discovery.step(r), |n| mount.perform(n))
}

#[test]
fn decision_24_the_first_folder_wins_and_the_others_are_named() {
    let mut mount = MemMount::with(&[
        (".claude/commands/fix.md", "Claude fix"),
        (".claude/commands/bad.md", "---\nopen"),
        (".claude/commands/sub/x.md", "x"),
        (".claude/commands/README.txt", "no"),
        (".opencode/command/fix.md", "OpenCode fix"),
        (".opencode/command/bad.md", "sound, and never reached"),
        (".gemini/commands/go.toml", "prompt = 'go'"),
        (".github/prompts/p.prompt.md", "p"),
    ]);
    mount.links.insert(MountPath::parse(".claude/commands/link.md").unwrap());
    let commands = discover(&mut mount);
    let names: Vec<&str> = commands.found.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(names, ["fix", "go", "p", "sub.x"]);
    assert_eq!(commands.get(&SkillId::new("fix").unwrap()).unwrap().template.source(), "Claude fix");
    assert_eq!(commands.shadowed.len(), 1);
    let faults: Vec<(&str, &str)> = commands.faults.iter().map(|f| (f.path.as_str(), f.refusal.code())).collect();
    assert_eq!(
        faults,
        [
            (".claude/commands/bad.md", "CommandHeaderUnclosed"),
            (".claude/commands/link.md", "PathUnsafe"),
            (".opencode/command/bad.md", "InvalidWinner")
        ]
    );
    assert!(!mount.log.iter().any(|n| matches!(n, Need::Read { path, .. } if path.as_str().ends_with(".txt"))));
}

#[test]
fn what_a_folder_did_not_show_may_be_the_winner() {
    let many: Vec<(String, &str)> = (0..=ENTRIES_MAX).map(|n| (format!(".claude/commands/c{n}.md"), "x")).collect();
    let mut files: Vec<(&str, &str)> = many.iter().map(|(p, t)| (p.as_str(), *t)).collect();
    files.push((".gemini/commands/go.toml", "prompt = 'go'"));
    let commands = discover(&mut MemMount::with(&files));
    assert_eq!(commands.found.len(), ENTRIES_MAX);
    assert!(
        commands
            .faults
            .iter()
            .any(|f| f.path == ".gemini/commands/go.toml" && f.refusal.code() == "IncompleteHigherScan")
    );
    let deep = discover(&mut MemMount::with(&[
        (".claude/commands/a/b/c/d/e/f.md", "x"),
        (".claude/commands/a/b/c/d/e.md", "x"),
    ]));
    assert_eq!(deep.found.len(), 1);
    assert_eq!(deep.faults.len(), 1);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "(---\n)?(\\PC|\n|[`!@#${}:'\"-]){0,200}", n in 0..4usize) {
        let path = [".claude/commands/a.md", ".opencode/command/a.md", ".gemini/commands/a.toml", ".github/prompts/a.prompt.md"][n];
        let path = MountPath::parse(path).unwrap();
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            if let Ok(file) = parse(&path, bytes) {
                for i in &file.inert {
                    prop_assert!(file.template.source().get(i.at.clone()).is_some());
                }
                let _ = file.fill("a 'b c'");
            }
        }
    }
}
