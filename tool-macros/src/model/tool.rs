//! The model of a `#[tool]` function.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, LitStr, Path, ReturnType, Type, Visibility, parse_quote};

use super::constraints::Constraints;
use super::description;
use super::doc_sections::{Argument, DocSections};
use super::injected::Injected;
use super::types::{Passing, ends, peel, without_lifetimes};
use crate::attr::{Function, Keys, ParameterKind};
use crate::util::docs;
use crate::util::errors::Errors;
use crate::util::literal::Literal;
use crate::util::names::plain;

/// A function that is to be a tool.
pub(crate) struct Tool {
    pub(crate) krate: Path,
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    /// `#[cfg]`s of the function, which hold for everything that is generated.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) is_async: bool,
    pub(crate) name: LitStr,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: String,
    pub(crate) when_to_use: Option<String>,
    pub(crate) returns: Option<String>,
    /// read-only, destructive, idempotent, open world
    pub(crate) annotations: [Option<bool>; 4],
    pub(crate) unlinked: bool,
    /// The type that its function is an item of.
    pub(crate) owner: Option<Owner>,
    /// Where the attribute stands.
    pub(crate) mark: Span,
    /// Whether the function's page in rustdoc tells what a model sees.
    pub(crate) has_page: bool,
    /// Sync, and off the threads that run futures.
    pub(crate) is_blocking: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) injected: Vec<Injected>,
    pub(crate) output: Option<Type>,
}

/// Where the function of a tool stands.
#[derive(Clone, Copy)]
pub(crate) enum Place<'p> {
    /// By itself.
    Free,
    /// In an `impl` block with `#[toolset]`.
    Method {
        krate: &'p Path,
        ty: &'p Type,
        mark: Span,
    },
}

/// The type of a toolset.
pub(crate) struct Owner {
    pub(crate) ty: Type,
    /// Whether the function takes `&self`.
    pub(crate) is_borrowed: bool,
}

/// A parameter that a model fills.
pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) key: LitStr,
    pub(crate) description: Option<String>,
    pub(crate) ty: Type,
    pub(crate) passing: Passing,
    /// The type behind the borrow, where no lifetime of the function means anything.
    pub(crate) erased: TokenStream,
    /// Where that type begins and ends.
    pub(crate) ends: (Span, Span),
    pub(crate) constraints: Constraints,
    pub(crate) when_absent: WhenAbsent,
}

/// What stands in for a parameter that a call leaves out.
pub(crate) enum WhenAbsent {
    /// Nothing does, unless its type is optional.
    None,
    /// `Default::default()`, which the schema does not show.
    OfType,
    /// This value.
    Literal(Literal, Span),
}

impl Tool {
    pub(crate) fn new(
        keys: Keys,
        function: &Function,
        place: Place<'_>,
        errors: &mut Errors,
    ) -> Tool {
        let mut keys = keys;
        let is_described = keys.has_similar("description");
        let krate = match place {
            Place::Free => keys
                .path("crate", errors)
                .unwrap_or_else(|| parse_quote!(::tool_core)),
            Place::Method { krate, .. } => {
                if let Some(key) = keys.take("crate") {
                    errors.span(
                        key.span(),
                        "a method cannot have its own `crate`; write `#[toolset(crate = …)]` on \
                         the block",
                    );
                }
                krate.clone()
            }
        };
        let name = keys
            .text("name", errors)
            .unwrap_or_else(|| LitStr::new(&plain(&function.ident), function.ident.span()));
        let title = keys.text("title", errors);
        let described = keys.text("description", errors);
        let flags = ["read_only", "destructive", "idempotent", "open_world"]
            .map(|flag| keys.flag(flag, errors));
        if let [Some((true, _)), Some((true, span)), ..] = flags {
            errors.span(
                span,
                "a read-only tool cannot be destructive; remove `read_only` or `destructive`",
            );
        }
        let unlinked = keys.flag("unlinked", errors);
        if let (Place::Method { .. }, Some((_, span))) = (place, unlinked) {
            errors.span(
                span,
                "a method is never linked because it needs a registered value; remove `unlinked`",
            );
        }
        let has_page = keys.flag("doc", errors).is_none_or(|(flag, _)| flag);
        let is_blocking = blocking(&mut keys, function, errors);
        let timeout = timeout(&mut keys, function, is_blocking, errors);
        keys.finish(errors);

        let mut sections = docs::sections(docs::lines(&function.attrs)).into_iter();
        let before = sections
            .next()
            .map_or_else(Vec::new, |section| section.lines);
        let description = description(described, &before, errors);
        if description.is_none() && !is_described {
            match docs::from_macro(&function.attrs) {
                Some(text) => errors.at(
                    text,
                    "a tool requires a description, and `#[tool]` cannot expand this macro; add \
                     a doc comment with the description",
                ),
                None => errors.at(
                    &function.ident,
                    "a tool requires a description; add a doc comment that tells the model when \
                     to call it",
                ),
            }
        }
        let mut told = DocSections::default();
        for section in sections {
            told.add(section, errors);
        }
        let output = match &function.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(peel(ty).clone()),
        };
        if output.as_ref().is_none_or(is_unit) {
            told.report_returns(errors);
        }
        let (parameters, injected) = parameters(function, &told.arguments, errors);
        for argument in &told.arguments {
            let names: Vec<_> = parameters.iter().map(|one| plain(&one.ident)).collect();
            if injected.iter().any(|one| one.ident == argument.name) {
                argument.report_injected(errors);
            } else if !names.contains(&argument.name) {
                argument.report_unknown(&names, errors);
            }
        }
        Tool {
            krate,
            ident: function.ident.clone(),
            vis: function.vis.clone(),
            cfgs: cfgs(&function.attrs),
            is_async: function.asyncness.is_some(),
            name,
            title,
            description: description.unwrap_or_default(),
            when_to_use: told.when_to_use,
            returns: told.returns,
            annotations: flags.map(|flag| flag.map(|(value, _)| value)),
            unlinked: unlinked.is_some_and(|(flag, _)| flag),
            owner: match place {
                Place::Free => None,
                Place::Method { ty, .. } => Some(Owner {
                    ty: ty.clone(),
                    is_borrowed: function.is_method(),
                }),
            },
            mark: match place {
                Place::Free => Span::call_site(),
                Place::Method { mark, .. } => mark,
            },
            has_page,
            is_blocking,
            timeout,
            parameters,
            injected,
            output,
        }
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

pub(super) fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    let is_cfg = |attr: &&Attribute| attr.path().is_ident("cfg");
    attrs.iter().filter(is_cfg).cloned().collect()
}

/// The key `blocking`.
fn blocking(keys: &mut Keys, function: &Function, errors: &mut Errors) -> bool {
    let Some((is_blocking, span)) = keys.flag("blocking", errors) else {
        return false;
    };
    if is_blocking && function.asyncness.is_some() {
        errors.span(
            span,
            "an async function cannot be `blocking`; remove `blocking` or `async`",
        );
    }
    is_blocking
}

/// The key `timeout`.
fn timeout(
    keys: &mut Keys,
    function: &Function,
    is_blocking: bool,
    errors: &mut Errors,
) -> Option<Duration> {
    let text = keys.text("timeout", errors)?;
    let limit = duration(&text.value());
    if limit.is_none() {
        errors.at(
            &text,
            "invalid timeout; write a whole number greater than zero and `ms`, `s`, `m` or `h`, \
             such as `\"30s\"`",
        );
    } else if function.asyncness.is_none() && !is_blocking {
        errors.at(
            &text,
            "a timeout cannot stop a sync function; add `blocking`, or make the function `async`",
        );
    }
    limit
}

/// `30s`, `500ms`, `2m`, `1h`: more than nothing.
fn duration(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
    let factor = match unit.trim_start() {
        "ms" => return Some(Duration::from_millis(number)),
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    number.checked_mul(factor).map(Duration::from_secs)
}

/// The parameters that have a name and a type, for the model and for the application. The others
/// are reported by `check`.
fn parameters(
    function: &Function,
    arguments: &[Argument],
    errors: &mut Errors,
) -> (Vec<Parameter>, Vec<Injected>) {
    let mut parameters = Vec::new();
    let mut injected = Vec::new();
    for written in &function.parameters {
        let mut keys = Keys::of_attributes("#[param]", "param", &written.attrs, errors);
        let is_injected = Injected::is_meant(&mut keys, &written.kind, errors);
        if let (ParameterKind::Named(ident, ty), true) = (&written.kind, is_injected) {
            keys.finish_injected(errors);
            let cfgs = cfgs(&written.attrs);
            let before = parameters.len();
            injected.extend(Injected::new(ident, ty, cfgs, before, errors));
            continue;
        }
        let described = keys.text("description", errors);
        let renamed = keys.text("rename", errors);
        let when_absent = match keys.literal("default", errors) {
            None => WhenAbsent::None,
            Some((None, _)) => WhenAbsent::OfType,
            Some((Some(literal), span)) => WhenAbsent::Literal(literal, span),
        };
        let constraints = Constraints::read(&mut keys, errors);
        keys.finish(errors);
        let ParameterKind::Named(ident, ty) = &written.kind else {
            continue;
        };
        let own = description(described, &docs::lines(&written.attrs), errors);
        let name = plain(ident);
        let listed = arguments.iter().find(|argument| argument.name == name);
        if let (Some(_), Some(listed)) = (&own, &listed) {
            errors.span(
                listed.span,
                format!(
                    "duplicate description of `{name}`, here and on the parameter; remove one of \
                     the two"
                ),
            );
        }
        let passing = Passing::of(ty);
        parameters.push(Parameter {
            key: renamed.unwrap_or_else(|| LitStr::new(&name, ident.span())),
            ident: ident.clone(),
            cfgs: cfgs(&written.attrs),
            description: own.or(listed.map(|listed| listed.text.clone())),
            erased: without_lifetimes(passing.inner()),
            ends: ends(passing.inner()),
            passing,
            ty: (**ty).clone(),
            constraints,
            when_absent,
        });
    }
    (parameters, injected)
}
