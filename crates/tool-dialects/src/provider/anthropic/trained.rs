//! Anthropic's tools that the application runs, for [`#[tool(provides = …)]`](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#trained-tools).
//!
//! | tool | the parameter | the function returns |
//! |---|---|---|
//! | [`Memory20250818`] | [`MemoryCommand`] | a string |
//! | [`Bash20250124`] | [`BashCommand`] | a string |
//! | [`TextEditor20250728`] | [`EditorCommand`] | a string |
//! | [`Computer20250124`], [`Computer20251124`] | [`ComputerAction`] | an [`Image`](tool_core::content::Image), or a string |
//!
//! ```
//! use tool_dialects::{anthropic, Anthropic};
//! use tool_core::{Registry, tool, tools};
//!
//! /// Notes that outlive the conversation.
//! #[tool(provides = anthropic::Memory20250818)]
//! fn memory(command: anthropic::MemoryCommand) -> Result<String, String> {
//!     match command {
//!         anthropic::MemoryCommand::View { path, .. } => Ok(format!("{path} is empty")),
//!         _ => Err("the memory is read-only".into()),
//!     }
//! }
//!
//! let registry = Registry::builder().tools(tools![memory]).build()?;
//! let rendered = registry.render(&Anthropic::default());
//! assert_eq!(rendered.as_str(), r#"[{"type":"memory_20250818","name":"memory"}]"#);
//! # Ok::<(), tool_core::RegistryError>(())
//! ```
//!
//! The names of the tools end with the date of their form, as Anthropic's do. Which models know which form is in
//! Anthropic's documentation of each tool.

use tool_core::ToolType;
use tool_core::dialect::write::TrainedTool;
use tool_core::spec::{Setting, Trained};

/// The provider of these tools.
pub(super) const PROVIDER: &str = "anthropic";

const fn tool(kind: &'static str, name: &'static str) -> Trained {
    with_settings(kind, name, &[])
}

const fn with_settings(
    kind: &'static str,
    name: &'static str,
    settings: &'static [(&'static str, Setting)],
) -> Trained {
    Trained::new(PROVIDER, kind, Some(name), settings)
}

/// The memory tool, `memory_20250818`: a folder `/memories` in which the model takes notes.
///
/// The tool is called `memory`.
///
/// ```
/// use tool_core::{tool, Tool};
/// use tool_dialects::anthropic;
///
/// /// Notes that outlive the conversation.
/// #[tool(provides = anthropic::Memory20250818)]
/// fn memory(command: anthropic::MemoryCommand) -> String {
///     format!("{command:?}")
/// }
///
/// assert_eq!(memory::SPEC.name, "memory");
/// ```
#[derive(Debug)]
pub enum Memory20250818 {}

impl TrainedTool for Memory20250818 {
    type Input = MemoryCommand;
    const TOOL: &'static Trained = &tool("memory_20250818", "memory");
}

/// The input of [`Memory20250818`] (`BetaMemoryTool20250818Command` of Anthropic's Python SDK).
///
/// Paths start with `/memories`. Nothing checks them: a function that maps them to files must keep the model inside of
/// its folder.
///
/// ```
/// use tool_dialects::anthropic::MemoryCommand;
///
/// fn is_read_only(command: &MemoryCommand) -> bool {
///     matches!(command, MemoryCommand::View { .. })
/// }
///
/// assert!(is_read_only(&MemoryCommand::View { path: "/memories".into(), view_range: None }));
/// ```
#[derive(Clone, Debug, PartialEq, ToolType)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum MemoryCommand {
    /// Show a file, or list a folder.
    View {
        /// The file or folder.
        path: String,
        /// The first and the last line to show, counted from 1; -1 is the last line of the file.
        view_range: Option<[i64; 2]>,
    },
    /// Create a file.
    Create {
        /// The new file.
        path: String,
        /// What it contains.
        file_text: String,
    },
    /// Replace a string of a file by another one.
    StrReplace {
        /// The file.
        path: String,
        /// The string to replace, which must occur once.
        old_str: String,
        /// The string in its place.
        new_str: String,
    },
    /// Insert lines into a file.
    Insert {
        /// The file.
        path: String,
        /// The line after which to insert; 0 is the start of the file.
        insert_line: u32,
        /// The lines to insert.
        insert_text: String,
    },
    /// Delete a file or a folder.
    Delete {
        /// The file or folder.
        path: String,
    },
    /// Rename or move a file or a folder.
    Rename {
        /// The present path.
        old_path: String,
        /// The new path.
        new_path: String,
    },
}

/// The bash tool, `bash_20250124`: a shell that keeps its state between calls.
///
/// The tool is called `bash`.
///
/// ```
/// use tool_core::{tool, Tool};
/// use tool_dialects::anthropic;
///
/// /// Runs commands in a sandbox.
/// #[tool(provides = anthropic::Bash20250124)]
/// fn bash(input: anthropic::BashCommand) -> Result<String, String> {
///     match input {
///         anthropic::BashCommand { restart: true, .. } => Ok("restarted".into()),
///         anthropic::BashCommand { command: Some(command), .. } => Ok(format!("ran {command}")),
///         _ => Err("give a command, or restart the shell".into()),
///     }
/// }
///
/// assert_eq!(bash::SPEC.name, "bash");
/// ```
#[derive(Debug)]
pub enum Bash20250124 {}

impl TrainedTool for Bash20250124 {
    type Input = BashCommand;
    const TOOL: &'static Trained = &tool("bash_20250124", "bash");
}

/// The input of [`Bash20250124`] (Anthropic's guide "Bash tool").
///
/// A call has a command, or restarts the shell.
///
/// ```
/// use tool_dialects::anthropic::BashCommand;
///
/// let input = BashCommand { command: Some("ls".into()), restart: false };
/// assert_ne!(input, BashCommand::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, ToolType)]
pub struct BashCommand {
    /// The command to run. Required unless the shell is restarted.
    pub command: Option<String>,
    /// `true` to restart the shell.
    #[serde(default)]
    pub restart: bool,
}

/// The text editor, `text_editor_20250728`, of Claude 4 models.
///
/// The tool is called `str_replace_based_edit_tool`, and so must the function or its `name`. `MAX_CHARACTERS` is the
/// number of characters after which the model expects a long file to be cut off; 0 leaves it out.
///
/// ```
/// use tool_core::{tool, Tool};
/// use tool_dialects::anthropic;
///
/// /// Views and edits files.
/// #[tool(
///     provides = anthropic::TextEditor20250728<10_000>,
///     name = "str_replace_based_edit_tool",
/// )]
/// fn edit(command: anthropic::EditorCommand) -> Result<String, String> {
///     Err(format!("not supported: {command:?}"))
/// }
///
/// assert_eq!(edit::SPEC.name, "str_replace_based_edit_tool");
/// ```
#[derive(Debug)]
pub enum TextEditor20250728<const MAX_CHARACTERS: u32 = 0> {}

impl<const MAX_CHARACTERS: u32> TrainedTool for TextEditor20250728<MAX_CHARACTERS> {
    type Input = EditorCommand;
    const TOOL: &'static Trained = &with_settings(
        "text_editor_20250728",
        "str_replace_based_edit_tool",
        &[("max_characters", Setting::Number(MAX_CHARACTERS))],
    );
}

/// The input of [`TextEditor20250728`] (Anthropic's guide "Text editor tool").
///
/// Nothing checks the paths: a function that maps them to files must keep the model inside of its folder.
///
/// ```
/// use tool_dialects::anthropic::EditorCommand;
///
/// fn path(command: &EditorCommand) -> &str {
///     match command {
///         EditorCommand::View { path, .. }
///         | EditorCommand::Create { path, .. }
///         | EditorCommand::StrReplace { path, .. }
///         | EditorCommand::Insert { path, .. } => path,
///     }
/// }
///
/// assert_eq!(path(&EditorCommand::View { path: "/src".into(), view_range: None }), "/src");
/// ```
#[derive(Clone, Debug, PartialEq, ToolType)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum EditorCommand {
    /// Show a file, or list a folder.
    View {
        /// The file or folder.
        path: String,
        /// The first and the last line to show, counted from 1; -1 is the last line of the file.
        view_range: Option<[i64; 2]>,
    },
    /// Create a file.
    Create {
        /// The new file.
        path: String,
        /// What it contains.
        file_text: String,
    },
    /// Replace a string of a file by another one.
    StrReplace {
        /// The file.
        path: String,
        /// The string to replace, which must occur once.
        old_str: String,
        /// The string in its place; without it, the other one is removed.
        #[serde(default)]
        new_str: String,
    },
    /// Insert lines into a file.
    Insert {
        /// The file.
        path: String,
        /// The line after which to insert; 0 is the start of the file.
        insert_line: u32,
        /// The lines to insert.
        // Models before Claude 4 call it `new_str`, and so do some pages of the guide.
        #[serde(alias = "new_str")]
        insert_text: String,
    },
}

/// The computer, `computer_20250124`, with the size of its display in pixels.
///
/// The tool is called `computer`. The request needs a beta header, which
/// [`ToolRequest::headers`](tool_core::dialect::ToolRequest::headers) has.
///
/// ```
/// use tool_core::content::Image;
/// use tool_core::tool;
/// use tool_dialects::anthropic;
///
/// /// Uses the desktop.
/// #[tool(provides = anthropic::Computer20250124<1024, 768>)]
/// fn computer(action: anthropic::ComputerAction) -> Image {
///     # let _ = action;
///     Image::png(*b"\x89PNG")
/// }
/// # let _ = computer;
/// ```
#[derive(Debug)]
pub enum Computer20250124<const WIDTH: u32, const HEIGHT: u32> {}

impl<const WIDTH: u32, const HEIGHT: u32> TrainedTool for Computer20250124<WIDTH, HEIGHT> {
    type Input = ComputerAction;
    const TOOL: &'static Trained = {
        assert!(
            WIDTH > 0 && HEIGHT > 0,
            "the display of a computer is not empty"
        );
        &with_settings(
            "computer_20250124",
            "computer",
            &[
                ("display_width_px", Setting::Number(WIDTH)),
                ("display_height_px", Setting::Number(HEIGHT)),
            ],
        )
    };
}

/// The computer, `computer_20251124`, with the size of its display in pixels, and whether the model may
/// [zoom](ComputerAction::Zoom).
///
/// The tool is called `computer`. The request needs a beta header, which
/// [`ToolRequest::headers`](tool_core::dialect::ToolRequest::headers) has.
///
/// ```
/// use tool_core::content::Image;
/// use tool_core::tool;
/// use tool_dialects::anthropic;
///
/// /// Uses the desktop.
/// #[tool(provides = anthropic::Computer20251124<1024, 768, true>)]
/// fn computer(action: anthropic::ComputerAction) -> Image {
///     # let _ = action;
///     Image::png(*b"\x89PNG")
/// }
/// # let _ = computer;
/// ```
#[derive(Debug)]
pub enum Computer20251124<const WIDTH: u32, const HEIGHT: u32, const ZOOM: bool = false> {}

impl<const WIDTH: u32, const HEIGHT: u32, const ZOOM: bool> TrainedTool
    for Computer20251124<WIDTH, HEIGHT, ZOOM>
{
    type Input = ComputerAction;
    const TOOL: &'static Trained = {
        assert!(
            WIDTH > 0 && HEIGHT > 0,
            "the display of a computer is not empty"
        );
        &with_settings(
            "computer_20251124",
            "computer",
            &[
                ("display_width_px", Setting::Number(WIDTH)),
                ("display_height_px", Setting::Number(HEIGHT)),
                ("enable_zoom", Setting::Flag(ZOOM)),
            ],
        )
    };
}

/// The input of [`Computer20250124`] and [`Computer20251124`] (`ComputerMemberInput` of Anthropic's Python SDK, and its
/// guide "Computer use tool").
///
/// Coordinates are pixels from the left and the upper edge. Without one, a click is where the pointer is. `text` of a
/// click names keys to hold down, such as `ctrl+shift`.
///
/// ```
/// use tool_dialects::anthropic::ComputerAction;
///
/// fn is_look(action: &ComputerAction) -> bool {
///     matches!(action, ComputerAction::Screenshot | ComputerAction::Zoom { .. })
/// }
///
/// assert!(is_look(&ComputerAction::Screenshot));
/// ```
#[derive(Clone, Debug, PartialEq, ToolType)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ComputerAction {
    /// Take a picture of the screen.
    Screenshot,
    /// Press a key or a combination of keys.
    Key {
        /// The keys, such as `ctrl+s`.
        text: String,
        /// How many times to press them; once if it is left out.
        repeat: Option<u32>,
    },
    /// Hold keys down for a while.
    HoldKey {
        /// The keys.
        text: String,
        /// Seconds.
        #[param(range = 0.0..)]
        duration: f64,
    },
    /// Type a string.
    Type {
        /// The string.
        text: String,
    },
    /// Return the position of the pointer.
    CursorPosition,
    /// Move the pointer.
    MouseMove {
        /// Where to.
        coordinate: [i64; 2],
    },
    /// Press the left button of the mouse.
    LeftMouseDown,
    /// Release the left button of the mouse.
    LeftMouseUp,
    /// Click.
    LeftClick {
        /// Where to click.
        coordinate: Option<[i64; 2]>,
        /// Keys to hold down.
        text: Option<String>,
    },
    /// Drag with the left button of the mouse.
    LeftClickDrag {
        /// Where to press the button.
        start_coordinate: [i64; 2],
        /// Where to release the button.
        coordinate: [i64; 2],
        /// Keys to hold down.
        text: Option<String>,
    },
    /// Click with the right button.
    RightClick {
        /// Where to click.
        coordinate: Option<[i64; 2]>,
        /// Keys to hold down.
        text: Option<String>,
    },
    /// Click with the middle button.
    MiddleClick {
        /// Where to click.
        coordinate: Option<[i64; 2]>,
        /// Keys to hold down.
        text: Option<String>,
    },
    /// Click twice.
    DoubleClick {
        /// Where to click.
        coordinate: Option<[i64; 2]>,
        /// Keys to hold down.
        text: Option<String>,
    },
    /// Click three times.
    TripleClick {
        /// Where to click.
        coordinate: Option<[i64; 2]>,
        /// Keys to hold down.
        text: Option<String>,
    },
    /// Turn the wheel of the mouse.
    Scroll {
        /// Where the pointer is.
        coordinate: Option<[i64; 2]>,
        /// The direction.
        scroll_direction: ScrollDirection,
        /// How many clicks of the wheel.
        scroll_amount: u32,
        /// Keys to hold down.
        text: Option<String>,
    },
    /// Wait.
    Wait {
        /// Seconds.
        #[param(range = 0.0..)]
        duration: f64,
    },
    /// Take a picture of a part of the screen.
    Zoom {
        /// The left, upper, right and lower edge.
        region: [i64; 4],
    },
}

/// A direction of [`ComputerAction::Scroll`].
///
/// ```
/// use tool_dialects::anthropic::ScrollDirection;
///
/// assert_ne!(ScrollDirection::Up, ScrollDirection::Down);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToolType)]
#[serde(rename_all = "lowercase")]
pub enum ScrollDirection {
    /// Up.
    Up,
    /// Down.
    Down,
    /// To the left.
    Left,
    /// To the right.
    Right,
}
