//! Descriptions as tokens. rustc trims, joins and escapes those with constants.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use crate::model::description::{Description, Part};
use crate::util::site::{code, number, site, string as literal};
use crate::util::tokens;

// Input:  description = WEATHER
// Output: const { prose::checked(prose::constant(WEATHER)) }
//
// A constant, so that one build shows all errors. It may name the generics of a toolset.
//
// Input:  /// Weather.
//         #[doc = include_str!("weather.md")]
// Output: {
//             const __TOOL_PARTS: &[prose::Part] = &[
//                 prose::literal("Weather."), prose::literal("\n"), prose::docs(include_str!("weather.md")),
//             ];
//             const __TOOL_BYTES: &[u8] = &prose::join::<{ prose::length(__TOOL_PARTS) }>(__TOOL_PARTS);
//             prose::joined(__TOOL_BYTES)
//         }
/// A description as `&'static str`.
pub(super) fn string(description: &Description) -> TokenStream {
    let parts = match description {
        Description::Text(text) => return literal(text).into_token_stream(),
        Description::Constant(parts) => parts,
    };
    if let [Part::Constant(tokens) | Part::Docs(tokens)] = &parts[..] {
        let part = part(&parts[0]);
        let checked = call("checked", tokens, &part);
        return code!(const { #checked });
    }
    let parts = parts.iter().map(part);
    code!({
        const __TOOL_PARTS: &[__tool_core::prose::Part] = &[#(#parts),*];
        const __TOOL_BYTES: &[::core::primitive::u8] =
            &__tool_core::prose::join::<{ __tool_core::prose::length(__TOOL_PARTS) }>(__TOOL_PARTS);
        __tool_core::prose::joined(__TOOL_BYTES)
    })
}

// Input:  description = WEATHER
// Output: {
//             const __TOOL_TEXT: &str = prose::checked(prose::constant(WEATHER));
//             const __TOOL_BOTH: &[u8] = &prose::both::<{ prose::length_of_both(__TOOL_TEXT) }>("", __TOOL_TEXT);
//             text(prose::utf8(__TOOL_BOTH), __TOOL_TEXT.len())
//         }
/// A description as `Text`.
pub(super) fn text(description: &Description) -> TokenStream {
    if let Description::Text(text) = description {
        return tokens::text(text);
    }
    let constants = constants("", description);
    code!({
        #constants
        __tool_core::text(__tool_core::prose::utf8(__TOOL_BOTH), __TOOL_TEXT.len())
    })
}

// Input:  /// City name.
//         city: &str
// Output: texts("cityCity name.", [4, 4, 10])
/// The name and the description of a property as `PropertyTexts`.
pub(super) fn property(name: &str, description: Option<&Description>) -> TokenStream {
    let before = tokens::both(name);
    let (plain_name, both_name) = (number(name.len()), number(before.len()));
    let text = match description {
        None => "",
        Some(Description::Text(text)) => &**text,
        Some(description @ Description::Constant(_)) => {
            let constants = constants(&before, description);
            return code!({
                #constants
                __tool_core::texts(
                    __tool_core::prose::utf8(__TOOL_BOTH),
                    [#plain_name, #both_name, __TOOL_TEXT.len()],
                )
            });
        }
    };
    let (texts, plain) = (literal(&(before + &tokens::both(text))), number(text.len()));
    code!(__tool_core::texts(#texts, [#plain_name, #both_name, #plain]))
}

/// A description as `__TOOL_TEXT`, and both of its forms after another text as `__TOOL_BOTH`.
fn constants(before: &str, description: &Description) -> TokenStream {
    let (string, length, before) = (string(description), number(before.len()), literal(before));
    code! {
        const __TOOL_TEXT: &::core::primitive::str = #string;
        const __TOOL_BOTH: &[::core::primitive::u8] = &__tool_core::prose::both::<
            { #length + __tool_core::prose::length_of_both(__TOOL_TEXT) },
        >(#before, __TOOL_TEXT);
    }
}

fn part(part: &Part) -> TokenStream {
    match part {
        Part::Text(text) => {
            let text = literal(text);
            code!(__tool_core::prose::literal(#text))
        }
        Part::Constant(tokens) => call("constant", tokens, tokens),
        Part::Docs(tokens) => call("docs", tokens, tokens),
    }
}

/// A call that underlines the constant if it fails.
fn call(function: &str, constant: &TokenStream, argument: &TokenStream) -> TokenStream {
    let mut spans = constant.clone().into_iter().map(|tree| tree.span());
    let first = spans.next().unwrap_or_else(site);
    let last = spans.last().unwrap_or(first);
    let located = |span: Span| site().located_at(span);
    let function = Ident::new(function, located(first));
    let mut arguments = Group::new(Delimiter::Parenthesis, argument.clone());
    arguments.set_span(located(last));
    let path = quote_spanned!(located(first)=> __tool_core::prose::#function);
    code!(#path #arguments)
}
