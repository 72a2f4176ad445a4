//! Schemas as constant data.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::text;
use crate::model::tool::{Parameter, Tool, WhenAbsent};
use crate::model::types::{Passing, without_lifetimes};

// Input:  fn f(/// City name.
//              city: &str, days: Option<u8>)
// Output: &Schema::object(const { &[
//             property::<str>(text("city", "city"), text("City name.", "City name.")),
//             property::<Option<u8>>(text("days", "days"), text("", "")),
//         ] })
pub(super) fn parameters(tool: &Tool) -> TokenStream {
    let properties = tool.parameters.iter().map(|parameter| {
        let cfgs = &parameter.cfgs;
        let property = property(parameter);
        quote!(#(#cfgs)* #property)
    });
    quote! {
        &__tool_core::schema::Schema::object(const { &[#(#properties),*] })
    }
}

fn property(parameter: &Parameter) -> TokenStream {
    let name = text(&parameter.key.value());
    let description = text(parameter.description.as_deref().unwrap_or_default());
    let inner = parameter.passing.inner();
    let ty = without_lifetimes(inner);
    let constructor = match parameter.passing {
        Passing::OptionallyBorrowed(_) => quote!(optional_property),
        _ => quote!(property),
    };
    // The span makes "has no schema" underline the type.
    let property = quote_spanned! {inner.span()=>
        __tool_core::__private::#constructor::<#ty>(#name, #description)
    };
    match &parameter.when_absent {
        WhenAbsent::None => property,
        WhenAbsent::OfType => quote!(#property.optional()),
        WhenAbsent::Json(json, _) => quote!(__tool_core::__private::default(#property, #json)),
    }
}

// Input:  #[param(default = 5)] days: u8
// Output: const _: () = default_fits(<u8 as ToolType>::SCHEMA, "5", "…");
pub(super) fn checks(tool: &Tool) -> TokenStream {
    let checks = tool.parameters.iter().filter_map(|parameter| {
        let WhenAbsent::Json(json, span) = &parameter.when_absent else {
            return None;
        };
        let cfgs = &parameter.cfgs;
        let ty = without_lifetimes(parameter.passing.inner());
        let message = format!(
            "the default {json} is no value that the schema of `{}` describes; \
             give one that a call could send",
            parameter.key.value()
        );
        Some(quote_spanned! {*span=>
            #(#cfgs)*
            const _: () = __tool_core::__private::check::default_fits(
                <#ty as __tool_core::ToolType>::SCHEMA,
                #json,
                #message,
            );
        })
    });
    quote!(#(#checks)*)
}
