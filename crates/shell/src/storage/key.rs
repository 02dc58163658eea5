//! Stores and keys: a key is a list of names and numbers, so that everything of a conversation
//! lies side by side and goes in one range.

use js_sys::Array;
use kernel::{CallId, ConversationId, OperationId};
use wasm_bindgen::JsValue;
use web_sys::IdbKeyRange;

/// An object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Store {
    /// By name: `["product"]`, `["key", name]` for a provider's key, and `["skill", mount, name]`
    /// for what a person decided about a skill.
    Settings,
    /// Conversations, by id.
    Conversations,
    /// Drafts, by conversation and page.
    Drafts,
    /// Items, by conversation, turn and item.
    Transcript,
    /// Receipts, by operation.
    Receipts,
    /// Operations with their last phase, by operation.
    Operations,
    /// Open proposals, by operation.
    Reviews,
    /// Mounts, by id.
    Mounts,
    /// The folder handles of mounts, by id: not text, but the browser's own objects.
    Handles,
}

impl Store {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Settings,
        Self::Conversations,
        Self::Drafts,
        Self::Transcript,
        Self::Receipts,
        Self::Operations,
        Self::Reviews,
        Self::Mounts,
        Self::Handles,
    ];
    /// Stores whose keys begin with a conversation.
    pub(super) const OF_CONVERSATION: [Self; 6] =
        [Self::Conversations, Self::Drafts, Self::Transcript, Self::Receipts, Self::Operations, Self::Reviews];

    /// Its name in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Conversations => "conversations",
            Self::Drafts => "drafts",
            Self::Transcript => "transcript",
            Self::Receipts => "receipts",
            Self::Operations => "operations",
            Self::Reviews => "reviews",
            Self::Mounts => "mounts",
            Self::Handles => "handles",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Name(String),
    Number(u64),
}

/// A key, or the beginning of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key(Vec<Part>);

impl Key {
    /// The beginning of every key.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }
    /// With a name behind it.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.0.push(Part::Name(name.to_owned()));
        self
    }
    /// With a number behind it. Numbers above 2^53 would lose digits; the counters that are kept
    /// here begin at 1 and rise by one.
    #[must_use]
    pub fn number(mut self, number: u64) -> Self {
        self.0.push(Part::Number(number));
        self
    }
    /// Everything of a conversation.
    #[must_use]
    pub fn conversation(id: &ConversationId) -> Self {
        Self::all().name(id.as_str())
    }
    /// One operation.
    #[must_use]
    pub fn operation(id: &OperationId) -> Self {
        let CallId { turn, n } = id.call();
        Self::conversation(&turn.conversation).number(turn.turn).number(u64::from(*n))
    }

    fn array(&self) -> Array {
        let out = Array::new();
        for part in &self.0 {
            #[expect(clippy::cast_precision_loss, reason = "see `Key::number`")]
            out.push(&match part {
                Part::Name(name) => JsValue::from_str(name),
                Part::Number(n) => JsValue::from_f64(*n as f64),
            });
        }
        out
    }
    /// As the database takes it.
    pub(super) fn js(&self) -> JsValue {
        self.array().into()
    }
    /// All keys that begin so. An array sorts behind every name and number.
    pub(super) fn range(&self) -> Result<IdbKeyRange, JsValue> {
        let upper = self.array();
        upper.push(&Array::new());
        IdbKeyRange::bound(&self.js(), &upper)
    }
}
