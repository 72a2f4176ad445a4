//! What generated code refers to. Not part of the public interface: it changes with the macros.

pub use linkme;

pub use crate::args::{Input, Refusal, Slot};
pub use crate::lend::Lend;
pub use crate::output::{Displayed, Failure, NoOutput, Outcome, Output, Plain, Returned};
pub use crate::registry::LINKED;
pub use crate::schema::check::Literal;
pub use crate::schema::json::{Direction, JsonText, json_length};
pub use crate::schema::{check, constrain};
pub use crate::spec::StaticSpec;
pub use crate::tool::{Invoke, Running, StaticTool};
pub use crate::types::{Exactness, NotExact};

use std::marker::PhantomData;

use crate::schema::{Kind, Property, Reading, Reference, Schema, Strings, Text};
use crate::types::ToolType;

/// What is decoded for a borrowed parameter.
pub type Held<'de, T> = <T as Lend>::Held<'de>;

/// The future of an async tool's call.
pub fn boxed<'a>(future: impl Future<Output = Outcome> + Send + 'a) -> Running<'a> {
    Box::pin(future)
}

/// Text whose JSON form the macro has written.
pub const fn text(plain: &'static str, json: &'static str) -> Text {
    Text::escaped(plain, json)
}

/// A parameter or a field of type `T`.
pub const fn property<T: ToolType + ?Sized>(name: Text, description: Text) -> Property {
    let mut property = Property::new(name, description, T::SCHEMA);
    property.exact = T::EXACT;
    property
}

/// An `Option<&T>` parameter.
pub const fn optional_property<T: ToolType + ?Sized>(name: Text, description: Text) -> Property {
    let mut property = property::<T>(name, description).optional();
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

/// The entry of a tool whose attribute was in error: it lets the rest of the crate compile, so
/// that no second error follows the first. The build has failed already.
pub const BROKEN: &StaticTool = &StaticTool {
    spec: BROKEN_SPEC.build(),
    invoke: Invoke::Sync(|_| Err(Refusal::Malformed(String::new()))),
};

/// The spec of such a tool.
pub const BROKEN_SPEC: StaticSpec = StaticSpec {
    name: "broken",
    title: None,
    description: "",
    when_to_use: None,
    returns: None,
    annotations: [None; 4],
    file: "",
    line: 0,
    module: "",
    parameters: &Schema::object(&[]),
    parameters_json: "{}",
    output: None,
    output_json: "",
};
