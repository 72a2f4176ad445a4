//! [`Lock`]: what all tools look like, in a file, so that no spec changes unseen.
//!
//! It needs the feature `docs`, which the tests of a program turn on:
//!
//! ```toml
//! [dev-dependencies]
//! tool-core = { version = "0.1", features = ["docs"] }
//! ```
//!
//! The file is committed. A test compares it with the tools of the program:
//!
//! ```no_run
//! #[test]
//! fn no_tool_changes_unseen() -> Result<(), Box<dyn std::error::Error>> {
//!     tool_core::Registry::linked()?.lock().check("tools.lock.json")?;
//!     Ok(())
//! }
//! ```
//!
//! With `TOOL_CORE_UPDATE=1` in its environment the same test writes the file, unless what is
//! there is no lock file, or one of a later version.
//!
//! # What breaks
//!
//! [`compare`] tells three classes apart, by the JSON texts of the schemas.
//!
//! - *Breaking*: some call that was taken is refused now. A tool or a parameter is removed or
//!   renamed, something is newly required, a type, an enum or a bound is narrower. So is a promise
//!   that is taken back: a tool that was `read_only` and isn't.
//! - *Compatible*: every call that was taken is still taken. Something optional was added, a type,
//!   an enum or a bound is wider. Another `default` belongs here: calls without that parameter are
//!   taken as before, though they mean something else.
//! - *Wording*: titles, descriptions, examples, and the order of keys.
//!
//! For results it is the other way round, since it is their readers who rely on them: a result may
//! become narrower, and breaks its readers when it becomes wider. But a member more is compatible,
//! as readers of JSON pass over members that they don't know.
//!
//! What can't be compared part by part (`oneOf`, `not`, `if`, patterns, references to elsewhere) is
//! breaking when it is different at all. "Compatible" is never a guess.

mod change;
mod compare;
mod error;
mod schemas;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::generated_file;
use crate::json::{Json, quoted};
use crate::registry::Registry;
use crate::spec::{Annotations, ToolSpec};
use crate::tool::ToolEntry;

pub use change::{Change, Changes, Class};
pub use compare::compare;
pub use error::{LockError, LockErrorKind};

/// The version of the file's form.
const VERSION: u32 = 1;

/// What some tools look like: their names, texts and schemas.
///
/// It is made by [`Registry::lock`] or read from a text, and written by `Display`.
///
/// ```
/// use tool_core::Registry;
/// use tool_core::lock::Lock;
///
/// let lock = Registry::new().lock();
/// assert_eq!(lock.to_string(), "{\n  \"version\": 1,\n  \"tools\": {}\n}\n");
/// assert_eq!(lock.to_string().parse::<Lock>()?, lock);
/// # Ok::<(), tool_core::lock::LockError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// By name, in its order.
    tools: Vec<(String, Json)>,
}

impl Registry {
    /// What the tools look like now, to be compared with a file.
    ///
    /// ```
    /// use tool_core::{Registry, lock::compare};
    ///
    /// let registry = Registry::new();
    /// assert!(compare(&registry.lock(), &registry.lock()).is_empty());
    /// ```
    pub fn lock(&self) -> Lock {
        Lock::of(&self.specs())
    }
}

impl Lock {
    fn of(tools: &[ToolEntry]) -> Lock {
        let mut tools: Vec<_> = tools
            .iter()
            .map(|tool| (tool.name.to_string(), spec(tool)))
            .collect();
        tools.sort_by(|(left, _), (right, _)| left.cmp(right));
        Lock { tools }
    }

    /// The lock in a file.
    ///
    /// # Errors
    ///
    /// When there is no file, when it can't be read, is no lock file, or one of a later version.
    pub fn read(path: impl AsRef<Path>) -> Result<Lock, LockError> {
        let path = path.as_ref();
        let lock = generated_file::read(path).map_err(LockError::from);
        let lock = lock.and_then(|text| text.ok_or(LockErrorKind::Missing)?.parse());
        lock.map_err(|error: LockError| error.at(path))
    }

    /// Checks that a file says the same; in a test, its path is relative to the package.
    ///
    /// With `TOOL_CORE_UPDATE=1` in the environment it writes the file instead, if it is missing
    /// or says something else.
    ///
    /// # Errors
    ///
    /// When the tools have changed, with every change and its class, and when there is no file that
    /// could be compared, which is then left as it is.
    ///
    /// ```
    /// let error = tool_core::Registry::new().lock().check("no/such/file.json").unwrap_err();
    /// assert!(error.to_string().starts_with("no/such/file.json does not exist; run this test with"));
    /// ```
    pub fn check(&self, path: impl AsRef<Path>) -> Result<(), LockError> {
        self.check_or_update(path.as_ref(), generated_file::is_updating())
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
        let written = generated_file::replace(path, &self.to_string());
        written.map_err(|error| LockError::from(error).at(path))
    }
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = Json::object([
            ("version", Some(Json::Number(VERSION.to_string()))),
            ("tools", Some(Json::Object(self.tools.clone()))),
        ]);
        writeln!(f, "{}", json.lines(&quoted))
    }
}

impl FromStr for Lock {
    type Err = LockError;

    fn from_str(text: &str) -> Result<Lock, LockError> {
        let corrupt = |why: &str| LockError::from(LockErrorKind::Corrupt(why.into()));
        let json = Json::parse(text).map_err(|error| corrupt(&error.to_string()))?;
        let version = json.get("version").and_then(Json::number);
        let version = version.ok_or_else(|| corrupt("`version` is missing"))?;
        match version.parse::<u64>() {
            Ok(version) if version == u64::from(VERSION) => {}
            Ok(version) if version > u64::from(VERSION) => {
                return Err(LockErrorKind::Newer(version.to_string()).into());
            }
            _ => return Err(corrupt("there never was such a `version`")),
        }
        let Some(Json::Object(tools)) = json.get("tools") else {
            return Err(corrupt("`tools` is missing"));
        };
        let mut tools = tools.clone();
        for (name, spec) in &tools {
            let has_all = spec.get("description").and_then(Json::text).is_some()
                && matches!(spec.get("parameters"), Some(Json::Object(_)));
            if !has_all {
                return Err(corrupt(&format!(
                    "the tool {name} has no `description` or no `parameters`"
                )));
            }
        }
        tools.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(Lock { tools })
    }
}

/// All of a tool that its callers see.
fn spec(tool: &ToolSpec) -> Json {
    let text = |text: Option<&str>| text.map(Json::from);
    let schema = |text| Json::parse(text).expect("the schema of a tool is JSON");
    Json::object([
        ("title", text(tool.title())),
        ("description", Some(Json::from(&*tool.description))),
        ("when_to_use", text(tool.when_to_use())),
        ("returns", text(tool.returns())),
        ("annotations", annotations(tool.annotations)),
        ("parameters", Some(schema(tool.parameters_json()))),
        ("output", tool.output_json().map(schema)),
    ])
}

fn annotations(annotations: Annotations) -> Option<Json> {
    let hint = |value: Option<bool>| value.map(Json::Boolean);
    let json = Json::object([
        ("read_only", hint(annotations.read_only)),
        ("destructive", hint(annotations.destructive)),
        ("idempotent", hint(annotations.idempotent)),
        ("open_world", hint(annotations.open_world)),
    ]);
    Some(json).filter(|json| !json.members().is_empty())
}

#[cfg(test)]
mod tests;
