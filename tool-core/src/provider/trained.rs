//! [`TrainedTool`]: tools on which a provider trained its models.

use crate::ToolType;
use crate::provider::writer::JsonWriter;
use crate::schema::const_check::same;
use crate::schema::const_string::ConstString;
use crate::spec::{Setting, Trained};

/// A tool on which a provider trained its models, and which the application runs: a shell, an editor, a memory.
///
/// The types that implement it are in the modules of the providers: [`anthropic`](https://docs.rs/tool-dialects/latest/tool_dialects/anthropic/index.html) and
/// [`openai`](https://docs.rs/tool-dialects/latest/tool_dialects/openai/index.html). A function [provides](macro@crate::tool#trained-tools) such a tool.
///
/// ```
/// use tool_dialects::{anthropic, Anthropic, OpenAiChat};
/// use tool_core::{Registry, tool, tools};
///
/// /// Runs a command in a sandbox.
/// #[tool(provides = anthropic::Bash20250124)]
/// fn bash(input: anthropic::BashCommand) -> String {
///     format!("ran {}", input.command.unwrap_or_default())
/// }
///
/// let registry = Registry::builder().tools(tools![bash]).build()?;
/// let rendered = registry.render(&Anthropic::default());
/// assert_eq!(rendered.as_str(), r#"[{"type":"bash_20250124","name":"bash"}]"#);
/// // Elsewhere it is an ordinary tool with a schema.
/// assert!(registry.render(&OpenAiChat::default()).as_str().contains("Runs a command in a sandbox."));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool of a provider",
    label = "not a tool of a provider",
    note = "`tool_dialects::anthropic` and `tool_dialects::openai` have such tools, for example \
            `provides = anthropic::Bash20250124`"
)]
pub trait TrainedTool {
    /// The type of the function's parameter: the whole input of a call.
    type Input: ToolType;

    #[doc(hidden)]
    const TOOL: &'static Trained;
}

/// The input of a trained tool. Implemented for [`TrainedTool::Input`] alone.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the input of `{Tool}`",
    label = "not the input of the tool that the function provides",
    note = "the parameter takes the whole input; write the type that the documentation of `{Tool}` names"
)]
pub trait InputOf<Tool> {}

#[diagnostic::do_not_recommend]
impl<T, Tool: TrainedTool<Input = T>> InputOf<Tool> for T {}

/// Returns the tool that a function provides. Stops the build if the provider calls it by another name than the function's.
#[doc(hidden)]
#[track_caller]
pub const fn provided<Tool: TrainedTool, Input: InputOf<Tool>>(name: &str) -> &'static Trained {
    let trained = Tool::TOOL;
    if let Some(known) = trained.name
        && !same(name, known)
    {
        let mut message = ConstString::<256>::new("models call this tool `");
        message.push(known);
        message.push("`; add `name = \"");
        message.push(known);
        message.push("\"`");
        panic!("{}", message.as_str());
    }
    trained
}

/// Writes the members of the entry in a request.
///
/// ```
/// use tool_core::dialect::write::{JsonWriter, write_entry};
/// use tool_core::spec::{Setting, Trained};
///
/// const SHELL: Trained = Trained::new("custom", "shell_1", Some("sh"), &[("timeout", Setting::Number(30))]);
/// let mut out = JsonWriter::new();
/// out.object(|out| write_entry(&SHELL, out));
/// assert_eq!(out.into_string(), r#"{"type":"shell_1","name":"sh","timeout":30}"#);
/// ```
pub fn write_entry(trained: &Trained, out: &mut JsonWriter) {
    out.word("type").string(trained.kind);
    if let Some(name) = trained.name {
        out.word("name").string(name);
    }
    for &(key, setting) in trained.settings {
        match setting {
            Setting::Number(0) | Setting::Flag(false) => {}
            Setting::Number(number) => {
                out.word(key).raw(&number.to_string());
            }
            Setting::Flag(flag) => {
                out.word(key).boolean(flag);
            }
            Setting::Json(json) => {
                out.word(key).raw(json);
            }
        }
    }
}
