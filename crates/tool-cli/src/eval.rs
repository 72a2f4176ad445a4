//! `eval`: checks whether models call the right tools.

pub(crate) mod settings;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use tool_agent::Agent;
use tool_agent::model::Retry;
use tool_core::{Registry, RegistryBuilder};
use tool_eval::{
    Attempt, Baseline, Candidate, Eval, EvalError, EvalFile, ModelSettings, Report, bfcl,
};

use self::settings::{OwnModel, Predicate};
use crate::cli::Cli;
use crate::failure::Failure;
use crate::output;
use crate::registry::{inspected, runtime};
use crate::terminal::{BAD, GOOD, Terminal};

/// The file of cases, unless the program or the command line names another one.
const DEFAULT: &str = "tools.eval.toml";

/// Maximum number of retries of a request that failed temporarily.
const RETRIES: u32 = 3;

/// Evaluations of models, with the feature `eval`.
impl Cli {
    /// Sets the file of cases that `eval` reads, in place of `tools.eval.toml` in the working directory. It is an
    /// [`EvalFile`](tool_eval::EvalFile).
    pub fn eval_file(mut self, path: impl Into<PathBuf>) -> Cli {
        self.eval.file = Some(path.into());
        self
    }

    /// Registers a check that cases can name, like [`Eval::predicate`](tool_eval::Eval::predicate).
    ///
    /// ```no_run
    /// tool_cli::Cli::linked()
    ///     .eval_predicate("is_short", |attempt| match attempt.answer().lines().count() {
    ///         ..=20 => Ok(()),
    ///         lines => Err(format!("the answer has {lines} lines")),
    ///     })
    ///     .run();
    /// ```
    pub fn eval_predicate(
        mut self,
        name: impl Into<String>,
        check: impl Fn(&Attempt<'_>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Cli {
        let name = name.into();
        let register: Predicate = Box::new(move |eval| eval.predicate(name, check));
        self.eval.predicates.push(register);
        self
    }

    /// Adds a model that `eval` runs in addition to the file's: any [`Agent`] with the tools of the program.
    ///
    /// ```no_run
    /// use tool_agent::Agent;
    /// use tool_agent::model::HttpModel;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// tool_cli::Cli::linked()
    ///     .eval_model("local", |registry| {
    ///         let dialect = OpenAiChat::default();
    ///         let model = HttpModel::new(&dialect, "qwen3").base_url("http://localhost:11434/v1");
    ///         Agent::new(registry, dialect, model)
    ///     })
    ///     .run();
    /// ```
    pub fn eval_model(
        mut self,
        name: impl Into<String>,
        agent: impl Fn(Registry) -> Agent + 'static,
    ) -> Cli {
        self.eval.models.push((name.into(), Box::new(agent)));
        self
    }
}

pub(crate) fn command() -> Command {
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let path = |arg: Arg| {
        arg.value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    let number = |arg: Arg, most: i64| arg.value_parser(value_parser!(u32).range(1..=most));
    Command::new("eval")
        .about("Asks models what users say, and compares their calls with the expected ones")
        .arg(path(Arg::new("file").value_name("FILE")).help("The cases [default: tools.eval.toml]"))
        .arg(
            value(
                "model",
                "NAME",
                "Ask this model of the file; with --url, its name at the server",
            )
            .action(ArgAction::Append),
        )
        .arg(
            value(
                "provider",
                "NAME",
                "With --model: the server, such as ollama, or its API [default: openai-chat]",
            )
            .requires("model"),
        )
        .arg(value("url", "URL", "With --model: the URL of the server").requires("model"))
        .arg(
            value(
                "key-env",
                "VARIABLE",
                "With --model: the environment variable with the key",
            )
            .requires("model"),
        )
        .arg(value("case", "NAME", "Try this case only").action(ArgAction::Append))
        .arg(number(
            value("repeats", "COUNT", "Try each case this often"),
            1000,
        ))
        .arg(number(
            value(
                "concurrency",
                "COUNT",
                "Make this many attempts at the same time",
            ),
            64,
        ))
        .arg(flag("run", "Run the tools, with all their effects"))
        .arg(flag("live", "Ask models whose responses are recorded"))
        .arg(
            flag("record", "Ask the models, and record their responses")
                .conflicts_with_all(["case", "bfcl"]),
        )
        .arg(
            flag("update", "Write the baseline instead of comparing with it")
                .conflicts_with_all(["case", "bfcl"]),
        )
        .arg(
            value(
                "format",
                "FORMAT",
                "text, markdown or json [default: text at a terminal, else json]",
            )
            .value_parser(PossibleValuesParser::new(["text", "markdown", "json"]))
            .hide_possible_values(true),
        )
        .arg(
            path(value(
                "bfcl",
                "FILE",
                "Entries of the Berkeley Function Calling Leaderboard as cases",
            ))
            .conflicts_with("case"),
        )
        .arg(
            path(value(
                "answers",
                "FILE",
                "Their possible answers [default: in possible_answer]",
            ))
            .requires("bfcl"),
        )
        .arg(path(value(
            "html",
            "FILE",
            "Write the report to this file as a page of HTML, too",
        )))
        .arg(path(
            value(
                "output",
                "FILE",
                "Write to this file instead of standard output",
            )
            .short('o'),
        ))
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Failure {
        Failure::wrong(error)
    }
}

pub(crate) fn run(
    mut cli: Cli,
    builder: RegistryBuilder,
    matches: &ArgMatches,
) -> Result<(), Failure> {
    let settings = std::mem::take(&mut cli.eval);
    let path = |name: &str| matches.get_one::<PathBuf>(name);
    let (entries, given) = (path("bfcl"), path("file").cloned().or(settings.file));
    // The leaderboard brings its own cases, so the file is optional and adds only models.
    let file = match (&given, entries) {
        (Some(path), _) => Some(EvalFile::read(path)?),
        (None, Some(_)) if !PathBuf::from(DEFAULT).exists() => None,
        (None, _) => Some(EvalFile::read(DEFAULT)?),
    };
    let place = entries
        .or(given.as_ref())
        .cloned()
        .unwrap_or_else(|| DEFAULT.into());
    let located = |error: EvalError| Failure::wrong(error.in_file(&place));
    let mut eval = match entries {
        Some(entries) => Eval::new(bfcl::read(entries, path("answers").map(|path| &**path))?),
        None => file
            .as_ref()
            .map(|file| file.eval.clone())
            .unwrap_or_default(),
    };
    for register in settings.predicates {
        eval = register(eval);
    }
    if let Some(names) = matches.get_many::<String>("case") {
        eval = eval.only(names).map_err(located)?;
    }
    if let Some(&repeats) = matches.get_one::<u32>("repeats") {
        eval = eval.repeats(repeats);
    }
    if let Some(&attempts) = matches.get_one::<u32>("concurrency") {
        eval = eval.concurrency(attempts as usize);
    }
    if matches.get_flag("run") {
        eval = eval.run_tools();
    }
    let registry = if eval.runs_tools() {
        cli.registry(builder)?
    } else {
        inspected(builder)?
    };
    eval.check(&registry).map_err(located)?;

    let models = models(file.as_ref(), &settings.models, &registry, matches)?;
    let candidates = models.iter().map(|(candidate, _)| candidate.clone());
    let mut report = runtime(2)?
        .block_on(eval.run(candidates))
        .map_err(located)?;

    let incomplete = report.models.iter().find_map(|model| {
        let mut attempts = model.cases.iter().flat_map(|case| &case.attempts);
        let error = attempts.find_map(|attempt| attempt.error.as_ref())?;
        Some(format!("{} did not answer: {error}", model.name))
    });
    let (is_updating, is_recording) = (matches.get_flag("update"), matches.get_flag("record"));
    if let Some(error) = &incomplete
        && (is_updating || is_recording)
    {
        return Err(Failure::Failed(format!(
            "nothing is written, because {error}"
        )));
    }
    if is_recording {
        for ((_, settings), model) in models.iter().zip(&report.models) {
            settings
                .iter()
                .try_for_each(|settings| settings.save(model))?;
        }
    }
    let baseline = file.as_ref().filter(|_| entries.is_none());
    if let Some(file) = baseline {
        let mut saved = Baseline::read(&file.baseline)?;
        if is_updating {
            let baseline = saved.get_or_insert_default();
            baseline.update(&report);
            baseline.write(&file.baseline).map_err(Failure::failed)?;
        }
        if let Some(saved) = &saved {
            saved.compare(&mut report, file.tolerance);
        }
    }
    if let Some(path) = path("html") {
        output::save(path, &report.to_html())?;
    }
    write(&report, matches)?;
    let failures = match entries {
        // A leaderboard measures; only missing results make it fail.
        Some(_) => incomplete.into_iter().collect(),
        None => report.failures(),
    };
    if failures.is_empty() || is_updating {
        return Ok(());
    }
    Err(Failure::Failed(failures.join("\n  ")))
}

/// Returns the models to run, with the settings of their recordings.
fn models(
    file: Option<&EvalFile>,
    own: &[OwnModel],
    registry: &Registry,
    matches: &ArgMatches,
) -> Result<Vec<(Candidate, Option<ModelSettings>)>, Failure> {
    let text = |name: &str| matches.get_one::<String>(name);
    let names: Vec<&String> = matches.get_many("model").into_iter().flatten().collect();
    let is_given = ["provider", "url", "key-env"]
        .iter()
        .any(|name| text(name).is_some());
    let (is_live, is_recorded) = (matches.get_flag("live"), matches.get_flag("record"));
    let live = |settings: &ModelSettings| {
        let candidate = settings.live(registry.clone())?.retry(Retry::new(RETRIES));
        Ok::<_, EvalError>(if is_recorded {
            candidate.record()
        } else {
            candidate
        })
    };
    if is_given {
        let models = names.into_iter().map(|name| {
            let provider = text("provider").map_or("openai-chat", |provider| provider);
            let mut settings = ModelSettings::new(name, provider)?;
            settings.url = text("url").cloned();
            settings.key_env = text("key-env").cloned();
            settings.system = file.and_then(|file| file.system.clone());
            settings.prices = file.and_then(|file| file.prices.get(name).copied());
            if is_recorded {
                let message = "--record needs a model of the file, with a `recording`";
                return Err(Failure::wrong(message));
            }
            Ok((live(&settings)?, None))
        });
        return models.collect();
    }
    let mut models = Vec::new();
    let is_chosen = |name: &String| names.is_empty() || names.contains(&name);
    for settings in file.into_iter().flat_map(|file| &file.models) {
        if !is_chosen(&settings.name) {
            continue;
        }
        if is_recorded && settings.recording.is_none() {
            let name = &settings.name;
            return Err(Failure::wrong(format!(
                "the model `{name}` has no `recording`; add one"
            )));
        }
        let candidate = if settings.recording.is_none() || is_live || is_recorded {
            live(settings)?
        } else {
            settings.replayed(registry.clone())?
        };
        models.push((candidate, is_recorded.then(|| settings.clone())));
    }
    for (name, agent) in own.iter().filter(|(name, _)| is_chosen(name)) {
        models.push((Candidate::new(name, agent(registry.clone())), None));
    }
    let is_known = |name: &&String| models.iter().any(|(model, _)| model.name() == **name);
    if let Some(name) = names.iter().find(|name| !is_known(name)) {
        let message = format!(
            "there is no model `{name}` in the file; add it, or name its server with --url"
        );
        return Err(Failure::wrong(message));
    }
    if models.is_empty() {
        let message = "there is no model to ask; add a table `[[models]]` to the file, or use --model and --url";
        return Err(Failure::wrong(message));
    }
    Ok(models)
}

/// Writes the report to standard output, or to the file given by `--output`.
fn write(report: &Report, matches: &ArgMatches) -> Result<(), Failure> {
    let is_file = matches.get_one::<PathBuf>("output").is_some();
    let format = matches.get_one::<String>("format").map(String::as_str);
    let is_text = !is_file && std::io::stdout().is_terminal();
    match format.unwrap_or(if is_text { "text" } else { "json" }) {
        "markdown" => output::document(matches, &report.to_markdown()),
        "text" if is_file => output::document(matches, &report.to_string()),
        "text" => {
            let mut out = Terminal::stdout();
            for line in report.to_string().lines() {
                let passed = line.strip_prefix("  passed");
                let failed = line
                    .split_once(" passed: ")
                    .filter(|_| line.starts_with("  "));
                match (passed, failed) {
                    (Some(rest), _) => {
                        write!(out, "  ")?;
                        out.styled(GOOD, "passed")?;
                        writeln!(out, "{rest}")?;
                    }
                    (None, Some((count, rest))) => {
                        write!(out, "  ")?;
                        out.styled(BAD, &format!("{} passed", count.trim_start()))?;
                        writeln!(out, ": {rest}")?;
                    }
                    (None, None) => writeln!(out, "{line}")?,
                }
            }
            Ok(())
        }
        _ => {
            let json = serde_json::to_string_pretty(report).map_err(Failure::failed)?;
            output::document(matches, &(json + "\n"))
        }
    }
}
