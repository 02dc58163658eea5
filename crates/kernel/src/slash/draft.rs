//! The submission machine: a draft remembers who wrote it, a submission reads the registries
//! again, and one dispatch follows or a refusal that leaves the draft as it was.

use super::catalog::why_gone;
use super::{Catalog, RowKind, SLASH_MAX, Shape, Situation, SlashRefusal, SlashRow, TASK_MAX, classify, split_args};
use crate::Kernel;
use crate::authority::{Proof, TrustedGesture};
use crate::ids::{ActionId, AppId, Digest, Rev, SkillId, SurfaceId};
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

    /// Folds an edit with its proof; `text` is the whole draft afterwards.
    pub fn edited(&mut self, text: &str, origin: EditOrigin, proof: &Proof) {
        self.revision = self.revision.next();
        self.digest = Some(Digest::of(text.as_bytes()));
        self.origin = Some(origin);
        self.trusted = origin == EditOrigin::Restored || proof.is_trusted();
        let lines = text.trim_end().contains('\n');
        self.pasted_lines = match origin {
            EditOrigin::Pasted => lines,
            _ => self.pasted_lines && lines,
        };
    }
    /// Somebody changed the field behind our back; it was put right again.
    pub fn tainted(&mut self) {
        self.revision = self.revision.next();
        self.trusted = false;
    }
    /// A row was picked by a trusted act and completed the draft to `text`.
    pub fn picked(&mut self, text: &str, _gesture: &TrustedGesture) {
        self.revision = self.revision.next();
        self.digest = Some(Digest::of(text.as_bytes()));
        self.origin = Some(EditOrigin::Typed);
        self.trusted = true;
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
        let row = shown.resolve(name)?;
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
