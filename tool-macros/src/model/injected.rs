//! Parameters that the application fills, and no model sees.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Type};

use super::types::{Passing, ends, peel, reference, without_lifetimes};
use crate::attr::{Keys, ParameterKind};
use crate::util::errors::Errors;

/// A parameter that borrows from the application: `&T`, or `Option<&T>`.
pub(crate) struct Injected {
    pub(crate) ident: Ident,
    pub(crate) cfgs: Vec<Attribute>,
    /// How many parameters for the model stand before it.
    pub(crate) before: usize,
    /// The type behind the borrow.
    pub(crate) ty: TokenStream,
    /// Where that type begins.
    pub(crate) span: Span,
    pub(crate) is_optional: bool,
}

impl Injected {
    /// Whether a parameter is one: by `#[param(context)]`, or by the name of its type.
    pub(super) fn is_meant(keys: &mut Keys, kind: &ParameterKind, errors: &mut Errors) -> bool {
        match (keys.flag("context", errors), kind) {
            (Some((is_context, _)), _) => is_context,
            (None, ParameterKind::Named(_, ty)) => is_call_context(ty),
            (None, _) => false,
        }
    }

    /// `None` after an error.
    pub(super) fn new(
        ident: &Ident,
        ty: &Type,
        cfgs: Vec<Attribute>,
        before: usize,
        errors: &mut Errors,
    ) -> Option<Injected> {
        let is_shared = |reference: &syn::TypeReference| reference.mutability.is_none();
        if !reference(ty).is_some_and(is_shared) {
            errors.at(
                ty,
                "a context parameter must be a shared reference; write `&T` or `Option<&T>`",
            );
            return None;
        }
        let passing = Passing::of(ty);
        if let Type::TraitObject(_) | Type::ImplTrait(_) = passing.inner() {
            errors.at(
                passing.inner(),
                "a context value is found by its concrete type; register an `Arc<dyn …>`, and \
                 borrow that",
            );
            return None;
        }
        Some(Injected {
            ident: ident.clone(),
            cfgs,
            before,
            ty: without_lifetimes(passing.inner()),
            span: ends(passing.inner()).0,
            is_optional: matches!(passing, Passing::OptionallyBorrowed(_)),
        })
    }
}

/// `&CallContext`, by whatever path.
fn is_call_context(ty: &Type) -> bool {
    let Some(reference) = reference(ty) else {
        return false;
    };
    match peel(&reference.elem) {
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| last.ident == "CallContext")
        }
        _ => false,
    }
}
