//! What will be read, decided on metadata alone.

use std::collections::{BTreeMap, BTreeSet};

use kernel::Digest;
use serde::{Deserialize, Serialize};

use super::{
    ContextEpoch, ContextRefusal, Intent, IntentSeed, Layer, Place, PlanContentId, PlanId, Risk, SOURCE_MAX, SourceId,
    UniqueTarget,
};
use crate::core::{SchemaTag, SessionId, decode, digest_of};

/// Most sources of a catalogue.
pub const SOURCES_MAX: usize = 4_096;
/// Most items of one memory query.
pub const MEMORY_ITEMS: u8 = 64;
/// Most bytes of one memory query's answer.
pub const MEMORY_BYTES: u32 = 32 * 1024;

/// What the catalogue says of a source: never its body (I-18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceMeta {
    /// Bytes.
    pub bytes: u64,
    /// Its content's digest, where it is known without reading.
    pub identity: Option<Digest>,
}

/// How much of a source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ReadQuery {
    /// All of it.
    Whole,
    /// Bytes from, and how many.
    Part(u64, u64),
}

/// A number of items, at most [`MEMORY_ITEMS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Limit(u8);

impl Limit {
    /// As many as asked for, within the bound.
    #[must_use]
    pub fn new(items: u8) -> Self {
        Self(items.min(MEMORY_ITEMS))
    }
    /// How many.
    #[must_use]
    pub fn get(self) -> u8 {
        self.0
    }
}

/// A question to memory with an end; the answer has at most [`MEMORY_BYTES`].
///
/// There is no question without one:
/// ```compile_fail,E0308
/// # use agent_runtime::context::BoundedMemoryQuery;
/// BoundedMemoryQuery::Summary { from: 0, to: u64::MAX, limit: usize::MAX };
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum BoundedMemoryQuery {
    /// How the task stands.
    Status,
    /// The last of a session.
    Session {
        /// Which.
        id: SessionId,
        /// How many.
        limit: Limit,
    },
    /// Summaries of a time, milliseconds since 1970.
    Summary {
        /// From.
        from: u64,
        /// To.
        to: u64,
        /// How many.
        limit: Limit,
    },
}

/// Why everything is read. Low confidence is none: it narrows (contracts.md, ground rules).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum FullReadReason {
    UserAsked,
    ProjectRequires,
    Audit,
    Migration,
    MandatorySourceMissing,
}

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ActionClass {
    Read,
    Write,
    Execute,
    External,
}

/// The actions that a plan was made for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ActionEnvelope {
    /// Classes.
    pub allowed: BTreeSet<ActionClass>,
    /// Highest risk.
    pub risk_ceiling: Risk,
}

impl ActionEnvelope {
    /// Whether it holds the action.
    #[must_use]
    pub fn holds(&self, action: ActionClass, risk: Risk) -> bool {
        self.allowed.contains(&action) && risk <= self.risk_ceiling
    }
}

/// Sources with how much of each is read.
pub type Selection = BTreeMap<SourceId, ReadQuery>;
/// Sources that are not read, each with its own reason.
pub type Excluded = BTreeMap<SourceId, String>;

/// What a plan decides about a catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Read in any case.
    pub baseline: Selection,
    /// Read for this.
    pub selected: Selection,
    /// Not read.
    pub excluded: Excluded,
    /// Of those that are read, without which there is no receipt. The baseline always is.
    pub mandatory: BTreeSet<SourceId>,
    /// Everything is read, and why; `None` is a targeted plan (I-17).
    pub full_read: Option<FullReadReason>,
    /// Questions to memory.
    pub memory: BTreeSet<BoundedMemoryQuery>,
}

/// Who plans, when.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct PlanIdentity {
    /// Epoch.
    pub epoch: ContextEpoch,
    /// Digest of the host's build, and what it gives: its tool schemas and profile.
    pub host: Digest,
    /// Session.
    pub session: SessionId,
    /// Counter in the session.
    pub nonce: u64,
}

/// Where a plan leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// All that matters, and nothing else.
    RelevantComplete,
    /// Everything.
    EscalatedFull,
    /// Nowhere: a source is undecided, or a mandatory one is not there.
    Blocked,
}

/// `ContextReadPlanV2`. It exists only from a seed and one target:
/// ```compile_fail,E0308
/// # use agent_runtime::context::*;
/// # fn f(seed: &IntentSeed, who: PlanIdentity, act: ActionEnvelope) {
/// Plan::new(seed, None::<UniqueTarget>, who, act, &Default::default(), Draft::default());
/// # }
/// ```
/// and it is planned on metadata, never on a body (T-81):
/// ```compile_fail,E0560
/// # use agent_runtime::context::SourceMeta;
/// SourceMeta { bytes: 1, identity: None, body: vec![b'x'] };
/// ```
/// nor with a port through which one could be read:
/// ```compile_fail,E0308
/// # use agent_runtime::context::*;
/// # fn f(seed: &IntentSeed, to: UniqueTarget, who: PlanIdentity, act: ActionEnvelope) {
/// let port = |_: &SourceId| -> Vec<u8> { vec![] };
/// Plan::new(seed, to, who, act, &port, Draft::default());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    identity: PlanIdentity,
    seed: Digest,
    intent: Intent,
    target: UniqueTarget,
    envelope: ActionEnvelope,
    draft: Draft,
    unclassified: BTreeSet<SourceId>,
    absent: BTreeSet<SourceId>,
    bytes: u64,
}

impl Plan {
    /// Sorts a catalogue by `draft`. What neither list names is unclassified, and blocks. A seed
    /// without a settled intent narrows `envelope` to reading.
    ///
    /// # Errors
    /// `PlanPartitionBroken`, `HiddenFullRead`.
    pub fn new(
        seed: &IntentSeed,
        target: UniqueTarget,
        identity: PlanIdentity,
        mut envelope: ActionEnvelope,
        catalogue: &BTreeMap<SourceId, SourceMeta>,
        mut draft: Draft,
    ) -> Result<Self, ContextRefusal> {
        let broken = |why| Err(ContextRefusal::PlanPartitionBroken(why));
        draft.mandatory.extend(draft.baseline.keys().cloned());
        let read = || draft.baseline.iter().chain(&draft.selected);
        let decided: BTreeSet<_> = read().map(|(s, _)| s).chain(draft.excluded.keys()).collect();
        if decided.len() != draft.baseline.len() + draft.selected.len() + draft.excluded.len() {
            return broken("a source stands in two lists");
        }
        if catalogue.len() > SOURCES_MAX || decided.len() > SOURCES_MAX {
            return broken("too many sources");
        }
        let nameless = |s: &SourceId| !(1..=SOURCE_MAX).contains(&s.name.len());
        if catalogue.keys().any(nameless) || decided.iter().any(|s| nameless(s)) {
            return broken("a source without a name, or with a longer one than any has");
        }
        if draft.excluded.values().any(|reason| reason.trim().is_empty()) {
            return broken("a source is left out without a reason");
        }
        let is_read = |s: &SourceId| draft.baseline.contains_key(s) || draft.selected.contains_key(s);
        if !draft.mandatory.iter().all(is_read) {
            return broken("a mandatory source is not read");
        }
        if draft.excluded.keys().any(|s| !catalogue.contains_key(s)) {
            return broken("a source is left out that is not there");
        }
        let whole = |(s, q): &(&SourceId, &ReadQuery)| {
            matches!(s.layer, Layer::Profile | Layer::Memory) && **q == ReadQuery::Whole
        };
        if let (None, Some((source, _))) = (draft.full_read, read().find(whole)) {
            return Err(ContextRefusal::HiddenFullRead(source.name.clone()));
        }
        let unclassified = catalogue.keys().filter(|s| !decided.contains(s)).cloned().collect();
        let absent = read().map(|(s, _)| s).filter(|s| !catalogue.contains_key(s)).cloned().collect();
        let size = |(s, q): (&SourceId, &ReadQuery)| {
            let all = catalogue.get(s).map_or(0, |m| m.bytes);
            if let ReadQuery::Part(from, n) = q { all.saturating_sub(*from).min(*n) } else { all }
        };
        let bytes = read().map(size).fold(0, u64::saturating_add);
        if seed.canonical().is_err() {
            envelope.allowed.retain(|a| *a == ActionClass::Read);
        }
        let (seed, intent) = (seed.digest(), seed.semantic());
        Ok(Self { identity, seed, intent, target, envelope, draft, unclassified, absent, bytes })
    }

    /// Everything that determines what is read, whatever its order, its wording and its time.
    #[must_use]
    pub fn content_id(&self) -> PlanContentId {
        let d = &self.draft;
        let excluded: BTreeSet<_> = d.excluded.keys().collect();
        let what = (self.intent, self.target.place(), &self.envelope, self.identity.host);
        let read = (&d.baseline, &d.selected, excluded, &self.unclassified, &d.mandatory);
        PlanContentId(digest_of("plan", &(what, read, d.full_read.is_some(), &d.memory)))
    }
    /// This very plan.
    #[must_use]
    pub fn id(&self) -> PlanId {
        let who = &self.identity;
        PlanId(digest_of("plan-id", &(self.content_id(), who.epoch, &who.session, who.nonce)))
    }
    /// Where it leads.
    #[must_use]
    pub fn exit(&self) -> Exit {
        if self.undecided() > 0 {
            Exit::Blocked
        } else if self.draft.full_read.is_some() {
            Exit::EscalatedFull
        } else {
            Exit::RelevantComplete
        }
    }
    /// How many sources keep it from being carried out: undecided ones, and mandatory ones that
    /// are not there.
    #[must_use]
    pub fn undecided(&self) -> usize {
        self.unclassified.len() + self.absent.intersection(&self.draft.mandatory).count()
    }
    /// How much of a source it reads.
    #[must_use]
    pub fn query(&self, source: &SourceId) -> Option<ReadQuery> {
        self.draft.baseline.get(source).or_else(|| self.draft.selected.get(source)).copied()
    }
    /// The digest by which an observation names what was asked.
    #[must_use]
    pub fn query_digest(&self, source: &SourceId) -> Option<Digest> {
        self.query(source).map(|q| digest_of("query", &(source, q)))
    }
    /// Who planned.
    #[must_use]
    pub fn identity(&self) -> &PlanIdentity {
        &self.identity
    }
    /// Digest of the seed.
    #[must_use]
    pub fn seed(&self) -> Digest {
        self.seed
    }
    /// What it was made for.
    #[must_use]
    pub fn intent(&self) -> Intent {
        self.intent
    }
    /// Where.
    #[must_use]
    pub fn target(&self) -> &UniqueTarget {
        &self.target
    }
    /// For which actions.
    #[must_use]
    pub fn envelope(&self) -> &ActionEnvelope {
        &self.envelope
    }
    /// What it decides.
    #[must_use]
    pub fn draft(&self) -> &Draft {
        &self.draft
    }
    /// What it does not decide.
    #[must_use]
    pub fn unclassified(&self) -> &BTreeSet<SourceId> {
        &self.unclassified
    }
    /// Budget: bytes and sources that it reads.
    #[must_use]
    pub fn budget(&self) -> (u64, usize) {
        (self.bytes, self.draft.baseline.len() + self.draft.selected.len())
    }
    /// Its place.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.target.place()
    }
}

/// `ContextReadPlanV1`: the old form. It is read and never made.
/// ```compile_fail,E0451
/// # use agent_runtime::context::PlanV1;
/// PlanV1 { plan_id: String::new(), sources: vec![], full_read: false, full_read_reason: None };
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanV1 {
    plan_id: String,
    sources: Vec<String>,
    full_read: bool,
    full_read_reason: Option<FullReadReason>,
}

impl PlanV1 {
    /// Reads one.
    ///
    /// # Errors
    /// `FullReadReasonMissing`; `HiddenFullRead` for a reason without a full read;
    /// `PlanPartitionBroken` for bytes that are no plan.
    pub fn load(bytes: &[u8]) -> Result<Self, ContextRefusal> {
        let plan: Self = decode(SchemaTag { name: "ContextReadPlan", version: 1 }, bytes)
            .map_err(|_| ContextRefusal::PlanPartitionBroken("no plan of the first form"))?;
        match (plan.full_read, plan.full_read_reason) {
            (true, None) => Err(ContextRefusal::FullReadReasonMissing),
            (false, Some(_)) => Err(ContextRefusal::HiddenFullRead(plan.plan_id)),
            _ => Ok(plan),
        }
    }
    /// What it named.
    #[must_use]
    pub fn sources(&self) -> &[String] {
        &self.sources
    }
    /// It is never eligible (I-22).
    ///
    /// # Errors
    /// Always `V1NotReusable`.
    pub fn reuse(&self) -> Result<std::convert::Infallible, ContextRefusal> {
        Err(ContextRefusal::V1NotReusable)
    }
}
