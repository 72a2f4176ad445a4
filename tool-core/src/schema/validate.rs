//! Walks a schema tree over the arguments of a call and collects what does not fit.
//!
//! The walker is not generic: one instance serves every tool and every type. It judges text that
//! `serde_json` has already found well formed.

use std::collections::HashSet;

use super::cursor::{Cursor, unquote};
use super::words::{expected, nearest, one_of, shorten};
use super::{IntegerRange, Kind, Lengths, Property, Schema};
use crate::error::{Violation, Violations};

/// How deep a value may nest: what `serde_json` accepts, so that no reader overflows its stack.
const DEPTH: usize = 127;

/// Whether `text` is exactly what `schema` describes.
pub(crate) fn conforms(schema: &Schema, text: &str) -> bool {
    let mut walker = Walker::new(text, None);
    walker.value(schema, &Path::ROOT, 0);
    walker.found.is_empty()
}

/// The same arguments in the form that decoding wants, or everything that is wrong with them.
///
/// The form differs where JSON Schema is laxer than serde: an integer spelled `20.0`, and `null`
/// for a member that may be left out.
pub(crate) fn normalise(schema: &Schema, text: &str) -> Result<String, Violations> {
    let mut walker = Walker::new(text, Some(String::with_capacity(text.len())));
    walker.value(schema, &Path::ROOT, 0);
    if walker.found.is_empty() {
        Ok(walker.output.unwrap_or_default())
    } else {
        Err(walker.found)
    }
}

/// Where in the arguments the walker stands; lives on the stack, costs nothing until printed.
struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl Path<'_> {
    const ROOT: Path<'static> = Path {
        parent: None,
        step: Step::Root,
    };

    fn key<'p>(&'p self, key: &'p str) -> Path<'p> {
        Path {
            parent: Some(self),
            step: Step::Key(key),
        }
    }

    fn index(&self, index: usize) -> Path<'_> {
        Path {
            parent: Some(self),
            step: Step::Index(index),
        }
    }
}

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(parent) = self.parent else {
            return Ok(());
        };
        write!(f, "{parent}")?;
        match self.step {
            Step::Root => Ok(()),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => {
                let dot = if matches!(parent.step, Step::Root) {
                    ""
                } else {
                    "."
                };
                write!(f, "{dot}{}", shorten(key))
            }
        }
    }
}

struct Walker<'t> {
    cursor: Cursor<'t>,
    found: Violations,
    output: Option<String>,
}

impl<'t> Walker<'t> {
    fn new(text: &'t str, output: Option<String>) -> Self {
        Walker {
            cursor: Cursor::new(text),
            found: Violations::default(),
            output,
        }
    }

    fn value(&mut self, schema: &Schema, path: &Path<'_>, depth: usize) {
        if depth > DEPTH {
            self.cursor.value();
            return self.report(path, || format!("nested deeper than {DEPTH} levels"));
        }
        let first = self.cursor.peek();
        match (&schema.kind, first) {
            (Kind::Any, _) => self.any(path, depth),
            (Kind::Nullable(_), b'n') => self.copy(),
            (Kind::Nullable(inner), _) => self.value(inner, path, depth),
            (Kind::Boolean, b't' | b'f') => self.copy(),
            (Kind::Integer(range), b'-' | b'0'..=b'9') => self.integer(schema, *range, path),
            (Kind::Number, b'-' | b'0'..=b'9') => self.number(path),
            (Kind::String(lengths), b'"') => self.string(schema, *lengths, path),
            (Kind::Enum(_), b'"') => self.string(schema, Lengths::ANY, path),
            (Kind::Array(items, lengths), b'[') => self.array(schema, items, *lengths, path, depth),
            (Kind::Map(values), b'{') => self.map(values, path, depth),
            (Kind::Object(properties), b'{') => self.object(properties, path, depth),
            _ => self.mismatch(schema, path),
        }
    }

    fn integer(&mut self, schema: &Schema, range: IntegerRange, path: &Path<'_>) {
        let text = self.cursor.value();
        let Some(digits) = whole_number(text) else {
            return self.report(path, || {
                format!("expected {}, got {}", expected(schema), shorten(text))
            });
        };
        let negative = digits.starts_with('-');
        // Beyond 128 bits the sign alone decides.
        let number = digits
            .parse()
            .unwrap_or(if negative { i128::MIN } else { i128::MAX });
        if number < range.minimum {
            self.report(path, || {
                format!("{} is below the minimum {}", shorten(text), range.minimum)
            });
        } else if number > range.maximum {
            self.report(path, || {
                format!("{} is above the maximum {}", shorten(text), range.maximum)
            });
        } else {
            self.write(&digits);
        }
    }

    fn number(&mut self, path: &Path<'_>) {
        let text = self.cursor.value();
        if text.parse::<f64>().is_ok_and(f64::is_finite) {
            self.write(text);
        } else {
            self.report(path, || format!("{} is out of range", shorten(text)));
        }
    }

    fn string(&mut self, schema: &Schema, lengths: Lengths, path: &Path<'_>) {
        let quoted = self.cursor.value();
        let Some(text) = unquote(quoted) else {
            return self.report(path, || {
                "holds half of a surrogate pair, which is no text".into()
            });
        };
        let fits = match schema.kind {
            Kind::Enum(values) => values.iter().any(|value| value.as_str() == text),
            _ => lengths == Lengths::ANY || lengths.admits(text.chars().count()),
        };
        if fits {
            return self.write(quoted);
        }
        self.report(path, || {
            let meant = match schema.kind {
                Kind::Enum(values) => nearest(&text, values.iter().map(super::Text::as_str)),
                _ => None,
            };
            let hint = meant.map_or_else(String::new, |m| format!("; did you mean \"{m}\"?"));
            format!(
                "expected {}, got {}{hint}",
                expected(schema),
                shorten(quoted)
            )
        });
    }

    fn array(
        &mut self,
        schema: &Schema,
        items: &Schema,
        lengths: Lengths,
        path: &Path<'_>,
        depth: usize,
    ) {
        let mut count = 0;
        self.write("[");
        self.cursor.eat(b'[');
        while !self.cursor.eat(b']') && self.cursor.peek() != 0 {
            if count > 0 {
                self.cursor.eat(b',');
                self.write(",");
            }
            self.value(items, &path.index(count), depth + 1);
            count += 1;
        }
        self.write("]");
        if !lengths.admits(count) {
            self.report(path, || {
                format!("expected {}, got {count} items", expected(schema))
            });
        }
    }

    fn map(&mut self, values: &Schema, path: &Path<'_>, depth: usize) {
        let mut seen = HashSet::new();
        self.members(|walker, quoted, key, first| {
            let path = path.key(key);
            if seen.contains(key) {
                return walker.duplicate(&path);
            }
            seen.insert(key.to_owned());
            walker.write_key(quoted, first);
            walker.value(values, &path, depth + 1);
            true
        });
    }

    fn object(&mut self, properties: &'static [Property], path: &Path<'_>, depth: usize) {
        let mut seen = vec![false; properties.len()];
        self.members(|walker, quoted, key, first| {
            let path = path.key(key);
            let Some(at) = properties
                .iter()
                .position(|property| property.name() == key)
            else {
                walker.cursor.value();
                walker.report(&path, || unknown(key, properties));
                return false;
            };
            if std::mem::replace(&mut seen[at], true) {
                return walker.duplicate(&path);
            }
            let property = &properties[at];
            if property.drops_null() && walker.cursor.peek() == b'n' {
                walker.cursor.value();
                return false;
            }
            walker.write_key(quoted, first);
            if property.nullable && walker.cursor.peek() == b'n' {
                walker.copy();
            } else {
                walker.value(property.schema, &path, depth + 1);
            }
            true
        });
        for (property, _) in properties
            .iter()
            .zip(seen)
            .filter(|(p, seen)| p.required && !seen)
        {
            self.report(&path.key(property.name()), || {
                format!("missing; expected {}", expected(property.schema))
            });
        }
    }

    /// Any value: only its depth and the uniqueness of its keys are judged.
    fn any(&mut self, path: &Path<'_>, depth: usize) {
        const ITEMS: &Schema = &Schema::ANY;
        match self.cursor.peek() {
            b'{' => self.map(ITEMS, path, depth),
            b'[' => self.array(ITEMS, ITEMS, Lengths::ANY, path, depth),
            b'"' => self.string(ITEMS, Lengths::ANY, path),
            b'-' | b'0'..=b'9' => self.number(path),
            _ => self.copy(),
        }
    }

    /// Hands every member of an object to `each`: its key as it stands, its key as text, and
    /// whether no member was written before. `each` says whether it wrote the member.
    fn members(&mut self, mut each: impl FnMut(&mut Self, &'t str, &str, bool) -> bool) {
        let mut first = true;
        self.write("{");
        self.cursor.eat(b'{');
        while !self.cursor.eat(b'}') && self.cursor.peek() != 0 {
            let quoted = self.cursor.key();
            match unquote(quoted) {
                Some(key) => first &= !each(self, quoted, &key, first),
                None => {
                    self.cursor.value();
                    self.report(&Path::ROOT.key(quoted), || {
                        "this key holds half of a surrogate pair, which is no text".into()
                    });
                }
            }
            self.cursor.eat(b',');
        }
        self.write("}");
    }

    fn duplicate(&mut self, path: &Path<'_>) -> bool {
        self.cursor.value();
        self.report(path, || "given twice; give it once".into());
        false
    }

    fn mismatch(&mut self, schema: &Schema, path: &Path<'_>) {
        let text = self.cursor.value();
        self.report(path, || {
            format!("expected {}, got {}", expected(schema), shorten(text))
        });
    }

    fn report(&mut self, path: &Path<'_>, message: impl FnOnce() -> String) {
        self.found
            .push_with(|| Violation::new(path.to_string(), message()));
    }

    fn copy(&mut self) {
        let text = self.cursor.value();
        self.write(text);
    }

    fn write_key(&mut self, quoted: &str, first: bool) {
        if !first {
            self.write(",");
        }
        self.write(quoted);
        self.write(":");
    }

    fn write(&mut self, text: &str) {
        if let Some(output) = &mut self.output {
            output.push_str(text);
        }
    }
}

impl Property {
    /// Whether `null` stands for leaving it out: it is optional, and its type has no `null`.
    pub(crate) fn drops_null(&self) -> bool {
        !self.required && !self.nullable && !matches!(self.schema.kind, Kind::Any)
    }
}

fn unknown(key: &str, properties: &[Property]) -> String {
    if let Some(name) = nearest(key, properties.iter().map(Property::name)) {
        return format!("unknown; did you mean \"{name}\"?");
    }
    if properties.is_empty() {
        return "unknown; nothing is expected here".into();
    }
    let keys = one_of(properties.iter().map(|p| format!("\"{}\"", p.name())));
    format!("unknown; expected {keys}")
}

/// The digits of a number that is whole, however it is spelled: `20.0` and `2e1` are `20`.
fn whole_number(text: &str) -> Option<String> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        // An exponent of more digits than fit is out of any range, unless the number is zero.
        Some((mantissa, exponent)) => (
            mantissa,
            exponent
                .parse::<i64>()
                .unwrap_or(if exponent.starts_with('-') {
                    -9999
                } else {
                    9999
                }),
        ),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some("0".into());
    }
    // Where the decimal point ends up, counted from the end of the digits.
    let shift = exponent - i64::try_from(fraction.len()).ok()?;
    let digits = if shift >= 0 {
        // 40 digits are past every integer type; more would only cost memory.
        let zeros = usize::try_from(shift.min(40)).ok()?;
        format!("{digits}{}", "0".repeat(zeros))
    } else {
        let kept = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len() - kept.len()).ok()?;
        if zeros + shift < 0 {
            return None;
        }
        digits[..digits.len() - usize::try_from(-shift).ok()?].to_owned()
    };
    Some(format!("{sign}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_one_however_it_is_spelled() {
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
            (
                "12345678901234567890123456789.0",
                Some("12345678901234567890123456789"),
            ),
        ] {
            assert_eq!(whole_number(text).as_deref(), digits, "{text}");
        }
        assert!(whole_number("1e99999999999999999999").unwrap().len() >= 40);
    }
}
