//! Parts of the application that a server may use besides its user: the model, the roots, the log. Each is
//! off by default, and then the server is not told of it.

// The protocol deprecates all of them, but servers still use them.
#![expect(deprecated)]

use std::collections::VecDeque;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use rmcp::model::{CreateMessageResult, LoggingLevel, LoggingMessageNotificationParam};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tool_core::CallContext;
use tool_core::runtime::BoxFuture;

use super::secrets::{Secrets, shorten};
use crate::lock;

/// The most bytes of a request to the model.
const MAX_SAMPLE: usize = 1 << 20;

/// The most requests to the model at the same time.
const MAX_SAMPLES: usize = 4;

/// The most requests to the model in a minute.
const SAMPLES_A_MINUTE: usize = 60;

/// The most messages of a log in a second. Further ones are dropped.
const MESSAGES_A_SECOND: usize = 100;

/// The most bytes of a message of a log. A longer one is truncated.
const MAX_MESSAGE: usize = 16 << 10;

/// A request of a server to the model of the application, passed to the handler of
/// [`ImportBuilder::on_sample`](crate::ImportBuilder::on_sample).
///
/// ```
/// use serde_json::{Value, json};
/// use tool_mcp::Sample;
///
/// /// Answers without a model.
/// async fn answer(sample: Sample) -> Result<Value, String> {
///     let count = sample.params["messages"].as_array().map_or(0, Vec::len);
///     Ok(json!({
///         "role": "assistant",
///         "content": {"type": "text", "text": format!("{count} messages of {}", sample.server)},
///         "model": "none",
///     }))
/// }
///
/// let builder = tool_mcp::Import::command(tokio::process::Command::new("notes")).on_sample(answer);
/// # let _ = builder;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sample {
    /// The name of the import; see [`ImportBuilder::name`](crate::ImportBuilder::name).
    pub server: String,
    /// The call that the server needs the answer for, if that is known; see [`Elicitation::call`](super::Elicitation::call).
    pub call: Option<CallContext>,
    /// The parameters of `sampling/createMessage` in the form of the protocol: `messages`, `maxTokens` and often
    /// `systemPrompt`. Another program wrote them.
    pub params: Value,
}

/// A message of the log of a server, passed to the handler of [`ImportBuilder::on_log`](crate::ImportBuilder::on_log).
///
/// ```
/// use tool_mcp::{LogLevel, LogMessage};
///
/// fn print(message: LogMessage) {
///     if message.level >= LogLevel::Warning {
///         eprintln!("{}: {}", message.server, message.text);
///     }
/// }
///
/// let builder = tool_mcp::Import::command(tokio::process::Command::new("notes")).on_log(LogLevel::Info, print);
/// # let _ = builder;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogMessage {
    /// The name of the import; see [`ImportBuilder::name`](crate::ImportBuilder::name).
    pub server: String,
    /// How serious it is, as the server says.
    pub level: LogLevel,
    /// The part of the server that writes.
    pub logger: Option<String>,
    /// The message, or JSON text if it is no string. Secrets of the import are redacted, and it has at most 16 KiB.
    pub text: String,
}

/// How serious a message of a log is (RFC 5424).
///
/// ```
/// use tool_mcp::LogLevel;
///
/// assert!(LogLevel::Error > LogLevel::Info);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Details for finding a fault.
    Debug,
    /// A normal event.
    Info,
    /// An unusual event.
    Notice,
    /// A possible problem.
    Warning,
    /// A failure.
    Error,
    /// A part of the server has failed.
    Critical,
    /// Somebody has to act.
    Alert,
    /// The server can't be used.
    Emergency,
}

impl LogLevel {
    fn of(level: LoggingLevel) -> LogLevel {
        match level {
            LoggingLevel::Debug => LogLevel::Debug,
            LoggingLevel::Info => LogLevel::Info,
            LoggingLevel::Notice => LogLevel::Notice,
            LoggingLevel::Warning => LogLevel::Warning,
            LoggingLevel::Error => LogLevel::Error,
            LoggingLevel::Critical => LogLevel::Critical,
            LoggingLevel::Alert => LogLevel::Alert,
            LoggingLevel::Emergency => LogLevel::Emergency,
        }
    }

    /// Returns the level as the protocol has it.
    pub(super) fn to_wire(self) -> LoggingLevel {
        match self {
            LogLevel::Debug => LoggingLevel::Debug,
            LogLevel::Info => LoggingLevel::Info,
            LogLevel::Notice => LoggingLevel::Notice,
            LogLevel::Warning => LoggingLevel::Warning,
            LogLevel::Error => LoggingLevel::Error,
            LogLevel::Critical => LoggingLevel::Critical,
            LogLevel::Alert => LoggingLevel::Alert,
            LogLevel::Emergency => LoggingLevel::Emergency,
        }
    }
}

type Sampling = dyn Fn(Sample) -> BoxFuture<Result<Value, String>> + Send + Sync;
type Logging = dyn Fn(LogMessage) + Send + Sync;

/// The capabilities that the application gives to the server.
#[derive(Clone, Default)]
pub(super) struct Capabilities {
    sampler: Option<Arc<Sampler>>,
    pub(super) roots: Option<Vec<String>>,
    log: Option<Arc<Log>>,
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capabilities")
            .field("samples", &self.samples())
            .field("roots", &self.roots)
            .field("log", &self.log_level())
            .finish_non_exhaustive()
    }
}

impl Capabilities {
    pub(super) fn on_sample<F>(&mut self, answer: impl Fn(Sample) -> F + Send + Sync + 'static)
    where
        F: Future<Output = Result<Value, String>> + Send + 'static,
    {
        self.sampler = Some(Arc::new(Sampler {
            answer: Box::new(move |sample| Box::pin(answer(sample))),
            running: Semaphore::new(MAX_SAMPLES),
            rate: Recent::new(SAMPLES_A_MINUTE, Duration::from_secs(60)),
        }));
    }

    pub(super) fn on_log(
        &mut self,
        level: LogLevel,
        listener: impl Fn(LogMessage) + Send + Sync + 'static,
    ) {
        self.log = Some(Arc::new(Log {
            level,
            listener: Box::new(listener),
            rate: Recent::new(MESSAGES_A_SECOND, Duration::from_secs(1)),
        }));
    }

    /// Returns `true` if there is a handler of requests to the model.
    pub(super) fn samples(&self) -> bool {
        self.sampler.is_some()
    }

    /// Returns the least serious level that the application wants.
    pub(super) fn log_level(&self) -> Option<LogLevel> {
        Some(self.log.as_ref()?.level)
    }

    /// Returns the roots in the form of the protocol.
    pub(super) fn roots(&self) -> Value {
        let roots = self.roots.iter().flatten();
        json!({ "roots": roots.map(|uri| json!({ "uri": uri })).collect::<Vec<_>>() })
    }

    /// Asks the model. The error is for the server.
    pub(super) async fn sample(&self, sample: Sample) -> Result<CreateMessageResult, String> {
        let Some(sampler) = &self.sampler else {
            return Err("the client asks no model".into());
        };
        sampler.ask(sample).await
    }

    /// Passes a message of the log on.
    pub(super) fn log(
        &self,
        server: &str,
        secrets: &Secrets,
        message: &LoggingMessageNotificationParam,
    ) {
        let Some(log) = &self.log else {
            return;
        };
        let level = LogLevel::of(message.level);
        if level < log.level || !log.rate.admits() {
            return;
        }
        let text = match &message.data {
            Value::String(text) => secrets.redact(text),
            data => secrets.redact(data.to_string()),
        };
        let logger = message.logger.as_ref();
        let message = LogMessage {
            server: server.to_owned(),
            level,
            logger: logger.map(|logger| shorten(&secrets.redact(logger), 100).into_owned()),
            text: shorten(&text, MAX_MESSAGE - '…'.len_utf8()).into_owned(),
        };
        // A panic must not end the connection. The panic hook has reported it.
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| (log.listener)(message)));
    }
}

struct Sampler {
    answer: Box<Sampling>,
    running: Semaphore,
    rate: Recent,
}

impl Sampler {
    async fn ask(&self, sample: Sample) -> Result<CreateMessageResult, String> {
        let size = sample.params.to_string().len();
        if size > MAX_SAMPLE {
            return Err(format!(
                "the request to the model has {size} bytes; the most are {MAX_SAMPLE}"
            ));
        }
        let Ok(_permit) = self.running.try_acquire() else {
            return Err(format!(
                "{MAX_SAMPLES} requests to the model are running, which is the most; wait for one"
            ));
        };
        if !self.rate.admits() {
            return Err(format!(
                "there were {SAMPLES_A_MINUTE} requests to the model in a minute, which is the most; try again later"
            ));
        }
        let running = AssertUnwindSafe(async { (self.answer)(sample).await }).catch_unwind();
        let answer = running
            .await
            .unwrap_or_else(|_| Err("the model failed".into()))?;
        serde_json::from_value(answer).map_err(|error| {
            tracing::warn!(%error, "the answer of `on_sample` is not what MCP allows");
            "the model failed".into()
        })
    }
}

struct Log {
    level: LogLevel,
    listener: Box<Logging>,
    rate: Recent,
}

/// Counts what happened lately.
struct Recent {
    most: usize,
    time: Duration,
    last: Mutex<VecDeque<Instant>>,
}

impl Recent {
    fn new(most: usize, time: Duration) -> Recent {
        Recent {
            most,
            time,
            last: Mutex::default(),
        }
    }

    /// Returns `false` for one too many.
    fn admits(&self) -> bool {
        let now = Instant::now();
        let mut last = lock(&self.last);
        while last.front().is_some_and(|at| now - *at >= self.time) {
            last.pop_front();
        }
        let has_room = last.len() < self.most;
        if has_room {
            last.push_back(now);
        }
        has_room
    }
}
