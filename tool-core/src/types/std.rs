//! Schemas of the types of `core`, `alloc` and `std`, and of `serde_json`'s values.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use super::ToolType;
use crate::schema::{IntegerRange, Kind, Lengths, Schema};

/// `EXACT` is true for these: serde accepts just what their schema describes.
macro_rules! scalars {
    ($($type:ty => $schema:expr;)*) => {$(
        impl ToolType for $type {
            const SCHEMA: &'static Schema = &$schema;
            const EXACT: bool = true;
        }
    )*};
}

scalars! {
    bool => Schema::BOOLEAN;
    char => Schema::of(Kind::String(Lengths::exactly(1)));
    f32 => Schema::NUMBER;
    f64 => Schema::NUMBER;
    str => Schema::STRING;
    String => Schema::STRING;
    &'static str => Schema::STRING;
    Cow<'_, str> => Schema::STRING;
}

/// What an integer type shows of its limits: a model needs no telling that a number of days is
/// below two to the thirty-first.
macro_rules! integers {
    ($($type:ty: $minimum:expr, $maximum:expr, shows $shows_minimum:expr, $shows_maximum:expr;)*) => {
        scalars! {$(
            $type => Schema::of(Kind::Integer(IntegerRange {
                minimum: $minimum,
                maximum: $maximum,
                shows_minimum: $shows_minimum,
                shows_maximum: $shows_maximum,
            }));
        )*}
    };
}

integers! {
    u8: 0, u8::MAX as i128, shows true, true;
    i8: i8::MIN as i128, i8::MAX as i128, shows true, true;
    u16: 0, u16::MAX as i128, shows true, true;
    i16: i16::MIN as i128, i16::MAX as i128, shows true, true;
    u32: 0, u32::MAX as i128, shows true, false;
    i32: i32::MIN as i128, i32::MAX as i128, shows false, false;
    u64: 0, u64::MAX as i128, shows true, false;
    i64: i64::MIN as i128, i64::MAX as i128, shows false, false;
    usize: 0, usize::MAX as i128, shows true, false;
    isize: isize::MIN as i128, isize::MAX as i128, shows false, false;
    // `i128::MAX` stands for no limit: decoding knows the rest.
    u128: 0, i128::MAX, shows true, false;
    i128: i128::MIN, i128::MAX, shows false, false;
}

impl ToolType for serde_json::Value {
    const SCHEMA: &'static Schema = &Schema::ANY;
}

impl ToolType for serde_json::Map<String, serde_json::Value> {
    const SCHEMA: &'static Schema = &Schema::map(&Schema::ANY);
}

impl<T: ToolType> ToolType for Option<T> {
    const SCHEMA: &'static Schema = match T::SCHEMA.kind {
        Kind::Nullable(_) => T::SCHEMA,
        _ => const { &Schema::nullable(T::SCHEMA) },
    };
    const EXACT: bool = T::EXACT;
}

macro_rules! sequences {
    ($($type:ty),*) => {$(
        impl<T: ToolType> ToolType for $type {
            const SCHEMA: &'static Schema = &Schema::array(T::SCHEMA);
            const EXACT: bool = T::EXACT;
        }
    )*};
}

sequences!(Vec<T>, [T], VecDeque<T>, LinkedList<T>, BTreeSet<T>);

impl<T: ToolType, S> ToolType for HashSet<T, S> {
    const SCHEMA: &'static Schema = &Schema::array(T::SCHEMA);
    const EXACT: bool = T::EXACT;
}

impl<T: ToolType, const N: usize> ToolType for [T; N] {
    const SCHEMA: &'static Schema = &Schema::of(Kind::Array(T::SCHEMA, Lengths::exactly(N)));
    const EXACT: bool = T::EXACT;
}

/// The keys of a map that are any string.
pub trait StringKey {}
impl StringKey for String {}
impl StringKey for Cow<'_, str> {}
impl StringKey for Box<str> {}

// Maps are not exact: serde lets a later duplicate key replace an earlier one.
impl<K: StringKey, V: ToolType, S> ToolType for HashMap<K, V, S> {
    const SCHEMA: &'static Schema = &Schema::map(V::SCHEMA);
}

impl<K: StringKey, V: ToolType> ToolType for BTreeMap<K, V> {
    const SCHEMA: &'static Schema = &Schema::map(V::SCHEMA);
}

macro_rules! pointers {
    ($($type:ty),*) => {$(
        impl<T: ToolType + ?Sized> ToolType for $type {
            const SCHEMA: &'static Schema = T::SCHEMA;
            const EXACT: bool = T::EXACT;
        }
    )*};
}

pointers!(Box<T>, Rc<T>, Arc<T>);
