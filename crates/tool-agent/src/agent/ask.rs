//! Creates agents, and asks their models.

use tool_core::dialect::{Dialect, RequestOptions, TypedAnswer};
use tool_core::hooks::DecisionPolicy;
use tool_core::runtime::block_on;
use tool_core::{DecodeOwned, Registry, ToolType};

use super::background::Background;
use super::error::{AgentError, Typed, Unfinished, UnfinishedReason};
use super::events::{Event, EventQueue, EventSink, Events};
use super::fallback::Speaker;
use super::telemetry::Invocation;
use super::{Agent, Goal, OpenCalls};
use crate::model::Model;
use crate::run::{Run, RunOutcome, random_id};

impl Agent {
    /// Creates an agent.
    pub fn new(
        registry: Registry,
        dialect: impl Dialect + 'static,
        model: impl Model + 'static,
    ) -> Agent {
        Agent {
            registry,
            first: Speaker::new(dialect, model),
            fallback: None,
            journal: None,
            prepare: None,
            contexts: None,
            system: None,
            tools: None,
            policy: DecisionPolicy::default(),
            call_service: None,
            cancellation: None,
            max_duration: None,
            options: RequestOptions::new(),
            prices: None,
            compaction: None,
            open_calls: OpenCalls::default(),
            asks_again: 0,
            background: None,
            listener: None,
            #[cfg(feature = "tracing")]
            trace_links: None,
            #[cfg(feature = "tracing")]
            trace_content: None,
        }
    }

    /// Asks the model one question and returns its answer. For a conversation, use a [`Run`].
    ///
    /// ```
    /// use tool_agent::{Agent, AgentError};
    ///
    /// async fn translate(agent: &Agent, word: &str) -> Result<String, AgentError> {
    ///     agent.ask(&format!("Translate to Portuguese, one word: {word}")).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Agent::run). If there is no answer, or an error follows calls that have run,
    /// returns [`AgentError::Unfinished`], which contains the run.
    pub async fn ask(&self, question: &str) -> Result<String, AgentError> {
        let mut run = Run::new(random_id());
        run.push(self.dialect().user_message(question))?;
        let answered = self.run(&mut run).await;
        Unfinished::check(answered, run).map(|(answer, _)| answer)
    }

    /// Asks the model one question and returns its answer as a value of a type; see [`answer`](Agent::answer). If the
    /// answer does not match the schema, the model sees the violations and gets one chance to correct it.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::Agent;
    /// use tool_agent::dialects::Anthropic;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::{Registry, ToolType};
    ///
    /// #[derive(ToolType)]
    /// struct Sum {
    ///     total: i64,
    /// }
    ///
    /// let model = ScriptedModel::new([json!({"role": "assistant", "content": [
    ///     {"type": "text", "text": "{\"total\":5}"},
    /// ]})]);
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), model);
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let sum: Sum = agent.ask_for("What is 2 + 3?").await?;
    /// assert_eq!(sum.total, 5);
    /// # Ok::<(), tool_agent::AgentError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ask`](Agent::ask), and [`AgentError::Answer`] if the second answer does not match the
    /// schema.
    #[doc(alias("structured output", "response_format", "output_type"))]
    pub async fn ask_for<T>(&self, question: &str) -> Result<T, AgentError>
    where
        T: ToolType + DecodeOwned,
    {
        let mut run = Run::new(random_id());
        run.push(self.dialect().user_message(question))?;
        match self.answer(&mut run).await {
            Ok(Typed::Answered(value)) => Ok(value),
            Ok(Typed::Ended(outcome)) => {
                Err(Unfinished::error(UnfinishedReason::Ended(outcome), run))
            }
            Err(error) => Err(Unfinished::of_error(error, run)),
        }
    }

    /// Drives a run like [`run`](Agent::run), and returns its answer as a value of a type. If the answer does not match
    /// the schema, the model sees the violations and gets one chance to correct it. After a [decision](Agent::decide),
    /// call this method again.
    ///
    /// ```
    /// use tool_agent::run::Run;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, Typed};
    /// use tool_core::Registry;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// let model = ScriptedModel::default().say(r#"{"answer":5}"#).say(r#"{"answer":7}"#);
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
    /// let mut run = Run::new("conversation-1");
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// for (question, sum) in [("What is 2 + 3?", 5), ("And plus 2?", 7)] {
    ///     run.push(agent.dialect().user_message(question))?;
    ///     assert_eq!(agent.answer::<i64>(&mut run).await?, Typed::Answered(sum));
    /// }
    /// # Ok::<(), tool_agent::AgentError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Agent::run), and [`AgentError::Answer`] if the second answer does not match the
    /// schema.
    pub async fn answer<T>(&self, run: &mut Run) -> Result<Typed<T>, AgentError>
    where
        T: ToolType + DecodeOwned,
    {
        let agent = self.clone().answer_type::<T>();
        let first = match agent.run(run).await? {
            RunOutcome::Answered(text) => text,
            outcome => return Ok(Typed::Ended(outcome)),
        };
        let error = match TypedAnswer::parse(&first) {
            Ok(answer) => return Ok(Typed::Answered(answer)),
            Err(error) => error,
        };
        run.push(self.dialect_of(run).user_message(&error.to_string()))?;
        match agent.run(run).await? {
            RunOutcome::Answered(text) => {
                let answer = TypedAnswer::parse(&text).map_err(AgentError::Answer);
                answer.map(Typed::Answered)
            }
            outcome => Ok(Typed::Ended(outcome)),
        }
    }

    /// Adds a message of the user to a run and drives it. This is the method for a chat, because it works in any state
    /// of the run.
    ///
    /// If an interruption left calls without results, they come first, as [`open_calls`](Agent::open_calls) says. If
    /// some of them wait for decisions, the message is not added and the outcome is [`RunOutcome::Waiting`]. Likewise
    /// for [`RunOutcome::Unanswered`].
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::run::{Run, RunOutcome};
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// let model = ScriptedModel::default().say("Hello!");
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model)
    ///     .contexts(async |_, call| Ok(call));
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let (id, user) = ("conversation-1", "user-7");
    /// let new = || Run::builder(id).owner(user).build();
    /// let mut run = agent.load(id).await?.unwrap_or_else(new);
    /// assert_eq!(run.info().owner(), Some(user), "it is somebody else's");
    /// let outcome = agent.reply(&mut run, "Hello?").await?;
    /// assert_eq!(outcome, RunOutcome::Answered("Hello!".into()));
    /// # Ok::<(), tool_agent::AgentError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Agent::run).
    pub async fn reply(&self, run: &mut Run, text: &str) -> Result<RunOutcome, AgentError> {
        self.reply_with(run, text.to_owned(), None).await
    }

    /// Replies like [`reply`](Agent::reply), and returns the events as a stream.
    pub fn reply_events<'a>(&'a self, run: &'a mut Run, text: &str) -> Events<'a> {
        let queue = EventQueue::default();
        let replying = self.reply_with(run, text.to_owned(), Some(queue.clone()));
        Events::new(queue, replying)
    }

    async fn reply_with(
        &self,
        run: &mut Run,
        text: String,
        queue: Option<EventQueue>,
    ) -> Result<RunOutcome, AgentError> {
        let invocation = Invocation::new(self.observed(self.speaker_of(run)), run);
        // On the heap, because callers' futures contain this one.
        let driving = Box::pin(self.reply_in(&invocation, run, text, queue));
        invocation.run(driving).await
    }

    async fn reply_in(
        &self,
        invocation: &Invocation<'_>,
        run: &mut Run,
        text: String,
        queue: Option<EventQueue>,
    ) -> Result<RunOutcome, AgentError> {
        self.check_driving(run)?;
        let mut background = Background::of(self.background.clone(), run);
        match self.open_calls {
            OpenCalls::Finish => {
                let outcome = self
                    .drive(
                        invocation,
                        run,
                        &mut background,
                        queue.clone(),
                        Goal::Results,
                    )
                    .await?;
                if let Some(outcome) = outcome {
                    return Ok(outcome);
                }
                if !run.unanswered().is_empty() {
                    return self.drive_in(invocation, run, background, queue).await;
                }
            }
            OpenCalls::Cancel if run.open_round().is_some() || !run.unanswered().is_empty() => {
                background.resume(run, self.dialect_of(run), &self.registry)?;
                run.cancel_response(self.dialect_of(run))?;
            }
            OpenCalls::Cancel => {}
        }
        run.push(self.dialect_of(run).user_message(&text))?;
        invocation.save_in(run);
        self.save(run).await?;
        EventSink::new(queue.clone(), self.listener.clone()).push(Event::Message(text));
        self.drive_in(invocation, run, background, queue).await
    }

    /// Runs [`ask`](Agent::ask) on this thread, for programs without an async runtime.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ask`](Agent::ask).
    pub fn ask_blocking(&self, question: &str) -> Result<String, AgentError> {
        block_on(self.ask(question)).map_err(AgentError::NoRuntime)?
    }

    /// Runs [`run`](Agent::run) on this thread, for programs without an async runtime.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Agent::run).
    pub fn run_blocking(&self, run: &mut Run) -> Result<RunOutcome, AgentError> {
        block_on(self.run(run)).map_err(AgentError::NoRuntime)?
    }

    /// Sends requests and runs calls until the run is done or waits for a decision. Also waits for calls in the
    /// background and gives the model their results, so that an answer is complete and nothing runs after it. With
    /// [`leave_background`](Agent::leave_background) it does not wait.
    ///
    /// Dropping the future stops the run. The run keeps everything known so far. Call this method again to continue; it
    /// [resumes](Run::resume) interrupted calls.
    ///
    /// ```
    /// use tool_agent::run::RunOutcome;
    /// use tool_agent::{Agent, AgentError};
    ///
    /// async fn go_on(agent: &Agent, id: &str) -> Result<Option<RunOutcome>, AgentError> {
    ///     let Some(mut run) = agent.load(id).await? else { return Ok(None) };
    ///     agent.run(&mut run).await.map(Some)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a request fails, if the dialect can't read the response, or if the run can't be saved. The
    /// run then is in its state after the last complete step, and can continue.
    pub async fn run(&self, run: &mut Run) -> Result<RunOutcome, AgentError> {
        self.drive_to_end(run, None).await
    }

    /// Drives a run like [`run`](Agent::run), and returns the events as a stream.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use tool_core::Registry;
    /// use tool_agent::{Agent, Event};
    /// use tool_agent::dialects::Anthropic;
    /// use tool_agent::run::Run;
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// let model = ScriptedModel::default().say("Hello!");
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), model);
    /// let mut run = Run::new("conversation-1");
    /// run.push(agent.dialect().user_message("Hello?"))?;
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let mut events = agent.events(&mut run);
    /// while let Some(event) = events.next().await {
    ///     match event? {
    ///         Event::Text(text) => print!("{text}"),
    ///         Event::Call { call, shown } => println!("calls {} with {shown}", call.name),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok::<(), tool_agent::AgentError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn events<'a>(&'a self, run: &'a mut Run) -> Events<'a> {
        let queue = EventQueue::default();
        Events::new(queue.clone(), self.drive_to_end(run, Some(queue)))
    }
}
