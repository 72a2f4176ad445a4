//! [`ToolType`]: the types that a signature may hold, and their schemas.

mod std;

use crate::schema::Schema;

/// A type that can stand in the signature of a tool.
///
/// Derive it beside serde's traits; serde's attributes are read as serde reads them, so that the
/// schema says what decoding accepts:
///
/// ```
/// use serde::Deserialize;
/// use tool_core::ToolType;
///
/// /// A place on Earth.
/// #[derive(Deserialize, ToolType)]
/// struct Place {
///     /// Degrees north.
///     latitude: f64,
///     /// Degrees east.
///     longitude: f64,
/// }
///
/// assert!(Place::SCHEMA.to_json().starts_with(r#"{"type":"object","properties":{"latitude":"#));
/// ```
///
/// A type of another crate can be wrapped in a newtype that implements the trait by hand. Its
/// schema must then describe what its `Deserialize` accepts:
///
/// ```
/// use tool_core::{ToolType, schema::{Schema, Text}};
///
/// #[derive(serde::Deserialize)]
/// struct Port(u16);
///
/// impl ToolType for Port {
///     const SCHEMA: &'static Schema = &u16::SCHEMA.describe(Text::new("A TCP port."));
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't stand in the signature of a tool",
    label = "has no schema",
    note = "for a struct or an enum of yours, add `#[derive(serde::Deserialize, tool_core::ToolType)]`",
    note = "for a type of another crate, wrap it in such a struct, or take `serde_json::Value`"
)]
pub trait ToolType {
    /// What a value of this type looks like in JSON.
    const SCHEMA: &'static Schema;

    /// Whether `Deserialize` alone refuses everything that the schema does not describe, at every
    /// depth, so that the arguments need no second look. `false` is always right.
    #[doc(hidden)]
    const EXACT: bool = false;
}
