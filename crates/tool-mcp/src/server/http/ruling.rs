//! Whether a call may run, where the status of its response says so.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use serde::Deserialize;

use crate::lock;
use crate::server::refused::Refused;

/// The decision about the call of an HTTP request. The call sets it, and the response waits for it.
#[derive(Clone, Default)]
pub(in crate::server) struct Ruling(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    admitted: Option<Result<(), Refused>>,
    waker: Option<Waker>,
}

impl Ruling {
    pub(in crate::server) fn set(&self, admitted: Result<(), Refused>) {
        let mut state = lock(&self.0);
        state.admitted = Some(admitted);
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Resolves once it is set.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.0);
        if state.admitted.is_some() {
            return Poll::Ready(());
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Returns the reason why the call did not run.
    pub(super) fn refused(&self) -> Option<Refused> {
        let state = lock(&self.0);
        state.admitted.clone()?.err()
    }
}

/// Returns `true` for a message that calls a function, or is counted as if it did.
pub(super) fn is_call(message: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message {
        method: String,
    }
    const CALLS: [&str; 5] = [
        "tools/call",
        "resources/read",
        "resources/subscribe",
        "prompts/get",
        "completion/complete",
    ];
    serde_json::from_slice::<Message>(message)
        .is_ok_and(|message| CALLS.contains(&&*message.method))
}
