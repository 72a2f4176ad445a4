//! [`Case`]: the words of a user, and the calls that a model should make.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tool_core::Registry;

use crate::attempt::Attempt;
use crate::error::EvalError;

/// Checks an attempt by code. The error describes the mistake.
pub(crate) type Check = Arc<dyn Fn(&Attempt<'_>) -> Result<(), String> + Send + Sync>;

/// The order in which the expected calls may come.
///
/// ```
/// use tool_eval::Order;
///
/// assert_eq!(Order::default(), Order::Exact);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Order {
    /// Exactly these calls, in this order.
    #[default]
    Exact,
    /// These calls, in this order. Other calls may come before, after and between.
    InOrder,
    /// These calls, in any order. Other calls may be among them.
    AnyOrder,
}

/// A call that a [`Case`] expects.
///
/// ```
/// use serde_json::json;
/// use tool_eval::{Case, ExpectedCall};
///
/// let call = ExpectedCall::new("add_event", json!({"day": "2026-03-01", "room": "Ada"}))
///     .accept("room", json!("Ada Lovelace"))
///     .ignore("title");
/// let case = Case::new("meeting", "A meeting on the first of March in the room Ada").expect(call);
/// # let _ = case;
/// ```
#[derive(Clone, Debug)]
pub struct ExpectedCall {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) accept: Vec<(String, Value)>,
    pub(crate) ignore: Vec<String>,
    pub(crate) line: Option<usize>,
}

impl ExpectedCall {
    /// Creates the call of a tool. The arguments are an object. `null` means an empty one.
    pub fn new(tool: impl Into<String>, arguments: impl Into<Value>) -> ExpectedCall {
        let arguments = match arguments.into() {
            Value::Object(arguments) => arguments,
            Value::Null => Map::new(),
            // Becomes an unknown parameter, which is later rejected with the name of the case.
            other => Map::from_iter([("arguments".to_owned(), other)]),
        };
        ExpectedCall {
            tool: tool.into(),
            arguments,
            accept: Vec::new(),
            ignore: Vec::new(),
            line: None,
        }
    }

    /// Accepts another value of a parameter as well.
    pub fn accept(mut self, parameter: impl Into<String>, value: impl Into<Value>) -> Self {
        self.accept.push((parameter.into(), value.into()));
        self
    }

    /// Ignores the value of a parameter, such as a text in the model's own words.
    pub fn ignore(mut self, parameter: impl Into<String>) -> Self {
        self.ignore.push(parameter.into());
        self
    }
}

/// The words of a user, and the expected calls of the model. A case that expects nothing is an error when it runs.
///
/// ```
/// use serde_json::json;
/// use tool_eval::{Case, Order};
///
/// let case = Case::new("dim two lamps", "Dim the lamps in the hall and the attic to 20 %")
///     .call("set_light", json!({"area": "hall", "brightness": 20}))
///     .call("set_light", json!({"area": "attic", "brightness": 20}))
///     .order(Order::AnyOrder)
///     .forbid("delete_light")
///     .result("set_light", json!({"ok": true}));
/// # let _ = case;
/// ```
#[derive(Clone)]
#[must_use = "give it to `Eval::new`"]
pub struct Case {
    pub(crate) name: String,
    pub(crate) says: String,
    /// `None` if any calls are allowed.
    pub(crate) calls: Option<Vec<ExpectedCall>>,
    pub(crate) order: Order,
    pub(crate) others: Option<bool>,
    pub(crate) forbidden: Vec<String>,
    /// The name of a check registered with the evaluation.
    pub(crate) predicate: Option<String>,
    pub(crate) check: Option<Check>,
    pub(crate) results: BTreeMap<String, Value>,
    pub(crate) runs_tools: bool,
    /// The tools, if they differ from the agent's.
    pub(crate) registry: Option<Registry>,
    pub(crate) max_rounds: Option<u32>,
    /// The line of the case in its file.
    pub(crate) line: Option<usize>,
}

impl Case {
    /// Creates a case. The name must be unique in an evaluation, because it identifies the case in reports and
    /// baselines.
    pub fn new(name: impl Into<String>, says: impl Into<String>) -> Case {
        Case {
            name: name.into(),
            says: says.into(),
            calls: None,
            order: Order::default(),
            others: None,
            forbidden: Vec::new(),
            predicate: None,
            check: None,
            results: BTreeMap::new(),
            runs_tools: false,
            registry: None,
            max_rounds: None,
            line: None,
        }
    }

    /// Expects a call with these arguments, after the calls expected so far. The arguments are compared in the form in
    /// which the tool decodes them: `50` equals `50.0`, the case of enum values does not matter, and an absent
    /// parameter has the default in the schema.
    pub fn call(self, tool: impl Into<String>, arguments: impl Into<Value>) -> Self {
        self.expect(ExpectedCall::new(tool, arguments))
    }

    /// Expects a call, after the calls expected so far.
    pub fn expect(mut self, call: ExpectedCall) -> Self {
        self.calls.get_or_insert_default().push(call);
        self
    }

    /// Expects that the model makes no calls.
    pub fn no_call(mut self) -> Self {
        self.calls.get_or_insert_default();
        self
    }

    /// Sets the order in which the calls may come.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Allows or forbids other calls. [`Exact`](Order::Exact) forbids them in any case. By default they are allowed.
    pub fn others(mut self, are_allowed: bool) -> Self {
        self.others = Some(are_allowed);
        self
    }

    /// Fails the case if the model calls this tool, even with invalid arguments.
    pub fn forbid(mut self, tool: impl Into<String>) -> Self {
        self.forbidden.push(tool.into());
        self
    }

    /// Checks each attempt with the function that [`Eval::predicate`](crate::Eval::predicate) registered under this
    /// name, after the calls.
    pub fn predicate(mut self, name: impl Into<String>) -> Self {
        self.predicate = Some(name.into());
        self
    }

    /// Checks each attempt with a function, after the calls. The error describes the mistake. A panic fails the
    /// attempt.
    ///
    /// ```
    /// use tool_eval::Case;
    ///
    /// let case = Case::new("greeting", "Hello!").no_call().check(|attempt| {
    ///     if attempt.answer().is_empty() {
    ///         return Err("the model said nothing".into());
    ///     }
    ///     Ok(())
    /// });
    /// # let _ = case;
    /// ```
    pub fn check(
        mut self,
        check: impl Fn(&Attempt<'_>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Sets the result for calls of a tool, which does not run. If the tool has an output schema, the result must match
    /// it. Calls of other tools get the text `Done.`.
    pub fn result(mut self, tool: impl Into<String>, result: impl Into<Value>) -> Self {
        self.results.insert(tool.into(), result.into());
        self
    }

    /// Runs the tools, with all their effects. By default, calls are only validated, and get the
    /// [results](Case::result) of the case.
    pub fn run_tools(mut self) -> Self {
        self.runs_tools = true;
        self
    }

    /// Sets tools for this case, in place of the agent's.
    pub fn tools(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Sets the maximum number of requests in an attempt, in place of [`Eval::max_rounds`](crate::Eval::max_rounds).
    pub fn max_rounds(mut self, rounds: u32) -> Self {
        self.max_rounds = Some(rounds);
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns an error in this case, with this line or the line of the case.
    pub(crate) fn error(&self, line: Option<usize>, message: impl Into<String>) -> EvalError {
        let mut error = EvalError::new(message);
        error.case = Some(self.name.clone());
        error.line = line.or(self.line);
        error
    }

    /// Returns `true` if unexpected calls are allowed.
    pub(crate) fn allows_others(&self) -> bool {
        self.order != Order::Exact && self.others.unwrap_or(true)
    }
}

/// Leaves out the user's words and the expected arguments, which may be personal.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case")
            .field("name", &self.name)
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}
