//! What a model says back, one step at a time, whichever provider it is.

use serde::{Deserialize, Serialize};

use crate::ModelError;

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The longest answer was reached; the text is cut.
    Length,
    /// The model wants its tool calls answered.
    ToolCalls,
    /// The provider withheld the rest.
    Filtered,
    /// The run was cancelled.
    Cancelled,
}

/// What an answer cost, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Tokens of the answer.
    pub completion: u64,
}

/// One step of an answer. `Finished` and `Failed` are final and exclude each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelEvent {
    /// The provider or the worker has taken the run.
    Started,
    /// Reading the prompt, in tokens.
    Prefill {
        /// Tokens read.
        done: u32,
        /// Tokens to read.
        total: u32,
    },
    /// The next piece of text, whole characters only.
    Delta(String),
    /// One whole tool call; `arguments` is the model's text, unparsed.
    ToolCall {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments as written.
        arguments: String,
    },
    /// The answer to [`crate::Ask::Score`]: log-probabilities, in the candidates' order.
    Scores(Vec<f32>),
    /// The worker had to leave out the oldest messages to fit its window.
    Trimmed {
        /// Messages left out.
        dropped: u32,
    },
    /// Something odd that did not stop the answer, for the trace and the refusals list.
    Diagnostic(String),
    /// The answer is complete.
    Finished {
        /// Why it ended.
        reason: FinishReason,
        /// What it cost, if the provider says.
        usage: Option<Usage>,
    },
    /// The answer failed; text that came before stays and is marked.
    Failed(ModelError),
}

impl ModelEvent {
    /// Whether nothing more belongs to the run after this event.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Finished { .. } | Self::Failed(_) | Self::Scores(_))
    }
}
