//! [`Fallback`]: the models that go on when another one is down.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tool_core::dialect::Dialect;
use tool_core::registry::RequestCache;

use super::prices::Prices;
use crate::guarded::caught;
use crate::model::{Model, ModelError, ModelErrorKind};
use crate::run::ServerId;

/// The models that answer an agent's requests when its first one is down; see [`Agent::fallback`](crate::Agent::fallback).
///
/// ```
/// use std::time::Duration;
///
/// use tool_agent::dialects::{Anthropic, OpenAiChat, server};
/// use tool_agent::model::ModelErrorKind;
/// use tool_agent::testing::ScriptedModel;
/// use tool_agent::{Agent, Fallback};
/// use tool_core::Registry;
///
/// // `HttpModel`s in a program.
/// let [first, second, third] = [(); 3].map(|()| ScriptedModel::new([]));
/// let fallback = Fallback::to(server::GROQ, second)
///     .or(Anthropic::default(), third)
///     // Besides outages, a key that has expired.
///     .on(|error| error.is_retryable() || error.kind() == ModelErrorKind::Unauthorized)
///     .pause(Duration::from_secs(300));
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), first).fallback(fallback);
/// # let _ = agent;
/// ```
#[doc(alias("failover"))]
#[derive(Clone)]
pub struct Fallback {
    pub(super) others: Vec<Speaker>,
    goes_on: Arc<dyn Fn(&ModelError) -> bool + Send + Sync>,
    pause: Duration,
    /// When the pause of each model ends. Shared by clones of the agent, so that its runs learn from each other.
    down: Arc<Mutex<Vec<Option<Instant>>>>,
}

/// A model, and the format in which it is asked.
#[derive(Clone)]
pub(super) struct Speaker {
    pub(super) dialect: Arc<dyn Dialect>,
    pub(super) model: Arc<dyn Model>,
    /// Kept here, because layers hide the model's name.
    pub(super) name: Option<Arc<str>>,
    pub(super) server: ServerId,
    pub(super) requests: Arc<RequestCache>,
    /// If they differ from the agent's.
    pub(super) prices: Option<Prices>,
}

impl Speaker {
    pub(super) fn new(dialect: impl Dialect + 'static, model: impl Model + 'static) -> Speaker {
        Speaker {
            dialect: Arc::new(dialect),
            name: model.name().map(Arc::from),
            model: Arc::new(model),
            server: ServerId::default(),
            requests: Arc::default(),
            prices: None,
        }
    }

    /// Returns the name of the model and its provider, for events.
    pub(super) fn shown(&self) -> String {
        let provider = self.dialect.http_api().map(|api| api.provider);
        let provider = provider.unwrap_or_else(|| self.dialect.provider());
        match &self.name {
            Some(name) => format!("{name} at {provider}"),
            None => provider.to_owned(),
        }
    }
}

impl Fallback {
    /// Goes to this model if the agent's own is down. The dialect is that of its provider, which may be another one.
    ///
    /// By default, a model is down if it can't be reached or gives no answer in time, is overloaded or fails, or limits the
    /// rate of requests. `Agent::retry` (feature `tower`) first repeats the request. The agent comes back after a
    /// minute.
    pub fn to(dialect: impl Dialect + 'static, model: impl Model + 'static) -> Fallback {
        let fallback = Fallback {
            others: Vec::new(),
            goes_on: Arc::new(|error| {
                matches!(
                    error.kind(),
                    ModelErrorKind::Connection
                        | ModelErrorKind::TimedOut
                        | ModelErrorKind::Overloaded
                        | ModelErrorKind::RateLimited
                )
            }),
            pause: Duration::from_secs(60),
            down: Arc::default(),
        };
        fallback.or(dialect, model)
    }

    /// Adds a model for the case that all before it are down.
    #[must_use]
    pub fn or(mut self, dialect: impl Dialect + 'static, model: impl Model + 'static) -> Self {
        self.others.push(Speaker::new(dialect, model));
        self
    }

    /// Sets the prices of the model that was added last. By default, they are [those of the agent](crate::Agent::prices).
    ///
    /// ```
    /// use tool_agent::dialects::{Anthropic, OpenAiChat};
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, Fallback, Prices};
    /// use tool_core::Registry;
    ///
    /// let [cheap, other] = [(); 2].map(|()| ScriptedModel::new([]));
    /// let fallback = Fallback::to(Anthropic::default(), other).prices(Prices::new(3_000_000, 15_000_000));
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), cheap)
    ///     .prices(Prices::new(250_000, 2_000_000))
    ///     .fallback(fallback);
    /// # let _ = agent;
    /// ```
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        if let Some(last) = self.others.last_mut() {
            last.prices = Some(prices);
        }
        self
    }

    /// Sets the errors on which the next model is asked. If the closure panics, the error ends the run.
    #[must_use]
    pub fn on(mut self, goes_on: impl Fn(&ModelError) -> bool + Send + Sync + 'static) -> Self {
        self.goes_on = Arc::new(goes_on);
        self
    }

    /// Sets for how long a model is left alone after it was down. Zero asks the first model in each request. A platform
    /// without a clock does that, too.
    #[must_use]
    pub fn pause(mut self, time: Duration) -> Self {
        self.pause = time;
        self
    }

    /// Returns `true` if the next model is asked after an error.
    pub(super) fn goes_on(&self, error: &ModelError) -> bool {
        caught("the fallback", || (self.goes_on)(error)).unwrap_or(false)
    }

    /// Returns the positions of the models in the order in which to ask them. The agent's own has the position 0, and
    /// models that are down come last.
    pub(super) fn order(&self) -> Vec<usize> {
        let down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        let is_down = |at: &usize| {
            let end = down.get(*at).copied().flatten();
            end.is_some_and(|end| Instant::now() < end)
        };
        let mut order: Vec<_> = (0..=self.others.len()).collect();
        order.sort_by_key(is_down);
        order
    }

    /// Remembers that a model is down.
    pub(super) fn failed(&self, at: usize) {
        let mut down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        down.resize(self.others.len() + 1, None);
        down[at] = time_after(self.pause);
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others: Vec<_> = self.others.iter().map(Speaker::shown).collect();
        f.debug_struct("Fallback")
            .field("others", &others)
            .field("pause", &self.pause)
            .finish_non_exhaustive()
    }
}

/// Returns the time after a duration, on platforms with a clock. Does not use the runtime's timers, which may be late.
pub(super) fn time_after(duration: Duration) -> Option<Instant> {
    let has_clock = cfg!(not(all(target_family = "wasm", target_os = "unknown")));
    if has_clock {
        Instant::now().checked_add(duration)
    } else {
        None
    }
}
