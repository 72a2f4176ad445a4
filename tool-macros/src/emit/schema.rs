//! Schemas as constant data.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;

use super::member::Member;
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

fn member<'m>(parameter: &'m Parameter, key: &'m str) -> Member<'m> {
    let inner = parameter.passing.inner();
    Member {
        key,
        description: parameter.description.as_deref(),
        ty: without_lifetimes(inner),
        span: inner.span(),
        constraints: &parameter.constraints,
        constructor: match parameter.passing {
            Passing::OptionallyBorrowed(_) => quote!(optional_property),
            _ => quote!(property),
        },
    }
}

fn property(parameter: &Parameter) -> TokenStream {
    let property = member(parameter, &parameter.key.value()).property();
    match &parameter.when_absent {
        WhenAbsent::None => property,
        WhenAbsent::OfType => quote!(#property.optional()),
        WhenAbsent::Literal(literal, _) => {
            let json = literal.json();
            quote!(__tool_core::__private::default(#property, #json))
        }
    }
}

// Input:  #[param(default = 5, example = 7)] days: u8
// Output: const _: () = fits(<u8 as ToolType>::SCHEMA, &Literal::Integer(5), "…");
//         const _: () = fits(<u8 as ToolType>::SCHEMA, &Literal::Integer(7), "…");
pub(super) fn checks(tool: &Tool) -> TokenStream {
    let checks = tool.parameters.iter().flat_map(|parameter| {
        let key = parameter.key.value();
        let member = member(parameter, &key);
        let default = match &parameter.when_absent {
            WhenAbsent::Literal(literal, span) => Some(member.check("default", literal, *span)),
            _ => None,
        };
        let example = &parameter.constraints.example;
        let example = example.as_ref().map(|(literal, span)| member.check("example", literal, *span));
        let cfgs = &parameter.cfgs;
        let checks = [default, example].into_iter().flatten();
        checks.map(|check| quote!(#(#cfgs)* #check)).collect::<Vec<_>>()
    });
    quote!(#(#checks)*)
}
