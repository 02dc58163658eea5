//! Types to values to bytes.

use serde::ser::{self, Serialize};

use super::{CodecRefusal, Value};

impl ser::Error for CodecRefusal {
    fn custom<T: std::fmt::Display>(msg: T) -> Self {
        Self::Shape(msg.to_string().chars().take(200).collect())
    }
}

/// The value of anything that serialises.
pub(super) fn value<T: Serialize + ?Sized>(from: &T) -> Result<Value, CodecRefusal> {
    from.serialize(Writer)
}

/// One byte a kind, one byte for a small number; otherwise eight bytes, the highest first.
pub(super) fn put(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Uint(n @ 0..=0x7f) => out.push(*n as u8),
        Value::Uint(n) => number(0x80, *n, out),
        Value::Negative(n) => number(0x81, *n as u64, out),
        Value::Null => out.push(0x82),
        Value::Bool(b) => out.push(0x83 + u8::from(*b)),
        Value::Bytes(b) => {
            number(0x85, b.len() as u64, out);
            out.extend(b);
        }
        Value::Text(t) => {
            length(0xa0, t.len(), out);
            out.extend(t.as_bytes());
        }
        Value::List(items) => {
            length(0xe0, items.len(), out);
            items.iter().for_each(|i| put(i, out));
        }
        Value::Map(pairs) => {
            length(0xc0, pairs.len(), out);
            for (k, v) in pairs {
                put(k, out);
                put(v, out);
            }
        }
    }
}

fn number(kind: u8, n: u64, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend(n.to_be_bytes());
}

/// 31 lengths in the kind's own byte, any other behind it.
fn length(kind: u8, n: usize, out: &mut Vec<u8>) {
    match u8::try_from(n) {
        Ok(n @ 0..=0x1e) => out.push(kind + n),
        _ => number(kind + 0x1f, n as u64, out),
    }
}

pub(super) fn bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    put(value, &mut out);
    out
}

fn map(mut pairs: Vec<(Value, Value)>) -> Result<Value, CodecRefusal> {
    pairs.sort_by_cached_key(|(k, _)| bytes(k));
    if pairs.windows(2).any(|w| w[0].0 == w[1].0) {
        return Err(CodecRefusal::NotCanonical);
    }
    Ok(Value::Map(pairs))
}

fn text(s: &str) -> Value {
    Value::Text(s.to_owned())
}

struct Writer;

type Done = Result<Value, CodecRefusal>;

/// Collects a list, or a map, perhaps as the content of an enum's variant.
pub(super) struct Collect {
    variant: Option<&'static str>,
    items: Vec<Value>,
    pairs: Vec<(Value, Value)>,
    key: Option<Value>,
}

impl Collect {
    fn new(variant: Option<&'static str>) -> Self {
        Self { variant, items: Vec::new(), pairs: Vec::new(), key: None }
    }
    fn wrap(variant: Option<&'static str>, inner: Value) -> Value {
        match variant {
            Some(name) => Value::Map(vec![(text(name), inner)]),
            None => inner,
        }
    }
    fn list(self) -> Done {
        Ok(Self::wrap(self.variant, Value::List(self.items)))
    }
    fn map(self) -> Done {
        Ok(Self::wrap(self.variant, map(self.pairs)?))
    }
}

macro_rules! plain {
    ($($name:ident: $t:ty => |$v:ident| $e:expr;)*) => {$(
        fn $name(self, $v: $t) -> Done { $e }
    )*};
}

impl ser::Serializer for Writer {
    type Ok = Value;
    type Error = CodecRefusal;
    type SerializeSeq = Collect;
    type SerializeTuple = Collect;
    type SerializeTupleStruct = Collect;
    type SerializeTupleVariant = Collect;
    type SerializeMap = Collect;
    type SerializeStruct = Collect;
    type SerializeStructVariant = Collect;

    plain! {
        serialize_bool: bool => |v| Ok(Value::Bool(v));
        serialize_i8: i8 => |v| Writer.serialize_i64(v.into());
        serialize_i16: i16 => |v| Writer.serialize_i64(v.into());
        serialize_i32: i32 => |v| Writer.serialize_i64(v.into());
        serialize_i64: i64 => |v| Ok(u64::try_from(v).map_or(Value::Negative(v), Value::Uint));
        serialize_u8: u8 => |v| Ok(Value::Uint(v.into()));
        serialize_u16: u16 => |v| Ok(Value::Uint(v.into()));
        serialize_u32: u32 => |v| Ok(Value::Uint(v.into()));
        serialize_u64: u64 => |v| Ok(Value::Uint(v));
        serialize_f32: f32 => |_v| Err(CodecRefusal::Float);
        serialize_f64: f64 => |_v| Err(CodecRefusal::Float);
        serialize_char: char => |v| Ok(Value::Text(v.into()));
        serialize_str: &str => |v| Ok(text(v));
        serialize_bytes: &[u8] => |v| Ok(Value::Bytes(v.to_vec()));
        serialize_unit_struct: &'static str => |_v| Ok(Value::Null);
    }
    fn serialize_none(self) -> Done {
        Ok(Value::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Done {
        v.serialize(self)
    }
    fn serialize_unit(self) -> Done {
        Ok(Value::Null)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        Ok(text(variant))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, v: &T) -> Done {
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        v: &T,
    ) -> Done {
        Ok(Collect::wrap(Some(variant), value(v)?))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Collect, CodecRefusal> {
        Ok(Collect::new(None))
    }
    fn serialize_tuple(self, _: usize) -> Result<Collect, CodecRefusal> {
        Ok(Collect::new(None))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Collect, CodecRefusal> {
        Ok(Collect::new(None))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Collect, CodecRefusal> {
        Ok(Collect::new(Some(variant)))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Collect, CodecRefusal> {
        Ok(Collect::new(None))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Collect, CodecRefusal> {
        Ok(Collect::new(None))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Collect, CodecRefusal> {
        Ok(Collect::new(Some(variant)))
    }
    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! lists {
    ($($trait:ident $method:ident;)*) => {$(
        impl ser::$trait for Collect {
            type Ok = Value;
            type Error = CodecRefusal;
            fn $method<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), CodecRefusal> {
                self.items.push(value(v)?);
                Ok(())
            }
            fn end(self) -> Done {
                self.list()
            }
        }
    )*};
}
lists! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

macro_rules! structs {
    ($($trait:ident)*) => {$(
        impl ser::$trait for Collect {
            type Ok = Value;
            type Error = CodecRefusal;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, k: &'static str, v: &T) -> Result<(), CodecRefusal> {
                self.pairs.push((text(k), value(v)?));
                Ok(())
            }
            fn end(self) -> Done {
                self.map()
            }
        }
    )*};
}
structs!(SerializeStruct SerializeStructVariant);

impl ser::SerializeMap for Collect {
    type Ok = Value;
    type Error = CodecRefusal;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, k: &T) -> Result<(), CodecRefusal> {
        self.key = Some(value(k)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), CodecRefusal> {
        let key = self.key.take().ok_or(CodecRefusal::Malformed("a value without a key"))?;
        self.pairs.push((key, value(v)?));
        Ok(())
    }
    fn end(self) -> Done {
        self.map()
    }
}
