//! What the sections of a function's doc comment tell a model.

use proc_macro2::Span;

use crate::util::docs::{Line, Section, flow};
use crate::util::errors::Errors;
use crate::util::names::{did_you_mean, list};

/// The sections that reach the model. All others are for people.
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

/// The sections that reach the model.
#[derive(Default)]
pub(super) struct DocSections {
    pub(super) arguments: Vec<Argument>,
    pub(super) when_to_use: Option<String>,
    pub(super) returns: Option<String>,
    /// Where the heading of that section stands.
    returns_span: Option<Span>,
    seen: Vec<String>,
}

impl DocSections {
    pub(super) fn add(&mut self, section: Section, errors: &mut Errors) {
        let Section { title, span, lines } = section;
        let text = || Some(flow(&lines)).filter(|text| !text.is_empty());
        match &*title {
            "arguments" => {
                let items = items(&lines);
                if items.is_empty() && text().is_some() {
                    errors.span(span, format!("this section must list parameters; {ITEM}"));
                }
                self.arguments.extend(Argument::list(items, errors));
            }
            "when to use" => self.when_to_use = text(),
            "returns" => {
                self.returns = text();
                self.returns_span = Some(span);
            }
            other => {
                if let Some((_, meant)) = MISNAMED.iter().find(|(wrong, _)| *wrong == other) {
                    errors.span(
                        span,
                        format!(
                            "the model does not receive this section; rename it to `# {meant}`"
                        ),
                    );
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

    /// For a function that returns nothing.
    pub(super) fn report_returns(&self, errors: &mut Errors) {
        if let Some(span) = self.returns_span {
            errors.span(
                span,
                "the function returns nothing; remove this section, or return a value",
            );
        }
    }
}

/// One item of the `# Arguments` section.
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) span: Span,
}

/// How an item is written.
const ITEM: &str = "write ``* `name` - description``";

impl Argument {
    fn list(items: Vec<Vec<Line>>, errors: &mut Errors) -> Vec<Argument> {
        let mut arguments: Vec<Argument> = Vec::new();
        for mut item in items {
            let span = item[0].span;
            let Some((name, rest)) = split_item(&item[0].text) else {
                errors.span(span, format!("this item does not name a parameter; {ITEM}"));
                continue;
            };
            item[0].text = rest;
            if arguments.iter().any(|other| other.name == name) {
                errors.span(
                    span,
                    format!("duplicate description of `{name}`; remove one of the two"),
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

    /// For a parameter that the application fills.
    pub(super) fn report_context(&self, errors: &mut Errors) {
        errors.span(
            self.span,
            format!(
                "the model never sees the context parameter `{}`; remove this item",
                self.name
            ),
        );
    }

    pub(super) fn report_unknown(&self, names: &[String], errors: &mut Errors) {
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let hint = did_you_mean(&self.name, names.iter().copied());
        let hint = match (hint.is_empty(), names.is_empty()) {
            (false, _) => hint,
            (true, true) => "; the function has none, so remove this item".into(),
            (true, false) => format!("; the parameters are {}", list(&names)),
        };
        errors.span(
            self.span,
            format!("there is no parameter `{}`{hint}", self.name),
        );
    }
}

/// The items of a list, without their marks. Deeper lists belong to their items.
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

/// `` `name` - text ``, `name: text` and their kin.
fn split_item(item: &str) -> Option<(String, String)> {
    let (name, rest) = match item.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => item.split_once([' ', ':'])?,
    };
    // A bare name may be followed by its mark or by a space and its mark.
    let bare_colon = !item.starts_with('`') && item[name.len()..].starts_with(':');
    let rest = rest.trim_start();
    let text = match bare_colon {
        // A minus is no mark.
        true => rest.strip_prefix("- ").unwrap_or(rest),
        false => rest.strip_prefix(['-', ':', '–', '—'])?,
    };
    let name = name.strip_prefix("r#").unwrap_or(name);
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !name.is_empty()).then(|| (name.to_owned(), text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usual_spelling_of_an_item_names_its_parameter() {
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
    fn prose_is_no_item() {
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
    fn a_list_may_be_indented_and_hold_lists() {
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
        })
        .into();
        let items = items(&lines);
        let first: Vec<_> = items.iter().map(|item| &*item[0].text).collect();
        assert_eq!(first, ["a: x", "b: z"]);
        assert_eq!(items[0].len(), 3);
    }
}
