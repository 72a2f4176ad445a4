//! Helpers of all stages.

pub(crate) mod docs;
pub(crate) mod editor;
pub(crate) mod errors;
pub(crate) mod grammar;
pub(crate) mod json;
pub(crate) mod literal;
pub(crate) mod markdown;
pub(crate) mod names;
pub(crate) mod pattern;
pub(crate) mod site;
pub(crate) mod tokens;
