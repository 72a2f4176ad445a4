//! Guides. These modules exist only in the documentation, not in the compiled crate.

#[doc = include_str!("guide/confinement.md")]
pub mod confinement {}
