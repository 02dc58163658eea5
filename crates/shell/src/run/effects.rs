//! Effects are performed here and answered by messages.

use super::Shell;
use crate::dom::{document, window};
use crate::model::fetch::Fetch;
use crate::model::worker::{ModelWorker, WorkerEvent};
use crate::mounts;
use crate::storage::locks::{self, Claim, When};
use crate::storage::{Key, Store};
use ai_echo::conversation::{Loaded, MountRecord, StoreOp};
use ai_echo::tools::Zone;
use apps::desktop::{Dropped, Effect, Msg};
use apps::status::{LocalModel, ModelOrder, Mount, MountState, Storage as Stored};
use js_sys::{Array, Promise, Reflect};
use kernel::authority::{Proof, TrustedGesture};
use kernel::{MountId, Refusal};
use models::{Ask, ModelError, ModelErrorKind, ModelEvent, ProviderConfig, RunId};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{HtmlElement, Response};

/// How long a conversation whose window is gone waits for that window to come back, in
/// milliseconds: loading anew takes less.
const GRACE_MS: i32 = 3_000;

/// Performs one effect.
pub(super) fn perform(shell: &Rc<Shell>, effect: Effect) {
    match effect {
        Effect::Echo(e) => echo(shell, e),
        Effect::PickFolder => {
            let Some(act) = act(shell) else { return };
            let picked = shell.mounts.pick(&act);
            let shell = shell.clone();
            spawn_local(async move {
                match picked.await {
                    Ok(Some(record)) => work_in(&shell, vec![record], act),
                    Ok(None) => {}
                    Err(e) => shell.post(Msg::Status(format!("The folder could not be mounted: {e}"))),
                }
            });
        }
        Effect::Reconnect(id) => {
            let Some(act) = act(shell) else { return };
            let asked = shell.mounts.reconnect(&id, &act);
            let shell = shell.clone();
            spawn_local(async move {
                let state = asked.await;
                shell.post(Msg::Status(state.words().to_owned()));
                tell_mounts(&shell);
            });
        }
        Effect::Unmount(id) => {
            shell.mounts.forget(&id);
            shell.post(Msg::Echo(ai_echo::Msg::Unmounted(id)));
            tell_mounts(shell);
        }
        Effect::Files { id, mount, needs } => {
            let (m, shell) = (shell.mounts.clone(), shell.clone());
            spawn_local(async move {
                let replies = m.perform(&mount, &needs).await;
                shell.post(Msg::Files(id, replies));
            });
        }
        Effect::CopyText(text) => copy(shell, text),
        Effect::OpenLink(href) => {
            let _ = window().open_with_url_and_target_and_features(href.as_str(), "_blank", "noopener,noreferrer");
        }
        Effect::Model(order) => match order {
            ModelOrder::Load => load_model(shell, true),
            ModelOrder::Reload => {
                *shell.worker.borrow_mut() = None;
                load_model(shell, true);
            }
            ModelOrder::Remove => {
                if let Some(w) = shell.worker.borrow_mut().take() {
                    w.forget();
                    // Let the message arrive before the worker ends.
                    later(move || drop(w));
                }
                set_model(shell, LocalModel::Absent);
            }
        },
        Effect::Export { name, text } => export(&name, &text),
        Effect::SavePrefs(p) => {
            save(shell, "prefs", &p);
            shell.set_input(p.input);
        }
        Effect::SaveKey(key) => keep_key(shell, key),
        Effect::RemoveKey(origin) => {
            let Some(s) = shell.storage.borrow().clone() else { return };
            let shell = shell.clone();
            spawn_local(async move {
                let _ = s.delete_key(&origin).await;
                let mut keys = keys(&s).await;
                keys.retain(|k| *k != origin);
                save(&shell, "keys", &keys);
                shell.post(Msg::Keys(keys));
            });
        }
        Effect::TestProvider(config) => test_provider(shell, config),
        Effect::InputMethod(m) => shell.set_input(m),
        Effect::MeasureStorage => measure(shell),
        Effect::Lock(conversation) => {
            let shell = shell.clone();
            let number = shell.claims.get() + 1;
            shell.claims.set(number);
            shell.lease.borrow_mut().take();
            spawn_local(async move {
                let name = locks::name_of(&conversation);
                let mut waited = false;
                loop {
                    let claim = locks::claim(&name, When::Now).await;
                    if shell.claims.get() != number {
                        return; // another conversation came to the front meanwhile
                    }
                    let words = match &claim {
                        Claim::Held(_) if waited => Some("The other window is gone: you can write here now."),
                        _ => claim.words(),
                    };
                    let busy = matches!(claim, Claim::Busy);
                    let held = matches!(claim, Claim::Held(_));
                    if let Claim::Held(lease) = claim {
                        *shell.lease.borrow_mut() = Some(lease);
                    }
                    shell.post(Msg::Echo(ai_echo::Msg::ReadOnly(!held)));
                    if let Some(w) = words {
                        shell.post(Msg::Status(w.to_owned()));
                    }
                    if !busy {
                        return;
                    }
                    // When the other window lets go, it may only be loading anew: it goes first.
                    drop(locks::claim(&name, When::Free).await);
                    sleep(GRACE_MS).await;
                    // Nobody writes in a window that nobody sees.
                    while document().hidden() {
                        sleep(GRACE_MS).await;
                    }
                    if shell.claims.get() != number {
                        return;
                    }
                    waited = true;
                }
            });
        }
    }
}

async fn sleep(ms: i32) {
    let wait = Promise::new(&mut |done, _| {
        // It fails only where the page is gone, and then nobody waits.
        let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&done, ms);
    });
    let _ = JsFuture::from(wait).await;
}

/// The act that asks for a dialog of the browser; without one there is none.
fn act(shell: &Rc<Shell>) -> Option<TrustedGesture> {
    let act = shell.trust.act();
    if act.is_none() {
        let expected = "a click or key of your own, at this very moment";
        shell.post(Msg::Refused(Refusal::new("NoAct", "The browser's dialog", expected, "no act is being handled")));
    }
    act
}

fn echo(shell: &Rc<Shell>, effect: ai_echo::Effect) {
    match effect {
        ai_echo::Effect::Ask(ask, config) => match config {
            ProviderConfig::OnDevice => ask_local(shell, *ask),
            remote => ask_remote(shell, *ask, remote),
        },
        ai_echo::Effect::CancelRun(run) => {
            shell.waiting.borrow_mut().retain(|a| a.run() != run);
            if let Some(w) = shell.worker.borrow().as_ref() {
                w.cancel(run);
            }
            if let Some(Some(f)) = shell.fetches.borrow_mut().remove(&run) {
                f.abort();
            }
        }
        ai_echo::Effect::Fs { id, mount, needs } => {
            let (m, shell) = (shell.mounts.clone(), shell.clone());
            spawn_local(async move {
                let msg = m.answer(id, &mount, &needs).await;
                shell.post(Msg::Echo(msg));
            });
        }
        ai_echo::Effect::Store(id, op) => {
            let Some(s) = shell.storage.borrow().clone() else {
                // Without a database nothing is durable, and nothing pretends to be.
                let answer = match *op {
                    StoreOp::LoadIndex => {
                        let (conversations, drafts, mounts) = (vec![], vec![], vec![]);
                        return index(shell, Loaded::Index { settings: None, conversations, drafts, mounts });
                    }
                    StoreOp::LoadSkillReviews => ai_echo::Msg::Loaded(Loaded::SkillReviews(vec![])),
                    _ => ai_echo::Msg::Stored(id, Err("this browser gives the page no storage".into())),
                };
                return shell.post(Msg::Echo(answer));
            };
            let answer = s.answer(id, *op);
            let shell = shell.clone();
            spawn_local(async move {
                let msg = answer.await;
                match msg {
                    ai_echo::Msg::Loaded(l @ Loaded::Index { .. }) => index(&shell, l),
                    other => shell.post(Msg::Echo(other)),
                }
            });
        }
        ai_echo::Effect::Skills(mount) => super::skills::want(shell, mount),
        // The desktop has dealt with these.
        ai_echo::Effect::OpenApp(_)
        | ai_echo::Effect::Announce(_)
        | ai_echo::Effect::Refused(_)
        | ai_echo::Effect::DraftRestored(_) => {}
    }
}

/// Runs something in the next turn of the event loop.
fn later(f: impl FnOnce() + 'static) {
    let call = wasm_bindgen::closure::Closure::once_into_js(f);
    let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(call.unchecked_ref(), 500);
}

// ---- the on-device model ----

/// Starts the worker if there is none.
pub(super) fn load_model(shell: &Rc<Shell>, keep: bool) {
    if shell.worker.borrow().is_some() {
        return;
    }
    let weak = Rc::downgrade(shell);
    let sink = Rc::new(move |e: WorkerEvent| {
        if let Some(s) = weak.upgrade() {
            worker(&s, e);
        }
    });
    match ModelWorker::start(keep, sink) {
        Ok(w) => {
            *shell.worker.borrow_mut() = Some(w);
            set_model(shell, LocalModel::Loading);
        }
        Err(e) => set_model(shell, LocalModel::Failed(e)),
    }
}

fn set_model(shell: &Rc<Shell>, m: LocalModel) {
    shell.model.borrow_mut().clone_from(&m);
    shell.post(Msg::LocalModel(m));
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn worker(shell: &Rc<Shell>, event: WorkerEvent) {
    let fail_waiting = |kind: ModelErrorKind, words: &str| {
        for a in std::mem::take(&mut *shell.waiting.borrow_mut()) {
            let error = ModelError::new(kind).words(words);
            run_event(shell, a.run(), ModelEvent::Failed(error));
        }
    };
    match event {
        WorkerEvent::Progress(phase, done, total) => set_model(
            shell,
            match phase.as_str() {
                "download" => LocalModel::Downloading { done: done as u64, total: total as u64 },
                "verify" => LocalModel::Verifying,
                _ => LocalModel::Loading,
            },
        ),
        WorkerEvent::Ready { kernel, .. } => {
            set_model(shell, LocalModel::Ready { engine: kernel });
            if let Some(w) = shell.worker.borrow().as_ref() {
                for a in std::mem::take(&mut *shell.waiting.borrow_mut()) {
                    w.ask(&a);
                }
            }
        }
        WorkerEvent::Quota { need, have, used } => {
            *shell.worker.borrow_mut() = None;
            let free = have.unwrap_or(0.0) as u64;
            let words = format!("{} MB needed, {} MB used", (need / 1e6) as u64, (used / 1e6) as u64);
            fail_waiting(ModelErrorKind::NotReady, &words);
            set_model(shell, LocalModel::NoRoom { needed: need as u64, free });
        }
        WorkerEvent::Failed(words) => {
            *shell.worker.borrow_mut() = None;
            fail_waiting(ModelErrorKind::NotReady, &words);
            set_model(shell, LocalModel::Failed(words));
        }
        WorkerEvent::Lost(words) => {
            *shell.worker.borrow_mut() = None;
            fail_waiting(ModelErrorKind::EngineLost, &words);
            let running: Vec<RunId> = std::mem::take(&mut *shell.local_runs.borrow_mut()).into_iter().collect();
            for run in running {
                let error = ModelError::new(ModelErrorKind::EngineLost).words(words.as_str());
                run_event(shell, run, ModelEvent::Failed(error));
            }
            set_model(shell, LocalModel::Lost(words));
        }
        WorkerEvent::Run(run, e) => {
            let lost = matches!(&e, ModelEvent::Failed(f) if f.kind == ModelErrorKind::EngineLost);
            if e.is_final() {
                shell.local_runs.borrow_mut().remove(&run);
            }
            run_event(shell, run, e);
            if lost {
                *shell.worker.borrow_mut() = None;
                set_model(shell, LocalModel::Lost("the engine stopped".into()));
            }
        }
    }
}

fn run_event(shell: &Rc<Shell>, run: RunId, event: ModelEvent) {
    shell.post(Msg::Echo(ai_echo::Msg::Model(run, event)));
}

fn ask_local(shell: &Rc<Shell>, ask: Ask) {
    let run = ask.run();
    let state = shell.model.borrow().clone();
    match state {
        LocalModel::Ready { .. } => {
            if let Some(w) = shell.worker.borrow().as_ref() {
                shell.local_runs.borrow_mut().insert(run);
                w.ask(&ask);
            }
        }
        LocalModel::Lost(_) | LocalModel::Failed(_) | LocalModel::NoRoom { .. } | LocalModel::Absent => {
            let kind = if matches!(state, LocalModel::Lost(_)) {
                ModelErrorKind::EngineLost
            } else {
                ModelErrorKind::NotReady
            };
            run_event(shell, run, ModelEvent::Failed(ModelError::new(kind).words(state.words())));
        }
        // On its way: the question waits for it and can be stopped.
        _ => {
            shell.local_runs.borrow_mut().insert(run);
            shell.waiting.borrow_mut().push(ask);
        }
    }
}

// ---- servers ----

fn ask_remote(shell: &Rc<Shell>, ask: Ask, config: ProviderConfig) {
    let run = ask.run();
    let Ask::Chat(request) = ask else {
        let error = ModelError::new(ModelErrorKind::Rejected).words("a server cannot be asked to score");
        return run_event(shell, run, ModelEvent::Failed(error));
    };
    shell.fetches.borrow_mut().insert(run, None);
    let (shell, storage) = (shell.clone(), shell.storage.borrow().clone());
    spawn_local(async move {
        let key = match (&config, storage) {
            (ProviderConfig::OpenAiCompatible { key_ref: Some(name), .. }, Some(s)) => s.key(name).await,
            _ => Ok(None),
        };
        // Stopped while the key was read.
        if !shell.fetches.borrow().contains_key(&run) {
            return;
        }
        let key = match key {
            Ok(k) => k,
            Err(e) => {
                // Without its key the request would say something else than was meant.
                shell.fetches.borrow_mut().remove(&run);
                let error = ModelError::new(ModelErrorKind::Settings).words(format!("the key could not be read: {e}"));
                return run_event(&shell, run, ModelEvent::Failed(error));
            }
        };
        let sink = {
            let shell = shell.clone();
            Rc::new(move |e: ModelEvent| {
                if e.is_final() {
                    shell.fetches.borrow_mut().remove(&run);
                }
                run_event(&shell, run, e);
            })
        };
        match Fetch::start(&request, &config, key.as_ref(), sink) {
            Ok(f) => drop(shell.fetches.borrow_mut().insert(run, Some(f))),
            Err(e) => {
                shell.fetches.borrow_mut().remove(&run);
                run_event(&shell, run, ModelEvent::Failed(e));
            }
        }
    });
}

fn test_provider(shell: &Rc<Shell>, config: ProviderConfig) {
    let (shell, storage) = (shell.clone(), shell.storage.borrow().clone());
    spawn_local(async move {
        let result = list_models(&config, storage).await;
        shell.post(Msg::ProviderTested(result));
    });
}

async fn list_models(config: &ProviderConfig, storage: Option<crate::storage::Storage>) -> Result<Vec<String>, String> {
    let ProviderConfig::OpenAiCompatible { base_url, key_ref, .. } = config else {
        return Err("the on-device model has no address to test".into());
    };
    let headers = web_sys::Headers::new().map_err(|_| "the browser made no request")?;
    if let (Some(name), Some(s)) = (key_ref, storage)
        && let Some(key) = s.key(name).await.ok().flatten()
    {
        let probe = models::HttpRequest { method: "GET", url: base_url.join("models"), headers: vec![], body: vec![] };
        let (name, value) = probe.authorization(&key).map_err(|e| e.to_string())?;
        headers.append(name, &value).map_err(|_| "the key cannot be sent")?;
    }
    let init = web_sys::RequestInit::new();
    init.set_headers(&headers);
    init.set_credentials(web_sys::RequestCredentials::Omit);
    init.set_redirect(web_sys::RequestRedirect::Error);
    let page = window().location().origin().unwrap_or_default();
    let reply = JsFuture::from(window().fetch_with_str_and_init(&base_url.join("models"), &init)).await;
    let Ok(reply) = reply else { return Err(models::openai::unreachable(base_url, &page).to_string()) };
    let reply: Response = reply.unchecked_into();
    let body = match reply.text() {
        Ok(t) => JsFuture::from(t).await.ok().and_then(|t| t.as_string()).unwrap_or_default(),
        Err(_) => String::new(),
    };
    if !reply.ok() {
        return Err(models::openai::http_error(reply.status(), body.as_bytes()).to_string());
    }
    let list: serde_json::Value =
        serde_json::from_str(&body).map_err(|_| "the server answered, but not with a list of models")?;
    let names = list["data"]
        .as_array()
        .map(|a| a.iter().filter_map(|m| m["id"].as_str().map(str::to_owned)).take(256).collect());
    names.ok_or_else(|| "the server answered, but not with a list of models".into())
}

// ---- keys and choices ----

async fn keys(s: &crate::storage::Storage) -> Vec<String> {
    s.get_json(Store::Settings, Key::all().name("keys")).await.ok().flatten().unwrap_or_default()
}

fn keep_key(shell: &Rc<Shell>, key: models::Secret) {
    let Some(s) = shell.storage.borrow().clone() else { return };
    let shell = shell.clone();
    spawn_local(async move {
        let origin = key.origin().to_string();
        if let Err(e) = s.put_secret(&key).await {
            return shell.post(Msg::Refused(Refusal::new(
                "KeyNotKept",
                "The key",
                "room in this browser's storage",
                &e.to_string(),
            )));
        }
        let mut list = keys(&s).await;
        if !list.contains(&origin) {
            list.push(origin);
        }
        save(&shell, "keys", &list);
        shell.post(Msg::Keys(list));
    });
}

fn save<T: serde::Serialize + 'static>(shell: &Rc<Shell>, name: &str, value: &T) {
    let Some(s) = shell.storage.borrow().clone() else { return };
    let write = s.put_json(Store::Settings, Key::all().name(name), value);
    let shell = shell.clone();
    spawn_local(async move {
        if let Err(e) = write.await {
            shell.post(Msg::Status(format!("Your choice could not be saved: {e}")));
        }
    });
}

// ---- mounts ----

/// A folder is there.
/// The person dropped or picked these folders: the first is the one they want to work in.
pub(super) fn work_in(shell: &Rc<Shell>, records: Vec<MountRecord>, act: TrustedGesture) {
    let Some(first) = records.first().map(|r| r.id.clone()) else { return };
    for record in records {
        shell.titles.borrow_mut().insert(record.id.clone(), record.title.clone());
        shell.post(Msg::Echo(ai_echo::Msg::Mounted(record)));
    }
    tell_mounts(shell);
    shell.post(Msg::Drop(Dropped::Folder(first), Proof::Trusted(act)));
}

/// The first load. Folders come before it: what was interrupted is looked up in them.
fn index(shell: &Rc<Shell>, loaded: Loaded) {
    let shell = shell.clone();
    spawn_local(async move {
        let records = match &loaded {
            Loaded::Index { mounts, .. } => mounts.clone(),
            Loaded::Conversation { .. } | Loaded::SkillReviews(_) => vec![],
        };
        let found = restore(&shell, &records).await;
        shell.post(Msg::Echo(ai_echo::Msg::Loaded(loaded)));
        for record in found {
            shell.post(Msg::Echo(ai_echo::Msg::Mounted(record)));
        }
        tell_mounts(&shell);
    });
}

/// The sample workspace, and the folders of earlier visits.
async fn restore(shell: &Rc<Shell>, records: &[MountRecord]) -> Vec<MountRecord> {
    let m = shell.mounts.clone();
    let mut all = Vec::new();
    match m.open_sample().await {
        Ok(record) => all.push(record),
        Err(e) => shell.post(Msg::Status(format!("The sample workspace could not be opened: {e}"))),
    }
    m.restore(records).await;
    all.extend(records.iter().filter(|r| r.id.as_str() != mounts::SAMPLE).cloned());
    for r in &all {
        shell.titles.borrow_mut().insert(r.id.clone(), r.title.clone());
    }
    all
}

/// Tells the desktop how all mounts stand.
pub(super) fn tell_mounts(shell: &Rc<Shell>) {
    let titles = shell.titles.borrow();
    let one = |(id, state): (MountId, mounts::State)| {
        let sample = id.as_str() == mounts::SAMPLE;
        let title = titles.get(&id).cloned().unwrap_or_else(|| id.to_string());
        let state = match state {
            mounts::State::Ready => MountState::Ready,
            mounts::State::ReadOnly => MountState::ReadOnly,
            mounts::State::Opening | mounts::State::NeedsReconnect => MountState::NeedsReconnect,
            mounts::State::Denied => MountState::Denied,
            mounts::State::Missing => MountState::Missing,
        };
        Mount { record: MountRecord { id, title }, state, sample }
    };
    let all = shell.mounts.states().into_iter().map(one).collect();
    drop(titles);
    shell.post(Msg::Mounts(all));
}

/// The person's time zone.
pub(super) fn zone(minutes: i32) -> Zone {
    let locale = Reflect::get(
        &js_sys::Intl::DateTimeFormat::new(&Array::new(), &js_sys::Object::new()).resolved_options(),
        &"timeZone".into(),
    );
    Zone { offset_minutes: minutes, name: locale.ok().and_then(|v| v.as_string()).unwrap_or_default() }
}

// ---- small things ----

fn copy(shell: &Rc<Shell>, text: String) {
    let clipboard = Reflect::get(&window().navigator(), &"clipboard".into()).unwrap_or(JsValue::UNDEFINED);
    let write = Reflect::get(&clipboard, &"writeText".into()).ok().and_then(|f| f.dyn_into::<js_sys::Function>().ok());
    let promise = write.and_then(|f| f.call1(&clipboard, &text.into()).ok());
    let shell = shell.clone();
    spawn_local(async move {
        let ok = match promise {
            Some(p) => JsFuture::from(Promise::resolve(&p)).await.is_ok(),
            None => false,
        };
        shell.post(Msg::Status(if ok { "Copied.".into() } else { "The browser did not allow copying.".into() }));
    });
}

fn export(name: &str, text: &str) {
    let parts = Array::of1(&text.into());
    let options = web_sys::BlobPropertyBag::new();
    options.set_type("text/markdown;charset=utf-8");
    let Ok(blob) = web_sys::Blob::new_with_str_sequence_and_options(&parts, &options) else { return };
    let Ok(url) = web_sys::Url::create_object_url_with_blob(&blob) else { return };
    if let Ok(a) = document().create_element("a") {
        let _ = a.set_attribute("href", &url);
        let _ = a.set_attribute("download", name);
        a.unchecked_into::<HtmlElement>().click();
    }
    later(move || drop(web_sys::Url::revoke_object_url(&url)));
}

fn measure(shell: &Rc<Shell>) {
    let Ok(estimate) = window().navigator().storage().estimate() else { return };
    let persisted = window().navigator().storage().persisted();
    let shell = shell.clone();
    spawn_local(async move {
        let Ok(e) = JsFuture::from(estimate).await else { return };
        let persisted = match persisted {
            Ok(p) => JsFuture::from(p).await.is_ok_and(|v| v.is_truthy()),
            Err(_) => false,
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let get = |k: &str| Reflect::get(&e, &k.into()).ok().and_then(|v| v.as_f64()).unwrap_or(0.0) as u64;
        shell.post(Msg::Storage(Stored { used: get("usage"), quota: get("quota"), persisted }));
    });
}
