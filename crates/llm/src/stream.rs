//! Token bytes to text for a screen: characters come whole, and a stop text never shows, not even its beginning.

/// Most stop texts of a run.
pub const MAX_STOPS: usize = 8;

/// Bytes on their way to becoming text.
#[derive(Clone, Debug, Default)]
pub struct TextStream {
    held: Vec<u8>,
    stops: Vec<String>,
    stopped: bool,
}

impl TextStream {
    /// A stream that ends before the first of these texts.
    pub fn new(stops: Vec<String>) -> Self {
        let stops = stops.into_iter().filter(|s| !s.is_empty()).take(MAX_STOPS).collect();
        Self { held: Vec::new(), stops, stopped: false }
    }

    /// Whether a stop text was met.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Takes a token's bytes and gives the text that is certain by now.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        if self.stopped {
            return String::new();
        }
        self.held.extend_from_slice(bytes);
        let mut out = String::new();
        // bytes that can never become a character turn into the replacement sign; an unfinished character waits
        let mut rest = std::mem::take(&mut self.held);
        loop {
            match std::str::from_utf8(&rest) {
                Ok(text) => {
                    out.push_str(text);
                    rest.clear();
                    break;
                }
                Err(e) => {
                    let (good, bad) = rest.split_at(e.valid_up_to());
                    out.push_str(&String::from_utf8_lossy(good));
                    match e.error_len() {
                        Some(n) => {
                            out.push('\u{fffd}');
                            rest = bad[n..].to_vec();
                        }
                        None => {
                            rest = bad.to_vec();
                            break;
                        }
                    }
                }
            }
        }
        if let Some(at) = self.stops.iter().filter_map(|s| out.find(s.as_str())).min() {
            out.truncate(at);
            self.stopped = true;
            return out;
        }
        let keep = self.stops.iter().map(|s| overlap(&out, s)).max().unwrap_or(0);
        self.held = out.split_off(out.len() - keep).into_bytes();
        self.held.extend(rest);
        out
    }

    /// What was still held back when the run ends; a character that was cut off is left out.
    pub fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if self.stopped {
            return String::new();
        }
        held.utf8_chunks().map(|c| c.valid()).collect()
    }
}

/// Length of the longest proper beginning of `stop` that `text` ends with.
fn overlap(text: &str, stop: &str) -> usize {
    let longest = text.len().min(stop.len().saturating_sub(1));
    (1..=longest).rev().find(|n| stop.is_char_boundary(*n) && text.ends_with(&stop[..*n])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_come_whole_however_bytes_are_cut() {
        let text = "naïve 北京 👩‍👩‍👧 ok";
        for size in 1..7 {
            let mut s = TextStream::default();
            let mut out = String::new();
            for part in text.as_bytes().chunks(size) {
                let piece = s.push(part);
                assert!(!piece.contains('\u{fffd}'));
                out += &piece;
            }
            assert_eq!(out + &s.finish(), text);
        }
    }

    #[test]
    fn bytes_that_are_no_text_become_a_sign_and_do_not_block() {
        let mut s = TextStream::default();
        assert_eq!(s.push(b"a\xffb\xe5"), "a\u{fffd}b");
        assert_eq!(s.push(b"x"), "\u{fffd}x");
        assert_eq!(s.push(b"\xe5\x8c"), "");
        assert_eq!(s.finish(), "", "a cut character is no text");
    }

    #[test]
    fn a_stop_text_never_shows_even_in_part() {
        let mut s = TextStream::new(vec!["\nUser:".to_owned(), String::new()]);
        assert_eq!(s.push(b"hi\nUs"), "hi");
        assert_eq!(s.push(b"ual\nUser: x"), "\nUsual");
        assert!(s.stopped());
        assert_eq!(s.push(b"more") + &s.finish(), "");
    }

    #[test]
    fn a_beginning_that_leads_nowhere_is_given_at_the_end() {
        let mut s = TextStream::new(vec!["###".to_owned()]);
        assert_eq!(s.push(b"a##"), "a");
        assert_eq!(s.finish(), "##");
    }
}
