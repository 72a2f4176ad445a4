//! A schema as the rows of a table: one for each property, at every depth.

use tool_core::__docs::Drafts;
use tool_core::schema::Json;

use crate::keywords::is_annotation;

/// The fields of the arguments or of a result.
pub(super) struct Fields {
    pub(super) rows: Vec<Row>,
    /// The definitions that the schema refers to.
    pub(super) types: Vec<(String, Vec<Row>)>,
}

pub(super) struct Row {
    /// The path, such as `stops[].name`.
    pub(super) name: String,
    /// The end of the path, which is enough where the row stands below its parent's row.
    pub(super) label: String,
    /// The number of rows above that it belongs to.
    pub(super) depth: usize,
    pub(super) kind: String,
    /// The definition that the kind names.
    pub(super) refers_to: Option<String>,
    /// `None` for anything but a property.
    pub(super) is_required: Option<bool>,
    pub(super) constraints: Vec<String>,
    pub(super) description: String,
}

impl Row {
    /// The text of the "Required" column.
    pub(super) fn required(&self) -> &'static str {
        match self.is_required {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        }
    }
}

pub(super) fn fields(schema: &Json, name: &str) -> Fields {
    let types = ["$defs", "definitions"].into_iter();
    let types = types.flat_map(|key| schema.get_members(key));
    Fields {
        rows: rows(schema, name),
        types: types
            .map(|(name, schema)| (name.clone(), rows(schema, name)))
            .collect(),
    }
}

/// The rows of a schema's properties, after a row for the schema itself if it has none.
fn rows(schema: &Json, name: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    if schema.get("properties").is_some() {
        push_children(schema, "", 0, &mut rows);
    } else {
        rows.push(row(schema, name.to_owned(), name, 0, None));
        push_children(schema, name, 1, &mut rows);
    }
    rows
}

fn row(schema: &Json, name: String, label: &str, depth: usize, is_required: Option<bool>) -> Row {
    Row {
        name,
        label: label.to_owned(),
        depth,
        kind: kind(schema),
        refers_to: reference(schema).map(str::to_owned),
        is_required,
        constraints: constraints(schema),
        description: schema.get_str("description").unwrap_or_default().to_owned(),
    }
}

/// Adds the rows below the schema at a path.
fn push_children(schema: &Json, path: &str, depth: usize, rows: &mut Vec<Row>) {
    let required = schema.get_items("required");
    for (key, property) in schema.get_members("properties") {
        let name = join(path, key);
        let is_required = required.iter().any(|name| name.as_str() == Some(key));
        rows.push(row(property, name.clone(), key, depth, Some(is_required)));
        push_children(property, &name, depth + 1, rows);
    }
    for (at, item) in schema.get_items("prefixItems").iter().enumerate() {
        let label = format!("[{at}]");
        push_part(item, &format!("{path}{label}"), &label, depth, true, rows);
    }
    if let Some(items) = schema.get("items") {
        push_part(items, &format!("{path}[]"), "[]", depth, false, rows);
    }
    if let Some(values) = schema.get("additionalProperties") {
        push_part(values, &join(path, "*"), "*", depth, false, rows);
    }
    for (pattern, values) in schema.get_members("patternProperties") {
        push_part(values, &join(path, pattern), pattern, depth, false, rows);
    }
    match union(schema) {
        Union::None => {}
        Union::OrNull(inner) => push_children(inner, path, depth, rows),
        Union::Of(variants) => {
            for (at, variant) in variants.iter().enumerate() {
                let label = format!("({} of {})", at + 1, variants.len());
                let name = format!("{path} {label}");
                rows.push(row(variant, name, &label, depth, None));
                push_children(variant, path, depth + 1, rows);
            }
        }
    }
}

/// Adds the rows of items or values. Their own row is left out if the row above names their type,
/// there is nothing else to say, and `is_shown` is `false`.
fn push_part(
    schema: &Json,
    path: &str,
    label: &str,
    depth: usize,
    is_shown: bool,
    rows: &mut Vec<Row>,
) {
    if matches!(schema, Json::Boolean(_)) {
        return;
    }
    let row = row(schema, path.to_owned(), label, depth, None);
    let is_shown = is_shown || !row.constraints.is_empty() || !row.description.is_empty();
    if is_shown {
        rows.push(row);
    }
    push_children(schema, path, depth + usize::from(is_shown), rows);
}

/// The path of a property of the object at `path`.
pub(super) fn join(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

enum Union<'s> {
    None,
    /// One schema or `null`.
    OrNull(&'s Json),
    Of(&'s [Json]),
}

fn union(schema: &Json) -> Union<'_> {
    let Some(Json::Array(variants)) = schema.get("anyOf").or(schema.get("oneOf")) else {
        return Union::None;
    };
    match &variants[..] {
        [inner, null] if null.get_str("type") == Some("null") => Union::OrNull(inner),
        variants => Union::Of(variants),
    }
}

/// The text of the "Type" column.
fn kind(schema: &Json) -> String {
    if let Some(name) = definition(schema) {
        return name.to_owned();
    }
    match union(schema) {
        Union::None => {}
        Union::OrNull(inner) => return format!("{} or null", kind(inner)),
        Union::Of(variants) => return format!("one of {} variants", variants.len()),
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let mut keys = schema.members().iter().map(|(key, _)| key);
    let name = match schema.get("type") {
        Some(Json::String(name)) => name.clone(),
        Some(list) => {
            let names: Vec<_> = list.items().iter().filter_map(Json::as_str).collect();
            names.join(" or ")
        }
        None if schema.get("enum").is_some() => "value".to_owned(),
        None if keys.all(|key| is_annotation(key, Drafts::ALL)) => "any value".to_owned(),
        None => "see the schema".to_owned(),
    };
    let values = ["additionalProperties", "items"].map(|key| schema.get(key));
    match (&*name, values) {
        ("array", [_, Some(items @ Json::Object(_))]) if schema.get("prefixItems").is_none() => {
            format!("array of {}", kind(items))
        }
        ("object", [Some(values @ Json::Object(_)), _]) if schema.get("properties").is_none() => {
            format!("map of {}", kind(values))
        }
        _ => name,
    }
}

/// The name of the definition that a schema refers to.
fn definition(schema: &Json) -> Option<&str> {
    schema.get_str("$ref")?.rsplit('/').next()
}

/// The name of the definition in the text of the "Type" column.
fn reference(schema: &Json) -> Option<&str> {
    match union(schema) {
        Union::OrNull(inner) => return reference(inner),
        Union::Of(_) => return None,
        Union::None => {}
    }
    let parts = ["items", "additionalProperties"].into_iter();
    let mut parts = parts.filter_map(|key| schema.get(key));
    definition(schema).or_else(|| parts.find_map(reference))
}

/// The cells of the "Constraints" column.
fn constraints(schema: &Json) -> Vec<String> {
    let list = |values: &[Json]| {
        let values: Vec<_> = values.iter().map(ToString::to_string).collect();
        values.join(", ")
    };
    let mut constraints = Vec::new();
    if let Some(values) = schema.get("enum") {
        constraints.push(format!("one of {}", list(values.items())));
    }
    constraints.extend(schema.constraints());
    let default = schema.get("default");
    constraints.extend(default.map(|default| format!("default {default}")));
    let examples = schema.get_items("examples");
    if !examples.is_empty() {
        constraints.push(format!("for example {}", list(examples)));
    }
    constraints
}
