use super::*;
use crate::Kernel;
use crate::authority::{GestureKind, GestureMint, Proof};
use crate::ids::*;
use crate::registry::*;
use std::collections::BTreeSet;

fn at(t: u64) -> Instant {
    Instant { wall_ms: 0, mono_ms: t }
}

fn app(id: &str, package: &str) -> AppEntry {
    AppEntry {
        id: AppId::new(id).expect("id"),
        package: PackageId::new(package).expect("id"),
        package_digest: Digest::of(b""),
        title: id.to_uppercase(),
        icon: "app",
        launchable: true,
        kind: AppKind::Window,
        actions: vec![],
        surfaces: vec![],
        tools: BTreeSet::new(),
        rev: Rev(0),
    }
}

fn kernel(apps: &[&str]) -> Kernel {
    let mut k = Kernel::new();
    for a in apps {
        let p = PackageId::new(a).expect("id");
        k.put_package(p, a, PackageState::Present { enabled: true }, Digest::of(a.as_bytes())).expect("room");
        k.put_app(app(a, a)).expect("room");
    }
    k
}

fn now() -> Situation {
    Situation { agent: AppId::new("ai-echo").expect("id"), affordances: BTreeSet::new() }
}

fn typed(text: &str, mint: &mut GestureMint) -> (Draft, Proof) {
    let mut d = Draft::default();
    d.edited(text, EditOrigin::Typed, &mint.stamp(GestureKind::TextEdit, true, at(1)));
    (d, mint.stamp(GestureKind::Key, true, at(2)))
}

#[test]
fn field_3h1_exact_name_wins_over_recency_and_neighbours() {
    let names: Vec<String> =
        (0..40).map(|i| format!("zz{i}")).chain(["notes-archive".into(), "notes".into()]).collect();
    let k = kernel(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let c = Catalog::project(&k, &now());
    let recency = Recency::from([("/app:notes-archive".to_owned(), 50)]);
    for q in ["app:notes", "notes"] {
        let hits = SearchManager::default().search(&c, q, &recency);
        assert_eq!(c.rows[hits[0].row].canonical, "/app:notes", "{q}");
        assert_eq!(hits[0].tier, Tier::Exact);
    }
    // Recency breaks a tie.
    let hits = SearchManager::default().search(&c, "zz", &Recency::from([("/app:zz39".to_owned(), 1)]));
    assert_eq!(c.rows[hits[0].row].canonical, "/app:zz39");
}

#[test]
fn marks_are_told_for_the_rows_that_are_shown_and_every_row_is_ranked() {
    let names: Vec<String> = (0..SHOWN_MAX + 10).map(|i| format!("z{i}q")).collect();
    let c = Catalog::project(&kernel(&names.iter().map(String::as_str).collect::<Vec<_>>()), &now());
    let hits = SearchManager::default().search(&c, "zq", &Recency::new());
    assert_eq!(hits.len(), names.len());
    for (n, hit) in hits.iter().enumerate() {
        let row: Vec<char> = c.rows[hit.row].canonical.chars().collect();
        let marked: String = hit.name_marks.iter().map(|i| row[*i as usize]).collect();
        assert_eq!(marked, if n < SHOWN_MAX { "zq" } else { "" }, "{n}: {}", c.rows[hit.row].canonical);
    }
}

#[test]
fn field_3h3_paths_are_not_commands() {
    assert_eq!(classify("/mnt/project/todo.md has a typo, fix it"), Shape::NotCommand("/mnt/project/todo.md"));
    assert_eq!(classify("// x"), Shape::NotCommand("//"));
    assert_eq!(classify("/ x"), Shape::NotCommand("/"));
    assert_eq!(classify(" hello /x"), Shape::Plain);
    let (k, mut mint) = (kernel(&["files"]), GestureMint::for_tests());
    let c = Catalog::project(&k, &now());
    for text in ["/mnt/project/todo.md has a typo", "/etc", "/app", "/a/b"] {
        let (d, p) = typed(text, &mut mint);
        let e = d.submit(text, &p, &k, &now(), &c).expect_err(text);
        assert_eq!(e.code(), "SlashUnknown", "{text}");
    }
}

#[test]
fn t164_trust_matrix() {
    let (k, mut mint) = (kernel(&["files"]), GestureMint::for_tests());
    let c = Catalog::project(&k, &now());
    let text = "/app:files";
    let (d, p) = typed(text, &mut mint);
    let open = Submission::Local(LocalDispatch::OpenApp(AppId::new("files").expect("id")));
    assert_eq!(d.submit(text, &p, &k, &now(), &c), Ok(open.clone()));
    assert_eq!(d.submit(text, &Proof::Untrusted, &k, &now(), &c), Err(SlashRefusal::SlashUntrustedSubmit));
    assert_eq!(d.submit("/app:files ", &p, &k, &now(), &c), Err(SlashRefusal::SlashDraftChanged));
    let mut d = Draft::default();
    d.edited(text, EditOrigin::Typed, &Proof::Untrusted);
    assert_eq!(d.submit(text, &p, &k, &now(), &c), Err(SlashRefusal::SlashUntrustedEdit));
    for origin in [EditOrigin::Pasted, EditOrigin::Restored] {
        let mut d = Draft::default();
        d.edited(text, origin, &mint.stamp(GestureKind::Paste, true, at(3)));
        assert_eq!(d.submit(text, &p, &k, &now(), &c).expect_err("edit first").code(), "SlashUntrustedEdit");
        d.edited(text, EditOrigin::Typed, &mint.stamp(GestureKind::TextEdit, true, at(4)));
        assert_eq!(d.submit(text, &p, &k, &now(), &c), Ok(open.clone()));
    }
    let (mut d, p) = typed(text, &mut mint);
    d.tainted();
    assert_eq!(d.submit(text, &p, &k, &now(), &c), Err(SlashRefusal::SlashUntrustedEdit));
    // A plain message needs the person's act as well.
    assert_eq!(d.submit("hi", &Proof::Untrusted, &k, &now(), &c), Err(SlashRefusal::SlashUntrustedSubmit));
}

#[test]
fn t162_alias_removed_from_all_on_collision_and_restored() {
    let mut k = kernel(&["files"]);
    let alias = |k: &Kernel| Catalog::project(k, &now()).get("/app:files").and_then(|r| r.alias.clone());
    assert_eq!(alias(&k).as_deref(), Some("files"));
    let owner = PackageId::new("files").expect("id");
    let name = CommandName::new("files").expect("id");
    let command = Command {
        name: name.clone(),
        owner: owner.clone(),
        title: "x".into(),
        opt_in_search: true,
        args: vec![],
        rev: Rev(0),
    };
    k.put_command(command).expect("room");
    let c = Catalog::project(&k, &now());
    assert!(c.rows.iter().all(|r| r.alias.is_none()));
    assert_eq!(c.resolve("files").expect_err("ambiguous").code(), "SlashAliasAmbiguous");
    k.remove_command(&name, &owner).expect("there");
    assert_eq!(alias(&k).as_deref(), Some("files"));
}

#[test]
fn field_3h4_a_late_pick_is_refused_with_its_reason() {
    let (mut k, mut mint) = (kernel(&["maps"]), GestureMint::for_tests());
    let c = Catalog::project(&k, &now());
    let row = c.get("/app:maps").expect("row");
    k.set_package_state(&PackageId::new("maps").expect("id"), PackageState::Present { enabled: false }).expect("there");
    assert!(Catalog::project(&k, &now()).rows.is_empty());
    let g = mint.stamp(GestureKind::Click, true, at(1)).trusted().expect("trusted");
    let e = Draft::run(&k, &now(), row, &g).expect_err("gone");
    assert_eq!(e.to_string(), "the package maps is switched off");
}

#[test]
fn argument_hints_mark_the_current_slot_and_complete_it() {
    let mut k = kernel(&["shell"]);
    let slot = |name, kind| ArgSlot { name, kind, required: true };
    let kind = ArgKind::Enum(["dark", "light", "system"].map(String::from).into());
    k.put_command(Command {
        name: CommandName::new("theme").expect("id"),
        owner: PackageId::new("shell").expect("id"),
        title: "Theme".into(),
        opt_in_search: true,
        args: vec![slot("package", ArgKind::Package), slot("scheme", kind)],
        rev: Rev(0),
    })
    .expect("room");
    let c = Catalog::project(&k, &now());
    let row = c.get("/cmd:theme").expect("row");
    let h = hint(&k, row, "");
    assert_eq!((h.slots[0].1, h.completions.as_slice()), (true, ["shell".to_owned()].as_slice()));
    let h = hint(&k, row, "shell d");
    assert_eq!((h.slots[1].1, h.completions.as_slice()), (true, ["dark".to_owned()].as_slice()));
    assert!(split_args(&k, row, "shell pink").is_err());
    assert_eq!(split_args(&k, row, "shell dark").expect("ok"), ["shell", "dark"]);
    assert!(split_args(&k, row, "shell").is_err());
}

#[test]
fn a_whole_qualifier_means_its_kind_and_a_thing_stands_before_what_belongs_to_it() {
    let mut k = kernel(&["echo", "files"]);
    let mut with = app("echo", "echo");
    with.actions = vec![ManifestAction { id: ActionId::new("find").expect("id"), title: "Find".into() }];
    k.put_app(with).expect("room");
    // One letter from the qualifier on, an app whose name begins with it.
    k.put_package(
        PackageId::new("apps").expect("id"),
        "Apps",
        PackageState::Present { enabled: true },
        Digest::of(b""),
    )
    .expect("room");
    k.put_app(app("apps", "apps")).expect("room");
    let c = Catalog::project(&k, &now());
    let used = Recency::from([("/action:echo:find".to_owned(), 9)]);
    let names = |q: &str| -> Vec<String> {
        let hits = SearchManager::default().search(&c, q, &used);
        hits.iter().map(|h| c.rows[h.row].canonical.clone()).collect()
    };
    assert_eq!(names("action")[0], "/action:echo:find");
    assert!(names("app")[..3].iter().all(|n| n.starts_with("/app:")), "{:?}", names("app"));
    for q in ["ech", "echo"] {
        assert_eq!(names(q)[..2], ["/app:echo", "/action:echo:find"], "{q}");
    }
}
