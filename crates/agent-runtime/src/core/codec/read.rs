//! Bytes to values to types.

use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor, value};

use super::{CodecRefusal, DEPTH_MAX, Value};

impl de::Error for CodecRefusal {
    fn custom<T: std::fmt::Display>(msg: T) -> Self {
        Self::Shape(msg.to_string().chars().take(200).collect())
    }
}

/// The one value that `bytes` are.
pub(super) fn whole(bytes: &[u8]) -> Result<Value, CodecRefusal> {
    let mut rest = bytes;
    let value = one(&mut rest, 0)?;
    if rest.is_empty() { Ok(value) } else { Err(CodecRefusal::Malformed("more than one record")) }
}

fn take<'a>(rest: &mut &'a [u8], n: usize) -> Result<&'a [u8], CodecRefusal> {
    let (head, tail) = rest.split_at_checked(n).ok_or(CodecRefusal::Malformed("cut short"))?;
    *rest = tail;
    Ok(head)
}

fn number(rest: &mut &[u8]) -> Result<u64, CodecRefusal> {
    Ok(take(rest, 8)?.iter().fold(0, |n, b| n << 8 | u64::from(*b)))
}

/// A length; nothing is longer than what is left, so no memory is taken on a word alone.
fn length(kind: u8, rest: &mut &[u8]) -> Result<usize, CodecRefusal> {
    let n = match kind & 0x1f {
        0x1f => number(rest)?,
        short => short.into(),
    };
    match usize::try_from(n) {
        Ok(n) if n <= rest.len() => Ok(n),
        _ => Err(CodecRefusal::Malformed("cut short")),
    }
}

fn one(rest: &mut &[u8], depth: usize) -> Result<Value, CodecRefusal> {
    if depth > DEPTH_MAX {
        return Err(CodecRefusal::Malformed("too deep"));
    }
    let kind = take(rest, 1)?[0];
    Ok(match kind {
        0..=0x7f => Value::Uint(kind.into()),
        0x80 => Value::Uint(number(rest)?),
        0x81 => Value::Negative(number(rest)?.cast_signed()),
        0x82 => Value::Null,
        0x83 | 0x84 => Value::Bool(kind == 0x84),
        0x85 => {
            let n = length(0x1f, rest)?;
            Value::Bytes(take(rest, n)?.to_vec())
        }
        0xa0..=0xbf => {
            let n = length(kind, rest)?;
            let text = std::str::from_utf8(take(rest, n)?).map_err(|_| CodecRefusal::Malformed("no UTF-8"))?;
            Value::Text(text.to_owned())
        }
        0xe0..=0xff => {
            let n = length(kind, rest)?;
            Value::List((0..n).map(|_| one(rest, depth + 1)).collect::<Result<_, _>>()?)
        }
        0xc0..=0xdf => {
            let n = length(kind, rest)?;
            let mut pairs = Vec::new();
            let mut last: Option<&[u8]> = None;
            for _ in 0..n {
                let before = *rest;
                let key = one(rest, depth + 1)?;
                let bytes = &before[..before.len() - rest.len()];
                if last.is_some_and(|l| l >= bytes) {
                    return Err(CodecRefusal::NotCanonical);
                }
                last = Some(bytes);
                pairs.push((key, one(rest, depth + 1)?));
            }
            Value::Map(pairs)
        }
        _ => return Err(CodecRefusal::Malformed("no such kind")),
    })
}

impl<'de> IntoDeserializer<'de, CodecRefusal> for Value {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> de::Deserializer<'de> for Value {
    type Error = CodecRefusal;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecRefusal> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(b) => visitor.visit_bool(b),
            Self::Uint(n) => visitor.visit_u64(n),
            Self::Negative(n) => visitor.visit_i64(n),
            Self::Text(t) => visitor.visit_string(t),
            Self::Bytes(b) => visitor.visit_byte_buf(b),
            Self::List(items) => {
                let mut list = value::SeqDeserializer::new(items.into_iter());
                let out = visitor.visit_seq(&mut list)?;
                list.end()?;
                Ok(out)
            }
            Self::Map(pairs) => {
                let mut map = value::MapDeserializer::new(pairs.into_iter());
                let out = visitor.visit_map(&mut map)?;
                map.end()?;
                Ok(out)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecRefusal> {
        match self {
            Self::Null => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, CodecRefusal> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecRefusal> {
        match self {
            Self::Text(name) => visitor.visit_enum(Variant { name, content: None }),
            Self::Map(pairs) => match <[(Self, Self); 1]>::try_from(pairs) {
                Ok([(Self::Text(name), content)]) => visitor.visit_enum(Variant { name, content: Some(content) }),
                _ => Err(CodecRefusal::Shape("not one variant".into())),
            },
            _ => Err(CodecRefusal::Shape("not a variant".into())),
        }
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Variant {
    name: String,
    content: Option<Value>,
}

impl<'de> de::EnumAccess<'de> for Variant {
    type Error = CodecRefusal;
    type Variant = Content;
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Content), CodecRefusal> {
        Ok((seed.deserialize(Value::Text(self.name))?, Content(self.content)))
    }
}

struct Content(Option<Value>);

impl Content {
    fn some(self) -> Result<Value, CodecRefusal> {
        self.0.ok_or_else(|| CodecRefusal::Shape("a variant without its content".into()))
    }
}

impl<'de> de::VariantAccess<'de> for Content {
    type Error = CodecRefusal;
    fn unit_variant(self) -> Result<(), CodecRefusal> {
        match self.0 {
            None => Ok(()),
            Some(_) => Err(CodecRefusal::Shape("a variant with content that has none".into())),
        }
    }
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, CodecRefusal> {
        seed.deserialize(self.some()?)
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, CodecRefusal> {
        de::Deserializer::deserialize_any(self.some()?, visitor)
    }
    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, CodecRefusal> {
        de::Deserializer::deserialize_any(self.some()?, visitor)
    }
}
