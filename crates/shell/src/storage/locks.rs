//! One Web Lock per conversation: the window that holds it writes, every other one only reads
//! and says so (decisions 2 and 32).

use futures_channel::oneshot;
use js_sys::{Function, Object, Promise, Reflect};
use kernel::ConversationId;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    type LockManager;
    #[wasm_bindgen(method, catch, structural)]
    fn request(this: &LockManager, name: &str, options: &JsValue, held: &JsValue) -> Result<Promise, JsValue>;
}

/// Whether a lease was dropped, and the browser's word that it let go.
type End = (Rc<Cell<bool>>, Promise);

thread_local! {
    /// Locks of this page by name: ready when the browser has let go of them.
    static ENDS: RefCell<BTreeMap<String, End>> = RefCell::default();
}

/// A lock that is held until this is dropped or the page ends.
#[derive(Debug)]
pub struct Lease {
    release: Function,
    dropped: Rc<Cell<bool>>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.dropped.set(true);
        // It only settles a promise of ours.
        let _ = self.release.call0(&JsValue::UNDEFINED);
    }
}

/// How long a claim waits for another window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Not at all.
    Now,
    /// Until it lets go.
    Free,
}

/// What became of a claim.
#[derive(Debug)]
pub enum Claim {
    /// This window writes.
    Held(Lease),
    /// Another window writes; this one only reads.
    Busy,
    /// The browser has no Web Locks or forbids them: nobody can tell whether another window
    /// writes, so this one only reads.
    NoLocks,
}

impl Claim {
    /// What the person is told, when this window only reads.
    #[must_use]
    pub fn words(&self) -> Option<&'static str> {
        match self {
            Self::Held(_) => None,
            Self::Busy => Some("This conversation is open in another window: here it can only be read."),
            Self::NoLocks => {
                Some("This browser cannot keep two windows apart (no Web Locks): conversations can only be read.")
            }
        }
    }
}

/// The lock's name of a conversation.
#[must_use]
pub fn name_of(conversation: &ConversationId) -> String {
    format!("conversation:{conversation}")
}

/// Claims a lock: now, without waiting for another window, or as soon as that one lets go. A lease of this page that was just
/// dropped is waited for: the browser lets go a moment later, and a conversation that is left and
/// opened again must not find itself busy.
pub async fn claim(name: &str, when: When) -> Claim {
    let Some(manager) = manager() else { return Claim::NoLocks };
    let ending =
        ENDS.with(|ends| ends.borrow().get(name).filter(|(dropped, _)| dropped.get()).map(|(_, end)| end.clone()));
    if let Some(end) = ending {
        let _ = wasm_bindgen_futures::JsFuture::from(end).await; // a failure is told by the next request
    }
    let dropped = Rc::new(Cell::new(false));
    let (sender, answer) = oneshot::channel();
    let sender = Rc::new(RefCell::new(Some(sender)));
    let tell = move |claim: Claim| {
        if let Some(sender) = sender.borrow_mut().take() {
            let _ = sender.send(claim); // nobody waits: dropping the claim frees the lock
        }
    };
    let held = {
        let (tell, dropped) = (tell.clone(), dropped.clone());
        Closure::once_into_js(move |lock: JsValue| -> JsValue {
            if lock.is_null() {
                tell(Claim::Busy);
                return JsValue::UNDEFINED;
            }
            let mut release = None;
            let until = Promise::new(&mut |resolve, _| release = Some(resolve));
            if let Some(release) = release {
                tell(Claim::Held(Lease { release, dropped }));
            }
            until.into()
        })
    };
    let options = Object::new();
    if Reflect::set(&options, &"ifAvailable".into(), &JsValue::from(when == When::Now)).is_err() {
        return Claim::NoLocks;
    }
    let Ok(request) = manager.request(name, &options, &held) else { return Claim::NoLocks };
    let end = request.clone();
    let (own, mine) = (name.to_owned(), dropped.clone());
    wasm_bindgen_futures::spawn_local(async move {
        if wasm_bindgen_futures::JsFuture::from(request).await.is_err() {
            tell(Claim::NoLocks);
        }
        ENDS.with(|ends| {
            let mut ends = ends.borrow_mut();
            if ends.get(&own).is_some_and(|(dropped, _)| Rc::ptr_eq(dropped, &mine)) {
                ends.remove(&own);
            }
        });
    });
    let claim = answer.await.unwrap_or(Claim::NoLocks);
    if matches!(claim, Claim::Held(_)) {
        ENDS.with(|ends| ends.borrow_mut().insert(name.to_owned(), (dropped, end)));
    }
    claim
}

fn manager() -> Option<LockManager> {
    let navigator = web_sys::window()?.navigator();
    let locks = Reflect::get(&navigator, &"locks".into()).ok()?;
    (!locks.is_undefined()).then(|| locks.unchecked_into())
}
