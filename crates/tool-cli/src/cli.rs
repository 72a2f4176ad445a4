//! [`Cli`]: the commands, with the program's tools and their context values.

use std::any::Any;
use std::error::Error;
use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use clap_complete::Shell;
use tokio::runtime::Runtime;
use tool_core::{Registry, RegistryBuilder, ToolCall, ToolEntry};

use crate::terminal::{BAD, Terminal};
use crate::{call, check, flags, listing, output, providers, skill};

/// Builds the tools.
type Build = Box<dyn Fn() -> RegistryBuilder>;

/// Adds a context value.
type Open = Box<dyn FnOnce(RegistryBuilder) -> Result<RegistryBuilder, Failure>>;

/// A command line for the tools of a program.
///
/// ```no_run
/// use tool_core::tool;
///
/// struct Desk {
///     notes: Vec<String>,
/// }
///
/// /// Searches the notes.
/// #[tool(read_only)]
/// fn search_notes(query: &str, #[param(context)] desk: &Desk) -> Vec<String> {
///     desk.notes.iter().filter(|note| note.contains(query)).cloned().collect()
/// }
///
/// fn main() -> std::process::ExitCode {
///     tool_cli::Cli::linked()
///         .context(|| Desk { notes: vec!["Water the plants.".to_owned()] })
///         .lock("tools.lock.json")
///         .run()
/// }
/// ```
#[must_use = "call `run`"]
pub struct Cli {
    build: Build,
    contexts: Vec<Open>,
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) locks: Vec<PathBuf>,
    pub(crate) catalogues: Vec<PathBuf>,
    pub(crate) budget: Option<usize>,
    #[cfg(feature = "eval")]
    pub(crate) eval: crate::eval::Settings,
}

/// The reason why a command fails, with an exit code other than 0.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A tool or a check failed.
    Failed(String),
    /// The command line or the arguments are wrong.
    Wrong(String),
    /// A person cancelled the call.
    Cancelled(String),
    /// The reader of the output is gone, which is not an error.
    Closed,
}

impl Failure {
    pub(crate) fn failed(error: impl Display) -> Failure {
        Failure::Failed(error.to_string())
    }

    pub(crate) fn wrong(error: impl Display) -> Failure {
        Failure::Wrong(error.to_string())
    }

    /// Writes the message, and returns the exit code.
    fn end(self) -> ExitCode {
        let (code, message) = match self {
            Failure::Closed => return ExitCode::SUCCESS,
            Failure::Failed(message) => (1, message),
            Failure::Wrong(message) => (2, message),
            Failure::Cancelled(message) => (130, message),
        };
        if !message.is_empty() {
            let mut out = Terminal::stderr();
            // If nobody can read the error, there is still the exit code.
            let _ = out.styled(BAD, "error");
            let _ = writeln!(out, ": {message}");
        }
        ExitCode::from(code)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::failed(format!("can't write the output: {error}")),
        }
    }
}

impl Cli {
    /// Creates the command line of all tools that are [linked](Registry::linked) into the program.
    pub fn linked() -> Cli {
        Cli::new(|| Registry::builder().linked())
    }

    /// Creates the command line of chosen tools. The closure builds their registry, with settings such as hooks and
    /// timeouts.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let cli = tool_cli::Cli::new(|| Registry::builder().tools(tools![add]).output_cap(10_000));
    /// let matches = cli.command().try_get_matches_from(["app", "list"])?;
    /// assert_eq!(matches.subcommand_name(), Some("list"));
    /// # Ok::<(), tool_cli::clap::Error>(())
    /// ```
    pub fn new(build: impl Fn() -> RegistryBuilder + 'static) -> Cli {
        Cli {
            build: Box::new(build),
            contexts: Vec::new(),
            name: None,
            version: None,
            locks: Vec::new(),
            catalogues: Vec::new(),
            budget: None,
            #[cfg(feature = "eval")]
            eval: crate::eval::Settings::default(),
        }
    }

    /// Sets how to create a [context value](RegistryBuilder::context) of the tools. The closure runs only if a command
    /// calls tools.
    pub fn context<T: Any + Send + Sync>(self, open: impl FnOnce() -> T + 'static) -> Cli {
        self.opened(|builder| Ok(builder.context(open())))
    }

    /// Sets how to create a context value if that can fail. An error ends the command with its message and code 1.
    ///
    /// ```no_run
    /// use std::fs::File;
    ///
    /// tool_cli::Cli::linked().try_context(|| File::open("desk.db")).run();
    /// ```
    pub fn try_context<T, E>(self, open: impl FnOnce() -> Result<T, E> + 'static) -> Cli
    where
        T: Any + Send + Sync,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.opened(|builder| match open() {
            Ok(value) => Ok(builder.context(value)),
            Err(error) => {
                let (name, error) = (std::any::type_name::<T>(), error.into());
                Err(Failure::Failed(format!(
                    "can't create the context value {name}: {error}"
                )))
            }
        })
    }

    fn opened(
        mut self,
        open: impl FnOnce(RegistryBuilder) -> Result<RegistryBuilder, Failure> + 'static,
    ) -> Cli {
        self.contexts.push(Box::new(open));
        self
    }

    /// Sets the name of the program in its help. The default is the name of the executable file.
    pub fn name(mut self, name: impl Into<String>) -> Cli {
        self.name = Some(name.into());
        self
    }

    /// Sets the version that `--version` writes.
    ///
    /// ```
    /// let cli = tool_cli::Cli::linked().name("desk").version(env!("CARGO_PKG_VERSION"));
    /// assert!(cli.command().render_version().starts_with("desk "));
    /// ```
    pub fn version(mut self, version: impl Into<String>) -> Cli {
        self.version = Some(version.into());
        self
    }

    /// Adds a [lock file](tool_core::lock) that `check` compares with the tools.
    pub fn lock(mut self, path: impl Into<PathBuf>) -> Cli {
        self.locks.push(path.into());
        self
    }

    /// Adds a [catalogue](tool_core::docs) that `check` compares with the tools.
    pub fn catalogue(mut self, path: impl Into<PathBuf>) -> Cli {
        self.catalogues.push(path.into());
        self
    }

    /// Sets the maximum size of all tools together, as counted by [`Budget::bytes`](tool_core::budget::Budget::bytes).
    /// `check` fails if they are larger.
    pub fn budget_bytes(mut self, bytes: usize) -> Cli {
        self.budget = Some(bytes);
        self
    }

    /// Returns the commands, so that you can add them to your own clap program or change their help.
    ///
    /// They don't contain the flags of the tools. [`execute`](Cli::execute) reads those once it knows which tool is
    /// called, so programs with many tools start fast.
    pub fn command(&self) -> Command {
        let name = self.program();
        let mut command = Command::new(name)
            .about("Lists, checks and calls the tools of this program")
            .arg_required_else_help(true)
            .subcommand_required(true)
            .subcommands(commands());
        if let Some(version) = &self.version {
            command = command.version(version.clone());
        }
        command
    }

    /// Runs the parsed command, and returns the exit code of the program.
    ///
    /// ```no_run
    /// use tool_cli::clap::Command;
    ///
    /// let cli = tool_cli::Cli::linked();
    /// let app = Command::new("desk").subcommand(cli.command().name("tools"));
    /// if let Some(("tools", matches)) = app.get_matches().subcommand() {
    ///     std::process::exit(i32::from(cli.execute(matches) != std::process::ExitCode::SUCCESS));
    /// }
    /// ```
    pub fn execute(self, matches: &ArgMatches) -> ExitCode {
        match self.dispatch(matches) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.end(),
        }
    }

    /// Parses the command line of the program, runs the command, and returns the exit code. Ends the program with code
    /// 2 if the command line is wrong.
    pub fn run(self) -> ExitCode {
        let matches = self.command().get_matches();
        self.execute(&matches)
    }

    fn dispatch(self, matches: &ArgMatches) -> Result<(), Failure> {
        let builder = (self.build)();
        let (command, matches) = match matches.subcommand() {
            Some(("call", matches)) => return call::run(self, builder, matches),
            #[cfg(feature = "eval")]
            Some(("eval", matches)) => return crate::eval::run(self, builder, matches),
            #[cfg(feature = "mcp")]
            Some(("mcp", matches)) => return crate::serve::run(self, builder, matches),
            #[cfg(feature = "web")]
            Some(("web", matches)) => return crate::web::run(self, builder, matches),
            Some(command) => command,
            None => return Err(Failure::wrong("a command is missing; `--help` lists them")),
        };
        let name = self.program();
        let registry = inspected(builder)?;
        match command {
            "list" => listing::list(&registry, matches),
            "show" => listing::show(&registry, matches, &name),
            "docs" => docs(&registry, matches),
            "render" => providers::render(&registry, matches),
            "check" => check::run(&self, &registry),
            "completions" => self.complete(&registry, matches),
            "skill" => output::document(matches, &skill::page(&registry, &name)),
            #[cfg(feature = "mcp")]
            "install" => crate::install::run(matches, &name),
            other => Err(Failure::wrong(format!("there is no command `{other}`"))),
        }
    }

    /// Returns the name that was set for the program, or the name of the executable file.
    pub(crate) fn program(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let path = std::env::args_os().next().map(PathBuf::from);
            let name = path.as_deref().and_then(|path| path.file_stem());
            name.map_or("app".into(), |name| name.to_string_lossy().into_owned())
        })
    }

    /// Builds the registry with the context values.
    pub(crate) fn registry(self, mut builder: RegistryBuilder) -> Result<Registry, Failure> {
        for open in self.contexts {
            builder = open(builder)?;
        }
        builder.build().map_err(Failure::failed)
    }

    fn complete(&self, registry: &Registry, matches: &ArgMatches) -> Result<(), Failure> {
        let Some(&shell) = matches.get_one::<Shell>("shell") else {
            return Err(Failure::wrong("name a shell"));
        };
        let tools = registry.specs();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
        let tools = tools.iter().map(|tool| flags::completed(tool));
        let mut command = self.command();
        command = command.mut_subcommand("call", |call| {
            call.allow_external_subcommands(false).subcommands(tools)
        });
        command = command.mut_subcommand("show", |show| {
            show.mut_arg("name", |arg| {
                arg.value_parser(PossibleValuesParser::new(names))
            })
        });
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, name, &mut script);
        std::io::stdout().write_all(&script)?;
        Ok(())
    }
}

/// Builds the registry without the context values.
pub(crate) fn inspected(builder: RegistryBuilder) -> Result<Registry, Failure> {
    builder.build_without_context().map_err(Failure::failed)
}

/// Finds a tool by its name. The name may contain `-` in place of `_`.
pub(crate) fn find(registry: &Registry, name: &str) -> Result<ToolEntry, Failure> {
    let found = registry.get(name);
    let found = found.or_else(|| registry.get(&name.replace('-', "_")));
    found.ok_or_else(|| {
        // The registry suggests similar names, as it does for models.
        let error = registry.validate(&ToolCall::new("", name, "{}")).err();
        Failure::Wrong(error.map_or_else(String::new, |error| error.message().to_owned()))
    })
}

/// Creates a runtime with this number of threads, or one on the current thread if the target has no others.
pub(crate) fn runtime(threads: usize) -> Result<Runtime, Failure> {
    #[cfg(not(target_family = "wasm"))]
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    #[cfg(target_family = "wasm")]
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let built = builder.worker_threads(threads).enable_all().build();
    built.map_err(|error| Failure::failed(format!("can't start the runtime: {error}")))
}

fn commands() -> Vec<Command> {
    let command = |name: &'static str, about: &'static str| Command::new(name).about(about);
    let out = || {
        Arg::new("output")
            .long("output")
            .short('o')
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .value_parser(value_parser!(PathBuf))
            .help("Write to this file instead of standard output")
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    let tag = Arg::new("tag")
        .long("tag")
        .value_name("TAG")
        .action(ArgAction::Append);
    let shell = Arg::new("shell").value_name("SHELL").required(true);
    let provider = Arg::new("provider").value_name("PROVIDER").required(true);
    let mut commands = vec![
        command("list", "Lists the tools").arg(tag.help("List the tools with this tag")),
        command("show", "Shows what is known about a tool")
            .arg(Arg::new("name").value_name("NAME").required(true)),
        call::command(),
        command("render", "Writes the tools as a provider is sent them")
            .arg(provider.value_parser(PossibleValuesParser::new(providers::names())))
            .arg(flag("strict", "In the provider's strict mode"))
            .arg(flag("sizes", "Write the size of each tool instead"))
            .arg(out()),
        command("docs", "Writes the catalogue of the tools, as Markdown")
            .arg(flag("html", "As a page of HTML"))
            .arg(
                Arg::new("title")
                    .long("title")
                    .value_name("TITLE")
                    .help("The title of the page"),
            )
            .arg(out()),
        command(
            "check",
            "Checks examples, lock files, catalogues and budgets",
        ),
        command(
            "completions",
            "Writes a script that completes names and flags",
        )
        .arg(shell.value_parser(value_parser!(Shell))),
        command(
            "skill",
            "Writes a page that tells a coding agent how to use this program",
        )
        .arg(out()),
    ];
    #[cfg(feature = "eval")]
    commands.push(crate::eval::command());
    #[cfg(feature = "mcp")]
    commands.extend([crate::serve::command(), crate::install::command()]);
    #[cfg(feature = "web")]
    commands.push(crate::web::command());
    commands.shrink_to_fit();
    commands
}

fn docs(registry: &Registry, matches: &ArgMatches) -> Result<(), Failure> {
    let mut docs = registry.docs();
    if let Some(title) = matches.get_one::<String>("title") {
        docs = docs.title(title);
    }
    let page = if matches.get_flag("html") {
        docs.to_html()
    } else {
        docs.to_markdown()
    };
    output::document(matches, &page)
}
