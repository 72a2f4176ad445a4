//! Why a tool can't be made.

use std::fmt;

/// Why a [`DynamicTool`](super::DynamicTool) can't be made: everything that is wrong with it.
///
/// ```
/// use serde_json::json;
/// use tool_core::DynamicTool;
///
/// let error = DynamicTool::builder("get weather")
///     .parameters(json!({
///         "type": "object",
///         "properties": {"stops": {"type": "array"}, "unit": {"$ref": "#/$defs/Unit"}},
///     }))
///     .build(async |_, _| Ok::<_, String>(()))
///     .unwrap_err();
/// assert_eq!(error.problems().len(), 4);
/// assert!(error.to_string().starts_with("the tool `get weather` can't be made:\n- its name"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicToolError {
    pub(super) tool: String,
    pub(super) problems: Vec<String>,
}

impl DynamicToolError {
    /// What is wrong, each with its place and what to do.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl fmt::Display for DynamicToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tool `{}` can't be made:", self.tool)?;
        for problem in &self.problems {
            write!(f, "\n- {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for DynamicToolError {}
