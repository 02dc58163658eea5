//! T-160 to T-170 and the slash cases of the field, over a whole small house.

use super::*;
use crate::Kernel;
use crate::authority::{GestureKind, Proof};
use crate::fixture::*;
use crate::ids::*;
use crate::registry::*;
use crate::tools::{Dispatch, ToolCall, ToolClass};

/// Types `text` key by key and presses Enter.
fn enter(k: &Kernel, text: &str) -> Result<Submission, SlashRefusal> {
    enter_seeing(k, &Catalog::project(k, &now()), text)
}

fn enter_seeing(k: &Kernel, shown: &Catalog, text: &str) -> Result<Submission, SlashRefusal> {
    let mut hands = Hands::new();
    typed(text, &mut hands).submit(text, &hands.press(), k, &now(), shown)
}

fn typed(text: &str, hands: &mut Hands) -> Draft {
    let mut d = Draft::default();
    for (i, c) in text.char_indices() {
        d.edited(&text[..i + c.len_utf8()], EditOrigin::Typed, &hands.act(GestureKind::TextEdit));
    }
    d
}

fn refused(r: Result<Submission, SlashRefusal>) -> &'static str {
    match r {
        Err(e) => e.code(),
        Ok(s) => panic!("{s:?}"),
    }
}

fn turn_of(r: Result<Submission, SlashRefusal>) -> AgentTurn {
    match r {
        Ok(Submission::Turn(t)) => t,
        other => panic!("{other:?}"),
    }
}

fn names(c: &Catalog) -> Vec<&str> {
    c.rows.iter().map(|r| r.canonical.as_str()).collect()
}

#[test]
fn i150_rows_are_exactly_the_live_registries() {
    let k = kernel();
    assert_eq!(
        names(&Catalog::project(&k, &now())),
        [
            "/action:files:new",
            "/app:ai-echo",
            "/app:files",
            "/app:maps",
            "/app:notes",
            "/cmd:locate",
            "/cmd:theme",
            "/go:files:recent",
            "/skill:harbour",
            "/skill:summarise-notes",
            "/tool:files.read",
            "/tool:files.write",
            "/tool:maps.route",
        ]
    );
    assert!(Catalog::project(&Kernel::new(), &now()).rows.is_empty());
    // What is there and cannot be used stays, with its reason.
    let mut k = kernel();
    k.set_denied(&tool("files.read"), true);
    k.put_app(entry("ai-echo", "core")).expect("room");
    k.put_guidance(guidance("harbour", "maps", Review::Unreviewed, b"tides")).expect("room");
    let c = Catalog::project(&k, &now());
    for row in ["/tool:files.read", "/tool:maps.route", "/skill:harbour"] {
        assert!(c.get(row).is_some_and(|r| r.disabled.is_some()), "{row}");
    }
    let nothing = Situation { affordances: [].into(), ..now() };
    let why = Catalog::project(&kernel(), &nothing).get("/tool:files.read").and_then(|r| r.disabled.clone());
    assert_eq!(why.as_deref(), Some("files.read needs a mounted folder, and there is none now"));
}

#[test]
fn t160_enabling_and_disabling_while_the_palette_is_open() {
    let mut k = kernel();
    let shown = Catalog::project(&k, &now());
    k.set_package_state(&package("maps"), OFF).expect("there");
    assert!(Catalog::project(&k, &now()).rev > shown.rev);
    for (text, want) in [
        ("/app:maps", "SlashSurface"),
        ("/cmd:locate", "SlashSurface"),
        ("/tool:maps.route to Leith", "SlashToolIneligible"),
        ("/skill:harbour when is high water", "SlashSkillIneligible"),
    ] {
        assert_eq!(refused(enter_seeing(&k, &shown, text)), want, "late {text}");
        assert_eq!(refused(enter(&k, text)), want, "typed {text}");
    }
    k.set_package_state(&package("maps"), ON).expect("there");
    let open = Submission::Local(LocalDispatch::OpenApp(app("maps")));
    assert_eq!(enter_seeing(&k, &shown, "/app:maps"), Ok(open));
}

#[test]
fn t161_renamed_unregistered_or_registered_anew() {
    let mut k = kernel();
    let shown = Catalog::project(&k, &now());
    // Same id, other content.
    let other = r#"{"properties":{"to":{},"tip":{}}}"#;
    k.put_tool(source("maps", "maps.route", ToolClass::Read, other)).expect("registers");
    assert_eq!(refused(enter_seeing(&k, &shown, "/tool:maps.route go")), "SlashStale");
    k.put_app(AppEntry { title: "Files 2".into(), ..entry("files", "core") }).expect("room");
    assert_eq!(refused(enter_seeing(&k, &shown, "/app:files")), "SlashStale");
    k.put_command(command("core", "theme", true, vec![])).expect("room");
    assert_eq!(refused(enter_seeing(&k, &shown, "/cmd:theme dark")), "SlashStale");
    k.put_guidance(guidance("summarise-notes", "core", Review::BuiltIn, b"other")).expect("room");
    assert_eq!(refused(enter_seeing(&k, &shown, "/skill:summarise-notes now")), "SlashStale");
    // Renamed: the old name is gone, and its action with it.
    assert_eq!(refused(enter_seeing(&k, &shown, "/action:files:new")), "SlashSurface");
    k.remove_app(&app("notes"), &package("core")).expect("there");
    k.put_app(entry("jotter", "core")).expect("room");
    assert_eq!(refused(enter_seeing(&k, &shown, "/app:notes")), "SlashSurface");
    assert!(enter(&k, "/app:jotter").is_ok());
    // Unregistered in between.
    k.remove_command(&command_name("locate"), &package("maps")).expect("there");
    assert_eq!(refused(enter_seeing(&k, &shown, "/cmd:locate")), "SlashUnknown");
}

#[test]
fn t162_a_short_name_is_unique_or_nobodys() {
    let mut k = kernel();
    let alias = |k: &Kernel, row: &str| Catalog::project(k, &now()).get(row).and_then(|r| r.alias.clone());
    assert_eq!(alias(&k, "/app:notes").as_deref(), Some("notes"));
    assert_eq!(alias(&k, "/tool:files.read").as_deref(), Some("files.read"));
    // Three colliders: the name comes back only when the last but one is gone.
    k.put_command(command("maps", "notes", true, vec![])).expect("room");
    k.put_guidance(guidance("notes", "core", Review::BuiltIn, b"")).expect("room");
    for row in ["/app:notes", "/cmd:notes", "/skill:notes"] {
        assert_eq!(alias(&k, row), None, "{row}");
    }
    let e = enter(&k, "/notes").expect_err("ambiguous");
    assert!(e.code() == "SlashAliasAmbiguous" && e.to_string().contains("/app:notes or /cmd:notes or /skill:notes"));
    assert!(enter(&k, "/app:notes").is_ok(), "the full name always works");
    k.remove_guidance(&skill("notes"));
    assert_eq!(alias(&k, "/app:notes"), None);
    k.set_package_state(&package("maps"), OFF).expect("there");
    assert_eq!(alias(&k, "/app:notes").as_deref(), Some("notes"));
    assert_eq!(enter(&k, "/notes"), Ok(Submission::Local(LocalDispatch::OpenApp(app("notes")))));
    // A head is nobody's short name, and neither is a long one.
    k.put_app(entry("tool", "core")).expect("room");
    k.put_app(entry(&"n".repeat(49), "core")).expect("room");
    k.put_app(entry(&"m".repeat(48), "core")).expect("room");
    assert_eq!(alias(&k, "/app:tool"), None);
    assert_eq!(refused(enter(&k, "/tool")), "SlashUnknown");
    assert_eq!(alias(&k, &format!("/app:{}", "n".repeat(49))), None);
    assert!(alias(&k, &format!("/app:{}", "m".repeat(48))).is_some());
}

#[test]
fn t163_all_eight_surface_states() {
    let base = || {
        let mut k = kernel();
        let action = ManifestAction { id: ActionId::new("ping").expect("id"), title: "Ping".into() };
        k.put_app(AppEntry { actions: vec![action], ..entry("odd", "maps") }).expect("room");
        k
    };
    let kind = |kind| {
        move |k: &mut Kernel| {
            let a = k.apps().get(&app("odd")).expect("there").clone();
            k.put_app(AppEntry { kind, ..a }).expect("room");
        }
    };
    let package_is = |s| move |k: &mut Kernel| k.set_package_state(&package("maps"), s).expect("there");
    type Change = Box<dyn Fn(&mut Kernel)>;
    let cases: [(SurfaceState, Change, Option<bool>, &str); 8] = [
        (SurfaceState::Live, Box::new(|_| {}), Some(true), ""),
        (
            SurfaceState::Stale,
            Box::new(|k| k.put_package(package("maps"), "Maps", ON, Digest::of(b"2")).expect("room")),
            Some(false),
            "AppStale",
        ),
        (SurfaceState::Missing, Box::new(package_is(PackageState::Missing)), Some(false), "AppMissing"),
        (SurfaceState::Orphaned, Box::new(package_is(PackageState::Orphaned)), Some(false), "AppOrphaned"),
        (SurfaceState::Hidden, Box::new(kind(AppKind::Hidden)), None, "AppHidden"),
        (SurfaceState::Background, Box::new(kind(AppKind::Background)), None, "AppBackground"),
        (SurfaceState::Overlay, Box::new(kind(AppKind::Overlay)), None, "AppOverlay"),
        (SurfaceState::Disabled, Box::new(package_is(OFF)), None, "PackageDisabled"),
    ];
    for (state, change, row, code) in cases {
        let mut k = base();
        let before = Catalog::project(&k, &now());
        change(&mut k);
        let a = k.apps().get(&app("odd")).expect("there");
        assert_eq!(k.apps().surface_state(a, k.packages()), state);
        let c = Catalog::project(&k, &now());
        for (name, text) in [("/app:odd", "/app:odd"), ("/action:odd:ping", "/action:odd:ping")] {
            assert_eq!(c.get(name).map(|r| r.disabled.is_none()), row, "{state:?}");
            for shown in [&c, &before] {
                match enter_seeing(&k, shown, text) {
                    Ok(_) => assert_eq!(state, SurfaceState::Live),
                    Err(SlashRefusal::SlashSurface(e)) => assert_eq!(e.code(), code, "{state:?}"),
                    Err(e) => panic!("{state:?} {e}"),
                }
            }
        }
    }
}

#[test]
fn t164_forged_and_stale_acts_change_nothing() {
    let (k, mut hands) = (kernel(), Hands::new());
    let c = Catalog::project(&k, &now());
    let text = "/app:files";
    let submit = |d: &Draft, p: &Proof| d.submit(text, p, &k, &now(), &c);
    // A script writes the command, the person types one key behind it and presses Enter.
    let mut d = Draft::default();
    d.edited("/app:file", EditOrigin::Typed, &Proof::Untrusted);
    d.edited(text, EditOrigin::Typed, &hands.act(GestureKind::TextEdit));
    assert!(!d.is_trusted());
    assert_eq!(submit(&d, &hands.press()), Err(SlashRefusal::SlashUntrustedEdit));
    // Cleared by the person, it is theirs again.
    d.edited("", EditOrigin::Typed, &hands.act(GestureKind::TextEdit));
    d.edited(text, EditOrigin::Typed, &hands.act(GestureKind::TextEdit));
    assert!(submit(&d, &hands.press()).is_ok());
    // A script cannot clear the mark by clearing the text.
    let mut d = Draft::default();
    d.edited("x", EditOrigin::Typed, &Proof::Untrusted);
    d.edited("", EditOrigin::Typed, &Proof::Untrusted);
    d.edited(text, EditOrigin::Typed, &hands.act(GestureKind::TextEdit));
    assert_eq!(submit(&d, &hands.press()), Err(SlashRefusal::SlashUntrustedEdit));
    // A pick replaces the name, and with it a script's; a task behind it stays a script's.
    d.picked(text, &hands.click());
    assert!(submit(&d, &hands.press()).is_ok());
    let mut d = Draft::default();
    d.edited("/tool:files.write evil", EditOrigin::Typed, &Proof::Untrusted);
    d.picked("/tool:files.write evil", &hands.click());
    let r = d.submit("/tool:files.write evil", &hands.press(), &k, &now(), &c);
    assert_eq!(r, Err(SlashRefusal::SlashUntrustedEdit));
    // The field was changed behind our back and put right: the next edit goes on.
    let mut d = typed("/app:file", &mut hands);
    d.tainted();
    assert_eq!(d.submit("/app:file", &hands.press(), &k, &now(), &c), Err(SlashRefusal::SlashUntrustedEdit));
    d.edited(text, EditOrigin::Typed, &hands.act(GestureKind::TextEdit));
    assert!(submit(&d, &hands.press()).is_ok());
    // No act, an act of a script, an act on another text.
    let d = typed(text, &mut hands);
    assert_eq!(submit(&d, &Proof::Untrusted), Err(SlashRefusal::SlashUntrustedSubmit));
    assert_eq!(submit(&Draft::default(), &hands.press()), Err(SlashRefusal::SlashDraftChanged));
    let other = typed("/app:notes", &mut hands);
    assert_eq!(submit(&other, &hands.press()), Err(SlashRefusal::SlashDraftChanged));
}

#[test]
fn decision_6_pasted_commands_wait_and_pasted_tasks_do_not() {
    let (k, mut hands) = (kernel(), Hands::new());
    let c = Catalog::project(&k, &now());
    let mut paste = |d: &mut Draft, text: &str| d.edited(text, EditOrigin::Pasted, &hands.act(GestureKind::Paste));
    let mut d = Draft::default();
    paste(&mut d, "/tool:files.read x");
    let mut hands = Hands::new();
    let r = d.submit("/tool:files.read x", &hands.press(), &k, &now(), &c);
    assert_eq!(r, Err(SlashRefusal::SlashNotYetEdited("Pasted")));
    // Pasted lines are never a command, also after an edit.
    let mut d = Draft::default();
    d.edited("/tool:files.read x\nand y", EditOrigin::Pasted, &hands.act(GestureKind::Paste));
    d.edited("/tool:files.read x\nand yz", EditOrigin::Typed, &hands.act(GestureKind::TextEdit));
    assert_eq!(refused(d.submit("/tool:files.read x\nand yz", &hands.press(), &k, &now(), &c)), "SlashUnknown");
    // A typed command with lines pasted behind it is what the person typed.
    let mut d = typed("/tool:files.write put this in a.md: ", &mut hands);
    let text = "/tool:files.write put this in a.md: one\ntwo\n";
    d.edited(text, EditOrigin::Pasted, &hands.act(GestureKind::Paste));
    let t = turn_of(d.submit(text, &hands.press(), &k, &now(), &c));
    assert_eq!(t.task, "put this in a.md: one\ntwo");
    // A paste over the name is a pasted command again.
    let mut d = typed("/tool:files.write x", &mut hands);
    d.edited("/tool:files.read x", EditOrigin::Pasted, &hands.act(GestureKind::Paste));
    assert_eq!(refused(d.submit("/tool:files.read x", &hands.press(), &k, &now(), &c)), "SlashUntrustedEdit");
}

#[test]
fn field_6h3_a_restored_command_needs_the_persons_edit() {
    let (k, mut hands) = (kernel(), Hands::new());
    let c = Catalog::project(&k, &now());
    let mut d = Draft::default();
    d.edited("/app:file", EditOrigin::Restored, &Proof::Untrusted);
    let r = d.submit("/app:file", &hands.press(), &k, &now(), &c);
    assert_eq!(r, Err(SlashRefusal::SlashNotYetEdited("Restored")));
    d.edited("/app:files", EditOrigin::Typed, &hands.act(GestureKind::TextEdit));
    assert!(d.submit("/app:files", &hands.press(), &k, &now(), &c).is_ok());
    // A message is a message.
    let mut d = Draft::default();
    d.edited("hello", EditOrigin::Restored, &Proof::Untrusted);
    assert_eq!(d.submit("hello", &hands.press(), &k, &now(), &c), Ok(Submission::Text("hello".into())));
}

#[test]
fn t165_local_rows_never_become_a_turn() {
    let k = kernel();
    let files = || app("files");
    let action = ActionId::new("new").expect("id");
    let view = SurfaceId::new("recent").expect("id");
    let rev = k.commands().get(&command_name("theme")).expect("there").rev;
    let theme = CommandRef { name: command_name("theme"), rev };
    for (text, want) in [
        ("/app:files", LocalDispatch::OpenApp(files())),
        ("/action:files:new", LocalDispatch::Action(files(), action)),
        ("/go:files:recent", LocalDispatch::Go(files(), view)),
        ("/cmd:theme dark", LocalDispatch::Command(theme, vec!["dark".into()])),
        ("/recent", LocalDispatch::Go(files(), SurfaceId::new("recent").expect("id"))),
    ] {
        assert_eq!(enter(&k, text), Ok(Submission::Local(want)), "{text}");
    }
    for row in Catalog::project(&k, &now()).rows {
        let local = matches!(row.canonical.split(':').next(), Some("/app" | "/action" | "/go" | "/cmd"));
        assert_eq!(row.kind.is_local(), local);
        assert_eq!(row.runs_on_pick(), local && row.canonical != "/cmd:theme", "decision 17: {}", row.canonical);
    }
    for (text, want) in [
        ("/app:files and more", "SlashArgument"),
        ("/cmd:theme", "SlashArgument"),
        ("/cmd:theme pink", "SlashArgument"),
    ] {
        assert_eq!(refused(enter(&k, text)), want, "{text}");
    }
}

#[test]
fn t166_a_tool_turn_offers_one_tool_and_is_checked_before_it_is_sent() {
    let mut k = kernel();
    let t = turn_of(enter(&k, "/tool:files.read what is in /notes/todo.md $1 \"a b\"\nand why"));
    assert_eq!(t.task, "what is in /notes/todo.md $1 \"a b\"\nand why");
    let TurnKind::OneTool(tool_ref) = &t.kind else { panic!("{t:?}") };
    dispatch_check(&k, &now(), &t).expect("still good");
    let rights = || (["mount.read".to_owned()].into(), ["mount".to_owned()].into());
    let (c, a) = rights();
    let (g, refused_tools) = k.grant(turn(1), &app("ai-echo"), std::slice::from_ref(&tool_ref.name), c, a);
    assert!(refused_tools.is_empty());
    assert_eq!(g.offered().iter().map(|o| o.0.as_str()).collect::<Vec<_>>(), ["files.read"]);
    // The one tool works, another one was not offered (I-154, I-155).
    let one = ToolCall { tool: tool_ref.clone(), args: br#"{"path":"a"}"#.to_vec(), turn: turn(1), operation: None };
    assert!(matches!(k.router().route(&one, &app("ai-echo"), &g), Ok(Dispatch::Read(_))));
    let other = call(&k, "maps.route", "{}");
    let r = k.router().route(&other, &app("ai-echo"), &g).expect_err("not offered");
    assert_eq!(r.code(), "ToolNotOffered");
    // Between submission and dispatch.
    type Change = fn(&mut Kernel);
    let changes: [(Change, &str); 5] = [
        (|k| k.set_package_state(&package("core"), OFF).expect("there"), "SlashToolIneligible"),
        (|k| k.remove_tool(&tool("files.read"), &package("core")).expect("there"), "SlashToolIneligible"),
        (|k| k.set_denied(&tool("files.read"), true), "SlashToolIneligible"),
        (|k| k.put_app(entry("ai-echo", "core")).expect("room"), "SlashToolIneligible"),
        (|k| assert!(k.put_tool(source("core", "files.read", ToolClass::Read, ROUTE)).is_ok()), "SlashStale"),
    ];
    for (i, (change, want)) in changes.into_iter().enumerate() {
        let mut k = kernel();
        change(&mut k);
        assert_eq!(dispatch_check(&k, &now(), &t).expect_err("changed").code(), want, "change {i}");
    }
    k.set_denied(&tool("files.read"), true);
    assert_eq!(refused(enter(&k, "/tool:files.read x")), "SlashToolIneligible");
    let nothing = Situation { affordances: [].into(), ..now() };
    assert_eq!(dispatch_check(&kernel(), &nothing, &t).expect_err("no mount").code(), "SlashToolIneligible");
}

#[test]
fn i150_a_skill_that_cannot_be_used_keeps_its_row_with_the_reason() {
    let why = |review: Review, enabled: bool, problem: Option<&str>| {
        let mut k = kernel();
        let g = guidance("harbour", "maps", review, b"tides");
        k.put_guidance(Guidance { enabled, problem: problem.map(str::to_owned), ..g }).expect("room");
        Catalog::project(&k, &now()).get("/skill:harbour").expect("a row").disabled.clone().unwrap_or_default()
    };
    let reviewed = |bytes: &[u8]| Review::HumanReviewed { binding: Digest::of(bytes) };
    assert_eq!(why(reviewed(b"tides"), true, None), "");
    assert_eq!(why(Review::Unreviewed, true, None), "the skill was not reviewed yet");
    assert_eq!(why(reviewed(b"older"), true, None), "the skill changed since it was reviewed");
    assert_eq!(why(reviewed(b"tides"), false, None), "the skill is switched off");
    assert_eq!(why(reviewed(b"tides"), true, Some("its name is taken twice")), "its name is taken twice");
}

#[test]
fn t167_a_review_binding_holds_through_dispatch() {
    let k = kernel();
    let t = turn_of(enter(&k, "/skill:harbour when is high water"));
    assert_eq!(t.task, "when is high water");
    dispatch_check(&k, &now(), &t).expect("reviewed");
    let binding = Digest::of(b"tides");
    type Change = fn(&mut Kernel, Digest);
    let changes: [(Change, &str); 6] = [
        (
            |k, _| k.put_guidance(guidance("harbour", "maps", Review::Unreviewed, b"tides")).expect("room"),
            "SlashSkillIneligible",
        ),
        (
            |k, binding| {
                let review = Review::HumanReviewed { binding };
                k.put_guidance(guidance("harbour", "maps", review, b"other tides")).expect("room");
            },
            "SlashSkillIneligible",
        ),
        (
            |k, _| {
                let review = Review::HumanReviewed { binding: Digest::of(b"other tides") };
                k.put_guidance(guidance("harbour", "maps", review, b"other tides")).expect("room");
            },
            "SlashStale",
        ),
        (
            |k, binding| {
                let review = Review::HumanReviewed { binding };
                let g = guidance("harbour", "maps", review, b"tides");
                k.put_guidance(Guidance { enabled: false, ..g }).expect("room");
            },
            "SlashSkillIneligible",
        ),
        (
            |k, binding| {
                let g = guidance("harbour", "maps", Review::HumanReviewed { binding }, b"tides");
                k.put_guidance(Guidance { problem: Some("its frontmatter has no end".into()), ..g }).expect("room");
            },
            "SlashSkillIneligible",
        ),
        (|k, _| k.remove_guidance(&skill("harbour")), "SlashSkillIneligible"),
    ];
    for (i, (change, want)) in changes.into_iter().enumerate() {
        let mut k = kernel();
        let shown = Catalog::project(&k, &now());
        change(&mut k, binding);
        assert_eq!(dispatch_check(&k, &now(), &t).expect_err("changed").code(), want, "dispatch {i}");
        assert!(enter_seeing(&k, &shown, "/skill:harbour x").is_err(), "submission {i}");
    }
}

#[test]
fn t168_an_unknown_command_is_not_chat() {
    let k = kernel();
    for text in ["/nothing here", "/app:nothing", "/cmd:nothing", "/foo:bar", "/", "/App:files", "/app :files"] {
        assert_eq!(refused(enter(&k, text)), "SlashUnknown", "{text}");
    }
    let long = format!("/{}", "é".repeat(200));
    assert!(enter(&k, &long).expect_err("unknown").to_string().len() < 200);
    assert_eq!(enter(&k, "no slash /app:files"), Ok(Submission::Text("no slash /app:files".into())));
}

#[test]
fn t169_a_handlers_error_is_an_error() {
    let k = kernel();
    let Ok(Submission::Local(theme)) = enter(&k, "/cmd:theme dark") else { panic!("local") };
    let Ok(Submission::Local(files)) = enter(&k, "/app:files") else { panic!("local") };
    assert_eq!(theme.finish(Ok(theme.receipt("dark now"))), Outcome::Done(theme.receipt("dark now")));
    let failed = |o: Outcome| match o {
        Outcome::Failed(r) => (r.code.into_owned(), r.observed),
        Outcome::Done(r) => panic!("{r:?}"),
    };
    assert_eq!(failed(theme.finish(Err("no such scheme".into()))), ("CommandFailed".into(), "no such scheme".into()));
    // The receipt of something else is no success of this (I-139).
    assert_eq!(failed(theme.finish(Ok(files.receipt("opened")))).0, "ReceiptForeign");
}

#[test]
fn t170_a_command_that_did_not_opt_in_is_out_of_reach() {
    let mut k = kernel();
    assert!(Catalog::project(&k, &now()).get("/cmd:wipe").is_none());
    assert_eq!(refused(enter(&k, "/cmd:wipe")), "SlashNotOptedIn");
    assert_eq!(refused(enter(&k, "/wipe")), "SlashUnknown");
    // Opting in is the owner's registration, and nobody else's.
    assert!(k.put_command(command("maps", "wipe", true, vec![])).is_err());
    k.put_command(command("core", "wipe", true, vec![])).expect("room");
    let shown = Catalog::project(&k, &now());
    assert!(enter(&k, "/cmd:wipe").is_ok());
    k.put_command(command("core", "wipe", false, vec![])).expect("room");
    assert_eq!(refused(enter_seeing(&k, &shown, "/cmd:wipe")), "SlashNotOptedIn");
}

#[test]
fn tasks_and_drafts_are_bounded() {
    let k = kernel();
    assert_eq!(refused(enter(&k, "/tool:files.read")), "SlashTaskMissing");
    assert_eq!(refused(enter(&k, "/skill:harbour  \n ")), "SlashTaskMissing");
    let (mut hands, c) = (Hands::new(), Catalog::project(&k, &now()));
    for (n, want) in [(TASK_MAX, None), (TASK_MAX + 1, Some("SlashTooLong")), (SLASH_MAX, Some("SlashTooLong"))] {
        let text = format!("/tool:files.read {}", "x".repeat(n));
        let mut d = Draft::default();
        d.edited(&text, EditOrigin::Typed, &hands.act(GestureKind::TextEdit));
        let r = d.submit(&text, &hands.press(), &k, &now(), &c);
        assert_eq!(r.err().map(|e| e.code()), want, "{n}");
    }
}

#[test]
fn field_3h2_fast_typing_runs_the_text_or_nothing() {
    // The list of `/` is still on screen, its first row is not what was typed.
    let mut k = kernel();
    k.put_app(entry("calendar", "core")).expect("room");
    let shown = Catalog::project(&k, &now());
    assert_eq!(refused(enter_seeing(&k, &shown, "/app:cal")), "SlashUnknown");
    let open = Submission::Local(LocalDispatch::OpenApp(app("calendar")));
    assert_eq!(enter_seeing(&k, &shown, "/app:calendar"), Ok(open));
}

#[test]
fn field_3h4_every_late_pick_is_refused_with_its_reason() {
    let (mut k, mut hands) = (kernel(), Hands::new());
    let shown = Catalog::project(&k, &now());
    k.set_package_state(&package("maps"), OFF).expect("there");
    for row in shown.rows.iter().filter(|r| r.source.package == "maps") {
        let e = Draft::run(&k, &now(), row, &hands.click()).expect_err("late");
        let told = k.refuse(e);
        let why = ["switched off", "missing or switched off"].iter().any(|w| told.plain().contains(w));
        assert!(why, "{}", told.plain());
    }
    assert_eq!(k.refusals().total(), 4);
}

fn big() -> Kernel {
    let mut k = Kernel::new();
    k.put_package(package("p"), "P", ON, Digest::of(b"")).expect("room");
    for i in 0..ROWS_MAX {
        k.put_command(command("p", &format!("row-{i:04}.of-many"), true, vec![])).expect("room");
    }
    k
}

#[test]
fn the_catalogue_holds_2048_rows_and_says_what_it_left_out() {
    let mut k = big();
    let c = Catalog::project(&k, &now());
    assert_eq!((c.rows.len(), c.left_out), (ROWS_MAX, 0));
    k.put_app(entry("zzz", "p")).expect("room");
    let c = Catalog::project(&k, &now());
    assert_eq!((c.rows.len(), c.left_out), (ROWS_MAX, 1));
    // A row that is left out still counts against its short name (I-151).
    k.put_guidance(guidance("row-0001.of-many", "p", Review::BuiltIn, b"")).expect("room");
    let c = Catalog::project(&k, &now());
    assert!(c.get("/skill:row-0001.of-many").is_none());
    assert_eq!(c.get("/cmd:row-0001.of-many").and_then(|r| r.alias.clone()), None);
    let mut s = SearchManager::default();
    let none = Recency::new();
    assert_eq!(s.search(&c, "cmd:row", &none).len(), ROWS_MAX - 1);
    let hits = s.search(&c, "cmd:row-0777.of-many", &none);
    assert_eq!((hits[0].tier, c.rows[hits[0].row].name()), (Tier::Exact, "row-0777.of-many"));
}

#[test]
fn ranking_keeps_to_its_tiers_and_marks_what_matched() {
    let mut k = kernel();
    for (name, title) in [("file", "x"), ("profile", "x"), ("my-file", "x"), ("f-i-l-e", "x"), ("zip", "Pack a file")] {
        k.put_command(Command { title: title.into(), ..command("core", name, true, vec![]) }).expect("room");
    }
    let c = Catalog::project(&k, &now());
    let mut s = SearchManager::default();
    let order = |hits: &[Hit]| hits.iter().map(|h| c.rows[h.row].canonical.as_str()).collect::<Vec<_>>();
    let hits = s.search(&c, "cmd:file", &Recency::from([("/cmd:profile".to_owned(), 9)]));
    assert_eq!(hits.iter().map(|h| h.tier).collect::<Vec<_>>()[..2], [Tier::Exact, Tier::WordStart]);
    assert_eq!(order(&hits)[0], "/cmd:file");
    assert!(hits.is_sorted_by_key(|h| h.tier), "recency never crosses a tier: {:?}", order(&hits));
    let marked = |h: &Hit| {
        let letters: Vec<char> = c.rows[h.row].canonical.chars().collect();
        h.name_marks.iter().map(|i| letters[*i as usize]).collect::<String>()
    };
    for h in hits.iter().filter(|h| !h.name_marks.is_empty()) {
        assert_eq!(marked(h), "file", "{}", c.rows[h.row].canonical);
    }
    // While the qualifier itself is typed, its rows are there.
    for typed in ["ap", "app", "to", "tool", "ski"] {
        let hits = s.search(&c, typed, &Recency::new());
        assert!(hits.iter().any(|h| c.rows[h.row].kind.head().starts_with(typed)), "{typed}");
    }
}
