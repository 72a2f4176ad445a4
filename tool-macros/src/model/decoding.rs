//! How values of a type that derives `ToolType` are decoded.

use proc_macro2::TokenStream;
use quote::ToTokens;
use serde_derive_internals::ast::{Container, Data as Ast, Field as AstField, Style};
use serde_derive_internals::attr::{Default, Identifier, TagType};
use syn::{Lifetime, Member};

/// The additions of the type's own decoding to its shape.
#[derive(Default)]
pub(crate) struct Decoding {
    /// The reason why serde decodes the type, if it does.
    pub(crate) by_serde: Option<String>,
    pub(crate) conversion: Option<Conversion>,
    /// The lifetimes of the fields that borrow from the arguments.
    pub(crate) borrows: Vec<Lifetime>,
    /// The default of a struct whose fields may all be absent.
    pub(crate) default: Option<Fallback>,
    /// The fields of a struct that are not read.
    pub(crate) unread: Vec<Unread>,
}

/// The conversion from the type that is read.
pub(crate) enum Conversion {
    /// `#[serde(from = …)]`
    From,
    /// `#[serde(try_from = …)]`, which may reject values that match the schema.
    TryFrom,
}

/// A field that is not read.
pub(crate) struct Unread {
    pub(crate) member: Member,
    pub(crate) ty: syn::Type,
    pub(crate) default: Fallback,
}

/// The value of an absent field, or of a struct for its absent fields.
pub(crate) enum Fallback {
    /// The field's value in the struct's default, or else the default of the type.
    Any,
    /// The default of the type.
    OfType,
    /// The return value of a function.
    Function(TokenStream),
}

/// The most items of a tuple that are decoded.
const MOST_ITEMS: usize = 12;

impl Decoding {
    pub(crate) fn new(container: &Container<'_>, is_asked: bool) -> Decoding {
        let attrs = &container.attrs;
        let from = attrs.type_from().map(|_| Conversion::From);
        let try_from = attrs.type_try_from().map(|_| Conversion::TryFrom);
        let fields = container.data.all_fields();
        let borrows = fields.flat_map(|field| field.attrs.borrowed_lifetimes().iter().cloned());
        let mut borrows: Vec<_> = borrows.collect();
        borrows.sort();
        borrows.dedup();
        Decoding {
            by_serde: if is_asked {
                Some(String::from("it has `#[param(serde)]`"))
            } else {
                reason(container)
            },
            conversion: from.or(try_from),
            borrows,
            default: match attrs.default() {
                Default::None => None,
                Default::Default => Some(Fallback::OfType),
                Default::Path(path) => Some(Fallback::Function(path.to_token_stream())),
            },
            unread: Vec::new(),
        }
    }
}

impl Unread {
    pub(crate) fn new(field: &AstField<'_>) -> Unread {
        Unread {
            member: field.member.clone(),
            ty: field.ty.clone(),
            default: Fallback::new(field),
        }
    }
}

impl Fallback {
    pub(crate) fn new(field: &AstField<'_>) -> Fallback {
        match field.attrs.default() {
            Default::None => Fallback::Any,
            Default::Default => Fallback::OfType,
            Default::Path(path) => Fallback::Function(path.to_token_stream()),
        }
    }
}

/// Returns the reason why serde has to decode a type.
fn reason(container: &Container<'_>) -> Option<String> {
    let attrs = &container.attrs;
    if attrs.de_bound().is_some() {
        return Some("it has a `#[serde(bound)]`".into());
    }
    if !matches!(attrs.identifier(), Identifier::No) {
        return Some("it is an identifier of serde".into());
    }
    if attrs.type_from().or(attrs.type_try_from()).is_some() {
        return None;
    }
    match &container.data {
        Ast::Struct(_, fields) if attrs.transparent() => fields
            .iter()
            .filter(|field| field.attrs.transparent())
            .find_map(reason_of_field),
        Ast::Struct(style, fields) => reason_of_fields(*style, fields),
        Ast::Enum(_) if matches!(attrs.tag(), TagType::None) => {
            Some("it is `#[serde(untagged)]`".into())
        }
        Ast::Enum(variants) => {
            let mut read = variants
                .iter()
                .filter(|one| !one.attrs.skip_deserializing());
            read.find_map(|variant| {
                let attrs = &variant.attrs;
                let ident = &variant.ident;
                if attrs.untagged() {
                    return Some(format!("its variant `{ident}` is `#[serde(untagged)]`"));
                }
                if attrs.de_bound().is_some() {
                    return Some(format!("its variant `{ident}` has a `#[serde(bound)]`"));
                }
                reason_of_fields(variant.style, &variant.fields)
            })
        }
    }
}

fn reason_of_fields(style: Style, fields: &[AstField<'_>]) -> Option<String> {
    if matches!(style, Style::Tuple) && fields.len() > MOST_ITEMS {
        return Some(format!(
            "it has more than {MOST_ITEMS} fields without names"
        ));
    }
    let mut read = fields
        .iter()
        .filter(|field| !field.attrs.skip_deserializing());
    read.find_map(reason_of_field)
}

fn reason_of_field(field: &AstField<'_>) -> Option<String> {
    let attrs = &field.attrs;
    let member = &field.member.to_token_stream();
    let with = attrs.deserialize_with().filter(|with| !is_borrow(with));
    if attrs.flatten() {
        Some(format!("its field `{member}` is `#[serde(flatten)]`"))
    } else if with.is_some() {
        Some(format!("its field `{member}` is decoded `with` a function"))
    } else if attrs.de_bound().is_some() {
        Some(format!("its field `{member}` has a `#[serde(bound)]`"))
    } else {
        None
    }
}

/// Returns `true` for the function that `#[serde(borrow)]` sets for a `Cow<str>`. It accepts the same
/// strings.
pub(crate) fn is_borrow(with: &syn::ExprPath) -> bool {
    let mut names = with.path.segments.iter().map(|segment| &segment.ident);
    names.next().is_some_and(|first| first == "_serde")
        && names.last().is_some_and(|last| last == "borrow_cow_str")
}
