//! [`DynamicToolBuilder`]: collects what a tool is.

use std::error::Error;
use std::fmt::Display;
use std::future::Future;
use std::panic;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::portable::Reader;
use super::schema_input::SchemaInput;
use super::{Body, Checked, DynamicTool, DynamicToolError, Run, check, held_to, invoke};
use crate::call::context::CallContext;
use crate::output::Outcome;
use crate::spec::{Annotations, Details, DynamicParts, Location, ToolSpec};
use crate::tool::{Invoke, LiveTool, ToolEntry};

/// The schema of no arguments.
const NOTHING: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;

/// Collects what a [`DynamicTool`] is.
#[derive(Clone, Debug)]
pub struct DynamicToolBuilder {
    name: String,
    title: Option<String>,
    description: String,
    when_to_use: Option<String>,
    returns: Option<String>,
    annotations: Annotations,
    timeout: Option<Duration>,
    parameters: SchemaInput,
    output: Option<SchemaInput>,
}

impl DynamicToolBuilder {
    pub(super) fn new(name: String) -> DynamicToolBuilder {
        DynamicToolBuilder {
            name,
            title: None,
            description: String::new(),
            when_to_use: None,
            returns: None,
            annotations: Annotations::default(),
            timeout: None,
            parameters: SchemaInput::Text(NOTHING.into()),
            output: None,
        }
    }

    /// A name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What the tool does, for the model. Every tool has a description.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// When the model should call it.
    pub fn when_to_use(mut self, when: impl Into<String>) -> Self {
        self.when_to_use = Some(when.into());
        self
    }

    /// What comes back, in words.
    pub fn returns(mut self, returns: impl Into<String>) -> Self {
        self.returns = Some(returns.into());
        self
    }

    /// Whether it changes nothing, if that is known.
    pub fn read_only(mut self, hint: impl Into<Option<bool>>) -> Self {
        self.annotations.read_only = hint.into();
        self
    }

    /// Whether it may delete or overwrite, if that is known.
    pub fn destructive(mut self, hint: impl Into<Option<bool>>) -> Self {
        self.annotations.destructive = hint.into();
        self
    }

    /// Whether doing it twice is doing it once, if that is known.
    pub fn idempotent(mut self, hint: impl Into<Option<bool>>) -> Self {
        self.annotations.idempotent = hint.into();
        self
    }

    /// Whether it reaches out to a world that others change too, if that is known.
    pub fn open_world(mut self, hint: impl Into<Option<bool>>) -> Self {
        self.annotations.open_world = hint.into();
        self
    }

    /// How long a call may take. A registry needs a [`Runtime`](crate::Runtime) for that.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// The JSON Schema of the arguments, an object. Without one, the tool takes none.
    ///
    /// It is sent in the order of the value's keys, which `serde_json` sorts, unless a crate of the
    /// program turns its feature `preserve_order` on.
    pub fn parameters(mut self, schema: impl Into<Value>) -> Self {
        self.parameters = SchemaInput::Value(schema.into());
        self
    }

    /// The same as JSON text. It is sent as it is, but for the white space: its keys stay in their
    /// order, which models and their caches look at.
    ///
    /// ```
    /// use tool_core::DynamicTool;
    ///
    /// let tool = DynamicTool::builder("get_forecast")
    ///     .description("Weather forecast for a city.")
    ///     .parameters_json(
    ///         r#"{
    ///             "type": "object",
    ///             "properties": { "unit": { "type": "string" }, "city": { "type": "string" } },
    ///             "required": ["city"]
    ///         }"#,
    ///     )
    ///     .build(async |_, _| Ok::<_, String>("Sunny."))?;
    /// assert!(tool.spec().parameters_json().starts_with(r#"{"type":"object","properties":{"unit":"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parameters_json(mut self, schema: impl Into<String>) -> Self {
        self.parameters = SchemaInput::Text(schema.into());
        self
    }

    /// The JSON Schema of the result, an object. A result that is something else fails the call.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::{DynamicTool, Registry, ToolCall};
    ///
    /// let tool = DynamicTool::builder("count")
    ///     .description("Counts.")
    ///     .output(json!({"type": "object", "properties": {"count": {"type": "integer"}}}))
    ///     .build(async |_, _| Ok::<_, String>(json!({"count": "many"})))?;
    /// let registry = Registry::builder().tool(tool).build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "count", ""));
    /// assert!(result.content().ends_with("its result is not what its output schema describes"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn output(mut self, schema: impl Into<Value>) -> Self {
        self.output = Some(SchemaInput::Value(schema.into()));
        self
    }

    /// The same as JSON text, which keeps its order: see
    /// [`parameters_json`](DynamicToolBuilder::parameters_json).
    pub fn output_json(mut self, schema: impl Into<String>) -> Self {
        self.output = Some(SchemaInput::Text(schema.into()));
        self
    }

    /// The tool, which this closure runs: it has the arguments, which are what the schema says, and
    /// the context of the call, which it may keep. What it gives is told to the model as the result
    /// of a function is.
    ///
    /// # Errors
    ///
    /// When the name is not one that every provider takes, the description is empty, or a schema is
    /// none, can't be resolved without fetching something, or is none that every provider takes.
    #[track_caller]
    pub fn build<F, R, T, E>(self, run: F) -> Result<DynamicTool, DynamicToolError>
    where
        F: Fn(Value, CallContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
        T: Serialize,
        E: Display + Into<Box<dyn Error + Send + Sync>>,
    {
        let place = panic::Location::caller();
        let location = Location {
            file: place.file(),
            line: place.line(),
            module: "",
        };
        self.finish(location, |output| {
            let run = Arc::new(run);
            Box::new(move |arguments, call| {
                let running = run(arguments, call);
                let output = output.clone();
                Box::pin(async move {
                    let outcome = Outcome::result(running.await);
                    match output {
                        Some(output) => held_to(outcome, &output),
                        None => outcome,
                    }
                })
            })
        })
    }

    /// The same behind the types of the closure.
    fn finish(
        mut self,
        location: Location,
        run: impl FnOnce(Option<Arc<Checked>>) -> Run,
    ) -> Result<DynamicTool, DynamicToolError> {
        let mut problems = check::texts(&self.name, &self.description);
        let parameters = check::schema("its schema", self.parameters, Reader::Model, &mut problems);
        let output = self.output.take();
        let output = output.map(|schema| {
            check::schema("its output schema", schema, Reader::Client, &mut problems)
        });
        let (Some(parameters), true) = (parameters, problems.is_empty()) else {
            return Err(DynamicToolError {
                tool: self.name,
                problems,
            });
        };
        let (parameters, text) = parameters;
        let (output, text_of_output) = output.flatten().unzip();
        let output = output.map(Arc::new);
        let spec = ToolSpec::dynamic(
            self.name,
            self.description,
            self.annotations,
            location,
            !is_empty(&parameters.schema),
            DynamicParts {
                parameters: text,
                output: text_of_output.unwrap_or_default(),
                details: Details {
                    title: self.title.map(Into::into),
                    when_to_use: self.when_to_use.map(Into::into),
                    returns: self.returns.map(Into::into),
                    timeout: self.timeout,
                    ..Details::EMPTY
                },
            },
        );
        let body = Body {
            parameters,
            run: run(output),
        };
        Ok(DynamicTool(ToolEntry::from_live(LiveTool {
            spec,
            invoke: Invoke::Async(invoke),
            receiver: Some(Arc::new(body)),
            group: None,
        })))
    }
}

/// Whether a schema is that of no arguments at all.
fn is_empty(schema: &Value) -> bool {
    let keys = schema.as_object().into_iter().flatten();
    let mut keys = keys.map(|(key, _)| &**key);
    schema["additionalProperties"] == false
        && schema["properties"] == json!({})
        && keys.all(|key| {
            matches!(
                key,
                "type" | "properties" | "additionalProperties" | "$schema"
            )
        })
}
