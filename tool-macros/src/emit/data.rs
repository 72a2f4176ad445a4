//! `ToolType` for structs and enums.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Deref;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Type, parse_quote_spanned};

use super::bounds::{add_bounds, has_schema_of_type, is_written_so};
use super::decode::{decode, decode_nothing, is_exact};
use super::property::{Member, call_between, describe, with_aliases};
use super::{block, description};
use crate::model::data::{Data, Field, Results, Shape, Tagging, Variant};
use crate::model::decoding::Conversion;
use crate::model::description::{Description, Part};
use crate::model::types::is_scalar;
use crate::util::names::plain;
use crate::util::site::{code, respanned, site, string, trees_at};
use crate::util::tokens::{add_predicate, ends, text};

// Input:  struct Place<T> { … }
// Output: const _: () = {
//             impl<T> ToolType for Place<T> where Vec<T>: ToolType { const SCHEMA: &'static Schema = &…; }
//             impl<T> NamedType for Place<T> { const NAME: &'static str = "Place"; }
//         };
pub(crate) fn data(data: &Data) -> TokenStream {
    let emitter = Emitter {
        data,
        flattened: RefCell::default(),
    };
    let schema = schema(&emitter);
    let flattened = emitter.flattened.into_inner();
    let decode = decode(data);
    let constants = constants(data);
    implementation(
        data,
        &schema,
        &writes(data),
        &flattened,
        code!(#decode #constants),
    )
}

/// The type, and the parts that its schema needs beside itself.
struct Emitter<'d> {
    data: &'d Data,
    /// The parameters and the items of the implementations of `Flattened`.
    flattened: RefCell<Vec<TokenStream>>,
}

impl Deref for Emitter<'_> {
    type Target = Data;

    fn deref(&self) -> &Data {
        self.data
    }
}

/// The implementation for a type that has errors. Without it, every use of the type would be another
/// error.
pub(crate) fn fallback(data: &Data) -> TokenStream {
    let schema = code!(__tool_core::Schema::ANY);
    implementation(data, &schema, &code!(0), &[], decode_nothing(data))
}

fn implementation(
    data: &Data,
    schema: &TokenStream,
    writes: &TokenStream,
    flattened: &[TokenStream],
    decode: TokenStream,
) -> TokenStream {
    let Data { krate, ident, .. } = data;
    let name = string(&plain(ident));
    let (parameters, arguments, conditions) = data.generics.split_for_impl();
    let mut generics = data.generics.clone();
    add_bounds(data, &mut generics);
    let (_, _, bounds) = generics.split_for_impl();
    let key = map_key(data);
    let is_own = respanned(data.decoding.by_serde.is_none());
    let flattened = flattened.iter().map(|one| {
        let (arguments_and_items, ident) = (one.clone().into_iter(), ident);
        let body: Vec<_> = arguments_and_items.collect();
        let (items, numbers) = body.split_last().expect("it ends with a block");
        code! {
            #[automatically_derived]
            impl #parameters __tool_core::flatten::Flattened #(#numbers)* for #ident #arguments
                #bounds #items
        }
    });
    let implementation = code! {
        #[automatically_derived]
        impl #parameters __tool_core::ToolType for #ident #arguments #bounds {
            const SCHEMA: &'static __tool_core::Schema = &const { #schema };
            const EXACT: ::core::primitive::bool = #is_own;
            const WRITES: ::core::primitive::u8 = #writes;
        }

        #[automatically_derived]
        impl #parameters __tool_core::NamedType for #ident #arguments #conditions {
            const NAME: &'static ::core::primitive::str = #name;
        }

        #decode
        #key
        #(#flattened)*
    };
    block(krate, &[], implementation).into()
}

// Input:  enum Unit { Celsius }
// Output: impl MapKey for Unit {}
fn map_key(data: &Data) -> Option<TokenStream> {
    let ident = &data.ident;
    let (parameters, arguments, _) = data.generics.split_for_impl();
    match &data.shape {
        Shape::Enum(Tagging::External, variants)
            if variants.iter().all(|variant| variant.shape.is_unit()) =>
        {
            Some(code!(impl #parameters __tool_core::MapKey for #ident #arguments {}))
        }
        Shape::Transparent(field) if has_schema_of_type(field) => {
            let mut generics = data.generics.clone();
            let ty = &field.ty;
            // The lifetime delays the check of the bound until the type is used as a key.
            add_predicate(
                &mut generics,
                parse_quote_spanned!(site()=> for<'__key> #ty: __tool_core::MapKey),
            );
            let (_, _, conditions) = generics.split_for_impl();
            Some(code! {
                #[allow(unused_lifetimes)]
                impl #parameters __tool_core::MapKey for #ident #arguments #conditions {}
            })
        }
        _ => None,
    }
}

// Input:  struct Place { name: String, latitude: f64, longitude: f64 }
// Output: { use NotExact as _; Exactness::<String>::WRITES & Exactness::<f64>::WRITES }
//
// If serde's derived code writes exactly the described form, the guarantee depends on the fields.
fn writes(data: &Data) -> TokenStream {
    let shape = match &data.results {
        Results::Same => &data.shape,
        Results::Other(shape) => shape,
        Results::Unknown => return code!(0),
    };
    if !is_written_by_type(shape) {
        return code!(0);
    }
    match &types(shape)[..] {
        [] => code!(__tool_core::WRITES_EXACTLY),
        types => code!({
            #[allow(unused_imports)]
            use __tool_core::NotExact as _;
            #(__tool_core::Exactness::<#types>::WRITES)&*
        }),
    }
}

/// The types of all fields, each once.
fn types(shape: &Shape) -> Vec<&Type> {
    let mut spelled = HashSet::new();
    let types = shape.fields().into_iter().map(|field| &field.ty);
    types
        .filter(|ty| spelled.insert(ty.to_token_stream().to_string()))
        .collect()
}

/// Returns `true` if serde writes each member by its type and nothing else. A flattened map may
/// contain a key of the struct.
fn is_written_by_type(shape: &Shape) -> bool {
    match shape {
        Shape::Object(fields) | Shape::Tuple(fields) => fields
            .iter()
            .all(|field| is_written_so(field) && !field.is_flat),
        Shape::Transparent(field) => is_written_so(field),
        Shape::Unit => true,
        Shape::Enum(tagging, variants) => variants.iter().all(|variant| {
            let is_flat = matches!(tagging, Tagging::Internal(_))
                && matches!(variant.shape, Shape::Transparent(_))
                && !variant.is_untagged;
            !is_flat && is_written_by_type(&variant.shape)
        }),
    }
}

/// The narrowed schemas and checked literals of fields. A generic type can't have such constants.
fn constants(data: &Data) -> TokenStream {
    if !data.generics.params.is_empty() {
        return TokenStream::new();
    }
    let constants = data.fields().into_iter().map(|field| {
        let member = member(data, field);
        let checks = member.checks();
        let definition = member.definition();
        code!(#definition #(#checks)*)
    });
    constants.collect()
}

// Input:  struct Place { latitude: f64 }
// Output: named(Schema::object(const { &[property::<f64>(…)] }).describe(…), "Place")
fn schema(data: &Emitter<'_>) -> TokenStream {
    let name = string(&plain(&data.ident));
    let schema = describe(shape(data, &data.shape), data.description.as_ref());
    let named = code!(__tool_core::named(#schema, #name));
    let named = match &data.results {
        Results::Same => named,
        Results::Unknown => {
            code!(__tool_core::with_results(#named, &__tool_core::UNKNOWN))
        }
        Results::Other(results) => {
            let results = shape(data, results);
            code!({
                #[allow(unused_imports)]
                use __tool_core::NoWritten as _;
                __tool_core::with_results(#named, const { &#results })
            })
        }
    };
    let named = if data.decoding.by_serde.is_some() || !data.generics.params.is_empty() {
        named
    } else {
        // Only in unit tests, because a build compiles the `Deserialize` of every type for it.
        code!({
            let __schema = #named;
            #[cfg(test)]
            let __schema = {
                #[allow(unused_imports)]
                use __tool_core::NoDecodeCheck as _;
                __tool_core::with_comparison(
                    __schema,
                    __tool_core::Comparison::<Self>::VALUE,
                    __tool_core::VerdictComparison::<Self>::VALUE,
                )
            };
            __schema
        })
    };
    if let Some(Conversion::TryFrom) = data.decoding.conversion {
        code!({
            #[allow(unused_imports)]
            use __tool_core::NoDecodeCheck as _;
            __tool_core::with_decode_check(#named, __tool_core::DecodeCheck::<Self>::VALUE)
        })
    } else {
        named
    }
}

/// The schema of a shape, of type `Schema`.
fn shape(data: &Emitter<'_>, shape: &Shape) -> TokenStream {
    let schema = code!(__tool_core::Schema);
    match shape {
        Shape::Object(fields) => object(data, Object::Struct, &[], fields),
        Shape::Transparent(field) => {
            let inner = schema_of(data, field);
            code!(*#inner)
        }
        Shape::Tuple(fields) => {
            let items = fields.iter().map(|field| schema_of(data, field));
            code!(#schema::tuple(const { &[#(#items),*] }))
        }
        Shape::Unit => code!(#schema::NULL),
        Shape::Enum(tagging, variants) => variants_schema(data, tagging, variants),
    }
}

// Input:  enum Shape { Circle { radius: f64 }, Point }
// Output: Schema::any_of(const { &[
//             const { &Schema::object(const { &[property "Circle"] }) },
//             const { &Schema::strings(const { &["Point"] }) },
//         ] })
fn variants_schema(data: &Emitter<'_>, tagging: &Tagging, variants: &[Variant]) -> TokenStream {
    let is_string = |variant: &&Variant| {
        variant.shape.is_unit() && !variant.is_untagged && matches!(tagging, Tagging::External)
    };
    let (plain, others): (Vec<_>, Vec<_>) = variants.iter().partition(is_string);
    let mut branches = Vec::new();
    if !plain.is_empty() {
        let is_open = plain.iter().any(|variant| variant.is_other);
        let tagged: Vec<_> = others
            .iter()
            .copied()
            .filter(|one| !one.is_untagged)
            .collect();
        branches.push(except(strings(&plain), is_open, &tagged));
    }
    branches.extend(
        others
            .iter()
            .map(|variant| branch(data, tagging, variants, variant)),
    );
    // A schema of results, for which the order of the variants does not matter.
    let is_written = variants.iter().any(|variant| variant.is_written);
    // serde tries one variant after the other.
    let is_untagged = matches!(tagging, Tagging::None) || variants.iter().any(|v| v.is_untagged);
    match &branches[..] {
        [only] => only.clone(),
        _ if is_untagged && !is_written => {
            // The span makes "would read as an earlier one" underline the enum.
            let most = respanned(variants.len() + 64);
            quote_spanned! {data.ident.span()=>
                __tool_core::flatten::untagged(
                    const { &[#(const { &#branches }),*] },
                    const {
                        &__tool_core::flatten::leaves::<#most>(
                            const { &[#(const { &#branches }),*] },
                        )
                    },
                )
            }
        }
        _ => {
            let list = code!(const { &[#(const { &#branches }),*] });
            let may_nest = |variant: &Variant| match &variant.shape {
                Shape::Transparent(_) => true,
                Shape::Object(fields) => fields.iter().any(|field| field.is_flat),
                _ => false,
            };
            if matches!(tagging, Tagging::Internal(_)) && variants.iter().any(may_nest) {
                let most = respanned(variants.len() + 64);
                code!(__tool_core::flatten::union(
                    #list,
                    const { &__tool_core::flatten::leaves::<#most>(#list) },
                ))
            } else {
                code!(__tool_core::Schema::any_of(#list))
            }
        }
    }
}

// Input:  enum Shape { Circle(f64), #[serde(other)] Unknown }
// Output: except(strings(…), const { &["Circle"] })
//
// A `#[serde(other)]` variant accepts all names but the other variants'.
fn except(schema: TokenStream, is_open: bool, others: &[&Variant]) -> TokenStream {
    if !is_open || others.is_empty() {
        return schema;
    }
    let names = others
        .iter()
        .flat_map(|variant| std::iter::once(&variant.name).chain(&variant.aliases));
    let names = names.map(|name| string(name));
    code!(__tool_core::except(#schema, const { &[#(#names),*] }))
}

/// The unit variants, as one enum of strings with notes.
fn strings(variants: &[&Variant]) -> TokenStream {
    let all = variants.iter();
    let (listed, other): (Vec<&Variant>, Vec<&Variant>) = all
        .clone()
        .partition(|one| !one.is_other || variants.len() == 1);
    let values = listed.iter().map(|variant| text(&variant.name));
    let is_open = respanned(all.clone().any(|variant| variant.is_other));
    // The variant for other strings comes after the values.
    let aliases = listed.iter().chain(&other).enumerate();
    let aliases = aliases.flat_map(|(index, variant)| {
        let name = Some(&variant.name).filter(|_| index >= listed.len());
        let names = name.into_iter().chain(&variant.aliases);
        names.map(move |name| {
            let (name, index) = (string(name), respanned(index));
            code!((#name, #index))
        })
    });
    let notes = notes(&all.copied().collect::<Vec<_>>());
    code! {
        __tool_core::strings(
            const { &[#(#values),*] },
            const { &[#(#aliases),*] },
            #is_open,
            #notes,
        )
    }
}

/// The descriptions of unit variants, as `Text`.
fn notes(variants: &[&Variant]) -> TokenStream {
    let mut parts = Vec::new();
    for variant in variants {
        if let Some(description) = &variant.description {
            let line = if parts.is_empty() { "" } else { "\n" };
            parts.extend(
                description
                    .clone()
                    .after(format!("{line}{}: ", variant.name)),
            );
        }
    }
    let literal = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        _ => None,
    };
    match parts.iter().map(literal).collect::<Option<String>>() {
        Some(notes) => text(&notes),
        None => description::text(&Description::Constant(parts)),
    }
}

/// The schema of one variant with its tag.
fn branch(
    data: &Emitter<'_>,
    tagging: &Tagging,
    variants: &[Variant],
    variant: &Variant,
) -> TokenStream {
    let schema = match tagging {
        _ if variant.is_untagged => untagged(data, variant),
        Tagging::None => untagged(data, variant),
        Tagging::External => {
            let member = content_property(data, &variant.name, &variant.aliases, variant);
            code!(__tool_core::Schema::object(const { &[#member] }))
        }
        Tagging::Internal(tag) => {
            let tag = tag_of(tag, variants, variant);
            match &variant.shape {
                Shape::Object(fields) => object(data, Object::Struct, &[tag], fields),
                Shape::Transparent(field) => {
                    object(data, Object::Newtype, &[tag], std::slice::from_ref(field))
                }
                // serde ignores what follows the tag.
                _ => code!(__tool_core::structure(const { &[#tag] }, false)),
            }
        }
        Tagging::Adjacent(tag, content) => {
            let tag = tag_of(tag, variants, variant);
            match &variant.shape {
                Shape::Unit if variant.is_skipped_newtype => {
                    let key = text(content);
                    let content = code!(__tool_core::null_content(#key));
                    object(data, Object::Struct, &[tag, content], &[])
                }
                Shape::Unit => object(data, Object::Struct, &[tag], &[]),
                _ => {
                    let content = content_property(data, content, &[], variant);
                    object(data, Object::Struct, &[tag, content], &[])
                }
            }
        }
    };
    describe(schema, variant.description.as_ref())
}

/// The schema of a variant without a tag.
fn untagged(data: &Emitter<'_>, variant: &Variant) -> TokenStream {
    match &variant.shape {
        Shape::Object(fields) => object(data, Object::Untagged, &[], fields),
        other => shape(data, other),
    }
}

/// The property that contains the fields of a variant.
fn content_property(
    data: &Emitter<'_>,
    key: &str,
    aliases: &[String],
    variant: &Variant,
) -> TokenStream {
    let key = text(key);
    let inner = shape(data, &variant.shape);
    let is_exact = is_exact(&variant.shape, |field| &field.ty);
    let property = code!(__tool_core::content(#key, const { &#inner }, #is_exact));
    if aliases.is_empty() {
        return property;
    }
    let details = with_aliases("", "", aliases);
    code!(#property.details(#details))
}

/// The property that identifies a variant.
fn tag_of(tag: &str, variants: &[Variant], variant: &Variant) -> TokenStream {
    let (tag, value) = (text(tag), text(&variant.name));
    let aliases = variant.aliases.iter().map(|alias| {
        let alias = string(alias);
        code!((#alias, 0))
    });
    let is_open = respanned(variant.is_other);
    let others = variants
        .iter()
        .filter(|one| !one.is_untagged && !one.is_other);
    let constant = code! {
        __tool_core::constant(
            const { &[#value] },
            const { &[#(#aliases),*] },
            #is_open,
        )
    };
    let constant = except(constant, variant.is_other, &others.collect::<Vec<_>>());
    code!(__tool_core::tag(#tag, const { &#constant }))
}

/// How serde reads an object.
#[derive(Clone, Copy, PartialEq)]
enum Object {
    /// As a struct, also from an array.
    Struct,
    /// As an untagged variant with named fields, never from an array.
    Untagged,
    /// As the type that an internally tagged variant holds.
    Newtype,
}

// Input:  { name: String }
// Output: structure(const { &[property::<String>(…)] }, false)
//
// Input:  { name: String, #[serde(flatten)] kind: Kind }
// Output: flatten::object::<Self, 0, 3>(), and the properties for the implementation of `Flattened`
//
// An object with these properties and these fields.
fn object(
    data: &Emitter<'_>,
    object: Object,
    properties: &[TokenStream],
    fields: &[Field],
) -> TokenStream {
    let is_newtype = object == Object::Newtype;
    let has_flat = is_newtype || fields.iter().any(|field| field.is_flat);
    let is_written = fields.iter().any(|field| field.is_written);
    let fields = fields.iter().flat_map(|field| match object {
        Object::Newtype => flattened("content", data, field).to_vec(),
        _ if field.is_flat => flattened("field", data, field).to_vec(),
        _ => vec![property(data, field)],
    });
    let properties: Vec<_> = properties.iter().cloned().chain(fields).collect();
    let denies_unknown = respanned(data.denies_unknown);
    if has_flat {
        let number = respanned(data.flattened.borrow().len());
        let count = respanned(properties.len());
        let is_newtype = respanned(is_newtype);
        let (function, fallback) = if is_written {
            let fallback = code! {
                #[allow(unused_imports)]
                use __tool_core::NoWritten as _;
            };
            ("written", Some(fallback))
        } else {
            ("object", None)
        };
        let function = Ident::new(function, site());
        data.flattened.borrow_mut().push(code! {
            <#number, #count> {
                const PROPERTIES: [__tool_core::Property; #count] = {
                    #fallback
                    [#(#properties),*]
                };
                const IS_NEWTYPE: ::core::primitive::bool = #is_newtype;
                const DENIES_UNKNOWN: ::core::primitive::bool = #denies_unknown;
            }
        });
        return code!(__tool_core::flatten::#function::<Self, #number, #count>());
    }
    let function = if object == Object::Untagged {
        "fields"
    } else {
        "structure"
    };
    let function = Ident::new(function, site());
    code!(__tool_core::#function(const { &[#(#properties),*] }, #denies_unknown))
}

/// The two properties that stand for the members of another type.
fn flattened(function: &str, data: &Data, field: &Field) -> [TokenStream; 2] {
    let schema = schema_of(data, field);
    let ends = ends(&field.ty);
    let name = (function == "field" && !field.is_written).then(|| {
        let name = string(&field.name(&data.ident));
        code!(, #name)
    });
    let function = Ident::new(if field.is_written { "flat" } else { function }, ends.0);
    let function = trees_at!(ends.0=> __tool_core::flatten::#function);
    [
        // With these spans, errors underline the type.
        call_between(ends, function, code!(#schema #name).into()).into(),
        code!(__tool_core::flatten::definition(#schema)),
    ]
}

fn property(data: &Data, field: &Field) -> TokenStream {
    let member = member(data, field);
    let mut property = TokenStream::from(member.property());
    if field.is_buffered {
        let ends = ends(&field.ty);
        let function = trees_at!(ends.0=> __tool_core::check::buffered_property);
        property = call_between(ends, function, property.into()).into();
    }
    if field.has_default {
        property = code!(#property.optional());
    }
    if field.is_skipped {
        property = code!(#property.skipped_in_results());
    }
    property
}

/// The schema of a field, of type `&'static Schema`.
fn schema_of(data: &Data, field: &Field) -> TokenStream {
    let schema = member(data, field).schema();
    if !field.is_buffered {
        return schema;
    }
    let ends = ends(&field.ty);
    let function = trees_at!(ends.0=> __tool_core::check::buffered);
    call_between(ends, function, schema.into()).into()
}

fn member<'m>(data: &Data, field: &'m Field) -> Member<'m> {
    Member {
        key: &field.key,
        name: if field.constraints.is_empty() {
            String::new()
        } else {
            field.name(&data.ident)
        },
        description: field.description.as_ref(),
        ty: field.ty.to_token_stream().into(),
        ends: ends(&field.ty),
        is_scalar: field.constraints.schema_override.is_none() && is_scalar(&field.ty),
        constraints: &field.constraints,
        constant: (data.generics.params.is_empty())
            .then(|| format_ident!("__TOOL_NARROW_{}", field.number, span = site()))
            .filter(|_| !field.is_written),
        is_written: field.is_written,
        is_optional: false,
        default: None,
        aliases: &field.aliases,
        tool: None,
    }
}
