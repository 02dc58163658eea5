//! Bytes to text, and where a text is cut.

use kernel::clip;

/// Why bytes are not taken as text (I-109).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFault {
    /// Not UTF-8 from this byte on.
    NotUtf8(usize),
    /// A NUL at this byte.
    Nul(usize),
}

/// The text of a file: one leading U+FEFF is dropped and CRLF is read as LF (decision 9). Where
/// the file goes on behind `bytes`, a character that was cut in two at their end is dropped; the
/// number is that of the bytes that were taken.
pub(crate) fn decode(bytes: &[u8], goes_on: bool) -> Result<(String, usize), TextFault> {
    if let Some(at) = bytes.iter().position(|b| *b == 0) {
        return Err(TextFault::Nul(at));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) if goes_on && e.error_len().is_none() => {
            std::str::from_utf8(&bytes[..e.valid_up_to()]).map_err(|e| TextFault::NotUtf8(e.valid_up_to()))?
        }
        Err(e) => return Err(TextFault::NotUtf8(e.valid_up_to())),
    };
    let taken = text.len();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok((text.replace("\r\n", "\n"), taken))
}

/// The longest part of a text's start within `max` bytes that ends with a line, or with a
/// character where ending with a line would give away more than half of the room.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let whole = &text[..clip::boundary(text, max)];
    match whole.rfind('\n') {
        Some(end) if end + 1 >= max / 2 => &whole[..=end],
        _ => whole,
    }
}

/// What stands where a text was cut; it names no path (I-110).
pub(crate) fn marker(kept: usize, total: usize) -> String {
    format!("\n[… cut here: {kept} of {total} bytes are shown …]\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::MARKER_BYTES;
    use proptest::prelude::*;

    #[test]
    fn t137_bom_and_crlf_read_alike_and_bad_bytes_are_told() {
        for bytes in ["a\nb\n", "a\r\nb\r\n", "\u{feff}a\nb\n", "\u{feff}a\r\nb\r\n"] {
            assert_eq!(decode(bytes.as_bytes(), false), Ok(("a\nb\n".to_owned(), bytes.len())));
        }
        assert_eq!(decode("a\u{feff}b\rc".as_bytes(), false), Ok(("a\u{feff}b\rc".to_owned(), 7)));
        assert_eq!(decode(b"a\xffb", false), Err(TextFault::NotUtf8(1)));
        assert_eq!(decode(b"a\xffb", true), Err(TextFault::NotUtf8(1)));
        assert_eq!(decode(b"a\xc3", false), Err(TextFault::NotUtf8(1)));
        assert_eq!(decode(b"a\xc3", true), Ok(("a".to_owned(), 1)));
        assert_eq!(decode(b"a\0", false), Err(TextFault::Nul(1)));
    }

    #[test]
    fn a_cut_prefers_the_end_of_a_line() {
        assert_eq!(cut("ab\ncd\nef", 7), "ab\ncd\n");
        assert_eq!(cut("ab\ncd", 5), "ab\ncd");
        assert_eq!(cut("a\nbbbbbbbb", 8), "a\nbbbbbb", "half the room is not given away for a line");
        assert_eq!(cut("éé", 3), "é");
        assert_eq!(cut("é", 1), "");
    }

    proptest! {
        #[test]
        fn a_cut_is_a_start_within_its_room(text in "(\\PC|\\n){0,60}", max in 0..80_usize) {
            let kept = cut(&text, max);
            prop_assert!(kept.len() <= max || kept.len() == text.len());
            prop_assert!(text.starts_with(kept));
        }

        #[test]
        fn a_marker_fits_its_room(kept: usize, total: usize) {
            prop_assert!(marker(kept, total).len() <= MARKER_BYTES);
        }
    }
}
