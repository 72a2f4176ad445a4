//! [`Lock`]: a lock file of all tools, so that no change to a tool goes unnoticed.
//!
//! Commit the file, and compare it with the program's tools in a test:
//!
//! ```no_run
//! use tool_core::Registry;
//! use tool_docs::lock::Lock;
//!
//! #[test]
//! fn the_tools_match_the_lock_file() -> Result<(), Box<dyn std::error::Error>> {
//!     Lock::new(&Registry::linked()?).check("tools.lock.json")?;
//!     Ok(())
//! }
//! ```
//!
//! With `TOOL_CORE_UPDATE=1` in its environment, the same test writes the file. It never overwrites
//! a file that is not a lock file or has a later version.
//!
//! # Classes of changes
//!
//! [`compare`] assigns each change one of three classes, based on the JSON Schemas.
//!
//! - *Breaking*: some calls that were accepted are now rejected. A tool or parameter was removed or
//!   renamed, something became required, or a type, an enum or a bound became narrower. A withdrawn
//!   guarantee is breaking too, such as a tool that is no longer `read_only`.
//! - *Compatible*: all calls that were accepted still are. Something optional was added, or a type,
//!   an enum or a bound became wider. A changed `default` is compatible: calls without the
//!   parameter are still accepted, though they mean something else.
//! - *Wording*: titles, descriptions, examples of calls and of values, the grammar of a free-form tool, who
//!   may call a tool, and the order of keys.
//!
//! For results the rule is reversed: a narrower result is compatible, and a wider one breaks its
//! readers. An additional property is compatible, as JSON readers ignore properties that they don't
//! know.
//!
//! Tags are not in the file, because they affect neither calls nor results.
//!
//! Keywords that can't be compared in detail (`oneOf`, `not`, `if`, patterns, external references)
//! are breaking if they differ at all. "Compatible" is never a guess.

mod changes;
mod compare;
mod schemas;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{error, fmt, io};

use tool_core::schema::Json;
use tool_core::spec::{Grammar, Programmatic};
use tool_core::{Registry, ToolSpec, files};

use crate::update::{UPDATE, is_updating};

pub use changes::{Change, Changes, Class};
pub use compare::compare;

/// The version of the file format.
const VERSION: u32 = 1;

/// The names, descriptions and schemas of a set of tools.
///
/// `FromStr` parses a lock file, and `Display` writes it.
///
/// ```
/// use tool_core::Registry;
/// use tool_docs::lock::Lock;
///
/// let lock = Lock::new(&Registry::new());
/// assert_eq!(lock.to_string(), "{\n  \"version\": 1,\n  \"tools\": {}\n}\n");
/// assert_eq!(lock.to_string().parse::<Lock>()?, lock);
/// # Ok::<(), tool_docs::lock::LockError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// The tools by name, sorted.
    tools: Vec<(String, Json)>,
}

impl Lock {
    /// Creates a lock of the current tools of a registry, to compare with a file.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_docs::lock::{Lock, compare};
    ///
    /// let lock = Lock::new(&Registry::new());
    /// assert!(compare(&lock, &lock).is_empty());
    /// ```
    pub fn new(registry: &Registry) -> Lock {
        let tools = registry.specs();
        let tools = tools.iter().map(|tool| (tool.name.to_string(), spec(tool)));
        Lock::of(tools.collect())
    }

    /// Reads the list of a server of the Model Context Protocol, to compare it with another: the result of
    /// `tools/list`, which is also the file of `tool_mcp::ImportBuilder::pin`.
    ///
    /// ```
    /// use tool_docs::lock::{Class, Lock, compare};
    ///
    /// let old = Lock::of_mcp(r#"{"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]}"#)?;
    /// let new = Lock::of_mcp(r#"{"tools": []}"#)?;
    /// assert_eq!(compare(&old, &new).class(), Some(Class::Breaking));
    /// # Ok::<(), tool_docs::lock::LockError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the text is no such list.
    pub fn of_mcp(list: &str) -> Result<Lock, LockError> {
        let corrupt = |problem: &str| LockError::from(LockErrorKind::Corrupt(problem.into()));
        let json = Json::parse(list).map_err(|error| corrupt(&error.to_string()))?;
        let Some(Json::Array(listed)) = json.get("tools") else {
            return Err(corrupt("it has no array `tools`"));
        };
        let tools = listed.iter().map(|tool| {
            let name = tool
                .get_str("name")
                .ok_or_else(|| corrupt("a tool has no name"))?;
            Ok((name.to_owned(), mcp_spec(tool)))
        });
        tools.collect::<Result<_, LockError>>().map(Lock::of)
    }

    fn of(mut tools: Vec<(String, Json)>) -> Lock {
        tools.sort_by(|(left, _), (right, _)| left.cmp(right));
        Lock { tools }
    }

    /// Reads a lock file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, can't be read, is not a lock file, or has a later
    /// version.
    pub fn read(path: impl AsRef<Path>) -> Result<Lock, LockError> {
        let path = path.as_ref();
        let lock = files::read(path).map_err(LockError::from);
        let lock = lock.and_then(|text| text.ok_or(LockErrorKind::Missing)?.parse());
        lock.map_err(|error: LockError| error.at(path))
    }

    /// Checks that a lock file matches these tools. In a test, the path is relative to the package.
    ///
    /// If the environment variable `TOOL_CORE_UPDATE=1` is set, this writes the file instead if it
    /// is missing or differs.
    ///
    /// # Errors
    ///
    /// Returns an error if the tools have changed, listing every change and its class, or if the
    /// file is missing or not a valid lock file. An invalid file is never overwritten.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_docs::lock::Lock;
    ///
    /// let error = Lock::new(&Registry::new()).check("no/such/file.json").unwrap_err();
    /// assert!(error.to_string().starts_with("no/such/file.json does not exist; run this check with"));
    /// ```
    pub fn check(&self, path: impl AsRef<Path>) -> Result<(), LockError> {
        self.check_or_update(path.as_ref(), is_updating())
    }

    fn check_or_update(&self, path: &Path, is_updating: bool) -> Result<(), LockError> {
        let changes = match Lock::read(path) {
            Ok(old) => compare(&old, self),
            Err(error) if is_updating && matches!(error.kind, LockErrorKind::Missing) => {
                return self.write(path);
            }
            Err(error) => return Err(error),
        };
        if changes.is_empty() {
            Ok(())
        } else if is_updating {
            self.write(path)
        } else {
            Err(LockError::from(LockErrorKind::Changed(changes)).at(path))
        }
    }

    fn write(&self, path: &Path) -> Result<(), LockError> {
        let written = files::replace(path, self.to_string().as_bytes());
        written.map_err(|error| LockError::from(error).at(path))
    }
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = Json::Object(vec![
            ("version".into(), Json::Number(VERSION.to_string())),
            ("tools".into(), Json::Object(self.tools.clone())),
        ]);
        writeln!(f, "{json:#}")
    }
}

impl FromStr for Lock {
    type Err = LockError;

    fn from_str(text: &str) -> Result<Lock, LockError> {
        let corrupt = |problem: &str| LockError::from(LockErrorKind::Corrupt(problem.into()));
        let json = Json::parse(text).map_err(|error| corrupt(&error.to_string()))?;
        let version = json.get_number("version");
        let version = version.ok_or_else(|| corrupt("`version` is missing"))?;
        match version.parse::<u64>() {
            Ok(version) if version == u64::from(VERSION) => {}
            Ok(version) if version > u64::from(VERSION) => {
                return Err(LockErrorKind::Newer(version.to_string()).into());
            }
            _ => return Err(corrupt("`version` is invalid")),
        }
        let Some(Json::Object(tools)) = json.get("tools") else {
            return Err(corrupt("`tools` is missing"));
        };
        // A file of another program may have both keys, and is not to be overwritten.
        let mut keys = json.members().iter().map(|(key, _)| &**key);
        if let Some(key) = keys.find(|key| !["version", "tools"].contains(key)) {
            return Err(corrupt(&format!("the key {} is unknown", Json::from(key))));
        }
        for (name, spec) in tools {
            let is_complete = spec.get_str("description").is_some()
                && matches!(spec.get("parameters"), Some(Json::Object(_)));
            if !is_complete {
                return Err(corrupt(&format!(
                    "the tool `{name}` lacks `description` or `parameters`"
                )));
            }
        }
        Ok(Lock::of(tools.clone()))
    }
}

/// Everything about a tool that its callers see.
fn spec(tool: &ToolSpec) -> Json {
    let text = |text: Option<&str>| text.map(Json::from);
    let json = |text| Json::parse(text).expect("a tool's texts are valid JSON");
    let members = [
        ("title", text(tool.title())),
        ("description", Some(Json::from(&*tool.description))),
        ("when_to_use", text(tool.when_to_use())),
        ("returns", text(tool.returns())),
        ("annotations", flags(tool)),
        (
            "examples",
            tool.has_examples()
                .then(|| Json::Array(tool.examples().map(json).collect())),
        ),
        (
            "freeform",
            tool.is_freeform().then_some(Json::Boolean(true)),
        ),
        ("grammar", text(tool.grammar().map(Grammar::definition))),
        ("programmatic", text(tool.programmatic().map(callers))),
        ("parameters", Some(json(tool.parameters_json()))),
        ("output", tool.output_json().map(json)),
    ];
    let members = members.into_iter();
    let members = members.filter_map(|(key, value)| Some((key.to_owned(), value?)));
    members.collect()
}

/// The same of a tool as a server lists it.
fn mcp_spec(tool: &Json) -> Json {
    let hints = tool.get("annotations");
    let hints = [
        ("read_only", "readOnlyHint"),
        ("destructive", "destructiveHint"),
        ("idempotent", "idempotentHint"),
        ("open_world", "openWorldHint"),
    ]
    .into_iter()
    .filter_map(|(name, hint)| Some((name.to_owned(), hints?.get(hint)?.clone())));
    let hints = Some(hints.collect::<Json>()).filter(|hints| !hints.members().is_empty());
    let members = [
        ("title", tool.get("title").cloned()),
        ("description", tool.get("description").cloned()),
        ("annotations", hints),
        ("parameters", tool.get("inputSchema").cloned()),
        ("output", tool.get("outputSchema").cloned()),
    ];
    let members = members.into_iter();
    let members = members.filter_map(|(key, value)| Some((key.to_owned(), value?)));
    members.collect()
}

fn callers(programmatic: Programmatic) -> &'static str {
    match programmatic {
        Programmatic::Only => "only",
        _ => "also",
    }
}

fn flags(tool: &ToolSpec) -> Option<Json> {
    let flags = tool.flags();
    let json: Json = flags
        .map(|(name, flag)| (name.to_owned(), Json::Boolean(flag)))
        .collect();
    Some(json).filter(|json| !json.members().is_empty())
}

/// The error of [`Lock::check`] and [`Lock::read`]. Its text says how to fix it.
///
/// ```
/// use tool_docs::lock::{Lock, LockErrorKind};
///
/// let error = Lock::read("no/such/tools.lock.json").unwrap_err();
/// assert!(matches!(error.kind(), LockErrorKind::Missing));
/// assert!(error.to_string().starts_with("no/such/tools.lock.json does not exist"));
/// ```
#[derive(Debug)]
pub struct LockError {
    path: Option<PathBuf>,
    kind: LockErrorKind,
}

/// The kinds of [`LockError`].
///
/// ```
/// use tool_docs::lock::{Lock, LockErrorKind};
///
/// let error = "not a lock file".parse::<Lock>().unwrap_err();
/// match error.kind() {
///     LockErrorKind::Corrupt(problem) => println!("restore the file: {problem}"),
///     LockErrorKind::Newer(_) => println!("update tool-docs"),
///     _ => unreachable!(),
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum LockErrorKind {
    /// The tools differ from the file.
    Changed(Changes),
    /// The file does not exist.
    Missing,
    /// The file is not a lock file, for this reason.
    Corrupt(String),
    /// The file has this version, which is later than this crate supports.
    Newer(String),
    /// The file can't be read or written.
    Io(io::Error),
}

impl LockError {
    /// Returns the kind of error.
    pub fn kind(&self) -> &LockErrorKind {
        &self.kind
    }

    /// Returns the changes, if the tools differ from the file.
    pub fn changes(&self) -> Option<&Changes> {
        match &self.kind {
            LockErrorKind::Changed(changes) => Some(changes),
            _ => None,
        }
    }

    fn at(mut self, path: &Path) -> LockError {
        self.path = Some(path.to_owned());
        self
    }
}

impl From<LockErrorKind> for LockError {
    fn from(kind: LockErrorKind) -> LockError {
        LockError { path: None, kind }
    }
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> LockError {
        LockErrorKind::Io(error).into()
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_deref();
        let path = path.map_or_else(|| "the lock".into(), |path| path.display().to_string());
        match &self.kind {
            LockErrorKind::Changed(changes) => write!(
                f,
                "the tools differ from {path}: {changes}\nIf this is intended, run this check with \
                 {UPDATE}=1 and commit the file."
            ),
            LockErrorKind::Missing => write!(
                f,
                "{path} does not exist; run this check with {UPDATE}=1 to create it, and commit it"
            ),
            LockErrorKind::Corrupt(problem) => write!(
                f,
                "{path} is not a lock file: {problem}; the file was left unchanged: restore it \
                 from version control, or delete it and run this check with {UPDATE}=1"
            ),
            LockErrorKind::Newer(version) => write!(
                f,
                "{path} has version {version}, but this version of tool-docs supports at most \
                 {VERSION}; the file was left unchanged: update tool-docs"
            ),
            LockErrorKind::Io(error) => write!(f, "{path} can't be read or written: {error}"),
        }
    }
}

impl error::Error for LockError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.kind {
            LockErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
