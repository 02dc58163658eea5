//! What a turn does next: the planner for both kinds of models.

use std::collections::BTreeSet;

use instructions::{Block, ConventionSet, LoadError};
use kernel::{ToolName, TurnKey};
use models::{Ask, Message, ModelRequest, RunId, Sampling, ToolSpec};
use serde_json::{Value, json};

use super::{Cx, FsWork};
use crate::conventions::{Guide, with_words};
use crate::conversation::{GuidanceUse, ItemKind, Told, Via};
use crate::guidance::BuiltIn;
use crate::local::{AppName, Fill, Filled, answer, tool_for};
use crate::prompt::{Budget, ON_DEVICE_SYSTEM, REMOTE_SYSTEM, history, skill_frame};
use crate::register::{AFFORDANCE_MOUNT, CAPABILITY_READ, CAPABILITY_WRITE, app_id};
use crate::tools::{DEFINITIONS, Tool};
use crate::turn::{Cause, Plan};

fn used(block: &Block) -> GuidanceUse {
    GuidanceUse {
        path: block.source.clone(),
        digest: block.digest,
        kept: block.kept,
        total: block.total,
        why: block.why(),
    }
}

impl Cx<'_> {
    fn apps(&self) -> Vec<AppName> {
        let live =
            self.k.apps().iter().filter(|app| app.launchable && self.k.apps().live(&app.id, self.k.packages()).is_ok());
        live.map(|app| AppName { id: app.id.to_string(), title: app.title.clone() }).collect()
    }

    /// What the turn may use: exactly one tool for `/tool`, one that a rule chose for the
    /// on-device model, all permitted ones for a connected model (decision 19).
    pub(super) fn cut_grant(&mut self, turn: &TurnKey) {
        let apps = self.apps();
        let Some(job) = self.e.jobs.get_mut(turn) else { return };
        let mut offer: Vec<&str> = Vec::new();
        match (&job.script, &job.via) {
            (Some((tool, _)), _) => offer.push(tool.name()),
            (None, Via::Tool(name)) => {
                job.tool = Tool::named(name).filter(|_| !job.provider.is_remote());
                offer.push(name);
            }
            (None, _) if job.provider.is_remote() => {
                offer.extend(DEFINITIONS.iter().filter(|d| d.offered).map(|d| d.name))
            }
            (None, Via::Plain) if job.attachments.is_empty() => {
                job.tool = tool_for(&job.words, &apps);
                offer.extend(job.tool.map(Tool::name));
            }
            (None, _) => {}
        }
        if !job.attachments.is_empty() && !matches!(job.via, Via::Tool(_)) {
            offer.push(Tool::FilesRead.name());
        }
        job.by_template |= job.tool.is_some();
        let there = job.mount.as_ref().is_some_and(|mount| self.e.mounts.iter().any(|known| known.id == *mount));
        let offer: Vec<ToolName> = offer.into_iter().filter_map(|name| ToolName::new(name).ok()).collect();
        let capabilities = BTreeSet::from([CAPABILITY_READ.to_owned(), CAPABILITY_WRITE.to_owned()]);
        let affordances: BTreeSet<String> = there.then(|| AFFORDANCE_MOUNT.to_owned()).into_iter().collect();
        let Ok(app) = app_id() else { return };
        let (grant, _) = self.k.grant(turn.clone(), &app, &offer, capabilities, affordances);
        job.grant = Some(grant);
    }

    /// `None` when files have to be looked at first.
    pub(super) fn plan(&mut self, turn: &TurnKey, run: RunId, cause: Cause, last: bool) -> Option<Plan> {
        let Some(job) = self.e.jobs.get(turn) else {
            return Some(Plan::Fail("the turn's work is gone".to_owned()));
        };
        // Looked at again right before every dispatch (decision 31).
        if let Err(refusal) = self.still_allowed(&turn.conversation, job.mount.as_ref(), job.narrowed.as_ref()) {
            if matches!(job.via, Via::Skill(_)) {
                return Some(self.skill_refused(turn, refusal));
            }
            self.refuse(refusal.clone());
            return Some(Plan::Fail(refusal.plain()));
        }
        let job = self.e.jobs.get_mut(turn)?;
        if let Some((tool, arguments)) = job.script.take() {
            return Some(Plan::Call { tool: tool.name().to_owned(), arguments });
        }
        if let Cause::Scores(scores) = cause {
            return Some(match job.fill.as_mut().map(|fill| fill.scored(&scores)) {
                Some(filled) => self.filled(turn, run, filled),
                None => Plan::Fail("scores came for a turn that ranks nothing".to_owned()),
            });
        }
        if let (Cause::Start, Some(tool)) = (&cause, job.tool) {
            return self.fill(turn, run, tool);
        }
        if job.by_template && cause == Cause::Results {
            return Some(self.answer_by_template(turn));
        }
        // Attached files are read like any other, one card each, before the model is asked.
        if !matches!(job.via, Via::Tool(_))
            && let Some(attachment) = job.attachments.pop_front()
        {
            if job.mount.as_ref() != Some(&attachment.mount) {
                return Some(Plan::Fail(format!(
                    "{} is attached from another folder than the conversation's.",
                    attachment.path
                )));
            }
            let arguments = json!({ "path": attachment.path.as_str() }).to_string();
            return Some(Plan::Call { tool: Tool::FilesRead.name().to_owned(), arguments });
        }
        if let Some(guide) = self.guide(turn) {
            self.pump(FsWork::Guide(turn.clone(), run, last, Box::new(guide)), Vec::new());
            return None;
        }
        self.dispatch(turn, run, last)
    }

    /// What has to be read of the workspace before the turn's first question. A connected model
    /// is told what holds for the whole folder; the on-device one, which reads little, only what
    /// applies to files that the message is about.
    fn guide(&self, turn: &TurnKey) -> Option<Guide> {
        let job = self.e.jobs.get(turn).filter(|job| job.conventions.is_none())?;
        let mount = job.mount.as_ref().filter(|mount| self.e.mounts.iter().any(|known| known.id == **mount))?;
        let remote = job.provider.is_remote();
        let budget = Budget::of(&job.provider).instructions;
        (remote || !job.about.is_empty()).then(|| Guide::new(mount.clone(), job.about.clone(), budget, !remote))
    }

    /// The instructions are there, or it is known why not; either is a line of the transcript.
    pub(super) fn guided(&mut self, turn: &TurnKey, found: Option<Result<ConventionSet, LoadError>>) {
        let Some(job) = self.e.jobs.get_mut(turn) else { return };
        let mount = job.mount.clone();
        let mut told = String::new();
        let line = match found {
            Some(Ok(set)) => {
                told = set.evidence();
                let left_out = u32::try_from(set.left_out().count()).unwrap_or(u32::MAX);
                let used: Vec<GuidanceUse> = set.blocks.iter().map(used).collect();
                mount.filter(|_| !used.is_empty()).map(|mount| {
                    let what = Told::Instructions;
                    ItemKind::Guidance { what, mount, used, left_out }
                })
            }
            Some(Err(e)) => {
                Some(ItemKind::Notice { text: format!("Answered without the folder's instructions: {e}.") })
            }
            None => None,
        };
        job.conventions = Some(told);
        if let Some(line) = line
            && let Some(conversation) = self.e.conversations.get_mut(&turn.conversation)
        {
            let item = conversation.push(turn.turn, line, self.now);
            self.save_item(&turn.conversation, item);
        }
    }

    fn fill(&mut self, turn: &TurnKey, run: RunId, tool: Tool) -> Option<Plan> {
        if tool == Tool::FilesUndo {
            return Some(self.newest_undo(turn));
        }
        let apps = self.apps();
        let there = |mount: &kernel::MountId| self.e.mounts.iter().any(|known| known.id == *mount);
        let mount = self.e.jobs.get(turn)?.mount.clone().filter(there);
        let job = self.e.jobs.get_mut(turn)?;
        let mut words = job.words.clone();
        for attachment in &job.attachments {
            words.push_str(&format!(" {}", attachment.path));
        }
        job.fill = Some(Fill::new(tool, &words, mount, apps));
        self.pump(FsWork::Fill(turn.clone(), run), Vec::new());
        None
    }

    pub(super) fn filled(&mut self, turn: &TurnKey, run: RunId, filled: Filled) -> Plan {
        let tool = self.e.jobs.get(turn).and_then(|job| job.tool);
        match (filled, tool) {
            (Filled::Call(arguments), Some(tool)) => {
                Plan::Call { tool: tool.name().to_owned(), arguments: arguments.to_string() }
            }
            (Filled::Call(_), None) => Plan::Fail("the turn has no tool".to_owned()),
            (Filled::Rank { messages, assistant_prefix, candidates }, _) => {
                Plan::Ask(Box::new(Ask::Score { run, messages, assistant_prefix, candidates }))
            }
            (Filled::Question(words), _) => Plan::Question(words),
        }
    }

    /// `/tool:files.undo`: the operation named, or the newest change of this conversation.
    fn newest_undo(&self, turn: &TurnKey) -> Plan {
        let named = self
            .e
            .jobs
            .get(turn)
            .and_then(|job| job.words.split_whitespace().find(|word| word.starts_with("op:")).map(str::to_owned));
        let newest = || {
            let here = self
                .e
                .receipts
                .values()
                .filter(|r| r.operation.call().turn.conversation == turn.conversation && r.can_undo());
            here.max_by_key(|r| (r.operation.call().turn.turn, r.operation.call().n)).map(|r| r.operation.to_string())
        };
        match named.or_else(newest) {
            Some(operation) => Plan::Call {
                tool: Tool::FilesUndo.name().to_owned(),
                arguments: json!({ "operation": operation }).to_string(),
            },
            None => Plan::Question("There is no change in this conversation that could be undone.".to_owned()),
        }
    }

    fn answer_by_template(&self, turn: &TurnKey) -> Plan {
        let call = self.e.jobs.get(turn).and_then(|job| job.last_call.as_ref()).and_then(|call| self.e.calls.get(call));
        match call.and_then(|call| call.outcome.as_ref().map(|outcome| (call, outcome))) {
            Some((call, outcome)) => Plan::Answer(answer(call.tool, &call.arguments, outcome)),
            None => match self.e.jobs.get(turn).map(|job| job.evidence.join("\n")).filter(|words| !words.is_empty()) {
                Some(words) => Plan::Answer(words),
                None => Plan::Fail("the tool gave no result".to_owned()),
            },
        }
    }

    pub(super) fn ask(&mut self, turn: &TurnKey, run: RunId, last: bool) -> Plan {
        let (Some(job), Some(conversation)) = (self.e.jobs.get(turn), self.e.conversations.get(&turn.conversation))
        else {
            return Plan::Fail("the conversation is gone".to_owned());
        };
        let remote = job.provider.is_remote();
        let budget = Budget::of(&job.provider);
        let mut system = if remote { REMOTE_SYSTEM } else { ON_DEVICE_SYSTEM }.to_owned();
        if remote && let Some(mount) = &job.mount {
            system.push_str(&format!(" The mounted folder is /mnt/{mount}."));
        }
        let skill = match &job.via {
            Via::Skill(name) => kernel::SkillId::new(name).ok().as_ref().and_then(BuiltIn::get),
            _ => None,
        };
        if let Some(skill) = skill {
            system.push_str(&format!("\n\n{}", skill_frame(skill.title, skill.body, budget.skill)));
        }
        for (name, body) in &job.skills {
            system.push_str(&format!("\n\n{}", skill_frame(name, body, budget.skill)));
        }
        let (earlier, dropped) = history(&conversation.items, turn.turn, budget.history);
        let mut words = with_words(job.conventions.as_deref().unwrap_or_default(), &job.words);
        for attachment in &job.attachments {
            // Only a narrowed turn still has these: its one tool is told where to look.
            words.push_str(&format!("\n\nAttached file: {}", attachment.path));
        }
        for evidence in &job.evidence {
            words.push_str(&format!("\n\n{evidence}"));
        }
        let mut messages = vec![Message::system(system)];
        messages.extend(earlier);
        messages.push(Message::user(words));
        messages.extend(job.wire.iter().cloned());
        let tools = if remote && !last { self.offered(turn) } else { Vec::new() };
        let sampling = if remote { Sampling::REMOTE } else { Sampling::ON_DEVICE };
        let request = ModelRequest { run, messages, tools, sampling, max_tokens: budget.answer };
        self.left_out(turn, dropped);
        Plan::Ask(Box::new(Ask::Chat(request)))
    }

    /// The tools of the grant that are still what was granted and can run here and now.
    fn offered(&self, turn: &TurnKey) -> Vec<ToolSpec> {
        let Some(grant) = self.e.jobs.get(turn).and_then(|job| job.grant.as_ref()) else { return Vec::new() };
        let runnable = DEFINITIONS.iter().filter_map(|definition| {
            let name = ToolName::new(definition.name).ok()?;
            let tool = self.k.tools().get(&name)?;
            let granted = grant.offered().contains(&(name, tool.digest));
            let available = tool.source.affordances.is_subset(grant.affordances());
            (granted && available).then(|| ToolSpec {
                name: definition.name.to_owned(),
                description: tool.source.description.clone(),
                schema_json: tool.source.schema.clone(),
            })
        });
        runnable.collect()
    }

    /// The arguments' JSON, for showing and for templates; text that is none stays a text.
    pub(super) fn read_arguments(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
    }
}
