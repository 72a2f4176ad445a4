//! The Berkeley Function Calling Leaderboard: its entries as cases, and its verdicts on calls.
//!
//! Supports the categories with one turn and Python types: `simple_python`, `multiple`, `parallel`,
//! `parallel_multiple`, their `live` forms, and `irrelevance`, which expects no call. Calls are judged like in the
//! leaderboard's package (`bfcl-eval`, its `ast_checker`), with its rules for strings and types, and not by the types
//! of tools.
//!
//! ```
//! use tool_eval::bfcl;
//!
//! let entries = r#"{"id": "simple_python_0", "question": [[{"role": "user", "content": "The area of a triangle, 10 by 5?"}]],
//!     "function": [{"name": "math.area", "description": "The area of a triangle.", "parameters": {"type": "dict",
//!     "properties": {"base": {"type": "integer"}, "height": {"type": "integer"}}, "required": ["base", "height"]}}]}"#
//!     .replace('\n', " ");
//! let answers = r#"{"id": "simple_python_0", "ground_truth": [{"math.area": {"base": [10], "height": [5]}}]}"#;
//! let cases = bfcl::cases(&entries, answers)?;
//! assert_eq!(cases[0].name(), "simple_python_0");
//! # Ok::<(), tool_eval::EvalError>(())
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tool_agent::run::Round;
use tool_core::dynamic::DynamicTool;
use tool_core::{CallContext, Registry, ToolEntry};

use crate::score::is_equal;
use crate::storage::read_text;
use crate::{Attempt, Case, EvalError};

/// An entry of the leaderboard: a question, its functions and the possible answers.
///
/// ```
/// use serde_json::json;
/// use tool_eval::bfcl;
///
/// let entry = json!({
///     "id": "simple_0",
///     "question": [[{"role": "user", "content": "What is 2 + 3?"}]],
///     "function": [{"name": "add", "description": "Adds.", "parameters": {"type": "dict",
///         "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}}],
/// });
/// let answer = json!({"id": "simple_0", "ground_truth": [{"add": {"a": [2], "b": [3]}}]});
/// let entries = bfcl::entries(&entry.to_string(), &answer.to_string())?;
///
/// let call = |arguments: serde_json::Value| ("add".to_owned(), arguments.as_object().cloned().unwrap());
/// assert!(entries[0].check(&[call(json!({"a": 2, "b": 3}))]).is_ok());
/// assert!(entries[0].check(&[call(json!({"a": 2, "b": 4}))]).is_err());
/// # Ok::<(), tool_eval::EvalError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Entry {
    id: String,
    functions: Vec<Value>,
    /// One object for each call. It maps the function to its parameters, each with the correct values.
    answers: Vec<Value>,
}

#[derive(Deserialize)]
struct RawEntry {
    id: String,
    question: Vec<Vec<Message>>,
    function: Vec<Value>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(Deserialize)]
struct RawAnswer {
    id: String,
    ground_truth: Vec<Value>,
}

/// Reads a file of entries and a file of possible answers. If `answers` is `None`, the answers come from the file with
/// the same name in the folder `possible_answer` beside it.
///
/// # Errors
///
/// Returns an error with the line if a file can't be read, or contains an entry of an unsupported category.
///
/// ```no_run
/// use tool_eval::{Eval, EvalError, bfcl};
///
/// fn eval() -> Result<Eval, EvalError> {
///     Ok(Eval::new(bfcl::read("BFCL_v4_simple_python.json", None)?))
/// }
/// ```
pub fn read(entries: impl AsRef<Path>, answers: Option<&Path>) -> Result<Vec<Case>, EvalError> {
    let entries = entries.as_ref();
    let beside = entries.with_file_name("possible_answer");
    let beside = beside.join(entries.file_name().unwrap_or_default());
    let text = read_text(entries)?;
    let found = match answers {
        Some(path) => read_text(path)?,
        // Without answers, the entries expect no call.
        None if beside.exists() => read_text(&beside)?,
        None => String::new(),
    };
    cases(&text, &found).map_err(|error| error.in_file(entries))
}

/// Reads the text of a file of entries, one JSON object per line, and of their possible answers.
///
/// # Errors
///
/// Returns the errors of [`read`].
///
/// ```
/// use tool_eval::bfcl;
///
/// assert!(bfcl::cases("", "")?.is_empty());
/// # Ok::<(), tool_eval::EvalError>(())
/// ```
pub fn cases(entries: &str, answers: &str) -> Result<Vec<Case>, EvalError> {
    let entries = parse(entries, answers)?.into_iter();
    entries
        .map(|(line, says, entry)| {
            let (registry, names) =
                tools(&entry).map_err(|message| at(line, &entry.id, message))?;
            let mut case = Case::new(&*entry.id, says).tools(registry).max_rounds(1);
            case.line = Some(line);
            Ok(case.check(move |attempt| judge(&entry, &names, attempt)))
        })
        .collect()
}

/// Reads the text of files like [`cases`], for use with [`Entry::check`].
///
/// # Errors
///
/// Returns the errors of [`read`].
///
/// ```
/// use tool_eval::bfcl;
///
/// assert!(bfcl::entries("", "")?.is_empty());
/// # Ok::<(), tool_eval::EvalError>(())
/// ```
pub fn entries(entries: &str, answers: &str) -> Result<Vec<Entry>, EvalError> {
    let parsed = parse(entries, answers)?.into_iter();
    Ok(parsed.map(|(_, _, entry)| entry).collect())
}

fn at(line: usize, id: &str, message: impl Into<String>) -> EvalError {
    let mut error = EvalError::new(message);
    error.line = Some(line);
    error.case = Some(id.to_owned()).filter(|id| !id.is_empty());
    error
}

/// Returns each entry with its line and the user's words.
fn parse(entries: &str, answers: &str) -> Result<Vec<(usize, String, Entry)>, EvalError> {
    fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
        let lines = (1..).zip(text.lines());
        lines.filter(|(_, line)| !line.trim().is_empty())
    }
    let mut known = BTreeMap::new();
    for (line, text) in lines(answers) {
        let answer: RawAnswer = serde_json::from_str(text).map_err(|error| {
            at(
                line,
                "",
                format!("not a possible answer of the leaderboard: {error}"),
            )
        })?;
        known.insert(answer.id, answer.ground_truth);
    }
    let mut parsed = Vec::new();
    for (line, text) in lines(entries) {
        let entry: RawEntry = serde_json::from_str(text).map_err(|error| {
            at(
                line,
                "",
                format!("not an entry of the leaderboard: {error}"),
            )
        })?;
        let fail = |message: &str| at(line, &entry.id, message);
        if ["java", "multi_turn", "memory", "web_search", "rest", "exec"]
            .iter()
            .any(|other| entry.id.contains(other))
        {
            return Err(fail(
                "entries of this category are not read; use one with Python types and one turn",
            ));
        }
        let says = match &entry.question[..] {
            [turn] => match &turn[..] {
                [Message { role, content }] if role == "user" => content.clone(),
                _ => return Err(fail("the question must be one message of the user")),
            },
            _ => return Err(fail("the question must have one turn")),
        };
        let answers = known.remove(&entry.id);
        if answers.is_none() && !entry.id.contains("irrelevance") {
            return Err(fail(
                "the entry has no possible answer; name the file of answers",
            ));
        }
        let entry = Entry {
            id: entry.id,
            functions: entry.function,
            answers: answers.unwrap_or_default(),
        };
        parsed.push((line, says, entry));
    }
    Ok(parsed)
}

/// Returns the tools of an entry, and the name of each tool's function.
fn tools(entry: &Entry) -> Result<(Registry, BTreeMap<String, String>), String> {
    let (mut tools, mut names) = (Vec::new(), BTreeMap::new());
    for function in &entry.functions {
        let name = function["name"].as_str().unwrap_or_default();
        let description = function["description"].as_str().unwrap_or_default();
        // Providers reject dots.
        let tool = DynamicTool::foreign(name.replace('.', "_"))
            .description(description)
            .parameters(schema(&function["parameters"]))
            .build(async |_: Value, _: CallContext| {
                Err::<(), _>("functions of the leaderboard do not run")
            })
            .map_err(|error| format!("the function {name} can't be a tool: {error}"))?;
        names.insert(tool.spec().name.to_string(), name.to_owned());
        tools.push(ToolEntry::from(tool));
    }
    let registry = Registry::builder().tools(tools).build();
    Ok((registry.map_err(|error| error.to_string())?, names))
}

/// Converts the Python types in a schema to JSON types.
fn schema(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let members = members.iter().filter_map(|(key, value)| {
                let value = match (&**key, value) {
                    ("type", Value::String(name)) => match &**name {
                        "dict" => json!("object"),
                        "float" => json!("number"),
                        "tuple" | "list" => json!("array"),
                        "any" => return None,
                        _ => value.clone(),
                    },
                    // The keys are names of parameters, and may be `type`.
                    ("properties", Value::Object(properties)) => {
                        let properties = properties.iter();
                        let properties =
                            properties.map(|(name, value)| (name.clone(), self::schema(value)));
                        properties.collect::<Map<_, _>>().into()
                    }
                    // Some defaults don't have the parameter's type.
                    ("default", _) => return None,
                    _ => self::schema(value),
                };
                Some((key.clone(), value))
            });
            members.collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// Judges the calls of an attempt.
fn judge(
    entry: &Entry,
    names: &BTreeMap<String, String>,
    attempt: &Attempt<'_>,
) -> Result<(), String> {
    let rounds = attempt.run().rounds().iter();
    let calls = rounds.flat_map(Round::calls).map(|(call, _)| {
        let name = names.get(&call.name).unwrap_or(&call.name).clone();
        let arguments = call.arguments.to_object();
        arguments
            .map(|arguments| (name, arguments))
            .map_err(|error| format!("the arguments of {} are no JSON: {error}", call.name))
    });
    entry.check(&calls.collect::<Result<Vec<_>, _>>()?)
}

impl Entry {
    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Judges calls, each a function with its arguments, like the leaderboard's `ast_checker`.
    ///
    /// # Errors
    ///
    /// Returns a description of the first mistake.
    pub fn check(&self, calls: &[(String, Map<String, Value>)]) -> Result<(), String> {
        if calls.len() != self.answers.len() {
            let (made, wanted) = (calls.len(), self.answers.len());
            return Err(format!("{made} calls, expected {wanted}"));
        }
        if !self.id.contains("parallel") {
            for (answer, call) in self.answers.iter().zip(calls) {
                let function = if self.id.contains("multiple") {
                    self.function_of(answer)
                } else {
                    self.functions.first()
                };
                check_call(function, answer, call)?;
            }
            return Ok(());
        }
        // Like the original, each answer takes the first correct call.
        let mut left: Vec<_> = calls.iter().collect();
        for answer in &self.answers {
            let function = self.function_of(answer);
            let mut last = String::new();
            let found = left.iter().position(|call| {
                let checked = check_call(function, answer, call);
                checked.map_err(|problem| last = problem).is_ok()
            });
            match found {
                Some(at) => drop(left.remove(at)),
                None => return Err(format!("no call is the expected one: {last}")),
            }
        }
        Ok(())
    }

    /// Returns the function that a possible answer is about.
    fn function_of(&self, answer: &Value) -> Option<&Value> {
        let name = answer.as_object()?.keys().next()?;
        self.functions
            .iter()
            .find(|function| function["name"] == **name)
    }
}

/// The Python types that a JSON value can have.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    Str,
    Int,
    Float,
    Bool,
    List,
    Dict,
    None,
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Null => Type::None,
        Value::Bool(_) => Type::Bool,
        Value::Number(number) if number.is_f64() => Type::Float,
        Value::Number(_) => Type::Int,
        Value::String(_) => Type::Str,
        Value::Array(_) => Type::List,
        Value::Object(_) => Type::Dict,
    }
}

/// Returns the Python type with this name in a schema.
fn type_named(name: &Value) -> Option<Type> {
    Some(match name.as_str()? {
        "string" | "any" => Type::Str,
        "integer" => Type::Int,
        "float" => Type::Float,
        "boolean" => Type::Bool,
        "array" | "tuple" => Type::List,
        "dict" => Type::Dict,
        _ => return None,
    })
}

/// Checks one call against a possible answer.
fn check_call(
    function: Option<&Value>,
    answer: &Value,
    (name, arguments): &(String, Map<String, Value>),
) -> Result<(), String> {
    let answer = answer.as_object().and_then(|answer| answer.values().next());
    let (Some(function), Some(Value::Object(answer))) = (function, answer) else {
        return Err("the entry has no function for its possible answer".into());
    };
    if function["name"] != **name {
        return Err(format!("{name} instead of {}", function["name"]));
    }
    let properties = &function["parameters"]["properties"];
    let Some(required) = function["parameters"]["required"].as_array() else {
        return Err("the function does not say what it requires".into());
    };
    for parameter in required.iter().filter_map(Value::as_str) {
        if !arguments.contains_key(parameter) {
            return Err(format!("{parameter} is missing"));
        }
    }
    for (parameter, value) in arguments {
        let (Some(property), Some(possible)) = (properties.get(parameter), answer.get(parameter))
        else {
            return Err(format!("{parameter} is not expected"));
        };
        let possible = possible.as_array().map_or(&[][..], Vec::as_slice);
        check_value(property, value, possible)
            .map_err(|problem| format!("{parameter} {problem}, got {value}"))?;
    }
    let is_optional = |possible: &Value| {
        possible
            .as_array()
            .is_some_and(|possible| possible.contains(&json!("")))
    };
    match answer
        .iter()
        .find(|(key, possible)| !arguments.contains_key(*key) && !is_optional(possible))
    {
        Some((parameter, _)) => Err(format!("{parameter} is missing")),
        None => Ok(()),
    }
}

/// Checks the value of a parameter.
fn check_value(property: &Value, value: &Value, possible: &[Value]) -> Result<(), &'static str> {
    const TYPE: &str = "has another type";
    const VALUE: &str = "has another value";
    let expected = type_named(&property["type"]).ok_or("has an unknown type")?;
    let items = match property["type"].as_str() {
        Some("array" | "tuple") => {
            Some(type_named(&property["items"]["type"]).ok_or("has items of an unknown type")?)
        }
        _ => None,
    };
    let float;
    let value = match (expected, value) {
        (Type::Float, Value::Number(number)) => {
            float = json!(number.as_f64());
            &float
        }
        _ => value,
    };
    let is_variable = check_type(value, possible, expected, items).ok_or(TYPE)?;
    let is_right = match (expected, value) {
        _ if is_variable => contains(possible, value),
        (Type::Dict, Value::Object(value)) => possible
            .iter()
            .any(|possible| is_right_dict(value, possible)),
        (Type::List, Value::Array(value)) if items == Some(Type::Dict) => possible
            .iter()
            .any(|possible| is_right_list_of_dicts(value, possible)),
        (Type::Str, Value::String(text)) => {
            let text = standard(text);
            possible.iter().any(|possible| {
                possible
                    .as_str()
                    .is_some_and(|possible| standard(possible) == text)
            })
        }
        (Type::List, Value::Array(value)) => {
            let value = Value::from(standard_items(value));
            possible.iter().any(|possible| match possible {
                Value::Array(items) => is_python_equal(&value, &standard_items(items).into()),
                // In Python, a string is a list of its characters.
                Value::String(text) => {
                    let characters = text
                        .chars()
                        .map(|c| Value::from(standard(c.encode_utf8(&mut [0; 4]))));
                    is_python_equal(&value, &characters.collect::<Vec<_>>().into())
                }
                _ => false,
            })
        }
        _ => contains(possible, value),
    };
    if is_right { Ok(()) } else { Err(VALUE) }
}

/// Checks the type of a value. Returns `true` if the possible answers have another type than the parameter, for
/// instance because the answer is the name of a variable.
fn check_type(
    value: &Value,
    possible: &[Value],
    expected: Type,
    items: Option<Type>,
) -> Option<bool> {
    let answered = possible
        .iter()
        .find(|possible| **possible != "")
        .map(type_of);
    let is_variable = answered.is_some_and(|answered| answered != expected);
    if type_of(value) == expected {
        let (Some(items), Value::Array(values)) = (items, value) else {
            return Some(is_variable);
        };
        let fits = possible.iter().any(|possible| match possible {
            Value::Array(possible) => values
                .iter()
                .all(|value| check_type(value, possible, items, None).is_some()),
            _ => true,
        });
        return fits.then_some(is_variable);
    }
    (answered == Some(type_of(value))).then_some(true)
}

/// Normalizes a text, removing differences that the comparison ignores.
fn standard(text: &str) -> String {
    let kept = text.chars().filter(|c| !" ,./-_*^".contains(*c));
    kept.collect::<String>().to_lowercase().replace('\'', "\"")
}

/// Normalizes the strings among these items, like [`standard`].
fn standard_items(items: &[Value]) -> Vec<Value> {
    let items = items.iter().map(|item| match item {
        Value::String(text) => standard(text).into(),
        other => other.clone(),
    });
    items.collect()
}

fn is_right_dict(value: &Map<String, Value>, possible: &Value) -> bool {
    let Value::Object(possible) = possible else {
        return false;
    };
    let values_are_right = value.iter().all(|(key, value)| {
        let Some(possible) = possible.get(key).and_then(Value::as_array) else {
            return false;
        };
        let value = standard_items(std::slice::from_ref(value)).remove(0);
        contains(&standard_items(possible), &value)
    });
    let is_optional = |possible: &Value| match possible {
        Value::Array(possible) => possible.iter().any(|possible| possible == ""),
        // In Python, every string contains the empty string.
        other => other.is_string(),
    };
    values_are_right
        && possible
            .iter()
            .all(|(key, possible)| value.contains_key(key) || is_optional(possible))
}

fn is_right_list_of_dicts(value: &[Value], possible: &Value) -> bool {
    let possible = match possible {
        Value::Array(possible) => possible,
        // It has the same length as an empty list.
        other => return other == "" && value.is_empty(),
    };
    let is_right = |(value, possible): (&Value, &Value)| match value {
        Value::Object(value) => is_right_dict(value, possible),
        _ => false,
    };
    value.len() == possible.len() && value.iter().zip(possible).all(is_right)
}

fn contains(possible: &[Value], value: &Value) -> bool {
    possible
        .iter()
        .any(|possible| is_python_equal(possible, value))
}

/// Compares like Python, where `True` equals `1`.
fn is_python_equal(a: &Value, b: &Value) -> bool {
    fn numbered(value: &Value) -> Value {
        match value {
            Value::Bool(value) => i32::from(*value).into(),
            Value::Array(items) => items.iter().map(numbered).collect(),
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| (key.clone(), numbered(value)));
                members.collect::<Map<_, _>>().into()
            }
            other => other.clone(),
        }
    }
    is_equal(&numbered(a), &numbered(b))
}
