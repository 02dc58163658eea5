//! `metadata.version` as people write it: `1.2`, `v2.0.0-beta.1`. Compared by numbers where both
//! have them; anything else is only equal or different.

use std::cmp::Ordering;

/// A version that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 4],
    pre: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Word(String),
}

/// Longest text that is read as a version, in bytes.
const TEXT_MAX: usize = 64;

impl Version {
    /// Reads one to four numbers with dots between them, an optional `v` before, an optional
    /// pre-release after `-`; what follows `+` is ignored.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > TEXT_MAX {
            return None;
        }
        let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let text = text.split_once('+').map_or(text, |(t, _)| t);
        let (core, pre) = text.split_once('-').map_or((text, None), |(c, p)| (c, Some(p)));
        let digits =
            |s: &str| (!s.is_empty() && s.bytes().all(|b| b.is_ascii_digit())).then(|| s.parse().ok()).flatten();
        let mut numbers = [0; 4];
        for (i, part) in core.split('.').enumerate() {
            *numbers.get_mut(i)? = digits(part)?;
        }
        let part = |s: &str| {
            digits(s).map_or_else(|| (!s.is_empty()).then(|| Part::Word(s.to_owned())), |n| Some(Part::Number(n)))
        };
        let pre = pre.map_or_else(|| Some(vec![]), |p| p.split('.').map(part).collect())?;
        Some(Self { numbers, pre })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        // A pre-release comes before the release that it leads to.
        let release = self.pre.is_empty().cmp(&other.pre.is_empty());
        self.numbers.cmp(&other.numbers).then(release).then_with(|| self.pre.cmp(&other.pre))
    }
}

/// How `this` stands to `that`; `None` when one of them has no numbers to compare and the texts
/// differ.
#[must_use]
pub fn compare(this: &str, that: &str) -> Option<Ordering> {
    match (Version::parse(this), Version::parse(that)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => (this.trim() == that.trim()).then_some(Ordering::Equal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number_and_not_by_letter() {
        let rising = [
            "0.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-2.x",
            "1",
            "1.0.1",
            "v1.2",
            "1.10",
            "2.0.0.1",
        ];
        // Numbers of a pre-release come before words.
        let rising = [&rising[..1], &["1.0.0-2.x"], &rising[1..4], &rising[5..]].concat();
        for (i, a) in rising.iter().enumerate() {
            for (j, b) in rising.iter().enumerate() {
                assert_eq!(compare(a, b), Some(i.cmp(&j)), "{a} {b}");
            }
        }
        assert_eq!(compare("1.0", "v1.0.0+build"), Some(Ordering::Equal));
        assert_eq!(compare("draft", " draft"), Some(Ordering::Equal));
        for (a, b) in
            [("draft", "1.0"), ("1.2.3.4.5", "1"), ("1.", "1"), ("-1", "1"), ("99999999999999999999", "1"), ("", "1")]
        {
            assert_eq!(compare(a, b), None, "{a} {b}");
        }
    }
}
