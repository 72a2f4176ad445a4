//! A module for `wasm32-unknown-unknown` with a plain C interface, for `plain.mjs`.
//!
//! The host writes a request to the place that [`reserve`] returns, calls [`run`], and reads the reply
//! at the place that [`reply`] returns. Both are JSON.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::model::{Model, ModelFuture, Request};
use tool_core::{Registry, ToolCall, tool, tools};
use tool_dialects::OpenAiResponses;
use tool_docs::lock::Lock;
use toolbox as _;

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static EVENTS: AtomicUsize = AtomicUsize::new(0);

/// Divides two numbers.
#[tool(read_only)]
fn divide(a: i32, b: i32) -> i32 {
    assert!(b != 0, "division by zero");
    a / b
}

/// Waits on a thread.
#[tool(unlinked, blocking)]
fn block() {}

/// Waits for long.
#[tool(unlinked, timeout = "1s")]
async fn hurry() {}

/// Returns the place of a request of this length.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    let mut text = TEXT.lock().expect("no panic before");
    *text = vec![0; length];
    text.as_mut_ptr()
}

/// Returns the place of the reply.
#[unsafe(no_mangle)]
pub extern "C" fn reply() -> *const u8 {
    TEXT.lock().expect("no panic before").as_ptr()
}

/// Runs the request, and returns the length of the reply.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    let request = TEXT.lock().expect("no panic before").clone();
    let request: Value = serde_json::from_slice(&request).expect("JSON");
    let reply = answer(&request).to_string().into_bytes();
    let mut text = TEXT.lock().expect("no panic before");
    *text = reply;
    text.len()
}

fn answer(request: &Value) -> Value {
    static LINKED: LazyLock<Registry> = LazyLock::new(|| Registry::linked().expect("unique names"));
    match request["do"].as_str().expect("what to do") {
        "list" => {
            let registry = Registry::linked().expect("unique names");
            let tools = registry.render(&OpenAiResponses::default());
            json!({ "tools": tools })
        }
        "call" => {
            let name = request["name"].as_str().expect("a name");
            result(&LINKED, name, request["arguments"].clone())
        }
        "build" => {
            let built = Registry::builder().tools(tools![block, hurry]).build();
            json!({ "error": built.expect_err("no runtime").to_string() })
        }
        "lock" => {
            let error = Lock::new(&LINKED)
                .check("tools.lock.json")
                .expect_err("no files");
            json!({ "error": error.to_string() })
        }
        "ask" => {
            let agent = Agent::new(LINKED.clone(), OpenAiResponses::default(), Silent);
            let error = agent.ask_blocking("Hello?").expect_err("no answer");
            json!({ "error": error.to_string() })
        }
        "trace" => {
            let _ = tracing::subscriber::set_global_default(Counter);
            let result = result(&LINKED, "add", json!({"a": 1, "b": "two"}));
            json!({ "result": result, "events": EVENTS.load(Ordering::Relaxed) })
        }
        other => panic!("unknown request {other}"),
    }
}

fn result(registry: &Registry, name: &str, arguments: Value) -> Value {
    let result = registry.call_blocking(ToolCall::new("call_1", name, arguments));
    let error = result.error();
    json!({
        "content": result.content(),
        "kind": error.map(|error| error.kind().as_str()),
        "violations": error.map_or(0, |error| error.violations().len()),
        "detail": error.map(|error| error.detail()),
    })
}

/// A model that never answers.
struct Silent;

impl Model for Silent {
    fn ask(&self, _: Request) -> ModelFuture<'_> {
        Box::pin(std::future::pending())
    }
}

/// Counts events, and reads all fields.
struct Counter;

impl tracing::Subscriber for Counter {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields(String);

        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!("{field}={value:?} ");
            }
        }

        let mut fields = Fields(String::new());
        event.record(&mut fields);
        assert!(fields.0.contains("arguments.bytes="), "{}", fields.0);
        assert!(!fields.0.contains("duration="), "there is no clock");
        EVENTS.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
