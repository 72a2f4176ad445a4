//! `Decode` for structs and enums.

use std::collections::HashSet;
use std::mem;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{Generics, Member, Token, Type, parse_quote, parse_quote_spanned};

use super::bounds::{add_bounds, is_written_so};
use crate::model::data::{Data, Field, Shape, Tagging, Variant};
use crate::model::decoding::{Conversion, Fallback, Unread};
use crate::util::names::plain;
use crate::util::site::{code, respanned, site, string, trees_at};
use crate::util::tokens::{add_predicate, ends};

/// The most fields of a tuple that the runtime fills.
const MOST_FIELDS: usize = 12;

// Input:  struct Place { name: String, #[serde(default)] height: i32 }
// Output: impl<'__de> Decode<'__de> for Place where String: Decode<'__de>, i32: Decode<'__de>, … {
//             fn decode(__reader: &mut Reader<'__de>) -> Result<Self, ReadError> {
//                 __reader.structure(
//                     <Self as ToolType>::SCHEMA,
//                     |(__0, __1,): (String, Absent<i32>,)| Place { name: __0, height: __1.or_default() },
//                 )
//             }
//         }
pub(super) fn decode(data: &Data) -> TokenStream {
    let mut generics = data.generics.clone();
    add_bounds(data, &mut generics);
    match &data.decoding.by_serde {
        Some(reason) => by_serde(data, generics, reason),
        None => {
            decode_bounds(data, &mut generics);
            implementation(data, generics, &body(data))
        }
    }
}

/// The implementation for a type that has errors.
pub(super) fn decode_nothing(data: &Data) -> TokenStream {
    let generics = data.generics.clone();
    implementation(data, generics, &code!(__reader.rejected()))
}

fn implementation(data: &Data, mut generics: Generics, body: &TokenStream) -> TokenStream {
    let ident = &data.ident;
    let (_, arguments, _) = data.generics.split_for_impl();
    for lifetime in &data.decoding.borrows {
        add_predicate(
            &mut generics,
            parse_quote_spanned!(site()=> '__de: #lifetime),
        );
    }
    add_lifetime(&mut generics);
    let (parameters, _, conditions) = generics.split_for_impl();
    code! {
        #[automatically_derived]
        #[allow(clippy::type_repetition_in_bounds)]
        impl #parameters __tool_core::Decode<'__de> for #ident #arguments #conditions {
            fn decode(
                __reader: &mut __tool_core::Reader<'__de>,
            ) -> __tool_core::Result<Self, __tool_core::ReadError> {
                #body
            }
        }
    }
}

/// Adds `'__de` to the parameters, with brackets and a comma that have the span of generated tokens.
fn add_lifetime(generics: &mut Generics) {
    let mut parameters = Punctuated::new();
    parameters.push_value(parse_quote_spanned!(site()=> '__de));
    if !generics.params.is_empty() {
        parameters.push_punct(Token![,](site()));
        parameters.extend(mem::take(&mut generics.params).into_pairs());
    }
    generics.params = parameters;
    generics.lt_token.get_or_insert(Token![<](site()));
    generics.gt_token.get_or_insert(Token![>](site()));
}

// Output: #[diagnostic::on_unimplemented(message = "`Place` must derive `serde::Deserialize`, …")]
//         trait Deserialized<'de>: Deserialize<'de> {}
//         impl<'de, T: Deserialize<'de>> Deserialized<'de> for T {}
//         impl<'__de> Decode<'__de> for Place where Self: Deserialized<'__de> { … }
//
// A missing `Deserialize` is reported where the type is decoded, with the reason why it is needed.
fn by_serde(data: &Data, mut generics: Generics, reason: &str) -> TokenStream {
    let name = plain(&data.ident);
    let message = string(&format!(
        "`{name}` must derive `serde::Deserialize`, because serde decodes it: {reason}"
    ));
    let of = Ident::new("__Deserialized", site());
    add_predicate(
        &mut generics,
        parse_quote_spanned!(site()=> Self: #of<'__de>),
    );
    let body = code!(<Self as __tool_core::Deserialize<'__de>>::deserialize(
        __reader
    ));
    let implementation = implementation(data, generics, &body);
    code! {
        #[diagnostic::on_unimplemented(message = #message, label = "does not implement `Deserialize`")]
        trait #of<'de>: __tool_core::Deserialize<'de> {}

        #[diagnostic::do_not_recommend]
        impl<'de, T: __tool_core::Deserialize<'de>> #of<'de> for T {}

        #implementation
    }
}

/// Adds the bounds of the fields. The lifetime delays their check, because a type that is only returned
/// need not be decodable.
fn decode_bounds(data: &Data, generics: &mut Generics) {
    let names: Vec<_> = data
        .generics
        .type_params()
        .map(|one| one.ident.clone())
        .collect();
    let mut bounds = Vec::new();
    let mut add = |bound: TokenStream| bounds.push(bound);
    for field in data.fields() {
        // With this span, "overflow evaluating the requirement" shows the fields of types that contain each other.
        let (first, last) = ends(&field.decoded);
        let span = site().located_at(first);
        let close = trees_at!(site().located_at(last)=> >);
        let (ty, decoded) = (&field.decoded, item(field));
        if field.constraints.is_recursive {
            // A bound on the field's type would be circular.
            for name in &names {
                add(code!(#name: __tool_core::Decode<'__de>));
            }
        } else {
            add(quote_spanned!(span=> #decoded: __tool_core::Decode<'__de #close));
        }
        let is_of_type = match &field.default {
            Fallback::OfType => true,
            Fallback::Any => field.has_default && data.decoding.default.is_none(),
            Fallback::Function(_) => false,
        };
        if field.has_default && is_of_type {
            add(code!(#ty: __tool_core::HasDefault<'__de>));
        }
    }
    if let (Shape::Transparent(field), Some(conversion)) = (&data.shape, &data.decoding.conversion)
    {
        let ty = &field.decoded;
        add(match conversion {
            Conversion::From => code!(Self: __tool_core::HasFrom<'__de, #ty>),
            Conversion::TryFrom => code!(Self: __tool_core::HasTryFrom<'__de, #ty>),
        });
    }
    let variants = match &data.shape {
        Shape::Enum(_, variants) => &**variants,
        _ => &[],
    };
    let unread = variants.iter().flat_map(|variant| &variant.unread);
    for one in data.decoding.unread.iter().chain(unread) {
        let ty = &one.ty;
        match one.default {
            Fallback::Function(_) => {}
            Fallback::Any if data.decoding.default.is_some() => {}
            _ => add(code!(#ty: __tool_core::HasDefault<'__de>)),
        }
    }
    if let Some(Fallback::OfType) = data.decoding.default {
        add(code!(Self: __tool_core::HasDefault<'__de>));
    }
    let mut spelled = HashSet::new();
    for bound in bounds {
        if spelled.insert(bound.to_string()) {
            add_predicate(generics, parse_quote!(#bound));
        }
    }
}

fn body(data: &Data) -> TokenStream {
    let ident = &data.ident;
    let own = code!(<Self as __tool_core::ToolType>::SCHEMA);
    let decoding = &data.decoding;
    let build = |shape: &Shape, is_tagged| {
        build(
            &code!(#ident),
            shape,
            is_tagged,
            &decoding.unread,
            decoding.default.as_ref(),
        )
    };
    let exact = is_exact(&data.shape, |field| &field.decoded);
    match (&data.shape, &decoding.conversion) {
        (Shape::Transparent(field), Some(conversion)) => {
            let ty = &field.decoded;
            let (function, convert) = match conversion {
                Conversion::From => ("wrapped", code!(__tool_core::HasFrom::convert)),
                Conversion::TryFrom => ("converted", code!(__tool_core::HasTryFrom::try_convert)),
            };
            let function = Ident::new(function, site());
            code!(__reader.#function(#own, #exact, |__value: #ty| #convert(__value)))
        }
        (shape @ Shape::Object(_), _) => {
            let build = build(shape, false);
            code!(__reader.structure(#own, #build))
        }
        (Shape::Enum(tagging, variants), _) => {
            let arms = arms(data, tagging, variants);
            let is_unit = variants.iter().all(|variant| variant.shape.is_unit());
            let mut number = code!(__variant.number);
            let variant = match tagging {
                Tagging::Internal(tag) => {
                    let tag = string(tag);
                    code!(internal(#own, #tag))
                }
                Tagging::Adjacent(tag, _) => {
                    let tag = string(tag);
                    code!(adjacent(#own, #tag))
                }
                _ if is_unit => {
                    number = code!(__variant);
                    code!(unit(#own))
                }
                _ => code!(external(#own)),
            };
            code! {
                let __variant = match __reader.#variant {
                    __tool_core::Ok(__variant) => __variant,
                    __tool_core::Err(__error) => return __tool_core::Err(__error),
                };
                match #number {
                    #(#arms)*
                    _ => __reader.rejected(),
                }
            }
        }
        (shape, _) => {
            let build = build(shape, false);
            code!(__reader.wrapped(#own, #exact, #build))
        }
    }
}

// Output: 0 => Ok(Unit::Celsius),
//         1 => __reader.content(__variant, |__0: f64| Unit::Other { 0: __0 }),
fn arms(data: &Data, tagging: &Tagging, variants: &[Variant]) -> Vec<TokenStream> {
    let is_external = matches!(tagging, Tagging::External);
    let mut variants: Vec<_> = variants.iter().collect();
    if is_external {
        // The order of the schema: unit variants come first, and the one for other values last of them.
        variants.sort_by_key(|one| (!one.shape.is_unit(), one.is_other));
    }
    let arms = variants.iter().enumerate().map(|(at, variant)| {
        let (number, ident, name) = (respanned(at), &data.ident, &variant.ident);
        let path = code!(#ident::#name);
        let is_tagged = matches!(tagging, Tagging::Internal(_));
        let build = |is_tagged| build(&path, &variant.shape, is_tagged, &variant.unread, None);
        let value = match (&variant.shape, tagging) {
            (Shape::Transparent(_), Tagging::Internal(tag)) => {
                let (tag, build) = (string(tag), build(false));
                let exact = is_exact(&variant.shape, |field| &field.decoded);
                code! {
                    __reader.beside(<Self as __tool_core::ToolType>::SCHEMA, #exact, #tag, #build)
                }
            }
            (Shape::Unit, Tagging::External | Tagging::Adjacent(..)) => {
                let value = construct(&path, &[], &variant.unread, None);
                code!(__tool_core::Ok(#value))
            }
            (Shape::Object(_) | Shape::Unit, _) => {
                let build = build(is_tagged);
                code!(__reader.fields(__variant, #build))
            }
            _ => {
                let build = build(false);
                code!(__reader.content(__variant, #build))
            }
        };
        code!(#number => #value,)
    });
    arms.collect()
}

// Output: |(__0, __1,): (String, Absent<i32>,)| Place { name: __0, height: __1.or_default() }
fn build(
    path: &TokenStream,
    shape: &Shape,
    is_tagged: bool,
    unread: &[Unread],
    default: Option<&Fallback>,
) -> TokenStream {
    match shape {
        Shape::Transparent(field) => {
            let ty = item(field);
            let (local, value) = (local(0), construct(path, &[&**field], unread, default));
            code!(|#local: #ty| #value)
        }
        Shape::Object(fields) => {
            let fields: Vec<_> = fields.iter().collect();
            let value = construct(path, &fields, unread, default);
            let items = fields.iter().enumerate().map(|(at, field)| {
                let (local, ty) = (local(at), item(field));
                if field.has_default {
                    (code!(#local), code!(__tool_core::Absent<#ty>))
                } else {
                    (code!(#local), ty)
                }
            });
            let tag = is_tagged.then(|| (code!(_), code!(__tool_core::Tag)));
            let (pattern, ty) = tuple(&tag.into_iter().chain(items).collect::<Vec<_>>());
            code!(|#pattern: #ty| #value)
        }
        Shape::Tuple(fields) => {
            let fields: Vec<_> = fields.iter().collect();
            let value = construct(path, &fields, unread, default);
            // `()` is `null`.
            if fields.is_empty() {
                return code!(|[]: [(); 0]| #value);
            }
            let locals = (0..fields.len()).map(local);
            let types = fields.iter().map(|field| item(field));
            code!(|(#(#locals,)*): (#(#types,)*)| #value)
        }
        _ => {
            let value = construct(path, &[], unread, default);
            if is_tagged {
                code!(|(_,): (__tool_core::Tag,)| #value)
            } else {
                code!(|()| #value)
            }
        }
    }
}

/// The pattern and the type of fields. More than the largest tuple are nested.
fn tuple(items: &[(TokenStream, TokenStream)]) -> (TokenStream, TokenStream) {
    let (own, others) = items.split_at(items.len().min(MOST_FIELDS));
    let (locals, types): (Vec<_>, Vec<_>) = own.iter().cloned().unzip();
    let (pattern, ty) = (code!((#(#locals,)*)), code!((#(#types,)*)));
    if others.is_empty() {
        return (pattern, ty);
    }
    let (next_pattern, next_ty) = tuple(others);
    (
        code!(__tool_core::Both(#pattern, #next_pattern)),
        code!(__tool_core::Both<#ty, #next_ty>),
    )
}

/// The name or the position of a field. serde gives positions the span of the macro.
fn member(member: &Member) -> TokenStream {
    match member {
        Member::Named(name) => name.to_token_stream(),
        Member::Unnamed(position) => respanned(position),
    }
}

// Output: Place { name: __0, height: __1.or_default() }
fn construct(
    path: &TokenStream,
    fields: &[&Field],
    unread: &[Unread],
    default: Option<&Fallback>,
) -> TokenStream {
    let of_struct = Ident::new("__default", site());
    let mut uses_default = false;
    let mut members = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        let (member, local) = (member(&field.member), local(at));
        let value = if is_wrapped(field) {
            code!(__tool_core::Wrapper::inner(#local))
        } else {
            code!(#local)
        };
        let value = match &field.default {
            _ if !field.has_default => value,
            Fallback::Function(path) => code!(#value.or_else(#path)),
            Fallback::Any if default.is_some() => {
                uses_default = true;
                code!(#value.or(#of_struct.#member))
            }
            _ => code!(#value.or_default()),
        };
        members.push(code!(#member: #value));
    }
    for one in unread {
        let member = member(&one.member);
        let value = match &one.default {
            Fallback::Function(path) => code!(#path()),
            Fallback::Any if default.is_some() => {
                uses_default = true;
                code!(#of_struct.#member)
            }
            _ => {
                let ty = &one.ty;
                code!(<#ty as __tool_core::HasDefault<'__de>>::make())
            }
        };
        members.push(code!(#member: #value));
    }
    let value = code!(#path { #(#members),* });
    if !uses_default {
        return value;
    }
    let default = match default {
        Some(Fallback::Function(path)) => code!(#path()),
        _ => code!(<Self as __tool_core::HasDefault<'__de>>::make()),
    };
    code!({
        let #of_struct: Self = #default;
        #value
    })
}

fn local(at: usize) -> Ident {
    format_ident!("__{at}", span = site())
}

/// The type that is decoded for a field.
fn item(field: &Field) -> TokenStream {
    let ty = &field.decoded;
    if field.constraints.schema_override.is_some() {
        code!(__tool_core::BySerde<#ty>)
    } else if field.is_borrowed {
        code!(__tool_core::Str<'__de>)
    } else {
        ty.to_token_stream()
    }
}

fn is_wrapped(field: &Field) -> bool {
    field.constraints.schema_override.is_some() || field.is_borrowed
}

// Input:  struct Pair(String, f64);
// Output: { use NotExact as _; Exactness::<String>::VALUE && Exactness::<f64>::VALUE }
//
/// Whether decoding accepts exactly the values that match the schema. Named fields are validated one by
/// one.
pub(super) fn is_exact<'f>(shape: &'f Shape, ty: impl Fn(&'f Field) -> &'f Type) -> TokenStream {
    let fields = match shape {
        Shape::Transparent(field) => std::slice::from_ref(&**field),
        Shape::Tuple(fields) => fields,
        _ => &[],
    };
    if !fields.iter().all(is_written_so) {
        return code!(false);
    }
    match fields {
        [] => code!(true),
        _ => {
            let types = fields.iter().map(ty);
            code!({
                #[allow(unused_imports)]
                use __tool_core::NotExact as _;
                #(__tool_core::Exactness::<#types>::VALUE)&&*
            })
        }
    }
}
