//! One tool under proof: the function that a row of the table makes, and its judge.

use std::any::Any;
use std::cell::{Cell, RefCell};

use jsonschema::Validator;
use serde_json::Value;
use tool_core::{Registry, ToolCall, ToolEntry, ToolErrorKind, ToolResult};

thread_local! {
    /// How often a tool ran on this thread.
    static RUNS: Cell<usize> = const { Cell::new(0) };
    /// What a tool received last on this thread.
    static RECEIVED: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

/// Called by every tool of the table: counts the run.
pub fn ran<T>(_: T) {
    RUNS.with(|runs| runs.set(runs.get() + 1));
}

/// Called by the tools whose types can be sent back: counts the run and keeps the value.
pub fn receive<T: Any>(value: T) {
    ran(());
    RECEIVED.with(|received| *received.borrow_mut() = Some(Box::new(value)));
}

/// Takes what the last tool received.
pub fn received<T: Any>() -> Option<T> {
    let value = RECEIVED.with(|received| received.borrow_mut().take())?;
    value.downcast().ok().map(|value| *value)
}

/// Sends what some arguments decode to, and compares what arrives; `None` when they are refused.
pub type RoundTrip = fn(&Subject, &Value) -> Option<Result<(), String>>;

/// A row of the table.
pub struct Row {
    /// The name of the row and of its tool.
    pub name: &'static str,
    /// The tool.
    pub tool: ToolEntry,
    /// For a type that serialises.
    pub round_trip: Option<RoundTrip>,
}

/// A row with all that is needed to judge calls of its tool.
pub struct Subject {
    /// The row.
    pub row: Row,
    /// The emitted schema.
    pub schema: Value,
    /// The independent judge of the emitted schema.
    pub judge: Validator,
    strict: Registry,
    lenient: Registry,
}

impl Subject {
    /// Makes the judge and the registries of a row.
    ///
    /// # Panics
    ///
    /// When the emitted schema is no JSON Schema.
    pub fn new(row: Row) -> Subject {
        let text = row.tool.parameters_json();
        let schema = serde_json::from_str(text)
            .unwrap_or_else(|error| panic!("{}: {error} in {text}", row.name));
        let judge = jsonschema::draft202012::options()
            .should_validate_formats(!crate::exceptions::only_shows_its_format(row.name))
            .build(&schema)
            .unwrap_or_else(|error| panic!("{}: {error} in {text}", row.name));
        let registry = || Registry::builder().tools([row.tool.clone()]);
        let (strict, lenient) = (registry().build(), registry().lenient().build());
        Subject {
            schema,
            judge,
            strict: strict.expect("one tool has one name"),
            lenient: lenient.expect("one tool has one name"),
            row,
        }
    }

    /// Every row of the table.
    pub fn all() -> Vec<Subject> {
        crate::table::rows().into_iter().map(Subject::new).collect()
    }

    /// Calls the tool with this text and sees to what must hold of every call: no panic, and one
    /// run of the tool if the call is accepted, none if it is refused.
    ///
    /// # Panics
    ///
    /// When one of these does not hold.
    pub fn call(&self, text: &str, is_lenient: bool) -> ToolResult {
        let registry = if is_lenient {
            &self.lenient
        } else {
            &self.strict
        };
        let before = RUNS.with(Cell::get);
        let result = registry.call_blocking(ToolCall::new("id", self.row.name, text));
        let runs = RUNS.with(Cell::get) - before;
        let name = self.row.name;
        if let Some(error) = result.error() {
            let kind = error.kind();
            assert_eq!(runs, 0, "{name} ran on the refused call {text}");
            assert!(
                matches!(
                    kind,
                    ToolErrorKind::MalformedJson | ToolErrorKind::InvalidArguments
                ),
                "{name} answered {text} with {kind:?}"
            );
            assert!(
                !result.content().is_empty(),
                "{name} refused {text} without a word"
            );
        } else {
            assert_eq!(runs, 1, "{name} accepted {text} and ran {runs} times");
        }
        result
    }

    /// Whether the tool accepts these arguments.
    pub fn accepts(&self, arguments: &Value) -> bool {
        !self.call(&arguments.to_string(), false).is_error()
    }
}
