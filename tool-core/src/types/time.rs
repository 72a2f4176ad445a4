//! Schemas of the types of `time` in their human-readable form.

use time::{
    Date, Month, OffsetDateTime, PlainDateTime, SignedDuration, Time, UtcDateTime, UtcOffset,
    Weekday,
};

use crate::schema::Schema;
use crate::types::{MONTHS, described_string};

// Dates with times have a form of the crate's own: a space instead of the `T`, and always a fraction.
// All would also read arrays of numbers, which validation rejects. `Timestamp` is missing because it
// can't be decoded inside of an enum that serde buffers.
schemas! {
    Date => Schema::format("date").with_several_forms();
    Time => described_string("Time of day with a fraction, such as 08:30:00.0.").with_several_forms();
    PlainDateTime => described_string("Date and time without time zone, such as 2026-11-21 08:30:00.0.").with_several_forms();
    UtcDateTime => described_string("Date and time in UTC, such as 2026-11-21 08:30:00.0.").with_several_forms();
    OffsetDateTime => described_string("Date and time with offset, such as 2026-11-21 08:30:00.0 +01:00:00.").with_several_forms();
    UtcOffset => described_string("Offset from UTC, such as +01:00:00.").with_several_forms();
    SignedDuration => described_string("Seconds with a fraction, such as 90.5.").with_several_forms();
    Weekday => one_of!["Monday" "Tuesday" "Wednesday" "Thursday" "Friday" "Saturday" "Sunday"];
    Month => MONTHS;
}
