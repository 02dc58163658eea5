//! Conversations: what was said, what was done, and what is still being typed.
//!
//! Everything here is a record that is kept. An item is written when its state changes and not
//! again once it is at rest; while an answer streams, its text is saved at most once a second. A draft, its
//! attachments and the choice of model belong to their conversation and to no other (field 6H3).

mod export;
mod store;
#[cfg(test)]
mod tests;

use kernel::mount::MountPath;
use kernel::{CallId, ConversationId, Digest, Instant, MountId, OperationId, TurnKey};
use models::ProviderConfig;
use serde::{Deserialize, Serialize};

pub use export::to_markdown;
pub use store::{
    ConversationRecord, DraftRecord, ItemKey, Loaded, MountRecord, OperationRecord, Page, ReviewRecord, Settings,
    StoreId, StoreOp,
};

use crate::turn::{Effect, TurnEnd, TurnFailure};

/// The longest title, in bytes.
pub const MAX_TITLE: usize = 120;
/// The longest draft that is kept, in bytes (engine.md §2.12).
pub const MAX_DRAFT: usize = 1024 * 1024;
/// The most attachments of a draft.
pub const MAX_ATTACHMENTS: usize = 8;
/// The most of a tool's result that the transcript keeps.
pub const MAX_PREVIEW: usize = 4096;
/// The most conversations.
pub const MAX_CONVERSATIONS: usize = 1000;

/// A file that goes along with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its mount.
    pub mount: MountId,
    /// Its path there.
    pub path: MountPath,
}

/// What a message was: plain words, or a slash row with its task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Via {
    /// Plain words.
    Plain,
    /// `/tool:<name>`: exactly this tool is offered.
    Tool(String),
    /// `/skill:<id>`: this guidance is in the prompt.
    Skill(String),
    /// The Undo of a receipt.
    Undo(OperationId),
}

/// How an answer stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnswerState {
    /// Its turn waits for another one.
    Queued,
    /// Text is still coming.
    Streaming,
    /// Complete.
    Complete,
    /// Complete as far as the model's length goes.
    Cut,
    /// Stopped by the person; what came is kept.
    Stopped,
    /// Ended in a failure; what came is kept.
    Failed(TurnFailure),
    /// Ended with something for the person to say or look at.
    NeedsAttention,
    /// The page went away in the middle.
    Interrupted,
}

impl AnswerState {
    /// The state after a turn's end.
    pub fn of(end: &TurnEnd) -> Self {
        match end {
            TurnEnd::Completed { cut: false } => Self::Complete,
            TurnEnd::Completed { cut: true } => Self::Cut,
            TurnEnd::Cancelled => Self::Stopped,
            TurnEnd::Failed(why) => Self::Failed(why.clone()),
            TurnEnd::NeedsAttention(_) => Self::NeedsAttention,
        }
    }
    /// Whether nothing more will come.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Queued | Self::Streaming)
    }
    /// What the transcript says below the text; nothing when all is well.
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::Complete | Self::Streaming | Self::NeedsAttention => return None,
            Self::Queued => "Waiting for the answer before this one.".to_owned(),
            Self::Cut => "The answer ends here because the model reached its length.".to_owned(),
            Self::Stopped => "Stopped.".to_owned(),
            Self::Failed(why) => why.to_string(),
            Self::Interrupted => "Interrupted: the page was closed while this was being answered.".to_owned(),
        })
    }
}

/// How a tool call stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolState {
    /// Asked for, not yet looked at.
    Asked,
    /// A review is open.
    Reviewing,
    /// The person said no.
    Rejected,
    /// Refused, in words.
    Refused(String),
    /// It runs.
    Running,
    /// It did what it was asked.
    Done,
    /// It ran and failed, in words.
    Failed(String),
    /// Stopped before a result.
    Cancelled,
    /// Nobody can say whether the change was made.
    Unknown,
    /// The file changed meanwhile; the same call is shown anew below.
    ShownAnew,
    /// The page went away in the middle.
    Interrupted,
}

impl ToolState {
    /// Whether nothing more will come.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Asked | Self::Reviewing | Self::Running)
    }
}

/// One file that a turn's model was told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuidanceUse {
    /// File.
    pub path: MountPath,
    /// Digest of its bytes as they were read.
    pub digest: Digest,
    /// Bytes that were told, of `total`.
    pub kept: usize,
    /// Bytes of its text.
    pub total: usize,
    /// Why it applied, in words.
    pub why: String,
}

/// What kind of text a turn was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// The workspace's instructions.
    #[default]
    Instructions,
    /// Skills that a person reviewed.
    Skills,
}

impl Told {
    /// What a line about it begins with.
    pub fn title(self, n: usize) -> &'static str {
        match (self, n) {
            (Self::Instructions, _) => "Instructions used:",
            (Self::Skills, 1) => "Skill used:",
            (Self::Skills, _) => "Skills used:",
        }
    }
}

/// The line about what a turn was told.
pub fn guidance_words(what: Told, used: &[GuidanceUse], left_out: u32) -> String {
    let names: Vec<String> = used
        .iter()
        .map(|u| match u.kept == u.total {
            true => u.path.to_string(),
            false => format!("{} ({} of {} bytes)", u.path, u.kept, u.total),
        })
        .collect();
    let rest = match left_out {
        0 => String::new(),
        1 => "; 1 left out".to_owned(),
        n => format!("; {n} left out"),
    };
    format!("{} {}{rest}", what.title(used.len()), names.join(", "))
}

/// One item's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ItemKind {
    /// The person's message.
    User {
        /// The words.
        text: String,
        /// Files that went along.
        attachments: Vec<Attachment>,
        /// Plain, or by a slash row.
        via: Via,
    },
    /// AI Echo's answer.
    Assistant {
        /// The text so far.
        text: String,
        /// How it stands.
        state: AnswerState,
        /// Which model answers: fixed for the turn, never switched silently.
        model: String,
    },
    /// A tool call.
    Tool {
        /// Its identity.
        call: CallId,
        /// The tool's name.
        tool: String,
        /// The whole arguments as text.
        arguments: String,
        /// How it stands.
        state: ToolState,
        /// One line about the result.
        summary: String,
        /// The beginning of the result: data from outside.
        preview: String,
        /// Bytes of the whole result, and its digest.
        result: Option<(u64, Digest)>,
        /// The receipt of a change.
        receipt: Option<OperationId>,
    },
    /// The workspace's instructions or skills that this turn's model was told.
    Guidance {
        /// Which of both.
        #[serde(default)]
        what: Told,
        /// Where they lie.
        mount: MountId,
        /// Files, broad to specific.
        used: Vec<GuidanceUse>,
        /// What was left out, that a person would miss.
        left_out: u32,
    },
    /// A line of the product's own.
    Notice {
        /// The words.
        text: String,
    },
}

/// One item of a transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its number in the conversation, from 1.
    pub id: u64,
    /// Its turn.
    pub turn: u64,
    /// When it began.
    pub at: Instant,
    /// Its content.
    pub kind: ItemKind,
}

impl Item {
    /// Where it stands: what a running turn adds before the messages that wait behind it, what a
    /// turn was told right below its message, above an answer that may have begun already.
    fn place(&self) -> (u64, u8, u64) {
        let rank = match self.kind {
            ItemKind::User { .. } => 0,
            ItemKind::Guidance { .. } => 1,
            _ => 2,
        };
        (self.turn, rank, self.id)
    }

    /// Whether the item will not change any more.
    pub fn is_final(&self) -> bool {
        match &self.kind {
            ItemKind::User { .. } | ItemKind::Guidance { .. } | ItemKind::Notice { .. } => true,
            ItemKind::Assistant { state, .. } => state.is_final(),
            ItemKind::Tool { state, .. } => state.is_final(),
        }
    }
}

/// The proof that a change was made, kept with what it takes to undo it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Which operation.
    pub operation: OperationId,
    /// The tool.
    pub tool: String,
    /// Where.
    pub mount: MountId,
    /// Which file.
    pub path: MountPath,
    /// The digest that was confirmed.
    pub confirmed: Digest,
    /// The trusted act that confirmed it.
    pub gesture_seq: u64,
    /// What was there; `None` when nothing was.
    pub before: Option<Vec<u8>>,
    /// What is there now; `None` when it was removed.
    pub after: Option<Digest>,
    /// What is known about the effect.
    pub effect: Effect,
    /// When it was settled.
    pub at: Instant,
}

impl Receipt {
    /// The receipt of a recorded operation.
    pub fn of(record: &OperationRecord, before: Option<Vec<u8>>, gesture_seq: u64, effect: Effect) -> Self {
        Self {
            operation: record.operation.clone(),
            tool: record.tool.clone(),
            mount: record.mount.clone(),
            path: record.path.clone(),
            confirmed: record.confirmed,
            gesture_seq,
            before,
            after: record.after,
            effect,
            at: record.at,
        }
    }
    /// Whether an Undo can be proposed.
    pub fn can_undo(&self) -> bool {
        self.effect == Effect::Applied && self.after.is_some()
    }
}

/// What is being typed, with all that belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The text.
    pub text: String,
    /// The caret, as a byte offset.
    pub caret: usize,
    /// Files that will go along.
    pub attachments: Vec<Attachment>,
}

/// A conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// Its identity, also that of its task.
    pub id: ConversationId,
    /// Its title.
    pub title: String,
    /// A person gave the title; it is not derived any more.
    pub named: bool,
    /// When it began.
    pub created: Instant,
    /// When something last happened in it.
    pub touched: Instant,
    /// Who answers.
    pub provider: ProviderConfig,
    /// The active mount (decision 20).
    pub mount: Option<MountId>,
    /// What is being typed.
    pub draft: Draft,
    /// What was said and done, by turn and then by age; empty until loaded.
    pub items: Vec<Item>,
    /// Whether `items` is the whole transcript.
    pub loaded: bool,
    last_turn: u64,
    last_item: u64,
}

impl Conversation {
    /// An empty conversation.
    pub fn new(id: ConversationId, provider: ProviderConfig, mount: Option<MountId>, now: Instant) -> Self {
        Self {
            id,
            title: "New conversation".to_owned(),
            named: false,
            created: now,
            touched: now,
            provider,
            mount,
            draft: Draft::default(),
            items: Vec::new(),
            loaded: true,
            last_turn: 0,
            last_item: 0,
        }
    }

    /// The next turn's key.
    pub fn next_turn(&mut self) -> TurnKey {
        self.last_turn += 1;
        TurnKey { conversation: self.id.clone(), turn: self.last_turn }
    }

    /// The newest turn's number; 0 before the first.
    pub fn last_turn(&self) -> u64 {
        self.last_turn
    }

    /// Adds an item behind those of its turn and gives its number.
    pub fn push(&mut self, turn: u64, kind: ItemKind, now: Instant) -> u64 {
        self.last_item += 1;
        self.touched = now;
        if let ItemKind::User { text, .. } = &kind
            && !self.named
            && self.last_item == 1
        {
            self.title = title_of(text);
        }
        let item = Item { id: self.last_item, turn, at: now, kind };
        let at = self.items.partition_point(|other| other.place() <= item.place());
        self.items.insert(at, item);
        self.last_item
    }

    /// The answer of a turn that is still open or the newest one.
    pub fn answer(&mut self, turn: u64) -> Option<&mut Item> {
        self.items.iter_mut().rev().find(|item| item.turn == turn && matches!(item.kind, ItemKind::Assistant { .. }))
    }

    /// The item of a call.
    pub fn call(&mut self, id: &CallId) -> Option<&mut Item> {
        self.items.iter_mut().rev().find(|item| matches!(&item.kind, ItemKind::Tool { call, .. } if call == id))
    }

    /// Gives the title that a person chose; an empty one goes back to the derived title.
    pub fn rename(&mut self, title: &str) {
        let title = one_line(title);
        self.named = !title.is_empty();
        self.title = match self.items.iter().find_map(|item| match &item.kind {
            ItemKind::User { text, .. } => Some(text),
            _ => None,
        }) {
            _ if self.named => kernel::clip::label(&title, MAX_TITLE).into_owned(),
            Some(text) => title_of(text),
            None => "New conversation".to_owned(),
        };
    }

    /// After a reload nothing runs any more: what was open is marked, nothing is sent again.
    /// Gives the items that changed.
    pub fn mark_interrupted(&mut self) -> Vec<u64> {
        let mut changed = Vec::new();
        for item in self.items.iter_mut().filter(|item| !item.is_final()) {
            match &mut item.kind {
                ItemKind::Assistant { state, .. } => *state = AnswerState::Interrupted,
                ItemKind::Tool { state, .. } => *state = ToolState::Interrupted,
                ItemKind::User { .. } | ItemKind::Guidance { .. } | ItemKind::Notice { .. } => {}
            }
            changed.push(item.id);
        }
        changed
    }

    /// The record of everything but the items and the draft.
    pub fn record(&self) -> ConversationRecord {
        ConversationRecord {
            id: self.id.clone(),
            title: self.title.clone(),
            named: self.named,
            created: self.created,
            touched: self.touched,
            provider: self.provider.clone(),
            mount: self.mount.clone(),
            last_turn: self.last_turn,
            last_item: self.last_item,
        }
    }

    /// A conversation from its record, its items not loaded yet.
    pub fn from_record(record: ConversationRecord, draft: Option<Draft>) -> Self {
        Self {
            id: record.id,
            title: record.title,
            named: record.named,
            created: record.created,
            touched: record.touched,
            provider: record.provider,
            mount: record.mount,
            draft: draft.unwrap_or_default(),
            items: Vec::new(),
            loaded: false,
            last_turn: record.last_turn,
            last_item: record.last_item,
        }
    }

    /// Takes the stored transcript. Counters never go back, whichever record was newer.
    pub fn take_items(&mut self, mut items: Vec<Item>) {
        // What was added before the load came in is newer than what was stored under its number.
        items.append(&mut self.items);
        items.reverse();
        items.sort_by_key(Item::place);
        items.dedup_by_key(|item| item.id);
        self.last_item = self.last_item.max(items.iter().map(|item| item.id).max().unwrap_or(0));
        self.last_turn = self.last_turn.max(items.iter().map(|item| item.turn).max().unwrap_or(0));
        self.items = items;
        self.loaded = true;
    }
}

/// A title from the first message: its first line, on a grapheme, without marks of a slash row.
fn title_of(text: &str) -> String {
    let line = text.lines().map(one_line).find(|line| !line.is_empty()).unwrap_or_default();
    match line.is_empty() {
        true => "New conversation".to_owned(),
        false => kernel::clip::label(&line, 60).into_owned(),
    }
}

/// Blanks and controls in a row become one blank.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
