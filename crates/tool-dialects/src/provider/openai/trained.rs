//! OpenAI's tools that the application runs, for [`#[tool(provides = …)]`](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#trained-tools).
//!
//! | tool | the parameter | the function returns |
//! |---|---|---|
//! | [`Shell`] | [`ShellAction`] | a `Vec<`[`ShellOutput`]`>`, one for each command, or a string |
//! | [`LocalShell`] | [`LocalShellAction`] | a string, or a value |
//! | [`ApplyPatch`] | [`PatchOperation`] | a string; an error means that the patch failed |
//! | [`Computer`] | [`ComputerActions`] | an [`Image`](tool_core::content::Image): the screen afterwards |
//!
//! [`OpenAiResponses`](crate::OpenAiResponses) sends them in OpenAI's form. Their calls are items of their own
//! in a response; [`Registry::claim`](tool_core::Registry::claim) makes calls of those that a tool provides, and a `Run` of
//! the crate `tool-agent` does so itself.
//!
//! ```
//! use serde_json::json;
//! use tool_core::dialect::Dialect;
//! use tool_dialects::{openai, OpenAiResponses};
//! use tool_core::{Registry, tool, tools};
//!
//! /// Runs commands in a sandbox.
//! #[tool(provides = openai::Shell)]
//! fn shell(action: openai::ShellAction) -> Vec<openai::ShellOutput> {
//!     let run = |command: &String| openai::ShellOutput::exit(0, format!("ran {command}"), "");
//!     action.commands.iter().map(run).collect()
//! }
//!
//! let registry = Registry::builder().tools(tools![shell]).build()?;
//! let dialect = OpenAiResponses::default();
//! let rendered = registry.render(&dialect);
//! assert_eq!(rendered.as_str(), r#"[{"type":"shell","environment":{"type":"local"}}]"#);
//!
//! let call = json!({"type": "shell_call", "id": "sh_1", "call_id": "call_1", "status": "completed",
//!     "action": {"commands": ["uptime"]}});
//! let turn = registry.claim(dialect.read(&json!({"output": [call]}))?);
//! let result = registry.call_blocking(turn.calls[0].clone());
//! let items = dialect.results(&[result]);
//! assert_eq!(items[0]["type"], "shell_call_output");
//! assert_eq!(items[0]["output"][0]["stdout"], "ran uptime");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use tool_core::ToolType;
use tool_core::dialect::write::TrainedTool;
use tool_core::spec::{Setting, Trained};

/// The provider of these tools.
pub(super) const PROVIDER: &str = "openai";

const fn tool(kind: &'static str, settings: &'static [(&'static str, Setting)]) -> Trained {
    Trained::new(PROVIDER, kind, None, settings)
}

/// The shell, `shell`, whose commands the application runs.
///
/// ```
/// use tool_core::tool;
/// use tool_dialects::openai;
///
/// /// Runs commands in a sandbox.
/// #[tool(provides = openai::Shell)]
/// fn shell(action: openai::ShellAction) -> Vec<openai::ShellOutput> {
///     # let _ = action;
///     vec![openai::ShellOutput::timeout("", "")]
/// }
/// # let _ = shell;
/// ```
#[derive(Debug)]
pub enum Shell {}

impl TrainedTool for Shell {
    type Input = ShellAction;
    const TOOL: &'static Trained = &tool(
        "shell",
        &[("environment", Setting::Json(r#"{"type":"local"}"#))],
    );
}

/// The input of [`Shell`] (`ShellCallAction` of OpenAI's Python SDK).
///
/// ```
/// use tool_dialects::openai::ShellAction;
///
/// let action = ShellAction { commands: vec!["ls".into()], ..ShellAction::default() };
/// assert_eq!(action.timeout_ms, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, ToolType)]
pub struct ShellAction {
    /// The commands to run, in order.
    pub commands: Vec<String>,
    /// The most milliseconds that the commands may take.
    pub timeout_ms: Option<u64>,
    /// The most characters of output that the model wants to see.
    pub max_output_length: Option<u64>,
}

/// The output of one command of a [`Shell`] (`ResponseFunctionShellCallOutputContent` of OpenAI's Python SDK).
///
/// ```
/// use tool_dialects::openai::{ShellOutcome, ShellOutput};
///
/// let output = ShellOutput::exit(1, "", "no such file");
/// assert_eq!(output.outcome, ShellOutcome::Exit { exit_code: 1 });
/// assert_eq!(output.stderr, "no such file");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, ToolType)]
#[non_exhaustive]
pub struct ShellOutput {
    /// What the command wrote to its standard output.
    pub stdout: String,
    /// What the command wrote to its standard error.
    pub stderr: String,
    /// How the command ended.
    pub outcome: ShellOutcome,
}

/// How a command of a [`Shell`] ended.
///
/// ```
/// use tool_dialects::openai::ShellOutcome;
///
/// assert_ne!(ShellOutcome::Exit { exit_code: 0 }, ShellOutcome::Timeout);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToolType)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ShellOutcome {
    /// It ended by itself.
    Exit {
        /// Its exit code.
        exit_code: i32,
    },
    /// It took too long.
    Timeout,
}

impl ShellOutput {
    /// Creates the output of a command that ended with this exit code.
    pub fn exit(
        exit_code: i32,
        stdout: impl Into<String>,
        stderr: impl Into<String>,
    ) -> ShellOutput {
        ShellOutput {
            stdout: stdout.into(),
            stderr: stderr.into(),
            outcome: ShellOutcome::Exit { exit_code },
        }
    }

    /// Creates the output of a command that took too long, with what it wrote until then.
    pub fn timeout(stdout: impl Into<String>, stderr: impl Into<String>) -> ShellOutput {
        ShellOutput {
            stdout: stdout.into(),
            stderr: stderr.into(),
            outcome: ShellOutcome::Timeout,
        }
    }
}

// By hand, because the derive of serde is an optional dependency.
impl Serialize for ShellOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("ShellOutput", 3)?;
        members.serialize_field("stdout", &self.stdout)?;
        members.serialize_field("stderr", &self.stderr)?;
        members.serialize_field("outcome", &self.outcome)?;
        members.end()
    }
}

impl Serialize for ShellOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("ShellOutcome", 2)?;
        match self {
            ShellOutcome::Exit { exit_code } => {
                members.serialize_field("type", "exit")?;
                members.serialize_field("exit_code", exit_code)?;
            }
            ShellOutcome::Timeout => members.serialize_field("type", "timeout")?,
        }
        members.end()
    }
}

/// The shell of `codex-mini-latest`, `local_shell`, which runs one program at a time.
///
/// ```
/// use tool_core::tool;
/// use tool_dialects::openai;
///
/// /// Runs a program in a sandbox.
/// #[tool(provides = openai::LocalShell)]
/// fn local_shell(action: openai::LocalShellAction) -> Result<String, String> {
///     Err(format!("{} is not allowed", action.command.join(" ")))
/// }
/// # let _ = local_shell;
/// ```
#[derive(Debug)]
pub enum LocalShell {}

impl TrainedTool for LocalShell {
    type Input = LocalShellAction;
    const TOOL: &'static Trained = &tool("local_shell", &[]);
}

/// The input of [`LocalShell`] (`LocalShellCallAction` of OpenAI's Python SDK).
///
/// ```
/// use tool_dialects::openai::LocalShellAction;
///
/// let action = LocalShellAction { command: vec!["ls".into()], ..LocalShellAction::default() };
/// assert!(action.env.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, ToolType)]
pub struct LocalShellAction {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The variables to set for the program.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The most milliseconds that the program may take.
    pub timeout_ms: Option<u64>,
    /// The user to run the program as.
    pub user: Option<String>,
    /// The folder to run the program in.
    pub working_directory: Option<String>,
}

/// The editor by patches, `apply_patch`.
///
/// ```
/// use tool_core::tool;
/// use tool_dialects::openai;
///
/// /// Changes files of the project.
/// #[tool(provides = openai::ApplyPatch)]
/// fn apply_patch(operation: openai::PatchOperation) -> Result<String, String> {
///     match operation {
///         openai::PatchOperation::DeleteFile { path } => Ok(format!("deleted {path}")),
///         _ => Err("not supported".into()),
///     }
/// }
/// # let _ = apply_patch;
/// ```
#[derive(Debug)]
pub enum ApplyPatch {}

impl TrainedTool for ApplyPatch {
    type Input = PatchOperation;
    const TOOL: &'static Trained = &tool("apply_patch", &[]);
}

/// The input of [`ApplyPatch`] (`ApplyPatchCallOperation` of OpenAI's Python SDK).
///
/// Nothing checks the paths: a function that maps them to files must keep the model inside of its folder.
///
/// ```
/// use tool_dialects::openai::PatchOperation;
///
/// let operation = PatchOperation::DeleteFile { path: "a.txt".into() };
/// assert_eq!(operation.path(), "a.txt");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, ToolType)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PatchOperation {
    /// Create a file.
    CreateFile {
        /// The file, from the root of the project.
        path: String,
        /// The content as a diff: every line starts with `+`.
        diff: String,
    },
    /// Change a file.
    UpdateFile {
        /// The file, from the root of the project.
        path: String,
        /// The diff, in OpenAI's V4A form.
        diff: String,
    },
    /// Delete a file.
    DeleteFile {
        /// The file, from the root of the project.
        path: String,
    },
}

impl PatchOperation {
    /// Returns the path of the file.
    pub fn path(&self) -> &str {
        match self {
            PatchOperation::CreateFile { path, .. }
            | PatchOperation::UpdateFile { path, .. }
            | PatchOperation::DeleteFile { path } => path,
        }
    }
}

/// The computer, `computer`.
///
/// A call with [safety checks](https://developers.openai.com/api/docs/guides/tools-computer-use) is
/// [held](tool_core::hooks::Gate::hold) until somebody decides on each, and its output repeats those that were acknowledged. The
/// API requires a screenshot from every call: one that failed sends an empty picture, and its message follows.
///
/// ```
/// use tool_core::content::Image;
/// use tool_core::tool;
/// use tool_dialects::openai;
///
/// /// Uses the browser.
/// #[tool(provides = openai::Computer)]
/// fn computer(input: openai::ComputerActions) -> Image {
///     # let _ = input;
///     Image::png(*b"\x89PNG")
/// }
/// # let _ = computer;
/// ```
#[derive(Debug)]
pub enum Computer {}

impl TrainedTool for Computer {
    type Input = ComputerActions;
    const TOOL: &'static Trained = &tool("computer", &[]);
}

/// The input of [`Computer`]: the actions of a call, in order.
///
/// ```
/// use tool_dialects::openai::{ComputerAction, ComputerActions};
///
/// let input = ComputerActions { actions: vec![ComputerAction::Screenshot] };
/// assert_eq!(input.actions.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, ToolType)]
pub struct ComputerActions {
    /// What to do, in order.
    pub actions: Vec<ComputerAction>,
}

/// An action of [`Computer`] (`ComputerAction` of OpenAI's Python SDK).
///
/// Coordinates are pixels from the left and the upper edge. `keys` are held down meanwhile.
///
/// ```
/// use tool_dialects::openai::{ComputerAction, MouseButton};
///
/// let click = ComputerAction::Click { button: MouseButton::Left, x: 10, y: 20, keys: None };
/// assert_ne!(click, ComputerAction::Screenshot);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, ToolType)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ComputerAction {
    /// Click.
    Click {
        /// The button of the mouse.
        button: MouseButton,
        /// Pixels from the left edge.
        x: i64,
        /// Pixels from the upper edge.
        y: i64,
        /// Keys to hold down.
        keys: Option<Vec<String>>,
    },
    /// Click twice.
    DoubleClick {
        /// Pixels from the left edge.
        x: i64,
        /// Pixels from the upper edge.
        y: i64,
        /// Keys to hold down.
        keys: Option<Vec<String>>,
    },
    /// Drag with the left button of the mouse.
    Drag {
        /// The points of the way.
        path: Vec<Point>,
        /// Keys to hold down.
        keys: Option<Vec<String>>,
    },
    /// Press keys together.
    Keypress {
        /// The keys.
        keys: Vec<String>,
    },
    /// Move the pointer.
    Move {
        /// Pixels from the left edge.
        x: i64,
        /// Pixels from the upper edge.
        y: i64,
        /// Keys to hold down.
        keys: Option<Vec<String>>,
    },
    /// Take a picture of the screen.
    Screenshot,
    /// Scroll.
    Scroll {
        /// Where the pointer is: pixels from the left edge.
        x: i64,
        /// Where the pointer is: pixels from the upper edge.
        y: i64,
        /// How far to scroll to the right.
        scroll_x: i64,
        /// How far to scroll down.
        scroll_y: i64,
        /// Keys to hold down.
        keys: Option<Vec<String>>,
    },
    /// Type a string.
    Type {
        /// The string.
        text: String,
    },
    /// Wait for a moment.
    Wait,
}

/// A button of [`ComputerAction::Click`].
///
/// ```
/// use tool_dialects::openai::MouseButton;
///
/// assert_ne!(MouseButton::Left, MouseButton::Right);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToolType)]
#[serde(rename_all = "lowercase")]
pub enum MouseButton {
    /// The left button.
    Left,
    /// The right button.
    Right,
    /// The wheel.
    Wheel,
    /// The button that goes back.
    Back,
    /// The button that goes forward.
    Forward,
}

/// A point of [`ComputerAction::Drag`].
///
/// ```
/// use tool_dialects::openai::Point;
///
/// assert_eq!(Point { x: 1, y: 2 }.y, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToolType)]
pub struct Point {
    /// Pixels from the left edge.
    pub x: i64,
    /// Pixels from the upper edge.
    pub y: i64,
}
