//! What changes between two lists of tools in a provider's form.

use serde_json::Value;

/// The difference between two lists of tools.
pub(crate) struct Changes<'t> {
    /// The tools that are new or have another definition.
    pub(crate) added: Vec<&'t Value>,
    /// The tools that are gone.
    pub(crate) removed: Vec<&'t Value>,
}

impl<'t> Changes<'t> {
    /// Compares tools by their names. `mark` is a key of marks that are no part of a definition.
    pub(crate) fn between(before: &'t [Value], now: &'t [Value], mark: &str) -> Changes<'t> {
        let is_same = |one: &Value, other: &Value| {
            let definition = |tool: &Value| {
                let mut tool = tool.clone();
                tool.as_object_mut().map(|tool| tool.remove(mark));
                tool
            };
            one == other || definition(one) == definition(other)
        };
        let is_in = |tools: &[Value], tool: &Value| {
            let mut same = tools.iter().filter(|other| name(other) == name(tool));
            same.any(|other| is_same(other, tool))
        };
        let has_name = |tool: &Value| now.iter().any(|other| name(other) == name(tool));
        Changes {
            added: now.iter().filter(|tool| !is_in(before, tool)).collect(),
            removed: before.iter().filter(|tool| !has_name(tool)).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// Returns the name of a tool, or its type if the provider runs it.
fn name(tool: &Value) -> &Value {
    let function = &tool["function"]["name"];
    [function, &tool["name"]]
        .into_iter()
        .find(|name| name.is_string())
        .unwrap_or(&tool["type"])
}
