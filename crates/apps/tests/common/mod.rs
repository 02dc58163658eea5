//! A desktop with the real agent, typed at and clicked on.
#![allow(dead_code)] // each test file uses its part

use ai_echo::conversation::MountRecord;
use apps::desktop::{Desktop, Effect, Msg, View};
use apps::status::{LocalModel, Mount, MountState};
use kernel::authority::{GestureKind, GestureMint, Proof};
use kernel::{Instant, Kernel, MountId};
use scene::{NodeId, Point, Role, Size};
use std::collections::BTreeMap;
use text::TextEngine;
use ui::event::{Composition, EditKind, Env, Event, Key, KeyPress, Mods, Pointer, PointerPhase, TextEdit};

pub struct Rig {
    pub desk: Desktop,
    pub engine: TextEngine,
    pub mint: GestureMint,
    pub now: u64,
    pub out: Vec<Effect>,
    pub view: Option<View>,
    /// What is kept of decisions about skills.
    pub reviews: BTreeMap<(MountId, String), skills::packages::review::Reviews>,
}

pub fn env(w: f32, h: f32) -> Env {
    Env {
        size: Size::new(w, h),
        scale: 1.0,
        dark: true,
        reduced_motion: true,
        forced_colors: false,
        coarse: false,
        keyboard_inset: 0.0,
    }
}

impl Rig {
    pub fn new() -> Self {
        Self::sized(1280.0, 800.0)
    }
    pub fn sized(w: f32, h: f32) -> Self {
        Self::kept(
            w,
            h,
            ai_echo::conversation::Loaded::Index {
                settings: None,
                conversations: vec![],
                drafts: vec![],
                mounts: vec![],
            },
        )
    }
    /// With what was kept from before.
    pub fn kept(w: f32, h: f32, index: ai_echo::conversation::Loaded) -> Self {
        let mut rig = Self::starting(w, h);
        rig.msg(Msg::Echo(ai_echo::Msg::Loaded(index)));
        rig.msg(Msg::Mounts(vec![mount("welcome", MountState::Ready)]));
        rig.msg(Msg::LocalModel(LocalModel::Ready { engine: "test".into() }));
        rig.frame();
        rig
    }
    /// As it is before anything was read from storage.
    pub fn starting(w: f32, h: f32) -> Self {
        let mut kernel = Kernel::new();
        ai_echo::register::register(&mut kernel).expect("registers");
        let (echo, start) = ai_echo::Echo::start();
        let now = Instant { wall_ms: 1_780_000_000_000, mono_ms: 1000 };
        let (desk, mut out) = Desktop::new(kernel, Box::new(echo), env(w, h), now).expect("catalogue");
        out.extend(start.into_iter().map(Effect::Echo));
        let mut rig = Self {
            desk,
            engine: ui::testing::engine(),
            mint: GestureMint::for_tests(),
            now: 1000,
            out,
            view: None,
            reviews: BTreeMap::new(),
        };
        rig.frame();
        rig
    }
    pub fn at(&self) -> Instant {
        Instant { wall_ms: 1_780_000_000_000 + self.now as i64, mono_ms: self.now }
    }
    pub fn msg(&mut self, m: Msg) {
        let out = self.desk.update(m, self.at(), &mut self.engine);
        self.out.extend(out);
    }
    pub fn frame(&mut self) -> &View {
        self.now += 16;
        let at = self.at();
        let v = self.desk.view(&mut self.engine, at);
        self.view.insert(v)
    }
    pub fn proof(&mut self, kind: GestureKind) -> Proof {
        let at = self.at();
        self.mint.stamp(kind, true, at)
    }
    pub fn key_mods(&mut self, key: Key, mods: Mods) {
        let p = self.proof(GestureKind::Key);
        let k = KeyPress { key, mods, repeat: false, composing: false, at_ms: self.now as f64 };
        self.msg(Msg::Input(Event::Key(k), p));
    }
    /// One key, no frame.
    pub fn press(&mut self, key: Key) {
        self.key_mods(key, Mods::default());
    }
    pub fn ctrl(&mut self, c: char) {
        self.key_mods(Key::Char(c), Mods { ctrl: true, ..Mods::default() });
    }
    /// One typed text at the caret of the field in focus, as the input driver reports it.
    pub fn text(&mut self, text: &str) {
        // The driver works on the field as it was told last; without a frame it knows its own edits.
        let (_, caret) = self.driver_selection();
        let n = u32::try_from(text.encode_utf16().count()).expect("short");
        let e = TextEdit {
            range: caret..caret,
            text: text.into(),
            selection: (caret + n, caret + n),
            kind: EditKind::Typing,
            tainted: false,
        };
        let p = self.proof(GestureKind::TextEdit);
        self.msg(Msg::Input(Event::Text(e), p));
    }
    fn driver_selection(&mut self) -> (u32, u32) {
        // A look without a new frame of the palette: the field's own state.
        self.desk.field_in_focus().map_or((0, 0), |f| f.selection)
    }
    /// Types text with a frame after every character.
    pub fn type_(&mut self, text: &str) {
        for c in text.chars() {
            self.text(&c.to_string());
            self.frame();
        }
    }
    pub fn compose(&mut self, text: &str) {
        let (_, caret) = self.driver_selection();
        let n = u32::try_from(text.encode_utf16().count()).expect("short");
        let e = TextEdit {
            range: caret..caret,
            text: text.into(),
            selection: (caret + n, caret + n),
            kind: EditKind::Composition,
            tainted: false,
        };
        let p = self.proof(GestureKind::TextEdit);
        self.msg(Msg::Input(Event::Text(e), p));
        let p = self.proof(GestureKind::TextEdit);
        self.msg(Msg::Input(Event::Composition(Composition(Some(caret..caret + n))), p));
    }
    pub fn pointer(&mut self, phase: PointerPhase, at: Point, trusted: bool) {
        let instant = self.at();
        let p = self.mint.stamp(GestureKind::Pointer, trusted, instant);
        let e =
            Pointer { phase, at, button: 0, clicks: 1, touch: false, mods: Mods::default(), at_ms: self.now as f64 };
        self.msg(Msg::Input(Event::Pointer(e), p));
    }
    /// Two presses in a row.
    pub fn double_click_at(&mut self, at: Point) {
        for clicks in [1, 2] {
            for phase in [PointerPhase::Move, PointerPhase::Down, PointerPhase::Up] {
                let instant = self.at();
                let p = self.mint.stamp(GestureKind::Pointer, true, instant);
                let at_ms = self.now as f64;
                let e = Pointer { phase, at, button: 0, clicks, touch: false, mods: Mods::default(), at_ms };
                self.msg(Msg::Input(Event::Pointer(e), p));
            }
        }
        self.frame();
    }
    pub fn click_at(&mut self, at: Point) {
        self.pointer(PointerPhase::Move, at, true);
        self.pointer(PointerPhase::Down, at, true);
        self.pointer(PointerPhase::Up, at, true);
        self.frame();
    }
    /// The node of a role and a name that begins so.
    pub fn node(&self, role: Role, name: &str) -> Option<NodeId> {
        let s = &self.desk.painted().semantics;
        s.nodes.values().find(|n| n.role == role && n.name.starts_with(name)).map(|n| n.id)
    }
    pub fn click(&mut self, role: Role, name: &str) {
        let id = self.node(role, name).unwrap_or_else(|| panic!("no {role:?} {name}:\n{}", self.tree()));
        let r = self.desk.painted().semantics.nodes[&id].rect;
        self.click_at(Point::new(r.x + r.w / 2.0, r.y + r.h / 2.0));
    }
    pub fn tree(&self) -> String {
        self.desk.painted().semantics.to_text()
    }
    /// The part of the outline below the first line that contains `head`.
    pub fn part(&self, head: &str) -> String {
        let tree = self.tree();
        let mut lines = tree.lines().skip_while(|l| !l.contains(head));
        let Some(first) = lines.next() else { return String::new() };
        let depth = first.len() - first.trim_start().len();
        let rest = lines.take_while(|l| l.len() - l.trim_start().len() > depth);
        std::iter::once(first).chain(rest).map(|l| format!("{}\n", &l[depth..])).collect()
    }
    pub fn draft(&mut self) -> String {
        self.frame();
        let id = self.node(Role::Combobox, "Message").expect("composer");
        self.desk.painted().semantics.nodes[&id].value.clone()
    }
    pub fn asks(&self) -> usize {
        self.out.iter().filter(|e| matches!(e, Effect::Echo(ai_echo::Effect::Ask(..)))).count()
    }
    pub fn user_messages(&self) -> usize {
        let c = self.desk.agent().current().expect("conversation");
        c.items.iter().filter(|i| matches!(i.kind, ai_echo::conversation::ItemKind::User { .. })).count()
    }
    pub fn user_messages_or_none(&self) -> usize {
        if self.desk.agent().current().is_some() { self.user_messages() } else { 0 }
    }
    pub fn refusal_codes(&self) -> Vec<String> {
        self.desk.kernel().refusals().iter().map(|r| r.code.to_string()).collect()
    }
}

pub fn mount(id: &str, state: MountState) -> Mount {
    let id = MountId::new(id).expect("id");
    let title = id.to_string();
    Mount { record: MountRecord { id, title }, state, sample: true }
}

/// The answer of the model in these tests.
pub const ANSWER: &str = "A **tide table** lists times.\n\n- one\n- two\n\n```rust\nlet h = 4;\n```\n\n| Time | Height |\n|---|---|\n| 03:12 | 4.1 m |\n\nSee [the office](https://example.com/) and [bad](javascript:x).";

impl Rig {
    /// Storage says yes, and keeps what was decided about skills.
    fn store(&mut self, id: ai_echo::conversation::StoreId, op: ai_echo::conversation::StoreOp) -> ai_echo::Msg {
        use ai_echo::conversation::{Loaded, StoreOp};
        match op {
            StoreOp::PutSkillReview(mount, name, part) => {
                self.reviews.insert((mount, name), *part);
            }
            StoreOp::DeleteSkillReview(mount, name) => {
                self.reviews.remove(&(mount, name));
            }
            StoreOp::LoadSkillReviews => {
                return ai_echo::Msg::Loaded(Loaded::SkillReviews(self.reviews.values().cloned().collect()));
            }
            _ => {}
        }
        ai_echo::Msg::Stored(id, Ok(()))
    }
    /// Performs what was asked for, until nothing more is: storage says yes, files come from
    /// `mount`, the model answers [`ANSWER`].
    pub fn serve(&mut self, mount: &mut kernel::mount::MemMount) {
        use models::{Ask, FinishReason, ModelEvent};
        for _ in 0..200 {
            let todo = std::mem::take(&mut self.out);
            if todo.is_empty() {
                return;
            }
            for e in todo {
                match e {
                    Effect::Echo(ai_echo::Effect::Fs { id, needs, .. }) => {
                        let r = needs.iter().map(|n| mount.perform(n)).collect();
                        self.msg(Msg::Echo(ai_echo::Msg::Fs(id, r)));
                    }
                    Effect::Echo(ai_echo::Effect::Store(id, op)) => {
                        let answer = self.store(id, *op);
                        self.msg(Msg::Echo(answer));
                    }
                    Effect::Echo(ai_echo::Effect::Skills(Some(id))) => {
                        let mut look = skills::packages::Discovery::new(&kernel::mount::MountPath::root());
                        let found = kernel::mount::drive(|replies| look.step(replies), |need| mount.perform(need));
                        self.msg(Msg::Echo(ai_echo::Msg::SkillsFound(id, Box::new(found))));
                    }
                    Effect::Files { id, needs, .. } => {
                        let r = needs.iter().map(|n| mount.perform(n)).collect();
                        self.msg(Msg::Files(id, r));
                    }
                    Effect::Echo(ai_echo::Effect::Ask(ask, _)) => {
                        let run = ask.run();
                        let events = match *ask {
                            Ask::Score { candidates, .. } => {
                                vec![ModelEvent::Scores((0..candidates.len()).map(|i| -(i as f32)).collect())]
                            }
                            Ask::Chat(_) => vec![
                                ModelEvent::Started,
                                ModelEvent::Delta(ANSWER.into()),
                                ModelEvent::Finished { reason: FinishReason::Stop, usage: None },
                            ],
                        };
                        for e in events {
                            self.msg(Msg::Echo(ai_echo::Msg::Model(run, e)));
                        }
                    }
                    _ => {}
                }
            }
        }
        panic!("the agent never came to rest");
    }
    /// Types a `/tool:files.write` and brings its card up; the model is the one above.
    pub fn card(&mut self, mount: &mut kernel::mount::MemMount) {
        for c in "/tool:files.write put \"buy milk\" into notes/shopping.md".chars() {
            self.text(&c.to_string());
        }
        self.frame();
        self.press(Key::Enter);
        self.serve(mount);
        self.frame();
        assert!(self.node(Role::AlertDialog, "Review").is_some(), "no card:\n{}", self.tree());
    }
}
