//! Byte-level BPE from the file's own vocabulary and merges.
//!
//! Control tokens (`<|im_end|>` and its like) are never made from text: [`Tokenizer::encode`] sees only bytes, and
//! the chat template puts control tokens by id. So nothing a person, a file or a tool says can close a turn.

use crate::error::Refusal;
use crate::gguf::Gguf;
use crate::model::MAX_VOCAB;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

/// Longest token in bytes that a vocabulary may hold.
pub const MAX_TOKEN_BYTES: usize = 1024;

/// Why a vocabulary cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenizerError {
    /// A key that is missing or of the wrong kind.
    Key(&'static str),
    /// Another kind of tokenizer.
    Kind {
        /// The key.
        key: &'static str,
        /// What the file says.
        found: String,
    },
    /// Lists whose lengths do not fit each other or the embedding.
    Length {
        /// The key.
        key: &'static str,
        /// The length called for.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// A token or merge that cannot be read.
    Entry {
        /// The key.
        key: &'static str,
        /// Index in the list.
        index: usize,
    },
    /// A special token id outside the vocabulary.
    Special {
        /// The key.
        key: &'static str,
        /// The id.
        found: u64,
    },
}

impl TokenizerError {
    /// The refusal to show.
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::Key(k) => Refusal::new("tokenizer-key", *k, "a value of the right kind", "none"),
            Self::Kind { key, found } => {
                Refusal::new("tokenizer-kind", *key, "gpt2 with the smollm or gpt-2 split", found.clone())
            }
            Self::Length { key, expected, found } => {
                Refusal::new("tokenizer-length", *key, expected.to_string(), found.to_string())
            }
            Self::Entry { key, index } => {
                Refusal::new("tokenizer-entry", *key, "a readable entry", format!("entry {index}"))
            }
            Self::Special { key, found } => {
                Refusal::new("tokenizer-special", *key, "an id of the vocabulary", found.to_string())
            }
        }
    }
}

impl fmt::Display for TokenizerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal().fmt(f)
    }
}
impl std::error::Error for TokenizerError {}

/// A fast hash for the hundred thousand keys of a vocabulary, which are looked up, never chosen, by strangers' text.
#[derive(Default)]
struct Fnv(u64);
impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0 ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 29;
    }
    fn finish(&self) -> u64 {
        self.0
    }
}
type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fnv>>;

/// How text is cut before pairs are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Split {
    /// Digits one by one, then as GPT-2.
    Smol,
    /// Words, numbers, punctuation, each with the space before it.
    Gpt2,
}

/// The vocabulary, ready to cut text into ids and to give ids their bytes back.
#[derive(Debug)]
pub struct Tokenizer {
    /// All tokens' bytes one after another, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<u32>,
    control: Vec<bool>,
    by_byte: [Option<u32>; 256],
    /// Pair of ids to (rank, merged id).
    merges: Map<u64, (u32, u32)>,
    controls: Vec<(String, u32)>,
    eos: u32,
    split: Split,
}

/// GPT-2 writes each byte as one printable character; this is that character.
fn byte_chars() -> [char; 256] {
    let mut next = 256;
    core::array::from_fn(|b| {
        let printable = matches!(b, 33..=126 | 161..=172 | 174..=255);
        let code = if printable {
            b as u32
        } else {
            next += 1;
            next - 1
        };
        char::from_u32(code).unwrap_or('\u{fffd}')
    })
}

const fn pair(a: u32, b: u32) -> u64 {
    (a as u64) << 32 | b as u64
}

impl Tokenizer {
    /// Reads vocabulary and merges; `vocab` is the number of rows of the embedding.
    ///
    /// # Errors
    /// [`TokenizerError`] names the list and entry that does not fit.
    pub fn read(g: &Gguf<'_>, vocab: usize) -> Result<Self, TokenizerError> {
        const TOKENS: &str = "tokenizer.ggml.tokens";
        const TYPES: &str = "tokenizer.ggml.token_type";
        const MERGES: &str = "tokenizer.ggml.merges";
        let kind = g.text("tokenizer.ggml.model").ok_or(TokenizerError::Key("tokenizer.ggml.model"))?;
        if kind != "gpt2" {
            return Err(TokenizerError::Kind { key: "tokenizer.ggml.model", found: kind.to_owned() });
        }
        let split = match g.text("tokenizer.ggml.pre") {
            Some("smollm") => Split::Smol,
            None | Some("default" | "gpt-2") => Split::Gpt2,
            Some(other) => {
                return Err(TokenizerError::Kind { key: "tokenizer.ggml.pre", found: other.to_owned() });
            }
        };
        let tokens = g.strings(TOKENS).ok_or(TokenizerError::Key(TOKENS))?;
        let types = g.ints(TYPES).ok_or(TokenizerError::Key(TYPES))?;
        for (key, found) in [(TOKENS, tokens.len()), (TYPES, types.len())] {
            if found != vocab || vocab > MAX_VOCAB {
                return Err(TokenizerError::Length { key, expected: vocab, found });
            }
        }
        let chars = byte_chars();
        let to_byte: HashMap<char, u8> = chars.iter().zip(0..=255).map(|(c, b)| (*c, b)).collect();
        let mut ids: Map<&[u8], u32> = Map::with_capacity_and_hasher(vocab, BuildHasherDefault::default());
        let (mut bytes, mut ends, mut control, mut controls) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for ((index, raw), kind) in tokens.enumerate().zip(types) {
            let bad = TokenizerError::Entry { key: TOKENS, index };
            let text = std::str::from_utf8(raw).map_err(|_| bad.clone())?;
            if raw.len() > MAX_TOKEN_BYTES {
                return Err(bad);
            }
            ids.insert(raw, index as u32);
            // 3 is a control token, 4 one that its maker added: both stand for themselves and come from no merge
            let special = matches!(kind, 3 | 4);
            control.push(special);
            if special {
                controls.push((text.to_owned(), index as u32));
            } else {
                for c in text.chars() {
                    bytes.push(*to_byte.get(&c).ok_or_else(|| bad.clone())?);
                }
            }
            ends.push(bytes.len() as u32);
        }
        let mut buffer = [0; 4];
        // a vocabulary may lack bytes that its text never held: such a byte has no id and is left out of a prompt
        let by_byte = chars.map(|c| ids.get(c.encode_utf8(&mut buffer).as_bytes()).copied());
        let lines = g.strings(MERGES).ok_or(TokenizerError::Key(MERGES))?;
        if lines.len() > 2 * MAX_VOCAB {
            return Err(TokenizerError::Length { key: MERGES, expected: 2 * MAX_VOCAB, found: lines.len() });
        }
        let mut merges = Map::with_capacity_and_hasher(lines.len(), BuildHasherDefault::default());
        let mut joined = Vec::new();
        for (rank, line) in lines.enumerate() {
            let bad = || TokenizerError::Entry { key: MERGES, index: rank };
            let space = line.iter().position(|b| *b == b' ').ok_or_else(bad)?;
            let (a, b) = (&line[..space], &line[space + 1..]);
            joined.clear();
            joined.extend_from_slice(a);
            joined.extend_from_slice(b);
            let (Some(x), Some(y), Some(z)) = (ids.get(a), ids.get(b), ids.get(joined.as_slice())) else {
                return Err(bad());
            };
            merges.entry(pair(*x, *y)).or_insert((rank as u32, *z));
        }
        const EOS: &str = "tokenizer.ggml.eos_token_id";
        let eos = g.uint(EOS).ok_or(TokenizerError::Key(EOS))?;
        if eos >= vocab as u64 {
            return Err(TokenizerError::Special { key: EOS, found: eos });
        }
        Ok(Self { bytes, ends, control, by_byte, merges, controls, eos: eos as u32, split })
    }

    /// Tokens of the vocabulary.
    pub fn vocab(&self) -> usize {
        self.ends.len()
    }
    /// The id of a control token by its name.
    pub fn control_id(&self, name: &str) -> Option<u32> {
        self.controls.iter().find(|c| c.0 == name).map(|c| c.1)
    }
    /// Whether a token stands for itself and has no bytes.
    pub fn is_control(&self, id: u32) -> bool {
        self.control.get(id as usize).copied().unwrap_or(true)
    }
    /// Whether a token ends an answer: the end token, or any other control token, which an answer cannot contain.
    pub fn is_end(&self, id: u32) -> bool {
        id == self.eos || self.is_control(id)
    }
    /// The bytes of a token; none for control tokens and unknown ids.
    pub fn token_bytes(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let Some(end) = self.ends.get(id) else { return &[] };
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[start as usize..*end as usize]
    }
    /// The bytes of many tokens.
    pub fn decode(&self, ids: &[u32]) -> Vec<u8> {
        ids.iter().flat_map(|id| self.token_bytes(*id).iter().copied()).collect()
    }
    /// Text to ids. Every character is text, whatever it looks like.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let mut out = Vec::new();
        self.encode_into(text, &mut out);
        out
    }
    /// Text to ids, after those already there.
    pub fn encode_into(&self, text: &str, out: &mut Vec<u32>) {
        if self.split == Split::Gpt2 {
            return self.words(text, out);
        }
        let mut start = 0;
        for (i, c) in text.char_indices().filter(|(_, c)| c.is_numeric()) {
            let end = i + c.len_utf8();
            self.words(&text[start..i], out);
            self.word(&text.as_bytes()[i..end], out);
            start = end;
        }
        self.words(&text[start..], out);
    }

    /// GPT-2's cut: contractions, then runs of letters, of digits, of other signs, each with one space before it; of a
    /// run of white space the last character stays with the next word.
    fn words(&self, text: &str, out: &mut Vec<u32>) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let len = word_len(rest, first);
            let (word, after) = rest.split_at(len);
            self.word(word.as_bytes(), out);
            rest = after;
        }
    }

    /// Merges the best-ranked pair until none is left. A heap over a linked list: linear text stays near-linear, even
    /// a hundred thousand letters without a space.
    fn word(&self, word: &[u8], out: &mut Vec<u32>) {
        const NONE: u32 = u32::MAX;
        let mut ids: Vec<u32> = word.iter().filter_map(|b| self.by_byte[*b as usize]).collect();
        if ids.len() < 2 {
            return out.extend(ids);
        }
        let n = ids.len() as u32;
        let mut next: Vec<u32> = (1..=n).map(|i| if i == n { NONE } else { i }).collect();
        let mut before: Vec<u32> = (0..n).map(|i| i.wrapping_sub(1)).collect();
        let mut heap = BinaryHeap::new();
        let offer = |heap: &mut BinaryHeap<_>, ids: &[u32], a: u32, b: u32| {
            if let Some((rank, merged)) = self.merges.get(&pair(ids[a as usize], ids[b as usize])) {
                heap.push(Reverse((*rank, a, b, pair(ids[a as usize], ids[b as usize]), *merged)));
            }
        };
        for i in 1..n {
            offer(&mut heap, &ids, i - 1, i);
        }
        while let Some(Reverse((_, a, b, was, merged))) = heap.pop() {
            // stale where one of the two was merged since, or is no neighbour any more
            if next[a as usize] != b || pair(ids[a as usize], ids[b as usize]) != was {
                continue;
            }
            ids[a as usize] = merged;
            ids[b as usize] = NONE;
            let after = next[b as usize];
            next[a as usize] = after;
            next[b as usize] = NONE;
            if after != NONE {
                before[after as usize] = a;
                offer(&mut heap, &ids, a, after);
            }
            if before[a as usize] != NONE {
                offer(&mut heap, &ids, before[a as usize], a);
            }
        }
        out.extend(ids.into_iter().filter(|id| *id != NONE));
    }
}

/// Length in bytes of the word at the start of `rest`, whose first character is `first`.
fn word_len(rest: &str, first: char) -> usize {
    if first == '\''
        && let Some(end) = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"].iter().find(|e| rest.starts_with(**e))
    {
        return end.len();
    }
    let run =
        |from: usize, in_run: fn(char) -> bool| rest[from..].find(|c| !in_run(c)).map_or(rest.len(), |n| from + n);
    let (from, lead) = match rest[first.len_utf8()..].chars().next() {
        Some(second) if first == ' ' => (1, second),
        _ => (0, first),
    };
    if lead.is_alphabetic() {
        return run(from, char::is_alphabetic);
    }
    if lead.is_numeric() {
        return run(from, char::is_numeric);
    }
    if !lead.is_whitespace() {
        return run(from, |c| !c.is_whitespace() && !c.is_alphabetic() && !c.is_numeric());
    }
    let end = run(0, char::is_whitespace);
    let last = rest[..end].chars().next_back().map_or(0, char::len_utf8);
    if end == rest.len() || end == last { end } else { end - last }
}
