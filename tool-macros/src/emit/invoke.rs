//! The way from a call's arguments to the function and back.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use super::located;
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
    let krate = &tool.krate;
    let private = quote!(#krate::__private);
    let input = local("input", Span::mixed_site());
    let slots = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let (cfgs, ty) = (&parameter.cfgs, held(tool, parameter));
        let local = value(at, parameter.ty.span());
        quote!(#(#cfgs)* let mut #local = #private::Slot::<#ty>::new();)
    });
    let places = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let cfgs = &parameter.cfgs;
        // The spans make "can't be decoded" underline the type.
        let (first, last) = ends(parameter.passing.inner());
        let local = value(at, last);
        let place = quote_spanned!(first=> &mut #local);
        quote!(#(#cfgs)* #place)
    });
    let values = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let cfgs = &parameter.cfgs;
        // The span makes "has no default" underline the type.
        let span = parameter.ty.span();
        let local = value(at, span);
        let taken = match parameter.when_absent {
            WhenAbsent::OfType => quote_spanned!(span=> #local.take_or_default()),
            _ => quote!(#local.take()),
        };
        quote!(#(#cfgs)* let #local = #taken;)
    });
    let outcome = outcome(tool);
    let (returned, outcome) = if tool.is_async {
        // The span makes "is not `Send`" underline the function's name.
        let span = tool.ident.span();
        let krate = located(krate, span);
        let boxed = quote_spanned! {span=>
            #krate::__private::boxed(async move { #outcome })
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
// Output: match Returned(f(Lend::lend(&__tool_0))).split() {
//             Ok(__tool_value) => Outcome::value(&__tool_value),
//             Err(__tool_error) => Failure(__tool_error).outcome(),
//         }
fn outcome(tool: &Tool) -> TokenStream {
    let krate = &tool.krate;
    let private = quote!(#krate::__private);
    let ident = &tool.ident;
    let arguments = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let cfgs = &parameter.cfgs;
        let local = value(at, parameter.ty.span());
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
    let (value, error) = (local("value", success.1), local("error", failure.0));
    let success = {
        let krate = located(krate, success.0);
        quote_spanned!(success.0=> #krate::__private::Outcome::value(&#value))
    };
    let failure = {
        let krate = located(krate, failure.0);
        quote_spanned!(failure.0=> #krate::__private::Failure(#error).outcome())
    };
    quote! {
        match #private::Returned(#ident(#(#arguments),*)#wait).split() {
            ::core::result::Result::Ok(#value) => #success,
            ::core::result::Result::Err(#error) => #failure,
        }
    }
}

/// The type that is decoded for a parameter.
fn held(tool: &Tool, parameter: &Parameter) -> TokenStream {
    let inner = parameter.passing.inner();
    let krate = located(&tool.krate, inner.span());
    let ty = without_lifetimes(inner);
    match parameter.passing {
        Passing::Owned(_) => ty,
        Passing::Borrowed(_) => quote_spanned!(inner.span()=> #krate::__private::Held<'_, #ty>),
        Passing::OptionallyBorrowed(_) => quote_spanned! {inner.span()=>
            ::core::option::Option<#krate::__private::Held<'_, #ty>>
        },
    }
}

/// The local variable that holds a parameter. It has a number, since two parameters can have one
/// name: under opposite `#[cfg]`s, or from two places of a `macro_rules!`.
fn value(at: usize, span: Span) -> Ident {
    local(&at.to_string(), span)
}

/// A local variable at a place. Hygiene keeps it apart from the user's variables, and its prefix
/// from constants and unit structs, which a pattern would mean.
fn local(name: &str, span: Span) -> Ident {
    format_ident!("__tool_{name}", span = Span::mixed_site().located_at(span))
}

/// Where a type begins and ends. An expression between the two is underlined as the type.
fn ends(ty: &Type) -> (Span, Span) {
    let last = ty.to_token_stream().into_iter().last();
    (ty.span(), last.map_or_else(|| ty.span(), |tree| tree.span()))
}
