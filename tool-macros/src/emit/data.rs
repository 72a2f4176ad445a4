//! `ToolType` for structs and enums.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse_quote;
use syn::spanned::Spanned;

use super::{block, text};
use crate::model::data::{Data, Field, Shape};

// Input:  struct Place<T> { … }
// Output: const _: () = {
//             impl<T: ToolType> ToolType for Place<T> { const SCHEMA: &'static Schema = &…; }
//         };
pub(super) fn implementation(data: &Data, schema: &TokenStream) -> TokenStream {
    let Data { krate, ident, .. } = data;
    let mut generics = data.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(__tool_core::ToolType));
    }
    let (parameters, arguments, conditions) = generics.split_for_impl();
    let implementation = quote! {
        #[automatically_derived]
        impl #parameters __tool_core::ToolType for #ident #arguments #conditions {
            const SCHEMA: &'static __tool_core::schema::Schema = &const { #schema };
        }
    };
    block(krate, &[], &implementation)
}

// Input:  struct Place { latitude: f64 }
// Output: Schema::object(const { &[property::<f64>(…)] }).describe(…)
pub(super) fn schema(data: &Data) -> TokenStream {
    let schema = match &data.shape {
        Shape::Object(fields) => {
            let properties = fields.iter().map(property);
            quote!(__tool_core::schema::Schema::object(const { &[#(#properties),*] }))
        }
        Shape::Same(ty) => {
            quote_spanned!(ty.span()=> *<#ty as __tool_core::ToolType>::SCHEMA)
        }
        Shape::Strings(values) => {
            let values = values.iter().map(|value| text(value));
            quote!(__tool_core::schema::Schema::strings(const { &[#(#values),*] }))
        }
    };
    match &data.description {
        Some(description) => {
            let description = text(description);
            quote!((#schema).describe(#description))
        }
        None => schema,
    }
}

fn property(field: &Field) -> TokenStream {
    let Field { ty, .. } = field;
    let name = text(&field.key);
    let description = text(field.description.as_deref().unwrap_or_default());
    let optional = field.has_default.then(|| quote!(.optional()));
    let skipped = field.is_skipped.then(|| quote!(.skipped_in_results()));
    quote_spanned! {ty.span()=>
        __tool_core::__private::property::<#ty>(#name, #description)#optional #skipped
    }
}
