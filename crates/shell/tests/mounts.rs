//! Mounts in a real browser: the private file system as it is, permissions by a stand-in.
#![cfg(target_arch = "wasm32")]

use ai_echo::conversation::MountRecord;
use kernel::authority::{GestureKind, GestureMint, TrustedGesture};
use kernel::mount::{EntryKind, Expect, MountError, MountPath, Need, Reply};
use kernel::{Digest, Instant, MountId};
use shell_lib::mounts::bindings::{DirHandle, option, wait};
use shell_lib::mounts::{BrowserHandles, Folder, Handles, Local, Mode, Mounts, Permission, SAMPLE, State, sample};
use shell_lib::storage::{Storage, VERSION};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

thread_local! {
    static MINT: RefCell<GestureMint> = RefCell::new(GestureMint::take().expect("the first to take it"));
}

fn act() -> TrustedGesture {
    let at = Instant::default();
    MINT.with(|m| m.borrow_mut().stamp(GestureKind::Click, true, at)).trusted().expect("trusted")
}

async fn opfs() -> web_sys::FileSystemDirectoryHandle {
    let storage = web_sys::window().expect("window").navigator().storage();
    JsFuture::from(storage.get_directory()).await.expect("root").unchecked_into()
}

async fn erase(name: &str) {
    let options = web_sys::FileSystemRemoveOptions::new();
    options.set_recursive(true);
    let _ = JsFuture::from(opfs().await.remove_entry_with_options(name, &options)).await;
}

async fn dir(name: &str) -> DirHandle {
    let root: DirHandle = JsValue::from(opfs().await).unchecked_into();
    wait(root.dir(name, &option("create", &JsValue::TRUE))).await.expect("dir").unchecked_into()
}

/// Two ways to write: with a scratch folder, as the sample has one, and without.
async fn folders(name: &str) -> [Folder; 2] {
    let (own, scratch) = (format!("{name}-own"), format!("{name}-scratch"));
    for name in [name, &own, &scratch] {
        erase(name).await;
    }
    [
        Folder { root: dir(name).await, scratch: Some(dir(&scratch).await) },
        Folder { root: dir(&own).await, scratch: None },
    ]
}

fn path(text: &str) -> MountPath {
    MountPath::parse(text).expect("path")
}

fn write(at: &str, bytes: &[u8], expect: Expect) -> Need {
    Need::Write { path: path(at), bytes: bytes.to_vec(), expect }
}

fn over(bytes: &[u8]) -> Expect {
    Expect::Digest(Digest::of(bytes))
}

async fn read(folder: &Folder, at: &str) -> Reply {
    folder.perform(&Need::Read { path: path(at), max: 1 << 20 }).await
}

fn bytes(text: &[u8]) -> Reply {
    Reply::Bytes { bytes: text.to_vec(), total: text.len() as u64 }
}

async fn names(folder: &Folder, at: &str, max: usize) -> (Vec<(String, EntryKind)>, bool) {
    match folder.perform(&Need::List { path: path(at), max }).await {
        Reply::Listed { entries, truncated } => (entries.into_iter().map(|e| (e.name, e.kind)).collect(), truncated),
        other => panic!("{other:?}"),
    }
}

#[wasm_bindgen_test]
async fn a_shorter_file_leaves_no_tail() {
    for f in folders("t-tail").await {
        assert_eq!(f.perform(&write("a/b.txt", b"0123456789", Expect::Absent)).await, Reply::Done);
        assert_eq!(f.perform(&write("a/b.txt", b"abc", over(b"0123456789"))).await, Reply::Done);
        assert_eq!(read(&f, "a/b.txt").await, bytes(b"abc"));
        assert_eq!(f.perform(&write("a/b.txt", b"", over(b"abc"))).await, Reply::Done);
        assert_eq!(read(&f, "a/b.txt").await, bytes(b""));
    }
}

#[wasm_bindgen_test]
async fn a_write_happens_only_over_what_was_shown() {
    for f in folders("t-expect").await {
        assert_eq!(f.perform(&write("x", b"old", Expect::Absent)).await, Reply::Done);
        let changed = Reply::Failed(MountError::Changed(Some(Digest::of(b"old"))));
        assert_eq!(f.perform(&write("x", b"new", Expect::Absent)).await, changed);
        assert_eq!(f.perform(&write("x", b"new", over(b"other"))).await, changed);
        assert_eq!(f.perform(&Need::Remove { path: path("x"), expect: Digest::of(b"other") }).await, changed);
        assert_eq!(read(&f, "x").await, bytes(b"old"));
        let gone = Reply::Failed(MountError::Changed(None));
        assert_eq!(f.perform(&write("y/z", b"new", over(b"old"))).await, gone);
        // A refused write makes no folder either.
        assert_eq!(names(&f, "", 9).await.0, [("x".to_owned(), EntryKind::File)]);
        assert_eq!(f.perform(&Need::Remove { path: path("x"), expect: Digest::of(b"old") }).await, Reply::Done);
        assert_eq!(read(&f, "x").await, Reply::Failed(MountError::NotFound));
    }
}

#[wasm_bindgen_test]
async fn nothing_stays_in_the_scratch_folder() {
    let [f, _] = folders("t-scratch").await;
    assert_eq!(f.perform(&write("x", b"1", Expect::Absent)).await, Reply::Done);
    assert_ne!(f.perform(&write("x/y", b"1", Expect::Absent)).await, Reply::Done);
    let scratch = Folder { root: f.scratch.clone().expect("scratch"), scratch: None };
    assert!(names(&scratch, "", 9).await.0.is_empty());
}

#[wasm_bindgen_test]
async fn listings_and_reads_are_bounded_and_say_so() {
    let [f, _] = folders("t-list").await;
    for name in ["d/c.md", "d/a.md", "d/b/x.md"] {
        assert_eq!(f.perform(&write(name, b"0123456789", Expect::Absent)).await, Reply::Done);
    }
    let all = [("a.md", EntryKind::File), ("b", EntryKind::Folder), ("c.md", EntryKind::File)];
    let all = all.map(|(name, kind)| (name.to_owned(), kind));
    assert_eq!(names(&f, "d", 3).await, (all.to_vec(), false));
    assert_eq!(names(&f, "d", 2).await, (all[..2].to_vec(), true));
    let cut = f.perform(&Need::Read { path: path("d/a.md"), max: 4 }).await;
    assert_eq!(cut, Reply::Bytes { bytes: b"0123".to_vec(), total: 10 });
}

#[wasm_bindgen_test]
async fn what_is_not_what_was_meant_is_refused_by_kind() {
    let [f, _] = folders("t-kinds").await;
    assert_eq!(f.perform(&write("d/a", b"12", Expect::Absent)).await, Reply::Done);
    let failed = |e| Reply::Failed(e);
    assert_eq!(read(&f, "d").await, failed(MountError::WrongKind));
    assert_eq!(read(&f, "").await, failed(MountError::WrongKind));
    assert_eq!(read(&f, "d/none").await, failed(MountError::NotFound));
    assert_eq!(f.perform(&write("d", b"", Expect::Absent)).await, failed(MountError::WrongKind));
    assert_eq!(f.perform(&Need::List { path: path("d/a"), max: 1 }).await, failed(MountError::WrongKind));
    let stat = |at: &str| Need::Stat { path: path(at) };
    assert_eq!(f.perform(&stat("d/a")).await, Reply::Found { kind: EntryKind::File, size: 2 });
    assert_eq!(f.perform(&stat("d")).await, Reply::Found { kind: EntryKind::Folder, size: 0 });
    assert_eq!(f.perform(&stat("")).await, Reply::Found { kind: EntryKind::Folder, size: 0 });
}

#[wasm_bindgen_test]
async fn the_sample_is_written_once_and_is_the_persons_own_from_then_on() {
    erase("mnt").await;
    let f = sample().await.expect("sample");
    let Reply::Bytes { bytes: agents, .. } = read(&f, "AGENTS.md").await else { panic!("AGENTS.md") };
    assert!(agents.starts_with(b"# Welcome workspace"));
    for at in ["notes/todo.md", ".agents/skills/weekly-review/SKILL.md", "code/budget.py"] {
        assert!(matches!(read(&f, at).await, Reply::Bytes { .. }), "{at}");
    }
    let gone = Need::Remove { path: path("AGENTS.md"), expect: Digest::of(&agents) };
    assert_eq!(f.perform(&gone).await, Reply::Done);
    let again = sample().await.expect("sample");
    assert_eq!(read(&again, "AGENTS.md").await, Reply::Failed(MountError::NotFound));
}

#[wasm_bindgen_test]
async fn two_writers_of_one_file_do_not_both_win() {
    let fake = Fake::new(Permission::Granted, Permission::Granted);
    let (mounts, _) = table(&fake);
    erase("t-race").await;
    let id = mounts.mount(dir("t-race").await).await.expect("mounted").id;
    let end = Rc::new(RefCell::new(Vec::new()));
    for text in [b"one", b"two"] {
        let (mounts, id, end) = (mounts.clone(), id.clone(), end.clone());
        wasm_bindgen_futures::spawn_local(async move {
            let replies = mounts.perform(&id, &[write("f", text, Expect::Absent)]).await;
            end.borrow_mut().extend(replies);
        });
    }
    for _ in 0..100 {
        if end.borrow().len() == 2 {
            break;
        }
        pause(20).await;
    }
    let changed = Reply::Failed(MountError::Changed(Some(Digest::of(b"one"))));
    assert_eq!(*end.borrow(), [Reply::Done, changed]);
}

async fn pause(ms: i32) {
    let timeout = js_sys::Promise::new(&mut |resolve, _| {
        let window = web_sys::window().expect("window");
        window.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms).expect("timeout");
    });
    JsFuture::from(timeout).await.expect("pause");
}

/// Handles that are real, with permissions that are told what to say.
struct Fake {
    read: Cell<Permission>,
    write: Cell<Permission>,
    /// What a person would answer.
    answer: Cell<Permission>,
    /// How often a person was asked.
    asked: Cell<u32>,
    kept: RefCell<BTreeMap<MountId, DirHandle>>,
    pick: RefCell<Option<DirHandle>>,
}

impl Fake {
    fn new(read: Permission, write: Permission) -> Rc<Self> {
        Rc::new(Self {
            read: Cell::new(read),
            write: Cell::new(write),
            answer: Cell::new(Permission::Granted),
            asked: Cell::new(0),
            kept: RefCell::default(),
            pick: RefCell::default(),
        })
    }
}

impl Handles for Fake {
    fn pick(&self, _: &TrustedGesture) -> Local<Result<Option<DirHandle>, MountError>> {
        let picked = self.pick.borrow().clone();
        Box::pin(async move { Ok(picked) })
    }
    fn query(&self, _: &DirHandle, mode: Mode) -> Local<Permission> {
        let state = if mode == Mode::Read { self.read.get() } else { self.write.get() };
        Box::pin(async move { state })
    }
    fn request(&self, _: &DirHandle, _: Mode, _: &TrustedGesture) -> Local<Permission> {
        self.asked.set(self.asked.get() + 1);
        let answer = self.answer.get();
        if answer != Permission::Prompt {
            self.read.set(answer);
            self.write.set(answer);
        }
        Box::pin(async move { answer })
    }
    fn keep(&self, id: &MountId, handle: &DirHandle) -> Local<Result<(), String>> {
        self.kept.borrow_mut().insert(id.clone(), handle.clone());
        Box::pin(async { Ok(()) })
    }
    fn kept(&self, id: &MountId) -> Local<Result<Option<DirHandle>, String>> {
        let kept = self.kept.borrow().get(id).cloned();
        Box::pin(async move { Ok(kept) })
    }
}

type Told = Rc<RefCell<Vec<(MountId, State)>>>;

fn table(fake: &Rc<Fake>) -> (Mounts, Told) {
    let told = Told::default();
    let into = told.clone();
    let mounts = Mounts::new(fake.clone(), Rc::new(move |id, state| into.borrow_mut().push((id, state))));
    (mounts, told)
}

/// A folder mounted on an earlier visit, and the table of the next one.
async fn next_visit(name: &str, fake: &Rc<Fake>) -> (Mounts, MountRecord) {
    erase(name).await;
    let (before, _) = table(fake);
    let record = before.mount(dir(name).await).await.expect("mounted");
    assert_eq!(before.perform(&record.id, &[write("a", b"1", Expect::Absent)]).await, [Reply::Done]);
    (table(fake).0, record)
}

fn stat() -> Need {
    Need::Stat { path: path("a") }
}

#[wasm_bindgen_test]
async fn field_10h1_a_stored_folder_asks_for_one_click_and_for_nothing_before_it() {
    let fake = Fake::new(Permission::Granted, Permission::Granted);
    let (mounts, record) = next_visit("t-again", &fake).await;
    fake.read.set(Permission::Prompt);
    fake.write.set(Permission::Prompt);
    mounts.restore(std::slice::from_ref(&record)).await;
    assert_eq!(mounts.state(&record.id), Some(State::NeedsReconnect));
    let replies = mounts.perform(&record.id, &[stat(), write("a", b"2", over(b"1"))]).await;
    assert_eq!(replies, [Reply::Failed(MountError::NeedsReconnect), Reply::Failed(MountError::NeedsReconnect)]);
    assert_eq!(fake.asked.get(), 0);
    assert_eq!(mounts.reconnect(&record.id, &act()).await, State::Ready);
    assert_eq!(fake.asked.get(), 1);
    assert_eq!(mounts.perform(&record.id, &[write("a", b"2", over(b"1"))]).await, [Reply::Done]);
}

#[wasm_bindgen_test]
async fn field_10h1_denied_and_missing_are_told_apart() {
    let fake = Fake::new(Permission::Granted, Permission::Granted);
    let (mounts, record) = next_visit("t-denied", &fake).await;
    fake.read.set(Permission::Prompt);
    fake.write.set(Permission::Prompt);
    fake.answer.set(Permission::Denied);
    mounts.restore(std::slice::from_ref(&record)).await;
    assert_eq!(mounts.reconnect(&record.id, &act()).await, State::Denied);
    assert_eq!(mounts.perform(&record.id, &[stat()]).await, [Reply::Failed(MountError::Denied)]);
    fake.answer.set(Permission::Granted);
    erase("t-denied").await;
    assert_eq!(mounts.reconnect(&record.id, &act()).await, State::Missing);
    assert_eq!(mounts.perform(&record.id, &[stat()]).await, [Reply::Failed(MountError::MountMissing)]);
    let words: std::collections::BTreeSet<_> =
        [State::NeedsReconnect, State::Denied, State::Missing].iter().map(State::words).collect();
    assert_eq!(words.len(), 3);
}

#[wasm_bindgen_test]
async fn field_10h1_a_folder_that_goes_away_is_missing_and_not_empty() {
    let fake = Fake::new(Permission::Granted, Permission::Granted);
    let (mounts, record) = next_visit("t-moved", &fake).await;
    mounts.restore(std::slice::from_ref(&record)).await;
    assert_eq!(mounts.state(&record.id), Some(State::Ready));
    let list = Need::List { path: MountPath::root(), max: 9 };
    assert!(matches!(&mounts.perform(&record.id, std::slice::from_ref(&list)).await[..], [Reply::Listed { .. }]));
    erase("t-moved").await;
    assert_eq!(mounts.perform(&record.id, &[list, stat()]).await, vec![Reply::Failed(MountError::MountMissing); 2]);
    assert_eq!(mounts.state(&record.id), Some(State::Missing));
    // Never kept at all.
    let other = MountRecord { id: MountId::new("never").expect("id"), title: "Never".to_owned() };
    mounts.restore(std::slice::from_ref(&other)).await;
    assert_eq!(mounts.state(&other.id), Some(State::Missing));
}

#[wasm_bindgen_test]
async fn a_folder_given_for_reading_is_not_written_without_a_click() {
    let fake = Fake::new(Permission::Granted, Permission::Granted);
    let (mounts, record) = next_visit("t-readonly", &fake).await;
    fake.write.set(Permission::Prompt);
    mounts.restore(std::slice::from_ref(&record)).await;
    assert_eq!(mounts.state(&record.id), Some(State::ReadOnly));
    let replies = mounts.perform(&record.id, &[stat(), write("a", b"2", over(b"1"))]).await;
    assert!(matches!(replies[0], Reply::Found { .. }));
    assert_eq!(replies[1], Reply::Failed(MountError::NeedsReconnect));
    assert_eq!(fake.asked.get(), 0);
}

#[wasm_bindgen_test]
async fn the_same_folder_keeps_its_id_and_another_of_that_name_gets_its_own() {
    let fake = Fake::new(Permission::Granted, Permission::Granted);
    let (mounts, told) = table(&fake);
    for name in ["t-Äpfel & Co", "t-inside"] {
        erase(name).await;
    }
    *fake.pick.borrow_mut() = Some(dir("t-Äpfel & Co").await);
    let first = mounts.pick(&act()).await.expect("picked").expect("chosen");
    assert_eq!((first.id.as_str(), first.title.as_str()), ("t-pfel-co", "t-Äpfel & Co"));
    let again = mounts.pick(&act()).await.expect("picked").expect("chosen");
    assert_eq!(again, first);
    let inside = dir("t-inside").await;
    let same_name = wait(inside.dir("t-Äpfel & Co", &option("create", &JsValue::TRUE))).await.expect("dir");
    let second = mounts.mount(same_name.unchecked_into()).await.expect("mounted");
    assert_eq!(second.id.as_str(), "t-pfel-co-2");
    assert_eq!(told.borrow().len(), 3);
    *fake.pick.borrow_mut() = None;
    assert_eq!(mounts.pick(&act()).await, Ok(None));
    assert_ne!(first.id.as_str(), SAMPLE);
}

#[wasm_bindgen_test]
async fn field_10h1_a_real_handle_is_kept_across_visits() {
    let name = "t-handles";
    let open = || Storage::open_as(name, VERSION, Rc::new(|_| ()));
    let id = MountId::new("kept").expect("id");
    erase("t-kept").await;
    let handle = dir("t-kept").await;
    let first = open().await.expect("opens");
    BrowserHandles::new(first.clone()).keep(&id, &handle).await.expect("kept");
    first.close();
    let handles = BrowserHandles::new(open().await.expect("opens again"));
    let again = handles.kept(&id).await.expect("read").expect("there");
    assert!(wait(again.is_same_entry(&handle)).await.expect("compared").is_truthy());
    assert_eq!(handles.query(&again, Mode::Write).await, Permission::Granted);
    assert!(handles.kept(&MountId::new("other").expect("id")).await.expect("read").is_none());
    // It works, and the table finds it by itself.
    let told = Told::default();
    let into = told.clone();
    let mounts = Mounts::new(Rc::new(handles), Rc::new(move |id, state| into.borrow_mut().push((id, state))));
    mounts.restore(&[MountRecord { id: id.clone(), title: "Kept".to_owned() }]).await;
    assert_eq!(*told.borrow(), [(id.clone(), State::Opening), (id.clone(), State::Ready)]);
    assert_eq!(mounts.perform(&id, &[write("a", b"1", Expect::Absent)]).await, [Reply::Done]);
}

#[wasm_bindgen_test]
async fn without_a_database_folders_serve_this_visit() {
    let mounts = Mounts::new(Rc::new(BrowserHandles::new(None)), Rc::new(|_, _| ()));
    erase("t-unkept").await;
    let record = mounts.mount(dir("t-unkept").await).await.expect("mounted");
    assert_eq!(mounts.perform(&record.id, &[write("a", b"1", Expect::Absent)]).await, [Reply::Done]);
    let next = Mounts::new(Rc::new(BrowserHandles::new(None)), Rc::new(|_, _| ()));
    next.restore(std::slice::from_ref(&record)).await;
    assert_eq!(next.state(&record.id), Some(State::Missing));
}

#[wasm_bindgen_test]
async fn dropped_files_are_no_folders() {
    let (mounts, told) = table(&Fake::new(Permission::Granted, Permission::Granted));
    let data = web_sys::DataTransfer::new().expect("data");
    let code = "d => { d.items.add('words', 'text/plain'); d.items.add(new File(['x'], 'x.txt')) }";
    let fill: js_sys::Function = js_sys::eval(code).expect("code").unchecked_into();
    fill.call1(&JsValue::NULL, &data).expect("filled");
    let mounted = mounts.dropped(&data.items(), &act()).await;
    assert_eq!(mounted, []);
    assert!(told.borrow().is_empty());
}
