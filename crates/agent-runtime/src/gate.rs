//! Whether the contract applies, and what a report has to show (contracts.md §1.1).
//!
//! Two tables: what each field of a report consists of, and which fields each gate looks at. One
//! check serves all: every part is there, as a digest that this runtime made. No gate sees another
//! one's verdict, so none is lowered by it (I-6).

use std::collections::{BTreeMap, BTreeSet};

use kernel::Digest;

use crate::context::Receipt;
use crate::core::{Evidence, Producer};
use crate::operation::OperationSet;
use crate::refuse::refusals;
use crate::route::RouteDecision;
use crate::terminal::TaskTerminal;

/// Why a gate does not open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateRefusal {
    /// Nothing is skipped without a word (I-4).
    #[error("what does not apply says why")]
    SkipReasonMissing,
    /// A part is not shown.
    #[error("{gate:?} lacks its {field}")]
    GateEvidenceMissing {
        /// Gate.
        gate: Gate,
        /// Part.
        field: &'static str,
    },
    /// A part is shown by something that this runtime did not make (I-5).
    #[error("{0:?} rests on something that did not happen here")]
    GateEvidenceForeign(Gate),
    /// A gate that always applies is called off (I-6).
    #[error("{0:?} always applies and is not called off")]
    GateDowngradeAttempt(Gate),
}

refusals!(GateRefusal => "The gate");

/// Why something does not apply. It is never empty.
/// ```compile_fail,E0603
/// agent_runtime::gate::SkipReason(String::new());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkipReason(String);

impl SkipReason {
    /// Checks and takes it.
    ///
    /// # Errors
    /// `SkipReasonMissing`.
    pub fn new(reason: &str) -> Result<Self, GateRefusal> {
        if reason.trim().is_empty() { Err(GateRefusal::SkipReasonMissing) } else { Ok(Self(reason.trim().into())) }
    }
}

/// What a task touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Touches {
    Routing,
    Intent,
    SkillTrigger,
    ToolCall,
    Permission,
    Memory,
    Handoff,
    Summary,
    HookState,
    ModelGovernance,
    Absorption,
    ReReview,
    ReplayValidation,
    Observability,
    HumanConfirmation,
    Explanation,
}

/// Whether the contract applies to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applicability {
    /// It does.
    Required,
    /// Plain logic without an agent.
    NotApplicable(SkipReason),
}

/// A task that touches anything is held to it; one that touches nothing says why not.
///
/// # Errors
/// `SkipReasonMissing`.
pub fn applies(touches: &BTreeSet<Touches>, skip: &str) -> Result<Applicability, GateRefusal> {
    let required = || Ok(Applicability::Required);
    if touches.is_empty() { SkipReason::new(skip).map(Applicability::NotApplicable) } else { required() }
}

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident: $($part:literal)+;)*) => {
        /// A field of the report.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Field { $($(#[$doc])* $name),* }
        impl Field {
            /// Each of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];
            /// What it consists of.
            #[must_use]
            pub fn parts(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($part),+]),* }
            }
        }
    };
}

fields! {
    /// What was wanted, and how it was met.
    IntentRouting: "intent" "skill" "mode" "degradation";
    /// What tools may do.
    ToolPermissionBoundary: "permission" "confirmation" "dangerous" "fallback";
    /// What is remembered.
    ContextMemoryModel: "context" "memory" "handoff" "summary" "freshness";
    /// What was to be read.
    ContextAcquisition: "seed" "target" "plan" "selection" "full-read reason" "fallback";
    /// What was read.
    ContextReadReceipt: "post evidence" "content identity" "reuse source" "missing sources" "completion";
    /// What happens when it cannot go on.
    StateMachineHandoff: "machine" "recovery" "blocking" "handover";
    /// How the behaviour is shown.
    ObservabilityReplay: "replay" "fixture" "log" "validation";
    /// How a long turn stays honest.
    TurnLivenessContract: "state" "event" "lease" "ack" "terminal" "checkpoint" "trace" "boundary" "fault matrix";
    /// How a task is written.
    TaskContinuityWriteContract: "owner" "fence" "write context" "machine" "terminal" "ttl" "negative probes";
    /// Who answers for it.
    HumanInLoopBoundary: "confirmation" "auto" "review" "owner";
    /// What an agent can call.
    CapabilitySurfaceEvidence: "decision" "controller" "rights" "authority" "state" "observation";
    /// Which judgement rests on what.
    EvidenceMatrix: "judgements";
    /// Whether all of it is there.
    AgentCapabilityDomainMatrix: "object" "domains";
}

macro_rules! gates {
    ($($(#[$doc:meta])* $name:ident ($always:literal): $($field:ident)+;)*) => {
        /// A gate.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Gate { $($(#[$doc])* $name),* }
        impl Gate {
            /// Each of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];
            /// The fields that it looks at.
            #[must_use]
            pub fn fields(self) -> &'static [Field] {
                match self { $(Self::$name => &[$(Field::$field),+]),* }
            }
            /// Whether it applies to every task that the contract applies to.
            #[must_use]
            pub fn always(self) -> bool {
                match self { $(Self::$name => $always),* }
            }
        }
    };
}

gates! {
    /// The behaviour has routing, permission, context, a machine, observation, a human boundary.
    AiAgentSystemArchitecture (true): IntentRouting ToolPermissionBoundary HumanInLoopBoundary EvidenceMatrix;
    /// Intent, skill, mode and degradation can be explained.
    AgentRouting (true): IntentRouting;
    /// Permission, danger, confirmation and fallback are explicit.
    ToolPermissionBoundary (true): ToolPermissionBoundary HumanInLoopBoundary;
    /// Seed, one target, bounded plan, minimal reads, a receipt.
    ContextAcquisition (true): ContextAcquisition ContextReadReceipt;
    /// Recovery of context, memory, hand-over and freshness.
    ContextMemoryState (false): ContextMemoryModel StateMachineHandoff;
    /// One owner, exact fence, canonical write context.
    TaskContinuityWrite (true): TaskContinuityWriteContract;
    /// Shown by replay, fixture or log.
    ReplayObservability (true): ObservabilityReplay;
    /// Long turns are told apart by time, lease, acknowledgement and checkpoint.
    TurnLivenessRecovery (false): TurnLivenessContract;
    /// The trace is strictly ordered and its replay only looks.
    LocalTaskTrace (true): ObservabilityReplay;
    /// Deciding and doing are two roles.
    RepairCollaborationRoleBoundary (false): HumanInLoopBoundary;
    /// Nothing is called complete without its object and its domains.
    AgentCapabilityDomainCompleteness (false): AgentCapabilityDomainMatrix CapabilitySurfaceEvidence;
}

/// For what a report stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A turn: probes count when a simulator ran them in this runtime.
    Turn,
    /// A build: its test runs count.
    Build,
}

/// Where a digest comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Made {
    Here,
    Probe,
    Validator,
}

/// Everything that this runtime made and can be pointed to. Words are not among it:
/// ```compile_fail,E0599
/// # fn f(mut made: agent_runtime::gate::Produced) {
/// made.text("it was tested");
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Produced(BTreeSet<(Digest, Made)>);

impl Produced {
    fn add(mut self, digest: Digest, made: Made) -> Self {
        self.0.insert((digest, made));
        self
    }
    /// A receipt of context.
    #[must_use]
    pub fn receipt(self, receipt: &Receipt) -> Self {
        self.add(receipt.id(), Made::Here).add(receipt.ledger().digest(), Made::Here)
    }
    /// A decision.
    #[must_use]
    pub fn route(self, route: &RouteDecision) -> Self {
        self.add(route.digest(), Made::Here)
    }
    /// Changes to the world.
    #[must_use]
    pub fn operations(self, set: &OperationSet) -> Self {
        self.add(set.settled_digest(), Made::Here)
    }
    /// The end of a task.
    #[must_use]
    pub fn terminal(self, terminal: &TaskTerminal) -> Self {
        self.add(terminal.receipt(), Made::Here)
    }
    /// A run of tests. Other evidence is somebody's word and is not taken.
    #[must_use]
    pub fn run(self, evidence: &Evidence) -> Self {
        if *evidence.producer() == Producer::Validator { self.add(evidence.digest(), Made::Validator) } else { self }
    }
    /// A run of the simulator inside this runtime.
    #[must_use]
    pub fn probe(self, run: Digest) -> Self {
        self.add(run, Made::Probe)
    }
    /// Whether `digest` shows `part` in `scope`.
    fn shows(&self, digest: Digest, part: &str, scope: Scope) -> bool {
        let probe = matches!(part, "fault matrix" | "negative probes");
        let fits = |made| match (probe, scope) {
            (true, Scope::Turn) => made == Made::Probe,
            (true, Scope::Build) => made != Made::Here,
            (false, _) => true,
        };
        [Made::Here, Made::Probe, Made::Validator].iter().any(|m| fits(*m) && self.0.contains(&(digest, *m)))
    }
}

/// What a field says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Parts, each with what shows it.
    Given(BTreeMap<&'static str, Vec<Digest>>),
    /// It does not apply.
    NotApplicable(SkipReason),
}

/// What a gate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything is shown.
    Pass(BTreeSet<Digest>),
    /// The first part that is not.
    Incomplete(GateRefusal),
    /// Something is wrong.
    Blocked(GateRefusal),
    /// It does not apply.
    NotApplicable(SkipReason),
}

/// `ArchitectureGateReport`: what is said of each field. A field of which nothing is said is empty,
/// and its gates are incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    scope: Scope,
    entries: BTreeMap<Field, Entry>,
}

impl Report {
    /// One that says nothing.
    #[must_use]
    pub fn new(scope: Scope) -> Self {
        Self { scope, entries: BTreeMap::new() }
    }
    /// Says something of a field.
    #[must_use]
    pub fn say(mut self, field: Field, entry: Entry) -> Self {
        self.entries.insert(field, entry);
        self
    }
    /// What every gate says, whatever the others do (I-6, I-7).
    #[must_use]
    pub fn judge(&self, produced: &Produced) -> BTreeMap<Gate, Verdict> {
        Gate::ALL.iter().map(|gate| (*gate, self.verdict(*gate, produced))).collect()
    }
    fn verdict(&self, gate: Gate, produced: &Produced) -> Verdict {
        let mut shown = BTreeSet::new();
        let mut skipped = None;
        let mut incomplete = None;
        for field in gate.fields() {
            let given = match self.entries.get(field) {
                Some(Entry::NotApplicable(_)) if gate.always() => {
                    return Verdict::Blocked(GateRefusal::GateDowngradeAttempt(gate));
                }
                Some(Entry::NotApplicable(reason)) => {
                    skipped = Some(reason.clone());
                    continue;
                }
                Some(Entry::Given(parts)) => Some(parts),
                None => None,
            };
            for part in field.parts() {
                let digests = given.and_then(|g| g.get(part)).map_or(&[][..], Vec::as_slice);
                let foreign = |d: &&Digest| !produced.0.iter().any(|(known, _)| known == *d);
                if digests.iter().any(|d| foreign(&d)) {
                    return Verdict::Blocked(GateRefusal::GateEvidenceForeign(gate));
                }
                if !digests.iter().any(|d| produced.shows(*d, part, self.scope)) {
                    incomplete.get_or_insert(GateRefusal::GateEvidenceMissing { gate, field: part });
                }
                shown.extend(digests);
            }
        }
        match (incomplete, skipped) {
            (Some(missing), _) => Verdict::Incomplete(missing),
            (None, Some(reason)) if shown.is_empty() => Verdict::NotApplicable(reason),
            (None, _) => Verdict::Pass(shown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::complete;
    use crate::testkit::{digest, session};
    use GateRefusal as R;

    fn produced() -> Produced {
        Produced::default().receipt(&complete()).probe(digest("simulated"))
    }
    fn shown(field: Field, by: &[Digest]) -> Entry {
        Entry::Given(field.parts().iter().map(|p| (*p, by.to_vec())).collect())
    }
    fn full(scope: Scope) -> Report {
        let by = [complete().id(), digest("simulated")];
        Field::ALL.iter().fold(Report::new(scope), |r, f| r.say(*f, shown(*f, &by)))
    }
    fn skip() -> Entry {
        Entry::NotApplicable(SkipReason::new("no long turn").expect("a reason"))
    }

    #[test]
    fn t118_i004_nothing_is_skipped_without_a_reason() {
        for empty in ["", " \n"] {
            assert_eq!(SkipReason::new(empty), Err(R::SkipReasonMissing));
            assert_eq!(applies(&BTreeSet::new(), empty), Err(R::SkipReasonMissing));
        }
        let plain = applies(&BTreeSet::new(), "a date is formatted");
        assert!(matches!(plain, Ok(Applicability::NotApplicable(_))));
        // No reason calls off what is touched.
        for touched in [Touches::Routing, Touches::HookState, Touches::Absorption, Touches::Explanation] {
            assert_eq!(applies(&[touched].into(), "not today"), Ok(Applicability::Required));
        }
    }

    #[test]
    fn i007_a_report_lists_every_gate_and_every_part_counts() {
        assert_eq!((Gate::ALL.len(), Field::ALL.len()), (11, 13));
        for scope in [Scope::Turn, Scope::Build] {
            assert!(full(scope).judge(&produced()).values().all(|v| matches!(v, Verdict::Pass(_))));
        }
        let nothing = Report::new(Scope::Turn).judge(&produced());
        assert_eq!(nothing.len(), 11);
        assert!(nothing.values().all(|v| matches!(v, Verdict::Incomplete(R::GateEvidenceMissing { .. }))));
        for (gate, field) in Gate::ALL.iter().flat_map(|g| g.fields().iter().map(|f| (*g, *f))) {
            for part in field.parts() {
                let Entry::Given(mut parts) = shown(field, &[complete().id(), digest("simulated")]) else {
                    unreachable!("given")
                };
                parts.remove(part);
                let got = full(Scope::Turn).say(field, Entry::Given(parts)).judge(&produced());
                assert_eq!(got[&gate], Verdict::Incomplete(R::GateEvidenceMissing { gate, field: part }));
            }
        }
    }

    #[test]
    fn i005_a_gate_passes_on_what_this_runtime_made_alone() {
        for (gate, field) in Gate::ALL.iter().flat_map(|g| g.fields().iter().map(|f| (*g, *f))) {
            let prose = full(Scope::Build).say(field, shown(field, &[digest("we tested it")]));
            assert_eq!(prose.judge(&produced())[&gate], Verdict::Blocked(R::GateEvidenceForeign(gate)));
        }
        let said = Evidence::by_session(digest("looks good"), session("tab-1"));
        assert_eq!(produced().run(&said), produced());
    }

    #[test]
    fn i005_probes_of_a_turn_were_run_in_it() {
        let run = Evidence::by_validator(digest("the build's tests"));
        let produced = produced().run(&run);
        let field = Field::TurnLivenessContract;
        let report = |scope| full(scope).say(field, shown(field, &[run.digest()])).judge(&produced);
        let gate = Gate::TurnLivenessRecovery;
        assert!(matches!(report(Scope::Build)[&gate], Verdict::Pass(_)));
        let missing = R::GateEvidenceMissing { gate, field: "fault matrix" };
        assert_eq!(report(Scope::Turn)[&gate], Verdict::Incomplete(missing));
    }

    #[test]
    fn i006_no_gate_is_called_off_and_none_looks_at_another() {
        for (gate, field) in Gate::ALL.iter().flat_map(|g| g.fields().iter().map(|f| (*g, *f))) {
            let got = full(Scope::Turn).say(field, skip()).judge(&produced())[&gate].clone();
            assert_eq!(got == Verdict::Blocked(R::GateDowngradeAttempt(gate)), gate.always(), "{gate:?} {field:?}");
        }
        let alone = Field::TurnLivenessContract;
        assert!(matches!(
            full(Scope::Turn).say(alone, skip()).judge(&produced())[&Gate::TurnLivenessRecovery],
            Verdict::NotApplicable(_)
        ));
        // Whatever a field says, gates that do not look at it say the same.
        let before = full(Scope::Turn).judge(&produced());
        for field in Field::ALL {
            let after = full(Scope::Turn).say(*field, Entry::Given(BTreeMap::new())).judge(&produced());
            assert!(Gate::ALL.iter().all(|g| g.fields().contains(field) || before[g] == after[g]));
        }
    }
}
