//! [`RunInfo`]: whose run it is.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::dialect::RequestOptions;

use super::{Run, RunSettings};

/// What a [`Run`] is created with and keeps: its id, its owner, and data of the application. A clone is cheap.
///
/// It is a context value of every call that an [`Agent`](crate::Agent) runs.
///
/// ```
/// use tool_agent::run::RunInfo;
/// use tool_core::tool;
///
/// /// Returns the number of the support case.
/// #[tool]
/// fn case_number(#[param(context)] run: &RunInfo) -> Option<u64> {
///     run.meta()["case"].as_u64()
/// }
/// # let _ = case_number;
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunInfo(Arc<Info>);

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
struct Info {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    meta: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dialect: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
}

impl RunInfo {
    /// Returns the id of the run.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the [owner](RunBuilder::owner); `None` in a program with one user.
    pub fn owner(&self) -> Option<&str> {
        self.0.owner.as_deref()
    }

    /// Returns the [data](RunBuilder::meta) of the application; `null` if there is none.
    pub fn meta(&self) -> &Value {
        &self.0.meta
    }

    /// Returns the [provider](tool_core::dialect::Dialect::provider) in whose format the messages are; `None` before
    /// the first use of a dialect.
    pub fn dialect(&self) -> Option<&str> {
        self.0.dialect.as_deref()
    }

    /// Returns the id of the run whose call made this one, if an agent that is a tool made it.
    pub fn parent(&self) -> Option<&str> {
        self.0.parent.as_deref()
    }

    pub(super) fn set_dialect(&mut self, dialect: &str) {
        Arc::make_mut(&mut self.0).dialect = Some(dialect.to_owned());
    }
}

/// The data of the application may be secret.
impl fmt::Debug for RunInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunInfo")
            .field("id", &self.0.id)
            .field("owner", &self.0.owner)
            .field("dialect", &self.0.dialect)
            .finish_non_exhaustive()
    }
}

/// A run that is being created; see [`Run::builder`].
///
/// ```
/// use serde_json::json;
/// use tool_agent::run::{Run, RunSettings};
///
/// let mut settings = RunSettings::default();
/// settings.max_rounds = 8;
/// let run = Run::builder("conversation-1")
///     .owner("user-7")
///     .meta(json!({"case": 4711}))
///     .settings(settings)
///     .build();
/// assert_eq!(run.info().owner(), Some("user-7"));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RunBuilder {
    info: Info,
    settings: RunSettings,
    options: Option<RequestOptions>,
}

impl fmt::Debug for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        RunInfo(Arc::new(self.clone())).fmt(f)
    }
}

impl RunBuilder {
    pub(super) fn new(id: String) -> RunBuilder {
        RunBuilder {
            info: Info {
                id,
                ..Info::default()
            },
            settings: RunSettings::default(),
            options: None,
        }
    }

    /// Sets the id of the user whose run it is. It never changes. The calls of the run have the rights of this user,
    /// whoever continues it. Blanks at its ends are removed.
    pub fn owner(mut self, user: impl Into<String>) -> Self {
        self.info.owner = Some(user.into().trim().to_owned());
        self
    }

    /// Sets the id of the run whose call makes this one.
    #[cfg(feature = "dynamic")]
    pub(crate) fn parent(mut self, run: &str) -> Self {
        self.info.parent = Some(run.to_owned());
        self
    }

    /// Sets data of the application, which is saved with the run and never changes.
    pub fn meta(mut self, meta: impl Into<Value>) -> Self {
        self.info.meta = meta.into();
        self
    }

    /// Sets the settings.
    pub fn settings(mut self, settings: RunSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the settings of its requests; see [`Run::set_request_options`].
    pub fn request_options(mut self, options: RequestOptions) -> Self {
        self.options = Some(options);
        self
    }

    /// Creates the run.
    pub fn build(self) -> Run {
        Run::created(RunInfo(Arc::new(self.info)), self.settings, self.options)
    }
}
