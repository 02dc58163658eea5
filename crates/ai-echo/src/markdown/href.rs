//! The only links that lead anywhere.

use std::fmt;

/// The longest target of a link.
pub const MAX_HREF: usize = 2048;

/// A target that is safe to hand to the browser: http, https or mailto. Only [`Href::parse`]
/// makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Href(String);

impl Href {
    /// Normalises as a browser would (outer blanks and controls, tabs and line ends anywhere are
    /// dropped, the scheme is lowered), then asks the allow-list.
    pub fn parse(raw: &str) -> Option<Self> {
        let stripped: String =
            raw.trim_matches(|c: char| c <= ' ').chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
        let odd = |c: char| c.is_control() || c.is_whitespace() || is_direction_mark(c) || c == '\\';
        if stripped.len() > MAX_HREF || stripped.chars().any(odd) {
            return None;
        }
        let (scheme, rest) = stripped.split_once(':')?;
        let scheme = scheme.to_ascii_lowercase();
        let safe = match scheme.as_str() {
            "http" | "https" => {
                rest.strip_prefix("//").is_some_and(|host| !host.is_empty() && !host.starts_with(['/', '?', '#']))
            }
            "mailto" => !rest.is_empty(),
            _ => false,
        };
        safe.then(|| Self(format!("{scheme}:{rest}")))
    }

    /// The target.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Href {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}
