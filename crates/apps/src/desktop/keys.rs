//! Keys: what is global, what the palette takes, what a field takes, what a control does.

use super::{Action, Desktop, Effect, palette};
use crate::catalogue::AppKey;
use crate::echo::{card_id, composer_id, find_id, rename_id, transcript_id};
use crate::settings;
use ai_echo::conversation::{Draft as KeptDraft, Page};
use kernel::authority::Proof;
use kernel::slash::{EditOrigin, Shape, classify};
use scene::NodeId;
use text::TextEngine;
use ui::Field;
use ui::event::{Key, KeyPress};
use ui::field::Reply;

impl Desktop {
    /// The field of a node.
    pub(crate) fn field_of(&mut self, id: NodeId) -> Option<&mut Field> {
        if id == composer_id() {
            return (!self.agent.read_only()).then_some(&mut self.echo.composer);
        }
        if id == palette::field_id() {
            return self.palette.is_centered().then_some(&mut self.palette.field);
        }
        if id == find_id() {
            return self.echo.find.as_mut().map(|f| &mut f.field);
        }
        if id == rename_id() {
            return self.echo.rename.as_mut().map(|(_, f)| f);
        }
        if id == crate::instructions::targets_id() {
            return self.instructions.field(id);
        }
        if id == crate::skills::objective_id() {
            return self.skills.field(id);
        }
        self.settings.field(id)
    }
    /// The field with the keyboard.
    pub(crate) fn focused_field(&mut self) -> Option<&mut Field> {
        let id = self.focus?;
        self.field_of(id)
    }

    /// A field's text changed by the person.
    pub(crate) fn field_edited(&mut self, origin: EditOrigin, proof: &Proof, tainted: bool, out: &mut Vec<Effect>) {
        let Some(id) = self.focus else { return };
        // The selection of the transcript belongs to what was done before.
        self.echo.selection = None;
        if id == composer_id() {
            let text = self.echo.composer.text().to_owned();
            self.echo.draft.edited(&text, origin, proof);
            if tainted {
                self.echo.draft.tainted();
            }
            self.echo.notice = None;
            self.draft_changed(out);
            self.refresh_palette(true);
        } else if id == palette::field_id() {
            self.palette_edited(origin, proof, tainted);
        } else if id == find_id() {
            if let Some(f) = &mut self.echo.find {
                f.at = 0;
            }
            self.echo.refind(&*self.agent);
            self.echo.find_show(&*self.agent);
            self.say_found();
        }
    }

    /// The draft goes to the agent, which keeps it.
    pub(crate) fn draft_changed(&mut self, out: &mut Vec<Effect>) {
        let Some(c) = self.agent.current() else { return };
        let draft = KeptDraft {
            text: self.echo.composer.text().to_owned(),
            caret: self.echo.composer.buffer.caret(),
            attachments: c.draft.attachments.clone(),
        };
        let id = c.id.clone();
        self.tell(ai_echo::Msg::DraftChanged(id, Page::composer(), draft), out);
    }

    /// The composer follows the conversation in front. `loaded`: what was stored came in.
    pub(crate) fn sync_composer(&mut self, loaded: bool, out: &mut Vec<Effect>) {
        let Some(c) = self.agent.current() else { return };
        let other = self.echo.conversation.as_ref() != Some(&c.id);
        let fresh = loaded && self.echo.composer.text().is_empty() && !c.draft.text.is_empty();
        if !(other || fresh) {
            return;
        }
        let text = c.draft.text.clone();
        let caret = c.draft.caret;
        // What was typed before anything was loaded belongs to the conversation that comes to the
        // front, and goes where its caret was left.
        let early = if self.echo.conversation.is_none() { self.echo.composer.text().to_owned() } else { String::new() };
        self.echo.conversation = Some(c.id.clone());
        if !early.is_empty() && text.is_empty() {
            return self.draft_changed(out);
        }
        self.echo.composer.reset(&text);
        self.echo.composer.buffer.move_to(caret, false);
        self.echo.composer.buffer.insert(&early);
        let text = self.echo.composer.text().to_owned();
        self.echo.draft = kernel::slash::Draft::default();
        // What comes back from storage needs one more edit before it can dispatch (field 6H3).
        self.echo.draft.edited(&text, EditOrigin::Restored, &Proof::Untrusted);
        if other {
            self.echo.cache.clear();
            self.echo.scroll = Default::default();
            self.echo.selection = None;
            self.echo.expanded.clear();
            self.echo.notice = None;
            self.echo.find = None;
            self.palette.mode = self.palette.mode.filter(|m| *m == palette::Mode::Centered);
        }
        if !early.is_empty() {
            self.draft_changed(out);
        }
    }

    /// What was sent is in the composer again, its words selected: the next key replaces them, an
    /// arrow key goes on in them. A command's name stays, since it is what is being asked about. Nothing that the person typed meanwhile is touched, and nothing opens over
    /// the question that came back.
    pub(crate) fn draft_restored(&mut self) {
        let Some(id) = self.echo.restored.take() else { return };
        let Some(c) = self.agent.current().filter(|c| c.id == id) else { return };
        let text = c.draft.text.clone();
        let shown = self.echo.composer.text();
        if self.echo.conversation.as_ref() != Some(&id) || !(shown.is_empty() || shown == text) {
            return;
        }
        let words = match classify(&text) {
            Shape::Command { rest, finished: true, .. } => text.len() - rest.len(),
            _ => 0,
        };
        self.echo.composer.reset(&text);
        self.echo.composer.buffer.select(words, text.len());
        self.echo.draft = kernel::slash::Draft::default();
        self.echo.draft.edited(&text, EditOrigin::Restored, &Proof::Untrusted);
        self.hush_palette();
    }

    pub(crate) fn key(&mut self, k: &KeyPress, proof: Proof, engine: &mut TextEngine, out: &mut Vec<Effect>) {
        // Keys of a composition, and the late 229, belong to the input method (field 7H1).
        if k.composing {
            return;
        }
        let command = k.mods.command();
        match &k.key {
            Key::Char('k') if command && !k.mods.shift => return self.open_palette(),
            Key::Char('f') if command && self.windows.top() == Some(AppKey::Echo) => return self.open_find(),
            Key::F(6) => {
                self.windows.cycle(k.mods.shift);
                return self.focus_top();
            }
            Key::F(8) => {
                if self.front_card().is_some() {
                    self.windows.focus(AppKey::Echo);
                    self.focus_back = self.focus;
                    self.set_focus(Some(card_id(0)));
                }
                return;
            }
            _ => {}
        }
        let in_palette = match self.palette.mode {
            Some(palette::Mode::Anchored) => self.focus == Some(composer_id()),
            Some(palette::Mode::Centered) => true,
            None => false,
        };
        if in_palette {
            match &k.key {
                Key::Up => return self.palette_move(-1),
                Key::Down => return self.palette_move(1),
                Key::PageUp => return self.palette_move(-8),
                Key::PageDown => return self.palette_move(8),
                Key::Home if !k.mods.shift => return self.palette_move(-10_000),
                Key::End if !k.mods.shift => return self.palette_move(10_000),
                Key::Tab => return self.palette_complete(proof, out),
                Key::Enter if !k.mods.shift => {
                    if !k.repeat {
                        self.palette_enter(proof, out);
                    }
                    return;
                }
                Key::Escape => return self.close_palette(),
                _ => {}
            }
        }
        match &k.key {
            Key::Escape => return self.escape(out),
            Key::Tab if !k.mods.command() && !k.mods.alt => return self.tab(k.mods.shift),
            _ => {}
        }
        let Some(id) = self.focus else { return };
        if id == composer_id() && k.key == Key::Enter {
            if k.mods.shift {
                let now = self.now.mono_ms;
                if let Some(f) = self.focused_field() {
                    f.buffer.insert("\n");
                    f.key_touch(now);
                    self.field_edited(EditOrigin::Typed, &proof, false, out);
                }
            } else if !k.repeat {
                self.submit(proof, out);
            }
            return;
        }
        if k.key == Key::Enter && self.field_of(id).is_some() {
            let action = match id {
                _ if id == find_id() => Some(Action::FindNext(k.mods.shift)),
                _ if id == rename_id() => Some(Action::FinishRename),
                _ if id == crate::instructions::targets_id() => Some(Action::ReadInstructions),
                _ if id == crate::skills::objective_id() => Some(Action::TryObjective),
                _ if settings::owns(id) => Some(Action::SaveProvider),
                _ => None,
            };
            if let Some(a) = action {
                self.act(a, proof, engine, out);
            }
            return;
        }
        let geom = self.painted.field(id).copied();
        let now = self.now.mono_ms;
        if let Some(field) = self.field_of(id) {
            if field.key(k, engine, geom.as_ref(), now) == Reply::Edited {
                self.field_edited(EditOrigin::Typed, &proof, false, out);
            }
            return;
        }
        self.control_key(id, k, proof, engine, out);
    }

    /// A key on a control that is not a field.
    fn control_key(&mut self, id: NodeId, k: &KeyPress, proof: Proof, engine: &mut TextEngine, out: &mut Vec<Effect>) {
        match &k.key {
            Key::Enter | Key::Space if !k.repeat => {
                if let Some(a) = self.painted.action(id).cloned() {
                    self.act(a, proof, engine, out);
                }
            }
            Key::Char('a') if k.mods.command() => self.echo.select_all(&*self.agent),
            Key::Up | Key::Down | Key::Left | Key::Right if self.radios(id).is_some() => {
                let back = matches!(k.key, Key::Up | Key::Left);
                if let Some((to, a)) = self.next_radio(id, back) {
                    self.set_focus(Some(to));
                    self.act(a, proof, engine, out);
                }
            }
            Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Home | Key::End if self.files.is_entry(id) => {
                self.files_move(id, &k.key);
            }
            Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Home | Key::End => {
                let sign = if matches!(k.key, Key::Up | Key::PageUp | Key::Home) { -1.0 } else { 1.0 };
                let far = match k.key {
                    Key::Up | Key::Down => 48.0,
                    Key::PageUp | Key::PageDown => 400.0,
                    _ => 1.0e7,
                };
                self.scroll_near(id, sign * far);
            }
            _ => {}
        }
    }

    /// Scrolls what belongs to a node: the card's body for the card, else the area around it,
    /// else the transcript.
    fn scroll_near(&mut self, id: NodeId, dy: f32) {
        let body = NodeId::of("card-body", 0);
        let at = self.painted.semantics.nodes.get(&id).map(|n| n.rect);
        let inside = |s: &&ui::ScrollGeom| at.is_some_and(|r| s.rect.contains(scene::Point::new(r.x + 1.0, r.y + 1.0)));
        let area = if id == card_id(0) {
            self.painted.scrolls.iter().find(|s| s.id == body)
        } else {
            self.painted.scrolls.iter().rev().find(inside)
        };
        match area.copied() {
            Some(s) if s.id != transcript_id() => {
                let y = self.scrolls.entry(s.id).or_default();
                *y = (*y + dy).clamp(0.0, s.max);
            }
            _ if dy > 1.0e6 => self.echo.scroll.follow = true,
            _ if dy < -1.0e6 => self.echo.scroll.show(0),
            _ => self.echo.scroll_by(dy),
        }
    }

    fn escape(&mut self, out: &mut Vec<Effect>) {
        self.status.clear();
        if self.launcher {
            self.launcher = false;
            self.set_focus(Some(NodeId::of("launcher-button", 0)));
        } else if let Some(menu) = self.echo.menu.take() {
            self.set_focus(Some(menu.chip()));
        } else if self.focus == Some(rename_id()) {
            self.echo.rename = None;
            self.set_focus(Some(composer_id()));
        } else if self.echo.deleting.take().is_some() {
            self.set_focus(Some(composer_id()));
        } else if self.focus.is_some_and(|f| self.in_card(f)) {
            let back = self.focus_back.take().filter(|b| !self.in_card(*b));
            self.set_focus(back.or(Some(composer_id())));
        } else if self.echo.find.is_some() && self.windows.top() == Some(AppKey::Echo) {
            self.echo.find = None;
            self.set_focus(Some(composer_id()));
        } else if self.echo.selection.take().is_some() {
            // nothing selected any more
        } else if self.running_here() && self.windows.top() == Some(AppKey::Echo) {
            // Leaving a card once too often must not cost the change that it shows.
            match self.front_card() {
                Some(_) => self.status = "A change waits for your review: F8 goes to it, Stop ends it.".to_owned(),
                None => self.stop(out),
            }
        } else if self.windows.top() == Some(AppKey::Echo) {
            self.set_focus(Some(composer_id()));
        } else {
            self.focus_top();
        }
    }

    fn in_card(&self, id: NodeId) -> bool {
        let card = card_id(0);
        id == card || self.painted.semantics.nodes.get(&card).is_some_and(|n| n.children.contains(&id))
    }
}
