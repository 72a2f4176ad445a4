//! [`Server`]: the tools of a registry, for clients of the Model Context Protocol.
//!
//! | file | what it holds |
//! |---|---|
//! | `handler` | the methods of the protocol, as `rmcp` calls them |
//! | `lines` | messages as lines, read fast |
//! | `changes` | notices of changes, and who gets them |
//! | `list` | the list of tools, kept until the registry changes |
//! | `imports` | servers that it imports: a gateway |
//! | `offers` | the functions behind resources and prompts |
//! | `resources`, `prompts`, `completion` | their methods |
//! | `annotations` | whom resources are for |
//! | `apps` | pages that hosts show for results |
//! | `manifest` | what others need to know to install the server |
//! | `template` | templates of URIs |
//! | `call` | one call: context, progress, cancellation, result |
//! | `ask` | questions to the user, in each lifecycle |
//! | `skills` | folders of instructions, as a handler |
//! | `state` | `requestState`: what a call must know when it is made again |
//! | `admission` | what each call passes: scopes and rates |
//! | `rate` | limits of calls for each user and tool |
//! | `tasks` | calls that continue after their response |
//! | `approvals` | held calls that wait for somebody else |
//! | `request` | what an application sees of a request |
//! | `http` | streamable HTTP |

mod admission;
mod annotations;
pub mod approvals;
mod apps;
mod ask;
mod call;
mod changes;
mod completion;
mod handler;
#[cfg(feature = "server-http")]
pub mod http;
#[cfg(feature = "client")]
mod imported_apps;
#[cfg(feature = "client")]
mod imports;
mod lines;
mod list;
mod manifest;
mod offers;
mod prompts;
mod rate;
mod request;
mod resources;
#[cfg(feature = "skills")]
mod skills;
mod state;
pub mod store;
mod tasks;
mod template;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{Implementation, InitializeResult, ServerCapabilities};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError, serve_server};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tool_core::registry::ChangeListener;
use tool_core::runtime::BoxFuture;
use tool_core::{IntoTools, Registry, ToolCall, ToolEntry, ToolSpec};

use self::admission::Scopes;
use self::approvals::Approvals;
use self::changes::Client;
use self::lines::LineTransport;
use self::list::ListCache;
use self::offers::Offers;
use self::state::{StateCodec, random};
use self::store::{MemoryStore, Store};
use self::tasks::Tasks;
use crate::change::Change;
use crate::lock;

pub use self::annotations::Annotations;
pub use self::apps::{App, AppPermission};
pub use self::call::ProtocolError;
pub use self::changes::Changes;
pub use self::completion::Completion;
pub use self::handler::{Handler, NoHandler};
#[cfg(feature = "client")]
pub use self::imports::Imports;
pub use self::manifest::{Manifest, ManifestError, Package, Variable};
pub use self::rate::{Rate, Rates};
pub use self::request::{Refusal, Request, Token, UserId};
#[cfg(feature = "skills")]
pub use self::skills::Skills;
pub use self::tasks::{TaskLimits, TaskPolicy};

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
pub struct Server<H = NoHandler> {
    registry: Registry,
    options: Options,
    handler: H,
}

type Identity = dyn Fn(&Request<'_>, ToolCall) -> Result<ToolCall, Refusal> + Send + Sync;
type Visible = dyn Fn(&Request<'_>, &ToolEntry) -> bool + Send + Sync;
type Policies = dyn Fn(&ToolEntry) -> TaskPolicy + Send + Sync;

struct Options {
    implementation: Option<Implementation>,
    instructions: Option<String>,
    identity: Option<Box<Identity>>,
    visible: Option<Arc<Visible>>,
    policies: Option<Box<Policies>>,
    scopes: Option<Box<Scopes>>,
    rates: Option<Rates>,
    offers: Offers,
    #[cfg(feature = "client")]
    imports: Imports,
    changes: Option<Changes>,
    approvals: Option<Approvals>,
    task_limits: TaskLimits,
    store: Option<Arc<dyn Store>>,
    page_size: usize,
    cache_for: Duration,
    state_key: Option<Vec<u8>>,
    state_lifetime: Duration,
}

impl Server {
    /// Creates a server of the tools of a registry.
    pub fn new(registry: Registry) -> Server {
        Server {
            registry,
            options: Options {
                implementation: None,
                instructions: None,
                identity: None,
                visible: None,
                policies: None,
                scopes: None,
                rates: None,
                offers: Offers::default(),
                #[cfg(feature = "client")]
                imports: Imports::default(),
                changes: None,
                approvals: None,
                task_limits: TaskLimits::default(),
                store: None,
                page_size: 1000,
                cache_for: Duration::from_secs(60),
                state_key: None,
                state_lifetime: Duration::from_secs(600),
            },
            handler: NoHandler,
        }
    }
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
    /// The scopes come from the [`Token`] that [`Auth::bearer`](http::Auth::bearer) returns. A call without
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
    /// [`approvals`] for an example. Without this, a held call is not run, and there is no way to decide on it.
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
    /// use tool_mcp::server::approvals::{Approvals, MemoryInbox};
    ///
    /// let registry = Registry::new();
    /// let approvals = Approvals::new(&registry, MemoryInbox::default())
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
    /// and so do [approvals](approvals::Inbox) that outlive the process.
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

    /// Returns a handler for the transports of `rmcp`. Clones share everything.
    pub fn into_handler(mut self) -> Handler<H> {
        let tools = self.registry.specs();
        if self.options.policies.is_none() && tools.iter().any(|tool| tool.is_background()) {
            self = self.tasks(|tool| {
                if tool.is_background() {
                    TaskPolicy::Optional
                } else {
                    TaskPolicy::Never
                }
            });
        }
        let info = self.options.info(self.handler.get_info());
        Handler::new(
            Core::new(self.registry, self.options),
            info,
            Arc::new(self.handler),
        )
    }

    /// Serves one client over standard input and output, until it closes standard input. Nothing else may
    /// write to standard output: log to standard error.
    ///
    /// ```no_run
    /// use tool_core::Registry;
    ///
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// tool_mcp::Server::new(Registry::linked()?).name("notes", "1.0.0").stdio().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the client breaks the protocol before the first request.
    pub async fn stdio(self) -> Result<(), ServeError> {
        let (stdin, stdout) = rmcp::transport::stdio();
        self.serve_stream(stdin, stdout).await
    }

    /// Serves one client over a pair of streams, such as the two sides of a socket, until it closes its side. One
    /// message a line.
    ///
    /// # Errors
    ///
    /// Returns an error if the client breaks the protocol before the first request.
    pub async fn serve_stream(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let transport = LineTransport::new(input, output);
        // Boxed, because it is large: callers would hold it in their own futures.
        match Box::pin(serve_server(self.into_handler(), transport)).await {
            Ok(running) => match running.waiting().await {
                Ok(_) => Ok(()),
                Err(error) => Err(ServeError(error.to_string())),
            },
            // The client left before its first request.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError(error.to_string())),
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

impl Options {
    /// Returns `true` if calls must pass a check before they run.
    fn has_limits(&self) -> bool {
        self.scopes.is_some() || self.rates.is_some()
    }

    /// Returns `true` if resources and prompts of other servers are served, too.
    #[cfg_attr(not(feature = "client"), expect(clippy::unused_self))]
    fn has_imports(&self) -> bool {
        #[cfg(feature = "client")]
        return !self.imports.is_empty();
        #[cfg(not(feature = "client"))]
        false
    }

    /// Returns `true` if clients are notified of changes of resources and prompts.
    fn notifies(&self) -> bool {
        self.changes.is_some() || self.has_imports()
    }

    /// Adds the server's own information to the information of a handler.
    fn info(&self, mut info: InitializeResult) -> InitializeResult {
        if let Some(implementation) = &self.implementation {
            info.server_info = implementation.clone();
        }
        if let Some(instructions) = &self.instructions {
            info.instructions = Some(instructions.clone());
        }
        let own = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed();
        let own = if self.policies.is_some() {
            own.enable_tasks().build()
        } else {
            own.build()
        };
        info.capabilities.tools = own.tools;
        let capabilities = &mut info.capabilities;
        if !self.offers.apps.is_empty() || self.has_imports() {
            let all = capabilities.extensions.get_or_insert_default();
            all.extend(crate::apps::capability());
        }
        let notifies = self.notifies();
        let has_resources = !self.offers.resources.is_empty() || !self.offers.apps.is_empty();
        if has_resources || self.has_imports() {
            let resources = capabilities.resources.get_or_insert_default();
            if notifies {
                resources.subscribe = Some(true);
                resources.list_changed = Some(true);
            }
        }
        if !self.offers.prompts.is_empty() || self.has_imports() {
            let prompts = capabilities.prompts.get_or_insert_default();
            if notifies {
                prompts.list_changed = Some(true);
            }
        }
        if self.offers.completes() || self.has_imports() {
            capabilities.completions.get_or_insert_default();
        }
        if let Some(extensions) = own.extensions {
            let all = info.capabilities.extensions.get_or_insert_default();
            all.extend(extensions);
        }
        info
    }
}

fn into_functions<Kind>(functions: impl IntoTools<Kind>) -> Vec<ToolEntry> {
    functions.into_tools().collect()
}

/// The name of the user on the other end of a stream, where the application does not name one.
const LOCAL: &str = "local";

/// The state that all connections of a server share.
struct Core {
    registry: Registry,
    options: Options,
    list: ListCache,
    /// The key of signatures and digests.
    key: Vec<u8>,
    states: StateCodec,
    tasks: Tasks,
    /// Counts the changes of the registry.
    changes: AtomicU64,
    /// `true` once the server closes.
    closing: watch::Sender<bool>,
    /// The clients to notify of changes, since they have initialized or subscribed.
    clients: Mutex<Vec<Weak<Client>>>,
    /// Notifies clients, if all see all tools.
    listener: Mutex<Option<ChangeListener>>,
}

impl Core {
    fn new(registry: Registry, options: Options) -> Arc<Core> {
        let key = options.state_key.clone();
        let key = key.unwrap_or_else(|| random::<32>().to_vec());
        let store = options.store.clone();
        let store = store.unwrap_or_else(|| Arc::new(MemoryStore::default()));
        let core = Arc::new(Core {
            list: ListCache::default(),
            states: StateCodec::new(&key, options.state_lifetime),
            key,
            tasks: Tasks::new(store.clone(), options.task_limits.clone()),
            changes: AtomicU64::new(0),
            closing: watch::Sender::new(false),
            clients: Mutex::default(),
            listener: Mutex::default(),
            registry,
            options,
        });
        let weak = Arc::downgrade(&core);
        let notifies_all = core.options.visible.is_none();
        let listener = core.registry.on_change(move |_, _| {
            if let Some(core) = weak.upgrade() {
                core.changes.fetch_add(1, Ordering::AcqRel);
                if notifies_all {
                    core.notify(&Change::Tools);
                }
            }
        });
        *lock(&core.listener) = Some(listener);
        let weak = Arc::downgrade(&core);
        store.listen(Box::new(move |notice| {
            let core = weak.upgrade();
            core.map(|core| core.hear(notice)).is_some()
        }));
        if let (Some(approvals), Some(offers)) =
            (&core.options.approvals, core.options.offers.functions())
        {
            approvals.set_offers(offers);
        }
        #[cfg(feature = "client")]
        core.options.imports.tell(&Arc::downgrade(&core));
        if let Some(changes) = &core.options.changes {
            changes.add(&core);
        }
        core
    }

    /// Returns the tools that a request can see, if it can't see all.
    fn selection(&self, context: &RequestContext<RoleServer>) -> Option<Registry> {
        self.selection_of(&self.registry, context)
    }

    fn selection_of(
        &self,
        registry: &Registry,
        context: &RequestContext<RoleServer>,
    ) -> Option<Registry> {
        let visible = self.options.visible.clone()?;
        let context = context.clone();
        let is_visible = move |tool: &ToolEntry| visible(&Request::new(&context), tool);
        Some(registry.select(is_visible))
    }

    /// Returns the tools that a request can see.
    fn registry_of(&self, context: &RequestContext<RoleServer>) -> Registry {
        self.selection(context)
            .unwrap_or_else(|| self.registry.clone())
    }
}

/// The error of a server that can't go on.
///
/// ```no_run
/// use tool_core::Registry;
///
/// # async fn serve() {
/// if let Err(error) = tool_mcp::Server::new(Registry::new()).stdio().await {
///     // Standard output belongs to the protocol.
///     eprintln!("the server ended: {error}");
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct ServeError(pub(crate) String);

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServeError {}
