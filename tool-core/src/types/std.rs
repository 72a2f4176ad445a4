//! Schemas of the types of `core`, `alloc` and `std`, and of `serde_json`'s values.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZero, Saturating, Wrapping};
use std::ops::{Range, RangeFrom, RangeInclusive, RangeTo};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::__private::property;
use crate::decode::{Decode, ReadError, Reader};
use crate::schema::{IntegerRange, Kind, Lengths, NumberRange, Property, Schema, Text};
use crate::types::{MapKey, ToolType, WRITES_EXACTLY, WRITES_NULLS, described_string};

impls! {
    [] bool => &Schema::BOOLEAN, true, WRITES_EXACTLY;
    [] char => &Schema::string(Lengths::exactly(1)), true, WRITES_EXACTLY;
    [] str => &Schema::STRING, true, WRITES_EXACTLY;
    [] String => &Schema::STRING, true, WRITES_EXACTLY;
    [] Box<str> => &Schema::STRING, true, WRITES_EXACTLY;
    [] &'static str => &Schema::STRING, true, WRITES_EXACTLY;
    [] Cow<'_, str> => &Schema::STRING, true, WRITES_EXACTLY;
    [] Path => &Schema::STRING, false, WRITES_EXACTLY;
    [] () => &Schema::NULL, true, WRITES_EXACTLY;
}

impl MapKey for bool {}
impl MapKey for char {}
impl MapKey for String {}
impl MapKey for Box<str> {}
impl MapKey for Cow<'_, str> {}

const fn integer(minimum: i128, maximum: i128, shows_minimum: bool, shows_maximum: bool) -> Schema {
    Schema::of(Kind::Integer(IntegerRange {
        shows_minimum,
        shows_maximum,
        needs_text: minimum == i128::MIN || maximum == i128::MAX,
        ..IntegerRange::between(minimum, maximum)
    }))
}

/// Integer types and the limits that their schemas show: telling a model that a number of days is
/// below 2^31 would be noise.
macro_rules! integers {
    ($($type:ty: $minimum:expr, $maximum:expr, shows $shows_minimum:expr, $shows_maximum:expr;)*) => {$(
        impl MapKey for $type {}

        impls! {
            [] $type => &integer($minimum, $maximum, $shows_minimum, $shows_maximum), true, WRITES_EXACTLY;
            // Not exact: serde saturates a number that is out of range.
            [] Saturating<$type> => <$type>::SCHEMA, false, WRITES_EXACTLY;
            [] NonZero<$type> => {
                const POSITIVE: &Schema = &integer(1, $maximum, true, $shows_maximum);
                const NEGATIVE: &Schema = &integer($minimum, -1, $shows_minimum, true);
                if $minimum == 0 {
                    POSITIVE
                } else {
                    &Schema::any_of(&[POSITIVE, NEGATIVE])
                }
            }, true, WRITES_EXACTLY;
        }
    )*};
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
    // `i128::MAX` means unbounded; decoding checks the rest.
    u128: 0, i128::MAX, shows true, false;
    i128: i128::MIN, i128::MAX, shows false, false;
}

// Strings that the type parses; decoding rejects others with the message of the type.
schemas! {
    PathBuf => Schema::STRING;
    Box<Path> => Schema::STRING;
    Ipv4Addr => Schema::format("ipv4");
    Ipv6Addr => Schema::format("ipv6");
    IpAddr => Schema::any_of(&[Ipv4Addr::SCHEMA, Ipv6Addr::SCHEMA]);
    SocketAddrV4 => described_string("IPv4 address and port, such as 127.0.0.1:8080.");
    SocketAddrV6 => described_string("IPv6 address and port, such as [::1]:8080.");
    SocketAddr => described_string("IP address and port, such as 127.0.0.1:8080 or [::1]:8080.");
}

/// The least number that rounds to infinity as an `f32`: half a step above `f32::MAX`.
const ABOVE_F32: f64 = 3.402_823_567_797_336_6e38;

/// The greatest number of an `f32`.
const GREATEST_F32: f64 = f64::from_bits(ABOVE_F32.to_bits() - 1);

// serde reads a number that is too big for an `f32` as infinity. Numbers that round to `f32::MAX` are
// fine: it is itself written as 3.4028235e38, which is slightly greater.
impls! {
    [] f64 => &Schema::NUMBER, true, WRITES_NULLS;
    [] f32 => &Schema::of(Kind::Number(NumberRange::up_to(GREATEST_F32))), false, WRITES_NULLS;
    [] serde_json::Number => &Schema::NUMBER, false, 0;
    [] serde_json::Value => &Schema::ANY, false, WRITES_EXACTLY;
    [] serde_json::Map<String, serde_json::Value> => &Schema::map(&Schema::ANY), false, WRITES_EXACTLY;
    [T: ?Sized] PhantomData<T> => &Schema::NULL, true, WRITES_EXACTLY;
    [T: ToolType] Option<T> => match T::SCHEMA.kind {
        Kind::Nullable(_) => T::SCHEMA,
        _ => const { &Schema::nullable(T::SCHEMA) },
    }, T::EXACT, T::WRITES;
    [T: ToolType + ?Sized] Rc<T> => T::SCHEMA, T::EXACT, T::WRITES;
    [T: ToolType + ?Sized] Arc<T> => T::SCHEMA, T::EXACT, T::WRITES;
    [T: ToolType] Wrapping<T> => T::SCHEMA, T::EXACT, T::WRITES;
    [T: ToolType] Box<T> => T::SCHEMA, T::EXACT, T::WRITES;
    [T: ToolType] Vec<T> => &Schema::array(T::SCHEMA), T::EXACT, T::WRITES;
    [T: ToolType] [T] => &Schema::array(T::SCHEMA), T::EXACT, T::WRITES;
    [T: ToolType] Box<[T]> => &Schema::array(T::SCHEMA), T::EXACT, T::WRITES;
    [T: ToolType + Clone] Cow<'_, [T]> => &Schema::array(T::SCHEMA), T::EXACT, T::WRITES;
    [T: ToolType] VecDeque<T> => &Schema::array(T::SCHEMA), T::EXACT, T::WRITES;
    [T: ToolType] LinkedList<T> => &Schema::array(T::SCHEMA), T::EXACT, T::WRITES;
    [T: ToolType] BinaryHeap<T> => &Schema::array(T::SCHEMA), T::EXACT, T::WRITES;
    [T: ToolType, const N: usize] [T; N]
        => &Schema::array_of(T::SCHEMA, Lengths::exactly(N)), T::EXACT, T::WRITES;
    [T: ToolType] BTreeSet<T> => &Schema::set(T::SCHEMA), T::EXACT, 0;
    [T: ToolType, S] HashSet<T, S> => &Schema::set(T::SCHEMA), T::EXACT, 0;
    [K: MapKey, V: ToolType] BTreeMap<K, V>
        => &Schema::map_of(K::SCHEMA, V::SCHEMA), K::EXACT && V::EXACT, K::WRITES & V::WRITES;
    [K: MapKey, V: ToolType, S] HashMap<K, V, S>
        => &Schema::map_of(K::SCHEMA, V::SCHEMA), K::EXACT && V::EXACT, K::WRITES & V::WRITES;
    [] Duration => &Schema::object(&[
        member("secs", const { &u64::SCHEMA.describe(Text::new("Whole seconds.")) }),
        // serde carries over nanoseconds beyond a second, which may overflow.
        member("nanos", NANOSECONDS),
    ]), false, WRITES_EXACTLY;
    [] SystemTime => &Schema::object(&[
        member(
            "secs_since_epoch",
            const { &u64::SCHEMA.describe(Text::new("Whole seconds since 1970-01-01T00:00:00Z.")) },
        ),
        member("nanos_since_epoch", NANOSECONDS),
    ]), false, WRITES_EXACTLY;
}

const NANOSECONDS: &Schema =
    &Schema::integer(0, 999_999_999).describe(Text::new("Nanoseconds beyond them."));

const fn member(name: &'static str, schema: &'static Schema) -> Property {
    Property::new(Text::new(name), schema)
}

macro_rules! tuples {
    ($($($item:ident)*;)*) => {$(
        impl<$($item: ToolType),*> ToolType for ($($item,)*) {
            const SCHEMA: &'static Schema = &Schema::tuple(const { &[$($item::SCHEMA),*] });
            const EXACT: bool = $($item::EXACT)&&*;
            const WRITES: u8 = $($item::WRITES)&*;
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}

macro_rules! ranges {
    ($($range:ident($($name:ident $member:literal $description:literal),*) => $make:expr;)*) => {$(
        impl<T: ToolType> ToolType for $range<T> {
            const SCHEMA: &'static Schema = &Schema::object(const {
                &[$(property::<T>(concat!($member, $description), $member.len())),*]
            });
            const EXACT: bool = true;
            const WRITES: u8 = T::WRITES;
        }

        impl<'de, T: Decode<'de> + ToolType> Decode<'de> for $range<T> {
            fn decode(reader: &mut Reader<'de>) -> Result<Self, ReadError> {
                reader.structure(Self::SCHEMA, |($($name,)*)| $make)
            }
        }
    )*};
}

ranges! {
    Range(start "start" "First of the range.", end "end" "End of the range, not part of it.") => start..end;
    RangeInclusive(start "start" "First of the range.", end "end" "Last of the range.") => start..=end;
    RangeFrom(start "start" "First of the range.") => start..;
    RangeTo(end "end" "End of the range, not part of it.") => ..end;
}
