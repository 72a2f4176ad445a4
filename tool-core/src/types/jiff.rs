//! Schemas of the types of `jiff`.

use jiff::civil::{Date, DateTime, ISOWeekDate, Time};
use jiff::{SignedDuration, Span, Timestamp, Zoned};

use crate::schema::Schema;
use crate::types::described_string;

// The standard formats allow more than these types: a `date-time` may have more than nine fractional
// digits and lie in the last hours of the year 9999, a `duration` may have any length, and a `time`
// has an offset.
schemas! {
    Timestamp => described_string("Date and time with offset after RFC 3339, such as 2026-11-21T08:30:00Z.");
    Zoned => described_string("Date and time with time zone, such as 2026-11-21T08:30:00+01:00[Europe/Berlin].");
    Date => Schema::format("date");
    Time => described_string("Time of day, such as 08:30:00.");
    DateTime => described_string("Date and time without time zone, such as 2026-11-21T08:30:00.");
    ISOWeekDate => described_string("Week date after ISO 8601, such as 2026-W47-6.");
    Span => described_string("Duration after ISO 8601, such as P1Y2M10DT2H30M.");
    SignedDuration => described_string("Duration in hours, minutes and seconds after ISO 8601, such as PT2H30M.");
}
