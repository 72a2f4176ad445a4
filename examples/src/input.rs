//! Input, log and exit code of a program.

use std::error::Error;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::{fs, io};

use clap::{Arg, ArgAction, ArgMatches};
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::{Identity, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt};

use crate::terminal::{BAD, Terminal};

/// Reads a file, or standard input for `-`. Returns the recorded text if there is no source.
///
/// # Errors
///
/// Returns an error that names the source if it can't be read.
pub fn read(source: Option<&str>, recorded: &str) -> Result<String, String> {
    match source {
        None => Ok(recorded.to_owned()),
        Some("-") => {
            let mut text = String::new();
            let read = io::stdin().read_to_string(&mut text);
            read.map_err(|error| format!("can't read standard input: {error}"))?;
            Ok(text)
        }
        Some(path) => {
            fs::read_to_string(path).map_err(|error| format!("can't read {path}: {error}"))
        }
    }
}

/// The flag `--log`, which [`log`] reads.
pub fn log_flag() -> Arg {
    Arg::new("log")
        .long("log")
        .action(ArgAction::SetTrue)
        .help("Write the operator's log to standard error")
}

/// Writes the operator's log to standard error if the flag `--log` is set.
pub fn log(flags: &ArgMatches) {
    log_with(flags, None::<Identity>);
}

/// Writes the operator's log like [`log`], and adds another layer to it.
pub fn log_with(flags: &ArgMatches, other: impl Layer<Registry> + Send + Sync) {
    if !flags.get_flag("log") {
        return;
    }
    // A span would repeat most fields of its event.
    let events = filter_fn(|data| data.is_event() && *data.level() <= LevelFilter::INFO);
    let layer = fmt::layer().with_writer(Terminal::stderr).with_ansi(false);
    let log = tracing_subscriber::registry().with(other);
    log.with(layer.with_filter(events)).init();
}

/// Prints the error, if any, and returns the exit code: 2 for bad input, as for bad flags.
///
/// Closing the program's output early, as `head` does, is not an error.
pub fn end(program: &str, ended: Result<(), Box<dyn Error>>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            // If nobody reads the error, the exit code is all there is.
            let mut out = Terminal::stderr();
            let _ = out.styled(BAD, program);
            let _ = writeln!(out, ": {error}");
            ExitCode::from(2)
        }
    }
}

fn is_closed(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
