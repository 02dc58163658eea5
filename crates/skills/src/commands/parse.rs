//! From bytes to a command file.

use kernel::mount::MountPath;
use kernel::{Digest, SkillId};

use super::header::Header;
use super::{CommandFile, CommandRefusal, DESCRIPTION_MAX, FILE_MAX, Format, HEADER_MAX, inert};
use crate::arguments::{Dialect, IndexBase, Template};
use crate::frontmatter::fence::{self, FenceFault};
use crate::hidden;

/// Header keys with a meaning here.
const KNOWN: [&str; 6] = ["description", "argument-hint", "arguments", "allowed-tools", "tools", "substitute-in-code"];
/// Most tools named by one file.
const TOOLS_MAX: usize = 64;

/// The format and the name that a path gives, relative to the workspace.
///
/// # Errors
/// It is no command file, or its name cannot be typed.
pub(super) fn name_of(path: &str) -> Result<(Format, SkillId), CommandRefusal> {
    let unknown = || CommandRefusal::PathUnknown(path.to_owned());
    let (format, rest) = Format::ALL
        .into_iter()
        .flat_map(|format| format.roots().iter().map(move |root| (format, *root)))
        .find_map(|(format, root)| Some((format, path.strip_prefix(root)?.strip_prefix('/')?)))
        .ok_or_else(unknown)?;
    let stem = rest.strip_suffix(format.ending()).filter(|s| !s.is_empty()).ok_or_else(unknown)?;
    let name = stem.replace('/', ".");
    match SkillId::new(&name) {
        Ok(id) => Ok((format, id)),
        Err(_) => {
            let slug = hidden::names::slug(&name);
            let suggestion = match SkillId::new(&slug) {
                Ok(id) => format!("call the file {id}{}", format.ending()),
                Err(_) => "use a to z, 0 to 9, dot, underscore and hyphen, 64 at most".to_owned(),
            };
            Err(CommandRefusal::NameInvalid { name, suggestion })
        }
    }
}

/// Reads one command file. `path` is relative to the workspace; `bytes` are the whole file.
///
/// # Errors
/// [`CommandRefusal`]; never panics, whatever the bytes.
pub fn parse(path: &MountPath, bytes: &[u8]) -> Result<CommandFile, CommandRefusal> {
    let (format, id) = name_of(path.as_str())?;
    if bytes.len() > FILE_MAX {
        return Err(CommandRefusal::TooLarge { what: "file", there: bytes.len() as u64, most: FILE_MAX });
    }
    let text = std::str::from_utf8(bytes).ok().filter(|t| !t.contains('\0')).ok_or(CommandRefusal::NotText)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let found = match format {
        Format::Gemini => toml_file(&text)?,
        _ => markdown(&text, format)?,
    };
    let prompt = found.prompt.trim();
    if prompt.is_empty() {
        return Err(CommandRefusal::Empty);
    }
    let description = found.description.unwrap_or_else(|| first_line(prompt));
    let description: String = description.chars().take(DESCRIPTION_MAX).collect();
    Ok(CommandFile {
        id,
        format,
        path: path.clone(),
        description,
        template: Template::parse(prompt, &found.dialect)?,
        hint: found.hint,
        tool_hints: found.tool_hints,
        ignored: found.ignored,
        inert: inert::find(prompt, format),
        hidden: hidden::scan(&text).total,
        digest: Digest::of(bytes),
    })
}

/// What a file says, whatever its format.
struct Parts {
    prompt: String,
    description: Option<String>,
    hint: Option<String>,
    tool_hints: Vec<String>,
    ignored: Vec<String>,
    dialect: Dialect,
}

fn first_line(prompt: &str) -> String {
    let line = prompt.lines().map(|l| l.trim_start_matches(['#', ' ', '*', '-', '>'])).find(|l| !l.trim().is_empty());
    line.unwrap_or("").trim().to_owned()
}

fn markdown(text: &str, format: Format) -> Result<Parts, CommandRefusal> {
    let (header, body) = match fence::split(text, HEADER_MAX) {
        Ok(split) => (Header::parse(&split.yaml), &text[split.body]),
        Err((FenceFault::Missing, _)) => (Header::default(), text),
        Err((FenceFault::Unclosed, _)) => return Err(CommandRefusal::HeaderUnclosed),
        Err((FenceFault::TooLarge(most), _)) => {
            return Err(CommandRefusal::TooLarge { what: "header", there: text.len() as u64, most });
        }
    };
    let hint = header.text("argument-hint");
    let copilot = format == Format::Copilot;
    let dialect = Dialect {
        base: if format == Format::Claude { IndexBase::Zero } else { IndexBase::One },
        names: if format == Format::Claude { header.list("arguments") } else { Vec::new() },
        // A hint in square brackets says that the argument may be left out.
        optional: hint.as_ref().is_some_and(|h| h.starts_with('[') && !h.contains('<')),
        in_fences: header.flag("substitute-in-code"),
        backslash: format == Format::Claude,
        dollar: !copilot,
        curly: false,
        inputs: copilot,
    };
    let mut tool_hints = header.list("allowed-tools");
    tool_hints.extend(header.list("tools"));
    tool_hints.truncate(TOOLS_MAX);
    Ok(Parts {
        prompt: body.to_owned(),
        description: header.text("description"),
        hint,
        tool_hints,
        ignored: header.others(&KNOWN),
        dialect,
    })
}

fn toml_file(text: &str) -> Result<Parts, CommandRefusal> {
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
        let at = e.span().map_or(0, |s| s.start.min(text.len()));
        let line = text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1;
        CommandRefusal::Toml { line, cause: e.message().to_owned() }
    })?;
    let field = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(CommandRefusal::Toml {
            line: 1,
            cause: format!("“{key}” is {}, and a text is meant", other.type_str()),
        }),
    };
    Ok(Parts {
        prompt: field("prompt")?
            .ok_or_else(|| CommandRefusal::Toml { line: 1, cause: "there is no “prompt”".into() })?,
        description: field("description")?,
        hint: None,
        tool_hints: Vec::new(),
        ignored: table.keys().filter(|k| !matches!(k.as_str(), "prompt" | "description")).cloned().collect(),
        dialect: Dialect { dollar: false, curly: true, ..Dialect::own() },
    })
}
