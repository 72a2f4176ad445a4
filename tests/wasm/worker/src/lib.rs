//! Tools behind wasm-bindgen, as a Worker or a page would have them; see `worker.mjs`.
//!
//! Futures of JavaScript must stay on their thread, and the futures of tools must be `Send`. [`local`]
//! runs the one for the other. [`Timers`] gives timeouts to a registry.

use std::sync::LazyLock;
use std::time::Duration;

use futures_channel::oneshot;
use serde_json::{Value, json};
use tool_core::dynamic::DynamicTool;
use tool_core::runtime::{BoxFuture, NoRuntime, Runtime};
use tool_core::{Registry, ToolCall, tool};
use tool_dialects::OpenAiResponses;
use toolbox as _;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::js_sys::{Function, Promise};
use wasm_bindgen_futures::{JsFuture, spawn_local};

#[wasm_bindgen]
extern "C" {
    /// Asks the host for the weather in a city.
    #[wasm_bindgen(catch, js_name = hostWeather)]
    fn host_weather(city: &str) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(run: &Function, milliseconds: i32);
}

/// Runs a future that must stay on this thread, for one that may be sent.
fn local<T: Send + 'static>(
    future: impl Future<Output = T> + 'static,
) -> impl Future<Output = T> + Send {
    let (sender, receiver) = oneshot::channel();
    spawn_local(async {
        let _ = sender.send(future.await);
    });
    async { receiver.await.expect("a local future is never dropped") }
}

/// The timers of the host. There are no threads.
struct Timers;

impl Runtime for Timers {
    fn sleep(&self, duration: Duration) -> Result<BoxFuture<()>, NoRuntime> {
        let milliseconds = i32::try_from(duration.as_millis()).map_err(|_| NoRuntime)?;
        Ok(Box::pin(local(async move {
            let start = &mut |resolve, _| set_timeout(&resolve, milliseconds);
            let _ = JsFuture::from(Promise::new(start)).await;
        })))
    }

    fn spawn_blocking(&self, _: Box<dyn FnOnce() + Send>) -> Result<BoxFuture<()>, NoRuntime> {
        Err(NoRuntime)
    }
}

/// The weather in a city.
#[tool(read_only)]
async fn get_weather(city: String) -> Result<String, String> {
    local(async move {
        let asked = host_weather(&city).map(JsFuture::from);
        let answer = match asked {
            Ok(answer) => answer.await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(text) => text.as_string().ok_or("the answer is not text".to_owned()),
            Err(error) => Err(format!("{error:?}")),
        }
    })
    .await
}

static TOOLS: LazyLock<Registry> = LazyLock::new(|| {
    let builder = Registry::builder().linked().runtime(Timers);
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let echo = DynamicTool::builder("echo")
        .description("Echoes.")
        .parameters(schema)
        .build(async |arguments: Value, _| Ok::<_, String>(arguments.to_string()))
        .expect("a valid schema");
    let builder = builder.timeout(Duration::from_millis(50)).tool(echo);
    builder.build().expect("unique names")
});

/// Returns the tools of a request, as JSON.
#[wasm_bindgen]
pub fn tools() -> String {
    TOOLS.render(&OpenAiResponses::default()).into_string()
}

/// Runs a call, and returns its result as JSON.
#[wasm_bindgen]
pub async fn call(name: String, arguments: String) -> String {
    let result = TOOLS.call(ToolCall::new("call_1", name, arguments)).await;
    json!({
        "content": result.content(),
        "kind": result.error().map(|error| error.kind().as_str()),
    })
    .to_string()
}
