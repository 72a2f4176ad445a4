//! Decimal arithmetic on numbers as text, since JSON does not limit their digits.

use std::borrow::Cow;

use crate::schema::cursor::Cursor;

/// From this magnitude on, a float may be a rounded integer.
pub(crate) const EXACT_IN_FLOAT: u128 = 1 << 53;

/// Returns the first integer of a JSON text that a `serde_json::Value` would round, because it has
/// more than 64 bits.
pub(crate) fn rounded_integer(json: &str) -> Option<&str> {
    let mut cursor = Cursor::new(json);
    let found = loop {
        match cursor.peek() {
            0 => return None,
            b'"' => {
                cursor.string();
            }
            b'-' | b'0'..=b'9' => {
                let number = cursor.scalar();
                // Shorter numbers fit, which most are.
                if number.len() > 18
                    && !number.contains(['.', 'e', 'E'])
                    && number.parse::<i64>().is_err()
                    && number.parse::<u64>().is_err()
                {
                    break number;
                }
            }
            _ => cursor.skip(1),
        }
    };
    values_round().then_some(found)
}

/// Returns `true` if a `serde_json::Value` rounds integers of more than 64 bits: without the feature
/// `arbitrary_precision` of `serde_json`.
pub(crate) fn values_round() -> bool {
    serde_json::from_str::<serde_json::Number>("1e999").is_err()
}

/// Returns the digits of an integer in any notation: `20.0` and `2e1` are `20`.
pub(crate) fn whole_number(text: &str) -> Option<Cow<'_, str>> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) && text != "-0" {
        return Some(Cow::Borrowed(text));
    }
    expanded(text).map(Cow::Owned)
}

/// Writes an integer without fraction and exponent.
fn expanded(text: &str) -> Option<String> {
    let Decimal {
        sign,
        digits,
        exponent,
    } = Decimal::parse(text)?;
    if digits.is_empty() {
        return Some("0".into());
    }
    if exponent < 0 {
        return None;
    }
    // 40 digits exceed every integer type; more would only cost memory.
    let zeros = usize::try_from(exponent.min(40)).ok()?;
    Some(format!("{sign}{digits}{}", "0".repeat(zeros)))
}

/// Returns `true` if `number` is an exact multiple of `step`. Numbers of more than about 38 digits
/// are compared as floats.
pub(crate) fn is_multiple(number: &str, step: &str) -> bool {
    let (Some(number_digits), Some(step_digits)) = (Decimal::parse(number), Decimal::parse(step))
    else {
        return false;
    };
    let exponent = number_digits.exponent.min(step_digits.exponent);
    match (number_digits.scaled(exponent), step_digits.scaled(exponent)) {
        (Some(number), Some(step)) if step != 0 => number % step == 0,
        _ => match (number.parse::<f64>(), step.parse::<f64>()) {
            (Ok(number), Ok(step)) => number % step == 0.0,
            _ => false,
        },
    }
}

/// Digits without leading and trailing zeros, times a power of ten.
struct Decimal<'t> {
    sign: &'t str,
    digits: String,
    exponent: i64,
}

impl<'t> Decimal<'t> {
    fn parse(text: &'t str) -> Option<Decimal<'t>> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let sign = &text[..text.len() - unsigned.len()];
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        // An exponent that does not fit exceeds every range.
        let least = if exponent.starts_with('-') {
            -99_999
        } else {
            99_999
        };
        let exponent = exponent
            .parse::<i64>()
            .unwrap_or(least)
            .clamp(-99_999, 99_999);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_end_matches('0');
        let dropped = i64::try_from(all.len() - digits.len()).ok()?;
        Some(Decimal {
            sign,
            digits: digits.trim_start_matches('0').to_owned(),
            exponent: exponent - i64::try_from(fraction.len()).ok()? + dropped,
        })
    }

    /// Returns the number as a multiple of a lower power of ten.
    fn scaled(&self, exponent: i64) -> Option<i128> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let shift = u32::try_from(self.exponent - exponent).ok()?;
        let factor = 10_i128.checked_pow(shift)?;
        self.digits.parse::<i128>().ok()?.checked_mul(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_recognised_in_any_notation() {
        for (text, digits) in [
            ("20", Some("20")),
            ("20.0", Some("20")),
            ("2e1", Some("20")),
            ("2.5e1", Some("25")),
            ("200e-1", Some("20")),
            ("-3.00", Some("-3")),
            ("-0", Some("0")),
            ("0.0e99999999999999999999", Some("0")),
            ("20.5", None),
            ("2e-1", None),
            ("1e-99999999999999999999", None),
            (
                "12345678901234567890123456789.0",
                Some("12345678901234567890123456789"),
            ),
        ] {
            assert_eq!(whole_number(text).as_deref(), digits, "{text}");
        }
        assert!(whole_number("1e99999999999999999999").unwrap().len() >= 40);
    }

    #[test]
    fn multiples_are_exact_where_floats_are_not() {
        for (number, step) in [
            ("0.3", "0.1"),
            ("1e2", "25"),
            ("-7.5", "2.5"),
            ("0", "0.1"),
            ("1e300", "10"),
        ] {
            assert!(is_multiple(number, step), "{number} of {step}");
        }
        for (number, step) in [("0.35", "0.1"), ("7", "2"), ("1e-9", "1e-8")] {
            assert!(!is_multiple(number, step), "{number} of {step}");
        }
    }
}
