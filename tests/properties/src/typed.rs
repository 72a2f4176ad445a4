//! Types that describe themselves with `schemars`, as parameters of a tool.

use std::marker::PhantomData;

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tool_core::dynamic::DynamicTool;

use crate::subject::ran;
use crate::table::whole;

/// The parameters of a tool of the table.
#[derive(Deserialize, JsonSchema)]
struct Parameters<T> {
    value: T,
}

/// What `schemars` and serde know of a type, in the place of a parameter.
#[derive(Clone, Copy)]
pub struct SchemarsType {
    /// Makes a tool with this name.
    pub tool: fn(&str) -> DynamicTool,
    /// Returns the schema as `schemars` writes it.
    pub schema: fn() -> Value,
    /// Returns `true` if serde reads these arguments.
    pub reads: fn(&Value) -> bool,
}

/// Provides a type with `JsonSchema`, and otherwise that of [`Untyped`].
pub struct Typed<T>(PhantomData<T>);

impl<T: JsonSchema + DeserializeOwned + 'static> Typed<T> {
    /// The type.
    pub const TYPE: Option<SchemarsType> = Some(SchemarsType {
        tool: tool::<T>,
        schema: || schema_for!(Parameters<T>).into(),
        reads: |arguments| Parameters::<T>::deserialize(whole(arguments)).is_ok(),
    });
}

/// The fallback for types without `JsonSchema`.
pub trait Untyped {
    /// `None`.
    const TYPE: Option<SchemarsType> = None;
}

impl<T> Untyped for Typed<T> {}

fn tool<T: JsonSchema + DeserializeOwned + 'static>(name: &str) -> DynamicTool {
    let tool = DynamicTool::typed(name, "Takes a value.", |parameters: Parameters<T>, _| {
        ran(parameters.value);
        std::future::ready(Ok::<_, String>(()))
    });
    tool.unwrap_or_else(|error| panic!("{error}"))
}
