//! The Instructions app: what applies to some targets and why, and what does not.

mod common;

use apps::desktop::Msg;
use apps::status::MountState;
use common::{Rig, mount};
use kernel::mount::MemMount;
use scene::Role;
use ui::event::{Key, Mods};

fn files() -> MemMount {
    MemMount::with(&[
        ("AGENTS.md", "Root words, see @docs/style.md.\n"),
        ("src/AGENTS.md", "Near words.\n"),
        ("src/main.rs", ""),
        (".cursor/rules/rust.mdc", "---\nglobs: src/**/*.rs\n---\nRust words.\n"),
        (".cursor/rules/web.mdc", "---\nglobs: web/**\n---\nWeb words.\n"),
        ("claude.md", "never"),
    ])
}

fn opened(m: &mut MemMount) -> Rig {
    let mut rig = Rig::new();
    rig.ctrl('k');
    rig.frame();
    rig.type_("app:instructions");
    rig.press(Key::Enter);
    rig.serve(m);
    rig.frame();
    rig
}

fn target(rig: &mut Rig, m: &mut MemMount, text: &str) {
    rig.click(Role::TextField, "Target paths");
    rig.key_mods(Key::Char('a'), Mods { ctrl: true, ..Mods::default() });
    rig.type_(text);
    rig.press(Key::Enter);
    rig.serve(m);
    rig.frame();
}

#[test]
fn it_shows_what_applies_in_order_and_why_and_what_was_left_out() {
    let mut m = files();
    let mut rig = opened(&mut m);
    assert!(rig.node(Role::Button, "1. AGENTS.md").is_some(), "{}", rig.tree());
    assert!(rig.node(Role::Button, "2. ").is_none(), "no target, no scoped rule");

    target(&mut rig, &mut m, "src/main.rs");
    let list = rig.part("Files that apply");
    for (row, why) in [
        ("1. AGENTS.md", "it lies above src/main.rs"),
        ("2. .cursor/rules/rust.mdc", "its pattern src/**/*.rs matches src/main.rs"),
        ("3. src/AGENTS.md", "it lies above src/main.rs"),
    ] {
        assert!(rig.node(Role::Button, row).is_some() && list.contains(why), "{row}: {list}");
    }
    let left = rig.part("Left out");
    for words in [
        "web.mdc: no target matches web/**",
        "claude.md: found claude.md, expected CLAUDE.md",
        "AGENTS.md: its reference @docs/style.md is not followed",
    ] {
        assert!(left.contains(words), "{words}: {left}");
    }
    // The on-device model's budget, and how much of it is used.
    assert!(rig.tree().contains("of 1536 bytes of this model's budget are used"), "{}", rig.tree());
}

#[test]
fn a_row_opens_the_text_and_the_file() {
    let mut m = files();
    let mut rig = opened(&mut m);
    target(&mut rig, &mut m, "src/main.rs");
    rig.click(Role::Button, "3. src/AGENTS.md");
    assert!(rig.tree().contains("Near words."), "{}", rig.tree());
    rig.click(Role::Button, "Open in Files");
    rig.serve(&mut m);
    rig.frame();
    assert!(rig.node(Role::Code, "src/AGENTS.md").is_some(), "{}", rig.tree());
}

#[test]
fn i102_a_target_outside_is_refused_by_name() {
    let mut m = files();
    let mut rig = opened(&mut m);
    target(&mut rig, &mut m, "../etc/passwd");
    assert!(rig.tree().contains("leads outside the mounted folder"), "{}", rig.tree());
    assert!(m.log.iter().all(|n| !format!("{n:?}").contains("passwd")));
}

#[test]
fn field_10h1_a_folder_that_waits_for_a_click_is_unavailable_and_not_empty() {
    let mut m = files();
    let mut rig = opened(&mut m);
    rig.msg(Msg::Mounts(vec![mount("welcome", MountState::NeedsReconnect)]));
    rig.frame();
    assert!(rig.tree().contains("are unavailable") && rig.tree().contains("Needs reconnect"), "{}", rig.tree());
    assert!(rig.node(Role::Button, "1. ").is_none());
    rig.msg(Msg::Mounts(vec![mount("welcome", MountState::Ready)]));
    rig.serve(&mut m);
    rig.frame();
    assert!(rig.node(Role::Button, "1. AGENTS.md").is_some());
}

#[test]
fn a_turn_has_one_line_that_names_its_instructions_and_opens_them() {
    let mut m = files();
    let mut rig = Rig::new();
    for c in "/skill:summarise-notes src/main.rs".chars() {
        rig.text(&c.to_string());
    }
    rig.frame();
    rig.press(Key::Enter);
    rig.serve(&mut m);
    rig.frame();
    let line = "Instructions used: AGENTS.md, .cursor/rules/rust.mdc, src/AGENTS.md; 2 left out";
    assert_eq!(rig.tree().matches(line).count(), 1, "{}", rig.tree());
    assert!(!rig.tree().contains("because") && !rig.tree().contains("its pattern"));
    rig.click(Role::Button, "Why");
    assert!(rig.tree().contains("its pattern src/**/*.rs matches src/main.rs"), "{}", rig.tree());
    rig.click(Role::Button, "src/AGENTS.md");
    rig.serve(&mut m);
    rig.frame();
    assert!(rig.node(Role::Code, "src/AGENTS.md").is_some(), "{}", rig.tree());
}
