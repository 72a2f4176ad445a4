//! From serde's reading of a type to its shape.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use quote::ToTokens;
use serde_derive_internals::ast::{
    Container, Data as Ast, Field as AstField, Style, Variant as AstVariant,
};
use serde_derive_internals::attr::TagType;
use serde_derive_internals::name::{MultiName, Name};
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type, parse_quote};

use super::constraints::Constraints;
use super::data::{Field, Shape, Tagging, Variant};
use super::description;
use crate::attr::Keys;
use crate::util::docs;
use crate::util::errors::Errors;

/// The shape of a type, and whether serde writes it differently from what it reads.
pub(super) fn read(container: &Container<'_>, errors: &mut Errors) -> (Shape, bool) {
    let attrs = &container.attrs;
    if let Some(remote) = attrs.remote() {
        errors.at(
            remote,
            "`ToolType` cannot be derived for a remote definition; derive it for the type that \
             uses this one, with `#[param(as = …)]` on the field",
        );
    }
    let mut reader = Reader {
        own: &container.ident,
        fields: 0,
        is_input_only: false,
        errors,
    };
    let from = attrs.type_from().or(attrs.type_try_from());
    if same(from, attrs.type_into()) != Some(true)
        && (from.is_some() || attrs.type_into().is_some())
    {
        reader.is_input_only = true;
    }
    let shape = match from {
        // The type that is read first is what a call looks like.
        Some(from) => Shape::Same(Box::new(plain_field(from))),
        None => reader.shape(container),
    };
    (shape, reader.is_input_only)
}

/// Whether two types are spelled alike, if there are two.
fn same(left: Option<&Type>, right: Option<&Type>) -> Option<bool> {
    let text = |ty: &Type| ty.to_token_stream().to_string();
    Some(text(left?) == text(right?))
}

/// A field that only has a type.
fn plain_field(ty: &Type) -> Field {
    Field {
        number: 0,
        span: ty.span(),
        key: String::new(),
        aliases: Vec::new(),
        description: None,
        ty: ty.clone(),
        constraints: Constraints::default(),
        has_default: false,
        is_skipped: false,
        is_flat: false,
    }
}

struct Reader<'a> {
    own: &'a Ident,
    /// How many fields were read.
    fields: usize,
    is_input_only: bool,
    errors: &'a mut Errors,
}

impl Reader<'_> {
    fn shape(&mut self, container: &Container<'_>) -> Shape {
        let attrs = &container.attrs;
        let all_default = !attrs.default().is_none();
        match &container.data {
            Ast::Enum(variants) => {
                let tagging = match attrs.tag() {
                    TagType::External => Tagging::External,
                    TagType::Internal { tag } => Tagging::Internal(tag.clone()),
                    TagType::Adjacent { tag, content } => {
                        Tagging::Adjacent(tag.clone(), content.clone())
                    }
                    TagType::None => Tagging::None,
                };
                let variants: Vec<_> = variants
                    .iter()
                    .filter(|variant| !variant.attrs.skip_deserializing())
                    .map(|variant| self.variant(variant))
                    .collect();
                if variants.is_empty() {
                    self.errors.at(
                        &container.ident,
                        "an enum without variants has no values; add a variant",
                    );
                }
                Shape::Enum(tagging, variants)
            }
            Ast::Struct(_, fields) if attrs.transparent() => {
                let carried = fields.iter().find(|field| field.attrs.transparent());
                carried.map_or(Shape::Unit, |field| {
                    Shape::Same(Box::new(self.field(field, false)))
                })
            }
            // A struct can have a tag with its own name, which serde writes and does not read.
            Ast::Struct(style, fields) => {
                self.is_input_only |= matches!(attrs.tag(), TagType::Internal { .. });
                self.body(*style, fields, all_default)
            }
        }
    }

    fn variant(&mut self, variant: &AstVariant<'_>) -> Variant {
        let attrs = &variant.attrs;
        let original = variant.original;
        let mut keys = Keys::of_attributes("#[param]", "param", &original.attrs, self.errors);
        let described = keys.text("description", self.errors);
        let constraints = Constraints::read(&mut keys, self.errors);
        keys.finish(self.errors);
        if let Some(constraint) = constraints.narrowings.first() {
            self.errors.span(
                constraint.span,
                "a variant cannot have constraints; move this to its field",
            );
        }
        if attrs.deserialize_with().is_some() {
            self.errors.at(
                &variant.ident,
                "the schema of a variant with `with` is unknown; move it to a field, and add \
                 `#[param(as = …)]`",
            );
        }
        if attrs.skip_serializing() {
            self.is_input_only = true;
        }
        let (name, aliases) = self.names(attrs.name(), attrs.aliases());
        Variant {
            span: variant.ident.span(),
            name,
            aliases,
            description: description(described, &docs::lines(&original.attrs), self.errors),
            shape: self.body(variant.style, &variant.fields, false),
            is_other: attrs.other(),
            is_untagged: attrs.untagged(),
        }
    }

    fn body(&mut self, style: Style, fields: &[AstField<'_>], all_default: bool) -> Shape {
        match style {
            Style::Struct => Shape::Object(self.fields(fields, all_default)),
            Style::Unit => Shape::Unit,
            Style::Newtype if !fields[0].attrs.skip_deserializing() => {
                Shape::Same(Box::new(self.field(&fields[0], false)))
            }
            Style::Newtype | Style::Tuple => {
                for field in fields
                    .iter()
                    .filter(|field| !field.attrs.default().is_none())
                {
                    if !field.attrs.skip_deserializing() {
                        self.errors.at(
                            field.ty,
                            "JSON Schema has no optional tuple items; write an `Option` without \
                             `default`, or a struct with named fields",
                        );
                    }
                }
                Shape::Tuple(self.fields(fields, false))
            }
        }
    }

    fn fields(&mut self, fields: &[AstField<'_>], all_default: bool) -> Vec<Field> {
        let mut read = Vec::new();
        for field in fields {
            if field.attrs.skip_deserializing() {
                self.is_input_only |= !field.attrs.skip_serializing();
            } else {
                read.push(self.field(field, all_default));
            }
        }
        read
    }

    fn field(&mut self, field: &AstField<'_>, all_default: bool) -> Field {
        let attrs = &field.attrs;
        let span = match &field.member {
            syn::Member::Named(ident) => ident.span(),
            syn::Member::Unnamed(_) => field.ty.span(),
        };
        let original = &field.original.attrs;
        let mut keys = Keys::of_attributes("#[param]", "param", original, self.errors);
        let described = keys.text("description", self.errors);
        let marked = keys
            .flag("recursive", self.errors)
            .is_some_and(|(flag, _)| flag);
        let mut constraints = Constraints::read(&mut keys, self.errors);
        keys.finish(self.errors);
        let has_stand_in = constraints.stand_in.is_some();
        let read_with = attrs.deserialize_with().filter(|with| !is_borrow(with));
        if read_with.is_some() && !has_stand_in {
            self.errors.span(
                span,
                "the schema of a field with `with` is unknown; add `#[param(as = Type)]` or \
                 `#[param(schema = r#\"…\"#)]`",
            );
        }
        self.is_input_only |= attrs.serialize_with().is_some() != read_with.is_some();
        let (key, aliases) = self.names(attrs.name(), attrs.aliases());
        let mut ty = field.ty.clone();
        if !has_stand_in {
            constraints.is_recursive = match marked {
                true => recur_at_leaf(&mut ty),
                false => recur(&mut ty, self.own),
            };
        }
        self.fields += 1;
        Field {
            number: self.fields,
            span,
            key,
            aliases,
            description: description(described, &docs::lines(original), self.errors),
            ty,
            constraints,
            has_default: all_default || !attrs.default().is_none(),
            is_skipped: attrs.skip_serializing() || attrs.skip_serializing_if().is_some(),
            is_flat: attrs.flatten(),
        }
    }

    /// The name that is read, and the other names that are read too.
    fn names(&mut self, name: &MultiName, aliases: &BTreeSet<Name>) -> (String, Vec<String>) {
        let read = name.deserialize_name().value.clone();
        self.is_input_only |= name.serialize_name().value != read;
        // serde puts the name itself among the aliases.
        let others = aliases.iter().map(|alias| alias.value.clone());
        let others = others.filter(|alias| *alias != read).collect();
        (read, others)
    }
}

/// Whether this is serde's own way to read a `Cow<str>` with `#[serde(borrow)]`: the same strings.
fn is_borrow(with: &syn::ExprPath) -> bool {
    let mut names = with.path.segments.iter().map(|segment| &segment.ident);
    names.next().is_some_and(|first| first == "_serde")
        && names.last().is_some_and(|last| last == "borrow_cow_str")
}

/// Replaces every mention of the type itself by a reference to it. A recursive type would
/// otherwise be needed to compute its own schema.
fn recur(ty: &mut Type, own: &Ident) -> bool {
    match ty {
        Type::Path(path) => {
            let last = path.path.segments.last();
            if last.is_some_and(|last| last.ident == *own || last.ident == "Self") {
                *ty = parse_quote!(__tool_core::Recursive<#ty>);
                return true;
            }
            all(inner_types(path), own)
        }
        Type::Tuple(tuple) => all(tuple.elems.iter_mut(), own),
        Type::Array(array) => recur(&mut array.elem, own),
        Type::Slice(slice) => recur(&mut slice.elem, own),
        Type::Reference(reference) => recur(&mut reference.elem, own),
        Type::Paren(paren) => recur(&mut paren.elem, own),
        Type::Group(group) => recur(&mut group.elem, own),
        _ => false,
    }
}

/// Replaces in every one of these types, and says whether there was anything to replace.
fn all<'t>(types: impl Iterator<Item = &'t mut Type>, own: &Ident) -> bool {
    types.filter_map(|ty| recur(ty, own).then_some(())).count() > 0
}

/// Replaces the innermost type, the last if there are several, by a reference to it.
fn recur_at_leaf(ty: &mut Type) -> bool {
    if let Type::Path(path) = ty
        && let Some(inner) = inner_types(path).last()
    {
        return recur_at_leaf(inner);
    }
    *ty = parse_quote!(__tool_core::Recursive<#ty>);
    true
}

/// The types between the angle brackets at the end of a path.
fn inner_types(path: &mut syn::TypePath) -> impl Iterator<Item = &mut Type> {
    let last = path.path.segments.last_mut();
    let arguments = last.and_then(|last| match &mut last.arguments {
        PathArguments::AngleBracketed(arguments) => Some(arguments.args.iter_mut()),
        _ => None,
    });
    arguments
        .into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            GenericArgument::Type(inner) => Some(inner),
            _ => None,
        })
}
