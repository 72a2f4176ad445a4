//! [`Cli`]: the program's tools, their context values, and the settings of the commands.

use std::any::Any;
use std::error::Error;
use std::path::PathBuf;

use tool_core::{Registry, RegistryBuilder};

#[cfg(feature = "eval")]
use crate::eval::settings::Settings;
use crate::failure::Failure;

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
    pub(crate) build: Build,
    contexts: Vec<Open>,
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) locks: Vec<PathBuf>,
    pub(crate) catalogues: Vec<PathBuf>,
    pub(crate) budget: Option<usize>,
    #[cfg(feature = "eval")]
    pub(crate) eval: Settings,
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
            eval: Settings::default(),
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

    /// Sets the name of the program in its help. The default is the name of the executable file. If the commands are a
    /// subcommand of your program, name both, as in `app tools`, so that examples, completions and the entries of clients
    /// lead to it.
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

    /// Adds a [lock file](tool_docs::lock) that `check` compares with the tools.
    pub fn lock(mut self, path: impl Into<PathBuf>) -> Cli {
        self.locks.push(path.into());
        self
    }

    /// Adds a [catalogue](tool_docs::Docs) that `check` compares with the tools.
    pub fn catalogue(mut self, path: impl Into<PathBuf>) -> Cli {
        self.catalogues.push(path.into());
        self
    }

    /// Sets the maximum size of all tools together, as counted by [`Budget::bytes`](tool_docs::Budget::bytes).
    /// `check` fails if they are larger.
    pub fn budget_bytes(mut self, bytes: usize) -> Cli {
        self.budget = Some(bytes);
        self
    }

    /// Returns the name that was set for the program, or the name of the executable file.
    pub(crate) fn program(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let path = std::env::args_os().next().map(PathBuf::from);
            let name = path.as_deref().and_then(|path| path.file_stem());
            name.map_or("app".into(), |name| name.to_string_lossy().into_owned())
        })
    }

    /// Returns the words that run the commands: the program, and the subcommands above them.
    pub(crate) fn words(&self) -> Vec<String> {
        let program = self.program();
        program.split_whitespace().map(str::to_owned).collect()
    }

    /// Builds the registry with the context values.
    pub(crate) fn registry(self, mut builder: RegistryBuilder) -> Result<Registry, Failure> {
        for open in self.contexts {
            builder = open(builder)?;
        }
        builder.build().map_err(Failure::failed)
    }
}
