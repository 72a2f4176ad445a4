//! Items that generated code refers to. They are not part of the public interface and change with the
//! macros.

pub use core::{option::Option, option::Option::*, result::Result, result::Result::*};

pub use core::time::Duration;
pub use serde::Deserialize;
pub use std::borrow::Cow;
pub use tool_core_macros::not_tools;

pub use crate::args::{ArgumentError, Input};
pub use crate::decode::check::{Comparison, DecodeCheck, NoDecodeCheck, VerdictComparison};
pub use crate::decode::{
    Absent, Both, BySerde, Decode, HasDefault, HasFrom, HasTryFrom, ReadError, Reader, Slot, Tag,
    Variant, Wrapper, take,
};
pub use crate::output::{Outcome, Output, ReturnValue};
pub use crate::provider::trained::provided;
pub use crate::registry::linked::{LinkedTool, link_section};
pub use crate::schema::decode_check::{with_comparison, with_decode_check};
pub use crate::schema::examples::Literal;
pub use crate::schema::property::{PropertyDetails, PropertyTexts};
pub use crate::schema::{Property, Schema, Text};
pub use crate::spec::Need;
pub use crate::spec::{Details, ForClients, Freeform, Grammar, Location, Programmatic, Provided};
pub use crate::tool::json_texts::assert_schema;
pub use crate::tool::{
    AsyncStart, Invoke, ListsBlock, StaticEntry, StaticSpec, SyncResult, Tool,
    number_the_other_blocks_of_this_type__write_toolset_block_2,
};
pub use crate::types::borrow::{BorrowArg, Str};
pub use crate::types::{Exactness, MapKey, NotExact, ToolType, WRITES_EXACTLY};

#[path = "private/keys.rs"]
pub mod keys;

// The constant functions that generated code calls.
pub mod check {
    pub use crate::schema::const_check::*;
}
pub mod constrain {
    pub use crate::schema::constrain::*;
}
pub mod examples {
    pub use crate::schema::examples::*;
}
pub mod flatten {
    pub use crate::schema::flatten::*;
}
pub mod prose {
    pub use crate::schema::prose::*;
}

/// Traits whose methods are found if a type has no inherent ones. They are imported as `_`, so that
/// no name of the user is shadowed.
pub mod autoref_fallbacks {
    pub use crate::decode::{DescribedSlot as _, OtherSlot as _};
    pub use crate::output::{
        ConfinedError as _, DisplayedError as _, NoOutput as _, SuccessOfResult as _,
        SuccessOfValue as _,
    };
}

use std::marker::PhantomData;

use crate::provider::rule_check::{self as provider_check, TypeCheck};
use crate::schema::property::Flag;
use crate::schema::references::{has_references, resolve};
use crate::schema::{ExtraForms, Kind, Reference, Results, Strings};
use crate::tool::Running;

/// The decoded value of a borrowed parameter.
pub type OwnedArg<'de, T> = <T as BorrowArg>::Owned<'de>;

/// Returns the entry of a tool that the linker collects. Stops the build if a reference can't be resolved
/// or the tool exceeds a provider limit. The generated code calls this, so that the error shows the tool.
#[track_caller]
pub const fn link<T: Tool>() -> LinkedTool {
    resolve(T::SOURCE.parameters, T::SOURCE.output_schema());
    provider_check::tool(T::SOURCE.name, T::SOURCE.parameters);
    LinkedTool::of::<T>()
}

/// Returns the static entry of a tool. Stops the build like [`link`].
#[track_caller]
pub const fn entry<T: Tool>() -> StaticEntry {
    link::<T>();
    StaticEntry::of::<T>()
}

/// Stops the build if a provider rejects tools that programs call.
#[track_caller]
pub const fn check_programmatic(tool: &str) {
    provider_check::programmatic(tool);
}

/// Stops the build if the parameter of a free-form tool is not a string.
#[track_caller]
pub const fn check_freeform(schema: &Schema) {
    assert!(
        matches!(schema.kind, Kind::String(_)),
        "the parameter of a free-form tool must be a required string; write `&str` or `String`"
    );
}

/// Returns a grammar. Stops the build if it has no rule to start with.
#[track_caller]
pub const fn lark(rules: &'static str) -> &'static str {
    let bytes = rules.as_bytes();
    let (mut at, mut is_start) = (0, true);
    while at < bytes.len() {
        if let (true, [b's', b't', b'a', b'r', b't', b':' | b'.' | b' ' | b'\t', ..]) =
            (is_start, bytes.split_at(at).1)
        {
            return rules;
        }
        // `?start` and `!start` are the same rule with another tree.
        is_start =
            matches!(bytes[at], b'\n') || is_start && matches!(bytes[at], b' ' | b'?' | b'!');
        at += 1;
    }
    panic!("a Lark grammar requires the rule `start`; write `start: …`");
}

/// Boxes the future of a call.
pub fn boxed<'a>(future: impl Future<Output = Outcome> + Send + 'a) -> Running<'a> {
    Box::pin(future)
}

/// Boxes the future of a call, which owns the arguments, and makes its value an outcome.
pub fn awaited<'a, F: Future + Send + 'a>(
    future: F,
    outcome: fn(F::Output) -> Outcome,
) -> Running<'a> {
    Box::pin(async move { outcome(future.await) })
}

/// Returns the location of the attribute whose span the call has.
#[track_caller]
pub const fn location(module: &'static str) -> Location {
    let caller = core::panic::Location::caller();
    Location {
        file: caller.file(),
        line: caller.line(),
        module,
    }
}

/// Returns a text whose form in JSON, if it differs, follows the plain form of `plain` bytes.
pub const fn text(both: &'static str, plain: usize) -> Text {
    Text { both, plain }
}

// The compiler evaluates these functions for every parameter, and each call takes microseconds, so they
// make few.

/// The parts of a property that its type determines. The compiler evaluates them once for each type.
struct OfType<T: ?Sized>(PhantomData<T>);

impl<T: ToolType + ?Sized> OfType<T> {
    const PROPERTY: Property = {
        let property = Property::of_schema(T::SCHEMA);
        if T::EXACT {
            property.with(Flag::Exact)
        } else {
            property
        }
    };
    const PARAMETER: Property = if has_references(T::SCHEMA) {
        Self::PROPERTY
    } else {
        Self::PROPERTY.with(Flag::NoReferences)
    };
}

/// Returns the texts of a property.
pub const fn texts(
    texts: &'static str,
    [plain_name, name, plain_description]: [usize; 3],
) -> PropertyTexts {
    PropertyTexts {
        texts,
        plain_name,
        name,
        plain_description,
    }
}

/// Returns the property of a parameter or a field whose name and description are the same in JSON. The
/// description follows the name of `name` bytes.
pub const fn property<T: ToolType + ?Sized>(texts: &'static str, name: usize) -> Property {
    OfType::<T>::PROPERTY.with_plain_texts(texts, name)
}

/// Returns the property of a parameter or a field.
pub const fn property_of<T: ToolType + ?Sized>(texts: PropertyTexts) -> Property {
    OfType::<T>::PROPERTY.with_texts(texts)
}

/// Returns a property whose schema is written as JSON.
pub const fn schema_property(texts: PropertyTexts, schema: &'static Schema) -> Property {
    Property::of_schema(schema).with_texts(texts)
}

/// Returns the property of a parameter whose name and description are the same in JSON. The description
/// follows the name of `name` bytes. Stops the build if it breaks a provider rule.
#[track_caller]
pub const fn parameter<T: ToolType + ?Sized>(
    tool: &'static str,
    texts: &'static str,
    name: usize,
) -> Property {
    let property = OfType::<T>::PARAMETER.with_plain_texts(texts, name);
    if TypeCheck::<T>::IS_FINE {
        return property;
    }
    TypeCheck::<T>::parameter(tool, property)
}

/// Returns the property of a parameter. Stops the build if it breaks a provider rule.
#[track_caller]
pub const fn parameter_of<T: ToolType + ?Sized>(
    tool: &'static str,
    texts: PropertyTexts,
) -> Property {
    TypeCheck::<T>::parameter(tool, OfType::<T>::PARAMETER.with_texts(texts))
}

/// Returns the property, whose schema is written as JSON. Stops the build if it breaks a provider rule.
#[track_caller]
pub const fn checked_schema(tool: &'static str, property: Property) -> Property {
    provider_check::parameter(tool, property)
}

/// Converts the property of a `T` to the property of an `Option<&T>`.
pub const fn optional(property: Property) -> Property {
    property.optional().with(Flag::Nullable)
}

/// Returns the details that few properties have: a default and an example as JSON text, which may be empty,
/// and other names.
pub const fn details(
    default: &'static str,
    example: &'static str,
    aliases: &'static [&'static str],
) -> PropertyDetails {
    PropertyDetails {
        default,
        example,
        aliases,
    }
}

/// Adds the name of a type. A newtype of a named type keeps the inner name, which recursive types
/// refer to.
pub const fn named(schema: Schema, name: &'static str) -> Schema {
    Schema {
        name: if schema.name.is_empty() {
            name
        } else {
            schema.name
        },
        ..schema
    }
}

/// Adds the form in which a type is serialized, if that is not the form in which it is decoded.
pub const fn with_results(schema: Schema, results: &'static Schema) -> Schema {
    Schema {
        results: Results::Other(results),
        ..schema
    }
}

/// The schema of a type that is serialized in an unknown form.
pub const UNKNOWN: Schema = Schema::UNKNOWN;

/// Provides the schema of a type that is only serialized, as an inherent constant. Falls back to the
/// constant of [`NoWritten`], because such a type need not be a [`ToolType`].
pub struct Written<T: ?Sized>(PhantomData<T>);

impl<T: ToolType + ?Sized> Written<T> {
    /// The schema of the type.
    pub const SCHEMA: &'static Schema = T::SCHEMA;
}

/// The fallback for types without a schema.
pub trait NoWritten {
    /// A schema that does not describe results.
    const SCHEMA: &'static Schema = &UNKNOWN;
}

impl<T: ?Sized> NoWritten for Written<T> {}

/// Returns the schema of a struct.
pub const fn structure(properties: &'static [Property], denies_unknown: bool) -> Schema {
    Schema {
        extra_forms: if denies_unknown {
            ExtraForms::Positional
        } else {
            ExtraForms::Lax
        },
        ..Schema::object(properties)
    }
}

/// Returns the schema of a variant of an untagged enum with named fields, which serde does not read from
/// an array.
pub const fn fields(properties: &'static [Property], denies_unknown: bool) -> Schema {
    Schema {
        extra_forms: if denies_unknown {
            ExtraForms::Strict
        } else {
            ExtraForms::Unknown
        },
        ..Schema::object(properties)
    }
}

/// Excludes the names of the other variants from the names that a `#[serde(other)]` variant accepts.
pub const fn except(schema: Schema, names: &'static [&'static str]) -> Schema {
    match schema.kind {
        Kind::Enum(strings) => Schema {
            kind: Kind::Enum(Strings {
                excluded: names,
                ..strings
            }),
            ..schema
        },
        _ => schema,
    }
}

/// Returns the schema of an enum of strings, with notes about its values.
pub const fn strings(
    values: &'static [Text],
    aliases: &'static [(&'static str, usize)],
    is_open: bool,
    notes: Text,
) -> Schema {
    Schema {
        notes,
        ..Schema::of(Kind::Enum(Strings {
            aliases,
            is_open,
            ..Strings::of(values)
        }))
    }
}

/// Returns the schema of the only value of a tag.
pub const fn constant(
    value: &'static [Text; 1],
    aliases: &'static [(&'static str, usize)],
    is_open: bool,
) -> Schema {
    Schema::of(Kind::Enum(Strings {
        aliases,
        is_open,
        is_tag: true,
        ..Strings::of(value)
    }))
}

/// Returns the property that contains the tag of a variant.
pub const fn tag(name: Text, value: &'static Schema) -> Property {
    // Decoding has read it before.
    Property::new(name, value).with(Flag::Exact)
}

/// Returns the property that contains the fields of a variant. It is required even if it may be `null`.
pub const fn content(name: Text, schema: &'static Schema, exact: bool) -> Property {
    let property = Property::new(name, &Schema::NULL).with_schema(schema);
    if exact {
        property.with(Flag::Exact)
    } else {
        property
    }
}

/// Returns the content of a variant whose only field is skipped: `null`, which serde reads but does not
/// write.
pub const fn null_content(name: Text) -> Property {
    Property::new(name, &Schema::NULL)
        .without(Flag::Required)
        .with(Flag::Nullable)
}

/// A type that a recursive type can refer to.
pub trait NamedType {
    /// The name in a schema.
    const NAME: &'static str;
}

/// Refers to a type in the schema of that type.
pub struct TypeReference<T>(PhantomData<T>);

impl<T: ToolType + NamedType> ToolType for TypeReference<T> {
    const SCHEMA: &'static Schema = &Schema::of(Kind::Reference(Reference {
        name: T::NAME,
        target: target::<T>,
    }));
    const EXACT: bool = T::EXACT;
    // The type that contains this reference decides, because bits are combined with `&`.
    const WRITES: u8 = WRITES_EXACTLY;
}

/// Returns the schema of a type. A function delays its evaluation.
fn target<T: ToolType>() -> &'static Schema {
    T::SCHEMA
}

/// Replaces a tool whose attribute has errors, so that uses of the handler are not further errors.
pub struct InvalidTool;

impl Tool for InvalidTool {
    const SOURCE: StaticSpec = StaticSpec {
        name: "invalid",
        ..StaticSpec::EMPTY
    };
    const LOCATION: Location = Location::EMPTY;
}
