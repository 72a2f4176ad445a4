//! Objects into which other types are flattened: `#[serde(flatten)]`, and the variants of internally
//! tagged enums that hold another type.
//!
//! A flattened struct or map stays a property that stands for its members. A flattened enum or `Option`
//! gives the object several forms, one for each variant, which are written out here: the rest of the
//! library knows only unions of objects. If serde writes other forms than it reads, they are written out
//! too; an object whose written forms are not known has no output schema.

use std::marker::PhantomData;

use super::const_check::same;
use super::constrain::misfit;
use super::property::Flag;
use super::{Direction, ExtraForms, Kind, Property, Results, Schema, Text};

const EMPTY: &Schema = &Schema::object(&[]);
const ANY_MAP: &Schema = &Schema::map(&Schema::ANY);

/// Returns the property that stands for the members of a `#[serde(flatten)]` field.
#[track_caller]
pub const fn field(schema: &'static Schema, key: &str) -> Property {
    if schema.is_secret {
        misfit(
            key,
            "a flattened field cannot be secret, because it has no place of its own; add \
             `#[param(secret)]` to the fields of its type",
        );
    }
    let mut inner = schema;
    while let Kind::Nullable(value) = inner.kind {
        inner = value;
    }
    if let Kind::Reference(_) = inner.kind {
        misfit(
            key,
            "a recursive type cannot be flattened into itself; remove `#[serde(flatten)]`, or, if \
             this is another type, move `#[param(recursive)]` to the field of it that leads back here",
        );
    }
    if forms_of(schema, false, Direction::Arguments) == 0 {
        misfit(key, NOT_FLAT);
    }
    flat(schema)
}

const NOT_FLAT: &str =
    "only a struct, an enum of structs or a map can be flattened; remove `#[serde(flatten)]`";

/// Returns the property that stands for the content of a variant of an internally tagged enum.
#[track_caller]
pub const fn content(mut schema: &'static Schema) -> Property {
    assert!(
        !schema.is_secret,
        "a variant of an internally tagged enum cannot hold a secret, because its fields are those of \
         the variant; add `#[param(secret)]` to the fields of its type"
    );
    // serde reads an `Option` here like its inner type.
    while let Kind::Nullable(inner) = schema.kind {
        schema = inner;
    }
    assert!(
        !matches!(schema.kind, Kind::Reference(_)),
        "a variant of an internally tagged enum cannot hold the enum, whose tag would be given \
         twice; add `content = \"…\"` after the `tag` of the enum"
    );
    assert!(
        forms_of(schema, false, Direction::Arguments) > 0,
        "a variant of an internally tagged enum can only hold a struct, an enum of structs or a \
         map; add `content = \"…\"` after the `tag` of the enum"
    );
    flat(schema)
}

/// Returns a property that keeps a flattened union in the tree, where references find it.
pub const fn definition(schema: &'static Schema) -> Property {
    definition_in(schema, Direction::Arguments)
}

const fn definition_in(schema: &'static Schema, direction: Direction) -> Property {
    let schema = match schema.form(direction).kind {
        Kind::Nullable(inner) => return definition_in(inner, direction),
        Kind::AnyOf(_) => schema,
        _ => EMPTY,
    };
    flat(schema).with(Flag::Definition)
}

/// Returns `true` for a flattened property that is not a definition.
const fn stands_for_members(property: &Property) -> bool {
    property.is_flat() && !property.is_definition()
}

/// Returns a property that stands for the members of `schema`.
pub const fn flat(schema: &'static Schema) -> Property {
    let property = Property::of_schema(EMPTY).with_schema(schema);
    property.without(Flag::Required).with(Flag::Flat)
}

/// Returns the number of forms of a flattened value. A type inside of a union (`is_inner`) is read
/// from an object that was buffered, which is never a unit or an absent `Option`.
#[track_caller]
const fn forms_of(schema: &Schema, is_inner: bool, direction: Direction) -> usize {
    // Both are written as nothing.
    let is_inner = is_inner && matches!(direction, Direction::Arguments);
    let form = schema.form(direction);
    match form.kind {
        Kind::Object(_) | Kind::Any => 1,
        Kind::Map(rule) => {
            if let Direction::Result = direction {
                return 1;
            }
            assert!(
                match rule.keys.kind {
                    Kind::String(keys) => keys.lengths.is_any(),
                    Kind::Enum(_) => true,
                    _ => false,
                },
                "the keys of a flattened map must be `String`s or an enum; use one of them, or \
                 remove `#[serde(flatten)]`"
            );
            assert!(
                rule.lengths.is_any(),
                "the length of a flattened map cannot be checked; remove the constraint"
            );
            1
        }
        Kind::Null if !is_inner => 1,
        Kind::Nullable(inner) => match forms_of(inner, is_inner, direction) {
            0 => 0,
            forms => forms + (!is_inner && !is_always_there(inner, direction)) as usize,
        },
        Kind::AnyOf(schemas) => {
            let (mut count, mut at) = (0, 0);
            while at < schemas.len() {
                count += forms_of(schemas[at], true, direction);
                at += 1;
            }
            count
        }
        Kind::Enum(strings) => strings.values.len() + other_value(form).is_some() as usize,
        _ => 0,
    }
}

/// Returns `true` if a flattened `Option` of this is never `None`.
const fn is_always_there(schema: &Schema, direction: Direction) -> bool {
    match schema.form(direction).kind {
        Kind::Map(_) | Kind::Any | Kind::Null | Kind::Nullable(_) => true,
        Kind::Object(properties) => {
            let mut at = 0;
            while at < properties.len() {
                let property = &properties[at];
                if property.is_required()
                    || property.is_flat() && !is_always_there(property.schema, direction)
                {
                    return false;
                }
                at += 1;
            }
            true
        }
        _ => false,
    }
}

/// Returns the name of the `#[serde(other)]` variant of an enum of strings, which is a key like the names
/// of the other variants when flattened. It is the first alias after the aliases of the values.
const fn other_value(schema: &Schema) -> Option<&'static str> {
    if let Kind::Enum(strings) = schema.kind {
        let mut at = 0;
        while at < strings.aliases.len() {
            let (name, index) = strings.aliases[at];
            if index == strings.values.len() {
                return Some(name);
            }
            at += 1;
        }
    }
    None
}

/// Returns one form of a flattened value, and the description of its variant.
const fn form(schema: &'static Schema, at: usize, direction: Direction) -> (Property, Text) {
    let this = schema.form(direction);
    match this.kind {
        Kind::Any => (flat(ANY_MAP), Text::EMPTY),
        Kind::Nullable(inner) if at < forms_of(inner, false, direction) => {
            form(inner, at, direction)
        }
        Kind::Null | Kind::Nullable(_) => (flat(EMPTY), Text::EMPTY),
        Kind::AnyOf(schemas) => {
            let (mut branch, mut at) = (0, at);
            loop {
                let count = forms_of(schemas[branch], true, direction);
                if at < count {
                    let (property, description) = form(schemas[branch], at, direction);
                    let own = schemas[branch].description;
                    return (property, if own.is_empty() { description } else { own });
                }
                at -= count;
                branch += 1;
            }
        }
        // serde writes a unit variant as a key with `null`.
        Kind::Enum(strings) => {
            let name = match other_value(this) {
                Some(other) if at == strings.values.len() => Text::unchecked(other),
                _ => strings.values[at],
            };
            let property = Property::new(name, &Schema::NULL);
            (property, Text::EMPTY)
        }
        _ => (flat(schema), Text::EMPTY),
    }
}

/// Returns `true` if a flattened value is written in the forms in which it is read.
const fn is_same(schema: &Schema, is_inner: bool) -> bool {
    if !matches!(schema.results, Results::Same) {
        return false;
    }
    match schema.kind {
        Kind::Null => !is_inner,
        Kind::Nullable(inner) => !is_inner && is_same(inner, is_inner),
        Kind::AnyOf(schemas) => {
            let mut at = 0;
            while at < schemas.len() {
                if !is_same(schemas[at], true) {
                    return false;
                }
                at += 1;
            }
            true
        }
        Kind::Reference(_) => false,
        _ => true,
    }
}

/// Returns `true` if the written forms of a flattened value are known.
const fn is_known(schema: &Schema) -> bool {
    let form = schema.form(Direction::Result);
    match form.kind {
        Kind::Nullable(inner) => is_known(inner),
        Kind::AnyOf(schemas) => {
            let mut at = 0;
            while at < schemas.len() {
                if !is_known(schemas[at]) {
                    return false;
                }
                at += 1;
            }
            true
        }
        Kind::Reference(_) => false,
        _ => !matches!(form.results, Results::Unknown),
    }
}

/// The maximum number of forms of an object.
const MOST_FORMS: usize = 64;

/// Returns the number of forms of an object.
const fn count(properties: &[Property], direction: Direction) -> usize {
    let (mut total, mut at) = (1_usize, 0);
    while at < properties.len() {
        if stands_for_members(&properties[at]) {
            total = total.saturating_mul(forms_of(properties[at].schema, false, direction));
        }
        at += 1;
    }
    total
}

/// An object with `N` properties into which others are flattened: the object number `K` of the type
/// that implements this.
pub trait Flattened<const K: usize, const N: usize> {
    /// The properties. Each flattened one is followed by its [`definition`].
    const PROPERTIES: [Property; N];
    /// Set for a variant that holds a type, where that type decides how unknown keys are read.
    const IS_NEWTYPE: bool;
    /// Set by `#[serde(deny_unknown_fields)]`.
    const DENIES_UNKNOWN: bool;
}

/// The form with the number `I`, as it is read or, if `R`, as it is written. Each is a constant by
/// itself: rustc hashes the whole constant that a reference points into, for each reference, which takes
/// cubic time for an array of forms.
struct Form<T: ?Sized, const K: usize, const N: usize, const R: bool, const I: usize>(
    PhantomData<T>,
);

impl<T: Flattened<K, N> + ?Sized, const K: usize, const N: usize, const R: bool, const I: usize>
    Form<T, K, N, R, I>
{
    const PROPERTIES: &'static [Property; N] = &properties(&T::PROPERTIES, I, direction(R));

    const SCHEMA: &'static Schema = &{
        let (description, extra_forms) = describe(
            &T::PROPERTIES,
            I,
            direction(R),
            T::IS_NEWTYPE,
            T::DENIES_UNKNOWN,
        );
        Schema {
            description,
            extra_forms,
            ..Schema::object(Self::PROPERTIES)
        }
    };
}

const fn direction(is_result: bool) -> Direction {
    if is_result {
        Direction::Result
    } else {
        Direction::Arguments
    }
}

/// Returns the properties of a form.
#[track_caller]
const fn properties<const N: usize>(
    properties: &[Property; N],
    number: usize,
    direction: Direction,
) -> [Property; N] {
    let mut form = *properties;
    let mut rest = number;
    let mut at = 0;
    while at < N {
        if properties[at].is_definition() {
            // Only the first form needs the definition.
            form[at] = if number > 0 {
                flat(EMPTY)
            } else {
                definition_in(properties[at - 1].schema, direction)
            };
        } else if properties[at].is_flat() {
            let choices = forms_of(properties[at].schema, false, direction);
            // A number beyond the last is not used.
            if choices == 0 {
                return form;
            }
            form[at] = self::form(properties[at].schema, rest % choices, direction).0;
            rest /= choices;
        }
        at += 1;
    }
    let is_read = matches!(direction, Direction::Arguments);
    assert!(
        rest > 0 || !is_read || !has_same_names(&form, direction),
        "a flattened type has a key that another field or tag has too, and serde gives it to one of \
         them only; rename one with `#[serde(rename = \"…\")]`, or remove `#[serde(flatten)]`"
    );
    form
}

/// Returns the description of a form, and how serde reads it.
const fn describe(
    properties: &[Property],
    number: usize,
    direction: Direction,
    is_newtype: bool,
    denies_unknown: bool,
) -> (Text, ExtraForms) {
    let mut description = Text::EMPTY;
    let mut extra_forms = if denies_unknown {
        ExtraForms::Strict
    } else {
        ExtraForms::Unknown
    };
    let mut rest = number;
    let mut at = 0;
    while at < properties.len() {
        if stands_for_members(&properties[at]) {
            let choices = forms_of(properties[at].schema, false, direction);
            if choices == 0 {
                break;
            }
            let (chosen, own) = form(properties[at].schema, rest % choices, direction);
            rest /= choices;
            if description.is_empty() {
                description = own;
            }
            if is_newtype {
                extra_forms = match chosen.schema.extra_forms {
                    inner @ (ExtraForms::Positional | ExtraForms::Unknown | ExtraForms::Lax)
                        if chosen.is_flat() =>
                    {
                        inner
                    }
                    _ => ExtraForms::Strict,
                };
            }
        }
        at += 1;
    }
    (description, extra_forms)
}

/// Writes functions that return the first forms of an object. Constants are only evaluated in functions
/// that are called, so an object with one form does not pay for the others.
macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident($($number:literal)*);)*) => {$(
        $(#[$doc])*
        const fn $name<T, const K: usize, const N: usize, const R: bool>(
        ) -> &'static [&'static Schema]
        where
            T: Flattened<K, N> + ?Sized,
        {
            const { &[$(Form::<T, K, N, R, $number>::SCHEMA),*] }
        }
    )*};
}

lists! {
    one(0);
    eight(0 1 2 3 4 5 6 7);
    most(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
}

/// Returns the first forms of an object.
const fn forms<T, const K: usize, const N: usize, const R: bool>(
    count: usize,
) -> &'static [&'static Schema]
where
    T: Flattened<K, N> + ?Sized,
{
    let forms = match count {
        1 => one::<T, K, N, R>(),
        2..=8 => eight::<T, K, N, R>(),
        _ => most::<T, K, N, R>(),
    };
    forms.split_at(count).0
}

/// Returns the schema of an object, which is a union if it has several forms.
///
/// # Panics
///
/// Panics if serde does not read the flattened types together.
#[track_caller]
pub const fn object<T: Flattened<K, N> + ?Sized, const K: usize, const N: usize>() -> Schema {
    check_flattened(&T::PROPERTIES, T::DENIES_UNKNOWN && !T::IS_NEWTYPE);
    let count = count(&T::PROPERTIES, Direction::Arguments);
    assert!(
        count <= MOST_FORMS,
        "flattened enums give this type more than 64 forms; remove `#[serde(flatten)]` from one"
    );
    let forms = forms::<T, K, N, false>(count);
    let schema = if count == 1 {
        *forms[0]
    } else {
        Schema {
            extra_forms: if may_swallow(&T::PROPERTIES) {
                ExtraForms::Swallowing
            } else {
                ExtraForms::None
            },
            ..Schema::any_of(forms)
        }
    };
    let mut at = 0;
    while at < N {
        if T::PROPERTIES[at].is_flat() && !is_same(T::PROPERTIES[at].schema, false) {
            return Schema {
                results: Results::Other(results::<T, K, N>()),
                ..schema
            };
        }
        at += 1;
    }
    schema
}

/// A function, so that only objects that need it pay for the constant.
const fn results<T: Flattened<K, N> + ?Sized, const K: usize, const N: usize>() -> &'static Schema {
    const { &written::<T, K, N>() }
}

/// Returns the schema of an object as it is serialized.
pub const fn written<T: Flattened<K, N> + ?Sized, const K: usize, const N: usize>() -> Schema {
    let mut at = 0;
    while at < N {
        if T::PROPERTIES[at].is_flat() && !is_known(T::PROPERTIES[at].schema) {
            return Schema::UNKNOWN;
        }
        at += 1;
    }
    let count = count(&T::PROPERTIES, Direction::Result);
    if count == 0 || count > MOST_FORMS {
        return Schema::UNKNOWN;
    }
    let forms = forms::<T, K, N, true>(count);
    at = 0;
    while at < count {
        // serde writes such a key twice.
        if has_same_names(forms[at].properties(), Direction::Result) {
            return Schema::UNKNOWN;
        }
        at += 1;
    }
    if count == 1 {
        *forms[0]
    } else {
        Schema::any_of(forms)
    }
}

/// Returns `true` if serde reads a flattened `Option` as `None` where a type rejects a value that its
/// schema describes.
const fn may_swallow(properties: &[Property]) -> bool {
    let mut at = 0;
    while at < properties.len() {
        let property = &properties[at];
        if property.is_flat()
            && let Kind::Nullable(inner) = property.schema.kind
            && has_decode_check(inner)
        {
            return true;
        }
        at += 1;
    }
    false
}

const fn has_decode_check(schema: &Schema) -> bool {
    let mut at = 0;
    while let Some(child) = schema.child(Direction::Arguments, at) {
        if has_decode_check(child) {
            return true;
        }
        at += 1;
    }
    // The target of a reference is unknown here.
    schema.decode_check.is_some() || matches!(schema.kind, Kind::Reference(_))
}

/// Returns a list of schemas in which a union is replaced by its members. `C` is at least the length.
pub const fn leaves<const C: usize>(
    schemas: &'static [&'static Schema],
) -> ([&'static Schema; C], usize) {
    let mut leaves = [EMPTY; C];
    let (mut count, mut at) = (0, 0);
    while at < schemas.len() {
        match schemas[at].kind {
            Kind::AnyOf(members)
                if schemas[at].decode_check.is_none()
                    && !schemas[at].is_secret
                    && matches!(schemas[at].results, Results::Same)
                    && schemas[at].description.is_empty()
                    && matches!(schemas[at].extra_forms, ExtraForms::None)
                    && count + members.len() + schemas.len() - at <= C =>
            {
                let mut member = 0;
                while member < members.len() {
                    leaves[count] = members[member];
                    count += 1;
                    member += 1;
                }
            }
            _ => {
                leaves[count] = schemas[at];
                count += 1;
            }
        }
        at += 1;
    }
    (leaves, count)
}

/// Returns the union of these schemas. If one of them is a union, its members take its place.
pub const fn union<const C: usize>(
    schemas: &'static [&'static Schema],
    leaves: &'static ([&'static Schema; C], usize),
) -> Schema {
    if leaves.1 == schemas.len() {
        return Schema::any_of(schemas);
    }
    let (leaves, _) = leaves.0.split_at(leaves.1);
    Schema::any_of(leaves)
}

/// Returns the schema of an untagged enum, in which unions are replaced by their members.
#[track_caller]
pub const fn untagged<const C: usize>(
    schemas: &'static [&'static Schema],
    leaves: &'static ([&'static Schema; C], usize),
) -> Schema {
    Schema {
        extra_forms: super::const_check::untagged(schemas).extra_forms,
        ..union(schemas, leaves)
    }
}

/// Checks that serde reads the flattened types of an object as their schemas say.
#[track_caller]
const fn check_flattened(properties: &[Property], denies_unknown: bool) {
    let mut earlier_stay = false;
    let mut left = 0;
    let mut at = 0;
    while at < properties.len() {
        left += (stands_for_members(&properties[at])) as usize;
        at += 1;
    }
    let others = left > 1;
    at = 0;
    while at < properties.len() {
        let property = &properties[at];
        if stands_for_members(property) {
            left -= 1;
            let takes = takes_its_keys(property.schema);
            assert!(
                takes || !denies_unknown,
                "`#[serde(deny_unknown_fields)]` also rejects the keys of this flattened type; \
                 remove it, since a tool rejects unknown keys anyway"
            );
            assert!(
                !takes_any_key(property.schema) || !earlier_stay && left == 0,
                "serde also reads the keys of other flattened types into a flattened map, and writes \
                 them twice; put the map last, and remove `#[serde(flatten)]` from enums before it"
            );
            assert!(
                !others || left == 0 && !earlier_stay || !rejects_unknown(property.schema, false),
                "a flattened enum that rejects unknown keys also rejects those of the flattened \
                 types after it; put it last, or remove `#[serde(flatten)]` from it"
            );
            earlier_stay |= !takes;
        }
        at += 1;
    }
}

/// Returns `true` for a map, or for a value that is one.
const fn takes_any_key(schema: &Schema) -> bool {
    match schema.kind {
        Kind::Nullable(inner) => takes_any_key(inner),
        Kind::Map(_) | Kind::Any => true,
        _ => false,
    }
}

/// Returns `true` if serde hides the keys that a flattened type reads from the types after it.
const fn takes_its_keys(schema: &Schema) -> bool {
    match schema.kind {
        Kind::Object(properties) => {
            let mut at = 0;
            while at < properties.len() {
                if properties[at].is_flat() {
                    return false;
                }
                at += 1;
            }
            true
        }
        Kind::Nullable(inner) => takes_its_keys(inner),
        Kind::Enum(_) | Kind::Null => true,
        Kind::AnyOf(schemas) => {
            let mut at = 0;
            while at < schemas.len() {
                let is_external = match schemas[at].kind {
                    Kind::Enum(_) => true,
                    Kind::Object(_) => matches!(schemas[at].extra_forms, ExtraForms::None),
                    _ => false,
                };
                if !is_external {
                    return false;
                }
                at += 1;
            }
            matches!(schema.extra_forms, ExtraForms::None)
        }
        _ => false,
    }
}

/// Returns `true` if a flattened union fails on keys that it does not know.
const fn rejects_unknown(schema: &Schema, is_buffered: bool) -> bool {
    match schema.kind {
        Kind::Nullable(inner) => rejects_unknown(inner, is_buffered),
        Kind::Enum(_) => is_buffered,
        Kind::AnyOf(schemas) => {
            let is_untagged = matches!(schema.extra_forms, ExtraForms::Untagged);
            let mut at = 0;
            while at < schemas.len() {
                let branch = schemas[at];
                let rejects = match branch.extra_forms {
                    ExtraForms::Positional | ExtraForms::Strict => true,
                    _ => rejects_unknown(branch, is_buffered || is_untagged),
                };
                if rejects {
                    return true;
                }
                at += 1;
            }
            false
        }
        Kind::Object(properties) => {
            let mut at = 0;
            while at < properties.len() {
                if properties[at].is_flat() && rejects_unknown(properties[at].schema, true) {
                    return true;
                }
                at += 1;
            }
            // The object around an externally tagged variant has exactly one key.
            is_buffered && matches!(schema.extra_forms, ExtraForms::None) && properties.len() == 1
        }
        _ => false,
    }
}

/// The maximum number of properties whose names are compared.
const MOST_NAMES: usize = 128;

/// Returns `true` if two properties of an object have the same name.
const fn has_same_names(properties: &[Property], direction: Direction) -> bool {
    let mut names = [""; MOST_NAMES];
    let count = collect_names(properties, direction, &mut names, 0);
    let mut at = 0;
    while at < count {
        let mut other = 0;
        while other < at {
            if same(names[other], names[at]) {
                return true;
            }
            other += 1;
        }
        at += 1;
    }
    false
}

/// Adds the names of all properties after the first `count`. Returns their number.
const fn collect_names(
    properties: &[Property],
    direction: Direction,
    names: &mut [&'static str; MOST_NAMES],
    mut count: usize,
) -> usize {
    let mut at = 0;
    while at < properties.len() {
        let property = &properties[at];
        match property.schema.form(direction).kind {
            Kind::Object(inner) if property.is_flat() => {
                count = collect_names(inner, direction, names, count);
            }
            Kind::Map(rule) if property.is_flat() => {
                if let Kind::Enum(keys) = rule.keys.form(direction).kind {
                    let mut key = 0;
                    while key < keys.values.len() && count < MOST_NAMES {
                        names[count] = keys.values[key].as_str();
                        count += 1;
                        key += 1;
                    }
                }
            }
            _ if !property.is_flat() && count < MOST_NAMES => {
                names[count] = property.name();
                count += 1;
            }
            _ => {}
        }
        at += 1;
    }
    count
}
