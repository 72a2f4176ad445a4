//! Shells for the commands of a model. You provide the shell.
//!
//! This crate runs no commands itself. A [`Shell`] decides where they run and what they can reach. The example
//! `contained_shell` runs them in Linux namespaces by bubblewrap, and shows the command line for a container.
//!
//! [`BashTool`] is the body of Anthropic's `bash`, [`ShellTool`] the body of OpenAI's `shell`.

use std::error::Error;
use std::future::Future;
use std::time::{Duration, Instant};
use std::{fmt, io};

use tool_core::toolset;
use tool_dialects::{anthropic, openai};

/// Maximum number of commands in one call of [`ShellTool`].
const COMMANDS: usize = 32;

/// Runs a model's commands in a confined environment.
///
/// Treat a command as hostile, because a page that the model read may have dictated it. Run it in a container, a
/// virtual machine or a namespace, without access to the network or your program's keys.
///
/// ```
/// use std::io;
///
/// use tool_files::shell::{Limits, Output, Shell};
///
/// /// Knows one command and runs nothing.
/// struct Echo;
///
/// impl Shell for Echo {
///     async fn run(&self, command: &str, _limits: &Limits) -> io::Result<Output> {
///         Ok(match command.strip_prefix("echo ") {
///             Some(text) => Output::exited(0, format!("{text}\n"), ""),
///             None => Output::exited(127, "", "command not found"),
///         })
///     }
/// }
/// # let _ = Echo;
/// ```
pub trait Shell: Send + Sync + 'static {
    /// Runs a command until it ends or exceeds a limit. A failure of the command itself is part of the output.
    ///
    /// Dropping the future must end the command.
    ///
    /// # Errors
    ///
    /// If the command can't be started. The model does not see the error.
    fn run(
        &self,
        command: &str,
        limits: &Limits,
    ) -> impl Future<Output = io::Result<Output>> + Send;

    /// Restarts the shell, if commands share state such as the working folder. Does nothing by default.
    ///
    /// # Errors
    ///
    /// If no shell could be started. The model does not see the error.
    fn restart(&self) -> impl Future<Output = io::Result<()>> + Send {
        async { Ok(()) }
    }
}

/// Limits of a command. A [`Shell`] has to end a command at its time limit, and to stop reading at the byte limit.
///
/// ```
/// use std::time::Duration;
///
/// use tool_files::shell::Limits;
///
/// let limits = Limits::default().time(Duration::from_secs(5)).variable("LANG", "C.UTF-8");
/// assert_eq!(limits.output_bytes, 64 * 1024);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum wall-clock time. The default is 30 seconds.
    pub time: Duration,
    /// Maximum number of bytes of standard output, and the same for standard error. The default is 64 KiB.
    pub output_bytes: usize,
    /// The environment variables. A command gets only these and inherits none of your program's.
    pub variables: Vec<(String, String)>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(30),
            output_bytes: 64 * 1024,
            variables: Vec::new(),
        }
    }
}

impl Limits {
    /// Sets the maximum wall-clock time.
    pub fn time(mut self, most: Duration) -> Limits {
        self.time = most;
        self
    }

    /// Sets the maximum number of bytes of standard output, and the same for standard error.
    pub fn output_bytes(mut self, most: usize) -> Limits {
        self.output_bytes = most;
        self
    }

    /// Adds an environment variable.
    pub fn variable(mut self, name: &str, value: &str) -> Limits {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// The output of a command, and how it ended.
///
/// ```
/// use tool_files::shell::{End, Output};
///
/// let output = Output::exited(1, "", "no such file");
/// assert_eq!(output.end, End::Exited(1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// Standard output. Bytes that are not UTF-8 are replaced before the model sees them.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// How the command ended.
    pub end: End,
}

/// How a command ended.
///
/// ```
/// use tool_files::shell::End;
///
/// assert_ne!(End::Exited(0), End::TimedOut);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The command ended itself, with this exit code.
    Exited(i32),
    /// The command exceeded its time limit.
    TimedOut,
}

impl Output {
    /// Creates the output of a command that ended itself.
    pub fn exited(code: i32, stdout: impl Into<Vec<u8>>, stderr: impl Into<Vec<u8>>) -> Output {
        Output {
            stdout: stdout.into(),
            stderr: stderr.into(),
            end: End::Exited(code),
        }
    }

    /// Creates the output of a command that exceeded its time, with everything written until then.
    pub fn timed_out(stdout: impl Into<Vec<u8>>, stderr: impl Into<Vec<u8>>) -> Output {
        Output {
            stdout: stdout.into(),
            stderr: stderr.into(),
            end: End::TimedOut,
        }
    }
}

/// An error of a call of a shell. The model reads the message.
///
/// ```
/// use std::error::Error;
///
/// use tool_files::shell::ShellError;
///
/// /// Returns the cause for the log. The model does not see it.
/// fn cause(error: &ShellError) -> Option<String> {
///     error.source().map(ToString::to_string)
/// }
/// # let _ = cause;
/// ```
#[derive(Debug)]
pub struct ShellError {
    message: String,
    source: Option<io::Error>,
}

impl ShellError {
    fn new(message: impl Into<String>) -> ShellError {
        ShellError {
            message: message.into(),
            source: None,
        }
    }
}

impl From<io::Error> for ShellError {
    fn from(error: io::Error) -> ShellError {
        ShellError {
            source: Some(error),
            ..ShellError::new("The shell is not available.")
        }
    }
}

impl fmt::Display for ShellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ShellError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}

/// Converts bytes to text for the model, up to a limit.
fn text(bytes: &[u8], most: usize) -> String {
    let kept = &bytes[..bytes.len().min(most)];
    let mut text = String::from_utf8_lossy(kept).into_owned();
    if kept.len() < bytes.len() {
        text.push_str("\n[truncated]");
    }
    text
}

/// The body of Anthropic's `bash`, `bash_20250124`. Adds one tool, `bash`, with [`RegistryBuilder::toolset`].
///
/// [`RegistryBuilder::toolset`]: tool_core::RegistryBuilder::toolset
///
/// ```
/// use std::io;
///
/// use tool_core::{Registry, ToolCall};
/// use tool_files::shell::{BashTool, Limits, Output, Shell};
///
/// # struct Contained;
/// # impl Shell for Contained {
/// #     async fn run(&self, _: &str, _: &Limits) -> io::Result<Output> {
/// #         Ok(Output::exited(2, "", "ls: x: No such file or directory\n"))
/// #     }
/// # }
/// // `Contained` runs commands in a container.
/// let tools = Registry::builder()
///     .toolset("", BashTool::new(Contained, Limits::default()))
///     .build()?;
/// let result = tools.call_blocking(ToolCall::new("1", "bash", r#"{"command":"ls x"}"#));
/// assert_eq!(result.content(), "ls: x: No such file or directory\n[exit code 2]");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BashTool<S> {
    shell: S,
    limits: Limits,
}

impl<S> BashTool<S> {
    /// Creates the tool.
    pub fn new(shell: S, limits: Limits) -> BashTool<S> {
        BashTool { shell, limits }
    }
}

#[toolset]
impl<S: Shell> BashTool<S> {
    /// Runs a command in a shell.
    #[tool(name = "bash", provides = anthropic::Bash20250124)]
    pub async fn run(&self, command: anthropic::BashCommand) -> Result<String, ShellError> {
        let anthropic::BashCommand { command, restart } = command;
        if restart {
            self.shell.restart().await?;
            return Ok("The shell has been restarted.".into());
        }
        let command = command
            .ok_or_else(|| ShellError::new("No command. Give one, or restart the shell."))?;
        let output = self.shell.run(&command, &self.limits).await?;
        let most = self.limits.output_bytes;
        let mut shown = text(&output.stdout, most);
        let after_line = |shown: &mut String| {
            if !shown.is_empty() && !shown.ends_with('\n') {
                shown.push('\n');
            }
        };
        if !output.stderr.is_empty() {
            after_line(&mut shown);
            shown.push_str(&text(&output.stderr, most));
        }
        match output.end {
            End::Exited(0) => {}
            End::Exited(code) => {
                after_line(&mut shown);
                shown.push_str(&format!("[exit code {code}]"));
            }
            End::TimedOut => {
                after_line(&mut shown);
                shown.push_str(&format!(
                    "[ended after {} ms: the time is over]",
                    self.limits.time.as_millis()
                ));
            }
        }
        Ok(shown)
    }
}

/// The body of OpenAI's `shell`. Adds one tool, `shell`, with [`RegistryBuilder::toolset`].
///
/// The limits apply to a whole call, which may contain several commands. The model may ask for less, not for more.
///
/// [`RegistryBuilder::toolset`]: tool_core::RegistryBuilder::toolset
///
/// ```
/// use std::io;
///
/// use tool_dialects::OpenAiResponses;
/// use tool_core::Registry;
/// use tool_files::shell::{Limits, Output, Shell, ShellTool};
///
/// # struct Contained;
/// # impl Shell for Contained {
/// #     async fn run(&self, _: &str, _: &Limits) -> io::Result<Output> {
/// #         Ok(Output::exited(0, "", ""))
/// #     }
/// # }
/// // `Contained` runs commands in a container.
/// let tools = Registry::builder()
///     .toolset("", ShellTool::new(Contained, Limits::default()))
///     .build()?;
/// let request = tools.render(&OpenAiResponses::default());
/// assert_eq!(request.as_str(), r#"[{"type":"shell","environment":{"type":"local"}}]"#);
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ShellTool<S> {
    shell: S,
    limits: Limits,
}

impl<S> ShellTool<S> {
    /// Creates the tool.
    pub fn new(shell: S, limits: Limits) -> ShellTool<S> {
        ShellTool { shell, limits }
    }
}

#[toolset]
impl<S: Shell> ShellTool<S> {
    /// Runs commands in a shell, in order.
    #[tool(name = "shell", provides = openai::Shell)]
    pub async fn run(
        &self,
        action: openai::ShellAction,
    ) -> Result<Vec<openai::ShellOutput>, ShellError> {
        if action.commands.len() > COMMANDS {
            return Err(ShellError::new(format!(
                "Too many commands: the limit is {COMMANDS} in a call."
            )));
        }
        let asked = action
            .timeout_ms
            .map_or(self.limits.time, Duration::from_millis);
        let whole = asked.min(self.limits.time);
        let asked = action
            .max_output_length
            .and_then(|most| usize::try_from(most).ok());
        let most = asked.unwrap_or(usize::MAX).min(self.limits.output_bytes);
        let began = Instant::now();
        let mut outputs = Vec::new();
        for command in &action.commands {
            let left = whole.saturating_sub(began.elapsed());
            if left.is_zero() {
                outputs.push(openai::ShellOutput::timeout(
                    "",
                    "not started: the time is over",
                ));
                continue;
            }
            let limits = self.limits.clone().time(left).output_bytes(most);
            let output = self.shell.run(command, &limits).await?;
            let (stdout, stderr) = (text(&output.stdout, most), text(&output.stderr, most));
            outputs.push(match output.end {
                End::Exited(code) => openai::ShellOutput::exit(code, stdout, stderr),
                End::TimedOut => openai::ShellOutput::timeout(stdout, stderr),
            });
        }
        Ok(outputs)
    }
}
