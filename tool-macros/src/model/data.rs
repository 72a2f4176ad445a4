//! The model of a type that derives `ToolType`.
//!
//! serde's own reading of its attributes is used, so a name or a default can't be understood
//! differently here.

use proc_macro2::{Ident, Span};
use serde_derive_internals::ast::Container;
use serde_derive_internals::{Ctxt, Derive};
use syn::{DeriveInput, Generics, Path, Type, parse_quote};

use super::constraints::Constraints;
use super::{description, shape};
use crate::attr::Keys;
use crate::util::docs;
use crate::util::errors::Errors;

/// A struct or an enum that stands in signatures.
pub(crate) struct Data {
    pub(crate) krate: Path,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) description: Option<String>,
    pub(crate) shape: Shape,
    /// Whether serde refuses fields that it does not know, before anything here does.
    pub(crate) denies_unknown: bool,
    /// Whether serde writes it differently from what it reads, so that its schema is no schema of
    /// a result.
    pub(crate) is_input_only: bool,
    /// Whether it is made of another type, and may refuse values of that.
    pub(crate) is_tried: bool,
}

/// What a type looks like in JSON.
pub(crate) enum Shape {
    /// An object with these members.
    Object(Vec<Field>),
    /// What this field's type looks like.
    Same(Box<Field>),
    /// An array with these items.
    Tuple(Vec<Field>),
    /// `null`.
    Unit,
    /// One of these variants.
    Enum(Tagging, Vec<Variant>),
}

/// How the variants of an enum are told apart.
#[derive(Clone)]
pub(crate) enum Tagging {
    /// By the key around them, or by a string.
    External,
    /// By a member of their own.
    Internal(String),
    /// By a member beside the one that holds them.
    Adjacent(String, String),
    /// Not at all.
    None,
}

/// One variant of an enum.
pub(crate) struct Variant {
    pub(crate) span: Span,
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) shape: Shape,
    /// Whether it takes every tag that is no other's (`#[serde(other)]`).
    pub(crate) is_other: bool,
    /// Whether it has no tag although the others have (`#[serde(untagged)]`).
    pub(crate) is_untagged: bool,
}

/// A member of an object, or an item of a tuple.
pub(crate) struct Field {
    /// Its place among all fields of the type.
    pub(crate) number: usize,
    /// The field in Rust, for messages.
    pub(crate) span: Span,
    pub(crate) key: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) ty: Type,
    pub(crate) constraints: Constraints,
    /// Whether serde fills it in when it is absent.
    pub(crate) has_default: bool,
    /// Whether serde may leave it out of what it writes.
    pub(crate) is_skipped: bool,
    /// Whether its members stand in its place.
    pub(crate) is_flat: bool,
}

impl Data {
    pub(crate) fn new(input: &DeriveInput, errors: &mut Errors) -> Data {
        let mut keys = Keys::of_attributes("#[param]", "param", &input.attrs, errors);
        let krate = keys
            .path("crate", errors)
            .unwrap_or_else(|| parse_quote!(::tool_core));
        let described = keys.text("description", errors);
        keys.finish(errors);
        let text = description(described, &docs::lines(&input.attrs), errors);

        let context = Ctxt::new();
        let private = Ident::new("__private", Span::call_site());
        let container = Container::from_ast(&context, input, Derive::Deserialize, &private);
        let (mut denies_unknown, mut is_tried) = (false, false);
        let (shape, is_input_only) = match (container, context.check()) {
            (Some(container), Ok(())) => {
                denies_unknown = container.attrs.deny_unknown_fields();
                is_tried = container.attrs.type_try_from().is_some();
                shape::read(&container, errors)
            }
            (_, result) => {
                match (&input.data, result) {
                    (syn::Data::Union(data), _) => errors.at(
                        data.union_token,
                        "`ToolType` cannot be derived for a union; write a struct or an enum",
                    ),
                    (_, Err(error)) => errors.push(error),
                    _ => {}
                }
                (Shape::Unit, false)
            }
        };
        Data {
            krate,
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            description: text,
            shape,
            denies_unknown,
            is_input_only,
            is_tried,
        }
    }

    /// Every field, those of variants too.
    pub(crate) fn fields(&self) -> Vec<&Field> {
        let mut fields = Vec::new();
        self.shape.collect(&mut fields);
        fields
    }
}

impl Shape {
    fn collect<'s>(&'s self, fields: &mut Vec<&'s Field>) {
        match self {
            Shape::Object(own) | Shape::Tuple(own) => fields.extend(own),
            Shape::Same(field) => fields.push(field),
            Shape::Unit => {}
            Shape::Enum(_, variants) => {
                for variant in variants {
                    variant.shape.collect(fields);
                }
            }
        }
    }

    pub(crate) fn is_unit(&self) -> bool {
        matches!(self, Shape::Unit)
    }
}
