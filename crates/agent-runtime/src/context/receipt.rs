//! From a plan to the proof that it was carried out.

use std::collections::{BTreeMap, BTreeSet};

use kernel::Digest;
use serde::{Deserialize, Serialize};

use super::{
    ActionClass, ContentIdentity, ContextRefusal, Exit, Ledger, LedgerKey, Observation, Outcome, Plan, PlanId,
    ReadPhase, ReuseReason, Risk, SourceId,
};
use crate::core::{Instant, SchemaTag, decode, digest_of};

/// Times in a row that context is planned again before somebody has to look.
pub const REPLANS_MAX: u8 = 8;

/// How a host lets reads be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReadMode {
    /// By structured tools, each with its result.
    StructuredPlan,
    /// By paths that were seen.
    PathObservable,
    /// By asking for it in words.
    InstructionOnly,
}

/// Where a receipt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Status {
    Unplanned,
    BaselineReady,
    Planned,
    Blocked,
    Attempted,
    EscalatedFull,
    RelevantComplete,
    Completed,
    Partial,
    Unverified,
    Stale,
}

/// What happens to a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum ReceiptEvent {
    /// A read begins.
    Pre,
    /// A read proves a source; others are missing.
    PostSome,
    /// A read proves the last missing source.
    PostLast,
    /// The host reads in words only.
    Fallback,
    /// The turn goes on with what there is.
    HandOver,
    /// A route is decided on it.
    Consume,
    /// Something that it rests on changed.
    Drift,
    /// An observation contradicts an earlier one.
    Conflict,
}

/// The state machine as data; what is not listed is refused. Where only a part is proven, and for
/// a plan of one source, `PostSome` does not occur.
pub const TABLE: &[(Status, ReceiptEvent, Status)] = {
    use ReceiptEvent as E;
    use Status as S;
    &[
        (S::Planned, E::Pre, S::Attempted),
        (S::Planned, E::PostSome, S::Attempted),
        (S::Planned, E::PostLast, S::RelevantComplete),
        (S::Planned, E::Fallback, S::Unverified),
        (S::Planned, E::Drift, S::Stale),
        (S::Attempted, E::Pre, S::Attempted),
        (S::Attempted, E::PostSome, S::Attempted),
        (S::Attempted, E::PostLast, S::RelevantComplete),
        (S::Attempted, E::Fallback, S::Unverified),
        (S::Attempted, E::HandOver, S::Partial),
        (S::Attempted, E::Drift, S::Stale),
        (S::Attempted, E::Conflict, S::Unverified),
        (S::RelevantComplete, E::Pre, S::RelevantComplete),
        (S::RelevantComplete, E::Consume, S::Completed),
        (S::RelevantComplete, E::Drift, S::Stale),
        (S::RelevantComplete, E::Conflict, S::Unverified),
        (S::Completed, E::Pre, S::Completed),
        (S::Completed, E::Drift, S::Stale),
        (S::Completed, E::Conflict, S::Unverified),
        (S::Partial, E::Drift, S::Stale),
        (S::Partial, E::Conflict, S::Unverified),
        (S::Unverified, E::Pre, S::Unverified),
        (S::Unverified, E::PostSome, S::Unverified),
        (S::Unverified, E::PostLast, S::Unverified),
        (S::Unverified, E::Drift, S::Stale),
        (S::Unverified, E::Conflict, S::Unverified),
    ]
};

/// What a receipt rests on and can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Drift {
    Target,
    Scope,
    Action,
    Risk,
    SourceDigest,
    Profile,
    ToolSchema,
    Compact,
    Resume,
    RuntimeGeneration,
}

impl Drift {
    /// Each of them.
    pub const ALL: [Self; 10] = [
        Self::Target,
        Self::Scope,
        Self::Action,
        Self::Risk,
        Self::SourceDigest,
        Self::Profile,
        Self::ToolSchema,
        Self::Compact,
        Self::Resume,
        Self::RuntimeGeneration,
    ];
}

/// How a receipt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum End {
    /// A route was decided on it.
    Consumed(Instant),
    /// The turn went on with what there was.
    HandedOver,
    /// What it rests on changed.
    Stale(Drift),
}

/// Before there is a plan: what every turn reads anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unplanned {
    baseline: BTreeSet<SourceId>,
}

impl Unplanned {
    /// A baseline source was read.
    #[must_use]
    pub fn baseline(mut self, source: SourceId) -> Self {
        self.baseline.insert(source);
        self
    }
    /// `Unplanned` or `BaselineReady`.
    #[must_use]
    pub fn status(&self) -> Status {
        if self.baseline.is_empty() { Status::Unplanned } else { Status::BaselineReady }
    }
    /// Takes the plan. What was read before it proves nothing of it.
    #[must_use]
    pub fn accept(self, plan: Plan, mode: ReadMode) -> Receipt {
        let ledger = Ledger::new(LedgerKey::of(&plan));
        Receipt { plan, mode, fell_back: false, ledger, end: None, replans: 0 }
    }
}

/// What a stored receipt says of itself: as good as what its ledger proves (T-74).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// How it says that it ended.
    pub end: Option<End>,
    /// Whether it says that the one fallback was used.
    pub fell_back: bool,
    /// Times it was planned again.
    pub replans: u8,
}

/// `ContextReadReceiptV2`: plan, observations, end. Its status is computed:
/// ```compile_fail,E0560
/// # use agent_runtime::context::{Claim, Status};
/// Claim { end: None, fell_back: false, replans: 0, status: Status::Completed };
/// ```
/// and what is satisfied is nobody's to say:
/// ```compile_fail,E0070
/// # fn f(r: agent_runtime::context::Receipt, s: agent_runtime::context::SourceId, c: agent_runtime::context::ContentIdentity) {
/// r.satisfied() = [(s, c)].into();
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    plan: Plan,
    mode: ReadMode,
    fell_back: bool,
    ledger: Ledger,
    end: Option<End>,
    replans: u8,
}

/// Context that is delivered again without a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    from: Digest,
    to: PlanId,
}

impl Delivery {
    /// The receipt it comes from.
    #[must_use]
    pub fn from(&self) -> Digest {
        self.from
    }
    /// The plan it is for.
    #[must_use]
    pub fn to(&self) -> PlanId {
        self.to
    }
}

impl Receipt {
    /// Builds one anew from its ledger. A claim beyond what that proves is put back.
    ///
    /// # Errors
    /// `LedgerKeyMismatch`.
    pub fn rebuild(plan: Plan, mode: ReadMode, ledger: Ledger, claim: Claim) -> Result<Self, ContextRefusal> {
        if *ledger.key() != LedgerKey::of(&plan) {
            return Err(ContextRefusal::LedgerKeyMismatch);
        }
        let mut receipt = Self { plan, mode, fell_back: claim.fell_back, ledger, end: None, replans: claim.replans };
        let holds = match claim.end {
            Some(End::Consumed(_)) => receipt.status() == Status::RelevantComplete,
            _ => true,
        };
        receipt.end = claim.end.filter(|_| holds);
        Ok(receipt)
    }
    /// What has to be stored beside the ledger.
    #[must_use]
    pub fn claim(&self) -> Claim {
        Claim { end: self.end, fell_back: self.fell_back, replans: self.replans }
    }

    /// Where it stands.
    #[must_use]
    pub fn status(&self) -> Status {
        let proven = !self.satisfied().is_empty() && self.missing().is_empty();
        match self.end {
            Some(End::Stale(_)) => Status::Stale,
            _ if self.plan.exit() == Exit::Blocked => Status::Blocked,
            _ if self.ledger.conflicted() || self.mode != ReadMode::StructuredPlan => Status::Unverified,
            Some(End::Consumed(_)) if proven => Status::Completed,
            Some(End::HandedOver) if !proven => Status::Partial,
            _ if proven => Status::RelevantComplete,
            _ if self.ledger.observations().next().is_none() => Status::Planned,
            _ if self.plan.exit() == Exit::EscalatedFull => Status::EscalatedFull,
            _ => Status::Attempted,
        }
    }
    /// Mandatory sources that are proven read, with what was read (I-20). A stale receipt has none.
    #[must_use]
    pub fn satisfied(&self) -> BTreeMap<SourceId, ContentIdentity> {
        let stale = matches!(self.end, Some(End::Stale(_)));
        let mandatory = |o: &&Observation| !stale && self.plan.draft().mandatory.contains(&o.source);
        let proven = |o: &Observation| {
            let of_plan = o.mismatch(&self.plan).is_none();
            o.proves().filter(|_| of_plan).map(|c| (o.source.clone(), c))
        };
        self.ledger.observations().filter(mandatory).filter_map(proven).collect()
    }
    /// Mandatory sources that are not.
    #[must_use]
    pub fn missing(&self) -> BTreeSet<SourceId> {
        let satisfied = self.satisfied();
        self.plan.draft().mandatory.iter().filter(|s| !satisfied.contains_key(*s)).cloned().collect()
    }
    /// Its plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    /// Its observations.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }
    /// How often in a row context was planned again.
    #[must_use]
    pub fn replans(&self) -> u8 {
        self.replans
    }
    /// Its id: the digest of all that it says.
    #[must_use]
    pub fn id(&self) -> Digest {
        digest_of("receipt", &(self.ledger.digest(), self.mode, self.status(), self.claim()))
    }

    /// Nothing moves a stale or a blocked receipt.
    fn alive(&self) -> Result<(), ContextRefusal> {
        match self.status() {
            Status::Stale => Err(ContextRefusal::ReceiptStale),
            Status::Blocked => Err(ContextRefusal::PlanUnclassified(self.plan.undecided())),
            _ => Ok(()),
        }
    }

    /// Takes an observation. One that contradicts an earlier one of its id is kept beside it, and
    /// nothing is verified any more.
    ///
    /// # Errors
    /// `ReceiptStale`, `PlanUnclassified`, `ReceiptCorrelation`, `ActionOutsideEnvelope`,
    /// `LedgerFull`; after hand-over `ReceiptIncomplete`.
    pub fn observe(&self, observation: Observation) -> Result<Self, ContextRefusal> {
        self.alive()?;
        let again = self.ledger.observations().any(|o| o.id == observation.id);
        if !again {
            if let Some(field) = observation.mismatch(&self.plan) {
                return Err(ContextRefusal::ReceiptCorrelation { field });
            }
            if self.end == Some(End::HandedOver) {
                return Err(ContextRefusal::ReceiptIncomplete(self.missing().len()));
            }
            if observation.phase == ReadPhase::Pre {
                self.admit(ActionClass::Read, Risk::Normal)?;
            }
        }
        Ok(Self { ledger: self.ledger.add(observation)?, ..self.clone() })
    }

    /// Whether the plan covers an action. It reads nothing: what was read serves every action of
    /// the envelope (I-26).
    ///
    /// # Errors
    /// `ReceiptStale`, `PlanUnclassified`, `ActionOutsideEnvelope`.
    pub fn admit(&self, action: ActionClass, risk: Risk) -> Result<(), ContextRefusal> {
        self.alive()?;
        let inside = self.plan.envelope().holds(action, risk);
        if inside { Ok(()) } else { Err(ContextRefusal::ActionOutsideEnvelope) }
    }

    /// The host cannot show its reads: once a plan, and nothing is verified from here on (I-27).
    ///
    /// # Errors
    /// `FallbackSpent`, also once something is proven or ended; `ReceiptStale`, `PlanUnclassified`.
    pub fn fall_back(&self, path_observable: bool) -> Result<Self, ContextRefusal> {
        self.alive()?;
        if self.fell_back || !matches!(self.status(), Status::Planned | Status::Attempted | Status::EscalatedFull) {
            return Err(ContextRefusal::FallbackSpent);
        }
        let mode = if path_observable { ReadMode::PathObservable } else { ReadMode::InstructionOnly };
        Ok(Self { mode, fell_back: true, ..self.clone() })
    }

    /// The turn goes on with a part.
    ///
    /// # Errors
    /// `ReceiptStale`, `PlanUnclassified`; `ReceiptIncomplete` when nothing at all is proven;
    /// `ReceiptConsumed` when all is.
    pub fn hand_over(&self) -> Result<Self, ContextRefusal> {
        self.alive()?;
        match self.status() {
            Status::Attempted | Status::EscalatedFull if !self.satisfied().is_empty() => {
                Ok(Self { end: Some(End::HandedOver), ..self.clone() })
            }
            Status::RelevantComplete | Status::Completed => Err(ContextRefusal::ReceiptConsumed),
            _ => Err(ContextRefusal::ReceiptIncomplete(self.missing().len())),
        }
    }

    /// A route is decided on it: once, and only when everything is proven.
    ///
    /// # Errors
    /// What is in the way, the gravest first.
    pub fn consume(&self, now: Instant) -> Result<Self, ContextRefusal> {
        self.alive()?;
        let missing = self.missing();
        let of_missing = || self.ledger.observations().filter(|o| missing.contains(&o.source));
        let bare = |o: &Observation| o.phase == ReadPhase::Post && o.outcome == Outcome::Success;
        match self.status() {
            Status::RelevantComplete => Ok(Self { end: Some(End::Consumed(now)), ..self.clone() }),
            Status::Completed => Err(ContextRefusal::ReceiptConsumed),
            _ if self.ledger.conflicted() => Err(ContextRefusal::ReceiptConflict),
            _ if of_missing().any(bare) => Err(ContextRefusal::ReceiptIdentityless),
            Status::Attempted | Status::EscalatedFull if of_missing().all(|o| o.phase == ReadPhase::Pre) => {
                Err(ContextRefusal::ReceiptPreOnly)
            }
            _ => Err(ContextRefusal::ReceiptIncomplete(missing.len())),
        }
    }

    /// Something that it rests on changed. A second change finds it stale already.
    ///
    /// # Errors
    /// `PlanUnclassified` for a blocked one.
    pub fn drift(&self, cause: Drift) -> Result<Self, ContextRefusal> {
        match self.alive() {
            Err(ContextRefusal::ReceiptStale) => Ok(self.clone()),
            Err(blocked) => Err(blocked),
            Ok(()) => {
                let replans = self.replans.saturating_add(1);
                Ok(Self { end: Some(End::Stale(cause)), replans, ..self.clone() })
            }
        }
    }

    /// A new plan after a drift.
    ///
    /// # Errors
    /// `ReplanLoop` for the same plan, for a receipt that is not stale, and after
    /// [`REPLANS_MAX`] in a row.
    pub fn replan(&self, plan: Plan, mode: ReadMode) -> Result<Self, ContextRefusal> {
        if self.status() != Status::Stale || plan.id() == self.plan.id() || self.replans > REPLANS_MAX {
            return Err(ContextRefusal::ReplanLoop);
        }
        Ok(Self { replans: self.replans, ..Unplanned::default().accept(plan, mode) })
    }

    /// Delivers to `next` what was read for this one, if nothing stands between them (I-23).
    /// `now` is what metadata says of the sources at this moment.
    ///
    /// # Errors
    /// `ReceiptStale`, `PlanUnclassified`, `ReuseDenied`.
    pub fn reuse(&self, next: &Plan, now: &BTreeMap<SourceId, Digest>) -> Result<Delivery, ContextRefusal> {
        self.alive()?;
        let (mine, its) = (self.plan.identity(), next.identity());
        let satisfied = self.satisfied();
        let delivered = !satisfied.is_empty() && self.missing().is_empty() && self.status() != Status::Unverified;
        let same = |(source, content): (&SourceId, &ContentIdentity)| now.get(source) == Some(&content.digest);
        let denied = [
            (ReuseReason::Session, mine.session == its.session),
            (ReuseReason::Epoch, mine.epoch == its.epoch),
            (ReuseReason::Place, self.plan.place() == next.place()),
            (ReuseReason::Content, self.plan.content_id() == next.content_id()),
            (ReuseReason::Body, delivered),
            (ReuseReason::Identity, satisfied.iter().all(same)),
        ];
        match denied.iter().find(|(_, holds)| !holds) {
            Some((reason, _)) => Err(ContextRefusal::ReuseDenied { reason: *reason }),
            None => Ok(Delivery { from: self.id(), to: next.id() }),
        }
    }
}

/// `ContextReadReceiptV1`: the old form, with a status that was set. It is read and never made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptV1 {
    plan_id: String,
    status: String,
    sources: Vec<String>,
}

impl ReceiptV1 {
    /// Reads one.
    ///
    /// # Errors
    /// `PlanPartitionBroken` for bytes that are no receipt.
    pub fn load(bytes: &[u8]) -> Result<Self, ContextRefusal> {
        decode(SchemaTag { name: "ContextReadReceipt", version: 1 }, bytes)
            .map_err(|_| ContextRefusal::PlanPartitionBroken("no receipt of the first form"))
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
