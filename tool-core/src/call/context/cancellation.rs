//! [`CancellationToken`]: says that a call is to end.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Says to whoever looks or waits that something is to end. Clones are the same token. It belongs
/// to no async runtime.
///
/// ```
/// use tool_core::{CancellationToken, Registry, ToolCall, ToolErrorKind, tool, tools};
///
/// /// Never ends.
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
    waiting: Mutex<Waiting>,
    parent: Option<CancellationToken>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    /// By the order of their coming. One token may end thousands of calls.
    wakers: BTreeMap<u64, Waker>,
}

impl CancellationToken {
    /// A token that nobody has cancelled.
    pub fn new() -> CancellationToken {
        CancellationToken::default()
    }

    /// A token that is cancelled with this one, and can be by itself.
    pub fn child(&self) -> CancellationToken {
        CancellationToken(Arc::new(State {
            parent: Some(self.clone()),
            ..State::default()
        }))
    }

    /// Cancels it, for good.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        let wakers = mem::take(&mut self.0.waiting().wakers);
        // Outside of the lock, since a waker may do anything.
        for waker in wakers.into_values() {
            waker.wake();
        }
    }

    /// Whether this token, or one that it is a child of, was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.line()
            .any(|state| state.is_cancelled.load(Ordering::SeqCst))
    }

    /// Waits until it is cancelled.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled {
            token: self.clone(),
            keys: Vec::new(),
        }
    }

    /// This token, its parent, the parent of that.
    fn line(&self) -> impl Iterator<Item = &State> {
        std::iter::successors(Some(&*self.0), |state| {
            state.parent.as_ref().map(|parent| &*parent.0)
        })
    }
}

impl State {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken")
            .field("is_cancelled", &self.is_cancelled())
            .finish()
    }
}

/// Ends when a [`CancellationToken`] is cancelled.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct Cancelled {
    token: CancellationToken,
    /// Under which this waits at the token and at those above it; empty before the first poll.
    keys: Vec<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Cancelled { token, keys } = self.get_mut();
        for (at, state) in token.line().enumerate() {
            let waker = context.waker().clone();
            let mut waiting = state.waiting();
            let key = keys.get(at).copied().unwrap_or_else(|| {
                let key = waiting.next;
                waiting.next += 1;
                keys.push(key);
                key
            });
            let before = waiting.wakers.insert(key, waker);
            drop(waiting);
            // A waker may hold the last of a task, whose end may come here again: no lock is held.
            drop(before);
        }
        // After the wakers are in place, so that no cancelling is missed.
        match token.is_cancelled() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        for (state, key) in self.token.line().zip(&self.keys) {
            let waker = state.waiting().wakers.remove(key);
            // Without the lock, as above.
            drop(waker);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::runtime::block_on::block_on;

    #[test]
    fn a_child_is_cancelled_with_its_parent_and_not_the_other_way_around() {
        let parent = CancellationToken::new();
        let (one, two) = (parent.child(), parent.child().child());
        one.cancel();
        assert!(one.is_cancelled() && !parent.is_cancelled() && !two.is_cancelled());
        parent.cancel();
        assert!(two.is_cancelled());
        block_on(two.cancelled());
    }

    #[test]
    fn whoever_waits_is_woken_and_leaves_nothing_behind() {
        let parent = CancellationToken::new();
        let child = parent.child();
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let waits = child.cancelled();
                thread::spawn(move || block_on(waits))
            })
            .collect();
        // Whether they wait already does not matter.
        thread::sleep(Duration::from_millis(5));
        parent.cancel();
        for thread in waiting {
            thread.join().unwrap();
        }
        assert!(parent.0.waiting().wakers.is_empty());
        assert!(child.0.waiting().wakers.is_empty());
    }

    #[test]
    fn a_wait_that_is_given_up_is_forgotten() {
        let token = CancellationToken::new();
        let mut context = Context::from_waker(Waker::noop());
        let mut waits = token.child().cancelled();
        for _ in 0..3 {
            assert!(Pin::new(&mut waits).poll(&mut context).is_pending());
        }
        assert_eq!(token.0.waiting().wakers.len(), 1);
        drop(waits);
        assert!(token.0.waiting().wakers.is_empty());
    }
}
