//! The way from a call's arguments to the function and back.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use crate::model::tool::{Parameter, Tool, WhenAbsent};
use crate::model::types::{Passing, result, without_lifetimes};

// Input:  async fn f(city: &str, days: Option<u8>) -> …
// Output: fn __tool_invoke<'__tool>(__tool_input: &'__tool Input) -> Result<Running<'__tool>, Refusal> {
//             let mut __tool_0 = Slot::<Held<'_, str>>::new();
//             let mut __tool_1 = Slot::<Option<u8>>::new();
//             __tool_input.read(__TOOL_PARAMETERS, &mut [&mut __tool_0, &mut __tool_1])?;
//             let __tool_0 = __tool_0.take();
//             let __tool_1 = __tool_1.take();
//             Ok(boxed(async move { outcome of f(lend(&__tool_0), __tool_1).await }))
//         }
pub(super) fn function(tool: &Tool) -> TokenStream {
    let private = quote!(__tool_core::__private);
    let slots = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let (cfgs, ty) = (&parameter.cfgs, held(parameter));
        let local = value(at, parameter, parameter.passing.inner().span());
        quote!(#(#cfgs)* let mut #local = #private::Slot::<#ty>::new();)
    });
    let places = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let cfgs = &parameter.cfgs;
        // The spans make "can't be decoded" underline the type.
        let (first, last) = ends(parameter.passing.inner());
        let local = value(at, parameter, last);
        let place = quote_spanned!(first=> &mut #local);
        quote!(#(#cfgs)* #place)
    });
    let values = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let cfgs = &parameter.cfgs;
        // The span makes "has no default" underline the type.
        let span = parameter.passing.inner().span();
        let local = value(at, parameter, span);
        let taken = match parameter.when_absent {
            WhenAbsent::OfType => {
                let ty = held(parameter);
                quote_spanned!(span=> __tool_core::__private::Slot::<#ty>::take_or_default(#local))
            }
            _ => quote!(#local.take()),
        };
        quote!(#(#cfgs)* let #local = #taken;)
    });
    let outcome = outcome(tool);
    let (returned, outcome) = if tool.is_async {
        // The span makes "is not `Send`" underline the function's name.
        let boxed = quote_spanned! {tool.ident.span()=>
            __tool_core::__private::boxed(async move { #outcome })
        };
        (quote!(#private::Running<'__tool>), boxed)
    } else {
        (quote!(#private::Outcome), outcome)
    };
    quote! {
        fn __tool_invoke<'__tool>(
            __tool_input: &'__tool #private::Input,
        ) -> ::core::result::Result<#returned, #private::Refusal> {
            #(#slots)*
            __tool_input.read(__TOOL_PARAMETERS, &mut [#(#places),*])?;
            #(#values)*
            ::core::result::Result::Ok(#outcome)
        }
    }
}

// Input:  fn f(city: &str) -> Result<Forecast, Error>
// Output: match Returned(f(Lend::lend(&__tool_0))).split() {
//             Ok(__tool_value) => Returned(__tool_value).outcome(),
//             Err(__tool_error) => Failure(__tool_error).outcome(),
//         }
fn outcome(tool: &Tool) -> TokenStream {
    let private = quote!(__tool_core::__private);
    let ident = &tool.ident;
    let arguments = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let cfgs = &parameter.cfgs;
        let local = value(at, parameter, parameter.passing.inner().span());
        let argument = match parameter.passing {
            Passing::Owned(_) => quote!(#local),
            Passing::Borrowed(_) => quote!(#private::Lend::lend(&#local)),
            Passing::OptionallyBorrowed(_) => {
                quote!(#local.as_ref().map(#private::Lend::lend))
            }
        };
        quote!(#(#cfgs)* #argument)
    });
    let wait = tool.is_async.then(|| quote!(.await));
    // The spans make "can't be serialized" and "can't be displayed" underline the type.
    let (success, failure) = match &tool.output {
        Some(ty) => {
            let (value, error) = result(ty).unwrap_or((ty, ty));
            (ends(value), ends(error))
        }
        None => ((ident.span(), ident.span()), (ident.span(), ident.span())),
    };
    let value = Ident::new("__tool_value", success.1);
    let error = Ident::new("__tool_error", failure.0);
    let success = quote_spanned!(success.0=> __tool_core::__private::Returned(#value).outcome());
    let failure = quote_spanned!(failure.0=> __tool_core::__private::Failure(#error).outcome());
    quote! {
        match #private::Returned(#ident(#(#arguments),*)#wait).split() {
            ::core::result::Result::Ok(#value) => #success,
            ::core::result::Result::Err(#error) => #failure,
        }
    }
}

/// The type that is decoded for a parameter.
fn held(parameter: &Parameter) -> TokenStream {
    let inner = parameter.passing.inner();
    let ty = without_lifetimes(inner);
    match parameter.passing {
        Passing::Owned(_) => ty,
        Passing::Borrowed(_) => {
            quote_spanned!(inner.span()=> __tool_core::__private::Held<'_, #ty>)
        }
        Passing::OptionallyBorrowed(_) => quote_spanned! {inner.span()=>
            ::core::option::Option<__tool_core::__private::Held<'_, #ty>>
        },
    }
}

/// The local variable that holds a parameter, to be underlined at `place`. It has a number, since
/// two parameters can have one name: under opposite `#[cfg]`s, or from two places of a
/// `macro_rules!`. It has a prefix, since a constant of its name would be taken for a pattern.
fn value(at: usize, parameter: &Parameter, place: Span) -> Ident {
    // The hygiene of the type is that of the tokens around it, so that rustc sees one origin.
    let hygiene = parameter.passing.inner().span();
    format_ident!("__tool_{at}", span = hygiene.located_at(place))
}

/// Where a type begins and ends. An expression between the two is underlined as the type.
fn ends(ty: &Type) -> (Span, Span) {
    let last = ty.to_token_stream().into_iter().last();
    (
        ty.span(),
        last.map_or_else(|| ty.span(), |tree| tree.span()),
    )
}
