//! The processes of the fleet: agents with a scripted model, and workers with the tools.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tool_agent::Agent;
use tool_agent::dialects::OpenAiChat;
use tool_agent::model::{ModelError, Request};
use tool_agent::run::RunInfo;
use tool_core::{CallContext, Registry, ToolCall, tool, tools};
use tool_restate::{Agents, ToolService};

/// The user in whose name a call runs.
struct User(String);

/// The folder in which tools record their effects.
struct Bank(PathBuf);

impl Bank {
    fn add(&self, file: &str, line: &str) -> std::io::Result<()> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.0.join(file))?;
        file.write_all(format!("{line}\n").as_bytes())
    }
}

/// Returns the amount of an invoice.
#[tool(read_only, unlinked)]
async fn find_invoice(
    number: u32,
    #[param(context)] bank: &Bank,
    #[param(context)] user: &User,
) -> std::io::Result<u32> {
    tokio::time::sleep(Duration::from_millis(30)).await;
    bank.add("calls", &format!("{number} for {}", user.0))?;
    Ok(number * 10)
}

/// Pays an invoice.
#[tool(destructive, unlinked)]
async fn pay(
    number: u32,
    #[param(context)] bank: &Bank,
    #[param(context)] user: &User,
    call: &CallContext,
) -> std::io::Result<String> {
    tokio::time::sleep(Duration::from_millis(60)).await;
    bank.add("payments", call.idempotency_key().unwrap_or("no key"))?;
    tokio::time::sleep(Duration::from_millis(60)).await;
    Ok(format!("invoice {number} of {} is paid", user.0))
}

/// Looks up three invoices, pays them one by one, and answers.
async fn model(request: Request) -> Result<Value, ModelError> {
    tokio::time::sleep(Duration::from_millis(100)).await;
    let round = request.messages.iter();
    let round = round
        .filter(|message| message["role"] == "assistant")
        .count();
    let calls: Vec<_> = match round {
        0 => (1..=3).map(|number| ("find_invoice", number)).collect(),
        number @ 1..=3 => vec![("pay", number)],
        _ => Vec::new(),
    };
    let calls = calls.iter().map(|(name, number)| {
        json!({"id": format!("call_{round}_{number}"), "type": "function",
            "function": {"name": name, "arguments": format!(r#"{{"number":{number}}}"#)}})
    });
    let calls: Vec<_> = calls.collect();
    let message = if calls.is_empty() {
        json!({"role": "assistant", "content": "The invoices are paid, as far as I know."})
    } else {
        json!({"role": "assistant", "tool_calls": calls})
    };
    Ok(json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
}

async fn contexts(run: RunInfo, call: ToolCall) -> Result<ToolCall, Box<dyn Error + Send + Sync>> {
    let owner = run.owner().ok_or("the run has no owner")?;
    Ok(call.with(User(owner.to_owned())))
}

/// Serves as an agent or a worker if the environment asks for that. Otherwise returns `false`.
pub async fn act() -> bool {
    let variable = |name| std::env::var(name).ok();
    let (Some(role), Some(port), Some(folder)) = (
        variable("FLEET_ROLE"),
        variable("FLEET_PORT"),
        variable("FLEET_FOLDER"),
    ) else {
        return false;
    };
    if let Err(error) = serve(&role, &port, folder.into()).await {
        eprintln!("{role}: {error}");
    }
    true
}

async fn serve(
    role: &str,
    port: &str,
    folder: PathBuf,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    let registry = Registry::builder()
        .tools(tools![find_invoice, pay])
        .context(Bank(folder))
        .context_per_call::<User>()
        .build()?;
    if role == "worker" {
        let service = ToolService::new("bank", registry).contexts(contexts);
        return service.serve(listener).await;
    }
    let agent = Agent::new(registry, OpenAiChat::default(), model).contexts(contexts);
    let agents = Agents::new(agent).route(|_| Some("bank".to_owned()));
    agents.serve(listener).await
}
