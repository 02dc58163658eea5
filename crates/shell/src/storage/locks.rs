//! One Web Lock per conversation: the window that holds it writes, every other one only reads
//! and says so (decisions 2 and 32).

use futures_channel::oneshot;
use js_sys::{Function, Object, Promise, Reflect};
use kernel::ConversationId;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    type LockManager;
    #[wasm_bindgen(method, catch, structural)]
    fn request(this: &LockManager, name: &str, options: &JsValue, held: &JsValue) -> Result<Promise, JsValue>;
}

/// A lock that is held until this is dropped or the page ends.
#[derive(Debug)]
pub struct Lease(Function);

impl Drop for Lease {
    fn drop(&mut self) {
        // It only settles a promise of ours.
        let _ = self.0.call0(&JsValue::UNDEFINED);
    }
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

/// Claims a lock now, without waiting for anybody.
pub async fn claim(name: &str) -> Claim {
    let Some(manager) = manager() else { return Claim::NoLocks };
    let (sender, answer) = oneshot::channel();
    let sender = Rc::new(RefCell::new(Some(sender)));
    let tell = move |claim: Claim| {
        if let Some(sender) = sender.borrow_mut().take() {
            let _ = sender.send(claim); // nobody waits: dropping the claim frees the lock
        }
    };
    let held = {
        let tell = tell.clone();
        Closure::once_into_js(move |lock: JsValue| -> JsValue {
            if lock.is_null() {
                tell(Claim::Busy);
                return JsValue::UNDEFINED;
            }
            let mut release = None;
            let until = Promise::new(&mut |resolve, _| release = Some(resolve));
            if let Some(release) = release {
                tell(Claim::Held(Lease(release)));
            }
            until.into()
        })
    };
    let options = Object::new();
    if Reflect::set(&options, &"ifAvailable".into(), &JsValue::TRUE).is_err() {
        return Claim::NoLocks;
    }
    let Ok(request) = manager.request(name, &options, &held) else { return Claim::NoLocks };
    wasm_bindgen_futures::spawn_local(async move {
        if wasm_bindgen_futures::JsFuture::from(request).await.is_err() {
            tell(Claim::NoLocks);
        }
    });
    answer.await.unwrap_or(Claim::NoLocks)
}

fn manager() -> Option<LockManager> {
    let navigator = web_sys::window()?.navigator();
    let locks = Reflect::get(&navigator, &"locks".into()).ok()?;
    (!locks.is_undefined()).then(|| locks.unchecked_into())
}
