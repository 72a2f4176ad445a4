//! `ToolType` for structs and enums.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse_quote;
use syn::spanned::Spanned;

use super::{located, text};
use crate::model::data::{Data, Field, Shape};

// Input:  struct Place<T> { … }
// Output: impl<T: ToolType> ToolType for Place<T> { const SCHEMA: &'static Schema = &…; }
pub(super) fn implementation(data: &Data, schema: &TokenStream) -> TokenStream {
    let Data { krate, ident, .. } = data;
    let mut generics = data.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#krate::ToolType));
    }
    let (parameters, arguments, conditions) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #krate::ToolType for #ident #arguments #conditions {
            const SCHEMA: &'static #krate::schema::Schema = &const { #schema };
        }
    }
}

// Input:  struct Place { latitude: f64 }
// Output: Schema::object(const { &[property::<f64>(…)] }).describe(…)
pub(super) fn schema(data: &Data) -> TokenStream {
    let krate = &data.krate;
    let schema = match &data.shape {
        Shape::Object(fields) => {
            let properties = fields.iter().map(|field| property(data, field));
            quote!(#krate::schema::Schema::object(const { &[#(#properties),*] }))
        }
        Shape::Same(ty) => {
            let krate = located(krate, ty.span());
            quote_spanned!(ty.span()=> *<#ty as #krate::ToolType>::SCHEMA)
        }
        Shape::Strings(values) => {
            let values = values.iter().map(|value| text(krate, value));
            quote!(#krate::schema::Schema::strings(const { &[#(#values),*] }))
        }
    };
    match &data.description {
        Some(description) => {
            let description = text(krate, description);
            quote!((#schema).describe(#description))
        }
        None => schema,
    }
}

fn property(data: &Data, field: &Field) -> TokenStream {
    let krate = &data.krate;
    let Field { ty, .. } = field;
    let name = text(krate, &field.key);
    let description = text(krate, field.description.as_deref().unwrap_or_default());
    let krate = located(krate, ty.span());
    let optional = field.has_default.then(|| quote!(.optional()));
    let skipped = field.is_skipped.then(|| quote!(.skipped_in_results()));
    quote_spanned! {ty.span()=>
        #krate::__private::property::<#ty>(#name, #description)#optional #skipped
    }
}
