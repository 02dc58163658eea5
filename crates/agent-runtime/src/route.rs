//! Why this tool, and who said that it may (contracts.md §1.2).
//!
//! A decision is made on a receipt and names it. A call is let through by the decision that
//! offered its tool, with as much of a person's say as the tool's danger asks for; no mode asks
//! for less than the floor.

use std::collections::{BTreeMap, BTreeSet};

use kernel::authority::{Confirmation, ShownReview};
use kernel::{CallId, Digest, SkillId, ToolName, TurnKey};
use serde::Serialize;

use crate::context::{ActionClass, Intent, Receipt, SkillRoute};
use crate::core::{Gen, SessionId, digest_of};
use crate::refuse::refusals;

/// Why a call is not let through, or a way down is none. Nothing has changed where one is returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteRefusal {
    /// Not in this turn, not by this decision, or not as it was offered (I-8).
    #[error("{0} was not offered for this")]
    ToolNotOffered(ToolName),
    /// A person has to say so, or to see it, first.
    #[error("{0} waits for a person")]
    ConfirmationMissing(ToolName),
    /// They said yes to something else (I-11).
    #[error("what was approved is not what is to be done")]
    ConfirmationStale,
    /// No mode stands in for the yes (I-10).
    #[error("automatic mode does not say yes to {0}")]
    AutoCannotWaiveFloor(ToolName),
    /// A fallback adds something (I-9).
    #[error("a fallback would add {0}")]
    DegradeWouldWiden(ToolName),
}

refusals!(RouteRefusal => "The route");

/// What goes wrong if a call was a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[allow(missing_docs)]
pub enum Danger {
    None,
    Reversible,
    Irreversible,
    DangerousCommand,
}

/// How much of a person's say a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Need {
    /// None.
    NotNeeded,
    /// The plan on screen, whole, before it happens.
    ShowPlan,
    /// A yes to exactly this.
    ExplicitYes,
}

/// A person's leave to go on without asking for what can be undone: the yes by which they gave it.
///
/// ```compile_fail,E0603
/// agent_runtime::route::AutoGrant(kernel::Digest::of(b"the model says it may"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct AutoGrant(Digest);

impl AutoGrant {
    /// The leave that a yes gives.
    #[must_use]
    pub fn of(yes: &Confirmation) -> Self {
        Self(digest_of("auto", &(yes.digest(), yes.gesture_seq())))
    }
}

/// How a turn works.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Mode {
    /// Asks as it goes.
    Interactive,
    /// Shows its plan first.
    Planned,
    /// Goes on with what can be undone.
    Auto(AutoGrant),
    /// Changes nothing.
    ReadOnly,
    /// With less than it had.
    Degraded(String),
}

impl Mode {
    /// What a danger asks for in this mode: the floor is the danger's own.
    #[must_use]
    pub fn need(&self, danger: Danger) -> Need {
        match (danger, self) {
            (Danger::None, _) => Need::NotNeeded,
            (Danger::Reversible, Self::Auto(_)) => Need::ShowPlan,
            _ => Need::ExplicitYes,
        }
    }
}

/// `ToolBoundary`: a tool as it is offered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ToolBoundary {
    /// Digest of its descriptor.
    pub descriptor: Digest,
    /// What it does.
    pub class: ActionClass,
    /// What a mistake costs.
    pub danger: Danger,
    /// Time it may take, milliseconds.
    pub timeout_ms: u64,
    /// Whether it stops when asked.
    pub cancel: Cancel,
    /// What sending it twice does.
    pub idempotency: Idempotency,
}

/// Whether a tool stops when asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[allow(missing_docs)]
pub enum Cancel {
    Cooperative,
    NotCancellable,
}

/// What sending a call twice does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[allow(missing_docs)]
pub enum Idempotency {
    Natural,
    Keyed,
    None,
}

/// Tools as they are offered.
pub type Offer = BTreeMap<ToolName, ToolBoundary>;

/// One way down: why, and what was lost by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct DegradeStep {
    /// Why.
    pub trigger: String,
    /// What is gone.
    pub lost: BTreeSet<ToolName>,
}

/// `RouteDecision`: what a turn does, and why. It is made on a receipt (I-28):
/// ```compile_fail,E0308
/// # use agent_runtime::route::{Mode, RouteDecision};
/// # fn f(turn: kernel::TurnKey, owner: agent_runtime::core::SessionId) {
/// RouteDecision::decide(turn, "the context is loaded", None, Mode::Interactive, Default::default(), owner);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RouteDecision {
    turn: TurnKey,
    seed: Digest,
    intent: Intent,
    skill: Option<SkillId>,
    mode: Mode,
    offered: Offer,
    /// Routes not taken, each with its reason.
    alternatives: BTreeMap<String, String>,
    degradation: Vec<DegradeStep>,
    evidence: Vec<Digest>,
    owner: SessionId,
}

/// What a call is: nothing of it can change once a person saw it (I-11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    /// Id; a change's operation has the same.
    pub id: CallId,
    /// Tool.
    pub tool: ToolName,
    /// Digest of its descriptor.
    pub descriptor: Digest,
    /// Digest of its arguments.
    pub args: Digest,
    /// What it touches.
    pub targets: BTreeSet<String>,
    /// Generation of writers.
    pub generation: Gen,
}

impl Call {
    /// The question that a person answers.
    #[must_use]
    pub fn question(&self) -> Digest {
        digest_of("question", self)
    }
}

/// A person's say, as far as there is one.
#[derive(Debug)]
pub enum Say<'a> {
    /// None.
    None,
    /// The call is on screen.
    Shown(&'a ShownReview),
    /// Yes.
    Yes(Confirmation),
}

/// A call that a decision let through. It holds the yes, which is thereby used up:
/// ```compile_fail,E0382
/// # use agent_runtime::route::{Call, RouteDecision, Say};
/// # fn f(route: &RouteDecision, call: &Call, yes: kernel::authority::Confirmation) {
/// let once = route.let_through(call, Say::Yes(yes));
/// let twice = route.let_through(call, Say::Yes(yes));
/// # }
/// ```
/// and there is no other way to one:
/// ```compile_fail,E0451
/// # use agent_runtime::route::{HumanBoundary, LetThrough};
/// # fn f(call: kernel::Digest, by: HumanBoundary) {
/// LetThrough { route: call, call, by };
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct LetThrough {
    route: Digest,
    call: Digest,
    by: HumanBoundary,
}

/// Who stands behind a call (I-12).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HumanBoundary {
    /// The number of the act by which a person said yes.
    pub confirmed_by: Option<u64>,
    /// The leave that it went on.
    pub auto_grant: Option<AutoGrant>,
    /// Whether a person saw it.
    pub manual_review: bool,
    /// Whose it is in the end.
    pub final_owner: SessionId,
}

impl LetThrough {
    /// The one decision.
    #[must_use]
    pub fn route(&self) -> Digest {
        self.route
    }
    /// The call.
    #[must_use]
    pub fn call(&self) -> Digest {
        self.call
    }
    /// Who stands behind it.
    #[must_use]
    pub fn by(&self) -> &HumanBoundary {
        &self.by
    }
}

impl RouteDecision {
    /// Decides on `receipt`, whatever it proves: tools outside its plan's envelope are not offered,
    /// nor any that changes something in a turn that only reads.
    #[must_use]
    pub fn decide(
        turn: TurnKey,
        receipt: &Receipt,
        skill: Option<&SkillRoute>,
        mode: Mode,
        mut offered: Offer,
        owner: SessionId,
    ) -> Self {
        let plan = receipt.plan();
        let reads = |b: &ToolBoundary| b.class == ActionClass::Read && b.danger == Danger::None;
        offered.retain(|_, b| plan.envelope().allowed.contains(&b.class) && (mode != Mode::ReadOnly || reads(b)));
        let evidence = [receipt.id()].into_iter().chain(skill.map(SkillRoute::ledger)).collect();
        let skill = skill.map(|s| s.skill().clone());
        let (seed, intent) = (plan.seed(), plan.intent());
        let (alternatives, degradation) = (BTreeMap::new(), Vec::new());
        Self { turn, seed, intent, skill, mode, offered, alternatives, degradation, evidence, owner }
    }
    /// Notes a route that was not taken.
    #[must_use]
    pub fn instead_of(mut self, route: &str, reason: &str) -> Self {
        self.alternatives.insert(route.into(), reason.into());
        self
    }
    /// Goes on with less: some of the tools, each as it was offered, in the same place (I-9).
    ///
    /// # Errors
    /// `DegradeWouldWiden`.
    pub fn degrade(&self, trigger: &str, to: Offer) -> Result<Self, RouteRefusal> {
        if let Some((tool, _)) = to.iter().find(|(tool, b)| self.offered.get(*tool) != Some(*b)) {
            return Err(RouteRefusal::DegradeWouldWiden(tool.clone()));
        }
        let mut next = self.clone();
        let lost = self.offered.keys().filter(|t| !to.contains_key(*t)).cloned().collect();
        next.degradation.push(DegradeStep { trigger: trigger.into(), lost });
        if self.mode != Mode::ReadOnly {
            next.mode = Mode::Degraded(trigger.into());
        }
        next.offered = to;
        Ok(next)
    }
    /// Lets a call through, if this decision offered its tool as it is, and a person said as much
    /// as its danger asks for. What was read, and how well, changes nothing of that (I-6, I-10).
    ///
    /// # Errors
    /// `ToolNotOffered`, `ConfirmationMissing`, `AutoCannotWaiveFloor`, `ConfirmationStale`.
    pub fn let_through(&self, call: &Call, say: Say<'_>) -> Result<LetThrough, RouteRefusal> {
        let offer = self.offered.get(&call.tool).filter(|b| b.descriptor == call.descriptor);
        let Some(boundary) = offer.filter(|_| call.id.turn == self.turn) else {
            return Err(RouteRefusal::ToolNotOffered(call.tool.clone()));
        };
        let question = call.question();
        let auto_grant = if let Mode::Auto(grant) = self.mode { Some(grant) } else { None };
        let (got, about, confirmed_by) = match &say {
            Say::None => (Need::NotNeeded, question, None),
            Say::Shown(card) if card.decidable_at().is_none() => (Need::NotNeeded, question, None),
            Say::Shown(card) => (Need::ShowPlan, card.digest(), None),
            Say::Yes(yes) => (Need::ExplicitYes, yes.digest(), Some(yes.gesture_seq())),
        };
        let need = self.mode.need(boundary.danger);
        if about != question {
            return Err(RouteRefusal::ConfirmationStale);
        }
        if got < need {
            let refusal = if auto_grant.is_some() && need == Need::ExplicitYes {
                RouteRefusal::AutoCannotWaiveFloor
            } else {
                RouteRefusal::ConfirmationMissing
            };
            return Err(refusal(call.tool.clone()));
        }
        let manual_review = got > Need::NotNeeded;
        let by = HumanBoundary { confirmed_by, auto_grant, manual_review, final_owner: self.owner.clone() };
        Ok(LetThrough { route: self.digest(), call: question, by })
    }
    /// What it offers.
    #[must_use]
    pub fn offered(&self) -> &Offer {
        &self.offered
    }
    /// How it works.
    #[must_use]
    pub fn mode(&self) -> &Mode {
        &self.mode
    }
    /// How it got there.
    #[must_use]
    pub fn degradation(&self) -> &[DegradeStep] {
        &self.degradation
    }
    /// What it was decided on; the receipt first.
    #[must_use]
    pub fn evidence(&self) -> &[Digest] {
        &self.evidence
    }
    /// The digest of all of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest_of("route", self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::{complete, partial};
    use crate::testkit::{at, call as call_id, digest, gesture, session, turn, yes};
    use RouteRefusal as R;

    fn tool(name: &str) -> ToolName {
        ToolName::new(name).expect("name")
    }
    fn boundary(danger: Danger) -> ToolBoundary {
        let class = if danger == Danger::None { ActionClass::Read } else { ActionClass::Write };
        let (cancel, idempotency) = (Cancel::Cooperative, Idempotency::Keyed);
        ToolBoundary { descriptor: digest("tool"), class, danger, timeout_ms: 1_000, cancel, idempotency }
    }
    fn offer() -> Offer {
        [
            ("read", Danger::None),
            ("move", Danger::Reversible),
            ("delete", Danger::Irreversible),
            ("run", Danger::DangerousCommand),
        ]
        .map(|(name, danger)| (tool(name), boundary(danger)))
        .into()
    }
    fn modes() -> [Mode; 4] {
        let auto = Mode::Auto(AutoGrant::of(&yes(digest("go on by yourself"))));
        [Mode::Interactive, Mode::Planned, auto, Mode::Degraded("slow".into())]
    }
    fn route(mode: Mode) -> RouteDecision {
        RouteDecision::decide(turn(1), &complete(), None, mode, offer(), session("tab-1"))
    }
    fn call(name: &str) -> Call {
        let (id, targets) = (call_id(1), ["/mnt/a/x".to_owned()].into());
        Call { id, tool: tool(name), descriptor: digest("tool"), args: digest("args"), targets, generation: Gen(1) }
    }

    #[test]
    fn i008_i028_a_call_has_one_decision_and_that_has_a_receipt() {
        let route = route(Mode::Interactive).instead_of("ask", "the wish is clear");
        assert_eq!(route.evidence(), [complete().id()]);
        let through = route.let_through(&call("read"), Say::None).expect("reads");
        assert_eq!((through.route(), through.call()), (route.digest(), call("read").question()));
        let (other_turn, mut drifted) = (CallId { turn: turn(2), n: 1 }, call("read"));
        drifted.descriptor = digest("another tool");
        for bad in [call("unknown"), Call { id: other_turn, ..call("read") }, drifted] {
            assert_eq!(route.let_through(&bad, Say::None), Err(R::ToolNotOffered(bad.tool)));
        }
        let reading = self::route(Mode::ReadOnly);
        assert_eq!(reading.offered().keys().collect::<Vec<_>>(), [&tool("read")]);
    }

    #[test]
    fn i009_a_way_down_adds_nothing() {
        let route = route(modes()[2].clone());
        let mut less = offer();
        less.remove(&tool("delete"));
        let down = route.degrade("no host", less).expect("less");
        assert_eq!(down.degradation()[0].lost, [tool("delete")].into());
        // What was lost does not come back, and no danger becomes smaller.
        assert_eq!(down.degrade("host again", offer()), Err(R::DegradeWouldWiden(tool("delete"))));
        let softer: Offer = [(tool("run"), boundary(Danger::None))].into();
        assert_eq!(route.degrade("hurry", softer), Err(R::DegradeWouldWiden(tool("run"))));
        // Automatic leave ends with the first way down.
        assert_eq!(down.let_through(&call("move"), Say::None), Err(R::ConfirmationMissing(tool("move"))));
        let still = self::route(Mode::ReadOnly).degrade("slow", Offer::new()).expect("nothing");
        assert_eq!(still.mode(), &Mode::ReadOnly);
    }

    #[test]
    fn t120_i010_no_mode_waives_the_floor() {
        for (mode, name) in modes().iter().flat_map(|m| ["delete", "run"].map(|n| (m.clone(), n))) {
            let auto = matches!(mode, Mode::Auto(_));
            let (route, call) = (route(mode), call(name));
            let mut card = ShownReview::new(call.question(), kernel::Instant::default());
            card.laid_out(kernel::Instant::default());
            for say in [Say::None, Say::Shown(&card)] {
                let refusal = if auto { R::AutoCannotWaiveFloor } else { R::ConfirmationMissing };
                assert_eq!(route.let_through(&call, say), Err(refusal(tool(name))));
            }
            let through = route.let_through(&call, Say::Yes(yes(call.question()))).expect("a person said yes");
            assert!(through.by().confirmed_by.is_some());
        }
    }

    #[test]
    fn t120_i011_a_yes_is_to_every_byte_of_what_was_shown() {
        let asked = call("delete");
        let others = [
            Call { args: digest("argz"), ..asked.clone() },
            Call { targets: ["/mnt/a".into()].into(), ..asked.clone() },
            Call { generation: Gen(2), ..asked.clone() },
            Call { id: call_id(2), ..asked.clone() },
            Call { tool: tool("run"), ..asked.clone() },
        ];
        for (mode, other) in modes().iter().flat_map(|m| others.iter().map(|o| (m.clone(), o))) {
            let said = route(mode).let_through(other, Say::Yes(yes(asked.question())));
            assert_eq!(said, Err(R::ConfirmationStale));
        }
    }

    #[test]
    fn i012_somebody_owns_every_call_and_what_can_be_undone_is_shown_first() {
        let auto = route(modes()[2].clone());
        assert_eq!(auto.let_through(&call("move"), Say::None), Err(R::ConfirmationMissing(tool("move"))));
        let mut card = ShownReview::new(call("move").question(), kernel::Instant::default());
        let unread = auto.let_through(&call("move"), Say::Shown(&card));
        assert_eq!(unread, Err(R::ConfirmationMissing(tool("move"))));
        card.laid_out(kernel::Instant::default());
        let by = auto.let_through(&call("move"), Say::Shown(&card)).expect("shown").by;
        assert_eq!((by.confirmed_by, by.manual_review, by.final_owner), (None, true, session("tab-1")));
        assert!(by.auto_grant.is_some());
        let asks = route(Mode::Interactive).let_through(&call("move"), Say::Shown(&card));
        assert_eq!(asks, Err(R::ConfirmationMissing(tool("move"))));
        assert!(card.confirm(gesture()).is_ok());
    }

    #[test]
    fn t119_i006_a_part_of_the_context_lowers_no_demand() {
        for receipt in [complete(), partial(), complete().consume(at(9)).expect("complete")] {
            let route = RouteDecision::decide(turn(1), &receipt, None, modes()[2].clone(), offer(), session("tab-1"));
            let got = route.let_through(&call("delete"), Say::None);
            assert_eq!(got, Err(R::AutoCannotWaiveFloor(tool("delete"))), "{:?}", receipt.status());
        }
    }
}
