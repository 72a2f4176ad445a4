//! A dialect for the types of `genai`, and a model that `genai` asks.

use std::error::Error;

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, ToolResponse};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::{Value, json};
use tool_agent::model::{Model, ModelError, ModelFuture, Request, Response};
use tool_core::dialect::write::JsonWriter;
use tool_core::dialect::{Dialect, HostedTool, ResponseError, Turn};
use tool_core::{ToolCall, ToolEntry, ToolResult};

/// The dialect of `genai`: its tools, messages and responses, serialized.
pub(crate) struct Genai;

impl Dialect for Genai {
    fn write_tools(&self, tools: &[ToolEntry], _: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.object(|out| {
                    out.key("name").string(&tool.name);
                    out.key("description").string(&tool.prompt());
                    out.key("schema").raw(tool.parameters_json());
                });
            }
        });
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        let content = read(response)?.content;
        let mut turn = Turn::new(vec![response.clone()]);
        turn.text = content.texts().concat();
        let calls = content.into_tool_calls().into_iter();
        let calls = calls.map(|call| ToolCall::new(call.call_id, call.fn_name, call.fn_arguments));
        turn.calls = calls.collect();
        Ok(turn)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let response = |result: &ToolResult| {
            ToolResponse::new(result.call_id(), result.content()).with_fn_name(result.name())
        };
        let responses = results.iter().map(response);
        responses
            .map(|response| json!(ChatMessage::from(response)))
            .collect()
    }
}

/// Reads a response, which is the message that `ask` returns.
fn read(response: &Value) -> Result<ChatMessage, ResponseError> {
    serde_json::from_value(response.clone())
        .map_err(|error| ResponseError::new(format!("not a message of genai: {error}")))
}

/// A provider, asked through `genai`.
pub(crate) struct Provider {
    client: Client,
    model: String,
}

impl Provider {
    /// Creates the provider for a model's name, with a key that `genai` finds in the environment. With
    /// a URL, uses OpenAI's chat completions at that URL without a key.
    pub(crate) fn new(model: &str, url: Option<&str>) -> Result<Provider, genai::Error> {
        let mut client = Client::builder();
        if let Some(url) = url {
            let endpoint = format!("{}/", url.trim_end_matches('/'));
            client = client.with_service_target_resolver_fn(
                move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
                    Ok(ServiceTarget {
                        endpoint: Endpoint::from_owned(endpoint.clone()),
                        auth: AuthData::from_single("none"),
                        model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
                    })
                },
            );
        }
        Ok(Provider {
            client: client.build()?,
            model: model.into(),
        })
    }
}

impl Model for Provider {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        Box::pin(async {
            let response = self.send(request).await;
            response.map(Response::Whole).map_err(ModelError::other)
        })
    }
}

impl Provider {
    async fn send(&self, request: Request) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let messages = request.messages.iter();
        let messages = messages.map(|message| serde_json::from_value((**message).clone()));
        let chat = ChatRequest {
            system: Some("You control the heating of one room.".into()),
            messages: messages.collect::<Result<_, _>>()?,
            tools: Some(serde_json::from_str(request.tools().as_str())?),
            ..ChatRequest::default()
        };
        let response = self.client.exec_chat(&self.model, chat, None).await?;
        let has_reasoning = response.content.contains_reasoning_content();
        let reasoning = response.reasoning_content.filter(|_| !has_reasoning);
        let message = ChatMessage::assistant(response.content).with_reasoning_content(reasoning);
        Ok(serde_json::to_value(message)?)
    }
}
