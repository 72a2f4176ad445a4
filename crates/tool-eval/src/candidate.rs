//! [`Candidate`]: a model to evaluate.

use std::fmt;

use tool_agent::Agent;

use crate::recordings::{Recordings, Replay};

/// A model to evaluate, as an agent with its registry, its dialect and its model.
///
/// ```no_run
/// # #[cfg(feature = "http")]
/// # fn main() -> Result<(), tool_eval::EvalError> {
/// use tool_agent::Agent;
/// use tool_agent::model::HttpModel;
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
/// use tool_eval::{Candidate, Case, Eval};
///
/// let models = ["qwen3", "llama3.3"].map(|name| {
///     let dialect = OpenAiChat::default();
///     let model = HttpModel::new(&dialect, name).base_url("http://localhost:11434/v1");
///     Candidate::new(name, Agent::new(Registry::linked().unwrap(), dialect, model))
/// });
/// let eval = Eval::new([Case::new("greeting", "Hello!").no_call()]).repeats(5);
/// println!("{}", eval.run_blocking(models)?);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "http"))]
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct Candidate {
    pub(crate) name: String,
    pub(crate) agent: Agent,
    pub(crate) replay: Option<Replay>,
    pub(crate) is_recorded: bool,
}

impl Candidate {
    /// Creates a candidate. The name appears in reports and baselines.
    ///
    /// The agent's prices determine the cost of an attempt. Its journal and its listener are not used. Its closures for
    /// calls and context values are used only in cases that [run tools](crate::Case::run_tools).
    pub fn new(name: impl Into<String>, agent: Agent) -> Candidate {
        Candidate {
            name: name.into(),
            agent,
            replay: None,
            is_recorded: false,
        }
    }

    /// Answers with recorded responses instead of asking the model. If the tools, the case or its results have changed
    /// since, the attempt fails, because the model might answer differently now.
    pub fn replay(mut self, recordings: Recordings) -> Self {
        self.replay = Some(Replay::Attempts(recordings));
        self
    }

    /// Keeps the responses in [`ModelReport::recordings`](crate::ModelReport::recordings).
    pub fn record(mut self) -> Self {
        self.is_recorded = true;
        self
    }

    /// Retries failed requests, like [`Agent::retry`].
    #[cfg(feature = "tower")]
    pub fn retry(mut self, policy: tool_agent::model::Retry) -> Self {
        self.agent = self.agent.retry(policy);
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
