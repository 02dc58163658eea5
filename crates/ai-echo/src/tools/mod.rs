//! The built-in tools: each defined once, run as a stepper that only asks for what it needs.
//!
//! A tool never touches a file itself. It says which entries to list, which bytes to read and,
//! after a review, which whole file to write over exactly the bytes that were reviewed; somebody
//! else performs that. So the bounds, the "never opened" list and the order of checks are here,
//! and are tested without a disk.

pub mod calculator;
mod clock;
mod definition;
mod files;
mod proposal;
mod search;
#[cfg(test)]
mod tests;

use kernel::mount::{MountError, MountPath, Reply, Step};
use kernel::{Instant, MountId, Refusal};
use serde_json::Value;

pub use clock::{Zone, say_time};
pub use definition::{DEFINITIONS, Definition, Field, FieldKind, Tool};
pub use proposal::{Apply, Change, DiffKind, DiffLine, MAX_FILE, Proposal, Propose};

use crate::turn::Effect;

/// The most of a result that is kept, in bytes (engine.md §2.12).
pub const MAX_RESULT: usize = 1024 * 1024;
/// The most of a result that enters a prompt, in bytes (engine.md §2.12).
pub const MAX_IN_PROMPT: usize = 32 * 1024;

/// What a tool found, or why not: data from outside, never an instruction (I-142).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// It did what it was asked.
    pub ok: bool,
    /// The whole result as text, bounded by [`MAX_RESULT`].
    pub text: String,
    /// One line for the card.
    pub summary: String,
    /// Something was left out; `summary` says what.
    pub truncated: bool,
    /// What is known about the effect.
    pub effect: Effect,
    /// The file was not what was reviewed.
    pub changed: bool,
    /// An app to open, for `apps.open`.
    pub open: Option<String>,
}

impl Outcome {
    /// A result.
    pub fn found(text: String, summary: String) -> Self {
        Self { ok: true, text, summary, truncated: false, effect: Effect::None, changed: false, open: None }
    }
    /// A failure in words.
    pub fn failed(why: &Refusal) -> Self {
        let words = why.plain();
        Self { ok: false, ..Self::found(words.clone(), words) }
    }
}

/// What a running tool may see of its surroundings.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The active mount (decision 20).
    pub mount: MountId,
    /// The time, for `clock.now`.
    pub now: Instant,
    /// The person's time zone.
    pub zone: Zone,
}

/// A tool that reads, running.
#[derive(Clone, Debug)]
pub struct Run(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Ready(Box<Outcome>),
    List(files::List),
    Read(files::Read),
    Search(Box<search::Search>),
}

impl Run {
    /// Begins a call whose arguments the router has let through.
    ///
    /// # Errors
    /// A refusal when an argument is not usable after all (a path, for example), or when the
    /// tool is one that changes something: those run as [`Apply`] of a reviewed [`Proposal`].
    pub fn start(tool: Tool, arguments: &Value, around: &Surroundings) -> Result<Self, Refusal> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
        let path = |name: &str| path_of(&around.mount, text(name).unwrap_or_default());
        let kind = match tool {
            Tool::FilesList => Kind::List(files::List::new(path("path")?)),
            Tool::FilesRead => {
                Kind::Read(files::Read::new(file_of(path("path")?)?, number("first_line"), number("line_count")))
            }
            Tool::FilesSearch => {
                Kind::Search(Box::new(search::Search::new(path("path")?, needed(text("query"), "query")?)?))
            }
            Tool::CalculatorEvaluate => {
                let expression = needed(text("expression"), "expression")?;
                let value = calculator::evaluate(expression).map_err(|e| {
                    let needed = if e.is_of_value() { "" } else { "arithmetic such as 12*7" };
                    Refusal::new("ArgValue", &kernel::clip::label(expression, 80), needed, &e.to_string())
                })?;
                let value = value.to_string();
                let line = calculator::equation(&kernel::clip::label(expression, 80), &value);
                ready(value, line)
            }
            Tool::ClockNow => {
                let said = say_time(around.now, &around.zone);
                ready(said.clone(), said)
            }
            Tool::AppsOpen => {
                let app = needed(text("app"), "app")?;
                let said = format!("Opening {app}.");
                Kind::Ready(Box::new(Outcome { open: Some(app.to_owned()), ..Outcome::found(said.clone(), said) }))
            }
            Tool::FilesWrite | Tool::FilesEdit | Tool::FilesUndo => {
                return Err(Refusal::new("NeedsReview", tool.name(), "a review before it runs", "a call without one"));
            }
        };
        Ok(Self(kind))
    }

    /// Goes on with the replies to what was asked for last; the first time with none.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Outcome> {
        match &mut self.0 {
            Kind::Ready(outcome) => Step::Done((**outcome).clone()),
            Kind::List(list) => list.step(replies),
            Kind::Read(read) => read.step(replies),
            Kind::Search(search) => search.step(replies),
        }
    }
}

fn ready(text: String, summary: String) -> Kind {
    Kind::Ready(Box::new(Outcome::found(text, summary)))
}

fn needed<'a>(value: Option<&'a str>, name: &str) -> Result<&'a str, Refusal> {
    value
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| Refusal::new("ArgMissing", name, "a text", "it is missing"))
}

/// A path of an argument, inside the mount.
///
/// # Errors
/// `PathOutsideMount` and its siblings.
pub fn path_of(mount: &MountId, text: &str) -> Result<MountPath, Refusal> {
    Ok(MountPath::parse_in(mount, text)?)
}

fn file_of(path: MountPath) -> Result<MountPath, Refusal> {
    if path.is_root() { Err(MountError::WrongKind.about(&path)) } else { Ok(path) }
}

/// Whether bytes are text as far as this product shows it.
fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// `1 byte`, `12 bytes`, `3.4 KiB`.
pub fn size_words(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
