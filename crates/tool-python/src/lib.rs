#![doc = include_str!("../README.md")]
// Items show their feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "code-mode")]
mod code;
#[cfg(all(doc, feature = "code-mode"))]
#[doc = include_str!("elsewhere.md")]
pub mod elsewhere {}
mod error;
#[cfg(feature = "extend")]
mod extend;
#[cfg(any(doc, doctest))]
pub mod guide;
mod host;
mod outcome;
mod policy;
#[cfg(feature = "code-mode")]
mod stubs;

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod linux;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
use linux as imp;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod unsupported;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
use unsupported as imp;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "code-mode")]
pub use code::{CodeTool, HeldCall, code_mode, python_sandbox};
pub use error::Error;
#[cfg(feature = "extend")]
pub use extend::{Loaded, MadeState, MadeTool, Review, Workshop};
pub use host::{HostCall, Inputs, NoTools, Tools};
pub use outcome::{EndedBy, Exception, File, Outcome, Value};
pub use policy::{Layer, Limits, Policy, Report, Stop, User};
#[cfg(feature = "code-mode")]
pub use stubs::stubs;

/// Runs Python code in locked processes, with a new process for each piece of code. Clones share a pool.
///
/// ```no_run
/// use tool_python::{Inputs, Limits, NoTools, Policy, Sandbox};
///
/// let sandbox = Sandbox::new(Policy::new())?;
/// let inputs = Inputs::new().json("numbers", "[1, 2, 3]")?;
/// let outcome = sandbox.run("sum(numbers)", &inputs, &NoTools, &Limits::default())?;
/// assert_eq!(outcome.result.unwrap().text(), "6");
/// # Ok::<(), tool_python::Error>(())
/// ```
#[derive(Clone)]
pub struct Sandbox(imp::Sandbox);

impl Sandbox {
    /// Reports the layers that the kernel supports.
    pub fn probe() -> Report {
        imp::probe()
    }

    /// Creates a sandbox, and starts one interpreter to check that it can be locked.
    ///
    /// # Errors
    ///
    /// If the kernel lacks a layer, unless the policy [allows](Policy::allow_weaker) that. If this program runs as root
    /// without a capability that it needs, or without a [user](Policy::user) in the policy. If the resources of a run
    /// can't be measured, or the interpreter can't be used.
    pub fn new(policy: Policy) -> Result<Sandbox, Error> {
        imp::Sandbox::new(policy).map(Sandbox)
    }

    /// Returns the version of the interpreter, such as `3.11.2`.
    pub fn version(&self) -> &str {
        self.0.version()
    }

    /// Runs code and waits for its end. Failures of the code are in the [`Outcome`]. Blocks the thread, which also
    /// serves the calls of the code.
    ///
    /// ```no_run
    /// use tool_python::{EndedBy, Inputs, Limits, NoTools, Policy, Sandbox};
    ///
    /// let sandbox = Sandbox::new(Policy::new())?;
    /// let code = "print('counting'); 1 / 0";
    /// let outcome = sandbox.run(code, &Inputs::new(), &NoTools, &Limits::default())?;
    /// // A failure of the code isn't an error of the sandbox.
    /// assert_eq!(outcome.stdout, "counting\n");
    /// assert!(matches!(outcome.ended_by, EndedBy::Raised(exception) if exception.kind == "ZeroDivisionError"));
    /// # Ok::<(), tool_python::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the limits are invalid, or no interpreter can be started and locked.
    pub fn run(
        &self,
        code: &str,
        inputs: &Inputs,
        tools: &dyn Tools,
        limits: &Limits,
    ) -> Result<Outcome, Error> {
        limits.check()?;
        self.0.run(code, inputs, tools, limits)
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

/// Locks a mutex, even if it is poisoned.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
