//! Keys and presses as a person makes them, by the ids of the cases they pin.

mod common;

use apps::desktop::{Effect, Msg};
use common::Rig;
use kernel::authority::{GestureKind, Proof};
use kernel::registry::{AppEntry, AppKind, PackageState};
use kernel::{AppId, Digest, PackageId, Rev};
use scene::{Point, Role};
use ui::event::{EditKind, Event, Key, KeyPress, Mods, PointerPhase, TextEdit};

fn add_app(rig: &mut Rig, id: &str) {
    let k = rig.desk.kernel_mut();
    let package = PackageId::new(&format!("pkg-{id}")).expect("id");
    let digest = Digest::of(id.as_bytes());
    k.put_package(package.clone(), id, PackageState::Present { enabled: true }, digest).expect("package");
    k.put_app(AppEntry {
        id: AppId::new(id).expect("id"),
        package,
        package_digest: digest,
        title: id.into(),
        icon: "none",
        launchable: true,
        kind: AppKind::Window,
        actions: vec![],
        surfaces: vec![],
        tools: Default::default(),
        rev: Rev::default(),
    })
    .expect("app");
    rig.msg(Msg::Tick);
    rig.frame();
}

fn top_title(rig: &Rig) -> String {
    // The window on top says so in the bar.
    let s = &rig.desk.painted().semantics;
    let bar = s.nodes.values().find(|n| n.role == Role::Toolbar).expect("bar");
    let pressed = bar.children.iter().filter_map(|c| s.nodes.get(c)).find(|n| n.state.pressed == Some(true));
    pressed.map_or_else(String::new, |n| n.name.clone())
}

#[test]
fn typing_fills_the_draft_and_enter_sends_it_once() {
    let mut rig = Rig::new();
    rig.type_("hello");
    assert_eq!(rig.draft(), "hello");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(rig.draft(), "");
    assert_eq!((rig.user_messages(), rig.asks()), (1, 1));
}

#[test]
fn field_6h3_enter_before_the_conversations_are_read_loses_nothing_and_makes_none() {
    let mut rig = Rig::starting(1280.0, 800.0);
    rig.frame();
    rig.type_("early");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(rig.draft(), "early", "there is nothing yet that it could be sent to");
    rig.msg(Msg::Echo(ai_echo::Msg::Loaded(ai_echo::conversation::Loaded::Index {
        settings: None,
        conversations: vec![],
        drafts: vec![],
        mounts: vec![],
    })));
    rig.frame();
    assert_eq!((rig.draft().as_str(), rig.user_messages()), ("", 1), "sent once they are read");
}

#[test]
fn field_6h3_what_was_edited_after_an_early_enter_is_not_sent() {
    let mut rig = Rig::starting(1280.0, 800.0);
    rig.frame();
    rig.type_("early");
    rig.press(Key::Enter);
    rig.type_(" bird");
    rig.msg(Msg::Echo(ai_echo::Msg::Loaded(ai_echo::conversation::Loaded::Index {
        settings: None,
        conversations: vec![],
        drafts: vec![],
        mounts: vec![],
    })));
    rig.frame();
    assert_eq!((rig.draft().as_str(), rig.user_messages()), ("early bird", 0));
}

#[test]
fn shift_enter_makes_a_line_and_the_composer_grows_to_a_third() {
    let mut rig = Rig::new();
    let height = |rig: &mut Rig| {
        rig.frame();
        let id = rig.node(Role::Combobox, "Message").expect("composer");
        rig.desk.painted().semantics.nodes[&id].rect.h
    };
    let one = height(&mut rig);
    for _ in 0..3 {
        rig.type_("line");
        rig.key_mods(Key::Enter, Mods { shift: true, ..Mods::default() });
    }
    assert_eq!(rig.draft(), "line\nline\nline\n");
    let four = height(&mut rig);
    assert!(four > one + 48.0, "{one} {four}");
    for _ in 0..60 {
        rig.key_mods(Key::Enter, Mods { shift: true, ..Mods::default() });
    }
    let most = height(&mut rig);
    assert!(most <= 800.0 / 3.0 && most > four, "{most}");
    assert_eq!(rig.asks(), 0);
}

#[test]
fn field_3h1_the_exact_name_wins_over_neighbours_and_habit() {
    let mut rig = Rig::new();
    for n in ["filesystem", "files-archive"] {
        add_app(&mut rig, n);
    }
    // A neighbour that was used often does not move the exact name.
    for _ in 0..3 {
        rig.type_("/app:settings");
        rig.press(Key::Enter);
        rig.frame();
        rig.key_mods(Key::F(6), Mods::default());
        rig.click(Role::Button, "AI Echo");
    }
    rig.type_("/app:files");
    let palette = rig.part("Listbox");
    let first = palette.lines().nth(1).expect("row");
    assert!(first.contains("/app:files Files") && first.contains(" selected"), "{palette}");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "Files");
    assert_eq!(rig.asks(), 0, "a local row never reaches a model");
}

#[test]
fn field_3h2_keys_of_one_frame_run_only_what_they_spell() {
    let mut rig = Rig::new();
    rig.type_("/");
    // No frame between: the painted list still belongs to “/”.
    for c in "app:set".chars() {
        rig.text(&c.to_string());
    }
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "AI Echo", "nothing was opened");
    assert_eq!(rig.draft(), "/app:set");
    assert_eq!(rig.asks(), 0);
    for c in "tings".chars() {
        rig.text(&c.to_string());
    }
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "Settings", "the exact text does what it says");
}

#[test]
fn field_3h3_a_path_is_no_command_and_is_never_thrown_away() {
    for text in ["/mnt/project/todo.md has a typo, fix it", "/etc", "/app"] {
        let mut rig = Rig::new();
        for c in text.chars() {
            rig.text(&c.to_string());
        }
        // The list that matches a part of it was not painted, so Enter means the text.
        rig.press(Key::Enter);
        rig.frame();
        assert_eq!(rig.draft(), text);
        assert_eq!((rig.asks(), rig.user_messages_or_none()), (0, 0), "{text}");
        assert!(rig.tree().contains("is not a command"), "{text}: {}", rig.tree());
        rig.click(Role::Button, "Send as text");
        assert_eq!((rig.user_messages(), rig.asks()), (1, 1), "{text}");
        assert_eq!(rig.draft(), "");
    }
}

#[test]
fn field_3h4_rows_of_a_package_that_is_switched_off_go_while_the_palette_is_open() {
    let mut rig = Rig::new();
    add_app(&mut rig, "maps");
    rig.type_("/app:m");
    let row = rig.node(Role::Option, "/app:maps").expect("row");
    let rect = rig.desk.painted().semantics.nodes[&row].rect;
    let off = PackageState::Present { enabled: false };
    rig.desk.kernel_mut().set_package_state(&PackageId::new("pkg-maps").expect("id"), off).expect("known");
    // The click lands on the frame that still shows it: refused, with the reason.
    rig.click_at(Point::new(rect.x + 20.0, rect.y + 10.0));
    assert!(rig.tree().contains("pkg-maps is switched off"), "{}", rig.tree());
    assert!(rig.node(Role::Option, "/app:maps").is_none());
    assert_eq!(rig.draft(), "/app:m");
    assert!(rig.refusal_codes().contains(&"SlashSurface".to_owned()), "{:?}", rig.refusal_codes());
}

#[test]
fn field_6h2_two_enters_in_one_frame_send_once() {
    let mut rig = Rig::new();
    rig.type_("hello");
    rig.press(Key::Enter);
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!((rig.user_messages(), rig.asks()), (1, 1));
}

#[test]
fn field_6h2_a_double_click_on_send_sends_once() {
    let mut rig = Rig::new();
    rig.type_("hello");
    let id = rig.node(Role::Button, "Send").expect("send");
    let r = rig.desk.painted().semantics.nodes[&id].rect;
    let at = Point::new(r.x + 10.0, r.y + 10.0);
    for _ in 0..2 {
        rig.pointer(PointerPhase::Down, at, true);
        rig.pointer(PointerPhase::Up, at, true);
    }
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!((rig.user_messages(), rig.asks()), (1, 1));
}

#[test]
fn field_7h1_the_enter_of_a_composition_sends_nothing() {
    let mut rig = Rig::new();
    rig.compose("みなと");
    for _ in 0..2 {
        // The Enter that confirms, and the late key with code 229.
        let p = rig.proof(GestureKind::Key);
        let k = KeyPress { key: Key::Enter, mods: Mods::default(), repeat: false, composing: true, at_ms: 0.0 };
        rig.msg(Msg::Input(Event::Key(k), p));
    }
    assert_eq!((rig.draft(), rig.asks()), ("みなと".to_owned(), 0));
    let p = rig.proof(GestureKind::TextEdit);
    rig.msg(Msg::Input(Event::Composition(ui::event::Composition(None)), p));
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!((rig.user_messages(), rig.asks()), (1, 1));
}

#[test]
fn field_7h1_a_composition_does_not_work_the_palette() {
    let mut rig = Rig::new();
    rig.type_("/app:");
    rig.compose("ふ");
    rig.frame();
    let before = rig.draft();
    for key in [Key::Down, Key::Enter, Key::Tab, Key::Escape] {
        let p = rig.proof(GestureKind::Key);
        let k = KeyPress { key, mods: Mods::default(), repeat: false, composing: true, at_ms: 0.0 };
        rig.msg(Msg::Input(Event::Key(k), p));
    }
    assert_eq!(rig.draft(), before);
    assert_eq!(top_title(&rig), "AI Echo");
}

#[test]
fn a_row_that_takes_words_completes_and_a_second_enter_submits() {
    let mut rig = Rig::new();
    rig.type_("/tool:clock");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(rig.draft(), "/tool:clock.now ");
    assert_eq!(rig.user_messages_or_none(), 0);
    assert!(rig.tree().contains("Now: <task>"), "{}", rig.tree());
    rig.type_("what time is it");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(rig.user_messages(), 1);
    assert_eq!(rig.draft(), "");
}

fn rect_of(rig: &Rig, role: Role, name: &str) -> scene::Rect {
    let id = rig.node(role, name).unwrap_or_else(|| panic!("no {name}:\n{}", rig.tree()));
    rig.desk.painted().semantics.nodes[&id].rect
}

#[test]
fn a_question_back_is_seen_and_the_words_that_were_sent_stand_selected_behind_their_command() {
    for (w, h) in [(1280.0, 800.0), (390.0, 844.0)] {
        let mut m = kernel::mount::MemMount::with(&[("notes/todo.md", "x\n")]);
        let mut rig = Rig::sized(w, h);
        let text = "/tool:files.write write something";
        rig.type_(text);
        rig.press(Key::Enter);
        rig.serve(&mut m);
        rig.frame();
        assert!(rig.node(Role::Paragraph, "Which file should I write?").is_some(), "{}", rig.tree());
        assert!(rig.node(Role::Listbox, "Commands").is_none(), "no hint lies over the question");
        assert_eq!(rig.draft(), text);
        let at = |n: usize| u32::try_from(n).expect("short");
        let words = (at("/tool:files.write ".len()), at(text.len()));
        assert_eq!(rig.desk.field_in_focus().map(|f| f.selection), Some(words));
        // Going on in it opens the hint, above which the question stays.
        rig.press(Key::End);
        rig.type_(" into a.md");
        assert_eq!(rig.draft(), format!("{text} into a.md"));
        let (hint, question) =
            (rect_of(&rig, Role::Listbox, "Commands"), rect_of(&rig, Role::Paragraph, "Which file should I write?"));
        assert!(question.bottom() <= hint.y, "{question:?} {hint:?}");
        // A new thought replaces it, and is back by one undo.
        rig.ctrl('a');
        rig.press(Key::Backspace);
        rig.type_("hello");
        assert_eq!(rig.draft(), "hello");
    }
}

#[test]
fn what_is_typed_while_a_question_comes_back_stays_as_it_is() {
    let mut m = kernel::mount::MemMount::with(&[("notes/todo.md", "x\n")]);
    let mut rig = Rig::new();
    rig.type_("/tool:files.write write something");
    rig.press(Key::Enter);
    rig.frame();
    rig.type_("already on");
    rig.serve(&mut m);
    rig.frame();
    assert!(rig.tree().contains("Which file should I write?"));
    assert_eq!(rig.draft(), "already on");
}

#[test]
fn the_palette_closed_by_escape_opens_for_the_next_draft() {
    let mut rig = Rig::new();
    rig.type_("/");
    rig.press(Key::Escape);
    rig.press(Key::Backspace);
    rig.frame();
    assert!(rig.node(Role::Listbox, "Commands").is_none());
    rig.type_("/");
    assert!(rig.node(Role::Listbox, "Commands").is_some());
    rig.press(Key::Escape);
    rig.press(Key::Backspace);
    rig.type_("hello");
    rig.press(Key::Enter);
    rig.frame();
    rig.type_("/");
    assert!(rig.node(Role::Listbox, "Commands").is_some(), "{}", rig.tree());
}

#[test]
fn enum_values_complete_by_tab() {
    let mut rig = Rig::new();
    rig.type_("/cmd:theme da");
    rig.press(Key::Tab);
    assert_eq!(rig.draft(), "/cmd:theme dark");
    rig.press(Key::Enter);
    assert!(rig.out.iter().any(|e| matches!(e, Effect::SavePrefs(p) if p.theme.dark() == Some(true))));
    assert_eq!(rig.draft(), "");
}

#[test]
fn ctrl_k_searches_the_same_catalogue_and_leaves_the_draft_alone() {
    let mut rig = Rig::new();
    rig.type_("half a thought");
    rig.ctrl('k');
    rig.frame();
    rig.type_("open");
    rig.press(Key::Escape);
    rig.frame();
    rig.ctrl('k');
    rig.frame();
    rig.type_("sett");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "Settings");
    rig.click(Role::Button, "AI Echo");
    assert_eq!(rig.draft(), "half a thought");
}

#[test]
fn the_palette_is_worked_by_all_its_keys() {
    let mut rig = Rig::new();
    rig.type_("/");
    let selected = |rig: &mut Rig| {
        rig.frame();
        let s = &rig.desk.painted().semantics;
        let n = s.nodes.values().find(|n| n.role == Role::Option && n.state.selected == Some(true)).expect("one");
        let c = s.nodes.values().find(|n| n.role == Role::Combobox).expect("composer");
        assert_eq!(c.state.active_descendant, Some(n.id));
        n.state.pos_in_set.expect("position")
    };
    assert_eq!(selected(&mut rig), 1);
    rig.press(Key::Down);
    assert_eq!(selected(&mut rig), 2);
    rig.press(Key::Up);
    rig.press(Key::Up);
    let last = selected(&mut rig);
    assert!(last > 20, "{last}");
    rig.press(Key::Home);
    assert_eq!(selected(&mut rig), 1);
    rig.press(Key::PageDown);
    assert_eq!(selected(&mut rig), 9);
    rig.press(Key::End);
    assert_eq!(selected(&mut rig), last);
    rig.press(Key::Escape);
    rig.frame();
    assert!(rig.node(Role::Option, "").is_none());
    assert_eq!(rig.draft(), "/");
}

#[test]
fn the_bare_list_shows_apps_then_tools_and_habit_puts_no_changing_tool_first() {
    let mut rig = Rig::new();
    // Used often: the changing tool, and an action.
    for _ in 0..3 {
        rig.type_("/tool:files.write put \"x\" into a.md");
        rig.press(Key::Enter);
        rig.frame();
        rig.ctrl('a');
        rig.press(Key::Backspace);
    }
    let names = |rig: &Rig| -> Vec<String> {
        let part = rig.part("Listbox");
        let rows = part.lines().skip(1);
        rows.filter_map(|l| l.split('"').nth(1)).map(|n| n.split(' ').next().unwrap_or("").to_owned()).collect()
    };
    rig.type_("/");
    let all = names(&rig);
    let apps = all.iter().take_while(|n| n.starts_with("/app:")).count();
    assert!(apps >= 3 && all[apps..].iter().all(|n| n.starts_with("/tool:")), "{all:?}");
    assert!(!["/tool:files.write", "/tool:files.edit", "/tool:files.undo"].contains(&all[apps].as_str()), "{all:?}");
    // Enter on it changes nothing and asks nobody.
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(rig.draft(), "");
    rig.type_("/tool:");
    let tools = names(&rig);
    let changing = |n: &String| ["edit", "undo", "write"].iter().any(|c| n.ends_with(c));
    let first = tools.iter().position(changing).expect("a changing tool");
    assert!(tools[first..].iter().all(changing), "what changes something stands last: {tools:?}");
}

#[test]
fn what_lacks_proof_acts_on_nothing_and_is_refused_by_name() {
    let mut rig = Rig::new();
    rig.type_("hello");
    let enter = KeyPress { key: Key::Enter, mods: Mods::default(), repeat: false, composing: false, at_ms: 0.0 };
    rig.msg(Msg::Input(Event::Key(enter), Proof::Untrusted));
    let e = TextEdit { range: 0..0, text: "x".into(), selection: (1, 1), kind: EditKind::Typing, tainted: false };
    rig.msg(Msg::Input(Event::Text(e), Proof::Untrusted));
    rig.msg(Msg::Input(Event::Paste("x".into()), Proof::Untrusted));
    let send = rig.node(Role::Button, "Send").expect("send");
    let at = rig.desk.painted().semantics.nodes[&send].rect.origin();
    let at = Point::new(at.x + 9.0, at.y + 9.0);
    rig.pointer(PointerPhase::Down, at, false);
    rig.pointer(PointerPhase::Up, at, false);
    rig.msg(Msg::Input(Event::Activate { node: send, at_ms: 0.0 }, Proof::Untrusted));
    rig.frame();
    assert_eq!((rig.draft(), rig.asks()), ("hello".to_owned(), 0));
    let n = rig.refusal_codes().iter().filter(|c| *c == "UntrustedInput").count();
    assert_eq!(n, 6);
    // A down with proof and an up without is no press either.
    rig.pointer(PointerPhase::Down, at, true);
    rig.pointer(PointerPhase::Up, at, false);
    assert_eq!(rig.asks(), 0);
}

#[test]
fn a_tainted_field_does_not_dispatch_until_it_is_edited_again() {
    let mut rig = Rig::new();
    rig.type_("/app:files");
    let n = 10;
    let e = TextEdit { range: n..n, text: String::new(), selection: (n, n), kind: EditKind::Typing, tainted: true };
    let p = rig.proof(GestureKind::TextEdit);
    rig.msg(Msg::Input(Event::Text(e), p));
    rig.press(Key::Escape);
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "AI Echo");
    let codes = rig.refusal_codes();
    assert!(codes.contains(&"FieldTainted".into()) && codes.contains(&"SlashUntrustedEdit".into()), "{codes:?}");
}

#[test]
fn pasted_slash_text_waits_for_one_more_edit() {
    let mut rig = Rig::new();
    let p = rig.proof(GestureKind::Paste);
    rig.msg(Msg::Input(Event::Paste("/app:files".into()), p));
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "AI Echo");
    assert_eq!(rig.draft(), "/app:files");
    rig.press(Key::Backspace);
    rig.type_("s");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "Files");
}

#[test]
fn f6_goes_round_the_windows_and_tab_round_the_controls() {
    let mut rig = Rig::new();
    rig.type_("/app:files");
    rig.press(Key::Enter);
    rig.frame();
    rig.press(Key::F(6));
    rig.frame();
    assert_eq!(top_title(&rig), "AI Echo");
    rig.key_mods(Key::F(6), Mods { shift: true, ..Mods::default() });
    rig.frame();
    assert_eq!(top_title(&rig), "Files");
    let order = rig.desk.painted().order.clone();
    let mut seen = std::collections::BTreeSet::new();
    // Tab stays with the window in front and the bar; F6 goes on to the next window.
    for _ in 0..2 {
        for _ in 0..order.len() + 1 {
            rig.press(Key::Tab);
            rig.frame();
            let s = &rig.desk.painted().semantics;
            seen.extend(s.nodes.values().filter(|n| n.state.focused).map(|n| n.id));
        }
        rig.press(Key::F(6));
        rig.frame();
    }
    assert!(order.iter().all(|o| seen.contains(o)), "every control is reached");
}

#[test]
fn a_try_fills_the_draft_and_sends_nothing() {
    let mut rig = Rig::new();
    rig.click(Role::Button, "Read a file");
    assert_eq!(rig.draft(), "/tool:files.read what is in notes/todo.md");
    assert_eq!(rig.asks(), 0);
}

#[test]
fn field_3h2_a_list_that_was_painted_and_not_yet_shown_is_not_picked_from() {
    let mut rig = Rig::new();
    rig.desk.presented();
    rig.type_("/app:sett");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "AI Echo");
    rig.type_("i");
    rig.desk.presented();
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "Settings");
}

#[test]
fn field_3h2_the_row_that_was_on_screen_and_still_is_selected_is_picked() {
    let mut rig = Rig::new();
    rig.type_("/app:sett");
    rig.desk.presented();
    // One more letter, and Enter before its list is on screen: the row is the one that was seen.
    rig.text("i");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "Settings");
}

#[test]
fn what_is_typed_before_storage_has_answered_is_kept_and_can_be_sent() {
    let mut rig = Rig::starting(1280.0, 800.0);
    rig.type_("/app:fi");
    let index =
        ai_echo::conversation::Loaded::Index { settings: None, conversations: vec![], drafts: vec![], mounts: vec![] };
    rig.msg(Msg::Echo(ai_echo::Msg::Loaded(index)));
    rig.frame();
    assert_eq!(rig.draft(), "/app:fi");
    rig.type_("les");
    rig.press(Key::Enter);
    rig.frame();
    assert_eq!(top_title(&rig), "Files");
}
