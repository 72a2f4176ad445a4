//! The side of the child: an agent as a server with one tool.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, Notify, oneshot};
use tool_agent::run::{Run, RunOutcome};
use tool_agent::{Agent, Event};
use tool_core::call::Progress;
use tool_core::hooks::Decision;
use tool_core::{CallContext, Registry, toolset};

use super::shared::{Answer, VARIABLE, truncated};
use crate::Server;
use crate::import::direct::AbortOnDrop;
use crate::server::ServeError;

/// How long a program may run after its parent has left.
const GRACE: Duration = Duration::from_secs(2);

/// Returns `true` if this process was started by [`Submodels`](super::Submodels), and must call [`serve`].
///
/// ```
/// use tool_mcp::submodel;
///
/// // A program that is both looks here first, and calls `submodel::serve` then.
/// assert!(!submodel::is_helper());
/// ```
pub fn is_helper() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Serves an agent to the parent of this process, over standard input and output, until the parent closes them.
/// Return from `main` then.
///
/// Nothing else may read standard input or write to standard output: log to standard error. The agent runs
/// on the runtime of the caller. The protocol has a separate thread, so that pings are answered while a
/// tool blocks the runtime. When the parent has left, the questions are cancelled. On Linux, the other
/// processes in the process group are killed then, and two seconds later this process.
///
/// A call that a hook [holds](tool_core::hooks::Gate::hold) is denied, and the model sees why: a helper has nobody to ask.
///
/// # Errors
///
/// Returns an error if this process [is not a helper](is_helper), or if the parent breaks the protocol before its
/// first question.
///
/// # Panics
///
/// Panics outside of a runtime of tokio.
///
/// ```no_run
/// # async fn serve(agent: tool_agent::Agent) -> Result<(), Box<dyn std::error::Error>> {
/// use tool_mcp::submodel;
///
/// if submodel::is_helper() {
///     submodel::serve(agent).await?;
/// }
/// # Ok(())
/// # }
/// ```
pub async fn serve(agent: Agent) -> Result<(), ServeError> {
    let error = |problem: &dyn ToString| ServeError(problem.to_string());
    if !is_helper() {
        return Err(error(
            &"this process was not started as a helper; check `is_helper` first",
        ));
    }
    let helper = Helper {
        agent,
        runtime: Handle::current(),
        run: Arc::new(Mutex::new(Run::new(format!(
            "helper-{}",
            std::process::id()
        )))),
    };
    let registry = Registry::builder().toolset("", helper).build();
    let registry = registry.map_err(|problem| error(&problem))?;
    let (sender, ended) = oneshot::channel();
    let protocol = move || {
        wake_without_parent();
        let served = serve_parent(registry).map_err(|problem| error(&problem));
        kill_others();
        let _ = sender.send(served.unwrap_or_else(Err));
        // The process ends first, if the program returns.
        std::thread::sleep(GRACE);
        tracing::error!("the parent of this process has left; killing it");
        kill();
    };
    let thread = std::thread::Builder::new().name("submodel".into());
    thread.spawn(protocol).map_err(|problem| error(&problem))?;
    ended
        .await
        .unwrap_or_else(|_| Err(error(&"the thread of the protocol panicked")))
}

fn serve_parent(registry: Registry) -> io::Result<Result<(), ServeError>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(async {
        let (stdin, stdout) = rmcp::transport::stdio();
        let ended = Arc::new(Notify::new());
        let input = EndOfInput {
            inner: stdin,
            ended: ended.clone(),
        };
        let server = Server::new(registry).name("submodel", env!("CARGO_PKG_VERSION"));
        tokio::select! {
            result = server.serve_stream(input, stdout) => result,
            // `rmcp` would wait up to five seconds for the last answer.
            () = ended.notified() => Ok(()),
        }
    });
    // A thread may still read standard input.
    runtime.shutdown_background();
    Ok(result)
}

/// Continues this process when its parent ends, in case it is stopped: it then reads that its input has ended.
///
/// Not a signal that kills: the kernel sends it when the thread that started this process ends, even if the
/// parent goes on.
fn wake_without_parent() {
    #[cfg(target_os = "linux")]
    {
        let signal = Some(rustix::process::Signal::CONT);
        if let Err(error) = rustix::process::set_parent_process_death_signal(signal) {
            tracing::warn!(%error, "a stopped helper may outlive its parent");
        }
    }
}

/// Kills this process, and its process group if it leads one.
fn kill() -> ! {
    #[cfg(unix)]
    {
        let own = rustix::process::getpid();
        if rustix::process::getpgrp() == own {
            let _ = rustix::process::kill_process_group(own, rustix::process::Signal::KILL);
        }
    }
    std::process::abort()
}

/// Kills the processes that the tools started, which are in the process group of this one if it leads one. They would
/// outlive it if `main` returns.
fn kill_others() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process};

        let own = getpid();
        if getpgrp() != own {
            return;
        }
        let runs_in_group = |id: Pid| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
            let stat = stat.unwrap_or_default();
            // The name of the program, in parentheses, may contain anything. State, parent and group follow.
            let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
            let fields: Vec<_> = fields.split_whitespace().take(3).collect();
            matches!(fields[..], [state, _, group]
                if state != "Z" && group.parse() == Ok(own.as_raw_nonzero().get()))
        };
        // A process may start another one meanwhile.
        for _ in 0..100 {
            let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
            let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            let others = ids
                .filter_map(Pid::from_raw)
                .filter(|&id| id != own && runs_in_group(id));
            let killed = others.filter(|&id| kill_process(id, Signal::KILL).is_ok());
            if killed.count() == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

struct Helper {
    agent: Agent,
    runtime: Handle,
    /// The conversation.
    run: Arc<Mutex<Run>>,
}

#[toolset]
impl Helper {
    /// Asks the model, which knows the earlier questions and answers.
    #[tool]
    async fn ask(&self, question: String, max_bytes: usize, call: &CallContext) -> Answer {
        let agent = self.agent.clone();
        let run = self.run.clone();
        let call = call.clone();
        let answering = async move { answer(&agent, &run, &question, &call).await };
        let mut task = AbortOnDrop(self.runtime.spawn(answering));
        match (&mut task.0).await {
            Ok(Ok(text)) => Answer::Answer(truncated(text, max_bytes)),
            Ok(Err(reason)) => Answer::Error(truncated(reason, max_bytes)),
            Err(_) => Answer::Error("the agent panicked".into()),
        }
    }
}

/// Asks the model. Changes the conversation only if there is an answer.
async fn answer(
    agent: &Agent,
    conversation: &Mutex<Run>,
    question: &str,
    call: &CallContext,
) -> Result<String, String> {
    let mut conversation = conversation.lock().await;
    let mut run = conversation.clone();
    run.push(agent.dialect().user_message(question))
        .map_err(|error| error.to_string())?;
    let mut calls = 0.0;
    loop {
        let mut events = agent.events(&mut run);
        let mut outcome = None;
        while let Some(event) = events.next().await {
            match event.map_err(|error| error.to_string())? {
                Event::Call { call: made, .. } => {
                    calls += 1.0;
                    call.report(&Progress::new(calls).message(format!("calls {}", made.name)));
                }
                Event::Done(ended) => outcome = Some(ended),
                _ => {}
            }
        }
        drop(events);
        match outcome {
            Some(RunOutcome::Answered(text)) => {
                *conversation = run;
                return Ok(text);
            }
            Some(RunOutcome::Waiting(pending)) => {
                for held in pending {
                    let denied = Decision::deny("a helper model has nobody to approve calls");
                    run.decide(agent.registry(), held.fingerprint(), denied, "submodel")
                        .map_err(|error| error.to_string())?;
                }
            }
            Some(RunOutcome::Cancelled) => return Err("the run was cancelled".into()),
            Some(RunOutcome::Unanswered(asked)) => {
                let asked: Vec<_> = asked.iter().map(ToString::to_string).collect();
                let asked = asked.join(", ");
                return Err(format!(
                    "the model asked for {asked}, which a helper model can't answer"
                ));
            }
            _ => return Err("the run reached a limit before the model answered".into()),
        }
    }
}

/// A reader that tells when the input has ended.
struct EndOfInput<R> {
    inner: R,
    ended: Arc<Notify>,
}

impl<R: AsyncRead + Unpin> AsyncRead for EndOfInput<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut this.inner).poll_read(context, buffer));
        if read.is_err() || buffer.filled().len() == before {
            this.ended.notify_one();
        }
        Poll::Ready(read)
    }
}
