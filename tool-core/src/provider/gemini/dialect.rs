//! Google's Gemini.

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult, WireId};
use crate::provider::dialect::{Dialect, JsonWriter, wire_id, write_head};
use crate::provider::hosted;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::reshape::{self, Style};
use crate::provider::response::{Layout, ResponseError, words};
use crate::provider::rules::{BrokenRule, Target, broken};
use crate::schema::{Kind, Schema};
use crate::tool::ToolEntry;

/// Gemini's `generateContent`, of the Gemini API and of Vertex AI.
///
/// Schemas go under `parametersJsonSchema`, in the keywords that are read there; what else is to
/// be said of a parameter is said in words. [`Gemini::open_api`] writes the older form. A tool
/// without parameters has neither (Google's Gen AI SDK, `FunctionDeclaration`).
///
/// Calls are read from the first candidate. They may have no id; their results then have none
/// either and are told apart by their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gemini {
    is_open_api: bool,
}

impl Gemini {
    /// With schemas under `parameters`, as a subset of OpenAPI.
    ///
    /// What that subset can't hold (free keys, values of any type, recursive types, objects
    /// without members) goes under `parametersJsonSchema` all the same, tool by tool.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Gemini;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls dice.
    /// #[tool]
    /// fn roll(#[param(range = 1..=6)] dice: u8) -> u8 {
    ///     4 * dice
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll]).build()?;
    /// let tools = json!(registry.render(&Gemini::open_api()));
    /// assert_eq!(
    ///     tools[0]["functionDeclarations"][0]["parameters"],
    ///     json!({
    ///         "type": "OBJECT",
    ///         "properties": {"dice": {"type": "INTEGER", "minimum": 1, "maximum": 6}},
    ///         "propertyOrdering": ["dice"],
    ///         "required": ["dice"],
    ///     })
    /// );
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn open_api() -> Gemini {
        Gemini { is_open_api: true }
    }

    fn write_tool(self, tool: &ToolEntry, out: &mut JsonWriter) {
        write_head(tool, out);
        let schema = &tool.parameters();
        if matches!(schema.kind(), Kind::Object([])) {
            return;
        }
        if self.is_open_api && fits_open_api(schema) {
            out.word("parameters");
            reshape::write(schema, &Style::GEMINI_OPEN_API, out);
        } else {
            out.word("parametersJsonSchema");
            reshape::write_tool(tool, &Style::GEMINI_JSON, out);
        }
    }
}

/// The members of an entry of `tools` besides the functions (Google's Gen AI SDK and Vertex AI's
/// API description, `Tool`).
const HOSTED: [&str; 11] = [
    "codeExecution",
    "computerUse",
    "enterpriseWebSearch",
    "exaAiSearch",
    "fileSearch",
    "googleMaps",
    "googleSearch",
    "googleSearchRetrieval",
    "parallelAiSearch",
    "retrieval",
    "urlContext",
];

const LAYOUT: Layout = Layout {
    response: "a response of Gemini",
    call: "a call in `candidates[0].content.parts`",
    id: "functionCall.id",
    id_is_optional: true,
    name: "functionCall.name",
    arguments: "functionCall.args",
    stop: "finishReason",
    cut_short: &[
        "MAX_TOKENS",
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
    ],
};

impl Dialect for Gemini {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            if !tools.is_empty() {
                out.object(|out| {
                    out.word("functionDeclarations").array(|out| {
                        for tool in tools {
                            out.object(|out| self.write_tool(tool, out));
                        }
                    });
                });
            }
            hosted::write(hosted, out);
        });
    }

    /// An entry of its own each, told by its keys, which may be spelled `googleSearch` or
    /// `google_search`. Not every model takes them beside functions (Google's guide, "Combine
    /// built-in tools and function calling").
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted::has_keys(tool, |key| {
            HOSTED.iter().any(|known| hosted::is_spelling(key, known))
        })
    }

    fn provider(&self) -> &'static str {
        "Gemini"
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        // A blocked prompt has feedback and no candidates.
        if response["candidates"][0].is_null() && response["promptFeedback"].is_object() {
            return Ok(Vec::new());
        }
        let candidate = LAYOUT.first(response, "candidates")?;
        let parts = LAYOUT.optional_array(candidate, "content.parts")?;
        LAYOUT.calls(candidate, parts, |part| part["functionCall"].is_object())
    }

    /// The model's content with its thought signatures; nothing when it has no parts, which the
    /// API would not take back.
    fn turn(&self, response: &Value) -> Vec<Value> {
        let content = &response["candidates"][0]["content"];
        match &content["parts"] {
            Value::Array(parts) if !parts.is_empty() => vec![content.clone()],
            _ => Vec::new(),
        }
    }

    fn text(&self, response: &Value) -> String {
        words(&response["candidates"][0]["content"]["parts"])
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let parts: Vec<_> = results.iter().map(part).collect();
        if parts.is_empty() {
            return Vec::new();
        }
        vec![json!({ "role": "user", "parts": parts })]
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::Gemini, tools)
    }
}

/// Whether `parameters` can hold a schema: every node has a type there, and every object members.
fn fits_open_api(schema: &Schema) -> bool {
    match *schema.kind() {
        Kind::Any | Kind::Reference(_) => false,
        Kind::Nullable(inner) => fits_open_api(inner),
        Kind::Array(rule) => fits_open_api(rule.items),
        Kind::AnyOf(schemas) | Kind::Tuple(schemas) => {
            schemas.iter().all(|schema| fits_open_api(schema))
        }
        Kind::Map(rule) => match rule.keys.kind {
            Kind::Enum(keys) => {
                Style::GEMINI_OPEN_API.takes_keys(keys) && fits_open_api(rule.values)
            }
            _ => false,
        },
        Kind::Object(properties) => {
            !properties.is_empty()
                && properties
                    .iter()
                    .all(|property| fits_open_api(property.schema()))
        }
        _ => true,
    }
}

/// One result. The keys `output` and `error` are the SDK's (`FunctionResponse.response`).
fn part(result: &ToolResult) -> Value {
    let response = if result.is_error() {
        json!({ "error": result.content() })
    } else {
        let output = result.structured();
        json!({ "output": output.unwrap_or_else(|| result.content().into()) })
    };
    let mut answer = json!({ "name": result.name(), "response": response });
    if result.wire_id != WireId::Absent {
        answer["id"] = wire_id(result);
    }
    json!({ "functionResponse": answer })
}
