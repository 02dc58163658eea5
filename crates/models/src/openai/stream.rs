//! The bytes of a streamed Chat Completions answer as [`ModelEvent`]s.
//!
//! Text goes out as it comes. Tool calls go out only when the whole answer ended well, so no tool
//! of a failed attempt can run (field 8H3). Exactly one final event is given, whatever arrives.

use serde_json::Value;

use super::calls::Calls;
use super::errors::stream_error;
use super::request::WireNames;
use super::sse::{MAX_EVENT_BYTES, SseDecoder, SseEvent};
use crate::{FinishReason, ModelError, ModelErrorKind, ModelEvent, ToolSpec, Usage};

/// The longest answer that is kept, in bytes.
pub const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// The decoder of one answer: `push` what arrives, `finish` when the connection closes.
#[derive(Clone, Debug)]
pub struct ChatStream {
    names: WireNames,
    sse: SseDecoder,
    /// Some servers ignore `stream` and answer with one JSON document; it is kept here.
    document: Option<Vec<u8>>,
    begun: bool,
    text_bytes: usize,
    has_text: bool,
    calls: Calls,
    reason: Option<FinishReason>,
    usage: Option<Usage>,
    replaced: bool,
    done: bool,
}

impl ChatStream {
    /// A decoder for the answer to a request that offered these tools.
    pub fn new(offered: &[ToolSpec]) -> Self {
        Self {
            names: WireNames::of(offered),
            sse: SseDecoder::new(),
            document: None,
            begun: false,
            text_bytes: 0,
            has_text: false,
            calls: Calls::default(),
            reason: None,
            usage: None,
            replaced: false,
            done: false,
        }
    }

    /// Whether the final event was given.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Takes the next bytes of a 2xx answer.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<ModelEvent> {
        let mut out = Vec::new();
        if self.done {
            return out;
        }
        if !self.begun
            && let Some(first) = bytes.iter().find(|b| !b.is_ascii_whitespace())
        {
            self.begun = true;
            if *first == b'{' {
                self.document = Some(Vec::new());
            }
            out.push(ModelEvent::Started);
        }
        if let Some(document) = &mut self.document {
            document.extend_from_slice(bytes);
            if document.len() > MAX_EVENT_BYTES {
                self.fail(&mut out, broken("the answer is one document of more than 1 MiB"));
            }
            return out;
        }
        let mut events = Vec::new();
        let fits = self.sse.push(bytes, &mut events);
        self.take(events, &mut out);
        if let Err(error) = fits {
            self.fail(&mut out, broken(error));
        }
        out
    }

    /// The connection closed in the ordinary way.
    pub fn finish(&mut self) -> Vec<ModelEvent> {
        let mut out = Vec::new();
        if self.done {
            return out;
        }
        if let Some(document) = self.document.take() {
            match serde_json::from_slice::<Value>(&document) {
                Ok(value) => {
                    self.chunk(&value, &mut out);
                    if !self.done {
                        self.end(&mut out);
                    }
                }
                Err(_) => self.fail(&mut out, broken("the answer is neither a stream nor JSON")),
            }
            return out;
        }
        let mut events = Vec::new();
        self.sse.finish(&mut events);
        self.take(events, &mut out);
        if !self.done {
            if self.reason.is_some() || (!self.has_text && self.calls.is_empty()) {
                self.end(&mut out);
            } else {
                self.fail(&mut out, broken("the connection closed before the answer was complete"));
            }
        }
        out
    }

    /// The connection broke; what came before stays.
    pub fn broke(&mut self, words: &str) -> Vec<ModelEvent> {
        let mut out = Vec::new();
        if !self.done {
            self.fail(&mut out, broken(words));
        }
        out
    }

    fn take(&mut self, events: Vec<SseEvent>, out: &mut Vec<ModelEvent>) {
        for event in events {
            if self.done {
                return;
            }
            if event.replaced > 0 && !std::mem::replace(&mut self.replaced, true) {
                out.push(ModelEvent::Diagnostic(
                    "the stream held bytes that are not UTF-8; they are shown as \u{FFFD}".to_owned(),
                ));
            }
            if event.data.trim() == "[DONE]" {
                self.end(out);
                continue;
            }
            match json(&event.data) {
                Ok(value) if event.event.as_deref() == Some("error") => self.fail(out, stream_error(&value)),
                Ok(value) => self.chunk(&value, out),
                Err(_) if event.event.as_deref() == Some("error") => {
                    self.fail(out, stream_error(&Value::String(event.data)));
                }
                Err(_) => self.fail(out, broken("a piece of the stream is not JSON")),
            }
        }
    }

    fn chunk(&mut self, value: &Value, out: &mut Vec<ModelEvent>) {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return self.fail(out, stream_error(value));
        }
        if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
            let count = |field: &str| usage.get(field).and_then(Value::as_u64).unwrap_or(0);
            self.usage = Some(Usage { prompt: count("prompt_tokens"), completion: count("completion_tokens") });
        }
        let choices = value.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // We ask for one choice; a server that gives more would mix two answers.
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        for choice in choices.iter().filter(first) {
            let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) else { continue };
            for field in ["content", "refusal"] {
                self.text(delta.get(field), out);
            }
            for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                self.calls.push(call);
            }
            match choice.get("finish_reason").and_then(Value::as_str) {
                Some("length") => self.reason = Some(FinishReason::Length),
                Some("tool_calls" | "function_call") => self.reason = Some(FinishReason::ToolCalls),
                Some("content_filter") => self.reason = Some(FinishReason::Filtered),
                Some(other) if !other.is_empty() => self.reason = Some(FinishReason::Stop),
                _ => {}
            }
            if self.done {
                return;
            }
        }
    }

    fn text(&mut self, content: Option<&Value>, out: &mut Vec<ModelEvent>) {
        let text = match content {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
            _ => return,
        };
        if text.is_empty() || self.done {
            return;
        }
        self.text_bytes += text.len();
        if self.text_bytes > MAX_ANSWER_BYTES {
            return self.fail(out, broken("the answer is longer than 4 MiB"));
        }
        self.has_text |= !text.trim().is_empty();
        out.push(ModelEvent::Delta(text));
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        let reason = self.reason.unwrap_or(FinishReason::Stop);
        let calls = std::mem::take(&mut self.calls)
            .finish(reason == FinishReason::Length, |wire| self.names.real(wire).to_owned());
        let calls = match calls {
            Ok(calls) => calls,
            Err(error) => return self.fail(out, broken(error)),
        };
        let reason = match (reason, calls.is_empty()) {
            (FinishReason::ToolCalls, true) if self.has_text => FinishReason::Stop,
            (_, true) if !self.has_text => {
                let error = ModelError::new(ModelErrorKind::Empty);
                return self.fail(
                    out,
                    match reason {
                        FinishReason::Length => error.advice("It used its whole length before it said anything."),
                        FinishReason::Filtered => error.advice("The provider withheld the answer."),
                        _ => error,
                    },
                );
            }
            (FinishReason::Stop, false) => FinishReason::ToolCalls,
            (reason, _) => reason,
        };
        out.extend(calls);
        out.push(ModelEvent::Finished { reason, usage: self.usage });
        self.done = true;
    }

    fn fail(&mut self, out: &mut Vec<ModelEvent>, error: ModelError) {
        out.push(ModelEvent::Failed(error));
        self.done = true;
    }
}

fn broken(why: impl std::fmt::Display) -> ModelError {
    ModelError::new(ModelErrorKind::BrokenStream).advice(format!("({why})"))
}

/// Reads a piece. Half of a surrogate pair, which a server leaves where it cuts a character in two,
/// costs that character and not the answer.
fn json(data: &str) -> serde_json::Result<Value> {
    serde_json::from_str(data)
        .or_else(|error| whole_pairs(data).map_or(Err(error), |mended| serde_json::from_str(&mended)))
}

/// The text with each lone surrogate escape written as U+FFFD; `None` when there is none.
fn whole_pairs(text: &str) -> Option<String> {
    let unit = |at: usize| {
        let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(hex, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let (mut from, mut at) = (0, 0);
    while let Some(step) = text[at..].find('\\') {
        at += step;
        at += match unit(at) {
            Some(0xd800..0xdc00) if matches!(unit(at + 6), Some(0xdc00..0xe000)) => 12,
            Some(0xd800..0xe000) => {
                out.push_str(&text[from..at]);
                out.push_str("\\ufffd");
                from = at + 6;
                6
            }
            // A backslash and what it escapes, which may be several bytes long.
            _ => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    (from > 0).then(|| out + &text[from..])
}
