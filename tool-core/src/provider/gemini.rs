//! gemini

pub(crate) mod dialect;
pub(crate) mod rules;
