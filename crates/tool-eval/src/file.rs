//! [`EvalFile`]: cases and models in a TOML file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tool_agent::model::{Model, ModelError, ModelErrorKind};
use tool_agent::{Agent, Prices};
use tool_core::Registry;
use tool_core::dialect::{Dialect, NamedDialect};
use tool_dialects::server;

use crate::recordings::Replay;
use crate::storage::read_text;
use crate::summary::digest;
use crate::{Candidate, Case, Eval, EvalError, ExpectedCall, Order};

/// Cases and models from a file, such as `tools.eval.toml`. The [guide](crate::guide) lists its keys.
///
/// ```
/// use tool_eval::EvalFile;
///
/// let file = EvalFile::parse(
///     r#"
///     repeats = 3
///
///     [[models]]
///     name = "qwen3"
///     provider = "openai-chat"
///     url = "http://localhost:11434/v1"
///
///     [[cases]]
///     name = "half the volume"
///     says = "Half the volume, please"
///     calls = [{ tool = "set_volume", arguments = { percent = 50 } }]
///     "#,
///     "tools.eval.toml",
/// )?;
/// assert_eq!(file.eval.cases()[0].name(), "half the volume");
/// assert_eq!(file.models[0].name, "qwen3");
///
/// let error = EvalFile::parse("[[cases]]\nname = \"a\"\nsays = \"b\"\nexpected = []", "tools.eval.toml");
/// let error = error.unwrap_err().to_string();
/// assert!(error.starts_with("tools.eval.toml:4: case `a`: unknown field `expected`"), "{error}");
/// # Ok::<(), tool_eval::EvalError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvalFile {
    /// The cases with their settings. Register predicates with [`Eval::predicate`].
    pub eval: Eval,
    /// The models.
    pub models: Vec<ModelSettings>,
    /// The prices of models, by name. May include models that are not in the file.
    pub prices: BTreeMap<String, Prices>,
    /// The system prompt for every model.
    pub system: Option<String>,
    /// How much lower the rate of passed attempts may be than in the baseline, from 0 to 1. The default is 0.
    pub tolerance: f64,
    /// The file of the baseline. The default is `eval.lock.json` in the same folder.
    pub baseline: PathBuf,
}

/// Settings to ask a model.
///
/// ```
/// use tool_eval::ModelSettings;
///
/// let mut settings = ModelSettings::new("qwen3", "ollama")?;
/// settings.url = Some("http://llm.example.com:11434/v1".into());
/// assert!(ModelSettings::new("gpt-5.2", "open-ai").is_err());
/// # Ok::<(), tool_eval::EvalError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelSettings {
    /// The name in reports and baselines.
    pub name: String,
    /// The provider's name of the model. The default is [`name`](ModelSettings::name).
    pub model: String,
    /// The server, such as `ollama`, or the API that it has, such as `openai-chat`.
    pub provider: String,
    /// The URL of the server. The default is the provider's own.
    pub url: Option<String>,
    /// The environment variable that contains the key. The default is the provider's, for its own URL only.
    pub key_env: Option<String>,
    /// The system prompt.
    pub system: Option<String>,
    /// Maximum number of tokens in a response.
    pub max_tokens: Option<u32>,
    /// Further fields for the body of each request.
    pub fields: Map<String, Value>,
    /// The prices.
    pub prices: Option<Prices>,
    /// The file with recorded responses.
    pub recording: Option<PathBuf>,
}

impl ModelSettings {
    /// Creates the settings of a provider's model. The provider is the [name](tool_core::dialect::NamedDialect::name)
    /// of a dialect with an HTTP API, such as `openai-chat`, `anthropic` or `gemini-interactions`, or the
    /// [name](tool_dialects::server::Server::name) of a server, such as `ollama` or `groq`.
    ///
    /// # Errors
    ///
    /// Returns an error if the provider is unknown.
    pub fn new(
        name: impl Into<String>,
        provider: impl Into<String>,
    ) -> Result<ModelSettings, EvalError> {
        let (name, provider) = (name.into(), provider.into());
        dialect(&provider)?;
        Ok(ModelSettings {
            model: name.clone(),
            name,
            provider,
            url: None,
            key_env: None,
            system: None,
            max_tokens: None,
            fields: Map::new(),
            prices: None,
            recording: None,
        })
    }

    /// Returns the model with the tools of a registry. It answers from its [recording](ModelSettings::recording). The
    /// recording's file contains [`Recordings`](crate::Recordings), or an array of
    /// [`Recording`](tool_agent::testing::Recording)s written by hand.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no recording, or it can't be read or was made with other settings of the model.
    pub fn replayed(&self, registry: Registry) -> Result<Candidate, EvalError> {
        let Some(path) = &self.recording else {
            let message = format!("the model `{}` has no `recording`; add one", self.name);
            return Err(EvalError::new(message));
        };
        let replay = Replay::read(path)?;
        if let Replay::Attempts(recordings) = &replay
            && recordings.settings.as_ref() != Some(&self.digest())
        {
            let message = format!(
                "the settings of the model `{}` have changed since its responses were recorded; record them again",
                self.name
            );
            return Err(EvalError::of_file(path, message));
        }
        let mut candidate = self.with_model(registry, Unasked)?;
        candidate.replay = Some(replay);
        Ok(candidate)
    }

    /// Returns the model with the tools of a registry. It asks the server.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is invalid, or the key is missing in the environment.
    #[cfg(all(feature = "http", not(target_family = "wasm")))]
    pub fn live(&self, registry: Registry) -> Result<Candidate, EvalError> {
        let mut model = tool_agent::model::HttpModel::new(dialect(&self.provider)?, &self.model);
        if let Some(url) = &self.url {
            model = model.base_url(url);
        }
        if let Some(variable) = &self.key_env {
            model = model.key_from_env(variable);
        }
        if let Some(system) = &self.system {
            model = model.system(system);
        }
        if let Some(tokens) = self.max_tokens {
            model = model.max_tokens(tokens);
        }
        for (key, value) in &self.fields {
            model = model.field(key, value.clone());
        }
        model
            .check()
            .map_err(|error| EvalError::new(error.to_string()))?;
        self.with_model(registry, model)
    }

    fn with_model(
        &self,
        registry: Registry,
        model: impl Model + 'static,
    ) -> Result<Candidate, EvalError> {
        let dialect = dialect(&self.provider)?;
        let mut agent = Agent::new(registry, dialect, model);
        if let Some(prices) = self.prices {
            agent = agent.prices(prices);
        }
        Ok(Candidate::new(&self.name, agent))
    }

    /// Writes the responses of a report to the file of the [recording](ModelSettings::recording).
    ///
    /// # Errors
    ///
    /// Returns an error if the settings have no such file, it can't be written, or the report has no
    /// [recordings](crate::ModelReport::recordings).
    pub fn save(&self, report: &crate::ModelReport) -> Result<(), EvalError> {
        let (Some(path), Some(recordings)) = (&self.recording, report.recordings()) else {
            let message = format!("the model `{}` has no `recording`; add one", self.name);
            return Err(EvalError::new(message));
        };
        let mut recordings = recordings.clone();
        recordings.settings = Some(self.digest());
        recordings.write(path)
    }

    /// Returns a digest of the settings that the model's answers depend on, apart from requests.
    fn digest(&self) -> String {
        let settings = serde_json::json!([
            self.model,
            self.provider,
            self.system,
            self.max_tokens,
            self.fields
        ]);
        digest(&settings.to_string())
    }
}

/// A model that must not be asked, because its responses are recorded.
struct Unasked;

impl Model for Unasked {
    fn ask(&self, _: tool_agent::model::Request) -> tool_agent::model::ModelFuture<'_> {
        let error = ModelError::new(ModelErrorKind::Other, "the responses are recorded");
        Box::pin(std::future::ready(Err(error)))
    }
}

/// Returns the dialects of providers with an HTTP API, and servers, by their names.
fn dialects() -> impl Iterator<Item = (&'static str, &'static dyn Dialect)> {
    let is_asked = |known: &&NamedDialect| !known.is_strict && known.dialect.http_api().is_some();
    let known = tool_dialects::all().filter(is_asked);
    let known = known.map(|known| (known.name, known.dialect));
    known.chain(server::all().map(|server| (server.name(), server as _)))
}

fn dialect(provider: &str) -> Result<&'static dyn Dialect, EvalError> {
    let found = dialects().find(|(name, _)| *name == provider);
    found.map(|(_, dialect)| dialect).ok_or_else(|| {
        let mut names = Vec::new();
        for name in dialects().map(|(name, _)| format!("`{name}`")) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let names = names.join(", ");
        EvalError::new(format!(
            "there is no provider `{provider}`; use one of {names}"
        ))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    repeats: Option<Spanned<u32>>,
    concurrency: Option<Spanned<u32>>,
    max_rounds: Option<Spanned<u32>>,
    tolerance: Option<Spanned<f64>>,
    system: Option<String>,
    baseline: Option<PathBuf>,
    #[serde(default)]
    run: bool,
    #[serde(default)]
    results: Table,
    #[serde(default)]
    models: Vec<RawModel>,
    #[serde(default)]
    prices: BTreeMap<String, Spanned<RawPrices>>,
    #[serde(default)]
    cases: Vec<RawCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    name: Spanned<String>,
    model: Option<String>,
    provider: Spanned<String>,
    url: Option<String>,
    key_env: Option<String>,
    system: Option<String>,
    max_tokens: Option<u32>,
    #[serde(default)]
    fields: Table,
    recording: Option<PathBuf>,
}

/// In units of the currency per million tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPrices {
    input: f64,
    cached_input: Option<f64>,
    output: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    name: Spanned<String>,
    says: String,
    calls: Option<Vec<Spanned<RawCall>>>,
    order: Option<Order>,
    others: Option<Spanned<bool>>,
    #[serde(default)]
    forbidden: Vec<String>,
    predicate: Option<String>,
    #[serde(default)]
    results: Table,
    #[serde(default)]
    run: bool,
    max_rounds: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCall {
    tool: String,
    #[serde(default)]
    arguments: Table,
    #[serde(default)]
    accept: BTreeMap<String, Vec<Spanned<toml::Value>>>,
    #[serde(default)]
    ignore: Vec<String>,
}

/// Values that are converted to JSON.
type Table = BTreeMap<String, Spanned<toml::Value>>;

/// The position of a mistake in the text, and its description.
type Wrong = (Range<usize>, String);

impl EvalFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns an error with the line and the name of the case if the file can't be read, is not TOML, or contains an
    /// unknown key or an invalid value.
    pub fn read(path: impl AsRef<Path>) -> Result<EvalFile, EvalError> {
        let path = path.as_ref();
        EvalFile::parse(&read_text(path)?, path)
    }

    /// Reads the text of a file. Paths in it are relative to the folder of `path`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read`](EvalFile::read).
    pub fn parse(text: &str, path: impl AsRef<Path>) -> Result<EvalFile, EvalError> {
        let path = path.as_ref();
        let parsed = toml::from_str::<RawFile>(text);
        let wrong = match parsed {
            Ok(file) => match file.finish(text, path) {
                Ok(file) => return Ok(file),
                Err(wrong) => wrong,
            },
            Err(error) => (error.span().unwrap_or(0..0), error.message().to_owned()),
        };
        let (at, message) = wrong;
        let mut error = EvalError::new(message).in_file(path);
        error.line = Some(line(text, at.start));
        error.case = case_at(text, at.start);
        Err(error)
    }
}

/// Returns the line of a position, counted from 1.
fn line(text: &str, at: usize) -> usize {
    let before = text.as_bytes().iter().take(at);
    before.filter(|byte| **byte == b'\n').count() + 1
}

/// Returns the name of the case at a position.
fn case_at(text: &str, at: usize) -> Option<String> {
    // The parts that can be read are enough, even if the file is invalid.
    let (table, _) = DeTable::parse_recoverable(text);
    let mut last: Option<(usize, Option<String>)> = None;
    for (key, value) in table.get_ref() {
        let items: Vec<_> = match value.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            DeValue::Table(items) => items.iter().map(|(_, item)| item).collect(),
            _ => vec![value],
        };
        for item in items {
            let name = item
                .get_ref()
                .as_table()
                .and_then(|table| table.get("name"));
            let start = name.map_or(item.span().start, |name| {
                item.span().start.min(name.span().start)
            });
            if start <= at && last.as_ref().is_none_or(|(found, _)| *found <= start) {
                let name = name
                    .and_then(|name| name.get_ref().as_str())
                    .map(str::to_owned);
                last = Some((start, name.filter(|_| key.get_ref() == "cases")));
            }
        }
    }
    last?.1
}

impl RawFile {
    fn finish(self, text: &str, path: &Path) -> Result<EvalFile, Wrong> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut eval = Eval {
            repeats: within(self.repeats, "repeats", 1000)?,
            max_rounds: within(self.max_rounds, "max_rounds", 100)?,
            results: json_table(self.results)?,
            runs_tools: self.run,
            ..Eval::default()
        };
        if let Some(attempts) = within(self.concurrency, "concurrency", 64)? {
            eval = eval.concurrency(attempts as usize);
        }
        let mut prices = BTreeMap::new();
        for (name, raw) in self.prices {
            let span = raw.span();
            let found = raw
                .into_inner()
                .finish()
                .map_err(|message| (span, message))?;
            prices.insert(name, found);
        }
        let mut models: Vec<ModelSettings> = Vec::new();
        for raw in self.models {
            let span = raw.name.span();
            let mut model = raw.finish(folder)?;
            if models.iter().any(|other| other.name == model.name) {
                return Err((
                    span,
                    format!("another model has the name `{}`; rename one", model.name),
                ));
            }
            model.prices = prices.get(&model.name).copied();
            model.system = model.system.or_else(|| self.system.clone());
            models.push(model);
        }
        for raw in self.cases {
            let case = raw.finish(text)?;
            eval.cases.push(case);
        }
        if eval.cases.is_empty() {
            return Err((
                0..0,
                "the file has no cases; add a table `[[cases]]`".into(),
            ));
        }
        let tolerance = match self.tolerance {
            Some(tolerance) if (0.0..=1.0).contains(tolerance.get_ref()) => tolerance.into_inner(),
            Some(other) => return Err((other.span(), "`tolerance` must be from 0 to 1".into())),
            None => 0.0,
        };
        Ok(EvalFile {
            eval,
            models,
            prices,
            system: self.system,
            tolerance,
            baseline: folder.join(self.baseline.unwrap_or_else(|| "eval.lock.json".into())),
        })
    }
}

/// Checks a number of at least 1.
fn within(number: Option<Spanned<u32>>, key: &str, most: u32) -> Result<Option<u32>, Wrong> {
    match number {
        Some(number) if !(1..=most).contains(number.get_ref()) => {
            Err((number.span(), format!("`{key}` must be from 1 to {most}")))
        }
        number => Ok(number.map(Spanned::into_inner)),
    }
}

impl RawPrices {
    fn finish(self) -> Result<Prices, String> {
        /// A higher number is a mistake in the unit.
        const MOST: f64 = 1e6;
        let micros = |price: f64| {
            if !(0.0..=MOST).contains(&price) {
                let message = format!("a price must be from 0 to {MOST}, for a million tokens");
                return Err(message);
            }
            // The value was checked to be in range.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Ok((price * 1e6).round() as u64)
        };
        let prices = Prices::new(micros(self.input)?, micros(self.output)?);
        Ok(match self.cached_input {
            Some(price) => prices.cached_input(micros(price)?),
            None => prices,
        })
    }
}

impl RawModel {
    fn finish(self, folder: &Path) -> Result<ModelSettings, Wrong> {
        let span = self.provider.span();
        let settings = ModelSettings::new(self.name.into_inner(), self.provider.into_inner());
        let mut settings = settings.map_err(|error| (span, error.message))?;
        if let Some(model) = self.model {
            settings.model = model;
        }
        settings.url = self.url;
        settings.key_env = self.key_env;
        settings.system = self.system;
        settings.max_tokens = self.max_tokens;
        settings.fields = json_table(self.fields)?.into_iter().collect();
        settings.recording = self.recording.map(|path| folder.join(path));
        Ok(settings)
    }
}

impl RawCase {
    fn finish(self, text: &str) -> Result<Case, Wrong> {
        let span = self.name.span();
        let mut case = Case::new(self.name.into_inner(), self.says);
        if case.name.trim().is_empty() {
            return Err((span, "the name of the case is empty".into()));
        }
        case.line = Some(line(text, span.start));
        if let Some(calls) = self.calls {
            let calls = calls.into_iter().map(|call| {
                let line = line(text, call.span().start);
                let RawCall {
                    tool,
                    arguments,
                    accept,
                    ignore,
                } = call.into_inner();
                let arguments = json_table(arguments)?;
                let mut call =
                    ExpectedCall::new(tool, Value::Object(arguments.into_iter().collect()));
                for (parameter, values) in accept {
                    for value in values {
                        call = call.accept(&*parameter, json(value)?);
                    }
                }
                call.ignore = ignore;
                call.line = Some(line);
                Ok(call)
            });
            case.calls = Some(calls.collect::<Result<_, Wrong>>()?);
        }
        case.order = self.order.unwrap_or_default();
        if let Some(others) = &self.others
            && case.order == Order::Exact
        {
            let message =
                "`others` has no meaning for calls in an exact order; remove it, or set `order`";
            return Err((others.span(), message.into()));
        }
        case.others = self.others.map(Spanned::into_inner);
        case.forbidden = self.forbidden;
        case.predicate = self.predicate;
        case.results = json_table(self.results)?;
        case.runs_tools = self.run;
        case.max_rounds = within(self.max_rounds, "max_rounds", 100)?;
        Ok(case)
    }
}

fn json_table(table: Table) -> Result<BTreeMap<String, Value>, Wrong> {
    let json = table
        .into_iter()
        .map(|(key, value)| Ok((key, json(value)?)));
    json.collect()
}

/// Converts a value to JSON.
fn json(value: Spanned<toml::Value>) -> Result<Value, Wrong> {
    fn convert(value: toml::Value) -> Result<Value, &'static str> {
        Ok(match value {
            toml::Value::String(text) => text.into(),
            toml::Value::Integer(number) => number.into(),
            toml::Value::Float(number) => Number::from_f64(number)
                .ok_or("JSON has no such number; use a finite one")?
                .into(),
            toml::Value::Boolean(value) => value.into(),
            toml::Value::Datetime(_) => {
                return Err("JSON has no dates; write the date as a string");
            }
            toml::Value::Array(items) => {
                items.into_iter().map(convert).collect::<Result<_, _>>()?
            }
            toml::Value::Table(members) => {
                let members = members.into_iter();
                let members = members.map(|(key, value)| Ok((key, convert(value)?)));
                Value::Object(members.collect::<Result<_, &str>>()?)
            }
        })
    }
    let span = value.span();
    convert(value.into_inner()).map_err(|message| (span, message.into()))
}
