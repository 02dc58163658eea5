//! Streamed tool calls, put together from fragments whose ids and indexes cannot be relied on
//! (field 8H2).
//!
//! A known id always belongs to its call, a new id opens a new call even at a used index, empty
//! means absent. What stays ambiguous poisons the whole set: no call of the answer runs.

use serde_json::Value;

use crate::ModelEvent;

/// The most tool calls in one answer.
pub const MAX_TOOL_CALLS: usize = 64;
/// The longest arguments of one call, in bytes (engine.md §2.12).
pub const MAX_ARGUMENTS: usize = 256 * 1024;

/// Why the calls of an answer cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallsError {
    /// A fragment that could belong to more than one call.
    #[error("two tool calls in the answer could not be told apart")]
    Ambiguous,
    /// A call that never got a name.
    #[error("a tool call in the answer has no name")]
    Nameless,
    /// More than [`MAX_TOOL_CALLS`].
    #[error("the answer holds more than {MAX_TOOL_CALLS} tool calls")]
    TooMany,
    /// More than [`MAX_ARGUMENTS`].
    #[error("the arguments of a tool call are longer than {MAX_ARGUMENTS} bytes")]
    TooLong,
    /// The answer ended inside the arguments.
    #[error("the answer was cut off inside a tool call")]
    Cut,
}

#[derive(Clone, Debug, Default)]
struct Call {
    id: Option<String>,
    index: Option<u64>,
    name: Option<String>,
    arguments: String,
}

impl Call {
    fn is_whole(&self) -> bool {
        serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}

/// One `tool_calls` element of a delta; empty texts are already absent.
struct Fragment<'a> {
    id: Option<&'a str>,
    index: Option<u64>,
    name: Option<&'a str>,
    arguments: String,
}

/// The calls of one answer while it streams.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
    /// The index of `calls` that took the last fragment.
    last: usize,
    error: Option<CallsError>,
}

impl Calls {
    /// Whether any call was begun.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.error.is_none()
    }

    /// Takes one `tool_calls` element.
    pub fn push(&mut self, element: &Value) {
        let function = element.get("function");
        let text =
            |value: Option<&'_ Value>| value.and_then(Value::as_str).map(str::to_owned).filter(|t| !t.is_empty());
        let (id, name) = (text(element.get("id")), text(function.and_then(|f| f.get("name"))));
        let arguments = match function.and_then(|f| f.get("arguments")) {
            Some(Value::String(text)) => text.clone(),
            // Some servers send the arguments as an object; its text is what we keep.
            Some(whole @ Value::Object(_)) => whole.to_string(),
            _ => String::new(),
        };
        let fragment = Fragment {
            id: id.as_deref(),
            index: element.get("index").and_then(Value::as_u64),
            name: name.as_deref(),
            arguments,
        };
        if self.error.is_none() {
            self.error = self.place(&fragment).and_then(|at| self.append(at, fragment)).err();
        }
    }

    /// The call that a fragment belongs to, opened if need be.
    fn place(&mut self, fragment: &Fragment<'_>) -> Result<usize, CallsError> {
        if let Some(id) = fragment.id {
            if let Some(at) = self.calls.iter().position(|call| call.id.as_deref() == Some(id)) {
                return Ok(at);
            }
            // A new id: a new call, unless it is the late id of the nameless-so-far or
            // argument-less call at this very index.
            let late = self.at_index(fragment.index).filter(|&at| self.calls[at].id.is_none());
            return match late {
                Some(at) if self.takes_late_id(at, fragment) => Ok(at),
                Some(at) if !self.calls[at].is_whole() => Err(CallsError::Ambiguous),
                _ => self.open(fragment),
            };
        }
        if fragment.index.is_some() {
            let Some(at) = self.at_index(fragment.index) else {
                return self.open(fragment);
            };
            if let Some(name) = fragment.name {
                let call = &self.calls[at];
                let same = call.name.as_deref().is_none_or(|known| known == name);
                return match (same, call.is_whole()) {
                    (true, false) => Ok(at),
                    (true, true) if fragment.arguments.is_empty() => Ok(at),
                    (_, true) => self.open(fragment),
                    (false, false) => Err(CallsError::Ambiguous),
                };
            }
            // Two calls shared this index: a fragment without an id is the newest's only if the
            // others lack nothing.
            let shared = |call: &Call| call.index == fragment.index;
            let others_whole =
                self.calls.iter().enumerate().filter(|(i, c)| *i != at && shared(c)).all(|(_, c)| c.is_whole());
            return if others_whole || fragment.arguments.is_empty() { Ok(at) } else { Err(CallsError::Ambiguous) };
        }
        if fragment.name.is_some() {
            return self.open(fragment);
        }
        let others_whole = self.calls.iter().enumerate().filter(|(i, _)| *i != self.last).all(|(_, c)| c.is_whole());
        match self.calls.is_empty() {
            true => Err(CallsError::Nameless),
            false if others_whole => Ok(self.last),
            false => Err(CallsError::Ambiguous),
        }
    }

    fn takes_late_id(&self, at: usize, fragment: &Fragment<'_>) -> bool {
        let call = &self.calls[at];
        match (&call.name, fragment.name) {
            (None, _) | (_, None) => true,
            (Some(known), Some(name)) => known == name && call.arguments.is_empty(),
        }
    }

    fn at_index(&self, index: Option<u64>) -> Option<usize> {
        self.calls.iter().rposition(|call| index.is_some() && call.index == index)
    }

    fn open(&mut self, fragment: &Fragment<'_>) -> Result<usize, CallsError> {
        if self.calls.len() == MAX_TOOL_CALLS {
            return Err(CallsError::TooMany);
        }
        self.calls.push(Call { index: fragment.index, ..Call::default() });
        Ok(self.calls.len() - 1)
    }

    fn append(&mut self, at: usize, fragment: Fragment<'_>) -> Result<(), CallsError> {
        let call = &mut self.calls[at];
        match (&call.name, fragment.name) {
            (Some(known), Some(name)) if known != name => return Err(CallsError::Ambiguous),
            (None, Some(name)) => call.name = Some(name.to_owned()),
            _ => {}
        }
        if call.id.is_none() {
            call.id = fragment.id.map(str::to_owned);
        }
        if call.arguments.len() + fragment.arguments.len() > MAX_ARGUMENTS {
            return Err(CallsError::TooLong);
        }
        call.arguments.push_str(&fragment.arguments);
        self.last = at;
        Ok(())
    }

    /// The finished calls as events, in the order in which they were begun. `cut` says that the
    /// answer ended at its length limit.
    pub fn finish(self, cut: bool, real_name: impl Fn(&str) -> String) -> Result<Vec<ModelEvent>, CallsError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if cut && self.calls.iter().any(|call| !call.is_whole()) {
            return Err(CallsError::Cut);
        }
        let taken: Vec<String> = self.calls.iter().filter_map(|call| call.id.clone()).collect();
        let mut made = 0;
        self.calls
            .into_iter()
            .map(|call| {
                let name = real_name(&call.name.ok_or(CallsError::Nameless)?);
                let id = call.id.unwrap_or_else(|| {
                    loop {
                        made += 1;
                        let id = format!("call_{made}");
                        if !taken.contains(&id) {
                            break id;
                        }
                    }
                });
                // A tool without parameters is often called with no arguments at all.
                let arguments = if call.arguments.trim().is_empty() { "{}".to_owned() } else { call.arguments };
                Ok(ModelEvent::ToolCall { id, name, arguments })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes fragments written as `index id name arguments`, `-` for absent, `""` for empty.
    fn calls(fragments: &[&str]) -> Result<Vec<(String, String, String)>, CallsError> {
        let mut calls = Calls::default();
        for text in fragments {
            let mut parts = text.splitn(4, ' ');
            let mut element = serde_json::json!({ "function": {} });
            let mut next = || parts.next().filter(|p| *p != "-").map(|p| p.replace("\"\"", ""));
            if let Some(index) = next() {
                element["index"] = index.parse::<u64>().expect("index").into();
            }
            if let Some(id) = next() {
                element["id"] = id.into();
            }
            if let Some(name) = next() {
                element["function"]["name"] = name.into();
            }
            if let Some(arguments) = next() {
                element["function"]["arguments"] = arguments.into();
            }
            calls.push(&element);
        }
        let events = calls.finish(false, str::to_owned)?;
        Ok(events
            .into_iter()
            .map(|event| match event {
                ModelEvent::ToolCall { id, name, arguments } => (id, name, arguments),
                other => panic!("{other:?}"),
            })
            .collect())
    }

    fn done(list: &[(&str, &str, &str)]) -> Result<Vec<(String, String, String)>, CallsError> {
        Ok(list.iter().map(|(a, b, c)| ((*a).into(), (*b).into(), (*c).into())).collect())
    }

    #[test]
    fn field_8h2_a_two_ids_at_one_index_are_two_calls() {
        let want = done(&[("p", "f", "{\"a\":1}"), ("q", "g", "{\"b\":2}")]);
        assert_eq!(calls(&["0 p f -", "0 - - {\"a\":", "0 - - 1}", "0 q g -", "0 - - {\"b\":2}"]), want);
        assert_eq!(
            calls(&["0 p f -", "0 q g -", "0 p - {\"a\":1}", "0 q - {\"b\":2}"]),
            want,
            "a known id always belongs to its call"
        );
        assert_eq!(calls(&["0 p f -", "0 q g -", "0 - - {\"a\":1}"]), Err(CallsError::Ambiguous));
    }

    #[test]
    fn field_8h2_b_a_first_delta_without_an_id() {
        assert_eq!(calls(&["0 - f -", "0 - - {\"a\":1}"]), done(&[("call_1", "f", "{\"a\":1}")]));
        assert_eq!(calls(&["0 - f -", "0 p - {}"]), done(&[("p", "f", "{}")]), "the id comes late");
        assert_eq!(calls(&["0 call_1 f {}", "1 - g {}"]), done(&[("call_1", "f", "{}"), ("call_2", "g", "{}")]));
        assert_eq!(calls(&["0 - f {}", "0 q g {}"]), done(&[("call_1", "f", "{}"), ("q", "g", "{}")]));
        assert_eq!(calls(&["0 - f {\"a\":", "0 q g {}"]), Err(CallsError::Ambiguous));
    }

    #[test]
    fn field_8h2_c_empty_means_absent() {
        assert_eq!(calls(&["0 p f -", "0 \"\" \"\" {\"a\"", "0 \"\" \"\" :1}"]), done(&[("p", "f", "{\"a\":1}")]));
        assert_eq!(calls(&["0 p \"\" {}"]), Err(CallsError::Nameless));
    }

    #[test]
    fn field_8h2_d_interleaved_indexes_stay_apart() {
        assert_eq!(
            calls(&["0 p f -", "1 q g -", "0 - - {\"a\":", "1 - - {\"b\":", "0 - - 1}", "1 - - 2}"]),
            done(&[("p", "f", "{\"a\":1}"), ("q", "g", "{\"b\":2}")])
        );
    }

    #[test]
    fn field_8h2_without_indexes_order_decides_or_nothing_runs() {
        assert_eq!(calls(&["- p f -", "- - - {}", "- q g -", "- - - {}"]), done(&[("p", "f", "{}"), ("q", "g", "{}")]));
        assert_eq!(calls(&["- p f -", "- q g -", "- - - {}"]), Err(CallsError::Ambiguous));
        assert_eq!(calls(&["- - - {}"]), Err(CallsError::Nameless));
        assert_eq!(calls(&["0 - f {\"a\":", "0 - g {}"]), Err(CallsError::Ambiguous));
        assert_eq!(calls(&["0 - f {}", "0 - f {}"]), done(&[("call_1", "f", "{}"), ("call_2", "f", "{}")]));
    }

    #[test]
    fn bounds_hold_and_a_cut_answer_runs_nothing() {
        let many: Vec<String> = (0..=MAX_TOOL_CALLS).map(|i| format!("{i} id{i} f {{}}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(calls(&many), Err(CallsError::TooMany));
        let long = format!("0 p f {}", "x".repeat(MAX_ARGUMENTS + 1));
        assert_eq!(calls(&[&long]), Err(CallsError::TooLong));
        let mut cut = Calls::default();
        cut.push(&serde_json::json!({"index":0,"id":"p","function":{"name":"f","arguments":"{\"a\":"}}));
        assert_eq!(cut.finish(true, str::to_owned), Err(CallsError::Cut));
        let mut whole = Calls::default();
        whole.push(&serde_json::json!({"index":0,"id":"p","function":{"name":"f","arguments":{"a":1}}}));
        assert!(whole.finish(true, str::to_owned).is_ok(), "arguments as an object are kept as text");
    }
}
