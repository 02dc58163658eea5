//! Spans of a person's words: what is quoted, and what looks like a path.

/// The most spans of each kind that are looked at.
pub const MAX_SPANS: usize = 32;

/// A quoted span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// What stands between the quotes.
    pub text: String,
    /// Where the opening quote begins.
    pub start: usize,
    /// Where the closing quote ends.
    pub end: usize,
}

/// The quoted spans in order. An apostrophe inside a word opens nothing; an unclosed quote is no
/// quote.
pub fn quoted(words: &str) -> Vec<Quoted> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() && out.len() < MAX_SPANS {
        let rest = &words[at..];
        let Some(open) = rest.chars().next() else { break };
        let before = words[..at].chars().next_back();
        let closers: &[char] = match open {
            '"' => &['"'],
            '`' => &['`'],
            '“' | '”' => &['”', '“'],
            '„' => &['“', '”'],
            '«' => &['»'],
            '»' => &['«'],
            '‘' => &['’'],
            '\'' if before.is_none_or(|c| !c.is_alphanumeric()) => &['\''],
            _ => {
                at += open.len_utf8();
                continue;
            }
        };
        let inner = &rest[open.len_utf8()..];
        let close = inner.char_indices().find(|(i, c)| {
            // A closing apostrophe stands at a word's end, not inside one.
            let next = inner[i + c.len_utf8()..].chars().next();
            closers.contains(c) && (!matches!(c, '\'' | '’') || next.is_none_or(|n| !n.is_alphanumeric()))
        });
        match close {
            Some((i, c)) => {
                let end = at + open.len_utf8() + i + c.len_utf8();
                if i > 0 {
                    out.push(Quoted { text: inner[..i].to_owned(), start: at, end });
                }
                at = end;
            }
            None => at += open.len_utf8(),
        }
    }
    out
}

/// The words with every quoted span blanked out, byte for byte as long as before.
pub fn without_quotes(words: &str, quoted: &[Quoted]) -> String {
    let mut bytes = words.as_bytes().to_vec();
    for span in quoted {
        bytes[span.start..span.end].fill(b' ');
    }
    // Whole spans were blanked, so this is still UTF-8.
    String::from_utf8(bytes).unwrap_or_default()
}

/// A token without the marks of a sentence around it.
pub fn bare(token: &str) -> &str {
    token
        .trim_matches(|c: char| {
            matches!(c, ',' | ';' | ':' | '!' | '?' | '(' | ')' | '[' | ']' | '"' | '\'' | '“' | '”' | '„' | '`' | '…')
        })
        .trim_end_matches('.')
}

/// Whether a token looks like a path: a slash in it, or a name with an extension.
pub fn looks_like_path(token: &str) -> bool {
    if token.is_empty() || token.contains("://") || token.chars().any(char::is_whitespace) {
        return false;
    }
    if let Some((stem, ext)) = token.rsplit_once('.')
        && !stem.is_empty()
        && (1..=8).contains(&ext.len())
        && ext.chars().next().is_some_and(|c| c.is_ascii_alphabetic())
        && ext.chars().all(|c| c.is_ascii_alphanumeric())
        // `e.g`, `i.e`, `p.m`: an abbreviation is no file.
        && (stem.chars().count() > 1 || ext.len() > 1)
    {
        return true;
    }
    let letters = token.chars().filter(|c| c.is_alphabetic()).count();
    // `and/or`, `24/7`: two short words are no path unless a mount is named.
    token.contains('/') && letters > 0 && token != "and/or" && token.len() > 1
}

/// The path-shaped spans outside of quotes, in order, each once.
pub fn path_shaped(words: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let plain = without_quotes(words, &quoted(words));
    for token in plain.split_whitespace().map(bare) {
        if looks_like_path(token) && !out.iter().any(|known| known == token) && out.len() < MAX_SPANS {
            out.push(token.to_owned());
        }
    }
    out
}

/// Lower-case words without marks, for comparing.
pub fn plain_words(words: &str) -> Vec<String> {
    words.split_whitespace().map(|token| bare(token).to_lowercase()).filter(|word| !word.is_empty()).collect()
}
