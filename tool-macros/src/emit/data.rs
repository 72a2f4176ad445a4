//! `ToolType` for structs and enums.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::parse_quote;

use super::member::Member;
use super::{block, text};
use crate::model::data::{Data, Field, Shape, Tagging, Variant};

// Input:  struct Place<T> { … }
// Output: const _: () = {
//             impl<T> ToolType for Place<T> where Vec<T>: ToolType { const SCHEMA: &'static Schema = &…; }
//             impl<T> Recurse for Place<T> { const NAME: &'static str = "Place"; }
//         };
pub(super) fn implementation(data: &Data, schema: &TokenStream) -> TokenStream {
    let Data { krate, ident, .. } = data;
    let name = ident.to_string();
    let name = name.trim_start_matches("r#");
    let (parameters, arguments, conditions) = data.generics.split_for_impl();
    let mut generics = data.generics.clone();
    bound(data, &mut generics);
    let (_, _, bounds) = generics.split_for_impl();
    let exact = match &data.shape {
        // A newtype is decoded as what it holds.
        Shape::Same(field) if is_bare(field) => {
            let ty = &field.ty;
            quote!(<#ty as __tool_core::ToolType>::EXACT)
        }
        _ => quote!(false),
    };
    let checks = checks(data);
    let implementation = quote! {
        #[automatically_derived]
        impl #parameters __tool_core::ToolType for #ident #arguments #bounds {
            const SCHEMA: &'static __tool_core::schema::Schema = &const { #schema };
            const EXACT: bool = #exact;
        }

        #[automatically_derived]
        impl #parameters __tool_core::__private::Recurse for #ident #arguments #conditions {
            const NAME: &'static str = #name;
        }

        #checks
    };
    block(krate, &[], &implementation)
}

/// Whether a field's schema is that of its type.
fn is_bare(field: &Field) -> bool {
    field.constraints.stand_in.is_none()
        && field.constraints.narrowings.is_empty()
        && !field.constraints.is_recursive
}

/// Asks of every field whose type depends on a parameter that it has a schema.
fn bound(data: &Data, generics: &mut syn::Generics) {
    let names: Vec<Ident> = data.generics.type_params().map(|p| p.ident.clone()).collect();
    if names.is_empty() {
        return;
    }
    let clause = generics.make_where_clause();
    for field in data.fields() {
        let ty = &field.ty;
        if is_bare(field) && mentions(ty.to_token_stream(), &names) {
            clause.predicates.push(parse_quote!(#ty: __tool_core::ToolType));
        } else if field.constraints.is_recursive {
            // The type itself would be asked whether it is what it is to become.
            for name in &names {
                clause.predicates.push(parse_quote!(#name: __tool_core::ToolType));
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

/// The checks of examples. They can't stand where the type has parameters.
fn checks(data: &Data) -> TokenStream {
    if data.generics.type_params().next().is_some() {
        return TokenStream::new();
    }
    data.fields()
        .into_iter()
        .filter_map(|field| {
            let (literal, span) = field.constraints.example.as_ref()?;
            Some(member(field).check("example", literal, *span))
        })
        .collect()
}

// Input:  struct Place { latitude: f64 }
// Output: named(Schema::object(const { &[property::<f64>(…)] }).describe(…), "Place")
pub(super) fn schema(data: &Data) -> TokenStream {
    let name = data.ident.to_string();
    let name = name.trim_start_matches("r#");
    let schema = shape(&data.shape);
    let described = match &data.description {
        Some(description) => {
            let description = text(description);
            quote!((#schema).describe(#description))
        }
        None => schema,
    };
    let input_only = data.is_input_only;
    quote!(__tool_core::__private::named(#described, #name, #input_only))
}

/// The schema of a shape, by value.
fn shape(shape: &Shape) -> TokenStream {
    let schema = quote!(__tool_core::schema::Schema);
    match shape {
        Shape::Object(fields) => object(&[], fields),
        Shape::Same(field) => {
            let inner = member(field).schema();
            quote!(*#inner)
        }
        Shape::Tuple(fields) => {
            let items = fields.iter().map(|field| member(field).schema());
            quote!(#schema::tuple(const { &[#(#items),*] }))
        }
        Shape::Unit => quote!(#schema::NULL),
        Shape::Enum(tagging, variants) => variants_of(tagging, variants),
    }
}

/// An object of some members that are ready, and of fields.
fn object(before: &[TokenStream], fields: &[Field]) -> TokenStream {
    let properties = before.iter().cloned().chain(fields.iter().map(property));
    quote!(__tool_core::schema::Schema::object(const { &[#(#properties),*] }))
}

fn property(field: &Field) -> TokenStream {
    let member = member(field);
    if field.is_flat {
        let schema = member.schema();
        return quote!(__tool_core::schema::Property::flatten(#schema));
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

fn member(field: &Field) -> Member<'_> {
    Member {
        key: &field.key,
        description: field.description.as_deref(),
        ty: field.ty.to_token_stream(),
        span: field.ty.span(),
        constraints: &field.constraints,
        constructor: quote!(property),
    }
}

// Input:  enum Shape { Circle { radius: f64 }, Point }
// Output: Schema::any_of(const { &[
//             const { &Schema::object(const { &[property "Circle"] }) },
//             const { &Schema::strings(const { &["Point"] }) },
//         ] })
fn variants_of(tagging: &Tagging, variants: &[Variant]) -> TokenStream {
    let is_plain = |variant: &&Variant| {
        variant.shape.is_unit() && !variant.is_untagged && matches!(tagging, Tagging::External)
    };
    let (plain, others): (Vec<_>, Vec<_>) = variants.iter().partition(is_plain);
    let mut branches = Vec::new();
    if !plain.is_empty() {
        branches.push(strings(&plain));
    }
    branches.extend(others.into_iter().map(|variant| branch(tagging, variant)));
    match &branches[..] {
        [only] => only.clone(),
        _ => {
            quote!(__tool_core::schema::Schema::any_of(const { &[#(const { &#branches }),*] }))
        }
    }
}

/// Variants that are strings, with what each means.
fn strings(variants: &[&Variant]) -> TokenStream {
    let listed = variants.iter().filter(|variant| !variant.is_other || variants.len() == 1);
    let values = listed.map(|variant| text(&variant.name));
    let hidden = variants.iter().filter(|variant| variant.is_other);
    let hidden = hidden.map(|variant| &variant.name);
    let aliases = variants.iter().flat_map(|variant| &variant.aliases).chain(hidden);
    let is_open = variants.iter().any(|variant| variant.is_other);
    let notes: Vec<_> = variants
        .iter()
        .filter_map(|variant| Some(format!("{}: {}", variant.name, variant.description.as_ref()?)))
        .collect();
    let notes = text(&notes.join("\n"));
    quote! {
        __tool_core::__private::strings(
            const { &[#(#values),*] },
            const { &[#(#aliases),*] },
            #is_open,
            #notes,
        )
    }
}

/// One variant with its tag.
fn branch(tagging: &Tagging, variant: &Variant) -> TokenStream {
    let schema = match tagging {
        _ if variant.is_untagged => shape(&variant.shape),
        Tagging::None => shape(&variant.shape),
        Tagging::External => {
            let member = around(&variant.name, &variant.aliases, variant);
            object(&[member], &[])
        }
        Tagging::Internal(tag) => {
            let tag = tag_of(tag, variant);
            match &variant.shape {
                Shape::Object(fields) => object(&[tag], fields),
                Shape::Same(field) => {
                    let inner = member(field).schema();
                    let inner = quote!(__tool_core::schema::Property::flatten(#inner));
                    object(&[tag, inner], &[])
                }
                _ => object(&[tag], &[]),
            }
        }
        Tagging::Adjacent(tag, content) => {
            let tag = tag_of(tag, variant);
            match &variant.shape {
                Shape::Unit => object(&[tag], &[]),
                _ => object(&[tag, around(content, &[], variant)], &[]),
            }
        }
    };
    match &variant.description {
        Some(description) => {
            let description = text(description);
            quote!((#schema).describe(#description))
        }
        None => schema,
    }
}

/// A member that holds what a variant holds.
fn around(key: &str, aliases: &[String], variant: &Variant) -> TokenStream {
    let key = text(key);
    let inner = shape(&variant.shape);
    quote! {
        __tool_core::__private::held(#key, const { &#inner }, const { &[#(#aliases),*] })
    }
}

/// The member that tells a variant from the others.
fn tag_of(tag: &str, variant: &Variant) -> TokenStream {
    let (tag, value) = (text(tag), text(&variant.name));
    let (aliases, is_open) = (&variant.aliases, variant.is_other);
    quote! {
        __tool_core::__private::tag(
            #tag,
            const { &__tool_core::__private::constant(
                const { &[#value] },
                const { &[#(#aliases),*] },
                #is_open,
            ) },
        )
    }
}
