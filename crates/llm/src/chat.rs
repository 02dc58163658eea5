//! Conversations as token ids, by the file's own template (ChatML family), and what leaves when the window is full.

use crate::error::{Refusal, RunError};
use crate::gguf::Gguf;
use crate::tokenizer::Tokenizer;
use std::fmt;

/// System prompt under which the bundled model answers best (measured: without it the capital of France is a list of
/// islands). Whose voice it is, is the caller's matter; the constant is here because the measurement is.
pub const MEASURED_SYSTEM: &str = "You are AI Echo, a helpful assistant. Answer in one short sentence.";
/// Repetition penalty measured with it, over the tokens of the answer.
pub const MEASURED_PENALTY: f32 = 1.15;
/// Longest role name.
pub const MAX_ROLE: usize = 32;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool`.
    pub role: String,
    /// Its text: text through and through.
    pub content: String,
}

impl Message {
    /// A message.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into() }
    }
}

/// The template is not one this engine can follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// What is missing.
    pub missing: String,
}

impl TemplateError {
    /// The refusal to show.
    pub fn refusal(&self) -> Refusal {
        Refusal::new("chat-template", "tokenizer.chat_template", "a ChatML template", format!("no {}", self.missing))
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal().fmt(f)
    }
}
impl std::error::Error for TemplateError {}

/// How a conversation is written for this model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    start: u32,
    end: u32,
    /// The system message that the template itself puts where none is given.
    pub default_system: Option<String>,
}

const START: &str = "<|im_start|>";
const END: &str = "<|im_end|>";

impl Template {
    /// Reads the template's family and its default system message.
    ///
    /// # Errors
    /// [`TemplateError`] where template or vocabulary is not ChatML.
    pub fn read(g: &Gguf<'_>, tokenizer: &Tokenizer) -> Result<Self, TemplateError> {
        let missing = |what: &str| TemplateError { missing: what.to_owned() };
        let text = g.text("tokenizer.chat_template").ok_or_else(|| missing("template"))?;
        if !text.contains(START) || !text.contains(END) {
            return Err(missing(START));
        }
        let start = tokenizer.control_id(START).ok_or_else(|| missing("control token <|im_start|>"))?;
        let end = tokenizer.control_id(END).ok_or_else(|| missing("control token <|im_end|>"))?;
        // the literal that the template writes when the first message is no system message; a line break in it is
        // either itself or the two characters of its escape
        let default_system = ["<|im_start|>system\n", "<|im_start|>system\\n"].iter().find_map(|head| {
            let from = text.find(head)? + head.len();
            let len = text[from..].find(END)?;
            let body = &text[from..from + len];
            (!body.contains(['{', '}', '\'', '"'])).then(|| body.to_owned())
        });
        Ok(Self { start, end, default_system })
    }

    /// One message, closed.
    pub fn message(&self, t: &Tokenizer, m: &Message, out: &mut Vec<u32>) {
        out.push(self.start);
        // role, line break and text are cut together, as the template writes them
        let text = format!("{}\n{}", role(&m.role), m.content);
        t.encode_into(&text, out);
        out.push(self.end);
        t.encode_into("\n", out);
    }

    /// A whole conversation with the assistant's turn opened and `assistant` already said.
    pub fn prompt(&self, t: &Tokenizer, messages: &[Message], assistant: &str) -> Vec<u32> {
        let mut out = Vec::new();
        if messages.first().is_none_or(|m| m.role != "system")
            && let Some(system) = &self.default_system
        {
            self.message(t, &Message::new("system", system.clone()), &mut out);
        }
        for m in messages {
            self.message(t, m, &mut out);
        }
        out.push(self.start);
        t.encode_into("assistant\n", &mut out);
        t.encode_into(assistant, &mut out);
        out
    }

    /// The conversation that fits `room` tokens: system messages at the front stay, the oldest turns leave whole, the
    /// last turn stays. With how many messages left.
    ///
    /// # Errors
    /// [`RunError::Window`] where the last turn alone does not fit.
    pub fn fit(
        &self,
        t: &Tokenizer,
        messages: &[Message],
        assistant: &str,
        room: usize,
    ) -> Result<(Vec<u32>, usize), RunError> {
        let head = messages.iter().take_while(|m| m.role == "system").count();
        // a turn begins where a person speaks; what stands before the first such message goes with it
        let starts: Vec<usize> = (head..messages.len()).filter(|i| messages[*i].role == "user" && *i > head).collect();
        let mut kept = messages.to_vec();
        let mut from = head;
        for cut in std::iter::once(head).chain(starts) {
            kept.drain(head..head + (cut - from));
            from = cut;
            let prompt = self.prompt(t, &kept, assistant);
            if prompt.len() <= room {
                return Ok((prompt, cut - head));
            }
        }
        Err(RunError::Window { room, needed: self.prompt(t, &kept, assistant).len() })
    }
}

/// Role names are words of this program; anything else is cut to a harmless one.
fn role(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(MAX_ROLE).collect()
}
