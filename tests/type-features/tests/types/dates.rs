//! `chrono`, `jiff`, `time`.

use crate::type_test;

mod with_chrono {
    use chrono::{
        DateTime, Datelike, FixedOffset, Local, Month, NaiveDate, NaiveDateTime, NaiveTime,
        TimeDelta, TimeZone, Utc, Weekday,
    };

    use super::type_test;

    fn date() -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 11, 21).unwrap()
    }

    fn date_time() -> NaiveDateTime {
        date().and_hms_nano_opt(8, 30, 5, 1_000).unwrap()
    }

    type_test! { utc: DateTime<Utc>, {"type": "string", "format": "date-time"};
    keeps DateTime::<Utc>::UNIX_EPOCH, date_time().and_utc();
    accepts "2026-11-21T08:30:00Z", "2026-11-21t08:30:00.1234567890123z", "2016-12-31T23:59:60Z",
        "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00Z";
    is_lax "2026-11-21 08:30:00Z", "2026-11-21T08:30:00 UTC", "2026-11-21T08:30:00+0100", "2026-1-1T8:30:0Z",
        " 2026-11-21T08:30:00Z ", "+12026-11-21T08:30:00Z", "2026-11-21T08:30:60Z";
    rejects "", "now", "2026-11-21", "2026-11-21T08:30:00", "2026-02-29T08:30:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T08:30:00+24:00", 1_795_250_000, null; }

    type_test! { fixed: DateTime<FixedOffset>, {"type": "string", "format": "date-time"};
    keeps FixedOffset::west_opt(3600 * 5 + 1800).unwrap().from_utc_datetime(&date_time());
    accepts "2026-11-21T08:30:00-00:00", "2026-11-21T08:30:00+23:59";
    rejects "2026-11-21T08:30:00", 1; }

    type_test! { local: DateTime<Local>, {"type": "string", "format": "date-time"};
    keeps Local.from_utc_datetime(&date_time());
    accepts "2026-11-21T08:30:00+05:30";
    rejects "2026-11-21T08:30:00", 1; }

    type_test! { dates: NaiveDate, {"type": "string", "format": "date"};
    keeps date(), NaiveDate::from_ymd_opt(0, 1, 1).unwrap(), date().with_year(9999).unwrap();
    accepts "2024-02-29";
    is_lax "2024-2-9", " 2024 - 02 - 09 ", "+12024-02-09";
    rejects "", "2026-02-29", "2026-13-01", "21.11.2026", "2026-11-21T00:00:00Z", 20_261_121, null; }

    type_test! { times: NaiveTime, {"type": "string", "description": "Time of day, such as 08:30:00."};
    keeps NaiveTime::MIN, date_time().time();
    accepts "08:30", "08:30:00.5", "23:59:60";
    misses "", "24:00:00", "8 am", "08:30:00Z";
    rejects 8, null; }

    type_test! { date_times: NaiveDateTime,
    {"type": "string", "description": "Date and time without time zone, such as 2026-11-21T08:30:00."};
    keeps date_time();
    misses "", "2026-11-21", "2026-11-21 08:30:00", "2026-11-21T08:30:00Z";
    rejects 1, null; }

    type_test! { deltas: TimeDelta,
    {"type": "array", "prefixItems": [
        {"type": "integer", "description": "Whole seconds, rounded down."},
        {"type": "integer", "minimum": 0, "maximum": 999_999_999, "description": "Nanoseconds beyond them."},
    ], "items": false, "minItems": 2, "maxItems": 2};
    keeps TimeDelta::zero(), TimeDelta::milliseconds(-1500), TimeDelta::nanoseconds(i64::MAX);
    accepts [1.0, 0], [9_223_372_036_854_774_i64, 999_999_999], [(-9_223_372_036_854_775_i64), 0];
    misses [9_223_372_036_854_775_i64, 999_999_999], [(i64::MIN), 0];
    rejects [1], [1, (-1)], [1, 1_000_000_000], [1, 2, 3], 1, "PT1S", null; }

    type_test! { weekdays: Weekday, {"type": "string", "enum": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]};
    keeps Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri, Weekday::Sat, Weekday::Sun;
    is_lax "mon";
    rejects "Monday", "", 1; }

    type_test! { months: Month,
    {"type": "string", "enum": ["January", "February", "March", "April", "May", "June", "July", "August",
        "September", "October", "November", "December"]};
    keeps Month::January, Month::February, Month::March, Month::April, Month::May, Month::June, Month::July,
        Month::August, Month::September, Month::October, Month::November, Month::December;
    is_lax "may";
    rejects "Jan", "", 1; }
}

mod with_jiff {
    use jiff::civil::{Date, DateTime, ISOWeekDate, Time, date, time};
    use jiff::tz::TimeZone;
    use jiff::{SignedDuration, Span, Timestamp, ToSpan, Zoned};

    use super::type_test;

    type_test! { timestamps: Timestamp,
    {"type": "string", "description": "Date and time with offset after RFC 3339, such as 2026-11-21T08:30:00Z."};
    keeps Timestamp::UNIX_EPOCH, Timestamp::MIN, Timestamp::MAX, Timestamp::new(1_795_250_000, 5).unwrap();
    accepts "2026-11-21T08:30:00+01:00", "2026-11-21 08:30:00Z", "2016-12-31T23:59:60Z";
    misses "", "now", "2026-11-21", "2026-11-21T08:30:00", "9999-12-31T23:59:59Z", "2026-11-21T08:30:00.1234567890Z";
    rejects 1, null; }

    type_test! { zoned: Zoned,
    {"type": "string", "description": "Date and time with time zone, such as 2026-11-21T08:30:00+01:00[Europe/Berlin]."};
    keeps Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC),
        Timestamp::UNIX_EPOCH.to_zoned(TimeZone::fixed(jiff::tz::offset(-5))),
        Timestamp::UNIX_EPOCH.in_tz("Europe/Berlin").unwrap();
    accepts "2026-11-21T08:30[Europe/Berlin]";
    misses "", "2026-11-21T08:30:00Z", "2026-11-21T08:30:00+01:00[Nowhere/Else]";
    rejects 1, null; }

    type_test! { dates: Date, {"type": "string", "format": "date"};
    keeps date(2026, 11, 21), date(0, 1, 1), date(9999, 12, 31);
    accepts "2024-02-29";
    is_lax "20261121", "2026-11-21T08:30:00", "-002026-11-21", "2026-11-21[Europe/Berlin]";
    rejects "", "2026-02-29", "2026-13-01", "21.11.2026", 20_261_121, null; }

    type_test! { times: Time, {"type": "string", "description": "Time of day, such as 08:30:00."};
    keeps Time::MIN, Time::MAX, time(8, 30, 5, 1_000);
    accepts "08:30", "2026-11-21T08:30:00";
    misses "", "24:00:00", "8 am";
    rejects 8, null; }

    type_test! { date_times: DateTime,
    {"type": "string", "description": "Date and time without time zone, such as 2026-11-21T08:30:00."};
    keeps date(2026, 11, 21).at(8, 30, 5, 1_000);
    accepts "2026-11-21 08:30", "2026-11-21";
    misses "", "08:30:00";
    rejects 1, null; }

    type_test! { week_dates: ISOWeekDate, {"type": "string", "description": "Week date after ISO 8601, such as 2026-W47-6."};
    keeps date(2026, 11, 21).iso_week_date();
    accepts "2026-W47-6";
    misses "", "2026-11-21", "2026-W54-1", "2026-W47-8";
    rejects 1; }

    #[test]
    fn spans() {
        let schema = serde_json::json!({"type": "string", "description": "Duration after ISO 8601, such as P1Y2M10DT2H30M."});
        let echo = crate::echo!(Span, schema);
        for span in [
            Span::new(),
            1.year().months(2).days(10).hours(2).minutes(30),
            -3.weeks().milliseconds(5),
        ] {
            let json = serde_json::to_value(span).unwrap();
            assert_eq!(echo.gives(&json), json);
            let back: Span = serde_json::from_value(json).unwrap();
            assert_eq!(back.fieldwise(), span);
        }
        for text in ["P1Y2M10DT2H30M", "PT0S", "1 year 2 months", "-P1W"] {
            echo.accepts(&text.into());
        }
        for text in ["", "soon", "P", "P99999Y", "1.5"] {
            echo.misses(&text.into());
        }
        echo.rejects(&90.into());
    }

    type_test! { durations: SignedDuration,
    {"type": "string", "description": "Duration in hours, minutes and seconds after ISO 8601, such as PT2H30M."};
    keeps SignedDuration::ZERO, SignedDuration::MIN, SignedDuration::MAX, SignedDuration::from_millis(-1500);
    accepts "PT2H30M", "2h 30m";
    misses "", "P1Y", "P1D", "soon";
    rejects 90, [1, 2], null; }
}

mod with_time {
    use time::{
        Date, Month, OffsetDateTime, PlainDateTime, SignedDuration, Time, UtcDateTime, UtcOffset,
        Weekday,
    };

    use super::type_test;

    fn date() -> Date {
        Date::from_calendar_date(2026, Month::November, 21).unwrap()
    }

    fn time() -> Time {
        Time::from_hms_nano(8, 30, 5, 1_000).unwrap()
    }

    type_test! { dates: Date, {"type": "string", "format": "date"};
    keeps date(), Date::from_ordinal_date(0, 1).unwrap(), Date::MAX;
    accepts "2024-02-29";
    is_lax "-0044-03-15", "+2026-11-21";
    rejects "", "2026-02-29", "2026-13-01", "21.11.2026", "2026-11-21T00:00:00Z", "2026-1-1", [2026, 325], null; }

    type_test! { times: Time, {"type": "string", "description": "Time of day with a fraction, such as 08:30:00.0."};
    keeps Time::MIDNIGHT, time();
    misses "", "08:30:00", "24:00:00.0", "08:30:00.0Z";
    rejects [8, 30, 0, 0], 8, null; }

    type_test! { plain: PlainDateTime,
    {"type": "string", "description": "Date and time without time zone, such as 2026-11-21 08:30:00.0."};
    keeps date().with_time(time()), PlainDateTime::MAX;
    misses "", "2026-11-21T08:30:00.0", "2026-11-21";
    rejects [2026, 325, 8, 30, 0, 0], 1, null; }

    type_test! { utc: UtcDateTime,
    {"type": "string", "description": "Date and time in UTC, such as 2026-11-21 08:30:00.0."};
    keeps UtcDateTime::UNIX_EPOCH, date().with_time(time()).as_utc();
    misses "", "2026-11-21T08:30:00Z";
    rejects [2026, 325, 8, 30, 0, 0], null; }

    type_test! { offset: OffsetDateTime,
    {"type": "string", "description": "Date and time with offset, such as 2026-11-21 08:30:00.0 +01:00:00."};
    keeps OffsetDateTime::UNIX_EPOCH,
        date().with_time(time()).assume_offset(UtcOffset::from_hms(-5, -30, 0).unwrap());
    misses "", "2026-11-21T08:30:00Z", "2026-11-21 08:30:00.0", "2026-11-21 08:30:00.0 01:00:00";
    rejects [2026, 325, 8, 30, 0, 0, 0, 0, 0], null; }

    type_test! { offsets: UtcOffset, {"type": "string", "description": "Offset from UTC, such as +01:00:00."};
    keeps UtcOffset::UTC, UtcOffset::from_hms(-5, -30, -1).unwrap();
    misses "", "Z", "+01:00", "+99:00:00";
    rejects [1], 1, null; }

    type_test! { durations: SignedDuration, {"type": "string", "description": "Seconds with a fraction, such as 90.5."};
    keeps SignedDuration::ZERO, SignedDuration::milliseconds(-500), SignedDuration::MAX, SignedDuration::MIN;
    accepts "90.5", "90.0";
    misses "", "90", "PT90S", "1.", "1e3";
    rejects 90.5, [90, 0], null; }

    type_test! { weekdays: Weekday,
    {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]};
    keeps Weekday::Monday, Weekday::Tuesday, Weekday::Wednesday, Weekday::Thursday, Weekday::Friday,
        Weekday::Saturday, Weekday::Sunday;
    rejects "Mon", "", 1; }

    type_test! { months: Month,
    {"type": "string", "enum": ["January", "February", "March", "April", "May", "June", "July", "August",
        "September", "October", "November", "December"]};
    keeps Month::January, Month::February, Month::March, Month::April, Month::May, Month::June, Month::July,
        Month::August, Month::September, Month::October, Month::November, Month::December;
    rejects "Jan", "", 1; }
}
