//! Whole streams, well-formed and not.

use super::*;
use crate::{FinishReason, ModelErrorKind, ModelEvent, ToolSpec, Usage};

fn offered() -> Vec<ToolSpec> {
    vec![ToolSpec { name: "files.read".into(), description: String::new(), schema_json: "{}".into() }]
}

/// Feeds a stream in pieces of `size` bytes and closes it.
fn run_in(text: &str, size: usize) -> Vec<ModelEvent> {
    let mut stream = ChatStream::new(&offered());
    let mut out = Vec::new();
    for piece in text.as_bytes().chunks(size) {
        out.extend(stream.push(piece));
    }
    out.extend(stream.finish());
    assert!(stream.is_done());
    assert_eq!(out.iter().filter(|e| e.is_final()).count(), 1, "{out:?}");
    assert!(out.last().is_some_and(ModelEvent::is_final), "{out:?}");
    assert!(stream.push(b"data: {\"error\":\"late\"}\n\n").is_empty() && stream.finish().is_empty());
    out
}

fn run(text: &str) -> Vec<ModelEvent> {
    let out = run_in(text, 1);
    let glued = |events: &[ModelEvent]| -> (String, Vec<ModelEvent>) {
        let mut text = String::new();
        let rest = events
            .iter()
            .filter(|e| !matches!(e, ModelEvent::Delta(d) if { text.push_str(d); true }))
            .cloned()
            .collect();
        (text, rest)
    };
    for size in [2, 7, 64, 100_000] {
        assert_eq!(glued(&run_in(text, size)), glued(&out), "pieces of {size}");
    }
    out
}

fn data(json: &str) -> String {
    format!("data: {json}\n\n")
}

fn delta(text: &str) -> String {
    data(&format!(
        "{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{}}}}}]}}",
        serde_json::to_string(text).expect("json")
    ))
}

fn end(reason: &str) -> String {
    data(&format!("{{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}"))
}

fn failure(events: &[ModelEvent]) -> &crate::ModelError {
    match events.last() {
        Some(ModelEvent::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

const DONE: &str = "data: [DONE]\n\n";

#[test]
fn text_streams_in_order_and_usage_follows() {
    let usage = data("{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}");
    let role = data("{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}]}");
    let events = run(&format!(": ping\n\n{role}{}{}{}{usage}{DONE}", delta("naïve "), delta("🌊 日"), end("stop")));
    assert_eq!(
        events,
        [
            ModelEvent::Started,
            ModelEvent::Delta("naïve ".into()),
            ModelEvent::Delta("🌊 日".into()),
            ModelEvent::Finished { reason: FinishReason::Stop, usage: Some(Usage { prompt: 7, completion: 2 }) },
        ]
    );
}

#[test]
fn a_stream_may_end_without_done_but_not_without_a_reason() {
    assert!(matches!(
        run(&format!("{}{}", delta("a"), end("length"))).last(),
        Some(ModelEvent::Finished { reason: FinishReason::Length, usage: None })
    ));
    let cut = run(&delta("half"));
    assert_eq!(cut[1], ModelEvent::Delta("half".into()));
    assert_eq!(failure(&cut).kind, ModelErrorKind::BrokenStream);
}

#[test]
fn tool_calls_come_whole_with_the_tools_own_name() {
    let first = data(
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c9","type":"function","function":{"name":"files_read","arguments":""}}]}}]}"#,
    );
    let rest = data(
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"a\"}"}}]}}]}"#,
    );
    let call =
        ModelEvent::ToolCall { id: "c9".into(), name: "files.read".into(), arguments: "{\"path\":\"a\"}".into() };
    let done = ModelEvent::Finished { reason: FinishReason::ToolCalls, usage: None };
    for reason in ["tool_calls", "stop"] {
        assert_eq!(
            run(&format!("{first}{rest}{}{DONE}", end(reason))),
            [ModelEvent::Started, call.clone(), done.clone()]
        );
    }
}

#[test]
fn field_8h2_an_ambiguous_call_is_an_error_and_nothing_runs() {
    let both = data(
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"p","function":{"name":"f"}},{"index":0,"id":"q","function":{"name":"g"}}]}}]}"#,
    );
    let loose = data(r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}"#);
    let events = run(&format!("{both}{loose}{}{DONE}", end("tool_calls")));
    assert!(!events.iter().any(|e| matches!(e, ModelEvent::ToolCall { .. })));
    assert!(failure(&events).to_string().contains("told apart"));
}

#[test]
fn field_8h3_a_an_error_event_after_text_keeps_the_text_and_the_words() {
    for event in [
        "event: error\ndata: {\"message\":\"overloaded\"}\n\n",
        "event: error\ndata: overloaded\n\n",
        "data: {\"error\":{\"message\":\"overloaded\"}}\n\n",
    ] {
        let events = run(&format!("{}{event}", delta("Par")));
        assert_eq!(events[1], ModelEvent::Delta("Par".into()));
        let error = failure(&events);
        assert_eq!(
            (error.provider_words.as_deref(), error.kind, error.retryable),
            (Some("overloaded"), ModelErrorKind::Busy, true)
        );
    }
}

#[test]
fn field_8h3_b_an_error_alone_is_a_failure_in_the_providers_words() {
    let events = run("data: {\"error\":{\"message\":\"quota\"}}\n\ndata: [DONE]\n\n");
    let error = failure(&events);
    assert_eq!(
        (error.provider_words.as_deref(), error.retryable),
        (Some("quota"), false),
        "deterministic: not worth a retry"
    );
}

#[test]
fn field_8h3_c_done_alone_is_an_empty_response() {
    for text in [
        DONE.to_owned(),
        String::new(),
        format!("{}{DONE}", end("stop")),
        format!("{}{}{DONE}", delta(" \n"), end("stop")),
        format!("{}{DONE}", end("tool_calls")),
    ] {
        let events = run(&text);
        assert_eq!(failure(&events).kind, ModelErrorKind::Empty, "{text:?}");
        assert!(failure(&events).to_string().contains("empty response"));
    }
}

#[test]
fn field_8h3_no_tool_of_a_failed_attempt_runs() {
    let call = data(
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"p","function":{"name":"files_read","arguments":"{}"}}]}}]}"#,
    );
    for tail in ["data: {\"error\":\"x\"}\n\n".to_owned(), String::new(), "data: {broken\n\n".to_owned()] {
        let events = run(&format!("{call}{tail}"));
        assert!(!events.iter().any(|e| matches!(e, ModelEvent::ToolCall { .. })), "{tail}");
        failure(&events);
    }
}

#[test]
fn field_8h1_an_invalid_byte_is_shown_and_told_once() {
    let mut stream = ChatStream::new(&[]);
    let mut bytes = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFFb\"}}]}\n\n".to_vec();
    bytes.extend_from_slice(&bytes.clone());
    let events = stream.push(&bytes);
    assert!(matches!(&events[1], ModelEvent::Diagnostic(_)));
    assert_eq!(&events[2..], [ModelEvent::Delta("a\u{FFFD}b".into()), ModelEvent::Delta("a\u{FFFD}b".into())]);
}

#[test]
fn a_server_that_does_not_stream_is_understood_too() {
    let whole = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    let events = run(whole);
    assert_eq!(events[1], ModelEvent::Delta("hi".into()));
    assert!(matches!(events[2], ModelEvent::Finished { reason: FinishReason::Stop, .. }));
    assert_eq!(
        failure(&run("{\"error\":{\"message\":\"no such model\",\"code\":\"model_not_found\"}}")).kind,
        ModelErrorKind::NotFound
    );
    assert_eq!(failure(&run("{oops")).kind, ModelErrorKind::BrokenStream);
}

#[test]
fn any_bytes_in_any_cut_give_one_final_event() {
    // A small generator is enough: the decoder's states are few and the pieces are its own words.
    let pieces = [
        "data: ",
        "{\"choices\":[{\"delta\":{\"content\":\"x\"}}]}",
        "\n",
        "\n\n",
        "\r\n",
        "[DONE]",
        "event: error\n",
        "{\"error\":1}",
        "🌊",
        ":",
        "{",
        "\"tool_calls\"",
        " ",
    ];
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = move |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n as u64) as usize
    };
    for _ in 0..3000 {
        let text: String = (0..next(12)).map(|_| pieces[next(pieces.len())]).collect();
        run_in(&text, 1 + next(9));
    }
}

#[test]
fn half_a_character_costs_that_character_and_not_the_answer() {
    let piece = |text: &str| data(&format!("{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}"));
    let stream =
        [piece(r"a \ud83d b \ude00 \\ud83d \ud83d\ude00 "), piece("end"), end("stop"), data("[DONE]")].concat();
    let out = run(&stream);
    let text: String =
        out.iter().filter_map(|e| if let ModelEvent::Delta(d) = e { Some(d.as_str()) } else { None }).collect();
    assert_eq!(text, "a \u{fffd} b \u{fffd} \\ud83d \u{1f600} end", "{out:?}");
    // What is broken in another way still is.
    assert_eq!(failure(&run(&piece(r"a \ud83d \x"))).kind, ModelErrorKind::BrokenStream);
}
