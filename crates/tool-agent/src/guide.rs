//! Guides. These modules exist only in the documentation, not in the compiled crate.

#[doc = include_str!("guide/approvals.md")]
pub mod approvals {}

#[doc = include_str!("guide/background.md")]
pub mod background {}

#[cfg(feature = "conversations")]
#[doc = include_str!("guide/chat.md")]
pub mod chat {}

#[cfg(feature = "conversations")]
#[doc = include_str!("guide/deploying.md")]
pub mod deploying {}

#[doc = include_str!("guide/journals.md")]
pub mod journals {}

#[doc = include_str!("guide/moving.md")]
pub mod moving {}

#[cfg(all(feature = "http", not(target_family = "wasm")))]
#[doc = include_str!("guide/servers.md")]
pub mod servers {}

#[doc = include_str!("guide/telemetry.md")]
pub mod telemetry {}
