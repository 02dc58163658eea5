//! What was observed of one plan. A set that only grows; everything else is computed from it.

use std::collections::BTreeMap;

use kernel::{CallId, Digest, SkillId};
use serde::{Deserialize, Serialize};

use super::{
    ContextEpoch, ContextRefusal, Layer, Place, Plan, PlanContentId, PlanId, Receipt, ReuseReason, SourceId, Status,
};
use crate::core::{Instant, SchemaTag, SessionId, decode, digest_of, encode};

/// Most observations of a ledger.
pub const LEDGER_MAX: usize = 128;
/// Most bytes of one.
pub const LEDGER_BYTES: usize = 512 * 1024;
const TAG: SchemaTag = SchemaTag { name: "ContextSourceObservationLedger", version: 1 };

/// Before or after the tool ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ReadPhase {
    Pre,
    Post,
}

/// What the tool said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Outcome {
    Success,
    Failed,
    Missing,
    Unobservable,
    WrongRoot,
    Invalid,
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentIdentity {
    /// Digest of the body.
    pub digest: Digest,
    /// Its bytes.
    pub bytes: u64,
}

/// `SourceObservation`: one side of one read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Counter in the session.
    pub id: u64,
    /// Which call.
    pub tool_call: CallId,
    /// Which side.
    pub phase: ReadPhase,
    /// For which plan.
    pub plan_id: PlanId,
    /// For which content of a plan.
    pub plan_content_id: PlanContentId,
    /// When.
    pub epoch: ContextEpoch,
    /// Where.
    pub place: Option<Place>,
    /// By whom.
    pub session: SessionId,
    /// What.
    pub source: SourceId,
    /// Digest of what was asked.
    pub query: Digest,
    /// Digest of what came back.
    pub result: Digest,
    /// What that is.
    pub content: Option<ContentIdentity>,
    /// The body was handed over, not only named.
    pub body_observed: bool,
    /// What the tool said.
    pub outcome: Outcome,
    /// When it was seen; says nothing of what was seen.
    pub at: Instant,
}

impl Observation {
    /// Equal but for the time.
    fn means(&self, other: &Self) -> bool {
        *self == Self { at: self.at, ..other.clone() }
    }
    /// What keeps it from being of this plan: the fields of I-20, in order.
    pub(super) fn mismatch(&self, plan: &Plan) -> Option<&'static str> {
        let (here, there) = (self.place.as_ref(), plan.place());
        let whole = self.content.is_none_or(|c| c.digest == self.result);
        [
            ("plan_id", self.plan_id == plan.id()),
            ("plan_content_id", self.plan_content_id == plan.content_id()),
            ("epoch", self.epoch == plan.identity().epoch),
            ("root", here.map(|p| &p.root) == there.map(|p| &p.root)),
            ("project", here.map(|p| &p.project) == there.map(|p| &p.project)),
            ("session", self.session == plan.identity().session),
            ("source", plan.query(&self.source).is_some()),
            ("query", plan.query_digest(&self.source).is_none_or(|q| q == self.query)),
            ("result", whole),
        ]
        .iter()
        .find(|(_, same)| !same)
        .map(|(field, _)| *field)
    }
    /// What was read, if this proves that something was.
    pub(super) fn proves(&self) -> Option<ContentIdentity> {
        let seen = self.phase == ReadPhase::Post && self.outcome == Outcome::Success && self.body_observed;
        self.content.filter(|_| seen)
    }
}

/// Whose ledger it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerKey {
    /// Epoch.
    pub epoch: ContextEpoch,
    /// Plan.
    pub plan_id: PlanId,
    /// Place.
    pub place: Option<Place>,
}

impl LedgerKey {
    /// The key of a plan's ledger.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        Self { epoch: plan.identity().epoch, plan_id: plan.id(), place: plan.place().cloned() }
    }
}

/// `ContextSourceObservationLedgerV1`.
///
/// There is no way to take something out:
/// ```compile_fail,E0616
/// # fn f(mut ledger: agent_runtime::context::Ledger) {
/// ledger.seen.clear();
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    key: LedgerKey,
    /// More than one meaning of an id is a conflict; all are kept.
    seen: BTreeMap<u64, Vec<Observation>>,
}

impl Ledger {
    /// An empty one.
    #[must_use]
    pub fn new(key: LedgerKey) -> Self {
        Self { key, seen: BTreeMap::new() }
    }
    /// One that was stored.
    ///
    /// # Errors
    /// `LedgerKeyMismatch`, also for bytes that are no ledger; `LedgerFull`.
    pub fn load(bytes: &[u8], key: &LedgerKey) -> Result<Self, ContextRefusal> {
        let stored: Self = decode(TAG, bytes).map_err(|_| ContextRefusal::LedgerKeyMismatch)?;
        if stored.key != *key {
            return Err(ContextRefusal::LedgerKeyMismatch);
        }
        Self::new(key.clone()).merge(&stored)
    }
    /// As bytes.
    ///
    /// # Errors
    /// `LedgerFull` beyond [`LEDGER_BYTES`].
    pub fn store(&self) -> Result<Vec<u8>, ContextRefusal> {
        let bytes = encode(TAG, self).map_err(|_| ContextRefusal::LedgerFull)?;
        if bytes.len() <= LEDGER_BYTES { Ok(bytes) } else { Err(ContextRefusal::LedgerFull) }
    }
    /// Adds one. One that is there changes nothing; another meaning of its id is kept beside it.
    ///
    /// # Errors
    /// `LedgerFull`.
    pub fn add(&self, observation: Observation) -> Result<Self, ContextRefusal> {
        let there = self.seen.get(&observation.id);
        if there.is_some_and(|all| all.iter().any(|o| o.means(&observation))) {
            return Ok(self.clone());
        }
        if self.observations().count() >= LEDGER_MAX {
            return Err(ContextRefusal::LedgerFull);
        }
        let mut next = self.clone();
        let all = next.seen.entry(observation.id).or_default();
        all.push(observation);
        all.sort_by_key(|o| digest_of("observation", o));
        next.store().map(|_| next)
    }
    /// The union with another snapshot of the same ledger, older or newer (I-24).
    ///
    /// # Errors
    /// `LedgerKeyMismatch`, `LedgerFull`.
    pub fn merge(&self, other: &Self) -> Result<Self, ContextRefusal> {
        if self.key != other.key {
            return Err(ContextRefusal::LedgerKeyMismatch);
        }
        other.observations().try_fold(self.clone(), |all, o| all.add(o.clone()))
    }
    /// Whose it is.
    #[must_use]
    pub fn key(&self) -> &LedgerKey {
        &self.key
    }
    /// All, by id.
    pub fn observations(&self) -> impl Iterator<Item = &Observation> {
        self.seen.values().flatten()
    }
    /// Whether an id has two meanings.
    #[must_use]
    pub fn conflicted(&self) -> bool {
        self.seen.values().any(|all| all.len() > 1)
    }
    /// The digest of all of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest_of("ledger", self)
    }
}

/// A skill's route, taken again from what was observed: the skill, and the content that chose it.
///
/// It comes from [`SkillRoute::replay`] alone:
/// ```compile_fail,E0451
/// # use agent_runtime::context::{ContentIdentity, SkillRoute};
/// # fn f(skill: kernel::SkillId, content: ContentIdentity) {
/// SkillRoute { skill, content, ledger: kernel::Digest::of(b"trust me") };
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRoute {
    skill: SkillId,
    content: ContentIdentity,
    ledger: Digest,
}

impl SkillRoute {
    /// Takes the route of `skill` again. Epoch, plan, root and project have to be `now`'s, the
    /// receipt alive, and the skill's source, as its metadata says at this moment, the one that was
    /// read (I-25).
    ///
    /// # Errors
    /// `ReceiptStale`, `PlanUnclassified`, `ReceiptConflict`, `ReceiptIncomplete` from the receipt;
    /// `LedgerKeyMismatch`; `ReuseDenied` for a source that is not as it was.
    pub fn replay(
        receipt: &Receipt,
        now: &Plan,
        skill: SkillId,
        source: &SourceId,
        fresh: Option<Digest>,
    ) -> Result<Self, ContextRefusal> {
        match receipt.status() {
            Status::Stale => return Err(ContextRefusal::ReceiptStale),
            Status::Blocked => return Err(ContextRefusal::PlanUnclassified(receipt.plan().undecided())),
            Status::Unverified if receipt.ledger().conflicted() => return Err(ContextRefusal::ReceiptConflict),
            Status::RelevantComplete | Status::Completed => {}
            _ => return Err(ContextRefusal::ReceiptIncomplete(receipt.missing().len())),
        }
        if *receipt.ledger().key() != LedgerKey::of(now) {
            return Err(ContextRefusal::LedgerKeyMismatch);
        }
        let read = receipt.satisfied().get(source).copied().filter(|_| source.layer == Layer::Skill);
        match read {
            Some(content) if fresh == Some(content.digest) => {
                Ok(Self { skill, content, ledger: receipt.ledger().digest() })
            }
            Some(_) => Err(ContextRefusal::ReuseDenied { reason: ReuseReason::Identity }),
            None => Err(ContextRefusal::ReuseDenied { reason: ReuseReason::Body }),
        }
    }
    /// The skill.
    #[must_use]
    pub fn skill(&self) -> &SkillId {
        &self.skill
    }
    /// What chose it.
    #[must_use]
    pub fn content(&self) -> ContentIdentity {
        self.content
    }
    /// The ledger it was taken from.
    #[must_use]
    pub fn ledger(&self) -> Digest {
        self.ledger
    }
}
