//! Without a subscriber, errors are not formatted and telemetry does not allocate. One test,
//! because it
//! counts for the whole program.

use std::alloc::System;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tool_core::{Registry, ToolCall, tool, tools};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, with_default};
use tracing::{Event, Metadata, Subscriber};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How often an error was displayed, its cause was displayed, and either was formatted by `Debug`.
static DISPLAYED: AtomicUsize = AtomicUsize::new(0);
static CAUSE_DISPLAYED: AtomicUsize = AtomicUsize::new(0);
static DEBUGGED: AtomicUsize = AtomicUsize::new(0);

struct Outage(Cause);

struct Cause;

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        DISPLAYED.fetch_add(1, Ordering::SeqCst);
        f.write_str("the sensor does not answer")
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        CAUSE_DISPLAYED.fetch_add(1, Ordering::SeqCst);
        f.write_str("the wire is cut")
    }
}

macro_rules! counted {
    ($ty:ident) => {
        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                DEBUGGED.fetch_add(1, Ordering::SeqCst);
                f.write_str(stringify!($ty))
            }
        }
    };
}
counted!(Outage);
counted!(Cause);

impl Error for Outage {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

impl Error for Cause {}

/// Adds two numbers.
#[tool(unlinked)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Adds two numbers later.
#[tool(unlinked)]
async fn add_later(a: i64, b: i64) -> i64 {
    std::future::ready(a + b).await
}

/// Fails.
#[tool(unlinked)]
fn fail() -> Result<u8, Outage> {
    Err(Outage(Cause))
}

/// A subscriber that keeps nothing.
enum Listener {
    /// Disabled; says so once.
    Deaf,
    /// Disabled; is asked each time.
    Asleep,
    /// Enabled.
    Awake,
}

impl Subscriber for Listener {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        match self {
            Listener::Deaf => Interest::never(),
            Listener::Asleep => Interest::sometimes(),
            Listener::Awake => Interest::always(),
        }
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        self.is_awake()
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        assert!(self.is_awake());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        assert!(self.is_awake());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        assert!(self.is_awake());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Listener {
    fn is_awake(&self) -> bool {
        matches!(self, Listener::Awake)
    }
}

const CALLS: [(&str, &str); 6] = [
    ("add", r#"{"a":2,"b":3}"#),
    ("add_later", r#"{"a":2,"b":3}"#),
    ("fail", "{}"),
    ("add", r#"{"a":"x"}"#),
    ("add", "{"),
    ("no_such_tool", "{}"),
];

/// Number of repeats. The thread that started the test may allocate meanwhile, so the minimum is
/// what
/// the calls allocate.
const COUNTS: usize = 5;

/// Returns the number of allocations and of bytes for a hundred of each call.
fn allocated(registry: &Registry) -> Vec<(usize, usize)> {
    let count = |(name, arguments): (&str, &str)| {
        let calls: Vec<_> = (0..101)
            .map(|_| ToolCall::new("call_1", name, arguments))
            .collect();
        let mut calls = calls.into_iter();
        // Allocations on first use do not count.
        let first = calls.next().map(|call| registry.call_blocking(call));
        let region = Region::new(ALLOCATOR);
        for call in calls {
            drop(registry.call_blocking(call));
        }
        let change = region.change();
        drop(first);
        (
            change.allocations + change.reallocations,
            change.bytes_allocated,
        )
    };
    CALLS
        .map(|call| (0..COUNTS).map(|_| count(call)).min().unwrap())
        .to_vec()
}

#[test]
fn without_a_subscriber_nothing_is_formatted_or_allocated() {
    let tools = || tools![add, add_later, fail];
    let plain = Registry::builder().tools(tools()).build().unwrap();
    // An output limit disables the fast path.
    let guarded = Registry::builder().tools(tools()).output_cap(1_000);
    let guarded = guarded.build().unwrap();
    let registries = [plain, guarded];
    let heard_by =
        |listener: Listener| with_default(listener, || registries.each_ref().map(allocated));
    let alone = registries.each_ref().map(allocated);
    assert_eq!(alone, heard_by(Listener::Deaf));
    assert_eq!(alone, heard_by(Listener::Asleep));
    // Formatted for the model, once a call: two registries, three times, 101 calls at each count.
    assert_eq!(DISPLAYED.load(Ordering::SeqCst), 2 * 3 * 101 * COUNTS);
    assert_eq!(CAUSE_DISPLAYED.load(Ordering::SeqCst), 0);

    // A subscriber costs more: the span and the event of each call.
    let heard = heard_by(Listener::Awake);
    for (alone, heard) in alone.iter().flatten().zip(heard.iter().flatten()) {
        assert!(heard.0 >= alone.0 + 200, "{alone:?} {heard:?}");
    }
    // The operator reads the causes.
    assert!(CAUSE_DISPLAYED.load(Ordering::SeqCst) > 0);
    assert_eq!(DEBUGGED.load(Ordering::SeqCst), 0);
}
