//! The side of the parent: processes, questions and limits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::Map;
use tokio::runtime::Handle;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tokio::task::JoinSet;
use tool_core::CallContext;
use tool_core::call::{CancellationToken, Progress};

use super::shared::{
    ASK, Answer, Closed, Listed, NOTE, Question, State, VARIABLE, inherited_levels, truncated,
};
use crate::import::direct::{AbortOnDrop, CallFailure, Connected, Program};
use crate::lock;

pub(super) struct Helpers {
    pub(super) program: Program,
    permits: Semaphore,
    pub(super) max_named: usize,
    pub(super) questions_left: AtomicUsize,
    /// How many levels of helpers this process may have below it.
    levels: u32,
    pub(super) question_timeout: Duration,
    pub(super) ping_interval: Duration,
    max_answer: usize,
    /// Where the processes are watched.
    runtime: OnceLock<Handle>,
    /// The helpers with a name.
    named: Mutex<BTreeMap<String, Arc<Helper>>>,
}

/// A helper with a name.
#[derive(Default)]
struct Helper {
    /// `None` before the first question, and after the process was lost. Locked while a question is answered.
    process: AsyncMutex<Option<Connected>>,
    answered: AtomicU32,
    /// Cancelled when the helper is closed.
    closed: CancellationToken,
}

/// A question and its place in the batch.
type Indexed = (usize, String);

/// The progress of a batch.
struct Batch {
    call: CallContext,
    answered: AtomicUsize,
    total: usize,
}

impl Batch {
    fn report(&self, message: String) {
        let progress = Progress::of(
            count(self.answered.load(Ordering::Relaxed)),
            count(self.total),
        );
        self.call.report(&progress.message(message));
    }

    fn count_answer(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        let total = self.total;
        self.report(format!("answered a question of {total}"));
    }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).unwrap_or(u32::MAX).into()
}

impl Helpers {
    pub(super) fn new(program: Program) -> Helpers {
        Helpers {
            program,
            permits: Semaphore::new(4),
            max_named: 8,
            questions_left: AtomicUsize::new(1000),
            levels: 0,
            question_timeout: Duration::from_secs(300),
            ping_interval: Duration::from_secs(5),
            max_answer: 0,
            runtime: Handle::try_current().map_or_else(|_| OnceLock::new(), OnceLock::from),
            named: Mutex::default(),
        }
    }

    pub(super) fn set_concurrency(&mut self, questions: usize) {
        self.permits = Semaphore::new(questions.min(Semaphore::MAX_PERMITS));
    }

    pub(super) fn set_levels(&mut self, levels: u32) {
        self.levels = inherited_levels().map_or(levels, |inherited| levels.min(inherited));
        let below = self.levels.saturating_sub(1);
        self.program.env(VARIABLE, below.to_string());
    }

    pub(super) fn set_max_answer(&mut self, bytes: usize) {
        self.max_answer = bytes;
        // An answer is sent twice, and a character may become an escape sequence of seven bytes.
        let message = bytes.saturating_mul(16).saturating_add(64 << 10);
        self.program.set_max_message(message);
    }

    fn runtime(&self) -> Result<&Handle, String> {
        if self.runtime.get().is_none()
            && let Ok(current) = Handle::try_current()
        {
            let _ = self.runtime.set(current);
        }
        let missing = "helper models need a runtime of tokio: create them in one";
        self.runtime.get().ok_or_else(|| missing.into())
    }

    /// Asks questions. Dropping the future cancels them.
    pub(super) async fn batch(
        self: Arc<Self>,
        questions: Vec<Question>,
        call: CallContext,
    ) -> Result<Vec<Answer>, String> {
        if self.levels == 0 {
            return Err("a helper model at this depth may not have helpers".into());
        }
        let runtime = self.runtime()?.clone();
        let token = call.cancellation().clone();
        let asking = async move {
            tokio::select! {
                answers = self.ask_all(questions, call) => Ok(answers),
                () = token.cancelled() => Err("the call was cancelled".into()),
            }
        };
        let mut task = AbortOnDrop(runtime.spawn(asking));
        let stopped = |_| Err("the runtime of the helper models has stopped".into());
        (&mut task.0).await.unwrap_or_else(stopped)
    }

    async fn ask_all(self: Arc<Self>, questions: Vec<Question>, call: CallContext) -> Vec<Answer> {
        let total = questions.len();
        // Those to one helper are asked in their order.
        let mut groups: Vec<(Option<String>, Vec<Indexed>)> = Vec::new();
        for (index, Question { question, helper }) in questions.into_iter().enumerate() {
            let same = |group: &&mut (Option<String>, _)| helper.is_some() && group.0 == helper;
            match groups.iter_mut().find(same) {
                Some((_, questions)) => questions.push((index, question)),
                None => groups.push((helper, vec![(index, question)])),
            }
        }
        let batch = Arc::new(Batch {
            call,
            answered: AtomicUsize::new(0),
            total,
        });
        let mut tasks = JoinSet::new();
        for (helper, questions) in groups {
            let (this, batch) = (self.clone(), batch.clone());
            tasks.spawn(async move {
                match helper {
                    Some(name) => this.ask_named(&name, questions, &batch).await,
                    None => this.ask_new(questions, &batch).await,
                }
            });
        }
        let failed = || Answer::Error("asking the helper failed".into());
        let mut answers: Vec<_> = (0..total).map(|_| failed()).collect();
        while let Some(asked) = tasks.join_next().await {
            for (index, answer) in asked.unwrap_or_default() {
                answers[index] = answer;
            }
        }
        answers
    }

    /// Asks a process that ends with its answer.
    async fn ask_new(&self, questions: Vec<Indexed>, batch: &Arc<Batch>) -> Vec<(usize, Answer)> {
        let mut answers = Vec::new();
        for (index, question) in questions {
            let mut process = None;
            answers.push((
                index,
                self.ask(&mut process, &question, "a helper", batch).await,
            ));
            if let Some(process) = process {
                // The answer need not wait for it.
                tokio::spawn(process.close());
            }
        }
        answers
    }

    /// Asks a process that remembers its earlier questions.
    async fn ask_named(
        &self,
        name: &str,
        questions: Vec<Indexed>,
        batch: &Arc<Batch>,
    ) -> Vec<(usize, Answer)> {
        let helper = match self.helper(name) {
            Ok(helper) => helper,
            Err(text) => {
                let error = |(index, _)| (index, Answer::Error(text.clone()));
                return questions.into_iter().map(error).collect();
            }
        };
        let mut process = helper.process.lock().await;
        let mut answers = Vec::new();
        for (index, question) in questions {
            let answer = tokio::select! {
                biased;
                () = helper.closed.cancelled() => Answer::Error("the helper was closed".into()),
                answer = self.ask(&mut process, &question, name, batch) => answer,
            };
            if matches!(answer, Answer::Answer(_)) {
                helper.answered.fetch_add(1, Ordering::Relaxed);
            }
            answers.push((index, answer));
        }
        answers
    }

    /// Returns the helper of this name, which is added if there is none.
    fn helper(&self, name: &str) -> Result<Arc<Helper>, String> {
        let mut named = lock(&self.named);
        if let Some(helper) = named.get(name) {
            return Ok(helper.clone());
        }
        if named.len() >= self.max_named {
            // Helpers that have ended and that nothing waits for.
            named.retain(|_, helper| {
                let has_ended = || {
                    helper
                        .process
                        .try_lock()
                        .is_ok_and(|process| process.is_none())
                };
                Arc::strong_count(helper) > 1 || !has_ended()
            });
        }
        if named.len() >= self.max_named {
            let max = self.max_named;
            return Err(format!(
                "there are {max} helpers already; close one before you start another"
            ));
        }
        let helper = Arc::new(Helper::default());
        named.insert(name.to_owned(), helper.clone());
        Ok(helper)
    }

    /// Asks one question. Starts a process if there is none, and ends one that does not work.
    async fn ask(
        &self,
        process: &mut Option<Connected>,
        question: &str,
        name: &str,
        batch: &Arc<Batch>,
    ) -> Answer {
        let Ok(_permit) = self.permits.acquire().await else {
            return Answer::Error("the helpers are closed".into());
        };
        let take = |left: usize| left.checked_sub(1);
        let order = Ordering::Relaxed;
        if self
            .questions_left
            .fetch_update(order, order, take)
            .is_err()
        {
            return Answer::Error("the maximum number of questions has been asked".into());
        }
        let answer = match self.try_ask(process, question, name, batch).await {
            Ok(answer) => answer,
            Err(CallFailure::Rejected(reason)) => Answer::Error(reason),
            Err(CallFailure::Lost(reason)) => {
                tracing::warn!(helper = name, reason, "a helper model is lost");
                *process = None;
                Answer::Error(reason)
            }
        };
        batch.count_answer();
        answer
    }

    async fn try_ask(
        &self,
        process: &mut Option<Connected>,
        question: &str,
        name: &str,
        batch: &Arc<Batch>,
    ) -> Result<Answer, CallFailure> {
        let lost = |reason: &str| {
            CallFailure::Lost(format!(
                "the helper has failed and its memory is lost: {reason}; it starts anew with the next question"
            ))
        };
        let process = match process {
            Some(process) if !process.is_open() => {
                return Err(lost("its process ended after the last question"));
            }
            Some(process) => process,
            None => {
                let started = self.program.start().await;
                // Its standard error may say what no model should see.
                let started = started.map_err(|error| {
                    tracing::warn!(helper = name, %error, "a helper model can't be started");
                    CallFailure::Lost("the helper can't be started; the log says why".into())
                });
                process.insert(started?)
            }
        };
        let mut arguments = Map::new();
        arguments.insert("question".into(), question.into());
        arguments.insert("max_bytes".into(), self.max_answer.into());
        let listener = {
            let (batch, name) = (batch.clone(), name.to_owned());
            move |progress: Progress| {
                if let Some(message) = progress.message {
                    batch.report(format!("{name} {message}"));
                }
            }
        };
        let called = process.call(
            ASK,
            arguments,
            self.question_timeout,
            self.ping_interval,
            Box::new(listener),
        );
        let result = called.await.map_err(|failure| match failure {
            CallFailure::Lost(reason) => lost(&reason),
            CallFailure::Rejected(reason) => {
                CallFailure::Rejected(format!("the helper failed: {reason}"))
            }
        })?;
        let answer = result.structured_content.map(serde_json::from_value);
        let Some(Ok(answer)) = answer else {
            return Err(CallFailure::Rejected(
                "the helper answered with something else".into(),
            ));
        };
        // It may have ignored the maximum.
        let max = self.max_answer.saturating_add(NOTE);
        Ok(match answer {
            Answer::Answer(text) => Answer::Answer(truncated(text, max)),
            Answer::Error(text) => Answer::Error(truncated(text, max)),
        })
    }

    pub(super) fn list(&self) -> Vec<Listed> {
        let listed = |(name, helper): (&String, &Arc<Helper>)| Listed {
            helper: name.clone(),
            answered: helper.answered.load(Ordering::Relaxed),
            state: match helper.process.try_lock().as_deref() {
                Err(_) => State::Answering,
                Ok(Some(process)) if process.is_open() => State::Ready,
                Ok(_) => State::Ended,
            },
        };
        lock(&self.named).iter().map(listed).collect()
    }

    pub(super) async fn close(self: Arc<Self>, names: Vec<String>) -> Result<Closed, String> {
        let runtime = self.runtime()?.clone();
        let closing = async move {
            let mut closed = Closed::default();
            let mut ending = JoinSet::new();
            for name in names {
                let Some(helper) = lock(&self.named).remove(&name) else {
                    closed.unknown.push(name);
                    continue;
                };
                closed.closed.push(name);
                helper.closed.cancel();
                ending.spawn(async move {
                    let process = helper.process.lock().await.take();
                    if let Some(process) = process {
                        process.close().await;
                    }
                });
            }
            while ending.join_next().await.is_some() {}
            closed
        };
        let stopped = |_| "the runtime of the helper models has stopped".to_owned();
        runtime.spawn(closing).await.map_err(stopped)
    }
}
