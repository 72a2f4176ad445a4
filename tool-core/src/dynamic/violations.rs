//! Translates the errors of `jsonschema` into violations, in the words of the typed validator.

use std::collections::HashSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::unions::intent;
use crate::ordered_json::expected::{either, expected, shown, typed};
use crate::ordered_json::{Json, pointer_key};
use crate::schema::messages::{did_you_mean, itself, nearest, one_of, shorten, text, unknown};
use crate::schema::validate::{duplicate_item, push_index, push_key};
use crate::schema::violation::{COMPARED, Explanation, Violation, Violations};

/// Returns all violations of a value. Missing properties come last.
pub(super) fn violations<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    schema: &Json,
    value: &Value,
) -> Violations {
    let mut translator = Translator::new(schema, value);
    translator.errors(&errors.collect::<Vec<_>>());
    translator.violations
}

struct Translator<'s> {
    schema: &'s Json,
    value: &'s Value,
    /// Several keywords may lead to the same violation.
    reported: HashSet<String>,
    violations: Violations,
}

impl<'s> Translator<'s> {
    fn new(schema: &'s Json, value: &'s Value) -> Self {
        Translator {
            schema,
            value,
            reported: HashSet::new(),
            violations: Violations::default(),
        }
    }

    fn errors(&mut self, errors: &[ValidationError<'_>]) {
        let redundancy = Redundancy::new(errors);
        let errors = errors.iter().filter(|error| !redundancy.covers(error));
        let (missing, others): (Vec<_>, Vec<_>) =
            errors.partition(|error| matches!(error.kind(), Kind::Required { .. }));
        for error in others.into_iter().chain(missing) {
            if self.violations.is_full() {
                self.violations.count(1);
            } else {
                self.error(error);
            }
        }
    }

    fn error(&mut self, error: &ValidationError<'_>) {
        let path = path(error.instance_path().as_str(), self.value);
        let root = self.schema;
        let holder = holder(error, root);
        match error.kind() {
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                for key in unexpected {
                    self.report(join(&path, key), |out| unexpected_key(out, key, holder));
                }
            }
            Kind::Required { property } => {
                let key = property.as_str().unwrap_or_default();
                let properties = holder.get("properties");
                let problem = match properties.and_then(|properties| properties.get(key)) {
                    None => "missing".to_owned(),
                    Some(schema) => ["missing; expected ", &expected(schema, root)].concat(),
                };
                self.report(join(&path, key), |out| *out += &problem);
            }
            Kind::PropertyNames { error } => {
                let key = error.instance().as_str().unwrap_or_default();
                let problem = message(error, root);
                self.report(join(&path, key), |out| {
                    *out += "not accepted as a key: ";
                    *out += &problem;
                });
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                let schemas = holder.get("anyOf").or(holder.get("oneOf"));
                let schemas = schemas.map_or(&[][..], Json::items);
                let intent = intent(schemas, root, error.instance());
                let is_known = context.len() == schemas.len();
                match intent.variants[..] {
                    // Report the errors of the intended variant only.
                    [only] if is_known && intent.tag.is_none() => {
                        return self.errors(&context[only]);
                    }
                    [_, _, ..] if is_known && intent.variants.len() <= COMPARED => {
                        let variants = intent.variants.iter().map(|&at| &context[at]);
                        if self.explain(variants, intent.are_likely) {
                            return;
                        }
                    }
                    _ => {}
                }
                match intent.tag {
                    Some((key, problem)) => self.report(join(&path, &key), |out| *out += &problem),
                    None => self.report(path, |out| *out += &message(error, root)),
                }
            }
            _ => self.report(path, |out| *out += &message(error, root)),
        }
    }

    /// Reports what is wrong with a value that may be meant for several variants. Returns `false` if
    /// that does not explain why none matches.
    fn explain<'e>(
        &mut self,
        variants: impl Iterator<Item = &'e Vec<ValidationError<'e>>>,
        are_likely: bool,
    ) -> bool {
        let alternatives: Vec<_> = variants
            .map(|errors| {
                let mut translator = Translator::new(self.schema, self.value);
                translator.errors(errors);
                translator.violations
            })
            .collect();
        let explanation = Explanation::new(&alternatives, are_likely);
        let (listed, more) = explanation.violations.into_parts();
        for violation in listed {
            self.add(violation);
        }
        self.violations.count(more);
        explanation.is_complete
    }

    fn report(&mut self, path: String, message: impl FnOnce(&mut String)) {
        // Wording a violation takes time, and an object may have a million unknown keys.
        if self.violations.is_full() {
            return self.violations.count(1);
        }
        self.add(Violation::new(path, message));
    }

    fn add(&mut self, violation: Violation) {
        if self.reported.insert(violation.as_str().to_owned()) {
            self.violations.push_with(|| violation);
        }
    }
}

/// The errors whose message covers other errors at the same location.
#[derive(Default)]
struct Redundancy<'e> {
    /// The value has another type, so no other keyword matters.
    wrong_types: HashSet<Location<'e>>,
    /// The string has a wrong length or format. That message includes the pattern.
    wrong_strings: HashSet<Location<'e>>,
    /// The array is too long, so additional items are expected to be invalid.
    long_arrays: HashSet<Location<'e>>,
}

/// The JSON pointers of a value and of the schema that it violates.
type Location<'e> = (&'e str, &'e str);

impl<'e> Redundancy<'e> {
    fn new(errors: &'e [ValidationError<'_>]) -> Self {
        let mut redundancy = Redundancy::default();
        for error in errors {
            let locations = match error.kind() {
                Kind::Type { .. } => &mut redundancy.wrong_types,
                Kind::MinLength { .. } | Kind::MaxLength { .. } | Kind::Format { .. } => {
                    &mut redundancy.wrong_strings
                }
                Kind::MaxItems { .. } => &mut redundancy.long_arrays,
                _ => continue,
            };
            locations.insert(location(error));
        }
        redundancy
    }

    /// Returns `true` if the message of another error covers this one.
    fn covers(&self, error: &ValidationError<'_>) -> bool {
        let (value, schema) = location(error);
        match error.kind() {
            Kind::Type { .. } => false,
            Kind::Pattern { .. } if self.wrong_strings.contains(&(value, schema)) => true,
            Kind::FalseSchema => self.long_arrays.contains(&(parent(value), schema)),
            Kind::AdditionalItems { .. } if self.long_arrays.contains(&(value, schema)) => true,
            _ => self.wrong_types.contains(&(value, schema)),
        }
    }
}

fn location<'e>(error: &'e ValidationError<'_>) -> Location<'e> {
    let keyword = error.schema_path().as_str();
    (error.instance_path().as_str(), parent(keyword))
}

/// Removes the last step of a JSON pointer.
fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The message of one error. If the schema is null, only the error's own data is used.
pub(super) fn message(error: &ValidationError<'_>, schema: &Json) -> String {
    let value = &**error.instance();
    let got = shown(value);
    let mismatch = || match expectation(error, schema) {
        Some(expected) => format!("expected {expected}, got {got}{}", itself(&expected, &got)),
        None => format!("{got} is not accepted"),
    };
    match error.kind() {
        Kind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            let options = options.iter().filter_map(Value::as_str);
            let mut message = mismatch();
            if let Some(text) = value.as_str() {
                did_you_mean(&mut message, text, options);
            }
            message
        }
        Kind::Constant { expected_value } => {
            let mut message = mismatch();
            if let (Some(text), Some(only)) = (value.as_str(), expected_value.as_str()) {
                did_you_mean(&mut message, text, std::iter::once(only));
            }
            message
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
        Kind::Format { format } if *schema == Json::Null => {
            format!("{got} is not a valid {format}")
        }
        Kind::MinItems { .. }
        | Kind::MaxItems { .. }
        | Kind::MinProperties { .. }
        | Kind::MaxProperties { .. } => match expectation(error, schema) {
            Some(expected) => format!("expected {expected}, got {}", count(value)),
            None => format!("{got} is not accepted"),
        },
        Kind::AdditionalItems { limit } => {
            format!(
                "expected an array of at most {limit} items, got {}",
                count(value)
            )
        }
        Kind::UnevaluatedItems { .. } => format!("{got} has too many items"),
        Kind::UniqueItems => match duplicate_item(&value.to_string()) {
            Some(item) => format!("contains {} twice; give it once", shorten(item)),
            None => "contains an item twice; give it once".into(),
        },
        Kind::Contains => {
            let item = below(error, schema, "contains");
            format!("has too few or too many items that are {item}")
        }
        Kind::Not { .. } => {
            let rejected = below(error, schema, "not");
            format!("{got} is not accepted; expected anything but {rejected}")
        }
        Kind::FalseSchema => "not accepted; leave it out".into(),
        Kind::Required { property } => format!("{property} is missing"),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            text(|out| {
                one_of(out, unexpected.iter(), Some('"'));
                out.push_str(" is unknown");
            })
        }
        Kind::OneOfMultipleValid { .. } => {
            format!("{got} matches more than one of the alternatives")
        }
        Kind::ContentEncoding { content_encoding } => {
            format!("expected text in the encoding {content_encoding}, got {got}")
        }
        Kind::ContentMediaType { content_media_type } => {
            format!("expected text of the type {content_media_type}, got {got}")
        }
        _ => mismatch(),
    }
}

/// The expectation that the schema or the error states.
fn expectation(error: &ValidationError<'_>, schema: &Json) -> Option<String> {
    let holder = holder(error, schema);
    if *holder != Json::Null {
        return Some(expected(holder, schema));
    }
    match error.kind() {
        Kind::Type {
            kind: TypeKind::Single(name),
        } => Some(typed(name.as_str(), &Json::Null)),
        Kind::Type {
            kind: TypeKind::Multiple(names),
        } => {
            let names = names.iter();
            let types: Vec<_> = names
                .map(|name| typed(name.as_str(), &Json::Null))
                .collect();
            Some(either(types.iter()))
        }
        Kind::Enum { options } => {
            let options = options.as_array()?.iter().map(Value::to_string);
            Some(either(options))
        }
        Kind::Constant { expected_value } => Some(expected_value.to_string()),
        Kind::AnyOf { context } => {
            let firsts = context.iter().filter_map(|errors| errors.first());
            let all: Vec<_> = firsts
                .filter_map(|error| expectation(error, schema))
                .collect();
            Some(all.join(", or "))
        }
        _ => None,
    }
}

/// Writes the message for a key that an object does not accept.
fn unexpected_key(out: &mut String, key: &str, holder: &Json) {
    let patterns = holder.get_members("patternProperties");
    let names = names(holder);
    if patterns.is_empty() || nearest(key, names.clone()).is_some() {
        return unknown(out, key, names);
    }
    out.push_str("unknown; a key must ");
    if names.len() > 0 {
        out.push_str("be ");
        one_of(out, names, Some('"'));
        out.push_str(" or ");
    }
    out.push_str("match ");
    one_of(out, patterns.iter().map(|(pattern, _)| pattern), None);
}

/// The schema that contains the violated keyword; null if it can't be found.
fn holder<'s>(error: &ValidationError<'_>, schema: &'s Json) -> &'s Json {
    let place = parent(error.schema_path().as_str());
    schema.pointer(place).unwrap_or(&Json::Null)
}

/// The expectation of the violated keyword's schema.
fn below(error: &ValidationError<'_>, schema: &Json, keyword: &str) -> String {
    let inner = holder(error, schema).get(keyword);
    expected(inner.unwrap_or(&Json::Null), schema)
}

/// The keys of an object's properties.
fn names(schema: &Json) -> impl ExactSizeIterator<Item = &str> + Clone {
    let properties = schema.get_members("properties").iter();
    properties.map(|(key, _)| &**key)
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    }
}

/// Converts a JSON pointer into a value to a path such as `stops[2].name`.
fn path(pointer: &str, value: &Value) -> String {
    let mut path = String::new();
    let mut value = value;
    for step in pointer.split('/').skip(1) {
        let key = pointer_key(step);
        value = match value {
            Value::Array(items) => {
                let at = key.parse().unwrap_or_default();
                push_index(&mut path, at);
                items.get(at)
            }
            value => {
                push_key(&mut path, &key);
                value.get(&key)
            }
        }
        .unwrap_or(&Value::Null);
    }
    path
}

/// The path to a member of the object at `path`.
fn join(path: &str, key: &str) -> String {
    let mut path = path.to_owned();
    push_key(&mut path, key);
    path
}
