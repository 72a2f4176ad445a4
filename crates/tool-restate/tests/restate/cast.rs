//! The tools, the model and the processes of the tests.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tool_agent::Agent;
use tool_agent::dialects::{Anthropic, OpenAiChat};
use tool_agent::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};
use tool_agent::run::{RunInfo, RunSettings};
use tool_core::hooks::Gate;
use tool_core::{CallContext, Registry, ToolCall, tool, tools};
use tool_restate::{Agents, ToolService};

use crate::mixed;

/// The token for streams of text.
pub const TOKEN: &str = "0123456789abcdef";

/// Longer than any test, so that a process which waits for too much does not end.
const GRACE_PERIOD: Duration = Duration::from_secs(600);

/// The number of calls in a conversation without waits, one in each response.
pub const QUICK_ROUNDS: usize = 6;

/// The user in whose name a call runs.
pub struct User(String);

/// The folder in which tools record their effects.
struct Effects(PathBuf);

impl Effects {
    fn add(&self, file: &str, line: &str) {
        let path = self.0.join(file);
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn gate(&self, name: &str) -> PathBuf {
        self.0.join(format!("gate-{name}"))
    }

    /// Waits until a gate is open.
    async fn pass_gate(&self, name: &str) {
        while !self.gate(name).exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn open_gate(&self, name: &str) {
        std::fs::write(self.gate(name), "").unwrap();
    }
}

async fn work() {
    tokio::time::sleep(Duration::from_millis(15)).await;
}

async fn paid(effects: &Effects, user: &User, call: &CallContext, amount: u32) -> String {
    let key = call.idempotency_key().unwrap_or("no key");
    work().await;
    effects.add("payments", &format!("{key} {amount} {}", user.0));
    work().await;
    format!("paid {amount} for {}", user.0)
}

async fn paid_slowly(effects: &Effects, user: &User, call: &CallContext, amount: u32) -> String {
    let slowly = || tokio::time::sleep(Duration::from_millis(120));
    slowly().await;
    let paid = paid(effects, user, call, amount).await;
    slowly().await;
    paid
}

/// Looks something up.
#[tool(read_only, unlinked)]
async fn look_up(n: u32) -> String {
    work().await;
    format!("value {n}")
}

async fn paid_on_sign(effects: &Effects, user: &User, call: &CallContext, amount: u32) -> String {
    let _left = Left(effects, "pay_on_sign");
    effects.add("waiting", "pay_on_sign");
    while !effects.0.join("sign").exists() {
        work().await;
    }
    paid(effects, user, call, amount).await
}

/// Defines tools that pay an amount, one function each.
macro_rules! paying {
    ($($(#[$attribute:meta])* $name:ident => $pays:ident;)*) => {$(
        $(#[$attribute])*
        async fn $name(
            amount: u32,
            #[param(context)] effects: &Effects,
            #[param(context)] user: &User,
            call: &CallContext,
        ) -> String {
            $pays(effects, user, call, amount).await
        }
    )*};
}

paying! {
    /// Pays in the process of the agent.
    #[tool(destructive, unlinked)]
    pay_here => paid;

    /// Pays in a process of the tools.
    #[tool(destructive, unlinked)]
    pay => paid;

    /// Pays once the test says so.
    #[tool(destructive, unlinked)]
    pay_on_sign => paid_on_sign;

    /// Pays once somebody allowed it and the test says so.
    #[tool(destructive, unlinked)]
    hold_on_sign => paid_on_sign;

    /// Transfers money, once somebody allowed it.
    #[tool(destructive, unlinked)]
    transfer => paid;

    /// Pays in the process of the agent, while the model goes on.
    #[tool(background, destructive, unlinked)]
    pay_aside => paid_slowly;

    /// Pays in a process of the tools, while the model goes on.
    #[tool(background, destructive, unlinked)]
    pay_slowly => paid_slowly;

    /// Transfers money while the model goes on, once somebody allowed it.
    #[tool(background, destructive, unlinked)]
    transfer_slowly => paid_slowly;
}

/// Pays, as a later version has it.
#[tool(destructive, unlinked, name = "pay")]
async fn pay_later(
    amount: u32,
    purpose: Option<String>,
    #[param(context)] effects: &Effects,
    #[param(context)] user: &User,
    call: &CallContext,
) -> String {
    let paid = paid(effects, user, call, amount).await;
    format!("{paid}, {}", purpose.unwrap_or_default())
}

/// Transfers money, as a later version has it.
#[tool(destructive, unlinked, name = "transfer")]
async fn transfer_later(
    cents: u32,
    #[param(context)] effects: &Effects,
    #[param(context)] user: &User,
    call: &CallContext,
) -> String {
    paid(effects, user, call, cents).await
}

/// Builds a target, which the model lets end.
#[tool(background, unlinked)]
async fn build(target: String, #[param(context)] effects: &Effects) -> String {
    let _left = Left(effects, &target);
    effects.pass_gate(&target).await;
    format!("built {target}")
}

/// Records that something has ended, in whatever way.
struct Left<'c>(&'c Effects, &'c str);

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.0.add("left", self.1);
    }
}

/// Takes a note.
#[tool(idempotent, unlinked)]
async fn note(text: String, #[param(context)] effects: &Effects) -> String {
    work().await;
    effects.add("notes", &text);
    format!("noted {text}")
}

/// Returns at once.
#[tool(read_only, unlinked)]
fn tick(n: u32) -> u32 {
    n
}

/// Returns more than the engine keeps.
#[tool(read_only, unlinked)]
fn flood() -> String {
    "x".repeat(40 << 20)
}

/// Takes long.
#[tool(read_only, unlinked)]
async fn sleep(#[param(context)] effects: &Effects) -> &'static str {
    let _left = Left(effects, "sleep");
    effects.add("waiting", "sleep");
    tokio::time::sleep(Duration::from_secs(60)).await;
    "slept"
}

/// Returns the tools. The deployment `later` has another order, in `schema` and `renamed` one tool has another version, and `gone`
/// has no transfers.
fn registry(effects: &Path, deployment: &str) -> Registry {
    let mut tools = tools![
        look_up,
        pay_here,
        pay_on_sign,
        hold_on_sign,
        note,
        tick,
        flood,
        sleep
    ]
    .to_vec();
    tools.extend(tools![pay_aside, pay_slowly, build]);
    match deployment {
        "gone" => {}
        "renamed" => tools.extend(tools![transfer_later, transfer_slowly]),
        _ => tools.extend(tools![transfer, transfer_slowly]),
    }
    if deployment == "schema" {
        tools.extend(tools![pay_later]);
    } else {
        tools.extend(tools![pay]);
    }
    if deployment == "later" {
        tools.reverse();
    }
    Registry::builder()
        .tools(tools)
        .context(Effects(effects.to_owned()))
        .context_per_call::<User>()
        .output_cap(100 << 20)
        .before(async |hook| match &*hook.tool.name {
            "transfer" | "transfer_slowly" | "hold_on_sign" => Gate::hold("money leaves"),
            _ => Gate::Allow,
        })
        .build()
        .unwrap()
}

async fn contexts(
    run: RunInfo,
    call: ToolCall,
) -> Result<ToolCall, Box<dyn std::error::Error + Send + Sync>> {
    let owner = run.owner().ok_or("the run has no owner")?;
    Ok(call.with(User(owner.to_owned())))
}

/// Chooses the response by the number of responses since the last message of the user.
struct Script(Effects);

impl Model for Script {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        Box::pin(async move {
            let response = respond(&request, &self.0).await?;
            let text = &response["choices"][0]["message"]["content"];
            let Some(story) = text.as_str().filter(|text| text.starts_with("done: story")) else {
                return Ok(Response::Whole(response));
            };
            Ok(told(story))
        })
    }
}

/// Streams a text word by word.
fn told(story: &str) -> Response {
    let words: Vec<_> = story.split_inclusive(' ').map(str::to_owned).collect();
    let last = words.len();
    let events = stream::unfold(0, move |number| {
        let words = words.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(60)).await;
            let choice = match words.get(number) {
                Some(word) => json!({"delta": {"content": word}}),
                None if number == last => json!({"delta": {}, "finish_reason": "stop"}),
                None => return None,
            };
            Some((Ok(json!({"choices": [choice]})), number + 1))
        }
    });
    Response::stream(events)
}

/// Returns `true` for a message of the user. The results of calls in the background have the same role.
pub fn is_of_user(message: &Value) -> bool {
    let text = message["content"].as_str().unwrap_or_default();
    message["role"] == "user" && !text.starts_with("Results of calls in the background.")
}

async fn respond(request: &Request, effects: &Effects) -> Result<Value, ModelError> {
    let messages = &request.messages;
    let last = messages.iter().rposition(|message| is_of_user(message));
    let last = last.unwrap_or(0);
    let text = |at: usize| messages[at]["content"].as_str().unwrap_or_default();
    let question = text(last).to_owned();
    let after = |from: usize| {
        let after = messages[from..].iter();
        after
            .filter(|message| message["role"] == "assistant")
            .count()
    };
    let round = after(last);
    if question != "quick" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let calls: &[(&str, Value)] = match (question.split(' ').next().unwrap_or_default(), round) {
        ("job", 0) => &[
            ("look_up", json!({"n": 1})),
            ("look_up", json!({"n": 2})),
            ("look_up", json!({"n": 3})),
        ],
        ("job", 1) => &[("pay_here", json!({"amount": 10}))],
        ("job", 2) => &[
            ("look_up", json!({"n": 4})),
            ("note", json!({"text": question})),
        ],
        ("job", 3) => &[("pay", json!({"amount": 20}))],
        ("job", 4) => &[
            ("note", json!({"text": question})),
            ("look_up", json!({"n": 5})),
        ],
        ("job", 5) => &[("pay", json!({"amount": 30}))],
        ("transfer", 0) => &[
            ("transfer", json!({"amount": 7})),
            ("look_up", json!({"n": 1})),
        ],
        ("hold", 0) => &[("hold_on_sign", json!({"amount": 5}))],
        ("sign", 0) => &[("pay_on_sign", json!({"amount": 5}))],
        ("quick", 0..QUICK_ROUNDS) => &[("tick", json!({"n": round}))],
        ("flood", 0) => &[("flood", json!({}))],
        ("sleep", 0) => &[("sleep", json!({}))],
        ("errand", 0) => &[
            ("pay_slowly", json!({"amount": 1})),
            ("pay_aside", json!({"amount": 2})),
            ("look_up", json!({"n": 1})),
        ],
        ("errand", 1) => &[
            ("pay_here", json!({"amount": 10})),
            ("pay_slowly", json!({"amount": 3})),
        ],
        ("errand", 2) => &[
            ("wait_for_results", json!({})),
            ("note", json!({"text": question})),
        ],
        ("errand", 3) => &[("pay", json!({"amount": 20}))],
        ("transfer_slowly", 0) => &[
            ("transfer_slowly", json!({"amount": 7})),
            ("look_up", json!({"n": 1})),
        ],
        ("pay-and-silence", 0) => &[("pay_slowly", json!({"amount": 7}))],
        ("pay-and-sleep", 0) => &[("pay_slowly", json!({"amount": 7})), ("sleep", json!({}))],
        ("build", 0) => &[("build", json!({"target": "app"}))],
        ("approve", 0) => &[("transfer_slowly", json!({"amount": 7}))],
        ("approve", _) if !effects.gate("approved").exists() => &[("look_up", json!({"n": 1}))],
        ("wait", 0) => &[("wait_for_results", json!({}))],
        ("break", 0) => &[
            ("build", json!({"target": "app"})),
            ("transfer_slowly", json!({"amount": 7})),
        ],
        _ => &[],
    };
    if question == "approve" && !calls.is_empty() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    } else if question == "approve" {
        // The call was made during the turn.
        while !effects.0.join("payments").exists() {
            work().await;
        }
    }
    if (&*question, round) == ("break", 1) {
        effects.pass_gate("break").await;
        let problem = "the key of the provider has expired";
        return Err(ModelError::new(ModelErrorKind::Unauthorized, problem));
    }
    let turn = mixed::turn(text(0), after(0));
    if let Some(target) = turn.lets_end {
        effects.open_gate(&target);
    }
    let calls = [calls, &turn.calls].concat();
    if matches!((&*question, round), ("silence", _) | ("pay-and-silence", 1)) {
        let _left = Left(effects, "silence");
        effects.add("waiting", "silence");
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    let calls = calls.iter().enumerate().map(|(index, (name, arguments))| {
        json!({"id": format!("call_{last}_{round}_{index}"), "type": "function",
            "function": {"name": name, "arguments": arguments.to_string()}})
    });
    let calls: Vec<_> = calls.collect();
    let message = if calls.is_empty() {
        json!({"role": "assistant", "content": format!("done: {question}")})
    } else {
        json!({"role": "assistant", "tool_calls": calls})
    };
    Ok(json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
}

/// Runs as a process of the test, if the environment asks for that.
pub fn act() {
    let (Ok(role), Ok(port), Ok(effects)) = (
        std::env::var("ROLE"),
        std::env::var("PORT"),
        std::env::var("EFFECTS"),
    ) else {
        return;
    };
    let deployment = std::env::var("DEPLOYMENT").unwrap_or_default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async move {
        let listener = TcpListener::bind(format!("127.0.0.1:{port}"));
        let listener = listener.await.unwrap();
        let registry = registry(Path::new(&effects), &deployment);
        let served = match &*role {
            "bare" => {
                crate::bounds::serve(listener).await;
                Ok(())
            }
            "agent" => {
                let port = std::env::var("STREAM_PORT").unwrap();
                let clients = TcpListener::bind(format!("127.0.0.1:{port}"));
                let effects = Effects(PathBuf::from(&effects));
                let agents = agents(registry, effects, &deployment);
                let agents = agents.streams(clients.await.unwrap(), TOKEN);
                agents.grace_period(GRACE_PERIOD).serve(listener).await
            }
            _ => {
                let service = ToolService::new("payments", registry).contexts(contexts);
                service.grace_period(GRACE_PERIOD).serve(listener).await
            }
        };
        served.unwrap();
    });
    std::process::exit(0);
}

fn with_users(agent: Agent) -> Agent {
    agent
        .contexts(contexts)
        .may_decide(async |request| request.user == "lea")
}

/// Returns the agent of the first deployment, which records its effects in a folder.
pub fn agent(folder: &Path) -> Agent {
    let script = Script(Effects(folder.to_owned()));
    with_users(Agent::new(
        registry(folder, ""),
        OpenAiChat::default(),
        script,
    ))
}

/// Returns the agents of a deployment: the first, one with other options (`later`), one with another provider, or one
/// whose tools have no service (`unregistered`).
fn agents(registry: Registry, effects: Effects, deployment: &str) -> Agents {
    let agent = if deployment == "provider" {
        Agent::new(registry, Anthropic::default(), Script(effects))
    } else {
        Agent::new(registry, OpenAiChat::default(), Script(effects))
    };
    let agent = with_users(agent);
    let is_later = deployment == "later";
    let service = match deployment {
        "unregistered" => "elsewhere",
        _ => "payments",
    };
    let agents = Agents::new(agent).route(move |tool| {
        let is_routed = matches!(
            tool,
            "pay" | "pay_on_sign" | "note" | "pay_slowly" | "transfer_slowly" | "build"
        );
        let is_routed = is_routed || (is_later && tool == "look_up");
        is_routed.then(|| service.to_owned())
    });
    if is_later {
        let mut settings = RunSettings::default();
        settings.max_rounds = 30;
        return agents
            .settings(settings)
            .approval_timeout(Duration::from_secs(20));
    }
    let seconds = std::env::var("APPROVAL_SECONDS").map_or(3, |text| text.parse().unwrap());
    agents.approval_timeout(Duration::from_secs(seconds))
}
