//! Completion: values for the arguments of prompts and the variables of resources, while a person types them.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tool_core::runtime::BoxFuture;
use tool_core::{Registry, ToolEntry};

use super::Core;
use super::call::until_end;
use super::offers::{Offers, parameters};
use super::request::UserId;

pub(super) type Complete = dyn Fn(Completion) -> BoxFuture<Vec<String>> + Send + Sync;

/// An argument that a person types, as [`Server::complete`](crate::Server::complete) sees it.
///
/// ```
/// use tool_mcp::server::Completion;
///
/// async fn complete(completion: Completion) -> Vec<String> {
///     match &*completion.argument {
///         "city" => vec!["Lisbon".into(), "Porto".into()],
///         _ => Vec::new(),
///     }
/// }
/// # let _ = complete;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Completion {
    /// The name of the function behind the prompt or the resource.
    pub name: String,
    /// The name of the argument or the variable.
    pub argument: String,
    /// The text that is typed so far.
    pub value: String,
    /// The other arguments that the client knows already.
    pub others: HashMap<String, String>,
    /// The user of the request.
    pub user: Option<UserId>,
}

impl Offers {
    /// Returns `true` if there is something to complete.
    pub(super) fn completes(&self) -> bool {
        let has_choices = |function: ToolEntry| {
            let properties = parameters(&function).map(|(properties, _)| properties);
            properties.is_some_and(|all| all.values().any(|schema| !choices(schema).is_empty()))
        };
        let functions = self.functions().map(Registry::specs).unwrap_or_default();
        self.complete.is_some() && !functions.is_empty() || functions.into_iter().any(has_choices)
    }
}

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

/// Returns the values that a schema lists.
fn choices(schema: &Value) -> Vec<String> {
    let listed = schema.get("enum").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().chain(schema.get("const"));
    let listed = listed.filter(|value| !value.is_null());
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), ToOwned::to_owned)
    };
    let mut choices: Vec<_> = listed.map(text).collect();
    if schema.get("type").is_some_and(|name| name == "boolean") {
        choices.extend(["true".into(), "false".into()]);
    }
    choices
}
