use super::*;
use proptest::prelude::*;

/// Runs a key script. `#[` and `|]#` mark the selection, the caret at the bar.
fn check(before: &str, keys: &str, after: &str) {
    let mut b = parse(before);
    for k in keys.split_whitespace() {
        press(&mut b, k);
    }
    assert_eq!(show(&b), after, "{before:?} {keys}");
}

fn parse(s: &str) -> EditBuffer {
    let a = s.find("#[").expect("#[");
    let rest = s.replacen("#[", "", 1);
    let f = rest.find("|]#").expect("|]#");
    let mut b = EditBuffer::new(&rest.replacen("|]#", "", 1));
    b.select(a, f);
    b
}

fn show(b: &EditBuffer) -> String {
    let r = b.selected();
    format!("{}#[{}|]#{}", &b.text()[..r.start], &b.text()[r.clone()], &b.text()[r.end..])
}

fn press(b: &mut EditBuffer, k: &str) {
    match k {
        "<bs>" => b.delete_back(Unit::Grapheme),
        "<c-bs>" => b.delete_back(Unit::Word),
        "<del>" => b.delete_forward(Unit::Grapheme),
        "<c-del>" => b.delete_forward(Unit::Word),
        "<left>" => b.move_back(Unit::Grapheme, false),
        "<right>" => b.move_forward(Unit::Grapheme, false),
        "<c-left>" => b.move_back(Unit::Word, false),
        "<c-right>" => b.move_forward(Unit::Word, false),
        "<s-left>" => b.move_back(Unit::Grapheme, true),
        "<s-c-right>" => b.move_forward(Unit::Word, true),
        "<home>" => b.move_back(Unit::Line, false),
        "<s-end>" => b.move_forward(Unit::Line, true),
        "<c-a>" => b.select_all(),
        "<undo>" => drop(b.undo()),
        "<redo>" => drop(b.redo()),
        "<space>" => b.insert(" "),
        text => text.chars().for_each(|c| b.insert(c.encode_utf8(&mut [0; 4]))),
    }
}

#[test]
fn key_scripts() {
    check("#[|]#", "hi", "hi#[|]#");
    check("one two#[|]#", "<c-bs>", "one #[|]#");
    check("one two #[|]#", "<c-bs>", "one #[|]#");
    check("#[|]#one two", "<c-del>", "#[|]# two");
    check("one#[|]# two", "<c-right> x", "one twox#[|]#");
    check("a\nbc#[|]#", "<home> x", "a\nxbc#[|]#".replace("xbc#[|]#", "x#[|]#bc").as_str());
    check("#[abc|]#", "<left>", "#[|]#abc");
    check("#[abc|]#", "<right>", "abc#[|]#");
    check("#[abc|]#", "x", "x#[|]#");
    check("ab#[|]#", "<s-left> <s-left> <del>", "#[|]#");
    check("x👨\u{200d}👩\u{200d}👧#[|]#", "<bs>", "x#[|]#");
    check("e\u{301}#[|]#", "<bs>", "#[|]#");
    check("नि#[|]#", "<bs>", "न#[|]#");
    check("กำ#[|]#", "<bs>", "ก#[|]#");
    check("one two#[|]#", "<c-a> <bs> <undo>", "#[one two|]#");
}

#[test]
fn typing_is_undone_a_word_at_a_time() {
    check("#[|]#", "one <space> two <undo>", "one #[|]#");
    check("#[|]#", "one <space> two <undo> <undo>", "#[|]#");
    check("#[|]#", "one <space> two <undo> <undo> <redo> <redo>", "one two#[|]#");
    check("#[|]#", "abc <left> x <undo>", "ab#[|]#c");
    check("abc#[|]#", "<bs> <bs> <undo>", "abc#[|]#");
}

#[test]
fn field_7h2_paste_is_one_step_with_unix_lines() {
    let mut b = EditBuffer::new("x");
    b.paste("a\r\nb\rc");
    assert_eq!(b.text(), "xa\nb\nc");
    b.undo();
    assert_eq!(b.text(), "x");
    b.paste(&"y".repeat(200_000));
    assert_eq!(b.text().len(), 200_001);
}

#[test]
fn field_7h1_composition_is_one_step_and_dies_with_its_range() {
    let mut b = EditBuffer::new("a ");
    for (r, t) in [(2..2, "m"), (2..3, "み"), (2..3, "みな"), (2..4, "みなと")] {
        let end = 2 + u32::try_from(t.chars().count()).expect("small");
        b.apply_utf16(r, t, (end, end), true);
        b.set_composing(Some(2..end));
    }
    assert_eq!(b.composing(), Some(2..11));
    b.apply_utf16(2..5, "港", (3, 3), true);
    b.set_composing(None);
    assert_eq!((b.text(), b.composing()), ("a 港", None));
    b.undo();
    assert_eq!(b.text(), "a ");
}

#[test]
fn text_is_bounded() {
    let mut b = EditBuffer::new(&"é".repeat(TEXT_MAX));
    assert_eq!(b.text().len(), TEXT_MAX);
    b.insert("é");
    assert_eq!(b.text().len(), TEXT_MAX);
    b.move_back(Unit::Grapheme, false);
    b.delete_forward(Unit::All);
    b.insert("xyz");
    assert_eq!(b.text().len(), TEXT_MAX, "only what fits");
}

#[test]
fn words_and_lines_are_selected_by_clicks() {
    let mut b = EditBuffer::new("one two\nthree");
    b.select_word(5);
    assert_eq!(b.selected_text(), "two");
    b.select_line(5);
    assert_eq!(b.selected_text(), "one two\n");
}

proptest! {
    #[test]
    fn any_edits_keep_boundaries_and_undo_leads_back(
        start in "[a-z é日🌊\u{301}\n]{0,12}",
        ops in prop::collection::vec((0..10_u8, 0..40_u32, 0..40_u32, "[a-z é日🌊\u{301}\n]{0,4}"), 0..40),
    ) {
        let mut b = EditBuffer::new(&start);
        for (op, i, j, t) in &ops {
            match op {
                0 => b.apply_utf16(*i..*j, t, (*i, *j), false),
                1 => b.apply_utf16(*i..*j, t, (*j, *j), true),
                2 => b.set_composing(Some(*i..*j)),
                3 => b.delete_back(Unit::Grapheme),
                4 => b.delete_forward(Unit::Word),
                5 => b.select(*i as usize, *j as usize),
                6 => b.insert(t),
                7 => b.paste(t),
                8 => drop(b.undo()),
                _ => drop(b.redo()),
            }
            let r = b.selected();
            prop_assert!(b.text().is_char_boundary(r.start) && b.text().is_char_boundary(r.end));
            if let Some(c) = b.composing() {
                prop_assert!(b.text().get(c).is_some());
            }
        }
        while b.undo() {}
        prop_assert_eq!(b.text(), start);
    }
}
