//! A chat at the terminal, with a model on this machine or at any server.
//!
//! ```text
//! cargo run --example chat --features chat -- --model qwen3
//! cargo run --example chat --features chat -- --server groq --model llama-3.3-70b-versatile
//! cargo run --example chat --features chat -- --server vllm --url http://gpu-1:8000/v1 --model qwen3
//! ```

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Arg, Command};
use examples::terminal::Terminal;
use tool_agent::model::HttpModel;
use tool_agent::run::{Run, RunOutcome};
use tool_agent::{Agent, Event};
use tool_core::runtime::block_on;
use tool_core::{Registry, tool};
use tool_dialects::server;

/// Counts the words of a text.
#[tool(read_only)]
fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn main() -> Result<(), Box<dyn Error>> {
    let flag = |name: &'static str| Arg::new(name).long(name);
    let flags = Command::new("chat")
        .arg(flag("server").default_value("ollama"))
        .arg(flag("model").required(true))
        .arg(flag("url"))
        .get_matches();
    let flag = |name: &str| flags.get_one::<String>(name).map(String::as_str);
    let server = server::find(flag("server").unwrap_or_default())?;
    let mut model = HttpModel::new(&server, flag("model").unwrap_or_default());
    if let Some(url) = flag("url") {
        model = model.base_url(url);
    }
    model.check()?;

    // A model may write characters that clear the screen; `Terminal` escapes them.
    let terminal = Arc::new(Mutex::new(Terminal::stdout()));
    let shown = Arc::clone(&terminal);
    let agent = Agent::new(Registry::linked()?, server, model).on_event(move |event| {
        let mut out = shown.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a terminal nobody reads the rest.
        let _ = match event {
            Event::Text(piece) => write!(out, "{piece}").and_then(|()| out.flush()),
            Event::Call { call, shown } => writeln!(out, "[{}({shown})]", call.name),
            _ => Ok(()),
        };
    });
    let mut run = Run::new("chat");
    for line in io::stdin().lock().lines() {
        let outcome = block_on(agent.reply(&mut run, &line?))??;
        let mut out = terminal.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            RunOutcome::Answered(_) => writeln!(out)?,
            other => writeln!(out, "[{other:?}]")?,
        }
    }
    Ok(())
}
