//! The skills of the workspace: rows that follow the folder, decisions that follow a person.

use super::*;
use crate::conversation::Told;
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

fn told(w: &World) -> Vec<String> {
    let items = &w.echo.current().expect("current").items;
    let line = |item: &Item| match &item.kind {
        ItemKind::Guidance { what, used, left_out, .. } => {
            Some(crate::conversation::guidance_words(*what, used, *left_out))
        }
        _ => None,
    };
    items.iter().filter_map(line).collect()
}

fn ready() -> World {
    let mut world = World::new();
    world.put(PATH, TIDES);
    world.look();
    world.approve_skill("tide-table");
    world
}

#[test]
fn i156_a_reviewed_skill_is_read_again_and_guides_the_turn_it_was_named_in() {
    let mut world = ready();
    world.skill("tide-table", "When is high water?");
    let request = world.next_ask();
    let system = &request.messages[0];
    assert_eq!(system.role, Role::System);
    assert!(
        system.content.contains("follow the guidance \"tide-table\":\nGive the times in a table."),
        "{}",
        system.content
    );
    assert!(!system.content.contains("description:"), "the body, not the file");
    assert_eq!(request.messages.last().expect("user").content, "When is high water?");
    assert_eq!(told(&world), [format!("Skill used: {PATH}")]);
    world.model(request.run, "At noon.");
    // The next turn is not guided by it.
    world.say("And low water?");
    let next = world.next_ask();
    assert!(!next.messages[0].content.contains("Give the times in a table."));
}

#[test]
fn i116_i154_a_skill_changes_nothing_about_the_tools_that_are_offered() {
    let names = |r: &models::ModelRequest| r.tools.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
    let mut world = ready();
    world.put(PATH, &TIDES.replace("harbour.\n", "harbour.\nallowed-tools: files.write\n"));
    world.look();
    world.approve_skill("tide-table");
    world.remote();
    world.skill("tide-table", "When is high water?");
    let with = names(&world.next_ask());
    let mut plain = World::new();
    plain.remote();
    plain.say("When is high water?");
    assert_eq!(with, names(&plain.next_ask()));
}

#[test]
fn t158_t167_one_byte_changed_after_the_submission_ends_the_turn_with_the_reason() {
    let mut world = ready();
    world.hold_files = true;
    world.skill("tide-table", "When is high water?");
    assert!(world.asked.is_empty(), "nothing is asked before the file was read again");
    let listing = world.held.pop().expect("the folder is listed");
    world.hold_files = false;
    world.put(PATH, &TIDES.replace("table.", "table!"));
    let Effect::Fs { id, needs, .. } = listing else { panic!("{listing:?}") };
    let replies = needs.iter().map(|need| world.files.perform(need)).collect();
    world.send(Msg::Fs(id, replies));
    assert!(world.asked.is_empty(), "the model never hears of it");
    let (text, state) = world.answer();
    assert!(
        matches!(&state, AnswerState::Failed(why) if why.to_string().contains("changed since review")),
        "{text} {state:?}"
    );
    assert_eq!(world.kernel.refusals().iter().last().expect("kept").code, "SkillChangedSinceReview");
    let draft = &world.echo.current().expect("current").draft.text;
    assert_eq!(draft, "/skill:tide-table When is high water?", "what was typed comes back");
    assert_eq!(told(&world), Vec::<String>::new());
    assert_eq!(world.why("tide-table").as_deref(), Some("the skill changed since it was reviewed"));
}

#[test]
fn t167_revoked_or_switched_off_between_two_questions_of_a_turn_it_ends_there() {
    for revoke in [true, false] {
        let mut world = ready();
        world.remote();
        world.skill("tide-table", "When is high water?");
        let first = world.next_ask();
        let (mount, act) = (world.mount(), world.press());
        world.send(match revoke {
            true => Msg::RevokeSkill(mount, "tide-table".into(), act),
            false => Msg::EnableSkill(mount, "tide-table".into(), false, act),
        });
        world.calls(first.run, &[("1", "clock.now", "{}")]);
        assert!(world.asked.is_empty(), "no second question");
        assert!(matches!(world.answer().1, AnswerState::Failed(_)));
    }
}

#[test]
fn a_review_of_other_bytes_after_the_submission_does_not_carry_over() {
    let mut world = ready();
    world.remote();
    world.skill("tide-table", "When is high water?");
    let first = world.next_ask();
    world.put(PATH, &TIDES.replace("table.", "table!"));
    world.look();
    world.approve_skill("tide-table");
    world.calls(first.run, &[("1", "clock.now", "{}")]);
    assert!(world.asked.is_empty());
    let (_, state) = world.answer();
    assert!(
        matches!(&state, AnswerState::Failed(why) if why.to_string().contains("no longer what was submitted")),
        "{state:?}"
    );
}

#[test]
fn decision_25_a_long_skill_is_cut_to_the_budget_and_the_line_says_how_much() {
    let mut world = World::new();
    world.put(PATH, &format!("{TIDES}{}", "One more step.\n".repeat(400)));
    world.look();
    world.approve_skill("tide-table");
    world.skill("tide-table", "Go");
    let system = world.next_ask().messages[0].content.clone();
    assert!(system.len() < crate::prompt::Budget::ON_DEVICE.skill + 300, "{}", system.len());
    assert!(told(&world)[0].contains("(3072 of ") || told(&world)[0].contains(" of 60"), "{:?}", told(&world));
}

#[test]
fn decision_27_what_a_skill_depends_on_comes_first_and_must_be_reviewed_too() {
    let mut world = World::new();
    let base = "---\nname: units\ndescription: Says which units of length and time to use.\n---\nUse metres.\n";
    world.put(".agents/skills/units/SKILL.md", base);
    world.put(PATH, &TIDES.replace("harbour.\n", "harbour.\nmetadata:\n  depends-on: units\n"));
    world.look();
    world.approve_skill("tide-table");
    world.skill("tide-table", "Go");
    assert!(world.asked.is_empty(), "units was reviewed by nobody");
    world.approve_skill("units");
    world.skill("tide-table", "Go");
    let system = world.next_ask().messages[0].content.clone();
    let (units, table) = (system.find("Use metres."), system.find("Give the times"));
    assert!(units.is_some() && units < table, "{system}");
    assert_eq!(told(&world), [format!("Skills used: .agents/skills/units/SKILL.md, {PATH}")]);
}

#[test]
fn a_skill_whose_tool_is_missing_is_not_used() {
    let mut world = World::new();
    world.put(PATH, &TIDES.replace("harbour.\n", "harbour.\nmetadata:\n  required-tools: maps.route\n"));
    world.look();
    world.approve_skill("tide-table");
    world.skill("tide-table", "Go");
    assert!(world.asked.is_empty());
    assert_eq!(world.kernel.refusals().iter().last().expect("kept").code, "SkillToolMissing");
}

#[test]
fn a_turn_that_was_stopped_while_its_skill_was_read_asks_nobody() {
    let mut world = ready();
    world.hold_files = true;
    world.skill("tide-table", "Go");
    let Some(Effect::Fs { id, needs, .. }) = world.held.pop() else { panic!("files are asked for") };
    world.send(Msg::Stop(world.id()));
    let late = needs.iter().map(|need| world.files.perform(need)).collect();
    world.send(Msg::Fs(id, late));
    assert!(world.asked.is_empty() && world.echo.turns().is_idle());
}

#[test]
fn the_cases_of_a_sheet_are_tried_by_the_engine() {
    let mut world = World::new();
    world.put(
        PATH,
        &TIDES.replace(
            "harbour.\n",
            "harbour.\nmetadata:\n  include-paths: 'tides/**/*.md'\n  required-tools: files.read\n",
        ),
    );
    world.look();
    let mut work = world.echo.library().packages().expect("looked").activate("tide-table").expect("portable");
    let skill = kernel::mount::drive(|r| work.step(r), |n| world.files.perform(n)).expect("unchanged");
    let cases = crate::trial::cases(&skill);
    assert_eq!((cases.missing(), cases.failed()), (vec![], 0), "{cases:?}");
    assert_eq!(cases.get(CaseKind::WrongPath), Some(CaseResult::Ran { passed: 1, failed: 0 }));
    assert_eq!(cases.get(CaseKind::MissingTool), Some(CaseResult::Ran { passed: 1, failed: 0 }));
}

const HEARD: &str = "---\nname: tide-table\ndescription: Lists high and low water for a harbour.\nmetadata:\n  triggers: \
list the tides; high and low water\n  negative-terms: weather forecast\n---\nGive the times in a table.\n";

#[test]
fn t124_plain_words_bring_in_a_reviewed_skill_and_nothing_else_does() {
    let guided = |world: &mut World, words: &str| {
        world.say(words);
        let request = world.next_ask();
        let yes = request.messages[0].content.contains("Give the times in a table.");
        world.model(request.run, "Yes.");
        yes
    };
    let mut world = World::new();
    world.put(PATH, HEARD);
    world.look();
    assert!(!guided(&mut world, "Please list the tides."), "nobody reviewed it");
    world.approve_skill("tide-table");
    assert!(guided(&mut world, "Please list the tides."));
    let told_of = |world: &World| {
        let items = &world.echo.current().expect("current").items;
        items.iter().rev().find_map(|i| match &i.kind {
            ItemKind::Guidance { what: Told::Skills, used, .. } => Some(used[0].why.clone()),
            _ => None,
        })
    };
    let why = told_of(&world).expect("a line says it");
    assert!(why.contains("your words ask for it") && why.contains("tides"), "{why}");
    for words in [
        "Do not list the tides.",
        "She wrote \"list the tides\" on the board.",
        "What does `list the tides` do?",
        "What is a harbour?",
    ] {
        assert!(!guided(&mut world, words), "{words}");
    }
    let (mount, act) = (world.mount(), world.press());
    world.send(Msg::EnableSkill(mount, "tide-table".into(), false, act));
    assert!(!guided(&mut world, "Please list the tides."), "switched off");
}

#[test]
fn t158_a_skill_that_was_heard_and_changed_meanwhile_is_left_out_and_the_turn_goes_on() {
    let mut world = World::new();
    world.put(PATH, HEARD);
    world.look();
    world.approve_skill("tide-table");
    world.put(PATH, &HEARD.replace("in a table", "in a song"));
    world.say("Please list the tides.");
    let request = world.next_ask();
    assert!(!request.messages[0].content.contains("Give the times"), "{}", request.messages[0].content);
    let items = &world.echo.current().expect("current").items;
    let said = items.iter().any(|i| matches!(&i.kind, ItemKind::Notice { text } if text.contains("was left out")));
    assert!(said, "{items:?}");
}

#[test]
fn i116_a_skill_that_was_heard_changes_nothing_about_the_tools_that_are_offered() {
    let names = |r: &models::ModelRequest| r.tools.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
    let mut world = World::new();
    world.put(PATH, &HEARD.replace("harbour.\n", "harbour.\nallowed-tools: files.write bash\n"));
    world.look();
    world.remote();
    world.say("Please list the tides.");
    let without = world.next_ask();
    world.model(without.run, "Yes.");
    world.approve_skill("tide-table");
    world.say("Please list the tides.");
    let with = world.next_ask();
    let guided = |r: &models::ModelRequest| r.messages[0].content.contains("Give the times in a table.");
    assert_eq!((guided(&without), guided(&with)), (false, true));
    assert_eq!(names(&with), names(&without));
    assert!(!names(&with).is_empty());
}
