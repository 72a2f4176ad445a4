//! Numbers and strings.

use super::{Made, length, needs};
use crate::json::Json;
use crate::schema::numbers::is_multiple;

/// The number of this place in a row of such that a schema takes.
pub(super) fn number(schema: &Json, path: &str, nth: usize, is_whole: bool) -> Made {
    let bound = |name: &str| -> Option<f64> { schema.get(name)?.number()?.parse().ok() };
    let least = bound("minimum").or(bound("exclusiveMinimum"));
    let most = bound("maximum").or(bound("exclusiveMaximum"));
    let step = schema.get("multipleOf").and_then(Json::number);
    let unit = bound("multipleOf").unwrap_or(1.0);
    let near = match (least, most) {
        (Some(least), _) if least > 1.0 => least,
        (_, Some(most)) if most < 1.0 => least.unwrap_or(most),
        _ => 1.0,
    };
    let start = (near / unit).ceil();
    #[allow(clippy::cast_precision_loss)]
    let shift = nth as f64;
    let between = least
        .zip(most)
        .map(|(least, most)| f64::midpoint(least, most));
    let candidates = [(start + shift) * unit, (start - 1.0 - shift) * unit];
    let candidates = candidates.into_iter().chain(between.filter(|_| !is_whole));
    let mut spelled = candidates.map(|value| {
        // Ten digits are enough, and hide what multiplying adds.
        let text = format!("{value:.10}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    });
    let fits = |text: &String| {
        let Ok(value) = text.parse::<f64>() else {
            return false;
        };
        let is_above = |name, inclusive: bool| {
            bound(name).is_none_or(|bound| value > bound || inclusive && value >= bound)
        };
        let is_below = |name, inclusive: bool| {
            bound(name).is_none_or(|bound| value < bound || inclusive && value <= bound)
        };
        is_above("minimum", true)
            && is_above("exclusiveMinimum", false)
            && is_below("maximum", true)
            && is_below("exclusiveMaximum", false)
            && step.is_none_or(|step| is_multiple(text, step))
            && (!is_whole || !text.contains('.'))
    };
    let found = spelled.find(fits);
    found.map_or_else(
        || Err(needs(path, "has a narrow range")),
        |text| Ok(Json::Number(text)),
    )
}

/// The string of this place in such a row.
pub(super) fn string(schema: &Json, path: &str, number: usize) -> Made {
    if schema.get("pattern").is_some() {
        return Err(needs(path, "has a pattern"));
    }
    let format = schema.get("format").and_then(Json::text);
    let (least, most) = (length(schema, "minLength"), length(schema, "maxLength"));
    let fits = |text: &str| {
        let count = text.chars().count();
        least.unwrap_or(0) <= count && count <= most.unwrap_or(usize::MAX)
    };
    let known = match format {
        Some(format) => {
            let text = of_format(format, number);
            Some(text.ok_or_else(|| needs(path, &format!("has the format {format}")))?)
        }
        None => named_in(
            schema
                .get("description")
                .and_then(Json::text)
                .unwrap_or_default(),
        )
        .filter(|_| number == 0)
        .map(str::to_owned),
    };
    if let Some(text) = known.filter(|text| fits(text)) {
        return Ok(Json::String(text));
    }
    if format.is_some() || least.is_some_and(|least| least > 1000) {
        return Err(needs(path, "has a format and a length"));
    }
    let mut text = match number {
        0 => "text".to_owned(),
        more => format!("text {}", more + 1),
    };
    // The number stays in sight, so that the items of a set are unlike.
    if let Some(most) = most {
        let excess = text.chars().count().saturating_sub(most);
        text.drain(..excess.min(text.len()));
    }
    while text.len() < least.unwrap_or(0) {
        text.insert(0, 't');
    }
    Ok(Json::String(text))
}

/// The value that a description names: "such as `Lisbon`", "Such as 2026-11-21."
fn named_in(description: &str) -> Option<&str> {
    let marks = ["such as ", "for example ", "e.g. "];
    // As long as the description, byte for byte.
    let folded = description.to_ascii_lowercase();
    let found = marks
        .iter()
        .find_map(|mark| Some(folded.find(mark)? + mark.len()));
    let rest = &description[found?..];
    if let Some(quoted) = rest.strip_prefix('`') {
        return quoted.split_once('`').map(|(value, _)| value);
    }
    let plain = rest.split(" or ").next().unwrap_or(rest);
    let plain = plain.strip_suffix('.').unwrap_or(plain);
    // More words are a sentence.
    Some(plain).filter(|plain| plain.split(' ').count() <= 3 && !plain.contains('\n'))
}

fn of_format(format: &str, number: usize) -> Option<String> {
    let day = number % 28 + 1;
    Some(match format {
        "date-time" => format!("2026-01-{day:02}T08:30:00Z"),
        "date" => format!("2026-01-{day:02}"),
        "time" => format!("08:{:02}:00Z", number % 60),
        "duration" => format!("PT{}H", number + 1),
        "email" | "idn-email" => format!("someone{}@example.com", suffix(number)),
        "hostname" | "idn-hostname" => format!("host{}.example.com", suffix(number)),
        "ipv4" => format!("192.0.2.{}", number % 254 + 1),
        "ipv6" => format!("2001:db8::{:x}", number % 0xffff + 1),
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => {
            format!("https://example.com/{}", number + 1)
        }
        "uuid" => format!("0e6d3f5c-7a41-4c1e-9b52-{:012x}", number + 1),
        _ => return None,
    })
}

fn suffix(number: usize) -> String {
    match number {
        0 => String::new(),
        more => (more + 1).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::named_in;

    #[test]
    fn a_value_is_named_in_a_sentence_or_at_its_start() {
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
        ] {
            assert_eq!(named_in(description), Some(value), "{description}");
        }
        for description in [
            "",
            "Such as",
            "Such as the city that was asked for.",
            "Such as `a",
        ] {
            assert_eq!(named_in(description), None, "{description}");
        }
    }
}
