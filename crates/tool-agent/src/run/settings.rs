//! [`RunSettings`]: the limits of a run, and the settings of its requests.

use serde::{Deserialize, Serialize};

use super::Run;
use super::change::Change;
use tool_core::dialect::RequestOptions;

/// The settings of a [`Run`]. The limits apply from one message of the user to the next.
///
/// ```
/// use serde_json::json;
/// use tool_agent::Agent;
/// use tool_agent::run::{Run, RunOutcome, RunSettings};
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
/// use tool_core::dialect::OpenAiChat;
///
/// let call = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
///     {"id": "call_1", "type": "function", "function": {"name": "no_such_tool", "arguments": "{}"}},
/// ]}}]});
/// let answer = json!({"choices": [{"message": {"role": "assistant", "content": "I can't."}}]});
/// let model = ScriptedModel::new([call, answer]);
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
///
/// let mut settings = RunSettings::default();
/// settings.max_rounds = 1;
/// let mut run = Run::builder("run-1").settings(settings).build();
/// run.push(agent.dialect().user_message("Go."))?;
/// assert_eq!(agent.run_blocking(&mut run)?, RunOutcome::OutOfRounds);
///
/// // With a higher limit, the run goes on.
/// settings.max_rounds = 2;
/// run.set_settings(settings);
/// assert_eq!(agent.run_blocking(&mut run)?, RunOutcome::Answered("I can't.".into()));
/// # Ok::<(), tool_agent::AgentError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunSettings {
    /// The maximum number of requests to the model. 16 by default.
    pub max_rounds: u32,
    /// The maximum number of calls, also of those in one response. Further calls get an error, and then the run ends. 256 by
    /// default.
    pub max_calls: u32,
    /// The run ends before the next request once it used this many tokens, as the provider counts
    /// them.
    pub max_tokens: u64,
    /// The run ends before the next request once it cost this much, in millionths of the currency of
    /// [`Agent::prices`](crate::Agent::prices). Without prices, an agent refuses a run with this limit; a response of
    /// unknown usage reaches it.
    pub max_micros: u64,
    /// The run ends when calls of one tool failed this often in a row. What has not started by then is not run.
    pub max_failures: u32,
    /// `Some(true)` runs all calls of a response concurrently, `Some(false)` one after the other.
    pub parallel: Option<bool>,
    /// The maximum number of calls in the background that have no result. A further one is not run, and the model is told
    /// so. 16 by default.
    pub max_background: u32,
}

impl Default for RunSettings {
    fn default() -> RunSettings {
        RunSettings {
            max_rounds: 16,
            max_calls: 256,
            max_tokens: u64::MAX,
            max_micros: u64::MAX,
            max_failures: u32::MAX,
            parallel: None,
            max_background: 16,
        }
    }
}

/// Changes settings.
impl Run {
    /// Returns the settings.
    pub fn settings(&self) -> &RunSettings {
        &self.state.settings
    }

    /// Replaces the settings. A run that ended at a limit goes on if the new one is higher.
    pub fn set_settings(&mut self, settings: RunSettings) {
        self.record(Change::Settings(settings));
    }

    /// Returns the settings of its requests, if it has its own.
    pub fn request_options(&self) -> Option<&RequestOptions> {
        self.state.options.as_deref()
    }

    /// Sets the settings of its requests, which take the place of the [agent's](crate::Agent::request_options). With `None`,
    /// they are the agent's. They are saved with the run, so that another process sends the same requests, whatever the
    /// settings of its agent. The agent's type of answers counts if these settings have none.
    ///
    /// A type of answers is saved as its schema. Another process has to know the type: it drives the run with
    /// [`Agent::answer`](crate::Agent::answer), or with an agent of that [type](crate::Agent::answer_type). If its schema
    /// differs, the agent returns [`AgentError::AnswerType`](crate::AgentError::AnswerType).
    ///
    /// ```
    /// use tool_agent::run::Run;
    /// use tool_core::dialect::{RequestOptions, ToolChoice};
    ///
    /// let options = RequestOptions::new().choice(ToolChoice::Required).parallel(false);
    /// let mut run = Run::builder("conversation-1").request_options(options).build();
    /// let saved = serde_json::to_string(&run).unwrap();
    /// assert!(saved.contains("required"));
    ///
    /// run.set_request_options(None);
    /// assert!(run.request_options().is_none());
    /// ```
    pub fn set_request_options(&mut self, options: Option<RequestOptions>) {
        self.record(Change::Options(options.map(Box::new)));
    }
}
