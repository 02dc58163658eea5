//! Keyboard events by meaning.

use ui::event::{Key, KeyPress, Mods};
use web_sys::{InputEvent, KeyboardEvent, MouseEvent};

/// Modifiers of a key event.
#[must_use]
pub fn key_mods(e: &KeyboardEvent) -> Mods {
    Mods { shift: e.shift_key(), ctrl: e.ctrl_key(), alt: e.alt_key(), meta: e.meta_key() }
}

/// Modifiers of a pointer event.
#[must_use]
pub fn mouse_mods(e: &MouseEvent) -> Mods {
    Mods { shift: e.shift_key(), ctrl: e.ctrl_key(), alt: e.alt_key(), meta: e.meta_key() }
}

/// The key that went down.
#[must_use]
pub fn press(e: &KeyboardEvent) -> KeyPress {
    // 229 is what a key means while an input method has it, and right after.
    #[allow(deprecated)]
    let composing = e.is_composing() || e.key_code() == 229;
    let name = e.key();
    let mut chars = name.chars();
    let key = match (name.as_str(), chars.next(), chars.next()) {
        ("Enter", ..) => Key::Enter,
        ("Escape", ..) => Key::Escape,
        ("Tab", ..) => Key::Tab,
        ("Backspace", ..) => Key::Backspace,
        ("Delete", ..) => Key::Delete,
        ("ArrowLeft", ..) => Key::Left,
        ("ArrowRight", ..) => Key::Right,
        ("ArrowUp", ..) => Key::Up,
        ("ArrowDown", ..) => Key::Down,
        ("Home", ..) => Key::Home,
        ("End", ..) => Key::End,
        ("PageUp", ..) => Key::PageUp,
        ("PageDown", ..) => Key::PageDown,
        (" ", ..) => Key::Space,
        (_, Some(c), None) => Key::Char(c.to_lowercase().next().unwrap_or(c)),
        (f, Some('F'), Some('1'..='9')) => f[1..].parse().map_or_else(|_| Key::Other(f.to_owned()), Key::F),
        (other, ..) => Key::Other(other.chars().take(32).collect()),
    };
    KeyPress { key, mods: key_mods(e), repeat: e.repeat(), composing, at_ms: e.time_stamp() }
}

/// The key that an edit stands for, where it is one: on-screen keyboards send edits without
/// usable key codes (`field_7h3`).
#[must_use]
pub fn of_edit(e: &InputEvent) -> Option<KeyPress> {
    let (key, ctrl) = match e.input_type().as_str() {
        "deleteContentBackward" => (Key::Backspace, false),
        "deleteWordBackward" => (Key::Backspace, true),
        "deleteContentForward" => (Key::Delete, false),
        "deleteWordForward" => (Key::Delete, true),
        "insertLineBreak" | "insertParagraph" => (Key::Enter, false),
        _ => return None,
    };
    let mods = Mods { ctrl, ..Mods::default() };
    Some(KeyPress { key, mods, repeat: false, composing: false, at_ms: e.time_stamp() })
}

/// Keys whose default the browser must not perform while our text field has the focus: caret
/// motion, selection and deletion are ours; what belongs to the browser (reload, tabs, tools,
/// the clipboard keys, which fire their own events) is left alone.
#[must_use]
pub fn is_ours(p: &KeyPress) -> bool {
    if p.composing {
        return false;
    }
    match p.key {
        Key::Enter | Key::Escape | Key::Backspace | Key::Delete | Key::F(6 | 8) => true,
        Key::Left | Key::Right => !p.mods.alt || p.mods.shift,
        Key::Up | Key::Down | Key::Home | Key::End | Key::PageUp | Key::PageDown => !p.mods.alt,
        Key::Char(c) => p.mods.command() && matches!(c, 'a' | 'z' | 'y' | 'f' | 'k'),
        _ => false,
    }
}
