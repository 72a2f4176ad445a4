//! One parameter or field as a `Property`.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{json_schema, text};
use crate::model::constraints::{Constraint, Constraints, SchemaOverride};
use crate::model::json_schema::read;
use crate::util::json;
use crate::util::literal::Literal;

/// What a member is made of.
pub(super) struct Member<'m> {
    pub(super) key: &'m str,
    pub(super) description: Option<&'m str>,
    /// The type whose schema it has, unless the constraints say otherwise.
    pub(super) ty: TokenStream,
    /// Where that type begins and ends.
    pub(super) ends: (Span, Span),
    pub(super) constraints: &'m Constraints,
    /// The constant that holds its narrowed schema. Where a type has parameters there can be none.
    pub(super) constant: Option<Ident>,
    /// Whether it is optional without its type saying so.
    pub(super) is_optional: bool,
    /// What judges the parameters of its tool. What no tool takes is no provider's business.
    pub(super) judge: Option<&'m Ident>,
}

impl Member<'_> {
    // Input:  /// How many days.
    //         #[param(range = 1..=14)] days: u8
    // Output: narrow(
    //             parameter::<u8>(&mut judge, "days", "How many days."),
    //             inner(__TOOL_NARROW_0),
    //         )
    pub(super) fn property(&self) -> TokenStream {
        let description = self.description.unwrap_or_default();
        let is_plain = |text: &str| json::escape(text) == text;
        let is_plain = is_plain(self.key) && is_plain(description);
        let name = self.key;
        // Few need escapes, so few pay for them.
        let texts = || {
            let (key, described) = (text(self.key), text(description));
            quote!(#key, #described)
        };
        let mut property = match (self.base(), self.judge) {
            (Base::Type(ty), Some(judge)) if is_plain => self.call(
                "parameter",
                Some(&ty),
                quote!(&mut #judge, #name, #description),
            ),
            (Base::Type(ty), None) if is_plain => {
                self.call("property", Some(&ty), quote!(#name, #description))
            }
            (Base::Type(ty), Some(judge)) => {
                let texts = texts();
                let property = quote!(__tool_core::property_of::<#ty>(#texts));
                self.call("judged", Some(&ty), quote!(&mut #judge, #property))
            }
            (Base::Type(ty), None) => self.call("property_of", Some(&ty), texts()),
            (Base::Schema(schema), Some(judge)) => {
                let texts = texts();
                let property = quote!(__tool_core::Property::new(#texts, #schema));
                self.call("judged_alone", None, quote!(&mut #judge, #property))
            }
            (Base::Schema(schema), None) => {
                let texts = texts();
                quote!(__tool_core::Property::new(#texts, #schema))
            }
        };
        if self.is_optional {
            property = quote!(__tool_core::optional(#property));
        }
        if self.constraints.stand_in.is_some() {
            // It is the type itself that decodes.
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
        let annotations = self.constraints.annotations.iter();
        annotations.fold(property, |property, one| constrained(&property, one))
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

    /// The schema of its values: a `&'static Schema`.
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
    // A constant of its own for each narrowed schema, so that one build shows every misfit.
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
                let narrow = constrained(&schema, narrowing);
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

    /// Checks of the values of annotations.
    pub(super) fn checks(&self) -> impl Iterator<Item = TokenStream> {
        let literals = self.constraints.literals();
        literals.map(|(key, literal, span)| self.check(key, literal, span))
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

// Input:  #[param(range = 1..=14)]
// Output: constrain::integers(base, Some(1), Some(14))
fn constrained(base: &TokenStream, constraint: &Constraint) -> TokenStream {
    // The span of the whole call makes an error of the function underline the constraint.
    let function = Ident::new(constraint.function, constraint.span);
    let arguments = &constraint.arguments;
    quote_spanned!(constraint.span=> __tool_core::constrain::#function(#base #(, #arguments)*))
}
