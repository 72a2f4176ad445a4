//! The generated code: static data and one function a tool.
//!
//! Emitters can't fail. Each one is headed by what it makes of what.

mod data;
mod invoke;
mod schema;
mod tool;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::DeriveInput;

use crate::attr::{Function, Keys};
use crate::check;
use crate::model::data::Data;
use crate::model::tool::Tool;
use crate::util::errors::Errors;
use crate::util::json;

/// `#[tool(arguments)] item`
pub(crate) fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let Ok(function) = syn::parse2::<Function>(item.clone()) else {
        return not_a_function(item);
    };
    let mut errors = Errors::default();
    let keys = Keys::of_arguments("#[tool]", arguments, &mut errors);
    let model = Tool::new(keys, &function, &mut errors);
    check::tool(&function, &model, &mut errors);
    let plain = function.plain();
    if errors.is_empty() {
        let tool = tool::tool(&model);
        quote!(#plain #tool)
    } else {
        let errors = errors.into_tokens();
        let stand_in = tool::stand_in(&model);
        quote!(#plain #stand_in #errors)
    }
}

fn not_a_function(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let is_keyword = |tree: &proc_macro2::TokenTree| {
        let text = tree.to_string();
        [
            "struct", "enum", "mod", "impl", "trait", "const", "static", "use", "type",
        ]
        .contains(&&*text)
    };
    let place = item.clone().into_iter().find(is_keyword);
    errors.at(
        place.map_or_else(|| item.clone(), ToTokens::into_token_stream),
        "`#[tool]` goes on a function; put it on the function that a model is to call",
    );
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
        data::implementation(&model, &data::schema(&model))
    } else {
        let krate = &model.krate;
        let stand_in = data::implementation(&model, &quote!(#krate::schema::Schema::ANY));
        let errors = errors.into_tokens();
        quote!(#stand_in #errors)
    }
}

/// `"text"` as a `Text`, with its JSON form beside it.
fn text(krate: &syn::Path, text: &str) -> TokenStream {
    let escaped = json::escape(text);
    quote!(#krate::__private::text(#text, #escaped))
}

/// `Some(…)` or `None`, whatever these names mean where the code ends up.
fn option<T: ToTokens>(value: Option<T>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
