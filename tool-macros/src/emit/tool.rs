//! A tool's handler and its static entry.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::{block, invoke, option, schema, under};
use crate::model::tool::Tool;
use crate::model::types::without_lifetimes;

// Input:  fn f(…) -> …
// Output: struct f {}
//         const _: () = { impl Tool for f; constants; fn __tool_invoke; the link }
pub(super) fn tool(tool: &Tool) -> TokenStream {
    let Tool {
        krate, ident, cfgs, ..
    } = tool;
    let handler = handler(tool);
    let implementation = implementation(tool, ident);
    let link = link(tool);
    let items = quote! {
        // Traits of the second choice, where a type lacks the first.
        #[allow(unused_imports)]
        use __tool_core::autoref_fallbacks::*;

        #implementation
        #link
    };
    let block = block(krate, cfgs, &items);
    quote!(#handler #block)
}

// Input:  fn f(&self, …) -> …
// Output: { struct __tool_handler {} impl Tool for __tool_handler; …; entry::<__tool_handler>() }
pub(super) fn method(tool: &Tool) -> TokenStream {
    // Each has a block of its own, so one name will do.
    let handler = format_ident!("__tool_handler", span = tool.ident.span());
    let implementation = implementation(tool, &handler);
    let entry = entry(tool, &handler);
    quote! {{
        #[allow(non_camel_case_types, dead_code)]
        struct #handler {}

        #implementation
        #entry
    }}
}

fn implementation(tool: &Tool, handler: &Ident) -> TokenStream {
    let constants = schema::constants(tool);
    let source = source(tool);
    let invoke = invoke::function(tool);
    let kind = match (tool.is_async, tool.is_blocking) {
        (true, _) => quote!(Async),
        (false, false) => quote!(Sync),
        (false, true) => quote!(Blocking),
    };
    let details = details(tool);
    quote! {
        #[automatically_derived]
        impl __tool_core::Tool for #handler {
            const SOURCE: __tool_core::StaticSpec = #source;
            const INVOKE: __tool_core::Invoke = __tool_core::Invoke::#kind(__tool_invoke);
            #details
        }

        #invoke
        #constants
    }
}

/// The handler of a tool with mistakes, so that nothing else of the crate fails on its absence.
pub(super) fn stand_in(tool: &Tool) -> TokenStream {
    let Tool {
        krate, ident, cfgs, ..
    } = tool;
    let handler = handler(tool);
    let implementation = quote! {
        #[automatically_derived]
        impl __tool_core::Tool for #ident {
            const SOURCE: __tool_core::StaticSpec = __tool_core::Broken::SOURCE;
            const INVOKE: __tool_core::Invoke = __tool_core::Broken::INVOKE;
        }
    };
    let block = block(krate, cfgs, &implementation);
    quote!(#handler #block)
}

// Input:  pub fn f()
// Output: pub struct f {}
fn handler(tool: &Tool) -> TokenStream {
    let Tool {
        ident, cfgs, vis, ..
    } = tool;
    let doc = format!("The handler of the tool `{}`.", tool.name.value());
    quote! {
        #(#cfgs)*
        // With braces it lives in the namespace of types alone, beside the function.
        #[doc = #doc]
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, missing_debug_implementations, missing_copy_implementations, unreachable_pub)]
        #vis struct #ident {}
    }
}

// Input:  /// Weather forecast.
//         #[tool(read_only)] fn f(city: &str) -> Forecast
// Output: StaticSpec {
//             name: "f",
//             description: "Weather forecast.",
//             annotations: [Some(true), None, None, None],
//             location: here(module_path!()),
//             parameters: &{ … [parameter::<str>(&mut judge, "city", "")] … },
//             output: <Output<Forecast>>::SCHEMA,
//             ..StaticSpec::EMPTY
//         }
fn source(tool: &Tool) -> TokenStream {
    let Tool {
        name, description, ..
    } = tool;
    let is_annotated = tool.annotations.iter().any(Option::is_some);
    let annotations = is_annotated.then(|| {
        let annotations = tool.annotations.map(option);
        quote!(annotations: [#(#annotations),*],)
    });
    // Of many tools in a block, each is where its own attribute stands.
    let location = quote_spanned!(tool.mark=> __tool_core::here(::core::module_path!()));
    let parameters = schema::parameters(tool);
    let output = output(tool).map(|output| quote!(output: #output,));
    quote! {
        __tool_core::StaticSpec {
            name: #name,
            description: #description,
            #annotations
            location: #location,
            parameters: #parameters,
            #output
            ..__tool_core::StaticSpec::EMPTY
        }
    }
}

// Input:  #[tool(title = "Forecast", timeout = "30s")] fn f(#[param(context)] db: &Db)
// Output: const DETAILS: Option<&'static Details> = Some(&Details {
//             title: Some(Cow::Borrowed("Forecast")),
//             needs: &[Need::of::<Db>()],
//             timeout: Some(Duration::new(30, 0)),
//             ..Details::EMPTY
//         });
fn details(tool: &Tool) -> Option<TokenStream> {
    let texts = [
        ("title", tool.title.as_ref().map(ToTokens::to_token_stream)),
        (
            "when_to_use",
            tool.when_to_use.as_ref().map(ToTokens::to_token_stream),
        ),
        (
            "returns",
            tool.returns.as_ref().map(ToTokens::to_token_stream),
        ),
    ];
    let texts = texts.into_iter().filter_map(|(field, text)| {
        let (field, text) = (format_ident!("{field}"), text?);
        Some(quote!(#field: __tool_core::Some(__tool_core::Cow::Borrowed(#text)),))
    });
    let timeout = tool.timeout.map(|timeout| {
        let (seconds, nanos) = (timeout.as_secs(), timeout.subsec_nanos());
        quote!(timeout: __tool_core::Some(__tool_core::Duration::new(#seconds, #nanos)),)
    });
    let fields: TokenStream = texts.chain(needs(tool)).chain(timeout).collect();
    (!fields.is_empty()).then(|| {
        quote! {
            const DETAILS: __tool_core::Option<&'static __tool_core::Details> =
                __tool_core::Some(&__tool_core::Details {
                    #fields
                    ..__tool_core::Details::EMPTY
                });
        }
    })
}

// Input:  #[param(context)] db: &Db
// Output: needs: &[Need::of::<Db>()],
fn needs(tool: &Tool) -> Option<TokenStream> {
    let needed = tool.injected.iter().filter(|one| !one.is_optional);
    let needs: Vec<_> = needed
        .map(|one| {
            let ty = &one.ty;
            // The span makes "can't be shared between threads" underline the type.
            under(
                &one.cfgs,
                quote_spanned!(one.span=> __tool_core::Need::of::<#ty>()),
            )
        })
        .collect();
    (!needs.is_empty()).then(|| quote!(needs: &[#(#needs),*],))
}

// Input:  -> Result<Forecast, Error>
// Output: <Output<Result<Forecast, Error>>>::SCHEMA
fn output(tool: &Tool) -> Option<TokenStream> {
    match &tool.output {
        // A type without a name has no schema.
        None | Some(syn::Type::ImplTrait(_)) => None,
        Some(ty) => {
            let ty = without_lifetimes(ty);
            Some(quote!(<__tool_core::Output<#ty>>::SCHEMA))
        }
    }
}

/// The entry of a tool, by its handler.
fn entry(tool: &Tool, handler: &Ident) -> TokenStream {
    // The span makes what a provider refuses of the whole tool underline its name.
    quote_spanned!(tool.ident.span()=> __tool_core::entry::<#handler>())
}

/// Puts the tool into `Registry::linked()`, once, or looks at the whole of it all the same.
fn link(tool: &Tool) -> TokenStream {
    let entry = entry(tool, &tool.ident);
    if tool.unlinked {
        return quote!(const _: &__tool_core::StaticTool = #entry;);
    }
    let symbol = symbol(&tool.name.value());
    quote! {
        #[__tool_core::linkme::distributed_slice(__tool_core::LINKED)]
        #[linkme(crate = __tool_core::linkme)]
        // A second tool of this name would define the symbol again, and rustc then shows the name
        // of the symbol. A test may hold a crate twice, as itself and as a dependency.
        #[cfg_attr(not(test), unsafe(export_name = #symbol))]
        static __TOOL_LINK: &__tool_core::StaticTool = #entry;
    }
}

/// The symbol of a tool's name: a sentence for whoever defines it twice.
///
/// It holds the crate, since tools of two crates may have one name until they meet in a registry,
/// and only characters that every linker takes.
fn symbol(name: &str) -> String {
    let krate = std::env::var("CARGO_CRATE_NAME").unwrap_or_default();
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version: String = version
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let hyphens: String = name
        .match_indices('-')
        .map(|(at, _)| format!("_hyphen_at_{at}"))
        .collect();
    let name = name.replace('-', "_");
    format!(
        "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked\
         __crate_{krate}_{version}{hyphens}__tool_name__{name}"
    )
}
