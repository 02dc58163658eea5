//! Where the keyboard is: in the window in front, never in nothing and never behind a window.

mod common;

use apps::desktop::Msg;
use common::Rig;
use kernel::authority::Proof;
use kernel::mount::MemMount;
use scene::{NodeId, Role};
use text::{BlockSpec, Wrap};
use ui::event::{Event, Key, Mods};

/// Role and name of what has the keyboard.
fn focused(rig: &mut Rig) -> String {
    rig.frame();
    let s = &rig.desk.painted().semantics;
    let all: Vec<String> =
        s.nodes.values().filter(|n| n.state.focused).map(|n| format!("{:?} {}", n.role, n.name)).collect();
    assert_eq!(all.len(), 1, "one node has the keyboard: {all:?}\n{}", rig.tree());
    all.concat()
}

/// The window in front, by what is pressed in the bar.
fn front(rig: &Rig) -> String {
    let s = &rig.desk.painted().semantics;
    let bar = s.nodes.values().find(|n| n.role == Role::Toolbar).expect("bar");
    let on = bar.children.iter().filter_map(|c| s.nodes.get(c)).find(|n| n.state.pressed == Some(true));
    on.map_or_else(String::new, |n| n.name.clone())
}

fn run(rig: &mut Rig, row: &str) {
    rig.ctrl('k');
    rig.frame();
    rig.type_(row);
    rig.press(Key::Enter);
    rig.frame();
}

fn inside(rig: &Rig, window: &str, id: NodeId) -> bool {
    let s = &rig.desk.painted().semantics;
    let w = s.nodes.values().find(|n| n.role == Role::Dialog && n.name == window).expect("window");
    let mut todo = vec![w.id];
    while let Some(at) = todo.pop() {
        if at == id {
            return true;
        }
        todo.extend(s.nodes[&at].children.iter().copied());
    }
    false
}

#[test]
fn a_window_that_opens_takes_the_keyboard_and_the_one_beneath_gets_it_back() {
    let mut rig = Rig::new();
    assert_eq!(focused(&mut rig), "Combobox Message to AI Echo");
    run(&mut rig, "app:settings");
    assert_eq!(focused(&mut rig), "Button Appearance");
    run(&mut rig, "app:files");
    assert_eq!(focused(&mut rig), "Button welcome");
    run(&mut rig, "cmd:close-window");
    assert_eq!((front(&rig).as_str(), focused(&mut rig).as_str()), ("Settings", "Button Appearance"));
    run(&mut rig, "cmd:close-window");
    assert_eq!(focused(&mut rig), "Combobox Message to AI Echo");
    rig.type_("typed on");
    assert_eq!(rig.draft(), "typed on");
    run(&mut rig, "cmd:close-window");
    assert_eq!(focused(&mut rig), "Button Open AI Echo", "without a window, the desk's first control");
    rig.press(Key::Enter);
    assert_eq!(focused(&mut rig), "Combobox Message to AI Echo");
}

#[test]
fn a_window_that_comes_back_to_the_front_has_the_keyboard_where_it_was() {
    let mut rig = Rig::new();
    run(&mut rig, "go:settings:provider");
    assert_eq!(focused(&mut rig), "Button Remote model");
    let url = rig.node(Role::TextField, "Address").expect("field");
    for _ in 0..12 {
        rig.press(Key::Tab);
        rig.frame();
        if rig.desk.painted().semantics.nodes[&url].state.focused {
            break;
        }
    }
    assert_eq!(focused(&mut rig), "TextField Address of the server");
    rig.press(Key::F(6));
    assert_eq!(focused(&mut rig), "Combobox Message to AI Echo");
    rig.press(Key::F(6));
    assert_eq!(focused(&mut rig), "TextField Address of the server");
}

#[test]
fn a_page_of_settings_that_is_opened_keeps_the_keyboard() {
    let mut rig = Rig::new();
    run(&mut rig, "app:settings");
    for page in ["On-device model", "Remote model", "Input method"] {
        rig.press(Key::Tab);
        rig.frame();
        rig.press(Key::Enter);
        assert_eq!(focused(&mut rig), format!("Button {page}"));
    }
    assert!(rig.tree().contains("How text reaches this page"), "{}", rig.tree());
}

#[test]
fn folders_and_files_that_open_take_the_keyboard_when_they_are_there() {
    let mut m = MemMount::with(&[("notes/todo.md", "# Todo\n"), ("notes/z.md", "z\n"), ("readme.md", "hi\n")]);
    let mut rig = Rig::new();
    run(&mut rig, "app:files");
    rig.serve(&mut m);
    let folder = |rig: &mut Rig, name: &str| {
        rig.frame();
        let id = rig.node(Role::Button, name).expect("entry");
        for _ in 0..20 {
            if rig.desk.painted().semantics.nodes[&id].state.focused {
                return;
            }
            rig.press(Key::Tab);
            rig.frame();
        }
        panic!("{name} is not reached:\n{}", rig.tree());
    };
    folder(&mut rig, "notes");
    rig.press(Key::Enter);
    focused(&mut rig);
    rig.serve(&mut m);
    assert_eq!(focused(&mut rig), "Button todo.md", "the first row of the folder, once it was read");
    rig.press(Key::Tab);
    rig.frame();
    rig.press(Key::Enter);
    rig.serve(&mut m);
    assert_eq!(focused(&mut rig), "Code notes/z.md");
    let close = rig.node(Role::Button, "Close the file").expect("close");
    let p = rig.proof(kernel::authority::GestureKind::Click);
    rig.msg(Msg::Input(Event::Activate { node: close, at_ms: 0.0 }, p));
    assert_eq!(focused(&mut rig), "Button z.md", "back at its row");
}

#[test]
fn tab_goes_round_the_window_in_front_and_the_bar_and_never_behind_it() {
    let mut rig = Rig::new();
    run(&mut rig, "app:settings");
    focused(&mut rig);
    let all = rig.desk.painted().order.clone();
    let mut bar = 0;
    for _ in 0..all.len() {
        rig.press(Key::Tab);
        rig.frame();
        let s = &rig.desk.painted().semantics;
        let id = s.nodes.values().find(|n| n.state.focused).map(|n| n.id).expect("focus");
        assert!(!inside(&rig, "AI Echo", id), "{:?}", s.nodes[&id]);
        bar += usize::from(!inside(&rig, "Settings", id));
        assert_eq!(front(&rig), "Settings");
    }
    assert!(bar > 3, "the bar is reached too");
    rig.key_mods(Key::Tab, Mods { shift: true, ..Mods::default() });
    focused(&mut rig);
}

#[test]
fn the_keyboard_put_into_a_covered_window_raises_it() {
    let mut rig = Rig::new();
    run(&mut rig, "app:settings");
    let find = rig.node(Role::Button, "Find in this conversation").expect("covered control");
    // As assistive technology moves the focus: the mirror tells.
    rig.msg(Msg::Input(Event::FocusNode(find), Proof::Untrusted));
    assert_eq!(focused(&mut rig), "Button Find in this conversation");
    assert_eq!(front(&rig), "AI Echo");
}

#[test]
fn a_window_opened_from_the_bar_takes_the_keyboard_from_the_one_it_covers() {
    let mut rig = Rig::new();
    run(&mut rig, "app:settings");
    rig.click(Role::Button, "Files");
    assert_eq!(focused(&mut rig), "Button welcome");
    rig.click(Role::Button, "AI Echo");
    assert_eq!(focused(&mut rig), "Combobox Message to AI Echo");
}

#[test]
fn one_stop_for_a_group_of_choices_and_arrows_choose() {
    let mut rig = Rig::new();
    run(&mut rig, "go:settings:appearance");
    let radios: Vec<NodeId> = {
        let s = &rig.desk.painted().semantics;
        s.nodes.values().filter(|n| n.role == Role::Radio).map(|n| n.id).collect()
    };
    assert_eq!(radios.len(), 3);
    assert_eq!(rig.desk.painted().order.iter().filter(|o| radios.contains(o)).count(), 1);
    for _ in 0..12 {
        rig.press(Key::Tab);
        if focused(&mut rig).starts_with("Radio") {
            break;
        }
    }
    assert_eq!(focused(&mut rig), "Radio System");
    rig.press(Key::Down);
    assert_eq!(focused(&mut rig), "Radio Light");
    rig.press(Key::Right);
    assert_eq!(focused(&mut rig), "Radio Dark");
    assert!(rig.tree().contains("Theme: Dark"), "{}", rig.tree());
    rig.press(Key::Down);
    assert_eq!(focused(&mut rig), "Radio System", "it goes round");
    rig.press(Key::Up);
    rig.press(Key::Space);
    assert_eq!(focused(&mut rig), "Radio Dark");
    let dark = rig.desk.painted().semantics.nodes.values().find(|n| n.name == "Dark").map(|n| n.state.checked);
    assert_eq!(dark, Some(Some(true)));
}

#[test]
fn a_menu_and_the_launcher_take_the_keyboard_and_escape_gives_it_back() {
    let mut rig = Rig::new();
    let nodes = &rig.desk.painted().semantics.nodes;
    let chip = nodes.values().find(|n| n.name == "Model: On-device").map(|n| n.id).expect("chip");
    let p = rig.proof(kernel::authority::GestureKind::Click);
    rig.msg(Msg::Input(Event::Activate { node: chip, at_ms: 0.0 }, p));
    assert_eq!(focused(&mut rig), "Button On-device model");
    rig.press(Key::Escape);
    assert_eq!(focused(&mut rig), "Button Model: On-device");
    let launcher = rig.node(Role::Button, "Launcher").expect("launcher");
    let p = rig.proof(kernel::authority::GestureKind::Click);
    rig.msg(Msg::Input(Event::Activate { node: launcher, at_ms: 0.0 }, p));
    assert_eq!(focused(&mut rig), "Button Open AI Echo");
    rig.press(Key::Escape);
    assert_eq!(focused(&mut rig), "Button Launcher");
}

#[test]
fn tab_scrolls_what_it_reaches_into_view() {
    let mut rig = Rig::sized(760.0, 420.0);
    run(&mut rig, "go:settings:provider");
    for _ in 0..20 {
        rig.press(Key::Tab);
        let name = focused(&mut rig);
        let p = rig.desk.painted();
        let n = p.semantics.nodes.values().find(|n| n.state.focused).expect("focus");
        let seen = p.hits.iter().any(|h| h.id == n.id && h.rect.h > 8.0);
        assert!(seen, "{name} is out of view: {:?}", n.rect);
    }
}

#[test]
fn the_buttons_of_the_empty_desk_have_room_for_their_words_at_every_width() {
    for w in [320.0, 390.0, 800.0, 1280.0] {
        let mut rig = Rig::sized(w, 700.0);
        run(&mut rig, "cmd:close-window");
        let style = ui::theme::SMALL.weight(600);
        for app in ["AI Echo", "Files", "Settings"] {
            let name = format!("Open {app}");
            let id = rig.node(Role::Button, &name).expect("button");
            let rect = rig.desk.painted().semantics.nodes[&id].rect;
            let spec = BlockSpec { text: &name, style, spans: &[], width: None, wrap: Wrap::None };
            let block = rig.engine.block(&spec);
            let need = rig.engine.size(block).w;
            // The icon takes 28 of the button, 6 stay free at its end.
            assert!(rect.w - 34.0 >= need, "{name} at {w}: {} for {need}", rect.w - 34.0);
            assert!(rect.right() <= w, "{name} at {w} leaves the screen: {rect:?}");
        }
    }
}

#[test]
fn a_window_closed_by_its_own_button_opens_again_with_the_keyboard_in_its_content() {
    let mut rig = Rig::new();
    for (row, button) in
        [("app:settings", "Close Settings"), ("app:files", "Close Files"), ("app:settings", "Right half")]
    {
        run(&mut rig, row);
        let begin = focused(&mut rig);
        rig.click(Role::Button, button);
        run(&mut rig, row);
        assert_eq!(focused(&mut rig), begin, "{button}");
    }
}

#[test]
fn arrow_keys_go_from_row_to_row_of_a_long_folder() {
    let names: Vec<String> = (0..200).map(|n| format!("f{n:03}.md")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "x\n")).collect();
    let mut m = MemMount::with(&files);
    let mut rig = Rig::new();
    run(&mut rig, "app:files");
    rig.serve(&mut m);
    rig.frame();
    let first = rig.node(Role::Button, "f000.md").expect("row");
    rig.msg(Msg::Input(Event::FocusNode(first), Proof::Untrusted));
    for (key, to) in [
        (Key::Down, "f001.md"),
        (Key::Down, "f002.md"),
        (Key::Up, "f001.md"),
        (Key::PageDown, "f011.md"),
        (Key::End, "f199.md"),
        (Key::Down, "f199.md"),
        (Key::PageUp, "f189.md"),
        (Key::Home, "f000.md"),
    ] {
        rig.press(key.clone());
        assert_eq!(focused(&mut rig), format!("Button {to}"), "{key:?}");
    }
}
