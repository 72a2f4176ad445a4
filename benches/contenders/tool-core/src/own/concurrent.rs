//! A thousand concurrent calls of an async tool that waits once, and the same without a registry.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::join_all;
use harness::now::soon;
use harness::{Work, cases};
use tool_core::{Registry, ToolCall, tool, tools};

use crate::tools::Unit;

const CALLS: usize = 1000;

/// Ready at its second poll.
struct Once(bool);

impl Future for Once {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Weather forecast for a city.
#[tool(unlinked)]
async fn flat_later(
    /// City and country, such as `Lisbon, Portugal`.
    city: String,
    /// How many days ahead.
    days: Option<u8>,
    /// Temperature unit.
    unit: Unit,
    /// Degrees north.
    latitude: f64,
    /// How many entries to give at most.
    limit: u32,
    /// One entry an hour instead of one a day.
    hourly: bool,
) -> String {
    Once(false).await;
    black_box((&city, &days, &unit, &latitude, &limit, &hourly));
    "stored".into()
}

/// Calls by `call_all`, from the text of the arguments to the results.
pub fn calls() -> Work {
    let registry = Registry::builder().tools(tools![flat_later]).build();
    let registry = registry.expect("one tool");
    let arguments = cases::flat();
    Work::new(CALLS, move || {
        let calls = (0..CALLS).map(|_| ToolCall::new("call_1", "flat_later", &*arguments));
        let results = soon(registry.call_all(calls));
        assert!(!black_box(results)[CALLS - 1].is_error());
    })
}

/// Joins the functions directly, with decoded arguments.
pub fn bare() -> Work {
    Work::new(CALLS, || {
        let calls = (0..CALLS).map(|_| {
            let city = "Lisbon, Portugal".to_owned();
            flat_later(city, Some(3), Unit::Celsius, 38.7223, 25, true)
        });
        black_box(soon(join_all(calls)));
    })
}
