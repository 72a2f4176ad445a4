//! The conversation: one run at a time, driven by an agent and saved in the store.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use tokio::sync::OwnedMutexGuard;
use tool_agent::run::{DecideError, JournalError, Run, RunOutcome, Step};
use tool_agent::{Agent, AgentError};
use tool_core::call::CancellationToken;
use tool_core::hooks::Decision;

use crate::store::{Question, Store};
use crate::view::{Status, View};

pub(crate) struct Chat {
    agent: Agent,
    store: Store,
    view: Arc<View>,
    /// Who decides.
    user: String,
    /// Locked while the agent drives it.
    run: Arc<tokio::sync::Mutex<Run>>,
    /// Stops the agent.
    stop: Mutex<CancellationToken>,
}

/// The reason why something can't be done.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Not now, or not any more.
    Conflict(String),
    /// The input is invalid.
    Invalid(String),
    /// The store failed.
    Failed(String),
}

impl Chat {
    /// Continues the last conversation, which may have been interrupted.
    pub(crate) async fn open(
        agent: Agent,
        store: Store,
        view: Arc<View>,
        user: String,
    ) -> Result<Arc<Chat>, AgentError> {
        let run = load(&agent, &id(store.conversations().await?.max(1))).await?;
        let is_open = matches!(run.next(), Step::Request(_) | Step::Call(_) | Step::Running)
            && !run.messages().is_empty();
        let chat = Arc::new(Chat {
            agent,
            store,
            view,
            user,
            run: Arc::new(tokio::sync::Mutex::new(run)),
            stop: Mutex::default(),
        });
        let run = Arc::clone(&chat.run).lock_owned().await;
        chat.rest(&run, None).await?;
        if is_open {
            chat.go(run);
        }
        Ok(chat)
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Sends a message of the user.
    pub(crate) async fn say(self: &Arc<Self>, text: String) -> Result<(), Refusal> {
        if text.trim().is_empty() {
            return Err(Refusal::Invalid("the message is empty".into()));
        }
        let mut run = self.idle()?;
        let question = Question {
            round: u32::try_from(run.rounds().len()).unwrap_or(u32::MAX),
            text,
        };
        let message = self.agent.dialect().user_message(&question.text);
        run.push(message)
            .map_err(|_| Refusal::Conflict("decide on the open calls first".into()))?;
        let increments = run.unsaved().to_vec();
        let saved = self.store.ask(run.head(), increments, question).await;
        self.saved(&mut run, saved.map_err(AgentError::from))
            .await?;
        run.mark_saved(u64::MAX);
        self.rest(&run, None).await?;
        self.go(run);
        Ok(())
    }

    /// Decides on a held call.
    pub(crate) async fn decide(
        self: &Arc<Self>,
        fingerprint: &str,
        decision: Decision,
    ) -> Result<(), Refusal> {
        if !self.view.is_held(fingerprint) {
            return Err(Refusal::Conflict(DecideError::NotPending.to_string()));
        }
        // Other calls may still run.
        let mut run = Arc::clone(&self.run).lock_owned().await;
        let registry = self.agent.registry();
        match run.decide(registry, fingerprint, decision, &*self.user) {
            Ok(()) => {}
            Err(DecideError::Invalid(error)) => {
                return Err(Refusal::Invalid(error.message().into()));
            }
            Err(error) => return Err(Refusal::Conflict(error.to_string())),
        }
        let saved = self.agent.save(&mut run).await;
        self.saved(&mut run, saved).await?;
        self.rest(&run, None).await?;
        self.go(run);
        Ok(())
    }

    /// Requests the response again after an error.
    pub(crate) fn retry(self: &Arc<Self>) -> Result<(), Refusal> {
        let run = self.idle()?;
        if matches!(run.next(), Step::Request(_)) && !run.messages().is_empty() {
            self.go(run);
        }
        Ok(())
    }

    /// Stops the agent, or cancels the calls that wait for decisions.
    pub(crate) async fn stop(&self) -> Result<(), Refusal> {
        self.stop
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .cancel();
        if let Ok(mut run) = Arc::clone(&self.run).try_lock_owned() {
            run.cancel(self.agent.dialect())
                .map_err(|error| Refusal::Failed(error.to_string()))?;
            let saved = self.agent.save(&mut run).await;
            self.saved(&mut run, saved).await?;
            self.rest(&run, None).await?;
        }
        Ok(())
    }

    /// Starts a new conversation.
    pub(crate) async fn restart(&self) -> Result<(), Refusal> {
        let mut run = self.idle()?;
        if !run.pending().is_empty() {
            return Err(Refusal::Conflict("decide on the open calls first".into()));
        }
        *run = Run::new(id(self.store.conversations().await? + 1));
        self.rest(&run, None).await?;
        Ok(())
    }

    /// Returns the run, unless the agent drives it.
    fn idle(&self) -> Result<OwnedMutexGuard<Run>, Refusal> {
        let run = Arc::clone(&self.run).try_lock_owned();
        run.map_err(|_| Refusal::Conflict("the model still works".into()))
    }

    /// Drives the run until it is done or waits.
    fn go(self: &Arc<Self>, mut run: OwnedMutexGuard<Run>) {
        let stop = CancellationToken::new();
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = stop.clone();
        self.view.set_status(Status {
            is_busy: true,
            ..Status::default()
        });
        let chat = Arc::clone(self);
        tokio::spawn(async move {
            let agent = chat.agent.clone().cancel_with(&stop);
            let mut problem = None;
            let mut events = agent.events(&mut run);
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => chat.view.show(event),
                    Err(error) => problem = Some(error),
                }
            }
            drop(events);
            let problem = match problem {
                None => None,
                Some(error) => chat
                    .saved(&mut run, Err(error))
                    .await
                    .err()
                    .map(Refusal::into_text),
            };
            if let Err(error) = chat.rest(&run, problem).await {
                let problem = Some(error.to_string());
                chat.view.set_status(Status {
                    problem,
                    ..Status::default()
                });
            }
        });
    }

    /// After an error, what counts is what is in the journal.
    async fn saved(&self, run: &mut Run, saved: Result<(), AgentError>) -> Result<(), Refusal> {
        let Err(error) = saved else { return Ok(()) };
        match load(&self.agent, run.id()).await {
            Ok(loaded) => *run = loaded,
            Err(error) => return Err(error.into()),
        }
        Err(error.into())
    }

    /// Shows a run that is not being driven.
    async fn rest(&self, run: &Run, problem: Option<String>) -> Result<(), JournalError> {
        let questions = self.store.questions(run.id()).await?;
        let ended = match run.next() {
            Step::Done(RunOutcome::Answered(_)) => None,
            Step::Done(RunOutcome::Cancelled) => Some("Stopped."),
            Step::Done(_) => Some("A limit of the conversation is reached."),
            _ => None,
        };
        let can_retry = matches!(run.next(), Step::Request(_)) && !run.messages().is_empty();
        let problem = problem.or(ended.map(str::to_owned));
        self.view.replace(
            run,
            &questions,
            Status {
                is_busy: false,
                can_retry,
                problem,
            },
        );
        Ok(())
    }
}

fn id(number: u32) -> String {
    format!("conversation-{number}")
}

/// Loads a run. Calls that ran when the program was killed end as interrupted.
async fn load(agent: &Agent, id: &str) -> Result<Run, AgentError> {
    let mut run = agent.load(id).await?.unwrap_or_else(|| Run::new(id));
    run.resume(agent.dialect(), agent.registry())?;
    Ok(run)
}

impl Refusal {
    fn into_text(self) -> String {
        match self {
            Refusal::Conflict(text) | Refusal::Invalid(text) | Refusal::Failed(text) => text,
        }
    }
}

impl From<AgentError> for Refusal {
    fn from(error: AgentError) -> Refusal {
        Refusal::Failed(error.to_string())
    }
}

impl From<JournalError> for Refusal {
    fn from(error: JournalError) -> Refusal {
        Refusal::Failed(error.to_string())
    }
}
