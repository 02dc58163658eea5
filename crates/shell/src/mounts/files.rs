//! [`Need`]s performed on a folder handle. Bounded reads; writes that are whole or did not happen.

use super::bindings::{Blob, DirHandle, FileHandle, Handle, Writable, option, wait};
use crate::storage::words_of;
use js_sys::Uint8Array;
use kernel::Digest;
use kernel::mount::{Entry, EntryKind, Expect, MountError, MountPath, Need, Reply};
use std::collections::BTreeMap;
use std::future::Future;
use wasm_bindgen::{JsCast, JsValue};

/// Entries of one folder that are looked at; a folder with more is listed as truncated
/// (`field_10h3`).
pub const SCAN_MAX: usize = 50_000;
/// Entries after which a listing lets the page draw.
const BREATH: usize = 512;
/// Largest file that is compared before it is written over, in bytes.
pub const COMPARE_MAX: u64 = 256 << 20;

/// A folder as a mount.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Its handle.
    pub root: DirHandle,
    /// A folder of the same private file system for files that are still being written: a new
    /// file then appears whole, by a move. A person's own folders have none.
    pub scratch: Option<DirHandle>,
}

impl Folder {
    /// Performs one need.
    pub async fn perform(&self, need: &Need) -> Reply {
        let end = match need {
            Need::List { path, max } => self.list(path, *max).await,
            Need::Read { path, max } => self.read(path, *max).await,
            Need::Stat { path } => self.stat(path).await,
            Need::Write { path, bytes, expect } => self.write(path, bytes, *expect).await,
            Need::Remove { path, expect } => self.remove(path, *expect).await,
        };
        end.unwrap_or_else(Reply::Failed)
    }

    /// Whether the folder itself can still be looked into.
    pub async fn probe(&self) -> Result<(), MountError> {
        let first = self.root.values().and_then(|v| v.next());
        wait(first).await.map(drop).map_err(|e| match error(&e) {
            MountError::NotFound => MountError::MountMissing,
            other => other,
        })
    }

    async fn folder(&self, path: &MountPath, create: bool) -> Result<DirHandle, MountError> {
        let mut at = self.root.clone();
        for name in path.segments() {
            let next = wait(at.dir(name, &option("create", &create.into()))).await.map_err(|e| error(&e))?;
            at = next.unchecked_into();
        }
        Ok(at)
    }

    /// The file, when it is there.
    async fn file(&self, path: &MountPath) -> Result<FileHandle, MountError> {
        if path.is_root() {
            return Err(MountError::WrongKind);
        }
        let folder = self.folder(&path.parent(), false).await?;
        let file = wait(folder.file(path.name(), &JsValue::UNDEFINED)).await.map_err(|e| error(&e))?;
        Ok(file.unchecked_into())
    }

    async fn list(&self, path: &MountPath, max: usize) -> Result<Reply, MountError> {
        let folder = self.folder(path, false).await?;
        let entries = folder.values().map_err(|e| error(&e))?;
        // The first `max` by name, whatever the order they come in.
        let mut kept = BTreeMap::new();
        let mut seen = 0;
        let mut truncated = false;
        loop {
            let next: js_sys::IteratorNext = wait(entries.next()).await.map_err(|e| error(&e))?.unchecked_into();
            if next.done() {
                break;
            }
            seen += 1;
            if seen > SCAN_MAX {
                truncated = true;
                break;
            }
            let entry: Handle = next.value().unchecked_into();
            let kind = if entry.kind() == "directory" { EntryKind::Folder } else { EntryKind::File };
            kept.insert(String::from(entry.name()), kind);
            if kept.len() > max {
                kept.pop_last();
                truncated = true;
            }
            if seen % BREATH == 0 {
                breathe().await;
            }
        }
        let entries = kept.into_iter().map(|(name, kind)| Entry { name, kind, size: None }).collect();
        Ok(Reply::Listed { entries, truncated })
    }

    async fn read(&self, path: &MountPath, max: usize) -> Result<Reply, MountError> {
        let blob = blob_of(&self.file(path).await?).await?;
        let total = size_of(&blob);
        let bytes = bytes_of(&blob, total.min(max as u64)).await?;
        Ok(Reply::Bytes { bytes, total })
    }

    async fn stat(&self, path: &MountPath) -> Result<Reply, MountError> {
        if path.is_root() {
            self.probe().await?;
            return Ok(Reply::Found { kind: EntryKind::Folder, size: 0 });
        }
        match self.file(path).await {
            Ok(file) => Ok(Reply::Found { kind: EntryKind::File, size: size_of(&blob_of(&file).await?) }),
            Err(MountError::WrongKind) => {
                self.folder(path, false).await?;
                Ok(Reply::Found { kind: EntryKind::Folder, size: 0 })
            }
            Err(e) => Err(e),
        }
    }

    /// The digest of what lies there; `None` when nothing does.
    async fn digest(&self, path: &MountPath) -> Result<Option<Digest>, MountError> {
        let file = match self.file(path).await {
            Ok(file) => file,
            Err(MountError::NotFound) => return Ok(None),
            Err(e) => return Err(e),
        };
        let blob = blob_of(&file).await?;
        let size = size_of(&blob);
        if size > COMPARE_MAX {
            return Err(MountError::Io(format!("the file is too large to be compared ({size} bytes)")));
        }
        Ok(Some(Digest::of(&bytes_of(&blob, size).await?)))
    }

    async fn check(&self, path: &MountPath, expect: Expect) -> Result<(), MountError> {
        let now = self.digest(path).await?;
        let wanted = match expect {
            Expect::Absent => None,
            Expect::Digest(d) => Some(d),
        };
        if now == wanted { Ok(()) } else { Err(MountError::Changed(now)) }
    }

    async fn write(&self, path: &MountPath, bytes: &[u8], expect: Expect) -> Result<Reply, MountError> {
        self.check(path, expect).await?;
        match expect {
            // The browser writes beside the file and swaps on close: whole or not at all, and a
            // shorter file leaves no tail.
            Expect::Digest(_) => {
                let file = self.file(path).await?;
                fill(&file, bytes, self.check(path, expect)).await?;
            }
            Expect::Absent => {
                let folder = self.folder(&path.parent(), true).await?;
                match &self.scratch {
                    Some(scratch) => self.appear(scratch, &folder, path, bytes).await?,
                    None => self.create(&folder, path, bytes).await?,
                }
            }
        }
        Ok(Reply::Done)
    }

    /// A new file, written elsewhere and moved here whole.
    async fn appear(
        &self,
        scratch: &DirHandle,
        folder: &DirHandle,
        path: &MountPath,
        bytes: &[u8],
    ) -> Result<(), MountError> {
        let name = format!("{}-{}", js_sys::Date::now(), js_sys::Math::random());
        let file: FileHandle = create(scratch, &name).await?;
        let filled = fill(&file, bytes, async { Ok(()) }).await;
        let moved = match filled {
            Err(e) => Err(e),
            Ok(()) => match self.check(path, Expect::Absent).await {
                Err(e) => Err(e),
                Ok(()) => wait(file.move_to(folder, path.name())).await.map(drop).map_err(|e| error(&e)),
            },
        };
        if moved.is_err() {
            let _ = wait(scratch.remove(&name)).await; // the failure itself is what is told
        }
        moved
    }

    /// A new file where nothing can be moved: an empty one first, which goes again on failure.
    async fn create(&self, folder: &DirHandle, path: &MountPath, bytes: &[u8]) -> Result<(), MountError> {
        let file = create(folder, path.name()).await?;
        let empty = Digest::of(b"");
        let end = fill(&file, bytes, self.check(path, Expect::Digest(empty))).await;
        if end.is_err() && self.digest(path).await == Ok(Some(empty)) {
            let _ = wait(folder.remove(path.name())).await; // the failure itself is what is told
        }
        end
    }

    async fn remove(&self, path: &MountPath, expect: Digest) -> Result<Reply, MountError> {
        self.check(path, Expect::Digest(expect)).await?;
        let folder = self.folder(&path.parent(), false).await?;
        wait(folder.remove(path.name())).await.map_err(|e| error(&e))?;
        Ok(Reply::Done)
    }
}

async fn create(folder: &DirHandle, name: &str) -> Result<FileHandle, MountError> {
    let file = wait(folder.file(name, &option("create", &JsValue::TRUE))).await.map_err(|e| error(&e))?;
    Ok(file.unchecked_into())
}

/// Writes the whole content beside the file; `still` is asked right before the swap.
async fn fill(
    file: &FileHandle,
    bytes: &[u8],
    still: impl Future<Output = Result<(), MountError>>,
) -> Result<(), MountError> {
    let stream: Writable = wait(file.create_writable()).await.map_err(|e| error(&e))?.unchecked_into();
    let ready = match wait(stream.write(&Uint8Array::from(bytes))).await {
        Ok(_) => still.await,
        Err(e) => Err(error(&e)),
    };
    match ready {
        Ok(()) => wait(stream.close()).await.map(drop).map_err(|e| error(&e)),
        Err(e) => {
            let _ = wait(stream.abort()).await; // drops what was written beside
            Err(e)
        }
    }
}

async fn blob_of(file: &FileHandle) -> Result<Blob, MountError> {
    wait(file.get_file()).await.map(JsCast::unchecked_into).map_err(|e| error(&e))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a file's size is a whole number")]
fn size_of(blob: &Blob) -> u64 {
    blob.size() as u64
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
async fn bytes_of(blob: &Blob, len: u64) -> Result<Vec<u8>, MountError> {
    let part = blob.slice(0.0, len as f64).map_err(|e| error(&e))?;
    let buffer = wait(part.array_buffer()).await.map_err(|e| error(&e))?;
    Ok(Uint8Array::new(&buffer).to_vec())
}

/// Lets the page draw and hear its person.
async fn breathe() {
    let timeout = js_sys::Promise::new(&mut |resolve, _| {
        let set = web_sys::window().map(|w| w.set_timeout_with_callback(&resolve));
        if !matches!(set, Some(Ok(_))) {
            let _ = resolve.call0(&JsValue::UNDEFINED);
        }
    });
    let _ = wait(Ok(timeout)).await;
}

/// What the browser threw, as the kernel knows it.
pub fn error(thrown: &JsValue) -> MountError {
    let (name, message) = words_of(thrown);
    match name.as_str() {
        "NotFoundError" => MountError::NotFound,
        "TypeMismatchError" => MountError::WrongKind,
        // Whether a click can help is found out by asking for the permission's state.
        "NotAllowedError" => MountError::NeedsReconnect,
        "SecurityError" => MountError::Denied,
        "QuotaExceededError" => MountError::Quota(message),
        "TypeError" => MountError::NameInvalid,
        "NoModificationAllowedError" => MountError::Io("another program or window has the file open".to_owned()),
        _ => MountError::Io(if message.is_empty() { name } else { message }),
    }
}
