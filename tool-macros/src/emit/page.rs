//! The section of a function's page in rustdoc that shows what a model reads.
//!
//! rustdoc shows no docs of parameters, and a page cannot contain the value of a constant. So the
//! section is written from the signature: types are shown as written, and the JSON Schema only where
//! the names of all types determine it.

mod known_types;

use std::env;
use std::sync::LazyLock;

use proc_macro2::{Delimiter, Literal, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Meta};

use self::known_types::{is_optional, object, schema_members};
use crate::model::constraint::Constraint;
use crate::model::constraints::SchemaOverride;
use crate::model::description::{Description, Part};
use crate::model::json_schema::Kind;
use crate::model::parameter::{Parameter, WhenAbsent};
use crate::model::tool::Tool;
use crate::util::literal::value;
use crate::util::{json, markdown};

// Input:  /// Weather forecast.
//         #[tool(read_only)] fn f(/// City name.
//                                 city: &str)
// Output: #[cfg_attr(doc, doc = "\n# As a tool\n…| `city` | `&str` | | City name. |\n…")]
pub(crate) fn page(tool: &Tool) -> TokenStream {
    if !tool.has_page || *IS_COMPILER {
        return TokenStream::new();
    }
    // A row under a `#[cfg]` is a separate attribute.
    let mut parts = TokenStream::new();
    let mut text = head(tool);
    for parameter in &tool.parameters {
        if parameter.cfgs.is_empty() {
            text.push_str(&row(parameter));
        } else {
            if !text.is_empty() {
                parts.extend(part(tool, &std::mem::take(&mut text), &[]));
            }
            parts.extend(part(tool, &row(parameter), &parameter.cfgs));
        }
    }
    text.push_str(&tail(tool));
    parts.extend(part(tool, &text, &[]));
    parts
}

/// `true` in a compiler, which would discard the section. Writing it takes a quarter of a macro's
/// time. In rustdoc and other programs the `cfg` decides.
static IS_COMPILER: LazyLock<bool> = LazyLock::new(|| {
    let program = env::current_exe().unwrap_or_default();
    let name = program.file_stem().unwrap_or_default();
    ["rustc", "clippy-driver"]
        .iter()
        .any(|compiler| name == *compiler)
});

/// An attribute with a part of the section.
fn part(tool: &Tool, text: &str, cfgs: &[Attribute]) -> TokenStream {
    // A place in the user's source. rustdoc hides warnings about docs whose last part is from a
    // macro.
    let span = tool.ident.span();
    // rustdoc adds a line break after each attribute.
    let mut text = Literal::string(text.trim_end_matches('\n'));
    text.set_span(span);
    let conditions = cfgs.iter().map(|cfg| match &cfg.meta {
        Meta::List(list) => list.tokens.clone(),
        // rustc reports it.
        other => other.to_token_stream(),
    });
    let condition = match cfgs {
        [] => quote!(doc),
        _ => quote!(all(doc, #(#conditions),*)),
    };
    quote_spanned!(span=> #[cfg_attr(#condition, doc = #text)])
}

fn head(tool: &Tool) -> String {
    let name = markdown::code(&value(&tool.name));
    let mut text = format!("\n# As a tool\n\nThe model calls it {name}");
    if tool.owner.is_some() {
        text.push_str(" with the prefix of its toolset");
    }
    if let Some(title) = &tool.title {
        let title = markdown::cell(&title.value());
        text.push_str(&format!("; its title is “{title}”"));
    }
    text.push('.');
    let flags = ["read-only", "destructive", "idempotent", "open world"];
    let annotations = flags.into_iter().zip(tool.annotations);
    let annotations = annotations.filter_map(|(flag, value)| {
        let not = if value? { "" } else { "not " };
        Some(format!("{not}{flag}"))
    });
    let background = tool
        .is_background
        .then(|| "called in the background".to_owned());
    let annotations: Vec<_> = annotations.chain(background).collect();
    if !annotations.is_empty() {
        text.push_str(&format!(" It is {}.", annotations.join(", ")));
    }
    if !tool.tags.is_empty() {
        let tags: Vec<_> = tool
            .tags
            .iter()
            .map(|tag| markdown::code(&tag.value()))
            .collect();
        text.push_str(&format!(" Its tags are {}.", tags.join(", ")));
    }
    text.push_str(if tool.parameters.is_empty() {
        " It takes no arguments.\n"
    } else {
        "\n\n| argument | type | constraints | description |\n|---|---|---|---|\n"
    });
    text
}

fn row(parameter: &Parameter) -> String {
    let ty = match &parameter.constraints.schema_override {
        Some(SchemaOverride::Type(ty)) => spelled(ty.to_token_stream()),
        Some(SchemaOverride::Schema { text, .. }) => text.clone(),
        None => spelled(parameter.ty.to_token_stream()),
    };
    let default = match &parameter.when_absent {
        WhenAbsent::Literal(literal, _) => {
            Some(format!("default {}", markdown::code(&literal.json())))
        }
        _ => None,
    };
    let optional = may_be_absent(parameter).then(|| "optional".to_owned());
    let constraints = &parameter.constraints;
    let summary = |one: &Constraint| one.summary.clone();
    let mut summaries: Vec<_> = optional.into_iter().collect();
    summaries.extend(constraints.narrowings.iter().map(summary));
    summaries.extend(default);
    summaries.extend(constraints.annotations.iter().map(summary));
    format!(
        "| {} | {} | {} | {} |\n",
        markdown::code(&value(&parameter.key)),
        markdown::code(&ty),
        summaries.join(", "),
        markdown::cell(
            &parameter
                .description
                .as_ref()
                .map(shown)
                .unwrap_or_default()
        ),
    )
}

/// Returns `true` if a call may certainly leave the parameter out. A type that is not written as an
/// `Option` may be optional too.
fn may_be_absent(parameter: &Parameter) -> bool {
    let by_type = match &parameter.constraints.schema_override {
        Some(SchemaOverride::Type(ty)) => is_optional(ty),
        Some(SchemaOverride::Schema { schema, .. }) => matches!(schema.kind, Kind::Nullable(_)),
        None => is_optional(&parameter.ty),
    };
    by_type || !matches!(parameter.when_absent, WhenAbsent::None)
}

/// The text and the schema that a model receives, folded.
fn tail(tool: &Tool) -> String {
    let mut prompt = shown(&tool.description);
    for (label, section) in [
        ("When to use", &tool.when_to_use),
        ("Returns", &tool.returns),
    ] {
        if let Some(section) = section {
            prompt.push_str(&format!("\n\n{label}: {}", shown(section)));
        }
    }
    let prompt = markdown::block("text", &prompt);
    let schema = schema(tool).map(|schema| markdown::block("json", &schema));
    let schema = schema.unwrap_or_default();
    let examples = tool.examples.iter().map(|one| one.text.clone());
    let examples: Vec<_> = examples.collect();
    let examples = if examples.is_empty() {
        String::new()
    } else {
        format!(
            "\nExample calls:\n\n{}",
            markdown::block("json", &examples.join("\n"))
        )
    };
    format!(
        "{examples}\n<details><summary>What the model reads</summary>\n\n{prompt}\n{schema}\n</details>\n"
    )
}

/// A description with its constants as written, in braces.
fn shown(description: &Description) -> String {
    let parts = match description {
        Description::Text(text) => return text.clone(),
        Description::Constant(parts) => parts,
    };
    let parts = parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Constant(tokens) | Part::Docs(tokens) => format!("{{{}}}", spelled(tokens.clone())),
    });
    parts.collect()
}

/// The JSON Schema of the arguments, or `None` if the name of a type or a constant does not determine
/// it.
fn schema(tool: &Tool) -> Option<String> {
    let mut properties = Vec::new();
    let mut required = Vec::new();
    let quoted = |text: &str| format!("\"{}\"", json::escape(text));
    for parameter in &tool.parameters {
        if !parameter.cfgs.is_empty() {
            return None;
        }
        let constraints = &parameter.constraints;
        let ty = match &constraints.schema_override {
            Some(SchemaOverride::Type(ty)) => ty,
            Some(SchemaOverride::Schema { .. }) => return None,
            None => &parameter.ty,
        };
        let mut members = schema_members(ty, &constraints.narrowings)?;
        if let Some(description) = &parameter.description {
            let Description::Text(text) = description else {
                return None;
            };
            members.push(("description".into(), quoted(text)));
        }
        if let WhenAbsent::Literal(literal, _) = &parameter.when_absent {
            members.push(("default".into(), literal.json()));
        }
        let annotations = constraints.annotations.iter().flat_map(|one| &one.keywords);
        members.extend(annotations.map(|(keyword, value)| ((*keyword).into(), value.clone())));
        let key = value(&parameter.key);
        if !may_be_absent(parameter) {
            required.push(quoted(&key));
        }
        properties.push((key, object(&members)));
    }
    let mut members = vec![
        ("type".into(), "\"object\"".into()),
        ("properties".into(), object(&properties)),
    ];
    if !required.is_empty() {
        members.push(("required".into(), format!("[{}]", required.join(", "))));
    }
    members.push(("additionalProperties".into(), "false".into()));
    Some(object(&members))
}

/// A type in the usual spelling. The spaces in the text of tokens depend on where they come from.
fn spelled(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut was_word = false;
    for tree in tokens {
        let is_word = matches!(tree, TokenTree::Ident(_) | TokenTree::Literal(_));
        if is_word && was_word {
            text.push(' ');
        }
        was_word = is_word;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                text.push_str(&spelled(group.stream()));
                text.push_str(close);
            }
            TokenTree::Punct(mark) => match (mark.as_char(), mark.spacing()) {
                (mark @ (',' | ';'), _) => {
                    text.push(mark);
                    text.push(' ');
                }
                ('-', Spacing::Joint) => text.push_str(" -"),
                ('>', _) if text.ends_with(" -") => text.push_str("> "),
                (mark @ ('+' | '='), _) => text.push_str(&format!(" {mark} ")),
                (mark, _) => text.push(mark),
            },
            word => text.push_str(&word.to_string()),
        }
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_keeps_its_usual_spelling() {
        for ty in [
            "HashMap<String, [u8; 3]>",
            "&'a str",
            "Box<dyn Fn(u8, u8) -> Vec<u8> + Send>",
            "<T as Trait<u8>>::X",
            "crate::a::B",
            "(u8, u16)",
            "Sum<{ N }>",
        ] {
            assert_eq!(spelled(ty.parse().unwrap()), ty);
        }
    }
}
