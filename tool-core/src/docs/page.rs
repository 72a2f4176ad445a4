//! The content of a catalogue, independent of its format.

use super::example;
use super::rows::{Fields, Row, fields};
use crate::ordered_json::Json;
use crate::provider::rule_check::check;
use crate::provider::rules::{Target, broken};
use crate::schema::Kind;
use crate::spec::ToolSpec;
use crate::tool::ToolEntry;

pub(super) struct Page {
    /// The groups, sorted by name.
    pub(super) groups: Vec<(String, Vec<Section>)>,
    /// Provider limits that all tools of a request exceed together.
    pub(super) limits: Vec<ProviderLimit>,
}

/// The section of one tool.
pub(super) struct Section {
    pub(super) name: String,
    pub(super) anchor: String,
    pub(super) title: Option<String>,
    pub(super) description: String,
    pub(super) when_to_use: Option<String>,
    pub(super) returns: Option<String>,
    pub(super) hints: Vec<&'static str>,
    pub(super) tags: Vec<String>,
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

/// A format of the catalogue. Strings are plain; the format escapes them.
pub(super) trait Format {
    /// Adds a heading within a section.
    fn heading(&mut self, text: &str);
    fn sentence(&mut self, text: &str);
    /// Adds paragraphs, separated by blank lines, and preserves line breaks.
    fn paragraphs(&mut self, text: &str);
    /// Adds a table, with `required` as the name of its third column.
    fn table(&mut self, rows: &[Row], required: &str);
    fn type_name(&mut self, name: &str);
    fn limits(&mut self, limits: &[ProviderLimit]);
    fn json(&mut self, json: &Json);
    /// Adds JSON that is collapsed at first.
    fn details(&mut self, summary: &str, json: &Json);
}

impl Page {
    pub(super) fn new(tools: &[ToolEntry]) -> Page {
        let mut groups: Vec<(String, Vec<Section>)> = Vec::new();
        for (number, tool) in tools.iter().enumerate() {
            let section = Section::new(tool, number);
            let name = tool.group().unwrap_or(tool.location.krate());
            match groups.iter_mut().find(|(other, _)| other == name) {
                Some((_, sections)) => sections.push(section),
                None => groups.push((name.to_owned(), vec![section])),
            }
        }
        groups.sort_by(|(left, _), (right, _)| left.cmp(right));
        Page {
            groups,
            limits: limits_of_all(tools),
        }
    }
}

impl Section {
    fn new(tool: &ToolSpec, number: usize) -> Section {
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
            name: tool.name.to_string(),
            anchor: if tool.name.chars().all(is_plain) {
                format!("tool-{}", tool.name)
            } else {
                format!("tool-{number}")
            },
            title: tool.title().map(str::to_owned),
            description: tool.description.to_string(),
            when_to_use: tool.when_to_use().map(str::to_owned),
            returns: tool.returns().map(str::to_owned),
            hints: hints(tool),
            tags: tool.tags().map(str::to_owned).collect(),
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

    /// Writes everything below the heading, the title and the hints.
    pub(super) fn write(&self, out: &mut impl Format) {
        out.paragraphs(&self.description);
        if let Some(text) = &self.when_to_use {
            out.heading("When to use");
            out.paragraphs(text);
        }
        if !self.tags.is_empty() {
            out.sentence(&format!("Tags: {}.", self.tags.join(", ")));
        }
        if self.parameters.rows.is_empty() {
            out.sentence("No parameters.");
        } else {
            out.heading("Parameters");
        }
        write_fields(out, &self.parameters, "Required");
        if self.returns.is_some() || self.output.is_some() {
            out.heading("Returns");
        }
        if let Some(text) = &self.returns {
            out.paragraphs(text);
        }
        if let Some(fields) = &self.output {
            if fields.rows.is_empty() {
                out.sentence("No properties.");
            }
            write_fields(out, fields, "Always present");
        }
        let is_one = self.examples.as_ref().map_or(true, |all| all.len() == 1);
        out.heading(if is_one {
            "Example call"
        } else {
            "Example calls"
        });
        match &self.examples {
            Ok(examples) => examples.iter().for_each(|arguments| out.json(arguments)),
            Err(reason) => out.sentence(&format!("Not available: {reason}.")),
        }
        if !self.limits.is_empty() {
            out.heading("Provider limits");
            out.limits(&self.limits);
        }
        out.details("JSON Schema of the parameters", &self.schema);
    }

    /// The first line of the description.
    pub(super) fn summary(&self) -> &str {
        self.description.lines().next().unwrap_or_default()
    }
}

fn write_fields(out: &mut impl Format, fields: &Fields, required: &str) {
    if !fields.rows.is_empty() {
        out.table(&fields.rows, required);
    }
    for (name, rows) in &fields.types {
        out.type_name(name);
        out.table(rows, required);
    }
}

/// The annotations that the tool sets.
fn hints(tool: &ToolSpec) -> Vec<&'static str> {
    let annotations = tool.annotations;
    let hints = [
        (annotations.read_only, ["read-only", "not read-only"]),
        (annotations.destructive, ["destructive", "not destructive"]),
        (annotations.idempotent, ["idempotent", "not idempotent"]),
        (annotations.open_world, ["open world", "closed world"]),
    ];
    let hints = hints.into_iter();
    let hints = hints.filter_map(|(hint, [yes, no])| Some(if hint? { yes } else { no }));
    hints.collect()
}

fn limits_of(tool: &ToolSpec) -> Vec<ProviderLimit> {
    // A dynamic tool has no typed schema to check.
    if !matches!(tool.parameters().kind(), Kind::Object(_)) {
        return Vec::new();
    }
    let limits = Target::ALL.into_iter().filter_map(|target| {
        let message = check(&tool.parameters(), target).err()?;
        Some(ProviderLimit {
            provider: target.profile().title,
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
            provider: target.profile().title,
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
