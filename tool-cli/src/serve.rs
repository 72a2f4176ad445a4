//! `mcp`: serves the tools to clients of the Model Context Protocol.

use std::io::Write;
use std::net::SocketAddr;

use clap::{Arg, ArgMatches, Command, value_parser};
use tool_mcp::Server;
use tool_mcp::server::http::HttpConfig;

use crate::cli::{Cli, Failure};
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
}

pub(crate) fn run(mut cli: Cli, matches: &ArgMatches) -> Result<(), Failure> {
    let address = matches.get_one::<SocketAddr>("http").copied();
    if let Some(address) = address
        && !address.ip().is_loopback()
    {
        return Err(Failure::wrong(format!(
            "--http {address}: the server asks for no token, so it serves loopback addresses alone, such as 127.0.0.1:8080"
        )));
    }
    let command = cli.command();
    let version = command.get_version().unwrap_or("0").to_owned();
    let server = Server::new(cli.registry()?).name(command.get_name(), version);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime =
        runtime.map_err(|error| Failure::failed(format!("can't start the runtime: {error}")))?;
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
