//! Decodes types of `core`, `alloc` and `std` and the values of `serde_json`: types that contain other
//! types here, the others by serde.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::num::{NonZero, Saturating, Wrapping};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use super::Decode;
use super::reader::{ReadError, Reader, Result};
use crate::by_serde;

by_serde! {
    char, Box<str>, Cow<'a, str> ['a], f32, f64, (),
    Duration, SystemTime, serde_json::Value, serde_json::Number, serde_json::Map<String, serde_json::Value>,
    PhantomData<T> [T: ?Sized],
}

macro_rules! integers {
    ($($type:ident)*) => {
        by_serde! { $($type, NonZero<$type>, Saturating<$type>),* }
    };
}

integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }

/// Types whose plain spellings are read here, without a visitor.
macro_rules! plain {
    ($($type:ty: $eat:ident => $make:expr;)*) => {$(
        impl<'de> Decode<'de> for $type {
            #[inline]
            fn decode(reader: &mut Reader<'de>) -> Result<Self> {
                match reader.cursor.$eat() {
                    Some(value) => Ok($make(value)),
                    None => Self::deserialize(reader),
                }
            }
        }
    )*};
}

plain! {
    bool: eat_bool => bool::from;
    String: eat_plain_string => str::to_owned;
}

impl<'de, T: Decode<'de>> Decode<'de> for Option<T> {
    #[inline]
    fn decode(reader: &mut Reader<'de>) -> Result<Self> {
        if reader.cursor.peek() != b'n' {
            return T::decode(reader).map(Some);
        }
        if reader.cursor.eat_word("null") {
            Ok(None)
        } else {
            Err(ReadError::mismatch())
        }
    }
}

/// Types that are made of another one.
macro_rules! made_of {
    ($([$($generics:tt)*] $type:ty: $inner:ty => $make:expr;)*) => {$(
        impl<'de, $($generics)*> Decode<'de> for $type
        where
            $inner: Decode<'de>,
        {
            fn decode(reader: &mut Reader<'de>) -> Result<Self> {
                <$inner>::decode(reader).map($make)
            }
        }
    )*};
}

made_of! {
    [T] Box<T>: T => Box::new;
    [T] Box<[T]>: Vec<T> => Vec::into_boxed_slice;
    ['a, T: Clone] Cow<'a, [T]>: Vec<T> => Cow::Owned;
    [T: ?Sized] Rc<T>: Box<T> => Rc::from;
    [T: ?Sized] Arc<T>: Box<T> => Arc::from;
    [T] Wrapping<T>: T => Wrapping;
}

/// Collections that are filled item by item.
macro_rules! collections {
    ($($(#[$cfg:meta])* $type:ty [$($bounds:tt)*] $(, [$state:ident])?;)*) => {$(
        $(#[$cfg])*
        impl<'de, T: Decode<'de> + $($bounds)* $(, $state: BuildHasher + Default)?> Decode<'de> for $type {
            fn decode(reader: &mut Reader<'de>) -> Result<Self> {
                let mut items = Self::default();
                reader.items(|reader| {
                    items.extend(Some(T::decode(reader)?));
                    Ok(())
                })?;
                Ok(items)
            }
        }
    )*};
}

collections! {
    VecDeque<T> [];
    LinkedList<T> [];
    BinaryHeap<T> [Ord];
    BTreeSet<T> [Ord];
    HashSet<T, S> [Eq + Hash], [S];
    #[cfg(feature = "indexmap2")]
    indexmap::IndexSet<T, S> [Eq + Hash], [S];
}

impl<'de, T: Decode<'de>> Decode<'de> for Vec<T> {
    fn decode(reader: &mut Reader<'de>) -> Result<Self> {
        let mut items = Vec::new();
        reader.items(|reader| {
            items.push(T::decode(reader)?);
            Ok(())
        })?;
        Ok(items)
    }
}

impl<'de, T: Decode<'de>, const N: usize> Decode<'de> for [T; N] {
    fn decode(reader: &mut Reader<'de>) -> Result<Self> {
        let items = Vec::decode(reader)?;
        items.try_into().map_err(|_| ReadError::mismatch())
    }
}

/// Maps that are filled member by member.
macro_rules! maps {
    ($($(#[$cfg:meta])* $type:ty [$($bounds:tt)*] $(, [$state:ident])?;)*) => {$(
        $(#[$cfg])*
        impl<'de, K, V, $($state)?> Decode<'de> for $type
        where
            K: Decode<'de> + $($bounds)*,
            V: Decode<'de>,
            $($state: BuildHasher + Default,)?
        {
            fn decode(reader: &mut Reader<'de>) -> Result<Self> {
                let mut map = Self::default();
                reader.entries(|key, value| map.insert(key, value).is_none())?;
                Ok(map)
            }
        }
    )*};
}

maps! {
    BTreeMap<K, V> [Ord];
    HashMap<K, V, S> [Eq + Hash], [S];
    #[cfg(feature = "indexmap2")]
    indexmap::IndexMap<K, V, S> [Eq + Hash], [S];
}

macro_rules! tuples {
    ($($($item:ident $at:tt)*;)*) => {$(
        impl<'de, $($item: Decode<'de>),*> Decode<'de> for ($($item,)*) {
            fn decode(reader: &mut Reader<'de>) -> Result<Self> {
                let mut items = ($(None::<$item>,)*);
                let mut at = 0;
                reader.items(|reader| {
                    match at {
                        $($at => items.$at = Some($item::decode(reader)?),)*
                        _ => return Err(ReadError::mismatch()),
                    }
                    at += 1;
                    Ok(())
                })?;
                match items {
                    #[allow(non_snake_case)]
                    ($(Some($item),)*) => Ok(($($item,)*)),
                    _ => Err(ReadError::mismatch()),
                }
            }
        }
    )*};
}

tuples! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11;
}

impl<'de> Reader<'de> {
    /// Reads the items of an array.
    pub(super) fn items(&mut self, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if self.cursor.peek() != b'[' {
            return Err(ReadError::mismatch());
        }
        self.within(b']', |reader| {
            let mut is_first = true;
            while reader.has_next(b']', &mut is_first)? {
                item(reader)?;
            }
            Ok(())
        })
    }

    /// Reads the members of a map. `insert` returns `false` if the key is not new.
    pub(crate) fn entries<K: Decode<'de>, V: Decode<'de>>(
        &mut self,
        mut insert: impl FnMut(K, V) -> bool,
    ) -> Result<()> {
        if self.cursor.peek() != b'{' {
            return Err(ReadError::mismatch());
        }
        let mut tags = std::mem::take(&mut self.tags);
        self.within(b'}', |reader| {
            let mut is_first = true;
            while reader.has_key(&mut is_first, &mut tags)? {
                let key = reader.map_key(K::decode)?;
                let is_new = insert(key, V::decode(reader)?);
                if !is_new && reader.is_strict {
                    return Err(ReadError::mismatch());
                }
            }
            Ok(())
        })
    }
}
