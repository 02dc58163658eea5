//! Rights as values: each type here has one constructor, and the compiler shows who calls it.
//!
//! [`GestureMint`] is taken once, on the first line of `main`, by the part of the shell that
//! reads `isTrusted`; nothing else can make a [`TrustedGesture`]. A [`TurnGrant`] is cut only
//! by the kernel's grant path; a [`Confirmation`] only from a review on screen and a trusted
//! act on that very card. `isTrusted` proves “through the browser”, not “by a person”: the
//! DevTools protocol, WebDriver and extensions with debugger rights make trusted events.

use crate::ids::{Digest, Instant, ToolName, TurnKey};
use crate::refusal::Refusal;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// Events that can carry trust. `input`, `submit`, `copy`, `focus` and `compositionend` are
/// not among them: scripts make trusted ones (spec/ui.md §1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum GestureKind {
    Key,
    TextEdit,
    Click,
    Pointer,
    Paste,
    Drop,
}

/// Proof that the browser itself delivered one event. Not `Clone`: one act, one use.
#[derive(Debug, PartialEq, Eq)]
pub struct TrustedGesture {
    kind: GestureKind,
    seq: u64,
    at: Instant,
}

impl TrustedGesture {
    /// What kind of event it was.
    #[must_use]
    pub fn kind(&self) -> GestureKind {
        self.kind
    }
    /// Its number; rises with every stamped event.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }
    /// When the act began (for a key or a press: when it went down).
    #[must_use]
    pub fn at(&self) -> Instant {
        self.at
    }
}

/// An event with or without proof. What lacks proof is still told, so that it can be refused
/// by name instead of dropped.
#[derive(Debug, PartialEq, Eq)]
pub enum Proof {
    /// The browser delivered it.
    Trusted(TrustedGesture),
    /// Made by script, or of a kind that proves nothing.
    Untrusted,
}

impl Proof {
    /// The gesture, if there is one.
    #[must_use]
    pub fn trusted(self) -> Option<TrustedGesture> {
        match self {
            Self::Trusted(g) => Some(g),
            Self::Untrusted => None,
        }
    }
    /// Looks without using.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        matches!(self, Self::Trusted(_))
    }
}

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Makes [`TrustedGesture`]s. One a process.
#[derive(Debug)]
pub struct GestureMint {
    seq: u64,
}

impl GestureMint {
    /// The process's mint; `None` for everybody but the first caller.
    #[must_use]
    pub fn take() -> Option<Self> {
        (!TAKEN.swap(true, Ordering::SeqCst)).then_some(Self { seq: 0 })
    }

    /// A mint for tests, which share one process.
    #[cfg(any(test, feature = "test-mint"))]
    #[must_use]
    pub fn for_tests() -> Self {
        Self { seq: 0 }
    }

    /// Stamps an event that began at `at`: `is_trusted` is the real event's own flag.
    pub fn stamp(&mut self, kind: GestureKind, is_trusted: bool, at: Instant) -> Proof {
        self.seq += 1;
        if is_trusted { Proof::Trusted(TrustedGesture { kind, seq: self.seq, at }) } else { Proof::Untrusted }
    }
}

/// What one turn may use. Cut by the kernel's grant path only (I-141).
#[derive(Debug, PartialEq, Eq)]
pub struct TurnGrant {
    turn: TurnKey,
    offered: BTreeSet<(ToolName, Digest)>,
    capabilities: BTreeSet<String>,
    affordances: BTreeSet<String>,
}

impl TurnGrant {
    /// The kernel's grant path.
    pub(crate) fn cut(
        turn: TurnKey,
        offered: BTreeSet<(ToolName, Digest)>,
        capabilities: BTreeSet<String>,
        affordances: BTreeSet<String>,
    ) -> Self {
        Self { turn, offered, capabilities, affordances }
    }
    /// Its turn.
    #[must_use]
    pub fn turn(&self) -> &TurnKey {
        &self.turn
    }
    /// Tools offered, with the digest of the descriptor that was offered (I-140).
    #[must_use]
    pub fn offered(&self) -> &BTreeSet<(ToolName, Digest)> {
        &self.offered
    }
    /// Capabilities held.
    #[must_use]
    pub fn capabilities(&self) -> &BTreeSet<String> {
        &self.capabilities
    }
    /// Affordances available.
    #[must_use]
    pub fn affordances(&self) -> &BTreeSet<String> {
        &self.affordances
    }
}

/// Dead time of a review card after it is shown, in milliseconds (decision 21).
pub const DEAD_TIME_MS: u64 = 500;

/// A review on screen: what exactly is shown, and since when it can be decided.
#[derive(Debug)]
pub struct ShownReview {
    digest: Digest,
    shown_at: Instant,
    complete_at: Option<Instant>,
}

impl ShownReview {
    /// A card for the proposal with this digest, visible since `shown_at`.
    #[must_use]
    pub fn new(digest: Digest, shown_at: Instant) -> Self {
        Self { digest, shown_at, complete_at: None }
    }
    /// The whole content has been laid out and can be reached.
    pub fn laid_out(&mut self, at: Instant) {
        self.complete_at.get_or_insert(at);
    }
    /// What it binds.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
    /// When a decision becomes possible; `None` until the whole content is laid out.
    #[must_use]
    pub fn decidable_at(&self) -> Option<u64> {
        let complete = self.complete_at?.mono_ms;
        Some(complete.max(self.shown_at.mono_ms + DEAD_TIME_MS))
    }
    /// Decides by a trusted act on the card itself (`field_4h1`, `field_4h2`). The review is
    /// used up.
    ///
    /// # Errors
    /// [`ConfirmRefusal`] with the review handed back, undecided.
    pub fn confirm(self, gesture: TrustedGesture) -> Result<Confirmation, (ConfirmRefusal, Self)> {
        let refusal = match (gesture.kind(), self.decidable_at()) {
            (GestureKind::TextEdit | GestureKind::Paste | GestureKind::Drop, _) => ConfirmRefusal::WrongGesture,
            (_, None) => ConfirmRefusal::NotLaidOut,
            (_, Some(t)) if gesture.at().mono_ms < t => ConfirmRefusal::DeadTime,
            _ => return Ok(Confirmation { digest: self.digest, gesture_seq: gesture.seq() }),
        };
        Err((refusal, self))
    }
}

/// Why an act did not decide a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfirmRefusal {
    /// Only a key, press or click on the card decides.
    #[error("only a key, press or click on the card itself decides it")]
    WrongGesture,
    /// Something of the content was not laid out yet.
    #[error("the card's whole content was not laid out yet")]
    NotLaidOut,
    /// The act began before the card was visible, or within its dead time.
    #[error("the card had not been on screen for half a second yet")]
    DeadTime,
}

impl From<ConfirmRefusal> for Refusal {
    fn from(e: ConfirmRefusal) -> Self {
        let code = match e {
            ConfirmRefusal::WrongGesture => "ReviewWrongGesture",
            ConfirmRefusal::NotLaidOut => "ReviewNotLaidOut",
            ConfirmRefusal::DeadTime => "ReviewDeadTime",
        };
        Self::new(code, "The review", "a press on the card, once it could be read", &e.to_string())
    }
}

/// A single-use approval of exactly one digest (I-10, I-11). Not `Clone`, never stored.
#[derive(Debug, PartialEq, Eq)]
pub struct Confirmation {
    digest: Digest,
    gesture_seq: u64,
}

impl Confirmation {
    /// What was approved.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
    /// The act that approved it.
    #[must_use]
    pub fn gesture_seq(&self) -> u64 {
        self.gesture_seq
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(mono_ms: u64) -> Instant {
        Instant { wall_ms: 0, mono_ms }
    }

    #[test]
    fn the_process_has_one_mint() {
        assert!(GestureMint::take().is_some());
        assert!(GestureMint::take().is_none());
    }

    #[test]
    fn untrusted_events_prove_nothing() {
        let mut mint = GestureMint::for_tests();
        assert_eq!(mint.stamp(GestureKind::Click, false, at(1)), Proof::Untrusted);
        let g = mint.stamp(GestureKind::Key, true, at(2)).trusted().expect("trusted");
        assert_eq!((g.kind(), g.seq(), g.at().mono_ms), (GestureKind::Key, 2, 2));
    }

    #[test]
    fn field_4h1_a_card_is_not_decided_by_what_began_before_it_could_be_read() {
        let mut mint = GestureMint::for_tests();
        let mut press = |kind, t| mint.stamp(kind, true, at(t)).trusted().expect("trusted");
        let card = ShownReview::new(Digest::of(b"args"), at(1000));
        let (why, mut card) = card.confirm(press(GestureKind::Key, 9000)).expect_err("not laid out");
        assert_eq!(why, ConfirmRefusal::NotLaidOut);
        card.laid_out(at(1010));
        for t in [0, 999, 1000, 1499] {
            let (why, back) = card.confirm(press(GestureKind::Click, t)).expect_err("too early");
            assert_eq!(why, ConfirmRefusal::DeadTime);
            card = back;
        }
        let (why, card) = card.confirm(press(GestureKind::TextEdit, 5000)).expect_err("typing");
        assert_eq!(why, ConfirmRefusal::WrongGesture);
        let ok = card.confirm(press(GestureKind::Click, 1500)).expect("decides");
        assert_eq!(ok.digest(), Digest::of(b"args"));
    }

    #[test]
    fn field_4h2_dead_time_counts_from_the_whole_content() {
        let mut mint = GestureMint::for_tests();
        let mut card = ShownReview::new(Digest::of(b"x"), at(0));
        card.laid_out(at(3000));
        card.laid_out(at(9000)); // a later layout does not restart it
        assert_eq!(card.decidable_at(), Some(3000));
        let g = mint.stamp(GestureKind::Pointer, true, at(3000)).trusted().expect("trusted");
        assert!(card.confirm(g).is_ok());
    }
}
