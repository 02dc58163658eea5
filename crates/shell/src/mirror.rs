//! The accessibility mirror: the semantics tree as real elements over the canvas.
//!
//! Small and always on. Elements are keyed by node, patched by diff, invisible and without
//! pointer events: the canvas takes the pointer, assistive technology and the keyboard take
//! the elements. The host of the text driver stands in for the node of the focused field.

use crate::dom::input::place;
use crate::dom::listen::Listener;
use crate::dom::trust::Trust;
use crate::dom::{document, window};
use kernel::authority::{GestureKind, Proof};
use scene::{Live, Node, NodeId, Patch, Role, Semantics};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use ui::event::Event;
use wasm_bindgen::JsCast;
use web_sys::{Element, FocusOptions, HtmlElement};

/// Elements by node, shared with the listeners: an element is known by itself, never by its `id`,
/// which scripts can change.
type Elements = Rc<RefCell<HashMap<NodeId, HtmlElement>>>;

/// The mirror.
pub struct Mirror {
    root: Element,
    trust: Rc<Trust>,
    elements: Elements,
    shown: Semantics,
    host: Option<(NodeId, HtmlElement)>,
    _listeners: Vec<Listener>,
}

/// Tag, and the ARIA role where the tag does not say it.
fn shape(n: &Node) -> (&'static str, Option<&'static str>) {
    match n.role {
        Role::Group => ("div", Some("group")),
        Role::Application => ("div", Some("application")),
        Role::Navigation => ("nav", None),
        Role::Toolbar => ("div", Some("toolbar")),
        Role::Region => ("section", Some("region")),
        Role::Dialog => ("div", Some("dialog")),
        Role::AlertDialog => ("div", Some("alertdialog")),
        Role::Button => ("button", None),
        Role::Link => ("a", Some("link")),
        Role::Combobox => ("div", Some("combobox")),
        Role::TextField => ("div", Some("textbox")),
        Role::Listbox => ("ul", Some("listbox")),
        Role::Option => ("li", Some("option")),
        Role::List => ("ul", Some("list")),
        Role::ListItem => ("li", Some("listitem")),
        Role::Log => ("div", Some("log")),
        Role::Article => ("article", None),
        Role::Heading => ("div", Some("heading")),
        Role::Paragraph => ("p", None),
        Role::Code => ("pre", Some("code")),
        Role::Quote => ("blockquote", None),
        Role::Table => ("div", Some("table")),
        Role::Row => ("div", Some("row")),
        Role::Cell => ("div", Some("cell")),
        Role::ColumnHeader => ("div", Some("columnheader")),
        Role::Status => ("div", Some("status")),
        Role::ProgressBar => ("div", Some("progressbar")),
        Role::Checkbox => ("div", Some("checkbox")),
        Role::Radio => ("div", Some("radio")),
        Role::Image => ("div", Some("img")),
        Role::Text => ("span", None),
    }
}

fn dom_id(id: NodeId) -> String {
    format!("n{}", id.0)
}

/// The node whose element an event came from, or came through.
fn node_of(e: &web_sys::Event, elements: &Elements) -> Option<(NodeId, HtmlElement)> {
    let mut at = e.target()?.dyn_into::<Element>().ok();
    let elements = elements.borrow();
    while let Some(el) = at {
        if let Some((id, found)) = elements.iter().find(|(_, known)| AsRef::<Element>::as_ref(known) == &el) {
            return Some((*id, found.clone()));
        }
        at = el.parent_element();
    }
    None
}

/// Only the canvas takes the pointer. A mirrored element that does was changed by a script, to
/// catch a click that was meant for something else.
fn takes_pointer(e: &Element) -> bool {
    let style = window().get_computed_style(e).ok().flatten();
    style.is_some_and(|s| s.get_property_value("pointer-events").is_ok_and(|v| v != "none"))
}

impl Mirror {
    /// A mirror inside `root`; acts go to `sink` with their proof.
    #[must_use]
    pub fn new(root: Element, trust: &Rc<Trust>, sink: &Rc<dyn Fn(Event, Proof)>) -> Self {
        let elements = Elements::default();
        let (t, s, known) = (trust.clone(), sink.clone(), elements.clone());
        let click = Listener::capture(&window(), "click", move |e| {
            let Some((node, element)) = node_of(&e, &known) else { return };
            let proof = t.stamp(GestureKind::Click, &e);
            if !proof.is_trusted() {
                return;
            }
            if !t.focus().may_click(&element) {
                return t.focus_moved();
            }
            if takes_pointer(&element) {
                return t.laid_under();
            }
            s(Event::Activate { node, at_ms: e.time_stamp() }, proof);
        });
        let (t, s, known) = (trust.clone(), sink.clone(), elements.clone());
        let focus = Listener::on(&root, "focusin", move |e| {
            if let Some((node, element)) = node_of(&e, &known) {
                t.focus().gained(&element);
                s(Event::FocusNode(node), Proof::Untrusted);
            }
        });
        let (trust, shown) = (trust.clone(), Semantics::default());
        Self { root, trust, elements, shown, host: None, _listeners: vec![click, focus] }
    }

    /// Follows a new tree. `host` is the text driver's element and the node it stands in for.
    pub fn update(&mut self, tree: &Semantics, host: Option<(NodeId, HtmlElement)>) {
        let mut patches = tree.diff(&self.shown);
        if host != self.host {
            // The nodes that lose and gain the host are made anew.
            for (id, _) in self.host.iter().chain(&host) {
                self.take(*id);
                if tree.nodes.contains_key(id) && !patches.contains(&Patch::Put(*id)) {
                    patches.push(Patch::Put(*id));
                }
            }
            self.host = host;
        }
        for p in &patches {
            match p {
                Patch::Put(id) => self.put(tree, *id),
                Patch::Remove(id) => self.take(*id),
            }
        }
        if patches.is_empty() {
            return;
        }
        self.order(tree, tree.root, &self.root.clone(), 0);
        if let Some(e) = self.element(tree.root)
            && e.parent_element().as_ref() != Some(&self.root)
        {
            let _ = self.root.append_child(&e);
        }
        self.shown = tree.clone();
        self.focus(tree);
    }

    /// Puts children below their parents, in reading order, moving only what is out of place.
    fn order(&self, tree: &Semantics, id: NodeId, parent: &Element, depth: usize) {
        let (Some(n), Some(e)) = (tree.nodes.get(&id), self.element(id)) else { return };
        if depth > 64 {
            return;
        }
        if e.parent_element().as_ref() != Some(parent) {
            let _ = parent.append_child(&e);
        }
        let mut before: Option<web_sys::Node> = None;
        for c in n.children.iter().rev() {
            let Some(child) = self.element(*c) else { continue };
            let right = child.parent_element().as_ref() == Some(e.as_ref()) && child.next_sibling() == before;
            if !right {
                let _ = e.insert_before(&child, before.as_ref());
            }
            before = Some(child.clone().into());
        }
        for c in &n.children {
            self.order(tree, *c, &e, depth + 1);
        }
    }

    fn put(&mut self, tree: &Semantics, id: NodeId) {
        let Some(n) = tree.nodes.get(&id) else { return };
        let (tag, role) = shape(n);
        let hosted = self.host.as_ref().filter(|(h, _)| *h == id).map(|(_, e)| e.clone());
        let known = self.element(id).filter(|e| hosted.is_some() || e.tag_name().eq_ignore_ascii_case(tag));
        let e = match (known, &hosted) {
            (Some(e), _) => e,
            (None, Some(h)) => h.clone(),
            (None, None) => {
                let Ok(made) = document().create_element(tag) else { return };
                let made: HtmlElement = made.unchecked_into();
                self.take(id);
                made
            }
        };
        set(&e, "id", Some(&dom_id(id)));
        set(&e, "role", role.filter(|_| hosted.as_ref().is_none_or(|h| h.tag_name() != "INPUT")));
        set(&e, "aria-label", (!n.name.is_empty()).then_some(n.name.as_str()));
        set(&e, "aria-description", (!n.description.is_empty()).then_some(n.description.as_str()));
        states(&e, n);
        if hosted.is_none() {
            // Text stands in a child of its own where there are other children, so that neither
            // wipes the other.
            if n.children.is_empty() && e.text_content().unwrap_or_default() != n.value {
                e.set_text_content((!n.value.is_empty()).then_some(n.value.as_str()));
            }
            if n.action {
                let reachable = if n.state.disabled { -1 } else { 0 };
                if e.tab_index() != reachable {
                    e.set_tab_index(reachable);
                }
                set(&e, "data-action", Some(""));
            } else if n.state.focused && !e.has_attribute("tabindex") {
                // The core moves the focus here; the browser's own Tab order stays as it is.
                e.set_tab_index(-1);
            }
            place(&e, &n.rect);
        }
        self.elements.borrow_mut().insert(id, e);
    }

    /// Moves the browser's focus to the node that the core says has it.
    fn focus(&self, tree: &Semantics) {
        let Some(n) = tree.nodes.values().find(|n| n.state.focused) else { return };
        let Some(e) = self.element(n.id) else { return };
        if document().active_element().as_ref() == Some(e.as_ref()) {
            return self.trust.focus().keep(&e);
        }
        let options = FocusOptions::new();
        options.set_prevent_scroll(true);
        self.trust.focus().give(&e);
        let _ = e.focus_with_options(&options);
    }

    fn element(&self, id: NodeId) -> Option<HtmlElement> {
        self.elements.borrow().get(&id).cloned()
    }

    /// Removes a node's element. A removed element may lose the focus, and that is heard at once.
    fn take(&self, id: NodeId) {
        let gone = self.elements.borrow_mut().remove(&id);
        gone.inspect(|e| e.remove());
    }
}

fn states(e: &HtmlElement, n: &Node) {
    let s = &n.state;
    let flag = |v: bool| v.then_some("true");
    let tri = |v: Option<bool>| v.map(|b| if b { "true" } else { "false" });
    set(e, "aria-disabled", flag(s.disabled));
    set(e, "aria-busy", flag(s.busy));
    set(e, "aria-multiline", flag(s.multiline));
    set(
        e,
        "aria-modal",
        matches!(n.role, Role::Dialog | Role::AlertDialog).then_some(if s.modal { "true" } else { "false" }),
    );
    set(e, "aria-selected", tri(s.selected));
    set(e, "aria-checked", tri(s.checked));
    set(e, "aria-pressed", tri(s.pressed));
    set(e, "aria-expanded", tri(s.expanded));
    set(e, "aria-posinset", s.pos_in_set.map(|v| v.to_string()).as_deref());
    set(e, "aria-setsize", s.set_size.map(|v| v.to_string()).as_deref());
    set(e, "aria-level", s.level.map(|v| v.to_string()).as_deref());
    set(e, "aria-activedescendant", s.active_descendant.map(dom_id).as_deref());
    set(e, "aria-controls", s.controls.map(dom_id).as_deref());
    set(e, "aria-valuenow", s.progress.map(|v| v.to_string()).as_deref());
    let live = match (s.live, n.role) {
        (Live::Off, _) => Some("off"),
        (Live::Polite, _) | (Live::Inherit, Role::Status) => Some("polite"),
        (Live::Assertive, _) => Some("assertive"),
        _ => None,
    };
    set(e, "aria-live", live);
    if n.role == Role::Combobox {
        set(e, "aria-autocomplete", Some("list"));
        set(e, "aria-haspopup", Some("listbox"));
    }
}

fn set(e: &Element, name: &str, value: Option<&str>) {
    if e.get_attribute(name).as_deref() == value {
        return;
    }
    let _ = match value {
        Some(v) => e.set_attribute(name, v),
        None => e.remove_attribute(name),
    };
}
