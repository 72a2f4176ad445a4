//! [`Server`], and its settings.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::Implementation;
use tool_core::runtime::BoxFuture;
use tool_core::{IntoTools, Registry, ToolCall, ToolEntry, ToolSpec};

use super::approvals::Approvals;
use super::changes::Changes;
use super::handler::NoHandler;
use super::offers::Completion;
use super::options::Options;
use super::rate::Rates;
use super::request::{Refusal, Request};
use super::store::Store;
use super::task_settings::{TaskLimits, TaskPolicy};
#[cfg(doc)]
use super::{ProtocolError, Rate, Token, UserId, approvals, store};

/// Serves the tools of a registry.
///
/// Clients of protocol version 2026-07-28 (stateless, `server/discover`) and of 2025-11-25 and earlier
/// (`initialize`) are served alike. The list of tools follows the registry: clients are notified of changes.
///
/// ```no_run
/// use tool_core::{Registry, tool};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let registry = Registry::linked()?;
///     tool_mcp::Server::new(registry).name("sums", "1.0.0").stdio().await?;
///     Ok(())
/// }
/// ```
///
/// # Results
///
/// A result that is JSON is structured content, repeated as text. [Parts](tool_core::content::Content) become content
/// blocks. Failures and invalid arguments are results with `isError`, which the model reads; an unknown tool
/// is a protocol error, and so is a [`ProtocolError`] that a tool returns.
///
/// # Questions to the user
///
/// [`CallContext::elicit`](tool_core::CallContext::elicit) asks the user of the client. Before 2026-07-28,
/// that is a request to the client, within the session; a client without a session can't be asked, which is
/// an error at once. Since 2026-07-28, the call ends with the question and the client makes it again with the
/// answer: the tool [runs again](tool_core::call::elicit#a-tool-may-run-again). A call that a hook
/// wants [confirmed](tool_core::hooks::Gate::confirm) asks in the same way whether to run it, and the answer is recorded
/// with the [`UserId`] of the call. Without one nobody is asked and the call does not run, except over a stream without
/// [`identity`](Server::identity), where the user is `local`.
///
/// A call that a hook [holds](tool_core::hooks::Gate::hold) waits for somebody else, so its client is never
/// asked: the call does not run, and its result says that it is held. To let somebody decide on it, set
/// [`on_hold`](Server::on_hold).
///
/// The state of a call that will be made again goes through the client, signed and bound to the tool, its
/// arguments and the [user](UserId). It expires, and is accepted once by one process. It is not encrypted.
#[doc(alias("MCP server", "FastMCP"))]
pub struct Server<H = NoHandler> {
    pub(super) registry: Registry,
    pub(super) options: Options,
    pub(super) handler: H,
}

impl<H: ServerHandler> Server<H> {
    /// Sets the name and version that clients show.
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Server<H> {
        self.options.implementation = Some(Implementation::new(name, version));
        self
    }

    /// Sets the text that tells a model how to use the tools together.
    pub fn instructions(mut self, text: impl Into<String>) -> Server<H> {
        self.options.instructions = Some(text.into());
        self
    }

    /// Calls this closure with each call, to attach context values, or to refuse the call. A call with a
    /// [`UserId`] belongs to that user, and so do its tasks, its questions and its session.
    ///
    /// It also runs for requests that are not calls, with a call without a name: for the start of a
    /// session, for lists, for requests about tasks, for requests that a handler of
    /// [`with_handler`](Server::with_handler) answers, and once more for each HTTP request before its
    /// message is read, to find the user of the session. If it refuses there, the client gets 403, and
    /// neither a list nor a session.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_mcp::server::UserId;
    ///
    /// let server = tool_mcp::Server::new(Registry::new()).identity(|request, call| {
    ///     let token = request.bearer().ok_or("a token is missing")?;
    ///     // Look the token up.
    ///     Ok(call.with(UserId::new(token)))
    /// });
    /// # let _ = server;
    /// ```
    pub fn identity(
        mut self,
        identity: impl Fn(&Request<'_>, ToolCall) -> Result<ToolCall, Refusal> + Send + Sync + 'static,
    ) -> Server<H> {
        self.options.identity = Some(Box::new(identity));
        self
    }

    /// Adds a resource, or all resources whose URIs match a template (RFC 6570, level 1). Reading one calls a function.
    ///
    /// The variables of the URI become the arguments of the function:
    /// [`arguments_from_text`](tool_core::ToolSpec::arguments_from_text) converts them by its schema. Its
    /// result is the content of the resource: JSON, text, or [parts](tool_core::content::Content) with
    /// their MIME types. Its doc comment is the description.
    ///
    /// A read is a call: [`identity`](Server::identity), [`visible`](Server::visible),
    /// [`scopes`](Server::scopes), [`rate`](Server::rate), the hooks of the registry and
    /// [`on_hold`](Server::on_hold) apply, and the function has the context values of the registry. It is
    /// not a tool of the registry, so mark it `#[tool(unlinked)]`, and calls that it makes through its
    /// [`CallContext`](tool_core::CallContext) find the functions of resources and prompts only. A value
    /// that does not fit its parameter is an error that names the variable. Return a [`ProtocolError`] with
    /// the code -32002 for a resource that does not exist; other errors are internal errors with their
    /// text.
    ///
    /// The value of a variable is one segment. A URI where it is empty, `.` or `..`, or has a slash, a
    /// backslash or a control character, also percent-encoded, is unknown. So a value never leads out of
    /// your folder.
    ///
    /// A resource without variables is in `resources/list`, and a template in `resources/templates/list`.
    /// With [`changes`](Server::changes), clients subscribe to resources and are notified when they change.
    ///
    /// ```
    /// use tool_core::content::{Content, Image};
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// The picture of a product.
    /// #[tool(unlinked)]
    /// fn picture(id: u64) -> Result<Content, std::io::Error> {
    ///     let png = std::fs::read(format!("pictures/{id}.png"))?;
    ///     Ok(Image::png(png).into())
    /// }
    ///
    /// let server = tool_mcp::Server::new(Registry::new()).resource("shop://pictures/{id}", tools![picture]);
    /// # let _ = server;
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the template is invalid, or a URI may match both it and the template of another resource,
    /// if there is not exactly one function, if a variable is not a parameter, if a required parameter is
    /// not a variable, if another resource or a prompt has a function of the same name, or if the registry
    /// lacks a context value.
    #[track_caller]
    pub fn resource<Kind>(mut self, template: &str, function: impl IntoTools<Kind>) -> Server<H> {
        let functions = into_functions(function);
        let added = self
            .options
            .offers
            .add_resource(&self.registry, template, functions);
        added.unwrap_or_else(|problem| panic!("{problem}"));
        self
    }

    /// Adds prompts, which the user of a client chooses. Each calls a function, as [`resource`](Server::resource) does.
    ///
    /// The parameters of the function are the arguments of the prompt. Clients send strings, which are converted by the
    /// schema; a list is a JSON array in a string. Each part of the result is a message of the user.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Reviews a change.
    /// #[tool(unlinked)]
    /// fn review(
    ///     /// The number of the change.
    ///     change: u64,
    ///     /// What to look for.
    ///     focus: Option<String>,
    /// ) -> String {
    ///     let focus = focus.unwrap_or("mistakes".into());
    ///     format!("Read change {change} and look for {focus}.")
    /// }
    ///
    /// let server = tool_mcp::Server::new(Registry::new()).prompt(tools![review]);
    /// # let _ = server;
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if another prompt or a resource has a function of the same name, or if the registry lacks a
    /// context value.
    #[track_caller]
    pub fn prompt<Kind>(mut self, functions: impl IntoTools<Kind>) -> Server<H> {
        let functions = into_functions(functions);
        let added = self.options.offers.add_prompts(&self.registry, functions);
        added.unwrap_or_else(|problem| panic!("{problem}"));
        self
    }

    /// Calls this function to complete an argument of a prompt or a variable of a resource while a person types it. The
    /// values of enums and booleans are completed without it. Clients get the first 100 values.
    ///
    /// A completion needs the scopes of its function, and counts as a call of it.
    ///
    /// ```
    /// use tool_core::Registry;
    ///
    /// let server = tool_mcp::Server::new(Registry::new()).complete(async |typed| {
    ///     let cities = ["Lisbon", "London"].map(String::from);
    ///     cities.into_iter().filter(|city| city.starts_with(&typed.value)).collect()
    /// });
    /// # let _ = server;
    /// ```
    pub fn complete<F>(
        mut self,
        complete: impl Fn(Completion) -> F + Send + Sync + 'static,
    ) -> Server<H>
    where
        F: Future<Output = Vec<String>> + Send + 'static,
    {
        let complete = move |typed| -> BoxFuture<Vec<String>> { Box::pin(complete(typed)) };
        self.options.offers.complete = Some(Box::new(complete));
        self
    }

    /// Announces that clients may subscribe to resources, and that they are notified of changes of resources and prompts.
    /// The value does that: see [`Changes`]. Without this, clients are notified of changes of tools only.
    ///
    /// A subscription needs what a read needs, and counts as a call of the function. A session has at most 1,000, and so
    /// has a subscription since protocol version 2026-07-28.
    pub fn changes(mut self, changes: &Changes) -> Server<H> {
        self.options.changes = Some(changes.clone());
        self
    }

    /// Shows a client some of the tools only. The others don't exist for it: they are not listed, calls of
    /// them end as calls of any unknown name, and it is not notified of their changes. Tools that its calls
    /// run can't call them, either.
    ///
    /// The closure is asked for each request, and again when tools change. It should return quickly. A tool
    /// for which it panics is not visible. To know the user, read the request's data, as in
    /// [`identity`](Server::identity).
    ///
    /// Calls run in a [selection](Registry::select), so a tool can't add others by [`Registry::of`]. Pass it the
    /// registry as a context value.
    ///
    /// ```
    /// use tool_core::Registry;
    ///
    /// let server = tool_mcp::Server::new(Registry::new()).visible(|request, tool| {
    ///     // Look the token up.
    ///     let is_admin = request.bearer() == Some("token of an admin");
    ///     is_admin || !tool.tags().any(|tag| tag == "admin")
    /// });
    /// # let _ = server;
    /// ```
    pub fn visible(
        mut self,
        visible: impl Fn(&Request<'_>, &ToolEntry) -> bool + Send + Sync + 'static,
    ) -> Server<H> {
        self.options.visible = Some(Arc::new(visible));
        self
    }

    /// Limits how often each user calls each tool. Pass a [`Rate`] for all tools, or [`Rates`] to choose
    /// one for each. Without this, calls are not limited.
    ///
    /// A call beyond the limit is not run. Over HTTP its response is 429 with `Retry-After`; over a stream
    /// its result is an error that says how long to wait. Each call of a client counts, including one that
    /// collects a decision or brings the answer to a question. Calls that tools make through their
    /// [`CallContext`](tool_core::CallContext) count for the user, too. All clients without a [`UserId`]
    /// are one user.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use tool_core::Registry;
    /// use tool_mcp::server::Rate;
    ///
    /// let rate = Rate::new(60, Duration::from_secs(60));
    /// let server = tool_mcp::Server::new(Registry::new()).rate(rate);
    /// # let _ = server;
    /// ```
    pub fn rate(mut self, rates: impl Into<Rates>) -> Server<H> {
        self.options.rates = Some(rates.into());
        self
    }

    /// Sets the scopes that a client's token needs to call a tool: all scopes that the closure returns.
    /// Without this, no scopes are needed.
    ///
    /// Over HTTP, the response to a call without them is 403 with a challenge, `insufficient_scope`, that names all scopes
    /// of the tool, so that the client can ask its user for them. Calls that tools make through their
    /// [`CallContext`](tool_core::CallContext) need the scopes of their tools, too.
    ///
    /// The scopes come from the [`Token`] that [`Auth::bearer`](super::http::Auth::bearer) returns. A call without
    /// a [`Token`] has no scopes. A stream has none, so attach one in [`identity`](Server::identity). A
    /// tool for which the closure panics can't be called.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_mcp::server::http::{Auth, AuthError, HttpConfig};
    /// use tool_mcp::server::{Token, UserId};
    ///
    /// let server = tool_mcp::Server::new(Registry::new()).scopes(|tool| {
    ///     let is_read_only = tool.annotations.read_only == Some(true);
    ///     [if is_read_only { "notes:read" } else { "notes:write" }]
    /// });
    /// let auth = Auth::bearer(|token| async move {
    ///     // Verify the token, and read its claims.
    ///     match &*token {
    ///         "secret" => Ok(Token::new(UserId::new("ada")).scopes(["notes:read"])),
    ///         _ => Err(AuthError::InvalidToken),
    ///     }
    /// });
    /// let auth = auth.resource("https://tools.example.com/mcp", ["https://login.example.com"]);
    /// let config = HttpConfig::default().auth(auth);
    /// # let _ = (server, config);
    /// ```
    pub fn scopes<S>(mut self, scopes: impl Fn(&ToolSpec) -> S + Send + Sync + 'static) -> Server<H>
    where
        S: IntoIterator<Item: Into<String>>,
    {
        let scopes = move |tool: &ToolSpec| scopes(tool).into_iter().map(Into::into).collect();
        self.options.scopes = Some(Box::new(scopes));
        self
    }

    /// Lets calls of tools continue as tasks after their response, so that clients poll for the result.
    /// Without this, tools with [`background`](tool_core::ToolSpec::is_background) are
    /// [`TaskPolicy::Optional`], and no call of another tool is a task.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_mcp::server::TaskPolicy;
    ///
    /// let server = tool_mcp::Server::new(Registry::new()).tasks(|tool| {
    ///     if tool.tags().any(|tag| tag == "slow") {
    ///         TaskPolicy::Optional
    ///     } else {
    ///         TaskPolicy::Never
    ///     }
    /// });
    /// # let _ = server;
    /// ```
    pub fn tasks(
        mut self,
        policy: impl Fn(&ToolEntry) -> TaskPolicy + Send + Sync + 'static,
    ) -> Server<H> {
        self.options.policies = Some(Box::new(policy));
        self
    }

    /// Lets calls that a hook [holds](tool_core::hooks::Gate::hold) wait for the decision of somebody else; see
    /// [`approvals`] for an example. Without this, a held call is not run, and its result says that
    /// nobody can approve it.
    ///
    /// A call waits in the name of its [`UserId`], because nobody may decide on their own call. A call
    /// without a user never waits: over HTTP without an identity, a held call is not run. Over a stream
    /// without [`identity`](Server::identity) the user is `local`, who decides on nothing.
    ///
    /// The result of a call that waits is an error that names the approval, in its text and as `tool-core/approval` in its
    /// `_meta`. The same call again waits on, or has the decision: it runs, once, or ends with the reason why it was
    /// denied. A hook has to give the same reason each time, because the decision is on what the person has seen. A call
    /// that is a [task](Server::tasks) waits by itself, for as long as [tasks may run](TaskLimits::runs_for).
    ///
    /// The name of the person who decided is recorded with the call: see
    /// [`CallContext::decisions`](tool_core::CallContext::decisions).
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_mcp::Server;
    /// use tool_mcp::server::approvals::Approvals;
    /// use tool_mcp::server::store::MemoryStore;
    ///
    /// let registry = Registry::new();
    /// let approvals = Approvals::new(&registry, MemoryStore::default())
    ///     .may_decide(async |request| request.user.starts_with("lead-"));
    /// let server = Server::new(registry).on_hold(approvals);
    /// # let _ = server;
    /// ```
    pub fn on_hold(mut self, approvals: Approvals) -> Server<H> {
        self.options.approvals = Some(approvals);
        self
    }

    /// Sets the limits of [tasks](Server::tasks): their number, and the size and the lifetime of their results.
    pub fn task_limits(mut self, limits: TaskLimits) -> Server<H> {
        self.options.task_limits = limits;
        self
    }

    /// Keeps [tasks](Server::tasks), and passes on [notices](Server::changes), in a [store](store::Store) that other servers
    /// share, in this process or in others. The default is the memory of this server.
    ///
    /// Give all of them the same store, [key](Server::state_key) and [identity](Server::identity): a task belongs to its user
    /// at each of them, and is unknown to other users.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_mcp::server::store::MemoryStore;
    ///
    /// let server = tool_mcp::Server::new(Registry::new()).store(MemoryStore::default());
    /// # let _ = server;
    /// ```
    pub fn store(mut self, store: impl Store) -> Server<H> {
        self.options.store = Some(Arc::new(store));
        self
    }

    /// Sets the maximum number of tools in one page of the list. The default is 1,000.
    ///
    /// # Panics
    ///
    /// Panics if it is 0.
    pub fn page_size(mut self, tools: usize) -> Server<H> {
        assert!(tools > 0, "a page must have room for a tool");
        self.options.page_size = tools;
        self
    }

    /// Sets how long clients may keep the list without asking again. The default is a minute. Clients that
    /// listen are notified of changes sooner.
    pub fn cache_for(mut self, time: Duration) -> Server<H> {
        self.options.cache_for = time;
        self
    }

    /// Sets the key that signs the state of a call, which goes through the client while the user is asked.
    /// By default, each process has a random key. Servers with several processes need the same key in all,
    /// and so do [held calls](approvals#restarts) that outlive the process.
    ///
    /// # Panics
    ///
    /// Panics if the key has fewer than 32 bytes.
    pub fn state_key(mut self, key: impl Into<Vec<u8>>) -> Server<H> {
        let key = key.into();
        assert!(key.len() >= 32, "the key must have at least 32 bytes");
        self.options.state_key = Some(key);
        self
    }

    /// Sets how long the user may take for an answer, since protocol version 2026-07-28. The default is ten
    /// minutes.
    pub fn state_lifetime(mut self, time: Duration) -> Server<H> {
        self.options.state_lifetime = time;
        self
    }

    /// Adds your own handler for the rest of the protocol, except tools. Its resources and prompts follow
    /// those of the server in lists, and are found where the server has none of that URI or name. Its name,
    /// version and instructions are used unless the server has them.
    pub fn with_handler<J: ServerHandler>(self, handler: J) -> Server<J> {
        Server {
            registry: self.registry,
            options: self.options,
            handler,
        }
    }
}

impl<H> fmt::Debug for Server<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}

fn into_functions<Kind>(functions: impl IntoTools<Kind>) -> Vec<ToolEntry> {
    functions.into_tools().collect()
}
