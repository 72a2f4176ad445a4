//! [`DynamicTool`]: a tool that comes while the program runs.

mod builder;
mod check;
mod error;
mod implied;
mod portable;
mod schema_input;
mod unions;
mod violations;
mod words;

use std::error::Error;
use std::fmt;

use jsonschema::Validator;
use serde_json::{Number, Value};

use self::violations::violations;
use crate::args::{ArgumentError, Input};
use crate::call::context::CallContext;
use crate::output::Outcome;
use crate::runtime::BoxFuture;
use crate::schema::Schema;
use crate::schema::messages::shorten;
use crate::schema::validate::{ValidateError, normalise};
use crate::schema::violation::Violations;
use crate::spec::ToolSpec;
use crate::tool::{AsyncStart, ToolEntry};

pub use builder::DynamicToolBuilder;
pub use error::DynamicToolError;

/// A tool that only the running program knows: of a server of the Model Context Protocol, of a
/// configuration, of a user. Its name, its texts and its JSON Schema are values, and an async
/// closure runs it.
///
/// It is checked as strictly as a function is by `#[tool]`, but when it is made, and all that is
/// wrong with it is told at once: [`DynamicToolError`]. Its calls are checked as those of functions
/// are, and refused in the same words.
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
/// # Where it differs from a function
///
/// - The schema means what it says: an object without `additionalProperties: false` takes unknown
///   keys, and they reach the closure. `null` is no way to leave something out, and the values of an
///   enum don't fold their case. A [lenient](crate::RegistryBuilder::lenient) registry makes no
///   difference to it.
/// - Its annotations are taken as they come: a server may call a tool both read-only and destructive.
/// - `format` is enforced where the crate `jsonschema` knows it, whatever the version of JSON Schema.
/// - Dialects send the schema as it came, and in strict modes as a tool that is not strict. The order
///   of its keys means something to a model: [`parameters_json`](DynamicToolBuilder::parameters_json)
///   keeps it, where a [`Value`] mostly sorts them.
/// - [`ToolSpec::parameters`] is [`Kind::Any`](crate::schema::Kind::Any);
///   [`ToolSpec::parameters_json`] has the schema. Only a tool without parameters is the empty
///   object, and so fits everywhere.
#[derive(Clone)]
pub struct DynamicTool(ToolEntry);

impl DynamicTool {
    /// A tool of this name.
    pub fn builder(name: impl Into<String>) -> DynamicToolBuilder {
        DynamicToolBuilder::new(name.into())
    }

    /// What the tool is.
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

/// What runs a tool: the receiver of its calls.
struct Body {
    parameters: Checked,
    run: Run,
}

/// A schema, and what checks values against it.
struct Checked {
    schema: Value,
    validator: Validator,
}

impl Checked {
    fn judge(&self, value: &Value) -> Result<(), Violations> {
        match self.validator.is_valid(value) {
            true => Ok(()),
            false => {
                let errors = self.validator.iter_errors(value);
                Err(violations(errors, &self.schema, value))
            }
        }
    }
}

/// Begins a call of any of these tools.
fn invoke(input: &Input) -> AsyncStart<'_> {
    let body: &Body = input.receiver();
    let arguments = read(input.text(), &body.parameters)?;
    input.end_dry_run(|| arguments.to_string())?;
    let call: &CallContext = input.context()?;
    Ok((body.run)(arguments, call.clone()))
}

/// The arguments as a value, when they fit.
fn read(text: &str, parameters: &Checked) -> Result<Value, ArgumentError> {
    // What no value shows: keys that come twice, half surrogate pairs, numbers out of range.
    let mut found = match normalise(&Schema::ANY, text, false) {
        Ok(_) => Violations::default(),
        Err(ValidateError::Invalid(found)) => found,
        Err(unfit) => return Err(unfit.into()),
    };
    let arguments = serde_json::from_str(text);
    if let Ok(arguments) = &arguments {
        found.append(parameters.judge(arguments).err().unwrap_or_default());
        // Some drafts pass over what stands beside a reference, the type of a root too.
        if found.is_empty() && !arguments.is_object() {
            let got = shorten(text.trim_ascii());
            found = Violations::one(String::new(), &format!("expected an object, got {got}"));
        }
    }
    if !found.is_empty() {
        return Err(ValidateError::Invalid(found).into());
    }
    let mut arguments = arguments.map_err(|error| ArgumentError::Malformed(error.to_string()))?;
    respell(&mut arguments);
    Ok(arguments)
}

/// Judges arguments by the JSON text of a tool's schema.
#[cfg(feature = "docs")]
pub(crate) fn judge(schema: &str, arguments: &str) -> Result<(), Violations> {
    let parse = |text| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let checked = parse(schema).and_then(|schema| {
        let validator = check::compile(&schema)?;
        Ok(Checked { schema, validator })
    });
    let judged = checked.and_then(|checked| Ok(checked.judge(&parse(arguments)?)));
    judged.unwrap_or_else(|problem| Err(Violations::one(String::new(), &problem)))
}

/// Spells whole numbers as integers: `20.0` is one to JSON Schema, and none to `Value::as_i64`.
fn respell(value: &mut Value) {
    match value {
        Value::Number(number) => {
            // Up to here floats hold every integer.
            let whole = number.as_f64().filter(|float| {
                number.is_f64() && float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0
            });
            if let Some(whole) = whole {
                #[allow(clippy::cast_possible_truncation)] // it is whole and in range
                let integer = whole as i64;
                *number = Number::from(integer);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(respell),
        Value::Object(members) => members.values_mut().for_each(respell),
        _ => {}
    }
}

/// The result of a tool that has an output schema, if it is what that describes.
fn held_to(outcome: Outcome, output: &Checked) -> Outcome {
    let judged = match &outcome {
        Outcome::Json(json) => match serde_json::from_str(json) {
            Ok(value) => output.judge(&value),
            Err(error) => Err(Violations::one(String::new(), &error.to_string())),
        },
        Outcome::Text(_) => Err(Violations::one(
            String::new(),
            "expected an object, got text",
        )),
        Outcome::Failed { .. } => Ok(()),
    };
    match judged {
        Ok(()) => outcome,
        Err(violations) => Outcome::Failed {
            message: "its result is not what its output schema describes".into(),
            source: Some(Box::new(BadResult(violations))),
        },
    }
}

/// What is wrong with a result, for the operator.
#[derive(Debug)]
struct BadResult(Violations);

impl fmt::Display for BadResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (listed, more) = self.0.clone().into_parts();
        let listed: Vec<_> = listed.iter().map(ToString::to_string).collect();
        f.write_str(&listed.join("; "))?;
        match more {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl Error for BadResult {}
