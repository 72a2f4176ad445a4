//! The model of a `#[tool]` function and of a `#[toolset]` block.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Generics, LitInt, LitStr, ReturnType, Token, Type, Visibility};

use super::clients::ForClients;
use super::constraints::Constraints;
use super::description::Description;
use super::doc_sections::{Argument, DocSections};
use super::freeform::Freeform;
use super::parameter::{ContextParameter, Parameter, WhenAbsent};
use super::types::{Passing, erased, peel};
use super::{Krate, krate};
use crate::attr::{
    Block, Function, Keys, Member, ParameterKind, TextOrConstant, with_self_replaced,
};
use crate::util::docs;
use crate::util::errors::Errors;
use crate::util::grammar::tag_error;
use crate::util::json::{self, Json};
use crate::util::literal::Text;
use crate::util::names::plain;
use crate::util::site::site;
use crate::util::tokens::add_predicate;

/// A function with `#[tool]`.
pub(crate) struct Tool {
    pub(crate) krate: Krate,
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    /// The `#[cfg]`s of the function, for everything that is generated.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) is_async: bool,
    pub(crate) name: Text,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Description,
    pub(crate) when_to_use: Option<Description>,
    pub(crate) returns: Option<Description>,
    pub(crate) tags: Vec<LitStr>,
    /// `meta` and `icons`.
    pub(crate) for_clients: Option<ForClients>,
    /// read-only, destructive, idempotent, open world
    pub(crate) annotations: [Option<bool>; 4],
    pub(crate) unlinked: bool,
    /// The name of the handler if it is not the function's.
    pub(crate) handler: Option<Ident>,
    /// The type whose `impl` block contains the function.
    pub(crate) owner: Option<Owner>,
    pub(crate) attribute_span: Span,
    /// Set unless `doc = false` disables the section on the function's page in rustdoc.
    pub(crate) has_page: bool,
    /// `parallel`, with its value.
    pub(crate) parallel: Option<bool>,
    /// Set for a tool that models get only when they search for it.
    pub(crate) is_deferred: bool,
    /// `strict`, with its value.
    pub(crate) strict: Option<bool>,
    /// `eager_input`, with its value.
    pub(crate) eager_input: Option<bool>,
    /// `ends_run`, with its value.
    pub(crate) ends_run: Option<bool>,
    /// Set if the model goes on while a call runs.
    pub(crate) is_background: bool,
    /// Set for a sync function that runs on a thread for blocking work.
    pub(crate) is_blocking: bool,
    pub(crate) timeout: Option<Duration>,
    /// Set if the model writes the argument as text.
    pub(crate) freeform: Option<Freeform>,
    /// The tool of a provider that the function is the body of.
    pub(crate) provides: Option<Type>,
    /// `programmatic`: `true` if only programs call the tool, and the span.
    pub(crate) programmatic: Option<(bool, Span)>,
    /// Calls, in the order of their keys.
    pub(crate) examples: Vec<Example>,
    /// The parameters that the model fills.
    pub(crate) parameters: Vec<Parameter>,
    /// The parameters that the application fills.
    pub(crate) context: Vec<ContextParameter>,
    pub(crate) output: Option<Type>,
}

/// `example = r#"{…}"#`
pub(crate) struct Example {
    pub(crate) literal: LitStr,
    /// The arguments, an object.
    pub(crate) arguments: Json,
    /// Their JSON text, without white space.
    pub(crate) text: String,
}

/// An `impl` block with `#[toolset]`.
pub(crate) struct Toolset {
    pub(crate) krate: Krate,
    pub(crate) ty: Type,
    /// The generics of the implementations for it; empty if the block has none.
    pub(crate) generics: Generics,
    /// `block = 2`, or `None` for the first block of a type.
    pub(crate) number: Option<LitInt>,
    /// Unset if the keys of the number are wrong, and nobody knows which block it is.
    pub(crate) is_numbered: bool,
    /// The numbers of the further blocks, in the first one: 2 up to `blocks = …`.
    pub(crate) further: Vec<LitInt>,
    /// The `#[cfg]`s of the block, for everything that is generated.
    pub(crate) cfgs: Vec<Attribute>,
    /// In the order of the block.
    pub(crate) tools: Vec<Tool>,
}

/// The scope that a tool's function is an item of.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'s> {
    /// A module, or the body of another function.
    Module,
    /// An `impl` block with `#[toolset]`.
    Toolset {
        krate: &'s Krate,
        block: &'s Block,
        generics: &'s Generics,
        attribute_span: Span,
    },
}

/// The type of a toolset.
pub(crate) struct Owner {
    pub(crate) ty: Type,
    /// The implemented trait, if the function is one of a trait.
    pub(crate) of_trait: Option<TokenStream>,
    pub(crate) generics: Generics,
    /// Set if the function takes `&self`.
    pub(crate) has_receiver: bool,
}

/// The keys of a function that a method can't have.
const NOT_OF_METHODS: [(&str, &str); 3] = [
    (
        "crate",
        "a method cannot have its own `crate`; write `#[toolset(crate = …)]` on the block",
    ),
    (
        "unlinked",
        "a method is never linked because it needs a registered value; remove `unlinked`",
    ),
    (
        "handler",
        "a method has no handler because it needs a registered value; remove `handler`",
    ),
];

impl Tool {
    /// Returns the name of the handler.
    pub(crate) fn handler(&self) -> &Ident {
        self.handler.as_ref().unwrap_or(&self.ident)
    }

    pub(crate) fn new(
        keys: Keys,
        function: &Function,
        scope: Scope<'_>,
        errors: &mut Errors,
    ) -> Tool {
        let mut keys = keys;
        let is_described = keys.has_similar("description");
        let (krate, owner, attribute_span) = match scope {
            Scope::Module => (krate(&mut keys, errors), None, Span::call_site()),
            Scope::Toolset {
                krate,
                block,
                generics,
                attribute_span,
            } => {
                for (name, message) in NOT_OF_METHODS {
                    if let Some(key) = keys.take(name) {
                        errors.span(key.span(), message);
                    }
                }
                let owner = Owner {
                    ty: block.ty.clone(),
                    of_trait: block.of_trait.clone(),
                    generics: generics.clone(),
                    has_receiver: function.is_method(),
                };
                (krate.clone(), Some(owner), attribute_span)
            }
        };
        let name = keys.text("name", errors).map_or_else(
            || Text::new(plain(&function.ident), function.ident.span()),
            Text::from,
        );
        let title = keys.text("title", errors);
        let described = described(&mut keys, owner.as_ref(), errors);
        let tags = tags(&mut keys, errors);
        let for_clients = ForClients::read(&mut keys, errors);
        let flags = ["read_only", "destructive", "idempotent", "open_world"]
            .map(|flag| keys.flag(flag, errors));
        if let [Some((true, _)), Some((true, span)), ..] = flags {
            errors.span(
                span,
                "a read-only tool cannot be destructive; remove `read_only` or `destructive`",
            );
        }
        let unlinked = keys.flag("unlinked", errors);
        let handler = handler(&mut keys, function, errors);
        let has_page = keys.flag("doc", errors).is_none_or(|(flag, _)| flag);
        let [parallel, strict, eager_input, ends_run] =
            ["parallel", "strict", "eager_input", "ends_run"]
                .map(|flag| keys.flag(flag, errors).map(|(flag, _)| flag));
        let is_deferred = keys.flag("defer", errors).is_some_and(|(flag, _)| flag);
        let background = keys.flag("background", errors);
        let background = background.filter(|(flag, _)| *flag);
        let is_blocking = blocking(&mut keys, function, errors);
        let timeout = timeout(&mut keys, function, is_blocking, errors);
        let freeform = Freeform::read(&mut keys, errors);
        let provides = keys.ty("provides", errors);
        let programmatic = keys.flag_or("programmatic", "only", errors);
        let programmatic = programmatic.filter(|(flag, ..)| *flag);
        if let Some((_, span)) = background {
            let reason = match (&provides, &programmatic) {
                _ if ends_run == Some(true) => {
                    Some("its result ends the run; remove `background` or `ends_run`")
                }
                (Some(_), _) => Some(
                    "the provider expects the result of its tool at once; remove `background` or `provides`",
                ),
                (None, Some((_, true, _))) => Some(
                    "programs wait for its result; remove `background`, or write `programmatic` without `only`",
                ),
                _ => None,
            };
            if let Some(reason) = reason {
                errors.span(
                    span,
                    format!("this tool cannot run in the background because {reason}"),
                );
            }
        }
        let examples = examples(&mut keys, errors);
        keys.finish(errors);

        let mut sections = docs::sections(docs::lines(&function.attrs)).into_iter();
        let first = sections.next().map(|section| section.lines);
        let docs = Description::of_function(&first.unwrap_or_default());
        let description = Description::read(described, docs, errors);
        if description.is_none() && !is_described {
            let message = "a tool requires a description; add a doc comment that tells the \
                           model when to call it";
            errors.at(&function.ident, message);
        }
        let mut doc_sections = DocSections::default();
        for section in sections {
            doc_sections.add(section, errors);
        }
        let output = match &function.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(peel(ty).clone()),
        };
        if output.as_ref().is_none_or(is_unit) {
            doc_sections.report_returns(errors);
        }
        let (mut parameters, context) =
            parameters(function, owner.as_ref(), &doc_sections.arguments, errors);
        if let Some(freeform) = &freeform {
            freeform.constrain(&mut parameters, errors);
        }
        doc_sections.check_arguments(&parameters, &context, errors);
        Tool {
            krate,
            ident: function.ident.clone(),
            vis: function.vis.clone(),
            cfgs: cfgs(&function.attrs),
            is_async: function.asyncness.is_some(),
            name,
            title,
            description: description.unwrap_or(Description::Text(String::new())),
            when_to_use: doc_sections.when_to_use,
            returns: doc_sections.returns,
            tags,
            for_clients,
            annotations: flags.map(|flag| flag.map(|(value, _)| value)),
            unlinked: unlinked.is_some_and(|(flag, _)| flag),
            handler,
            owner,
            attribute_span,
            has_page,
            parallel,
            is_deferred,
            strict,
            eager_input,
            ends_run,
            is_background: background.is_some(),
            is_blocking,
            timeout,
            freeform,
            provides,
            programmatic: programmatic.map(|(_, is_only, span)| (is_only, span)),
            examples,
            parameters,
            context,
            output,
        }
    }
}

impl Toolset {
    pub(crate) fn new(keys: Keys, block: &Block, errors: &mut Errors) -> Toolset {
        let mut keys = keys;
        let krate = krate(&mut keys, errors);
        let has_no_number = !keys.has_similar("block") && !keys.has_similar("blocks");
        let numbers = ["block", "blocks"].map(|name| block_number(&mut keys, name, errors));
        let is_valid = numbers.iter().all(Result::is_ok);
        let [number, last] = numbers.map(Result::unwrap_or_default);
        if let (Some(number), Some(_)) = (&number, &last) {
            errors.at(
                number,
                "only the first block of a type has `blocks`, and it has no `block`; remove one",
            );
        }
        let is_numbered = has_no_number || is_valid && number.is_some() != last.is_some();
        keys.finish(errors);
        let generics = owned_generics(block);
        let mut tools = Vec::new();
        for member in &block.members {
            match member {
                Member::Tool(method) => {
                    let keys = Keys::of_arguments("#[tool]", method.arguments(errors), errors);
                    // `Self` is not valid in generated code, which is outside of the block.
                    let mut function = method.function.clone();
                    function.replace_self(&block.ty);
                    let scope = Scope::Toolset {
                        krate: &krate,
                        block,
                        generics: &generics,
                        attribute_span: method.tool_span(),
                    };
                    tools.push(Tool::new(keys, &function, scope, errors));
                }
                Member::Wrong(_, error) => errors.push(error.clone()),
                Member::Other(_) => {}
            }
        }
        Toolset {
            krate,
            ty: block.ty.clone(),
            further: last.map_or(Vec::new(), |last| numbers_up_to(&last)),
            generics,
            number,
            is_numbered,
            cfgs: cfgs(&block.attrs),
            tools,
        }
    }
}

/// The most blocks of a type. Each has its own implementation.
const MAX_BLOCKS: u32 = 100;

/// `block = 2` or `blocks = 2`
fn block_number(
    keys: &mut Keys,
    name: &'static str,
    errors: &mut Errors,
) -> Result<Option<LitInt>, ()> {
    let Some(tokens) = keys.tokens(name, "2", errors) else {
        return Ok(None);
    };
    let number = syn::parse2::<LitInt>(tokens.clone()).ok();
    let number = number.filter(|number| {
        let value = number.base10_parse::<u32>();
        number.suffix().is_empty() && value.is_ok_and(|value| (2..=MAX_BLOCKS).contains(&value))
    });
    if number.is_none() {
        errors.at(
            tokens,
            format!("`{name}` must be a number from 2 to {MAX_BLOCKS}; write `{name} = 2`"),
        );
    }
    number.map(Some).ok_or(())
}

/// 2 and so on, up to this number, with its span.
fn numbers_up_to(last: &LitInt) -> Vec<LitInt> {
    let end = last.base10_parse().unwrap_or(2_u32);
    let number = |number: u32| LitInt::new(&number.to_string(), last.span());
    (2..=end).map(number).collect()
}

/// The generics of a block for code outside of it, with the bounds of a value that a registry owns.
fn owned_generics(block: &Block) -> Generics {
    if block.generics.params.is_empty() {
        return Generics::default();
    }
    let ty = &block.ty;
    let own = ty.to_token_stream();
    // Bounds may name `Self`.
    let parameters = with_self_replaced(block.generics.to_token_stream(), &own);
    let mut generics: Generics = syn::parse2(parameters).unwrap_or_default();
    let clause = block.generics.where_clause.to_token_stream();
    let clause = syn::parse2(with_self_replaced(clause, &own));
    generics.where_clause = clause.unwrap_or_default();
    let bound = syn::parse_quote_spanned! {site()=>
        #ty: ::core::marker::Send + ::core::marker::Sync + 'static
    };
    add_predicate(&mut generics, bound);
    generics
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

pub(super) fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    let is_cfg = |attr: &&Attribute| attr.path().is_ident("cfg");
    attrs.iter().filter(is_cfg).cloned().collect()
}

/// The key `description`. A constant of a method may be `Self::NAME`.
fn described(
    keys: &mut Keys,
    owner: Option<&Owner>,
    errors: &mut Errors,
) -> Option<TextOrConstant> {
    let described = keys.text_or_constant("description", errors)?;
    Some(match (described, owner) {
        (TextOrConstant::Constant(tokens), Some(owner)) => {
            let ty = owner.ty.to_token_stream();
            TextOrConstant::Constant(with_self_replaced(tokens, &ty))
        }
        (described, _) => described,
    })
}

/// `name = ["text"]`, with the tokens of the list
pub(super) fn strings(
    keys: &mut Keys,
    name: &'static str,
    errors: &mut Errors,
) -> Option<(Vec<LitStr>, TokenStream)> {
    let list = |input: ParseStream<'_>| {
        let content;
        syn::bracketed!(content in input);
        Punctuated::<LitStr, Token![,]>::parse_terminated(&content)
    };
    let tokens = keys.tokens(name, "[\"…\"]", errors)?;
    match list.parse2(tokens.clone()) {
        Ok(strings) => Some((strings.into_iter().collect(), tokens)),
        Err(error) => {
            let message = format!("`{name}` must be a list of strings; write `{name} = [\"…\"]`");
            errors.span(error.span(), message);
            None
        }
    }
}

/// `tags = ["admin"]`
fn tags(keys: &mut Keys, errors: &mut Errors) -> Vec<LitStr> {
    let Some((tags, tokens)) = strings(keys, "tags", errors) else {
        return Vec::new();
    };
    if tags.is_empty() {
        errors.at(tokens, "empty list of tags; add a tag, or remove `tags`");
    }
    for (at, tag) in tags.iter().enumerate() {
        if let Some(error) = tag_error(&tag.value()) {
            errors.at(tag, error);
        } else if tags[..at].iter().any(|other| other.value() == tag.value()) {
            errors.at(tag, "duplicate tag; remove one of the two");
        }
    }
    tags
}

/// `example = r#"{"city":"Lisbon"}"#`, any number of times
fn examples(keys: &mut Keys, errors: &mut Errors) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for literal in keys.texts("example", errors) {
        let json = json::parse(&literal.value());
        let text = json.as_ref().map(Json::text).unwrap_or_default();
        match json {
            Ok(Json::Object(_)) if examples.iter().any(|other| other.text == text) => {
                errors.at(&literal, "duplicate example; remove one of the two");
            }
            Ok(arguments @ Json::Object(_)) => examples.push(Example {
                literal,
                arguments,
                text,
            }),
            Ok(_) => errors.at(
                &literal,
                "an example must be a JSON object with the arguments of a call; write \
                 `example = r#\"{\"key\": \"value\"}\"#`",
            ),
            Err(problem) => errors.at(&literal, problem),
        }
    }
    examples
}

fn handler(keys: &mut Keys, function: &Function, errors: &mut Errors) -> Option<Ident> {
    let tokens = keys.tokens("handler", "Name", errors)?;
    let message = match syn::parse2::<Ident>(tokens.clone()) {
        Ok(handler) if handler != function.ident => return Some(handler),
        Ok(_) => "the function already has this name; choose another one, or remove `handler`",
        Err(_) => "`handler` must be the name of a new type; write `handler = Name`",
    };
    errors.at(tokens, message);
    None
}

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

/// Parses `30s`, `500ms`, `2m` or `1h`; zero is invalid.
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

/// Returns the parameters that the model fills and the parameters that the application fills. `check`
/// reports parameters without a name.
fn parameters(
    function: &Function,
    owner: Option<&Owner>,
    arguments: &[Argument],
    errors: &mut Errors,
) -> (Vec<Parameter>, Vec<ContextParameter>) {
    let mut parameters = Vec::new();
    let mut context = Vec::new();
    for written in &function.parameters {
        let mut keys = Keys::of_param(&written.attrs, errors);
        let is_context = is_context(&mut keys, &written.kind, errors);
        if let (ParameterKind::Named(ident, ty), true) = (&written.kind, is_context) {
            keys.finish_context(errors);
            let cfgs = cfgs(&written.attrs);
            let before = parameters.len();
            context.extend(ContextParameter::new(ident, ty, cfgs, before, errors));
            continue;
        }
        let described = described(&mut keys, owner, errors);
        let renamed = keys.text("rename", errors);
        let when_absent = match keys.literal("default", errors) {
            None => WhenAbsent::None,
            Some((None, _)) => WhenAbsent::OfType,
            Some((Some(literal), ends)) => WhenAbsent::Literal(literal, ends),
        };
        let constraints = Constraints::read(&mut keys, errors);
        keys.finish(errors);
        let ParameterKind::Named(ident, ty) = &written.kind else {
            continue;
        };
        let docs = Description::of_docs(&docs::lines(&written.attrs));
        let own = Description::read(described, docs, errors);
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
        let (erased, ends) = erased(passing.inner());
        parameters.push(Parameter {
            key: renamed.map_or_else(|| Text::new(name, ident.span()), Text::from),
            ident: ident.clone(),
            cfgs: cfgs(&written.attrs),
            description: own.or(listed.map(|listed| Description::Text(listed.text.clone()))),
            erased,
            ends,
            passing,
            ty: (**ty).clone(),
            constraints,
            when_absent,
        });
    }
    (parameters, context)
}

/// Returns `true` for a parameter with `#[param(context)]`, and for a `&CallContext`.
fn is_context(keys: &mut Keys, kind: &ParameterKind, errors: &mut Errors) -> bool {
    match (keys.flag("context", errors), kind) {
        (Some((is_context, _)), _) => is_context,
        (None, ParameterKind::Named(_, ty)) => is_call_context(ty),
        (None, _) => false,
    }
}

/// Returns `true` for `&CallContext`, with any path, and for a `CallContext` that is not borrowed by mistake.
fn is_call_context(ty: &Type) -> bool {
    match Passing::of(ty).inner() {
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| last.ident == "CallContext")
        }
        _ => false,
    }
}
