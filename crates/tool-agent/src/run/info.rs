//! [`RunInfo`]: the fixed data of a run.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::dialect::RequestOptions;

use super::{Run, RunSettings};

/// The fixed data of a [`Run`]: its id, its owner, and data of the application. Cheap to clone.
///
/// An [`Agent`](crate::Agent) attaches it to every call as a context value.
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

    /// Returns the [owner](RunBuilder::owner), or `None` in a program with one user.
    pub fn owner(&self) -> Option<&str> {
        self.0.owner.as_deref()
    }

    /// Returns the application's [data](RunBuilder::meta), or `null`.
    pub fn meta(&self) -> &Value {
        &self.0.meta
    }

    /// Returns the [provider](tool_core::dialect::Dialect::provider) whose format the messages have. `None` before the
    /// first use of a dialect.
    pub fn dialect(&self) -> Option<&str> {
        self.0.dialect.as_deref()
    }

    /// Returns the id of the calling run, if this is the run of an agent that was called as a tool.
    pub fn parent(&self) -> Option<&str> {
        self.0.parent.as_deref()
    }

    pub(super) fn set_dialect(&mut self, dialect: &str) {
        Arc::make_mut(&mut self.0).dialect = Some(dialect.to_owned());
    }
}

/// Leaves out the application's data, which may be secret.
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

    /// Sets the id of the user who owns the run. It never changes. The calls of the run have the rights of this user,
    /// whoever continues it. Spaces at both ends are removed.
    pub fn owner(mut self, user: impl Into<String>) -> Self {
        self.info.owner = Some(user.into().trim().to_owned());
        self
    }

    /// Sets the id of the calling run.
    #[cfg(feature = "dynamic")]
    pub(crate) fn parent(mut self, run: &str) -> Self {
        self.info.parent = Some(run.to_owned());
        self
    }

    /// Sets data of the application. It is saved with the run and never changes.
    pub fn meta(mut self, meta: impl Into<Value>) -> Self {
        self.info.meta = meta.into();
        self
    }

    /// Sets the settings.
    pub fn settings(mut self, settings: RunSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the request settings of the run; see [`Run::set_request_options`].
    pub fn request_options(mut self, options: RequestOptions) -> Self {
        self.options = Some(options);
        self
    }

    /// Creates the run.
    pub fn build(self) -> Run {
        Run::created(RunInfo(Arc::new(self.info)), self.settings, self.options)
    }
}
