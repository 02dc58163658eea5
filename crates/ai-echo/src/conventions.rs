//! What a turn is told of its workspace's instructions: the targets of its message, the files
//! that apply to them, and the frame in which they reach the model.
//!
//! They are evidence and not policy (I-111): they stand with the person's message, never in the
//! system's, and whatever they say changes neither what the turn may use nor what needs a review.

use instructions::{ConventionSet, Limits, LoadError, Loader, Targets};
use kernel::MountId;
use kernel::mount::{MountPath, Need, Reply, Step};

use crate::conversation::Attachment;
use crate::local::{path_shaped, quoted};

/// The paths that a message is about (decision 20): those it names, and what is attached to it.
/// Whether a named one exists is only known in the mount.
pub fn named(words: &str, attachments: &[Attachment], mount: &MountId) -> Vec<MountPath> {
    let mut out: Vec<MountPath> = attachments.iter().filter(|a| a.mount == *mount).map(|a| a.path.clone()).collect();
    let spans = path_shaped(words).into_iter().chain(quoted(words).into_iter().flat_map(|q| path_shaped(&q.text)));
    for span in spans {
        if let Ok(path) = MountPath::parse_in(mount, &span)
            && !path.is_root()
            && !out.contains(&path)
        {
            out.push(path);
        }
    }
    out.truncate(instructions::bounds::TARGETS_MAX);
    out
}

/// Finds out which of the named paths exist, then loads what applies to them.
#[derive(Debug)]
pub struct Guide {
    mount: MountId,
    named: Vec<MountPath>,
    limits: Limits,
    /// Without a target nothing is loaded.
    only_targets: bool,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Start,
    Looking,
    Loading(Box<Loader>),
}

impl Guide {
    /// Instructions for these paths, within `budget` bytes. `only_targets`: a message that names
    /// no file of the workspace is about none of it.
    pub fn new(mount: MountId, named: Vec<MountPath>, budget: usize, only_targets: bool) -> Self {
        Self { mount, named, limits: Limits::within(budget), only_targets, stage: Stage::Start }
    }

    /// One step; `None` when nothing of the workspace applies.
    pub fn step(&mut self, replies: Vec<Reply>) -> Step<Option<Result<ConventionSet, LoadError>>> {
        if matches!(self.stage, Stage::Start) && !self.named.is_empty() {
            self.stage = Stage::Looking;
            return Step::Need(self.named.iter().map(|path| Need::Stat { path: path.clone() }).collect());
        }
        if let Stage::Loading(loader) = &mut self.stage {
            return load(loader, replies);
        }
        let mut found = replies.into_iter();
        self.named.retain(|_| matches!(found.next(), Some(Reply::Found { .. })));
        if self.named.is_empty() && self.only_targets {
            return Step::Done(None);
        }
        let given: Vec<&str> = self.named.iter().map(MountPath::as_str).collect();
        match Targets::resolve(Some(&self.mount), &MountPath::root(), &given) {
            Ok(targets) => {
                let mut loader = Box::new(Loader::new(targets, self.limits));
                let first = load(&mut loader, Vec::new());
                self.stage = Stage::Loading(loader);
                first
            }
            Err(e) => Step::Done(Some(Err(e))),
        }
    }
}

fn load(loader: &mut Loader, replies: Vec<Reply>) -> Step<Option<Result<ConventionSet, LoadError>>> {
    match loader.step(replies) {
        Step::Need(needs) => Step::Need(needs),
        Step::Done(found) => Step::Done(Some(found)),
    }
}

/// The person's words behind the instructions that apply to them.
pub fn with_words(evidence: &str, words: &str) -> String {
    if evidence.is_empty() { words.to_owned() } else { format!("{evidence}\nThe request:\n{words}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::mount::{MemMount, MountError, drive};

    fn mount() -> MountId {
        MountId::new("welcome").expect("id")
    }

    #[test]
    fn decision_20_targets_are_the_paths_of_the_message_and_its_attachments() {
        let path = |p: &str| MountPath::parse(p).expect("path");
        let attached = Attachment { mount: mount(), path: path("a/b.md") };
        let elsewhere = Attachment { mount: MountId::new("other").expect("id"), path: path("x.md") };
        let words =
            "Compare src/a.rs, `src/b.rs` and \"/mnt/welcome/c.md\" with ../d.md and /mnt/other/e.md, e.g. now.";
        let found = named(words, &[attached, elsewhere], &mount());
        let found: Vec<&str> = found.iter().map(MountPath::as_str).collect();
        assert_eq!(found, ["a/b.md", "src/a.rs", "src/b.rs", "c.md"]);
    }

    #[test]
    fn only_paths_that_exist_are_targets() {
        let rule = "---\npaths: src/**\n---\nRULE";
        let mut files = MemMount::with(&[("rules/a.md", rule), ("src/a.rs", "")]);
        let mut run = |path: &str, only_targets| {
            let mut guide = Guide::new(mount(), named(path, &[], &mount()), 4000, only_targets);
            drive(|replies| guide.step(replies), |need| files.perform(need))
        };
        let set = run("src/a.rs", true).expect("loaded").expect("set");
        assert!(set.evidence().contains("RULE"));
        // Nothing there, so it is no target, and its rules are none of this turn's.
        assert_eq!(run("src/gone.rs", true), None);
        let set = run("src/gone.rs", false).expect("loaded").expect("set");
        assert_eq!((set.blocks.len(), set.evidence().as_str()), (0, ""));
    }

    #[test]
    fn field_10h1_a_folder_that_cannot_be_read_is_an_answer_of_its_own() {
        let mut guide = Guide::new(mount(), vec![], 4000, false);
        let found = drive(|replies| guide.step(replies), |_| Reply::Failed(MountError::NeedsReconnect));
        assert_eq!(found, Some(Err(LoadError::Unavailable(MountError::NeedsReconnect))));
    }
}
