//! Limits of calls for each user and tool.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tool_core::ToolSpec;

use crate::lock;

/// A number of calls in a time, for [`Server::rate`](crate::Server::rate).
///
/// A user may make all the calls at once. After that, calls come back one by one, evenly over the time:
/// with 60 calls a minute, one each second.
///
/// ```
/// use std::time::Duration;
/// use tool_core::Registry;
/// use tool_mcp::server::Rate;
///
/// // Ten calls at once, and then one every six seconds.
/// let rate = Rate::new(10, Duration::from_secs(60));
/// let server = tool_mcp::Server::new(Registry::new()).rate(rate);
/// # let _ = server;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    calls: u32,
    per: Duration,
}

impl Rate {
    /// Creates a rate.
    ///
    /// # Panics
    ///
    /// Panics if the number or the time is 0.
    pub fn new(calls: u32, per: Duration) -> Rate {
        assert!(calls > 0, "a rate needs at least one call");
        assert!(!per.is_zero(), "a rate needs a time");
        Rate { calls, per }
    }

    /// Returns the nanoseconds after which one call more is possible.
    fn interval(self) -> u128 {
        (self.per.as_nanos() / u128::from(self.calls)).max(1)
    }
}

type Limit = dyn Fn(&ToolSpec) -> Option<Rate> + Send + Sync;
type Clock = dyn Fn() -> Instant + Send + Sync;

/// The [rates](Rate) of tools, for [`Server::rate`](crate::Server::rate). A [`Rate`] converts into the same one for each
/// tool.
///
/// ```
/// use std::time::Duration;
///
/// use tool_core::Registry;
/// use tool_mcp::server::{Rate, Rates};
///
/// let minute = Duration::from_secs(60);
/// let rates = Rates::new(move |tool| match tool.annotations.read_only {
///     Some(true) => None,
///     _ => Some(Rate::new(10, minute)),
/// });
/// let server = tool_mcp::Server::new(Registry::new()).rate(rates);
/// # let _ = server;
/// ```
pub struct Rates {
    limit: Box<Limit>,
    clock: Arc<Clock>,
    most: usize,
    start: Instant,
    buckets: Mutex<Buckets>,
}

/// The calls of users, as the times at which they would all be possible again.
#[derive(Default)]
struct Buckets {
    /// By user and tool, in nanoseconds since the start.
    full_at: HashMap<(Option<String>, String), u128>,
    /// The time before which no bucket is full.
    none_before: u128,
}

impl Rates {
    /// Creates rates. The closure returns the rate of a tool, or `None` for a tool without a limit. If it
    /// panics, the tool can't be called.
    pub fn new(limit: impl Fn(&ToolSpec) -> Option<Rate> + Send + Sync + 'static) -> Rates {
        Rates {
            limit: Box::new(limit),
            clock: Arc::new(Instant::now),
            most: 100_000,
            start: Instant::now(),
            buckets: Mutex::default(),
        }
    }

    /// Sets the most pairs of a user and a tool that are counted at a time. The default is 100,000, which
    /// take about 20 MB. Calls of further pairs are refused until a counted pair has its calls back,
    /// because forgetting a pair would let its user call again.
    pub fn most(mut self, pairs: usize) -> Rates {
        self.most = pairs;
        self
    }

    /// Sets the clock, for tests. The default is [`Instant::now`].
    pub fn clock(mut self, now: impl Fn() -> Instant + Send + Sync + 'static) -> Rates {
        self.start = now();
        self.clock = Arc::new(now);
        self
    }

    /// Counts a call. Returns the time to wait if it is one too many, and `None` for that if nobody can say.
    pub(super) fn count(
        &self,
        user: Option<&str>,
        tool: &ToolSpec,
    ) -> Result<(), Option<Duration>> {
        let limit = catch_unwind(AssertUnwindSafe(|| (self.limit)(tool)));
        let Some(rate) = limit.map_err(|_| None)? else {
            return Ok(());
        };
        let now = (self.clock)().saturating_duration_since(self.start);
        let key = (user.map(ToOwned::to_owned), tool.name.to_string());
        let waits = lock(&self.buckets).count(key, rate, now.as_nanos(), self.most);
        waits.map_err(|nanos| {
            let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
            Some(Duration::from_nanos(nanos))
        })
    }
}

impl Buckets {
    /// Counts a call, or returns the nanoseconds to wait.
    fn count(
        &mut self,
        key: (Option<String>, String),
        rate: Rate,
        now: u128,
        most: usize,
    ) -> Result<(), u128> {
        let interval = rate.interval();
        if let Some(full_at) = self.full_at.get_mut(&key) {
            let next = (*full_at).max(now) + interval;
            let burst = interval * u128::from(rate.calls);
            if next > now + burst {
                return Err(next - burst - now);
            }
            *full_at = next;
            return Ok(());
        }
        if self.full_at.len() >= most && now >= self.none_before {
            self.full_at.retain(|_, full_at| *full_at > now);
            let first = self.full_at.values().min();
            self.none_before = first.copied().unwrap_or(now);
        }
        if self.full_at.len() >= most {
            return Err(self.none_before.saturating_sub(now).max(1));
        }
        let next = now + interval;
        self.full_at.insert(key, next);
        self.none_before = self.none_before.min(next);
        Ok(())
    }
}

impl From<Rate> for Rates {
    fn from(rate: Rate) -> Rates {
        Rates::new(move |_| Some(rate))
    }
}

impl fmt::Debug for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rates")
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(user: &str) -> (Option<String>, String) {
        (Some(user.into()), "tool".into())
    }

    #[test]
    fn calls_come_back_one_by_one() {
        let rate = Rate::new(3, Duration::from_nanos(30));
        let mut buckets = Buckets::default();
        let mut count = |now| buckets.count(key("ada"), rate, now, 9);
        for _ in 0..3 {
            assert_eq!(count(100), Ok(()));
        }
        assert_eq!(count(100), Err(10));
        assert_eq!(count(109), Err(1));
        assert_eq!(count(110), Ok(()));
        assert_eq!(count(110), Err(10));
        // No more than all of them come back.
        for _ in 0..3 {
            assert_eq!(count(1000), Ok(()));
        }
        assert_eq!(count(1000), Err(10));
    }

    #[test]
    fn users_are_counted_apart_and_no_more_than_the_most() {
        let rate = Rate::new(1, Duration::from_nanos(10));
        let mut buckets = Buckets::default();
        for round in 0..100 {
            let now = round * 10;
            let users = ["ada", "bob"].map(|user| format!("{user} {round}"));
            for user in &users {
                assert_eq!(buckets.count(key(user), rate, now, 2), Ok(()));
                assert_eq!(buckets.count(key(user), rate, now, 2), Err(10));
            }
            // Nobody is forgotten for a newcomer.
            assert_eq!(buckets.count(key("eve"), rate, now, 2), Err(10));
            assert_eq!(buckets.count(key("eve"), rate, now + 9, 2), Err(1));
            assert_eq!(buckets.full_at.len(), 2);
        }
    }

    #[test]
    fn large_numbers_are_no_problem() {
        for rate in [
            Rate::new(u32::MAX, Duration::from_nanos(1)),
            Rate::new(u32::MAX, Duration::MAX),
            Rate::new(1, Duration::MAX),
        ] {
            let mut buckets = Buckets::default();
            let _ = buckets.count(key("ada"), rate, u64::MAX.into(), 2);
            let _ = buckets.count(key("ada"), rate, u64::MAX.into(), 2);
        }
        let rates = Rates::from(Rate::new(1, Duration::MAX));
        assert_eq!(rates.most, 100_000);
    }
}
