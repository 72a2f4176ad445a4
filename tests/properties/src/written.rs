//! Results: a tool for each type, which returns a value of it, and an independent validator of what
//! arrives.

use std::any::Any;
use std::cell::RefCell;

use jsonschema::Validator;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tool_core::hooks::Gate;
use tool_core::{Registry, ToolCall, ToolEntry, ToolErrorKind, ToolResult};

use crate::random::Random;
use crate::value::decode;

thread_local! {
    /// The value that the next tool on this thread returns.
    static NEXT: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

/// Takes the value that the tool is to return. Every tool that returns a value calls it.
///
/// # Panics
///
/// Panics if there is none.
pub fn next<T: Any>() -> T {
    let value = NEXT.take().expect("a value was set");
    *value.downcast().expect("the value has the tool's type")
}

/// A tool that returns a value of one type.
pub struct Returning {
    /// The name of the type.
    pub name: &'static str,
    /// The tool.
    pub tool: ToolEntry,
    /// Returns a value, made from some JSON or from random numbers alone.
    pub probe: fn(&ReturningSubject, &Value, &mut Random) -> Option<Verdict>,
}

/// What a tool did with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is a result.
    Valid,
    /// It is an error, because it does not match the output schema.
    Invalid,
}

/// A tool with everything needed to check its results.
pub struct ReturningSubject {
    /// The tool.
    pub returning: Returning,
    /// The output schema, if there is one.
    pub schema: Option<Value>,
    validator: Option<Validator>,
    registry: Registry,
}

impl ReturningSubject {
    /// Creates the validator and the registry of a tool.
    ///
    /// # Panics
    ///
    /// Panics if the output schema is not a JSON Schema.
    pub fn new(returning: Returning) -> ReturningSubject {
        let text = returning.tool.output_json();
        let schema = text.map(|text| {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
        });
        let validator = schema.as_ref().map(|schema| {
            jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{error}: {schema}"))
        });
        let registry = Registry::builder().tools([returning.tool.clone()]).build();
        ReturningSubject {
            returning,
            schema,
            validator,
            registry: registry.expect("one tool has one name"),
        }
    }

    fn call(&self, registry: &Registry) -> ToolResult {
        let name = &*self.returning.tool.name;
        registry.call_blocking(ToolCall::new("id", name, ""))
    }

    /// Returns a value from the tool and from a hook in its place. Checks that what arrives matches
    /// the schema, and that an error is about a value that does not.
    fn returns<T: Serialize + Any>(&self, value: T) -> Verdict {
        let name = self.returning.name;
        // As JSON has it, where the last of equal keys counts.
        let json = serde_json::to_string(&value);
        let plain = json.as_ref().ok();
        let plain = plain.map(|json| serde_json::from_str::<Value>(json).expect("it is JSON"));
        let has_duplicates = match (&json, &plain) {
            (Ok(json), Some(plain)) => has_fewer_members(plain, json),
            _ => false,
        };
        let answer = Gate::answer(&value);
        NEXT.set(Some(Box::new(value)));
        let returned = self.call(&self.registry);
        let hooked = Registry::builder().tools([self.returning.tool.clone()]);
        let hooked = hooked.before(move |_| std::future::ready(answer.clone()));
        let answered = self.call(&hooked.build().expect("one tool has one name"));
        for result in [&returned, &answered] {
            let Some(error) = result.error() else {
                let Some(validator) = &self.validator else {
                    continue;
                };
                let arrived = result
                    .structured()
                    .unwrap_or_else(|| match result.content() {
                        // A unit.
                        "ok" if plain == Some(Value::Null) => Value::Null,
                        text => text.into(),
                    });
                assert!(
                    validator.is_valid(&arrived),
                    "{name}: {arrived} does not match {:?}",
                    self.returning.tool.output_json()
                );
                continue;
            };
            assert_eq!(error.kind(), ToolErrorKind::InvalidResult, "{name}");
            assert!(!error.is_retryable() && !error.detail().is_empty());
            if let (Some(validator), Some(plain)) = (&self.validator, &plain) {
                assert!(
                    !validator.is_valid(plain) || has_duplicates,
                    "{name}: {plain} is {:?}",
                    error.violations()
                );
            } else {
                assert!(
                    plain.is_none(),
                    "{name}: {:?} without a schema",
                    error.violations()
                );
            }
        }
        assert_eq!(
            returned.is_error(),
            answered.is_error(),
            "{name}: {json:?} from the tool and from a hook"
        );
        if returned.is_error() {
            Verdict::Invalid
        } else {
            Verdict::Valid
        }
    }
}

/// Returns `true` if a value has fewer members than its text, so that some key was written twice.
fn has_fewer_members(value: &Value, json: &str) -> bool {
    value.to_string().len() < json.len()
}

/// Returns a value that its type decodes from JSON; `None` if it does not.
pub fn decoded<T: Serialize + DeserializeOwned + Any>(
    subject: &ReturningSubject,
    json: &Value,
    random: &mut Random,
) -> Option<Verdict> {
    Some(subject.returns(decode::<T>(json, random)?))
}

/// Returns a value that a function makes.
pub fn made<T: Serialize + Any>(subject: &ReturningSubject, value: T) -> Option<Verdict> {
    Some(subject.returns(value))
}
