//! AI Echo's screen: what it keeps between frames.

mod composer;
pub(crate) mod find;
mod layout;
pub(crate) mod pieces;
mod review;
mod select;
mod side;
mod transcript;

use crate::agent::Agent;
use crate::desktop::action::Menu;
use kernel::slash;
use kernel::{CallId, ConversationId};
use scene::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use ui::Field;

pub(crate) use find::Find;
pub(crate) use layout::Cache;
pub(crate) use review::Card;
pub(crate) use select::Selection;
pub(crate) use transcript::Scroll;

pub(crate) fn composer_id() -> NodeId {
    NodeId::of("composer", 0)
}
pub(crate) fn transcript_id() -> NodeId {
    NodeId::of("transcript", 0)
}
pub(crate) fn find_id() -> NodeId {
    NodeId::of("find", 0)
}
pub(crate) fn rename_id() -> NodeId {
    NodeId::of("rename", 0)
}
pub(crate) fn card_id(index: u64) -> NodeId {
    NodeId::of("card", index)
}

/// A line above the composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// The words.
    pub text: String,
    /// It offers “Send as text” (decision 8).
    pub send_as_text: bool,
}

/// A thing to try: its label, and the draft it fills in.
pub(crate) type Try = (&'static str, &'static str);
const ASK: Try = ("Ask something short", "In one sentence, what is a tide table?");
/// What can be tried in the sample folder, in any other one, and without a folder.
const IN_SAMPLE: [Try; 4] = [
    ASK,
    ("Read a file", "/tool:files.read what is in notes/todo.md"),
    ("Change a file, with your review", "/tool:files.write put \"buy milk\" into notes/shopping.md"),
    ("Summarise notes", "/skill:summarise-notes notes/todo.md"),
];
const IN_FOLDER: [Try; 4] = [
    ASK,
    ("See what is in the folder", "/tool:files.list what is there?"),
    ("Search its files", "/tool:files.search find \"todo\""),
    ("Make a file, with your review", "/tool:files.write put \"buy milk\" into shopping.md"),
];
const NOWHERE: [Try; 2] = [ASK, ("Work something out", "/tool:calculator.evaluate 12*7")];

impl crate::desktop::Desktop {
    /// The things to try of the empty state, as they fit the folder of the conversation.
    pub(crate) fn tries(&self) -> &'static [Try] {
        let mount = self.agent.current().and_then(|c| c.mount.as_ref());
        match mount.and_then(|id| self.mounts.iter().find(|m| m.id() == id)) {
            Some(m) if m.sample => &IN_SAMPLE,
            Some(_) => &IN_FOLDER,
            // Before the mounts are known the sample is all there can be.
            None if self.mounts.is_empty() => &IN_SAMPLE,
            None => &NOWHERE,
        }
    }
}

/// A submission that waits for its conversation to be read.
#[derive(Debug)]
pub(crate) struct Held {
    /// The conversation in front at the time; none before the list was read.
    pub conversation: Option<ConversationId>,
    /// The composer's text at the time.
    pub draft: String,
    /// What was submitted.
    pub submission: ai_echo::Submission,
}

/// What the screen keeps.
#[derive(Debug)]
pub(crate) struct EchoUi {
    /// The composer's text, selection and undo.
    pub composer: Field,
    /// Who wrote it.
    pub draft: slash::Draft,
    /// The conversation whose draft it is.
    pub conversation: Option<ConversationId>,
    /// The agent gave this conversation's draft back: it asked something, or could not take it.
    pub restored: Option<ConversationId>,
    pub side_folded: bool,
    /// On a narrow screen the list lies over the conversation.
    pub side_over: bool,
    pub rename: Option<(ConversationId, Field)>,
    pub deleting: Option<ConversationId>,
    pub cache: Cache,
    pub scroll: Scroll,
    pub selection: Option<Selection>,
    pub find: Option<Find>,
    pub expanded: BTreeSet<u64>,
    pub notice: Option<Notice>,
    /// Submitted before the conversation was read.
    pub held: Option<Held>,
    pub cards: BTreeMap<CallId, Card>,
    pub menu: Option<Menu>,
}

impl Default for EchoUi {
    fn default() -> Self {
        Self {
            composer: Field::area(""),
            draft: slash::Draft::default(),
            conversation: None,
            restored: None,
            side_folded: false,
            side_over: false,
            rename: None,
            deleting: None,
            cache: Cache::default(),
            scroll: Scroll::default(),
            selection: None,
            find: None,
            expanded: BTreeSet::new(),
            notice: None,
            held: None,
            cards: BTreeMap::new(),
            menu: None,
        }
    }
}

impl EchoUi {
    /// Cards follow the agent's open reviews; true when one is new.
    pub(crate) fn cards_of(&mut self, agent: &dyn Agent) -> bool {
        let open = agent.reviews();
        self.cards.retain(|id, _| open.iter().any(|r| r.call == id));
        let mut new = false;
        for r in open {
            let digest = r.digest;
            let same = self.cards.get(r.call).is_some_and(|c| c.digest == digest);
            if !same {
                self.cards.insert(r.call.clone(), Card::new(digest));
                new = true;
            }
        }
        new
    }
    /// Moves the transcript.
    pub(crate) fn scroll_by(&mut self, dy: f32) {
        self.scroll.pending += dy;
    }
}
