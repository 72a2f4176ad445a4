//! The model, asked over HTTP.

use serde_json::json;
use tool_agent::dialects::{OpenAiChat, OpenAiResponses};
use tool_agent::model::HttpModel;
use tool_core::dialect::Dialect;

use crate::tools::SystemPrompt;

/// OpenAI's two APIs. Many other providers offer the older one, `Chat`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Api {
    Responses,
    Chat,
}

impl Api {
    pub(crate) fn dialect(self) -> Box<dyn Dialect> {
        match self {
            Api::Responses => Box::new(OpenAiResponses::default()),
            Api::Chat => Box::new(OpenAiChat::default()),
        }
    }
}

/// Returns a model. The prompt is read for each request, because a tool may have changed it.
pub(crate) fn model(api: Api, url: &str, name: &str, prompt: SystemPrompt) -> HttpModel {
    let model = HttpModel::new(&api.dialect(), name)
        .base_url(url)
        .system_with(move || prompt.get());
    match api {
        // The transcript has everything, so the provider need not store it.
        Api::Responses => model
            .field("store", false)
            .field("include", json!(["reasoning.encrypted_content"])),
        Api::Chat => model,
    }
}
