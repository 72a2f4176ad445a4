//! `list` and `show`.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};

use clap::ArgMatches;
use serde_json::{Map, Value, json};
use tool_core::dialect::write::JsonWriter;
use tool_core::schema::Json;
use tool_core::{Registry, ToolSpec};

use crate::failure::Failure;
use crate::registry::find;
use crate::terminal::{NAME, Terminal, columns};
use crate::{example, flags};

pub(crate) fn list(registry: &Registry, matches: &ArgMatches) -> Result<(), Failure> {
    let tags: Vec<_> = matches
        .get_many::<String>("tag")
        .into_iter()
        .flatten()
        .collect();
    let mut tools = registry.specs();
    if !tags.is_empty() {
        let known: BTreeSet<_> = tools.iter().flat_map(|tool| tool.tags()).collect();
        if let Some(tag) = tags.iter().find(|tag| !known.contains(tag.as_str())) {
            let known: Vec<_> = known.into_iter().collect();
            let others = match &known[..] {
                [] => "no tool has a tag".into(),
                known => format!("the tags are {}", known.join(", ")),
            };
            let message = format!("no tool has the tag `{tag}`; {others}");
            return Err(Failure::Wrong(message));
        }
        tools.retain(|tool| {
            tool.tags()
                .any(|tag| tags.iter().any(|given| *given == tag))
        });
    }
    if !std::io::stdout().is_terminal() {
        // Writing all at once is fastest: in pieces it would take longer than the rest of the start.
        let mut out = JsonWriter::new();
        out.array(|out| tools.iter().for_each(|tool| summary(tool, out)));
        std::io::stdout().write_all((out.into_string() + "\n").as_bytes())?;
        return Ok(());
    }
    let widest = tools
        .iter()
        .map(|tool| columns(&tool.name))
        .max()
        .unwrap_or_default()
        .min(30);
    let mut out = Terminal::stdout();
    for tool in &tools {
        out.styled(NAME, &tool.name)?;
        let pad = (widest + 2).saturating_sub(columns(&tool.name)).max(2);
        writeln!(
            out,
            "{:pad$}{}{}",
            "",
            first_sentence(&tool.description),
            marks(tool)
        )?;
    }
    Ok(())
}

pub(crate) fn show(
    registry: &Registry,
    matches: &ArgMatches,
    program: &str,
) -> Result<(), Failure> {
    let name = matches.get_one::<String>("name").map_or("", |name| name);
    let tool = find(registry, name)?;
    if !std::io::stdout().is_terminal() {
        writeln!(std::io::stdout(), "{}", whole(&tool))?;
        return Ok(());
    }
    let mut out = Terminal::stdout();
    out.styled(NAME, tool.title().unwrap_or(&tool.name))?;
    writeln!(out, "{}\n", marks(&tool))?;
    let flags = flags::of(&tool);
    let mut command = flags::command(&tool, &flags)
        .bin_name(format!("{program} call {}", tool.name))
        .after_help(example::after_help(&tool, &flags, program));
    let help = command.render_long_help();
    write!(out, "{help}")?;
    if let Some(Ok(result)) = tool.output_json().map(Json::parse) {
        writeln!(out, "\nResult:")?;
        out.unwrapped(&format!("{result:#}\n"))?;
    }
    Ok(())
}

/// Writes the summary of a tool in a list.
fn summary(tool: &ToolSpec, out: &mut JsonWriter) {
    out.object(|out| {
        out.key("name").string(&tool.name);
        out.key("description").string(&tool.description);
    });
}

/// Returns everything known about a tool, leaving out empty fields.
fn whole(tool: &ToolSpec) -> Value {
    let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let mut fields = Map::new();
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(key.to_owned(), value);
        }
    };
    let list = |items: Vec<&str>| (!items.is_empty()).then(|| json!(items));
    add("name", Some(json!(tool.name)));
    add("title", tool.title().map(Value::from));
    add("description", Some(json!(tool.description)));
    add("when_to_use", tool.when_to_use().map(Value::from));
    add("returns", tool.returns().map(Value::from));
    add("parameters", Some(schema(tool.parameters_json())));
    add("output", tool.output_json().map(schema));
    add("tags", list(tool.tags().collect()));
    let examples: Vec<_> = tool.examples().map(schema).collect();
    add(
        "examples",
        (!examples.is_empty()).then_some(Value::Array(examples)),
    );
    for (name, flag) in tool.flags() {
        add(name, Some(Value::from(flag)));
    }
    let location = tool.location;
    add(
        "location",
        (!location.file.is_empty()).then(|| json!(format!("{}:{}", location.file, location.line))),
    );
    Value::Object(fields)
}

/// Returns the properties that a reader should know before a call.
fn marks(tool: &ToolSpec) -> String {
    let annotations = tool.annotations;
    let marks = [
        (annotations.destructive == Some(true), "destructive"),
        (annotations.read_only == Some(true), "read-only"),
    ];
    let marks = marks.iter().filter(|(is_set, _)| *is_set);
    marks.map(|(_, name)| format!(" [{name}]")).collect()
}

/// Returns the first sentence of a description.
pub(crate) fn first_sentence(description: &str) -> &str {
    let paragraph = description.split("\n\n").next().unwrap_or_default();
    match paragraph.find(". ") {
        Some(end) => &paragraph[..=end],
        None => paragraph.trim_end(),
    }
}
