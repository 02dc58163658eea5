//! Being told of changes in a folder, where the browser can (`FileSystemObserver`).

use super::bindings::DirHandle;
use crate::dom::window;
use js_sys::{Array, Function, Object, Promise, Reflect};
use kernel::mount::MountPath;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;

/// What the browser told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Something changed at this path; the root stands for “somewhere”.
    Changed(MountPath),
    /// It tells nothing any more.
    Ended,
}

/// A folder that is observed, with everything below it; dropping it ends that.
pub struct Observer {
    object: JsValue,
    _call: Closure<dyn FnMut(Array)>,
}

impl Observer {
    /// Observes a folder; `None` where the browser cannot, or will not for this folder.
    pub async fn of(folder: &DirHandle, mut news: impl FnMut(News) + 'static) -> Option<Self> {
        let class = Reflect::get(&window(), &"FileSystemObserver".into()).ok()?.dyn_into::<Function>().ok()?;
        let call = Closure::<dyn FnMut(Array)>::new(move |records: Array| {
            for record in records.iter() {
                news(read(&record));
            }
        });
        let object: JsValue = Reflect::construct(&class, &Array::of1(call.as_ref())).ok()?;
        let options = Object::new();
        Reflect::set(&options, &"recursive".into(), &JsValue::TRUE).ok()?;
        let observe = Reflect::get(&object, &"observe".into()).ok()?.dyn_into::<Function>().ok()?;
        let begun = observe.call2(&object, folder, &options).ok()?;
        JsFuture::from(Promise::resolve(&begun)).await.ok()?;
        Some(Self { object, _call: call })
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        let end = Reflect::get(&self.object, &"disconnect".into()).ok().and_then(|f| f.dyn_into::<Function>().ok());
        let _ = end.map(|end| end.call0(&self.object));
    }
}

fn read(record: &JsValue) -> News {
    let get = |name: &str| Reflect::get(record, &name.into()).unwrap_or(JsValue::UNDEFINED);
    let kind = get("type").as_string().unwrap_or_default();
    if kind == "errored" {
        return News::Ended;
    }
    let parts = get("relativePathComponents");
    let parts: Vec<String> = match (kind.as_str(), parts.dyn_into::<Array>()) {
        // What moved came from elsewhere, and of what is unknown not even the place is known.
        ("unknown" | "moved", _) | (_, Err(_)) => vec![],
        (_, Ok(parts)) => parts.iter().filter_map(|p| p.as_string()).collect(),
    };
    News::Changed(MountPath::parse(&parts.join("/")).unwrap_or_default())
}
