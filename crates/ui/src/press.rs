//! From pointer phases to presses, drags and finger scrolling.

use crate::event::{Pointer, PointerPhase};
use scene::{NodeId, Point};

/// How far a pointer may wander before a press becomes a drag, logical pixels.
pub const SLOP: f32 = 6.0;

/// What a pointer event amounts to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gesture {
    /// Went down on a node (or on nothing).
    Down(Option<NodeId>),
    /// Moved without being held.
    Hover,
    /// Moved while held: by how much since the last event.
    Drag {
        /// Where it went down.
        from: Point,
        /// Since the last event.
        by: Point,
    },
    /// A finger moves the content by this much.
    Scroll {
        /// Where it went down.
        from: Point,
        /// Since the last event.
        by: Point,
    },
    /// Came up over the node it went down on, having stayed there.
    Press(NodeId),
    /// Came up elsewhere, or the gesture was taken away.
    Released,
}

/// The pointer's state between events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Press {
    down: Option<(Point, Option<NodeId>, bool)>,
    last: Point,
    moved: bool,
    scrolls: bool,
}

impl Press {
    /// The node held down, while it would still be pressed.
    #[must_use]
    pub fn held(&self) -> Option<NodeId> {
        self.down.and_then(|(_, id, _)| id).filter(|_| !self.scrolls)
    }
    /// Where the pointer is.
    #[must_use]
    pub fn at(&self) -> Point {
        self.last
    }
    /// Lets go of everything: the node vanished or the window lost the pointer.
    pub fn cancel(&mut self) {
        self.down = None;
        self.moved = false;
        self.scrolls = false;
    }
    /// Takes an event; `hit` is the node under the pointer now.
    pub fn event(&mut self, e: &Pointer, hit: Option<NodeId>) -> Gesture {
        let by = Point::new(e.at.x - self.last.x, e.at.y - self.last.y);
        self.last = e.at;
        match e.phase {
            PointerPhase::Down => {
                self.cancel();
                self.down = Some((e.at, hit, e.touch));
                Gesture::Down(hit)
            }
            PointerPhase::Move => match self.down {
                None => Gesture::Hover,
                Some((from, _, touch)) => {
                    if (e.at.x - from.x).abs() > SLOP || (e.at.y - from.y).abs() > SLOP {
                        self.moved = true;
                        self.scrolls |= touch;
                    }
                    if self.scrolls { Gesture::Scroll { from, by } } else { Gesture::Drag { from, by } }
                }
            },
            PointerPhase::Up => {
                let down = self.down;
                let scrolled = self.scrolls;
                self.cancel();
                match (down, hit) {
                    (Some((_, Some(a), _)), Some(b)) if a == b && !scrolled => Gesture::Press(a),
                    _ => Gesture::Released,
                }
            }
            PointerPhase::Cancel => {
                self.cancel();
                Gesture::Released
            }
            PointerPhase::Leave => {
                if self.down.is_none() {
                    Gesture::Hover
                } else {
                    Gesture::Drag { from: e.at, by: Point::default() }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Mods;

    fn ev(phase: PointerPhase, x: f32, y: f32, touch: bool) -> Pointer {
        Pointer { phase, at: Point::new(x, y), button: 0, clicks: 1, touch, mods: Mods::default(), at_ms: 0.0 }
    }

    #[test]
    fn a_press_needs_the_same_node_for_down_and_up() {
        let (a, b) = (Some(NodeId(1)), Some(NodeId(2)));
        let mut p = Press::default();
        p.event(&ev(PointerPhase::Down, 5.0, 5.0, false), a);
        assert_eq!(p.event(&ev(PointerPhase::Up, 5.0, 5.0, false), a), Gesture::Press(NodeId(1)));
        p.event(&ev(PointerPhase::Down, 5.0, 5.0, false), a);
        assert_eq!(p.event(&ev(PointerPhase::Up, 90.0, 5.0, false), b), Gesture::Released);
        assert_eq!(p.event(&ev(PointerPhase::Up, 5.0, 5.0, false), a), Gesture::Released, "an up without a down");
    }

    #[test]
    fn a_finger_that_moves_scrolls_and_presses_nothing() {
        let a = Some(NodeId(1));
        let mut p = Press::default();
        p.event(&ev(PointerPhase::Down, 5.0, 50.0, true), a);
        let g = p.event(&ev(PointerPhase::Move, 5.0, 30.0, true), a);
        assert_eq!(g, Gesture::Scroll { from: Point::new(5.0, 50.0), by: Point::new(0.0, -20.0) });
        assert_eq!(p.held(), None);
        assert_eq!(p.event(&ev(PointerPhase::Up, 5.0, 30.0, true), a), Gesture::Released);
    }
}
