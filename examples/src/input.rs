//! What a program reads, and how it ends.

use std::error::Error;
use std::io::Read;
use std::process::ExitCode;
use std::{fs, io};

/// The text to work on: a file, standard input (`-`), or the recorded text.
///
/// # Errors
///
/// When the file or standard input can't be read; the message names it.
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

/// The exit code of a program: 2 when its input was no good, as for flags that are none. Whoever
/// closes its output early, such as `head`, has read enough.
pub fn end(program: &str, ended: Result<(), Box<dyn Error>>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {error}");
            ExitCode::from(2)
        }
    }
}

fn is_closed(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
