//! Guides. They are documentation alone: the modules are not in the compiled crate.

#[cfg(feature = "server-http")]
#[doc = include_str!("guide/serving.md")]
pub mod serving {}

#[cfg(feature = "server-http")]
#[doc = include_str!("guide/deployment.md")]
pub mod deployment {}

#[cfg(feature = "client-http")]
#[doc = include_str!("guide/importing.md")]
pub mod importing {}

#[cfg(feature = "submodel")]
#[doc = include_str!("guide/helper_models.md")]
pub mod helper_models {}

#[doc = include_str!("guide/measured.md")]
pub mod measured {}
