use super::*;

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
