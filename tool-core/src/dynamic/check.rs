//! Whether a tool is one that every provider takes.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use super::Checked;
use super::portable::{self, Reader};
use super::schema_input::{Read, SchemaInput};
use super::violations::message;
use crate::provider::portable::is_tool_name;

/// What is wrong with the texts.
pub(super) fn texts(name: &str, description: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if !is_tool_name(name) {
        problems.push(
            "its name is none that every provider takes; start it with an ASCII letter or `_`, \
             and go on with at most 63 ASCII letters, digits, `_` or `-`"
                .into(),
        );
    }
    if description.trim().is_empty() {
        problems.push("it has no description; say what it does, since a model reads that".into());
    }
    problems
}

/// A schema that is one, of an object, with nothing in it that some provider refuses, and its text.
/// What is wrong is told with its place, a JSON pointer.
pub(super) fn schema(
    what: &str,
    schema: SchemaInput,
    reader: Reader,
    problems: &mut Vec<String>,
) -> Option<(Checked, String)> {
    let before = problems.len();
    let mut report = |place: &str, problem: &str| {
        let place = match place {
            "" => String::new(),
            place => format!(" at `{place}`"),
        };
        let problem = format!("{what}{place}: {problem}");
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    };
    let read = schema.read(&mut report)?;
    let schema = &read.schema;
    if !schema.is_object() {
        report("", "is no object; a schema is one");
        return None;
    }
    if let Err(unknown) = is_schema(schema, &mut report) {
        report("/$schema", &unknown);
        return None;
    }
    portable::check(schema, reader, &mut report);
    if problems.len() > before {
        return None;
    }
    let Read { schema, text } = read.with_properties();
    match compile(&schema) {
        Ok(validator) => Some((Checked { schema, validator }, text)),
        Err(problem) => {
            problems.push(format!("{what}: {problem}"));
            None
        }
    }
}

/// Everything that the meta-schema of its draft says of a schema.
fn is_schema(schema: &Value, report: &mut dyn FnMut(&str, &str)) -> Result<(), String> {
    let meta = match Draft::default().detect(schema) {
        Draft::Draft4 => jsonschema::draft4::meta::validator(),
        Draft::Draft6 => jsonschema::draft6::meta::validator(),
        Draft::Draft7 => jsonschema::draft7::meta::validator(),
        Draft::Draft201909 => jsonschema::draft201909::meta::validator(),
        Draft::Draft202012 => jsonschema::draft202012::meta::validator(),
        _ => {
            let name = &schema["$schema"];
            return Err(format!(
                "{name} is no version of JSON Schema; leave it out, or name one"
            ));
        }
    };
    for error in meta.iter_errors(schema) {
        report(
            error.instance_path().as_str(),
            &message(&error, &Value::Null),
        );
    }
    Ok(())
}

/// A validator that never fetches anything.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options()
        .offline()
        .should_validate_formats(true);
    options.build(schema).map_err(|error| match error.kind() {
        ValidationErrorKind::Referencing(_) => {
            "something in it is referred to and can't be found; nothing is fetched".into()
        }
        _ => message(&error, &Value::Null),
    })
}

/// Whether a reference out of a schema can be resolved without fetching anything.
pub(super) fn is_known(reference: &str) -> bool {
    compile(&json!({ "$ref": reference })).is_ok()
}

/// Whether a regular expression can be read.
pub(super) fn is_pattern(pattern: &str) -> bool {
    compile(&json!({ "pattern": pattern })).is_ok()
}
