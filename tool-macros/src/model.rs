//! The meaning of a tool or a type: parsed values with their spans, and no attributes.

pub(crate) mod clients;
pub(crate) mod constraint;
pub(crate) mod constraints;
pub(crate) mod data;
pub(crate) mod decoding;
pub(crate) mod description;
mod doc_sections;
pub(crate) mod freeform;
pub(crate) mod json_schema;
pub(crate) mod parameter;
pub(crate) mod tool;
pub(crate) mod types;

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;

use crate::attr::Keys;
use crate::util::errors::Errors;
use crate::util::site::{Trees, site, trees};

/// The path of `tool_core`.
#[derive(Clone)]
pub(crate) struct Krate {
    pub(crate) path: Trees,
    pub(crate) span: Span,
}

/// Returns the path of `tool_core`.
pub(crate) fn krate(keys: &mut Keys, errors: &mut Errors) -> Krate {
    match keys.path("crate", errors) {
        Some(path) => Krate {
            span: path.span(),
            path: path.into_token_stream().into(),
        },
        None => Krate {
            span: site(),
            path: trees!(::tool_core),
        },
    }
}
