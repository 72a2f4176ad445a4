//! Options, lists, sets, maps, and what points to them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use crate::schema::{Kind, Lengths, Schema};
use crate::types::{MapKey, ToolType};

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
    ($(<$($parameter:ident),*> $type:ty),* $(,)?) => {$(
        impl<T: ToolType $(, $parameter)*> ToolType for $type {
            const SCHEMA: &'static Schema = &Schema::array(T::SCHEMA);
            const EXACT: bool = T::EXACT;
        }
    )*};
}

sequences! {
    <> Vec<T>,
    <> [T],
    <> Box<[T]>,
    <> VecDeque<T>,
    <> LinkedList<T>,
    <> BinaryHeap<T>,
    // A set takes an item that comes twice; nothing is lost by it.
    <> BTreeSet<T>,
    <S> HashSet<T, S>,
}

impl<T: ToolType + Clone> ToolType for Cow<'_, [T]> {
    const SCHEMA: &'static Schema = &Schema::array(T::SCHEMA);
    const EXACT: bool = T::EXACT;
}

impl<T: ToolType, const N: usize> ToolType for [T; N] {
    const SCHEMA: &'static Schema = &Schema::array_of(T::SCHEMA, Lengths::exactly(N));
    const EXACT: bool = T::EXACT;
}

// Maps are not exact: serde lets a later duplicate key replace an earlier one.
impl<K: MapKey, V: ToolType, S> ToolType for HashMap<K, V, S> {
    const SCHEMA: &'static Schema = &Schema::map_of(K::SCHEMA, V::SCHEMA);
}

impl<K: MapKey, V: ToolType> ToolType for BTreeMap<K, V> {
    const SCHEMA: &'static Schema = &Schema::map_of(K::SCHEMA, V::SCHEMA);
}

macro_rules! pointers {
    ($($type:ty),*) => {$(
        impl<T: ToolType + ?Sized> ToolType for $type {
            const SCHEMA: &'static Schema = T::SCHEMA;
            const EXACT: bool = T::EXACT;
        }
    )*};
}

pointers!(Rc<T>, Arc<T>);

impl<T: ToolType> ToolType for Box<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
    const EXACT: bool = T::EXACT;
}
