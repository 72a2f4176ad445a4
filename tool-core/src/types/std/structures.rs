//! Tuples, and types that serde writes as structs.

use std::marker::PhantomData;
use std::ops::{Range, RangeFrom, RangeInclusive, RangeTo};
use std::time::{Duration, SystemTime};

use crate::schema::{Property, Schema, Text};
use crate::types::ToolType;

impl ToolType for () {
    const SCHEMA: &'static Schema = &Schema::NULL;
    const EXACT: bool = true;
}

impl<T: ?Sized> ToolType for PhantomData<T> {
    const SCHEMA: &'static Schema = &Schema::NULL;
    const EXACT: bool = true;
}

macro_rules! tuples {
    ($($($item:ident)*;)*) => {$(
        impl<$($item: ToolType),*> ToolType for ($($item,)*) {
            const SCHEMA: &'static Schema = &Schema::tuple(const { &[$($item::SCHEMA),*] });
            const EXACT: bool = $($item::EXACT)&&*;
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
        // More than a second of nanoseconds is carried over, and might not fit.
        member(
            "nanos",
            "Nanoseconds beyond them.",
            &Schema::integer(0, 999_999_999),
        ),
    ]);
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
}

macro_rules! ranges {
    ($($range:ident: $($member:literal $description:literal),*;)*) => {$(
        impl<T: ToolType> ToolType for $range<T> {
            const SCHEMA: &'static Schema = &Schema::object(const {
                &[$(member($member, $description, T::SCHEMA)),*]
            });
        }
    )*};
}

ranges! {
    Range: "start" "First of the range.", "end" "End of the range, not part of it.";
    RangeInclusive: "start" "First of the range.", "end" "Last of the range.";
    RangeFrom: "start" "First of the range.";
    RangeTo: "end" "End of the range, not part of it.";
}
