//! What the entries of tools in a request have in common.

use crate::provider::reshape;
use crate::provider::writer::JsonWriter;
use crate::spec::{Grammar, ToolSpec};
use crate::tool::ToolEntry;

/// Writes `name` and `description`, which have these keys with every provider.
///
/// The description has the grammar that no keyword of JSON Schema expresses.
///
/// ```
/// use tool_core::dialect::write::{JsonWriter, write_head};
/// use tool_core::{Tool, tool};
///
/// /// Writes a note.
/// #[tool]
/// fn write_note(text: String) -> usize {
///     text.len()
/// }
///
/// let mut out = JsonWriter::new();
/// out.object(|out| write_head(&write_note::SPEC, out));
/// assert_eq!(out.into_string(), r#"{"name":"write_note","description":"Writes a note."}"#);
/// ```
#[inline]
pub fn write_head(tool: &ToolSpec, out: &mut JsonWriter) {
    out.quoted("\"name\":").string(&tool.name);
    let prompt = tool.prompt_with_grammar();
    // Bedrock rejects an empty description, and no provider requires one.
    if !(tool.is_dynamic() && prompt.trim().is_empty()) {
        out.quoted("\"description\":").string(&prompt);
    }
}

/// Writes `name` and `description` of a tool whose arguments are text. The description has what the
/// schema of the parameter says.
///
/// ```
/// use tool_core::dialect::write::{JsonWriter, write_freeform_head};
/// use tool_core::{Tool, tool};
///
/// /// Writes a note.
/// #[tool(freeform)]
/// fn write_note(text: String) -> usize {
///     text.len()
/// }
///
/// let mut out = JsonWriter::new();
/// out.object(|out| write_freeform_head(&write_note::SPEC, out));
/// assert_eq!(out.into_string(), r#"{"name":"write_note","description":"Writes a note."}"#);
/// ```
pub fn write_freeform_head(tool: &ToolSpec, out: &mut JsonWriter) {
    let mut prompt = tool.prompt();
    if let [property] = tool.properties() {
        let has_pattern = matches!(tool.grammar(), Some(Grammar::Regex(_)));
        let notes = reshape::text_notes(property, has_pattern);
        if !notes.is_empty() {
            let prompt = prompt.to_mut();
            prompt.push_str("\n\n");
            prompt.push_str(&notes);
        }
    }
    out.word("name").string(&tool.name);
    if !prompt.trim().is_empty() {
        out.word("description").string(&prompt);
    }
}

/// Estimates the bytes of these tools in the longest dialect.
pub(crate) fn capacity(tools: &[ToolEntry]) -> usize {
    tools.iter().map(|tool| capacity_of(tool)).sum()
}

fn capacity_of(tool: &ToolSpec) -> usize {
    let sections = [tool.when_to_use(), tool.returns()].into_iter().flatten();
    let prompt = tool.description.len() + sections.map(str::len).sum::<usize>();
    let schemas = tool.parameters_json().len() + tool.output_json().map_or(0, str::len);
    // Plus the keys around them, and escapes in the prompt.
    schemas + prompt + prompt / 8 + 320
}
