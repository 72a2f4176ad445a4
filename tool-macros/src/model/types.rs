//! The types of parameters: owned, or borrowed from a decoded value.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericArgument, PathArguments, Type};

use crate::util::site::{Trees, site};
use crate::util::tokens::Ends;

/// The form in which a function takes a parameter.
pub(crate) enum Passing {
    /// `T`
    Owned(Type),
    /// `&T`: an owned form is decoded and borrowed.
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

    /// Returns the type behind the borrow.
    pub(crate) fn inner(&self) -> &Type {
        match self {
            Passing::Owned(ty) | Passing::Borrowed(ty) | Passing::OptionallyBorrowed(ty) => ty,
        }
    }
}

/// Removes the groups of `macro_rules!` and the parentheses around a type.
pub(crate) fn peel(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            _ => return ty,
        };
    }
}

/// Returns `true` if a type has the name of a number, a string or a `bool`, or is an `Option`, a
/// `Vec` or a slice of such a type.
pub(crate) fn is_scalar(ty: &Type) -> bool {
    const SCALARS: [&str; 17] = [
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
        "u32", "u64", "usize", "str", "String",
    ];
    match peel(ty) {
        Type::Slice(slice) => is_scalar(&slice.elem),
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| match &last.arguments {
                PathArguments::None => SCALARS.contains(&&*last.ident.to_string()),
                PathArguments::AngleBracketed(arguments) => {
                    let is_list_or_option = last.ident == "Option" || last.ident == "Vec";
                    let mut types = arguments.args.iter();
                    is_list_or_option
                        && types
                            .all(|one| matches!(one, GenericArgument::Type(ty) if is_scalar(ty)))
                }
                PathArguments::Parenthesized(_) => false,
            }),
        _ => false,
    }
}

/// Returns the `T` of a type that is written as `Option<T>`. Only borrowing depends on the spelling.
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

/// Returns the types of a type that is written as `Result<T, E>`. Only error spans depend on the
/// spelling.
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

/// Returns the reference of a parameter that borrows.
pub(crate) fn reference(ty: &Type) -> Option<&syn::TypeReference> {
    let ty = peel(ty);
    match (ty, option_inner(ty).map(peel)) {
        (Type::Reference(reference), _) | (_, Some(Type::Reference(reference))) => Some(reference),
        _ => None,
    }
}

/// Returns the tokens of a type without lifetimes, and their [`Ends`].
pub(crate) fn erased(ty: &Type) -> (Trees, Ends) {
    let trees: Vec<_> = ty.to_token_stream().into_iter().collect();
    let span = |tree: Option<&TokenTree>| tree.map_or_else(site, TokenTree::span);
    let ends = (span(trees.first()), span(trees.last()));
    (erase(trees).collect(), ends)
}

/// Returns the tokens of a type with every lifetime but `'static` inferred. The lifetimes of the
/// function are not in scope where its parameters are decoded.
pub(crate) fn without_lifetimes(ty: &impl ToTokens) -> TokenStream {
    erase(ty.to_token_stream()).collect()
}

fn erase(tokens: impl IntoIterator<Item = TokenTree>) -> impl Iterator<Item = TokenTree> {
    let mut after_quote = false;
    tokens.into_iter().map(move |tree| match tree {
        TokenTree::Ident(ident) if after_quote && ident != "static" => {
            after_quote = false;
            TokenTree::Ident(proc_macro2::Ident::new("_", ident.span()))
        }
        TokenTree::Group(group) => {
            after_quote = false;
            let inside: Vec<_> = erase(group.stream()).collect();
            let mut erased = Group::new(group.delimiter(), inside.into_iter().collect());
            erased.set_span(group.span());
            TokenTree::Group(erased)
        }
        other => {
            after_quote = matches!(&other, TokenTree::Punct(punct) if punct.as_char() == '\'');
            other
        }
    })
}
