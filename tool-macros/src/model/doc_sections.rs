//! The sections of a function's doc comment.

use proc_macro2::Span;

use super::description::Description;
use super::parameter::{ContextParameter, Parameter};
use crate::util::docs::{Line, Section, flow};
use crate::util::errors::Errors;
use crate::util::names::{did_you_mean, list, plain};

/// The sections that are sent to the model. All others are for people.
const SECTIONS: [&str; 3] = ["Arguments", "When to use", "Returns"];
/// Other headings for these sections, which are errors.
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

/// The sections that are sent to the model.
#[derive(Default)]
pub(super) struct DocSections {
    pub(super) arguments: Vec<Argument>,
    pub(super) when_to_use: Option<Description>,
    pub(super) returns: Option<Description>,
    /// The span of the heading `# Returns`.
    returns_span: Option<Span>,
    seen: Vec<String>,
}

impl DocSections {
    pub(super) fn add(&mut self, section: Section, errors: &mut Errors) {
        let Section { title, span, lines } = section;
        let text = || Description::of_function(&lines);
        match &*title {
            "arguments" => {
                let items = items(&lines);
                if let Some(constant) = lines.iter().find_map(|line| line.constant.as_ref()) {
                    let message = "a macro cannot list parameters here because it is expanded \
                                   later; write the items as a doc comment";
                    errors.at(constant, message);
                } else if items.is_empty() && text().is_some() {
                    errors.span(span, format!("this section must list parameters; {ITEM}"));
                }
                self.arguments.extend(arguments(items, errors));
            }
            "when to use" => self.when_to_use = text(),
            "returns" => {
                self.returns = text();
                self.returns_span = Some(span);
            }
            other => {
                if let Some((_, meant)) = MISNAMED.iter().find(|(wrong, _)| *wrong == other) {
                    let message = format!(
                        "the model does not receive this section; rename it to `# {meant}`"
                    );
                    errors.span(span, message);
                }
                return;
            }
        }
        if self.seen.contains(&title) {
            let known = SECTIONS.iter().find(|known| known.to_lowercase() == title);
            let name = known.copied().unwrap_or(&title);
            errors.span(span, format!("duplicate section `# {name}`; merge the two"));
        }
        self.seen.push(title);
    }

    /// Reports `# Returns` on a function that returns nothing.
    pub(super) fn report_returns(&self, errors: &mut Errors) {
        if let Some(span) = self.returns_span {
            let message = "the function returns nothing; remove this section, or return a value";
            errors.span(span, message);
        }
    }

    /// Reports items of `# Arguments` that do not name a parameter for the model.
    pub(super) fn check_arguments(
        &self,
        parameters: &[Parameter],
        context: &[ContextParameter],
        errors: &mut Errors,
    ) {
        let names: Vec<_> = parameters.iter().map(|one| plain(&one.ident)).collect();
        let names: Vec<_> = names.iter().map(|name| &**name).collect();
        for Argument { name, span, .. } in &self.arguments {
            if context.iter().any(|one| one.ident == name) {
                let message = format!(
                    "the model never sees the context parameter `{name}`; remove this item"
                );
                errors.span(*span, message);
            } else if !names.contains(&&**name) {
                let hint = did_you_mean(name, names.iter().copied());
                let hint = match (hint.is_empty(), names.is_empty()) {
                    (false, _) => hint,
                    (true, true) => "; the function has none, so remove this item".into(),
                    (true, false) => format!("; the parameters are {}", list(&names)),
                };
                errors.span(*span, format!("there is no parameter `{name}`{hint}"));
            }
        }
    }
}

/// An item of `# Arguments`.
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) span: Span,
}

/// A hint at the form of an item.
const ITEM: &str = "write ``* `name` - description``";

fn arguments(items: Vec<Vec<Line>>, errors: &mut Errors) -> Vec<Argument> {
    let mut arguments: Vec<Argument> = Vec::new();
    for mut item in items {
        let span = item[0].span;
        let Some((name, rest)) = split_item(&item[0].text) else {
            errors.span(span, format!("this item does not name a parameter; {ITEM}"));
            continue;
        };
        item[0].text = rest;
        if arguments.iter().any(|other| other.name == name) {
            let message = format!("duplicate description of `{name}`; remove one of the two");
            errors.span(span, message);
        } else {
            let text = flow(&item);
            arguments.push(Argument { name, text, span });
        }
    }
    arguments
}

/// Returns the items of a list without their bullets. A nested list belongs to its item.
fn items(lines: &[Line]) -> Vec<Vec<Line>> {
    let mut items: Vec<Vec<Line>> = Vec::new();
    let mut depth = None;
    for line in lines {
        let text = line.text.trim_start();
        let indent = line.text.len() - text.len();
        let is_item = ["* ", "- ", "+ "].iter().any(|mark| text.starts_with(mark));
        if is_item && indent <= *depth.get_or_insert(indent) {
            let text = text[2..].trim_start().to_owned();
            items.push(vec![Line {
                text,
                ..line.clone()
            }]);
        } else if let Some(item) = items.last_mut() {
            item.push(line.clone());
        }
    }
    items
}

/// Splits `` `name` - text ``, `name: text` and similar forms.
fn split_item(item: &str) -> Option<(String, String)> {
    let (name, rest) = match item.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => item.split_once([' ', ':'])?,
    };
    // `name: text` and `name : text` are both common.
    let bare_colon = !item.starts_with('`') && item[name.len()..].starts_with(':');
    let rest = rest.trim_start();
    let text = if bare_colon {
        // The text may start with a minus sign.
        rest.strip_prefix("- ").unwrap_or(rest)
    } else {
        rest.strip_prefix(['-', ':', '–', '—'])?
    };
    let name = name.strip_prefix("r#").unwrap_or(name);
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !name.is_empty()).then(|| (name.to_owned(), text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_forms_of_an_item_name_their_parameter() {
        for item in [
            "`city` - Where: here",
            "`city`: Where: here",
            "`city`- Where: here",
            "`city` – Where: here",
            "`city` — Where: here",
            "city: Where: here",
            "city : Where: here",
            "city - Where: here",
            "city:Where: here",
            "`r#city` - Where: here",
            "r#city: Where: here",
        ] {
            let (name, text) = split_item(item).unwrap_or_else(|| panic!("{item}"));
            assert_eq!((&*name, &*text), ("city", "Where: here"), "{item}");
        }
        assert_eq!(split_item("größe: x").unwrap().0, "größe");
        assert_eq!(split_item("a: - x").unwrap().1, "x");
        assert_eq!(split_item("a: -5 or more").unwrap().1, "-5 or more");
    }

    #[test]
    fn prose_is_not_an_item() {
        for item in [
            "",
            "`",
            "``",
            "city",
            "`city`",
            "`city` where",
            "`city - where",
            "the city: where",
            "city-name - where",
            "**city** - where",
            "r#: where",
            "- where",
            ": where",
        ] {
            assert!(split_item(item).is_none(), "{item}");
        }
    }

    #[test]
    fn a_list_may_be_indented_and_nested() {
        let lines: Vec<_> = [
            "intro",
            "  * a: x",
            "    - deep: y",
            "    wrapped",
            "  * b: z",
        ]
        .map(|text| Line {
            text: text.into(),
            span: Span::call_site(),
            constant: None,
        })
        .into();
        let items = items(&lines);
        let first: Vec<_> = items.iter().map(|item| &*item[0].text).collect();
        assert_eq!(first, ["a: x", "b: z"]);
        assert_eq!(items[0].len(), 3);
    }
}
