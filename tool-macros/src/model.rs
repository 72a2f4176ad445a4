//! The meaning of a tool or a type: parsed values with their spans, and no attributes.

pub(crate) mod constraints;
pub(crate) mod data;
pub(crate) mod description;
mod doc_sections;
pub(crate) mod freeform;
pub(crate) mod json_schema;
pub(crate) mod tool;
pub(crate) mod types;

use crate::attr::Keys;
use crate::util::errors::Errors;
use crate::util::site::site;

/// Returns the path of `tool_core`.
pub(crate) fn krate(keys: &mut Keys, errors: &mut Errors) -> syn::Path {
    let path = keys.path("crate", errors);
    path.unwrap_or_else(|| syn::parse_quote_spanned!(site()=> ::tool_core))
}
