//! Mounted folders: the sample workspace in the page's private file system, and folders that a
//! person opened or dropped.
//!
//! A mount that cannot be read says why: it needs a click, it was denied, or it is gone
//! (`field_10h1`). It is never taken for an empty one, and nothing here ever asks a person
//! without a [`TrustedGesture`].

pub mod bindings;
mod files;
mod gate;
pub mod handle;
pub mod observe;
mod opfs;

pub use files::{COMPARE_MAX, Folder, SCAN_MAX};
pub use handle::{BrowserHandles, Handles, Local, Mode, Permission, can_pick};
pub use opfs::{SAMPLE, sample};

use ai_echo::conversation::MountRecord;
use ai_echo::{FsId, Msg};
use bindings::{DirHandle, DropItem, wait};
use gate::Gate;
use kernel::MountId;
use kernel::authority::TrustedGesture;
use kernel::mount::{MountError, Need, Reply};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::DataTransferItemList;

/// Most folders that are mounted at a time.
pub const MOUNTS_MAX: usize = 64;

/// How a mount stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Its handle is being looked for.
    Opening,
    /// It can be read and written.
    Ready,
    /// It can be read; writing takes one click on “Reconnect”.
    ReadOnly,
    /// It takes one click on “Reconnect”.
    NeedsReconnect,
    /// The person refused it.
    Denied,
    /// The folder is not there any more, or was never kept.
    Missing,
}

impl State {
    /// What the person is told.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self {
            Self::Opening => "The folder is being opened.",
            Self::Ready => "The folder is connected.",
            Self::ReadOnly => "The folder can be read. To change files in it, reconnect it with a click.",
            Self::NeedsReconnect => "The browser asks again after a reload: reconnect the folder with a click.",
            Self::Denied => "Access to the folder was denied. It can be allowed again in the browser's site settings.",
            Self::Missing => "The folder is not where it was: it was moved, renamed or deleted.",
        }
    }

    /// Why a need cannot even be tried.
    fn refuses(&self, need: &Need) -> Option<MountError> {
        match (self, need) {
            (Self::Ready, _) => None,
            // Trying would make the browser ask by itself.
            (Self::ReadOnly, Need::Write { .. } | Need::Remove { .. }) => Some(MountError::NeedsReconnect),
            (Self::ReadOnly, _) => None,
            (Self::Opening | Self::NeedsReconnect, _) => Some(MountError::NeedsReconnect),
            (Self::Denied, _) => Some(MountError::Denied),
            (Self::Missing, _) => Some(MountError::MountMissing),
        }
    }
}

struct Mount {
    folder: Option<Folder>,
    state: State,
    gate: Gate,
}

struct Inner {
    mounts: RefCell<BTreeMap<MountId, Mount>>,
    handles: Rc<dyn Handles>,
    changed: Rc<dyn Fn(MountId, State)>,
}

/// The table of mounts. Clones share it.
#[derive(Clone)]
pub struct Mounts(Rc<Inner>);

impl Mounts {
    /// An empty table; `changed` hears of every new state.
    #[must_use]
    pub fn new(handles: Rc<dyn Handles>, changed: Rc<dyn Fn(MountId, State)>) -> Self {
        Self(Rc::new(Inner { mounts: RefCell::default(), handles, changed }))
    }

    /// How a mount stands; `None` for one that is not in the table.
    #[must_use]
    pub fn state(&self, id: &MountId) -> Option<State> {
        self.0.mounts.borrow().get(id).map(|m| m.state.clone())
    }

    /// All mounts and how they stand.
    #[must_use]
    pub fn states(&self) -> Vec<(MountId, State)> {
        self.0.mounts.borrow().iter().map(|(id, m)| (id.clone(), m.state.clone())).collect()
    }

    /// The folder of a mount that can be read, to be told of its changes.
    #[must_use]
    pub fn readable(&self, id: &MountId) -> Option<DirHandle> {
        let mounts = self.0.mounts.borrow();
        let mount = mounts.get(id).filter(|m| matches!(m.state, State::Ready | State::ReadOnly))?;
        mount.folder.as_ref().map(|f| f.root.clone())
    }

    /// Takes a mount off the table. Its kept handle goes with `StoreOp::DeleteMount`.
    pub fn forget(&self, id: &MountId) {
        self.0.mounts.borrow_mut().remove(id);
    }

    fn put(&self, id: &MountId, folder: Option<Folder>, state: State) {
        let mut mounts = self.0.mounts.borrow_mut();
        let gate = mounts.get(id).map(|m| m.gate.clone()).unwrap_or_default();
        mounts.insert(id.clone(), Mount { folder, state: state.clone(), gate });
        drop(mounts);
        (self.0.changed)(id.clone(), state);
    }

    fn set(&self, id: &MountId, state: State) {
        {
            let mut mounts = self.0.mounts.borrow_mut();
            let Some(mount) = mounts.get_mut(id) else { return };
            if mount.state == state {
                return;
            }
            mount.state = state.clone();
        }
        (self.0.changed)(id.clone(), state);
    }

    /// Mounts the sample workspace; on the first start it is written.
    ///
    /// # Errors
    /// What the private file system said.
    pub async fn open_sample(&self) -> Result<MountRecord, MountError> {
        let folder = sample().await?;
        let id = MountId::new(SAMPLE).map_err(|e| MountError::Io(e.to_string()))?;
        self.put(&id, Some(folder), State::Ready);
        Ok(MountRecord { id, title: "Welcome".to_owned() })
    }

    /// Finds the folders of earlier visits again, without asking anybody.
    pub async fn restore(&self, records: &[MountRecord]) {
        let wanted: Vec<_> = records.iter().filter(|r| r.id.as_str() != SAMPLE).take(MOUNTS_MAX).collect();
        for record in &wanted {
            self.put(&record.id, None, State::Opening); // no new folder may take the name meanwhile
        }
        for record in wanted {
            match self.0.handles.kept(&record.id).await {
                Ok(Some(root)) => {
                    let folder = Folder { root, scratch: None };
                    let state = self.look(&folder).await;
                    self.put(&record.id, Some(folder), state);
                }
                Ok(None) | Err(_) => self.put(&record.id, None, State::Missing),
            }
        }
    }

    /// What may be done with a folder now, without asking anybody.
    async fn look(&self, folder: &Folder) -> State {
        let query = |mode| self.0.handles.query(&folder.root, mode);
        let ready = match query(Mode::Write).await {
            Permission::Granted => State::Ready,
            _ => match query(Mode::Read).await {
                Permission::Granted => State::ReadOnly,
                Permission::Prompt => return State::NeedsReconnect,
                Permission::Denied => return State::Denied,
            },
        };
        match folder.probe().await {
            Ok(()) => ready,
            Err(MountError::NeedsReconnect) => State::NeedsReconnect,
            Err(MountError::Denied) => State::Denied,
            Err(_) => State::Missing,
        }
    }

    /// Lets the person open a folder; `None` when they closed the dialog. The dialog opens at
    /// the call, inside the person's act.
    pub fn pick(&self, act: &TrustedGesture) -> impl Future<Output = Result<Option<MountRecord>, MountError>> + use<> {
        let picked = self.0.handles.pick(act);
        let this = self.clone();
        async move {
            match picked.await? {
                Some(handle) => this.mount(handle).await.map(Some),
                None => Ok(None),
            }
        }
    }

    /// Mounts the folders among dropped items; files among them are left alone. The items are
    /// taken at the call: after the event they are gone.
    pub fn dropped(
        &self,
        items: &DataTransferItemList,
        _act: &TrustedGesture,
    ) -> impl Future<Output = Vec<Result<MountRecord, MountError>>> + use<> {
        let taken: Vec<_> = (0..items.length())
            .filter_map(|i| items.get(i))
            .filter(|item| item.kind() == "file")
            // A browser without folder handles has no folders to drop: its files are just files.
            .filter_map(|item| JsValue::from(item).unchecked_into::<DropItem>().handle().ok())
            .collect();
        let this = self.clone();
        async move {
            let mut out = Vec::new();
            for handle in taken {
                match wait(Ok(handle)).await {
                    // What has no handle gives null or nothing at all.
                    Ok(handle) if handle.is_object() => {
                        let handle: DirHandle = handle.unchecked_into();
                        if handle.kind() == "directory" {
                            out.push(this.mount(handle).await);
                        }
                    }
                    Ok(_) => {}
                    Err(e) => out.push(Err(files::error(&e))),
                }
            }
            out
        }
    }

    /// Mounts a folder whose handle is at hand, and keeps the handle.
    ///
    /// # Errors
    /// When there are too many, or the handle cannot be kept.
    pub async fn mount(&self, root: DirHandle) -> Result<MountRecord, MountError> {
        let title = String::from(root.name());
        let id = match self.same(&root).await {
            Some(id) => id,
            None => self.free(&title)?,
        };
        let folder = Folder { root: root.clone(), scratch: None };
        let state = self.look(&folder).await;
        self.put(&id, Some(folder), state);
        // A handle that cannot be kept still serves this visit; the next one finds it missing.
        self.0.handles.keep(&id, &root).await.map_err(MountError::Io)?;
        Ok(MountRecord { id, title })
    }

    /// The mount of this very folder, if it has one.
    async fn same(&self, root: &DirHandle) -> Option<MountId> {
        let known: Vec<_> = {
            let mounts = self.0.mounts.borrow();
            mounts.iter().filter_map(|(id, m)| Some((id.clone(), m.folder.as_ref()?.root.clone()))).collect()
        };
        for (id, other) in known {
            if wait(root.is_same_entry(&other)).await.is_ok_and(|same| same.is_truthy()) {
                return Some(id);
            }
        }
        None
    }

    /// A free id that looks like the folder's name.
    fn free(&self, title: &str) -> Result<MountId, MountError> {
        let mounts = self.0.mounts.borrow();
        if mounts.len() >= MOUNTS_MAX {
            return Err(MountError::Io(format!("there are {MOUNTS_MAX} folders already; take one off first")));
        }
        let slug = slug(title);
        let name = |n: usize| if n == 1 { slug.clone() } else { format!("{slug}-{n}") };
        (1..=mounts.len() + 2)
            .filter_map(|n| MountId::new(&name(n)).ok())
            .find(|id| id.as_str() != SAMPLE && !mounts.contains_key(id))
            .ok_or(MountError::NameInvalid)
    }

    /// Asks the person for a folder again. Begins at the call, inside the person's act; the new
    /// state is also told to `changed`.
    pub fn reconnect(&self, id: &MountId, act: &TrustedGesture) -> impl Future<Output = State> + use<> {
        let folder = self.0.mounts.borrow().get(id).and_then(|m| m.folder.clone());
        let asked = folder.as_ref().map(|f| self.0.handles.request(&f.root, Mode::Write, act));
        let (this, id) = (self.clone(), id.clone());
        async move {
            let (Some(folder), Some(asked)) = (folder, asked) else { return State::Missing };
            let answer = asked.await;
            let state = match (this.look(&folder).await, answer) {
                // Refused just now: a browser that would ask again still heard a no.
                (State::NeedsReconnect, Permission::Denied) => State::Denied,
                (state, _) => state,
            };
            this.set(&id, state.clone());
            state
        }
    }

    /// Performs needs in a mount, in order.
    pub async fn perform(&self, id: &MountId, needs: &[Need]) -> Vec<Reply> {
        let mut replies = Vec::with_capacity(needs.len());
        for need in needs {
            replies.push(self.one(id, need).await);
        }
        replies
    }

    /// As [`Mounts::perform`], answered as AI Echo wants it.
    pub async fn answer(&self, id: FsId, mount: &MountId, needs: &[Need]) -> Msg {
        Msg::Fs(id, self.perform(mount, needs).await)
    }

    async fn one(&self, id: &MountId, need: &Need) -> Reply {
        let (folder, state, gate) = {
            let mounts = self.0.mounts.borrow();
            let Some(mount) = mounts.get(id) else { return Reply::Failed(MountError::MountMissing) };
            (mount.folder.clone(), mount.state.clone(), mount.gate.clone())
        };
        if let Some(why) = state.refuses(need) {
            return Reply::Failed(why);
        }
        let Some(folder) = folder else { return Reply::Failed(MountError::MountMissing) };
        let writes = matches!(need, Need::Write { .. } | Need::Remove { .. });
        let _pass = if writes { Some(gate.enter().await) } else { None };
        match folder.perform(need).await {
            // Is the file not there, or the whole folder?
            Reply::Failed(MountError::NotFound) if folder.probe().await == Err(MountError::MountMissing) => {
                self.set(id, State::Missing);
                Reply::Failed(MountError::MountMissing)
            }
            Reply::Failed(MountError::NeedsReconnect) => {
                let state = self.look(&folder).await;
                let why = state.refuses(need).unwrap_or(MountError::Denied);
                self.set(id, state);
                Reply::Failed(why)
            }
            reply => reply,
        }
    }
}

/// Longest part of a folder's name that its id takes.
const SLUG_MAX: usize = 40;

/// A name in the shape of decision 18.
fn slug(title: &str) -> String {
    let mut out = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        if out.len() == SLUG_MAX {
            break;
        }
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let trimmed = out.trim_end_matches('-');
    if trimmed.is_empty() { "folder".to_owned() } else { trimmed.to_owned() }
}
