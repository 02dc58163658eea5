//! The Skills app: what lies in the folder, the review that binds bytes, and the objective box.

mod common;

use apps::desktop::{Effect, Msg};
use common::{Rig, mount};
use kernel::authority::GestureKind;
use kernel::mount::{MemMount, MountPath};
use scene::Role;
use ui::event::{Event, Key};

const TIDES: &str = "---\nname: tide-table\ndescription: Lists high and low water for a harbour.\nallowed-tools: Read Bash(git:*)\nmetadata:\n  version: '1.2'\n---\nGive the times in a table.\n";
const PATH: &str = ".agents/skills/tide-table/SKILL.md";

fn files() -> MemMount {
    MemMount::with(&[
        (PATH, TIDES),
        (".claude/skills/tide-table/SKILL.md", TIDES),
        (
            ".claude/skills/lenient/SKILL.md",
            "---\nname: lenient\ndescription: Reads a log: for errors.\nmodel: big\n---\nRead it.\n",
        ),
        (
            ".cursor/skills/hider/SKILL.md",
            "---\nname: hider\ndescription: Looks as plain as any other text.\n---\nSay hello\u{200b} only.\u{202e}\n",
        ),
        (".cursor/skills/broken/SKILL.md", "no frontmatter\n"),
    ])
}

fn put(m: &mut MemMount, path: &str, text: &str) {
    m.files.insert(MountPath::parse(path).expect("path"), text.as_bytes().to_vec());
}

fn opened(m: &mut MemMount) -> Rig {
    let mut rig = Rig::new();
    rig.serve(m);
    rig.ctrl('k');
    rig.frame();
    rig.type_("app:skills");
    rig.press(Key::Enter);
    rig.serve(m);
    rig.frame();
    rig
}

/// Opens a package and lets the dead time of its sheet pass.
fn sheet(rig: &mut Rig, m: &mut MemMount, name: &str) {
    rig.click(Role::Button, name);
    rig.serve(m);
    rig.frame();
    rig.now += 600;
    rig.frame();
}

fn disabled(rig: &Rig, name: &str) -> bool {
    let id = rig.node(Role::Button, name).unwrap_or_else(|| panic!("no {name}:\n{}", rig.tree()));
    rig.desk.painted().semantics.nodes[&id].state.disabled
}

fn row(rig: &mut Rig, m: &mut MemMount, name: &str) -> Option<(bool, String)> {
    rig.ctrl('k');
    rig.serve(m);
    rig.frame();
    rig.type_(&format!("skill:{name}"));
    let id = rig.node(Role::Option, &format!("/skill:{name}"));
    let found = id.map(|id| {
        let n = &rig.desk.painted().semantics.nodes[&id];
        (n.state.disabled, format!("{} {}", n.name, n.description))
    });
    rig.press(Key::Escape);
    rig.frame();
    found
}

#[test]
fn the_catalogue_names_root_verdict_state_and_losers() {
    let mut m = files();
    let rig = opened(&mut m);
    let list = rig.part("Skills in welcome");
    for words in [
        "tide-table, in .agents/skills",
        "portable; not reviewed yet",
        "portable; shadowed by .agents/skills",
        "lenient, in .claude/skills",
        "readable, not portable; usable as a portable copy",
        "not readable; cannot be used",
    ] {
        assert!(list.contains(words), "{words}:\n{list}");
    }
}

#[test]
fn the_sheet_shows_everything_and_approve_counts_for_exactly_that() {
    let mut m = files();
    let mut rig = opened(&mut m);
    rig.click(Role::Button, "tide-table, in .agents");
    rig.serve(&mut m);
    rig.frame();
    assert!(disabled(&rig, "Approve"), "the sheet was on screen for no time at all");
    rig.now += 600;
    rig.frame();
    let tree = rig.tree();
    let digest = kernel::Digest::of(TIDES.as_bytes()).hex();
    for words in [
        "Lists high and low water for a harbour.",
        "Version 1.2",
        &digest,
        "It asks for these tools, which gives it none of them: Read, Bash(git:*)",
        ".claude/skills/tide-table/SKILL.md has the same name and comes after.",
        "Give the times in a table.",
        "asked for 2 of 2",
    ] {
        assert!(tree.contains(words), "{words}:\n{tree}");
    }
    assert!(!disabled(&rig, "Approve"));
    // What script makes decides nothing.
    let approve = rig.node(Role::Button, "Approve").expect("there");
    rig.msg(Msg::Input(Event::Activate { node: approve, at_ms: 0.0 }, kernel::authority::Proof::Untrusted));
    assert!(rig.reviews.is_empty() && rig.refusal_codes().contains(&"UntrustedInput".to_owned()));
    rig.click(Role::Button, "Approve");
    rig.serve(&mut m);
    rig.frame();
    assert_eq!(rig.reviews.len(), 1);
    assert!(rig.tree().contains("Approved by the person at this browser"), "{}", rig.tree());
    let (off, words) = row(&mut rig, &mut m, "tide-table").expect("a row");
    assert!(!off, "{words}");

    rig.click(Role::Button, "Revoke");
    rig.serve(&mut m);
    rig.frame();
    assert!(rig.reviews.is_empty());
    let (off, words) = row(&mut rig, &mut m, "tide-table").expect("a row");
    assert!(off && words.contains("was not reviewed yet"), "{words}");
}

#[test]
fn field_4h1_a_press_that_began_before_the_text_could_be_read_approves_nothing() {
    let mut m = files();
    let mut rig = opened(&mut m);
    rig.click(Role::Button, "tide-table, in .agents");
    rig.serve(&mut m);
    rig.frame();
    let approve = rig.node(Role::Button, "Approve").expect("there");
    let p = rig.proof(GestureKind::Click);
    rig.msg(Msg::Input(Event::Activate { node: approve, at_ms: 0.0 }, p));
    rig.serve(&mut m);
    assert!(rig.reviews.is_empty());
}

#[test]
fn a_file_that_changes_under_the_sheet_makes_it_anew() {
    let mut m = files();
    let mut rig = opened(&mut m);
    sheet(&mut rig, &mut m, "tide-table, in .agents");
    put(&mut m, PATH, &TIDES.replace("times", "hours"));
    rig.click(Role::Button, "Look again");
    rig.serve(&mut m);
    rig.frame();
    assert!(rig.tree().contains("Give the hours") && rig.tree().contains("this is what it says now"), "{}", rig.tree());
    assert!(disabled(&rig, "Approve"), "what is new was on screen for no time");
    m.files.remove(&MountPath::parse(PATH).expect("path"));
    rig.click(Role::Button, "Look again");
    rig.serve(&mut m);
    rig.frame();
    assert!(rig.node(Role::Button, "Approve").is_none(), "{}", rig.tree());
}

#[test]
fn i117_one_byte_takes_the_review_back_and_the_row_says_so() {
    let mut m = files();
    let mut rig = opened(&mut m);
    sheet(&mut rig, &mut m, "tide-table, in .agents");
    rig.click(Role::Button, "Approve");
    rig.serve(&mut m);
    rig.frame();
    put(&mut m, PATH, &TIDES.replace("times", "hours"));
    let (off, words) = row(&mut rig, &mut m, "tide-table").expect("a row");
    assert!(off && words.contains("changed since it was reviewed"), "{words}");
    m.files.remove(&MountPath::parse(PATH).expect("path"));
    m.files.remove(&MountPath::parse(".claude/skills/tide-table/SKILL.md").expect("path"));
    assert_eq!(row(&mut rig, &mut m, "tide-table"), None, "it vanishes at the next look");
}

#[test]
fn what_hides_is_written_out_with_its_place() {
    let mut m = files();
    let mut rig = opened(&mut m);
    sheet(&mut rig, &mut m, "hider");
    let tree = rig.tree();
    for words in ["What hides in it: 2", "line 5, column 10: U+200B", "U+202E", "hello⟨U+200B⟩ only.⟨U+202E⟩"] {
        assert!(tree.contains(words), "{words}:\n{tree}");
    }
    rig.click(Role::Button, "Approve");
    rig.serve(&mut m);
    rig.frame();
    assert!(rig.tree().contains("characters hid in it"), "approved, and never as clean:\n{}", rig.tree());
}

#[test]
fn what_is_wrong_has_a_line_and_a_column_and_a_copy_goes_through_the_file_review() {
    let mut m = files();
    let mut rig = opened(&mut m);
    sheet(&mut rig, &mut m, "lenient");
    let tree = rig.tree();
    assert!(tree.contains("line 4, column 1: FieldUnknown, not portable"), "{tree}");
    assert!(rig.node(Role::Button, "Approve").is_none(), "readable is not portable");
    rig.click(Role::Button, "Propose a portable copy");
    rig.serve(&mut m);
    rig.frame();
    let before = m.files.clone();
    assert!(rig.node(Role::AlertDialog, "Review").is_some(), "no card:\n{}", rig.tree());
    assert_eq!(m.files, before, "nothing is written before it is approved");
    rig.now += 600;
    rig.frame();
    rig.click(Role::Button, "Approve");
    rig.serve(&mut m);
    rig.frame();
    let path = MountPath::parse(".claude/skills/lenient/SKILL.md").expect("path");
    let text = String::from_utf8(m.files[&path].clone()).expect("text");
    assert!(text.contains("metadata:\n  model: big") && text.ends_with("Read it.\n"), "{text}");
    let (_, words) = row(&mut rig, &mut m, "lenient").expect("a row");
    assert!(words.contains("was not reviewed yet"), "portable now: {words}");
}

#[test]
fn an_objective_shows_verdicts_reasons_and_the_words_they_rest_on() {
    let mut m = files();
    let mut rig = opened(&mut m);
    rig.click(Role::TextField, "Objective");
    rig.type_("Please run /tide-table for Kiel, never /hider");
    rig.press(Key::Enter);
    rig.frame();
    let list = rig.part("Verdicts");
    assert!(list.contains("tide-table: Inactive") && list.contains("Unreviewed"), "{list}");
    assert!(list.contains("ExactInvocation “/tide-table”"), "{list}");
    assert!(list.contains("NegatedClause “/hider”"), "{list}");
    sheet(&mut rig, &mut m, "tide-table, in .agents");
    rig.click(Role::Button, "Approve");
    rig.serve(&mut m);
    rig.frame();
    rig.click(Role::Button, "Back");
    rig.frame();
    rig.click(Role::Button, "Try it");
    rig.frame();
    assert!(rig.part("Verdicts").contains("tide-table: Active"), "{}", rig.part("Verdicts"));
    assert_eq!(rig.asks(), 0, "nothing is sent");
}

#[test]
fn field_10h1_a_folder_that_waits_for_a_click_is_unseen_and_not_empty() {
    let mut m = files();
    let mut rig = opened(&mut m);
    let id = kernel::MountId::new("welcome").expect("id");
    rig.click(Role::Button, "Look again");
    let mut asked = 0;
    for e in std::mem::take(&mut rig.out) {
        if let Effect::Echo(ai_echo::Effect::Skills(Some(_))) = e {
            asked += 1;
            let mut look = skills::packages::Discovery::new(&MountPath::root());
            let failed = |_: &_| kernel::mount::Reply::Failed(kernel::mount::MountError::NeedsReconnect);
            let found = kernel::mount::drive(|replies| look.step(replies), failed);
            rig.msg(Msg::Echo(ai_echo::Msg::SkillsFound(id.clone(), Box::new(found))));
        }
    }
    rig.frame();
    assert_eq!(asked, 1);
    let list = rig.part("Skills in welcome");
    assert!(list.contains(".agents/skills: the folder must be reconnected"), "{list}");
    let _ = mount("welcome", apps::status::MountState::Ready);
}

#[test]
fn i176_the_sheet_gives_the_author_s_advice_and_the_command_opens_it() {
    let mut m = files();
    let mut rig = opened(&mut m);
    rig.ctrl('k');
    rig.serve(&mut m);
    rig.frame();
    rig.type_("cmd:lint-skill tide-table");
    rig.press(Key::Enter);
    rig.serve(&mut m);
    rig.frame();
    let tree = rig.part("Dialog \"Skills\"");
    assert!(tree.contains("Advice for its author"), "{tree}");
    assert!(tree.contains("the description does not say when not to use the skill; add “Do not use for …”"), "{tree}");
    // A name that is none is refused with the names that are.
    rig.ctrl('k');
    rig.frame();
    rig.type_("cmd:lint-skill nope");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(rig.refusal_codes().last().map(String::as_str), Some("SkillUnknown"));
}

#[test]
fn t157_what_lies_beside_a_skill_is_listed_when_asked_for_and_scripts_never() {
    let mut m = files();
    put(&mut m, ".agents/skills/tide-table/references/harbours.md", "secret words\n");
    put(&mut m, ".agents/skills/tide-table/assets/map.svg", "<svg/>\n");
    put(&mut m, ".agents/skills/tide-table/scripts/run.sh", "rm -rf /\n");
    let mut rig = opened(&mut m);
    sheet(&mut rig, &mut m, "tide-table, in .agents");
    m.log.clear();
    assert!(!rig.tree().contains("harbours.md"));
    rig.click(Role::Button, "Show its files");
    rig.serve(&mut m);
    rig.frame();
    let tree = rig.part("Dialog \"Skills\"");
    assert!(tree.contains("harbours.md") && tree.contains("references/ (1)"), "{tree}");
    assert!(!tree.contains("run.sh") && !tree.contains("secret words"), "{tree}");
    let touched = format!("{:?}", m.log);
    assert!(!touched.contains("scripts") && !touched.contains("Read"), "{touched}");
}

#[test]
fn the_product_s_own_skills_stand_in_the_catalogue_too() {
    let mut m = MemMount::default();
    let rig = opened(&mut m);
    let list = rig.part("List");
    let own = rig.node(Role::Text, "/skill:summarise-notes: Summarise notes");
    assert!(own.is_some(), "{list}");
}
