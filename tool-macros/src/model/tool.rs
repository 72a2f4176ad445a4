//! The model of a `#[tool]` function.

use proc_macro2::{Ident, Span};
use syn::{Attribute, LitStr, Path, ReturnType, Type, Visibility, parse_quote};

use super::description;
use super::types::{Passing, peel};
use crate::attr::{Function, Keys, ParameterKind};
use crate::util::docs::{self, Line, Section, flow};
use crate::util::errors::Errors;
use crate::util::names::{did_you_mean, list, plain};

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
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: Option<Type>,
}

/// A parameter that a model fills.
pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) key: LitStr,
    pub(crate) description: Option<String>,
    pub(crate) ty: Type,
    pub(crate) passing: Passing,
    pub(crate) when_absent: WhenAbsent,
}

/// What stands in for a parameter that a call leaves out.
pub(crate) enum WhenAbsent {
    /// Nothing does, unless its type is optional.
    None,
    /// `Default::default()`, which the schema does not show.
    OfType,
    /// This JSON text.
    Json(String, Span),
}

/// The sections that reach the model, and those that are for people.
const SECTIONS: [&str; 3] = ["Arguments", "When to use", "Returns"];
/// Headings that mean one of these but are none.
const MISNAMED: [(&str, &str); 8] = [
    ("args", "Arguments"),
    ("argument", "Arguments"),
    ("parameters", "Arguments"),
    ("params", "Arguments"),
    ("return", "Returns"),
    ("return value", "Returns"),
    ("usage", "When to use"),
    ("when", "When to use"),
];

impl Tool {
    pub(crate) fn new(keys: Keys, function: &Function, errors: &mut Errors) -> Tool {
        let mut keys = keys;
        let krate = keys
            .path("crate", errors)
            .unwrap_or_else(|| parse_quote!(::tool_core));
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
                "a tool that only reads destroys nothing; keep `read_only` or `destructive`",
            );
        }
        let unlinked = keys.flag("unlinked", errors).is_some_and(|(flag, _)| flag);
        keys.finish(errors);

        let mut sections = docs::sections(docs::lines(&function.attrs)).into_iter();
        let before = sections
            .next()
            .map_or_else(Vec::new, |section| section.lines);
        let has_key = described.is_some();
        let description = description(described, &before, errors);
        if description.is_none() && !has_key {
            errors.at(
                &function.ident,
                "a tool needs a description, or no model knows when to call it; \
                 write a doc comment above the function",
            );
        }
        let mut told = Told::default();
        for section in sections {
            told.add(section, errors);
        }
        let parameters = parameters(function, &mut told.arguments, errors);
        for argument in told.arguments {
            let names = parameters.iter().map(|parameter| plain(&parameter.ident));
            argument.report_unknown(&names.collect::<Vec<_>>(), errors);
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
            unlinked,
            parameters,
            output: match &function.output {
                ReturnType::Default => None,
                ReturnType::Type(_, ty) => Some(peel(ty).clone()),
            },
        }
    }
}

fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    let is_cfg = |attr: &&Attribute| attr.path().is_ident("cfg");
    attrs.iter().filter(is_cfg).cloned().collect()
}

/// The parameters that have a name and a type. The others are reported by `check`.
fn parameters(
    function: &Function,
    arguments: &mut Vec<Argument>,
    errors: &mut Errors,
) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    for written in &function.parameters {
        let mut keys = Keys::of_attributes("#[param]", "param", &written.attrs, errors);
        let described = keys.text("description", errors);
        let renamed = keys.text("rename", errors);
        let when_absent = match keys.literal("default", errors) {
            None => WhenAbsent::None,
            Some((None, _)) => WhenAbsent::OfType,
            Some((Some(json), span)) => WhenAbsent::Json(json, span),
        };
        keys.finish(errors);
        let ParameterKind::Named(ident, ty) = &written.kind else {
            continue;
        };
        let own = description(described, &docs::lines(&written.attrs), errors);
        let name = plain(ident);
        let listed = arguments
            .iter()
            .position(|argument| argument.name == name)
            .map(|place| arguments.remove(place));
        if let (Some(_), Some(listed)) = (&own, &listed) {
            errors.span(
                listed.span,
                format!("`{name}` is described twice, here and on the parameter; keep one of them"),
            );
        }
        parameters.push(Parameter {
            key: renamed.unwrap_or_else(|| LitStr::new(&name, ident.span())),
            ident: ident.clone(),
            cfgs: cfgs(&written.attrs),
            description: own.or(listed.map(|listed| listed.text)),
            passing: Passing::of(ty),
            ty: (**ty).clone(),
            when_absent,
        });
    }
    parameters
}

/// What the sections of a function's doc comment tell a model.
#[derive(Default)]
struct Told {
    arguments: Vec<Argument>,
    when_to_use: Option<String>,
    returns: Option<String>,
    seen: Vec<String>,
}

impl Told {
    fn add(&mut self, section: Section, errors: &mut Errors) {
        let Section { title, span, lines } = section;
        let text = || Some(flow(&lines)).filter(|text| !text.is_empty());
        match &*title {
            "arguments" => self.arguments.extend(Argument::list(&lines, errors)),
            "when to use" => self.when_to_use = text(),
            "returns" => self.returns = text(),
            other => {
                if let Some((_, meant)) = MISNAMED.iter().find(|(wrong, _)| *wrong == other) {
                    errors.span(
                        span,
                        format!("this section would not reach the model; call it `# {meant}`"),
                    );
                }
                return;
            }
        }
        if self.seen.contains(&title) {
            let known = SECTIONS.iter().find(|known| known.to_lowercase() == title);
            let name = known.copied().unwrap_or(&title);
            errors.span(span, format!("a second `# {name}` section; join the two"));
        }
        self.seen.push(title);
    }
}

/// One item of the `# Arguments` section.
struct Argument {
    name: String,
    text: String,
    span: Span,
}

impl Argument {
    fn list(lines: &[Line], errors: &mut Errors) -> Vec<Argument> {
        let mut items: Vec<Vec<Line>> = Vec::new();
        for line in lines {
            let is_item = ["* ", "- ", "+ "]
                .iter()
                .any(|mark| line.text.starts_with(mark));
            if is_item {
                let text = line.text[2..].to_owned();
                items.push(vec![Line {
                    text,
                    ..line.clone()
                }]);
            } else if let Some(item) = items.last_mut() {
                item.push(line.clone());
            }
        }
        let mut arguments: Vec<Argument> = Vec::new();
        for mut item in items {
            let span = item[0].span;
            let Some((name, rest)) = split_item(&item[0].text) else {
                errors.span(
                    span,
                    "no parameter is named here; write `* `name` - what it is`",
                );
                continue;
            };
            item[0].text = rest;
            if arguments.iter().any(|other| other.name == name) {
                errors.span(
                    span,
                    format!("`{name}` is described twice; keep one of them"),
                );
            } else {
                arguments.push(Argument {
                    name,
                    text: flow(&item),
                    span,
                });
            }
        }
        arguments
    }

    fn report_unknown(&self, names: &[String], errors: &mut Errors) {
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let hint = did_you_mean(&self.name, names.iter().copied());
        let hint = match (hint.is_empty(), names.is_empty()) {
            (false, _) => hint,
            (true, true) => "; the function has no parameters".into(),
            (true, false) => format!("; the parameters are {}", list(&names)),
        };
        errors.span(
            self.span,
            format!("there is no parameter `{}`{hint}", self.name),
        );
    }
}

/// `` `name` - text ``, `name: text` and their kin.
fn split_item(item: &str) -> Option<(String, String)> {
    let (name, rest) = match item.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => item.split_once([' ', ':'])?,
    };
    // A bare name may be followed by its mark or by a space and its mark.
    let bare_colon = !item.starts_with('`') && item[name.len()..].starts_with(':');
    let rest = rest.trim_start();
    let text = match rest.strip_prefix(['-', ':', '–', '—']) {
        Some(text) => text,
        None if bare_colon => rest,
        None => return None,
    };
    let is_name = name
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == '#');
    (is_name && !name.is_empty()).then(|| {
        (
            name.trim_start_matches("r#").to_owned(),
            text.trim().to_owned(),
        )
    })
}
