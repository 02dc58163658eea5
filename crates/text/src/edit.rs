//! The model of an editable field: text, selection, composition, undo.
//!
//! The field's truth is here, not in the browser: an input driver sends deltas in UTF-16
//! offsets and is told the result. Every operation ends on character boundaries, whatever it
//! was given.

use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Longest text of a field, in bytes (engine.md §2.12: a plain draft).
pub const TEXT_MAX: usize = 1 << 20;
/// Undo steps kept.
pub const UNDO_MAX: usize = 512;

/// What made a change, for undo: changes of one run are taken back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    Typing,
    Deleting,
    Composing,
    Single,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    at: usize,
    removed: String,
    inserted: String,
    before: (usize, usize),
    after: (usize, usize),
    run: Run,
}

/// How far a motion or a deletion goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One grapheme cluster.
    Grapheme,
    /// To the edge of a word.
    Word,
    /// To the edge of the line (between newlines).
    Line,
    /// To the edge of the text.
    All,
}

/// An editable text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditBuffer {
    text: String,
    anchor: usize,
    focus: usize,
    composing: Option<Range<usize>>,
    undo: Vec<Change>,
    redo: Vec<Change>,
    sealed: bool,
    revision: u64,
}

/// Byte offset of a UTF-16 offset; inside a surrogate pair or past the end it moves to a
/// character boundary.
#[must_use]
pub fn byte_of_utf16(text: &str, utf16: u32) -> usize {
    if text.is_ascii() {
        return (utf16 as usize).min(text.len());
    }
    let mut units = 0;
    for (i, c) in text.char_indices() {
        if units >= utf16 {
            return i;
        }
        units += if c.len_utf16() == 2 { 2 } else { 1 };
    }
    text.len()
}

/// UTF-16 offset of a byte offset.
#[must_use]
pub fn utf16_of_byte(text: &str, byte: usize) -> u32 {
    let part = text.get(..byte).unwrap_or(text);
    let n = if part.is_ascii() { part.len() } else { part.encode_utf16().count() };
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl EditBuffer {
    /// A field with this text, the caret at its end, nothing to undo.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut b = Self::default();
        b.reset(text);
        b
    }
    /// Replaces everything and forgets the past: another draft was loaded.
    pub fn reset(&mut self, text: &str) {
        let end = floor(text, text.len().min(TEXT_MAX));
        let revision = self.revision + 1;
        *self = Self { text: text[..end].to_owned(), anchor: end, focus: end, revision, ..Self::default() };
    }
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
    /// Rises with every change of the text.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }
    /// Where the selection began and where the caret is.
    #[must_use]
    pub fn selection(&self) -> (usize, usize) {
        (self.anchor, self.focus)
    }
    /// The selection in order.
    #[must_use]
    pub fn selected(&self) -> Range<usize> {
        self.anchor.min(self.focus)..self.anchor.max(self.focus)
    }
    /// The selected text.
    #[must_use]
    pub fn selected_text(&self) -> &str {
        &self.text[self.selected()]
    }
    /// The caret.
    #[must_use]
    pub fn caret(&self) -> usize {
        self.focus
    }
    /// The composing (preedit) range.
    #[must_use]
    pub fn composing(&self) -> Option<Range<usize>> {
        self.composing.clone()
    }
    /// The selection in UTF-16 offsets.
    #[must_use]
    pub fn selection_utf16(&self) -> (u32, u32) {
        (utf16_of_byte(&self.text, self.anchor), utf16_of_byte(&self.text, self.focus))
    }

    /// Selects; offsets move to character boundaries. Ends the run of typing.
    pub fn select(&mut self, anchor: usize, focus: usize) {
        (self.anchor, self.focus) = (floor(&self.text, anchor), floor(&self.text, focus));
        self.sealed = true;
    }
    /// Selects everything.
    pub fn select_all(&mut self) {
        self.select(0, self.text.len());
    }
    /// Selects the word around `byte`.
    pub fn select_word(&mut self, byte: usize) {
        let byte = floor(&self.text, byte);
        let mut hit = byte..byte;
        for (i, w) in self.text.split_word_bound_indices() {
            if i <= byte {
                hit = i..i + w.len();
            }
        }
        self.select(hit.start, hit.end);
    }
    /// Selects the line around `byte`, its newline included.
    pub fn select_line(&mut self, byte: usize) {
        let byte = floor(&self.text, byte);
        let start = self.text[..byte].rfind('\n').map_or(0, |i| i + 1);
        let end = self.text[byte..].find('\n').map_or(self.text.len(), |i| byte + i + 1);
        self.select(start, end);
    }

    /// A delta from the input driver, in UTF-16 offsets of the text before it; `selection` is
    /// where the driver has the selection afterwards.
    pub fn apply_utf16(&mut self, range: Range<u32>, text: &str, selection: (u32, u32), composing: bool) {
        let (a, b) = (byte_of_utf16(&self.text, range.start), byte_of_utf16(&self.text, range.end));
        let run = match (composing, text.is_empty()) {
            (true, _) => Run::Composing,
            (_, true) => Run::Deleting,
            _ => Run::Typing,
        };
        self.splice(a.min(b)..a.max(b), text, run);
        let at = |u| byte_of_utf16(&self.text, u);
        (self.anchor, self.focus) = (at(selection.0), at(selection.1));
        if let Some(c) = self.undo.last_mut() {
            c.after = (self.anchor, self.focus);
        }
    }
    /// The composing range, in UTF-16 offsets; `None` ends the composition.
    pub fn set_composing(&mut self, range: Option<Range<u32>>) {
        self.composing = range
            .map(|r| byte_of_utf16(&self.text, r.start)..byte_of_utf16(&self.text, r.end))
            .filter(|r| r.start < r.end);
        if self.composing.is_none() {
            self.sealed = true;
        }
    }

    /// Replaces the selection by typed text.
    pub fn insert(&mut self, text: &str) {
        self.splice(self.selected(), text, Run::Typing);
    }
    /// Replaces the selection by pasted text: one step of undo, CRLF and CR become LF.
    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        self.splice(self.selected(), &text, Run::Single);
    }
    /// Replaces a range of bytes as one step of undo; the caret goes behind it.
    pub fn replace(&mut self, range: Range<usize>, text: &str) {
        self.splice(range, text, Run::Single);
    }
    /// Takes the selection out and returns it.
    pub fn cut(&mut self) -> String {
        let out = self.selected_text().to_owned();
        self.splice(self.selected(), "", Run::Single);
        out
    }

    /// Deletes the selection, or `unit` before the caret (decision 12 for a grapheme).
    pub fn delete_back(&mut self, unit: Unit) {
        let r = self.selected();
        let r = if r.is_empty() { self.back(r.start, unit, true)..r.end } else { r };
        self.splice(r, "", Run::Deleting);
    }
    /// Deletes the selection, or `unit` after the caret.
    pub fn delete_forward(&mut self, unit: Unit) {
        let r = self.selected();
        let r = if r.is_empty() { r.start..self.forward(r.end, unit) } else { r };
        self.splice(r, "", Run::Deleting);
    }
    /// Moves the caret back by `unit`; without `extend` a selection collapses to its start.
    pub fn move_back(&mut self, unit: Unit, extend: bool) {
        let r = self.selected();
        let to = if !extend && !r.is_empty() && unit == Unit::Grapheme {
            r.start
        } else {
            self.back(self.focus, unit, false)
        };
        self.move_to(to, extend);
    }
    /// Moves the caret forward by `unit`; without `extend` a selection collapses to its end.
    pub fn move_forward(&mut self, unit: Unit, extend: bool) {
        let r = self.selected();
        let to =
            if !extend && !r.is_empty() && unit == Unit::Grapheme { r.end } else { self.forward(self.focus, unit) };
        self.move_to(to, extend);
    }
    /// Moves the caret to a byte.
    pub fn move_to(&mut self, byte: usize, extend: bool) {
        self.select(if extend { self.anchor } else { byte }, byte);
    }

    fn back(&self, from: usize, unit: Unit, deleting: bool) -> usize {
        let head = &self.text[..from];
        match unit {
            Unit::Grapheme => match head.grapheme_indices(true).next_back() {
                Some((_, g)) if deleting && g.chars().all(by_code_point) => {
                    from - g.chars().next_back().map_or(0, char::len_utf8)
                }
                Some((i, _)) => i,
                None => 0,
            },
            Unit::Word => {
                let words = head.split_word_bound_indices().rev();
                words.skip_while(|(_, w)| w.trim().is_empty()).map(|(i, _)| i).next().unwrap_or(0)
            }
            Unit::Line => head.rfind('\n').map_or(0, |i| i + 1),
            Unit::All => 0,
        }
    }
    fn forward(&self, from: usize, unit: Unit) -> usize {
        let tail = &self.text[from..];
        from + match unit {
            Unit::Grapheme => tail.graphemes(true).next().map_or(0, str::len),
            Unit::Word => {
                let words = tail.split_word_bound_indices();
                words.skip_while(|(_, w)| w.trim().is_empty()).map(|(i, w)| i + w.len()).next().unwrap_or(tail.len())
            }
            Unit::Line => tail.find('\n').unwrap_or(tail.len()),
            Unit::All => tail.len(),
        }
    }

    fn splice(&mut self, range: Range<usize>, text: &str, run: Run) {
        let (start, end) = (floor(&self.text, range.start), floor(&self.text, range.end.max(range.start)));
        let room = TEXT_MAX - (self.text.len() - (end - start)).min(TEXT_MAX);
        let text = &text[..floor(text, text.len().min(room))];
        if start == end && text.is_empty() {
            return;
        }
        let before = (self.anchor, self.focus);
        let removed = self.text[start..end].to_owned();
        self.text.replace_range(start..end, text);
        (self.anchor, self.focus) = (start + text.len(), start + text.len());
        self.revision += 1;
        self.redo.clear();
        self.composing = None;
        let after = (self.anchor, self.focus);
        let sealed = std::mem::take(&mut self.sealed);
        if let Some(last) = self.undo.last_mut().filter(|l| !sealed && l.run == run) {
            let joined = match run {
                // A word and the blank after it are one step.
                Run::Typing => {
                    removed.is_empty()
                        && start == last.at + last.inserted.len()
                        && (text.starts_with(char::is_whitespace) || !last.inserted.ends_with(char::is_whitespace))
                        && text.chars().count() <= 2
                }
                Run::Deleting => text.is_empty() && last.inserted.is_empty() && (end == last.at || start == last.at),
                Run::Composing => start == last.at && removed == last.inserted,
                Run::Single => false,
            };
            if joined {
                match run {
                    Run::Typing => last.inserted.push_str(text),
                    Run::Deleting if end == last.at => {
                        last.removed.insert_str(0, &removed);
                        last.at = start;
                    }
                    Run::Deleting => last.removed.push_str(&removed),
                    _ => last.inserted = text.to_owned(),
                }
                last.after = after;
                return;
            }
        }
        if self.undo.len() == UNDO_MAX {
            self.undo.remove(0);
        }
        self.undo.push(Change { at: start, removed, inserted: text.to_owned(), before, after, run });
    }

    /// Takes the last step back. Ends a composition. False when there is nothing.
    pub fn undo(&mut self) -> bool {
        let Some(c) = self.undo.pop() else { return false };
        self.text.replace_range(c.at..c.at + c.inserted.len(), &c.removed);
        (self.anchor, self.focus) = c.before;
        self.redo.push(c);
        self.changed();
        true
    }
    /// Does the last undone step again. False when there is nothing.
    pub fn redo(&mut self) -> bool {
        let Some(c) = self.redo.pop() else { return false };
        self.text.replace_range(c.at..c.at + c.removed.len(), &c.inserted);
        (self.anchor, self.focus) = c.after;
        self.undo.push(c);
        self.changed();
        true
    }
    fn changed(&mut self) {
        self.revision += 1;
        self.composing = None;
        self.sealed = true;
    }
}

fn floor(text: &str, mut i: usize) -> usize {
    i = i.min(text.len());
    while !text.is_char_boundary(i) {
        i -= 1;
    }
    i
}

/// Scripts where Backspace takes one code point (decision 12): Indic, Thai, Lao, Tibetan,
/// Myanmar, Khmer.
fn by_code_point(c: char) -> bool {
    matches!(u32::from(c), 0x0900..=0x0dff | 0x0e00..=0x0fff | 0x1000..=0x109f | 0x1780..=0x17ff)
}

#[cfg(test)]
mod tests;
