//! The tools on the command line.

fn main() -> std::process::ExitCode {
    tool_cli::Cli::new(trips::tools).run()
}
