//! A [`ModelRequest`] as the body of `POST …/chat/completions`.

use serde_json::{Value, json};

use crate::provider::MAX_MODEL_NAME;
use crate::{
    BaseUrl, ConfigError, HttpRequest, Message, ModelError, ModelErrorKind, ModelRequest, ProviderConfig, ToolSpec,
};

/// The wire allows `[A-Za-z0-9_-]` only, our tools have dots: one name for each, both ways.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireNames(Vec<(String, String)>);

impl WireNames {
    /// The longest function name that providers take.
    pub const MAX_WIRE_NAME: usize = 64;

    /// Names for the tools of one request, unique among themselves.
    pub fn of(tools: &[ToolSpec]) -> Self {
        let mut names = Self::default();
        for tool in tools {
            let plain: String = tool
                .name
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' })
                .take(Self::MAX_WIRE_NAME)
                .collect();
            let mut wire = plain.clone();
            let mut n = 2;
            while names.0.iter().any(|(_, taken)| *taken == wire) {
                let suffix = format!("-{n}");
                let room = plain.len().min(Self::MAX_WIRE_NAME - suffix.len());
                wire = format!("{}{suffix}", &plain[..room]);
                n += 1;
            }
            names.0.push((tool.name.clone(), wire));
        }
        names
    }

    /// The name on the wire; a tool that is not offered keeps its letters.
    pub fn wire<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.iter().find(|(real, _)| real == name).map_or(name, |(_, wire)| wire)
    }

    /// The tool meant by a name on the wire; an invented name stays as it is, for the router to
    /// refuse.
    pub fn real<'a>(&'a self, wire: &'a str) -> &'a str {
        self.0.iter().find(|(_, known)| known == wire).map_or(wire, |(real, _)| real)
    }
}

/// The request for one streamed answer. The key is not in it: see [`HttpRequest::authorization`].
pub fn build_request(request: &ModelRequest, config: &ProviderConfig) -> Result<HttpRequest, ConfigError> {
    let ProviderConfig::OpenAiCompatible { base_url, model, .. } = config else {
        return Err(ConfigError::NotHttp);
    };
    if model.trim().is_empty() || model.len() > MAX_MODEL_NAME {
        return Err(ConfigError::Model);
    }
    let names = WireNames::of(&request.tools);
    let messages: Vec<Value> = request.messages.iter().map(|m| message(m, &names)).collect();
    let mut body = json!({
        "model": model,
        "messages": messages,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    // OpenAI's newer models refuse the old name of the limit and any temperature but their own;
    // everybody else knows only the old name.
    if base_url.origin().to_string() == "https://api.openai.com" {
        body["max_completion_tokens"] = request.max_tokens.into();
    } else {
        body["max_tokens"] = request.max_tokens.into();
        body["temperature"] = decimal(request.sampling.temperature);
        if request.sampling.top_p < 1.0 {
            body["top_p"] = decimal(request.sampling.top_p);
        }
    }
    if !request.tools.is_empty() {
        let tools: Result<Vec<Value>, ConfigError> = request.tools.iter().map(|t| tool(t, &names)).collect();
        body["tools"] = tools?.into();
    }
    Ok(HttpRequest {
        method: "POST",
        url: base_url.join("chat/completions"),
        headers: vec![("content-type", "application/json".to_owned()), ("accept", "text/event-stream".to_owned())],
        body: body.to_string().into_bytes(),
    })
}

/// Asks a server which models it has: the check that Settings makes of an address and a key.
pub fn models_request(base_url: &BaseUrl) -> HttpRequest {
    HttpRequest {
        method: "GET",
        url: base_url.join("models"),
        headers: vec![("accept", "application/json".to_owned())],
        body: Vec::new(),
    }
}

/// The models that a 2xx answer to [`models_request`] names, in order, at most
/// [`MAX_MODELS_LISTED`].
///
/// # Errors
/// `BrokenStream` when the answer is no such list.
pub fn model_names(body: &[u8]) -> Result<Vec<String>, ModelError> {
    let broken = || ModelError::new(ModelErrorKind::BrokenStream).advice("(the answer is no list of models)");
    let value: Value = serde_json::from_slice(body).map_err(|_| broken())?;
    let list = value.get("data").and_then(Value::as_array).ok_or_else(broken)?;
    let names = list.iter().filter_map(|model| model.get("id")?.as_str());
    let fits = |name: &&str| !name.is_empty() && name.len() <= MAX_MODEL_NAME;
    Ok(names.filter(fits).take(MAX_MODELS_LISTED).map(str::to_owned).collect())
}

/// The most models listed of one server.
pub const MAX_MODELS_LISTED: usize = 512;

/// Two decimals are enough for a temperature, and an `f32` printed as an `f64` looks broken.
fn decimal(value: f32) -> Value {
    json!((f64::from(value) * 100.0).round() / 100.0)
}

fn message(message: &Message, names: &WireNames) -> Value {
    let mut out = json!({ "role": message.role.as_str(), "content": message.content });
    if !message.tool_calls.is_empty() {
        let calls: Vec<Value> = message
            .tool_calls
            .iter()
            .map(|call| {
                // Some servers parse the arguments of earlier calls and fail on text that is no
                // JSON; the tool message that follows says why the call was refused.
                let whole = serde_json::from_str::<Value>(&call.arguments).is_ok_and(|v| v.is_object());
                let arguments = if whole { call.arguments.as_str() } else { "{}" };
                json!({ "id": call.id, "type": "function", "function": { "name": names.wire(&call.name), "arguments": arguments } })
            })
            .collect();
        out["tool_calls"] = calls.into();
    }
    if let Some(id) = &message.tool_call_id {
        out["tool_call_id"] = id.as_str().into();
    }
    out
}

fn tool(tool: &ToolSpec, names: &WireNames) -> Result<Value, ConfigError> {
    let schema: Value =
        serde_json::from_str(&tool.schema_json).map_err(|_| ConfigError::ToolSchema(tool.name.clone()))?;
    Ok(
        json!({ "type": "function", "function": { "name": names.wire(&tool.name), "description": tool.description, "parameters": schema } }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunId, Sampling, ToolCallPart};

    fn spec(name: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: "d".into(), schema_json: "{\"type\":\"object\"}".into() }
    }

    fn config(url: &str) -> ProviderConfig {
        ProviderConfig::OpenAiCompatible {
            base_url: BaseUrl::parse(url).expect("url"),
            model: "m1".into(),
            key_ref: Some("k".into()),
        }
    }

    fn request() -> ModelRequest {
        let mut asked = Message::assistant("");
        asked.tool_calls = vec![
            ToolCallPart { id: "c1".into(), name: "files.read".into(), arguments: "{\"path\":\"a\"}".into() },
            ToolCallPart { id: "c2".into(), name: "files.read".into(), arguments: "{\"path\":".into() },
        ];
        ModelRequest {
            run: RunId(1),
            messages: vec![Message::system("s"), Message::user("u"), asked, Message::tool("c1", "data")],
            tools: vec![spec("files.read")],
            sampling: Sampling::REMOTE,
            max_tokens: 100,
        }
    }

    fn body(url: &str) -> Value {
        let http = build_request(&request(), &config(url)).expect("built");
        assert_eq!(http.method, "POST");
        assert_eq!(http.url, format!("{url}/chat/completions"));
        assert!(http.headers.iter().all(|(name, _)| *name != "authorization"));
        serde_json::from_slice(&http.body).expect("json")
    }

    #[test]
    fn the_body_is_what_servers_expect() {
        let body = body("http://127.0.0.1:11434/v1");
        assert_eq!(body["model"], "m1");
        assert_eq!(body["stream"], true);
        assert_eq!(body["stream_options"]["include_usage"], true);
        assert_eq!(body["max_tokens"], 100);
        assert_eq!(body["temperature"].to_string(), "0.7");
        assert_eq!(body["messages"][0]["role"], "system");
        assert_eq!(body["messages"][3], json!({"role": "tool", "content": "data", "tool_call_id": "c1"}));
        let calls = &body["messages"][2]["tool_calls"];
        assert_eq!(
            calls[0],
            json!({"id":"c1","type":"function","function":{"name":"files_read","arguments":"{\"path\":\"a\"}"}})
        );
        assert_eq!(calls[1]["function"]["arguments"], "{}", "text that is no JSON breaks some servers");
        assert_eq!(body["tools"][0]["function"]["name"], "files_read");
        assert_eq!(body["tools"][0]["function"]["parameters"]["type"], "object");
    }

    #[test]
    fn openai_itself_gets_the_new_name_of_the_limit() {
        let body = body("https://api.openai.com/v1");
        assert_eq!(body["max_completion_tokens"], 100);
        assert!(body.get("max_tokens").is_none() && body.get("temperature").is_none());
    }

    #[test]
    fn names_on_the_wire_are_unique_and_come_back() {
        let long = "x".repeat(80);
        let tools = [spec("a.b"), spec("a_b"), spec("a-b"), spec(&long), spec(&format!("{long}y"))];
        let names = WireNames::of(&tools);
        for tool in &tools {
            let wire = names.wire(&tool.name);
            assert!(
                wire.len() <= 64 && wire.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)),
                "{wire}"
            );
            assert_eq!(names.real(wire), tool.name);
        }
        assert_eq!(names.real("rm_rf"), "rm_rf");
    }

    #[test]
    fn a_server_is_asked_for_its_models() {
        let request = models_request(&BaseUrl::parse("http://127.0.0.1:11434/v1").expect("url"));
        assert_eq!((request.method, request.url.as_str()), ("GET", "http://127.0.0.1:11434/v1/models"));
        let body = br#"{"object":"list","data":[{"id":"llama3"},{"id":""},{"no":1},{"id":"qwen"}]}"#;
        assert_eq!(model_names(body), Ok(vec!["llama3".to_owned(), "qwen".to_owned()]));
        for body in [&b"<html>"[..], b"{}", b"[]", b"\xff"] {
            assert_eq!(model_names(body).map_err(|e| e.kind), Err(ModelErrorKind::BrokenStream));
        }
    }

    #[test]
    fn unusable_settings_are_refused() {
        assert_eq!(build_request(&request(), &ProviderConfig::OnDevice), Err(ConfigError::NotHttp));
        let mut bad = request();
        bad.tools[0].schema_json = "{".into();
        assert_eq!(build_request(&bad, &config("http://a")), Err(ConfigError::ToolSchema("files.read".into())));
        let nameless = ProviderConfig::OpenAiCompatible {
            base_url: BaseUrl::parse("http://a").expect("url"),
            model: " ".into(),
            key_ref: None,
        };
        assert_eq!(build_request(&request(), &nameless), Err(ConfigError::Model));
    }
}
