//! The list of conversations, and the frame of AI Echo's window.

use super::rename_id;
use crate::desktop::{Action, Desktop};
use models::ProviderConfig;
use scene::{Node, NodeId, Point, Rect, Role};
use ui::theme::SMALL;
use ui::widgets::{self, Kind as Button};
use ui::{Control, Frame, Icon};

impl Desktop {
    /// Paints AI Echo into its window's body.
    pub(crate) fn paint_echo(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let narrow = rect.w < 640.0;
        let side = if narrow { self.echo.side_over } else { !self.echo.side_folded };
        let width = if narrow { rect.w.min(300.0) } else { 232.0 };
        let mut main = rect;
        if side && !narrow {
            main = Rect::new(rect.x + width, rect.y, rect.w - width, rect.h);
        }
        // Beside the conversation the list is read first; over it, it is painted last.
        let list = Rect::new(rect.x, rect.y, width, rect.h);
        if side && !narrow {
            self.paint_side(f, list);
        }
        self.paint_conversation(f, main, side);
        if side && narrow {
            self.paint_side(f, list);
        }
    }

    fn paint_conversation(&mut self, f: &mut Frame<'_, Action>, rect: Rect, side: bool) {
        let mut y = rect.y;
        // Its own bar: the list, the title, find.
        let bar = Rect::new(rect.x, y, rect.w, 40.0);
        f.fill(Rect::new(bar.x, bar.bottom() - 1.0, bar.w, 1.0), f.theme.line, 0.0);
        let mut c = Control::button("List of conversations");
        c.state.expanded = Some(side);
        let b = Rect::new(bar.x + 8.0, bar.y + 4.0, 32.0, 32.0);
        widgets::icon_button(f, NodeId::of("side-toggle", 0), b, Icon::Side, c, Action::ToggleSide);
        let title = self.agent.current().map_or("New conversation", |c| &c.title).to_owned();
        let _ = f.heading_line(
            NodeId::of("conversation-title", 0),
            Point::new(bar.x + 48.0, bar.y + 10.0),
            &title,
            (bar.w - 140.0).max(1.0),
        );
        let b = Rect::new(bar.right() - 40.0, bar.y + 4.0, 32.0, 32.0);
        let c = Control::button("Find in this conversation");
        widgets::icon_button(f, NodeId::of("find-open", 0), b, Icon::Search, c, Action::OpenFind);
        // The open list has a button of its own for this.
        if !side {
            let b = Rect::new(bar.right() - 74.0, bar.y + 4.0, 32.0, 32.0);
            let c = Control::button("New conversation");
            widgets::icon_button(f, NodeId::of("new-top", 0), b, Icon::Plus, c, Action::NewConversation);
        }
        y = bar.bottom();
        if self.provider() == ProviderConfig::OnDevice && !self.local.is_ready() {
            self.paint_model_line(f, Rect::new(rect.x, y, rect.w, 36.0));
            y += 36.0;
        }
        if self.echo.find.is_some() {
            self.paint_find(f, Rect::new(rect.x, y, rect.w, 44.0));
            y += 44.0;
        }
        let composer = self.composer_height(f, rect.w, f.env.size.h - f.env.keyboard_inset);
        let room = (rect.bottom() - y - composer).max(80.0);
        let card = self.card_height(room - 60.0);
        let below = card + if card > 0.0 { 12.0 } else { self.hint_room() };
        let transcript = Rect::new(rect.x, y, rect.w, (room - below).max(40.0));
        self.paint_transcript(f, transcript);
        if card > 0.0 {
            let w = (rect.w - 2.0 * f.m.pad).min(860.0);
            let x = (rect.x + (rect.w - w) / 2.0).round();
            self.paint_card(f, Rect::new(x, transcript.bottom(), w, card));
        }
        self.paint_composer(f, Rect::new(rect.x, rect.bottom() - composer, rect.w, composer));
    }

    fn paint_side(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let id = NodeId::of("side", 0);
        f.opaque(id, rect);
        f.fill_radii(rect, f.theme.panel, scene::Radii([0.0, 0.0, 0.0, 10.0]));
        f.fill(Rect::new(rect.right() - 1.0, rect.y, 1.0, rect.h), f.theme.line, 0.0);
        let node = Node { id, role: Role::Navigation, name: "Conversations".into(), rect, ..Node::default() };
        f.group(node, |f| {
            let new = Rect::new(rect.x + 8.0, rect.y + 8.0, rect.w - 16.0, f.m.control);
            let c = Control::button("New conversation");
            widgets::button(f, NodeId::of("new", 0), new, Button::Plain, Some(Icon::Plus), c, Action::NewConversation);
            let list = Rect::new(rect.x, new.bottom() + 8.0, rect.w, rect.bottom() - new.bottom() - 12.0);
            let scroll_id = NodeId::of("side-list", 0);
            let y = self.scrolls.get(&scroll_id).copied().unwrap_or(0.0);
            let current = self.agent.current().map(|c| c.id.clone());
            let all: Vec<_> = self.agent.conversations().iter().map(|c| (c.id.clone(), c.title.clone())).collect();
            let running = self.agent.turns().active().map(|a| a.turn.conversation.clone());
            let row = f.m.row;
            let node = Node {
                id: scroll_id,
                role: Role::List,
                name: "Conversations, newest first".into(),
                rect: list,
                ..Node::default()
            };
            f.group(node, |f| {
                f.scroll(scroll_id, list, y, |f, y| {
                    let first = (y / row).floor().max(0.0) as usize;
                    let most = (list.h / row).ceil() as usize + 2;
                    for (i, (c, title)) in all.iter().enumerate().skip(first).take(most) {
                        let r = Rect::new(list.x + 8.0, list.y + i as f32 * row - y, list.w - 16.0, row);
                        let here = current.as_ref() == Some(c);
                        if self.echo.rename.as_ref().is_some_and(|(id, _)| id == c) {
                            if let Some((_, field)) = &mut self.echo.rename {
                                let ctl = Control::new(Role::TextField, "Title of the conversation");
                                field.boxed(
                                    f,
                                    rename_id(),
                                    r.inset(0.0, 2.0),
                                    ctl,
                                    "Title",
                                    Action::Focus(rename_id()),
                                );
                            }
                            continue;
                        }
                        if self.echo.deleting.as_ref() == Some(c) {
                            // The row still says what would go.
                            let b = Rect::new(r.right() - 56.0, r.y + 3.0, 56.0, row - 6.0);
                            let a = Rect::new(b.x - 68.0, b.y, 64.0, b.h);
                            let at = Point::new(r.x + 10.0, r.y + (row - 20.0) / 2.0);
                            let _ = f.line(at, title, SMALL, f.theme.text, (a.x - at.x - 6.0).max(1.0));
                            let ctl =
                                Control::button(format!("Delete {title} for good")).describe("with everything in it");
                            widgets::labelled_button(
                                f,
                                NodeId::of("delete-yes", 0),
                                a,
                                Button::Danger,
                                None,
                                "Delete",
                                ctl,
                                Action::Delete(c.clone()),
                            );
                            widgets::labelled_button(
                                f,
                                NodeId::of("delete-no", 0),
                                b,
                                Button::Plain,
                                None,
                                "Keep",
                                Control::button("Keep it"),
                                Action::KeepConversation,
                            );
                            continue;
                        }
                        let busy = running.as_ref() == Some(c);
                        let tools = if here { 60.0 } else { 0.0 };
                        let mut ctl = Control::button(title.clone());
                        ctl.state.pressed = Some(here);
                        ctl.state.busy = busy;
                        let hit = Rect { w: r.w - tools, ..r };
                        f.control(NodeId::of(c.as_str(), 1), hit, ctl, Some(Action::Select(c.clone())), |f, look| {
                            widgets::row_back(f, r, here, look);
                            let ink = if here { f.theme.text } else { f.theme.muted };
                            let _ = f.line(
                                Point::new(r.x + 10.0, r.y + (row - 20.0) / 2.0),
                                title,
                                SMALL,
                                ink,
                                r.w - tools - if busy { 36.0 } else { 20.0 },
                            );
                            if busy {
                                ui::icons::icon(
                                    f,
                                    Icon::Dot,
                                    Rect::new(hit.right() - 18.0, r.y, 16.0, row),
                                    f.theme.accent,
                                );
                            }
                        });
                        if here {
                            let b = Rect::new(r.right() - 60.0, r.y + (row - 28.0) / 2.0, 28.0, 28.0);
                            let ctl = Control::button(format!("Rename {title}"));
                            widgets::icon_button(
                                f,
                                NodeId::of("rename-open", 0),
                                b,
                                Icon::Pencil,
                                ctl,
                                Action::Rename(c.clone()),
                            );
                            let ctl = Control::button(format!("Delete {title}"));
                            widgets::icon_button(
                                f,
                                NodeId::of("delete-open", 0),
                                b.shift(30.0, 0.0),
                                Icon::Trash,
                                ctl,
                                Action::AskDelete(c.clone()),
                            );
                        }
                    }
                    all.len() as f32 * row
                });
            });
        });
    }
}
