//! A type accepts what its schema's format allows, and writes only what the format allows.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Echo, echo};

fn holds(echo: &Echo, text: &str) {
    let value = Value::from(text);
    if echo.is_described(&value) {
        let back = echo.gives(&value);
        // Outside of the years 0 to 9999 the instant may be written in another year.
        if !text.starts_with("9999-12-31") && !text.starts_with("0000-01-01") {
            assert!(echo.is_described(&back), "{text} came back as {back}");
        }
    }
}

prop_compose! {
    fn date()(year in 0..10_000, month in 0..14, day in 0..33) -> String {
        format!("{year:04}-{month:02}-{day:02}")
    }
}

prop_compose! {
    fn date_time()(
        date in date(),
        separator in "[Tt]",
        hour in 0..25,
        minute in 0..61,
        second in prop_oneof![0..62, Just(60)],
        fraction in "(\\.[0-9]{1,12})?",
        offset in "[Zz]|[+-]([01][0-9]|2[0-4]):[0-6][0-9]",
    ) -> String {
        format!("{date}{separator}{hour:02}:{minute:02}:{second:02}{fraction}{offset}")
    }
}

#[test]
fn date_times() {
    let schema = json!({"type": "string", "format": "date-time"});
    let utc = echo!(chrono::DateTime<chrono::Utc>, schema);
    let fixed = echo!(chrono::DateTime<chrono::FixedOffset>, schema);
    proptest!(|(text in prop_oneof![date_time(), "(0000-01-01|9999-12-31)T(00|23):59:60?[+-](00|23):(00|59)"])| {
        holds(&utc, &text);
        holds(&fixed, &text);
    });
}

#[test]
fn dates() {
    let schema = json!({"type": "string", "format": "date"});
    let all = [
        echo!(chrono::NaiveDate, schema),
        echo!(jiff::civil::Date, schema),
        echo!(time::Date, schema),
    ];
    proptest!(|(text in date())| {
        for echo in &all {
            holds(echo, &text);
            // Both agree in both directions within this range.
            let described = echo.is_described(&text.as_str().into());
            prop_assert_eq!(described, !echo.call(&text.as_str().into()).is_error());
        }
    });
}

#[test]
fn uuids() {
    let echo = echo!(uuid::Uuid, {"type": "string", "format": "uuid"});
    proptest!(|(number: u128)| {
        echo.keeps(&uuid::Uuid::from_u128(number));
    });
    proptest!(|(text in "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{11,13}")| {
        holds(&echo, &text);
    });
}
