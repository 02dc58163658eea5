//! The root update: one message in, effects out.

use super::{Action, Desktop, Dropped, Effect, Msg};
use crate::catalogue::AppKey;
use kernel::authority::Proof;
use kernel::slash::{Catalog, EditOrigin};
use kernel::{Instant, Refusal};
use scene::{NodeId, Point, Rect};
use text::TextEngine;
use ui::event::{EditKind, Env, Event, Pointer, PointerPhase};
use ui::press::Gesture;
use ui::windows::Fill;

/// Height of the bar at the top, logical pixels.
pub const BAR: f32 = 40.0;
/// Height of the bar for a finger.
pub const BAR_COARSE: f32 = 48.0;

impl Desktop {
    /// Takes a message; gives what is to be done. `engine` is the one that painted the frame the
    /// input was aimed at: it knows where text lies.
    pub fn update(&mut self, msg: Msg, now: Instant, engine: &mut TextEngine) -> Vec<Effect> {
        self.now = now;
        let mut out = Vec::new();
        match msg {
            Msg::Input(event, proof) => self.input(event, proof, engine, &mut out),
            Msg::Env(env) => self.set_env(env),
            Msg::Echo(m) => {
                let loaded = matches!(m, ai_echo::Msg::Loaded(_));
                self.tell(m, &mut out);
                if loaded {
                    self.sync_composer(true, &mut out);
                }
            }
            Msg::Mounts(mounts) => self.set_mounts(mounts, &mut out),
            Msg::LocalModel(m) => {
                // While it is on its way one place says so, not two in different words.
                if m.words() != self.local.words() && !m.is_coming() {
                    self.status = m.words();
                }
                self.local = m;
            }
            Msg::Prefs(p) => self.set_prefs(p),
            Msg::Keys(k) => self.keys = k,
            Msg::ProviderTested(r) => self.settings.tested(r, &mut self.status),
            Msg::Files(id, replies) if self.instructions.waits_for(id) => {
                let next = self.fresh_id();
                self.instructions.replies(replies, next, &mut out);
            }
            Msg::Files(id, replies) if self.skills.waits_for(id) => self.skill_replies(id, replies, &mut out),
            Msg::Files(id, replies) => self.files.replies(id, replies, &mut self.status),
            Msg::Storage(s) => self.storage = Some(s),
            Msg::Drop(d, proof) => self.dropped(d, proof, &mut out),
            Msg::Refused(r) => {
                self.refuse(r);
            }
            Msg::Status(s) => self.status = s,
            Msg::Tick => {}
        }
        self.settle(&mut out);
        out
    }

    /// Hands a message to the agent and deals with what concerns the screens.
    pub(crate) fn tell(&mut self, msg: ai_echo::Msg, out: &mut Vec<Effect>) {
        for e in self.agent.update(msg, &mut self.kernel, self.now) {
            match e {
                ai_echo::Effect::OpenApp(app) => match AppKey::of(app.as_str()) {
                    Some(key) => self.launch(key, out),
                    None => {
                        self.refuse(Refusal::new("AppMissing", app.as_str(), "an app of this shell", "no such app"));
                    }
                },
                ai_echo::Effect::Announce(words) => self.status = words,
                ai_echo::Effect::DraftRestored(id) => self.echo.restored = Some(id),
                ai_echo::Effect::Refused(r) => {
                    self.refuse(r);
                }
                other => out.push(Effect::Echo(other)),
            }
        }
    }

    /// What follows from any change: the catalogue, the composer, the lock.
    fn settle(&mut self, out: &mut Vec<Effect>) {
        if self.catalog.rev != self.kernel.rev() || self.palette.situation_changed(&self.situation()) {
            self.reproject();
        }
        self.sync_composer(false, out);
        self.draft_restored();
        self.send_held(out);
        // What the rows say of the folder's skills is looked at anew each time they are shown.
        let shown = self.palette.is_open();
        if shown && !std::mem::replace(&mut self.palette_shown, shown) {
            self.tell(ai_echo::Msg::LookForSkills, out);
        }
        self.palette_shown = shown;
        // Compared with what was asked for, not with a moment ago: a load changes it in between.
        if self.locked != self.echo.conversation {
            self.locked.clone_from(&self.echo.conversation);
            out.extend(self.locked.clone().map(Effect::Lock));
        }
        self.follow_skill(out);
        let open = self.echo.cards_of(&*self.agent);
        if open && !self.windows.is_open(AppKey::Echo) {
            let size = AppKey::Echo.def().size;
            self.windows.open(AppKey::Echo, size);
        }
    }

    /// Reads the registries again; an open palette follows.
    pub(crate) fn reproject(&mut self) {
        let now = self.situation();
        self.catalog = Catalog::project(&self.kernel, &now).into();
        self.palette.remember(now);
        for d in &crate::catalogue::APPS {
            if let Ok(id) = kernel::AppId::new(d.id)
                && self.kernel.apps().live(&id, self.kernel.packages()).is_err()
            {
                self.windows.close(d.key);
                self.last.remove(&d.key);
            }
        }
        self.refresh_palette(false);
    }

    pub(crate) fn set_env(&mut self, env: Env) {
        self.env = env;
        let bar = if env.coarse { BAR_COARSE } else { BAR };
        let h = (env.size.h - bar - env.keyboard_inset).max(120.0);
        self.windows.set_desk(Rect::new(0.0, bar, env.size.w, h), env.size.w < 720.0);
    }

    fn set_prefs(&mut self, p: crate::status::Prefs) {
        for id in &p.disabled {
            let known = self.kernel.packages().get(id).is_some();
            if known && !self.is_fixed(id) {
                // The package is known, so this cannot be refused.
                let _ = self.kernel.set_package_state(id, kernel::registry::PackageState::Present { enabled: false });
            }
        }
        self.settings.take_remote(p.remote.as_ref());
        self.echo.side_folded = p.side_folded;
        self.prefs = p;
    }

    fn set_mounts(&mut self, mounts: Vec<crate::status::Mount>, out: &mut Vec<Effect>) {
        let gone: Vec<_> =
            self.mounts.iter().filter(|m| !mounts.iter().any(|n| n.id() == m.id())).map(|m| m.id().clone()).collect();
        let new: Vec<_> =
            mounts.iter().filter(|m| !self.mounts.iter().any(|o| o.id() == m.id())).map(|m| m.record.clone()).collect();
        self.mounts = mounts;
        for id in gone {
            self.tell(ai_echo::Msg::Unmounted(id), out);
        }
        for r in new {
            self.tell(ai_echo::Msg::Mounted(r), out);
        }
        self.tell(ai_echo::Msg::LookForSkills, out);
        let id = self.fresh_id();
        self.files.mounts_changed(&self.mounts, id, out);
        if self.windows.is_open(AppKey::Instructions) {
            self.read_instructions(out);
        }
    }

    fn dropped(&mut self, d: Dropped, proof: Proof, out: &mut Vec<Effect>) {
        if !proof.is_trusted() {
            self.untrusted("A drop");
            return;
        }
        match d {
            Dropped::Text(text) => self.paste(&text, proof, out),
            Dropped::Folder(id) => {
                let title = self.mounts.iter().find(|m| *m.id() == id).map(|m| m.record.title.clone());
                self.status = format!("{} is mounted.", title.unwrap_or_else(|| id.to_string()));
                if let Some(c) = self.agent.current().map(|c| c.id.clone()) {
                    self.tell(ai_echo::Msg::UseMount(c, Some(id)), out);
                }
            }
            Dropped::File { name, text, total } => {
                let kept = text.len();
                let cut = if (kept as u64) < total { format!(" ({kept} of {total} bytes)") } else { String::new() };
                let label = kernel::clip::label(&name, 120).into_owned();
                self.paste(&format!("{label}{cut}:\n```\n{text}\n```\n"), proof, out);
            }
        }
    }

    pub(crate) fn untrusted(&mut self, what: &str) {
        self.refuse(Refusal::new(
            "UntrustedInput",
            what,
            "your own keys, pointer or assistive technology",
            "an event made by script, which may not act here",
        ));
    }

    fn input(&mut self, event: Event, proof: Proof, engine: &mut TextEngine, out: &mut Vec<Effect>) {
        match event {
            Event::Key(k) => {
                if proof.is_trusted() {
                    self.ring = true;
                    self.key(&k, proof, engine, out);
                } else {
                    self.untrusted("A key");
                }
            }
            Event::Text(e) => {
                let origin = match e.kind {
                    EditKind::Paste | EditKind::Drop => EditOrigin::Pasted,
                    _ => EditOrigin::Typed,
                };
                if !proof.is_trusted() {
                    self.untrusted("A text edit");
                    return;
                }
                let now = self.now.mono_ms;
                let Some(field) = self.focused_field() else { return };
                field.edit(&e, now);
                if e.tainted {
                    self.refuse(Refusal::new(
                        "FieldTainted",
                        "The text field",
                        "text that only your own edits changed",
                        "a script changed the element's text; it was put right again",
                    ));
                }
                self.field_edited(origin, &proof, e.tainted, out);
            }
            Event::Composition(c) => {
                if let Some(field) = self.focused_field() {
                    field.buffer.set_composing(c.0);
                }
            }
            Event::Paste(text) => {
                if proof.is_trusted() {
                    self.paste(&text, proof, out);
                } else {
                    self.untrusted("A paste");
                }
            }
            Event::Cut => {
                if !proof.is_trusted() {
                    self.untrusted("A cut");
                } else if let Some(field) = self.focused_field()
                    && !field.secret
                {
                    let _ = field.buffer.cut();
                    self.field_edited(EditOrigin::Typed, &proof, false, out);
                }
            }
            Event::Pointer(p) => self.pointer(&p, proof, engine, out),
            Event::Wheel { at, delta } => self.wheel(at, delta),
            Event::Activate { node, .. } => match self.painted.action(node).cloned() {
                Some(a) => {
                    if self.takes_focus(node) {
                        self.set_focus(Some(node));
                    }
                    self.act(a, proof, engine, out);
                }
                None => {
                    self.refuse(Refusal::new("ControlGone", "The control", "one that is on screen", "it is gone"));
                }
            },
            Event::FocusNode(id) => {
                if self.painted.semantics.nodes.contains_key(&id) && self.focus != Some(id) {
                    self.set_focus(Some(id));
                }
            }
            Event::WindowFocus(on) => {
                self.page_focused = on;
                if !on {
                    // A composing flag dies on blur; a held press does too.
                    if let Some(field) = self.focused_field() {
                        field.buffer.set_composing(None);
                    }
                    self.press.cancel();
                }
            }
        }
    }

    fn paste(&mut self, text: &str, proof: Proof, out: &mut Vec<Effect>) {
        let now = self.now.mono_ms;
        let Some(field) = self.focused_field() else { return };
        field.paste(text, now);
        self.field_edited(EditOrigin::Pasted, &proof, false, out);
    }

    fn pointer(&mut self, p: &Pointer, proof: Proof, engine: &mut TextEngine, out: &mut Vec<Effect>) {
        let acts = matches!(p.phase, PointerPhase::Down | PointerPhase::Up);
        if acts && !proof.is_trusted() {
            self.press.cancel();
            self.untrusted("A pointer press");
            return;
        }
        if acts {
            self.ring = false;
        }
        if p.button != 0 && acts {
            return;
        }
        let hit = self.painted.hit(p.at).cloned();
        let id = hit.as_ref().filter(|h| h.action.is_some()).map(|h| h.id);
        let dragging = self.drag.clone();
        match self.press.event(p, id) {
            Gesture::Down(_) => {
                self.drag = None;
                // A press has read the tip, or did not need it.
                self.hover_since = u64::MAX;
                self.launcher &= hit.as_ref().is_some_and(|h| h.id == NodeId::of("launcher", 0));
                self.raise(p.at);
                let Some(h) = hit else {
                    self.dismiss();
                    return;
                };
                match h.action {
                    Some(Action::DragWindow(k)) if p.clicks == 2 => self.windows.fill(k, Fill::All),
                    Some(a) if h.drag => self.drag = Some(a),
                    Some(Action::Focus(id)) => {
                        self.set_focus(Some(id));
                        let now = self.now.mono_ms;
                        if let Some(g) = self.painted.field(id).copied()
                            && let Some(field) = self.focused_field()
                        {
                            field.press(engine, &g, p.at, p.clicks, p.mods.shift, now);
                            self.drag = Some(Action::Focus(id));
                        }
                    }
                    Some(Action::SelectText(_)) if !p.touch => {
                        if let Some((key, byte)) = self.painted.text_at(p.at, engine) {
                            self.echo.select_from(key, byte, p.clicks, p.mods.shift, &*self.agent);
                            self.drag = Some(Action::SelectText(key.0));
                        }
                    }
                    None => self.dismiss(),
                    _ => {}
                }
            }
            Gesture::Hover => {
                let now = if p.phase == PointerPhase::Leave { None } else { id };
                if self.hover != now {
                    self.hover = now;
                    self.hover_since = self.now.mono_ms;
                }
            }
            Gesture::Drag { by, .. } => match dragging {
                Some(Action::DragWindow(k)) => self.windows.move_by(k, by, p.at),
                Some(Action::ResizeWindow(k)) => self.windows.resize_by(k, by),
                Some(Action::Focus(id)) => {
                    if let Some(g) = self.painted.field(id).copied()
                        && let Some(field) = self.focused_field()
                    {
                        field.drag(engine, &g, p.at);
                    }
                }
                Some(Action::SelectText(_)) => {
                    if let Some((key, byte)) = self.painted.text_at(p.at, engine) {
                        self.echo.select_to(key, byte);
                    }
                }
                _ => {}
            },
            Gesture::Scroll { from, by } => self.wheel(from, Point::new(-by.x, -by.y)),
            Gesture::Press(id) => {
                self.drag = None;
                if let Some(Action::DragWindow(k)) = dragging {
                    self.windows.drop_at(k, p.at);
                } else if let Some(a) = self.painted.action(id).cloned() {
                    let keep = matches!(a, Action::Pick(_) | Action::Complete(_) | Action::SelectText(_));
                    if self.takes_focus(id) && !keep {
                        self.set_focus(Some(id));
                    }
                    self.act(a, proof, engine, out);
                }
            }
            Gesture::Released => {
                self.drag = None;
                if let Some(Action::DragWindow(k)) = dragging {
                    self.windows.drop_at(k, p.at);
                }
            }
        }
    }

    /// A press anywhere in a window brings it to the top.
    fn raise(&mut self, at: Point) {
        let hit = self.windows.shown().filter(|(_, r)| r.contains(at)).last().map(|(k, _)| k);
        if let Some(k) = hit.filter(|k| !self.palette.covers(at) && self.windows.top() != Some(*k)) {
            self.windows.focus(k);
            self.focus_top();
        }
    }

    /// A press on nothing closes what only hangs there.
    fn dismiss(&mut self) {
        self.launcher = false;
        self.echo.menu = None;
        if self.palette.is_centered() {
            self.close_palette();
        }
        self.echo.selection = None;
    }

    fn wheel(&mut self, at: Point, delta: Point) {
        let Some(s) = self.painted.scroll_at(at).copied() else { return };
        if s.id == crate::echo::transcript_id() {
            self.echo.scroll_by(delta.y);
        } else if let Some(field) = self.painted.field(s.id).map(|g| g.id).and_then(|id| self.field_of(id)) {
            field.wheel(delta.y);
        } else {
            let y = self.scrolls.entry(s.id).or_default();
            *y = (*y + delta.y).clamp(0.0, s.max);
        }
    }
}
