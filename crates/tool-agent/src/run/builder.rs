//! [`RunBuilder`]: creates a run.

use serde_json::Value;
use tool_core::dialect::RequestOptions;

use super::Run;
use super::info::RunInfo;
use super::settings::RunSettings;

/// A run that is being created; see [`Run::builder`].
///
/// ```
/// use serde_json::json;
/// use tool_agent::run::{Run, RunSettings};
///
/// let run = Run::builder("conversation-1")
///     .owner("user-7")
///     .meta(json!({"case": 4711}))
///     .settings(RunSettings::default().max_rounds(8))
///     .build();
/// assert_eq!(run.info().owner(), Some("user-7"));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RunBuilder {
    info: RunInfo,
    settings: RunSettings,
    options: Option<RequestOptions>,
}

/// Creates runs.
impl Run {
    /// Creates a run without an owner, for a program with one user. The id identifies it in a [`Journal`](super::Journal) and is part
    /// of its calls' [idempotency keys](tool_core::CallContext::idempotency_key), so it must be unique, as
    /// those of [`unique`](Run::unique) are. If you have several users, give the run an [owner](RunBuilder::owner).
    pub fn new(id: impl Into<String>) -> Run {
        Run::builder(id).build()
    }

    /// Creates a run with an [owner](RunBuilder::owner), or with settings other than the default.
    pub fn builder(id: impl Into<String>) -> RunBuilder {
        RunBuilder::new(id.into())
    }

    /// Creates a run with a [random id](super::random_id).
    ///
    /// ```
    /// use tool_agent::run::Run;
    ///
    /// let run = Run::unique().owner("user-7").build();
    /// assert_ne!(run.id(), Run::unique().build().id());
    /// ```
    pub fn unique() -> RunBuilder {
        Run::builder(super::random_id())
    }
}

impl RunBuilder {
    pub(super) fn new(id: String) -> RunBuilder {
        let mut info = RunInfo::default();
        info.info_mut().id = id;
        RunBuilder {
            info,
            settings: RunSettings::default(),
            options: None,
        }
    }

    /// Sets the id of the user who owns the run. It never changes. The calls of the run have the rights of this user,
    /// whoever continues it. Spaces at both ends are removed.
    pub fn owner(mut self, user: impl Into<String>) -> Self {
        self.info.info_mut().owner = Some(user.into().trim().to_owned());
        self
    }

    /// Sets the id of the calling run.
    #[cfg(feature = "dynamic")]
    pub(crate) fn parent(mut self, run: &str) -> Self {
        self.info.info_mut().parent = Some(run.to_owned());
        self
    }

    /// Sets data of the application. It is saved with the run and never changes.
    pub fn meta(mut self, meta: impl Into<Value>) -> Self {
        self.info.info_mut().meta = meta.into();
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
        Run::created(self.info, self.settings, self.options)
    }
}
