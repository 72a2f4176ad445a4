//! Which schemas of a union a value may match, or be meant for, judging by its kind, its tag and its keys.

use std::borrow::Cow;

use crate::schema::cursor::{Cursor, unquote};
use crate::schema::messages::{expected, one_of, text};
use crate::schema::numbers::whole_number;
use crate::schema::property::Members;
use crate::schema::{Kind, Property, Schema, Strings, Text};

/// A key and the text of its value.
pub(super) type Member<'t> = (Cow<'t, str>, &'t str);

/// Returns the members of an object; empty for other values.
pub(super) fn members(text: &str) -> Vec<Member<'_>> {
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

/// Returns `false` if a value certainly does not match `schema`, judging by its kind, its tag and
/// its keys.
pub(super) fn may_match(schema: &Schema, text: &str, members: &[Member<'_>]) -> bool {
    match schema.kind {
        Kind::Object(properties) => {
            let Members { known, others } = Members::of(properties);
            let is_known = |key: &str| known.iter().any(|property| property.has_name(key));
            text.starts_with('{')
                && known.iter().all(|property| {
                    has_tag(members, property)
                        && (!property.is_required() || is_given(members, property))
                })
                && (others.is_some() || members.iter().all(|(key, _)| is_known(key)))
        }
        Kind::Reference(reference) => may_match((reference.target)(), text, members),
        _ => may_be_kind(schema, first_byte(text)),
    }
}

/// Returns `true` if a value seems to be meant for `schema`: it is of the same kind and has the tag
/// or one of the required properties.
pub(super) fn is_intended(schema: &Schema, text: &str, members: &[Member<'_>]) -> bool {
    match schema.kind {
        Kind::Object(properties) => {
            let Members { known, .. } = Members::of(properties);
            let is_tagged = known.iter().any(|property| tag(property).is_some());
            let mut required = known.iter().filter(|property| property.is_required());
            text.starts_with('{')
                && known.iter().all(|property| has_tag(members, property))
                && (is_tagged
                    || known.is_empty()
                    || required.any(|property| is_given(members, property)))
        }
        Kind::Reference(reference) => is_intended((reference.target)(), text, members),
        // One of the two ranges of a `NonZero`, whose outer limits the schema may not show.
        Kind::Integer(range)
            if !(range.shows_minimum && range.shows_maximum)
                && may_be_kind(schema, first_byte(text)) =>
        {
            whole_number(text).is_none_or(|digits| match digits.as_bytes() {
                b"0" => range.minimum <= 0 && range.maximum >= 0,
                [b'-', ..] => range.minimum < 0,
                _ => range.maximum > 0,
            })
        }
        _ => may_be_kind(schema, first_byte(text)),
    }
}

pub(super) fn first_byte(text: &str) -> u8 {
    text.bytes().next().unwrap_or(0)
}

/// Returns `true` if a value that starts with this byte may be of the kind of `schema`.
pub(super) fn may_be_kind(schema: &Schema, first: u8) -> bool {
    match schema.kind {
        Kind::Null => first == b'n',
        Kind::Boolean => matches!(first, b't' | b'f'),
        Kind::Integer(_) | Kind::Number(_) => matches!(first, b'-' | b'0'..=b'9'),
        Kind::String(_) | Kind::Enum(_) => first == b'"',
        Kind::Array(_) | Kind::Tuple(_) => first == b'[',
        Kind::Map(_) | Kind::Object(_) => first == b'{',
        Kind::AnyOf(schemas) => schemas.iter().any(|schema| may_be_kind(schema, first)),
        Kind::Any | Kind::Nullable(_) => true,
        Kind::Reference(reference) => may_be_kind((reference.target)(), first),
    }
}

/// Returns the schema of the value's kind, if there is exactly one.
pub(super) fn only_of_kind<'s>(
    schemas: &'s [&'static Schema],
    text: &str,
) -> Option<&'s &'static Schema> {
    let first = first_byte(text);
    let mut found = schemas.iter().filter(|schema| may_be_kind(schema, first));
    found.next().filter(|_| found.next().is_none())
}

fn is_given(members: &[Member<'_>], property: &Property) -> bool {
    members.iter().any(|(key, _)| property.has_name(key))
}

/// Returns `true` if a property is not a tag, or if the value of the tag is right.
pub(super) fn has_tag(members: &[Member<'_>], property: &Property) -> bool {
    let Some(strings) = tag(property) else {
        return true;
    };
    let found = members.iter().find(|(key, _)| property.has_name(key));
    found.is_some_and(|(_, value)| {
        unquote(value).is_some_and(|value| {
            strings.accepts(&value) || strings.match_ignoring_case(&value).is_some()
        })
    })
}

/// Returns the values of a property that tags a variant.
fn tag(property: &Property) -> Option<Strings> {
    match property.schema.kind {
        Kind::Enum(strings) if strings.is_tag => Some(strings),
        _ => None,
    }
}

/// Returns the values of an object's tags.
pub(super) fn tag_values(schema: &'static Schema) -> impl Iterator<Item = &'static str> {
    let known = Members::of(schema.properties()).known.into_owned();
    let tags = known.into_iter().filter_map(|property| tag(&property));
    tags.flat_map(|strings| strings.values).map(Text::as_str)
}

/// Returns the tag that all of these objects have, and the list of its values for a message.
pub(super) fn tags(schemas: &[&'static Schema]) -> Option<(&'static str, String)> {
    let mut values = Vec::new();
    let mut name = None;
    for schema in schemas {
        let known = Members::of(schema.properties()).known;
        let property = known.iter().find(|property| tag(property).is_some())?;
        if name.is_some_and(|name| name != property.name()) {
            return None;
        }
        name = Some(property.name());
        values.push(text(|out| expected(out, property.schema)));
    }
    Some((name?, text(|out| one_of(out, values.iter(), None))))
}
