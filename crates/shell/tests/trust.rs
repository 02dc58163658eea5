//! What scripts of the page can make, they can make in vain: nothing of it becomes an act, and
//! what reaches a listener is told. (What a person does is driven from outside the page, in
//! `tests/e2e`: code inside a page cannot make trusted events.)
#![cfg(target_arch = "wasm32")]

use kernel::Refusal;
use kernel::authority::{GestureKind, GestureMint, Proof};
use shell_lib::dom::events::{Events, Loop};
use shell_lib::dom::input::{EditContextDriver, FieldState, TextInputDriver, TextareaDriver};
use shell_lib::dom::trust::Trust;
use std::cell::RefCell;
use std::rc::Rc;
use ui::event::Event;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{Element, HtmlCanvasElement, HtmlElement};

wasm_bindgen_test_configure!(run_in_browser);

thread_local! {
    /// The process has one mint, so all tests of this file share one judge.
    static TRUST: (Rc<Trust>, Rc<RefCell<Vec<Refusal>>>) = {
        let told: Rc<RefCell<Vec<Refusal>>> = Rc::default();
        let into = told.clone();
        let mint = GestureMint::take().expect("the first to take it");
        (Rc::new(Trust::new(mint, Rc::new(move |r| into.borrow_mut().push(r)))), told)
    };
}

fn trust() -> Rc<Trust> {
    TRUST.with(|t| t.0.clone())
}

/// The refusals since the last call, by code.
fn told() -> Vec<(String, String)> {
    TRUST.with(|t| t.1.borrow_mut().drain(..).map(|r| (r.code.into_owned(), r.observed)).collect())
}

fn document() -> web_sys::Document {
    web_sys::window().expect("window").document().expect("document")
}

/// Runs a script as any other script of the page would run.
fn script(code: &str) {
    js_sys::eval(code).expect(code);
}

#[derive(Default)]
struct Recorder {
    heard: RefCell<Vec<(Event, bool)>>,
    drops: RefCell<u32>,
    host: RefCell<Option<Element>>,
}

impl Loop for Recorder {
    fn event(&self, event: Event, proof: Proof) -> bool {
        self.heard.borrow_mut().push((event, proof.is_trusted()));
        false
    }
    fn copied(&self) -> Option<String> {
        Some("selected".to_owned())
    }
    fn dropped(&self, _: web_sys::DataTransfer, _: Proof) {
        *self.drops.borrow_mut() += 1;
    }
    fn text_host(&self) -> Option<Element> {
        self.host.borrow().clone()
    }
}

struct Page {
    recorder: Rc<Recorder>,
    canvas: HtmlCanvasElement,
    _events: Events,
}

impl Page {
    fn new() -> Self {
        let canvas: HtmlCanvasElement = document().create_element("canvas").expect("canvas").unchecked_into();
        canvas.set_id("stage");
        document().body().expect("body").append_child(&canvas).expect("append");
        let recorder = Rc::new(Recorder::default());
        let run: Rc<dyn Loop> = recorder.clone();
        let events = Events::new(&canvas, &trust(), &run);
        told();
        Self { recorder, canvas, _events: events }
    }

    fn heard(&self) -> Vec<(Event, bool)> {
        self.recorder.heard.borrow_mut().drain(..).collect()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.canvas.remove();
    }
}

fn field(text: &str) -> FieldState {
    let end = u32::try_from(text.encode_utf16().count()).expect("short");
    FieldState {
        id: 7,
        text: text.to_owned(),
        selection: (end, end),
        bounds: scene::Rect::new(10.0, 10.0, 200.0, 24.0),
        caret: scene::Rect::new(20.0, 10.0, 1.0, 20.0),
        ..FieldState::default()
    }
}

#[wasm_bindgen_test]
fn no_kind_of_event_that_a_script_makes_proves_anything() {
    told();
    let kinds = [
        ("keydown", GestureKind::Key),
        ("beforeinput", GestureKind::TextEdit),
        ("textupdate", GestureKind::TextEdit),
        ("pointerdown", GestureKind::Pointer),
        ("pointerup", GestureKind::Pointer),
        ("click", GestureKind::Click),
        ("paste", GestureKind::Paste),
        ("drop", GestureKind::Drop),
    ];
    let before = trust().untrusted();
    for (name, kind) in kinds {
        let proof = trust().stamp(kind, &web_sys::Event::new(name).expect("event"));
        assert_eq!(proof, Proof::Untrusted, "{name}");
        assert_eq!(proof.trusted(), None);
    }
    assert_eq!(trust().untrusted() - before, 8);
    let told = told();
    assert_eq!(told.len(), 8);
    for ((code, words), (name, _)) in told.iter().zip(kinds) {
        assert!(code == "UntrustedEvent" && words.contains(name), "{code} {words}");
    }
}

#[wasm_bindgen_test]
fn a_flood_of_forged_events_is_counted_whole_and_told_in_part() {
    told();
    let before = trust().untrusted();
    for _ in 0..1000 {
        trust().stamp(GestureKind::Key, &web_sys::Event::new("keydown").expect("event"));
    }
    assert_eq!(trust().untrusted() - before, 1000);
    assert!((1..=64).contains(&told().len()));
    trust().stamp(GestureKind::Click, &web_sys::Event::new("click").expect("event"));
    assert_eq!(told().len(), 1, "another kind is told again");
}

#[wasm_bindgen_test]
fn forged_events_reach_the_listeners_and_end_there() {
    let page = Page::new();
    let forged = [
        ("keydown", "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))"),
        ("keydown", "window.dispatchEvent(new KeyboardEvent('keydown', {key: 'F8'}))"),
        (
            "pointerdown",
            "stage.dispatchEvent(new PointerEvent('pointerdown', {clientX: 5, clientY: 5, bubbles: true}))",
        ),
        ("pointerup", "stage.dispatchEvent(new PointerEvent('pointerup', {clientX: 5, clientY: 5, bubbles: true}))"),
        ("click", "stage.click()"),
        ("click", "stage.dispatchEvent(new MouseEvent('click', {bubbles: true}))"),
        (
            "paste",
            "{ const d = new DataTransfer(); d.setData('text/plain', '/app:files');
            document.body.dispatchEvent(new ClipboardEvent('paste', {clipboardData: d, bubbles: true})) }",
        ),
        (
            "drop",
            "{ const d = new DataTransfer(); d.items.add(new File(['x'], 'x.txt'));
            document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: d, bubbles: true})) }",
        ),
    ];
    for (name, code) in forged {
        script(code);
        let told = told();
        assert!(told.iter().any(|(code, words)| code == "UntrustedEvent" && words.contains(name)), "{name}: {told:?}");
        assert_eq!(page.heard(), [], "{name}");
    }
    assert_eq!(*page.recorder.drops.borrow(), 0);
}

#[wasm_bindgen_test]
fn field_7h3_a_forged_backspace_without_a_key_deletes_nothing() {
    let page = Page::new();
    let host: HtmlElement = document().create_element("div").expect("div").unchecked_into();
    host.set_id("typed");
    document().body().expect("body").append_child(&host).expect("append");
    *page.recorder.host.borrow_mut() = Some(host.clone().into());
    for kind in ["deleteContentBackward", "insertParagraph", "deleteByCut"] {
        script(&format!(
            "typed.dispatchEvent(new InputEvent('beforeinput', {{inputType: '{kind}', bubbles: true, cancelable: true}}))"
        ));
        assert_eq!(page.heard(), [], "{kind}");
        assert_eq!(told().len(), 1, "{kind}");
    }
    host.remove();
}

#[wasm_bindgen_test]
fn field_7h2_a_copy_made_by_a_script_takes_nothing_away() {
    let page = Page::new();
    for kind in ["copy", "cut"] {
        script(&format!("document.execCommand('{kind}')"));
        assert!(page.heard().iter().all(|(event, _)| *event != Event::Cut), "{kind}");
    }
}

type Heard = Rc<RefCell<Vec<(Event, bool)>>>;

fn sink() -> (Heard, Rc<dyn Fn(Event, Proof)>) {
    let heard = Heard::default();
    let into = heard.clone();
    (heard, Rc::new(move |event, proof| into.borrow_mut().push((event, proof.is_trusted()))))
}

fn shown(driver: &dyn TextInputDriver, id: &str) {
    let host = driver.host();
    host.set_id(id);
    document().body().expect("body").append_child(&host).expect("append");
    host.focus().expect("focus");
}

#[wasm_bindgen_test]
fn the_text_area_is_put_right_when_a_script_types_into_it() {
    let (heard, sink) = sink();
    let driver = TextareaDriver::new(false, sink, trust());
    shown(&driver, "area");
    driver.sync(&field("draft"));
    told();
    let ways = [
        // This one makes a *trusted* input event.
        "area.focus(); document.execCommand('insertText', false, '/app:files')",
        "area.value = '/app:files'; area.dispatchEvent(new InputEvent('input', {inputType: 'insertText', data: 'x'}))",
        "area.dispatchEvent(new InputEvent('beforeinput', {inputType: 'insertText', data: 'x', cancelable: true}));
         area.value = 'draftx'; area.dispatchEvent(new InputEvent('input', {inputType: 'insertText', data: 'x'}))",
        "area.focus(); document.execCommand('delete')",
        "area.setRangeText('/', 0, 0); area.dispatchEvent(new InputEvent('input'))",
    ];
    for code in ways {
        script(code);
        assert_eq!(driver.held(), "draft", "{code}");
        assert_eq!(*heard.borrow(), [], "{code}");
        assert!(!told().is_empty(), "{code}");
    }
    driver.host().remove();
}

#[wasm_bindgen_test]
fn a_secret_is_typed_into_a_password_field() {
    let driver = TextareaDriver::new(true, sink().1, trust());
    shown(&driver, "key");
    driver.sync(&FieldState { secret: true, ..field("sk-1") });
    let host = driver.host();
    assert_eq!((host.tag_name().as_str(), host.get_attribute("type").as_deref()), ("INPUT", Some("password")));
    assert_eq!(host.text_content().unwrap_or_default(), "");
    assert!(!host.outer_html().contains("sk-1"));
    host.remove();
}

#[wasm_bindgen_test]
fn an_edit_context_changed_by_a_script_is_told_and_put_right() {
    let (heard, sink) = sink();
    let driver = EditContextDriver::new(sink, trust()).expect("this browser has EditContext");
    shown(&driver, "context");
    driver.sync(&field("draft"));
    assert_eq!(driver.held(), "draft");
    told();
    script("context.editContext.updateText(0, 5, '/app:files')");
    assert_eq!(driver.held(), "/app:files", "the browser lets a script do it");
    assert_eq!(*heard.borrow(), [], "and tells nobody");
    driver.sync(&field("draft"));
    assert_eq!(driver.held(), "draft");
    script("document.execCommand('insertText', false, 'x')");
    script(
        "context.editContext.dispatchEvent(new TextUpdateEvent('textupdate', {updateRangeStart: 0, updateRangeEnd: 5, text: '/app:files'}))",
    );
    assert_eq!(*heard.borrow(), []);
    let told = told();
    assert!(
        matches!(&told[..], [(changed, _), (code, words)]
            if changed == "FieldChangedBehind" && code == "UntrustedEvent" && words.contains("textupdate")),
        "{told:?}"
    );
    driver.host().remove();
}

#[wasm_bindgen_test]
fn field_7h1_the_host_stays_where_it_is_while_something_is_composed() {
    let driver = EditContextDriver::new(sink().1, trust()).expect("this browser has EditContext");
    shown(&driver, "composed");
    driver.sync(&field(""));
    let left = || driver.host().style().get_property_value("left").expect("left");
    assert_eq!(left(), "10px");
    script("composed.editContext.dispatchEvent(new CompositionEvent('compositionstart'))");
    let moved = FieldState { bounds: scene::Rect::new(50.0, 10.0, 200.0, 24.0), ..field("") };
    driver.sync(&moved);
    assert_eq!(left(), "10px");
    script("composed.editContext.dispatchEvent(new CompositionEvent('compositionend'))");
    driver.sync(&moved);
    assert_eq!(left(), "50px");
    driver.host().remove();
}

#[wasm_bindgen_test]
fn a_composition_ends_when_the_field_is_left() {
    let (heard, sink) = sink();
    let driver = EditContextDriver::new(sink, trust()).expect("this browser has EditContext");
    shown(&driver, "blurred");
    driver.sync(&field(""));
    script("blurred.editContext.dispatchEvent(new CompositionEvent('compositionstart'))");
    script("blurred.dispatchEvent(new FocusEvent('blur'))");
    let ended = Event::Composition(ui::event::Composition(None));
    assert_eq!(*heard.borrow(), [(ended, false)]);
    driver.host().remove();
}
