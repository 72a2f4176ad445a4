use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use crate::imp;

/// The result of a run, however it ended. Dropping it deletes the run folder.
///
/// ```
/// use tool_python::Outcome;
///
/// fn report(outcome: &Outcome) -> String {
///     match &outcome.result {
///         Some(value) if outcome.is_finished() => value.text().to_owned(),
///         _ => format!("{}\n{}\n{:?}", outcome.stdout, outcome.stderr, outcome.ended_by),
///     }
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The value of the last line, if it is an expression and not `None`.
    pub result: Option<Value>,
    /// The code's output on stdout. Bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// The code's output on stderr.
    pub stderr: String,
    /// The files in the run folder at the end, sorted by path, except the files in `.cache`.
    pub files: Vec<File>,
    /// Number of calls that the code made to the host.
    pub calls: u64,
    /// The way in which the run ended.
    pub ended_by: EndedBy,
    /// The limit that ended the run, and its value, in words.
    #[cfg_attr(not(feature = "code-mode"), allow(dead_code))]
    pub(crate) limit: Option<String>,
    pub(crate) folder: imp::RunFolder,
}

impl Outcome {
    /// Returns `true` if the code ran to its end without an exception.
    pub fn is_finished(&self) -> bool {
        matches!(self.ended_by, EndedBy::Finished | EndedBy::Exit(0))
    }

    /// Reads a file of the run folder.
    ///
    /// # Errors
    ///
    /// If the file is not in [`files`](Outcome::files), is longer than `limit` bytes, or can't be read.
    pub fn read(&self, path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
        let path = path.as_ref();
        let Some(file) = self.files.iter().find(|file| file.path == path) else {
            let problem = "not a file of the run folder";
            return Err(io::Error::new(ErrorKind::NotFound, problem));
        };
        if file.bytes > limit {
            return Err(io::Error::new(
                ErrorKind::FileTooLarge,
                "longer than the limit",
            ));
        }
        self.folder.read(path, limit)
    }
}

/// The value of the code's last line.
///
/// ```
/// use tool_python::Value;
///
/// fn describe(value: &Value) -> String {
///     match value {
///         Value::Json(json) => format!("JSON: {json}"),
///         other => format!("as Python prints it: {}", other.text()),
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// A JSON text that reads back as exactly the same value. Integers may have any number of digits. Tuples are
    /// arrays.
    Json(Box<RawValue>),
    /// The `repr` of a value that JSON can't represent exactly, such as `nan`, a numpy array, or a string with a lone
    /// surrogate.
    Text(String),
}

impl Value {
    /// Returns the JSON text, or the `repr`.
    pub fn text(&self) -> &str {
        match self {
            Value::Json(json) => json.get(),
            Value::Text(text) => text,
        }
    }
}

/// A regular file that the code left in the run folder.
///
/// ```
/// use tool_python::Outcome;
///
/// /// Reads the pictures that the code left, up to a megabyte each.
/// fn pictures(outcome: &Outcome) -> std::io::Result<Vec<Vec<u8>>> {
///     let files = outcome.files.iter().filter(|file| file.path.extension().is_some_and(|e| e == "png"));
///     files.map(|file| outcome.read(&file.path, 1 << 20)).collect()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// The path, relative to the run folder.
    pub path: PathBuf,
    /// The length in bytes.
    pub bytes: u64,
}

/// The way in which a run ended.
///
/// ```
/// use tool_python::EndedBy;
///
/// fn explain(ended_by: &EndedBy) -> String {
///     match ended_by {
///         EndedBy::Finished => "it finished".into(),
///         EndedBy::Raised(exception) => format!("{}: {}", exception.kind, exception.message),
///         EndedBy::Time | EndedBy::Cpu => "it took too long".into(),
///         other => format!("it was stopped: {other:?}"),
///     }
/// }
///
/// assert_eq!(explain(&EndedBy::Time), "it took too long");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndedBy {
    /// The code ran to its end.
    Finished,
    /// The code raised an exception.
    Raised(Exception),
    /// The code exited the interpreter with this status.
    Exit(u8),
    /// A signal killed the interpreter. Native code crashed, or made a system call of another architecture (`SIGSYS`).
    Signal(i32),
    /// The run exceeded [`Limits::time`](crate::Limits::time).
    Time,
    /// The run exceeded [`Limits::cpu`](crate::Limits::cpu).
    Cpu,
    /// The run exceeded [`Limits::output`](crate::Limits::output).
    Output,
    /// The run exceeded [`Limits::disk`](crate::Limits::disk).
    Disk,
    /// The run exceeded [`Limits::files`](crate::Limits::files).
    Files,
    /// The run exceeded [`Limits::threads`](crate::Limits::threads).
    Threads,
    /// The run exceeded [`Limits::calls`](crate::Limits::calls).
    Calls,
    /// The code closed its channel to the host, or sent something that is not a message. Contains the details.
    Channel(String),
    /// The resources could not be measured any more, so the run was ended because no limit would have held. Contains
    /// the details.
    Unmeasured(String),
    /// [`Stop::stop`](crate::Stop::stop) ended the run.
    Stopped,
}

impl fmt::Display for EndedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            EndedBy::Finished => "finished",
            EndedBy::Raised(exception) => return write!(f, "{exception}"),
            EndedBy::Exit(status) => return write!(f, "exited with status {status}"),
            EndedBy::Signal(signal) => {
                return write!(f, "killed by signal {signal}{}", meaning(*signal));
            }
            EndedBy::Time => "took too long (`Limits::time`)",
            EndedBy::Cpu => "used too much processor time (`Limits::cpu`)",
            EndedBy::Output => "printed too much (`Limits::output`)",
            EndedBy::Disk => "wrote too much to disk (`Limits::disk`)",
            EndedBy::Files => "created too many files (`Limits::files`)",
            EndedBy::Threads => "started too many threads (`Limits::threads`)",
            EndedBy::Calls => "made too many calls (`Limits::calls`)",
            EndedBy::Channel(what) => return write!(f, "broke the connection to the host: {what}"),
            EndedBy::Unmeasured(what) => return write!(f, "could not be measured: {what}"),
            EndedBy::Stopped => "stopped",
        };
        f.write_str(text)
    }
}

/// Returns the usual cause of a signal, with Linux numbers.
fn meaning(signal: i32) -> &'static str {
    match signal {
        4 => ": native code has no valid instructions",
        6 => ": native code gave up, often because memory ran out (`Limits::memory`)",
        7 => ": a mapped file became shorter, or the disk is full",
        9 => ": from outside, usually by the kernel when the machine has no memory left",
        11 => {
            ": native code used memory that it doesn't have; often the stack overflowed in a deep recursion, or memory ran \
             out (`Limits::memory`)"
        }
        31 => ": a system call of another architecture",
        _ => "",
    }
}

/// An exception of the code.
///
/// ```
/// use tool_python::{EndedBy, Outcome};
///
/// fn traceback(outcome: &Outcome) -> Option<&str> {
///     match &outcome.ended_by {
///         EndedBy::Raised(exception) => Some(&exception.traceback),
///         _ => None,
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// The name of the exception's type, such as `ValueError`.
    pub kind: String,
    /// The message of the exception.
    pub message: String,
    /// The traceback as Python prints it, with the lines of the code.
    pub traceback: String,
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}
