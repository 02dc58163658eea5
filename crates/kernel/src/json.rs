//! A strict JSON reader for tool arguments and schemas: bounded, exact, no duplicate keys.
//!
//! `serde_json` keeps the last of two equal keys and so hides what was sent; here the bytes are
//! walked once with every bound checked before anything is built. Numbers keep their digits.

use serde_json::{Map, Number, Value};

/// Bounds of one document (engine.md §2.12).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the whole document.
    pub bytes: usize,
    /// Nesting.
    pub depth: usize,
    /// Keys of all objects together.
    pub keys: usize,
    /// Bytes of one string.
    pub string: usize,
}

/// Tool arguments: 256 KiB, depth 16, 1,024 keys, strings of 128 KiB.
pub const ARGS: Limits = Limits { bytes: 256 * 1024, depth: 16, keys: 1024, string: 128 * 1024 };
/// Tool schemas: 32 KiB, depth 12 of values, 512 properties (keys are counted with keywords).
pub const SCHEMA: Limits = Limits { bytes: 32 * 1024, depth: 40, keys: 4096, string: 8 * 1024 };
/// Digits of a number (engine.md §2.7).
pub const NUMBER_MAX: usize = 64;

/// Why bytes are not a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// Over a bound on size: bytes, keys, a string or a number.
    #[error("{what} is {size}, at most {max} is allowed")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Measured.
        size: usize,
        /// Allowed.
        max: usize,
    },
    /// Nested too deeply.
    #[error("values are nested more than {0} deep")]
    TooDeep(usize),
    /// The same key twice in one object.
    #[error("the key “{0}” appears twice")]
    DuplicateKey(String),
    /// Not JSON.
    #[error("not valid JSON at byte {at}: {what}")]
    Syntax {
        /// Byte offset.
        at: usize,
        /// What was expected.
        what: &'static str,
    },
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    keys: usize,
    limits: Limits,
}

/// Reads one document.
///
/// # Errors
/// [`JsonError`]; never panics, whatever the bytes.
pub fn parse(bytes: &[u8], limits: Limits) -> Result<Value, JsonError> {
    if bytes.len() > limits.bytes {
        return Err(JsonError::TooLarge { what: "the document", size: bytes.len(), max: limits.bytes });
    }
    let mut r = Reader { bytes, at: 0, keys: 0, limits };
    let v = r.value(0)?;
    r.space();
    if r.at < bytes.len() {
        return r.fail("nothing after the value");
    }
    Ok(v)
}

impl Reader<'_> {
    fn fail<T>(&self, what: &'static str) -> Result<T, JsonError> {
        Err(JsonError::Syntax { at: self.at, what })
    }
    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.bytes.get(self.at).copied()
    }
    fn word(&mut self, word: &str, v: Value) -> Result<Value, JsonError> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(v);
        }
        self.fail("a value")
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        let next = self.peek();
        if matches!(next, Some(b'{' | b'[')) && depth >= self.limits.depth {
            return Err(JsonError::TooDeep(self.limits.depth));
        }
        match next {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Value::String),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.fail("a value"),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut map = Map::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(map));
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.fail("a key");
            }
            let key = self.string()?;
            self.keys += 1;
            if self.keys > self.limits.keys {
                return Err(JsonError::TooLarge { what: "the number of keys", size: self.keys, max: self.limits.keys });
            }
            if map.contains_key(&key) {
                return Err(JsonError::DuplicateKey(crate::clip::label(&key, 64).into_owned()));
            }
            if self.peek() != Some(b':') {
                return self.fail("':'");
            }
            self.at += 1;
            let v = self.value(depth + 1)?;
            map.insert(key, v);
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break self.at += 1,
                _ => return self.fail("',' or '}'"),
            }
        }
        Ok(Value::Object(map))
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break self.at += 1,
                _ => return self.fail("',' or ']'"),
            }
        }
        Ok(Value::Array(items))
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        let mut escaped = false;
        self.at += 1;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => break self.at += 1,
                Some(b'\\') => (escaped, self.at) = (true, self.at + 2),
                Some(0..=0x1f) | None => return self.fail("the end of a string"),
                Some(_) => self.at += 1,
            }
        }
        let size = self.at - start;
        if size > self.limits.string {
            return Err(JsonError::TooLarge { what: "a string", size, max: self.limits.string });
        }
        let slice = self.bytes.get(start..self.at).unwrap_or_default();
        let text = if escaped {
            // Escapes are serde_json's business; a lone surrogate is refused by it.
            serde_json::from_slice(slice).ok()
        } else {
            let inside = slice.get(1..slice.len().saturating_sub(1)).unwrap_or_default();
            std::str::from_utf8(inside).ok().map(str::to_owned)
        };
        text.ok_or(JsonError::Syntax { at: start, what: "valid text" })
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let slice = &self.bytes[start..self.at];
        let size = slice.iter().filter(|b| b.is_ascii_digit()).count();
        if size > NUMBER_MAX {
            return Err(JsonError::TooLarge { what: "the digits of a number", size, max: NUMBER_MAX });
        }
        // By `FromStr`: through `Deserialize` an exact number is read and copied twice.
        let n: Option<Number> = std::str::from_utf8(slice).ok().and_then(|text| text.parse().ok());
        n.map(Value::Number).ok_or(JsonError::Syntax { at: start, what: "a number" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_keys_are_seen_through_escapes() {
        let e = parse(br#"{"a":1,"\u0061":2}"#, ARGS).expect_err("duplicate");
        assert_eq!(e, JsonError::DuplicateKey("a".into()));
    }

    #[test]
    fn numbers_keep_their_digits() {
        let v = parse(b"[9007199254740993, 1e400, -0.10]", ARGS).expect("valid");
        assert_eq!(v.to_string(), "[9007199254740993,1e+400,-0.10]");
        assert!(matches!(parse(&[b'1'; 65], ARGS), Err(JsonError::TooLarge { .. })));
    }

    #[test]
    fn bounds_hold_one_below_and_one_above() {
        let nest = |n: usize| [vec![b'['; n], vec![b']'; n]].concat();
        assert!(parse(&nest(ARGS.depth), ARGS).is_ok());
        assert_eq!(parse(&nest(ARGS.depth + 1), ARGS), Err(JsonError::TooDeep(ARGS.depth)));
        assert_eq!(parse(&vec![b'['; ARGS.bytes], ARGS), Err(JsonError::TooDeep(ARGS.depth)));
        let keys = |n: usize| format!("{{{}}}", (0..n).map(|i| format!("\"{i}\":0")).collect::<Vec<_>>().join(","));
        assert!(parse(keys(ARGS.keys).as_bytes(), ARGS).is_ok());
        assert!(matches!(parse(keys(ARGS.keys + 1).as_bytes(), ARGS), Err(JsonError::TooLarge { .. })));
        let text = |n: usize| format!("\"{}\"", "x".repeat(n - 2));
        assert!(parse(text(ARGS.string).as_bytes(), ARGS).is_ok());
        assert!(matches!(parse(text(ARGS.string + 1).as_bytes(), ARGS), Err(JsonError::TooLarge { .. })));
        assert!(matches!(parse(&vec![b' '; ARGS.bytes + 1], ARGS), Err(JsonError::TooLarge { .. })));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for bad in [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "+1",
            "1.",
            "nul",
            "\"\\ud800\"",
            "\"\x01\"",
            "1 2",
            "NaN",
            "-",
            "\"\\",
            "[1 2]",
            "{\"a\" 1}",
            "\"\\q\"",
        ] {
            assert!(matches!(parse(bad.as_bytes(), ARGS), Err(JsonError::Syntax { .. })), "{bad}");
        }
        assert!(parse(b"\"\xff\"", ARGS).is_err());
    }
}
