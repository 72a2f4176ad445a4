//! The tools of the desk: files, the system prompt, and a proposal for a tool that there is not.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tool_core::{ToolType, tool};

use crate::desk::{Desk, DeskError, Lines};

/// The most characters of one read.
const CHARACTERS: usize = 8000;

/// Reads lines of a text file on the desk.
///
/// # Returns
/// The lines, and a note in brackets when there are more.
#[tool(read_only)]
pub(crate) fn read_file(
    /// Path from the desk, such as `notes/today.md`.
    path: &str,
    /// The first line to read, from 1.
    #[param(default = 1, range = 1..)]
    first_line: u32,
    #[param(default = 200, range = 1..=400)] lines: u32,
    #[param(context)] desk: &Desk,
) -> Result<String, DeskError> {
    let lines = Lines {
        first: first_line as usize,
        most: lines as usize,
        characters: CHARACTERS,
    };
    desk.read(path, &lines)
}

/// Writes a text file on the desk, in the place of one that is there.
///
/// # When to use
/// To keep something: `memory.md` and files in `history` can be written, no others.
#[tool(destructive, idempotent)]
pub(crate) fn write_file(
    /// `memory.md` or a path such as `history/monday.md`.
    path: &str,
    #[param(length = ..=20000)] text: &str,
    #[param(context)] desk: &Desk,
) -> Result<(), DeskError> {
    desk.write(path, text)
}

/// Adds text to the end of a text file on the desk, and makes it when it is missing.
///
/// # When to use
/// To keep something: `memory.md` and files in `history` can be written, no others.
#[tool(destructive = false)]
pub(crate) fn append_file(
    /// `memory.md` or a path such as `history/monday.md`.
    path: &str,
    /// With a line break at its end.
    #[param(length = 1..=20000)]
    text: &str,
    #[param(context)] desk: &Desk,
) -> Result<(), DeskError> {
    desk.append(path, text)
}

/// What the model is told before the conversation. Clones share it.
#[derive(Clone)]
pub(crate) struct SystemPrompt(Arc<Mutex<String>>);

/// The most characters of a system prompt.
const PROMPT: usize = 4000;

impl SystemPrompt {
    pub(crate) fn new(text: &str) -> SystemPrompt {
        SystemPrompt(Arc::new(Mutex::new(text.into())))
    }

    pub(crate) fn get(&self) -> String {
        self.with(|text| text.clone())
    }

    fn with<T>(&self, act: impl FnOnce(&mut String) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The system prompt as it is now.
#[tool(read_only)]
pub(crate) fn get_system_prompt(#[param(context)] prompt: &SystemPrompt) -> String {
    prompt.get()
}

/// Puts another system prompt in the place of this one. It holds from the next request on, and the
/// conversation stays.
#[tool(destructive, idempotent)]
pub(crate) fn set_system_prompt(
    #[param(length = 1..=4000)] text: String,
    #[param(context)] prompt: &SystemPrompt,
) {
    prompt.with(|whole| *whole = text);
}

/// Adds a paragraph to the system prompt.
#[tool(destructive = false)]
pub(crate) fn add_to_system_prompt(
    #[param(length = 1..=1000)] text: &str,
    #[param(context)] prompt: &SystemPrompt,
) -> Result<(), String> {
    prompt.with(|whole| {
        let length = whole.chars().count() + 2 + text.chars().count();
        if length > PROMPT {
            return Err(format!(
                "it would have {length} characters, more than {PROMPT}"
            ));
        }
        whole.push_str("\n\n");
        whole.push_str(text);
        Ok(())
    })
}

/// The name of a function: lower-case letters, digits and `_`, a letter first.
#[derive(Deserialize, ToolType)]
#[serde(try_from = "String")]
pub(crate) struct FunctionName(String);

impl TryFrom<String> for FunctionName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<FunctionName, &'static str> {
        let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        match name.as_bytes() {
            [b'a'..=b'z', rest @ ..] if rest.len() < 40 && rest.iter().all(|&b| is_part(b)) => {
                Ok(FunctionName(name))
            }
            _ => Err("not a letter and then up to 39 lower-case letters, digits or `_`"),
        }
    }
}

impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The most proposals of one name.
const PROPOSALS: u32 = 20;

/// Proposes a tool that is missing. A person reads the proposal; the tool is not there before they
/// add it.
///
/// # Returns
/// The folder of the proposal.
#[tool(destructive = false)]
pub(crate) fn propose_function_tool(
    /// Such as `celsius_to_fahrenheit`.
    name: FunctionName,
    /// What it would do.
    #[param(length = 10..=500)]
    description: &str,
    /// A JSON Schema of its arguments.
    parameters: Map<String, Value>,
    #[param(context)] desk: &Desk,
) -> Result<String, DeskError> {
    let spec = json!({ "name": name.0, "description": description, "parameters": parameters });
    let spec = format!("{spec:#}\n");
    // A description is text of a model: no line of it may end the comment.
    let comment: String = description
        .lines()
        .map(|line| format!("/// {line}\n"))
        .collect();
    let stub = format!("{comment}#[tool]\nfn {name}() {{\n    todo!()\n}}\n");
    let code = format!("{name}.rs");
    for number in 1..=PROPOSALS {
        let folder = ["tool_proposals", &name.0, &number.to_string()];
        match desk.make(&folder, &[("tool.json", &spec), (&code, &stub)]) {
            Ok(()) => return Ok(folder.join("/")),
            Err(DeskError::Exists) => {}
            Err(error) => return Err(error),
        }
    }
    Err(DeskError::Exists)
}

/// Turns degrees Celsius into degrees Fahrenheit.
// On the shelf: the operator adds it to the registry once it was proposed.
#[tool(unlinked, read_only, idempotent)]
pub(crate) fn celsius_to_fahrenheit(celsius: f64) -> f64 {
    celsius * 1.8 + 32.0
}
