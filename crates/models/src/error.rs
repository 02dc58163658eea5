//! Why a model gave no answer, in a sentence a person can act on.

use serde::{Deserialize, Serialize};

/// The longest piece of a provider's own words that is kept, in bytes.
pub const MAX_PROVIDER_WORDS: usize = 1024;

/// The kind of a failure; it decides the sentence and whether trying again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ModelErrorKind {
    /// No answer at all: not reachable, or the server does not allow this page (CORS).
    Unreachable,
    /// The key is missing or refused.
    Unauthorised,
    /// The server does not know the model or the address.
    NotFound,
    /// Too many requests, or the server is busy; later may help.
    Busy,
    /// The account's allowance is used up; trying again does not help.
    QuotaUsedUp,
    /// The prompt does not fit the model.
    TooLong,
    /// The server refuses the request as it is.
    Rejected,
    /// The server failed.
    Server,
    /// The stream cannot be understood or ended in the middle.
    BrokenStream,
    /// The answer was complete and held nothing.
    Empty,
    /// The worker of the on-device model is gone ("local engine lost", field 6H5).
    EngineLost,
    /// The on-device model does not fit into memory (field 6H5).
    OutOfMemory,
    /// The on-device model could not do this run; it is still there.
    Engine,
    /// The on-device model is not loaded, or is still loading.
    NotReady,
    /// The settings are not usable.
    Settings,
}

/// A failed run. [`std::fmt::Display`] is the plain sentence shown to the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// The provider's own words, bounded; text from outside, shown as such.
    pub provider_words: Option<String>,
    /// What the product can add: which origin, which header, which setting.
    pub advice: Option<String>,
    /// Whether the same request may succeed later. Nothing is retried by itself.
    pub retryable: bool,
}

impl ModelError {
    /// A failure of this kind, with the usual answer to "may it help to try again".
    pub fn new(kind: ModelErrorKind) -> Self {
        use ModelErrorKind as K;
        let retryable = matches!(
            kind,
            K::Unreachable | K::Busy | K::Server | K::BrokenStream | K::Empty | K::NotReady | K::EngineLost | K::Engine
        );
        Self { kind, provider_words: None, advice: None, retryable }
    }

    /// A refusal of the on-device engine: its code, what it takes and what it was given.
    pub fn of_engine(code: &str, expected: &str, observed: &str, message: &str) -> Self {
        let number = |text: &str| text.split(' ').find_map(|word| word.parse::<u64>().ok());
        match (code, number(expected), number(observed)) {
            ("prompt-window", Some(room), Some(needed)) => Self::new(ModelErrorKind::TooLong).advice(format!(
                "The on-device model reads {} tokens at a time, and this has {}. Shorten it, or connect a larger model in Settings.",
                thousands(room),
                thousands(needed)
            )),
            _ => Self::new(ModelErrorKind::Engine).words(message),
        }
    }

    /// Adds the provider's words, cut to [`MAX_PROVIDER_WORDS`] on a character boundary.
    #[must_use]
    pub fn words(mut self, words: impl Into<String>) -> Self {
        let mut words: String = words.into();
        if words.len() > MAX_PROVIDER_WORDS {
            let total = words.len();
            let mut end = MAX_PROVIDER_WORDS;
            while !words.is_char_boundary(end) {
                end -= 1;
            }
            words.truncate(end);
            words.push_str(&format!("… ({end} of {total} bytes)"));
        }
        self.provider_words = (!words.trim().is_empty()).then_some(words);
        self
    }

    /// Adds what the product knows about a way out.
    #[must_use]
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// The plain sentence: what happened, then the provider's words, then the way out.
    pub fn sentence(&self) -> String {
        use ModelErrorKind as K;
        let what = match self.kind {
            K::Unreachable => "The model's server could not be reached.",
            K::Unauthorised => "The server did not accept the key.",
            K::NotFound => "The server does not know this model or address.",
            K::Busy => "The server is busy.",
            K::QuotaUsedUp => "The account's allowance at the provider is used up.",
            K::TooLong => "This is longer than the model can read.",
            K::Rejected => "The server refused the request.",
            K::Server => "The model's server failed.",
            K::BrokenStream => "The answer broke off or could not be understood.",
            K::Empty => "The model gave an empty response.",
            K::EngineLost => "Local engine lost: the on-device model stopped running.",
            K::OutOfMemory => "The on-device model does not fit into this device's memory.",
            K::Engine => "The on-device model could not answer this.",
            K::NotReady => "The model is not ready yet.",
            K::Settings => "The model's settings are not complete.",
        };
        let mut sentence = what.to_owned();
        if let Some(words) = &self.provider_words {
            sentence.push_str(" It said: \u{201c}");
            sentence.push_str(words.trim());
            sentence.push('\u{201d}');
        }
        if let Some(advice) = &self.advice {
            sentence.push(' ');
            sentence.push_str(advice);
        }
        sentence
    }
}

/// A number as people read it: `50,040`.
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let lead = digits.len() % 3;
    let mut out = digits[..lead].to_owned();
    for group in digits.as_bytes()[lead..].chunks(3) {
        if !out.is_empty() {
            out.push(',');
        }
        out.extend(group.iter().map(|b| char::from(*b)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_for_the_on_device_model_is_said_in_numbers_with_a_way_out() {
        let e = ModelError::of_engine("prompt-window", "at most 1888 tokens", "50040 tokens", "prompt: expected …");
        let words = e.sentence();
        assert_eq!((e.kind, e.retryable), (ModelErrorKind::TooLong, false));
        for part in ["on-device model reads 1,888 tokens", "this has 50,040", "Shorten it", "larger model"] {
            assert!(words.contains(part), "{words}");
        }
        assert!(!words.contains("server") && !words.contains("expected"), "{words}");
    }

    #[test]
    fn no_failure_of_the_on_device_model_speaks_of_a_server() {
        for code in ["prompt-empty", "internal", "run-taken", "prompt-window", ""] {
            let words = ModelError::of_engine(code, "", "", "the reason").sentence();
            assert!(!words.contains("server") && words.contains("on-device model"), "{code}: {words}");
        }
        for kind in [ModelErrorKind::EngineLost, ModelErrorKind::OutOfMemory, ModelErrorKind::NotReady] {
            assert!(!ModelError::new(kind).sentence().contains("server"));
        }
    }

    #[test]
    fn numbers_are_grouped() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (50_040, "50,040")] {
            assert_eq!(thousands(n), text);
        }
    }
}
