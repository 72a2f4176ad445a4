//! The output of the program: one screen, 80 columns wide.

use std::io::{self, Stdout, Write};

use examples::terminal::{BAD, GOOD, NAME, Terminal, columns, columns_of};
use serde_json::Value;
use tool_core::call::Arguments;
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolCall, ToolErrorKind, ToolResult};

const WIDTH: usize = 80;

/// Where the text of a result starts.
const INDENT: usize = 20;

/// Lists the tools, each with its size in a request.
pub(crate) fn tools(
    out: &mut Terminal<Stdout>,
    provider: &str,
    registry: &Registry,
    dialect: &dyn Dialect,
) -> io::Result<()> {
    let bytes = |registry: &Registry| registry.render(dialect).as_str().len();
    let (count, all) = (registry.len(), bytes(registry));
    writeln!(
        out,
        "{count} tools for {provider}, {all} bytes of each request:"
    )?;
    for tool in registry.specs() {
        let name = tool.name.clone();
        let alone = bytes(&registry.select(move |other| other.name == name));
        writeln!(
            out,
            "  {:<13} {alone:>4} bytes  {}",
            tool.name,
            tool.description.lines().next().unwrap_or_default()
        )?;
    }
    Ok(())
}

/// Shows the model's text, and each call with its result.
pub(crate) fn calls(
    out: &mut Terminal<Stdout>,
    text: &str,
    calls: &[ToolCall],
    results: &[ToolResult],
) -> io::Result<()> {
    let each = match calls {
        [] => "",
        _ => " Each gets one result:",
    };
    let count = counted(calls.len(), "call");
    writeln!(out, "\nThe response has {count}.{each}")?;
    for line in text.lines() {
        out.styled(NAME, "model:")?;
        writeln!(out, "    {}", fit(line, 10))?;
    }
    for ((call, result), number) in calls.iter().zip(results).zip(1..) {
        let arguments = match &call.arguments {
            Arguments::Text(text) | Arguments::Freeform(text) => text.clone(),
            Arguments::Json(Value::Null) => String::new(),
            Arguments::Json(value) => value.to_string(),
        };
        let call = format!("call {number}:   {} {arguments}", call.name);
        writeln!(out, "{}", fit(call.trim_end(), 0))?;
        let verdict = match result.error().map(tool_core::ToolError::kind) {
            None => "done",
            // The tool did not run.
            Some(
                ToolErrorKind::UnknownTool
                | ToolErrorKind::MalformedJson
                | ToolErrorKind::InvalidArguments,
            ) => "rejected",
            Some(_) => "failed",
        };
        write!(out, "result {number}: ")?;
        let style = if result.is_error() { BAD } else { GOOD };
        out.styled(style, &format!("{verdict:<8}"))?;
        let content = match result.content() {
            "" => "\n",
            content => content,
        };
        for (line, at) in content.lines().zip(0..) {
            let indent = " ".repeat(if at == 0 { 2 } else { INDENT });
            // Errors are shown in full.
            let line = if result.is_error() {
                line.to_owned()
            } else {
                fit(line, INDENT)
            };
            writeln!(out, "{indent}{line}")?;
        }
    }
    Ok(())
}

/// Says what the next request needs.
pub(crate) fn next(
    out: &mut Terminal<Stdout>,
    what: &str,
    turn: usize,
    results: usize,
) -> io::Result<()> {
    let parts = [("the model's turn", turn), ("the results", results)];
    let parts = parts.into_iter().filter(|(_, count)| *count > 0);
    let parts = parts.map(|(part, count)| format!("{part} ({})", counted(count, "item")));
    let parts: Vec<_> = parts.collect();
    writeln!(out, "\n{what}: {}.", parts.join(" and "))?;
    writeln!(
        out,
        "\n--json prints the request and the follow-up in full, --log the operator's log."
    )
}

fn counted(count: usize, thing: &str) -> String {
    match count {
        0 => format!("no {thing}s"),
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

/// Shortens a line to the width of the screen, without what is before it.
fn fit(line: &str, before: usize) -> String {
    let mut left = WIDTH - before;
    if columns(line) <= left {
        return line.into();
    }
    left -= columns("…");
    let fits = line.chars().take_while(|&character| {
        let rest = left.checked_sub(columns_of(character));
        left = rest.unwrap_or(0);
        rest.is_some()
    });
    fits.chain(['…']).collect()
}
