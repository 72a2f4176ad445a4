//! Schemas of the types of `indexmap`.

use indexmap::{IndexMap, IndexSet};

use crate::schema::Schema;
use crate::types::ToolType;

// Not exact: serde lets a later duplicate key replace an earlier one.
impl<K: ToolType, V: ToolType, S> ToolType for IndexMap<K, V, S> {
    const SCHEMA: &'static Schema = &Schema::map_of(K::SCHEMA, V::SCHEMA);
}

// A set takes an item that comes twice; nothing is lost by it.
impl<T: ToolType, S> ToolType for IndexSet<T, S> {
    const SCHEMA: &'static Schema = &Schema::array(T::SCHEMA);
    const EXACT: bool = T::EXACT;
}
