//! What a person does with packages: review, dependencies, normalised copies, shelves.

use super::super::depends::{self, DependsRefusal};
use super::super::resources::Resources;
use super::super::review::*;
use super::super::*;
use crate::diagnostic::Severity;
use kernel::authority::{GestureKind, GestureMint, TrustedGesture};
use kernel::mount::{EntryKind, Expect, MemMount, MountPath, Need, drive};
use kernel::{Digest, Instant, MountId, PackageId, Refusal};
use proptest::prelude::*;

fn at(mono_ms: u64) -> Instant {
    Instant { wall_ms: 1_000_000 + mono_ms.cast_signed(), mono_ms }
}

fn act(kind: GestureKind, t: u64) -> TrustedGesture {
    GestureMint::for_tests().stamp(kind, true, at(t)).trusted().expect("trusted")
}

fn home() -> MountId {
    MountId::new("home").expect("id")
}

fn look(m: &mut MemMount) -> Packages {
    let mut d = Discovery::new(&MountPath::root());
    drive(|r| d.step(r), |n| m.perform(n))
}

fn activate(m: &mut MemMount, name: &str) -> Activated {
    let mut a = look(m).activate(name).expect("listed");
    drive(|r| a.step(r), |n| m.perform(n)).expect("activates")
}

fn file(name: &str, more: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Says in one sentence when to use {name}.\n{more}---\n{body}\n")
}

fn at_home(files: &[(&str, String)]) -> MemMount {
    let files: Vec<_> = files.iter().map(|(n, t)| (format!(".agents/skills/{n}/SKILL.md"), t.as_str())).collect();
    MemMount::with(&files.iter().map(|(p, t)| (p.as_str(), *t)).collect::<Vec<_>>())
}

fn cases() -> CaseSet {
    let mut set = CaseSet::default();
    for kind in CaseKind::ALL {
        set.put(kind, CaseResult::Ran { passed: 1, failed: 0 });
    }
    set.put(CaseKind::MissingTool, CaseResult::NotApplicable);
    set
}

fn approve(reviews: &mut Reviews, skill: Activated) {
    let mut sheet = ReviewSheet::open(skill, cases(), at(0)).expect("all cases");
    sheet.laid_out(at(10));
    let approval = sheet.approve(act(GestureKind::Click, 900), "owner").map_err(|(e, _)| e).expect("decides");
    reviews.enter(&home(), approval).expect("room");
}

fn code<T>(r: Result<T, ReviewRefusal>) -> String {
    r.map_or_else(|e| Refusal::from(e).code.into_owned(), |_| "ok".into())
}

#[test]
fn i117_a_review_binds_exact_bytes() {
    let mut m = at_home(&[("tide-table", file("tide-table", "", "Ask for the harbour."))]);
    let mut reviews = Reviews::default();
    let skill = activate(&mut m, "tide-table");
    assert_eq!(code(reviews.admit(&home(), skill.clone())), "SkillUnreviewed");
    approve(&mut reviews, skill.clone());
    let turn = reviews.admit(&home(), skill.clone()).expect("reviewed");
    // One byte: the running turn keeps what it has, the next one is refused until a new review.
    let path = MountPath::parse(".agents/skills/tide-table/SKILL.md").expect("path");
    m.files.insert(path.clone(), file("tide-table", "", "Ask for the harbour!").into_bytes());
    let changed = activate(&mut m, "tide-table");
    assert_eq!(code(reviews.admit(&home(), changed.clone())), "SkillChangedSinceReview");
    assert_eq!(
        reviews.state(&home(), "tide-table", changed.digest()),
        ReviewState::ChangedSinceReview { reviewed: skill.digest() }
    );
    assert_eq!(turn.skill().text(), "Ask for the harbour.\n");
    // Reviewed anew, the old submission is still bound to the old bytes (decision 31).
    approve(&mut reviews, changed.clone());
    assert_eq!(code(reviews.admit(&home(), changed.clone())), "ok");
    assert_eq!(code(reviews.admit_bound(&home(), &turn.binding(), changed.clone())), "SkillBindingChanged");
    let bound = reviews.admit(&home(), changed.clone()).expect("reviewed").binding();
    assert_eq!(code(reviews.admit_bound(&home(), &bound, changed.clone())), "ok");
    // Another workspace, switched off, taken back.
    assert_eq!(code(reviews.admit(&MountId::new("other").expect("id"), changed.clone())), "SkillUnreviewed");
    let rev = reviews.rev();
    reviews.set_enabled(&home(), "tide-table", false, act(GestureKind::Click, 1)).expect("room");
    assert_eq!(code(reviews.admit_bound(&home(), &bound, changed.clone())), "SkillDisabled");
    reviews.set_enabled(&home(), "tide-table", true, act(GestureKind::Key, 1)).expect("room");
    let typed = reviews.revoke(&home(), "tide-table", act(GestureKind::TextEdit, 1));
    assert_eq!(code(typed), "ReviewWrongGesture");
    reviews.revoke(&home(), "tide-table", act(GestureKind::Click, 1)).expect("a press");
    assert_eq!(code(reviews.admit_bound(&home(), &bound, changed)), "SkillUnreviewed");
    assert_eq!(reviews.rev(), rev + 3);
}

#[test]
fn i156_the_kernels_row_is_bound_to_what_was_reviewed() {
    let mut m = at_home(&[("tide-table", file("tide-table", "", "x")), ("Bad", file("Bad", "", "x"))]);
    let owner = PackageId::new("workspace").expect("id");
    let mut reviews = Reviews::default();
    let row = |p: &Packages, r: &Reviews, name: &str| {
        let found = p.found().iter().find(|f| f.folder == name).expect("found");
        r.row(&home(), found, &owner).expect("a name")
    };
    let p = look(&mut m);
    assert!(row(&p, &reviews, "Bad").is_none());
    assert!(!row(&p, &reviews, "tide-table").expect("a winner").is_reviewed());
    approve(&mut reviews, activate(&mut m, "tide-table"));
    let reviewed = row(&p, &reviews, "tide-table").expect("a winner");
    assert!(reviewed.is_reviewed() && reviewed.enabled);
    m.files.insert(
        MountPath::parse(".agents/skills/tide-table/SKILL.md").expect("path"),
        file("tide-table", "", "y").into_bytes(),
    );
    reviews.set_enabled(&home(), "tide-table", false, act(GestureKind::Click, 1)).expect("room");
    let changed = row(&look(&mut m), &reviews, "tide-table").expect("a winner");
    assert!(!changed.is_reviewed() && !changed.enabled);
}

#[test]
fn a_sheet_is_decided_by_a_press_after_all_of_it_could_be_read() {
    let mut m = at_home(&[("tide-table", file("tide-table", "allowed-tools: Read\n", "Pay\u{200b}now."))]);
    let skill = activate(&mut m, "tide-table");
    let sheet = ReviewSheet::open(skill, cases(), at(100)).expect("cases");
    assert!(sheet.text().contains("Pay⟨U+200B⟩now.") && sheet.text().contains("allowed-tools"));
    let (why, mut sheet) = sheet.approve(act(GestureKind::Click, 9_000), "owner").expect_err("not laid out");
    assert_eq!(Refusal::from(why).code, "ReviewNotLaidOut");
    sheet.laid_out(at(200));
    assert_eq!(sheet.decidable_at(), Some(600));
    let (why, sheet) = sheet.approve(act(GestureKind::Click, 599), "owner").expect_err("too early");
    assert_eq!(Refusal::from(why).code, "ReviewDeadTime");
    let (why, sheet) = sheet.approve(act(GestureKind::Paste, 9_000), "owner").expect_err("no press");
    assert_eq!(Refusal::from(why).code, "ReviewWrongGesture");
    let approval = sheet.approve(act(GestureKind::Key, 9_000), "owner").expect("decides");
    // What hides is approved as what it is, never as clean.
    assert_eq!((approval.review().clean, approval.review().hidden), (false, 1));
    assert_eq!(approval.review().requested_tool_hints, ["Read"]);
    assert_eq!(approval.review().at_ms, 1_009_000);
}

#[test]
fn i176_without_every_kind_of_case_there_is_no_review() {
    let mut m = at_home(&[("tide-table", file("tide-table", "", "x"))]);
    for kind in CaseKind::ALL {
        let mut set = cases();
        set.put(kind, CaseResult::Ran { passed: 0, failed: 0 });
        let e = ReviewSheet::open(activate(&mut m, "tide-table"), set, at(0)).map(|_| ()).expect_err("incomplete");
        assert_eq!(e, ReviewRefusal::CaseSetIncomplete { name: "tide-table".into(), missing: vec![kind] });
    }
    // Only paths and tools can be beside the point, and a failed case is shown, not hidden.
    let mut set = cases();
    set.put(CaseKind::Quoted, CaseResult::NotApplicable);
    set.put(CaseKind::NearMiss, CaseResult::Ran { passed: 1, failed: 2 });
    assert_eq!((set.missing(), set.failed()), (vec![CaseKind::Quoted], 2));
}

#[test]
fn reviews_are_kept_and_read_back_within_their_bounds() {
    let mut m = at_home(&[("tide-table", file("tide-table", "", "x"))]);
    let mut reviews = Reviews::default();
    approve(&mut reviews, activate(&mut m, "tide-table"));
    reviews.set_enabled(&home(), "quay", false, act(GestureKind::Click, 1)).expect("room");
    let json = serde_json::to_string(&reviews).expect("json");
    let back: Reviews = serde_json::from_str(&json).expect("read back");
    assert_eq!(back.review(&home(), "tide-table"), reviews.review(&home(), "tide-table"));
    assert!(!back.is_enabled(&home(), "quay") && back.is_enabled(&home(), "tide-table"));
    let bad = json.replacen("\"tide-table\"", "\"Tide Table\"", 1);
    assert!(serde_json::from_str::<Reviews>(&bad).is_err());
    let long = json.replacen("\"owner\"", &format!("\"{}\"", "o".repeat(999)), 1);
    assert!(serde_json::from_str::<Reviews>(&long).is_err());
    let many: Vec<_> = (0..=bounds::REVIEWS_MAX).map(|i| ("home", format!("s{i}"))).collect();
    let over = serde_json::json!({ "given": [], "disabled": many }).to_string();
    assert!(serde_json::from_str::<Reviews>(&over).is_err());
}

#[test]
fn i132_finding_and_activating_know_nothing_of_reviews() {
    for (name, source) in [
        ("discover", include_str!("../discover.rs")),
        ("resolve", include_str!("../resolve.rs")),
        ("activate", include_str!("../activate.rs")),
        ("inspect", include_str!("../inspect.rs")),
    ] {
        for word in ["review::", "authority::", "TrustedGesture", "Need::Write", "Need::Remove"] {
            assert!(!source.contains(word), "{name} knows {word}");
        }
    }
}

fn needs(list: &str) -> String {
    format!("metadata:\n  depends-on: {list}\n")
}

#[test]
fn decision_27_dependencies_come_before_what_needs_them() {
    let mut m = at_home(&[
        ("a", file("a", &needs("b c"), "x")),
        ("b", file("b", &needs("d"), "x")),
        ("c", file("c", &needs("d b"), "x")),
        ("d", file("d", "", "x")),
    ]);
    let p = look(&mut m);
    assert_eq!(depends::order(&p, "a", &mut |_| Ok(())).expect("an order"), ["d", "b", "c", "a"]);
    assert_eq!(depends::faults(&p), []);
    // What is not reviewed comes into no turn, however it is asked for.
    let mut reviews = Reviews::default();
    for name in ["a", "b", "c"] {
        approve(&mut reviews, activate(&mut m, name));
    }
    let e = depends::order(&p, "a", &mut |f| reviews.usable(&home(), f)).expect_err("d is unreviewed");
    assert!(matches!(&e, DependsRefusal::NotUsable { by, name, .. } if by == "b" && name == "d"), "{e}");
    approve(&mut reviews, activate(&mut m, "d"));
    assert!(depends::order(&p, "a", &mut |f| reviews.usable(&home(), f)).is_ok());
}

#[test]
fn decision_27_circles_and_missing_names_are_told() {
    let mut m = at_home(&[
        ("a", file("a", &needs("b"), "x")),
        ("b", file("b", &needs("c"), "x")),
        ("c", file("c", &needs("b"), "x")),
        ("self", file("self", &needs("self"), "x")),
        ("lost", file("lost", &needs("nowhere"), "x")),
        ("wide", file("wide", &needs(&(0..=bounds::DEPENDS_MAX).map(|i| format!("n{i} ")).collect::<String>()), "x")),
    ]);
    let p = look(&mut m);
    let told = |name: &str| depends::order(&p, name, &mut |_| Ok(())).expect_err(name).to_string();
    assert!(told("a").ends_with("b → c → b"), "{}", told("a"));
    assert!(told("self").ends_with("self → self"));
    assert!(told("lost").contains("no skill named “nowhere”"));
    assert!(matches!(depends::order(&p, "wide", &mut |_| Ok(())), Err(DependsRefusal::TooMany(_))));
    let marked: Vec<_> = p
        .found()
        .iter()
        .filter(|f| f.diagnostics.iter().any(|d| d.code.name() == "DependencyFault"))
        .map(|f| f.folder.as_str())
        .collect();
    assert_eq!(marked, ["a", "b", "c", "lost", "self", "wide"]);
    // A long chain ends at the cap, without recursion.
    let chain: Vec<_> =
        (0..200).map(|i| (format!("s{i}"), file(&format!("s{i}"), &needs(&format!("s{}", i + 1)), "x"))).collect();
    let mut m = at_home(&chain.iter().map(|(n, t)| (n.as_str(), t.clone())).collect::<Vec<_>>());
    let e = depends::order(&look(&mut m), "s0", &mut |_| Ok(()));
    assert!(matches!(e, Err(DependsRefusal::TooMany(_))));
}

#[test]
fn decision_14_a_shadowed_package_says_how_it_stands_to_the_winner() {
    let v = |v: &str, body: &str| file("a", &format!("metadata:\n  version: {v}\n"), body);
    let mut m = at_home(&[("a", v("1.2", "x"))]);
    for (root, text) in [(".claude", v("1.10", "y")), (".github", v("1.2", "x")), (".gemini", v("next", "z"))] {
        m.files.insert(MountPath::parse(&format!("{root}/skills/a/SKILL.md")).expect("path"), text.into_bytes());
    }
    let p = look(&mut m);
    let said: Vec<_> = p.found()[1..].iter().map(|f| f.diagnostics.last().expect("told").cause.clone()).collect();
    assert!(said[0].ends_with("it has version 1.2, this one 1.10, newer"), "{}", said[0]);
    assert!(said[1].ends_with("has the same bytes"));
    assert!(said[2].ends_with("another version"));
    assert!(p.found()[1..].iter().all(|f| f.diagnostics.iter().all(|d| d.severity <= Severity::Warning)));
}

fn copy(folder: &str, text: &str) -> Result<NormalCopy, NormalRefusal> {
    let mut m = at_home(&[(folder, text.to_owned()), ("taken", file("taken", "", "x"))]);
    let p = look(&mut m);
    let found = p.found().iter().find(|f| f.folder == folder).expect("found");
    let mut again = Reread::of(found).ok_or(NormalRefusal::Unreadable)?;
    let bytes = drive(|r| again.step(r), |n| m.perform(n)).expect("unchanged");
    normal_copy(&p, found, &bytes)
}

#[test]
fn decision_16_a_readable_package_offers_a_portable_copy() {
    let text = "---\nname: Tide Table\ndescription: Tides: times by harbour and day.\nversion: 1.10\ntags: [sea, \"moon\"]\nmetadata:\n  a:\n    b: c\nallowed-tools: [Read, \"Bash(git log:*)\"]\n---\nAsk.\r\n---\nEnd\n";
    let c = copy("tide-table", text).expect("a copy");
    assert_eq!(c.name, "tide-table");
    let after = String::from_utf8(c.after.clone()).expect("text");
    assert_eq!(
        after,
        "---\nname: tide-table\ndescription: \"Tides: times by harbour and day.\"\nmetadata:\n  a.b: c\n  version: \"1.10\"\n  tags: sea, moon\nallowed-tools: \"Read Bash(git log:*)\"\n---\nAsk.\r\n---\nEnd\n"
    );
    assert_eq!(c.expect, Expect::Digest(Digest::of(text.as_bytes())));
    assert!(matches!(c.write(), Need::Write { path, .. } if path.as_str() == ".agents/skills/tide-table/SKILL.md"));
    assert!(c.changes.iter().any(|l| l.starts_with("version: moved")), "{:?}", c.changes);
    // A folder that is no name: the copy goes beside it, and must find nothing there.
    let c = copy("Tide Table", text).expect("a copy");
    assert_eq!((c.path.as_str(), c.expect), (".agents/skills/tide-table/SKILL.md", Expect::Absent));
    // What wants a person's words is refused with the reason.
    assert_eq!(copy("t", &file("t", "", "x")), Err(NormalRefusal::Portable));
    assert_eq!(
        copy("技能", "---\nname: 技能\ndescription: Tide times by day.\n---\nx\n"),
        Err(NormalRefusal::NoName("技能".into()))
    );
    assert_eq!(copy("Taken", &file("Taken", "", "x")), Err(NormalRefusal::NameTaken("taken".into())));
    assert!(
        matches!(copy("t", "---\nname: t\ndescription: T\n---\nx\n"), Err(NormalRefusal::StillNot(why)) if why.contains("only the name"))
    );
    assert_eq!(copy("t", "nothing\n"), Err(NormalRefusal::Unreadable));
    let long = copy("t", &file("t", "", "x").replace("Says", &"é".repeat(2_000))).expect("a copy");
    assert!(long.changes.iter().any(|l| l.contains("cut from")), "{:?}", long.changes);
}

#[test]
fn shelves_are_listed_for_a_person_and_scripts_never() {
    let mut m = at_home(&[("a", file("a", "", "x"))]);
    for f in ["references/guide.md", "references/b\u{200b}.md", "assets/deep/er.png", "scripts/run.sh", "notes.md"] {
        m.files.insert(MountPath::parse(&format!(".agents/skills/a/{f}")).expect("path"), b"12345".to_vec());
    }
    let p = look(&mut m);
    m.log.clear();
    let mut r = Resources::open(&p.found()[0], act(GestureKind::Click, 1)).expect("a package");
    let shelves = drive(|x| r.step(x), |n| m.perform(n));
    let names: Vec<_> =
        shelves.iter().flat_map(|s| s.entries.iter().map(|e| (s.folder, e.name.as_str(), e.kind))).collect();
    let want = [
        ("references", "b⟨U+200B⟩.md", EntryKind::File),
        ("references", "guide.md", EntryKind::File),
        ("assets", "deep", EntryKind::Folder),
    ];
    assert_eq!(names, want);
    assert!(
        m.log
            .iter()
            .all(|n| matches!(n, Need::List { path, .. } | Need::Stat { path } if !path.as_str().contains("scripts"))),
        "{:?}",
        m.log
    );
    for i in 0..bounds::RESOURCES_MAX + 9 {
        m.files.insert(MountPath::parse(&format!(".agents/skills/a/assets/f{i}")).expect("path"), vec![]);
    }
    let mut r = Resources::open(&p.found()[0], act(GestureKind::Click, 1)).expect("a package");
    let shelves = drive(|x| r.step(x), |n| m.perform(n));
    assert_eq!((shelves[1].entries.len(), shelves[1].truncated), (bounds::RESOURCES_MAX, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn a_copy_is_portable_and_keeps_the_body(
        folder in "[a-zA-Z é-]{1,12}",
        pieces in prop::collection::vec(prop::sample::select(&super::total::PIECES[..]), 0..40),
        body in "[a-z \r\n\u{200b}\u{0}-]{0,40}",
    ) {
        let text = format!("---\nname: t\ndescription: Tide times by harbour.\n{}\n---\n{body}", pieces.concat());
        prop_assume!(unsafe_name(&folder).is_none() && folder.to_lowercase() != "taken");
        if let Ok(c) = copy(&folder, &text) {
            let seen = inspect(&c.name, &c.after, c.after.len() as u64);
            prop_assert_eq!(seen.verdict, Verdict::Portable);
            let was = inspect(&folder, text.as_bytes(), text.len() as u64);
            let before = String::from_utf8_lossy(&text.as_bytes()[was.body]).replace('\0', "");
            let after = String::from_utf8_lossy(&c.after[seen.body]).into_owned();
            prop_assert!(after == before || after == before.replace('\r', "\n"), "{before:?} {after:?}");
        }
    }
}
