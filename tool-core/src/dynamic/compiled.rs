//! [`CompiledSchema`]: a schema that values are validated against.

use std::sync::{Arc, OnceLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use super::cost;
use super::violations::{message, violations};
use crate::ordered_json::Json;
use crate::schema::violation::Violations;

/// The backtracking of one pattern on one text, after which they count as a mismatch. A string takes
/// less than a millisecond.
const MAX_BACKTRACKS: usize = 2000;

/// The violation of a value that takes too long to check.
const UNCHECKED: &str = "can't be checked: its schema applies in too many ways; simplify it";

/// The violation of a value for which there are too many ways to be invalid.
const TOO_COMPLEX: &str = "does not match the schema, and is too complex to say where; simplify it";

/// The violation of a value if its schema does not compile again.
const NOT_COMPILED: &str = "can't be checked: its schema does not compile";

/// A schema that values are validated against.
///
/// A validator takes ten times the memory of its schema's text, and many tools of a server are never called. A
/// tool therefore [drops](CompiledSchema::shrink) the validator that proved its schema valid. The first value
/// compiles it again, and the first violation parses the schema again.
pub(super) struct CompiledSchema {
    text: Arc<str>,
    /// See [`cost::ways`].
    ways: usize,
    schema: OnceLock<Json>,
    /// `None` if the text does not compile again.
    validator: OnceLock<Option<Validator>>,
}

impl CompiledSchema {
    pub(super) fn new(schema: Json) -> Result<CompiledSchema, String> {
        let validator = compile(&schema.to_value())?;
        let text = schema.to_string();
        Ok(CompiledSchema::of(schema, text.into(), validator))
    }

    /// Creates one from a schema, its text, and its validator.
    pub(super) fn of(schema: Json, text: Arc<str>, validator: Validator) -> CompiledSchema {
        CompiledSchema {
            text,
            ways: cost::ways(&schema),
            schema: schema.into(),
            validator: Some(validator).into(),
        }
    }

    /// Drops what can be made again from the text.
    pub(super) fn shrink(&mut self) {
        self.schema.take();
        self.validator.take();
    }

    /// Returns the JSON text of the schema.
    pub(super) fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub(super) fn schema(&self) -> &Json {
        // The text was parsed before.
        let parse = || Json::parse(&self.text).unwrap_or(Json::Null);
        self.schema.get_or_init(parse)
    }

    fn validator(&self) -> Option<&Validator> {
        let compile = || {
            let schema = serde_json::from_str(&self.text).ok()?;
            compile(&schema).ok()
        };
        self.validator.get_or_init(compile).as_ref()
    }

    pub(super) fn validate(&self, value: &Value) -> Result<(), Violations> {
        if !cost::is_quick_to_check(|| self.schema(), self.ways, value) {
            return Err(Violations::one(String::new(), UNCHECKED));
        }
        let Some(validator) = self.validator() else {
            return Err(Violations::one(String::new(), NOT_COMPILED));
        };
        if validator.is_valid(value) {
            return Ok(());
        }
        // The verdict is memoized, and the list of errors is not.
        if !cost::is_quick_to_explain(self.schema(), value) {
            return Err(Violations::one(String::new(), TOO_COMPLEX));
        }
        let errors = validator.iter_errors(value);
        Err(violations(errors, self.schema(), value))
    }
}

/// Compiles a validator that never fetches anything.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        // Only patterns with look-around or back-references backtrack.
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS));
    options.build(schema).map_err(|error| match error.kind() {
        ValidationErrorKind::Referencing(_) => {
            "it has a reference that can't be resolved; nothing is fetched".into()
        }
        _ => message(&error, &Json::Null),
    })
}

/// Validates arguments against the JSON text of a schema.
pub(crate) fn validate(schema: &str, arguments: &str) -> Result<(), Violations> {
    let validated = || {
        let schema = crate::schema::Json::parse(schema).map_err(|error| error.to_string())?;
        let arguments = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        Ok(CompiledSchema::new(schema)?.validate(&arguments))
    };
    validated().unwrap_or_else(|problem: String| Err(Violations::one(String::new(), &problem)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Body, DynamicTool};
    use super::*;
    use crate::call::boundary::Guarded;
    use crate::tool::ToolEntry;
    use crate::{Registry, ToolCall};

    const SCHEMA: &str =
        r##"{"type":"object","properties":{"a":{"maximum":1.50},"b":{"$ref":"#"}}}"##;

    #[test]
    fn a_schema_that_was_dropped_is_made_again() {
        let mut schema = CompiledSchema::new(Json::parse(SCHEMA).unwrap()).unwrap();
        let value = json!({"a": 2, "b": {"a": 7}});
        let before = schema.validate(&value).unwrap_err().into_parts().0;
        schema.shrink();
        assert!(schema.schema.get().is_none() && schema.validator.get().is_none());
        assert!(schema.validate(&json!({"a": 1})).is_ok());
        assert!(schema.schema.get().is_none(), "parsed without a violation");
        let after = schema.validate(&value).unwrap_err().into_parts().0;
        assert_eq!(after, before);
        assert_eq!(schema.schema().to_string(), SCHEMA);
    }

    #[test]
    fn a_schema_that_does_not_compile_again_accepts_nothing() {
        let mut schema = CompiledSchema::new(Json::parse(SCHEMA).unwrap()).unwrap();
        schema.shrink();
        schema.text = r#"{"type":7}"#.into();
        let violations = schema.validate(&json!({})).unwrap_err().into_parts().0;
        assert_eq!(violations[0].to_string(), NOT_COMPILED);
    }

    #[test]
    fn a_tool_that_was_not_called_holds_texts_alone() {
        let schema = json!({"type": "object", "properties": {"a-b": {"type": "integer"}}});
        let tool = DynamicTool::foreign("count")
            .parameters(schema.clone())
            .output(schema)
            .example(json!({"a-b": 1}))
            .build(async |arguments, _| Ok::<_, String>(arguments));
        let entry = ToolEntry::from(tool.unwrap());
        let receiver = entry.receiver().unwrap().clone();
        let body = receiver.downcast_ref::<Guarded<Arc<Body>>>().unwrap();
        let mapped = &body.mapped.as_ref().unwrap().schema;
        let all = [&body.parameters, mapped, body.output.as_ref().unwrap()];
        let compiled = || all.map(|schema| schema.validator.get().is_some());
        let parsed = || all.map(|schema| schema.schema.get().is_some());
        assert_eq!((compiled(), parsed()), ([false; 3], [false; 3]));

        let registry = Registry::builder().tool(entry).build().unwrap();
        let call = ToolCall::new("call_1", "count", r#"{"a_b":1}"#);
        assert_eq!(registry.call_blocking(call).content(), r#"{"a-b":1}"#);
        assert_eq!(compiled(), [true, false, true]);
    }
}
