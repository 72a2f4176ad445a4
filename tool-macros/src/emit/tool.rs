//! A tool's handler and its static entry.

use proc_macro2::TokenStream;
use quote::quote;

use super::{block, invoke, option, schema};
use crate::model::tool::Tool;
use crate::model::types::without_lifetimes;

// Input:  fn f(…) -> …
// Output: struct f {}
//         const _: () = { schemas; impl Tool for f; fn __tool_invoke; the link }
pub(super) fn tool(tool: &Tool) -> TokenStream {
    let Tool {
        krate, ident, cfgs, ..
    } = tool;
    let private = quote!(__tool_core::__private);
    let handler = handler(tool);
    let parameters = schema::parameters(tool);
    let constants = schema::constants(tool);
    let output = output(tool);
    let spec = spec(tool);
    let parameters_json = {
        let schema = quote!(::core::option::Option::Some(__TOOL_PARAMETERS));
        json(&private, &schema, &quote!(Arguments))
    };
    let output_json = json(&private, &quote!(__TOOL_OUTPUT), &quote!(Result));
    let invoke = invoke::function(tool);
    let kind = if tool.is_async {
        quote!(Async)
    } else {
        quote!(Sync)
    };
    let link = (!tool.unlinked).then(|| link(tool));
    let items = quote! {
        // Traits of the second choice, where a type lacks the first.
        #[allow(unused_imports)]
        use #private::{Displayed as _, NoOutput as _, Plain as _};

        const __TOOL_PARAMETERS: &__tool_core::schema::Schema = #parameters;
        const __TOOL_OUTPUT: ::core::option::Option<&__tool_core::schema::Schema> = #output;
        static __TOOL_PARAMETERS_JSON: #parameters_json;
        static __TOOL_OUTPUT_JSON: #output_json;
        static __TOOL_ENTRY: #private::StaticTool = #private::StaticTool {
            spec: <#ident as __tool_core::Tool>::SPEC,
            invoke: #private::Invoke::#kind(__tool_invoke),
        };

        #[automatically_derived]
        impl __tool_core::Tool for #ident {
            const SPEC: __tool_core::ToolSpec = #spec;
            const ENTRY: &'static #private::StaticTool = &__TOOL_ENTRY;
        }

        #invoke
        #constants
        #link
    };
    let block = block(krate, cfgs, &items);
    quote!(#handler #block)
}

// Input:  SCHEMA, Result
// Output: JsonText<{ json_length(SCHEMA, Direction::Result) }> = JsonText::of(SCHEMA, Direction::Result)
fn json(private: &TokenStream, schema: &TokenStream, direction: &TokenStream) -> TokenStream {
    let arguments = quote!(#schema, #private::Direction::#direction);
    quote!(#private::JsonText<{ #private::json_length(#arguments) }> = #private::JsonText::of(#arguments))
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
            const SPEC: __tool_core::ToolSpec = __tool_core::__private::BROKEN_SPEC.build();
            const ENTRY: &'static __tool_core::__private::StaticTool = __tool_core::__private::BROKEN;
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

fn spec(tool: &Tool) -> TokenStream {
    let private = quote!(__tool_core::__private);
    let Tool {
        name, description, ..
    } = tool;
    let title = option(tool.title.as_ref());
    let when_to_use = option(tool.when_to_use.as_ref());
    let returns = option(tool.returns.as_ref());
    let annotations = tool.annotations.map(option);
    quote! {
        #private::StaticSpec {
            name: #name,
            title: #title,
            description: #description,
            when_to_use: #when_to_use,
            returns: #returns,
            annotations: [#(#annotations),*],
            file: ::core::file!(),
            line: ::core::line!(),
            module: ::core::module_path!(),
            parameters: __TOOL_PARAMETERS,
            parameters_json: __TOOL_PARAMETERS_JSON.as_str(),
            output: __TOOL_OUTPUT,
            output_json: __TOOL_OUTPUT_JSON.as_str(),
        }
        .build()
    }
}

// Input:  -> Result<Forecast, Error>
// Output: <Output<Result<Forecast, Error>>>::SCHEMA
fn output(tool: &Tool) -> TokenStream {
    match &tool.output {
        // A type without a name has no schema.
        None | Some(syn::Type::ImplTrait(_) | syn::Type::Never(_)) => {
            quote!(::core::option::Option::None)
        }
        Some(ty) => {
            let ty = without_lifetimes(ty);
            quote!(<__tool_core::__private::Output<#ty>>::SCHEMA)
        }
    }
}

/// Puts the tool into `Registry::linked()`, once.
fn link(tool: &Tool) -> TokenStream {
    let private = quote!(__tool_core::__private);
    let symbol = symbol(&tool.name.value());
    quote! {
        #[#private::linkme::distributed_slice(#private::LINKED)]
        #[linkme(crate = #private::linkme)]
        static __TOOL_LINK: &#private::StaticTool = &__TOOL_ENTRY;

        // A second tool of this name would define the symbol again, and rustc then shows the name
        // of the symbol. A test may hold a crate twice, as itself and as a dependency.
        #[cfg(not(test))]
        #[unsafe(export_name = #symbol)]
        static __TOOL_NAME: ::core::primitive::u8 = 0;
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
        "two_tools_of_this_crate_have_one_name__rename_one_with_tool_name__or_mark_one_unlinked\
         __crate_{krate}_{version}{hyphens}__tool_name__{name}"
    )
}
