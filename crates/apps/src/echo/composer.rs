//! The composer: notices, chips, the field that grows to a third of the window, Send and Stop.

use super::{composer_id, find_id};
use crate::desktop::{Action, Desktop, action::Menu};
use crate::status::{LocalModel, MountState};
use ai_echo::turn::Phase;
use models::ProviderConfig;
use scene::{Border, Node, NodeId, Point, Rect, Role};
use ui::theme::{CAPTION, READING, SMALL};
use ui::widgets::{self, Kind as Button};
use ui::{Control, Frame, Icon};

impl Desktop {
    /// Who answers in the conversation in front.
    pub(crate) fn provider(&self) -> ProviderConfig {
        self.agent.current().map_or(ProviderConfig::OnDevice, |c| c.provider.clone())
    }

    /// A turn of the conversation in front runs.
    pub(crate) fn running_here(&self) -> bool {
        let here = self.agent.current().map(|c| &c.id);
        self.agent.turns().active().is_some_and(|a| Some(&a.turn.conversation) == here)
    }

    /// One line about the running turn.
    fn run_words(&self) -> Option<String> {
        let here = self.agent.current().map(|c| &c.id);
        let active = self.agent.turns().active()?;
        if Some(&active.turn.conversation) != here {
            return Some("AI Echo is answering in another conversation.".into());
        }
        let s = self.now.mono_ms.saturating_sub(active.since.mono_ms) / 1000;
        let what = match &active.phase {
            Phase::Planning(_) => "Looking at what is asked",
            Phase::Asking { score: true, .. } => "Choosing the words for a tool",
            Phase::Asking { said: false, .. } => "Reading your message",
            Phase::Asking { .. } => "Answering",
            Phase::Routing(_) => "Checking a tool call",
            Phase::Reviewing(_) => "Waits for your review",
            Phase::Calling(_) => "Using a tool",
            Phase::Operating(_) => "Making the change you approved",
        };
        Some(if s > 2 { format!("{what}, {s} s") } else { what.to_owned() })
    }

    /// Height of the composer at a width.
    pub(crate) fn composer_height(&mut self, f: &mut Frame<'_, Action>, width: f32, room: f32) -> f32 {
        let inner = column(f, width) - 24.0;
        let text = self.echo.composer.text_height(f, READING, inner);
        // Up to a third of the room with the padding and the row of chips; then the text scrolls.
        let around = 12.0 + f.m.control + 12.0;
        let most = (room / 3.0 - around).max(READING.line_height * 2.0);
        let field = text.clamp(READING.line_height, most);
        let notice = if self.echo.notice.is_some() { 44.0 } else { 0.0 };
        let queue = if self.agent.turns().queue().len() > 0 { 24.0 } else { 0.0 };
        let run = if self.run_words().is_some() { 24.0 } else { 0.0 };
        field + around + 12.0 + notice + queue + run
    }

    /// Paints the composer into `rect`.
    pub(crate) fn paint_composer(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let column = column(f, rect.w);
        let x = (rect.x + (rect.w - column) / 2.0).round();
        let mut y = rect.y;
        if let Some(words) = self.run_words() {
            let mut at = x + 4.0;
            for (i, h) in [6.0, 12.0, 8.0].into_iter().enumerate() {
                f.fill(Rect::new(at + i as f32 * 4.0, y + 12.0 - h / 2.0, 2.0, h), f.theme.accent, 1.0);
            }
            at += 20.0;
            let s = f.line(Point::new(at, y + 2.0), &words, SMALL, f.theme.muted, column - 24.0);
            let node = Rect::new(at, y, s.w, s.h);
            f.node(Node { id: NodeId::of("run", 0), role: Role::Text, name: words, rect: node, ..Node::default() });
            f.wake(f.now / 1000 * 1000 + 1000);
            y += 24.0;
        }
        let waiting = self.agent.turns().queue().len();
        if waiting > 0 {
            let words = format!("{waiting} {} waiting", if waiting == 1 { "message" } else { "messages" });
            let s = f.line(Point::new(x + 24.0, y + 2.0), &words, SMALL, f.theme.muted, column);
            let node = Rect::new(x + 24.0, y, s.w, s.h);
            f.node(Node { id: NodeId::of("queue", 0), role: Role::Text, name: words, rect: node, ..Node::default() });
            y += 24.0;
        }
        let top = y;
        if let Some(n) = self.echo.notice.clone() {
            self.paint_notice(f, Rect::new(x, y, column, 36.0), &n);
            y += 44.0;
        }
        let frame = Rect::new(x, y, column, rect.bottom() - 12.0 - y);
        self.composer_rect = Some(Rect::new(frame.x, top, frame.w, frame.bottom() - top));
        let focused = f.at.focus == Some(composer_id());
        let color = if focused { f.theme.accent } else { f.theme.edge };
        widgets::card(f, frame, f.theme.raised, 10.0, Border { width: if focused { 1.5 } else { 1.0 }, color }, false);
        let bar = f.m.control;
        let field = Rect::new(frame.x, frame.y, frame.w, frame.h - bar - 8.0);
        let read_only = self.agent.read_only();
        let placeholder = if read_only {
            "Another tab has this conversation open; here it can only be read"
        } else if self.palette.is_anchored() {
            ""
        } else {
            "Ask, or type / for commands"
        };
        let mut c = Control::new(Role::Combobox, "Message to AI Echo");
        c.state.expanded = Some(self.palette.is_anchored());
        if self.palette.is_anchored() {
            c.state.controls = Some(crate::desktop::palette::list_id());
            c.state.active_descendant = self.palette.active_node();
        }
        c.state.disabled = read_only;
        if read_only {
            c = c.describe(placeholder);
        }
        let id = composer_id();
        self.echo.composer.paint(f, id, field, Point::new(12.0, 8.0), READING, c, placeholder, Action::Focus(id));
        // The row of chips and the button.
        let y = frame.bottom() - bar - 4.0;
        let mut at = frame.x + 8.0;
        let chip_y = y + (bar - 24.0) / 2.0;
        let button = if f.m.narrow { bar } else { 84.0 };
        let empty = self.echo.composer.text().trim().is_empty();
        // A draft takes the place of Stop; a running answer can be stopped all the same.
        let stop = self.running_here();
        let limit = frame.right() - button - 16.0 - if stop && !empty { bar + 6.0 } else { 0.0 };
        let (model, model_hint) = match self.provider() {
            ProviderConfig::OnDevice if self.local.is_ready() => ("On-device".to_owned(), "answers on this device"),
            ProviderConfig::OnDevice => ("On-device".to_owned(), "is not ready yet; the line above says why"),
            ProviderConfig::OpenAiCompatible { model, .. } => (model, "your words go to this server"),
        };
        let label = kernel::clip::label(&model, 28).into_owned();
        let mut c = Control::button(format!("Model: {model}")).describe(model_hint);
        c.state.expanded = Some(self.echo.menu == Some(Menu::Model));
        let r = widgets::chip(
            f,
            NodeId::of("chip-model", 0),
            Point::new(at, chip_y),
            Icon::Chip,
            &label,
            c,
            Action::Menu(Some(Menu::Model)),
        );
        self.paint_model_menu(f, r);
        at = r.right() + 8.0;
        let (mount, mount_hint) = match self.active_mount() {
            Some(m) if m.state == MountState::Ready => {
                (m.record.title.clone(), "the folder AI Echo works in; press to change it or to mount another")
            }
            Some(m) if m.state == MountState::ReadOnly => (format!("{} (read only)", m.record.title), m.state.words()),
            Some(m) => (format!("{} (reconnect)", m.record.title), m.state.words()),
            None => ("No folder".to_owned(), "AI Echo has no folder to work in; press to mount one"),
        };
        let label = kernel::clip::label(&mount, 24).into_owned();
        let width = f.width(&label, CAPTION) + 36.0;
        if at + width <= limit {
            let mut c = Control::button(format!("Folder: {mount}")).describe(mount_hint);
            c.state.expanded = Some(self.echo.menu == Some(Menu::Mount));
            let r = widgets::chip(
                f,
                NodeId::of("chip-mount", 0),
                Point::new(at, chip_y),
                Icon::Folder,
                &label,
                c,
                Action::Menu(Some(Menu::Mount)),
            );
            self.paint_mount_menu(f, r);
            at = r.right() + 8.0;
        }
        let attached = self.agent.current().map(|c| c.draft.attachments.clone()).unwrap_or_default();
        for (i, a) in attached.iter().enumerate() {
            let label = kernel::clip::label(a.path.name(), 20).into_owned();
            let width = f.width(&label, CAPTION) + 36.0;
            if at + width > limit {
                let more = format!("+{}", attached.len() - i);
                let _ = f.line(Point::new(at, chip_y + 4.0), &more, CAPTION, f.theme.muted, 40.0);
                break;
            }
            let c = Control::button(format!("Remove attachment {}", a.path));
            let r = widgets::chip(
                f,
                NodeId::of("chip-file", i as u64),
                Point::new(at, chip_y),
                Icon::Paperclip,
                &label,
                c,
                Action::Detach(i),
            );
            at = r.right() + 8.0;
        }
        let send = Rect::new(frame.right() - button - 6.0, y, button, bar);
        if stop {
            let c = Control::button("Stop").describe("ends the answer at once; what came is kept");
            let label = if f.m.narrow || !empty { "" } else { "Stop" };
            let place = if empty { send } else { Rect::new(send.x - bar - 6.0, y, bar, bar) };
            let id = NodeId::of("stop", 0);
            widgets::labelled_button(f, id, place, Button::Plain, Some(Icon::Stop), label, c, Action::Stop);
        }
        if !(stop && empty) {
            let queued = self.agent.turns().active().is_some();
            let why = if empty { "write something first" } else { "" };
            let c = Control::button(if queued { "Send, answered after the running answer" } else { "Send" })
                .disabled(empty || read_only)
                .describe(why);
            let label = if f.m.narrow {
                ""
            } else if queued {
                "Queue"
            } else {
                "Send"
            };
            widgets::labelled_button(
                f,
                NodeId::of("send", 0),
                send,
                Button::Primary,
                Some(Icon::Up),
                label,
                c,
                Action::Send,
            );
        }
    }

    fn paint_notice(&mut self, f: &mut Frame<'_, Action>, r: Rect, n: &super::Notice) {
        let id = NodeId::of("notice", 0);
        f.bordered(r, f.theme.panel, 8.0, Border { width: 1.0, color: f.theme.warn });
        ui::icons::icon(f, Icon::Alert, Rect::new(r.x + 10.0, r.y, 16.0, r.h), f.theme.warn);
        let send = if n.send_as_text { 120.0 } else { 0.0 };
        let room = r.w - 36.0 - send - 44.0;
        let s = f.line(Point::new(r.x + 34.0, r.y + 8.0), &n.text, SMALL, f.theme.text, room);
        let rect = Rect::new(r.x + 34.0, r.y + 8.0, s.w, s.h);
        f.node(Node { id, role: Role::Text, name: n.text.clone(), rect, ..Node::default() });
        if n.send_as_text {
            let b = Rect::new(r.right() - 40.0 - send, r.y + 4.0, send, 28.0);
            let c = Control::button("Send as text").describe("sends the draft to the model as plain words");
            widgets::button(f, NodeId::of("as-text", 0), b, Button::Plain, None, c, Action::SendAsText);
        }
        let b = Rect::new(r.right() - 34.0, r.y + 4.0, 28.0, 28.0);
        let c = Control::button("Dismiss");
        widgets::icon_button(f, NodeId::of("notice-close", 0), b, Icon::Close, c, Action::DismissNotice);
    }

    /// A menu that hangs above a chip: rows of label, hint and action.
    fn paint_menu(
        &mut self,
        f: &mut Frame<'_, Action>,
        name: &str,
        anchor: Rect,
        rows: &[(String, String, bool, Action)],
    ) {
        let w = 320.0_f32.min(f.env.size.w - 24.0);
        let row = f.m.row + 12.0;
        let h = rows.len() as f32 * row + 12.0;
        let x = anchor.x.min(f.env.size.w - w - 12.0).max(12.0);
        let rect = Rect::new(x, anchor.y - h - 6.0, w, h);
        self.echo_menu = Some((name.to_owned(), rect, rows.to_vec()));
    }

    /// The open menu, painted last so that nothing lies over it.
    pub(crate) fn paint_open_menu(&mut self, f: &mut Frame<'_, Action>) {
        let Some((name, rect, rows)) = self.echo_menu.take() else { return };
        f.layer("menu", 0, rect.inset(-40.0, -40.0));
        let id = NodeId::of("menu", 0);
        f.opaque(id, rect);
        widgets::card(f, rect, f.theme.raised, 10.0, f.theme.hairline(), true);
        f.region(id, |f| {
            f.group(Node { id, role: Role::Group, name, rect, ..Node::default() }, |f| {
                let row = f.m.row + 12.0;
                for (i, (label, hint, on, action)) in rows.into_iter().enumerate() {
                    let r = Rect::new(rect.x + 6.0, rect.y + 6.0 + i as f32 * row, rect.w - 12.0, row);
                    let mut c = Control::button(label.clone()).describe(hint.clone());
                    c.state.pressed = Some(on);
                    f.control(NodeId::of("menu-row", i as u64), r, c, Some(action), |f, look| {
                        widgets::row_back(f, r, false, look);
                        let w = r.w - 44.0;
                        let _ = f.line(Point::new(r.x + 10.0, r.y + 5.0), &label, SMALL.weight(600), f.theme.text, w);
                        let _ = f.line(Point::new(r.x + 10.0, r.y + 25.0), &hint, CAPTION, f.theme.muted, w);
                        if on {
                            ui::icons::icon(
                                f,
                                Icon::Check,
                                Rect::new(r.right() - 30.0, r.y, 20.0, r.h),
                                f.theme.accent,
                            );
                        }
                    });
                }
            })
        });
    }

    fn paint_model_menu(&mut self, f: &mut Frame<'_, Action>, anchor: Rect) {
        if self.echo.menu != Some(Menu::Model) {
            return;
        }
        let now = self.provider();
        let mut rows =
            vec![("On-device model".to_owned(), self.local.words(), now == ProviderConfig::OnDevice, Action::UseLocal)];
        if let Some(remote) = &self.prefs.remote {
            rows.push((remote.label(), "your words leave this device".to_owned(), now == *remote, Action::UseRemote));
        }
        rows.push((
            "Set up a remote model".to_owned(),
            "any OpenAI-compatible server".to_owned(),
            false,
            Action::Section(crate::desktop::action::Section::Provider),
        ));
        self.paint_menu(f, "Who answers in this conversation", anchor, &rows);
    }

    fn paint_mount_menu(&mut self, f: &mut Frame<'_, Action>, anchor: Rect) {
        if self.echo.menu != Some(Menu::Mount) {
            return;
        }
        let active = self.agent.current().and_then(|c| c.mount.clone());
        let mut rows = Vec::new();
        for m in self.mounts.iter().take(8) {
            let on = active.as_ref() == Some(m.id());
            let action = Action::UseMount(Some(m.id().clone()));
            rows.push((m.record.title.clone(), m.state.hint().to_owned(), on, action));
        }
        rows.push(("Mount a folder".to_owned(), "from this computer".to_owned(), false, Action::PickFolder));
        self.paint_menu(f, "The folder of this conversation", anchor, &rows);
    }

    /// A line about the on-device model while it is not ready, with what can be done.
    pub(crate) fn paint_model_line(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        use crate::status::ModelOrder as O;
        let id = NodeId::of("model-line", 0);
        f.fill(rect, f.theme.panel, 0.0);
        f.fill(Rect::new(rect.x, rect.bottom() - 1.0, rect.w, 1.0), f.theme.line, 0.0);
        let words = match &self.local {
            LocalModel::Failed(w) | LocalModel::Lost(w) => format!("{}: {w}", self.local.words()),
            l => l.words(),
        };
        let order = match &self.local {
            LocalModel::Absent => Some(("Fetch", O::Load)),
            LocalModel::NoRoom { .. } | LocalModel::Failed(_) => Some(("Try again", O::Load)),
            LocalModel::Lost(_) => Some(("Reload", O::Reload)),
            _ => None,
        };
        // On a narrow screen the bar runs below the words, which then have the whole width.
        let under = rect.w < 480.0;
        let room = rect.w
            - 32.0
            - if order.is_some() {
                100.0
            } else if under {
                0.0
            } else {
                200.0
            };
        let percent = self.local.percent();
        let up = if under && percent.is_some() { 4.0 } else { 0.0 };
        let s = f.line(Point::new(rect.x + 16.0, rect.y + 8.0 - up), &words, SMALL, f.theme.muted, room);
        match (percent, order) {
            (Some(p), _) => {
                let bar = if under {
                    Rect::new(rect.x + 16.0, rect.bottom() - 8.0, rect.w - 32.0, 4.0)
                } else {
                    Rect::new(rect.right() - 176.0, rect.y + 15.0, 160.0, 6.0)
                };
                widgets::progress(f, id, bar, &words, p);
            }
            (None, order) => {
                let at = Rect::new(rect.x + 16.0, rect.y + 8.0, s.w, s.h);
                f.node(Node { id, role: Role::Text, name: words, rect: at, ..Node::default() });
                if let Some((label, order)) = order {
                    let b = Rect::new(rect.right() - 100.0, rect.y + 4.0, 88.0, 28.0);
                    let id = NodeId::of("model-order", 0);
                    widgets::button(f, id, b, Button::Plain, None, Control::button(label), Action::Model(order));
                }
            }
        }
    }

    /// The find bar.
    pub(crate) fn paint_find(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let Some(find) = &mut self.echo.find else { return };
        f.fill(rect, f.theme.panel, 0.0);
        f.fill(Rect::new(rect.x, rect.bottom() - 1.0, rect.w, 1.0), f.theme.line, 0.0);
        let count = find.words();
        let w = (rect.w - 240.0).clamp(120.0, 320.0);
        let field = Rect::new(rect.x + 12.0, rect.y + 6.0, w, 32.0);
        let c = Control::new(Role::TextField, "Find in this conversation").describe(count.clone());
        find.field.boxed(f, find_id(), field, c, "Find in this conversation", Action::Focus(find_id()));
        let _ = f.line(Point::new(field.right() + 12.0, rect.y + 12.0), &count, SMALL, f.theme.muted, 110.0);
        let mut x = rect.right() - 108.0;
        for (name, sign, action) in [
            ("Previous match", Icon::Up, Action::FindNext(true)),
            ("Next match", Icon::Down, Action::FindNext(false)),
            ("Close find", Icon::Close, Action::CloseFind),
        ] {
            let b = Rect::new(x, rect.y + 6.0, 32.0, 32.0);
            widgets::icon_button(f, NodeId::of(name, 0), b, sign, Control::button(name), action);
            x += 34.0;
        }
    }
}

/// Width of the composer's column in a room.
fn column(f: &Frame<'_, Action>, room: f32) -> f32 {
    (room - 2.0 * f.m.pad).min(792.0)
}
