use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

/// Functions of the host that the code may call.
///
/// In the code, each [name](Tools::names) is a function with keyword arguments. `name(x=1)` waits for the result;
/// `await name.start(x=1)` waits for it in an event loop, so `asyncio.gather` makes calls side by side. Both raise
/// `ToolError` with the message if the call [failed](HostCall::fail).
///
/// The code may call any name with any arguments, at any time and as often as its limits allow, so check both.
///
/// ```
/// use tool_python::{HostCall, Tools};
///
/// struct Clock;
///
/// impl Tools for Clock {
///     fn names(&self) -> Vec<String> {
///         vec!["now".to_owned()]
///     }
///
///     fn call(&self, call: HostCall) {
///         match call.name() {
///             "now" => call.answer("1751371200"),
///             _ => call.fail("no such tool"),
///         }
///     }
/// }
/// ```
pub trait Tools: Sync {
    /// The names of the functions. Each is a Python identifier.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Python source that runs before the code, in the same namespace and under the same lock. It may define
    /// functions that use `call_tool(name, **arguments)` and `start_tool(name, **arguments)`. A function `__at_end__`
    /// is called after the code, unless it raised.
    fn prelude(&self) -> String {
        String::new()
    }

    /// Handles a call. Runs on the thread that enforces the limits of the run, so hand slow work to another thread. A
    /// call can be answered from any thread.
    fn call(&self, call: HostCall);

    /// Called when the code stops waiting for an answer, for instance because `asyncio.wait_for` timed out. `id` is the
    /// [`HostCall::id`]. Answer or drop the call all the same. Does nothing by default.
    fn cancel(&self, id: u64) {
        let _ = id;
    }
}

/// No tools: code can't call the host.
///
/// ```
/// use tool_python::{NoTools, Tools};
///
/// assert!(NoTools.names().is_empty());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTools;

impl Tools for NoTools {
    fn call(&self, call: HostCall) {
        call.fail("there are no tools");
    }
}

/// The destination of answers in a run.
pub(crate) trait Answers: Send + Sync {
    /// Sends the answer to a call, which is a value as JSON or an error message.
    fn answer(&self, id: u64, answer: Result<&str, &str>);
    /// Stops or continues the clock of the run.
    fn hold(&self, held: bool);
}

/// A call from the code to the host. Dropping it without an answer fails the call.
///
/// ```
/// use tool_python::{HostCall, Tools};
///
/// /// Adds the numbers that the code passes.
/// struct Sum;
///
/// impl Tools for Sum {
///     fn names(&self) -> Vec<String> {
///         vec!["add".to_owned()]
///     }
///
///     fn call(&self, call: HostCall) {
///         // The code chose the arguments, so check them.
///         match serde_json::from_str::<std::collections::BTreeMap<String, i32>>(call.arguments()) {
///             Ok(numbers) => {
///                 let sum: i64 = numbers.values().copied().map(i64::from).sum();
///                 call.answer(&sum.to_string());
///             }
///             Err(error) => call.fail(&error.to_string()),
///         }
///     }
/// }
/// ```
pub struct HostCall {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) arguments: Box<RawValue>,
    pub(crate) answers: Option<Arc<dyn Answers>>,
    pub(crate) held: bool,
}

impl HostCall {
    /// Returns the number of the call. No other call of the run has it until this one is answered.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the name that the code called. It need not be one of [`Tools::names`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the arguments as the text of a JSON object. Integers may have any number of digits.
    pub fn arguments(&self) -> &str {
        self.arguments.get()
    }

    /// Stops the clock of [`Limits::time`](crate::Limits::time) until the call is answered, for instance while a person
    /// decides on it. The code itself is not stopped: its other threads run on, within
    /// [`Limits::cpu`](crate::Limits::cpu).
    pub fn hold(&mut self) {
        if let (false, Some(answers)) = (self.held, &self.answers) {
            answers.hold(true);
            self.held = true;
        }
    }

    /// Returns a value to the code, given as JSON. Text that is not JSON fails the call.
    pub fn answer(mut self, json: &str) {
        if serde_json::from_str::<&RawValue>(json).is_ok() {
            self.finish(Ok(json));
        } else {
            self.finish(Err("the tool returned invalid JSON"));
        }
    }

    /// Raises `ToolError` in the code, with this message.
    pub fn fail(mut self, message: &str) {
        self.finish(Err(message));
    }

    fn finish(&mut self, answer: Result<&str, &str>) {
        if let Some(answers) = self.answers.take() {
            if self.held {
                answers.hold(false);
            }
            answers.answer(self.id, answer);
        }
    }
}

impl Drop for HostCall {
    fn drop(&mut self) {
        self.finish(Err("the tool returned no result"));
    }
}

/// Leaves out the arguments, which may be secret.
impl fmt::Debug for HostCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostCall")
            .field("name", &self.name)
            .field("bytes", &self.arguments.get().len())
            .finish_non_exhaustive()
    }
}

/// Values for the code, as global variables.
///
/// ```
/// use tool_python::Inputs;
///
/// let inputs = Inputs::new().json("rows", "[[1, 2.5], [2, 18446744073709551616]]")?;
/// # Ok::<(), tool_python::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub(crate) values: Vec<(String, Box<RawValue>)>,
}

impl Inputs {
    /// Creates an empty set.
    pub fn new() -> Inputs {
        Inputs::default()
    }

    /// Adds a variable with a value given as JSON. Integers may have any number of digits.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, which has no `NaN`.
    pub fn json(mut self, name: impl Into<String>, text: &str) -> Result<Inputs, crate::Error> {
        let name = name.into();
        let value = RawValue::from_string(text.to_owned()).map_err(|error| {
            crate::Error::Policy(format!("the input `{name}` is not JSON: {error}"))
        })?;
        self.values.push((name, value));
        Ok(self)
    }

    /// Adds a variable with a JSON value.
    pub fn value(mut self, name: impl Into<String>, value: &serde_json::Value) -> Inputs {
        let text = RawValue::from_string(value.to_string()).expect("a `Value` displays as JSON");
        self.values.push((name.into(), text));
        self
    }
}
