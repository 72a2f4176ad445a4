//! Helper models: a model asks other models, each in a separate process.
//!
//! [`Submodels`] is a toolset with three tools: `submodel_batch` asks questions, in parallel, and returns
//! the answers in the order of the questions; `submodel_list` lists the open helpers and `submodel_close`
//! ends some. Each helper is a child process of this program that runs an [`Agent`] and [serves](serve) it
//! to its parent, over the Model Context Protocol on standard input and output. Cancellation, progress and
//! ping are the protocol's.
//!
//! One program can be both: it looks at [`is_helper`] first.
//!
//! ```no_run
//! use tokio::process::Command;
//! use tool_agent::Agent;
//! use tool_agent::dialects::Anthropic;
//! use tool_agent::testing::ScriptedModel;
//! use tool_core::Registry;
//! use tool_mcp::submodel::{self, Submodels};
//!
//! /// The agent of a helper. A program would use a model of a provider.
//! fn helper() -> Agent {
//!     Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     if submodel::is_helper() {
//!         return Ok(submodel::serve(helper()).await?);
//!     }
//!     let mut command = Command::new(std::env::current_exe()?);
//!     // A helper gets only the variables that are set here.
//!     command.env("API_KEY", std::env::var("API_KEY")?);
//!     let registry = Registry::builder().toolset("", Submodels::new(command)).build()?;
//!     println!("{} tools", registry.len());
//!     Ok(())
//! }
//! ```
//!
//! # Conversations
//!
//! A question without the name of a helper goes to a new process, which ends after its answer. A question with a
//! name goes to the helper of that name. It is started when it is first asked, and keeps its conversation until
//! `submodel_close` ends it. Questions to one helper are asked one after the other. A question that fails or is
//! cancelled leaves the conversation as it was before.
//!
//! A helper that dies, that does not answer a ping, or that takes too long is ended, and its conversation is
//! lost: its question gets an error that says so, the other questions are not affected, and the next question
//! with its name starts a new process. If it dies between two questions, the second one gets the error, so that no
//! conversation is lost silently.
//!
//! # Limits
//!
//! | limit | default |
//! |---|---|
//! | [questions answered at one time](Submodels::concurrency) | 4 |
//! | questions in one batch | 64 |
//! | [questions in all](Submodels::max_questions) | 1,000 |
//! | [open helpers with a name](Submodels::max_helpers) | 8 |
//! | [helpers of helpers](Submodels::max_depth) | none |
//! | [time for a question](Submodels::question_timeout) | 5 minutes |
//! | [time for a start](Submodels::start_timeout) | 30 seconds |
//! | [time for a ping](Submodels::ping_interval) | 5 seconds |
//! | [bytes of an answer](Submodels::max_answer_bytes) | 16 KiB |
//!
//! The output of a process is bounded, too: a longer message is dropped, and so is everything that is not a
//! message.
//!
//! # The end
//!
//! Helpers end with the [`Submodels`], and thus with the registry. If the parent is killed, its helpers notice
//! that their standard input is closed, and so do theirs. On Linux, a stopped helper is continued when its
//! parent ends. The processes that its tools started are killed if they are in its process group, and so is a helper
//! whose program does not return from `main` within two seconds. A process of another program, which does not call [`serve`], ends with
//! the `Submodels`, but not if the parent is killed and it ignores the end of its input.

mod child;
mod helpers;
mod shared;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Command;
use tool_core::{CallContext, ToolType, toolset};

use self::helpers::Helpers;
use self::shared::{Answer, Closed, Listed, Question, State};
use crate::import::direct::Program;

pub use self::child::{is_helper, serve};
#[cfg(doc)]
use tool_agent::Agent;

/// Helper models as tools: a toolset of `submodel_batch`, `submodel_list` and `submodel_close`.
///
/// Add it with [`RegistryBuilder::toolset`](tool_core::RegistryBuilder::toolset). Its calls need a runtime
/// of tokio: the runtime of the thread that creates the value, or else the runtime of the first call.
/// Dropping it ends all helpers. See the [module](self) for an explanation of helpers and an example.
///
/// ```no_run
/// use std::time::Duration;
/// use tokio::process::Command;
/// use tool_core::Registry;
/// use tool_mcp::submodel::Submodels;
///
/// let helpers = Submodels::new(Command::new("my-helper"))
///     .concurrency(2)
///     .question_timeout(Duration::from_secs(60));
/// let registry = Registry::builder().toolset("", helpers).build()?;
/// assert!(registry.get("submodel_batch").is_some());
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
pub struct Submodels {
    helpers: Arc<Helpers>,
}

// A parameter, because strict tools of Cohere need one: the crate has to compile with the feature `cohere`.
/// The helpers to list.
#[derive(Debug, PartialEq, Eq, ToolType)]
#[serde(rename_all = "snake_case")]
enum Which {
    All,
    /// Without helpers whose process has ended.
    Running,
}

impl Submodels {
    /// Creates a set of helpers that are processes of this command: of tokio or std.
    ///
    /// The processes get only the variables that are set on the command, none of this process. Their program
    /// must call [`serve`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use tokio::process::Command;
    /// use tool_core::Registry;
    /// use tool_mcp::submodel::Submodels;
    ///
    /// let helpers = Submodels::new(Command::new("/usr/local/bin/helper"))
    ///     .concurrency(2)
    ///     .question_timeout(Duration::from_secs(60));
    /// let registry = Registry::builder().toolset("", helpers).build()?;
    /// assert_eq!(registry.len(), 3);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn new(command: impl Into<Command>) -> Submodels {
        let helpers = Arc::new(Helpers::new(Program::new(command.into())));
        Submodels { helpers }
            .max_depth(1)
            .max_answer_bytes(16 << 10)
            .start_timeout(Duration::from_secs(30))
    }

    fn change(mut self, change: impl FnOnce(&mut Helpers)) -> Submodels {
        // Only a running call has a clone, and it borrows `self`.
        if let Some(helpers) = Arc::get_mut(&mut self.helpers) {
            change(helpers);
        }
        self
    }

    /// Sets how many questions are answered at one time. Further questions wait. 4 by default.
    ///
    /// # Panics
    ///
    /// Panics if it is 0.
    pub fn concurrency(self, questions: usize) -> Submodels {
        assert!(questions > 0, "at least one question must be answered");
        self.change(|helpers| helpers.set_concurrency(questions))
    }

    /// Sets how many helpers with a name may be open at one time. A question to another helper then gets an
    /// error. 8 by default.
    pub fn max_helpers(self, count: usize) -> Submodels {
        self.change(|helpers| helpers.max_named = count)
    }

    /// Sets how many questions are asked in the life of this value. Further questions get an error. 1,000
    /// by default.
    pub fn max_questions(self, count: usize) -> Submodels {
        self.change(|helpers| *helpers.questions_left.get_mut() = count)
    }

    /// Sets how many levels of helpers there may be below this process. With 1, which is the default, helpers
    /// have no helpers. A helper gets one level less than its parent, whatever it sets itself.
    pub fn max_depth(self, levels: u32) -> Submodels {
        self.change(|helpers| helpers.set_levels(levels))
    }

    /// Sets how long a question may take, from when it is sent. A helper that takes longer is ended. 5 minutes
    /// by default.
    pub fn question_timeout(self, time: Duration) -> Submodels {
        self.change(|helpers| helpers.question_timeout = time)
    }

    /// Sets how long a process may take until it is ready for its first question. 30 seconds by default.
    pub fn start_timeout(self, time: Duration) -> Submodels {
        self.change(|helpers| helpers.program.set_start_timeout(time))
    }

    /// Sets the time between two pings to a helper that answers a question. A helper that has not answered a
    /// ping when the next is due is ended. 5 seconds by default, at least 10 milliseconds.
    pub fn ping_interval(self, time: Duration) -> Submodels {
        self.change(|helpers| helpers.ping_interval = time.max(Duration::from_millis(10)))
    }

    /// Sets the maximum length of an answer in bytes. A longer one is truncated, with a note. 16 KiB by
    /// default.
    pub fn max_answer_bytes(self, bytes: usize) -> Submodels {
        self.change(|helpers| helpers.set_max_answer(bytes))
    }

    /// Passes the standard error of the helpers on to this process's. Without it, the last lines are
    /// in the log if a helper can't be started. The model sees neither.
    pub fn inherit_stderr(self) -> Submodels {
        self.change(|helpers| helpers.program.inherit_stderr())
    }
}

#[toolset]
impl Submodels {
    /// Asks helper models, in parallel. Returns the answers in the order of the questions.
    #[tool]
    async fn submodel_batch(
        &self,
        #[param(length = 1..=64)] questions: Vec<Question>,
        call: &CallContext,
    ) -> Result<Vec<Answer>, String> {
        self.helpers.clone().batch(questions, call.clone()).await
    }

    /// Lists the helper models that remember their questions.
    #[tool(read_only)]
    fn submodel_list(&self, which: Which) -> Vec<Listed> {
        let mut listed = self.helpers.list();
        listed.retain(|helper| which == Which::All || !matches!(helper.state, State::Ended));
        listed
    }

    /// Ends helper models, which lose their memory. Their questions that are not answered yet get an error.
    ///
    /// # Arguments
    /// * `helpers` - Their names.
    #[tool(idempotent)]
    async fn submodel_close(
        &self,
        #[param(length = 1..)] helpers: Vec<String>,
    ) -> Result<Closed, String> {
        self.helpers.clone().close(helpers).await
    }
}

impl fmt::Debug for Submodels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submodels").finish_non_exhaustive()
    }
}
