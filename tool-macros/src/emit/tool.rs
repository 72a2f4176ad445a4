//! The handler of a tool, its static data, and the list of a toolset.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{GenericParam, Generics};

use super::bounds::mentions;
use super::property::Member;
use super::{block, commas, description, invoke, with_cfgs};
use crate::model::constraints::SchemaOverride;
use crate::model::description::Description;
use crate::model::freeform::Grammar;
use crate::model::parameter::{Parameter, WhenAbsent};
use crate::model::tool::{Example, Tool, Toolset};
use crate::model::types::{Passing, is_scalar, without_lifetimes};
use crate::util::literal::value;
use crate::util::names::plain;
use crate::util::site::{Code, Trees, code, respanned, site, string, trees, trees_at};
use crate::util::tokens::option;

// Input:  fn f(…) -> …
// Output: struct f {}
//         const _: () = { impl Tool for f; constants; fn __tool_invoke; the link }
pub(crate) fn tool(tool: &Tool) -> Trees {
    let handler = handler(tool);
    let implementation = implementation(tool, tool.handler());
    let link = link(tool);
    let items = trees! {
        #[allow(unused_imports)]
        use __tool_core::autoref_fallbacks::*;

        #implementation
        #link
    };
    let block = block(&tool.krate, &tool.cfgs, items);
    trees!(#handler #block)
}

/// The handler of a tool whose attribute has errors. Without it, every use of the handler would be
/// another error.
pub(crate) fn fallback(tool: &Tool) -> TokenStream {
    let (handler, ident) = (handler(tool), tool.handler());
    let implementation = code! {
        #[automatically_derived]
        impl __tool_core::Tool for #ident {
            const SOURCE: __tool_core::StaticSpec = __tool_core::InvalidTool::SOURCE;
            const LOCATION: __tool_core::Location = __tool_core::InvalidTool::LOCATION;
        }
    };
    let block = block(&tool.krate, &tool.cfgs, implementation);
    code!(#handler #block)
}

// Input:  impl Home { #[tool] fn set(&self, …) { … } }
// Output: const _: () = {
//             const __TOOL_0: StaticEntry = {
//                 struct __tool_handler {}
//                 impl Tool for __tool_handler; constants; fn __tool_invoke
//                 entry::<__tool_handler>()
//             };
//             impl …block_2<1> for Home { const BLOCKS: … = &[&[__TOOL_0]]; }
//         };
//
// Input:  impl<T: Backend> Home<T> { #[tool] fn set(&self, …) { … } }
// Output: const _: () = {
//             impl<T: Backend> …block_2<1> for Home<T> where Home<T>: Send + Sync + 'static {
//                 const BLOCKS: … = &[&[{
//                     struct __tool_handler<T>(PhantomData<T>);
//                     impl<T: Backend> Tool for __tool_handler<Home<T>> where …; fn __tool_invoke<T: Backend>
//                     entry::<__tool_handler<Home<T>>>()
//                 }]];
//             }
//         };
pub(crate) fn toolset(set: &Toolset) -> TokenStream {
    let name = |at: usize| format_ident!("__TOOL_{at}", span = site());
    let is_generic = is_generic(&set.generics);
    let ty = &set.ty;
    let entries = set.tools.iter().map(|tool| {
        let handler = format_ident!("__tool_handler", span = tool.ident.span());
        let (definition, handler) = if is_generic {
            (
                code!(struct #handler<__Owner>(::core::marker::PhantomData<__Owner>);),
                code!(#handler<#ty>),
            )
        } else {
            (code!(struct #handler {}), code!(#handler))
        };
        let implementation = implementation(tool, &handler);
        let entry = entry(tool, &handler);
        code!({
            #[allow(non_camel_case_types, dead_code)]
            #definition

            #implementation
            #entry
        })
    });
    // A constant for each, so that one build shows the errors of all. A constant cannot be generic.
    let (constants, entries): (Vec<_>, Vec<_>) = entries
        .zip(&set.tools)
        .enumerate()
        .map(|(at, (entry, tool))| {
            if is_generic {
                return (TokenStream::new(), with_cfgs(&tool.cfgs, entry));
            }
            let name = name(at);
            let constant = code!(const #name: __tool_core::StaticEntry = #entry;);
            (
                with_cfgs(&tool.cfgs, constant),
                with_cfgs(&tool.cfgs, code!(#name)),
            )
        })
        .unzip();
    let implementation = toolset_implementation(set, &code!(&[#(#entries),*]));
    let items = code! {
        #[allow(unused_imports)]
        use __tool_core::autoref_fallbacks::*;

        #(#constants)*
        #implementation
    };
    block(&set.krate, &set.cfgs, items).into()
}

/// Returns `true` if a block has generics.
fn is_generic(generics: &Generics) -> bool {
    !generics.params.is_empty()
}

/// The implementation for a toolset that has errors. Without it, every use of the toolset would be
/// another error.
pub(crate) fn toolset_fallback(set: &Toolset) -> TokenStream {
    let implementation = toolset_implementation(set, &code!(&[]));
    block(&set.krate, &set.cfgs, implementation).into()
}

// Input:  #[toolset(blocks = 2)] impl Home
// Output: impl …block_2<1> for Home { const BLOCKS: … = &[&[…], <Home as …block_2<2>>::BLOCKS[0]]; }
//         impl ListsBlock<2> for Home {}
//
// Input:  #[toolset(block = 2)] impl Home
// Output: impl …block_2<2> for Home { const BLOCKS: … = &[&[…]]; }
fn toolset_implementation(set: &Toolset, tools: &TokenStream) -> TokenStream {
    let (ty, further) = (&set.ty, &set.further);
    let (parameters, _, conditions) = set.generics.split_for_impl();
    let block = code!(__tool_core::number_the_other_blocks_of_this_type__write_toolset_block_2);
    let number = set.number.as_ref();
    let number = number.map_or_else(|| code!(1), ToTokens::to_token_stream);
    code! {
        #[automatically_derived]
        impl #parameters #block<#number> for #ty #conditions {
            const BLOCKS: &'static [&'static [__tool_core::StaticEntry]] =
                &[#tools #(, <#ty as #block<#further>>::BLOCKS[0])*];
        }
        #(impl #parameters __tool_core::ListsBlock<#further> for #ty #conditions {})*
    }
}

// Input:  #[tool] pub fn f()
// Output: pub struct f {}
//
// Input:  #[tool(handler = Greet)] pub fn f()
// Output: pub struct Greet;
fn handler(tool: &Tool) -> Trees {
    let Tool {
        ident, cfgs, vis, ..
    } = tool;
    let doc = "The handler of the tool `".to_owned() + tool.name.as_str() + "`.";
    // A private function leaves its handler unused; a public one in a private module need not be
    // `pub(crate)`.
    match &tool.handler {
        Some(handler) => {
            // With this span, a duplicate definition underlines the name.
            let definition = quote_spanned!(handler.span()=> struct #handler;);
            let handler = quote! {
                #(#cfgs)*
                #[doc = #doc]
                #[allow(dead_code, unreachable_pub)]
                #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
                #vis #definition
            };
            handler.into()
        }
        // A struct with braces is not a value, so it does not clash with the function.
        None => {
            let doc = Literal::string(&doc);
            let vis = vis.to_token_stream();
            // With the hygiene of the expansion, lints that users may have enabled ignore it. To
            // allow each of them costs more than to compile the struct again after an edit.
            let handler = trees_at! {Span::call_site()=>
                #[doc = #doc]
                #[doc(hidden)]
                #[allow(non_camel_case_types, dead_code, missing_debug_implementations, missing_copy_implementations, unreachable_pub)]
                #vis struct #ident {}
            };
            with_cfgs(cfgs, handler)
        }
    }
}

fn implementation(tool: &Tool, handler: &(impl ToTokens + Code + Clone)) -> Trees {
    let (constants, checks) = (constants(tool), checks(tool));
    let source = source(tool);
    let invoke = invoke::function(tool);
    // In a toolset, each tool is located at its own attribute.
    let location = trees_at! {tool.attribute_span=>
        __tool_core::location(::core::module_path!())
    };
    let details = details(tool);
    let examples = examples(tool, handler);
    let generics = tool.owner.as_ref().map(|owner| &owner.generics);
    let (parameters, conditions) = generics.map(invoke::generics_of).unwrap_or_default();
    let handler = handler.clone();
    trees! {
        #[automatically_derived]
        impl #parameters __tool_core::Tool for #handler #conditions {
            const SOURCE: __tool_core::StaticSpec = #source;
            // Emitted apart from the rest, because the rest remains valid if the tool moves in its file.
            const LOCATION: __tool_core::Location = #location;
            const MODULE: &'static ::core::primitive::str = ::core::module_path!();
            #details
        }

        #invoke
        #constants
        #checks
        #examples
    }
}

// Input:  #[tool(example = r#"{"city":"Lisbon"}"#)] fn f(city: &str)
// Output: const _: () = examples::check(
//             "f",
//             <f as Tool>::SOURCE.parameters,
//             &Literal::Object("{…}", &[("city", Literal::String("Lisbon", 6))]),
//         );
//
// A constant for each, so that one build shows the errors of all. A constant cannot be generic.
fn examples(tool: &Tool, handler: &impl ToTokens) -> TokenStream {
    if has_generics(tool) {
        return TokenStream::new();
    }
    let constants = tool.examples.iter().map(|example| {
        let check = example_check(tool, example, handler);
        quote_spanned!(example.literal.span()=> const _: () = #check;)
    });
    constants.collect()
}

fn example_check(tool: &Tool, example: &Example, handler: &impl ToTokens) -> TokenStream {
    let name = string(&value(&tool.name));
    let literal = example.arguments.constant();
    // With this span, an error underlines the example.
    quote_spanned! {example.literal.span()=>
        __tool_core::examples::check(
            #name,
            <#handler as __tool_core::Tool>::SOURCE.parameters,
            &#literal,
        )
    }
}

fn has_generics(tool: &Tool) -> bool {
    let owner = tool.owner.as_ref();
    owner.is_some_and(|owner| is_generic(&owner.generics))
}

// Input:  #[tool(example = r#"{"city":"Lisbon"}"#)]
// Output: examples: Cow::Borrowed(&[Cow::Borrowed("{\"city\":\"Lisbon\"}")]),
fn example_texts(tool: &Tool) -> Option<TokenStream> {
    if tool.examples.is_empty() {
        return None;
    }
    let texts: Vec<_> = tool.examples.iter().map(|one| string(&one.text)).collect();
    let list = code!(&[#(__tool_core::Cow::Borrowed(#texts)),*]);
    if !has_generics(tool) {
        return Some(code!(examples: __tool_core::Cow::Borrowed(#list),));
    }
    let handler = code!(Self);
    let checks = tool.examples.iter();
    let checks = checks.map(|example| example_check(tool, example, &handler));
    Some(code!(examples: __tool_core::Cow::Borrowed({
        #(#checks;)*
        #list
    }),))
}

// Input:  /// Weather forecast.
//         #[tool(read_only)] fn f(city: &str) -> Forecast
// Output: StaticSpec {
//             name: "f",
//             description: "Weather forecast.",
//             annotations: [Some(true), None, None, None],
//             parameters: …,
//             output: <Output<Forecast>>::SCHEMA,
//             invoke: Invoke::Sync(__tool_invoke),
//             ..StaticSpec::EMPTY
//         }
fn source(tool: &Tool) -> Trees {
    let name = string(tool.name.as_str());
    let description = description::string(&tool.description);
    let is_annotated = tool.annotations.iter().any(Option::is_some);
    let annotations = is_annotated.then(|| {
        let annotations = tool.annotations.map(|one| option(one.map(respanned)));
        code!(annotations: [#(#annotations),*],)
    });
    let kind = match (tool.is_async, tool.is_blocking) {
        (true, _) => "Async",
        (false, false) => "Sync",
        (false, true) => "Blocking",
    };
    let kind = Ident::new(kind, site());
    let generics = tool.owner.as_ref().map(|owner| &owner.generics);
    let generics = generics.filter(|generics| is_generic(generics));
    let arguments = generics.map(|generics| {
        let (_, arguments, _) = generics.split_for_impl();
        code!(::#arguments)
    });
    let parameters = parameters(tool);
    let output = output(tool).map(|output| trees!(output: #output,));
    trees! {
        __tool_core::StaticSpec {
            name: #name,
            description: #description,
            #annotations
            parameters: #parameters,
            #output
            invoke: __tool_core::Invoke::#kind(__tool_invoke #arguments),
            ..__tool_core::StaticSpec::EMPTY
        }
    }
}

// Input:  fn f(/// City name.
//              city: &str, route: Route)
// Output: &{
//             let parameters = [
//                 parameter::<str>("f", "cityCity name.", 4),
//                 const { parameter::<Route>("f", "route", 5) },
//             ];
//             parameters
//         }
//
// A constant reports its error even if another parameter's fails, too. rustc needs 276,000 instructions for
// one, so scalars, which follow every provider rule, have none. A plain `&[…]` would be promoted to a
// separate constant, which costs as much.
fn parameters(tool: &Tool) -> Trees {
    if tool.parameters.is_empty() {
        return trees!(&[]);
    }
    let parameters = Ident::new("__tool_parameters", site());
    let properties = tool.parameters.iter().enumerate().map(|(at, parameter)| {
        let key = parameter.key.as_str();
        let property = member(tool, at, parameter, key, true).property();
        let property = match &parameter.when_absent {
            WhenAbsent::None => property,
            WhenAbsent::OfType | WhenAbsent::Literal(..) => trees!(#property.optional()),
        };
        let is_scalar =
            parameter.constraints.schema_override.is_none() && is_scalar(parameter.passing.inner());
        let property = if is_scalar {
            property
        } else {
            trees!(const { #property })
        };
        with_cfgs(&parameter.cfgs, property)
    });
    let properties = commas(properties);
    let variable = parameters.clone();
    trees! {
        &{
            let #parameters = [#properties];
            #variable
        }
    }
}

fn member<'m>(
    tool: &'m Tool,
    at: usize,
    parameter: &'m Parameter,
    key: &'m str,
    is_checked: bool,
) -> Member<'m> {
    Member {
        key,
        name: match (&parameter.when_absent, parameter.constraints.is_empty()) {
            (WhenAbsent::None | WhenAbsent::OfType, true) => String::new(),
            _ => plain(&parameter.ident),
        },
        description: parameter.description.as_ref(),
        ty: parameter.erased.clone(),
        ends: parameter.ends,
        is_scalar: parameter.constraints.schema_override.is_none()
            && is_scalar(parameter.passing.inner()),
        constraints: &parameter.constraints,
        constant: (!parameter.constraints.narrowings.is_empty()
            && !is_generic_parameter(tool, parameter))
        .then(|| format_ident!("__TOOL_NARROW_{at}", span = site())),
        is_written: false,
        is_optional: matches!(parameter.passing, Passing::OptionallyBorrowed(_)),
        default: match &parameter.when_absent {
            WhenAbsent::Literal(literal, _) => Some(literal.json()),
            WhenAbsent::None | WhenAbsent::OfType => None,
        },
        aliases: &[],
        tool: is_checked.then(|| tool.name.as_str()),
    }
}

/// Returns `true` if the type of a parameter may depend on the generics of its toolset.
fn is_generic_parameter(tool: &Tool, parameter: &Parameter) -> bool {
    let Some(owner) = &tool.owner else {
        return false;
    };
    let names = owner.generics.params.iter().filter_map(|one| match one {
        GenericParam::Type(ty) => Some(&ty.ident),
        GenericParam::Const(constant) => Some(&constant.ident),
        GenericParam::Lifetime(_) => None,
    });
    let names: Vec<_> = names.collect();
    let other = match &parameter.constraints.schema_override {
        Some(SchemaOverride::Type(ty)) => ty.to_token_stream(),
        _ => TokenStream::new(),
    };
    mentions(parameter.erased.to_token_stream(), &names) || mentions(other, &names)
}

// Input:  #[param(range = 1..=14, default = 5, example = 7)] days: u8
// Output: const __TOOL_NARROW_0: &Schema = …;
//         const _: () = fits(__TOOL_NARROW_0, &Literal::Integer(5), "…");
//         const _: () = fits(__TOOL_NARROW_0, &Literal::Integer(7), "…");
fn constants(tool: &Tool) -> TokenStream {
    let concrete = tool.parameters.iter().enumerate();
    let concrete = concrete.filter(|(_, one)| {
        let has_constants = matches!(one.when_absent, WhenAbsent::Literal(..))
            || !one.constraints.narrowings.is_empty()
            || one.constraints.literals().next().is_some();
        has_constants && !is_generic_parameter(tool, one)
    });
    let constants = concrete.flat_map(|(at, parameter)| {
        let key = value(&parameter.key);
        let member = member(tool, at, parameter, &key, false);
        let default = match &parameter.when_absent {
            WhenAbsent::Literal(literal, ends) => Some(member.check("default", literal, *ends)),
            _ => None,
        };
        let constants = member.definition().into_iter().chain(default);
        let constants: Vec<_> = constants.chain(member.checks()).collect();
        let with_cfgs = |constant| with_cfgs(&parameter.cfgs, constant);
        constants.into_iter().map(with_cfgs)
    });
    constants.collect()
}

// Input:  #[tool(title = "Forecast", tags = ["weather"], timeout = "30s")] fn f(#[param(context)] db: &Db)
// Output: const DETAILS: Option<&'static Details> = Some(&Details {
//             title: Some(Cow::Borrowed("Forecast")),
//             tags: Cow::Borrowed(&[Cow::Borrowed("weather")]),
//             needs: &[Need::of::<Db>()],
//             timeout: Some(Duration::new(30, 0)),
//             ..Details::EMPTY
//         });
fn details(tool: &Tool) -> Option<TokenStream> {
    let title = tool.title.as_ref().map(syn::LitStr::value);
    let section = |section: &Option<Description>| section.as_ref().map(description::string);
    let texts = [
        (
            "title",
            title.map(|title| string(&title).into_token_stream()),
        ),
        ("when_to_use", section(&tool.when_to_use)),
        ("returns", section(&tool.returns)),
    ];
    let texts = texts.into_iter().filter_map(|(field, text)| {
        let (field, text) = (format_ident!("{field}", span = site()), text?);
        Some(code!(#field: __tool_core::Some(__tool_core::Cow::Borrowed(#text)),))
    });
    let tags = &tool.tags;
    let tags = (!tags.is_empty()).then(
        || code!(tags: __tool_core::Cow::Borrowed(&[#(__tool_core::Cow::Borrowed(#tags)),*]),),
    );
    let timeout = tool.timeout.map(|timeout| {
        let seconds = respanned(timeout.as_secs());
        let nanos = respanned(timeout.subsec_nanos());
        code!(timeout: __tool_core::Some(__tool_core::Duration::new(#seconds, #nanos)),)
    });
    let flags = [
        ("parallel", tool.parallel),
        ("strict", tool.strict),
        ("eager_input", tool.eager_input),
        ("ends_run", tool.ends_run),
    ];
    let flags = flags.into_iter().filter_map(|(field, flag)| {
        let field = format_ident!("{field}", span = site());
        let flag = respanned(flag?);
        Some(code!(#field: __tool_core::Some(#flag),))
    });
    let programmatic = tool.programmatic.map(|(is_only, _)| {
        let variant = if is_only { code!(Only) } else { code!(Also) };
        code!(programmatic: __tool_core::Some(__tool_core::Programmatic::#variant),)
    });
    let defer = tool.is_deferred.then(|| code!(defer: true,));
    let background = tool.is_background.then(|| code!(background: true,));
    let fields: TokenStream = texts
        .chain(tags)
        .chain(for_clients(tool))
        .chain(needs(tool))
        .chain(timeout)
        .chain(defer)
        .chain(background)
        .chain(flags)
        .chain(example_texts(tool))
        .chain(freeform(tool))
        .chain(provides(tool))
        .chain(programmatic)
        .collect();
    (!fields.is_empty()).then(|| {
        code! {
            const DETAILS: __tool_core::Option<&'static __tool_core::Details> =
                __tool_core::Some(&__tool_core::Details {
                    #fields
                    ..__tool_core::Details::EMPTY
                });
        }
    })
}

// Input:  #[tool(meta = r#"{"a": 1}"#, icons = ["https://a.b/c.png"])]
// Output: for_clients: Some(&ForClients {
//             meta: Cow::Borrowed("{\"a\":1}"),
//             icons: Cow::Borrowed("[{\"src\":\"https://a.b/c.png\"}]"),
//             for_models: true,
//             for_apps: true,
//         }),
fn for_clients(tool: &Tool) -> Option<TokenStream> {
    let clients = tool.for_clients.as_ref()?;
    let [meta, icons] = [&clients.meta, &clients.icons].map(|text| string(text));
    let [for_models, for_apps] = [clients.for_models, clients.for_apps].map(respanned);
    Some(code! {
        for_clients: __tool_core::Some(&__tool_core::ForClients {
            meta: __tool_core::Cow::Borrowed(#meta),
            icons: __tool_core::Cow::Borrowed(#icons),
            for_models: #for_models,
            for_apps: #for_apps,
        }),
    })
}

// Input:  #[tool(freeform, grammar = regex("[a-z]+"))] fn f(text: &str)
// Output: freeform: Some(Freeform {
//             key: Cow::Borrowed("text"),
//             grammar: Some(Grammar::Regex(Cow::Borrowed("^(?:[a-z]+)$"))),
//         }),
fn freeform(tool: &Tool) -> Option<TokenStream> {
    let grammar = tool.freeform.as_ref()?.grammar.as_ref();
    let grammar = option(grammar.map(|grammar| match grammar {
        Grammar::Regex { regex, .. } => {
            let regex = string(regex);
            code!(__tool_core::Grammar::Regex(__tool_core::Cow::Borrowed(#regex)))
        }
        Grammar::Lark(rules) => {
            // With this span, an error about the rules underlines them.
            let first = rules.clone().into_iter().next();
            let span = first.map_or_else(site, |tree| tree.span());
            let rules = quote_spanned!(span=> __tool_core::lark(#rules));
            code!(__tool_core::Grammar::Lark(__tool_core::Cow::Borrowed(#rules)))
        }
    }));
    let key = string(&value(&tool.parameters.first()?.key));
    Some(code! {
        freeform: __tool_core::Some(__tool_core::Freeform {
            key: __tool_core::Cow::Borrowed(#key),
            grammar: #grammar,
        }),
    })
}

// Input:  #[tool(provides = anthropic::Bash20250124)] fn bash(input: BashCommand)
// Output: provides: Some(&Provided {
//             tool: provided::<anthropic::Bash20250124, BashCommand>("bash"),
//             key: "input",
//         }),
fn provides(tool: &Tool) -> Option<TokenStream> {
    let (trained, parameter) = (tool.provides.as_ref()?, tool.parameters.first()?);
    let (name, input) = (string(&value(&tool.name)), &parameter.erased);
    let key = string(&value(&parameter.key));
    // With this span, an error about the name underlines the function's.
    let provided = quote_spanned! {tool.ident.span()=>
        __tool_core::provided::<#trained, #input>(#name)
    };
    Some(code! {
        provides: __tool_core::Some(&__tool_core::Provided { tool: #provided, key: #key }),
    })
}

// Input:  #[tool(freeform, programmatic)] fn f(text: &str)
// Output: const _: () = check_freeform(<str as ToolType>::SCHEMA);
//         const _: () = check_programmatic("f");
fn checks(tool: &Tool) -> TokenStream {
    let text = tool.freeform.as_ref().and(tool.parameters.first());
    let text = text.filter(|parameter| !is_generic_parameter(tool, parameter));
    let text = text.map(|parameter| {
        let key = value(&parameter.key);
        let schema = member(tool, 0, parameter, &key, false).schema();
        let span = parameter.ends.0;
        let check = quote_spanned! {span=>
            const _: () = __tool_core::check_freeform(#schema);
        };
        with_cfgs(&parameter.cfgs, check)
    });
    // A tool that is never strict may be called by the programs of any provider.
    let programs = tool.programmatic.filter(|_| tool.strict != Some(false));
    let programs = programs.map(|(_, span)| {
        let name = string(&value(&tool.name));
        quote_spanned!(span=> const _: () = __tool_core::check_programmatic(#name);)
    });
    text.into_iter().chain(programs).collect()
}

// Input:  #[param(context)] db: &Db
// Output: needs: &[Need::of::<Db>()],
fn needs(tool: &Tool) -> Option<TokenStream> {
    let required = tool.context.iter().filter(|one| !one.is_optional);
    let needs: Vec<_> = required
        .map(|parameter| {
            let ty = &parameter.ty;
            // With this span, "can't be shared between threads" underlines the type.
            let need = quote_spanned!(parameter.span=> __tool_core::Need::of::<#ty>());
            with_cfgs(&parameter.cfgs, need)
        })
        .collect();
    (!needs.is_empty()).then(|| code!(needs: &[#(#needs),*],))
}

// Input:  -> Result<Forecast, Error>
// Output: <Output<Result<Forecast, Error>>>::SCHEMA
fn output(tool: &Tool) -> Option<Trees> {
    match &tool.output {
        // A type without a name has no schema.
        None | Some(syn::Type::ImplTrait(_)) => None,
        Some(ty) => {
            let ty = without_lifetimes(ty);
            Some(trees!(<__tool_core::Output<#ty>>::SCHEMA))
        }
    }
}

/// The static entry of a tool.
fn entry(tool: &Tool, handler: &impl ToTokens) -> TokenStream {
    // With this span, a provider limit that the whole tool exceeds underlines its name.
    quote_spanned!(tool.ident.span()=> __tool_core::entry::<#handler>())
}

/// Adds the tool to `Registry::linked()`. An unlinked tool is only checked.
fn link(tool: &Tool) -> Trees {
    let handler = tool.handler();
    if tool.unlinked {
        let entry = entry(tool, handler);
        return trees!(const _: __tool_core::StaticEntry = #entry;);
    }
    // With this span, a provider limit that the whole tool exceeds underlines its name.
    let link = trees_at!(tool.ident.span()=> __tool_core::link::<#handler>());
    let symbol = symbol(tool.name.as_str()).map(|symbol| {
        let symbol = Literal::string(&symbol);
        // A second tool of this name defines the symbol again, and rustc shows the symbol. A test may link
        // a crate twice: as itself and as a dependency. A release build needs no symbol, because a shared
        // library or a WebAssembly module would export it.
        trees_at! {Span::call_site()=>
            #[cfg_attr(all(debug_assertions, not(test)), unsafe(export_name = #symbol))]
        }
    });
    // With the hygiene of the expansion, these are not the user's unsafe code to lints.
    let attributes = trees_at! {Span::call_site()=>
        #[used]
        #[unsafe(link_section = __tool_core::link_section!())]
    };
    trees! {
        #attributes
        #symbol
        static __TOOL_LINK: __tool_core::LinkedTool = #link;
    }
}

/// The symbol of a tool's name, which is also the error message for a duplicate definition.
///
/// It contains Cargo's current target, because tools of two crates can share a name until a registry
/// contains both: of two objects that define a symbol, a linker may take the first and never read the
/// second. It has only characters that every linker accepts. Without Cargo the target is unknown.
fn symbol(name: &str) -> Option<String> {
    let variable = |name| std::env::var(name).ok();
    let of_cargo = |name| {
        let value = variable(name)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric();
        Some(value.replace(|c| !is_plain(c), "_"))
    };
    let package = of_cargo("CARGO_PKG_NAME")?;
    let version = of_cargo("CARGO_PKG_VERSION")?;
    let krate = of_cargo("CARGO_CRATE_NAME").unwrap_or_default();
    // Two packages may have one name and version, a library and a program one name.
    let folder = hash(&variable("CARGO_MANIFEST_DIR")?);
    let binary =
        of_cargo("CARGO_BIN_NAME").map_or_else(String::new, |name| "__binary_".to_owned() + &name);
    let hyphens: String = name
        .match_indices('-')
        .map(|(at, _)| format!("_hyphen_at_{at}"))
        .collect();
    let name = name.replace('-', "_");
    Some(format!(
        "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked\
         {hyphens}__tool_name__{name}__crate_{krate}{binary}__package_{package}_{version}_{folder:x}"
    ))
}

/// FNV-1a, which is the same in every build.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
