//! Serves the tool `python_sandbox` over standard input and output, so that programs on other systems can use it.
//!
//! `Dockerfile` puts it into a container:
//!
//! ```sh
//! docker build --file crates/tool-python/examples/server/Dockerfile --tag python-sandbox .
//! docker run --rm --interactive --network none --read-only --tmpfs /tmp python-sandbox
//! ```

use std::error::Error;

use tool_core::Registry;
use tool_mcp::Server;
use tool_python::{Policy, Sandbox, python_sandbox};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // The container does not run as root, so no other user is named.
    let sandbox = Sandbox::new(Policy::new().pool(1))?;
    let registry = Registry::builder()
        .tool(python_sandbox(&sandbox).build()?)
        .build()?;
    let server = Server::new(registry).name("python", env!("CARGO_PKG_VERSION"));
    Ok(server.stdio().await?)
}
