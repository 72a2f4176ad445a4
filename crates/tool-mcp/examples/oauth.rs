//! Imports the tools of a server that wants a user, who signs in with a browser. The tokens stay in a file that only
//! the user can read.
//!
//! ```sh
//! cargo run -p tool-mcp --features oauth --example oauth -- https://mcp.example.com/mcp tokens.json
//! ```

use std::error::Error;

use tool_core::Registry;
use tool_mcp::Import;
use tool_mcp::oauth::{FileStore, OAuth};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("name the URL of a server and a file for the tokens".into());
    };
    let oauth = OAuth::new(FileStore::new(file))
        .client_name("tool-mcp example")
        .open(async |url| {
            println!("sign in with your browser: {url}");
            Ok(())
        });
    let registry = Registry::new();
    let import = Import::http(url).oauth(oauth).connect(&registry).await?;
    println!("{}", import.report());
    import.close().await;
    Ok(())
}
