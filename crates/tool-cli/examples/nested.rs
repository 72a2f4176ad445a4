//! The commands below a subcommand of a program that has others.
//!
//! ```text
//! cargo run -p tool-cli --example nested -- tools list
//! ```

use std::process::ExitCode;

use tool_cli::Cli;
use tool_cli::clap::Command;
use tool_core::tool;

/// Books a room: a whole one.
#[tool(read_only, tags = ["rooms"], example = r#"{"nights": 2, "view": "sea"}"#)]
fn book_room(
    #[param(range = 1..=14)] nights: u8,
    view: Option<String>,
    #[param(default, length = ..=3)] guests: Vec<String>,
) -> String {
    format!("{nights} {view:?} {guests:?}")
}

/// Fails.
#[tool]
fn break_down() -> String {
    panic!("the cable is cut")
}

fn main() -> ExitCode {
    let cli = match std::env::var_os("NO_TOOLS") {
        None => Cli::linked(),
        Some(_) => Cli::new(tool_core::Registry::builder),
    };
    let cli = cli.name("app tools");
    let app = Command::new("app")
        .subcommand_required(true)
        .subcommand(Command::new("serve").about("Serves"))
        .subcommand(cli.command().name("tools"));
    match app.get_matches().subcommand() {
        Some(("tools", matches)) => cli.execute(matches),
        _ => ExitCode::SUCCESS,
    }
}
