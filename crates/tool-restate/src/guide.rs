//! Guides. These modules exist only in the documentation, not in the compiled crate.

#[doc = include_str!("guide/operation.md")]
pub mod operation {}

#[doc = include_str!("guide/background.md")]
pub mod background {}

#[doc = include_str!("guide/choice.md")]
pub mod choice {}
