//! Schemas as constant data.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::member::Member;
use super::under;
use crate::model::tool::{Parameter, Tool, WhenAbsent};
use crate::model::types::Passing;

// Input:  fn f(/// City name.
//              city: &str, days: Option<u8>)
// Output: &{
//             let mut judge = ToolCheck::of("f");
//             loop {
//                 let parameters = [
//                     parameter::<str>(&mut judge, "city", "City name."),
//                     parameter::<Option<u8>>(&mut judge, "days", ""),
//                 ];
//                 if judge.ends() { break parameters; }
//             }
//         }
//
// One round, unless a provider refuses a parameter: then another, for all of them to be told.
pub(super) fn parameters(tool: &Tool) -> TokenStream {
    if tool.parameters.is_empty() {
        return quote!(&[]);
    }
    let judge = format_ident!("__tool_judge", span = Span::mixed_site());
    let parameters = format_ident!("__tool_parameters", span = Span::mixed_site());
    let properties = tool
        .parameters
        .iter()
        .enumerate()
        .map(|(at, parameter)| under(&parameter.cfgs, property(&judge, at, parameter)));
    let name = tool.name.value();
    quote! {
        &{
            let mut #judge = __tool_core::ToolCheck::of(#name);
            loop {
                let #parameters = [#(#properties),*];
                if #judge.ends() {
                    break #parameters;
                }
            }
        }
    }
}

fn member<'m>(
    at: usize,
    parameter: &'m Parameter,
    key: &'m str,
    judge: Option<&'m Ident>,
) -> Member<'m> {
    Member {
        key,
        description: parameter.description.as_deref(),
        ty: parameter.erased.clone(),
        ends: parameter.ends,
        constraints: &parameter.constraints,
        constant: Some(format_ident!("__TOOL_NARROW_{at}")),
        is_optional: matches!(parameter.passing, Passing::OptionallyBorrowed(_)),
        judge,
    }
}

fn property(judge: &Ident, at: usize, parameter: &Parameter) -> TokenStream {
    let property = member(at, parameter, &parameter.key.value(), Some(judge)).property();
    match &parameter.when_absent {
        WhenAbsent::None => property,
        WhenAbsent::OfType => quote!(#property.optional()),
        WhenAbsent::Literal(literal, _) => {
            let json = literal.json();
            quote!(__tool_core::default(#property, #json))
        }
    }
}

// Input:  #[param(range = 1..=14, default = 5, example = 7)] days: u8
// Output: const __TOOL_NARROW_0: &Schema = …;
//         const _: () = fits(__TOOL_NARROW_0, &Literal::Integer(5), "…");
//         const _: () = fits(__TOOL_NARROW_0, &Literal::Integer(7), "…");
pub(super) fn constants(tool: &Tool) -> TokenStream {
    let constants = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let key = parameter.key.value();
        let member = member(at, parameter, &key, None);
        let default = match &parameter.when_absent {
            WhenAbsent::Literal(literal, span) => Some(member.check("default", literal, *span)),
            _ => None,
        };
        let cfgs = &parameter.cfgs;
        let constants = member
            .definition()
            .into_iter()
            .chain(default)
            .chain(member.checks());
        let constants: TokenStream = constants.map(|one| quote!(#(#cfgs)* #one)).collect();
        constants
    });
    quote!(#(#constants)*)
}
