//! Skills: what lies in the folder, what is wrong with it, and the review that lets it into a turn.
//!
//! What is approved is what was read again for this very sheet and laid out on it; whoever
//! changes the file meanwhile makes the sheet anew. The rules are those of the `skills` crate:
//! this screen only hands a trusted press to the sheet and its approval to the agent.

mod objective;
mod paint;

use crate::catalogue::AppKey;
use crate::desktop::{Action, Desktop, Effect, FilesId};
use ::skills::engine::{Finding, lint_file};
use ::skills::hidden::reveal;
use ::skills::packages::resources::{Resources, Shelf};
use ::skills::packages::review::{Approval, ReviewRefusal, ReviewSheet};
use ::skills::packages::{Activation, Found, PackageRefusal, Reread, Root, Standing, normal_copy};
use ai_echo::trial;
use kernel::authority::Proof;
use kernel::mount::{Reply, Step};
use kernel::{Digest, MountId, Refusal, clip};
use scene::NodeId;
use ui::Field;

pub(crate) use objective::objective_id;

/// Whose approval it is. A shell in a browser knows its person by nothing else.
const REVIEWER: &str = "the person at this browser";

/// What Skills keeps.
#[derive(Debug)]
pub(crate) struct SkillsUi {
    open: Option<Open>,
    objective: Field,
    tried: Option<objective::Tried>,
}

impl Default for SkillsUi {
    fn default() -> Self {
        Self { open: None, objective: Field::line(""), tried: None }
    }
}

/// The package on the sheet.
#[derive(Debug)]
struct Open {
    mount: MountId,
    root: Root,
    folder: String,
    /// Its bytes as the last look found them.
    digest: Option<Digest>,
    work: Option<(FilesId, Work)>,
    /// What was read again: the review's sheet where it may be used, else only its text.
    sheet: Option<ReviewSheet>,
    bytes: Vec<u8>,
    /// Advice for its author (engine.md §2.11); `None` where it cannot be read.
    advice: Option<Vec<Finding>>,
    /// What lies beside it, once a person asked to see it.
    shelves: Option<Vec<Shelf>>,
    looking: Option<(FilesId, Resources)>,
    text: paint::Text,
    refused: Option<Refusal>,
    /// Its file changed while it was shown.
    anew: bool,
}

impl Open {
    fn looks(&self, id: FilesId) -> bool {
        self.looking.as_ref().is_some_and(|(round, _)| *round == id)
    }
}

#[derive(Debug)]
enum Work {
    Activate(Activation),
    Read(Reread),
}

impl SkillsUi {
    pub(crate) fn field(&mut self, id: NodeId) -> Option<&mut Field> {
        (id == objective_id()).then_some(&mut self.objective)
    }
    /// Whether a round of file replies belongs to the sheet that is being made.
    pub(crate) fn waits_for(&self, id: FilesId) -> bool {
        self.open.as_ref().is_some_and(|o| o.work.as_ref().is_some_and(|(round, _)| *round == id) || o.looks(id))
    }
}

fn is(found: &Found, root: Root, folder: &str) -> bool {
    found.root == root && found.folder == folder
}

impl Desktop {
    fn found(&self, mount: &MountId, root: Root, folder: &str) -> Option<&Found> {
        self.agent.library().packages_of(mount)?.found().iter().find(|f| is(f, root, folder))
    }

    /// Looks at the folder again, as every opening of the window does.
    pub(crate) fn look_for_skills(&mut self, out: &mut Vec<Effect>) {
        self.tell(ai_echo::Msg::LookForSkills, out);
    }

    /// Puts a package on the sheet: its file is read again for it.
    pub(crate) fn open_skill(&mut self, root: Root, folder: &str, anew: bool, out: &mut Vec<Effect>) {
        let Some(mount) = self.agent.library().mount().cloned() else { return };
        let Some(found) = self.found(&mount, root, folder) else { return };
        let digest = found.digest();
        let mut refused = None;
        let work = if found.standing == Standing::Winner {
            match self.agent.library().packages().map(|p| p.activate(folder)) {
                Some(Ok(work)) => Some(Work::Activate(work)),
                Some(Err(e)) => {
                    refused = Some(e.into());
                    None
                }
                None => None,
            }
        } else {
            Reread::of(found).map(Work::Read)
        };
        let id = FilesId(self.fresh_id());
        let work = work.map(|work| (id, work));
        let folder = folder.to_owned();
        let (sheet, bytes, advice, text) = (None, vec![], None, paint::Text::default());
        let (shelves, looking) = (None, None);
        self.skills.open = Some(Open {
            mount,
            root,
            folder,
            digest,
            work,
            sheet,
            bytes,
            advice,
            shelves,
            looking,
            text,
            refused,
            anew,
        });
        self.scrolls.remove(&paint::page_id());
        self.skill_step(vec![], out);
    }

    /// `/cmd:lint-skill`: the sheet of the skill of that name, which holds it against the rules.
    pub(crate) fn lint_skill(&mut self, name: &str, out: &mut Vec<Effect>) {
        let all = self.agent.library().packages().map_or(&[][..], |p| p.found());
        let named = all.iter().filter(|f| f.folder == name);
        match named.min_by_key(|f| f.standing != Standing::Winner).map(|f| f.root) {
            Some(root) => {
                self.launch(AppKey::Skills, out);
                self.open_skill(root, name, false, out);
            }
            None => {
                let names: Vec<&str> = all.iter().map(|f| f.folder.as_str()).take(8).collect();
                let expected = if names.is_empty() { "a skill of the folder".to_owned() } else { names.join(", ") };
                self.refuse(Refusal::new("SkillUnknown", &clip::label(name, 64), &expected, "no skill of that name"));
            }
        }
    }

    /// A press on “Show what lies beside it”: names and sizes, for the person alone.
    pub(crate) fn show_resources(&mut self, proof: Proof, out: &mut Vec<Effect>) {
        let Proof::Trusted(act) = proof else { return self.untrusted("A press") };
        let Some((mount, root, folder)) =
            self.skills.open.as_ref().map(|o| (o.mount.clone(), o.root, o.folder.clone()))
        else {
            return;
        };
        let look = self.found(&mount, root, &folder).and_then(|found| Resources::open(found, act));
        let id = FilesId(self.fresh_id());
        if let (Some(open), Some(look)) = (&mut self.skills.open, look) {
            open.looking = Some((id, look));
            self.skill_replies(id, vec![], out);
        }
    }

    /// Replies for the sheet, or for what lies beside its file.
    pub(crate) fn skill_replies(&mut self, id: FilesId, replies: Vec<Reply>, out: &mut Vec<Effect>) {
        let next = FilesId(self.fresh_id());
        let Some(open) = self.skills.open.as_mut().filter(|o| o.looks(id)) else {
            return self.skill_step(replies, out);
        };
        let Some((round, look)) = &mut open.looking else { return };
        match look.step(replies) {
            Step::Need(needs) => {
                *round = next;
                out.push(Effect::Files { id: next, mount: open.mount.clone(), needs });
            }
            Step::Done(shelves) => (open.shelves, open.looking) = (Some(shelves), None),
        }
    }

    /// Replies for the sheet that is being made.
    fn skill_step(&mut self, replies: Vec<Reply>, out: &mut Vec<Effect>) {
        let id = FilesId(self.fresh_id());
        let now = self.now;
        let Some(open) = &mut self.skills.open else { return };
        let Some((round, work)) = &mut open.work else { return };
        enum End {
            Sheet(Result<Box<ReviewSheet>, Refusal>, Vec<u8>),
            Bytes(Result<Vec<u8>, PackageRefusal>),
        }
        let end = match work {
            Work::Activate(activation) => match activation.step(replies) {
                Step::Need(needs) => Err(needs),
                Step::Done(Ok(skill)) => {
                    let (bytes, cases) = (skill.file().to_vec(), trial::cases(&skill));
                    let sheet = ReviewSheet::open(skill, cases, now).map(Box::new);
                    Ok(End::Sheet(sheet.map_err(ReviewRefusal::into), bytes))
                }
                Step::Done(Err(e)) => Ok(End::Bytes(Err(e))),
            },
            Work::Read(reread) => match reread.step(replies) {
                Step::Need(needs) => Err(needs),
                Step::Done(end) => Ok(End::Bytes(end)),
            },
        };
        match end {
            Err(needs) => {
                *round = id;
                out.push(Effect::Files { id, mount: open.mount.clone(), needs });
            }
            Ok(end) => {
                open.work = None;
                match end {
                    End::Sheet(Ok(sheet), bytes) => (open.sheet, open.bytes) = (Some(*sheet), bytes),
                    End::Sheet(Err(e), bytes) => (open.refused, open.bytes) = (Some(e), bytes),
                    End::Bytes(Ok(bytes)) => open.bytes = bytes,
                    // It changed between the look and now: the next look shows what is there.
                    End::Bytes(Err(e)) => {
                        open.refused = Some(e.into());
                        self.tell(ai_echo::Msg::LookForSkills, out);
                        return;
                    }
                }
                open.advice = lint_file(&open.folder, &open.bytes);
                open.text = paint::Text::of(&reveal(&String::from_utf8_lossy(&open.bytes)));
            }
        }
    }

    /// After any change: a sheet whose file is no longer what it shows is made anew, and one
    /// whose package is gone is put away.
    pub(crate) fn follow_skill(&mut self, out: &mut Vec<Effect>) {
        let Some(open) = self.skills.open.as_ref().filter(|o| o.work.is_none()) else { return };
        let (root, folder, was) = (open.root, open.folder.clone(), open.digest);
        let same_mount = self.agent.library().mount() == Some(&open.mount);
        let name = reveal(&folder).into_owned();
        match self.found(&open.mount, root, &folder).filter(|_| same_mount).map(Found::digest) {
            None => {
                self.skills.open = None;
                self.status = format!("The skill {name} is no longer in the folder.");
            }
            Some(now) if now != was => {
                self.status = format!("The file of {name} changed, so it is shown anew.");
                self.open_skill(root, &folder, true, out);
            }
            Some(_) => {}
        }
    }

    /// A press on Approve: it counts for exactly the bytes of the sheet.
    pub(crate) fn approve_skill(&mut self, proof: Proof, out: &mut Vec<Effect>) {
        let Proof::Trusted(act) = proof else { return self.untrusted("A press on Approve") };
        let Some(open) = &mut self.skills.open else { return };
        let Some(sheet) = open.sheet.take() else { return };
        let mount = open.mount.clone();
        match sheet.approve(act, REVIEWER) {
            Ok(approval) => self.skill_approved(mount, approval, out),
            Err((why, back)) => {
                open.sheet = Some(*back);
                self.refuse(why);
            }
        }
    }

    fn skill_approved(&mut self, mount: MountId, approval: Approval, out: &mut Vec<Effect>) {
        self.tell(ai_echo::Msg::SkillApproved(mount, Box::new(approval)), out);
        // Another review of the same bytes starts from a new reading.
        if let Some((root, folder)) = self.skills.open.as_ref().map(|o| (o.root, o.folder.clone())) {
            let y = self.scrolls.get(&paint::page_id()).copied();
            self.open_skill(root, &folder, false, out);
            self.scrolls.extend(y.map(|y| (paint::page_id(), y)));
        }
    }

    /// Acts that need the gesture itself.
    pub(crate) fn skill_act(&mut self, a: Action, proof: Proof, out: &mut Vec<Effect>) {
        let Some(mount) = self.skills.open.as_ref().map(|o| o.mount.clone()) else { return };
        let Proof::Trusted(act) = proof else { return self.untrusted("A press") };
        match a {
            Action::RevokeSkill(name) => self.tell(ai_echo::Msg::RevokeSkill(mount, name, act), out),
            Action::EnableSkill(name, on) => self.tell(ai_echo::Msg::EnableSkill(mount, name, on, act), out),
            _ => {}
        }
    }

    /// Proposes a portable copy of what is on the sheet as a change that a person reviews: the
    /// card shows it, the file's own receipt can undo it.
    pub(crate) fn copy_skill(&mut self, out: &mut Vec<Effect>) {
        let library = self.agent.library();
        let Some(open) = self.skills.open.as_ref().filter(|o| o.work.is_none()) else { return };
        let Some(packages) = library.packages_of(&open.mount) else { return };
        let Some(found) = packages.found().iter().find(|f| is(f, open.root, &open.folder)) else { return };
        let copy = match normal_copy(packages, found, &open.bytes) {
            Ok(copy) => Box::new(copy),
            Err(why) => {
                self.refuse(why);
                return;
            }
        };
        self.launch(AppKey::Echo, out);
        if self.agent.current().is_none() {
            self.tell(ai_echo::Msg::NewConversation, out);
        }
        if let Some(c) = self.agent.current().map(|c| c.id.clone()) {
            self.tell(ai_echo::Msg::ProposeCopy(c, copy), out);
        }
    }

    pub(crate) fn close_skill(&mut self) {
        self.skills.open = None;
        self.focus_in(crate::desktop::body_of(AppKey::Skills));
    }
}
