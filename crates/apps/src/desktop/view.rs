//! One frame of the whole desktop, and the desktop's beginning.

use super::{Action, Desktop, Effect, FieldView, View, palette};
use crate::agent::Agent;
use crate::catalogue::{self, AppKey};
use crate::echo::{EchoUi, composer_id};
use crate::status::{LocalModel, Prefs};
use kernel::slash::{Catalog, Recency, SearchManager};
use kernel::{Instant, Kernel};
use scene::{Node, NodeId, Rect, Role};
use std::collections::HashMap;
use std::rc::Rc;
use text::TextEngine;
use ui::event::Env;
use ui::press::Press;
use ui::windows::Windows;
use ui::{Attention, Cursor, Frame, Painted, Theme};

impl Desktop {
    /// A desktop over a kernel in which the agent has registered its tools and skills. AI Echo
    /// is open.
    ///
    /// # Errors
    /// When the catalogue's own tables are wrong; a test holds that they are not.
    pub fn new(
        mut kernel: Kernel,
        agent: Box<dyn Agent>,
        env: Env,
        now: Instant,
    ) -> Result<(Self, Vec<Effect>), catalogue::CatalogueError> {
        let tools: Vec<_> = kernel.tools().iter().map(|t| t.source.name.clone()).collect();
        catalogue::register(&mut kernel, tools)?;
        let mut d = Self {
            kernel,
            agent,
            env,
            now,
            prefs: Prefs::default(),
            windows: Windows::new(Rect::default()),
            mounts: vec![],
            local: LocalModel::default(),
            keys: vec![],
            storage: None,
            status: String::new(),
            echo: EchoUi::default(),
            files: Default::default(),
            settings: Default::default(),
            instructions: Default::default(),
            skills: Default::default(),
            palette: palette::Palette::default(),
            palette_shown: false,
            catalog: Rc::new(Catalog::default()),
            search: SearchManager::default(),
            recency: Recency::default(),
            uses: 0,
            launcher: false,
            focus: Some(composer_id()),
            focus_back: None,
            wish: None,
            last: HashMap::new(),
            ring: false,
            page_focused: true,
            hover: None,
            hover_since: 0,
            press: Press::default(),
            drag: None,
            echo_menu: None,
            composer_rect: None,
            scrolls: HashMap::new(),
            painted: Painted::default(),
            next_id: 0,
            locked: None,
        };
        d.set_env(env);
        d.reproject();
        let mut out = Vec::new();
        d.launch(AppKey::Echo, &mut out);
        d.status.clear();
        d.sync_composer(false, &mut out);
        d.locked.clone_from(&d.echo.conversation);
        out.extend(d.locked.clone().map(Effect::Lock));
        Ok((d, out))
    }

    /// Paints the desktop as it is now. The frame is kept: the next input is tested against it.
    pub fn view(&mut self, engine: &mut TextEngine, now: Instant) -> View {
        self.now = now;
        self.paint_frame(engine);
        // A window that opened takes the keyboard, and what left the screen loses it.
        if self.follow_focus() {
            self.paint_frame(engine);
        }
        let cursor = match self.drag {
            Some(Action::ResizeWindow(_)) => Cursor::ResizeNwse,
            Some(Action::DragWindow(_)) => Cursor::Grab,
            _ => self.painted.hit(self.press.at()).map_or(Cursor::Default, |h| h.cursor),
        };
        View {
            display: self.painted.display.clone(),
            semantics: self.painted.semantics.clone(),
            cursor,
            text_field: self.field_view(),
            wake_at: self.painted.wake_at.map(|w| w.max(now.mono_ms)),
        }
    }

    fn paint_frame(&mut self, engine: &mut TextEngine) {
        let now = self.now;
        let theme = Theme::of(&self.env, self.prefs.theme.dark());
        engine.set_scale(self.env.scale);
        let at = Attention {
            focus: self.focus.filter(|_| self.page_focused),
            ring: self.ring,
            hover: self.hover,
            pressed: self.press.held().filter(|h| Some(*h) == self.hover),
        };
        let screen = Rect::new(0.0, 0.0, self.env.size.w, self.env.size.h);
        let root = Node {
            id: NodeId::of("desktop", 0),
            role: Role::Application,
            name: "WebGPU OS".into(),
            rect: screen,
            ..Node::default()
        };
        let mut f: Frame<'_, Action> = Frame::new(engine, &theme, self.env, at, now.mono_ms, root);
        self.composer_rect = None;
        self.paint_desk(&mut f);
        self.paint_bar(&mut f);
        self.paint_windows(&mut f);
        self.paint_open_menu(&mut f);
        self.paint_launcher(&mut f);
        self.paint_palette(&mut f);
        self.paint_tip(&mut f);
        let mut moved = Vec::new();
        self.painted = f.finish(|id, y| moved.push((id, y)));
        for (id, y) in moved {
            self.scrolls.insert(id, y);
            self.painted.wake_at = Some(now.mono_ms);
        }
    }

    /// The field in focus as it is now, with the geometry of the last frame: what the input
    /// driver compares its element with before a delta.
    pub fn field_in_focus(&mut self) -> Option<FieldView> {
        self.field_view()
    }

    fn field_view(&mut self) -> Option<FieldView> {
        let id = self.focus?;
        let g = *self.painted.field(id)?;
        let f = self.field_of(id)?;
        Some(FieldView {
            id,
            text: f.text().to_owned(),
            selection: f.buffer.selection_utf16(),
            revision: f.buffer.revision(),
            secret: f.secret,
            multiline: f.multiline,
            bounds: g.rect,
            caret: g.caret,
        })
    }

    /// What a copy takes: the selection of the field in focus, else of the transcript. A secret
    /// is never copied.
    pub fn selected_text(&mut self) -> Option<String> {
        if let Some(f) = self.focused_field() {
            if f.secret {
                return None;
            }
            let s = f.buffer.selected_text();
            if !s.is_empty() {
                return Some(s.to_owned());
            }
        }
        self.echo.selected_text(&*self.agent)
    }

    /// The last frame's regions and nodes, for tests that compare them.
    #[must_use]
    pub fn painted(&self) -> &Painted<Action> {
        &self.painted
    }
}
