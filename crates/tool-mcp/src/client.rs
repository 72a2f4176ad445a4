//! Typed calls of the tools of a server: what [`client!`](crate::client!) generates, and why such a call fails.

mod json;

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use serde_json::{Map, Value};
use tool_core::runtime::BoxFuture;
use tool_core::{Registry, ToolCall, ToolError, ToolResult};

use self::json::{FromJson, IntoJson, Mismatch};
use crate::Import;

/// What the generated code uses.
#[doc(hidden)]
pub mod __private {
    pub use std::boxed::Box;
    pub use std::collections::BTreeMap;
    pub use std::option::Option::{self, None};
    pub use std::primitive::{bool, f64, i64, usize};
    pub use std::result::Result::{Err, Ok};
    pub use std::string::String;
    pub use std::vec::Vec;

    pub use serde_json::Value;
    pub use tool_core::ToolResult;
    pub use tool_core_macros::client;

    pub use super::json::{
        FromJson, IntoJson, Result, object, of_text, optional, read, required, text,
    };
    pub use super::{Call, call};
    pub use crate::Import;
}

/// Generates a module for the tools of a server: a function for each, and types for its arguments and its result.
///
/// The file has the tools of the server. [`ImportBuilder::pin`](crate::ImportBuilder::pin) writes it, and so does
/// `import --pin FILE` of a program with `tool-cli`. Its path is relative to the folder of `Cargo.toml`.
///
/// ```
/// tool_mcp::client! {
///     /// The notes of the team.
///     pub mod notes = "notes.tools.json";
/// }
///
/// async fn add(import: &tool_mcp::Import) -> Result<i64, tool_mcp::client::CallError> {
///     let mut note = notes::AddNote::new("Water the plants.");
///     note.color = Some(notes::AddNoteColor::Green);
///     let added = notes::add_note(import, note).await?;
///     Ok(added.id)
/// }
/// ```
///
/// Enums are `Copy`, and arguments without required properties are `Default`. A `derive` before `mod` adds traits to all types.
/// Other traits are not derived by default, because three of them double the compile time of the module:
///
/// ```
/// tool_mcp::client! {
///     #[derive(Clone, Debug, PartialEq)]
///     pub mod notes = "notes.tools.json";
/// }
///
/// let note = notes::AddNote::new("Water the plants.");
/// assert_eq!(note.clone(), note);
/// ```
///
/// A call goes through the registry of the [`Import`], so that its hooks and limits apply. It returns an error if the
/// call fails, or if its result does not fit; see [`CallError`](crate::client::CallError).
///
/// # When the server changes
///
/// Write the file again, and compile: what the server no longer has is an error of the compiler that names the field. What
/// became optional or was added compiles, if you create arguments with `new` or `Default` and set the other fields. `new`
/// has a parameter for each property that the server requires, in the order of the file.
///
/// ```compile_fail,E0609
/// # tool_mcp::client! {
/// #     pub mod notes = "notes.tools.json";
/// # }
/// let mut note = notes::AddNote::new("Water the plants.");
/// // The server has no such property.
/// note.priority = Some(1);
/// ```
///
/// # Types
///
/// | in the schema | in Rust |
/// |---|---|
/// | `string`, `integer`, `number`, `boolean` | `String`, `i64`, `f64`, `bool` |
/// | `array` | `Vec` |
/// | `object` with `properties` | a struct |
/// | another `object` | `BTreeMap<String, …>` |
/// | `enum` or `const` of strings | an enum |
/// | a property that is not required, or may be null | `Option` |
/// | `$ref` within the schema | the type of its target, in a `Box` where it contains itself |
/// | everything else, such as `anyOf` of two types | `serde_json::Value` |
///
/// A function without an output schema returns the [`ToolResult`]. The server checks other constraints, such as lengths.
///
/// Names follow Rust's conventions: `create-issue` becomes `create_issue` and `CreateIssue`. A digit at the start gets a `_`
/// before it, a keyword is raw, and of two equal names the later one ends in `_2`. The documentation of each item shows
/// the name of the server.
///
/// # Errors
///
/// A file that is missing or that is no list of tools is a compile error, and so is each tool whose schemas are no
/// objects.
#[macro_export]
macro_rules! client {
    ($($tokens:tt)*) => {
        $crate::client::__private::client! { [$crate] $($tokens)* }
    };
}

/// A call of a function of [`client!`](crate::client!). It starts when it is first polled, and dropping it cancels it.
///
/// ```
/// use tool_mcp::client::{Call, CallError};
///
/// /// Makes two calls at the same time.
/// async fn both<A, B>(one: Call<A>, other: Call<B>) -> Result<(A, B), CallError> {
///     tokio::try_join!(one, other)
/// }
/// ```
#[must_use = "a call starts when it is first polled"]
pub struct Call<T>(BoxFuture<Result<T, CallError>>);

impl<T> Future for Call<T> {
    type Output = Result<T, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

/// Why a call of a function of [`client!`](crate::client!) has no result. Its text names the server, the tool and, if there is
/// one, the field.
///
/// ```
/// use tool_mcp::client::{CallError, CallErrorKind};
///
/// fn is_worth_a_retry(error: &CallError) -> bool {
///     match error.kind() {
///         CallErrorKind::Failed => error.tool_error().is_some_and(|error| error.is_retryable()),
///         // The program has to be compiled again.
///         _ => false,
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct CallError {
    server: String,
    tool: &'static str,
    problem: Problem,
}

/// The kinds of [`CallError`].
///
/// ```
/// use tool_mcp::client::{CallError, CallErrorKind};
///
/// fn advice(error: &CallError) -> &'static str {
///     match error.kind() {
///         CallErrorKind::Absent => "look at the report of the import",
///         CallErrorKind::Changed => "write the file again, and compile",
///         _ => "see the message",
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallErrorKind {
    /// The import has no such tool. The call was not made.
    Absent,
    /// An argument or a result is not as in the file: the server has changed, or breaks its own schema.
    Changed,
    /// The call failed.
    Failed,
}

#[derive(Clone, Debug)]
enum Problem {
    Absent(String),
    Unknown(String),
    Failed(Box<ToolError>),
    Mismatch(Mismatch),
}

impl CallError {
    /// Returns the kind of the error.
    pub fn kind(&self) -> CallErrorKind {
        match self.problem {
            Problem::Absent(_) => CallErrorKind::Absent,
            Problem::Unknown(_) | Problem::Mismatch(_) => CallErrorKind::Changed,
            Problem::Failed(_) => CallErrorKind::Failed,
        }
    }

    /// Returns the error of the tool, if the call failed.
    pub fn tool_error(&self) -> Option<&ToolError> {
        match &self.problem {
            Problem::Failed(error) => Some(error),
            _ => None,
        }
    }
}

const AGAIN: &str =
    "if the server has changed, write the file of its tools again, and compile the program";

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CallError { server, tool, .. } = self;
        match &self.problem {
            Problem::Absent(reason) => {
                write!(f, "the server {server} has no tool `{tool}`: {reason}")
            }
            Problem::Unknown(key) => write!(
                f,
                "the tool `{tool}` of the server {server} has no parameter `{key}`; {AGAIN}"
            ),
            Problem::Failed(error) => write!(
                f,
                "the tool `{tool}` of the server {server}: {}",
                error.message()
            ),
            Problem::Mismatch(mismatch) => write!(
                f,
                "the result of the tool `{tool}` of the server {server} does not fit: {mismatch}; {AGAIN}"
            ),
        }
    }
}

impl Error for CallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.tool_error().map(|error| error as _)
    }
}

/// What a function returns.
#[doc(hidden)]
pub trait Output: Sized + Send + 'static {
    fn of(result: ToolResult) -> Result<Self, Mismatch>;
}

/// For tools without an output schema.
impl Output for ToolResult {
    fn of(result: ToolResult) -> Result<ToolResult, Mismatch> {
        Ok(result)
    }
}

impl<T: FromJson + Send + 'static> Output for T {
    fn of(result: ToolResult) -> Result<T, Mismatch> {
        match result.structured() {
            Some(json) => T::from_json(json),
            None => Err(Mismatch::new("it is text, and no JSON")),
        }
    }
}

/// Makes the call of a generated function.
#[doc(hidden)]
pub fn call<T: Output>(import: &Import, tool: &'static str, arguments: impl IntoJson) -> Call<T> {
    let error = {
        let server = import.name().to_owned();
        move |problem| CallError {
            server,
            tool,
            problem,
        }
    };
    let called = match prepare(import, tool, arguments.into_json()) {
        Ok((registry, call)) => registry.call(call),
        Err(problem) => return Call(Box::pin(std::future::ready(Err(error(problem))))),
    };
    Call(Box::pin(async move {
        let result = called.await;
        if let Some(failed) = result.error() {
            return Err(error(Problem::Failed(Box::new(failed.clone()))));
        }
        T::of(result).map_err(|mismatch| error(Problem::Mismatch(mismatch)))
    }))
}

/// Finds the tool in the registry, which may have given it another name.
fn prepare(import: &Import, tool: &str, arguments: Value) -> Result<(Registry, ToolCall), Problem> {
    static CALLS: AtomicU64 = AtomicU64::new(1);
    let Some(entry) = import.entry(tool) else {
        return Err(Problem::Absent(reason(import, tool)));
    };
    let source = entry.source().map(|source| &*source.parameters);
    if let Some(key) = source.and_then(|schema| unknown(schema, &arguments)) {
        return Err(Problem::Unknown(key));
    }
    let id = format!("client_{}", CALLS.fetch_add(1, Ordering::Relaxed));
    let call = ToolCall::new(id, &*entry.name, arguments);
    Ok((import.registry().clone(), call))
}

/// Returns why an import does not have a tool.
fn reason(import: &Import, tool: &str) -> String {
    let report = import.report();
    if let Some(held) = report.held.iter().find(|held| held.source() == tool) {
        let changes = match held.changes() {
            [] => "it is new".to_owned(),
            changes => format!("its {} changed", changes.join(", ")),
        };
        return format!("it is held back, because {changes}; accept it with `Import::accept`");
    }
    match report.rejected.iter().find(|other| other.source == tool) {
        Some(rejected) => format!("it is rejected, because {}", rejected.reason),
        None => format!("it lists no such tool; {AGAIN}"),
    }
}

/// Returns an argument that a server ignores silently: its schema is open, and no longer has the property.
fn unknown(schema: &str, arguments: &Value) -> Option<String> {
    let schema: Map<String, Value> = serde_json::from_str(schema).ok()?;
    let properties = schema.get("properties")?.as_object()?;
    if [
        "additionalProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "patternProperties",
        "$ref",
    ]
    .iter()
    .any(|keyword| schema.contains_key(*keyword))
    {
        return None;
    }
    let mut keys = arguments.as_object()?.keys();
    keys.find(|key| !properties.contains_key(*key)).cloned()
}

/// Programs of an earlier list, which the one in the file does not fit.
///
/// A property has another type:
///
/// ```compile_fail,E0308
/// tool_mcp::client! { mod notes = "notes.tools.json"; }
/// let mut note = notes::AddNote::new("Water the plants.");
/// note.color = Some("green".to_owned());
/// ```
///
/// Another property is required:
///
/// ```compile_fail,E0061
/// tool_mcp::client! { mod notes = "notes.tools.json"; }
/// let note = notes::AddNote::new();
/// ```
///
/// A tool is gone:
///
/// ```compile_fail,E0425
/// tool_mcp::client! { mod notes = "notes.tools.json"; }
/// let remove = notes::remove_note;
/// ```
///
/// The file is gone:
///
/// ```compile_fail
/// tool_mcp::client! { mod notes = "no.tools.json"; }
/// ```
#[cfg(doctest)]
mod changed {}
