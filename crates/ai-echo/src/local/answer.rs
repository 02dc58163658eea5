//! What AI Echo says about a tool's result: a sentence of the product's and the result, quoted.

use serde_json::Value;

use crate::markdown::{Block, blocks_to_markdown};
use crate::tools::calculator::equation;
use crate::tools::{Outcome, Tool};

/// The most of a result that is quoted in an answer.
pub const MAX_QUOTE: usize = 4096;

/// The answer about one result.
pub fn answer(tool: Tool, arguments: &Value, outcome: &Outcome) -> String {
    if !outcome.ok {
        return format!("That did not work. {}", outcome.text.trim());
    }
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let more =
        if outcome.truncated { format!("\n\n{}.", outcome.summary.trim_end_matches('.')) } else { String::new() };
    match tool {
        Tool::FilesRead if outcome.text.trim().is_empty() => format!("{} is empty.", code(argument("path"))),
        Tool::FilesRead => {
            format!("{} says:\n\n{}{more}", code(argument("path")), quote(argument("path"), &outcome.text))
        }
        Tool::FilesList => {
            let place = match argument("path") {
                "" | "." => "In the mounted folder".to_owned(),
                path => format!("In {}", code(path)),
            };
            format!("{place}:\n\n{}{more}", quote("", &outcome.text))
        }
        Tool::FilesSearch => {
            format!("{}:\n\n{}", outcome.summary.split(';').next().unwrap_or_default(), quote("", &outcome.text))
        }
        Tool::CalculatorEvaluate => equation(argument("expression"), &outcome.text),
        Tool::ClockNow => format!("It is {}.", outcome.text),
        Tool::AppsOpen => outcome.text.clone(),
        Tool::FilesWrite | Tool::FilesEdit | Tool::FilesUndo => {
            format!("{} The receipt is above.", outcome.text.trim())
        }
    }
}

fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    format!("{fence}{}{fence}", text.replace('\n', " "))
}

/// A quotation that nothing in it can leave.
fn quote(path: &str, text: &str) -> String {
    let lang = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, ext)| ext);
    let text = kernel::clip::clip(text.trim_end_matches('\n'), MAX_QUOTE).into_owned();
    blocks_to_markdown(&[Block::Code { lang: lang.to_owned(), text }]).trim_end().to_owned()
}
