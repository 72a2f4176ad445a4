//! The property of a parameter or a field.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{json_schema, option, text};
use crate::model::constraints::{Constraints, Narrowing, SchemaOverride};
use crate::model::json_schema::read;
use crate::util::json;
use crate::util::literal::Literal;

/// A parameter or a field.
pub(super) struct Member<'m> {
    pub(super) key: &'m str,
    pub(super) description: Option<&'m str>,
    /// The type whose schema it has, unless the constraints override it.
    pub(super) ty: TokenStream,
    /// The spans of its first and its last token.
    pub(super) ends: (Span, Span),
    pub(super) constraints: &'m Constraints,
    /// The name of the constant of its narrowed schema. A generic type can't have one.
    pub(super) constant: Option<Ident>,
    /// `true` for `Option<&T>`, whose `ty` is `T`.
    pub(super) is_optional: bool,
    /// The tool of a parameter. Provider rules are checked for parameters only: a type that no tool
    /// accepts may break them.
    pub(super) tool: Option<&'m str>,
}

impl Member<'_> {
    // Input:  /// How many days.
    //         #[param(range = 1..=14)] days: u8
    // Output: narrow(
    //             parameter::<u8>("f", "days", "How many days."),
    //             inner(__TOOL_NARROW_0),
    //         )
    pub(super) fn property(&self) -> TokenStream {
        let name = self.key;
        let description = self.description.unwrap_or_default();
        let is_escaped = |text: &str| json::escape(text) != text;
        // Most texts are the same in JSON, so the short form is cheaper to compile.
        let texts = if is_escaped(name) || is_escaped(description) {
            None
        } else {
            Some(quote!(#name, #description))
        };
        let with_json = || {
            let (name, description) = (text(name), text(description));
            quote!(#name, #description)
        };
        let mut property = match (self.base(), self.tool, texts) {
            (Base::Type(ty), Some(tool), Some(texts)) => {
                self.call("parameter", Some(&ty), quote!(#tool, #texts))
            }
            (Base::Type(ty), Some(tool), None) => {
                let texts = with_json();
                let property = quote!(__tool_core::property_of::<#ty>(#texts));
                self.call("checked", Some(&ty), quote!(#tool, #property))
            }
            (Base::Type(ty), None, Some(texts)) => self.call("property", Some(&ty), texts),
            (Base::Type(ty), None, None) => self.call("property_of", Some(&ty), with_json()),
            (Base::Schema(schema), tool, _) => {
                let texts = with_json();
                let property = quote!(__tool_core::Property::new(#texts, #schema));
                match tool {
                    Some(tool) => self.call("checked_schema", None, quote!(#tool, #property)),
                    None => property,
                }
            }
        };
        if self.is_optional {
            property = quote!(__tool_core::optional(#property));
        }
        if self.constraints.stand_in.is_some() {
            // Another type decodes the value.
            property = quote!(__tool_core::constrain::stand_in(#property));
        }
        if !self.constraints.narrowings.is_empty() {
            let schema = self.schema();
            property = quote! {
                __tool_core::constrain::narrow(
                    #property,
                    __tool_core::constrain::inner(#schema),
                )
            };
        }
        if let Some((example, _)) = &self.constraints.example {
            let example = example.json();
            property = quote!(__tool_core::constrain::example(#property, #example));
        }
        property
    }

    /// A call that begins and ends where the type does, so that errors about its schema underline
    /// the type.
    fn call(&self, name: &str, ty: Option<&TokenStream>, arguments: TokenStream) -> TokenStream {
        let (first, last) = self.ends;
        let name = Ident::new(name, first);
        let ty = ty.map(|ty| quote_spanned!(first=> ::<#ty>));
        let function = quote_spanned!(first=> __tool_core::#name #ty);
        let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
        arguments.set_span(last);
        quote!(#function #arguments)
    }

    /// The schema of its values, of type `&'static Schema`.
    pub(super) fn schema(&self) -> TokenStream {
        match &self.constant {
            Some(constant) if !self.constraints.narrowings.is_empty() => quote!(#constant),
            _ => self.narrow(),
        }
    }

    // Input:  #[param(range = 1..=14)] days: u8
    // Output: const __TOOL_NARROW_0: &Schema = const {
    //             &as_nullable_as(
    //                 <u8 as ToolType>::SCHEMA,
    //                 const { &constrain::integers(constrain::inner(<u8 as ToolType>::SCHEMA), Some(1), Some(14)) },
    //             )
    //         };
    //
    // A constant for each, so that one build shows all errors.
    pub(super) fn definition(&self) -> Option<TokenStream> {
        let constant = self.constant.as_ref()?;
        if self.constraints.narrowings.is_empty() {
            return None;
        }
        let schema = self.narrow();
        Some(quote!(const #constant: &__tool_core::Schema = #schema;))
    }

    fn narrow(&self) -> TokenStream {
        let base = match self.base() {
            Base::Type(ty) => {
                quote_spanned!(self.ends.0=> <#ty as __tool_core::ToolType>::SCHEMA)
            }
            Base::Schema(schema) => schema,
        };
        if self.constraints.narrowings.is_empty() {
            return base;
        }
        let inner = quote!(__tool_core::constrain::inner(#base));
        let narrow = self
            .constraints
            .narrowings
            .iter()
            .fold(inner, |schema, narrowing| {
                let narrow = narrowed(&schema, narrowing);
                quote!(&#narrow)
            });
        // An item of a tuple, or the inside of a newtype, keeps its `null`.
        quote!(const { &__tool_core::constrain::as_nullable_as(#base, const { #narrow }) })
    }

    // Input:  #[param(default = 5)] days: u8
    // Output: const _: () = fits(<u8 as ToolType>::SCHEMA, &Literal::Integer(5), "…");
    pub(super) fn check(&self, what: &str, literal: &Literal, span: Span) -> TokenStream {
        let schema = self.schema();
        let constant = literal.constant();
        let message = format!(
            "the {what} {} does not match the schema of `{}`; write a value that does",
            literal.json(),
            self.key,
        );
        quote_spanned! {span=>
            const _: () = __tool_core::check::fits(#schema, &#constant, #message);
        }
    }

    fn base(&self) -> Base {
        match &self.constraints.stand_in {
            Some(SchemaOverride::Type(ty)) => Base::Type(quote!(#ty)),
            Some(SchemaOverride::Schema(written)) => match read(&written.value()) {
                Ok(described) => {
                    let schema = json_schema::schema(&described);
                    Base::Schema(quote!(const { &#schema }))
                }
                // `check` has reported it.
                Err(_) => Base::Schema(quote!(&__tool_core::Schema::ANY)),
            },
            None => Base::Type(self.ty.clone()),
        }
    }
}

enum Base {
    Type(TokenStream),
    Schema(TokenStream),
}

fn narrowed(schema: &TokenStream, (narrowing, span): &(Narrowing, Span)) -> TokenStream {
    // The span of the whole call makes "fits a number only" underline the constraint.
    macro_rules! call {
        ($name:ident, $($argument:ident),*) => {
            quote_spanned!(*span=>
                __tool_core::constrain::$name(#schema $(, #$argument)*)
            )
        };
    }
    let bound = |value: f64, is_exclusive: bool| {
        let json = Literal::Number(value).json();
        quote!(__tool_core::constrain::bound(#value, #json, #is_exclusive))
    };
    match narrowing {
        Narrowing::Integers(from, to) => {
            let (from, to) = (option(*from), option(*to));
            call!(integers, from, to)
        }
        Narrowing::Numbers(from, to) => {
            let from = option(from.map(|end| bound(end.value, end.is_exclusive)));
            let to = option(to.map(|end| bound(end.value, end.is_exclusive)));
            call!(numbers, from, to)
        }
        Narrowing::Length(from, to) => {
            let to = json_schema::most(*to);
            call!(length, from, to)
        }
        Narrowing::Pattern(pattern, regex) => {
            let pattern = text(pattern);
            call!(pattern, pattern, regex)
        }
        Narrowing::Format(format) => call!(format, format),
        Narrowing::MultipleOfInteger(step) => call!(multiple_of_integer, step),
        Narrowing::MultipleOfNumber(step) => {
            let step = bound(*step, false);
            call!(multiple_of_number, step)
        }
        Narrowing::Unique => call!(unique,),
    }
}
