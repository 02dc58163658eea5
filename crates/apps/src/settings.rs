//! Settings: appearance, models, input, storage, packages, refusals.

use crate::desktop::{Action, Desktop, action::Section};
use crate::status::{InputMethod, LocalModel, ModelOrder, ThemeChoice};
use ai_echo::tools::size_words;
use kernel::registry::PackageState;
use models::{BaseUrl, ProviderConfig, Secret};
use scene::{Node, NodeId, Point, Rect, Role};
use ui::theme::{self, BODY, CAPTION, MONO, SMALL};
use ui::widgets::{self, Kind as Button};
use ui::{Control, Field, Frame, Icon};

fn url_id() -> NodeId {
    NodeId::of("provider-url", 0)
}
fn model_id() -> NodeId {
    NodeId::of("provider-model", 0)
}
fn key_id() -> NodeId {
    NodeId::of("provider-key", 0)
}
/// The button of a page.
pub(crate) fn page_button(s: Section) -> NodeId {
    let id = Section::all().find(|(k, ..)| *k == s).map_or("", |(_, id, _)| id);
    NodeId::of(id, 4)
}
/// One of the provider form's fields.
pub(crate) fn owns(id: NodeId) -> bool {
    [url_id(), model_id(), key_id()].contains(&id)
}

/// What Settings keeps.
#[derive(Debug)]
pub(crate) struct SettingsUi {
    pub section: Section,
    /// On a narrow screen: the list of pages is unfolded.
    pub pages_open: bool,
    url: Field,
    model: Field,
    pub key: Field,
    /// The last word about the provider form.
    pub said: String,
    listed: Vec<String>,
}

impl Default for SettingsUi {
    fn default() -> Self {
        Self {
            section: Section::default(),
            pages_open: false,
            url: Field::line(""),
            model: Field::line(""),
            key: Field::secret(),
            said: String::new(),
            listed: vec![],
        }
    }
}

impl SettingsUi {
    pub(crate) fn field(&mut self, id: NodeId) -> Option<&mut Field> {
        match id {
            _ if id == url_id() => Some(&mut self.url),
            _ if id == model_id() => Some(&mut self.model),
            _ if id == key_id() => Some(&mut self.key),
            _ => None,
        }
    }
    pub(crate) fn take_remote(&mut self, remote: Option<&ProviderConfig>) {
        if let Some(ProviderConfig::OpenAiCompatible { base_url, model, .. }) = remote {
            self.url.reset(&base_url.to_string());
            self.model.reset(model);
        }
    }
    pub(crate) fn tested(&mut self, r: Result<Vec<String>, String>, status: &mut String) {
        self.said = match r {
            Ok(models) => {
                let has = models.iter().any(|m| m == self.model.text());
                let words = match (models.len(), has) {
                    (0, _) => "The server answers, and lists no model.".to_owned(),
                    (n, true) => format!("The server answers and knows this model ({n} listed)."),
                    (n, false) => format!("The server answers and lists {n} models, but not this one."),
                };
                self.listed = models.into_iter().take(12).collect();
                words
            }
            Err(words) => format!("{words} The settings are saved all the same."),
        };
        status.clone_from(&self.said);
    }
    /// What the form says, checked; a key only when one was typed.
    pub(crate) fn provider(&self) -> Result<(ProviderConfig, Option<Secret>), String> {
        let base_url = BaseUrl::parse(self.url.text()).map_err(|e| e.to_string())?;
        let model = self.model.text().trim().to_owned();
        if model.is_empty() || model.len() > MODEL_MAX {
            return Err("The model's name is empty or too long.".into());
        }
        let key = match self.key.text().trim() {
            "" => None,
            k => Some(Secret::new(k, base_url.origin().clone()).map_err(|e| e.to_string())?),
        };
        let key_ref = Some(base_url.origin().to_string());
        Ok((ProviderConfig::OpenAiCompatible { base_url, model, key_ref }, key))
    }
}

/// Longest model name, in bytes, as `models` bounds it.
const MODEL_MAX: usize = 256;

/// A page that is written top down.
struct Sheet {
    x: f32,
    y: f32,
    w: f32,
    n: u64,
}

impl Sheet {
    fn id(&mut self, name: &str) -> NodeId {
        self.n += 1;
        NodeId::of(name, self.n)
    }
    fn text(&mut self, f: &mut Frame<'_, Action>, text: &str, muted: bool) {
        let id = self.id("settings-text");
        let ink = if muted { f.theme.muted } else { f.theme.text };
        let s = f.say(id, Point::new(self.x, self.y), text, BODY, ink, self.w);
        self.y += s.h + 8.0;
    }
    fn pair(&mut self, f: &mut Frame<'_, Action>, label: &str, value: &str) {
        let id = self.id("settings-pair");
        let _ = f.line(Point::new(self.x, self.y), label, SMALL, f.theme.muted, 120.0);
        let s = f.wrapped(Point::new(self.x + 128.0, self.y), value, SMALL, f.theme.text, self.w - 128.0);
        let rect = Rect::new(self.x, self.y, self.w, s.h);
        f.node(Node { id, role: Role::Text, name: format!("{label}: {value}"), rect, ..Node::default() });
        self.y += s.h + 4.0;
    }
    fn button(&mut self, f: &mut Frame<'_, Action>, x: &mut f32, kind: Button, label: &str, hint: &str, a: Action) {
        let w = widgets::button_width(f, label, false);
        let r = Rect::new(*x, self.y, w, f.m.control);
        widgets::button(f, NodeId::of(label, 3), r, kind, None, Control::button(label).describe(hint), a);
        *x += w + 8.0;
    }
    /// A group of choices of which one is on.
    fn choices(&mut self, f: &mut Frame<'_, Action>, name: &str, draw: impl FnOnce(&mut Frame<'_, Action>, &mut Self)) {
        let (id, top) = (self.id("settings-choices"), self.y);
        let rect = Rect::new(self.x, top, self.w, 0.0);
        f.group(Node { id, role: Role::Group, name: name.to_owned(), rect, ..Node::default() }, |f| draw(f, self));
        f.amend(id, |n| n.rect.h = self.y - top);
    }
    fn title(&mut self, f: &mut Frame<'_, Action>, text: &str) {
        let id = self.id("settings-title");
        let s = f.heading(id, Point::new(self.x, self.y), text, theme::HEADING, 2, self.w);
        self.y += s.h + 12.0;
    }
    fn label(&mut self, f: &mut Frame<'_, Action>, text: &str) {
        let s = f.line(Point::new(self.x, self.y), text, SMALL.weight(600), f.theme.text, self.w);
        self.y += s.h + 4.0;
    }
}

impl Desktop {
    /// Paints Settings into its window's body.
    pub(crate) fn paint_settings(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let narrow = rect.w < 560.0;
        let row = f.m.row;
        let side = if narrow { rect.w } else { 190.0 };
        // On a narrow screen the list of pages is folded into a line that says where one is.
        let folded = narrow && !self.settings.pages_open;
        let lines = if folded { 0 } else { Section::all().count() } + usize::from(narrow);
        let nav = Rect::new(rect.x, rect.y, side, if narrow { lines as f32 * row + 12.0 } else { rect.h });
        f.fill_radii(nav, f.theme.panel, scene::Radii([0.0, 0.0, 0.0, 10.0]));
        let edge = if narrow {
            Rect::new(nav.x, nav.bottom() - 1.0, nav.w, 1.0)
        } else {
            Rect::new(nav.right() - 1.0, nav.y, 1.0, nav.h)
        };
        f.fill(edge, f.theme.line, 0.0);
        let node = Node {
            id: NodeId::of("settings-nav", 0),
            role: Role::Navigation,
            name: "Pages of Settings".into(),
            rect: nav,
            ..Node::default()
        };
        f.group(node, |f| {
            let place = |i: usize| Rect::new(nav.x + 8.0, nav.y + 6.0 + i as f32 * row, nav.w - 16.0, row);
            if narrow {
                let r = place(0);
                let title = Section::all().find(|(k, ..)| *k == self.settings.section).map_or("", |(.., t)| t);
                let mut c = Control::button("Pages of Settings").describe(title);
                c.state.expanded = Some(!folded);
                f.control(NodeId::of("settings-pages", 0), r, c, Some(Action::TogglePages), |f, look| {
                    widgets::row_back(f, r, false, look);
                    let at = Point::new(r.x + 10.0, r.y + (r.h - 20.0) / 2.0);
                    let _ = f.line(at, title, SMALL.weight(600), f.theme.text, r.w - 44.0);
                    let sign = if folded { Icon::Down } else { Icon::Up };
                    ui::icons::icon(f, sign, Rect::new(r.right() - 30.0, r.y, 20.0, r.h), f.theme.muted);
                });
            }
            for (i, (s, _, title)) in Section::all().enumerate().filter(|_| !folded) {
                let r = place(i + usize::from(narrow));
                let on = self.settings.section == s;
                let mut c = Control::button(title);
                c.state.pressed = Some(on);
                f.control(page_button(s), r, c, Some(Action::Section(s)), |f, look| {
                    widgets::row_back(f, r, on, look);
                    let ink = if on { f.theme.text } else { f.theme.muted };
                    let _ = f.line(Point::new(r.x + 10.0, r.y + (r.h - 20.0) / 2.0), title, SMALL, ink, r.w - 14.0);
                });
            }
        });
        let page = if narrow {
            Rect::new(rect.x, nav.bottom(), rect.w, rect.bottom() - nav.bottom())
        } else {
            Rect::new(nav.right(), rect.y, rect.w - nav.w, rect.h)
        };
        let id = NodeId::of("settings-page", self.settings.section as u64);
        let y = self.scrolls.get(&id).copied().unwrap_or(0.0);
        f.node(Node { id, role: Role::Region, name: "Page".into(), rect: page, ..Node::default() });
        f.scroll(id, page, y, |f, y| {
            let top = page.y + 20.0 - y;
            let w = (page.w - 48.0).min(520.0);
            let mut s = Sheet { x: page.x + 24.0, y: top, w, n: (self.settings.section as u64) * 1000 };
            match self.settings.section {
                Section::Appearance => self.page_appearance(f, &mut s),
                Section::Model => self.page_model(f, &mut s),
                Section::Provider => self.page_provider(f, &mut s),
                Section::Input => self.page_input(f, &mut s),
                Section::Storage => self.page_storage(f, &mut s),
                Section::Packages => self.page_packages(f, &mut s),
                Section::Refusals => self.page_refusals(f, &mut s, &page),
            }
            s.y - top + 44.0
        });
    }

    fn page_appearance(&mut self, f: &mut Frame<'_, Action>, s: &mut Sheet) {
        s.title(f, "Appearance");
        s.choices(f, "Theme", |f, s| {
            for (t, id, name) in ThemeChoice::ALL {
                let hint = match t {
                    ThemeChoice::System if f.env.dark => "dark now",
                    ThemeChoice::System => "light now",
                    _ => "",
                };
                let r = Rect::new(s.x - 8.0, s.y, s.w + 8.0, f.m.row);
                widgets::radio(f, NodeId::of(id, 5), r, name, hint, self.prefs.theme == t, Action::Theme(t));
                s.y += f.m.row;
            }
        });
        s.y += 8.0;
        s.text(f, "Text follows the browser's zoom. Motion, contrast and forced colours follow the system.", true);
    }

    fn page_model(&mut self, f: &mut Frame<'_, Action>, s: &mut Sheet) {
        s.title(f, "On-device model");
        s.text(
            f,
            "SmolLM2-135M-Instruct answers on this device: no account, no key, no network once it is here.",
            false,
        );
        s.text(f, "It is small. It answers in a line or two, summarises short notes, and fills in one tool from your own words. It is often wrong about facts and does not follow long conversations. For more, connect a remote model.", true);
        s.y += 4.0;
        s.pair(f, "State", &self.local.words());
        if let LocalModel::Ready { engine } = &self.local {
            s.pair(f, "Runs on", engine);
        }
        if let LocalModel::Failed(w) | LocalModel::Lost(w) = &self.local {
            s.pair(f, "Said", w);
        }
        s.pair(f, "Size", "98,362,432 bytes, 135 million parameters");
        s.pair(f, "Licence", "Apache-2.0");
        if let Some(p) = self.local.percent() {
            let r = Rect::new(s.x, s.y + 6.0, s.w, 8.0);
            widgets::progress(f, NodeId::of("settings-progress", 0), r, &self.local.words(), p);
            s.y += 24.0;
        }
        s.y += 8.0;
        let mut x = s.x;
        match &self.local {
            LocalModel::Absent | LocalModel::NoRoom { .. } | LocalModel::Failed(_) => {
                s.button(
                    f,
                    &mut x,
                    Button::Primary,
                    "Fetch the model",
                    "about 98 MB, once",
                    Action::Model(ModelOrder::Load),
                );
            }
            _ => s.button(
                f,
                &mut x,
                Button::Plain,
                "Load again",
                "starts a new worker",
                Action::Model(ModelOrder::Reload),
            ),
        }
        if !matches!(self.local, LocalModel::Absent) {
            s.button(
                f,
                &mut x,
                Button::Danger,
                "Remove from this device",
                "it can be fetched again",
                Action::Model(ModelOrder::Remove),
            );
        }
        s.y += f.m.control;
    }

    fn page_provider(&mut self, f: &mut Frame<'_, Action>, s: &mut Sheet) {
        s.title(f, "Remote model");
        s.text(f, "Any server that speaks OpenAI's chat protocol: Ollama, llama.cpp, vLLM, or a provider. What you write in a conversation that uses it leaves this device.", true);
        let h = f.m.control.max(36.0);
        s.label(f, "Address");
        let c = Control::new(Role::TextField, "Address of the server");
        self.settings.url.boxed(
            f,
            url_id(),
            Rect::new(s.x, s.y, s.w, h),
            c,
            "http://127.0.0.1:11434/v1",
            Action::Focus(url_id()),
        );
        s.y += h + 12.0;
        s.label(f, "Model");
        let c = Control::new(Role::TextField, "Name of the model there");
        self.settings.model.boxed(f, model_id(), Rect::new(s.x, s.y, s.w, h), c, "llama3.2", Action::Focus(model_id()));
        s.y += h + 12.0;
        let origin = BaseUrl::parse(self.settings.url.text()).ok().map(|u| u.origin().to_string());
        let stored = origin.is_some_and(|o| self.keys.contains(&o));
        s.label(f, "Key, if it needs one");
        let c = Control::new(Role::TextField, "Key")
            .describe("kept in this browser, never shown again, sent only to this address's origin");
        self.settings.key.boxed(
            f,
            key_id(),
            Rect::new(s.x, s.y, s.w, h),
            c,
            if stored { "leave empty to keep the one that is stored" } else { "leave empty where none is needed" },
            Action::Focus(key_id()),
        );
        s.y += h + 12.0;
        s.text(f, "A key stays in this browser and goes only to the origin it was entered for.", true);
        let mut x = s.x;
        s.button(f, &mut x, Button::Primary, "Save", "", Action::SaveProvider);
        s.button(
            f,
            &mut x,
            Button::Plain,
            "Save and test",
            "asks the server which models it has",
            Action::TestProvider,
        );
        s.y += f.m.control + 12.0;
        for k in self.keys.clone() {
            s.y += 8.0;
            let label = format!("A key is stored for {k}");
            let id = s.id("stored-key");
            let size = f.say(id, Point::new(s.x, s.y + 6.0), &label, SMALL, f.theme.text, s.w - 120.0);
            let r = Rect::new(s.x + s.w - 100.0, s.y, 100.0, 32.0);
            let id = s.id("forget-key");
            widgets::button(
                f,
                id,
                r,
                Button::Danger,
                None,
                Control::button("Forget key").describe(k.clone()),
                Action::ForgetKey(k),
            );
            s.y += size.h.max(32.0);
        }
        if !self.keys.is_empty() {
            s.y += 12.0;
        }
        if !self.settings.said.is_empty() {
            let said = self.settings.said.clone();
            s.text(f, &said, false);
        }
        for m in self.settings.listed.clone() {
            let r = f.line(Point::new(s.x + 12.0, s.y), &m, MONO, f.theme.muted, s.w - 12.0);
            s.y += r.h;
        }
    }

    fn page_input(&mut self, f: &mut Frame<'_, Action>, s: &mut Sheet) {
        s.title(f, "Input method");
        s.text(f, "How text reaches this page. Change it when an input method or dictation behaves oddly.", true);
        s.choices(f, "Input method", |f, s| {
            for (i, name, hint) in InputMethod::ALL {
                let r = Rect::new(s.x - 8.0, s.y, s.w + 8.0, f.m.row);
                widgets::radio(f, NodeId::of(name, 5), r, name, hint, self.prefs.input == i, Action::Input(i));
                s.y += f.m.row;
            }
        });
    }

    fn page_storage(&mut self, f: &mut Frame<'_, Action>, s: &mut Sheet) {
        s.title(f, "Storage");
        s.text(f, "Conversations, drafts, receipts, the sample folder and the model are kept in this browser and nowhere else.", true);
        if let Some(st) = self.storage {
            let used = format!("{} of {}", size_words(st.used), size_words(st.quota));
            s.pair(f, "Used", &used);
            s.pair(
                f,
                "Kept",
                if st.persisted {
                    "the browser promised to keep it"
                } else {
                    "the browser may clear it when space is short"
                },
            );
            let percent = st.used.saturating_mul(100) / st.quota.max(1);
            let r = Rect::new(s.x, s.y + 6.0, s.w, 8.0);
            let percent = u8::try_from(percent.min(100)).unwrap_or(100);
            widgets::progress(f, NodeId::of("storage-bar", 0), r, &format!("Used: {used}"), percent);
            s.y += 28.0;
        } else {
            s.text(f, "Measuring…", true);
        }
        let mut x = s.x;
        s.button(f, &mut x, Button::Plain, "Measure again", "", Action::MeasureStorage);
        s.y += f.m.control;
    }

    fn page_packages(&mut self, f: &mut Frame<'_, Action>, s: &mut Sheet) {
        s.title(f, "Packages");
        s.text(
            f,
            "A package that is switched off has no app, no command and no tool: its rows are gone at once.",
            true,
        );
        let all: Vec<_> = self.kernel.packages().iter().cloned().collect();
        for p in all {
            let apps = self.kernel.apps().iter().filter(|a| a.package == p.id).count();
            let tools = self.kernel.tools().iter().filter(|t| t.source.owner == p.id).count();
            let commands = self.kernel.commands().iter().filter(|c| c.owner == p.id).count();
            let skills = self.kernel.guidance().iter().filter(|g| g.package == p.id).count();
            let part = |n: usize, one: &str| (n > 0).then(|| format!("{n} {one}{}", if n == 1 { "" } else { "s" }));
            let parts: Vec<String> =
                [part(apps, "app"), part(commands, "command"), part(tools, "tool"), part(skills, "skill")]
                    .into_iter()
                    .flatten()
                    .collect();
            let mut hint = parts.join(", ");
            if self.is_fixed(&p.id) {
                hint.push_str(". Part of the shell");
            }
            match p.state {
                PackageState::Missing => hint.push_str(". Its files are gone"),
                PackageState::Orphaned => hint.push_str(". Its source no longer lists it"),
                PackageState::Present { .. } => {}
            }
            let on = p.state == PackageState::Present { enabled: true };
            let r = Rect::new(s.x - 8.0, s.y, s.w + 16.0, 52.0);
            widgets::toggle(
                f,
                NodeId::of(p.id.as_str(), 6),
                r,
                &p.title,
                &hint,
                on,
                Action::TogglePackage(p.id.clone()),
            );
            s.y += 56.0;
        }
    }

    fn page_refusals(&mut self, f: &mut Frame<'_, Action>, s: &mut Sheet, page: &Rect) {
        s.title(f, "Refusals");
        let ring = self.kernel.refusals();
        let (kept, total) = (ring.iter().len(), ring.total());
        if kept == 0 {
            s.text(f, "Nothing was refused since this page was opened.", true);
            return;
        }
        s.text(f, &format!("The last {kept} of {total}, newest first. A refusal changes nothing."), true);
        let rows: Vec<_> = ring.iter().rev().map(|r| (r.code.to_string(), r.plain())).collect();
        for (i, (code, words)) in (0_u64..).zip(rows) {
            let block = f.block(&words, SMALL, &[], Some(s.w), text::Wrap::Word);
            let h = f.engine.size(block).h + 28.0;
            let seen = s.y + h > page.y && s.y < page.bottom();
            if seen {
                let _ = f.line(Point::new(s.x, s.y), &code, CAPTION.weight(600), f.theme.muted, s.w);
                let _ = f.run(block, Point::new(s.x, s.y + 16.0), f.theme.text);
            }
            let rect = Rect::new(s.x, s.y, s.w, h);
            f.node(Node { id: NodeId::of("refusal", i), role: Role::Text, name: words, rect, ..Node::default() });
            s.y += h;
        }
    }
}
