//! The subject of a test: the tool of one row of the table, with an independent validator.

use std::any::Any;
use std::cell::{Cell, RefCell};

use jsonschema::Validator;
use serde_json::Value;
use tool_core::call::Arguments;
use tool_core::hooks::{Gate, HookCall};
use tool_core::registry::ArgumentsReader;
use tool_core::{Registry, ToolCall, ToolEntry, ToolErrorKind, ToolResult};

use crate::typed::SchemarsType;

thread_local! {
    /// Number of runs of tools on this thread.
    static RUNS: Cell<usize> = const { Cell::new(0) };
    /// The value that the last tool on this thread received.
    static RECEIVED: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
    /// The arguments that the last gate on this thread was shown.
    static GATED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Counts a run. Every tool of the table calls it.
pub fn ran<T>(_: T) {
    RUNS.with(|runs| runs.set(runs.get() + 1));
}

/// Counts a run and keeps the value. Tools whose types serialize call it.
pub fn receive<T: Any>(value: T) {
    ran(());
    RECEIVED.with(|received| *received.borrow_mut() = Some(Box::new(value)));
}

/// Takes the value that the last tool received.
pub fn received<T: Any>() -> Option<T> {
    let value = RECEIVED.with(|received| received.borrow_mut().take())?;
    value.downcast().ok().map(|value| *value)
}

/// Records what a gate is shown.
fn record(hook: &HookCall) -> Gate {
    if let Arguments::Text(text) = &hook.call.arguments {
        GATED.set(Some(text.clone()));
    }
    Gate::Allow
}

/// Sends the value that some arguments decode to, and compares what the tool receives; `None` if
/// they are rejected.
pub type RoundTrip = fn(&Subject, &Value) -> Option<Result<(), String>>;

/// Calls two tools with the same arguments. Compares the values that they receive, or the violations. Returns `true` if both
/// accept the arguments.
///
/// # Errors
///
/// Returns the difference.
pub type Comparison = fn(&Subject, &Subject, &str) -> Result<bool, String>;

/// A row of the table.
pub struct Row {
    /// The name of the row and of its tool.
    pub name: &'static str,
    /// The tool.
    pub tool: ToolEntry,
    /// The round trip, for a type that serializes.
    pub round_trip: Option<RoundTrip>,
    /// A tool with the same schema whose value serde decodes, for a type that serializes, and a comparison
    /// of both.
    pub by_serde: Option<(ToolEntry, Comparison)>,
    /// The type's `JsonSchema`, if it has one.
    pub typed: Option<SchemarsType>,
}

/// A row with everything needed to check calls of its tool.
pub struct Subject {
    /// The row.
    pub row: Row,
    /// The emitted schema.
    pub schema: Value,
    /// The independent validator of the emitted schema.
    pub validator: Validator,
    strict: Registry,
    lenient: Registry,
    /// With a hook before every call.
    gated: Registry,
    gated_lenient: Registry,
}

impl Subject {
    /// Creates the validator and the registries of a row.
    ///
    /// # Panics
    ///
    /// Panics if the emitted schema is not a JSON Schema.
    pub fn new(row: Row) -> Subject {
        let text = row.tool.parameters_json();
        let schema = serde_json::from_str(text)
            .unwrap_or_else(|error| panic!("{}: {error} in {text}", row.name));
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(!crate::exceptions::only_shows_its_format(row.name))
            .build(&schema)
            .unwrap_or_else(|error| panic!("{}: {error} in {text}", row.name));
        let registry = || Registry::builder().tools([row.tool.clone()]);
        let (strict, lenient) = (registry(), registry().lenient());
        let gated = strict.clone().before(async |hook| record(&hook));
        let gated_lenient = lenient.clone().before(async |hook| record(&hook));
        let [strict, lenient, gated, gated_lenient] = [strict, lenient, gated, gated_lenient]
            .map(|builder| builder.build().expect("one tool has one name"));
        Subject {
            row,
            schema,
            validator,
            strict,
            lenient,
            gated,
            gated_lenient,
        }
    }

    /// Returns every row of the table.
    pub fn all() -> Vec<Subject> {
        crate::table::rows().into_iter().map(Subject::new).collect()
    }

    /// Calls the tool with this text and checks what holds for every call: no panic, and one run of
    /// the
    /// tool if the call is accepted, none if it is rejected.
    ///
    /// # Panics
    ///
    /// Panics if one of these does not hold.
    pub fn call(&self, text: &str, is_lenient: bool) -> ToolResult {
        let registry = if is_lenient {
            &self.lenient
        } else {
            &self.strict
        };
        self.call_in(registry, text, text.into())
    }

    /// Calls the tool with the value of this text, as an adapter does that has parsed the request.
    /// Returns `None` if the text is not JSON.
    ///
    /// # Panics
    ///
    /// Panics as [`call`](Subject::call) does.
    pub fn call_value(&self, text: &str) -> Option<ToolResult> {
        let value = serde_json::from_str(text).ok()?;
        Some(self.call_in(&self.strict, text, Arguments::Json(value)))
    }

    /// Calls the tool through a gate that allows everything. Returns the arguments that the gate was
    /// shown, and checks that it was asked only about a call that ran.
    ///
    /// # Panics
    ///
    /// Panics if one of these does not hold.
    pub fn call_gated(&self, text: &str, is_lenient: bool) -> (ToolResult, Option<String>) {
        let registry = if is_lenient {
            &self.gated_lenient
        } else {
            &self.gated
        };
        GATED.take();
        let result = self.call_in(registry, text, text.into());
        let shown = GATED.take();
        assert_eq!(
            shown.is_some(),
            !result.is_error(),
            "{}: the gate was shown {shown:?} of {text}",
            self.row.name
        );
        (result, shown)
    }

    fn call_in(&self, registry: &Registry, text: &str, arguments: Arguments) -> ToolResult {
        let before = RUNS.with(Cell::get);
        let result = registry.call_blocking(ToolCall::new("id", self.row.name, arguments));
        let runs = RUNS.with(Cell::get) - before;
        let name = self.row.name;
        if let Some(error) = result.error() {
            let kind = error.kind();
            assert_eq!(runs, 0, "{name} ran on the rejected call {text}");
            assert!(
                matches!(
                    kind,
                    ToolErrorKind::MalformedJson | ToolErrorKind::InvalidArguments
                ),
                "{name} answered {text} with {kind:?}"
            );
            assert!(
                !result.content().is_empty(),
                "{name} rejected {text} without a message"
            );
        } else {
            assert_eq!(runs, 1, "{name} accepted {text} and ran {runs} times");
        }
        result
    }

    /// Returns a reader for arguments that arrive in pieces.
    ///
    /// # Panics
    ///
    /// Panics if the registry does not have the tool.
    pub fn reader(&self, is_lenient: bool) -> ArgumentsReader {
        let registry = if is_lenient {
            &self.lenient
        } else {
            &self.strict
        };
        let reader = registry.arguments(self.row.name);
        reader.expect("the registry has the tool")
    }

    /// Returns `true` if the tool accepts these arguments.
    pub fn accepts(&self, arguments: &Value) -> bool {
        !self.call(&arguments.to_string(), false).is_error()
    }
}
