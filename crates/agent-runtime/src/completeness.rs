//! What has to be there before something is called complete (contracts.md §1.11).

use std::collections::BTreeMap;

use crate::refuse::refusals;

/// Why something is not complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompletenessRefusal {
    /// Complete as what?
    #[error("it is called complete without saying as what")]
    CompletenessObjectMissing,
    /// A domain without its four fields.
    #[error("nothing, or not all, is said of {domain:?}")]
    DomainRowMissing {
        /// Which.
        domain: Domain,
    },
    /// A pass for less is shown as one for more (I-91).
    #[error("a pass as {passed:?} is none as {claimed:?}")]
    CompletenessUpgrade {
        /// What passed.
        passed: CompletenessObject,
        /// What was claimed.
        claimed: CompletenessObject,
    },
}

refusals!(CompletenessRefusal => "The claim");

/// What is called complete; each includes the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum CompletenessObject {
    Kernel,
    Runtime,
    DeveloperProduct,
    HostedPlatform,
    EnterpriseSaas,
}

macro_rules! domains {
    ($($object:ident: $($name:ident)+;)*) => {
        /// A domain.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Domain { $($($name),+),* }
        impl Domain {
            /// Each, with the first object that needs it.
            pub const TABLE: &[(Self, CompletenessObject)] =
                &[$($((Self::$name, CompletenessObject::$object)),+),*];
        }
    };
}

domains! {
    Kernel: Ingress Cognition ContextKnowledge Planning ExecutionTools Response Observe Evaluate Evolve Governance Model Infrastructure;
    Runtime: Composition State ToolRegistry Security Observability Replay;
    DeveloperProduct: BuildToInvoke SdkCliApi LocalDeveloperRuntime AgentStudio;
    HostedPlatform: RunApi ProviderConnectorCredential DeploymentFleet TenantWorkspace;
    EnterpriseSaas: Organisation Entitlement UsageMeteringBilling AdminOps AuditCompliance;
}

/// How far a domain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RuntimeStatus {
    Live,
    Partial,
    Planned,
    Absent,
}

/// What is said of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainRow {
    /// Who has it.
    pub owner: String,
    /// Where it ends.
    pub boundary: String,
    /// How far it is.
    pub status: RuntimeStatus,
    /// How that is shown.
    pub validation_route: String,
}

/// Rows by domain.
pub type Matrix = BTreeMap<Domain, DomainRow>;

/// A pass, as exactly one object. Nobody raises it:
/// ```compile_fail,E0603
/// # use agent_runtime::completeness::CompletenessObject;
/// agent_runtime::completeness::Pass(CompletenessObject::EnterpriseSaas);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass(CompletenessObject);

impl Pass {
    /// Every domain of the object has a row with all four fields (I-90).
    ///
    /// # Errors
    /// `DomainRowMissing`, the first.
    pub fn of(object: CompletenessObject, rows: &Matrix) -> Result<Self, CompletenessRefusal> {
        let said = |r: &DomainRow| [&r.owner, &r.boundary, &r.validation_route].iter().all(|t| !t.trim().is_empty());
        let mut needed = Domain::TABLE.iter().filter(|(_, least)| *least <= object);
        let missing = needed.find(|(domain, _)| !rows.get(domain).is_some_and(said));
        missing.map_or(Ok(Self(object)), |(domain, _)| Err(CompletenessRefusal::DomainRowMissing { domain: *domain }))
    }
    /// Shows it as `claimed`: as what it is or as less (I-91).
    ///
    /// # Errors
    /// `CompletenessUpgrade`.
    pub fn shown_as(self, claimed: CompletenessObject) -> Result<CompletenessObject, CompletenessRefusal> {
        let upgrade = CompletenessRefusal::CompletenessUpgrade { passed: self.0, claimed };
        if claimed <= self.0 { Ok(claimed) } else { Err(upgrade) }
    }
}

/// Words that claim completeness, in the languages that ship, in lower case.
const CLAIMS: [&str; 14] = [
    "complete architecture",
    "architecture is complete",
    "final architecture",
    "architecture is final",
    "feature complete",
    "feature-complete",
    "no new domain needed",
    "no further domain",
    "vollständige architektur",
    "architektur ist vollständig",
    "endgültige architektur",
    "finale architektur",
    "keine neue domäne",
    "keine weitere domäne",
];

/// Whether a text claims completeness.
#[must_use]
pub fn claims(text: &str) -> bool {
    let words = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    CLAIMS.iter().any(|claim| words.contains(claim))
}

/// What a text may say: one that claims completeness names its object and has its rows (I-92).
///
/// # Errors
/// `CompletenessObjectMissing`, `DomainRowMissing`.
pub fn read(
    text: &str,
    object: Option<CompletenessObject>,
    rows: &Matrix,
) -> Result<Option<Pass>, CompletenessRefusal> {
    match object {
        Some(object) => Pass::of(object, rows).map(Some),
        None if claims(text) => Err(CompletenessRefusal::CompletenessObjectMissing),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CompletenessObject as O;
    use CompletenessRefusal as R;

    const OBJECTS: [O; 5] = [O::Kernel, O::Runtime, O::DeveloperProduct, O::HostedPlatform, O::EnterpriseSaas];

    fn row() -> DomainRow {
        let text = |t: &str| t.to_owned();
        let (owner, boundary, validation_route) = (text("kernel"), text("public"), text("its tests"));
        DomainRow { owner, boundary, status: RuntimeStatus::Partial, validation_route }
    }
    fn rows(object: O) -> Matrix {
        Domain::TABLE.iter().filter(|(_, least)| *least <= object).map(|(d, _)| (*d, row())).collect()
    }

    #[test]
    fn t113_i092_complete_as_what() {
        for text in ["This is the final\n architecture.", "Die ARCHITEKTUR ist vollständig", "no new domain needed"] {
            assert_eq!(read(text, None, &rows(O::EnterpriseSaas)), Err(R::CompletenessObjectMissing), "{text}");
            assert!(read(text, Some(O::Runtime), &rows(O::Runtime)).is_ok());
        }
        assert_eq!(read("The download is complete.", None, &Matrix::new()), Ok(None));
    }

    #[test]
    fn t114_i090_each_domain_has_its_row_and_each_row_its_fields() {
        for object in OBJECTS {
            assert!(Pass::of(object, &rows(object)).is_ok());
            for domain in rows(object).keys() {
                let missing = Err(R::DomainRowMissing { domain: *domain });
                let mut less = rows(object);
                less.remove(domain);
                assert_eq!(read("the final architecture", Some(object), &less).map(|_| ()), missing);
                for blank in [
                    DomainRow { owner: " ".into(), ..row() },
                    DomainRow { boundary: String::new(), ..row() },
                    DomainRow { validation_route: String::new(), ..row() },
                ] {
                    less.insert(*domain, blank);
                    assert_eq!(Pass::of(object, &less).map(|_| ()), missing);
                }
            }
        }
    }

    #[test]
    fn t115_i091_a_pass_is_never_shown_as_more() {
        for (passed, claimed) in OBJECTS.iter().flat_map(|p| OBJECTS.map(|c| (*p, c))) {
            let pass = Pass::of(passed, &rows(O::EnterpriseSaas)).expect("all rows");
            let upgrade = Err(R::CompletenessUpgrade { passed, claimed });
            assert_eq!(pass.shown_as(claimed), if claimed <= passed { Ok(claimed) } else { upgrade });
        }
    }
}
