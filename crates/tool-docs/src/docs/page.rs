//! The content of a catalogue, independent of its format.

use std::cmp::Ordering;

use tool_core::rules::{Target, broken};
use tool_core::schema::{Json, Kind};
use tool_core::spec::Programmatic;
use tool_core::{ToolEntry, ToolSpec};

use super::Docs;
use super::example;
use super::rows::{Fields, fields};

pub(super) struct Page<'d> {
    /// The groups, sorted by name.
    pub(super) groups: Vec<(String, Vec<Section<'d>>)>,
    /// Provider limits that all tools of a request exceed together.
    pub(super) limits: Vec<ProviderLimit>,
}

/// The section of one tool.
pub(super) struct Section<'d> {
    pub(super) tool: &'d ToolEntry,
    pub(super) anchor: String,
    pub(super) hints: Vec<&'static str>,
    pub(super) parameters: Fields,
    /// The result, if the tool has an output schema.
    pub(super) output: Option<Fields>,
    /// The arguments of calls, or the reason why there are none.
    pub(super) examples: Result<Vec<Json>, String>,
    /// Provider limits that this tool exceeds.
    pub(super) limits: Vec<ProviderLimit>,
    pub(super) schema: Json,
}

/// A provider limit that a tool exceeds. Its dialect then sends the tool in another form if it
/// can, such as without strict mode.
pub(super) struct ProviderLimit {
    pub(super) provider: &'static str,
    pub(super) text: String,
}

impl<'d> Page<'d> {
    pub(super) fn new(docs: &'d Docs) -> Page<'d> {
        let tools = &docs.tools;
        let mut groups: Vec<(String, Vec<Section<'d>>)> = Vec::new();
        for (number, tool) in tools.iter().enumerate() {
            let section = Section::new(tool, number, docs.approved.contains(&*tool.name));
            let name = tool.group().unwrap_or(tool.location.krate()).trim();
            let name = if name.is_empty() { "other tools" } else { name };
            match groups.iter_mut().find(|(other, _)| other == name) {
                Some((_, sections)) => sections.push(section),
                None => groups.push((name.to_owned(), vec![section])),
            }
        }
        groups.sort_by(|(left, _), (right, _)| by_number(left, right));
        for (_, sections) in &mut groups {
            sections.sort_by(|left, right| by_number(&left.tool.name, &right.tool.name));
        }
        Page {
            groups,
            limits: limits_of_all(tools),
        }
    }

    pub(super) fn sections(&self) -> impl Iterator<Item = &Section<'d>> {
        self.groups.iter().flat_map(|(_, sections)| sections)
    }
}

impl<'d> Section<'d> {
    fn new(tool: &'d ToolEntry, number: usize, needs_approval: bool) -> Section<'d> {
        let json = |text| Json::parse(text).expect("a tool's schema is valid JSON");
        let schema = json(tool.parameters_json());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let has_no_parameters = schema
            .get("properties")
            .is_some_and(|properties| properties.members().is_empty());
        let mut parameters = fields(&schema, "arguments");
        if has_no_parameters {
            parameters.rows.clear();
        }
        Section {
            tool,
            anchor: if tool.name.chars().all(is_plain) {
                format!("tool-{}", tool.name)
            } else {
                format!("tool-{number}")
            },
            hints: hints(tool, needs_approval),
            parameters,
            output: tool
                .output_json()
                .map(|output| fields(&json(output), "result")),
            examples: if tool.has_examples() {
                Ok(tool.examples().map(json).collect())
            } else {
                example::arguments(tool, &schema).map(|example| vec![example])
            },
            limits: limits_of(tool),
            schema,
        }
    }

    /// The first line of the description.
    pub(super) fn summary(&self) -> &str {
        self.tool.description.lines().next().unwrap_or_default()
    }

    /// The heading of the examples.
    pub(super) fn example_heading(&self) -> &'static str {
        match &self.examples {
            Ok(examples) if examples.len() != 1 => "Example calls",
            _ => "Example call",
        }
    }
}

/// Compares texts with the numbers in them as numbers: 2 comes before 10.
fn by_number(left: &str, right: &str) -> Ordering {
    let (mut a, mut b) = (left, right);
    loop {
        let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) else {
            // Texts that differ only in zeros still have an order.
            return a.len().cmp(&b.len()).then_with(|| left.cmp(right));
        };
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (x, y) = (digits(&mut a), digits(&mut b));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
            x.cmp(&y)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Takes the number at the start of a text, without its leading zeros.
fn digits<'t>(text: &mut &'t str) -> &'t str {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (number, rest) = text.split_at(end.unwrap_or(text.len()));
    *text = rest;
    number.trim_start_matches('0')
}

/// Facts to know before a call: first the need for an approval, then the annotations that the tool sets.
fn hints(tool: &ToolEntry, needs_approval: bool) -> Vec<&'static str> {
    let annotations = tool.annotations;
    let set = |is_set: bool, hint| is_set.then_some(hint);
    let of = |hint: Option<bool>, [yes, no]: [&'static str; 2]| Some(if hint? { yes } else { no });
    let hints = [
        of(annotations.destructive, ["destructive", "not destructive"]),
        set(needs_approval, "approval"),
        set(tool.is_deferred(), "deferred"),
        set(tool.is_background(), "background"),
        tool.programmatic().map(|programmatic| match programmatic {
            Programmatic::Only => "programmatic only",
            _ => "programmatic",
        }),
        of(annotations.read_only, ["read-only", "not read-only"]),
        of(annotations.idempotent, ["idempotent", "not idempotent"]),
        of(annotations.open_world, ["open world", "closed world"]),
    ];
    hints.into_iter().flatten().collect()
}

fn limits_of(tool: &ToolSpec) -> Vec<ProviderLimit> {
    // A dynamic tool has no typed schema to check.
    if !matches!(tool.parameters().kind(), Kind::Object(_)) {
        return Vec::new();
    }
    let limits = Target::ALL.into_iter().filter_map(|target| {
        let message = target.check(&tool.parameters()).err()?;
        Some(ProviderLimit {
            provider: target.title(),
            text: without_remedy(&message).to_owned(),
        })
    });
    limits.collect()
}

fn limits_of_all(tools: &[ToolEntry]) -> Vec<ProviderLimit> {
    if tools.is_empty() {
        return Vec::new();
    }
    let limits = Target::ALL.into_iter().flat_map(|target| {
        let broken = broken(target, tools).into_iter();
        broken.map(move |rule| ProviderLimit {
            provider: target.title(),
            text: rule.to_string(),
        })
    });
    limits.collect()
}

/// Removes the advice to the tool's author, which follows the name of the rule.
fn without_remedy(message: &str) -> &str {
    message
        .split_once("); ")
        .map_or(message, |(head, _)| &message[..=head.len()])
}

#[cfg(test)]
mod tests {
    use super::by_number;

    #[test]
    fn numbers_in_names_are_sorted_as_numbers() {
        let mut names = [
            "t10", "t2", "t1", "t02", "t", "s9", "t2b", "t1_10", "t1_9", "é2", "é10",
        ];
        names.sort_by(|left, right| by_number(left, right));
        assert_eq!(
            names,
            [
                "s9", "t", "t1", "t1_9", "t1_10", "t02", "t2", "t2b", "t10", "é2", "é10"
            ]
        );
    }
}
