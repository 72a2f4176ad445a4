//! The function that decodes the arguments of a call and runs the tool.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::Generics;

use super::{commas, with_cfgs};
use crate::model::parameter::{ContextParameter, Parameter, WhenAbsent};
use crate::model::tool::{Owner, Tool};
use crate::model::types::{Passing, is_scalar, result};
use crate::util::site::{Trees, code, site, string, trees, trees_at};
use crate::util::tokens::ends;

// Input:  async fn f(city: &str, days: Option<u8>) -> …
// Output: fn __tool_invoke(__tool_input: &Input) -> AsyncStart<'_> {
//             let mut __tool_0 = Slot::<OwnedArg<'_, str>>(None);
//             let mut __tool_1 = Slot::<Option<u8>>(None);
//             if let Err(__tool_error) = __tool_input.read(&mut [&mut __tool_0, &mut __tool_1]) {
//                 return Err(__tool_error);
//             }
//             Ok(boxed(async move { outcome of f(borrow(&take(__tool_0)), take(__tool_1)).await }))
//         }
//
// Input:  async fn f(city: String) -> …
// Output: … Ok(awaited(f(take(__tool_0)), |__tool_value| outcome of __tool_value))
//
// The compiler checks `awaited` once, and the `async` block of each tool for itself.
pub(super) fn function(tool: &Tool) -> Trees {
    let slots = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let ty = slot_type(parameter);
        let slot = slot(at, parameter, parameter.ends.0);
        with_cfgs(
            &parameter.cfgs,
            trees!(let mut #slot = __tool_core::Slot::<#ty>(__tool_core::None);),
        )
    });
    let slots: Vec<_> = slots.collect();
    let slot_references = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        // With these spans, "can't be decoded" underlines the type.
        let (first, last) = parameter.ends;
        let slot = slot(at, parameter, last);
        // No other type has the name of a scalar in practice; the method only improves its error.
        let reference = if is_by_serde(parameter) || is_scalar(parameter.passing.inner()) {
            trees_at!(first=> &mut #slot)
        } else {
            trees_at!(first=> (&mut #slot).reference())
        };
        with_cfgs(&parameter.cfgs, reference)
    });
    let slot_references = commas(slot_references);
    let whole = tool.provides.as_ref().and(tool.parameters.first());
    let read = match whole {
        Some(parameter) => {
            let key = string(parameter.key.as_str());
            trees!(read_whole(#key, &mut [#slot_references]))
        }
        None => trees!(read(&mut [#slot_references])),
    };
    let context = tool.context.iter().enumerate().map(|(at, parameter)| {
        let (local, ty) = (context_local(at, parameter), &parameter.ty);
        // With this span, "can't be shared between threads" underlines the type.
        let name = if parameter.is_optional {
            "optional_context"
        } else {
            "context"
        };
        let getter = Ident::new(name, parameter.span);
        let getter = quote_spanned!(parameter.span=> __tool_core::Input::#getter::<#ty>);
        let value = code!(#getter(__tool_input));
        let value = if parameter.is_optional {
            value
        } else {
            unwrapped(&value)
        };
        with_cfgs(&parameter.cfgs, code!(let #local = #value;))
    });
    let context: Vec<_> = context.collect();
    let (call, value) = (call(tool), trees!(__tool_value));
    let owner = tool.owner.as_ref();
    let generics = owner.map(|owner| &owner.generics);
    let (parameters, conditions) = generics.map(generics_of).unwrap_or_default();
    let (returned, started) = if tool.is_async {
        // With this span, "is not `Send`" underlines the function's name.
        let span = tool.ident.span();
        let future = if tool.parameters.iter().any(is_borrowed) {
            let outcome = outcome(tool, &trees!(#call.await));
            trees_at!(span=> __tool_core::boxed(async move { #outcome }))
        } else {
            let outcome = outcome(tool, &value);
            trees_at!(span=> __tool_core::awaited(#call, |#value| #outcome))
        };
        (trees!(__tool_core::AsyncStart<'_>), future)
    } else {
        (trees!(__tool_core::SyncResult), outcome(tool, &call))
    };
    trees! {
        fn __tool_invoke #parameters (__tool_input: &__tool_core::Input) -> #returned #conditions {
            #slots
            // Not `?`, whose tokens have the hygiene of an expansion; see `site`.
            if let __tool_core::Err(__tool_error) = __tool_input.#read {
                return __tool_core::Err(__tool_error);
            }
            #context
            __tool_core::Ok(#started)
        }
    }
}

// Input:  context::<Db>(input)
// Output: match context::<Db>(input) { Ok(value) => value, Err(error) => return Err(error) }
fn unwrapped(result: &TokenStream) -> TokenStream {
    code! {
        match #result {
            __tool_core::Ok(__tool_value) => __tool_value,
            __tool_core::Err(__tool_error) => return __tool_core::Err(__tool_error),
        }
    }
}

// Input:  fn f(city: &str) -> …
// Output: f(BorrowArg::borrow(&take(__tool_0)))
fn call(tool: &Tool) -> Trees {
    let ident = &tool.ident;
    // With this span, "is not `Send`" underlines the function's name.
    let span = if tool.is_async { ident.span() } else { site() };
    let (function, receiver) = match &tool.owner {
        None => (trees!(#ident), None),
        Some(Owner {
            ty,
            of_trait,
            has_receiver,
            ..
        }) => {
            let ty = Trees::from(ty.to_token_stream());
            let own = &ty;
            let receiver = trees!(__tool_core::Input::receiver::<#own>(__tool_input),);
            let of_trait = of_trait.clone().map(|of_trait| trees!(as #of_trait));
            (
                trees_at!(span=> <#ty #of_trait>::#ident),
                has_receiver.then_some(receiver),
            )
        }
    };
    let mut arguments: Vec<_> = tool
        .parameters
        .iter()
        .enumerate()
        .map(|(at, parameter)| with_cfgs(&parameter.cfgs, argument(at, parameter)))
        .collect();
    for (at, parameter) in tool.context.iter().enumerate() {
        let local = context_local(at, parameter);
        let local = trees!(#local);
        // Each one shifts those after it.
        arguments.insert(parameter.before + at, with_cfgs(&parameter.cfgs, local));
    }
    let arguments = commas(arguments.into_iter());
    trees_at!(span=> #function(#receiver #arguments))
}

// Input:  fn f(…) -> Result<Forecast, Error>, f(…)
// Output: ReturnValue(f(…)).success().outcome()
fn outcome(tool: &Tool, value: &Trees) -> Trees {
    // With these spans, "can't be serialized" and "can't be displayed" underline the type.
    let (success, failure) = match &tool.output {
        Some(ty) => {
            let (value, error) = result(ty).unwrap_or((ty, ty));
            (ends(value).0, ends(error).0)
        }
        None => (tool.ident.span(), tool.ident.span()),
    };
    let success = Ident::new("success", success);
    let outcome = Ident::new("outcome", failure);
    trees!(__tool_core::ReturnValue(#value).#success().#outcome())
}

// Input:  city: &str
// Output: BorrowArg::borrow(&take(__tool_0))
fn argument(at: usize, parameter: &Parameter) -> Trees {
    // With this span, "has no default" underlines the type.
    let span = parameter.ends.0;
    let slot = slot(at, parameter, span);
    let is_optional = matches!(parameter.passing, Passing::OptionallyBorrowed(_));
    let value = if is_optional || matches!(parameter.when_absent, WhenAbsent::OfType) {
        let ty = slot_type(parameter);
        trees_at!(span=> __tool_core::Slot::<#ty>::take_or_default(#slot))
    } else {
        trees!(__tool_core::take(#slot))
    };
    let value = if is_by_serde(parameter) {
        trees!(__tool_core::Wrapper::inner(#value))
    } else {
        value
    };
    match parameter.passing {
        Passing::Owned(_) => value,
        Passing::Borrowed(_) => trees!(__tool_core::BorrowArg::borrow(&#value)),
        Passing::OptionallyBorrowed(_) => {
            trees!(#value.as_ref().map(__tool_core::BorrowArg::borrow))
        }
    }
}

/// The local variable of a context value.
fn context_local(at: usize, parameter: &ContextParameter) -> Ident {
    let span = site().located_at(parameter.span);
    format_ident!("__tool_context_{at}", span = span)
}

/// Returns `true` if the function borrows the value of the slot.
fn is_borrowed(parameter: &Parameter) -> bool {
    !matches!(parameter.passing, Passing::Owned(_))
}

/// Returns `true` if serde decodes a parameter: another type describes it, so its own need not be a `ToolType`.
fn is_by_serde(parameter: &Parameter) -> bool {
    parameter.constraints.schema_override.is_some()
}

/// The type that is decoded for a parameter.
fn slot_type(parameter: &Parameter) -> Trees {
    let (ty, span) = (&parameter.erased, parameter.ends.0);
    let ty = match parameter.passing {
        Passing::Owned(_) => ty.clone(),
        Passing::Borrowed(_) => trees_at!(span=> __tool_core::OwnedArg<'_, #ty>),
        Passing::OptionallyBorrowed(_) => trees_at! {span=>
            __tool_core::Option<__tool_core::OwnedArg<'_, #ty>>
        },
    };
    if is_by_serde(parameter) {
        trees_at!(span=> __tool_core::BySerde<#ty>)
    } else {
        ty
    }
}

/// The local variable of a parameter's slot, located at `span`. It has a number, since two
/// parameters can have the same name: under opposite `#[cfg]`s, or from two places of a
/// `macro_rules!`. It has a prefix, since the name of a constant would be a pattern.
fn slot(at: usize, parameter: &Parameter, span: Span) -> Ident {
    // All uses need the hygiene of one token to refer to the same variable.
    let (hygiene, _) = parameter.ends;
    Ident::new(&format!("__tool_{at}"), hygiene.located_at(span))
}

/// The parameters and the conditions of an implementation.
pub(super) fn generics_of(generics: &Generics) -> (TokenStream, TokenStream) {
    let (parameters, _, conditions) = generics.split_for_impl();
    (
        parameters.into_token_stream(),
        conditions.into_token_stream(),
    )
}
