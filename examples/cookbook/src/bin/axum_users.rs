//! A web service with a user for each request, which tools know and models do not.
//!
//! ```sh
//! cargo add tool-core
//! cargo add tool-agent
//! cargo add axum tokio --features tokio/macros,tokio/rt,tokio/net
//! cargo run
//! curl -H 'authorization: Bearer token-of-ada' -d 'What did I write?' http://127.0.0.1:3000/ask
//! ```
//!
//! Lost in between: a client that hangs up drops the future of its handler, and with it the calls; spawn a task if they
//! must end. The answer arrives as a whole; `Agent::events` is a stream.

use std::collections::HashMap;
use std::sync::Mutex;

use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::http::{StatusCode, header, request::Parts};
use axum::routing::post;
use tool_agent::Agent;
use tool_agent::dialects::OpenAiChat;
use tool_agent::model::{Model, ModelFuture, Request, Response};
use tool_core::{Registry, RegistryError, ToolCall, toolset};

/// Who makes a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct User(&'static str);

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<User, StatusCode> {
        // Your service looks a session up here.
        let token = parts.headers.get(header::AUTHORIZATION);
        match token.and_then(|token| token.to_str().ok()) {
            Some("Bearer token-of-ada") => Ok(User("Ada")),
            Some("Bearer token-of-ben") => Ok(User("Ben")),
            _ => Err(StatusCode::UNAUTHORIZED),
        }
    }
}

struct Notes(Mutex<HashMap<User, Vec<&'static str>>>);

#[toolset]
impl Notes {
    /// Lists the notes of the user.
    #[tool(read_only)]
    fn list_notes(&self, #[param(context)] user: &User) -> Vec<&'static str> {
        self.0
            .lock()
            .unwrap()
            .get(user)
            .cloned()
            .unwrap_or_default()
    }
}

fn tools() -> Result<Registry, RegistryError> {
    let notes = HashMap::from([(User("Ada"), vec!["milk"]), (User("Ben"), vec!["tea"])]);
    // A call without a user does not run.
    Registry::builder()
        .toolset("", Notes(notes.into()))
        .context_per_call::<User>()
        .build()
}

/// Stands in for `HttpModel::new(&dialect, "gpt-5.2")` (feature `http`): calls the tool, then repeats its result.
struct Script;

impl Model for Script {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let last = &request.messages[request.messages.len() - 1];
        let (text, calls) = match last["content"].as_str() {
            Some(result) if last["role"] == "tool" => (result.to_owned(), Vec::new()),
            _ => {
                let call = ToolCall::new("call_1", "list_notes", "{}");
                (String::new(), vec![call])
            }
        };
        Box::pin(async { Ok(Response::Parts { text, calls }) })
    }
}

async fn ask(
    State(agent): State<Agent>,
    user: User,
    question: String,
) -> Result<String, (StatusCode, String)> {
    // A clone is cheap, and shares tools and model.
    let agent = agent.each_call(move |call| call.with(user));
    let answer = agent.ask(&question).await;
    answer.map_err(|error| (StatusCode::BAD_GATEWAY, error.publish()))
}

fn service() -> Result<Router, RegistryError> {
    let agent = Agent::new(tools()?, OpenAiChat::default(), Script);
    Ok(Router::new().route("/ask", post(ask)).with_state(agent))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, service()?).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use tower::ServiceExt;

    use super::*;

    async fn post_as(token: &str) -> (StatusCode, String) {
        let request = axum::http::Request::post("/ask")
            .header("authorization", format!("Bearer {token}"))
            .body(Body::from("What did I write?"))
            .unwrap();
        let response = service().unwrap().oneshot(request).await.unwrap();
        let (status, body) = (response.status(), response.into_body());
        let body = to_bytes(body, 1000).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn every_user_gets_their_own_notes() {
        assert_eq!(
            post_as("token-of-ada").await,
            (StatusCode::OK, r#"["milk"]"#.into())
        );
        assert_eq!(
            post_as("token-of-ben").await,
            (StatusCode::OK, r#"["tea"]"#.into())
        );
        assert_eq!(post_as("token-of-eve").await.0, StatusCode::UNAUTHORIZED);
    }

    #[test]
    fn a_model_can_not_choose_the_user() {
        let forged = ToolCall::new("call_1", "list_notes", r#"{"user":"Ben"}"#).with(User("Ada"));
        let result = tools().unwrap().call_blocking(forged);
        assert!(
            result.content().contains("user: unknown"),
            "{}",
            result.content()
        );
        assert!(
            tools()
                .unwrap()
                .call_blocking(ToolCall::new("call_1", "list_notes", ""))
                .is_error()
        );
    }
}
