//! The way from a call's arguments to the function and back.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::model::tool::{Parameter, Tool, WhenAbsent};
use crate::model::types::{Passing, without_lifetimes};

// Input:  async fn f(city: &str, days: Option<u8>) -> …
// Output: fn __tool_invoke<'__tool>(input: &'__tool Input) -> Result<Running<'__tool>, Refusal> {
//             let mut city = Slot::<Held<'_, str>>::new();
//             let mut days = Slot::<Option<u8>>::new();
//             input.read(__TOOL_PARAMETERS, &mut [&mut city, &mut days])?;
//             let city = city.take();
//             let days = days.take();
//             Ok(Box::pin(async move { outcome of f(lend(&city), days).await }))
//         }
pub(super) fn function(tool: &Tool) -> TokenStream {
    let krate = &tool.krate;
    let private = quote!(#krate::__private);
    let input = local("input", Span::mixed_site());
    let slots = tool.parameters.iter().map(|parameter| {
        let (cfgs, local, ty) = (&parameter.cfgs, value(parameter), held(tool, parameter));
        quote!(#(#cfgs)* let mut #local = #private::Slot::<#ty>::new();)
    });
    let places = tool.parameters.iter().map(|parameter| {
        let (cfgs, local) = (&parameter.cfgs, value(parameter));
        // The span makes "can't be decoded" underline the type.
        let place = quote_spanned!(parameter.passing.inner().span()=> &mut #local);
        quote!(#(#cfgs)* #place)
    });
    let values = tool.parameters.iter().map(|parameter| {
        let (cfgs, local) = (&parameter.cfgs, value(parameter));
        let take = match parameter.when_absent {
            WhenAbsent::OfType => quote_spanned!(parameter.ty.span()=> take_or_default),
            _ => quote!(take),
        };
        quote!(#(#cfgs)* let #local = #local.#take();)
    });
    let outcome = outcome(tool);
    let (returned, outcome) = if tool.is_async {
        let boxed = quote_spanned! {tool.ident.span()=>
            #private::boxed(async move { #outcome })
        };
        (quote!(#private::Running<'__tool>), boxed)
    } else {
        (quote!(#private::Outcome), outcome)
    };
    quote! {
        fn __tool_invoke<'__tool>(
            #input: &'__tool #private::Input,
        ) -> ::core::result::Result<#returned, #private::Refusal> {
            #(#slots)*
            #input.read(__TOOL_PARAMETERS, &mut [#(#places),*])?;
            #(#values)*
            ::core::result::Result::Ok(#outcome)
        }
    }
}

// Input:  fn f(city: &str) -> Result<Forecast, Error>
// Output: match Returned(f(Lend::lend(&city))).split() {
//             Ok(value) => Outcome::value(&value),
//             Err(error) => Failure(error).outcome(),
//         }
fn outcome(tool: &Tool) -> TokenStream {
    let krate = &tool.krate;
    let private = quote!(#krate::__private);
    let ident = &tool.ident;
    let arguments = tool.parameters.iter().map(|parameter| {
        let (cfgs, local) = (&parameter.cfgs, value(parameter));
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
    // The spans make "can't be serialized" and "can't be displayed" underline the return type.
    let span = tool
        .output
        .as_ref()
        .map_or_else(|| ident.span(), Spanned::span);
    let (value, error) = (local("value", span), local("error", span));
    let success = quote_spanned!(span=> #private::Outcome::value(&#value));
    let failure = quote_spanned!(span=> #private::Failure(#error).outcome());
    quote! {
        match #private::Returned(#ident(#(#arguments),*)#wait).split() {
            ::core::result::Result::Ok(#value) => #success,
            ::core::result::Result::Err(#error) => #failure,
        }
    }
}

/// The type that is decoded for a parameter.
fn held(tool: &Tool, parameter: &Parameter) -> TokenStream {
    let krate = &tool.krate;
    let inner = parameter.passing.inner();
    let ty = without_lifetimes(inner);
    match parameter.passing {
        Passing::Owned(_) => ty,
        Passing::Borrowed(_) => quote_spanned!(inner.span()=> #krate::__private::Held<'_, #ty>),
        Passing::OptionallyBorrowed(_) => quote_spanned! {inner.span()=>
            ::core::option::Option<#krate::__private::Held<'_, #ty>>
        },
    }
}

/// The local variable that holds a parameter, unseen by any name of the user's.
fn value(parameter: &Parameter) -> Ident {
    let mut ident = parameter.ident.clone();
    ident.set_span(ident.span().resolved_at(Span::mixed_site()));
    ident
}

fn local(name: &str, span: Span) -> Ident {
    Ident::new(name, span.resolved_at(Span::mixed_site()))
}
