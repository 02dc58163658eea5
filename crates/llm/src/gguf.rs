//! The GGUF container (versions 2 and 3): metadata and tensor directory, read without copying and without trust.
//!
//! Every length is checked against the bytes that are there before anything is built from it, so a hostile file can
//! cost at most one walk over itself. Arrays stay where they are in the file and are decoded when asked for.

use crate::error::Refusal;
use std::collections::BTreeMap;
use std::fmt;

/// Most metadata entries read from one file.
pub const MAX_META: u64 = 4096;
/// Most tensors read from one file.
pub const MAX_TENSORS: u64 = 4096;
/// Longest string outside arrays: templates are some kilobytes.
pub const MAX_STRING: u64 = 1 << 20;
/// Most dimensions of a tensor, as the format says.
pub const MAX_DIMS: u32 = 4;

/// Why a file is not a usable GGUF container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GgufError {
    /// The first four bytes are not `GGUF`.
    Magic([u8; 4]),
    /// A version other than 2 or 3.
    Version(u32),
    /// The file ends inside this part.
    Truncated {
        /// Which part.
        part: String,
        /// Byte position at which more was wanted.
        at: usize,
    },
    /// A count or length above its bound.
    TooMany {
        /// Which count.
        what: &'static str,
        /// The bound.
        max: u64,
        /// The count in the file.
        found: u64,
    },
    /// A metadata value of a kind that the format does not know.
    ValueType {
        /// The key.
        key: String,
        /// The kind's number.
        found: u32,
    },
    /// A string that is not UTF-8.
    NotText {
        /// Byte position of the string.
        at: usize,
    },
    /// The same key or tensor name twice.
    Twice(String),
    /// Alignment that is zero or no power of two.
    Alignment(u64),
    /// A tensor type this engine cannot even measure.
    TensorType {
        /// Tensor name.
        tensor: String,
        /// The type's number.
        found: u32,
    },
    /// Dimensions that are zero, overflow, or do not fill whole blocks.
    Dims {
        /// Tensor name.
        tensor: String,
        /// The dimensions.
        found: Vec<u64>,
    },
    /// A tensor that starts off the alignment.
    Unaligned {
        /// Tensor name.
        tensor: String,
        /// Its offset.
        found: u64,
    },
    /// A tensor that reaches beyond the file.
    OutOfFile {
        /// Tensor name.
        tensor: String,
        /// Where it would end.
        end: u64,
        /// Where the file ends.
        file: u64,
    },
    /// Two tensors that share bytes.
    Overlap {
        /// First tensor.
        first: String,
        /// Second tensor.
        second: String,
    },
}

impl GgufError {
    /// The refusal to show.
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::Magic(b) => Refusal::new("gguf-magic", "file", "GGUF", format!("{b:02x?}")),
            Self::Version(v) => Refusal::new("gguf-version", "file", "2 or 3", v.to_string()),
            Self::Truncated { part, at } => {
                Refusal::new("gguf-truncated", part.clone(), "more bytes", format!("end of file at {at}"))
            }
            Self::TooMany { what, max, found } => {
                Refusal::new("gguf-too-many", *what, format!("at most {max}"), found.to_string())
            }
            Self::ValueType { key, found } => {
                Refusal::new("gguf-value-type", key.clone(), "a value kind 0 to 12", found.to_string())
            }
            Self::NotText { at } => Refusal::new("gguf-text", format!("string at {at}"), "UTF-8", "other bytes"),
            Self::Twice(name) => Refusal::new("gguf-twice", name.clone(), "one entry", "two"),
            Self::Alignment(a) => Refusal::new("gguf-alignment", "general.alignment", "a power of two", a.to_string()),
            Self::TensorType { tensor, found } => Refusal::new(
                "gguf-tensor-type",
                tensor.clone(),
                "F32, F16, Q4_0, Q4_1 or Q8_0",
                format!("type {found}"),
            ),
            Self::Dims { tensor, found } => {
                Refusal::new("gguf-dims", tensor.clone(), "1 to 4 sizes that fill whole blocks", format!("{found:?}"))
            }
            Self::Unaligned { tensor, found } => {
                Refusal::new("gguf-unaligned", tensor.clone(), "an aligned offset", found.to_string())
            }
            Self::OutOfFile { tensor, end, file } => {
                Refusal::new("gguf-out-of-file", tensor.clone(), format!("an end within {file} bytes"), end.to_string())
            }
            Self::Overlap { first, second } => {
                Refusal::new("gguf-overlap", second.clone(), "bytes of its own", format!("bytes of {first}"))
            }
        }
    }
}

impl fmt::Display for GgufError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal().fmt(f)
    }
}
impl std::error::Error for GgufError {}

/// How a tensor's numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// 32-bit floats.
    F32,
    /// 16-bit floats; measured but not run.
    F16,
    /// Blocks of 32: f16 scale, 16 bytes of nibbles, value = d (n - 8).
    Q4_0,
    /// Blocks of 32: f16 scale, f16 minimum, 16 bytes of nibbles, value = d n + m.
    Q4_1,
    /// Blocks of 32: f16 scale, 32 signed bytes.
    Q8_0,
}

impl Dtype {
    fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            0 => Self::F32,
            1 => Self::F16,
            2 => Self::Q4_0,
            3 => Self::Q4_1,
            8 => Self::Q8_0,
            _ => return None,
        })
    }
    /// Numbers in a block and bytes of a block.
    pub const fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 => (1, 2),
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q8_0 => (32, 34),
        }
    }
}

/// One entry of the tensor directory; `at` and `len` are byte positions inside the file and were checked against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Sizes, fastest first: `[columns, rows]` for a matrix.
    pub dims: Vec<usize>,
    /// Storage.
    pub dtype: Dtype,
    /// First byte in the file.
    pub at: usize,
    /// Length in bytes.
    pub len: usize,
}

/// A metadata value. Arrays are kept as a place in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Any unsigned number.
    U(u64),
    /// Any signed number.
    I(i64),
    /// Any float.
    F(f64),
    /// A truth value.
    B(bool),
    /// A string.
    S(&'a str),
    /// An array: kind of its elements, how many, the bytes from its first element on.
    A(u32, usize, &'a [u8]),
}

/// A parsed container over the file's bytes.
#[derive(Debug)]
pub struct Gguf<'a> {
    meta: BTreeMap<&'a str, Value<'a>>,
    /// The tensor directory by name.
    pub tensors: BTreeMap<&'a str, Tensor>,
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, n: u64, part: &str) -> Result<&'a [u8], GgufError> {
        let rest = &self.bytes[self.at..];
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let got = rest.get(..n).ok_or_else(|| GgufError::Truncated { part: part.to_owned(), at: self.bytes.len() })?;
        self.at += n;
        Ok(got)
    }
    fn array<const N: usize>(&mut self, part: &str) -> Result<[u8; N], GgufError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N as u64, part)?);
        Ok(out)
    }
    fn u32(&mut self, part: &str) -> Result<u32, GgufError> {
        Ok(u32::from_le_bytes(self.array(part)?))
    }
    fn u64(&mut self, part: &str) -> Result<u64, GgufError> {
        Ok(u64::from_le_bytes(self.array(part)?))
    }
    fn string(&mut self, part: &str, max: u64) -> Result<&'a str, GgufError> {
        let n = self.u64(part)?;
        if n > max {
            return Err(GgufError::TooMany { what: "bytes of a string", max, found: n });
        }
        let at = self.at;
        std::str::from_utf8(self.take(n, part)?).map_err(|_| GgufError::NotText { at })
    }
    fn value(&mut self, kind: u32, key: &str) -> Result<Value<'a>, GgufError> {
        Ok(match kind {
            0 => Value::U(u64::from(self.array::<1>(key)?[0])),
            1 => Value::I(i64::from(i8::from_le_bytes(self.array(key)?))),
            2 => Value::U(u64::from(u16::from_le_bytes(self.array(key)?))),
            3 => Value::I(i64::from(i16::from_le_bytes(self.array(key)?))),
            4 => Value::U(u64::from(self.u32(key)?)),
            5 => Value::I(i64::from(i32::from_le_bytes(self.array(key)?))),
            6 => Value::F(f64::from(f32::from_le_bytes(self.array(key)?))),
            7 => Value::B(self.array::<1>(key)?[0] != 0),
            8 => Value::S(self.string(key, MAX_STRING)?),
            9 => {
                let kind = self.u32(key)?;
                let n = self.u64(key)?;
                let from = self.at;
                match kind {
                    8 => {
                        for _ in 0..n {
                            let len = self.u64(key)?;
                            self.take(len, key)?;
                        }
                    }
                    _ => {
                        let size = scalar_size(kind)
                            .ok_or_else(|| GgufError::ValueType { key: key.to_owned(), found: kind })?;
                        self.take(n.saturating_mul(size), key)?;
                    }
                }
                // n elements were just walked, so n fits the address space
                Value::A(kind, n as usize, &self.bytes[from..self.at])
            }
            10 => Value::U(self.u64(key)?),
            11 => Value::I(i64::from_le_bytes(self.array(key)?)),
            12 => Value::F(f64::from_le_bytes(self.array(key)?)),
            found => return Err(GgufError::ValueType { key: key.to_owned(), found }),
        })
    }
}

const fn scalar_size(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

impl<'a> Gguf<'a> {
    /// Reads metadata and tensor directory.
    ///
    /// # Errors
    /// [`GgufError`] names the first thing that is wrong.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, GgufError> {
        let mut c = Cursor { bytes, at: 0 };
        let magic = c.array::<4>("magic")?;
        if &magic != b"GGUF" {
            return Err(GgufError::Magic(magic));
        }
        let version = c.u32("version")?;
        if !(2..=3).contains(&version) {
            return Err(GgufError::Version(version));
        }
        let tensor_count = bounded("tensors", c.u64("tensor count")?, MAX_TENSORS)?;
        let meta_count = bounded("metadata entries", c.u64("metadata count")?, MAX_META)?;
        let mut meta = BTreeMap::new();
        for _ in 0..meta_count {
            let key = c.string("metadata key", MAX_STRING)?;
            let kind = c.u32(key)?;
            let value = c.value(kind, key)?;
            if meta.insert(key, value).is_some() {
                return Err(GgufError::Twice(key.to_owned()));
            }
        }
        let align = match meta.get("general.alignment") {
            None => 32,
            Some(Value::U(a)) if a.is_power_of_two() && *a <= 1 << 16 => *a,
            Some(Value::U(a)) => return Err(GgufError::Alignment(*a)),
            Some(_) => return Err(GgufError::Alignment(0)),
        };
        let mut directory = Vec::new();
        for _ in 0..tensor_count {
            directory.push(entry(&mut c, align)?);
        }
        let start = (c.at as u64).div_ceil(align) * align;
        let mut tensors = BTreeMap::new();
        for (name, dims, dtype, offset, len) in directory {
            let file = bytes.len() as u64;
            let end = start.saturating_add(offset).saturating_add(len);
            if end > file {
                return Err(GgufError::OutOfFile { tensor: name.to_owned(), end, file });
            }
            // both fit usize: the end was just seen to lie within the slice
            let tensor = Tensor { dims, dtype, at: (start + offset) as usize, len: len as usize };
            if tensors.insert(name, tensor).is_some() {
                return Err(GgufError::Twice(name.to_owned()));
            }
        }
        let mut order: Vec<_> = tensors.iter().collect();
        order.sort_by_key(|(_, t)| t.at);
        for pair in order.windows(2) {
            let ((first, a), (second, b)) = (pair[0], pair[1]);
            if a.at + a.len > b.at {
                return Err(GgufError::Overlap { first: (*first).to_owned(), second: (*second).to_owned() });
            }
        }
        Ok(Self { meta, tensors })
    }

    /// A metadata value.
    pub fn value(&self, key: &str) -> Option<Value<'a>> {
        self.meta.get(key).copied()
    }
    /// A non-negative whole number.
    pub fn uint(&self, key: &str) -> Option<u64> {
        match self.value(key)? {
            Value::U(u) => Some(u),
            Value::I(i) => u64::try_from(i).ok(),
            _ => None,
        }
    }
    /// A float.
    pub fn float(&self, key: &str) -> Option<f32> {
        match self.value(key)? {
            Value::F(f) => Some(f as f32),
            _ => None,
        }
    }
    /// A string.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        match self.value(key)? {
            Value::S(s) => Some(s),
            _ => None,
        }
    }
    /// An array of strings, each as its bytes.
    pub fn strings(&self, key: &str) -> Option<impl ExactSizeIterator<Item = &'a [u8]>> {
        match self.value(key)? {
            Value::A(8, n, bytes) => Some(Strings { left: n, bytes }),
            _ => None,
        }
    }
    /// An array of 32-bit whole numbers.
    pub fn ints(&self, key: &str) -> Option<impl ExactSizeIterator<Item = i32>> {
        match self.value(key)? {
            Value::A(4 | 5, _, bytes) => Some(bytes.as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b))),
            _ => None,
        }
    }
}

/// Walks the strings of an array whose lengths were checked while parsing.
struct Strings<'a> {
    left: usize,
    bytes: &'a [u8],
}
impl<'a> Iterator for Strings<'a> {
    type Item = &'a [u8];
    fn next(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        let (len, rest) = self.bytes.split_first_chunk::<8>()?;
        let (text, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        self.bytes = rest;
        Some(text)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}
impl ExactSizeIterator for Strings<'_> {}

fn bounded(what: &'static str, found: u64, max: u64) -> Result<u64, GgufError> {
    if found > max { Err(GgufError::TooMany { what, max, found }) } else { Ok(found) }
}

type Entry<'a> = (&'a str, Vec<usize>, Dtype, u64, u64);

fn entry<'a>(c: &mut Cursor<'a>, align: u64) -> Result<Entry<'a>, GgufError> {
    let name = c.string("tensor name", MAX_STRING)?;
    let dim_count = c.u32(name)?;
    if dim_count == 0 || dim_count > MAX_DIMS {
        return Err(GgufError::TooMany {
            what: "dimensions of a tensor",
            max: u64::from(MAX_DIMS),
            found: u64::from(dim_count),
        });
    }
    let mut found = Vec::new();
    for _ in 0..dim_count {
        found.push(c.u64(name)?);
    }
    let code = c.u32(name)?;
    let dtype = Dtype::from_code(code).ok_or_else(|| GgufError::TensorType { tensor: name.to_owned(), found: code })?;
    let offset = c.u64(name)?;
    if offset % align != 0 {
        return Err(GgufError::Unaligned { tensor: name.to_owned(), found: offset });
    }
    let (per, size) = dtype.block();
    let bad = || GgufError::Dims { tensor: name.to_owned(), found: found.clone() };
    let count = found.iter().try_fold(1u64, |a, d| a.checked_mul(*d)).ok_or_else(bad)?;
    if count == 0 || found[0] % per as u64 != 0 {
        return Err(bad());
    }
    let len = (count / per as u64).checked_mul(size as u64).ok_or_else(bad)?;
    let dims = found.iter().map(|d| usize::try_from(*d).map_err(|_| bad())).collect::<Result<Vec<_>, _>>()?;
    Ok((name, dims, dtype, offset, len))
}
