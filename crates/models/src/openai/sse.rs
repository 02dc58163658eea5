//! Server-sent events out of bytes in any chunking (field 8H1).
//!
//! Bytes are kept until a whole line is there and are decoded only when a whole event is: a
//! character cut by a chunk's edge is never seen cut.

/// The largest event, in bytes; a server that sends more without a blank line is cut off.
pub const MAX_EVENT_BYTES: usize = 1024 * 1024;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event:` field, if any.
    pub event: Option<String>,
    /// The `data:` lines, joined by line feeds.
    pub data: String,
    /// How many invalid byte sequences were replaced by U+FFFD in `data`.
    pub replaced: usize,
}

/// An event went over [`MAX_EVENT_BYTES`]; the decoder gives nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is larger than {MAX_EVENT_BYTES} bytes")]
pub struct EventTooLarge;

/// The decoder: push bytes, get whole events.
#[derive(Clone, Debug, Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    event: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    past_first_line: bool,
    dead: bool,
}

impl SseDecoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes; whole events are appended to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        for &byte in bytes {
            if self.dead {
                return Err(EventTooLarge);
            }
            let second_of_crlf = std::mem::take(&mut self.after_cr) && byte == b'\n';
            match byte {
                _ if second_of_crlf => {}
                b'\n' => self.end_line(out),
                b'\r' => {
                    self.end_line(out);
                    self.after_cr = true;
                }
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.len() + self.event.len() > MAX_EVENT_BYTES {
                self.dead = true;
                (self.line, self.data, self.event) = Default::default();
            }
        }
        if self.dead { Err(EventTooLarge) } else { Ok(()) }
    }

    /// The stream has ended. Many servers leave out the last blank line, so what is complete as
    /// a line counts, and so does a last line without its end.
    pub fn finish(&mut self, out: &mut Vec<SseEvent>) {
        if !self.line.is_empty() {
            self.end_line(out);
        }
        self.end_event(out);
    }

    fn end_line(&mut self, out: &mut Vec<SseEvent>) {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.past_first_line, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event(out);
        }
        let (field, value) = match line.iter().position(|&b| b == b':') {
            Some(at) => {
                let value = &line[at + 1..];
                (&line[..at], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.event = value.to_vec(),
            // Comments (an empty field name), ids, retry times and unknown fields say nothing.
            _ => {}
        }
    }

    fn end_event(&mut self, out: &mut Vec<SseEvent>) {
        let event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        if !std::mem::take(&mut self.has_data) {
            return;
        }
        let (data, replaced) = decode(&data);
        let event = (!event.is_empty()).then(|| decode(&event).0);
        out.push(SseEvent { event, data, replaced });
    }
}

/// UTF-8 to text; each invalid sequence becomes one U+FFFD and is counted.
fn decode(bytes: &[u8]) -> (String, usize) {
    let mut text = String::with_capacity(bytes.len());
    let mut replaced = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            replaced += 1;
        }
    }
    (text, replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_pieces(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let mut decoder = SseDecoder::new();
        let mut out = Vec::new();
        for piece in pieces {
            decoder.push(piece, &mut out).expect("small");
        }
        decoder.finish(&mut out);
        out
    }

    const LINE: &str = "data: {\"t\":\"naïve 🌊 日\"}";

    #[test]
    fn field_8h1_any_cut_gives_the_same_text() {
        let lf = format!("{LINE}\n\n").into_bytes();
        let crlf = format!("{LINE}\r\n\r\n").into_bytes();
        let cr = format!("{LINE}\r\r").into_bytes();
        let want = vec![SseEvent { event: None, data: "{\"t\":\"naïve 🌊 日\"}".into(), replaced: 0 }];
        assert_eq!(lf.len(), 31, "the 31 bytes of the case");
        for bytes in [&lf, &crlf, &cr] {
            for cut in 0..=bytes.len() {
                assert_eq!(decode_pieces(&[&bytes[..cut], &bytes[cut..]]), want, "cut at {cut}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(decode_pieces(&single), want);
        }
    }

    #[test]
    fn field_8h1_an_invalid_byte_is_one_replacement_and_counted() {
        for bytes in [&b"data: a\xFFb\n\ndata: c\n\n"[..], b"data: a\xE6\x97b\n\ndata: c\n\n"] {
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            let events = decode_pieces(&single);
            assert_eq!(events[0], SseEvent { event: None, data: "a\u{FFFD}b".into(), replaced: 1 });
            assert_eq!(events[1].data, "c", "the stream lives on");
        }
    }

    #[test]
    fn fields_comments_and_a_missing_last_blank_line() {
        let events = decode_pieces(&[
            b"\xEF\xBB\xBF: hi\nevent: error\ndata:a\ndata: b\nid: 3\n\n\n\nevent: lost\n\ndata: [DONE]",
        ]);
        assert_eq!(
            events,
            [
                SseEvent { event: Some("error".into()), data: "a\nb".into(), replaced: 0 },
                SseEvent { event: None, data: "[DONE]".into(), replaced: 0 },
            ]
        );
    }

    #[test]
    fn an_endless_event_is_cut_off() {
        let mut decoder = SseDecoder::new();
        let mut out = Vec::new();
        let piece = vec![b'x'; 64 * 1024];
        let refused = (0..32).find(|_| decoder.push(&piece, &mut out).is_err());
        assert_eq!(refused, Some(16));
        assert_eq!(decoder.push(b"data: x\n\n", &mut out), Err(EventTooLarge));
        assert!(out.is_empty());
    }
}
