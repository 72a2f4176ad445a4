//! The property of a parameter or a field.

use proc_macro2::{Delimiter, Ident, TokenStream};
use quote::ToTokens;

use super::description;
use crate::model::constraint::Constraint;
use crate::model::constraints::{Constraints, SchemaOverride};
use crate::model::description::Description;
use crate::model::json_schema::{JsonSchema, Kind};
use crate::util::json;
use crate::util::literal::Literal;
use crate::util::site::{Trees, code, number, string, trees, trees_at};
use crate::util::tokens::{Ends, text};

/// A parameter or a field.
pub(super) struct Member<'m> {
    pub(super) key: &'m str,
    /// The parameter or the field in Rust, for messages.
    pub(super) name: String,
    pub(super) description: Option<&'m Description>,
    /// The type whose schema it has, unless the constraints override it.
    pub(super) ty: Trees,
    /// Where it is.
    pub(super) ends: Ends,
    /// `true` for a type that certainly is a `ToolType`.
    pub(super) is_scalar: bool,
    pub(super) constraints: &'m Constraints,
    /// The name of the constant of its narrowed schema. A generic type can't have one.
    pub(super) constant: Option<Ident>,
    /// `true` for a field that serde writes, whose type need not be a `ToolType`.
    pub(super) is_written: bool,
    /// `true` for `Option<&T>`, whose `ty` is `T`.
    pub(super) is_optional: bool,
    /// The default that the schema shows, as JSON text.
    pub(super) default: Option<String>,
    /// Other accepted names.
    pub(super) aliases: &'m [String],
    /// The tool of a parameter. Provider rules are checked for parameters only: a type that no tool
    /// accepts may break them.
    pub(super) tool: Option<&'m str>,
}

impl Member<'_> {
    // Input:  /// How many days.
    //         #[param(range = 1..=14)] days: u8
    // Output: narrow(
    //             parameter::<u8>("f", "daysHow many days.", 4),
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
                let texts = string(&[name, literal.unwrap_or_default()].concat());
                let length = number(name.len());
                self.of_type("", &ty, trees!(#tool #texts, #length))
            }
            base => {
                let texts = description::property(name, self.description);
                match base {
                    Base::Type(ty) => self.of_type("_of", &ty, trees!(#tool #texts)),
                    Base::Schema(schema) => {
                        let property = trees!(__tool_core::schema_property(#texts, #schema));
                        match tool {
                            Some(tool) => {
                                self.call("checked_schema", None, trees!(#tool #property))
                            }
                            None => property,
                        }
                    }
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
        match details(self.default.as_deref(), self.constraints, self.aliases) {
            Some(details) => trees!(#property.details(#details)),
            None => property,
        }
    }

    // Output: parameter::<u8>("f", "daysHow many days.", 4)
    fn of_type(&self, suffix: &str, ty: &Trees, arguments: Trees) -> Trees {
        let function = self.tool.map_or("property", |_| "parameter");
        let call = self.call(&format!("{function}{suffix}"), Some(ty), arguments);
        if self.is_scalar {
            return call;
        }
        // rustc reports the bound of the function once more at the same place, and leaves that out. Of the bound
        // alone, it would show the function, too.
        let schema = self.schema_of(ty);
        trees!({ let _ = #schema; #call })
    }

    // Output: <u8 as ToolType>::SCHEMA
    //
    // With these spans, "cannot be used in the signature" underlines the type.
    fn schema_of(&self, ty: &Trees) -> Trees {
        let (first, last) = self.ends;
        let schema = Ident::new("SCHEMA", last);
        trees_at!(first=> <#ty as __tool_core::ToolType>::#schema)
    }

    /// A call that begins and ends where the type does, so that errors about its schema underline
    /// the type.
    fn call(&self, name: &str, ty: Option<&Trees>, arguments: Trees) -> Trees {
        let first = self.ends.0;
        let name = Ident::new(name, first);
        let ty = ty.map(|ty| trees_at!(first=> ::<#ty>));
        let function = trees_at!(first=> __tool_core::#name #ty);
        call_between(self.ends, function, arguments)
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
            Base::Type(ty) => self.schema_of(&ty).into(),
            Base::Schema(schema) => schema,
        };
        if self.constraints.narrowings.is_empty() {
            return base;
        }
        let inner = code!(__tool_core::constrain::inner(#base));
        let narrowings = self.constraints.narrowings.iter();
        let narrow = narrowings.fold(inner, |schema, narrowing| {
            let narrow = self.constrained(&schema, narrowing);
            code!(&#narrow)
        });
        // An item of a tuple, or the inside of a newtype, keeps its `null`.
        code!(const { &__tool_core::constrain::as_nullable_as(#base, const { #narrow }) })
    }

    // Input:  #[param(default = 5)] days: u8
    // Output: const _: () = fits(<u8 as ToolType>::SCHEMA, "days", "default", &Literal::Integer(5));
    pub(super) fn check(&self, what: &str, literal: &Literal, ends: Ends) -> TokenStream {
        let (name, what) = (string(&self.name), string(what));
        let (schema, literal) = (self.schema(), literal.constant());
        let check = call_between(
            ends,
            trees_at!(ends.0=> __tool_core::examples::fits),
            code!(#schema, #name, #what, &#literal).into(),
        );
        code!(const _: () = #check;)
    }

    /// Checks of the values of annotations.
    pub(super) fn checks(&self) -> impl Iterator<Item = TokenStream> {
        let literals = self.constraints.literals();
        literals.map(|(key, literal, ends)| self.check(key, literal, ends))
    }

    fn base(&self) -> Base {
        match &self.constraints.schema_override {
            Some(SchemaOverride::Type(ty)) => Base::Type(ty.to_token_stream().into()),
            Some(SchemaOverride::Schema { schema, .. }) => {
                let schema = self.json_schema(schema);
                Base::Schema(code!(const { &#schema }))
            }
            None if self.is_written => {
                let ty = &self.ty;
                Base::Schema(code!(<__tool_core::Written<#ty>>::SCHEMA))
            }
            None => Base::Type(self.ty.clone()),
        }
    }

    // Input:  #[param(range = 1..=14)] days: u8
    // Output: constrain::integers(base, "days", Some(1), Some(14))
    //
    // The call begins and ends where the constraint does, so that an error underlines it.
    fn constrained(&self, base: &TokenStream, constraint: &Constraint) -> Trees {
        let first = constraint.ends.0;
        let function = Ident::new(constraint.function, first);
        let name = constraint.can_misfit().then(|| string(&self.name));
        let name = name.map(|name| trees!(#name,));
        let arguments = &constraint.arguments;
        let arguments = code!(#base, #name #(#arguments),*);
        call_between(
            constraint.ends,
            trees_at!(first=> __tool_core::constrain::#function),
            arguments.into(),
        )
    }

    // Input:  {"type":"string","minLength":1}
    // Output: constrain::length(&Schema::STRING, 1, usize::MAX)
    fn json_schema(&self, json: &JsonSchema) -> TokenStream {
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
                let items = self.json_schema(items);
                code!(#schema::array(const { &#items }))
            }
            Kind::Tuple(items) => {
                let items = items.iter().map(|one| self.json_schema(one));
                code!(#schema::tuple(const { &[#(&#items),*] }))
            }
            Kind::Map(values) => {
                let values = self.json_schema(values);
                code!(#schema::map(const { &#values }))
            }
            Kind::Object(properties) => {
                let properties = properties.iter().map(|(key, is_required, property)| {
                    let (key, property) = (text(key), self.json_schema(property));
                    let optional = (!is_required).then(|| code!(.optional()));
                    code!(__tool_core::Property::new(#key, const { &#property })#optional)
                });
                code!(#schema::object(const { &[#(#properties),*] }))
            }
            Kind::AnyOf(schemas) => {
                let schemas = schemas.iter().map(|one| self.json_schema(one));
                code!(#schema::any_of(const { &[#(&#schemas),*] }))
            }
            Kind::Nullable(inner) => {
                let inner = self.json_schema(inner);
                code!(#schema::nullable(const { &#inner }))
            }
        };
        let constraints = json.constraints.iter();
        let schema = constraints.fold(base, |base, one| {
            self.constrained(&code!(&#base), one).into()
        });
        let description = json.description.clone().map(Description::Text);
        describe(schema, description.as_ref())
    }
}

// Output: const { &details("5", "7", &["amount"]) }
/// Details that few properties have, of type `&'static PropertyDetails`.
fn details(
    default: Option<&str>,
    constraints: &Constraints,
    aliases: &[String],
) -> Option<TokenStream> {
    let example = constraints.literals().next();
    let example = example.map(|(_, literal, _)| literal.json());
    if default.is_none() && example.is_none() && aliases.is_empty() {
        return None;
    }
    let (default, example) = (default.unwrap_or_default(), example.unwrap_or_default());
    Some(with_aliases(default, &example, aliases))
}

/// The same, for the default and the example as JSON text, which may be empty.
pub(super) fn with_aliases(default: &str, example: &str, aliases: &[String]) -> TokenStream {
    let (default, example) = (string(default), string(example));
    let aliases = aliases.iter().map(|alias| string(alias));
    code!(const { &__tool_core::details(#default, #example, &[#(#aliases),*]) })
}

/// A call of a function that is underlined between two tokens.
pub(super) fn call_between((_, last): Ends, function: Trees, arguments: Trees) -> Trees {
    let mut call = function;
    call.group(last, Delimiter::Parenthesis, arguments);
    call
}

enum Base {
    Type(Trees),
    Schema(TokenStream),
}

/// Adds a description to a schema.
pub(super) fn describe(schema: TokenStream, description: Option<&Description>) -> TokenStream {
    match description.map(description::text) {
        Some(description) => code!((#schema).describe(#description)),
        None => schema,
    }
}
