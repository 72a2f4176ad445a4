//! Functions that return a future instead of being async.

use std::future::{Future, ready};
use std::pin::Pin;

use tool_core::{tool, tools};

type BoxFuture<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

/// Waits.
#[tool]
fn wait(minutes: u8) -> impl Future<Output = u8> + Send {
    ready(minutes)
}

/// Waits, too.
#[tool]
fn rest(minutes: u8) -> BoxFuture<'static, u8> {
    Box::pin(ready(minutes))
}

fn main() {
    let _ = tools![wait, rest];
}
// 2 errors
