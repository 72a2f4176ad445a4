//! [`Backoff`].

use std::time::Duration;

/// How long to wait before each attempt to restart a server that ended: twice as long each time, up to a
/// maximum.
///
/// The default waits half a second before the first attempt, at most 30 seconds, and never gives up.
///
/// ```
/// use std::time::Duration;
/// use tool_mcp::Backoff;
///
/// let backoff = Backoff::default().first(Duration::from_millis(100)).attempts(3);
/// let waits: Vec<_> = (0..).map_while(|attempt| backoff.wait(attempt)).collect();
/// assert_eq!(waits, [100, 200, 400].map(Duration::from_millis));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    attempts: Option<u32>,
    reset_after: Duration,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff {
            first: Duration::from_millis(500),
            max: Duration::from_secs(30),
            attempts: None,
            reset_after: Duration::from_secs(60),
        }
    }
}

impl Backoff {
    /// Sets the wait before the first attempt.
    pub fn first(mut self, wait: Duration) -> Backoff {
        self.first = wait;
        self
    }

    /// Sets the longest wait.
    pub fn max(mut self, wait: Duration) -> Backoff {
        self.max = wait;
        self
    }

    /// Gives up after this many failed attempts in a row. A server that ends again before the
    /// [reset](Backoff::reset_after) counts as a failed attempt.
    pub fn attempts(mut self, attempts: u32) -> Backoff {
        self.attempts = Some(attempts);
        self
    }

    /// Sets how long a server must run until the waits start over. One minute by default.
    pub fn reset_after(mut self, run: Duration) -> Backoff {
        self.reset_after = run;
        self
    }

    /// Returns the wait before an attempt, counted from 0. `None` if there is no further attempt.
    pub fn wait(&self, attempt: u32) -> Option<Duration> {
        if self.attempts.is_some_and(|attempts| attempt >= attempts) {
            return None;
        }
        let factor = 1_u32.checked_shl(attempt).unwrap_or(u32::MAX);
        Some(self.first.saturating_mul(factor).min(self.max))
    }

    pub(super) fn is_reset_by(&self, run: Duration) -> bool {
        run >= self.reset_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_attempt_waits_for_the_maximum() {
        let backoff = Backoff::default();
        for attempt in [10, 31, 32, 1000, u32::MAX] {
            assert_eq!(backoff.wait(attempt), Some(Duration::from_secs(30)));
        }
    }
}
