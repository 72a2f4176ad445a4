//! The schema of `Either`, which serde writes as an object with one key.

use either::Either;

use crate::schema::{Property, Schema, Text};
use crate::types::ToolType;

impl<L: ToolType, R: ToolType> ToolType for Either<L, R> {
    const SCHEMA: &'static Schema = &Schema::any_of(
        const {
            &[
                &Schema::object(const { &[side("Left", L::SCHEMA)] }),
                &Schema::object(const { &[side("Right", R::SCHEMA)] }),
            ]
        },
    );
}

/// What a side holds, never left out, though it may be `null`.
const fn side(name: &'static str, schema: &'static Schema) -> Property {
    Property {
        schema,
        required: true,
        nullable: false,
        ..Property::new(Text::new(name), Text::EMPTY, schema)
    }
}
