//! Describes what a JSON Schema expects, in the words that [`crate::schema::messages`] uses for a typed
//! schema.

use std::io;

use serde_json::Value;

use super::Json;
use super::keywords::rows;
use crate::schema::messages::{
    self, ANY, Budget, SHOWN, number_between, one_of, pattern, push, shorten, sized, text,
};
use crate::schema::{IntegerRange, Lengths};

/// Describes what a schema expects, for use after "expected". References start at the root.
pub(crate) fn expected(schema: &Json, root: &Json) -> String {
    describe(schema, root, &mut Budget::new())
}

fn describe(schema: &Json, root: &Json, budget: &mut Budget) -> String {
    budget
        .spend(|budget| described(schema, root, budget))
        .unwrap_or_else(|| ANY.into())
}

fn described(schema: &Json, root: &Json, budget: &mut Budget) -> String {
    if schema.get_str("$ref").is_some() {
        return match target(schema, root) {
            Some(target) => describe(target, root, budget),
            None => ANY.into(),
        };
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(Json::Array(values)) = schema.get("enum") {
        return either(values.iter().map(Json::to_string));
    }
    match schema.get("type") {
        Some(Json::String(name)) => typed(name, schema),
        Some(Json::Array(names)) => {
            let names = names.iter().filter_map(Json::as_str);
            let types: Vec<_> = names.map(|name| typed(name, schema)).collect();
            either(types.iter())
        }
        _ => {
            for keyword in ["anyOf", "oneOf"] {
                if let Some(Json::Array(schemas)) = schema.get(keyword) {
                    let each = schemas.iter().map(|schema| describe(schema, root, budget));
                    let mut each: Vec<_> = each.collect();
                    each.dedup();
                    return either(each.iter());
                }
            }
            if let [first, ..] = schema.get_items("allOf") {
                return describe(first, root, budget);
            }
            let mut implied = rows(schema).map(|(keyword, _)| keyword.restricts);
            let found = implied.find(|name| !name.is_empty());
            found.map_or(ANY.into(), |name| typed(name, schema))
        }
    }
}

/// Lists alternatives.
pub(crate) fn either<T: AsRef<str>>(alternatives: impl ExactSizeIterator<Item = T>) -> String {
    text(|out| one_of(out, alternatives, None))
}

/// Resolves the reference of a schema, if it leads to a place in the same document.
pub(crate) fn target<'s>(schema: &Json, root: &'s Json) -> Option<&'s Json> {
    let pointer = schema.get_str("$ref")?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// Describes one type with the schema's constraints for it.
pub(crate) fn typed(name: &str, schema: &Json) -> String {
    match name {
        "null" => "null".into(),
        "boolean" => "true or false".into(),
        "integer" => integer(schema),
        "number" => number(schema),
        "string" => string(schema),
        "array" => {
            let lengths = lengths(schema, "minItems", "maxItems");
            text(|out| sized(out, "an array", lengths, "item"))
        }
        "object" => object(schema),
        _ => ANY.into(),
    }
}

/// Describes an object by its tag, its only required property, or its number of properties.
fn object(schema: &Json) -> String {
    let properties = schema.get_members("properties");
    let mut tags = properties.iter();
    if let Some((key, value)) = tags.find_map(|(key, schema)| Some((key, schema.get("const")?))) {
        return format!("an object with \"{key}\": {value}");
    }
    if let ([Json::String(only)], 1) = (schema.get_items("required"), properties.len()) {
        return format!("an object with \"{only}\"");
    }
    let lengths = lengths(schema, "minProperties", "maxProperties");
    text(|out| sized(out, "an object", lengths, "member"))
}

fn string(schema: &Json) -> String {
    let what = match schema.get_str("format") {
        Some(format) => format!("a string in {format} format"),
        None => "a string".into(),
    };
    let lengths = lengths(schema, "minLength", "maxLength");
    text(|out| {
        sized(out, &what, lengths, "character");
        pattern(out, schema.get_str("pattern").unwrap_or_default());
    })
}

fn integer(schema: &Json) -> String {
    let limit = |keyword: &str, round: fn(f64) -> f64| {
        let limit = schema.get_number(keyword)?;
        #[allow(clippy::cast_possible_truncation)] // saturates, and no limit is greater
        let rounded = |limit: f64| round(limit) as i128;
        limit.parse().ok().or(limit.parse().ok().map(rounded))
    };
    let above = limit("exclusiveMinimum", f64::floor).map(|limit| limit.saturating_add(1));
    let below = limit("exclusiveMaximum", f64::ceil).map(|limit| limit.saturating_sub(1));
    let minimum = limit("minimum", f64::ceil).max(above);
    let maximum = [limit("maximum", f64::floor), below].into_iter().flatten();
    let maximum = maximum.min();
    let range = IntegerRange {
        shows_minimum: minimum.is_some(),
        shows_maximum: maximum.is_some(),
        ..IntegerRange::between(minimum.unwrap_or(i128::MIN), maximum.unwrap_or(i128::MAX))
    };
    text(|out| {
        messages::integer(out, &range);
        // It may be a fraction.
        if let Some(step) = schema.get_number("multipleOf") {
            push(out, format_args!(", a multiple of {step}"));
        }
    })
}

fn number(schema: &Json) -> String {
    let limit = |keyword: &str| schema.get_number(keyword);
    let end = |inclusive: &str, exclusive: &str| {
        let end = limit(inclusive).map(|limit| (limit, false));
        end.or(limit(exclusive).map(|limit| (limit, true)))
    };
    let minimum = end("minimum", "exclusiveMinimum");
    let maximum = end("maximum", "exclusiveMaximum");
    text(|out| number_between(out, minimum, maximum, limit("multipleOf")))
}

fn lengths(schema: &Json, minimum: &str, maximum: &str) -> Lengths {
    let limit = |keyword: &str| schema.get_number(keyword)?.parse().ok();
    Lengths {
        minimum: limit(minimum).unwrap_or(0),
        maximum: limit(maximum).unwrap_or(usize::MAX),
    }
}

/// The JSON of a value, truncated for display. A large value is not written whole.
pub(crate) fn shown(value: &Value) -> String {
    struct Start(Vec<u8>);

    impl io::Write for Start {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // As many characters as are shown and one more.
            let left = 4 * (SHOWN + 1) - self.0.len();
            if left == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            let bytes = &bytes[..bytes.len().min(left)];
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut start = Start(Vec::new());
    // It fails where the text is cut.
    let _ = serde_json::to_writer(&mut start, value);
    let text = start.0.utf8_chunks().next();
    shorten(text.map_or("", |chunk| chunk.valid())).into_owned()
}
