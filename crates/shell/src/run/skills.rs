//! Looking for skills: the asynchronous driver of the loader, and when it runs (decision 26).
//!
//! A look goes past the loop and posts only what differs from the last one, so that a folder
//! that is polled and does not change draws no frame. The rule when to look is the pure
//! [`Watcher`]'s; here are only its clock, its timer and the page's visibility.

use super::Shell;
use crate::dom::listen::Listener;
use crate::dom::{document, now_ms, window};
use crate::mounts::observe::{News, Observer};
use apps::desktop::Msg;
use kernel::MountId;
use kernel::mount::{MountPath, Step};
use skills::packages::watch::{Due, Signal, Watcher};
use skills::packages::{Discovery, Packages};
use std::rc::Rc;
use wasm_bindgen::{JsCast, closure::Closure};
use wasm_bindgen_futures::spawn_local;

/// A look may take this part of the time until the next one that nobody asked for; a folder that
/// is slow to look at is looked at more rarely.
const SHARE: u64 = 20;

/// The folder whose skills are wanted.
struct Watched {
    mount: MountId,
    watcher: Watcher,
    /// What was told last.
    told: Option<Packages>,
    /// Looks without a question wait at least until then.
    not_before: u64,
    asked: bool,
    observer: Observing,
}

/// Whether the browser tells of changes in the folder.
enum Observing {
    NotYet,
    Asking,
    By(#[expect(dead_code, reason = "kept for its end")] Observer),
    /// It cannot, or no longer does: the folder is polled.
    No,
}

/// What is being looked at, and the timer of the next look.
#[derive(Default)]
pub(super) struct Looks {
    watched: Option<Watched>,
    timer: Option<(i32, Closure<dyn FnMut()>)>,
    seen: Option<Listener>,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn now() -> u64 {
    now_ms().max(0.0) as u64
}

fn visible() -> bool {
    !document().hidden()
}

/// Hears when the page is looked at.
pub(super) fn listen(shell: &Rc<Shell>) {
    let weak = Rc::downgrade(shell);
    let seen = Listener::on(&document(), "visibilitychange", move |_| {
        if let Some(shell) = weak.upgrade() {
            if let Some(w) = shell.skills.borrow_mut().watched.as_mut() {
                w.watcher.on(&Signal::Visible(visible()), now());
            }
            run(&shell);
        }
    });
    shell.skills.borrow_mut().seen = Some(seen);
}

/// These are wanted now.
pub(super) fn want(shell: &Rc<Shell>, mount: Option<MountId>) {
    {
        let mut looks = shell.skills.borrow_mut();
        if looks.watched.as_ref().map(|w| &w.mount) != mount.as_ref() {
            looks.watched = mount.map(|mount| {
                let mut watcher = Watcher::new(&MountPath::root());
                watcher.on(&Signal::Visible(visible()), now());
                let observer = Observing::NotYet;
                Watched { mount, watcher, told: None, not_before: 0, asked: true, observer }
            });
        }
        if let Some(w) = looks.watched.as_mut() {
            w.watcher.on(&Signal::Asked, now());
            w.asked = true;
        }
    }
    observe(shell);
    run(shell);
}

/// Asks the browser to tell of changes, once the folder can be read.
fn observe(shell: &Rc<Shell>) {
    let (mount, folder) = {
        let mut looks = shell.skills.borrow_mut();
        let Some(w) = looks.watched.as_mut().filter(|w| matches!(w.observer, Observing::NotYet)) else { return };
        let Some(folder) = shell.mounts.readable(&w.mount) else { return };
        w.observer = Observing::Asking;
        (w.mount.clone(), folder)
    };
    let shell = shell.clone();
    spawn_local(async move {
        let (weak, of) = (Rc::downgrade(&shell), mount.clone());
        let news = move |news| {
            if let Some(shell) = weak.upgrade() {
                signal(
                    &shell,
                    &of,
                    &match news {
                        News::Changed(path) => Signal::Changed(path),
                        News::Ended => Signal::Observer(false),
                    },
                );
            }
        };
        let observer = Observer::of(&folder, news).await;
        let there = observer.is_some();
        if let Some(w) = shell.skills.borrow_mut().watched.as_mut().filter(|w| w.mount == mount) {
            w.observer = observer.map_or(Observing::No, Observing::By);
        }
        signal(&shell, &mount, &Signal::Observer(there));
    });
}

fn signal(shell: &Rc<Shell>, mount: &MountId, signal: &Signal) {
    if let Some(w) = shell.skills.borrow_mut().watched.as_mut().filter(|w| w.mount == *mount) {
        w.watcher.on(signal, now());
    }
    run(shell);
}

/// Looks if it is time to, else sets the timer for when it is.
fn run(shell: &Rc<Shell>) {
    let mut looks = shell.skills.borrow_mut();
    if let Some((handle, _)) = looks.timer.take() {
        window().clear_timeout_with_handle(handle);
    }
    let now = now();
    let Some(w) = looks.watched.as_mut() else { return };
    let at = match w.watcher.due(now) {
        Due::Never => return,
        Due::Now => now,
        Due::At(at) => at,
    };
    let at = if w.asked { at } else { at.max(w.not_before) };
    if at <= now {
        w.asked = false;
        w.watcher.on(&Signal::Began, now);
        let mount = w.mount.clone();
        drop(looks);
        return spawn_local(look(shell.clone(), mount, now));
    }
    let weak = Rc::downgrade(shell);
    let call = Closure::<dyn FnMut()>::new(move || {
        if let Some(shell) = weak.upgrade() {
            run(&shell);
        }
    });
    let wait = i32::try_from(at - now).unwrap_or(i32::MAX);
    let set = window().set_timeout_with_callback_and_timeout_and_arguments_0(call.as_ref().unchecked_ref(), wait);
    if let Ok(handle) = set {
        looks.timer = Some((handle, call));
    }
}

async fn look(shell: Rc<Shell>, mount: MountId, began: u64) {
    let mut discovery = Discovery::new(&MountPath::root());
    let mut replies = Vec::new();
    let found = loop {
        match discovery.step(replies) {
            Step::Need(needs) => replies = shell.mounts.perform(&mount, &needs).await,
            Step::Done(found) => break found,
        }
    };
    let news = {
        let mut looks = shell.skills.borrow_mut();
        let Some(w) = looks.watched.as_mut().filter(|w| w.mount == mount) else { return };
        let now = now();
        w.watcher.on(&Signal::Ended, now);
        w.not_before = now + now.saturating_sub(began).saturating_mul(SHARE);
        let news = w.told.as_ref() != Some(&found);
        if news {
            w.told = Some(found.clone());
        }
        news
    };
    if news {
        shell.post(Msg::Echo(ai_echo::Msg::SkillsFound(mount, Box::new(found))));
    }
    run(&shell);
}
