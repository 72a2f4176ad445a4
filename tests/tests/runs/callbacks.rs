//! An application that calls back from wherever its code runs: tools, hooks, contexts, models, journals, listeners,
//! policies, summaries, wakers of its futures, and every `Drop`. It panics there, too. Nothing hangs, and every conversation
//! ends its turn and can go on.
//!
//! `TOOL_CORE_LONG=1` plays many more applications.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use futures_util::{FutureExt, StreamExt, stream};
use properties::random::Random;
use serde_json::{Value, json};
use tool_agent::conversations::{Conversation, Conversations};
use tool_agent::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};
use tool_agent::run::{
    Increment, Journal, JournalError, MemoryJournal, Page, Run, RunHead, RunInfo, RunOutcome,
    RunState,
};
use tool_agent::{Agent, BackgroundCalls, Compaction};
use tool_core::call::CancellationToken;
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::{Decision, Gate};
use tool_core::runtime::BoxFuture;
use tool_core::{Registry, ToolCall, ToolEntry, tool, tools};

#[path = "../../support/watchdog.rs"]
mod watchdog;

use watchdog::Watchdog;

use super::{calling, dialect, saying};

const IDS: [&str; 3] = ["run-0", "run-1", "run-2"];

/// The run that is driven without `Conversations`.
const OWN: &str = "own";

/// What the application can reach from everywhere.
#[derive(Clone)]
struct App(Arc<Parts>);

struct Parts {
    random: Mutex<Random>,
    /// Set once nothing calls back any more.
    is_quiet: AtomicBool,
    journal: MemoryJournal,
    registry: Registry,
    background: BackgroundCalls,
    agent: OnceLock<Agent>,
    conversations: OnceLock<Conversations>,
}

/// Calls back when it is dropped.
struct Dropped(App);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.call_back();
    }
}

/// An error whose `Drop` calls back.
struct Failed {
    _dropped: Dropped,
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failed")
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it failed")
    }
}

impl std::error::Error for Failed {}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

impl App {
    fn below(&self, end: usize) -> usize {
        self.0.random.lock().unwrap().below(end)
    }

    fn percent(&self, chance: usize) -> bool {
        !self.0.is_quiet.load(Ordering::SeqCst) && self.0.random.lock().unwrap().percent(chance)
    }

    fn dropped(&self) -> Dropped {
        Dropped(self.clone())
    }

    fn failed(&self) -> Failed {
        Failed {
            _dropped: self.dropped(),
        }
    }

    /// Calls back, and panics sometimes.
    fn code(&self) {
        self.call_back();
        assert!(!self.percent(4), "a panic of the application");
    }

    /// Calls something that returns at once.
    fn call_back(&self) {
        if self.0.is_quiet.load(Ordering::SeqCst) || DEPTH.get() > 2 {
            return;
        }
        DEPTH.set(DEPTH.get() + 1);
        let parts = &self.0;
        let id = IDS[self.below(IDS.len())];
        let open = parts
            .conversations
            .get()
            .and_then(|all| all.open(id).now_or_never()?.ok()?);
        match self.below(14) {
            0 => assert!(
                !parts.background.is_empty() || !format!("{:?}", parts.background).is_empty()
            ),
            1 => parts.background.cancel(),
            2 => drop(parts.registry.remove("extra")),
            3 => drop(parts.registry.add([ToolEntry::from(self.tool("extra"))])),
            4 => {
                let app = self.clone();
                drop(parts.registry.on_change(move |_, _| app.code()));
            }
            5 => drop(open.map(|open| open.retry())),
            6 => drop(open.map(|open| (open.transcript(), open.unanswered().is_ok()))),
            7 => drop(open.map(|open| open.follow().next().now_or_never())),
            8 => drop(parts.journal.runs(None, Page::new(9)).now_or_never()),
            9 => drop(parts.journal.remove("other").now_or_never()),
            10 => drop(
                parts
                    .registry
                    .call(ToolCall::new("c", "work", "{}"))
                    .now_or_never(),
            ),
            11 => {
                let token = CancellationToken::new();
                let _ = token.child().cancelled().now_or_never();
                token.cancel();
            }
            12 => self.spawn(id),
            _ => {
                if let Some(agent) = parts.agent.get() {
                    let mut run = Run::new("other");
                    drop(agent.reply_events(&mut run, "Hello?").next().now_or_never());
                }
            }
        }
        DEPTH.set(DEPTH.get() - 1);
    }

    /// Starts something that takes its time.
    fn spawn(&self, id: &'static str) {
        let app = self.clone();
        let kind = self.below(3);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            let open = app.0.conversations.get()?.open(id).await.ok()??;
            match kind {
                0 => open.stop().await.ok(),
                1 => open.reply("Hello?").await.ok(),
                _ => app.decide(&open).await,
            }
        });
    }

    /// Decides on a call that waits.
    async fn decide(&self, open: &Conversation) -> Option<()> {
        let waiting = self.0.journal.waiting(Page::new(9)).await.ok()?;
        let head = waiting.iter().find(|head| head.id == open.info().id())?;
        let fingerprint = head.waiting.first()?.fingerprint();
        open.decide(fingerprint, Decision::Allow, "Ada").await.ok()
    }

    /// Does what code of the application does that waits.
    async fn wait(&self) {
        let _dropped = self.dropped();
        for _ in 0..self.below(3) {
            self.code();
            tokio::task::yield_now().await;
        }
        if self.percent(30) {
            let id = IDS[self.below(IDS.len())];
            // In a task, since this may be what opens it.
            self.spawn(id);
        }
    }

    fn tool(&self, name: &str) -> DynamicTool {
        let own = self.dropped();
        let tool = DynamicTool::builder(name).description("Works.");
        tool.build(move |_: Value, _: tool_core::CallContext| {
            let app = own.0.clone();
            async move {
                let _dropped = app.dropped();
                app.wait().await;
                if app.percent(20) {
                    return Err(app.failed());
                }
                Ok("done")
            }
        })
        .unwrap()
    }

    fn response(&self) -> Value {
        let names = ["work", "build", "hold", "extra", "wait_for_results", "ask"];
        if !self.percent(60) {
            return saying("Done.");
        }
        let calls = (0..=self.below(3)).map(|_| match names[self.below(names.len())] {
            "ask" => ("ask", r#"{"question":"Why?"}"#),
            name => (name, "{}"),
        });
        calling(&calls.collect::<Vec<_>>())
    }
}

/// Works.
#[tool(unlinked)]
async fn work(#[param(context)] app: &App) -> Result<String, Failed> {
    app.wait().await;
    if app.percent(20) {
        return Err(app.failed());
    }
    Ok("done".into())
}

/// Builds the project.
#[tool(background, unlinked)]
async fn build(#[param(context)] app: &App) -> Result<String, Failed> {
    let _dropped = app.dropped();
    if app.percent(50)
        && let Some(agent) = app.0.agent.get()
    {
        // Another agent, from a call in the background.
        let _ = agent.ask("How?").await;
    }
    app.wait().await;
    Err(app.failed())
}

/// Needs an approval.
#[tool(unlinked)]
fn hold(#[param(context)] app: &App) -> &'static str {
    app.code();
    "done"
}

/// A model that calls back.
struct Caller(App);

impl Model for Caller {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        self.0.code();
        let app = self.0.clone();
        let dropped = app.dropped();
        Box::pin(async move {
            let _dropped = dropped;
            drop(request);
            app.wait().await;
            if app.percent(5) {
                return Err(ModelError::new(ModelErrorKind::Other, "it failed"));
            }
            if app.percent(30) {
                let text = json!({"choices": [{"index": 0, "delta": {"content": "Hi."}, "finish_reason": "stop"}]});
                let app = app.clone();
                let events = stream::iter([text]).map(move |event| {
                    app.code();
                    Ok::<Value, ModelError>(event)
                });
                return Ok(Response::stream(events));
            }
            Ok(app.response().into())
        })
    }
}

/// A journal that calls back.
#[derive(Clone)]
struct Noisy(App);

impl Noisy {
    fn around<T: Send + 'static>(
        &self,
        done: impl Future<Output = Result<T, JournalError>> + Send + 'static,
    ) -> BoxFuture<Result<T, JournalError>> {
        let app = self.0.clone();
        app.code();
        Box::pin(async move {
            app.wait().await;
            if app.percent(3) {
                return Err(JournalError::failed(app.failed()));
            }
            let done = done.await;
            app.code();
            done
        })
    }
}

impl Journal for Noisy {
    fn append(
        &self,
        head: RunHead,
        increments: Vec<Increment>,
    ) -> BoxFuture<Result<(), JournalError>> {
        let journal = self.0.0.journal.clone();
        self.around(async move { journal.append(head, increments).await })
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        let (journal, run) = (self.0.0.journal.clone(), run.to_owned());
        self.around(async move { journal.load(&run).await })
    }

    fn in_state(
        &self,
        state: RunState,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        self.0.0.journal.in_state(state, page)
    }

    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        self.0.0.journal.runs(owner, page)
    }

    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>> {
        self.0.0.journal.remove(run)
    }

    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>> {
        self.0.0.journal.remove_before(saved_ms)
    }
}

fn app(seed: u64) -> App {
    // The registry is made before the rest, and the hooks find it here.
    let late = Arc::new(OnceLock::<App>::new());
    let (before, after) = (Arc::clone(&late), Arc::clone(&late));
    let registry = Registry::builder()
        .tools(tools![work, build, hold])
        .context_per_call::<App>()
        .before(move |hook| {
            let app = before.get().unwrap().clone();
            let is_held = hook.tool.name == "hold";
            app.code();
            async move {
                app.wait().await;
                if is_held {
                    Gate::hold("it costs money")
                } else {
                    Gate::Allow
                }
            }
        })
        .after(move |_, result| {
            let app = after.get().unwrap().clone();
            async move {
                app.wait().await;
                result
            }
        })
        .build()
        .unwrap();
    let app = App(Arc::new(Parts {
        random: Mutex::new(Random::named("callbacks", seed)),
        is_quiet: AtomicBool::new(false),
        journal: MemoryJournal::new(),
        registry: registry.clone(),
        background: BackgroundCalls::new(),
        agent: OnceLock::new(),
        conversations: OnceLock::new(),
    }));
    assert!(late.set(app.clone()).is_ok());
    let [contexts, prepare, policy, listener, summary, changes] = [(); 6].map(|()| app.dropped());
    registry.on_change(move |_, _| changes.0.code()).keep();
    let compaction = Compaction::at_tokens(30).keep(1);
    let agent = Agent::new(registry.clone(), dialect(), Caller(app.clone()))
        .journal(Noisy(app.clone()))
        .contexts(move |_: RunInfo, call: ToolCall| {
            let app = contexts.0.clone();
            app.code();
            async move {
                app.wait().await;
                Ok(call.with(app.clone()).with(app.dropped()))
            }
        })
        .each_call(move |call| {
            prepare.0.code();
            call.with(prepare.0.dropped())
        })
        .may_decide(move |_| {
            let app = policy.0.clone();
            async move {
                app.wait().await;
                !app.percent(10)
            }
        })
        .on_event(move |_| listener.0.code())
        .compact(compaction.summary_with(move |_| {
            let app = summary.0.clone();
            async move {
                app.wait().await;
                Ok("Earlier.".to_owned())
            }
        }));
    let inner = agent.clone().into_tool("ask", "Asks.").unwrap();
    registry.add([ToolEntry::from(inner)]).unwrap();
    assert!(
        app.0
            .conversations
            .set(Conversations::new(agent.clone()).unwrap())
            .is_ok()
    );
    assert!(app.0.agent.set(agent).is_ok());
    app
}

/// Waits until a conversation rests, and returns what went wrong.
async fn rest(conversation: &Conversation) -> Option<String> {
    let mut updates = conversation.follow();
    while let Some(update) = updates.next().await {
        if let Some(status) = update.status()
            && !status.is_busy
        {
            return status.problem.clone();
        }
    }
    panic!("the conversation is gone")
}

/// Drives a run without `Conversations`, while its calls are left in the background.
async fn drive_own(app: &App) {
    let agent = app.0.agent.get().unwrap().clone();
    let agent = agent.leave_background(&app.0.background);
    for _ in 0..4 {
        let Ok(Some(mut run)) = agent.load(OWN).await else {
            continue;
        };
        drop(agent.reply(&mut run, "Go on.").await);
        while app.0.background.ended().await.is_some() {
            let Ok(Some(mut run)) = agent.load(OWN).await else {
                continue;
            };
            if agent.run(&mut run).await.is_err() {
                break;
            }
        }
    }
}

async fn play(app: &App) {
    let conversations = app.0.conversations.get().unwrap();
    for id in IDS.into_iter().chain([OWN]) {
        let mut run = Run::new(id);
        run.push(super::question()).unwrap();
        app.0
            .journal
            .append(run.head(), run.unsaved().to_vec())
            .await
            .unwrap();
    }
    let own = tokio::spawn({
        let app = app.clone();
        async move { drive_own(&app).await }
    });
    for _ in 0..12 {
        let id = IDS[app.below(IDS.len())];
        app.spawn(id);
        tokio::task::yield_now().await;
    }
    own.await.unwrap();
    app.0.is_quiet.store(true, Ordering::SeqCst);
    for id in IDS {
        let conversation = conversations.open(id).await.unwrap().unwrap();
        rest(&conversation).await;
        // Others may still stop it, or reply.
        while conversation.reply("Bye.").await.is_err() {
            conversation.stop().await.unwrap();
            tokio::task::yield_now().await;
        }
        rest(&conversation).await;
    }
    // What rests now answers, with nobody else around.
    let agent = app.0.agent.get().unwrap();
    let mut run = agent.load(OWN).await.unwrap().unwrap();
    run.cancel(agent.dialect()).unwrap();
    let outcome = agent.reply(&mut run, "Bye.").await.unwrap();
    assert!(matches!(outcome, RunOutcome::Answered(_)), "{outcome:?}");
}

#[test]
fn an_application_that_calls_back_from_everywhere_hangs_nothing() {
    let rounds = if std::env::var_os("TOOL_CORE_LONG").is_some() {
        3_000
    } else {
        40
    };
    let watchdog = Watchdog::new("callbacks");
    // Hundreds of panics are expected.
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref() != Some(&"a panic of the application") {
            shown(info);
        }
    }));
    for seed in 0..rounds {
        watchdog.step(format!("callbacks with seed {seed}"));
        let runtime = if seed % 2 == 0 {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
        } else {
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
        };
        runtime.unwrap().block_on(play(&app(seed)));
    }
}
