//! Real pixels from a real canvas: what each kind of item looks like, what is kept from frame
//! to frame, and what a lost device leaves.
#![cfg(target_arch = "wasm32")]

mod stage;

use scene::{Border, DisplayList, Image, ImageId, Item, Point, Quad, Rect, Rgba, Shadow};
use stage::{INK, PAPER, Squares, Stage, filled, frame, gpu, layer};
use text::TextStyle;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

const ALL: Rect = Rect::new(0.0, 0.0, 64.0, 64.0);
const RED: Rgba = Rgba::hex(0xe0_20_20);

#[wasm_bindgen_test]
async fn a_quad_has_its_fill_its_border_and_round_corners() {
    let mut s = Stage::new(64, 64, 1.0).await;
    let border = Border { width: 2.0, color: RED };
    let q = Quad { rect: Rect::new(8.0, 8.0, 40.0, 40.0), radii: 12.0.into(), fill: INK, border, shadow: None };
    let p = s.show(&frame(ALL, [Item::Quad(q)]));
    assert_eq!(p.at(28, 28), INK);
    assert_eq!([p.at(8, 28), p.at(9, 28), p.at(10, 28)], [RED, RED, INK], "left edge");
    assert_eq!([p.at(46, 28), p.at(47, 28), p.at(48, 28)], [RED, RED, PAPER], "right edge");
    assert_eq!([p.at(8, 8), p.at(47, 8), p.at(8, 47), p.at(47, 47)], [PAPER; 4], "corners are cut");
    assert_eq!(p.at(7, 28), PAPER);
}

#[wasm_bindgen_test]
async fn each_corner_has_its_own_radius() {
    let mut s = Stage::new(64, 64, 1.0).await;
    for (i, at) in [(8, 8), (47, 8), (47, 47), (8, 47)].into_iter().enumerate() {
        let mut radii = [0.0; 4];
        radii[i] = 10.0;
        let rect = Rect::new(8.0, 8.0, 40.0, 40.0);
        let p =
            s.show(&frame(ALL, [Item::Quad(Quad { rect, radii: scene::Radii(radii), fill: INK, ..Quad::default() })]));
        let round: Vec<_> =
            [(8, 8), (47, 8), (47, 47), (8, 47)].into_iter().filter(|c| p.at(c.0, c.1) == PAPER).collect();
        assert_eq!(round, [at]);
    }
}

#[wasm_bindgen_test]
async fn a_hairline_is_sharp_at_every_scale() {
    for scale in [1.0_f32, 1.25, 1.5, 2.0, 3.0] {
        let mut s = Stage::new(64, 64, scale).await;
        let p = s.show(&frame(ALL, [filled(Rect::new(4.3, 5.0, 1.0, 8.0), INK)]));
        let y = (8.0 * scale) as u32;
        let row: Vec<_> = (0..64).map(|x| p.at(x, y)).filter(|c| *c != PAPER).collect();
        assert!(row.iter().all(|c| *c == INK), "scale {scale}: {row:?}");
        assert!((row.len() as f32 - scale).abs() < 1.0 && !row.is_empty(), "scale {scale}: {} wide", row.len());
    }
}

#[wasm_bindgen_test]
async fn a_shadow_fades_evenly_on_the_side_it_falls_to() {
    let mut s = Stage::new(128, 128, 1.0).await;
    let shadow = Some(Shadow { offset: Point::new(0.0, 6.0), blur: 24.0, color: Rgba::hex(0) });
    let q = Quad { rect: Rect::new(40.0, 40.0, 48.0, 48.0), radii: 8.0.into(), fill: RED, shadow, ..Quad::default() };
    let p = s.show(&frame(Rect::new(0.0, 0.0, 128.0, 128.0), [Item::Quad(q)]));
    let below: Vec<u8> = (88..128).map(|y| p.at(64, y).r).collect();
    assert!(below.is_sorted(), "{below:?}");
    assert!(below[0] < 160 && *below.last().expect("row") >= 253, "{below:?}");
    assert!(below.windows(2).all(|w| w[1] - w[0] < 16), "no band: {below:?}");
    assert!(p.at(64, 30).r > p.at(64, 97).r, "less above than below");
    assert_eq!(p.at(64, 64), RED);
}

#[wasm_bindgen_test]
async fn a_glyph_has_exactly_its_colour_and_stands_on_whole_pixels() {
    for scale in [1.0, 1.25, 1.5, 2.0, 3.0] {
        let mut s = Stage::new(64, 64, scale).await;
        let full = s.run("█", TextStyle::mono(10.0, 16.0), (4.0, 2.0), RED);
        let p = s.show(&frame(ALL, [full]));
        assert!(p.count(RED) as f32 > 30.0 * scale * scale, "scale {scale}: {} pixels of ink", p.count(RED));
    }
    let mut s = Stage::new(64, 64, 1.0).await;
    let nothing = s.run("   ", TextStyle::ui(16.0, 24.0), (0.0, 0.0), RED);
    assert_eq!(s.show(&frame(ALL, [nothing])).count(PAPER), 64 * 64);
}

#[wasm_bindgen_test]
async fn light_text_on_dark_is_not_thinner_than_dark_on_light() {
    let mut s = Stage::new(200, 40, 1.0).await;
    let rect = Rect::new(0.0, 0.0, 200.0, 40.0);
    let style = TextStyle::ui(14.0, 20.0);
    let (black, white) = (Rgba::hex(0), PAPER);
    let dark = s.run("Reading glasses and illness", style, (4.0, 8.0), black);
    let on_light = s.show(&frame(rect, [dark])).red();
    let light = s.run("Reading glasses and illness", style, (4.0, 8.0), white);
    let on_dark = s.show(&frame(rect, [filled(rect, black), light])).red();
    let (ink_dark, ink_light) = (200 * 40 * 255 - on_light, on_dark);
    assert!(ink_light > ink_dark && ink_light < ink_dark * 13 / 10, "{ink_light} against {ink_dark}");
}

#[wasm_bindgen_test]
async fn a_cell_stands_in_its_room_and_only_a_mask_takes_the_colour() {
    let mut s = Stage::new(64, 64, 1.0).await;
    let style = TextStyle::ui(16.0, 24.0);
    let (mask, own) = ('\u{4e00}', '\u{4e01}');
    let run = s.run("\u{4e00}\u{4e01}", style, (8.0, 4.0), RED);
    let p = s.show(&frame(ALL, [run]));
    assert_eq!((p.count(RED), p.count(Squares::color(own))), (256, 256));
    assert_eq!(p.count(Squares::color(mask)), 0);
    let y = (0..64).find(|y| p.at(8, *y) == RED).expect("a row") + 8;
    assert_eq!([p.at(7, y), p.at(8, y), p.at(23, y), p.at(24, y)], [PAPER, RED, RED, Squares::color(own)]);
    // The room it keeps inside the line is where it is drawn.
    let Item::Text(t) = run else { unreachable!() };
    let cells = s.text.cells(t.block);
    assert!((cells[1].rect.x - 16.0).abs() < 0.1, "{cells:?}");
}

#[wasm_bindgen_test]
async fn clips_nest_cut_everything_and_end() {
    let mut s = Stage::new(64, 64, 1.0).await;
    let text = s.run("████", TextStyle::mono(20.0, 24.0), (0.0, 20.0), INK);
    let items = [
        Item::PushClip(Rect::new(10.0, 10.0, 20.0, 40.0)),
        Item::PushClip(Rect::new(0.0, 0.0, 20.0, 64.0)),
        filled(ALL, RED),
        text,
        Item::PopClip,
        Item::PopClip,
        filled(Rect::new(60.0, 60.0, 4.0, 4.0), RED),
        // One too many is ignored.
        Item::PopClip,
        filled(Rect::new(0.0, 60.0, 4.0, 4.0), RED),
    ];
    let p = s.show(&frame(ALL, items));
    let outside = |x: u32, y: u32| !((10..20).contains(&x) && (10..50).contains(&y) || y >= 60);
    for (x, y) in (0..64).flat_map(|x| (0..64).map(move |y| (x, y))).filter(|(x, y)| outside(*x, *y)) {
        assert_eq!(p.at(x, y), PAPER, "cut at {x}, {y}");
    }
    assert_eq!([p.at(9, 12), p.at(10, 12), p.at(19, 12), p.at(20, 12)], [PAPER, RED, RED, PAPER]);
    assert_eq!([p.at(9, 30), p.at(10, 30), p.at(19, 30), p.at(20, 30)], [PAPER, INK, INK, PAPER]);
    assert_eq!([p.at(62, 62), p.at(2, 62)], [RED, RED]);
}

#[wasm_bindgen_test]
async fn only_what_changed_is_drawn_and_an_equal_frame_is_not_presented() {
    let mut s = Stage::new(64, 64, 1.0).await;
    let half = |x, c| layer(if x == 0.0 { 1 } else { 2 }, Rect::new(x, 0.0, 32.0, 64.0), [filled(ALL, c)]);
    let list = |a, b| DisplayList { background: PAPER, layers: vec![half(0.0, a), half(32.0, b)] };
    let p = s.show(&list(INK, RED));
    assert_eq!((s.compositor.drawn, s.compositor.presented), (2, 1));
    assert_eq!([p.at(31, 9), p.at(32, 9)], [INK, RED], "a layer keeps to its rectangle");
    assert!(s.show(&list(INK, RED)) == p);
    assert_eq!((s.compositor.drawn, s.compositor.presented), (0, 1));
    let p = s.show(&list(INK, INK));
    assert_eq!((s.compositor.drawn, s.compositor.presented), (1, 2));
    assert_eq!(p.count(INK), 64 * 64);
    let p = s.show(&DisplayList { background: RED, layers: vec![half(32.0, INK)] });
    assert_eq!(s.compositor.drawn, 0, "the one that stays is kept");
    assert_eq!([p.at(31, 9), p.at(32, 9)], [RED, INK]);
}

#[wasm_bindgen_test]
async fn layers_are_composed_in_list_order_with_their_alpha() {
    let mut s = Stage::new(64, 64, 1.0).await;
    let veil = layer(2, ALL, [filled(Rect::new(0.0, 0.0, 32.0, 64.0), Rgba::hex(0).alpha(0.5))]);
    let floor = layer(1, ALL, [filled(ALL, Rgba::hex(0xff_ff_ff))]);
    let p = s.show(&DisplayList { background: RED, layers: vec![floor.clone(), veil.clone()] });
    assert!(p.at(9, 9).r.abs_diff(127) <= 1, "{:?}", p.at(9, 9));
    assert_eq!(p.at(40, 9), PAPER);
    let p = s.show(&DisplayList { background: RED, layers: vec![veil, floor] });
    assert_eq!((p.count(PAPER), s.compositor.drawn), (64 * 64, 0), "order alone draws no layer");
}

#[wasm_bindgen_test]
async fn a_new_size_is_a_new_frame_and_an_endless_one_is_clamped() {
    let mut s = Stage::new(64, 64, 1.0).await;
    let list = frame(Rect::new(0.0, 0.0, 500.0, 500.0), [filled(Rect::new(0.0, 0.0, 500.0, 500.0), INK)]);
    s.show(&list);
    s.gpu.resize(64, 64);
    s.show(&list);
    assert_eq!(s.compositor.presented, 1, "the same size is no change");
    s.canvas.set_width(96);
    s.canvas.set_height(32);
    s.gpu.resize(96, 32);
    assert_eq!(s.show(&list).count(INK), 96 * 32);
    s.gpu.resize(u32::MAX, 0);
    let (w, h) = s.gpu.size();
    assert!((2048..=65_536).contains(&w) && h == 1, "{w} x {h}");
}

#[wasm_bindgen_test]
async fn a_picture_is_drawn_replaced_and_shrunk_without_sparkle() {
    let mut s = Stage::new(64, 64, 1.0).await;
    let list = |side| frame(ALL, [Item::Image(Image { id: ImageId(7), rect: Rect::new(8.0, 8.0, side, side) })]);
    assert_eq!(s.show(&list(16.0)).count(PAPER), 64 * 64, "an unknown picture draws nothing");
    let plain = |c: [u8; 4], n: usize| c.repeat(n);
    s.compositor.put_picture(ImageId(7), 2, 2, plain([16, 32, 48, 255], 4)).expect("taken");
    assert_eq!(s.show(&list(16.0)).count(INK), 256, "it came after the frame that named it");
    // A checkerboard of single pixels, 64 to a side, drawn at 8: grey, not noise.
    let board: Vec<u8> = (0..64 * 64_u32)
        .flat_map(|i| {
            let v = if (i % 64 + i / 64) % 2 == 0 { 255 } else { 0 };
            [v, v, v, 255]
        })
        .collect();
    s.compositor.put_picture(ImageId(7), 64, 64, board).expect("taken");
    let p = s.show(&list(8.0));
    assert!(p.at(12, 12).r.abs_diff(128) < 4, "{:?}", p.at(12, 12));
    s.compositor.remove_picture(ImageId(7));
    assert_eq!(s.show(&list(8.0)).count(PAPER), 64 * 64);
}

/// A frame in which cell `i` shows in strip `i`, ten pixels wide.
fn strips(s: &mut Stage, cells: std::ops::Range<u32>, background: Rgba) -> DisplayList {
    let screen = Rect::new(0.0, 0.0, 400.0, 32.0);
    let mut items = vec![filled(screen, background)];
    for (i, c) in cells.enumerate() {
        let x = i as f32 * 10.0;
        let text: String = char::from_u32(0x4e01 + 2 * c).into_iter().collect();
        let run = s.run(&text, TextStyle::ui(16.0, 24.0), (x, 0.0), INK);
        items.extend([Item::PushClip(Rect::new(x, 0.0, 10.0, 16.0)), run, Item::PopClip]);
    }
    frame(screen, items)
}

fn shown(p: &stage::Pixels, cells: std::ops::Range<u32>) {
    for (i, c) in (0..).zip(cells) {
        let expected = Squares::color(char::from_u32(0x4e01 + 2 * c).expect("char"));
        assert_eq!(p.at(i * 10 + 5, 8), expected, "cell {c} in strip {i}");
    }
}

#[wasm_bindgen_test]
async fn the_atlas_grows_by_pages_without_drawing_a_glyph_twice() {
    let mut s = Stage::new(400, 32, 1.0).await;
    s.raster.side = 500;
    // Four to a page: this takes five pages, so the array is copied twice.
    let list = strips(&mut s, 0..18, PAPER);
    shown(&s.show(&list), 0..18);
    assert_eq!(s.raster.calls, 18);
    let list = strips(&mut s, 0..18, RED);
    shown(&s.show(&list), 0..18);
    assert_eq!(s.raster.calls, 18, "all from the pages");
}

#[wasm_bindgen_test]
async fn a_full_atlas_starts_anew_in_the_same_frame() {
    let mut s = Stage::new(400, 32, 1.0).await;
    s.raster.side = 500;
    let list = strips(&mut s, 0..30, PAPER);
    shown(&s.show(&list), 0..30);
    let list = strips(&mut s, 20..50, PAPER);
    shown(&s.show(&list), 20..50);
    assert!(s.raster.calls > 50, "{} drawn: it did start anew", s.raster.calls);
}

/// Keeps every device that the page asks for, as a test driver does (decision 30).
fn keep_devices() {
    js_sys::eval(
        "if (!globalThis.devices) {
            globalThis.devices = [];
            const ask = GPUAdapter.prototype.requestDevice;
            GPUAdapter.prototype.requestDevice = async function (d) {
                const device = await ask.call(this, d);
                globalThis.devices.push(device);
                return device;
            };
        }",
    )
    .expect("wrapped");
}

#[wasm_bindgen_test]
async fn field_7h4_a_lost_device_is_told_and_its_successor_draws_the_same() {
    keep_devices();
    let mut s = Stage::new(64, 64, 1.5).await;
    let text = s.run("Hi █ \u{4e00}\u{4e01}", TextStyle::ui(14.0, 20.0), (2.0, 2.0), INK);
    let picture = Item::Image(Image { id: ImageId(1), rect: Rect::new(2.0, 30.0, 8.0, 8.0) });
    s.compositor.put_picture(ImageId(1), 1, 1, vec![0, 128, 0, 255]).expect("taken");
    let border = Border { width: 1.0, color: RED };
    let quad = Quad { rect: Rect::new(20.0, 26.0, 16.0, 12.0), radii: 4.0.into(), border, ..Quad::default() };
    let list = frame(ALL, [text, picture, Item::Quad(quad)]);
    let before = s.show(&list);
    assert!(before.count(PAPER) < 64 * 64 - 300, "something is there to be lost");

    js_sys::eval("globalThis.devices.at(-1).destroy()").expect("destroyed");
    let words = (&mut s.lost).await.expect("the loss is told");
    assert!(words.contains("Destroyed"), "{words}");
    assert!(s.gpu.is_lost());
    assert!(!s.compositor.render(&mut s.gpu, &list, &mut s.text, &mut s.raster), "no frame, no panic");

    (s.gpu, s.lost) = gpu(&s.canvas).await;
    s.compositor.rebuild(&s.gpu);
    let (shaped, after) = (s.text.shaped(), s.show(&list));
    assert!(before == after, "the same pixels");
    assert_eq!(s.text.shaped(), shaped, "nothing was shaped again");
}
