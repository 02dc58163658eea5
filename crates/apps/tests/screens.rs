//! Screens as they are painted and said.

mod common;

use ai_echo::conversation::{AnswerState, ConversationRecord, Item, ItemKind, Loaded, Settings, Via};
use apps::desktop::Msg;
use apps::status::MountState;
use common::{Rig, env, mount};
use kernel::mount::MemMount;
use kernel::{ConversationId, Instant};
use models::ProviderConfig;
use scene::{Point, Rect, Role};
use ui::event::{Event, Key, Mods, PointerPhase};

fn files() -> MemMount {
    MemMount::with(&[
        ("notes/todo.md", "# Todo\n- buy milk\n"),
        ("notes/shopping.md", "bread\n"),
        ("AGENTS.md", "Be brief.\n"),
    ])
}

fn written(m: &MemMount) -> String {
    let f = m.files.iter().find(|(p, _)| p.as_str() == "notes/shopping.md").expect("file");
    String::from_utf8(f.1.clone()).expect("text")
}

/// Every press region belongs to a node that is said, and every node that can be activated has
/// its region or is scrolled out of view.
fn faces_agree(rig: &Rig) {
    let p = rig.desk.painted();
    let screen = Rect::new(0.0, 0.0, 4000.0, 4000.0);
    for h in &p.hits {
        assert!(p.semantics.nodes.contains_key(&h.id), "a region without a node: {h:?}");
        assert!(h.rect.is_empty() || !h.rect.intersect(&screen).is_empty());
    }
    for n in p.semantics.nodes.values() {
        if n.action {
            let seen = p.hits.iter().any(|h| h.id == n.id && h.action.is_some());
            let gone = p.scrolls.iter().any(|s| n.rect.intersect(&s.rect).is_empty());
            assert!(seen || gone, "a node without a region: {n:?}");
        }
        for c in &n.children {
            assert!(p.semantics.nodes.contains_key(c), "a child that is not said, of {:?} {}", n.role, n.name);
        }
    }
    let reached: std::collections::BTreeSet<_> = reachable(p.semantics.root, &p.semantics).into_iter().collect();
    assert_eq!(reached.len(), p.semantics.nodes.len(), "every node hangs in the tree once");
    for o in &p.order {
        assert!(p.semantics.nodes.contains_key(o));
    }
}

fn reachable(id: scene::NodeId, s: &scene::Semantics) -> Vec<scene::NodeId> {
    let mut out = vec![id];
    for c in s.nodes.get(&id).map(|n| n.children.clone()).unwrap_or_default() {
        out.extend(reachable(c, s));
    }
    out
}

#[test]
fn canvas_and_mirror_are_two_faces_of_every_screen() {
    let mut m = files();
    for (w, h) in [(1280.0, 800.0), (390.0, 844.0)] {
        for coarse in [false, true] {
            let mut rig = Rig::sized(w, h);
            let mut e = env(w, h);
            e.coarse = coarse;
            rig.msg(Msg::Env(e));
            rig.frame();
            faces_agree(&rig);
            rig.type_("What is a tide table?");
            rig.press(Key::Enter);
            rig.serve(&mut m);
            rig.frame();
            faces_agree(&rig);
            rig.type_("/");
            faces_agree(&rig);
            rig.press(Key::Escape);
            rig.press(Key::Backspace);
            rig.card(&mut m);
            faces_agree(&rig);
            for view in ["files", "settings", "instructions"] {
                rig.ctrl('k');
                rig.frame();
                faces_agree(&rig);
                rig.type_(&format!("app:{view}"));
                rig.press(Key::Enter);
                rig.serve(&mut m);
                rig.frame();
                faces_agree(&rig);
            }
            for page in ["appearance", "model", "provider", "input", "storage", "packages", "refusals"] {
                rig.ctrl('k');
                rig.frame();
                rig.type_(&format!("go:settings:{page}"));
                rig.press(Key::Enter);
                rig.frame();
                faces_agree(&rig);
            }
        }
    }
}

#[test]
fn field_7h5_the_trees_read_well() {
    let mut m = files();
    let mut rig = Rig::new();
    insta::assert_snapshot!("empty_shell", rig.tree());
    rig.type_("What is a tide table?");
    rig.press(Key::Enter);
    rig.serve(&mut m);
    rig.frame();
    insta::assert_snapshot!("conversation", rig.part("Log"));
    rig.type_("/file");
    insta::assert_snapshot!("palette", rig.part("Listbox"));
    rig.press(Key::Escape);
    rig.key_mods(Key::Char('a'), Mods { ctrl: true, ..Mods::default() });
    rig.press(Key::Backspace);
    rig.card(&mut m);
    insta::assert_snapshot!("review_card", rig.part("AlertDialog"));
}

#[test]
fn field_4h1_typing_on_decides_no_card() {
    let mut m = files();
    let mut rig = Rig::new();
    rig.card(&mut m);
    for c in "yes 1 please".chars() {
        rig.text(&c.to_string());
        rig.press(Key::Space);
    }
    rig.press(Key::Enter);
    rig.serve(&mut m);
    rig.frame();
    assert_eq!(written(&m), "bread\n");
    assert!(rig.node(Role::AlertDialog, "Review").is_some());
}

#[test]
fn field_4h1_a_press_within_half_a_second_is_refused_and_a_later_one_writes_what_was_shown() {
    let mut m = files();
    let mut rig = Rig::new();
    rig.card(&mut m);
    rig.click(Role::Button, "Approve");
    rig.serve(&mut m);
    assert_eq!(written(&m), "bread\n");
    assert!(rig.refusal_codes().contains(&"ReviewDeadTime".to_owned()), "{:?}", rig.refusal_codes());
    // Without proof, from script: nothing.
    let approve = rig.node(Role::Button, "Approve").expect("button");
    rig.now += 600;
    rig.frame();
    rig.msg(Msg::Input(Event::Activate { node: approve, at_ms: 0.0 }, kernel::authority::Proof::Untrusted));
    rig.serve(&mut m);
    assert_eq!(written(&m), "bread\n");
    rig.click(Role::Button, "Approve");
    rig.serve(&mut m);
    rig.frame();
    assert_eq!(written(&m), "buy milk");
    assert!(rig.node(Role::AlertDialog, "Review").is_none());
    assert!(rig.node(Role::Text, "Receipt: notes/shopping.md was changed").is_some(), "{}", rig.tree());
    assert!(rig.node(Role::Button, "Undo").is_some());
}

#[test]
fn f8_goes_to_the_card_keys_decide_it_and_escape_goes_back() {
    let mut m = files();
    let mut rig = Rig::new();
    rig.card(&mut m);
    rig.now += 600;
    rig.frame();
    rig.press(Key::F(8));
    rig.frame();
    let card = rig.node(Role::AlertDialog, "Review").expect("card");
    assert!(rig.desk.painted().semantics.nodes[&card].state.focused);
    // Once too often costs nothing: the card waits on.
    rig.press(Key::Escape);
    rig.press(Key::Escape);
    rig.press(Key::Escape);
    rig.frame();
    assert!(rig.node(Role::AlertDialog, "Review").is_some(), "{}", rig.tree());
    assert!(rig.tree().contains("A change waits for your review"), "{}", rig.tree());
    rig.type_("x");
    assert_eq!(rig.draft(), "x");
    rig.press(Key::F(8));
    rig.frame();
    let reject = rig.node(Role::Button, "Reject").expect("button");
    for _ in 0..6 {
        rig.press(Key::Tab);
        rig.frame();
        if rig.desk.painted().semantics.nodes[&reject].state.focused {
            break;
        }
    }
    rig.press(Key::Enter);
    rig.serve(&mut m);
    rig.frame();
    assert_eq!(written(&m), "bread\n");
    assert!(rig.node(Role::AlertDialog, "Review").is_none());
}

#[test]
fn field_4h2_the_whole_change_is_said_and_laid_out_before_approve_works() {
    let mut m = files();
    let mut rig = Rig::new();
    let long: String =
        (0..300).map(|i| if i == 211 { "the odd line\n".into() } else { format!("line {i}\n") }).collect();
    let text = format!("/tool:files.write put \"{long}\" into notes/shopping.md");
    for part in text.split_inclusive('\n') {
        rig.text(part);
    }
    rig.press(Key::Enter);
    rig.serve(&mut m);
    rig.frame();
    let code = rig.node(Role::Code, "The whole change").expect("body");
    let value = &rig.desk.painted().semantics.nodes[&code].value;
    assert!(value.contains("the odd line") && value.contains("line 299"));
}

#[test]
fn field_10h1_a_folder_that_must_be_reconnected_says_so_and_asks_only_on_a_click() {
    for (state, words) in [
        (MountState::NeedsReconnect, "Needs reconnect"),
        (MountState::Denied, "denied"),
        (MountState::Missing, "no longer where it was"),
    ] {
        let mut rig = Rig::new();
        rig.msg(Msg::Mounts(vec![mount("welcome", state)]));
        rig.type_("/app:files");
        rig.press(Key::Enter);
        rig.frame();
        assert!(rig.tree().contains(words), "{words}: {}", rig.tree());
        let asks = |r: &Rig| r.out.iter().any(|e| matches!(e, apps::desktop::Effect::Reconnect(_)));
        assert!(!asks(&rig));
        if rig.node(Role::Button, "Reconnect").is_some() {
            rig.click(Role::Button, "Reconnect");
            assert!(asks(&rig));
        }
    }
}

fn long_conversation(n: u64) -> Rig {
    let id = ConversationId::new("c1").expect("id");
    let at = Instant { wall_ms: 1, mono_ms: 1 };
    let record = ConversationRecord {
        id: id.clone(),
        title: "Long".into(),
        named: true,
        created: at,
        touched: at,
        provider: ProviderConfig::OnDevice,
        mount: None,
        last_turn: n,
        last_item: n,
    };
    let settings = Settings { current: Some(id.clone()), ..Settings::default() };
    let index = Loaded::Index { settings: Some(settings), conversations: vec![record], drafts: vec![], mounts: vec![] };
    let mut rig = Rig::kept(1280.0, 800.0, index);
    let items = (1..=n)
        .map(|i| {
            let kind = if i % 2 == 1 {
                ItemKind::User { text: format!("question {i}"), attachments: vec![], via: Via::Plain }
            } else {
                let text = format!("answer {i} with *words*\n\n- a\n- b {i}\n");
                ItemKind::Assistant { text, state: AnswerState::Complete, model: "on-device".into() }
            };
            Item { id: i, turn: i, at, kind }
        })
        .collect();
    let loaded = Loaded::Conversation { id, items, receipts: vec![], reviews: vec![], operations: vec![] };
    rig.msg(Msg::Echo(ai_echo::Msg::Loaded(loaded)));
    rig
}

#[test]
fn a_transcript_of_500_messages_lays_out_only_what_is_in_view() {
    let mut rig = long_conversation(500);
    let before = rig.engine.shaped();
    rig.frame();
    let first = rig.engine.shaped() - before;
    assert!(rig.tree().contains("answer 500"), "the newest is in view");
    assert!(first < 120, "{first} blocks for one screen");
    rig.frame();
    let still = rig.engine.shaped();
    rig.frame();
    assert_eq!(rig.engine.shaped(), still, "a still screen shapes nothing");
    rig.type_("x");
    assert!(rig.engine.shaped() - still < 8, "a key shapes the draft, not the transcript");
}

#[test]
fn the_transcript_follows_until_it_is_scrolled_up_and_a_pill_goes_back() {
    let mut rig = long_conversation(500);
    rig.frame();
    let at = Point::new(700.0, 400.0);
    for _ in 0..5 {
        let delta = Point::new(0.0, -200.0);
        rig.msg(Msg::Input(Event::Wheel { at, delta }, kernel::authority::Proof::Untrusted));
        rig.frame();
    }
    // It is said as before, and not in view.
    let height = |rig: &Rig| {
        let s = &rig.desk.painted().semantics;
        s.nodes.values().find(|n| n.name.starts_with("answer 500")).map(|n| n.rect.h)
    };
    assert_eq!(height(&rig), Some(0.0));
    rig.click(Role::Button, "Jump to latest");
    assert!(height(&rig).is_some_and(|h| h > 10.0));
}

#[test]
fn text_is_selected_across_messages_and_copied_in_order() {
    let mut rig = long_conversation(4);
    rig.frame();
    let rect = |rig: &Rig, text: &str| {
        let s = &rig.desk.painted().semantics;
        s.nodes.values().find(|n| n.role == Role::Paragraph && n.name == text).map(|n| n.rect).expect("piece")
    };
    let (a, b) = (rect(&rig, "question 1"), rect(&rig, "question 3"));
    rig.pointer(PointerPhase::Down, Point::new(a.x + 1.0, a.y + 10.0), true);
    rig.pointer(PointerPhase::Move, Point::new(b.right() + 40.0, b.y + 10.0), true);
    rig.pointer(PointerPhase::Up, Point::new(b.right() + 40.0, b.y + 10.0), true);
    let copied = rig.desk.selected_text().expect("selection");
    assert_eq!(copied, "question 1\n\nanswer 2 with words\n• a\n• b 2\n\nquestion 3");
}

#[test]
fn the_find_bar_counts_and_brings_matches_into_view() {
    let mut rig = long_conversation(500);
    rig.frame();
    rig.ctrl('f');
    rig.frame();
    rig.type_("question 7");
    assert!(rig.tree().contains("question 7"), "{}", rig.part("Log"));
    rig.press(Key::Enter);
    rig.frame();
    assert!(rig.tree().contains("2 of"), "{}", rig.tree());
    rig.press(Key::Escape);
    rig.frame();
    assert!(rig.node(Role::TextField, "Find").is_none());
}

#[test]
fn field_8h4_a_link_that_could_act_is_text_and_a_good_one_opens_on_a_press() {
    let mut m = files();
    let mut rig = Rig::new();
    rig.type_("hi");
    rig.press(Key::Enter);
    rig.serve(&mut m);
    rig.frame();
    assert!(rig.node(Role::Link, "bad").is_none());
    rig.click(Role::Link, "the office");
    let opened = rig.out.iter().find_map(|e| match e {
        apps::desktop::Effect::OpenLink(h) => Some(h.as_str().to_owned()),
        _ => None,
    });
    assert_eq!(opened.as_deref(), Some("https://example.com/"));
}

#[test]
fn an_idle_screen_asks_for_no_frame() {
    let mut rig = Rig::new();
    rig.now += 10_000;
    rig.frame();
    assert_eq!(rig.view.as_ref().and_then(|v| v.wake_at), None);
}
