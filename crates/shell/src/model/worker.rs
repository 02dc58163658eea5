//! Client of `web/llm-worker.js`; its protocol is at the top of that file.

use crate::dom::listen::Listener;
use js_sys::{Array, Object, Reflect};
use models::{Ask, FinishReason, ModelError, ModelErrorKind, ModelEvent, RunId, Usage};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, Worker};

/// The model that ships with the product: where the site has it, and what it must be.
pub const MODEL_URL: &str = "./model/SmolLM2-135M-Instruct.Q4_1.gguf";
/// Its digest.
pub const MODEL_SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
/// Its size in bytes.
pub const MODEL_BYTES: f64 = 98_362_432.0;

/// What the worker tells.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEvent {
    /// Getting ready: `download`, `verify` or `load`, with bytes done and in all.
    Progress(String, f64, f64),
    /// Loaded: kernel, and whether the file was kept.
    Ready {
        /// Which kernels run.
        kernel: String,
        /// Bytes of the model.
        bytes: f64,
        /// It survives a reload.
        persisted: bool,
    },
    /// Not enough room: bytes needed, allowed and used.
    Quota {
        /// Needed.
        need: f64,
        /// Free, where the browser says it.
        have: Option<f64>,
        /// Used.
        used: f64,
    },
    /// Could not load, in words.
    Failed(String),
    /// The engine trapped; a new worker is needed.
    Lost(String),
    /// An event of a run.
    Run(RunId, ModelEvent),
}

/// A running worker. Dropping it ends it.
pub struct ModelWorker {
    worker: Worker,
    _listeners: Vec<Listener>,
}

impl Drop for ModelWorker {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

fn object(fields: &[(&str, JsValue)]) -> JsValue {
    let o = Object::new();
    for (k, v) in fields {
        let _ = Reflect::set(&o, &JsValue::from_str(k), v);
    }
    o.into()
}

fn get(v: &JsValue, key: &str) -> JsValue {
    Reflect::get(v, &JsValue::from_str(key)).unwrap_or(JsValue::UNDEFINED)
}

fn num(v: &JsValue, key: &str) -> f64 {
    get(v, key).as_f64().unwrap_or(0.0)
}

fn text(v: &JsValue, key: &str) -> String {
    get(v, key).as_string().unwrap_or_default()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(v: &JsValue, key: &str) -> u64 {
    num(v, key).max(0.0) as u64
}

fn small(v: &JsValue, key: &str) -> u32 {
    u32::try_from(whole(v, key)).unwrap_or(u32::MAX)
}

impl ModelWorker {
    /// Starts the worker and lets it load the model.
    ///
    /// # Errors
    /// The browser's words, when there can be no worker.
    pub fn start(keep: bool, sink: Rc<dyn Fn(WorkerEvent)>) -> Result<Self, String> {
        let worker = Worker::new("./llm-worker.js").map_err(|e| format!("{e:?}"))?;
        let s = sink.clone();
        let message = Listener::on(&worker, "message", move |e| {
            let e: MessageEvent = e.unchecked_into();
            if let Some(event) = decode(&e.data()) {
                s(event);
            }
        });
        let error = Listener::on(&worker, "error", move |e| {
            e.prevent_default();
            let words = text(&e, "message");
            sink(WorkerEvent::Lost(if words.is_empty() { "the worker ended".into() } else { words }));
        });
        let here = |path: &str| JsValue::from_str(path);
        let model = object(&[
            ("url", here(MODEL_URL)),
            ("bytes", MODEL_BYTES.into()),
            ("sha256", here(MODEL_SHA256)),
            ("name", here("SmolLM2-135M-Instruct")),
        ]);
        let modules = object(&[("relaxed", here("./llm/relaxed.wasm")), ("simd", here("./llm/simd.wasm"))]);
        let load = object(&[("op", here("load")), ("model", model), ("modules", modules), ("persist", keep.into())]);
        worker.post_message(&load).map_err(|e| format!("{e:?}"))?;
        Ok(Self { worker, _listeners: vec![message, error] })
    }

    /// Asks; answers come as [`WorkerEvent::Run`].
    pub fn ask(&self, ask: &Ask) {
        let run = JsValue::from_f64(ask.run().0 as f64);
        let messages = |list: &[models::Message]| {
            let out = Array::new();
            for m in list {
                // The small model knows three roles; a result is shown to it as the person's.
                let role = if m.role == models::Role::Tool { "user" } else { m.role.as_str() };
                out.push(&object(&[("role", role.into()), ("content", m.content.as_str().into())]));
            }
            JsValue::from(out)
        };
        let message = match ask {
            Ask::Chat(r) => {
                let s = &r.sampling;
                let sampling = object(&[
                    ("temperature", s.temperature.into()),
                    ("topK", s.top_k.into()),
                    ("topP", s.top_p.into()),
                    ("penalty", s.repetition_penalty.into()),
                    ("seed", (s.seed as f64).into()),
                    ("maxTokens", r.max_tokens.into()),
                ]);
                object(&[
                    ("op", "chat".into()),
                    ("run", run),
                    ("messages", messages(&r.messages)),
                    ("sampling", sampling),
                ])
            }
            Ask::Score { messages: m, assistant_prefix, candidates, .. } => {
                let list = Array::new();
                for c in candidates {
                    list.push(&c.as_str().into());
                }
                object(&[
                    ("op", "score".into()),
                    ("run", run),
                    ("messages", messages(m)),
                    ("assistantPrefix", assistant_prefix.as_str().into()),
                    ("candidates", list.into()),
                ])
            }
        };
        let _ = self.worker.post_message(&message);
    }

    /// Stops a run, waiting or working.
    pub fn cancel(&self, run: RunId) {
        let _ = self.worker.post_message(&object(&[("op", "cancel".into()), ("run", (run.0 as f64).into())]));
    }

    /// Removes the stored file.
    pub fn forget(&self) {
        let _ = self.worker.post_message(&object(&[("op", "forget".into()), ("sha256", MODEL_SHA256.into())]));
    }
}

fn decode(d: &JsValue) -> Option<WorkerEvent> {
    let run = RunId(whole(d, "run"));
    let of_run = get(d, "run").as_f64().is_some();
    Some(match text(d, "ev").as_str() {
        "progress" => WorkerEvent::Progress(text(d, "phase"), num(d, "done"), num(d, "total")),
        "ready" => {
            let info = get(d, "info");
            let persisted = get(&info, "persisted").is_truthy();
            WorkerEvent::Ready { kernel: text(&info, "kernel"), bytes: num(&info, "bytes"), persisted }
        }
        "quota" => WorkerEvent::Quota { need: num(d, "need"), have: get(d, "have").as_f64(), used: num(d, "used") },
        "prefill" => WorkerEvent::Run(run, ModelEvent::Prefill { done: small(d, "done"), total: small(d, "total") }),
        "delta" => WorkerEvent::Run(run, ModelEvent::Delta(text(d, "text"))),
        "trimmed" => WorkerEvent::Run(run, ModelEvent::Trimmed { dropped: small(d, "dropped") }),
        "scores" => {
            let list: Array = get(d, "scores").dyn_into().ok()?;
            #[allow(clippy::cast_possible_truncation)]
            let scores = list.iter().map(|v| v.as_f64().unwrap_or(f64::NEG_INFINITY) as f32).collect();
            WorkerEvent::Run(run, ModelEvent::Scores(scores))
        }
        "end" => {
            let usage = get(d, "usage");
            let usage = Some(Usage { prompt: whole(&usage, "prompt"), completion: whole(&usage, "completion") });
            let reason = match text(d, "reason").as_str() {
                // An empty answer is never a success (`field_6h4`).
                "empty" => {
                    return Some(WorkerEvent::Run(run, ModelEvent::Failed(ModelError::new(ModelErrorKind::Empty))));
                }
                "length" => FinishReason::Length,
                "cancelled" => FinishReason::Cancelled,
                _ => FinishReason::Stop,
            };
            WorkerEvent::Run(run, ModelEvent::Finished { reason, usage })
        }
        "error" if of_run => {
            let (expected, observed) = (text(d, "expected"), text(d, "observed"));
            let error = ModelError::of_engine(&text(d, "code"), &expected, &observed, &text(d, "message"));
            WorkerEvent::Run(run, ModelEvent::Failed(error))
        }
        "error" => WorkerEvent::Failed(text(d, "message")),
        // Whichever run it was in: every run of this worker ends with it (`field_6h5`).
        "lost" => WorkerEvent::Lost(text(d, "message")),
        _ => return None,
    })
}
