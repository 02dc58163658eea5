//! Which model answers: the settings, the address, and the key that goes only where it belongs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest base URL.
pub const MAX_BASE_URL: usize = 2048;
/// The longest model name.
pub const MAX_MODEL_NAME: usize = 256;

/// Who answers. A conversation keeps its choice; a turn never switches it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProviderConfig {
    /// The model that ships with the product.
    OnDevice,
    /// Any server that speaks OpenAI Chat Completions.
    OpenAiCompatible {
        /// Where it is, up to and with the version, for example `http://127.0.0.1:11434/v1`.
        base_url: BaseUrl,
        /// The model's name there.
        model: String,
        /// The name under which the key is kept; the key itself is never in here.
        key_ref: Option<String>,
    },
}

impl ProviderConfig {
    /// A short name for the transcript: which model answered.
    pub fn label(&self) -> String {
        match self {
            Self::OnDevice => "on-device".to_owned(),
            Self::OpenAiCompatible { base_url, model, .. } => {
                format!("{model} at {}", base_url.origin())
            }
        }
    }
    /// Whether the words leave the device.
    pub fn is_remote(&self) -> bool {
        !matches!(self, Self::OnDevice)
    }
}

/// Scheme, host and port of a server: what a key belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin(String);

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why an address or another setting is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Empty.
    #[error("the address is empty")]
    Empty,
    /// Over [`MAX_BASE_URL`].
    #[error("the address is longer than {MAX_BASE_URL} bytes")]
    TooLong,
    /// Not http or https.
    #[error("the address must begin with http:// or https://, not \u{201c}{0}\u{201d}")]
    Scheme(String),
    /// A user or password inside the address.
    #[error("a name or password inside the address is not allowed; enter the key in its own field")]
    UserInfo,
    /// A query or fragment.
    #[error("the address must not contain \u{201c}{0}\u{201d}")]
    QueryOrFragment(char),
    /// No usable host.
    #[error("\u{201c}{0}\u{201d} is not a host")]
    Host(String),
    /// Not a port number.
    #[error("\u{201c}{0}\u{201d} is not a port")]
    Port(String),
    /// A blank, a control, a backslash or a non-ASCII character.
    #[error("the address contains {0:?}, which an address cannot hold")]
    Character(char),
    /// `.` or `..` as a path segment, also percent-encoded.
    #[error("the address must not contain \u{201c}.\u{201d} or \u{201c}..\u{201d} as a part of its path")]
    DotSegment,
    /// A key that a header cannot carry.
    #[error("the key contains a character that a header cannot carry")]
    Key,
    /// An empty or overlong model name.
    #[error("the model's name is empty or longer than {MAX_MODEL_NAME} bytes")]
    Model,
    /// The key was entered for another server.
    #[error("the key belongs to {key_for}, and the request goes to {to}")]
    KeyForAnotherOrigin {
        /// The origin it was entered for.
        key_for: Origin,
        /// Where the request would go.
        to: Origin,
    },
    /// The provider is not one that takes HTTP requests.
    #[error("this provider takes no HTTP request")]
    NotHttp,
    /// A tool's schema is not JSON.
    #[error("the schema of the tool \u{201c}{0}\u{201d} is not JSON")]
    ToolSchema(String),
}

/// The address of an OpenAI-compatible server: checked, normalised, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BaseUrl {
    origin: Origin,
    path: String,
}

impl BaseUrl {
    /// Checks and normalises what a person typed.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ConfigError::Empty);
        }
        if text.len() > MAX_BASE_URL {
            return Err(ConfigError::TooLong);
        }
        // Browsers drop tabs and turn backslashes into slashes inside an address; what we check
        // must be what they will open, so neither may be there.
        if let Some(odd) = text
            .chars()
            .find(|c| !c.is_ascii_graphic() || matches!(c, '\\' | '<' | '>' | '"' | '^' | '`' | '{' | '|' | '}'))
        {
            return Err(ConfigError::Character(odd));
        }
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| ConfigError::Scheme(text.split(':').next().unwrap_or_default().to_owned()))?;
        let scheme = scheme.to_ascii_lowercase();
        let default_port = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return Err(ConfigError::Scheme(scheme)),
        };
        if let Some(mark) = rest.chars().find(|c| matches!(c, '?' | '#')) {
            return Err(ConfigError::QueryOrFragment(mark));
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(ConfigError::UserInfo);
        }
        let (host, port) = split_port(authority)?;
        let host = host.to_ascii_lowercase();
        check_host(&host)?;
        let port = match port {
            None | Some("") => None,
            Some(digits) => {
                let bad = || ConfigError::Port(digits.to_owned());
                if !digits.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(bad());
                }
                let number: u16 = digits.parse().map_err(|_| bad())?;
                (number != default_port).then_some(number)
            }
        };
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        if segments.iter().any(|segment| is_dot_segment(segment)) {
            return Err(ConfigError::DotSegment);
        }
        let origin = match port {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        };
        let path = segments.iter().map(|segment| format!("/{segment}")).collect();
        Ok(Self { origin: Origin(origin), path })
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The address with one more fixed path behind it.
    pub fn join(&self, path: &str) -> String {
        format!("{}{}/{}", self.origin, self.path, path.trim_start_matches('/'))
    }

    /// Whether the server is this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.origin.0.split("://").nth(1).unwrap_or_default();
        ["localhost", "127.0.0.1", "[::1]"]
            .iter()
            .any(|name| host == *name || host.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

impl TryFrom<String> for BaseUrl {
    type Error = ConfigError;
    fn try_from(text: String) -> Result<Self, ConfigError> {
        Self::parse(&text)
    }
}

impl From<BaseUrl> for String {
    fn from(url: BaseUrl) -> Self {
        url.to_string()
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<&str>), ConfigError> {
    let bad = || ConfigError::Host(authority.to_owned());
    if authority.starts_with('[') {
        let close = authority.find(']').ok_or_else(bad)?;
        let (host, rest) = authority.split_at(close + 1);
        return match rest {
            "" => Ok((host, None)),
            _ => Ok((host, Some(rest.strip_prefix(':').ok_or_else(bad)?))),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((authority, None)),
    }
}

fn check_host(host: &str) -> Result<(), ConfigError> {
    let bad = || ConfigError::Host(host.to_owned());
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse::<std::net::Ipv6Addr>().map(|_| ()).map_err(|_| bad());
    }
    let labels_fit = host.split('.').all(|label| {
        (1..=63).contains(&label.len()) && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    });
    if host.len() <= 253 && labels_fit { Ok(()) } else { Err(bad()) }
}

fn is_dot_segment(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    plain == "." || plain == ".."
}

/// A key, and the one origin it may be sent to. It cannot be printed, stored or compared.
#[derive(Clone)]
pub struct Secret {
    value: String,
    origin: Origin,
}

impl Secret {
    /// A key as it was entered for one server.
    pub fn new(value: &str, origin: Origin) -> Result<Self, ConfigError> {
        let value = value.trim();
        if value.is_empty() || !value.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(ConfigError::Key);
        }
        Ok(Self { value: value.to_owned(), origin })
    }
    /// The origin it belongs to.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
    /// The key itself, for the browser's storage and nothing else.
    pub fn reveal_to_storage(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// An HTTP request for somebody else to send. The key is not in it, so it may be traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// `POST`, or `GET`.
    pub method: &'static str,
    /// The whole address.
    pub url: String,
    /// Headers without the key.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// The header that carries the key, if the key belongs to where this request goes. To be
    /// joined to the request in the last moment and sent without following redirects.
    pub fn authorization(&self, key: &Secret) -> Result<(&'static str, String), ConfigError> {
        let to = BaseUrl::parse(&self.url)?.origin;
        if to != key.origin {
            return Err(ConfigError::KeyForAnotherOrigin { key_for: key.origin.clone(), to });
        }
        Ok(("authorization", format!("Bearer {}", key.value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> BaseUrl {
        BaseUrl::parse(text).expect(text)
    }

    #[test]
    fn addresses_are_normalised() {
        for (typed, kept) in [
            ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
            (" HTTPS://API.Example.com:443//v1 ", "https://api.example.com/v1"),
            ("http://[::1]:8000", "http://[::1]:8000"),
            ("http://host_a:80", "http://host_a"),
        ] {
            assert_eq!(url(typed).to_string(), kept);
        }
        assert_eq!(url("http://a/v1").join("chat/completions"), "http://a/v1/chat/completions");
    }

    #[test]
    fn addresses_that_could_mean_another_place_are_refused() {
        use ConfigError as E;
        let long = format!("http://{}", "a".repeat(MAX_BASE_URL));
        for (typed, why) in [
            ("", E::Empty),
            (long.as_str(), E::TooLong),
            ("ftp://a/v1", E::Scheme("ftp".into())),
            ("javascript:alert(1)", E::Scheme("javascript".into())),
            ("localhost:8000/v1", E::Scheme("localhost".into())),
            ("https://key@a/v1", E::UserInfo),
            ("https://user:pw@a/v1", E::UserInfo),
            ("https://a/v1?key=1", E::QueryOrFragment('?')),
            ("https://a/v1#x", E::QueryOrFragment('#')),
            ("https:///v1", E::Host(String::new())),
            ("https://a..b/v1", E::Host("a..b".into())),
            ("https://[::zz]/v1", E::Host("[::zz]".into())),
            ("https://a%2eb/v1", E::Host("a%2eb".into())),
            ("https://a:99999/", E::Port("99999".into())),
            ("https://a:+1/", E::Port("+1".into())),
            ("https://a\\@b/v1", E::Character('\\')),
            ("https://a\tb", E::Character('\t')),
            ("https://пример/v1", E::Character('п')),
            ("https://a/v1/../x", E::DotSegment),
            ("https://a/%2E%2e/x", E::DotSegment),
        ] {
            assert_eq!(BaseUrl::parse(typed), Err(why), "{typed}");
        }
    }

    #[test]
    fn a_key_goes_only_to_its_own_origin_and_is_never_printed() {
        let key = Secret::new(" sk-123 ", url("https://api.example.com/v1").origin().clone());
        let key = key.expect("a key");
        assert_eq!(format!("{key:?}"), "Secret");
        let request = |url: &str| HttpRequest { method: "POST", url: url.into(), headers: vec![], body: vec![] };
        assert_eq!(
            request("https://api.example.com/v1/chat/completions").authorization(&key),
            Ok(("authorization", "Bearer sk-123".to_owned()))
        );
        for elsewhere in
            ["http://api.example.com/v1", "https://api.example.com:8443/v1", "https://api.example.com.evil.net/v1"]
        {
            assert!(
                matches!(request(elsewhere).authorization(&key), Err(ConfigError::KeyForAnotherOrigin { .. })),
                "{elsewhere}"
            );
        }
        assert_eq!(Secret::new("a\nb", url("http://a").origin().clone()).err(), Some(ConfigError::Key));
        assert_eq!(Secret::new("  ", url("http://a").origin().clone()).err(), Some(ConfigError::Key));
    }

    #[test]
    fn settings_survive_storage_and_refuse_a_bad_address() {
        let config = ProviderConfig::OpenAiCompatible {
            base_url: url("http://127.0.0.1:8080/v1"),
            model: "m".into(),
            key_ref: None,
        };
        let text = serde_json::to_string(&config).expect("json");
        assert_eq!(serde_json::from_str::<ProviderConfig>(&text).expect("back"), config);
        assert!(serde_json::from_str::<ProviderConfig>(&text.replace("http:", "file:")).is_err());
        assert!(url("http://localhost:1").is_loopback() && !url("http://localhost.evil.net").is_loopback());
    }
}
