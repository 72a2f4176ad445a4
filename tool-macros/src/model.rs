//! The meaning of a tool or a type: parsed values with their spans, and no attributes.

pub(crate) mod constraints;
pub(crate) mod data;
mod doc_sections;
pub(crate) mod json_schema;
pub(crate) mod tool;
pub(crate) mod types;

use crate::attr::Keys;
use crate::util::docs::{Line, flow};
use crate::util::errors::Errors;

/// Returns the description from the key or the doc comment. Both together are an error.
pub(crate) fn description(
    key: Option<syn::LitStr>,
    docs: &[Line],
    errors: &mut Errors,
) -> Option<String> {
    let text = flow(docs);
    match key {
        None => (!text.is_empty()).then_some(text),
        Some(key) => {
            if !text.is_empty() {
                errors.at(
                    &key,
                    "duplicate description, here and in the doc comment; remove one of the two",
                );
            }
            let described = key.value().trim().to_owned();
            if described.is_empty() {
                errors.at(&key, "empty description; write a sentence");
            }
            (!described.is_empty()).then_some(described)
        }
    }
}

/// Returns the path of `tool_core`.
pub(crate) fn krate(keys: &mut Keys, errors: &mut Errors) -> syn::Path {
    let path = keys.path("crate", errors);
    path.unwrap_or_else(|| syn::parse_quote!(::tool_core))
}
