//! `ToolType` for structs and enums.

mod variants;

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse_quote;

use super::member::Member;
use super::{block, text};
use crate::model::data::{Data, Field, Shape, Tagging};
use crate::model::types::ends;

// Input:  struct Place<T> { … }
// Output: const _: () = {
//             impl<T> ToolType for Place<T> where Vec<T>: ToolType { const SCHEMA: &'static Schema = &…; }
//             impl<T> Recurse for Place<T> { const NAME: &'static str = "Place"; }
//         };
pub(super) fn implementation(
    data: &Data,
    schema: &TokenStream,
    exact: &TokenStream,
) -> TokenStream {
    let Data { krate, ident, .. } = data;
    let name = ident.to_string();
    let name = name.trim_start_matches("r#");
    let (parameters, arguments, conditions) = data.generics.split_for_impl();
    let mut generics = data.generics.clone();
    bound(data, &mut generics);
    let (_, _, bounds) = generics.split_for_impl();
    let constants = constants(data);
    let key = map_key(data);
    let implementation = quote! {
        #[automatically_derived]
        impl #parameters __tool_core::ToolType for #ident #arguments #bounds {
            const SCHEMA: &'static __tool_core::Schema = &const { #schema };
            const EXACT: ::core::primitive::bool = #exact;
        }

        #[automatically_derived]
        impl #parameters __tool_core::Recurse for #ident #arguments #conditions {
            const NAME: &'static ::core::primitive::str = #name;
        }

        #key
        #constants
    };
    block(krate, &[], &implementation)
}

// Input:  enum Unit { Celsius }
// Output: impl MapKey for Unit {}
fn map_key(data: &Data) -> Option<TokenStream> {
    let ident = &data.ident;
    let (parameters, arguments, _) = data.generics.split_for_impl();
    match &data.shape {
        Shape::Enum(Tagging::External, variants)
            if variants.iter().all(|variant| variant.shape.is_unit()) =>
        {
            Some(quote!(impl #parameters __tool_core::MapKey for #ident #arguments {}))
        }
        Shape::Same(field) if is_bare(field) => {
            let mut generics = data.generics.clone();
            let ty = &field.ty;
            // With the lifetime, rustc asks only where the type is a key whether this holds.
            generics
                .make_where_clause()
                .predicates
                .push(parse_quote!(for<'__key> #ty: __tool_core::MapKey));
            let (_, _, conditions) = generics.split_for_impl();
            Some(quote!(impl #parameters __tool_core::MapKey for #ident #arguments #conditions {}))
        }
        _ => None,
    }
}

// Input:  struct Place { name: String, latitude: f64, longitude: f64 }
// Output: { use NotExact as _; Exactness::<String>::VALUE && Exactness::<f64>::VALUE }
//
// Where serde's derived code does what the schema says, it is up to the fields.
pub(super) fn exact(data: &Data) -> TokenStream {
    if !is_read_plainly(&data.shape) {
        return quote!(false);
    }
    let mut types = Vec::new();
    let mut spelled = HashSet::new();
    for field in data.fields() {
        if spelled.insert(field.ty.to_token_stream().to_string()) {
            types.push(&field.ty);
        }
    }
    match &types[..] {
        [] => quote!(true),
        types => quote!({
            #[allow(unused_imports)]
            use __tool_core::NotExact as _;
            #(__tool_core::Exactness::<#types>::VALUE)&&*
        }),
    }
}

/// Whether serde reads a shape member by member and adds no rule of its own to the schemas of
/// their types.
fn is_read_plainly(shape: &Shape) -> bool {
    let all = |fields: &[Field]| fields.iter().all(|field| is_bare(field) && !field.is_flat);
    match shape {
        Shape::Object(fields) | Shape::Tuple(fields) => all(fields),
        Shape::Same(field) => is_bare(field),
        Shape::Unit => true,
        Shape::Enum(Tagging::External, variants) => variants.iter().all(|variant| {
            !variant.is_untagged && !variant.is_other && is_read_plainly(&variant.shape)
        }),
        Shape::Enum(..) => false,
    }
}

/// Whether a field's schema is that of its type.
fn is_bare(field: &Field) -> bool {
    field.constraints.stand_in.is_none()
        && field.constraints.narrowings.is_empty()
        && !field.constraints.is_recursive
}

/// Asks of every field whose type depends on a parameter that it has a schema.
fn bound(data: &Data, generics: &mut syn::Generics) {
    let names: Vec<Ident> = data
        .generics
        .type_params()
        .map(|p| p.ident.clone())
        .collect();
    if names.is_empty() {
        return;
    }
    let clause = generics.make_where_clause();
    for field in data.fields() {
        let ty = &field.ty;
        if is_bare(field) && mentions(ty.to_token_stream(), &names) {
            clause
                .predicates
                .push(parse_quote!(#ty: __tool_core::ToolType));
        } else if field.constraints.is_recursive {
            // The type itself would be asked whether it is what it is to become.
            for name in &names {
                clause
                    .predicates
                    .push(parse_quote!(#name: __tool_core::ToolType));
            }
        }
    }
}

fn mentions(tokens: TokenStream, names: &[Ident]) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => names.contains(&ident),
        TokenTree::Group(group) => mentions(group.stream(), names),
        _ => false,
    })
}

/// What is said about single fields. It can't stand where the type has parameters.
fn constants(data: &Data) -> TokenStream {
    if !data.generics.params.is_empty() {
        return TokenStream::new();
    }
    let constants = data.fields().into_iter().map(|field| {
        let member = member(data, field);
        let checks = member.checks();
        let definition = member.definition();
        quote!(#definition #(#checks)*)
    });
    constants.collect()
}

// Input:  struct Place { latitude: f64 }
// Output: named(Schema::object(const { &[property::<f64>(…)] }).describe(…), "Place")
pub(super) fn schema(data: &Data) -> TokenStream {
    let name = data.ident.to_string();
    let name = name.trim_start_matches("r#");
    let schema = shape(data, &data.shape);
    let described = match &data.description {
        Some(description) => {
            let description = text(description);
            quote!((#schema).describe(#description))
        }
        None => schema,
    };
    let input_only = data.is_input_only;
    let named = quote!(__tool_core::named(#described, #name, #input_only));
    match data.is_tried {
        true => quote!({
            #[allow(unused_imports)]
            use __tool_core::NoDecodeCheck as _;
            __tool_core::with_decode_check(#named, __tool_core::DecodeCheck::<Self>::VALUE)
        }),
        false => named,
    }
}

/// The schema of a shape, by value.
fn shape(data: &Data, shape: &Shape) -> TokenStream {
    let schema = quote!(__tool_core::Schema);
    match shape {
        Shape::Object(fields) => object(data, &[], fields),
        Shape::Same(field) => {
            let inner = member(data, field).schema();
            quote!(*#inner)
        }
        Shape::Tuple(fields) => {
            let items = fields.iter().map(|field| member(data, field).schema());
            quote!(#schema::tuple(const { &[#(#items),*] }))
        }
        Shape::Unit => quote!(#schema::NULL),
        Shape::Enum(tagging, variants) => variants::schema(data, tagging, variants),
    }
}

/// An object of some members that are ready, and of fields.
fn object(data: &Data, before: &[TokenStream], fields: &[Field]) -> TokenStream {
    let properties = before
        .iter()
        .cloned()
        .chain(fields.iter().map(|field| property(data, field)));
    let denies_unknown = data.denies_unknown;
    quote!(__tool_core::structure(const { &[#(#properties),*] }, #denies_unknown))
}

fn property(data: &Data, field: &Field) -> TokenStream {
    let member = member(data, field);
    if field.is_flat {
        let schema = member.schema();
        return quote!(__tool_core::Property::flatten(#schema));
    }
    let mut property = member.property();
    if field.has_default {
        property = quote!(#property.optional());
    }
    if field.is_skipped {
        property = quote!(#property.skipped_in_results());
    }
    if !field.aliases.is_empty() {
        let aliases = &field.aliases;
        property = quote!(#property.alias(&[#(#aliases),*]));
    }
    property
}

fn member<'m>(data: &Data, field: &'m Field) -> Member<'m> {
    Member {
        key: &field.key,
        description: field.description.as_deref(),
        ty: field.ty.to_token_stream(),
        ends: ends(&field.ty),
        constraints: &field.constraints,
        constant: data
            .generics
            .params
            .is_empty()
            .then(|| format_ident!("__TOOL_NARROW_{}", field.number)),
        is_optional: false,
        judge: None,
    }
}
