//! What the outside tells the toolkit: plain events, already stripped of the browser.
//!
//! Proof of trust travels beside an event, never inside it: the toolkit must not know
//! what a right is (`kernel::authority` does).

use scene::{NodeId, Point};
use std::ops::Range;

/// Modifier keys held during an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mods {
    /// Shift.
    pub shift: bool,
    /// Ctrl.
    pub ctrl: bool,
    /// Alt or Option.
    pub alt: bool,
    /// Cmd or the Windows key.
    pub meta: bool,
}

impl Mods {
    /// The platform's command modifier: Cmd on macOS, Ctrl elsewhere; either counts.
    #[must_use]
    pub fn command(self) -> bool {
        (self.ctrl || self.meta) && !self.alt
    }
}

/// A key by meaning. Text never arrives here: it comes as [`TextEdit`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Key {
    Enter,
    Escape,
    Tab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    Space,
    F(u8),
    /// A printable key, lower-cased, as used in shortcuts.
    Char(char),
    Other(String),
}

/// One `keydown` that the text field did not consume as text.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPress {
    /// Which key.
    pub key: Key,
    /// Modifiers held.
    pub mods: Mods,
    /// Auto-repeat of a held key.
    pub repeat: bool,
    /// True while an input method composes, and for the late key code 229.
    pub composing: bool,
    /// When the key went down, in milliseconds of the page's monotonic clock.
    pub at_ms: f64,
}

/// How a delta came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum EditKind {
    Typing,
    Composition,
    Paste,
    Drop,
    Delete,
    LineBreak,
}

/// A replacement in the focused field, in UTF-16 offsets of its text before the edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// Replaced range.
    pub range: Range<u32>,
    /// Replacement.
    pub text: String,
    /// Selection afterwards, as (anchor, focus).
    pub selection: (u32, u32),
    /// Cause.
    pub kind: EditKind,
    /// The element's text was not the model's before this delta: somebody else changed it.
    pub tainted: bool,
}

/// The composing (preedit) range, in UTF-16 offsets; `None` when nothing is being composed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composition(pub Option<Range<u32>>);

/// Pointer phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PointerPhase {
    Down,
    Move,
    Up,
    Cancel,
    Leave,
}

/// Mouse, pen or touch, in logical (CSS) pixels of the canvas.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointer {
    /// Phase.
    pub phase: PointerPhase,
    /// Position.
    pub at: Point,
    /// 0 primary, 1 middle, 2 secondary.
    pub button: u8,
    /// Clicks in a row (2 selects a word, 3 a line).
    pub clicks: u8,
    /// From a finger.
    pub touch: bool,
    /// Modifiers held.
    pub mods: Mods,
    /// When, in milliseconds of the page's monotonic clock.
    pub at_ms: f64,
}

/// One input event.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A key.
    Key(KeyPress),
    /// A delta to the focused text field.
    Text(TextEdit),
    /// The composing range changed.
    Composition(Composition),
    /// Text from the clipboard, on a trusted paste.
    Paste(String),
    /// Cut was asked for: the selection leaves the field (the adapter has taken its text).
    Cut,
    /// Pointer.
    Pointer(Pointer),
    /// Wheel, in logical pixels.
    Wheel {
        /// Where.
        at: Point,
        /// How far (x, y).
        delta: Point,
    },
    /// A control of the accessibility mirror was activated.
    Activate {
        /// Its node.
        node: NodeId,
        /// When, in milliseconds of the page's monotonic clock.
        at_ms: f64,
    },
    /// The mirror moved the browser's focus to a node.
    FocusNode(NodeId),
    /// The page lost or gained focus; composing dies on blur.
    WindowFocus(bool),
}

/// What the machine and the person's settings are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Env {
    /// Canvas size in logical pixels.
    pub size: scene::Size,
    /// Physical pixels per logical pixel.
    pub scale: f32,
    /// The system prefers a dark scheme.
    pub dark: bool,
    /// The person asked for less motion.
    pub reduced_motion: bool,
    /// Forced colours are on.
    pub forced_colors: bool,
    /// The primary pointer is a finger.
    pub coarse: bool,
    /// Height in logical pixels that an on-screen keyboard covers at the bottom.
    pub keyboard_inset: f32,
}
