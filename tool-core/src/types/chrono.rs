//! Schemas of the types of `chrono`.

use chrono::{DateTime, Month, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Weekday};

use crate::schema::{IntegerRange, Kind, Schema, Text};
use crate::types::{MONTHS, ToolType, text};

impl<Z: TimeZone> ToolType for DateTime<Z> {
    const SCHEMA: &'static Schema = &Schema::format("date-time");
}

// JSON Schema's `time` has an offset, which these times have not.
schemas! {
    NaiveDate => Schema::format("date");
    NaiveTime => text("Time of day, such as 08:30:00.");
    NaiveDateTime => text("Date and time without time zone, such as 2026-11-21T08:30:00.");
    TimeDelta => Schema::tuple(&[SECONDS, NANOSECONDS]);
    Weekday => Schema::strings(&[
        Text::new("Mon"),
        Text::new("Tue"),
        Text::new("Wed"),
        Text::new("Thu"),
        Text::new("Fri"),
        Text::new("Sat"),
        Text::new("Sun"),
    ]).read_in_several_ways();
    Month => *MONTHS;
}

/// All but the first and the last second of a `TimeDelta`, which can't have every nanosecond: 2^63
/// milliseconds either way.
const SECONDS: &Schema = &Schema::of(Kind::Integer(IntegerRange {
    shows_minimum: false,
    shows_maximum: false,
    ..IntegerRange::between(-9_223_372_036_854_775, 9_223_372_036_854_774)
}))
.describe(Text::new("Whole seconds, rounded down."));

const NANOSECONDS: &Schema =
    &Schema::integer(0, 999_999_999).describe(Text::new("Nanoseconds beyond them."));
