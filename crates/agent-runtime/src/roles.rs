//! Who decides and accepts, and who does and checks (contracts.md §1.10).

use std::collections::{BTreeMap, BTreeSet};

use kernel::Digest;

use crate::core::{Evidence, Producer, SessionId, independent};
use crate::refuse::refusals;
use crate::route::Danger;

/// Why a repair does not go on. Nothing has changed where one is returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoleRefusal {
    /// A role has nobody.
    #[error("nobody is named to {0}")]
    RoleMissing(&'static str),
    /// Nobody allowed it (I-88).
    #[error("nobody allowed the repair")]
    AuthorizationMissing,
    /// Only the author says that it is good (I-86).
    #[error("a costly repair is accepted on somebody else's evidence than its author's")]
    ReviewNotIndependent,
    /// Not a step of the table (I-89).
    #[error("a repair does not go from {from:?} to {to:?}")]
    RepairTransition {
        /// Where it stands.
        from: RepairState,
        /// Where it was to go.
        to: RepairState,
    },
    /// A finding that no patch answers.
    #[error("no patch answers the finding “{0}”")]
    FindingUnmapped(String),
}

refusals!(RoleRefusal => "The repair");

/// How costly a mistake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum RiskClass {
    Lightweight,
    Full,
}

/// From what is touched and how (I-87). Nobody's name goes in:
/// ```compile_fail,E0061
/// # use agent_runtime::{roles::risk, route::Danger};
/// risk(1, Danger::Reversible, "a model with a great name");
/// ```
#[must_use]
pub fn risk(targets: usize, danger: Danger) -> RiskClass {
    if targets <= 1 && danger <= Danger::Reversible { RiskClass::Lightweight } else { RiskClass::Full }
}

/// Where a repair stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum RepairState {
    Draft,
    Approved,
    Executing,
    VerificationPending,
    Accepted,
    Rejected,
    Blocked,
}

/// The state machine as data.
pub const LEGAL: &[(RepairState, RepairState)] = {
    use RepairState as S;
    &[
        (S::Draft, S::Approved),
        (S::Draft, S::Blocked),
        (S::Approved, S::Executing),
        (S::Approved, S::Blocked),
        (S::Executing, S::VerificationPending),
        (S::Executing, S::Blocked),
        (S::VerificationPending, S::Accepted),
        (S::VerificationPending, S::Rejected),
        (S::VerificationPending, S::Blocked),
        (S::Rejected, S::Executing),
        (S::Rejected, S::Blocked),
    ]
};

/// Who does what. One may hold both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleAssignments {
    decide_accept: SessionId,
    execute_verify: SessionId,
}

impl RoleAssignments {
    /// Names both (I-86).
    ///
    /// # Errors
    /// `RoleMissing`.
    pub fn new(decide_accept: Option<SessionId>, execute_verify: Option<SessionId>) -> Result<Self, RoleRefusal> {
        Ok(Self {
            decide_accept: decide_accept.ok_or(RoleRefusal::RoleMissing("decide and accept"))?,
            execute_verify: execute_verify.ok_or(RoleRefusal::RoleMissing("execute and verify"))?,
        })
    }
    /// Who decides and accepts.
    #[must_use]
    pub fn decides(&self) -> &SessionId {
        &self.decide_accept
    }
}

/// Who allowed it, as it is shown: automatic leave is never shown as a person's (I-88).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AllowedBy {
    Person,
    Auto,
}

/// `RepairContract`. Its class follows from what it touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairContract {
    class: RiskClass,
    roles: RoleAssignments,
    state: RepairState,
    allowed: Option<Evidence>,
    patches: BTreeMap<String, BTreeSet<Digest>>,
    review: Vec<Evidence>,
}

impl RepairContract {
    /// A draft for `findings`.
    #[must_use]
    pub fn new(class: RiskClass, roles: RoleAssignments, findings: &[&str]) -> Self {
        let patches = findings.iter().map(|f| ((*f).to_owned(), BTreeSet::new())).collect();
        Self { class, roles, state: RepairState::Draft, allowed: None, patches, review: Vec::new() }
    }
    /// Somebody allowed it.
    #[must_use]
    pub fn allow(mut self, by: Evidence) -> Self {
        self.allowed = Some(by);
        self
    }
    /// A patch answers a finding.
    #[must_use]
    pub fn patch(mut self, finding: &str, patch: Digest) -> Self {
        self.patches.entry(finding.into()).or_default().insert(patch);
        self
    }
    /// Somebody looked at the result.
    #[must_use]
    pub fn review(mut self, evidence: Evidence) -> Self {
        self.review.push(evidence);
        self
    }
    /// Who allowed it.
    #[must_use]
    pub fn allowed_by(&self) -> Option<AllowedBy> {
        let person = |e: &Evidence| *e.producer() == Producer::Person;
        self.allowed.as_ref().map(|e| if person(e) { AllowedBy::Person } else { AllowedBy::Auto })
    }
    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> RepairState {
        self.state
    }
    /// Goes on.
    ///
    /// # Errors
    /// `RepairTransition`, `AuthorizationMissing`, `FindingUnmapped`, `ReviewNotIndependent`.
    pub fn go(&self, to: RepairState) -> Result<Self, RoleRefusal> {
        if !LEGAL.contains(&(self.state, to)) {
            return Err(RoleRefusal::RepairTransition { from: self.state, to });
        }
        let mut next = Self { state: to, ..self.clone() };
        match to {
            RepairState::Approved | RepairState::Executing if self.allowed.is_none() => {
                return Err(RoleRefusal::AuthorizationMissing);
            }
            // What was reviewed is not what is made now.
            RepairState::Executing => next.review.clear(),
            RepairState::VerificationPending => {
                if let Some((finding, _)) = self.patches.iter().find(|(_, p)| p.is_empty()) {
                    return Err(RoleRefusal::FindingUnmapped(finding.clone()));
                }
            }
            RepairState::Accepted => {
                let author = |s: &SessionId| *s == self.roles.execute_verify;
                let other = independent(self.review.iter().map(Evidence::producer), author);
                if self.review.is_empty() || (self.class == RiskClass::Full && !other) {
                    return Err(RoleRefusal::ReviewNotIndependent);
                }
            }
            _ => {}
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{digest, gesture, session};
    use RepairState as S;
    use RoleRefusal as R;

    const STATES: [S; 7] =
        [S::Draft, S::Approved, S::Executing, S::VerificationPending, S::Accepted, S::Rejected, S::Blocked];

    fn roles() -> RoleAssignments {
        RoleAssignments::new(Some(session("chief")), Some(session("author"))).expect("both")
    }
    fn by(name: &str) -> Evidence {
        Evidence::by_session(digest(name), session(name))
    }
    fn draft(class: RiskClass) -> RepairContract {
        RepairContract::new(class, roles(), &["it leaks"]).allow(by("chief")).patch("it leaks", digest("patch"))
    }
    fn walk(contract: RepairContract, path: &[S]) -> Result<RepairContract, R> {
        path.iter().try_fold(contract, |c, to| c.go(*to))
    }
    const TO_VERIFY: [S; 3] = [S::Approved, S::Executing, S::VerificationPending];
    fn standing(state: S) -> RepairContract {
        let verify = || walk(draft(RiskClass::Full), &TO_VERIFY).expect("goes").review(by("chief"));
        match state {
            S::Draft | S::Approved | S::Executing => {
                let steps = STATES.iter().position(|s| *s == state).expect("a state");
                walk(draft(RiskClass::Full), &TO_VERIFY[..steps]).expect("goes").review(by("chief"))
            }
            S::VerificationPending => verify(),
            end => verify().go(end).expect("goes"),
        }
    }

    #[test]
    fn i089_a_repair_takes_the_steps_of_the_table_and_no_other() {
        for (from, to) in STATES.iter().flat_map(|f| STATES.map(|t| (*f, t))) {
            let got = standing(from).go(to).map(|c| c.state());
            let legal = LEGAL.contains(&(from, to));
            assert_eq!(got, if legal { Ok(to) } else { Err(R::RepairTransition { from, to }) });
        }
        assert!(!LEGAL.contains(&(S::Executing, S::Accepted)));
    }

    #[test]
    fn t111_i086_a_costly_repair_is_not_accepted_on_its_authors_word() {
        let pending = |class| walk(draft(class), &TO_VERIFY).expect("goes");
        let alone = pending(RiskClass::Full).review(by("author"));
        assert_eq!(alone.go(S::Accepted), Err(R::ReviewNotIndependent));
        for other in [by("chief"), Evidence::by_validator(digest("run")), Evidence::by_person(digest("x"), &gesture())]
        {
            assert_eq!(alone.clone().review(other).go(S::Accepted).map(|c| c.state()), Ok(S::Accepted));
        }
        assert!(pending(RiskClass::Lightweight).review(by("author")).go(S::Accepted).is_ok());
        assert_eq!(pending(RiskClass::Lightweight).go(S::Accepted), Err(R::ReviewNotIndependent));
        // A rejected repair is reviewed anew.
        let again = walk(alone.review(by("chief")), &[S::Rejected, S::Executing, S::VerificationPending]);
        assert_eq!(again.expect("goes").go(S::Accepted), Err(R::ReviewNotIndependent));
        for (decides, does) in [(None, Some(session("a"))), (Some(session("a")), None)] {
            assert!(matches!(RoleAssignments::new(decides, does), Err(R::RoleMissing(_))));
        }
        assert!(RoleAssignments::new(Some(session("a")), Some(session("a"))).is_ok());
    }

    #[test]
    fn t112_i087_risk_is_what_is_touched_and_how() {
        for danger in [Danger::None, Danger::Reversible, Danger::Irreversible, Danger::DangerousCommand] {
            for targets in 0..3 {
                let small = targets <= 1 && matches!(danger, Danger::None | Danger::Reversible);
                assert_eq!(risk(targets, danger) == RiskClass::Lightweight, small);
            }
        }
    }

    #[test]
    fn i088_nothing_is_carried_out_unallowed_and_auto_is_called_auto() {
        let bare = RepairContract::new(RiskClass::Full, roles(), &[]);
        assert_eq!((bare.go(S::Approved), bare.allowed_by()), (Err(R::AuthorizationMissing), None));
        let person = Evidence::by_person(digest("x"), &gesture());
        assert_eq!(bare.clone().allow(person).allowed_by(), Some(AllowedBy::Person));
        for auto in [by("chief"), Evidence::by_validator(digest("run"))] {
            assert_eq!(bare.clone().allow(auto).allowed_by(), Some(AllowedBy::Auto));
        }
    }

    #[test]
    fn i086_every_finding_has_its_patch() {
        let two = RepairContract::new(RiskClass::Full, roles(), &["a", "b"]).allow(by("chief"));
        let got = walk(two.patch("a", digest("patch")), &TO_VERIFY);
        assert_eq!(got, Err(R::FindingUnmapped("b".into())));
    }
}
