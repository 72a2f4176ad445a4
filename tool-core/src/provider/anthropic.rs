//! anthropic

pub(crate) mod dialect;
pub(crate) mod rules;
