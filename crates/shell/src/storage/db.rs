//! The connection: opening, upgrading, giving way to a newer build, and transactions.

use super::error::{StorageError, words_of};
use super::key::{Key, Store};
use js_sys::{Array, Function, Promise};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::Future;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{IdbDatabase, IdbKeyRange, IdbOpenDbRequest, IdbRequest, IdbTransaction};

/// The database's name.
pub const NAME: &str = "webgpu-os";
/// The schema's version. A new one adds a step to `upgrade`.
pub const VERSION: u32 = 1;
/// Most records of one listing.
const LIST_MAX: u32 = 100_000;

/// What the connection has to say by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Another window holds an older version open; it goes on by itself when that one lets go.
    Blocked,
    /// It went on.
    Unblocked,
    /// A newer build in another window needed the database: what was open is saved, and this
    /// window keeps nothing from here on.
    Superseded,
    /// The database was deleted; this window keeps nothing from here on.
    Deleted,
    /// The connection broke; the next operation opens it again.
    Lost,
    /// A record could not be read; it stays where it is.
    Damaged(StorageError),
}

impl News {
    /// What the person is told.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Blocked => "Another window still uses the older storage: close or reload it.".to_owned(),
            Self::Unblocked => "The storage is open.".to_owned(),
            Self::Superseded => {
                "A newer version runs in another window. Your draft is saved; reload this window.".to_owned()
            }
            Self::Deleted => "The storage was deleted. Copy what you need, then reload.".to_owned(),
            Self::Lost => "The connection to the storage was lost; it is opened again when needed.".to_owned(),
            Self::Damaged(e) => e.to_string(),
        }
    }
}

/// One change inside a transaction.
#[derive(Clone, Debug)]
pub enum Write {
    /// A record becomes this.
    Put(Store, Key, JsValue),
    /// A record goes.
    Delete(Store, Key),
    /// All records whose keys begin so go.
    DeleteAll(Store, Key),
}

impl Write {
    fn store(&self) -> Store {
        match self {
            Self::Put(store, ..) | Self::Delete(store, _) | Self::DeleteAll(store, _) => *store,
        }
    }
}

#[wasm_bindgen]
extern "C" {
    /// `IDBDatabase` with the options that `web-sys` holds back.
    #[wasm_bindgen(extends = IdbDatabase)]
    #[derive(Clone)]
    type Db;
    #[wasm_bindgen(method, catch, structural, js_name = transaction)]
    fn transaction_with(this: &Db, stores: &JsValue, mode: &str, options: &JsValue) -> Result<IdbTransaction, JsValue>;
    /// `IDBTransaction` with the call that `web-sys` is about to drop.
    #[wasm_bindgen(extends = IdbTransaction)]
    type Finished;
    #[wasm_bindgen(method, catch, structural)]
    fn commit(this: &Finished) -> Result<(), JsValue>;
}

enum Link {
    Open(Db),
    Lost,
    Superseded,
}

/// Which keys a read wants.
enum Span {
    Exactly,
    Beginning,
}

type Want = (Store, Key, Span);
type Handler = Closure<dyn FnMut(JsValue)>;
type Flush = Rc<dyn Fn() -> Vec<Write>>;

struct Inner {
    name: String,
    version: u32,
    link: RefCell<Link>,
    news: Rc<dyn Fn(News)>,
    flush: RefCell<Option<Flush>>,
    listeners: RefCell<Vec<Handler>>,
}

/// The database. Clones share one connection.
#[derive(Clone)]
pub struct Storage(Rc<Inner>);

/// A transaction under way: ready when it is complete.
pub type Commit = std::pin::Pin<Box<dyn Future<Output = Result<(), StorageError>>>>;

impl Storage {
    /// Opens the product's database.
    ///
    /// # Errors
    /// [`StorageError::Unavailable`], [`StorageError::Newer`] or what the browser said.
    pub async fn open(news: Rc<dyn Fn(News)>) -> Result<Self, StorageError> {
        Self::open_as(NAME, VERSION, news).await
    }

    /// Opens a database of this name and schema version.
    ///
    /// # Errors
    /// As [`Storage::open`].
    pub async fn open_as(name: &str, version: u32, news: Rc<dyn Fn(News)>) -> Result<Self, StorageError> {
        let inner = Inner {
            name: name.to_owned(),
            version,
            link: RefCell::new(Link::Lost),
            news,
            flush: RefCell::new(None),
            listeners: RefCell::default(),
        };
        let storage = Self(Rc::new(inner));
        storage.connect().await?;
        Ok(storage)
    }

    /// What is still to be saved when a newer build asks for the database (`field_10h4`).
    pub fn on_close(&self, flush: Rc<dyn Fn() -> Vec<Write>>) {
        *self.0.flush.borrow_mut() = Some(flush);
    }

    /// Whether this window may still write.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(*self.0.link.borrow(), Link::Open(_))
    }

    /// Closes; transactions that began still complete.
    pub fn close(&self) {
        if let Link::Open(db) = self.0.link.replace(Link::Lost) {
            db.close();
        }
        self.0.listeners.borrow_mut().clear();
    }

    async fn connect(&self) -> Result<Db, StorageError> {
        let inner = &self.0;
        let unavailable = |e: JsValue| StorageError::Unavailable(words_of(&e).1);
        let factory = web_sys::window()
            .ok_or_else(|| StorageError::Unavailable("no window".to_owned()))?
            .indexed_db()
            .map_err(unavailable)?
            .ok_or_else(|| StorageError::Unavailable("no IndexedDB".to_owned()))?;
        let request = factory.open_with_u32(&inner.name, inner.version).map_err(unavailable)?;
        let upgrade = {
            let request = request.clone();
            Closure::<dyn FnMut(JsValue)>::new(move |_| upgrade(&request))
        };
        let was_blocked = Rc::new(RefCell::new(false));
        let blocked = {
            let (news, was) = (inner.news.clone(), was_blocked.clone());
            Closure::<dyn FnMut(JsValue)>::new(move |_| {
                *was.borrow_mut() = true;
                news(News::Blocked);
            })
        };
        request.set_onupgradeneeded(Some(upgrade.as_ref().unchecked_ref()));
        request.set_onblocked(Some(blocked.as_ref().unchecked_ref()));
        let opened = settled(&request).await;
        request.set_onupgradeneeded(None);
        request.set_onblocked(None);
        opened?;
        let db: Db = request.result().map_err(|e| StorageError::of(&e))?.unchecked_into();
        if let Link::Open(first) = &*inner.link.borrow() {
            db.close(); // two operations found the connection lost; one connection is enough
            return Ok(first.clone());
        }
        self.listen(&db);
        inner.link.replace(Link::Open(db.clone()));
        if was_blocked.take() {
            (inner.news)(News::Unblocked);
        }
        Ok(db)
    }

    fn listen(&self, db: &Db) {
        let weak = Rc::downgrade(&self.0);
        let give_way = Closure::<dyn FnMut(JsValue)>::new({
            let weak = weak.clone();
            move |event: JsValue| {
                let Some(inner) = weak.upgrade() else { return };
                let deleted = event.unchecked_ref::<web_sys::IdbVersionChangeEvent>().new_version().is_none();
                let storage = Self(inner.clone());
                let flush = inner.flush.borrow().clone();
                if let Some(flush) = flush {
                    // Begun before the connection closes, so it still completes.
                    drop(storage.begin(&flush()));
                }
                if let Link::Open(db) = inner.link.replace(Link::Superseded) {
                    db.close();
                }
                (inner.news)(if deleted { News::Deleted } else { News::Superseded });
            }
        });
        let lost = Closure::<dyn FnMut(JsValue)>::new(move |_| {
            let Some(inner) = weak.upgrade() else { return };
            inner.link.replace(Link::Lost);
            (inner.news)(News::Lost);
        });
        db.set_onversionchange(Some(give_way.as_ref().unchecked_ref()));
        db.set_onclose(Some(lost.as_ref().unchecked_ref()));
        *self.0.listeners.borrow_mut() = vec![give_way, lost];
    }

    fn db(&self) -> Result<Db, StorageError> {
        match &*self.0.link.borrow() {
            Link::Open(db) => Ok(db.clone()),
            Link::Lost => Err(StorageError::Lost("not open".to_owned())),
            Link::Superseded => Err(StorageError::Superseded),
        }
    }

    /// Begins a transaction over `stores`; a connection found dead is marked as lost.
    fn transaction(&self, stores: &BTreeSet<Store>, mode: &str) -> Result<IdbTransaction, StorageError> {
        let db = self.db()?;
        let names: Array = stores.iter().map(|s| JsValue::from_str(s.name())).collect();
        let options = js_sys::Object::new();
        // A draft is written at every key: waiting for the disk each time, the last keys would
        // still be in the queue when the page goes. It must survive a reload, not a power cut.
        let durability = if stores.iter().all(|s| *s == Store::Drafts) { "relaxed" } else { "strict" };
        js_sys::Reflect::set(&options, &"durability".into(), &durability.into()).map_err(|e| StorageError::of(&e))?;
        db.transaction_with(&names, mode, &options).map_err(|e| {
            let e = StorageError::of(&e);
            if matches!(e, StorageError::Lost(_)) {
                self.0.link.replace(Link::Lost);
            }
            e
        })
    }

    /// Begins all of these now, as one transaction: all of them happen, or none.
    ///
    /// # Errors
    /// When the transaction cannot even begin; later failures come from the [`Commit`].
    pub fn begin(&self, writes: &[Write]) -> Result<Commit, StorageError> {
        if writes.is_empty() {
            return Ok(Box::pin(async { Ok(()) }));
        }
        let stores = writes.iter().map(Write::store).collect();
        let transaction = self.transaction(&stores, "readwrite")?;
        let done = completed(&transaction);
        let put = writes.iter().try_for_each(|write| {
            let store = transaction.object_store(write.store().name())?;
            match write {
                Write::Put(_, key, value) => store.put_with_key(value, &key.js()),
                Write::Delete(_, key) => store.delete(&key.js()),
                Write::DeleteAll(_, prefix) => store.delete(&prefix.range()?.into()),
            }
            .map(drop)
        });
        if let Err(thrown) = put {
            let _ = transaction.abort(); // it may have aborted by itself
            return Err(StorageError::of(&thrown));
        }
        // Nothing more comes: the browser finishes it even if the page is gone before it answers.
        let _ = transaction.unchecked_ref::<Finished>().commit();
        Ok(Box::pin(async move { with_numbers(done.await).await }))
    }

    /// Writes all of these as one transaction. It begins now; it is done when the future says so.
    pub fn write(&self, writes: Vec<Write>) -> impl Future<Output = Result<(), StorageError>> + use<> {
        let begun = self.begin(&writes);
        let storage = self.clone();
        async move {
            match begun {
                Ok(commit) => commit.await,
                Err(StorageError::Lost(_)) => {
                    storage.connect().await.map_err(lost_for_good)?;
                    storage.begin(&writes)?.await
                }
                Err(e) => Err(e),
            }
        }
    }

    /// Reads from several stores in one transaction, so that what comes back belongs together:
    /// for each pair, the records whose keys begin so, in key order.
    pub fn list(
        &self,
        wanted: Vec<(Store, Key)>,
    ) -> impl Future<Output = Result<Vec<Vec<JsValue>>, StorageError>> + use<> {
        self.read(wanted.into_iter().map(|(store, key)| (store, key, Span::Beginning)).collect())
    }

    fn read(&self, wanted: Vec<Want>) -> impl Future<Output = Result<Vec<Vec<JsValue>>, StorageError>> + use<> {
        let begun = self.begin_read(&wanted);
        let storage = self.clone();
        async move {
            let (done, requests) = match begun {
                Err(StorageError::Lost(_)) => {
                    storage.connect().await.map_err(lost_for_good)?;
                    storage.begin_read(&wanted)?
                }
                other => other?,
            };
            done.await?;
            let lists = requests.iter().map(|r| {
                let all: Array = r.result().map_err(|e| StorageError::of(&e))?.unchecked_into();
                Ok(all.iter().collect())
            });
            lists.collect()
        }
    }

    fn begin_read(&self, wanted: &[Want]) -> Result<(Commit, Vec<IdbRequest>), StorageError> {
        let stores = wanted.iter().map(|(store, ..)| *store).collect();
        let transaction = self.transaction(&stores, "readonly")?;
        let done = completed(&transaction);
        let ask = |(store, key, span): &Want| {
            let range = match span {
                Span::Beginning => key.range()?,
                Span::Exactly => IdbKeyRange::only(&key.js())?,
            };
            transaction.object_store(store.name())?.get_all_with_key_and_limit(&range.into(), LIST_MAX)
        };
        let requests = wanted.iter().map(ask).collect::<Result<_, JsValue>>().map_err(|e| StorageError::of(&e))?;
        Ok((Box::pin(done), requests))
    }

    /// One record.
    pub fn get(&self, store: Store, key: Key) -> impl Future<Output = Result<Option<JsValue>, StorageError>> + use<> {
        let found = self.read(vec![(store, key, Span::Exactly)]);
        async move { Ok(found.await?.pop().and_then(|records| records.into_iter().next())) }
    }

    /// Tells about a record that cannot be read.
    pub(super) fn damaged(&self, store: Store, why: String) {
        (self.0.news)(News::Damaged(StorageError::Damaged { store: store.name(), why }));
    }
}

fn upgrade(request: &IdbOpenDbRequest) {
    let Ok(db) = request.result() else { return };
    let db: IdbDatabase = db.unchecked_into();
    let there = db.object_store_names();
    for store in Store::ALL {
        if !there.contains(store.name()) {
            // A failure throws inside the upgrade and aborts it: the open request then says so.
            let _ = db.create_object_store(store.name());
        }
    }
}

fn lost_for_good(e: StorageError) -> StorageError {
    match e {
        StorageError::Unavailable(why) | StorageError::Io(why) => StorageError::Lost(why),
        e => e,
    }
}

/// Ready when the request has succeeded or failed.
async fn settled(request: &IdbRequest) -> Result<(), StorageError> {
    let promise = Promise::new(&mut |resolve: Function, reject: Function| {
        request.set_onsuccess(Some(&resolve));
        request.set_onerror(Some(&reject));
    });
    let end = JsFuture::from(promise).await;
    request.set_onsuccess(None);
    request.set_onerror(None);
    match end {
        Ok(_) => Ok(()),
        Err(_) => Err(request.error().ok().flatten().map_or_else(
            || StorageError::Io("the request failed without a word".to_owned()),
            |e| StorageError::of(&e),
        )),
    }
}

/// Ready when the transaction is complete or has aborted. Listens from the call on.
fn completed(transaction: &IdbTransaction) -> impl Future<Output = Result<(), StorageError>> + use<> {
    let promise = Promise::new(&mut |resolve: Function, reject: Function| {
        transaction.set_oncomplete(Some(&resolve));
        transaction.set_onabort(Some(&reject));
    });
    let transaction = transaction.clone();
    let end = JsFuture::from(promise);
    async move {
        match end.await {
            Ok(_) => Ok(()),
            Err(_) => Err(transaction.error().map_or_else(
                || StorageError::Lost("the transaction was cut off".to_owned()),
                |e| StorageError::of(&e),
            )),
        }
    }
}

/// Adds to a full storage how full it is.
async fn with_numbers(end: Result<(), StorageError>) -> Result<(), StorageError> {
    let Err(StorageError::Quota { .. }) = end else { return end };
    let (used, allowed) = estimate().await.map_or((None, None), |(used, allowed)| (Some(used), Some(allowed)));
    Err(StorageError::Quota { used, allowed })
}

/// Bytes in use and bytes allowed, as the browser estimates them.
pub(super) async fn estimate() -> Option<(u64, u64)> {
    let manager = web_sys::window()?.navigator().storage();
    if JsValue::from(&manager).is_undefined() {
        return None;
    }
    let estimate = JsFuture::from(manager.estimate().ok()?).await.ok()?;
    let number = |name: &str| js_sys::Reflect::get(&estimate, &name.into()).ok()?.as_f64();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "byte counts")]
    Some((number("usage")? as u64, number("quota")? as u64))
}
