//! Checks the schemas of a tool, and repairs schemas from elsewhere.

use std::collections::{BTreeSet, HashSet};
use std::ops::Deref;

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use super::compiled::{CompiledSchema, compile};
use super::cost::{
    MAX_DEPTH, circles, crowded, drop_deep, has_long_chain, has_long_places, is_deep, is_deep_text,
    walk,
};
use super::hidden::remove_from_schema;
use super::plain;
use super::references::{References, each_object, has_key, is_reference};
use super::repair::Repairs;
use super::violations::message;
use crate::ordered_json::keywords::{Drafts, Holds, rows};
use crate::ordered_json::{Json, pointer_below, pointer_key};
use crate::schema::Schema;
use crate::schema::validate::{Options, ValidateError, normalise};
use crate::visible;

/// A schema as passed to a builder.
#[derive(Clone, Debug)]
pub(super) enum SchemaInput {
    Value(Value),
    /// JSON text, which keeps the order of keys.
    Text(String),
}

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

/// A schema that was parsed.
struct Parsed {
    schema: Json,
    /// The same without its order.
    value: Value,
    text: String,
}

/// Checks and compiles a schema. Each problem is reported with its place, a JSON pointer. A keyword that a
/// provider rejects is not a problem, because its dialect handles that.
pub(super) fn schema(
    input: SchemaInput,
    subject: Subject,
    problems: &mut Vec<String>,
) -> Option<CompiledSchema> {
    let mut parsed = parse_as_written(input, subject, &mut reporter(subject, problems))?;
    let mut found = Vec::new();
    check_use(&parsed.schema, subject, &mut found);
    complete(&mut parsed, subject);
    let Parsed {
        schema,
        value,
        text,
    } = parsed;
    let mut compiled = None;
    if found.is_empty() && !has_other_dialects(&schema) {
        // Compiling checks a schema against the meta-schema, too.
        compiled = compile(&value).ok();
    }
    if compiled.is_none() {
        let before = problems.len();
        let mut report = reporter(subject, problems);
        list_meta_errors(&value, &mut report);
        for (place, problem) in found {
            report(&place, &problem);
        }
        drop(report);
        if problems.len() > before {
            return None;
        }
        let compiled_again = compile(&value);
        let problem = |problem| problems.push(format!("{}: {problem}", subject.text()));
        compiled = compiled_again.map_err(problem).ok();
    }
    Some(CompiledSchema::of(schema, text.into(), compiled?))
}

/// Parses the schema that models are given of a type, if [`schema`] accepts the one for calls. Both differ only in
/// `null` and the bounds of numbers.
pub(super) fn parameters_alone(text: String) -> Option<(Json, String)> {
    let mut parsed = parse(SchemaInput::Text(text), &mut |_, _| {})?;
    complete(&mut parsed, Subject::Parameters);
    Some((parsed.schema, parsed.text))
}

/// Parses a schema, unless reading it would take too long or its draft is unknown.
fn parse_as_written(input: SchemaInput, subject: Subject, report: Report<'_>) -> Option<Parsed> {
    let is_text = matches!(input, SchemaInput::Text(_));
    let mut parsed = parse(input, report)?;
    if is_text {
        // Of a duplicate key, one reader may use the first value and another the last.
        if plain::read(&parsed.text).is_none()
            && let Err(ValidateError::Invalid(violations)) =
                normalise(&Schema::ANY, &parsed.text, Options::default())
        {
            for violation in violations.into_parts().0 {
                report(violation.path(), violation.message());
            }
            return None;
        }
        parsed.text = minified(&parsed.text);
    }
    check_root(&parsed.schema, subject, report)?;
    check_chain(&parsed.schema, report)?;
    if let Some(place) = crowded(&parsed.schema).first() {
        report(
            place,
            "it applies shared definitions to one value in thousands of ways; use each once",
        );
        return None;
    }
    if meta_schema(&parsed.value).is_none() {
        let name = &parsed.value["$schema"];
        let problem =
            format!("{name} is not a known version of JSON Schema; remove it, or use a known one");
        report("/$schema", &problem);
        return None;
    }
    Some(parsed)
}

/// Finds the problems that the meta-schema does not know.
fn check_use(schema: &Json, subject: Subject, found: &mut Vec<(String, String)>) {
    let mut report =
        |place: &str, problem: &str| found.push((place.to_owned(), problem.to_owned()));
    if subject == Subject::Parameters && !accepts_objects(schema) {
        report(
            "",
            "it does not describe an object; add `\"type\": \"object\"`",
        );
    }
    check_parts(schema, &mut report);
}

/// Returns `true` if a part of a schema names its own version of JSON Schema. Compiling then does not check it against
/// the meta-schema of the whole.
fn has_other_dialects(schema: &Json) -> bool {
    let mut inner = schema.members().iter().map(|(_, value)| value);
    inner.any(|value| has_key(value, &|key| key == "$schema"))
}

fn check_root(schema: &Json, subject: Subject, report: Report<'_>) -> Option<()> {
    let is_schema = match schema {
        Json::Object(_) => true,
        Json::Boolean(_) => subject == Subject::Output,
        _ => false,
    };
    if !is_schema {
        report("", "it is not a JSON object");
    }
    is_schema.then_some(())
}

fn reporter(subject: Subject, problems: &mut Vec<String>) -> impl FnMut(&str, &str) {
    move |place: &str, problem: &str| {
        let place = match place {
            "" => String::new(),
            place => format!(" at `{place}`"),
        };
        // A schema of thousands of parts needs no list of thousands of problems.
        if problems.len() < MAX_PROBLEMS {
            let problem = format!("{}{place}: {problem}", subject.text());
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
}

fn check_chain(schema: &Json, report: Report<'_>) -> Option<()> {
    if has_long_chain(schema) {
        report(
            "",
            "its references lead from one to the next too often; shorten them",
        );
        return None;
    }
    Some(())
}

/// Returns `true` if the type of a schema is, or includes, this one.
fn has_type(schema: &Json, name: &str) -> bool {
    let mut names = schema.get_items("type").iter();
    schema.get_str("type") == Some(name) || names.any(|item| item.as_str() == Some(name))
}

/// Returns `false` if the type of a schema excludes objects.
fn accepts_objects(schema: &Json) -> bool {
    !matches!(schema.get("type"), Some(Json::String(_) | Json::Array(_)))
        || has_type(schema, "object")
}

/// The maximum bytes of a schema that is repaired.
const MAX_TEXT: usize = 1 << 20;

/// The maximum number of referenced schemas to check by themselves.
const MAX_TARGETS: usize = 200;

/// The maximum number of problems to list.
const MAX_PROBLEMS: usize = 100;

/// The maximum number of times that invalid keywords are removed.
const MAX_ROUNDS: usize = 8;

/// Removes what calls can't be validated against. Returns the schema as another server wrote it, and
/// without those parts.
pub(super) fn repaired(
    input: SchemaInput,
    subject: Subject,
    repairs: &mut Repairs,
    problems: &mut Vec<String>,
) -> Option<(Json, CompiledSchema)> {
    let mut report = reporter(subject, problems);
    let Parsed {
        mut schema, text, ..
    } = parse(input, &mut report)?;
    if text.len() > MAX_TEXT {
        report("", "it is longer than a mebibyte");
        return None;
    }
    if matches!(schema, Json::Null | Json::Boolean(true)) {
        repairs.unchecked("", "the schema is missing");
        schema = Json::Object(Vec::new());
    }
    check_root(&schema, subject, &mut report)?;
    // Most have none, also not as an escape.
    if text.contains("\\u") || visible::remove(&text).len() < text.len() {
        remove_from_schema(&mut schema, "", repairs);
    }
    let original = schema.clone();
    deduplicate(&mut schema);
    if has_long_chain(&schema) {
        for place in circles(&schema) {
            remove(&mut schema, &place);
            repairs.unchecked(&place, "it leads to itself");
        }
        check_chain(&schema, &mut report)?;
    }
    // Each round removes the innermost ones.
    while let places = crowded(&schema)
        && !places.is_empty()
    {
        for place in places.iter().rev() {
            remove(&mut schema, place);
            repairs.unchecked(place, "it applies shared definitions in thousands of ways");
        }
    }
    if let Some(validator) = compile_as_it_is(&schema, subject) {
        let text = schema.to_string().into();
        return Some((original, CompiledSchema::of(schema, text, validator)));
    }
    choose_draft(&mut schema, repairs);
    let mut remove = |schema: &mut Json, place: &str, problem: &str| {
        remove(schema, place);
        repairs.unchecked(place, problem);
    };
    for _ in 0..MAX_ROUNDS {
        let value = schema.to_value();
        let mut found = Vec::new();
        if let Some(meta) = meta_schema(&value) {
            for error in meta.iter_errors(&value) {
                let place = error.instance_path().as_str().to_owned();
                found.push((place, message(&error, &Json::Null)));
            }
        }
        if found.is_empty() {
            check_parts(&schema, &mut |place, problem| {
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
    if subject == Subject::Parameters && !accepts_objects(&schema) {
        remove(&mut schema, "/type", "it does not describe an object");
    }
    let mut validator = compile(&schema.to_value());
    for last_resort in [bad_targets, named_references, addresses, references] {
        let Err(problem) = &validator else { break };
        // From the end, so that the places before it stay.
        for place in last_resort(&schema).iter().rev() {
            remove(&mut schema, place, problem);
        }
        validator = compile(&schema.to_value());
    }
    let validator = validator.map_err(|problem| report("", &problem)).ok()?;
    let text = schema.to_string().into();
    Some((original, CompiledSchema::of(schema, text, validator)))
}

/// Compiles a schema that needs no repair.
fn compile_as_it_is(schema: &Json, subject: Subject) -> Option<Validator> {
    let value = schema.to_value();
    let mut found = Vec::new();
    check_use(schema, subject, &mut found);
    let is_known = meta_schema(&value).is_some() && !has_other_dialects(schema);
    if !is_known || !found.is_empty() {
        return None;
    }
    // This checks it against the meta-schema, too.
    compile(&value).ok()
}

/// Returns the sorted places of the strings that fulfil a condition, at every depth.
fn places(schema: &Json, matches: &dyn Fn(&str, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    walk(schema, &mut |value, place| {
        for (key, value) in value.members() {
            if value.as_str().is_some_and(|text| matches(key, text)) {
                found.push(pointer_below(place, key));
            }
        }
    });
    found.sort();
    found
}

/// The references that do not lead to a place in the same document.
fn named_references(schema: &Json) -> Vec<String> {
    places(schema, &|key, text| {
        is_reference(key) && text != "#" && !text.starts_with("#/")
    })
}

fn addresses(schema: &Json) -> Vec<String> {
    places(schema, &|key, _| matches!(key, "$id" | "id"))
}

fn references(schema: &Json) -> Vec<String> {
    places(schema, &|key, _| is_reference(key))
}

/// The errors in schemas that references lead to, where the version has no schemas.
fn bad_targets(schema: &Json) -> Vec<String> {
    let value = schema.to_value();
    let Some(meta) = meta_schema(&value) else {
        return Vec::new();
    };
    let mut targets = BTreeSet::new();
    walk(schema, &mut |inner, _| {
        let pointer = inner
            .get_str("$ref")
            .and_then(|text| text.strip_prefix('#'));
        targets.extend(pointer.filter(|pointer| pointer.starts_with('/')));
    });
    let mut found = BTreeSet::new();
    for pointer in targets.into_iter().take(MAX_TARGETS) {
        let target = value.pointer(pointer).unwrap_or(&Value::Null);
        for error in meta.iter_errors(target) {
            found.insert(format!("{pointer}{}", error.instance_path().as_str()));
        }
    }
    found.into_iter().collect()
}

/// Names the version of JSON Schema that a schema without a known one follows.
fn choose_draft(schema: &mut Json, repairs: &mut Repairs) {
    let is_valid = |schema: &Value| meta_schema(schema).is_some_and(|meta| meta.is_valid(schema));
    let current = schema.to_value();
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
    let mut of_draft = current;
    let fitting = Drafts::NAMED.iter().find(|(address, _)| {
        of_draft["$schema"] = (*address).into();
        is_valid(&of_draft)
    });
    // The first is the default.
    if let Some((address, _)) = fitting.filter(|(_, draft)| *draft != Drafts::V2020) {
        members.push(("$schema".into(), Json::from(*address)));
        repairs.rewritten("", &format!("it is read as {address}"));
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

/// Removes the member at a JSON pointer, or the member that contains the item there.
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

/// Returns a schema with its JSON text as it was passed.
fn parse(input: SchemaInput, report: Report<'_>) -> Option<Parsed> {
    let too_deep = match &input {
        SchemaInput::Text(text) => is_deep_text(text),
        SchemaInput::Value(schema) => is_deep(schema),
    };
    let text = match input {
        SchemaInput::Value(schema) if too_deep => {
            drop_deep(schema);
            String::new()
        }
        SchemaInput::Value(schema) => schema.to_string(),
        SchemaInput::Text(text) => text,
    };
    if too_deep {
        let problem = format!("it is nested deeper than {MAX_DEPTH} levels; use `$defs`");
        report("", &problem);
        return None;
    }
    let both = Json::parse_both(&text);
    let both = both.map_err(|error| report("", &format!("it is not valid JSON: {error}")));
    let (schema, value) = both.ok()?;
    if has_long_places(&schema) {
        report(
            "",
            "its keys are too long for all that is inside of them; shorten them",
        );
        return None;
    }
    Some(Parsed {
        schema,
        value,
        text,
    })
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

/// Adds `type` to a schema of arguments and `properties` to the schema of an object, without which some
/// providers reject them.
fn complete(parsed: &mut Parsed, subject: Subject) {
    let Parsed {
        schema,
        value,
        text,
    } = parsed;
    let added = [
        ("type", Json::from("object")),
        ("properties", Json::Object(Vec::new())),
    ];
    for (key, added) in added {
        let is_needed = match key {
            "type" => subject == Subject::Parameters,
            _ => schema.get_str("type") == Some("object"),
        };
        let has_key = schema.get(key).is_some();
        let Json::Object(members) = &mut *schema else {
            return;
        };
        if is_needed && !has_key {
            let comma = if members.is_empty() { "" } else { "," };
            text.insert_str(text.len() - 1, &format!("{comma}\"{key}\":{added}"));
            value[key] = added.to_value();
            members.push((key.into(), added));
        }
    }
}

/// Reports what the meta-schema of its draft rejects in a schema.
fn list_meta_errors(schema: &Value, report: Report<'_>) {
    let meta = meta_schema(schema);
    for error in meta.iter().flat_map(|meta| meta.iter_errors(schema)) {
        report(
            error.instance_path().as_str(),
            &message(&error, &Json::Null),
        );
    }
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

/// Returns `true` if every provider accepts a schema, apart from its keys.
pub(super) fn is_portable(schema: &Json) -> bool {
    let is_rejected = |schema: &Json| {
        let has = |keyword| schema.get(keyword).is_some();
        has_type(schema, "array") && !has("items") && !has("prefixItems")
            || has("oneOf")
            || schema.get("enum") == Some(&Json::Array(Vec::new()))
    };
    let mut is_portable = schema.get_str("type") == Some("object")
        && schema.get("allOf").or(schema.get("anyOf")).is_none();
    each_schema(schema, &mut |schema| is_portable &= !is_rejected(schema));
    is_portable
}

/// Calls a function with each schema of a schema, but not with data such as a default.
fn each_schema<'s>(schema: &'s Json, each: &mut dyn FnMut(&'s Json)) {
    each(schema);
    for (keyword, value) in rows(schema) {
        for (_, inner) in keyword.schemas(value) {
            each_schema(inner, each);
        }
    }
}

/// The same with the places of the schemas.
fn visit<'s>(schema: &'s Json, place: &str, each: &mut dyn FnMut(&'s Json, &str)) {
    each(schema, place);
    for (keyword, value) in rows(schema) {
        for (step, inner) in keyword.schemas(value) {
            let place = step.below(&pointer_below(place, keyword.name));
            visit(inner, &place, each);
        }
    }
}

/// Reports invalid references and patterns.
fn check_parts(root: &Json, report: Report<'_>) {
    let may_be_invalid = |key: &str| key.starts_with("pattern") || is_reference(key);
    if !has_key(root, &may_be_invalid) {
        return;
    }
    let references = References::new(root);
    let mut has_addresses = false;
    each_object(root, &mut |part| has_addresses |= part.get("$id").is_some());
    visit(root, "", &mut |schema, place| {
        for (keyword, value) in rows(schema) {
            let place = pointer_below(place, keyword.name);
            match (keyword.name, value) {
                ("pattern", Json::String(pattern)) => check_pattern(pattern, &place, report),
                ("patternProperties", value) => {
                    for (pattern, _) in value.members() {
                        check_pattern(pattern, &pointer_below(&place, pattern), report);
                    }
                }
                (_, Json::String(reference)) if keyword.holds == Holds::Reference => {
                    let fetched = |address: &str| {
                        // A part of the schema may have the address.
                        has_addresses || compile(&json!({ "$ref": address })).is_ok()
                    };
                    let is_found = match reference.strip_prefix('#') {
                        Some(fragment) => {
                            fragment.contains('%') || references.find(reference).is_some()
                        }
                        None => fetched(reference),
                    };
                    if !is_found {
                        report(
                            &place,
                            &format!(
                                "`{reference}` is not in the schema, and nothing is fetched; add it to \
                                 `$defs`"
                            ),
                        );
                    }
                }
                _ => {}
            }
        }
    });
}

fn check_pattern(pattern: &str, place: &str, report: Report<'_>) {
    if compile(&json!({ "pattern": pattern })).is_err() {
        report(
            place,
            &format!("`{pattern}` is not a valid regular expression"),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ordered_json::keywords::KEYWORDS;

    /// For each keyword, a schema with it and a value that it rejects.
    const PROBES: &str = r##"
        $ref {"$ref":"#/definitions/n","definitions":{"n":{"type":"null"}}} 1
        $dynamicRef {"$dynamicRef":"#n","definitions":{"n":{"$dynamicAnchor":"n","type":"null"}}} 1
        $recursiveRef {"maxProperties":1,"properties":{"a":{"$recursiveRef":"#"}}} {"a":{"b":1,"c":1}}
        type {"type":"null"} 1
        enum {"enum":[2]} 1
        const {"const":2} 1
        properties {"properties":{"a":{"type":"null"}}} {"a":1}
        required {"required":["a"]} {}
        patternProperties {"patternProperties":{"a":{"type":"null"}}} {"a":1}
        additionalProperties {"additionalProperties":{"type":"null"}} {"a":1}
        unevaluatedProperties {"unevaluatedProperties":{"type":"null"}} {"a":1}
        propertyNames {"propertyNames":{"maxLength":1}} {"ab":1}
        minProperties {"minProperties":1} {}
        maxProperties {"maxProperties":0} {"a":1}
        dependentRequired {"dependentRequired":{"a":["b"]}} {"a":1}
        dependentSchemas {"dependentSchemas":{"a":{"maxProperties":0}}} {"a":1}
        dependencies {"dependencies":{"a":["b"]}} {"a":1}
        dependencies {"dependencies":{"a":{"maxProperties":0}}} {"a":1}
        prefixItems {"prefixItems":[{"type":"null"}]} [1]
        items {"items":{"type":"null"}} [1]
        additionalItems {"additionalItems":{"type":"null"},"items":[{}]} [1,1]
        unevaluatedItems {"unevaluatedItems":{"type":"null"}} [1]
        contains {"contains":{"type":"null"}} [1]
        minContains {"minContains":2,"contains":{}} [1]
        maxContains {"maxContains":1,"contains":{}} [1,1]
        minimum {"minimum":2} 1
        maximum {"maximum":0} 1
        exclusiveMinimum {"exclusiveMinimum":1} 1
        exclusiveMinimum {"exclusiveMinimum":true,"minimum":1} 1
        exclusiveMaximum {"exclusiveMaximum":1} 1
        exclusiveMaximum {"exclusiveMaximum":true,"maximum":1} 1
        multipleOf {"multipleOf":2} 1
        minLength {"minLength":2} "a"
        maxLength {"maxLength":0} "a"
        pattern {"pattern":"b"} "a"
        format {"format":"date"} "a"
        minItems {"minItems":1} []
        maxItems {"maxItems":0} [1]
        uniqueItems {"uniqueItems":true} [1,1]
        contentEncoding {"contentEncoding":"base64"} "?"
        contentMediaType {"contentMediaType":"application/json"} "?"
        contentSchema {"contentSchema":{"type":"null"},"contentMediaType":"application/json"} "1"
        anyOf {"anyOf":[{"type":"null"}]} 1
        oneOf {"oneOf":[{"type":"null"}]} 1
        allOf {"allOf":[{"type":"null"}]} 1
        not {"not":{}} 1
        if {"if":false,"then":{},"else":{"type":"null"}} 1
        then {"then":{"type":"null"},"if":{}} 1
        else {"else":{"type":"null"},"if":false} 1
        extends {"extends":{"type":"null"}} 1
        disallow {"disallow":"integer"} 1
        nullable {"nullable":false} null
    "##;

    fn without_keyword(schema: &mut Value, name: &str) {
        for (_, inner) in schema.as_object_mut().into_iter().flatten() {
            without_keyword(inner, name);
        }
        schema.as_object_mut().map(|members| members.remove(name));
    }

    #[test]
    fn the_table_says_which_keywords_the_validator_enforces() {
        let mut enforced: BTreeMap<&str, Drafts> = BTreeMap::new();
        for line in PROBES.trim().lines() {
            let (name, rest) = line.trim().split_once(' ').unwrap();
            let (schema, value) = rest.rsplit_once(' ').unwrap();
            let value: Value = serde_json::from_str(value).unwrap();
            for (address, draft) in Drafts::NAMED {
                let mut schema: Value = serde_json::from_str(schema).unwrap();
                schema["$schema"] = address.into();
                assert_eq!(
                    Drafts::of(&Json::parse(&schema.to_string()).unwrap()),
                    draft
                );
                let with = compile(&schema);
                without_keyword(&mut schema, name);
                let without = compile(&schema);
                let rejects = |validator: &Result<Validator, String>| {
                    validator
                        .as_ref()
                        .is_ok_and(|validator| !validator.is_valid(&value))
                };
                let found = enforced.entry(name).or_insert(Drafts::NONE);
                if rejects(&with) && !rejects(&without) {
                    *found = found.union(draft);
                }
            }
        }
        for row in KEYWORDS {
            let found = enforced.remove(row.name).unwrap_or(Drafts::NONE);
            assert_eq!(row.enforced, found, "{}", row.name);
        }
        assert!(enforced.is_empty(), "no rows: {enforced:?}");
    }

    #[test]
    fn a_part_of_another_version_is_checked_with_the_whole() {
        let part = json!({
            "$id": "urn:part",
            "$schema": "http://json-schema.org/draft-04/schema#",
            "minimum": 1,
            "exclusiveMinimum": true,
        });
        let whole = json!({"type": "object", "properties": {"part": part}});
        assert!(compile(&whole).is_ok(), "the validator knows both versions");
        let mut problems = Vec::new();
        let checked = schema(
            SchemaInput::Value(whole),
            Subject::Parameters,
            &mut problems,
        );
        assert!(checked.is_none());
        assert!(
            problems[0].contains("`/properties/part/exclusiveMinimum`"),
            "{problems:?}"
        );
    }

    #[test]
    fn all_problems_of_a_schema_are_listed_in_order() {
        let whole = json!({
            "type": "array",
            "properties": {"a": {"type": "list"}, "b": {"pattern": "("}, "c": {"minLength": -1}},
        });
        let mut problems = Vec::new();
        assert!(
            schema(
                SchemaInput::Value(whole),
                Subject::Parameters,
                &mut problems
            )
            .is_none()
        );
        let places = [
            "/properties/a/type",
            "/properties/c/minLength",
            "object",
            "/properties/b",
        ];
        assert_eq!(problems.len(), places.len(), "{problems:#?}");
        for (problem, place) in problems.iter().zip(places) {
            assert!(problem.contains(place), "{problem}");
        }
    }

    #[test]
    fn what_is_followed_twice_at_every_level_is_crowded() {
        let mut schema = json!({});
        for _ in 0..14 {
            schema = json!({"unevaluatedProperties": false, "allOf": [schema]});
        }
        let schema = Json::parse(&schema.to_string()).unwrap();
        assert!(!crowded(&schema).is_empty());
    }
}
