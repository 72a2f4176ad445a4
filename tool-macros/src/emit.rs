//! The generated code: static data and one function per tool.
//!
//! Emitters can't fail. Each starts with an example of its input and output.

mod data;
mod description;
mod invoke;
mod page;
mod property;
mod tool;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Attribute;
use syn::spanned::Spanned;

use crate::util::site::code;

pub(crate) use self::data::{data, fallback as data_fallback};
pub(crate) use self::page::page;
pub(crate) use self::tool::{fallback as tool_fallback, tool, toolset, toolset_fallback};

// Input:  items
// Output: const _: () = { use ::tool_core::__private as __tool_core; items };
//
// Because of the import, a wrong path to the crate is one error and not one per use. The name of the
// import can have any span.
fn block(krate: &syn::Path, cfgs: &[Attribute], items: &TokenStream) -> TokenStream {
    let import = quote_spanned!(krate.span()=> use #krate::__private as __tool_core;);
    // `deprecated`: a deprecated function can still be a tool.
    // `unreachable_code`: a parameter can have a type without values.
    // To lints, the code looks written by the user.
    let lints = quote! {
        #[allow(deprecated, unreachable_code, unused_qualifications, clippy::all, clippy::pedantic, clippy::arbitrary_source_item_ordering)]
    };
    code! {
        #(#cfgs)*
        #lints
        const _: () = {
            #import
            #items
        };
    }
}

/// Puts attributes before tokens.
fn with_cfgs(cfgs: &[Attribute], tokens: TokenStream) -> TokenStream {
    match cfgs {
        [] => tokens,
        _ => quote!(#(#cfgs)* #tokens),
    }
}
