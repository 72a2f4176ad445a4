//! Options, lists, sets, tuples, maps, and pointers to them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::ToolType;

use super::enums::{Colour, Paint};
use super::structs::Named;

type Maybe<T> = Option<T>;

/// Text that is borrowed if it has no escapes.
#[derive(Debug, PartialEq, Deserialize, Serialize, ToolType, JsonSchema)]
struct Lent<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    other: Option<Cow<'a, str>>,
    owned: Cow<'a, str>,
}

super::table! {
    both {
        option: Option<u8>;
        option_alias: Maybe<String>;
        option_option: Option<Option<bool>>;
        option_unit: Option<()>;
        option_list: Option<Vec<Option<i8>>>;
        boxed_option: Box<Option<i16>>;
        option_boxed: Option<Box<i16>>;
        option_struct: Option<Named>;
        option_enum: Option<Colour>;
        option_value: Option<Vec<Value>>;
        list: Vec<i32>;
        list_nested: Vec<Vec<Vec<u8>>>;
        list_options: Vec<Option<bool>>;
        list_structs: Vec<Named>;
        list_floats: Vec<f32>;
        boxed_list: Box<[u8]>;
        deque: VecDeque<char>;
        linked: LinkedList<bool>;
        set: BTreeSet<i64>;
        set_hash: HashSet<Colour>;
        set_strings: BTreeSet<String>;
        array_none: [u8; 0];
        array_two: [bool; 2];
        array_nested: [[i8; 2]; 2];
        array_options: [Option<u8>; 3];
        tuple_one: (u8,);
        tuple_two: (u8, String);
        tuple_options: (Option<u8>, Option<String>);
        tuple_nested: ((bool, bool), [u8; 1], Vec<(i8,)>);
        tuple_eight: (u8, i8, u16, i16, u32, i32, bool, char);
        tuple_units: ((), ());
        map: BTreeMap<String, u8>;
        map_hash: HashMap<String, Vec<Option<u8>>>;
        map_of_maps: BTreeMap<String, BTreeMap<String, bool>>;
        map_options: BTreeMap<String, Option<u8>>;
        map_values: BTreeMap<String, Value>;
        map_structs: BTreeMap<String, Named>;
        map_enum_keys: BTreeMap<Colour, u8>;
        map_enum_keys_options: BTreeMap<Colour, Option<bool>>;
        map_u8_keys: BTreeMap<u8, bool>;
        map_i16_keys: BTreeMap<i16, Vec<u8>>;
        map_u64_keys: BTreeMap<u64, i8>;
        map_i64_keys: HashMap<i64, String>;
        map_bool_keys: BTreeMap<bool, u8>;
        map_aliased_keys: BTreeMap<Paint, u8>;
        map_char_keys: BTreeMap<char, f64>;
        map_bytes: BTreeMap<String, [u8; 3]>;
        pointer_box: Box<Named>;
        pointer_rc: Rc<u8>;
        pointer_rc_str: Rc<str>;
        pointer_arc: Arc<Vec<bool>>;
        pointer_arc_slice: Arc<[i8]>;
        pointers: Box<Rc<Arc<i8>>>;
    }
    read {
        heap: BinaryHeap<u8>;
        slice: &[u8];
        slice_strings: &[String];
        slice_structs: &[Named];
        optional_slice: Option<&[i8]>;
        borrowed_map: &BTreeMap<String, u8>;
        cow_slice: Cow<'_, [u8]>;
        cow_fields: Lent<'_>;
    }
}
