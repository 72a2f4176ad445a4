//! What keeps an `impl` block from being a toolset.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::GenericParam;

use super::tool;
use crate::attr::{Block, Member};
use crate::model::tool::Tool;
use crate::model::tool::Toolset;
use crate::util::errors::Errors;
use crate::util::names::is_one_of;

/// Every rule over an `impl` block, and over the tools in it.
pub(crate) fn toolset(block: &Block, set: &Toolset, errors: &mut Errors) {
    one_type(block, errors);
    let members = block.members.iter();
    let mut methods = members.clone().filter_map(|member| match member {
        Member::Tool(method) => Some(&method.function),
        _ => None,
    });
    for (function, one) in methods.by_ref().zip(&set.tools) {
        tool(function, one, errors);
    }
    if members
        .clone()
        .all(|member| matches!(member, Member::Other(_)))
    {
        errors.at(
            &block.ty,
            "a toolset requires at least one tool; add `#[tool]` to the methods that the model \
             should call",
        );
    }
    unlike_names(set, errors);
}

/// Whether a block is about one type that a registry could hold.
pub(crate) fn is_one_type(block: &Block) -> bool {
    let mut errors = Errors::default();
    one_type(block, &mut errors);
    errors.is_empty()
}

fn one_type(block: &Block, errors: &mut Errors) {
    if let Some(of_trait) = &block.of_trait {
        errors.at(
            of_trait,
            "`#[toolset]` cannot be applied to a trait implementation; move it to an inherent \
             `impl` block, and call the trait from there",
        );
    }
    let borrows = "a toolset cannot borrow because a registry owns it; store owned values, or \
     share them in an `Arc`";
    for parameter in &block.generics.params {
        match parameter {
            GenericParam::Lifetime(lifetime) => errors.at(&lifetime.lifetime, borrows),
            GenericParam::Type(ty) => errors.at(&ty.ident, GENERIC),
            GenericParam::Const(constant) => errors.at(&constant.ident, GENERIC),
        }
    }
    if let Some(lifetime) = without_a_name(block.ty.to_token_stream()) {
        errors.span(lifetime, borrows);
    }
}

const GENERIC: &str = "a toolset cannot be generic because each of its tools exists once; write \
 a concrete type, such as `impl Home<Sensor>`";

/// Where `'_` stands.
fn without_a_name(tokens: TokenStream) -> Option<Span> {
    let mut after_quote = false;
    tokens.into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) => without_a_name(group.stream()),
        tree if after_quote && is_one_of(&tree, &["_"]) => Some(tree.span()),
        tree => {
            after_quote = matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == '\'');
            None
        }
    })
}

fn unlike_names(set: &Toolset, errors: &mut Errors) {
    for (at, tool) in set.tools.iter().enumerate() {
        let others = set.tools.iter().enumerate();
        let is_twin = |(place, other): (usize, &Tool)| {
            // Of two with `#[cfg]`, only one may be there.
            let may_be_one = !tool.cfgs.is_empty() && !other.cfgs.is_empty();
            place != at && other.name.value() == tool.name.value() && !may_be_one
        };
        if others.into_iter().any(is_twin) {
            errors.at(
                &tool.name,
                format!(
                    "duplicate tool name `{}` in this toolset; rename one with `#[tool(name = \"…\")]`",
                    tool.name.value()
                ),
            );
        }
    }
}
