//! The shell around the apps: the bar, the launcher, windows and their frames.

use super::action::Section;
use super::focus::{body_id, desk_id, window_id};
use super::{Action, Desktop, update};
use crate::catalogue::{APPS, AppKey};
use crate::status::LocalModel;
use scene::{Live, Node, NodeId, Point, Radii, Rect, Rgba, Role, State};
use ui::theme::{BODY, CAPTION, SMALL};
use ui::widgets::{self, Kind as Button};
use ui::windows::Fill;
use ui::{Control, Cursor, Frame, Icon};

const TITLE: f32 = 40.0;
const RADIUS: f32 = 10.0;
/// How long the pointer rests on an icon before its name is shown.
const TIP_AFTER_MS: u64 = 600;

impl Desktop {
    /// Paints the background, an empty desk's words, and the bar.
    pub(crate) fn paint_desk(&mut self, f: &mut Frame<'_, Action>) {
        let screen = f.screen();
        f.layer("desk", 0, screen);
        f.fill(screen, f.theme.desk, 0.0);
        if self.windows.top().is_none() {
            let w = (screen.w - 48.0).min(560.0);
            let x = ((screen.w - w) / 2.0).round();
            let y = (screen.h * 0.3).round();
            let s = f.heading(NodeId::of("desk-title", 0), Point::new(x, y), "WebGPU OS", ui::theme::DISPLAY, 1, w);
            let at = Point::new(x, y + s.h + 8.0);
            let words = "Open an app from the bar, or press Ctrl K for everything this shell can do.";
            let s2 = f.say(NodeId::of("desk-words", 0), at, words, ui::theme::READING, f.theme.muted, w);
            let (mut bx, mut by) = (x, at.y + s2.h + 20.0);
            f.region(desk_id(), |f| {
                for d in self.live_apps() {
                    let label = format!("Open {}", d.title);
                    let bw = widgets::button_width(f, &label, true).min(w);
                    if bx > x && bx + bw > x + w {
                        (bx, by) = (x, by + f.m.control + 8.0);
                    }
                    let r = Rect::new(bx, by, bw, f.m.control);
                    let (id, c) = (NodeId::of(d.id, 9), Control::button(label));
                    widgets::button(f, id, r, Button::Plain, Some(d.icon), c, Action::Launch(d.key));
                    bx += bw + 8.0;
                }
            });
        }
    }

    pub(crate) fn live_apps(&self) -> Vec<&'static crate::catalogue::AppDef> {
        APPS.iter()
            .filter(|d| {
                kernel::AppId::new(d.id).is_ok_and(|id| self.kernel.apps().live(&id, self.kernel.packages()).is_ok())
            })
            .collect()
    }

    /// Paints the bar at the top.
    pub(crate) fn paint_bar(&mut self, f: &mut Frame<'_, Action>) {
        let h = if f.env.coarse { update::BAR_COARSE } else { update::BAR };
        let bar = Rect::new(0.0, 0.0, f.env.size.w, h);
        f.layer("bar", 0, bar);
        let id = NodeId::of("bar", 0);
        f.opaque(id, bar);
        f.fill(bar, f.theme.panel, 0.0);
        f.fill(Rect::new(0.0, h - 1.0, bar.w, 1.0), f.theme.line, 0.0);
        let node = Node { id, role: Role::Toolbar, name: "Shell".into(), rect: bar, ..Node::default() };
        f.group(node, |f| {
            let side = h - 8.0;
            let mut x = 8.0;
            let mut c = Control::button("Launcher");
            c.state.expanded = Some(self.launcher);
            let r = Rect::new(x, 4.0, side, side);
            widgets::icon_button(f, NodeId::of("launcher-button", 0), r, Icon::Menu, c, Action::ToggleLauncher);
            x += side + 8.0;
            // Every live app has its place; the open ones are marked, the one on top stands out.
            let labels = !f.m.narrow;
            for d in self.live_apps() {
                let open = self.windows.is_open(d.key);
                let top = self.windows.top() == Some(d.key);
                let w = if labels { f.width(d.title, SMALL) + 44.0 } else { side };
                let r = Rect::new(x, 4.0, w, side);
                let mut c = Control::button(d.title).describe(if open { "open" } else { "not open" });
                c.state.pressed = Some(top);
                let action = if open { Action::FocusWindow(d.key) } else { Action::Launch(d.key) };
                f.control(NodeId::of(d.id, 2), r, c, Some(action), |f, look| {
                    let fill = if top {
                        f.theme.selected
                    } else if look.hover {
                        f.theme.hover
                    } else {
                        Rgba::CLEAR
                    };
                    f.fill(r, fill, 6.0);
                    let ink = if top { f.theme.text } else { f.theme.muted };
                    let sign =
                        Rect::new(r.x + if labels { 8.0 } else { 0.0 }, r.y, if labels { 20.0 } else { r.w }, r.h);
                    ui::icons::icon(f, d.icon, sign, if top { f.theme.accent } else { ink });
                    if labels {
                        let _ = f.line(Point::new(r.x + 34.0, r.y + (r.h - 20.0) / 2.0), d.title, SMALL, ink, w - 38.0);
                    }
                    if open {
                        f.fill(Rect::new(r.x + r.w / 2.0 - 6.0, r.bottom() - 1.0, 12.0, 2.0), f.theme.accent, 1.0);
                    }
                });
                x += w + 4.0;
            }
            let mut right = bar.right() - 8.0;
            let (label, keys) = ("Search", "Ctrl K");
            let w = if f.m.narrow { side } else { f.width(label, SMALL) + f.width(keys, CAPTION) + 64.0 };
            let r = Rect::new(right - w, 4.0, w, side);
            let mut c = Control::button("Search everything").describe("Ctrl K");
            c.state.expanded = Some(self.palette.is_centered());
            let narrow = f.m.narrow;
            f.control(NodeId::of("search", 0), r, c, Some(Action::OpenPalette), |f, look| {
                let fill = if look.hover { f.theme.hover } else { f.theme.raised };
                f.bordered(r, fill, 6.0, f.theme.hairline());
                let sign = if narrow { r } else { Rect::new(r.x + 8.0, r.y, 20.0, r.h) };
                ui::icons::icon(f, Icon::Search, sign, f.theme.muted);
                if !narrow {
                    let y = r.y + (r.h - 20.0) / 2.0;
                    let _ = f.line(Point::new(r.x + 34.0, y), label, SMALL, f.theme.muted, w);
                    let _ = widgets::key_cap(f, Point::new(r.right() - 6.0, y), keys);
                }
            });
            right -= w + 12.0;
            // Who answers in the conversation in front, and the last word of the shell.
            let provider = self.provider();
            let (dot, words) = match &self.local {
                _ if provider.is_remote() => (f.theme.accent, provider.label()),
                LocalModel::Ready { .. } => (f.theme.good, self.local.words()),
                coming if coming.is_coming() => (f.theme.warn, coming.words()),
                other => (f.theme.danger, other.words()),
            };
            let w = f.width(&words, CAPTION) + 28.0;
            let (w, text) = if right - w > x + 40.0 { (w, true) } else { (side, false) };
            let r = Rect::new(right - w, 4.0, w, side);
            let c = Control::button(format!("Model: {words}")).describe("opens the model's page in Settings");
            let page = if provider.is_remote() { Section::Provider } else { Section::Model };
            let action = Action::Section(page);
            f.control(NodeId::of("model-state", 0), r, c, Some(action), |f, look| {
                widgets::row_back(f, r, false, look);
                let at = if text { Rect::new(r.x + 4.0, r.y, 16.0, r.h) } else { r };
                f.fill(Rect::new(at.x + at.w / 2.0 - 4.0, at.y + at.h / 2.0 - 4.0, 8.0, 8.0), dot, 4.0);
                if text {
                    let _ = f.line(Point::new(r.x + 22.0, r.y + (r.h - 16.0) / 2.0), &words, CAPTION, f.theme.muted, w);
                }
            });
            right -= w + 8.0;
            let status = self.status.clone();
            let room = right - x - 16.0;
            let id = NodeId::of("status", 0);
            let state = State { live: Live::Polite, ..State::default() };
            let rect = Rect::new(x + 8.0, 0.0, room.max(1.0), h);
            f.node(Node { id, role: Role::Status, name: status.clone(), rect, state, ..Node::default() });
            if room > 80.0 && !status.is_empty() {
                let _ = f.line(Point::new(x + 12.0, (h - 16.0) / 2.0), &status, CAPTION, f.theme.muted, room - 8.0);
            }
        });
    }

    /// Paints the launcher.
    pub(crate) fn paint_launcher(&mut self, f: &mut Frame<'_, Action>) {
        if !self.launcher {
            return;
        }
        let top = if f.env.coarse { update::BAR_COARSE } else { update::BAR } + 6.0;
        let apps = self.live_apps();
        let row = 56.0;
        let rect = Rect::new(8.0, top, 280.0_f32.min(f.env.size.w - 16.0), apps.len() as f32 * row + 16.0);
        f.layer("launcher", 0, rect.inset(-40.0, -40.0));
        let id = NodeId::of("launcher", 0);
        f.opaque(id, rect);
        widgets::card(f, rect, f.theme.raised, RADIUS, f.theme.hairline(), true);
        f.region(id, |f| {
            f.group(Node { id, role: Role::Navigation, name: "Apps".into(), rect, ..Node::default() }, |f| {
                for (i, d) in apps.iter().enumerate() {
                    let r = Rect::new(rect.x + 8.0, rect.y + 8.0 + i as f32 * row, rect.w - 16.0, row);
                    f.control(
                        NodeId::of(d.id, 3),
                        r,
                        Control::button(format!("Open {}", d.title)),
                        Some(Action::Launch(d.key)),
                        |f, look| {
                            widgets::row_back(f, r, false, look);
                            let tile = Rect::new(r.x + 8.0, r.y + 10.0, 36.0, 36.0);
                            f.fill(tile, f.theme.selected, 8.0);
                            ui::icons::icon(f, d.icon, tile, f.theme.accent);
                            let _ = f.line(
                                Point::new(r.x + 56.0, r.y + 18.0),
                                d.title,
                                BODY.weight(600),
                                f.theme.text,
                                r.w - 60.0,
                            );
                        },
                    );
                }
            })
        });
    }

    /// Paints the name of the icon that the pointer rests on.
    pub(crate) fn paint_tip(&mut self, f: &mut Frame<'_, Action>) {
        let Some((rect, name)) = self.hover.and_then(|id| f.tip_of(id)) else { return };
        let due = self.hover_since.saturating_add(TIP_AFTER_MS);
        if due == u64::MAX {
            return;
        }
        if f.now < due {
            f.wake(due);
            return;
        }
        let w = f.width(&name, CAPTION) + 16.0;
        let x = (rect.x + (rect.w - w) / 2.0).clamp(4.0, (f.env.size.w - w - 4.0).max(4.0)).round();
        let below = rect.bottom() + 30.0 < f.env.size.h;
        let y = if below { rect.bottom() + 4.0 } else { rect.y - 28.0 };
        let tip = Rect::new(x, y.round(), w, 24.0);
        f.layer("tip", 0, tip.inset(-24.0, -24.0));
        widgets::card(f, tip, f.theme.raised, 6.0, f.theme.hairline(), true);
        f.centered(tip, &name, CAPTION, f.theme.text);
    }

    /// Paints every window, back to front.
    pub(crate) fn paint_windows(&mut self, f: &mut Frame<'_, Action>) {
        let shown: Vec<_> = self.windows.shown().collect();
        let top = self.windows.top();
        for (k, rect) in shown {
            self.paint_window(f, k, rect, top == Some(k));
        }
        let dragged = matches!(self.drag, Some(Action::DragWindow(_)));
        if let Some(r) = self.windows.snap_at(self.press.at()).filter(|_| dragged) {
            f.layer("snap", 0, r);
            let border = scene::Border { width: 2.0, color: f.theme.accent };
            f.bordered(r.inset(4.0, 4.0), f.theme.accent.alpha(0.15), RADIUS, border);
        }
    }

    fn paint_window(&mut self, f: &mut Frame<'_, Action>, k: AppKey, rect: Rect, top: bool) {
        let d = k.def();
        let full = f.m.narrow || self.windows.fill_of(k) != Fill::Free;
        let radius = if full { 0.0 } else { RADIUS };
        f.layer("window", k as u64, if full { rect } else { rect.inset(-44.0, -44.0) });
        let id = window_id(k);
        f.opaque(id, rect);
        let shadow = if full { None } else { f.theme.float() };
        let border = scene::Border { width: 1.0, color: if top { f.theme.edge.alpha(0.7) } else { f.theme.line } };
        f.quad(scene::Quad { rect, fill: f.theme.surface, radii: radius.into(), border, shadow });
        let state = State { focused: f.at.focus == Some(id), ..State::default() };
        let node = Node { id, role: Role::Dialog, name: d.title.into(), rect, state, ..Node::default() };
        f.press(id, Rect::default(), Action::Focus(id), Cursor::Default, false);
        f.region(id, |f| {
            f.group(node, |f| {
                if f.m.narrow {
                    let body = if k == AppKey::Echo { rect } else { paint_narrow_title(f, k, rect) };
                    f.region(body_id(k), |f| self.paint_body(f, k, body));
                    return;
                }
                let bar = Rect::new(rect.x, rect.y, rect.w, TITLE);
                f.fill_radii(bar.inset(1.0, 1.0), f.theme.panel, Radii([radius, radius, 0.0, 0.0]));
                f.fill(Rect::new(bar.x + 1.0, bar.bottom() - 1.0, bar.w - 2.0, 1.0), f.theme.line, 0.0);
                f.drag(id, bar, Action::DragWindow(k), Cursor::Default);
                let ink = if top { f.theme.text } else { f.theme.muted };
                ui::icons::icon(
                    f,
                    d.icon,
                    Rect::new(bar.x + 12.0, bar.y, 16.0, bar.h),
                    if top { f.theme.accent } else { ink },
                );
                let _ = f.line(Point::new(bar.x + 36.0, bar.y + 10.0), d.title, SMALL.weight(600), ink, bar.w - 180.0);
                let mut x = bar.right() - 36.0;
                let n = k as u64;
                let mut b = |f: &mut Frame<'_, Action>, name: &str, label: &str, sign: Icon, a: Action| {
                    let r = Rect::new(x, bar.y + 6.0, 28.0, 28.0);
                    widgets::icon_button(f, NodeId::of(name, n), r, sign, Control::button(label), a);
                    x -= 30.0;
                };
                b(f, "close", &format!("Close {}", d.title), Icon::Close, Action::CloseWindow(k));
                let fill = self.windows.fill_of(k);
                let name = |of: Fill, words: &'static str| if fill == of { "Back to its size" } else { words };
                let (all, right, left) = (Fill::All, Fill::Right, Fill::Left);
                b(f, "fill", name(all, "Fill the desk"), Icon::Maximise, Action::FillWindow(k, all));
                b(f, "right", name(right, "Right half"), Icon::HalfRight, Action::FillWindow(k, right));
                b(f, "left", name(left, "Left half"), Icon::HalfLeft, Action::FillWindow(k, left));
                let body = Rect::new(rect.x + 1.0, bar.bottom(), rect.w - 2.0, rect.h - TITLE - 1.0);
                f.region(body_id(k), |f| f.clip(body, |f| self.paint_body(f, k, body)));
                let grip = Rect::new(rect.right() - 14.0, rect.bottom() - 14.0, 14.0, 14.0);
                f.drag(id, grip, Action::ResizeWindow(k), Cursor::ResizeNwse);
                if f.at.focus == Some(id) && f.at.ring {
                    let border = scene::Border { width: 2.0, color: f.theme.accent };
                    f.bordered(rect, Rgba::CLEAR, radius, border);
                }
            })
        });
    }

    fn paint_body(&mut self, f: &mut Frame<'_, Action>, k: AppKey, body: Rect) {
        match k {
            AppKey::Echo => self.paint_echo(f, body),
            AppKey::Files => self.paint_files(f, body),
            AppKey::Settings => self.paint_settings(f, body),
            AppKey::Instructions => self.paint_instructions(f, body),
            AppKey::Skills => self.paint_skills(f, body),
        }
    }
}

/// The title of a window that fills a small screen, with the way out of it. Gives what is left.
fn paint_narrow_title(f: &mut Frame<'_, Action>, k: AppKey, rect: Rect) -> Rect {
    let d = k.def();
    let side = f.m.control;
    let bar = Rect::new(rect.x, rect.y, rect.w, side);
    f.fill(bar, f.theme.panel, 0.0);
    f.fill(Rect::new(bar.x, bar.bottom() - 1.0, bar.w, 1.0), f.theme.line, 0.0);
    let at = Point::new(bar.x + 16.0, bar.y + (bar.h - 20.0) / 2.0);
    let _ = f.line(at, d.title, SMALL.weight(600), f.theme.text, bar.w - side - 24.0);
    let r = Rect::new(bar.right() - side, bar.y, side, side);
    let c = Control::button(format!("Close {}", d.title));
    widgets::icon_button(f, NodeId::of("close", k as u64), r, Icon::Close, c, Action::CloseWindow(k));
    Rect::new(rect.x, bar.bottom(), rect.w, rect.h - bar.h)
}
