//! Schemas of the types of `time` in their human-readable form.

use time::{
    Date, Month, OffsetDateTime, PlainDateTime, SignedDuration, Time, UtcDateTime, UtcOffset,
    Weekday,
};

use crate::schema::{Schema, Text};
use crate::types::{MONTHS, text};

// The form of the dates with times is the crate's own: a space for the `T`, always a fraction.
// All of them would read arrays of numbers too; the walk refuses those. `Timestamp` is left out: it
// can't be decoded inside of an enum that serde buffers.
schemas! {
    Date => Schema::format("date").read_in_several_ways();
    Time => text("Time of day with a fraction, such as 08:30:00.0.").read_in_several_ways();
    PlainDateTime => text("Date and time without time zone, such as 2026-11-21 08:30:00.0.").read_in_several_ways();
    UtcDateTime => text("Date and time in UTC, such as 2026-11-21 08:30:00.0.").read_in_several_ways();
    OffsetDateTime => text("Date and time with offset, such as 2026-11-21 08:30:00.0 +01:00:00.").read_in_several_ways();
    UtcOffset => text("Offset from UTC, such as +01:00:00.").read_in_several_ways();
    SignedDuration => text("Seconds with a fraction, such as 90.5.").read_in_several_ways();
    Weekday => Schema::strings(&[
        Text::new("Monday"),
        Text::new("Tuesday"),
        Text::new("Wednesday"),
        Text::new("Thursday"),
        Text::new("Friday"),
        Text::new("Saturday"),
        Text::new("Sunday"),
    ]).read_in_several_ways();
    Month => *MONTHS;
}
