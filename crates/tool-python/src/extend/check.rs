//! Checks of a new tool, made before anybody is asked to approve it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use tool_core::dynamic::DynamicTool;
use tool_core::{AnyOutput, CallContext, Registry, ToolCall, ToolError, ToolErrorKind};

use super::sample::{Random, sample};
use super::store::{Lock, sha256, text};
use super::visible;
use crate::code::{Failure, Running, SHOWN, failure};
use crate::{EndedBy, Inputs, Limits, NoTools, Outcome, Sandbox, Value};

/// Number of generated inputs that a tool must handle.
const INPUTS: usize = 20;

/// No further input is generated after this time.
const INPUT_TIME: Duration = Duration::from_secs(60);

/// Number of inputs that the report shows.
const EXAMPLES: usize = 5;

/// Maximum number of bytes in the text of a review.
const REVIEW: usize = 64 << 10;

/// Maximum number of characters of a description.
pub(super) const DESCRIPTION: usize = 1_000;

/// The form in which the code of a tool is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// A function with the name of the tool, and its tests.
    Python,
    /// A script that reads its arguments as `args`.
    Analysis,
}

/// The arguments of the model's call, which propose a tool.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Proposal {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: Option<String>,
    pub(super) schema: Map<String, Json>,
    #[serde(alias = "script")]
    pub(super) code: String,
    #[serde(default)]
    pub(super) tests: Option<String>,
    #[serde(default)]
    pub(super) output: Option<Map<String, Json>>,
}

impl Proposal {
    /// Returns a hash of everything the model wrote.
    pub(super) fn key(&self, kind: Kind) -> String {
        sha256(serde_json::to_string(&(kind, self)).expect("plain data serializes"))
    }

    fn tests(&self) -> &str {
        self.tests.as_deref().unwrap_or_default()
    }
}

/// The contents of `spec.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spec {
    /// The version of the file format, now 1.
    pub(super) format: u32,
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: Map<String, Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<Map<String, Json>>,
    /// `true` if the function is `async`.
    pub(super) is_async: bool,
}

/// The contents of `report.json`: the findings of the checks. Its `Display` writes the verdict, without any text from
/// the code.
#[derive(Debug, Serialize, Deserialize)]
struct Report {
    python: String,
    modules: Vec<String>,
    tests: Vec<String>,
    inputs: InputReport,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the checks found: {} tests passed; of {} different generated inputs, {} returned a value and {} were rejected \
             with ToolError; what the code returned is quoted",
            self.tests.len(),
            self.inputs.different,
            self.inputs.returned,
            self.inputs.rejected
        )
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct InputReport {
    /// Number of tested inputs, all different.
    different: usize,
    returned: usize,
    rejected: usize,
    examples: Vec<Json>,
}

/// A new tool that passed all checks, ready for the review by a person or a model.
///
/// Its `Display` writes the whole text of the review. The model wrote the code, the tests and the description: show
/// them as data, and treat them as hostile.
///
/// ```
/// use tool_python::Review;
///
/// /// Shows the whole review to a person, as data, because the model wrote most of it.
/// fn show(review: &Review) {
///     println!("{} {}, digest {}", review.name, review.version, review.digest);
///     for line in review.to_string().lines() {
///         println!("> {line}");
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The name.
    pub name: String,
    /// The version, from 1.
    pub version: u32,
    /// The replaced version.
    pub replaces: Option<u32>,
    /// `spec.json`: the description and the schemas.
    pub spec: String,
    /// `code.py`.
    pub code: String,
    /// `tests.py`; `None` for an analysis script.
    pub tests: Option<String>,
    /// `report.json`: the results of the checks.
    pub report: String,
    /// The SHA-256 hash of all the above, in hexadecimal. `lock.json` confirms it by the hash of each file.
    pub digest: String,
}

impl Review {
    /// Returns the files to store.
    pub(super) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::from([
            ("spec.json".to_owned(), self.spec.clone()),
            ("code.py".to_owned(), self.code.clone()),
            ("report.json".to_owned(), self.report.clone()),
        ]);
        if let Some(tests) = &self.tests {
            files.insert("tests.py".to_owned(), tests.clone());
        }
        files
    }

    /// Returns the hash of each file.
    pub(super) fn hashes(&self) -> BTreeMap<String, String> {
        let files = self.files().into_iter();
        files.map(|(name, text)| (name, sha256(text))).collect()
    }
}

impl fmt::Display for Review {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it adds the tool `{}`, version {}",
            self.name, self.version
        )?;
        if let Some(replaces) = self.replaces {
            write!(f, ", in place of version {replaces}")?;
        }
        f.write_str("\n")?;
        // The code comes last, next to the question, because it is what would run.
        let mut files = self.files();
        for name in ["spec.json", "tests.py", "report.json", "code.py"] {
            let Some(text) = files.remove(name) else {
                continue;
            };
            f.write_str("\n")?;
            if name == "report.json" {
                match serde_json::from_str::<Report>(&text) {
                    Ok(report) => writeln!(f, "{report}")?,
                    Err(error) => writeln!(f, "the results can't be read: {error}")?,
                }
            }
            writeln!(f, "{name}, sha256 {}", sha256(&text))?;
            visible::quote(&text, f)?;
        }
        write!(f, "\nall of it, sha256 {}", self.digest)
    }
}

/// Runs the code of tools.
pub(super) struct Runner<'a> {
    pub(super) sandbox: &'a Sandbox,
    pub(super) limits: &'a Limits,
}

impl Runner<'_> {
    async fn run(&self, code: &'static str, inputs: Inputs) -> Result<Outcome, String> {
        let sandbox = self.sandbox.clone();
        let run = Running::start(self.limits, move |limits| {
            sandbox.run(code, &inputs, &NoTools, limits)
        });
        let outcome = async { run?.await };
        outcome.await.map_err(|error: Failure| error.to_string())
    }

    /// Checks a proposal. An error is a message for the model.
    pub(super) async fn check(
        &self,
        kind: Kind,
        proposal: &Proposal,
        version: u32,
        replaces: Option<u32>,
    ) -> Result<Review, String> {
        let mut spec = Spec {
            format: 1,
            kind,
            name: proposal.name.clone(),
            description: proposal.description.clone().unwrap_or_default(),
            parameters: parameters(&proposal.schema)?,
            output: proposal.output.clone(),
            is_async: false,
        };
        for (what, text) in [
            ("code", &*proposal.code),
            ("tests", proposal.tests()),
            ("description", &*spec.description),
            ("schema", &*Json::from(spec.parameters.clone()).to_string()),
            ("output", &*json!(spec.output).to_string()),
        ] {
            visible::check(what, text)?;
        }
        self.tool(&spec, &proposal.code)?;
        let found = self.check_source(kind, proposal).await?;
        if let Some(description) = found.description {
            spec.description = description;
        }
        if spec.description.chars().count() > DESCRIPTION {
            return Err(format!(
                "code: the docstring is longer than {DESCRIPTION} characters"
            ));
        }
        spec.is_async = found.is_async;
        let tests = match kind {
            Kind::Python => self.run_tests(proposal).await?,
            Kind::Analysis => Vec::new(),
        };
        let inputs = self
            .run_inputs(&spec, &proposal.code, proposal.key(kind))
            .await?;
        let report = Report {
            python: self.sandbox.version().to_owned(),
            modules: found.modules,
            tests,
            inputs,
        };
        let mut review = Review {
            name: spec.name.clone(),
            version,
            replaces,
            spec: text(&spec),
            code: proposal.code.clone(),
            tests: proposal.tests.clone(),
            report: text(&report),
            digest: String::new(),
        };
        review.digest = Lock::digest(&review.name, version, &review.hashes());
        let length = review.to_string().len();
        if length > REVIEW {
            return Err(format!(
                "review: its text would have {length} bytes, and nobody reads more than {REVIEW}; write less code, fewer tests or \
                 a shorter schema"
            ));
        }
        Ok(review)
    }

    /// Builds the tool.
    pub(super) fn tool(&self, spec: &Spec, code: &str) -> Result<DynamicTool, String> {
        let (code, input) = match spec.kind {
            Kind::Python => {
                let wait = if spec.is_async { "await " } else { "" };
                let call = format!("{code}\n\n{wait}{}(**_arguments)\n", spec.name);
                (call, "_arguments")
            }
            Kind::Analysis => (code.to_owned(), "args"),
        };
        let code: Arc<str> = code.into();
        let (sandbox, limits) = (self.sandbox.clone(), self.limits.clone());
        let mut tool = DynamicTool::builder(&spec.name)
            .description(&spec.description)
            .parameters(Json::from(spec.parameters.clone()))
            .tags(["created"])
            .read_only(true)
            .idempotent(true)
            .open_world(false);
        if let Some(output) = &spec.output {
            tool = tool.output(Json::from(output.clone()));
        }
        let tool = tool.build(move |arguments: Json, call: CallContext| {
            let (sandbox, code) = (sandbox.clone(), Arc::clone(&code));
            let inputs = Inputs::new().value(input, &arguments);
            let run = Running::start(&limits, move |limits| {
                sandbox.run(&code, &inputs, &NoTools, limits)
            });
            async move { output(&run?.await?, &call) }
        });
        tool.map_err(|error| format!("schema: {}", error.problems().join("; ")))
    }

    async fn check_source(&self, kind: Kind, proposal: &Proposal) -> Result<Found, String> {
        let properties = proposal.schema.get("properties").and_then(Json::as_object);
        let defaults = |(key, schema): (&String, &Json)| {
            let default: Vec<_> = schema.get("default").into_iter().cloned().collect();
            (key.clone(), Json::from(default))
        };
        let properties: Map<_, _> = properties.into_iter().flatten().map(defaults).collect();
        let required = proposal.schema.get("required").cloned();
        let inputs = Inputs::new()
            .value("kind", &json!(kind))
            .value("name", &json!(proposal.name))
            .value("code", &json!(proposal.code))
            .value("tests", &json!(proposal.tests()))
            .value("properties", &properties.into())
            .value("required", &required.unwrap_or_else(|| json!([])));
        let outcome = self.run(include_str!("check.py"), inputs).await?;
        let found: Found = read(&outcome).map_err(|problem| format!("code: {problem}"))?;
        if found.problems.is_empty() {
            return Ok(found);
        }
        Err(found.problems.join("\n"))
    }

    /// Runs the tests, and returns their names.
    async fn run_tests(&self, proposal: &Proposal) -> Result<Vec<String>, String> {
        let inputs = Inputs::new()
            .value("code", &json!(proposal.code))
            .value("tests", &json!(proposal.tests()));
        let outcome = self.run(include_str!("tests.py"), inputs).await?;
        let tests: Vec<Test> = read(&outcome).map_err(|problem| format!("tests: {problem}"))?;
        let failed = tests.iter().filter_map(|test| {
            let error = test.error.as_ref()?;
            Some(format!("tests: {}: {error}", test.name))
        });
        let failed: Vec<_> = failed.take(3).collect();
        if !failed.is_empty() {
            return Err(failed.join("\n"));
        }
        Ok(tests.into_iter().map(|test| test.name).collect())
    }

    /// Calls the tool with generated inputs, in the same way as models will.
    async fn run_inputs(
        &self,
        spec: &Spec,
        code: &str,
        key: String,
    ) -> Result<InputReport, String> {
        let schema = Json::from(spec.parameters.clone());
        let tool = Registry::builder().tool(self.tool(spec, code)?).build();
        let tool = tool.map_err(|error| format!("schema: {error}"))?;
        let mut random = Random::new(u64::from_str_radix(&key[..16], 16).unwrap_or(0));
        let mut report = InputReport::default();
        let mut seen = Vec::new();
        let start = Instant::now();
        let examples = schema["examples"].as_array().cloned().unwrap_or_default();
        let mut examples = examples.into_iter().take(INPUTS / 2);
        for _ in 0..INPUTS * 10 {
            let is_late = start.elapsed() > INPUT_TIME && !seen.is_empty();
            if seen.len() == INPUTS || is_late {
                break;
            }
            let arguments = match examples.next() {
                Some(example) => example,
                None => sample(&schema, &mut random),
            };
            if seen.contains(&arguments) {
                continue;
            }
            let probe = Probe::default();
            let call = ToolCall::new("generated", &*spec.name, arguments.to_string());
            let result = tool.call(call.with(probe.clone())).await;
            let is_rejected = probe.0.load(Ordering::Relaxed);
            let what = match result.error().map(ToolError::kind) {
                None => "returned",
                Some(ToolErrorKind::InvalidArguments) => continue,
                Some(ToolErrorKind::Failed) if is_rejected => "raised ToolError",
                Some(_) => {
                    let shown = shortened(&arguments.to_string(), 1_000);
                    return Err(format!(
                        "inputs: with the generated arguments {shown}: {}",
                        result.content()
                    ));
                }
            };
            if is_rejected {
                report.rejected += 1;
            } else {
                report.returned += 1;
            }
            if report.examples.len() < EXAMPLES {
                report.examples.push(json!({
                    "arguments": shortened(&arguments.to_string(), 300),
                    what: shortened(result.content(), 300),
                }));
            }
            seen.push(arguments);
            report.different = seen.len();
        }
        if seen.is_empty() {
            return Err(
                "inputs: no input could be generated for the schema; add `examples` at its root: an array of \
                 arguments that fit"
                    .to_owned(),
            );
        }
        Ok(report)
    }
}

/// The result of `check.py`.
#[derive(Deserialize)]
struct Found {
    problems: Vec<String>,
    description: Option<String>,
    is_async: bool,
    modules: Vec<String>,
}

/// One result in the list of `tests.py`.
#[derive(Deserialize)]
struct Test {
    name: String,
    error: Option<String>,
}

/// Set by the tool if it rejects its arguments; the checks read it.
#[derive(Clone, Default)]
struct Probe(Arc<AtomicBool>);

/// Reads the result of a script of this crate.
fn read<T: for<'de> Deserialize<'de>>(outcome: &Outcome) -> Result<T, String> {
    match (&outcome.ended_by, &outcome.result) {
        (EndedBy::Finished, Some(Value::Json(json))) => {
            serde_json::from_str(json.get()).map_err(|error| error.to_string())
        }
        (EndedBy::Finished, _) => Err("the code ended the run".to_owned()),
        _ => Err(failure(outcome, SHOWN)),
    }
}

/// Returns the output of a call.
fn output(outcome: &Outcome, call: &CallContext) -> Result<AnyOutput, Failure> {
    match &outcome.ended_by {
        EndedBy::Finished => {}
        EndedBy::Raised(exception) if exception.kind == "ToolError" => {
            if let Some(probe) = call.get::<Probe>() {
                probe.0.store(true, Ordering::Relaxed);
            }
            return Err(Failure::Code(shortened(&exception.message, SHOWN / 4)));
        }
        EndedBy::Exit(_) => return Err(Failure::Code("the code called `exit`".to_owned())),
        _ => return Err(Failure::Code(failure(outcome, SHOWN))),
    }
    let length = match &outcome.result {
        Some(value) => value.text().len(),
        None => outcome.stdout.len(),
    };
    // A part of the output would be a different result.
    if length > SHOWN {
        return Err(Failure::Code(format!(
            "returned {length} bytes, and a result has at most {SHOWN}; return a part or a summary"
        )));
    }
    match &outcome.result {
        Some(Value::Json(json)) => Ok(match serde_json::from_str::<String>(json.get()) {
            Ok(text) => AnyOutput::new(text),
            Err(_) => AnyOutput::new(json.clone()),
        }),
        Some(Value::Text(repr)) => Err(Failure::Code(format!(
            "returned {}, which has no exact form in JSON; return numbers, strings, booleans, lists, dicts or None, \
             such as `float(x)` for a number of numpy",
            shortened(repr, 200)
        ))),
        None if !outcome.stdout.is_empty() => Ok(AnyOutput::new(outcome.stdout.clone())),
        None => Ok(AnyOutput::new(RawValue::NULL.to_owned())),
    }
}

/// Returns the schema of the parameters, without additional properties.
fn parameters(schema: &Map<String, Json>) -> Result<Map<String, Json>, String> {
    let mut schema = schema.clone();
    let kind = schema.entry("type").or_insert_with(|| "object".into());
    if kind != "object" {
        return Err("schema: its `type` must be \"object\"".to_owned());
    }
    for key in [
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
    ] {
        if schema.contains_key(key) {
            return Err(format!(
                "schema: remove `{key}` from the root; describe each parameter in `properties`"
            ));
        }
    }
    let additional = schema.entry("additionalProperties").or_insert(false.into());
    if additional != &Json::Bool(false) {
        return Err("schema: `additionalProperties` must be false at the root".to_owned());
    }
    schema.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = schema["properties"].as_object() else {
        return Err("schema: `properties` must be an object".to_owned());
    };
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_key = |key: &str| (1..=64).contains(&key.len()) && key.bytes().all(is_part);
    if let Some(key) = properties.keys().find(|key| !is_key(key)) {
        return Err(format!(
            "schema: the key {key:?} must have 1 to 64 ASCII letters, digits or `_`"
        ));
    }
    let required = schema.get("required").and_then(Json::as_array);
    let mut required = required.into_iter().flatten().filter_map(Json::as_str);
    if let Some(key) = required.find(|key| !properties.contains_key(*key)) {
        return Err(format!(
            "schema: it requires {key:?}, which `properties` lacks"
        ));
    }
    Ok(schema)
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
