//! What is wrong with a file, in a form a person can act on: a code, a place, the cause in one
//! line and what to do about it.

use kernel::Refusal;
use serde::Serialize;
use std::fmt;

/// A place in a file: line and column from 1, columns in code points. A leading U+FEFF counts as
/// no column, for no editor shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in code points, from 1.
    pub column: u32,
}

impl Position {
    /// The first character.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The place of byte `at` of `text`; past the end it is the end.
    #[must_use]
    pub fn of(text: &str, at: usize) -> Self {
        Places::new(text).at(at)
    }
}

/// Places of one text, asked for from the front to the back, in one pass over it.
#[derive(Debug)]
pub struct Places<'a> {
    text: &'a str,
    seen: usize,
    place: Position,
}

impl<'a> Places<'a> {
    /// Places of this text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { text, seen: 0, place: Position::START }
    }

    /// The place of the character that byte `at` belongs to. A byte before the last one asked for
    /// gives that one's place.
    pub fn at(&mut self, at: usize) -> Position {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        while self.seen < at {
            let Some(c) = self.text[self.seen..].chars().next() else { break };
            let next = self.text.as_bytes().get(self.seen + 1);
            // A line ends in LF, CRLF or a lone CR.
            if c == '\n' || (c == '\r' && next != Some(&b'\n')) {
                self.place = Position { line: self.place.line.saturating_add(1), column: 1 };
            } else if !(self.seen == 0 && c == '\u{feff}') {
                self.place.column = self.place.column.saturating_add(1);
            }
            self.seen += c.len_utf8();
        }
        self.place
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Lines and columns fit 32 bits for every file that may be read; a larger number stays at the top.
pub(crate) fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// What a diagnostic means for the verdict (decision 16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Severity {
    /// Worth knowing; changes nothing.
    Note,
    /// Portable, and a person should look.
    Warning,
    /// Not PORTABLE; the lenient reader still understands it.
    NotPortable,
    /// Not even READABLE.
    Unreadable,
}

/// A construct outside the YAML subset of decision 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Feature {
    /// `&name`.
    Anchor,
    /// `*name`.
    Alias,
    /// `!tag`.
    Tag,
    /// `<<`.
    MergeKey,
    /// `[a, b]` or `{a: b}`.
    FlowCollection,
    /// A tab before a key or a value.
    TabIndentation,
    /// `? key`, or a key that is a map or a list.
    ComplexKey,
    /// `%YAML`, `%TAG`.
    Directive,
    /// A second `---`, or `...`.
    SecondDocument,
    /// A map inside a map, where only texts are read.
    NestedMap,
    /// A list, where only a text is read.
    List,
    /// A text, where a map is read.
    NotAMap,
    /// Nested deeper than is looked at.
    Depth,
    /// An unquoted `: ` inside a value.
    ColonInValue,
    /// A value that begins with a character YAML keeps for itself.
    ReservedStart,
    /// Anything else that is not YAML.
    Syntax,
}

impl Feature {
    /// The construct in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Anchor => "an anchor (&name)",
            Self::Alias => "an alias (*name)",
            Self::Tag => "a tag (!name)",
            Self::MergeKey => "a merge key (<<)",
            Self::FlowCollection => "a flow collection ([…] or {…})",
            Self::TabIndentation => "a tab used as indentation or separation",
            Self::ComplexKey => "a complex key (? key)",
            Self::Directive => "a directive (%…)",
            Self::SecondDocument => "a second document (--- or ...)",
            Self::NestedMap => "a map nested in a map",
            Self::List => "a list where a text is meant",
            Self::NotAMap => "a text or list where `key: value` lines are meant",
            Self::Depth => "nesting deeper than is read",
            Self::ColonInValue => "an unquoted “: ” inside a value",
            Self::ReservedStart => "an unquoted value that begins with a reserved character",
            Self::Syntax => "text that is not YAML",
        }
    }

    /// What to write instead.
    #[must_use]
    pub fn fix(self) -> &'static str {
        match self {
            Self::Anchor | Self::Alias | Self::MergeKey => "write the value out where it is used",
            Self::Tag => "leave the tag out; every value is read as text",
            Self::FlowCollection => "write one text, or one `- item` a line for allowed-tools",
            Self::TabIndentation => "use spaces",
            Self::ComplexKey => "write `key: value` on one line",
            Self::Directive => "leave the line out",
            Self::SecondDocument => "keep one document between the two --- lines",
            Self::NestedMap | Self::Depth => "keep one level of `key: text` below metadata",
            Self::List => "write one text",
            Self::NotAMap => "write `name: …` and `description: …` on lines of their own",
            Self::ColonInValue | Self::ReservedStart => "put the whole value in double quotes",
            Self::Syntax => "check the line against `key: value`; put text with special characters in double quotes",
        }
    }
}

/// The kind of a diagnostic. The first sixteen are the refusals of engine.md §2.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Code {
    /// Not 1 to 64 of `a-z 0-9 -`, or hyphens where none may be.
    NameInvalid,
    /// The name is not the folder's.
    NameFolderMismatch,
    /// Blank, too long, or only the name again.
    DescriptionNotUseful,
    /// A key outside the six of the format.
    FieldUnknown,
    /// A construct outside the YAML subset.
    YamlUnsupported(Feature),
    /// More than [`crate::packages::bounds::FRONTMATTER_MAX`].
    FrontmatterTooLarge,
    /// More than [`crate::packages::bounds::BODY_MAX`], or a file over its cap.
    BodyTooLarge,
    /// Nothing but blanks after the frontmatter.
    BodyEmpty,
    /// Not UTF-8, a control or bidi control character, an unpaired surrogate, or not NFC.
    UnicodeMalformed,
    /// A name that leads elsewhere, is a device, or a symbolic link.
    PathUnsafe,
    /// A key twice.
    DuplicateKey,
    /// The entry that wins a name is not PORTABLE (I-126).
    InvalidWinner,
    /// Two entries of one root have one name after NFC and case folding (I-128).
    AmbiguousCollision,
    /// A root of higher precedence could not be listed whole (I-127).
    IncompleteHigherScan,
    /// The bytes are not those that discovery saw (I-130).
    PackageChanged,
    /// No package of that name.
    NameUnknown,

    /// No `---` on the first line, or no second one.
    FrontmatterMissing,
    /// `name` or `description` is missing.
    FieldMissing,
    /// A field that is too long, or of the wrong shape.
    FieldInvalid,
    /// The folder has no SKILL.md.
    FileMissing,
    /// SKILL.md could not be read.
    FileUnreadable,
    /// A root could not be listed, or not whole.
    RootIncomplete,
    /// A package of the same name in a root of higher precedence wins (decision 14).
    Shadowed,
    /// A character that nobody sees, or that changes the order of others.
    HiddenCharacter,
    /// A name that looks like another.
    ConfusableName,
    /// A `#` after a blank: what follows is a comment and not part of the value.
    TextAfterHash,
    /// A description that hardly says when to use the skill.
    DescriptionShort,
    /// A body longer than the format advises.
    BodyLong,
    /// What it depends on leads back to it, is not there or cannot be used.
    DependencyFault,
}

impl Code {
    /// The code as text, without the feature.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NameInvalid => "NameInvalid",
            Self::NameFolderMismatch => "NameFolderMismatch",
            Self::DescriptionNotUseful => "DescriptionNotUseful",
            Self::FieldUnknown => "FieldUnknown",
            Self::YamlUnsupported(_) => "YamlUnsupported",
            Self::FrontmatterTooLarge => "FrontmatterTooLarge",
            Self::BodyTooLarge => "BodyTooLarge",
            Self::BodyEmpty => "BodyEmpty",
            Self::UnicodeMalformed => "UnicodeMalformed",
            Self::PathUnsafe => "PathUnsafe",
            Self::DuplicateKey => "DuplicateKey",
            Self::InvalidWinner => "InvalidWinner",
            Self::AmbiguousCollision => "AmbiguousCollision",
            Self::IncompleteHigherScan => "IncompleteHigherScan",
            Self::PackageChanged => "PackageChanged",
            Self::NameUnknown => "NameUnknown",
            Self::FrontmatterMissing => "FrontmatterMissing",
            Self::FieldMissing => "FieldMissing",
            Self::FieldInvalid => "FieldInvalid",
            Self::FileMissing => "FileMissing",
            Self::FileUnreadable => "FileUnreadable",
            Self::RootIncomplete => "RootIncomplete",
            Self::Shadowed => "Shadowed",
            Self::HiddenCharacter => "HiddenCharacter",
            Self::ConfusableName => "ConfusableName",
            Self::TextAfterHash => "TextAfterHash",
            Self::DescriptionShort => "DescriptionShort",
            Self::BodyLong => "BodyLong",
            Self::DependencyFault => "DependencyFault",
        }
    }
}

/// Longest cause or fix, in bytes; longer ones are cut on a grapheme.
pub const SENTENCE_MAX: usize = 240;

/// One finding about one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Diagnostic {
    /// Where; files that were never opened have none.
    pub at: Option<Position>,
    /// What kind.
    pub code: Code,
    /// What it does to the verdict.
    pub severity: Severity,
    /// The cause in one line.
    pub cause: String,
    /// What to do about it.
    pub fix: String,
}

impl Diagnostic {
    /// A diagnostic. Both sentences become one line each, hidden characters written out, and are
    /// cut to [`SENTENCE_MAX`].
    #[must_use]
    pub fn new(code: Code, severity: Severity, at: Option<Position>, cause: &str, fix: &str) -> Self {
        Self { at, code, severity, cause: one_line(cause), fix: one_line(fix) }
    }

    /// The refusal about one subject, for the kernel's ring.
    #[must_use]
    pub fn refusal(&self, subject: &str) -> Refusal {
        let subject = self.at.map_or_else(|| subject.to_owned(), |at| format!("{subject}:{at}"));
        Refusal::new(self.code.name(), &subject, &self.fix, &self.cause)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at {
            write!(f, "{at}: ")?;
        }
        write!(f, "{} ({}). {}", self.cause, self.code.name(), self.fix)
    }
}

fn one_line(text: &str) -> String {
    let flat: String = text.chars().map(|c| if matches!(c, '\n' | '\t') { ' ' } else { c }).collect();
    kernel::clip::clip(&crate::hidden::reveal(&flat), SENTENCE_MAX).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_code_points_and_never_the_byte_order_mark() {
        let text = "\u{feff}é\nab";
        assert_eq!(Position::of(text, 0), Position::START);
        assert_eq!(Position::of(text, 3), Position::START);
        assert_eq!(Position::of(text, 5), Position { line: 1, column: 2 });
        assert_eq!(Position::of(text, 4), Position::START); // inside é
        assert_eq!(Position::of(text, 99), Position { line: 2, column: 3 });
        assert_eq!(Position::of("", 0), Position::START);
    }

    #[test]
    fn a_sentence_is_one_line_and_hides_nothing() {
        let d = Diagnostic::new(Code::NameInvalid, Severity::Note, None, "a\nb\u{202e}c", &"x".repeat(999));
        assert_eq!(d.cause, "a b⟨U+202E⟩c");
        assert!(d.fix.len() < SENTENCE_MAX + 40);
    }

    #[test]
    fn a_diagnostic_becomes_a_refusal_with_its_place() {
        let at = Some(Position { line: 3, column: 7 });
        let d = Diagnostic::new(Code::DuplicateKey, Severity::NotPortable, at, "“name” stands twice", "keep one");
        let r = d.refusal("tide-table/SKILL.md");
        assert_eq!((r.code.as_ref(), r.subject.as_str()), ("DuplicateKey", "tide-table/SKILL.md:3:7"));
        assert_eq!(d.to_string(), "3:7: “name” stands twice (DuplicateKey). keep one");
    }
}
