//! The commands of [`Cli`], and which function runs each.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use clap_complete::Shell;
use tool_core::Registry;
use tool_docs::Docs;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::registry::inspected;
use crate::{call, check, completions, listing, output, providers, skill};

// Here and not in `cli.rs`, because the commands take a `Cli`.
impl Cli {
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
    /// let cli = tool_cli::Cli::linked().name("desk tools");
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
            #[cfg(feature = "import")]
            Some(("import", matches)) => return crate::import::run(matches),
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
            "completions" => completions::write(&self, &registry, matches),
            "skill" => output::document(matches, &skill::page(&registry, &name)),
            #[cfg(feature = "mcp")]
            "install" => crate::install::run(matches, &self.words()),
            other => Err(Failure::wrong(format!("there is no command `{other}`"))),
        }
    }
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
            .arg(flag(
                "html",
                "As a page of HTML; also for a file that ends in .html",
            ))
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
    #[cfg(feature = "import")]
    commands.push(crate::import::command());
    #[cfg(feature = "mcp")]
    commands.extend([crate::serve::command(), crate::install::command()]);
    #[cfg(feature = "web")]
    commands.push(crate::web::command());
    commands.shrink_to_fit();
    commands
}

fn docs(registry: &Registry, matches: &ArgMatches) -> Result<(), Failure> {
    let mut docs = Docs::new(registry);
    if let Some(title) = matches.get_one::<String>("title") {
        docs = docs.title(title);
    }
    let file = matches.get_one::<PathBuf>("output");
    let ending = file.and_then(|file| file.extension());
    let is_page = ending.is_some_and(|ending| ending == "html" || ending == "htm");
    let page = if is_page || matches.get_flag("html") {
        docs.to_html()
    } else {
        docs.to_markdown()
    };
    output::document(matches, &page)
}
