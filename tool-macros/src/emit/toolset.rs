//! The list of a toolset's tools.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{block, tool, under};
use crate::model::toolset::Toolset;

// Input:  impl Home { #[tool] fn set(&self, …) { … } }
// Output: const _: () = {
//             const __TOOL_0: &StaticTool = { the handler and its entry };
//             impl Toolset for Home { const TOOLS: &'static [&'static StaticTool] = &[__TOOL_0]; }
//         };
pub(super) fn toolset(set: &Toolset) -> TokenStream {
    let name = |at: usize| format_ident!("__TOOL_{at}");
    let constants = set.tools.iter().enumerate().map(|(at, one)| {
        let (name, entry) = (name(at), tool::method(one));
        under(
            &one.cfgs,
            quote!(const #name: &__tool_core::StaticTool = #entry;),
        )
    });
    let names = set.tools.iter().enumerate().map(|(at, one)| {
        let name = name(at);
        under(&one.cfgs, quote!(#name))
    });
    let list = list(set, &quote!(&[#(#names),*]));
    let items = quote! {
        #[allow(unused_imports)]
        use __tool_core::autoref_fallbacks::*;

        #(#constants)*
        #list
    };
    block(&set.krate, &set.cfgs, &items)
}

/// The list of a toolset with mistakes, so that nothing else of the crate fails on its absence.
pub(super) fn stand_in(set: &Toolset) -> TokenStream {
    block(&set.krate, &set.cfgs, &list(set, &quote!(&[])))
}

fn list(set: &Toolset, tools: &TokenStream) -> TokenStream {
    let ty = &set.ty;
    quote! {
        #[automatically_derived]
        impl __tool_core::Toolset for #ty {
            const TOOLS: &'static [&'static __tool_core::StaticTool] = #tools;
        }
    }
}
