//! The semantics tree: the same frame, said instead of drawn.
//!
//! Roles are ARIA's names, because the only reader is a DOM mirror (AccessKit has no web
//! adapter). Nodes are keyed by [`NodeId`], so the mirror patches what changed and a node
//! keeps its DOM element, its focus and its listeners from frame to frame.

use crate::Rect;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A node that keeps its identity from frame to frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u64);

impl NodeId {
    /// An id from a stable name and an index (FNV-1a, 53 bits so that it survives a JS number).
    #[must_use]
    pub fn of(name: &str, index: u64) -> Self {
        let mut h = 0xcbf2_9ce4_8422_2325_u64;
        for b in name.bytes().chain(index.to_le_bytes()) {
            h = (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        }
        Self((h >> 11).max(1))
    }
}

/// ARIA roles in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Role {
    #[default]
    Group,
    Application,
    Navigation,
    Toolbar,
    Region,
    Dialog,
    AlertDialog,
    Button,
    Link,
    Combobox,
    TextField,
    Listbox,
    Option,
    List,
    ListItem,
    Log,
    Article,
    Heading,
    Paragraph,
    Code,
    Quote,
    Table,
    Row,
    Cell,
    ColumnHeader,
    Status,
    ProgressBar,
    Checkbox,
    Radio,
    Image,
    Text,
}

/// How a change is announced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Live {
    #[default]
    Inherit,
    Off,
    Polite,
    Assertive,
}

/// ARIA states and properties; `None` means the property does not apply.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct State {
    pub selected: Option<bool>,
    pub checked: Option<bool>,
    pub pressed: Option<bool>,
    pub expanded: Option<bool>,
    pub disabled: bool,
    pub focused: bool,
    pub busy: bool,
    pub multiline: bool,
    pub modal: bool,
    pub pos_in_set: Option<u32>,
    pub set_size: Option<u32>,
    pub level: Option<u8>,
    pub active_descendant: Option<NodeId>,
    pub controls: Option<NodeId>,
    pub live: Live,
    /// 0 to 100, for a progress bar.
    pub progress: Option<u8>,
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Identity.
    pub id: NodeId,
    /// Role.
    pub role: Role,
    /// Accessible name.
    pub name: String,
    /// Accessible description (a hint, a reason).
    pub description: String,
    /// Value or text content.
    pub value: String,
    /// Where it is drawn.
    pub rect: Rect,
    /// States.
    pub state: State,
    /// It can be activated.
    pub action: bool,
    /// Children, in reading order.
    pub children: Vec<NodeId>,
}

/// A whole tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Semantics {
    /// Root node.
    pub root: NodeId,
    /// All nodes.
    pub nodes: BTreeMap<NodeId, Node>,
}

/// What a mirror must do to follow.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch {
    /// A node is new or changed.
    Put(NodeId),
    /// A node is gone.
    Remove(NodeId),
}

impl Semantics {
    /// The patches that lead from `old` to `self`, in key order, removals last.
    #[must_use]
    pub fn diff(&self, old: &Self) -> Vec<Patch> {
        let put = self.nodes.iter().filter(|(id, n)| old.nodes.get(id) != Some(n)).map(|(id, _)| Patch::Put(*id));
        let gone = old.nodes.keys().filter(|id| !self.nodes.contains_key(id)).map(|id| Patch::Remove(*id));
        put.chain(gone).collect()
    }

    /// An outline of roles, names and states, for snapshots and for a person's eye.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(self.root, 0, &mut out);
        out
    }

    fn write(&self, id: NodeId, depth: usize, out: &mut String) {
        let Some(n) = self.nodes.get(&id) else { return };
        // A tree of more levels than this is a cycle; the outline ends instead of the stack.
        const MAX_DEPTH: usize = 64;
        if depth > MAX_DEPTH {
            return;
        }
        let _ = write!(out, "{:indent$}{:?}", "", n.role, indent = depth * 2);
        for (label, text) in [("", &n.name), ("=", &n.value), ("~", &n.description)] {
            if !text.is_empty() {
                let _ = write!(out, " {label}{text:?}");
            }
        }
        let s = &n.state;
        for (name, v) in
            [("selected", s.selected), ("checked", s.checked), ("pressed", s.pressed), ("expanded", s.expanded)]
        {
            if let Some(v) = v {
                let _ = write!(out, " {}{name}", if v { "" } else { "not-" });
            }
        }
        for (name, v) in [("disabled", s.disabled), ("focused", s.focused), ("busy", s.busy), ("modal", s.modal)] {
            if v {
                let _ = write!(out, " {name}");
            }
        }
        if s.multiline {
            out.push_str(" multiline");
        }
        if let Some(l) = s.level {
            let _ = write!(out, " level-{l}");
        }
        if s.live != Live::Inherit {
            let _ = write!(out, " live-{:?}", s.live);
        }
        if let (Some(p), Some(n)) = (s.pos_in_set, s.set_size) {
            let _ = write!(out, " {p}/{n}");
        }
        if let Some(p) = s.progress {
            let _ = write!(out, " {p}%");
        }
        out.push('\n');
        for c in &n.children {
            self.write(*c, depth + 1, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(names: &[&str]) -> Semantics {
        let mut s = Semantics { root: NodeId(1), ..Semantics::default() };
        let children: Vec<_> = (0..names.len() as u64).map(|i| NodeId(10 + i)).collect();
        for (id, name) in children.iter().zip(names) {
            s.nodes.insert(*id, Node { id: *id, role: Role::Button, name: (*name).into(), ..Node::default() });
        }
        s.nodes.insert(NodeId(1), Node { id: NodeId(1), role: Role::Toolbar, children, ..Node::default() });
        s
    }

    #[test]
    fn diff_names_what_changed_and_what_is_gone() {
        let (a, b) = (tree(&["Send", "Stop"]), tree(&["Send"]));
        assert_eq!(a.diff(&a), []);
        assert_eq!(b.diff(&a), [Patch::Put(NodeId(1)), Patch::Remove(NodeId(11))]);
    }

    #[test]
    fn outline_reads_top_down_and_ends_on_a_cycle() {
        assert_eq!(tree(&["Send"]).to_text(), "Toolbar\n  Button \"Send\"\n");
        let mut s = tree(&["Send"]);
        s.nodes.get_mut(&NodeId(10)).expect("node").children.push(NodeId(1));
        assert!(s.to_text().lines().count() < 100);
    }
}
