//! What is true after a break (contracts.md §1.4): truth before summary. A summary or a hand-over
//! leads to a source; what is used is read there again.

use std::collections::{BTreeMap, BTreeSet};

use kernel::Digest;
use serde::{Deserialize, Serialize};

use crate::context::ContextEpoch;
use crate::core::{ActiveRoot, SessionId};
use crate::refuse::refusals;

/// Why something that was remembered is not used. Nothing has changed where one is returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryRefusal {
    /// A summary is no source (I-30).
    #[error("“{0}” is known from a summary only; it has to be read where it stands")]
    SummaryOverridesTruth(String),
    /// A card without what the next one needs.
    #[error("the hand-over says nothing of its {field}")]
    HandoffIncomplete {
        /// What is not there.
        field: &'static str,
    },
    /// Not known to be as it was (I-32).
    #[error("“{0}” may have changed")]
    FactStale(String),
    /// Named in the hand-over, and not looked at since (I-31).
    #[error("{0} must not be overwritten before it is looked at again")]
    MustNotOverwrite(ActiveRoot),
}

refusals!(MemoryRefusal => "The memory");

/// Who is believed, first to last: the recovery order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Rank {
    Message,
    Artefact,
    SessionRecord,
    TaskLog,
    AgentSummary,
    Compaction,
    Inference,
}

impl Rank {
    /// From the most to the least believed.
    pub const ORDER: [Self; 7] = [
        Self::Message,
        Self::Artefact,
        Self::SessionRecord,
        Self::TaskLog,
        Self::AgentSummary,
        Self::Compaction,
        Self::Inference,
    ];
    /// Whether it only leads to a source (I-30).
    #[must_use]
    pub fn is_index(self) -> bool {
        self >= Self::AgentSummary
    }
}

/// Whether a fact is known to hold now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Freshness {
    Fresh,
    Stale,
    Unknown,
}

/// What a source says. There is none without a freshness:
/// ```compile_fail,E0063
/// # use agent_runtime::rehydrate::{Fact, Rank};
/// Fact { value: kernel::Digest::of(b"x"), rank: Rank::Artefact };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Digest of what is said.
    pub value: Digest,
    /// By whom.
    pub rank: Rank,
    /// Whether it holds.
    pub freshness: Freshness,
}

/// Two sources said different things of one subject; the higher one won.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conflict {
    /// Of what.
    pub subject: String,
    /// Who lost, with what.
    pub lower: (Rank, Digest),
    /// Who won, with what.
    pub higher: (Rank, Digest),
}

/// `ContextMemoryModel`: what each source says. Who wins is computed, so the order in which sources
/// come back changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryModel {
    said: BTreeMap<String, BTreeMap<Rank, (Digest, Freshness)>>,
}

impl MemoryModel {
    /// A source says something; its earlier word is replaced, nobody else's.
    #[must_use]
    pub fn hear(mut self, subject: &str, fact: Fact) -> Self {
        self.said.entry(subject.into()).or_default().insert(fact.rank, (fact.value, fact.freshness));
        self
    }
    /// What holds of a subject: the word of the most believed (I-29).
    #[must_use]
    pub fn get(&self, subject: &str) -> Option<Fact> {
        let (rank, (value, freshness)) = self.said.get(subject)?.first_key_value()?;
        Some(Fact { value: *value, rank: *rank, freshness: *freshness })
    }
    /// Every word that lost.
    #[must_use]
    pub fn conflicts(&self) -> BTreeSet<Conflict> {
        let lost = |(subject, all): (&String, &BTreeMap<Rank, (Digest, Freshness)>)| {
            let (top, (won, _)) = all.first_key_value()?;
            let conflict = |(rank, (value, _)): (&Rank, &(Digest, Freshness))| Conflict {
                subject: subject.clone(),
                lower: (*rank, *value),
                higher: (*top, *won),
            };
            Some(all.iter().filter(|(_, (v, _))| v != won).map(conflict).collect::<Vec<_>>())
        };
        self.said.iter().filter_map(lost).flatten().collect()
    }
    /// A fact that a write may rest on.
    ///
    /// # Errors
    /// `SummaryOverridesTruth` for what only a summary says, `FactStale` for what may have changed
    /// and for what nobody says.
    pub fn for_write(&self, subject: &str) -> Result<Fact, MemoryRefusal> {
        match self.get(subject) {
            Some(fact) if fact.rank.is_index() => Err(MemoryRefusal::SummaryOverridesTruth(subject.into())),
            Some(fact) if fact.freshness == Freshness::Fresh => Ok(fact),
            _ => Err(MemoryRefusal::FactStale(subject.into())),
        }
    }
}

/// A hand-over as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct HandoffDraft {
    pub source_of_truth: Vec<String>,
    pub confirmed_decisions: Vec<String>,
    pub open_risks: Vec<String>,
    pub next_action: String,
    pub blocked_reason: Option<String>,
    /// An empty set is said, not left out.
    pub must_not_overwrite: Option<BTreeSet<ActiveRoot>>,
    pub validation_state: String,
    pub artifact_links: Vec<Digest>,
}

/// `HandoffCard`: written before a compaction, for another session, on request, or before a break.
///
/// It is complete or not there:
/// ```compile_fail,E0423
/// # use agent_runtime::rehydrate::HandoffCard;
/// let card = HandoffCard(Default::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffCard {
    draft: HandoffDraft,
    protected: BTreeSet<ActiveRoot>,
    written_by: SessionId,
    epoch: ContextEpoch,
}

impl HandoffCard {
    /// Checks and takes it.
    ///
    /// # Errors
    /// `HandoffIncomplete`.
    pub fn new(mut draft: HandoffDraft, written_by: SessionId, epoch: ContextEpoch) -> Result<Self, MemoryRefusal> {
        let incomplete = |field| Err(MemoryRefusal::HandoffIncomplete { field });
        if draft.source_of_truth.is_empty() {
            return incomplete("source_of_truth");
        }
        if draft.next_action.trim().is_empty() && draft.blocked_reason.as_ref().is_none_or(|r| r.trim().is_empty()) {
            return incomplete("next_action");
        }
        if draft.validation_state.trim().is_empty() {
            return incomplete("validation_state");
        }
        let Some(protected) = draft.must_not_overwrite.take() else { return incomplete("must_not_overwrite") };
        Ok(Self { draft, protected, written_by, epoch })
    }
    /// What it says: it leads, and proves nothing.
    #[must_use]
    pub fn says(&self) -> &HandoffDraft {
        &self.draft
    }
    /// Who wrote it.
    #[must_use]
    pub fn written_by(&self) -> &SessionId {
        &self.written_by
    }
    /// Takes it over in an epoch after its own (I-30).
    ///
    /// # Errors
    /// `FactStale` in the epoch that it was written in, or before.
    pub fn receive(self, epoch: ContextEpoch) -> Result<Received, MemoryRefusal> {
        if epoch <= self.epoch {
            return Err(MemoryRefusal::FactStale("the hand-over".into()));
        }
        Ok(Received { card: self, verified: BTreeSet::new() })
    }
}

/// A hand-over that was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    card: HandoffCard,
    verified: BTreeSet<ActiveRoot>,
}

impl Received {
    /// The receiver looked at a path again and knows it fresh.
    ///
    /// # Errors
    /// What [`MemoryModel::for_write`] says of it.
    pub fn verify(mut self, path: &ActiveRoot, model: &MemoryModel) -> Result<Self, MemoryRefusal> {
        model.for_write(path.as_str())?;
        self.verified.insert(path.clone());
        Ok(self)
    }
    /// Whether an operation may have this target: nothing protected lies in it or around it (I-31).
    ///
    /// # Errors
    /// `MustNotOverwrite`.
    pub fn target(&self, target: &ActiveRoot) -> Result<(), MemoryRefusal> {
        let touches = |p: &&ActiveRoot| within(p, target) || within(target, p);
        let held = self.card.protected.iter().filter(touches).find(|p| !self.verified.contains(*p));
        held.map_or(Ok(()), |p| Err(MemoryRefusal::MustNotOverwrite(p.clone())))
    }
}

/// Whether `inner` is `outer` or lies in it.
fn within(inner: &ActiveRoot, outer: &ActiveRoot) -> bool {
    let rest = inner.as_str().strip_prefix(outer.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || outer.as_str() == "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{digest, session};
    use MemoryRefusal as R;

    fn fact(rank: Rank, value: &str, freshness: Freshness) -> Fact {
        Fact { value: digest(value), rank, freshness }
    }
    fn path(text: &str) -> ActiveRoot {
        ActiveRoot::new(text).expect("path")
    }
    fn draft() -> HandoffDraft {
        HandoffDraft {
            source_of_truth: vec!["/mnt/a/plan.md".into()],
            next_action: "run the tests".into(),
            must_not_overwrite: Some([path("/mnt/a/keep")].into()),
            validation_state: "unverified".into(),
            ..HandoffDraft::default()
        }
    }
    fn card(draft: HandoffDraft) -> Result<HandoffCard, R> {
        HandoffCard::new(draft, session("tab-1"), ContextEpoch(1))
    }

    #[test]
    fn t121_i029_the_more_believed_wins_in_any_order_and_the_conflict_stays() {
        for (i, high) in Rank::ORDER.iter().enumerate() {
            for low in &Rank::ORDER[i + 1..] {
                let (truth, tale) = (fact(*high, "red", Freshness::Fresh), fact(*low, "blue", Freshness::Fresh));
                let one = MemoryModel::default().hear("colour", truth).hear("colour", tale);
                assert_eq!(one, MemoryModel::default().hear("colour", tale).hear("colour", truth));
                assert_eq!(one.get("colour"), Some(truth));
                let lost = one.conflicts();
                assert_eq!(
                    lost.first().map(|c| (c.lower, c.higher)),
                    Some(((*low, digest("blue")), (*high, digest("red"))))
                );
                assert_eq!(lost.len(), 1);
            }
        }
        let agreed = MemoryModel::default().hear("x", fact(Rank::Artefact, "a", Freshness::Fresh));
        assert!(agreed.hear("x", fact(Rank::Compaction, "a", Freshness::Unknown)).conflicts().is_empty());
    }

    #[test]
    fn i030_i032_a_write_rests_on_a_fresh_word_of_a_source() {
        for (rank, freshness) in
            Rank::ORDER.iter().flat_map(|r| [Freshness::Fresh, Freshness::Stale, Freshness::Unknown].map(|f| (*r, f)))
        {
            let model = MemoryModel::default().hear("x", fact(rank, "a", freshness));
            let expected = match (rank.is_index(), freshness) {
                (true, _) => Err(R::SummaryOverridesTruth("x".into())),
                (false, Freshness::Fresh) => Ok(fact(rank, "a", freshness)),
                _ => Err(R::FactStale("x".into())),
            };
            assert_eq!(model.for_write("x"), expected);
        }
        // A summary that is fresh does not freshen what it contradicts.
        let model = MemoryModel::default()
            .hear("x", fact(Rank::Artefact, "a", Freshness::Stale))
            .hear("x", fact(Rank::Compaction, "b", Freshness::Fresh));
        assert_eq!(model.for_write("x"), Err(R::FactStale("x".into())));
        assert_eq!(model.for_write("unheard"), Err(R::FactStale("unheard".into())));
    }

    #[test]
    fn t122_a_card_says_everything_that_the_next_one_needs() {
        for (field, change) in [
            ("source_of_truth", (|d| d.source_of_truth.clear()) as fn(&mut HandoffDraft)),
            ("next_action", |d| d.next_action = " ".into()),
            ("validation_state", |d| d.validation_state.clear()),
            ("must_not_overwrite", |d| d.must_not_overwrite = None),
        ] {
            let mut draft = draft();
            change(&mut draft);
            assert_eq!(card(draft), Err(R::HandoffIncomplete { field }));
        }
        let blocked = HandoffDraft { next_action: String::new(), blocked_reason: Some("no folder".into()), ..draft() };
        assert!(card(blocked).is_ok());
    }

    #[test]
    fn i030_a_card_is_taken_over_in_a_new_epoch() {
        let card = card(draft()).expect("complete");
        assert_eq!((card.written_by(), card.says().next_action.as_str()), (&session("tab-1"), "run the tests"));
        assert_eq!(card.clone().receive(ContextEpoch(1)), Err(R::FactStale("the hand-over".into())));
        assert!(card.receive(ContextEpoch(2)).is_ok());
    }

    #[test]
    fn i031_what_must_not_be_overwritten_is_no_target_until_it_was_read_again() {
        let received = card(draft()).and_then(|c| c.receive(ContextEpoch(2))).expect("taken over");
        let keep = path("/mnt/a/keep");
        for target in ["/mnt/a/keep", "/mnt/a/keep/x", "/mnt/a", "/"] {
            assert_eq!(received.target(&path(target)), Err(R::MustNotOverwrite(keep.clone())), "{target}");
        }
        for target in ["/mnt/a/keeper", "/mnt/b"] {
            assert_eq!(received.target(&path(target)), Ok(()));
        }
        let told = MemoryModel::default().hear("/mnt/a/keep", fact(Rank::AgentSummary, "same", Freshness::Fresh));
        assert!(matches!(received.clone().verify(&keep, &told), Err(R::SummaryOverridesTruth(_))));
        let read = told.hear("/mnt/a/keep", fact(Rank::Artefact, "bytes", Freshness::Fresh));
        assert_eq!(received.verify(&keep, &read).expect("read").target(&keep), Ok(()));
    }
}
