//! Which fields have the schema of their type, and the bounds that they need.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse_quote_spanned;

use crate::model::data::{Data, Field};
use crate::util::site::site;
use crate::util::tokens::add_predicate;

/// Returns `true` if a field is written as its type is.
pub(super) fn is_written_so(field: &Field) -> bool {
    field.constraints.schema_override.is_none() && field.constraints.narrowings.is_empty()
}

/// Returns `true` if the schema of a field is its type's.
pub(super) fn has_schema_of_type(field: &Field) -> bool {
    is_written_so(field) && !field.constraints.is_recursive
}

/// Adds a bound for each field whose type depends on a type parameter.
pub(super) fn add_bounds(data: &Data, generics: &mut syn::Generics) {
    let names: Vec<_> = data.generics.type_params().map(|one| &one.ident).collect();
    if names.is_empty() {
        return;
    }
    for field in data.fields() {
        let ty = &field.ty;
        let bound = |ty: &dyn ToTokens| parse_quote_spanned!(site()=> #ty: __tool_core::ToolType);
        if has_schema_of_type(field) && mentions(ty.to_token_stream(), &names) {
            add_predicate(generics, bound(ty));
        } else if field.constraints.is_recursive {
            // A bound on the field's type would be circular.
            for name in &names {
                add_predicate(generics, bound(name));
            }
        }
    }
}

pub(super) fn mentions(tokens: TokenStream, names: &[&Ident]) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => names.contains(&&ident),
        TokenTree::Group(group) => mentions(group.stream(), names),
        _ => false,
    })
}
