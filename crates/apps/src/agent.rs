//! What the desktop needs of the agent: the one seam at which a test or the simulator may
//! stand in for AI Echo.

use ai_echo::Library;
use ai_echo::conversation::{Conversation, Receipt};
use ai_echo::tools::Proposal;
use ai_echo::turn::Turns;
use kernel::{CallId, Digest, Instant, Kernel, OperationId};

/// A review that waits for a person: everything the card shows.
#[derive(Clone, Copy, Debug)]
pub struct Review<'a> {
    /// The call; its turn's conversation shows the card.
    pub call: &'a CallId,
    /// The tool's name.
    pub tool: &'a str,
    /// Its whole arguments, as they were given.
    pub arguments: &'a str,
    /// Exactly what will be done.
    pub proposal: &'a Proposal,
    /// What a confirmation must be for.
    pub digest: Digest,
    /// Who asks.
    pub asked_by: &'a str,
    /// Why, in the words of this turn.
    pub why: &'a str,
    /// What it can touch.
    pub explanation: &'a str,
    /// It replaces a card whose file had changed.
    pub shown_anew: bool,
}

/// AI Echo, as the screens see it.
pub trait Agent {
    /// Takes a message; gives what is to be done.
    fn update(&mut self, msg: ai_echo::Msg, kernel: &mut Kernel, now: Instant) -> Vec<ai_echo::Effect>;
    /// All conversations, the one touched last first.
    fn conversations(&self) -> Vec<&Conversation>;
    /// The one in front.
    fn current(&self) -> Option<&Conversation>;
    /// Running and waiting turns.
    fn turns(&self) -> &Turns;
    /// Open reviews, oldest first.
    fn reviews(&self) -> Vec<Review<'_>>;
    /// A receipt.
    fn receipt(&self, operation: &OperationId) -> Option<&Receipt>;
    /// The workspace's skills and what was decided about them.
    fn library(&self) -> &Library;
    /// Another tab writes; this one reads (decision 32).
    fn read_only(&self) -> bool;
}

impl Agent for ai_echo::Echo {
    fn update(&mut self, msg: ai_echo::Msg, kernel: &mut Kernel, now: Instant) -> Vec<ai_echo::Effect> {
        ai_echo::update(self, msg, now, kernel)
    }
    fn conversations(&self) -> Vec<&Conversation> {
        Self::conversations(self)
    }
    fn current(&self) -> Option<&Conversation> {
        Self::current(self)
    }
    fn turns(&self) -> &Turns {
        Self::turns(self)
    }
    fn reviews(&self) -> Vec<Review<'_>> {
        Self::reviews(self).map(review_of).collect()
    }
    fn receipt(&self, operation: &OperationId) -> Option<&Receipt> {
        Self::receipt(self, operation)
    }
    fn library(&self) -> &Library {
        Self::library(self)
    }
    fn read_only(&self) -> bool {
        self.is_read_only()
    }
}

fn review_of(r: &ai_echo::OpenReview) -> Review<'_> {
    Review {
        call: &r.call,
        tool: &r.tool,
        arguments: &r.arguments,
        proposal: &r.proposal,
        digest: r.digest,
        asked_by: &r.asked_by,
        why: &r.why,
        explanation: &r.explanation,
        shown_anew: r.shown_anew,
    }
}
