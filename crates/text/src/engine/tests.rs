use super::*;
use scene::Point;

/// Every cell is one em wide, as CJK is.
struct Em;
impl FallbackMeasure for Em {
    fn advance(&mut self, cluster: &str, size: f32, _: bool) -> f32 {
        use unicode_segmentation::UnicodeSegmentation;
        cluster.graphemes(true).count() as f32 * size
    }
}

fn engine() -> TextEngine {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || std::path::PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
        Into::into,
    );
    let dirs = [
        std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/fonts")),
        cache.join("webgpu-os/fonts"),
    ];
    let read = |name: &str| {
        dirs.iter()
            .find_map(|d| std::fs::read(d.join(name)).ok())
            .unwrap_or_else(|| panic!("the font {name} is not in web/fonts: run `cargo xtask assets` to fetch it"))
    };
    let fonts = ["Inter-Regular.ttf", "Inter-SemiBold.ttf", "JetBrainsMono-Regular.ttf"].map(read).into();
    TextEngine::new(fonts, Box::new(Em)).expect("fonts")
}

fn spec(text: &str, width: Option<f32>) -> BlockSpec<'_> {
    BlockSpec { text, style: TextStyle::ui(16.0, 24.0), spans: &[], width, wrap: Wrap::Word }
}

#[test]
fn equal_text_is_shaped_once() {
    let mut e = engine();
    let a = e.block(&spec("hello", None));
    let b = e.block(&spec("hello", None));
    assert_eq!((a, e.shaped()), (b, 1));
    assert_ne!(a, e.block(&spec("hello", Some(20.0))));
}

#[test]
fn two_texts_of_one_hash_keep_apart_and_a_number_is_never_used_again() {
    let mut e = engine();
    let (shown, meant) = (spec("rm notes.txt", None), spec("rm -rf /", None));
    let a = e.block_at(7, &shown);
    let b = e.block_at(7, &meant);
    assert_ne!(a, b);
    assert_eq!((e.block_at(7, &shown), e.block_at(7, &meant), e.shaped()), (a, b, 2));
    e.set_scale(2.0);
    let again = e.block_at(7, &meant);
    assert!(again != a && again != b);
    assert_eq!(e.size(a), Size::default(), "an old number names nothing");
}

#[test]
fn blocks_leave_once_there_are_too_many_and_nobody_used_them() {
    let mut e = engine();
    let kept = e.block(&spec("kept", None));
    let first = e.block(&spec("0", None));
    for i in 1..=BLOCKS_MAX {
        e.block(&spec(&i.to_string(), None));
    }
    for _ in 0..=KEEP_FRAMES {
        e.begin_frame();
        assert_eq!(e.block(&spec("kept", None)), kept);
    }
    assert_eq!((e.blocks.len(), e.index.len()), (1, 1));
    assert_eq!(e.size(first), Size::default());
    assert_eq!(e.size(kept).h, 24.0);
}

#[test]
fn caret_and_hit_agree_at_every_grapheme() {
    use unicode_segmentation::UnicodeSegmentation;
    let mut e = engine();
    for scale in [1.0, 1.25, 1.5, 2.0, 3.0] {
        e.set_scale(scale);
        for text in ["hello world", "naïve Ωμέγα", "日本語 text", "a👨\u{200d}👩\u{200d}👧b", "fi ffi"] {
            let id = e.block(&spec(text, None));
            for (i, _) in text.grapheme_indices(true) {
                let c = e.caret(id, i);
                assert_eq!(e.hit(id, Point::new(c.x + 0.3, c.y + 2.0)), i, "{text:?} at {i}, scale {scale}");
            }
            let end = e.caret(id, text.len());
            assert!((end.x - e.size(id).w).abs() < 1.0, "{text:?}");
        }
    }
}

#[test]
fn cells_keep_the_measured_room_and_wrap_between() {
    let mut e = engine();
    let id = e.block(&spec("日本語日本語", Some(50.0)));
    let cells = e.cells(id);
    assert_eq!(cells.iter().map(|c| c.text.as_str()).collect::<String>(), "日本語日本語");
    assert!(cells.iter().all(|c| (c.rect.w - 16.0).abs() < 0.2), "{cells:?}");
    assert_eq!(e.size(id).h, 48.0, "three to a line");
    let mut glyphs = 0;
    e.glyphs(id, (0.0, 0.0), |_| glyphs += 1);
    assert_eq!(glyphs, 0, "placeholders are not drawn");
}

#[test]
fn words_that_run_right_to_left_are_ordered_so() {
    let mut e = engine();
    let id = e.block(&spec("سلام دنيا", None));
    let cells = e.cells(id);
    let x = |t: &str| cells.iter().find(|c| c.text == t).map(|c| c.rect.x).expect("cell");
    assert!(x("سلام") > x("دنيا"), "the first word stands right");
}

/// Where each cell stands, left to right, line by line.
fn lines(e: &TextEngine, id: BlockId) -> Vec<String> {
    let mut out: Vec<(f32, Vec<(f32, String)>)> = Vec::new();
    for c in e.cells(id) {
        match out.last_mut().filter(|l| l.0 == c.rect.y) {
            Some(l) => l.1.push((c.rect.x, c.text)),
            None => out.push((c.rect.y, vec![(c.rect.x, c.text)])),
        }
    }
    let sorted = |mut l: Vec<(f32, String)>| {
        l.sort_by(|a, b| a.0.total_cmp(&b.0));
        l.into_iter().map(|c| c.1).collect()
    };
    out.into_iter().map(|l| sorted(l.1)).collect()
}

#[test]
fn the_first_strong_letter_sets_the_direction_of_a_paragraph() {
    let mut e = engine();
    for (text, width) in [("ไทย שלום", 300.0), ("日本 שלום", 300.0), ("हिन्दी שלום", 300.0)]
    {
        let id = e.block(&spec(text, Some(width)));
        assert_eq!(e.caret(id, 0).x, 0.0, "{text} starts left");
    }
    let id = e.block(&spec("שלום 日本", Some(300.0)));
    assert!(e.caret(id, 0).x > 280.0, "and this one right");
}

#[test]
fn lines_break_in_scripts_without_spaces_and_keep_marks_off_their_start() {
    let mut e = engine();
    let id = e.block(&spec("ภาษาไทยเขียนติดกัน", Some(80.0)));
    assert!(e.size(id).w <= 80.5 && e.size(id).h > 24.0, "{:?}", e.size(id));
    let id = e.block(&spec("日本語。日本「語」", Some(50.0)));
    assert_eq!(lines(&e, id), ["日本", "語。日", "本", "「語」"].map(String::from));
}

#[test]
fn cells_keep_their_room_in_every_style_and_at_every_scale() {
    let mut e = engine();
    for scale in [1.0, 1.25, 3.0] {
        e.set_scale(scale);
        for (style, text) in [TextStyle::ui(16.0, 24.0), TextStyle::mono(16.0, 24.0)]
            .into_iter()
            .flat_map(|s| [s, s.weight(600), s.weight(700), TextStyle { italic: true, ..s }])
            .flat_map(|s| ["日。👍ש", "a日b"].map(|t| (s, t)))
        {
            let id = e.block(&BlockSpec { style, ..spec(text, None) });
            for c in e.cells(id) {
                assert!((c.rect.w - 16.0).abs() < 0.1, "{style:?} at {scale}: {c:?}");
            }
        }
    }
}

#[test]
fn no_font_has_a_placeholder_and_none_shows_a_box() {
    let mut e = engine();
    for c in ['\u{fffc}', '\u{5d0}', '\u{621}', '\u{4e00}', '\u{13a0}'] {
        assert!(!e.has(Family::Ui, &c.to_string()), "U+{:04X} is drawn", u32::from(c));
    }
    // What one bundled font lacks and the other has is drawn by the other, bold and slanted too.
    // Control characters do show one: they are there, and nobody typed them.
    let known = (0x20..0x2800)
        .filter_map(char::from_u32)
        .filter(|c| !c.is_control())
        .map(String::from)
        .filter(|c| e.has(Family::Ui, c));
    let marks = ["e\u{301}", "q\u{32c}", "─\u{301}", "ẽ\u{332}", "Ω\u{313}"].map(String::from);
    let clusters: Vec<String> = known.chain(marks).collect();
    for style in [TextStyle::ui(16.0, 24.0), TextStyle::mono(16.0, 24.0)] {
        for style in [style, style.weight(600), TextStyle { italic: true, ..style }] {
            for cluster in &clusters {
                let id = e.block(&BlockSpec { style, ..spec(cluster, None) });
                e.glyphs(id, (0.0, 0.0), |g| {
                    assert_ne!(g.key.glyph_id, 0, "{} in {style:?}", cluster.escape_unicode())
                });
            }
        }
    }
}

#[test]
fn text_is_shown_as_it_was_written() {
    let mut e = engine();
    for style in [TextStyle::ui(16.0, 24.0), TextStyle::mono(16.0, 24.0)] {
        for (pair, left, right) in [("!=", "!", "="), ("->", "-", ">"), ("=>", "=", ">"), ("fi", "f", "i")] {
            let mut glyphs = |text: &str| {
                let id = e.block(&BlockSpec { style, ..spec(text, None) });
                let mut out = Vec::new();
                e.glyphs(id, (0.0, 0.0), |g| out.push(g.key.glyph_id));
                out
            };
            assert_eq!(glyphs(pair), [glyphs(left), glyphs(right)].concat(), "{pair} in {:?}", style.family);
        }
    }
}

#[test]
fn the_end_of_a_wrapped_line_is_on_that_line() {
    let mut e = engine();
    let text = "alpha beta gamma";
    let id = e.block(&spec(text, Some(60.0)));
    let far = Point::new(500.0, 2.0);
    assert_eq!(e.hit(id, far), 5, "before the blank");
    assert_eq!(e.line_bounds(id, 2), 0..5);
    assert_eq!(e.caret(id, 5).y, 0.0);
    assert_eq!(e.caret(id, 6).y, 24.0);
    // Without a blank the same byte has two places.
    let id = e.block(&spec("日本語日本語", Some(50.0)));
    let end = e.hit_at(id, far);
    assert_eq!(end, Hit { byte: 9, affinity: Affinity::Before });
    let (upper, lower) = (e.caret_at(id, end), e.caret(id, 9));
    assert_eq!((upper.y, lower.y, lower.x), (0.0, 24.0, 0.0));
    assert!((upper.x - 48.0).abs() < 0.5, "{upper:?}");
    assert_eq!(e.hit_at(id, Point::new(500.0, 30.0)), Hit { byte: 18, affinity: Affinity::After });
}

#[test]
fn vertical_motion_keeps_the_column_and_ends_at_the_edges() {
    let mut e = engine();
    let id = e.block(&spec("first line\nsecond line\nx", None));
    let x = e.caret(id, 5).x;
    let down = e.vertical(id, 5, x, true).expect("second line");
    assert!((14..=16).contains(&down), "{down}");
    assert_eq!(e.vertical(id, down, x, true), Some(24));
    assert_eq!(e.vertical(id, 24, x, true), None);
    assert_eq!(e.vertical(id, 5, x, false), None);
}

#[test]
fn a_range_over_an_empty_line_is_seen() {
    let mut e = engine();
    let id = e.block(&spec("a\n\nb", None));
    assert_eq!(e.ranges(id, 0..4).len(), 3);
}

#[test]
fn ellipsis_keeps_one_line_within_the_width() {
    let mut e = engine();
    let id = e.block(&BlockSpec { wrap: Wrap::Ellipsis, ..spec("a rather long title of a row", Some(80.0)) });
    assert!(e.size(id).w <= 81.0 && e.size(id).h == 24.0, "{:?}", e.size(id));
}

#[test]
fn empty_text_has_a_line_and_a_caret() {
    let mut e = engine();
    let id = e.block(&spec("", None));
    assert_eq!(e.size(id).h, 24.0);
    assert_eq!(e.caret(id, 0).h, 24.0);
    assert_eq!(e.hit(id, Point::new(50.0, 50.0)), 0);
}
