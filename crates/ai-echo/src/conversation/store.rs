//! The storage port: what is kept, as operations for an adapter and records that come back
//! (contracts.md §1.5 will replace the adapter, not the callers).

use kernel::mount::MountPath;
use kernel::{ConversationId, Digest, Instant, MountId, OperationId, TurnKey};
use models::ProviderConfig;
use serde::{Deserialize, Serialize};
use skills::packages::review::Reviews;

use super::{Draft, Item, Receipt};
use crate::tools::Proposal;
use crate::turn::{Call, OpPhase};

/// One storage operation; its answer carries the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreId(pub u64);

/// A place where something is typed: the composer of a conversation, or another page's field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Page(pub String);

impl Page {
    /// The composer.
    pub fn composer() -> Self {
        Self("composer".to_owned())
    }
}

/// A draft by conversation and page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftRecord {
    /// The conversation.
    pub conversation: ConversationId,
    /// The page.
    pub page: Page,
    /// What is typed there.
    pub draft: Draft,
}

/// A conversation without items and draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ConversationRecord {
    pub id: ConversationId,
    pub title: String,
    pub named: bool,
    pub created: Instant,
    pub touched: Instant,
    pub provider: ProviderConfig,
    pub mount: Option<MountId>,
    pub last_turn: u64,
    pub last_item: u64,
}

/// The key of an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ItemKey {
    /// Conversation and turn.
    pub turn: TurnKey,
    /// The item's number in the conversation.
    pub item: u64,
}

/// The record of an operation: durable before the next effect (contracts.md §1.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationRecord {
    /// Which.
    pub operation: OperationId,
    /// The phase that becomes durable.
    pub phase: OpPhase,
    /// The tool.
    pub tool: String,
    /// The digest of the tool's descriptor.
    pub descriptor: Digest,
    /// The digest of the arguments' bytes.
    pub arguments: Digest,
    /// Where.
    pub mount: MountId,
    /// Which file.
    pub path: MountPath,
    /// The digest of what was confirmed.
    pub confirmed: Digest,
    /// What must be there before.
    pub before: Option<Digest>,
    /// What will be there after.
    pub after: Option<Digest>,
    /// When the phase was entered.
    pub at: Instant,
}

/// An open review: the proposal, never an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRecord {
    /// The call it is about.
    pub call: Call,
    /// What was proposed.
    pub proposal: Proposal,
    /// Since when.
    pub at: Instant,
    /// Who asked for it, in words.
    #[serde(default)]
    pub asked_by: String,
}

/// What is kept for the whole product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Who answers in a new conversation.
    pub provider: ProviderConfig,
    /// The conversation in front.
    pub current: Option<ConversationId>,
    /// The number of the newest conversation.
    pub last_conversation: u64,
    /// The mount of a new conversation.
    pub mount: Option<MountId>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { provider: ProviderConfig::OnDevice, current: None, last_conversation: 0, mount: None }
    }
}

/// A mounted folder; its handle, if it has one, lies beside it in the adapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountRecord {
    /// Its id.
    pub id: MountId,
    /// Its name for people.
    pub title: String,
}

/// What is to become durable, or to come back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum StoreOp {
    PutConversation(ConversationRecord),
    /// With its items, drafts, receipts, operations and reviews.
    DeleteConversation(ConversationId),
    /// Only the newest of a key matters: an adapter may leave out older ones that wait.
    PutDraft(DraftRecord),
    PutItem(ItemKey, Item),
    /// In one transaction: the record, the receipt that a closing record brings, and with any
    /// closing record (settled, aborted, reconcile) the end of the operation's review.
    PutOperation(OperationRecord, Option<Receipt>),
    PutReview(ReviewRecord),
    DeleteReview(OperationId),
    PutSettings(Settings),
    PutMount(MountRecord),
    /// With the reviews of its skills.
    DeleteMount(MountId),
    /// What a person decided about one skill of a mount.
    PutSkillReview(MountId, String, Box<Reviews>),
    DeleteSkillReview(MountId, String),
    /// Answered by [`Loaded::SkillReviews`].
    LoadSkillReviews,
    /// Answered by [`Loaded::Index`].
    LoadIndex,
    /// Answered by [`Loaded::Conversation`].
    LoadConversation(ConversationId),
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Loaded {
    /// At start.
    Index {
        /// Settings, if any were saved.
        settings: Option<Settings>,
        /// All conversations.
        conversations: Vec<ConversationRecord>,
        /// All drafts.
        drafts: Vec<DraftRecord>,
        /// All mounts.
        mounts: Vec<MountRecord>,
    },
    /// Every record about a skill; each is one part.
    SkillReviews(Vec<Reviews>),
    /// One conversation.
    Conversation {
        /// Which.
        id: ConversationId,
        /// Its transcript.
        items: Vec<Item>,
        /// Its receipts.
        receipts: Vec<Receipt>,
        /// Reviews that were open.
        reviews: Vec<ReviewRecord>,
        /// Operations whose last phase is not a closing one.
        operations: Vec<OperationRecord>,
    },
}
