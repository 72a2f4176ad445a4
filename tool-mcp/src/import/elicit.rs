//! Questions that a server asks the user.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Value, json};
use tool_core::{BoxFuture, CallContext};

/// A question that a server asks the user, passed to the handler of
/// [`ImportBuilder::on_elicit`](crate::ImportBuilder::on_elicit).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Elicitation {
    /// The name of the import; see [`ImportBuilder::name`](crate::ImportBuilder::name).
    pub server: String,
    /// The call that the server needs the answer for. Its context values tell an application with
    /// several users whom to ask. `None` if several calls are running and the server does not say
    /// which one it is, as servers before version 2026-07-28 do over standard input and output.
    pub call: Option<CallContext>,
    /// The question. Another program wrote it: show the user which server asks.
    pub message: String,
    /// What the user has to do.
    pub kind: ElicitationKind,
}

/// What the user has to do to answer a question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitationKind {
    /// Fill in a form. This is the JSON Schema of its values: an object of strings, numbers, booleans
    /// and enumerations.
    Form(Value),
    /// Open a URL, such as to log in there. Show the user the whole URL before opening it.
    Url(String),
}

/// The answer to a question of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationAnswer {
    /// The values of the form: an object that follows its schema. For a URL, any value: the user agreed
    /// to open it.
    Accept(Value),
    /// The user does not want to answer.
    Decline,
    /// The user closed the question without a decision.
    Cancel,
}

/// Answers the questions of a server.
#[derive(Clone, Default)]
pub(super) struct Handler(Option<Answering>);

type Answering = Arc<dyn Fn(Elicitation) -> BoxFuture<ElicitationAnswer> + Send + Sync>;

impl Handler {
    pub(super) fn new<F, R>(answer: F) -> Handler
    where
        F: Fn(Elicitation) -> R + Send + Sync + 'static,
        R: Future<Output = ElicitationAnswer> + Send + 'static,
    {
        Handler(Some(Arc::new(move |question| Box::pin(answer(question)))))
    }

    /// Declines if there is no handler.
    pub(super) async fn answer(&self, question: Elicitation) -> ElicitationAnswer {
        match &self.0 {
            Some(answer) => answer(question).await,
            None => ElicitationAnswer::Decline,
        }
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "set" } else { "none" })
    }
}

/// Reads a question as `rmcp` parsed it.
pub(super) fn read(params: ElicitRequestParams) -> Option<(String, ElicitationKind)> {
    match params {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => {
            let schema = serde_json::to_value(requested_schema).ok()?;
            Some((message, ElicitationKind::Form(schema)))
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            Some((message, ElicitationKind::Url(url)))
        }
        _ => None,
    }
}

/// Reads a question whose schema `rmcp` does not know.
pub(super) fn read_value(params: &Value) -> Option<(String, ElicitationKind)> {
    let message = params["message"].as_str()?.to_owned();
    let kind = match params["mode"].as_str() {
        Some("url") => ElicitationKind::Url(params["url"].as_str()?.to_owned()),
        _ => ElicitationKind::Form(params.get("requestedSchema")?.clone()),
    };
    Some((message, kind))
}

/// Converts an answer to what the server gets.
pub(super) fn written(answer: ElicitationAnswer, kind: &ElicitationKind) -> ElicitResult {
    match (answer, kind) {
        (ElicitationAnswer::Accept(values), ElicitationKind::Form(_)) => {
            let values = if values.is_object() { values } else { json!({}) };
            ElicitResult::new(ElicitationAction::Accept).with_content(values)
        }
        (ElicitationAnswer::Accept(_), ElicitationKind::Url(_)) => {
            ElicitResult::new(ElicitationAction::Accept)
        }
        (ElicitationAnswer::Decline, _) => ElicitResult::new(ElicitationAction::Decline),
        (ElicitationAnswer::Cancel, _) => ElicitResult::new(ElicitationAction::Cancel),
    }
}
