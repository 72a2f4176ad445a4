//! Provider and tool agree: every type of the table, in the schema of every dialect that rewrites
//! schemas.
//!
//! `TOOL_CORE_LONG=1` checks many more values.

mod forms;
mod subset;

use std::collections::BTreeMap;

use jsonschema::Validator;
use properties::random::Random;
use properties::rounds;
use properties::sample::Sampler;
use properties::subject::Subject;
use serde_json::{Map, Value};

use forms::Form;

/// A row of the table in one form.
struct Reshaped<'s> {
    subject: &'s Subject,
    form: Form,
    /// The schema that the provider gets.
    written: Value,
    /// The same schema as plain JSON Schema.
    schema: Value,
    validator: Validator,
}

impl Reshaped<'_> {
    fn new(subject: &Subject, form: Form) -> Option<Reshaped<'_>> {
        let written = form.schema(&subject.row.tool)?;
        let schema = forms::plain(&written, form);
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(!properties::exceptions::only_shows_its_format(
                subject.row.name,
            ))
            .build(&schema)
            .unwrap_or_else(|error| panic!("{}: {error} in {schema}", subject.row.name));
        Some(Reshaped {
            subject,
            form,
            written,
            schema,
            validator,
        })
    }

    fn name(&self) -> String {
        format!("{} for {:?}", self.subject.row.name, self.form)
    }
}

fn reshaped(subjects: &[Subject]) -> impl Iterator<Item = Reshaped<'_>> {
    let pairs = subjects
        .iter()
        .flat_map(|subject| Form::ALL.map(|form| (subject, form)));
    pairs.filter_map(|(subject, form)| Reshaped::new(subject, form))
}

#[test]
fn a_schema_stays_within_the_subset_of_its_provider() {
    let mut broken = Vec::new();
    let mut seen: BTreeMap<_, usize> = BTreeMap::new();
    for reshaped in reshaped(&Subject::all()) {
        *seen.entry(reshaped.form).or_default() += 1;
        for problem in subset::problems(&reshaped.written, reshaped.form) {
            broken.push(format!(
                "{}: {problem} in {}",
                reshaped.name(),
                reshaped.written
            ));
        }
    }
    assert!(
        broken.is_empty(),
        "{} times\n{}",
        broken.len(),
        broken.join("\n")
    );
    println!("{seen:?}");
    assert!(seen.values().all(|count| *count >= 100), "{seen:?}");
}

/// A bound that moves to the description leaves the schema, so the schema accepts more. It must
/// never
/// accept less.
#[test]
fn a_provider_schema_accepts_what_the_tool_accepts() {
    let subjects = Subject::all();
    let mut checked = 0;
    for reshaped in reshaped(&subjects) {
        let subject = reshaped.subject;
        let mut random = Random::named(subject.row.name, 7);
        let sampler = Sampler::new(&subject.schema);
        for _ in 0..rounds(20, 600) {
            let arguments = sampler.sample(&mut random);
            if !subject.validator.is_valid(&arguments) || !subject.accepts(&arguments) {
                continue;
            }
            let sent = if reshaped.form.requires_all() {
                with_nulls(&arguments, &reshaped.schema, &reshaped.schema)
            } else {
                arguments
            };
            checked += 1;
            assert!(
                reshaped.validator.is_valid(&sent),
                "{} does not take {sent}: {}",
                reshaped.name(),
                reshaped.written
            );
            let result = subject.call(&sent.to_string(), false);
            assert!(
                !result.is_error(),
                "{}: {}",
                reshaped.name(),
                result.content()
            );
        }
    }
    println!("{checked} values");
    assert!(checked > 5_000, "{checked}");
}

/// A tool accepts what a provider's schema allows, except for violations of moved bounds.
#[test]
fn a_tool_accepts_what_a_provider_schema_allows() {
    let subjects = Subject::all();
    let (mut taken, mut against_words) = (0, 0);
    for reshaped in reshaped(&subjects) {
        let subject = reshaped.subject;
        let mut random = Random::named(subject.row.name, 8);
        let sampler = Sampler::new(&reshaped.schema);
        for _ in 0..rounds(20, 600) {
            let sent = sampler.sample(&mut random);
            let meant = if reshaped.form.requires_all() {
                without_nulls(&sent)
            } else {
                sent.clone()
            };
            let is_valid = reshaped.validator.is_valid(&sent);
            if !is_valid || !subject.validator.is_valid(&meant) || !subject.accepts(&meant) {
                against_words += usize::from(is_valid);
                continue;
            }
            let result = subject.call(&sent.to_string(), false);
            assert!(
                !result.is_error(),
                "{} rejects {sent}: {}",
                reshaped.name(),
                result.content()
            );
            taken += 1;
        }
    }
    println!("{taken} taken, {against_words} against what only words say");
    assert!(taken > 3 * against_words, "{taken} and {against_words}");
}

/// Returns the value with `null` under every missing key.
fn with_nulls(value: &Value, schema: &Value, root: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        return with_nulls(value, target.expect("a definition"), root);
    }
    if let Some(variants) = schema["anyOf"].as_array() {
        let filled = variants.iter().map(|variant| {
            let mut variant = variant.clone();
            let filled = with_nulls(value, &variant, root);
            if variant.is_object() {
                variant["$defs"] = root["$defs"].clone();
                if variant["$defs"].is_null() {
                    variant["$defs"] = Value::Object(Map::new());
                }
            }
            (jsonschema::is_valid(&variant, &filled), filled)
        });
        let mut fitting = filled.filter(|(fits, _)| *fits);
        return fitting.next().map_or(value.clone(), |(_, filled)| filled);
    }
    match value {
        Value::Array(items) => items
            .iter()
            .map(|item| with_nulls(item, &schema["items"], root))
            .collect(),
        Value::Object(members) => {
            let mut members = members.clone();
            for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
                let member = members.entry(key.clone()).or_insert(Value::Null);
                *member = with_nulls(member, schema, root);
            }
            Value::Object(members)
        }
        other => other.clone(),
    }
}

/// Returns the value without members that are `null`.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            let members = members.map(|(key, value)| (key.clone(), without_nulls(value)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}
