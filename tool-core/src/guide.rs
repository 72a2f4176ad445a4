//! Guides: one page a subject, each with a program that runs.

#[doc = include_str!("guide/types.md")]
pub mod types {}

#[doc = include_str!("guide/results.md")]
pub mod results {}

#[doc = include_str!("guide/errors.md")]
pub mod errors {}

#[doc = include_str!("guide/context.md")]
pub mod context {}

#[doc = include_str!("guide/hooks.md")]
pub mod hooks {}

#[doc = include_str!("guide/registries.md")]
pub mod registries {}

#[doc = include_str!("guide/providers.md")]
pub mod providers {}

#[doc = include_str!("guide/streaming.md")]
pub mod streaming {}

#[doc = include_str!("guide/testing.md")]
pub mod testing {}

#[doc = include_str!("guide/telemetry.md")]
pub mod telemetry {}

#[doc = include_str!("guide/traps.md")]
pub mod traps {}

#[doc = include_str!("guide/wasm.md")]
pub mod wasm {}

#[doc = include_str!("guide/editor.md")]
#[doc = include_str!("guide/editor.svg")]
pub mod editor {}
