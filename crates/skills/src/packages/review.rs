//! A person's review of exact bytes (I-117), and what follows from it.
//!
//! Three types, each made in one place: a [`ReviewSheet`] shows what was read again just now, an
//! [`Approval`] comes from a trusted act on that very sheet, and an [`Admitted`] skill is an
//! activated one whose bytes are those that a person approved. A turn takes `Admitted` and
//! nothing less, so unreviewed text has no way into it. Finding, listing and activating packages
//! know nothing of this module (I-132).

use super::activate::Activated;
use super::bounds::{REVIEWER_MAX, REVIEWS_MAX, TOOL_HINT_MAX, TOOL_HINTS_MAX};
use super::discover::{Found, Standing};
use crate::hidden;
use kernel::authority::{ConfirmRefusal, GestureKind, ShownReview, TrustedGesture};
use kernel::mount::PATH_MAX;
use kernel::registry::{self, Guidance};
use kernel::{Digest, IdError, Instant, MountId, PackageId, Refusal, Rev, SkillId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The kinds of activation cases that a skill is tried with (engine.md §2.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CaseKind {
    /// It should be active.
    Positive,
    /// Close, and it should not.
    NearMiss,
    /// Its words in quotes.
    Quoted,
    /// Its words in code.
    CodeBlock,
    /// Its words denied.
    Negated,
    /// Outside its paths.
    WrongPath,
    /// Without a tool that it needs.
    MissingTool,
}

impl CaseKind {
    /// All.
    pub const ALL: [Self; 7] = [
        Self::Positive,
        Self::NearMiss,
        Self::Quoted,
        Self::CodeBlock,
        Self::Negated,
        Self::WrongPath,
        Self::MissingTool,
    ];
}

/// How the cases of one kind went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CaseResult {
    /// They ran.
    Ran {
        /// As expected.
        passed: u32,
        /// Not as expected.
        failed: u32,
    },
    /// The skill has no paths, or needs no tool, so that no such case exists.
    NotApplicable,
}

/// The cases a skill was tried with. Whether they passed is for the person to weigh; that they
/// are all there is not (I-176).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseSet(BTreeMap<CaseKind, CaseResult>);

impl CaseSet {
    /// Enters the results of one kind.
    pub fn put(&mut self, kind: CaseKind, result: CaseResult) {
        self.0.insert(kind, result);
    }
    /// The result of one kind.
    #[must_use]
    pub fn get(&self, kind: CaseKind) -> Option<CaseResult> {
        self.0.get(&kind).copied()
    }
    /// Kinds without a case. Only paths and tools can be beside the point.
    #[must_use]
    pub fn missing(&self) -> Vec<CaseKind> {
        let there = |k: &CaseKind| match self.get(*k) {
            Some(CaseResult::Ran { passed, failed }) => passed > 0 || failed > 0,
            Some(CaseResult::NotApplicable) => matches!(k, CaseKind::WrongPath | CaseKind::MissingTool),
            None => false,
        };
        CaseKind::ALL.into_iter().filter(|k| !there(k)).collect()
    }
    /// How many cases did not go as expected.
    #[must_use]
    pub fn failed(&self) -> u32 {
        let failed = |r: &CaseResult| if let CaseResult::Ran { failed, .. } = r { *failed } else { 0 };
        self.0.values().map(failed).fold(0, u32::saturating_add)
    }
}

/// Why a skill may not be used, or a review not be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReviewRefusal {
    /// Nobody read it.
    #[error("nobody has reviewed “{name}” yet")]
    Unreviewed {
        /// The skill.
        name: String,
    },
    /// It has other bytes than those that were read.
    #[error("“{name}” changed since review: {} was reviewed, {} is there", .reviewed.short(), .now.short())]
    ChangedSinceReview {
        /// The skill.
        name: String,
        /// What was reviewed.
        reviewed: Digest,
        /// What is there.
        now: Digest,
    },
    /// A person switched it off.
    #[error("“{name}” is disabled")]
    Disabled {
        /// The skill.
        name: String,
    },
    /// It is no longer what the submission was bound to (decision 31).
    #[error("“{name}” is no longer what was submitted")]
    BindingChanged {
        /// The skill.
        name: String,
    },
    /// Kinds of cases are missing (I-176).
    #[error("“{name}” has no cases of these kinds: {missing:?}")]
    CaseSetIncomplete {
        /// The skill.
        name: String,
        /// Which.
        missing: Vec<CaseKind>,
    },
    /// The act did not decide.
    #[error(transparent)]
    Act(#[from] ConfirmRefusal),
    /// There are [`REVIEWS_MAX`] reviews.
    #[error("there are {REVIEWS_MAX} reviews already; revoke one that is not needed")]
    Full,
}

impl From<ReviewRefusal> for Refusal {
    fn from(e: ReviewRefusal) -> Self {
        let (code, name, expected) = match &e {
            ReviewRefusal::Unreviewed { name } => {
                ("SkillUnreviewed", name.as_str(), "a review of these bytes in the Skills app")
            }
            ReviewRefusal::ChangedSinceReview { name, .. } => {
                ("SkillChangedSinceReview", name.as_str(), "a new review of the bytes that are there now")
            }
            ReviewRefusal::Disabled { name } => ("SkillDisabled", name.as_str(), "an enabled skill"),
            ReviewRefusal::BindingChanged { name } => {
                ("SkillBindingChanged", name.as_str(), "the bytes that were submitted")
            }
            ReviewRefusal::CaseSetIncomplete { name, .. } => {
                ("SkillCaseSetIncomplete", name.as_str(), "at least one case of every kind")
            }
            ReviewRefusal::Act(act) => return (*act).into(),
            ReviewRefusal::Full => ("SkillReviewCap", "reviews", "room for one more"),
        };
        Self::new(code, &format!("The skill {name}"), expected, &e.to_string())
    }
}

/// A review on screen.
#[derive(Debug)]
pub struct ReviewSheet {
    skill: Activated,
    cases: CaseSet,
    card: ShownReview,
}

impl ReviewSheet {
    /// Shows what was read again just now, with the cases it was tried with.
    ///
    /// # Errors
    /// [`ReviewRefusal::CaseSetIncomplete`] (I-176).
    pub fn open(skill: Activated, cases: CaseSet, shown_at: Instant) -> Result<Self, ReviewRefusal> {
        let missing = cases.missing();
        if !missing.is_empty() {
            return Err(ReviewRefusal::CaseSetIncomplete { name: skill.name().to_owned(), missing });
        }
        let card = ShownReview::new(skill.digest(), shown_at);
        Ok(Self { skill, cases, card })
    }
    /// What is reviewed.
    #[must_use]
    pub fn skill(&self) -> &Activated {
        &self.skill
    }
    /// The cases.
    #[must_use]
    pub fn cases(&self) -> &CaseSet {
        &self.cases
    }
    /// The whole file with everything that hides in it written out.
    #[must_use]
    pub fn text(&self) -> String {
        hidden::reveal(&String::from_utf8_lossy(self.skill.file())).into_owned()
    }
    /// All of it can be reached on screen since `at`.
    pub fn laid_out(&mut self, at: Instant) {
        self.card.laid_out(at);
    }
    /// When a decision becomes possible.
    #[must_use]
    pub fn decidable_at(&self) -> Option<u64> {
        self.card.decidable_at()
    }
    /// Approves exactly these bytes by a trusted act on the sheet.
    ///
    /// # Errors
    /// Why the act did not decide, with the sheet handed back.
    pub fn approve(self, act: TrustedGesture, reviewer: &str) -> Result<Approval, (ReviewRefusal, Box<Self>)> {
        let Self { skill, cases, card } = self;
        let at_ms = act.at().wall_ms;
        match card.confirm(act) {
            Ok(decided) => {
                let review = Review {
                    digest: decided.digest(),
                    reviewer: kernel::clip::clip(reviewer, REVIEWER_MAX).into_owned(),
                    at_ms,
                    gesture: decided.gesture_seq(),
                    clean: skill.is_clean(),
                    hidden: skill.hidden(),
                    path: skill.provenance().path.to_string(),
                    requested_tool_hints: skill.requested_tool_hints().to_vec(),
                    cases,
                };
                Ok(Approval { name: skill.name().to_owned(), review })
            }
            Err((why, card)) => Err((why.into(), Box::new(Self { skill, cases, card }))),
        }
    }
}

/// Proof of one approval, to be entered once.
#[derive(Debug)]
pub struct Approval {
    name: String,
    review: Review,
}

impl Approval {
    /// Which skill.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
    /// What is entered.
    #[must_use]
    pub fn review(&self) -> &Review {
        &self.review
    }
}

/// What a person approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// The bytes.
    pub digest: Digest,
    /// Who.
    pub reviewer: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The number of the act.
    pub gesture: u64,
    /// Nothing hid in it; false stays false, however often it is approved.
    pub clean: bool,
    /// How many runs of hidden characters were shown.
    pub hidden: usize,
    /// Where the file lay.
    pub path: String,
    /// The tools it asked for.
    pub requested_tool_hints: Vec<String>,
    /// The cases it was tried with.
    pub cases: CaseSet,
}

/// How a skill stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewState {
    /// Nobody read it.
    Unreviewed,
    /// A person approved the bytes that are there.
    Reviewed,
    /// A person approved other bytes.
    ChangedSinceReview {
        /// Those.
        reviewed: Digest,
    },
}

/// What a submission is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The skill.
    pub name: String,
    /// Its bytes.
    pub digest: Digest,
}

/// A skill whose exact bytes a person approved, and which is enabled. A running turn keeps it,
/// whatever happens to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted(Activated);

impl Admitted {
    /// The skill.
    #[must_use]
    pub fn skill(&self) -> &Activated {
        &self.0
    }
    /// What the turn is bound to.
    #[must_use]
    pub fn binding(&self) -> Binding {
        Binding { name: self.0.name().to_owned(), digest: self.0.digest() }
    }
}

type Key = (MountId, String);

/// All reviews, by workspace and name, and which skills are switched off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Reviews {
    given: BTreeMap<Key, Review>,
    disabled: BTreeSet<Key>,
    rev: u64,
}

/// As it is kept: lists, because the keys are pairs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    given: Vec<(MountId, String, Review)>,
    disabled: Vec<(MountId, String)>,
}

impl From<Reviews> for Stored {
    fn from(r: Reviews) -> Self {
        Self {
            given: r.given.into_iter().map(|((m, n), review)| (m, n, review)).collect(),
            disabled: r.disabled.into_iter().collect(),
        }
    }
}

impl TryFrom<Stored> for Reviews {
    type Error = String;
    fn try_from(s: Stored) -> Result<Self, String> {
        if s.given.len() > REVIEWS_MAX || s.disabled.len() > REVIEWS_MAX {
            return Err(format!("more than {REVIEWS_MAX} reviews"));
        }
        if let Some((_, name, _)) = s.given.iter().find(|(_, n, _)| super::name_fault(n).is_some()) {
            return Err(format!("a review of “{}”, which is no name", kernel::clip::clip(name, 80)));
        }
        let long = |r: &Review| {
            r.reviewer.len() > REVIEWER_MAX * 2
                || r.path.len() > PATH_MAX
                || r.requested_tool_hints.len() > TOOL_HINTS_MAX
                || r.requested_tool_hints.iter().any(|h| h.chars().count() > TOOL_HINT_MAX)
        };
        if let Some((_, name, _)) = s.given.iter().find(|(_, _, r)| long(r)) {
            return Err(format!("the review of “{name}” is longer than one can be"));
        }
        if let Some((_, name)) = s.disabled.iter().find(|(_, n)| super::name_fault(n).is_some()) {
            return Err(format!("“{}” is switched off and is no name", kernel::clip::clip(name, 80)));
        }
        let given = s.given.into_iter().map(|(m, n, review)| ((m, n), review)).collect();
        Ok(Self { given, disabled: s.disabled.into_iter().collect(), rev: 0 })
    }
}

fn key(mount: &MountId, name: &str) -> Key {
    (mount.clone(), name.to_owned())
}

/// Uses up one act, which has to be a press: typing and pasting switch nothing.
fn press(act: TrustedGesture) -> Result<(), ConfirmRefusal> {
    match act.kind() {
        GestureKind::Key | GestureKind::Click | GestureKind::Pointer => Ok(()),
        GestureKind::TextEdit | GestureKind::Paste | GestureKind::Drop => Err(ConfirmRefusal::WrongGesture),
    }
}

impl Reviews {
    /// Enters an approval.
    ///
    /// # Errors
    /// [`ReviewRefusal::Full`].
    pub fn enter(&mut self, mount: &MountId, approval: Approval) -> Result<(), ReviewRefusal> {
        let key = (mount.clone(), approval.name);
        if self.given.len() >= REVIEWS_MAX && !self.given.contains_key(&key) {
            return Err(ReviewRefusal::Full);
        }
        self.given.insert(key, approval.review);
        self.rev += 1;
        Ok(())
    }
    /// Takes a review back.
    ///
    /// # Errors
    /// [`ReviewRefusal::Act`] when the act is no press.
    pub fn revoke(&mut self, mount: &MountId, name: &str, act: TrustedGesture) -> Result<(), ReviewRefusal> {
        press(act)?;
        self.rev += u64::from(self.given.remove(&key(mount, name)).is_some());
        Ok(())
    }
    /// Switches a skill on or off. Switching on reviews nothing.
    ///
    /// # Errors
    /// [`ReviewRefusal::Full`], or [`ReviewRefusal::Act`] when the act is no press.
    pub fn set_enabled(
        &mut self,
        mount: &MountId,
        name: &str,
        on: bool,
        act: TrustedGesture,
    ) -> Result<(), ReviewRefusal> {
        press(act)?;
        let key = key(mount, name);
        if !on && self.disabled.len() >= REVIEWS_MAX && !self.disabled.contains(&key) {
            return Err(ReviewRefusal::Full);
        }
        let changed = if on { self.disabled.remove(&key) } else { self.disabled.insert(key) };
        self.rev += u64::from(changed);
        Ok(())
    }
    /// What is known of one skill, as a record of its own: two windows that each decide about
    /// another skill then never write over each other.
    #[must_use]
    pub fn part(&self, mount: &MountId, name: &str) -> Self {
        let key = key(mount, name);
        let given = self.given.get_key_value(&key).map(|(k, r)| (k.clone(), r.clone())).into_iter().collect();
        let disabled = self.disabled.get(&key).cloned().into_iter().collect();
        Self { given, disabled, rev: 0 }
    }
    /// True when nothing is reviewed and nothing switched off.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.given.is_empty() && self.disabled.is_empty()
    }
    /// Takes in a record that was kept. Beyond [`REVIEWS_MAX`] nothing is taken in.
    pub fn take_in(&mut self, part: Self) {
        for (key, review) in part.given {
            if self.given.len() < REVIEWS_MAX || self.given.contains_key(&key) {
                self.given.insert(key, review);
            }
        }
        let room = REVIEWS_MAX.saturating_sub(self.disabled.len());
        self.disabled.extend(part.disabled.into_iter().take(room));
        self.rev += 1;
    }
    /// Forgets everything about a workspace that is gone.
    pub fn forget(&mut self, mount: &MountId) {
        self.given.retain(|(m, _), _| m != mount);
        self.disabled.retain(|(m, _)| m != mount);
        self.rev += 1;
    }
    /// Rises with every change.
    #[must_use]
    pub fn rev(&self) -> u64 {
        self.rev
    }
    /// The review of a skill, whatever its bytes are now.
    #[must_use]
    pub fn review(&self, mount: &MountId, name: &str) -> Option<&Review> {
        self.given.get(&key(mount, name))
    }
    /// True unless a person switched it off.
    #[must_use]
    pub fn is_enabled(&self, mount: &MountId, name: &str) -> bool {
        !self.disabled.contains(&key(mount, name))
    }
    /// The kernel's row of a package that has its name: switched on or off, and bound to what was
    /// reviewed. The registry compares the binding with the digest at every dispatch (I-156).
    /// `None` for an entry that may not be used, whoever reviewed it.
    ///
    /// # Errors
    /// The name is none of the kernel's.
    pub fn row(&self, mount: &MountId, found: &Found, owner: &PackageId) -> Result<Option<Guidance>, IdError> {
        let manifest = found.inspection.as_ref().and_then(|i| i.manifest.as_ref());
        let (Standing::Winner, Some(digest), Some(manifest)) = (found.standing, found.digest(), manifest) else {
            return Ok(None);
        };
        Ok(Some(Guidance {
            id: SkillId::new(&found.folder)?,
            package: owner.clone(),
            title: found.folder.clone(),
            summary: hidden::reveal(&manifest.description).into_owned(),
            enabled: self.is_enabled(mount, &found.folder),
            problem: None,
            review: self.binding(mount, &found.folder),
            digest,
            rev: Rev(0),
        }))
    }
    /// A review as the kernel and the engine take it.
    #[must_use]
    pub fn binding(&self, mount: &MountId, name: &str) -> registry::Review {
        self.review(mount, name)
            .map_or(registry::Review::Unreviewed, |r| registry::Review::HumanReviewed { binding: r.digest })
    }
    /// How a skill with these bytes stands.
    #[must_use]
    pub fn state(&self, mount: &MountId, name: &str, now: Digest) -> ReviewState {
        match self.review(mount, name) {
            None => ReviewState::Unreviewed,
            Some(r) if r.digest == now => ReviewState::Reviewed,
            Some(r) => ReviewState::ChangedSinceReview { reviewed: r.digest },
        }
    }
    /// May a skill with these bytes be used?
    ///
    /// # Errors
    /// [`ReviewRefusal`].
    pub fn check(&self, mount: &MountId, name: &str, now: Digest) -> Result<(), ReviewRefusal> {
        let name = name.to_owned();
        match self.state(mount, &name, now) {
            ReviewState::Unreviewed => Err(ReviewRefusal::Unreviewed { name }),
            ReviewState::ChangedSinceReview { reviewed } => {
                Err(ReviewRefusal::ChangedSinceReview { name, reviewed, now })
            }
            ReviewState::Reviewed if !self.is_enabled(mount, &name) => Err(ReviewRefusal::Disabled { name }),
            ReviewState::Reviewed => Ok(()),
        }
    }
    /// As [`Reviews::check`], for an entry that was found; an order of dependencies asks this.
    ///
    /// # Errors
    /// [`ReviewRefusal`], as a refusal.
    pub fn usable(&self, mount: &MountId, found: &Found) -> Result<(), Refusal> {
        let name = found.folder.clone();
        let digest = found.digest().ok_or(ReviewRefusal::Unreviewed { name })?;
        Ok(self.check(mount, &found.folder, digest)?)
    }
    /// Lets an activated skill into a turn.
    ///
    /// # Errors
    /// [`ReviewRefusal`].
    pub fn admit(&self, mount: &MountId, skill: Activated) -> Result<Admitted, ReviewRefusal> {
        self.check(mount, skill.name(), skill.digest())?;
        Ok(Admitted(skill))
    }
    /// As [`Reviews::admit`], right before dispatch: the bytes must also be those that the
    /// submission was bound to (decision 31).
    ///
    /// # Errors
    /// [`ReviewRefusal`].
    pub fn admit_bound(&self, mount: &MountId, bound: &Binding, skill: Activated) -> Result<Admitted, ReviewRefusal> {
        self.check(mount, skill.name(), skill.digest())?;
        if bound.name != skill.name() || bound.digest != skill.digest() {
            return Err(ReviewRefusal::BindingChanged { name: bound.name.clone() });
        }
        Ok(Admitted(skill))
    }
}
