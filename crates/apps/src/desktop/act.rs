//! What actions do.

use super::{Action, Desktop, Effect, action::Section};
use crate::catalogue::{AppKey, ShellCommand};
use crate::echo::{Held, composer_id, find_id, rename_id};
use crate::settings;
use crate::status::{ModelOrder, MountState, ThemeChoice};
use kernel::authority::Proof;
use kernel::registry::PackageState;
use kernel::slash::EditOrigin;
use kernel::{PackageId, Refusal};
use models::ProviderConfig;
use scene::NodeId;
use text::TextEngine;
use ui::Field;

impl Desktop {
    /// Does an action. Every act but the harmless ones needs proof.
    pub(crate) fn act(&mut self, a: Action, proof: Proof, engine: &mut TextEngine, out: &mut Vec<Effect>) {
        if !proof.is_trusted() && !a.is_harmless() {
            self.untrusted("A press");
            return;
        }
        if !matches!(a, Action::Menu(_)) {
            self.echo.menu = None;
        }
        // The last word was about what was there before this act.
        if !matches!(a, Action::Focus(_) | Action::SelectText(_)) {
            self.status.clear();
        }
        if !matches!(a, Action::Launch(_) | Action::ToggleLauncher) {
            self.launcher = false;
        }
        match a {
            Action::Launch(k) => {
                self.launcher = false;
                self.launch(k, out);
            }
            Action::ToggleLauncher => {
                self.launcher = !self.launcher;
                if self.launcher {
                    self.focus_in(NodeId::of("launcher", 0));
                }
            }
            Action::Focus(id) => self.set_focus(Some(id)),
            Action::FocusWindow(k) => {
                self.windows.focus(k);
                self.focus_top();
            }
            Action::CloseWindow(k) => self.close_window(k),
            Action::FillWindow(k, fill) => self.windows.fill(k, fill),
            Action::DragWindow(_) | Action::ResizeWindow(_) | Action::SelectText(_) => {}
            Action::OpenPalette => self.open_palette(),
            Action::ClosePalette => self.close_palette(),
            Action::Pick(row) => {
                self.pick(&row, proof, out);
                self.back_to_text();
            }
            Action::Complete(v) => {
                self.complete_value(&v, proof, out);
                self.back_to_text();
            }
            Action::Approve(call) => self.approve(call, proof, out),
            Action::Reject(call) => {
                self.tell(ai_echo::Msg::Reject(call), out);
                self.set_focus(Some(composer_id()));
            }
            Action::ApproveSkill => self.approve_skill(proof, out),
            Action::ShowResources => self.show_resources(proof, out),
            a @ (Action::RevokeSkill(_) | Action::EnableSkill(..)) => self.skill_act(a, proof, out),
            Action::Send => self.submit(proof, out),
            Action::SendAsText => self.send_as_text(out),
            Action::Try(i) => self.try_it(i, &proof, out),
            other => self.act_more(other, engine, out),
        }
    }

    fn back_to_text(&mut self) {
        let id = if self.palette.is_centered() { super::palette::field_id() } else { composer_id() };
        if self.field_of(id).is_some() && (self.palette.is_centered() || self.windows.top() == Some(AppKey::Echo)) {
            self.set_focus(Some(id));
        }
    }

    fn act_more(&mut self, a: Action, _engine: &mut TextEngine, out: &mut Vec<Effect>) {
        match a {
            Action::NewConversation => self.new_conversation(out),
            Action::Select(c) => {
                self.echo.side_over = false;
                self.tell(ai_echo::Msg::Select(c), out);
                self.set_focus(Some(composer_id()));
            }
            Action::Rename(c) => {
                let title = self.agent.conversations().iter().find(|x| x.id == c).map(|x| x.title.clone());
                let mut field = Field::line(&title.unwrap_or_default());
                field.buffer.select_all();
                self.echo.rename = Some((c, field));
                self.set_focus(Some(rename_id()));
            }
            Action::FinishRename => {
                if let Some((c, field)) = self.echo.rename.take() {
                    self.tell(ai_echo::Msg::Rename(c, field.text().to_owned()), out);
                }
                self.set_focus(Some(composer_id()));
            }
            Action::AskDelete(c) => {
                self.echo.deleting = Some(c);
                self.set_focus(Some(NodeId::of("delete-no", 0)));
            }
            Action::KeepConversation => self.echo.deleting = None,
            Action::Delete(c) => {
                self.echo.deleting = None;
                self.tell(ai_echo::Msg::Delete(c), out);
                self.set_focus(Some(composer_id()));
            }
            Action::ToggleSide => self.toggle_side(out),
            Action::Stop => {
                self.stop(out);
                self.set_focus(Some(composer_id()));
            }
            Action::StopTurn(turn) => {
                self.tell(ai_echo::Msg::StopTurn(turn), out);
                self.set_focus(Some(composer_id()));
            }
            Action::DismissNotice => {
                self.echo.notice = None;
                self.set_focus(Some(composer_id()));
            }
            Action::JumpLatest => {
                self.echo.scroll.follow = true;
                self.set_focus(Some(composer_id()));
            }
            Action::CopyCode(item, piece) => self.copy_piece(item, piece, out),
            Action::CopyMessage(item) => self.copy_message(item, out),
            Action::OpenLink(href) => out.push(Effect::OpenLink(href)),
            Action::ToggleItem(id) => {
                let was = self.echo.expanded.remove(&id);
                if !was {
                    self.echo.expanded.insert(id);
                }
            }
            Action::Undo(op) => self.tell(ai_echo::Msg::Undo(op), out),
            Action::Detach(i) => {
                if let Some(c) = self.agent.current().map(|c| c.id.clone()) {
                    self.tell(ai_echo::Msg::Detach(c, i), out);
                }
            }
            Action::Menu(m) => {
                if m.is_some() {
                    self.close_palette();
                }
                self.echo.menu = if self.echo.menu == m { None } else { m };
                if self.echo.menu.is_some() {
                    self.focus_in(NodeId::of("menu", 0));
                }
            }
            Action::UseLocal => self.choose_model(ProviderConfig::OnDevice, out),
            Action::UseRemote => {
                if let Some(r) = self.prefs.remote.clone() {
                    self.choose_model(r, out);
                }
            }
            Action::UseMount(m) => {
                let asked =
                    m.clone().filter(|m| self.mounts.iter().any(|x| x.id() == m && x.state != MountState::Ready));
                out.extend(asked.map(Effect::Reconnect));
                if let Some(c) = self.agent.current().map(|c| c.id.clone()) {
                    self.tell(ai_echo::Msg::UseMount(c, m), out);
                }
            }
            Action::OpenFind => self.open_find(),
            Action::CloseFind => {
                self.echo.find = None;
                self.set_focus(Some(composer_id()));
            }
            Action::FindNext(back) => {
                self.echo.find_next(back, &*self.agent);
                self.say_found();
            }
            Action::Model(order) => self.order_model(order, out),
            Action::PickFolder => out.push(Effect::PickFolder),
            Action::Reconnect(m) => out.push(Effect::Reconnect(m)),
            Action::Unmount(m) => out.push(Effect::Unmount(m)),
            Action::OpenMount(m) => {
                let ready = self.mounts.iter().any(|x| *x.id() == m && x.state.readable());
                let id = self.fresh_id();
                self.files.open_mount(m, ready, id, out);
            }
            Action::OpenFolder(p) => {
                let id = self.fresh_id();
                self.files.open_folder(p, id, out);
                self.focus_when_there(AppKey::Files, crate::files::entry_id(0));
            }
            Action::OpenFile(p) => {
                let id = self.fresh_id();
                self.files.open_file(p, id, out);
                self.focus_when_there(AppKey::Files, crate::files::text_id());
            }
            Action::CloseFile => {
                let entry = self.files.close_file();
                self.focus_soon(AppKey::Files, crate::files::entry_id(entry));
            }
            Action::RefreshFiles => self.refresh_files(out),
            Action::ShowFile(m, p) => self.show_file(m, p, out),
            Action::ReadInstructions => self.read_instructions(out),
            Action::ToggleInstruction(p) => self.toggle_instruction(p),
            Action::LookForSkills => self.look_for_skills(out),
            Action::OpenSkill(root, folder) => self.open_skill(root, &folder, false, out),
            Action::CloseSkill => self.close_skill(),
            Action::CopySkill => self.copy_skill(out),
            Action::TryObjective => self.try_objective(),
            Action::AttachFile(p) => self.attach(p, out),
            Action::Section(s) => self.go_section(s, out),
            Action::TogglePages => self.settings.pages_open = !self.settings.pages_open,
            Action::Theme(t) => self.set_theme(t, out),
            Action::Input(i) => {
                self.prefs.input = i;
                out.push(Effect::InputMethod(i));
                self.save_prefs(out);
            }
            Action::TogglePackage(id) => {
                let on = !self.kernel.packages().is_enabled(&id);
                self.set_package(&id, on, out);
            }
            Action::SaveProvider => self.save_provider(out),
            Action::TestProvider => self.test_provider(out),
            Action::ForgetKey(origin) => {
                self.keys.retain(|k| *k != origin);
                out.push(Effect::RemoveKey(origin));
            }
            Action::MeasureStorage => out.push(Effect::MeasureStorage),
            // Handled by `act`, which has the proof.
            _ => {}
        }
    }

    /// Opens an app's window, if its surface is live (I-136).
    pub(crate) fn launch(&mut self, k: AppKey, out: &mut Vec<Effect>) {
        let d = k.def();
        let live = kernel::AppId::new(d.id)
            .map_err(Refusal::from)
            .and_then(|id| self.kernel.apps().live(&id, self.kernel.packages()).map(|_| ()).map_err(Refusal::from));
        if let Err(e) = live {
            self.refuse(e);
            return;
        }
        let was = self.windows.is_open(k);
        if !self.windows.open(k, d.size) {
            self.refuse(Refusal::new("WindowsFull", d.title, "fewer open windows", "there are 16 already"));
            return;
        }
        match k {
            AppKey::Files if !was => {
                let id = self.fresh_id();
                self.files.opened(&self.mounts, id, out);
            }
            AppKey::Skills if !was => self.look_for_skills(out),
            AppKey::Instructions if !was => self.read_instructions(out),
            AppKey::Settings if !was => out.push(Effect::MeasureStorage),
            _ => {}
        }
        self.focus_top();
        self.status = format!("{} is open", d.title);
    }

    /// The command of a `/cmd` row.
    pub(crate) fn command(&mut self, c: ShellCommand, arg: &str, out: &mut Vec<Effect>) {
        match c {
            ShellCommand::ToggleTheme => {
                let dark = self.prefs.theme.dark().unwrap_or(self.env.dark);
                self.set_theme(if dark { ThemeChoice::Light } else { ThemeChoice::Dark }, out);
            }
            ShellCommand::Theme => {
                if let Some((t, ..)) = ThemeChoice::ALL.into_iter().find(|t| t.1 == arg) {
                    self.set_theme(t, out);
                }
            }
            ShellCommand::EnablePackage | ShellCommand::DisablePackage => {
                if let Ok(id) = PackageId::new(arg) {
                    self.set_package(&id, c == ShellCommand::EnablePackage, out);
                }
            }
            ShellCommand::ReloadModel => self.order_model(ModelOrder::Reload, out),
            ShellCommand::CloseWindow => {
                if let Some(k) = self.windows.top() {
                    self.close_window(k);
                }
            }
            ShellCommand::NextWindow => {
                self.windows.cycle(false);
                self.focus_top();
            }
            ShellCommand::MountFolder => out.push(Effect::PickFolder),
            ShellCommand::LintSkill => self.lint_skill(arg.trim(), out),
        }
    }

    fn order_model(&mut self, o: ModelOrder, out: &mut Vec<Effect>) {
        self.status = match o {
            ModelOrder::Load => "Fetching the on-device model",
            ModelOrder::Reload => "Loading the on-device model again",
            ModelOrder::Remove => "Removing the on-device model",
        }
        .to_owned();
        out.push(Effect::Model(o));
    }

    pub(crate) fn set_theme(&mut self, t: ThemeChoice, out: &mut Vec<Effect>) {
        self.prefs.theme = t;
        if let Some((_, _, name)) = ThemeChoice::ALL.iter().find(|x| x.0 == t) {
            self.status = format!("Theme: {name}");
        }
        self.save_prefs(out);
    }

    pub(crate) fn save_prefs(&mut self, out: &mut Vec<Effect>) {
        out.push(Effect::SavePrefs(self.prefs.clone()));
    }

    /// Packages without which the shell could not be put right again.
    pub(crate) fn is_fixed(&self, id: &PackageId) -> bool {
        id.as_str() == crate::catalogue::SHELL
            || crate::catalogue::APPS.iter().any(|d| !d.optional && d.id == id.as_str())
    }

    pub(crate) fn set_package(&mut self, id: &PackageId, on: bool, out: &mut Vec<Effect>) {
        if !on && self.is_fixed(id) {
            self.refuse(Refusal::new(
                "PackageFixed",
                id.as_str(),
                "a package that the shell can do without",
                "it is part of the shell itself",
            ));
            return;
        }
        match self.kernel.set_package_state(id, PackageState::Present { enabled: on }) {
            Ok(()) => {
                self.prefs.disabled.retain(|p| p != id);
                if !on {
                    self.prefs.disabled.push(id.clone());
                }
                self.status = format!("{id} is switched {}", if on { "on" } else { "off" });
                self.save_prefs(out);
            }
            Err(e) => {
                self.refuse(e);
            }
        }
    }

    pub(crate) fn new_conversation(&mut self, out: &mut Vec<Effect>) {
        self.echo.side_over = false;
        self.launch(AppKey::Echo, out);
        self.tell(ai_echo::Msg::NewConversation, out);
        self.set_focus(Some(composer_id()));
    }

    pub(crate) fn toggle_side(&mut self, out: &mut Vec<Effect>) {
        let narrow = self.windows.rect_of(AppKey::Echo).is_some_and(|r| r.w < 640.0);
        if narrow {
            self.echo.side_over = !self.echo.side_over;
        } else {
            self.echo.side_folded = !self.echo.side_folded;
            self.prefs.side_folded = self.echo.side_folded;
            self.save_prefs(out);
        }
    }

    pub(crate) fn stop(&mut self, out: &mut Vec<Effect>) {
        if let Some(c) = self.agent.current().map(|c| c.id.clone()) {
            self.tell(ai_echo::Msg::Stop(c), out);
        }
    }

    pub(crate) fn open_find(&mut self) {
        if self.echo.find.is_none() {
            self.echo.find = Some(Default::default());
        }
        if let Some(f) = &mut self.echo.find {
            f.field.buffer.select_all();
        }
        self.set_focus(Some(find_id()));
    }

    /// How many matches there are goes to the status, where it is heard.
    pub(crate) fn say_found(&mut self) {
        if let Some(f) = &self.echo.find {
            self.status = f.words();
        }
    }

    pub(crate) fn export(&mut self, out: &mut Vec<Effect>) {
        let Some(c) = self.agent.current() else { return };
        let name: String = c.title.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(48).collect();
        let text = ai_echo::conversation::to_markdown(c);
        out.push(Effect::Export { name: format!("{}.md", name.trim_matches('-')), text });
    }

    fn copy_piece(&mut self, item: u64, piece: u32, out: &mut Vec<Effect>) {
        let open = self.echo.expanded.contains(&item);
        let Some(i) = self.agent.current().and_then(|c| c.items.iter().find(|i| i.id == item)) else { return };
        if let Some(p) = self.echo.cache.pieces(i, open).get(piece as usize) {
            out.push(Effect::CopyText(p.text.clone()));
            self.status = "Copied".into();
        }
    }

    fn copy_message(&mut self, item: u64, out: &mut Vec<Effect>) {
        let open = self.echo.expanded.contains(&item);
        let Some(i) = self.agent.current().and_then(|c| c.items.iter().find(|i| i.id == item)) else { return };
        let all = self.echo.cache.pieces(i, open);
        let parts: Vec<_> = all.iter().map(|p| (p, 0..p.text.len())).collect();
        out.push(Effect::CopyText(crate::echo::pieces::copied(&parts)));
        self.status = "Copied".into();
    }

    fn choose_model(&mut self, p: ProviderConfig, out: &mut Vec<Effect>) {
        self.status = format!("This conversation is answered by {}", p.label());
        if let Some(c) = self.agent.current().map(|c| c.id.clone()) {
            self.tell(ai_echo::Msg::ChooseModel(c, p), out);
        } else {
            self.tell(ai_echo::Msg::DefaultModel(p), out);
        }
    }

    fn try_it(&mut self, i: usize, proof: &Proof, out: &mut Vec<Effect>) {
        let Some((_, draft)) = self.tries().get(i) else { return };
        if self.agent.current().is_none() {
            self.tell(ai_echo::Msg::NewConversation, out);
            self.sync_composer(false, out);
        }
        let now = self.now.mono_ms;
        self.echo.composer.set(draft, now);
        // The person's own press filled it in, as a pick would: Enter may send it.
        if let Proof::Trusted(g) = proof {
            self.echo.draft.picked(draft, g);
        }
        self.draft_changed(out);
        self.set_focus(Some(composer_id()));
        self.refresh_palette(true);
    }

    /// Hands a submission to the agent. The composer shows what the agent says the draft is now.
    pub(crate) fn send(&mut self, s: ai_echo::Submission, out: &mut Vec<Effect>) {
        if self.agent.read_only() {
            let what = "another tab has this conversation open";
            self.refuse(Refusal::new("ReadOnlyTab", "The message", "the tab that holds the conversation", what));
            return;
        }
        if self.agent.current().is_none() {
            self.tell(ai_echo::Msg::NewConversation, out);
        }
        let front = self.agent.current().map(|c| (c.id.clone(), c.loaded));
        let Some((c, true)) = front else {
            self.status = "Your conversations are still being read; this is sent as soon as they are.".into();
            let conversation = front.map(|(id, _)| id);
            self.echo.held = Some(Held { conversation, draft: self.echo.composer.text().to_owned(), submission: s });
            return;
        };
        self.launch_quietly();
        let centered_submission = self.palette.is_centered();
        self.tell(ai_echo::Msg::Submit(c.clone(), s), out);
        if centered_submission {
            return;
        }
        let left = self.agent.current().map(|c| c.draft.text.clone()).unwrap_or_default();
        self.echo.conversation = Some(c);
        self.echo.composer.reset(&left);
        self.echo.draft = kernel::slash::Draft::default();
        if !left.is_empty() {
            self.echo.draft.edited(&left, EditOrigin::Restored, &Proof::Untrusted);
        }
        self.echo.notice = None;
        self.echo.scroll.follow = true;
        self.refresh_palette(true);
    }

    /// What was submitted before storage had answered goes out, if the draft is still the one it
    /// was made of.
    pub(crate) fn send_held(&mut self, out: &mut Vec<Effect>) {
        let Some(c) = self.agent.current().filter(|c| c.loaded) else { return };
        let Some(held) = self.echo.held.take() else { return };
        let same = held.conversation.is_none_or(|id| id == c.id) && held.draft == self.echo.composer.text();
        if same {
            self.send(held.submission, out);
        }
    }

    fn launch_quietly(&mut self) {
        let size = AppKey::Echo.def().size;
        self.windows.open(AppKey::Echo, size);
    }

    /// The one way on for text that is not a command (decision 8).
    fn send_as_text(&mut self, out: &mut Vec<Effect>) {
        let text = self.echo.composer.text().to_owned();
        if text.trim().is_empty() {
            return;
        }
        self.palette.mode = None;
        self.send(ai_echo::Submission::Plain(text), out);
        self.set_focus(Some(composer_id()));
    }

    fn approve(&mut self, call: kernel::CallId, proof: Proof, out: &mut Vec<Effect>) {
        let Proof::Trusted(gesture) = proof else {
            self.untrusted("A press on Approve");
            return;
        };
        let Some(card) = self.echo.cards.get_mut(&call) else { return };
        let Some(shown) = card.shown.take() else { return };
        match shown.confirm(gesture) {
            Ok(confirmation) => {
                self.tell(ai_echo::Msg::Approve(call, confirmation), out);
                self.set_focus(Some(composer_id()));
            }
            Err((why, back)) => {
                card.shown = Some(back);
                self.refuse(why);
            }
        }
    }

    pub(crate) fn refresh_files(&mut self, out: &mut Vec<Effect>) {
        let id = self.fresh_id();
        self.files.refresh(id, out);
    }

    fn attach(&mut self, path: kernel::mount::MountPath, out: &mut Vec<Effect>) {
        let Some(mount) = self.files.mount().cloned() else { return };
        self.launch(AppKey::Echo, out);
        if self.agent.current().is_none() {
            self.tell(ai_echo::Msg::NewConversation, out);
        }
        if let Some(c) = self.agent.current().map(|c| c.id.clone()) {
            self.status = format!("{path} goes along with your next message");
            self.tell(ai_echo::Msg::Attach(c, ai_echo::conversation::Attachment { mount, path }), out);
        }
    }

    pub(crate) fn go_section(&mut self, s: Section, out: &mut Vec<Effect>) {
        self.launch(AppKey::Settings, out);
        self.settings.section = s;
        self.settings.pages_open = false;
        self.focus_soon(AppKey::Settings, settings::page_button(s));
        if s == Section::Storage {
            out.push(Effect::MeasureStorage);
        }
    }

    fn save_provider(&mut self, out: &mut Vec<Effect>) {
        match self.settings.provider() {
            Ok((config, key)) => {
                if let Some(k) = key {
                    let origin = k.origin().to_string();
                    if !self.keys.contains(&origin) {
                        self.keys.push(origin);
                    }
                    out.push(Effect::SaveKey(k));
                }
                self.settings.key.reset("");
                self.status = format!("Saved: {}", config.label());
                self.prefs.remote = Some(config);
                self.save_prefs(out);
            }
            Err(words) => {
                let r = Refusal::new(
                    "ProviderSettings",
                    "The remote model",
                    "an address, a model and perhaps a key",
                    &words,
                );
                self.settings.said = self.refuse(r);
            }
        }
    }

    fn test_provider(&mut self, out: &mut Vec<Effect>) {
        self.save_provider(out);
        if let Some(config) = self.prefs.remote.clone() {
            self.settings.said = "Asking the server which models it has…".into();
            out.push(Effect::TestProvider(config));
        }
    }
}
