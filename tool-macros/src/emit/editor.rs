//! What an editor reads instead of the generated code.
//!
//! An editor shows each item that a token of the user refers to. So types and names are written once, by the
//! user, and each key is the path of a constant that documents it: the editor completes it and shows its text.

use proc_macro2::{Ident, TokenStream, TokenTree};

use crate::attr::{Place, WrittenAttribute, WrittenKey};
use crate::model::Krate;
use crate::model::tool::Tool;
use crate::util::names::list;
use crate::util::site::{code, site};

// Input:  #[tool(read_only, provides = Type)] fn f(#[param(length = 1..=9)] …)
// Output: const _: () = {
//             use ::tool_core::__private::keys as __keys;
//             __keys::tool::read_only;
//             __keys::tool::provides;
//             let _: Type;
//             __keys::parameter::param::length;
//         };
pub(crate) fn keys(krate: &Krate, attributes: &[WrittenAttribute]) -> TokenStream {
    let path = &krate.path;
    let attributes = attributes.iter().map(|attribute| {
        let module = module(attribute.place);
        let (module, import) = match &attribute.name {
            None => (code!(#module), None),
            Some(name) if attribute.place == Place::Tool => {
                (code!(#module), Some(code!(use __keys::macros::#name as _;)))
            }
            Some(name) => (
                code!(#module::#name),
                Some(code!(use __keys::#module::#name as _;)),
            ),
        };
        let keys = attribute.keys.iter().map(|key| one(&module, key));
        code!(#import #(#keys)*)
    });
    code! {
        const _: () = {
            use #path::__private::keys as __keys;
            #(#attributes)*
        };
    }
}

fn module(place: Place) -> Ident {
    let module = match place {
        Place::Tool => "tool",
        Place::Toolset => "toolset",
        Place::Parameter => "parameter",
        Place::Container => "container",
        Place::Variant => "variant",
        Place::Field => "field",
    };
    Ident::new(module, site())
}

/// The path of a key, and its value if that is code or one of several words. A path can't end with a keyword.
fn one(module: &TokenStream, WrittenKey { name, value }: &WrittenKey) -> TokenStream {
    let key = (name != "as" && name != "crate").then(|| code!(__keys::#module::#name;));
    let value = match (&*name.to_string(), value.clone().into_iter().next()) {
        ("as" | "provides", Some(_)) => Some(code!(let _: #value;)),
        ("programmatic" | "grammar", Some(word)) => Some(code!(__keys::#name::#word;)),
        ("crate", Some(_)) => Some(code!(use #value as _;)),
        // `Self` has no meaning outside of a block, and the handler is declared below.
        ("handler", _) => None,
        (_, Some(TokenTree::Ident(word))) if word == "Self" => None,
        // A flag or a constant.
        (_, Some(TokenTree::Ident(_))) => Some(code!(let _ = #value;)),
        _ => None,
    };
    code!(#key #value)
}

// Input:  fn f(from: &str) -> …
// Output: /// The handler of the tool `f`: the model fills `from`.
//         type f = impl Tool;
//
/// The handler of a function, which has its name and so is shown below it: in few words, and without an implementation, which
/// would cost an editor a fifth more. rustc does not accept such a type, and never sees it.
pub(crate) fn handler(tool: &Tool) -> TokenStream {
    let (path, ident) = (&tool.krate.path, &tool.ident);
    let (vis, cfgs) = (&tool.vis, &tool.cfgs);
    let keys: Vec<_> = tool.parameters.iter().map(|one| one.key.as_str()).collect();
    let filled = match &keys[..] {
        [] => "it takes no arguments".to_owned(),
        keys => format!("the model fills {}", list(keys)),
    };
    let doc = format!(
        "The handler of the tool `{}`: {filled}.",
        tool.name.as_str()
    );
    let docs = code!(#(#cfgs)* #[doc = #doc]);
    let Some(handler) = &tool.handler else {
        return code! {
            #docs
            #[allow(non_camel_case_types)]
            #vis type #ident = impl #path::Tool;
        };
    };
    // The second time not at the user's token, which would show it twice.
    let mut again = handler.clone();
    again.set_span(site());
    code! {
        #docs
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #vis struct #handler;
        const _: () = {
            use #path::__private as __tool_core;
            impl __tool_core::Tool for #again {
                const SOURCE: __tool_core::StaticSpec = __tool_core::InvalidTool::SOURCE;
                const LOCATION: __tool_core::Location = __tool_core::InvalidTool::LOCATION;
            }
        };
    }
}
