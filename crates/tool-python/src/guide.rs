//! Guides. These modules exist only in the documentation, not in the compiled crate.

#[cfg(feature = "code-mode")]
#[doc = include_str!("guide/code_mode.md")]
pub mod code_mode {}

#[cfg(feature = "extend")]
#[doc = include_str!("guide/workshop.md")]
pub mod workshop {}

#[doc = include_str!("guide/sandbox.md")]
pub mod sandbox {}
