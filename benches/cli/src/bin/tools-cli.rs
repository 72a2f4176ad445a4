//! The command line of 201 tools.

#[allow(
    dead_code,
    reason = "fields are decoded, not read, and tools are found by the library"
)]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

fn main() -> std::process::ExitCode {
    tool_cli::Cli::linked().name("app").run()
}
