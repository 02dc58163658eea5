//! Folder and file handles, by the shape of their methods: the permission calls are not in
//! `web-sys`, and whatever has these methods can stand in for a real folder.

use js_sys::{JsString, Promise};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// A file or folder handle.
    #[derive(Clone, Debug)]
    pub type Handle;
    /// `file` or `directory`.
    #[wasm_bindgen(method, getter, structural)]
    pub fn kind(this: &Handle) -> JsString;
    /// Its name in its folder.
    #[wasm_bindgen(method, getter, structural)]
    pub fn name(this: &Handle) -> JsString;

    /// `FileSystemDirectoryHandle`.
    #[wasm_bindgen(extends = Handle)]
    #[derive(Clone, Debug)]
    pub type DirHandle;
    /// A folder in it; `{create}` makes it.
    #[wasm_bindgen(method, catch, structural, js_name = getDirectoryHandle)]
    pub fn dir(this: &DirHandle, name: &str, options: &JsValue) -> Result<Promise, JsValue>;
    /// A file in it; `{create}` makes it.
    #[wasm_bindgen(method, catch, structural, js_name = getFileHandle)]
    pub fn file(this: &DirHandle, name: &str, options: &JsValue) -> Result<Promise, JsValue>;
    /// Takes a file, or an empty folder, away.
    #[wasm_bindgen(method, catch, structural, js_name = removeEntry)]
    pub fn remove(this: &DirHandle, name: &str) -> Result<Promise, JsValue>;
    /// Its entries, as handles.
    #[wasm_bindgen(method, catch, structural)]
    pub fn values(this: &DirHandle) -> Result<js_sys::AsyncIterator, JsValue>;
    /// The state of a permission, without asking.
    #[wasm_bindgen(method, catch, structural, js_name = queryPermission)]
    pub fn query_permission(this: &DirHandle, options: &JsValue) -> Result<Promise, JsValue>;
    /// Asks the person for a permission.
    #[wasm_bindgen(method, catch, structural, js_name = requestPermission)]
    pub fn request_permission(this: &DirHandle, options: &JsValue) -> Result<Promise, JsValue>;
    /// Whether both are handles of the same entry.
    #[wasm_bindgen(method, catch, structural, js_name = isSameEntry)]
    pub fn is_same_entry(this: &DirHandle, other: &JsValue) -> Result<Promise, JsValue>;

    /// `FileSystemFileHandle`.
    #[wasm_bindgen(extends = Handle)]
    #[derive(Clone, Debug)]
    pub type FileHandle;
    /// Its content as it is now.
    #[wasm_bindgen(method, catch, structural, js_name = getFile)]
    pub fn get_file(this: &FileHandle) -> Result<Promise, JsValue>;
    /// A stream into a file beside it, which takes its place on close.
    #[wasm_bindgen(method, catch, structural, js_name = createWritable)]
    pub fn create_writable(this: &FileHandle) -> Result<Promise, JsValue>;
    /// Not everywhere; throws where it is missing.
    #[wasm_bindgen(method, catch, structural, js_name = "move")]
    pub fn move_to(this: &FileHandle, folder: &JsValue, name: &str) -> Result<Promise, JsValue>;

    /// `FileSystemWritableFileStream`.
    pub type Writable;
    /// Writes bytes.
    #[wasm_bindgen(method, catch, structural)]
    pub fn write(this: &Writable, bytes: &JsValue) -> Result<Promise, JsValue>;
    /// Puts the new file in place.
    #[wasm_bindgen(method, catch, structural)]
    pub fn close(this: &Writable) -> Result<Promise, JsValue>;
    /// Drops the new file.
    #[wasm_bindgen(method, catch, structural)]
    pub fn abort(this: &Writable) -> Result<Promise, JsValue>;

    /// `File`, as far as it is read here.
    pub type Blob;
    /// Bytes.
    #[wasm_bindgen(method, getter, structural)]
    pub fn size(this: &Blob) -> f64;
    /// A part of it.
    #[wasm_bindgen(method, catch, structural)]
    pub fn slice(this: &Blob, from: f64, to: f64) -> Result<Blob, JsValue>;
    /// Its bytes.
    #[wasm_bindgen(method, catch, structural, js_name = arrayBuffer)]
    pub fn array_buffer(this: &Blob) -> Result<Promise, JsValue>;

    /// The window's own way to open a folder.
    pub type Picker;
    /// Opens the dialog.
    #[wasm_bindgen(method, catch, structural, js_name = showDirectoryPicker)]
    pub fn pick(this: &Picker, options: &JsValue) -> Result<Promise, JsValue>;

    /// `DataTransferItem`, with the call that gives a handle.
    pub type DropItem;
    /// A promise of the handle; null for what is no file.
    #[wasm_bindgen(method, catch, structural, js_name = getAsFileSystemHandle)]
    pub fn handle(this: &DropItem) -> Result<Promise, JsValue>;
}

/// An options object of one field.
pub fn option(name: &str, value: &JsValue) -> JsValue {
    let object = js_sys::Object::new();
    // A plain object takes any field.
    let _ = js_sys::Reflect::set(&object, &name.into(), value);
    object.into()
}

/// Awaits what a call returned, or what it threw.
pub async fn wait(promise: Result<Promise, JsValue>) -> Result<JsValue, JsValue> {
    wasm_bindgen_futures::JsFuture::from(promise?).await
}
