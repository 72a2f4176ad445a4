//! The generated code: static data and one function per tool.
//!
//! Emitters can't fail. Each starts with an example of its input and output.

mod bounds;
mod data;
mod decode;
mod description;
pub(crate) mod editor;
mod invoke;
mod page;
mod property;
mod tool;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Attribute;

use crate::model::Krate;
use crate::util::site::{Code, Trees, site, trees, trees_at};

pub(crate) use self::data::{data, fallback as data_fallback};
pub(crate) use self::page::page;
pub(crate) use self::tool::{fallback as tool_fallback, tool, toolset, toolset_fallback};

// Input:  items
// Output: const _: () = { use ::tool_core::__private as __tool_core; items };
//
// Because of the import, a wrong path to the crate is one error and not one per use. The name of the
// import can have any span.
fn block(krate: &Krate, cfgs: &[Attribute], items: impl Code) -> Trees {
    let Krate { path, span } = krate;
    let import = trees_at!(*span=> use #path::__private as __tool_core;);
    // `deprecated`: a deprecated function can still be a tool.
    // `unreachable_code`: a parameter can have a type without values.
    // To lints, the code looks written by the user.
    let lints = trees_at! {Span::call_site()=>
        #[allow(deprecated, unreachable_code, unused_qualifications, clippy::all, clippy::pedantic, clippy::arbitrary_source_item_ordering)]
    };
    let block = trees! {
        #lints
        const _: () = {
            #import
            #items
        };
    };
    with_cfgs(cfgs, block)
}

/// Puts commas between parts.
fn commas(parts: impl Iterator<Item = Trees>) -> Trees {
    let mut list = Trees::default();
    for (at, part) in parts.enumerate() {
        if at > 0 {
            list.token(site(), ",");
        }
        list.put(part);
    }
    list
}

/// Puts attributes before tokens.
fn with_cfgs<T: ToTokens + From<TokenStream>>(cfgs: &[Attribute], tokens: T) -> T {
    match cfgs {
        [] => tokens,
        _ => quote!(#(#cfgs)* #tokens).into(),
    }
}
