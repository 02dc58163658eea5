//! Start: fonts, storage, desktop, listeners, screen, mounts, model; in the order in which the
//! person sees them.

use super::effects;
use super::screen::{Screen, explain};
use super::{Drivers, Front, Shell};
use crate::dom::env::EnvWatch;
use crate::dom::events::{Events, Loop};
use crate::dom::input::Method;
use crate::dom::trust::Trust;
use crate::dom::{document, instant, window};
use crate::fallback::Fallback;
use crate::mirror::Mirror;
use crate::mounts::{BrowserHandles, Mounts};
use crate::storage::{Key, Storage, Store};
use apps::desktop::{Desktop, Dropped, Effect, Msg};
use apps::status::{LocalModel, Prefs};
use js_sys::{ArrayBuffer, Uint8Array};
use kernel::authority::{GestureMint, Proof};
use kernel::{Kernel, Refusal};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::{Rc, Weak};
use text::TextEngine;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DataTransfer, HtmlCanvasElement, Response};

const FONTS: [&str; 5] = [
    "./fonts/Inter-Regular.ttf",
    "./fonts/Inter-SemiBold.ttf",
    "./fonts/JetBrainsMono-Regular.ttf",
    "./fonts/Inter-Italic.ttf",
    "./fonts/Inter-Bold.ttf",
];
/// A dropped file is read up to this many bytes.
const DROPPED_MAX: f64 = 1024.0 * 1024.0;

/// Starts the shell. Errors end on the page of words, never on a blank one.
pub fn start(mint: GestureMint) {
    spawn_local(async move {
        if let Err(why) = run(mint).await {
            explain(&why);
        }
    });
}

async fn font(url: &str) -> Result<Vec<u8>, String> {
    let failed = |_| format!("the font {url} could not be fetched; is the server still there?");
    let reply: Response = JsFuture::from(window().fetch_with_str(url)).await.map_err(failed)?.unchecked_into();
    if !reply.ok() {
        return Err(format!("the font {url} could not be fetched: the server answered {}", reply.status()));
    }
    let bytes = JsFuture::from(reply.array_buffer().map_err(failed)?).await.map_err(failed)?;
    Ok(Uint8Array::new(&bytes.unchecked_into::<ArrayBuffer>()).to_vec())
}

async fn run(mint: GestureMint) -> Result<(), String> {
    let canvas: HtmlCanvasElement = document()
        .get_element_by_id("screen")
        .and_then(|e| e.dyn_into().ok())
        .ok_or("the page has no canvas to draw on")?;
    let mirror = document().get_element_by_id("mirror").ok_or("the page has no place for the mirror")?;
    // All at once; the browser fetches them side by side.
    let mut fonts = Vec::new();
    for f in FONTS.map(|f| {
        let (tell, wait) = futures_channel::oneshot::channel();
        spawn_local(async move { drop(tell.send(font(f).await)) });
        wait
    }) {
        fonts.push(f.await.map_err(|_| "a font could not be fetched")??);
    }
    let shell_cell: Rc<RefCell<Weak<Shell>>> = Rc::default();
    let post = {
        let cell = shell_cell.clone();
        Rc::new(move |m: Msg| {
            if let Some(s) = cell.borrow().upgrade() {
                s.post(m);
            }
        })
    };
    let news = {
        let post = post.clone();
        Rc::new(move |n: crate::storage::News| post(Msg::Status(n.words())))
    };
    let storage = Storage::open(news).await.map_err(|e| e.to_string());
    let raster = Fallback::default();
    let engine = TextEngine::new(fonts, Box::new(raster.clone())).map_err(|e| e.to_string())?;
    let refused = {
        let post = post.clone();
        Rc::new(move |r: Refusal| post(Msg::Refused(r)))
    };
    let trust = Rc::new(Trust::new(mint, refused));
    let changed: Rc<dyn Fn()> = {
        let cell = shell_cell.clone();
        Rc::new(move || {
            if let Some(s) = cell.borrow().upgrade() {
                let env = s.env.borrow().as_ref().map(EnvWatch::env);
                if let Some(env) = env {
                    s.post(Msg::Env(env));
                }
            }
        })
    };
    let watch = EnvWatch::new(&canvas, &changed);
    let backing = watch.backing();
    canvas.set_width(backing.0.max(1));
    canvas.set_height(backing.1.max(1));
    let mut kernel = Kernel::new();
    ai_echo::register::register(&mut kernel).map_err(|e| e.to_string())?;
    let (echo, first) = ai_echo::Echo::start();
    let (desktop, mut effects) =
        Desktop::new(kernel, Box::new(echo), watch.env(), instant()).map_err(|e| e.to_string())?;
    effects.extend(first.into_iter().map(Effect::Echo));
    let (storage, storage_failed) = match storage {
        Ok(s) => (Some(s), None),
        Err(e) => (None, Some(e)),
    };
    let mounts = {
        let cell = shell_cell.clone();
        let changed = Rc::new(move |_, _| {
            if let Some(s) = cell.borrow().upgrade() {
                effects::tell_mounts(&s);
            }
        });
        Mounts::new(Rc::new(BrowserHandles::new(storage.clone())), changed)
    };
    let shell = Rc::new(Shell {
        desktop: RefCell::new(desktop),
        engine: RefCell::new(engine),
        queue: RefCell::new(VecDeque::new()),
        folding: Cell::new(false),
        view: RefCell::new(None),
        screen: Rc::new(Screen::new(canvas.clone(), raster)),
        canvas: canvas.clone(),
        trust: trust.clone(),
        env: RefCell::new(Some(watch)),
        events: RefCell::new(None),
        mirror: RefCell::new(None),
        drivers: RefCell::new(Drivers { method: Method::Auto, plain: None, secret: None }),
        stale: Cell::new(true),
        painting: Cell::new(false),
        scheduled: Cell::new(false),
        frame: RefCell::new(None),
        wake: RefCell::new(None),
        worker: RefCell::new(None),
        model: RefCell::new(LocalModel::Unknown),
        waiting: RefCell::default(),
        local_runs: RefCell::default(),
        fetches: RefCell::default(),
        storage: RefCell::new(storage),
        mounts,
        claims: Cell::new(0),
        titles: RefCell::new(HashMap::new()),
        lease: RefCell::new(None),
        skills: RefCell::default(),
    });
    *shell_cell.borrow_mut() = Rc::downgrade(&shell);
    let weak = Rc::downgrade(&shell);
    *shell.frame.borrow_mut() = Some(Closure::new(move || {
        if let Some(s) = weak.upgrade() {
            s.on_frame();
        }
    }));
    let front: Rc<dyn Loop> = Rc::new(Front(shell.clone()));
    *shell.events.borrow_mut() = Some(Events::new(&canvas, &trust, &front));
    *shell.mirror.borrow_mut() = Some(Mirror::new(mirror, &trust, &shell.sink()));
    let again = {
        let weak = Rc::downgrade(&shell);
        Rc::new(move || {
            if let Some(s) = weak.upgrade() {
                s.redraw();
            }
        })
    };
    super::skills::listen(&shell);
    shell.screen.open(again).await.map_err(|e| e.to_string())?;
    shell.perform(effects);
    if let Some(why) = storage_failed {
        shell.post(Msg::Refused(Refusal::new("StorageUnavailable", "Storage", "a database that can be opened", &why)));
    }
    shell.redraw();
    later(&shell).await;
    // The shell lives as long as the page.
    std::mem::forget(shell);
    Ok(())
}

/// What the first frame does not wait for.
async fn later(shell: &Rc<Shell>) {
    let storage = shell.storage.borrow().clone();
    if let Some(s) = storage {
        let prefs = s.get_json::<Prefs>(Store::Settings, Key::all().name("prefs")).await;
        if let Ok(Some(p)) = prefs {
            shell.set_input(p.input);
            shell.post(Msg::Prefs(p));
        }
        let keys = s.get_json::<Vec<String>>(Store::Settings, Key::all().name("keys")).await;
        if let Ok(Some(keys)) = keys {
            shell.post(Msg::Keys(keys));
        }
    }
    let minutes = -js_sys::Date::new_0().get_timezone_offset();
    #[allow(clippy::cast_possible_truncation)]
    shell.post(Msg::Echo(ai_echo::Msg::Zone(effects::zone(minutes as i32))));
    effects::load_model(shell, true);
}

/// Something was dropped or pasted that is not plain text.
pub(super) fn dropped(shell: &Rc<Shell>, data: &DataTransfer, proof: Proof) {
    let text = data.get_data("text/plain").unwrap_or_default();
    let items = data.items();
    let files = data.files();
    let Proof::Trusted(act) = proof else { return };
    let folders = shell.mounts.dropped(&items, &act);
    if files.as_ref().is_none_or(|f| f.length() == 0) && !text.is_empty() {
        return shell.drop_text(Dropped::Text(text), Proof::Trusted(act));
    }
    let shell = shell.clone();
    spawn_local(async move {
        let mut records = Vec::new();
        let mut any = false;
        for folder in folders.await {
            any = true;
            match folder {
                Ok(record) => records.push(record),
                Err(e) => shell.post(Msg::Status(format!("The folder could not be mounted: {e}"))),
            }
        }
        if any {
            return effects::work_in(&shell, records, act);
        }
        let Some(file) = files.and_then(|f| f.get(0)) else { return };
        let total = file.size();
        let slice = file.slice_with_f64_and_f64(0.0, total.min(DROPPED_MAX));
        let read = match slice.map(|b| JsFuture::from(b.text())) {
            Ok(t) => t.await.ok().and_then(|t: JsValue| t.as_string()),
            Err(_) => None,
        };
        match read {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Some(text) => {
                let what = Dropped::File { name: file.name(), text, total: total as u64 };
                shell.drop_text(what, Proof::Trusted(act));
            }
            None => shell.post(Msg::Status(format!("{} could not be read.", file.name()))),
        }
    });
}
