//! The skills of the workspace: rows that follow the folder, decisions that follow a person.

use super::*;
use skills::packages::review::{CaseKind, CaseResult, CaseSet, ReviewSheet};

const TIDES: &str = "---\nname: tide-table\ndescription: Lists high and low water for a harbour.\n---\n\
Give the times in a table.\n";
const PATH: &str = ".agents/skills/tide-table/SKILL.md";

fn at(path: &str) -> MountPath {
    MountPath::parse(path).expect("path")
}
fn id(name: &str) -> SkillId {
    SkillId::new(name).expect("id")
}

impl World {
    fn put(&mut self, path: &str, text: &str) {
        self.files.files.insert(at(path), text.as_bytes().to_vec());
    }
    pub(super) fn look(&mut self) {
        self.send(Msg::LookForSkills);
    }
    fn mount(&self) -> MountId {
        self.echo.library().mount().expect("a folder").clone()
    }
    /// Why the row of a skill cannot be used; `None` without a row.
    pub(super) fn why(&self, name: &str) -> Option<String> {
        let now = self.echo.situation(&self.id()).expect("situation");
        let catalog = Catalog::project(&self.kernel, &now);
        Some(catalog.get(&format!("/skill:{name}"))?.disabled.clone().unwrap_or_default())
    }
    fn press(&mut self) -> kernel::authority::TrustedGesture {
        self.now.mono_ms += 1000;
        self.mint.stamp(GestureKind::Click, true, self.now).trusted().expect("trusted")
    }
    /// A person reads the sheet and presses Approve.
    pub(super) fn approve_skill(&mut self, name: &str) {
        let packages = self.echo.library().packages().expect("looked");
        let mut work = packages.activate(name).expect("portable");
        let skill = kernel::mount::drive(|r| work.step(r), |n| self.files.perform(n)).expect("unchanged");
        let mut cases = CaseSet::default();
        for kind in CaseKind::ALL {
            cases.put(kind, CaseResult::Ran { passed: 1, failed: 0 });
        }
        let mut sheet = ReviewSheet::open(skill, cases, self.now).expect("all cases");
        sheet.laid_out(self.now);
        let act = self.press();
        let approval = sheet.approve(act, "the person at this browser").expect("approves");
        self.send(Msg::SkillApproved(self.mount(), Box::new(approval)));
    }
}

#[test]
fn i150_rows_of_the_folder_appear_and_vanish_at_the_next_look_each_with_its_reason() {
    let mut world = World::new();
    assert_eq!(world.why("tide-table"), None);
    world.put(PATH, TIDES);
    world.put(".claude/skills/tide-table/SKILL.md", TIDES);
    world.put(".claude/skills/broken/SKILL.md", "no frontmatter");
    world.look();
    assert_eq!(world.why("tide-table").as_deref(), Some("the skill was not reviewed yet"));
    let broken = world.why("broken").expect("a row");
    assert!(broken.contains(".claude/skills/broken/SKILL.md") && broken.contains("cannot be used"), "{broken}");
    let mount = world.mount();
    let library = world.echo.library();
    let found = library.packages().expect("looked").found();
    let loser = found.iter().find(|f| f.folder == "tide-table" && f.root.to_string() == ".claude/skills");
    let why = library.problem(&mount, loser.expect("the loser is listed")).expect("shadowed");
    assert!(why.starts_with("shadowed: an entry of this name in .agents/skills"), "{why}");

    world.files.files.remove(&at(PATH));
    world.files.files.remove(&at(".claude/skills/tide-table/SKILL.md"));
    world.look();
    assert_eq!(world.why("tide-table"), None);
}

#[test]
fn a_look_that_finds_the_same_leaves_every_row_as_it_is() {
    let mut world = World::new();
    world.put(PATH, TIDES);
    world.put(
        ".claude/skills/long/SKILL.md",
        &TIDES.replace("tide-table", "long").replace("Lists", &"Lists ".repeat(60)),
    );
    world.look();
    let before = world.kernel.rev();
    world.look();
    assert_eq!(world.kernel.rev(), before);
}

#[test]
fn i117_a_review_binds_bytes_and_one_byte_takes_it_back() {
    let mut world = World::new();
    world.put(PATH, TIDES);
    world.look();
    world.approve_skill("tide-table");
    assert_eq!(world.why("tide-table").as_deref(), Some(""));
    world.put(PATH, &TIDES.replace("table.", "list."));
    world.look();
    assert_eq!(world.why("tide-table").as_deref(), Some("the skill changed since it was reviewed"));
    // The very bytes that were read are good again.
    world.put(PATH, TIDES);
    world.look();
    assert_eq!(world.why("tide-table").as_deref(), Some(""));

    let (mount, act) = (world.mount(), world.press());
    world.send(Msg::EnableSkill(mount.clone(), "tide-table".into(), false, act));
    assert_eq!(world.why("tide-table").as_deref(), Some("the skill is switched off"));
    let act = world.press();
    world.send(Msg::EnableSkill(mount.clone(), "tide-table".into(), true, act));
    let act = world.press();
    world.send(Msg::RevokeSkill(mount, "tide-table".into(), act));
    assert_eq!(world.why("tide-table").as_deref(), Some("the skill was not reviewed yet"));
    assert!(world.reviews().is_empty(), "nothing is kept of it");
}

#[test]
fn a_review_outlives_the_page_for_its_bytes_only() {
    let mut world = World::new();
    world.put(PATH, TIDES);
    world.look();
    world.approve_skill("tide-table");
    let kept: Vec<String> = world.reviews().iter().map(|r| serde_json::to_string(r).expect("json")).collect();

    let mut again = World::new();
    again.put(PATH, TIDES);
    again.look();
    assert_eq!(again.why("tide-table").as_deref(), Some("the skill was not reviewed yet"));
    let parts = || kept.iter().map(|text| serde_json::from_str(text).expect("a record")).collect::<Vec<Reviews>>();
    again.echo.library.begin_load();
    again.send(Msg::Loaded(Loaded::SkillReviews(parts())));
    assert_eq!(again.why("tide-table").as_deref(), Some(""));
    again.put(PATH, &TIDES.replace("water", "Water"));
    again.look();
    again.echo.library.begin_load();
    again.send(Msg::Loaded(Loaded::SkillReviews(parts())));
    assert_eq!(again.why("tide-table").as_deref(), Some("the skill changed since it was reviewed"));
}

#[test]
fn a_decision_that_meets_a_load_under_way_is_not_undone_by_it() {
    let mut world = World::new();
    world.put(PATH, TIDES);
    world.look();
    world.echo.library.begin_load();
    world.approve_skill("tide-table");
    // What was read before the decision says nothing of it.
    world.send(Msg::Loaded(Loaded::SkillReviews(vec![])));
    assert_eq!(world.why("tide-table").as_deref(), Some(""));
}

#[test]
fn before_the_stored_reviews_are_known_and_in_a_reading_tab_nothing_is_decided() {
    let mut world = World::new();
    world.put(PATH, TIDES);
    world.look();
    world.send(Msg::ReadOnly(true));
    world.approve_skill("tide-table");
    assert_eq!(world.why("tide-table").as_deref(), Some("the skill was not reviewed yet"));
    assert!(
        matches!(world.other.last(), Some(Effect::Refused(r)) if r.code == "ReadOnlyTab"),
        "{:?}",
        world.other.last()
    );
}

#[test]
fn a_skill_of_the_product_keeps_its_name() {
    let mut world = World::new();
    world.put(".agents/skills/summarise-notes/SKILL.md", &TIDES.replace("tide-table", "summarise-notes"));
    world.look();
    assert_eq!(world.why("summarise-notes").as_deref(), Some(""));
    assert_eq!(
        world.kernel.guidance().get(&id("summarise-notes")).expect("there").review,
        kernel::registry::Review::BuiltIn
    );
    let mount = world.mount();
    let found = &world.echo.library().packages().expect("looked").found()[0];
    assert!(world.echo.library().problem(&mount, found).expect("why").contains("ships with the product"));
}

#[test]
fn rows_follow_the_folder_of_the_conversation_in_front() {
    let mut world = World::new();
    world.put(PATH, TIDES);
    world.look();
    assert!(world.why("tide-table").is_some());
    world.send(Msg::UseMount(world.id(), None));
    assert_eq!(world.why("tide-table"), None);
    world.send(Msg::UseMount(world.id(), Some(MountId::new("welcome").expect("id"))));
    assert!(world.why("tide-table").is_some());
    let package = PackageId::new(crate::library::PACKAGE).expect("id");
    world.kernel.set_package_state(&package, PackageState::Present { enabled: false }).expect("known");
    assert_eq!(world.why("tide-table"), None, "the whole folder can be switched off");
}
