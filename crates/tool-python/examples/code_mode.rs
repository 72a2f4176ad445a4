//! Measures a task of 20 calls, made one per response, side by side, and from code.
//!
//! ```sh
//! cargo run --release --package tool-python --example code_mode
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tool_core::dialect::Dialect;
use tool_core::hooks::Gate;
use tool_core::{Registry, tool, tools};
use tool_dialects::OpenAiChat;
use tool_python::{Policy, Sandbox, User, code_mode};

/// An order.
#[derive(serde::Serialize, tool_core::ToolType)]
struct Order {
    id: u32,
    article: String,
    cents: u32,
    paid: bool,
}

/// Lists the ids of all customers.
#[tool(read_only)]
fn list_customers() -> Vec<u32> {
    (1..20).collect()
}

/// Lists the orders of a customer.
#[tool(read_only)]
fn get_orders(
    /// The customer's id.
    customer: u32,
) -> Vec<Order> {
    let order = |number: u32| Order {
        id: customer * 100 + number,
        article: format!("article {}", (customer + number) % 7),
        cents: customer * 113 + number * 71,
        paid: !(customer + number).is_multiple_of(3),
    };
    (0..10).map(order).collect()
}

const QUESTION: &str = "Which customer has the highest unpaid amount, and how much is it?";
const CODE: &str = "
unpaid = {c: sum(o['cents'] for o in get_orders(c) if not o['paid']) for c in list_customers()}
max(unpaid.items(), key=lambda item: item[1])";

/// A conversation with a scripted model.
struct Chat {
    dialect: OpenAiChat,
    registry: Registry,
    tokens: tiktoken_rs::CoreBPE,
    messages: Vec<Value>,
    requests: usize,
    sent: usize,
    received: usize,
    working: Duration,
    start: Instant,
}

impl Chat {
    fn new(registry: &Registry) -> Result<Chat, Box<dyn std::error::Error>> {
        let dialect = OpenAiChat::default();
        Ok(Chat {
            messages: vec![dialect.user_message(QUESTION)],
            dialect,
            registry: registry.clone(),
            tokens: tiktoken_rs::o200k_base()?,
            requests: 0,
            sent: 0,
            received: 0,
            working: Duration::ZERO,
            start: Instant::now(),
        })
    }

    fn count(&self, value: &Value) -> usize {
        self.tokens.encode_ordinary(&value.to_string()).len()
    }

    /// Sends a request, which the model answers with these calls. Returns the results of the calls.
    fn turn(&mut self, calls: &[(&str, Value)]) -> Result<Vec<String>, Box<dyn std::error::Error>> {
        self.start = Instant::now();
        let tools = json!(self.registry.render(&self.dialect));
        self.working += self.start.elapsed();
        self.requests += 1;
        self.sent += self.count(&json!({"messages": self.messages, "tools": tools}));
        let calls: Vec<_> = calls
            .iter()
            .enumerate()
            .map(|(at, (name, arguments))| {
                let function = json!({"name": name, "arguments": arguments.to_string()});
                json!({"id": format!("call_{}_{at}", self.requests), "type": "function", "function": function})
            })
            .collect();
        let message = if calls.is_empty() {
            json!({"role": "assistant", "content": "Customer 18: 94.14."})
        } else {
            json!({"role": "assistant", "content": null, "tool_calls": calls})
        };
        self.received += self.count(&message);
        let response = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
        self.start = Instant::now();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        let turn = self.dialect.read(&response)?;
        let results = runtime.block_on(self.registry.call_all(turn.calls.clone()));
        self.messages
            .extend(self.dialect.follow_up(&turn, &results));
        self.working += self.start.elapsed();
        for result in &results {
            if result.is_error() {
                return Err(result.content().into());
            }
        }
        Ok(results
            .iter()
            .map(|result| result.content().to_owned())
            .collect())
    }

    fn show(&self, what: &str, gated: usize) {
        println!(
            "| {what} | {} | {} | {} | {:.1} ms | {gated} |",
            self.requests,
            self.sent,
            self.received,
            self.working.as_secs_f64() * 1e3
        );
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gated = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&gated);
    let tools = Registry::builder()
        .tools(tools![list_customers, get_orders])
        .before(move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
            async { Gate::Allow }
        })
        .build()?;
    println!(
        "| | requests | tokens sent | tokens received | time without the model | calls seen by the hook |"
    );
    println!("|---|---|---|---|---|---|");

    let mut chat = Chat::new(&tools)?;
    chat.turn(&[("list_customers", json!({}))])?;
    for customer in 1..20 {
        chat.turn(&[("get_orders", json!({"customer": customer}))])?;
    }
    chat.turn(&[])?;
    chat.show("one call in a response", gated.swap(0, Ordering::SeqCst));

    let mut chat = Chat::new(&tools)?;
    chat.turn(&[("list_customers", json!({}))])?;
    let calls: Vec<_> = (1..20)
        .map(|customer| ("get_orders", json!({"customer": customer})))
        .collect();
    chat.turn(&calls)?;
    chat.turn(&[])?;
    chat.show("calls side by side", gated.swap(0, Ordering::SeqCst));

    let policy = Policy::new().python("/usr/bin/python3").pool(1);
    let is_root = std::fs::read_to_string("/proc/self/status")?.contains("Uid:\t0\t");
    let policy = if is_root {
        policy.user(User {
            uid: 65534,
            gid: 65534,
        })
    } else {
        policy
    };
    let sandbox = Sandbox::new(policy)?;
    let registry = Registry::builder()
        .tool(code_mode(&sandbox, &tools).build()?)
        .build()?;
    let mut chat = Chat::new(&registry)?;
    let results = chat.turn(&[("run_code", json!({"code": CODE}))])?;
    chat.turn(&[])?;
    chat.show("code", gated.swap(0, Ordering::SeqCst));
    println!("\n{}", results[0]);
    Ok(())
}
