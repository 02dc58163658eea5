//! Colours, type scale and measures: light, dark and forced colours over one set of names.

use crate::event::Env;
use scene::{Border, Rgba, Shadow};
use text::TextStyle;

/// The 4 px grid.
pub const GRID: f32 = 4.0;
/// Smallest side of a target for a finger, logical pixels.
pub const TOUCH_MIN: f32 = 44.0;

/// Caption: counters, hints, receipts.
pub const CAPTION: TextStyle = TextStyle::ui(12.0, 16.0);
/// Small interface text.
pub const SMALL: TextStyle = TextStyle::ui(13.0, 20.0);
/// Interface text.
pub const BODY: TextStyle = TextStyle::ui(14.0, 20.0);
/// Text that is read: messages, files.
pub const READING: TextStyle = TextStyle::ui(15.0, 24.0);
/// Title of a window or a card.
pub const TITLE: TextStyle = TextStyle::ui(15.0, 20.0).weight(600);
/// Heading of a page.
pub const HEADING: TextStyle = TextStyle::ui(20.0, 28.0).weight(600);
/// The one large line of an empty state.
pub const DISPLAY: TextStyle = TextStyle::ui(28.0, 36.0).weight(600);
/// Code and names of commands.
pub const MONO: TextStyle = TextStyle::mono(13.0, 20.0);

/// A set of colours. Every text colour reaches 4.5:1 on every surface it is used on; a test
/// computes it (WCAG 2.2, AA).
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// True for dark.
    pub dark: bool,
    /// Behind all windows.
    pub desk: Rgba,
    /// Body of a window.
    pub surface: Rgba,
    /// Side panels, bars.
    pub panel: Rgba,
    /// Cards, menus, fields.
    pub raised: Rgba,
    /// A row under the pointer.
    pub hover: Rgba,
    /// The selected row.
    pub selected: Rgba,
    /// The person's own messages.
    pub mine: Rgba,
    /// Behind code.
    pub code: Rgba,
    /// Hairlines.
    pub line: Rgba,
    /// Edges of controls (3:1 against the surface).
    pub edge: Rgba,
    /// Text.
    pub text: Rgba,
    /// Text of second rank.
    pub muted: Rgba,
    /// The accent, as text and as mark.
    pub accent: Rgba,
    /// The accent as a filled button.
    pub accent_fill: Rgba,
    /// Text on [`Theme::accent_fill`].
    pub on_accent: Rgba,
    /// Something is wrong.
    pub danger: Rgba,
    /// Look at this.
    pub warn: Rgba,
    /// It went well.
    pub good: Rgba,
    /// Behind added lines.
    pub added: Rgba,
    /// Behind removed lines.
    pub removed: Rgba,
    /// Behind selected text.
    pub selection: Rgba,
    /// Behind a match of the find bar.
    pub found: Rgba,
    /// Shadow under windows; clear with forced colours.
    pub shadow: Rgba,
}

impl Theme {
    /// The dark set.
    #[must_use]
    pub const fn dark() -> Self {
        Self {
            dark: true,
            desk: Rgba::hex(0x0b_0d_11),
            surface: Rgba::hex(0x14_17_1d),
            panel: Rgba::hex(0x10_13_18),
            raised: Rgba::hex(0x1b_1f_27),
            hover: Rgba::hex(0x22_27_31),
            selected: Rgba::hex(0x24_2d_42),
            mine: Rgba::hex(0x1f_28_3a),
            code: Rgba::hex(0x0e_11_15),
            line: Rgba::hex(0x27_2c_36),
            edge: Rgba::hex(0x66_6f_80),
            text: Rgba::hex(0xe7_ea_f0),
            muted: Rgba::hex(0x9e_a7_b6),
            accent: Rgba::hex(0x8f_b1_ff),
            accent_fill: Rgba::hex(0x8f_b1_ff),
            on_accent: Rgba::hex(0x0b_12_24),
            danger: Rgba::hex(0xff_9a_90),
            warn: Rgba::hex(0xf0_c2_6b),
            good: Rgba::hex(0x86_d9_a2),
            added: Rgba::hex(0x14_2a_1e),
            removed: Rgba::hex(0x35_1c_1f),
            selection: Rgba::hex(0x2f_47_7d),
            found: Rgba::hex(0x5a_46_12),
            shadow: Rgba { r: 0, g: 0, b: 0, a: 140 },
        }
    }
    /// The light set.
    #[must_use]
    pub const fn light() -> Self {
        Self {
            dark: false,
            desk: Rgba::hex(0xe9_ec_f1),
            surface: Rgba::hex(0xff_ff_ff),
            panel: Rgba::hex(0xf6_f7_f9),
            raised: Rgba::hex(0xff_ff_ff),
            hover: Rgba::hex(0xee_f1_f5),
            selected: Rgba::hex(0xe1_ea_fd),
            mine: Rgba::hex(0xec_f1_fd),
            code: Rgba::hex(0xf4_f5_f8),
            line: Rgba::hex(0xe1_e4_ea),
            edge: Rgba::hex(0x80_88_96),
            text: Rgba::hex(0x1a_1e_27),
            muted: Rgba::hex(0x56_5e_6d),
            accent: Rgba::hex(0x24_54_d0),
            accent_fill: Rgba::hex(0x24_54_d0),
            on_accent: Rgba::hex(0xff_ff_ff),
            danger: Rgba::hex(0xae_21_1b),
            warn: Rgba::hex(0x80_53_00),
            good: Rgba::hex(0x17_67_38),
            added: Rgba::hex(0xe2_f5_e8),
            removed: Rgba::hex(0xfd_e9_e8),
            selection: Rgba::hex(0xc5_d8_ff),
            found: Rgba::hex(0xff_e8_9c),
            shadow: Rgba { r: 20, g: 28, b: 48, a: 46 },
        }
    }
    /// Forced colours: two inks and one mark, edges instead of shades.
    #[must_use]
    pub const fn forced(dark: bool) -> Self {
        let (ink, paper, mark, select) = if dark {
            (Rgba::hex(0xff_ff_ff), Rgba::hex(0), Rgba::hex(0xff_ff_00), Rgba::hex(0x00_37_6f))
        } else {
            (Rgba::hex(0), Rgba::hex(0xff_ff_ff), Rgba::hex(0x00_00_9f), Rgba::hex(0xb4_d7_ff))
        };
        Self {
            dark,
            desk: paper,
            surface: paper,
            panel: paper,
            raised: paper,
            hover: paper,
            selected: select,
            mine: paper,
            code: paper,
            line: ink,
            edge: ink,
            text: ink,
            muted: ink,
            accent: mark,
            accent_fill: mark,
            on_accent: paper,
            danger: ink,
            warn: ink,
            good: ink,
            added: paper,
            removed: paper,
            selection: select,
            found: select,
            shadow: Rgba::CLEAR,
        }
    }
    /// What the machine asks for, unless the person chose (`Some(true)` is dark).
    #[must_use]
    pub fn of(env: &Env, choice: Option<bool>) -> Self {
        let dark = choice.unwrap_or(env.dark);
        match (env.forced_colors, dark) {
            (true, dark) => Self::forced(dark),
            (false, true) => Self::dark(),
            (false, false) => Self::light(),
        }
    }
    /// A hairline border.
    #[must_use]
    pub fn hairline(&self) -> Border {
        Border { width: 1.0, color: self.line }
    }
    /// The shadow of something that floats.
    #[must_use]
    pub fn float(&self) -> Option<Shadow> {
        let color = self.shadow;
        (color.a > 0).then_some(Shadow { offset: scene::Point::new(0.0, 8.0), blur: 28.0, color })
    }
}

/// Measures that depend on the pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// Height of a button or a field.
    pub control: f32,
    /// Height of a list row.
    pub row: f32,
    /// Inner distance.
    pub pad: f32,
    /// True below 720 px: one window, panels over it.
    pub narrow: bool,
}

impl Measures {
    /// For an environment.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        let narrow = env.size.w < 720.0;
        let (control, row) = if env.coarse { (TOUCH_MIN, TOUCH_MIN) } else { (32.0, 36.0) };
        Self { control, row, pad: if narrow { 12.0 } else { 16.0 }, narrow }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_colour_is_legible_on_every_surface_it_is_used_on() {
        for t in [Theme::dark(), Theme::light(), Theme::forced(true), Theme::forced(false)] {
            let surfaces = [t.desk, t.surface, t.panel, t.raised, t.hover, t.selected, t.mine, t.code];
            let inks = [("text", t.text), ("muted", t.muted), ("accent", t.accent), ("danger", t.danger)];
            for (name, ink) in inks.into_iter().chain([("warn", t.warn), ("good", t.good)]) {
                for (i, s) in surfaces.iter().enumerate() {
                    let c = ink.contrast(*s);
                    assert!(c >= 4.5, "{name} on surface {i}, dark {}: {c:.2}", t.dark);
                }
            }
            for s in [t.selection, t.found, t.added, t.removed] {
                assert!(t.text.contrast(s) >= 4.5, "text on {s:?}: {:.2}", t.text.contrast(s));
            }
            assert!(t.on_accent.contrast(t.accent_fill) >= 4.5);
            for s in [t.surface, t.panel, t.raised] {
                assert!(t.edge.contrast(s) >= 3.0, "edge of a control: {:.2}", t.edge.contrast(s));
            }
        }
    }
}
