//! The submission machine: a draft remembers who wrote it, a submission reads the registries
//! again, and one dispatch follows or a refusal that leaves the draft as it was.

use super::catalog::{why_absent, why_gone};
use super::{Catalog, RowKind, SLASH_MAX, Shape, Situation, SlashRefusal, SlashRow, TASK_MAX, classify, split_args};
use crate::Kernel;
use crate::authority::{Proof, TrustedGesture};
use crate::ids::{ActionId, AppId, Digest, Rev, SkillId, SurfaceId};
use crate::refusal::Refusal;
use crate::registry::CommandRef;
use crate::tools::ToolRef;

/// How an edit came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditOrigin {
    /// Typed, deleted, composed or undone by the person.
    Typed,
    /// Pasted or dropped.
    Pasted,
    /// Put there by the shell: restored after a reload, or filled in by a suggestion.
    Restored,
}

/// Who wrote the draft. The text itself lives in the field; this is bound to it by digest.
#[derive(Debug, Default)]
pub struct Draft {
    revision: Rev,
    digest: Option<Digest>,
    trusted: bool,
    origin: Option<EditOrigin>,
    pasted_lines: bool,
    // Text that no person put there may still be in the field; it goes when the field was empty.
    foreign: bool,
    // The finished command name, so that a paste behind it is a task and not a command.
    head: Option<Digest>,
}

/// The name of a command that is followed by a blank: what is edited behind it is its task.
fn finished_head(text: &str) -> Option<Digest> {
    match classify(text) {
        Shape::Command { name, finished: true, .. } => Some(Digest::of(name.as_bytes())),
        _ => None,
    }
}

/// What a local row does (I-153): never a model, never a transcript turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LocalDispatch {
    OpenApp(AppId),
    Action(AppId, ActionId),
    Go(AppId, SurfaceId),
    Command(CommandRef, Vec<String>),
}

/// What a turn is narrowed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnKind {
    /// Exactly this tool is offered (I-155).
    OneTool(ToolRef),
    /// This skill's instructions are in the prompt (I-156).
    Skill {
        /// Which.
        id: SkillId,
        /// Its bytes when it was submitted.
        digest: Digest,
    },
}

/// A normal turn that a `/tool` or `/skill` row starts. It grants nothing (I-154).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTurn {
    /// Canonical name of the row.
    pub row: String,
    /// Narrowed to.
    pub kind: TurnKind,
    /// What to do.
    pub task: String,
}

/// What a submission leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission {
    /// A plain message.
    Text(String),
    /// A local act.
    Local(LocalDispatch),
    /// A narrowed turn.
    Turn(AgentTurn),
}

impl Draft {
    /// Revision of the draft; rises with every edit.
    #[must_use]
    pub fn revision(&self) -> Rev {
        self.revision
    }
    /// Every edit so far was the person's.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// Folds an edit with its proof; `text` is the whole draft afterwards. An edit without
    /// proof taints the draft until it was empty, or a row was picked: one key by the person
    /// does not make a script's text theirs (I-157).
    pub fn edited(&mut self, text: &str, origin: EditOrigin, proof: &Proof) {
        let restored = origin == EditOrigin::Restored;
        let head = finished_head(text);
        // A paste behind a finished name is part of its task (decision 6 is about the command).
        let behind = origin == EditOrigin::Pasted && head.is_some() && head == self.head;
        self.revision = self.revision.next();
        self.digest = Some(Digest::of(text.as_bytes()));
        if !behind {
            self.origin = Some(origin);
        }
        self.head = head;
        self.foreign = !restored && (self.foreign || !proof.is_trusted());
        if text.is_empty() && proof.is_trusted() {
            self.foreign = false;
        }
        self.trusted = !self.foreign;
        let lines = text.trim_end().contains('\n');
        self.pasted_lines = match origin {
            EditOrigin::Pasted if behind => self.pasted_lines,
            EditOrigin::Pasted => lines,
            _ => self.pasted_lines && lines,
        };
    }
    /// Somebody changed the field behind our back; it was put right again. What is in the
    /// draft is the person's still, so the next edit of theirs goes on.
    pub fn tainted(&mut self) {
        self.revision = self.revision.next();
        self.trusted = false;
    }
    /// A row was picked by a trusted act and completed the draft to `text`.
    pub fn picked(&mut self, text: &str, _gesture: &TrustedGesture) {
        self.revision = self.revision.next();
        self.digest = Some(Digest::of(text.as_bytes()));
        self.origin = Some(EditOrigin::Typed);
        self.head = finished_head(text);
        // The row's name is known; a task behind it may still be a script's.
        let task = matches!(classify(text), Shape::Command { rest, .. } if !rest.trim().is_empty());
        self.foreign &= task;
        self.trusted = !self.foreign;
        self.pasted_lines = false;
    }

    /// The draft is submitted. Nothing is lost when it is refused.
    ///
    /// # Errors
    /// [`SlashRefusal`].
    pub fn submit(
        &self,
        text: &str,
        proof: &Proof,
        kernel: &Kernel,
        now: &Situation,
        shown: &Catalog,
    ) -> Result<Submission, SlashRefusal> {
        let (name, rest) = match classify(text) {
            Shape::Plain if proof.is_trusted() => return Ok(Submission::Text(text.to_owned())),
            // Lines that were pasted are a message, whatever their first character is.
            Shape::Command { .. } if self.pasted_lines && proof.is_trusted() => {
                return Err(SlashRefusal::SlashUnknown("Pasted text of several lines".into()));
            }
            Shape::Plain => return Err(SlashRefusal::SlashUntrustedSubmit),
            Shape::NotCommand(token) => {
                return Err(SlashRefusal::SlashUnknown(crate::clip::label(token, 64).into_owned()));
            }
            Shape::Command { name, rest, .. } => (name, rest),
        };
        self.check(text, proof)?;
        let row = shown.resolve(name).map_err(|e| match e {
            SlashRefusal::SlashUnknown(_) => why_absent(kernel, now, name).unwrap_or(e),
            other => other,
        })?;
        let row = Catalog::revalidate(kernel, now, row)?;
        submit_row(&row, rest, kernel)
    }

    /// A row was picked that runs at once (decision 17).
    ///
    /// # Errors
    /// [`SlashRefusal`], also when it takes arguments.
    pub fn run(
        kernel: &Kernel,
        now: &Situation,
        row: &SlashRow,
        _gesture: &TrustedGesture,
    ) -> Result<Submission, SlashRefusal> {
        let row = Catalog::revalidate(kernel, now, row)?;
        submit_row(&row, "", kernel)
    }

    fn check(&self, text: &str, proof: &Proof) -> Result<(), SlashRefusal> {
        if !proof.is_trusted() {
            return Err(SlashRefusal::SlashUntrustedSubmit);
        }
        if self.digest != Some(Digest::of(text.as_bytes())) {
            return Err(SlashRefusal::SlashDraftChanged);
        }
        match (self.trusted, self.origin) {
            (false, _) | (_, None) => Err(SlashRefusal::SlashUntrustedEdit),
            (_, Some(EditOrigin::Pasted)) => Err(SlashRefusal::SlashNotYetEdited("Pasted")),
            (_, Some(EditOrigin::Restored)) => Err(SlashRefusal::SlashNotYetEdited("Restored")),
            _ if text.len() > SLASH_MAX => Err(SlashRefusal::SlashTooLong { size: text.len(), max: SLASH_MAX }),
            _ => Ok(()),
        }
    }
}

fn submit_row(row: &SlashRow, rest: &str, kernel: &Kernel) -> Result<Submission, SlashRefusal> {
    let args = |r| split_args(kernel, row, r);
    let task = || {
        let task = rest.trim();
        if task.is_empty() {
            return Err(SlashRefusal::SlashTaskMissing(row.canonical.clone()));
        }
        if task.len() > TASK_MAX {
            return Err(SlashRefusal::SlashTooLong { size: task.len(), max: TASK_MAX });
        }
        Ok(task.to_owned())
    };
    let gone = || SlashRefusal::SlashUnknown(row.canonical.clone());
    Ok(match &row.kind {
        RowKind::App(a) => {
            args(rest)?;
            Submission::Local(LocalDispatch::OpenApp(a.clone()))
        }
        RowKind::Action(a, x) => {
            args(rest)?;
            Submission::Local(LocalDispatch::Action(a.clone(), x.clone()))
        }
        RowKind::Go(a, s) => {
            args(rest)?;
            Submission::Local(LocalDispatch::Go(a.clone(), s.clone()))
        }
        RowKind::Command(c) => {
            let r = CommandRef { name: c.clone(), rev: row.source.rev };
            kernel.commands().dispatch(&r, kernel.packages()).map_err(SlashRefusal::SlashSurface)?;
            Submission::Local(LocalDispatch::Command(r, args(rest)?))
        }
        RowKind::Tool(t) => {
            let digest = kernel.tools().get(t).ok_or_else(gone)?.digest;
            let kind = TurnKind::OneTool(ToolRef { name: t.clone(), digest });
            Submission::Turn(AgentTurn { row: row.canonical.clone(), kind, task: task()? })
        }
        RowKind::Skill(s) => {
            let digest = kernel.guidance().get(s).ok_or_else(gone)?.digest;
            let kind = TurnKind::Skill { id: s.clone(), digest };
            Submission::Turn(AgentTurn { row: row.canonical.clone(), kind, task: task()? })
        }
    })
}

/// A handler's word that it did one very dispatch (I-139).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    dispatch: Digest,
    /// What was done, in words.
    pub note: String,
}

/// How a local dispatch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With its receipt.
    Done(Receipt),
    /// Anything else (I-159).
    Failed(Refusal),
}

impl LocalDispatch {
    fn digest(&self) -> Digest {
        Digest::of(format!("{self:?}").as_bytes())
    }
    /// For the handler, after the work is done.
    #[must_use]
    pub fn receipt(&self, note: &str) -> Receipt {
        Receipt { dispatch: self.digest(), note: crate::clip::clip(note, crate::refusal::FIELD_MAX).into_owned() }
    }
    /// How it ended, by the handler's answer: a success needs the receipt of this very dispatch.
    #[must_use]
    pub fn finish(&self, answer: Result<Receipt, String>) -> Outcome {
        let failed = |code, expected, why: &str| Outcome::Failed(Refusal::new(code, "The command", expected, why));
        match answer {
            Ok(r) if r.dispatch == self.digest() => Outcome::Done(r),
            Ok(_) => failed("ReceiptForeign", "the receipt of this very command", "it showed another one's receipt"),
            Err(why) => failed("CommandFailed", "", &why),
        }
    }
}

/// Checks a narrowed turn again, right before the provider is asked (I-155, I-156).
///
/// # Errors
/// Why the tool or skill cannot be used any more.
pub fn dispatch_check(kernel: &Kernel, now: &Situation, turn: &AgentTurn) -> Result<(), SlashRefusal> {
    let live = Catalog::project(kernel, now);
    let row = live.get(&turn.row).ok_or_else(|| gone_turn(kernel, turn))?;
    if row.disabled.is_some() {
        return Err(why_gone(kernel, now, row));
    }
    let same = match &turn.kind {
        TurnKind::OneTool(t) => kernel.tools().get(&t.name).is_some_and(|d| d.digest == t.digest),
        TurnKind::Skill { id, digest } => kernel.guidance().get(id).is_some_and(|g| g.digest == *digest),
    };
    if same { Ok(()) } else { Err(SlashRefusal::SlashStale { name: turn.row.clone(), rev: kernel.rev() }) }
}

fn gone_turn(kernel: &Kernel, turn: &AgentTurn) -> SlashRefusal {
    match &turn.kind {
        TurnKind::OneTool(t) => {
            let why = match kernel.tools().get(&t.name) {
                Some(d) => format!("its package {} is missing or switched off", d.source.owner),
                None => format!("the tool {} is no longer registered", t.name),
            };
            SlashRefusal::SlashToolIneligible { why }
        }
        TurnKind::Skill { .. } => SlashRefusal::SlashSkillIneligible { why: "it is gone or switched off".into() },
    }
}
