//! What fresh eyes stumbled over, each stated as it should be.

mod common;

use ai_echo::conversation::Loaded;
use apps::desktop::{Effect, Msg};
use apps::status::{LocalModel, MountState};
use common::Rig;
use kernel::mount::MemMount;
use scene::{LayerId, NodeId, Point, Rect, Role};
use ui::event::{Key, PointerPhase};

fn status(rig: &Rig) -> String {
    let s = &rig.desk.painted().semantics;
    s.nodes.values().find(|n| n.role == Role::Status).map(|n| n.name.clone()).expect("status")
}

fn rect_of(rig: &Rig, role: Role, name: &str) -> Rect {
    let id = rig.node(role, name).unwrap_or_else(|| panic!("no {name}:\n{}", rig.tree()));
    rig.desk.painted().semantics.nodes[&id].rect
}

fn focused(rig: &Rig) -> NodeId {
    let s = &rig.desk.painted().semantics;
    s.nodes.values().find(|n| n.state.focused).map(|n| n.id).expect("focus")
}

fn run(rig: &mut Rig, row: &str) {
    rig.ctrl('k');
    rig.frame();
    rig.type_(row);
    rig.press(Key::Enter);
    rig.frame();
}

#[test]
fn the_name_of_an_icon_is_shown_when_the_pointer_rests_on_it() {
    let mut rig = Rig::new();
    let tip = |rig: &mut Rig| {
        let v = rig.frame();
        v.display.layers.iter().any(|l| l.id == LayerId(NodeId::of("tip", 0).0))
    };
    let r = rect_of(&rig, Role::Button, "Left half");
    rig.pointer(PointerPhase::Move, Point::new(r.x + 10.0, r.y + 10.0), true);
    assert!(!tip(&mut rig));
    let wake = rig.view.as_ref().and_then(|v| v.wake_at).expect("a frame when it is due");
    rig.now = wake;
    assert!(tip(&mut rig));
    assert_eq!(rig.view.as_ref().and_then(|v| v.wake_at), None, "a tip that stands asks for no frame");
    rig.pointer(PointerPhase::Down, Point::new(r.x + 10.0, r.y + 10.0), true);
    rig.pointer(PointerPhase::Up, Point::new(r.x + 10.0, r.y + 10.0), true);
    assert!(!tip(&mut rig), "a press takes it away");
    assert!(rig.node(Role::Button, "Back to its size").is_some(), "the button says what it would do now");
}

#[test]
fn a_new_conversation_has_one_button_wherever_the_list_stands() {
    let mut rig = Rig::new();
    let top = NodeId::of("new-top", 0);
    let shown = |rig: &Rig| rig.desk.painted().semantics.nodes.contains_key(&top);
    assert!(!shown(&rig), "the open list has its own");
    rig.click(Role::Button, "List of conversations");
    assert!(shown(&rig));
}

#[test]
fn no_match_is_heard() {
    let mut rig = Rig::new();
    rig.type_("hello");
    rig.press(Key::Enter);
    rig.frame();
    rig.ctrl('f');
    rig.frame();
    rig.type_("zebra");
    assert_eq!(status(&rig), "no match");
    for _ in 0..5 {
        rig.press(Key::Backspace);
    }
    rig.frame();
    rig.type_("hell");
    assert_eq!(status(&rig), "1 of 1");
}

#[test]
fn typing_anywhere_lets_go_of_the_selection_in_the_transcript() {
    let mut m = MemMount::with(&[("a.md", "x\n")]);
    let mut rig = Rig::new();
    rig.type_("hello");
    rig.press(Key::Enter);
    rig.serve(&mut m);
    rig.frame();
    rig.click(Role::Button, "Find in this conversation");
    rig.press(Key::Escape);
    rig.press(Key::Tab);
    rig.ctrl('a');
    assert!(rig.desk.selected_text().is_some_and(|t| t.contains("hello")));
    rig.click(Role::Combobox, "Message");
    rig.type_("x");
    assert_eq!(rig.desk.selected_text(), None);
}

#[test]
fn a_test_that_fails_says_that_the_settings_are_saved() {
    let mut rig = Rig::new();
    run(&mut rig, "go:settings:provider");
    rig.msg(Msg::Keys(vec!["http://127.0.0.1:9".into()]));
    rig.msg(Msg::ProviderTested(Err("The model's server could not be reached.".into())));
    rig.frame();
    assert!(rig.tree().contains("could not be reached. The settings are saved all the same."), "{}", rig.tree());
    // However long that is, the stored key stands above it.
    let (key, said) =
        (rect_of(&rig, Role::Button, "Forget key"), rect_of(&rig, Role::Text, "The model's server could not"));
    assert!(key.y < said.y, "{key:?} {said:?}");
}

#[test]
fn a_model_that_is_on_its_way_is_told_in_one_set_of_words() {
    let all = LocalModel::Downloading { done: 98_362_432, total: 98_362_432 };
    assert_eq!(all.words(), "Checking the model", "nothing is fetched any more");
    let mut rig = Rig::new();
    rig.msg(Msg::LocalModel(LocalModel::Loading));
    rig.msg(Msg::LocalModel(LocalModel::Downloading { done: 1_000_000, total: 98_362_432 }));
    rig.frame();
    let tree = rig.tree();
    assert!(!tree.contains("Loading the model") && !tree.contains("not ready)"), "{tree}");
    assert_eq!(tree.matches("Fetching model: 1 of 99 MB").count(), 2, "the bar and the line say the same: {tree}");
}

#[test]
fn every_example_of_the_first_screen_is_reached_on_a_small_screen() {
    for (w, h) in [(320.0, 480.0), (390.0, 844.0)] {
        let mut rig = Rig::sized(w, h);
        let tries: Vec<NodeId> = (0..4).map(|i| NodeId::of("try", i)).collect();
        let mut reached = 0;
        for _ in 0..40 {
            rig.press(Key::Tab);
            rig.frame();
            let id = focused(&rig);
            rig.frame();
            if tries.contains(&id) {
                reached += 1;
                let p = rig.desk.painted();
                let hit = p.hits.iter().find(|h| h.id == id).expect("a region");
                assert!(hit.rect.h >= 58.0, "{w}: {:?} is hidden", hit.rect);
            }
            if reached == 4 {
                break;
            }
        }
        assert_eq!(reached, 4, "{w}");
    }
}

#[test]
fn the_pages_of_settings_fold_into_one_line_on_a_small_screen() {
    let mut rig = Rig::sized(320.0, 480.0);
    run(&mut rig, "go:settings:storage");
    let nav = rect_of(&rig, Role::Navigation, "Pages of Settings");
    assert!(nav.h < 480.0 / 6.0, "{nav:?}");
    assert!(rig.node(Role::Button, "Appearance").is_none());
    rig.click(Role::Button, "Pages of Settings");
    rig.click(Role::Button, "Appearance");
    assert!(rig.node(Role::Radio, "Dark").is_some(), "{}", rig.tree());
    assert!(rig.node(Role::Button, "Storage").is_none(), "the choice folds the list again");
}

#[test]
fn a_receipt_says_made_for_a_new_file_and_fits_a_narrow_screen() {
    for w in [320.0, 390.0, 1280.0] {
        let mut m = MemMount::with(&[("a.md", "x\n")]);
        let mut rig = Rig::sized(w, 844.0);
        for part in ["/tool:files.write put \"buy milk\" into ", "notes/shopping.md"] {
            rig.text(part);
        }
        rig.press(Key::Enter);
        rig.serve(&mut m);
        rig.frame();
        rig.now += 600;
        rig.frame();
        rig.click(Role::Button, "Approve");
        rig.serve(&mut m);
        rig.frame();
        let r = rect_of(&rig, Role::Text, "Receipt: notes/shopping.md was made as you approved it");
        let undo = rect_of(&rig, Role::Button, "Undo");
        assert!(r.right() <= undo.x && r.h <= 60.0, "{w}: {r:?} {undo:?}");
    }
}

#[test]
fn a_key_in_a_very_long_draft_shapes_a_few_lines_of_it() {
    for line_end in ["", "\n"] {
        let mut rig = Rig::new();
        let text: String =
            (0..4000).map(|i| format!("words of a long text, part {} {line_end}", i * 7919 % 997)).collect();
        let p = rig.proof(kernel::authority::GestureKind::Paste);
        rig.msg(Msg::Input(ui::event::Event::Paste(text.clone()), p));
        rig.frame();
        let before = rig.engine.lines_shaped();
        rig.type_("abc");
        let lines = rig.engine.lines_shaped() - before;
        assert!((3..=12).contains(&lines), "three keys shaped {lines} lines");
        assert!(rig.draft().ends_with("abc"));
        // The caret is where the text ends, and the field scrolled to it.
        let field = rig.view.as_ref().and_then(|v| v.text_field.clone()).expect("field");
        assert!(field.caret.bottom() <= field.bounds.bottom() + 1.0, "{field:?}");
    }
}

#[test]
fn one_waiting_message_is_taken_back_and_the_others_stay() {
    let mut rig = Rig::new();
    for words in ["one", "two", "three"] {
        rig.type_(words);
        rig.press(Key::Enter);
        rig.frame();
    }
    assert_eq!(rig.desk.agent().turns().queue().len(), 2);
    rig.click(Role::Button, "Take back");
    assert_eq!(rig.desk.agent().turns().queue().len(), 1, "one of the waiting ones went");
    assert_eq!(rig.desk.agent().turns().active().map(|a| a.turn.turn), Some(1), "what runs goes on");
    assert!(rig.tree().contains("Stopped."), "{}", rig.tree());
    assert!(!rig.out.iter().any(|e| matches!(e, Effect::Echo(ai_echo::Effect::CancelRun(_)))));
}

#[test]
fn messages_out_of_view_are_still_in_the_tree() {
    let mut m = MemMount::with(&[("a.md", "x\n")]);
    let mut rig = Rig::kept(
        1280.0,
        800.0,
        Loaded::Index { settings: None, conversations: vec![], drafts: vec![], mounts: vec![] },
    );
    for i in 0..6 {
        rig.type_(&format!("question {i}"));
        rig.press(Key::Enter);
        rig.serve(&mut m);
        rig.frame();
    }
    rig.card(&mut m);
    let tree = rig.part("Log");
    for i in 0..6 {
        assert!(tree.contains(&format!("question {i}")), "{i}: {tree}");
    }
    assert!(tree.contains("Article \"You\" 1/"), "{tree}");
}

#[test]
fn a_small_card_opens_at_the_change() {
    let mut m = MemMount::with(&[("notes/shopping.md", "bread\n")]);
    let mut rig = Rig::sized(320.0, 480.0);
    rig.text("/tool:files.write put \"buy milk\" into notes/shopping.md");
    rig.press(Key::Enter);
    rig.serve(&mut m);
    rig.frame();
    rig.frame();
    let (body, touch) = (rect_of(&rig, Role::Code, "The whole change"), rect_of(&rig, Role::Text, "The tool"));
    assert!(touch.bottom() <= body.y + 16.0, "the words stand above what is in view: {touch:?} {body:?}");
    assert!(body.h >= 28.0);
}

#[test]
fn a_card_shows_the_arguments_below_the_change() {
    let mut m = MemMount::with(&[("notes/shopping.md", "bread\n")]);
    let mut rig = Rig::new();
    rig.card(&mut m);
    let body = rect_of(&rig, Role::Code, "The whole change");
    let scroll = rig.desk.painted().scrolls.iter().find(|s| s.rect.intersect(&body).h > body.h - 4.0).copied();
    // Two lines of the change, the heading and the arguments: more than the change alone.
    let rows = scroll.map(|s| s.max + s.rect.h).expect("the card scrolls");
    assert!(rows > 5.0 * ui::theme::MONO.line_height, "{rows}");
}

#[test]
fn an_answer_can_be_stopped_while_the_next_message_is_written() {
    for width in [1280.0, 390.0] {
        let mut rig = Rig::sized(width, 800.0);
        rig.type_("hello");
        rig.press(Key::Enter);
        rig.type_("and then");
        rig.frame();
        let (stop, send) = (rect_of(&rig, Role::Button, "Stop"), rect_of(&rig, Role::Button, "Send"));
        assert!(stop.right() <= send.x, "{width}: {stop:?} {send:?}");
        rig.click(Role::Button, "Stop");
        rig.frame();
        assert!(rig.node(Role::Button, "Stop").is_none(), "{width}");
        assert_eq!(rig.draft(), "and then");
    }
}

#[test]
fn what_a_card_puts_in_is_whole_in_view_when_it_opens() {
    let twelve: String = (1..=12).map(|n| format!("line {n} of the old list\n")).collect();
    // All of a short file; a line in the middle of a long one.
    let long: String = (1..=80).map(|n| format!("kept {n}\n")).collect();
    let edit = "/tool:files.edit replace \"kept 40\" with \"milk\" in notes/shopping.md";
    for (file, ask, title) in [
        (&twelve, "/tool:files.write put \"buy milk\" into notes/shopping.md", "Review: Replace all of"),
        (&long, edit, "Review: Change"),
    ] {
        for (w, h) in [(1280.0, 800.0), (1280.0, 560.0), (390.0, 700.0), (320.0, 480.0)] {
            let mut m = MemMount::with(&[("notes/shopping.md", file)]);
            let mut rig = Rig::sized(w, h);
            rig.text(ask);
            rig.press(Key::Enter);
            rig.serve(&mut m);
            for _ in 0..3 {
                rig.frame();
            }
            assert!(rig.node(Role::AlertDialog, title).is_some(), "{}", rig.tree());
            let body = rect_of(&rig, Role::Code, "The whole change");
            let green = ui::Theme::of(&common::env(w, h), None).added;
            let view = rig.frame();
            let added = view.display.layers.iter().flat_map(|l| &l.items).find_map(|i| match i {
                scene::Item::Quad(q) if q.fill == green => Some(q.rect),
                _ => None,
            });
            let added = added.expect("the new line is painted");
            let seen = added.y >= body.y && added.bottom() <= body.bottom() - 28.0;
            assert!(seen || body.h < 56.0, "{w}×{h} {title}: {added:?} in {body:?}");
        }
    }
}

#[test]
fn on_a_small_screen_a_window_can_be_closed() {
    let mut rig = Rig::sized(390.0, 844.0);
    rig.type_("/app:settings");
    rig.press(Key::Enter);
    rig.frame();
    assert!(rig.node(Role::Dialog, "Settings").is_some());
    rig.click(Role::Button, "Close Settings");
    rig.type_("/app:files");
    rig.press(Key::Enter);
    rig.frame();
    assert!(rig.node(Role::Button, "welcome").is_some(), "the folder itself is there: {}", rig.tree());
    rig.click(Role::Button, "Close Files");
    assert!(rig.node(Role::Dialog, "Settings").is_none(), "{}", rig.tree());
    assert!(!rig.tree().contains("Settings is open"), "what was said of it is gone as well: {}", rig.tree());
}

#[test]
fn a_double_press_on_a_title_fills_the_desk_and_frees_again() {
    let mut rig = Rig::new();
    rig.type_("/app:files");
    rig.press(Key::Enter);
    rig.frame();
    let free = rect_of(&rig, Role::Dialog, "Files");
    let title = Point::new(free.x + 80.0, free.y + 20.0);
    rig.double_click_at(title);
    let full = rect_of(&rig, Role::Dialog, "Files");
    assert!(full.w > free.w && full.x == 0.0, "{full:?}");
    rig.double_click_at(Point::new(80.0, full.y + 20.0));
    assert_eq!(rect_of(&rig, Role::Dialog, "Files"), free);
}

#[test]
fn things_to_try_fit_the_folder_of_the_conversation() {
    let mut rig = Rig::new();
    assert!(rig.tree().contains("notes/todo.md"));
    let mut own = common::mount("own", MountState::Ready);
    own.sample = false;
    let id = own.id().clone();
    rig.msg(Msg::Mounts(vec![common::mount("welcome", MountState::Ready), own]));
    let current = rig.desk.agent().current().map(|c| c.id.clone()).expect("current");
    rig.msg(Msg::Echo(ai_echo::Msg::UseMount(current, Some(id))));
    rig.frame();
    assert!(!rig.tree().contains("notes/todo.md"), "{}", rig.tree());
    rig.click(Role::Button, "See what is in the folder");
    assert_eq!(rig.draft(), "/tool:files.list what is there?");
}

#[test]
fn the_bar_says_who_answers_in_the_conversation_in_front() {
    let mut rig = Rig::new();
    assert!(rig.node(Role::Button, "Model: ").is_some());
    let base_url = models::BaseUrl::parse("http://127.0.0.1:9/v1").expect("address");
    let provider = models::ProviderConfig::OpenAiCompatible { base_url, model: "big".into(), key_ref: None };
    let id = rig.desk.agent().current().map(|c| c.id.clone()).expect("current");
    rig.msg(Msg::Echo(ai_echo::Msg::ChooseModel(id, provider)));
    rig.frame();
    assert!(rig.node(Role::Button, "Model: big at http://127.0.0.1:9").is_some(), "{}", rig.tree());
}
