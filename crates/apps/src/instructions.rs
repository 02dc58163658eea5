//! Instructions: for given targets, which files apply, in which order and why, what each takes
//! of the budget, and what was left out.
//!
//! The screen drives the loader itself: each round of its needs is an ordinary file effect, so
//! what is shown is what a turn would be told, read at this moment and not from a memory of it.

use crate::desktop::{Action, Desktop, Effect, FilesId};
use crate::status::{Mount, MountState};
use ::instructions::{ConventionSet, Limits, Loader, Targets};
use ai_echo::prompt::Budget;
use kernel::mount::{MountPath, Reply, Step};
use kernel::{MountId, Refusal, clip};
use scene::{Node, NodeId, Point, Rect, Role};
use std::collections::BTreeSet;
use ui::theme::{self, BODY, CAPTION, MONO, SMALL};
use ui::widgets::{self, Kind as Button};
use ui::{Control, Field, Frame, Icon};

/// Bytes of one file that are shown here; Files shows the rest.
const SHOWN: usize = 4096;
/// Omissions that are shown.
const LEFT_OUT_SHOWN: usize = 64;

/// The field of the targets.
pub(crate) fn targets_id() -> NodeId {
    NodeId::of("instruction-targets", 0)
}
fn read_id() -> NodeId {
    NodeId::of("instruction-read", 0)
}

/// What Instructions keeps.
#[derive(Debug)]
pub(crate) struct InstructionsUi {
    targets: Field,
    mount: Option<MountId>,
    work: Option<(FilesId, Loader)>,
    found: Option<Result<ConventionSet, Refusal>>,
    open: BTreeSet<MountPath>,
}

impl Default for InstructionsUi {
    fn default() -> Self {
        Self { targets: Field::line(""), mount: None, work: None, found: None, open: BTreeSet::new() }
    }
}

impl InstructionsUi {
    pub(crate) fn field(&mut self, id: NodeId) -> Option<&mut Field> {
        (id == targets_id()).then_some(&mut self.targets)
    }
    /// Whether a round of file replies belongs to the load under way.
    pub(crate) fn waits_for(&self, id: FilesId) -> bool {
        self.work.as_ref().is_some_and(|(round, _)| *round == id)
    }
    /// Begins to read; what was found before stays on screen until the new answer is there.
    fn read(&mut self, mount: Option<&Mount>, budget: usize, id: u64, out: &mut Vec<Effect>) {
        self.work = None;
        let given: Vec<&str> = self.targets.text().split(',').map(str::trim).filter(|t| !t.is_empty()).collect();
        match Targets::resolve(mount.map(Mount::id), &MountPath::root(), &given) {
            Ok(targets) => {
                if self.mount.as_ref() != Some(targets.mount()) {
                    self.found = None;
                    self.open.clear();
                }
                self.mount = Some(targets.mount().clone());
                self.work = Some((FilesId(id), Loader::new(targets, Limits::within(budget))));
                self.step(Vec::new(), id, out);
            }
            Err(e) => self.found = Some(Err(e.into())),
        }
    }
    /// Replies of a round; `id` is the number of the next one.
    pub(crate) fn replies(&mut self, replies: Vec<Reply>, id: u64, out: &mut Vec<Effect>) {
        self.step(replies, id, out);
    }
    fn step(&mut self, replies: Vec<Reply>, id: u64, out: &mut Vec<Effect>) {
        let (Some((round, loader)), Some(mount)) = (&mut self.work, &self.mount) else { return };
        match loader.step(replies) {
            Step::Need(needs) => {
                *round = FilesId(id);
                out.push(Effect::Files { id: *round, mount: mount.clone(), needs });
            }
            Step::Done(found) => {
                self.work = None;
                self.found = Some(found.map_err(Refusal::from));
            }
        }
    }
}

impl Desktop {
    /// The mount whose instructions are shown: that of the conversation in front, else the first.
    fn instructed_mount(&self) -> Option<&Mount> {
        self.active_mount().or_else(|| self.mounts.first())
    }

    /// Reads the instructions for what stands in the field, within the budget of the model that
    /// answers in the conversation in front.
    pub(crate) fn read_instructions(&mut self, out: &mut Vec<Effect>) {
        let budget = self.agent.current().map_or(Budget::ON_DEVICE, |c| Budget::of(&c.provider)).instructions;
        let id = self.fresh_id();
        let mount = self.instructed_mount().cloned();
        self.instructions.read(mount.as_ref(), budget, id, out);
    }

    /// A file of the instructions, in Files.
    pub(crate) fn show_file(&mut self, mount: MountId, path: MountPath, out: &mut Vec<Effect>) {
        let ready = self.mounts.iter().any(|m| *m.id() == mount && m.state == MountState::Ready);
        self.launch(crate::catalogue::AppKey::Files, out);
        if self.files.mount() != Some(&mount) {
            let id = self.fresh_id();
            self.files.open_mount(mount, ready, id, out);
        }
        let id = self.fresh_id();
        self.files.open_folder(path.parent(), id, out);
        let id = self.fresh_id();
        self.files.open_file(path, id, out);
        self.focus_when_there(crate::catalogue::AppKey::Files, crate::files::text_id());
    }

    pub(crate) fn toggle_instruction(&mut self, path: MountPath) {
        let open = &mut self.instructions.open;
        if !open.remove(&path) {
            open.insert(path);
        }
    }

    /// Paints Instructions into its window's body.
    pub(crate) fn paint_instructions(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let h = f.m.control.max(36.0);
        let bar = Rect::new(rect.x, rect.y, rect.w, h + 46.0);
        f.fill(Rect::new(bar.x, bar.bottom() - 1.0, bar.w, 1.0), f.theme.line, 0.0);
        let shown = self.instructed_mount();
        let title = shown.map(|m| (m.record.title.clone(), m.state.clone()));
        let other = shown.map(Mount::id) != self.instructions.mount.as_ref() && self.instructions.mount.is_some();
        let words = match &title {
            Some((title, _)) => format!("Files that a task in {title} is about, with commas between them"),
            None => "No folder is mounted".to_owned(),
        };
        let _ = f.line(Point::new(bar.x + 16.0, bar.y + 10.0), &words, CAPTION, f.theme.muted, bar.w - 32.0);
        let label = "Show what applies";
        let bw = widgets::button_width(f, label, false);
        let field = Rect::new(bar.x + 16.0, bar.y + 32.0, (bar.w - bw - 44.0).max(60.0), h);
        let c = Control::new(Role::TextField, "Target paths").describe(words);
        self.instructions.targets.boxed(f, targets_id(), field, c, "src/main.rs", Action::Focus(targets_id()));
        let b = Rect::new(field.right() + 12.0, field.y, bw, h);
        let c = Control::button(label);
        widgets::button(f, read_id(), b, Button::Primary, None, c, Action::ReadInstructions);

        let body = Rect::new(rect.x, bar.bottom(), rect.w, rect.bottom() - bar.bottom());
        let id = NodeId::of("instruction-page", 0);
        let y = self.scrolls.get(&id).copied().unwrap_or(0.0);
        f.node(Node { id, role: Role::Region, name: "What applies".into(), rect: body, ..Node::default() });
        f.scroll(id, body, y, |f, y| {
            let top = body.y + 16.0 - y;
            let mut p = Page { x: body.x + 16.0, y: top, w: (body.w - 40.0).max(40.0) };
            match (&self.instructions.found, &title) {
                // A folder that waits for a click has instructions that nobody can see now.
                (_, Some((_, state))) if *state != MountState::Ready => {
                    p.say(f, "instruction-state", 0, "The instructions of this folder are unavailable.", false);
                    p.say(f, "instruction-state", 1, state.words(), true);
                }
                // Another conversation with another folder came to the front since.
                _ if other => p.say(f, "instruction-state", 0, "This folder has not been read yet.", true),
                (None, _) => p.say(f, "instruction-state", 0, "Reading the instructions…", true),
                (Some(Err(refusal)), _) => p.say(f, "instruction-state", 0, &refusal.plain(), false),
                (Some(Ok(set)), _) => {
                    let mount = self.instructions.mount.as_ref();
                    p.found(f, set, mount, &self.instructions.open);
                }
            }
            p.y - top + 32.0
        });
    }
}

/// A page that is written top down.
struct Page {
    x: f32,
    y: f32,
    w: f32,
}

impl Page {
    fn say(&mut self, f: &mut Frame<'_, Action>, name: &str, n: u64, text: &str, muted: bool) {
        let ink = if muted { f.theme.muted } else { f.theme.text };
        let s = f.say(NodeId::of(name, n), Point::new(self.x, self.y), text, BODY, ink, self.w);
        self.y += s.h + 8.0;
    }

    fn title(&mut self, f: &mut Frame<'_, Action>, n: u64, text: &str) {
        let at = Point::new(self.x, self.y);
        let s = f.heading(NodeId::of("instruction-title", n), at, text, theme::HEADING, 2, self.w);
        self.y += s.h + 8.0;
    }

    fn found(
        &mut self,
        f: &mut Frame<'_, Action>,
        set: &ConventionSet,
        mount: Option<&MountId>,
        open: &BTreeSet<MountPath>,
    ) {
        self.title(f, 0, "What applies, broad to specific");
        if set.blocks.is_empty() {
            self.say(f, "instruction-none", 0, "No instruction file applies to this.", false);
        } else {
            let words = format!("{} of {} bytes of this model's budget are used", set.used, set.budget);
            let percent = u8::try_from((set.used * 100 / set.budget.max(1)).min(100)).unwrap_or(100);
            let _ = f.line(Point::new(self.x, self.y), &words, SMALL, f.theme.muted, self.w);
            self.y += 22.0;
            let meter = Rect::new(self.x, self.y, self.w.min(420.0), 8.0);
            widgets::progress(f, NodeId::of("instruction-budget", 0), meter, &words, percent);
            self.y += 20.0;
        }
        let list = NodeId::of("instruction-list", 0);
        let top = self.y;
        let rect = Rect::new(self.x, top, self.w, 0.0);
        f.group(Node { id: list, role: Role::List, name: "Files that apply".into(), rect, ..Node::default() }, |f| {
            for (i, block) in (1_u64..).zip(&set.blocks) {
                let size = match block.kept == block.total {
                    true => format!("{} bytes", block.total),
                    false => format!("{} of {} bytes", block.kept, block.total),
                };
                let path = block.source.to_string();
                let why = format!("{}: {}", block.family.title(), block.why());
                self.row(f, i, (&path, &why, &size), open.contains(&block.source), &block.source, set.blocks.len());
                if open.contains(&block.source) {
                    self.text(f, i, &block.text);
                    if let Some(mount) = mount {
                        let label = "Open in Files";
                        let w = widgets::button_width(f, label, true);
                        let b = Rect::new(self.x + 12.0, self.y, w, 28.0);
                        let c = Control::button(label).describe(path);
                        let act = Action::ShowFile(mount.clone(), block.source.clone());
                        let id = NodeId::of("instruction-open", i);
                        widgets::button(f, id, b, Button::Plain, Some(Icon::File), c, act);
                        self.y += 40.0;
                    }
                }
            }
        });
        f.amend(list, |n| n.rect.h = self.y - top);
        self.y += 12.0;
        self.left_out(f, set);
    }

    fn row(
        &mut self,
        f: &mut Frame<'_, Action>,
        i: u64,
        (path, why, size): (&str, &str, &str),
        open: bool,
        source: &MountPath,
        of: usize,
    ) {
        let r = Rect::new(self.x - 8.0, self.y, self.w + 16.0, 48.0);
        let mut c = Control::button(format!("{i}. {path}")).describe(format!("{why}; {size}"));
        c.state.expanded = Some(open);
        c.state.pos_in_set = u32::try_from(i).ok();
        c.state.set_size = u32::try_from(of).ok();
        let act = Action::ToggleInstruction(source.clone());
        f.control(NodeId::of("instruction", i), r, c, Some(act), |f, look| {
            widgets::row_back(f, r, open, look);
            let sw = f.width(size, SMALL);
            let w = (r.w - sw - 40.0).max(20.0);
            let _ =
                f.line(Point::new(r.x + 8.0, r.y + 5.0), &format!("{i}. {path}"), SMALL.weight(600), f.theme.text, w);
            let _ = f.line(Point::new(r.right() - sw - 10.0, r.y + 5.0), size, SMALL, f.theme.muted, sw + 2.0);
            let _ = f.line(Point::new(r.x + 8.0, r.y + 26.0), why, CAPTION, f.theme.muted, r.w - 16.0);
        });
        self.y += 52.0;
    }

    /// A block's text as it is, with what hides in it written out.
    fn text(&mut self, f: &mut Frame<'_, Action>, i: u64, text: &str) {
        let shown = clip::reveal(text);
        let shown = clip::clip(&shown, SHOWN);
        let at = Point::new(self.x + 12.0, self.y);
        let s = f.say(NodeId::of("instruction-text", i), at, &shown, MONO, f.theme.text, self.w - 24.0);
        self.y += s.h + 8.0;
    }

    fn left_out(&mut self, f: &mut Frame<'_, Action>, set: &ConventionSet) {
        if set.omissions.is_empty() {
            return;
        }
        self.title(f, 1, "What was left out, and notes");
        let list = NodeId::of("instruction-left", 0);
        let top = self.y;
        let rect = Rect::new(self.x, top, self.w, 0.0);
        f.group(Node { id: list, role: Role::List, name: "Left out".into(), rect, ..Node::default() }, |f| {
            for (i, omission) in (0_u64..).zip(set.omissions.iter().take(LEFT_OUT_SHOWN)) {
                let ink = if omission.reason.is_cap() { f.theme.warn } else { f.theme.muted };
                let words = clip::reveal(&omission.reason.to_string()).into_owned();
                let at = Point::new(self.x, self.y);
                let path = omission.path.to_string();
                let _ = f.line(at, &path, SMALL.weight(600), f.theme.text, self.w);
                let s = f.wrapped(Point::new(at.x, at.y + 20.0), &words, SMALL, ink, self.w);
                let rect = Rect::new(at.x, at.y, self.w, s.h + 20.0);
                let name = format!("{path}: {words}");
                f.node(Node { id: NodeId::of("left-out", i), role: Role::Text, name, rect, ..Node::default() });
                self.y += s.h + 28.0;
            }
        });
        f.amend(list, |n| n.rect.h = self.y - top);
        if let Some(more) = set.omissions.len().checked_sub(LEFT_OUT_SHOWN).filter(|more| *more > 0) {
            self.say(f, "instruction-more", 0, &format!("{more} more are not shown."), true);
        }
    }
}
