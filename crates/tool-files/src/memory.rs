use tool_core::toolset;
use tool_dialects::anthropic::{self, MemoryCommand};

use crate::commands::Commands;
use crate::error::FileError;
use crate::folder::Folder;

/// Prefix of the memory's paths.
const ROOT: &str = "/memories";

/// The body of Anthropic's memory tool, `memory_20250818`. Its paths below `/memories` are files of a folder.
///
/// [`RegistryBuilder::toolset`](tool_core::RegistryBuilder::toolset) adds one tool, `memory`. With providers other than
/// Anthropic it is an ordinary tool with a schema.
///
/// The folder's limits and [writable](Folder::writable) paths apply. Use `**` to let the model write everything.
///
/// ```
/// use tool_dialects::Anthropic;
/// use tool_core::{Registry, ToolCall};
/// use tool_files::{Folder, Memory};
///
/// # let parent = std::env::temp_dir().join(format!("tool-files-memory-{}", std::process::id()));
/// # std::fs::create_dir_all(&parent)?;
/// let memory = Memory::new(Folder::open(&parent)?.writable("**")?);
/// let tools = Registry::builder().toolset("", memory.clone()).build()?;
/// assert_eq!(
///     tools.render(&Anthropic::default()).as_str(),
///     r#"[{"type":"memory_20250818","name":"memory"}]"#
/// );
/// let call = ToolCall::new("1", "memory", r#"{"command":"view","path":"/memories/likes.md"}"#);
/// let text = tools.call_blocking(call).content().to_owned();
/// assert!(text.ends_with("The path /memories/likes.md does not exist. Please provide a valid path."));
///
/// // You can call the commands as methods, too.
/// memory.create("/memories/likes.md", "coffee\n")?;
/// memory.str_replace("/memories/likes.md", "coffee", "tea")?;
/// assert_eq!(
///     memory.view("/memories/likes.md", None)?,
///     "Here's the content of /memories/likes.md with line numbers:\n     1\ttea\n     2\t"
/// );
/// let error = memory.view("/memories/../secret", None).unwrap_err();
/// assert!(error.to_string().contains("`..` are not allowed"));
/// # std::fs::remove_dir_all(&parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Memory(Commands);

impl Memory {
    /// Creates a memory in a folder.
    pub fn new(folder: Folder) -> Memory {
        Memory(Commands::new(folder, ROOT))
    }

    /// Sets the maximum number of characters of a view. The default is 50,000.
    pub fn max_characters(mut self, most: usize) -> Memory {
        self.0.most = most;
        self
    }

    /// Returns the numbered lines of a file, or the contents of a folder, two levels deep.
    ///
    /// A range is the first and last line, counted from 1; -1 is the end of the file.
    ///
    /// # Errors
    ///
    /// If the path is invalid or missing, the file is too large or not text, or the range is outside of it.
    pub fn view(&self, path: &str, range: Option<(i64, i64)>) -> Result<String, FileError> {
        self.0.view(path, range)
    }

    /// Creates a file.
    ///
    /// # Errors
    ///
    /// If the file exists, or [`Folder::create`] fails.
    pub fn create(&self, path: &str, file_text: &str) -> Result<String, FileError> {
        self.0.create(path, file_text)
    }

    /// Replaces a string that occurs once in a file.
    ///
    /// # Errors
    ///
    /// If the string is missing or occurs several times, or the file can't be read or written.
    pub fn str_replace(
        &self,
        path: &str,
        old_str: &str,
        new_str: &str,
    ) -> Result<String, FileError> {
        let snippet = self.0.str_replace(path, old_str, new_str)?;
        Ok(format!(
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        ))
    }

    /// Inserts lines after a line, where 0 is the start of the file.
    ///
    /// # Errors
    ///
    /// If there is no such line, or the file can't be read or written.
    pub fn insert(
        &self,
        path: &str,
        insert_line: i64,
        insert_text: &str,
    ) -> Result<String, FileError> {
        self.0.insert(path, insert_line, insert_text)
    }

    /// Deletes a file, or a folder with everything in it.
    ///
    /// # Errors
    ///
    /// If the path is `/memories`, or [`Folder::remove`] fails.
    pub fn delete(&self, path: &str) -> Result<String, FileError> {
        self.0.delete(path)
    }

    /// Renames or moves a file or a folder.
    ///
    /// # Errors
    ///
    /// If the new path exists, the old one is `/memories`, or [`Folder::rename`] fails.
    pub fn rename(&self, old_path: &str, new_path: &str) -> Result<String, FileError> {
        self.0.rename(old_path, new_path)
    }
}

#[toolset]
impl Memory {
    /// Keeps notes in files below `/memories`, which outlive the conversation.
    #[tool(name = "memory", provides = anthropic::Memory20250818)]
    pub fn run(&self, command: MemoryCommand) -> Result<String, FileError> {
        match command {
            MemoryCommand::View { path, view_range } => {
                self.view(&path, view_range.map(Into::into))
            }
            MemoryCommand::Create { path, file_text } => self.create(&path, &file_text),
            MemoryCommand::StrReplace {
                path,
                old_str,
                new_str,
            } => self.str_replace(&path, &old_str, &new_str),
            MemoryCommand::Insert {
                path,
                insert_line,
                insert_text,
            } => self.insert(&path, insert_line.into(), &insert_text),
            MemoryCommand::Delete { path } => self.delete(&path),
            MemoryCommand::Rename { old_path, new_path } => self.rename(&old_path, &new_path),
        }
    }
}
