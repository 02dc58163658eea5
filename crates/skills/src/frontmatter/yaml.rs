//! The YAML of decision 15 as a tree with positions.
//!
//! saphyr's events carry line and column, and reading them (instead of a ready-made tree) shows
//! every construct that the subset leaves out. Such a construct is an [`Issue`]: the tree is made
//! all the same, so that the lenient reader sees what the portable one refuses. Nothing is typed:
//! `123`, `true` and `~` are texts. Aliases are never expanded.

use crate::diagnostic::Feature;
use crate::packages::bounds::{DEPTH_MAX, DIAGNOSTICS_MAX, NODES_MAX};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

/// A place in the text given: line from 1, column in code points from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 0.
    pub column: usize,
}

impl From<Marker> for Mark {
    fn from(m: Marker) -> Self {
        Self { line: m.line(), column: m.col() }
    }
}

/// How a text was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// `'…'`.
    Single,
    /// `"…"`; escapes may name characters that the file does not show.
    Double,
    /// `|` or `>`.
    Block,
}

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where.
    pub at: Mark,
    /// What.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(String, Style),
    /// Keys in the order of the file; a key may stand twice.
    Map(Vec<(Key, Node)>),
    /// Items.
    List(Vec<Node>),
    /// Something that is not looked into: an alias, or what lies too deep.
    Opaque,
}

/// A key and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Where.
    pub at: Mark,
    /// Its text.
    pub text: String,
}

/// A construct outside the subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Which.
    pub feature: Feature,
    /// Where.
    pub at: Mark,
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The tree; `None` when there is nothing but blanks and comments.
    pub root: Option<Node>,
    /// Constructs outside the subset, in the order of the file; at most [`DIAGNOSTICS_MAX`].
    pub issues: Vec<Issue>,
    /// Where a `#` after a blank ends a plain text early.
    pub comments: Vec<Mark>,
}

/// Why there is no tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The construct.
    pub feature: Feature,
    /// An escape names half of a surrogate pair, or no character at all.
    pub bad_escape: bool,
    /// Where.
    pub at: Mark,
    /// The parser's own words, for what has no better ones.
    pub words: String,
}

impl Fault {
    fn new(feature: Feature, at: Mark) -> Self {
        Self { feature, bad_escape: false, at, words: String::new() }
    }
}

/// The lines of a text: they end in LF, CRLF or a lone CR, as the parser counts them.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    let (mut out, mut from) = (vec![], 0);
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'\n' if text[..i].ends_with('\r') => from = i + 1,
            b'\n' | b'\r' => {
                out.push(&text[from..i]);
                from = i + 1;
            }
            _ => {}
        }
    }
    out.push(&text[from..]);
    out
}

/// The source by line, for looking at what stands around an event.
struct Source<'a>(Vec<&'a str>);

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Self {
        Self(lines(text))
    }
    fn line(&self, line: usize) -> &'a str {
        self.0.get(line.wrapping_sub(1)).copied().unwrap_or("")
    }
    /// What stands on the line before the mark, and from it on.
    fn around(&self, at: Mark) -> (&'a str, &'a str) {
        let line = self.line(at.line);
        let byte = line.char_indices().nth(at.column).map_or(line.len(), |(i, _)| i);
        line.split_at(byte)
    }
    /// Past the quote that closes the one at `start`; an event's own end lies after the blanks and
    /// the comment that follow.
    fn closing(&self, start: Mark) -> Mark {
        let double = self.around(start).1.starts_with('"');
        let (mut skip, mut column) = (true, start.column);
        let mut text = self.around(start).1;
        let mut line = start.line;
        loop {
            let mut chars = text.chars().peekable();
            while let Some(c) = chars.next() {
                column += 1;
                let doubled = !double && c == '\'' && chars.peek() == Some(&'\'');
                if std::mem::take(&mut skip) {
                    continue;
                }
                match c {
                    '\\' if double => skip = true,
                    '\'' if doubled => skip = true,
                    '"' if double => return Mark { line, column },
                    '\'' if !double => return Mark { line, column },
                    _ => {}
                }
            }
            if line >= self.0.len() {
                return Mark { line, column };
            }
            (line, column, skip) = (line + 1, 0, false);
            text = self.line(line);
        }
    }
    /// An error at the end of the text belongs to the last line that holds something.
    fn inside(&self, at: Mark) -> Mark {
        if at.line <= self.0.len() && (at.line < self.0.len() || !self.line(at.line).is_empty()) {
            return Mark { line: at.line.max(1), column: at.column.min(self.line(at.line).chars().count()) };
        }
        let last = self.0.iter().rposition(|l| !l.trim().is_empty()).unwrap_or(0);
        let indent = self.line(last + 1).chars().take_while(|c| c.is_whitespace()).count();
        Mark { line: last + 1, column: indent }
    }
}

/// What saphyr's message says in our terms. A message that is not known stays `Syntax` with its
/// own words, so a newer parser can only make a sentence plainer, never a verdict wrong.
fn fault_of(e: &ScanError, source: &Source<'_>) -> Fault {
    let info = e.info();
    let has = |s: &str| info.contains(s);
    let feature = if has("mapping values are not allowed") {
        Feature::ColonInValue
    } else if has("unknown anchor") {
        Feature::Alias
    } else if has("unexpected character") || has("sequence entries are not allowed") || has("misplaced bracket") {
        Feature::ReservedStart
    } else if has("tab") && !has("whitespace or line break") {
        Feature::TabIndentation
    } else if has("recursion limit") {
        Feature::Depth
    } else if has("directive") || has("<document start>") {
        Feature::Directive
    } else {
        Feature::Syntax
    };
    let at = source.inside(Mark::from(*e.marker()));
    // `key:<tab>value` is told as a missing blank, and a tab's place as the one after it: the tab
    // is what a person has to find.
    let tab_before = source.around(at).0.chars().position(|c| c == '\t').map(|column| Mark { column, ..at });
    let (feature, at) = match (feature, tab_before) {
        (Feature::TabIndentation, Some(tab)) => (feature, tab),
        (Feature::Syntax, Some(tab)) if source.around(at).0.ends_with(":\t") => (Feature::TabIndentation, tab),
        (f, _) => (f, at),
    };
    let bad_escape = has("Unicode character escape code");
    Fault { feature, bad_escape, at, words: info.to_owned() }
}

/// An open collection.
enum Open {
    Map { at: Mark, entries: Vec<(Key, Node)>, key: Option<Key>, skip_value: bool },
    List { at: Mark, items: Vec<Node> },
}

struct Reader<'a> {
    source: Source<'a>,
    stack: Vec<Open>,
    root: Option<Node>,
    issues: Vec<Issue>,
    comments: Vec<Mark>,
    /// Lines inside block scalars, whose leading tabs are content.
    block_lines: Vec<(usize, usize)>,
    /// Where quoted scalars begin and end.
    quoted: Vec<(Mark, Mark)>,
    nodes: usize,
    flow: usize,
    /// Collections below [`DEPTH_MAX`], which are counted and not kept.
    too_deep: usize,
    documents: usize,
}

/// Reads the text between the fences.
///
/// # Errors
/// [`Fault`] for the first thing that is not YAML, or goes beyond the caps.
pub fn read(text: &str) -> Result<Document, Fault> {
    let source = Source::new(text);
    // saphyr ends at a directive without a document; the person should read which line it was.
    let first = source.0.iter().position(|l| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
    if let Some(line) = first
        && source.line(line + 1).starts_with('%')
    {
        return Err(Fault::new(Feature::Directive, Mark { line: line + 1, column: 0 }));
    }
    let mut r = Reader {
        source,
        stack: vec![],
        root: None,
        issues: vec![],
        comments: vec![],
        block_lines: vec![],
        quoted: vec![],
        nodes: 0,
        flow: 0,
        too_deep: 0,
        documents: 0,
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| fault_of(&e, &r.source))?;
        r.take(&event, span.start.into(), span.end.into())?;
        if r.documents > 1 {
            break;
        }
    }
    r.tabs();
    r.issues.sort_by_key(|i| i.at);
    Ok(Document { root: r.root, issues: r.issues, comments: r.comments })
}

impl Reader<'_> {
    fn issue(&mut self, feature: Feature, at: Mark) {
        if self.issues.len() < DIAGNOSTICS_MAX {
            self.issues.push(Issue { feature, at });
        }
    }

    fn take(&mut self, event: &Event<'_>, start: Mark, end: Mark) -> Result<(), Fault> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd => {}
            Event::DocumentStart(explicit) => {
                self.documents += 1;
                if *explicit || self.documents > 1 {
                    self.issue(Feature::SecondDocument, start);
                }
            }
            Event::DocumentEnd => {
                if self.source.around(start).1.starts_with("...") {
                    self.issue(Feature::SecondDocument, start);
                }
            }
            Event::Alias(_) => {
                self.issue(Feature::Alias, start);
                self.put(Node { at: start, value: Value::Opaque })?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.marks(*anchor, tag.is_some(), start);
                self.scalar(text, *style, start, end)?;
            }
            Event::SequenceStart(anchor, tag) => {
                self.marks(*anchor, tag.is_some(), start);
                self.open(Open::List { at: start, items: vec![] }, start)?;
            }
            Event::MappingStart(anchor, tag) => {
                self.marks(*anchor, tag.is_some(), start);
                self.open(Open::Map { at: start, entries: vec![], key: None, skip_value: false }, start)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close()?,
        }
        Ok(())
    }

    fn marks(&mut self, anchor: usize, tag: bool, at: Mark) {
        if anchor > 0 {
            self.issue(Feature::Anchor, at);
        }
        if tag {
            self.issue(Feature::Tag, at);
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, start: Mark, end: Mark) -> Result<(), Fault> {
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
        };
        if style == Style::Block {
            self.block_lines.push((start.line, if end.column > 0 { end.line } else { end.line.saturating_sub(1) }));
        }
        if matches!(style, Style::Single | Style::Double) {
            self.quoted.push((start, self.source.closing(start)));
        }
        if style == Style::Plain && self.flow == 0 && !text.is_empty() && !self.wants_key() {
            let after = self.source.around(end).1;
            let blank = after.len() - after.trim_start_matches([' ', '\t']).len();
            if blank > 0 && after[blank..].starts_with('#') {
                self.comments.push(Mark { line: end.line, column: end.column + blank });
            }
        }
        if self.wants_key() {
            if text == "<<" && style == Style::Plain {
                self.issue(Feature::MergeKey, start);
            }
            if self.flow == 0 && self.source.around(start).0.contains('?') {
                self.issue(Feature::ComplexKey, start);
            }
        }
        self.put(Node { at: start, value: Value::Text(text.to_owned(), style) })
    }

    /// True where the next node is a key.
    fn wants_key(&self) -> bool {
        self.too_deep == 0 && matches!(self.stack.last(), Some(Open::Map { key: None, skip_value: false, .. }))
    }

    fn open(&mut self, open: Open, at: Mark) -> Result<(), Fault> {
        if self.flow > 0 || self.source.around(at).1.starts_with(['[', '{']) {
            if self.flow == 0 {
                self.issue(Feature::FlowCollection, at);
            }
            self.flow += 1;
        }
        if self.too_deep > 0 || self.stack.len() >= DEPTH_MAX {
            if self.too_deep == 0 {
                self.issue(Feature::Depth, at);
            }
            self.too_deep += 1;
            return Ok(());
        }
        self.count(at)?;
        self.stack.push(open);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Fault> {
        self.flow = self.flow.saturating_sub(1);
        if self.too_deep > 0 {
            self.too_deep -= 1;
            // What was too deep stands as one opaque value.
            if self.too_deep == 0 {
                let at = self.stack.last().map_or(Mark { line: 1, column: 0 }, |o| match o {
                    Open::Map { at, .. } | Open::List { at, .. } => *at,
                });
                return self.put(Node { at, value: Value::Opaque });
            }
            return Ok(());
        }
        match self.stack.pop() {
            Some(Open::Map { at, entries, .. }) => self.put(Node { at, value: Value::Map(entries) }),
            Some(Open::List { at, items }) => self.put(Node { at, value: Value::List(items) }),
            None => Ok(()),
        }
    }

    fn count(&mut self, at: Mark) -> Result<(), Fault> {
        self.nodes += 1;
        if self.nodes > NODES_MAX { Err(Fault::new(Feature::Depth, at)) } else { Ok(()) }
    }

    fn put(&mut self, node: Node) -> Result<(), Fault> {
        if self.too_deep > 0 {
            return Ok(());
        }
        self.count(node.at)?;
        let mut complex = None;
        match self.stack.last_mut() {
            None => self.root = self.root.take().or(Some(node)),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, key, skip_value, .. }) => {
                if *skip_value {
                    *skip_value = false;
                } else if let Some(key) = key.take() {
                    entries.push((key, node));
                } else {
                    match node.value {
                        Value::Text(text, _) => *key = Some(Key { at: node.at, text }),
                        _ => {
                            (complex, *skip_value) = (Some(node.at), true);
                        }
                    }
                }
            }
        }
        if let Some(at) = complex {
            self.issue(Feature::ComplexKey, at);
        }
        Ok(())
    }

    /// Tabs anywhere but in quotes, in block scalars and in comments: many readers take no other,
    /// and nobody sees where one stands.
    fn tabs(&mut self) {
        let mut found = vec![];
        for (i, line) in self.source.0.iter().enumerate().filter(|(_, l)| l.contains('\t')) {
            let n = i + 1;
            let content = self.block_lines.iter().any(|(first, last)| (*first..=*last).contains(&n));
            if content && line.starts_with(' ') {
                continue;
            }
            let mut before = ' ';
            for (column, c) in line.chars().enumerate() {
                let at = Mark { line: n, column };
                let quoted = matches!(c, '\t' | '#') && self.quoted.iter().any(|(from, to)| *from <= at && at < *to);
                if c == '#' && !quoted && matches!(before, ' ' | '\t') {
                    break;
                }
                if c == '\t' && !quoted {
                    found.push(at);
                    break;
                }
                before = c;
            }
        }
        for at in found {
            self.issue(Feature::TabIndentation, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issues(text: &str) -> Vec<(Feature, usize, usize)> {
        match read(text) {
            Ok(d) => d.issues.iter().map(|i| (i.feature, i.at.line, i.at.column)).collect(),
            Err(f) => vec![(f.feature, f.at.line, f.at.column)],
        }
    }

    fn value(text: &str) -> Option<String> {
        let Value::Map(mut entries) = read(text).ok()?.root?.value else { return None };
        match entries.pop()?.1.value {
            Value::Text(t, _) => Some(t),
            _ => None,
        }
    }

    #[test]
    fn t156_scalars_of_the_subset_give_their_text() {
        for (text, want) in [
            ("k: plain text\n", "plain text"),
            ("k: 'it''s'\n", "it's"),
            ("k: \"a\\u00e9\\n\"\n", "aé\n"),
            ("k: >-\n  one\n  two\n", "one two"),
            ("k: >\n  one\n\n  two\n", "one\ntwo\n"),
            ("k: |\n  one\n   two\n", "one\n two\n"),
            ("k: |-\n  one\n  \ttwo\n", "one\n\ttwo"),
            ("k: |2\n   one\n", " one\n"),
            ("k: one\n  two\n   three\n", "one two three"),
            ("k: one\r\n  two\r\n", "one two"),
            ("k: |\r\n  one\r\n  two\r\n", "one\ntwo\n"),
            ("k: \"one\r\n  two\"\r\n", "one two"),
            ("k: \"a\tb\" #\tc\n", "a\tb"),
            ("#\tc\nk: 'a#\tb'\n", "a#\tb"),
            ("# before\nk: v # after\n# end\n", "v"),
            ("k:\n", ""),
            ("k: ~\n", "~"),
            ("k: 123\n", "123"),
            ("k: http://x\n", "http://x"),
            ("  k: v\n", "v"),
            ("\"k\": v\n", "v"),
        ] {
            assert_eq!(value(text).as_deref(), Some(want), "{text:?}");
            assert_eq!(issues(text), [], "{text:?}");
        }
    }

    #[test]
    fn t156_every_construct_outside_the_subset_is_named_with_its_place() {
        use Feature as F;
        for (text, want) in [
            ("a: &x 1\n", (F::Anchor, 1, 3)),
            ("a: &x 1\nb: *x\n", (F::Anchor, 1, 3)),
            ("a: *x\n", (F::Alias, 1, 3)),
            ("a: !t x\n", (F::Tag, 1, 3)),
            ("a: b\n<<: c\n", (F::MergeKey, 2, 0)),
            ("a: b\nc: [x, y]\n", (F::FlowCollection, 2, 3)),
            ("a: {x: {y: z}}\n", (F::FlowCollection, 1, 3)),
            ("\ta: b\n", (F::TabIndentation, 1, 0)),
            ("a:\tb\n", (F::TabIndentation, 1, 2)),
            ("a:\n\t- b\n", (F::TabIndentation, 2, 0)),
            ("a: \tb\n", (F::TabIndentation, 1, 3)),
            ("a: b\tc\n", (F::TabIndentation, 1, 4)),
            ("a: b\t\n", (F::TabIndentation, 1, 4)),
            ("a: \"b\tc\"\t# d\n", (F::TabIndentation, 1, 8)),
            ("a: b\n\t\n", (F::TabIndentation, 2, 0)),
            ("? a\n: b\n", (F::ComplexKey, 1, 2)),
            ("? [a, b]\n: c\nd: e\n", (F::FlowCollection, 1, 2)),
            ("# c\n%YAML 1.2\na: b\n", (F::Directive, 2, 0)),
            ("a: b\n--- c\n", (F::SecondDocument, 2, 0)),
            ("a: b\n...\n", (F::SecondDocument, 2, 0)),
            ("a: b: c\n", (F::ColonInValue, 1, 4)),
            ("a: @x\n", (F::ReservedStart, 1, 3)),
            ("a: `x\n", (F::ReservedStart, 1, 3)),
            ("a: %x\n", (F::ReservedStart, 1, 3)),
            ("a: - x\n", (F::ReservedStart, 1, 3)),
            ("a: b\nc\n", (F::Syntax, 2, 0)),
            ("a: \"b\n", (F::Syntax, 1, 3)),
        ] {
            assert_eq!(issues(text).first(), Some(&want), "{text:?}");
        }
        assert!(read("a: \"\\ud800\"\n").is_err_and(|f| f.bad_escape));
    }

    #[test]
    fn what_nests_deeper_than_is_read_stands_as_one_closed_value() {
        let deep = (0..20).fold(String::new(), |s, i| s + &" ".repeat(i) + "k:\n") + &" ".repeat(20) + "k: v\n";
        let doc = read(&(deep + "last: x\n")).expect("tree");
        assert_eq!(doc.issues.iter().filter(|i| i.feature == Feature::Depth).count(), 1);
        let Some(Value::Map(entries)) = doc.root.map(|n| n.value) else { panic!() };
        assert_eq!(entries.last().map(|(k, _)| k.text.as_str()), Some("last"));
    }

    #[test]
    fn a_hash_that_ends_a_value_early_is_seen() {
        let doc = read("a: use C # not C++\nb: \"x # y\" # z\nc: a#b\n").expect("tree");
        assert_eq!(doc.comments, [Mark { line: 1, column: 9 }]);
    }
}
