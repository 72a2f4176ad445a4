//! Schemas of the types of `jiff`.

use jiff::civil::{Date, DateTime, ISOWeekDate, Time};
use jiff::{SignedDuration, Span, Timestamp, Zoned};

use crate::schema::Schema;
use crate::types::text;

// Formats that would promise too much: a `date-time` may have more than nine digits of a second
// and lie in the last hours of the year 9999, a `duration` may be of any length, and a `time` has
// an offset.
schemas! {
    Timestamp => text("Date and time with offset after RFC 3339, such as 2026-11-21T08:30:00Z.");
    Zoned => text("Date and time with time zone, such as 2026-11-21T08:30:00+01:00[Europe/Berlin].");
    Date => Schema::format("date");
    Time => text("Time of day, such as 08:30:00.");
    DateTime => text("Date and time without time zone, such as 2026-11-21T08:30:00.");
    ISOWeekDate => text("Week date after ISO 8601, such as 2026-W47-6.");
    Span => text("Duration after ISO 8601, such as P1Y2M10DT2H30M.");
    SignedDuration => text("Duration in hours, minutes and seconds after ISO 8601, such as PT2H30M.");
}
