//! What `jsonschema` found, in the words that a model knows from other tools.

use std::collections::HashSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::implied::Implied;
use super::unions::{Meant, meant};
use super::words::{expected, typed};
use crate::schema::messages::{did_you_mean, name, nearest, one_of, shorten, text, unknown};
use crate::schema::validate::duplicate_item;
use crate::schema::violation::{Violation, Violations};

/// Everything that is wrong with a value; what is missing comes last.
pub(super) fn violations<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    schema: &Value,
    value: &Value,
) -> Violations {
    let mut teller = Teller {
        schema,
        value,
        told: HashSet::new(),
        found: Violations::default(),
    };
    teller.all(&errors.collect::<Vec<_>>());
    teller.found
}

struct Teller<'s> {
    schema: &'s Value,
    value: &'s Value,
    /// Several keywords may say the same.
    told: HashSet<String>,
    found: Violations,
}

impl Teller<'_> {
    fn all(&mut self, errors: &[ValidationError<'_>]) {
        let implied = Implied::of(errors);
        let told = errors.iter().filter(|error| !implied.has(error));
        let (missing, wrong): (Vec<_>, Vec<_>) =
            told.partition(|error| matches!(error.kind(), Kind::Required { .. }));
        for error in wrong.into_iter().chain(missing) {
            self.tell(error);
        }
    }

    fn tell(&mut self, error: &ValidationError<'_>) {
        let path = path(error.instance_path().as_str(), self.value);
        let root = self.schema;
        let holder = holder(error, root);
        match error.kind() {
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                for key in unexpected {
                    let path = join(&path, key);
                    self.report(path, |words| unexpected_key(words, key, holder));
                }
            }
            Kind::Required { property } => {
                let key = property.as_str().unwrap_or_default();
                let schema = &holder["properties"][key];
                let path = join(&path, key);
                self.report(path, |words| *words += &missing(schema, root));
            }
            Kind::PropertyNames { error } => {
                let key = error.instance().as_str().unwrap_or_default();
                let problem = message(error, self.schema);
                self.report(join(&path, key), |words| {
                    *words += "not accepted as a key: ";
                    *words += &problem;
                });
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                let schemas = holder["anyOf"].as_array().or(holder["oneOf"].as_array());
                let schemas = schemas.map(Vec::as_slice).unwrap_or_default();
                match meant(schemas, root, error.instance()) {
                    // Where it is plain which is meant, its mistakes are the mistakes.
                    Some(Meant::Member(at)) if context.len() == schemas.len() => {
                        self.all(&context[at]);
                    }
                    Some(Meant::Tag { key, problem }) => {
                        self.report(join(&path, &key), |words| *words += &problem);
                    }
                    _ => self.report(path, |words| *words += &message(error, root)),
                }
            }
            _ => self.report(path, |words| *words += &message(error, root)),
        }
    }

    fn report(&mut self, path: String, message: impl FnOnce(&mut String)) {
        let violation = Violation::new(path, message);
        if self.told.insert(violation.as_str().to_owned()) {
            self.found.push_with(|| violation);
        }
    }
}

/// The words of one error. Without a schema they say what the error itself knows.
pub(super) fn message(error: &ValidationError<'_>, schema: &Value) -> String {
    let value = &**error.instance();
    let json = value.to_string();
    let got = shorten(&json);
    let unlike = || match known(error, schema) {
        Some(words) => format!("expected {words}, got {got}"),
        None => format!("{got} is not accepted"),
    };
    match error.kind() {
        Kind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            let options = options.iter().filter_map(Value::as_str);
            let mut words = unlike();
            if let Some(text) = value.as_str() {
                did_you_mean(&mut words, text, options);
            }
            words
        }
        Kind::Constant { expected_value } => {
            let mut words = unlike();
            if let (Some(text), Some(only)) = (value.as_str(), expected_value.as_str()) {
                did_you_mean(&mut words, text, std::iter::once(only));
            }
            words
        }
        Kind::Minimum { limit } => format!("{got} is below the minimum {limit}"),
        Kind::Maximum { limit } => format!("{got} is above the maximum {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("{got} is not above {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("{got} is not below {limit}"),
        Kind::MultipleOf { multiple_of } => match schema.pointer(error.schema_path().as_str()) {
            Some(step) => format!("{got} is not a multiple of {step}"),
            None => format!("{got} is not a multiple of {multiple_of}"),
        },
        Kind::Pattern { pattern } => format!("{got} does not match the pattern {pattern}"),
        Kind::Format { format } if schema.is_null() => format!("{got} is no {format}"),
        Kind::MinItems { .. }
        | Kind::MaxItems { .. }
        | Kind::MinProperties { .. }
        | Kind::MaxProperties { .. } => match known(error, schema) {
            Some(words) => format!("expected {words}, got {}", count(value)),
            None => format!("{got} is not accepted"),
        },
        Kind::AdditionalItems { limit } => {
            format!(
                "expected an array of at most {limit} items, got {}",
                count(value)
            )
        }
        Kind::UnevaluatedItems { .. } => format!("{got} has items too many"),
        Kind::UniqueItems => match duplicate_item(&json) {
            Some(twice) => format!("contains {} twice; give it once", shorten(&twice)),
            None => "contains an item twice; give it once".into(),
        },
        Kind::Contains => {
            let wanted = &holder(error, schema)["contains"];
            let wanted = expected(wanted, schema);
            format!("has not the right number of items that are {wanted}")
        }
        Kind::Not { schema: refused } => {
            format!(
                "{got} is not accepted; expected anything but {}",
                expected(refused, schema)
            )
        }
        Kind::FalseSchema => "not accepted; leave it out".into(),
        Kind::Required { property } => format!("{property} is missing"),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            text(|words| {
                one_of(words, unexpected.iter(), Some('"'));
                words.push_str(" is unknown");
            })
        }
        Kind::OneOfMultipleValid { .. } => {
            format!("{got} is several of those that it may be one of")
        }
        Kind::ContentEncoding { content_encoding } => {
            format!("expected text in the encoding {content_encoding}, got {got}")
        }
        Kind::ContentMediaType { content_media_type } => {
            format!("expected text of the type {content_media_type}, got {got}")
        }
        _ => unlike(),
    }
}

/// What an error says was expected.
fn known(error: &ValidationError<'_>, schema: &Value) -> Option<String> {
    let holder = holder(error, schema);
    if !holder.is_null() {
        return Some(expected(holder, schema));
    }
    match error.kind() {
        Kind::Type {
            kind: TypeKind::Single(name),
        } => Some(typed(name.as_str(), &Value::Null)),
        Kind::Type {
            kind: TypeKind::Multiple(names),
        } => {
            let names = names.iter();
            let words: Vec<_> = names
                .map(|name| typed(name.as_str(), &Value::Null))
                .collect();
            Some(text(|text| one_of(text, words.iter(), None)))
        }
        Kind::Enum { options } => {
            let options = options.as_array()?;
            let options = options.iter().map(Value::to_string);
            Some(text(|words| one_of(words, options, None)))
        }
        Kind::Constant { expected_value } => Some(expected_value.to_string()),
        Kind::AnyOf { context } => {
            let firsts = context.iter().filter_map(|errors| errors.first());
            let words: Vec<_> = firsts.filter_map(|error| known(error, schema)).collect();
            Some(words.join(", or "))
        }
        _ => None,
    }
}

/// What is wrong with a key that an object does not take.
fn unexpected_key(words: &mut String, key: &str, holder: &Value) {
    let patterns = holder["patternProperties"].as_object();
    let patterns: Vec<_> = patterns.into_iter().flatten().collect();
    let names = names(holder);
    if patterns.is_empty() || nearest(key, names.clone()).is_some() {
        return unknown(words, key, names);
    }
    words.push_str("unknown; a key must ");
    if names.len() > 0 {
        words.push_str("be ");
        one_of(words, names, Some('"'));
        words.push_str(" or ");
    }
    words.push_str("match ");
    one_of(words, patterns.iter().map(|(pattern, _)| pattern), None);
}

fn missing(schema: &Value, root: &Value) -> String {
    match schema {
        Value::Null => "missing".into(),
        schema => ["missing; expected ", &expected(schema, root)].concat(),
    }
}

/// The schema that holds the keyword of an error; null where there is none to be found.
fn holder<'s>(error: &ValidationError<'_>, schema: &'s Value) -> &'s Value {
    let place = error.schema_path().as_str();
    let place = place.rsplit_once('/').map_or("", |(place, _)| place);
    schema.pointer(place).unwrap_or(&Value::Null)
}

/// The keys that an object is known to have.
fn names(schema: &Value) -> impl ExactSizeIterator<Item = &str> + Clone {
    let properties = schema["properties"].as_object();
    let names: Vec<_> = properties
        .into_iter()
        .flatten()
        .map(|(key, _)| &**key)
        .collect();
    names.into_iter()
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    }
}

/// `stops[2].name`, from a JSON pointer into this value.
fn path(pointer: &str, value: &Value) -> String {
    let mut path = String::new();
    let mut value = value;
    for step in pointer.split('/').skip(1) {
        let key = step.replace("~1", "/").replace("~0", "~");
        value = match value {
            Value::Array(items) => {
                path.push_str(&format!("[{key}]"));
                key.parse().ok().and_then(|at: usize| items.get(at))
            }
            value => {
                path = join(&path, &key);
                value.get(&key)
            }
        }
        .unwrap_or(&Value::Null);
    }
    path
}

fn join(path: &str, key: &str) -> String {
    match path {
        "" => name(key).into_owned(),
        path => format!("{path}.{}", name(key)),
    }
}
