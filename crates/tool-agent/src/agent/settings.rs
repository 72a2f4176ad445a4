//! The settings of an [`Agent`].

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use tool_core::call::CancellationToken;
#[cfg(feature = "tracing")]
use tool_core::call::TraceContext;
use tool_core::dialect::{RequestOptions, ToolChoice};
use tool_core::hooks::{DecisionPolicy, DecisionRequest, HookFuture};
use tool_core::{Registry, ToolCall, ToolResult, ToolType};

#[cfg(feature = "tracing")]
use super::telemetry::TraceLinks;
use super::{Agent, BackgroundCalls, Compaction, Event, Fallback, OpenCalls, Prices};
use crate::guarded::Guarded;
use crate::model::Model;
#[cfg(feature = "tower")]
use crate::model::{ModelService, Retry, ServiceModel};
use crate::run::{Journal, RunInfo};

impl Agent {
    /// Sets whether the model may or must call tools, and which. Once it has made the call that
    /// [`Required`](ToolChoice::Required) or [`Tool`](ToolChoice::Tool) demands, the choice becomes
    /// [`Auto`](ToolChoice::Auto) until the next message of the user, so that the model can answer.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_agent::Agent;
    /// use tool_agent::dialects::Anthropic;
    /// use tool_core::dialect::ToolChoice;
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]))
    ///     .tool_choice(ToolChoice::Required)
    ///     .parallel(false)
    ///     .cached();
    /// # let _ = agent;
    /// ```
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        self.change_request(|options| options.choice(choice))
    }

    /// Allows the model only these tools; see [`RequestOptions::only`]. The registry still runs other tools if the
    /// model calls them.
    pub fn only<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.change_request(|options| options.only(names))
    }

    /// Allows or forbids several calls in one response. By default, the provider decides.
    /// [`RunSettings::parallel`](crate::run::RunSettings::parallel) sets whether they run concurrently.
    pub fn parallel(self, is_allowed: bool) -> Self {
        self.change_request(|options| options.parallel(is_allowed))
    }

    /// Lets the provider cache the tools; see [`RequestOptions::cached`].
    pub fn cached(self) -> Self {
        self.change_request(RequestOptions::cached)
    }

    /// Requests answers of a type; see [`RequestOptions::answer`]. Read the text of an answer with
    /// [`TypedAnswer::parse`](tool_core::dialect::TypedAnswer::parse). [`Agent::answer`] does both.
    pub fn answer_type<T: ToolType + ?Sized>(self) -> Self {
        self.change_request(RequestOptions::answer::<T>)
    }

    /// Replaces the request settings. A run may have [its own](crate::run::Run::set_request_options).
    pub fn request_options(self, options: RequestOptions) -> Self {
        self.change_request(|_| options)
    }

    fn change_request(mut self, change: impl FnOnce(RequestOptions) -> RequestOptions) -> Self {
        self.options = change(self.options);
        self
    }

    /// Goes to another model when one is down, also in the middle of a run and across providers: the run is
    /// [translated](crate::run::Run::translate), and the next request goes to the other model. A call that ran does not run
    /// again because of it. After a [pause](Fallback::pause), the agent comes back to its first model.
    ///
    /// [`Event::FellBack`] and [`Event::Translated`] say what happened, and each request has a span with its own model. The
    /// [prices](Agent::prices) are those of all models without [their own](Fallback::prices).
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_agent::dialects::{Anthropic, OpenAiChat};
    /// use tool_agent::model::{ModelError, ModelErrorKind, Request};
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, Fallback};
    /// use tool_core::Registry;
    ///
    /// let down = |_: Request| {
    ///     std::future::ready(Err::<Value, _>(ModelError::new(ModelErrorKind::Overloaded, "503")))
    /// };
    /// let other = ScriptedModel::default().say("Hello!");
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), down)
    ///     .fallback(Fallback::to(Anthropic::default(), other));
    /// assert_eq!(agent.ask_blocking("Hello?")?, "Hello!");
    /// # Ok::<(), tool_agent::AgentError>(())
    /// ```
    pub fn fallback(mut self, fallback: Fallback) -> Self {
        self.fallback = Some(fallback);
        self
    }

    /// Sets the prices of the model, for [`RunSettings::max_micros`](crate::run::RunSettings::max_micros).
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Replaces old messages of a long run by a summary before the next request. A call always stays with its result,
    /// and a system prompt is kept. The [journal](Agent::journal) keeps the original messages.
    ///
    /// If a provider rejects a request because the conversation is too long for the model, it is summarised then, too, and
    /// the request is sent once more. Without this setting, the error says so
    /// ([`TooLong`](crate::model::ModelErrorKind::TooLong)).
    ///
    /// ```
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, Compaction};
    /// use tool_core::Registry;
    /// use tool_agent::dialects::Anthropic;
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]))
    ///     .compact(Compaction::at_tokens(100_000));
    /// # let _ = agent;
    /// ```
    pub fn compact(mut self, policy: Compaction) -> Self {
        self.compaction = Some(policy);
        self
    }

    /// Asks the model again if a response is no answer but another one might be, at most this many times for each
    /// message of the user. By default, the run ends with [`RunOutcome::NoAnswer`](crate::run::RunOutcome::NoAnswer) at
    /// once.
    ///
    /// | the response is | the model is told |
    /// |---|---|
    /// | [malformed](tool_core::dialect::End::Malformed) | to call the tool again, with the provider's words |
    /// | [empty](tool_core::dialect::End::Empty), or [silent](tool_core::dialect::End::Silent) | to answer, or to call a tool |
    /// | [cut off](tool_core::dialect::End::Length) | to go on; the answer is the text of both responses |
    /// | cut off before it had text | to answer in fewer words |
    ///
    /// The model is told by a message of the user in the run. The repeated requests count towards the
    /// [limits](crate::run::RunSettings). A response that was filtered, refused or failed is final. If a provider
    /// [pauses](tool_core::dialect::Turn::is_paused) in the middle of a turn, the agent continues without this setting.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// // The first response is empty.
    /// let model = ScriptedModel::default().say("").say("Once upon a time.");
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model).ask_again(2);
    /// assert_eq!(agent.ask_blocking("Tell a story.")?, "Once upon a time.");
    /// # Ok::<(), tool_agent::AgentError>(())
    /// ```
    pub fn ask_again(mut self, times: u32) -> Self {
        self.asks_again = times;
        self
    }

    /// Sets how [`reply`](Agent::reply) treats calls without a result.
    pub fn open_calls(mut self, open_calls: OpenCalls) -> Self {
        self.open_calls = open_calls;
        self
    }

    /// Lets [`run`](Agent::run) and similar methods return when the model ends its turn, even if calls of tools with
    /// [`background`](tool_core::ToolSpec::is_background) still run. They move to the [`BackgroundCalls`]. They
    /// progress while you wait on that value, and end when you drop it. Without this, a run waits for them.
    pub fn leave_background(mut self, calls: &BackgroundCalls) -> Self {
        self.background = Some(calls.clone());
        self
    }

    /// Calls a function with each event of this agent's runs, whichever method drives them. It should return quickly.
    ///
    /// ```
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, Event};
    /// use tool_core::Registry;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]))
    ///     .on_event(|event| {
    ///         if let Event::Text(piece) = event {
    ///             print!("{piece}");
    ///         }
    ///     });
    /// # let _ = agent;
    /// ```
    pub fn on_event(mut self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Links the spans of a run that is driven several times, such as before and after a decision or a crash. A run
    /// saves the trace of the `invoke_agent` span that drives it, and the next such span gets a link to it. `trace_of`
    /// returns the trace of a span, and `link` adds a link from a span to an earlier trace.
    ///
    /// Only your application knows its OpenTelemetry traces, so you pass two closures. With `tracing-opentelemetry`:
    ///
    /// ```ignore
    /// use std::collections::HashMap;
    /// use opentelemetry::propagation::TextMapPropagator;
    /// use opentelemetry::trace::TraceContextExt;
    /// use opentelemetry_sdk::propagation::TraceContextPropagator;
    /// use tool_core::call::TraceContext;
    /// use tracing_opentelemetry::OpenTelemetrySpanExt;
    ///
    /// let agent = agent.trace_links(
    ///     |span| {
    ///         let mut headers = HashMap::new();
    ///         TraceContextPropagator::new().inject_context(&span.context(), &mut headers);
    ///         TraceContext::new(headers.remove("traceparent")?)
    ///     },
    ///     |span, earlier| {
    ///         let headers = earlier.headers().map(|(name, value)| (name.to_owned(), value.to_owned()));
    ///         let headers: HashMap<_, _> = headers.collect();
    ///         let earlier = TraceContextPropagator::new().extract(&headers);
    ///         span.add_link(earlier.span().span_context().clone());
    ///     },
    /// );
    /// ```
    ///
    /// If a closure panics, the run goes on without the link. Tracestate and baggage are not saved.
    #[cfg(feature = "tracing")]
    pub fn trace_links(
        mut self,
        trace_of: impl Fn(&tracing::Span) -> Option<TraceContext> + Send + Sync + 'static,
        link: impl Fn(&tracing::Span, &TraceContext) + Send + Sync + 'static,
    ) -> Self {
        self.trace_links = Some(TraceLinks {
            trace_of: Arc::new(trace_of),
            link: Arc::new(link),
        });
        self
    }

    /// Records the messages of each request and its response in the `chat` span, as the attributes
    /// `gen_ai.input.messages` and `gen_ai.output.messages`. Each is limited to this many bytes. If a conversation is
    /// longer, its oldest messages are left out. By default none are recorded, because messages may be personal.
    ///
    /// The messages include arguments and results. [`RegistryBuilder::trace_content`] records those in the spans of the
    /// calls as well.
    ///
    /// [`RegistryBuilder::trace_content`]: tool_core::RegistryBuilder::trace_content
    ///
    /// # Secrets
    ///
    /// Arguments are recorded as [`Registry::shown`](tool_core::Registry::shown) returns them. A result that contains a
    /// [secret](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#secrets) is left out. Known secrets become
    /// `[secret]` in every other string too, such as an answer that repeats one; see
    /// [`Secrets`](tool_core::call::Secrets). Unknown secrets are recorded as they are:
    /// - a secret in a message of the user or in the system prompt, before a call has it as an argument,
    /// - a secret that a tool returns without the mark,
    /// - a secret shorter than four characters,
    /// - the arguments of a tool that another tool calls.
    ///
    /// A prompt that the model adds to requests, like `HttpModel::system`, is not recorded.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_agent::dialects::Anthropic;
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]));
    /// let agent = agent.trace_content(16_384);
    /// # let _ = agent;
    /// ```
    #[cfg(feature = "tracing")]
    pub fn trace_content(mut self, bytes: usize) -> Self {
        self.trace_content = Some(bytes);
        self
    }

    /// Sets the journal, which saves every step of this agent's runs before the next one; see
    /// [`run`](crate::run#saving).
    ///
    /// ```no_run
    /// use tool_agent::Agent;
    /// use tool_agent::run::FileJournal;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]))
    ///     .journal(FileJournal::new("runs"));
    /// # let _ = agent;
    /// ```
    pub fn journal(mut self, journal: impl Journal + 'static) -> Self {
        self.journal = Some(Arc::new(journal));
        self
    }

    /// Stops with [`RunOutcome::OutOfTime`](crate::run::RunOutcome::OutOfTime) after this time. The request to the
    /// model is dropped, and running calls are cancelled. The time counts for one call of [`run`](Agent::run), which
    /// you can call again to continue. Needs the timers of the registry's [`Runtime`](tool_core::runtime::Runtime).
    pub fn max_duration(mut self, time: Duration) -> Self {
        self.max_duration = Some(time);
        self
    }

    /// Ends this agent's runs with [`RunOutcome::Cancelled`](crate::run::RunOutcome::Cancelled) as soon as the token is
    /// cancelled. The request to the model is dropped. Running calls are cancelled, and the run keeps the results so
    /// far. A sync tool and an `after` hook still run to their end.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::model::Request;
    /// use tool_agent::dialects::Anthropic;
    /// use tool_agent::run::{Run, RunOutcome};
    /// use tool_core::call::CancellationToken;
    /// use tool_core::Registry;
    ///
    /// let silent = |_: Request| std::future::pending();
    /// let stop = CancellationToken::new();
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), silent).cancel_with(&stop);
    /// let thread = std::thread::spawn(move || agent.run_blocking(&mut Run::new("run-1")).unwrap());
    /// stop.cancel();
    /// assert_eq!(thread.join().unwrap(), RunOutcome::Cancelled);
    /// ```
    pub fn cancel_with(mut self, token: &CancellationToken) -> Self {
        self.cancellation = Some(token.clone());
        self
    }

    /// Applies a function to every call before it runs. Use it, for instance, to add a token that cancels this call
    /// alone, or the user of a program with a single one. The added values belong to the program that drives the run.
    /// If you have several users, give the runs an [owner](crate::run::RunBuilder::owner) and use
    /// [`contexts`](Agent::contexts), which is applied last. The function also sees a call again when it is repeated
    /// after a decision or an interruption. If it panics, the call ends as if its tool had panicked.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_agent::Agent;
    /// use tool_agent::dialects::Anthropic;
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// struct Folder(&'static str);
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]))
    ///     .each_call(|call| call.with(Folder("/home/ada")));
    /// # let _ = agent;
    /// ```
    pub fn each_call(
        mut self,
        prepare: impl Fn(ToolCall) -> ToolCall + Send + Sync + 'static,
    ) -> Self {
        let prepare = Guarded(Some(prepare));
        self.prepare = Some(Arc::new(move |call| match &prepare.0 {
            Some(prepare) => prepare(call),
            None => call,
        }));
        self
    }

    /// Attaches context values to each call, made from the [owner](RunInfo::owner) of its run, whoever continues the
    /// run. Required for runs with an owner. Runs without an owner call the closure too.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::run::RunInfo;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::dialects::Anthropic;
    /// use tool_core::{Registry, ToolCall};
    ///
    /// /// A user with the rights that the tools check.
    /// struct User {
    ///     id: String,
    ///     is_admin: bool,
    /// }
    ///
    /// async fn find_user(id: &str) -> Result<User, std::io::Error> {
    ///     // Read from the database.
    ///     Ok(User { id: id.into(), is_admin: false })
    /// }
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]));
    /// let agent = agent.contexts(|run: RunInfo, call| async move {
    ///     let owner = run.owner().ok_or("the run has no owner")?;
    ///     Ok::<ToolCall, _>(call.with(find_user(owner).await?))
    /// });
    /// # let _ = agent;
    /// ```
    ///
    /// If the closure returns an error or panics, the calls do not start, the run stays as it was, and the agent
    /// returns [`AgentError::Context`](crate::AgentError::Context).
    pub fn contexts<F>(
        mut self,
        contexts: impl Fn(RunInfo, ToolCall) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: HookFuture<Result<ToolCall, Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        self.contexts = Some(Arc::new(move |run, call| Box::pin(contexts(run, call))));
        self
    }

    /// Sets the system prompt of each run, for instance with the name of its [owner](RunInfo::owner). The closure is called
    /// for each request, and its prompt follows the prompt of the model, such as `HttpModel::system`. An empty one is
    /// omitted. A run should get the same prompt each time, because providers cache what requests have in common from
    /// their start.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::dialects::Anthropic;
    /// use tool_agent::run::RunInfo;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]))
    ///     .system_with(async |run: RunInfo| {
    ///         let user = run.owner().unwrap_or("a guest");
    ///         Ok(format!("You help {user} to plan a trip."))
    ///     });
    /// # let _ = agent;
    /// ```
    ///
    /// If the closure returns an error or panics, no request is sent, and the agent returns
    /// [`AgentError::Setup`](crate::AgentError::Setup).
    #[doc(alias("instructions", "dynamic system prompt"))]
    pub fn system_with<F>(mut self, prompt: impl Fn(RunInfo) -> F + Send + Sync + 'static) -> Self
    where
        F: HookFuture<Result<String, Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        self.system = Some(Arc::new(move |run| Box::pin(prompt(run))));
        self
    }

    /// Sets the tools of each run, for instance by the role of its [owner](RunInfo::owner), so that one agent serves all
    /// roles. The closure is called for each request and before calls start. The model is offered these tools alone. A
    /// call of another one does not run, even if the run had it in an earlier round: for the model it is unknown.
    ///
    /// When the tools of a run change, the model is told in a message at the end of the conversation, where the provider
    /// takes one, because another list at its start would void the provider's cache. `tool_core::guide::registries` has a
    /// table of the dialects.
    ///
    /// Return a [selection](Registry::select) of the agent's registry. Make it once for each role and not in the closure,
    /// because the agent keeps the request of a registry.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::Agent;
    /// use tool_agent::dialects::OpenAiChat;
    /// use tool_agent::run::{Run, RunInfo};
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Returns an order.
    /// #[tool(read_only)]
    /// fn order(number: u32) -> String {
    ///     format!("{number}: a lamp")
    /// }
    ///
    /// /// Pays the price of an order back.
    /// #[tool(destructive)]
    /// fn refund(number: u32) -> String {
    ///     format!("{number} is paid back")
    /// }
    ///
    /// let all = Registry::builder().tools(tools![order, refund]).build()?;
    /// let technicians = all.select(|tool| tool.name != "refund");
    /// let model = ScriptedModel::default().call("refund", json!({"number": 7})).say("I can't.");
    /// let agent = Agent::new(all.clone(), OpenAiChat::default(), model)
    ///     .contexts(async |_, call| Ok(call))
    ///     .tools_with(move |run: RunInfo| {
    ///         let is_lead = run.owner() == Some("eve");
    ///         std::future::ready(Ok(if is_lead { &all } else { &technicians }.clone()))
    ///     });
    ///
    /// let mut run = Run::builder("run-1").owner("ada").build();
    /// run.push(agent.dialect().user_message("Pay 7 back."))?;
    /// agent.run_blocking(&mut run)?;
    /// let (_, result) = run.rounds()[0].calls().next().unwrap();
    /// assert!(result.unwrap().content().contains("unknown tool refund"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// If the closure returns an error or panics, no request is sent, no call starts, and the agent returns
    /// [`AgentError::Setup`](crate::AgentError::Setup).
    #[doc(alias("roles", "permissions", "dynamic tools"))]
    pub fn tools_with<F>(mut self, tools: impl Fn(RunInfo) -> F + Send + Sync + 'static) -> Self
    where
        F: HookFuture<Result<Registry, Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        self.tools = Some(Arc::new(move |run| Box::pin(tools(run))));
        self
    }

    /// Sets who may [decide](Agent::decide) on held calls. The closure returns `true` if the
    /// [`user`](DecisionRequest::user) may. The agent asks it for each decision, and again before the call starts. If
    /// the decision is no longer allowed by then, the call waits again. [`DecisionPolicy`] lists further rules, which
    /// always hold.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_agent::dialects::Anthropic;
    ///
    /// async fn is_lead(user: &str) -> bool {
    ///     // Read from the database.
    ///     user == "user-3"
    /// }
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]));
    /// // Owners confirm their own calls, and leads decide on other people's.
    /// let agent = agent.may_decide(async |request| {
    ///     request.is_owner() || is_lead(&request.user).await
    /// });
    /// # let _ = agent;
    /// ```
    pub fn may_decide<F>(
        mut self,
        allows: impl Fn(DecisionRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: HookFuture<bool> + Send + 'static,
    {
        self.policy = DecisionPolicy::new(allows);
        self
    }

    /// Runs calls through a tower service in place of the [registry](Agent::registry), for instance the registry
    /// wrapped in layers. If a layer fails, the error becomes the result of the call.
    #[cfg(feature = "tower")]
    pub fn call_service<S>(mut self, service: S) -> Self
    where
        S: tower_service::Service<ToolCall, Response = ToolResult> + Clone + Send + Sync + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        S::Future: Send,
    {
        self.call_service = Some(Arc::new(move |call| {
            let mut service = service.clone();
            Box::pin(async move {
                let own = call.clone();
                let ready = std::future::poll_fn(|cx| service.poll_ready(cx))
                    .await
                    .map_err(Into::into);
                let result = match ready {
                    Ok(()) => service.call(call).await.map_err(Into::into),
                    Err(error) => Err(error),
                };
                result.unwrap_or_else(|error: Box<dyn Error + Send + Sync>| {
                    ToolResult::failed(&own, error)
                })
            })
        }));
        self
    }

    /// Answers calls by a function in place of the tools, for instance in a test. The functions of
    /// [`each_call`](Agent::each_call) and [`contexts`](Agent::contexts) are removed, so no code of the application runs.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::Agent;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::dialects::OpenAiChat;
    /// use tool_core::{Registry, ToolResult, tool, tools};
    ///
    /// /// Deletes a note.
    /// #[tool]
    /// fn delete_note(id: u32) {
    ///     unreachable!("{id}");
    /// }
    ///
    /// let model = ScriptedModel::default()
    ///     .call("delete_note", json!({"id": 7}))
    ///     .say("It is gone.");
    /// let registry = Registry::builder().tools(tools![delete_note]).build()?;
    /// let agent = Agent::new(registry, OpenAiChat::default(), model)
    ///     .answer_calls(async |call| ToolResult::new(&call, "Done."));
    /// assert_eq!(agent.ask_blocking("Delete note 7")?, "It is gone.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answer_calls<F>(mut self, answer: impl Fn(ToolCall) -> F + Send + Sync + 'static) -> Self
    where
        F: HookFuture<ToolResult> + Send + 'static,
    {
        self.call_service = Some(Arc::new(move |call| Box::pin(answer(call))));
        self.prepare = None;
        self.contexts = None;
        self
    }

    /// Removes the [journal](Agent::journal) and the [listener](Agent::on_event), so that a copy of the application's
    /// agent can try something out without leaving a trace in the application.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// let model = ScriptedModel::default().say("Hello!");
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model)
    ///     .on_event(|event| unreachable!("{event:?}"));
    /// assert_eq!(agent.clone().detached().ask_blocking("Hello?")?, "Hello!");
    /// # Ok::<(), tool_agent::AgentError>(())
    /// ```
    pub fn detached(mut self) -> Self {
        self.journal = None;
        self.listener = None;
        self
    }

    /// Replaces the tools.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::dialects::OpenAiChat;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Tells the time.
    /// #[tool]
    /// fn time() -> &'static str {
    ///     "noon"
    /// }
    ///
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]));
    /// let agent = agent.with_registry(Registry::builder().tools(tools![time]).build()?);
    /// assert_eq!(agent.registry().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Replaces the model by another, which may wrap it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tool_agent::Agent;
    /// use tool_agent::model::{Model, ModelFuture, Request};
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// /// Prints how many messages each request has.
    /// struct Printed(Arc<dyn Model>);
    ///
    /// impl Model for Printed {
    ///     fn ask(&self, request: Request) -> ModelFuture<'_> {
    ///         println!("{} messages", request.messages.len());
    ///         self.0.ask(request)
    ///     }
    /// }
    ///
    /// let model = ScriptedModel::default().say("Hello!");
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
    /// assert_eq!(agent.map_model(Printed).ask_blocking("Hello?")?, "Hello!");
    /// # Ok::<(), tool_agent::AgentError>(())
    /// ```
    pub fn map_model<M: Model + 'static>(
        mut self,
        change: impl FnOnce(Arc<dyn Model>) -> M,
    ) -> Self {
        self.first.model = Arc::new(change(self.first.model));
        self
    }

    /// Returns `true` if the agent has [prices](Agent::prices), so that the costs of rounds are known.
    ///
    /// ```
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, Prices};
    /// use tool_core::Registry;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]));
    /// assert!(!agent.has_prices());
    /// assert!(agent.prices(Prices::new(3_000_000, 15_000_000)).has_prices());
    /// ```
    pub fn has_prices(&self) -> bool {
        self.prices.is_some()
    }

    /// Repeats failed requests to the model, following [`Retry`]. A response that breaks off in the middle of its
    /// stream is not repeated. The models of a [fallback](Agent::fallback) that is set already are asked again, too.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_agent::Agent;
    /// use tool_agent::model::Retry;
    /// use tool_agent::dialects::Anthropic;
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]));
    /// let agent = agent.retry(Retry::new(3));
    /// # let _ = agent;
    /// ```
    #[cfg(feature = "tower")]
    pub fn retry(mut self, policy: Retry) -> Self {
        let others = self.fallback.iter_mut();
        let others = others.flat_map(|fallback| &mut fallback.others);
        for speaker in std::iter::once(&mut self.first).chain(others) {
            let service = ModelService::shared(Arc::clone(&speaker.model));
            let service = tower::retry::Retry::new(policy.clone(), service);
            speaker.model = Arc::new(ServiceModel::new(service));
        }
        self
    }
}
