//! What generated code refers to. Not part of the public interface: it changes with the macros.

pub use core::{option::Option, option::Option::*, result::Result::*};

pub use linkme;

pub use core::time::Duration;

pub use crate::args::{ArgumentError, Input, Slot};
pub use crate::call::context::Need;
pub use crate::output::{Failure, Outcome, Output, Returned};
pub use crate::provider::check::ToolCheck;
pub use crate::registry::LINKED;
pub use crate::schema::check::Literal;
pub use crate::schema::decode_check::{DecodeCheck, NoDecodeCheck, with_decode_check};
pub use crate::schema::{Property, Schema, Text, check, constrain};
pub use crate::spec::StaticSpec;
pub use crate::tool::json_texts::assert_schema;
pub use crate::tool::toolset::Toolset;
pub use crate::tool::{AsyncStart, Invoke, StaticTool, SyncResult, Tool};
pub use crate::types::borrow::Lend;
pub use crate::types::{Exactness, MapKey, NotExact, ToolType};

/// Traits of the second choice, where a type lacks the first. They come without names, so that
/// these mean what they mean to the user.
pub mod autoref_fallbacks {
    pub use crate::output::{Confined as _, Displayed as _, NoOutput as _, Plain as _};
}

use std::marker::PhantomData;

use crate::provider::check::{self as provider_check, TypeCheck};
use crate::schema::json::resolve;
use crate::schema::{Kind, Reading, Reference, Strings};
use crate::spec::Location;
use crate::tool::Running;

/// What is decoded for a borrowed parameter.
pub type Held<'de, T> = <T as Lend>::Held<'de>;

/// The entry of a tool, after a look at the whole of it: its static calls this, so that an error
/// shows the attribute.
pub const fn entry<T: Tool>() -> &'static StaticTool {
    resolve(T::SOURCE.parameters, T::SOURCE.output);
    provider_check::tool(T::SOURCE.name, T::SOURCE.parameters);
    T::ENTRY
}

/// The future of an async tool's call.
pub fn boxed<'a>(future: impl Future<Output = Outcome> + Send + 'a) -> Running<'a> {
    Box::pin(future)
}

/// Where the attribute stands that this is written for.
#[track_caller]
pub const fn here(module: &'static str) -> Location {
    let place = core::panic::Location::caller();
    Location {
        file: place.file(),
        line: place.line(),
        module,
    }
}

/// Text whose JSON form the macro has written, where it differs.
pub const fn text(plain: &'static str, escaped: &'static str) -> Text {
    Text::escaped(plain, escaped)
}

// These run in the compiler for every parameter there is, and a call there costs some
// microseconds. Hence no helpers among them.

/// A parameter or a field of type `T`, whose name and description are the same in JSON.
pub const fn property<T: ToolType + ?Sized>(
    name: &'static str,
    description: &'static str,
) -> Property {
    let name = Text {
        plain: name,
        escaped: "",
    };
    let description = Text {
        plain: description,
        escaped: "",
    };
    Property {
        exact: T::EXACT,
        ..Property::new(name, description, T::SCHEMA)
    }
}

/// A parameter or a field of type `T`.
pub const fn property_of<T: ToolType + ?Sized>(name: Text, description: Text) -> Property {
    Property {
        exact: T::EXACT,
        ..Property::new(name, description, T::SCHEMA)
    }
}

/// A parameter of a tool, of type `T`, whose name and description are the same in JSON.
pub const fn parameter<T: ToolType + ?Sized>(
    check: &mut ToolCheck,
    name: &'static str,
    description: &'static str,
) -> Property {
    let property = property::<T>(name, description);
    if TypeCheck::<T>::IS_FINE {
        return property;
    }
    TypeCheck::<T>::parameter(check, property)
}

/// A parameter of a tool, of type `T`, which the providers of the build are to take.
pub const fn judged<T: ToolType + ?Sized>(check: &mut ToolCheck, property: Property) -> Property {
    TypeCheck::<T>::parameter(check, property)
}

/// The same of a parameter whose schema is written by hand.
pub const fn judged_alone(check: &mut ToolCheck, property: Property) -> Property {
    provider_check::parameter(check, property)
}

/// The member of an `Option<&T>` parameter, made from that of a `T`.
pub const fn optional(property: Property) -> Property {
    let mut property = property.optional();
    property.nullable = true;
    property
}

/// A member with a default that its schema advertises, as JSON text.
pub const fn default(mut property: Property, json: &'static str) -> Property {
    property.default = json;
    property.required = false;
    property
}

/// The schema of a type of this name. A newtype of a named type goes by the name of that: it is
/// what a recursive type refers to.
pub const fn named(schema: Schema, name: &'static str, is_input_only: bool) -> Schema {
    Schema {
        name: match schema.name.is_empty() {
            true => name,
            false => schema.name,
        },
        is_input_only: schema.is_input_only || is_input_only,
        ..schema
    }
}

/// An object that serde reads as a struct.
pub const fn structure(properties: &'static [Property], denies_unknown: bool) -> Schema {
    Schema {
        reading: if denies_unknown {
            Reading::Positional
        } else {
            Reading::Lax
        },
        ..Schema::object(properties)
    }
}

/// An enum whose variants are strings, with what they mean.
pub const fn strings(
    values: &'static [Text],
    aliases: &'static [&'static str],
    is_open: bool,
    notes: Text,
) -> Schema {
    Schema {
        notes,
        ..Schema::of(Kind::Enum(Strings {
            values,
            aliases,
            is_open,
            is_tag: false,
        }))
    }
}

/// The one value of a tag.
pub const fn constant(
    value: &'static [Text; 1],
    aliases: &'static [&'static str],
    is_open: bool,
) -> Schema {
    Schema::of(Kind::Enum(Strings {
        values: value,
        aliases,
        is_open,
        is_tag: true,
    }))
}

/// The member that tells a variant of an enum from the others.
pub const fn tag(name: Text, value: &'static Schema) -> Property {
    Property::new(name, Text::EMPTY, value)
}

/// The member that holds what a variant holds. It is never left out, though it may be `null`.
pub const fn held(
    name: Text,
    schema: &'static Schema,
    aliases: &'static [&'static str],
) -> Property {
    Property {
        schema,
        required: true,
        nullable: false,
        aliases,
        ..Property::new(name, Text::EMPTY, schema)
    }
}

/// A type that a recursive type may refer to.
pub trait Recurse {
    /// Its name in a schema.
    const NAME: &'static str;
}

/// Stands for a type in its own schema, and for nothing else.
pub struct Recursive<T>(PhantomData<T>);

impl<T: ToolType + Recurse> ToolType for Recursive<T> {
    const SCHEMA: &'static Schema = &Schema::of(Kind::Reference(Reference {
        name: T::NAME,
        target: target::<T>,
    }));
}

/// The schema of a type, not needed before it is asked for.
fn target<T: ToolType>() -> &'static Schema {
    T::SCHEMA
}

/// What stands for a tool whose attribute was in error: it lets the rest of the crate compile, so
/// that no second error follows the first. The build has failed already.
pub struct Broken;

impl Tool for Broken {
    const SOURCE: StaticSpec = StaticSpec {
        name: "broken",
        ..StaticSpec::EMPTY
    };
    const INVOKE: Invoke = Invoke::Sync(|_| Err(ArgumentError::Malformed(String::new())));
}
