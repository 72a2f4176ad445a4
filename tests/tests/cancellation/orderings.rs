//! Every order of events in one call. The test polls each call by hand, in a runtime whose clock
//! counts
//! polls, so that every order is generated and none is left to chance.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use proptest::prelude::*;
use tool_core::call::CancellationToken;
use tool_core::hooks::Gate;
use tool_core::runtime::{BoxFuture, NoRuntime, Runtime};
use tool_core::{CallContext, Registry, ToolCall, ToolErrorKind, ToolResult, tool, tools};

use super::{Bell, Inside, Seen};

/// Ready at the given poll; wakes its caller until then.
struct Polls(u32);

impl Future for Polls {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Runs for some polls, or forever.
#[tool(unlinked)]
async fn step(polls: Option<u32>, #[param(context)] seen: &Seen, call: &CallContext) -> u32 {
    let inside = Inside::new(seen, call);
    match polls {
        Some(polls) => Polls(polls).await,
        None => std::future::pending().await,
    }
    inside.end();
    7
}

/// Ends at once, on a blocking thread.
#[tool(unlinked, blocking)]
fn block(#[param(context)] seen: &Seen, call: &CallContext) -> u32 {
    Inside::new(seen, call).end();
    7
}

type Job = Box<dyn FnOnce() + Send>;

/// A runtime in which a poll takes a second; a blocking job starts at the next poll.
#[derive(Clone, Default)]
struct ByHand {
    polls_to_a_thread: u32,
    /// Jobs that the blocking thread has not started.
    job: Arc<Mutex<Option<Job>>>,
}

impl ByHand {
    fn work(&self) {
        let job = self.job.lock().unwrap().take();
        if let Some(job) = job {
            job();
        }
    }
}

impl Runtime for ByHand {
    fn sleep(&self, duration: Duration) -> Result<BoxFuture<()>, NoRuntime> {
        let seconds = u32::try_from(duration.as_secs()).unwrap();
        Ok(Box::pin(Polls(seconds)))
    }

    fn spawn_blocking(&self, job: Job) -> Result<BoxFuture<()>, NoRuntime> {
        *self.job.lock().unwrap() = Some(job);
        let this = self.clone();
        Ok(Box::pin(async move {
            Polls(this.polls_to_a_thread).await;
            this.work();
        }))
    }
}

/// One call and its events. Times are numbers of polls.
#[derive(Clone, Debug)]
struct Story {
    is_blocking: bool,
    polls: Option<u32>,
    gate: u32,
    hook: u32,
    limit: Option<u32>,
    cancelled: Option<u32>,
    dropped: Option<u32>,
    /// Set when every poll comes from a different task.
    moves: bool,
}

fn stories() -> impl Strategy<Value = Story> {
    let some = |least: u32| prop::option::of(least..10);
    let call = (
        any::<bool>(),
        prop::option::weighted(0.8, 0..10_u32),
        0..4_u32,
        0..4_u32,
    );
    let ends = (some(1), some(0), some(0), any::<bool>());
    (call, ends).prop_map(|(call, ends)| {
        let (is_blocking, polls, gate, hook) = call;
        let (limit, cancelled, dropped, moves) = ends;
        Story {
            is_blocking,
            polls,
            gate,
            hook,
            limit,
            cancelled,
            dropped,
            moves,
        }
    })
}

impl Story {
    fn is_endless(&self) -> bool {
        let waits = !self.is_blocking && self.polls.is_none();
        waits && self.limit.is_none() && self.cancelled.is_none() && self.dropped.is_none()
    }

    /// Runs it and returns the result, if there is one.
    fn run(&self, seen: &Seen, token: &CancellationToken, runtime: &ByHand) -> Option<ToolResult> {
        let (gate, hook) = (self.gate, self.hook);
        let builder = Registry::builder()
            .tools(tools![step, block])
            .context(seen.clone())
            .runtime(runtime.clone())
            .before(move |_| async move {
                Polls(gate).await;
                Gate::Allow
            })
            .after(move |_, result| async move {
                Polls(hook).await;
                result
            });
        let builder = match self.limit {
            Some(limit) => builder.timeout(Duration::from_secs(limit.into())),
            None => builder,
        };
        let registry = builder.build().unwrap();
        let call = if self.is_blocking {
            ToolCall::new("1", "block", "")
        } else {
            ToolCall::new("1", "step", serde_json::json!({ "polls": self.polls }))
        };
        let mut call = Some(Box::pin(registry.call(call.cancel_with(token))));
        let mut bells = vec![Arc::new(Bell::default())];
        for at in 0..100 {
            if self.dropped == Some(at) {
                call = None;
            }
            if self.cancelled == Some(at) {
                token.cancel();
            }
            let polled = call.as_mut()?.as_mut();
            if self.moves {
                bells.push(Arc::default());
            }
            let (bell, before) = bells.split_last().unwrap();
            bell.0.store(false, Ordering::SeqCst);
            let waker = Waker::from(Arc::clone(bell));
            if let Poll::Ready(result) = polled.poll(&mut Context::from_waker(&waker)) {
                return Some(result);
            }
            drop(waker);
            let is_awaited = |time: Option<u32>| time.is_some_and(|time| time > at);
            let comes = is_awaited(self.cancelled) || is_awaited(self.dropped);
            assert!(bell.0.load(Ordering::SeqCst) || comes, "nobody wakes it");
            // A wait for the token wakes the task that polled last.
            assert!(before.iter().all(|bell| Arc::strong_count(bell) == 1));
        }
        panic!("it never ends");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whichever_event_comes_first_there_is_one_result_and_nothing_leaks(story in stories()) {
        prop_assume!(!story.is_endless());
        let (seen, token) = (Seen::default(), CancellationToken::new());
        let runtime = ByHand {
            polls_to_a_thread: story.polls.unwrap_or(3),
            ..ByHand::default()
        };
        let result = story.run(&seen, &token, &runtime);
        let counted = |count: &AtomicUsize| count.load(Ordering::SeqCst);
        let begun = counted(&seen.0.begun);
        let ended = counted(&seen.0.ended);
        prop_assert!(begun <= 1 && ended <= begun);
        prop_assert_eq!(counted(&seen.0.inside), 0, "something is still inside");
        match &result {
            None => prop_assert!(story.dropped.is_some()),
            Some(result) => {
                prop_assert_eq!(result.call_id(), "1");
                match result.error().map(tool_core::ToolError::kind) {
                    None => {
                        prop_assert_eq!(result.content(), "7");
                        prop_assert_eq!(ended, 1);
                    }
                    Some(ToolErrorKind::Cancelled) => prop_assert!(token.is_cancelled()),
                    Some(ToolErrorKind::TimedOut) => prop_assert!(story.limit.is_some()),
                    Some(kind) => prop_assert!(false, "{}", kind),
                }
                if story.cancelled == Some(0) {
                    prop_assert_eq!(begun, 0, "it began after its end");
                    prop_assert!(result.is_error());
                }
            }
        }
        // A tool that was stopped is cancelled, and no other.
        if let Some(own) = seen.0.token.lock().unwrap().take() {
            prop_assert_eq!(own.is_cancelled(), ended == 0 || token.is_cancelled());
        }
        // A job that starts too late does nothing.
        runtime.work();
        prop_assert_eq!(counted(&seen.0.begun), begun);
        prop_assert_eq!(Arc::strong_count(&seen.0), 1);
    }
}
