//! [`block_on`]: runs a future on the current thread, without an async runtime.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use super::{HAS_THREADS, NoRuntime};

struct Unpark {
    thread: Thread,
    /// Set for this future only. A tool may run another call on the same thread, which parks it too
    /// and may consume the token that unparks this one.
    is_woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Runs a future on the current thread, for programs without an async runtime.
///
/// Blocking a thread of an async runtime can deadlock, and futures that need its timers or I/O must run inside
/// it.
///
/// ```
/// assert_eq!(tool_core::runtime::block_on(async { 2 + 3 }), Ok(5));
/// ```
///
/// # Errors
///
/// Returns an error on a platform without threads if the future has to wait, because nothing could wake it.
pub fn block_on<T>(future: impl Future<Output = T>) -> Result<T, NoRuntime> {
    let mut future = pin!(future);
    let unpark = Arc::new(Unpark {
        thread: thread::current(),
        is_woken: AtomicBool::new(false),
    });
    let waker = Waker::from(Arc::clone(&unpark));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Ok(value);
        }
        while !unpark.is_woken.swap(false, Ordering::Acquire) {
            if !HAS_THREADS {
                return Err(NoRuntime);
            }
            thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// Wakes another future on the first poll and completes on the second.
    async fn wake(other: &Waker) {
        let mut is_first = true;
        poll_fn(|context| {
            if std::mem::take(&mut is_first) {
                other.wake_by_ref();
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
    }

    #[test]
    fn a_nested_call_does_not_consume_the_wake_of_the_outer_one() {
        let mut polls = 0;
        // If the wake is lost, this never returns.
        let outer = poll_fn(|context| {
            polls += 1;
            if polls == 1 {
                block_on(wake(context.waker())).unwrap();
                return Poll::Pending;
            }
            Poll::Ready(())
        });
        block_on(outer).unwrap();
        assert_eq!(polls, 2);
    }

    #[cfg(target_family = "wasm")]
    #[test]
    fn a_future_that_nothing_can_wake_is_dropped() {
        let waiting = poll_fn(|_| Poll::<()>::Pending);
        assert_eq!(block_on(waiting), Err(NoRuntime));
    }
}
