//! The database in a real browser: complete means complete, old windows give way, damage is told.
#![cfg(target_arch = "wasm32")]

use ai_echo::conversation::{
    Draft, DraftRecord, Item, ItemKey, ItemKind, Loaded, MountRecord, Page, Settings, StoreOp,
};
use js_sys::{Function, Promise};
use kernel::{ConversationId, Instant, MountId, TurnKey};
use models::BaseUrl;
use shell_lib::storage::locks::{Claim, When, claim, name_of};
use shell_lib::storage::{Key, News, Storage, StorageError, Store, VERSION, Write};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

type Heard = Rc<RefCell<Vec<News>>>;

fn listener() -> (Heard, Rc<dyn Fn(News)>) {
    let heard = Heard::default();
    let into = heard.clone();
    (heard, Rc::new(move |news| into.borrow_mut().push(news)))
}

async fn fresh(name: &str) -> (Storage, Heard) {
    let factory = web_sys::window().expect("window").indexed_db().expect("idb").expect("idb");
    let gone = factory.delete_database(name).expect("delete");
    let done = Promise::new(&mut |resolve: Function, reject: Function| {
        gone.set_onsuccess(Some(&resolve));
        gone.set_onerror(Some(&reject));
    });
    JsFuture::from(done).await.expect("deleted");
    let (heard, news) = listener();
    (Storage::open_as(name, VERSION, news).await.expect("opens"), heard)
}

async fn reopened(name: &str) -> Storage {
    Storage::open_as(name, VERSION, listener().1).await.expect("opens again")
}

async fn pause(ms: i32) {
    let timeout = Promise::new(&mut |resolve, _| {
        let window = web_sys::window().expect("window");
        window.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms).expect("timeout");
    });
    JsFuture::from(timeout).await.expect("pause");
}

fn id(name: &str) -> ConversationId {
    ConversationId::new(name).expect("id")
}

fn draft(conversation: &str, text: &str) -> StoreOp {
    let draft = Draft { text: text.to_owned(), caret: text.len(), attachments: vec![] };
    StoreOp::PutDraft(DraftRecord { conversation: id(conversation), page: Page::composer(), draft })
}

fn item(conversation: &str, turn: u64, item: u64, text: &str) -> StoreOp {
    let key = ItemKey { turn: TurnKey { conversation: id(conversation), turn }, item };
    let kind = ItemKind::Notice { text: text.to_owned() };
    StoreOp::PutItem(key, Item { id: item, turn, at: Instant::default(), kind })
}

async fn index(storage: &Storage) -> (Option<Settings>, Vec<DraftRecord>, Vec<MountRecord>) {
    match storage.perform(StoreOp::LoadIndex).await.expect("index") {
        Some(Loaded::Index { settings, drafts, mounts, .. }) => (settings, drafts, mounts),
        other => panic!("{other:?}"),
    }
}

async fn texts(storage: &Storage, conversation: &str) -> Vec<String> {
    match storage.perform(StoreOp::LoadConversation(id(conversation))).await.expect("conversation") {
        Some(Loaded::Conversation { items, .. }) => {
            let text = |i: Item| match i.kind {
                ItemKind::Notice { text } => text,
                other => panic!("{other:?}"),
            };
            items.into_iter().map(text).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[wasm_bindgen_test]
async fn field_6h3_a_draft_comes_back_in_its_own_conversation() {
    let (storage, _) = fresh("t-drafts").await;
    storage.perform(draft("a", "next: check totals")).await.expect("a");
    storage.perform(draft("b", "ümlaut \u{1f600}")).await.expect("b");
    storage.close();
    let (_, drafts, _) = index(&reopened("t-drafts").await).await;
    let found: Vec<_> = drafts.iter().map(|d| (d.conversation.as_str(), d.draft.text.as_str())).collect();
    assert_eq!(found, [("a", "next: check totals"), ("b", "ümlaut \u{1f600}")]);
}

#[wasm_bindgen_test]
async fn a_transcript_comes_back_in_order_and_without_its_neighbours() {
    let (storage, _) = fresh("t-transcript").await;
    // Ten sorts behind nine, and "a" is no beginning of "ab" or "a.b".
    for (conversation, turn, n) in [("a", 10, 11), ("a", 9, 10), ("a", 9, 9), ("ab", 1, 1), ("a.b", 1, 1)] {
        storage.perform(item(conversation, turn, n, &format!("{conversation}{turn}:{n}"))).await.expect("item");
    }
    assert_eq!(texts(&storage, "a").await, ["a9:9", "a9:10", "a10:11"]);
    storage.perform(StoreOp::DeleteConversation(id("a"))).await.expect("delete");
    assert!(texts(&storage, "a").await.is_empty());
    assert_eq!(texts(&storage, "ab").await, ["ab1:1"]);
    assert_eq!(texts(&storage, "a.b").await, ["a.b1:1"]);
}

async fn reviews(storage: &Storage) -> Vec<String> {
    match storage.perform(StoreOp::LoadSkillReviews).await.expect("reviews") {
        Some(Loaded::SkillReviews(parts)) => {
            parts.iter().map(|part| serde_json::to_string(part).expect("json")).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[wasm_bindgen_test]
async fn decisions_about_skills_are_records_of_their_own_and_go_with_their_mount() {
    let (storage, _) = fresh("t-skills").await;
    let mount = |name: &str| MountId::new(name).expect("id");
    let part = |m: &str, name: &str| -> Box<skills::packages::review::Reviews> {
        serde_json::from_str(&format!(r#"{{"given":[],"disabled":[["{m}","{name}"]]}}"#)).expect("a record")
    };
    for (m, name) in [("a", "x"), ("a", "y"), ("ab", "x")] {
        storage.perform(StoreOp::PutSkillReview(mount(m), name.into(), part(m, name))).await.expect("put");
    }
    storage.perform(StoreOp::DeleteSkillReview(mount("a"), "y".into())).await.expect("delete");
    storage.close();
    let storage = reopened("t-skills").await;
    assert_eq!(reviews(&storage).await.len(), 2);
    assert!(index(&storage).await.0.is_none(), "they are no settings");
    storage.perform(StoreOp::DeleteMount(mount("a"))).await.expect("delete");
    let left = reviews(&storage).await;
    assert!(left.len() == 1 && left[0].contains(r#""ab""#), "{left:?}");
}

#[wasm_bindgen_test]
async fn operations_end_in_the_order_of_the_calls() {
    let (storage, _) = fresh("t-order").await;
    let writes: Vec<_> = (0..20).map(|n| storage.perform(draft("a", &n.to_string()))).collect();
    let read = storage.perform(StoreOp::LoadIndex);
    // The last one is awaited first: the order of polls decides nothing.
    for write in writes.into_iter().rev() {
        write.await.expect("written");
    }
    let Ok(Some(Loaded::Index { drafts, .. })) = read.await else { panic!("index") };
    assert_eq!(drafts[0].draft.text, "19");
}

#[wasm_bindgen_test]
async fn a_transaction_happens_whole_or_not_at_all() {
    let (storage, _) = fresh("t-atomic").await;
    let good = Write::Put(Store::Mounts, Key::all().name("x"), JsValue::from_str("{}"));
    // A function cannot be cloned into a database.
    let bad = Write::Put(Store::Handles, Key::all().name("x"), Function::new_no_args("").into());
    let end = storage.write(vec![good, bad]).await;
    assert!(matches!(end, Err(StorageError::Io(_))), "{end:?}");
    assert_eq!(storage.get(Store::Mounts, Key::all().name("x")).await, Ok(None));
}

#[wasm_bindgen_test]
async fn a_damaged_record_is_told_and_left_where_it_is() {
    let (storage, heard) = fresh("t-damaged").await;
    let put = |name: &str, value| Write::Put(Store::Mounts, Key::all().name(name), value);
    storage.write(vec![put("bad", JsValue::from_str("{\"id\":"))]).await.expect("bad");
    let good = MountRecord { id: MountId::new("good").expect("id"), title: "Good".to_owned() };
    storage.perform(StoreOp::PutMount(good.clone())).await.expect("good");
    let (settings, _, mounts) = index(&storage).await;
    assert_eq!((settings, mounts), (None, vec![good]));
    let told = heard.borrow().clone();
    assert!(matches!(&told[..], [News::Damaged(StorageError::Damaged { store: "mounts", .. })]), "{told:?}");
    assert!(storage.get(Store::Mounts, Key::all().name("bad")).await.expect("read").is_some());
}

#[wasm_bindgen_test]
async fn a_provider_key_keeps_the_server_it_was_entered_for() {
    let (storage, _) = fresh("t-keys").await;
    let server = BaseUrl::parse("https://models.example/v1").expect("url");
    storage.put_key("work", " sk-1 ", &server).await.expect("kept");
    let secret = storage.key("work").await.expect("read").expect("there");
    assert_eq!(secret.origin(), server.origin());
    // Nothing of it is in what a start loads.
    let (settings, ..) = index(&storage).await;
    assert_eq!(settings, None);
    storage.delete_key("work").await.expect("deleted");
    assert!(storage.key("work").await.expect("read").is_none());
}

#[wasm_bindgen_test]
async fn field_10h4_an_old_window_saves_and_gives_way_to_a_newer_build() {
    let (old, heard) = fresh("t-upgrade").await;
    old.on_close(Rc::new(|| shell_lib::storage::writes(&draft("a", "half typed")).expect("writes")));
    let new = Storage::open_as("t-upgrade", VERSION + 1, listener().1).await.expect("the newer one opens");
    assert_eq!(*heard.borrow(), [News::Superseded]);
    assert!(!old.is_open());
    assert_eq!(old.perform(draft("a", "later")).await, Err(StorageError::Superseded));
    let (_, drafts, _) = index(&new).await;
    assert_eq!(drafts[0].draft.text, "half typed");
    new.close();
    // The older build finds a newer database and says so.
    let late = Storage::open_as("t-upgrade", VERSION, listener().1).await;
    assert!(matches!(late, Err(StorageError::Newer)));
}

#[wasm_bindgen_test]
async fn field_10h4_a_blocked_upgrade_is_told_and_goes_on_by_itself() {
    let (stubborn, _) = fresh("t-blocked").await;
    stubborn.close();
    // A window of a build that does not listen.
    let factory = web_sys::window().expect("window").indexed_db().expect("idb").expect("idb");
    let request = factory.open_with_u32("t-blocked", VERSION).expect("open");
    let opened = Promise::new(&mut |resolve: Function, _| request.set_onsuccess(Some(&resolve)));
    JsFuture::from(opened).await.expect("opened");
    let deaf: web_sys::IdbDatabase = request.result().expect("db").unchecked_into();
    let (heard, news) = listener();
    let opening = Storage::open_as("t-blocked", VERSION + 1, news);
    let end = Rc::new(RefCell::new(None));
    let into = end.clone();
    wasm_bindgen_futures::spawn_local(async move {
        *into.borrow_mut() = Some(opening.await.map(|s| s.is_open()));
    });
    pause(300).await;
    assert_eq!(*heard.borrow(), [News::Blocked]);
    assert_eq!(*end.borrow(), None);
    deaf.close();
    pause(300).await;
    assert_eq!(*heard.borrow(), [News::Blocked, News::Unblocked]);
    assert_eq!(*end.borrow(), Some(Ok(true)));
}

#[wasm_bindgen_test]
async fn field_10h4_three_opens_at_once_on_a_cold_database() {
    fresh("t-cold").await.0.close();
    let factory = web_sys::window().expect("window").indexed_db().expect("idb").expect("idb");
    factory.delete_database("t-cold").expect("delete");
    let opens = Rc::new(RefCell::new(Vec::new()));
    for _ in 0..3 {
        let into = opens.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let storage = Storage::open_as("t-cold", VERSION, listener().1).await.expect("opens");
            into.borrow_mut().push(storage);
        });
    }
    pause(500).await;
    assert_eq!(opens.borrow().len(), 3);
    let first = opens.borrow()[0].clone();
    let last = opens.borrow()[2].clone();
    first.perform(draft("a", "x")).await.expect("writes");
    assert_eq!(index(&last).await.1.len(), 1);
}

#[wasm_bindgen_test]
async fn a_connection_that_was_closed_is_opened_again() {
    let (storage, _) = fresh("t-lost").await;
    storage.perform(draft("a", "one")).await.expect("one");
    storage.close();
    assert!(!storage.is_open());
    storage.perform(draft("b", "two")).await.expect("two");
    assert_eq!(index(&storage).await.1.len(), 2);
}

#[wasm_bindgen_test]
async fn a_conversation_has_one_writer_at_a_time() {
    let name = name_of(&id("lock-test"));
    let first = claim(&name, When::Now).await;
    assert!(matches!(first, Claim::Held(_)) && first.words().is_none());
    let second = claim(&name, When::Now).await;
    assert!(matches!(second, Claim::Busy) && second.words().is_some());
    assert!(matches!(claim(&name_of(&id("another")), When::Now).await, Claim::Held(_)));
    drop(first);
    // Left and opened again at once, over and over.
    for _ in 0..20 {
        assert!(matches!(claim(&name, When::Now).await, Claim::Held(_)));
    }
}

#[wasm_bindgen_test]
async fn storage_that_is_deleted_is_told_as_deleted_and_not_as_a_newer_window() {
    let (old, heard) = fresh("t-deleted").await;
    let factory = web_sys::window().expect("window").indexed_db().expect("allowed").expect("there");
    factory.delete_database("t-deleted").expect("asked");
    for _ in 0..100 {
        if !heard.borrow().is_empty() {
            break;
        }
        pause(20).await;
    }
    assert_eq!(*heard.borrow(), [News::Deleted]);
    assert!(!old.is_open());
}
