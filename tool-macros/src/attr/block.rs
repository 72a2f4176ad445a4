//! An `impl` block as written, with the tools in it.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Generics, Meta, Token, Type, braced, token};

use super::function::{Function, is_tool};
use super::parameter::{ty, until};
use crate::util::errors::Errors;
use crate::util::names::is_one_of;

/// An `impl` block.
pub(crate) struct Block {
    pub(crate) attrs: Vec<Attribute>,
    /// The tokens before the braces.
    head: TokenStream,
    pub(crate) generics: Generics,
    /// The tokens of the implemented trait.
    pub(crate) of_trait: Option<TokenStream>,
    pub(crate) ty: Type,
    brace: token::Brace,
    inner_attrs: Vec<Attribute>,
    pub(crate) members: Vec<Member>,
}

/// An item of an `impl` block.
pub(crate) enum Member {
    Tool(Box<Method>),
    /// Any other item, unchanged.
    Other(TokenStream),
    /// Any other item, with an error about its `#[tool]`.
    Wrong(TokenStream, syn::Error),
}

/// A function with `#[tool]`.
pub(crate) struct Method {
    /// Its `#[tool]` attributes. More than one is an error.
    tool_attrs: Vec<Attribute>,
    pub(crate) function: Function,
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let head = until(input, |input| input.peek(token::Brace))?;
        let (generics, of_trait, ty) = self::head.parse2(head.clone())?;
        let content;
        let brace = braced!(content in input);
        let inner_attrs = content.call(Attribute::parse_inner)?;
        let mut members = Vec::new();
        while !content.is_empty() {
            members.push(content.parse()?);
        }
        Ok(Block {
            attrs,
            head,
            generics,
            of_trait,
            ty,
            brace,
            inner_attrs,
            members,
        })
    }
}

fn head(input: ParseStream<'_>) -> syn::Result<(Generics, Option<TokenStream>, Type)> {
    input.parse::<Option<Token![unsafe]>>()?;
    input.parse::<Token![impl]>()?;
    let mut generics: Generics = input.parse()?;
    let ends = |input: ParseStream<'_>| input.peek(Token![for]) || input.peek(Token![where]);
    let first = until(input, ends)?;
    let (of_trait, own) = match input.parse::<Option<Token![for]>>()? {
        Some(_) => (Some(first), until(input, ends)?),
        None => (None, first),
    };
    generics.where_clause = input.parse()?;
    Ok((generics, of_trait, ty.parse2(own)?))
}

impl Parse for Member {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let hidden = attrs.iter().find(|attr| is_conditional_tool(attr)).map(|attr| {
            syn::Error::new_spanned(
                attr,
                "`#[toolset]` cannot evaluate `#[cfg_attr]`; write `#[cfg(…)]` and `#[tool]` as \
                 two attributes",
            )
        });
        let (tool_attrs, mut attrs): (Vec<_>, Vec<_>) = attrs.into_iter().partition(is_tool);
        attrs.retain(|attr| !is_conditional_tool(attr));
        let fork = input.fork();
        let function = match &tool_attrs[..] {
            [] => None,
            _ => fork.parse::<Function>().ok(),
        };
        let (Some(mut function), None) = (function, &hidden) else {
            let item = rest(input)?;
            let item = quote!(#(#attrs)* #item);
            let misplaced = tool_attrs.first().map(|attr| {
                syn::Error::new_spanned(
                    attr,
                    "`#[tool]` can only be applied to a function; move it to the method that the \
                     model should call",
                )
            });
            return Ok(match hidden.or(misplaced) {
                Some(error) => Member::Wrong(item, error),
                None => Member::Other(item),
            });
        };
        input.advance_to(&fork);
        function.attrs = attrs;
        Ok(Member::Tool(Box::new(Method {
            tool_attrs,
            function,
        })))
    }
}

/// Returns `true` for a `#[cfg_attr]` with `#[tool]`. rustc does not expand it before the block.
fn is_conditional_tool(attr: &Attribute) -> bool {
    let Meta::List(list) = &attr.meta else {
        return false;
    };
    let mut trees = list.tokens.clone().into_iter();
    attr.path().is_ident("cfg_attr") && trees.any(|tree| is_one_of(&tree, &["tool"]))
}

/// Reads an item up to a semicolon or braces. If the braces belong to an expression, the rest is read as
/// another item, which does no harm.
fn rest(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let ends = |input: ParseStream<'_>| input.peek(token::Brace) || input.peek(Token![;]);
    let mut item = TokenStream::new();
    while !input.is_empty() && !ends(input) {
        input.parse::<TokenTree>()?.to_tokens(&mut item);
    }
    if !input.is_empty() {
        input.parse::<TokenTree>()?.to_tokens(&mut item);
    }
    Ok(item)
}

impl Method {
    /// The span of its `#[tool]`.
    pub(crate) fn tool_span(&self) -> Span {
        self.tool_attrs[0].span()
    }

    /// Returns the tokens in the parentheses of `#[tool(…)]`.
    pub(crate) fn arguments(&self, errors: &mut Errors) -> TokenStream {
        let mut arguments = TokenStream::new();
        for (at, attr) in self.tool_attrs.iter().enumerate() {
            match &attr.meta {
                _ if at > 0 => errors.at(attr, "duplicate `#[tool]` attribute; merge the two"),
                Meta::Path(_) => {}
                Meta::List(list) => arguments = list.tokens.clone(),
                Meta::NameValue(_) => errors.at(
                    attr,
                    "`#[tool]` expects keys in parentheses; write `#[tool(key = value)]`",
                ),
            }
        }
        arguments
    }
}

impl Block {
    /// Returns the block as written, without the attributes that only the macro reads, and with `more`
    /// attributes after the attributes of each tool.
    pub(crate) fn plain(&self, mut more: impl Iterator<Item = TokenStream>) -> TokenStream {
        let Block {
            attrs,
            head,
            brace,
            inner_attrs,
            ..
        } = self;
        let members = self.members.iter().map(|member| match member {
            Member::Tool(method) => {
                let more = more.next().unwrap_or_default();
                method.function.plain(&more)
            }
            Member::Other(item) | Member::Wrong(item, _) => item.clone(),
        });
        let members: TokenStream = members.collect();
        let mut plain = quote!(#(#attrs)* #head);
        brace.surround(&mut plain, |inside| {
            quote!(#(#inner_attrs)* #members).to_tokens(inside);
        });
        plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_are_parsed() {
        let source = "
            impl Home<{ 1 + 1 }> where Self: Sized {
                #![allow(dead_code)]
                const A: Place = Place { x: 1 };
                type B = Vec<u8>;
                fn c(&self) -> Sum<{ 2 }> { 3 }
                make! { #[tool] fn d() {} }
                make!(e);
                /// F.
                #[tool_core::tool(read_only)]
                #[inline]
                pub async fn f(&self, a: Vec<u8>) -> [u8; { 4 }] where Self: Sized { x }
                pub(crate) const fn g() {}
            }
        ";
        let block: Block = syn::parse_str(source).unwrap();
        let tools = block.members.iter().filter_map(|member| match member {
            Member::Tool(method) => {
                Some((method.function.ident.to_string(), method.tool_attrs.len()))
            }
            _ => None,
        });
        assert_eq!(tools.collect::<Vec<_>>(), [("f".to_owned(), 1)]);
        assert!(block.of_trait.is_none() && block.generics.params.is_empty());
        let tokens: TokenStream = source
            .replace("#[tool_core::tool(read_only)]", "")
            .parse()
            .unwrap();
        let spelled = |tokens: TokenStream| tokens.to_string().replace(' ', "");
        assert_eq!(spelled(block.plain(std::iter::empty())), spelled(tokens));
    }

    #[test]
    fn a_head_may_have_all_its_parts() {
        let source = "unsafe impl<'a, T: for<'b> Fn(&'b T)> Trait<T> for Home<for<'c> fn(&'c u8)> where T: Copy {}";
        let block: Block = syn::parse_str(source).unwrap();
        assert_eq!(block.of_trait.unwrap().to_string(), "Trait < T >");
        assert_eq!(block.generics.params.len(), 2);
        assert!(block.generics.where_clause.is_some());
    }
}
