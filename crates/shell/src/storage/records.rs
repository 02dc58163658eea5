//! AI Echo's storage port on the database: each operation as one transaction, records as JSON.

use super::db::{Storage, Write};
use super::error::StorageError;
use super::key::{Key, Store};
use ai_echo::Msg;
use ai_echo::conversation::{Loaded, OperationRecord, StoreId, StoreOp};
use ai_echo::turn::OpPhase;
use kernel::{ConversationId, MountId};
use models::{BaseUrl, Secret};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::future::Future;
use wasm_bindgen::JsValue;

/// A provider's key as it is kept: with the address it was entered for.
#[derive(Serialize, Deserialize)]
struct KeptKey {
    value: String,
    server: BaseUrl,
}

fn product() -> Key {
    Key::all().name("product")
}

/// Beside the settings, by mount and name; without a name, all of a mount.
fn skill_reviews(mount: Option<&MountId>) -> Key {
    let all = Key::all().name("skill");
    mount.map_or(all.clone(), |mount| all.name(mount.as_str()))
}

fn provider_key(name: &str) -> Key {
    Key::all().name("key").name(name)
}

fn json<T: Serialize>(value: &T) -> Result<JsValue, StorageError> {
    serde_json::to_string(value).map(|text| JsValue::from_str(&text)).map_err(|e| StorageError::Io(e.to_string()))
}

fn parsed<T: DeserializeOwned>(value: &JsValue) -> Result<T, String> {
    let text = value.as_string().ok_or("it is not text")?;
    serde_json::from_str(&text).map_err(|e| e.to_string())
}

/// The changes that an operation asks for; none for a load.
///
/// # Errors
/// When a record cannot be written as JSON.
pub fn writes(op: &StoreOp) -> Result<Vec<Write>, StorageError> {
    let put = |store, key, value: Result<JsValue, _>| value.map(|v| vec![Write::Put(store, key, v)]);
    match op {
        StoreOp::PutConversation(r) => put(Store::Conversations, Key::conversation(&r.id), json(r)),
        StoreOp::DeleteConversation(id) => {
            let all = |store| Write::DeleteAll(store, Key::conversation(id));
            Ok(Store::OF_CONVERSATION.map(all).to_vec())
        }
        StoreOp::PutDraft(r) => put(Store::Drafts, Key::conversation(&r.conversation).name(&r.page.0), json(r)),
        StoreOp::PutItem(key, item) => {
            let at = Key::conversation(&key.turn.conversation).number(key.turn.turn).number(key.item);
            put(Store::Transcript, at, json(item))
        }
        StoreOp::PutOperation(r, receipt) => {
            let key = Key::operation(&r.operation);
            let mut writes = put(Store::Operations, key.clone(), json(r))?;
            if let Some(receipt) = receipt {
                writes.extend(put(Store::Receipts, key.clone(), json(receipt))?);
            }
            if r.phase.is_closing() {
                writes.push(Write::Delete(Store::Reviews, key));
            }
            Ok(writes)
        }
        StoreOp::PutReview(r) => {
            let operation = kernel::OperationId::of(&r.call.id);
            put(Store::Reviews, Key::operation(&operation), json(r))
        }
        StoreOp::DeleteReview(id) => Ok(vec![Write::Delete(Store::Reviews, Key::operation(id))]),
        StoreOp::PutSettings(r) => put(Store::Settings, product(), json(r)),
        StoreOp::PutMount(r) => put(Store::Mounts, Key::all().name(r.id.as_str()), json(r)),
        StoreOp::DeleteMount(id) => {
            let key = Key::all().name(id.as_str());
            let reviews = Write::DeleteAll(Store::Settings, skill_reviews(Some(id)));
            Ok(vec![Write::Delete(Store::Mounts, key.clone()), Write::Delete(Store::Handles, key), reviews])
        }
        StoreOp::PutSkillReview(mount, name, part) => {
            put(Store::Settings, skill_reviews(Some(mount)).name(name), json(part))
        }
        StoreOp::DeleteSkillReview(mount, name) => {
            Ok(vec![Write::Delete(Store::Settings, skill_reviews(Some(mount)).name(name))])
        }
        StoreOp::LoadIndex | StoreOp::LoadSkillReviews | StoreOp::LoadConversation(_) => Ok(Vec::new()),
    }
}

impl Storage {
    /// Performs one operation. It begins at the call; a write is durable when the future says so,
    /// and a load brings what belongs together.
    pub fn perform(&self, op: StoreOp) -> impl Future<Output = Result<Option<Loaded>, StorageError>> + use<> {
        enum Begun<A, B, C, D> {
            Index(A),
            Conversation(B),
            Reviews(C),
            Write(Result<D, StorageError>),
        }
        let begun = match op {
            StoreOp::LoadIndex => Begun::Index(self.load_index()),
            StoreOp::LoadConversation(id) => Begun::Conversation(self.load_conversation(id)),
            StoreOp::LoadSkillReviews => Begun::Reviews(self.load_reviews()),
            op => Begun::Write(writes(&op).map(|w| self.write(w))),
        };
        async move {
            match begun {
                Begun::Index(load) => load.await.map(Some),
                Begun::Conversation(load) => load.await.map(Some),
                Begun::Reviews(load) => load.await.map(Some),
                Begun::Write(write) => write?.await.map(|()| None),
            }
        }
    }

    /// As [`Storage::perform`], answered as AI Echo wants it.
    pub fn answer(&self, id: StoreId, op: StoreOp) -> impl Future<Output = Msg> + use<> {
        let end = self.perform(op);
        async move {
            match end.await {
                Ok(Some(loaded)) => Msg::Loaded(loaded),
                Ok(None) => Msg::Stored(id, Ok(())),
                Err(e) => Msg::Stored(id, Err(e.to_string())),
            }
        }
    }

    fn load_index(&self) -> impl Future<Output = Result<Loaded, StorageError>> + use<> {
        let stores = [Store::Conversations, Store::Drafts, Store::Mounts];
        let lists =
            self.list(stores.map(|s| (s, Key::all())).into_iter().chain([(Store::Settings, product())]).collect());
        let this = self.clone();
        async move {
            let mut lists = lists.await?.into_iter();
            Ok(Loaded::Index {
                conversations: this.readable(Store::Conversations, lists.next()),
                drafts: this.readable(Store::Drafts, lists.next()),
                mounts: this.readable(Store::Mounts, lists.next()),
                settings: this.readable(Store::Settings, lists.next()).pop(),
            })
        }
    }

    fn load_reviews(&self) -> impl Future<Output = Result<Loaded, StorageError>> + use<> {
        let lists = self.list(vec![(Store::Settings, skill_reviews(None))]);
        let this = self.clone();
        async move {
            let parts = this.readable(Store::Settings, lists.await?.into_iter().next());
            Ok(Loaded::SkillReviews(parts))
        }
    }

    fn load_conversation(&self, id: ConversationId) -> impl Future<Output = Result<Loaded, StorageError>> + use<> {
        let stores = [Store::Transcript, Store::Receipts, Store::Reviews, Store::Operations];
        let lists = self.list(stores.map(|s| (s, Key::conversation(&id))).to_vec());
        let this = self.clone();
        async move {
            let mut lists = lists.await?.into_iter();
            let items = this.readable(Store::Transcript, lists.next());
            let receipts = this.readable(Store::Receipts, lists.next());
            let reviews = this.readable(Store::Reviews, lists.next());
            let mut operations: Vec<OperationRecord> = this.readable(Store::Operations, lists.next());
            operations.retain(|o| !matches!(o.phase, OpPhase::Settled(_) | OpPhase::AbortedZeroEffect));
            Ok(Loaded::Conversation { id, items, receipts, reviews, operations })
        }
    }

    /// The records that can be read; the others stay where they are and are told.
    fn readable<T: DeserializeOwned>(&self, store: Store, values: Option<Vec<JsValue>>) -> Vec<T> {
        let read = |value: JsValue| parsed(&value).map_err(|why| self.damaged(store, why)).ok();
        values.unwrap_or_default().into_iter().filter_map(read).collect()
    }

    /// Keeps a provider's key with the address that it was entered for. It is stored as it is:
    /// whoever can read this browser profile can read it.
    pub fn put_key(
        &self,
        name: &str,
        value: &str,
        server: &BaseUrl,
    ) -> impl Future<Output = Result<(), StorageError>> + use<> {
        let kept = KeptKey { value: value.trim().to_owned(), server: server.clone() };
        let write = json(&kept).map(|v| self.write(vec![Write::Put(Store::Settings, provider_key(name), v)]));
        async move { write?.await }
    }

    /// Keeps a key under the origin that it belongs to.
    pub fn put_secret(&self, key: &Secret) -> impl Future<Output = Result<(), StorageError>> + use<> {
        let origin = key.origin().to_string();
        let put = BaseUrl::parse(&origin)
            .map(|server| self.put_key(&origin, key.reveal_to_storage(), &server))
            .map_err(|e| StorageError::Damaged { store: Store::Settings.name(), why: e.to_string() });
        async move { put?.await }
    }

    /// Forgets a provider's key.
    pub fn delete_key(&self, name: &str) -> impl Future<Output = Result<(), StorageError>> + use<> {
        self.write(vec![Write::Delete(Store::Settings, provider_key(name))])
    }

    /// A provider's key, read only to be sent right away.
    pub fn key(&self, name: &str) -> impl Future<Output = Result<Option<Secret>, StorageError>> + use<> {
        let found = self.get(Store::Settings, provider_key(name));
        async move {
            let Some(value) = found.await? else { return Ok(None) };
            let damaged = |why: String| StorageError::Damaged { store: Store::Settings.name(), why };
            let kept: KeptKey = parsed(&value).map_err(damaged)?;
            Secret::new(&kept.value, kept.server.origin().clone()).map(Some).map_err(|e| damaged(e.to_string()))
        }
    }

    /// Keeps any record as JSON, for the shell's own settings.
    pub fn put_json<T: Serialize>(
        &self,
        store: Store,
        key: Key,
        value: &T,
    ) -> impl Future<Output = Result<(), StorageError>> + use<T> {
        let write = json(value).map(|v| self.write(vec![Write::Put(store, key, v)]));
        async move { write?.await }
    }

    /// A record that was kept as JSON.
    pub fn get_json<T: DeserializeOwned>(
        &self,
        store: Store,
        key: Key,
    ) -> impl Future<Output = Result<Option<T>, StorageError>> + use<T> {
        let found = self.get(store, key);
        async move {
            let Some(value) = found.await? else { return Ok(None) };
            parsed(&value).map(Some).map_err(|why| StorageError::Damaged { store: store.name(), why })
        }
    }
}
