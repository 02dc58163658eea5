//! How Skills looks: the catalogue at the side, one package on its sheet.

use super::SkillsUi;
use crate::desktop::{Action, Desktop};
use ::skills::diagnostic::{Code, Severity};
use ::skills::engine::Finding;
use ::skills::hidden::reveal;
use ::skills::packages::resources::Shelf;
use ::skills::packages::review::{CaseKind, CaseResult, CaseSet, ReviewState};
use ::skills::packages::{Found, RootScan, Standing, Verdict};
use ai_echo::Library;
use ai_echo::guidance::BUILT_IN;
use kernel::mount::EntryKind;
use kernel::{MountId, clip};
use scene::{Node, NodeId, Point, Rect, Rgba, Role};
use text::Wrap;
use ui::theme::{self, BODY, CAPTION, MONO, SMALL};
use ui::widgets::{self, Kind as Button};
use ui::{Control, Frame, Icon};

/// Lines laid out in one frame, so that a long file does not stop the page.
const LINES_PER_FRAME: usize = 600;
/// Findings of hidden characters that are listed; the text shows all of them.
const FINDINGS_SHOWN: usize = 32;
/// Diagnostics of a package that are listed.
const DIAGNOSTICS_SHOWN: usize = 64;
const ROW: f32 = 48.0;

/// The scrolled page of the sheet.
pub(super) fn page_id() -> NodeId {
    NodeId::of("skill-page", 0)
}

/// The whole text of a file, laid out line by line.
#[derive(Debug, Default)]
pub(super) struct Text {
    whole: String,
    lines: Vec<String>,
    /// Tops of the lines, as far as they are laid out, for a width.
    tops: Vec<f32>,
    made_for: (u32, u32),
}

impl Text {
    pub(super) fn of(text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        Self { whole: text.to_owned(), lines, tops: vec![0.0], made_for: (0, 0) }
    }
    fn complete(&self) -> bool {
        !self.tops.is_empty() && self.tops.len() > self.lines.len()
    }
    fn lay_out(&mut self, f: &mut Frame<'_, Action>, width: f32) {
        let key = (width.to_bits(), f.engine.scale().to_bits());
        if self.made_for != key {
            (self.made_for, self.tops) = (key, vec![0.0]);
        }
        let from = self.tops.len().saturating_sub(1);
        for line in self.lines.iter().skip(from).take(LINES_PER_FRAME) {
            let block = f.block(line, MONO, &[], Some(width), Wrap::Word);
            let h = f.engine.size(block).h.max(MONO.line_height);
            self.tops.push(self.tops.last().copied().unwrap_or(0.0) + h);
        }
    }
}

fn verdict_words(v: Verdict) -> &'static str {
    match v {
        Verdict::Portable => "portable",
        Verdict::Readable => "readable, not portable",
        Verdict::Unreadable => "not readable",
    }
}

/// How an entry stands, in a few words, and in which colour.
fn state_of(library: &Library, mount: &MountId, found: &Found, t: &theme::Theme) -> (String, Rgba) {
    match (library.problem(mount, found), &found.standing) {
        (None, _) => ("reviewed".to_owned(), t.good),
        (Some(why), Standing::Winner) => (why, t.warn),
        (Some(_), Standing::Shadowed(root)) => (format!("shadowed by {root}"), t.muted),
        (Some(_), Standing::Refused(code)) => match (code, found.verdict()) {
            (Code::AmbiguousCollision, _) => ("its name is taken twice".to_owned(), t.danger),
            (Code::IncompleteHigherScan, _) => ("a root above was not seen whole".to_owned(), t.danger),
            (_, Verdict::Readable) => ("usable as a portable copy".to_owned(), t.warn),
            (_, Verdict::Portable | Verdict::Unreadable) => ("cannot be used".to_owned(), t.danger),
        },
    }
}

impl Desktop {
    /// Paints Skills into its window's body.
    pub(crate) fn paint_skills(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let narrow = rect.w < 640.0;
        let side = if narrow { rect.w } else { 288.0 };
        let open = self.skills.open.is_some();
        if !narrow || !open {
            let h = if narrow { rect.h * 0.5 } else { rect.h };
            self.paint_catalogue(f, Rect::new(rect.x, rect.y, side, h));
        }
        let main = match (narrow, open) {
            (false, _) => Rect::new(rect.x + side, rect.y, rect.w - side, rect.h),
            (true, true) => rect,
            (true, false) => Rect::new(rect.x, rect.y + rect.h * 0.5, rect.w, rect.h * 0.5),
        };
        if open {
            self.paint_sheet(f, main);
        } else {
            self.paint_objective(f, main);
        }
    }

    fn paint_catalogue(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        f.fill_radii(rect, f.theme.panel, scene::Radii([0.0, 0.0, 0.0, 10.0]));
        f.fill(Rect::new(rect.right() - 1.0, rect.y, 1.0, rect.h), f.theme.line, 0.0);
        let library = self.agent.library();
        let title = library.mount().and_then(|id| self.mounts.iter().find(|m| m.id() == id)).map(|m| &m.record.title);
        let words = match title {
            Some(title) => format!("Skills in {title}"),
            None => "No folder is connected".to_owned(),
        };
        let _ = f.line(Point::new(rect.x + 16.0, rect.y + 12.0), &words, CAPTION, f.theme.muted, rect.w - 72.0);
        let b = Rect::new(rect.right() - 40.0, rect.y + 4.0, 32.0, 32.0);
        let c = Control::button("Look again").describe("reads the folder's skills anew");
        widgets::icon_button(f, NodeId::of("skills-look", 0), b, Icon::Refresh, c, Action::LookForSkills);
        let list = Rect::new(rect.x, rect.y + 40.0, rect.w - 1.0, rect.h - 40.0);
        let id = NodeId::of("skills-list", 0);
        let y = self.scrolls.get(&id).copied().unwrap_or(0.0);
        f.scroll(id, list, y, |f, y| {
            let mut at = list.y - y;
            let node = Node { id, role: Role::List, name: words, rect: list, ..Node::default() };
            f.group(node, |f| {
                let (Some(mount), Some(packages)) = (library.mount(), library.packages()) else { return };
                for (i, (root, scan)) in (0_u64..).zip(packages.roots()).filter(|(_, (_, s))| !s.is_complete()) {
                    at += unseen(f, i, &root.to_string(), scan, Point::new(list.x + 16.0, at), list.w - 32.0);
                }
                if packages.found().is_empty() {
                    let words = "There is none. A skill is a folder with a SKILL.md, for example in .agents/skills.";
                    let p = Point::new(list.x + 16.0, at + 4.0);
                    at += f.say(NodeId::of("skills-none", 0), p, words, SMALL, f.theme.muted, list.w - 32.0).h + 8.0;
                }
                let n = u32::try_from(packages.found().len()).unwrap_or(u32::MAX);
                for (i, found) in (0_u64..).zip(packages.found()) {
                    let r = Rect::new(list.x + 8.0, at, list.w - 16.0, ROW);
                    let on = self.skills.open.as_ref().is_some_and(|o| super::is(found, o.root, &o.folder));
                    row(f, i, n, r, found, state_of(library, mount, found, f.theme), on);
                    at += ROW + 2.0;
                }
            });
            at += 12.0;
            let p = Point::new(list.x + 16.0, at);
            at += f.heading(NodeId::of("skills-own", 0), p, "Part of the product", CAPTION, 3, list.w - 32.0).h + 4.0;
            for (i, own) in (0_u64..).zip(&BUILT_IN) {
                let p = Point::new(list.x + 16.0, at);
                let _ = f.line(p, &format!("/skill:{}", own.id), SMALL.weight(600), f.theme.text, list.w - 32.0);
                let p = Point::new(p.x, at + 20.0);
                let words = format!("{}. Always reviewed; its bytes ship with the shell.", own.title);
                let s = f.wrapped(p, &words, CAPTION, f.theme.muted, list.w - 32.0);
                let rect = Rect::new(list.x + 16.0, at, list.w - 32.0, 20.0 + s.h);
                let name = format!("/skill:{}: {words}", own.id);
                f.node(Node { id: NodeId::of("skills-own-row", i), role: Role::Text, name, rect, ..Node::default() });
                at += 20.0 + s.h + 8.0;
            }
            at + y - list.y + 8.0
        });
    }

    fn paint_sheet(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let library = self.agent.library();
        let Some(open) = &mut self.skills.open else { return };
        let Some(packages) = library.packages_of(&open.mount) else { return };
        let Some(found) = packages.found().iter().find(|x| super::is(x, open.root, &open.folder)) else { return };
        let foot = 56.0;
        let body = Rect::new(rect.x, rect.y, rect.w, rect.h - foot);
        let id = page_id();
        let y = self.scrolls.get(&id).copied().unwrap_or(0.0);
        let name = reveal(&found.folder).into_owned();
        f.node(Node { id, role: Role::Region, name: format!("Skill {name}"), rect: body, ..Node::default() });
        let width = (body.w - 40.0).max(40.0);
        open.text.lay_out(f, width - 64.0);
        let complete = open.text.complete() && open.work.is_none();
        let mut decidable = None;
        if let Some(sheet) = open.sheet.as_mut().filter(|_| complete) {
            sheet.laid_out(self.now);
            decidable = sheet.decidable_at();
        }
        if !open.text.complete() && open.work.is_none() && !open.bytes.is_empty() {
            f.wake(f.now);
        }
        let ready = decidable.is_some_and(|t| f.now >= t);
        if let Some(t) = decidable.filter(|_| !ready) {
            f.wake(t);
        }
        let open = &*open;
        f.scroll(id, body, y, |f, y| {
            let top = body.y + 16.0 - y;
            let mut p = Page { x: body.x + 16.0, y: top, w: width, n: 0 };
            p.head(f, &name, found, open);
            p.standing(f, library, open, found, packages.found());
            p.wrong(f, found);
            if let Some(sheet) = &open.sheet {
                p.cases(f, sheet.cases());
            }
            p.advice(f, open.advice.as_deref());
            p.hidden(f, found);
            p.shelves(f, open.shelves.as_deref());
            p.text(f, open, body);
            p.y - top + 32.0
        });
        let bar = Rect::new(rect.x, rect.bottom() - foot, rect.w, foot);
        f.fill(Rect::new(bar.x, bar.y, bar.w, 1.0), f.theme.line, 0.0);
        paint_bar(f, bar, library, &self.skills, found, ready, complete);
    }
}

/// The acts on the package: always in sight, below what they are about.
fn paint_bar(
    f: &mut Frame<'_, Action>,
    bar: Rect,
    library: &Library,
    ui: &SkillsUi,
    found: &Found,
    ready: bool,
    complete: bool,
) {
    let Some(open) = &ui.open else { return };
    let (mount, name) = (&open.mount, found.folder.clone());
    let h = 36.0;
    let y = bar.y + 10.0;
    let mut right = bar.right() - 16.0;
    let mut put = |f: &mut Frame<'_, Action>, id: &str, kind: Button, c: Control, a: Action| {
        let w = widgets::button_width(f, &c.name, false);
        right -= w;
        widgets::button(f, NodeId::of(id, 0), Rect::new(right, y, w, h), kind, None, c, a);
        right -= 8.0;
    };
    let state = found.digest().map(|d| library.reviews().state(mount, &name, d));
    let reviewed = state == Some(ReviewState::Reviewed);
    if open.sheet.is_some() && !reviewed && library.unfit(mount, found).is_none() {
        let wait =
            if complete { "can be pressed in a moment" } else { "can be pressed once the whole text is laid out" };
        let said = if ready { "lets exactly this text guide a turn when you name it; it grants nothing" } else { wait };
        let c = Control::button("Approve").describe(said).disabled(!ready);
        put(f, "skill-approve", Button::Primary, c, Action::ApproveSkill);
    }
    if library.reviews().review(mount, &name).is_some() && found.standing == Standing::Winner {
        let c = Control::button("Revoke").describe("takes the review back; the file stays as it is");
        put(f, "skill-revoke", Button::Plain, c, Action::RevokeSkill(name.clone()));
    }
    if found.standing == Standing::Winner && library.unfit(mount, found).is_none() {
        let on = library.reviews().is_enabled(mount, &name);
        let c = Control::button(if on { "Switch off" } else { "Switch on" })
            .describe("decides about its use, reviews nothing");
        put(f, "skill-enable", Button::Plain, c, Action::EnableSkill(name.clone(), !on));
    }
    if found.verdict() == Verdict::Readable && !open.bytes.is_empty() {
        let c = Control::button("Propose a portable copy")
            .describe("shows the change as a file review; nothing is written before you approve it");
        put(f, "skill-copy", Button::Primary, c, Action::CopySkill);
    }
    if found.path.is_some() && open.shelves.is_none() {
        let c = Control::button("Show its files").describe("names in references and assets, for you alone");
        put(f, "skill-files", Button::Plain, c, Action::ShowResources);
    }
    let c = Control::button("Back").describe("puts the package away");
    put(f, "skill-close", Button::Plain, c, Action::CloseSkill);
}

/// A root that was not seen whole; what lies there is not known, and not nothing.
fn unseen(f: &mut Frame<'_, Action>, i: u64, root: &str, scan: &RootScan, at: Point, w: f32) -> f32 {
    let words = format!("{root}: {}", scan.words());
    f.say(NodeId::of("skills-root", i), at, &words, CAPTION, f.theme.warn, w).h + 8.0
}

fn row(f: &mut Frame<'_, Action>, i: u64, of: u32, r: Rect, found: &Found, (state, ink): (String, Rgba), on: bool) {
    let name = clip::label(&reveal(&found.folder), 120).into_owned();
    let root = found.root.to_string();
    let verdict = verdict_words(found.verdict());
    let mut c = Control::button(format!("{name}, in {root}")).describe(format!("{verdict}; {state}"));
    c.state.pressed = Some(on);
    c.state.pos_in_set = u32::try_from(i + 1).ok();
    c.state.set_size = Some(of);
    let act = Action::OpenSkill(found.root, found.folder.clone());
    f.control(NodeId::of("skill", i), r, c, Some(act), |f, look| {
        widgets::row_back(f, r, on, look);
        let loser = matches!(found.standing, Standing::Shadowed(_));
        let text = if loser { f.theme.muted } else { f.theme.text };
        let rw = f.width(&root, CAPTION);
        let _ = f.line(Point::new(r.x + 8.0, r.y + 5.0), &name, SMALL.weight(600), text, r.w - rw - 24.0);
        let _ = f.line(Point::new(r.right() - rw - 8.0, r.y + 7.0), &root, CAPTION, f.theme.muted, rw + 2.0);
        f.fill(Rect::new(r.x + 8.0, r.y + 31.0, 6.0, 6.0), ink, 3.0);
        let words = if found.verdict() == Verdict::Portable { state.clone() } else { format!("{verdict}; {state}") };
        let _ = f.line(Point::new(r.x + 20.0, r.y + 26.0), &words, CAPTION, f.theme.muted, r.w - 28.0);
    });
}

/// A page that is written top down.
struct Page {
    x: f32,
    y: f32,
    w: f32,
    n: u64,
}

impl Page {
    fn say(&mut self, f: &mut Frame<'_, Action>, text: &str, style: ::text::TextStyle, ink: Rgba) {
        self.n += 1;
        let s = f.say(NodeId::of("skill-say", self.n), Point::new(self.x, self.y), text, style, ink, self.w);
        self.y += s.h + 6.0;
    }

    fn title(&mut self, f: &mut Frame<'_, Action>, text: &str) {
        self.n += 1;
        self.y += 10.0;
        let at = Point::new(self.x, self.y);
        let s = f.heading(NodeId::of("skill-title", self.n), at, text, theme::TITLE, 3, self.w);
        self.y += s.h + 6.0;
    }

    fn head(&mut self, f: &mut Frame<'_, Action>, name: &str, found: &Found, open: &super::Open) {
        let at = Point::new(self.x, self.y);
        let s = f.heading(NodeId::of("skill-name", 0), at, name, theme::HEADING, 2, self.w);
        self.y += s.h + 4.0;
        if let Some(path) = &found.path {
            let act = Action::ShowFile(open.mount.clone(), path.clone());
            let at = Point::new(self.x, self.y);
            let r = widgets::link(f, NodeId::of("skill-file", 0), at, &found.place(), SMALL, act);
            self.y += r.h + 8.0;
        }
        if let Some(m) = found.inspection.as_ref().and_then(|i| i.manifest.as_ref()) {
            let said = reveal(&m.description).into_owned();
            self.say(f, &said, BODY, f.theme.text);
        }
        if open.anew {
            self.say(f, "The file changed while it was shown: this is what it says now.", SMALL, f.theme.warn);
        }
        if let Some(refusal) = &open.refused {
            self.say(f, &refusal.plain(), SMALL, f.theme.danger);
        }
    }

    fn standing(
        &mut self,
        f: &mut Frame<'_, Action>,
        library: &Library,
        open: &super::Open,
        found: &Found,
        all: &[Found],
    ) {
        let (state, ink) = state_of(library, &open.mount, found, f.theme);
        let verdict = verdict_words(found.verdict());
        let version = found.inspection.as_ref().and_then(|i| i.manifest.as_ref()?.version().map(str::to_owned));
        let version = version.map_or(String::new(), |v| format!(" Version {}.", clip::label(&reveal(&v), 40)));
        self.say(f, &format!("It is {verdict}; {state}.{version}"), SMALL.weight(600), ink);
        if let Some(why) = library.unfit(&open.mount, found) {
            self.say(f, &clip::reveal(&why), SMALL, f.theme.muted);
        }
        for other in all.iter().filter(|o| o.folder == found.folder && o.root != found.root) {
            let words = match (&found.standing, &other.standing) {
                (Standing::Shadowed(root), _) if *root == other.root => {
                    format!("{} comes first for this name.", other.place())
                }
                (_, Standing::Shadowed(_)) => format!("{} has the same name and comes after.", other.place()),
                _ => continue,
            };
            self.say(f, &words, SMALL, f.theme.muted);
        }
        if let Some(review) = library.reviews().review(&open.mount, &found.folder) {
            let clean = if review.clean { "" } else { "; characters hid in it" };
            let words = format!("Approved by {}: sha256 {}{clean}.", review.reviewer, review.digest.short());
            self.say(f, &words, SMALL, f.theme.muted);
        }
        if let Some(digest) = found.digest() {
            self.say(f, &format!("sha256 {}", digest.hex()), MONO, f.theme.muted);
        }
        let hints = found.inspection.as_ref().and_then(|i| i.manifest.as_ref()).map(|m| &m.tool_hints[..]);
        if let Some(hints) = hints.filter(|h| !h.is_empty()) {
            let list = clip::clip(&reveal(&hints.join(", ")), 1024).into_owned();
            let words = format!("It asks for these tools, which gives it none of them: {list}");
            self.say(f, &words, SMALL, f.theme.warn);
        }
    }

    fn wrong(&mut self, f: &mut Frame<'_, Action>, found: &Found) {
        if found.diagnostics.is_empty() {
            return;
        }
        self.title(f, "What is worth knowing about it");
        let list = NodeId::of("skill-wrong", 0);
        let top = self.y;
        let rect = Rect::new(self.x, top, self.w, 0.0);
        f.group(Node { id: list, role: Role::List, name: "Diagnostics".into(), rect, ..Node::default() }, |f| {
            for (i, d) in (0_u64..).zip(found.diagnostics.iter().take(DIAGNOSTICS_SHOWN)) {
                let (word, ink) = match d.severity {
                    Severity::Note => ("note", f.theme.muted),
                    Severity::Warning => ("warning", f.theme.warn),
                    Severity::NotPortable => ("not portable", f.theme.warn),
                    Severity::Unreadable => ("not readable", f.theme.danger),
                };
                let place = d.at.map_or(String::new(), |at| format!("line {}, column {}: ", at.line, at.column));
                let head = format!("{place}{}, {word}", d.code.name());
                let text = format!("{}; {}.", d.cause, d.fix);
                let at = Point::new(self.x, self.y);
                let _ = f.line(at, &head, CAPTION, ink, self.w);
                let s = f.wrapped(Point::new(at.x, at.y + 16.0), &text, SMALL, f.theme.text, self.w);
                let rect = Rect::new(at.x, at.y, self.w, s.h + 16.0);
                let name = format!("{head}: {text}");
                f.node(Node { id: NodeId::of("skill-diagnostic", i), role: Role::Text, name, rect, ..Node::default() });
                self.y += s.h + 22.0;
            }
        });
        f.amend(list, |n| n.rect.h = self.y - top);
        if let Some(more) = found.diagnostics.len().checked_sub(DIAGNOSTICS_SHOWN).filter(|m| *m > 0) {
            self.say(f, &format!("{more} more are not shown."), SMALL, f.theme.muted);
        }
    }

    fn cases(&mut self, f: &mut Frame<'_, Action>, cases: &CaseSet) {
        let mut words = vec![];
        for kind in CaseKind::ALL {
            let name = match kind {
                CaseKind::Positive => "asked for",
                CaseKind::NearMiss => "near miss",
                CaseKind::Quoted => "quoted",
                CaseKind::CodeBlock => "in code",
                CaseKind::Negated => "denied",
                CaseKind::WrongPath => "wrong path",
                CaseKind::MissingTool => "missing tool",
            };
            words.push(match cases.get(kind) {
                Some(CaseResult::Ran { passed, failed }) => {
                    format!("{name} {passed} of {}", passed.saturating_add(failed))
                }
                Some(CaseResult::NotApplicable) => format!("{name} does not apply"),
                None => format!("{name} not tried"),
            });
        }
        let ink = if cases.failed() > 0 { f.theme.warn } else { f.theme.muted };
        self.say(f, &format!("Tried with objectives: {}.", words.join(", ")), SMALL, ink);
    }

    /// What the authoring rules say: advice, which keeps nothing from its review.
    fn advice(&mut self, f: &mut Frame<'_, Action>, advice: Option<&[Finding]>) {
        match advice {
            None => {}
            Some([]) => self.say(f, "The authoring rules find nothing to better.", SMALL, f.theme.muted),
            Some(all) => {
                self.title(f, "Advice for its author");
                for finding in all {
                    let line = finding.line.map_or(String::new(), |n| format!("line {n} of the body: "));
                    let words = format!("• {line}{}; {}.", clip::reveal(&finding.cause), finding.fix);
                    self.say(f, &words, SMALL, f.theme.muted);
                }
            }
        }
    }

    /// What lies in `references/` and `assets/`, where a person asked to see it.
    fn shelves(&mut self, f: &mut Frame<'_, Action>, shelves: Option<&[Shelf]>) {
        let Some(shelves) = shelves else { return };
        self.title(f, "What lies beside it");
        let words = "Names for you to see. None of it is opened, run, or told to a model.";
        self.say(f, words, SMALL, f.theme.muted);
        if shelves.is_empty() {
            self.say(f, "There is no references or assets folder.", SMALL, f.theme.muted);
        }
        for shelf in shelves {
            if let Some(why) = &shelf.failed {
                self.say(f, &format!("{}/ cannot be listed: {why}", shelf.folder), SMALL, f.theme.warn);
                continue;
            }
            let many = if shelf.truncated { ", cut" } else { "" };
            self.say(f, &format!("{}/ ({}{many})", shelf.folder, shelf.entries.len()), SMALL.weight(600), f.theme.text);
            for entry in &shelf.entries {
                let size = entry.size.map_or(String::new(), |n| format!(", {}", ai_echo::tools::size_words(n)));
                let kind = match entry.kind {
                    EntryKind::File => "",
                    EntryKind::Folder => "/",
                    EntryKind::Link => ", a link",
                };
                self.say(f, &format!("{}{kind}{size}", entry.name), SMALL, f.theme.muted);
            }
        }
    }

    fn hidden(&mut self, f: &mut Frame<'_, Action>, found: &Found) {
        let Some(findings) = found.inspection.as_ref().map(|i| &i.findings).filter(|x| !x.is_clean()) else { return };
        self.title(f, &format!("What hides in it: {}", findings.total));
        for run in findings.runs.iter().take(FINDINGS_SHOWN) {
            let spells = match run.spells.as_str() {
                "" => String::new(),
                spells => format!("; they spell “{spells}”"),
            };
            let at = format!("line {}, column {}", run.at.line, run.at.column);
            self.say(f, &format!("{at}: {}, {}{spells}", run.written(), run.kind.words()), SMALL, f.theme.warn);
        }
    }

    /// The whole file, hidden characters written out.
    fn text(&mut self, f: &mut Frame<'_, Action>, open: &super::Open, body: Rect) {
        self.title(f, "The whole text");
        if open.work.is_some() {
            return self.say(f, "Reading the file…", SMALL, f.theme.muted);
        }
        if open.bytes.is_empty() {
            return self.say(f, "There is no text to show.", SMALL, f.theme.muted);
        }
        let (tops, top) = (&open.text.tops, self.y);
        let total = tops.last().copied().unwrap_or(0.0);
        let rect = Rect::new(self.x, top, self.w, total + 16.0);
        f.bordered(rect, f.theme.code, 6.0, f.theme.hairline());
        f.node(Node {
            id: NodeId::of("skill-text", 0),
            role: Role::Code,
            name: "The whole text".into(),
            value: open.text.whole.clone(),
            rect,
            ..Node::default()
        });
        let start = top + 8.0;
        let first = tops.partition_point(|t| start + *t <= body.y).saturating_sub(1);
        let laid_out = tops.len().saturating_sub(1);
        for (i, (line, top)) in open.text.lines.iter().zip(tops).take(laid_out).enumerate().skip(first) {
            let at = start + *top;
            if at > body.bottom() {
                break;
            }
            let number = (i + 1).to_string();
            let _ = f.line(Point::new(self.x + 8.0, at), &number, MONO, f.theme.muted, 40.0);
            let block = f.block(line, MONO, &[], Some(self.w - 64.0), Wrap::Word);
            let _ = f.run(block, Point::new(self.x + 52.0, at), f.theme.text);
        }
        self.y = rect.bottom() + 8.0;
    }
}
