//! Where folder handles come from, where they are kept, and what may be done with them.
//!
//! A stored handle comes back without its permission: the browser gives it again only on a
//! click (`field_10h1`). So whatever may ask takes a [`TrustedGesture`].

use super::bindings::{DirHandle, Picker, option, wait};
use super::files::error;
use crate::storage::{Key, Storage, Store, Write};
use js_sys::Reflect;
use kernel::MountId;
use kernel::authority::TrustedGesture;
use kernel::mount::MountError;
use std::future::Future;
use std::pin::Pin;
use wasm_bindgen::{JsCast, JsValue};

/// A future of the page's own thread.
pub type Local<T> = Pin<Box<dyn Future<Output = T>>>;

/// What the browser says about a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Given.
    Granted,
    /// It would ask, and may only do so on a click.
    Prompt,
    /// Refused.
    Denied,
}

/// Reading, or reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only reading.
    Read,
    /// Reading and writing.
    Write,
}

impl Mode {
    fn options(self) -> JsValue {
        let name = match self {
            Self::Read => "read",
            Self::Write => "readwrite",
        };
        option("mode", &name.into())
    }
}

/// The browser's side of mounted folders; a test stands in here.
pub trait Handles {
    /// Lets the person choose a folder; `None` when they chose none. Begins at the call, inside
    /// the person's act.
    fn pick(&self, act: &TrustedGesture) -> Local<Result<Option<DirHandle>, MountError>>;
    /// The permission's state, without asking anybody.
    fn query(&self, handle: &DirHandle, mode: Mode) -> Local<Permission>;
    /// Asks the person. Begins at the call, inside the person's act; it may never end.
    fn request(&self, handle: &DirHandle, mode: Mode, act: &TrustedGesture) -> Local<Permission>;
    /// Keeps a handle for later visits.
    fn keep(&self, id: &MountId, handle: &DirHandle) -> Local<Result<(), String>>;
    /// A handle of an earlier visit.
    fn kept(&self, id: &MountId) -> Local<Result<Option<DirHandle>, String>>;
}

/// The real ones, kept in the product's database where there is one.
pub struct BrowserHandles {
    storage: Option<Storage>,
}

impl BrowserHandles {
    /// Handles kept in this database; without one, folders serve this visit only.
    #[must_use]
    pub fn new(storage: impl Into<Option<Storage>>) -> Self {
        Self { storage: storage.into() }
    }
}

fn key(id: &MountId) -> Key {
    Key::all().name(id.as_str())
}

async fn state(answer: Result<js_sys::Promise, JsValue>) -> Permission {
    match wait(answer).await.ok().and_then(|v| v.as_string()).as_deref() {
        Some("granted") => Permission::Granted,
        Some("prompt") => Permission::Prompt,
        _ => Permission::Denied,
    }
}

impl Handles for BrowserHandles {
    fn pick(&self, _: &TrustedGesture) -> Local<Result<Option<DirHandle>, MountError>> {
        let Some(window) = web_sys::window() else {
            return Box::pin(async { Err(MountError::Io("there is no window".to_owned())) });
        };
        if !can_pick() {
            let words = "this browser cannot open a folder; Chrome and Edge can";
            return Box::pin(async move { Err(MountError::Io(words.to_owned())) });
        }
        let options = Mode::Write.options();
        // The same id opens the picker where it was last time.
        let _ = Reflect::set(&options, &"id".into(), &"webgpu-os".into());
        let picked = JsValue::from(window).unchecked_into::<Picker>().pick(&options);
        Box::pin(async move {
            match wait(picked).await {
                Ok(handle) => Ok(Some(handle.unchecked_into())),
                Err(e) if crate::storage::words_of(&e).0 == "AbortError" => Ok(None),
                Err(e) => Err(error(&e)),
            }
        })
    }

    fn query(&self, handle: &DirHandle, mode: Mode) -> Local<Permission> {
        Box::pin(state(handle.query_permission(&mode.options())))
    }

    fn request(&self, handle: &DirHandle, mode: Mode, _: &TrustedGesture) -> Local<Permission> {
        Box::pin(state(handle.request_permission(&mode.options())))
    }

    fn keep(&self, id: &MountId, handle: &DirHandle) -> Local<Result<(), String>> {
        let Some(storage) = &self.storage else { return Box::pin(async { Ok(()) }) };
        let put = storage.write(vec![Write::Put(Store::Handles, key(id), handle.clone().into())]);
        Box::pin(async move { put.await.map_err(|e| e.to_string()) })
    }

    fn kept(&self, id: &MountId) -> Local<Result<Option<DirHandle>, String>> {
        let Some(storage) = &self.storage else { return Box::pin(async { Ok(None) }) };
        let get = storage.get(Store::Handles, key(id));
        Box::pin(async move {
            let found = get.await.map_err(|e| e.to_string())?;
            Ok(found.map(JsCast::unchecked_into))
        })
    }
}

/// Whether this browser can open a folder by a dialog.
#[must_use]
pub fn can_pick() -> bool {
    web_sys::window().is_some_and(|w| Reflect::has(&w, &"showDirectoryPicker".into()).unwrap_or(false))
}
