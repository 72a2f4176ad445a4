//! The model, asked over HTTP by `async-openai`.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use serde::Serialize;
use serde_json::{Value, json};
use tool_core::agent::{Model, ModelError, ModelFuture, Request};
use tool_core::dialect::Rendered;

use crate::tools::SystemPrompt;

/// OpenAI's two APIs. Many other providers offer the older one, `Chat`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Api {
    Responses,
    Chat,
}

pub(crate) struct OpenAi {
    client: Client<OpenAIConfig>,
    api: Api,
    name: String,
    prompt: SystemPrompt,
}

impl OpenAi {
    pub(crate) fn new(url: &str, key: &str, api: Api, name: &str, prompt: SystemPrompt) -> OpenAi {
        let config = OpenAIConfig::new().with_api_base(url).with_api_key(key);
        OpenAi {
            client: Client::with_config(config),
            api,
            name: name.into(),
            prompt,
        }
    }
}

/// The body of a request. A struct keeps the order of the keys in the tools.
#[derive(Serialize)]
#[serde(untagged)]
enum Body<'r> {
    Responses {
        model: &'r str,
        instructions: String,
        input: &'r [Value],
        tools: &'r Rendered,
        // The transcript has everything, so the provider need not store it.
        store: bool,
        include: [&'static str; 1],
    },
    Chat {
        model: &'r str,
        messages: Vec<&'r Value>,
        tools: &'r Rendered,
    },
}

impl Model for OpenAi {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        Box::pin(self.send(request))
    }
}

impl OpenAi {
    async fn send(&self, request: Request) -> Result<Value, ModelError> {
        // Read for each request, because a tool may have changed it.
        let instructions = self.prompt.get();
        let Request {
            messages, tools, ..
        } = request;
        let response = match self.api {
            Api::Responses => {
                let body = Body::Responses {
                    model: &self.name,
                    instructions,
                    input: &messages,
                    tools: &tools,
                    store: false,
                    include: ["reasoning.encrypted_content"],
                };
                self.client.responses().create_byot(body).await
            }
            Api::Chat => {
                let system = json!({ "role": "system", "content": instructions });
                let body = Body::Chat {
                    model: &self.name,
                    messages: [&system].into_iter().chain(&*messages).collect(),
                    tools: &tools,
                };
                self.client.chat().create_byot(body).await
            }
        };
        response.map_err(ModelError::other)
    }
}
