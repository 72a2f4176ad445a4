//! Imports the tools of a server, prints what became of them, and calls some.
//!
//! ```sh
//! cargo run -p tool-mcp --example import -- npx -y @modelcontextprotocol/server-everything
//! cargo run -p tool-mcp --example import -- --call echo '{"message":"hi"}' -- uvx some-server
//! cargo run -p tool-mcp --example import -- https://example.com/mcp
//! ```

use std::error::Error;

use tokio::process::Command;
use tool_core::call::elicit::Elicited;
use tool_core::{Registry, ToolCall};
use tool_mcp::{Backoff, Import};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut calls = Vec::new();
    while arguments
        .first()
        .is_some_and(|argument| argument == "--call")
        && arguments.len() > 3
    {
        let call: Vec<_> = arguments.drain(..3).collect();
        calls.push((call[1].clone(), call[2].clone()));
    }
    arguments.retain(|argument| argument != "--");
    let Some((server, arguments)) = arguments.split_first() else {
        return Err("name a program or a URL".into());
    };
    let import = if server.starts_with("http") {
        Import::http(server)
    } else {
        let mut command = Command::new(server);
        command.args(arguments);
        Import::command(command)
    };
    let import = import
        .restart(Backoff::default())
        .on_elicit(async |question| {
            println!("{} asks: {}", question.server, question.request.message);
            Elicited::Declined
        });
    let registry = Registry::new();
    let import = import.connect(&registry).await?;
    println!("{}", import.report());
    for (tool, arguments) in calls {
        import.connected().await?;
        let call = ToolCall::new("call", tool.clone(), arguments);
        let call = call.on_progress(|progress| println!("  {progress:?}"));
        let result = registry.call(call).await;
        println!("{tool}: {}", result.content());
        for part in result.parts() {
            println!("  {part:?}");
        }
    }
    import.close().await;
    Ok(())
}
