//! The workspace's skills in the loop: looking for them, and what a person decides about them.

use kernel::authority::TrustedGesture;
use kernel::{ConversationId, MountId, Refusal, clip};
use serde_json::json;
use skills::packages::review::{Approval, ReviewRefusal, Reviews};
use skills::packages::{NormalCopy, Packages};

use super::Cx;
use super::keep::read_only;
use crate::conversation::{StoreOp, Via};
use crate::protocol::Effect;
use crate::tools::Tool;

/// Most bytes of what is said about a copy.
const WORDS_MAX: usize = 1024;

impl Cx<'_> {
    /// The skills that are offered are those of the folder of the conversation in front.
    pub(super) fn follow_folder(&mut self) {
        let mount = match self.e.current() {
            Some(conversation) => conversation.mount.clone(),
            None => self.e.settings.mount.clone(),
        };
        let mount = mount.filter(|mount| self.e.mounts.iter().any(|known| known.id == *mount));
        if self.e.library.mount != mount {
            self.e.library.mount.clone_from(&mount);
            self.sync_skills();
            self.out.push(Effect::Skills(mount));
        }
    }

    pub(super) fn look_for_skills(&mut self) {
        self.load_reviews();
        let mount = self.e.library.mount.clone();
        self.out.push(Effect::Skills(mount));
    }

    pub(super) fn skills_found(&mut self, mount: MountId, packages: Packages) {
        if self.e.mounts.iter().any(|known| known.id == mount) {
            self.e.library.put(mount, packages);
            self.sync_skills();
        }
    }

    pub(super) fn sync_skills(&mut self) {
        if let Err(refusal) = self.e.library.sync(self.k) {
            self.refuse(refusal);
        }
    }

    // Decisions.

    pub(super) fn skill_approved(&mut self, mount: &MountId, approval: Approval) {
        if let Some(refusal) = self.undecidable(approval.name()) {
            return self.refuse(refusal);
        }
        let name = approval.name().to_owned();
        let end = self.e.library.decide().enter(mount, approval);
        self.decided(mount, &name, end, "is approved");
    }

    pub(super) fn revoke_skill(&mut self, mount: &MountId, name: &str, act: TrustedGesture) {
        if let Some(refusal) = self.undecidable(name) {
            return self.refuse(refusal);
        }
        let end = self.e.library.decide().revoke(mount, name, act);
        self.decided(mount, name, end, "is no longer approved");
    }

    pub(super) fn enable_skill(&mut self, mount: &MountId, name: &str, on: bool, act: TrustedGesture) {
        if let Some(refusal) = self.undecidable(name) {
            return self.refuse(refusal);
        }
        let end = self.e.library.decide().set_enabled(mount, name, on, act);
        self.decided(mount, name, end, if on { "is switched on" } else { "is switched off" });
    }

    /// The copy goes the way of every change to a file: a card, a press, a receipt.
    pub(super) fn propose_copy(&mut self, id: &ConversationId, copy: &NormalCopy) {
        if self.e.read_only {
            return self.refuse(read_only());
        }
        let content = String::from_utf8_lossy(&copy.after);
        let arguments = json!({ "path": copy.path.as_str(), "content": content }).to_string();
        let changes = copy.changes.join("; ");
        let changes = if changes.is_empty() { "the frontmatter is written anew" } else { &changes };
        let words = format!("A portable copy of the skill {}: {changes}.", copy.name);
        let by = Some("you, in Skills".to_owned());
        self.scripted(id, Tool::FilesWrite, arguments, Via::Plain, by, &clip::clip(&words, WORDS_MAX));
    }

    fn undecidable(&self, name: &str) -> Option<Refusal> {
        if self.e.read_only {
            return Some(read_only());
        }
        let (what, seen) = ("the stored reviews to be read", "they are still loading");
        (!self.e.library.is_ready()).then(|| Refusal::new("SkillReviewsLoading", name, what, seen))
    }

    fn decided(&mut self, mount: &MountId, name: &str, end: Result<(), ReviewRefusal>, words: &str) {
        if let Err(why) = end {
            return self.refuse(why);
        }
        let part = self.e.library.reviews().part(mount, name);
        let op = if part.is_empty() {
            StoreOp::DeleteSkillReview(mount.clone(), name.to_owned())
        } else {
            StoreOp::PutSkillReview(mount.clone(), name.to_owned(), Box::new(part))
        };
        self.store(op);
        self.sync_skills();
        self.announce(format!("The skill {name} {words}."));
    }

    // What was stored.

    pub(super) fn load_reviews(&mut self) {
        self.e.library.begin_load();
        self.store(StoreOp::LoadSkillReviews);
    }

    pub(super) fn reviews_loaded(&mut self, parts: Vec<Reviews>) {
        if self.e.library.loaded(parts) {
            self.sync_skills();
        } else {
            self.load_reviews();
        }
    }
}
