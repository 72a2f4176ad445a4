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

/// Returns the digits of an integer in any notation, owned if they differ from the text: `20.0` and
/// `2e1` are `20`. An integer that no integer type holds may be returned as it is.
pub fn whole_number(text: &str) -> Option<Cow<'_, str>> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) && text != "-0" {
        return Some(Cow::Borrowed(text));
    }
    expanded(text)
}

/// Writes an integer without fraction and exponent.
fn expanded(text: &str) -> Option<Cow<'_, str>> {
    let number = Decimal::parse(text);
    // A float holds no number between zero and 5e-324, so a `Value` with it is zero, too.
    if number.digits == 0 || text.parse() == Ok(0.0) {
        return Some(Cow::Owned("0".into()));
    }
    let zeros = usize::try_from(number.last).ok()?;
    // Exceeds every integer type; the digits would only cost memory.
    if zeros > 40 {
        return Some(text.into());
    }
    let sign = if number.is_negative { "-" } else { "" };
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_matches('0');
    Some(format!("{sign}{digits}{}", "0".repeat(zeros)).into())
}

/// Returns `true` if a float can't tell these integers apart.
#[allow(clippy::cast_precision_loss, reason = "the loss is compared")]
pub(crate) fn rounds_to_same(left: i128, right: i128) -> bool {
    (left as f64).total_cmp(&(right as f64)).is_eq()
}

/// Returns `true` if `number` is an exact multiple of `step`. Numbers of more than about 38 digits
/// are compared as floats.
pub fn is_multiple(number: &str, step: &str) -> bool {
    let exact = Decimal::parse(number).is_multiple_of(&Decimal::parse(step));
    exact.unwrap_or_else(|| match (number.parse::<f64>(), step.parse::<f64>()) {
        (Ok(number), Ok(step)) => number % step == 0.0,
        _ => false,
    })
}

/// Digits without trailing zeros, times a power of ten.
#[derive(Clone, Copy)]
pub(crate) struct Decimal {
    is_negative: bool,
    digits: u128,
    exponent: i64,
    /// The place of the last digit other than zero, as a power of ten. It differs from the exponent if
    /// further digits were dropped, because they don't fit.
    last: i64,
}

impl Decimal {
    /// Parses a JSON number. Constants parse many, so it calls few functions.
    #[allow(clippy::cast_lossless, reason = "`From` is not constant")]
    pub(crate) const fn parse(text: &str) -> Decimal {
        let (text, length) = (text.as_bytes(), size_of_val(text));
        let (mut digits, mut exponent, mut at) = (0, 0, 0);
        // The digits that don't fit, and the zeros at the end.
        let (mut dropped, mut zeros) = (0, 0);
        let mut is_fraction = false;
        while at < length {
            match text[at] {
                digit @ b'0'..=b'9' => {
                    if dropped == 0 && digits <= (u128::MAX - 9) / 10 {
                        digits = digits * 10 + (digit - b'0') as u128;
                    } else {
                        dropped += 1;
                    }
                    zeros = if digit == b'0' { zeros + 1 } else { 0 };
                    exponent -= is_fraction as i64;
                }
                b'.' => is_fraction = true,
                b'e' | b'E' => {
                    exponent += self::exponent(text, at + 1);
                    break;
                }
                _ => {}
            }
            at += 1;
        }
        let last = exponent + zeros;
        exponent += dropped;
        while digits != 0 && digits % 10 == 0 {
            digits /= 10;
            exponent += 1;
        }
        Decimal {
            is_negative: length > 0 && text[0] == b'-',
            digits,
            exponent,
            last,
        }
    }

    /// Returns the number if it is an integer, limited to 128 bits.
    #[allow(clippy::cast_possible_wrap, reason = "limited before")]
    pub(crate) const fn whole(&self) -> Option<i128> {
        if self.last < 0 && self.digits != 0 {
            return None;
        }
        Some(
            match (shifted(self.digits, self.exponent), self.is_negative) {
                (Some(digits), false) if digits <= i128::MAX as u128 => digits as i128,
                (Some(digits), true) if digits <= i128::MAX as u128 => -(digits as i128),
                (_, false) => i128::MAX,
                (_, true) => i128::MIN,
            },
        )
    }

    /// Returns `true` if both are the same number, as far as their digits fit.
    pub(crate) const fn is_same(&self, other: &Decimal) -> bool {
        self.digits == other.digits
            && (self.digits == 0
                || self.exponent == other.exponent && self.is_negative == other.is_negative)
    }

    /// Returns `true` for a multiple, or `None` if that takes more than 128 bits to compute.
    pub(crate) const fn is_multiple_of(&self, step: &Decimal) -> Option<bool> {
        if self.digits == 0 {
            return Some(true);
        }
        if step.digits == 0 || self.last != self.exponent || step.last != step.exponent {
            return None;
        }
        let zeros = self.exponent - step.exponent;
        if zeros < 0 {
            return match shifted(step.digits, -zeros) {
                Some(step) => Some(self.digits.is_multiple_of(step)),
                // The step is greater than the number.
                None => Some(false),
            };
        }
        // 128 bits have fewer factors of two and five, so more zeros make no difference.
        let (mut rest, mut at) = (self.digits % step.digits, 0);
        while rest != 0 && at < zeros && at < 128 {
            let Some(next) = rest.checked_mul(10) else {
                return None;
            };
            rest = next % step.digits;
            at += 1;
        }
        Some(rest == 0)
    }
}

/// Appends zeros, if the number then still fits.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "limited before"
)]
const fn shifted(digits: u128, zeros: i64) -> Option<u128> {
    match zeros {
        0 => Some(digits),
        _ if digits == 0 => Some(0),
        1..=38 => digits.checked_mul(10_u128.pow(zeros as u32)),
        _ => None,
    }
}

/// Parses the exponent of a number, limited to a value beyond every range.
#[allow(clippy::cast_lossless, reason = "`From` is not constant")]
const fn exponent(text: &[u8], start: usize) -> i64 {
    let (mut exponent, mut at) = (0, start);
    while at < text.len() {
        if text[at].is_ascii_digit() && exponent < 100_000 {
            exponent = exponent * 10 + (text[at] - b'0') as i64;
        }
        at += 1;
    }
    if start < text.len() && text[start] == b'-' {
        -exponent
    } else {
        exponent
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
            ("1e-323", None),
            ("1e-99999999999999999999", Some("0")),
            (
                "12345678901234567890123456789.0",
                Some("12345678901234567890123456789"),
            ),
        ] {
            assert_eq!(whole_number(text).as_deref(), digits, "{text}");
        }
        for text in [
            "1e308",
            "-12e300",
            "12e40",
            "1e41",
            "1e99999999999999999999",
        ] {
            let digits = whole_number(text).unwrap();
            assert_eq!(digits.parse::<f64>(), text.parse(), "{text}: {digits}");
            assert!(digits.len() < 50);
        }
    }

    #[test]
    fn integers_beyond_128_bits_are_their_limits() {
        for (text, whole) in [
            ("-200e-1", Some(-20)),
            ("1e-9", None),
            ("1e99", Some(i128::MAX)),
            ("-1e99", Some(i128::MIN)),
            ("340282366920938463463374607431768211456.0", Some(i128::MAX)),
            ("340282366920938463463374607431768211456.5", None),
        ] {
            assert_eq!(Decimal::parse(text).whole(), whole, "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_in_decimal() {
        for (left, right, expected) in [
            ("1", "1.0", true),
            ("-0", "0.000", true),
            ("2e1", "20", true),
            ("-2", "2", false),
            ("0.3", "0.30000000000000000001", false),
        ] {
            let [left, right] = [left, right].map(Decimal::parse);
            assert_eq!(left.is_same(&right), expected);
        }
    }

    #[test]
    fn multiples_are_exact_where_floats_are_not() {
        for (number, step) in [
            ("0.3", "0.1"),
            ("1e2", "25"),
            ("-7.5", "2.5"),
            ("0", "0.1"),
            ("1e300", "10"),
            ("1e39", "0.1"),
            ("3e300", "0.75"),
            ("1e400", "128e-9"),
        ] {
            assert!(is_multiple(number, step), "{number} of {step}");
        }
        for (number, step) in [
            ("0.35", "0.1"),
            ("7", "2"),
            ("1e-9", "1e-8"),
            ("1e39", "0.3"),
            ("7", "1e99"),
            ("1e400", "340282366920938463463e-9"),
        ] {
            assert!(!is_multiple(number, step), "{number} of {step}");
        }
    }
}
