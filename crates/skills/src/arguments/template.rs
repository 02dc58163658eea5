//! Templates: text with places for arguments.
//!
//! | in the template | what it becomes |
//! |---|---|
//! | `$1` … `$9`, `${1}` … | the argument of that index; `$20` and `$0x` are text |
//! | `$@`, `$ARGUMENTS` | the line as it was typed |
//! | `$name`, `${name}` | a named argument, where the format declares names |
//! | `${1?}`, `${@?}`, `${name?}` | the same, and nothing where it is missing |
//! | `$$` | a dollar |
//! | code fences | themselves, unless the template opts in |

use std::borrow::Cow;
use std::ops::Range;

use super::words::split;
use super::{
    ArgumentRefusal, FILLED_MAX, IndexBase, LINE_MAX, NAMES_MAX, PLACEHOLDERS_MAX, TEMPLATE_MAX, WORDS_MAX, bound,
};

/// Longest place in braces, in bytes: a name, or an input with its hint.
const PLACE_BYTES_MAX: usize = 256;

/// How a source format writes its places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Where it begins to count.
    pub base: IndexBase,
    /// Names of its arguments, in order.
    pub names: Vec<String>,
    /// Every argument may be left out.
    pub optional: bool,
    /// Places in code fences count too.
    pub in_fences: bool,
    /// `\$` is a dollar, as Claude command files have it.
    pub backslash: bool,
    /// `$…` places are places; Gemini has none.
    pub dollar: bool,
    /// `{{args}}` is the whole line.
    pub curly: bool,
    /// `${input:name}` and `${input:name:hint}` are named arguments in order of appearance; a single
    /// one is the whole line.
    pub inputs: bool,
}

impl Dialect {
    /// Our own.
    #[must_use]
    pub fn own() -> Self {
        Self {
            base: IndexBase::One,
            names: Vec::new(),
            optional: false,
            in_fences: false,
            backslash: false,
            dollar: true,
            curly: false,
            inputs: false,
        }
    }
}

impl Default for Dialect {
    fn default() -> Self {
        Self::own()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Range<usize>),
    /// A character that an escape stands for.
    Dollar,
    All {
        optional: bool,
    },
    /// An index from 0, and the name it has in the template.
    Word {
        index: usize,
        optional: bool,
        name: String,
    },
}

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

/// A place of a template, for hints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// As the template names it: `1`, `name`, `arguments`.
    pub name: String,
    /// It must be given.
    pub required: bool,
}

/// A filled template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// The text.
    pub text: String,
    /// Which bytes of it are the person's.
    pub inserted: Vec<Range<usize>>,
}

impl Template {
    /// Cuts a template into parts.
    ///
    /// # Errors
    /// A bound.
    pub fn parse(text: &str, dialect: &Dialect) -> Result<Self, ArgumentRefusal> {
        bound("the template", "bytes", text.len(), TEMPLATE_MAX)?;
        bound("the template", "named arguments", dialect.names.len(), NAMES_MAX)?;
        let names = if dialect.inputs { Cow::Owned(inputs(text)) } else { Cow::Borrowed(&dialect.names[..]) };
        bound("the template", "named arguments", names.len(), NAMES_MAX)?;
        let mut parser = Parser { text, dialect, names: &names, parts: Vec::new(), from: 0 };
        parser.run();
        let places = parser.parts.iter().filter(|p| !matches!(p, Part::Text(_))).count();
        bound("the template", "places", places, PLACEHOLDERS_MAX)?;
        Ok(Self { parts: parser.parts, text: text.to_owned() })
    }

    /// The template of a door that takes the rest of the line verbatim, as `/skill:` and `/tool:`
    /// do: whatever is typed comes out unchanged.
    #[must_use]
    pub fn verbatim() -> Self {
        Self { text: String::new(), parts: vec![Part::All { optional: true }] }
    }

    /// The template as it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.text
    }

    /// Its places, each once: by index, then the whole line.
    #[must_use]
    pub fn slots(&self) -> Vec<Slot> {
        let mut words: Vec<(usize, Slot)> = Vec::new();
        let mut all: Option<bool> = None;
        for part in &self.parts {
            match part {
                Part::Word { index, optional, name } => match words.iter_mut().find(|(n, _)| n == index) {
                    Some((_, slot)) => slot.required |= !optional,
                    None => words.push((*index, Slot { name: name.clone(), required: !optional })),
                },
                Part::All { optional } => all = Some(all.unwrap_or(false) | !optional),
                Part::Text(_) | Part::Dollar => {}
            }
        }
        words.sort_by_key(|(index, _)| *index);
        let all = all.map(|required| Slot { name: "arguments".to_owned(), required });
        words.into_iter().map(|(_, slot)| slot).chain(all).collect()
    }

    /// True when it has a place for arguments.
    #[must_use]
    pub fn takes_arguments(&self) -> bool {
        self.parts.iter().any(|p| matches!(p, Part::All { .. } | Part::Word { .. }))
    }

    /// Fills the template with a line of arguments, in one pass. A template without any place has
    /// the line appended as a paragraph of its own, so that nothing typed is lost.
    ///
    /// # Errors
    /// What is missing, left over, not closed, or over a bound.
    pub fn fill(&self, line: &str) -> Result<Filled, ArgumentRefusal> {
        bound("the line", "bytes", line.len(), LINE_MAX)?;
        let places = self.parts.iter().filter_map(|p| match p {
            Part::Word { index, .. } => Some(index + 1),
            _ => None,
        });
        let places = places.max().unwrap_or(0);
        let whole = self.parts.iter().any(|p| matches!(p, Part::All { .. }));
        // Only places by index need words; the whole line is what was typed, whatever it is.
        let words = if places > 0 { split(line)? } else { Vec::new() };
        if places > 0 && !whole && words.len() > places {
            return Err(ArgumentRefusal::Unused { given: words.len(), places });
        }
        let mut out = Filled { text: String::with_capacity(self.text.len() + line.len()), inserted: Vec::new() };
        for part in &self.parts {
            match part {
                Part::Text(range) => out.text.push_str(&self.text[range.clone()]),
                Part::Dollar => out.text.push('$'),
                Part::All { optional } => {
                    if line.trim().is_empty() && !optional {
                        return Err(ArgumentRefusal::Missing { slot: "$ARGUMENTS".to_owned() });
                    }
                    out.insert(line);
                }
                Part::Word { index, optional, name } => match words.get(*index) {
                    Some(word) => out.insert(&word.text),
                    None if *optional => {}
                    None => return Err(ArgumentRefusal::Missing { slot: format!("${name}") }),
                },
            }
            bound("the filled template", "bytes", out.text.len(), FILLED_MAX)?;
        }
        if !self.takes_arguments() && !line.trim().is_empty() {
            let blank = if out.text.ends_with('\n') { "\n" } else { "\n\n" };
            out.text.push_str(blank);
            out.insert(line);
        }
        bound("the filled template", "bytes", out.text.len(), FILLED_MAX)?;
        Ok(out)
    }
}

impl Filled {
    fn insert(&mut self, text: &str) {
        let from = self.text.len();
        self.text.push_str(text);
        if !text.is_empty() {
            self.inserted.push(from..self.text.len());
        }
    }
}

/// The names of `${input:…}` places, in order of appearance.
fn inputs(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, mark) in text.match_indices("${input:") {
        let rest = &text[at + mark.len()..];
        let name = &rest[..rest.find(['}', ':', '\n']).unwrap_or(0)];
        if is_name(name) && !names.iter().any(|n| n == name) {
            names.push(name.to_owned());
            if names.len() > NAMES_MAX {
                break;
            }
        }
    }
    names
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

struct Parser<'a> {
    text: &'a str,
    dialect: &'a Dialect,
    names: &'a [String],
    parts: Vec<Part>,
    /// Beginning of the text not yet given to a part.
    from: usize,
}

impl Parser<'_> {
    fn run(&mut self) {
        let (mut at, mut line_start) = (0, true);
        while let Some(c) = self.text[at..].chars().next() {
            if line_start
                && !self.dialect.in_fences
                && let Some(end) = fence(self.text, at)
            {
                at = end;
                continue;
            }
            line_start = c == '\n';
            let rest = &self.text[at..];
            let found = match c {
                '\\' if self.dialect.backslash && rest.starts_with("\\$") => Some((Part::Dollar, 2)),
                '$' if self.dialect.dollar || self.dialect.inputs => self.dollar(rest),
                '{' if self.dialect.curly && rest.starts_with("{{args}}") => {
                    Some((Part::All { optional: self.dialect.optional }, "{{args}}".len()))
                }
                _ => None,
            };
            match found {
                Some((part, len)) => {
                    self.text_until(at);
                    self.parts.push(part);
                    at += len;
                    self.from = at;
                }
                None => at += c.len_utf8(),
            }
        }
        self.text_until(at);
    }

    fn text_until(&mut self, end: usize) {
        if self.from < end {
            self.parts.push(Part::Text(self.from..end));
        }
        self.from = end;
    }

    /// What a dollar at the beginning of `rest` begins, and its length.
    fn dollar(&self, rest: &str) -> Option<(Part, usize)> {
        let after = &rest[1..];
        if self.dialect.inputs
            && let Some(inner) = after.strip_prefix("{input:")
        {
            let close = closing(inner)?;
            let name = inner[..close].split(':').next().unwrap_or("");
            let len = "${input:".len() + close + 1;
            let index = self.names.iter().position(|n| n == name)?;
            let optional = self.dialect.optional;
            let part = if self.names.len() == 1 {
                Part::All { optional }
            } else {
                Part::Word { index, optional, name: name.to_owned() }
            };
            return Some((part, len));
        }
        if !self.dialect.dollar {
            return None;
        }
        if after.starts_with('$') {
            return Some((Part::Dollar, 2));
        }
        if let Some(inner) = after.strip_prefix('{') {
            let close = closing(inner)?;
            let (name, optional) = match inner[..close].strip_suffix('?') {
                Some(name) => (name, true),
                None => (&inner[..close], self.dialect.optional),
            };
            return Some((self.place(name, optional)?, close + 3));
        }
        if after.starts_with('@') {
            return Some((Part::All { optional: self.dialect.optional }, 2));
        }
        let run = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
        let name = &after[..run];
        // `$ARGUMENTS[0]`, as Claude command files write an index.
        if name == "ARGUMENTS"
            && let Some(inner) = after[run..].strip_prefix('[')
            && let Some(close) = inner.bytes().take(3).position(|b| b == b']')
            && let Some(part) = self.index(&inner[..close], self.dialect.optional)
        {
            return Some((part, 1 + run + 2 + close));
        }
        // One digit only: `$20` is a price.
        let digits = name.bytes().all(|b| b.is_ascii_digit());
        if digits && name.len() != 1 {
            return None;
        }
        Some((self.place(name, self.dialect.optional)?, 1 + run))
    }

    /// The place of a name or an index.
    fn place(&self, name: &str, optional: bool) -> Option<Part> {
        if matches!(name, "@" | "ARGUMENTS") {
            return Some(Part::All { optional });
        }
        if let Some(part) = self.index(name, optional) {
            return Some(part);
        }
        let index = self.names.iter().position(|n| n == name)?;
        Some(Part::Word { index, optional, name: name.to_owned() })
    }

    fn index(&self, digits: &str, optional: bool) -> Option<Part> {
        if digits.is_empty() || digits.len() > 2 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let n: usize = digits.parse().ok()?;
        let index = match self.dialect.base {
            IndexBase::Zero => n,
            IndexBase::One => n.checked_sub(1)?,
        };
        (index < WORDS_MAX).then(|| Part::Word { index, optional, name: digits.to_owned() })
    }
}

/// Where a brace closes that is open at the beginning of `inner`: on its line, and near, so that no
/// text is searched twice.
fn closing(inner: &str) -> Option<usize> {
    inner.bytes().take(PLACE_BYTES_MAX).take_while(|&b| b != b'\n').position(|b| b == b'}')
}

/// The end of a code fence that opens on the line at `at`; an unclosed one ends with the text.
fn fence(text: &str, at: usize) -> Option<usize> {
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |n| at + n);
    let end = line_end(at);
    let line = text[at..end].trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run = line.chars().take_while(|&c| c == mark).count();
    if run < 3 || (mark == '`' && line[run..].contains('`')) {
        return None;
    }
    let mut at = (end + 1).min(text.len());
    while at < text.len() {
        let end = line_end(at);
        let line = text[at..end].trim();
        at = (end + 1).min(text.len());
        if line.len() >= run && line.chars().all(|c| c == mark) {
            break;
        }
    }
    Some(at)
}
