//! [`DynamicToolBuilder`] and its error.

use std::error::Error;
use std::fmt::{self, Display};
use std::future::Future;
use std::panic;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::clients::for_clients;
use super::compiled::CompiledSchema;
use super::hidden;
use super::keys::{self, Keys};
use super::read::portable;
use super::repair::{Repair, Repairs};
use super::schema_check::{self, SchemaInput, Subject};
#[cfg(feature = "schemars1")]
use super::typed;
use super::{Body, Decode, DynamicTool, Mapped, Run, check_output, invoke};
use crate::args::ArgumentError;
use crate::call::boundary::Guarded;
use crate::call::context::CallContext;
use crate::ordered_json::Json;
use crate::output::{IntoOutput, Outcome};
use crate::runtime::BoxFuture;
use crate::schema::messages::shorten;
use crate::spec::{
    Annotations, Details, DynamicParts, Freeform, Grammar, Location, OutputValues, Programmatic,
    SourceTool, ToolSpec,
};
use crate::tool::{Invoke, LiveTool, ToolEntry};
use crate::visible;

/// The schema of a tool without parameters.
const NO_PARAMETERS: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;

/// Builds a [`DynamicTool`].
///
/// ```
/// use serde_json::{Value, json};
/// use tool_core::dynamic::DynamicTool;
/// use tool_core::{Registry, ToolCall};
///
/// let tool = DynamicTool::builder("double")
///     .description("Doubles a number.")
///     .parameters(json!({
///         "type": "object",
///         "properties": {"number": {"type": "integer"}},
///         "required": ["number"],
///     }))
///     .build(async |arguments: Value, _call| {
///         Ok::<_, String>(arguments["number"].as_i64().unwrap_or(0) * 2)
///     })?;
/// let registry = Registry::builder().tool(tool).build()?;
/// let call = ToolCall::new("call_1", "double", r#"{"number":21}"#);
/// assert_eq!(registry.call_blocking(call).content(), "42");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DynamicToolBuilder {
    name: String,
    /// Set to repair errors and parts that some provider rejects.
    is_foreign: bool,
    title: Option<String>,
    description: String,
    when_to_use: Option<String>,
    returns: Option<String>,
    tags: Vec<String>,
    examples: Vec<SchemaInput>,
    annotations: Annotations,
    /// Set if a server claims the annotations, and the application does not trust it.
    is_untrusted: bool,
    timeout: Option<Duration>,
    is_background: bool,
    parameters: SchemaInput,
    /// The schema that calls are validated against, if it is not the schema in `parameters`.
    accepted: Option<String>,
    output: Option<SchemaInput>,
    freeform: Option<Freeform>,
    programmatic: Option<Programmatic>,
    meta: Option<Value>,
    icons: Option<Value>,
}

impl DynamicToolBuilder {
    pub(super) fn new(name: String, is_foreign: bool) -> DynamicToolBuilder {
        DynamicToolBuilder {
            name,
            is_foreign,
            title: None,
            description: String::new(),
            when_to_use: None,
            returns: None,
            tags: Vec::new(),
            examples: Vec::new(),
            annotations: Annotations::default(),
            is_untrusted: false,
            timeout: None,
            is_background: false,
            parameters: SchemaInput::Text(NO_PARAMETERS.into()),
            accepted: None,
            output: None,
            freeform: None,
            programmatic: None,
            meta: None,
            icons: None,
        }
    }

    /// Reads a tool of a `tools/list` result. Other members are ignored.
    pub(super) fn from_mcp(tool: &Value) -> DynamicToolBuilder {
        let text = |key: &str| tool[key].as_str().map(str::to_owned);
        let hints = &tool["annotations"];
        let mut builder = DynamicToolBuilder::new(text("name").unwrap_or_default(), true);
        builder.title = text("title").or(hints["title"].as_str().map(str::to_owned));
        builder.description = text("description").unwrap_or_default();
        builder.is_untrusted = true;
        builder.annotations = Annotations {
            read_only: hints["readOnlyHint"].as_bool(),
            destructive: hints["destructiveHint"].as_bool(),
            idempotent: hints["idempotentHint"].as_bool(),
            open_world: hints["openWorldHint"].as_bool(),
        };
        if let Some(schema) = tool.get("inputSchema") {
            builder.parameters = SchemaInput::Value(schema.clone());
        }
        let output = tool.get("outputSchema").filter(|schema| !schema.is_null());
        builder.output = output.cloned().map(SchemaInput::Value);
        builder.meta = tool.get("_meta").cloned();
        builder.icons = tool.get("icons").cloned();
        builder
    }

    /// Sets the name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description for the model: what the tool does.
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
    /// use tool_core::dynamic::DynamicTool;
    /// use tool_core::Registry;
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

    /// Adds an example: the arguments of a call, which the schema must accept.
    ///
    /// Its keys are sent in the value's order, as the keys of
    /// [`parameters`](DynamicToolBuilder::parameters).
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dynamic::DynamicTool;
    ///
    /// let tool = DynamicTool::builder("get_forecast")
    ///     .description("Weather forecast for a city.")
    ///     .parameters(json!({"type": "object", "properties": {"city": {"type": "string"}}}))
    ///     .example(json!({"city": "Lisbon"}));
    /// let error = tool.clone().example(json!({"city": 3})).build(async |_, _| Ok::<_, String>(()));
    /// assert_eq!(
    ///     error.unwrap_err().problems(),
    ///     [r#"its example {"city":3}: city: expected a string, got 3"#],
    /// );
    /// let tool = tool.build(async |_, _| Ok::<_, String>("Sunny."))?;
    /// assert!(tool.spec().examples().eq([r#"{"city":"Lisbon"}"#]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn example(mut self, arguments: impl Into<Value>) -> Self {
        self.examples.push(SchemaInput::Value(arguments.into()));
        self
    }

    /// Adds an example as JSON text, which keeps the order of its keys.
    pub fn example_json(mut self, arguments: impl Into<String>) -> Self {
        self.examples.push(SchemaInput::Text(arguments.into()));
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

    /// Trusts the annotations that a server listed; see [`from_mcp`](DynamicTool::from_mcp). Without
    /// it they are shown to models and people, but no call is repeated, or run beside others, because
    /// of them.
    pub fn trust_annotations(mut self) -> Self {
        self.is_untrusted = false;
        self
    }

    /// Sets the timeout of a call. It needs a registry with a [`Runtime`](crate::runtime::Runtime).
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Lets the model go on while a call runs; see [`ToolSpec::is_background`].
    pub fn background(mut self) -> Self {
        self.is_background = true;
        self
    }

    /// Sets the JSON Schema of the arguments, which must describe an object. Without one, the tool
    /// has no parameters.
    ///
    /// Its keys are sent in the value's order. `serde_json` sorts them, unless a crate of the program
    /// enables its feature `preserve_order`.
    pub fn parameters(mut self, schema: impl Into<Value>) -> Self {
        self.parameters = SchemaInput::Value(schema.into());
        self.freeform = None;
        self.accepted = None;
        self
    }

    /// Sets the JSON Schema of the arguments as JSON text. It is sent unchanged except for white
    /// space. In particular, its keys keep their order, which affects models and prompt caches.
    ///
    /// ```
    /// use tool_core::dynamic::DynamicTool;
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
        self.freeform = None;
        self.accepted = None;
        self
    }

    /// Makes the tool [free-form](macro@crate::tool#free-form-tools): its only parameter is a string with
    /// this key. Replaces the [parameters](DynamicToolBuilder::parameters).
    ///
    /// Of a [`Grammar::Regex`], calls are validated against the expression.
    ///
    /// ```
    /// use tool_core::call::Arguments;
    /// use tool_core::dynamic::DynamicTool;
    /// use tool_core::{Registry, ToolCall};
    ///
    /// let tool = DynamicTool::builder("run_sql")
    ///     .description("Runs a query.")
    ///     .freeform("sql", None)
    ///     .build(async |arguments, _| Ok::<_, String>(arguments["sql"].to_string()))?;
    /// let registry = Registry::builder().tool(tool).build()?;
    /// let call = ToolCall::new("call_1", "run_sql", Arguments::Freeform("SELECT 1".into()));
    /// assert_eq!(registry.call_blocking(call).content(), r#""SELECT 1""#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn freeform(mut self, key: impl Into<String>, grammar: Option<Grammar>) -> Self {
        let key = key.into();
        let grammar = grammar.map(Grammar::anchored);
        let mut text = json!({"type": "string"});
        if let Some(Grammar::Regex(pattern)) = &grammar {
            text["pattern"] = (&**pattern).into();
        }
        self.parameters = SchemaInput::Value(json!({
            "type": "object",
            "properties": {&*key: text},
            "required": [key],
            "additionalProperties": false,
        }));
        self.freeform = Some(Freeform {
            key: key.into(),
            grammar,
        });
        self
    }

    /// Sets how [programs](macro@crate::tool#programmatic-calls) of the model may call the tool.
    pub fn programmatic(mut self, programmatic: impl Into<Option<Programmatic>>) -> Self {
        self.programmatic = programmatic.into();
        self
    }

    /// Sets what clients of the Model Context Protocol get as `_meta`, an object. It is never sent to a provider.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dynamic::DynamicTool;
    ///
    /// let tool = DynamicTool::builder("turn_page")
    ///     .description("Turns the page.")
    ///     .meta(json!({"ui": {"visibility": ["app"]}}))
    ///     .icons(json!([{"src": "https://example.com/page.svg", "sizes": ["any"]}]))
    ///     .build(async |_, _| Ok::<_, String>(()))?;
    /// assert!(!tool.spec().is_for_models());
    /// # Ok::<(), tool_core::dynamic::DynamicToolError>(())
    /// ```
    pub fn meta(mut self, meta: impl Into<Value>) -> Self {
        self.meta = Some(meta.into());
        self
    }

    /// Sets the icons in the form of the Model Context Protocol: a list of objects with `src`, a URL that starts with
    /// `https://` or `data:image/`, and often `mimeType`, `sizes` and `theme`. They are never sent to a provider.
    pub fn icons(mut self, icons: impl Into<Value>) -> Self {
        self.icons = Some(icons.into());
        self
    }

    /// Sets the JSON Schema of the result. A call fails if its result does not match. A result that
    /// is text matches as a string.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dynamic::DynamicTool;
    /// use tool_core::{Registry, ToolCall};
    ///
    /// let tool = DynamicTool::builder("count")
    ///     .description("Counts.")
    ///     .output(json!({"type": "object", "properties": {"count": {"type": "integer"}}}))
    ///     .build(async |_, _| Ok::<_, String>(json!({"count": "many"})))?;
    /// let registry = Registry::builder().tool(tool).build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "count", ""));
    /// assert_eq!(result.error().unwrap().kind(), tool_core::ToolErrorKind::InvalidResult);
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

    /// Sets the JSON Schema of the result to the schema of a type, as serde serializes it. The tool may return any value
    /// that matches it.
    ///
    /// ```
    /// use schemars::JsonSchema;
    /// use serde::Serialize;
    /// use tool_core::dynamic::DynamicTool;
    ///
    /// #[derive(Serialize, JsonSchema)]
    /// struct Count {
    ///     words: u32,
    /// }
    ///
    /// let tool = DynamicTool::builder("count")
    ///     .description("Counts.")
    ///     .output_type::<Count>()
    ///     .build(async |_, _| Ok::<_, String>(Count { words: 2 }))?;
    /// let schema = r#"{"type":"object","properties":{"words":{"type":"integer","minimum":0}},"required":["words"],"additionalProperties":false}"#;
    /// assert_eq!(tool.spec().output_json(), Some(schema));
    /// # Ok::<(), tool_core::dynamic::DynamicToolError>(())
    /// ```
    #[cfg(feature = "schemars1")]
    pub fn output_type<T: schemars::JsonSchema>(self) -> Self {
        self.output_json(typed::output::<T>())
    }

    /// Builds the tool. The closure receives the valid arguments and the context of the call. The
    /// model receives its result like a function's; see [`IntoOutput`].
    ///
    /// # Errors
    ///
    /// Returns an error if the name is empty, or if a schema is invalid, too deep, or has a reference
    /// that can't be resolved without fetching something, or if the schema rejects an example. A tool
    /// from [`foreign`](DynamicTool::foreign) is repaired instead, unless its schema is too deep or is
    /// not JSON.
    #[track_caller]
    pub fn build<F, R, T, E, Kind>(self, run: F) -> Result<DynamicTool, DynamicToolError>
    where
        F: Fn(Value, CallContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
        T: IntoOutput<Kind>,
        E: Display + Into<Box<dyn Error + Send + Sync>>,
    {
        self.finish(caller(), None, |output| {
            Box::new(move |arguments, call| Ok(outcome(run(arguments, call), output.clone())))
        })
    }

    /// Builds a tool whose arguments are deserialized as `T`. The parameters come from `T`, and replace all
    /// others. Without a [description](DynamicToolBuilder::description), the tool has the documentation of
    /// `T`. See [`DynamicTool::typed`].
    ///
    /// ```
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    /// use tool_core::dynamic::DynamicTool;
    /// use tool_core::{Registry, ToolCall};
    ///
    /// /// Deletes a file.
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Delete {
    ///     path: String,
    /// }
    ///
    /// let tool = DynamicTool::builder("delete")
    ///     .destructive(true)
    ///     .tags(["admin"])
    ///     .build_typed(async |delete: Delete, _| Ok::<_, String>(format!("{} is gone", delete.path)))?;
    /// assert_eq!(tool.spec().description, "Deletes a file.");
    ///
    /// let registry = Registry::builder().tool(tool).build()?;
    /// let call = ToolCall::new("call_1", "delete", r#"{"path":"a.txt"}"#);
    /// assert_eq!(registry.call_blocking(call).content(), "a.txt is gone");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error as [`build`](DynamicToolBuilder::build) does: if `T` is not an object in JSON, among
    /// others.
    #[cfg(feature = "schemars1")]
    #[track_caller]
    pub fn build_typed<T, F, R, O, E, Kind>(
        mut self,
        run: F,
    ) -> Result<DynamicTool, DynamicToolError>
    where
        T: schemars::JsonSchema + serde::de::DeserializeOwned,
        F: Fn(T, CallContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, E>> + Send + 'static,
        O: IntoOutput<Kind>,
        E: Display + Into<Box<dyn Error + Send + Sync>>,
    {
        let schema = typed::parameters::<T>();
        if self.description.is_empty() {
            self.description = schema.description;
        }
        let mut tool = self.parameters_json(schema.shown);
        tool.accepted = Some(schema.accepted);
        let decode = |arguments: &Value| typed::decode::<T>(arguments).map(drop);
        tool.finish(caller(), Some(decode), |output| {
            Box::new(move |arguments, call| {
                let input = typed::decode(&arguments)?;
                Ok(outcome(run(input, call), output.clone()))
            })
        })
    }

    /// The part of `build` that does not depend on the closure's type.
    fn finish(
        mut self,
        location: Location,
        decode: Option<Decode>,
        run: impl FnOnce(Option<Arc<CompiledSchema>>) -> Run,
    ) -> Result<DynamicTool, DynamicToolError> {
        let mut problems = Vec::new();
        schema_check::tags(&self.tags, &mut problems);
        let (meta, icons) = (self.meta.take(), self.icons.take());
        let for_clients = for_clients(meta, icons, self.is_foreign, &mut problems);
        let mut repairs = Repairs::default();
        let parts = if self.is_foreign {
            self.repair(&mut repairs, &mut problems)
        } else {
            self.check(&mut problems)
        };
        let examples = parts.as_ref().map(|parts| {
            let examples = std::mem::take(&mut self.examples).into_iter();
            let checked = examples.filter_map(|example| match parts.example(example) {
                Ok(example) => Some(example.into()),
                Err(error) if self.is_foreign => {
                    repairs.push(error);
                    None
                }
                Err(error) => {
                    problems.push(error.to_string());
                    None
                }
            });
            checked.collect::<Vec<_>>()
        });
        let (Some(mut parts), true) = (parts, problems.is_empty()) else {
            return Err(DynamicToolError {
                tool: self.name,
                problems,
            });
        };
        let has_parameters = !is_empty(parts.parameters.schema());
        let (output, output_text) = parts.output.unzip();
        let output_values = output.as_ref().map_or(OutputValues::Any, output_values);
        parts.parameters.shrink();
        if let Some(mapped) = &mut parts.mapped {
            mapped.schema.shrink();
        }
        let output = output.map(|mut output| {
            output.shrink();
            Arc::new(output)
        });
        let spec = ToolSpec::dynamic(
            self.name,
            self.description,
            self.annotations,
            location,
            has_parameters,
            DynamicParts {
                parameters: parts.text,
                output: output_text.unwrap_or_default(),
                output_values,
                portable: parts.portable,
                is_reduced: parts.is_reduced,
                unusual_keys: parts.unusual_keys,
                source: parts.source,
                is_untrusted: self.is_untrusted,
                for_clients,
                details: Details {
                    title: self.title.map(Into::into),
                    when_to_use: self.when_to_use.map(Into::into),
                    returns: self.returns.map(Into::into),
                    tags: self.tags.into_iter().map(Into::into).collect(),
                    timeout: self.timeout,
                    background: self.is_background,
                    freeform: self.freeform,
                    programmatic: self.programmatic,
                    examples: examples.unwrap_or_default().into(),
                    ..Details::EMPTY
                },
            },
        );
        let body = Body {
            parameters: parts.parameters,
            mapped: parts.mapped,
            run: run(output.clone()),
            decode,
            output,
        };
        let entry = ToolEntry::from_live(LiveTool {
            spec,
            invoke: Invoke::Async(invoke),
            receiver: Some(Arc::new(Guarded::new(Arc::new(body)))),
            group: None,
            group_description: None,
            is_deferred: false,
            validate_answer: Some(super::validate_answer),
        });
        Ok(DynamicTool {
            entry,
            repairs: repairs.0.into(),
        })
    }

    /// Checks the definition as written.
    fn check(&mut self, problems: &mut Vec<String>) -> Option<Parts> {
        if self.name.is_empty() {
            problems.push("its name is empty".into());
        }
        // Not cloned: it may be nested deeper than the stack.
        let parameters = std::mem::replace(&mut self.parameters, SchemaInput::Text(String::new()));
        let parameters = match self.accepted.take() {
            Some(accepted) => check_both(parameters, accepted, problems),
            None => schema_check::schema(parameters, Subject::Parameters, problems)
                .map(|parameters| (parameters, None)),
        };
        let output = self.output.take();
        let output = output.map(|schema| schema_check::schema(schema, Subject::Output, problems));
        let (parameters, shown) = parameters?;
        let is_typed = shown.is_some();
        let (schema, text) = match &shown {
            Some((schema, text)) => (schema, text),
            None => (parameters.schema(), parameters.text()),
        };
        let text = Arc::clone(text);
        let is_reduced = is_typed || !schema_check::is_portable(schema);
        let written = is_reduced.then(|| portable(schema, &mut Repairs::default()).to_string());
        let unusual_keys = keys::unusual(schema);
        Some(Parts {
            parameters,
            portable: written.filter(|written| **written != *text),
            text,
            is_reduced,
            unusual_keys,
            output: output.flatten().map(|output| {
                let text = Arc::clone(output.text());
                (output, text)
            }),
            mapped: None,
            source: None,
        })
    }

    /// Makes the definition one that every provider accepts.
    fn repair(&mut self, repairs: &mut Repairs, problems: &mut Vec<String>) -> Option<Parts> {
        let original_name = self.name.clone();
        hidden::remove_from(&mut self.description, "description", repairs);
        if let Some(title) = &mut self.title {
            hidden::remove_from(title, "title", repairs);
        }
        let original_description = self.description.clone();
        self.name = keys::valid_tool_name(&original_name);
        if self.name != original_name {
            repairs.push(Repair::Name {
                original: original_name.clone(),
                valid: self.name.clone(),
            });
        }
        if self.description.trim().is_empty() {
            self.description = match self.title.as_deref().map(str::trim) {
                None | Some("") => described(&visible::remove(&original_name)),
                Some(title) => title.to_owned(),
            };
            repairs.push(Repair::Description(self.description.clone()));
        }
        let parameters = std::mem::replace(&mut self.parameters, SchemaInput::Text(String::new()));
        let parameters = schema_check::repaired(parameters, Subject::Parameters, repairs, problems);
        let output = self.output.take();
        let output =
            output.map(|schema| schema_check::repaired(schema, Subject::Output, repairs, problems));
        let (mut original, checked) = parameters?;
        let keys = Keys::of(checked.schema());
        for (original, valid) in keys.pairs() {
            repairs.push(Repair::Key {
                original: original.into(),
                valid: valid.into(),
            });
        }
        let renamed = (!keys.is_empty()).then(|| keys.rename(checked.schema()));
        let written = portable(renamed.as_ref().unwrap_or(checked.schema()), repairs);
        if hidden::has_hidden(&written) {
            problems.push("its parameter schema: a call has to repeat invisible characters".into());
        }
        let output = output.flatten().filter(|(schema, _)| {
            let has_hidden = hidden::has_hidden(schema);
            if has_hidden {
                repairs.unchecked("", "the output schema has invisible characters");
            }
            !has_hidden
        });
        let mapped = if let Some(renamed) = renamed {
            let schema = CompiledSchema::new(renamed);
            let schema = schema.map_err(|problem| {
                problems.push(format!("its parameter schema: {problem}"));
            });
            Some(Mapped {
                keys,
                schema: schema.ok()?,
                source_name: Some(original_name.clone()).filter(|name| *name != self.name),
            })
        } else {
            None
        };
        // The protocol requires the type at the root.
        let is_object = original.get_str("type") == Some("object");
        if let (Json::Object(members), false) = (&mut original, is_object) {
            members.retain(|(key, _)| key != "type");
            members.insert(0, ("type".into(), Json::from("object")));
        }
        let source = if hidden::has_hidden(&original) {
            // Its keys can't be shown.
            written.to_string().into()
        } else if original == *checked.schema() {
            Arc::clone(checked.text())
        } else {
            original.to_string().into()
        };
        let written = written.to_string();
        Some(Parts {
            text: if written == **checked.text() {
                Arc::clone(checked.text())
            } else {
                written.into()
            },
            parameters: checked,
            portable: None,
            is_reduced: true,
            unusual_keys: Vec::new(),
            output: output.map(|(json, schema)| (schema, json.to_string().into())),
            mapped,
            source: Some(SourceTool {
                name: original_name,
                valid_name: self.name.clone(),
                description: original_description,
                parameters: source,
            }),
        })
    }
}

/// A schema that models are given, with its JSON text.
type Shown = (Json, Arc<str>);

/// Checks the schema that calls are validated against, and the more narrow one that models are given.
fn check_both(
    shown: SchemaInput,
    accepted: String,
    problems: &mut Vec<String>,
) -> Option<(CompiledSchema, Option<Shown>)> {
    let mut found = Vec::new();
    let accepted = SchemaInput::Text(accepted);
    let accepted = schema_check::schema(accepted, Subject::Parameters, &mut found);
    if let (Some(accepted), SchemaInput::Text(shown)) = (accepted, shown.clone()) {
        let (schema, text) = schema_check::parameters_alone(shown)?;
        return Some((accepted, Some((schema, text.into()))));
    }
    // The places in the schema that models are given say more to the author of the type.
    let before = problems.len();
    let shown = schema_check::schema(shown, Subject::Parameters, problems);
    if shown.is_some() && problems.len() == before {
        problems.append(&mut found);
    }
    None
}

/// Returns the place that defines a tool.
#[track_caller]
fn caller() -> Location {
    let place = panic::Location::caller();
    Location {
        file: place.file(),
        line: place.line(),
        module: "",
    }
}

/// Runs a closure's future, and validates its result.
fn outcome<R, T, E, Kind>(running: R, output: Option<Arc<CompiledSchema>>) -> BoxFuture<Outcome>
where
    R: Future<Output = Result<T, E>> + Send + 'static,
    T: IntoOutput<Kind>,
    E: Display + Into<Box<dyn Error + Send + Sync>>,
{
    Box::pin(async move {
        let outcome = Outcome::result(running.await);
        match output {
            Some(output) => check_output(outcome, &output),
            None => outcome,
        }
    })
}

/// The compiled and the written form of a tool's schemas.
struct Parts {
    parameters: CompiledSchema,
    /// JSON text of the parameters' schema.
    text: Arc<str>,
    portable: Option<String>,
    is_reduced: bool,
    unusual_keys: Vec<String>,
    output: Option<(CompiledSchema, Arc<str>)>,
    mapped: Option<Mapped>,
    source: Option<SourceTool>,
}

impl Parts {
    /// Returns the text of an example with the keys that models are given.
    fn example(&self, example: SchemaInput) -> Result<String, Repair> {
        let text = match example {
            SchemaInput::Value(value) => value.to_string(),
            SchemaInput::Text(text) => text,
        };
        let wrong = |problem: String| Repair::Example {
            example: shorten(&text).into_owned(),
            problem,
        };
        super::read_example(&text, &self.parameters)
            .map_err(|error| wrong(described_violations(error)))?;
        let json = Json::parse(&text).map_err(|error| wrong(error.to_string()))?;
        let Some(mapped) = &self.mapped else {
            return Ok(json.to_string());
        };
        let renamed = mapped.keys.rename_data(&json);
        let mut value = renamed.to_value();
        let is_valid = mapped.schema.validate(&value).is_ok();
        mapped.keys.restore(self.parameters.schema(), &mut value);
        if is_valid && value == json.to_value() {
            Ok(renamed.to_string())
        } else {
            Err(wrong("its keys can't be renamed".into()))
        }
    }
}

/// Joins violations in one line.
fn described_violations(error: ArgumentError) -> String {
    match error {
        ArgumentError::Invalid(invalid) => {
            let (listed, _) = invalid.0.into_parts();
            let listed: Vec<_> = listed.iter().map(ToString::to_string).collect();
            listed.join("; ")
        }
        ArgumentError::Malformed(problem) => problem,
        _ => String::new(),
    }
}

/// Describes a tool by its name: "Get forecast." for `get-forecast`.
fn described(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        let is_word = character.is_alphanumeric();
        if is_word && text.is_empty() {
            text.extend(character.to_uppercase());
        } else if is_word {
            text.push(character);
        } else if !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
    }
    match text.trim_end() {
        "" => "A tool without a description.".into(),
        text => format!("{text}."),
    }
}

/// Returns the JSON types that an output schema allows, by the types it names.
fn output_values(schema: &CompiledSchema) -> OutputValues {
    fn names(schema: &Json) -> Option<Vec<&str>> {
        match (schema.get("type"), schema.get("anyOf")) {
            (Some(Json::String(name)), _) => Some(vec![name]),
            (Some(Json::Array(names)), _) => names.iter().map(Json::as_str).collect(),
            (_, Some(Json::Array(schemas))) => {
                let each: Option<Vec<_>> = schemas.iter().map(names).collect();
                each.map(|each| each.into_iter().flatten().collect())
            }
            _ => None,
        }
    }
    match names(schema.schema()) {
        Some(names) if names == ["object"] => OutputValues::Objects,
        Some(names) if !names.iter().any(|name| matches!(*name, "string" | "null")) => {
            OutputValues::Structured
        }
        _ => OutputValues::Any,
    }
}

/// Returns `true` for the schema of a tool without parameters.
fn is_empty(schema: &Json) -> bool {
    const KNOWN: [&str; 4] = ["type", "properties", "additionalProperties", "$schema"];
    schema.get("additionalProperties") == Some(&Json::Boolean(false))
        && schema.get("properties") == Some(&Json::Object(Vec::new()))
        && schema
            .members()
            .iter()
            .all(|(key, _)| KNOWN.contains(&&**key))
}

/// The error of [`DynamicToolBuilder::build`]: all problems of a tool.
///
/// ```
/// use serde_json::json;
/// use tool_core::dynamic::DynamicTool;
///
/// let error = DynamicTool::builder("get_weather")
///     .parameters(json!({
///         "type": "object",
///         "properties": {"stops": {"type": "list"}, "unit": {"$ref": "#/$defs/Unit"}},
///     }))
///     .build(async |_, _| Ok::<_, String>(()))
///     .unwrap_err();
/// assert_eq!(error.problems().len(), 2);
/// assert!(error.to_string().starts_with("invalid tool `get_weather`:\n- its parameter schema"));
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
