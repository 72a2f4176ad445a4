//! The section of a function's page in rustdoc that tells what a model sees.
//!
//! rustdoc shows no docs of parameters, and a page can't hold what a constant says. So the section
//! is written from the names of types, as the signature above it is.

mod type_sketch;

use std::env;
use std::sync::LazyLock;

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use self::type_sketch::{TypeSketch, object};
use crate::model::tool::{Parameter, Tool, WhenAbsent};
use crate::util::{json, markdown};

// Input:  /// Weather forecast.
//         #[tool(read_only)] fn f(/// City name.
//                                 city: &str)
// Output: #[cfg_attr(doc, doc = "\n# As a tool\n…| `city` | string | yes | | City name. |\n…")]
pub(crate) fn page(tool: &Tool) -> TokenStream {
    if !tool.has_page || *IS_COMPILER {
        return TokenStream::new();
    }
    let shown: Vec<_> = tool.parameters.iter().map(TypeSketch::of).collect();
    // A part for each row that may not be there.
    let mut parts = Parts::new(tool.ident.span());
    let mut text = head(tool);
    for (parameter, (shown, is_optional)) in tool.parameters.iter().zip(&shown) {
        let row = row(parameter, shown, *is_optional);
        if parameter.cfgs.is_empty() {
            text.push_str(&row);
        } else {
            if !text.is_empty() {
                parts.add(&std::mem::take(&mut text), &[]);
            }
            let conditions: Vec<_> = parameter.cfgs.iter().map(condition).collect();
            parts.add(&row, &conditions);
        }
    }
    text.push_str(&tail(tool, &shown));
    parts.add(&text, &[]);
    parts.attrs
}

/// Whether this runs in a compiler, which would throw the section away: to write it takes a quarter
/// of a macro's time. In anything else the `cfg` decides.
static IS_COMPILER: LazyLock<bool> = LazyLock::new(|| {
    let program = env::current_exe().unwrap_or_default();
    let name = program.file_stem().unwrap_or_default();
    ["rustc", "clippy-driver"]
        .iter()
        .any(|compiler| name == *compiler)
});

/// What stands in the parentheses of a `#[cfg(…)]`.
fn condition(cfg: &syn::Attribute) -> TokenStream {
    match &cfg.meta {
        syn::Meta::List(list) => list.tokens.clone(),
        // rustc reports it where it stands.
        other => other.to_token_stream(),
    }
}

/// The attributes that hold the section.
struct Parts {
    /// A place in the user's source: where docs end in a macro, rustdoc keeps what is wrong with all
    /// of them to itself.
    span: Span,
    attrs: TokenStream,
}

impl Parts {
    fn new(span: Span) -> Parts {
        Parts {
            span,
            attrs: TokenStream::new(),
        }
    }

    fn add(&mut self, text: &str, conditions: &[TokenStream]) {
        // rustdoc ends the last line of each.
        let text = text.trim_end_matches('\n');
        let mut text = Literal::string(text);
        text.set_span(self.span);
        let condition = match conditions {
            [] => quote!(doc),
            _ => quote!(all(doc, #(#conditions),*)),
        };
        self.attrs
            .extend(quote_spanned!(self.span=> #[cfg_attr(#condition, doc = #text)]));
    }
}

fn head(tool: &Tool) -> String {
    let name = markdown::code(&tool.name.value());
    let mut text = format!("\n# As a tool\n\nA model calls it {name}");
    if let Some(title) = &tool.title {
        let title = markdown::cell(&title.value());
        text.push_str(&format!(", people call it “{title}”"));
    }
    if tool.owner.is_some() {
        text.push_str(", behind the prefix of its toolset");
    }
    text.push('.');
    let flags = ["read-only", "destructive", "idempotent", "open world"];
    let said = flags.into_iter().zip(tool.annotations);
    let said = said.filter_map(|(flag, said)| match said? {
        true => Some(flag.to_owned()),
        false => Some(format!("not {flag}")),
    });
    let said: Vec<_> = said.collect();
    if !said.is_empty() {
        text.push_str(&format!(" It is {}.", said.join(", ")));
    }
    match tool.parameters.is_empty() {
        true => text.push_str(" It takes no arguments.\n"),
        false => text.push_str(
            "\n\n| argument | type | required | constraints | description |\n|---|---|---|---|---|\n",
        ),
    }
    text
}

fn row(parameter: &Parameter, shown: &TypeSketch, is_optional: bool) -> String {
    let required = match is_optional {
        true => "no",
        false => "yes",
    };
    let mut constraints = shown.constraints();
    if let WhenAbsent::Literal(literal, _) = &parameter.when_absent {
        constraints.push(format!("default {}", markdown::code(&literal.json())));
    }
    if let Some((example, _)) = &parameter.constraints.example {
        constraints.push(format!("such as {}", markdown::code(&example.json())));
    }
    format!(
        "| {} | {} | {required} | {} | {} |\n",
        markdown::code(&parameter.key.value()),
        shown.words(),
        constraints.join(", "),
        markdown::cell(parameter.description.as_deref().unwrap_or_default()),
    )
}

/// The text and the schema that a model gets, to be unfolded.
fn tail(tool: &Tool, shown: &[(TypeSketch, bool)]) -> String {
    let mut prompt = tool.description.clone();
    for (label, section) in [
        ("When to use", &tool.when_to_use),
        ("Returns", &tool.returns),
    ] {
        if let Some(section) = section {
            prompt.push_str(&format!("\n\n{label}: {section}"));
        }
    }
    let prompt = markdown::block("text", &prompt);
    let schema = schema(tool, shown).map(|schema| markdown::block("json", &schema));
    let schema = schema.unwrap_or_default();
    format!(
        "\n<details><summary>What the model reads</summary>\n\n{prompt}\n{schema}\n</details>\n"
    )
}

/// The schema of the arguments, if the names of all types tell theirs.
fn schema(tool: &Tool, shown: &[(TypeSketch, bool)]) -> Option<String> {
    let mut properties = Vec::new();
    let mut required = Vec::new();
    for (parameter, (shown, is_optional)) in tool.parameters.iter().zip(shown) {
        if !parameter.cfgs.is_empty() {
            return None;
        }
        let mut members = shown.members()?;
        let quoted = |text: &str| format!("\"{}\"", json::escape(text));
        if let Some(description) = &parameter.description {
            members.push(("description".into(), quoted(description)));
        }
        if let WhenAbsent::Literal(literal, _) = &parameter.when_absent {
            members.push(("default".into(), literal.json()));
        }
        if let Some((example, _)) = &parameter.constraints.example {
            members.push(("examples".into(), format!("[{}]", example.json())));
        }
        let key = parameter.key.value();
        if !is_optional {
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
