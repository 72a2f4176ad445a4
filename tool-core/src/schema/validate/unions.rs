//! Values that one of several schemas describes.

use super::{Path, Walker, unlike};
use crate::schema::cursor::{Cursor, unquote};
use crate::schema::words::expected;
use crate::schema::{Kind, Property, Schema};

impl Walker<'_> {
    pub(super) fn any_of(
        &mut self,
        schema: &Schema,
        schemas: &[&'static Schema],
        path: &Path<'_>,
        depth: usize,
    ) {
        let start = self.cursor.clone();
        let text = self.cursor.value();
        let members = members(text);
        let leading: Vec<_> = schemas
            .iter()
            .filter(|schema| leads(schema, text, &members))
            .collect();
        let (found, written) = (self.found.mark(), self.output.as_ref().map(String::len));
        for candidate in &leading {
            let Some(left) = self.budget.checked_sub(text.len()) else {
                return self.report(path, || {
                    "too intricate to be checked; make it simpler".into()
                });
            };
            self.budget = left;
            let coercions = self.coercions.len();
            self.cursor = start.clone();
            self.value(candidate, path, depth);
            // With one candidate its mistakes are the mistakes.
            if self.found.mark() == found || leading.len() == 1 {
                return;
            }
            self.found.forget(found);
            self.coercions.truncate(coercions);
            if let (Some(output), Some(length)) = (&mut self.output, written) {
                output.truncate(length);
            }
        }
        match tags(schemas) {
            Some((tag, values)) if leading.is_empty() && text.starts_with('{') => {
                let path = path.key(tag);
                let got = members.iter().find(|(key, _)| key == tag);
                self.report(&path, || match got {
                    Some((_, value)) => format!("expected {values}, got {value}"),
                    None => format!("missing; expected {values}"),
                });
            }
            _ => self.report(path, || unlike(schema, text)),
        }
    }
}

/// The members of an object, or nothing.
fn members(text: &str) -> Vec<(String, &str)> {
    let mut members = Vec::new();
    let mut cursor = Cursor::new(text);
    if !cursor.eat(b'{') {
        return members;
    }
    while !cursor.eat(b'}') && cursor.peek() != 0 {
        let key = unquote(cursor.key()).unwrap_or_default().into_owned();
        members.push((key, cursor.value()));
        cursor.eat(b',');
    }
    members
}

/// Whether a value may be what `schema` describes, from what shows at its surface: its kind, its
/// required members, its tag. What does not lead can't fit.
fn leads(schema: &Schema, text: &str, members: &[(String, &str)]) -> bool {
    let first = text.bytes().next().unwrap_or(0);
    match schema.kind {
        Kind::Object(properties) => {
            first == b'{' && properties.iter().all(|property| has(members, property))
        }
        Kind::Null => first == b'n',
        Kind::Boolean => matches!(first, b't' | b'f'),
        Kind::Integer(_) | Kind::Number(_) => matches!(first, b'-' | b'0'..=b'9'),
        Kind::String(_) | Kind::Enum(_) => first == b'"',
        Kind::Array(_) | Kind::Tuple(_) => first == b'[',
        Kind::Map(_) => first == b'{',
        Kind::Any | Kind::AnyOf(_) | Kind::Nullable(_) => true,
        Kind::Reference(reference) => leads((reference.target)(), text, members),
    }
}

fn has(members: &[(String, &str)], property: &Property) -> bool {
    if let Kind::Object(properties) = property.schema.kind
        && property.flat
    {
        return properties.iter().all(|property| has(members, property));
    }
    let found = members.iter().find(|(key, _)| property.is_called(key));
    match (found, tag(property)) {
        (Some((_, value)), Some(_)) => {
            let Kind::Enum(strings) = property.schema.kind else {
                return true;
            };
            unquote(value)
                .is_some_and(|value| strings.admits(&value) || strings.fold(&value).is_some())
        }
        (Some(_), None) => true,
        (None, _) => !property.required,
    }
}

/// The tag that a property holds, if it tells variants apart.
fn tag(property: &Property) -> Option<&'static str> {
    match property.schema.kind {
        Kind::Enum(strings) if strings.is_tag => Some(property.name()),
        _ => None,
    }
}

/// The tag that all of these objects have, and its values in words.
fn tags(schemas: &[&'static Schema]) -> Option<(&'static str, String)> {
    let mut values = Vec::new();
    let mut name = None;
    for schema in schemas {
        let property = schema
            .properties()
            .iter()
            .find(|property| tag(property).is_some())?;
        if name.is_some_and(|name| name != property.name()) {
            return None;
        }
        name = Some(property.name());
        values.push(expected(property.schema));
    }
    Some((name?, crate::schema::words::one_of(values.into_iter())))
}
