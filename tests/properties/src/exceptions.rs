//! The documented exceptions: where a tool's verdict may differ from that of an independent
//! validator
//! of its schema. Every exception is listed here; the agreement tests skip nothing else.
//!
//! Exceptions are checked, too: each says how to change the arguments so that it no longer applies,
//! and the two verdicts must then agree.

use serde_json::{Map, Number, Value};

use crate::subject::Subject;
use crate::table::promises;

/// A documented exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exception {
    /// `null` counts as absent for optional values: strict modes make models send it.
    NullForOptional,
    /// No text, `null` and `""` mean "no arguments": providers send all three for `{}`.
    NoArguments,
    /// A value that differs in case alone is corrected: Anthropic's strict mode returns such
    /// values.
    Case,
    /// `#[serde(alias)]`: other names are accepted, and a schema with all of them would only make
    /// a model choose.
    Alias,
    /// `#[serde(other)]`: any other tag is accepted, and a model should send one that is known.
    Other,
    /// An integer outside of a type whose schema shows no bounds: a model needs no reminder that a
    /// number
    /// of days is below two to the thirty-first.
    Magnitude,
    /// A map key outside of its integer type: JSON Schema cannot bound a number in a key.
    IntegerKey,
    /// Unique items that differ as JSON and that the type reads as one value: JSON Schema does not
    /// know the type.
    SameValue,
    /// A multiple of a decimal step: validators that compute in binary fractions find that 0.3 is
    /// not a multiple of 0.1.
    DecimalStep,
    /// A type that parses a string in more detail than JSON Schema can express.
    Parsed,
}

/// Returns `true` if a row's format is shown to the model and not enforced, as on a plain `String`.
/// The validator must not enforce it either.
pub fn only_shows_its_format(row: &str) -> bool {
    row.starts_with("format_")
}

/// Rows whose types parse strings.
fn is_parsed(row: &str) -> bool {
    row.starts_with("parsed_")
}

/// Other names that rows accept: alias and name.
pub const ALIASES: [(&str, &str, &str); 10] = [
    ("aliased", "also", "name"),
    ("aliased", "likewise", "name"),
    ("alias_in_flat", "also", "name"),
    ("alias_in_flat", "likewise", "name"),
    ("aliased_variants", "crimson", "red"),
    ("aliased_variants", "disc", "circle"),
    ("aliased_tags", "disc", "circle"),
    ("map_aliased_keys", "crimson", "red"),
    ("unique_aliased", "crimson", "red"),
    ("length_aliased_set", "crimson", "red"),
];

/// Rows that accept other tags: the value that represents all others.
const OTHERS: [(&str, &str); 6] = [
    ("flat_several", "unknown"),
    ("other_plain", "known"),
    ("other_mixed", "known"),
    ("other_flat", "unknown"),
    ("other_internal", "unknown"),
    ("other_adjacent", "unknown"),
];

/// Map keys that fit the integer type of a row's keys, which is narrower than their pattern.
fn holds_key(row: &str, key: i128) -> bool {
    match row {
        "map_u8_keys" => u8::try_from(key).is_ok(),
        "map_i16_keys" => i16::try_from(key).is_ok(),
        "map_u64_keys" => u64::try_from(key).is_ok(),
        _ => i64::try_from(key).is_ok(),
    }
}

/// Returns the exceptions that explain why a tool and the validator differ over some arguments;
/// `None`
/// if nothing explains it.
pub fn explain(subject: &Subject, arguments: &Value, is_accepted: bool) -> Option<Vec<Exception>> {
    let is_nothing = arguments.is_null() || arguments == "";
    if is_nothing && is_accepted == subject.accepts(&Value::Object(Map::new())) {
        return Some(vec![Exception::NoArguments]);
    }
    if is_accepted {
        let mut lax = Lax {
            row: subject.row.name,
            root: &subject.schema,
        };
        let candidates = lax.spellings(&subject.schema, arguments);
        let valid = candidates
            .into_iter()
            .find(|(value, _)| subject.validator.is_valid(value));
        return valid.map(|(_, used)| used).filter(|used| !used.is_empty());
    }
    if is_parsed(subject.row.name) {
        return Some(vec![Exception::Parsed]);
    }
    let mut narrow = Narrow {
        row: subject.row.name,
        used: Vec::new(),
        numbers: 0,
    };
    let mut narrowed = narrow.value(arguments);
    let promise = promises()
        .into_iter()
        .find(|promise| promise.row == subject.row.name);
    if let (Some(promise), Some(items)) = (promise, narrowed["value"].as_array_mut()) {
        let count = items.len();
        (promise.without_duplicates)(items);
        if items.len() < count {
            narrow.used.push(Exception::SameValue);
        }
    }
    let agrees = subject.validator.is_valid(&narrowed) && subject.accepts(&narrowed);
    (agrees && !narrow.used.is_empty()).then_some(narrow.used)
}

/// Rewrites arguments to the spelling that the schema has.
struct Lax<'s> {
    row: &'static str,
    root: &'s Value,
}

type Spelling = (Value, Vec<Exception>);

impl Lax<'_> {
    /// The value as each branch of the schema would spell it.
    fn spellings(&mut self, schema: &Value, value: &Value) -> Vec<Spelling> {
        if let Some(reference) = schema["$ref"].as_str() {
            let root = self.root;
            let target = root.pointer(reference.trim_start_matches('#'));
            return self.spellings(target.unwrap_or(&Value::Null), value);
        }
        if let Some(schemas) = schema["anyOf"].as_array() {
            let all = schemas
                .iter()
                .flat_map(|schema| self.spellings(schema, value));
            return few(all.collect());
        }
        match value {
            Value::String(text) => vec![self.text(schema, text)],
            Value::Array(items) => {
                let prefix = schema["prefixItems"].as_array();
                let all = items.iter().enumerate().map(|(at, item)| {
                    let schema =
                        prefix.map_or(&schema["items"], |p| p.get(at).unwrap_or(&Value::Null));
                    self.spellings(schema, item)
                });
                let all: Vec<_> = all.collect();
                let start = vec![(Vec::new(), Vec::new())];
                let whole = all.into_iter().fold(start, |rows, items| {
                    product(&rows, &items, |row: &mut Vec<Value>, item| row.push(item))
                });
                whole
                    .into_iter()
                    .map(|(items, used)| (Value::Array(items), used))
                    .collect()
            }
            Value::Object(members) => self.object(schema, members),
            Value::Number(number) => match schema["multipleOf"].as_f64() {
                Some(step) if step.fract() != 0.0 && is_multiple(number, step) => {
                    vec![(Value::from(0), vec![Exception::DecimalStep])]
                }
                _ => vec![(value.clone(), Vec::new())],
            },
            _ => vec![(value.clone(), Vec::new())],
        }
    }

    fn text(&self, schema: &Value, text: &str) -> Spelling {
        let listed = schema["enum"].as_array().map(Vec::as_slice);
        let listed = listed.or(schema.get("const").map(std::slice::from_ref));
        let listed: Vec<_> = listed
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if listed.is_empty() || listed.contains(&text) {
            return (Value::from(text), Vec::new());
        }
        if let Some(name) = self.alias(text).filter(|name| listed.contains(name)) {
            return (Value::from(name), vec![Exception::Alias]);
        }
        let folded = listed
            .iter()
            .find(|value| value.to_lowercase() == text.to_lowercase());
        if let Some(value) = folded {
            return (Value::from(*value), vec![Exception::Case]);
        }
        let open = OTHERS
            .iter()
            .find(|(row, value)| *row == self.row && listed.contains(value));
        match open {
            Some((_, value)) => (Value::from(*value), vec![Exception::Other]),
            None => (Value::from(text), Vec::new()),
        }
    }

    fn alias(&self, text: &str) -> Option<&'static str> {
        let found = ALIASES
            .iter()
            .find(|(row, alias, _)| *row == self.row && *alias == text);
        found.map(|(_, _, name)| *name)
    }

    fn object(&mut self, schema: &Value, members: &Map<String, Value>) -> Vec<Spelling> {
        let required = schema["required"].as_array();
        let mut rows = vec![(Map::new(), Vec::new())];
        for (key, value) in members {
            let (mut key, mut used) = (key.as_str(), Vec::new());
            if schema["properties"].get(key).is_none()
                && let Some(name) = self.alias(key)
                && !members.contains_key(name)
            {
                (key, used) = (name, vec![Exception::Alias]);
            } else if is_map(schema)
                && let Some(names) = schema["properties"].as_object()
                && !names.contains_key(key)
                && let Some(name) = names
                    .keys()
                    .find(|name| name.to_lowercase() == key.to_lowercase())
                && !members.contains_key(name)
            {
                (key, used) = (name, vec![Exception::Case]);
            }
            let known = schema["properties"].get(key);
            let is_required = required.is_some_and(|names| names.iter().any(|name| name == key));
            if value.is_null() && known.is_some() && !is_required && !is_map(schema) {
                for (_, used) in &mut rows {
                    used.push(Exception::NullForOptional);
                }
                continue;
            }
            let patterned = schema["patternProperties"]
                .as_object()
                .and_then(|all| all.values().next());
            let member = known.or(patterned).or(schema.get("additionalProperties"));
            let spellings = self.spellings(member.unwrap_or(&Value::Null), value);
            rows = product(&rows, &spellings, |row: &mut Map<_, _>, value| {
                row.insert(key.to_owned(), value);
            });
            for (_, all) in &mut rows {
                all.extend(&used);
            }
        }
        rows.into_iter()
            .map(|(members, used)| (Value::Object(members), used))
            .collect()
    }
}

/// Returns `true` if a number is a multiple of a step with at most nine decimals, in decimal.
fn is_multiple(number: &Number, step: f64) -> bool {
    let scaled = |text: String| {
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let digits = format!("{whole}{fraction:0<9}");
        digits.parse::<i128>().ok().filter(|_| fraction.len() <= 9)
    };
    match (scaled(number.to_string()), scaled(step.to_string())) {
        (Some(number), Some(step)) => number % step == 0,
        _ => false,
    }
}

/// Returns `true` if these properties are the keys of a map: a key may be absent, but its value is
/// never `null`.
fn is_map(schema: &Value) -> bool {
    schema["properties"].as_object().is_some_and(|members| {
        let mut schemas = members.values();
        let first = schemas.next();
        members.len() > 1
            && schema.get("required").is_none()
            && schemas.all(|other| Some(other) == first)
    })
}

fn product<R: Clone + PartialEq>(
    rows: &[(R, Vec<Exception>)],
    values: &[Spelling],
    put: impl Fn(&mut R, Value),
) -> Vec<(R, Vec<Exception>)> {
    let all = rows.iter().flat_map(|(row, used)| {
        values.iter().map(|(value, more)| {
            let mut row = row.clone();
            put(&mut row, value.clone());
            (row, used.iter().chain(more).copied().collect())
        })
    });
    few(all.collect())
}

/// Nested unions have many spellings; the ones that change least come first and suffice.
fn few<T: PartialEq>(spellings: Vec<(T, Vec<Exception>)>) -> Vec<(T, Vec<Exception>)> {
    let mut few = Vec::new();
    for spelling in spellings {
        if few.len() < 256 && !few.contains(&spelling) {
            few.push(spelling);
        }
    }
    few
}

/// Returns the arguments with numbers and integer keys in the range of every type; `None` if they were.
pub fn narrowed(row: &'static str, arguments: &Value) -> Option<Value> {
    let mut narrow = Narrow {
        row,
        used: Vec::new(),
        numbers: 0,
    };
    let narrowed = narrow.value(arguments);
    (!narrow.used.is_empty()).then_some(narrowed)
}

/// Brings numbers and integer keys into the range of every type.
struct Narrow {
    row: &'static str,
    used: Vec<Exception>,
    numbers: i64,
}

impl Narrow {
    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Number(number)
                if number
                    .as_f64()
                    .is_some_and(|n| n.abs() > f64::from(i32::MAX)) =>
            {
                self.used.push(Exception::Magnitude);
                // A multiple of every small step, different each time.
                let magnitude = 1_441_440_000 - 720_720 * self.numbers;
                self.numbers += 1;
                let sign = if number.as_f64() < Some(0.0) { -1 } else { 1 };
                Value::from(sign * magnitude)
            }
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(members) => {
                let mut narrow = Map::new();
                for (key, value) in members {
                    let is_beyond = self.row.starts_with("map_")
                        && is_integer(key)
                        && !key.parse().is_ok_and(|key| holds_key(self.row, key));
                    if is_beyond {
                        self.used.push(Exception::IntegerKey);
                    } else {
                        narrow.insert(key.clone(), self.value(value));
                    }
                }
                Value::Object(narrow)
            }
            other => other.clone(),
        }
    }
}

fn is_integer(key: &str) -> bool {
    let digits = key.strip_prefix('-').unwrap_or(key);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
