//! A server's stream, the worker's messages and the browser's own glyphs, with the other side
//! played by a script.
#![cfg(target_arch = "wasm32")]

use compositor::FallbackRaster;
use models::{
    Ask, BaseUrl, FinishReason, Message, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ProviderConfig, RunId,
    Sampling, Secret,
};
use shell_lib::fallback::Fallback;
use shell_lib::model::fetch::Fetch;
use shell_lib::model::worker::{ModelWorker, WorkerEvent};
use std::cell::RefCell;
use std::rc::Rc;
use text::FallbackMeasure;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

fn script(code: &str) -> wasm_bindgen::JsValue {
    js_sys::eval(code).expect(code)
}

async fn pause(ms: i32) {
    let timeout = js_sys::Promise::new(&mut |resolve, _| {
        let window = web_sys::window().expect("window");
        window.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms).expect("timeout");
    });
    JsFuture::from(timeout).await.expect("pause");
}

fn request() -> ModelRequest {
    ModelRequest {
        run: RunId(3),
        messages: vec![Message::user("hello")],
        tools: vec![],
        sampling: Sampling::REMOTE,
        max_tokens: 10,
    }
}

fn server(url: &str) -> ProviderConfig {
    let base_url = BaseUrl::parse(url).expect("url");
    ProviderConfig::OpenAiCompatible { base_url, model: "m".into(), key_ref: Some("k".into()) }
}

type Events = Rc<RefCell<Vec<ModelEvent>>>;

fn ask(key: Option<&Secret>) -> (Events, Result<Fetch, ModelError>) {
    let events = Events::default();
    let into = events.clone();
    let config = server("http://models.example/v1");
    let fetch = Fetch::start(&request(), &config, key, Rc::new(move |e| into.borrow_mut().push(e)));
    (events, fetch)
}

/// Puts a stand-in in place of `fetch`; it notes what it was given.
fn played(answer: &str) {
    script(&format!(
        "window.kept ??= window.fetch; window.asked = [];
         window.fetch = (url, init) => {{ if (!String(url).includes('models.example')) return kept(url, init);
           asked.push([url, init]); return ({answer})(url, init); }}"
    ));
}

const STREAM: &str = r#"() => {
    const parts = ['data: {"choices":[{"delta":{"content":"Gr\u00fc', '\u00dfe"}}]}\n\n',
        'data: {"choices":[{"delta":{"content":" all"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'];
    const body = new ReadableStream({ async start(to) {
        for (const part of parts) { to.enqueue(new TextEncoder().encode(part)); await new Promise((r) => setTimeout(r, 5)); }
        to.close(); } });
    return Promise.resolve(new Response(body, { status: 200 }));
}"#;

fn text_of(events: &[ModelEvent]) -> String {
    let delta = |e: &ModelEvent| match e {
        ModelEvent::Delta(t) => Some(t.clone()),
        _ => None,
    };
    events.iter().filter_map(delta).collect()
}

fn finals(events: &[ModelEvent]) -> Vec<ModelEvent> {
    events.iter().filter(|e| e.is_final()).cloned().collect()
}

#[wasm_bindgen_test]
async fn an_answer_streams_whole_characters_and_ends_once() {
    played(STREAM);
    let (events, fetch) = ask(None);
    let _fetch = fetch.expect("started");
    pause(200).await;
    assert_eq!(text_of(&events.borrow()), "Grüße all");
    let end = finals(&events.borrow());
    assert!(matches!(&end[..], [ModelEvent::Finished { reason: FinishReason::Stop, .. }]), "{end:?}");
}

#[wasm_bindgen_test]
async fn a_key_goes_to_its_own_server_only_and_never_with_a_redirect() {
    played(STREAM);
    let own = BaseUrl::parse("http://models.example").expect("url").origin().clone();
    let (_, fetch) = ask(Some(&Secret::new("sk-1", own).expect("key")));
    let _fetch = fetch.expect("started");
    pause(20).await;
    let sent = script(
        "JSON.stringify([asked[0][0], asked[0][1].headers.get('authorization'), asked[0][1].redirect, asked[0][1].credentials])",
    );
    let want = r#"["http://models.example/v1/chat/completions","Bearer sk-1","error","omit"]"#;
    assert_eq!(sent.as_string().as_deref(), Some(want));
    played(STREAM);
    let other = BaseUrl::parse("http://other.example").expect("url").origin().clone();
    let (events, fetch) = ask(Some(&Secret::new("sk-2", other).expect("key")));
    assert!(matches!(fetch, Err(ModelError { kind: ModelErrorKind::Settings, .. })));
    pause(20).await;
    assert_eq!(script("asked.length").as_f64(), Some(0.0));
    assert_eq!(*events.borrow(), []);
}

#[wasm_bindgen_test]
async fn a_server_that_does_not_answer_is_explained() {
    played("() => Promise.reject(new TypeError('Failed to fetch'))");
    let (events, fetch) = ask(None);
    let _fetch = fetch.expect("started");
    pause(50).await;
    let end = finals(&events.borrow());
    let [ModelEvent::Failed(error)] = &end[..] else { panic!("{end:?}") };
    assert_eq!(error.kind, ModelErrorKind::Unreachable);
    let origin = web_sys::window().expect("window").location().origin().expect("origin");
    assert!(error.sentence().contains(&format!("Access-Control-Allow-Origin: {origin}")), "{}", error.sentence());
}

#[wasm_bindgen_test]
async fn a_refused_key_and_a_cut_stream_are_told_apart() {
    played(r#"() => Promise.resolve(new Response('{"error":{"message":"no such key"}}', { status: 401 }))"#);
    let (events, fetch) = ask(None);
    let _first = fetch.expect("started");
    pause(50).await;
    let end = finals(&events.borrow());
    let [ModelEvent::Failed(error)] = &end[..] else { panic!("{end:?}") };
    assert_eq!((error.kind, error.provider_words.as_deref()), (ModelErrorKind::Unauthorised, Some("no such key")));
    played(
        r#"() => Promise.resolve(new Response(new ReadableStream({ start(to) {
            to.enqueue(new TextEncoder().encode('data: {"choices":[{"delta":{"content":"half"}}]}\n\n'));
            setTimeout(() => to.error(new TypeError('network')), 10); } })))"#,
    );
    let (events, fetch) = ask(None);
    let _second = fetch.expect("started");
    pause(100).await;
    assert_eq!(text_of(&events.borrow()), "half", "what came stays");
    let end = finals(&events.borrow());
    assert!(matches!(&end[..], [ModelEvent::Failed(e)] if e.kind == ModelErrorKind::BrokenStream), "{end:?}");
}

#[wasm_bindgen_test]
async fn field_6h4_after_a_stop_nothing_comes_any_more() {
    played(STREAM);
    let (events, fetch) = ask(None);
    fetch.expect("started").abort();
    pause(150).await;
    assert_eq!(*events.borrow(), []);
    assert_eq!(script("asked[0][1].signal.aborted").as_bool(), Some(true));
}

type Told = Rc<RefCell<Vec<WorkerEvent>>>;

/// A worker played by the page: `peer.say(message)` is what it sends, `peer.got` what it gets.
fn worker() -> (Told, ModelWorker) {
    script(
        "window.Worker = class extends EventTarget {
           constructor() { super(); this.got = []; window.peer = this; }
           postMessage(m) { this.got.push(m); }
           terminate() { this.ended = true; }
           say(data) { this.dispatchEvent(new MessageEvent('message', { data })); } }",
    );
    let told = Told::default();
    let into = told.clone();
    let worker = ModelWorker::start(true, Rc::new(move |e| into.borrow_mut().push(e))).expect("a worker");
    (told, worker)
}

#[wasm_bindgen_test]
fn the_worker_s_messages_become_events_of_their_run() {
    let (told, worker) = worker();
    assert_eq!(
        script("peer.got[0].op + peer.got[0].model.sha256.length + peer.got[0].persist").as_string().as_deref(),
        Some("load64true")
    );
    worker.ask(&Ask::Chat(request()));
    worker.cancel(RunId(3));
    let got = script("JSON.stringify(peer.got.slice(1).map((m) => [m.op, m.run, m.messages?.[0].content]))");
    assert_eq!(got.as_string().as_deref(), Some(r#"[["chat",3,"hello"],["cancel",3,null]]"#));
    script(
        "peer.say({ev: 'progress', phase: 'download', done: 5, total: 10});
         peer.say({ev: 'prefill', run: 3, done: 1, total: 2});
         peer.say({ev: 'delta', run: 3, text: 'ü'});
         peer.say({ev: 'nonsense'});
         peer.say({ev: 'end', run: 3, reason: 'length', usage: {prompt: 7, completion: 9}});
         peer.say({ev: 'quota', need: 10, have: null, used: 4})",
    );
    let run = |e| WorkerEvent::Run(RunId(3), e);
    let usage = Some(models::Usage { prompt: 7, completion: 9 });
    let want = [
        WorkerEvent::Progress("download".into(), 5.0, 10.0),
        run(ModelEvent::Prefill { done: 1, total: 2 }),
        run(ModelEvent::Delta("ü".into())),
        run(ModelEvent::Finished { reason: FinishReason::Length, usage }),
        WorkerEvent::Quota { need: 10.0, have: None, used: 4.0 },
    ];
    assert_eq!(*told.borrow(), want);
}

#[wasm_bindgen_test]
fn field_6h4_an_empty_answer_is_not_a_success() {
    let (told, _worker) = worker();
    script("peer.say({ev: 'end', run: 4, reason: 'empty', usage: {prompt: 7, completion: 0}})");
    let told = told.borrow();
    assert!(
        matches!(&told[..], [WorkerEvent::Run(RunId(4), ModelEvent::Failed(e))] if e.kind == ModelErrorKind::Empty)
    );
}

#[wasm_bindgen_test]
fn field_6h5_a_trapped_engine_ends_the_worker_and_not_one_run() {
    let (told, worker) = worker();
    script("peer.say({ev: 'lost', run: 3, message: 'unreachable'})");
    script("peer.dispatchEvent(new ErrorEvent('error', {message: 'out of memory', cancelable: true}))");
    assert_eq!(*told.borrow(), [WorkerEvent::Lost("unreachable".into()), WorkerEvent::Lost("out of memory".into())]);
    drop(worker);
    assert_eq!(script("peer.ended").as_bool(), Some(true));
    script("peer.say({ev: 'delta', run: 3, text: 'late'})");
    assert_eq!(told.borrow().len(), 2, "an ended worker is not heard");
}

#[wasm_bindgen_test]
fn what_the_bundled_fonts_lack_is_measured_and_drawn() {
    let mut f = Fallback::default();
    let (small, large) = (f.advance("語", 16.0, false), f.advance("語", 32.0, false));
    assert!(small > 4.0 && (large / small - 2.0).abs() < 0.2, "{small} {large}");
    let bitmap = f.raster("語", 32.0, false).expect("drawn");
    assert_eq!(bitmap.rgba.len(), (bitmap.width * bitmap.height * 4) as usize);
    assert!(!bitmap.colored && bitmap.top > 0);
    let alpha = |rgba: &[u8]| rgba.chunks_exact(4).filter(|p| p[3] > 128).count();
    assert!(alpha(&bitmap.rgba) > 20);
    // Premultiplied, and the one before it was wiped away.
    assert!(bitmap.rgba.chunks_exact(4).all(|p| p[0] <= p[3] && p[1] <= p[3] && p[2] <= p[3]));
    let dot = f.raster(".", 32.0, false).expect("drawn");
    assert!(alpha(&dot.rgba) < alpha(&bitmap.rgba));
    assert!(f.raster(&"語".repeat(200), 64.0, false).is_none(), "too wide to be one cell");
}
