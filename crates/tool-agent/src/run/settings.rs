//! [`RunSettings`]: the limits of a run.

use serde::{Deserialize, Serialize};

/// The settings of a [`Run`](super::Run). The limits count from one message of the user to the next.
///
/// ```
/// use serde_json::json;
/// use tool_agent::Agent;
/// use tool_agent::run::{Run, RunOutcome, RunSettings};
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
///
/// let model = ScriptedModel::default().call("no_such_tool", json!({})).say("I can't.");
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
///
/// let settings = RunSettings::default().max_rounds(1);
/// let mut run = Run::builder("run-1").settings(settings).build();
/// run.push(agent.dialect().user_message("Go."))?;
/// assert_eq!(agent.run_blocking(&mut run)?, RunOutcome::OutOfRounds);
///
/// // With a higher limit, the run continues.
/// run.set_settings(settings.max_rounds(2));
/// assert_eq!(agent.run_blocking(&mut run)?, RunOutcome::Answered("I can't.".into()));
/// # Ok::<(), tool_agent::AgentError>(())
/// ```
#[doc(alias("max_steps", "max_turns", "UsageLimits"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunSettings {
    /// The maximum number of requests to the model. 16 by default.
    pub max_rounds: u32,
    /// The maximum number of calls, counting each call of a response. Further calls get an error, and then the run
    /// ends. 256 by default.
    pub max_calls: u32,
    /// Maximum number of tokens, as the provider counts them. Once it is reached, the run ends before the next request.
    pub max_tokens: u64,
    /// Maximum cost, in millionths of the currency of [`Agent::prices`](crate::Agent::prices). Once it is reached, the
    /// run ends before the next request. An agent without prices refuses a run with this limit. A response of unknown
    /// usage reaches it.
    pub max_micros: u64,
    /// Maximum number of consecutive failures of one tool. Once it is reached, the run ends. Calls that have not
    /// started by then don't run.
    pub max_failures: u32,
    /// `Some(true)` runs all calls of a response concurrently, `Some(false)` one after another.
    pub parallel: Option<bool>,
    /// The maximum number of background calls without a result. A further call does not run, and the model is told so.
    /// 16 by default.
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

macro_rules! settings {
    ($($name:ident: $type:ty,)*) => {$(
        #[doc = concat!("Sets the field `", stringify!($name), "`.")]
        pub const fn $name(mut self, $name: $type) -> RunSettings {
            self.$name = $name;
            self
        }
    )*};
}

/// Settings.
impl RunSettings {
    settings! {
        max_rounds: u32,
        max_calls: u32,
        max_tokens: u64,
        max_micros: u64,
        max_failures: u32,
        parallel: Option<bool>,
        max_background: u32,
    }
}
