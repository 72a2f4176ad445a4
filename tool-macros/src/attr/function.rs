//! A function as written.
//!
//! Only the signature is parsed. The body stays raw tokens: parsing 60 lines of it would cost
//! eight times as much as everything else.

use proc_macro2::{Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Generics, Meta, ReturnType, Token, Type, Visibility, parenthesized};

/// A function item.
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
    body: TokenStream,
}

/// One parameter of a function.
pub(crate) struct Parameter {
    pub(crate) attrs: Vec<Attribute>,
    /// The parameter without its attributes.
    pub(crate) tokens: TokenStream,
    pub(crate) kind: ParameterKind,
}

/// What a parameter looks like.
pub(crate) enum ParameterKind {
    /// `name: Type`, perhaps `mut`.
    Named(Ident, Box<Type>),
    /// `self` in one of its forms.
    Receiver(Token![self]),
    /// `...`, perhaps with a name.
    Variadic(Token![...]),
    /// A pattern that is no plain name.
    Pattern(TokenStream),
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
        let output = input.parse()?;
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

impl Parse for Parameter {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let tokens = until_comma(input)?;
        let kind = kind.parse2(tokens.clone())?;
        Ok(Parameter {
            attrs,
            tokens,
            kind,
        })
    }
}

fn kind(input: ParseStream<'_>) -> syn::Result<ParameterKind> {
    if let Some(token) = input.parse()? {
        return Ok(ParameterKind::Variadic(token));
    }
    let fork = input.fork();
    fork.parse::<Option<Token![&]>>()?;
    fork.parse::<Option<syn::Lifetime>>()?;
    fork.parse::<Option<Token![mut]>>()?;
    if let Some(token) = fork.parse()? {
        input.parse::<TokenStream>()?;
        return Ok(ParameterKind::Receiver(token));
    }
    let mut pattern = Vec::new();
    while !at_colon(input) {
        if input.is_empty() {
            return Ok(ParameterKind::Pattern(pattern.into_iter().collect()));
        }
        pattern.push(input.parse::<TokenTree>()?);
        // The second half of a `::` must not be taken for a colon.
        if matches!(pattern.last(), Some(TokenTree::Punct(punct)) if is_joint_colon(punct)) {
            pattern.push(input.parse()?);
        }
    }
    input.parse::<Token![:]>()?;
    if let Some(token) = input.parse()? {
        return Ok(ParameterKind::Variadic(token));
    }
    let ty = Box::new(input.parse()?);
    Ok(match &pattern[..] {
        [TokenTree::Ident(name)] if name != "_" => ParameterKind::Named(name.clone(), ty),
        [TokenTree::Ident(mutability), TokenTree::Ident(name)] if mutability == "mut" => {
            ParameterKind::Named(name.clone(), ty)
        }
        _ => ParameterKind::Pattern(pattern.into_iter().collect()),
    })
}

fn at_colon(input: ParseStream<'_>) -> bool {
    input.peek(Token![:]) && !input.peek(Token![::])
}

fn is_joint_colon(punct: &Punct) -> bool {
    punct.as_char() == ':' && punct.spacing() == Spacing::Joint
}

/// Everything up to the next comma outside of angle brackets.
fn until_comma(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    let mut angles = 0_usize;
    let mut arrow = false;
    while !input.is_empty() && (angles > 0 || !input.peek(Token![,])) {
        let tree: TokenTree = input.parse()?;
        if let TokenTree::Punct(punct) = &tree {
            match punct.as_char() {
                '<' => angles += 1,
                '>' if !arrow => angles = angles.saturating_sub(1),
                _ => {}
            }
            arrow = punct.as_char() == '-' && punct.spacing() == Spacing::Joint;
        } else {
            arrow = false;
        }
        tree.to_tokens(&mut tokens);
    }
    Ok(tokens)
}

/// Whether a `#[cfg_attr]` holds what only the macro reads. On a parameter nobody expands it first.
pub(crate) fn hides(attr: &Attribute) -> bool {
    let Meta::List(list) = &attr.meta else {
        return false;
    };
    let is_read = |tree: TokenTree| matches!(tree, TokenTree::Ident(name) if name == "doc" || name == "param" || name == "cfg");
    attr.path().is_ident("cfg_attr") && list.tokens.clone().into_iter().any(is_read)
}

impl Function {
    /// Whether it stands in an `impl` block or a trait, where no handler can stand beside it.
    pub(crate) fn is_method(&self) -> bool {
        let is_receiver =
            |parameter: &Parameter| matches!(parameter.kind, ParameterKind::Receiver(_));
        self.parameters.iter().any(is_receiver)
    }

    /// The function as the user wrote it, without the attributes of parameters that rustc would
    /// not know.
    pub(crate) fn plain(&self) -> TokenStream {
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
                &quote!({ ::core::unreachable!() }),
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
            #lints
            #vis #qualifiers #fn_token #ident #generics (#(#parameters),*) #output #where_clause #body
        }
    }
}
