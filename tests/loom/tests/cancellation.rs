//! Threads wait for a token, cancel it and drop their waits, under every interleaving.

use loom::future::block_on;
use loom::model::Builder;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

/// What the copied source imports from the standard library.
mod sync {
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard, atomic};
    pub(crate) use std::sync::PoisonError;
}

/// What the copied source imports from the library.
mod call {
    pub(crate) mod boundary {
        /// Wakers of loom do not panic, and loom reports its findings by panics.
        #[allow(clippy::unnecessary_wraps)] // Has the signature of the library's function.
        pub(crate) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
            Ok(run())
        }
    }
}

/// A method of the standard library's `Arc` that loom's lacks.
trait IntoInner<T>: Sized {
    /// Returns the value if this is the last reference.
    fn into_inner(this: Self) -> Option<T>;
}

impl<T> IntoInner<T> for sync::Arc<T> {
    fn into_inner(this: Self) -> Option<T> {
        sync::Arc::try_unwrap(this).ok()
    }
}

/// The source of `tool_core::call::CancellationToken`.
#[allow(dead_code)] // Not all of it is used here.
mod cancellation {
    use crate::IntoInner as _;

    include!(concat!(env!("OUT_DIR"), "/cancellation.rs"));

    impl CancellationToken {
        /// Returns the number of registered wakers.
        pub(crate) fn wakers(&self) -> usize {
            self.0.waiters().wakers.len()
        }
    }
}

use cancellation::CancellationToken;

/// Checks every interleaving with at most three preemptions; unbounded, there are too many.
fn model(story: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(story);
}

/// A wait that is never woken is a deadlock, which loom reports.
#[test]
fn no_cancellation_is_missed() {
    model(|| {
        let token = CancellationToken::new();
        let canceller = token.clone();
        let thread = thread::spawn(move || canceller.cancel());
        block_on(token.cancelled());
        assert!(token.is_cancelled());
        thread.join().unwrap();
        assert_eq!(token.wakers(), 0);
    });
}

#[test]
fn a_child_is_cancelled_by_its_parent_and_by_itself() {
    model(|| {
        let parent = CancellationToken::new();
        let child = parent.child();
        let (of_parent, of_child) = (parent.clone(), child.clone());
        let one = thread::spawn(move || of_parent.cancel());
        let two = thread::spawn(move || of_child.cancel());
        block_on(child.cancelled());
        one.join().unwrap();
        two.join().unwrap();
        assert!(parent.is_cancelled() && child.is_cancelled());
        assert_eq!((parent.wakers(), child.wakers()), (0, 0));
    });
}

/// One thread waits, one drops its wait after a poll, one cancels.
#[test]
fn a_dropped_wait_does_not_affect_the_others() {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    model(|| {
        let token = CancellationToken::new();
        let polls = sync::Arc::new(AtomicUsize::new(0));
        let (waiting, counted) = (token.clone(), polls.clone());
        let one = thread::spawn(move || {
            block_on(waiting.cancelled());
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let giving_up = token.child();
        let two = thread::spawn(move || {
            let mut wait = pin!(giving_up.cancelled());
            let _ = wait.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        });
        token.cancel();
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!(polls.load(Ordering::SeqCst), 1);
        assert_eq!(token.wakers(), 0);
    });
}
