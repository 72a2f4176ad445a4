//! A program of clap with one command, which does nothing.

use tool_cli::clap::Command;

fn main() {
    let list = Command::new("list").about("Lists nothing");
    Command::new("app").subcommand(list).get_matches();
}
