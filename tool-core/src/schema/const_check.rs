//! Checks of a schema tree at compile time.
//!
//! The macro emits a constant for each check, with the span of the checked tokens, so that the compile
//! error underlines them.

use super::flat::{nth, others};
use super::{ExtraForms, Kind, Property, Schema, Text};

/// Returns `true` if some value equals `text`.
pub(super) const fn contains(values: &[Text], text: &str) -> bool {
    let mut at = 0;
    while at < values.len() {
        if same(values[at].as_str(), text) {
            return true;
        }
        at += 1;
    }
    false
}

/// Compares two strings.
pub(crate) const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Creates the schema of an untagged enum.
///
/// # Panics
///
/// Panics if serde could decode a value of one variant as an earlier one, in a form that the schema of the
/// earlier one does not describe: serde tries the variants in order, so the value would silently change.
#[track_caller]
pub const fn untagged(schemas: &'static [&'static Schema]) -> Schema {
    let mut later = 1;
    while later < schemas.len() {
        let mut earlier = 0;
        while earlier < later {
            assert!(
                !shadows(schemas[earlier], schemas[later], ARRAYS),
                "serde would decode an array of a later variant as the struct of an earlier one, \
                 field by field; put the variant with the array first"
            );
            assert!(
                !shadows(schemas[earlier], schemas[later], FIELDS),
                "serde would decode a later variant as an earlier one, which ignores unknown \
                 fields; put the variant with more fields first, or add \
                 `#[serde(deny_unknown_fields)]` to the type of the earlier one (to this enum, if \
                 the variant itself has the fields)"
            );
            assert!(
                !shadows(schemas[earlier], schemas[later], FORMS),
                "serde would decode a later variant as an earlier one, whose type also accepts \
                 numbers, strings or arrays; put the earlier one last"
            );
            earlier += 1;
        }
        later += 1;
    }
    Schema {
        extra_forms: ExtraForms::Untagged,
        ..Schema::any_of(schemas)
    }
}

/// Returns the schema of a field that serde reads from a buffer.
///
/// # Panics
///
/// Panics if serde can't read it from there, so that every call would fail.
#[track_caller]
pub const fn buffered(schema: &'static Schema) -> &'static Schema {
    assert!(
        !needs_text(schema),
        "serde can't read integers of 128 bits, or keys of a map that are integers or booleans, inside of a \
         flattened field, of an untagged enum, or of a tagged enum that serde decodes; use a smaller integer or \
         `String` keys, or leave the enum with the default representation"
    );
    schema
}

/// Returns the property of a field that serde reads from a buffer.
///
/// # Panics
///
/// Panics like [`buffered`].
#[track_caller]
pub const fn buffered_property(property: Property) -> Property {
    buffered(property.schema);
    property
}

/// Returns `true` if serde reads some value of a schema from JSON text only.
const fn needs_text(schema: &Schema) -> bool {
    match schema.kind {
        Kind::Integer(range) => range.needs_text,
        Kind::Enum(strings) => strings.needs_text,
        Kind::Nullable(inner) => needs_text(inner),
        Kind::AnyOf(schemas) | Kind::Tuple(schemas) => {
            let mut at = 0;
            while at < schemas.len() {
                if needs_text(schemas[at]) {
                    return true;
                }
                at += 1;
            }
            false
        }
        Kind::Array(rule) => needs_text(rule.items),
        Kind::Map(rule) => {
            matches!(rule.keys.kind, Kind::Integer(_))
                || needs_text(rule.keys)
                || needs_text(rule.values)
        }
        Kind::Object(properties) => {
            let mut at = 0;
            while at < properties.len() {
                if needs_text(properties[at].schema) {
                    return true;
                }
                at += 1;
            }
            false
        }
        _ => false,
    }
}

// How serde may read a value in a form that the schema does not describe.
const ARRAYS: u8 = 0;
const FIELDS: u8 = 1;
const FORMS: u8 = 2;

/// Returns `true` if serde may decode a value of `later` as `earlier`, where the value has a form of this
/// kind that the schema of `earlier` does not describe. `false` is certain; `true` only means that it is
/// possible.
const fn shadows(earlier: &Schema, later: &Schema, form: u8) -> bool {
    if let ExtraForms::Several = earlier.extra_forms {
        return form == FORMS && matches!(json_type(later), ANY | NUMBER | STRING | ARRAY);
    }
    if !may_read(earlier, later) {
        return false;
    }
    match (&earlier.kind, &later.kind) {
        (_, Kind::Nullable(inner)) => shadows(earlier, inner, form),
        (_, Kind::AnyOf(schemas)) => any_shadows(earlier, schemas, form, false),
        (Kind::Nullable(inner), _) => shadows(inner, later, form),
        (Kind::AnyOf(schemas), _) => any_shadows(later, schemas, form, true),
        (Kind::Array(earlier), Kind::Array(later)) => {
            later.lengths.maximum > 0 && shadows(earlier.items, later.items, form)
        }
        (Kind::Array(_) | Kind::Tuple(_), Kind::Array(_) | Kind::Tuple(_)) => {
            let mut at = 0;
            while let (Some(earlier), Some(later)) = (item(earlier, at), item(later, at)) {
                if shadows(earlier, later, form) {
                    return true;
                }
                at += 1;
            }
            false
        }
        (Kind::Map(earlier), Kind::Map(later)) => shadows(earlier.values, later.values, form),
        (Kind::Map(rule), Kind::Object(properties)) => {
            let mut at = 0;
            while let Some(property) = nth(properties, at) {
                if shadows(rule.values, property.schema, form) {
                    return true;
                }
                at += 1;
            }
            false
        }
        (Kind::Object(_), Kind::Array(_) | Kind::Tuple(_)) => form == ARRAYS,
        (Kind::Object(_), Kind::Map(_)) => form == FIELDS && ignores_unknown(earlier),
        (Kind::Object(known), Kind::Object(properties)) => {
            let is_open = form == FIELDS && ignores_unknown(earlier) && others(known).is_none();
            if is_open && others(properties).is_some() {
                return true;
            }
            let mut at = 0;
            while let Some(property) = nth(properties, at) {
                match find(known, property.name()) {
                    Some(known) if shadows(known.schema, property.schema, form) => return true,
                    None if is_open => return true,
                    _ => {}
                }
                at += 1;
            }
            false
        }
        _ => false,
    }
}

/// Returns `true` if one of these schemas shadows `other`, or is shadowed by it.
const fn any_shadows(
    other: &Schema,
    schemas: &'static [&'static Schema],
    form: u8,
    are_earlier: bool,
) -> bool {
    let mut at = 0;
    while at < schemas.len() {
        let is_shadow = if are_earlier {
            shadows(schemas[at], other, form)
        } else {
            shadows(other, schemas[at], form)
        };
        if is_shadow {
            return true;
        }
        at += 1;
    }
    false
}

const fn ignores_unknown(schema: &Schema) -> bool {
    matches!(schema.extra_forms, ExtraForms::Lax | ExtraForms::Unknown)
}

/// Returns `true` unless serde certainly rejects each value of `later` as a value of `earlier`.
const fn may_read(earlier: &Schema, later: &Schema) -> bool {
    match (&earlier.kind, &later.kind) {
        (Kind::Any | Kind::Reference(_), _) | (_, Kind::Any | Kind::Reference(_)) => true,
        _ if matches!(earlier.extra_forms, ExtraForms::Several) => true,
        (_, Kind::Nullable(inner)) => earlier.accepts_null() || may_read(earlier, inner),
        (_, Kind::AnyOf(schemas)) => {
            let mut at = 0;
            while at < schemas.len() {
                if may_read(earlier, schemas[at]) {
                    return true;
                }
                at += 1;
            }
            false
        }
        (Kind::Nullable(inner), _) => later.accepts_null() || may_read(inner, later),
        (Kind::AnyOf(schemas), _) => {
            let mut at = 0;
            while at < schemas.len() {
                if may_read(schemas[at], later) {
                    return true;
                }
                at += 1;
            }
            false
        }
        (Kind::Enum(left), Kind::Enum(right)) => {
            let mut at = 0;
            while at < right.values.len() {
                if contains(left.values, right.values[at].as_str()) {
                    return true;
                }
                at += 1;
            }
            left.is_open || right.is_open || !left.aliases.is_empty()
        }
        (Kind::Array(earlier), Kind::Array(later)) => {
            later.lengths.minimum == 0 || may_read(earlier.items, later.items)
        }
        (Kind::Tuple(_) | Kind::Array(_), Kind::Tuple(_) | Kind::Array(_)) => {
            let (least, most) = count(earlier);
            let (other_least, other_most) = count(later);
            may_read_items(
                earlier,
                later,
                max(least, other_least),
                min(most, other_most),
            )
        }
        (Kind::Object(fields), Kind::Tuple(_) | Kind::Array(_)) => {
            if !matches!(
                earlier.extra_forms,
                ExtraForms::Lax | ExtraForms::Positional
            ) {
                return false;
            }
            let (least, most) = count(later);
            // serde fills only fields with a default at the end.
            let (mut given, mut all) = (0, 0);
            while let Some(field) = nth(fields, all) {
                all += 1;
                if !field.has_fallback() {
                    given = all;
                }
            }
            may_read_items(earlier, later, max(least, given), min(most, all))
        }
        (Kind::Map(rule), Kind::Map(later)) => {
            later.lengths.minimum == 0 || may_read(rule.values, later.values)
        }
        (Kind::Map(rule), Kind::Object(properties)) => {
            let mut at = 0;
            while let Some(property) = nth(properties, at) {
                if property.is_required() && !may_read(rule.values, property.schema) {
                    return false;
                }
                at += 1;
            }
            true
        }
        (Kind::Object(known), Kind::Map(rule)) => {
            let mut at = 0;
            while let Some(property) = nth(known, at) {
                if property.is_required() && !may_read(property.schema, rule.values) {
                    return false;
                }
                at += 1;
            }
            true
        }
        (Kind::Object(known), Kind::Object(properties)) => {
            let mut at = 0;
            while let Some(property) = nth(known, at) {
                if property.is_required() {
                    match find_named(properties, property) {
                        Some(given) if may_read(property.schema, given.schema) => {}
                        None if others(properties).is_some() => {}
                        _ => return false,
                    }
                }
                at += 1;
            }
            let is_open = ignores_unknown(earlier) || others(known).is_some();
            at = 0;
            while let Some(given) = nth(properties, at) {
                if given.is_required() {
                    match find(known, given.name()) {
                        Some(property)
                            if !(may_read(property.schema, given.schema)
                                || property.is_nullable() && given.schema.accepts_null()) =>
                        {
                            return false;
                        }
                        None if !is_open => return false,
                        _ => {}
                    }
                }
                at += 1;
            }
            true
        }
        _ => json_type(earlier) == json_type(later),
    }
}

/// Returns `true` unless serde certainly rejects all arrays of `later` whose length is in this range.
const fn may_read_items(earlier: &Schema, later: &Schema, least: usize, most: usize) -> bool {
    if least > most {
        return false;
    }
    let mut at = 0;
    // Longer arrays only have more to fit.
    while at < least && at < MOST_ITEMS {
        if let (Some(wanted), Some(given)) = (item(earlier, at), item(later, at))
            && !may_read(wanted, given)
            && !(may_be_null(earlier, at) && given.accepts_null())
        {
            return false;
        }
        at += 1;
    }
    true
}

/// The most items of arrays that are compared.
const MOST_ITEMS: usize = 64;

/// Returns the schema of an item of an array, or of the field that serde reads from it.
const fn item(schema: &Schema, at: usize) -> Option<&'static Schema> {
    match schema.kind {
        Kind::Array(rule) if at < MOST_ITEMS => Some(rule.items),
        Kind::Tuple(items) if at < items.len() => Some(items[at]),
        Kind::Object(fields) => match nth(fields, at) {
            Some(field) => Some(field.schema),
            None => None,
        },
        _ => None,
    }
}

/// Returns `true` if a field is an `Option`, which serde reads from `null` too.
const fn may_be_null(schema: &Schema, at: usize) -> bool {
    match nth(schema.properties(), at) {
        Some(field) => field.is_nullable(),
        None => false,
    }
}

/// Returns the fewest and the most items of an array.
const fn count(schema: &Schema) -> (usize, usize) {
    match schema.kind {
        Kind::Array(rule) => (rule.lengths.minimum, rule.lengths.maximum),
        Kind::Tuple(items) => (items.len(), items.len()),
        _ => (0, 0),
    }
}

const fn min(left: usize, right: usize) -> usize {
    if left < right { left } else { right }
}

const fn max(left: usize, right: usize) -> usize {
    if left < right { right } else { left }
}

const fn find(properties: &'static [Property], name: &str) -> Option<&'static Property> {
    let mut at = 0;
    while let Some(property) = nth(properties, at) {
        if same(property.name(), name) {
            return Some(property);
        }
        at += 1;
    }
    None
}

/// Finds the property that serde reads as `wanted`, by its name or an alias.
const fn find_named(
    properties: &'static [Property],
    wanted: &Property,
) -> Option<&'static Property> {
    if let Some(found) = find(properties, wanted.name()) {
        return Some(found);
    }
    let mut at = 0;
    while at < wanted.aliases().len() {
        if let Some(found) = find(properties, wanted.aliases()[at]) {
            return Some(found);
        }
        at += 1;
    }
    None
}

// The JSON types; constants because `==` of an enum is not constant.
pub(super) const ANY: u8 = 0;
pub(super) const NULL: u8 = 1;
pub(super) const BOOLEAN: u8 = 2;
pub(super) const NUMBER: u8 = 3;
pub(super) const STRING: u8 = 4;
pub(super) const ARRAY: u8 = 5;
pub(super) const OBJECT: u8 = 6;

pub(super) const fn json_type(schema: &Schema) -> u8 {
    match schema.kind {
        Kind::Null => NULL,
        Kind::Boolean => BOOLEAN,
        Kind::Integer(_) | Kind::Number(_) => NUMBER,
        Kind::String(_) | Kind::Enum(_) => STRING,
        Kind::Array(_) | Kind::Tuple(_) => ARRAY,
        Kind::Map(_) | Kind::Object(_) => OBJECT,
        Kind::Any | Kind::AnyOf(_) | Kind::Nullable(_) | Kind::Reference(_) => ANY,
    }
}
