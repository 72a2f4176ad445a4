//! Generates valid arguments for a tool from its schema.

use tool_core::__docs::{Drafts, is_multiple, validate};
use tool_core::ToolSpec;
use tool_core::schema::Json;

use super::rows::join;
use crate::keywords::is_opaque;

/// The maximum number of values generated for one example.
const MAX_STEPS: usize = 2000;

/// The maximum depth. Few arguments are deeper, and such an example would help nobody.
const MAX_DEPTH: usize = 12;

/// Returns valid arguments, or the reason why none could be generated.
///
/// A property is filled in if it has an example or a default, or is required. The result is
/// validated as in a call: an invalid example is worse than none.
pub(super) fn arguments(tool: &ToolSpec, schema: &Json) -> Result<Json, String> {
    let generate = |fills_optional| {
        let mut generator = Generator {
            root: schema,
            fills_optional,
            steps: MAX_STEPS,
        };
        let arguments = generator.value(schema, "", 0, 0)?;
        match validate(tool, &arguments.to_string()).first() {
            None => Ok(arguments),
            Some(violation) => Err(format!("{violation}; add a valid example")),
        }
    };
    generate(true).or_else(|reason| generate(false).map_err(|_| reason))
}

struct Generator<'s> {
    root: &'s Json,
    fills_optional: bool,
    steps: usize,
}

impl<'s> Generator<'s> {
    /// Generates the `nth` value of a schema. Values with different numbers differ if possible.
    fn value(
        &mut self,
        schema: &'s Json,
        path: &str,
        nth: usize,
        depth: usize,
    ) -> Result<Json, String> {
        if depth > MAX_DEPTH || self.steps == 0 {
            return Err(format!("{} is nested too deeply", subject(path)));
        }
        self.steps -= 1;
        if let Some(value) = listed_value(schema, nth) {
            return Ok(value.clone());
        }
        if let Some(reference) = schema.get_str("$ref") {
            let pointer = reference.strip_prefix('#');
            let target = pointer.and_then(|pointer| self.root.pointer(pointer));
            let target = target.ok_or_else(|| needs(path, "refers to another document"))?;
            return self.value(target, path, nth, depth + 1);
        }
        if *schema == Json::Boolean(true) {
            return Ok(Json::from("text"));
        }
        if is_opaque(schema, depth > 0, Drafts::of(self.root)) || schema.get("allOf").is_some() {
            return Err(needs(path, "has a schema that is too complex"));
        }
        if let Some(union) = schema.get("anyOf") {
            let mut reason = needs(path, "has no possible value");
            for at in 0..union.items().len() {
                let variant = &union.items()[(at + nth) % union.items().len()];
                match self.value(variant, path, nth, depth + 1) {
                    Ok(value) => return Ok(value),
                    Err(other) => reason = other,
                }
            }
            return Err(reason);
        }
        let kind = match schema.get("type") {
            Some(Json::Array(kinds)) => kinds.first().and_then(Json::as_str),
            kind => kind.and_then(Json::as_str),
        };
        match kind {
            Some("null") => Ok(Json::Null),
            Some("boolean") => Ok(Json::Boolean(nth.is_multiple_of(2))),
            Some("integer") => number(schema, path, nth, true),
            Some("number") => number(schema, path, nth, false),
            Some("string") => string(schema, path, nth),
            Some("array") => self.array(schema, path, depth),
            Some("object") => self.object(schema, path, nth, depth),
            _ => Ok(Json::from("text")),
        }
    }

    fn array(&mut self, schema: &'s Json, path: &str, depth: usize) -> Result<Json, String> {
        let prefix = schema.get_items("prefixItems");
        let rest = schema
            .get("items")
            .filter(|rest| **rest != Json::Boolean(false));
        let minimum = length(schema, "minItems").unwrap_or(0);
        let maximum = length(schema, "maxItems").unwrap_or(usize::MAX);
        let wanted = minimum.max(1).max(prefix.len()).min(maximum);
        let mut items = Vec::new();
        let mut nth = 0;
        while items.len() < wanted && nth < 4 * wanted {
            let Some(item_schema) = prefix.get(items.len()).or(rest) else {
                break;
            };
            let item = self.value(item_schema, &format!("{path}[]"), nth, depth + 1);
            nth += 1;
            match item {
                Ok(item) if schema.get("uniqueItems").is_some() && items.contains(&item) => {}
                Ok(item) => items.push(item),
                // An empty list is valid, and no item can be generated.
                Err(_) if minimum == 0 && prefix.is_empty() => break,
                Err(reason) => return Err(reason),
            }
        }
        if items.len() < minimum {
            return Err(needs(path, "needs more distinct items than were generated"));
        }
        Ok(Json::Array(items))
    }

    fn object(
        &mut self,
        schema: &'s Json,
        path: &str,
        nth: usize,
        depth: usize,
    ) -> Result<Json, String> {
        let properties = schema.get_members("properties");
        let required = schema.get_items("required");
        let minimum = length(schema, "minProperties");
        let maximum = length(schema, "maxProperties").unwrap_or(usize::MAX);
        let mut members = Vec::new();
        let mut skipped = Vec::new();
        for (key, property) in properties {
            let is_required = required.iter().any(|name| name.as_str() == Some(key));
            let is_filled = self.fills_optional
                && listed_value(property, 0).is_some_and(|value| *value != Json::Null);
            if is_required || is_filled {
                let value = self.value(property, &join(path, key), nth, depth + 1)?;
                members.push((key.clone(), value));
            } else {
                skipped.push((key, property));
            }
        }
        let missing = minimum.unwrap_or(0).saturating_sub(members.len());
        for (key, property) in skipped.into_iter().take(missing) {
            let value = self.value(property, &join(path, key), nth, depth + 1)?;
            members.push((key.clone(), value));
        }
        let patterns = schema.get_members("patternProperties");
        let others = schema.get("additionalProperties");
        let others = others.filter(|others| **others != Json::Boolean(false));
        let wanted = minimum
            .unwrap_or(usize::from(properties.is_empty()))
            .min(maximum);
        for nth in 0..wanted.saturating_sub(members.len()).min(MAX_STEPS) {
            let (key, property) = match (patterns.first(), others) {
                (Some((pattern, property)), _) => (matching_key(pattern, nth), property),
                (None, Some(property)) => (Some(format!("key_{}", nth + 1)), property),
                (None, None) => break,
            };
            let path = format!("{path}.*");
            let key = key.ok_or_else(|| needs(&path, "has a pattern for its name"))?;
            members.push((key, self.value(property, &path, nth, depth + 1)?));
        }
        if members.len() < minimum.unwrap_or(0) {
            return Err(needs(path, "needs more properties than were generated"));
        }
        Ok(Json::Object(members))
    }
}

/// A value from the schema's `examples`, `default`, `const` or `enum`.
fn listed_value(schema: &Json, nth: usize) -> Option<&Json> {
    let examples = schema.get_items("examples");
    let listed = schema.get_items("enum");
    let pick = |list: &'_ [Json]| (!list.is_empty()).then(|| nth % list.len());
    let default = schema.get("default").filter(|_| nth == 0);
    (pick(examples).map(|at| &examples[at]))
        .or(default)
        .or(schema.get("const"))
        .or(pick(listed).map(|at| &listed[at]))
}

/// A key that matches one of the patterns this crate generates: digits, or one character.
fn matching_key(pattern: &str, nth: usize) -> Option<String> {
    if pattern.ends_with("[0-9]*)$") {
        return Some((nth + 1).to_string());
    }
    let letter = char::from(b'a' + u8::try_from(nth % 26).ok()?);
    (pattern == "^[\\s\\S]$").then(|| letter.to_string())
}

fn length(schema: &Json, key: &str) -> Option<usize> {
    schema.get_number(key)?.parse().ok()
}

fn subject(path: &str) -> String {
    match path {
        "" => "the arguments object".to_owned(),
        path => format!("`{path}`"),
    }
}

fn needs(path: &str, problem: &str) -> String {
    format!("{} {problem}; add an example", subject(path))
}

fn number(schema: &Json, path: &str, nth: usize, is_integer: bool) -> Result<Json, String> {
    let bound = |key: &str| -> Option<f64> { schema.get_number(key)?.parse().ok() };
    let minimum = bound("minimum").or(bound("exclusiveMinimum"));
    let maximum = bound("maximum").or(bound("exclusiveMaximum"));
    let multiple_of = schema.get_number("multipleOf");
    let step = bound("multipleOf").unwrap_or(1.0);
    let near = match (minimum, maximum) {
        (Some(minimum), _) if minimum > 1.0 => minimum,
        (_, Some(maximum)) if maximum < 1.0 => minimum.unwrap_or(maximum),
        _ => 1.0,
    };
    let start = (near / step).ceil();
    #[allow(clippy::cast_precision_loss)]
    let shift = nth as f64;
    let middle = minimum
        .zip(maximum)
        .map(|(minimum, maximum)| f64::midpoint(minimum, maximum));
    let candidates = [(start + shift) * step, (start - 1.0 - shift) * step];
    let candidates = candidates.into_iter().chain(middle.filter(|_| !is_integer));
    let mut candidates = candidates.map(|value| {
        // Ten digits hide the rounding errors of the multiplication.
        let text = format!("{value:.10}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    });
    let is_valid = |text: &String| {
        let Ok(value) = text.parse::<f64>() else {
            return false;
        };
        bound("minimum").is_none_or(|bound| value >= bound)
            && bound("exclusiveMinimum").is_none_or(|bound| value > bound)
            && bound("maximum").is_none_or(|bound| value <= bound)
            && bound("exclusiveMaximum").is_none_or(|bound| value < bound)
            && multiple_of.is_none_or(|step| is_multiple(text, step))
            && (!is_integer || !text.contains('.'))
    };
    let number = candidates.find(is_valid);
    let number = number.ok_or_else(|| needs(path, "has a narrow range"))?;
    Ok(Json::Number(number))
}

fn string(schema: &Json, path: &str, nth: usize) -> Result<Json, String> {
    if schema.get("pattern").is_some() {
        return Err(needs(path, "has a pattern"));
    }
    let minimum = length(schema, "minLength").unwrap_or(0);
    let maximum = length(schema, "maxLength");
    let fits = |text: &str| {
        let count = text.chars().count();
        minimum <= count && count <= maximum.unwrap_or(usize::MAX)
    };
    let format = schema.get_str("format");
    let known = match format {
        Some(format) => {
            let text = formatted(format, nth);
            Some(text.ok_or_else(|| needs(path, &format!("has the format {format}")))?)
        }
        None => described_value(schema.get_str("description").unwrap_or_default())
            .filter(|_| nth == 0)
            .map(str::to_owned),
    };
    if let Some(text) = known.filter(|text| fits(text)) {
        return Ok(Json::String(text));
    }
    if format.is_some() || minimum > 1000 {
        return Err(needs(path, "has a format and a length"));
    }
    let mut text = match nth {
        0 => "text".to_owned(),
        more => format!("text {}", more + 1),
    };
    // Shorten and extend at the start: the number keeps the items of a set distinct.
    if let Some(maximum) = maximum {
        let excess = text.chars().count().saturating_sub(maximum);
        text.drain(..excess.min(text.len()));
    }
    while text.len() < minimum {
        text.insert(0, 't');
    }
    Ok(Json::String(text))
}

/// The example value in a description: "such as `Lisbon`", "For example 2026-11-21." The last line counts most,
/// because the form of a type stands there.
fn described_value(description: &str) -> Option<&str> {
    description.lines().rev().find_map(value_in_line)
}

fn value_in_line(description: &str) -> Option<&str> {
    let markers = ["such as ", "for example ", "e.g. "];
    // ASCII lower case keeps byte positions.
    let lower_case = description.to_ascii_lowercase();
    let start = markers
        .iter()
        .find_map(|marker| Some(lower_case.find(marker)? + marker.len()));
    let rest = &description[start?..];
    if let Some(quoted) = rest.strip_prefix('`') {
        return quoted.split_once('`').map(|(value, _)| value);
    }
    let plain = rest.split(" or ").next().unwrap_or(rest);
    let plain = plain.strip_suffix('.').unwrap_or(plain);
    // More than three words are a sentence.
    Some(plain).filter(|plain| plain.split(' ').count() <= 3)
}

fn formatted(format: &str, nth: usize) -> Option<String> {
    let day = nth % 28 + 1;
    let suffix = match nth {
        0 => String::new(),
        more => (more + 1).to_string(),
    };
    Some(match format {
        "date-time" => format!("2026-01-{day:02}T08:30:00Z"),
        "date" => format!("2026-01-{day:02}"),
        "time" => format!("08:{:02}:00Z", nth % 60),
        "duration" => format!("PT{}H", nth + 1),
        "email" | "idn-email" => format!("someone{suffix}@example.com"),
        "hostname" | "idn-hostname" => format!("host{suffix}.example.com"),
        "ipv4" => format!("192.0.2.{}", nth % 254 + 1),
        "ipv6" => format!("2001:db8::{:x}", nth % 0xffff + 1),
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => {
            format!("https://example.com/{}", nth + 1)
        }
        "uuid" => format!("0e6d3f5c-7a41-4c1e-9b52-{:012x}", nth + 1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::described_value;

    #[test]
    fn finds_the_example_value_in_a_description() {
        for (description, value) in [
            (
                "City and country, such as `Lisbon, Portugal`. Any.",
                "Lisbon, Portugal",
            ),
            ("Such as `Lisbon, Portugal`.", "Lisbon, Portugal"),
            ("Größe. E.g. `12 ß`", "12 ß"),
            ("A day. For example 2026-11-21.", "2026-11-21"),
            ("SUCH AS `LOUD`", "LOUD"),
            ("Such as today or tomorrow", "today"),
            (
                "When to come, such as noon.\nTime of day, such as 08:30:00.",
                "08:30:00",
            ),
        ] {
            assert_eq!(described_value(description), Some(value), "{description}");
        }
        for description in [
            "",
            "Such as",
            "Such as the city that was asked for.",
            "Such as `a",
        ] {
            assert_eq!(described_value(description), None, "{description}");
        }
    }
}
