//! Generates values for a JSON Schema from the schema alone. The caller validates them, because with rare keywords a
//! value may not match.

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Number, Value};

/// Nesting depth from which optional parts are left out.
const DEPTH: usize = 5;

/// Strings that code often gets wrong.
const TEXTS: [&str; 12] = [
    "",
    "a",
    "Lisbon",
    "a b",
    "x-y_z",
    "0",
    "-1.5",
    "é",
    "日本語",
    "\u{1f980}",
    "two\nlines",
    "\"quoted\\\"",
];

/// Characters of generated strings.
const LETTERS: &str = "aabcdefghijklmnopqrstuvwxyzABCXYZ0123456789  .,-_/'\"\\éß日\u{1f980}\n";

/// A `SplitMix64` random number generator.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Returns a number below `end`, or 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.word() % (end.max(1) as u64)).unwrap_or(0)
    }

    fn pick<'s, T>(&mut self, things: &'s [T]) -> Option<&'s T> {
        let at = self.below(things.len());
        things.get(at)
    }
}

/// Generates one value. Visits a bounded number of schemas, so recursion in `root` ends.
pub(super) fn sample(root: &Value, random: &mut Random) -> Value {
    let mut sampler = Sampler {
        root,
        random,
        left: 2_000,
    };
    sampler.value(root, 0)
}

struct Sampler<'a> {
    root: &'a Value,
    random: &'a mut Random,
    /// Number of values that may still be generated.
    left: usize,
}

impl Sampler<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        self.left = self.left.saturating_sub(1);
        if depth > 4 * DEPTH || self.left == 0 {
            return Value::Null;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.root.pointer(reference.trim_start_matches('#'));
            return self.value(target.unwrap_or(&Value::Null), depth + 1);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.random.pick(values).cloned().unwrap_or_default();
        }
        if let Some(values) = schema["examples"].as_array()
            && self.random.below(2) == 0
            && let Some(value) = self.random.pick(values)
        {
            return value.clone();
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(schemas) = schema[key].as_array() {
                let plain = |schema: &&Value| !schema.to_string().contains("$ref");
                // Below a certain depth, recursive types must end.
                let chosen = if depth > DEPTH {
                    schemas.iter().find(plain).or(schemas.first())
                } else {
                    self.random.pick(schemas)
                };
                let value = self.value(chosen.unwrap_or(&Value::Null), depth + 1);
                return self.merged(value, schema, depth);
            }
        }
        if let Some(schemas) = schema["allOf"].as_array() {
            let mut value = Value::Null;
            for part in schemas {
                let next = self.value(part, depth + 1);
                value = merge(value, next);
            }
            return self.merged(value, schema, depth);
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => self.random.pick(kinds).and_then(Value::as_str),
            kind => kind.as_str(),
        };
        match kind {
            Some("boolean") => Value::Bool(self.random.below(2) == 0),
            Some("integer") => self.number(schema, true),
            Some("number") => self.number(schema, false),
            Some("string") => Value::String(self.text(schema)),
            Some("array") => self.array(schema, depth),
            Some("object") => self.object(schema, depth),
            Some(_) => Value::Null,
            None if schema.get("properties").is_some() => self.object(schema, depth),
            None => match self.random.below(4) {
                0 => Value::Null,
                1 => Value::from(7),
                2 => Value::from("text"),
                _ => Value::Array(vec![Value::Bool(true)]),
            },
        }
    }

    /// Adds the properties that a schema has beside a union.
    fn merged(&mut self, value: Value, schema: &Value, depth: usize) -> Value {
        if schema.get("properties").is_none() {
            return value;
        }
        let beside = self.object(schema, depth);
        merge(beside, value)
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Value {
        let mut items = Vec::new();
        for item in schema["prefixItems"].as_array().into_iter().flatten() {
            items.push(self.value(item, depth + 1));
        }
        let count = self.size(schema, ["minItems", "maxItems"], depth);
        if schema["items"] != Value::Bool(false) {
            for _ in items.len()..count {
                let item = self.value(&schema["items"], depth + 1);
                if schema["uniqueItems"] != Value::Bool(true) || !items.contains(&item) {
                    items.push(item);
                }
            }
        }
        Value::Array(items)
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut members = Map::new();
        let required = schema["required"].as_array();
        // Chooses all, none or some of the optional properties.
        let chance = match self.random.below(3) {
            _ if depth > DEPTH => 0,
            0 => 0,
            1 => 100,
            _ => 50,
        };
        for (key, member) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.is_some_and(|names| names.iter().any(|name| name == key));
            if is_required || self.random.below(100) < chance {
                let value = self.value(member, depth + 1);
                members.insert(key.clone(), value);
            }
        }
        if let Some(values @ Value::Object(_)) = schema.get("additionalProperties") {
            let count = self.size(schema, ["minProperties", "maxProperties"], depth);
            for number in 0..count.saturating_sub(members.len()) {
                let key = match self.random.pick(&TEXTS) {
                    Some(&key) if !members.contains_key(key) => key.to_owned(),
                    _ => format!("key {number}"),
                };
                let value = self.value(values, depth + 1);
                members.insert(key, value);
            }
        }
        Value::Object(members)
    }

    /// Returns a number of items or members within the bounds. It is usually small.
    fn size(&mut self, schema: &Value, [least, most]: [&str; 2], depth: usize) -> usize {
        let bound = |key: &str| schema[key].as_u64();
        let least = bound(least).unwrap_or(0).min(100);
        let room = if depth > DEPTH { 0 } else { 3 };
        let most = bound(most).unwrap_or(u64::MAX).min(least + room);
        let span = usize::try_from(most.saturating_sub(least) + 1).unwrap_or(1);
        usize::try_from(least).unwrap_or(0) + self.random.below(span)
    }

    fn text(&mut self, schema: &Value) -> String {
        if let Some(pattern) = schema["pattern"].as_str()
            && let Ok(parsed) = regex_syntax::parse(pattern)
        {
            let mut text = String::new();
            self.matching(&parsed, &mut text, 0);
            return text;
        }
        if let Some(fitting) = self.formatted(schema["format"].as_str().unwrap_or_default()) {
            return fitting;
        }
        let bound = |key: &str| schema[key].as_u64().and_then(|b| usize::try_from(b).ok());
        let least = bound("minLength").unwrap_or(0).min(10_000);
        let most = bound("maxLength").unwrap_or(usize::MAX);
        let text = if self.random.below(3) == 0 {
            self.random.pick(&TEXTS).copied().unwrap_or_default().into()
        } else {
            let length = self.random.below(24);
            self.letters(LETTERS, length)
        };
        let mut text: String = text.chars().take(most).collect();
        let missing = least.saturating_sub(text.chars().count());
        text.push_str(&self.letters(LETTERS, missing));
        text
    }

    fn letters(&mut self, letters: &str, count: usize) -> String {
        let letters: Vec<_> = letters.chars().collect();
        let letter = |_| self.random.pick(&letters).copied().unwrap_or('a');
        (0..count).map(letter).collect()
    }

    /// Returns a value of a format of JSON Schema, from the format's whole domain.
    fn formatted(&mut self, format: &str) -> Option<String> {
        Some(match format {
            "date" => self.date(),
            "date-time" => format!("{}T{}", self.date(), self.time()),
            "time" => self.time(),
            "duration" => {
                let (days, hours) = (self.random.below(400), self.random.below(24));
                format!("P{days}DT{hours}H")
            }
            "email" | "idn-email" => format!("{}@{}", self.word(), self.host()),
            "uri" | "uri-reference" | "iri" | "iri-reference" => {
                let (host, path) = (self.host(), self.word());
                format!("https://{host}/{path}?b={}", self.random.below(100))
            }
            "uuid" => {
                let (high, low) = (self.random.word(), self.random.word());
                format!(
                    "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
                    high >> 32,
                    high >> 16 & 0xFFFF,
                    high & 0xFFF,
                    low >> 52,
                    low & 0xFFFF_FFFF_FFFF
                )
            }
            "ipv4" => {
                let bytes = [(); 4].map(|()| self.random.below(256).to_string());
                bytes.join(".")
            }
            "ipv6" => {
                let (high, low) = (self.random.below(1 << 16), self.random.below(1 << 16));
                format!("2001:db8::{high:x}:{low:x}")
            }
            "hostname" | "idn-hostname" => self.host(),
            "json-pointer" => format!("/{}/{}", self.word(), self.random.below(10)),
            "regex" => format!("^{}+$", self.word()),
            _ => return None,
        })
    }

    fn word(&mut self) -> String {
        let length = 1 + self.random.below(8);
        self.letters("abcdefghijklmnopqrstuvwxyz", length)
    }

    fn host(&mut self) -> String {
        let domain = ["example.org", "example.com", "example.net"];
        let domain = self.random.pick(&domain).copied().unwrap_or_default();
        format!("{}.{domain}", self.word())
    }

    /// Returns a day. Most are in the last century or this one, some in any year, and some are leap days.
    fn date(&mut self) -> String {
        let year = match self.random.below(4) {
            0 => 1 + self.random.below(9_999),
            _ => 1900 + self.random.below(200),
        };
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let month = 1 + self.random.below(12);
        let days = match month {
            2 => 28 + usize::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let day = match self.random.below(4) {
            0 => days,
            _ => 1 + self.random.below(days),
        };
        format!("{year:04}-{month:02}-{day:02}")
    }

    fn time(&mut self) -> String {
        let (hour, minute) = (self.random.below(24), self.random.below(60));
        let second = self.random.below(60);
        let zone = ["Z", "+00:00", "+05:30", "-08:00"];
        let zone = self.random.pick(&zone).copied().unwrap_or_default();
        let fraction = ["", "", ".5", ".123456"];
        let fraction = self.random.pick(&fraction).copied().unwrap_or_default();
        format!("{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
    }

    /// Writes a string that matches a regular expression.
    fn matching(&mut self, pattern: &Hir, text: &mut String, depth: usize) {
        if depth > 50 || text.len() > 1_000 {
            return;
        }
        match pattern.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
            HirKind::Class(Class::Unicode(class)) => {
                let mut ranges: Vec<_> = class
                    .iter()
                    .map(|range| (range.start(), range.end()))
                    .collect();
                // JSON Schema's regular expressions restrict `\d` and `\w` to ASCII.
                let ascii = ranges.iter().filter_map(|&(start, end)| {
                    let (start, end) = (start.max(' '), end.min('~'));
                    (start <= end).then_some((start, end))
                });
                let ascii: Vec<_> = ascii.collect();
                if !ascii.is_empty() {
                    ranges = ascii;
                }
                if let Some(&(start, end)) = self.random.pick(&ranges) {
                    let span = (u32::from(end) - u32::from(start) + 1).min(64) as usize;
                    let offset = u32::try_from(self.random.below(span)).unwrap_or(0);
                    let chosen = char::from_u32(u32::from(start) + offset);
                    text.push(chosen.unwrap_or(start));
                }
            }
            HirKind::Class(Class::Bytes(class)) => {
                if let Some(range) = self.random.pick(class.ranges()) {
                    text.push(char::from(range.start()));
                }
            }
            HirKind::Repetition(repetition) => {
                let room = match repetition.max {
                    Some(max) => (max - repetition.min).min(4),
                    None => 4,
                };
                let more = self.random.below(room as usize + 1);
                for _ in 0..repetition.min.min(200) as usize + more {
                    self.matching(&repetition.sub, text, depth + 1);
                }
            }
            HirKind::Capture(capture) => self.matching(&capture.sub, text, depth + 1),
            HirKind::Concat(parts) => {
                for part in parts {
                    self.matching(part, text, depth + 1);
                }
            }
            HirKind::Alternation(parts) => {
                if let Some(part) = self.random.pick(parts) {
                    self.matching(part, text, depth + 1);
                }
            }
        }
    }

    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap
    )]
    fn number(&mut self, schema: &Value, is_integer: bool) -> Value {
        let bound = |key: &str| schema[key].as_f64();
        let step = bound("multipleOf").filter(|step| *step > 0.0);
        let gap = step.unwrap_or(if is_integer { 1.0 } else { 1e-3 });
        let least = bound("minimum").or(bound("exclusiveMinimum").map(|least| least + gap));
        let most = bound("maximum").or(bound("exclusiveMaximum").map(|most| most - gap));
        let part = self.random.below((1 << 20) + 1) as f64 / f64::from(1 << 20);
        let edges = [0.0_f64, 1.0, -1.0, 100.0, 1e9, -1e9];
        let free = match self.random.below(4) {
            0 => *self.random.pick(&edges).unwrap_or(&0.0),
            1 => self.random.below(201) as f64 - 100.0,
            // Chooses numbers of every order of magnitude.
            _ => {
                let size = 2_f64.powi(self.random.below(53) as i32) * (1.0 + part);
                if self.random.below(2) == 0 {
                    size
                } else {
                    -size
                }
            }
        };
        let mut number = match (least, most, self.random.below(4)) {
            (Some(least), _, 0) => least,
            (_, Some(most), 1) => most,
            (Some(least), Some(most), _) => least + (most - least) * part,
            (Some(least), None, _) => least + free.abs(),
            (None, Some(most), _) => most - free.abs(),
            (None, None, _) if is_integer => free,
            (None, None, _) => free + part,
        };
        if is_integer {
            number = number.round();
        }
        if let Some(step) = step {
            number = (number / step).round() * step;
        }
        if number.fract() == 0.0 && number.abs() < 9e15 {
            return Value::from(number as i64);
        }
        Number::from_f64(number).map_or(Value::Null, Value::Number)
    }
}

/// Merges the members of two objects. Other values are replaced by the second one.
fn merge(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut first), Value::Object(second)) => {
            first.extend(second);
            Value::Object(first)
        }
        (_, second) => second,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_core::dynamic::DynamicTool;
    use tool_core::{Registry, ToolCall};

    use super::*;

    /// The validator of `DynamicTool` judges the values.
    #[test]
    fn samples_match_common_schemas() {
        let schemas = [
            json!({"a": {"type": "integer", "minimum": 3, "exclusiveMaximum": 5}}),
            json!({"a": {"type": "number", "multipleOf": 0.5, "maximum": 2}}),
            json!({"a": {"type": "string", "pattern": "^[A-Z]{2}-\\d{3,}(x|yy)?$"}}),
            json!({"a": {"type": "string", "minLength": 4, "maxLength": 6}}),
            json!({"a": {"type": "string", "format": "date-time"}}),
            json!({"a": {"type": ["string", "null"]}, "b": {"enum": [1, "x", null]}}),
            json!({"a": {"type": "array", "minItems": 2, "items": {"type": "boolean"}}}),
            json!({"a": {"type": "array", "prefixItems": [{"type": "integer"}], "items": false}}),
            json!({"a": {"anyOf": [{"const": 1}, {"type": "object", "properties": {"b": {"type": "integer"}},
                "required": ["b"], "additionalProperties": false}]}}),
            json!({"a": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "number"}}}),
            json!({"a": {"type": "array", "items": {"$ref": "#/properties/b"}}, "b": {"type": "integer"}}),
            json!({"a": {"allOf": [{"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
                {"type": "object", "properties": {"y": {"type": "string"}}, "required": ["y"]}]}}),
        ];
        for properties in schemas {
            let schema = json!({"type": "object", "properties": properties, "required": ["a"],
                "additionalProperties": false});
            let tool = DynamicTool::builder("t")
                .parameters(schema.clone())
                .build(async |_, _| Ok::<_, String>(()))
                .unwrap();
            let registry = Registry::builder().tool(tool).build().unwrap();
            let mut different = std::collections::HashSet::new();
            for seed in 0..100 {
                let value = sample(&schema, &mut Random::new(seed));
                let call = ToolCall::new("call_1", "t", value.to_string());
                if let Err(error) = registry.validate(&call) {
                    panic!("{schema}: {value}: {error}");
                }
                different.insert(value.to_string());
            }
            assert!(different.len() > 1, "{schema}: {different:?}");
        }
    }

    /// Twenty values from a large domain are all different, and within the domain.
    #[test]
    fn samples_come_from_the_whole_domain() {
        let formats = [
            "date",
            "date-time",
            "time",
            "duration",
            "email",
            "uri",
            "uuid",
            "ipv4",
            "ipv6",
            "hostname",
            "json-pointer",
            "regex",
        ];
        let mut schemas: Vec<_> = formats
            .iter()
            .map(|format| json!({"type": "string", "format": format}))
            .collect();
        schemas.extend([
            json!({"type": "integer"}),
            json!({"type": "number"}),
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer", "minimum": 0, "maximum": 1_000_000}),
            json!({"type": "string"}),
            json!({"type": "string", "minLength": 5}),
            json!({"type": "string", "pattern": "^[a-z]{3,9}$"}),
        ]);
        for schema in schemas {
            let root = json!({"type": "object", "properties": {"a": schema}, "required": ["a"]});
            let tool = DynamicTool::builder("t")
                .parameters(root.clone())
                .build(async |_, _| Ok::<_, String>(()))
                .unwrap();
            let registry = Registry::builder().tool(tool).build().unwrap();
            let mut random = Random::new(7);
            let mut different = std::collections::HashSet::new();
            for _ in 0..40 {
                let value = sample(&root, &mut random);
                let call = ToolCall::new("call_1", "t", value.to_string());
                assert!(registry.validate(&call).is_ok(), "{root}: {value}");
                different.insert(value.to_string());
            }
            assert!(different.len() >= 18, "{root}: {different:?}");
        }
    }

    #[test]
    fn a_schema_without_end_gets_a_value() {
        let schema =
            json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]});
        sample(&schema, &mut Random::new(1));
        let wide = json!({"type": "array", "minItems": 100, "items": {"$ref": "#"}});
        sample(&wide, &mut Random::new(1));
    }
}
