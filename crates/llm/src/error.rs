//! Why an input was refused, as data: every error of this crate can be shown as code, subject, expected, observed.

use std::fmt;

/// A refusal in the four words the shell shows and the trace keeps.
///
/// This crate imports nothing of the house, so it has its own record; the field names are those of the kernel's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Stable code, kebab-case.
    pub code: &'static str,
    /// What was refused: a tensor, a key, a run.
    pub subject: String,
    /// What would have been taken.
    pub expected: String,
    /// What was there instead.
    pub observed: String,
}

impl Refusal {
    pub(crate) fn new(
        code: &'static str,
        subject: impl Into<String>,
        expected: impl Into<String>,
        observed: impl Into<String>,
    ) -> Self {
        Self { code, subject: subject.into(), expected: expected.into(), observed: observed.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: expected {}, found {}", self.code, self.subject, self.expected, self.observed)
    }
}

/// A model file that cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadError {
    /// The container is broken.
    Gguf(crate::gguf::GgufError),
    /// The container is fine, the model inside is not one this engine runs.
    Model(crate::model::ModelError),
    /// The vocabulary cannot be used.
    Tokenizer(crate::tokenizer::TokenizerError),
    /// The chat template is not of the ChatML family.
    Template(crate::chat::TemplateError),
    /// The machine gave no memory for this many bytes.
    Memory {
        /// Bytes asked for.
        bytes: usize,
    },
}

impl LoadError {
    /// The refusal to show.
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::Gguf(e) => e.refusal(),
            Self::Model(e) => e.refusal(),
            Self::Tokenizer(e) => e.refusal(),
            Self::Template(e) => e.refusal(),
            Self::Memory { bytes } => {
                Refusal::new("model-memory", "memory", format!("{bytes} bytes"), "allocation failed")
            }
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal().fmt(f)
    }
}
impl std::error::Error for LoadError {}

impl From<crate::gguf::GgufError> for LoadError {
    fn from(e: crate::gguf::GgufError) -> Self {
        Self::Gguf(e)
    }
}
impl From<crate::model::ModelError> for LoadError {
    fn from(e: crate::model::ModelError) -> Self {
        Self::Model(e)
    }
}
impl From<crate::tokenizer::TokenizerError> for LoadError {
    fn from(e: crate::tokenizer::TokenizerError) -> Self {
        Self::Tokenizer(e)
    }
}
impl From<crate::chat::TemplateError> for LoadError {
    fn from(e: crate::chat::TemplateError) -> Self {
        Self::Template(e)
    }
}

/// A zeroed vector, or a refusal where the machine has no room: a tab that runs out of memory must be told so.
pub(crate) fn zeroed<T: Clone + Default>(n: usize) -> Result<Vec<T>, LoadError> {
    let mut v = Vec::new();
    v.try_reserve_exact(n).map_err(|_| LoadError::Memory { bytes: n.saturating_mul(size_of::<T>()) })?;
    v.resize(n, T::default());
    Ok(v)
}

/// A run that cannot start or go on.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError {
    /// Nothing to answer: the prompt has no tokens.
    EmptyPrompt,
    /// The prompt alone is larger than the window.
    Window {
        /// Tokens the window has for a prompt.
        room: usize,
        /// Tokens of the prompt.
        needed: usize,
    },
    /// A token id outside the vocabulary.
    Token(u32),
    /// A scoring run without candidates, or with too many, or with one that has no tokens.
    Candidates {
        /// What was wrong.
        observed: String,
    },
    /// The constraint allows no token of the vocabulary at this point.
    DeadEnd,
}

impl RunError {
    /// The refusal to show.
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::EmptyPrompt => Refusal::new("prompt-empty", "prompt", "at least one token", "none"),
            Self::Window { room, needed } => {
                Refusal::new("prompt-window", "prompt", format!("at most {room} tokens"), format!("{needed} tokens"))
            }
            Self::Token(id) => Refusal::new("token-unknown", "prompt", "token ids of the vocabulary", id.to_string()),
            Self::Candidates { observed } => Refusal::new(
                "candidates",
                "score",
                format!("1 to {} candidates with text", crate::score::MAX_CANDIDATES),
                observed.clone(),
            ),
            Self::DeadEnd => Refusal::new("constraint-dead-end", "constraint", "an allowed token", "none"),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal().fmt(f)
    }
}
impl std::error::Error for RunError {}
