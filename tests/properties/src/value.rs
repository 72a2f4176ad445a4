//! Values of a type that JSON cannot express or that its schema does not allow: NaN, infinity, and
//! values that violate constraints.
//!
//! A value is decoded by the type's own `Deserialize`, without tool-core, from JSON in which parts are
//! replaced at random.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use crate::random::Random;

/// Decodes a value from JSON, with some parts replaced, numbers also by NaN or infinity.
pub fn decode<T: DeserializeOwned>(json: &Value, random: &mut Random) -> Option<T> {
    T::deserialize(Node::new(json, random)).ok()
}

type Error = serde::de::value::Error;

/// JSON with numbers that JSON does not have.
#[derive(Clone)]
enum Node {
    Null,
    Bool(bool),
    Unsigned(u128),
    Signed(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Members(Vec<(String, Node)>),
}

impl Node {
    #[allow(
        clippy::same_functions_in_if_condition,
        reason = "each draws another number"
    )]
    fn new(json: &Value, random: &mut Random) -> Node {
        match json {
            Value::Null => Node::Null,
            Value::Bool(value) => Node::Bool(*value),
            Value::Number(_) if random.percent(15) => {
                Node::Float(*random.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]))
            }
            Value::Number(_) if random.percent(10) => {
                Node::Unsigned(*random.pick(&[0, 1, 7, 101, 200, 255]))
            }
            Value::Number(number) => {
                if let Some(number) = number.as_u64() {
                    Node::Unsigned(number.into())
                } else if let Some(number) = number.as_i64() {
                    Node::Signed(number.into())
                } else {
                    Node::Float(number.as_f64().unwrap_or_default())
                }
            }
            Value::String(_) if random.percent(10) => {
                Node::Text((*random.pick(&["", "zzzzzzzz", "Q", "_"])).to_owned())
            }
            Value::String(text) => Node::Text(text.clone()),
            Value::Array(items) => {
                let mut nodes: Vec<_> = items.iter().map(|item| Node::new(item, random)).collect();
                if random.percent(10) {
                    nodes.extend_from_within(..);
                } else if random.percent(10) {
                    nodes.clear();
                }
                Node::List(nodes)
            }
            Value::Object(members) => Node::Members(
                members
                    .iter()
                    .map(|(key, value)| (key.clone(), Node::new(value, random)))
                    .collect(),
            ),
        }
    }
}

macro_rules! as_any {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.deserialize_any(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Node::Null => visitor.visit_unit(),
            Node::Bool(value) => visitor.visit_bool(value),
            Node::Unsigned(number) => match u64::try_from(number) {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => visitor.visit_u128(number),
            },
            Node::Signed(number) => match i64::try_from(number) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => visitor.visit_i128(number),
            },
            Node::Float(number) => visitor.visit_f64(number),
            Node::Text(text) => visitor.visit_string(text),
            Node::List(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter())),
            Node::Members(members) => {
                let members = members.into_iter().map(|(key, value)| (Key(key), value));
                visitor.visit_map(MapDeserializer::new(members))
            }
        }
    }

    as_any! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit deserialize_seq
        deserialize_map deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Node::Null => visitor.visit_none(),
            node => visitor.visit_some(node),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Node::Text(text) => visitor.visit_enum(text.into_deserializer()),
            Node::Members(mut members) if members.len() == 1 => {
                let (name, content) = members.remove(0);
                visitor.visit_enum(Tagged { name, content })
            }
            _ => Err(Error::invalid_type(
                Unexpected::Other("no variant"),
                &visitor,
            )),
        }
    }
}

impl IntoDeserializer<'_, Error> for Node {
    type Deserializer = Node;

    fn into_deserializer(self) -> Node {
        self
    }
}

/// An externally tagged variant.
struct Tagged {
    name: String,
    content: Node,
}

impl<'de> EnumAccess<'de> for Tagged {
    type Error = Error;
    type Variant = Node;

    fn variant_seed<V: serde::de::DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Node), Error> {
        let name = seed.deserialize(self.name.into_deserializer())?;
        Ok((name, self.content))
    }
}

impl<'de> VariantAccess<'de> for Node {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        <()>::deserialize(self)
    }

    fn newtype_variant_seed<T: serde::de::DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }
}

/// A key of an object, which may be an integer in quotes.
struct Key(String);

macro_rules! parsed {
    ($($method:ident $visit:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => visitor.visit_string(self.0),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for Key {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.0)
    }

    parsed! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32
        deserialize_i64 visit_i64 deserialize_i128 visit_i128
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32
        deserialize_u64 visit_u64 deserialize_u128 visit_u128
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, Error> for Key {
    type Deserializer = Key;

    fn into_deserializer(self) -> Key {
        self
    }
}
