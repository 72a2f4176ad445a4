//! The types of parameters: owned, or borrowed from what was decoded.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericArgument, PathArguments, Type};

/// How a parameter's value reaches the function.
pub(crate) enum Passing {
    /// By value: decoded as this type.
    Owned(Type),
    /// `&T`: an owned form is decoded, kept and lent.
    Borrowed(Type),
    /// `Option<&T>`.
    OptionallyBorrowed(Type),
}

impl Passing {
    pub(crate) fn of(ty: &Type) -> Passing {
        let ty = peel(ty);
        if let Type::Reference(reference) = ty {
            return Passing::Borrowed(peel(&reference.elem).clone());
        }
        if let Some(Type::Reference(reference)) = option_inner(ty).map(peel) {
            return Passing::OptionallyBorrowed(peel(&reference.elem).clone());
        }
        Passing::Owned(ty.clone())
    }

    /// The type behind the borrow.
    pub(crate) fn inner(&self) -> &Type {
        match self {
            Passing::Owned(ty) | Passing::Borrowed(ty) | Passing::OptionallyBorrowed(ty) => ty,
        }
    }
}

/// A type without the groups that `macro_rules!` and parentheses put around it.
pub(crate) fn peel(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            _ => return ty,
        };
    }
}

/// The `T` of something that is spelled `Option<T>`. Only borrowing needs the spelling; whether a
/// parameter is optional is asked of its type.
fn option_inner(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match (last.ident == "Option", arguments.args.first()?) {
        (true, GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}

/// The two types of something that is spelled `Result<T, E>`. Only messages need the spelling.
pub(crate) fn result(ty: &Type) -> Option<(&Type, &Type)> {
    let Type::Path(path) = peel(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let mut arguments = arguments.args.iter();
    match (last.ident == "Result", arguments.next()?, arguments.next()?) {
        (true, GenericArgument::Type(value), GenericArgument::Type(error)) => Some((value, error)),
        _ => None,
    }
}

/// The reference itself where a parameter borrows.
pub(crate) fn reference(ty: &Type) -> Option<&syn::TypeReference> {
    let ty = peel(ty);
    match (ty, option_inner(ty).map(peel)) {
        (Type::Reference(reference), _) | (_, Some(Type::Reference(reference))) => Some(reference),
        _ => None,
    }
}

/// Where a type begins and ends. An expression between the two is underlined as the type.
pub(crate) fn ends(ty: &Type) -> (Span, Span) {
    let mut spans = ty.to_token_stream().into_iter().map(|tree| tree.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// A type's tokens with every lifetime but `'static` left to inference: the names of a function's
/// lifetimes mean nothing where its parameters are decoded.
pub(crate) fn without_lifetimes(ty: &impl ToTokens) -> TokenStream {
    erase(ty.to_token_stream())
}

fn erase(tokens: TokenStream) -> TokenStream {
    let mut after_quote = false;
    tokens
        .into_iter()
        .map(|tree| match tree {
            TokenTree::Ident(ident) if after_quote && ident != "static" => {
                after_quote = false;
                TokenTree::Ident(proc_macro2::Ident::new("_", ident.span()))
            }
            TokenTree::Group(group) => {
                after_quote = false;
                let mut erased = Group::new(group.delimiter(), erase(group.stream()));
                erased.set_span(group.span());
                TokenTree::Group(erased)
            }
            other => {
                after_quote = matches!(&other, TokenTree::Punct(punct) if punct.as_char() == '\'');
                other
            }
        })
        .collect()
}
