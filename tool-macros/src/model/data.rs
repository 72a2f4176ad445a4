//! The model of a type that derives `ToolType`.
//!
//! serde's own reading of its attributes is used, so a name or a default can't be understood
//! differently here.

use proc_macro2::Ident;
use serde_derive_internals::ast::{Container, Data as Ast, Field as AstField, Style};
use serde_derive_internals::attr::TagType;
use serde_derive_internals::{Ctxt, Derive};
use syn::{DeriveInput, Generics, Path, Type, parse_quote};

use super::description;
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
}

/// What a type looks like in JSON.
pub(crate) enum Shape {
    /// An object with these members.
    Object(Vec<Field>),
    /// What this type looks like.
    Same(Box<Type>),
    /// One of these strings.
    Strings(Vec<String>),
}

/// A member of an object.
pub(crate) struct Field {
    /// The field in Rust, for messages.
    pub(crate) span: proc_macro2::Span,
    pub(crate) key: String,
    pub(crate) description: Option<String>,
    pub(crate) ty: Type,
    /// Whether serde fills it in when it is absent.
    pub(crate) has_default: bool,
    /// Whether serde may leave it out of what it writes.
    pub(crate) is_skipped: bool,
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
        let private = Ident::new("__private", proc_macro2::Span::call_site());
        let container = Container::from_ast(&context, input, Derive::Deserialize, &private);
        let shape = match (container, context.check()) {
            (Some(container), Ok(())) => shape(&container, errors),
            (_, result) => {
                match (&input.data, result) {
                    (syn::Data::Union(data), _) => errors.at(
                        data.union_token,
                        "a union has no form in JSON; derive `ToolType` for a struct or an enum",
                    ),
                    (_, Err(error)) => errors.push(error),
                    _ => {}
                }
                Shape::Object(Vec::new())
            }
        };
        Data {
            krate,
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            description: text,
            shape,
        }
    }
}

/// What is not read yet must not be read wrongly: it is refused.
const NOT_YET: &str = "is not understood by `ToolType` yet, so the schema would not be true; \
                       implement `tool_core::ToolType` by hand for this type";

fn shape(container: &Container<'_>, errors: &mut Errors) -> Shape {
    let attrs = &container.attrs;
    let converted = attrs.type_from().or(attrs.type_try_from());
    if let Some(ty) = converted {
        errors.at(ty, format!("a conversion {NOT_YET}"));
    }
    match &container.data {
        Ast::Enum(variants) => {
            if !matches!(attrs.tag(), TagType::External) {
                errors.at(
                    &container.ident,
                    format!("an enum with a tag of its own {NOT_YET}"),
                );
            }
            let mut values = Vec::new();
            for variant in variants {
                if !matches!(variant.style, Style::Unit) {
                    errors.at(&variant.ident, format!("a variant with fields {NOT_YET}"));
                } else if variant.attrs.other()
                    || !aliases(
                        variant.attrs.aliases(),
                        &variant.attrs.name().deserialize_name().value,
                    )
                {
                    errors.at(&variant.ident, format!("`alias` or `other` {NOT_YET}"));
                } else if variant.attrs.name().serialize_name().value
                    != variant.attrs.name().deserialize_name().value
                {
                    errors.at(
                        &variant.ident,
                        format!("a name that differs between input and output {NOT_YET}"),
                    );
                } else if !variant.attrs.skip_deserializing() {
                    values.push(variant.attrs.name().deserialize_name().value.clone());
                }
            }
            if values.is_empty() && errors.is_empty() {
                errors.at(
                    &container.ident,
                    "an enum without variants has no value; add a variant",
                );
            }
            Shape::Strings(values)
        }
        Ast::Struct(Style::Struct, fields) if !attrs.transparent() => {
            let all_default = !attrs.default().is_none();
            let fields = fields
                .iter()
                .filter(|field| !field.attrs.skip_deserializing());
            Shape::Object(fields.map(|f| field(f, all_default, errors)).collect())
        }
        Ast::Struct(style, fields) => {
            let mut carried = fields
                .iter()
                .filter(|field| !field.attrs.skip_deserializing());
            match (carried.next(), carried.next(), style) {
                (Some(one), None, Style::Newtype | Style::Struct) => {
                    // Only for its checks.
                    let field = field(one, false, errors);
                    Shape::Same(Box::new(field.ty))
                }
                _ => {
                    errors.at(
                        &container.ident,
                        format!("a tuple or unit struct {NOT_YET}"),
                    );
                    Shape::Object(Vec::new())
                }
            }
        }
    }
}

/// Whether the aliases hold nothing but the name itself, which serde puts among them.
fn aliases(
    aliases: &std::collections::BTreeSet<serde_derive_internals::name::Name>,
    name: &str,
) -> bool {
    aliases.iter().all(|alias| alias.value == name)
}

fn field(field: &AstField<'_>, all_default: bool, errors: &mut Errors) -> Field {
    let span = match &field.member {
        syn::Member::Named(ident) => ident.span(),
        syn::Member::Unnamed(_) => syn::spanned::Spanned::span(field.ty),
    };
    let mut keys = Keys::of_attributes("#[param]", "param", &field.original.attrs, errors);
    let described = keys.text("description", errors);
    keys.finish(errors);
    let attrs = &field.attrs;
    let key = attrs.name().deserialize_name().value.clone();
    if attrs.flatten() {
        errors.span(span, format!("`flatten` {NOT_YET}"));
    }
    if attrs.deserialize_with().is_some() {
        errors.span(span, format!("`with` {NOT_YET}"));
    }
    if !aliases(attrs.aliases(), &key) {
        errors.span(span, format!("`alias` {NOT_YET}"));
    }
    if attrs.name().serialize_name().value != key {
        errors.span(
            span,
            format!("a name that differs between input and output {NOT_YET}"),
        );
    }
    Field {
        span,
        key,
        description: description(described, &docs::lines(&field.original.attrs), errors),
        ty: field.ty.clone(),
        has_default: all_default || !attrs.default().is_none(),
        is_skipped: attrs.skip_serializing() || attrs.skip_serializing_if().is_some(),
    }
}
