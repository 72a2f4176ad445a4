//! `mcp`: serves the tools to clients of the Model Context Protocol.

use std::io::Write;
use std::net::SocketAddr;
use std::num::NonZero;

use clap::{Arg, ArgMatches, Command, value_parser};
use tool_core::RegistryBuilder;
use tool_mcp::Server;
use tool_mcp::server::http::HttpConfig;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::registry::{inspected, runtime};
use crate::terminal::Terminal;

pub(crate) fn command() -> Command {
    Command::new("mcp")
        .about("Serves the tools to MCP clients, over standard input and output")
        .arg(
            Arg::new("http")
                .long("http")
                .value_name("ADDRESS")
                .value_parser(value_parser!(SocketAddr))
                .help("Serve over HTTP at this loopback address, such as 127.0.0.1:8080"),
        )
        .arg(
            Arg::new("manifest")
                .long("manifest")
                .value_name("NAME")
                .requires("about")
                .conflicts_with("http")
                .help("Write the server.json of a registry instead; NAME is such as io.github.ada/desk"),
        )
        .arg(
            Arg::new("about")
                .long("about")
                .value_name("TEXT")
                .requires("manifest")
                .help("The description in server.json"),
        )
}

pub(crate) fn run(cli: Cli, builder: RegistryBuilder, matches: &ArgMatches) -> Result<(), Failure> {
    let address = matches.get_one::<SocketAddr>("http").copied();
    if let Some(address) = address
        && !address.ip().is_loopback()
    {
        return Err(Failure::wrong(format!(
            "--http {address}: the server asks for no token, so it serves loopback addresses alone, such as 127.0.0.1:8080"
        )));
    }
    let name = cli.program();
    let version = cli.version.clone().unwrap_or("0".into());
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    if let (Some(published), Some(about)) = (text("manifest"), text("about")) {
        // Listing the tools calls none of them, so it works without context values.
        let server = Server::new(inspected(builder)?).name(name, version);
        let manifest = server.manifest(published, about).argument("mcp");
        let json = manifest.server_json().map_err(Failure::wrong)?;
        writeln!(std::io::stdout(), "{json:#}")?;
        return Ok(());
    }
    let server = Server::new(cli.registry(builder)?).name(name, version);
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let runtime = runtime(threads)?;
    runtime.block_on(async {
        let Some(address) = address else {
            return server.stdio().await.map_err(Failure::failed);
        };
        let listener = tokio::net::TcpListener::bind(address).await;
        let listener = listener
            .map_err(|error| Failure::failed(format!("can't listen at {address}: {error}")))?;
        let bound = listener.local_addr().map_err(Failure::failed)?;
        writeln!(Terminal::stderr(), "serving http://{bound}/mcp")?;
        server
            .serve(listener, HttpConfig::default())
            .await
            .map_err(Failure::failed)
    })
}
