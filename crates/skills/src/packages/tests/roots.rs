//! Several files and roots: precedence, what is refused, what is never opened, activation.

use super::super::bounds::{ROOT_ENTRIES_MAX, *};
use super::super::*;
use kernel::mount::{Entry, EntryKind, MemMount, MountError, MountPath, Need, Reply, Step, drive};
use kernel::{Digest, Refusal};
use proptest::prelude::*;

fn path(text: &str) -> MountPath {
    MountPath::parse(text).expect("path")
}

fn tide(body: &str) -> String {
    format!("---\nname: tide-table\ndescription: Look up harbour tide times.\n---\n{body}\n")
}

fn named(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Says in one sentence when to use {name}.\n---\nSteps of {name}.\n")
}

/// A mount whose single answers can be replaced.
#[derive(Default)]
struct Mount {
    mem: MemMount,
    fail: Vec<(&'static str, MountError)>,
    links: Vec<&'static str>,
}

impl Mount {
    fn with(files: &[(&str, &str)]) -> Self {
        Self { mem: MemMount::with(files), ..Self::default() }
    }
    fn put(&mut self, at: &str, text: &str) {
        self.mem.files.insert(path(at), text.as_bytes().to_vec());
    }
    fn perform(&mut self, need: &Need) -> Reply {
        let (Need::List { path, .. } | Need::Read { path, .. } | Need::Stat { path }) = need else {
            panic!("{need:?}")
        };
        if let Need::Stat { path } = need
            && self.links.contains(&path.as_str())
        {
            return Reply::Found { kind: EntryKind::Link, size: 0 };
        }
        if let Some((_, e)) = self.fail.iter().find(|(p, _)| *p == path.as_str()) {
            self.mem.log.push(need.clone());
            return Reply::Failed(e.clone());
        }
        self.mem.perform(need)
    }
    fn look(&mut self) -> Packages {
        let mut d = Discovery::new(&MountPath::root());
        drive(|r| d.step(r), |n| self.perform(n))
    }
    fn activate(&mut self, p: &Packages, name: &str) -> Result<Activated, PackageRefusal> {
        let mut a = p.activate(name)?;
        drive(|r| a.step(r), |n| self.perform(n))
    }
}

fn code<T>(r: Result<T, PackageRefusal>) -> String {
    r.map_or_else(|e| Refusal::from(e).code.into_owned(), |_| "ok".to_owned())
}

#[test]
fn t152_the_first_root_with_an_entry_decides_for_better_or_worse() {
    // Each root has no entry, a valid one or an invalid one: 3^5 workspaces.
    for n in 0..243u32 {
        let state: Vec<u32> = (0..5).map(|i| n / 3u32.pow(i) % 3).collect();
        let mut m = Mount::default();
        for (i, root) in Root::ALL.iter().enumerate() {
            let at = format!("{root}/tide-table/SKILL.md");
            match state[i] {
                1 => m.put(&at, &tide(&format!("From {root}."))),
                2 => m.put(&at, "---\nname: tide-table\n---\nNo description.\n"),
                _ => {}
            }
        }
        let p = m.look();
        let winner = state.iter().position(|s| *s > 0);
        let want = match winner.map(|i| state[i]) {
            None => "NameUnknown",
            Some(1) => "ok",
            _ => "InvalidWinner",
        };
        assert_eq!(code(p.get("tide-table")), want, "{state:?}");
        if let (Some(i), Ok(a)) = (winner, m.activate(&p, "tide-table")) {
            assert_eq!(a.text(), format!("From {}.\n", Root::ALL[i]));
            assert_eq!(a.provenance().root, Root::ALL[i]);
        }
        let lower = p
            .found()
            .iter()
            .filter(|f| matches!(f.standing, Standing::Shadowed(r) if Some(r) == winner.map(|i| Root::ALL[i])));
        assert_eq!(lower.count(), state.iter().filter(|s| **s > 0).count().saturating_sub(1));
    }
}

#[test]
fn t153_i126_an_invalid_winner_gives_its_place_to_nobody() {
    let mut m = Mount::with(&[
        (".agents/skills/tide-table/SKILL.md", &tide("x").replace("description", "summary")),
        (".claude/skills/tide-table/SKILL.md", &tide("lower")),
        // A name that differs in case only is the same name on many disks.
        (".agents/skills/Harbour/SKILL.md", &named("Harbour")),
        (".claude/skills/harbour/SKILL.md", &named("harbour")),
        // A folder without its file has the name as well.
        (".agents/skills/quay/notes.md", "x"),
        (".claude/skills/quay/SKILL.md", &named("quay")),
        (".claude/skills/pier/SKILL.md", &named("pier")),
    ]);
    let p = m.look();
    assert_eq!(p.names().collect::<Vec<_>>(), ["pier"]);
    for name in ["tide-table", "quay"] {
        let e = p.get(name).map(|f| f.folder.clone()).expect_err(name);
        assert!(matches!(&e, PackageRefusal::InvalidWinner { place, .. } if place.starts_with(".agents")), "{e}");
    }
    assert_eq!(code(p.get("harbour")), "InvalidWinner");
    let told: Vec<_> = p.diagnostics().iter().map(|t| (t.place.clone(), t.diagnostic.code.name())).collect();
    assert!(told.contains(&(".agents/skills/tide-table/SKILL.md".to_owned(), "InvalidWinner")));
    assert!(told.contains(&(".claude/skills/quay/SKILL.md".to_owned(), "Shadowed")));
}

#[test]
fn t154_i127_a_root_that_was_not_seen_whole_refuses_what_lies_below_it() {
    for k in 0..5 {
        for cut in [false, true] {
            let mut m = Mount::default();
            for (i, root) in Root::ALL.iter().enumerate() {
                m.put(&format!("{root}/skill-{i}/SKILL.md"), &named(&format!("skill-{i}")));
            }
            let at: &'static str =
                [".agents/skills", ".claude/skills", ".github/skills", ".gemini/skills", ".cursor/skills"][k];
            if cut {
                for i in 0..=ROOT_ENTRIES_MAX {
                    m.put(&format!("{at}/zz-{i:04}/SKILL.md"), &named(&format!("zz-{i:04}")));
                }
            } else {
                m.fail.push((at, MountError::Denied));
            }
            let p = m.look();
            for i in 0..5 {
                let want = match (i.cmp(&k), cut) {
                    (std::cmp::Ordering::Less, _) | (std::cmp::Ordering::Equal, true) => "ok",
                    (std::cmp::Ordering::Equal, false) => "NameUnknown",
                    (std::cmp::Ordering::Greater, _) => "IncompleteHigherScan",
                };
                assert_eq!(code(p.get(&format!("skill-{i}"))), want, "k {k} i {i} cut {cut}");
            }
            let told = p.diagnostics();
            assert_eq!((told[0].place.as_str(), told[0].diagnostic.code.name()), (at, "RootIncomplete"));
            assert_eq!(told[0].diagnostic.cause.contains("256"), cut, "{}", told[0].diagnostic);
        }
    }
}

#[test]
fn i177_exactly_the_cap_of_entries_is_a_whole_scan() {
    let mut m = Mount::default();
    for i in 0..ROOT_ENTRIES_MAX {
        m.put(&format!(".agents/skills/s-{i:04}/SKILL.md"), &named(&format!("s-{i:04}")));
    }
    m.put(".claude/skills/lower/SKILL.md", &named("lower"));
    let p = m.look();
    assert_eq!(p.roots()[0].1, RootScan::Whole { entries: ROOT_ENTRIES_MAX });
    assert_eq!(p.names().count(), ROOT_ENTRIES_MAX + 1);
    // No step asks for more than a batch of files.
    let most = m.mem.log.iter().filter(|n| matches!(n, Need::Read { .. })).count();
    assert_eq!(most, ROOT_ENTRIES_MAX + 1);
}

#[test]
fn t155_i128_twins_of_one_root_are_both_refused() {
    let mut m = Mount::with(&[
        (".claude/skills/tide-table/SKILL.md", &tide("one")),
        (".claude/skills/Tide-Table/SKILL.md", &tide("two")),
        (".claude/skills/café/SKILL.md", &named("café")),
        (".claude/skills/cafe\u{301}/SKILL.md", &named("café")),
        (".gemini/skills/tide-table/SKILL.md", &tide("lower")),
    ]);
    let p = m.look();
    for name in ["tide-table", "Tide-Table", "café", "cafe\u{301}"] {
        assert_eq!(code(p.get(name)), "AmbiguousCollision", "{name}");
    }
    let marked =
        p.found().iter().filter(|f| f.diagnostics.iter().any(|d| d.code.name() == "AmbiguousCollision")).count();
    assert_eq!(marked, 4);
    assert!(matches!(p.found().last().map(|f| f.standing), Some(Standing::Shadowed(Root::Claude))));
}

#[test]
fn t157_i131_nothing_below_a_package_is_listed_or_opened() {
    let mut m = Mount::with(&[
        (".agents/skills/tide-table/SKILL.md", &tide("x")),
        (".agents/skills/tide-table/scripts/run.sh", "x"),
        (".agents/skills/tide-table/scripts/SKILL.md", &named("scripts")),
        (".agents/skills/tide-table/references/a.md", "x"),
        (".agents/skills/tide-table/assets/b.png", "x"),
        (".agents/skills/no-file/scripts/SKILL.md", &named("scripts")),
    ]);
    let p = m.look();
    m.activate(&p, "tide-table").expect("activates");
    for need in &m.mem.log {
        let (Need::List { path, .. } | Need::Read { path, .. } | Need::Stat { path }) = need else {
            panic!("{need:?} is no look");
        };
        for never in ["scripts", "references", "assets"] {
            assert!(!path.segments().any(|s| s == never), "{need:?}");
        }
    }
    assert!(m.mem.log.iter().any(|n| matches!(n, Need::Read { .. })));
}

#[test]
fn i99_i100_hooks_agents_and_scripts_of_vendors_are_never_looked_at() {
    let mut m = Mount::with(&[
        (".agents/skills/tide-table/SKILL.md", &tide("Run hooks/pre.sh before you answer.")),
        (".agents/skills/tide-table/hooks/pre.sh", "x"),
        (".agents/hooks/pre.sh", "x"),
        (".claude/agents/helper.md", "x"),
        (".claude/settings.json", "{}"),
        (".cursor/hooks.json", "{}"),
        (".github/workflows/run.yml", "x"),
        (".gemini/commands/go.toml", "x"),
    ]);
    let p = m.look();
    // The body names a hook; it comes out as the text it is (I-97).
    assert_eq!(m.activate(&p, "tide-table").expect("usable").text(), "Run hooks/pre.sh before you answer.\n");
    for need in &m.mem.log {
        let (Need::List { path, .. } | Need::Read { path, .. } | Need::Stat { path }) = need else {
            panic!("{need:?}")
        };
        let below = path.segments().nth(1);
        assert!(below.is_none_or(|s| s == "skills"), "{need:?}");
        assert!(below.is_some() || matches!(need, Need::Stat { .. }), "{need:?}");
        assert!(!path.segments().any(|s| s == "hooks"), "{need:?}");
    }
}

#[test]
fn t151_i133_links_and_unsafe_names_are_listed_with_a_reason_and_never_opened() {
    let mut m = Mount::with(&[
        (".agents/skills/con/SKILL.md", &named("con")),
        (".agents/skills/a:b/SKILL.md", &named("a:b")),
        (".agents/skills/tide-table/SKILL.md", &tide("x")),
        (".github/skills/by-link/SKILL.md", &named("by-link")),
        (".gemini/skills/lower/SKILL.md", &named("lower")),
        (".agents/skills/file-link/notes.md", "x"),
        (".agents/skills/wrong-case/skill.md", &named("wrong-case")),
    ]);
    m.mem.links.insert(path(".agents/skills/elsewhere"));
    m.mem.links.insert(path(".agents/skills/file-link/SKILL.md"));
    m.links.push(".github");
    let p = m.look();
    let reason = |folder: &str| {
        let f = p.found().iter().find(|f| f.folder == folder).unwrap_or_else(|| panic!("{folder} is listed"));
        f.diagnostics[0].to_string()
    };
    assert!(reason("con").contains("PathUnsafe") && reason("con").contains("device"), "{}", reason("con"));
    assert!(reason("a:b").contains("PathUnsafe"));
    assert!(reason("elsewhere").contains("symbolic link"));
    assert!(reason("file-link").contains("SKILL.md is a symbolic link"));
    assert!(reason("wrong-case").contains("found skill.md, expected SKILL.md"));
    assert_eq!(p.roots()[2].1, RootScan::Linked);
    assert_eq!(code(p.get("lower")), "IncompleteHigherScan");
    assert_eq!(code(p.get("tide-table")), "ok");
    for need in &m.mem.log {
        let (Need::List { path, .. } | Need::Read { path, .. } | Need::Stat { path }) = need else { panic!() };
        let text = path.as_str();
        let opened = !matches!(need, Need::Stat { .. });
        assert!(
            !(opened && (text.starts_with(".github") || text.contains("/con") || text.contains("a:b"))),
            "{need:?}"
        );
        assert!(!text.contains("elsewhere"), "{need:?}");
        assert!(!matches!(need, Need::Read { .. }) || !text.contains("file-link"), "{need:?}");
    }
}

#[test]
fn t158_i130_a_change_between_discovery_and_activation_is_refused() {
    let at = ".agents/skills/tide-table/SKILL.md";
    let mut m = Mount::with(&[(at, &tide("Ask for the harbour."))]);
    let p = m.look();
    let a = m.activate(&p, "tide-table").expect("unchanged");
    assert_eq!(a.body(), b"Ask for the harbour.\n");
    assert_eq!(a.digest(), Digest::of(a.file()));
    assert_eq!(a.provenance().path, path(at));
    m.put(at, &tide("Ask for the harbour"));
    assert_eq!(code(m.activate(&p, "tide-table")), "PackageChanged");
    m.put(at, &(tide("Ask for the harbour.") + &"x".repeat(FILE_MAX)));
    assert_eq!(code(m.activate(&p, "tide-table")), "PackageChanged");
    m.mem.files.remove(&path(at));
    assert_eq!(code(m.activate(&p, "tide-table")), "PackageChanged");
    m.mem.links.insert(path(at));
    assert_eq!(code(m.activate(&p, "tide-table")), "PackageChanged");
    m.fail.push((at, MountError::NeedsReconnect));
    m.mem.links.clear();
    m.put(at, &tide("Ask for the harbour."));
    assert_eq!(code(m.activate(&p, "tide-table")), "PackageUnavailable");
    for unknown in ["tide", "Tide-Table", "tide-table ", "", "tide\u{2010}table"] {
        assert_eq!(code(m.activate(&p, unknown)), "NameUnknown", "{unknown:?}");
    }
}

#[test]
fn t159_i132_allowed_tools_are_hints_and_nothing_more() {
    let text = tide("x").replace("\n---\nx", "\nallowed-tools: \"*\"\n---\nx");
    let mut m = Mount::with(&[(".agents/skills/tide-table/SKILL.md", &text)]);
    let p = m.look();
    let a = m.activate(&p, "tide-table").expect("activates");
    assert_eq!(a.requested_tool_hints(), ["*"]);
    assert!(!a.requested_tool_hints_are_authority());
    // Whoever asks for more than looking is refused by the type: no need writes or removes.
    assert!(m.mem.log.iter().all(|n| matches!(n, Need::List { .. } | Need::Read { .. } | Need::Stat { .. })));
}

#[test]
fn i129_the_catalogue_holds_no_body_digest_or_path() {
    let body = "The quick harbour master reads the table at dawn and tells nobody.";
    let mut m = Mount::with(&[(".agents/skills/tide-table/SKILL.md", &tide(body))]);
    let p = m.look();
    let json = serde_json::to_string(&p.catalog()).expect("json");
    assert!(json.contains("Look up harbour tide times."));
    for window in body.as_bytes().windows(16) {
        assert!(!json.contains(std::str::from_utf8(window).expect("ascii")), "{json}");
    }
    let digest = p.found()[0].digest().expect("whole").hex();
    assert!(!json.contains(&digest[..8]) && !json.contains("SKILL.md") && !json.contains(".agents"), "{json}");
}

#[test]
fn i134_the_order_of_a_listing_changes_nothing() {
    let mut m = Mount::default();
    for (i, name) in ["b", "a", "tide-table", "d", "c", "A"].iter().enumerate() {
        m.put(&format!(".agents/skills/{name}/SKILL.md"), &named(name));
        m.put(&format!(".claude/skills/{name}{i}/SKILL.md"), &named(name));
    }
    let straight = m.look();
    let mut d = Discovery::new(&MountPath::root());
    let turned = drive(
        |r| d.step(r),
        |n| match m.perform(n) {
            Reply::Listed { mut entries, truncated } => {
                entries.reverse();
                entries.extend(entries.clone());
                Reply::Listed { entries, truncated }
            }
            other => other,
        },
    );
    assert_eq!(straight, turned);
}

#[test]
fn field_1h3_one_bad_package_leaves_the_others_and_is_told_once() {
    let bad = "---\nname: invoices\ndescription: Check invoices: find totals that do not add up.\n---\nx\n";
    let mut m = Mount::with(&[
        (".agents/skills/invoices/SKILL.md", bad),
        (".agents/skills/tide-table/SKILL.md", &tide("x")),
        (".agents/skills/quay/SKILL.md", &named("quay")),
    ]);
    let mut book = ToldBook::default();
    let first = m.look();
    assert_eq!(first.names().collect::<Vec<_>>(), ["quay", "tide-table"]);
    let told = book.news(&first);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].place, ".agents/skills/invoices/SKILL.md");
    assert_eq!(told[0].diagnostic.at.map(|a| (a.line, a.column)), Some((3, 28)));
    for _ in 0..10 {
        assert_eq!(book.news(&m.look()), []);
    }
    // What the model gets of a catalogue row are name and description.
    let rows = first.catalog();
    let row = rows.iter().find(|r| r.name == "invoices").expect("listed");
    assert_eq!((row.verdict, row.diagnostics.len()), (Verdict::Readable, 1));
    // Other bytes with the same fault are told again.
    m.put(".agents/skills/invoices/SKILL.md", &bad.replace("totals", "sums"));
    assert_eq!(book.news(&m.look()).len(), 1);
}

#[test]
fn look_alikes_among_usable_names_are_marked_on_both() {
    let mut m = Mount::with(&[
        (".agents/skills/modern/SKILL.md", &named("modern")),
        (".claude/skills/modem/SKILL.md", &named("modem")),
        (".claude/skills/other/SKILL.md", &named("other")),
    ]);
    let p = m.look();
    let unclean: Vec<_> = p.found().iter().filter(|f| !f.is_clean()).map(|f| f.folder.as_str()).collect();
    assert_eq!(unclean, ["modern", "modem"]);
    assert!(!m.activate(&p, "modem").expect("usable").is_clean());
}

#[test]
fn changes_between_two_looks_are_named() {
    let mut m = Mount::with(&[
        (".agents/skills/stays/SKILL.md", &named("stays")),
        (".agents/skills/goes/SKILL.md", &named("goes")),
        (".agents/skills/changes/SKILL.md", &named("changes")),
    ]);
    let before = m.look();
    m.mem.files.remove(&path(".agents/skills/goes/SKILL.md"));
    m.put(".agents/skills/changes/SKILL.md", &(named("changes") + "More.\n"));
    m.put(".cursor/skills/comes/SKILL.md", &named("comes"));
    let after = m.look();
    let want = Changes { appeared: vec!["comes".into()], gone: vec!["goes".into()], changed: vec!["changes".into()] };
    assert_eq!(before.changes(&after), want);
    assert_eq!(after.changes(&after), Changes::default());
}

fn reply() -> impl Strategy<Value = Reply> {
    let name =
        prop::sample::select(&["a", "A", "SKILL.md", "skill.md", "..", "", "con", "a/b", "é", "\0", "x\u{202e}"][..]);
    let kind = prop::sample::select(&[EntryKind::File, EntryKind::Folder, EntryKind::Link][..]);
    let entry = (name, kind).prop_map(|(name, kind)| Entry { name: name.to_owned(), kind, size: None });
    prop_oneof![
        (prop::collection::vec(entry, 0..8), any::<bool>())
            .prop_map(|(entries, truncated)| Reply::Listed { entries, truncated }),
        (prop::collection::vec(any::<u8>(), 0..40), any::<u64>())
            .prop_map(|(bytes, total)| Reply::Bytes { bytes, total }),
        Just(Reply::Bytes { bytes: named("a").into_bytes(), total: named("a").len() as u64 }),
        Just(Reply::Found { kind: EntryKind::Link, size: 0 }),
        Just(Reply::Failed(MountError::NotFound)),
        Just(Reply::Failed(MountError::Denied)),
        Just(Reply::Done),
    ]
}

proptest! {
    #[test]
    fn any_driver_ends_the_stepper_without_a_panic(rounds in prop::collection::vec(prop::collection::vec(reply(), 0..12), 1..12)) {
        let mut d = Discovery::new(&MountPath::root());
        let mut rounds = rounds.into_iter();
        let mut steps = 0;
        let p = loop {
            match d.step(rounds.next().unwrap_or_default()) {
                Step::Done(p) => break p,
                Step::Need(needs) => prop_assert!(!needs.is_empty() && needs.len() <= BATCH),
            }
            steps += 1;
            prop_assert!(steps < 200);
        };
        for name in p.names().map(str::to_owned).collect::<Vec<_>>() {
            let mut a = p.activate(&name).expect("a listed name");
            for _ in 0..3 {
                if let Step::Done(r) = a.step(rounds.next().unwrap_or_default()) {
                    if let Ok(a) = r {
                        prop_assert_eq!(Digest::of(a.file()), p.get(&name).expect("listed").digest().expect("whole"));
                    }
                    break;
                }
            }
        }
    }

    #[test]
    fn t158_activation_never_hands_out_other_bytes(at in 0usize..200, byte in any::<u8>(), cut in any::<bool>()) {
        let file = ".agents/skills/tide-table/SKILL.md";
        let mut m = Mount::with(&[(file, &tide("Ask for the harbour."))]);
        let p = m.look();
        let was = p.get("tide-table").expect("found").digest().expect("whole");
        let bytes = m.mem.files.get_mut(&path(file)).expect("file");
        let n = bytes.len();
        if cut { bytes.truncate(at % n); } else { bytes[at % n] = byte; }
        let same = Digest::of(bytes) == was;
        let got = m.activate(&p, "tide-table");
        prop_assert_eq!(got.is_ok(), same);
        if let Ok(a) = got { prop_assert_eq!(a.digest(), was); }
    }
}
