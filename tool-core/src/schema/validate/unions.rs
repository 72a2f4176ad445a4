//! Values that one of several schemas describes.

use std::borrow::Cow;

use super::respell::Respelling;
use super::{Path, Walker};
use crate::schema::cursor::{Cursor, unquote};
use crate::schema::property::Members;
use crate::schema::words::{did_you_mean, expected, nearest, one_of, push, shorten, text};
use crate::schema::{Kind, Property, Schema, Strings, Text};

impl Walker<'_> {
    pub(super) fn any_of(
        &mut self,
        schema: &Schema,
        schemas: &[&'static Schema],
        path: &Path<'_>,
        depth: usize,
    ) {
        let start = self.cursor.clone();
        let text = self.pass();
        // What is looked at again and again had better be JSON.
        if !self.is_json() {
            return;
        }
        let end = self.cursor.clone();
        let members = members(text);
        // Where it is plain which is meant, its mistakes are the mistakes.
        let mut leading = schemas
            .iter()
            .filter(|schema| leads(schema, text, &members, false));
        let meant = match (leading.next(), leading.next()) {
            (None, _) => only_of_kind(schemas, text),
            (only, None) => only,
            _ => None,
        };
        let meant = meant.filter(|schema| !is_far(schema, text));
        let mut mistakes = None;
        let found = self.found.mark();
        let written = self.output.as_ref().map(Respelling::mark);
        // First as it is: what fits a later candidate exactly is no earlier one in another case.
        let folds = self.folds;
        for round in [false, true].into_iter().filter(|round| folds || !round) {
            self.folds = round;
            for candidate in schemas
                .iter()
                .filter(|schema| leads(schema, text, &members, true))
            {
                let Some(left) = self.budget.checked_sub(text.len()) else {
                    self.folds = folds;
                    let problem = "too intricate to be checked; make it simpler";
                    return self.report(path, |words| words.push_str(problem));
                };
                self.budget = left;
                let coercions = self.coercions.len();
                self.cursor = start.clone();
                self.value(candidate, path, depth);
                if self.found.mark() == found {
                    self.folds = folds;
                    return;
                }
                let own = self.found.split_off(found);
                if meant.is_some_and(|meant| std::ptr::eq(meant, candidate)) {
                    mistakes = Some(own);
                }
                self.coercions.truncate(coercions);
                if let (Some(output), Some(written)) = (&mut self.output, written) {
                    output.back_to(written);
                }
            }
        }
        self.folds = folds;
        // It is none of them. A second walk would double at every level.
        match (meant, mistakes) {
            (_, Some(mistakes)) => self.found.append(mistakes),
            (Some(candidate), None) => {
                self.cursor = start;
                self.value(candidate, path, depth);
            }
            (None, None) => {}
        }
        self.cursor = end;
        // Something else was wrong on the way, such as a budget that ran out.
        if self.found.mark() != found {
            return;
        }
        let leads_none = !schemas
            .iter()
            .any(|schema| leads(schema, text, &members, false));
        match tags(schemas) {
            Some((tag, values)) if leads_none && text.starts_with('{') => {
                let path = path.key(tag);
                let got = members.iter().find(|(key, _)| key == tag);
                self.report(&path, |words| match got {
                    Some((_, value)) => {
                        let shown = shorten(value);
                        push(words, format_args!("expected {values}, got {shown}"));
                        if let Some(text) = unquote(value) {
                            let tags = schemas.iter().flat_map(|schema| tag_values(schema));
                            did_you_mean(words, &text, tags);
                        }
                    }
                    None => push(words, format_args!("missing; expected {values}")),
                });
            }
            _ => self.unlike(schema, text, path),
        }
    }
}

/// The members of an object, or nothing.
fn members(text: &str) -> Vec<(Cow<'_, str>, &str)> {
    let mut members = Vec::new();
    let mut cursor = Cursor::new(text);
    if !cursor.eat(b'{') {
        return members;
    }
    while !cursor.eat(b'}') && cursor.peek() != 0 {
        let key = cursor.key().text().unwrap_or_default();
        members.push((key, cursor.value()));
        cursor.eat(b',');
    }
    members
}

/// Whether a value may be what `schema` describes, from what shows at its surface: its kind, its
/// tag and its members. With `all_of_it`, what does not lead can't fit; without, only the tag must
/// be right, or one of the members that it must have.
fn leads(schema: &Schema, text: &str, members: &[(Cow<'_, str>, &str)], all_of_it: bool) -> bool {
    let first = text.bytes().next().unwrap_or(0);
    match schema.kind {
        Kind::Object(properties) => {
            let Members { known, others } = Members::of(properties);
            let is_tagged = known.iter().any(|property| tag(property).is_some());
            let tag_fits = known.iter().all(|property| has_tag(members, property));
            let has = |property: &Property| members.iter().any(|(key, _)| property.is_called(key));
            first == b'{'
                && tag_fits
                && if all_of_it {
                    let required = known
                        .iter()
                        .all(|property| !property.required || has(property));
                    let is_known = |key: &str| known.iter().any(|property| property.is_called(key));
                    required && (others.is_some() || members.iter().all(|(key, _)| is_known(key)))
                } else {
                    let mut required = known.iter().filter(|property| property.required);
                    is_tagged || known.is_empty() || required.any(has)
                }
        }
        Kind::Reference(reference) => leads((reference.target)(), text, members, all_of_it),
        _ => suits(schema, first),
    }
}

/// Whether a value that starts with this byte may be of the kind of `schema`.
pub(super) fn suits(schema: &Schema, first: u8) -> bool {
    match schema.kind {
        Kind::Null => first == b'n',
        Kind::Boolean => matches!(first, b't' | b'f'),
        Kind::Integer(_) | Kind::Number(_) => matches!(first, b'-' | b'0'..=b'9'),
        Kind::String(_) | Kind::Enum(_) => first == b'"',
        Kind::Array(_) | Kind::Tuple(_) => first == b'[',
        Kind::Map(_) | Kind::Object(_) => first == b'{',
        Kind::AnyOf(schemas) => schemas.iter().any(|schema| suits(schema, first)),
        Kind::Any | Kind::Nullable(_) => true,
        Kind::Reference(reference) => suits((reference.target)(), first),
    }
}

/// The one schema of the kind of a value, if there is no other.
fn only_of_kind<'s>(schemas: &'s [&'static Schema], text: &str) -> Option<&'s &'static Schema> {
    let first = text.bytes().next().unwrap_or(0);
    let mut found = schemas.iter().filter(|schema| suits(schema, first));
    found.next().filter(|_| found.next().is_none())
}

/// Whether a text is none of the strings of an enum, and none of them mistyped. It may be the name of
/// a variant that is an object.
fn is_far(schema: &Schema, text: &str) -> bool {
    match schema.kind {
        Kind::Enum(strings) => unquote(text).is_some_and(|text| {
            let values = strings.values.iter().map(Text::as_str);
            !strings.admits(&text) && nearest(&text, values).is_none()
        }),
        Kind::Reference(reference) => is_far((reference.target)(), text),
        _ => false,
    }
}

/// Whether a property is no tag, or the tag is right.
fn has_tag(members: &[(Cow<'_, str>, &str)], property: &Property) -> bool {
    let Some(strings) = tag(property) else {
        return true;
    };
    let found = members.iter().find(|(key, _)| property.is_called(key));
    found.is_some_and(|(_, value)| {
        unquote(value).is_some_and(|value| strings.admits(&value) || strings.fold(&value).is_some())
    })
}

/// What a property may be, if it is a tag that tells variants apart.
fn tag(property: &Property) -> Option<Strings> {
    match property.schema.kind {
        Kind::Enum(strings) if strings.is_tag => Some(strings),
        _ => None,
    }
}

/// What the tag of an object may be.
fn tag_values(schema: &'static Schema) -> impl Iterator<Item = &'static str> {
    let tags = schema.properties().iter().filter_map(tag);
    tags.flat_map(|strings| strings.values).map(Text::as_str)
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
        values.push(text(|words| expected(words, property.schema)));
    }
    Some((name?, text(|words| one_of(words, values.iter(), None))))
}
