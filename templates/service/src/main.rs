//! A chat service: people talk with a model, which has tools, and calls that cost money wait for a decision.

mod service;
mod tools;
mod users;

use std::error::Error;
use std::future::{Ready, ready};

use serde_json::json;
use tool_agent::Agent;
use tool_agent::conversations::Conversations;
use tool_agent::dialects::OpenAiResponses;
use tool_agent::model::{HttpModel, Model, ModelFuture, Request};
use tool_agent::run::{FileJournal, RunInfo};
use tool_agent::testing::ScriptedModel;
use tool_core::Registry;
use tool_core::hooks::DecisionRequest;
use tool_mcp::server::approvals::Approvals;
use tool_mcp::server::store::MemoryStore;

use crate::service::Service;
use crate::users::Users;

/// Returns an agent that acts in the name of the owner of each conversation.
fn agent(
    registry: Registry,
    model: impl Model + 'static,
    journal: FileJournal,
    users: &Users,
) -> Agent {
    let owners = users.clone();
    Agent::new(registry, OpenAiResponses::default(), model)
        .journal(journal)
        .contexts(move |run: RunInfo, call| {
            let owner = run.owner().and_then(|owner| owners.named(owner)).cloned();
            async move { Ok(call.with(owner.ok_or("the owner is no user")?)) }
        })
        .may_decide(may_decide(users))
}

/// Leads decide on the calls of others, and owners confirm their own.
fn may_decide(users: &Users) -> impl Fn(DecisionRequest) -> Ready<bool> + use<> {
    let users = users.clone();
    move |request| {
        let is_lead = users.named(&request.user).is_some_and(|user| user.is_lead);
        ready(request.is_owner() || is_lead)
    }
}

/// Returns the held calls of MCP clients. A restart forgets them; `SqliteStore` with `Server::state_key` keeps them.
fn approvals(registry: &Registry, users: &Users) -> Approvals {
    Approvals::new(registry, MemoryStore::default()).may_decide(may_decide(users))
}

/// Stands in for a model while there is no key: it orders tea, and says what came of it.
struct Demo;

impl Model for Demo {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let is_asked = request
            .messages
            .last()
            .is_some_and(|last| last["role"] == "user");
        let script = ScriptedModel::default();
        let script = match is_asked {
            true => script.calls([
                ("stock", json!({"article": "tea"})),
                ("order", json!({"article": "tea", "count": 12})),
            ]),
            false => {
                script.say("That is what came of it. With a key, a model reads what you write.")
            }
        };
        Box::pin(async move { script.ask(request).await })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = tools::registry()?;
    // With many conversations, use `SqliteJournal`, or a journal of your own in your database.
    let journal = FileJournal::new("conversations");
    let users = Users::demo()?;
    let agent = if std::env::var_os("OPENAI_API_KEY").is_some() {
        let model = HttpModel::new(&OpenAiResponses::default(), "gpt-5.2");
        let model = model.system("You help with the supplies of an office. Be brief.");
        agent(registry.clone(), model, journal.clone(), &users)
    } else {
        println!("OPENAI_API_KEY is not set, so a script stands in for the model.");
        agent(registry.clone(), Demo, journal.clone(), &users)
    };
    let conversations = Conversations::new(agent)?;
    let interrupted = conversations.clone();
    tokio::spawn(async move {
        match interrupted.resume_all().await {
            Ok(failed) => failed
                .iter()
                .for_each(|(id, error)| eprintln!("{id} does not continue: {error}")),
            Err(error) => eprintln!("interrupted conversations do not continue: {error}"),
        }
    });

    // For other machines, put a server with TLS before it, because the tokens must not be read on the way.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    for line in users.addresses(&listener.local_addr()?.to_string()) {
        println!("{line}");
    }
    // Stop the program at any time. The journal has each step, and the next start continues.
    let service = Service {
        conversations,
        approvals: approvals(&registry, &users),
        journal,
        users,
    };
    axum::serve(listener, service::router(service, registry)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use tool_agent::conversations::Conversation;
    use tool_agent::run::Run;
    use tool_agent::transcript::{Shown, ShownCall};
    use tool_core::hooks::{Decision, Inbox};

    use super::*;

    /// Waits until the model is not asked and no call runs, and returns the last call.
    async fn rested(conversation: &Conversation) -> ShownCall {
        let mut updates = conversation.follow();
        let mut entries = Vec::new();
        while let Some(update) = updates.next().await {
            update.apply(&mut entries);
            if update.status().is_some_and(|status| !status.is_busy) {
                break;
            }
        }
        let mut calls = entries
            .into_iter()
            .rev()
            .filter_map(|entry| match entry.shown {
                Shown::Call(call) => Some(*call),
                _ => None,
            });
        calls.next().expect("a call")
    }

    #[tokio::test]
    async fn a_lead_decides_on_an_order_which_runs_for_its_owner() {
        let folder =
            std::env::temp_dir().join(format!("{}-{}", env!("CARGO_PKG_NAME"), std::process::id()));
        let users = Users::demo().unwrap();
        let registry = tools::registry().unwrap();
        let agent = agent(
            registry.clone(),
            Demo,
            FileJournal::new(&folder),
            &users,
        );
        let conversations = Conversations::new(agent).unwrap();
        let run = Run::builder("conversation-1").owner("bo").build();
        let conversation = conversations.create(run).await.unwrap();
        conversation.reply("Tea, please.").await.unwrap();

        rested(&conversation).await.hold.expect("it waits");
        let inbox = (conversations, approvals(&registry, &users));
        assert!(inbox.waiting("bo", 10).await.unwrap().is_empty());
        let waiting = inbox.waiting("ada", 10).await.unwrap();
        let id = &waiting[0].id;
        let own = inbox.decide(id, Decision::Allow, "bo").await;
        assert_eq!(own.unwrap_err().status(), 403);
        inbox.decide(id, Decision::Allow, "ada").await.unwrap();
        let result = rested(&conversation).await.result;
        assert_eq!(result.as_deref(), Some("ordered 12 of tea for bo"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
