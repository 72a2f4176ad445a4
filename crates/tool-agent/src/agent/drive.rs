//! Drives the runs of an [`Agent`].

use std::future::{Future, pending, poll_fn, ready};
use std::ops::Range;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Instant;

use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;
use tool_core::call::{CallPosition, CancellationToken};
use tool_core::dialect::{
    Dialect, End, Message, RequestOptions, ResponseError, StreamEvent, Turn, Usage,
};
use tool_core::runtime::{BoxFuture, NoRuntime};
use tool_core::{Registry, ToolCall, ToolResult};

use super::background::{Background, Ended};
use super::events::{Caller, EventQueue, EventSink};
use super::fallback::{Speaker, time_after};
use super::telemetry::{Chat, Invocation, Summary};
use super::{Agent, AgentError, Event, Goal, PartialArguments, PreparedCall, part_of};
use crate::guarded::{caught, finished};
use crate::model::{ModelError, ModelErrorKind, Request, Response};
use crate::run::{At, Run, RunError, RunOutcome, Step, WithoutIncrements, position_of};

impl Agent {
    pub(super) async fn drive_to_end(
        &self,
        run: &mut Run,
        queue: Option<EventQueue>,
    ) -> Result<RunOutcome, AgentError> {
        let invocation = Invocation::new(self.observed(self.speaker_of(run)), run);
        let background = Background::of(self.background.clone(), run);
        let driving = Box::pin(self.drive_in(&invocation, run, background, queue));
        invocation.run(driving).await
    }

    pub(super) async fn drive_in(
        &self,
        invocation: &Invocation<'_>,
        run: &mut Run,
        mut background: Background,
        queue: Option<EventQueue>,
    ) -> Result<RunOutcome, AgentError> {
        loop {
            let driving = self.drive(
                invocation,
                run,
                &mut background,
                queue.clone(),
                Goal::Answer,
            );
            if let Some(outcome) = driving.await? {
                return Ok(outcome);
            }
        }
    }

    /// Drives a run. Returns `None` if it reaches the goal without an outcome.
    pub(super) async fn drive(
        &self,
        invocation: &Invocation<'_>,
        run: &mut Run,
        background: &mut Background,
        queue: Option<EventQueue>,
        goal: Goal,
    ) -> Result<Option<RunOutcome>, AgentError> {
        self.check_driving(run)?;
        let events = EventSink::new(queue, self.listener.clone());
        let emit = |event: Event| events.push(event);
        let token = self.cancellation.as_ref();
        // This token also cancels the calls at the time limit.
        let stop = token.map_or_else(CancellationToken::default, CancellationToken::child);
        // Without a journal nobody saves the increments, so they are discarded.
        let mut run = WithoutIncrements::new(run, self.journal.is_none());
        let run = &mut *run;
        let mut time = TimeLimit {
            timer: pin!(self.out_of_time().fuse()),
            end: self.max_duration.and_then(time_after),
            is_over: false,
        };
        let mut pace = Pace::default();
        let mut running = FuturesUnordered::new();
        let last = self.speaker_of(run);
        run.prepare_for(&last.server, &*last.dialect);
        let interrupted = background.resume(run, self.dialect_of(run), &self.registry)?;
        interrupted.into_iter().map(Event::Result).for_each(emit);
        invocation.save_in(run);
        loop {
            pace.step().await;
            // Needed if every future is ready at once, because then nothing polls the timer.
            time.look();
            // Starts new calls before the next request, and shows at once which are held.
            background.meanwhile(ready(())).await;
            while let Some(result) = background.take(run) {
                self.finish(run, result, &events)?;
            }
            if token.is_some_and(CancellationToken::is_cancelled) {
                run.cancel(self.dialect_of(run))?;
            }
            if time.is_over {
                stop.cancel();
            }
            if time.is_over || run.is_cancelled() {
                background.cancel();
            }
            self.save(run).await?;
            if goal == Goal::Results && run.open_round().is_none() {
                return Ok(None);
            }
            match run.next() {
                Step::Request(_) | Step::Call(_)
                    if time.is_over && running.is_empty() && background.is_empty() =>
                {
                    return Ok(Some(RunOutcome::OutOfTime));
                }
                Step::Request(_) if !time.is_over => {
                    let responding = self.respond(invocation, run, &events);
                    let responding = background.meanwhile(until_cancelled(token, responding));
                    if let Some(responded) = time.within(responding).await?.flatten() {
                        responded?;
                    }
                }
                Step::Call(calls) if !time.is_over => {
                    let preparing = until_cancelled(token, async {
                        let registry = self.tools_of(run.info()).await?;
                        let mut prepared = Vec::with_capacity(calls.len());
                        let mut pace = Pace::default();
                        for call in &calls {
                            pace.step().await;
                            prepared.push(self.prepared(run.info(), call).await?);
                        }
                        // Checked last, right before the calls start.
                        let forbidden = self.forbidden(run, &calls).await;
                        Ok::<_, AgentError>((registry, prepared, forbidden))
                    });
                    let Some(prepared) = time.within(preparing).await?.flatten() else {
                        continue;
                    };
                    let (registry, prepared, forbidden) = prepared?;
                    if revoke(run, forbidden, &emit) {
                        continue;
                    }
                    let mut starting = Starting::new(run, &calls)?;
                    let denied = starting.run.acknowledge(
                        self.dialect_of(starting.run),
                        &self.registry,
                        &calls,
                    )?;
                    self.save(starting.run).await?;
                    starting.calls.clear();
                    drop(starting);
                    invocation.count_calls(calls.len());
                    for (call, prepared) in calls.into_iter().zip(prepared) {
                        let is_denied = |result: &&ToolResult| result.position() == call.position();
                        if let Some(result) = denied.iter().find(is_denied) {
                            emit(Event::Result(result.clone()));
                            continue;
                        }
                        let position = call.position().filter(|_| run.is_in_background(&call));
                        let position = position.cloned();
                        if events.is_read() {
                            let shown = self.registry.shown(&call);
                            let call = call.clone();
                            emit(Event::Call { call, shown });
                        }
                        let prepared = PreparedCall {
                            registry: registry.clone(),
                            call,
                            prepared,
                        };
                        let Some(position) = position else {
                            running.push(self.call(prepared, &stop, events.clone()));
                            continue;
                        };
                        emit(Event::Acknowledged(position.clone()));
                        let stop = background.stop();
                        let calling = self.call(prepared, &stop, events.clone());
                        background.push(position, calling.boxed());
                    }
                }
                Step::Running
                    if background.is_left()
                        && run.open_round().is_none()
                        && !run.is_cancelled() =>
                {
                    return Ok(run.outcome());
                }
                Step::Wait(pending) if background.is_left() || background.is_empty() => {
                    return Ok(Some(RunOutcome::Waiting(pending)));
                }
                Step::Request(_) | Step::Call(_) | Step::Running | Step::Wait(_) => {
                    // After a cancellation, only the results are awaited.
                    let token = token.filter(|token| !token.is_cancelled());
                    let ended = background.or_ended(&mut running);
                    let ended = until_cancelled(token, ended);
                    match time.within(ended).await?.flatten() {
                        Some(Ended::Other(result)) => self.finish(run, result, &events)?,
                        // The caller started calls and does not run them.
                        Some(Ended::Nothing) => {
                            background.resume(run, self.dialect_of(run), &self.registry)?;
                        }
                        Some(Ended::Here) | None => {}
                    }
                }
                Step::Done(outcome) => return Ok(Some(outcome)),
            }
        }
    }

    /// Performs [`Step::Request`]: adds the model's response to a run, or replaces old messages by a summary. Goes to the
    /// next model if one is down.
    pub(super) async fn respond(
        &self,
        invocation: &Invocation<'_>,
        run: &mut Run,
        events: &EventSink,
    ) -> Result<(), AgentError> {
        let Some(fallback) = &self.fallback else {
            return self.respond_by(&self.first, invocation, run, events).await;
        };
        let speaker = |at: usize| match at.checked_sub(1) {
            None => &self.first,
            Some(at) => &fallback.others[at],
        };
        let mut order = fallback.order().into_iter().peekable();
        while let Some(at) = order.next() {
            let own = speaker(at);
            if run.info().dialect() != Some(own.dialect.provider()) {
                let losses = run.translate(self.dialect_of(run), &*own.dialect)?;
                if !(run.rounds().is_empty() && losses.is_empty()) {
                    events.push(Event::Translated(losses));
                }
            }
            // Boxed so that the future of an agent with one model stays small.
            let responded = Box::pin(self.respond_by(own, invocation, run, events)).await;
            let Err(AgentError::Model(error)) = responded else {
                return responded;
            };
            if !fallback.goes_on(&error) {
                return Err(AgentError::Model(error));
            }
            fallback.failed(at);
            let Some(next) = order.peek() else {
                return Err(AgentError::Model(error));
            };
            let (from, to) = (own.shown(), speaker(*next).shown());
            Invocation::fell_back(&from, &to, &error);
            let error = error.to_string();
            events.push(Event::FellBack { from, to, error });
        }
        Ok(())
    }

    /// Asks one model.
    async fn respond_by(
        &self,
        speaker: &Speaker,
        invocation: &Invocation<'_>,
        run: &mut Run,
        events: &EventSink,
    ) -> Result<(), AgentError> {
        let dialect = &*speaker.dialect;
        run.prepare_for(&speaker.server, dialect);
        let registry = self.tools_of(run.info()).await?;
        if let Some(old) = self.old_messages(run)
            && self
                .shorten(speaker, &registry, invocation, run, old)
                .await?
        {
            return Ok(());
        }
        let Step::Request(_) = run.next() else {
            return Err(RunError::NotRequested.into());
        };
        let mut options = self.options_of(run)?.background();
        if run.has_called() {
            options = options.without_required_choice();
        }
        let has_answer = options.has_answer();
        let forbids_calls = options.forbids_calls();
        let history = Arc::clone(run.sent());
        let with = |options: RequestOptions| {
            let tools = registry.request(dialect).options(options);
            let messages = history.iter().map(|message| &**message);
            tools.history(messages).build_in(&speaker.requests)
        };
        let tools = with(options.clone())
            .and_then(|tools| run.keep_tools(dialect, tools, || with(options.only_these())));
        let tools = tools.map_err(AgentError::Request)?;
        // Else the run would copy all messages to add one.
        drop(history);
        // A change of tools may have added one.
        let messages = Arc::clone(run.sent());
        if let Some(way) = tools.answer_way() {
            events.push(Event::AnswerWay(way));
        }
        let request = Request::of(messages, tools);
        let system = part_of("the system prompt", self.system.as_ref(), run.info()).await?;
        let mut request = request.continued(run.continuation().clone()).system(system);
        request.prefers_stream = events.is_read();
        let asking = self.response(speaker, invocation, request, run, events, None);
        let (mut turn, shows_text) = match asking.await {
            // Once, because the next summary needs a response before it.
            Err(AgentError::Model(error)) if error.kind() == ModelErrorKind::TooLong => {
                let compaction = self.compaction.as_ref();
                let old = compaction.and_then(|compaction| run.old_messages(compaction.kept_parts));
                let is_shorter = match old {
                    Some(old) => {
                        self.shorten(speaker, &registry, invocation, run, old)
                            .await?
                    }
                    None => false,
                };
                if is_shorter {
                    return Ok(());
                }
                let error = error.with_advice(compaction.is_some());
                return Err(AgentError::Model(error));
            }
            asked => asked?,
        };
        if has_answer {
            turn.accept_answer(|results| dialect.results(results));
        }
        let micros = self.micros(speaker, run, turn.usage);
        run.respond_at(dialect, &registry, turn, micros)?;
        if forbids_calls {
            // The request could not forbid calls with every provider.
            run.deny_calls(dialect, "calls are not allowed now; answer in text");
        }
        self.ask_again_in(run);
        if events.is_read() {
            emit_response(run, shows_text, &|event| events.push(event));
        }
        Ok(())
    }

    /// Replaces old messages by a summary. Returns `false` if there is none.
    async fn shorten(
        &self,
        speaker: &Speaker,
        registry: &Registry,
        invocation: &Invocation<'_>,
        run: &mut Run,
        old: Range<usize>,
    ) -> Result<bool, AgentError> {
        // Boxed because it is large and rarely needed.
        let summarising = Box::pin(self.summarise(speaker, registry, invocation, run, old));
        let Some(summary) = summarising.await? else {
            return Ok(false);
        };
        let micros = self.micros(speaker, run, summary.usage);
        run.compact(summary.old, summary.message, summary.usage, micros);
        Ok(true)
    }

    /// Asks the model again if the last response is no answer, up to the agent's limit.
    fn ask_again_in(&self, run: &mut Run) {
        if run.asked_again() >= self.asks_again {
            return;
        }
        if let Some(RunOutcome::NoAnswer(none)) = run.outcome()
            && let Some(text) = none.to_model()
        {
            let continues = none.end == End::Length && !none.text.is_empty();
            run.ask_again(self.dialect_of(run).user_message(&text), continues);
        }
    }

    /// Returns the request settings for a run.
    fn options_of(&self, run: &Run) -> Result<RequestOptions, AgentError> {
        let Some(own) = run.request_options() else {
            return Ok(self.options.clone());
        };
        let options = own.clone().with_answer_of(&self.options);
        options.map_err(|error| AgentError::AnswerType {
            run: run.id().into(),
            error,
        })
    }

    /// Takes a call's result.
    pub(super) fn finish(
        &self,
        run: &mut Run,
        result: ToolResult,
        events: &EventSink,
    ) -> Result<(), AgentError> {
        if !events.is_read() {
            return Ok(run.finish(self.dialect_of(run), result)?);
        }
        let position = result.position().cloned();
        let shown = result.clone();
        run.finish(self.dialect_of(run), result)?;
        events.push(match run.pending_at(position.as_ref()) {
            Some(pending) => Event::Held(pending),
            None => Event::Result(shown),
        });
        Ok(())
    }

    /// Returns the cost of a response. If the usage is unknown, the cost reaches any limit.
    fn micros(&self, speaker: &Speaker, run: &Run, usage: Option<Usage>) -> u64 {
        match (speaker.prices.or(self.prices), usage) {
            (Some(prices), Some(usage)) => prices.micros(usage),
            (Some(_), None) if run.settings().max_micros != u64::MAX => u64::MAX,
            _ => 0,
        }
    }

    /// Asks the model for the response of this round, or for a summary. Also returns `true` if its text was not shown
    /// yet.
    pub(super) async fn response(
        &self,
        speaker: &Speaker,
        invocation: &Invocation<'_>,
        request: Request,
        run: &Run,
        events: &EventSink,
        summary: Option<&Summary<'_>>,
    ) -> Result<(Turn, bool), AgentError> {
        let chat = Chat::new(self.observed(speaker), invocation, run, &request, summary);
        let reading = self.read_response(speaker, request, run.rounds().len(), events, &chat);
        // Boxed because it is large and part of every future that drives a run.
        let reading = finished("the model", Box::pin(reading));
        let read = async {
            reading
                .await
                .unwrap_or_else(|panic| Err(AgentError::of_panic(panic)))
        };
        chat.run(read).await
    }

    async fn read_response(
        &self,
        speaker: &Speaker,
        request: Request,
        round: usize,
        events: &EventSink,
        chat: &Chat<'_>,
    ) -> Result<(Turn, bool), AgentError> {
        let misread = |error: ModelError| {
            let turn = error.into_malformed().map_err(AgentError::Model)?;
            chat.finish(&turn, &Value::Null);
            Ok((turn, false))
        };
        let asked = match speaker.model.ask(request).await {
            Ok(response) => response,
            Err(error) => return misread(error),
        };
        let mut stream = match asked {
            Response::Whole(response) => {
                let turn = speaker.dialect.read(&response);
                let turn = turn.map_err(|error| unreadable(speaker, error))?;
                chat.finish(&turn, &response);
                return Ok((turn, true));
            }
            Response::Parts { text, calls } => {
                let turn = written(&*speaker.dialect, text, calls).map_err(AgentError::Model)?;
                chat.finish(&turn, &Value::Null);
                return Ok((turn, true));
            }
            Response::Stream(stream) => stream,
        };
        let mut is_first = true;
        let mut reader = speaker.dialect.stream();
        let mut calls = Vec::new();
        let mut pace = Pace::default();
        while let Some(event) = stream.next().await {
            pace.step().await;
            let event = match event {
                Ok(event) => event,
                Err(error) => return misread(error),
            };
            if std::mem::take(&mut is_first) {
                chat.first_chunk();
            }
            let read = reader.json(&event);
            for event in read.map_err(|error| unreadable(speaker, error))? {
                if events.is_read()
                    && let Some(event) = self.shown(event, round, &mut calls)
                {
                    events.push(event);
                }
            }
        }
        match reader.finish() {
            Ok((turn, response)) => {
                chat.finish(&turn, &response);
                Ok((turn, false))
            }
            // If the connection ends early, that may look like the end of the response.
            Err(error) if error.is_incomplete() => {
                let error = ModelError::new(ModelErrorKind::Connection, error.to_string());
                let target = speaker.name.as_deref().unwrap_or("the model");
                Err(AgentError::Model(error.with_target(target)))
            }
            Err(error) => Err(unreadable(speaker, error)),
        }
    }

    /// Returns the event for a part of a streamed response. `calls` holds the arguments received so far.
    fn shown(
        &self,
        event: StreamEvent,
        round: usize,
        calls: &mut Vec<PartialArguments>,
    ) -> Option<Event> {
        let position = |index| position_of(round, index);
        Some(match event {
            StreamEvent::Text(text) => Event::Text(text),
            StreamEvent::Reasoning(text) => Event::Reasoning(text),
            StreamEvent::Usage(usage) => Event::Usage(usage),
            StreamEvent::CallStarted { index, name, .. } => {
                let reader = self.registry.arguments(&name);
                let arguments = PartialArguments(reader.map(|reader| Arc::new(Mutex::new(reader))));
                if index == calls.len() {
                    calls.push(arguments);
                }
                Event::CallStarted {
                    position: position(index),
                    name,
                }
            }
            StreamEvent::Arguments { index, piece } => {
                let arguments = calls.get(index)?;
                arguments.push(&piece);
                Event::Arguments {
                    position: position(index),
                    piece,
                    arguments: arguments.clone(),
                }
            }
            StreamEvent::Freeform { index, piece } => {
                let arguments = calls.get(index)?;
                arguments.push_freeform(&piece);
                Event::Arguments {
                    position: position(index),
                    piece,
                    arguments: arguments.clone(),
                }
            }
            // Calls run once the response is complete, and it also tells why the model stopped.
            _ => return None,
        })
    }

    /// Completes at the time limit, or with an error if there are no timers.
    async fn out_of_time(&self) -> Result<(), AgentError> {
        let Some(time) = self.max_duration else {
            return pending().await;
        };
        let runtime = self.registry.runtime().ok_or(NoRuntime);
        let sleep = runtime.and_then(|runtime| runtime.sleep(time));
        sleep.map_err(AgentError::NoRuntime)?.await;
        Ok(())
    }

    /// Runs one call. Either the token of the run or its own token cancels it.
    pub(super) fn call(
        &self,
        call: PreparedCall,
        stop: &CancellationToken,
        events: EventSink,
    ) -> impl Future<Output = ToolResult> + Send + use<> {
        let PreparedCall {
            registry,
            call: unprepared,
            prepared,
        } = call;
        let service = self.call_service.clone();
        let is_limited = self.tools.is_some();
        let stop = stop.clone();
        async move {
            let mut call = match prepared {
                Ok(call) => call,
                Err(error) => return registry.fail(unprepared, error),
            };
            if events.is_read()
                && let Some(position) = call.position().cloned()
            {
                call = with_progress(call, events.clone(), position.clone());
                call = call.with(Caller { events, position });
            }
            let own = call.cancellation().cloned();
            let both = if own.is_some() { stop.child() } else { stop };
            let mut call = call.cancel_with(&both);
            // The service does not know which tools the run has.
            let service = service.filter(|_| !is_limited || registry.resolve(&mut call).is_some());
            let running: BoxFuture<ToolResult> = match &service {
                None => Box::pin(registry.call(call)),
                Some(service) => match caught(&unprepared.name, || service(call)) {
                    Ok(running) => running,
                    Err(error) => return registry.fail(unprepared, error),
                },
            };
            // Layers are code of the application and may panic.
            let running = pin!(finished(&unprepared.name, running));
            let finished = match own {
                None => running.await,
                Some(own) => match select(own.cancelled(), running).await {
                    Either::Left(((), running)) => {
                        both.cancel();
                        running.await
                    }
                    Either::Right((finished, _)) => finished,
                },
            };
            match finished {
                // A layer may have returned the result of another call.
                Ok(result) => result.for_call(&unprepared),
                Err(error) => registry.fail(unprepared.clone(), error),
            }
        }
    }
}

/// Writes a response in the dialect's format.
fn written(dialect: &dyn Dialect, text: String, calls: Vec<ToolCall>) -> Result<Turn, ModelError> {
    let message = Message::Model { text, calls };
    let messages = dialect.write_message(&message);
    let (Some(messages), Message::Model { text, calls }) = (messages, message) else {
        let problem = "the dialect writes no turns of a model; implement `Dialect::write_message`";
        return Err(ModelError::new(ModelErrorKind::Other, problem));
    };
    let mut turn = Turn::new(messages).with_calls(calls);
    turn.text = text;
    Ok(turn)
}

/// Returns the error for a response that the dialect can't read.
fn unreadable(speaker: &Speaker, error: ResponseError) -> AgentError {
    AgentError::Response(match &speaker.name {
        Some(name) => ResponseError::new(format!("the response of {name} can't be read: {error}")),
        None => error,
    })
}

/// Takes decisions back, so that their calls wait again. Returns `true` if there were any.
pub(super) fn revoke(
    run: &mut Run,
    forbidden: Vec<(&ToolCall, usize)>,
    emit: &dyn Fn(Event),
) -> bool {
    let is_any = !forbidden.is_empty();
    for (call, decision) in forbidden {
        run.revoke(call, decision);
        let pending = run.pending_at(call.position());
        pending.into_iter().map(Event::Held).for_each(emit);
    }
    is_any
}

/// Emits the events of the last response.
fn emit_response(run: &Run, shows_text: bool, emit: &dyn Fn(Event)) {
    let Some(round) = run.rounds().last() else {
        return;
    };
    if shows_text && !round.text().is_empty() {
        emit(Event::Text(round.text().to_owned()));
    }
    emit(Event::Response {
        usage: round.usage(),
        stop_reason: round.stop_reason().map(str::to_owned),
        end: round.end().clone(),
    });
}

/// Turns the progress of a call into events.
fn with_progress(call: ToolCall, events: EventSink, position: CallPosition) -> ToolCall {
    call.on_progress(move |progress| {
        events.push(Event::Progress {
            position: position.clone(),
            progress: progress.clone(),
        });
    })
}

/// Yields to other tasks of the thread every few steps. Without that, fast steps would starve timers and the task that
/// drops this one.
#[derive(Default)]
struct Pace(u32);

impl Pace {
    /// Number of steps without a yield. A call takes about two.
    const STEPS: u32 = 8;

    async fn step(&mut self) {
        self.0 += 1;
        if self.0 < Pace::STEPS {
            return;
        }
        self.0 = 0;
        let mut is_woken = false;
        poll_fn(|context| {
            if std::mem::replace(&mut is_woken, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// The time limit of driving a run.
struct TimeLimit<F> {
    /// Completes at the time limit.
    timer: F,
    /// The time of the limit.
    end: Option<Instant>,
    is_over: bool,
}

impl<F: Future<Output = Result<(), AgentError>> + Unpin> TimeLimit<F> {
    /// Compares the limit with the clock.
    fn look(&mut self) {
        self.is_over |= self.end.is_some_and(|end| Instant::now() >= end);
    }

    /// Waits for a future. Returns `None` at the time limit.
    async fn within<T>(
        &mut self,
        running: impl Future<Output = T>,
    ) -> Result<Option<T>, AgentError> {
        match select(pin!(running), &mut self.timer).await {
            Either::Left((value, _)) => Ok(Some(value)),
            Either::Right((ended, _)) => {
                ended?;
                self.is_over = true;
                Ok(None)
            }
        }
    }
}

/// Waits for a future. Returns `None` if there is a token and it is cancelled.
async fn until_cancelled<T>(
    token: Option<&CancellationToken>,
    running: impl Future<Output = T>,
) -> Option<T> {
    let Some(token) = token else {
        return Some(running.await);
    };
    match select(token.cancelled(), pin!(running)).await {
        Either::Left(_) => None,
        Either::Right((value, _)) => Some(value),
    }
}

/// Calls that are marked as started and do not run yet. If the mark can't be saved, they never run. Dropping this then
/// removes the mark, so that they don't count as interrupted.
struct Starting<'r> {
    run: &'r mut Run,
    /// The positions of the calls. Empty once the mark is saved.
    calls: Vec<At>,
}

impl<'r> Starting<'r> {
    fn new(run: &'r mut Run, calls: &[ToolCall]) -> Result<Starting<'r>, RunError> {
        let calls = run.start_calls(calls)?;
        Ok(Starting { run, calls })
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.run.take_back(std::mem::take(&mut self.calls));
    }
}
