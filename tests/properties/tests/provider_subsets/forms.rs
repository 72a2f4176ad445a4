//! The forms that dialects write schemas in.

use serde_json::{Map, Value, json};
use tool_core::ToolEntry;
use tool_core::dialect::Dialect;
use tool_core::dialect::write::JsonWriter;
use tool_dialects::{Anthropic, Gemini, OpenAiResponses, XAi};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    OpenAiStrict,
    AnthropicStrict,
    GeminiJson,
    GeminiOpenApi,
    XAi,
}

impl Form {
    pub(crate) const ALL: [Form; 5] = [
        Form::OpenAiStrict,
        Form::AnthropicStrict,
        Form::GeminiJson,
        Form::GeminiOpenApi,
        Form::XAi,
    ];

    /// Returns `true` if every key is required.
    pub(crate) fn requires_all(self) -> bool {
        self == Form::OpenAiStrict
    }

    /// Returns the schema of a tool in this form; `None` if it cannot be written in it.
    pub(crate) fn schema(self, tool: &ToolEntry) -> Option<Value> {
        let (tools, path) = match self {
            Form::OpenAiStrict => (render(&OpenAiResponses::strict(), tool), "/0/parameters"),
            Form::AnthropicStrict => (render(&Anthropic::strict(), tool), "/0/input_schema"),
            Form::GeminiJson => (
                render(&Gemini::default(), tool),
                "/0/functionDeclarations/0/parametersJsonSchema",
            ),
            Form::GeminiOpenApi => (
                render(&Gemini::open_api(), tool),
                "/0/functionDeclarations/0/parameters",
            ),
            Form::XAi => (render(&XAi::default(), tool), "/0/function/parameters"),
        };
        if tools.pointer("/0/strict") == Some(&json!(false)) {
            return None;
        }
        let schema = tools.pointer(path)?.clone();
        let has_references = tool.parameters_json().contains("\"$ref\"");
        // xAI accepts no recursive type, in any form.
        (self != Form::XAi || !has_references).then_some(schema)
    }
}

fn render(dialect: &dyn Dialect, tool: &ToolEntry) -> Value {
    let mut out = JsonWriter::new();
    dialect.write_tools(std::slice::from_ref(tool), &[], &mut out);
    serde_json::from_str(&out.into_string()).expect("a dialect writes JSON")
}

/// Returns a schema of this form as plain JSON Schema, without type lists, which the sampler cannot
/// read.
pub(crate) fn plain(schema: &Value, form: Form) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(|item| plain(item, form)).collect(),
        Value::Object(members) => {
            let mut members: Map<_, _> = members
                .iter()
                .map(|(key, value)| (key.clone(), plain(value, form)))
                .collect();
            if form == Form::GeminiOpenApi && is_node(&members) {
                openapi(&mut members);
            }
            match members.get("type") {
                Some(Value::Array(types)) => {
                    let types = types.clone();
                    let variants = types.into_iter().map(|name| {
                        let mut variant = members.clone();
                        if name == "null" {
                            variant = Map::new();
                        }
                        variant.insert("type".into(), name);
                        Value::Object(variant)
                    });
                    json!({ "anyOf": variants.collect::<Vec<_>>() })
                }
                _ => match members.remove("nullable") {
                    Some(Value::Bool(true)) => json!({ "anyOf": [members, {"type": "null"}] }),
                    _ => Value::Object(members),
                },
            }
        }
        other => other.clone(),
    }
}

fn is_node(members: &Map<String, Value>) -> bool {
    members.get("type").is_some_and(Value::is_string)
}

fn openapi(members: &mut Map<String, Value>) {
    let name = members["type"].as_str().unwrap_or_default().to_lowercase();
    if name == "object" {
        members.insert("additionalProperties".into(), json!(false));
    }
    members.insert("type".into(), name.into());
    members.remove("propertyOrdering");
    if members.get("format") == Some(&json!("enum")) {
        members.remove("format");
    }
}
