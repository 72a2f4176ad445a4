//! [`CancellationToken`]: requests that a call ends.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::call::boundary::catch;

/// A shared flag that requests the end of an operation. Clones share the same flag. Works with any
/// async runtime, and without one.
///
/// ```
/// use tool_core::call::CancellationToken;
/// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
///
/// /// Never finishes.
/// #[tool]
/// async fn wait() {
///     std::future::pending::<()>().await;
/// }
///
/// let registry = Registry::builder().tools(tools![wait]).build()?;
/// let token = CancellationToken::new();
/// let call = ToolCall::new("call_1", "wait", "").cancel_with(&token);
/// let thread = std::thread::spawn(move || registry.call_blocking(call));
/// token.cancel();
/// let result = thread.join().unwrap();
/// assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Cancelled);
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Default)]
pub struct CancellationToken(Arc<State>);

#[derive(Default)]
struct State {
    is_cancelled: AtomicBool,
    waiters: Mutex<Waiters>,
    parent: Option<CancellationToken>,
}

#[derive(Default)]
struct Waiters {
    next_key: u64,
    /// A map, because one token may cancel thousands of calls.
    wakers: BTreeMap<u64, Waker>,
}

impl CancellationToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> CancellationToken {
        CancellationToken::default()
    }

    /// Creates a token that is cancelled together with this one, or on its own.
    pub fn child(&self) -> CancellationToken {
        let mut state = State::default();
        state.parent = Some(self.clone());
        CancellationToken(Arc::new(state))
    }

    /// Cancels this token and its children, for good.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        let wakers = mem::take(&mut self.0.waiters().wakers);
        // The lock is released first, because a waker may run any code.
        for waker in wakers.into_values() {
            // A panic must not keep the others from waking.
            let _ = catch(|| waker.wake());
        }
    }

    /// Returns `true` if this token or one of its ancestors was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.ancestors()
            .any(|state| state.is_cancelled.load(Ordering::SeqCst))
    }

    /// Waits until this token is cancelled.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled {
            token: self.clone(),
            keys: Vec::new(),
        }
    }

    /// Iterates over this token, its parent, and so on.
    fn ancestors(&self) -> impl Iterator<Item = &State> {
        std::iter::successors(Some(&*self.0), |state| {
            state.parent.as_ref().map(|parent| &*parent.0)
        })
    }
}

/// Drops a chain of ancestors in a loop, because it may be longer than the stack.
impl Drop for State {
    fn drop(&mut self) {
        let mut parent = self.parent.take();
        while let Some(token) = parent {
            parent = Arc::into_inner(token.0).and_then(|mut state| state.parent.take());
        }
    }
}

impl State {
    fn waiters(&self) -> MutexGuard<'_, Waiters> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken")
            .field("is_cancelled", &self.is_cancelled())
            .finish()
    }
}

/// A future that completes when a [`CancellationToken`] is cancelled.
///
/// ```
/// use tool_core::call::CancellationToken;
/// use tool_core::runtime::block_on;
///
/// let token = CancellationToken::new();
/// let cancelled = token.child().cancelled();
/// token.cancel();
/// assert_eq!(block_on(cancelled), Ok(()));
/// ```
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Cancelled {
    token: CancellationToken,
    /// The keys of its wakers at the token and its ancestors; empty before the first poll.
    keys: Vec<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Cancelled { token, keys } = self.get_mut();
        for (at, state) in token.ancestors().enumerate() {
            let waker = context.waker().clone();
            let mut waiters = state.waiters();
            let key = keys.get(at).copied().unwrap_or_else(|| {
                let key = waiters.next_key;
                waiters.next_key += 1;
                keys.push(key);
                key
            });
            let replaced = waiters.wakers.insert(key, waker);
            drop(waiters);
            // Release the lock first, because dropping a waker may drop a task, which may come back here,
            // or panic.
            let _ = catch(|| drop(replaced));
        }
        // Checked after the wakers are in place, so that no cancellation is missed.
        if token.is_cancelled() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        for (state, key) in self.token.ancestors().zip(&self.keys) {
            let waker = state.waiters().wakers.remove(key);
            // Outside the lock, as above.
            let _ = catch(|| drop(waker));
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn cancelling_a_parent_cancels_its_children_and_not_vice_versa() {
        let parent = CancellationToken::new();
        let (one, two) = (parent.child(), parent.child().child());
        one.cancel();
        assert!(one.is_cancelled() && !parent.is_cancelled() && !two.is_cancelled());
        parent.cancel();
        assert!(two.is_cancelled());
        two.cancelled().now_or_never().expect("it is cancelled");
    }

    #[test]
    fn a_chain_of_a_million_tokens_is_cancelled_and_dropped() {
        let root = CancellationToken::new();
        let mut last = root.clone();
        for _ in 0..1_000_000 {
            last = last.child();
        }
        assert!(!last.is_cancelled());
        root.cancel();
        last.cancelled().now_or_never().expect("it is cancelled");
        drop(root);
        drop(last);
    }

    #[cfg(not(target_family = "wasm"))] // It starts threads.
    #[test]
    fn all_waiters_are_woken_and_removed() {
        use std::thread;
        use std::time::Duration;

        use crate::runtime::block_on;

        let parent = CancellationToken::new();
        let child = parent.child();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let cancelled = child.cancelled();
                thread::spawn(move || block_on(cancelled).unwrap())
            })
            .collect();
        // The test holds even if some do not wait yet.
        thread::sleep(Duration::from_millis(5));
        parent.cancel();
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(parent.0.waiters().wakers.is_empty());
        assert!(child.0.waiters().wakers.is_empty());
    }

    #[test]
    fn a_dropped_waiter_is_removed() {
        let token = CancellationToken::new();
        let mut context = Context::from_waker(Waker::noop());
        let mut cancelled = token.child().cancelled();
        for _ in 0..3 {
            assert!(Pin::new(&mut cancelled).poll(&mut context).is_pending());
        }
        assert_eq!(token.0.waiters().wakers.len(), 1);
        drop(cancelled);
        assert!(token.0.waiters().wakers.is_empty());
    }
}
