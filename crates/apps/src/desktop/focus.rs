//! The keyboard: where it is, where it goes when a window opens, closes or comes to the top, and
//! the order of Tab. It belongs to the window on top; what takes it in a covered window raises
//! that window, so that the focus is never behind something else.

use super::{Action, Desktop};
use crate::catalogue::AppKey;
use crate::echo::{composer_id, transcript_id};
use scene::{NodeId, Role};

/// Where the keyboard goes as soon as that is on screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wish {
    /// This node, where it is there and can take it.
    node: Option<NodeId>,
    /// Else the first control of this region.
    region: NodeId,
    /// The node is still being fetched: it is waited for.
    patient: bool,
}

/// A window's node, and the region of everything in it.
pub(crate) fn window_id(k: AppKey) -> NodeId {
    NodeId::of("window", k as u64)
}
/// The region of a window's content, without the buttons of its title.
pub(crate) fn body_id(k: AppKey) -> NodeId {
    NodeId::of("window-body", k as u64)
}
/// The region of the empty desk.
pub(crate) fn desk_id() -> NodeId {
    NodeId::of("desk", 0)
}

impl Desktop {
    /// The window that a node is in.
    fn window_of(&self, id: NodeId) -> Option<AppKey> {
        let held = |k: &AppKey| id == window_id(*k) || self.painted.region(window_id(*k)).contains(&id);
        let echo = (id == composer_id()).then_some(AppKey::Echo);
        echo.or_else(|| crate::catalogue::APPS.iter().map(|d| d.key).find(held))
    }

    /// A press gives the keyboard to this node: it is in the Tab order, or one of a group that
    /// has one stop there.
    pub(crate) fn takes_focus(&self, id: NodeId) -> bool {
        let radio = self.painted.semantics.nodes.get(&id).is_some_and(|n| n.role == Role::Radio);
        radio || self.painted.order.contains(&id)
    }

    /// Closes a window; opened again, it begins anew.
    pub(crate) fn close_window(&mut self, k: AppKey) {
        self.windows.close(k);
        self.last.remove(&k);
        self.focus_top();
    }

    /// Moves the keyboard. A covered window that gets it comes to the top.
    pub(crate) fn set_focus(&mut self, to: Option<NodeId>) {
        self.wish = None;
        if self.focus == to {
            return;
        }
        if let Some(field) = self.focused_field() {
            field.buffer.set_composing(None);
        }
        self.focus = to;
        if let Some(id) = to
            && let Some(k) = self.window_of(id)
        {
            // Only content is come back to: a button of the title would close what just opened.
            if id == composer_id() || self.painted.region(body_id(k)).contains(&id) {
                self.last.insert(k, id);
            }
            if self.windows.top() != Some(k) {
                self.windows.focus(k);
            }
        }
    }

    /// The keyboard goes into the window on top: to where it was there, else to where one would
    /// type, else to its first control. Without a window it goes to the desk's.
    pub(crate) fn focus_top(&mut self) {
        let Some(k) = self.windows.top() else {
            self.set_focus(Some(NodeId::of("launcher-button", 0)));
            self.wish = Some(Wish { node: None, region: desk_id(), patient: false });
            return;
        };
        let node = self.last.get(&k).copied();
        let there = node.filter(|n| self.painted.region(window_id(k)).contains(n));
        let at_once = there.or_else(|| (k == AppKey::Echo).then(composer_id));
        self.set_focus(Some(at_once.unwrap_or_else(|| window_id(k))));
        self.wish = Some(Wish { node: node.or(at_once), region: body_id(k), patient: false });
    }

    /// The keyboard goes to the first control of a region that opens.
    pub(crate) fn focus_in(&mut self, region: NodeId) {
        self.wish = Some(Wish { node: None, region, patient: false });
    }
    /// The keyboard goes to a node of the window on top once it is painted.
    pub(crate) fn focus_soon(&mut self, k: AppKey, node: NodeId) {
        self.wish = Some(Wish { node: Some(node), region: body_id(k), patient: false });
    }
    /// As [`Desktop::focus_soon`], for what is still being fetched.
    pub(crate) fn focus_when_there(&mut self, k: AppKey, node: NodeId) {
        self.set_focus(Some(window_id(k)));
        self.wish = Some(Wish { node: Some(node), region: body_id(k), patient: true });
    }

    /// After a paint: grants the wish, and takes the keyboard from what left the screen. True
    /// when it moved, so that the frame must be painted again.
    pub(crate) fn follow_focus(&mut self) -> bool {
        let before = self.focus;
        let there = |d: &Self, id: NodeId| d.painted.semantics.nodes.contains_key(&id);
        if let Some(w) = self.wish {
            let node = w.node.filter(|n| there(self, *n));
            let first = self.painted.region(w.region).first().copied();
            if let Some(to) = node.or(first.filter(|_| !w.patient)) {
                self.set_focus(Some(to));
            }
        }
        if let Some(id) = self.focus
            && !there(self, id)
        {
            let wish = self.wish.filter(|w| w.patient);
            self.last.retain(|_, n| *n != id);
            self.focus_top();
            self.wish = wish.or(self.wish);
        }
        self.focus != before
    }

    /// Tab goes round the window on top and then the bar; other windows are reached by F6.
    pub(crate) fn tab(&mut self, back: bool) {
        let top = self.windows.top();
        let own = top.map_or_else(Vec::new, |k| self.painted.region(window_id(k)).to_vec());
        let mut round = own.clone();
        let covered = |id: &NodeId| self.window_of(*id).is_some();
        round.extend(self.painted.order.iter().copied().filter(|id| !covered(id)));
        if round.is_empty() {
            return;
        }
        let n = round.len();
        let first = top.and_then(|k| self.painted.region(body_id(k)).first().copied());
        let to = match (self.focus.and_then(|f| round.iter().position(|o| *o == f)), back) {
            (Some(i), false) => round[(i + 1) % n],
            (Some(i), true) => round[(i + n - 1) % n],
            (None, false) => first.unwrap_or(round[0]),
            (None, true) => own.last().copied().unwrap_or(round[n - 1]),
        };
        self.set_focus(Some(to));
        self.reveal(to);
    }

    /// Scrolls what holds a node, so that it can be seen.
    fn reveal(&mut self, id: NodeId) {
        let Some(node) = self.painted.semantics.nodes.get(&id).map(|n| n.rect) else { return };
        let area = self.painted.scrolls.iter().rev().find(|s| self.painted.region(s.id).contains(&id)).copied();
        let Some(s) = area else { return };
        let (above, below) = (node.y - 8.0 - s.rect.y, node.bottom() + 8.0 - s.rect.bottom());
        let dy = if above < 0.0 { above } else { below.max(0.0).min(above) };
        if dy == 0.0 {
            return;
        }
        if s.id == transcript_id() {
            self.echo.scroll_by(dy);
        } else {
            let y = self.scrolls.entry(s.id).or_default();
            *y = (*y + dy).clamp(0.0, s.max);
        }
    }

    /// The radio buttons of one's own group, in their order.
    pub(crate) fn radios(&self, id: NodeId) -> Option<Vec<NodeId>> {
        let nodes = &self.painted.semantics.nodes;
        let radio = |n: &NodeId| nodes.get(n).is_some_and(|n| n.role == Role::Radio);
        let group = nodes.values().find(|n| n.children.contains(&id)).filter(|_| radio(&id))?;
        Some(group.children.iter().copied().filter(radio).collect())
    }
    /// The next radio button of the group, or the one before, and what it does.
    pub(crate) fn next_radio(&self, id: NodeId, back: bool) -> Option<(NodeId, Action)> {
        let all = self.radios(id)?;
        let (n, at) = (all.len(), all.iter().position(|r| *r == id)?);
        let to = all[if back { (at + n - 1) % n } else { (at + 1) % n }];
        Some((to, self.painted.action(to)?.clone()))
    }
}
