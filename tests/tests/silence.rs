//! Where nobody listens, nothing is put into words, and telemetry allocates nothing. One test, since
//! it counts for the whole program.

use std::alloc::System;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tool_core::{Registry, ToolCall, tool, tools};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, with_default};
use tracing::{Event, Metadata, Subscriber};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How often an error was displayed, its cause was, and either was shown by `Debug`.
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

/// Wants nothing, and sees nothing.
struct Deaf {
    /// Whether it is asked each time.
    is_asked: bool,
}

impl Subscriber for Deaf {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        match self.is_asked {
            true => Interest::sometimes(),
            false => Interest::never(),
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // As if it wanted everything, so that this is not what keeps it quiet.
        self.is_asked.then_some(LevelFilter::TRACE)
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        unreachable!("it wants no span")
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        unreachable!("it wants no record")
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        unreachable!("it wants no event")
    }

    fn enter(&self, _: &Id) {
        unreachable!("it has no span")
    }

    fn exit(&self, _: &Id) {
        unreachable!("it has no span")
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

/// What a hundred of each call allocate: how often, and how many bytes.
fn allocated(registry: &Registry) -> Vec<(usize, usize)> {
    let count = |(name, arguments): (&str, &str)| {
        let calls: Vec<_> = (0..101)
            .map(|_| ToolCall::new("call_1", name, arguments))
            .collect();
        let mut calls = calls.into_iter();
        // What is done at first use is not counted.
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
    CALLS.map(count).to_vec()
}

#[test]
fn nobody_listens_and_nothing_is_said() {
    let tools = || tools![add, add_later, fail];
    let plain = Registry::builder().tools(tools()).build().unwrap();
    // With a limit to the output, a call takes the long way.
    let guarded = Registry::builder().tools(tools()).output_cap(1_000);
    let guarded = guarded.build().unwrap();
    // The thread that started this one has something to do yet, and is counted too.
    thread::sleep(Duration::from_millis(100));
    for registry in [plain, guarded] {
        let alone = allocated(&registry);
        let never = with_default(Deaf { is_asked: false }, || allocated(&registry));
        let asked = with_default(Deaf { is_asked: true }, || allocated(&registry));
        assert_eq!(alone, never);
        assert_eq!(alone, asked);
        println!("{alone:?}");
    }
    // For the model, once a call: two registries, three subscribers, 101 calls.
    assert_eq!(DISPLAYED.load(Ordering::SeqCst), 2 * 3 * 101);
    assert_eq!(CAUSE_DISPLAYED.load(Ordering::SeqCst), 0);
    assert_eq!(DEBUGGED.load(Ordering::SeqCst), 0);
}
