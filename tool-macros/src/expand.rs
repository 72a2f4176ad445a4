//! The expansion of each macro: parse, model, check, emit.
//!
//! An input with errors expands to the errors, to the item itself and to a fallback for the generated code,
//! so that no other error follows.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::DeriveInput;
use syn::spanned::Spanned;

use crate::attr::{Block, Function, Keys};
use crate::model::data::Data;
use crate::model::tool::{Scope, Tool, Toolset};
use crate::util::errors::Errors;
use crate::util::names::is_one_of;
use crate::util::site::{set_site, trees};
use crate::{check, emit};

/// `#[tool(arguments)] item`
pub(crate) fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = match Function::new(item.clone()) {
        Ok(function) => function,
        Err(error) => return not_a_function(&item, error),
    };
    set_site(function.ident.span());
    let mut errors = Errors::default();
    let keys = Keys::of_arguments("#[tool]", arguments, &mut errors);
    let model = Tool::new(keys, &function, Scope::Module, &mut errors);
    check::tool(&function, &model, &mut errors);
    if errors.is_empty() {
        let function = function.into_plain(emit::page(&model));
        let tool = emit::tool(&model);
        trees!(#function #tool).into()
    } else {
        let is_free = !function.is_method() && function.has_body();
        let fallback = is_free.then(|| emit::tool_fallback(&model));
        let function = function.into_plain(TokenStream::new());
        let errors = errors.into_tokens();
        quote!(#function #fallback #errors)
    }
}

/// `#[toolset(arguments)] item`
pub(crate) fn toolset(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let block = match syn::parse2::<Block>(item.clone()) {
        Ok(block) => block,
        Err(error) => return not_a_block(&item, error),
    };
    set_site(block.ty.span());
    let mut errors = Errors::default();
    let keys = Keys::of_arguments("#[toolset]", arguments, &mut errors);
    let model = Toolset::new(keys, &block, &mut errors);
    check::toolset(&block, &model, &mut errors);
    if errors.is_empty() {
        let block = block.plain(model.tools.iter().map(emit::page));
        let toolset = emit::toolset(&model);
        quote!(#block #toolset)
    } else {
        let has_fallback = check::is_owned_type(&block) && model.is_numbered;
        let fallback = has_fallback.then(|| emit::toolset_fallback(&model));
        let block = block.plain(std::iter::empty());
        let errors = errors.into_tokens();
        quote!(#block #fallback #errors)
    }
}

/// `#[derive(ToolType)] item`
pub(crate) fn tool_type(item: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    set_site(input.ident.span());
    let mut errors = Errors::default();
    let model = Data::new(&input, &mut errors);
    check::data(&model, &mut errors);
    if errors.is_empty() {
        emit::data(&model)
    } else {
        let fallback = emit::data_fallback(&model);
        let errors = errors.into_tokens();
        quote!(#fallback #errors)
    }
}

// Input:  add, "subtract"
// Output: [compile_error!("…")]
//
/// The array of a `tools!` whose list is not one of names.
pub(crate) fn not_tools(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    for tree in input.clone() {
        // A fragment of `macro_rules!` may be in a group.
        let inside = TokenStream::from(tree.clone()).into_iter().next();
        if let Some(TokenTree::Literal(literal)) = inside {
            let name = literal.to_string();
            let message = format!(
                "{name} is not the name of a function; write `{}` without quotes",
                name.trim_matches('"'),
            );
            errors.at(tree, message);
        }
    }
    if errors.is_empty() {
        let message = "expected the names of functions with `#[tool]`, separated by commas; write \
                       `tools![add, subtract]`";
        errors.at(input, message);
    }
    let errors = errors.into_expressions();
    quote!([#(#errors),*])
}

fn not_a_function(item: &TokenStream, error: syn::Error) -> TokenStream {
    // A `fn` after these can be a type.
    let is_head =
        |tree: &TokenTree| !matches!(tree, TokenTree::Punct(mark) if ":=".contains(mark.as_char()));
    let mut head = item.clone().into_iter().take_while(is_head);
    let is_function = head.any(|tree| is_one_of(&tree, &["fn"]));
    let message = "`#[tool]` can only be applied to a function; move it to the function that the \
                   model should call";
    not_parsed(item, error, is_function, message)
}

fn not_a_block(item: &TokenStream, error: syn::Error) -> TokenStream {
    let is_block = keyword(item).is_some_and(|keyword| is_one_of(&keyword, &["impl"]));
    let message = "`#[toolset]` can only be applied to an `impl` block; move it to the block whose \
                   methods the model should call";
    not_parsed(item, error, is_block, message)
}

/// Reports an item that can't be parsed: with the parser's error if it is of the right kind, otherwise with
/// this message.
fn not_parsed(
    item: &TokenStream,
    error: syn::Error,
    is_right_kind: bool,
    message: &str,
) -> TokenStream {
    let mut errors = Errors::default();
    if is_right_kind {
        errors.push(error);
    } else {
        let keyword = keyword(item).map(TokenStream::from);
        errors.at(keyword.unwrap_or_else(|| item.clone()), message);
    }
    let errors = errors.into_tokens();
    quote!(#item #errors)
}

/// The keyword of an item.
fn keyword(item: &TokenStream) -> Option<TokenTree> {
    let keywords = "fn struct enum union mod impl trait const static use type extern macro_rules";
    let is_keyword = |tree: &TokenTree| keywords.split(' ').any(|one| is_one_of(tree, &[one]));
    item.clone().into_iter().find(is_keyword)
}
