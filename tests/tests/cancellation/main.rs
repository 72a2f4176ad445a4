//! Cancellation and timeouts: a tool, its timeout, its token and its caller race; one result
//! remains, and nothing leaks.

mod orderings;
mod tokens;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Wake;

use tool_core::CallContext;
use tool_core::call::CancellationToken;

/// What one call looks like from outside.
#[derive(Clone, Default)]
struct Seen(Arc<SeenBy>);

#[derive(Default)]
struct SeenBy {
    begun: AtomicUsize,
    ended: AtomicUsize,
    /// Counts tools that have begun and have neither ended nor been dropped.
    inside: AtomicUsize,
    token: Mutex<Option<CancellationToken>>,
}

/// A running tool.
struct Inside(Seen);

impl Inside {
    fn new(seen: &Seen, call: &CallContext) -> Inside {
        seen.0.begun.fetch_add(1, Ordering::SeqCst);
        seen.0.inside.fetch_add(1, Ordering::SeqCst);
        *seen.0.token.lock().unwrap() = Some(call.cancellation().clone());
        Inside(seen.clone())
    }

    fn end(self) {
        self.0.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.0.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}
