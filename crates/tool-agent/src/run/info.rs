//! [`RunInfo`]: the fixed data of a run.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::registry::ResultScope;

/// The fixed data of a [`Run`](super::Run): its id, its owner, and data of the application. Cheap to clone.
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
pub(super) struct Info {
    pub(super) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) owner: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) meta: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dialect: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
}

impl RunInfo {
    /// Returns the id of the run.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the [owner](super::RunBuilder::owner), or `None` in a program with one user.
    pub fn owner(&self) -> Option<&str> {
        self.0.owner.as_deref()
    }

    /// Returns the application's [data](super::RunBuilder::meta), or `null`.
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

    /// Returns the scope of the run's results that a [store](tool_core::RegistryBuilder::spill) keeps. An
    /// [`Agent`](crate::Agent) attaches it to the calls of a registry with a store. Another run, or a run of another owner, has another.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tool_agent::run::Run;
    /// use tool_core::registry::{ResultStore, ResultStoreError};
    ///
    /// /// Returns the whole text of a result, for a page that shows the run.
    /// async fn whole(
    ///     store: &dyn ResultStore,
    ///     run: &Run,
    ///     handle: &str,
    /// ) -> Result<Option<Arc<str>>, ResultStoreError> {
    ///     store.read(&run.info().result_scope(), handle).await
    /// }
    /// ```
    pub fn result_scope(&self) -> ResultScope {
        // A store may keep it longer than the program runs, so its form must not change.
        ResultScope::new(json!(["run", self.id(), self.owner()]).to_string())
    }

    pub(super) fn set_dialect(&mut self, dialect: &str) {
        self.info_mut().dialect = Some(dialect.to_owned());
    }

    pub(super) fn info_mut(&mut self) -> &mut Info {
        Arc::make_mut(&mut self.0)
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
