//! `HttpModel` against local servers that speak each provider's format.

mod aws;
mod background;
mod ends;
mod faults;
mod interactions;
mod keys;
mod local_model;
mod mistakes;
mod played;
mod providers;
#[path = "../../../tests/dialects/streams/recorded.rs"]
#[allow(dead_code)]
mod recorded;
mod retries;
mod server;
mod servers;
#[path = "../../../support/watchdog.rs"]
mod watchdog;

use std::error::Error;
use std::fmt::Debug;
use std::sync::{Mutex, Once, PoisonError};

use tool_agent::model::{HttpModel, ModelError, Request, Response};
use tool_core::dialect::Dialect;
use tool_core::{Registry, tool, tools};

/// The secret of every test.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// Adds two numbers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

pub(crate) fn registry() -> Registry {
    Registry::builder().tools(tools![add]).build().unwrap()
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

/// Asks for a response with one message.
pub(crate) fn ask(dialect: &dyn Dialect, model: &HttpModel) -> Result<Response, ModelError> {
    use tool_agent::model::Model;
    keep_logs();
    let messages = vec![dialect.user_message("What is 2 + 3?")];
    let request = Request::new(messages, registry().request(dialect).build().unwrap());
    block_on(model.ask(request))
}

#[test]
fn the_program_in_the_readme_compiles() {
    let program = include_str!("../../examples/agent.rs");
    let (_, program) = program.split_once('\n').unwrap();
    let readme = include_str!("../../../../README.md");
    assert!(readme.contains(&format!("```rust,ignore\n{program}```")));
}

static LOGS: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        use std::io::Write;
        let _ = writeln!(Logger, "{} {}", record.target(), record.args());
    }

    fn flush(&self) {}
}

impl std::io::Write for Logger {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut logs = LOGS.lock().unwrap_or_else(PoisonError::into_inner);
        logs.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Keeps everything that any crate logs, at the lowest level.
pub(crate) fn keep_logs() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_boxed_logger(Box::new(Logger)).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
            .with_writer(|| Logger);
        subscriber.init();
    });
}

/// Asserts that nothing that is printed or logged has the key.
pub(crate) fn assert_no_secret(shown: &[&dyn Debug]) {
    for shown in shown {
        let text = format!("{shown:?}\n{shown:#?}");
        assert!(!text.contains(KEY), "{text}");
    }
    let logs = LOGS.lock().unwrap_or_else(PoisonError::into_inner);
    let logs = String::from_utf8_lossy(&logs);
    assert!(logs.contains("reqwest::connect"), "nothing is logged");
    assert!(!logs.contains(KEY), "a log has the key");
}

/// Returns the text of an error and of its sources.
pub(crate) fn whole_text(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!("; {error}"));
        source = error.source();
    }
    text
}
