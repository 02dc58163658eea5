//! The sample workspace: a real folder in the page's private file system, written on the first
//! start and the person's own from then on.

use super::bindings::{DirHandle, option, wait};
use super::files::{Folder, error};
use kernel::mount::{Expect, MountError, MountPath, Need, Reply};
use wasm_bindgen::{JsCast, JsValue};

/// The sample's mount id, and its folder below `mnt`.
pub const SAMPLE: &str = "welcome";
/// Says that the sample was written whole once; lies beside the folder, so that whatever a
/// person deletes in it stays deleted.
const WRITTEN: &str = "welcome.written";

macro_rules! sample_files {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../../../../web/sample/", $path)))),*]
    };
}

/// Path and content of every file of the sample.
const FILES: [(&str, &str); 9] = sample_files![
    "AGENTS.md",
    "README.md",
    "notes/todo.md",
    "notes/ideas.md",
    "code/README.md",
    "code/budget.py",
    "code/test_budget.py",
    ".agents/skills/weekly-review/SKILL.md",
    ".agents/skills/tidy-notes/SKILL.md",
];

async fn folder(above: &DirHandle, name: &str) -> Result<DirHandle, MountError> {
    let made = wait(above.dir(name, &option("create", &JsValue::TRUE))).await.map_err(|e| error(&e))?;
    Ok(made.unchecked_into())
}

/// The root of the page's private file system.
async fn root() -> Result<DirHandle, MountError> {
    let missing = || MountError::Io("this browser gives pages no private folder".to_owned());
    let storage = web_sys::window().ok_or_else(missing)?.navigator().storage();
    if JsValue::from(&storage).is_undefined() {
        return Err(missing());
    }
    let root = wasm_bindgen_futures::JsFuture::from(storage.get_directory()).await.map_err(|e| error(&e))?;
    Ok(root.unchecked_into())
}

/// Age in milliseconds from which a file of the scratch folder belongs to a page that was closed
/// while it wrote; a younger one may be another window's.
const ORPHAN_MS: f64 = 3_600_000.0;
/// Most entries that one sweep looks at.
const SWEEP_MAX: usize = 1_000;

/// Takes away what closed pages left half written. Names begin with the time of their birth.
async fn sweep(scratch: &DirHandle) {
    let all = Need::List { path: MountPath::root(), max: SWEEP_MAX };
    let here = Folder { root: scratch.clone(), scratch: None };
    let Reply::Listed { entries, .. } = here.perform(&all).await else { return };
    for entry in entries {
        let born = entry.name.split('-').next().and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0);
        if born < js_sys::Date::now() - ORPHAN_MS {
            let _ = wait(scratch.remove(&entry.name)).await; // the next start tries again
        }
    }
}

/// The sample workspace; a first start that was cut off is finished.
///
/// # Errors
/// What the private file system said, a full one included.
pub async fn sample() -> Result<Folder, MountError> {
    let top = root().await?;
    let mnt = folder(&top, "mnt").await?;
    let workspace = Folder { root: folder(&mnt, SAMPLE).await?, scratch: Some(folder(&top, "scratch").await?) };
    if let Some(scratch) = &workspace.scratch {
        sweep(scratch).await;
    }
    let beside = Folder { root: mnt, scratch: workspace.scratch.clone() };
    let mark = MountPath::parse(WRITTEN).map_err(|e| MountError::Io(e.to_string()))?;
    if matches!(beside.perform(&Need::Stat { path: mark.clone() }).await, Reply::Found { .. }) {
        return Ok(workspace);
    }
    for (path, text) in FILES {
        let path = MountPath::parse(path).map_err(|e| MountError::Io(e.to_string()))?;
        let write = Need::Write { path, bytes: text.as_bytes().to_vec(), expect: Expect::Absent };
        match workspace.perform(&write).await {
            // There already: the start before this one was cut off, or the person was quicker.
            Reply::Done | Reply::Failed(MountError::Changed(_)) => {}
            Reply::Failed(e) => return Err(e),
            other => return Err(MountError::Io(format!("unexpected answer {other:?}"))),
        }
    }
    let write = Need::Write { path: mark, bytes: b"1\n".to_vec(), expect: Expect::Absent };
    match beside.perform(&write).await {
        Reply::Failed(MountError::Changed(_)) => Ok(workspace),
        Reply::Failed(e) => Err(e),
        _ => Ok(workspace),
    }
}
