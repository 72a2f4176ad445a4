//! [`DynamicToolBuilder`] and its error.

use std::error::Error;
use std::fmt::{self, Display};
use std::future::Future;
use std::panic;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::check::{self, Audience, SchemaInput};
use super::{Body, CompiledSchema, DynamicTool, Run, check_output, invoke};
use crate::call::boundary::Guarded;
use crate::call::context::CallContext;
use crate::output::Outcome;
use crate::spec::{Annotations, Details, DynamicParts, Location, ToolSpec};
use crate::tool::{Invoke, LiveTool, ToolEntry};

/// The schema of a tool without parameters.
const NO_PARAMETERS: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;

/// Builds a [`DynamicTool`].
#[derive(Clone, Debug)]
pub struct DynamicToolBuilder {
    name: String,
    title: Option<String>,
    description: String,
    when_to_use: Option<String>,
    returns: Option<String>,
    tags: Vec<String>,
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
            tags: Vec::new(),
            annotations: Annotations::default(),
            timeout: None,
            parameters: SchemaInput::Text(NO_PARAMETERS.into()),
            output: None,
        }
    }

    /// Sets the name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description for the model: what the tool does. It is required.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets when the model should call the tool.
    pub fn when_to_use(mut self, when: impl Into<String>) -> Self {
        self.when_to_use = Some(when.into());
        self
    }

    /// Describes the result.
    pub fn returns(mut self, returns: impl Into<String>) -> Self {
        self.returns = Some(returns.into());
        self
    }

    /// Adds tags, which an application uses to [select](crate::Registry::select_tags) tools. A tag
    /// consists of ASCII letters, digits, `_`, `-`, `.` and `:`.
    ///
    /// ```
    /// use tool_core::{DynamicTool, Registry};
    ///
    /// let tool = DynamicTool::builder("ban")
    ///     .description("Bans a user.")
    ///     .tags(["admin"])
    ///     .build(async |_, _| Ok::<_, String>(()))?;
    /// let registry = Registry::builder().tool(tool).build()?;
    /// assert_eq!(registry.select_tags(["admin"]).len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        for tag in tags.into_iter().map(Into::into) {
            if !self.tags.contains(&tag) {
                self.tags.push(tag);
            }
        }
        self
    }

    /// Sets whether the tool only reads; `None` if unknown.
    pub fn read_only(mut self, hint: impl Into<Option<bool>>) -> Self {
        self.annotations.read_only = hint.into();
        self
    }

    /// Sets whether the tool may delete or overwrite; `None` if unknown.
    pub fn destructive(mut self, hint: impl Into<Option<bool>>) -> Self {
        self.annotations.destructive = hint.into();
        self
    }

    /// Sets whether repeating a call has no further effect; `None` if unknown.
    pub fn idempotent(mut self, hint: impl Into<Option<bool>>) -> Self {
        self.annotations.idempotent = hint.into();
        self
    }

    /// Sets whether the tool interacts with external systems, such as the web; `None` if unknown.
    pub fn open_world(mut self, hint: impl Into<Option<bool>>) -> Self {
        self.annotations.open_world = hint.into();
        self
    }

    /// Sets the timeout of a call. It needs a registry with a [`Runtime`](crate::Runtime).
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Sets the JSON Schema of the arguments, which must describe an object. Without one, the tool
    /// has no parameters.
    ///
    /// Its keys are sent in the value's order. `serde_json` sorts them, unless a crate of the program
    /// enables its feature `preserve_order`.
    pub fn parameters(mut self, schema: impl Into<Value>) -> Self {
        self.parameters = SchemaInput::Value(schema.into());
        self
    }

    /// Sets the JSON Schema of the arguments as JSON text. It is sent unchanged except for white
    /// space. In particular, its keys keep their order, which affects models and prompt caches.
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

    /// Sets the JSON Schema of the result, which must describe an object. A call fails if its result
    /// does not match.
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
    /// assert!(result.content().ends_with("its result does not match its output schema"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn output(mut self, schema: impl Into<Value>) -> Self {
        self.output = Some(SchemaInput::Value(schema.into()));
        self
    }

    /// Sets the JSON Schema of the result as JSON text, which keeps the order of its keys as in
    /// [`parameters_json`](DynamicToolBuilder::parameters_json).
    pub fn output_json(mut self, schema: impl Into<String>) -> Self {
        self.output = Some(SchemaInput::Text(schema.into()));
        self
    }

    /// Builds the tool. The closure receives the valid arguments and the context of the call. The
    /// model receives its result like that of a function.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is not valid for every provider, the description is empty, or a
    /// schema is invalid, rejected by some provider, or has a reference that can't be resolved
    /// without fetching something.
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
                        Some(output) => check_output(outcome, &output),
                        None => outcome,
                    }
                })
            })
        })
    }

    /// The part of `build` that does not depend on the closure's type.
    fn finish(
        mut self,
        location: Location,
        run: impl FnOnce(Option<Arc<CompiledSchema>>) -> Run,
    ) -> Result<DynamicTool, DynamicToolError> {
        let mut problems = check::name_and_description(&self.name, &self.description);
        check::tags(&self.tags, &mut problems);
        let parameters = check::schema(self.parameters, Audience::Model, &mut problems);
        let output = self.output.take();
        let output = output.map(|schema| check::schema(schema, Audience::Client, &mut problems));
        let (Some(parameters), true) = (parameters, problems.is_empty()) else {
            return Err(DynamicToolError {
                tool: self.name,
                problems,
            });
        };
        let (parameters, text) = parameters;
        let (output, output_text) = output.flatten().unzip();
        let output = output.map(Arc::new);
        let spec = ToolSpec::dynamic(
            self.name,
            self.description,
            self.annotations,
            location,
            !is_empty(&parameters.schema),
            DynamicParts {
                parameters: text,
                output: output_text.unwrap_or_default(),
                details: Details {
                    title: self.title.map(Into::into),
                    when_to_use: self.when_to_use.map(Into::into),
                    returns: self.returns.map(Into::into),
                    tags: self.tags.into_iter().map(Into::into).collect(),
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
            receiver: Some(Arc::new(Guarded::new(Arc::new(body)))),
            group: None,
        })))
    }
}

/// Returns `true` for the schema of a tool without parameters.
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

/// The error of [`DynamicToolBuilder::build`]: all problems of a tool.
///
/// ```
/// use serde_json::json;
/// use tool_core::DynamicTool;
///
/// let error = DynamicTool::builder("get weather")
///     .parameters(json!({
///         "type": "object",
///         "properties": {"stops": {"type": "array"}, "unit": {"$ref": "#/$defs/Unit"}},
///     }))
///     .build(async |_, _| Ok::<_, String>(()))
///     .unwrap_err();
/// assert_eq!(error.problems().len(), 4);
/// assert!(error.to_string().starts_with("invalid tool `get weather`:\n- its name"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicToolError {
    tool: String,
    problems: Vec<String>,
}

impl DynamicToolError {
    /// Returns the problems, each with its place and a remedy.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl Display for DynamicToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid tool `{}`:", self.tool.escape_debug())?;
        for problem in &self.problems {
            write!(f, "\n- {problem}")?;
        }
        Ok(())
    }
}

impl Error for DynamicToolError {}
