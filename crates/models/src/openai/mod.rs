//! OpenAI Chat Completions, as OpenAI, Ollama, llama.cpp, vLLM and others speak it
//! (protocols.md §6).

mod calls;
mod errors;
mod request;
mod sse;
mod stream;
#[cfg(test)]
mod stream_tests;

pub use calls::{CallsError, MAX_ARGUMENTS, MAX_TOOL_CALLS};
pub use errors::{http_error, unreachable};
pub use request::{MAX_MODELS_LISTED, WireNames, build_request, model_names, models_request};
pub use sse::{EventTooLarge, MAX_EVENT_BYTES, SseDecoder, SseEvent};
pub use stream::{ChatStream, MAX_ANSWER_BYTES};
