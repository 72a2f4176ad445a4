//! A function as written.
//!
//! Only the signature is parsed. The body stays raw tokens: parsing 60 lines of it would cost
//! eight times as much as everything else.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, Generics, ReturnType, Token, Type, Visibility, parenthesized, parse_quote, token,
};

use super::own_type::spell_out;
use super::parameter::{Parameter, ParameterKind, hides, ty, until};

/// A function item.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    /// `const`, `unsafe` and `extern "…"`, in their order.
    pub(crate) qualifiers: TokenStream,
    pub(crate) asyncness: Option<Token![async]>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) abi: Option<Token![extern]>,
    fn_token: Token![fn],
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: ReturnType,
    /// A block, or the semicolon of a function without one.
    body: TokenTree,
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
        parenthesized!(content in input);
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
            parameters,
            output,
            body: input.parse()?,
        })
    }
}

fn output(input: ParseStream<'_>) -> syn::Result<ReturnType> {
    match input.parse()? {
        Some(arrow) => Ok(ReturnType::Type(arrow, Box::new(ty(input)?))),
        None => Ok(ReturnType::Default),
    }
}

impl Function {
    /// Whether it stands in an `impl` block or a trait, where no handler can stand beside it.
    pub(crate) fn is_method(&self) -> bool {
        let is_receiver =
            |parameter: &Parameter| matches!(parameter.kind, ParameterKind::Receiver(_));
        self.parameters.iter().any(is_receiver)
    }

    /// Puts the type for `Self` in the types of parameters and of the result.
    pub(crate) fn spell_out_self(&mut self, own: &Type) {
        for parameter in &mut self.parameters {
            if let ParameterKind::Named(_, ty) = &mut parameter.kind {
                spell_out(ty, own);
            }
        }
        if let ReturnType::Type(_, ty) = &mut self.output {
            spell_out(ty, own);
        }
    }

    /// The function as the user wrote it, without the attributes of parameters that rustc would
    /// not know, and with `more` attributes after its own.
    pub(crate) fn plain(&self, more: &TokenStream) -> TokenStream {
        let Function {
            attrs,
            vis,
            qualifiers,
            fn_token,
            ident,
            generics,
            output,
            body,
            ..
        } = self;
        let is_variadic =
            |parameter: &&Parameter| matches!(parameter.kind, ParameterKind::Variadic(_));
        // rustc refuses it too, so it goes, and the body that may use it.
        let (lints, body) = match self.parameters.iter().find(is_variadic) {
            Some(_) => (
                quote!(#[allow(unused)]),
                &parse_quote!({ ::core::unreachable!() }),
            ),
            None => (TokenStream::new(), body),
        };
        let parameters = self.parameters.iter().filter(|one| !is_variadic(one));
        let parameters = parameters.map(|Parameter { attrs, tokens, .. }| {
            let kept = attrs.iter().filter(|attr| {
                let path = attr.path();
                !path.is_ident("doc") && !path.is_ident("param") && !hides(attr)
            });
            quote!(#(#kept)* #tokens)
        });
        let where_clause = &generics.where_clause;
        quote! {
            #(#attrs)*
            #more
            #lints
            #vis #qualifiers #fn_token #ident #generics (#(#parameters),*) #output #where_clause #body
        }
    }
}
