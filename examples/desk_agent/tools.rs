//! The tools of the desk: files, the system prompt, and proposals for new tools.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tool_core::{ToolType, tool};
use tool_files::FileError;

use crate::desk::{Desk, Lines};
use crate::stub::stub;

/// Maximum number of characters in one read.
const CHARACTERS: usize = 8000;

/// Reads lines of a text file on the desk.
///
/// # Returns
/// The lines, with a note in brackets if there are more.
#[tool(read_only)]
pub(crate) fn read_file(
    /// Path relative to the desk, such as `notes/today.md`.
    path: &str,
    /// First line to read, from 1.
    #[param(default = 1, range = 1..)]
    first_line: u32,
    /// Maximum number of lines.
    #[param(default = 200, range = 1..=400)]
    lines: u32,
    #[param(context)] desk: &Desk,
) -> Result<String, FileError> {
    let lines = Lines {
        first: first_line as usize,
        most: lines as usize,
        characters: CHARACTERS,
    };
    desk.read(path, &lines)
}

/// Writes a text file on the desk, and replaces an existing one.
///
/// # When to use
/// To remember something. Only `memory.md` and files in `history` are writable.
#[tool(destructive, idempotent)]
pub(crate) fn write_file(
    /// `memory.md` or a path such as `history/monday.md`.
    path: &str,
    #[param(length = ..=20000)] text: &str,
    #[param(context)] desk: &Desk,
) -> Result<(), FileError> {
    desk.files.write(path, text)
}

/// Appends text to a text file on the desk, and creates it if it is missing.
///
/// # When to use
/// To remember something. Only `memory.md` and files in `history` are writable.
#[tool(destructive = false)]
pub(crate) fn append_file(
    /// `memory.md` or a path such as `history/monday.md`.
    path: &str,
    /// Text to append, with a line break at its end.
    #[param(length = 1..=20000)]
    text: &str,
    #[param(context)] desk: &Desk,
) -> Result<(), FileError> {
    desk.files.append(path, text)
}

/// The system prompt. Clones share it.
#[derive(Clone)]
pub(crate) struct SystemPrompt(Arc<Mutex<String>>);

/// Maximum number of characters of the system prompt.
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

/// Gets the current system prompt.
#[tool(read_only)]
pub(crate) fn get_system_prompt(#[param(context)] prompt: &SystemPrompt) -> String {
    prompt.get()
}

/// Replaces the system prompt, from the next request on. The conversation stays.
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
                "the prompt would have {length} characters; the maximum is {PROMPT}"
            ));
        }
        whole.push_str("\n\n");
        whole.push_str(text);
        Ok(())
    })
}

/// A function name: a lowercase letter, then lowercase letters, digits or `_`.
#[derive(ToolType)]
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
            _ => Err("use a lowercase letter, then up to 39 lowercase letters, digits or `_`"),
        }
    }
}

impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Maximum number of proposals with the same name.
const PROPOSALS: u32 = 20;

/// Proposes a tool that is missing. A person may write it later.
///
/// # When to use
/// If you can't create the tool yourself.
///
/// # Returns
/// Folder of the proposal.
#[tool(destructive = false)]
pub(crate) fn propose_function_tool(
    /// Function name, such as `celsius_to_fahrenheit`.
    name: FunctionName,
    /// What the tool does.
    #[param(length = 10..=500)]
    description: &str,
    /// JSON Schema of the arguments.
    parameters: Map<String, Value>,
    #[param(context)] desk: &Desk,
) -> Result<String, FileError> {
    let spec = json!({ "name": name.0, "description": description, "parameters": parameters });
    let spec = format!("{spec:#}\n");
    let stub = stub(&name.0, description, &parameters);
    let code = format!("{name}.rs");
    let names = (1..=PROPOSALS).map(|number| format!("tool_proposals/{name}/{number}"));
    desk.propose(names, &[("tool.json", &spec), (&code, &stub)])
}
