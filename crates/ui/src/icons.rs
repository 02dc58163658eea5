//! A small icon set in a 16 px box, drawn by the same quads as everything else.

use crate::frame::Frame;
use crate::theme;
use scene::{Border, Point, Rect, Rgba};

/// Icons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Icon {
    Echo,
    Folder,
    File,
    Sliders,
    Search,
    Menu,
    Plus,
    Close,
    Up,
    Down,
    Left,
    Right,
    Stop,
    Copy,
    Check,
    Tool,
    Skill,
    Command,
    Trash,
    Pencil,
    Chip,
    Alert,
    Maximise,
    HalfLeft,
    HalfRight,
    Side,
    Sun,
    Dot,
    Open,
    Refresh,
    Paperclip,
}

/// Draws an icon in the middle of a rectangle.
pub fn icon<A: Clone>(f: &mut Frame<'_, A>, icon: Icon, rect: Rect, color: Rgba) {
    let (x, y) = ((rect.x + (rect.w - 16.0) / 2.0).round(), (rect.y + (rect.h - 16.0) / 2.0).round());
    let at = |dx: f32, dy: f32, w: f32, h: f32| Rect::new(x + dx, y + dy, w, h);
    let edge = Border { width: 1.5, color };
    let mut bar = |dx, dy, w, h| f.fill(at(dx, dy, w, h), color, 1.0);
    match icon {
        Icon::Echo => {
            for (i, h) in [4.0, 10.0, 14.0, 8.0, 4.0].into_iter().enumerate() {
                bar(0.5 + 3.25 * i as f32, 8.0 - h / 2.0, 2.0, h);
            }
        }
        Icon::Folder => {
            bar(1.0, 2.5, 6.0, 3.0);
            f.bordered(at(1.0, 4.0, 14.0, 10.0), Rgba::CLEAR, 2.0, edge);
        }
        Icon::File => {
            f.bordered(at(2.5, 1.0, 11.0, 14.0), Rgba::CLEAR, 2.0, edge);
            for (i, w) in [5.0, 5.0, 3.0].into_iter().enumerate() {
                f.fill(at(5.5, 4.5 + 3.0 * i as f32, w, 1.5), color, 0.5);
            }
        }
        Icon::Sliders => {
            for (i, k) in [4.0, 10.0, 6.0].into_iter().enumerate() {
                let y = 3.0 + 5.0 * i as f32;
                f.fill(at(1.0, y - 0.75, 14.0, 1.5), color, 0.5);
                f.fill(at(k - 2.0, y - 2.0, 4.0, 4.0), color, 2.0);
            }
        }
        Icon::Search => {
            f.bordered(at(1.5, 1.5, 10.0, 10.0), Rgba::CLEAR, 5.0, edge);
            for d in 0..4 {
                let d = d as f32 * 1.1;
                f.fill(at(10.0 + d, 10.0 + d, 2.0, 2.0), color, 1.0);
            }
        }
        Icon::HalfLeft | Icon::HalfRight => {
            f.bordered(at(1.0, 2.5, 14.0, 11.0), Rgba::CLEAR, 2.0, edge);
            let dx = if icon == Icon::HalfLeft { 2.5 } else { 8.0 };
            f.fill(at(dx, 4.0, 5.5, 8.0), color, 1.0);
        }
        Icon::Side => {
            f.bordered(at(1.0, 2.5, 14.0, 11.0), Rgba::CLEAR, 2.0, edge);
            f.fill(at(5.0, 3.5, 1.5, 9.0), color, 0.0);
        }
        Icon::Menu => {
            for i in 0..3 {
                bar(2.0, 3.0 + 4.5 * i as f32, 12.0, 1.5);
            }
        }
        Icon::Plus => {
            bar(2.5, 7.25, 11.0, 1.5);
            bar(7.25, 2.5, 1.5, 11.0);
        }
        Icon::Stop => f.fill(at(3.5, 3.5, 9.0, 9.0), color, 2.0),
        Icon::Copy => {
            f.bordered(at(1.5, 1.5, 9.0, 9.0), Rgba::CLEAR, 2.0, edge);
            f.bordered(at(5.5, 5.5, 9.0, 9.0), Rgba::CLEAR, 2.0, edge);
        }
        Icon::Tool => {
            f.bordered(at(1.5, 1.5, 13.0, 13.0), Rgba::CLEAR, 3.0, edge);
            f.fill(at(4.5, 7.25, 3.0, 1.5), color, 0.5);
            f.fill(at(8.5, 10.0, 4.0, 1.5), color, 0.5);
            f.fill(at(4.5, 4.5, 1.5, 4.25), color, 0.5);
        }
        Icon::Skill => {
            f.bordered(at(2.0, 1.5, 12.0, 13.0), Rgba::CLEAR, 2.0, edge);
            f.fill(at(4.75, 1.5, 1.5, 13.0), color, 0.0);
        }
        Icon::Command => {
            f.bordered(at(1.0, 2.5, 14.0, 11.0), Rgba::CLEAR, 2.5, edge);
            f.fill(at(8.0, 9.5, 4.0, 1.5), color, 0.5);
            f.fill(at(4.0, 5.5, 2.0, 2.0), color, 1.0);
            f.fill(at(5.3, 6.8, 2.0, 2.0), color, 1.0);
            f.fill(at(4.0, 8.1, 2.0, 2.0), color, 1.0);
        }
        Icon::Trash => {
            bar(2.0, 3.5, 12.0, 1.5);
            f.fill(at(6.0, 1.5, 4.0, 1.5), color, 0.5);
            f.bordered(at(3.5, 4.5, 9.0, 10.0), Rgba::CLEAR, 2.0, edge);
        }
        Icon::Pencil => {
            for d in 0..6 {
                let d = d as f32 * 1.5;
                f.fill(at(3.0 + d, 10.5 - d, 3.0, 3.0), color, 1.0);
            }
            f.fill(at(2.0, 12.5, 2.0, 2.0), color, 0.5);
        }
        Icon::Chip => {
            f.bordered(at(3.5, 3.5, 9.0, 9.0), Rgba::CLEAR, 2.0, edge);
            for i in 0..2 {
                let o = 5.5 + 3.5 * i as f32;
                for (dx, dy, w, h) in [(o, 1.0, 1.5, 2.0), (o, 13.0, 1.5, 2.0), (1.0, o, 2.0, 1.5), (13.0, o, 2.0, 1.5)]
                {
                    f.fill(at(dx, dy, w, h), color, 0.5);
                }
            }
        }
        Icon::Alert => {
            f.bordered(at(1.0, 1.0, 14.0, 14.0), Rgba::CLEAR, 7.0, edge);
            f.fill(at(7.1, 4.0, 1.8, 5.0), color, 0.9);
            f.fill(at(7.1, 10.4, 1.8, 1.8), color, 0.9);
        }
        Icon::Maximise => f.bordered(at(3.0, 3.0, 10.0, 10.0), Rgba::CLEAR, 2.0, edge),
        Icon::Sun => {
            f.bordered(at(2.0, 2.0, 12.0, 12.0), Rgba::CLEAR, 6.0, edge);
            f.fill_radii(at(8.0, 2.0, 6.0, 12.0), color, scene::Radii([0.0, 6.0, 6.0, 0.0]));
        }
        Icon::Dot => f.fill(at(5.0, 5.0, 6.0, 6.0), color, 3.0),
        Icon::Paperclip => {
            f.bordered(at(4.0, 1.0, 8.0, 14.0), Rgba::CLEAR, 4.0, edge);
            f.bordered(at(6.5, 4.0, 3.0, 8.5), Rgba::CLEAR, 1.5, Border { width: 1.2, color });
        }
        Icon::Close => glyph(f, rect, "×", 18.0, color),
        Icon::Up => glyph(f, rect, "↑", 16.0, color),
        Icon::Down => glyph(f, rect, "↓", 16.0, color),
        Icon::Left => glyph(f, rect, "‹", 18.0, color),
        Icon::Right => glyph(f, rect, "›", 18.0, color),
        Icon::Check => glyph(f, rect, "✓", 14.0, color),
        Icon::Open => glyph(f, rect, "↗", 14.0, color),
        Icon::Refresh => glyph(f, rect, "↻", 16.0, color),
    }
}

/// Characters used as icons; a test holds that the bundled fonts have them.
pub const GLYPHS: [&str; 8] = ["×", "↑", "↓", "‹", "›", "✓", "↗", "↻"];

fn glyph<A: Clone>(f: &mut Frame<'_, A>, rect: Rect, text: &str, size: f32, color: Rgba) {
    let style = text::TextStyle { size, line_height: size + 4.0, ..theme::BODY.weight(600) };
    let id = f.block(text, style, &[], None, text::Wrap::None);
    let s = f.engine.size(id);
    let _ = f.run(id, Point::new(rect.x + (rect.w - s.w) / 2.0, rect.y + (rect.h - s.h) / 2.0), color);
}
