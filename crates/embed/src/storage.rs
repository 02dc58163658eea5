//! The page's object as a mount that can only be read.

use js_sys::{ArrayBuffer, Function, Promise, Reflect, Uint8Array};
use kernel::mount::{Entry, EntryKind, MountError, MountPath, Need, Reply};
use kernel::{MountId, Refusal};
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// Where a workspace lies: `/mnt/<name>/…` of the shell, or any other path of the page's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What the page's object calls the mount's root.
    prefix: String,
    pub mount: MountId,
    /// The workspace in the mount.
    pub root: MountPath,
}

impl Place {
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let refuse = |observed: &str| {
            Refusal::new("WorkspaceRootInvalid", "workspaceRoot", "a path such as /mnt/project", observed)
        };
        let text = text.trim_end_matches('/');
        if text.contains('\0') {
            return Err(refuse("a NUL character"));
        }
        if let Some((name, rest)) = text.strip_prefix("/mnt/").map(|t| t.split_once('/').unwrap_or((t, "")))
            && let Ok(mount) = MountId::new(name)
        {
            let root = MountPath::parse(rest).map_err(|e| refuse(&e.to_string()))?;
            return Ok(Self { prefix: format!("/mnt/{name}"), mount, root });
        }
        let mount = MountId::new("workspace").map_err(Refusal::from)?;
        Ok(Self { prefix: text.to_owned(), mount, root: MountPath::root() })
    }

    /// A target as the engine names it: without the page's own prefix.
    pub fn below<'a>(&self, target: &'a str) -> &'a str {
        match target.strip_prefix(self.prefix.as_str()).and_then(|t| t.strip_prefix('/')) {
            Some(rest) if !self.prefix.is_empty() => rest,
            _ => target,
        }
    }

    /// A path as the page's object names it.
    fn of(&self, path: &MountPath) -> String {
        match (self.prefix.as_str(), path.as_str()) {
            (prefix, "") => prefix.to_owned(),
            ("", path) => path.to_owned(),
            (prefix, path) => format!("{prefix}/{path}"),
        }
    }
}

/// What the page's `list` gives for one entry.
#[derive(Deserialize)]
struct Given {
    name: String,
    kind: String,
    #[serde(default)]
    size: Option<u64>,
}

/// The page's object, with the two functions that were found on it.
#[derive(Debug)]
pub(crate) struct Reader {
    storage: JsValue,
    list: Function,
    read: Function,
    pub place: Place,
}

impl Reader {
    pub fn new(storage: super::Storage, place: Place) -> Result<Self, Refusal> {
        let storage: JsValue = storage.into();
        let function = |name: &str| {
            let found = Reflect::get(&storage, &name.into()).ok().and_then(|f| f.dyn_into::<Function>().ok());
            found.ok_or_else(|| {
                Refusal::new(
                    "StorageInvalid",
                    "The storage",
                    "an object with list(path) and read(path)",
                    &format!("no function {name}"),
                )
            })
        };
        let (list, read) = (function("list")?, function("read")?);
        Ok(Self { storage, list, read, place })
    }

    /// Answers one need. Whatever the page's object does becomes an answer.
    pub async fn perform(&self, need: &Need) -> Reply {
        let answer = match need {
            Need::List { path, max } => self.listed(path, *max).await,
            Need::Read { path, max } => self.bytes(path, *max).await,
            Need::Stat { path } => self.stat(path).await,
            // Nothing is changed through this module.
            Need::Write { .. } | Need::Remove { .. } => Err(MountError::Denied),
        };
        answer.unwrap_or_else(Reply::Failed)
    }

    async fn call(&self, function: &Function, path: &MountPath) -> Result<JsValue, MountError> {
        let given = function.call1(&self.storage, &self.place.of(path).into()).map_err(|e| failure(&e))?;
        let given = JsFuture::from(Promise::resolve(&given)).await.map_err(|e| failure(&e))?;
        if given.is_null() || given.is_undefined() { Err(MountError::NotFound) } else { Ok(given) }
    }

    async fn entries(&self, path: &MountPath) -> Result<Vec<Entry>, MountError> {
        let given = self.call(&self.list, path).await?;
        let given: Vec<Given> = serde_wasm_bindgen::from_value(given)
            .map_err(|e| MountError::Io(format!("list gave no entries with name and kind: {e}")))?;
        let entry = |g: Given| {
            let kind = match g.kind.as_str() {
                "file" => EntryKind::File,
                "folder" | "directory" => EntryKind::Folder,
                "link" => EntryKind::Link,
                other => return Err(MountError::Io(format!("“{}” is of no known kind: {other}", g.name))),
            };
            Ok(Entry { name: g.name, kind, size: g.size })
        };
        let mut entries = given.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    async fn listed(&self, path: &MountPath, max: usize) -> Result<Reply, MountError> {
        let mut entries = self.entries(path).await?;
        let truncated = entries.len() > max;
        entries.truncate(max);
        Ok(Reply::Listed { entries, truncated })
    }

    async fn bytes(&self, path: &MountPath, max: usize) -> Result<Reply, MountError> {
        let given = self.call(&self.read, path).await?;
        let mut bytes = if let Some(text) = given.as_string() {
            text.into_bytes()
        } else if given.is_instance_of::<Uint8Array>() || given.is_instance_of::<ArrayBuffer>() {
            Uint8Array::new(&given).to_vec()
        } else {
            return Err(MountError::Io("read gave neither text nor bytes".to_owned()));
        };
        let total = bytes.len() as u64;
        bytes.truncate(max);
        Ok(Reply::Bytes { bytes, total })
    }

    async fn stat(&self, path: &MountPath) -> Result<Reply, MountError> {
        if path.is_root() {
            return Ok(Reply::Found { kind: EntryKind::Folder, size: 0 });
        }
        let beside = self.entries(&path.parent()).await?;
        let found = beside.into_iter().find(|e| e.name == path.name()).ok_or(MountError::NotFound)?;
        Ok(Reply::Found { kind: found.kind, size: found.size.unwrap_or(0) })
    }
}

/// What was thrown, by the names that the file system interfaces of browsers and Node give it.
fn failure(thrown: &JsValue) -> MountError {
    let text = |key: &str| Reflect::get(thrown, &key.into()).ok().and_then(|v| v.as_string()).unwrap_or_default();
    match (text("name").as_str(), text("code").as_str()) {
        ("NotFoundError", _) | (_, "ENOENT") => MountError::NotFound,
        ("TypeMismatchError", _) | (_, "ENOTDIR" | "EISDIR") => MountError::WrongKind,
        ("NotAllowedError" | "SecurityError", _) | (_, "EACCES" | "EPERM") => MountError::Denied,
        _ => {
            let said = thrown.as_string().unwrap_or_else(|| text("message"));
            MountError::Io(if said.is_empty() { "the storage failed without a word".to_owned() } else { said })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_mount_of_the_shell_or_a_path_of_the_page_s_own() {
        let path = |t: &str| MountPath::parse(t).expect("path");
        for (text, mount, root, listed) in [
            ("/mnt/project", "project", "", "/mnt/project/a/b"),
            ("/mnt/project/sub/", "project", "sub", "/mnt/project/a/b"),
            ("/home/me/work", "workspace", "", "/home/me/work/a/b"),
            ("", "workspace", "", "a/b"),
        ] {
            let place = Place::parse(text).expect(text);
            assert_eq!((place.mount.as_str(), place.root.as_str()), (mount, root), "{text}");
            assert_eq!(place.of(&path("a/b")), listed);
            assert_eq!(place.below(listed), "a/b");
        }
        for bad in ["/mnt/project/../other", "/mnt/p/a\\b", "a\0b"] {
            assert_eq!(Place::parse(bad).expect_err(bad).code, "WorkspaceRootInvalid");
        }
    }
}
