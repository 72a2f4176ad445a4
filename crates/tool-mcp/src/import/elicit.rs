//! Questions that a server asks the user.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Value, json};
use tool_core::CallContext;
use tool_core::call::elicit::{Elicit, ElicitMode, ElicitRequest, Elicited};
use tool_core::runtime::BoxFuture;
use tool_core::visible::escape;

/// A question that a server asks the user, passed to the handler of
/// [`ImportBuilder::on_elicit`](crate::ImportBuilder::on_elicit).
///
/// ```
/// use tool_core::call::elicit::{ElicitMode, Elicited};
/// use tool_mcp::Elicitation;
///
/// /// Declines everything but pages of a known host.
/// async fn answer(question: Elicitation) -> Elicited {
///     match &question.request.mode {
///         ElicitMode::Url(url) if url.starts_with("https://login.example.com/") => {
///             println!("{} asks you to open {url}", question.server);
///             Elicited::Accepted(serde_json::json!({}))
///         }
///         _ => Elicited::Declined,
///     }
/// }
///
/// let builder = tool_mcp::Import::command(tokio::process::Command::new("notes")).on_elicit(answer);
/// # let _ = builder;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Elicitation {
    /// The name of the import; see [`ImportBuilder::name`](crate::ImportBuilder::name).
    pub server: String,
    /// The call that the server needs the answer for. If your application has several users, its context
    /// values tell you whom to ask. `None` if several calls are running and the server does not say which
    /// one it is, as servers before version 2026-07-28 do over standard input and output.
    pub call: Option<CallContext>,
    /// The question. Another program wrote it: show the user which server asks, and the whole URL of a
    /// page to visit.
    pub request: ElicitRequest,
}

/// Answers the questions of a server.
#[derive(Clone, Default)]
pub(super) struct Answerer(Option<Answering>);

type Answering = Arc<dyn Fn(Elicitation) -> BoxFuture<Elicited> + Send + Sync>;

impl Answerer {
    pub(super) fn new<F, R>(answer: F) -> Answerer
    where
        F: Fn(Elicitation) -> R + Send + Sync + 'static,
        R: Future<Output = Elicited> + Send + 'static,
    {
        Answerer(Some(Arc::new(move |question| Box::pin(answer(question)))))
    }

    /// Returns `true` if questions are passed on to the caller.
    pub(super) fn passes_on(&self) -> bool {
        self.0.is_none()
    }

    /// Asks the handler. Without one, asks the user of the call, and declines if that is not possible. `key`
    /// identifies the question within the call.
    pub(super) async fn answer(&self, key: &str, question: Elicitation) -> ElicitResult {
        let is_form = matches!(question.request.mode, ElicitMode::Form(_));
        let answer = match &self.0 {
            Some(answer) => answer(question).await,
            None => pass_on(key, question).await,
        };
        match answer {
            Elicited::Accepted(values) if is_form => {
                let values = if values.is_object() {
                    values
                } else {
                    json!({})
                };
                ElicitResult::new(ElicitationAction::Accept).with_content(values)
            }
            Elicited::Accepted(_) => ElicitResult::new(ElicitationAction::Accept),
            Elicited::Declined => ElicitResult::new(ElicitationAction::Decline),
            Elicited::Dismissed => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}

impl fmt::Debug for Answerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "set" } else { "none" })
    }
}

/// Asks the user of the call, such as the client of a gateway.
async fn pass_on(key: &str, question: Elicitation) -> Elicited {
    let Elicitation {
        server,
        call,
        request,
    } = question;
    let Some(call) = call else {
        return Elicited::Declined;
    };
    let message = format!("{server} asks: {}", request.message);
    let answer = match request.mode {
        ElicitMode::Form(schema) => {
            let question = Elicit::with_schema(message, schema);
            call.elicit(key, question).await
        }
        ElicitMode::Url(url) => {
            let question = Elicit::visit(message, url);
            match call.elicit(key, question).await {
                Ok(Elicited::Accepted(())) => Ok(Elicited::Accepted(Value::Null)),
                Ok(Elicited::Declined) => Ok(Elicited::Declined),
                Ok(Elicited::Dismissed) => Ok(Elicited::Dismissed),
                Err(error) => Err(error),
            }
        }
        _ => return Elicited::Declined,
    };
    answer.unwrap_or_else(|error| {
        tracing::debug!(%error, server, "a question of an MCP server is declined");
        Elicited::Declined
    })
}

/// Reads a question as `rmcp` parsed it.
pub(super) fn read(params: ElicitRequestParams) -> Option<ElicitRequest> {
    match params {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => Some(form(
            &message,
            &serde_json::to_value(requested_schema).ok()?,
        )),
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let question = Elicit::visit(escape(&message), escape(&url));
            Some(question.request().clone())
        }
        _ => None,
    }
}

/// Reads a question whose schema `rmcp` does not know.
pub(super) fn read_value(params: &Value) -> Option<ElicitRequest> {
    let message = params["message"].as_str()?;
    match params["mode"].as_str() {
        Some("url") => {
            let url = params["url"].as_str()?;
            let question = Elicit::visit(escape(message), escape(url));
            Some(question.request().clone())
        }
        _ => Some(form(message, params.get("requestedSchema")?)),
    }
}

fn form(message: &str, schema: &Value) -> ElicitRequest {
    Elicit::with_schema(escape(message), schema)
        .request()
        .clone()
}
