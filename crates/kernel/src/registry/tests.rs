//! The registries: every refusal, one revision, owners, and the eight surface states.

use super::*;
use crate::Kernel;
use crate::fixture::*;
use crate::slash::Catalog;
use crate::tools::ToolClass;

#[test]
fn i135_every_change_raises_the_revision_and_rows_carry_theirs() {
    let mut k = kernel();
    let mut last = k.rev();
    type Change = fn(&mut Kernel);
    let changes: [Change; 14] = [
        |k| k.put_package(package("new"), "New", ON, Digest::of(b"1")).expect("room"),
        |k| k.set_package_state(&package("new"), OFF).expect("there"),
        |k| k.set_package_state(&package("new"), ON).expect("there"),
        |k| k.put_app(entry("new", "new")).expect("room"),
        |k| k.put_app(AppEntry { title: "Newer".into(), ..entry("new", "new") }).expect("room"),
        |k| k.remove_app(&app("new"), &package("new")).expect("there"),
        |k| k.put_command(command("new", "go", true, vec![])).expect("room"),
        |k| k.remove_command(&command_name("go"), &package("new")).expect("there"),
        |k| assert!(k.put_tool(source("new", "new.tool", ToolClass::Read, "{}")).is_ok()),
        |k| k.remove_tool(&tool("new.tool"), &package("new")).expect("there"),
        |k| k.put_guidance(guidance("new", "new", Review::Unreviewed, b"")).expect("room"),
        |k| k.remove_guidance(&skill("new")),
        |k| k.set_denied(&tool("files.read"), true),
        |k| k.remove_package(&package("new")).expect("there"),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        change(&mut k);
        assert!(k.rev() > last, "change {i}");
        last = k.rev();
    }
    let rows = Catalog::project(&k, &now());
    assert_eq!(rows.rev, k.rev());
    let files = k.apps().get(&app("files")).expect("there").rev;
    assert_eq!(rows.get("/app:files").map(|r| r.source.rev), Some(files));
    // A refused change is none.
    assert!(k.remove_app(&app("files"), &package("maps")).is_err());
    assert_eq!(k.rev(), last);
}

#[test]
fn i137_a_package_changes_only_its_own_and_goes_as_a_whole() {
    let mut k = kernel();
    let maps = package("maps");
    let not_owner = |r: Result<(), RegistryRefusal>| assert_eq!(r.expect_err("another's").code(), "NotOwner");
    not_owner(k.put_app(entry("files", "maps")));
    not_owner(k.remove_app(&app("files"), &maps));
    not_owner(k.put_command(command("maps", "theme", true, vec![])));
    not_owner(k.remove_command(&command_name("theme"), &maps));
    not_owner(k.put_guidance(guidance("summarise-notes", "maps", Review::BuiltIn, b"")));
    let rows = |k: &Kernel| {
        let c = Catalog::project(k, &now());
        c.rows.into_iter().filter(|r| r.source.package == "maps").map(|r| r.canonical).collect::<Vec<_>>()
    };
    let all = ["/app:maps", "/cmd:locate", "/skill:harbour", "/tool:maps.route"];
    assert_eq!(rows(&k), all);
    k.set_package_state(&maps, OFF).expect("there");
    assert_eq!(rows(&k), [""; 0]);
    let r = CommandRef { name: command_name("locate"), rev: k.commands().get(&command_name("locate")).expect("c").rev };
    assert_eq!(k.commands().dispatch(&r, k.packages()).expect_err("off").code(), "PackageDisabled");
    k.set_package_state(&maps, ON).expect("there");
    assert_eq!(rows(&k), all);
    k.remove_package(&maps).expect("there");
    assert_eq!(rows(&k), [""; 0]);
    assert!(k.tools().get(&tool("maps.route")).is_none() && k.guidance().get(&skill("harbour")).is_none());
    assert_eq!(k.remove_package(&maps).expect_err("gone").code(), "PackageUnknown");
}

#[test]
fn every_registry_refusal_is_produced_and_reads_as_a_sentence() {
    let mut k = kernel();
    let mut seen = BTreeSet::new();
    let mut told = |e: RegistryRefusal| {
        let r = Refusal::from(e.clone());
        assert_eq!(r.code, e.code());
        assert!(r.plain().len() > 40, "{}", r.plain());
        seen.insert(e.code());
    };
    for kind in [AppKind::Hidden, AppKind::Background, AppKind::Overlay] {
        k.put_app(AppEntry { kind, ..entry("odd", "core") }).expect("room");
        told(k.apps().live(&app("odd"), k.packages()).expect_err("no window"));
    }
    told(k.apps().live(&app("nothing"), k.packages()).expect_err("missing"));
    for state in [OFF, PackageState::Missing, PackageState::Orphaned] {
        k.set_package_state(&package("maps"), state).expect("there");
        told(k.apps().live(&app("maps"), k.packages()).expect_err("not live"));
    }
    k.put_package(package("maps"), "Maps", ON, Digest::of(b"maps 2")).expect("room");
    told(k.apps().live(&app("maps"), k.packages()).expect_err("stale"));
    let rev = |k: &Kernel, n: &str| k.commands().get(&command_name(n)).map_or(Rev(0), |c| c.rev);
    fn go(k: &Kernel, n: &str, rev: Rev) -> Result<(), RegistryRefusal> {
        k.commands().dispatch(&CommandRef { name: command_name(n), rev }, k.packages()).map(|_| ())
    }
    told(go(&k, "nothing", Rev(0)).expect_err("unknown"));
    told(go(&k, "wipe", rev(&k, "wipe")).expect_err("private"));
    told(go(&k, "theme", Rev(0)).expect_err("old"));
    assert!(go(&k, "theme", rev(&k, "theme")).is_ok());
    told(k.remove_app(&app("files"), &package("maps")).expect_err("another's"));
    told(k.put_app(entry("x", "ghost")).expect_err("nobody's"));
    told(k.set_package_state(&package("ghost"), ON).expect_err("nobody"));
    let many = (0..=PER_APP_MAX)
        .map(|i| ManifestAction { id: ActionId::new(&format!("a{i}")).expect("id"), title: String::new() });
    told(k.put_app(AppEntry { actions: many.collect(), ..entry("x", "core") }).expect_err("full"));
    assert_eq!(seen.len(), 13, "{seen:?}");
}

#[test]
fn registries_are_bounded() {
    let mut k = Kernel::new();
    for i in 0..ENTRIES_MAX {
        k.put_package(package(&format!("p{i}")), "P", ON, Digest::of(b"")).expect("room");
    }
    assert_eq!(k.put_package(package("q"), "Q", ON, Digest::of(b"")).expect_err("full").code(), "RegistryFull");
    k.put_package(package("p0"), "again", OFF, Digest::of(b"")).expect("an update needs no room");
    for i in 0..ENTRIES_MAX {
        k.put_app(entry(&format!("a{i}"), "p1")).expect("room");
    }
    for i in 0..GUIDANCE_MAX {
        k.put_guidance(guidance(&format!("g{i}"), "p1", Review::BuiltIn, b"")).expect("room");
    }
    assert_eq!(k.put_app(entry("b", "p1")).expect_err("full").code(), "RegistryFull");
    let g = guidance("h", "p1", Review::BuiltIn, b"");
    assert_eq!(k.put_guidance(g).expect_err("full").code(), "RegistryFull");
}

#[test]
fn field_5h4_titles_are_cut_between_characters() {
    for n in 0..3 {
        let title = "x".repeat(n) + &"→".repeat(100_000);
        let mut k = kernel();
        k.put_package(package("core"), &title, ON, Digest::of(b"core 1")).expect("room");
        k.put_app(AppEntry { title: title.clone(), ..entry("files", "core") }).expect("room");
        k.put_command(Command { title: title.clone(), ..command("core", "theme", true, vec![]) }).expect("room");
        let summary = title.clone();
        k.put_guidance(Guidance { title, summary, ..guidance("x", "core", Review::BuiltIn, b"") }).expect("room");
        for row in Catalog::project(&k, &now()).rows {
            assert!(row.title.len() <= TITLE_MAX + 3 && !row.title.contains('\u{fffd}'), "{}", row.canonical);
        }
        let g = k.guidance().get(&skill("x")).expect("there");
        assert!(g.summary.len() <= SUMMARY_MAX + 3 && g.summary.ends_with('…'));
    }
}
