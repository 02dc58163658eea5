//! One SKILL.md, two verdicts (decision 16).
//!
//! PORTABLE is what the public format and engine.md §2.5 allow; it may be reviewed, enabled and
//! activated. READABLE is what the lenient reader still understands: it is listed with its
//! diagnostics, and becomes usable only as a normalised copy that a person reviewed. What is
//! neither is listed as well, with the reason. Nothing is dropped.

use super::bounds::{BODY_LINES_ADVISED, BODY_MAX, DIAGNOSTICS_MAX, FILE_MAX, FRONTMATTER_MAX};
use super::manifest::{self, Manifest};
use crate::diagnostic::{Code, Diagnostic, Feature, Places, Position, Severity, small};
use crate::frontmatter::fence::{self, FenceFault, Lenient};
use crate::frontmatter::repair;
use crate::frontmatter::yaml::{self, Mark};
use crate::hidden::{self, Findings, Hiding};
use kernel::Digest;
use serde::Serialize;
use std::ops::Range;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// What may be done with a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Verdict {
    /// May be reviewed, enabled and activated.
    Portable,
    /// Listed; usable as a reviewed, normalised copy.
    Readable,
    /// Listed with the reason.
    Unreadable,
}

/// What one file says and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The verdict.
    pub verdict: Verdict,
    /// What it says about itself; `None` when it is not even readable.
    pub manifest: Option<Manifest>,
    /// What is wrong, in the order of the file, at most [`DIAGNOSTICS_MAX`].
    pub diagnostics: Vec<Diagnostic>,
    /// How many there were.
    pub diagnostics_total: usize,
    /// Of the bytes given. It binds a review only when `whole`.
    pub digest: Digest,
    /// All bytes of the file were seen.
    pub whole: bool,
    /// Where the body lies in the bytes.
    pub body: Range<usize>,
    /// What hides in the text.
    pub findings: Findings,
}

impl Inspection {
    /// True when nothing hides in the file and its name looks like no other; only then a review
    /// may call it clean.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let suspect =
            |d: &Diagnostic| matches!(d.code, Code::HiddenCharacter | Code::ConfusableName | Code::UnicodeMalformed);
        self.findings.is_clean() && !self.diagnostics.iter().any(suspect)
    }
}

/// Diagnostics of one file while it is read.
pub(super) struct Report<'a> {
    list: Vec<Diagnostic>,
    total: usize,
    worst: Severity,
    first_line: u32,
    text: &'a str,
}

impl Report<'_> {
    fn add(&mut self, d: Diagnostic) {
        self.worst = self.worst.max(d.severity);
        self.total += 1;
        // What decides the verdict is kept even when many others came before.
        if self.list.len() < DIAGNOSTICS_MAX {
            self.list.push(d);
        } else if let Some(weak) = self.list.iter().rposition(|k| k.severity < d.severity) {
            self.list[weak] = d;
        }
    }
    fn place(&self, at: Mark) -> Position {
        Position {
            line: self.first_line.saturating_add(small(at.line.saturating_sub(1))),
            column: small(at.column + 1),
        }
    }
    /// A diagnostic about a place between the fences.
    pub(super) fn push(&mut self, code: Code, severity: Severity, at: Mark, cause: &str, fix: &str) {
        let at = Some(self.place(at));
        self.add(Diagnostic::new(code, severity, at, cause, fix));
    }
    /// A construct outside the subset.
    pub(super) fn feature(&mut self, f: Feature, at: Mark, severity: Severity, more: &str) {
        self.push(Code::YamlUnsupported(f), severity, at, &format!("there is {}{more}", f.words()), f.fix());
    }
    fn byte(&mut self, code: Code, severity: Severity, at: usize, cause: &str, fix: &str) {
        let at = Some(Position::of(self.text, at));
        self.add(Diagnostic::new(code, severity, at, cause, fix));
    }
}

/// Reads one SKILL.md. `folder` is the name of the folder it lies in, `bytes` what was read of it
/// (at most [`FILE_MAX`] count), `total` the size of the file.
#[must_use]
pub fn inspect(folder: &str, bytes: &[u8], total: u64) -> Inspection {
    let digest = Digest::of(bytes);
    let seen = &bytes[..bytes.len().min(FILE_MAX)];
    let whole = seen.len() as u64 >= total && seen.len() == bytes.len();
    let (text, broken) = match std::str::from_utf8(seen) {
        Ok(text) => (text, false),
        Err(e) => {
            let good = std::str::from_utf8(&seen[..e.valid_up_to()]).unwrap_or_default();
            // A file over its cap may have been cut inside its last character.
            (good, whole || e.error_len().is_some())
        }
    };
    let mut report = Report { list: vec![], total: 0, worst: Severity::Note, first_line: 1, text };
    let (manifest, body, findings) =
        if broken { (None, None, Findings::default()) } else { read(folder, text, whole, &mut report) };
    if broken {
        let fix = "save the file as UTF-8";
        let cause = match seen {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "the file is UTF-16, not UTF-8".to_owned(),
            _ => format!("the byte 0x{:02X} is not UTF-8", seen.get(text.len()).copied().unwrap_or_default()),
        };
        report.byte(Code::UnicodeMalformed, Severity::Unreadable, text.len(), &cause, fix);
    }
    if !whole {
        let cause = format!("the file has {total} bytes, at most {FILE_MAX} are read");
        let fix = "move details into files below references/";
        report.add(Diagnostic::new(Code::BodyTooLarge, Severity::NotPortable, Some(Position::START), &cause, fix));
    }
    let verdict = match report.worst {
        Severity::Note | Severity::Warning => Verdict::Portable,
        Severity::NotPortable => Verdict::Readable,
        Severity::Unreadable => Verdict::Unreadable,
    };
    let mut diagnostics = report.list;
    diagnostics.sort_by(|a, b| (a.at, b.severity).cmp(&(b.at, a.severity)));
    Inspection {
        verdict,
        manifest: manifest.filter(|_| verdict != Verdict::Unreadable),
        diagnostics,
        diagnostics_total: report.total,
        digest,
        whole,
        body: body.unwrap_or(seen.len()..seen.len()),
        findings,
    }
}

fn read(
    folder: &str,
    text: &str,
    whole: bool,
    report: &mut Report<'_>,
) -> (Option<Manifest>, Option<Range<usize>>, Findings) {
    use Severity::{NotPortable, Unreadable};
    let split = match fence::split(text, FRONTMATTER_MAX) {
        Ok(split) => split,
        Err((fault, at)) => {
            let (code, fix) = match fault {
                FenceFault::Missing => (Code::FrontmatterMissing, "begin the file with ---, name, description, ---"),
                FenceFault::Unclosed => (Code::FrontmatterMissing, "close it with a line of three dashes"),
                FenceFault::TooLarge(_) => {
                    (Code::FrontmatterTooLarge, "keep the six fields short, or close the frontmatter")
                }
            };
            report.add(Diagnostic::new(code, Unreadable, Some(at), &fault.to_string(), fix));
            return (None, None, Findings::default());
        }
    };
    report.first_line = split.first_line;
    match split.lenient {
        None => {}
        Some(Lenient::LeadingBlank) => {
            let cause = "there are blanks or blank lines before the first line of dashes";
            let fix = "let the file begin with ---";
            report.add(Diagnostic::new(Code::FrontmatterMissing, NotPortable, Some(Position::START), cause, fix));
        }
        Some(Lenient::LoneCr) => {
            let cause = "lines end in a lone carriage return (U+000D)";
            let fix = "save the file with LF or CRLF line ends";
            report.add(Diagnostic::new(Code::UnicodeMalformed, NotPortable, Some(Position::START), cause, fix));
        }
    }
    characters(text, &split, report);
    let (root, comments) = match yaml::read(&split.yaml) {
        Ok(doc) => {
            for issue in &doc.issues {
                report.feature(issue.feature, issue.at, NotPortable, "");
            }
            (doc.root, doc.comments)
        }
        Err(fault) => {
            let repaired = repair::read(&split.yaml);
            let severity = if repaired.is_some() { NotPortable } else { Unreadable };
            if fault.bad_escape {
                let cause = "an escape names half of a surrogate pair, or no character";
                report.push(Code::UnicodeMalformed, severity, fault.at, cause, "write the character itself");
            } else if fault.feature == Feature::Syntax && !fault.words.is_empty() {
                let (cause, fix) = (format!("this is not YAML: {}", fault.words), Feature::Syntax.fix());
                report.push(Code::YamlUnsupported(Feature::Syntax), severity, fault.at, &cause, fix);
            } else {
                report.feature(fault.feature, fault.at, severity, "");
            }
            repaired.map_or((None, vec![]), |r| (r.document.root, vec![]))
        }
    };
    for at in comments {
        let cause = "“ #” begins a comment here; what follows is not part of the value";
        report.push(
            Code::TextAfterHash,
            Severity::Note,
            at,
            cause,
            "put the value in quotes if the text belongs to it",
        );
    }
    let manifest = if root.is_none() && report.worst == Unreadable {
        None
    } else {
        Some(manifest::read(folder, root.as_ref(), report))
    };
    if whole {
        body(text, &split.body, report);
    }
    let findings = hidden::scan(text);
    hidden_ones(&findings, report);
    (manifest, Some(split.body), findings)
}

/// Characters that may stand nowhere between the fences, and NUL anywhere.
fn characters(text: &str, split: &fence::Split<'_>, report: &mut Report<'_>) {
    use Severity::NotPortable;
    if let Some((at, c)) = hidden::forbidden(&split.yaml) {
        let at = Places::new(&split.yaml).at(at);
        let at = Mark { line: at.line as usize, column: at.column as usize - 1 };
        let cause = format!("there is U+{:04X} in the frontmatter, a control or bidi control character", u32::from(c));
        report.push(Code::UnicodeMalformed, NotPortable, at, &cause, "remove it");
    }
    if !is_nfc(&split.yaml) {
        let differs = split.yaml.char_indices().zip(split.yaml.nfc()).find(|((_, a), b)| a != b);
        let at = Places::new(&split.yaml).at(differs.map_or(0, |((i, _), _)| i));
        let at = Mark { line: at.line as usize, column: at.column as usize - 1 };
        let cause = "the frontmatter is not in normal form C: a letter is written as two characters here";
        report.push(Code::UnicodeMalformed, NotPortable, at, cause, "write composed characters");
    }
    if let Some(i) = text[split.body.clone()].find('\0') {
        let at = split.body.start + i;
        report.byte(Code::UnicodeMalformed, NotPortable, at, "there is a NUL (U+0000) in the body", "remove it");
    }
}

fn body(text: &str, range: &Range<usize>, report: &mut Report<'_>) {
    let body = &text[range.clone()];
    if body.trim().is_empty() {
        let cause = "there is nothing after the frontmatter";
        report.byte(Code::BodyEmpty, Severity::NotPortable, range.start, cause, "write the steps to follow");
    } else if body.len() > BODY_MAX {
        let cause = format!("the body has {} bytes, at most {BODY_MAX} are allowed", body.len());
        let fix = "move details into files below references/";
        report.byte(Code::BodyTooLarge, Severity::NotPortable, range.start, &cause, fix);
    } else {
        let lines = body.bytes().filter(|b| *b == b'\n').count() + usize::from(!body.ends_with('\n'));
        if lines > BODY_LINES_ADVISED {
            let cause = format!("the body has {lines} lines; the format advises at most {BODY_LINES_ADVISED}");
            let fix = "move details into files below references/";
            report.byte(Code::BodyLong, Severity::Note, range.start, &cause, fix);
        }
    }
}

/// One diagnostic a kind, at its first place; the list itself is in the findings.
fn hidden_ones(findings: &Findings, report: &mut Report<'_>) {
    for kind in [Hiding::Tag, Hiding::ZeroWidth, Hiding::Bidi, Hiding::Variation, Hiding::Control] {
        let mut runs = findings.runs.iter().filter(|r| r.kind == kind);
        let Some(first) = runs.next() else { continue };
        let mut cause = format!("{}: {}", first.written(), kind.words());
        if !first.spells.is_empty() {
            cause.push_str(&format!("; they spell “{}”", first.spells));
        }
        let more = runs.count();
        if more > 0 {
            cause.push_str(&format!(", and {more} more places"));
        }
        let fix = "remove it, or read the text with hidden characters shown before you trust it";
        report.add(Diagnostic::new(Code::HiddenCharacter, Severity::Warning, Some(first.at), &cause, fix));
    }
}
