//! Prompts: functions that return messages.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tool_core::ToolEntry;

use super::core::Core;
use super::lines::RawArguments;
use super::offers::{FoundCall, for_clients, parameters, refused};
use super::resources::of_other;
use super::result::Purpose;

impl Core {
    /// Returns the prompts that a request can see; `None` if the server itself has none.
    pub(super) fn own_prompts(&self, context: &RequestContext<RoleServer>) -> Option<Vec<Prompt>> {
        let names = &self.options.offers.prompts;
        if names.is_empty() && !self.options.has_imports() {
            return None;
        }
        let offered = self.offered(context)?;
        let functions = names.iter().filter_map(|name| offered.get(name));
        #[cfg_attr(not(feature = "client"), expect(unused_mut))]
        let mut prompts: Vec<_> = functions.map(|function| listed(&function)).collect();
        #[cfg(feature = "client")]
        self.add_prompts(context, &mut prompts);
        Some(prompts)
    }

    /// Runs a prompt. Returns `None` if the server has none with this name.
    pub(super) async fn prompt(
        self: &Arc<Self>,
        params: &GetPromptRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Option<Result<GetPromptResponse, ErrorData>> {
        let found = self.find_prompt(params, &context)?;
        let (function, description) = (found.function, found.description);
        context.extensions.insert(RawArguments(found.arguments));
        let mut call = CallToolRequestParams::new(function.name.to_string());
        call.input_responses.clone_from(&params.input_responses);
        call.request_state.clone_from(&params.request_state);
        let response = self
            .run(Purpose::Prompt, found.registry, call, context)
            .await;
        Some(response.and_then(|response| match response {
            CallToolResponse::Complete(result) if result.is_error == Some(true) => {
                Err(refused(result))
            }
            CallToolResponse::Complete(result) => {
                let messages = if found.is_imported {
                    of_other(result, "messages")
                } else {
                    let blocks = result.content.into_iter();
                    blocks
                        .map(|block| PromptMessage::new(Role::User, block))
                        .collect()
                };
                let mut result = GetPromptResult::new(messages);
                result.description = description;
                Ok(GetPromptResponse::Complete(result))
            }
            CallToolResponse::InputRequired(questions) => {
                Ok(GetPromptResponse::InputRequired(questions))
            }
            _ => Err(ErrorData::internal_error("a prompt is no task", None)),
        }))
    }

    /// Returns the call that gets a prompt, if the request can see it.
    fn find_prompt(
        &self,
        params: &GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<FoundCall> {
        // Strings, by the protocol. Some clients send JSON.
        let values = params.arguments.iter().flatten();
        let values = values.map(|(name, value)| match value {
            Value::String(text) => (name, text.clone()),
            value => (name, value.to_string()),
        });
        if !self.options.offers.prompts.contains(&params.name) {
            #[cfg(feature = "client")]
            {
                let values = values
                    .map(|(name, text)| (name.clone(), text.into()))
                    .collect();
                return self.imported_prompt(&params.name, &values, context);
            }
            #[cfg(not(feature = "client"))]
            return None;
        }
        let registry = self.offered(context)?;
        let function = registry.get(&params.name)?;
        Some(FoundCall {
            arguments: function.arguments_from_text(values),
            description: Some(function.description.to_string()),
            registry,
            function,
            is_imported: false,
        })
    }
}

fn listed(function: &ToolEntry) -> Prompt {
    let (properties, required) = parameters(function).unwrap_or_default();
    let arguments = properties.iter().map(|(name, schema)| {
        let mut argument = PromptArgument::new(name).with_required(required.contains(name));
        argument.description = schema
            .get("description")
            .and_then(Value::as_str)
            .map(Into::into);
        argument
    });
    let arguments: Vec<_> = arguments.collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    let mut prompt = Prompt::new(&*function.name, Some(function.prompt()), arguments);
    prompt.title = function.title().map(ToOwned::to_owned);
    (prompt.icons, prompt.meta) = for_clients(function);
    prompt
}
