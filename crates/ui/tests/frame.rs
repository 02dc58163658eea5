//! Frames as a person and a mirror meet them.

use scene::{Node, NodeId, Point, Rect, Role, Size};
use text::TextEngine;
use ui::event::{EditKind, Env, Key, KeyPress, Mods, TextEdit};
use ui::{Attention, Control, Field, Frame, Painted, Theme, field::Reply, icons, testing, widgets};

const ROOT: NodeId = NodeId(1);

fn env(coarse: bool) -> Env {
    Env {
        size: Size::new(400.0, 300.0),
        scale: 1.0,
        dark: true,
        reduced_motion: false,
        forced_colors: false,
        coarse,
        keyboard_inset: 0.0,
    }
}

fn frame<'a>(engine: &'a mut TextEngine, theme: &'a Theme, at: Attention, now: u64) -> Frame<'a, &'static str> {
    Frame::new(engine, theme, env(false), at, now, Node { id: ROOT, role: Role::Application, ..Node::default() })
}

#[test]
fn a_control_is_drawn_said_and_pressed_by_one_call() {
    let (mut engine, theme) = (testing::engine(), Theme::dark());
    let mut f = frame(&mut engine, &theme, Attention::default(), 0);
    let id = NodeId::of("send", 0);
    let rect = Rect::new(10.0, 10.0, 80.0, 32.0);
    widgets::button(&mut f, id, rect, widgets::Kind::Primary, None, Control::button("Send"), "send");
    let p = f.finish(|_, _| {});
    assert_eq!(p.semantics.to_text(), "Application\n  Button \"Send\"\n");
    assert_eq!(p.hit(Point::new(20.0, 20.0)).and_then(|h| h.action), Some("send"));
    assert_eq!(p.action(id), Some(&"send"));
    assert_eq!(p.order, [id]);
    assert!(!p.display.layers[0].items.is_empty());
}

#[test]
fn what_is_scrolled_away_is_not_pressed_and_a_window_body_shields_what_is_below() {
    let (mut engine, theme) = (testing::engine(), Theme::dark());
    let mut f = frame(&mut engine, &theme, Attention::default(), 0);
    let row = |i: u64| NodeId::of("row", i);
    f.scroll(NodeId(9), Rect::new(0.0, 0.0, 400.0, 100.0), 40.0, |f, y| {
        for i in 0..10 {
            let rect = Rect::new(0.0, i as f32 * 40.0 - y, 400.0, 40.0);
            widgets::button(f, row(i), rect, widgets::Kind::Ghost, None, Control::button("row"), "row");
        }
        400.0
    });
    f.opaque(NodeId(5), Rect::new(0.0, 80.0, 400.0, 220.0));
    let p = f.finish(|_, _| {});
    assert_eq!(p.hit(Point::new(5.0, 5.0)).map(|h| h.id), Some(row(1)));
    assert_eq!(p.hit(Point::new(5.0, 150.0)).and_then(|h| h.action), None);
    assert!(p.scroll_at(Point::new(5.0, 5.0)).is_some_and(|s| (s.max - 300.0).abs() < 0.1));
    assert!(p.scroll_at(Point::new(5.0, 90.0)).is_none(), "the window lies over it");
}

#[test]
fn a_scroll_position_past_the_end_is_brought_back_and_told() {
    let (mut engine, theme) = (testing::engine(), Theme::dark());
    let mut f = frame(&mut engine, &theme, Attention::default(), 0);
    f.scroll(NodeId(9), Rect::new(0.0, 0.0, 100.0, 100.0), 900.0, |_, _| 250.0);
    let mut told = vec![];
    f.finish(|id, y| told.push((id, y)));
    assert_eq!(told, [(NodeId(9), 150.0)]);
}

#[test]
fn a_finger_gets_44_pixels() {
    let (mut engine, theme) = (testing::engine(), Theme::light());
    let root = Node { id: ROOT, ..Node::default() };
    let mut f: Frame<'_, &str> = Frame::new(&mut engine, &theme, env(true), Attention::default(), 0, root);
    let rect = Rect::new(100.0, 100.0, 24.0, 24.0);
    widgets::icon_button(&mut f, NodeId(2), rect, ui::Icon::Plus, Control::button("New"), "new");
    let p = f.finish(|_, _| {});
    assert_eq!(p.hits[0].rect, Rect::new(90.0, 90.0, 44.0, 44.0));
}

#[test]
fn every_icon_glyph_is_in_the_bundled_fonts() {
    let mut engine = testing::engine();
    for g in icons::GLYPHS {
        let id = engine.block(&text::BlockSpec {
            text: g,
            style: ui::theme::BODY,
            spans: &[],
            width: None,
            wrap: text::Wrap::None,
        });
        assert!(engine.cells(id).is_empty(), "{g} would be drawn by a fallback font");
    }
}

fn key(k: Key) -> KeyPress {
    KeyPress { key: k, mods: Mods::default(), repeat: false, composing: false, at_ms: 0.0 }
}

fn painted(field: &mut Field, engine: &mut TextEngine, now: u64) -> Painted<&'static str> {
    let theme = Theme::dark();
    let at = Attention { focus: Some(NodeId(7)), ..Attention::default() };
    let mut f = frame(engine, &theme, at, now);
    let rect = Rect::new(10.0, 10.0, 120.0, 60.0);
    field.boxed(&mut f, NodeId(7), rect, Control::new(Role::TextField, "Key"), "hint", "focus");
    f.finish(|_, _| {})
}

#[test]
fn a_secret_field_is_drawn_as_dots_and_never_said() {
    let mut engine = testing::engine();
    let mut field = Field::secret();
    field.paste("sk-geheim", 0);
    let p = painted(&mut field, &mut engine, 0);
    assert!(!p.semantics.to_text().contains("geheim"));
    let g = p.field(NodeId(7)).expect("geometry");
    let dots = engine.ranges(g.block, 0.."•".len() * 9);
    assert!((g.caret.x - (g.origin.x + dots[0].w)).abs() < 1.5, "the caret stands behind nine dots");
}

#[test]
fn up_and_down_keep_the_column_and_leave_at_the_edges() {
    let mut engine = testing::engine();
    let mut field = Field::area("first line here\nx\nthird line here");
    let p = painted(&mut field, &mut engine, 0);
    let g = *p.field(NodeId(7)).expect("geometry");
    field.buffer.move_to(9, false);
    assert_eq!(field.key(&key(Key::Down), &mut engine, Some(&g), 0), Reply::Moved);
    assert!(field.buffer.caret() > 9);
    while field.buffer.caret() < field.text().len() {
        field.key(&key(Key::Down), &mut engine, Some(&g), 0);
    }
    assert!(field.at_edge(true, &mut engine, Some(&g)));
    assert!(!field.at_edge(false, &mut engine, Some(&g)));
}

#[test]
fn field_7h1_keys_of_a_composition_are_the_input_methods() {
    let mut engine = testing::engine();
    let mut field = Field::area("");
    field.edit(
        &TextEdit {
            range: 0..0,
            text: "みなと".into(),
            selection: (3, 3),
            kind: EditKind::Composition,
            tainted: false,
        },
        0,
    );
    field.buffer.set_composing(Some(0..3));
    for k in [Key::Enter, Key::Left, Key::Backspace] {
        let press = KeyPress { composing: true, ..key(k) };
        assert_eq!(field.key(&press, &mut engine, None, 0), Reply::Ignored);
    }
    assert_eq!(field.text(), "みなと");
}

#[test]
fn the_caret_blinks_for_five_seconds_and_then_stands_without_a_timer() {
    let mut engine = testing::engine();
    let mut field = Field::line("x");
    field.paste("y", 10_000);
    let p = painted(&mut field, &mut engine, 10_100);
    assert_eq!(p.wake_at, Some(10_530));
    assert_eq!(painted(&mut field, &mut engine, 15_000).wake_at, None);
}

#[test]
fn a_caret_at_a_soft_wrap_stands_on_the_line_that_was_meant() {
    let (mut engine, theme) = (testing::engine(), Theme::dark());
    let id = NodeId::of("field", 0);
    let at = Attention { focus: Some(id), ..Attention::default() };
    // No blank to wrap at: the end of a line and the start of the next are one byte.
    let mut field = Field::area(&"m".repeat(60));
    let paint = |field: &mut Field, engine: &mut TextEngine| {
        let mut f = frame(engine, &theme, at, 0);
        let rect = Rect::new(0.0, 0.0, 200.0, 200.0);
        let style = ui::theme::READING;
        let g = field.paint(&mut f, id, rect, Point::new(4.0, 4.0), style, Control::default(), "", "focus");
        f.finish(|_, _| {});
        g
    };
    let key = |k: Key| KeyPress { key: k, mods: Mods::default(), repeat: false, composing: false, at_ms: 0.0 };
    field.buffer.move_to(2, false);
    let g = paint(&mut field, &mut engine);
    let first = g.caret.y;
    assert_eq!(field.key(&key(Key::End), &mut engine, Some(&g), 0), Reply::Moved);
    let g = paint(&mut field, &mut engine);
    assert!((g.caret.y - first).abs() < 1.0 && g.caret.x > 100.0, "End stays on its line: {:?}", g.caret);
    field.key(&key(Key::Home), &mut engine, Some(&g), 0);
    assert_eq!(field.buffer.caret(), 0, "and Home goes to the beginning of that line");
    // A press behind the first line is at its end, not on the next line.
    let g = paint(&mut field, &mut engine);
    field.press(&engine, &g, Point::new(199.0, first + 6.0), 1, false, 0);
    let g = paint(&mut field, &mut engine);
    assert!((g.caret.y - first).abs() < 1.0, "{:?}", g.caret);
    // Down from there goes one line down, not two.
    field.key(&key(Key::Down), &mut engine, Some(&g), 0);
    let g = paint(&mut field, &mut engine);
    let line = ui::theme::READING.line_height;
    assert!((g.caret.y - first - line).abs() < 1.0, "{:?}", g.caret);
}
