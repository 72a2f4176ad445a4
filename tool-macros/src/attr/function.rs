//! A function as written.
//!
//! Only the signature is parsed. Parsing a body of 60 lines would take eight times as long as
//! everything else.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, Generics, ReturnType, Token, Type, Visibility, parenthesized, parse_quote, token,
};

use super::parameter::{Parameter, ParameterKind, is_conditional, is_joint_colon, ty, until};
use crate::util::names::is_one_of;
use crate::util::site::{Trees, code, site};

/// A function item.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    /// `const`, `async`, `unsafe` and `extern "…"`, in the written order.
    pub(crate) qualifiers: TokenStream,
    pub(crate) asyncness: Option<Token![async]>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) abi: Option<Token![extern]>,
    pub(super) fn_token: Token![fn],
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(super) paren: token::Paren,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: ReturnType,
    /// A block, or the semicolon of a function without one.
    pub(super) body: TokenTree,
    /// Its tokens, if they need not be written anew.
    pub(super) written: Option<Written>,
}

/// The tokens of a function without the attributes that only the macro reads.
#[derive(Clone)]
pub(crate) struct Written {
    pub(super) attrs: Trees,
    /// From its visibility to its name.
    pub(super) head: Trees,
    /// The list in parentheses.
    pub(super) parameters: Group,
    pub(super) tail: Trees,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let mut qualifiers = TokenStream::new();
        let (mut asyncness, mut unsafety, mut abi) = (None, None, None);
        let fn_token = loop {
            if let Some(fn_token) = input.parse::<Option<Token![fn]>>()? {
                break fn_token;
            }
            if input.peek(Token![async]) {
                let token: Token![async] = input.parse()?;
                asyncness = Some(token);
                token.to_tokens(&mut qualifiers);
            } else if input.peek(Token![unsafe]) {
                let token: Token![unsafe] = input.parse()?;
                unsafety = Some(token);
                token.to_tokens(&mut qualifiers);
            } else if input.peek(Token![extern]) {
                let token: Token![extern] = input.parse()?;
                abi = Some(token);
                token.to_tokens(&mut qualifiers);
                input
                    .parse::<Option<syn::LitStr>>()?
                    .to_tokens(&mut qualifiers);
            } else {
                input.parse::<Token![const]>()?.to_tokens(&mut qualifiers);
            }
        };
        let ident = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let content;
        let paren = parenthesized!(content in input);
        let mut parameters = Vec::new();
        while !content.is_empty() {
            parameters.push(content.parse()?);
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        let output = output.parse2(until(input, |input| {
            input.peek(Token![where]) || input.peek(token::Brace) || input.peek(Token![;])
        })?)?;
        generics.where_clause = input.parse()?;
        Ok(Function {
            attrs,
            vis,
            qualifiers,
            asyncness,
            unsafety,
            abi,
            fn_token,
            ident,
            generics,
            paren,
            parameters,
            output,
            body: input.parse()?,
            written: None,
        })
    }
}

/// Returns `true` for `#[tool]`, with any path.
pub(crate) fn is_tool(attr: &Attribute) -> bool {
    let last = attr.path().segments.last();
    last.is_some_and(|segment| segment.ident == "tool")
}

fn output(input: ParseStream<'_>) -> syn::Result<ReturnType> {
    match input.parse()? {
        Some(arrow) => Ok(ReturnType::Type(arrow, Box::new(ty(input)?))),
        None => Ok(ReturnType::Default),
    }
}

impl Function {
    /// Returns `true` for a function with `self`. No handler can be defined inside its `impl` block or
    /// trait.
    pub(crate) fn is_method(&self) -> bool {
        let is_receiver =
            |parameter: &Parameter| matches!(parameter.kind, ParameterKind::Receiver(_));
        self.parameters.iter().any(is_receiver)
    }

    /// Returns `true` unless a semicolon stands in place of the body.
    pub(crate) fn has_body(&self) -> bool {
        matches!(self.body, TokenTree::Group(_))
    }

    /// Replaces `Self` by the type `own` in the types of parameters and of the result.
    pub(crate) fn replace_self(&mut self, own: &Type) {
        for parameter in &mut self.parameters {
            if let ParameterKind::Named(_, ty) = &mut parameter.kind {
                replace_self(ty, own);
            }
        }
        if let ReturnType::Type(_, ty) = &mut self.output {
            replace_self(ty, own);
        }
    }

    /// As [`Function::plain`].
    pub(crate) fn into_plain(mut self, more: TokenStream) -> Trees {
        let Some(written) = self.written.take() else {
            return self.plain(&more).into();
        };
        let Written {
            attrs,
            head,
            parameters,
            tail,
        } = written;
        let mut plain = attrs;
        plain.put(more);
        plain.put(head);
        plain.put(parameters);
        plain.put(tail);
        plain
    }

    /// Returns the function as written, without the attributes that only the macro reads, and with
    /// `more` attributes after its own.
    pub(crate) fn plain(&self, more: &TokenStream) -> TokenStream {
        let Function {
            attrs,
            vis,
            qualifiers,
            fn_token,
            ident,
            generics,
            paren,
            output,
            body,
            ..
        } = self;
        let is_variadic =
            |parameter: &&Parameter| matches!(parameter.kind, ParameterKind::Variadic(_));
        // rustc would report it too, so remove it, and the body that may use it.
        let (lints, body) = match self.parameters.iter().find(is_variadic) {
            Some(_) => (
                quote!(#[allow(unused)]),
                &parse_quote!({ ::core::unreachable!() }),
            ),
            None => (TokenStream::new(), body),
        };
        let is_read = |attr: &&Attribute| attr.path().is_ident("param") || is_tool(attr);
        let attrs = attrs.iter().filter(|attr| !is_read(attr));
        let parameters = self.parameters.iter().filter(|one| !is_variadic(one));
        let parameters = parameters.map(|Parameter { attrs, tokens, .. }| {
            let kept = attrs.iter().filter(|attr| {
                let path = attr.path();
                !path.is_ident("doc") && !path.is_ident("param") && !is_conditional(attr)
            });
            quote!(#(#kept)* #tokens)
        });
        let where_clause = &generics.where_clause;
        let mut plain = quote! {
            #(#attrs)*
            #more
            #lints
            #vis #qualifiers #fn_token #ident #generics
        };
        paren.surround(&mut plain, |inside| {
            code!(#(#parameters),*).to_tokens(inside);
        });
        quote!(#output #where_clause #body).to_tokens(&mut plain);
        plain
    }
}

/// Replaces `Self` in a type for code outside the block. The spans stay.
fn replace_self(ty: &mut Type, own: &Type) {
    let tokens = ty.to_token_stream();
    if mentions_self(tokens.clone()) {
        let replaced = with_self_replaced(tokens, &own.to_token_stream());
        *ty = self::ty
            .parse2(replaced)
            .expect("the tokens were a type before");
    }
}

fn mentions_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match &tree {
        TokenTree::Group(group) => mentions_self(group.stream()),
        tree => is_one_of(tree, &["Self"]),
    })
}

/// Replaces `Self` in tokens for code outside the block.
pub(crate) fn with_self_replaced(tokens: TokenStream, own: &TokenStream) -> TokenStream {
    let mut replaced = TokenStream::new();
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Group(group) => {
                let mut inside =
                    Group::new(group.delimiter(), with_self_replaced(group.stream(), own));
                inside.set_span(group.span());
                replaced.extend([TokenTree::Group(inside)]);
            }
            tree if is_one_of(&tree, &["Self"]) => {
                let own = own.clone().into_iter().map(|mut part| {
                    part.set_span(part.span().located_at(tree.span()));
                    part
                });
                let own: TokenStream = own.collect();
                match trees.peek() {
                    // `Self::LENGTH`
                    Some(TokenTree::Punct(colon)) if is_joint_colon(colon) => {
                        // Located there, so that an error underlines the written path alone.
                        let span = site().located_at(tree.span());
                        replaced.extend(quote_spanned!(span=> <#own>));
                    }
                    _ => replaced.extend(own),
                }
            }
            tree => replaced.extend([tree]),
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_is_replaced_everywhere() {
        for (ty, expected) in [
            ("Self", "Home<u8>"),
            ("&'a Self", "&'a Home<u8>"),
            ("Vec<Option<Self>>", "Vec<Option<Home<u8>>>"),
            ("[u8; Self::LENGTH]", "[u8; <Home<u8>>::LENGTH]"),
            ("<Self as Trait>::Item", "<Home<u8> as Trait>::Item"),
            (
                "[u8; if Self::WIDE { 8 } else { 4 }]",
                "[u8; if <Home<u8>>::WIDE { 8 } else { 4 }]",
            ),
            ("Selfish", "Selfish"),
        ] {
            let mut found = ty_of(ty);
            replace_self(&mut found, &ty_of("Home<u8>"));
            let found = found.to_token_stream().to_string().replace(' ', "");
            assert_eq!(found, expected.replace(' ', ""));
        }
    }

    fn ty_of(text: &str) -> Type {
        ty.parse_str(text).unwrap()
    }
}
