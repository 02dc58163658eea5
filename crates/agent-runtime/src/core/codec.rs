//! The one encoding: self-describing, one byte string a value. Maps and structs are sorted by the
//! bytes of their keys, integers are shortest, floats do not exist, absent is not null. The value
//! that was decoded is encoded again and compared, so a value has one byte string and no other.

mod read;
mod write;

use kernel::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::refuse::refusals;

/// Deepest nesting of a value.
pub const DEPTH_MAX: usize = 64;

/// What bytes claim to be. An unknown name or version is an error, never ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaTag {
    /// Name.
    pub name: &'static str,
    /// Version.
    pub version: u16,
}

/// Why bytes are not a record, or a value has no bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecRefusal {
    /// Another schema or version.
    #[error("the bytes are “{0}”, not the schema that was asked for")]
    SchemaUnknown(String),
    /// Cut, too deep, or of no known kind.
    #[error("the bytes are broken: {0}")]
    Malformed(&'static str),
    /// The same value has other bytes.
    #[error("the bytes are not in canonical form")]
    NotCanonical,
    /// Unknown or missing fields, wrong kinds, values out of bounds.
    #[error("{0}")]
    Shape(String),
    /// There are no floats.
    #[error("a float has no canonical form")]
    Float,
}

refusals!(CodecRefusal => "The record");

/// A value, between types and bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Uint(u64),
    Negative(i64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Self>),
    /// Sorted by the keys' bytes, each once.
    Map(Vec<(Self, Self)>),
}

/// The record's bytes, led by its schema.
///
/// # Errors
/// [`CodecRefusal`] for a float, or a type that does not serialise.
pub fn encode<T: Serialize + ?Sized>(tag: SchemaTag, value: &T) -> Result<Vec<u8>, CodecRefusal> {
    let mut out = Vec::new();
    write::put(&write::value(&(tag.name, tag.version, value))?, &mut out);
    Ok(out)
}

/// The record in `bytes`, if they are exactly one of this schema.
///
/// # Errors
/// [`CodecRefusal`] for everything else.
pub fn decode<T: Serialize + DeserializeOwned>(tag: SchemaTag, bytes: &[u8]) -> Result<T, CodecRefusal> {
    let Value::List(parts) = read::whole(bytes)? else { return Err(CodecRefusal::Malformed("no record")) };
    let Ok([name, version, value]) = <[Value; 3]>::try_from(parts) else {
        return Err(CodecRefusal::Malformed("no record"));
    };
    if name != Value::Text(tag.name.into()) || version != Value::Uint(tag.version.into()) {
        let shown: String = format!("{name:?} {version:?}").chars().take(80).collect();
        return Err(CodecRefusal::SchemaUnknown(shown));
    }
    let decoded = T::deserialize(value)?;
    // The typed value, since a type takes more forms than it gives, such as a list for a struct.
    if encode(tag, &decoded)? != bytes {
        return Err(CodecRefusal::NotCanonical);
    }
    Ok(decoded)
}

/// The digest of a value in a domain of its own. No type of this crate fails to encode; one that
/// did would have the digest of its error, which equals no value's.
#[must_use]
pub fn digest_of<T: Serialize + ?Sized>(domain: &'static str, value: &T) -> Digest {
    let tag = SchemaTag { name: domain, version: 0 };
    match encode(tag, value) {
        Ok(bytes) => Digest::of(&bytes),
        Err(error) => Digest::of_parts(&[domain.as_bytes(), error.to_string().as_bytes()]),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    const TAG: SchemaTag = SchemaTag { name: "sample", version: 1 };

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        z: u64,
        a: Option<i64>,
        kind: Kind,
        map: BTreeMap<(u8, String), Vec<bool>>,
    }
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Kind {
        Unit,
        New(Digest),
        Pair(u8, i8),
        Named { text: String },
    }

    fn kinds() -> impl Strategy<Value = Kind> {
        prop_oneof![
            Just(Kind::Unit),
            any::<[u8; 32]>().prop_map(|b| Kind::New(Digest(b))),
            any::<(u8, i8)>().prop_map(|(a, b)| Kind::Pair(a, b)),
            ".{0,8}".prop_map(|text| Kind::Named { text }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn what_is_encoded_comes_back_and_every_changed_byte_is_noticed(
            z: u64, a: Option<i64>, kind in kinds(),
            map in proptest::collection::btree_map((any::<u8>(), ".{0,3}"), proptest::collection::vec(any::<bool>(), 0..4), 0..4),
            at: prop::sample::Index, bit in 0u8..8,
        ) {
            let sample = Sample { z, a, kind, map };
            let bytes = encode(TAG, &sample).expect("encodes");
            prop_assert_eq!(decode::<Sample>(TAG, &bytes), Ok(sample.clone()));
            let mut other = bytes.clone();
            other[at.index(bytes.len())] ^= 1 << bit;
            prop_assert_ne!(decode::<Sample>(TAG, &other), Ok(sample));
            prop_assert!(decode::<Sample>(TAG, &bytes[..at.index(bytes.len())]).is_err());
        }
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = decode::<Sample>(TAG, &bytes);
        }
    }

    #[test]
    fn every_refusal_of_the_codec_is_produced() {
        let ok = encode(TAG, &Kind::Unit).expect("encodes");
        let other = SchemaTag { name: "sample", version: 2 };
        assert!(matches!(decode::<Kind>(other, &ok), Err(CodecRefusal::SchemaUnknown(_))));
        assert!(matches!(decode::<Kind>(TAG, b""), Err(CodecRefusal::Malformed(_))));
        assert!(matches!(decode::<Kind>(TAG, &[0xff]), Err(CodecRefusal::Malformed(_))));
        assert!(matches!(decode::<u64>(TAG, &ok), Err(CodecRefusal::Shape(_))));
        assert_eq!(encode(TAG, &1.5f64), Err(CodecRefusal::Float));
        let mut tail = ok.clone();
        tail.push(0);
        assert!(decode::<Kind>(TAG, &tail).is_err());
        // Deep nesting ends in a refusal, not in the stack's end.
        assert_eq!(decode::<Kind>(TAG, &[0xe1; 4096]), Err(CodecRefusal::Malformed("too deep")));
    }

    #[test]
    fn unknown_fields_and_long_integers_are_refused() {
        let extra: BTreeMap<&str, u64> = [("z", 1), ("zz", 2)].into();
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct One {
            z: u64,
        }
        let bytes = encode(TAG, &extra).expect("encodes");
        assert!(matches!(decode::<One>(TAG, &bytes), Err(CodecRefusal::Shape(_))));
        // 5 written in nine bytes.
        let mut long = encode(TAG, &5u64).expect("encodes");
        assert_eq!(long.pop(), Some(5));
        long.extend([0x80, 0, 0, 0, 0, 0, 0, 0, 5]);
        assert_eq!(decode::<u64>(TAG, &long), Err(CodecRefusal::NotCanonical));
        // A struct written as a list; a number that is not negative, written as one that is.
        let list = encode(TAG, &(5u64,)).expect("encodes");
        assert_eq!(decode::<One>(TAG, &list), Err(CodecRefusal::NotCanonical));
        let mut signed = encode(TAG, &128u64).expect("encodes");
        let kind = signed.len() - 9;
        assert_eq!(std::mem::replace(&mut signed[kind], 0x81), 0x80);
        assert_eq!(decode::<u64>(TAG, &signed), Err(CodecRefusal::NotCanonical));
    }

    #[test]
    fn digests_know_their_domain() {
        assert_ne!(digest_of("a", &1u8), digest_of("b", &1u8));
        assert_eq!(digest_of("a", &1u8), digest_of("a", &1u64));
    }
}
