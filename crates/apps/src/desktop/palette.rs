//! The palette: rows of the live catalogue on `/` in the composer, or on Ctrl/Cmd+K over the
//! desk with its own field (decision 17).

use super::{Action, Desktop, Effect};
use crate::catalogue::{AppKey, ShellCommand};
use crate::desktop::action::Section;
use crate::echo::{Notice, composer_id};
use kernel::authority::Proof;
use kernel::slash::{
    ArgHint, Catalog, Draft, EditOrigin, Hit, LocalDispatch, SHOWN_MAX, Shape, Situation, SlashRefusal, SlashRow,
    Submission, classify, hint,
};
use kernel::{Refusal, Rev};
use scene::{Node, NodeId, Point, Rect, Role, State};
use std::rc::Rc;
use ui::theme::{BODY, CAPTION, MONO, SMALL};
use ui::{Control, Field, Frame, Icon, widgets};

/// Heights of the hint, of the line of keys below, and of the edges, logical pixels.
const HINT: f32 = 56.0;
const FOOT: f32 = 28.0;
const EDGE: f32 = 12.0;

/// The listbox's node.
pub(crate) fn list_id() -> NodeId {
    NodeId::of("palette", 0)
}
/// The search field of the centered palette.
pub(crate) fn field_id() -> NodeId {
    NodeId::of("palette-field", 0)
}
fn row_id(canonical: &str) -> NodeId {
    NodeId::of(canonical, 7)
}

/// Where the palette hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Above the composer, over its draft.
    Anchored,
    /// Over the desk, with its own field and draft.
    Centered,
}

/// A list that a person could see: the text it belongs to, and the row that was selected.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    rev: Rev,
    row: Option<String>,
}

/// What the palette keeps.
#[derive(Debug, Default)]
pub(crate) struct Palette {
    pub mode: Option<Mode>,
    pub field: Field,
    draft: Draft,
    hits: Vec<Hit>,
    /// The row whose name is finished, and its hint.
    args: Option<(SlashRow, ArgHint)>,
    selected: usize,
    /// The person moved the selection: it stays on its row while the list still holds it.
    chosen: Option<String>,
    /// The revision of the text that the list belongs to.
    list_rev: Rev,
    /// What was painted last, and what was on screen last, once the loop tells it
    /// ([`Desktop::presented`]).
    seen: Option<Seen>,
    presented: Option<Option<Seen>>,
    /// The catalogue that was painted: what a pick refers to.
    painted: Option<Rc<Catalog>>,
    /// Closed by Esc for this revision of the text.
    dismissed: Option<Rev>,
    back: Option<NodeId>,
    affordances: Option<std::collections::BTreeSet<String>>,
    place: Rect,
    top: usize,
}

impl Palette {
    pub(crate) fn is_anchored(&self) -> bool {
        self.mode == Some(Mode::Anchored)
    }
    pub(crate) fn is_centered(&self) -> bool {
        self.mode == Some(Mode::Centered)
    }
    pub(crate) fn is_open(&self) -> bool {
        self.mode.is_some()
    }
    pub(crate) fn covers(&self, p: Point) -> bool {
        self.mode.is_some() && self.place.contains(p)
    }
    pub(crate) fn situation_changed(&self, now: &Situation) -> bool {
        self.affordances.as_ref() != Some(&now.affordances)
    }
    pub(crate) fn remember(&mut self, now: Situation) {
        self.affordances = Some(now.affordances);
    }
    /// The painted node of the selected row.
    pub(crate) fn active_node(&self) -> Option<NodeId> {
        if let Some((row, h)) = &self.args {
            let v = h.completions.get(self.selected).filter(|_| self.chosen.is_some())?;
            return Some(NodeId::of(&format!("{} {v}", row.canonical), 8));
        }
        let c = self.painted.as_ref()?;
        self.hits.get(self.selected).and_then(|h| c.rows.get(h.row)).map(|r| row_id(&r.canonical))
    }
    fn len(&self) -> usize {
        match &self.args {
            Some((_, h)) => h.completions.len(),
            None => self.hits.len(),
        }
    }
}

impl Desktop {
    fn palette_text(&self) -> String {
        if self.palette.is_centered() {
            let t = self.palette.field.text();
            if t.starts_with('/') { t.to_owned() } else { format!("/{t}") }
        } else {
            self.echo.composer.text().to_owned()
        }
    }

    /// The list follows the text and the catalogue. `edited`: by the person's edit, which puts
    /// the selection back on the best row.
    pub(crate) fn refresh_palette(&mut self, edited: bool) {
        let centered = self.palette.is_centered();
        let rev = if centered { self.palette.draft.revision() } else { self.echo.draft.revision() };
        if edited {
            self.palette.chosen = None;
            self.palette.selected = 0;
            self.palette.top = 0;
            // Esc was about the text as it was.
            self.palette.dismissed = None;
        }
        self.palette.list_rev = rev;
        let text = self.palette_text();
        let shape = classify(&text);
        if !centered {
            let wanted = matches!(shape, Shape::Command { .. }) && self.palette.dismissed != Some(rev);
            let here = self.focus == Some(composer_id()) || self.palette.is_anchored();
            if !(wanted && here) {
                if self.palette.is_anchored() {
                    self.palette.mode = None;
                    self.palette.seen = None;
                }
                return;
            }
            self.palette.mode = Some(Mode::Anchored);
        }
        self.palette.args = None;
        match shape {
            Shape::Command { name, rest, finished: true } => {
                self.palette.hits.clear();
                if let Ok(row) = self.catalog.resolve(name) {
                    let h = hint(&self.kernel, row, rest);
                    self.palette.args = Some((row.clone(), h));
                } else {
                    // “new conv” is not a name with an argument: search for all of it.
                    self.palette.hits = self.search.search(&self.catalog, text[1..].trim(), &self.recency);
                }
            }
            Shape::Command { name, .. } => {
                self.palette.hits = self.search.search(&self.catalog, name, &self.recency);
            }
            Shape::NotCommand(_) | Shape::Plain => {
                let query = text.trim_start_matches('/').trim().to_owned();
                self.palette.hits = self.search.search(&self.catalog, &query, &self.recency);
            }
        }
        self.palette.hits.truncate(SHOWN_MAX);
        // A row that the person chose keeps the selection while it is there.
        if let Some(c) = &self.palette.chosen {
            let at = self.palette.hits.iter().position(|h| self.catalog.rows[h.row].canonical == *c);
            self.palette.selected = at.unwrap_or(self.palette.selected);
        }
        self.palette.selected = self.palette.selected.min(self.palette.len().saturating_sub(1));
    }

    pub(crate) fn open_palette(&mut self) {
        if self.palette.is_centered() {
            self.close_palette();
            return;
        }
        self.palette.back = self.focus;
        self.palette.mode = Some(Mode::Centered);
        self.palette.field = Field::line("");
        self.palette.draft = Draft::default();
        self.launcher = false;
        self.echo.menu = None;
        self.set_focus(Some(field_id()));
        self.refresh_palette(true);
    }

    /// The anchored palette stays away until the draft is edited.
    pub(crate) fn hush_palette(&mut self) {
        self.palette.dismissed = Some(self.echo.draft.revision());
        self.refresh_palette(false);
    }

    /// What an open hint takes from the room above the composer, so that it covers no answer.
    pub(crate) fn hint_room(&self) -> f32 {
        let hint = self.palette.is_anchored() && self.palette.args.is_some() && self.palette.len() == 0;
        if hint { HINT + FOOT + EDGE + 8.0 } else { 0.0 }
    }

    pub(crate) fn close_palette(&mut self) {
        if self.palette.is_centered() {
            self.palette.mode = None;
            self.palette.seen = None;
            let back = self.palette.back.take();
            self.set_focus(back);
            self.refresh_palette(false);
        } else if self.palette.is_anchored() {
            self.palette.dismissed = Some(self.echo.draft.revision());
            self.palette.mode = None;
            self.palette.seen = None;
        }
    }

    /// An edit of the centered palette's field.
    pub(crate) fn palette_edited(&mut self, origin: EditOrigin, proof: &Proof, tainted: bool) {
        let text = self.palette_text();
        self.palette.draft.edited(&text, origin, proof);
        if tainted {
            self.palette.draft.tainted();
        }
        self.refresh_palette(true);
    }

    pub(crate) fn palette_move(&mut self, by: isize) {
        let n = self.palette.len();
        if n == 0 {
            return;
        }
        let fresh = self.palette.args.is_some() && self.palette.chosen.is_none();
        let at = if fresh && by > 0 {
            0
        } else {
            let last = n as isize - 1;
            let to = self.palette.selected as isize + by;
            // One step wraps around; a page stops at the end.
            (if by.abs() == 1 { to.rem_euclid(n as isize) } else { to.clamp(0, last) }) as usize
        };
        self.palette.selected = at;
        self.palette.chosen = match &self.palette.args {
            Some((_, h)) => h.completions.get(at).cloned(),
            None => self.palette.hits.get(at).map(|h| self.catalog.rows[h.row].canonical.clone()),
        };
    }

    fn selected_row(&self) -> Option<String> {
        self.palette.hits.get(self.palette.selected).map(|h| self.catalog.rows[h.row].canonical.clone())
    }

    /// Tab: completes the draft to the selected row or value.
    pub(crate) fn palette_complete(&mut self, proof: Proof, out: &mut Vec<Effect>) {
        if let Some((_, h)) = &self.palette.args {
            if let Some(v) = h.completions.get(self.palette.selected).cloned() {
                self.complete_value(&v, proof, out);
            }
            return;
        }
        if let Some(row) = self.selected_row() {
            self.complete_to(&row, proof, out);
        }
    }

    /// Puts `canonical ` into the text whose palette this is, as a pick.
    fn complete_to(&mut self, canonical: &str, proof: Proof, out: &mut Vec<Effect>) {
        let Proof::Trusted(gesture) = proof else {
            self.untrusted("A pick");
            return;
        };
        let takes = self.catalog.get(canonical).is_some_and(|r| !r.args.is_empty());
        let text = if takes { format!("{canonical} ") } else { canonical.to_owned() };
        let now = self.now.mono_ms;
        if self.palette.is_centered() {
            self.palette.field.set(&text, now);
            self.palette.draft.picked(&text, &gesture);
        } else {
            self.echo.composer.set(&text, now);
            self.echo.draft.picked(&text, &gesture);
            self.echo.notice = None;
            self.draft_changed(out);
        }
        self.refresh_palette(true);
    }

    pub(crate) fn complete_value(&mut self, value: &str, proof: Proof, out: &mut Vec<Effect>) {
        let Proof::Trusted(gesture) = proof else {
            self.untrusted("A pick");
            return;
        };
        let Some((_, h)) = &self.palette.args else { return };
        let mut text = self.palette_text();
        text.truncate(text.len() - h.typed.len());
        text.push_str(value);
        let now = self.now.mono_ms;
        if self.palette.is_centered() {
            self.palette.field.set(&text, now);
            self.palette.draft.picked(&text, &gesture);
        } else {
            self.echo.composer.set(&text, now);
            self.echo.draft.picked(&text, &gesture);
            self.draft_changed(out);
        }
        self.refresh_palette(true);
    }

    /// Enter in the palette: the selected row, where this text's list was on screen, or an
    /// earlier one with that same row selected; else the text itself, exactly (field 3H1, 3H2).
    pub(crate) fn palette_enter(&mut self, proof: Proof, out: &mut Vec<Effect>) {
        if self.palette.args.is_some() {
            let value = self.palette.chosen.clone().filter(|_| self.palette.len() > 0);
            match value {
                Some(v) => self.complete_value(&v, proof, out),
                None => self.submit(proof, out),
            }
            return;
        }
        let row = self.selected_row();
        let seen = self.palette.presented.as_ref().unwrap_or(&self.palette.seen).as_ref();
        let shown = seen.is_some_and(|s| s.rev == self.palette.list_rev || s.row == row);
        match row {
            Some(row) if shown => self.pick(&row, proof, out),
            _ => self.submit(proof, out),
        }
    }

    /// The last view is on screen. From the first call on, Enter picks a row only of a list
    /// that was really shown; painting alone no longer counts (field 3H2).
    pub fn presented(&mut self) {
        self.palette.presented = Some(self.palette.seen.clone());
    }

    /// A row was picked by key, press or touch.
    pub(crate) fn pick(&mut self, canonical: &str, proof: Proof, out: &mut Vec<Effect>) {
        let painted = self.palette.painted.clone().unwrap_or_else(|| Rc::clone(&self.catalog));
        let row = painted.get(canonical).or_else(|| self.catalog.get(canonical)).cloned();
        let Some(row) = row else {
            self.say_refused(SlashRefusal::SlashUnknown(canonical.to_owned()), false);
            return;
        };
        let Proof::Trusted(gesture) = proof else {
            self.untrusted("A pick");
            return;
        };
        let now = self.situation();
        // A late pick of a row that is gone, off or different is refused with its reason.
        if let Err(e) = Catalog::revalidate(&self.kernel, &now, &row) {
            self.say_refused(e, false);
            return;
        }
        if !row.runs_on_pick() {
            self.complete_to(canonical, Proof::Trusted(gesture), out);
            return;
        }
        match Draft::run(&self.kernel, &now, &row, &gesture) {
            Ok(s) => {
                self.used(canonical);
                self.clear_palette_text(out);
                self.submitted(s, out);
            }
            Err(e) => self.say_refused(e, false),
        }
    }

    /// Submits the text of the composer, or of the centered palette.
    pub(crate) fn submit(&mut self, proof: Proof, out: &mut Vec<Effect>) {
        let centered = self.palette.is_centered();
        let text = self.palette_text();
        if text.trim().is_empty() || (centered && text.trim() == "/") {
            return;
        }
        if !centered && self.echo.composer.buffer.composing().is_some() {
            return;
        }
        let now = self.situation();
        let shown = self.palette.painted.clone().filter(|_| self.palette.mode.is_some());
        let draft = if centered { &self.palette.draft } else { &self.echo.draft };
        let live = Rc::clone(&self.catalog);
        let mut result = draft.submit(&text, &proof, &self.kernel, &now, shown.as_deref().unwrap_or(&live));
        if matches!(result, Err(SlashRefusal::SlashUnknown(_))) && shown.is_some() {
            result = draft.submit(&text, &proof, &self.kernel, &now, &live);
        }
        match result {
            Ok(s) => {
                if let Shape::Command { name, .. } = classify(&text)
                    && let Ok(r) = live.resolve(name)
                {
                    let canonical = r.canonical.clone();
                    self.used(&canonical);
                }
                let local = matches!(s, Submission::Local(_));
                if local || centered {
                    self.clear_palette_text(out);
                }
                self.submitted(s, out);
            }
            Err(e) => {
                let unknown = matches!(e, SlashRefusal::SlashUnknown(_));
                self.say_refused(e, unknown && !centered);
            }
        }
    }

    fn used(&mut self, canonical: &str) {
        self.uses += 1;
        self.recency.insert(canonical.to_owned(), self.uses);
    }

    fn clear_palette_text(&mut self, out: &mut Vec<Effect>) {
        if self.palette.is_centered() {
            self.close_palette();
        } else {
            self.echo.composer.reset("");
            self.echo.draft = Draft::default();
            self.echo.notice = None;
            self.draft_changed(out);
            self.refresh_palette(true);
        }
    }

    /// Says a refusal where the person looks: above the composer, in the status, in the ring.
    pub(crate) fn say_refused(&mut self, e: SlashRefusal, send_as_text: bool) {
        let words = match &e {
            SlashRefusal::SlashUnknown(what) => format!("{what} is not a command. The draft is still here."),
            other => {
                let mut t = other.to_string();
                if let Some(first) = t.get(..1) {
                    let upper = first.to_uppercase();
                    t.replace_range(..1, &upper);
                }
                t + "."
            }
        };
        self.refuse(Refusal::from(e));
        self.status.clone_from(&words);
        if !self.palette.is_centered() {
            self.echo.notice = Some(Notice { text: words, send_as_text });
            if send_as_text {
                self.close_palette();
            }
        }
    }

    /// What a submission leads to.
    pub(crate) fn submitted(&mut self, s: Submission, out: &mut Vec<Effect>) {
        match s {
            Submission::Text(t) => self.send(ai_echo::Submission::Plain(t), out),
            Submission::Turn(t) => self.send(ai_echo::Submission::Turn(t), out),
            Submission::Local(d) => self.local(d, out),
        }
    }

    /// `/app`, `/action`, `/go`, `/cmd`: act here, never reach a model (I-153).
    fn local(&mut self, d: LocalDispatch, out: &mut Vec<Effect>) {
        self.status.clear();
        match d {
            LocalDispatch::OpenApp(app) => {
                if let Some(k) = AppKey::of(app.as_str()) {
                    self.launch(k, out);
                }
            }
            LocalDispatch::Go(app, view) => {
                if let (Some(AppKey::Settings), Some(s)) = (AppKey::of(app.as_str()), Section::of(view.as_str())) {
                    self.go_section(s, out);
                }
            }
            LocalDispatch::Action(app, action) => match (AppKey::of(app.as_str()), action.as_str()) {
                (Some(AppKey::Echo), "new-conversation") => self.new_conversation(out),
                (Some(AppKey::Echo), "stop") => self.stop(out),
                (Some(AppKey::Echo), "find") => self.open_find(),
                (Some(AppKey::Echo), "export") => self.export(out),
                (Some(AppKey::Echo), "toggle-list") => self.toggle_side(out),
                (Some(AppKey::Files), "mount-folder") => out.push(Effect::PickFolder),
                (Some(AppKey::Files), "refresh") => {
                    self.launch(AppKey::Files, out);
                    self.refresh_files(out);
                }
                (Some(AppKey::Instructions), "read") => {
                    self.launch(AppKey::Instructions, out);
                    self.read_instructions(out);
                }
                (Some(AppKey::Skills), "look") => {
                    self.launch(AppKey::Skills, out);
                    self.look_for_skills(out);
                }
                _ => {
                    let what = format!("/action:{app}:{action}");
                    self.say_refused(SlashRefusal::SlashUnknown(what), false);
                }
            },
            LocalDispatch::Command(r, args) => match ShellCommand::of(r.name.as_str()) {
                Some(c) => self.command(c, args.first().map_or("", String::as_str), out),
                None => self.say_refused(SlashRefusal::SlashUnknown(format!("/cmd:{}", r.name)), false),
            },
        }
    }

    // ---- paint ---------------------------------------------------------------------------

    /// Paints the palette over everything.
    pub(crate) fn paint_palette(&mut self, f: &mut Frame<'_, Action>) {
        let Some(mode) = self.palette.mode else {
            self.palette.painted = None;
            return;
        };
        let row = if f.env.coarse { 52.0 } else { 44.0 };
        let n = self.palette.len();
        let screen = f.screen();
        let (head, foot) = (if mode == Mode::Centered { 52.0 } else { 0.0 }, FOOT);
        let hint_h = if self.palette.args.is_some() { HINT } else { 0.0 };
        let empty_h = if n == 0 && self.palette.args.is_none() { 64.0 } else { 0.0 };
        let (x, w, bottom, room) = match mode {
            Mode::Anchored => {
                let Some(c) = self.composer_rect else { return };
                (c.x, c.w, Some(c.y - 8.0), c.y - 56.0)
            }
            Mode::Centered => {
                let w = (screen.w - 24.0).min(680.0);
                (((screen.w - w) / 2.0).round(), w, None, screen.h * 0.7)
            }
        };
        let fit = ((room - head - foot - hint_h - EDGE) / row).floor().max(2.0) as usize;
        let shown = n.min(fit).min(if mode == Mode::Centered { 9 } else { 8 });
        let h = head + hint_h + empty_h + shown as f32 * row + foot + EDGE;
        let y = bottom.map_or_else(|| (screen.h * 0.12).max(48.0).min((screen.h - h - 12.0).max(8.0)), |b| b - h);
        let rect = Rect::new(x, y.round().max(4.0), w, h);
        self.palette.place = rect;
        self.palette.top = self.palette.top.min(n.saturating_sub(shown));
        if self.palette.selected < self.palette.top {
            self.palette.top = self.palette.selected;
        } else if shown > 0 && self.palette.selected >= self.palette.top + shown {
            self.palette.top = self.palette.selected + 1 - shown;
        }
        if mode == Mode::Centered {
            f.layer("veil", 0, screen);
            f.fill(screen, scene::Rgba::hex(0).alpha(if f.theme.dark { 0.45 } else { 0.18 }), 0.0);
            f.opaque(NodeId::of("desktop", 0), screen);
        }
        f.layer("palette", 0, rect.inset(-40.0, -40.0));
        f.opaque(list_id(), rect);
        widgets::card(f, rect, f.theme.raised, 12.0, f.theme.hairline(), true);
        let mut top = rect.y + 6.0;
        if mode == Mode::Centered {
            let field = Rect::new(rect.x + 44.0, rect.y + 8.0, rect.w - 60.0, 40.0);
            ui::icons::icon(f, Icon::Search, Rect::new(rect.x + 12.0, rect.y + 8.0, 28.0, 40.0), f.theme.muted);
            let mut c = Control::new(Role::Combobox, "Search commands");
            c.state.expanded = Some(true);
            c.state.controls = Some(list_id());
            c.state.active_descendant = self.palette.active_node();
            let id = field_id();
            self.palette.field.paint(
                f,
                id,
                field,
                Point::new(4.0, 8.0),
                ui::theme::READING,
                c,
                "Search apps, actions, tools and skills",
                Action::Focus(id),
            );
            f.fill(Rect::new(rect.x + 1.0, rect.y + head, rect.w - 2.0, 1.0), f.theme.line, 0.0);
            top += head;
        }
        if let Some((row, h)) = &self.palette.args {
            paint_hint(f, Rect::new(rect.x + 16.0, top, rect.w - 32.0, hint_h), row, h);
            top += hint_h;
        }
        let node = Node {
            id: list_id(),
            role: Role::Listbox,
            name: "Commands".into(),
            rect,
            state: State { set_size: u32::try_from(n).ok(), ..State::default() },
            ..Node::default()
        };
        let catalog = Rc::clone(&self.catalog);
        f.group(node, |f| {
            for i in self.palette.top..self.palette.top + shown {
                let r = Rect::new(rect.x + 6.0, top + (i - self.palette.top) as f32 * row, rect.w - 12.0, row);
                let state = State {
                    pos_in_set: u32::try_from(i + 1).ok(),
                    set_size: u32::try_from(n).ok(),
                    ..State::default()
                };
                if let Some((of, h)) = &self.palette.args {
                    let Some(v) = h.completions.get(i) else { continue };
                    let on = self.palette.chosen.as_ref() == Some(v);
                    let id = NodeId::of(&format!("{} {v}", of.canonical), 8);
                    let mut c = Control::new(Role::Option, v.clone()).skipped();
                    c.state = State { selected: Some(on), ..state };
                    f.control(id, r, c, Some(Action::Complete(v.clone())), |f, look| {
                        widgets::row_back(f, r, on, look);
                        let _ =
                            f.line(Point::new(r.x + 14.0, r.y + (row - 20.0) / 2.0), v, MONO, f.theme.text, r.w - 28.0);
                    });
                } else if let Some(hit) = self.palette.hits.get(i) {
                    paint_row(f, r, &catalog.rows[hit.row], hit, i == self.palette.selected, state);
                }
            }
        });
        top += shown as f32 * row;
        if empty_h > 0.0 {
            let text = self.palette_text();
            let what = kernel::clip::label(text.trim(), 60).into_owned();
            let at = Point::new(rect.x + 18.0, top + 10.0);
            let words = format!("No command matches “{what}”.");
            let s = f.say(NodeId::of("palette-empty", 0), at, &words, BODY, f.theme.text, rect.w - 36.0);
            let todo = if mode == Mode::Centered {
                "Try fewer letters, or a word like app, tool or theme."
            } else {
                "Try fewer letters. Enter keeps the draft and offers to send it as text."
            };
            let at = Point::new(at.x, at.y + s.h + 2.0);
            f.say(NodeId::of("palette-empty", 1), at, todo, SMALL, f.theme.muted, rect.w - 36.0);
        }
        let left = if self.catalog.left_out > 0 {
            format!("{} more are left out", self.catalog.left_out)
        } else if n > shown {
            format!("{} of {n}", self.palette.selected + 1)
        } else {
            String::new()
        };
        let y = rect.bottom() - 24.0;
        let help = if f.env.coarse { "" } else { "↑↓ choose   Tab complete   Enter run   Esc close" };
        let _ = f.line(Point::new(rect.x + 16.0, y), help, CAPTION, f.theme.muted, rect.w - 150.0);
        let lw = f.width(&left, CAPTION);
        let _ = f.line(Point::new(rect.right() - 16.0 - lw, y), &left, CAPTION, f.theme.muted, lw + 2.0);
        self.palette.seen = Some(Seen { rev: self.palette.list_rev, row: self.selected_row() });
        self.palette.painted = Some(Rc::clone(&self.catalog));
    }
}

fn icon_of(row: &SlashRow) -> Icon {
    match row.kind.head() {
        "cmd" => Icon::Command,
        "tool" => Icon::Tool,
        "skill" => Icon::Skill,
        _ => AppKey::of(row.icon).map_or(Icon::Maximise, |k| k.def().icon),
    }
}

fn marks(text: &str, at: &[u32], theme: &ui::Theme, base: text::TextStyle) -> Vec<text::Span> {
    text.char_indices()
        .zip(0_u32..)
        .filter(|(_, i)| at.contains(i))
        .map(|((b, c), _)| text::Span {
            range: b..b + c.len_utf8(),
            style: Some(base.weight(700)),
            color: Some(theme.accent),
        })
        .collect()
}

fn hint_of(row: &SlashRow) -> String {
    row.args
        .iter()
        .map(|a| if a.required { format!("<{}>", a.name) } else { format!("[{}]", a.name) })
        .collect::<Vec<_>>()
        .join(" ")
}

fn paint_row(f: &mut Frame<'_, Action>, r: Rect, row: &SlashRow, hit: &Hit, on: bool, state: State) {
    let hints = hint_of(row);
    let off = row.disabled.as_deref();
    let mut c = Control::new(Role::Option, format!("{} {}", row.canonical, row.title)).skipped();
    c.description = match off {
        Some(why) => format!("cannot be used now: {why}"),
        None if hints.is_empty() => format!("from {}", row.source.package),
        None => format!("takes {hints}, from {}", row.source.package),
    };
    c.state = State { selected: Some(on), disabled: off.is_some(), ..state };
    f.control(row_id(&row.canonical), r, c, Some(Action::Pick(row.canonical.clone())), |f, look| {
        widgets::row_back(f, r, on, look);
        let ink = if off.is_some() { f.theme.muted } else { f.theme.text };
        ui::icons::icon(
            f,
            icon_of(row),
            Rect::new(r.x + 10.0, r.y, 20.0, r.h),
            if on { f.theme.accent } else { f.theme.muted },
        );
        let (x, right) = (r.x + 42.0, r.right() - 12.0);
        let y = r.y + (r.h - 40.0) / 2.0;
        let spans = marks(&row.canonical, &hit.name_marks, f.theme, MONO);
        let name_w = f.width(&row.canonical, MONO).min(right - x);
        let block = f.block(&row.canonical, MONO, &spans, Some(name_w + 8.0), text::Wrap::Ellipsis);
        let _ = f.run(block, Point::new(x, y + 1.0), ink);
        if !hints.is_empty() {
            let hx = x + name_w + 8.0;
            let _ = f.line(Point::new(hx, y + 1.0), &hints, MONO, f.theme.muted, (right - hx - 90.0).max(1.0));
        }
        let sw = f.width(&row.source.package, CAPTION);
        let _ = f.line(Point::new(right - sw, y + 3.0), &row.source.package, CAPTION, f.theme.muted, sw + 2.0);
        match off {
            Some(why) => {
                let _ = f.line(Point::new(x, y + 20.0), why, SMALL, f.theme.warn, right - x);
            }
            None => {
                let spans = marks(&row.title, &hit.title_marks, f.theme, SMALL);
                let block = f.block(&row.title, SMALL, &spans, Some(right - x), text::Wrap::Ellipsis);
                let _ = f.run(block, Point::new(x, y + 20.0), f.theme.muted);
            }
        }
    });
}

/// The name that is finished, its slots with the current one marked, and what comes next.
fn paint_hint(f: &mut Frame<'_, Action>, r: Rect, row: &SlashRow, h: &ArgHint) {
    let mut text = row.canonical.clone();
    let mut spans = Vec::new();
    for (label, current) in &h.slots {
        text.push(' ');
        let range = text.len()..text.len() + label.len();
        text.push_str(label);
        let style = current.then(|| MONO.weight(700));
        spans.push(text::Span { range, style, color: Some(if *current { f.theme.accent } else { f.theme.muted }) });
    }
    let block = f.block(&text, MONO, &spans, Some(r.w), text::Wrap::Ellipsis);
    let _ = f.run(block, Point::new(r.x, r.y + 6.0), f.theme.text);
    let why = row.disabled.clone();
    let words = match (&why, h.slots.iter().find(|s| s.1)) {
        (Some(w), _) => w.clone(),
        (None, Some((slot, _))) => format!("{}. Now: {slot}", row.title),
        (None, None) => format!("{}. Enter runs it", row.title),
    };
    let ink = if why.is_some() { f.theme.warn } else { f.theme.muted };
    let _ = f.line(Point::new(r.x, r.y + 28.0), &words, SMALL, ink, r.w);
    let id = NodeId::of("palette-hint", 0);
    f.node(Node { id, role: Role::Text, name: format!("{text}. {words}"), rect: r, ..Node::default() });
}
