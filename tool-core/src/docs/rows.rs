//! What a schema says, as the rows of a table: one for each member, at any depth.

use crate::json::Json;

/// A row.
pub(super) struct Row {
    /// The path: `stops[].name`.
    pub(super) name: String,
    /// What kind of value it is.
    pub(super) kind: String,
    /// Whether it must be there; `None` for what is no member.
    pub(super) is_required: Option<bool>,
    /// What is asked of it besides.
    pub(super) rules: Vec<String>,
    /// What it is, in the words that a model reads.
    pub(super) description: String,
}

/// The rows of the members of a schema, and a row for itself where it has none.
pub(super) fn of(schema: &Json, name: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    if schema.get("properties").is_some() {
        inside(schema, "", &mut rows);
    } else {
        rows.push(row(schema, name.to_owned(), None));
        inside(schema, name, &mut rows);
    }
    rows
}

/// The definitions that a schema refers to, each with its rows.
pub(super) fn definitions(schema: &Json) -> Vec<(String, Vec<Row>)> {
    let lists = ["$defs", "definitions"].into_iter();
    let all = lists
        .filter_map(|key| schema.get(key))
        .flat_map(Json::members);
    all.map(|(name, schema)| (name.clone(), of(schema, name)))
        .collect()
}

fn row(schema: &Json, name: String, is_required: Option<bool>) -> Row {
    Row {
        name,
        kind: kind(schema),
        is_required,
        rules: rules(schema),
        description: text(schema, "description"),
    }
}

/// The rows of what is inside of a schema at a path.
fn inside(schema: &Json, path: &str, rows: &mut Vec<Row>) {
    let required = schema.get("required").map_or(&[][..], Json::items);
    for (key, member) in schema.get("properties").map_or(&[][..], Json::members) {
        let name = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        let is_required = required.iter().any(|name| name.text() == Some(key));
        rows.push(row(member, name.clone(), Some(is_required)));
        inside(member, &name, rows);
    }
    let prefix = schema.get("prefixItems").map_or(&[][..], Json::items);
    for (at, item) in prefix.iter().enumerate() {
        part(item, format!("{path}[{at}]"), true, rows);
    }
    if let Some(items) = schema.get("items") {
        part(items, format!("{path}[]"), false, rows);
    }
    if let Some(values) = schema.get("additionalProperties") {
        part(values, join(path, "*"), false, rows);
    }
    for (pattern, values) in schema
        .get("patternProperties")
        .map_or(&[][..], Json::members)
    {
        part(values, join(path, pattern), false, rows);
    }
    match union(schema) {
        Union::None => {}
        Union::OrNull(inner) => inside(inner, path, rows),
        Union::Of(members) => {
            for (at, member) in members.iter().enumerate() {
                let name = format!("{path} ({} of {})", at + 1, members.len());
                rows.push(row(member, name, None));
                inside(member, path, rows);
            }
        }
    }
}

/// The row of a part that the row of the whole may say all of.
fn part(schema: &Json, path: String, is_told: bool, rows: &mut Vec<Row>) {
    if matches!(schema, Json::Boolean(_)) {
        return;
    }
    let row = row(schema, path.clone(), None);
    if is_told || !row.rules.is_empty() || !row.description.is_empty() {
        rows.push(row);
    }
    inside(schema, &path, rows);
}

fn join(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

/// What a schema is a union of.
enum Union<'s> {
    None,
    /// One schema, or `null`.
    OrNull(&'s Json),
    Of(&'s [Json]),
}

fn union(schema: &Json) -> Union<'_> {
    let members = schema.get("anyOf").or(schema.get("oneOf"));
    let Some(Json::Array(members)) = members else {
        return Union::None;
    };
    let is_null = |member: &Json| member.get("type").and_then(Json::text) == Some("null");
    match &members[..] {
        [inner, null] if is_null(null) => Union::OrNull(inner),
        members => Union::Of(members),
    }
}

/// The kind of value that a schema describes, in a few words.
pub(super) fn kind(schema: &Json) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Json::text) {
        return reference.rsplit('/').next().unwrap_or(reference).to_owned();
    }
    match union(schema) {
        Union::None => {}
        Union::OrNull(inner) => return format!("{} or null", kind(inner)),
        Union::Of(members) => return format!("one of {} forms", members.len()),
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let name = match schema.get("type") {
        Some(Json::String(name)) => name.clone(),
        Some(list) => {
            let names: Vec<_> = list.items().iter().filter_map(Json::text).collect();
            names.join(" or ")
        }
        None if schema.get("enum").is_some() => "value".to_owned(),
        None if schema
            .members()
            .iter()
            .all(|(key, _)| crate::json::keywords::is_word(key)) =>
        {
            "any value".to_owned()
        }
        None => "see the schema".to_owned(),
    };
    let values = ["additionalProperties", "items"].map(|key| schema.get(key));
    match (&*name, values) {
        ("array", [_, Some(items @ Json::Object(_))]) if schema.get("prefixItems").is_none() => {
            format!("array of {}", kind(items))
        }
        ("object", [Some(values @ Json::Object(_)), _]) if schema.get("properties").is_none() => {
            format!("map to {}", kind(values))
        }
        _ => name,
    }
}

/// What a schema asks of a value besides its kind.
fn rules(schema: &Json) -> Vec<String> {
    let mut rules = Vec::new();
    let number = |name: &str| schema.get(name).and_then(Json::number);
    if let Some(values) = schema.get("enum") {
        rules.push(format!("one of {}", list(values.items())));
    }
    rules.extend(match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    });
    rules.extend(number("exclusiveMinimum").map(|bound| format!("above {bound}")));
    rules.extend(number("exclusiveMaximum").map(|bound| format!("below {bound}")));
    rules.extend(number("multipleOf").map(|step| format!("a multiple of {step}")));
    for (least, most, unit) in [
        ("minLength", "maxLength", "character"),
        ("minItems", "maxItems", "item"),
        ("minProperties", "maxProperties", "member"),
    ] {
        rules.extend(lengths(number(least), number(most), unit));
    }
    if schema.get("uniqueItems") == Some(&Json::Boolean(true)) {
        rules.push("no item twice".to_owned());
    }
    rules.extend(
        schema
            .get("pattern")
            .and_then(Json::text)
            .map(|p| format!("pattern {p}")),
    );
    rules.extend(
        schema
            .get("format")
            .and_then(Json::text)
            .map(|f| format!("format {f}")),
    );
    rules.extend(
        schema
            .get("default")
            .map(|default| format!("default {default}")),
    );
    let examples = schema.get("examples").map_or(&[][..], Json::items);
    if !examples.is_empty() {
        rules.push(format!("for example {}", list(examples)));
    }
    rules
}

fn list(values: &[Json]) -> String {
    let values: Vec<_> = values.iter().map(ToString::to_string).collect();
    values.join(", ")
}

fn lengths(least: Option<&str>, most: Option<&str>, unit: &str) -> Option<String> {
    let units = |count: &str| match count {
        "1" => format!("1 {unit}"),
        _ => format!("{count} {unit}s"),
    };
    match (least.filter(|least| *least != "0"), most) {
        (Some(least), Some(most)) if least == most => Some(format!("exactly {}", units(most))),
        (Some(least), Some(most)) => Some(format!("{least} to {}", units(most))),
        (Some(least), None) => Some(format!("at least {}", units(least))),
        (None, Some(most)) => Some(format!("at most {}", units(most))),
        (None, None) => None,
    }
}

fn text(schema: &Json, key: &str) -> String {
    schema
        .get(key)
        .and_then(Json::text)
        .unwrap_or_default()
        .to_owned()
}
