//! Guides. They are documentation alone: the modules are not in the compiled crate.

#[doc = include_str!("guide/confinement.md")]
pub mod confinement {}
