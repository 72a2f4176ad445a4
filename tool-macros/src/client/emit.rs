//! Writes the module of a client: types, and functions of one call each.

use proc_macro2::TokenStream;

use super::types::{Api, Field, Function, Shape, Ty, Type};
use crate::util::markdown;
use crate::util::site::{code, respanned, string};

/// A longer description is cut.
const DESCRIPTION: usize = 1000;

/// The traits that an enum has without a derive of the user.
const OF_ENUM: [&str; 2] = ["Clone", "Copy"];

pub(super) fn items(api: &Api, derives: &[syn::Path]) -> TokenStream {
    let functions = api.functions.iter().map(function);
    let types = api.types.iter().map(|of| ty(of, derives));
    functions.chain(types).collect()
}

fn function(function: &Function) -> TokenStream {
    let Function {
        tool,
        ident,
        arguments,
        ..
    } = function;
    let docs = docs(&markdown::code(tool), &function.description);
    let output = match &function.output {
        Some(output) => written(output),
        None => code!(__client::ToolResult),
    };
    let tool = string(tool);
    code! {
        #docs
        pub fn #ident(import: &__client::Import, arguments: #arguments) -> __client::Call<#output> {
            __client::call(import, #tool, arguments)
        }
    }
}

fn ty(ty: &Type, derives: &[syn::Path]) -> TokenStream {
    let docs = docs(&ty.title, &ty.description);
    match &ty.shape {
        Shape::Struct(fields) => structure(ty, fields, derives, &docs),
        Shape::Enum(variants) => enumeration(ty, variants, derives, &docs),
    }
}

/// The user chooses the derives, because rustc checks their code: three take as long as everything else of a client.
fn structure(
    ty: &Type,
    fields: &[Field],
    derives: &[syn::Path],
    docs: &TokenStream,
) -> TokenStream {
    let ident = &ty.ident;
    let is_empty = !fields.iter().any(|field| field.is_required);
    let default = (is_empty && ty.is_argument).then(|| code!(#[derive(::core::default::Default)]));
    let derives = (!derives.is_empty()).then(|| code!(#[derive(#(#derives),*)]));
    let members = fields.iter().map(|field| {
        let (docs, ident) = (
            self::docs(&markdown::code(&field.key), &field.description),
            &field.ident,
        );
        let ty = written(&field.ty);
        let ty = if is_optional(field) {
            code!(__client::Option<#ty>)
        } else {
            ty
        };
        code!(#docs pub #ident: #ty,)
    });
    let conversion = if ty.is_argument {
        into_json(ty, fields)
    } else {
        from_json(ty, fields)
    };
    let new = (!is_empty && ty.is_argument).then(|| new(ty, fields));
    code! {
        #docs
        #default
        #derives
        pub struct #ident { #(#members)* }
        #new
        #conversion
    }
}

/// An optional value that may be null is `None` either way.
fn is_optional(field: &Field) -> bool {
    !field.is_required && !matches!(field.ty, Ty::Nullable(_))
}

fn new(ty: &Type, fields: &[Field]) -> TokenStream {
    let ident = &ty.ident;
    let required = fields.iter().filter(|field| field.is_required);
    let parameters = required.map(|field| {
        let (name, ty) = (&field.ident, written(&field.ty));
        match field.ty {
            Ty::String => code!(#name: impl ::core::convert::Into<#ty>),
            _ => code!(#name: #ty),
        }
    });
    let members = fields.iter().map(|field| {
        let name = &field.ident;
        match (field.is_required, &field.ty) {
            (true, Ty::String) => code!(#name: ::core::convert::Into::into(#name)),
            (true, _) => code!(#name),
            (false, _) => code!(#name: __client::None),
        }
    });
    code! {
        impl #ident {
            /// Creates it with all that the server requires, in the order of the fields.
            pub fn new(#(#parameters),*) -> #ident {
                #ident { #(#members),* }
            }
        }
    }
}

fn into_json(ty: &Type, fields: &[Field]) -> TokenStream {
    let ident = &ty.ident;
    let members = fields.iter().map(|field| {
        let (key, name) = (string(&field.key), &field.ident);
        if field.is_required {
            code!((#key, __client::required(self.#name)))
        } else {
            code!((#key, __client::optional(self.#name)))
        }
    });
    code! {
        impl __client::IntoJson for #ident {
            fn into_json(self) -> __client::Value {
                __client::object([#(#members),*])
            }
        }
    }
}

fn from_json(ty: &Type, fields: &[Field]) -> TokenStream {
    let ident = &ty.ident;
    let keys = fields.iter().map(|field| {
        let (key, is_required) = (string(&field.key), field.is_required);
        let is_required = respanned(is_required);
        code!((#key, #is_required))
    });
    let names: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    // Few deep tuples, because rustc limits how deep types are.
    let (fours, rest) = names.as_chunks::<4>();
    let inner = rest
        .iter()
        .rfold(code!(()), |inner, name| code!((#name, #inner)));
    let members = fours
        .iter()
        .rfold(inner, |inner, four| code!((#(#four,)* #inner)));
    code! {
        impl __client::FromJson for #ident {
            fn from_json(json: __client::Value) -> __client::Result<#ident> {
                __client::read(json, &[#(#keys),*], |#members| #ident { #(#names),* })
            }
        }
    }
}

fn enumeration(
    ty: &Type,
    variants: &[(String, proc_macro2::Ident)],
    derives: &[syn::Path],
    docs: &TokenStream,
) -> TokenStream {
    let ident = &ty.ident;
    let derives = derives.iter().filter(|derive| {
        let last = derive.segments.last();
        !last.is_some_and(|last| OF_ENUM.iter().any(|known| last.ident == known))
    });
    let defined = variants.iter().map(|(text, variant)| {
        let docs = self::docs(&markdown::code(text), "");
        code!(#docs #variant,)
    });
    let texts = variants.iter().map(|(text, variant)| {
        let text = string(text);
        code!((#text, #ident::#variant))
    });
    let conversion = if ty.is_argument {
        code! {
            impl __client::IntoJson for #ident {
                fn into_json(self) -> __client::Value {
                    __client::text(#ident::TEXTS, self as __client::usize)
                }
            }
        }
    } else {
        code! {
            impl __client::FromJson for #ident {
                fn from_json(json: __client::Value) -> __client::Result<#ident> {
                    __client::of_text(#ident::TEXTS, json)
                }
            }
        }
    };
    code! {
        #docs
        #[derive(Clone, Copy #(, #derives)*)]
        pub enum #ident { #(#defined)* }
        impl #ident {
            const TEXTS: &'static [(&'static str, #ident)] = &[#(#texts),*];
        }
        #conversion
    }
}

fn written(ty: &Ty) -> TokenStream {
    match ty {
        Ty::Json => code!(__client::Value),
        Ty::String => code!(__client::String),
        Ty::Integer => code!(__client::i64),
        Ty::Number => code!(__client::f64),
        Ty::Boolean => code!(__client::bool),
        Ty::List(item) => {
            let item = written_inside(item);
            code!(__client::Vec<#item>)
        }
        Ty::Map(value) => {
            let value = written_inside(value);
            code!(__client::BTreeMap<__client::String, #value>)
        }
        Ty::Nullable(inner) => {
            let inner = written(inner);
            code!(__client::Option<#inner>)
        }
        Ty::Named(ident) => code!(#ident),
        Ty::Boxed(ident) => code!(__client::Box<#ident>),
    }
}

/// A list or a map needs no box around what it contains.
fn written_inside(ty: &Ty) -> TokenStream {
    match ty {
        Ty::Boxed(ident) => code!(#ident),
        ty => written(ty),
    }
}

/// Documents an item on one line that begins with our words, so that no text of a server becomes a block of code, which
/// would be a test.
fn docs(title: &str, description: &str) -> TokenStream {
    // Rust prints characters that change how others are shown as escapes.
    let is_hidden = |c: char| !c.is_ascii() && c.escape_debug().len() > 1;
    let is_shown = |c: char| c == '\n' || !(c.is_control() || is_hidden(c));
    let shown: String = description
        .trim()
        .chars()
        .filter(|c| is_shown(*c))
        .take(DESCRIPTION)
        .collect();
    let docs = match &*shown {
        "" => title.to_owned(),
        shown => format!("{title}: {}", markdown::cell(shown)),
    };
    let docs = string(&format!(" {docs}"));
    code!(#[doc = #docs])
}
