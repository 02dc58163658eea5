//! What a server says when it does not answer, in words a person can act on.

use serde_json::Value;

use crate::{BaseUrl, ModelError, ModelErrorKind};

/// A status other than 2xx, with its body.
pub fn http_error(status: u16, body: &[u8]) -> ModelError {
    let text = String::from_utf8_lossy(body);
    let parsed = serde_json::from_str::<Value>(&text).ok();
    let words = match &parsed {
        Some(value) => error_words(value),
        // A proxy's HTML page says less than its status.
        None if text.trim_start().starts_with('<') => None,
        None => Some(text.trim().to_owned()),
    };
    let code = parsed.as_ref().map(error_code).unwrap_or_default();
    let kind = kind_of(&code, words.as_deref().unwrap_or_default()).unwrap_or(match status {
        401 | 403 => ModelErrorKind::Unauthorised,
        404 | 405 | 410 => ModelErrorKind::NotFound,
        413 => ModelErrorKind::TooLong,
        402 => ModelErrorKind::QuotaUsedUp,
        408 | 429 | 503 | 529 => ModelErrorKind::Busy,
        400..=499 => ModelErrorKind::Rejected,
        _ => ModelErrorKind::Server,
    });
    let mut error = ModelError::new(kind).words(words.unwrap_or_default());
    error.advice = Some(match (status, error.provider_words.is_none()) {
        (403, true) => "(HTTP 403: if this is Ollama, it does not allow this page yet; see OLLAMA_ORIGINS.)".to_owned(),
        _ => format!("(HTTP {status})"),
    });
    error
}

/// An `error` that came inside a stream (field 8H3).
pub fn stream_error(value: &Value) -> ModelError {
    let words = error_words(value).unwrap_or_else(|| value.to_string());
    let kind = kind_of(&error_code(value), &words).unwrap_or(ModelErrorKind::Server);
    ModelError::new(kind).words(words)
}

/// No answer at all (status 0). A browser does not say why, so all likely reasons are named:
/// not running, not allowing this page, or blocked as mixed content.
pub fn unreachable(base_url: &BaseUrl, page_origin: &str) -> ModelError {
    let server = base_url.origin();
    let mut advice = format!(
        "Check that {server} is running. It must also allow this page: its answers need the header \
         Access-Control-Allow-Origin: {page_origin}, and to the preflight Access-Control-Allow-Headers: \
         authorization, content-type. Ollama: set OLLAMA_ORIGINS={page_origin} and restart it. \
         llama.cpp: start with --cors-origins {page_origin}. vLLM: start with --allowed-origins '[\"{page_origin}\"]'."
    );
    let insecure = server.to_string().starts_with("http://");
    if insecure && page_origin.starts_with("https://") && !base_url.is_loopback() {
        advice.push_str(" A page opened over https may not call an http address on another machine; use https there.");
    }
    ModelError::new(ModelErrorKind::Unreachable).advice(advice)
}

/// The provider's sentence, wherever it keeps it.
fn error_words(value: &Value) -> Option<String> {
    let error = value.get("error").unwrap_or(value);
    let direct = error.as_str().or_else(|| error.get("message").and_then(Value::as_str));
    let detail = || match value.get("detail") {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(list)) => list.iter().find_map(|d| d.get("msg")?.as_str().map(str::to_owned)),
        _ => None,
    };
    direct.map(str::to_owned).or_else(detail).filter(|words| !words.trim().is_empty())
}

fn error_code(value: &Value) -> String {
    let error = value.get("error").unwrap_or(value);
    ["code", "type"]
        .iter()
        .filter_map(|field| error.get(*field))
        .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
        .collect::<Vec<_>>()
        .join(" ")
        .to_ascii_lowercase()
}

fn kind_of(code: &str, words: &str) -> Option<ModelErrorKind> {
    use ModelErrorKind as K;
    let words = words.to_ascii_lowercase();
    let has = |needle: &str| code.contains(needle) || words.contains(needle);
    [
        ("context_length", K::TooLong),
        ("context length", K::TooLong),
        ("context size", K::TooLong),
        ("quota", K::QuotaUsedUp),
        ("billing", K::QuotaUsedUp),
        ("overloaded", K::Busy),
        ("rate_limit", K::Busy),
        ("rate limit", K::Busy),
        ("invalid_api_key", K::Unauthorised),
        ("authentication", K::Unauthorised),
        ("model_not_found", K::NotFound),
        ("invalid_request", K::Rejected),
    ]
    .into_iter()
    .find_map(|(needle, kind)| has(needle).then_some(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ModelErrorKind as K;

    #[test]
    fn a_status_and_its_body_become_words() {
        for (status, body, kind, words, retryable) in [
            (
                401,
                r#"{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
                K::Unauthorised,
                Some("Incorrect API key"),
                false,
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
                K::QuotaUsedUp,
                Some("You exceeded your current quota"),
                false,
            ),
            (
                429,
                r#"{"error":{"message":"Slow down","code":"rate_limit_exceeded"}}"#,
                K::Busy,
                Some("Slow down"),
                true,
            ),
            (404, r#"{"error":"model \"x\" not found"}"#, K::NotFound, Some("model \"x\" not found"), false),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 4096","code":"context_length_exceeded"}}"#,
                K::TooLong,
                Some("This model's maximum context length is 4096"),
                false,
            ),
            (422, r#"{"detail":[{"msg":"field required"}]}"#, K::Rejected, Some("field required"), false),
            (502, "<html>Bad gateway</html>", K::Server, None, true),
            (503, "loading model", K::Busy, Some("loading model"), true),
            (500, "", K::Server, None, true),
        ] {
            let error = http_error(status, body.as_bytes());
            assert_eq!(
                (error.kind, error.provider_words.as_deref(), error.retryable),
                (kind, words, retryable),
                "{status} {body}"
            );
            assert!(error.to_string().contains(&format!("HTTP {status}")), "{error}");
        }
        assert!(http_error(403, b"").to_string().contains("OLLAMA_ORIGINS"));
    }

    #[test]
    fn no_answer_names_the_page_the_header_and_the_settings() {
        let base = BaseUrl::parse("http://10.0.0.2:8000/v1").expect("url");
        let said = unreachable(&base, "https://os.example").to_string();
        for part in [
            "http://10.0.0.2:8000",
            "https://os.example",
            "Access-Control-Allow-Origin",
            "OLLAMA_ORIGINS",
            "--cors-origins",
            "--allowed-origins",
            "over https",
        ] {
            assert!(said.contains(part), "{part} in {said}");
        }
        let local = BaseUrl::parse("http://127.0.0.1:8000/v1").expect("url");
        assert!(!unreachable(&local, "https://os.example").to_string().contains("over https"));
    }

    #[test]
    fn field_5h4_long_words_are_cut_on_a_character_with_sizes() {
        for k in 0..3 {
            let body = format!("{}{}", "x".repeat(k), "→".repeat(100_000));
            let words = http_error(500, body.as_bytes()).provider_words.expect("words");
            assert!(words.len() < crate::error::MAX_PROVIDER_WORDS + 40 && !words.contains('\u{FFFD}'));
            assert!(words.contains(&format!("of {} bytes", body.len())), "{words}");
        }
    }
}
