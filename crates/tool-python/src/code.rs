//! [`CodeTool`]: tools that run a model's code.

mod shown;

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use futures_channel::{mpsc, oneshot};
use futures_util::future::abortable;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value as Json, json};
use tool_core::content::{Content, Image};
use tool_core::dynamic::{DynamicTool, DynamicToolError};
use tool_core::hooks::{Decision, Hold};
use tool_core::runtime::BoxFuture;
use tool_core::{AnyOutput, CallContext, Registry, ToolCall, ToolResult};

use self::shown::Ran;
pub(crate) use self::shown::SHOWN;
use crate::stubs::Functions;
use crate::{
    EndedBy, Error, HostCall, Inputs, Limits, NoTools, Outcome, Sandbox, Stop, Tools, Value,
};

type Decide = Box<dyn Fn(HeldCall) -> BoxFuture<Decision> + Send + Sync>;

/// Creates a tool with which a model calls the tools of a registry from Python code.
///
/// Its description contains [stubs](crate::stubs()) of the tools. Add it to a second registry, and give that one to the
/// model. See [`CodeTool`].
///
/// ```no_run
/// use tool_core::{Registry, tool, tools};
/// use tool_python::{Policy, Sandbox, code_mode};
///
/// /// The price of an article, in cents.
/// #[tool(read_only)]
/// fn get_price(article: u32) -> u32 {
///     article * 100
/// }
///
/// // The code calls this registry. The model sees another one.
/// let inner = Registry::builder().tools(tools![get_price]).build()?;
/// let tool = code_mode(&Sandbox::new(Policy::new())?, &inner).build()?;
/// let registry = Registry::builder().tool(tool).build()?;
/// assert!(registry.get("run_code").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn code_mode(sandbox: &Sandbox, registry: &Registry) -> CodeTool {
    CodeTool {
        name: "run_code".to_owned(),
        sandbox: sandbox.clone(),
        registry: Some(registry.clone()),
        limits: limits(),
        decide: None,
        pictures: Pictures { count: 0, bytes: 0 },
        shown: SHOWN,
        is_checked: false,
    }
}

/// Creates a tool that runs Python code. It returns the output, the value, the pictures and a list of the files.
///
/// Figures of matplotlib that are open at the end are saved as PNG files. See [`CodeTool`].
///
/// ```no_run
/// use tool_core::{Registry, ToolCall};
/// use tool_python::{Policy, Sandbox, python_sandbox};
///
/// let tool = python_sandbox(&Sandbox::new(Policy::new())?).build()?;
/// let registry = Registry::builder().tool(tool).build()?;
/// let call = ToolCall::new("call_1", "python_sandbox", r#"{"code":"print(2 ** 100)"}"#);
/// println!("{}", registry.call_blocking(call).content());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn python_sandbox(sandbox: &Sandbox) -> CodeTool {
    CodeTool {
        name: "python_sandbox".to_owned(),
        sandbox: sandbox.clone(),
        registry: None,
        limits: limits(),
        decide: None,
        pictures: Pictures {
            count: 4,
            bytes: 2 << 20,
        },
        shown: SHOWN,
        is_checked: false,
    }
}

/// Models read little, so the limits are low.
pub(crate) fn limits() -> Limits {
    Limits {
        output: 64 << 10,
        message: 1 << 20,
        calls: 1_000,
        parallel: 16,
        ..Limits::default()
    }
}

/// Builder of a tool that runs code in a sandbox. No registry contains one unless you add it.
///
/// Calls from the code are like any other calls of the registry: its validation, hooks, timeouts and telemetry apply.
/// They have the context values of the outer call, which runs the code, and are cancelled with it. Their id is the
/// outer call's id, a dot and a number, and [`ToolCall::is_programmatic`] returns `true`.
///
/// In the code, each tool is a function: `f(x=1)` waits for the result, and `await f.start(x=1)` works with
/// `asyncio.gather`. A structured result becomes a Python value, any other a string. An error raises `ToolError` with
/// the message for the model. Pictures and other media that a tool returns don't reach the code.
///
/// ```no_run
/// use tool_core::{Registry, tool, tools};
/// use tool_python::{Policy, Sandbox, code_mode};
///
/// /// The population of a city.
/// #[tool(read_only)]
/// fn get_population(city: &str) -> u32 {
///     city.len() as u32
/// }
///
/// let sandbox = Sandbox::new(Policy::new().pool(2))?;
/// let tools = Registry::builder().tools(tools![get_population]).build()?;
/// let registry = Registry::builder().tool(code_mode(&sandbox, &tools).build()?).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CodeTool {
    name: String,
    sandbox: Sandbox,
    registry: Option<Registry>,
    limits: Limits,
    decide: Option<Decide>,
    pictures: Pictures,
    shown: usize,
    is_checked: bool,
}

#[derive(Clone, Copy)]
struct Pictures {
    count: usize,
    bytes: u64,
}

impl CodeTool {
    /// Sets the name of the tool. Default: `run_code` or `python_sandbox`.
    pub fn name(mut self, name: impl Into<String>) -> CodeTool {
        self.name = name.into();
        self
    }

    /// Sets the limits of each run. Use [`Limits::stop`] to end all of them. The default is [`Limits::default`], but
    /// with 64 KiB of output, 1 MiB for a message, and 1,000 calls, of which 16 run side by side.
    pub fn limits(mut self, limits: Limits) -> CodeTool {
        self.limits = limits;
        self
    }

    /// Sets the maximum number of bytes that the model gets of a run. The value, the output, the names of files and
    /// errors count together. Longer results are cut at rows, members and lines, and say how much was left out. At
    /// least 1 KiB; the default is 16 KiB. Pictures don't count.
    pub fn shown(mut self, bytes: usize) -> CodeTool {
        self.shown = bytes.max(1 << 10);
        self
    }

    /// Returns at most `count` pictures of at most `bytes` each, in the order of their names. The default is 4 of 2 MiB
    /// for [`python_sandbox`], and none for [`code_mode`].
    pub fn pictures(mut self, count: usize, bytes: u64) -> CodeTool {
        self.pictures = Pictures { count, bytes };
        self
    }

    /// Checks the types of code with mypy before it runs. Code with an error, such as a parameter that a tool does not
    /// have, doesn't run: the model gets the wrong lines before any tool was called. Constructs that only type checkers
    /// reject, such as `await` at the top level, are allowed.
    ///
    /// mypy runs in the sandbox too, separately and with [`Limits::default`]. So it must be installed in the
    /// interpreter's [virtual environment](crate::Policy::venv). It takes about a second. If the types can't be
    /// checked, the code doesn't run.
    ///
    /// # Errors
    ///
    /// If the interpreter of the sandbox can't import mypy.
    pub fn check(mut self) -> Result<CodeTool, Error> {
        let limits = Limits::default();
        let outcome = self
            .sandbox
            .run("import mypy.api", &Inputs::new(), &NoTools, &limits)?;
        if !outcome.is_finished() {
            return Err(Error::Interpreter(format!(
                "the types of code can't be checked: {}; install mypy in the virtual environment that `Policy::venv` names",
                outcome.ended_by
            )));
        }
        self.is_checked = true;
        Ok(self)
    }

    /// Sets how to decide on calls that a `before` hook [holds](tool_core::hooks::Gate::hold). Without it, such a call
    /// raises `ToolError`. Meanwhile the code waits, and the clock of [`Limits::time`] stands still. But a timeout that
    /// the outer registry has for this tool runs on.
    ///
    /// The code waits in memory, so it ends with the process, and the held call with it.
    ///
    /// ```no_run
    /// # use tool_core::hooks::Decision;
    /// # use tool_core::Registry;
    /// # use tool_python::{Policy, Sandbox, code_mode};
    /// # let (sandbox, tools) = (Sandbox::new(Policy::new())?, Registry::new());
    /// let tool = code_mode(&sandbox, &tools).on_hold(async |held| {
    ///     if held.hold.tool() == "delete_note" {
    ///         Decision::deny("notes are kept")
    ///     } else {
    ///         Decision::Allow
    ///     }
    /// });
    /// # Ok::<(), tool_python::Error>(())
    /// ```
    pub fn on_hold<F, R>(mut self, decide: F) -> CodeTool
    where
        F: Fn(HeldCall) -> R + Send + Sync + 'static,
        R: Future<Output = Decision> + Send + 'static,
    {
        self.decide = Some(Box::new(move |held| Box::pin(decide(held))));
        self
    }

    /// Builds the tool. Its stubs declare the current tools of the registry.
    ///
    /// # Errors
    ///
    /// If the name is empty.
    pub fn build(self) -> Result<DynamicTool, DynamicToolError> {
        let functions = self.registry.as_ref().map(Functions::new);
        let mut prelude = String::new();
        let description = if let Some(functions) = &functions {
            prelude.clone_from(&functions.prelude);
            let search = if functions.has_deferred {
                " Find further tools with `search_tools` and call them with `call_tool(name, **arguments)`."
            } else {
                ""
            };
            format!(
                "Runs Python code that calls tools, and returns what it prints and the value of its last line. Prefer one \
                 run with many calls to many runs; print or return only what you need. Each tool below is a function: \
                 `f(x=1)` waits; `await f.start(x=1)` runs side by side in `asyncio.gather`, and `await` works at the \
                 top level. A failed call raises `ToolError`.{search} No network, no other programs; files are gone \
                 after the run.\n\n```python\n{}```",
                functions.shown
            )
        } else {
            "Runs Python code and returns what it prints, the value of its last line, its pictures (open figures of \
             matplotlib, PNG and JPEG files in the working folder) and a list of its files. `await` works at the top \
             level. Nothing is kept between runs. No network, no other programs."
                .to_owned()
        };
        if self.pictures.count > 0 {
            prelude.push_str(include_str!("code/pictures.py"));
        }
        let name = self.name.clone();
        let checked = self.is_checked.then(|| {
            let functions = functions.unwrap_or_default();
            let inputs = Inputs::new().value("stubs", &functions.stubs.into());
            inputs.value("names", &functions.import.into())
        });
        let shared = Arc::new(Shared {
            tool: self,
            prelude,
            checked,
        });
        DynamicTool::builder(name)
            .description(description)
            .parameters(json!({
                "type": "object",
                "properties": {"code": {"type": "string", "description": "Python source."}},
                "required": ["code"],
                "additionalProperties": false,
            }))
            .freeform("code", None)
            .build(move |arguments: Json, call: CallContext| {
                let shared = Arc::clone(&shared);
                async move { shared.run(arguments, call).await }
            })
    }
}

impl fmt::Debug for CodeTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeTool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A held call from code, passed to the closure of [`CodeTool::on_hold`].
///
/// ```
/// use tool_core::hooks::Decision;
/// use tool_python::HeldCall;
///
/// /// Decides on calls that code makes, for `CodeTool::on_hold`.
/// async fn decide(held: HeldCall) -> Decision {
///     match held.hold.tool() {
///         "send_message" => Decision::deny("code sends no messages"),
///         _ => Decision::Allow,
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeldCall {
    /// The tool, the arguments and the reason of the hold.
    pub hold: Hold,
    /// The outer call, which runs the code, with its context values.
    pub call: CallContext,
}

struct Shared {
    tool: CodeTool,
    prelude: String,
    /// The inputs of the type check, if it is on.
    checked: Option<Inputs>,
}

impl Shared {
    async fn run(
        self: Arc<Self>,
        arguments: Json,
        call: CallContext,
    ) -> Result<AnyOutput, Failure> {
        let code = arguments["code"].as_str().unwrap_or_default().to_owned();
        if let Some(inputs) = &self.checked {
            self.check(inputs.clone().value("code", &arguments["code"]))
                .await?;
        }
        let (calls, mut incoming) = mpsc::unbounded();
        let shared = Arc::clone(&self);
        let mut run = Running::start(&self.tool.limits, move |limits| {
            let tools = Functioning {
                shared: &shared,
                calls,
            };
            shared
                .tool
                .sandbox
                .run(&code, &Inputs::new(), &tools, limits)
        })?;
        let mut running = FuturesUnordered::new();
        let mut handles = HashMap::new();
        let mut number = 0_u64;
        let outcome = poll_fn(|context| {
            loop {
                while let Poll::Ready(Some(said)) = incoming.poll_next_unpin(context) {
                    match said {
                        Said::Call(host_call) => {
                            number += 1;
                            let id = host_call.id();
                            let answer = self.answer(host_call, &call, number);
                            let (answer, handle) = abortable(answer.map(move |()| id));
                            running.push(answer);
                            handles.insert(id, handle);
                        }
                        Said::Cancel(id) => {
                            if let Some(handle) = handles.remove(&id) {
                                handle.abort();
                            }
                        }
                    }
                }
                if let Poll::Ready(outcome) = Pin::new(&mut run).poll(context) {
                    return Poll::Ready(outcome);
                }
                match running.poll_next_unpin(context) {
                    Poll::Ready(Some(Ok(id))) => drop(handles.remove(&id)),
                    // The call was cancelled.
                    Poll::Ready(Some(Err(_))) => {}
                    Poll::Ready(None) | Poll::Pending => return Poll::Pending,
                }
            }
        });
        let outcome = outcome.await;
        // Cancels the calls that are still running.
        drop(running);
        self.report(&outcome?)
    }

    /// Checks the types of code. The error lists the wrong lines.
    async fn check(&self, inputs: Inputs) -> Result<(), Failure> {
        let sandbox = self.tool.sandbox.clone();
        let limits = Limits {
            stop: self.tool.limits.stop.clone(),
            ..Limits::default()
        };
        let run = Running::start(&limits, move |limits| {
            sandbox.run(include_str!("code/types.py"), &inputs, &NoTools, limits)
        });
        let outcome = run?.await?;
        let found = match (&outcome.ended_by, &outcome.result) {
            (EndedBy::Finished, Some(Value::Json(json))) => {
                serde_json::from_str::<Vec<String>>(json.get()).ok()
            }
            _ => None,
        };
        let problem = match found {
            Some(found) if found.is_empty() => return Ok(()),
            Some(found) => format!(
                "nothing ran, because of errors in types:\n{}",
                found.join("\n")
            ),
            None => format!(
                "nothing ran, because the types could not be checked: {}",
                failure(&outcome, self.tool.shown)
            ),
        };
        Err(Failure::Code(shown::cut(&problem, self.tool.shown)))
    }

    /// Makes a call for the code.
    async fn answer(&self, mut host_call: HostCall, outer: &CallContext, number: u64) {
        let Some(registry) = &self.tool.registry else {
            return host_call.fail("there are no tools");
        };
        if host_call.name() == self.tool.name {
            return host_call.fail("code can't run code");
        }
        let id = format!("{}.{number}", outer.call_id());
        let caller = json!({"type": self.tool.name, "tool_id": outer.call_id()});
        let mut call =
            ToolCall::new(id, host_call.name(), host_call.arguments()).with_caller(caller);
        loop {
            let result = registry.call_within(outer, call.clone()).await;
            let hold = result.error().and_then(|error| error.hold());
            let (Some(decide), Some(hold)) = (&self.tool.decide, hold) else {
                return give(host_call, &result);
            };
            host_call.hold();
            let waiting = HeldCall {
                hold: hold.clone(),
                call: outer.clone(),
            };
            let decision = decide(waiting).await;
            call = call.decided(hold.clone(), decision);
        }
    }

    /// Converts the outcome to a result for the model.
    fn report(&self, outcome: &Outcome) -> Result<AnyOutput, Failure> {
        if !outcome.is_finished() {
            return Err(Failure::Code(failure(outcome, self.tool.shown)));
        }
        let ran = Ran::new(outcome, self.tool.registry.is_none(), self.tool.shown);
        let pictures = self.pictures(outcome);
        Ok(if pictures.is_empty() {
            AnyOutput::new(ran)
        } else {
            AnyOutput::new((ran, pictures))
        })
    }

    fn pictures(&self, outcome: &Outcome) -> Vec<Content> {
        let pictures = outcome.files.iter().filter_map(|file| {
            if !matches!(file.path.extension()?.to_str()?, "png" | "jpg" | "jpeg") {
                return None;
            }
            let bytes = outcome.read(&file.path, self.tool.pictures.bytes).ok()?;
            // A provider rejects the whole request if the bytes don't match the type.
            if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
                Some(Image::png(bytes).into())
            } else if bytes.starts_with(b"\xff\xd8\xff") {
                Some(Image::jpeg(bytes).into())
            } else {
                None
            }
        });
        pictures.take(self.tool.pictures.count).collect()
    }
}

/// Passes the result of a call to the code.
fn give(call: HostCall, result: &ToolResult) {
    if result.is_error() {
        return call.fail(result.content());
    }
    match result.structured_json() {
        Some(json) => call.answer(json),
        None => call.answer(&Json::from(result.content()).to_string()),
    }
}

/// Describes a failed run in at most `most` bytes: the exception with its lines of code, the limit that was met, and
/// the output before.
pub(crate) fn failure(outcome: &Outcome, most: usize) -> String {
    let mut text = String::new();
    if let EndedBy::Raised(exception) = &outcome.ended_by {
        // Frames of libraries and of this crate don't help a model.
        let mut is_foreign = false;
        for line in exception.traceback.lines() {
            if let Some(place) = line.strip_prefix("  File \"") {
                is_foreign = !place.starts_with("<code>\"");
            } else if !line.starts_with("    ") {
                is_foreign = false;
            }
            if !is_foreign {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    if text.is_empty() {
        text = format!("the code {}", outcome.ended_by);
    }
    if let Some(limit) = &outcome.limit {
        text.truncate(text.trim_end().len());
        text.push_str(&format!(" ({limit})"));
    }
    shown::failed(&text, outcome, most)
}

/// Hands calls to the task that runs them.
struct Functioning<'a> {
    shared: &'a Shared,
    calls: mpsc::UnboundedSender<Said>,
}

/// A message of the code to the task that makes its calls.
enum Said {
    Call(HostCall),
    /// The code no longer waits for this call.
    Cancel(u64),
}

impl Tools for Functioning<'_> {
    fn prelude(&self) -> String {
        self.shared.prelude.clone()
    }

    fn call(&self, call: HostCall) {
        // If nobody waits for the run any more, the call is dropped and thereby fails.
        let _ = self.calls.unbounded_send(Said::Call(call));
    }

    fn cancel(&self, id: u64) {
        let _ = self.calls.unbounded_send(Said::Cancel(id));
    }
}

/// A run on a separate thread. Dropping this ends it.
pub(crate) struct Running {
    ended: oneshot::Receiver<Result<Outcome, Error>>,
    stop: Stop,
}

impl Running {
    /// Starts a run. `run` gets these limits, with a [`Stop`] that ends it.
    pub(crate) fn start(
        limits: &Limits,
        run: impl FnOnce(&Limits) -> Result<Outcome, Error> + Send + 'static,
    ) -> Result<Running, Failure> {
        let (end, ended) = oneshot::channel();
        let stop = limits.stop.as_ref().map_or_else(Stop::new, Stop::child);
        let limits = Limits {
            stop: Some(stop.clone()),
            ..limits.clone()
        };
        // Sending fails if this was dropped.
        thread::Builder::new()
            .name("tool-python run".to_owned())
            .spawn(move || drop(end.send(run(&limits))))
            .map_err(|error| {
                let named = Error::named("the thread of the sandbox can't be started");
                Failure::Sandbox(named(error))
            })?;
        Ok(Running { ended, stop })
    }
}

impl Future for Running {
    type Output = Result<Outcome, Failure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.ended).poll(context).map(|ended| {
            let ended = ended.unwrap_or_else(|_| Err(Error::Start("the run panicked".to_owned())));
            ended.map_err(Failure::Sandbox)
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// The reason why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A message for the model.
    Code(String),
    /// An error for the operator.
    Sandbox(Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Code(text) => f.write_str(text),
            Failure::Sandbox(_) => f.write_str("the sandbox can't run code now"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failure::Code(_) => None,
            Failure::Sandbox(error) => Some(error),
        }
    }
}
