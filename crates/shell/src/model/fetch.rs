//! A server's answer as a stream: bytes in, model events out. Nothing is retried.

use js_sys::{Reflect, Uint8Array};
use models::openai::{ChatStream, build_request, http_error, unreachable};
use models::{ModelError, ModelErrorKind, ModelEvent, ModelRequest, ProviderConfig, Secret};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{AbortController, Headers, ReadableStreamDefaultReader, RequestInit, Response};

/// Bytes of an error answer that are read.
const ERROR_BODY_MAX: usize = 64 * 1024;

/// A request under way; dropping it does not stop it, [`Fetch::abort`] does.
pub struct Fetch(AbortController);

impl Fetch {
    /// Asks a server. Events go to `sink`, the last one final; after an abort none comes.
    ///
    /// # Errors
    /// What is wrong with the settings; nothing was sent.
    pub fn start(
        request: &ModelRequest,
        config: &ProviderConfig,
        key: Option<&Secret>,
        sink: Rc<dyn Fn(ModelEvent)>,
    ) -> Result<Self, ModelError> {
        let settings = |e: models::ConfigError| ModelError::new(ModelErrorKind::Settings).words(e.to_string());
        let ProviderConfig::OpenAiCompatible { base_url, .. } = config else {
            return Err(settings(models::ConfigError::NotHttp));
        };
        let http = build_request(request, config).map_err(settings)?;
        let browser = |_| ModelError::new(ModelErrorKind::Settings);
        let headers = Headers::new().map_err(browser)?;
        for (name, value) in &http.headers {
            headers.append(name, value).map_err(browser)?;
        }
        if let Some(key) = key {
            let (name, value) = http.authorization(key).map_err(settings)?;
            headers.append(name, &value).map_err(browser)?;
        }
        let abort = AbortController::new().map_err(browser)?;
        let init = RequestInit::new();
        init.set_method("POST");
        init.set_headers(&headers);
        init.set_body(&Uint8Array::from(http.body.as_slice()));
        init.set_signal(Some(&abort.signal()));
        init.set_credentials(web_sys::RequestCredentials::Omit);
        // A redirect could lead the key elsewhere.
        init.set_redirect(web_sys::RequestRedirect::Error);
        let mut stream = ChatStream::new(&request.tools);
        let (base, signal) = (base_url.clone(), abort.signal());
        let tell = move |e: ModelEvent| {
            if !signal.aborted() {
                sink(e);
            }
        };
        spawn_local(async move {
            let page = crate::dom::window().location().origin().unwrap_or_default();
            let reply = JsFuture::from(crate::dom::window().fetch_with_str_and_init(&http.url, &init)).await;
            let Ok(reply) = reply else {
                return tell(ModelEvent::Failed(unreachable(&base, &page)));
            };
            let reply: Response = reply.unchecked_into();
            let Some(body) = reply.body() else {
                return tell(ModelEvent::Failed(http_error(reply.status(), b"")));
            };
            let Ok(reader) = ReadableStreamDefaultReader::new(&body) else {
                return tell(ModelEvent::Failed(ModelError::new(ModelErrorKind::BrokenStream)));
            };
            if !reply.ok() {
                let mut all = Vec::new();
                while let Ok(Some(chunk)) = next(&reader).await {
                    all.extend(chunk);
                    if all.len() > ERROR_BODY_MAX {
                        break;
                    }
                }
                return tell(ModelEvent::Failed(http_error(reply.status(), &all)));
            }
            tell(ModelEvent::Started);
            loop {
                match next(&reader).await {
                    Ok(Some(chunk)) => stream.push(&chunk).into_iter().for_each(&tell),
                    Ok(None) => break stream.finish().into_iter().for_each(&tell),
                    Err(words) => break stream.broke(&words).into_iter().for_each(&tell),
                }
                if stream.is_done() {
                    break;
                }
            }
        });
        Ok(Self(abort))
    }

    /// Stops it; no event comes any more.
    pub fn abort(&self) {
        self.0.abort();
    }
}

async fn next(reader: &ReadableStreamDefaultReader) -> Result<Option<Vec<u8>>, String> {
    let v = JsFuture::from(reader.read())
        .await
        .map_err(|e| Reflect::get(&e, &"message".into()).ok().and_then(|m| m.as_string()).unwrap_or_default())?;
    if Reflect::get(&v, &"done".into()).is_ok_and(|d| d.is_truthy()) {
        return Ok(None);
    }
    let value = Reflect::get(&v, &"value".into()).unwrap_or(JsValue::UNDEFINED);
    Ok(Some(Uint8Array::new(&value).to_vec()))
}
