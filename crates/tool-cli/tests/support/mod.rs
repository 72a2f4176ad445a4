//! Runs the example `desk` as a user does.

// Each test file uses only a part of it.
#![allow(dead_code, unreachable_pub)]

use std::path::Path;
use std::process::Command;

#[path = "../../../../examples/src/program.rs"]
mod program;

pub(crate) use program::Ran;

/// Returns the command of the program, which cargo builds before the tests.
pub(crate) fn command() -> Command {
    program::command("desk")
}

/// Runs the program in a pipe and waits until it ends.
pub(crate) fn desk(flags: &[&str], input: &str) -> Ran {
    program::run("desk", flags, input)
}

/// Returns the command of the program that has the commands below a subcommand, `tools`.
pub(crate) fn nested() -> Command {
    program::command("nested")
}

/// Returns the command of the first program in the README.
pub(crate) fn forecast() -> Command {
    program::command("forecast")
}

/// Runs a command in a pipe and waits until it ends.
pub(crate) fn run(command: &mut Command) -> Ran {
    program::run_command(command, "")
}

/// Runs the program in a folder.
pub(crate) fn desk_in(folder: &Path, flags: &[&str], input: &str) -> Ran {
    program::run_command(command().args(flags).current_dir(folder), input)
}

/// Runs the program without the context value of its tools.
pub(crate) fn desk_without_notes(flags: &[&str]) -> Ran {
    program::run_command(command().args(flags).env("NOTES", ""), "")
}

/// Runs the program in a terminal of a width, and types the answers to its questions. Returns the screen, or `None` if the
/// system lacks `script`.
pub(crate) fn screen(columns: usize, flags: &[&str], answers: &[(&str, &str)]) -> Option<String> {
    screen_of(&command(), columns, flags, answers)
}

/// The same, for another program.
pub(crate) fn screen_of(
    command: &Command,
    columns: usize,
    flags: &[&str],
    answers: &[(&str, &str)],
) -> Option<String> {
    let words: String = flags.iter().map(|flag| format!(" '{flag}'")).collect();
    let program = command.get_program().display();
    // Control-C reaches the shell as well, which needs a trap to continue to the exit code.
    let line = format!("trap : INT; stty cols {columns}; {program}{words}; echo \"exit code $?\"");
    let shown = program::run_line_at_terminal(&line, "", answers)?;
    Some(shown.replace("\r\n", "\n"))
}
