//! The variants of enums.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{member, object, shape};
use crate::emit::text;
use crate::model::data::{Data, Shape, Tagging, Variant};

// Input:  enum Shape { Circle { radius: f64 }, Point }
// Output: Schema::any_of(const { &[
//             const { &Schema::object(const { &[property "Circle"] }) },
//             const { &Schema::strings(const { &["Point"] }) },
//         ] })
pub(super) fn schema(data: &Data, tagging: &Tagging, variants: &[Variant]) -> TokenStream {
    let is_plain = |variant: &&Variant| {
        variant.shape.is_unit() && !variant.is_untagged && matches!(tagging, Tagging::External)
    };
    let (plain, others): (Vec<_>, Vec<_>) = variants.iter().partition(is_plain);
    let mut branches = Vec::new();
    if !plain.is_empty() {
        branches.push(strings(&plain));
    }
    branches.extend(
        others
            .into_iter()
            .map(|variant| branch(data, tagging, variant)),
    );
    // Where serde tries one variant after the other.
    let is_tried = matches!(tagging, Tagging::None) || variants.iter().any(|v| v.is_untagged);
    match &branches[..] {
        [only] => only.clone(),
        _ if is_tried => {
            // The span makes "would read as an earlier one" underline the enum.
            quote_spanned! {data.ident.span()=>
                __tool_core::check::untagged(const { &[#(const { &#branches }),*] })
            }
        }
        _ => {
            quote!(__tool_core::Schema::any_of(const { &[#(const { &#branches }),*] }))
        }
    }
}

/// Variants that are strings, with what each means.
fn strings(variants: &[&Variant]) -> TokenStream {
    let listed = variants
        .iter()
        .filter(|variant| !variant.is_other || variants.len() == 1);
    let values = listed.map(|variant| text(&variant.name));
    let hidden = variants.iter().filter(|variant| variant.is_other);
    let hidden = hidden.map(|variant| &variant.name);
    let aliases = variants
        .iter()
        .flat_map(|variant| &variant.aliases)
        .chain(hidden);
    let is_open = variants.iter().any(|variant| variant.is_other);
    let notes: Vec<_> = variants
        .iter()
        .filter_map(|variant| {
            Some(format!(
                "{}: {}",
                variant.name,
                variant.description.as_ref()?
            ))
        })
        .collect();
    let notes = text(&notes.join("\n"));
    quote! {
        __tool_core::strings(
            const { &[#(#values),*] },
            const { &[#(#aliases),*] },
            #is_open,
            #notes,
        )
    }
}

/// One variant with its tag.
fn branch(data: &Data, tagging: &Tagging, variant: &Variant) -> TokenStream {
    let schema = match tagging {
        _ if variant.is_untagged => shape(data, &variant.shape),
        Tagging::None => shape(data, &variant.shape),
        Tagging::External => {
            let member = around(data, &variant.name, &variant.aliases, variant);
            object(data, &[member], &[])
        }
        Tagging::Internal(tag) => {
            let tag = tag_of(tag, variant);
            match &variant.shape {
                Shape::Object(fields) => object(data, &[tag], fields),
                Shape::Same(field) => {
                    let inner = member(data, field).schema();
                    let inner = quote!(__tool_core::Property::flatten(#inner));
                    object(data, &[tag, inner], &[])
                }
                _ => object(data, &[tag], &[]),
            }
        }
        Tagging::Adjacent(tag, content) => {
            let tag = tag_of(tag, variant);
            match &variant.shape {
                Shape::Unit => object(data, &[tag], &[]),
                _ => object(data, &[tag, around(data, content, &[], variant)], &[]),
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
fn around(data: &Data, key: &str, aliases: &[String], variant: &Variant) -> TokenStream {
    let key = text(key);
    let inner = shape(data, &variant.shape);
    quote! {
        __tool_core::held(#key, const { &#inner }, const { &[#(#aliases),*] })
    }
}

/// The member that tells a variant from the others.
fn tag_of(tag: &str, variant: &Variant) -> TokenStream {
    let (tag, value) = (text(tag), text(&variant.name));
    let (aliases, is_open) = (&variant.aliases, variant.is_other);
    quote! {
        __tool_core::tag(
            #tag,
            const { &__tool_core::constant(
                const { &[#value] },
                const { &[#(#aliases),*] },
                #is_open,
            ) },
        )
    }
}
