//! [`Parameter`], which the model fills, and [`ContextParameter`], which the application fills.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Type};

use super::constraints::Constraints;
use super::description::Description;
use super::types::{Passing, reference, without_lifetimes};
use crate::util::errors::Errors;
use crate::util::literal::{Literal, Text};
use crate::util::site::Trees;
use crate::util::tokens::{Ends, ends, spelled};

/// A parameter that the model fills.
pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) key: Text,
    pub(crate) description: Option<Description>,
    pub(crate) ty: Type,
    pub(crate) passing: Passing,
    /// The type behind the borrow, without the lifetimes of the function.
    pub(crate) erased: Trees,
    /// Where that type is.
    pub(crate) ends: Ends,
    pub(crate) constraints: Constraints,
    pub(crate) when_absent: WhenAbsent,
}

/// A parameter that borrows from the application: `&T`, or `Option<&T>`.
pub(crate) struct ContextParameter {
    pub(crate) ident: Ident,
    pub(crate) cfgs: Vec<Attribute>,
    /// The number of parameters for the model before it.
    pub(crate) before: usize,
    /// The type behind the borrow.
    pub(crate) ty: TokenStream,
    /// The span of its first token.
    pub(crate) span: Span,
    pub(crate) is_optional: bool,
}

/// The value of a parameter that a call leaves out.
pub(crate) enum WhenAbsent {
    /// None, unless its type is optional.
    None,
    /// `Default::default()`, which is not in the schema.
    OfType,
    /// This value, which is in the schema.
    Literal(Literal, Ends),
}

impl ContextParameter {
    /// Returns `None` after an error.
    pub(super) fn new(
        ident: &Ident,
        ty: &Type,
        cfgs: Vec<Attribute>,
        before: usize,
        errors: &mut Errors,
    ) -> Option<ContextParameter> {
        let is_shared = |reference: &syn::TypeReference| reference.mutability.is_none();
        let passing = Passing::of(ty);
        if !reference(ty).is_some_and(is_shared) {
            let inner = spelled(passing.inner());
            let message = format!(
                "a context parameter must be a shared reference; write `&{inner}` or \
                 `Option<&{inner}>`"
            );
            errors.at(ty, message);
            return None;
        }
        if let Type::TraitObject(_) | Type::ImplTrait(_) = passing.inner() {
            errors.at(
                passing.inner(),
                "a context value is found by its concrete type; register an `Arc<dyn …>`, and \
                 borrow that",
            );
            return None;
        }
        Some(ContextParameter {
            ident: ident.clone(),
            cfgs,
            before,
            ty: without_lifetimes(passing.inner()),
            span: ends(passing.inner()).0,
            is_optional: matches!(passing, Passing::OptionallyBorrowed(_)),
        })
    }
}
