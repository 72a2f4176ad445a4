//! Examples of calls, shown as command lines.

use std::fmt::Write;

use serde_json::Value;
use tool_core::ToolSpec;

use crate::flags::{Flag, Kind};

/// Returns the examples of a tool as command lines, for the end of its help. Empty if the tool has none.
pub(crate) fn after_help(tool: &ToolSpec, flags: &[Flag], program: &str) -> String {
    let lines = tool.examples().map(|example| line(tool, flags, example));
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() {
        return String::new();
    }
    let lines = lines
        .iter()
        .map(|line| format!("\n  {program} call {line}"));
    format!("Examples:{}", lines.collect::<String>())
}

/// Returns the command line of a call. Uses flags if every value has one, otherwise one JSON argument.
pub(crate) fn line(tool: &ToolSpec, flags: &[Flag], arguments: &str) -> String {
    let values: Option<Value> = serde_json::from_str(arguments).ok();
    let members = values
        .as_ref()
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let mut line = tool.name.to_string();
    for (key, value) in members {
        let flag = flags.iter().find(|flag| flag.path == *key);
        let (Some(flag), Some(value)) = (flag, plain(value)) else {
            return format!("{} --arguments {}", tool.name, quoted(arguments));
        };
        // Written after a space, such a value would be taken for another flag or argument.
        let space = match flag.kind {
            Kind::Boolean => "=",
            _ if value.starts_with('-') && value.parse::<f64>().is_err() => "=",
            _ => " ",
        };
        let value = if value.starts_with('@') {
            format!("@{value}")
        } else {
            value
        };
        let _ = write!(line, " --{}{space}{}", flag.long, quoted(&value));
    }
    line
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text != "-" => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Quotes a word for a POSIX shell, if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
