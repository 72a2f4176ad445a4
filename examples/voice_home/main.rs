//! A voice assistant for a home: scores how well models turn spoken commands into calls.
//!
//! ```text
//! cargo run --example voice_home --features voice_home
//! cargo run --example voice_home --features voice_home -- eval --url http://localhost:11434/v1 --model qwen3
//! cargo run --example voice_home --features voice_home -- call HassTurnOn --area kitchen
//! ```
//!
//! The commands are the cases of `tools.eval.toml`, and two models are recorded.

mod tools;

use std::process::ExitCode;

use tool_cli::Cli;

fn main() -> ExitCode {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/voice_home/tools.eval.toml");
    let cli = Cli::linked().name("voice_home").eval_file(cases);
    let mut words: Vec<_> = std::env::args_os().collect();
    if words.len() < 2 {
        words.push("eval".into());
    }
    let matches = cli.command().get_matches_from(words);
    cli.execute(&matches)
}
