//! [`ImportBuilder`]: sets how an import works.

use std::ffi::OsStr;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Command;
use tool_core::call::TraceContext;
use tool_core::call::elicit::Elicited;

use super::backoff::Backoff;
use super::capabilities::{LogLevel, LogMessage, Sample};
use super::connection::Source;
use super::elicit::{Answerer, Elicitation};
use super::environment::Environment;
#[cfg(feature = "client-http")]
use super::http::{TokenSource, Tokens};
#[cfg(feature = "oauth")]
use super::oauth::OAuth;
#[cfg(feature = "oauth")]
use super::oauth::session::Session;
use super::process;
use super::secrets::Secrets;
use super::settings::{Protocol, Settings, Tracer};

/// Settings of an [`Import`](crate::Import).
///
/// ```no_run
/// use std::time::Duration;
/// use tokio::process::Command;
/// use tool_core::Registry;
/// use tool_mcp::{Backoff, Import};
///
/// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new();
/// let import = Import::command(Command::new("notes-server"))
///     .prefix("notes_")
///     .pin("notes.pins.json")
///     .call_timeout(Duration::from_secs(30))
///     .restart(Backoff::default())
///     .connect(&registry)
///     .await?;
/// # let _ = import;
/// # Ok(())
/// # }
/// ```
#[must_use = "an import does nothing until it is connected"]
pub struct ImportBuilder {
    pub(super) source: Source,
    pub(super) settings: Settings,
    pub(super) secrets: Secrets,
}

impl ImportBuilder {
    pub(super) fn new(source: Source, name: String, secrets: Secrets) -> ImportBuilder {
        ImportBuilder {
            source,
            settings: Settings::new(name),
            secrets,
        }
    }

    /// Imports the tools of a program that inherits only these variables.
    pub(super) fn of_command(mut command: Command, inherited: &[&str]) -> ImportBuilder {
        let environment = Environment::restrict(command.as_std_mut(), inherited);
        let std = command.as_std();
        let program = std.get_program().to_string_lossy();
        let name = program
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or(&program)
            .to_owned();
        let mut secrets = Secrets::default();
        for (name, value) in std.get_envs() {
            let is_inherited = inherited.iter().any(|other| name == *other);
            if let Some(value) = value
                && !is_inherited
            {
                secrets.add(&value.to_string_lossy());
            }
        }
        let source = Source::Command {
            command: Box::new(tokio::sync::Mutex::new(command)),
            environment,
            inherits_stderr: false,
        };
        ImportBuilder::new(source, name, secrets)
    }

    /// Adds two tools to the registry, `read_resource` and `get_prompt` after the
    /// [prefix](ImportBuilder::prefix). With them a model can read every resource and get every prompt of
    /// the server. Without this, only your application can, by [`read_resource`](crate::Import::read_resource) and
    /// [`get_prompt`](crate::Import::get_prompt) of the import.
    ///
    /// ```no_run
    /// use tool_core::Registry;
    /// use tool_mcp::Import;
    ///
    /// # async fn import() -> Result<(), tool_mcp::ImportError> {
    /// let registry = Registry::new();
    /// let import = Import::http("https://notes.example.com/mcp").prefix("notes_").resource_tools().connect(&registry).await?;
    /// assert!(registry.get("notes_read_resource").is_some());
    /// # let _ = import;
    /// # Ok(())
    /// # }
    /// ```
    pub fn resource_tools(mut self) -> Self {
        self.settings.offers = true;
        self
    }

    /// Sets the name of the server in errors, logs and questions. The default is the program or the host.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// Puts a prefix before the names of the tools.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.prefix = prefix.into();
        self
    }

    /// Adds tags to all tools, which an application uses to
    /// [select](tool_core::Registry::select_tags) them.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.settings.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Restarts the server, or connects again, when the connection is lost. Without it the tools stay
    /// listed, and their calls fail.
    pub fn restart(mut self, backoff: Backoff) -> Self {
        self.settings.backoff = Some(backoff);
        self
    }

    /// Chooses the version of the protocol. The default is the newest.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.settings.protocol = protocol;
        self
    }

    /// Trusts the server's claims about the effects of its tools: their annotations become the annotations
    /// of the tools in the registry. Without it, the tools have no annotations.
    pub fn trust_annotations(mut self) -> Self {
        self.settings.trusts_annotations = true;
        self
    }

    /// Keeps the names, descriptions, schemas and annotations of the tools in a JSON file. The
    /// first connection accepts all tools and writes the file. Later, a tool that is new or changed is
    /// not added to the registry, and removed from it, until a person [accepts](crate::Import::accept) it. The order of
    /// keys is ignored, and so is the order of the items in a default such as `"labels,status"`, because some servers change it
    /// at each start. Each server needs its own file. [`client!`](crate::client!) makes functions of it.
    ///
    /// A file that can't be read is an error, and accepts nothing.
    ///
    /// ```no_run
    /// use tokio::process::Command;
    /// use tool_mcp::Import;
    ///
    /// let builder = Import::command(Command::new("notes-server")).pin("notes.pins.json");
    /// # let _ = builder;
    /// ```
    pub fn pin(mut self, file: impl Into<PathBuf>) -> Self {
        self.settings.pins = Some(file.into());
        self
    }

    /// Sets the handler of the questions that the server asks the user. Without one, the user of the call is asked
    /// as [`CallContext::elicit`](tool_core::CallContext::elicit) does, such as the user of a [`Server`](crate::Server) with these tools, and
    /// a question without such a user is declined.
    ///
    /// If a question ends the call, which is then [made
    /// again](tool_core::call::elicit#a-tool-may-run-again), a server of version 2026-07-28 goes on where
    /// it asked. An older one runs the call again from its start.
    ///
    /// The clock of a call stops while the user is asked.
    ///
    /// ```no_run
    /// use tool_core::call::elicit::Elicited;
    /// use tool_mcp::Import;
    ///
    /// # fn build(command: tokio::process::Command) {
    /// let import = Import::command(command).on_elicit(async |question| {
    ///     println!("{} asks: {}", question.server, question.request.message);
    ///     Elicited::Declined
    /// });
    /// # }
    /// ```
    pub fn on_elicit<F, R>(mut self, answer: F) -> Self
    where
        F: Fn(Elicitation) -> R + Send + Sync + 'static,
        R: Future<Output = Elicited> + Send + 'static,
    {
        self.settings.answerer = Answerer::new(answer);
        self
    }

    /// Lets the server ask the model of the application (`sampling`), and sets the closure that answers: it
    /// returns the result of `sampling/createMessage` in the form of the protocol, or an error for the
    /// server. Without this, the server does not know that it could ask.
    ///
    /// A server can spend money with this, and its messages are as untrusted as its results. So at most 4
    /// requests run at the same time and 60 in a minute, each of at most 1 MiB; any others fail. The clock
    /// of a call stops while the model is asked. The protocol deprecates sampling since version 2026-07-28.
    ///
    /// See [`Sample`] for an example.
    pub fn on_sample<F, R>(mut self, answer: F) -> Self
    where
        F: Fn(Sample) -> R + Send + Sync + 'static,
        R: Future<Output = Result<serde_json::Value, String>> + Send + 'static,
    {
        self.settings.capabilities.on_sample(answer);
        self
    }

    /// Tells the server which folders to work on (`roots`), as URIs such as `file:///home/ada/project`.
    /// They are a hint and confine nothing. Without this, the server gets none. The protocol deprecates
    /// roots since version 2026-07-28.
    ///
    /// ```
    /// let command = tokio::process::Command::new("mcp-server-filesystem");
    /// let builder = tool_mcp::Import::command(command).roots(["file:///home/ada/project"]);
    /// # let _ = builder;
    /// ```
    pub fn roots(mut self, uris: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let uris = uris.into_iter().map(Into::into).collect();
        self.settings.capabilities.roots = Some(uris);
        self
    }

    /// Calls a closure with each message of the server's log of this level or a more serious one. Without this, they are
    /// dropped. The protocol deprecates logging since version 2026-07-28.
    ///
    /// The closure should return quickly, because the connection waits for it. It gets at most 100 messages in a second, and
    /// the rest is dropped. See [`LogMessage`] for an example.
    pub fn on_log(
        mut self,
        level: LogLevel,
        listener: impl Fn(LogMessage) + Send + Sync + 'static,
    ) -> Self {
        self.settings.capabilities.on_log(level, listener);
        self
    }

    /// Sets a closure that returns the trace of a call, which the server gets in the `_meta` of the
    /// request: `traceparent`, `tracestate` and `baggage`. The closure runs inside the span of the call.
    /// Without it, the server gets the [`TraceContext`] that the call carries, as the calls of a
    /// [`Server`](crate::Server) do.
    ///
    /// ```no_run
    /// use tool_core::call::TraceContext;
    /// use tool_mcp::Import;
    ///
    /// # fn current_traceparent() -> Option<String> { None }
    /// # fn build(command: tokio::process::Command) {
    /// // With `tracing-opentelemetry`: inject `Span::current().context()` into a map with a propagator.
    /// let import = Import::command(command)
    ///     .trace_context(|| TraceContext::new(current_traceparent()?));
    /// # }
    /// ```
    pub fn trace_context(
        mut self,
        current: impl Fn() -> Option<TraceContext> + Send + Sync + 'static,
    ) -> Self {
        self.settings.tracer = Tracer(Some(Arc::new(current)));
        self
    }

    /// Sets the timeout of a connection, including the start of the program. One minute by default.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.settings.connect_timeout = limit;
        self
    }

    /// Sets the timeout of listing the tools, with all pages. 30 seconds by default.
    pub fn list_timeout(mut self, limit: Duration) -> Self {
        self.settings.list_timeout = limit;
        self
    }

    /// Sets the timeout of a call. Two minutes by default. Each progress report starts it again, until the
    /// call has taken ten times as long. It does not run while the user is asked.
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.settings.call_timeout = limit;
        self
    }

    /// Sets how long the server may continue a call as a task, in place of
    /// [`call_timeout`](ImportBuilder::call_timeout). An hour by default, without the time in which the
    /// user is asked. After that the task is cancelled, as it is when the call is cancelled.
    ///
    /// The call waits for the result, and polls as often as the server wants, between ten times a second
    /// and once a minute. A lost connection does not end the task if the server still knows it after a
    /// [restart](ImportBuilder::restart).
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// let import = tool_mcp::Import::http("https://render.example.com/mcp").task_timeout(Duration::from_secs(24 * 3600));
    /// # let _ = import;
    /// ```
    pub fn task_timeout(mut self, limit: Duration) -> Self {
        self.settings.task_timeout = limit;
        self
    }

    /// Sets how long a program may take to end after its standard input is closed, and again after it is
    /// asked to end. After that it is killed. Two seconds by default.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.settings.grace = grace;
        self
    }

    /// Sets the maximum number of tools. Further ones are left out. 1,000 by default.
    pub fn max_tools(mut self, count: usize) -> Self {
        self.settings.max_tools = count;
        self
    }

    /// Sets the maximum size of a message, and of the list of tools, in bytes. A call whose result is
    /// larger fails. 16 MiB by default.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_message = bytes;
        self
    }

    /// Sets an environment variable of the program, in place of one that the command sets. Its value is a secret:
    /// errors and logs do not contain it.
    ///
    /// ```no_run
    /// # fn import() -> Result<(), Box<dyn std::error::Error>> {
    /// let command = tokio::process::Command::new("mcp-server-github");
    /// let import = tool_mcp::Import::command(command)
    ///     .env("GITHUB_TOKEN", std::env::var("GITHUB_TOKEN")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let (name, value) = (name.as_ref(), value.as_ref());
        if let Source::Command {
            command,
            environment,
            ..
        } = &mut self.source
        {
            environment.set(command.get_mut().as_std_mut(), name, value);
            self.secrets.add(&value.to_string_lossy());
        }
        self
    }

    /// Lets the program inherit all environment variables of this process, with every secret in them,
    /// except the variables that the command sets or removes.
    pub fn inherit_env(mut self) -> Self {
        if let Source::Command {
            command,
            environment,
            ..
        } = &mut self.source
        {
            environment.inherit_all(command.get_mut().as_std_mut());
            // Not the number of this program.
            process::count(command.get_mut());
            self.secrets.add_inherited();
        }
        self
    }

    /// Passes the standard error of the program on to the standard error of this process. Without it, the
    /// last lines are part of the error if the program can't be started, with secrets redacted.
    pub fn inherit_stderr(mut self) -> Self {
        self.source.inherit_stderr();
        self
    }

    /// Sends a bearer token with each request to a server at a URL, which must start with `https://` unless the server
    /// is on this machine. Replaces other tokens.
    #[cfg(feature = "client-http")]
    pub fn bearer(self, token: impl Into<String>) -> Self {
        self.tokens(Tokens::Fixed(token.into()))
    }

    /// Sends the bearer token that a closure returns. The closure is called for each connection, and again
    /// when the server rejects the token with status 401, so that the request is sent once more with the
    /// new token. Its errors must contain no secrets. The rules of [`bearer`](ImportBuilder::bearer) apply.
    ///
    /// ```no_run
    /// # async fn token_of_vault() -> std::io::Result<String> { Ok(String::new()) }
    /// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = tool_core::Registry::new();
    /// let import = tool_mcp::Import::http("https://example.com/mcp")
    ///     .bearer_with(async || Ok(token_of_vault().await?))
    ///     .connect(&registry)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "client-http")]
    pub fn bearer_with<F, R>(self, token: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, Box<dyn std::error::Error + Send + Sync>>>
            + Send
            + 'static,
    {
        self.tokens(Tokens::Source(TokenSource::new(token)))
    }

    /// Signs in to a server at a URL by OAuth, when the server asks for it; see the module [`oauth`](super::oauth). Replaces other
    /// tokens.
    ///
    /// ```no_run
    /// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
    /// use tool_mcp::oauth::{FileStore, OAuth};
    ///
    /// let registry = tool_core::Registry::new();
    /// let oauth = OAuth::new(FileStore::new("tokens.json")).open(async |url| {
    ///     println!("sign in at {url}");
    ///     Ok(())
    /// });
    /// let import = tool_mcp::Import::http("https://example.com/mcp")
    ///     .oauth(oauth)
    ///     .connect(&registry)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "oauth")]
    pub fn oauth(mut self, oauth: OAuth) -> Self {
        oauth.add_secrets(&mut self.secrets);
        let tokens = match &self.source {
            Source::Http(endpoint) => {
                let session = Session::new(oauth, &endpoint.url, self.secrets.clone());
                Tokens::OAuth(Arc::new(session))
            }
            _ => return self,
        };
        self.tokens(tokens)
    }

    #[cfg(feature = "client-http")]
    fn tokens(mut self, tokens: Tokens) -> Self {
        if let Source::Http(endpoint) = &mut self.source {
            endpoint.tokens = tokens;
        }
        self
    }

    /// Sends a header with each request to a server at a URL.
    #[cfg(feature = "client-http")]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Source::Http(endpoint) = &mut self.source {
            endpoint.headers.push((name.into(), value.into()));
        }
        self
    }
}

impl fmt::Debug for ImportBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImportBuilder")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
