//! Completion: values for the arguments of prompts and the variables of resources, while a person types them.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use rmcp::service::{RequestContext, RoleServer};
use tool_core::ToolEntry;

use super::core::Core;
use super::offers::{Completion, choices, parameters};
use super::progress::until_end;

impl Core {
    /// Completes an argument. Returns `None` if the server has no such prompt or resource.
    pub(super) async fn complete(
        self: &Arc<Self>,
        params: &CompleteRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CompleteResult, ErrorData>> {
        if let Some(function) = self.completed(params, context) {
            return Some(self.complete_for(&function, params, context).await);
        }
        #[cfg(feature = "client")]
        return self.complete_imported(params, context).await;
        #[cfg(not(feature = "client"))]
        None
    }

    /// Returns the function of the server itself that an argument is for.
    fn completed(
        &self,
        params: &CompleteRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<ToolEntry> {
        let offers = &self.options.offers;
        let name = match &params.r#ref {
            Reference::Prompt(prompt) => {
                offers.prompts.iter().find(|name| **name == prompt.name)?
            }
            Reference::Resource(resource) => {
                let mut resources = offers.resources.iter();
                &resources
                    .find(|own| own.template.source() == resource.uri)?
                    .name
            }
            _ => return None,
        };
        self.offered(context)?.get(name)
    }

    async fn complete_for(
        self: &Arc<Self>,
        function: &ToolEntry,
        params: &CompleteRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        // A user who may not call the function learns nothing of its values.
        let user = self.admit(function, context, true)?;
        let typed = &params.argument;
        let schema = parameters(function).and_then(|(mut all, _)| all.remove(&typed.name));
        let choices = schema.as_ref().map(choices).unwrap_or_default();
        let values = match &self.options.offers.complete {
            Some(complete) if choices.is_empty() => {
                let others = params
                    .context
                    .as_ref()
                    .and_then(|context| context.arguments.clone());
                let completion = Completion {
                    name: function.name.to_string(),
                    argument: typed.name.clone(),
                    value: typed.value.clone(),
                    others: others.unwrap_or_default(),
                    user,
                };
                let running = AssertUnwindSafe(async { complete(completion).await }).catch_unwind();
                let ended = until_end(pin!(running), None, context).await?;
                ended.map_err(|_| ErrorData::internal_error("the completion failed", None))?
            }
            _ => {
                let start = typed.value.to_lowercase();
                let fits = |choice: &String| choice.to_lowercase().starts_with(&start);
                choices.into_iter().filter(fits).collect()
            }
        };
        Ok(CompleteResult::new(page(values)))
    }
}

/// Returns the first values, as many as the protocol allows.
fn page(mut values: Vec<String>) -> CompletionInfo {
    let total = u32::try_from(values.len()).ok();
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut page = CompletionInfo::default();
    page.values = values;
    page.total = total;
    page.has_more = Some(has_more);
    page
}
