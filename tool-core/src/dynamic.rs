//! [`DynamicTool`]: a tool that is defined at run time.

mod builder;
mod check;
mod cost;
mod expected;
mod unions;
mod violations;

use std::fmt;
use std::sync::Arc;

use jsonschema::Validator;
use serde_json::{Number, Value};

use self::violations::violations;
use crate::args::{ArgumentError, Input};
use crate::call::boundary::Guarded;
use crate::call::context::{CallContext, Shared};
use crate::output::Outcome;
use crate::runtime::BoxFuture;
use crate::schema::Schema;
use crate::schema::messages::shorten;
use crate::schema::validate::{ValidateError, normalise};
use crate::schema::violation::Violations;
use crate::spec::ToolSpec;
use crate::tool::{AsyncStart, ToolEntry};

pub use builder::{DynamicToolBuilder, DynamicToolError};

/// A tool that is defined at run time, such as by a server of the Model Context Protocol, a
/// configuration or a user. Its name, texts and JSON Schema are values, and an async closure runs
/// it.
///
/// It is checked as strictly as a `#[tool]` function, when it is built. [`DynamicToolError`] lists
/// all problems at once. Its calls are validated like those of functions, with the same error
/// messages.
///
/// ```
/// use serde_json::json;
/// use tool_core::{DynamicTool, Registry, ToolCall};
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
/// registry.add([tool.into()])?;
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
/// - Its annotations are not checked: a server may call a tool both read-only and destructive.
/// - `format` is enforced if the crate `jsonschema` knows it, in every version of JSON Schema.
/// - Dialects send the schema unchanged, and without strict mode. The order of its keys matters to a
///   model: [`parameters_json`](DynamicToolBuilder::parameters_json) keeps it, while a [`Value`]
///   usually sorts keys.
/// - [`ToolSpec::parameters`] is [`Kind::Any`](crate::schema::Kind::Any), and
///   [`ToolSpec::parameters_json`] returns the schema. A tool without parameters has the empty
///   object as its schema, which works in every dialect and mode.
#[derive(Clone)]
pub struct DynamicTool(ToolEntry);

impl DynamicTool {
    /// Creates a builder for a tool with this name.
    pub fn builder(name: impl Into<String>) -> DynamicToolBuilder {
        DynamicToolBuilder::new(name.into())
    }

    /// Returns the tool's specification.
    pub fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }
}

impl From<DynamicTool> for ToolEntry {
    fn from(tool: DynamicTool) -> ToolEntry {
        tool.0
    }
}

impl fmt::Debug for DynamicTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynamicTool")
            .field(&self.spec().name)
            .finish()
    }
}

type Run = Box<dyn Fn(Value, CallContext) -> BoxFuture<Outcome> + Send + Sync>;

/// The receiver of a dynamic tool's calls.
struct Body {
    parameters: CompiledSchema,
    output: Option<Arc<CompiledSchema>>,
    run: Run,
}

/// The violation of a value for which there are too many ways to be invalid.
const TOO_COMPLEX: &str = "does not match the schema, and is too complex to say where; simplify it";

struct CompiledSchema {
    schema: Value,
    validator: Validator,
}

impl CompiledSchema {
    fn validate(&self, value: &Value) -> Result<(), Violations> {
        if self.validator.is_valid(value) {
            return Ok(());
        }
        // The verdict is memoized, and the list of errors is not.
        if !cost::is_quick_to_explain(&self.schema, value) {
            return Err(Violations::one(String::new(), TOO_COMPLEX));
        }
        let errors = self.validator.iter_errors(value);
        Err(violations(errors, &self.schema, value))
    }
}

/// Starts a call of a dynamic tool.
fn invoke(input: &Input) -> AsyncStart<'_> {
    let body: &Body = input.receiver();
    let arguments = read(input.text(), &body.parameters)?;
    input.end_dry_run(|| arguments.to_string())?;
    let call: &CallContext = input.context()?;
    Ok((body.run)(arguments, call.clone()))
}

/// Parses and validates arguments.
fn read(text: &str, parameters: &CompiledSchema) -> Result<Value, ArgumentError> {
    // A `Value` does not show duplicate keys, lone surrogates, or numbers out of range.
    let mut violations = match normalise(&Schema::ANY, text, false) {
        Ok(_) => Violations::default(),
        Err(ValidateError::Invalid(violations)) => violations,
        Err(error) => return Err(error.into()),
    };
    let arguments = serde_json::from_str(text);
    if let Ok(arguments) = &arguments {
        violations.append(parameters.validate(arguments).err().unwrap_or_default());
        // Some drafts ignore keywords next to a reference, such as the type of the root.
        if violations.is_empty() && !arguments.is_object() {
            let got = shorten(text.trim_ascii());
            violations = Violations::one(String::new(), &format!("expected an object, got {got}"));
        }
    }
    if !violations.is_empty() {
        return Err(ValidateError::Invalid(violations).into());
    }
    let mut arguments = arguments.map_err(|error| ArgumentError::Malformed(error.to_string()))?;
    to_integers(&mut arguments);
    Ok(arguments)
}

/// Validates arguments against the JSON text of a schema.
#[cfg(feature = "docs")]
pub(crate) fn validate(schema: &str, arguments: &str) -> Result<(), Violations> {
    let parse = |text| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let compiled = parse(schema).and_then(|schema| {
        let validator = check::compile(&schema)?;
        Ok(CompiledSchema { schema, validator })
    });
    let result = compiled.and_then(|compiled| Ok(compiled.validate(&parse(arguments)?)));
    result.unwrap_or_else(|problem| Err(Violations::one(String::new(), &problem)))
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
        Outcome::Text(_) => error("expected an object, got text"),
        Outcome::Failed { .. } | Outcome::Invalid(_) => Ok(()),
        Outcome::Rich(_) => return outcome.map_rich(|inner| check_output(inner, output)),
    };
    match result {
        Ok(()) => outcome,
        Err(violations) => Outcome::invalid(violations),
    }
}

/// Validates an output that does not come from the closure of the tool with this receiver.
pub(crate) fn validate_answer(receiver: &Shared, outcome: Outcome) -> Outcome {
    let body = receiver.downcast_ref::<Guarded<Arc<Body>>>();
    let output = body.and_then(|body| body.output.as_deref());
    match output {
        Some(output) => check_output(outcome, output),
        None => outcome,
    }
}
