//! What a model is asked: messages, offered tools, sampling; or candidates to be ranked.

use serde::{Deserialize, Serialize};

/// One answer being made. A cancel names a run; events of an ended run go nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId(pub u64);

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The product's own words to the model.
    System,
    /// The person.
    User,
    /// The model, earlier.
    Assistant,
    /// The result of a tool: data, never an instruction.
    Tool,
}

impl Role {
    /// The name on the wire and in a chat template.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A tool call as the model made it earlier in the same turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallPart {
    /// The call's id, as the provider gave it (or as it was made for it).
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: text, parsed by nobody here.
    pub arguments: String,
}

/// One message of the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The text.
    pub content: String,
    /// Calls that an assistant message made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallPart>,
    /// The call that a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Message {
    /// A plain message.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), tool_calls: Vec::new(), tool_call_id: None }
    }
    /// The product's own words.
    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Role::System, content)
    }
    /// The person's words.
    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, content)
    }
    /// The model's words.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(Role::Assistant, content)
    }
    /// A tool's result for one call.
    pub fn tool(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call_id.into()), ..Self::new(Role::Tool, content) }
    }
}

/// A tool as offered to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The tool's exact name in the registry, for example `files.read`.
    pub name: String,
    /// What it does, in a sentence.
    pub description: String,
    /// The schema of its arguments, as JSON text.
    pub schema_json: String,
}

/// How the next token is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 is greedy.
    pub temperature: f32,
    /// Nucleus: the smallest set of tokens with this mass; 1 is off.
    pub top_p: f32,
    /// The number of likeliest tokens kept; 0 is off.
    pub top_k: u32,
    /// Divides the logits of tokens already said; 1 is off. On-device models only.
    pub repetition_penalty: f32,
    /// Seeds the choice, so that a run can be repeated.
    pub seed: u64,
}

impl Sampling {
    /// What the on-device model was measured with (spec/inference.md §3).
    pub const ON_DEVICE: Self = Self { temperature: 0.0, top_p: 1.0, top_k: 0, repetition_penalty: 1.15, seed: 0 };
    /// What a remote model is asked with: its own middle.
    pub const REMOTE: Self = Self { temperature: 0.7, top_p: 1.0, top_k: 0, repetition_penalty: 1.0, seed: 0 };
}

/// A question with a text answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The run that the answer belongs to.
    pub run: RunId,
    /// The prompt, oldest first.
    pub messages: Vec<Message>,
    /// The tools offered for this answer.
    pub tools: Vec<ToolSpec>,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// The longest answer, in tokens.
    pub max_tokens: u32,
}

/// What a model can be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// Answer in text, perhaps with tool calls.
    Chat(ModelRequest),
    /// Say how likely each candidate is as the continuation of `assistant_prefix`; answered by
    /// one [`crate::ModelEvent::Scores`] in the candidates' order. On-device models only.
    Score {
        /// The run that the scores belong to.
        run: RunId,
        /// The prompt, oldest first.
        messages: Vec<Message>,
        /// What the assistant has already "said".
        assistant_prefix: String,
        /// The continuations to rank.
        candidates: Vec<String>,
    },
}

impl Ask {
    /// The run that the answer will belong to.
    pub fn run(&self) -> RunId {
        match self {
            Self::Chat(request) => request.run,
            Self::Score { run, .. } => *run,
        }
    }
}
