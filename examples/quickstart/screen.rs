//! The output of the program: one screen, 80 columns wide.

use std::io::{self, Write};

use serde_json::Value;
use tool_core::call::Arguments;
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolCall, ToolErrorKind, ToolResult};

const WIDTH: usize = 80;

/// Lists the tools, each with its size in a request.
pub(crate) fn tools(
    out: &mut impl Write,
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
    out: &mut impl Write,
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
        writeln!(out, "{}", fit(&format!("model:    {line}")))?;
    }
    for ((call, result), number) in calls.iter().zip(results).zip(1..) {
        let arguments = match &call.arguments {
            Arguments::Text(text) | Arguments::Freeform(text) => text.clone(),
            Arguments::Json(Value::Null) => String::new(),
            Arguments::Json(value) => value.to_string(),
        };
        let call = format!("call {number}:   {} {arguments}", call.name);
        writeln!(out, "{}", fit(call.trim_end()))?;
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
        let text = format!("result {number}: {verdict:<8}  {}", result.content());
        for (line, at) in text.lines().zip(0..) {
            let indent = if at == 0 { "" } else { "                    " };
            let line = format!("{indent}{line}");
            // Errors are shown in full.
            let line = if result.is_error() { line } else { fit(&line) };
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Says what the next request needs.
pub(crate) fn next(
    out: &mut impl Write,
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

/// Shortens a line to the width of the screen.
fn fit(line: &str) -> String {
    if line.chars().count() <= WIDTH {
        return line.into();
    }
    line.chars().take(WIDTH - 1).chain(['…']).collect()
}
