//! The rules for tools, toolsets and types, one function for each rule.

mod plain;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, GenericArgument, GenericParam, PathArguments, ReturnType, Type, TypeParamBound,
};

use crate::attr::{Block, Function, Member, Parameter, ParameterKind, is_conditional, is_tool};
use crate::model::constraints::Constraints;
use crate::model::data::{Data, Shape, Tagging};
use crate::model::parameter::WhenAbsent;
use crate::model::tool::{Owner, Tool, Toolset};
use crate::model::types::{Passing, reference};
use crate::util::errors::Errors;
use crate::util::grammar::{case_error, key_error, tool_name_error};
use crate::util::json::Json;
use crate::util::literal::{Literal, Text};
use crate::util::names::{is_one_of, plain};
use crate::util::tokens::Ends;

/// Checks a function and its tool.
pub(crate) fn tool(function: &Function, tool: &Tool, errors: &mut Errors) {
    // A method has another error.
    if !function.has_body() && !function.is_method() {
        errors.at(
            &function.ident,
            "a tool requires a body; move `#[tool]` to the function that has one; for a trait, that is in \
             an `impl` block with `#[toolset]`",
        );
    }
    misplaced_param(function, errors);
    repeated_tool(function, errors);
    qualifiers(function, errors);
    generics(function, errors);
    parameter_forms(function, tool.owner.as_ref(), errors);
    types(tool, errors);
    future(function, errors);
    output(tool, errors);
    tool_name(tool, errors);
    keys(tool, errors);
    examples(tool, errors);
    freeform(tool, errors);
    provides(tool, errors);
}

/// A tool of a provider has one parameter, which takes the whole input.
fn provides(tool: &Tool, errors: &mut Errors) {
    let Some(ty) = &tool.provides else {
        return;
    };
    if let Some(freeform) = &tool.freeform {
        errors.span(
            freeform.span,
            "the input of a provider's tool is not free-form; remove `freeform`, or `provides`",
        );
    }
    let [parameter, others @ ..] = &*tool.parameters else {
        errors.at(
            ty,
            "a provider's tool requires a parameter for its input; add one of the type that the \
             documentation of this tool names",
        );
        return;
    };
    // Under `#[cfg]`, the parameters may exclude each other.
    for other in others.iter().filter(|other| other.cfgs.is_empty()) {
        errors.at(
            &other.ident,
            "a provider's tool has one parameter besides context, which takes the whole input; remove \
             this one, or `provides`",
        );
    }
    if !matches!(parameter.when_absent, WhenAbsent::None) {
        errors.at(
            &parameter.ident,
            "the input of a provider's tool is never absent; remove the default",
        );
    }
}

/// A free-form tool has one parameter, which every call has.
fn freeform(tool: &Tool, errors: &mut Errors) {
    let Some(freeform) = &tool.freeform else {
        return;
    };
    let (parameter, others) = match &*tool.parameters {
        [] => {
            errors.span(
                freeform.span,
                "a free-form tool requires a parameter for the text; add one, such as `text: &str`",
            );
            return;
        }
        [parameter, others @ ..] => (parameter, others),
    };
    // Under `#[cfg]`, the parameters may exclude each other.
    for other in others.iter().filter(|other| other.cfgs.is_empty()) {
        errors.at(
            &other.ident,
            "a free-form tool has one parameter besides context; remove this one, or `freeform`",
        );
    }
    let is_optional = matches!(parameter.passing, Passing::OptionallyBorrowed(_));
    if is_optional || !matches!(parameter.when_absent, WhenAbsent::None) {
        errors.at(
            &parameter.ident,
            "the text of a free-form tool is never absent; remove the default or the `Option`",
        );
    }
}

/// Checks the patterns of the parameters. A constant checks the rest, where types are known.
fn examples(tool: &Tool, errors: &mut Errors) {
    for example in &tool.examples {
        let Json::Object(arguments) = &example.arguments else {
            continue;
        };
        for (key, argument) in arguments {
            let parameter = tool.parameters.iter().find(|one| one.key.as_str() == *key);
            if let (Some(parameter), Json::String(text)) = (parameter, argument)
                && let Some(pattern) = parameter.constraints.broken_pattern(text)
            {
                let message = format!(
                    "`{key}` of this example does not match the pattern `{pattern}`; write a text \
                     that does"
                );
                errors.at(&example.literal, message);
            }
        }
    }
}

fn misplaced_param(function: &Function, errors: &mut Errors) {
    let is_param = |attr: &&Attribute| attr.path().is_ident("param");
    for attr in function.attrs.iter().filter(is_param) {
        let named = |parameter: &Parameter| match &parameter.kind {
            ParameterKind::Named(ident, _) => Some(plain(ident)),
            _ => None,
        };
        let first = function.parameters.iter().find_map(named);
        errors.at(
            attr,
            format!(
                "`#[param]` belongs to a parameter, not to the function; move it into the \
                 parentheses: `fn {}(#[param(…)] {}: …)`",
                function.ident,
                first.as_deref().unwrap_or("name"),
            ),
        );
    }
}

/// Reports an attribute that would define the tool again.
fn repeated_tool(function: &Function, errors: &mut Errors) {
    for attr in function.attrs.iter().filter(|attr| is_tool(attr)) {
        errors.at(
            attr,
            "`#[tool]` is there twice; remove one, and merge their keys",
        );
    }
}

/// Reports a future as the return type of a sync function, because nobody would poll it.
fn future(function: &Function, errors: &mut Errors) {
    let ReturnType::Type(_, ty) = &function.output else {
        return;
    };
    let is_future = |path: &syn::Path| {
        let last = path.segments.last();
        last.is_some_and(|last| {
            ["Future", "BoxFuture"]
                .iter()
                .any(|name| last.ident == name)
        })
    };
    let returns_future = match &**ty {
        Type::ImplTrait(bounds) => bounds.bounds.iter().any(|bound| match bound {
            TypeParamBound::Trait(bound) => is_future(&bound.path),
            _ => false,
        }),
        Type::Path(path) => is_future(&path.path),
        _ => false,
    };
    if returns_future {
        errors.at(
            ty,
            format!(
                "a future is not a result; write `async fn {}` with the type of its output",
                function.ident
            ),
        );
    }
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
    let reason = "a tool cannot be generic because its schema describes one concrete type";
    for parameter in &function.generics.params {
        match parameter {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(ty) => {
                errors.at(&ty.ident, format!("{reason}; write that type instead"));
            }
            GenericParam::Const(constant) => {
                errors.at(
                    &constant.ident,
                    format!("{reason}; write the number instead"),
                );
            }
        }
    }
}

fn parameter_forms(function: &Function, owner: Option<&Owner>, errors: &mut Errors) {
    for parameter in &function.parameters {
        for attr in parameter.attrs.iter().filter(|attr| is_conditional(attr)) {
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
        // The type decodes the value even if another one describes it.
        unsupported(parameter.passing.inner(), errors);
        let default = match &parameter.when_absent {
            WhenAbsent::Literal(literal, ends) => Some((literal, *ends)),
            _ => None,
        };
        constraints(&parameter.constraints, default, errors);
        // A parameter that `#[cfg]` removes is no error.
        if parameter.cfgs.is_empty() {
            let (name, ty) = (|| plain(&parameter.ident), parameter.passing.inner());
            plain::check(name, ty, &parameter.constraints, default, errors);
        }
    }
}

/// Reports types for which the message of rustc would not help.
fn unsupported(ty: &Type, errors: &mut Errors) {
    let error = match ty {
        Type::ImplTrait(_) => {
            "`impl Trait` cannot be decoded because it does not name a type; write a concrete type"
        }
        Type::TraitObject(_) => "a trait object cannot be decoded; write a concrete type",
        Type::Reference(_) => {
            "only a whole parameter can be borrowed, not a part of it; write an owned type here, \
             such as `String`"
        }
        _ => return parts(ty).for_each(|part| unsupported(part, errors)),
    };
    errors.at(ty, error);
}

/// The types inside a type, one level down.
fn parts(ty: &Type) -> impl Iterator<Item = &Type> {
    let types = match ty {
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
        Type::Slice(slice) => vec![&*slice.elem],
        Type::Array(array) => vec![&*array.elem],
        Type::Group(group) => vec![&*group.elem],
        Type::Paren(paren) => vec![&*paren.elem],
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        _ => Vec::new(),
    };
    types.into_iter()
}

fn output(tool: &Tool, errors: &mut Errors) {
    match &tool.output {
        Some(Type::Never(never)) => errors.at(
            never,
            "a tool must return, but this function never does; remove `-> !`, or write the type \
             that it returns",
        ),
        Some(ty) => parts(ty).for_each(|part| nested_impl_trait(part, errors)),
        None => {}
    }
}

/// Reports `impl Trait` inside a type, which the generated code cannot name.
fn nested_impl_trait(ty: &Type, errors: &mut Errors) {
    if let Type::ImplTrait(_) = ty {
        errors.at(
            ty,
            "`impl Trait` can only be the whole return type of a tool, not a part of it; write a \
             concrete type here",
        );
    }
    parts(ty).for_each(|part| nested_impl_trait(part, errors));
}

fn tool_name(tool: &Tool, errors: &mut Errors) {
    let name = tool.name.as_str();
    if let Some(error) = tool_name_error(name) {
        let key = if name == plain(&tool.ident) {
            ", with `#[tool(name = \"…\")]`"
        } else {
            ""
        };
        errors.at(&tool.name, format!("{error}{key}"));
    }
}

fn keys(tool: &Tool, errors: &mut Errors) {
    for parameter in &tool.parameters {
        let key = parameter.key.as_str();
        if let Some(error) = key_error(key) {
            let rename = if key == plain(&parameter.ident) {
                ", with `#[param(rename = \"…\")]`"
            } else {
                ""
            };
            errors.at(&parameter.key, format!("{error}{rename}"));
        }
    }
    for key in duplicates(tool.parameters.iter().map(|one| (&one.key, &one.cfgs))) {
        errors.at(
            key,
            format!(
                "duplicate parameter key `{}`; rename one parameter, or give it another key with \
                 `#[param(rename = \"…\")]`",
                key.as_str()
            ),
        );
    }
}

/// The names that repeat an earlier one. Two under `#[cfg]` may exclude each other.
fn duplicates<'n>(
    names: impl Iterator<Item = (&'n Text, &'n Vec<Attribute>)>,
) -> impl Iterator<Item = &'n Text> {
    let mut seen: Vec<(&str, bool)> = Vec::new();
    names.filter_map(move |(name, cfgs)| {
        let (text, has_cfg) = (name.as_str(), !cfgs.is_empty());
        let is_duplicate = |(other, cfg): &(&str, bool)| *other == text && !(*cfg && has_cfg);
        let duplicate = seen.iter().any(is_duplicate).then_some(name);
        seen.push((text, has_cfg));
        duplicate
    })
}

/// Checks an `impl` block and the tools in it.
pub(crate) fn toolset(block: &Block, set: &Toolset, errors: &mut Errors) {
    let methods = block.members.iter().filter_map(|member| match member {
        Member::Tool(method) => Some(&method.function),
        _ => None,
    });
    if methods.clone().any(is_rewritten) {
        errors.at(
            &block.ty,
            "`#[async_trait]` has rewritten these methods; write `#[toolset]` above `#[async_trait]`",
        );
        return;
    }
    owned_type(block, errors);
    for (function, one) in methods.zip(&set.tools) {
        tool(function, one, errors);
    }
    let is_other = |member| matches!(member, &Member::Other(_));
    if block.members.iter().all(is_other) {
        errors.at(
            &block.ty,
            "a toolset requires at least one tool; add `#[tool]` to the methods that the model \
             should call",
        );
    }
    for name in duplicates(set.tools.iter().map(|one| (&one.name, &one.cfgs))) {
        errors.at(
            name,
            format!(
                "duplicate tool name `{}` in this toolset; rename one with \
                 `#[tool(name = \"…\")]`",
                name.as_str()
            ),
        );
    }
}

/// Returns `true` if the macro `async_trait` has replaced an async function by one that returns a future.
fn is_rewritten(function: &Function) -> bool {
    let mut parameters = function.generics.params.iter();
    parameters.any(|parameter| {
        matches!(parameter, GenericParam::Lifetime(one) if one.lifetime.ident == "async_trait")
    })
}

/// Returns `true` if a block belongs to a type that a registry could own.
pub(crate) fn is_owned_type(block: &Block) -> bool {
    let mut errors = Errors::default();
    owned_type(block, &mut errors);
    errors.is_empty()
}

fn owned_type(block: &Block, errors: &mut Errors) {
    let borrows = "a toolset cannot borrow because a registry owns it; store owned values, or \
                   share them in an `Arc`";
    for parameter in &block.generics.params {
        if let GenericParam::Lifetime(lifetime) = parameter {
            errors.at(&lifetime.lifetime, borrows);
        }
    }
    if let Some(lifetime) = anonymous_lifetime(block.ty.to_token_stream()) {
        errors.span(lifetime, borrows);
    }
}

/// The span of a `'_`.
fn anonymous_lifetime(tokens: TokenStream) -> Option<Span> {
    let mut after_quote = false;
    tokens.into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) => anonymous_lifetime(group.stream()),
        tree if after_quote && is_one_of(&tree, &["_"]) => Some(tree.span()),
        tree => {
            after_quote = matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == '\'');
            None
        }
    })
}

/// Checks a type that derives `ToolType`.
pub(crate) fn data(data: &Data, errors: &mut Errors) {
    names(&data.shape, errors);
    for field in data.fields() {
        constraints(&field.constraints, None, errors);
        let (name, ty) = (|| field.name(&data.ident), &field.decoded);
        plain::check(name, ty, &field.constraints, None, errors);
        if field.constraints.schema_override.is_none() {
            borrowed(&field.ty, errors);
            if field.is_flat {
                plain::flatten(&name(), ty, errors);
            }
        }
    }
}

/// Reports a field that borrows, because serde would reject every string with an escape.
fn borrowed(ty: &Type, errors: &mut Errors) {
    if let Type::Reference(reference) = ty
        && let Some(lifetime) = &reference.lifetime
        && lifetime.ident != "static"
    {
        errors.at(
            reference,
            "JSON text with escapes cannot be borrowed; write an owned type, such as `String`, or \
             a `Cow`",
        );
    }
    parts(ty).for_each(|part| borrowed(part, errors));
}

fn names(shape: &Shape, errors: &mut Errors) {
    let mut report = |span, error: Option<String>| {
        if let Some(error) = error {
            errors.span(span, format!("{error}, with `#[serde(rename = \"…\")]`"));
        }
    };
    match shape {
        Shape::Object(fields) => {
            for field in fields.iter().filter(|field| !field.is_flat) {
                report(field.span, key_error(&field.key));
            }
        }
        Shape::Enum(tagging, variants) => {
            for (at, variant) in variants.iter().enumerate() {
                let is_key = matches!(tagging, Tagging::External)
                    && !variant.shape.is_unit()
                    && !variant.is_untagged;
                if is_key {
                    report(variant.ident.span(), key_error(&variant.name));
                }
                let others = variants[..at].iter().map(|other| &*other.name);
                report(variant.ident.span(), case_error(&variant.name, others));
            }
            for variant in variants {
                names(&variant.shape, errors);
            }
        }
        _ => {}
    }
}

/// Checks literals against a pattern, which a constant cannot do.
fn constraints(constraints: &Constraints, default: Option<(&Literal, Ends)>, errors: &mut Errors) {
    let annotations = constraints
        .literals()
        .map(|(_, literal, ends)| (literal, ends));
    for (literal, ends) in default.into_iter().chain(annotations) {
        constraints.check_literal(literal, ends, errors);
    }
}
