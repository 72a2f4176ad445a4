//! The model of a type that derives `ToolType`.
//!
//! serde's attributes are read by serde's own code, so that both agree on names and defaults.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use serde_derive_internals::ast::{
    Container, Data as Ast, Field as AstField, Style, Variant as AstVariant,
};
use serde_derive_internals::attr::TagType;
use serde_derive_internals::name::{MultiName, Name};
use serde_derive_internals::{Ctxt, Derive};
use syn::spanned::Spanned;
use syn::{
    DeriveInput, GenericArgument, Generics, Member, PathArguments, Type, parse_quote_spanned,
};

use super::constraints::Constraints;
use super::decoding::{Decoding, Fallback, Unread, is_borrow};
use super::description::Description;
use super::{Krate, krate};
use crate::attr::Keys;
use crate::util::docs;
use crate::util::errors::Errors;
use crate::util::names::plain;
use crate::util::site::site;

/// A struct or an enum that derives `ToolType`.
pub(crate) struct Data {
    pub(crate) krate: Krate,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) description: Option<Description>,
    pub(crate) shape: Shape,
    /// Set by `#[serde(deny_unknown_fields)]`.
    pub(crate) denies_unknown: bool,
    /// The form that serde writes.
    pub(crate) results: Results,
    pub(crate) decoding: Decoding,
}

/// The form that serde writes.
pub(crate) enum Results {
    /// The form that it reads.
    Same,
    /// This form.
    Other(Shape),
    /// A form that the attributes don't tell.
    Unknown,
}

/// The JSON form of a type.
pub(crate) enum Shape {
    /// An object with these properties.
    Object(Vec<Field>),
    /// The form of this field's type.
    Transparent(Box<Field>),
    /// An array with these items.
    Tuple(Vec<Field>),
    /// `null`.
    Unit,
    /// One of these variants.
    Enum(Tagging, Vec<Variant>),
}

/// The representation of an enum.
#[derive(Clone)]
pub(crate) enum Tagging {
    /// `{"Variant": …}` or `"Variant"`
    External,
    /// `{"tag": "Variant", …}`
    Internal(String),
    /// `{"tag": "Variant", "content": …}`
    Adjacent(String, String),
    /// `…`
    None,
}

/// A variant of an enum.
pub(crate) struct Variant {
    pub(crate) ident: Ident,
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) description: Option<Description>,
    pub(crate) shape: Shape,
    /// The fields that are not read.
    pub(crate) unread: Vec<Unread>,
    /// Set by `#[serde(other)]`: it accepts all other tags.
    pub(crate) is_other: bool,
    /// Set by `#[serde(untagged)]` on the variant.
    pub(crate) is_untagged: bool,
    /// Set if its only field is skipped when serde reads it: a unit variant, except that an adjacently
    /// tagged one may have `null` as its content.
    pub(crate) is_skipped_newtype: bool,
    /// Set for a variant of a shape that serde writes.
    pub(crate) is_written: bool,
}

/// A property of an object, or an item of a tuple.
pub(crate) struct Field {
    /// Its number among all fields of the type.
    pub(crate) number: usize,
    /// The field in Rust, for messages.
    pub(crate) span: Span,
    pub(crate) member: Member,
    pub(crate) key: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) description: Option<Description>,
    /// The type of its schema, in which the type itself is a reference.
    pub(crate) ty: Type,
    /// The type that is decoded.
    pub(crate) decoded: Type,
    pub(crate) constraints: Constraints,
    /// Set if serde has a default for it.
    pub(crate) has_default: bool,
    pub(crate) default: Fallback,
    /// Set for a `Cow<str>` with `#[serde(borrow)]`.
    pub(crate) is_borrowed: bool,
    /// Set if serialization may skip it.
    pub(crate) is_skipped: bool,
    /// Set by `#[serde(flatten)]`.
    pub(crate) is_flat: bool,
    /// Set if serde reads it from a buffer: a flattened field, or one of a variant that is tagged or untagged.
    pub(crate) is_buffered: bool,
    /// Set for a field of a shape that serde writes. Its type need not be a `ToolType`.
    pub(crate) is_written: bool,
}

/// Keys that users may write on the type around the field.
const OF_FIELDS: [&str; 10] = [
    "range",
    "multiple_of",
    "length",
    "pattern",
    "format",
    "unique",
    "secret",
    "example",
    "schema",
    "as",
];

impl Field {
    /// Returns its name for messages: `days`, or `Days.0` in a tuple struct `Days`.
    pub(crate) fn name(&self, of: &Ident) -> String {
        match &self.member {
            Member::Named(name) => plain(name),
            Member::Unnamed(index) => format!("{}.{}", plain(of), index.index),
        }
    }
}

impl Data {
    pub(crate) fn new(input: &DeriveInput, errors: &mut Errors) -> Data {
        let mut keys = Keys::of_param(&input.attrs, errors);
        let krate = krate(&mut keys, errors);
        let described = keys.text_or_constant("description", errors);
        let is_by_serde = keys.flag("serde", errors).is_some_and(|(flag, _)| flag);
        for name in OF_FIELDS {
            if let Some(key) = keys.misplaced(name) {
                let message =
                    format!("`{name}` belongs to a field, not to the type; move it to the field");
                errors.span(key.span(), message);
            }
        }
        keys.finish(errors);
        let docs = Description::of_docs(&docs::lines(&input.attrs));
        let description = Description::read(described, docs, errors);

        let context = Ctxt::new();
        let private = Ident::new("__private", Span::call_site());
        let container = Container::from_ast(&context, input, Derive::Deserialize, &private);
        let (mut denies_unknown, mut decoding) = (false, Decoding::default());
        let (shape, results) = match (container, context.check()) {
            (Some(container), Ok(())) => {
                denies_unknown = container.attrs.deny_unknown_fields();
                decoding = Decoding::new(&container, is_by_serde);
                read_shape(&container, &mut decoding, errors)
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
                (Shape::Unit, Results::Same)
            }
        };
        Data {
            krate,
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            description,
            shape,
            denies_unknown,
            results,
            decoding,
        }
    }

    /// Returns all fields that are read, including the fields of variants.
    pub(crate) fn fields(&self) -> Vec<&Field> {
        self.shape.fields()
    }
}

impl Shape {
    /// Returns all fields, including the fields of variants.
    pub(crate) fn fields(&self) -> Vec<&Field> {
        let mut fields = Vec::new();
        self.collect(&mut fields);
        fields
    }

    fn collect<'s>(&'s self, fields: &mut Vec<&'s Field>) {
        match self {
            Shape::Object(own) | Shape::Tuple(own) => fields.extend(own),
            Shape::Transparent(field) => fields.push(field),
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

/// Returns the shapes of a type.
fn read_shape(
    container: &Container<'_>,
    decoding: &mut Decoding,
    errors: &mut Errors,
) -> (Shape, Results) {
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
        unread: Vec::new(),
        is_written: false,
        is_by_serde: decoding.by_serde.is_some(),
        is_buffered: false,
        written: Written::Same,
        errors,
    };
    let from = attrs.type_from().or(attrs.type_try_from());
    let tokens = |ty: Option<&Type>| ty.map(|ty| ty.to_token_stream().to_string());
    reader.differs_if(tokens(from) != tokens(attrs.type_into()));
    let shape = match from {
        // Arguments have the form of the type that is deserialized.
        Some(from) => Shape::Transparent(Box::new(field_of_type(from, false))),
        None => reader.shape(container),
    };
    decoding.unread = reader.unread;
    let results = match reader.written {
        Written::Same => Results::Same,
        Written::Unknown => Results::Unknown,
        Written::Other => read_written(container),
    };
    (shape, results)
}

/// Returns the shape that serde writes. Mistakes in the attributes are reported for the shape that serde
/// reads.
fn read_written(container: &Container<'_>) -> Results {
    let mut errors = Errors::default();
    let mut reader = Reader {
        own: &container.ident,
        fields: 0,
        unread: Vec::new(),
        is_written: true,
        is_by_serde: false,
        is_buffered: false,
        written: Written::Same,
        errors: &mut errors,
    };
    let shape = match container.attrs.type_into() {
        Some(into) => Shape::Transparent(Box::new(field_of_type(into, true))),
        None => reader.shape(container),
    };
    if matches!(reader.written, Written::Unknown) || !errors.is_empty() {
        Results::Unknown
    } else {
        Results::Other(shape)
    }
}

/// The difference between the shapes that serde writes and reads.
enum Written {
    Same,
    Other,
    Unknown,
}

/// The form of a struct whose tag serde writes: the form of an enum with one variant.
fn tagged(tag: &str, name: &MultiName, shape: Shape) -> Shape {
    let variant = Variant {
        ident: Ident::new("Written", Span::call_site()),
        name: name.serialize_name().value.clone(),
        aliases: Vec::new(),
        description: None,
        shape,
        unread: Vec::new(),
        is_other: false,
        is_untagged: false,
        is_skipped_newtype: false,
        is_written: true,
    };
    Shape::Enum(Tagging::Internal(tag.to_owned()), vec![variant])
}

/// A field with a type and nothing else.
fn field_of_type(ty: &Type, is_written: bool) -> Field {
    Field {
        number: 0,
        span: ty.span(),
        member: Member::Unnamed(0.into()),
        key: String::new(),
        aliases: Vec::new(),
        description: None,
        ty: ty.clone(),
        decoded: ty.clone(),
        constraints: Constraints::default(),
        has_default: false,
        default: Fallback::Any,
        is_borrowed: false,
        is_skipped: false,
        is_flat: false,
        is_buffered: false,
        is_written,
    }
}

struct Reader<'a> {
    own: &'a Ident,
    /// The number of fields read so far.
    fields: usize,
    /// The fields of the current struct or variant that are not read.
    unread: Vec<Unread>,
    /// `true` while the shape that serde writes is read.
    is_written: bool,
    /// `true` if serde decodes the type.
    is_by_serde: bool,
    /// `true` while the fields of a variant are read that serde decodes from a buffer.
    is_buffered: bool,
    written: Written,
    errors: &'a mut Errors,
}

impl Reader<'_> {
    /// Notes that serde writes another form than it reads.
    fn differs_if(&mut self, differs: bool) {
        if differs && matches!(self.written, Written::Same) {
            self.written = Written::Other;
        }
    }

    /// Returns `true` if something is not part of the shape, given whether it is read and written.
    fn skips(&mut self, skip_deserializing: bool, skip_serializing: bool) -> bool {
        self.differs_if(skip_deserializing != skip_serializing);
        if self.is_written {
            skip_serializing
        } else {
            skip_deserializing
        }
    }

    fn skips_field(&mut self, field: &AstField<'_>) -> bool {
        let attrs = &field.attrs;
        self.skips(attrs.skip_deserializing(), attrs.skip_serializing())
    }

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
                    .filter_map(|variant| {
                        let attrs = &variant.attrs;
                        let (read, written) =
                            (attrs.skip_deserializing(), attrs.skip_serializing());
                        self.is_buffered = self.is_by_serde
                            && (attrs.untagged() || !matches!(tagging, Tagging::External));
                        (!self.skips(read, written)).then(|| self.variant(variant))
                    })
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
                let others = fields.iter().filter(|field| !field.attrs.transparent());
                self.unread = others.map(Unread::new).collect();
                let field = fields.iter().find(|field| field.attrs.transparent());
                field.map_or(Shape::Unit, |field| self.transparent(field))
            }
            Ast::Struct(style, fields) => {
                let shape = self.body(*style, fields, all_default);
                match attrs.tag() {
                    // serde writes the tag of a struct but does not read it.
                    TagType::Internal { tag } if matches!(style, Style::Struct) => {
                        self.differs_if(true);
                        if self.is_written {
                            tagged(tag, attrs.name(), shape)
                        } else {
                            shape
                        }
                    }
                    _ => shape,
                }
            }
        }
    }

    fn variant(&mut self, variant: &AstVariant<'_>) -> Variant {
        let attrs = &variant.attrs;
        let original = variant.original;
        let mut keys = Keys::of_param(&original.attrs, self.errors);
        let described = keys.text_or_constant("description", self.errors);
        let constraints = Constraints::read(&mut keys, self.errors);
        keys.finish(self.errors);
        if let Some(narrowing) = constraints.narrowings.first() {
            self.errors.between(
                narrowing.ends,
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
        if attrs.serialize_with().is_some() {
            self.written = Written::Unknown;
        }
        self.differs_if(attrs.other());
        let docs = Description::of_docs(&docs::lines(&original.attrs));
        let (name, aliases) = self.names(attrs.name(), attrs.aliases());
        let shape = self.variant_body(variant);
        let is_newtype = matches!(variant.style, Style::Newtype);
        Variant {
            ident: variant.ident.clone(),
            name,
            aliases,
            description: Description::read(described, docs, self.errors),
            is_skipped_newtype: is_newtype && shape.is_unit() && !self.is_written,
            shape,
            unread: std::mem::take(&mut self.unread),
            is_other: attrs.other() && !self.is_written,
            is_untagged: attrs.untagged(),
            is_written: self.is_written,
        }
    }

    fn variant_body(&mut self, variant: &AstVariant<'_>) -> Shape {
        match variant.style {
            // To serde it is a unit variant.
            Style::Newtype if self.skips_field(&variant.fields[0]) => {
                self.unread = vec![Unread::new(&variant.fields[0])];
                Shape::Unit
            }
            style => self.body(style, &variant.fields, false),
        }
    }

    fn body(&mut self, style: Style, fields: &[AstField<'_>], all_default: bool) -> Shape {
        match style {
            Style::Struct => Shape::Object(self.fields(fields, all_default)),
            Style::Unit => Shape::Unit,
            // serde ignores that the field of a newtype struct is skipped.
            Style::Newtype => self.transparent(&fields[0]),
            Style::Tuple => {
                for field in fields {
                    if field.attrs.skip_serializing_if().is_some() {
                        self.written = Written::Unknown;
                    }
                    if !field.attrs.default().is_none() && !field.attrs.skip_deserializing() {
                        let message = "JSON Schema has no optional tuple items; write an `Option` \
                                       without `default`, or a struct with named fields";
                        self.errors.at(field.ty, message);
                    }
                }
                Shape::Tuple(self.fields(fields, false))
            }
        }
    }

    fn transparent(&mut self, field: &AstField<'_>) -> Shape {
        Shape::Transparent(Box::new(Field {
            // It is always there.
            has_default: false,
            ..self.field(field, false)
        }))
    }

    fn fields(&mut self, fields: &[AstField<'_>], all_default: bool) -> Vec<Field> {
        let mut read = Vec::new();
        for field in fields {
            if self.skips_field(field) {
                self.unread.push(Unread::new(field));
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
        let mut keys = Keys::of_param(original, self.errors);
        let described = keys.text_or_constant("description", self.errors);
        let is_recursive = keys
            .flag("recursive", self.errors)
            .is_some_and(|(flag, _)| flag);
        let mut constraints = Constraints::read(&mut keys, self.errors);
        keys.finish(self.errors);
        let (borrow, read_with) = match attrs.deserialize_with() {
            Some(with) if is_borrow(with) => (Some(with), None),
            with => (None, with),
        };
        if read_with.is_some() && constraints.schema_override.is_none() {
            self.errors.span(
                span,
                "the schema of a field with `with` is unknown; add `#[param(as = Type)]` or \
                 `#[param(schema = r#\"…\"#)]`",
            );
        }
        match (read_with.is_some(), attrs.serialize_with().is_some()) {
            (false, true) => self.written = Written::Unknown,
            (true, false) => {
                self.differs_if(true);
                if self.is_written {
                    constraints.schema_override = None;
                }
            }
            _ => {}
        }
        let has_override = constraints.schema_override.is_some();
        let (key, aliases) = self.names(attrs.name(), attrs.aliases());
        let mut ty = field.ty.clone();
        if !has_override {
            constraints.is_recursive = if is_recursive {
                replace_innermost(&mut ty)
            } else {
                replace_self(&mut ty, self.own)
            };
        }
        self.fields += 1;
        let docs = Description::of_docs(&docs::lines(original));
        Field {
            // Only fields that are read have a constant.
            number: if self.is_written { 0 } else { self.fields },
            span,
            member: field.member.clone(),
            key,
            aliases,
            description: Description::read(described, docs, self.errors),
            ty,
            decoded: field.ty.clone(),
            constraints,
            default: Fallback::new(field),
            is_borrowed: borrow.is_some(),
            has_default: all_default || !attrs.default().is_none(),
            is_skipped: attrs.skip_serializing() || attrs.skip_serializing_if().is_some(),
            is_flat: attrs.flatten(),
            is_buffered: (self.is_buffered || attrs.flatten()) && !self.is_written && !has_override,
            is_written: self.is_written,
        }
    }

    /// Returns the name and the aliases of the shape.
    fn names(&mut self, name: &MultiName, aliases: &BTreeSet<Name>) -> (String, Vec<String>) {
        let read = name.deserialize_name().value.clone();
        let written = &name.serialize_name().value;
        self.differs_if(*written != read);
        if self.is_written {
            return (written.clone(), Vec::new());
        }
        // serde's aliases include the name.
        let others = aliases.iter().map(|alias| alias.value.clone());
        let others = others.filter(|alias| *alias != read).collect();
        (read, others)
    }
}

/// Replaces each use of the type itself by a reference to it, because a schema can't contain itself.
/// Returns `true` if there was one.
fn replace_self(ty: &mut Type, own: &Ident) -> bool {
    match ty {
        Type::Path(path) => {
            let last = path.path.segments.last();
            if last.is_some_and(|last| last.ident == *own || last.ident == "Self") {
                *ty = parse_quote_spanned!(site()=> __tool_core::TypeReference<#ty>);
                return true;
            }
            replace_self_in(inner_types(path), own)
        }
        Type::Tuple(tuple) => replace_self_in(tuple.elems.iter_mut(), own),
        Type::Array(array) => replace_self(&mut array.elem, own),
        Type::Slice(slice) => replace_self(&mut slice.elem, own),
        Type::Reference(reference) => replace_self(&mut reference.elem, own),
        Type::Paren(paren) => replace_self(&mut paren.elem, own),
        Type::Group(group) => replace_self(&mut group.elem, own),
        _ => false,
    }
}

/// Replaces in each of these types.
fn replace_self_in<'t>(types: impl Iterator<Item = &'t mut Type>, own: &Ident) -> bool {
    types.fold(false, |replaced, ty| replace_self(ty, own) | replaced)
}

/// Replaces the innermost type by a reference to it, the last one if there are several.
fn replace_innermost(ty: &mut Type) -> bool {
    if let Type::Path(path) = ty
        && let Some(inner) = inner_types(path).last()
    {
        return replace_innermost(inner);
    }
    *ty = parse_quote_spanned!(site()=> __tool_core::TypeReference<#ty>);
    true
}

/// The types between the angle brackets at the end of a path.
fn inner_types(path: &mut syn::TypePath) -> impl Iterator<Item = &mut Type> {
    let last = path.path.segments.last_mut();
    let arguments = last.and_then(|last| match &mut last.arguments {
        PathArguments::AngleBracketed(arguments) => Some(arguments.args.iter_mut()),
        _ => None,
    });
    let arguments = arguments.into_iter().flatten();
    arguments.filter_map(|argument| match argument {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    })
}
