//! The mirror follows the semantics tree by small steps, and what scripts press stays unpressed.
#![cfg(target_arch = "wasm32")]

use kernel::authority::{GestureMint, Proof};
use scene::{Node, NodeId, Rect, Role, Semantics};
use shell_lib::dom::trust::Trust;
use shell_lib::mirror::Mirror;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use ui::event::Event;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{Element, HtmlElement};

wasm_bindgen_test_configure!(run_in_browser);

thread_local! {
    static TRUST: (Rc<Trust>, Rc<Cell<u32>>) = {
        let told = Rc::new(Cell::new(0));
        let count = told.clone();
        let mint = GestureMint::take().expect("the first to take it");
        (Rc::new(Trust::new(mint, Rc::new(move |_| count.set(count.get() + 1)))), told)
    };
}

type Heard = Rc<RefCell<Vec<(Event, bool)>>>;

struct Stage {
    root: Element,
    mirror: Mirror,
    heard: Heard,
}

impl Stage {
    fn new() -> Self {
        let document = web_sys::window().expect("window").document().expect("document");
        let root = document.create_element("div").expect("div");
        document.body().expect("body").append_child(&root).expect("append");
        let heard = Heard::default();
        let into = heard.clone();
        let sink: Rc<dyn Fn(Event, Proof)> = Rc::new(move |e, p: Proof| into.borrow_mut().push((e, p.is_trusted())));
        let mirror = Mirror::new(root.clone(), &TRUST.with(|t| t.0.clone()), &sink);
        Self { root, mirror, heard }
    }
    fn find(&self, selector: &str) -> Option<HtmlElement> {
        self.root.query_selector(selector).expect(selector).map(JsCast::unchecked_into)
    }
    fn get(&self, selector: &str) -> HtmlElement {
        self.find(selector).unwrap_or_else(|| panic!("{selector} in {}", self.root.outer_html()))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.root.remove();
    }
}

fn node(id: u64, role: Role, name: &str) -> Node {
    Node { id: NodeId(id), role, name: name.to_owned(), rect: Rect::new(1.0, 2.0, 30.0, 40.0), ..Node::default() }
}

fn tree(nodes: Vec<Node>) -> Semantics {
    Semantics { root: nodes[0].id, nodes: nodes.into_iter().map(|n| (n.id, n)).collect() }
}

fn with(mut n: Node, children: &[u64]) -> Node {
    n.children = children.iter().map(|c| NodeId(*c)).collect();
    n
}

fn palette(rows: &[u64], active: u64) -> Semantics {
    let mut combobox = node(2, Role::Combobox, "Message");
    combobox.state.active_descendant = Some(NodeId(active));
    combobox.state.controls = Some(NodeId(3));
    combobox.state.expanded = Some(true);
    let mut nodes = vec![
        with(node(1, Role::Application, "Shell"), &[2, 3]),
        combobox,
        with(node(3, Role::Listbox, "Commands"), rows),
    ];
    for (at, id) in rows.iter().enumerate() {
        let mut row = node(*id, Role::Option, &format!("row {id}"));
        row.state.selected = Some(*id == active);
        row.state.pos_in_set = Some(u32::try_from(at).expect("few") + 1);
        row.state.set_size = Some(2048);
        nodes.push(row);
    }
    tree(nodes)
}

fn rows(stage: &Stage) -> Vec<String> {
    let all = stage.root.query_selector_all("li").expect("rows");
    (0..all.length()).filter_map(|i| all.get(i)?.unchecked_into::<Element>().get_attribute("aria-label")).collect()
}

#[wasm_bindgen_test]
fn field_7h5_the_palette_is_a_listbox_with_an_active_option() {
    let mut s = Stage::new();
    s.mirror.update(&palette(&[10, 11, 12], 11), None);
    let combobox = s.get("[role=combobox]");
    let active = combobox.get_attribute("aria-activedescendant").expect("active");
    let row = s.get(&format!("#{active}"));
    assert_eq!(row.get_attribute("role").as_deref(), Some("option"));
    assert_eq!(row.get_attribute("aria-label").as_deref(), Some("row 11"));
    assert_eq!(row.get_attribute("aria-selected").as_deref(), Some("true"));
    assert_eq!(row.get_attribute("aria-posinset").as_deref(), Some("2"));
    assert_eq!(row.get_attribute("aria-setsize").as_deref(), Some("2048"));
    assert_eq!(combobox.get_attribute("aria-controls"), Some(s.get("[role=listbox]").id()));
}

#[wasm_bindgen_test]
fn rows_keep_their_elements_while_others_come_go_and_move() {
    let mut s = Stage::new();
    s.mirror.update(&palette(&[10, 11, 12], 10), None);
    let kept = s.get("[aria-label='row 12']");
    s.mirror.update(&palette(&[12, 13, 10], 12), None);
    assert_eq!(rows(&s), ["row 12", "row 13", "row 10"]);
    assert_eq!(s.get("[aria-label='row 12']"), kept);
    assert_eq!(kept.get_attribute("aria-selected").as_deref(), Some("true"));
    s.mirror.update(&palette(&[], 0), None);
    assert_eq!(rows(&s), Vec::<String>::new());
}

#[wasm_bindgen_test]
fn an_element_lies_over_what_it_stands_for() {
    let mut s = Stage::new();
    s.mirror.update(&tree(vec![with(node(1, Role::Application, "Shell"), &[2]), node(2, Role::Dialog, "Files")]), None);
    let style = s.get("[role=dialog]").style();
    let of = |name: &str| style.get_property_value(name).expect("style");
    assert_eq!([of("left"), of("top"), of("width"), of("height")], ["1px", "2px", "30px", "40px"]);
}

#[wasm_bindgen_test]
fn the_transcript_is_a_log_that_does_not_read_itself_out() {
    let mut s = Stage::new();
    let mut log = with(node(2, Role::Log, "Conversation"), &[3, 4]);
    log.state.live = scene::Live::Off;
    let said = |id, text: &str| Node { value: text.to_owned(), ..node(id, Role::Article, "AI Echo") };
    let shell = with(node(1, Role::Application, "Shell"), &[2, 5]);
    let status = |text: &str| Node { value: text.to_owned(), ..node(5, Role::Status, "") };
    let parts = vec![shell.clone(), log.clone(), said(3, "one"), said(4, "two"), status("generating")];
    s.mirror.update(&tree(parts), None);
    assert_eq!(s.get("[role=log]").get_attribute("aria-live").as_deref(), Some("off"));
    let (first, live) = (s.get("article"), s.get("[role=status]"));
    assert_eq!(live.get_attribute("aria-live").as_deref(), Some("polite"));
    s.mirror.update(&tree(vec![shell, log, said(3, "one"), said(4, "two more"), status("response complete")]), None);
    assert_eq!(s.get("article"), first, "what was read stays");
    assert_eq!(s.get("[role=status]"), live, "the same region speaks");
    assert_eq!(live.text_content().as_deref(), Some("response complete"));
    assert!(s.get("[role=log]").text_content().unwrap_or_default().contains("two more"));
}

fn card() -> Semantics {
    let button = |id, name| Node { action: true, ..node(id, Role::Button, name) };
    tree(vec![
        with(node(1, Role::Application, "Shell"), &[2]),
        with(node(2, Role::AlertDialog, "Review: files.write"), &[3, 4]),
        button(3, "Approve"),
        button(4, "Reject"),
    ])
}

#[wasm_bindgen_test]
fn field_4h1_a_script_presses_the_buttons_of_a_card_in_vain() {
    let mut s = Stage::new();
    s.mirror.update(&card(), None);
    let approve = s.get("button[aria-label=Approve]");
    let before = TRUST.with(|t| t.0.untrusted());
    approve.click();
    let click = web_sys::Event::new("click").expect("event");
    approve.dispatch_event(&click).expect("dispatched");
    // The second one does not bubble: it never reaches a listener, and changes nothing either.
    assert!(s.heard.borrow().iter().all(|(e, trusted)| !trusted && !matches!(e, Event::Activate { .. })));
    assert!(TRUST.with(|t| t.0.untrusted()) > before);
    assert!(TRUST.with(|t| t.1.get()) > 0);
}

#[wasm_bindgen_test]
fn the_text_driver_stands_in_for_the_focused_field() {
    let mut s = Stage::new();
    let document = web_sys::window().expect("window").document().expect("document");
    let host: HtmlElement = document.create_element("div").expect("div").unchecked_into();
    host.set_text_content(Some("draft text"));
    let first = palette(&[10], 10);
    s.mirror.update(&first, None);
    s.mirror.update(&first, Some((NodeId(2), host.clone())));
    assert_eq!(s.get("[role=combobox]"), host);
    assert_eq!(s.root.query_selector_all("[role=combobox]").expect("all").length(), 1);
    assert_eq!(host.text_content().as_deref(), Some("draft text"), "its text is the driver's");
    assert_eq!(host.get_attribute("aria-expanded").as_deref(), Some("true"));
    s.mirror.update(&first, None);
    assert_ne!(s.get("[role=combobox]"), host);
    assert!(!s.root.contains(Some(&host)));
}

#[wasm_bindgen_test]
fn a_tree_that_bites_its_tail_ends() {
    let mut s = Stage::new();
    s.mirror.update(
        &tree(vec![with(node(1, Role::Application, "Shell"), &[2]), with(node(2, Role::Group, "a"), &[1])]),
        None,
    );
    assert!(s.root.child_element_count() <= 2);
}
