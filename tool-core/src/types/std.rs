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

use crate::schema::{IntegerRange, Kind, Lengths, NumberRange, Property, Schema, Text};
use crate::types::{MapKey, ToolType, WRITES_EXACTLY, WRITES_NULLS, described_string};

/// Types for which serde accepts exactly what the schema describes.
macro_rules! scalars {
    ($($type:ty => $schema:expr;)*) => {$(
        impl ToolType for $type {
            const SCHEMA: &'static Schema = &$schema;
            const EXACT: bool = true;
            const WRITES: u8 = WRITES_EXACTLY;
        }
    )*};
}

scalars! {
    bool => Schema::BOOLEAN;
    char => Schema::string(Lengths::exactly(1));
    str => Schema::STRING;
    String => Schema::STRING;
    Box<str> => Schema::STRING;
    &'static str => Schema::STRING;
    Cow<'_, str> => Schema::STRING;
}

impl MapKey for bool {}
impl MapKey for char {}
impl MapKey for String {}
impl MapKey for Box<str> {}
impl MapKey for Cow<'_, str> {}

impl ToolType for f64 {
    const SCHEMA: &'static Schema = &Schema::NUMBER;
    const EXACT: bool = true;
    const WRITES: u8 = WRITES_NULLS;
}

/// The least number that rounds to infinity as an `f32`: half a step above `f32::MAX`.
const ABOVE_F32: f64 = 3.402_823_567_797_336_6e38;

// serde reads a number that is too big for an `f32` as infinity. Numbers that round to `f32::MAX` are
// fine: it is itself written as 3.4028235e38, which is slightly greater.
impl ToolType for f32 {
    const SCHEMA: &'static Schema = &Schema::of(Kind::Number(NumberRange::up_to(f64::from_bits(
        ABOVE_F32.to_bits() - 1,
    ))));
    const WRITES: u8 = WRITES_NULLS;
}

const fn integer(minimum: i128, maximum: i128, shows_minimum: bool, shows_maximum: bool) -> Schema {
    Schema::of(Kind::Integer(IntegerRange {
        shows_minimum,
        shows_maximum,
        ..IntegerRange::between(minimum, maximum)
    }))
}

/// Integer types and the limits that their schemas show: telling a model that a number of days is
/// below 2^31 would be noise.
macro_rules! integers {
    ($($type:ty: $minimum:expr, $maximum:expr, shows $shows_minimum:expr, $shows_maximum:expr;)*) => {$(
        scalars! {
            $type => integer($minimum, $maximum, $shows_minimum, $shows_maximum);
        }

        impl MapKey for $type {}

        impl ToolType for Wrapping<$type> {
            const SCHEMA: &'static Schema = <$type>::SCHEMA;
            const EXACT: bool = true;
            const WRITES: u8 = WRITES_EXACTLY;
        }

        // Not exact: serde saturates a number that is out of range.
        impl ToolType for Saturating<$type> {
            const SCHEMA: &'static Schema = <$type>::SCHEMA;
            const WRITES: u8 = WRITES_EXACTLY;
        }

        impl ToolType for NonZero<$type> {
            const SCHEMA: &'static Schema = {
                const POSITIVE: &Schema = &integer(1, $maximum, true, $shows_maximum);
                const NEGATIVE: &Schema = &integer($minimum, -1, $shows_minimum, true);
                if $minimum == 0 {
                    POSITIVE
                } else {
                    &Schema::any_of(&[POSITIVE, NEGATIVE])
                }
            };
            const EXACT: bool = true;
            const WRITES: u8 = WRITES_EXACTLY;
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
    Path => Schema::STRING;
    PathBuf => Schema::STRING;
    Box<Path> => Schema::STRING;
    Ipv4Addr => Schema::format("ipv4");
    Ipv6Addr => Schema::format("ipv6");
    IpAddr => Schema::any_of(&[Ipv4Addr::SCHEMA, Ipv6Addr::SCHEMA]);
    SocketAddrV4 => described_string("IPv4 address and port, such as 127.0.0.1:8080.");
    SocketAddrV6 => described_string("IPv6 address and port, such as [::1]:8080.");
    SocketAddr => described_string("IP address and port, such as 127.0.0.1:8080 or [::1]:8080.");
}

impl ToolType for serde_json::Number {
    const SCHEMA: &'static Schema = &Schema::NUMBER;
}

impl ToolType for serde_json::Value {
    const SCHEMA: &'static Schema = &Schema::ANY;
    const WRITES: u8 = WRITES_EXACTLY;
}

impl ToolType for serde_json::Map<String, serde_json::Value> {
    const SCHEMA: &'static Schema = &Schema::map(&Schema::ANY);
    const WRITES: u8 = WRITES_EXACTLY;
}

impl<T: ToolType> ToolType for Option<T> {
    const SCHEMA: &'static Schema = match T::SCHEMA.kind {
        Kind::Nullable(_) => T::SCHEMA,
        _ => const { &Schema::nullable(T::SCHEMA) },
    };
    const EXACT: bool = T::EXACT;
    const WRITES: u8 = T::WRITES;
}

macro_rules! sequences {
    ($(<$($parameter:ident),*> $type:ty),* $(,)?) => {$(
        impl<T: ToolType $(, $parameter)*> ToolType for $type {
            const SCHEMA: &'static Schema = &Schema::array(T::SCHEMA);
            const EXACT: bool = T::EXACT;
            const WRITES: u8 = T::WRITES;
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
}

// A set accepts duplicate items, since nothing is lost, unless it has a minimum length.
macro_rules! sets {
    ($(<$($parameter:ident),*> $type:ty),* $(,)?) => {$(
        impl<T: ToolType $(, $parameter)*> ToolType for $type {
            const SCHEMA: &'static Schema = &Schema::set(T::SCHEMA);
            const EXACT: bool = T::EXACT;
        }
    )*};
}

sets! {
    <> BTreeSet<T>,
    <S> HashSet<T, S>,
}

impl<T: ToolType + Clone> ToolType for Cow<'_, [T]> {
    const SCHEMA: &'static Schema = &Schema::array(T::SCHEMA);
    const EXACT: bool = T::EXACT;
    const WRITES: u8 = T::WRITES;
}

impl<T: ToolType, const N: usize> ToolType for [T; N] {
    const SCHEMA: &'static Schema = &Schema::array_of(T::SCHEMA, Lengths::exactly(N));
    const EXACT: bool = T::EXACT;
    const WRITES: u8 = T::WRITES;
}

// Maps are not exact, because serde lets a later duplicate key replace an earlier one.
impl<K: MapKey, V: ToolType, S> ToolType for HashMap<K, V, S> {
    const SCHEMA: &'static Schema = &Schema::map_of(K::SCHEMA, V::SCHEMA);
    const WRITES: u8 = K::WRITES & V::WRITES;
}

impl<K: MapKey, V: ToolType> ToolType for BTreeMap<K, V> {
    const SCHEMA: &'static Schema = &Schema::map_of(K::SCHEMA, V::SCHEMA);
    const WRITES: u8 = K::WRITES & V::WRITES;
}

macro_rules! pointers {
    ($($type:ty),*) => {$(
        impl<T: ToolType + ?Sized> ToolType for $type {
            const SCHEMA: &'static Schema = T::SCHEMA;
            const EXACT: bool = T::EXACT;
            const WRITES: u8 = T::WRITES;
        }
    )*};
}

pointers!(Rc<T>, Arc<T>);

impl<T: ToolType> ToolType for Box<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
    const EXACT: bool = T::EXACT;
    const WRITES: u8 = T::WRITES;
}

impl ToolType for () {
    const SCHEMA: &'static Schema = &Schema::NULL;
    const EXACT: bool = true;
    const WRITES: u8 = WRITES_EXACTLY;
}

impl<T: ?Sized> ToolType for PhantomData<T> {
    const SCHEMA: &'static Schema = &Schema::NULL;
    const EXACT: bool = true;
    const WRITES: u8 = WRITES_EXACTLY;
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
}

const fn member(
    name: &'static str,
    description: &'static str,
    schema: &'static Schema,
) -> Property {
    Property::new(Text::new(name), Text::new(description), schema)
}

impl ToolType for Duration {
    const SCHEMA: &'static Schema = &Schema::object(&[
        member("secs", "Whole seconds.", u64::SCHEMA),
        // serde carries over nanoseconds beyond a second, which may overflow.
        member(
            "nanos",
            "Nanoseconds beyond them.",
            &Schema::integer(0, 999_999_999),
        ),
    ]);
    const WRITES: u8 = WRITES_EXACTLY;
}

impl ToolType for SystemTime {
    const SCHEMA: &'static Schema = &Schema::object(&[
        member(
            "secs_since_epoch",
            "Whole seconds since 1970-01-01T00:00:00Z.",
            u64::SCHEMA,
        ),
        member(
            "nanos_since_epoch",
            "Nanoseconds beyond them.",
            &Schema::integer(0, 999_999_999),
        ),
    ]);
    const WRITES: u8 = WRITES_EXACTLY;
}

macro_rules! ranges {
    ($($range:ident: $($member:literal $description:literal),*;)*) => {$(
        impl<T: ToolType> ToolType for $range<T> {
            const SCHEMA: &'static Schema = &Schema::object(const {
                &[$(member($member, $description, T::SCHEMA)),*]
            });
            const WRITES: u8 = T::WRITES;
        }
    )*};
}

ranges! {
    Range: "start" "First of the range.", "end" "End of the range, not part of it.";
    RangeInclusive: "start" "First of the range.", "end" "Last of the range.";
    RangeFrom: "start" "First of the range.";
    RangeTo: "end" "End of the range, not part of it.";
}
