//! What is known of something that an agent can call (contracts.md §1.12): evidence, and a
//! reference to the decision that rests on it, never the decision.

use std::collections::BTreeMap;

use kernel::Digest;

use crate::context::ActionClass;
use crate::refuse::refusals;

/// Why evidence is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceRefusal {
    /// The decision stands in one place (I-93).
    #[error("“{0}” belongs to the decision and is not repeated here")]
    SurfaceDecisionCopied(String),
    /// Nobody saw it work (I-94).
    #[error("nothing shows that {0} works here")]
    SurfaceUnverified(String),
    /// A field that says nothing, or is none.
    #[error("nothing is said of its {field}")]
    SurfaceEvidenceMissing {
        /// Which.
        field: String,
    },
}

refusals!(SurfaceRefusal => "The surface");

/// What evidence says of a surface.
pub const FIELDS: [&str; 9] = [
    "boundary",
    "state machine",
    "authority",
    "task negotiation",
    "cancel",
    "timeout",
    "idempotency",
    "audit",
    "owner",
];
/// What only the decision says.
pub const DECISION_FIELDS: [&str; 4] = ["preferred surface", "decision", "chosen surface", "rationale"];

/// Who makes it act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Controller {
    Model,
    Application,
    User,
    Host,
}

/// What was seen of it, by its digest. A name is not among them:
/// ```compile_fail,E0599
/// agent_runtime::surface::Seen::Name("a host that surely can".into());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Seen {
    Handshake(Digest),
    NegotiatedCapability(Digest),
    ExecutedProbe(Digest),
}

/// Whether it works here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Nobody saw it.
    Unverified,
    /// Seen.
    Observed(Seen),
}

/// Evidence of one surface. It has no place for a decision:
/// ```compile_fail,E0560
/// # use agent_runtime::surface::{Controller, SurfaceEvidence};
/// # fn f(decision_ref: kernel::Digest) {
/// SurfaceEvidence { preferred_surface: "mcp", decision_ref, controller: Controller::Model, rights: vec![] };
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurfaceEvidence {
    decision_ref: Digest,
    controller: Controller,
    rights: Vec<ActionClass>,
    said: BTreeMap<String, String>,
    features: BTreeMap<String, Seen>,
}

impl SurfaceEvidence {
    /// Takes what is said, all of [`FIELDS`] and nothing else.
    ///
    /// # Errors
    /// `SurfaceDecisionCopied`, `SurfaceEvidenceMissing`.
    pub fn new(
        decision_ref: Digest,
        controller: Controller,
        rights: Vec<ActionClass>,
        said: BTreeMap<String, String>,
    ) -> Result<Self, SurfaceRefusal> {
        let plain = |key: &str| key.to_lowercase().replace(['_', '-'], " ");
        if let Some(copied) = said.keys().find(|k| DECISION_FIELDS.contains(&plain(k).as_str())) {
            return Err(SurfaceRefusal::SurfaceDecisionCopied(copied.clone()));
        }
        let silent = FIELDS.iter().find(|f| said.get(**f).is_none_or(|t| t.trim().is_empty())).map(|f| (*f).to_owned());
        let unknown = || said.keys().find(|k| !FIELDS.contains(&k.as_str())).cloned();
        match silent.or_else(unknown) {
            Some(field) => Err(SurfaceRefusal::SurfaceEvidenceMissing { field }),
            None => Ok(Self { decision_ref, controller, rights, said, features: BTreeMap::new() }),
        }
    }
    /// A feature was seen.
    #[must_use]
    pub fn observe(mut self, feature: &str, seen: Seen) -> Self {
        self.features.insert(feature.into(), seen);
        self
    }
    /// Whether a feature works here: unverified until seen (I-94).
    #[must_use]
    pub fn support(&self, feature: &str) -> Support {
        self.features.get(feature).map_or(Support::Unverified, |seen| Support::Observed(*seen))
    }
    /// What shows that a feature works here.
    ///
    /// # Errors
    /// `SurfaceUnverified`.
    pub fn require(&self, feature: &str) -> Result<Seen, SurfaceRefusal> {
        self.features.get(feature).copied().ok_or_else(|| SurfaceRefusal::SurfaceUnverified(feature.into()))
    }
    /// Where the decision stands.
    #[must_use]
    pub fn decision_ref(&self) -> Digest {
        self.decision_ref
    }
    /// Who makes it act, and what it may.
    #[must_use]
    pub fn acts(&self) -> (Controller, &[ActionClass]) {
        (self.controller, &self.rights)
    }
    /// What is said of it.
    #[must_use]
    pub fn says(&self, field: &str) -> Option<&str> {
        self.said.get(field).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::digest;
    use SurfaceRefusal as R;

    fn said() -> BTreeMap<String, String> {
        FIELDS.map(|f| (f.to_owned(), "the agent Acme 3 can do MCP tasks".to_owned())).into()
    }
    fn evidence(said: BTreeMap<String, String>) -> Result<SurfaceEvidence, R> {
        SurfaceEvidence::new(digest("record 7"), Controller::Model, vec![ActionClass::Read], said)
    }

    #[test]
    fn t116_i094_what_is_known_by_name_is_unverified() {
        let evidence = evidence(said()).expect("complete");
        assert_eq!(evidence.support("tasks"), Support::Unverified);
        assert_eq!(evidence.require("tasks"), Err(R::SurfaceUnverified("tasks".into())));
        for seen in [Seen::Handshake, Seen::NegotiatedCapability, Seen::ExecutedProbe] {
            let seen = seen(digest("bytes"));
            let observed = evidence.clone().observe("tasks", seen);
            assert_eq!((observed.support("tasks"), observed.require("tasks")), (Support::Observed(seen), Ok(seen)));
            assert_eq!(observed.support("sampling"), Support::Unverified);
        }
    }

    #[test]
    fn t117_i093_a_decision_is_referred_to_and_not_copied() {
        for copied in ["preferred surface", "preferred_surface", "Preferred-Surface", "rationale"] {
            let mut said = said();
            said.insert(copied.into(), "mcp".into());
            assert_eq!(evidence(said), Err(R::SurfaceDecisionCopied(copied.into())));
        }
        let evidence = evidence(said()).expect("complete");
        assert_eq!((evidence.decision_ref(), evidence.acts().0), (digest("record 7"), Controller::Model));
    }

    #[test]
    fn i093_evidence_says_all_its_fields_and_no_other() {
        for field in FIELDS {
            let mut said = said();
            said.insert(field.into(), " ".into());
            assert_eq!(evidence(said), Err(R::SurfaceEvidenceMissing { field: field.into() }));
        }
        let mut more = said();
        more.insert("mood".into(), "good".into());
        assert_eq!(evidence(more), Err(R::SurfaceEvidenceMissing { field: "mood".into() }));
    }
}
