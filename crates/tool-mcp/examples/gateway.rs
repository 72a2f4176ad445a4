//! A gateway: one server for the tools, resources and prompts of three others, which npm has.
//!
//! ```sh
//! cargo run -p tool-mcp --example gateway                  # serves clients over HTTP
//! cargo run -p tool-mcp --example gateway -- --stdio       # serves one client
//! cargo run -p tool-mcp --example gateway -- --report      # prints what became of the servers, and ends
//! ```
//!
//! A server that is missing is reported, and joins when it is there. The folder that the file server may read is the first
//! argument that is no option, or the current one.

use std::error::Error;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::time::timeout;
use tool_core::Registry;
use tool_mcp::server::Imports;
use tool_mcp::server::http::HttpConfig;
use tool_mcp::{Import, ImportBuilder, Server};

/// Imports a server from npm.
fn npm(package: &str, arguments: &[String]) -> ImportBuilder {
    let mut command = Command::new("npx");
    command.args(["--yes", package]).args(arguments);
    Import::command(command)
        .name(package)
        .tags(["imported"])
        // The first start downloads the package.
        .connect_timeout(Duration::from_secs(120))
}

/// Waits until all servers are connected, but not longer than a minute.
async fn settle(imports: &Imports) {
    let connected = async {
        for import in imports.all() {
            // The report says what is wrong with it.
            let _ = import.connected().await;
        }
    };
    let _ = timeout(Duration::from_secs(60), connected).await;
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Standard output belongs to the protocol.
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .with_writer(std::io::stderr)
        .init();
    let (options, arguments): (Vec<_>, Vec<_>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let folder = match arguments.first() {
        Some(folder) => folder.clone(),
        None => std::env::current_dir()?.to_string_lossy().into_owned(),
    };
    let has = |option: &str| options.iter().any(|other| other == option);

    let server = Server::new(Registry::new())
        .name("gateway", env!("CARGO_PKG_VERSION"))
        .import("all_", npm("@modelcontextprotocol/server-everything", &[]))
        .import("memory_", npm("@modelcontextprotocol/server-memory", &[]))
        .import(
            "files_",
            npm(
                "@modelcontextprotocol/server-filesystem",
                std::slice::from_ref(&folder),
            ),
        );
    let imports = server.imports();
    if has("--report") {
        settle(&imports).await;
        println!("{imports}");
        return Ok(());
    }
    if has("--stdio") {
        server.stdio().await?;
        return Ok(());
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    eprintln!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(async move {
        settle(&imports).await;
        eprintln!("{imports}");
    });
    server.serve(listener, HttpConfig::default()).await?;
    Ok(())
}
