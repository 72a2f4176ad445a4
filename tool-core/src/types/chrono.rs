//! Schemas of the types of `chrono`.

use chrono::{DateTime, Month, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Weekday};

use crate::by_serde;
use crate::schema::{IntegerRange, Kind, Schema, Text};
use crate::types::{MONTHS, ToolType, WRITES_EXACTLY, described_string};

impl<Z: TimeZone> ToolType for DateTime<Z> {
    const SCHEMA: &'static Schema = &Schema::format("date-time");
    const WRITES: u8 = WRITES_EXACTLY;
}

by_serde!(DateTime<Z> [Z: TimeZone]);

// The format `time` of JSON Schema requires an offset, which these types don't have.
schemas! {
    NaiveDate => Schema::format("date");
    NaiveTime => described_string("Time of day, such as 08:30:00.");
    NaiveDateTime => described_string("Date and time without time zone, such as 2026-11-21T08:30:00.");
    TimeDelta => Schema::tuple(&[SECONDS, NANOSECONDS]);
    Weekday => one_of!["Mon" "Tue" "Wed" "Thu" "Fri" "Sat" "Sun"];
    Month => MONTHS;
}

/// The range of a `TimeDelta`, 2^63 milliseconds either way, without the first and the last second,
/// in which not every nanosecond is valid.
const SECONDS: &Schema = &Schema::of(Kind::Integer(IntegerRange {
    shows_minimum: false,
    shows_maximum: false,
    ..IntegerRange::between(-9_223_372_036_854_775, 9_223_372_036_854_774)
}))
.describe(Text::new("Whole seconds, rounded down."));

const NANOSECONDS: &Schema =
    &Schema::integer(0, 999_999_999).describe(Text::new("Nanoseconds beyond them."));
