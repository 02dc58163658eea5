//! Which single tool an ordinary sentence asks for, if it clearly asks for one.
//!
//! Each rule looks at the words alone. More than one match, or none, offers no tool: the sentence
//! is then answered as talk. No rule ever leads to a tool that changes something.

use super::AppName;
use super::spans::{looks_like_path, path_shaped, plain_words, quoted, without_quotes};
use crate::tools::{Tool, calculator};

/// The tool that exactly one rule matches.
pub fn tool_for(words: &str, apps: &[AppName]) -> Option<Tool> {
    // A long text is pasted content, not a request.
    if words.len() > 600 {
        return None;
    }
    let rules: [(Tool, bool); 6] = [
        (Tool::FilesRead, reads(words)),
        (Tool::FilesList, lists(words)),
        (Tool::FilesSearch, searches(words)),
        (Tool::CalculatorEvaluate, calculates(words)),
        (Tool::ClockNow, asks_time(words)),
        (Tool::AppsOpen, app_to_open(words, apps).is_some()),
    ];
    let mut matching = rules.iter().filter(|(_, matches)| *matches).map(|(tool, _)| *tool);
    match (matching.next(), matching.next()) {
        (Some(tool), None) => Some(tool),
        _ => None,
    }
}

fn begins(words: &[String], starts: &[&str]) -> bool {
    let text = words.join(" ");
    starts.iter().any(|start| text == *start || text.strip_prefix(start).is_some_and(|rest| rest.starts_with(' ')))
}

/// Words that may stand before any request.
fn without_please(words: &str) -> Vec<String> {
    let mut words = plain_words(words);
    for lead in ["please", "can you", "could you", "would you", "please"] {
        let lead: Vec<&str> = lead.split(' ').collect();
        if words.len() > lead.len() && words.iter().zip(&lead).all(|(word, lead)| word == lead) {
            words.drain(..lead.len());
        }
    }
    words
}

/// A file is named and something that reading answers is asked about it.
fn reads(words: &str) -> bool {
    let asks = begins(
        &without_please(words),
        &[
            "read",
            "show",
            "show me",
            "print",
            "cat",
            "display",
            "open",
            "what is in",
            "what's in",
            "whats in",
            "what does",
            "what stands in",
            "what is written in",
            "tell me what is in",
        ],
    );
    let files: Vec<String> =
        path_shaped(words).into_iter().filter(|path| !path.ends_with('/') && names_a_file(path)).collect();
    asks && files.len() == 1 && quoted(words).is_empty()
}

fn names_a_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    looks_like_path(name)
}

/// A folder's content is asked for, and no file is named.
fn lists(words: &str) -> bool {
    let plain = without_please(words);
    let asks = begins(
        &plain,
        &[
            "list",
            "ls",
            "which files",
            "what files",
            "show files",
            "show the files",
            "show me the files",
            "show my files",
            "list files",
            "what is in the folder",
            "what's in the folder",
            "show the folder",
            "what is in folder",
        ],
    ) || (begins(&plain, &["what is in", "what's in"])
        && path_shaped(words).iter().any(|p| p.ends_with('/')));
    // "List three reasons" asks for text: a folder's list names files, a folder or nothing else.
    let about_files = plain.len() <= 2
        || plain.iter().any(|word| {
            matches!(
                word.as_str(),
                "files" | "folder" | "folders" | "directory" | "ls" | "mount" | "workspace" | "notes"
            )
        })
        || !path_shaped(words).is_empty();
    let count = plain.iter().any(|word| word.chars().all(|c| c.is_ascii_digit()));
    asks && about_files && !count && !path_shaped(words).iter().any(|path| names_a_file(path))
}

/// A search is asked for by its name.
fn searches(words: &str) -> bool {
    let plain = without_please(words);
    let named =
        begins(&plain, &["search", "grep", "search for", "look for", "search files for", "search my notes for"])
            && plain.len() > 1;
    let found = begins(&plain, &["find"]) && (!quoted(words).is_empty() || begins_in_files(&plain));
    named || found
}

fn begins_in_files(plain: &[String]) -> bool {
    let text = plain.join(" ");
    ["in my notes", "in my files", "in the files", "in all files", "in the notes", "in notes"]
        .iter()
        .any(|end| text.ends_with(end))
}

/// Nothing but arithmetic is asked.
fn calculates(words: &str) -> bool {
    expression(words, true).is_some()
}

/// The arithmetic in some words; `alone` when nothing else may stand beside it but a question.
pub(super) fn expression(words: &str, alone: bool) -> Option<String> {
    let tokens: Vec<&str> = words.split_whitespace().collect();
    if tokens.len() > 40 {
        return None;
    }
    let is_question = |token: &str| {
        let word = token.trim_matches(|c: char| matches!(c, '?' | '!' | ',' | ':' | '=' | '.')).to_lowercase();
        word.is_empty()
            || matches!(
                word.as_str(),
                "what"
                    | "is"
                    | "what's"
                    | "whats"
                    | "calculate"
                    | "compute"
                    | "how"
                    | "much"
                    | "the"
                    | "result"
                    | "of"
                    | "please"
                    | "equals"
                    | "evaluate"
                    | "does"
                    | "make"
                    | "are"
            )
    };
    // The longest run of tokens that has a value and does something to its numbers.
    for length in (1..=tokens.len()).rev() {
        for start in 0..=tokens.len() - length {
            let text = tokens[start..start + length].join(" ");
            let text = text.trim_end_matches(['?', '=', '!', ' ']);
            let text = if tokens.len() == start + length { text.trim_end_matches('.') } else { text };
            let rest_asks = tokens[..start].iter().chain(&tokens[start + length..]).all(|token| is_question(token));
            if (!alone || rest_asks) && does_something(text) && is_arithmetic(text) {
                return Some(text.to_owned());
            }
        }
    }
    None
}

/// It can be read as arithmetic. What has no value (`1/0`), is found as well: the calculator says
/// why in its own words.
pub(super) fn is_arithmetic(text: &str) -> bool {
    match calculator::evaluate(text) {
        Ok(_) => true,
        Err(e) => e.is_of_value(),
    }
}

/// Has a number, and an operation on it; a date or `24/7` alone is none.
fn does_something(text: &str) -> bool {
    let digits = text.chars().any(|c| c.is_ascii_digit());
    let body = text.trim_start_matches(['-', '+']);
    let operation = body.contains(['+', '*', '/', '^', '×', '÷', '·', '%', '!', '√', '−'])
        || body.contains(" x ")
        || body.contains('-')
        || ["sqrt", "abs", "round", "floor", "ceil", "min(", "max(", " times ", " of ", " mod "]
            .iter()
            .any(|f| body.to_lowercase().contains(f));
    let date = body.split(['-', '/']).count() == 3 && body.chars().all(|c| c.is_ascii_digit() || c == '-' || c == '/');
    digits && operation && !date
}

/// The time or the date is asked for, in one of the ways people ask.
fn asks_time(words: &str) -> bool {
    let text = without_please(words).join(" ");
    let text = text.strip_suffix(" please").unwrap_or(&text);
    let text = text.strip_suffix(" now").or(text.strip_suffix(" today")).unwrap_or(text);
    matches!(
        text,
        "what time is it"
            | "what's the time"
            | "what is the time"
            | "tell me the time"
            | "what day is it"
            | "what date is it"
            | "what is the date"
            | "what's the date"
            | "what is today's date"
            | "what's today's date"
            | "what day is"
            | "which day is it"
            | "time"
            | "date"
            | "today's date"
    )
}

/// "Open" and the name of one app, nothing else.
pub(super) fn app_to_open<'a>(words: &str, apps: &'a [AppName]) -> Option<&'a AppName> {
    let plain = without_please(&without_quotes(words, &quoted(words)));
    if !begins(&plain, &["open", "launch", "start", "go to", "show"]) {
        return None;
    }
    let skip = if plain.first().is_some_and(|word| word == "go") { 2 } else { 1 };
    let rest: Vec<&str> = plain[skip..]
        .iter()
        .map(String::as_str)
        .filter(|word| !matches!(*word, "the" | "app" | "window" | "my"))
        .collect();
    let rest = rest.join(" ");
    named_app(&rest, apps)
}

/// The one app of this id or title.
pub(super) fn named_app<'a>(name: &str, apps: &'a [AppName]) -> Option<&'a AppName> {
    let mut found = apps.iter().filter(|app| app.id == name || app.title.to_lowercase() == name);
    match (found.next(), found.next()) {
        (Some(app), None) => Some(app),
        _ => None,
    }
}
