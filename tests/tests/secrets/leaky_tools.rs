//! A secret, and a tool for every way to leak it.

use std::error::Error;
use std::fmt;

use serde::{Serialize, Serializer};
use tool_core::call::{Progress, Transient};
use tool_core::{CallContext, Registry, RegistryBuilder, tool, tools};

/// The secret, which no model may see.
pub(crate) const SECRET: &str = "hunter2";

/// An error with a harmless `Display` and a secret in its `Debug` and in its cause.
#[derive(Debug)]
struct Outage {
    #[allow(dead_code)] // `Debug` reads it.
    password: &'static str,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    Secret,
    /// Panics when it is displayed.
    Rude,
}

impl Outage {
    fn of(cause: Cause) -> Outage {
        Outage {
            password: SECRET,
            cause,
        }
    }
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sensor does not answer")
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Secret => write!(f, "refused with the password {SECRET}"),
            Cause::Rude => panic!("rude with {SECRET}"),
        }
    }
}

impl Error for Outage {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl Error for Cause {}

/// Panics when it is dropped.
pub(crate) struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped with {SECRET}");
        }
    }
}

/// Fails with causes.
#[tool(unlinked)]
fn fails() -> Result<u8, Outage> {
    Err(Outage::of(Cause::Secret))
}

/// Fails with causes, for a while.
#[tool(unlinked)]
async fn is_busy() -> Result<u8, Transient> {
    tokio::task::yield_now().await;
    Err(Transient::new(Outage::of(Cause::Secret)))
}

/// Fails with causes behind a type that is only displayed.
#[tool(unlinked)]
fn fails_boxed() -> Result<u8, Box<dyn Error + Send + Sync>> {
    Err(Outage::of(Cause::Secret).into())
}

/// Fails with a cause that can't be displayed.
#[tool(unlinked)]
fn fails_rudely() -> Result<u8, Outage> {
    Err(Outage::of(Cause::Rude))
}

/// Fails with an error that can't be displayed.
#[tool(unlinked)]
fn is_rude() -> Result<u8, Cause> {
    Err(Cause::Rude)
}

/// Panics with a text.
#[tool(unlinked)]
fn panics() {
    panic!("panicked with {SECRET}");
}

/// Panics with a text that is constant, after a while.
#[tool(unlinked)]
async fn panics_later() {
    tokio::task::yield_now().await;
    std::panic::panic_any(SECRET);
}

/// Panics on its thread.
#[tool(unlinked, blocking)]
fn panics_on_a_thread() {
    panic!("panicked with {SECRET}");
}

/// Panics with something that panics.
#[tool(unlinked)]
fn panics_twice() {
    std::panic::panic_any(Bomb);
}

/// Panics while it waits for the end of its time, and when it is cancelled.
#[tool(unlinked, timeout = "5ms")]
async fn drops_a_bomb() {
    let _bomb = Bomb;
    std::future::pending::<()>().await;
}

struct Unserializable;

impl Serialize for Unserializable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(format!("not with {SECRET}")))
    }
}

/// Returns what can't be written.
#[tool(unlinked)]
fn unserializable() -> Unserializable {
    Unserializable
}

struct PasswordIsHunter2;

/// Lacks something whose name is a secret.
#[tool(unlinked)]
fn lacks(#[param(context)] _lack: &PasswordIsHunter2) {}

/// Reports to an application that panics.
#[tool(unlinked)]
fn reports(call: &CallContext) {
    call.report(&Progress::new(1.0));
}

/// Needs nothing.
#[tool(unlinked)]
fn works() -> u8 {
    7
}

/// Never ends.
#[tool(unlinked)]
async fn waits() {
    std::future::pending::<()>().await;
}

pub(crate) fn all() -> RegistryBuilder {
    Registry::builder()
        .tools(tools![fails, is_busy, fails_boxed, fails_rudely, is_rude])
        .tools(tools![
            panics,
            panics_later,
            panics_on_a_thread,
            panics_twice
        ])
        .tools(tools![
            drops_a_bomb,
            unserializable,
            lacks,
            reports,
            works,
            waits
        ])
        .context_per_call::<PasswordIsHunter2>()
}
