//! The masking pass (engine.md §2.3, text analysis 1): one scan from left to right that finds what
//! the person shows rather than says. Code, quotations, comments, link targets. What lies inside
//! gives no positive evidence; where a construct is left open, the reading that masks more wins.

use std::collections::HashMap;

use super::Span;

/// Why some bytes are shown rather than said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskKind {
    /// Between quotation marks.
    Quote,
    /// Fenced, indented or inline code, `<code>` or `<pre>`.
    Code,
    /// A line that begins with `>`.
    Blockquote,
    /// An HTML comment.
    Comment,
    /// A link's target or a bare address.
    Link,
}

/// A masked region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masked {
    /// Its bytes, marks included.
    pub span: Span,
    /// Its kind.
    pub kind: MaskKind,
}

/// Columns of indentation from which a line after a blank one is code.
const INDENT_CODE: usize = 4;
/// Longest scheme of a bare address that is looked for.
const SCHEME_MAX: usize = 12;
/// Elements whose content is shown rather than said.
const ELEMENTS: [(&str, MaskKind); 7] = [
    ("code", MaskKind::Code),
    ("pre", MaskKind::Code),
    ("samp", MaskKind::Code),
    ("kbd", MaskKind::Code),
    ("tt", MaskKind::Code),
    ("q", MaskKind::Quote),
    ("blockquote", MaskKind::Blockquote),
];

/// All masked regions of a text, in order and without overlap. Linear in its length, up to the
/// logarithm of a binary search for each quotation mark.
#[must_use]
pub fn mask(text: &str) -> Vec<Masked> {
    let mut scan = Scan { text, closers: Closers::of(text), out: Vec::new(), blank_before: true, said: false };
    scan.run();
    scan.out
}

/// What stands for a masked region in [`without_masked`]: the object replacement character.
pub(super) const PLACEHOLDER: char = '\u{fffc}';

/// The text with each masked region replaced by a placeholder, with its line ends as far as they
/// separate.
#[must_use]
pub fn without_masked(text: &str) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for region in mask(text) {
        let shown = &text[region.span.start..region.span.end];
        out.push_str(&text[at..region.span.start]);
        out.push(PLACEHOLDER);
        if is_block(shown) {
            out.push_str("\n\n");
        } else if shown.contains('\n') {
            out.push('\n');
        }
        at = region.span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// True when a masked region is a block of its own: whole lines, or with a blank line inside.
pub(super) fn is_block(shown: &str) -> bool {
    shown.ends_with('\n') || shown.split('\n').skip(1).any(|line| line.trim().is_empty())
}

/// Where quotations may close, found in one pass before the scan, so that no opener searches twice.
struct Closers {
    /// Positions of marks that close without nesting, by mark.
    plain: HashMap<char, Vec<usize>>,
    /// Nesting pairs: end of the closing mark, by position of the opening one.
    nested: HashMap<usize, usize>,
    /// Runs of backticks: by length, their positions.
    ticks: HashMap<usize, Vec<usize>>,
    /// Beginnings of blank lines.
    blanks: Vec<usize>,
}

/// Pairs that nest.
const NESTED: [(char, char); 8] =
    [('«', '»'), ('‹', '›'), ('「', '」'), ('『', '』'), ('《', '》'), ('〈', '〉'), ('｢', '｣'), ('〝', '〟')];

impl Closers {
    fn of(text: &str) -> Self {
        let mut closers =
            Self { plain: HashMap::new(), nested: HashMap::new(), ticks: HashMap::new(), blanks: Vec::new() };
        let mut open: [Vec<usize>; NESTED.len()] = Default::default();
        let (mut before, mut line_blank, mut line_start, mut tick_run) = (None::<char>, true, 0, 0usize);
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let after = chars.peek().map(|&(_, c)| c);
            if c == '`' {
                tick_run += 1;
                if after != Some('`') {
                    closers.ticks.entry(tick_run).or_default().push(at + 1 - tick_run);
                    tick_run = 0;
                }
            }
            if c == '\n' {
                if line_blank {
                    closers.blanks.push(line_start);
                    open.iter_mut().for_each(Vec::clear);
                }
                (line_blank, line_start) = (true, at + 1);
            } else if !c.is_whitespace() {
                line_blank = false;
            }
            let closes = match c {
                '"' | '“' | '”' | '＂' => true,
                '’' | '‘' => !after.is_some_and(is_letter),
                '\'' => before.is_some_and(|b| !b.is_whitespace()) && !after.is_some_and(is_letter),
                _ => false,
            };
            if closes {
                closers.plain.entry(c).or_default().push(at);
            }
            for (n, (opens, shuts)) in NESTED.iter().enumerate() {
                if c == *opens {
                    open[n].push(at);
                } else if c == *shuts
                    && let Some(from) = open[n].pop()
                {
                    closers.nested.insert(from, at + c.len_utf8());
                }
            }
            before = Some(c);
        }
        closers
    }

    /// The end of the paragraph that holds `at`: the next blank line.
    fn paragraph_end(&self, at: usize, len: usize) -> usize {
        let n = self.blanks.partition_point(|&b| b <= at);
        self.blanks.get(n).copied().unwrap_or(len)
    }

    /// The end of the first of `marks` after `from`, in the same paragraph.
    fn plain(&self, from: usize, end: usize, marks: &[char]) -> Option<usize> {
        marks
            .iter()
            .filter_map(|mark| {
                let list = self.plain.get(mark)?;
                let at = *list.get(list.partition_point(|&p| p < from))?;
                (at < end).then_some(at + mark.len_utf8())
            })
            .min()
    }
}

/// Part of a word beside which a mark is an apostrophe; scripts without spaces have none.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !super::text::is_unspaced(c)
}

struct Scan<'a> {
    text: &'a str,
    closers: Closers,
    out: Vec<Masked>,
    /// The line before was blank, or nothing of it was said; the beginning counts as such.
    blank_before: bool,
    /// Something of the current line is said.
    said: bool,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            at = self.line(at);
        }
    }

    fn mark(&mut self, start: usize, end: usize, kind: MaskKind) {
        if start < end {
            self.out.push(Masked { span: Span { start, end }, kind });
        }
    }

    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |n| at + n)
    }

    /// Reads from the beginning of a line to where the next one begins.
    fn line(&mut self, start: usize) -> usize {
        let end = self.line_end(start);
        let next = (end + 1).min(self.text.len());
        let line = &self.text[start..end];
        let body = line.trim_start();
        if body.is_empty() {
            self.blank_before = true;
            return next;
        }
        let first = start + (line.len() - body.len());
        if let Some(after) = self.fence(first, end) {
            self.blank_before = true;
            return after;
        }
        let columns: usize = self.text[start..first].chars().map(|c| if c == '\t' { INDENT_CODE } else { 1 }).sum();
        let kind = match (columns, body.as_bytes().first()) {
            (INDENT_CODE.., _) if self.blank_before => Some(MaskKind::Code),
            (..INDENT_CODE, Some(b'>')) => Some(MaskKind::Blockquote),
            _ => None,
        };
        if let Some(kind) = kind {
            self.mark(start, next, kind);
            self.blank_before = true;
            return next;
        }
        self.said = false;
        let after = self.inline(first);
        self.blank_before = !self.said;
        after
    }

    /// A fence that opens at `first`, behind at most one list mark: where the text goes on.
    fn fence(&mut self, first: usize, end: usize) -> Option<usize> {
        let line = &self.text[first..end];
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let bullet = match line.as_bytes() {
            [b'-' | b'*' | b'+', b' ', ..] => 2,
            _ if (1..10).contains(&digits) && matches!(line.as_bytes().get(digits), Some(b'.' | b')')) => digits + 1,
            _ => 0,
        };
        let rest = line[bullet..].trim_start();
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let run = rest.chars().take_while(|&c| c == mark).count();
        if run < 3 || (mark == '`' && rest[run..].contains('`')) {
            return None;
        }
        let open = end - rest.len();
        let mut at = (end + 1).min(self.text.len());
        while at < self.text.len() {
            let close = self.line_end(at);
            let body = self.text[at..close].trim();
            at = (close + 1).min(self.text.len());
            if body.len() >= run && body.chars().all(|c| c == mark) {
                break;
            }
        }
        self.mark(open, at, MaskKind::Code);
        Some(at)
    }

    /// Reads running text up to the end of its line, or of what began on it.
    fn inline(&mut self, start: usize) -> usize {
        let mut at = start;
        // A mask counts as a separator: what follows it stands as after a space.
        let mut before = None::<char>;
        while let Some(c) = self.text[at..].chars().next() {
            if c == '\n' {
                return at + 1;
            }
            if let Some((end, kind)) = self.construct(at, c, before) {
                self.mark(at, end, kind);
                (at, before) = (end, None);
                if self.text[..at].ends_with('\n') {
                    return at;
                }
                continue;
            }
            self.said |= !c.is_whitespace();
            let width = match (c, self.text.as_bytes().get(at + 1)) {
                // An escaped mark opens nothing.
                ('\\', Some(b'`' | b'<' | b'[')) => 2,
                // A run without a partner is literal, as a whole.
                ('`', _) => self.text[at..].bytes().take_while(|&b| b == b'`').count(),
                _ => c.len_utf8(),
            };
            at += width;
            before = Some(c);
        }
        at
    }

    /// What opens at `at`, and where it ends.
    fn construct(&self, at: usize, c: char, before: Option<char>) -> Option<(usize, MaskKind)> {
        let rest = &self.text[at..];
        match c {
            '`' => {
                let run = rest.bytes().take_while(|&b| b == b'`').count();
                let list = self.closers.ticks.get(&run)?;
                let close = *list.get(list.partition_point(|&p| p < at + run))?;
                (close < self.closers.paragraph_end(at, self.text.len())).then_some((close + run, MaskKind::Code))
            }
            '<' => self.element(at),
            ']' if rest.starts_with("](") => {
                let line = self.line_end(at);
                let end = self.text[at..line].find(')').map_or(line, |n| at + n + 1);
                Some((end, MaskKind::Link))
            }
            _ if c.is_ascii_alphabetic() && !before.is_some_and(is_letter) => {
                address(rest).map(|len| (at + len, MaskKind::Link))
            }
            _ => self.quote(at, c, before).map(|end| (end, MaskKind::Quote)),
        }
    }

    fn element(&self, at: usize) -> Option<(usize, MaskKind)> {
        let rest = &self.text[at..];
        if rest.starts_with("<!--") {
            return Some((rest.find("-->").map_or(self.text.len(), |n| at + n + 3), MaskKind::Comment));
        }
        let (name, kind) = ELEMENTS.into_iter().find(|(name, _)| {
            rest.get(1..=name.len()).is_some_and(|n| n.eq_ignore_ascii_case(name))
                && rest[1 + name.len()..].starts_with(['>', ' ', '/', '\t', '\n'])
        })?;
        // Each search ends at the element or at the end of the text, so none is made twice.
        let bytes = rest.as_bytes();
        let close = bytes
            .windows(name.len() + 2)
            .position(|w| w.starts_with(b"</") && w[2..].eq_ignore_ascii_case(name.as_bytes()));
        let end = close.map_or(self.text.len(), |n| at + n + rest[n..].find('>').map_or(rest.len() - n, |m| m + 1));
        Some((end, kind))
    }

    /// The end of a quotation that opens here; an unclosed one ends with its line.
    fn quote(&self, at: usize, c: char, before: Option<char>) -> Option<usize> {
        let from = at + c.len_utf8();
        let paragraph = self.closers.paragraph_end(at, self.text.len());
        let follows = self.text[from..].chars().next();
        let opens_word = before.is_none_or(|b| !is_letter(b) && !matches!(b, '\'' | '’'))
            && follows.is_some_and(|f| !f.is_whitespace());
        let close = match c {
            '"' => self.closers.plain(from, paragraph, &['"']),
            '＂' => self.closers.plain(from, paragraph, &['＂']),
            '“' => self.closers.plain(from, paragraph, &['”']),
            '„' => self.closers.plain(from, paragraph, &['“', '”', '"']),
            '‘' if opens_word => self.closers.plain(from, paragraph, &['’']),
            '‚' if opens_word => self.closers.plain(from, paragraph, &['‘', '’']),
            '\'' if opens_word => self.closers.plain(from, paragraph, &['\'']),
            // The marks of the other direction, as German books set them.
            '»' if opens_word => return Some(self.reversed(from, '«')),
            '›' if opens_word => return Some(self.reversed(from, '‹')),
            _ if NESTED.iter().any(|(opens, _)| *opens == c) => self.closers.nested.get(&at).copied(),
            _ => return None,
        };
        Some(close.unwrap_or_else(|| self.line_end(at)))
    }

    /// The end of a reversed pair on the same line, or the line's end.
    fn reversed(&self, from: usize, close: char) -> usize {
        let line = self.line_end(from);
        self.text[from..line].find(close).map_or(line, |n| from + n + close.len_utf8())
    }
}

/// The length of a bare address at the beginning of `rest`.
fn address(rest: &str) -> Option<usize> {
    let scheme = rest
        .bytes()
        .take(SCHEME_MAX)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
        .count();
    let is_address = rest[scheme..].starts_with("://") || rest.starts_with("www.") || rest.starts_with("mailto:");
    let ends = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"') || super::text::is_unspaced(c);
    is_address.then(|| rest.find(ends).unwrap_or(rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(&str, MaskKind)> {
        mask(text).iter().map(|m| (&text[m.span.start..m.span.end], m.kind)).collect()
    }

    #[test]
    fn t141_each_quotation_style_masks_what_it_holds() {
        for quoted in [
            "\"x y\"",
            "“x y”",
            "„x y“",
            "„x y”",
            "«x y»",
            "« x y »",
            "‹x y›",
            "「x y」",
            "『x y』",
            "‘x y’",
            "'x y'",
            "‚x y‘",
            "»x y«",
            "《x y》",
        ] {
            let text = format!("see {quoted} now");
            assert_eq!(shown(&text), [(quoted, MaskKind::Quote)], "{quoted}");
        }
    }

    #[test]
    fn an_apostrophe_opens_nothing_and_an_open_quote_ends_with_its_line() {
        assert_eq!(shown("it's the users' and don’t"), []);
        assert_eq!(shown("say \"never\nagain"), [("\"never", MaskKind::Quote)]);
        assert_eq!(shown("say \"never\nagain\" ok"), [("\"never\nagain\"", MaskKind::Quote)]);
        assert_eq!(shown("say \"never\n\nagain\" ok"), [("\"never", MaskKind::Quote), ("\" ok", MaskKind::Quote)]);
        assert_eq!(shown("「a「b」c」d"), [("「a「b」c」", MaskKind::Quote)]);
    }

    #[test]
    fn t141_code_is_masked_closed_or_not() {
        assert_eq!(shown("a\n```sh\nx\n```\nb"), [("```sh\nx\n```\n", MaskKind::Code)]);
        assert_eq!(shown("a\n~~~\nx\n```\nb"), [("~~~\nx\n```\nb", MaskKind::Code)]);
        assert_eq!(shown("- ```\n  x\n  ```\nb"), [("```\n  x\n  ```\n", MaskKind::Code)]);
        assert_eq!(shown("a\n\n    x\n\ty\nb"), [("    x\n", MaskKind::Code), ("\ty\n", MaskKind::Code)]);
        assert_eq!(shown("a\n    x"), [], "a line that goes on is not code");
        assert_eq!(shown("a ``x ` y`` b `z"), [("``x ` y``", MaskKind::Code)]);
        assert_eq!(
            shown("a <CODE class=k>x</code> b <pre>y"),
            [("<CODE class=k>x</code>", MaskKind::Code), ("<pre>y", MaskKind::Code)]
        );
        assert_eq!(shown("a \\`x\\` b"), []);
    }

    #[test]
    fn t141_blockquotes_comments_and_addresses_are_masked() {
        assert_eq!(shown("> x\ny"), [("> x\n", MaskKind::Blockquote)]);
        assert_eq!(shown("a <!-- x --> b <!-- y"), [("<!-- x -->", MaskKind::Comment), ("<!-- y", MaskKind::Comment)]);
        assert_eq!(shown("[a](/x) b"), [("](/x)", MaskKind::Link)]);
        assert_eq!(shown("at https://a.b/x?y now"), [("https://a.b/x?y", MaskKind::Link)]);
    }

    #[test]
    fn many_open_marks_stay_linear() {
        // Each kind of opener, never closed, on many lines: no line may search the rest again.
        for opener in ["\"", "「", "`", "'x", "«", "„", "](", "<x"] {
            let text = format!("{opener} a\n").repeat(20_000);
            let _ = mask(&text);
        }
    }
}
