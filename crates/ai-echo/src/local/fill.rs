//! Filling one tool's arguments: rules first, the model ranks what is left, a missing one is
//! asked for.

use std::collections::VecDeque;

use kernel::MountId;
use kernel::mount::{EntryKind, MountPath, Need, Reply, Step};
use models::Message;
use serde_json::{Map, Value};

use super::AppName;
use super::rules::{expression, is_arithmetic, named_app};
use super::spans::{MAX_SPANS, Quoted, bare, looks_like_path, path_shaped, plain_words, quoted, without_quotes};
use crate::tools::{Definition, Field, FieldKind, Tool, path_of};

/// Candidates that the model is asked to rank.
pub const MAX_CANDIDATES: usize = 24;
/// Folders listed to find names.
const MAX_FOLDERS: usize = 64;
/// Names kept.
const MAX_NAMES: usize = 1024;
/// Folders below the mount's root.
const MAX_DEPTH: usize = 5;
/// Entries of one folder.
const MAX_ENTRIES: usize = 256;

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Filled {
    /// All arguments are there.
    Call(Value),
    /// The model should rank these for one argument; then [`Fill::scored`].
    Rank {
        /// The prompt.
        messages: Vec<Message>,
        /// What the assistant has "said" so far.
        assistant_prefix: String,
        /// The candidates as they would go on, closing quote included.
        candidates: Vec<String>,
    },
    /// A required argument has no candidate.
    Question(String),
}

/// The filling of one call.
#[derive(Clone, Debug)]
pub struct Fill {
    definition: &'static Definition,
    words: String,
    mount: Option<MountId>,
    apps: Vec<AppName>,
    folders: VecDeque<(MountPath, usize)>,
    asked: Vec<(MountPath, usize)>,
    listed: usize,
    names: Vec<(MountPath, EntryKind)>,
    values: Map<String, Value>,
    ranking: Option<(&'static str, Vec<String>)>,
}

impl Fill {
    /// Begins for a tool and a person's words. Without a mount no names are looked up.
    pub fn new(tool: Tool, words: &str, mount: Option<MountId>, apps: Vec<AppName>) -> Self {
        let definition = tool.definition();
        let needs_names = definition
            .fields
            .iter()
            .any(|f| matches!(f.kind, FieldKind::ExistingFile | FieldKind::AnyFile | FieldKind::Folder));
        let walk = needs_names && mount.is_some();
        let folders = if walk { VecDeque::from([(MountPath::root(), 0)]) } else { VecDeque::new() };
        Self {
            definition,
            words: words.trim().to_owned(),
            mount,
            apps,
            folders,
            asked: Vec::new(),
            listed: 0,
            names: Vec::new(),
            values: Map::new(),
            ranking: None,
        }
    }

    /// Goes on with the replies; the first time with none.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Filled> {
        for ((folder, depth), reply) in std::mem::take(&mut self.asked).into_iter().zip(replies) {
            // A folder that cannot be listed gives no candidates; the tool itself will say why.
            let Reply::Listed { entries, .. } = reply else { continue };
            for entry in entries {
                let Ok(path) = folder.join(&entry.name) else { continue };
                if self.names.len() == MAX_NAMES {
                    break;
                }
                if entry.kind == EntryKind::Folder
                    && depth < MAX_DEPTH
                    && !entry.name.starts_with('.')
                    && entry.name != "node_modules"
                {
                    self.folders.push_back((path.clone(), depth + 1));
                }
                self.names.push((path, entry.kind));
            }
        }
        while self.asked.len() < 8 && self.listed < MAX_FOLDERS && self.names.len() < MAX_NAMES {
            let Some(folder) = self.folders.pop_front() else { break };
            self.listed += 1;
            self.asked.push(folder);
        }
        if self.asked.is_empty() {
            return Step::Done(self.fill());
        }
        Step::Need(self.asked.iter().map(|(path, _)| Need::List { path: path.clone(), max: MAX_ENTRIES }).collect())
    }

    /// Goes on with the model's ranking.
    pub fn scored(&mut self, scores: &[f32]) -> Filled {
        if let Some((field, candidates)) = self.ranking.take() {
            let best =
                scores.iter().zip(&candidates).filter(|(score, _)| score.is_finite()).max_by(|a, b| a.0.total_cmp(b.0));
            if let Some((_, best)) = best {
                self.values.insert(field.to_owned(), Value::String(best.clone()));
            }
        }
        self.fill()
    }

    fn fill(&mut self) -> Filled {
        let quotes = quoted(&self.words);
        let mut texts: VecDeque<Quoted> = self.quotes_for_texts(&quotes).into();
        for field in self.definition.fields {
            if self.values.contains_key(field.name) {
                if field.kind == FieldKind::Text {
                    texts.pop_front();
                }
                continue;
            }
            let candidates = match field.kind {
                FieldKind::ExistingFile => self.files(&quotes, true),
                FieldKind::AnyFile => self.files(&quotes, false),
                FieldKind::Folder => self.folder(&quotes),
                FieldKind::Text => match texts.pop_front() {
                    Some(span) => vec![span.text],
                    None => self.unquoted_text(field),
                },
                FieldKind::Expression => {
                    expression(&self.words, false).or_else(|| self.bare_number()).into_iter().collect()
                }
                FieldKind::App => self.app(&quotes),
            };
            match candidates.as_slice() {
                [one] => {
                    self.values.insert(field.name.to_owned(), Value::String(one.clone()));
                }
                [] if field.required => return Filled::Question(self.question(field)),
                [] => {}
                // An optional argument that is not clear is left out.
                _ if !field.required => {}
                many => return self.rank(field, many[..many.len().min(MAX_CANDIDATES)].to_vec()),
            }
        }
        Filled::Call(Value::Object(self.values.clone()))
    }

    fn question(&self, field: &Field) -> String {
        let existing: Vec<String> = match field.kind {
            FieldKind::ExistingFile => self
                .names
                .iter()
                .filter(|(_, kind)| *kind == EntryKind::File)
                .map(|(path, _)| path.to_string())
                .take(8)
                .collect(),
            FieldKind::App => self.apps.iter().map(|app| app.title.clone()).take(8).collect(),
            _ => Vec::new(),
        };
        match existing.is_empty() {
            true => field.question.to_owned(),
            false => format!("{} For example: {}.", field.question, existing.join(", ")),
        }
    }

    /// Quoted spans, but not the one that names the file.
    fn quotes_for_texts(&self, quotes: &[Quoted]) -> Vec<Quoted> {
        let texts = self.definition.fields.iter().filter(|f| f.kind == FieldKind::Text).count();
        let needs_path = self.definition.fields.iter().any(|f| f.kind != FieldKind::Text && f.required);
        if !needs_path || quotes.len() <= texts || !path_shaped(&self.words).is_empty() {
            return quotes.to_vec();
        }
        let path = quotes
            .iter()
            .position(|q| self.is_name(&q.text))
            .or_else(|| quotes.iter().position(|q| looks_like_path(&q.text)));
        quotes.iter().enumerate().filter(|(i, _)| Some(*i) != path).map(|(_, q)| q.clone()).collect()
    }

    fn is_name(&self, text: &str) -> bool {
        self.normal(text).is_some_and(|path| self.names.iter().any(|(name, _)| *name == path))
    }

    /// A path as the mount would know it; `None` for one that leads outside.
    fn normal(&self, text: &str) -> Option<MountPath> {
        match &self.mount {
            Some(mount) => path_of(mount, text).ok(),
            None => MountPath::parse(text).ok(),
        }
    }

    fn files(&self, quotes: &[Quoted], must_exist: bool) -> Vec<String> {
        let mut shaped = path_shaped(&self.words);
        if shaped.is_empty() {
            // A path may be quoted too, but a text that happens to hold a dot is no path.
            let texts = self.definition.fields.iter().filter(|f| f.kind == FieldKind::Text).count();
            if quotes.len() > texts {
                shaped.extend(
                    quotes.iter().map(|q| q.text.clone()).filter(|q| self.is_name(q) || looks_like_path(q)).take(1),
                );
            }
        }
        let is_file = |path: &MountPath| self.names.iter().any(|(name, kind)| name == path && *kind == EntryKind::File);
        let exact: Vec<String> =
            shaped.iter().filter(|s| self.normal(s).is_some_and(|path| is_file(&path))).cloned().collect();
        if !exact.is_empty() {
            return exact;
        }
        // A bare file name that exists once somewhere is that file.
        let by_name: Vec<String> = self
            .known_files()
            .filter(|path| shaped.iter().any(|s| s.eq_ignore_ascii_case(path.name())))
            .map(ToString::to_string)
            .collect();
        if !by_name.is_empty() {
            return by_name;
        }
        if !shaped.is_empty() {
            // It does not exist; a tool that reads will say so, one that writes makes it.
            return shaped;
        }
        let words = plain_words(&without_quotes(&self.words, quotes));
        let by_stem: Vec<String> = self
            .known_files()
            .filter(|path| {
                let stem = path.name().rsplit_once('.').map_or(path.name(), |(stem, _)| stem).to_lowercase();
                stem.chars().count() > 1 && words.contains(&stem)
            })
            .map(ToString::to_string)
            .collect();
        if !by_stem.is_empty() {
            return by_stem;
        }
        match must_exist && self.definition.tool == Tool::FilesRead {
            // Reading the wrong file is visible and harmless; nothing else is guessed.
            true => self.known_files().map(ToString::to_string).take(MAX_CANDIDATES).collect(),
            false => Vec::new(),
        }
    }

    fn known_files(&self) -> impl Iterator<Item = &MountPath> {
        self.names.iter().filter(|(_, kind)| *kind == EntryKind::File).map(|(path, _)| path)
    }

    fn folder(&self, quotes: &[Quoted]) -> Vec<String> {
        let is_folder =
            |path: &MountPath| self.names.iter().any(|(name, kind)| name == path && *kind == EntryKind::Folder);
        let shaped: Vec<String> =
            path_shaped(&self.words).into_iter().chain(quotes.iter().map(|q| q.text.clone())).collect();
        let exact: Vec<String> =
            shaped.iter().filter(|s| self.normal(s).is_some_and(|path| is_folder(&path))).take(1).cloned().collect();
        if !exact.is_empty() {
            return exact;
        }
        let words = plain_words(&without_quotes(&self.words, quotes));
        // A folder is meant by its name only at the words' end: "search for notes in src".
        let last = match self.definition.tool {
            Tool::FilesList => &words[..],
            _ => match words.iter().rposition(|word| word == "in") {
                Some(at) => &words[at + 1..],
                None => return Vec::new(),
            },
        };
        let mut named: Vec<String> = self
            .names
            .iter()
            .filter(|(path, kind)| *kind == EntryKind::Folder && last.contains(&path.name().to_lowercase()))
            .map(|(path, _)| path.to_string())
            .collect();
        if named.len() > 1 {
            named.sort_by_key(|path| path.matches('/').count());
            named.truncate(1);
        }
        if named.is_empty() && self.definition.tool == Tool::FilesList {
            // A folder that is not there is said so by the tool, not silently replaced by the root.
            return path_shaped(&self.words).into_iter().take(1).collect();
        }
        named
    }

    fn app(&self, quotes: &[Quoted]) -> Vec<String> {
        let words = plain_words(&self.words);
        let by_quote = quotes.iter().find_map(|q| named_app(&q.text.to_lowercase(), &self.apps));
        if let Some(app) = by_quote {
            return vec![app.id.clone()];
        }
        let text = format!(" {} ", words.join(" "));
        let holds = |name: &str| text.contains(&format!(" {} ", name.to_lowercase()));
        let mut found: Vec<&AppName> = self.apps.iter().filter(|app| holds(&app.id) || holds(&app.title)).collect();
        // "AI Echo" and "Echo" would both match; the longer title is what was said.
        found.sort_by_key(|app| std::cmp::Reverse(app.title.len()));
        if let [first, second, ..] = found.as_slice()
            && first.title.to_lowercase().contains(&second.title.to_lowercase())
        {
            found.truncate(1);
        }
        found.into_iter().map(|app| app.id.clone()).collect()
    }

    fn bare_number(&self) -> Option<String> {
        is_arithmetic(&self.words).then(|| self.words.clone())
    }

    /// A text that is not in quotes, where the sentence says clearly where it is.
    fn unquoted_text(&self, field: &Field) -> Vec<String> {
        let lower = self.words.to_lowercase();
        // Lower-casing may change lengths outside ASCII; then positions would not fit.
        let words = if lower.len() == self.words.len() { &self.words } else { &lower };
        let after = |start: usize| words.get(start..).map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        match (self.definition.tool, field.name) {
            (Tool::FilesSearch, "query") => self.search_words(words, &lower),
            (Tool::FilesWrite, "content") => {
                // `notes/a.md: buy milk`
                lower.find(": ").or_else(|| lower.find(":\n")).and_then(|at| after(at + 1)).into_iter().collect()
            }
            (Tool::FilesEdit, name) => {
                let Some((find, replace)) = replace_pair(words, &lower) else { return Vec::new() };
                vec![if name == "find" { find } else { replace }]
            }
            _ => Vec::new(),
        }
    }

    fn search_words(&self, words: &str, lower: &str) -> Vec<String> {
        let starts = [
            "search for ",
            "search files for ",
            "search my notes for ",
            "look for ",
            "search ",
            "grep ",
            "find ",
            "where is ",
        ];
        let lead = starts.iter().find_map(|start| lower.find(start).map(|at| at + start.len()));
        let mut text = words[lead.unwrap_or(0)..].trim().trim_end_matches(['?', '.', '!']).to_owned();
        // "… in src": the folder is an argument of its own.
        if let Some(at) = text.to_lowercase().rfind(" in ")
            && text.is_char_boundary(at)
            && at > 0
        {
            let tail = text[at + 4..].trim().to_lowercase();
            let folder = self.names.iter().any(|(path, kind)| {
                *kind == EntryKind::Folder
                    && (path.as_str().eq_ignore_ascii_case(&tail) || path.name().eq_ignore_ascii_case(&tail))
            });
            let place = ["my notes", "my files", "the files", "all files", "the notes", "the workspace", "the folder"]
                .contains(&tail.as_str());
            if folder || place {
                text.truncate(at);
            }
        }
        let count = text.split_whitespace().count();
        if count == 0 {
            return Vec::new();
        }
        if lead.is_some() || count <= 3 {
            return vec![text];
        }
        // A whole sentence: the model ranks its spans.
        let tokens: Vec<&str> = text.split_whitespace().map(bare).filter(|t| !t.is_empty()).take(12).collect();
        let mut spans: Vec<String> = Vec::new();
        for length in 1..=2 {
            for window in tokens.windows(length) {
                let span = window.join(" ");
                let stop = window.iter().all(|w| STOP_WORDS.contains(&w.to_lowercase().as_str()));
                if !stop && !spans.contains(&span) && spans.len() < MAX_SPANS.min(MAX_CANDIDATES) {
                    spans.push(span);
                }
            }
        }
        spans
    }

    fn rank(&mut self, field: &'static Field, candidates: Vec<String>) -> Filled {
        let definition = self.definition;
        let parameters: Vec<String> =
            definition.fields.iter().filter(|f| f.required).map(|f| format!("\"{}\": \"string\"", f.name)).collect();
        let mut prefix = format!("{{\"name\": \"{}\", \"arguments\": {{", definition.name);
        for (name, value) in &self.values {
            prefix.push_str(&format!("\"{name}\": {value}, "));
        }
        prefix.push_str(&format!("\"{}\": \"", field.name));
        let system = format!(
            "You are AI Echo. You call tools. Tool: {{\"name\": \"{}\", \"description\": \"{}\", \"parameters\": {{{}}}}}. Reply only with JSON.",
            definition.name,
            definition.title,
            parameters.join(", ")
        );
        let mut messages = vec![Message::system(system)];
        for (request, value) in examples(definition.tool) {
            messages.push(Message::user(*request));
            messages.push(Message::assistant(format!(
                "{{\"name\": \"{}\", \"arguments\": {{\"{}\": \"{value}\"}}}}",
                definition.name, field.name
            )));
        }
        messages.push(Message::user(self.words.clone()));
        let going_on = candidates
            .iter()
            // As JSON text without its opening quote: what the model would write next.
            .map(|candidate| Value::String(candidate.clone()).to_string().split_off(1))
            .collect();
        self.ranking = Some((field.name, candidates));
        Filled::Rank { messages, assistant_prefix: prefix, candidates: going_on }
    }
}

const STOP_WORDS: [&str; 24] = [
    "the", "a", "an", "in", "on", "of", "for", "to", "and", "or", "is", "are", "my", "me", "where", "what", "which",
    "did", "do", "i", "all", "with", "about", "any",
];

fn examples(tool: Tool) -> &'static [(&'static str, &'static str)] {
    match tool {
        Tool::FilesRead => {
            &[("open the file books/list.txt", "books/list.txt"), ("what do my trips say?", "travel/trips.md")]
        }
        Tool::FilesSearch => {
            &[("where did I write about the boat trip?", "boat trip"), ("find every mention of Anna", "Anna")]
        }
        Tool::AppsOpen => &[("open the clock", "clock"), ("I want to see my pictures", "pictures")],
        _ => &[],
    }
}

/// `replace A with B`, `change A to B`, up to a following ` in <path>`.
fn replace_pair(words: &str, lower: &str) -> Option<(String, String)> {
    let (start, middle) = [("replace ", " with "), ("replace ", " by "), ("change ", " to "), ("change ", " into ")]
        .into_iter()
        .find_map(|(verb, middle)| {
            let start = lower.find(verb)? + verb.len();
            let at = lower[start..].find(middle)? + start;
            Some((start, (at, at + middle.len())))
        })?;
    let find = words.get(start..middle.0)?.trim();
    let rest = words.get(middle.1..)?;
    let end = rest.to_lowercase().rfind(" in ").filter(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
    let replace = rest[..end].trim();
    (!find.is_empty() && !replace.is_empty()).then(|| (find.to_owned(), replace.to_owned()))
}
