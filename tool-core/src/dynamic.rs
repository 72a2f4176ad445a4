//! [`DynamicTool`]: a tool that is defined at run time.

mod builder;
mod clients;
pub(crate) mod compiled;
mod cost;
mod hidden;
mod keys;
mod mcp_result;
mod node;
mod plain;
mod read;
mod references;
mod repair;
mod schema_check;
#[cfg(feature = "schemars1")]
mod typed;
mod unions;
mod violations;
mod write;

#[cfg(feature = "schemars1")]
use std::error::Error;
use std::fmt;
#[cfg(feature = "schemars1")]
use std::fmt::Display;
#[cfg(feature = "schemars1")]
use std::future::Future;
use std::sync::Arc;

use serde_json::{Number, Value};

use self::compiled::CompiledSchema;
use self::keys::Keys;
use self::plain::Plain;
use crate::args::{ArgumentError, Input};
use crate::call::boundary::Guarded;
use crate::call::context::CallContext;
use crate::call::type_map::Shared;
#[cfg(feature = "schemars1")]
use crate::output::IntoOutput;
use crate::output::Outcome;
use crate::runtime::BoxFuture;
use crate::schema::Schema;
use crate::schema::messages::shorten;
use crate::schema::not_json;
use crate::schema::validate::{Options, ValidateError, normalise};
use crate::schema::violation::Violations;
use crate::spec::ToolSpec;
use crate::tool::{AsyncStart, ToolEntry};

pub use builder::{DynamicToolBuilder, DynamicToolError};
pub use repair::Repair;

/// A tool that is defined at run time, such as by a server of the Model Context Protocol, a
/// configuration or a user. Its name, description and JSON Schema are values, and an async closure runs
/// it.
///
/// A tool with an invalid schema can't be built, and [`DynamicToolError`] lists all problems at once. Its
/// calls are validated like calls of functions, with the same error messages. If a provider rejects a part
/// of a schema, its dialect rewrites that part. For tools that you did not write, use
/// [`foreign`](DynamicTool::foreign): it repairs names, keys and schemas.
///
/// ```
/// use serde_json::json;
/// use tool_core::dynamic::DynamicTool;
/// use tool_core::{Registry, ToolCall};
///
/// let tool = DynamicTool::builder("get_forecast")
///     .description("Weather forecast for a city.")
///     .parameters(json!({
///         "type": "object",
///         "properties": {
///             "city": {"type": "string"},
///             "days": {"type": "integer", "minimum": 1, "maximum": 14},
///         },
///         "required": ["city"],
///         "additionalProperties": false,
///     }))
///     .read_only(true)
///     .build(async |arguments, _call| {
///         let city = arguments["city"].as_str().unwrap_or_default();
///         Ok::<_, String>(format!("Sunny in {city}."))
///     })?;
///
/// let registry = Registry::new();
/// registry.add(tool)?;
/// let call = ToolCall::new("call_1", "get_forecast", r#"{"city":"Lisbon"}"#);
/// assert_eq!(registry.call_blocking(call).content(), "Sunny in Lisbon.");
///
/// let call = ToolCall::new("call_2", "get_forecast", r#"{"days":30,"contry":"Portugal"}"#);
/// let result = registry.call_blocking(call);
/// let violations = result.error().unwrap().violations().iter();
/// assert_eq!(
///     violations.map(ToString::to_string).collect::<Vec<_>>(),
///     [
///         "days: 30 is above the maximum 14",
///         "contry: unknown; did you mean \"city\"?",
///         "city: missing; expected a string",
///     ],
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Differences from a function
///
/// - The schema applies as written. An object without `additionalProperties: false` accepts unknown
///   keys and passes them to the closure. `null` does not omit a value, and enum values are
///   case-sensitive. A [lenient](crate::RegistryBuilder::lenient) registry has no effect on it.
/// - Its annotations are not checked: a server may call a tool both read-only and destructive. Nor
///   are its name, its keys and its description: a dialect whose provider rejects a name or a key
///   leaves the tool out, and [`Rendered::rejected`](crate::dialect::Rendered::rejected) lists it.
/// - `format` is enforced if the crate `jsonschema` knows it, in every version of JSON Schema.
/// - Dialects send the schema without strict mode, and unchanged unless some provider rejects it: then
///   `oneOf` becomes `anyOf`, an array gets `items`, and a union at the root becomes an object with
///   the properties of all its members. The order of its keys matters to a model:
///   [`parameters_json`](DynamicToolBuilder::parameters_json) keeps it, while a [`Value`] usually sorts
///   keys.
/// - The schema is compiled when the tool is built, to check it, and again by the first call: a tool that is never
///   called holds little memory.
/// - [`ToolSpec::parameters`] is [`Kind::Any`](crate::schema::Kind::Any), and
///   [`ToolSpec::parameters_json`] returns the schema. A tool without parameters has the empty
///   object as its schema, which works in every dialect and mode.
#[derive(Clone)]
pub struct DynamicTool {
    entry: ToolEntry,
    repairs: Arc<[Repair]>,
}

impl DynamicTool {
    /// Creates a builder for a tool with this name.
    pub fn builder(name: impl Into<String>) -> DynamicToolBuilder {
        DynamicToolBuilder::new(name.into(), false)
    }

    /// Creates a builder for a tool that someone else defined, such as a server of the Model Context
    /// Protocol. It repairs errors and parts that some provider rejects, and
    /// [`repairs`](DynamicTool::repairs) lists the changes:
    ///
    /// - The name and the keys of objects, at every depth, are mapped to names that every provider accepts.
    ///   The closure gets the original keys. Original names and keys are accepted too. If two tools of a
    ///   registry would have the same name, the mapped names get a suffix.
    /// - Models are given a schema without keywords that some provider rejects: references are inlined
    ///   unless they are recursive, `oneOf` becomes `anyOf`, `allOf` becomes one schema, and other
    ///   keywords go into descriptions. Calls are validated against the original schema.
    /// - A missing description is made from the title or the name.
    /// - Characters that [nobody sees](crate::visible) are removed from descriptions and titles, and values of an `enum` with
    ///   some are left out. A tool whose calls would have to repeat some can't be built.
    /// - What is invalid in a schema, such as a reference that can't be resolved, is not validated.
    ///
    /// The dialect [`Mcp`](https://docs.rs/tool-dialects/latest/tool_dialects/struct.Mcp.html) lists the tool with its original schema.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_dialects::{Mcp, OpenAiChat};
    /// use tool_core::dynamic::DynamicTool;
    /// use tool_core::{Registry, ToolCall};
    ///
    /// let tool = DynamicTool::foreign("files/read")
    ///     .description("Reads a file.")
    ///     .parameters(json!({
    ///         "type": "object",
    ///         "properties": {"file-path": {"type": "string"}},
    ///         "required": ["file-path"],
    ///     }))
    ///     .build(async |arguments, _| Ok::<_, String>(arguments))?;
    /// let registry = Registry::builder().tool(tool).build()?;
    ///
    /// let tools = json!(registry.render(&OpenAiChat::default()));
    /// assert_eq!(tools[0]["function"]["name"], "files_read");
    /// assert_eq!(tools[0]["function"]["parameters"]["required"], json!(["file_path"]));
    ///
    /// let call = ToolCall::new("call_1", "files_read", r#"{"file_path":"a.txt"}"#);
    /// assert_eq!(registry.call_blocking(call).content(), r#"{"file-path":"a.txt"}"#);
    ///
    /// let tools = json!(registry.render(&Mcp::default()));
    /// assert_eq!(tools[0]["inputSchema"]["required"], json!(["file-path"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn foreign(name: impl Into<String>) -> DynamicToolBuilder {
        DynamicToolBuilder::new(name.into(), true)
    }

    /// Creates a [`foreign`](DynamicTool::foreign) builder from a tool in a `tools/list` result of the
    /// Model Context Protocol: its name, title, description, schemas, annotations, metadata and icons. The
    /// annotations are not [trusted](DynamicToolBuilder::trust_annotations). Metadata and icons are for
    /// clients alone, and invalid ones are left out.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dynamic::DynamicTool;
    ///
    /// let listed = json!({
    ///     "name": "get-sum",
    ///     "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}},
    ///     "annotations": {"readOnlyHint": true},
    /// });
    /// let tool = DynamicTool::from_mcp(&listed).build(async |_, _| Ok::<_, String>(()))?;
    /// assert_eq!(tool.spec().name, "get-sum");
    /// assert_eq!(tool.spec().annotations.read_only, Some(true));
    /// # Ok::<(), tool_core::dynamic::DynamicToolError>(())
    /// ```
    pub fn from_mcp(tool: &Value) -> DynamicToolBuilder {
        DynamicToolBuilder::from_mcp(tool)
    }

    /// Creates a tool whose arguments are a type of a crate that knows only
    /// [schemars](https://docs.rs/schemars/1): it derives `JsonSchema` and `Deserialize`, and needs nothing of this
    /// crate. [`build_typed`](DynamicToolBuilder::build_typed) does the same after other settings.
    ///
    /// The schema gets the form that the macros would write: inlined unless it is recursive, closed, and
    /// without titles and formats of numbers. Calls are validated against it, and then deserialized. A
    /// value that serde still rejects, for example because `#[serde(try_from)]` does not convert it, is a
    /// violation too.
    ///
    /// ```
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    /// use tool_core::dynamic::DynamicTool;
    /// use tool_core::{Registry, ToolCall};
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Forecast {
    ///     /// Name of the city.
    ///     city: String,
    ///     #[schemars(range(min = 1, max = 14))]
    ///     days: Option<u8>,
    /// }
    ///
    /// let tool = DynamicTool::typed(
    ///     "get_forecast",
    ///     "Weather forecast for a city.",
    ///     async |input: Forecast, _call| {
    ///         Ok::<_, String>(format!("{} days of sun in {}", input.days.unwrap_or(3), input.city))
    ///     },
    /// )?;
    /// assert_eq!(
    ///     tool.spec().parameters_json(),
    ///     r#"{"type":"object","properties":{"city":{"type":"string","description":"Name of the city."},"days":{"type":"integer","minimum":1,"maximum":14}},"required":["city"],"additionalProperties":false}"#,
    /// );
    ///
    /// let registry = Registry::builder().tool(tool).build()?;
    /// let call = ToolCall::new("call_1", "get_forecast", r#"{"city":"Lisbon"}"#);
    /// assert_eq!(registry.call_blocking(call).content(), "3 days of sun in Lisbon");
    ///
    /// let call = ToolCall::new("call_2", "get_forecast", r#"{"city":"Lisbon","days":30}"#);
    /// let result = registry.call_blocking(call);
    /// let violations = result.error().unwrap().violations();
    /// assert_eq!(violations[0].to_string(), "days: 30 is above the maximum 14");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Differences from a function
    ///
    /// The errors of every [`DynamicTool`], and:
    ///
    /// - Properties have the order of the type only with the feature `preserve_order` of `schemars`. Otherwise they
    ///   are sorted.
    /// - `null` omits an optional value of an `Option`, and no other.
    /// - The documentation of the type itself is not in the schema: the tool's description is.
    /// - An empty struct accepts any keys: `schemars` describes it like a map.
    ///
    /// # Errors
    ///
    /// Returns an error if the type is not an object in JSON, or if its schema is invalid.
    #[cfg(feature = "schemars1")]
    #[track_caller]
    pub fn typed<T, F, R, O, E, Kind>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> Result<DynamicTool, DynamicToolError>
    where
        T: schemars::JsonSchema + serde::de::DeserializeOwned,
        F: Fn(T, CallContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, E>> + Send + 'static,
        O: IntoOutput<Kind>,
        E: Display + Into<Box<dyn Error + Send + Sync>>,
    {
        let builder = DynamicTool::builder(name).description(description);
        builder.build_typed(run)
    }

    /// Returns the tool's specification.
    pub fn spec(&self) -> &ToolSpec {
        self.entry.spec()
    }

    /// Returns what [`foreign`](DynamicTool::foreign) changed; nothing for any other tool.
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }
}

impl From<DynamicTool> for ToolEntry {
    fn from(tool: DynamicTool) -> ToolEntry {
        tool.entry
    }
}

impl fmt::Debug for DynamicTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynamicTool")
            .field(&self.spec().name)
            .finish()
    }
}

type Run =
    Box<dyn Fn(Value, CallContext) -> Result<BoxFuture<Outcome>, ArgumentError> + Send + Sync>;

/// Deserializes arguments and drops them.
type Decode = fn(&Value) -> Result<(), ArgumentError>;

/// The receiver of a dynamic tool's calls.
struct Body {
    parameters: CompiledSchema,
    /// For a tool whose keys were renamed.
    mapped: Option<Mapped>,
    output: Option<Arc<CompiledSchema>>,
    run: Run,
    /// For a tool whose arguments are deserialized.
    decode: Option<Decode>,
}

/// The keys that models are given.
struct Mapped {
    keys: Keys,
    /// The schema with those keys, for the wording of violations.
    schema: CompiledSchema,
    /// The original name, if models are given another one.
    source_name: Option<String>,
}

impl Body {
    /// Validates arguments, after renaming their keys to the original ones.
    fn validate(&self, arguments: &mut Value, tool: &str) -> Result<(), Violations> {
        let Some(mapped) = &self.mapped else {
            return self.parameters.validate(arguments);
        };
        let sent = arguments.clone();
        let renamed = mapped.keys.restore(self.parameters.schema(), arguments);
        let violations = match self.parameters.validate(arguments) {
            Ok(()) => return Ok(()),
            Err(violations) => violations,
        };
        // A client that was given the original tool, such as by the dialect `Mcp`, knows its keys.
        let is_client = renamed == 0
            && (mapped.source_name.as_deref() == Some(tool) || mapped.keys.has_original(arguments));
        if is_client {
            return Err(violations);
        }
        // Without a violation in the words of the model, report the violations of the original schema.
        mapped.schema.validate(&sent)?;
        Err(violations)
    }
}

/// Starts a call of a dynamic tool.
fn invoke(input: &Input) -> AsyncStart<'_> {
    let body: &Body = input.receiver();
    let call: &CallContext = input.context()?;
    let arguments = read(input.text(), body, call.tool_name())?;
    if let Some(decode) = body.decode.filter(|_| input.is_dry_run()) {
        decode(&arguments)?;
    }
    input.end_dry_run(|| arguments.to_string())?;
    (body.run)(arguments, call.clone())
}

/// Parses and validates the arguments of a call.
fn read(text: &str, body: &Body, tool: &str) -> Result<Value, ArgumentError> {
    read_with(text, |arguments| body.validate(arguments, tool))
}

/// Parses and validates the arguments of an example, with the keys of the original schema.
fn read_example(text: &str, schema: &CompiledSchema) -> Result<Value, ArgumentError> {
    read_with(text, |arguments| schema.validate(arguments))
}

fn read_with(
    text: &str,
    validate: impl FnOnce(&mut Value) -> Result<(), Violations>,
) -> Result<Value, ArgumentError> {
    if let Some(Plain {
        value: mut arguments @ Value::Object(_),
        has_fractions,
    }) = plain::read(text)
    {
        validate(&mut arguments).map_err(ValidateError::Invalid)?;
        if has_fractions {
            to_integers(&mut arguments);
        }
        return Ok(arguments);
    }
    read_any(text, validate)
}

/// Parses and validates arguments of any spelling.
#[cold]
fn read_any(
    text: &str,
    validate: impl FnOnce(&mut Value) -> Result<(), Violations>,
) -> Result<Value, ArgumentError> {
    // A `Value` does not show duplicate keys, lone surrogates, or numbers out of range.
    let mut violations = match normalise(&Schema::ANY, text, Options::default()) {
        Ok(_) => Violations::default(),
        Err(ValidateError::Invalid(violations)) => violations,
        Err(error) => return Err(error.into()),
    };
    let mut arguments = serde_json::from_str(text);
    if let Ok(arguments) = &mut arguments {
        violations.append(validate(arguments).err().unwrap_or_default());
        // Some drafts ignore keywords next to a reference, such as the type of the root.
        if violations.is_empty() && !arguments.is_object() {
            let got = shorten(text.trim_ascii());
            violations = Violations::one(String::new(), &format!("expected an object, got {got}"));
        }
    }
    if !violations.is_empty() {
        return Err(ValidateError::Invalid(violations).into());
    }
    let mut arguments =
        arguments.map_err(|error| ArgumentError::Malformed(not_json::why(text, &error)))?;
    to_integers(&mut arguments);
    Ok(arguments)
}

/// Replaces whole floats by integers: `20.0` is an integer to JSON Schema, but not to
/// `Value::as_i64`.
fn to_integers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            // Floats represent every integer up to 2^53.
            let whole = number.as_f64().filter(|float| {
                number.is_f64() && float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0
            });
            if let Some(whole) = whole {
                #[allow(clippy::cast_possible_truncation)] // whole and in range
                let integer = whole as i64;
                *number = Number::from(integer);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(to_integers),
        Value::Object(members) => members.values_mut().for_each(to_integers),
        _ => {}
    }
}

/// Validates a result against the output schema.
fn check_output(outcome: Outcome, output: &CompiledSchema) -> Outcome {
    let error = |problem: &str| Err(Violations::one(String::new(), problem));
    let result = match &outcome {
        Outcome::Json(json) => match serde_json::from_str(json) {
            Ok(value) => output.validate(&value),
            Err(problem) => error(&problem.to_string()),
        },
        Outcome::Text(text) => output.validate(&Value::from(&**text)),
        Outcome::Failed { .. } | Outcome::Invalid(_) => Ok(()),
        Outcome::Rich(_) => return outcome.map_rich(|inner| check_output(inner, output)),
    };
    match result {
        Ok(()) => outcome,
        Err(violations) => Outcome::invalid(violations),
    }
}

/// Validates an output that does not come from the closure of the tool with this receiver.
fn validate_answer(receiver: &Shared, outcome: Outcome) -> Outcome {
    let body = receiver.downcast_ref::<Guarded<Arc<Body>>>();
    let output = body.and_then(|body| body.output.as_deref());
    match output {
        Some(output) => check_output(outcome, output),
        None => outcome,
    }
}
