//! A skill of the workspace on its way into a turn.
//!
//! Right before every question to a model its file is read again (decision 31): what enters is an
//! [`Admitted`] skill, bytes that a person approved and that the submission was bound to, or the
//! turn ends with the reason. It enters as guidance within the model's budget and grants nothing.

use std::collections::VecDeque;

use kernel::mount::{MountPath, Need, Reply, Step};
use kernel::slash::{SlashRefusal, TurnKind};
use kernel::{Digest, MountId, PackageId, Refusal, SkillId, TurnKey, clip};
use models::RunId;
use skills::engine::{Context, Engine};
use skills::packages::review::{Admitted, Binding, ReviewRefusal, Reviews};
use skills::packages::{Activation, PackageRefusal, depends};

use super::{Cx, FsWork};
use crate::conversation::{GuidanceUse, ItemKind, Told};
use crate::guidance::BuiltIn;
use crate::library::PACKAGE;
use crate::prompt::Budget;
use crate::trial;
use crate::turn::Plan;

/// A reviewed skill that plain words ask for (engine.md §2.3), bound to the bytes it was heard with.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    id: SkillId,
    digest: Digest,
    /// Why, in words.
    why: String,
}

/// Reads a skill and what it depends on again, one file after another.
#[derive(Debug)]
pub(super) struct Admission {
    mount: MountId,
    bound: Binding,
    context: Context,
    left: VecDeque<Activation>,
    done: Vec<Admitted>,
}

impl Admission {
    pub(super) fn step(&mut self, mut replies: Vec<Reply>, reviews: &Reviews) -> Step<Result<Vec<Admitted>, Refusal>> {
        while let Some(work) = self.left.front_mut() {
            match work.step(std::mem::take(&mut replies)) {
                Step::Need(needs) => return Step::Need(needs),
                Step::Done(Err(why)) => return Step::Done(Err(drifted(&self.mount, why, reviews))),
                Step::Done(Ok(skill)) => {
                    let meta = trial::meta(&skill, kernel::registry::Review::HumanReviewed { binding: skill.digest() });
                    let main = skill.name() == self.bound.name;
                    let end = match main {
                        true => reviews.admit_bound(&self.mount, &self.bound, skill),
                        false => reviews.admit(&self.mount, skill),
                    };
                    let gates = meta.map_err(Refusal::from).and_then(|meta| {
                        let id = meta.id.clone();
                        let engine = Engine::new(vec![meta])?;
                        engine.admit(&id, &self.context)?;
                        Ok(())
                    });
                    match end.map_err(Refusal::from).and_then(|skill| gates.map(|()| skill)) {
                        Ok(skill) => self.done.push(skill),
                        Err(refusal) => return Step::Done(Err(refusal)),
                    }
                    self.left.pop_front();
                }
            }
        }
        Step::Done(Ok(std::mem::take(&mut self.done)))
    }
}

/// Other bytes than those that were reviewed are said as such.
fn drifted(mount: &MountId, why: PackageRefusal, reviews: &Reviews) -> Refusal {
    match why {
        PackageRefusal::PackageChanged { name, now: Some(now), .. } if reviews.review(mount, &name).is_some() => {
            match reviews.check(mount, &name, now) {
                Err(changed) => changed.into(),
                Ok(()) => ReviewRefusal::BindingChanged { name }.into(),
            }
        }
        why => why.into(),
    }
}

impl Cx<'_> {
    /// A skill of the workspace as it stands by the last look: at submission, and before the file
    /// itself is read again.
    pub(super) fn skill_stands(&self, mount: Option<&MountId>, id: &SkillId, bound: Digest) -> Result<(), Refusal> {
        let ineligible = |why: &str| Refusal::from(SlashRefusal::SlashSkillIneligible { why: why.to_owned() });
        let package = PackageId::new(PACKAGE)?;
        if !self.k.packages().is_enabled(&package) {
            return Err(ineligible("its package is switched off"));
        }
        let mount = mount.ok_or_else(|| ineligible("no folder is connected"))?;
        let packages = self.e.library.packages_of(mount);
        let found = packages.ok_or_else(|| ineligible("its folder was not looked at yet"))?.get(id.as_str())?;
        self.e.library.reviews().usable(mount, found)?;
        match found.digest() == Some(bound) {
            true => Ok(()),
            false => Err(ReviewRefusal::BindingChanged { name: id.to_string() }.into()),
        }
    }

    /// Asks the model, once everything that the turn is told is there and still what was promised.
    pub(super) fn dispatch(&mut self, turn: &TurnKey, run: RunId, last: bool) -> Option<Plan> {
        if self.e.jobs.get(turn).is_some_and(|job| job.heard.is_none()) {
            let heard = self.hear(turn);
            if let Some(job) = self.e.jobs.get_mut(turn) {
                job.heard = Some(heard);
            }
        }
        match self.admission(turn) {
            Ok(None) => Some(self.ask(turn, run, last)),
            Ok(Some(work)) => {
                self.pump(FsWork::Admit(turn.clone(), run, last, Box::new(work)), Vec::new());
                None
            }
            Err(refusal) => Some(self.unadmitted(turn, run, last, refusal)),
        }
    }

    /// The skill of the folder that the words of a plain message ask for most: reviewed, switched
    /// on, and open to this turn. It guides the turn and grants nothing (I-116).
    fn hear(&self, turn: &TurnKey) -> Option<Heard> {
        let job = self.e.jobs.get(turn).filter(|job| job.narrowed.is_none())?;
        let mount = job.mount.as_ref().filter(|mount| self.e.library.mount() == Some(*mount))?;
        let packages = self.e.library.packages_of(mount)?;
        let asked = trial::engine(&self.e.library).ok()?.evaluate(&job.words, &self.context(&job.about));
        let of_folder = asked.into_iter().filter(|e| e.is_active() && BuiltIn::get(&e.skill).is_none());
        let mut best: Vec<_> = of_folder.collect();
        best.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.skill.cmp(&b.skill)));
        best.into_iter().find_map(|e| {
            let digest = packages.get(e.skill.as_str()).ok()?.digest()?;
            self.skill_stands(Some(mount), &e.skill, digest).ok()?;
            let words = e.evidence.first().and_then(|e| job.words.get(e.span.start..e.span.end)).unwrap_or(&job.words);
            let why = format!("your words ask for it: “{}”", clip::label(words, 80));
            Some(Heard { id: e.skill, digest, why })
        })
    }

    /// What a turn about these paths meets: the tools that are live, and the paths.
    fn context(&self, about: &[MountPath]) -> Context {
        let on = |t: &&kernel::tools::ToolDescriptor| {
            self.k.packages().is_enabled(&t.source.owner) && !self.k.is_denied(&t.source.name)
        };
        let live_tools = self.k.tools().iter().filter(on).map(|t| t.source.name.clone()).collect();
        Context { live_tools, target_paths: about.to_vec(), catalogue_rev: self.k.rev() }
    }

    /// A skill that was named ends the turn when it may not be used; one that was only heard is
    /// left out, and a line says why.
    fn unadmitted(&mut self, turn: &TurnKey, run: RunId, last: bool, refusal: Refusal) -> Plan {
        let heard = self.e.jobs.get_mut(turn).and_then(|job| job.heard.as_mut()?.take());
        let Some(heard) = heard else { return self.skill_refused(turn, refusal) };
        let words = format!("The skill {} was left out: {}", heard.id, refusal.plain());
        self.notice(&turn.conversation, turn.turn, &words);
        self.look_for_skills();
        self.ask(turn, run, last)
    }

    /// What has to be read again for this turn's skill; nothing for one that ships.
    fn admission(&self, turn: &TurnKey) -> Result<Option<Admission>, Refusal> {
        let Some(job) = self.e.jobs.get(turn) else { return Ok(None) };
        let (id, digest) = match (job.narrowed.as_ref().map(|n| &n.kind), &job.heard) {
            (Some(TurnKind::Skill { id, digest }), _) if BuiltIn::get(id).is_none() => (id, digest),
            (None, Some(Some(heard))) => (&heard.id, &heard.digest),
            _ => return Ok(None),
        };
        self.skill_stands(job.mount.as_ref(), id, *digest)?;
        let (Some(mount), Some(packages)) =
            (&job.mount, job.mount.as_ref().and_then(|mount| self.e.library.packages_of(mount)))
        else {
            return Ok(None);
        };
        let order = depends::order(packages, id.as_str(), &mut |found| self.e.library.reviews().usable(mount, found))?;
        let left = order.iter().map(|name| packages.activate(name)).collect::<Result<VecDeque<_>, _>>()?;
        let context = self.context(&job.about);
        let bound = Binding { name: id.to_string(), digest: *digest };
        Ok(Some(Admission { mount: mount.clone(), bound, context, left, done: Vec::new() }))
    }

    /// The skills were read again and are what was approved. What is told of them fits the
    /// budget, the one that was named first; a line of the transcript says which, once a turn.
    pub(super) fn admitted(&mut self, turn: &TurnKey, skills: &[Admitted]) {
        let Some(job) = self.e.jobs.get_mut(turn) else { return };
        let mut room = Budget::of(&job.provider).skill;
        let (mut told, mut used, mut left_out) = (Vec::new(), Vec::new(), 0);
        for (i, skill) in skills.iter().rev().enumerate() {
            let skill = skill.skill();
            let body = skill.text().trim();
            let kept = clip::boundary(body, room);
            if kept == 0 {
                left_out += 1;
                continue;
            }
            room -= kept;
            let why = match (i, skills.last()) {
                (0, _) | (_, None) => match job.heard.as_ref().and_then(Option::as_ref) {
                    Some(heard) => heard.why.clone(),
                    None => format!("you named it with /skill:{}", skill.name()),
                },
                (_, Some(main)) => format!("{} depends on it", main.skill().name()),
            };
            used.push(GuidanceUse {
                path: skill.provenance().path.clone(),
                digest: skill.digest(),
                kept,
                total: body.len(),
                why,
            });
            told.push((skill.name().to_owned(), body[..kept].to_owned()));
        }
        told.reverse();
        used.reverse();
        job.skills = told;
        let Some(mount) = job.mount.clone().filter(|_| !std::mem::replace(&mut job.skills_told, true)) else { return };
        let line = ItemKind::Guidance { what: Told::Skills, mount, used, left_out };
        if let Some(conversation) = self.e.conversations.get_mut(&turn.conversation) {
            let item = conversation.push(turn.turn, line, self.now);
            self.save_item(&turn.conversation, item);
        }
    }

    /// The turn ends with the reason, and what was typed comes back.
    pub(super) fn skill_refused(&mut self, turn: &TurnKey, refusal: Refusal) -> Plan {
        if let Some(job) = self.e.jobs.get_mut(turn) {
            job.give_back = true;
        }
        let words = refusal.plain();
        self.refuse(refusal);
        self.look_for_skills();
        Plan::Fail(words)
    }

    pub(super) fn admit_step(
        &mut self,
        turn: TurnKey,
        run: RunId,
        last: bool,
        work: Box<Admission>,
        replies: Vec<Reply>,
    ) {
        let mut work = work;
        let Some(mount) = self.e.jobs.get(&turn).map(|job| job.mount.clone()) else { return };
        let plan = match work.step(replies, self.e.library.reviews()) {
            Step::Need(needs) => return self.need(FsWork::Admit(turn, run, last, work), mount, needs as Vec<Need>),
            Step::Done(Ok(skills)) => {
                self.admitted(&turn, &skills);
                self.ask(&turn, run, last)
            }
            Step::Done(Err(refusal)) => self.unadmitted(&turn, run, last, refusal),
        };
        self.inbox.push_back(crate::turn::TurnMsg::Planned(run, plan));
    }
}
