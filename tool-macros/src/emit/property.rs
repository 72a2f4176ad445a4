//! The property of a parameter or a field.

use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use super::description;
use crate::model::constraints::{Constraint, Constraints, SchemaOverride};
use crate::model::description::Description;
use crate::model::json_schema::{JsonSchema, Kind};
use crate::util::json;
use crate::util::literal::Literal;
use crate::util::site::{Trees, code, string, trees, trees_at};
use crate::util::tokens::text;

/// A parameter or a field.
pub(super) struct Member<'m> {
    pub(super) key: &'m str,
    pub(super) description: Option<&'m Description>,
    /// The type whose schema it has, unless the constraints override it.
    pub(super) ty: Trees,
    /// The spans of its first and its last token.
    pub(super) ends: (Span, Span),
    pub(super) constraints: &'m Constraints,
    /// The name of the constant of its narrowed schema. A generic type can't have one.
    pub(super) constant: Option<Ident>,
    /// `true` for a field that serde writes, whose type need not be a `ToolType`.
    pub(super) is_written: bool,
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
    pub(super) fn property(&self) -> Trees {
        let name = self.key;
        let literal = match self.description {
            None => Some(""),
            Some(Description::Text(text)) => Some(&**text),
            Some(Description::Constant(_)) => None,
        };
        let tool = self.tool.map(string);
        let tool = tool.map(|tool| trees!(#tool,));
        let mut property = match self.base() {
            // Most strings are the same in JSON. This form is cheaper to compile.
            Base::Type(ty) if json::is_same(name) && literal.is_some_and(json::is_same) => {
                let function = tool.as_ref().map_or("property", |_| "parameter");
                let (name, literal) = (string(name), literal.map(string));
                self.call(function, Some(&ty), trees!(#tool #name, #literal))
            }
            base => {
                let name = text(name);
                let description = match self.description {
                    None => text(""),
                    Some(description) => description::text(description),
                };
                let texts = trees!(#name, #description);
                let (property, check, ty) = match base {
                    Base::Type(ty) => {
                        let property = self.call("property_of", Some(&ty), texts);
                        (property, "checked", Some(ty))
                    }
                    Base::Schema(schema) => {
                        let property = trees!(__tool_core::Property::new(#texts, #schema));
                        (property, "checked_schema", None)
                    }
                };
                match tool {
                    Some(tool) => self.call(check, ty.as_ref(), trees!(#tool #property)),
                    None => property,
                }
            }
        };
        if self.is_optional {
            property = trees!(__tool_core::optional(#property));
        }
        if self.constraints.schema_override.is_some() {
            // Another type decodes the value.
            property = trees!(__tool_core::constrain::inexact(#property));
        }
        if !self.constraints.narrowings.is_empty() {
            let schema = self.schema();
            property = trees! {
                __tool_core::constrain::narrow(
                    #property,
                    __tool_core::constrain::inner(#schema),
                )
            };
        }
        let annotations = self.constraints.annotations.iter();
        annotations.fold(property, |property, one| {
            constrained(&property.into_token_stream(), one).into()
        })
    }

    /// A call that begins and ends where the type does, so that errors about its schema underline
    /// the type.
    fn call(&self, name: &str, ty: Option<&Trees>, arguments: Trees) -> Trees {
        let (first, last) = self.ends;
        let name = Ident::new(name, first);
        let ty = ty.map(|ty| trees_at!(first=> ::<#ty>));
        let mut call = trees_at!(first=> __tool_core::#name #ty);
        call.group(last, Delimiter::Parenthesis, arguments);
        call
    }

    /// The schema of its values, of type `&'static Schema`.
    pub(super) fn schema(&self) -> TokenStream {
        match &self.constant {
            Some(constant) if !self.constraints.narrowings.is_empty() => code!(#constant),
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
        Some(code!(const #constant: &__tool_core::Schema = #schema;))
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
        let inner = code!(__tool_core::constrain::inner(#base));
        let narrowings = self.constraints.narrowings.iter();
        let narrow = narrowings.fold(inner, |schema, narrowing| {
            let narrow = constrained(&schema, narrowing);
            code!(&#narrow)
        });
        // An item of a tuple, or the inside of a newtype, keeps its `null`.
        code!(const { &__tool_core::constrain::as_nullable_as(#base, const { #narrow }) })
    }

    // Input:  #[param(default = 5)] days: u8
    // Output: const _: () = fits(<u8 as ToolType>::SCHEMA, &Literal::Integer(5), "…");
    pub(super) fn check(&self, what: &str, literal: &Literal, span: Span) -> TokenStream {
        let schema = self.schema();
        let constant = literal.constant();
        let message = string(&format!(
            "the {what} {} does not match the schema of `{}`; write a value that does",
            literal.json(),
            self.key,
        ));
        quote_spanned! {span=>
            const _: () = __tool_core::examples::fits(#schema, &#constant, #message);
        }
    }

    /// Checks of the values of annotations.
    pub(super) fn checks(&self) -> impl Iterator<Item = TokenStream> {
        let literals = self.constraints.literals();
        literals.map(|(key, literal, span)| self.check(key, literal, span))
    }

    fn base(&self) -> Base {
        match &self.constraints.schema_override {
            Some(SchemaOverride::Type(ty)) => Base::Type(ty.to_token_stream().into()),
            Some(SchemaOverride::Schema { schema, .. }) => {
                let schema = json_schema(schema);
                Base::Schema(code!(const { &#schema }))
            }
            None if self.is_written => {
                let ty = &self.ty;
                Base::Schema(code!(<__tool_core::Written<#ty>>::SCHEMA))
            }
            None => Base::Type(self.ty.clone()),
        }
    }
}

enum Base {
    Type(Trees),
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

// Input:  {"type":"string","minLength":1}
// Output: constrain::length(&Schema::STRING, 1, usize::MAX)
fn json_schema(json: &JsonSchema) -> TokenStream {
    let schema = code!(__tool_core::Schema);
    let base = match &json.kind {
        Kind::Any => code!(#schema::ANY),
        Kind::Null => code!(#schema::NULL),
        Kind::Boolean => code!(#schema::BOOLEAN),
        Kind::Integer => code!(#schema::INTEGER),
        Kind::Number => code!(#schema::NUMBER),
        Kind::String => code!(#schema::STRING),
        Kind::Enum(values) => {
            let values = values.iter().map(|value| text(value));
            code!(#schema::strings(const { &[#(#values),*] }))
        }
        Kind::Array(items) => {
            let items = json_schema(items);
            code!(#schema::array(const { &#items }))
        }
        Kind::Tuple(items) => {
            let items = items.iter().map(json_schema);
            code!(#schema::tuple(const { &[#(&#items),*] }))
        }
        Kind::Map(values) => {
            let values = json_schema(values);
            code!(#schema::map(const { &#values }))
        }
        Kind::Object(properties) => {
            let properties = properties.iter().map(|(key, is_required, property)| {
                let (key, property) = (text(key), json_schema(property));
                let optional = (!is_required).then(|| code!(.optional()));
                code!(__tool_core::Property::new(
                    #key,
                    __tool_core::Text::EMPTY,
                    const { &#property },
                )#optional)
            });
            code!(#schema::object(const { &[#(#properties),*] }))
        }
        Kind::AnyOf(schemas) => {
            let schemas = schemas.iter().map(json_schema);
            code!(#schema::any_of(const { &[#(&#schemas),*] }))
        }
        Kind::Nullable(inner) => {
            let inner = json_schema(inner);
            code!(#schema::nullable(const { &#inner }))
        }
    };
    let constraints = json.constraints.iter();
    let schema = constraints.fold(base, |base, one| constrained(&code!(&#base), one));
    let description = json.description.clone().map(Description::Text);
    describe(schema, description.as_ref())
}

/// Adds a description to a schema.
pub(super) fn describe(schema: TokenStream, description: Option<&Description>) -> TokenStream {
    match description.map(description::text) {
        Some(description) => code!((#schema).describe(#description)),
        None => schema,
    }
}
