//! What keeps a model from being a tool: one function a rule.

mod toolset;

use proc_macro2::Span;
use syn::{GenericArgument, GenericParam, PathArguments, Type};

pub(crate) use self::toolset::{is_one_type, toolset};
use crate::attr::{Function, ParameterKind, hides};
use crate::model::constraints::{Constraints, SchemaOverride};
use crate::model::data::{Data, Shape, Tagging, Variant};
use crate::model::json_schema;
use crate::model::tool::{Owner, Tool, WhenAbsent};
use crate::model::types::reference;
use crate::util::errors::Errors;
use crate::util::grammar::{is_key, is_tool_name};
use crate::util::literal::Literal;
use crate::util::names::plain;

/// Every rule over a function and the tool that it is meant to be.
pub(crate) fn tool(function: &Function, tool: &Tool, errors: &mut Errors) {
    qualifiers(function, errors);
    generics(function, errors);
    parameter_forms(function, tool.owner.as_ref(), errors);
    types(tool, errors);
    output(tool, errors);
    tool_name(tool, errors);
    keys(tool, errors);
}

fn qualifiers(function: &Function, errors: &mut Errors) {
    if let Some(token) = function.unsafety {
        errors.at(
            token,
            "a tool cannot be `unsafe` because a model cannot uphold safety conditions; write a \
             safe function that checks them",
        );
    }
    if let Some(token) = function.abi {
        errors.at(
            token,
            "a tool cannot be an `extern` function; remove `extern`, or write a Rust function \
             that calls this one",
        );
    }
}

fn generics(function: &Function, errors: &mut Errors) {
    for parameter in &function.generics.params {
        match parameter {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(ty) => errors.at(
                &ty.ident,
                "a tool cannot be generic because its schema describes one concrete type; write \
                 that type instead",
            ),
            GenericParam::Const(constant) => errors.at(
                &constant.ident,
                "a tool cannot be generic because its schema describes one concrete type; write \
                 the number instead",
            ),
        }
    }
}

fn parameter_forms(function: &Function, owner: Option<&Owner>, errors: &mut Errors) {
    for parameter in &function.parameters {
        for attr in parameter.attrs.iter().filter(|attr| hides(attr)) {
            errors.at(
                attr.path(),
                "`#[tool]` cannot evaluate `#[cfg_attr]` on a parameter; write the parameter \
                 twice, under `#[cfg(…)]` and under `#[cfg(not(…))]`",
            );
        }
        match &parameter.kind {
            ParameterKind::Named(..) => {}
            ParameterKind::Receiver(receiver) if owner.is_none() => errors.at(
                receiver.token,
                "a method can only be a tool in an `impl` block with `#[toolset]`; add \
                 `#[toolset]` to its block",
            ),
            ParameterKind::Receiver(receiver) if receiver.is_shared => {}
            ParameterKind::Receiver(receiver) => errors.at(
                receiver.token,
                "concurrent calls share `self`; take `&self`, and keep mutable state in a \
                 `Mutex`",
            ),
            ParameterKind::Variadic(token) => errors.at(
                token,
                "a tool cannot be variadic; take a `Vec` instead of `...`",
            ),
            ParameterKind::Pattern(pattern) => errors.at(
                pattern,
                "a parameter of a tool must have a name; name it here and destructure it in the \
                 body",
            ),
        }
    }
}

fn types(tool: &Tool, errors: &mut Errors) {
    for parameter in &tool.parameters {
        if let Some(reference) = reference(&parameter.ty) {
            if let Some(mutability) = reference.mutability {
                errors.at(
                    mutability,
                    "a tool cannot borrow its arguments mutably; take an owned value and bind it \
                     as `mut`",
                );
            }
            if let Some(lifetime) = reference.lifetime.as_ref().filter(|l| l.ident == "static") {
                errors.at(
                    lifetime,
                    "arguments are dropped at the end of the call; remove `'static`, or take an \
                     owned value",
                );
            }
        }
        // What stands in for the type is decoded by it all the same.
        forbidden(parameter.passing.inner(), errors);
        let default = match &parameter.when_absent {
            WhenAbsent::Literal(literal, span) => Some((literal, *span)),
            _ => None,
        };
        constraints(&parameter.constraints, default, errors);
    }
}

/// Types for which rustc's own message would lead nowhere.
fn forbidden(ty: &Type, errors: &mut Errors) {
    match ty {
        Type::ImplTrait(ty) => errors.at(
            ty,
            "`impl Trait` cannot be decoded because it does not name a type; write a concrete \
             type",
        ),
        Type::TraitObject(ty) => errors.at(
            ty,
            "a trait object cannot be decoded; write a concrete type",
        ),
        Type::Group(group) => forbidden(&group.elem, errors),
        Type::Paren(paren) => forbidden(&paren.elem, errors),
        Type::Reference(reference) => inner_type(&Type::Reference(reference.clone()), errors),
        _ => parts(ty)
            .into_iter()
            .for_each(|part| inner_type(part, errors)),
    }
}

/// The types that a type is written with.
fn parts(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Path(path) => {
            let arguments = path.path.segments.iter().map(|segment| &segment.arguments);
            let listed = arguments.filter_map(|arguments| match arguments {
                PathArguments::AngleBracketed(list) => Some(&list.args),
                _ => None,
            });
            let types = listed.flatten().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.collect()
        }
        Type::Slice(slice) => vec![&slice.elem],
        Type::Array(array) => vec![&array.elem],
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        _ => Vec::new(),
    }
}

fn inner_type(ty: &Type, errors: &mut Errors) {
    match ty {
        Type::Reference(reference) => errors.at(
            reference,
            "only a whole parameter can be borrowed, not a part of it; write an owned type here, \
             such as `String`",
        ),
        other => forbidden(other, errors),
    }
}

fn output(tool: &Tool, errors: &mut Errors) {
    match &tool.output {
        Some(Type::Never(never)) => errors.at(
            never,
            "a tool must return, but this function never does; remove `-> !`, or write the type \
             that it returns",
        ),
        Some(ty) => parts(ty)
            .into_iter()
            .for_each(|part| nameless(part, errors)),
        None => {}
    }
}

/// `impl Trait` inside of a type, which the call could not repeat.
fn nameless(ty: &Type, errors: &mut Errors) {
    match ty {
        Type::ImplTrait(ty) => errors.at(
            ty,
            "`impl Trait` can only be the whole return type of a tool, not a part of it; write a \
             concrete type here",
        ),
        _ => parts(ty)
            .into_iter()
            .for_each(|part| nameless(part, errors)),
    }
}

fn tool_name(tool: &Tool, errors: &mut Errors) {
    let name = tool.name.value();
    if !is_tool_name(&name) {
        let remedy = match name == plain(&tool.ident) {
            true => " in `#[tool(name = \"…\")]`",
            false => "",
        };
        errors.at(
            &tool.name,
            format!(
                "`{name}` is not a valid tool name for every provider; use an ASCII letter or `_`, \
                 then at most 63 ASCII letters, digits, `_` or `-`{remedy}"
            ),
        );
    }
}

fn keys(tool: &Tool, errors: &mut Errors) {
    let mut seen: Vec<(String, bool)> = Vec::new();
    for parameter in &tool.parameters {
        let key = parameter.key.value();
        if !is_key(&key) {
            let remedy = match key == plain(&parameter.ident) {
                true => " in `#[param(rename = \"…\")]`",
                false => "",
            };
            errors.at(&parameter.key, bad_key(&key, remedy));
        }
        // Of two with `#[cfg]`, only one may be there.
        let has_cfg = !parameter.cfgs.is_empty();
        if seen
            .iter()
            .any(|(other, cfg)| *other == key && !(*cfg && has_cfg))
        {
            errors.at(
                &parameter.key,
                format!(
                    "duplicate parameter key `{key}`; rename one parameter, or give it another \
                     key with `#[param(rename = \"…\")]`"
                ),
            );
        }
        seen.push((key, has_cfg));
    }
}

/// Every rule over a type.
pub(crate) fn data(data: &Data, errors: &mut Errors) {
    shape_keys(&data.shape, errors);
    for field in data.fields() {
        constraints(&field.constraints, None, errors);
        if field.constraints.stand_in.is_none() {
            lent(&field.ty, errors);
        }
    }
}

/// A field that borrows. serde would refuse every string with an escape in it.
fn lent(ty: &Type, errors: &mut Errors) {
    match ty {
        Type::Reference(reference) => {
            let lifetime = reference.lifetime.as_ref();
            if lifetime.is_some_and(|lifetime| lifetime.ident != "static") {
                errors.at(
                    reference,
                    "JSON text with escapes cannot be borrowed; write an owned type, such as \
                     `String`, or a `Cow`",
                );
            }
        }
        Type::Group(group) => lent(&group.elem, errors),
        Type::Paren(paren) => lent(&paren.elem, errors),
        _ => parts(ty).into_iter().for_each(|part| lent(part, errors)),
    }
}

fn shape_keys(shape: &Shape, errors: &mut Errors) {
    let remedy = " in `#[serde(rename = \"…\")]`";
    match shape {
        Shape::Object(fields) => {
            for field in fields
                .iter()
                .filter(|field| !field.is_flat && !is_key(&field.key))
            {
                errors.span(field.span, bad_key(&field.key, remedy));
            }
        }
        Shape::Enum(tagging, variants) => {
            for (at, variant) in variants.iter().enumerate() {
                let around = matches!(tagging, Tagging::External) && !variant.shape.is_unit();
                if around && !variant.is_untagged && !is_key(&variant.name) {
                    errors.span(variant.span, bad_key(&variant.name, remedy));
                }
                let twin = |other: &&Variant| {
                    other.name != variant.name
                        && other.name.to_lowercase() == variant.name.to_lowercase()
                };
                // Anthropic's strict mode may return a value in another case.
                if let Some(twin) = variants[..at].iter().find(twin) {
                    errors.span(
                        variant.span,
                        format!(
                            "`{}` and `{}` differ only in case, which not every provider preserves; \
                             rename one{remedy}",
                            twin.name, variant.name
                        ),
                    );
                }
                shape_keys(&variant.shape, errors);
            }
        }
        _ => {}
    }
}

/// The texts of a `#[param]` that a constant can't judge: written schemas, and literals beside a
/// pattern.
fn constraints(constraints: &Constraints, default: Option<(&Literal, Span)>, errors: &mut Errors) {
    if let Some(SchemaOverride::Schema(written)) = &constraints.stand_in
        && let Err(problem) = json_schema::read(&written.value())
    {
        errors.at(written, problem);
    }
    let example = constraints
        .example
        .as_ref()
        .map(|(literal, span)| (literal, *span));
    for (literal, span) in default.into_iter().chain(example) {
        constraints.check_literal(literal, span, errors);
    }
}

fn bad_key(key: &str, remedy: &str) -> String {
    format!(
        "`{key}` is not a valid key for every provider; use an ASCII letter or `_`, \
         then at most 63 ASCII letters, digits or `_`{remedy}"
    )
}
