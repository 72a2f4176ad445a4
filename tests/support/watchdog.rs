//! Ends a test program that hangs, so that a call without an end fails at once, in CI too.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Far more than any step takes on a busy machine, and far less than exponential work.
const LIMIT: Duration = Duration::from_secs(60);

/// Aborts the process if a step takes more than a minute. Dropping it ends the last step.
pub(crate) struct Watchdog(Sender<String>);

impl Watchdog {
    /// Begins the first step.
    pub(crate) fn new(step: impl Into<String>) -> Watchdog {
        let (sender, receiver) = channel();
        let watchdog = Watchdog(sender);
        watchdog.step(step);
        thread::spawn(move || watch(&receiver));
        watchdog
    }

    /// Begins another step.
    pub(crate) fn step(&self, step: impl Into<String>) {
        let _ = self.0.send(step.into());
    }
}

fn watch(steps: &Receiver<String>) {
    let mut step = String::new();
    loop {
        match steps.recv_timeout(LIMIT) {
            Ok(next) => step = next,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                eprintln!("this does not end: {step}");
                std::process::abort();
            }
        }
    }
}
