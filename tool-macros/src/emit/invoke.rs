//! The way from a call's arguments to the function and back.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::under;
use crate::model::injected::Injected;
use crate::model::tool::{Owner, Parameter, Tool, WhenAbsent};
use crate::model::types::{Passing, ends, result};

// Input:  async fn f(city: &str, days: Option<u8>) -> …
// Output: fn __tool_invoke(__tool_input: &Input) -> AsyncStart<'_> {
//             let mut __tool_0 = Slot::<OwnedArg<'_, str>>::new();
//             let mut __tool_1 = Slot::<Option<u8>>::new();
//             __tool_input.read(&mut [&mut __tool_0, &mut __tool_1])?;
//             Ok(boxed(async move { outcome of f(borrow(&__tool_0.take()), __tool_1.take()).await }))
//         }
pub(super) fn function(tool: &Tool) -> TokenStream {
    let slots = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let ty = held(parameter);
        let local = value(at, parameter, parameter.ends.0);
        under(
            &parameter.cfgs,
            quote!(let mut #local = __tool_core::Slot::<#ty>::new();),
        )
    });
    let places = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        // The spans make "can't be decoded" underline the type.
        let (first, last) = parameter.ends;
        let local = value(at, parameter, last);
        under(&parameter.cfgs, quote_spanned!(first=> &mut #local))
    });
    let borrows = tool.injected.iter().enumerate().map(|(at, one)| {
        let (local, ty) = (borrowed(at, one), &one.ty);
        // The span makes "can't be shared between threads" underline the type.
        let function = match one.is_optional {
            true => quote_spanned!(one.span=> __tool_core::Input::optional_context::<#ty>),
            false => quote_spanned!(one.span=> __tool_core::Input::context::<#ty>),
        };
        let lacks = (!one.is_optional).then(|| quote!(?));
        let value = quote!(#function(__tool_input)#lacks);
        under(&one.cfgs, quote!(let #local = #value;))
    });
    let outcome = outcome(tool);
    let (returned, outcome) = if tool.is_async {
        // The span makes "is not `Send`" underline the function's name.
        let boxed = quote_spanned! {tool.ident.span()=>
            __tool_core::boxed(async move { #outcome })
        };
        (quote!(__tool_core::AsyncStart<'_>), boxed)
    } else {
        (quote!(__tool_core::SyncResult), outcome)
    };
    quote! {
        fn __tool_invoke(__tool_input: &__tool_core::Input) -> #returned {
            #(#slots)*
            __tool_input.read(&mut [#(#places),*])?;
            #(#borrows)*
            __tool_core::Ok(#outcome)
        }
    }
}

// Input:  fn f(city: &str) -> Result<Forecast, Error>
// Output: match Returned(f(BorrowArg::borrow(&__tool_0.take()))).split() {
//             Ok(__tool_value) => Returned(__tool_value).outcome(),
//             Err(__tool_error) => Failure(__tool_error).outcome(),
//         }
fn outcome(tool: &Tool) -> TokenStream {
    let ident = &tool.ident;
    let (function, receiver) = match &tool.owner {
        None => (quote!(#ident), None),
        Some(Owner { ty, is_borrowed }) => {
            let receiver = quote!(__tool_core::Input::receiver::<#ty>(__tool_input),);
            (quote!(<#ty>::#ident), is_borrowed.then_some(receiver))
        }
    };
    let mut filled = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        // The span makes "has no default" underline the type.
        let span = parameter.ends.0;
        let local = value(at, parameter, span);
        let taken = match parameter.when_absent {
            WhenAbsent::OfType => {
                let ty = held(parameter);
                quote_spanned!(span=> __tool_core::Slot::<#ty>::take_or_default(#local))
            }
            _ => quote!(#local.take()),
        };
        let argument = match parameter.passing {
            Passing::Owned(_) => taken,
            Passing::Borrowed(_) => quote!(__tool_core::BorrowArg::borrow(&#taken)),
            Passing::OptionallyBorrowed(_) => {
                quote!(#taken.as_ref().map(__tool_core::BorrowArg::borrow))
            }
        };
        under(&parameter.cfgs, argument)
    });
    // In the order of the function.
    let mut arguments = Vec::new();
    for (at, one) in tool.injected.iter().enumerate() {
        let missing = one.before + at - arguments.len();
        arguments.extend(filled.by_ref().take(missing));
        arguments.push(under(&one.cfgs, borrowed(at, one).into_token_stream()));
    }
    arguments.extend(filled);
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
    let success = quote_spanned!(success.0=> __tool_core::Returned(#value).outcome());
    let failure = quote_spanned!(failure.0=> __tool_core::Failure(#error).outcome());
    quote! {
        match __tool_core::Returned(#function(#receiver #(#arguments),*)#wait).split() {
            __tool_core::Ok(#value) => #success,
            __tool_core::Err(#error) => #failure,
        }
    }
}

/// The local variable that holds what the application gives.
fn borrowed(at: usize, one: &Injected) -> Ident {
    let span = Span::call_site().located_at(one.span);
    format_ident!("__tool_context_{at}", span = span)
}

/// The type that is decoded for a parameter.
fn held(parameter: &Parameter) -> TokenStream {
    let (ty, span) = (&parameter.erased, parameter.ends.0);
    match parameter.passing {
        Passing::Owned(_) => ty.clone(),
        Passing::Borrowed(_) => {
            quote_spanned!(span=> __tool_core::OwnedArg<'_, #ty>)
        }
        Passing::OptionallyBorrowed(_) => quote_spanned! {span=>
            __tool_core::Option<__tool_core::OwnedArg<'_, #ty>>
        },
    }
}

/// The local variable that holds a parameter, to be underlined at `place`. It has a number, since
/// two parameters can have one name: under opposite `#[cfg]`s, or from two places of a
/// `macro_rules!`. It has a prefix, since a constant of its name would be taken for a pattern.
fn value(at: usize, parameter: &Parameter, place: Span) -> Ident {
    // The hygiene of the type is that of the tokens around it, so that rustc sees one origin.
    let (hygiene, _) = parameter.ends;
    Ident::new(&format!("__tool_{at}"), hygiene.located_at(place))
}
