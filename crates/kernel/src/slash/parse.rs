//! What a draft is shaped like, and what its arguments are.

use super::{SlashRefusal, SlashRow, TASK_MAX};
use crate::Kernel;
use crate::registry::ArgKind;

/// Completions told at most.
const COMPLETIONS_MAX: usize = 50;

/// Shape of a draft, decided on the first line only (I-160).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// A message.
    Plain,
    /// Starts with a slash but is a path, `//` or `/ `: not a command, and not sent without a
    /// word either (decision 8, `field_3h3`).
    NotCommand(&'a str),
    /// A name, and everything after it.
    Command {
        /// Without the slash; may be empty or unfinished.
        name: &'a str,
        /// Behind the name, further lines included; without the blank that separates.
        rest: &'a str,
        /// A blank follows the name: the name is finished.
        finished: bool,
    },
}

/// Shape of `text`.
#[must_use]
pub fn classify(text: &str) -> Shape<'_> {
    let start = text.trim_start_matches([' ', '\t']);
    let Some(body) = start.strip_prefix('/') else { return Shape::Plain };
    let end = body.find(char::is_whitespace).unwrap_or(body.len());
    let (name, rest) = body.split_at(end);
    let token = &start[..=end];
    if name.contains('/') || (name.is_empty() && !rest.is_empty()) {
        return Shape::NotCommand(token);
    }
    Shape::Command { name, rest: rest.strip_prefix(char::is_whitespace).unwrap_or(rest), finished: !rest.is_empty() }
}

/// The argument hint while typing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgHint {
    /// Slots: label, and whether it is the one being typed.
    pub slots: Vec<(String, bool)>,
    /// Values that complete the current slot.
    pub completions: Vec<String>,
    /// How much of the current slot is typed.
    pub typed: String,
}

/// Hint and completions for a row whose name is finished and after which `rest` is typed.
#[must_use]
pub fn hint(kernel: &Kernel, row: &SlashRow, rest: &str) -> ArgHint {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let open = !rest.is_empty() && !rest.ends_with(char::is_whitespace);
    let done = words.len() - usize::from(open);
    // The last slot takes the rest of the line.
    let current = done.min(row.args.len().saturating_sub(1));
    let typed = if open { words.last().copied().unwrap_or("") } else { "" };
    let slots = row
        .args
        .iter()
        .enumerate()
        .map(|(i, a)| (if a.required { format!("<{}>", a.name) } else { format!("[{}]", a.name) }, i == current))
        .collect();
    let completions = match row.args.get(current).filter(|_| done <= current) {
        Some(slot) => {
            let mut all = values(kernel, &slot.kind);
            all.retain(|v| v.starts_with(typed) && v != typed);
            all.truncate(COMPLETIONS_MAX);
            all
        }
        None => vec![],
    };
    ArgHint { slots, completions, typed: typed.to_owned() }
}

fn values(kernel: &Kernel, kind: &ArgKind) -> Vec<String> {
    match kind {
        ArgKind::Text => vec![],
        ArgKind::Enum(v) => v.clone(),
        ArgKind::Package => kernel.packages().iter().map(|p| p.id.to_string()).collect(),
        ArgKind::App => kernel.apps().iter().map(|a| a.id.to_string()).collect(),
    }
}

/// The arguments of a local row, checked against its slots.
///
/// # Errors
/// `SlashArgument`, `SlashTaskMissing`, `SlashTooLong`.
pub fn split_args(kernel: &Kernel, row: &SlashRow, rest: &str) -> Result<Vec<String>, SlashRefusal> {
    if rest.len() > TASK_MAX {
        return Err(SlashRefusal::SlashTooLong { size: rest.len(), max: TASK_MAX });
    }
    let mut rest = rest.trim();
    let mut out = Vec::new();
    for (i, slot) in row.args.iter().enumerate() {
        let last = i + 1 == row.args.len();
        let end = if last { rest.len() } else { rest.find(char::is_whitespace).unwrap_or(rest.len()) };
        let (value, tail) = rest.split_at(end);
        rest = tail.trim_start();
        if value.is_empty() {
            if slot.required {
                let what = format!("{} needs <{}>", row.canonical, slot.name);
                return Err(SlashRefusal::SlashArgument(what));
            }
            break;
        }
        let allowed = values(kernel, &slot.kind);
        if slot.kind != ArgKind::Text && !allowed.iter().any(|a| a == value) {
            let list = allowed.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            let shown = crate::clip::label(value, 64);
            return Err(SlashRefusal::SlashArgument(format!("<{}> is “{shown}”, expected one of {list}", slot.name)));
        }
        out.push(value.to_owned());
    }
    if row.args.is_empty() && !rest.is_empty() {
        return Err(SlashRefusal::SlashArgument(format!("{} takes nothing after its name", row.canonical)));
    }
    Ok(out)
}
