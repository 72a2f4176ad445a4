//! The generated code: static data and one function a tool.
//!
//! Emitters can't fail. Each one is headed by what it makes of what.

mod data;
mod invoke;
mod json_schema;
mod member;
mod page;
mod schema;
mod tool;
mod toolset;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, DeriveInput};

use crate::attr::{Block, Function, Keys};
use crate::check;
use crate::model::data::Data;
use crate::model::tool::{Place, Tool};
use crate::model::toolset::Toolset;
use crate::util::errors::Errors;
use crate::util::names::is_one_of;
use crate::util::tokens::{option, text};

/// `#[tool(arguments)] item`
pub(crate) fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = match syn::parse2::<Function>(item.clone()) {
        Ok(function) => function,
        Err(error) => return not_a_function(&item, error),
    };
    let mut errors = Errors::default();
    let keys = Keys::of_arguments("#[tool]", arguments, &mut errors);
    let model = Tool::new(keys, &function, Place::Free, &mut errors);
    check::tool(&function, &model, &mut errors);
    if errors.is_empty() {
        let plain = function.plain(&page::page(&model));
        let tool = tool::tool(&model);
        quote!(#plain #tool)
    } else {
        let plain = function.plain(&TokenStream::new());
        let errors = errors.into_tokens();
        let stand_in = (!function.is_method()).then(|| tool::stand_in(&model));
        quote!(#plain #stand_in #errors)
    }
}

/// `#[toolset(arguments)] item`
pub(crate) fn toolset(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let block = match syn::parse2::<Block>(item.clone()) {
        Ok(block) => block,
        Err(error) => return not_a_block(&item, error),
    };
    let mut errors = Errors::default();
    let keys = Keys::of_arguments("#[toolset]", arguments, &mut errors);
    let model = Toolset::new(keys, &block, &mut errors);
    check::toolset(&block, &model, &mut errors);
    if errors.is_empty() {
        let plain = block.plain(model.tools.iter().map(page::page));
        let list = toolset::toolset(&model);
        quote!(#plain #list)
    } else {
        let plain = block.plain(std::iter::empty());
        let errors = errors.into_tokens();
        let stand_in = check::is_one_type(&block).then(|| toolset::stand_in(&model));
        quote!(#plain #stand_in #errors)
    }
}

fn not_a_block(item: &TokenStream, error: syn::Error) -> TokenStream {
    let mut errors = Errors::default();
    let is_kind = |tree: &TokenTree| is_one_of(tree, &ITEMS) || is_one_of(tree, &["fn"]);
    match item.clone().into_iter().find(is_kind) {
        // A block that only rustc understands.
        Some(kind) if is_one_of(&kind, &["impl"]) => errors.push(error),
        place => errors.at(
            place.map_or_else(|| item.clone(), ToTokens::into_token_stream),
            "`#[toolset]` can only be applied to an `impl` block; move it to the block whose \
             methods the model should call",
        ),
    }
    let errors = errors.into_tokens();
    quote!(#item #errors)
}

/// The keywords of what is no function.
const ITEMS: [&str; 12] = [
    "struct",
    "enum",
    "union",
    "mod",
    "impl",
    "trait",
    "const",
    "static",
    "use",
    "type",
    "extern",
    "macro_rules",
];

fn not_a_function(item: &TokenStream, error: syn::Error) -> TokenStream {
    let mut errors = Errors::default();
    let before_type =
        |tree: &TokenTree| !matches!(tree, TokenTree::Punct(mark) if ":=".contains(mark.as_char()));
    let mut head = item.clone().into_iter().take_while(before_type);
    if head.any(|tree| is_one_of(&tree, &["fn"])) {
        // A function that only rustc understands.
        errors.push(error);
    } else {
        let is_kind = |tree: &TokenTree| is_one_of(tree, &ITEMS);
        let place = item.clone().into_iter().find(is_kind);
        errors.at(
            place.map_or_else(|| item.clone(), ToTokens::into_token_stream),
            "`#[tool]` can only be applied to a function; move it to the function that the model \
             should call",
        );
    }
    let errors = errors.into_tokens();
    quote!(#item #errors)
}

/// `#[derive(ToolType)] item`
pub(crate) fn tool_type(item: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let model = Data::new(&input, &mut errors);
    check::data(&model, &mut errors);
    if errors.is_empty() {
        data::implementation(&model, &data::schema(&model), &data::exact(&model))
    } else {
        let stand_in =
            data::implementation(&model, &quote!(__tool_core::Schema::ANY), &quote!(false));
        let errors = errors.into_tokens();
        quote!(#stand_in #errors)
    }
}

// Input:  items
// Output: const _: () = { use ::tool_core::__private as __tool_core; items };
//
// Behind one import, a path that leads nowhere is one error and not one for each of its uses.
// Being a name like any other, the import can also be named at any span.
fn block(krate: &syn::Path, cfgs: &[Attribute], items: &TokenStream) -> TokenStream {
    let import = quote_spanned!(krate.span()=> use #krate::__private as __tool_core;);
    quote! {
        #(#cfgs)*
        // `deprecated`: the tool goes on working when its function should no longer be called.
        // `unused_qualifications`: what stands at the user's tokens looks written by the user.
        // The other two are matters of taste for code that nobody reads.
        #[allow(deprecated, unused_qualifications, clippy::all, clippy::pedantic)]
        const _: () = {
            #import
            #items
        };
    }
}

/// `tokens` with these attributes.
fn under(cfgs: &[Attribute], tokens: TokenStream) -> TokenStream {
    match cfgs {
        [] => tokens,
        _ => quote!(#(#cfgs)* #tokens),
    }
}
