//! What a catalogue says, before it is put into Markdown or HTML.

use super::example;
use super::notes::{self, Note};
use super::rows::{self, Row};
use crate::json::Json;
use crate::spec::ToolSpec;
use crate::tool::ToolEntry;

pub(super) struct Page {
    /// By the names of the groups.
    pub(super) groups: Vec<(String, Vec<Section>)>,
    /// What providers refuse of all tools together.
    pub(super) together: Vec<Note>,
}

/// What is said of one tool.
pub(super) struct Section {
    pub(super) name: String,
    pub(super) anchor: String,
    pub(super) title: Option<String>,
    pub(super) description: String,
    pub(super) when_to_use: Option<String>,
    pub(super) returns: Option<String>,
    pub(super) flags: Vec<&'static str>,
    pub(super) parameters: Vec<Row>,
    /// The types that refer to each other.
    pub(super) types: Vec<(String, Vec<Row>)>,
    /// The result, if its schema is known.
    pub(super) output: Option<Vec<Row>>,
    pub(super) output_types: Vec<(String, Vec<Row>)>,
    /// The arguments of a call, or why there are none to show.
    pub(super) example: Result<Json, String>,
    pub(super) notes: Vec<Note>,
    pub(super) schema: Json,
}

impl Page {
    pub(super) fn of(tools: &[ToolEntry]) -> Page {
        let mut groups: Vec<(String, Vec<Section>)> = Vec::new();
        for (number, tool) in tools.iter().enumerate() {
            let section = Section::of(tool, number);
            let name = group_of(tool);
            match groups.iter_mut().find(|(other, _)| other == name) {
                Some((_, sections)) => sections.push(section),
                None => groups.push((name.to_owned(), vec![section])),
            }
        }
        groups.sort_by(|(left, _), (right, _)| left.cmp(right));
        Page {
            groups,
            together: notes::together(tools),
        }
    }
}

impl Section {
    fn of(tool: &ToolSpec, number: usize) -> Section {
        let json = |text| Json::parse(text).expect("the schema of a tool is JSON");
        let schema = json(tool.parameters_json());
        let output = tool.output_json().map(json);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        Section {
            name: tool.name.to_string(),
            anchor: match tool.name.chars().all(is_plain) {
                true => format!("tool-{}", tool.name),
                false => format!("tool-{number}"),
            },
            title: tool.title().map(str::to_owned),
            description: tool.description.to_string(),
            when_to_use: tool.when_to_use().map(str::to_owned),
            returns: tool.returns().map(str::to_owned),
            flags: flags(tool),
            parameters: match schema.get("properties") {
                Some(members) if members.members().is_empty() => Vec::new(),
                _ => rows::of(&schema, "arguments"),
            },
            types: rows::definitions(&schema),
            output_types: output.as_ref().map_or_else(Vec::new, rows::definitions),
            output: output.as_ref().map(|output| rows::of(output, "result")),
            example: example::arguments(tool, &schema),
            notes: notes::of(tool),
            schema,
        }
    }
}

/// The group that a tool is listed in.
fn group_of(tool: &ToolEntry) -> &str {
    tool.group().unwrap_or(tool.location.krate())
}

fn flags(tool: &ToolSpec) -> Vec<&'static str> {
    let annotations = tool.annotations;
    let said = [
        (annotations.read_only, ["read-only", "not read-only"]),
        (annotations.destructive, ["destructive", "not destructive"]),
        (annotations.idempotent, ["idempotent", "not idempotent"]),
        (annotations.open_world, ["open world", "closed world"]),
    ];
    let said = said.into_iter();
    let said = said.filter_map(|(flag, [yes, no])| Some(if flag? { yes } else { no }));
    said.collect()
}
