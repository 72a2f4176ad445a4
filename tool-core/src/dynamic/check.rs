//! Checks the schemas of a tool, and repairs those from elsewhere.

use std::collections::{BTreeSet, HashSet};
use std::ops::Deref;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value, json};

use super::CompiledSchema;
use super::cost::{MAX_DEPTH, circles, drop_deep, has_long_chain, is_deep, is_deep_text};
use super::repair::Repairs;
use super::violations::message;
use crate::ordered_json::{Json, pointer_below, pointer_key};
use crate::schema::Schema;
use crate::schema::validate::{Options, ValidateError, normalise};

/// A schema as passed to a builder.
#[derive(Clone, Debug)]
pub(super) enum SchemaInput {
    Value(Value),
    /// JSON text, which keeps the order of keys.
    Text(String),
}

/// The backtracking of one pattern on one text, after which they count as a mismatch. A text takes
/// less than a millisecond.
const MAX_BACKTRACKS: usize = 2000;

type Report<'r> = &'r mut dyn FnMut(&str, &str);

/// The subject of a schema, in messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Parameters,
    Output,
}

impl Subject {
    fn text(self) -> &'static str {
        match self {
            Subject::Parameters => "its parameter schema",
            Subject::Output => "its output schema",
        }
    }
}

/// Reports the tags that `#[tool]` would reject too.
pub(super) fn tags(tags: &[String], problems: &mut Vec<String>) {
    let may_have = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    let is_tag = |tag: &str| (1..=64).contains(&tag.len()) && tag.bytes().all(may_have);
    for tag in tags.iter().filter(|tag| !is_tag(tag)) {
        problems.push(format!(
            "its tag `{}` is invalid; use 1 to 64 ASCII letters, digits, `_`, `-`, `.` or `:`",
            tag.escape_debug()
        ));
    }
}

/// Checks and compiles a schema, and returns it with its JSON text. Each problem is reported with
/// its place, a JSON pointer. What a provider rejects is not a problem: its dialect handles that.
pub(super) fn schema(
    input: SchemaInput,
    subject: Subject,
    problems: &mut Vec<String>,
) -> Option<(CompiledSchema, String)> {
    let before = problems.len();
    let (mut schema, mut text) = parse_and_check(input, subject, &mut reporter(subject, problems))?;
    if problems.len() > before {
        return None;
    }
    complete(&mut schema, &mut text, subject);
    match compile(&schema) {
        Ok(validator) => Some((CompiledSchema { schema, validator }, text)),
        Err(problem) => {
            problems.push(format!("{}: {problem}", subject.text()));
            None
        }
    }
}

fn parse_and_check(
    input: SchemaInput,
    subject: Subject,
    report: Report<'_>,
) -> Option<(Value, String)> {
    let (schema, text) = parse(input, report)?;
    if !schema.is_object() && (subject == Subject::Parameters || !schema.is_boolean()) {
        report("", "it is not a JSON object");
        return None;
    }
    check_chain(&schema, report)?;
    check_meta_schema(&schema, report)?;
    if subject == Subject::Parameters && !accepts_objects(&schema) {
        report(
            "",
            "it does not describe an object; add `\"type\": \"object\"`",
        );
    }
    visit(&schema, report);
    Some((schema, text))
}

fn reporter(subject: Subject, problems: &mut Vec<String>) -> impl FnMut(&str, &str) {
    move |place: &str, problem: &str| {
        let place = match place {
            "" => String::new(),
            place => format!(" at `{place}`"),
        };
        let problem = format!("{}{place}: {problem}", subject.text());
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
}

fn check_chain(schema: &Value, report: Report<'_>) -> Option<()> {
    if has_long_chain(schema) {
        report(
            "",
            "its references lead from one to the next too often; shorten them",
        );
        return None;
    }
    Some(())
}

/// Returns `false` if the type of a schema excludes objects.
fn accepts_objects(schema: &Value) -> bool {
    match &schema["type"] {
        Value::String(name) => name == "object",
        Value::Array(names) => names.iter().any(|name| name == "object"),
        _ => true,
    }
}

/// The maximum bytes of a schema that is repaired.
const MAX_TEXT: usize = 1 << 20;

/// The maximum number of referenced schemas to check by themselves.
const MAX_TARGETS: usize = 200;

/// The maximum number of times that invalid keywords are removed.
const MAX_ROUNDS: usize = 8;

/// Removes what calls can't be validated against. Returns the schema as another server wrote it, and
/// without those parts.
pub(super) fn repaired(
    input: SchemaInput,
    subject: Subject,
    repairs: &mut Repairs,
    problems: &mut Vec<String>,
) -> Option<(Json, Json, CompiledSchema)> {
    let mut report = reporter(subject, problems);
    let text = match parse_json(input, &mut report)?.1 {
        text if text == "null" || text == "true" => {
            repairs.unchecked("", "the schema is missing");
            "{}".into()
        }
        text => text,
    };
    if text.len() > MAX_TEXT {
        report("", "it is longer than a mebibyte");
        return None;
    }
    let parsed = Json::parse(&text).map_err(|error| report("", &error.to_string()));
    let mut schema = parsed.ok()?;
    let is_schema = matches!(schema, Json::Object(_))
        || subject == Subject::Output && matches!(schema, Json::Boolean(_));
    if !is_schema {
        report("", "it is not a JSON object");
        return None;
    }
    let original = schema.clone();
    deduplicate(&mut schema);
    let current = value(&schema);
    if has_long_chain(&current) {
        for place in circles(&current) {
            remove(&mut schema, &place);
            repairs.unchecked(&place, "it leads to itself");
        }
        check_chain(&value(&schema), &mut report)?;
    }
    choose_draft(&mut schema, repairs);
    let mut remove = |schema: &mut Json, place: &str, problem: &str| {
        remove(schema, place);
        repairs.unchecked(place, problem);
    };
    for _ in 0..MAX_ROUNDS {
        let current = value(&schema);
        let mut found = Vec::new();
        if let Some(meta) = meta_schema(&current) {
            for error in meta.iter_errors(&current) {
                let place = error.instance_path().as_str().to_owned();
                found.push((place, message(&error, &Value::Null)));
            }
        }
        if found.is_empty() {
            visit(&current, &mut |place, problem| {
                found.push((place.to_owned(), problem.to_owned()));
            });
        }
        if found.is_empty() {
            break;
        }
        // From the end, so that the places before it stay.
        found.sort();
        found.dedup_by(|later, earlier| later.0 == earlier.0);
        for (place, problem) in found.iter().rev() {
            remove(&mut schema, place, problem);
        }
    }
    let mut current = value(&schema);
    if subject == Subject::Parameters && !accepts_objects(&current) {
        remove(&mut schema, "/type", "it does not describe an object");
        current = value(&schema);
    }
    let mut compiled = compile(&current);
    for last_resort in [bad_targets, named_references, addresses, references] {
        let Err(problem) = &compiled else { break };
        // From the end, so that the places before it stay.
        for place in last_resort(&current).iter().rev() {
            remove(&mut schema, place, problem);
        }
        current = value(&schema);
        compiled = compile(&current);
    }
    match compiled {
        Ok(validator) => {
            let compiled = CompiledSchema {
                schema: current,
                validator,
            };
            Some((original, schema, compiled))
        }
        Err(problem) => {
            report("", &problem);
            None
        }
    }
}

/// Returns the sorted places of the members that fulfil a condition, at every depth.
fn places(schema: &Value, matches: &dyn Fn(&str, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut values = vec![(schema, String::new())];
    while let Some((value, place)) = values.pop() {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    match value {
                        Value::String(text) if matches(key, text) => {
                            found.push(pointer_below(&place, key));
                        }
                        value => values.push((value, pointer_below(&place, key))),
                    }
                }
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                values
                    .extend(items.map(|(at, item)| (item, pointer_below(&place, &at.to_string()))));
            }
            _ => {}
        }
    }
    found.sort();
    found
}

/// The references that do not lead to a place in the same document.
fn named_references(schema: &Value) -> Vec<String> {
    places(schema, &|key, text| {
        is_reference(key) && text != "#" && !text.starts_with("#/")
    })
}

fn addresses(schema: &Value) -> Vec<String> {
    places(schema, &|key, _| matches!(key, "$id" | "id"))
}

fn references(schema: &Value) -> Vec<String> {
    places(schema, &|key, _| is_reference(key))
}

fn is_reference(key: &str) -> bool {
    matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef")
}

/// The errors in schemas that references lead to, where the version has no schemas.
fn bad_targets(schema: &Value) -> Vec<String> {
    let Some(meta) = meta_schema(schema) else {
        return Vec::new();
    };
    let mut found = BTreeSet::new();
    let targets = places(schema, &|key, text| key == "$ref" && text.starts_with("#/"));
    let targets = targets
        .iter()
        .filter_map(|place| schema.pointer(place)?.as_str());
    let targets: BTreeSet<&str> = targets.map(|reference| &reference[1..]).collect();
    for pointer in targets.into_iter().take(MAX_TARGETS) {
        let target = schema.pointer(pointer).unwrap_or(&Value::Null);
        for error in meta.iter_errors(target) {
            found.insert(format!("{pointer}{}", error.instance_path().as_str()));
        }
    }
    found.into_iter().collect()
}

/// Converts into a value without order.
pub(super) fn value(json: &Json) -> Value {
    serde_json::from_str(&json.to_string()).unwrap_or_default()
}

/// Names the version of JSON Schema that a schema without a known one follows.
fn choose_draft(schema: &mut Json, repairs: &mut Repairs) {
    const DRAFTS: [&str; 5] = [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-04/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-06/schema#",
    ];
    let is_valid = |schema: &Value| meta_schema(schema).is_some_and(|meta| meta.is_valid(schema));
    let current = value(schema);
    let is_known = meta_schema(&current).is_some();
    if is_known && (current.get("$schema").is_some() || is_valid(&current)) {
        return;
    }
    if !is_known {
        remove(schema, "/$schema");
        repairs.unchecked("/$schema", "it is not a known version of JSON Schema");
    }
    let Json::Object(members) = schema else {
        return;
    };
    let mut of_draft = value(&Json::Object(members.clone()));
    let fitting = DRAFTS.into_iter().find(|draft| {
        of_draft["$schema"] = (*draft).into();
        is_valid(&of_draft)
    });
    // The first is the default.
    if let Some(draft) = fitting.filter(|draft| *draft != DRAFTS[0]) {
        members.push(("$schema".into(), Json::from(draft)));
        repairs.rewritten("", &format!("it is read as {draft}"));
    }
}

/// Removes the keys that `required` lists twice.
fn deduplicate(schema: &mut Json) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(deduplicate),
        Json::Object(members) => {
            for (keyword, value) in members {
                match value {
                    Json::Array(keys) if keyword == "required" => {
                        let mut seen = HashSet::new();
                        keys.retain(|key| seen.insert(key.to_string()));
                    }
                    value => deduplicate(value),
                }
            }
        }
        _ => {}
    }
}

/// Removes the member at a JSON pointer, or the one that contains the item there.
fn remove(schema: &mut Json, place: &str) {
    let steps: Vec<String> = place.split('/').skip(1).map(pointer_key).collect();
    remove_steps(schema, &steps);
}

/// Returns `false` if the place is not inside of an object.
fn remove_steps(json: &mut Json, steps: &[String]) -> bool {
    let [step, rest @ ..] = steps else {
        return false;
    };
    match json {
        Json::Object(members) => {
            let Some(at) = members.iter().position(|(key, _)| key == step) else {
                return true;
            };
            if rest.is_empty() || !remove_steps(&mut members[at].1, rest) {
                members.remove(at);
            }
            true
        }
        Json::Array(items) => {
            let item = step.parse::<usize>().ok().and_then(|at| items.get_mut(at));
            item.is_none_or(|item| remove_steps(item, rest))
        }
        _ => false,
    }
}

fn parse(input: SchemaInput, report: Report<'_>) -> Option<(Value, String)> {
    let is_text = matches!(input, SchemaInput::Text(_));
    let (schema, text) = parse_json(input, report)?;
    if !is_text {
        return Some((schema, text));
    }
    // Of a duplicate key, one reader may use the first value and another the last.
    if let Err(ValidateError::Invalid(violations)) =
        normalise(&Schema::ANY, &text, Options::default())
    {
        for violation in violations.into_parts().0 {
            report(violation.path(), violation.message());
        }
        return None;
    }
    Some((schema, minified(&text)))
}

fn parse_json(input: SchemaInput, report: Report<'_>) -> Option<(Value, String)> {
    let too_deep = format!("it is nested deeper than {MAX_DEPTH} levels; use `$defs`");
    let text = match input {
        SchemaInput::Text(text) if is_deep_text(&text) => {
            report("", &too_deep);
            return None;
        }
        SchemaInput::Text(text) => text,
        SchemaInput::Value(schema) if is_deep(&schema) => {
            report("", &too_deep);
            drop_deep(schema);
            return None;
        }
        SchemaInput::Value(schema) => {
            let text = schema.to_string();
            return Some((schema, text));
        }
    };
    let schema = serde_json::from_str(&text);
    let schema = schema.map_err(|error| report("", &format!("it is not valid JSON: {error}")));
    Some((schema.ok()?, text))
}

/// Removes the white space of JSON text outside of strings.
fn minified(text: &str) -> String {
    let mut is_inside = false;
    let mut is_escaped = false;
    let kept = text.chars().filter(|&character| {
        match character {
            '"' if !is_escaped => is_inside = !is_inside,
            ' ' | '\t' | '\n' | '\r' if !is_inside => return false,
            _ => {}
        }
        is_escaped = character == '\\' && !is_escaped;
        true
    });
    kept.collect()
}

/// Adds `type` to a schema of arguments and `properties` to that of an object, without which some
/// providers reject them.
fn complete(schema: &mut Value, text: &mut String, subject: Subject) {
    let Value::Object(members) = schema else {
        return;
    };
    let mut add = |members: &mut Map<String, Value>, key: &str, value: Value| {
        let comma = if members.is_empty() { "" } else { "," };
        text.insert_str(text.len() - 1, &format!("{comma}\"{key}\":{value}"));
        members.insert(key.into(), value);
    };
    if subject == Subject::Parameters && !members.contains_key("type") {
        add(members, "type", "object".into());
    }
    if members.get("type").is_some_and(|name| name == "object")
        && !members.contains_key("properties")
    {
        add(members, "properties", json!({}));
    }
}

/// Checks a schema against the meta-schema of its draft. Returns `None` if the draft is unknown.
fn check_meta_schema(schema: &Value, report: Report<'_>) -> Option<()> {
    let Some(meta) = meta_schema(schema) else {
        let name = &schema["$schema"];
        let problem =
            format!("{name} is not a known version of JSON Schema; remove it, or use a known one");
        report("/$schema", &problem);
        return None;
    };
    for error in meta.iter_errors(schema) {
        report(
            error.instance_path().as_str(),
            &message(&error, &Value::Null),
        );
    }
    Some(())
}

/// Returns the meta-schema of a schema's draft, if it is known.
fn meta_schema(schema: &Value) -> Option<impl Deref<Target = Validator>> {
    match Draft::default().detect(schema) {
        Draft::Draft4 => Some(jsonschema::draft4::meta::validator()),
        Draft::Draft6 => Some(jsonschema::draft6::meta::validator()),
        Draft::Draft7 => Some(jsonschema::draft7::meta::validator()),
        Draft::Draft201909 => Some(jsonschema::draft201909::meta::validator()),
        Draft::Draft202012 => Some(jsonschema::draft202012::meta::validator()),
        _ => None,
    }
}

/// Compiles a validator that never fetches anything.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        // Only patterns with look-around or back-references backtrack.
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS));
    options.build(schema).map_err(|error| match error.kind() {
        ValidationErrorKind::Referencing(_) => {
            "it has a reference that can't be resolved; nothing is fetched".into()
        }
        _ => message(&error, &Value::Null),
    })
}

/// Something in a schema that is worth a look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Calls can't be validated against it.
    Invalid,
    /// Some provider rejects it.
    Unportable,
}

/// Returns `true` if every provider accepts a schema, apart from its keys.
pub(super) fn is_portable(schema: &Value) -> bool {
    let is_union = |keyword: &&str| schema.get(keyword).is_some();
    let mut is_portable =
        schema["type"] == "object" && !["allOf", "anyOf", "oneOf"].iter().any(is_union);
    let mut walk = Walk {
        root: schema,
        report: &mut |_, _, found| is_portable &= found != Found::Unportable,
    };
    walk.schema(schema, "");
    is_portable
}

/// Reports invalid references and patterns.
fn visit(schema: &Value, report: Report<'_>) {
    let mut report = |place: &str, problem: &str, found| {
        if found == Found::Invalid {
            report(place, problem);
        }
    };
    let mut walk = Walk {
        root: schema,
        report: &mut report,
    };
    walk.schema(schema, "");
}

struct Walk<'s, 'r> {
    root: &'s Value,
    report: &'r mut dyn FnMut(&str, &str, Found),
}

impl Walk<'_, '_> {
    /// Visits a schema and the schemas in it, but not data such as a default.
    fn schema(&mut self, schema: &Value, place: &str) {
        let Value::Object(members) = schema else {
            return;
        };
        self.provider_rules(members, place);
        for (keyword, value) in members {
            let place = pointer_below(place, keyword);
            match (&**keyword, value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    self.reference(reference, &place);
                }
                ("pattern", Value::String(pattern)) => self.pattern(pattern, &place),
                ("patternProperties", Value::Object(schemas)) => {
                    for (pattern, schema) in schemas {
                        let place = pointer_below(&place, pattern);
                        self.pattern(pattern, &place);
                        self.schema(schema, &place);
                    }
                }
                (
                    "properties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies",
                    Value::Object(schemas),
                ) => {
                    for (key, schema) in schemas {
                        self.schema(schema, &pointer_below(&place, key));
                    }
                }
                ("items" | "prefixItems" | "allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                    for (at, schema) in schemas.iter().enumerate() {
                        self.schema(schema, &pointer_below(&place, &at.to_string()));
                    }
                }
                (
                    "items"
                    | "additionalItems"
                    | "additionalProperties"
                    | "contains"
                    | "propertyNames"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "unevaluatedItems"
                    | "unevaluatedProperties"
                    | "contentSchema",
                    schema,
                ) => self.schema(schema, &place),
                _ => {}
            }
        }
    }

    /// Reports what some providers reject in one schema.
    fn provider_rules(&mut self, schema: &Map<String, Value>, place: &str) {
        let is_array = match schema.get("type") {
            Some(Value::String(name)) => name == "array",
            Some(Value::Array(names)) => names.iter().any(|name| name == "array"),
            _ => false,
        };
        let has_items = schema.contains_key("items") || schema.contains_key("prefixItems");
        let is_empty_enum = schema
            .get("enum")
            .is_some_and(|values| values == &json!([]));
        if is_array && !has_items || schema.contains_key("oneOf") || is_empty_enum {
            (self.report)(place, "", Found::Unportable);
        }
    }

    fn pattern(&mut self, pattern: &str, place: &str) {
        if compile(&json!({ "pattern": pattern })).is_err() {
            let problem = format!("`{pattern}` is not a valid regular expression");
            (self.report)(place, &problem, Found::Invalid);
        }
    }

    fn reference(&mut self, reference: &str, place: &str) {
        let is_found = match reference.strip_prefix('#') {
            Some("") => true,
            // The validator decodes the escapes of a URI.
            Some(fragment) if fragment.contains('%') => true,
            Some(pointer) if pointer.starts_with('/') => self.root.pointer(pointer).is_some(),
            Some(anchor) => has_anchor(self.root, anchor),
            None => has_id(self.root) || compile(&json!({ "$ref": reference })).is_ok(),
        };
        if !is_found {
            let problem = format!(
                "`{reference}` is not in the schema, and nothing is fetched; add it to `$defs`"
            );
            (self.report)(place, &problem, Found::Invalid);
        }
    }
}

fn has_anchor(schema: &Value, anchor: &str) -> bool {
    any_object(schema, &|members| {
        let text = |key| members.get(key).and_then(Value::as_str);
        text("$anchor") == Some(anchor)
            || text("$dynamicAnchor") == Some(anchor)
            || text("$id").and_then(|id| id.strip_prefix('#')) == Some(anchor)
    })
}

/// Returns `true` if a part of the schema has an address that references may use.
fn has_id(schema: &Value) -> bool {
    any_object(schema, &|members| members.contains_key("$id"))
}

fn any_object(value: &Value, matches: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(members) => {
            matches(members) || members.values().any(|member| any_object(member, matches))
        }
        Value::Array(items) => items.iter().any(|item| any_object(item, matches)),
        _ => false,
    }
}
