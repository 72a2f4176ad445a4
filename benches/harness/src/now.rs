//! Runs a future that needs nothing but to be polled.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The result of a future that is ready at once, as calls of sync functions are. Every contender
/// is driven by this, so that no runtime is measured.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a call waits for something"),
    }
}

/// The result of a future that has to be polled more than once and then always is ready soon.
pub fn soon<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
